/* Events through the public interface, on problems whose event times are known exactly. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

#define PI 3.14159265358979323846

enum { MOST = 4, MOST_N = 5 };

/* What item 8 of the requirements asks for, absolute or relative to |t|. */
static const double TIME_ACCURACY = 1e-10;

/* ---- a stage: one problem, one solver, and what its callbacks share ------------------------ */

typedef struct stage stage;
typedef void (*event_rule)(const stage *st, double t, const double *y, const double *yp, double *g);

struct stage {
    event_rule g;
    double param[MOST];
    int mode;                     /* which equations hold */
    long event_calls;             /* as the callback counts them */
    int fail_code;                /* returned by g after fail_time, */
    double fail_time, fail_value; /* or put into g[0] if the code is 0 and the time was given */
    dae_problem *problem;
    dae_solver *solver;
};

static int stage_events(double t, const double *y, const double *yp, double *g, void *user)
{
    stage *st = user;
    st->event_calls++;
    st->g(st, t, y, yp, g);
    if (st->fail_time == 0.0 || t < st->fail_time) return 0;
    if (st->fail_code == 0) g[0] = st->fail_value;
    return st->fail_code;
}

static dae_options tight(void)
{
    dae_options options = dae_options_default();
    options.method = "bdf";
    options.rtol = 1e-13;
    options.atol = 1e-13;
    return options;
}

static void stage_open(stage *st, int n, dae_residual_fn f, int count, const dae_event *events,
                       const dae_options *options)
{
    dae_options standard = tight();
    dae_diag diag = {0};
    dae_residual form = {.n = n, .f = f, .user = st, .event_count = count, .events = events};
    if (count > 0) form.event_function = stage_events;
    assert_int_equal(dae_problem_from_residual(&form, &st->problem, &diag), DAE_OK);
    assert_int_equal(dae_solver_new(st->problem, options ? options : &standard, &st->solver, &diag),
                     DAE_OK);
}

static void stage_close(stage *st)
{
    dae_solver_free(st->solver);
    dae_problem_free(st->problem);
}

static void check_time(double t, double exact)
{
    if (fabs(t - exact) <= TIME_ACCURACY * fmax(1.0, fabs(exact))) return;
    print_error("time %.17g, exact %.17g, error %.2e\n", t, exact, t - exact);
    fail();
}

static void check_near(double value, double exact, double tolerance)
{
    if (fabs(value - exact) <= tolerance) return;
    print_error("value %.17g, exact %.17g, error %.2e\n", value, exact, value - exact);
    fail();
}

/* Run towards tend; the next event must be component i alone, at `exact`, in this direction. */
static void expect_event(stage *st, double tend, int count, int i, int flag, double exact)
{
    double y[MOST_N];
    assert_int_equal(dae_solver_run(st->solver, tend, y, NULL), DAE_EVENT);
    check_time(dae_solver_time(st->solver), exact);
    for (int k = 0; k < count; k++)
        assert_int_equal(dae_solver_events(st->solver)[k], k == i ? flag : 0);
}

static void expect_end(stage *st, double tend)
{
    assert_int_equal(dae_solver_run(st->solver, tend, NULL, NULL), DAE_OK);
    assert_true(dae_solver_time(st->solver) == tend);
}

/* ---- problems ------------------------------------------------------------------------------ */

/* x' = v, v' = -w, 0 = w - x: (sin t, cos t, sin t) */
static int oscillator(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[1];
    f[1] = yp[1] + y[2];
    f[2] = y[2] - y[0];
    return 0;
}

static void start_oscillator(stage *st, double t0)
{
    const double y0[3] = {sin(t0), cos(t0), sin(t0)}, yp0[3] = {cos(t0), -sin(t0), cos(t0)};
    assert_int_equal(dae_solver_start(st->solver, t0, y0, yp0), DAE_OK);
}

/* y' = 1, 0 = z - 2y: y = t. The steps grow as fast as they may, past many events at once. */
static int line(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - 1.0;
    f[1] = y[1] - 2.0 * y[0];
    return 0;
}

/* Start the line with one long step over [t0, t0 + h]. */
static void open_line(stage *st, int count, const dae_event *events, double t0, double h)
{
    dae_options options = tight();
    options.initial_step = h;
    stage_open(st, 2, line, count, events, &options);
    const double y0[2] = {t0, 2.0 * t0}, yp0[2] = {1.0, 2.0};
    assert_int_equal(dae_solver_start(st->solver, t0, y0, yp0), DAE_OK);
}

static void g_x(const stage *st, double t, const double *y, const double *yp, double *g)
{
    (void)st, (void)t, (void)yp;
    g[0] = y[0];
}

