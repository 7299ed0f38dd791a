/*
 * Tables over time and their summaries, of generated pairs: what they hold
 * follows from what the generator counted while it wrote the trace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "content.h"
#include "generate.h"
#include "tables/table.h"

/* ------------------------------------------------------------------ a profile, and a table in memory */

static struct nx_generated truth;
static struct nx_neff neff;
static struct nx_ntff ntff;
static struct nx_trace trace;
static struct nx_profile profile;

static void open_pair(const struct nx_generate_options *options)
{
    char neff_path[] = "/tmp/nx-usage-XXXXXX", ntff_path[] = "/tmp/nx-usage-XXXXXX";
    struct nx_error error;
    int a = mkstemp(neff_path), b = mkstemp(ntff_path);

    assert_true(a >= 0 && b >= 0);
    assert_int_equal(nx_generate(options, neff_path, ntff_path, &truth, &error), NX_OK);
    assert_int_equal(nx_neff_open(neff_path, &neff, &error), NX_OK);
    assert_int_equal(nx_ntff_open(ntff_path, &ntff, &error), NX_OK);
    assert_int_equal(nx_trace_build(&neff, &ntff, NULL, NULL, &trace, &error), NX_OK);
    profile = (struct nx_profile){.name = "generated",
                                  .explorer_version = NX_VERSION,
                                  .neff = &neff,
                                  .ntff = &ntff,
                                  .trace = &trace,
                                  .warnings = &trace.warnings};
    close(a);
    close(b);
    unlink(neff_path);
    unlink(ntff_path);
}

static void close_pair(void)
{
    nx_trace_free(&trace);
    nx_ntff_close(&ntff);
    nx_neff_close(&neff);
}

static void read_table(const struct nx_table *table, struct content *content)
{
    read_content(table, &profile, content);
}

static void close_table(struct content *content)
{
    close_content(content);
}

extern const struct nx_table nx_table_OpcodeSummary, nx_table_DmaUsage, nx_table_DmaUsageSummary, nx_table_HbmUsage,
    nx_table_SbufAllocation, nx_table_ExecutionInfo, nx_table_DeviceProfileList;

/* ------------------------------------------------------------------ OpcodeSummary */

static uint64_t known_count(int engine, const char *opcode)
{
    uint64_t known = 0;
    char buffer[16];

    for (unsigned code = 0; code < 256; code++)
        for (uint32_t c = 0; c < truth.core_count; c++)
            if (strcmp(nx_isa_opcode_name((uint8_t)code, buffer), opcode) == 0)
                known += truth.cores[c].engines[engine].opcode_rows[code];
    return known;
}

static int engine_of(const char *title)
{
    int e = 0;

    while (strcmp(nx_engine_title((enum nx_engine)e), title) != 0)
        e++;
    return e;
}

static void check_opcodes(void)
{
    uint64_t left[NX_ENGINE_COUNT] = {0}, time[NX_ENGINE_COUNT] = {0}, expected_time[NX_ENGINE_COUNT] = {0};
    uint64_t outside = 0;
    struct content t;

    for (uint32_t c = 0; c < truth.core_count; c++)
        for (int e = 0; e < NX_ENGINE_COUNT; e++) {
            left[e] += truth.cores[c].engines[e].rows;
            expected_time[e] += truth.cores[c].engines[e].time_ps;
        }
    read_table(&nx_table_OpcodeSummary, &t);
    for (uint32_t i = 0; i < t.chunk.rows; i++) {
        const char *opcode = text(&t, NX_OpcodeSummary_opcode, i);
        int e = engine_of(text(&t, NX_OpcodeSummary_engine, i));
        uint64_t count = (uint64_t)integer(&t, NX_OpcodeSummary_instruction_count, i);
        int64_t active = integer(&t, NX_OpcodeSummary_active_time_ns, i);

        if (strcmp(opcode, "UNKNOWN") == 0)
            outside += count; /* code outside the dump: of any opcode */
        else
            assert_int_equal(count, known_count(e, opcode));
        left[e] -= count;
        if (strcmp(opcode, "EVENT_SEMAPHORE") != 0)
            time[e] += (uint64_t)integer(&t, NX_OpcodeSummary_instruction_time_ns, i);
        assert_true(active > 0 && active <= integer(&t, NX_OpcodeSummary_instruction_time_ns, i));
        assert_true(number(&t, NX_OpcodeSummary_active_time_percent, i) <= 1.0);
        assert_float_equal(number(&t, NX_OpcodeSummary_active_time_percent, i) * (double)truth.window_ps / 1000,
                           (double)active, 1.0);
    }
    assert_int_equal(outside, truth.execs_without_code);
    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        assert_int_equal(left[e], 0); /* every execution is in one row */
        assert_true(time[e] <= expected_time[e] / 1000);
        assert_true(time[e] + t.chunk.rows >= expected_time[e] / 1000);
    }
    close_table(&t);
}

/* ------------------------------------------------------------------ DmaUsageSummary */

