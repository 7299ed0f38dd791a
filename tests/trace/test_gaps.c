/* What is missing or does not fit is said in Warning, by the sentences of base/gaps.h, and only then. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/gaps.h"
#include "base/memory.h"
#include "generate.h"
#include "trace/trace.h"

static struct nx_neff neff;
static struct nx_ntff ntff;
static char neff_path[] = "/tmp/nx-gaps-neff-XXXXXX", ntff_path[] = "/tmp/nx-gaps-ntff-XXXXXX";

static void open_pair(struct nx_generate_options options)
{
    struct nx_error error;

    assert_int_equal(nx_generate(&options, neff_path, ntff_path, NULL, &error), NX_OK);
    assert_int_equal(nx_neff_open(neff_path, &neff, &error), NX_OK);
    assert_int_equal(nx_ntff_open(ntff_path, &ntff, &error), NX_OK);
}

static int make_files(void **state)
{
    int one = mkstemp(neff_path), other = mkstemp(ntff_path);

    (void)state;
    if (one < 0 || other < 0)
        return -1;
    close(one);
    close(other);
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    return unlink(neff_path) | unlink(ntff_path);
}

static int open_default(void **state)
{
    (void)state;
    open_pair((struct nx_generate_options){.cores = 1});
    return 0;
}

static int close_pair(void **state)
{
    (void)state;
    nx_ntff_close(&ntff);
    nx_neff_close(&neff);
    return 0;
}

/* Whether Warning has the sentence: all of it. */
static bool is_said(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool is_said(const char *format, ...)
{
    struct nx_trace trace;
    struct nx_error error;
    bool said = false;
    va_list args;
    char *sentence;

    va_start(args, format);
    assert_true(vasprintf(&sentence, format, args) >= 0);
    va_end(args);
    assert_int_equal(nx_trace_build(&neff, &ntff, NULL, NULL, &trace, &error), NX_OK);
    for (size_t i = 0; i < trace.warnings.count; i++)
        said |= strcmp(trace.warnings.list[i].message, sentence) == 0;
    nx_trace_free(&trace);
    free(sentence);
    return said;
}

static struct nx_ntff_section *section_of(enum nx_section_type type)
{
    for (size_t i = 0; i < ntff.cores[0].section_count; i++)
        if (ntff.cores[0].sections[i].type == type && ntff.cores[0].sections[i].records.size)
            return &ntff.cores[0].sections[i];
    fail_msg("no section of type %d", type);
    return NULL;
}

static void a_buffer_that_was_filled(void **state)
{
    struct nx_ntff_section *section = section_of(NX_SECTION_EVENT);
    struct nx_trace_capacity capacity = {.type = section->type, .block = section->block}, *own = ntff.capacities;
    size_t own_count = ntff.capacity_count, size = section->records.size;

    (void)state;
    ntff.capacities = &capacity;
    ntff.capacity_count = 1;
    capacity.bytes = size;
    assert_true(is_said(NX_SAY_BUFFER_FULL, "sg00", "event", (uint64_t)size));
    capacity.bytes = size + 15; /* less than a record is left */
    assert_true(is_said(NX_SAY_BUFFER_FULL, "sg00", "event", (uint64_t)size + 15));
    capacity.bytes = size + 16;
    assert_false(is_said(NX_SAY_BUFFER_FULL, "sg00", "event", (uint64_t)size + 16));
    capacity.bytes = size - 16; /* it was not one buffer of that size */
    assert_false(is_said(NX_SAY_BUFFER_FULL, "sg00", "event", (uint64_t)size - 16));
    capacity.bytes = size;
    capacity.block++;
    assert_false(is_said(NX_SAY_BUFFER_FULL, "sg00", "event", (uint64_t)size));
    ntff.capacities = own;
    ntff.capacity_count = own_count;
}

static void packets_that_were_not_captured(void **state)
{
    struct nx_bytes *records = &section_of(NX_SECTION_DMA)->records;
    size_t size = records->size;
    struct nx_trace trace;
    struct nx_error error;
    uint64_t starts = 0;

    (void)state;
    records->size = 0;
    assert_int_equal(nx_trace_build(&neff, &ntff, NULL, NULL, &trace, &error), NX_OK);
    for (uint32_t i = 0; i < trace.exec_count; i++)
        starts += trace.execs[i].inst != NX_NONE && trace.insts[trace.execs[i].inst].block != NX_NONE;
    nx_trace_free(&trace);
    assert_true(starts > 0);
    assert_true(is_said(NX_SAY_NO_PACKETS, starts));
    records->size = size;
    assert_false(is_said(NX_SAY_NO_PACKETS, starts));
}

static void code_that_is_not_the_neffs(void **state)
{
    struct nx_neff_engine *engine = &neff.graphs[0].engines[NX_DVE];
    uint64_t count = engine->code.size / NX_ISA_SIZE;
    uint8_t *code = nx_alloc(engine->code.size);
    const uint8_t *own = engine->code.data;
    uint32_t at = 0;

    (void)state;
    memcpy(code, own, engine->code.size);
    engine->code.data = code;
    while (code[at * NX_ISA_SIZE] < 0x40 || code[at * NX_ISA_SIZE] >= 0xa0) /* an operation on data */
        at++;
    assert_true(at < count);
    assert_false(is_said(NX_SAY_CODE_DIFFERS, (uint64_t)1));
    code[at * NX_ISA_SIZE] ^= 1;
    assert_true(is_said(NX_SAY_CODE_DIFFERS, (uint64_t)1));
    code[at * NX_ISA_SIZE] = 0xc1; /* stands in for another one */
    assert_false(is_said(NX_SAY_CODE_DIFFERS, (uint64_t)1));
    engine->code.data = own;
    assert_false(is_said(NX_SAY_CODE_LENGTH, "sg00", "Vector", count, count - 1));
    engine->code.size -= NX_ISA_SIZE;
    assert_true(is_said(NX_SAY_CODE_LENGTH, "sg00", "Vector", count, count - 1));
    engine->code.size += NX_ISA_SIZE;
    free(code);
}

static void records_that_were_lost(void **state)
{
    (void)state;
    open_pair((struct nx_generate_options){.defects = NX_DEFECT_OVERFLOW});
    assert_true(is_said(NX_SAY_RECORDS_LOST, (uint64_t)2, "events 2"));
    close_pair(state);
}

static void a_uuid_of_which_a_part_is_known(void **state)
{
    (void)state;
    open_pair((struct nx_generate_options){.version = 5, .uuid_nul = 5});
    assert_true(is_said(NX_SAY_UUID_CUT, (uint64_t)5));
    close_pair(state);
    open_pair((struct nx_generate_options){.version = 6, .uuid_nul = 5});
    assert_false(is_said(NX_SAY_UUID_CUT, (uint64_t)5));
    close_pair(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_buffer_that_was_filled, open_default, close_pair),
        cmocka_unit_test_setup_teardown(packets_that_were_not_captured, open_default, close_pair),
        cmocka_unit_test_setup_teardown(code_that_is_not_the_neffs, open_default, close_pair),
        cmocka_unit_test(records_that_were_lost),
        cmocka_unit_test(a_uuid_of_which_a_part_is_known),
    };

    return cmocka_run_group_tests(tests, make_files, remove_files);
}
