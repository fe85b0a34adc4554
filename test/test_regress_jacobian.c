/* Matrices by differences where they went wrong once: couplings that appear later, coefficients of
 * y' that drown, solvers that remember, diodes far out, callbacks asked outside the bounds. */
#include "failing_memory.h"
#include "matrix/iteration.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- running a problem ------------------------------------------------------------------------
 */

enum { N = 100 };

/* Solve from (t = 0, y0, y' unknown) to tend; y may be y0. */
static dae_status solve(const dae_residual *form, const dae_options *options, const double *y0,
                        double tend, double *y, dae_stats *stats)
{
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_diag diag;
    assert_int_equal(dae_problem_from_residual(form, &problem, &diag), DAE_OK);
    assert_int_equal(dae_solver_new(problem, options, &solver, &diag), DAE_OK);
    dae_status status = dae_solver_start(solver, 0.0, y0, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, tend, y, NULL);
    *stats = *dae_solver_stats(solver);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

static void check_near(double value, double exact, double error)
{
    if (fabs(value - exact) <= error) return;
    print_error("%.10g is not %.10g within %g\n", value, exact, error);
    fail();
}

/* ---- couplings that are not there at the start -------------------------------------------------
 */

/* y_i' = -y_i + K t (y_{i-1} - 2 y_i + y_{i+1}): all couplings vanish at t = 0 */
static int ramp(double t, const double *y, const double *yp, double *f, void *user)
{
    double K = *(const double *)user;
    for (int i = 0; i < N; i++) {
        double left = i > 0 ? y[i - 1] : 1.0, right = i < N - 1 ? y[i + 1] : 0.0;
        f[i] = yp[i] + y[i] - K * t * (left - 2.0 * y[i] + right);
    }
    return 0;
}

/* y_i' = -y_i, and from t = 1 on y_0 and y_{N/2} are joined */
static int closing(double t, const double *y, const double *yp, double *f, void *user)
{
    double K = *(const double *)user;
    for (int i = 0; i < N; i++) f[i] = yp[i] + y[i];
    if (t <= 1.0) return 0;
    f[0] += K * (y[0] - y[N / 2]);
    f[N / 2] += K * (y[N / 2] - y[0]);
    return 0;
}

/* Each y_i is pushed by its left neighbour once that is beyond 1/2. */
static int contact(double t, const double *y, const double *yp, double *f, void *user)
{
    double K = *(const double *)user;
    for (int i = 0; i < N; i++) {
        double left = i > 0 ? y[i - 1] : t;
        f[i] = yp[i] + y[i];
        if (left > 0.5) f[i] -= K * (left - 0.5 - y[i]);
    }
    return 0;
}

/* As many steps as with a dense matrix, within a half, and the same values within tolerances. */
static void check_like_dense(dae_residual_fn f, double K, dae_linear_solver linear,
                             const double *y0, double tend, double error)
{
    double dense[N], found[N];
    dae_residual form = {.n = N, .f = f, .user = &K};
    dae_options options = dae_options_default();
    dae_stats of_dense, stats;
    options.linear_solver = DAE_LINEAR_DENSE;
    assert_int_equal(solve(&form, &options, y0, tend, dense, &of_dense), DAE_OK);
    options.linear_solver = linear;
    assert_int_equal(solve(&form, &options, y0, tend, found, &stats), DAE_OK);
    assert_true((double)stats.steps <= 1.5 * (double)of_dense.steps);
    assert_true((double)stats.residuals <= 1.5 * (double)of_dense.residuals);
    assert_true(stats.jacobian_residuals < of_dense.jacobian_residuals);
    for (int i = 0; i < N; i++) check_near(found[i], dense[i], error);
}

static void test_ramp(void **state)
{
    (void)state;
    double y0[N];
    for (int i = 0; i < N; i++) y0[i] = 1.0 - i / (double)N;
    check_like_dense(ramp, 1e6, DAE_LINEAR_AUTO, y0, 10.0, 1e-5);
    check_like_dense(ramp, 1e6, DAE_LINEAR_BANDED, y0, 10.0, 1e-5);
}

static void test_closing_switch(void **state)
{
    (void)state;
    double y0[N];
    for (int i = 0; i < N; i++) y0[i] = i;
    check_like_dense(closing, 1e4, DAE_LINEAR_AUTO, y0, 10.0, 1e-5);
    check_like_dense(closing, 1e4, DAE_LINEAR_BANDED, y0, 10.0, 1e-5);
}

static void test_contact(void **state)
{
    (void)state;
    double y0[N] = {0.0};
    check_like_dense(contact, 1e6, DAE_LINEAR_AUTO, y0, 10.0, 1e-4);
}

/* With the incomplete factors of a detected pattern as a preconditioner. */
static void test_switch_preconditioned(void **state)
{
    (void)state;
    double y0[N], y[N], K = 1e4;
    for (int i = 0; i < N; i++) y0[i] = i;
    dae_residual form = {.n = N, .f = closing, .user = &K};
    dae_options options = dae_options_default();
    dae_stats stats;
    options.linear_solver = DAE_LINEAR_GMRES;
    options.preconditioner = DAE_PRECOND_ILU;
    assert_int_equal(solve(&form, &options, y0, 10.0, y, &stats), DAE_OK);
    check_near(y[7], 7.0 * exp(-10.0), 1e-5);
    check_near(y[0] + y[N / 2], 50.0 * exp(-10.0), 1e-5);
}

/* An iteration matrix on an undetected pattern, at a point where all is smooth. */
typedef struct bench {
    double K, y[N], yp[N], weights[N];
    dae_problem *problem;
    dae_stats stats;
    evaluator eval;
    iteration it;
} bench;

static void bench_open(bench *b, dae_residual_fn f)
{
    memset(b, 0, sizeof *b);
    b->K = 10.0;
    dae_residual form = {.n = N, .f = f, .user = &b->K};
    dae_options options = dae_options_default();
    assert_int_equal(dae_problem_from_residual(&form, &b->problem, NULL), DAE_OK);
    b->eval = (evaluator){.problem = b->problem, .stats = &b->stats};
    assert_int_equal(iteration_new(&b->it, &b->eval, &options, NULL), DAE_OK);
    for (int i = 0; i < N; i++) {
        b->y[i] = 1.0 + 0.01 * i;
        b->weights[i] = 1e-6;
    }
}

static void bench_close(bench *b)
{
    iteration_free(&b->it);
    dae_problem_free(b->problem);
}

static iteration_status bench_evaluate(bench *b, double t)
{
    return iteration_evaluate(&b->it, t, b->y, b->yp, 2.0, 0.5, b->weights, NULL);
}

/* Entries of the layout */
static size_t bench_entries(const bench *b)
{
    return b->it.jac.layout.count;
}

static void test_detection_looks_ahead(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, ramp);
    assert_int_equal(bench_evaluate(&b, 0.0), ITERATION_OK);
    assert_int_equal(bench_entries(&b), 3 * N - 2);
    bench_close(&b);
}

