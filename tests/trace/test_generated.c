/*
 * The correlated trace of generated pairs, row by row: what the generator
 * wrote is what nx_trace_build() finds, for every version, kind of DMA, loop,
 * and defect.
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

/* A row of any kind as numbers, so that two lists can be sorted and compared. */
struct row {
    int64_t fields[10];
};

struct rows {
    struct row *list;
    size_t count, capacity;
};

struct expected {
    struct rows kinds[3]; /* by enum nx_generated_kind */
};

static void add(struct rows *rows, struct row row)
{
    rows->list = nx_grow(rows->list, rows->count, &rows->capacity, sizeof(row));
    rows->list[rows->count++] = row;
}

static void collect(void *context, const struct nx_generated_row *r)
{
    struct expected *e = context;
    struct rows *rows = &e->kinds[r->kind];

    if (!r->inside)
        return;
    if (r->kind == NX_ROW_INSTRUCTION)
        add(rows, (struct row){{r->start, r->core, r->engine, r->end, r->opcode, r->index, r->compiler_index,
                                r->crc_in, r->crc_out, r->wait_cycles}});
    else if (r->kind == NX_ROW_PACKET)
        add(rows, (struct row){{r->start, r->core, r->dma_engine, r->ring, r->end, r->bytes, r->crc}});
    else
        add(rows, (struct row){{r->start, r->core, r->source, r->id, r->mode, r->is_semaphore, r->value}});
}

static int by_fields(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    for (unsigned i = 0; i < 9; i++) /* the tenth, the wait, follows from the others */
        if (x->fields[i] != y->fields[i])
            return x->fields[i] < y->fields[i] ? -1 : 1;
    return 0;
}

static void compare(const char *what, struct rows *want, struct rows *have, bool waits)
{
    if (want->count != have->count)
        fail_msg("%s: %zu rows expected, %zu found", what, want->count, have->count);
    if (want->count) {
        qsort(want->list, want->count, sizeof(struct row), by_fields);
        qsort(have->list, have->count, sizeof(struct row), by_fields);
    }
    for (size_t i = 0; i < want->count; i++) {
        for (unsigned f = 0; f < 9; f++)
            if (want->list[i].fields[f] != have->list[i].fields[f])
                fail_msg("%s: row %zu, field %u: %lld expected, %lld found", what, i, f,
                         (long long)want->list[i].fields[f], (long long)have->list[i].fields[f]);
        /* without a wait condition the recorded number means nothing */
        if (waits && want->list[i].fields[9] && want->list[i].fields[9] != have->list[i].fields[9])
            fail_msg("%s: row %zu waited %lld cycles, %lld found", what, i,
                     (long long)want->list[i].fields[9], (long long)have->list[i].fields[9]);
    }
    free(want->list);
    free(have->list);
}

static void compare_rows(struct expected *expected, const struct nx_trace *trace)
{
    struct rows found[3] = {{0}};

    for (uint32_t i = 0; i < trace->exec_count; i++) {
        const struct nx_exec *e = &trace->execs[i];
        const struct nx_code_inst *inst = nx_exec_inst(trace, e);
        int64_t compiler = inst && inst->compiler_pc != NX_NONE ? (int64_t)inst->compiler_pc : -1;

        add(&found[NX_ROW_INSTRUCTION],
            (struct row){{e->start, e->core, e->engine, e->end, inst ? inst->opcode : 0,
                          inst ? (int64_t)inst->index : -1, compiler, e->crc_in, e->crc_out,
                          e->wait_cycles}});
    }
    for (uint32_t i = 0; i < trace->packet_count; i++) {
        const struct nx_packet *p = &trace->packets[i];
        const struct nx_ring *ring = &trace->rings[p->ring];

        add(&found[NX_ROW_PACKET],
            (struct row){{p->start, p->core, ring->engine, ring->index, p->end, p->bytes, p->crc}});
    }
    for (uint32_t i = 0; i < trace->event_count; i++) {
        const struct nx_event *e = &trace->events[i];

        add(&found[NX_ROW_EVENT],
            (struct row){{e->time, e->core, e->source, e->id, e->mode, e->is_semaphore, e->value}});
    }
    compare("instructions", &expected->kinds[NX_ROW_INSTRUCTION], &found[NX_ROW_INSTRUCTION], true);
    compare("packets", &expected->kinds[NX_ROW_PACKET], &found[NX_ROW_PACKET], false);
    compare("events", &expected->kinds[NX_ROW_EVENT], &found[NX_ROW_EVENT], false);
}

