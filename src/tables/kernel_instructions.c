/* KernelInstructions: the kernel's instructions with their line, call stack and loop iteration. */
#include "tables/kernel_place.h"

static void *open_table(const struct nx_profile *profile)
{
    return (void *)(uintptr_t)profile;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct nx_profile *)opaque)->neff->kernel.inst_count;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct nx_kernel_debug *kernel = &((const struct nx_profile *)opaque)->neff->kernel;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_kernel_inst *inst = &kernel->insts[first + i];

        nx_put_text(chunk, NX_KernelInstructions_kernel_instruction_name, i, inst->name);
        nx_put_given(chunk, NX_KernelInstructions_stack_frame_id, i, inst->frame);
        nx_put_given(chunk, NX_KernelInstructions_stack_frame_depth, i, inst->frame_depth);
        nx_put_given(chunk, NX_KernelInstructions_iteration_variables_id, i, inst->loop);
        nx_put_given(chunk, NX_KernelInstructions_iteration_variable_depth, i, inst->loop_depth);
        nx_put_place(chunk, i, &inst->place, NX_KernelInstructions_file_path,
                     NX_KernelInstructions_line_number, NX_KernelInstructions_pcore_idx);
    }
}

static void close_table(void *opaque)
{
    (void)opaque;
}

const struct nx_table nx_table_KernelInstructions = {"KernelInstructions", open_table, count_rows, fill, NULL,
                                                     close_table};
