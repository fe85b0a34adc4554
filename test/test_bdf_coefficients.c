/* What a change of the step means to a multistep method: the rate of Newton's method with the
 * matrix of another step, and the local error [BCP96 5.2]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "solve/bind/solver.h"

enum { MAX_ORDER = 6 };

/* y' = -lambda y */
static int decay(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    f[0] = yp[0] + *(const double *)user * y[0];
    return 0;
}

/* y' = (t^{k+1})' */
static int power(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)y;
    int k = *(const int *)user;
    f[0] = yp[0] - (k + 1) * pow(t, k);
    return 0;
}

static dae_solver *open_scalar(dae_residual_fn f, void *user, double y0, dae_problem **problem)
{
    dae_residual form = {.n = 1, .f = f, .user = user};
    dae_options options = dae_options_default();
    dae_solver *s;
    double yp0 = 0.0;
    options.method = "bdf";
    options.newton_tolerance = 1e-2;
    options.newton_iterations = 10;
    options.max_order = MAX_ORDER;
    options.init = DAE_INIT_NONE;
    assert_int_equal(dae_problem_from_residual(&form, problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(*problem, &options, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y0, &yp0), DAE_OK);
    return s;
}

/* The rate of Newton's method with shift cj, from y = 1, y' = -1/2 */
static double rate_with(dae_solver *s, double cj)
{
    double y0 = 1.0, yp0 = -0.5, y, yp, e;
    corrector c = {.t = 0.0,
                   .h = 1.0 / cj,
                   .cj = cj,
                   .tightness = 1.0,
                   .y0 = &y0,
                   .yp0 = &yp0,
                   .y_old = &y0,
                   .y = &y,
                   .yp = &yp,
                   .e = &e};
    assert_int_equal(newton_solve(&s->bound.newton, &c), ATTEMPT_OK);
    return s->bound.newton.rate;
}

/* F' = cj + lambda, the matrix has cj' + lambda: with the factor 2 cj' / (cj + cj') the rate is
 * |cj - cj'| / (cj + cj') for lambda = 0 and lambda = infinity, and less between (5.2.14). */
static void an_old_matrix_converges_as_the_steps_differ(void **state)
{
    (void)state;
    const double lambdas[] = {0.0, 1.0, 10.0, 1e3, 1e8}, ratios[] = {0.8, 0.9, 1.1, 1.3};
    for (size_t i = 0; i < sizeof lambdas / sizeof *lambdas; i++)
        for (size_t k = 0; k < sizeof ratios / sizeof *ratios; k++) {
            double lambda = lambdas[i], cj = 10.0;
            dae_problem *problem;
            dae_solver *s = open_scalar(decay, &lambda, 1.0, &problem);
            rate_with(s, cj);
            long factorisations = dae_solver_stats(s)->factorisations;
            double rate = rate_with(s, ratios[k] * cj);
            assert_int_equal(dae_solver_stats(s)->factorisations, factorisations);
            double most = fabs(ratios[k] - 1.0) / (ratios[k] + 1.0);
            double expected =
                fabs(1.0 - 2.0 / (1.0 + ratios[k]) * (ratios[k] * cj + lambda) / (cj + lambda));
            assert_true(rate <= most + 1e-3);
            assert_true(fabs(rate - expected) < 1e-3);
            dae_solver_free(s);
            dae_problem_free(problem);
        }
}

/* A step of `factor` times the distance of the values behind it, from exact values of t^{k+1}: the
 * truncation error -alpha_s (y - y(t)) over what the prediction lacks, and what the method takes
 * for it */
static void one_step(int k, double factor, double *constant, double *taken)
{
    double past_t[MAX_ORDER + 1], past_y[MAX_ORDER + 1], yp = 0.0, alpha_s = 0.0;
    dae_problem *problem;
    dae_solver *s = open_scalar(power, &k, 0.0, &problem);
    for (int i = 0; i <= k; i++) {
        past_t[i] = -i;
        past_y[i] = pow(past_t[i], k + 1);
    }
    start_point at = {
        .h = 1.0, .y = past_y, .yp = &yp, .history = k + 1, .past_t = past_t, .past_y = past_y};
    attempt a;
    s->bound.method->start(s->bound.state, s->bound.scratch, &s->bound.context, &at);
    s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, factor, k, &a);
    assert_int_equal(a.status, ATTEMPT_OK);
    for (int i = 1; i <= k; i++) alpha_s -= 1.0 / i;
    double exact = pow(factor, k + 1), prediction = a.y[0] - a.estimate[0];
    *constant = fabs(alpha_s * (a.y[0] - exact) / (exact - prediction));
    *taken = a.error_constant;
    double error = a.error_constant * fabs(a.estimate[0]);
    assert_true(fabs(a.error * s->bound.norm.weights[0] - error) <= 1e-12 * error);
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* The truncation error is |alpha_{k+1} + alpha_s - alpha_0| times what the prediction lacks: the
 * constant of the estimate is never below it (5.2.21), and equal to it where the step grows. If it
 * shrinks, the error of interpolation is larger, with alpha_{k+1} = h / psi_{k+1}. */
static void the_local_error_is_never_underestimated(void **state)
{
    (void)state;
    const double factors[] = {0.25, 0.5, 0.9, 1.0, 1.25, 1.5, 2.0};
    for (int k = 2; k <= MAX_ORDER; k++)
        for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
            double constant, taken, alpha = factors[i] / (factors[i] + k);
            one_step(k, factors[i], &constant, &taken);
            double expected = fmax(constant, alpha);
            if (factors[i] >= 1.0) assert_true(fabs(expected - constant) < 1e-6);
            if (!(fabs(taken - expected) < 1e-6))
                fail_msg("order %d, step times %g: %g, not %g", k, factors[i], taken, expected);
        }
}

