/* Fields, derived figures, and what counts as understood. */
#include "build.h"

static void fields_of_a_matmul(void **state)
{
    struct code code = make(NX_OP_MATMUL);
    struct nx_inst inst;

    (void)state;
    put(&code, 3, 1, 4);
    put_wait_at(&code, 5, 12, 100);
    put_update_at(&code, 0x13, 13);
    put_ap3(&code, 16, 0x8000, (const int16_t[]){1, -512, 3}, (const uint16_t[]){512, 2, 1});
    put(&code, 32, 1, FP32);
    put(&code, 33, 1, 3);
    put(&code, 38, 1, 128);
    put(&code, 39, 1, 96);
    put_row3(&code, 48, NX_PSUM_BASE + NX_PSUM_BANK_SIZE, 512);
    inst = decoded(&code);

    assert_true(inst.understood);
    assert_int_equal(inst.hint, 4);
    assert_int_equal(inst.wait.mode, 5);
    assert_int_equal(inst.wait.index, 12);
    assert_int_equal(inst.wait.value, 100);
    assert_int_equal(inst.update.mode, 0x13);
    assert_int_equal(inst.update.index, 13);
    assert_int_equal(inst.src[0].step[1], -512);
    assert_int_equal(inst.src[0].count[0], 512);
    assert_int_equal(inst.src[1].rank, 0);
    assert_int_equal(inst.fp32_mode, 3);
    assert_false(nx_ap_is_psum(&inst.src[0]));
    assert_true(nx_ap_is_psum(&inst.dst));
    assert_int_equal(nx_ap_elements(&inst.src[0]), 1024);
    assert_int_equal(nx_isa_macs(&inst), 128 * 96 * 1024);
}

static void bytes_of_on_chip_instructions_are_per_partition(void **state)
{
    struct code matmul = make(NX_OP_MATMUL), add = make(NX_OP_TENSOR_TENSOR), cast = make(NX_OP_CAST),
                fill = make(NX_OP_MEMSET), weights = make(NX_OP_LDWEIGHTS);
    struct nx_inst inst;
    struct nx_inst_bytes bytes;

    (void)state;
    /* PSUM holds fp32, but the write is counted in the source's type. */
    put_row3(&matmul, 16, 0x100, 512);
    put_row3(&matmul, 48, NX_PSUM_BASE, 512);
    put(&matmul, 32, 1, BF16);
    inst = decoded(&matmul);
    bytes = nx_isa_bytes(&inst);
    assert_int_equal(bytes.sbuf_read, 1024);
    assert_int_equal(bytes.psum_write, 1024);
    assert_int_equal(bytes.sbuf_write + bytes.psum_read + bytes.hbm_read + bytes.hbm_write, 0);

    put_row3(&weights, 16, 0x100, 128);
    put(&weights, 32, 1, FP16);
    inst = decoded(&weights);
    bytes = nx_isa_bytes(&inst);
    assert_int_equal(bytes.sbuf_read, 256);
    assert_int_equal(nx_isa_macs(&inst), 0);

    put_row3(&add, 16, 0x100, 1000);
    put_row3(&add, 32, NX_PSUM_BASE, 1000);
    put_row3(&add, 48, 0x200, 1000);
    put(&add, 12, 1, BF16 << 4 | FP32);
    put(&add, 13, 1, FP16);
    inst = decoded(&add);
    bytes = nx_isa_bytes(&inst);
    assert_int_equal(bytes.sbuf_read, 4000);
    assert_int_equal(bytes.psum_read, 2000);
    assert_int_equal(bytes.sbuf_write, 2000);

    put_ap4(&cast, 12, NX_PSUM_BASE - 1, (const int16_t[]){1, 2, 3, 4}, (const uint16_t[]){2, 3, 4, 5});
    put_ap4(&cast, 44, NX_PSUM_BASE, (const int16_t[]){1, 2, 3, 4}, (const uint16_t[]){2, 3, 4, 0});
    put(&cast, 32, 1, FP32);
    put(&cast, 33, 1, FP32);
    inst = decoded(&cast);
    bytes = nx_isa_bytes(&inst);
    assert_int_equal(bytes.sbuf_read, 480);
    assert_int_equal(bytes.psum_write, 0);

    put_row4(&fill, 44, 0, 65535);
    put(&fill, 32, 1, FP32);
    inst = decoded(&fill);
    bytes = nx_isa_bytes(&inst);
    assert_int_equal(bytes.sbuf_write, 65535 * 4);
}