/* The matrix on a pattern that has grown solves G x = b: (1 + 2) x_i = b_i but for the joined pair
 * (3 + K) x_0 - K x_m = b_0, (3 + K) x_m - K x_0 = b_m. */
static void test_pattern_grows(void **state)
{
    (void)state;
    bench b;
    double x[N];
    bench_open(&b, closing);
    assert_int_equal(bench_evaluate(&b, 0.0), ITERATION_OK);
    assert_int_equal(bench_entries(&b), N);
    assert_int_equal(iteration_factor(&b.it, 2.0, NULL), ITERATION_OK);
    assert_int_equal(bench_evaluate(&b, 2.0), ITERATION_OK);
    assert_int_equal(bench_entries(&b), N + 2);
    assert_int_equal(iteration_factor(&b.it, 2.0, NULL), ITERATION_OK);
    for (int i = 0; i < N; i++) x[i] = 3.0 * (i + 1.0);
    assert_int_equal(iteration_solve(&b.it, NULL, x), ITERATION_OK);
    double b0 = 3.0, bm = 3.0 * (N / 2 + 1.0), sum = (b0 + bm) / 3.0, less = (b0 - bm) / 23.0;
    for (int i = 1; i < N; i++)
        if (i != N / 2) check_near(x[i], i + 1.0, 1e-5);
    check_near(x[0], 0.5 * (sum + less), 1e-5);
    check_near(x[N / 2], 0.5 * (sum - less), 1e-5);
    assert_int_equal(bench_evaluate(&b, 0.0), ITERATION_OK); /* and never shrinks */
    assert_int_equal(bench_entries(&b), N + 2);
    bench_close(&b);
}