/* ---- direction ----------------------------------------------------------------------------- */

static void test_both_directions(void **state)
{
    (void)state;
    stage st = {.g = g_x};
    stage_open(&st, 3, oscillator, 1, NULL, NULL); /* no table: both directions, not terminal */
    start_oscillator(&st, 0.5);
    for (int k = 1; k <= 6; k++) expect_event(&st, 20.0, 1, 0, k % 2 ? -1 : 1, k * PI);
    expect_end(&st, 20.0);
    assert_int_equal(dae_solver_stats(st.solver)->events, 6);
    assert_int_equal(dae_solver_stats(st.solver)->event_evaluations, st.event_calls);
    assert_int_equal(dae_solver_stats(st.solver)->starts, 1);
    stage_close(&st);
}

static void run_direction(int direction)
{
    stage st = {.g = g_x};
    const dae_event event = {.name = "crossing", .direction = direction};
    stage_open(&st, 3, oscillator, 1, &event, NULL);
    start_oscillator(&st, 0.5);
    for (int k = 0; k < 3; k++)
        expect_event(&st, 20.0, 1, 0, direction, (2 * k + (direction > 0 ? 2 : 1)) * PI);
    expect_end(&st, 20.0);
    stage_close(&st);
}

static void test_rising_only(void **state)
{
    (void)state;
    run_direction(1);
}

static void test_falling_only(void **state)
{
    (void)state;
    run_direction(-1);
}

/* From 0.5 down to -10: zeros at 0, -pi, .. Flags are seen in the direction of integration. */
static void test_backward(void **state)
{
    (void)state;
    for (int direction = -1; direction <= 1; direction++) {
        stage st = {.g = g_x};
        const dae_event event = {.direction = direction};
        stage_open(&st, 3, oscillator, 1, &event, NULL);
        start_oscillator(&st, 0.5);
        for (int k = 0; k <= 3; k++) {
            int flag = k % 2 ? 1 : -1;
            if (direction == 0 || flag == direction) expect_event(&st, -10.0, 1, 0, flag, -k * PI);
        }
        expect_end(&st, -10.0);
        stage_close(&st);
    }
}

/* ---- what g may depend on ---------------------------------------------------------------------
 */

static void g_derivative(const stage *st, double t, const double *y, const double *yp, double *g)
{
    (void)st, (void)t, (void)y;
    g[0] = yp[0];
}

/* x' = cos t through y', in both kinds of dense output. */
static void test_function_of_derivative(void **state)
{
    (void)state;
    for (int dense = 0; dense <= 1; dense++) {
        stage st = {.g = g_derivative};
        dae_options options = tight();
        options.dense = dense ? DAE_DENSE_SMOOTH : DAE_DENSE_CONTINUOUS;
        stage_open(&st, 3, oscillator, 1, NULL, &options);
        start_oscillator(&st, 0.5);
        for (int k = 0; k <= 2; k++) expect_event(&st, 10.0, 1, 0, k % 2 ? 1 : -1, (k + 0.5) * PI);
        expect_end(&st, 10.0);
        stage_close(&st);
    }
}

/* g = (t - 2, z - sin 1): time itself, and an algebraic variable */
static void g_time_and_algebraic(const stage *st, double t, const double *y, const double *yp,
                                 double *g)
{
    (void)st, (void)yp;
    g[0] = t - 2.0;
    g[1] = y[2] - sin(1.0);
}

static void test_time_and_algebraic(void **state)
{
    (void)state;
    stage st = {.g = g_time_and_algebraic};
    stage_open(&st, 3, oscillator, 2, NULL, NULL);
    start_oscillator(&st, 0.5);
    expect_event(&st, 6.0, 2, 1, 1, 1.0);
    expect_event(&st, 6.0, 2, 0, 1, 2.0);
    expect_event(&st, 6.0, 2, 1, -1, PI - 1.0);
    expect_end(&st, 6.0);
    stage_close(&st);
}

/* ---- terminal ----------------------------------------------------------------------------------
 */

