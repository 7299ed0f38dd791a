/*
 * The rows that the profile shows (SPEC 4.2), sorted by start.
 *
 *   instruction  complete, starts at or after the window's start and ends at or before its end
 *   event        inside the window, edges included
 *   DMA packet   as instructions; but a ring with a packet that crosses an edge is left out whole
 *   throttle     all of them
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "trace/build.h"

/* Rows that will stay: their numbers in the raw array, and their keys. */
struct picked {
    uint32_t *rows, *order;
    uint64_t *keys;
    uint32_t count;
};

static struct picked picked_new(size_t capacity)
{
    return (struct picked){.rows = nx_alloc(capacity * sizeof(uint32_t)),
                           .order = nx_alloc(capacity * sizeof(uint32_t)),
                           .keys = nx_alloc(capacity * sizeof(uint64_t))};
}

static void pick(struct picked *picked, size_t row, uint64_t key)
{
    picked->rows[picked->count] = (uint32_t)row;
    picked->keys[picked->count++] = key;
}

static void picked_free(struct picked *picked)
{
    free(picked->rows);
    free(picked->order);
    free(picked->keys);
}

/* The last EVENT_SEMAPHORE of a core's Tensor engine waits for the next run of the kernel: that it has no end is normal. */
static void note_unfinished(struct nx_trace *trace, struct nx_trace_core *core, const struct nx_raw_exec *e)
{
    trace->execs_unfinished++;
    if (core->waits || e->engine != NX_PE || e->inst == NX_NONE ||
        trace->insts[e->inst].opcode != NX_OP_EVENT_SEMAPHORE)
        return;
    core->waits = true;
    trace->execs_waiting++;
}

static void note_run(struct nx_trace *trace, struct nx_code_inst *inst)
{
    if (inst->ran)
        return;
    inst->ran = true;
    trace->insts_ran++;
    trace->insts_not_understood += !inst->understood;
}

/* Counts why an execution is left out; true: it stays. */
static bool stays(struct nx_build *b, struct nx_trace_core *core, const struct nx_raw_exec *e)
{
    if (!e->finished)
        note_unfinished(b->trace, core, e);
    else if (e->end < e->start)
        b->trace->backwards++;
    else if (!nx_build_inside(b, e->start, e->end))
        b->trace->execs_outside++;
    else
        return true;
    return false;
}

/* Rows of all cores are numbered one core after another: `first` is where each begins, and how many there are in all. */
static size_t first_rows(const struct nx_build *b, size_t (*count)(const struct nx_core_rows *), size_t *first)
{
    size_t total = 0;

    for (uint32_t c = 0; c < b->trace->core_count; c++) {
        first[c] = total;
        total += count(&b->cores[c]);
    }
    first[b->trace->core_count] = total;
    return total;
}

/* The core of a row, for rows in any order but mostly of the same core as the one before. */
static uint32_t core_of(const size_t *first, size_t row, uint32_t core)
{
    while (row < first[core])
        core--;
    while (row >= first[core + 1])
        core++;
    return core;
}

static size_t exec_count(const struct nx_core_rows *rows)
{
    return rows->exec_count;
}
static size_t event_count(const struct nx_core_rows *rows)
{
    return rows->event_count;
}
static size_t throttle_count(const struct nx_core_rows *rows)
{
    return rows->throttle_count;
}

/* Returns, by raw number, the number of the kept execution or NX_NONE; caller frees. */
static uint32_t *keep_execs(struct nx_build *b, size_t *first)
{
    struct nx_trace *trace = b->trace;
    size_t total = first_rows(b, exec_count, first);
    struct picked picked = picked_new(total);
    uint32_t *kept = nx_alloc(total * sizeof(*kept)), core = 0;

    memset(kept, 0xff, total * sizeof(*kept));
    for (uint32_t c = 0; c < trace->core_count; c++)
        for (size_t i = 0; i < b->cores[c].exec_count; i++)
            if (stays(b, &trace->cores[c], &b->cores[c].execs[i]))
                pick(&picked, first[c] + i, b->cores[c].execs[i].start);
    nx_sort_order(picked.keys, picked.order, picked.count);
    trace->exec_count = picked.count;
    trace->execs = nx_alloc(picked.count * sizeof(*trace->execs));
    for (uint32_t i = 0; i < picked.count; i++) {
        uint32_t row = picked.rows[picked.order[i]];
        const struct nx_raw_exec *e;

        core = core_of(first, row, core);
        e = &b->cores[core].execs[row - first[core]];
        kept[row] = i;
        trace->execs[i] = (struct nx_exec){.start = nx_build_relative(b, e->start),
                                           .end = nx_build_relative(b, e->end),
                                           .inst = e->inst,
                                           .pc = e->pc,
                                           .wait_cycles = e->wait_cycles,
                                           .crc_in = e->crc_in,
                                           .crc_out = e->crc_out,
                                           .engine = e->engine,
                                           .core = (uint8_t)core};
        if (e->inst == NX_NONE)
            trace->execs_without_code++;
        else
            note_run(trace, &trace->insts[e->inst]);
        if (trace->execs[i].end > trace->cores[core].last_end)
            trace->cores[core].last_end = trace->execs[i].end;
    }
    picked_free(&picked);
    return kept;
}

