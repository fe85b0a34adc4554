/* What the options promise, seen from outside: step sizes, orders, times, tolerances, norms,
 * interrupts, bounds, output, restarts, histories, linear solvers and Jacobians. */
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

#include "daedal.h"
#include "models.h"

enum { N = 3, MOST_ATTEMPTS = 20000 };

/* ---- a trial: the pendulum clock of these tests -----------------------------------------------
 */

/* What callbacks see and say. */
typedef struct trial {
    long residuals;
    double earliest, latest; /* times at which F was called */
    dae_step_info *attempts; /* all attempted steps */
    int count;
    long asked, interrupt_every; /* calls of interrupt; which of them say stop */
    dae_problem *problem;
    dae_solver *solver;
} trial;

/* x' = v, v' = -w, 0 = w - x: (sin t, cos t, sin t) */
static int oscillator(double t, const double *y, const double *yp, double *f, void *user)
{
    trial *tr = user;
    tr->residuals++;
    tr->earliest = fmin(tr->earliest, t);
    tr->latest = fmax(tr->latest, t);
    f[0] = yp[0] - y[1];
    f[1] = yp[1] + y[2];
    f[2] = y[2] - y[0];
    return 0;
}

static void exact(double t, double *y, double *yp)
{
    y[0] = y[2] = sin(t);
    y[1] = yp[0] = yp[2] = cos(t);
    yp[1] = -sin(t);
}

static void record(const dae_step_info *info, void *user)
{
    trial *tr = user;
    assert_true(tr->count < MOST_ATTEMPTS);
    tr->attempts[tr->count++] = *info;
}

static int interrupt(void *user)
{
    trial *tr = user;
    return ++tr->asked % tr->interrupt_every == 0;
}

static dae_options options_for(trial *tr)
{
    dae_options options = dae_options_default();
    options.method = "bdf";
    options.rtol = options.atol = 1e-7;
    options.monitor = record;
    options.user = tr;
    return options;
}

static dae_residual form_for(trial *tr)
{
    return (dae_residual){.n = N, .f = oscillator, .user = tr};
}

static void trial_init(trial *tr)
{
    *tr = (trial){.earliest = INFINITY, .latest = -INFINITY};
    tr->attempts = calloc(MOST_ATTEMPTS, sizeof *tr->attempts);
    assert_non_null(tr->attempts);
}

static void trial_open(trial *tr, const dae_residual *form, const dae_options *options)
{
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_residual(form, &tr->problem, &diag), DAE_OK);
    dae_status status = dae_solver_new(tr->problem, options, &tr->solver, &diag);
    if (status != DAE_OK) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
}

static void trial_close(trial *tr)
{
    dae_solver_free(tr->solver);
    dae_problem_free(tr->problem);
    free(tr->attempts);
}

static void start_exact(trial *tr, double t0)
{
    double y[N], yp[N];
    exact(t0, y, yp);
    assert_int_equal(dae_solver_start(tr->solver, t0, y, yp), DAE_OK);
}

/* A solver of the oscillator, started at t0. */
static void trial_start(trial *tr, const dae_options *options, double t0)
{
    dae_residual form = form_for(tr);
    trial_open(tr, &form, options);
    start_exact(tr, t0);
}

static void run_to(trial *tr, double tend, double *y)
{
    dae_status status = dae_solver_run(tr->solver, tend, y, NULL);
    if (status != DAE_OK) print_error("%s\n", dae_solver_diag(tr->solver)->text);
    assert_int_equal(status, DAE_OK);
    assert_true(dae_solver_time(tr->solver) == tend);
}

/* Largest |y - exact(t)| */
static double error_at(double t, const double *y)
{
    double expected[N], slope[N], most = 0.0;
    exact(t, expected, slope);
    for (int i = 0; i < N; i++) most = fmax(most, fabs(y[i] - expected[i]));
    return most;
}

static void check_below(double value, double limit)
{
    if (value <= limit) return;
    print_error("%g exceeds %g\n", value, limit);
    fail();
}

/* ---- time -------------------------------------------------------------------------------------
 */

/* Forth and back, by a new start or by a restart: the start comes again. */
static void test_forth_and_back(void **state)
{
    (void)state;
    for (int by_restart = 0; by_restart <= 1; by_restart++) {
        trial tr;
        double y[N], yp[N];
        trial_init(&tr);
        dae_options options = options_for(&tr);
        trial_start(&tr, &options, 1.0);
        assert_int_equal(dae_solver_run(tr.solver, 6.0, y, yp), DAE_OK);
        check_below(error_at(6.0, y), 1e-5);
        if (by_restart)
            assert_int_equal(dae_solver_restart(tr.solver, NULL, NULL), DAE_OK);
        else
            assert_int_equal(dae_solver_start(tr.solver, 6.0, y, yp), DAE_OK);
        run_to(&tr, 1.0, y);
        check_below(error_at(1.0, y), 1e-5);
        trial_close(&tr);
    }
}

/* Time reversed, the equations of (x, -v, w) are the same: so are the steps. */
static void test_backward_mirrors_forward(void **state)
{
    (void)state;
    double forward[N], backward[N];
    trial a, b;
    trial_init(&a);
    trial_init(&b);
    dae_options options = options_for(&a);
    trial_start(&a, &options, 0.0);
    run_to(&a, 3.0, forward);
    options.user = &b;
    trial_start(&b, &options, 0.0);
    run_to(&b, -3.0, backward);
    assert_int_equal(a.count, b.count);
    for (int k = 0; k < a.count; k++) {
        check_below(fabs(a.attempts[k].h + b.attempts[k].h), 1e-6 * fabs(a.attempts[k].h));
        assert_int_equal(a.attempts[k].order, b.attempts[k].order);
    }
    check_below(fabs(forward[0] + backward[0]) + fabs(forward[1] - backward[1]), 1e-9);
    trial_close(&a);
    trial_close(&b);
}

/* tend = t0 is reached at once, with the values of the start. */
static void test_tend_is_t0(void **state)
{
    (void)state;
    trial tr;
    double y[N], yp[N], y0[N], yp0[N];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    trial_start(&tr, &options, 1.0);
    exact(1.0, y0, yp0);
    assert_int_equal(dae_solver_run(tr.solver, 1.0, y, yp), DAE_OK);
    assert_memory_equal(y, y0, sizeof y);
    assert_memory_equal(yp, yp0, sizeof yp);
    assert_int_equal(tr.count, 0);
    trial_close(&tr);
}

/* A goal behind the last step is refused; the solver is as before. */
static void test_goal_behind(void **state)
{
    (void)state;
    trial tr;
    double y[N];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    trial_start(&tr, &options, 0.0);
    run_to(&tr, 2.0, y);
    assert_int_equal(dae_solver_step(tr.solver, 1.0), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_step(tr.solver, NAN), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_step(tr.solver, INFINITY), DAE_ERR_ARGUMENT);
    assert_true(dae_solver_time(tr.solver) == 2.0);
    run_to(&tr, 3.0, y);
    check_below(error_at(3.0, y), 1e-5);
    trial_close(&tr);
}

/* ---- step sizes -------------------------------------------------------------------------------
 */

static void test_initial_step(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        trial tr;
        double y[N];
        trial_init(&tr);
        dae_options options = options_for(&tr);
        options.initial_step = 1e-5;
        trial_start(&tr, &options, 0.0);
        run_to(&tr, sign * 1.0, y);
        assert_true(tr.attempts[0].h == sign * 1e-5);
        assert_true(dae_solver_stats(tr.solver)->h0 == sign * 1e-5);
        trial_close(&tr);
    }
}