/* The loop ends with DAE_OK at the event, stays there, and a restart goes on. */
static void test_terminal(void **state)
{
    (void)state;
    stage st = {.g = g_x};
    const dae_event event = {.direction = -1, .terminal = true};
    stage_open(&st, 3, oscillator, 1, &event, NULL);
    start_oscillator(&st, 0.5);
    dae_status status;
    int events = 0;
    while ((status = dae_solver_step(st.solver, 20.0)) > 0) events += status == DAE_EVENT;
    assert_int_equal(status, DAE_OK);
    assert_int_equal(events, 1);
    check_time(dae_solver_time(st.solver), PI);
    double y[3], yp[3], t = dae_solver_time(st.solver);
    assert_int_equal(dae_solver_run(st.solver, 20.0, y, yp), DAE_OK);
    assert_true(dae_solver_time(st.solver) == t);
    assert_int_equal(dae_solver_events(st.solver)[0], -1);
    check_near(y[0], 0.0, 1e-10);
    check_near(y[1], -1.0, 1e-10);
    check_near(yp[0], -1.0, 1e-9);
    assert_int_equal(dae_solver_restart(st.solver, NULL, NULL), DAE_OK);
    expect_event(&st, 20.0, 1, 0, -1, 3 * PI);
    assert_int_equal(dae_solver_run(st.solver, 20.0, NULL, NULL), DAE_OK);
    check_time(dae_solver_time(st.solver), 3 * PI);
    stage_close(&st);
}

/* g = (x, w): the same crossing; only the second event is terminal. */
static void g_x_and_w(const stage *st, double t, const double *y, const double *yp, double *g)
{
    (void)st, (void)t, (void)yp;
    g[0] = y[0] - 0.5;
    g[1] = -y[0] + 0.5;
}

static void test_terminal_with_company(void **state)
{
    (void)state;
    stage st = {.g = g_x_and_w};
    const dae_event events[2] = {{.direction = 0}, {.direction = 1, .terminal = true}};
    stage_open(&st, 3, oscillator, 2, events, NULL);
    start_oscillator(&st, 0.0);
    expect_event(&st, 20.0, 2, 0, 1, PI / 6); /* the terminal one falls here: unwanted */
    assert_int_equal(dae_solver_run(st.solver, 20.0, NULL, NULL), DAE_EVENT);
    check_time(dae_solver_time(st.solver), 5 * PI / 6);
    assert_int_equal(dae_solver_events(st.solver)[0], -1);
    assert_int_equal(dae_solver_events(st.solver)[1], 1);
    assert_int_equal(dae_solver_run(st.solver, 20.0, NULL, NULL), DAE_OK);
    check_time(dae_solver_time(st.solver), 5 * PI / 6);
    stage_close(&st);
}

/* ---- several in one step ----------------------------------------------------------------------
 */

/* g_i = +-(y - p_i), falling for odd i */
static void g_levels(const stage *st, double t, const double *y, const double *yp, double *g)
{
    (void)t, (void)yp;
    for (int i = 0; i < MOST; i++) g[i] = (i % 2 ? -1.0 : 1.0) * (y[0] - st->param[i]);
}

static void check_one_step(const stage *st, double from, double to)
{
    double start, end;
    dae_solver_last_step(st->solver, &start, &end);
    assert_true(fmin(start, end) <= from && fmax(start, end) >= to);
    assert_int_equal(dae_solver_stats(st->solver)->steps, 1);
}

/* Four different times in the first step come in order, forward and backward. */
static void test_several_in_one_step(void **state)
{
    (void)state;
    const double p[MOST] = {0.8, 0.3, 0.300001, 0.55};
    const int order[MOST] = {1, 2, 3, 0};
    for (int sign = 1; sign >= -1; sign -= 2) {
        stage st = {.g = g_levels};
        for (int i = 0; i < MOST; i++) st.param[i] = sign * p[i];
        open_line(&st, MOST, NULL, 0.0, sign * 1.0);
        for (int k = 0; k < MOST; k++) {
            int i = order[k];
            expect_event(&st, sign * 5.0, MOST, i, sign * (i % 2 ? -1 : 1), sign * p[i]);
            check_one_step(&st, fmin(0.0, sign), fmax(0.0, sign));
        }
        expect_end(&st, sign * 5.0);
        stage_close(&st);
    }
}

/* Four components that meet at one time are flagged together; one of them is not asked for. */
static void test_simultaneous(void **state)
{
    (void)state;
    stage st = {.g = g_levels, .param = {0.7, 0.7, 0.7, 0.7}};
    const dae_event events[MOST] = {{.direction = 0}, {.direction = -1}, {.direction = -1}, {0}};
    open_line(&st, MOST, events, 0.0, 1.0);
    assert_int_equal(dae_solver_run(st.solver, 5.0, NULL, NULL), DAE_EVENT);
    check_time(dae_solver_time(st.solver), 0.7);
    const int flags[MOST] = {1, -1, 0, -1};
    assert_memory_equal(dae_solver_events(st.solver), flags, sizeof flags);
    assert_int_equal(dae_solver_stats(st.solver)->events, 3);
    expect_end(&st, 5.0);
    stage_close(&st);
}

