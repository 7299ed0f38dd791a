/* kernel_place.h - columns that the three Kernel* tables share. */
#ifndef NX_TABLES_KERNEL_PLACE_H
#define NX_TABLES_KERNEL_PLACE_H

#include "tables/table.h"

/* A number of the kernel's debug information; NULL where it is not given. */
static inline void nx_put_given(struct nx_chunk *chunk, unsigned column, uint32_t row, int64_t value)
{
    if (value != NX_NOT_GIVEN)
        nx_put_i64(chunk, column, row, value);
}

static inline void nx_put_place(struct nx_chunk *chunk, uint32_t row, const struct nx_kernel_place *place,
                                unsigned file_column, unsigned line_column, unsigned core_column)
{
    nx_put_text(chunk, file_column, row, place->file);
    nx_put_given(chunk, line_column, row, place->line);
    nx_put_given(chunk, core_column, row, place->core);
}

#endif
