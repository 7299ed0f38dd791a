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

/* ------------------------------------------------------------------ picking rows */

/* A kind of row, of all cores: numbered one core after another, `first` is where each begins. */
struct kind {
    const struct nx_build *build;
    size_t (*count)(const struct nx_core_rows *);
    uint64_t (*time)(const struct nx_core_rows *, size_t row);
    size_t *first; /* core_count + 1 entries */
};

static size_t exec_count(const struct nx_core_rows *rows)
{
    return rows->exec_count;
}
static uint64_t exec_time(const struct nx_core_rows *rows, size_t row)
{
    return rows->execs[row].start;
}
static size_t event_count(const struct nx_core_rows *rows)
{
    return rows->event_count;
}
static uint64_t event_time(const struct nx_core_rows *rows, size_t row)
{
    return rows->events[row].time;
}
static size_t throttle_count(const struct nx_core_rows *rows)
{
    return rows->throttle_count;
}
static uint64_t throttle_time(const struct nx_core_rows *rows, size_t row)
{
    return rows->throttles[row].time;
}

static struct kind kind_open(const struct nx_build *b, size_t (*count)(const struct nx_core_rows *),
                             uint64_t (*time)(const struct nx_core_rows *, size_t))
{
    struct kind kind = {b, count, time, nx_zalloc(b->trace->core_count + (size_t)1, sizeof(*kind.first))};

    for (uint32_t c = 0; c < b->trace->core_count; c++)
        kind.first[c + 1] = kind.first[c] + count(&b->cores[c]);
    return kind;
}

/* The core of a row, for rows in any order but mostly of the same core as the one before. */
static uint32_t core_of(const struct kind *kind, size_t row, uint32_t core)
{
    while (row < kind->first[core])
        core--;
    while (row >= kind->first[core + 1])
        core++;
    return core;
}

/* Rows that will stay: their numbers. */
struct picked {
    uint32_t *rows;
    uint32_t count;
    bool in_order; /* of time, as most traces of one core are */
    uint64_t last;
};

static struct picked picked_new(const struct kind *kind)
{
    return (struct picked){.rows = nx_alloc(kind->first[kind->build->trace->core_count] * sizeof(uint32_t)),
                           .in_order = true};
}

static void pick(struct picked *picked, size_t row, uint64_t time)
{
    picked->rows[picked->count++] = (uint32_t)row;
    picked->in_order &= picked->last <= time;
    picked->last = time;
}

static void put_in_order(struct picked *picked, const struct kind *kind)
{
    uint32_t *rows = picked->rows, *order, core = 0;
    uint64_t *times;

    if (picked->in_order)
        return;
    times = nx_alloc(picked->count * sizeof(*times));
    order = nx_alloc(picked->count * sizeof(*order));
    for (uint32_t i = 0; i < picked->count; i++) {
        core = core_of(kind, rows[i], core);
        times[i] = kind->time(&kind->build->cores[core], rows[i] - kind->first[core]);
    }
    nx_sort_order(times, order, picked->count);
    for (uint32_t i = 0; i < picked->count; i++)
        order[i] = rows[order[i]];
    picked->rows = order;
    free(rows);
    free(times);
}

/* ------------------------------------------------------------------ each kind */