static void compare_sums(const struct nx_generated *truth, const struct nx_trace *trace)
{
    struct nx_inst_bytes bytes = {0};
    uint64_t flops = 0, moved = 0;

    for (uint32_t i = 0; i < trace->exec_count; i++) {
        const struct nx_code_inst *inst = nx_exec_inst(trace, &trace->execs[i]);

        if (!inst)
            continue;
        flops += 2 * inst->macs;
        if (!inst->counts_bytes)
            continue;
        bytes.sbuf_read += inst->bytes.sbuf_read;
        bytes.sbuf_write += inst->bytes.sbuf_write;
        bytes.psum_read += inst->bytes.psum_read;
        bytes.psum_write += inst->bytes.psum_write;
        bytes.hbm_read += inst->bytes.hbm_read;
        bytes.hbm_write += inst->bytes.hbm_write;
    }
    for (uint32_t i = 0; i < trace->packet_count; i++)
        moved += trace->packets[i].bytes;
    assert_int_equal(flops, truth->flops);
    assert_int_equal(moved, truth->dma_bytes);
    assert_int_equal(bytes.sbuf_read, truth->sbuf_read);
    assert_int_equal(bytes.sbuf_write, truth->sbuf_write);
    assert_int_equal(bytes.psum_read, truth->psum_read);
    assert_int_equal(bytes.psum_write, truth->psum_write);
    assert_int_equal(bytes.hbm_read, truth->hbm_read);
    assert_int_equal(bytes.hbm_write, truth->hbm_write);
}

static void compare_counts(const struct nx_generated *truth, const struct nx_trace *trace)
{
    assert_int_equal(trace->records, truth->records);
    assert_int_equal(trace->records_unknown, truth->records_unknown);
    assert_int_equal(trace->records_overflow, truth->records_overflow);
    assert_int_equal(trace->window_start_ps, truth->window_start_ps);
    assert_int_equal(trace->window_ps, truth->window_ps);
    assert_int_equal(trace->throttle_count, truth->throttles);
    assert_int_equal(trace->execs_outside, truth->rows_outside);
    assert_int_equal(trace->events_outside, truth->events_outside);
    assert_int_equal(trace->execs_unfinished, truth->execs_unfinished);
    assert_int_equal(trace->ends_unmatched, truth->ends_unmatched);
    assert_int_equal(trace->packets_unfinished, truth->packets_unfinished);
    assert_int_equal(trace->execs_without_code, truth->execs_without_code);
    assert_int_equal(trace->backwards, truth->backwards);
    assert_int_equal(trace->overflow_events, truth->records_overflow); /* only events are made to have the flag */
    assert_int_equal(trace->overflow_instructions + trace->overflow_packets, 0);
    assert_int_equal(trace->insts_replaced, 0);
}

/* Each triggered block moved what its descriptors say, once for each trigger. */
static void compare_runs(const struct nx_generated *truth, const struct nx_trace *trace)
{
    uint64_t triggers = 0, bytes = 0, found = 0, runs = 0;

    for (uint32_t c = 0; c < truth->core_count; c++)
        for (uint32_t q = 0; q < truth->cores[c].queue_count; q++) {
            triggers += truth->cores[c].queues[q].triggers;
            bytes += truth->cores[c].queues[q].block_bytes;
        }
    for (uint32_t i = 0; i < trace->run_count; i++) {
        const struct nx_block_run *run = &trace->runs[i];
        const struct nx_neff_graph *graph = trace->cores[run->core].neff;

        if (run->trigger == NX_NONE)
            continue;
        runs++;
        found += run->bytes;
        assert_int_equal(run->bytes, graph->blocks[run->block].write_bytes);
        assert_true(run->start > trace->execs[run->trigger].start);
    }
    assert_int_equal(runs, triggers);
    assert_int_equal(found, bytes);
}

