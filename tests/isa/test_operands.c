/* The operand text of one hand-made instruction of each opcode and form. */
#include "build.h"

static const char *names[256];

static void assert_text(const struct code *code, const char *expected)
{
    struct nx_inst inst = decoded(code);
    struct nx_text text = {0};

    nx_isa_operands(&inst, names, &text);
    assert_string_equal(nx_text_string(&text), expected);
    nx_text_free(&text);
}

static int name_semaphores(void **state)
{
    (void)state;
    names[6] = "Vector";
    names[200] = "qSyncDynamicHW";
    return 0;
}

static void waits_and_updates(void **state)
{
    static const struct {
        uint8_t wait, update;
        const char *text;
    } cases[] = {
        {0, 0, " "},
        {0x40, 0, " "}, /* flags above a mode of none */
        {1, 0, "S[6] (Vector)==24 "},
        {2, 0, "S[6] (Vector)<24 "},
        {3, 0, "S[6] (Vector)<=24 "},
        {4, 0, "S[6] (Vector)>24 "},
        {5, 0x13, "S[6] (Vector)>=24 $S[7]++@complete "},
        {6, 0, "$E[6]==1 "},
        {7, 0, "$E[6]==1- "},
        {8, 0, "wait(mode=0x8,6,24) "},
        {0, 3, "$S[7]++ "},
        {0, 4, "$S[7]-- "},
        {0, 0x14, "$S[7]--@complete "},
        {0, 5, "$S[7]+=1 "},
        {0, 0x19, "$S[7]=1@complete "},
        {0, 0x11, "$E[7]+@complete "},
        {0, 0x10, "update(mode=0x10,7,1) "},
        {0, 0xc2, "update(mode=0xc2,7,1) "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct code code = make(NX_OP_DRAIN);

        put_wait_at(&code, cases[i].wait, 6, 24);
        put_update_at(&code, cases[i].update, 7);
        assert_text(&code, cases[i].text);
    }
}

static void without_semaphore_names(void **state)
{
    struct code code = make(NX_OP_DRAIN);
    struct nx_inst inst;
    struct nx_text text = {0};

    (void)state;
    put_wait_at(&code, 5, 6, UINT32_MAX);
    inst = decoded(&code);
    nx_isa_operands(&inst, NULL, &text);
    assert_string_equal(nx_text_string(&text), "$S[6]>=4294967295 ");
    nx_text_free(&text);
}

static void matrix(void **state)
{
    struct code weights = make(NX_OP_LDWEIGHTS), matmul = make(NX_OP_MATMUL);

    (void)state;
    put_row3(&weights, 16, 0x4800, 128);
    put(&weights, 32, 1, BF16);
    put(&weights, 34, 1, 1);
    put(&weights, 38, 1, 128);
    put(&weights, 39, 1, 64);
    assert_text(&weights, " transpose_mode=ENABLED src=bfloat16@0x4800[1,1,1][128,1,1] 128*64 ");
    put(&weights, 33, 1, 2);
    put(&weights, 32, 1, FP32);
    put(&weights, 34, 1, 0);
    assert_text(&weights, " fp32_mode=HIGH transpose_mode=DISABLED src=fp32@0x4800[1,1,1][128,1,1] 128*64 ");

    put_wait_at(&matmul, 5, 200, 16);
    put_update_at(&matmul, 0x13, 6);
    put_ap3(&matmul, 16, 0x100, (const int16_t[]){-1, 512, 0}, (const uint16_t[]){512, 2, 65535});
    put_row3(&matmul, 48, 0x2000800, 512);
    put(&matmul, 32, 1, FP16);
    put(&matmul, 38, 1, 128);
    put(&matmul, 39, 1, 128);
    put(&matmul, 43, 1, 3);
    assert_text(&matmul, "S[200] (qSyncDynamicHW)>=16 S[6] (Vector)++@complete acc_flags=3 "
                         "src=fp16@0x100[-1,512,0][512,2,65535] dst=0x2000800[1,1,1][512,1,1] 128*128 ");
}

static void activate(void **state)
{
    struct code code = make(NX_OP_ACTIVATE);

    (void)state;
    put_row3(&code, 16, 0x2000000, 512);
    put_row3(&code, 48, 0x1234, 512);
    put(&code, 32, 1, FP32 << 4 | FP32);
    put(&code, 33, 1, BF16);
    put(&code, 34, 1, 128);
    put(&code, 35, 1, 7);
    put(&code, 40, 4, 0xabc);
    put_float_at(&code, 36, 0.088388346f);
    assert_text(&code, " EXP bias_ptr=fp32@0xabc src=fp32@0x2000000[1,1,1][512,1,1] "
                       "dst=bfloat16@0x1234[1,1,1][512,1,1] channels=128 scale=0.088388 imm=0.000000 "
                       "accumulator_cmd=IDLE");
    put(&code, 12, 1, 1);
    put(&code, 35, 1, 99);
    put_float_at(&code, 36, -1.5f);
    put_float_at(&code, 44, 3.0f);
    assert_text(&code, " FUNC99 bias_imm src=fp32@0x2000000[1,1,1][512,1,1] "
                       "dst=bfloat16@0x1234[1,1,1][512,1,1] channels=128 scale=-1.500000 imm=3.000000 "
                       "accumulator_cmd=IDLE");
}

static void floats_of_any_bits(void **state)
{
    static const struct {
        uint32_t bits;
        const char *f, *g;
    } cases[] = {
        {0x00000000, "0.000000", "0"},
        {0x80000000, "-0.000000", "-0"},
        {0x00000001, "0.000000", "1.4013e-45"},
        {0x3dcccccd, "0.100000", "0.1"},
        {0x4b800000, "16777216.000000", "1.67772e+07"},
        {0xff7fffff, "-340282346638528859811704183484516925440.000000", "-3.40282e+38"},
        {0x7f800000, "inf", "inf"},
        {0xff800000, "-inf", "-inf"},
        {0x7fc00000, "nan", "nan"},
        {0xffc00001, "nan", "nan"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct code activate_code = make(NX_OP_ACTIVATE), scalar = make(NX_OP_TENSOR_SCALAR);
        struct nx_text expected = {0};

        put(&activate_code, 36, 4, cases[i].bits);
        put(&activate_code, 44, 4, cases[i].bits);
        put(&activate_code, 12, 1, 1);
        nx_text_printf(&expected,
                       " FUNC0 bias_imm src=dtype0@0x0[0,0,0][0,0,0] dst=dtype0@0x0[0,0,0][0,0,0] channels=0 "
                       "scale=%s imm=%s accumulator_cmd=IDLE",
                       cases[i].f, cases[i].f);
        assert_text(&activate_code, nx_text_string(&expected));

        put(&scalar, 40, 4, cases[i].bits);
        nx_text_clear(&expected);
        nx_text_printf(&expected,
                       " ops=BYPASS,BYPASS imm=%s,0 imm_src=INSTRUCTION,INSTRUCTION "
                       "src=dtype0@0x0[0,0,0][0,0,0] dst=dtype0@0x0[0,0,0][0,0,0] channels=0 ",
                       cases[i].g);
        assert_text(&scalar, nx_text_string(&expected));
        nx_text_free(&expected);
    }
}

static void tensor_tensor(void **state)
{
    struct code code = make(NX_OP_TENSOR_TENSOR);

    (void)state;
    put(&code, 12, 1, BF16 << 4 | FP32);
    put(&code, 13, 1, FP16);
    put(&code, 14, 1, 4);
    put(&code, 15, 1, 127);
    put_row3(&code, 16, 0x10, 1000);
    put_row3(&code, 32, 0x20, 1000);
    put_row3(&code, 48, 0x30, 1000);
    assert_text(&code, " op=ADD src0=fp32@0x10[1,1,1][1000,1,1] src1=bfloat16@0x20[1,1,1][1000,1,1] "
                       "dst=fp16@0x30[1,1,1][1000,1,1] channels=127 ");
    put(&code, 14, 1, 77);
    put(&code, 13, 1, 0x1a);
    assert_text(&code, " op=77 src0=fp32@0x10[1,1,1][1000,1,1] src1=bfloat16@0x20[1,1,1][1000,1,1] "
                       "dst=dtype26@0x30[1,1,1][1000,1,1] channels=127 ");
}

static void tensor_scalar(void **state)
{
    struct code code = make(NX_OP_TENSOR_SCALAR);

    (void)state;
    put(&code, 32, 1, FP32);
    put(&code, 33, 1, BF16);
    put(&code, 34, 1, 128);
    put(&code, 35, 1, 1);
    put(&code, 36, 1, 6);
    put(&code, 37, 1, 8);
    put(&code, 40, 4, 0x9000);
    put_float_at(&code, 44, 2.5f);
    put_row3(&code, 16, 0x10, 64);
    put_row3(&code, 48, 0x30, 64);
    assert_text(&code,
                " ops=MULTIPLY,MAX imm=0x9000,2.5 imm_src=PTR,INSTRUCTION src=fp32@0x10[1,1,1][64,1,1] "
                "dst=bfloat16@0x30[1,1,1][64,1,1] channels=128 ");
    put(&code, 35, 1, 2);
    put(&code, 36, 1, 200);
    assert_text(&code, " ops=200,MAX imm=5.16575e-41,0x40200000 imm_src=INSTRUCTION,PTR "
                       "src=fp32@0x10[1,1,1][64,1,1] dst=bfloat16@0x30[1,1,1][64,1,1] channels=128 ");
}

static void one_source(void **state)
{
    static const uint8_t opcodes[] = {NX_OP_COPY, NX_OP_CAST, NX_OP_RECIPROCAL};
    struct code reduce = make(NX_OP_TENSOR_REDUCE);

    (void)state;
    for (size_t i = 0; i < sizeof(opcodes); i++) {
        struct code code = make(opcodes[i]);

        put(&code, 32, 1, INT32);
        put(&code, 33, 1, UINT32);
        put(&code, 34, 1, 32);
        put_ap4(&code, 12, 0x2003fff, (const int16_t[]){1, 2, 3, -4}, (const uint16_t[]){5, 6, 7, 8});
        put_row4(&code, 44, 0x40, 1680);
        assert_text(&code, " src=int32@0x2003fff[1,2,3,-4][5,6,7,8] dst=uint32@0x40[1,1,1,1][1680,1,1,1] "
                           "channels=32 ");
    }
    put(&reduce, 32, 1, FP32);
    put(&reduce, 33, 1, FP32);
    put(&reduce, 34, 1, 128);
    put(&reduce, 36, 1, 8);
    put(&reduce, 37, 1, 2);
    put_row4(&reduce, 12, 0x10, 512);
    put_row4(&reduce, 44, 0x20, 1);
    assert_text(
        &reduce,
        " op=MAX dim=X src=fp32@0x10[1,1,1,1][512,1,1,1] dst=fp32@0x20[1,1,1,1][1,1,1,1] channels=128 ");
    put(&reduce, 35, 1, 1);
    put(&reduce, 37, 1, 9);
    assert_text(&reduce, " op=MAX dim=9 negated=1 src=fp32@0x10[1,1,1,1][512,1,1,1] "
                         "dst=fp32@0x20[1,1,1,1][1,1,1,1] channels=128 ");
}

static void memset_and_table(void **state)
{
    struct code fill = make(NX_OP_MEMSET), table = make(NX_OP_ACT_TABLE_LOAD);

    (void)state;
    put(&fill, 32, 1, FP32);
    put(&fill, 34, 1, 64);
    put_row4(&fill, 44, 0xfffff, 3);
    assert_text(&fill, " dst=fp32@0xfffff[1,1,1,1][3,1,1,1] channels=64 ");
    put(&table, 12, 1, 2);
    assert_text(&table, " table_sel=2 ");
}

static void event_semaphore(void **state)
{
    struct code code = make(NX_OP_EVENT_SEMAPHORE);

    (void)state;
    assert_text(&code, " setter=0   ");
    put(&code, 32, 1, 1);
    put(&code, 33, 1, 2);
    put(&code, 34, 1, 0x19);
    put(&code, 35, 1, 6);
    put(&code, 36, 4, 5);
    put(&code, 40, 4, 70000);
    put_wait_at(&code, 7, 3, 0);
    assert_text(&code, "$E[3]==1- setter=0 $S[2]==5 S[6] (Vector)=70000@complete ");
}

static void sequencer(void **state)
{
    struct code nop = make(NX_OP_NOP), notify = make(NX_OP_NOTIFY), one = make(NX_OP_WRITE),
                clear = make(NX_OP_EVENT_SEMAPHORE_RANGE_CLEAR), order = make(NX_OP_SET_ORDERING_MODE);

    (void)state;
    put(&nop, 12, 4, 1200);
    assert_text(&nop, " cycle=1200 ");
    put(&notify, 36, 1, 2);
    assert_text(&notify, "  hint=2 notification=EXPLICIT  trace=START ");

    put(&one, 12, 1, 8);
    put(&one, 16, 8, 0x80100252f038);
    put(&one, 24, 8, 0xdead);
    put(&one, 32, 8, 0xfedcba9876543210);
    put(&one, 40, 8, 0xbeef);
    assert_text(&one, " data=0xfedcba9876543210 size=8 dst=0x80100252f038 ");
    put(&one, 13, 1, 4);
    assert_text(&one, " data=0xfedcba9876543210,0xbeef size=8,4 dst=0x80100252f038,0xdead ");

    put(&clear, 12, 1, 1);
    put(&clear, 13, 1, 3);
    put(&clear, 14, 1, 255);
    assert_text(&clear, " mode=SEMAPHORE_ZERO first=3 last=255 ");
    put(&clear, 12, 1, 0);
    assert_text(&clear, " mode=0 first=3 last=255 ");

    assert_text(&order, " ordering_mode=relaxed ");
    put(&order, 12, 1, 1);
    assert_text(&order, " ordering_mode=strict ");
    put(&order, 12, 1, 2);
    assert_text(&order, " ordering_mode=2 ");
}

static void branch(void **state)
{
    struct code code = make(NX_OP_COMPARE_BRANCH);

    (void)state;
    put(&code, 14, 1, 3);
    put(&code, 48, 4, (uint32_t)-640);
    assert_text(&code, " cmp_op=ALWAYS label_id=4294966656 ");
    put(&code, 3, 1, 2);
    put(&code, 12, 1, 3);
    put(&code, 13, 1, INT32);
    put(&code, 16, 1, 9);
    put(&code, 24, 4, (uint32_t)-1);
    assert_text(&code, " cmp_op=EQ dtype=int32 cmp0=$R[9] cmp1=-1 label_id=4294966656 debugHint=2");
    put(&code, 12, 1, 5);
    put(&code, 13, 1, 200);
    assert_text(&code, " cmp_op=op5 dtype=dtype200 cmp0=$R[9] cmp1=-1 label_id=4294966656 debugHint=2");
}

static void register_memory(void **state)
{
    struct code load = make(NX_OP_TENSOR_LOAD), store = make(0xab);

    (void)state;
    put(&load, 12, 1, UINT32);
    put(&load, 14, 1, 3);
    put(&load, 15, 1, 1);
    put(&load, 16, 8, 0x80100252f000);
    put(&load, 24, 4, 1);
    put(&load, 28, 4, UINT32_MAX);
    put(&load, 32, 3, 0x0c0b0a);
    assert_text(&load, " addr=uint32@0x80100252f000[1,4294967295][3,1] data=$R[10],$R[11],$R[12] ");
    put(&load, 14, 1, 0);
    assert_text(&load, " addr=uint32@0x80100252f000[1,4294967295][0,1] data= ");
    /* No more registers than the instruction has room for, whatever its counts say. */
    put(&load, 14, 2, 0xffff);
    assert_text(&load, " addr=uint32@0x80100252f000[1,4294967295][255,255] data=$R[10],$R[11],$R[12],"
                       "$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],"
                       "$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],$R[0],"
                       "$R[0],$R[0],$R[0] ");
    put(&store, 12, 1, FP32);
    put(&store, 16, 8, 0x10);
    put(&store, 32, 2, 0x1f03);
    assert_text(&store, " addr=fp32@0x10[0,0][0,0] "
                        "imm=031f000000000000000000000000000000000000000000000000000000000000 ");
}

static void dma_trigger(void **state)
{
    struct code code = make(NX_OP_PSEUDO_DMA_TRIGGER);

    (void)state;
    memcpy(code.raw + 12, "qSPIO0", 6);
    put(&code, 48, 4, 4000000000);
    assert_text(&code, " qSyncIO0 block_id=4000000000");
    memset(code.raw + 12, 'q', 36); /* all of the field, no end to the name */
    assert_text(&code, " qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq block_id=4000000000");
    memset(code.raw + 12, 0, 36);
    memcpy(code.raw + 12, "qAct\xc3\xa9\xff", 7);
    assert_text(&code, " qScalar\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd block_id=4000000000");
}

static void put_side(struct code *code, unsigned offset, uint64_t address, int32_t step, uint16_t count,
                     uint16_t element_size)
{
    put(code, offset, 8, address);
    put(code, offset + 8, 4, (uint32_t)step);
    put(code, offset + 12, 4, 0);
    put(code, offset + 16, 2, count);
    put(code, offset + 18, 2, 1);
    put(code, offset + 20, 2, element_size);
}

static void dynamic_dma(void **state)
{
    struct code code = make(NX_OP_DMA_DIRECT2D);

    (void)state;
    put(&code, 13, 1, 21);
    put(&code, 14, 1, 16);
    put_side(&code, 16, 0x2000000500001000, 1024, 128, 1024);
    put_side(&code, 40, 0x802000004800, -262144, 128, 1024);
    put(&code, 62, 2, FP32 << 8 | FP32);
    assert_text(&code, " semaphore=21 sem_increment=16  src_elem_size=1024 dst_elem_size=1024 "
                       "src_pattern=[1024,0][128,1] dst_pattern=[-262144,0][128,1] "
                       "src_table_offset_imm=0x1000 src_table_index=5 src_shape_reg=0 "
                       "dst_addr_imm=0x802000004800 dst_shape_reg=0 compute_op=NONE ");
    put(&code, 63, 1, BF16);
    put_side(&code, 16, 0x80100252f000, 1, 2, 3);
    assert_text(&code,
                " semaphore=21 sem_increment=16  src_elem_size=3 dst_elem_size=1024 "
                "src_pattern=[1,0][2,1] dst_pattern=[-262144,0][128,1] "
                "src_addr_imm=0x80100252f000 src_shape_reg=0 dst_addr_imm=0x802000004800 dst_shape_reg=0 "
                "in_dtype=fp32 out_dtype=bfloat16 compute_op=NONE ");

    code = make(NX_OP_PSEUDO_DMA_DIRECT2D);
    put_side(&code, 16, 0x2000000500001000, 1024, 128, 1024);
    put_side(&code, 40, 0x1000000700000040, 1, 128, 1024);
    assert_text(&code, " dge_op=DIRECT2D semaphore=0 sem_increment=0  src_elem_size=1024 dst_elem_size=1024 "
                       "src_pattern=[1024,0][128,1] dst_pattern=[1,0][128,1] "
                       "src_table_offset_imm=4096 src_table_index=5 src_shape_reg=0 "
                       "dst_var_id=7 dst_var_offset=64 dst_shape_reg=0   ");
}

static void without_operands(void **state)
{
    static const uint8_t opcodes[] = {NX_OP_DRAIN, 0xa1, NX_OP_LABEL};

    (void)state;
    for (size_t i = 0; i < sizeof(opcodes); i++) {
        struct code code = make(opcodes[i]);

        assert_text(&code, " ");
    }
}

static void unknown_opcodes_show_their_bytes(void **state)
{
    struct code code = make(0x95);

    (void)state;
    put(&code, 12, 2, 0xff01);
    put(&code, 63, 1, 0xe0);
    put_wait_at(&code, 5, 6, 1);
    assert_text(&code,
                "S[6] (Vector)>=1 raw=01ff0000000000000000000000000000000000000000000000000000000000000000"
                "0000000000000000000000000000000000e0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_and_updates),
        cmocka_unit_test(without_semaphore_names),
        cmocka_unit_test(matrix),
        cmocka_unit_test(activate),
        cmocka_unit_test(floats_of_any_bits),
        cmocka_unit_test(tensor_tensor),
        cmocka_unit_test(tensor_scalar),
        cmocka_unit_test(one_source),
        cmocka_unit_test(memset_and_table),
        cmocka_unit_test(event_semaphore),
        cmocka_unit_test(sequencer),
        cmocka_unit_test(branch),
        cmocka_unit_test(register_memory),
        cmocka_unit_test(dma_trigger),
        cmocka_unit_test(dynamic_dma),
        cmocka_unit_test(without_operands),
        cmocka_unit_test(unknown_opcodes_show_their_bytes),
    };

    return cmocka_run_group_tests(tests, name_semaphores, NULL);
}