static void dynamic_dma_counts_the_whole_transfer(void **state)
{
    struct code code = make(NX_OP_DMA_DIRECT2D);
    struct nx_inst inst;
    struct nx_inst_bytes bytes;

    (void)state;
    put(&code, 13, 1, 7);
    put(&code, 14, 1, 16);
    put(&code, 16, 8, 0x2000000300000040); /* offset 0x40 in tensor 3 of the table: HBM */
    put(&code, 32, 2, 128);
    put(&code, 34, 2, 2);
    put(&code, 36, 2, 512);
    put(&code, 40, 8, 0x802000000000 + 0x40000 * 5); /* partition 5 of SBUF */
    put(&code, 48, 4, 0x40000);
    put(&code, 56, 2, 128);
    put(&code, 58, 2, 1);
    put(&code, 60, 2, 1024);
    inst = decoded(&code);
    assert_int_equal(inst.dge_semaphore, 7);
    assert_int_equal(inst.dge_increment, 16);
    assert_int_equal(inst.dge_dst.step[0], 0x40000);
    assert_int_equal(inst.dge_src.element_size, 512);
    bytes = nx_isa_bytes(&inst);
    assert_int_equal(bytes.hbm_read, 128 * 2 * 512);
    assert_int_equal(bytes.sbuf_write, 128 * 1024);
    assert_int_equal(bytes.hbm_write + bytes.sbuf_read, 0);

    /* The compiler's form of it is never executed: it moves nothing. */
    put(&code, 0, 1, NX_OP_PSEUDO_DMA_DIRECT2D);
    inst = decoded(&code);
    bytes = nx_isa_bytes(&inst);
    assert_int_equal(bytes.hbm_read + bytes.hbm_write + bytes.sbuf_read + bytes.sbuf_write, 0);
    assert_int_equal(inst.dge_src.count[0], 128);
}

static void absurd_patterns_do_not_wrap(void **state)
{
    struct code code = make(NX_OP_COPY);
    struct nx_inst inst;
    struct nx_inst_bytes bytes;

    (void)state;
    put(&code, 32, 1, FP32);
    put(&code, 33, 1, FP32);
    put_ap4(&code, 12, 0, (const int16_t[]){1, 1, 1, 1}, (const uint16_t[]){65535, 65535, 65535, 65535});
    put_ap4(&code, 44, 0, (const int16_t[]){1, 1, 1, 1}, (const uint16_t[]){32768, 32768, 32768, 32768});
    inst = decoded(&code);
    bytes = nx_isa_bytes(&inst);
    assert_true(bytes.sbuf_read == (uint64_t)1 << 61);
    assert_true(bytes.sbuf_write == (uint64_t)1 << 61);
}

static void branch_targets(void **state)
{
    static const struct {
        int32_t bytes, instructions;
    } cases[] = {{0, 0},
                 {64, 1},
                 {-64, -1},
                 {63, 0},
                 {-1, -1},
                 {-65, -2},
                 {INT32_MIN, INT32_MIN / 64},
                 {INT32_MAX, INT32_MAX / 64}};
    struct code code = make(NX_OP_COMPARE_BRANCH);

    (void)state;
    assert_false(decoded(&code).has_branch);
    put(&code, 14, 1, 1); /* to the address in a register */
    assert_false(decoded(&code).has_branch);
    put(&code, 14, 1, 3);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put(&code, 48, 4, (uint32_t)cases[i].bytes);
        assert_true(decoded(&code).has_branch);
        assert_int_equal(decoded(&code).branch, cases[i].instructions);
    }
}

static void second_set_and_names(void **state)
{
    struct code semaphore = make(NX_OP_EVENT_SEMAPHORE), trigger = make(NX_OP_PSEUDO_DMA_TRIGGER),
                notify = make(NX_OP_NOTIFY);
    struct nx_inst inst;

    (void)state;
    put(&semaphore, 32, 1, 5);
    put(&semaphore, 33, 1, 9);
    put(&semaphore, 34, 1, 4);
    put(&semaphore, 35, 1, 10);
    put(&semaphore, 36, 4, 11);
    put(&semaphore, 40, 4, 12);
    inst = decoded(&semaphore);
    assert_int_equal(inst.set_wait.mode, 5);
    assert_int_equal(inst.set_wait.index, 9);
    assert_int_equal(inst.set_wait.value, 11);
    assert_int_equal(inst.set_update.mode, 4);
    assert_int_equal(inst.set_update.index, 10);
    assert_int_equal(inst.set_update.value, 12);

    memcpy(trigger.raw + 12, "qActSpillReload12", 17);
    put(&trigger, 48, 4, 77);
    inst = decoded(&trigger);
    assert_string_equal(inst.queue, "qActSpillReload12");
    assert_int_equal(inst.block, 77);
    memset(trigger.raw + 12, 'x', 36);
    inst = decoded(&trigger);
    assert_int_equal(strlen(inst.queue), 36);

    put(&notify, 36, 1, 3);
    assert_int_equal(decoded(&notify).notification, 3);
}