/* The first step that Daedal chooses passes the error test and is not absurdly small. */
static void test_chosen_first_step(void **state)
{
    (void)state;
    trial tr;
    double y[N];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    trial_start(&tr, &options, 0.0);
    run_to(&tr, 1.0, y);
    assert_int_equal(tr.attempts[0].result, DAE_STEP_ACCEPTED);
    assert_true(tr.attempts[0].h > 1e-9);
    trial_close(&tr);
}

/* The oscillator and its power: 0 = p - x v */
static int powered(double t, const double *y, const double *yp, double *f, void *user)
{
    oscillator(t, y, yp, f, user);
    f[N] = y[N] - y[0] * y[1];
    return 0;
}

/* Attempts for a unit of time from t0, with a sparse solver, whose matrices are kept for long. */
static int attempts_from(double t0, double initial_step)
{
    trial tr;
    double y[N + 1], yp[N + 1];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    options.rtol = options.atol = 1e-9;
    options.linear_solver = DAE_LINEAR_SPARSE;
    options.initial_step = initial_step;
    dae_residual form = {.n = N + 1, .f = powered, .user = &tr};
    trial_open(&tr, &form, &options);
    exact(t0, y, yp);
    y[N] = y[0] * y[1];
    yp[N] = y[1] * y[1] - y[0] * y[0];
    assert_int_equal(dae_solver_start(tr.solver, t0, y, yp), DAE_OK);
    run_to(&tr, t0 + 1.0, NULL);
    trial_close(&tr);
    return tr.count;
}

/* A first step far too long costs some attempts, and the orders rise from there all the same. */
static void test_initial_step_too_long(void **state)
{
    (void)state;
    for (int k = 0; k < 200; k++) {
        int chosen = attempts_from(0.05 * k, 0.0), too_long = attempts_from(0.05 * k, 0.7);
        assert_in_range(too_long, 1, 10 * chosen);
    }
}

/* A number of threads below 0 is none, and is named. */
static void test_threads(void **state)
{
    (void)state;
    trial tr = {0};
    dae_residual form = form_for(&tr);
    dae_options options = dae_options_default();
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_residual(&form, &tr.problem, &diag), DAE_OK);
    options.threads = -1;
    assert_int_equal(dae_solver_new(tr.problem, &options, &solver, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "threads"));
    assert_null(solver);
    options.threads = 2;
    assert_int_equal(dae_solver_new(tr.problem, &options, &solver, &diag), DAE_OK);
    dae_solver_free(solver);
    dae_problem_free(tr.problem);
}

/* Never exceeded, not even by a larger initial_step or on the way to a stop time. */
static void test_max_step(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        trial tr;
        double y[N];
        trial_init(&tr);
        dae_options options = options_for(&tr);
        options.rtol = options.atol = 1e-3;
        options.max_step = 0.01;
        if (k % 2) options.initial_step = 0.1;
        if (k / 2) options.stop_time = 1.0;
        trial_start(&tr, &options, 0.0);
        run_to(&tr, 1.0, y);
        double most = 0.0;
        for (int j = 0; j < tr.count; j++) most = fmax(most, fabs(tr.attempts[j].h));
        assert_true(most <= 0.01 * (1.0 + 1e-9)); /* rounding on the way to a stop time */
        assert_true(most > 0.0099);
        trial_close(&tr);
    }
}

/* y' = -sign(t - 1): the error test fails at the jump, however small the step. */
static int jump(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)y, (void)user;
    f[0] = yp[0] - (t < 1.0 ? 1.0 : -1.0);
    return 0;
}

static void test_min_step(void **state)
{
    (void)state;
    trial tr;
    const double y0 = 0.0, yp0 = 1.0;
    trial_init(&tr);
    dae_options options = options_for(&tr);
    options.min_step = 1e-3;
    options.rtol = options.atol = 1e-9;
    dae_residual form = {.n = 1, .f = jump};
    trial_open(&tr, &form, &options);
    assert_int_equal(dae_solver_start(tr.solver, 0.0, &y0, &yp0), DAE_OK);
    assert_int_equal(dae_solver_run(tr.solver, 2.0, NULL, NULL), DAE_ERR_ERROR_TEST);
    assert_non_null(strstr(dae_solver_diag(tr.solver)->text, "min_step"));
    for (int j = 0; j < tr.count; j++) assert_true(fabs(tr.attempts[j].h) >= 1e-3);
    trial_close(&tr);
}

/* Constant steps at rising order; each order k converges as h^k. */
static void test_fixed_step(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        double errors[2];
        for (int k = 0; k < 2; k++) {
            trial tr;
            double y[N];
            trial_init(&tr);
            dae_options options = options_for(&tr);
            options.fixed_step = k == 0 ? 1.0 / 64 : 1.0 / 128;
            options.max_order = order;
            trial_start(&tr, &options, 0.0);
            run_to(&tr, 1.0, y);
            for (int j = 0; j < tr.count; j++) {
                assert_true(tr.attempts[j].h == options.fixed_step);
                assert_int_equal(tr.attempts[j].result, DAE_STEP_ACCEPTED);
            }
            assert_int_equal(tr.count, k == 0 ? 64 : 128);
            errors[k] = error_at(1.0, y);
            trial_close(&tr);
        }
        double observed = log2(errors[0] / errors[1]);
        check_below(fabs(observed - order), 0.25);
    }
}

/* ---- orders -----------------------------------------------------------------------------------
 */

static void test_max_order(void **state)
{
    (void)state;
    for (int k = 1; k <= 5; k++) {
        trial tr;
        double y[N];
        int most = 0;
        trial_init(&tr);
        dae_options options = options_for(&tr);
        options.max_order = k;
        if (k == 1) options.rtol = options.atol = 1e-4;
        trial_start(&tr, &options, 0.0);
        run_to(&tr, 3.0, y);
        for (int j = 0; j < tr.count; j++)
            most = most > tr.attempts[j].order ? most : tr.attempts[j].order;
        assert_int_equal(most, k);
        trial_close(&tr);
    }
}

/* Accepted orders rise one by one to min_order and stay at or above it; three failures of the error
 * test in one step begin again [BCP96 5.2.3], those of Newton's iteration do not. */
static void check_orders(const trial *tr, int least, int most)
{
    bool arrived = false;
    int before = 0, failures = 0;
    for (int j = 0; j < tr->count; j++) {
        int order = tr->attempts[j].order;
        const dae_step_result result = tr->attempts[j].result;
        if (result == DAE_STEP_ERROR_TEST && ++failures >= 3) arrived = false, before = 0;
        if (result != DAE_STEP_ACCEPTED) continue;
        failures = 0;
        if (arrived) assert_in_range(order, least, most);
        if (!arrived) assert_int_equal(order, before + 1);
        before = order;
        arrived = arrived || order >= least;
    }
    assert_true(arrived);
}

/* Robertson's kinetics at a loose tolerance, where low orders are tempting. */
static void test_min_order(void **state)
{
    (void)state;
    model *m = model_new("robertson", 0);
    assert_non_null(m);
    for (int least = 2; least <= 5; least++)
        for (int most = least; most <= 5; most++) {
            trial tr;
            trial_init(&tr);
            dae_options options = options_for(&tr);
            options.rtol = 1e-4;
            options.atol = 1e-6;
            options.min_order = least;
            options.max_order = most;
            trial_open(&tr, &m->form, &options);
            assert_int_equal(dae_solver_start(tr.solver, m->t0, m->y0, m->yp0), DAE_OK);
            run_to(&tr, m->tend, NULL);
            check_orders(&tr, least, most);
            trial_close(&tr);
        }
    model_free(m);
}

