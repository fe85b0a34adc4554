/* Runs that do not get anywhere, told from runs whose steps are merely short. */
#include "control/stall.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const double STEP = 1e-7; /* 10^7 of them to t = 1 */

/* So many steps from t on, in which y goes from 0 by `move` tolerances each, to and fro or not,
 * with so many rejected attempts before and one more every `every` steps (0: none). */
static stall_kind walk(stall *c, int steps, double move, bool turns, long before, int every)
{
    double y = 0.0, estimate = 1.0, tested = 1.0, scale = 1.0;
    error_norm norm = {.n = 1, .tested = &tested, .scale = &scale};
    attempt a = {.h = STEP, .t = c->t0 + 0.1, .y = &y, .estimate = &estimate};
    stall_kind found = STALL_NONE;
    for (int k = 1; k <= steps && found == STALL_NONE; k++) {
        y += turns && k % 2 == 0 ? -move : move;
        before += every > 0 && k % every == 0;
        stall_note(c, &a, &norm, 1.0, before);
        a.t += a.h;
        found = stall_found(c, a.t);
    }
    return found;
}

static void test_to_and_fro(void **state)
{
    (void)state;
    stall c = {0};
    assert_int_equal(walk(&c, 2000, 1.0, true, 0, 0), STALL_SLIDES);
}

static void test_held_by_rejections(void **state)
{
    (void)state;
    stall c = {0};
    assert_int_equal(walk(&c, 2000, 1e-3, false, 0, 5), STALL_SLIDES);
}

/* Slow, but on its way; what was rejected before a restart does not count. */
static void test_slow_is_no_stall(void **state)
{
    (void)state;
    stall c = {0};
    assert_int_equal(walk(&c, 5000, 1e-3, false, 0, 0), STALL_NONE);
    c = (stall){0};
    assert_int_equal(walk(&c, 5000, 1e-3, false, 100000, 0), STALL_NONE);
    c = (stall){0};
    assert_int_equal(walk(&c, 5000, 1.0, false, 0, 5), STALL_NONE);
}

/* Where no other test of stability is made, standing still is enough. */
static void test_unstable(void **state)
{
    (void)state;
    stall c = {.unstable = true};
    assert_int_equal(walk(&c, 2000, 1e-3, false, 0, 0), STALL_SLIDES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_and_fro), cmocka_unit_test(test_held_by_rejections),
        cmocka_unit_test(test_slow_is_no_stall), cmocka_unit_test(test_unstable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
