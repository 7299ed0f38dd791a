/*
 * DmaQueuesInfo: one row for each DMA queue of a core.  A queue is a ring on
 * each of up to 16 DMA engines; the row shows the last one that the trace
 * lists, as the closed tool does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tables/names.h"
#include "tables/table.h"

struct state {
    const struct nx_trace *trace;
    struct row {
        const struct nx_ntff_ring *ring;
        uint32_t core;
    } *rows;
    uint64_t count;
};

static void *open_table(const struct nx_profile *profile)
{
    const struct nx_trace *trace = profile->trace;
    struct state *state = nx_zalloc(1, sizeof(*state));
    struct nx_dict seen = {0}; /* number of a (core, name, index) = number of its row */
    struct nx_text key = {0};
    size_t capacity = 0;

    state->trace = trace;
    for (uint32_t c = 0; c < trace->core_count; c++)
        for (size_t r = 0; r < trace->cores[c].ntff->ring_count; r++) {
            const struct nx_ntff_ring *ring = &trace->cores[c].ntff->rings[r];
            uint32_t row;

            nx_text_clear(&key);
            nx_text_printf(&key, "%u/%u/%s", c, ring->index, ring->name);
            row = nx_dict_add(&seen, key.data, key.size);
            if (row == state->count) {
                state->rows = nx_grow(state->rows, row, &capacity, sizeof(*state->rows));
                state->count++;
            }
            state->rows[row] = (struct row){ring, c};
        }
    nx_dict_free(&seen);
    nx_text_free(&key);
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
        const struct row *row = &state->rows[first + i];
        char type[24];

        nx_ring_type_text(row->ring->type, type, sizeof(type));
        nx_put_text(chunk, NX_DmaQueuesInfo_name, i, row->ring->display_name);
        nx_put_text(chunk, NX_DmaQueuesInfo_type, i, type);
        nx_put_i64(chunk, NX_DmaQueuesInfo_pcore_idx, i, row->core);
        nx_put_i64(chunk, NX_DmaQueuesInfo_idx, i, row->ring->index);
        nx_put_i64(chunk, NX_DmaQueuesInfo_engine_idx, i, row->ring->engine);
        nx_put_i64(chunk, NX_DmaQueuesInfo_axi_port, i, row->ring->axi_port);
        nx_put_i64(chunk, NX_DmaQueuesInfo_dram_channel, i, row->ring->dram_channel);
    }
}

static void close_table(void *opaque)
{
    free(((struct state *)opaque)->rows);
    free(opaque);
}

const struct nx_table nx_table_DmaQueuesInfo = {"DmaQueuesInfo", open_table, count_rows, fill, NULL, close_table};
