/* BirInstruction: a row for each instruction of the backend (BIR) of which something ran. */
#include "tables/level.h"

static void *open_table(const struct nx_profile *profile)
{
    return nx_level_open(profile, NX_LEVEL_BIR);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    static const struct nx_level_columns columns = NX_LEVEL_COLUMNS(BirInstruction, bir_name);
    const struct nx_level_table *table = opaque;

    nx_level_fill(opaque, &columns, first, chunk);
    for (uint32_t i = 0; i < chunk->rows; i++)
        nx_put_i64(chunk, NX_BirInstruction_pcore_idx, i,
                   table->trace->execs[table->rollups.list[first + i].first_exec].core);
}

const struct nx_table nx_table_BirInstruction = {"BirInstruction", open_table, nx_level_count, fill, NULL, nx_level_close};
