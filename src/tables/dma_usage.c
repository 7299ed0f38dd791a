/* DmaUsage: the rate at which packets in flight move data, and the bytes of the packets started so far. */
#include "base/memory.h"
#include "tables/table.h"
#include "tables/throughput.h"

static void *open_table(const struct nx_profile *profile)
{
    struct nx_rows *points = nx_zalloc(1, sizeof(*points));

    nx_throughput_add(profile->trace, nx_throughput_of_all, NULL, points);
    return points;
}

static void fill(const void *state, uint64_t first, struct nx_chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_throughput *p = nx_rows_at(state, first + i, sizeof(*p));

        nx_put_i64(chunk, NX_DmaUsage_timestamp, i, nx_ns(p->time));
        nx_put_f64(chunk, NX_DmaUsage_current_throughput, i, p->rate);
        nx_put_i64(chunk, NX_DmaUsage_total_transfer_bytes, i, (int64_t)p->bytes);
        nx_put_i64(chunk, NX_DmaUsage_pcore_idx, i, p->core);
    }
}

const struct nx_table nx_table_DmaUsage = {"DmaUsage", open_table, nx_rows_count, fill, NULL, nx_rows_close};