/* x = 1/2 and w = x + rounding at the same time, and x' + v = sqrt 3 there, too */
static void g_together(const stage *st, double t, const double *y, const double *yp, double *g)
{
    (void)st, (void)t, (void)yp;
    g[0] = y[0] - sin(1.0);
    g[1] = y[0] * y[0] * y[0] - sin(1.0) * sin(1.0) * sin(1.0);
    g[2] = y[2] / sin(1.0) - 1.0;
}

static void test_simultaneous_up_to_rounding(void **state)
{
    (void)state;
    stage st = {.g = g_together};
    stage_open(&st, 3, oscillator, 3, NULL, NULL);
    start_oscillator(&st, 0.0);
    const double exact[2] = {1.0, PI - 1.0};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(dae_solver_run(st.solver, 3.0, NULL, NULL), DAE_EVENT);
        check_time(dae_solver_time(st.solver), exact[k]);
        for (int i = 0; i < 3; i++)
            assert_int_equal(dae_solver_events(st.solver)[i], k == 0 ? 1 : -1);
    }
    expect_end(&st, 3.0);
    stage_close(&st);
}

/* g = (y - p0)(y - p1): two zeros, and the same sign at both ends of the step */
static void g_parabola(const stage *st, double t, const double *y, const double *yp, double *g)
{
    (void)t, (void)yp;
    g[0] = (y[0] - st->param[0]) * (y[0] - st->param[1]);
}

/* One event met twice within one step, far apart and close together. */
static void test_met_twice_in_one_step(void **state)
{
    (void)state;
    const double gap[] = {0.5, 1e-2, 1e-4};
    for (size_t k = 0; k < sizeof gap / sizeof gap[0]; k++) {
        stage st = {.g = g_parabola, .param = {0.31, 0.31 + gap[k]}};
        open_line(&st, 1, NULL, 0.0, 1.0);
        expect_event(&st, 5.0, 1, 0, -1, st.param[0]);
        expect_event(&st, 5.0, 1, 0, 1, st.param[1]);
        check_one_step(&st, 0.0, 1.0);
        expect_end(&st, 5.0);
        stage_close(&st);
    }
}

/* The same, but only one of the two directions wanted: the other crossing still counts as passed.
 */
static void test_met_twice_one_wanted(void **state)
{
    (void)state;
    for (int direction = -1; direction <= 1; direction += 2) {
        stage st = {.g = g_parabola, .param = {0.31, 0.81}};
        const dae_event event = {.direction = direction};
        open_line(&st, 1, &event, 0.0, 1.0);
        expect_event(&st, 5.0, 1, 0, direction, st.param[direction < 0 ? 0 : 1]);
        expect_end(&st, 5.0);
        stage_close(&st);
    }
}

/* ---- zero at the start, and zero that stays ---------------------------------------------------
 */

/* g = x starts at zero: leaving is no event, coming back is. */
static void test_zero_at_start(void **state)
{
    (void)state;
    for (int sign = 1; sign >= -1; sign -= 2) {
        stage st = {.g = g_x};
        stage_open(&st, 3, oscillator, 1, NULL, NULL);
        start_oscillator(&st, 0.0);
        expect_event(&st, sign * 4.0, 1, 0, -sign, sign * PI);
        expect_end(&st, sign * 4.0);
        stage_close(&st);
    }
}

/* g = (0, y - p1, max(0, y - p2), max(0, p3 - y)) */
static void g_flat(const stage *st, double t, const double *y, const double *yp, double *g)
{
    (void)t, (void)yp;
    g[0] = 0.0;
    g[1] = y[0] - st->param[1];
    g[2] = fmax(0.0, y[0] - st->param[2]);
    g[3] = fmax(0.0, st->param[3] - y[0]);
}

/* One that stays zero is silent and disturbs nobody; leaving zero is silent, too; becoming zero for
 * good is an event. */
static void test_zero_that_stays(void **state)
{
    (void)state;
    stage st = {.g = g_flat, .param = {0.0, 0.4, 0.6, 0.9}};
    open_line(&st, MOST, NULL, 0.0, 0.01);
    expect_event(&st, 5.0, MOST, 1, 1, 0.4);
    expect_event(&st, 5.0, MOST, 3, -1, 0.9);
    expect_end(&st, 5.0);
    assert_int_equal(dae_solver_stats(st.solver)->events, 2);
    stage_close(&st);
}

/* ---- events and output times
 * --------------------------------------------------------------------- */

static void g_clock(const stage *st, double t, const double *y, const double *yp, double *g)
{
    (void)y, (void)yp;
    g[0] = t - st->param[0];
}

