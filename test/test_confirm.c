/* Whether an iteration has come to a solution: F where it ended and a matrix that is valid there,
 * not the size of its corrections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "control/confirm.h"
#include "solve/bind/solver.h"

/* A resistor and a diode, 0 = i - (exp(40 v) - 1)/1e14 and 0 = v + 1000 i - u with u = -3: v = u */
static int diode_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)yp, (void)user;
    f[0] = y[1] - 1e-14 * (exp(40.0 * y[0]) - 1.0);
    f[1] = y[0] + 1e3 * y[1] + 3.0;
    return 0;
}

/* 0 = y_1 - y_0^2 - 1, y_0' = - y_0: partial derivatives of another y_0 make y_1 follow its errors
 */
static int follower_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    f[1] = y[1] - y[0] * y[0] - 1.0;
    return 0;
}

static bool outside;

/* y >= 0 and no value below */
static int root_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    outside = outside || y[0] < 0.0 || y[1] < 0.0;
    f[0] = yp[0] + sqrt(y[0]);
    f[1] = y[1];
    return 0;
}

static dae_solver *open_two(dae_residual_fn f, const double *lower, dae_problem **problem)
{
    dae_residual form = {.n = 2, .f = f, .lower_bounds = lower};
    dae_options o = dae_options_default();
    double y[2] = {0.0, 1.0}, yp[2] = {0.0, 0.0};
    dae_solver *s;
    o.init = DAE_INIT_NONE;
    o.method = "bdf";
    assert_int_equal(dae_problem_from_residual(&form, problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(*problem, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    return s;
}

/* Whether (y, y') passes with the matrix of `at`; `anew`: with that of y itself */
static bool passes(dae_solver *s, const double *at, const double *y, bool anew)
{
    const double yp[2] = {0.0, 0.0}, cj = 10.0;
    double e[2], f[2], point[2], slope[2];
    iteration *it = &s->bound.matrix;
    iteration_end end = {.eval = &s->bound.eval,
                         .matrix = it,
                         .norm = &s->bound.norm,
                         .cj = cj,
                         .y = y,
                         .yp = yp,
                         .part = 0.1,
                         .e = e,
                         .f = f,
                         .point = point,
                         .slope = slope};
    bool confirmed = false;
    assert_int_equal(iteration_evaluate(it, 0.0, at, yp, cj, 0.1, s->bound.norm.weights, NULL),
                     ITERATION_OK);
    assert_int_equal(iteration_factor(it, cj, NULL), ITERATION_OK);
    attempt_status status =
        anew ? iteration_confirm_anew(&end, 0.1, &confirmed) : iteration_confirm(&end, &confirmed);
    assert_int_equal(status, ATTEMPT_OK);
    return confirmed;
}

/* With the matrix of v = 2, where the diode conducts 5.5e20 A/V, Newton's correction at v = -1e6 is
 * far below the tolerance, and so is the next one. */
static void matrix_of_another_point(void **state)
{
    (void)state;
    dae_problem *p;
    dae_solver *s = open_two(diode_f, NULL, &p);
    const double closed[2] = {2.0, 0.0}, far[2] = {-1e6, 1e3 - 3e-3},
                 right[2] = {-3.0 + 1e-11, -1e-14};
    assert_false(passes(s, closed, far, false));
    assert_false(passes(s, closed, far, true));
    assert_false(passes(s, far, far, false)); /* the correction itself is 1e6 */
    assert_true(passes(s, far, right, false));
    assert_true(passes(s, closed, right, true));
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Errors that one variable makes in another, and that are gone with the next correction, are no
 * doubt. */
static void errors_that_pass_on(void **state)
{
    (void)state;
    dae_problem *p;
    dae_solver *s = open_two(follower_f, NULL, &p);
    const double at[2] = {30.0, 901.0}, y[2] = {0.0, 1.0};
    assert_true(passes(s, at, y, false));
    dae_solver_free(s);
    dae_problem_free(p);
}

/* F is not asked where it does not exist. */
static void within_bounds(void **state)
{
    (void)state;
    dae_problem *p;
    const double lower[2] = {0.0, 0.0}, y[2] = {0.0, 0.0};
    dae_solver *s = open_two(root_f, lower, &p);
    const double at[2] = {1.0, 0.0};
    outside = false;
    passes(s, at, y, false);
    assert_false(outside);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Rates count from corrections near the solution alone. */
static void local_rates(void **state)
{
    (void)state;
    error_norm norm = {.rtol = 1e-6};
    assert_true(iteration_is_local(&norm, (correction_sizes){100.0, 100.0, 1.0}));
    assert_false(iteration_is_local(&norm, (correction_sizes){1e18, 1e18, 1.0}));
    assert_false(iteration_is_local(&norm, (correction_sizes){1e18, 0.4, 0.2}));
    assert_false(iteration_is_local(&norm, (correction_sizes){1e4, 100.0, 1e-9}));
    assert_true(iteration_is_local(&norm, (correction_sizes){1e4, 100.0, 1.0}));
    norm.rtol = 1e-3; /* 100 tolerances are a tenth of the variable */
    assert_false(iteration_is_local(&norm, (correction_sizes){100.0, 100.0, 1.0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_of_another_point), cmocka_unit_test(errors_that_pass_on),
        cmocka_unit_test(within_bounds), cmocka_unit_test(local_rates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
