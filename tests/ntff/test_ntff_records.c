/* Clocks, and what records are. */
#include "check.h"

static void clocks_that_count_picoseconds(void **state)
{
    struct nx_clock clock = {0, 1, 1};

    (void)state;
    assert_int_equal(nx_ntff_ps(&clock, 2566277910022000), 2566277910022000);
    assert_int_equal(nx_ntff_ps(&clock, UINT64_MAX), UINT64_MAX);
    clock.init = 1000;
    assert_int_equal(nx_ntff_ps(&clock, 1000), 0);
    assert_int_equal(nx_ntff_ps(&clock, 1007), 7);
}

/* 850 MHz ticks of trn1: 1204672 / 1024 = 1176.4375 ps */
static void clocks_that_count_ticks(void **state)
{
    struct nx_clock clock = {364902774748728, 1024, 1204672};
    struct nx_clock engine = {57658006503201174, 731428, 731408};

    (void)state;
    assert_int_equal(nx_ntff_ps(&clock, clock.init), 0);
    assert_int_equal(nx_ntff_ps(&clock, clock.init + 1), 1176);
    assert_int_equal(nx_ntff_ps(&clock, clock.init + 16), 18823);
    assert_int_equal(nx_ntff_ps(&clock, clock.init + 1024), 1204672);
    assert_int_equal(nx_ntff_ps(&engine, engine.init + 731428000), 731408000);
    assert_int_equal(nx_ntff_ps(&engine, engine.init + 731427), 731407);
    assert_int_equal(nx_ntff_ps(&engine, engine.init + 1), 0); /* 0.99997 */
}

/* (2^47 + 5) * 1204672 has 68 bits. */
static void long_times_need_128_bits(void **state)
{
    struct nx_clock clock = {3, 1024, 1204672};

    (void)state;
    assert_int_equal(nx_ntff_ps(&clock, ((uint64_t)1 << 47) + 8), ((uint64_t)1 << 37) * 1204672 + 5882);
}

static void times_saturate(void **state)
{
    struct nx_clock clock = {1000, 1024, 1204672}, plain = {1000, 1, 1};

    (void)state;
    assert_int_equal(nx_ntff_ps(&clock, 999), 0);
    assert_int_equal(nx_ntff_ps(&clock, 0), 0);
    assert_int_equal(nx_ntff_ps(&plain, 999), 0);
    assert_true(nx_ntff_before_clock(&clock, 999));
    assert_false(nx_ntff_before_clock(&clock, 1000));
    assert_int_equal(nx_ntff_ps(&clock, UINT64_MAX), UINT64_MAX);
    clock = (struct nx_clock){0, 1, UINT64_MAX};
    assert_int_equal(nx_ntff_ps(&clock, UINT64_MAX), UINT64_MAX);
    assert_int_equal(nx_ntff_ps(&clock, 1), UINT64_MAX);
    clock = (struct nx_clock){0, UINT64_MAX, 1};
    assert_int_equal(nx_ntff_ps(&clock, UINT64_MAX), 1);
}

static void clocks_without_rate_do_not_divide(void **state)
{
    struct nx_clock clock = {0, 0, 5};

    (void)state;
    assert_int_equal(nx_ntff_ps(&clock, 7), 7);
    clock.expected = 0;
    assert_int_equal(nx_ntff_ps(&clock, 7), 7);
}

/* The clocks of a file whose field 10 is `clocks`. */
static void read_clocks(struct nx_text *clocks, struct opened *o)
{
    struct nx_text core = {0}, top = {0}, file = {0};

    pb_text(&core, 1, "sg00");
    if (clocks)
        pb_message(&core, 10, clocks);
    put_cores(&top, &core, 1, NULL);
    ntff_file(&file, 4, &top, NULL);
    must_open(o, &file);
    nx_text_free(&core);
    nx_text_free(&top);
    nx_text_free(&file);
}

