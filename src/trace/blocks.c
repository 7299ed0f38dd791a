/*
 * Which static DMA block a packet belongs to (SPEC 7.3).
 *
 * The triggers of a queue, in time order, are served in that order by each of
 * its rings.  A ring has finished a block when it has written its share of
 * the block's bytes and the 4 bytes of the semaphore (a packet of its own on
 * trn1, part of the last packet on trn2).  Where the bytes do not divide by
 * the number of rings, the runtime's packet count of the block decides.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "trace/build.h"

/* By NEFF queue: where its runs begin in nx_trace.runs; queue_count + 1 entries used. */
struct queue_runs {
    uint32_t *first;
};

static const struct nx_neff_block *block_of(const struct nx_trace *trace, const struct nx_neff_graph *graph,
                                            const struct nx_raw_exec *exec)
{
    return &graph->blocks[trace->insts[exec->inst].block];
}

static bool is_trigger(const struct nx_trace *trace, const struct nx_raw_exec *e)
{
    return e->inst != NX_NONE && trace->insts[e->inst].block != NX_NONE;
}

/* Makes a run of each trigger of the core: grouped by queue, in time order. `trigger` is still a raw row of the core. */
static struct queue_runs add_runs(struct nx_build *b, uint32_t core, const struct nx_neff_graph *graph)
{
    struct nx_trace *trace = b->trace;
    const struct nx_core_rows *rows = &b->cores[core];
    struct queue_runs runs = {.first = nx_zalloc(graph->queue_count + 2, sizeof(*runs.first))};
    size_t count = 0, at = 0;
    uint64_t *times;
    uint32_t *found, *order;

    for (size_t i = 0; i < rows->exec_count; i++)
        count += is_trigger(trace, &rows->execs[i]);
    found = nx_alloc(count * sizeof(*found));
    times = nx_alloc(count * sizeof(*times));
    order = nx_alloc(count * sizeof(*order));
    for (size_t i = 0; i < rows->exec_count; i++)
        if (is_trigger(trace, &rows->execs[i])) {
            found[at] = (uint32_t)i;
            times[at++] = rows->execs[i].start;
        }
    nx_sort_order(times, order, count);

    /* Counting sort by queue over the time order: first[q + 1] is where queue q is filled next. */
    for (size_t i = 0; i < count; i++)
        runs.first[block_of(trace, graph, &rows->execs[found[i]])->queue + 2]++;
    runs.first[0] = runs.first[1] = trace->run_count;
    for (size_t q = 2; q < graph->queue_count + 2; q++)
        runs.first[q] += runs.first[q - 1];
    trace->runs = nx_resize(trace->runs, trace->run_count + count, sizeof(*trace->runs));
    for (size_t i = 0; i < count; i++) {
        uint32_t exec = found[order[i]];
        const struct nx_neff_block *block = block_of(trace, graph, &rows->execs[exec]);

        trace->runs[runs.first[block->queue + 1]++] = (struct nx_block_run){
            .block = (uint32_t)(block - graph->blocks), .trigger = exec, .core = (uint8_t)core};
    }
    trace->run_count += (uint32_t)count;
    free(found);
    free(times);
    free(order);
    return runs;
}

/* Rings of each queue of the NEFF, as the metadata lists them. */
static uint64_t *count_rings(const struct nx_ntff_core *core, const struct nx_neff_graph *graph)
{
    uint64_t *rings = nx_zalloc(graph->queue_count, sizeof(*rings));

    for (size_t i = 0; i < core->ring_count; i++) {
        int64_t queue = nx_neff_find_queue(graph, core->rings[i].name);

        if (queue >= 0)
            rings[queue]++;
    }
    return rings;
}

/* How many packets a ring writes for each block of its list, to be found by the block's id. */
struct packet_counts {
    const struct nx_ntff_ring *ring;
    uint32_t *by_id; /* places in ring->blocks by id; made when first needed */
};

static void order_by_id(struct packet_counts *counts)
{
    size_t count = counts->ring->block_count;
    uint64_t *ids = nx_alloc(count * sizeof(*ids));

    counts->by_id = nx_alloc(count * sizeof(*counts->by_id));
    for (size_t i = 0; i < count; i++)
        ids[i] = counts->ring->blocks[i].id;
    nx_sort_order(ids, counts->by_id, count);
    free(ids);
}

static uint64_t packets_of_block(struct packet_counts *counts, uint32_t id)
{
    const struct nx_ring_block *blocks = counts->ring->blocks;
    size_t first = 0, end = counts->ring->block_count;

    if (!counts->by_id)
        order_by_id(counts);
    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (blocks[counts->by_id[middle]].id < id)
            first = middle + 1;
        else
            end = middle;
    }
    return first < counts->ring->block_count && blocks[counts->by_id[first]].id == id
               ? blocks[counts->by_id[first]].packets
               : 1;
}

/* Walks the packets of one ring along the runs of its queue. */
static void serve(struct nx_build *b, uint32_t ring_number, const struct nx_neff_graph *graph,
                  uint32_t next_run, uint32_t end_run, uint64_t rings)
{
    const struct nx_ring *ring = &b->trace->rings[ring_number];
    const struct nx_neff_block *block = NULL;
    bool by_bytes = false;
    uint64_t left = 0; /* bytes, or packets, until the block is done */
    struct packet_counts counts = {.ring = ring->info};

    for (size_t row = 0; row < b->rings[ring_number].count; row++) {
        struct nx_raw_packet *p = &b->rings[ring_number].packets[row];
        uint64_t amount;

        if (!block && next_run < end_run) {
            block = &graph->blocks[b->trace->runs[next_run++].block];
            by_bytes = block->write_bytes % rings == 0;
            left = by_bytes ? block->write_bytes / rings + NX_SEMAPHORE_BYTES
                            : packets_of_block(&counts, block->id);
        }
        p->last_of_block = false;
        p->run = block ? next_run - 1 : NX_NONE;
        if (!block)
            continue; /* not started by any trigger that was recorded */
        amount = by_bytes ? p->bytes : 1;
        if (amount < left) {
            left -= amount;
        } else {
            p->last_of_block = true;
            if (amount > left)
                nx_warn(&b->trace->warnings, NX_WARN_INCONSISTENT,
                        "DMA engine %u ring %u: packets do not add up to the bytes of block %u of %s",
                        ring->engine, ring->index, block->id, ring->info->display_name);
            block = NULL;
        }
    }
    free(counts.by_id);
}

void nx_build_blocks(struct nx_build *b)
{
    struct nx_trace *trace = b->trace;

    for (uint32_t c = 0; c < trace->core_count; c++) {
        const struct nx_neff_graph *graph = trace->cores[c].neff;
        struct queue_runs runs;
        uint64_t *rings;

        if (!graph || !graph->block_count)
            continue;
        runs = add_runs(b, c, graph);
        rings = count_rings(trace->cores[c].ntff, graph);
        for (uint32_t r = 0; r < trace->ring_count; r++) {
            const struct nx_ring *ring = &trace->rings[r];
            int64_t queue = ring->core == c && ring->info ? nx_neff_find_queue(graph, ring->info->name) : -1;

            if (queue >= 0)
                serve(b, r, graph, runs.first[queue], runs.first[queue + 1], rings[queue]);
        }
        free(runs.first);
        free(rings);
    }
}