/* A sound pattern is not searched again and again because Newton fails for other reasons. */
static void test_vain_doubts_are_few(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, ramp);
    assert_int_equal(bench_evaluate(&b, 1.0), ITERATION_OK);
    for (int k = 0; k < 3; k++) assert_int_equal(bench_evaluate(&b, 1.0), ITERATION_OK);
    long before = b.stats.jacobian_residuals;
    assert_int_equal(bench_evaluate(&b, 1.0), ITERATION_OK);
    long each = b.stats.jacobian_residuals - before;
    assert_true(each < 10);
    assert_true(iteration_distrust(&b.it));
    for (int k = 0; k < 1000; k++) {
        iteration_distrust(&b.it);
        assert_int_equal(bench_evaluate(&b, 1.0), ITERATION_OK);
    }
    long searches = b.stats.jacobian_residuals - before - 1001 * (each + 1);
    assert_true(searches >= 2 * N && searches <= 12 * (2 * N + 2));
    bench_close(&b);
}

/* Memory that ends in the middle of growing: a clean error, and all is well once it is back. */
static void test_growth_without_memory(void **state)
{
    (void)state;
    iteration_status status = ITERATION_MEMORY;
    for (long k = 0; status == ITERATION_MEMORY; k++) {
        bench b;
        bench_open(&b, closing);
        assert_int_equal(bench_evaluate(&b, 0.0), ITERATION_OK);
        countdown = k;
        status = bench_evaluate(&b, 2.0);
        countdown = -1;
        assert_true(k < 100 && (k > 10 || status == ITERATION_MEMORY));
        assert_int_equal(bench_evaluate(&b, 2.0), ITERATION_OK);
        assert_int_equal(bench_entries(&b), N + 2);
        assert_int_equal(iteration_factor(&b.it, 2.0, NULL), ITERATION_OK);
        bench_close(&b);
    }
    assert_int_equal(status, ITERATION_OK);
}

/* ---- coefficients of y' that drown -------------------------------------------------------------
 */

/* y' = (1/4 - y)/T */
static int fast(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    f[0] = yp[0] + (y[0] - 0.25) / *(const double *)user;
    return 0;
}

static int fast_multiplied(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    f[0] = *(const double *)user * yp[0] + (y[0] - 0.25);
    return 0;
}

/* A capacitor C behind a divider of 1 kOhm resistors at 5 V; user: C */
static int divider(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    f[0] = *(const double *)user * yp[0] + (y[0] - y[1]) * 1e-3;
    f[1] = (y[1] - 5.0) * 1e-3 + (y[1] - y[0]) * 1e-3;
    return 0;
}

/* The same with the capacitor's current as a third variable: y_0 is in no row together with y_0' */
static int divider_current(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    f[0] = *(const double *)user * yp[0] - y[2];
    f[1] = (y[1] - 5.0) * 1e-3 + y[2];
    f[2] = y[2] - (y[1] - y[0]) * 1e-3;
    return 0;
}

/* One more row shows y_0' without any trouble, but not the coefficient that matters. */
static int half_drowned(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    f[0] = yp[0] + (y[0] - 0.25) / *(const double *)user;
    f[1] = y[1] - *(const double *)user * yp[0];
    return 0;
}

