/*
 * DmaQueuesInfo: one row for each DMA queue of a core.  A queue is a ring on
 * each of up to 16 DMA engines; the row shows the last one that the trace
 * lists, as the closed tool does.
 */
#include "base/memory.h"
#include "tables/names.h"
#include "tables/rows.h"
#include "tables/table.h"

struct row {
    const struct nx_ntff_ring *ring;
    uint32_t core;
};

static void *open_table(const struct nx_profile *profile)
{
    const struct nx_trace *trace = profile->trace;
    struct nx_rows *rows = nx_zalloc(1, sizeof(*rows));
    struct nx_dict seen = {0}; /* number of a (core, name, index) = number of its row */
    struct nx_text key = {0};

    for (uint32_t c = 0; c < trace->core_count; c++)
        for (size_t r = 0; r < trace->cores[c].ntff->ring_count; r++) {
            const struct nx_ntff_ring *ring = &trace->cores[c].ntff->rings[r];
            uint32_t row;

            nx_text_clear(&key);
            nx_text_printf(&key, "%u/%u/%s", c, ring->index, ring->name);
            row = nx_dict_add(&seen, key.data, key.size);
            if (row == rows->count)
                nx_rows_add(rows, sizeof(struct row));
            ((struct row *)rows->list)[row] = (struct row){ring, c};
        }
    nx_dict_free(&seen);
    nx_text_free(&key);
    return rows;
}

static void fill(const void *state, uint64_t first, struct nx_chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct row *row = nx_rows_at(state, first + i, sizeof(*row));
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

const struct nx_table nx_table_DmaQueuesInfo = {"DmaQueuesInfo", open_table, nx_rows_count, fill, NULL, nx_rows_close};
