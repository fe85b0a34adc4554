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

/* What one correction leaves of an error: M e, as F = (I - M) y and G = I */
static double left_over[2][2];

static int linear_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)yp, (void)user;
    for (int i = 0; i < 2; i++) f[i] = y[i] - left_over[i][0] * y[0] - left_over[i][1] * y[1];
    return 0;
}

static int identity(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                    void *user)
{
    (void)t, (void)y, (void)yp, (void)user;
    for (int i = 0; i < 4; i++) dfdy[i] = i % 3 == 0, dfdyp[i] = 0.0;
    return 0;
}

static dae_solver *open_form(const dae_residual *form, double y1, dae_problem **problem)
{
    dae_options o = dae_options_default();
    double y[2] = {0.0, y1}, yp[2] = {0.0, 0.0};
    dae_solver *s;
    o.init = DAE_INIT_NONE;
    o.method = "bdf";
    assert_int_equal(dae_problem_from_residual(form, problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(*problem, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    return s;
}

static dae_solver *open_two(dae_residual_fn f, const double *lower, dae_problem **problem)
{
    return open_form(&(dae_residual){.n = 2, .f = f, .lower_bounds = lower}, 1.0, problem);
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

/* Whether y = 0 passes where corrections leave M = ((a, b), (c, d)) e of an error */
static bool passes_with(double a, double b, double c, double d)
{
    dae_problem *p;
    dae_solver *s =
        open_form(&(dae_residual){.n = 2, .f = linear_f, .jacobian = identity}, 0.0, &p);
    const double zero[2] = {0.0, 0.0};
    left_over[0][0] = a, left_over[0][1] = b, left_over[1][0] = c, left_over[1][1] = d;
    const bool passed = passes(s, zero, zero, false);
    dae_solver_free(s);
    dae_problem_free(p);
    return passed;
}

/* Three corrections tell: one that leaves 3 per cent, or a later one that leaves half of the first
 * error and 3/10 of what the one before left. The first errors are between 1/2 and 1, so that the
 * second of M = ((0, b), (c, 0)) leaves between bc/2 and bc of them, and the first up to c. */
static void rates(void **state)
{
    (void)state;
    assert_true(passes_with(0.29, 0.0, 0.0, 0.29));
    assert_true(passes_with(0.31, 0.0, 0.0, 0.31)); /* its cube is below 3 per cent */
    assert_false(passes_with(0.4, 0.0, 0.0, 0.4));
    assert_true(passes_with(0.0, 0.045, 10.0, 0.0));
    assert_false(passes_with(0.0, 0.02, 100.0, 0.0)); /* 1 and more is left */
    assert_false(passes_with(0.0, 0.9, 0.5, 0.0));    /* 0.2 and more: not 3/10 of 0.9 */
    assert_true(passes_with(0.0, 0.0, 5e3, 0.0));     /* errors grow before they are gone */
    assert_false(passes_with(0.0, 0.0, 5e4, 0.0));
}

/* Tolerances by which (x, v) moved away from 0, the more of both; F has no value there */
static double asked;

static int refusing_f(double t, const double *y, const double *yp, double *f, void *user)
{
    const error_norm *norm = user;
    (void)t, (void)yp;
    f[0] = f[1] = 0.0;
    if (!norm->newton) return 0; /* at the start of the run */
    asked = fmax(fabs(y[0]) * norm->newton[0], fabs(y[1]) * norm->newton[1]);
    return 1;
}

/* Of second order x is displaced by so little that x' = cj x moves by no more tolerances. */
static void displacements_of_second_order(void **state)
{
    (void)state;
    int place = 0, velocity = 1;
    const second_order second = {.n = 1, .place = &place, .velocity = &velocity, .order = 2};
    const double zero[2] = {0.0, 0.0};
    error_norm norm = {.newton = NULL};
    dae_problem *p;
    const dae_residual form = {.n = 2, .f = refusing_f, .user = &norm};
    dae_solver *s = open_form(&form, 0.0, &p);
    norm = s->bound.norm;
    for (double cj = 1e-3; cj < 1e7; cj *= 1e3) {
        double e[2], f[2], point[2], slope[2];
        iteration_end end = {.eval = &s->bound.eval,
                             .norm = &norm,
                             .y = zero,
                             .yp = zero,
                             .sum = zero,
                             .cj = cj,
                             .second = &second,
                             .part = 0.1,
                             .e = e,
                             .f = f,
                             .point = point,
                             .slope = slope};
        bool confirmed = true;
        asked = 0.0;
        assert_int_equal(iteration_confirm(&end, &confirmed), ATTEMPT_OK);
        assert_false(confirmed);
        assert_true(asked >= 0.05 * (1.0 - 1e-9) && asked <= 0.1 * (1.0 + 1e-9));
    }
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
    assert_true(iteration_is_local(&norm, (correction_sizes){5e4, 100.0, 1.0}));
    assert_false(iteration_is_local(&norm, (correction_sizes){5e5, 100.0, 1.0}));
    assert_true(iteration_is_local(&norm, (correction_sizes){1e4, 100.0, 5e-3}));
    assert_false(iteration_is_local(&norm, (correction_sizes){1e4, 100.0, 5e-4}));
    norm.rtol = 1e-3; /* 100 tolerances are a tenth of the variable */
    assert_false(iteration_is_local(&norm, (correction_sizes){100.0, 100.0, 1.0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrix_of_another_point),
                                       cmocka_unit_test(errors_that_pass_on),
                                       cmocka_unit_test(rates),
                                       cmocka_unit_test(displacements_of_second_order),
                                       cmocka_unit_test(within_bounds),
                                       cmocka_unit_test(local_rates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