static void test_fast_scales(void **state)
{
    (void)state;
    const dae_options options = dae_options_default();
    for (double T = 1e-9; T > 1e-25; T *= 0.1) {
        const double one[3] = {1.0, 0.0, 0.0};
        double y[3], left = exp(-1.0);
        dae_stats stats;
        dae_residual form = {.n = 1, .f = fast, .user = &T};
        assert_int_equal(solve(&form, &options, one, T, y, &stats), DAE_OK);
        check_near(y[0], 0.25 + 0.75 * left, 1e-5);
        form.f = fast_multiplied;
        assert_int_equal(solve(&form, &options, one, T, y, &stats), DAE_OK);
        check_near(y[0], 0.25 + 0.75 * left, 1e-5);
        double C = 1e-3 * T;
        form = (dae_residual){.n = 2, .f = divider, .user = &C};
        assert_int_equal(solve(&form, &options, one, 2.0 * T, y, &stats), DAE_OK);
        check_near(y[0], 5.0 - 4.0 * left, 1e-4);
        form = (dae_residual){.n = 2, .f = half_drowned, .user = &T};
        assert_int_equal(solve(&form, &options, one, T, y, &stats), DAE_OK);
        check_near(y[0], 0.25 + 0.75 * left, 1e-5);
        check_near(y[1], -0.75 * left, 1e-5);
        C = 0.5e-3 * T;
        form = (dae_residual){.n = 3, .f = divider_current, .user = &C};
        assert_int_equal(solve(&form, &options, one, T, y, &stats), DAE_OK);
        check_near(y[0], 5.0 - 4.0 * left, 1e-4);
    }
}

/* Many capacitors and their currents, on a pattern that must be detected: rows C v_i' = i_i, where
 * only v_i' tells that v_i is a state; v_i + R i_i = 1 */
static int many_capacitors(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    for (int i = 0; i < N / 2; i++) {
        int v = 2 * i, c = 2 * i + 1;
        f[v] = *(const double *)user * yp[v] - y[c];
        f[c] = y[v] + 1e3 * y[c] - 1.0;
    }
    return 0;
}

static void test_fast_scales_detected(void **state)
{
    (void)state;
    const dae_options options = dae_options_default();
    for (double C = 1e-9; C > 1e-22; C *= 1e-3) {
        double y0[N] = {0.0}, y[N];
        dae_stats stats;
        dae_residual form = {.n = N, .f = many_capacitors, .user = &C};
        assert_int_equal(solve(&form, &options, y0, 1e3 * C, y, &stats), DAE_OK);
        for (int i = 0; i < N / 2; i++) check_near(y[2 * i], 1.0 - exp(-1.0), 1e-4);
    }
}

/* A first step that is wrong by any power of ten changes neither kinds nor results. */
static void test_first_step_of_any_size(void **state)
{
    (void)state;
    const double one[2] = {1.0, 0.0};
    dae_options options = dae_options_default();
    for (int power = -300; power <= 300; power += 12) {
        double y[2], T = 1.0;
        dae_stats stats;
        options.initial_step = pow(10.0, power);
        dae_residual form = {.n = 1, .f = fast, .user = &T};
        assert_int_equal(solve(&form, &options, one, 1.0, y, &stats), DAE_OK);
        check_near(y[0], 0.25 + 0.75 * exp(-1.0), 1e-5);
        double C = 1e-3;
        form = (dae_residual){.n = 2, .f = divider, .user = &C};
        assert_int_equal(solve(&form, &options, one, 2.0, y, &stats), DAE_OK);
        check_near(y[0], 5.0 - 4.0 * exp(-1.0), 1e-4);
        assert_true(fabs(stats.h0) <= 20.0);
    }
}

/* Variables that are algebraic stay so, however far y' may be moved; a callback that refuses large
 * y' is not an obstacle. */
static int refusing(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    if (fabs(yp[0]) > 1e6 || fabs(yp[1]) > 1e6) return 1;
    f[0] = yp[0] + y[0];
    f[1] = y[1] - sqrt(y[0]);
    return 0;
}

