/* KernelStackFrames: the functions on the call stacks of the kernel's instructions. */
#include "tables/kernel_place.h"

static void *open_table(const struct nx_profile *profile)
{
    return (void *)(uintptr_t)profile;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct nx_profile *)opaque)->neff->kernel.frame_count;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct nx_kernel_debug *kernel = &((const struct nx_profile *)opaque)->neff->kernel;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_kernel_frame *frame = &kernel->frames[first + i];

        nx_put_i64(chunk, NX_KernelStackFrames_stack_frame_id, i, frame->id);
        nx_put_given(chunk, NX_KernelStackFrames_parent_stack_frame_id, i, frame->parent);
        nx_put_text(chunk, NX_KernelStackFrames_fully_qualified_function_name, i, frame->function);
        nx_put_place(chunk, i, &frame->place, NX_KernelStackFrames_file_path,
                     NX_KernelStackFrames_line_number, NX_KernelStackFrames_pcore_idx);
    }
}

static void close_table(void *opaque)
{
    (void)opaque;
}

const struct nx_table nx_table_KernelStackFrames = {"KernelStackFrames", open_table, count_rows, fill, NULL,
                                                    close_table};
