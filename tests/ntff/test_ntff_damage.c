/*
 * Damaged NTFFs: real ones (and one that is made here, so that the test never has nothing to do), cut at many
 * places and with single bytes changed. Each is read or refused with one sentence.
 *
 * NX_DAMAGE in the environment multiplies the number of cases (a long run under sanitizers).
 */
#include <unistd.h>

#include "base/file.h"
#include "check.h"
#include "hostile.h"

#define CUTS 500
#define CHANGES 2000
#define SECONDS_A_CASE 10 /* a hang ends the program */

static uint64_t walk_sections(const struct nx_ntff_core *core, const struct nx_ntff_section *sections,
                              size_t count)
{
    uint64_t sum = 0;

    for (size_t s = 0; s < count; s++) {
        assert_int_equal(sections[s].records.size % NX_NTFF_RECORD_SIZE, 0);
        for (size_t at = 0; at < sections[s].records.size; at += NX_NTFF_RECORD_SIZE) {
            struct nx_record r = nx_record_load(sections[s].records.data + at);
            unsigned engine = (nx_record_kind(r) >> 2) - 1;
            bool known;

            sum += strlen(nx_record_describe(&sections[s], r, &known));
            if (core)
                sum += nx_ntff_ps(engine < NX_ENGINE_COUNT ? &core->engine_clock[engine] : &core->event_clock,
                                  r.timestamp) +
                       nx_ntff_ps(&core->dma_clock[nx_record_kind(r) & 15], r.timestamp);
        }
    }
    return sum;
}

/* Every string, number and byte that the reader hands out, so that sanitizers see them. */
static uint64_t walk(const struct nx_ntff *ntff)
{
    uint64_t sum = ntff->neff_name ? strlen(ntff->neff_name) : 0;
    char text[64];

    nx_version_text(&ntff->runtime, text, sizeof(text));
    sum += strlen(text) + nx_ntff_uuid_matches(ntff, (const uint8_t *)"0123456789abcdef");
    sum += ntff->instance_type ? strlen(ntff->instance_type) : 0;
    sum += ntff->instance_id ? strlen(ntff->instance_id) : 0;
    for (size_t i = 0; i < ntff->execution_count; i++)
        sum += ntff->executions[i].start_ps + ntff->executions[i].uuid[15];
    for (size_t i = 0; i < ntff->capacity_count; i++)
        sum += ntff->capacities[i].bytes;
    for (size_t c = 0; c < ntff->core_count; c++) {
        const struct nx_ntff_core *core = &ntff->cores[c];

        sum += strlen(core->name);
        for (int e = 0; e < NX_ENGINE_COUNT; e++) {
            for (size_t i = 0; i < core->code[e].bytes.size; i++)
                sum += core->code[e].bytes.data[i];
            for (size_t i = 0; i < core->code[e].patch_count; i++)
                sum += core->code[e].patches[i].count;
        }
        for (size_t i = 0; i < core->ring_count; i++) {
            sum += strlen(core->rings[i].name) + strlen(core->rings[i].display_name);
            for (size_t b = 0; b < core->rings[i].block_count; b++)
                sum += core->rings[i].blocks[b].packets;
        }
        for (size_t i = 0; i < core->memory_count; i++)
            sum += core->memory[i].bytes + (core->memory[i].name ? strlen(core->memory[i].name) : 0);
        sum += walk_sections(core, core->sections, core->section_count);
    }
    return sum + walk_sections(NULL, ntff->orphan_sections, ntff->orphan_section_count);
}