static void test_algebraic_stays_algebraic(void **state)
{
    (void)state;
    const double y0[2] = {4.0, 0.0};
    const dae_options options = dae_options_default();
    double y[2];
    dae_stats stats;
    dae_residual form = {.n = 2, .f = refusing};
    assert_int_equal(solve(&form, &options, y0, 1.0, y, &stats), DAE_OK);
    check_near(y[0], 4.0 * exp(-1.0), 1e-4);
    check_near(y[1], 2.0 * exp(-0.5), 1e-4);
}

/* ---- the same input, the same bits -------------------------------------------------------------
 */

static int robertson(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + 0.04 * y[0] - 1e4 * y[1] * y[2];
    f[1] = yp[1] - 0.04 * y[0] + 1e4 * y[1] * y[2] + 3e7 * y[1] * y[1];
    f[2] = y[0] + y[1] + y[2] - 1.0;
    return 0;
}

/* A nonlinear chain with an algebraic end */
static int chain(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    for (int i = 0; i < N - 1; i++) {
        double left = i > 0 ? y[i - 1] : sin(t), right = y[i + 1];
        f[i] = (1.0 + 0.1 * y[i] * y[i]) * yp[i] - 1e3 * (left - 2.0 * y[i] + right) + y[i] * y[i];
    }
    f[N - 1] = y[N - 1] + 0.5 * sinh(y[N - 1]) - y[N - 2];
    return 0;
}

static void run_once(dae_solver *s, int n, double first, double tend, double *y)
{
    double y0[N] = {first};
    for (int i = 1; i < n; i++) y0[i] = 0.0;
    assert_int_equal(dae_solver_start(s, 0.0, y0, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, tend, y, NULL), DAE_OK);
}

/* A solver that was used before, elsewhere too, does what a new one does. */
static void check_repeats(const dae_residual *form, const dae_options *options, double tend)
{
    double fresh[N], again[N];
    dae_problem *problem;
    dae_solver *solver;
    assert_int_equal(dae_problem_from_residual(form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, options, &solver, NULL), DAE_OK);
    run_once(solver, form->n, 1.0, tend, fresh);
    for (int k = 0; k < 3; k++) {
        run_once(solver, form->n, 1.0, tend, again);
        assert_memory_equal(again, fresh, (size_t)form->n * sizeof *fresh);
        run_once(solver, form->n, 0.9 - (form->f == robertson ? 0.0 : 0.3) * k, 0.4 * tend, again);
    }
    dae_solver_free(solver);
    dae_problem_free(problem);
}

static void test_starts_repeat(void **state)
{
    (void)state;
    static int colptr[N + 1], rowind[3 * N];
    for (int j = 0, next = 0; j < N; j++) {
        for (int i = j - 1; i <= j + 1; i++)
            if (i >= 0 && i < N) rowind[next++] = i;
        colptr[j + 1] = next;
    }
    double K = 1e4;
    dae_options options = dae_options_default();
    dae_residual form = {.n = 3, .f = robertson};
    check_repeats(&form, &options, 4e3);
    form = (dae_residual){.n = N, .f = chain};
    check_repeats(&form, &options, 1.0); /* detected */
    options.linear_solver = DAE_LINEAR_GMRES;
    check_repeats(&form, &options, 1.0); /* banded preconditioner */
    options.preconditioner = DAE_PRECOND_ILU;
    check_repeats(&form, &options, 1.0);
    options = dae_options_default();
    form.structure = DAE_STRUCTURE_SPARSE;
    form.colptr = colptr;
    form.rowind = rowind;
    check_repeats(&form, &options, 1.0);
    form = (dae_residual){.n = N, .f = closing, .user = &K};
    check_repeats(&form, &options, 3.0); /* grows on the way */
}

/* ---- initial values far away
 * ---------------------------------------------------------------------
 */

static double diode(double v)
{
    return 1e-14 * (exp(v / 0.02585) - 1.0);
}

/* A rectifier: capacitor y_0 of 1 uF with a load of 1 kOhm, diode y_1, source behind 10 Ohm */
static int rectifier(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    double current = diode(y[1]);
    f[0] = 1e-6 * yp[0] + y[0] / 1e3 - current;
    f[1] = y[1] - (1.0 - y[0]) + 10.0 * current;
    return 0;
}

