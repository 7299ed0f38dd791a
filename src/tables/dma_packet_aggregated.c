/*
 * DmaPacketAggregated: one row for each run of a static DMA block: what one
 * trigger moved, on all its rings together.
 *
 * Dynamic DMA cannot be grouped: no record links a packet to its instruction
 * unless the capture had DGE notifications, which this build does not read.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "tables/names.h"
#include "tables/static_dma.h"
#include "tables/table.h"

struct state {
    const struct nx_trace *trace;
    uint32_t *runs; /* those with packets, by start */
    uint64_t count;
    struct nx_dict types;
};

static void *open_table(const struct nx_profile *profile)
{
    const struct nx_trace *trace = profile->trace;
    struct state *state = nx_zalloc(1, sizeof(*state));
    uint32_t *found = nx_alloc(trace->run_count * sizeof(*found));
    uint32_t *order = nx_alloc(trace->run_count * sizeof(*order));
    uint64_t *keys = nx_alloc(trace->run_count * sizeof(*keys));

    state->trace = trace;
    nx_queue_type_dict(&state->types);
    for (uint32_t r = 0; r < trace->run_count; r++)
        if (trace->runs[r].packets) {
            found[state->count] = r;
            keys[state->count++] = (uint64_t)trace->runs[r].start;
        }
    nx_sort_order(keys, order, state->count);
    state->runs = nx_alloc(state->count * sizeof(*state->runs));
    for (uint64_t i = 0; i < state->count; i++)
        state->runs[i] = found[order[i]];
    free(found);
    free(order);
    free(keys);
    return state;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct state *)opaque)->count;
}

static void put_place(struct nx_chunk *chunk, uint32_t i, const struct nx_neff_graph *graph,
                      const struct nx_neff_block *block, struct nx_text *text)
{
    nx_text_clear(text);
    nx_text_puts(text, "[[");
    nx_static_dma_place(graph, block, NX_DMA_READ_SIDE, text);
    nx_text_puts(text, "]]");
    nx_put_text(chunk, NX_DmaPacketAggregated_source, i, text->data);
    nx_text_clear(text);
    nx_text_puts(text, "[");
    nx_static_dma_place(graph, block, NX_DMA_WRITE_SIDE, text);
    nx_text_puts(text, "]");
    nx_put_text(chunk, NX_DmaPacketAggregated_dest, i, text->data);
}

static void put_pattern(struct nx_chunk *chunk, uint32_t i, const struct nx_neff_graph *graph,
                        const struct nx_neff_block *block, struct nx_text *text)
{
    static const struct {
        enum nx_dma_direction side;
        unsigned shape, offset, steps, partitions, partition_count;
    } sides[] = {
        {NX_DMA_READ_SIDE, NX_DmaPacketAggregated_read_shape, NX_DmaPacketAggregated_read_offset,
         NX_DmaPacketAggregated_read_steps, NX_DmaPacketAggregated_read_sbuf_partitions,
         NX_DmaPacketAggregated_read_num_sbuf_partitions},
        {NX_DMA_WRITE_SIDE, NX_DmaPacketAggregated_write_shape, NX_DmaPacketAggregated_write_offset,
         NX_DmaPacketAggregated_write_steps, NX_DmaPacketAggregated_write_sbuf_partitions,
         NX_DmaPacketAggregated_write_num_sbuf_partitions},
    };

    for (int s = 0; s < 2; s++) {
        nx_text_clear(text);
        nx_static_dma_shape(block, sides[s].side, text);
        nx_put_text(chunk, sides[s].shape, i, nx_text_string(text));
        nx_text_clear(text);
        nx_static_dma_offset(block, sides[s].side, text);
        nx_put_text(chunk, sides[s].offset, i, nx_text_string(text));
        nx_text_clear(text);
        nx_static_dma_steps(block, sides[s].side, text);
        nx_put_text(chunk, sides[s].steps, i, nx_text_string(text));
        nx_text_clear(text);
        nx_put_i32(chunk, sides[s].partition_count, i,
                   (int32_t)nx_static_dma_partitions(graph, block, sides[s].side, text));
        nx_put_text(chunk, sides[s].partitions, i, nx_text_string(text));
    }
}

