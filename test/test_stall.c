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

/* ---- limits ---- */

/* Steps of h from t on, in a run from 0 to tend. y creeps in one direction, `near` steps long at
 * its first value and then `far` tolerances from it. In each of `rejections` steps after the first
 * an attempt is rejected. */
typedef struct course {
    double t, h, tend;
    int steps, near;
    double far;
    int rejections;
} course;

/* How it ends, in either direction of time: all that is said of lengths says so, too. */
static stall_kind follow(const course *w, double direction, bool *suspects)
{
    double y, estimate = 1.0, tested = 1.0, scale = 1.0;
    error_norm norm = {.n = 1, .tested = &tested, .scale = &scale};
    attempt a = {.h = direction * w->h, .t = direction * w->t, .y = &y, .estimate = &estimate};
    stall c = {0};
    stall_kind found = STALL_NONE;
    for (int k = 0; k < w->steps && found == STALL_NONE; k++) {
        y = 1e-6 * k + (k < w->near ? 0.0 : w->far);
        stall_note(&c, &a, &norm, direction * w->tend, k < w->rejections ? k : w->rejections);
        a.t += a.h;
        found = stall_found(&c, a.t);
    }
    *suspects = stall_suspects_rounding(&c);
    return found;
}

static void expect_end(course w, stall_kind found, bool suspects)
{
    for (int direction = -1; direction <= 1; direction += 2) {
        bool seen;
        const stall_kind end = follow(&w, direction, &seen);
        if (end != found || seen != suspects)
            fail_msg("from %g by %g, %d steps, %d near, %g far, %d rejections: %d, %d", w.t, w.h,
                     w.steps, w.near, w.far, w.rejections, (int)end, (int)seen);
    }
}

/* A window is 1000 steps, each shorter than 1e-5 of the way; half of them within 10 tolerances of
 * the first, and 50 turns. */
static void test_limits_of_sliding(void **state)
{
    (void)state;
    const double h = 1e-5 / 1.05;
    expect_end((course){0.0, h, 1.0, 1000, 1000, 0.0, 50}, STALL_SLIDES, false);
    expect_end((course){0.0, h, 1.0, 999, 1000, 0.0, 50}, STALL_NONE, false);
    expect_end((course){0.0, 1.05e-5, 1.0, 3000, 3000, 0.0, 50}, STALL_NONE, false);
    expect_end((course){0.9, 0.9 * h, 1.0, 1000, 1000, 0.0, 50}, STALL_SLIDES,
               false); /* way gone */
    expect_end((course){0.0, h, 1.0, 1000, 500, 100.0, 50}, STALL_SLIDES, false);
    expect_end((course){0.0, h, 1.0, 1000, 499, 100.0, 50}, STALL_NONE, false);
    expect_end((course){0.0, h, 1.0, 1000, 1, 9.9, 50}, STALL_SLIDES, false);
    expect_end((course){0.0, h, 1.0, 1000, 1, 10.1, 50}, STALL_NONE, false);
    expect_end((course){0.0, h, 1.0, 1000, 1000, 0.0, 49}, STALL_NONE, false);
}

/* 10 000 steps, 10^9 of which would not do; 16 units in the last place a step; 1000 steps, 10^6 of
 * which would not do. */
static void test_limits_of_steps(void **state)
{
    (void)state;
    const double ulp = 2.220446049250313e-16;
    expect_end((course){0.0, 1e-9 / 1.05, 1.0, 10000, 1, 100.0, 0}, STALL_HOPELESS, true);
    expect_end((course){0.0, 1e-9 / 1.05, 1.0, 9999, 1, 100.0, 0}, STALL_NONE, false);
    expect_end((course){0.0, 1.05e-9, 1.0, 10001, 1, 100.0, 0}, STALL_NONE, false);
    expect_end((course){1.0, 15.0 * ulp, 2.0, 2000, 1, 100.0, 0}, STALL_STANDS, true);
    expect_end((course){1.0, 17.0 * ulp, 2.0, 2000, 1, 100.0, 0}, STALL_NONE, true);
    expect_end((course){0.0, 0.95e-6, 1.0, 1000, 1, 100.0, 0}, STALL_NONE, true);
    expect_end((course){0.0, 0.95e-6, 1.0, 1001, 1, 100.0, 0}, STALL_NONE, false);
    expect_end((course){0.0, 1.05e-6, 1.0, 1000, 1, 100.0, 0}, STALL_NONE, false);
    expect_end((course){0.9, 0.95 * 0.9e-6, 1.0, 1000, 1, 100.0, 0}, STALL_NONE, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_and_fro),        cmocka_unit_test(test_held_by_rejections),
        cmocka_unit_test(test_slow_is_no_stall),  cmocka_unit_test(test_unstable),
        cmocka_unit_test(test_limits_of_sliding), cmocka_unit_test(test_limits_of_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