/* ---- stop time --------------------------------------------------------------------------------
 */

/* F is never called beyond the stop time, which is met exactly; then it is moved away. */
static void check_stop(double t0, double stop, double tend, double fixed)
{
    trial tr;
    double y[N];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    options.stop_time = stop;
    options.fixed_step = fixed;
    trial_start(&tr, &options, t0);
    tr.earliest = tr.latest = t0; /* differences at the start may look around */
    assert_int_equal(dae_solver_run(tr.solver, tend, y, NULL), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(dae_solver_diag(tr.solver)->text, "lies before the end time"));
    assert_true(dae_solver_time(tr.solver) == stop);
    assert_true(stop > t0 ? tr.latest <= stop : tr.earliest >= stop);
    check_below(error_at(stop, y), fixed > 0.0 ? 1e-2 : 1e-4);
    long residuals = tr.residuals;
    assert_int_equal(dae_solver_step(tr.solver, tend), DAE_ERR_ARGUMENT); /* stays */
    assert_true(dae_solver_time(tr.solver) == stop);
    assert_int_equal(tr.residuals, residuals);
    assert_int_equal(dae_solver_set_stop_time(tr.solver, NAN), DAE_OK);
    int cut = tr.count - 1; /* the step that met the stop time, shorter than the others */
    run_to(&tr, tend, y);
    check_below(error_at(tend, y), fixed > 0.0 ? 1e-2 : 1e-4);
    for (int j = 0; fixed > 0.0 && j < tr.count; j++)
        if (j != cut) assert_true(fabs(tr.attempts[j].h) == fixed);
    trial_close(&tr);
}

static void test_stop_time(void **state)
{
    (void)state;
    check_stop(0.0, 1.0, 2.0, 0.0);
    check_stop(0.0, -1.0, -2.0, 0.0);
    check_stop(0.0, 0.7, 2.0, 0.1); /* constant steps, but for the last one */
    check_stop(0.0, 0.75, 2.0, 0.1);
    check_stop(0.3, -0.4, -2.0, 0.01);
}

/* The same from odd times to odd times: t + (stop - t) is not always stop. */
static void test_stop_time_rounding(void **state)
{
    (void)state;
    unsigned long seed = 1;
    for (int k = 0; k < 100; k++) {
        double x[3];
        for (int j = 0; j < 3; j++) {
            seed = seed * 6364136223846793005UL + 1442695040888963407UL;
            x[j] = (double)(seed >> 11) / 9007199254740992.0;
        }
        double t0 = (x[0] - 0.5) * pow(10.0, 4.0 * x[1] - 2.0), span = x[2] * (k % 2 ? 1.0 : -1.0);
        check_stop(t0, t0 + span, t0 + 1.1 * span, 0.0);
    }
}

/* With one step over the whole way, from a large time to a tiny one. */
static void test_stop_time_in_one_step(void **state)
{
    (void)state;
    const double starts[4] = {-1000.0 / 3, -1.0 / 3, 1e-3 / 3, 7.0 / 3}, stop = 1e-3 / 7;
    for (int k = 0; k < 4; k++) {
        trial tr;
        trial_init(&tr);
        dae_options options = options_for(&tr);
        options.rtol = options.atol = 1e5;
        options.initial_step = 1e4;
        options.stop_time = stop;
        trial_start(&tr, &options, starts[k]);
        tr.earliest = tr.latest = starts[k];
        run_to(&tr, stop, NULL);
        assert_true(starts[k] < stop ? tr.latest <= stop : tr.earliest >= stop);
        for (int j = 0; j < tr.count; j++) assert_true(fabs(tr.attempts[j].h) > 1e-6);
        trial_close(&tr);
    }
}

/* y' = 1/(2 sqrt(1 - t)) - ..: no F beyond t = 1 at all. */
static int until_one(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] + y[0] - sqrt(1.0 - t); /* NaN beyond */
    return 0;
}

static void test_stop_time_guards_f(void **state)
{
    (void)state;
    trial tr;
    const double y0 = 1.0;
    trial_init(&tr);
    dae_options options = options_for(&tr);
    options.stop_time = 1.0;
    dae_residual form = {.n = 1, .f = until_one};
    trial_open(&tr, &form, &options);
    assert_int_equal(dae_solver_start(tr.solver, 0.0, &y0, NULL), DAE_OK);
    run_to(&tr, 1.0, NULL);
    assert_int_equal(dae_solver_stats(tr.solver)->rejected_evaluation, 0);
    trial_close(&tr);
}

/* A stop time behind the solver is refused, not run back to. */
static void test_stop_time_behind(void **state)
{
    (void)state;
    trial tr;
    double y[N];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    options.stop_time = -1.0;
    trial_start(&tr, &options, 0.0);
    assert_int_equal(dae_solver_run(tr.solver, 1.0, y, NULL), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(dae_solver_diag(tr.solver)->text, "stop"));
    assert_true(dae_solver_time(tr.solver) == 0.0);
    assert_int_equal(dae_solver_set_stop_time(tr.solver, NAN), DAE_OK);
    run_to(&tr, 1.0, y);
    assert_int_equal(dae_solver_set_stop_time(tr.solver, 0.5), DAE_OK);
    assert_int_equal(dae_solver_run(tr.solver, 2.0, y, NULL), DAE_ERR_ARGUMENT);
    assert_true(dae_solver_time(tr.solver) == 1.0);
    assert_int_equal(dae_solver_set_stop_time(tr.solver, INFINITY), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_set_stop_time(tr.solver, 1.5), DAE_OK);
    assert_int_equal(dae_solver_run(tr.solver, 2.0, y, NULL), DAE_ERR_ARGUMENT);
    assert_true(dae_solver_time(tr.solver) == 1.5);
    check_below(error_at(1.5, y), 1e-5);
    trial_close(&tr);
}

/* ---- stopping and going on --------------------------------------------------------------------
 */

/* The plain run that others are compared with. */
static int reference_run(double tend, double *y)
{
    trial tr;
    trial_init(&tr);
    dae_options options = options_for(&tr);
    trial_start(&tr, &options, 0.0);
    run_to(&tr, tend, y);
    trial_close(&tr);
    return tr.count;
}

static void test_max_steps_and_resume(void **state)
{
    (void)state;
    trial tr;
    double y[N], expected[N];
    int attempts = reference_run(5.0, expected);
    trial_init(&tr);
    dae_options options = options_for(&tr);
    options.max_steps = 7;
    trial_start(&tr, &options, 0.0);
    dae_status status;
    long runs = 0;
    while ((status = dae_solver_run(tr.solver, 5.0, y, NULL)) == DAE_ERR_MAX_STEPS) {
        runs++;
        assert_int_equal(dae_solver_stats(tr.solver)->steps, 7 * runs);
        assert_int_equal(dae_solver_diag(tr.solver)->status, DAE_ERR_MAX_STEPS);
    }
    assert_int_equal(status, DAE_OK);
    assert_true(runs > 3);
    assert_int_equal(dae_solver_stats(tr.solver)->attempts, attempts);
    assert_memory_equal(y, expected, sizeof y);
    trial_close(&tr);
}