/* The order of engines is another one in the clocks than everywhere else: DVE before POOL. */
static void which_clock_is_whose(void **state)
{
    static const enum nx_engine order[] = {NX_PE, NX_ACT, NX_DVE, NX_POOL, NX_SP};
    struct nx_text clocks = {0};
    struct opened o;
    const struct nx_ntff_core *core;

    (void)state;
    for (uint32_t field = 1; field <= 7; field++)
        put_clock(&clocks, field, 100 + field, 1000 + field, 10000 + field);
    for (uint32_t i = 0; i < NX_DMA_ENGINES; i++)
        put_clock(&clocks, 8, 200 + i, 1, 1);
    put_clock(&clocks, 9, 300, 1, 1);
    read_clocks(&clocks, &o);
    core = &o.ntff.cores[0];
    for (uint32_t i = 0; i < NX_ENGINE_COUNT; i++) {
        assert_int_equal(core->engine_clock[order[i]].init, 101 + i);
        assert_int_equal(core->engine_clock[order[i]].actual, 1001 + i);
        assert_int_equal(core->engine_clock[order[i]].expected, 10001 + i);
    }
    assert_int_equal(core->event_clock.init, 106);
    for (uint32_t i = 0; i < NX_DMA_ENGINES; i++)
        assert_int_equal(core->dma_clock[i].init, 200 + i);
    assert_int_equal(o.ntff.warnings.count, 0);
    close_bytes(&o);
    nx_text_free(&clocks);
}

static void clocks_that_are_not_given(void **state)
{
    struct nx_text clocks = {0};
    struct opened o;

    (void)state;
    read_clocks(NULL, &o);
    assert_string_equal(warning_with(&o.ntff, "22 of the 22 clocks of sg00"), NX_WARN_MISSING);
    assert_int_equal(nx_ntff_ps(&o.ntff.cores[0].dma_clock[15], 7), 7);
    close_bytes(&o);

    for (uint32_t field = 1; field <= 6; field++)
        put_clock(&clocks, field, 0, 1, 1);
    put_clock(&clocks, 8, 0, 0, 5); /* no rate */
    for (int i = 0; i < NX_DMA_ENGINES + 3; i++)
        put_clock(&clocks, 8, 0, 1, 1);
    read_clocks(&clocks, &o);
    assert_int_equal(o.ntff.warnings.count, 2);
    assert_string_equal(warning_with(&o.ntff, "no rate (0 counts for 5 ps)"), NX_WARN_INCONSISTENT);
    assert_string_equal(warning_with(&o.ntff, "clocks of 20 DMA engines: 16 are known"), NX_WARN_UNKNOWN);
    assert_int_equal(o.ntff.cores[0].dma_clock[0].actual, 1);
    close_bytes(&o);
    nx_text_free(&clocks);
}

static void bits_of_records(void **state)
{
    struct nx_record r = {0xe4b54321, 0xbeef1234, 5};

    (void)state;
    assert_true(nx_record_valid(r));
    assert_true(nx_record_overflow(r));
    assert_int_equal(nx_record_kind(r), 4);
    assert_int_equal(nx_record_pc(r), 0x54321);
    assert_int_equal(nx_record_hint(r), 0xb);
    assert_int_equal(nx_record_wait_cycles(r), 0xbeef);
    assert_int_equal(nx_record_resets(r), 0x1234);
    assert_int_equal(nx_record_crc_in(r), 0x1234);
    assert_int_equal(nx_record_crc_out(r), 0xbeef);
    r = (struct nx_record){0x9bf3012a, 7, 5};
    assert_false(nx_record_overflow(r));
    assert_int_equal(nx_record_kind(r), NX_KIND_AXI);
    assert_int_equal(nx_record_event_index(r), 42);
    assert_true(nx_record_is_semaphore(r));
    assert_int_equal(nx_record_event_mode(r), 0xf3);
    r = (struct nx_record){0x90abcdef, 0xcafe00e5, 5};
    assert_int_equal(nx_record_kind(r), 16); /* the DMA engine */
    assert_int_equal(nx_record_dma_bytes(r), 0xabcdef);
    assert_int_equal(nx_record_dma_type(r), NX_DMA_END);
    assert_int_equal(nx_record_dma_ring(r), 14);
    assert_int_equal(nx_record_dma_crc(r), 0xcafe);
    r = (struct nx_record){0x9e0800cc, 0x0104, 5};
    assert_int_equal(nx_record_throttle_counter(r), 0xcc);
    assert_int_equal(nx_record_throttle_n(r), 8);
    assert_int_equal(nx_record_throttle_k(r), 4);
    assert_int_equal(nx_record_throttle_type(r), 1);
}

