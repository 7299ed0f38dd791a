/*
 * DmaPacket: one row for each DMA packet.  Packets of one static block run
 * share a packet_aggregation_id, which is DmaPacketAggregated.id; without a
 * block, the packets of one queue of a core share one.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "tables/names.h"
#include "tables/static_dma.h"
#include "tables/table.h"

struct state {
    const struct nx_trace *trace;
    struct nx_dict types, queue_names, variables;
    uint32_t *static_name, *other_name; /* by ring: number of its name */
    uint32_t *variable;                 /* by run: number of its variable, or NX_NO_TEXT */
};

static void *open_table(const struct nx_profile *profile)
{
    const struct nx_trace *trace = profile->trace;
    struct state *state = nx_zalloc(1, sizeof(*state));
    char text[256];

    state->trace = trace;
    nx_queue_type_dict(&state->types);
    state->static_name = nx_alloc(trace->ring_count * sizeof(*state->static_name));
    state->other_name = nx_alloc(trace->ring_count * sizeof(*state->other_name));
    for (uint32_t r = 0; r < trace->ring_count; r++) {
        nx_ring_text(&trace->rings[r], false, text, sizeof(text));
        state->other_name[r] = nx_dict_add_string(&state->queue_names, text);
        state->static_name[r] = NX_NO_TEXT;
        if (!trace->rings[r].info)
            continue;
        nx_ring_text(&trace->rings[r], true, text, sizeof(text));
        state->static_name[r] = nx_dict_add_string(&state->queue_names, text);
    }
    state->variable = nx_alloc(trace->run_count * sizeof(*state->variable));
    for (uint32_t r = 0; r < trace->run_count; r++) {
        const struct nx_neff_graph *graph = trace->cores[trace->runs[r].core].neff;
        const char *variable = nx_static_dma_variable(graph, &graph->blocks[trace->runs[r].block]);

        state->variable[r] = variable ? nx_dict_add_string(&state->variables, variable) : NX_NO_TEXT;
    }
    return state;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct state *)opaque)->trace->packet_count;
}

/* Numbers of runs come first (they are DmaPacketAggregated's), then one for each queue of each core. */
static int64_t aggregation_id(const struct nx_trace *trace, const struct nx_packet *packet)
{
    const struct nx_ring *ring = &trace->rings[packet->ring];

    if (packet->run != NX_NONE)
        return (int64_t)packet->run + 1;
    return (int64_t)trace->run_count + 1 + packet->core * 16 + ring->index;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;
    const struct nx_trace *trace = state->trace;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_packet *p = &trace->packets[first + i];
        const struct nx_ring *ring = &trace->rings[p->ring];
        int64_t ps = p->end - p->start;

        nx_put_i64(chunk, NX_DmaPacket_start_ts, i, nx_ns(p->start));
        nx_put_i64(chunk, NX_DmaPacket_end_ts, i, nx_ns(p->start) + nx_ns(ps));
        nx_put_i64(chunk, NX_DmaPacket_duration_ns, i, nx_ns(ps));
        nx_put_i64(chunk, NX_DmaPacket_pcore_idx, i, p->core);
        nx_put_i64(chunk, NX_DmaPacket_id, i, (int64_t)(first + i + 1));
        nx_put_i32(chunk, NX_DmaPacket_packet_idx, i, (int32_t)p->index);
        nx_put_i64(chunk, NX_DmaPacket_packet_aggregation_id, i, aggregation_id(trace, p));
        nx_put_i64(chunk, NX_DmaPacket_engine_idx, i, ring->engine);
        nx_put_i64(chunk, NX_DmaPacket_read_bytes, i, p->bytes);
        nx_put_i64(chunk, NX_DmaPacket_write_bytes, i, p->bytes);
        nx_put_i64(chunk, NX_DmaPacket_transfer_bytes, i, p->bytes);
        nx_put_f64(chunk, NX_DmaPacket_throughput, i, nx_bytes_per_second(p->bytes, ps));
        nx_put_dict(chunk, NX_DmaPacket_queue_type, i, (uint32_t)ring->type);
        nx_put_dict(chunk, NX_DmaPacket_queue_name, i,
                    p->run == NX_NONE ? state->other_name[p->ring] : state->static_name[p->ring]);
        nx_put_i64(chunk, NX_DmaPacket_queue_idx, i, ring->index);
        nx_put_i64(chunk, NX_DmaPacket_crc, i, p->crc);
        if (p->run != NX_NONE)
            nx_put_dict(chunk, NX_DmaPacket_variable, i, state->variable[p->run]);
    }
}

static const struct nx_dict *dictionary(const void *opaque, unsigned column)
{
    const struct state *state = opaque;

    switch (column) {
    case NX_DmaPacket_queue_type: return &state->types;
    case NX_DmaPacket_queue_name: return &state->queue_names;
    case NX_DmaPacket_variable: return &state->variables;
    default: return NULL;
    }
}

static void close_table(void *opaque)
{
    struct state *state = opaque;

    nx_dict_free(&state->types);
    nx_dict_free(&state->queue_names);
    nx_dict_free(&state->variables);
    free(state->static_name);
    free(state->other_name);
    free(state->variable);
    free(state);
}

const struct nx_table nx_table_DmaPacket = {"DmaPacket", open_table, count_rows, fill, dictionary, close_table};
