/* Values between the ends of steps of one-step methods: algebraic variables by their equations, so
 * that they are as accurate as the others; looking does not change the run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

static const char *const methods[] = {"radau",   "radau:5", "radau:9", "radau:13", "lobattoc:6",
                                      "gauss:6", "sirk:2",  "sdirk:4", "rodas:p2", "rodas"};
enum { METHODS = 10, N = 4 };

/* y1' = y1 cos t, y2' = -y2^2, 0 = z^3 - (y1 y2)^3, 0 = w - y1 cos 5t: nothing feels w, so that no
 * error test sees how fast it is */
static int fast_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double product = y[0] * y[1];
    f[0] = yp[0] - y[0] * cos(t);
    f[1] = yp[1] + y[1] * y[1];
    f[2] = y[2] * y[2] * y[2] - product * product * product;
    f[3] = y[3] - y[0] * cos(5.0 * t);
    return 0;
}

static void fast_solution(double t, double *y)
{
    y[0] = exp(sin(t));
    y[1] = 1.0 / (1.0 + t);
    y[2] = y[0] * y[1];
    y[3] = y[0] * cos(5.0 * t);
}

static dae_solver *open_fast(const char *name, double rtol, dae_dense dense, dae_problem **p)
{
    dae_residual form = {.n = N, .f = fast_f};
    dae_options o = dae_options_default();
    dae_solver *s;
    double y[N];
    o.method = name;
    o.rtol = o.atol = rtol;
    o.dense = dense;
    fast_solution(0.0, y);
    assert_int_equal(dae_problem_from_residual(&form, p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(*p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
    return s;
}

/* Raise error[] to the errors at seven places within the last step. */
static void look(dae_solver *s, double error[N])
{
    double a, b, y[N], exact[N];
    dae_solver_last_step(s, &a, &b);
    for (int j = 1; j < 8; j++) {
        double t = a + (b - a) * j / 8.0;
        fast_solution(t, exact);
        assert_int_equal(dae_solver_at(s, t, 0, y), DAE_OK);
        for (int i = 0; i < N; i++) error[i] = fmax(error[i], fabs(y[i] - exact[i]));
    }
}

/* z and w are within three times the error of y1 and y2, of which they are smooth functions, and
 * the tolerance. (Interpolated, w was wrong by 1e3 to 1e5 tolerances.) */
static void algebraic_variables_are_as_good(void **state)
{
    (void)state;
    for (int k = 0; k < 2 * METHODS; k++)
        for (double rtol = 1e-4; rtol > 1e-9; rtol *= 1e-2) {
            dae_problem *p;
            dae_dense dense = k % 2 ? DAE_DENSE_SMOOTH : DAE_DENSE_CONTINUOUS;
            dae_solver *s = open_fast(methods[k / 2], rtol, dense, &p);
            double error[N] = {0.0};
            while (dae_solver_step(s, 10.0) == DAE_STEPPED) look(s, error);
            double limit = 3.0 * (fmax(error[0], error[1]) + rtol);
            if (!(error[2] <= limit && error[3] <= limit))
                fail_msg("%s, %g: errors %.2e %.2e, but %.2e %.2e", methods[k / 2], rtol, error[0],
                         error[1], error[2], error[3]);
            dae_solver_free(s);
            dae_problem_free(p);
        }
}

/* The same steps and values, whether one looks or not. */
static void looking_changes_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        dae_problem *p[2];
        double error[N] = {0.0}, y[2][N], begin, end;
        dae_solver *s[2];
        for (int i = 0; i < 2; i++) {
            s[i] = open_fast(methods[k], 1e-6, DAE_DENSE_CONTINUOUS, &p[i]);
            while (dae_solver_step(s[i], 3.0) == DAE_STEPPED)
                if (i == 1) look(s[i], error);
            dae_solver_last_step(s[i], &begin, &end);
            assert_int_equal(dae_solver_at(s[i], end, 0, y[i]), DAE_OK);
        }
        assert_int_equal(dae_solver_stats(s[0])->steps, dae_solver_stats(s[1])->steps);
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        for (int i = 0; i < 2; i++) {
            dae_solver_free(s[i]);
            dae_problem_free(p[i]);
        }
    }
}

/* y' = -y^2 - y/10 + (1 + sin 4t)/100, 0 = z - sqrt y, y >= 0: F is not asked outside, nor are
 * values. */
static int bounded_f(double t, const double *y, const double *yp, double *f, void *user)
{
    if (y[0] < 0.0) ++*(int *)user;
    f[0] = yp[0] + y[0] * y[0] + 0.1 * y[0] - 0.01 * (1.0 + sin(4.0 * t));
    f[1] = y[1] - sqrt(y[0]);
    return 0;
}

static void outputs_keep_bounds(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        int outside = 0;
        const double lower[2] = {0.0, -INFINITY};
        dae_residual form = {.n = 2, .f = bounded_f, .user = &outside, .lower_bounds = lower};
        dae_problem *p;
        dae_solver *s;
        dae_options o = dae_options_default();
        double y[2] = {1e-4, 1e-2}, a, b;
        o.method = methods[k];
        o.rtol = o.atol = 1e-3;
        assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
        while (dae_solver_step(s, 20.0) > 0) {
            dae_solver_last_step(s, &a, &b);
            for (int j = 1; j < 16; j++) {
                assert_int_equal(dae_solver_at(s, a + (b - a) * j / 16.0, 0, y), DAE_OK);
                if (!(y[0] >= 0.0 && fabs(y[1] - sqrt(y[0])) < 1e-3))
                    fail_msg("%s: y = %.3e, z = %.6f", methods[k], y[0], y[1]);
            }
        }
        assert_int_equal(outside, 0);
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

/* An equation that has no value between the ends: nobody can tell how good an interpolated value
 * is, and none comes back. */
static int gap_f(double t, const double *y, const double *yp, double *f, void *user)
{
    f[0] = yp[0] + y[0];
    f[1] = y[1] - y[0];
    (void)t;
    return *(const int *)user;
}

static void failures_in_outputs(void **state)
{
    (void)state;
    int answer = 0;
    dae_residual form = {.n = 2, .f = gap_f, .user = &answer};
    for (int k = 0; k < METHODS; k++) {
        dae_problem *p;
        dae_solver *s;
        dae_options o = dae_options_default();
        double y[2] = {1.0, 1.0}, a, b;
        o.method = methods[k];
        assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
        for (int i = 0; i < 3; i++) assert_int_equal(dae_solver_step(s, 10.0), DAE_STEPPED);
        dae_solver_last_step(s, &a, &b);
        answer = 1;
        assert_int_equal(dae_solver_at(s, 0.5 * (a + b), 0, y), DAE_ERR_EVALUATION);
        assert_non_null(strstr(dae_solver_diag(s)->text, "cannot be computed to the tolerances"));
        answer = -1;
        assert_int_equal(dae_solver_at(s, 0.5 * (a + b), 0, y), DAE_ERR_CALLBACK);
        answer = 0;
        assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_OK);
        assert_true(fabs(y[1] - exp(-1.0)) < 1e-4);
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(algebraic_variables_are_as_good),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(outputs_keep_bounds),
        cmocka_unit_test(failures_in_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
