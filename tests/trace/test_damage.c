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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_to_a_real_v4_profile),
        cmocka_unit_test(damage_to_a_real_v6_profile),
        cmocka_unit_test(damage_to_generated_profiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