/* Exactly enough steps are enough. */
static void test_max_steps_suffices(void **state)
{
    (void)state;
    double y[N];
    for (int short_by = 0; short_by <= 1; short_by++) {
        trial tr;
        trial_init(&tr);
        dae_options options = options_for(&tr);
        options.fixed_step = 0.25;
        options.max_steps = 8 - short_by;
        trial_start(&tr, &options, 0.0);
        assert_int_equal(dae_solver_run(tr.solver, 2.0, y, NULL),
                         short_by ? DAE_ERR_MAX_STEPS : DAE_OK);
        trial_close(&tr);
    }
}

static void test_steps_equal_run(void **state)
{
    (void)state;
    trial tr;
    double y[N], expected[N], before = 0.0;
    int attempts = reference_run(5.0, expected);
    trial_init(&tr);
    dae_options options = options_for(&tr);
    trial_start(&tr, &options, 0.0);
    dae_status status;
    while ((status = dae_solver_step(tr.solver, 5.0)) == DAE_STEPPED) {
        assert_true(dae_solver_time(tr.solver) > before);
        before = dae_solver_time(tr.solver);
    }
    assert_int_equal(status, DAE_OK);
    assert_int_equal(dae_solver_at(tr.solver, 5.0, 0, y), DAE_OK);
    assert_memory_equal(y, expected, sizeof y);
    assert_int_equal(tr.count, attempts);
    trial_close(&tr);
}

static void test_interrupt_and_resume(void **state)
{
    (void)state;
    trial tr;
    double y[N], expected[N];
    int attempts = reference_run(5.0, expected);
    trial_init(&tr);
    dae_options options = options_for(&tr);
    options.interrupt = interrupt;
    tr.interrupt_every = 3;
    trial_start(&tr, &options, 0.0);
    dae_status status;
    int stops = 0;
    while ((status = dae_solver_run(tr.solver, 5.0, y, NULL)) == DAE_ERR_INTERRUPTED) {
        stops++;
        assert_int_equal(tr.count, 2 * stops); /* asked before every attempt */
    }
    assert_int_equal(status, DAE_OK);
    assert_true(stops > 5);
    assert_int_equal(tr.count, attempts);
    assert_memory_equal(y, expected, sizeof y);
    trial_close(&tr);
}

/* ---- tolerances -------------------------------------------------------------------------------
 */

static int attempts_with(const dae_options *base, double *y)
{
    trial tr;
    trial_init(&tr);
    dae_options options = *base;
    options.monitor = record;
    options.user = &tr;
    trial_start(&tr, &options, 0.0);
    run_to(&tr, 5.0, y);
    trial_close(&tr);
    return tr.count;
}

static void test_tolerances_by_variable(void **state)
{
    (void)state;
    const double same[N] = {1e-7, 1e-7, 1e-7};
    double y[N], expected[N];
    int attempts = reference_run(5.0, expected);
    dae_options options = dae_options_default();
    options.method = "bdf";
    options.rtol = options.atol = 1.0;
    options.rtol_by_unknown = options.atol_by_unknown = same;
    assert_int_equal(attempts_with(&options, y), attempts);
    assert_memory_equal(y, expected, sizeof y);
    options.rtol_by_unknown = NULL;
    options.rtol = 1e-7;
    assert_int_equal(attempts_with(&options, y), attempts);
    assert_memory_equal(y, expected, sizeof y);
}

/* The error test weighs every variable by its own tolerances. */
static void test_error_weighed_by_variable(void **state)
{
    (void)state;
    const double rtol[N] = {1e-6, 1e-3, 1e-7}, atol[N] = {1e-8, 1e-5, 1e-4};
    trial tr;
    double errors[N], before[N];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    options.error_test = DAE_ERROR_ALL;
    options.rtol_by_unknown = rtol;
    options.atol_by_unknown = atol;
    trial_start(&tr, &options, 0.0);
    while (dae_solver_step(tr.solver, 5.0) == DAE_STEPPED) {
        double start, sum = 0.0;
        dae_solver_last_step(tr.solver, &start, NULL);
        assert_int_equal(dae_solver_at(tr.solver, start, 0, before), DAE_OK);
        assert_int_equal(dae_solver_local_errors(tr.solver, errors), DAE_OK);
        for (int i = 0; i < N; i++)
            sum += pow(errors[i] / (rtol[i] * fabs(before[i]) + atol[i]), 2.0);
        double size = sqrt(sum / N);
        check_below(fabs(size - tr.attempts[tr.count - 1].error), 1e-6 * size);
    }
    trial_close(&tr);
}

/* Errors follow the tolerance. */
static void test_tolerance_proportionality(void **state)
{
    (void)state;
    double y[N], before = INFINITY;
    for (double tol = 1e-3; tol > 1e-11; tol *= 0.01) {
        dae_options options = dae_options_default();
        options.rtol = options.atol = tol;
        attempts_with(&options, y);
        double error = error_at(5.0, y);
        check_below(error, 300.0 * tol);
        check_below(error, 0.2 * before);
        before = error;
    }
}

static double max_norm(int n, const double *v, const double *weights, void *user)
{
    (void)user;
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i]) / weights[i]);
    return most;
}

static double rms_norm(int n, const double *v, const double *weights, void *user)
{
    (void)user;
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += v[i] * v[i] / (weights[i] * weights[i]);
    return sqrt(sum / n);
}

/* The error test is made in the user's norm; the root mean square gives the default's steps. */
static void test_user_norm(void **state)
{
    (void)state;
    double y[N], expected[N], errors[N], before[N];
    int attempts = reference_run(5.0, expected);
    dae_options options = dae_options_default();
    options.rtol = options.atol = 1e-7;
    options.norm = rms_norm;
    assert_int_equal(attempts_with(&options, y), attempts);
    for (int i = 0; i < N; i++) check_below(fabs(y[i] - expected[i]), 1e-9);
    trial tr;
    trial_init(&tr);
    options = options_for(&tr);
    options.norm = max_norm;
    trial_start(&tr, &options, 0.0);
    while (dae_solver_step(tr.solver, 5.0) == DAE_STEPPED) {
        double start, size = 0.0;
        dae_solver_last_step(tr.solver, &start, NULL);
        assert_int_equal(dae_solver_at(tr.solver, start, 0, before), DAE_OK);
        assert_int_equal(dae_solver_local_errors(tr.solver, errors), DAE_OK);
        for (int i = 0; i < N; i++)
            size = fmax(size, fabs(errors[i]) / (1e-7 * fabs(before[i]) + 1e-7));
        check_below(fabs(size - tr.attempts[tr.count - 1].error), 1e-6 * size);
    }
    assert_int_equal(dae_solver_at(tr.solver, 5.0, 0, y), DAE_OK);
    check_below(error_at(5.0, y), 1e-5);
    trial_close(&tr);
}

static int usual_weights(int n, double t, const double *y, double *weights, void *user)
{
    (void)user;
    for (int i = 0; i < n; i++) weights[i] = 1e-7 * fabs(y[i]) + 1e-7;
    return t > 100.0 ? -1 : 0;
}

/* rtol and atol do not matter then; they may even be 0. */
static void test_user_weights(void **state)
{
    (void)state;
    double y[N], expected[N];
    int attempts = reference_run(5.0, expected);
    dae_options options = dae_options_default();
    options.rtol = options.atol = 0.0;
    options.weights = usual_weights;
    assert_int_equal(attempts_with(&options, y), attempts);
    assert_memory_equal(y, expected, sizeof y);
    trial tr;
    trial_init(&tr);
    options.user = &tr;
    trial_start(&tr, &options, 99.0);
    assert_int_equal(dae_solver_run(tr.solver, 102.0, y, NULL), DAE_ERR_CALLBACK);
    assert_non_null(strstr(dae_solver_diag(tr.solver)->text, "weights"));
    trial_close(&tr);
}

