/* StackFrameFileLocation: places in the model's source that frames refer to. */
#include <stdio.h>

#include "tables/table.h"

static void *open_table(const struct nx_profile *profile)
{
    return (void *)(uintptr_t)profile;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct nx_profile *)opaque)->neff->stack.location_count;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct nx_stack_index *stack = &((const struct nx_profile *)opaque)->neff->stack;
    char text[24];

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_stack_location *location = &stack->locations[first + i];

        snprintf(text, sizeof(text), "%llu", (unsigned long long)(first + i + 1));
        nx_put_text(chunk, NX_StackFrameFileLocation_id, i, text);
        nx_put_i32(chunk, NX_StackFrameFileLocation_file_name_id, i, (int32_t)location->file);
        nx_put_i32(chunk, NX_StackFrameFileLocation_function_name_id, i, (int32_t)location->function);
        nx_put_i32(chunk, NX_StackFrameFileLocation_line_number, i, location->line);
    }
}

static void close_table(void *opaque)
{
    (void)opaque;
}

const struct nx_table nx_table_StackFrameFileLocation = {
    "StackFrameFileLocation", open_table, count_rows, fill, NULL, close_table};
