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

/* Columns that say what a block is, and not what a run of it did: worked out once for each block. */
enum {
    OP, VARIABLE, SEMAPHORE, SOURCE, DEST, QUEUE, READ_SHAPE, READ_OFFSET, READ_STEPS, READ_PARTITIONS, WRITE_SHAPE, WRITE_OFFSET,
    WRITE_STEPS, WRITE_PARTITIONS, TEXT_COUNT
};
static const unsigned text_columns[TEXT_COUNT] = {
    [OP] = NX_DmaPacketAggregated_op,
    [VARIABLE] = NX_DmaPacketAggregated_variable,
    [SEMAPHORE] = NX_DmaPacketAggregated_semaphore_id,
    [SOURCE] = NX_DmaPacketAggregated_source,
    [DEST] = NX_DmaPacketAggregated_dest,
    [QUEUE] = NX_DmaPacketAggregated_queue_name,
    [READ_SHAPE] = NX_DmaPacketAggregated_read_shape,
    [READ_OFFSET] = NX_DmaPacketAggregated_read_offset,
    [READ_STEPS] = NX_DmaPacketAggregated_read_steps,
    [READ_PARTITIONS] = NX_DmaPacketAggregated_read_sbuf_partitions,
    [WRITE_SHAPE] = NX_DmaPacketAggregated_write_shape,
    [WRITE_OFFSET] = NX_DmaPacketAggregated_write_offset,
    [WRITE_STEPS] = NX_DmaPacketAggregated_write_steps,
    [WRITE_PARTITIONS] = NX_DmaPacketAggregated_write_sbuf_partitions,
};

struct described {
    uint32_t texts[TEXT_COUNT]; /* into nx_dict of the column */
    uint32_t read_partitions, write_partitions;
};

struct state {
    const struct nx_trace *trace;
    uint32_t *runs; /* those with packets, by start */
    uint64_t count;
    uint32_t *block_of_run; /* as `runs`: into `blocks` */
    struct described *blocks;
    struct nx_dict types, texts[TEXT_COUNT];
};

/* ------------------------------------------------------------------ a block */

static void keep(struct state *state, struct described *block, int column, struct nx_text *text)
{
    block->texts[column] = nx_dict_add(&state->texts[column], nx_text_string(text), text->size);
    nx_text_clear(text);
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

static uint32_t describe_side(struct state *state, struct described *out, const struct nx_neff_graph *graph,
                              const struct nx_neff_block *block, enum nx_dma_direction side, int first, struct nx_text *text)
{
    uint32_t partitions;

    nx_static_dma_shape(block, side, text);
    keep(state, out, first, text);
    nx_static_dma_offset(block, side, text);
    keep(state, out, first + 1, text);
    nx_static_dma_steps(block, side, text);
    keep(state, out, first + 2, text);
    partitions = nx_static_dma_partitions(graph, block, side, text);
    keep(state, out, first + 3, text);
    return partitions;
}

static struct described describe(struct state *state, const struct nx_neff_graph *graph, const struct nx_neff_block *block,
                                 struct nx_text *text)
{
    struct nx_static_dma dma = nx_static_dma_of(graph, block);
    const char *variable = nx_static_dma_variable(graph, block);
    char semaphore[NX_SEMAPHORE_TEXT] = "-1";
    struct described out;

    if (block->semaphore >= 0 && block->semaphore < 256)
        nx_semaphore_text(graph, (unsigned)block->semaphore, semaphore, sizeof(semaphore));
    nx_text_clear(text);
    nx_text_puts(text, operation(&dma));
    keep(state, &out, OP, text);
    nx_text_puts(text, variable ? variable : "unknown");
    keep(state, &out, VARIABLE, text);
    nx_text_puts(text, semaphore);
    keep(state, &out, SEMAPHORE, text);
    nx_text_puts(text, graph->queues[block->queue].display_name);
    keep(state, &out, QUEUE, text);
    nx_text_puts(text, "[[");
    nx_static_dma_place(graph, block, NX_DMA_READ_SIDE, text);
    nx_text_puts(text, "]]");
    keep(state, &out, SOURCE, text);
    nx_text_puts(text, "[");
    nx_static_dma_place(graph, block, NX_DMA_WRITE_SIDE, text);
    nx_text_puts(text, "]");
    keep(state, &out, DEST, text);
    out.read_partitions = describe_side(state, &out, graph, block, NX_DMA_READ_SIDE, READ_SHAPE, text);
    out.write_partitions = describe_side(state, &out, graph, block, NX_DMA_WRITE_SIDE, WRITE_SHAPE, text);
    return out;
}

/* Each block of which there is a row, once. */
static void describe_blocks(struct state *state)
{
    const struct nx_trace *trace = state->trace;
    size_t *first = nx_zalloc((size_t)trace->core_count + 1, sizeof(*first)), capacity = 0, count = 0;
    uint32_t *known; /* by core and block: number + 1, or 0 */
    struct nx_text text = {0};

    for (uint32_t c = 0; c < trace->core_count; c++)
        first[c + 1] = first[c] + (trace->cores[c].neff ? trace->cores[c].neff->block_count : 0);
    known = nx_zalloc(first[trace->core_count], sizeof(*known));
    state->block_of_run = nx_alloc(state->count * sizeof(*state->block_of_run));
    for (uint64_t i = 0; i < state->count; i++) {
        const struct nx_block_run *run = &trace->runs[state->runs[i]];
        const struct nx_neff_graph *graph = trace->cores[run->core].neff;
        uint32_t *number = &known[first[run->core] + run->block];

        if (!*number) {
            state->blocks = nx_grow(state->blocks, count, &capacity, sizeof(*state->blocks));
            state->blocks[count] = describe(state, graph, &graph->blocks[run->block], &text);
            *number = (uint32_t)++count;
        }
        state->block_of_run[i] = *number - 1;
    }
    nx_text_free(&text);
    free(known);
    free(first);
}

/* ------------------------------------------------------------------ the table */

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
    describe_blocks(state);
    free(found);
    free(order);
    free(keys);
    return state;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct state *)opaque)->count;
}