/* An event exactly at tend belongs to it, is reported once, and DAE_OK follows. */
static void test_at_tend(void **state)
{
    (void)state;
    stage st = {.g = g_clock, .param = {0.5}};
    open_line(&st, 1, NULL, 0.0, 1.0);
    expect_event(&st, 0.5, 1, 0, 1, 0.5);
    assert_true(dae_solver_time(st.solver) == 0.5);
    expect_end(&st, 0.5);
    expect_end(&st, 5.0);
    assert_int_equal(dae_solver_stats(st.solver)->events, 1);
    stage_close(&st);
}

/* Beyond tend, though inside the step: only when the user gets there. */
static void test_beyond_tend(void **state)
{
    (void)state;
    stage st = {.g = g_clock, .param = {0.5}};
    open_line(&st, 1, NULL, 0.0, 1.0);
    expect_end(&st, 0.4);
    expect_end(&st, 0.49999);
    expect_event(&st, 0.6, 1, 0, 1, 0.5);
    check_one_step(&st, 0.0, 1.0);
    expect_end(&st, 0.6);
    stage_close(&st);
}

/* Going back inside the last step for output meets no event, and none a second time. */
static void test_output_behind_event(void **state)
{
    (void)state;
    stage st = {.g = g_parabola, .param = {0.5, 0.9}};
    double y[2];
    open_line(&st, 1, NULL, 0.0, 1.0);
    expect_event(&st, 0.6, 1, 0, -1, 0.5);
    expect_end(&st, 0.6);
    expect_end(&st, 0.3);
    expect_end(&st, 0.4);
    expect_end(&st, 0.55);
    assert_int_equal(dae_solver_at(st.solver, 0.55, 0, y), DAE_OK);
    check_near(y[0], 0.55, 1e-12);
    expect_event(&st, 2.0, 1, 0, 1, 0.9);
    expect_end(&st, 2.0);
    assert_int_equal(dae_solver_stats(st.solver)->events, 2);
    stage_close(&st);
}

/* The dense output is valid on both sides of an event, and the values handed out are those there.
 */
static void test_values_at_event(void **state)
{
    (void)state;
    stage st = {.g = g_x};
    double y[3], yp[3], at[3], start, end;
    stage_open(&st, 3, oscillator, 1, NULL, NULL);
    start_oscillator(&st, 0.5);
    assert_int_equal(dae_solver_run(st.solver, 20.0, y, yp), DAE_EVENT);
    double t = dae_solver_time(st.solver);
    assert_int_equal(dae_solver_at(st.solver, t, 0, at), DAE_OK);
    assert_memory_equal(at, y, sizeof at);
    assert_int_equal(dae_solver_at(st.solver, t, 1, at), DAE_OK);
    assert_memory_equal(at, yp, sizeof at);
    dae_solver_last_step(st.solver, &start, &end);
    assert_true(start < t && t <= end);
    const double times[3] = {start, 0.5 * (start + t), end};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(dae_solver_at(st.solver, times[k], 0, at), DAE_OK);
        check_near(at[0], sin(times[k]), 1e-10);
    }
    stage_close(&st);
}

/* ---- events leave the integration alone -------------------------------------------------------
 */

/* Final values and statistics with `count` events on the way. */
static dae_stats run_with_events(int count, double y[3])
{
    stage st = {.g = g_x_and_w};
    dae_options options = dae_options_default();
    options.method = "bdf";
    stage_open(&st, 3, oscillator, count, NULL, &options);
    start_oscillator(&st, 0.5);
    dae_status status;
    while ((status = dae_solver_run(st.solver, 30.0, y, NULL)) == DAE_EVENT) {
    }
    assert_int_equal(status, DAE_OK);
    dae_stats stats = *dae_solver_stats(st.solver);
    if (count == 0) assert_null(dae_solver_events(st.solver));
    stage_close(&st);
    return stats;
}

static void test_bit_identical_without_events(void **state)
{
    (void)state;
    double with[3], without[3];
    dae_stats a = run_with_events(2, with), b = run_with_events(0, without);
    assert_memory_equal(with, without, sizeof with);
    assert_int_equal(a.events, 20);
    assert_int_equal(b.events, 0);
    assert_int_equal(a.steps, b.steps);
    assert_int_equal(a.attempts, b.attempts);
    assert_int_equal(a.residuals, b.residuals);
    assert_int_equal(a.factorisations, b.factorisations);
    assert_true(a.h == b.h && a.t == b.t);
}

/* ---- location tolerance -------------------------------------------------------------------------
 */