static void check_pair(struct nx_generate_options options)
{
    char neff_path[64], ntff_path[64];
    struct expected expected = {0};
    struct nx_generated truth;
    struct nx_neff neff;
    struct nx_ntff ntff;
    struct nx_trace trace;
    struct nx_error error;

    options.row = collect;
    options.context = &expected;
    snprintf(neff_path, sizeof(neff_path), "generated-%ld.neff", (long)getpid());
    snprintf(ntff_path, sizeof(ntff_path), "generated-%ld.ntff", (long)getpid());
    if (nx_generate(&options, neff_path, ntff_path, &truth, &error))
        fail_msg("%s", error.text);
    if (nx_neff_open(neff_path, &neff, &error) || nx_ntff_open(ntff_path, &ntff, &error) ||
        nx_trace_build(&neff, &ntff, NULL, NULL, &trace, &error))
        fail_msg("%s", error.text);
    compare_counts(&truth, &trace);
    compare_rows(&expected, &trace);
    compare_sums(&truth, &trace);
    if (!options.defects)
        compare_runs(&truth, &trace);
    nx_trace_free(&trace);
    nx_ntff_close(&ntff);
    nx_neff_close(&neff);
    unlink(neff_path);
    unlink(ntff_path);
}

static void every_version_and_kind_of_dma(void **state)
{
    (void)state;
    check_pair((struct nx_generate_options){.version = 4});
    for (uint32_t version = 5; version <= 6; version++)
        for (int dma = NX_DMA_STATIC; dma <= NX_DMA_MIXED; dma++)
            for (uint32_t cores = 1; cores <= 2; cores++)
                check_pair((struct nx_generate_options){
                    .version = version, .dma = (enum nx_generate_dma)dma, .cores = cores});
}

static void sizes_and_types(void **state)
{
    (void)state;
    check_pair((struct nx_generate_options){.m = 128, .k = 128, .n = 512});
    check_pair((struct nx_generate_options){.m = 640, .k = 384, .n = 1536, .dtype = NX_GEN_FP32});
    check_pair(
        (struct nx_generate_options){.m = 512, .k = 512, .n = 2048, .dtype = NX_GEN_FP16, .version = 4});
}

static void loops_repeat_program_counters(void **state)
{
    (void)state;
    check_pair((struct nx_generate_options){.repeat = 9});
    check_pair((struct nx_generate_options){.repeat = 5, .version = 4});
    check_pair((struct nx_generate_options){.repeat = 3, .version = 5, .dma = NX_DMA_MIXED});
}

static void clocks_beyond_64_bits(void **state)
{
    (void)state;
    check_pair((struct nx_generate_options){.version = 4, .clock_ps = 1000000000000000000u, .repeat = 2});
    check_pair((struct nx_generate_options){.version = 6, .clock_ps = 9000000000000000000u});
}

static void a_uuid_that_is_cut(void **state)
{
    (void)state;
    for (uint32_t version = 4; version <= 6; version++)
        for (unsigned nul = 1; nul < 16; nul += 7)
            check_pair((struct nx_generate_options){
                .version = version, .uuid_nul = nul, .m = 128, .k = 128, .n = 512});
}

static void defects_are_counted(void **state)
{
    (void)state;
    for (uint32_t bit = NX_DEFECT_UNKNOWN_OPCODE; bit <= NX_DEFECT_NO_DEBUG_INFO; bit <<= 1)
        if (bit != NX_DEFECT_WRONG_UUID)
            for (uint32_t version = 5; version <= 6; version++)
                if (bit != NX_DEFECT_EMPTY_TRACE || version == 6) /* before v6 the window is in the records */
                    check_pair((struct nx_generate_options){.version = version, .defects = bit});
}

