/*
 * HbmUsage: DmaUsage restricted to what packets read from HBM and write to it.
 *
 * A packet does not record its addresses: its static block tells them, if all
 * descriptors of the block have HBM on the same sides.  A core that moved
 * anything whose memories are not known (dynamic DMA without DGE
 * notifications, a block with both kinds of descriptors) has no rows, since
 * what is left of its traffic would read as all of it.  Instructions being
 * fetched are not the kernel's traffic, and left out.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "tables/static_dma.h"
#include "tables/table.h"
#include "tables/throughput.h"

/* Of a block: HBM bytes for each byte that its packets record. */
struct ratio {
    uint64_t hbm, written;
    bool known;
};

struct context {
    const struct nx_trace *trace;
    struct ratio **blocks; /* by core, by block */
    bool *known;           /* by core: all its traffic */
};

static unsigned hbm_sides(const struct nx_neff_graph *graph, const struct nx_dma_desc *desc)
{
    return (unsigned)!nx_var_is_sbuf(graph, desc->from.var) | (unsigned)!nx_var_is_sbuf(graph, desc->to.var) << 1;
}

static struct ratio ratio_of(const struct nx_neff_graph *graph, const struct nx_neff_block *block)
{
    struct nx_static_dma dma = nx_static_dma_of(graph, block);
    struct ratio ratio = {.hbm = dma.bytes.hbm_read + dma.bytes.hbm_write, .written = block->write_bytes};

    ratio.known = ratio.written > 0;
    for (size_t d = 1; d < block->desc_count; d++)
        ratio.known &= hbm_sides(graph, &block->descs[d]) == hbm_sides(graph, &block->descs[0]);
    return ratio;
}

static const struct ratio *ratio_of_packet(const struct context *context, const struct nx_packet *packet)
{
    return packet->run == NX_NONE ? NULL : &context->blocks[packet->core][context->trace->runs[packet->run].block];
}

static bool weigh(const void *opaque, const struct nx_packet *packet, uint64_t *bytes)
{
    const struct context *context = opaque;
    const struct ratio *ratio = ratio_of_packet(context, packet);
    uint64_t data;

    if (!ratio || !context->known[packet->core] || !ratio->hbm)
        return false;
    data = nx_packet_data_bytes(packet);
    *bytes = ratio->hbm == ratio->written
                 ? data
                 : (uint64_t)((double)data * ((double)ratio->hbm / (double)ratio->written));
    return data > 0;
}

static struct context read_blocks(const struct nx_trace *trace)
{
    struct context context = {.trace = trace,
                              .blocks = nx_zalloc(trace->core_count, sizeof(*context.blocks)),
                              .known = nx_alloc(trace->core_count * sizeof(*context.known))};

    for (uint32_t c = 0; c < trace->core_count; c++) {
        const struct nx_neff_graph *graph = trace->cores[c].neff;

        context.known[c] = true;
        if (!graph)
            continue;
        context.blocks[c] = nx_alloc(graph->block_count * sizeof(**context.blocks));
        for (size_t b = 0; b < graph->block_count; b++)
            context.blocks[c][b] = ratio_of(graph, &graph->blocks[b]);
    }
    for (uint32_t i = 0; i < trace->packet_count; i++) {
        const struct nx_packet *p = &trace->packets[i];
        const struct ratio *ratio = ratio_of_packet(&context, p);

        if (ratio ? !ratio->known : trace->rings[p->ring].type != NX_QUEUE_INSTRUCTION)
            context.known[p->core] = false;
    }
    return context;
}

static void *open_table(const struct nx_profile *profile)
{
    const struct nx_trace *trace = profile->trace;
    struct nx_rows *points = nx_zalloc(1, sizeof(*points));
    struct context context = read_blocks(trace);

    nx_throughput_add(trace, weigh, &context, points);
    for (uint32_t c = 0; c < trace->core_count; c++)
        free(context.blocks[c]);
    free(context.blocks);
    free(context.known);
    return points;
}

static void fill(const void *state, uint64_t first, struct nx_chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_throughput *p = nx_rows_at(state, first + i, sizeof(*p));

        nx_put_i64(chunk, NX_HbmUsage_timestamp, i, nx_ns(p->time));
        nx_put_f64(chunk, NX_HbmUsage_current_throughput, i, p->rate);
        nx_put_i64(chunk, NX_HbmUsage_total_transfer_bytes, i, (int64_t)p->bytes);
        nx_put_i64(chunk, NX_HbmUsage_pcore_idx, i, p->core);
    }
}

const struct nx_table nx_table_HbmUsage = {"HbmUsage", open_table, nx_rows_count, fill, NULL, nx_rows_close};