static double largest_step(const trial *tr, double from, double to)
{
    double most = 0.0;
    for (int j = 0; j < tr->count; j++)
        if (tr->attempts[j].t >= from && tr->attempts[j].t < to)
            most = fmax(most, fabs(tr->attempts[j].h));
    return most;
}

static void test_set_tolerances(void **state)
{
    (void)state;
    trial tr;
    double y[N];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    const double loose[N] = {1e-4, 1e-4, 1e-4};
    options.rtol_by_unknown = options.atol_by_unknown = loose;
    trial_start(&tr, &options, 0.0);
    run_to(&tr, 5.0, y);
    assert_int_equal(dae_solver_set_tolerances(tr.solver, 1e-9, 1e-9), DAE_OK);
    run_to(&tr, 10.0, y);
    assert_int_equal(dae_solver_set_tolerances(tr.solver, 1e-4, 1e-4), DAE_OK);
    run_to(&tr, 20.0, y);
    double first = largest_step(&tr, 2.0, 5.0), fine = largest_step(&tr, 6.0, 10.0),
           last = largest_step(&tr, 15.0, 20.0);
    assert_true(fine < 0.5 * first && fine < 0.5 * last);
    assert_int_equal(dae_solver_set_tolerances(tr.solver, -1.0, 1e-9), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_set_tolerances(tr.solver, 0.0, 0.0), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_set_tolerances(tr.solver, NAN, 1e-9), DAE_ERR_ARGUMENT);
    run_to(&tr, 21.0, y);
    trial_close(&tr);
}

/* Before the start it is the same as giving them at once. */
static void test_set_tolerances_before_start(void **state)
{
    (void)state;
    trial tr;
    double y[N], expected[N];
    reference_run(5.0, expected);
    trial_init(&tr);
    dae_options options = options_for(&tr);
    options.rtol = options.atol = 1e-2;
    dae_residual form = form_for(&tr);
    trial_open(&tr, &form, &options);
    assert_int_equal(dae_solver_set_tolerances(tr.solver, 1e-7, 1e-7), DAE_OK);
    start_exact(&tr, 0.0);
    run_to(&tr, 5.0, y);
    assert_memory_equal(y, expected, sizeof y);
    trial_close(&tr);
}

static void test_error_tests(void **state)
{
    (void)state;
    double y[N];
    for (int test = DAE_ERROR_AUTO; test <= DAE_ERROR_FILTERED; test++) {
        dae_options options = dae_options_default();
        options.rtol = options.atol = 1e-7;
        options.error_test = (dae_error_test)test;
        attempts_with(&options, y);
        check_below(error_at(5.0, y), 1e-5);
    }
}

/* ---- bounds -----------------------------------------------------------------------------------
 */

enum { DECAYS = 12 };

/* y_i' = -2^i y_i */
static int decay(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < DECAYS; i++) f[i] = yp[i] + ldexp(y[i], i);
    return 0;
}

/* Smallest value at any mesh point, and the statistics. */
static double least_value(double tolerance, const double *lower, dae_stats *stats)
{
    trial tr;
    double y[DECAYS], least = INFINITY;
    trial_init(&tr);
    dae_options options = options_for(&tr);
    options.rtol = options.atol = tolerance;
    dae_residual form = {.n = DECAYS, .f = decay, .lower_bounds = lower};
    trial_open(&tr, &form, &options);
    for (int i = 0; i < DECAYS; i++) y[i] = 1.0;
    assert_int_equal(dae_solver_start(tr.solver, 0.0, y, NULL), DAE_OK);
    dae_status status;
    while ((status = dae_solver_step(tr.solver, 20.0)) == DAE_STEPPED) {
        assert_int_equal(dae_solver_at(tr.solver, dae_solver_time(tr.solver), 0, y), DAE_OK);
        for (int i = 0; i < DECAYS; i++) least = fmin(least, y[i]);
    }
    assert_int_equal(status, DAE_OK);
    *stats = *dae_solver_stats(tr.solver);
    trial_close(&tr);
    return least;
}

/* Without bounds the values dip below zero by an error; with them never, and at a price that can be
 * paid. */
static void test_bounds(void **state)
{
    (void)state;
    const double zero[DECAYS] = {0.0};
    for (double tolerance = 1e-2; tolerance > 1e-5; tolerance *= 0.1) {
        dae_stats without, with;
        assert_true(least_value(tolerance, NULL, &without) < -1e-3 * tolerance);
        assert_int_equal(without.rejected_bound, 0);
        assert_true(least_value(tolerance, zero, &with) >= 0.0);
        assert_true(with.rejected_bound > 0);
        assert_true(with.attempts < 10 * without.attempts);
    }
}

/* Upper bounds that the solution itself breaks: an error that names the variable. */
static void test_bound_cannot_be_met(void **state)
{
    (void)state;
    trial tr;
    const double upper[N] = {0.9, 2.0, 2.0};
    const char *const names[N] = {"position", "speed", "force"};
    trial_init(&tr);
    dae_options options = options_for(&tr);
    dae_residual form = form_for(&tr);
    form.upper_bounds = upper;
    form.variable_names = names;
    trial_open(&tr, &form, &options);
    start_exact(&tr, 0.0);
    assert_int_equal(dae_solver_run(tr.solver, 5.0, NULL, NULL), DAE_ERR_BOUND);
    const dae_diag *diag = dae_solver_diag(tr.solver);
    assert_string_equal(diag->variable_name, "position");
    assert_int_equal(diag->variable, 0);
    check_below(fabs(dae_solver_time(tr.solver) - asin(0.9)), 0.01);
    trial_close(&tr);
}

/* ---- output -----------------------------------------------------------------------------------
 */

/* The step passes tend; in between the values are interpolated, outside they are refused. */
static void test_overshoot(void **state)
{
    (void)state;
    trial tr;
    double y[N], start, end;
    trial_init(&tr);
    dae_options options = options_for(&tr);
    trial_start(&tr, &options, 0.0);
    run_to(&tr, 2.0, y);
    dae_solver_last_step(tr.solver, &start, &end);
    assert_true(start < 2.0 && end > 2.0);
    check_below(error_at(2.0, y), 1e-5);
    for (int k = 0; k <= 10; k++) {
        double t = start + (end - start) * k / 10.0;
        assert_int_equal(dae_solver_at(tr.solver, t, 0, y), DAE_OK);
        check_below(error_at(t, y), 1e-5);
    }
    assert_int_equal(dae_solver_at(tr.solver, start - 0.1, 0, y), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_at(tr.solver, end + 0.1, 0, y), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_at(tr.solver, 2.0, 2, y), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_at(tr.solver, 2.0, 0, NULL), DAE_ERR_ARGUMENT);
    trial_close(&tr);
}

