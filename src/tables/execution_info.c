/*
 * ExecutionInfo: one row for each execution that the trace names.  Before
 * version 6 a trace has no list of them: then one row, without times.
 */
#include <string.h>

#include "tables/table.h"

static void *open_table(const struct nx_profile *profile)
{
    return (void *)(uintptr_t)profile;
}

static uint64_t count_rows(const void *opaque)
{
    const struct nx_profile *profile = opaque;

    return profile->ntff->execution_count ? profile->ntff->execution_count : 1;
}

/* Nanoseconds from the start of the profile. */
static int64_t relative_ns(const struct nx_trace *trace, uint64_t ps)
{
    return ps >= trace->window_start_ps ? (int64_t)((ps - trace->window_start_ps) / 1000)
                                        : -(int64_t)((trace->window_start_ps - ps + 999) / 1000);
}

static void fill_execution(const struct nx_profile *profile, const struct nx_execution *execution,
                           struct nx_chunk *chunk, uint32_t i)
{
    nx_put_i64(chunk, NX_ExecutionInfo_execution_start_ts, i, relative_ns(profile->trace, execution->start_ps));
    nx_put_i64(chunk, NX_ExecutionInfo_execution_end_ts, i, relative_ns(profile->trace, execution->end_ps));
}

static bool is_of_neff(const struct nx_profile *profile, const struct nx_execution *execution)
{
    return execution->uuid_size == sizeof(execution->uuid) &&
           memcmp(execution->uuid, profile->neff->header.uuid, sizeof(execution->uuid)) == 0;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct nx_profile *profile = opaque;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_execution *execution =
            profile->ntff->execution_count ? &profile->ntff->executions[first + i] : NULL;

        nx_put_i32(chunk, NX_ExecutionInfo_execution_index, i, (int32_t)(first + i));
        if (execution)
            fill_execution(profile, execution, chunk, i);
        if (execution && !is_of_neff(profile, execution))
            continue; /* of another NEFF: what that one is called, and what of it ran, is not known */
        if (profile->ntff->neff_name[0])
            nx_put_text(chunk, NX_ExecutionInfo_neff_name, i, profile->ntff->neff_name);
        nx_put_i32(chunk, NX_ExecutionInfo_num_subgraphs, i, (int32_t)profile->trace->core_count);
    }
}

static void close_table(void *opaque)
{
    (void)opaque;
}

const struct nx_table nx_table_ExecutionInfo = {"ExecutionInfo", open_table, count_rows, fill, NULL, close_table};