static void fill_block(struct nx_chunk *chunk, uint32_t i, const struct described *block)
{
    for (int t = 0; t < TEXT_COUNT; t++)
        nx_put_dict(chunk, text_columns[t], i, block->texts[t]);
    nx_put_i32(chunk, NX_DmaPacketAggregated_read_num_sbuf_partitions, i, (int32_t)block->read_partitions);
    nx_put_i32(chunk, NX_DmaPacketAggregated_write_num_sbuf_partitions, i, (int32_t)block->write_partitions);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;
    const struct nx_trace *trace = state->trace;

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
        nx_put_i32(chunk, NX_DmaPacketAggregated_block_id, i, (int32_t)block->id);
        nx_put_i64(chunk, NX_DmaPacketAggregated_read_bytes, i, (int64_t)block->read_bytes);
        nx_put_i64(chunk, NX_DmaPacketAggregated_write_bytes, i, (int64_t)run->bytes);
        nx_put_i64(chunk, NX_DmaPacketAggregated_transfer_bytes, i, (int64_t)run->bytes);
        nx_put_f64(chunk, NX_DmaPacketAggregated_throughput, i, nx_bytes_per_second(run->bytes, ps));
        if (run->trigger != NX_NONE) {
            nx_put_i64(chunk, NX_DmaPacketAggregated_trigger, i, nx_ns(trace->execs[run->trigger].start));
            nx_put_i64(chunk, NX_DmaPacketAggregated_completion, i, nx_ns(trace->execs[run->trigger].end));
        }
        fill_block(chunk, i, &state->blocks[state->block_of_run[first + i]]);
    }
}

static const struct nx_dict *dictionary(const void *opaque, unsigned column)
{
    const struct state *state = opaque;

    for (int t = 0; t < TEXT_COUNT; t++)
        if (text_columns[t] == column)
            return &state->texts[t];
    return column == NX_DmaPacketAggregated_queue_type ? &state->types : NULL;
}

static void close_table(void *opaque)
{
    struct state *state = opaque;

    nx_dict_free(&state->types);
    for (int t = 0; t < TEXT_COUNT; t++)
        nx_dict_free(&state->texts[t]);
    free(state->block_of_run);
    free(state->blocks);
    free(state->runs);
    free(state);
}

const struct nx_table nx_table_DmaPacketAggregated = {"DmaPacketAggregated", open_table, count_rows,
                                                      fill,                  dictionary, close_table};
