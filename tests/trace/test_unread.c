/*
 * What no table can show is warned about: collectives, barriers, errors.  No
 * file at hand has them, so a generated pair is given them after it was read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "generate.h"
#include "trace/trace.h"

static struct nx_neff neff;
static struct nx_ntff ntff;
static struct nx_trace trace;

static int open_pair(void **state)
{
    char neff_path[] = "/tmp/nx-unread-XXXXXX", ntff_path[] = "/tmp/nx-unread-XXXXXX";
    struct nx_generate_options options = {.m = 128, .k = 128, .n = 512};
    struct nx_error error;
    int a = mkstemp(neff_path), b = mkstemp(ntff_path);

    (void)state;
    assert_true(a >= 0 && b >= 0);
    assert_int_equal(nx_generate(&options, neff_path, ntff_path, NULL, &error), NX_OK);
    assert_int_equal(nx_neff_open(neff_path, &neff, &error), NX_OK);
    assert_int_equal(nx_ntff_open(ntff_path, &ntff, &error), NX_OK);
    close(a);
    close(b);
    unlink(neff_path);
    unlink(ntff_path);
    return 0;
}

static int close_pair(void **state)
{
    (void)state;
    nx_trace_free(&trace);
    nx_ntff_close(&ntff);
    nx_neff_close(&neff);
    return 0;
}

static void build(void)
{
    struct nx_error error;

    assert_int_equal(nx_trace_build(&neff, &ntff, NULL, NULL, &trace, &error), NX_OK);
}

static bool warned(const char *words)
{
    for (size_t i = 0; i < trace.warnings.count; i++)
        if (strstr(trace.warnings.list[i].message, words))
            return true;
    return false;
}

static void an_ordinary_kernel_has_none(void **state)
{
    (void)state;
    build();
    assert_false(trace.has_collectives);
    assert_int_equal(trace.records_error, 0);
    assert_false(warned("collectives") || warned("barriers") || warned("errors"));
}

static void streams_of_the_neff(void **state)
{
    (void)state;
    assert_int_equal(neff.graphs[0].cc_streams, -1);
    neff.graphs[0].cc_streams = 2;
    build();
    assert_true(trace.has_collectives);
    assert_true(warned("2 streams, 0 triggers and 0 records of collectives"));
}

/* Code that is replaced must live until the trace is freed. */
static uint8_t code[4 * NX_ISA_SIZE];

static void triggers_and_barriers_of_the_code(void **state)
{
    (void)state;
    code[0] = 0xc8;
    code[NX_ISA_SIZE] = 0xd8;
    code[2 * NX_ISA_SIZE] = 0xd9;
    code[3 * NX_ISA_SIZE + 1] = 0xd8; /* no opcode */
    neff.graphs[1].engines[NX_POOL].code = (struct nx_bytes){code, sizeof(code)};
    build();
    assert_true(trace.has_collectives);
    assert_true(warned("0 streams, 2 triggers and 0 records"));
    assert_true(warned("1 instructions of the kernel are said to be barriers"));
}

static struct nx_ntff_section *section_of(uint32_t type)
{
    for (size_t s = 0; s < ntff.cores[0].section_count; s++)
        if (ntff.cores[0].sections[s].type == type && ntff.cores[0].sections[s].records.size >= 32)
            return &ntff.cores[0].sections[s];
    fail_msg("the generated trace has no section %u", type);
    return NULL;
}

static void records_of_the_cores_for_collectives(void **state)
{
    struct nx_ntff_section *section = section_of(NX_SECTION_EVENT);

    (void)state;
    section->block = NX_BLOCK_TOPSP;
    section->records.size = 32;
    build();
    assert_true(trace.has_collectives);
    assert_true(warned("0 triggers and 2 records of collectives"));
}

static void records_of_errors(void **state)
{
    static uint8_t records[32] = {[3] = 0x80 | NX_KIND_ERROR, [19] = 0x80 | NX_KIND_ERROR_2};
    struct nx_ntff_section *section = section_of(NX_SECTION_EVENT);

    (void)state;
    section->records = (struct nx_bytes){records, sizeof(records)};
    build();
    assert_int_equal(trace.records_error, 2);
    assert_true(warned("2 records of the trace are said to report errors"));
    nx_trace_free(&trace);
    section->type = NX_SECTION_ERROR; /* whatever the kind */
    records[3] = 0x85;
    build();
    assert_int_equal(trace.records_error, 2);
    nx_trace_free(&trace);
    section->type = NX_SECTION_DMA; /* there the kind is an engine */
    build();
    assert_int_equal(trace.records_error, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_ordinary_kernel_has_none, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(streams_of_the_neff, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(triggers_and_barriers_of_the_code, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(records_of_the_cores_for_collectives, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(records_of_errors, open_pair, close_pair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
