/* Stiffness as an explicit method sees it: steps at the boundary of stability, counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "control/stiffness.h"

/* Steps that are noted until stiffness is found, of at most `most`; every `period`-th one has h
 * lambda at `at` of the boundary, the others are calm. */
static int steps_until_found(double at, int period, int most)
{
    stiffness s = {0};
    for (int k = 1; k <= most; k++) {
        stiffness_note(&s, k % period == 0 ? at : 0.3);
        if (stiffness_found(&s)) return k;
    }
    return 0;
}

/* The steps of DOP853 on y' = lambda y end at 6.1 of 6.39, or at 5.8 where its estimate counts ten
 * times. Those that accuracy alone decides are short of that: at half of the boundary the stiff
 * part of the solution is damped by exp(-3) in a step, and need not be followed. */
static void what_is_near_the_boundary(void **state)
{
    (void)state;
    assert_in_range(steps_until_found(6.1 / 6.39, 1, 5000), 500, 2000);
    assert_in_range(steps_until_found(5.8 / 6.39, 1, 5000), 500, 2000);
    assert_in_range(steps_until_found(1e3, 1, 5000), 500, 2000);
    assert_int_equal(steps_until_found(0.5, 1, 5000), 0);
}

/* Six calm steps in a row are the end of it, five are not [HW96 IV.2]. */
static void calm_steps_in_a_row_end_it(void **state)
{
    (void)state;
    assert_int_equal(steps_until_found(0.95, 7, 20000), 0);
    assert_true(steps_until_found(0.95, 6, 20000) > 0);
}

/* Nobody looked: that is neither stiff nor calm. */
static void unseen_steps_do_not_count(void **state)
{
    (void)state;
    stiffness s = {0};
    stiffness_note(&s, 0.95);
    for (int k = 0; k < 100; k++) stiffness_note(&s, 0.0);
    assert_int_equal(s.stiff, 1);
    assert_int_equal(s.calm, 0);
}

/* While steps are stiff every one is looked at, else a few are, so that calm runs cost nothing. */
static void looks_are_rare_while_calm(void **state)
{
    (void)state;
    stiffness calm = {0}, stiff = {.stiff = 1};
    int looks = 0;
    for (long k = 0; k < 1000; k++) {
        looks += stiffness_due(&calm, k, false);
        assert_true(stiffness_due(&stiff, k, false));
    }
    assert_in_range(looks, 10, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_near_the_boundary),
        cmocka_unit_test(calm_steps_in_a_row_end_it),
        cmocka_unit_test(unseen_steps_do_not_count),
        cmocka_unit_test(looks_are_rare_while_calm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