/* "read" brings data into SBUF, "write" takes it out; what stays on one side is a "copy". */
static const char *operation(const struct nx_static_dma *dma)
{
    if (dma->bytes.sbuf_write && !dma->bytes.sbuf_read)
        return "read";
    if (dma->bytes.sbuf_read && !dma->bytes.sbuf_write)
        return "write";
    return "copy";
}

static void fill_block(struct nx_chunk *chunk, uint32_t i, const struct nx_neff_graph *graph,
                       const struct nx_neff_block *block, struct nx_text *text)
{
    struct nx_static_dma dma = nx_static_dma_of(graph, block);
    const char *variable = nx_static_dma_variable(graph, block);
    char semaphore[NX_SEMAPHORE_TEXT] = "-1";

    if (block->semaphore >= 0 && block->semaphore < 256)
        nx_semaphore_text(graph, (unsigned)block->semaphore, semaphore, sizeof(semaphore));
    nx_put_i32(chunk, NX_DmaPacketAggregated_block_id, i, (int32_t)block->id);
    nx_put_text(chunk, NX_DmaPacketAggregated_op, i, operation(&dma));
    nx_put_text(chunk, NX_DmaPacketAggregated_variable, i, variable ? variable : "unknown");
    nx_put_text(chunk, NX_DmaPacketAggregated_semaphore_id, i, semaphore);
    put_place(chunk, i, graph, block, text);
    put_pattern(chunk, i, graph, block, text);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;
    const struct nx_trace *trace = state->trace;
    struct nx_text text = {0};

    for (uint32_t i = 0; i < chunk->rows; i++) {
        uint32_t number = state->runs[first + i];
        const struct nx_block_run *run = &trace->runs[number];
        const struct nx_neff_graph *graph = trace->cores[run->core].neff;
        const struct nx_neff_block *block = &graph->blocks[run->block];
        int64_t ps = run->end - run->start;

        nx_put_i64(chunk, NX_DmaPacketAggregated_start_ts, i, nx_ns(run->start));
        nx_put_i64(chunk, NX_DmaPacketAggregated_end_ts, i, nx_ns(run->start) + nx_ns(ps));
        nx_put_i64(chunk, NX_DmaPacketAggregated_duration_ns, i, nx_ns(ps));
        nx_put_i64(chunk, NX_DmaPacketAggregated_id, i, (int64_t)number + 1);
        nx_put_i64(chunk, NX_DmaPacketAggregated_pcore_idx, i, run->core);
        nx_put_i64(chunk, NX_DmaPacketAggregated_queue_idx, i, run->ring_index);
        nx_put_dict(chunk, NX_DmaPacketAggregated_queue_type, i, (uint32_t)run->queue_type);
        nx_put_text(chunk, NX_DmaPacketAggregated_queue_name, i, graph->queues[block->queue].display_name);
        nx_put_i64(chunk, NX_DmaPacketAggregated_read_bytes, i, (int64_t)block->read_bytes);
        nx_put_i64(chunk, NX_DmaPacketAggregated_write_bytes, i, (int64_t)run->bytes);
        nx_put_i64(chunk, NX_DmaPacketAggregated_transfer_bytes, i, (int64_t)run->bytes);
        nx_put_f64(chunk, NX_DmaPacketAggregated_throughput, i, nx_bytes_per_second(run->bytes, ps));
        if (run->trigger != NX_NONE) {
            nx_put_i64(chunk, NX_DmaPacketAggregated_trigger, i, nx_ns(trace->execs[run->trigger].start));
            nx_put_i64(chunk, NX_DmaPacketAggregated_completion, i, nx_ns(trace->execs[run->trigger].end));
        }
        fill_block(chunk, i, graph, block, &text);
    }
    nx_text_free(&text);
}

static const struct nx_dict *dictionary(const void *opaque, unsigned column)
{
    return column == NX_DmaPacketAggregated_queue_type ? &((const struct state *)opaque)->types : NULL;
}

static void close_table(void *opaque)
{
    struct state *state = opaque;

    nx_dict_free(&state->types);
    free(state->runs);
    free(state);
}

const struct nx_table nx_table_DmaPacketAggregated = {"DmaPacketAggregated", open_table, count_rows,
                                                      fill,                  dictionary, close_table};
