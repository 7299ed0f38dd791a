/*
 * Metadata: one row: where and with what the profile was captured, and the
 * constants of the device that formulas over the other tables need.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "tables/table.h"

static void *open_table(const struct nx_profile *profile)
{
    return (void *)(uintptr_t)profile;
}

static uint64_t count_rows(const void *opaque)
{
    (void)opaque;
    return 1;
}

/* Profile time counts from 0: the closed tool prints it as a date of 1970, to the nanosecond. */
static void put_date(struct nx_chunk *chunk, unsigned column, int64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    char date[32], text[64], fraction[16] = "";
    struct tm tm;

    if (ns % 1000000000) {
        int size = snprintf(fraction, sizeof(fraction), ".%09" PRId64, ns % 1000000000);

        while (size > 1 && fraction[size - 1] == '0')
            fraction[--size] = '\0';
    }
    if (!gmtime_r(&seconds, &tm) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
        return;
    snprintf(text, sizeof(text), "%s%sZ", date, fraction);
    nx_put_text(chunk, column, 0, text);
}

static void put_version(struct nx_chunk *chunk, unsigned column, const struct nx_version *version)
{
    char text[96];

    if (!version->present)
        return;
    nx_version_text(version, text, sizeof(text));
    nx_put_text(chunk, column, 0, text);
}

static void put_device(struct nx_chunk *chunk, const struct nx_device *device)
{
    nx_put_f64(chunk, NX_Metadata_dma_ddr_bandwidth, 0, device->dma_bandwidth);
    nx_put_i32(chunk, NX_Metadata_num_dma_engines_per_neuroncore, 0, (int32_t)device->dma_engines);
    nx_put_f64(chunk, NX_Metadata_hbm_ddr_bandwidth, 0, device->hbm_bandwidth);
    nx_put_i64(chunk, NX_Metadata_tensor_engine_num_rows, 0, device->pe_rows);
    nx_put_i64(chunk, NX_Metadata_tensor_engine_num_cols, 0, device->pe_cols);
    nx_put_f64(chunk, NX_Metadata_tensor_engine_clock_freq, 0, device->pe_clock_ghz);
    nx_put_f64(chunk, NX_Metadata_vector_engine_clock_freq, 0, device->vector_clock_ghz);
    nx_put_i64(chunk, NX_Metadata_vector_engine_num_channels, 0, device->sbuf_partitions);
    nx_put_f64(chunk, NX_Metadata_scalar_engine_clock_freq, 0, device->scalar_clock_ghz);
    nx_put_i64(chunk, NX_Metadata_scalar_engine_num_channels, 0, device->sbuf_partitions);
    nx_put_f64(chunk, NX_Metadata_gpsimd_engine_clock_freq, 0, device->gpsimd_clock_ghz);
    nx_put_i64(chunk, NX_Metadata_gpsimd_engine_num_channels, 0, device->sbuf_partitions);
    nx_put_f64(chunk, NX_Metadata_neuroncore_clock_freq, 0, device->core_clock_ghz);
    nx_put_i64(chunk, NX_Metadata_ticks_per_nanosec, 0, (int64_t)device->ticks_per_ns);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct nx_profile *profile = opaque;
    const struct nx_ntff *ntff = profile->ntff;
    const struct nx_trace *trace = profile->trace;
    int64_t last = nx_ns(trace->window_ps);

    (void)first;
    nx_put_text(chunk, NX_Metadata_profile_schema_version, 0, NX_SCHEMA_VERSION);
    nx_put_i32(chunk, NX_Metadata_ntff_version, 0, (int32_t)ntff->version);
    nx_put_i32(chunk, NX_Metadata_num_physical_cores, 0, (int32_t)trace->core_count);
    nx_put_bool(chunk, NX_Metadata_vnc_enabled, 0, trace->core_count > 1);
    nx_put_i64(chunk, NX_Metadata_first_hw_timestamp, 0, 0);
    nx_put_i64(chunk, NX_Metadata_last_hw_timestamp, 0, last);
    put_date(chunk, NX_Metadata_first_ts, 0);
    put_date(chunk, NX_Metadata_last_ts, last);
    if (trace->device)
        put_device(chunk, trace->device);
    nx_put_text(chunk, NX_Metadata_instance_type, 0, ntff->instance_type);
    put_version(chunk, NX_Metadata_runtime_version, &ntff->runtime);
    put_version(chunk, NX_Metadata_collectives_version, &ntff->collectives);
    put_version(chunk, NX_Metadata_driver_version, &ntff->driver);
    nx_put_text(chunk, NX_Metadata_explorer_version, 0, profile->explorer_version);
    nx_put_text(chunk, NX_Metadata_compiler_version, 0, profile->neff->compiler_version);
    nx_put_i64(chunk, NX_Metadata_neuroncore_idx, 0, trace->cores[0].ntff->core_index);
    nx_put_i64(chunk, NX_Metadata_neuron_device_idx, 0, trace->cores[0].ntff->device_index);
    nx_put_text(chunk, NX_Metadata_profile_name, 0, profile->name);
    nx_put_bool(chunk, NX_Metadata_is_simulation, 0, false);
}

static void close_table(void *opaque)
{
    (void)opaque;
}

const struct nx_table nx_table_Metadata = {"Metadata", open_table, count_rows, fill, NULL, close_table};
