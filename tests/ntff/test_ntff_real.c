/* Real traces of versions 4, 5 and 6, against what an independent decoder finds in them. */
#include <unistd.h>

#include "check.h"
#include "expected_profiles.h"

#define PROFILES (sizeof(expected_profiles) / sizeof(expected_profiles[0]))

struct count {
    uint64_t starts, ends, events, semaphores, overflows, dma[3], throttles, unknown, ps_sum;
};

static const struct nx_clock *clock_of(const struct nx_ntff_core *core, const struct nx_ntff_section *section,
                                       struct nx_record r)
{
    switch (section->type) {
    case NX_SECTION_INSTRUCTION:
        return &core->engine_clock[nx_record_kind(r) / 4 - 1];
    case NX_SECTION_DMA:
        return &core->dma_clock[nx_record_kind(r) & 15];
    default:
        return &core->event_clock;
    }
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), want = strlen(end);

    return size >= want && strcmp(text + size - want, end) == 0;
}

static void count_record(const struct nx_ntff_core *core, const struct nx_ntff_section *section,
                         struct nx_record r, struct count *count)
{
    bool known;
    const char *kind = nx_record_describe(section, r, &known);

    count->unknown += !known;
    count->overflows += nx_record_overflow(r);
    count->starts += ends_with(kind, "instruction start");
    count->ends += ends_with(kind, "instruction end");
    count->events += ends_with(kind, " event");
    count->semaphores += ends_with(kind, " semaphore");
    count->dma[0] += strcmp(kind, "DMA packet start") == 0;
    count->dma[1] += strcmp(kind, "DMA packet end") == 0;
    count->dma[2] += strcmp(kind, "DMA packet write completion") == 0;
    count->throttles += strcmp(kind, "throttle") == 0;
    if (known) {
        assert_false(nx_ntff_before_clock(clock_of(core, section, r), r.timestamp));
        count->ps_sum += nx_ntff_ps(clock_of(core, section, r), r.timestamp);
    }
}

static void check_core(const struct nx_ntff_core *core, const struct expected_core *expected)
{
    struct count count = {0};
    uint64_t patches = 0, code = 0, addresses = 0, memory = 0, packets = 0, records = 0;

    for (size_t s = 0; s < core->section_count; s++) {
        const struct nx_bytes bytes = core->sections[s].records;

        for (size_t at = 0; at < bytes.size; at += NX_NTFF_RECORD_SIZE, records++)
            count_record(core, &core->sections[s], nx_record_load(bytes.data + at), &count);
    }
    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        patches += core->code[e].patch_count;
        code += core->code[e].bytes.size;
        addresses += core->code[e].address;
    }
    for (size_t i = 0; i < core->memory_count; i++)
        memory += core->memory[i].bytes;
    for (size_t i = 0; i < core->ring_count; i++)
        for (size_t b = 0; b < core->rings[i].block_count; b++)
            packets += core->rings[i].blocks[b].packets;
    assert_string_equal(core->name, expected->name);
    assert_int_equal(core->core_index, expected->core_index);
    assert_int_equal(core->exec_ps, expected->exec_ps);
    assert_int_equal(core->ring_count, expected->rings);
    assert_int_equal(packets, expected->block_packets);
    assert_int_equal(patches, expected->patches);
    assert_int_equal(code, expected->code_bytes);
    assert_int_equal(addresses, expected->address_sum);
    assert_int_equal(core->memory_count, 22);
    assert_int_equal(memory, expected->memory_bytes);
    assert_int_equal(count.starts, expected->starts);
    assert_int_equal(count.ends, expected->ends);
    assert_int_equal(count.events, expected->events);
    assert_int_equal(count.semaphores, expected->semaphores);
    assert_int_equal(count.overflows, expected->overflows);
    for (int i = 0; i < 3; i++)
        assert_int_equal(count.dma[i], expected->dma[i]);
    assert_int_equal(count.throttles, expected->throttles);
    assert_int_equal(count.unknown, 0);
    assert_int_equal(count.ps_sum, expected->ps_sum);
    assert_int_equal(records, count.starts + count.ends + count.events + count.semaphores + count.dma[0] +
                                  count.dma[1] + count.dma[2] + count.throttles);
}

static void check_version(const struct nx_version *version, const char *expected)
{
    char text[64];

    nx_version_text(version, text, sizeof(text));
    assert_true(version->present);
    assert_string_equal(text, expected);
}

static void check_profile(const struct expected_profile *expected)
{
    char path[512], hex[33] = "";
    struct nx_ntff ntff;
    struct nx_error error;

    snprintf(path, sizeof(path), "%s/profiles/%s/profile.ntff", NX_SHARED_DIR, expected->folder);
    if (nx_ntff_open(path, &ntff, &error) != NX_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < ntff.warnings.count; i++)
        fail_msg("%s: %s", expected->folder, ntff.warnings.list[i].message);
    assert_int_equal(ntff.version, expected->version);
    assert_int_equal(ntff.metadata_size, expected->metadata_size);
    assert_int_equal(ntff.file.bytes.size, expected->file_size);
    assert_int_equal(ntff.covered_bytes, expected->file_size);
    assert_string_equal(ntff.neff_name, expected->neff_name);
    assert_int_equal(ntff.uuid_size, 16);
    assert_int_equal(ntff.uuid_exact, expected->version == 6);
    for (size_t i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", ntff.uuid[i]);
    assert_string_equal(hex, expected->uuid);
    check_version(&ntff.runtime, expected->runtime);
    check_version(&ntff.driver, expected->driver);
    check_version(&ntff.collectives, expected->collectives);
    assert_string_equal(ntff.instance_type, expected->instance_type);
    assert_int_equal(ntff.capture_time, expected->capture_time);
    assert_int_equal(ntff.pid, expected->pid);
    assert_int_equal(ntff.capacity_count, 8);
    assert_int_equal(ntff.execution_count, expected->version == 6);
    if (ntff.execution_count) {
        assert_memory_equal(ntff.executions[0].uuid, ntff.uuid, 16);
        assert_int_equal(ntff.executions[0].start_ps, expected->execution_start);
        assert_int_equal(ntff.executions[0].end_ps, expected->execution_end);
    }
    assert_int_equal(ntff.orphan_section_count, 0);
    assert_int_equal(ntff.core_count, expected->core_count);
    assert_int_equal(ntff.cores_per_lnc, expected->core_count);
    for (uint32_t c = 0; c < expected->core_count; c++)
        check_core(&ntff.cores[c], &expected->cores[c]);
    nx_ntff_close(&ntff);
}

static void real_profiles(void **state)
{
    (void)state;
    if (access(NX_SHARED_DIR "/profiles", R_OK) != 0) {
        print_message("no real profiles in %s: skipped\n", NX_SHARED_DIR);
        skip();
    }
    for (size_t i = 0; i < PROFILES; i++) {
        print_message("  %s\n", expected_profiles[i].folder);
        check_profile(&expected_profiles[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(real_profiles)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