/* v + 10 I(v) = 1 by bisection */
static double diode_voltage(void)
{
    double low = 0.0, high = 1.0;
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (low + high);
        if (middle + 10.0 * diode(middle) > 1.0)
            high = middle;
        else
            low = middle;
    }
    return low;
}

static void test_diode_far_out(void **state)
{
    (void)state;
    double exact = diode_voltage();
    for (double guess = -5.0; guess <= 4.5; guess += 0.25) {
        const double y0[2] = {0.0, guess};
        double y[2], yp[2];
        dae_residual form = {.n = 2, .f = rectifier};
        dae_problem *problem;
        dae_solver *solver;
        assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(problem, NULL, &solver, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(solver, 0.0, y0, NULL), DAE_OK);
        assert_int_equal(dae_solver_at(solver, 0.0, 0, y), DAE_OK);
        assert_int_equal(dae_solver_at(solver, 0.0, 1, yp), DAE_OK);
        assert_true(y[0] == 0.0);
        check_near(y[1], exact, 1e-7);
        check_near(yp[0], diode(exact) / 1e-6, 1e-3 * diode(exact) / 1e-6);
        dae_solver_free(solver);
        dae_problem_free(problem);
    }
}

/* Columns of very different sizes are no reason to call a matrix singular: for dF/dy' x = b with
 * rows that share one huge column. */
static int huge_column(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < N; i++)
        f[i] = (i < N - 1 ? 1e-150 * yp[i] : 0.0) + 1e160 * (1.0 + i) * y[N - 1] + (i + 1.0) * y[i];
    return 0;
}

static void test_columns_are_balanced(void **state)
{
    (void)state;
    bench b;
    double cy[N] = {0.0}, cyp[N], x[N];
    bench_open(&b, huge_column);
    memset(b.y, 0, sizeof b.y);
    b.it.jac.recheck = true;
    assert_int_equal(bench_evaluate(&b, 0.0), ITERATION_OK);
    for (int j = 0; j < N; j++) cyp[j] = 1.0;
    cy[N - 1] = 1.0;
    cyp[N - 1] = 0.0;
    assert_int_equal(iteration_factor_columns(&b.it, cy, cyp), ITERATION_OK);
    for (int i = 0; i < N; i++) x[i] = 1e160 * (1.0 + i) + (i < N - 1 ? 1e150 : 0.0);
    assert_int_equal(iteration_solve(&b.it, NULL, x), ITERATION_OK);
    check_near(x[N - 1], 1.0, 1e-6);
    bench_close(&b);
}

/* e^y + 1 = 0 has no solution: the message tells how often it was tried. */
static int impossible(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)yp, (void)user;
    f[0] = exp(y[0]) + 1.0;
    return 0;
}

static void test_message_counts_iterations(void **state)
{
    (void)state;
    const double y0 = 3.0;
    dae_residual form = {.n = 1, .f = impossible};
    dae_problem *problem;
    dae_solver *solver;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, NULL, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, &y0, NULL), DAE_ERR_INITIAL);
    const char *text = strstr(dae_solver_diag(solver)->text, "after ");
    assert_non_null(text);
    assert_true(strtol(text + 6, NULL, 10) > 0);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

/* ---- callbacks within the bounds
 * ------------------------------------------------------------------
 */

typedef struct fence {
    const double *lower, *upper;
    int n;
    long outside; /* calls with y outside */
    dae_residual_fn f;
} fence;

static int fenced(double t, const double *y, const double *yp, double *f, void *user)
{
    fence *w = user;
    bool outside = false;
    for (int i = 0; i < w->n; i++)
        outside = outside || (w->lower && y[i] < w->lower[i]) || (w->upper && y[i] > w->upper[i]);
    w->outside += outside;
    return outside ? 1 : w->f(t, y, yp, f, NULL);
}