/* BDF on uniform grids [Wun05 Table 2.1], times 60 */
static void weights_are_those_of_the_table(void **state)
{
    (void)state;
    static const double printed[MAX_ORDER][MAX_ORDER + 1] = {{60, -60},
                                                             {90, -120, 30},
                                                             {110, -180, 90, -20},
                                                             {125, -240, 180, -80, 15},
                                                             {137, -300, 300, -200, 75, -12},
                                                             {147, -360, 450, -400, 225, -72, 10}};
    const double h = 0.25;
    for (int k = 1; k <= MAX_ORDER; k++) {
        double t[MAX_ORDER + 1], w[MAX_ORDER + 1];
        for (int i = 0; i <= k; i++) t[i] = 3.0 - i * h;
        assert_int_equal(dae_bdf_weights(1, k + 1, t, w, NULL), DAE_OK);
        for (int i = 0; i <= k; i++) assert_true(fabs(60.0 * h * w[i] - printed[k - 1][i]) < 1e-11);
    }
}

/* On any grid they are exact for polynomials: derivatives of t^p at t_0. */
static void weights_are_exact_for_polynomials(void **state)
{
    (void)state;
    const double t[] = {1.3, 1.1, 0.4, 0.35, -0.2};
    for (int d = 0; d < 5; d++)
        for (int p = 0; p < 5; p++) {
            double w[5], sum = 0.0, factor = 1.0;
            assert_int_equal(dae_bdf_weights(d, 5, t, w, NULL), DAE_OK);
            for (int i = 0; i < 5; i++) sum += w[i] * pow(t[i], p);
            for (int m = 0; m < d; m++) factor *= p - m;
            double exact = p < d ? 0.0 : factor * pow(t[0], p - d);
            assert_true(fabs(sum - exact) < 1e-9);
        }
}

/* The step of bdf is the formula: y' - (w_1 y_{n-1} + ..) - w_0 y_n = 0, order 6 */
static void order_6_is_that_formula(void **state)
{
    (void)state;
    double past_t[7], past_y[7], w[7], t[7], lambda = 2.0, yp = -1.0, sum = 0.0;
    dae_problem *problem;
    dae_solver *s = open_scalar(decay, &lambda, 1.0, &problem);
    for (int i = 0; i < 7; i++) {
        past_t[i] = -0.1 * i;
        past_y[i] = exp(-lambda * past_t[i]);
        t[i] = 0.1 - 0.1 * i;
    }
    start_point at = {
        .h = 0.1, .y = past_y, .yp = &yp, .history = 7, .past_t = past_t, .past_y = past_y};
    attempt a;
    s->bound.method->start(s->bound.state, s->bound.scratch, &s->bound.context, &at);
    s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, 0.1, 6, &a);
    assert_int_equal(a.status, ATTEMPT_OK);
    assert_int_equal(dae_bdf_weights(1, 7, t, w, NULL), DAE_OK);
    for (int i = 1; i < 7; i++) sum += w[i] * past_y[i - 1];
    assert_true(fabs(a.y[0] + sum / (w[0] + lambda)) < 1e-12);
    dae_solver_free(s);
    dae_problem_free(problem);
}

static void bad_weights(void **state)
{
    (void)state;
    const double t[] = {1.0, 0.5, 0.5, NAN};
    const int orders[] = {2, 2, 2, 2};
    double w[4];
    dae_diag diag;
    assert_int_equal(dae_bdf_weights(1, 3, t, w, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "t[1] and t[2] are both 0.5"));
    assert_int_equal(dae_bdf_weights(1, 4, t, w, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_bdf_weights(2, 2, t, w, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "derivative 2 of a polynomial through 2 values"));
    assert_int_equal(dae_bdf_modified(2, 2, 2, t, orders, w, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "more than the 2 times"));
    assert_int_equal(dae_bdf_modified(2, 1, 2, t, orders, w, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "orders[0] = 2"));
    assert_int_equal(dae_bdf_modified(9, 2, 2, t, orders, w, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_bdf_modified(2, 2, 2, NULL, orders, w, &diag), DAE_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_matrix_converges_as_the_steps_differ),
        cmocka_unit_test(the_local_error_is_never_underestimated),
        cmocka_unit_test(weights_are_those_of_the_table),
        cmocka_unit_test(weights_are_exact_for_polynomials),
        cmocka_unit_test(order_6_is_that_formula),
        cmocka_unit_test(bad_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
