/*
 * Damaged files: whatever is cut off or changed, the readers answer or refuse
 * with one sentence (damage.h says how).  On real profiles where they are, and
 * on generated ones of each version.  tests/tables/test_damaged_tables.c goes
 * on to the tables, tests/e2e/damage.py through the whole program.  Under
 * sanitizers: all cases of one profile and some of the others.
 */
#include "damage.h"

static void damage_to_a_real_v4_profile(void **state)
{
    (void)state;
    damage_real("vector-add-trn1-fd1k", 1, NULL);
}

static void damage_to_a_real_v6_profile(void **state)
{
    (void)state;
    damage_real("attention-fused-fp32-s512", 2 * SLOWER, NULL);
}

static void damage_to_generated_profiles(void **state)
{
    (void)state;
    damage_generated(4 * SLOWER, NULL);
}

/* ------------------------------------------------------------------ a file that changes while it is read */

struct turning {
    uint8_t *record; /* the first start of a DMA packet; NULL: it has been turned already */
    uint64_t others; /* records that are not of DMA, which are read first */
};

/* Called when packets have been counted, among other times. */
static void turn_start_into_end(void *context, uint64_t done, uint64_t total)
{
    struct turning *turning = context;

    (void)total;
    if (!turning->record || done <= turning->others)
        return;
    turning->record[4] = (uint8_t)(turning->record[4] & 0xf0) | NX_DMA_END;
    turning->record = NULL;
}

static void find_packet(const struct nx_ntff *ntff, struct turning *turning)
{
    for (size_t c = 0; c < ntff->core_count; c++)
        for (size_t s = 0; s < ntff->cores[c].section_count; s++) {
            const struct nx_ntff_section *section = &ntff->cores[c].sections[s];

            if (section->type != NX_SECTION_DMA)
                turning->others += section->records.size / NX_NTFF_RECORD_SIZE;
            for (size_t at = 0; at < section->records.size && !turning->record; at += NX_NTFF_RECORD_SIZE)
                if (nx_record_classify(section, nx_record_load(section->records.data + at)) == NX_RECORD_DMA_START)
                    turning->record = (uint8_t *)(uintptr_t)section->records.data + at;
        }
}

/* Packets are counted first and put in place then: what was not counted has no place. */
static void a_file_that_changes_while_it_is_read_is_refused(void **state)
{
    static const struct nx_generate_options options = {.m = 128, .k = 128, .n = 512};
    struct content neff_bytes, ntff_bytes;
    struct nx_error error;
    struct nx_neff neff;
    struct nx_ntff ntff;
    struct nx_trace trace;
    struct turning turning = {0};

    (void)state;
    assert_int_equal(nx_generate(&options, "changing.neff", "changing.ntff", NULL, &error), NX_OK);
    neff_bytes = load("changing.neff");
    ntff_bytes = load("changing.ntff");
    unlink("changing.neff");
    unlink("changing.ntff");
    assert_int_equal(nx_neff_parse("k.neff", (struct nx_bytes){neff_bytes.data, neff_bytes.size}, &neff, &error), NX_OK);
    assert_int_equal(nx_ntff_parse("t.ntff", (struct nx_bytes){ntff_bytes.data, ntff_bytes.size}, &ntff, &error), NX_OK);
    find_packet(&ntff, &turning);
    assert_non_null(turning.record);
    assert_int_equal(nx_trace_build(&neff, &ntff, turn_start_into_end, &turning, &trace, &error), NX_BAD_INPUT);
    assert_null(turning.record);
    assert_string_equal(error.text, "t.ntff: the file has changed while it was read");
    nx_ntff_close(&ntff);
    nx_neff_close(&neff);
    free(neff_bytes.data);
    free(ntff_bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_to_a_real_v4_profile),
        cmocka_unit_test(damage_to_a_real_v6_profile),
        cmocka_unit_test(damage_to_generated_profiles),
        cmocka_unit_test(a_file_that_changes_while_it_is_read_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