static dae_status solve_fenced(fence *w, const double *y0, double tend, double *y, dae_stats *stats)
{
    dae_residual form = {.n = w->n, .f = fenced, .user = w};
    form.lower_bounds = w->lower;
    form.upper_bounds = w->upper;
    dae_options options = dae_options_default();
    options.method = "bdf";
    return solve(&form, &options, y0, tend, y, stats);
}

/* y' = -sqrt(y): (1 - t/2)^2 up to t = 2, then 0 */
static int draining(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + sqrt(y[0]);
    return 0;
}

/* y' = sqrt(1 - y): the same upside down */
static int filling(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - sqrt(1.0 - y[0]);
    return 0;
}

static void test_drain(void **state)
{
    (void)state;
    const double zero = 0.0, one = 1.0;
    for (double t = 0.5; t <= 8.0; t += 0.5) {
        double y, exact = t < 2.0 ? (1.0 - t / 2.0) * (1.0 - t / 2.0) : 0.0;
        dae_stats stats;
        fence w = {.n = 1, .lower = &zero, .f = draining};
        assert_int_equal(solve_fenced(&w, &one, t, &y, &stats), DAE_OK);
        check_near(y, exact, 1e-5);
        assert_int_equal(w.outside, 0);
        assert_true(stats.attempts < 200);
        w = (fence){.n = 1, .upper = &one, .f = filling};
        assert_int_equal(solve_fenced(&w, &zero, t, &y, &stats), DAE_OK);
        check_near(y, 1.0 - exact, 1e-5);
        assert_int_equal(w.outside, 0);
    }
}

/* Bounds that the solution respects cost little. */
static void test_robertson_fenced(void **state)
{
    (void)state;
    const double low[3] = {0.0, 0.0, 0.0}, y0[3] = {1.0, 0.0, 0.0};
    double y[3], free[3];
    dae_stats stats, of_free;
    fence w = {.n = 3, .f = robertson};
    assert_int_equal(solve_fenced(&w, y0, 4e5, free, &of_free), DAE_OK);
    w.lower = low;
    assert_int_equal(solve_fenced(&w, y0, 4e5, y, &stats), DAE_OK);
    assert_int_equal(w.outside, 0);
    assert_true((double)stats.attempts <= 1.2 * (double)of_free.attempts);
    assert_true((double)stats.residuals <= 1.2 * (double)of_free.residuals);
    for (int i = 0; i < 3; i++) check_near(y[i], free[i], 1e-4);
}

/* A solution that leaves the bounds is an error still, not a value put on the bound. */
static int falling(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)y, (void)user;
    f[0] = yp[0] + 1.0;
    return 0;
}

static void test_no_clamping(void **state)
{
    (void)state;
    const double zero = 0.0, one = 1.0;
    double y;
    dae_stats stats;
    fence w = {.n = 1, .lower = &zero, .f = falling};
    assert_int_equal(solve_fenced(&w, &one, 2.0, &y, &stats), DAE_ERR_BOUND);
    check_near(stats.t, 1.0, 1e-6);
    check_near(y, 0.0, 1e-6);
    assert_int_equal(w.outside, 0);
}

int main(void)
{
    stays_out = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ramp),
        cmocka_unit_test(test_closing_switch),
        cmocka_unit_test(test_contact),
        cmocka_unit_test(test_switch_preconditioned),
        cmocka_unit_test(test_detection_looks_ahead),
        cmocka_unit_test(test_pattern_grows),
        cmocka_unit_test(test_vain_doubts_are_few),
        cmocka_unit_test(test_growth_without_memory),
        cmocka_unit_test(test_fast_scales),
        cmocka_unit_test(test_fast_scales_detected),
        cmocka_unit_test(test_first_step_of_any_size),
        cmocka_unit_test(test_algebraic_stays_algebraic),
        cmocka_unit_test(test_starts_repeat),
        cmocka_unit_test(test_diode_far_out),
        cmocka_unit_test(test_columns_are_balanced),
        cmocka_unit_test(test_message_counts_iterations),
        cmocka_unit_test(test_drain),
        cmocka_unit_test(test_robertson_fenced),
        cmocka_unit_test(test_no_clamping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