/* Runs from output point to output point give what one run's dense output gives there. */
static void test_output_points(void **state)
{
    (void)state;
    enum { POINTS = 500 };
    trial a, b;
    double ya[N], yb[N], ypa[N], ypb[N];
    int k = 1;
    trial_init(&a);
    trial_init(&b);
    dae_options options = options_for(&a);
    options.initial_step = 1e-4; /* what is chosen depends on tend */
    trial_start(&a, &options, 0.0);
    options.user = &b;
    trial_start(&b, &options, 0.0);
    dae_status status = DAE_STEPPED;
    while (status == DAE_STEPPED) {
        status = dae_solver_step(a.solver, 5.0);
        for (; k <= POINTS && 5.0 * k / POINTS <= dae_solver_time(a.solver); k++) {
            double t = 5.0 * k / POINTS;
            assert_int_equal(dae_solver_at(a.solver, t, 0, ya), DAE_OK);
            assert_int_equal(dae_solver_at(a.solver, t, 1, ypa), DAE_OK);
            assert_int_equal(dae_solver_run(b.solver, t, yb, ypb), DAE_OK);
            assert_memory_equal(ya, yb, sizeof ya);
            assert_memory_equal(ypa, ypb, sizeof ypa);
        }
    }
    assert_int_equal(status, DAE_OK);
    assert_int_equal(k, POINTS + 1);
    assert_int_equal(a.count, b.count);
    trial_close(&a);
    trial_close(&b);
}

/* ---- starting again ----------------------------------------------------------------------------
 */

/* From inside a step, with its values, with new ones, and with values that contradict F. */
static void test_restart_inside_step(void **state)
{
    (void)state;
    trial tr;
    double y[N], yp[N], start, end;
    trial_init(&tr);
    dae_options options = options_for(&tr);
    trial_start(&tr, &options, 0.0);
    run_to(&tr, 2.0, y);
    assert_int_equal(dae_solver_restart(tr.solver, NULL, NULL), DAE_OK);
    dae_solver_last_step(tr.solver, &start, &end);
    assert_true(start == 2.0 && end == 2.0 && dae_solver_time(tr.solver) == 2.0);
    assert_int_equal(dae_solver_at(tr.solver, 2.0, 0, yp), DAE_OK);
    for (int i = 0; i < N; i++) check_below(fabs(y[i] - yp[i]), 1e-6);
    run_to(&tr, 4.0, y);
    check_below(error_at(4.0, y), 1e-5);
    exact(3.0, y, yp); /* as if it were t = 3 now: from here on one behind */
    y[2] = 17.0;       /* the algebraic one is found */
    assert_int_equal(dae_solver_restart(tr.solver, y, NULL), DAE_OK);
    assert_int_equal(dae_solver_at(tr.solver, 4.0, 0, y), DAE_OK);
    check_below(error_at(3.0, y), 1e-9);
    run_to(&tr, 6.0, y);
    check_below(error_at(5.0, y), 1e-5);
    assert_int_equal(dae_solver_stats(tr.solver)->starts, 3);
    trial_close(&tr);
}

static void test_restart_before_start(void **state)
{
    (void)state;
    trial tr;
    double y[N];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    dae_residual form = form_for(&tr);
    trial_open(&tr, &form, &options);
    assert_int_equal(dae_solver_restart(tr.solver, NULL, NULL), DAE_ERR_STATE);
    assert_int_equal(dae_solver_step(tr.solver, 1.0), DAE_ERR_STATE);
    assert_int_equal(dae_solver_at(tr.solver, 0.0, 0, y), DAE_ERR_STATE);
    assert_int_equal(dae_solver_run(tr.solver, 1.0, y, NULL), DAE_ERR_STATE);
    start_exact(&tr, 0.0);
    assert_int_equal(dae_solver_restart(tr.solver, NULL, NULL), DAE_OK);
    run_to(&tr, 1.0, y);
    check_below(error_at(1.0, y), 1e-5);
    trial_close(&tr);
}

