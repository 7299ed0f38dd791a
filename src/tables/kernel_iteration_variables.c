/* KernelIterationVariables: loop variables and the values that instructions were made with. */
#include "tables/kernel_place.h"

static void *open_table(const struct nx_profile *profile)
{
    return (void *)(uintptr_t)profile;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct nx_profile *)opaque)->neff->kernel.loop_count;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct nx_kernel_debug *kernel = &((const struct nx_profile *)opaque)->neff->kernel;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_kernel_loop *loop = &kernel->loops[first + i];

        nx_put_i64(chunk, NX_KernelIterationVariables_iteration_variable_id, i, loop->id);
        nx_put_given(chunk, NX_KernelIterationVariables_parent_iteration_variable_id, i, loop->parent);
        nx_put_text(chunk, NX_KernelIterationVariables_variable_name, i, loop->variable);
        nx_put_given(chunk, NX_KernelIterationVariables_variable_value, i, loop->value);
        nx_put_place(chunk, i, &loop->place, NX_KernelIterationVariables_file_path,
                     NX_KernelIterationVariables_line_number, NX_KernelIterationVariables_pcore_idx);
    }
}

static void close_table(void *opaque)
{
    (void)opaque;
}

const struct nx_table nx_table_KernelIterationVariables = {
    "KernelIterationVariables", open_table, count_rows, fill, NULL, close_table};
