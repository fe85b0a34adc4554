/* Event finder on synthetic steps with known crossings: arming, order, direction, double crossings,
 * exact zeros, failures; forward and backward. */
#include "control/events.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 4 };

typedef double (*scalar)(double t);

/* A problem whose g_i(t) are plain functions of y = t (y' = 1), times `mirror` for runs backward.
 */
typedef struct bench {
    scalar g[MOST];
    double mirror; /* g_i is called with mirror * t */
    int fail_after, fail_code;
    bool interpolant_fails;
    int calls;
    dae_event events[MOST];
    dae_problem problem;
    dae_stats stats;
    evaluator eval;
    event_finder *finder;
} bench;

static int bench_events(double t, const double *y, const double *yp, double *g, void *user)
{
    bench *b = user;
    assert_true(y[0] == t && yp[0] == 1.0);
    for (int i = 0; i < b->problem.form.event_count; i++) g[i] = b->g[i](b->mirror * y[0]);
    if (++b->calls == b->fail_after) {
        if (b->fail_code != 0) return b->fail_code;
        g[0] = NAN;
    }
    return 0;
}

static eval_status line(void *context, double t, double *y, double *yp)
{
    bench *b = context;
    if (b->interpolant_fails) return EVAL_STOP;
    y[0] = t;
    yp[0] = 1.0;
    return EVAL_OK;
}

static void bench_open(bench *b, int count, double mirror, double tolerance)
{
    b->mirror = mirror;
    b->problem.form =
        (dae_residual){.n = 1, .event_count = count, .event_function = bench_events, .user = b};
    b->problem.form.events = b->events;
    b->eval = (evaluator){.problem = &b->problem, .stats = &b->stats};
    assert_int_equal(event_finder_new(&b->finder, &b->eval, tolerance, NULL), DAE_OK);
}

static void bench_start(bench *b, double t)
{
    assert_int_equal(event_finder_start(b->finder, t, &t, &(double){1.0}), EVAL_OK);
}

/* Search up to `to` (of the mirrored time); true if something was found, at *when. */
static bool bench_search(bench *b, double to, double *when)
{
    bool found;
    double at = NAN;
    assert_int_equal(event_finder_search(b->finder, line, b, b->mirror * to, &found, &at), EVAL_OK);
    *when = b->mirror * at;
    return found;
}

static void expect_find(bench *b, double to, double time, const int *flags)
{
    double when;
    assert_true(bench_search(b, to, &when));
    if (!(fabs(when - time) <= 1e-12 * fmax(1.0, fabs(time))))
        fail_msg("%.17g, not %.17g", when, time);
    for (int i = 0; i < b->problem.form.event_count; i++)
        assert_int_equal(event_finder_flags(b->finder)[i], flags[i]);
}

static void expect_none(bench *b, double to)
{
    double when;
    if (bench_search(b, to, &when)) fail_msg("found at %.17g", when);
}

#define FLAGS(...) ((const int[MOST]){__VA_ARGS__})

/* Run a case with time forward and mirrored. */
#define BOTH_WAYS(name)                                                                            \
    static void name(void **unused)                                                                \
    {                                                                                              \
        (void)unused;                                                                              \
        name##_case(1.0);                                                                          \
        name##_case(-1.0);                                                                         \
    }

/* ------------------------------------------------------------------------------------------- */

static double rising(double t)
{
    return t * t * t - 0.008;
} /* zero at 0.2 */
static double falling(double t)
{
    return exp(-t) - 0.5;
} /* ln 2 */
static double cosine(double t)
{
    return cos(t);
}