static void check_buckets(void)
{
    struct content points, buckets;
    uint64_t counted = 0;

    read_table(&nx_table_DmaUsage, &points);
    read_table(&nx_table_DmaUsageSummary, &buckets);
    assert_true(buckets.chunk.rows > 1);
    for (uint32_t b = 0; b < buckets.chunk.rows; b++) {
        int64_t start = integer(&buckets, NX_DmaUsageSummary_timestamp, b), sum = 0, most = 0, count = 0;
        int64_t length = integer(&buckets, NX_DmaUsageSummary_bucket_resolution_ns, b);
        int64_t core = integer(&buckets, NX_DmaUsageSummary_pcore_idx, b);
        double rates = 0;

        assert_int_equal(start % length, 0);
        for (uint32_t p = 0; p < points.chunk.rows; p++) {
            int64_t time = integer(&points, NX_DmaUsage_timestamp, p);
            int64_t bytes = integer(&points, NX_DmaUsage_total_transfer_bytes, p);

            if (integer(&points, NX_DmaUsage_pcore_idx, p) != core || time < start || time >= start + length)
                continue;
            count++;
            sum += bytes;
            most = bytes > most ? bytes : most;
            rates += number(&points, NX_DmaUsage_current_throughput, p);
        }
        assert_int_equal(integer(&buckets, NX_DmaUsageSummary_count, b), count);
        assert_int_equal(integer(&buckets, NX_DmaUsageSummary_sum_total_transfer_bytes, b), sum);
        assert_int_equal(integer(&buckets, NX_DmaUsageSummary_max_total_transfer_bytes, b), most);
        assert_true(number(&buckets, NX_DmaUsageSummary_sum_current_throughput, b) == rates);
        counted += (uint64_t)count;
    }
    assert_int_equal(counted, points.chunk.rows);
    close_table(&points);
    close_table(&buckets);
}

/* ------------------------------------------------------------------ HbmUsage */

/* The last totals of the cores; those are whole where the last packets end more than 10 ns after the ones before. */
static uint64_t hbm_total(void)
{
    uint64_t last[2] = {0};
    struct content t;

    read_table(&nx_table_HbmUsage, &t);
    for (uint32_t i = 0; i < t.chunk.rows; i++) {
        uint64_t total = (uint64_t)integer(&t, NX_HbmUsage_total_transfer_bytes, i);
        int64_t core = integer(&t, NX_HbmUsage_pcore_idx, i);

        assert_true(total >= last[core]);
        assert_true(number(&t, NX_HbmUsage_current_throughput, i) >= 0);
        last[core] = total;
    }
    close_table(&t);
    return last[0] + last[1];
}

/* ------------------------------------------------------------------ SbufAllocation */

struct summed {
    uint64_t dma_bytes, instruction_bytes; /* bytes of a partition, over all values */
    uint64_t rows;
};

/* Values never share a byte at the same time; what DMA brought names its tensor. */
static struct summed check_allocations(int64_t partition)
{
    struct summed sum = {0};
    struct content t;

    read_table(&nx_table_SbufAllocation, &t);
    for (uint32_t i = 0; i < t.chunk.rows; i++) {
        int64_t start = integer(&t, NX_SbufAllocation_start_ts, i), end = integer(&t, NX_SbufAllocation_end_ts, i);
        int64_t low = integer(&t, NX_SbufAllocation_start_address, i);
        int64_t high = integer(&t, NX_SbufAllocation_end_address, i);
        bool by_dma = strcmp(text(&t, NX_SbufAllocation_op_source_type, i), "dma") == 0;

        if (integer(&t, NX_SbufAllocation_partition, i) != partition)
            continue;
        assert_true(start < end && low <= high && low >= 0);
        sum.rows++;
        *(by_dma ? &sum.dma_bytes : &sum.instruction_bytes) += (uint64_t)(high - low + 1);
        assert_int_equal(is_null(&t, NX_SbufAllocation_opcode, i), by_dma);
        assert_int_equal(is_null(&t, NX_SbufAllocation_operands, i), by_dma);
        assert_int_equal(is_null(&t, NX_SbufAllocation_queue_name, i), !by_dma);
        assert_int_equal(is_null(&t, NX_SbufAllocation_block_id, i), !by_dma);
        if (by_dma)
            assert_true(strlen(text(&t, NX_SbufAllocation_tensor_name, i)) > 0);
        for (uint32_t k = 0; k < i; k++) {
            if (integer(&t, NX_SbufAllocation_partition, k) != partition ||
                integer(&t, NX_SbufAllocation_pcore_idx, k) != integer(&t, NX_SbufAllocation_pcore_idx, i) ||
                integer(&t, NX_SbufAllocation_end_ts, k) <= start)
                continue;
            assert_true(integer(&t, NX_SbufAllocation_end_address, k) < low ||
                        integer(&t, NX_SbufAllocation_start_address, k) > high);
        }
    }
    close_table(&t);
    return sum;
}

/* ------------------------------------------------------------------ tests */

#define PARTITIONS 128

