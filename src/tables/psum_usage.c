/* PsumUsage: which banks of PSUM hold values still to be read. */
#include "base/memory.h"
#include "tables/table.h"
#include "tables/usage.h"

#define BANKS 8

static void weigh(const struct nx_live *live, uint32_t slot[NX_USAGE_SLOTS])
{
    for (uint32_t bank = live->start / NX_PSUM_BANK_SIZE; bank < BANKS && bank * NX_PSUM_BANK_SIZE < live->end; bank++)
        slot[bank]++;
}

static void *open_table(const struct nx_profile *profile)
{
    struct nx_rows *rows = nx_zalloc(1, sizeof(*rows));

    nx_usage_add(profile->trace, NX_MEMORY_PSUM, weigh, rows);
    return rows;
}

static void fill(const void *state, uint64_t first, struct nx_chunk *chunk)
{
    static const unsigned columns[BANKS] = {
        NX_PsumUsage_bank_0_util_percent, NX_PsumUsage_bank_1_util_percent, NX_PsumUsage_bank_2_util_percent,
        NX_PsumUsage_bank_3_util_percent, NX_PsumUsage_bank_4_util_percent, NX_PsumUsage_bank_5_util_percent,
        NX_PsumUsage_bank_6_util_percent, NX_PsumUsage_bank_7_util_percent};

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_usage_row *row = nx_rows_at(state, first + i, sizeof(*row));
        int used = 0;

        nx_put_i64(chunk, NX_PsumUsage_timestamp, i, nx_ns(row->time));
        nx_put_i64(chunk, NX_PsumUsage_pcore_idx, i, row->core);
        for (int b = 0; b < BANKS; b++) {
            used += row->slot[b] != 0;
            nx_put_f64(chunk, columns[b], i, row->slot[b] != 0);
        }
        nx_put_f64(chunk, NX_PsumUsage_avg_util_percent, i, (double)used / BANKS);
    }
}

const struct nx_table nx_table_PsumUsage = {"PsumUsage", open_table, nx_rows_count, fill, NULL, nx_rows_close};
