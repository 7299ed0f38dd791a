/* SbufUsage: the share of SBUF that holds values still to be read, in four sampled partitions. */
#include "base/memory.h"
#include "tables/table.h"
#include "tables/usage.h"

#define SAMPLES 4
static const unsigned sampled[SAMPLES] = {0, 32, 64, 96};

struct state {
    struct nx_rows rows;
    float share_of_byte; /* single precision, as the closed tool computes these shares */
};

static void weigh(const struct nx_live *live, uint32_t slot[NX_USAGE_SLOTS])
{
    for (int s = 0; s < SAMPLES; s++)
        if (sampled[s] < live->partitions)
            slot[s] += live->end - live->start;
}

static void *open_table(const struct nx_profile *profile)
{
    struct state *state = nx_zalloc(1, sizeof(*state));

    if (!profile->trace->device) /* the size of a partition is not known: no rows */
        return state;
    state->share_of_byte = (float)(1.0 / (double)profile->trace->device->sbuf_partition_bytes);
    nx_usage_add(profile->trace, NX_MEMORY_SBUF, weigh, &state->rows);
    return state;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    static const unsigned columns[SAMPLES] = {
        NX_SbufUsage_partition_0_util_percent, NX_SbufUsage_partition_32_util_percent,
        NX_SbufUsage_partition_64_util_percent, NX_SbufUsage_partition_96_util_percent};
    const struct state *state = opaque;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_usage_row *row = nx_rows_at(state, first + i, sizeof(*row));
        double sum = 0;

        nx_put_i64(chunk, NX_SbufUsage_timestamp, i, nx_ns(row->time));
        nx_put_i64(chunk, NX_SbufUsage_pcore_idx, i, row->core);
        for (int s = 0; s < SAMPLES; s++) {
            nx_put_f64(chunk, columns[s], i, (double)((float)row->slot[s] * state->share_of_byte));
            sum += row->slot[s];
        }
        nx_put_f64(chunk, NX_SbufUsage_avg_util_percent, i, (double)((float)(sum / SAMPLES) * state->share_of_byte));
    }
}

const struct nx_table nx_table_SbufUsage = {"SbufUsage", open_table, nx_rows_count, fill, NULL, nx_rows_close};
