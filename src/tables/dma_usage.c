/*
 * DmaUsage: the rate at which packets in flight move data, and the bytes of
 * the packets started so far, at the times when packets start or end.
 *
 * The rate at a time is the sum, over the packets in flight, of bytes over
 * duration.  As the closed tool does, a point is kept only if it is at least
 * 10 ns after the last one that was kept, on each core.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "tables/table.h"

#define POINT_SPACING_PS 10000

struct point {
    int64_t time;
    uint64_t bytes;
    double rate;
    uint8_t core;
};

struct state {
    struct point *points;
    size_t count, capacity;
};

static void add_point(struct state *state, struct point point)
{
    state->points = nx_grow(state->points, state->count, &state->capacity, sizeof(*state->points));
    state->points[state->count++] = point;
}

/* Merges the packets' starts (they are in that order) with their ends. */
static void sweep_core(struct state *state, const struct nx_trace *trace, const uint32_t *packets, uint32_t count,
                       uint8_t core)
{
    uint64_t *ends = nx_alloc(count * sizeof(*ends)), bytes = 0;
    uint32_t *by_end = nx_alloc(count * sizeof(*by_end)), started = 0, ended = 0;
    int64_t last = 0;
    double rate = 0;
    bool any = false;

    for (uint32_t i = 0; i < count; i++)
        ends[i] = (uint64_t)trace->packets[packets[i]].end;
    nx_sort_order(ends, by_end, count);
    while (ended < count) {
        int64_t now = (int64_t)ends[by_end[ended]];

        if (started < count && trace->packets[packets[started]].start < now)
            now = trace->packets[packets[started]].start;
        for (; started < count && trace->packets[packets[started]].start == now; started++) {
            const struct nx_packet *p = &trace->packets[packets[started]];

            bytes += p->bytes;
            rate += nx_bytes_per_second(p->bytes, p->end > p->start ? p->end - p->start : 1);
        }
        for (; ended < started && (int64_t)ends[by_end[ended]] == now; ended++) {
            const struct nx_packet *p = &trace->packets[packets[by_end[ended]]];

            rate -= nx_bytes_per_second(p->bytes, p->end > p->start ? p->end - p->start : 1);
        }
        if (started == ended)
            rate = 0; /* nothing in flight: no rounding is carried on */
        if (!any || now - last >= POINT_SPACING_PS) {
            add_point(state, (struct point){now, bytes, rate, core});
            last = now;
            any = true;
        }
    }
    free(ends);
    free(by_end);
}

static void *open_table(const struct nx_profile *profile)
{
    const struct nx_trace *trace = profile->trace;
    struct state *state = nx_zalloc(1, sizeof(*state));
    uint32_t *packets = nx_alloc(trace->packet_count * sizeof(*packets));

    for (uint32_t c = 0; c < trace->core_count; c++) {
        uint32_t count = 0;

        for (uint32_t i = 0; i < trace->packet_count; i++)
            if (trace->packets[i].core == c)
                packets[count++] = i;
        sweep_core(state, trace, packets, count, (uint8_t)c);
    }
    free(packets);
    state->points = nx_sort_rows(state->points, state->count, sizeof(*state->points), offsetof(struct point, time));
    return state;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct state *)opaque)->count;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct point *p = &state->points[first + i];

        nx_put_i64(chunk, NX_DmaUsage_timestamp, i, nx_ns(p->time));
        nx_put_f64(chunk, NX_DmaUsage_current_throughput, i, (double)(float)p->rate);
        nx_put_i64(chunk, NX_DmaUsage_total_transfer_bytes, i, (int64_t)p->bytes);
        nx_put_i64(chunk, NX_DmaUsage_pcore_idx, i, p->core);
    }
}

static void close_table(void *opaque)
{
    free(((struct state *)opaque)->points);
    free(opaque);
}

const struct nx_table nx_table_DmaUsage = {"DmaUsage", open_table, count_rows, fill, NULL, close_table};
