/* PenguinInstruction: a row for each tensorizer (Penguin) instruction of which something ran. */
#include "tables/level.h"

static void *open_table(const struct nx_profile *profile)
{
    return nx_level_open(profile, NX_LEVEL_PENGUIN);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    static const struct nx_level_columns columns = NX_LEVEL_COLUMNS(PenguinInstruction, penguin_name);

    nx_level_fill(opaque, &columns, first, chunk);
}

const struct nx_table nx_table_PenguinInstruction = {"PenguinInstruction", open_table, nx_level_count, fill, NULL, nx_level_close};