static void read_case(const void *data, size_t size, struct tally *tally)
{
    struct opened o;
    struct nx_ntff partly;
    struct nx_error error = {0};

    alarm(SECONDS_A_CASE);
    open_bytes(&o, data, size);
    if (o.status == NX_OK) {
        walk(&o.ntff);
        assert_true(o.ntff.covered_bytes <= size);
        tally->read++;
    } else {
        assert_int_equal(o.status, NX_BAD_INPUT);
        assert_int_equal(o.error.status, NX_BAD_INPUT);
        assert_null(strchr(o.error.text, '\n'));
        assert_int_equal(strncmp(o.error.text, "test.ntff: offset ", 18), 0);
        assert_null(o.ntff.cores);
        tally->refused++;
    }
    assert_int_equal(nx_ntff_parse_partly("test.ntff", (struct nx_bytes){o.bytes, size}, &partly, &error),
                     o.status);
    assert_string_equal(error.text, o.error.text);
    walk(&partly);
    nx_ntff_close(&partly);
    close_bytes(&o);
    alarm(0);
}

static void damage(const uint8_t *data, size_t size, size_t metadata_end, size_t share)
{
    struct tally cuts = {0}, changes = {0};
    uint8_t *changed = nx_alloc(size);

    /* near the end as well as all over it: the last section is the last to be missed */
    for (size_t i = 0; i < CUTS * factor() / share; i++)
        read_case(data, i % 2 ? random_below(size) : size - 1 - random_below(size < 4096 ? size : 4096),
                  &cuts);
    assert_int_equal(cuts.read, 0); /* a file that is cut anywhere misses something */
    memcpy(changed, data, size);
    for (size_t i = 0; i < CHANGES * factor() / share; i++) {
        size_t at = random_below(i % 8 ? metadata_end : size);
        uint8_t before = changed[at];

        changed[at] = (uint8_t)(i % 3 ? random_below(256) : before ^ 1u << random_below(8));
        read_case(changed, size, &changes);
        changed[at] = before;
    }
    print_message("  %zu cuts refused; of %zu changes %zu refused\n", cuts.refused,
                  changes.read + changes.refused, changes.refused);
    assert_true(changes.read > 0 && changes.refused > 0);
    free(changed);
}

static void damage_to_made_file(void **state)
{
    struct nx_text core = {0}, top = {0}, raw = {0}, file = {0}, code = {0};

    (void)state;
    pb_text(&core, 1, "sg00");
    pb_number(&code, 8, 640);
    pb_message(&core, 4, &code);
    put_plain_clocks(&core);
    put_cores(&top, &core, 1, (const uint8_t *)"0123456789abcdef");
    put_section(&top, 16, 1, 0, 640, 3200, 0);
    for (uint32_t i = 0; i < 240; i++)
        put_record(&raw, 0x87f30100 | i, i, i);
    ntff_file(&file, 6, &top, &raw);
    damage((const uint8_t *)file.data, file.size, NX_NTFF_HEADER_SIZE + top.size, 1);
    nx_text_free(&core);
    nx_text_free(&top);
    nx_text_free(&raw);
    nx_text_free(&file);
    nx_text_free(&code);
}

static void damage_to_real_file(const char *profile, size_t share)
{
    char path[512];
    struct nx_file file;
    struct nx_error error;

    snprintf(path, sizeof(path), "%s/profiles/%s/profile.ntff", NX_SHARED_DIR, profile);
    if (access(path, R_OK) != 0) {
        print_message("no real profiles in %s: skipped\n", NX_SHARED_DIR);
        skip();
    }
    assert_int_equal(nx_file_open(path, &file, &error), NX_OK);
    damage(file.bytes.data, file.bytes.size, NX_NTFF_HEADER_SIZE + (size_t)nx_load_u64(file.bytes.data + 1),
           share);
    nx_file_close(&file);
}

static void damage_to_version_4(void **state)
{
    (void)state;
    damage_to_real_file("vector-add-trn1-fd1k", 4);
}

static void damage_to_version_5(void **state)
{
    (void)state;
    damage_to_real_file("vector-add-trn2-fd1k", 4);
}

static void damage_to_version_6(void **state)
{
    (void)state;
    damage_to_real_file("attention-fused-fp32-s512", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_to_made_file),
        cmocka_unit_test(damage_to_version_4),
        cmocka_unit_test(damage_to_version_5),
        cmocka_unit_test(damage_to_version_6),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
