/* The filtered error test (dF/dy' + dF/dy / cj)^-1 dF/dy' e [BCP96 (5.4.9)]: its number on a linear
 * system, and what it is there for, each of which fails without it: algebraic variables that jump,
 * index 2 whose variables are not declared, and small disturbances of stiff equations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "models.h"

/* What the monitor saw: the first attempt, and how many were rejected by the error test. */
typedef struct record {
    double h, error;
    int attempts, rejected;
} record;

static void note(const dae_step_info *info, void *user)
{
    record *r = user;
    if (r->attempts++ == 0) {
        r->h = info->h;
        r->error = info->error;
    }
    r->rejected += info->result == DAE_STEP_ERROR_TEST;
}

static dae_options options_for(record *r, dae_error_test test, const char *variant)
{
    dae_options o = dae_options_default();
    o.method = "bdf";
    o.variant = variant;
    o.error_test = test;
    o.init = DAE_INIT_NONE;
    o.monitor = note;
    o.user = r;
    return o;
}

/* ---- the number ---- */

/* A y' + B y = g(t) of index 1 with A = [1 2; 0 0], B = [1 -1; 1 1], g = (0, sin t) */
static int linear(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] + 2.0 * yp[1] + y[0] - y[1];
    f[1] = y[0] + y[1] - sin(t);
    return 0;
}

/* x := [a b; c d]^-1 x */
static void solve2(double a, double b, double c, double d, double *x)
{
    double det = a * d - b * c, x0 = (d * x[0] - b * x[1]) / det;
    x[1] = (a * x[1] - c * x[0]) / det;
    x[0] = x0;
}

/* 1/2 ||(A + h B)^-1 A e|| for the first step of size h, e = y1 - (y0 + h y0') by implicit Euler */
static double expected_error(double h, const double *y0, const double *yp0, double tolerance)
{
    double y1[2] = {(y0[0] + 2.0 * y0[1]) / h, sin(h)};
    solve2(1.0 / h + 1.0, 2.0 / h - 1.0, 1.0, 1.0, y1);
    double e[2] = {y1[0] - y0[0] - h * yp0[0], y1[1] - y0[1] - h * yp0[1]};
    double filtered[2] = {e[0] + 2.0 * e[1], 0.0};
    solve2(1.0 + h, 2.0 - h, h, h, filtered);
    double a = filtered[0] / (tolerance * (fabs(y0[0]) + 1.0));
    double b = filtered[1] / (tolerance * (fabs(y0[1]) + 1.0));
    return 0.5 * sqrt(0.5 * (a * a + b * b));
}

static void the_number(void **state)
{
    (void)state;
    const double y0[] = {1.0, -1.0}, yp0[] = {4.0, -3.0}, tolerance = 1e-2;
    static const char *const variants[] = {NULL, "dassl"};
    for (int k = 0; k < 2; k++) {
        record r = {0};
        dae_options o = options_for(&r, DAE_ERROR_FILTERED, variants[k]);
        o.rtol = o.atol = tolerance;
        o.initial_step = 0.01;
        dae_problem *p;
        dae_solver *s;
        dae_residual form = {.n = 2, .f = linear};
        assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, y0, yp0), DAE_OK);
        assert_true(dae_solver_step(s, 1.0) >= 0);
        double expected = expected_error(r.h, y0, yp0, tolerance);
        if (!(fabs(r.error / expected - 1.0) <= 1e-4))
            fail_msg("error %.6g, (5.4.9) says %.6g", r.error, expected);
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

/* ---- algebraic variables ---- */

/* x' = -x, z = 1 for t < 1, 2 after it: multiplying by dF/dy' removes the error of z, which no step
 * is short enough for, and which x does not feel. */
static int jump(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] + y[0];
    f[1] = y[1] - (t < 1.0 ? 1.0 : 2.0);
    return 0;
}

static void a_jump_passes(void **state)
{
    (void)state;
    static const char *const variants[] = {NULL, "dassl"};
    for (int k = 0; k < 4; k++) {
        record r = {0};
        bool filtered = k % 2 == 0;
        dae_options o =
            options_for(&r, filtered ? DAE_ERROR_FILTERED : DAE_ERROR_ALL, variants[k / 2]);
        dae_problem *p;
        dae_solver *s;
        double y[2] = {1.0, 1.0}, yp[2] = {-1.0, 0.0};
        o.stop_time = 2.0; /* no value between steps: the history of z has the jump in it */
        assert_int_equal(dae_problem_from_residual(&(dae_residual){.n = 2, .f = jump}, &p, NULL),
                         DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
        dae_status status = dae_solver_run(s, 2.0, y, NULL);
        if (filtered) {
            assert_int_equal(status, DAE_OK);
            assert_true(fabs(y[0] - exp(-2.0)) <= 1e-4 && fabs(y[1] - 2.0) <= 1e-9);
        } else {
            assert_true(status < 0);
        }
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

/* Steps of the stabilised pendulum at 1e-6 without declared kinds, and the error of z1. */
static long steps_of_index_2(dae_error_test test, double *error)
{
    record r = {0};
    dae_options o = options_for(&r, test, NULL);
    model *m = model_new("pendulum2", 0);
    dae_problem *p;
    dae_solver *s;
    double y[6];
    m->form.kinds = NULL;
    o.rtol = o.atol = 1e-6;
    assert_int_equal(dae_problem_from_residual(&m->form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, m->y0, m->yp0), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_OK);
    long steps = dae_solver_stats(s)->steps;
    *error = fabs(y[0] - m->reference[0]);
    dae_solver_free(s);
    dae_problem_free(p);
    model_free(m);
    return steps;
}

/* The plain estimate of multipliers does not go to 0 with h, the filtered one is O(h^k): fewer
 * steps, and the error test means something. */
static void undeclared_index_2(void **state)
{
    (void)state;
    double filtered, plain;
    assert_true(2 * steps_of_index_2(DAE_ERROR_FILTERED, &filtered) <=
                steps_of_index_2(DAE_ERROR_ALL, &plain));
    assert_true(filtered <= 1e-6 && plain > filtered);
}

/* ---- small disturbances of stiff equations ---- */

/* y' = -1e4 (y - cos t) - sin t */
static int stiff(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] + 1e4 * (y[0] - cos(t)) + sin(t);
    return 0;
}

/* From 20 tolerances beside the solution: the plain estimate is 10, and h must shrink until the
 * transient is resolved; h 1e4 = 100 times less is the filtered one, and the step passes. */
static void small_disturbances(void **state)
{
    (void)state;
    for (int filtered = 0; filtered < 2; filtered++) {
        record r = {0};
        dae_options o = options_for(&r, filtered ? DAE_ERROR_FILTERED : DAE_ERROR_ALL, NULL);
        o.rtol = o.atol = 1e-5;
        o.initial_step = 0.01;
        o.max_order = 1;
        dae_problem *p;
        dae_solver *s;
        double y = 1.0 + 20.0 * 2e-5, yp = 0.0;
        assert_int_equal(dae_problem_from_residual(&(dae_residual){.n = 1, .f = stiff}, &p, NULL),
                         DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, &y, &yp), DAE_OK);
        assert_true(dae_solver_step(s, 1.0) >= 0);
        assert_int_equal(r.rejected > 0, !filtered);
        assert_int_equal(dae_solver_run(s, 1.0, &y, NULL), DAE_OK);
        assert_true(fabs(y - cos(1.0)) <= 1e-4);
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number),
        cmocka_unit_test(a_jump_passes),
        cmocka_unit_test(undeclared_index_2),
        cmocka_unit_test(small_disturbances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
