/* FrameworkInstruction: a row for each operation of the framework's model of which something ran. */
#include "tables/level.h"

static void *open_table(const struct nx_profile *profile)
{
    return nx_level_open(profile, NX_LEVEL_FRAMEWORK);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    static const struct nx_level_columns columns = NX_LEVEL_COLUMNS(FrameworkInstruction, framework_name);
    const struct nx_level_table *table = opaque;

    nx_level_fill(opaque, &columns, first, chunk);
    for (uint32_t i = 0; i < chunk->rows; i++) {
        const uint64_t *executions = table->rollups.list[first + i].executions;

        nx_put_i64(chunk, NX_FrameworkInstruction_tensor_engine_instruction_count, i, (int64_t)executions[NX_PE]);
        nx_put_i64(chunk, NX_FrameworkInstruction_scalar_engine_instruction_count, i, (int64_t)executions[NX_ACT]);
        nx_put_i64(chunk, NX_FrameworkInstruction_sync_engine_instruction_count, i, (int64_t)executions[NX_SP]);
        nx_put_i64(chunk, NX_FrameworkInstruction_gpsimd_engine_instruction_count, i, (int64_t)executions[NX_POOL]);
        nx_put_i64(chunk, NX_FrameworkInstruction_vector_engine_instruction_count, i, (int64_t)executions[NX_DVE]);
    }
}

const struct nx_table nx_table_FrameworkInstruction = {"FrameworkInstruction", open_table, nx_level_count, fill, NULL, nx_level_close};
