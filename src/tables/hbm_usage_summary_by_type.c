/* HbmUsageSummaryByType: device memory by what it is used for, and the total, for each core. */
#include <stdio.h>
#include <string.h>

#include "tables/table.h"

/* How the closed tool calls the categories that the runtime names (docs/format-ntff.md). */
static const struct {
    const char *runtime, *display;
} categories[] = {
    {"generic", "Generic"},
    {"pe", "Tensor Instructions"},
    {"act", "Scalar Instructions"},
    {"pool", "GpSimd Instructions"},
    {"io", "IO"},
    {"spill", "DRAM Spill"},
    {"weight", "Weights"},
    {"profiler buffers", "Profiler Buffers"},
    {"act table", "Scalar Table"},
    {"dve", "Vector Instructions"},
    {"sp", "Sync Instructions"},
    {"shared scratchpad", "Shared Scratchpad"},
    {"tensor", "Tensors"},
    {"xt code", "Ucode lib"},
    {"ucode", "Ucode lib"},
    {"pool stdio", "GpSimd STDIO"},
    {"collectives", "Collectives"},
    {"scratchpad", "Scratchpad"},
    {"xt cc", "XT CC (unused)"},
    {"dma rings runtime", "DMA Rings Runtime"},
    {"dma rings spill", "DMA Rings Spill"},
    {"dma rings io", "DMA Rings IO"},
    {"dma rings collectives", "DMA Rings Collectives"},
};
/* A file that does not name its categories (v4) has the same first ones; from here on the numbering differs. */
#define FIRST_UNCERTAIN_CATEGORY 7

static void category_text(const struct nx_memory_use *use, char *out, size_t size)
{
    for (size_t i = 0; use->name && i < sizeof(categories) / sizeof(categories[0]); i++)
        if (strcmp(categories[i].runtime, use->name) == 0) {
            snprintf(out, size, "%s", categories[i].display);
            return;
        }
    if (use->name)
        snprintf(out, size, "%s", use->name);
    else if (use->category < FIRST_UNCERTAIN_CATEGORY)
        snprintf(out, size, "%s", categories[use->category].display);
    else
        snprintf(out, size, "Category %u", use->category);
}

static void *open_table(const struct nx_profile *profile)
{
    return (void *)(uintptr_t)profile->trace;
}

static uint64_t rows_of(const struct nx_ntff_core *core)
{
    return core->memory_count ? core->memory_count + 1 : 0; /* and the total */
}

static uint64_t count_rows(const void *opaque)
{
    const struct nx_trace *trace = opaque;
    uint64_t count = 0;

    for (uint32_t c = 0; c < trace->core_count; c++)
        count += rows_of(trace->cores[c].ntff);
    return count;
}

static void fill_row(const struct nx_ntff_core *core, uint64_t row, struct nx_chunk *chunk, uint32_t i)
{
    char text[128] = "Total";
    uint64_t bytes = 0;

    if (row < core->memory_count) {
        category_text(&core->memory[row], text, sizeof(text));
        bytes = core->memory[row].bytes;
    } else {
        for (size_t m = 0; m < core->memory_count; m++)
            bytes += core->memory[m].bytes;
    }
    nx_put_i64(chunk, NX_HbmUsageSummaryByType_neuron_device_idx, i, core->device_index);
    nx_put_i64(chunk, NX_HbmUsageSummaryByType_neuroncore_idx, i, core->core_index);
    nx_put_text(chunk, NX_HbmUsageSummaryByType_usage_type, i, text);
    nx_put_i64(chunk, NX_HbmUsageSummaryByType_usage_bytes, i, (int64_t)bytes);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct nx_trace *trace = opaque;
    uint64_t row = first;
    uint32_t c = 0;

    for (uint32_t i = 0; i < chunk->rows; i++, row++) {
        while (row >= rows_of(trace->cores[c].ntff))
            row -= rows_of(trace->cores[c++].ntff);
        fill_row(trace->cores[c].ntff, row, chunk, i);
    }
}

static void close_table(void *opaque)
{
    (void)opaque;
}

const struct nx_table nx_table_HbmUsageSummaryByType = {"HbmUsageSummaryByType", open_table, count_rows, fill, NULL,
                                                        close_table};
