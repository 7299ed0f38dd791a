/*
 * DeviceProfileList: a profile of one NEFF and one NTFF lists itself, if the
 * trace says on which host and in which process it was captured (version 6).
 */
#include "tables/table.h"

static void *open_table(const struct nx_profile *profile)
{
    return (void *)(uintptr_t)profile;
}

static uint64_t count_rows(const void *opaque)
{
    const struct nx_profile *profile = opaque;

    const struct nx_ntff *ntff = profile->ntff;

    return ntff->instance_id && ntff->instance_id[0] && ntff->pid && ntff->pid <= INT64_MAX ? 1 : 0;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct nx_profile *profile = opaque;

    (void)first;
    if (!chunk->rows)
        return;
    nx_put_text(chunk, NX_DeviceProfileList_device_profile_name, 0, profile->name);
    nx_put_text(chunk, NX_DeviceProfileList_instance_id, 0, profile->ntff->instance_id);
    nx_put_i64(chunk, NX_DeviceProfileList_process_id, 0, (int64_t)profile->ntff->pid);
    nx_put_i64(chunk, NX_DeviceProfileList_nc_id, 0, profile->ntff->cores[0].core_index);
}

static void close_table(void *opaque)
{
    (void)opaque;
}

const struct nx_table nx_table_DeviceProfileList = {"DeviceProfileList", open_table, count_rows,
                                                    fill,                NULL,       close_table};