/* The runtime's own code has opcodes that nobody outside knows: only what ran counts. */
static void opcodes_count_where_they_ran(void **state)
{
    struct nx_generate_options options = {0};
    struct nx_neff neff;
    struct nx_ntff ntff;
    struct nx_trace trace;
    struct nx_error error;

    (void)state;
    for (unsigned defect = 0; defect < 2; defect++) {
        unsigned in_code = 0;

        options.defects = defect ? NX_DEFECT_UNKNOWN_OPCODE : 0;
        assert_int_equal(nx_generate(&options, "opcode.neff", "opcode.ntff", NULL, &error), NX_OK);
        assert_int_equal(nx_neff_open("opcode.neff", &neff, &error), NX_OK);
        assert_int_equal(nx_ntff_open("opcode.ntff", &ntff, &error), NX_OK);
        assert_int_equal(nx_trace_build(&neff, &ntff, NULL, NULL, &trace, &error), NX_OK);
        for (uint32_t i = 0; i < trace.inst_count; i++)
            in_code += !trace.insts[i].understood;
        assert_true(in_code >= defect);
        assert_int_equal(trace.insts_not_understood, defect);
        assert_true(trace.insts_ran > 0 && trace.insts_ran <= trace.inst_count);
        assert_int_equal(trace.execs_waiting, trace.core_count);
        nx_trace_free(&trace);
        nx_ntff_close(&ntff);
        nx_neff_close(&neff);
        unlink("opcode.neff");
        unlink("opcode.ntff");
    }
}

/* No real clock starts after a record of its own: such times are not known, and the user is told. */
static void records_before_their_clock(void **state)
{
    struct nx_generate_options options = {.version = 4};
    struct nx_generated truth;
    struct nx_neff neff;
    struct nx_ntff ntff;
    struct nx_trace trace;
    struct nx_error error;
    bool warned = false;

    (void)state;
    assert_int_equal(nx_generate(&options, "clock.neff", "clock.ntff", &truth, &error), NX_OK);
    assert_int_equal(nx_neff_open("clock.neff", &neff, &error), NX_OK);
    assert_int_equal(nx_ntff_open("clock.ntff", &ntff, &error), NX_OK);
    ntff.cores[0].event_clock.init = UINT64_MAX;
    assert_int_equal(nx_trace_build(&neff, &ntff, NULL, NULL, &trace, &error), NX_OK);
    assert_int_equal(trace.before_clock, truth.cores[0].event_records + truth.cores[0].throttle_records);
    for (size_t i = 0; i < trace.warnings.count; i++)
        warned |= strstr(trace.warnings.list[i].message, "before their clock") != NULL;
    assert_true(warned);
    nx_trace_free(&trace);
    nx_ntff_close(&ntff);
    nx_neff_close(&neff);
    unlink("clock.neff");
    unlink("clock.ntff");
}

static void another_kernels_trace_is_refused(void **state)
{
    struct nx_generate_options options = {.defects = NX_DEFECT_WRONG_UUID};
    struct nx_neff neff;
    struct nx_ntff ntff;
    struct nx_trace trace;
    struct nx_error error;

    (void)state;
    for (options.version = 4; options.version <= 6; options.version++) {
        assert_int_equal(nx_generate(&options, "wrong.neff", "wrong.ntff", NULL, &error), NX_OK);
        assert_int_equal(nx_neff_open("wrong.neff", &neff, &error), NX_OK);
        assert_int_equal(nx_ntff_open("wrong.ntff", &ntff, &error), NX_OK);
        assert_int_equal(nx_trace_build(&neff, &ntff, NULL, NULL, &trace, &error), NX_BAD_INPUT);
        assert_non_null(strstr(error.text, "uuid"));
        nx_ntff_close(&ntff);
        nx_neff_close(&neff);
        unlink("wrong.neff");
        unlink("wrong.ntff");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_and_kind_of_dma),
        cmocka_unit_test(sizes_and_types),
        cmocka_unit_test(loops_repeat_program_counters),
        cmocka_unit_test(clocks_beyond_64_bits),
        cmocka_unit_test(a_uuid_that_is_cut),
        cmocka_unit_test(defects_are_counted),
        cmocka_unit_test(opcodes_count_where_they_ran),
        cmocka_unit_test(records_before_their_clock),
        cmocka_unit_test(another_kernels_trace_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