/* A second start leaves no trace of the first. */
static void test_start_twice(void **state)
{
    (void)state;
    trial tr;
    double y[N], expected[N];
    reference_run(5.0, expected);
    trial_init(&tr);
    dae_options options = options_for(&tr);
    trial_start(&tr, &options, 7.0);
    run_to(&tr, -3.0, y);
    start_exact(&tr, 0.0);
    run_to(&tr, 5.0, y);
    assert_memory_equal(y, expected, sizeof y);
    assert_int_equal(dae_solver_start(tr.solver, 0.0, NULL, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_start(tr.solver, NAN, y, NULL), DAE_ERR_ARGUMENT);
    y[1] = INFINITY;
    assert_int_equal(dae_solver_start(tr.solver, 0.0, y, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_step(tr.solver, 1.0), DAE_ERR_STATE);
    start_exact(&tr, 0.0);
    run_to(&tr, 5.0, y);
    assert_memory_equal(y, expected, sizeof y);
    trial_close(&tr);
}

/* ---- histories ----------------------------------------------------------------------------------
 */

/* Start with count exact values at distance h, newest at t0; h < 0 for a history of the future. */
static dae_status start_with_history(trial *tr, double t0, double h, int count)
{
    double times[6], values[6 * N], yp[N], unused[N];
    for (int i = 0; i < count; i++) {
        times[i] = t0 - i * h;
        exact(times[i], values + i * N, unused);
    }
    exact(t0, unused, yp);
    return dae_solver_start_history(tr->solver, count, times, values, yp);
}

/* Error of the first step of size h at order k with exact history: c h^(k+1). */
static double first_step_error(int k, double h)
{
    trial tr;
    double y[N];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    options.fixed_step = fabs(h);
    options.newton_tolerance = 1e-8;
    options.newton_iterations = 10;
    dae_residual form = form_for(&tr);
    trial_open(&tr, &form, &options);
    assert_int_equal(start_with_history(&tr, 1.0, h, k + 1), DAE_OK);
    assert_true(dae_solver_time(tr.solver) == 1.0);
    run_to(&tr, 1.0 + h, y);
    assert_int_equal(tr.count, 1);
    assert_int_equal(tr.attempts[0].order, k);
    assert_true(tr.attempts[0].h == h);
    trial_close(&tr);
    return error_at(1.0 + h, y);
}

static void test_history_starts_at_order(void **state)
{
    (void)state;
    for (int k = 1; k <= 5; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double coarse = first_step_error(k, sign * 1.0 / 16);
            double fine = first_step_error(k, sign * 1.0 / 32);
            check_below(fabs(log2(coarse / fine) - (k + 1)), 0.3);
        }
}

/* With error control the high order is kept, and far fewer steps are needed than from order 1. */
static void test_history_saves_the_start(void **state)
{
    (void)state;
    trial tr;
    double y[N];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    options.initial_step = 0.02;
    dae_residual form = form_for(&tr);
    trial_open(&tr, &form, &options);
    assert_int_equal(start_with_history(&tr, 0.0, 0.02, 6), DAE_OK);
    run_to(&tr, 1.0, y);
    assert_int_equal(tr.attempts[0].order, 5);
    assert_int_equal(tr.attempts[0].result, DAE_STEP_ACCEPTED);
    check_below(error_at(1.0, y), 1e-5);
    assert_true(tr.count < reference_run(1.0, y));
    trial_close(&tr);
}

static void test_history_is_checked(void **state)
{
    (void)state;
    trial tr;
    double y[N];
    const double unordered[3] = {0.0, -0.1, -0.05}, values[3 * N] = {0.0};
    trial_init(&tr);
    dae_options options = options_for(&tr);
    dae_residual form = form_for(&tr);
    trial_open(&tr, &form, &options);
    dae_solver *s = tr.solver;
    assert_int_equal(dae_solver_start_history(s, 3, unordered, values, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_start_history(s, 0, unordered, values, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_start_history(s, 7, unordered, values, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_start_history(s, 2, NULL, values, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_start_history(s, 2, unordered, NULL, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_step(s, 1.0), DAE_ERR_STATE);
    assert_int_equal(start_with_history(&tr, 0.0, 0.1, 4), DAE_OK);
    assert_int_equal(dae_solver_run(s, -1.0, y, NULL), DAE_ERR_ARGUMENT); /* into the past */
    run_to(&tr, 1.0, y);
    check_below(error_at(1.0, y), 1e-5);
    trial_close(&tr);
}

/* A restart knows nothing of the history. */
static void test_restart_drops_history(void **state)
{
    (void)state;
    trial tr;
    double y[N];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    dae_residual form = form_for(&tr);
    trial_open(&tr, &form, &options);
    assert_int_equal(start_with_history(&tr, 0.0, 0.02, 5), DAE_OK);
    run_to(&tr, 1.0, y);
    int before = tr.count;
    assert_int_equal(dae_solver_restart(tr.solver, NULL, NULL), DAE_OK);
    run_to(&tr, 0.0, y); /* and in any direction */
    assert_int_equal(tr.attempts[before].order, 1);
    check_below(error_at(0.0, y), 1e-5);
    trial_close(&tr);
}

/* Without y' it is found from the history, and so is the first step size. */
static void test_history_without_derivative(void **state)
{
    (void)state;
    trial tr;
    double y[N], times[6], values[6 * N], yp[N], slope[N];
    trial_init(&tr);
    dae_options options = options_for(&tr);
    dae_residual form = form_for(&tr);
    trial_open(&tr, &form, &options);
    for (int i = 0; i < 6; i++) {
        times[i] = -0.01 * i;
        exact(times[i], values + i * N, yp);
    }
    assert_int_equal(dae_solver_start_history(tr.solver, 6, times, values, NULL), DAE_OK);
    assert_int_equal(dae_solver_at(tr.solver, 0.0, 1, slope), DAE_OK);
    exact(0.0, y, yp);
    for (int i = 0; i < N; i++) check_below(fabs(slope[i] - yp[i]), 1e-6);
    run_to(&tr, 100.0, y);
    check_below(error_at(100.0, y), 1e-4);
    trial_close(&tr);
}

/* ---- linear solvers and Jacobians --------------------------------------------------------------
 */

/* A diffusion line with reaction: u_i' = c (u_{i-1} - 2 u_i + u_{i+1}) - u_i^3 with u = 1 and 0 at
 * the ends as equations of their own. */
typedef struct chain {
    int n;
    long residuals, jacobians;
} chain;

static int chain_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    chain *c = user;
    double scale = 1e-2 * (c->n - 1) * (c->n - 1);
    c->residuals++;
    f[0] = y[0] - 1.0;
    f[c->n - 1] = y[c->n - 1];
    for (int i = 1; i < c->n - 1; i++)
        f[i] = yp[i] - scale * (y[i - 1] - 2.0 * y[i] + y[i + 1]) + y[i] * y[i] * y[i];
    return 0;
}

/* Element (i,j) of a matrix with one band on either side at [1 + i - j + 3 j]. */
static int chain_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                          void *user)
{
    (void)t, (void)yp;
    chain *c = user;
    double scale = 1e-2 * (c->n - 1) * (c->n - 1);
    c->jacobians++;
    dfdy[1] = dfdy[1 + 3 * (c->n - 1)] = 1.0;
    for (int i = 1; i < c->n - 1; i++) {
        dfdy[1 + 3 * i] = 2.0 * scale + 3.0 * y[i] * y[i];
        dfdy[2 + 3 * (i - 1)] = dfdy[3 * (i + 1)] = -scale;
        dfdyp[1 + 3 * i] = 1.0;
    }
    return 0;
}

/* Values at t = 1 from 0, inside; the left end starts at 1. */
static dae_stats solve_chain(chain *c, dae_structure structure, bool analytic,
                             dae_linear_solver linear, double *y)
{
    dae_options options = dae_options_default();
    options.rtol = options.atol = 1e-7;
    options.linear_solver = linear;
    dae_residual form = {.n = c->n, .f = chain_f, .user = c, .structure = structure};
    form.jacobian = analytic ? chain_jacobian : NULL;
    if (structure == DAE_STRUCTURE_BANDED) form.lower = form.upper = 1;
    dae_problem *problem;
    dae_solver *solver;
    c->residuals = c->jacobians = 0;
    memset(y, 0, (size_t)c->n * sizeof *y);
    y[0] = 1.0;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, y, NULL), DAE_OK);
    dae_status status = dae_solver_run(solver, 1.0, y, NULL);
    if (status != DAE_OK) print_error("%s\n", dae_solver_diag(solver)->text);
    assert_int_equal(status, DAE_OK);
    dae_stats stats = *dae_solver_stats(solver);
    assert_int_equal(stats.residuals + stats.jacobian_residuals, c->residuals);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return stats;
}

static double *chain_vector(const chain *c)
{
    double *v = calloc((size_t)c->n, sizeof *v);
    assert_non_null(v);
    return v;
}

static void check_close(int n, const double *a, const double *b, double tolerance)
{
    for (int i = 0; i < n; i++) check_below(fabs(a[i] - b[i]), tolerance);
}

/* Dense, banded, sparse, GMRES; differences and callback: one answer. */
static void test_linear_solvers_agree(void **state)
{
    (void)state;
    chain c = {.n = 50};
    double *expected = chain_vector(&c), *y = chain_vector(&c);
    solve_chain(&c, DAE_STRUCTURE_BANDED, true, DAE_LINEAR_AUTO, expected);
    for (int linear = DAE_LINEAR_DENSE; linear <= DAE_LINEAR_GMRES; linear++)
        for (int analytic = 0; analytic <= 1; analytic++) {
            dae_stats s =
                solve_chain(&c, DAE_STRUCTURE_BANDED, analytic, (dae_linear_solver)linear, y);
            check_close(c.n, y, expected, 2e-6);
            assert_int_equal(s.linear_iterations > 0, linear == DAE_LINEAR_GMRES);
            assert_int_equal(c.jacobians > 0, analytic);
            if (analytic) assert_int_equal(s.jacobians, c.jacobians);
        }
    free(expected);
    free(y);
}

/* Differences need a number of evaluations that the structure gives: 3 colours here, for dF/dy and
 * dF/dy', or 50 columns. */
static void test_difference_cost(void **state)
{
    (void)state;
    chain c = {.n = 50};
    double *y = chain_vector(&c);
    dae_stats s = solve_chain(&c, DAE_STRUCTURE_BANDED, false, DAE_LINEAR_AUTO, y);
    assert_true(s.jacobian_residuals >= 3 * s.jacobians);
    assert_true(s.jacobian_residuals <= 10 * s.jacobians);
    s = solve_chain(&c, DAE_STRUCTURE_DENSE, false, DAE_LINEAR_AUTO, y);
    assert_true(s.jacobian_residuals >= 50 * s.jacobians);
    free(y);
}

/* n = 200 and nothing known: the structure is found once, and differences are cheap from then on.
 */
static void test_structure_detection(void **state)
{
    (void)state;
    chain c = {.n = 200};
    double *expected = chain_vector(&c), *y = chain_vector(&c);
    solve_chain(&c, DAE_STRUCTURE_BANDED, true, DAE_LINEAR_AUTO, expected);
    dae_stats s = solve_chain(&c, DAE_STRUCTURE_AUTO, false, DAE_LINEAR_AUTO, y);
    check_close(c.n, y, expected, 2e-6);
    assert_true(s.jacobians > 5);
    assert_true(s.jacobian_residuals <= 2 * c.n + 2 + 10 * s.jacobians);
    free(expected);
    free(y);
}

/* Models with and without their Jacobians. */
static void test_differences_equal_callback(void **state)
{
    (void)state;
    const char *const names[] = {"robertson", "akzo", "hires", "brusselator"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        model *m = model_new(names[k], 0);
        assert_non_null(m);
        assert_non_null(m->form.jacobian);
        double *y[2];
        for (int analytic = 0; analytic <= 1; analytic++) {
            trial tr;
            trial_init(&tr);
            dae_options options = dae_options_default();
            options.rtol = 1e-6;
            options.atol = 1e-8;
            double atol[100]; /* Robertson's kinetics run away if the small species may turn
                                 negative */
            for (int i = 0; m->atol_factor && i < m->form.n && i < 100; i++)
                atol[i] = 1e-8 * m->atol_factor[i];
            if (m->atol_factor) options.atol_by_unknown = atol;
            dae_residual form = m->form;
            if (!analytic) form.jacobian = NULL;
            y[analytic] = calloc((size_t)form.n, sizeof(double));
            trial_open(&tr, &form, &options);
            assert_int_equal(dae_solver_start(tr.solver, m->t0, m->y0, m->yp0), DAE_OK);
            run_to(&tr, m->tend, y[analytic]);
            trial_close(&tr);
        }
        for (int i = 0; i < m->form.n; i++)
            check_below(fabs(y[0][i] - y[1][i]), 1e-4 * fabs(y[1][i]) + 1e-6);
        free(y[0]);
        free(y[1]);
        model_free(m);
    }
}

/* ---- the option struct itself -------------------------------------------------------------------
 */

/* A caller compiled with an older header knows a shorter struct: the rest are defaults. */
static void test_older_header(void **state)
{
    (void)state;
    size_t known = offsetof(dae_options, linear_solver);
    char *memory = malloc(sizeof(dae_options));
    assert_non_null(memory);
    memset(memory, 0x5a, sizeof(dae_options)); /* what lies behind is not ours */
    dae_options *options = (dae_options *)(void *)memory;
    dae_options_fill(options, known);
    for (size_t i = known; i < sizeof(dae_options); i++) assert_int_equal(memory[i], 0x5a);
    assert_int_equal(options->size, known);
    options->method = "bdf";
    options->rtol = options->atol = 1e-7;
    trial tr;
    double y[N], expected[N];
    reference_run(5.0, expected);
    trial_init(&tr);
    trial_start(&tr, options, 0.0);
    run_to(&tr, 5.0, y);
    assert_memory_equal(y, expected, sizeof y);
    trial_close(&tr);
    free(memory);
}

static void test_foreign_size(void **state)
{
    (void)state;
    trial tr;
    trial_init(&tr);
    dae_residual form = form_for(&tr);
    const size_t sizes[2] = {0, 1000 * sizeof(dae_options)};
    assert_int_equal(dae_problem_from_residual(&form, &tr.problem, NULL), DAE_OK);
    for (int k = 0; k < 2; k++) {
        dae_options options = dae_options_default();
        options.size = sizes[k];
        dae_diag diag = {0};
        assert_int_equal(dae_solver_new(tr.problem, &options, &tr.solver, &diag), DAE_ERR_ARGUMENT);
        assert_null(tr.solver);
        assert_int_equal(diag.status, DAE_ERR_ARGUMENT);
    }
    assert_int_equal(dae_solver_new(tr.problem, NULL, &tr.solver, NULL), DAE_OK);
    trial_close(&tr);
}

/* The documented defaults. */
static void test_defaults(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    assert_int_equal(o.size, sizeof o);
    assert_string_equal(o.method, "auto");
    assert_true(o.rtol == 1e-6 && o.atol == 1e-9);
    assert_true(isnan(o.stop_time));
    assert_int_equal(o.max_steps, 100000);
    assert_int_equal(o.max_error_failures, 10);
    assert_int_equal(o.max_convergence_failures, 10);
    assert_true(o.krylov_tolerance == 0.05 && o.newton_tolerance == 0.1);
    assert_int_equal(o.newton_iterations, 4);
    assert_int_equal(o.init_iterations, 50);
    assert_true(o.init_tolerance == 0.01);
    assert_int_equal(o.linear_solver, DAE_LINEAR_AUTO);
}

/* The caller's arrays and structs may go once the solver is made. */
static void test_options_are_copied(void **state)
{
    (void)state;
    double expected[N], y[N], tolerances[N] = {1e-7, 1e-7, 1e-7};
    reference_run(5.0, expected);
    trial tr;
    trial_init(&tr);
    char method[] = "bdf";
    dae_options options = options_for(&tr);
    options.method = method;
    options.rtol_by_unknown = options.atol_by_unknown = tolerances;
    dae_residual form = form_for(&tr);
    trial_open(&tr, &form, &options);
    memset(method, 'x', sizeof method);
    memset(&options, 0x5a, sizeof options);
    memset(&form, 0x5a, sizeof form);
    for (int i = 0; i < N; i++) tolerances[i] = NAN;
    start_exact(&tr, 0.0);
    run_to(&tr, 5.0, y);
    assert_memory_equal(y, expected, sizeof y);
    trial_close(&tr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forth_and_back),
        cmocka_unit_test(test_backward_mirrors_forward),
        cmocka_unit_test(test_tend_is_t0),
        cmocka_unit_test(test_goal_behind),
        cmocka_unit_test(test_initial_step),
        cmocka_unit_test(test_chosen_first_step),
        cmocka_unit_test(test_initial_step_too_long),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_max_step),
        cmocka_unit_test(test_min_step),
        cmocka_unit_test(test_fixed_step),
        cmocka_unit_test(test_max_order),
        cmocka_unit_test(test_min_order),
        cmocka_unit_test(test_stop_time),
        cmocka_unit_test(test_stop_time_rounding),
        cmocka_unit_test(test_stop_time_in_one_step),
        cmocka_unit_test(test_stop_time_guards_f),
        cmocka_unit_test(test_stop_time_behind),
        cmocka_unit_test(test_max_steps_and_resume),
        cmocka_unit_test(test_max_steps_suffices),
        cmocka_unit_test(test_steps_equal_run),
        cmocka_unit_test(test_interrupt_and_resume),
        cmocka_unit_test(test_tolerances_by_variable),
        cmocka_unit_test(test_error_weighed_by_variable),
        cmocka_unit_test(test_tolerance_proportionality),
        cmocka_unit_test(test_user_norm),
        cmocka_unit_test(test_user_weights),
        cmocka_unit_test(test_set_tolerances),
        cmocka_unit_test(test_set_tolerances_before_start),
        cmocka_unit_test(test_error_tests),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_bound_cannot_be_met),
        cmocka_unit_test(test_overshoot),
        cmocka_unit_test(test_output_points),
        cmocka_unit_test(test_restart_inside_step),
        cmocka_unit_test(test_restart_before_start),
        cmocka_unit_test(test_start_twice),
        cmocka_unit_test(test_history_starts_at_order),
        cmocka_unit_test(test_history_saves_the_start),
        cmocka_unit_test(test_history_is_checked),
        cmocka_unit_test(test_restart_drops_history),
        cmocka_unit_test(test_history_without_derivative),
        cmocka_unit_test(test_linear_solvers_agree),
        cmocka_unit_test(test_difference_cost),
        cmocka_unit_test(test_structure_detection),
        cmocka_unit_test(test_differences_equal_callback),
        cmocka_unit_test(test_older_header),
        cmocka_unit_test(test_foreign_size),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_options_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
