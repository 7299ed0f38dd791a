/*
 * The rows that the profile shows (SPEC 4.2), sorted by start.
 *
 *   instruction  complete, starts at or after the window's start and ends at or before its end
 *   event        inside the window, edges included
 *   DMA packet   as instructions; but a ring with a packet that crosses an edge is left out whole
 *   throttle     all of them
 */
#include <stdlib.h>

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

static bool inside(const struct nx_build *b, uint64_t start, uint64_t end)
{
    return start >= b->window_start && end <= b->window_end;
}

static int64_t relative(const struct nx_build *b, uint64_t time)
{
    return (int64_t)(time - b->window_start);
}

/* The last EVENT_SEMAPHORE of a core's Tensor engine waits for the next run of the kernel: that it has no end is normal. */
static void note_unfinished(struct nx_trace *trace, const struct nx_raw_exec *e)
{
    struct nx_trace_core *core = &trace->cores[e->core];

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

/* Returns, by raw number, the number of the kept execution or NX_NONE; caller frees. */
static uint32_t *keep_execs(struct nx_build *b)
{
    struct nx_trace *trace = b->trace;
    struct picked picked = picked_new(b->exec_count);
    uint32_t *kept = nx_alloc(b->exec_count * sizeof(*kept));

    for (size_t i = 0; i < b->exec_count; i++) {
        const struct nx_raw_exec *e = &b->execs[i];

        kept[i] = NX_NONE;
        if (!e->finished)
            note_unfinished(trace, e);
        else if (e->end < e->start)
            trace->backwards++;
        else if (!inside(b, e->start, e->end))
            trace->execs_outside++;
        else
            pick(&picked, i, e->start);
    }
    nx_sort_order(picked.keys, picked.order, picked.count);
    trace->exec_count = picked.count;
    trace->execs = nx_alloc(picked.count * sizeof(*trace->execs));
    for (uint32_t i = 0; i < picked.count; i++) {
        uint32_t row = picked.rows[picked.order[i]];
        const struct nx_raw_exec *e = &b->execs[row];

        kept[row] = i;
        trace->execs[i] = (struct nx_exec){.start = relative(b, e->start),
                                           .end = relative(b, e->end),
                                           .inst = e->inst,
                                           .pc = e->pc,
                                           .wait_cycles = e->wait_cycles,
                                           .crc_in = e->crc_in,
                                           .crc_out = e->crc_out,
                                           .engine = e->engine,
                                           .core = e->core};
        if (e->inst == NX_NONE)
            trace->execs_without_code++;
        else
            note_run(trace, &trace->insts[e->inst]);
        if (trace->execs[i].end > trace->cores[e->core].last_end)
            trace->cores[e->core].last_end = trace->execs[i].end;
    }
    picked_free(&picked);
    return kept;
}

static bool complete(const struct nx_raw_packet *p)
{
    return (p->seen & (NX_SEEN_START | NX_SEEN_END)) == (NX_SEEN_START | NX_SEEN_END);
}

static void mark_straddling_rings(struct nx_build *b)
{
    for (size_t i = 0; i < b->packet_count; i++) {
        const struct nx_raw_packet *p = &b->packets[i];

        if (!complete(p) || p->end < p->start)
            continue;
        if ((p->start < b->window_start) != (p->end < b->window_start) ||
            (p->start <= b->window_end) != (p->end <= b->window_end))
            b->trace->rings[p->ring].straddles = true;
    }
}

static void keep_packets(struct nx_build *b)
{
    struct nx_trace *trace = b->trace;
    struct picked picked = picked_new(b->packet_count);
    uint32_t *seen = nx_zalloc(trace->ring_count, sizeof(*seen)); /* kept packets of each ring so far */

    mark_straddling_rings(b);
    for (size_t i = 0; i < b->packet_count; i++) {
        const struct nx_raw_packet *p = &b->packets[i];

        if (!complete(p))
            trace->packets_unfinished++;
        else if (p->end < p->start)
            trace->backwards++;
        else if (trace->rings[p->ring].straddles || !inside(b, p->start, p->end))
            trace->packets_outside++;
        else
            pick(&picked, i, p->start);
    }
    nx_sort_order(picked.keys, picked.order, picked.count);
    trace->packet_count = picked.count;
    trace->packets = nx_alloc(picked.count * sizeof(*trace->packets));
    for (uint32_t i = 0; i < picked.count; i++) {
        const struct nx_raw_packet *p = &b->packets[picked.rows[picked.order[i]]];

        trace->packets[i] = (struct nx_packet){
            .start = relative(b, p->start),
            .end = relative(b, p->end),
            .ack = p->seen & NX_SEEN_ACK ? relative(b, p->ack) : NX_NO_TIME,
            .bytes = p->bytes,
            .ring = p->ring,
            .index = seen[p->ring]++,
            .run = p->run,
            .crc = p->crc,
            .core = trace->rings[p->ring].core,
            .last_of_block = p->last_of_block,
        };
    }
    free(seen);
    picked_free(&picked);
}

static void keep_events(struct nx_build *b)
{
    struct nx_trace *trace = b->trace;
    struct picked picked = picked_new(b->event_count);

    for (size_t i = 0; i < b->event_count; i++) {
        if (inside(b, b->events[i].time, b->events[i].time))
            pick(&picked, i, b->events[i].time);
        else
            trace->events_outside++;
    }
    nx_sort_order(picked.keys, picked.order, picked.count);
    trace->event_count = picked.count;
    trace->events = nx_alloc(picked.count * sizeof(*trace->events));
    for (uint32_t i = 0; i < picked.count; i++) {
        const struct nx_raw_event *e = &b->events[picked.rows[picked.order[i]]];

        trace->events[i] = (struct nx_event){.time = relative(b, e->time),
                                             .value = e->value,
                                             .core = e->core,
                                             .id = e->id,
                                             .mode = e->mode,
                                             .source = e->source,
                                             .is_semaphore = e->is_semaphore};
    }
    picked_free(&picked);
}

/* Sums up each run over its kept packets; its trigger becomes the number of a kept execution. */
static void finish_runs(struct nx_trace *trace, const uint32_t *kept_execs)
{
    for (uint32_t i = 0; i < trace->run_count; i++)
        trace->runs[i].trigger = kept_execs[trace->runs[i].trigger];
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
    struct picked picked = picked_new(b->throttle_count);
    int64_t *until = nx_alloc(trace->core_count * sizeof(*until));

    for (uint32_t c = 0; c < trace->core_count; c++)
        until[c] = trace->cores[c].last_end;
    for (size_t i = 0; i < b->throttle_count; i++)
        pick(&picked, i, b->throttles[i].time);
    nx_sort_order(picked.keys, picked.order, picked.count);
    trace->throttle_count = picked.count;
    trace->throttles = nx_alloc(picked.count * sizeof(*trace->throttles));
    for (uint32_t i = picked.count; i-- > 0;) { /* backwards: `until` is then the next one's start */
        const struct nx_raw_throttle *t = &b->throttles[picked.rows[picked.order[i]]];
        int64_t start = relative(b, t->time), end = until[t->core] > start ? until[t->core] : start;

        trace->throttles[i] = (struct nx_throttle){start, end, t->core, t->k, t->n, t->type};
        until[t->core] = start;
    }
    free(until);
    picked_free(&picked);
}

void nx_build_keep(struct nx_build *b)
{
    uint32_t *kept = keep_execs(b);

    keep_packets(b);
    finish_runs(b->trace, kept);
    keep_events(b);
    keep_throttles(b);
    free(kept);
}