/* Whole when made, and not understood after one byte has got a code without a name. */
static void one_unknown_code_is_noticed(void **state)
{
    static const struct {
        uint8_t opcode, offset, known, unknown;
    } cases[] = {
        {NX_OP_DRAIN, 4, 5, 2},
        {NX_OP_DRAIN, 4, 7, 0x45},
        {NX_OP_DRAIN, 6, 0x13, 0x12},
        {NX_OP_DRAIN, 6, 3, 0x23},
        {NX_OP_EVENT_SEMAPHORE, 32, 4, 3},
        {NX_OP_EVENT_SEMAPHORE, 34, 9, 2},
        {NX_OP_LDWEIGHTS, 32, FP16, 5},
        {NX_OP_LDWEIGHTS, 33, 1, 4},
        {NX_OP_MATMUL, 32, BF16, 0},
        {NX_OP_MATMUL, 33, 0, 0x80},
        {NX_OP_ACTIVATE, 32, FP32 << 4 | FP16, FP32 << 4 | 1},
        {NX_OP_ACTIVATE, 32, FP32 << 4 | FP16, 1 << 4 | FP16},
        {NX_OP_ACTIVATE, 33, BF16, 12},
        {NX_OP_ACTIVATE, 35, 128, 11},
        {NX_OP_TENSOR_TENSOR, 12, FP32 << 4 | FP32, 2 << 4 | FP32},
        {NX_OP_TENSOR_TENSOR, 13, FP32, 0x10 | FP32},
        {NX_OP_TENSOR_TENSOR, 14, 4, 5},
        {NX_OP_TENSOR_SCALAR, 36, 6, 7},
        {NX_OP_TENSOR_SCALAR, 37, 8, 9},
        {NX_OP_TENSOR_REDUCE, 36, 4, 3},
        {NX_OP_TENSOR_REDUCE, 37, 2, 1},
        {NX_OP_COPY, 33, INT32, 3},
        {NX_OP_CAST, 32, FP32, 4},
        {NX_OP_MEMSET, 32, FP32, 14},
        {NX_OP_COMPARE_BRANCH, 12, 3, 1},
        {NX_OP_COMPARE_BRANCH, 13, INT32, 2},
        {NX_OP_TENSOR_LOAD, 12, UINT32, 1},
        {NX_OP_EVENT_SEMAPHORE_RANGE_CLEAR, 12, 1, 0},
        {NX_OP_SET_ORDERING_MODE, 12, 1, 2},
        {NX_OP_DMA_DIRECT2D, 63, BF16, 1},
        {NX_OP_PSEUDO_DMA_DIRECT2D, 62, FP32, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct code code = make(cases[i].opcode);

        switch (cases[i].opcode) {
        case NX_OP_TENSOR_TENSOR:
            put(&code, 12, 2, FP32 << 8 | FP32 << 4 | FP32);
            break;
        case NX_OP_COMPARE_BRANCH:
            put(&code, 12, 2, INT32 << 8 | 3);
            break;
        case NX_OP_DMA_DIRECT2D:
        case NX_OP_PSEUDO_DMA_DIRECT2D:
            put(&code, 62, 2, BF16 << 8 | FP32);
            break;
        case NX_OP_TENSOR_REDUCE:
            put(&code, 36, 2, 2 << 8 | 4);
            /* fallthrough */
        case NX_OP_ACTIVATE:
        case NX_OP_TENSOR_SCALAR:
        case NX_OP_COPY:
        case NX_OP_CAST:
        case NX_OP_MEMSET:
            put(&code, 32, 2, FP32 << 8 | FP32 << 4 | FP32);
            if (cases[i].opcode == NX_OP_ACTIVATE)
                put(&code, 35, 1, 7);
            break;
        case NX_OP_LDWEIGHTS:
        case NX_OP_MATMUL:
            put(&code, 32, 1, FP32);
            break;
        default:
            break;
        }
        put(&code, cases[i].offset, 1, cases[i].known);
        if (!decoded(&code).understood)
            fail_msg("opcode 0x%02x with 0x%02x at %u is not understood", cases[i].opcode, cases[i].known,
                     cases[i].offset);
        put(&code, cases[i].offset, 1, cases[i].unknown);
        if (decoded(&code).understood)
            fail_msg("opcode 0x%02x with 0x%02x at %u is understood", cases[i].opcode, cases[i].unknown,
                     cases[i].offset);
    }
}

/* What is not shown does not count: a type beside an unconditional branch, a bias that is not read. */
static void codes_without_effect_are_not_asked_for(void **state)
{
    struct code branch = make(NX_OP_COMPARE_BRANCH), activate = make(NX_OP_ACTIVATE),
                dma = make(NX_OP_DMA_DIRECT2D);

    (void)state;
    put(&branch, 13, 1, 99);
    assert_true(decoded(&branch).understood);
    put(&activate, 12, 1, 1);
    put(&activate, 32, 2, FP32 << 8 | FP32);
    put(&activate, 35, 1, 7);
    assert_true(decoded(&activate).understood);
    put(&dma, 62, 2, 0x0303);
    assert_true(decoded(&dma).understood);
}

static void channels(void **state)
{
    static const struct {
        uint8_t opcode, offset;
    } compute[] = {{NX_OP_ACTIVATE, 34},      {NX_OP_TENSOR_TENSOR, 15}, {NX_OP_TENSOR_SCALAR, 34},
                   {NX_OP_TENSOR_REDUCE, 34}, {NX_OP_COPY, 34},          {NX_OP_CAST, 34},
                   {NX_OP_RECIPROCAL, 34},    {NX_OP_MEMSET, 34}};
    struct code matmul = make(NX_OP_MATMUL), write = make(NX_OP_WRITE);
    struct nx_inst inst;

    (void)state;
    for (size_t i = 0; i < sizeof(compute) / sizeof(compute[0]); i++) {
        struct code code = make(compute[i].opcode);

        put(&code, compute[i].offset, 1, 96);
        inst = decoded(&code);
        assert_int_equal(nx_isa_channels(&inst, false), 96);
        assert_int_equal(nx_isa_channels(&inst, true), 96);
    }
    put(&matmul, 38, 1, 128);
    put(&matmul, 39, 1, 64);
    inst = decoded(&matmul);
    assert_int_equal(nx_isa_channels(&inst, false), 128); /* rows are what it reads */
    assert_int_equal(nx_isa_channels(&inst, true), 64);
    put(&write, 34, 1, 96);
    inst = decoded(&write);
    assert_int_equal(nx_isa_channels(&inst, true), 0);
}

static void names_and_numbers(void **state)
{
    char buffer[16];
    unsigned known = 0;

    (void)state;
    for (unsigned opcode = 0; opcode < 256; opcode++)
        known += nx_isa_opcode_known((uint8_t)opcode);
    assert_int_equal(known, 23);
    assert_string_equal(nx_isa_opcode_name(NX_OP_MATMUL, buffer), "MATMUL");
    assert_string_equal(nx_isa_opcode_name(0xab, buffer), "OPCODE_0xab");
    assert_string_equal(nx_isa_opcode_name(0x00, buffer), "OPCODE_0x00");
    assert_string_equal(nx_isa_activation_name(130, buffer), "MEMSET_ZERO");
    assert_string_equal(nx_isa_activation_name(255, buffer), "FUNC255");
    assert_string_equal(nx_isa_dtype_name(BF16, buffer), "bfloat16");
    assert_string_equal(nx_isa_dtype_name(255, buffer), "dtype255");
    assert_int_equal(nx_isa_dtype_size(FP16), 2);
    assert_int_equal(nx_isa_dtype_size(UINT32), 4);
    assert_int_equal(nx_isa_dtype_size(0), 0);
    assert_int_equal(nx_isa_dtype_size(255), 0);
    assert_true(nx_isa_is_sequencer(NX_OP_EVENT_SEMAPHORE) && nx_isa_is_sequencer(0xdf));
    assert_false(nx_isa_is_sequencer(0x9f) || nx_isa_is_sequencer(0xe0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_a_matmul),
        cmocka_unit_test(bytes_of_on_chip_instructions_are_per_partition),
        cmocka_unit_test(dynamic_dma_counts_the_whole_transfer),
        cmocka_unit_test(absurd_patterns_do_not_wrap),
        cmocka_unit_test(branch_targets),
        cmocka_unit_test(second_set_and_names),
        cmocka_unit_test(one_unknown_code_is_noticed),
        cmocka_unit_test(codes_without_effect_are_not_asked_for),
        cmocka_unit_test(channels),
        cmocka_unit_test(names_and_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
