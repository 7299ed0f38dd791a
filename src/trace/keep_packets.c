/*
 * DMA packets inside the window, sorted by start: each ring is put in order by
 * itself, then the rings are merged.
 *
 * Rings are in order already but for odd traces, so packets are read and
 * written once, from front to back.  The merge is done in shares of time,
 * whose places in the result are known beforehand.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/merge.h"
#include "base/sort.h"
#include "trace/build.h"

#define SHARES NX_JOBS_MAX_THREADS

/* What a ring lost. */
struct left_out {
    uint64_t backwards, outside;
};

/* A piece of the result: from each ring the packets from `from` up to `to`. */
struct share {
    size_t *from, *to;
    struct nx_packet *out;
};

struct keeping {
    struct nx_build *build;
    struct left_out *left_out; /* by ring */
    struct share shares[SHARES];
};

static bool straddles(const struct nx_build *b, const struct nx_raw_packet *p)
{
    if (p->end < p->start)
        return false;
    return (p->start < b->window_start) != (p->end < b->window_start) ||
           (p->start <= b->window_end) != (p->end <= b->window_end);
}

static bool stays(const struct nx_build *b, bool ring_straddles, const struct nx_raw_packet *p, struct left_out *out)
{
    if (p->end < p->start)
        out->backwards++;
    else if (ring_straddles || !nx_build_inside(b, p->start, p->end))
        out->outside++;
    else
        return true;
    return false;
}

/* A ring's packets that stay, moved together and in order. */
static void keep_ring(void *context, size_t number)
{
    struct keeping *k = context;
    struct nx_ring *ring = &k->build->trace->rings[number];
    struct nx_ring_rows *rows = &k->build->rings[number];
    size_t kept = 0;
    bool sorted = true;

    for (size_t i = rows->acks; i < rows->count; i++)
        rows->packets[i].ack = NX_NO_ACK;
    for (size_t i = 0; i < rows->count && !ring->straddles; i++)
        ring->straddles = straddles(k->build, &rows->packets[i]);
    for (size_t i = 0; i < rows->count; i++) {
        if (!stays(k->build, ring->straddles, &rows->packets[i], &k->left_out[number]))
            continue;
        if (kept != i)
            rows->packets[kept] = rows->packets[i];
        sorted &= kept == 0 || rows->packets[kept - 1].start <= rows->packets[kept].start;
        kept++;
    }
    rows->count = kept;
    if (!sorted)
        rows->packets = nx_sort_rows(rows->packets, kept, sizeof(*rows->packets), offsetof(struct nx_raw_packet, start));
}

/* Of a ring in order: how many packets start before `time`. */
static size_t starting_before(const struct nx_ring_rows *rows, uint64_t time)
{
    size_t low = 0, high = rows->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rows->packets[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t all_starting_before(const struct nx_build *b, uint64_t time)
{
    size_t count = 0;

    for (uint32_t r = 0; r < b->trace->ring_count; r++)
        count += starting_before(&b->rings[r], time);
    return count;
}

/* The earliest time before which at least `count` packets start. */
static uint64_t time_of_share(const struct nx_build *b, size_t count)
{
    uint64_t low = b->window_start, high = b->window_end + 1;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (all_starting_before(b, middle) < count)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct nx_packet packet_of(const struct nx_build *b, uint32_t ring, size_t index)
{
    const struct nx_raw_packet *p = &b->rings[ring].packets[index];

    return (struct nx_packet){
        .start = nx_build_relative(b, p->start),
        .end = nx_build_relative(b, p->end),
        .ack = p->ack == NX_NO_ACK ? NX_NO_TIME : nx_build_relative(b, p->ack),
        .bytes = p->bytes,
        .ring = ring,
        .index = (uint32_t)index,
        .run = p->run,
        .crc = p->crc,
        .core = b->trace->rings[ring].core,
        .last_of_block = p->last_of_block,
    };
}

/* Keys count from the window's start: none can be NX_MERGE_END. */
static uint64_t key_at(const struct nx_build *b, uint32_t ring, size_t index, size_t end)
{
    return index < end ? b->rings[ring].packets[index].start - b->window_start : NX_MERGE_END;
}

static void merge_share(void *context, size_t number)
{
    struct keeping *k = context;
    const struct nx_build *b = k->build;
    struct share *share = &k->shares[number];
    uint64_t *first = nx_alloc(b->trace->ring_count * sizeof(*first));
    struct nx_packet *out = share->out;
    struct nx_merge merge;

    for (uint32_t r = 0; r < b->trace->ring_count; r++)
        first[r] = key_at(b, r, share->from[r], share->to[r]);
    nx_merge_open(&merge, first, b->trace->ring_count);
    while (nx_merge_key(&merge) != NX_MERGE_END) {
        uint32_t ring = nx_merge_list(&merge);

        *out++ = packet_of(b, ring, share->from[ring]++);
        nx_merge_next(&merge, key_at(b, ring, share->from[ring], share->to[ring]));
    }
    nx_merge_close(&merge);
    free(first);
}

static void make_shares(struct keeping *k, size_t total)
{
    const struct nx_build *b = k->build;
    uint32_t rings = b->trace->ring_count;
    size_t done = 0;

    for (size_t s = 0; s < SHARES; s++) {
        struct share *share = &k->shares[s];
        uint64_t end = s + 1 < SHARES ? time_of_share(b, total * (s + 1) / SHARES) : 0;

        share->out = b->trace->packets + done;
        share->from = nx_alloc(rings * sizeof(*share->from));
        share->to = nx_alloc(rings * sizeof(*share->to));
        for (uint32_t r = 0; r < rings; r++) {
            share->from[r] = s ? k->shares[s - 1].to[r] : 0;
            share->to[r] = s + 1 < SHARES ? starting_before(&b->rings[r], end) : b->rings[r].count;
            done += share->to[r] - share->from[r];
        }
    }
}

void nx_build_keep_packets(struct nx_build *b)
{
    struct nx_trace *trace = b->trace;
    struct keeping k = {.build = b, .left_out = nx_zalloc(trace->ring_count, sizeof(*k.left_out))};
    size_t rows = 0, total = 0;

    for (uint32_t r = 0; r < trace->ring_count; r++)
        rows += b->rings[r].count;
    nx_jobs_run(keep_ring, &k, trace->ring_count, nx_build_threads(rows));
    for (uint32_t r = 0; r < trace->ring_count; r++) {
        trace->packets_unfinished += b->rings[r].unfinished;
        trace->backwards += k.left_out[r].backwards;
        trace->packets_outside += k.left_out[r].outside;
        total += b->rings[r].count;
    }
    trace->packet_count = (uint32_t)total;
    trace->packets = nx_alloc(total * sizeof(*trace->packets));
    if (total) {
        make_shares(&k, total);
        nx_jobs_run(merge_share, &k, SHARES, nx_build_threads(total));
        for (size_t s = 0; s < SHARES; s++) {
            free(k.shares[s].from);
            free(k.shares[s].to);
        }
    }
    free(k.left_out);
}
