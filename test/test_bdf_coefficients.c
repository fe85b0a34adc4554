/* What a change of the step means to a multistep method: the rate of Newton's method with the
 * matrix of another step, and the local error [BCP96 5.2]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "solve/bind/solver.h"

enum { MAX_ORDER = 5 };

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_matrix_converges_as_the_steps_differ),
        cmocka_unit_test(the_local_error_is_never_underestimated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