static const char *describe(uint32_t type, uint32_t block, uint32_t w0, uint32_t w1)
{
    struct nx_ntff_section section = {.type = type, .block = block};
    bool known;
    const char *text = nx_record_describe(&section, (struct nx_record){w0, w1, 0}, &known);

    assert_int_equal(known, strcmp(text, "unknown") != 0);
    return text;
}

static void kinds_of_records(void **state)
{
    static const char *const engines[] = {"Tensor", "Scalar", "GpSimd", "Vector", "Sync"};
    static const char *const subs[] = {"%s instruction start", "%s instruction end", NULL, NULL};
    char expected[64];

    (void)state;
    for (uint32_t kind = 0; kind < 32; kind++) {
        uint32_t w0 = 0x80000000 | kind << 24, engine = kind / 4 - 1, sub = kind % 4;
        bool of_engine = kind >= 4 && kind < 24;

        snprintf(expected, sizeof(expected), of_engine && subs[sub] ? subs[sub] : "unknown",
                 of_engine ? engines[engine] : "");
        assert_string_equal(describe(NX_SECTION_INSTRUCTION, NX_BLOCK_CORE, w0, 0), expected);
        for (uint32_t semaphore = 0; semaphore < 2; semaphore++) {
            const char *what = semaphore ? "semaphore" : "event";

            if (kind == 0x1b)
                snprintf(expected, sizeof(expected), "AXI %s", what);
            else if (of_engine && sub == 3)
                snprintf(expected, sizeof(expected), "%s %s", engines[engine], what);
            else
                snprintf(expected, sizeof(expected), "unknown");
            assert_string_equal(describe(NX_SECTION_EVENT, NX_BLOCK_CORE, w0 | semaphore << 8, 0), expected);
        }
        assert_string_equal(describe(NX_SECTION_THROTTLE, NX_BLOCK_CORE, w0, 0),
                            kind == 0x1e ? "throttle" : "unknown");
        assert_string_equal(describe(NX_SECTION_DMA, NX_BLOCK_DMA, w0, 0xe1), "DMA packet start");
        assert_string_equal(describe(NX_SECTION_DMA, NX_BLOCK_DMA, w0, 0xe5), "DMA packet end");
        assert_string_equal(describe(NX_SECTION_DMA, NX_BLOCK_DMA, w0, 0xe6), "DMA packet write completion");
        assert_string_equal(describe(NX_SECTION_DMA, NX_BLOCK_DMA, w0, 0xe2), "unknown");
        assert_string_equal(describe(NX_SECTION_ERROR, NX_BLOCK_CORE, w0, 0), "unknown");
        assert_string_equal(describe(3, NX_BLOCK_CORE, w0, 0), "unknown");
        assert_string_equal(describe(NX_SECTION_DMA, NX_BLOCK_TOPSP, w0, 0xe1), "unknown");
    }
    assert_string_equal(describe(NX_SECTION_INSTRUCTION, NX_BLOCK_CORE, 0xe4000000, 0),
                        "Tensor instruction start");
    assert_string_equal(describe(NX_SECTION_INSTRUCTION, NX_BLOCK_CORE, 0x04000000, 0),
                        "unknown"); /* not valid */
    /* one address a kind, for counting */
    assert_ptr_equal(describe(NX_SECTION_INSTRUCTION, NX_BLOCK_CORE, 0x84000000, 0),
                     describe(NX_SECTION_INSTRUCTION, NX_BLOCK_CORE, 0x84000001, 9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_that_count_picoseconds),
        cmocka_unit_test(clocks_that_count_ticks),
        cmocka_unit_test(long_times_need_128_bits),
        cmocka_unit_test(times_saturate),
        cmocka_unit_test(clocks_without_rate_do_not_divide),
        cmocka_unit_test(which_clock_is_whose),
        cmocka_unit_test(clocks_that_are_not_given),
        cmocka_unit_test(bits_of_records),
        cmocka_unit_test(kinds_of_records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