/* Returns, by raw number, the number of the kept execution or NX_NONE; caller frees. */
static uint32_t *keep_execs(struct nx_build *b, const struct kind *kind)
{
    struct nx_trace *trace = b->trace;
    struct picked picked = picked_new(kind);
    size_t total = kind->first[trace->core_count];
    uint32_t *kept = nx_alloc(total * sizeof(*kept)), core = 0;

    memset(kept, 0xff, total * sizeof(*kept));
    for (uint32_t c = 0; c < trace->core_count; c++)
        for (size_t i = 0; i < b->cores[c].exec_count; i++)
            if (stays(b, &trace->cores[c], &b->cores[c].execs[i]))
                pick(&picked, kind->first[c] + i, b->cores[c].execs[i].start);
    put_in_order(&picked, kind);
    trace->exec_count = picked.count;
    trace->execs = nx_alloc(picked.count * sizeof(*trace->execs));
    for (uint32_t i = 0; i < picked.count; i++) {
        uint32_t row = picked.rows[i];
        const struct nx_raw_exec *e;

        core = core_of(kind, row, core);
        e = &b->cores[core].execs[row - kind->first[core]];
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
    free(picked.rows);
    return kept;
}

static void keep_events(struct nx_build *b)
{
    struct nx_trace *trace = b->trace;
    struct kind kind = kind_open(b, event_count, event_time);
    struct picked picked = picked_new(&kind);
    uint32_t core = 0;

    for (uint32_t c = 0; c < trace->core_count; c++)
        for (size_t i = 0; i < b->cores[c].event_count; i++) {
            uint64_t time = b->cores[c].events[i].time;

            if (nx_build_inside(b, time, time))
                pick(&picked, kind.first[c] + i, time);
            else
                trace->events_outside++;
        }
    put_in_order(&picked, &kind);
    trace->event_count = picked.count;
    trace->events = nx_alloc(picked.count * sizeof(*trace->events));
    for (uint32_t i = 0; i < picked.count; i++) {
        uint32_t row = picked.rows[i];
        const struct nx_raw_event *e;

        core = core_of(&kind, row, core);
        e = &b->cores[core].events[row - kind.first[core]];
        trace->events[i] = (struct nx_event){.time = nx_build_relative(b, e->time),
                                             .value = e->value,
                                             .core = (uint8_t)core,
                                             .id = e->id,
                                             .mode = e->mode,
                                             .source = e->source,
                                             .is_semaphore = e->is_semaphore};
    }
    free(picked.rows);
    free(kind.first);
}

/* Sums up each run over its kept packets; its trigger becomes the number of a kept execution. */
static void finish_runs(struct nx_trace *trace, const uint32_t *kept_execs, const struct kind *execs)
{
    for (uint32_t i = 0; i < trace->run_count; i++)
        trace->runs[i].trigger = kept_execs[execs->first[trace->runs[i].core] + trace->runs[i].trigger];
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
static void keep_throttles(struct nx_build *b)
{
    struct nx_trace *trace = b->trace;
    struct kind kind = kind_open(b, throttle_count, throttle_time);
    struct picked picked = picked_new(&kind);
    int64_t *until = nx_alloc(trace->core_count * sizeof(*until));
    uint32_t core = 0;

    for (uint32_t c = 0; c < trace->core_count; c++) {
        until[c] = trace->cores[c].last_end;
        for (size_t i = 0; i < b->cores[c].throttle_count; i++)
            pick(&picked, kind.first[c] + i, b->cores[c].throttles[i].time);
    }
    put_in_order(&picked, &kind);
    trace->throttle_count = picked.count;
    trace->throttles = nx_alloc(picked.count * sizeof(*trace->throttles));
    for (uint32_t i = picked.count; i-- > 0;) { /* backwards: `until` is then the next one's start */
        uint32_t row = picked.rows[i];
        const struct nx_raw_throttle *t;
        int64_t start, end;

        core = core_of(&kind, row, core);
        t = &b->cores[core].throttles[row - kind.first[core]];
        start = nx_build_relative(b, t->time);
        end = until[core] > start ? until[core] : start;
        trace->throttles[i] = (struct nx_throttle){start, end, (uint8_t)core, t->k, t->n, t->type};
        until[core] = start;
    }
    free(until);
    free(picked.rows);
    free(kind.first);
}

/* ------------------------------------------------------------------ all of them */

struct keeping {
    struct nx_build *build;
    struct kind execs;
    uint32_t *kept_execs;
};

/* Two jobs, which touch nothing of each other's. */
static void keep_rows(void *context, size_t number)
{
    struct keeping *k = context;

    if (number == 0)
        k->kept_execs = keep_execs(k->build, &k->execs);
    else
        keep_events(k->build);
}

void nx_build_keep(struct nx_build *b)
{
    struct keeping k = {.build = b, .execs = kind_open(b, exec_count, exec_time)};

    nx_jobs_run(keep_rows, &k, 2, nx_build_threads(k.execs.first[b->trace->core_count]));
    nx_build_keep_packets(b);
    finish_runs(b->trace, k.kept_execs, &k.execs);
    keep_throttles(b);
    free(k.kept_execs);
    free(k.execs.first);
}
