/*
 * Damaged files: whatever is cut off or changed, the readers answer or refuse
 * with one sentence (damage.h says how).  On real profiles where they are, and
 * on generated ones of each version.  tests/tables/test_damaged_tables.c goes
 * on to the tables, tests/e2e/damage.py through the whole program.
 */
#include "damage.h"
#include "generate.h"

/* Sanitizers make a case five times as slow: there, all cases of one profile and some of the others. */
#ifdef __SANITIZE_ADDRESS__
#define SLOWER 4
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOWER 4
#endif
#endif
#ifndef SLOWER
#define SLOWER 1
#endif

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
    for (uint32_t version = 4; version <= 6; version++) {
        struct nx_generate_options options = {.m = 128,
                                              .k = 128,
                                              .n = 512,
                                              .version = version,
                                              .dma = version == 5 ? NX_DMA_MIXED : NX_DMA_STATIC};
        char neff[64], ntff[64], what[32];
        struct nx_error error;

        snprintf(neff, sizeof(neff), "damage-%ld.neff", (long)getpid());
        snprintf(ntff, sizeof(ntff), "damage-%ld.ntff", (long)getpid());
        snprintf(what, sizeof(what), "generated v%u", version);
        assert_int_equal(nx_generate(&options, neff, ntff, NULL, &error), NX_OK);
        damage_all(what, neff, ntff, 4 * SLOWER, NULL);
        unlink(neff);
        unlink(ntff);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_to_a_real_v4_profile),
        cmocka_unit_test(damage_to_a_real_v6_profile),
        cmocka_unit_test(damage_to_generated_profiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
