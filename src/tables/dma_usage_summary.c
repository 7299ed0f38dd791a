/*
 * DmaUsageSummary: the points of DmaUsage in buckets of one microsecond, for
 * plots of long profiles.  A bucket without a point has no row.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "tables/table.h"
#include "tables/throughput.h"

#define BUCKET_NS 1000

struct row {
    int64_t start; /* ns */
    double rates;
    uint64_t bytes, most; /* `bytes` stays at INT64_MAX when it would exceed that */
    uint32_t points;
    uint8_t core;
};

static void add_point(struct row *row, const struct nx_throughput *point)
{
    uint64_t bytes = point->bytes <= INT64_MAX ? point->bytes : INT64_MAX;

    row->rates += point->rate;
    row->bytes = bytes <= (uint64_t)INT64_MAX - row->bytes ? row->bytes + bytes : INT64_MAX;
    row->most = bytes > row->most ? bytes : row->most;
    row->points++;
}

static void *open_table(const struct nx_profile *profile)
{
    struct nx_rows *rows = nx_zalloc(1, sizeof(*rows)), points = {0};
    size_t *newest = nx_zalloc(profile->trace->core_count, sizeof(*newest)); /* row + 1 of each core */

    nx_throughput_add(profile->trace, nx_throughput_of_all, NULL, &points);
    for (size_t i = 0; i < points.count; i++) {
        const struct nx_throughput *point = nx_rows_at(&points, i, sizeof(*point));
        int64_t start = nx_ns(point->time) / BUCKET_NS * BUCKET_NS;
        struct row *row = newest[point->core] ? (struct row *)rows->list + newest[point->core] - 1 : NULL;

        if (!row || row->start != start) {
            row = nx_rows_add(rows, sizeof(*row));
            *row = (struct row){.start = start, .core = point->core};
            newest[point->core] = rows->count;
        }
        add_point(row, point);
    }
    free(newest);
    free(points.list);
    return rows;
}

static void fill(const void *state, uint64_t first, struct nx_chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct row *row = nx_rows_at(state, first + i, sizeof(*row));

        nx_put_i64(chunk, NX_DmaUsageSummary_timestamp, i, row->start);
        nx_put_i64(chunk, NX_DmaUsageSummary_pcore_idx, i, row->core);
        nx_put_f64(chunk, NX_DmaUsageSummary_sum_current_throughput, i, row->rates);
        nx_put_i64(chunk, NX_DmaUsageSummary_sum_total_transfer_bytes, i, (int64_t)row->bytes);
        nx_put_i64(chunk, NX_DmaUsageSummary_max_total_transfer_bytes, i, (int64_t)row->most);
        nx_put_i64(chunk, NX_DmaUsageSummary_count, i, row->points);
        nx_put_i64(chunk, NX_DmaUsageSummary_bucket_resolution_ns, i, BUCKET_NS);
    }
}

const struct nx_table nx_table_DmaUsageSummary = {"DmaUsageSummary", open_table, nx_rows_count,
                                                  fill,              NULL,       nx_rows_close};