/* A coarse tolerance is kept, and saves evaluations; the time is never before the crossing. */
static void test_event_tolerance(void **state)
{
    (void)state;
    const double tolerance[2] = {1e-4, 0.0};
    long calls[2];
    for (int k = 0; k < 2; k++) {
        stage st = {.g = g_x};
        dae_options options = tight();
        options.event_tolerance = tolerance[k];
        stage_open(&st, 3, oscillator, 1, NULL, &options);
        start_oscillator(&st, 0.5);
        for (int j = 1; j <= 6; j++) {
            double y[3];
            assert_int_equal(dae_solver_run(st.solver, 20.0, y, NULL), DAE_EVENT);
            double late = dae_solver_time(st.solver) - j * PI;
            assert_true(late >= -TIME_ACCURACY * j * PI);
            assert_true(late <= (tolerance[k] + TIME_ACCURACY) * j * PI);
            assert_true(j % 2 ? y[0] <= 0.0 : y[0] >= 0.0);
        }
        calls[k] = st.event_calls;
        stage_close(&st);
    }
    assert_true(calls[0] < calls[1]);
}

/* ---- restarts at events
 * -------------------------------------------------------------------------- */

enum { HEIGHT, SPEED, ENERGY };
static const double GRAVITY = 9.81, RESTITUTION = 0.8;

static int ball(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[HEIGHT] = yp[HEIGHT] - y[SPEED];
    f[SPEED] = yp[SPEED] + GRAVITY;
    f[ENERGY] = y[ENERGY] - GRAVITY * y[HEIGHT] - 0.5 * y[SPEED] * y[SPEED];
    return 0;
}

/* Impacts of a ball dropped from height 1: sqrt(2/g) (1 + 2 (r + r^2 + ..)). The height is taken as
 * located, without help. */
static void test_bouncing_ball(void **state)
{
    (void)state;
    stage st = {.g = g_x};
    const dae_event event = {.name = "impact", .direction = -1};
    const double y0[3] = {1.0};
    double y[3], fall = sqrt(2.0 / GRAVITY), exact = fall, speed = sqrt(2.0 * GRAVITY);
    stage_open(&st, 3, ball, 1, &event, NULL);
    assert_int_equal(dae_solver_start(st.solver, 0.0, y0, NULL), DAE_OK);
    for (int k = 1; k <= 10; k++) {
        assert_int_equal(dae_solver_run(st.solver, 100.0, y, NULL), DAE_EVENT);
        check_time(dae_solver_time(st.solver), exact);
        check_near(y[SPEED], -speed, 1e-9);
        speed *= RESTITUTION;
        y[SPEED] *= -RESTITUTION;
        assert_int_equal(dae_solver_restart(st.solver, y, NULL), DAE_OK);
        assert_int_equal(dae_solver_at(st.solver, dae_solver_time(st.solver), 0, y), DAE_OK);
        check_near(y[ENERGY], 0.5 * speed * speed, 1e-9);
        exact += 2.0 * fall * pow(RESTITUTION, k);
    }
    assert_int_equal(dae_solver_stats(st.solver)->starts, 11);
    stage_close(&st);
}

/* A capacitor (C = 1) feeds a load that changes at events: R = 2, then R = 1/2, then a constant
 * power 0.01. v' = -i, and for the load v = R i or v i = P; p = v i. */
enum { VOLTAGE, CURRENT, POWER };

static int discharge(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    const stage *st = user;
    f[VOLTAGE] = yp[VOLTAGE] + y[CURRENT];
    if (st->mode == 0) f[CURRENT] = y[VOLTAGE] - 2.0 * y[CURRENT];
    if (st->mode == 1) f[CURRENT] = y[VOLTAGE] - 0.5 * y[CURRENT];
    if (st->mode == 2) f[CURRENT] = y[VOLTAGE] * y[CURRENT] - 0.01;
    f[POWER] = y[POWER] - y[VOLTAGE] * y[CURRENT];
    return 0;
}

static void g_levels_of_voltage(const stage *st, double t, const double *y, const double *yp,
                                double *g)
{
    (void)st, (void)t, (void)yp;
    g[0] = y[VOLTAGE] - 0.5;
    g[1] = y[VOLTAGE] - 0.1;
    g[2] = y[VOLTAGE] - 0.05;
}

