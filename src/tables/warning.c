/* Warning: what the profile lacks, or holds and was not understood. */
#include "tables/table.h"

static void *open_table(const struct nx_profile *profile)
{
    return (void *)(uintptr_t)profile;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct nx_profile *)opaque)->warnings->count;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct nx_profile *profile = opaque;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_warning *warning = &profile->warnings->list[first + i];

        nx_put_text(chunk, NX_Warning_message, i, warning->message);
        nx_put_text(chunk, NX_Warning_category, i, warning->category);
    }
}

static void close_table(void *opaque)
{
    (void)opaque;
}

const struct nx_table nx_table_Warning = {"Warning", open_table, count_rows, fill, NULL, close_table};