static void keep_events(struct nx_build *b, size_t *first)
{
    struct nx_trace *trace = b->trace;
    struct picked picked = picked_new(first_rows(b, event_count, first));
    uint32_t core = 0;

    for (uint32_t c = 0; c < trace->core_count; c++)
        for (size_t i = 0; i < b->cores[c].event_count; i++) {
            uint64_t time = b->cores[c].events[i].time;

            if (nx_build_inside(b, time, time))
                pick(&picked, first[c] + i, time);
            else
                trace->events_outside++;
        }
    nx_sort_order(picked.keys, picked.order, picked.count);
    trace->event_count = picked.count;
    trace->events = nx_alloc(picked.count * sizeof(*trace->events));
    for (uint32_t i = 0; i < picked.count; i++) {
        uint32_t row = picked.rows[picked.order[i]];
        const struct nx_raw_event *e;

        core = core_of(first, row, core);
        e = &b->cores[core].events[row - first[core]];
        trace->events[i] = (struct nx_event){.time = nx_build_relative(b, e->time),
                                             .value = e->value,
                                             .core = (uint8_t)core,
                                             .id = e->id,
                                             .mode = e->mode,
                                             .source = e->source,
                                             .is_semaphore = e->is_semaphore};
    }
    picked_free(&picked);
}

/* Sums up each run over its kept packets; its trigger becomes the number of a kept execution. */
static void finish_runs(struct nx_trace *trace, const uint32_t *kept_execs, const size_t *first)
{
    for (uint32_t i = 0; i < trace->run_count; i++)
        trace->runs[i].trigger = kept_execs[first[trace->runs[i].core] + trace->runs[i].trigger];
    for (uint32_t i = 0; i < trace->packet_count; i++) {
        const struct nx_packet *p = &trace->packets[i];
        struct nx_block_run *run = p->run == NX_NONE ? NULL : &trace->runs[p->run];

        if (!run)
            continue;
        if (!run->packets || p->start < run->start)
            run->start = p->start;
        if (!run->packets || p->end > run->end)
            run->end = p->end;
        run->bytes += nx_packet_data_bytes(p);
        run->packets++;
        run->ring_index = trace->rings[p->ring].index;
        run->queue_type = (uint8_t)trace->rings[p->ring].type;
    }
}

/* Each lasts until the next one of its core, the last one until the core's last instruction end. */
static void keep_throttles(struct nx_build *b, size_t *first)
{
    struct nx_trace *trace = b->trace;
    struct picked picked = picked_new(first_rows(b, throttle_count, first));
    int64_t *until = nx_alloc(trace->core_count * sizeof(*until));
    uint32_t core = 0;

    for (uint32_t c = 0; c < trace->core_count; c++) {
        until[c] = trace->cores[c].last_end;
        for (size_t i = 0; i < b->cores[c].throttle_count; i++)
            pick(&picked, first[c] + i, b->cores[c].throttles[i].time);
    }
    nx_sort_order(picked.keys, picked.order, picked.count);
    trace->throttle_count = picked.count;
    trace->throttles = nx_alloc(picked.count * sizeof(*trace->throttles));
    for (uint32_t i = picked.count; i-- > 0;) { /* backwards: `until` is then the next one's start */
        uint32_t row = picked.rows[picked.order[i]];
        const struct nx_raw_throttle *t;
        int64_t start, end;

        core = core_of(first, row, core);
        t = &b->cores[core].throttles[row - first[core]];
        start = nx_build_relative(b, t->time);
        end = until[core] > start ? until[core] : start;
        trace->throttles[i] = (struct nx_throttle){start, end, (uint8_t)core, t->k, t->n, t->type};
        until[core] = start;
    }
    free(until);
    picked_free(&picked);
}

void nx_build_keep(struct nx_build *b)
{
    size_t *first = nx_alloc((b->trace->core_count + (size_t)1) * sizeof(*first));
    uint32_t *kept = keep_execs(b, first);

    nx_build_keep_packets(b);
    finish_runs(b->trace, kept, first);
    keep_events(b, first);
    keep_throttles(b, first);
    free(kept);
    free(first);
}