static void simple_case(double mirror)
{
    bench b = {.g = {rising}};
    bench_open(&b, 1, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_none(&b, 0.1);
    expect_find(&b, 0.5, 0.2, FLAGS(+1));
    expect_none(&b, 0.5);
    expect_none(&b, 5.0);
    assert_int_equal(b.stats.events, 1);
    assert_int_equal(b.stats.event_evaluations, b.calls);
    event_finder_free(b.finder);
}
BOTH_WAYS(simple)

static void order_case(double mirror)
{
    bench b = {.g = {cosine, falling, rising}};
    bench_open(&b, 3, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_find(&b, 3.0, 0.2, FLAGS(0, 0, +1));
    expect_find(&b, 3.0, log(2.0), FLAGS(0, -1, 0));
    expect_find(&b, 3.0, acos(0.0), FLAGS(-1, 0, 0));
    expect_none(&b, 3.0);
    expect_find(&b, 6.0, 3.0 * acos(0.0), FLAGS(+1, 0, 0));
    event_finder_free(b.finder);
}
BOTH_WAYS(order)

static void direction_case(double mirror)
{
    bench b = {.g = {cosine, cosine, cosine},
               .events = {{.direction = +1}, {.direction = -1, .terminal = true}, {0}}};
    bench_open(&b, 3, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_find(&b, 2.5, acos(0.0), FLAGS(0, -1, -1));
    assert_true(event_finder_terminal(b.finder));
    expect_find(&b, 5.0, 3.0 * acos(0.0), FLAGS(+1, 0, +1));
    assert_false(event_finder_terminal(b.finder));
    expect_none(&b, 5.0);
    assert_int_equal(b.stats.events, 4);
    event_finder_free(b.finder);
}
BOTH_WAYS(direction)

/* No array of events: both directions, none terminal. */
static void no_descriptions(void **unused)
{
    (void)unused;
    bench b = {.g = {cosine}};
    bench_open(&b, 1, 1.0, 0.0);
    b.problem.form.events = NULL;
    bench_start(&b, 0.0);
    expect_find(&b, 5.0, acos(0.0), FLAGS(-1));
    expect_find(&b, 5.0, 3.0 * acos(0.0), FLAGS(+1));
    assert_false(event_finder_terminal(b.finder));
    event_finder_free(b.finder);
}

/* ------------------------------------------------------------------------------------------- */

static double starts_zero(double t)
{
    return sin(t);
}
static double starts_zero_slowly(double t)
{
    return t * t * (0.7 - t);
}
static double always_zero(double t)
{
    return 0.0 * t;
}
static double zero_then_leaves(double t)
{
    return t < 1.0 ? 0.0 : (t - 1.0) * (t - 1.75);
}
static double near_zero(double t)
{
    return sin(t) - 1e-17;
}

static void start_at_zero_case(double mirror)
{
    bench b = {.g = {starts_zero, always_zero, starts_zero_slowly, near_zero}};
    bench_open(&b, 4, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_none(&b, 0.01);
    expect_find(&b, 2.0, 0.7, FLAGS(0, 0, -1, 0));
    expect_find(&b, 4.0, acos(-1.0), FLAGS(-1, 0, 0, -1));
    expect_none(&b, 6.0);
    event_finder_free(b.finder);
}
BOTH_WAYS(start_at_zero)

/* Starts at zero, leaves it, and crosses long before the first sample point of the step. */
static double early(double t)
{
    return t * (1e-3 - t);
}

static void zero_then_crossing_soon_case(double mirror)
{
    bench b = {.g = {early}};
    bench_open(&b, 1, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_find(&b, 1.0, 1e-3, FLAGS(-1));
    expect_none(&b, 1.0);
    event_finder_free(b.finder);
}
BOTH_WAYS(zero_then_crossing_soon)

static void stays_zero_then_returns_case(double mirror)
{
    bench b = {.g = {zero_then_leaves, falling}};
    bench_open(&b, 2, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_find(&b, 0.9, log(2.0), FLAGS(0, -1));
    expect_none(&b, 0.9);
    expect_none(&b, 1.5);
    expect_find(&b, 2.0, 1.75, FLAGS(+1, 0));
    expect_none(&b, 3.0);
    event_finder_free(b.finder);
}
BOTH_WAYS(stays_zero_then_returns)

/* ------------------------------------------------------------------------------------------- */

/* Twice in one step, 0.01 apart. */
static double twice(double t)
{
    return (t - 0.62) * (t - 0.63);
}
/* Not a polynomial, 0.02 apart: 1 - 1e-4 below its minimum. */
static double cosine_dip(double t)
{
    return cos(3.0 * t) + cos(0.03);
}
static double kink(double t)
{
    return fabs(t - 0.4321) - 0.01;
}
static double kinked_late(double t)
{
    return fabs(t - 0.97) - 0.002;
}
static double four_times(double t)
{
    return (t - 0.1) * (t - 0.15) * (t - 0.2) * (t - 0.96);
}

static void met_twice_case(double mirror)
{
    bench b = {.g = {twice}};
    bench_open(&b, 1, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_find(&b, 1.0, 0.62, FLAGS(-1));
    expect_find(&b, 1.0, 0.63, FLAGS(+1));
    expect_none(&b, 1.0);
    event_finder_free(b.finder);
}
BOTH_WAYS(met_twice)

static void met_twice_unlike_polynomials_case(double mirror)
{
    const double pi = acos(-1.0);
    bench b = {.g = {cosine_dip, kink, kinked_late}};
    bench_open(&b, 3, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_find(&b, 1.5, 0.4221, FLAGS(0, -1, 0));
    expect_find(&b, 1.5, 0.4421, FLAGS(0, +1, 0));
    expect_find(&b, 1.5, 0.968, FLAGS(0, 0, -1));
    expect_find(&b, 1.5, 0.972, FLAGS(0, 0, +1));
    expect_find(&b, 1.5, (pi - 0.03) / 3.0, FLAGS(-1, 0, 0));
    expect_find(&b, 1.5, (pi + 0.03) / 3.0, FLAGS(+1, 0, 0));
    expect_none(&b, 1.5);
    event_finder_free(b.finder);
}
BOTH_WAYS(met_twice_unlike_polynomials)

/* Only rising crossings are asked for; the falling ones between must still be seen. */
static void met_often_one_direction_case(double mirror)
{
    bench b = {.g = {four_times}, .events = {{.direction = +1}}};
    bench_open(&b, 1, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_find(&b, 1.0, 0.15, FLAGS(+1));
    expect_find(&b, 1.0, 0.96, FLAGS(+1));
    expect_none(&b, 1.0);
    event_finder_free(b.finder);
}
BOTH_WAYS(met_often_one_direction)

/* A touch is no crossing, wherever it lies; g itself dips below zero by rounding here. */
static double touch(double t)
{
    return (t - 0.3) * (t - 0.3);
}
static double rounded_touch(double t)
{
    return 0.09 - 0.6 * t + t * t;
}
static double touch_from_below(double t)
{
    return sin(t) - 1.0;
}

static void touching_case(double mirror)
{
    bench b = {.g = {touch, rounded_touch, touch_from_below}};
    bench_open(&b, 3, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_none(&b, 1.0);
    expect_none(&b, 2.1);
    assert_true(b.calls < 80);
    event_finder_free(b.finder);
}
BOTH_WAYS(touching)

/* ------------------------------------------------------------------------------------------- */

static double unit(double t)
{
    return t - 1.0;
}
static double unit_reversed(double t)
{
    return 1.0 - t * t;
}
static double unit_touch(double t)
{
    return (t - 1.0) * (t - 1.0);
}
static double vanishes(double t)
{
    return fmax(0.0, 1.0 - t);
}

/* Zero exactly at the end of a step: once, there, whatever follows. */
static void zero_at_step_end_case(double mirror)
{
    bench b = {.g = {unit, unit_reversed}};
    bench_open(&b, 2, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_find(&b, 1.0, 1.0, FLAGS(+1, -1));
    expect_none(&b, 1.0);
    expect_none(&b, 1.5);
    expect_none(&b, 2.5);
    assert_int_equal(b.stats.events, 2);
    event_finder_free(b.finder);
}
BOTH_WAYS(zero_at_step_end)

static void touch_at_step_end_case(double mirror)
{
    bench b = {.g = {unit_touch}};
    bench_open(&b, 1, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_find(&b, 1.0, 1.0, FLAGS(-1));
    expect_none(&b, 1.0);
    expect_none(&b, 2.0);
    event_finder_free(b.finder);
}
BOTH_WAYS(touch_at_step_end)

/* Zero at the end of a step in a direction not asked for; what comes later is seen. */
static double parabola(double t)
{
    return (t - 1.0) * (3.0 - t);
}

static void unwanted_zero_at_step_end_case(double mirror)
{
    bench b = {.g = {parabola}, .events = {{.direction = -1}}};
    bench_open(&b, 1, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_none(&b, 1.0);
    expect_find(&b, 4.0, 3.0, FLAGS(-1));
    expect_none(&b, 4.0);
    event_finder_free(b.finder);
}
BOTH_WAYS(unwanted_zero_at_step_end)

static void becomes_zero_case(double mirror)
{
    bench b = {.g = {vanishes}};
    bench_open(&b, 1, mirror, 0.0);
    bench_start(&b, 0.0);
    expect_find(&b, 1.7, 1.0, FLAGS(-1));
    expect_none(&b, 1.7);
    expect_none(&b, 3.0);
    event_finder_free(b.finder);
}
BOTH_WAYS(becomes_zero)

/* The same time by different roundings: one find with both flags. */
static double third(double t)
{
    return 3.0 * t - 1.0;
}
static double also_third(double t)
{
    return exp(-t) - exp(-1.0 / 3.0);
}

static void simultaneous_case(double mirror)
{
    for (int k = 0; k < 50; k++) {
        bench b = {.g = {third, also_third, cosine}};
        bench_open(&b, 3, mirror, 0.0);
        bench_start(&b, 0.0);
        double to = 0.4 + 0.013 * k;
        expect_find(&b, to, 1.0 / 3.0, FLAGS(+1, -1, 0));
        expect_none(&b, to);
        event_finder_free(b.finder);
    }
}
BOTH_WAYS(simultaneous)

/* ------------------------------------------------------------------------------------------- */

/* The time found is on the far side, so that a start there finds nothing again; and a component
 * which turns back at once, as in a bounce, is not met at its own overshoot. */
static double turns_back(double t)
{
    return fabs(t - 0.25 + 1e-14) - 1e-14;
}

static void restart_case(double mirror)
{
    for (int k = 0; k < 40; k++) {
        bench b = {.g = {rising}};
        bench_open(&b, 1, mirror, k % 2 ? 0.0 : 1e-5);
        bench_start(&b, 0.0);
        double to = 0.21 + 0.02 * k, when;
        assert_true(bench_search(&b, to, &when));
        assert_true(when >= 0.2 - 1e-16 && when <= 0.2 + 1e-5 * fmax(1.0, to));
        bench_start(&b, mirror * when);
        expect_none(&b, to);
        event_finder_free(b.finder);
    }
}
BOTH_WAYS(restart)

static double flip_time, flip_sign;
static double bounce(double t)
{
    double slope = t > flip_time ? -flip_sign : 1.0;
    double overshoot = flip_time - 0.25;
    return t > flip_time ? overshoot + 0.3 * slope * (t - flip_time) : t - 0.25;
}

static void bounce_back_case(double mirror)
{
    for (int k = 0; k < 40; k++) {
        bench b = {.g = {bounce}};
        bench_open(&b, 1, mirror, k % 2 ? 0.0 : 1e-4);
        flip_time = 100.0;
        flip_sign = 1.0;
        bench_start(&b, 0.0);
        double when;
        assert_true(bench_search(&b, 0.3 + 0.01 * k, &when));
        flip_time = when;
        bench_start(&b, mirror * when);
        expect_none(&b, when + 1e-2);
        expect_none(&b, 2.0);
        event_finder_free(b.finder);
    }
}
BOTH_WAYS(bounce_back)

static void crossing_within_tolerance_of_start(void **unused)
{
    (void)unused;
    bench b = {.g = {turns_back}};
    bench_open(&b, 1, 1.0, 0.0);
    bench_start(&b, 0.25 - 1e-15); /* crosses 1e-15 later: a zero at the start */
    expect_none(&b, 0.6);
    event_finder_free(b.finder);
}

/* Tolerances are relative to max(|t|, |h|). */
static double far_away(double t)
{
    return t - 1e6 - 1.0 / 3.0;
}

static void tolerance_is_relative(void **unused)
{
    (void)unused;
    bench b = {.g = {far_away}};
    bench_open(&b, 1, 1.0, 0.0);
    bench_start(&b, 1e6);
    double when;
    assert_true(bench_search(&b, 1e6 + 1.0, &when));
    double late = when - (1e6 + 1.0 / 3.0);
    assert_true(late >= 0.0 && late <= 100.0 * DBL_EPSILON * (1e6 + 1.0));
    event_finder_free(b.finder);
    /* two times are each off by the tolerance at most: beyond twice that they differ */
    const double tolerance = 1e-9;
    bench_open(&b, 1, 1.0, tolerance);
    double apart = event_finder_resolution(b.finder, 1e6, 1.0);
    assert_true(apart > tolerance * 1e6 && apart < 3.0 * tolerance * 1e6);
    apart = event_finder_resolution(b.finder, 1.0, -1e6);
    assert_true(apart > tolerance * 1e6 && apart < 3.0 * tolerance * 1e6);
    event_finder_free(b.finder);
    event_finder *none;
    dae_diag diag = {0};
    assert_int_equal(event_finder_new(&none, &b.eval, -1.0, &diag), DAE_ERR_ARGUMENT);
    assert_null(none);
    assert_non_null(strstr(diag.text, "event_tolerance"));
    assert_int_equal(event_finder_new(&none, &b.eval, NAN, NULL), DAE_ERR_ARGUMENT);
}

/* ------------------------------------------------------------------------------------------- */

/* Every evaluation in turn fails; the status comes back, and a second try finds the event. */
static void failures(void **unused)
{
    (void)unused;
    static const int codes[3] = {3, -2, 0};
    for (int c = 0; c < 3; c++) {
        for (int k = 1; k < 14; k++) {
            bench b = {.g = {falling}};
            bench_open(&b, 1, 1.0, 0.0);
            b.fail_after = k;
            b.fail_code = codes[c];
            eval_status wanted = codes[c] < 0 ? EVAL_STOP : EVAL_RETRY;
            double zero = 0.0, one = 1.0, when;
            eval_status status = event_finder_start(b.finder, 0.0, &zero, &one);
            bool found;
            if (k == 1) {
                assert_int_equal(status, wanted);
                bench_start(&b, 0.0);
            } else {
                status = event_finder_search(b.finder, line, &b, 1.5, &found, &when);
                if (status == EVAL_OK) assert_true(b.calls < k);
                if (status == EVAL_OK) {
                    event_finder_free(b.finder);
                    continue;
                }
                assert_int_equal(status, wanted);
                assert_false(found);
                assert_string_equal(b.eval.failure.callback, "event");
            }
            expect_find(&b, 1.1, log(2.0), FLAGS(-1));
            event_finder_free(b.finder);
        }
    }
}

static void interpolant_failure(void **unused)
{
    (void)unused;
    bench b = {.g = {falling}};
    bench_open(&b, 1, 1.0, 0.0);
    bench_start(&b, 0.0);
    b.interpolant_fails = true;
    bool found = true;
    double when;
    assert_int_equal(event_finder_search(b.finder, line, &b, 1.0, &found, &when), EVAL_STOP);
    assert_false(found);
    event_finder_free(b.finder);
}

static void no_events_at_all(void **unused)
{
    (void)unused;
    bench b = {.g = {0}};
    bench_open(&b, 0, 1.0, 0.0);
    bench_start(&b, 0.0);
    expect_none(&b, 1.0);
    assert_int_equal(b.calls, 0);
    event_finder_free(b.finder);
    event_finder_free(NULL);
}

/* What a step costs: five evaluations where nothing happens, and few more to locate. */
static double far_from_zero(double t)
{
    return 2.0 + sin(t);
}

static void cost(void **unused)
{
    (void)unused;
    bench b = {.g = {far_from_zero, falling}};
    bench_open(&b, 2, 1.0, 0.0);
    bench_start(&b, 0.0);
    expect_none(&b, 0.5);
    assert_int_equal(b.calls, 1 + 5);
    expect_find(&b, 1.0, log(2.0), FLAGS(0, -1));
    assert_true(b.calls <= 1 + 5 + 5 + 11);
    event_finder_free(b.finder);
}

/* ------------------------------------------------------------------------------------------- */

static uint64_t random_state = 20260707;
static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

static double roots[3];
static double cubic(double t)
{
    return (t - roots[0]) * (t - roots[1]) * (t - roots[2]);
}
static double warped(double t)
{
    return sin(cubic(t)) * exp(2.0 * t);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Random cubics, and a smooth function of them, in one step: all roots in order. */
static double detection_rate(scalar g, int runs, double closest)
{
    int present = 0, hit = 0;
    for (int run = 0; run < runs; run++) {
        double mirror = run % 2 ? 1.0 : -1.0;
        do {
            for (int k = 0; k < 3; k++) roots[k] = 1.4 * uniform() - 0.2;
            qsort(roots, 3, sizeof *roots, ascending);
        } while (roots[1] - roots[0] < closest || roots[2] - roots[1] < closest);
        bench b = {.g = {g}};
        bench_open(&b, 1, mirror, 0.0);
        bench_start(&b, 0.0);
        int next = 0;
        double when;
        while (next < 3 && roots[next] <= 0.0) next++;
        for (; next < 3 && roots[next] <= 1.0; next++) {
            present++;
            if (!bench_search(&b, 1.0, &when) || fabs(when - roots[next]) > 1e-12) break;
            hit++;
        }
        while (++next < 3)
            if (roots[next] <= 1.0) present++;
        if (hit == present) expect_none(&b, 1.0);
        event_finder_free(b.finder);
    }
    return (double)hit / present;
}

static void random_cubics(void **unused)
{
    (void)unused;
    double wide = detection_rate(cubic, 4000, 0.05), close = detection_rate(cubic, 4000, 1e-3);
    double smooth = detection_rate(warped, 4000, 0.05);
    double smooth_close = detection_rate(warped, 4000, 1e-2);
    print_message(
        "detected: cubics %.5f, cubics h/1000 apart %.5f, smooth %.5f, smooth h/100 apart "
        "%.5f\n",
        wide, close, smooth, smooth_close);
    assert_true(wide == 1.0);
    assert_true(close == 1.0);
    assert_true(smooth == 1.0);
    assert_true(smooth_close > 0.999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple),
        cmocka_unit_test(order),
        cmocka_unit_test(direction),
        cmocka_unit_test(no_descriptions),
        cmocka_unit_test(start_at_zero),
        cmocka_unit_test(zero_then_crossing_soon),
        cmocka_unit_test(stays_zero_then_returns),
        cmocka_unit_test(met_twice),
        cmocka_unit_test(met_twice_unlike_polynomials),
        cmocka_unit_test(met_often_one_direction),
        cmocka_unit_test(touching),
        cmocka_unit_test(zero_at_step_end),
        cmocka_unit_test(touch_at_step_end),
        cmocka_unit_test(unwanted_zero_at_step_end),
        cmocka_unit_test(becomes_zero),
        cmocka_unit_test(simultaneous),
        cmocka_unit_test(restart),
        cmocka_unit_test(bounce_back),
        cmocka_unit_test(crossing_within_tolerance_of_start),
        cmocka_unit_test(tolerance_is_relative),
        cmocka_unit_test(failures),
        cmocka_unit_test(interpolant_failure),
        cmocka_unit_test(no_events_at_all),
        cmocka_unit_test(cost),
        cmocka_unit_test(random_cubics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