/* The algebraic equation changes at the event: restart(NULL, NULL) finds the new current. */
static void test_algebraic_equation_changes(void **state)
{
    (void)state;
    stage st = {.g = g_levels_of_voltage};
    const dae_event events[3] = {{.direction = -1}, {.direction = -1}, {.direction = -1}};
    const double y0[3] = {1.0, 0.5, 0.5};
    stage_open(&st, 3, discharge, 3, events, NULL);
    assert_int_equal(dae_solver_start(st.solver, 0.0, y0, NULL), DAE_OK);
    const double t1 = 2.0 * log(2.0), t2 = t1 + 0.5 * log(5.0);
    const double t3 = t2 + (0.1 * 0.1 - 0.05 * 0.05) / (2.0 * 0.01);
    const double when[3] = {t1, t2, t3}, level[3] = {0.5, 0.1, 0.05}, after[2] = {1.0, 0.1};
    for (int k = 0; k < 3; k++) {
        double y[3], yp[3];
        expect_event(&st, 10.0, 3, k, -1, when[k]);
        if (k == 2) break;
        st.mode = k + 1;
        assert_int_equal(dae_solver_restart(st.solver, NULL, NULL), DAE_OK);
        double t = dae_solver_time(st.solver);
        assert_int_equal(dae_solver_at(st.solver, t, 0, y), DAE_OK);
        assert_int_equal(dae_solver_at(st.solver, t, 1, yp), DAE_OK);
        check_near(y[VOLTAGE], level[k], 1e-10);
        check_near(y[CURRENT], after[k], 1e-9);
        check_near(y[POWER], after[k] * level[k], 1e-9);
        check_near(yp[VOLTAGE], -after[k], 1e-9);
    }
    stage_close(&st);
}

/* Coulomb friction: x' = v and, sliding, v' = -s with speed v0; once v = 0 it sticks: 0 = v. The
 * friction force r = s while sliding, 0 when stuck. */
static int slider(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    const stage *st = user;
    f[0] = yp[0] - y[1];
    f[1] = st->mode == 0 ? yp[1] + y[2] : y[1];
    f[2] = y[2] - (st->mode == 0 ? 3.0 : 0.0);
    return 0;
}

static void g_speed(const stage *st, double t, const double *y, const double *yp, double *g)
{
    (void)t, (void)yp;
    g[0] = st->mode == 0 ? y[1] : 1.0;
}