static void a_static_kernel(void **state)
{
    const struct nx_generate_options options = {.m = 256, .k = 256, .n = 512};
    struct summed sum;

    (void)state;
    open_pair(&options);
    check_opcodes();
    check_buckets();
    assert_int_equal(hbm_total(), truth.static_in + truth.static_out);
    /* each value that DMA brings is written by one block, and no two blocks write the same one */
    sum = check_allocations(0);
    assert_int_equal(sum.dma_bytes, truth.static_in / PARTITIONS);
    assert_true(sum.instruction_bytes >= truth.static_out / PARTITIONS);
    assert_int_equal(check_allocations(96).dma_bytes, truth.static_in / PARTITIONS);
    assert_true(sum.rows > 4);
    close_pair();
}

static void runs_in_a_loop(void **state)
{
    const struct nx_generate_options options = {.m = 128, .k = 256, .n = 512, .repeat = 3, .version = 4};

    (void)state;
    open_pair(&options);
    check_opcodes();
    check_buckets();
    assert_int_equal(hbm_total(), truth.static_in + truth.static_out);
    assert_int_equal(check_allocations(32).dma_bytes, truth.static_in / PARTITIONS);
    close_pair();
}

/* Nothing says which memories dynamic DMA moves between, nor when: the known rest is not shown as the whole. */
static void dynamic_dma(void **state)
{
    const struct nx_generate_options options = {.m = 128, .k = 128, .n = 512, .dma = NX_DMA_MIXED, .cores = 1};

    (void)state;
    open_pair(&options);
    check_opcodes();
    check_buckets();
    assert_int_equal(hbm_total(), 0);
    assert_int_equal(check_allocations(64).dma_bytes, truth.static_in / PARTITIONS);
    close_pair();
}

static void executions_by_version(void **state)
{
    struct nx_generate_options options = {.m = 128, .k = 128, .n = 512, .version = 6};
    struct content t;

    (void)state;
    open_pair(&options);
    read_table(&nx_table_ExecutionInfo, &t);
    assert_int_equal(t.chunk.rows, 1);
    assert_int_equal(integer32(&t, NX_ExecutionInfo_execution_index, 0), 0);
    assert_int_equal(integer(&t, NX_ExecutionInfo_execution_start_ts, 0), 0);
    assert_int_equal(integer(&t, NX_ExecutionInfo_execution_end_ts, 0), truth.window_ps / 1000);
    assert_int_equal(integer32(&t, NX_ExecutionInfo_num_subgraphs, 0), 2);
    assert_string_equal(text(&t, NX_ExecutionInfo_neff_name, 0), ntff.neff_name);
    close_table(&t);
    ntff.executions[0].uuid[3] ^= 1; /* of a kernel that is not here */
    read_table(&nx_table_ExecutionInfo, &t);
    assert_true(is_null(&t, NX_ExecutionInfo_neff_name, 0));
    assert_true(is_null(&t, NX_ExecutionInfo_num_subgraphs, 0));
    assert_int_equal(integer(&t, NX_ExecutionInfo_execution_start_ts, 0), 0);
    close_table(&t);
    close_pair();

    options.version = 5;
    open_pair(&options);
    read_table(&nx_table_ExecutionInfo, &t);
    assert_int_equal(t.chunk.rows, 1);
    assert_true(is_null(&t, NX_ExecutionInfo_execution_start_ts, 0));
    assert_true(is_null(&t, NX_ExecutionInfo_execution_end_ts, 0));
    assert_int_equal(integer32(&t, NX_ExecutionInfo_num_subgraphs, 0), 2);
    close_table(&t);
    close_pair();
}

static void a_profile_lists_itself(void **state)
{
    const struct nx_generate_options options = {.m = 128, .k = 128, .n = 512};
    struct content t;

    (void)state;
    open_pair(&options);
    ntff.instance_id = "i-12";
    ntff.pid = 77;
    read_table(&nx_table_DeviceProfileList, &t);
    assert_int_equal(t.chunk.rows, 1);
    assert_string_equal(text(&t, NX_DeviceProfileList_device_profile_name, 0), "generated");
    assert_string_equal(text(&t, NX_DeviceProfileList_instance_id, 0), "i-12");
    assert_int_equal(integer(&t, NX_DeviceProfileList_process_id, 0), 77);
    assert_int_equal(integer(&t, NX_DeviceProfileList_nc_id, 0), truth.cores[0].core_index);
    assert_true(is_null(&t, NX_DeviceProfileList_session_id, 0) && is_null(&t, NX_DeviceProfileList_model_id, 0));
    close_table(&t);
    ntff.pid = 0; /* a required column would be NULL: no row */
    read_table(&nx_table_DeviceProfileList, &t);
    assert_int_equal(t.chunk.rows, 0);
    close_table(&t);
    close_pair();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_static_kernel),       cmocka_unit_test(runs_in_a_loop),
        cmocka_unit_test(dynamic_dma),           cmocka_unit_test(executions_by_version),
        cmocka_unit_test(a_profile_lists_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