/* A differential variable turns algebraic at the event. */
static void test_variable_turns_algebraic(void **state)
{
    (void)state;
    stage st = {.g = g_speed};
    const double y0[3] = {0.0, 2.0, 3.0};
    double y[3];
    stage_open(&st, 3, slider, 1, NULL, NULL);
    assert_int_equal(dae_solver_start(st.solver, 0.0, y0, NULL), DAE_OK);
    expect_event(&st, 10.0, 1, 0, -1, 2.0 / 3.0);
    st.mode = 1;
    assert_int_equal(dae_solver_restart(st.solver, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(st.solver, 10.0, y, NULL), DAE_OK);
    check_near(y[0], 2.0 / 3.0, 1e-10);
    check_near(y[1], 0.0, 1e-14);
    check_near(y[2], 0.0, 1e-14);
    stage_close(&st);
}

/* Half-wave rectifier: source sin t, diode of resistance R = 1/4 when conducting, capacitor C = 1
 * with load 2. Unknowns: v of the capacitor, current i and voltage u of the diode. */
static int rectifier(double t, const double *y, const double *yp, double *f, void *user)
{
    const stage *st = user;
    f[0] = yp[0] - y[1] + 0.5 * y[0];
    f[1] = st->mode ? y[2] - 0.25 * y[1] : y[1];
    f[2] = y[2] - sin(t) + y[0];
    return 0;
}

/* Conducting until i falls to 0, blocking until u rises to 0. */
static void g_diode(const stage *st, double t, const double *y, const double *yp, double *g)
{
    (void)t, (void)yp;
    g[0] = st->mode ? y[1] : -y[2];
}

/* v of the rectifier in one mode, from v0 at t0: v' = 4 c sin t - (4 c + 1/2) v, c = 1 or 0 */
static double rectifier_exact(int conducting, double t0, double v0, double t)
{
    if (!conducting) return v0 * exp(-0.5 * (t - t0));
    double a = 4.5, scale = 4.0 / (a * a + 1.0);
    double particular = scale * (a * sin(t) - cos(t));
    return particular + (v0 - scale * (a * sin(t0) - cos(t0))) * exp(-a * (t - t0));
}

/* The time in (t0, t0 + 2 pi) at which sin t - v changes its sign; skips the zero at t0. */
static double rectifier_switch(int conducting, double t0, double v0)
{
    double lo = t0 + 1e-3, hi = lo;
    double sign = conducting ? 1.0 : -1.0;
    while (sign * (sin(hi) - rectifier_exact(conducting, t0, v0, hi)) > 0.0) hi += 1e-3;
    for (int k = 0; k < 60; k++) {
        double mid = 0.5 * (lo + hi);
        if (sign * (sin(mid) - rectifier_exact(conducting, t0, v0, mid)) > 0.0)
            lo = mid;
        else
            hi = mid;
    }
    return hi;
}

static void test_rectifier(void **state)
{
    (void)state;
    stage st = {.g = g_diode, .mode = 1};
    const dae_event event = {.name = "switch", .direction = -1};
    const double y0[3] = {0.0};
    double t0 = 0.0, v0 = 0.0, y[3];
    stage_open(&st, 3, rectifier, 1, &event, NULL);
    assert_int_equal(dae_solver_start(st.solver, 0.0, y0, NULL), DAE_OK);
    for (int k = 0; k < 8; k++) {
        double t1 = rectifier_switch(st.mode, t0, v0);
        expect_event(&st, 100.0, 1, 0, -1, t1);
        v0 = rectifier_exact(st.mode, t0, v0, t1);
        t0 = t1;
        st.mode = !st.mode;
        assert_int_equal(dae_solver_restart(st.solver, NULL, NULL), DAE_OK);
        assert_int_equal(dae_solver_at(st.solver, dae_solver_time(st.solver), 0, y), DAE_OK);
        check_near(y[0], v0, 1e-10);
        check_near(y[1], 0.0, 1e-9);
        check_near(y[2], 0.0, 1e-9);
    }
    stage_close(&st);
}

/* ---- failing event functions ------------------------------------------------------------------
 */

static void expect_failure(int code, double value, dae_status expected)
{
    stage st = {.g = g_x, .fail_code = code, .fail_value = value, .fail_time = 2.0};
    const dae_event event = {.name = "crossing"};
    stage_open(&st, 3, oscillator, 1, &event, NULL);
    start_oscillator(&st, 0.5);
    assert_int_equal(dae_solver_run(st.solver, 20.0, NULL, NULL), expected);
    const dae_diag *diag = dae_solver_diag(st.solver);
    assert_int_equal(diag->status, expected);
    assert_non_null(strstr(diag->text, "event"));
    if (code == 0) assert_non_null(strstr(diag->text, "crossing"));
    assert_true(diag->t >= 2.0);
    assert_true(dae_solver_time(st.solver) < 2.0);
    st.fail_time = 0.0; /* mended: the same solver goes on and finds what is there */
    expect_event(&st, 20.0, 1, 0, -1, PI);
    stage_close(&st);
}

static void test_event_function_fails(void **state)
{
    (void)state;
    expect_failure(-1, 0.0, DAE_ERR_CALLBACK);
    expect_failure(1, 0.0, DAE_ERR_EVENT);
    expect_failure(0, NAN, DAE_ERR_EVENT);
    expect_failure(0, INFINITY, DAE_ERR_EVENT);
}

static void test_event_function_fails_at_start(void **state)
{
    (void)state;
    const int codes[3] = {-1, 1, 0};
    for (int k = 0; k < 3; k++) {
        stage st = {.g = g_x, .fail_code = codes[k], .fail_value = NAN, .fail_time = 0.1};
        const double y0[3] = {sin(0.5), cos(0.5), sin(0.5)};
        stage_open(&st, 3, oscillator, 1, NULL, NULL);
        assert_int_equal(dae_solver_start(st.solver, 0.5, y0, NULL),
                         codes[k] < 0 ? DAE_ERR_CALLBACK : DAE_ERR_EVENT);
        assert_int_equal(dae_solver_step(st.solver, 1.0), DAE_ERR_STATE);
        stage_close(&st);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_directions),
        cmocka_unit_test(test_rising_only),
        cmocka_unit_test(test_falling_only),
        cmocka_unit_test(test_backward),
        cmocka_unit_test(test_function_of_derivative),
        cmocka_unit_test(test_time_and_algebraic),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_terminal_with_company),
        cmocka_unit_test(test_several_in_one_step),
        cmocka_unit_test(test_simultaneous),
        cmocka_unit_test(test_simultaneous_up_to_rounding),
        cmocka_unit_test(test_met_twice_in_one_step),
        cmocka_unit_test(test_met_twice_one_wanted),
        cmocka_unit_test(test_zero_at_start),
        cmocka_unit_test(test_zero_that_stays),
        cmocka_unit_test(test_at_tend),
        cmocka_unit_test(test_beyond_tend),
        cmocka_unit_test(test_output_behind_event),
        cmocka_unit_test(test_values_at_event),
        cmocka_unit_test(test_bit_identical_without_events),
        cmocka_unit_test(test_event_tolerance),
        cmocka_unit_test(test_bouncing_ball),
        cmocka_unit_test(test_algebraic_equation_changes),
        cmocka_unit_test(test_variable_turns_algebraic),
        cmocka_unit_test(test_rectifier),
        cmocka_unit_test(test_event_function_fails),
        cmocka_unit_test(test_event_function_fails_at_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
