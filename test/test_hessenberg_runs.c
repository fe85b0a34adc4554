/* Runs in Hessenberg form with variables u, 0 = k(t,y,z,u) [BH93 (1.4)], as a user sees them:
 * (1.9) of [HW96 VII.1] with sin(2.5 z) as a variable of its own. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { Y1, Y2, Z, U, N };

static int f(const dae_hessenberg_point *at, double *out, void *user)
{
    (void)user;
    out[0] = 0.7 * at->y[1] + at->u[0];
    out[1] = 1.4 * at->y[0] + cos(2.5 * at->z[0]);
    return 0;
}

static int g(const dae_hessenberg_point *at, double *out, void *user)
{
    double growth = *(const double *)user, r = 1.0 + growth * at->t;
    out[0] = at->y[0] * at->y[0] + at->y[1] * at->y[1] - r * r;
    return 0;
}

static int k(const dae_hessenberg_point *at, double *out, void *user)
{
    (void)user;
    double s = sin(2.5 * at->z[0]), u = at->u[0];
    out[0] = u + 0.1 * u * u * u - s - 0.1 * s * s * s;
    return 0;
}

static int k_u(const dae_hessenberg_point *at, double *out, void *user)
{
    (void)user;
    out[0] = 1.0 + 0.3 * at->u[0] * at->u[0];
    return 0;
}

/* u falls through -1/2. */
static int half(double t, const double *y, const double *yp, double *out, void *user)
{
    (void)t, (void)yp, (void)user;
    out[0] = y[U] + 0.5;
    return 0;
}

static double growth;

static dae_solver *open_run(const char *method, double tolerance, double step, bool exact,
                            bool event, dae_problem **problem)
{
    const dae_hessenberg form = {.ny = 2,
                                 .nz = 1,
                                 .nu = 1,
                                 .f = f,
                                 .g = g,
                                 .k = k,
                                 .k_u = exact ? k_u : NULL,
                                 .user = &growth,
                                 .autonomous = growth == 0.0,
                                 .event_count = event,
                                 .event_function = event ? half : NULL};
    const double y0[N] = {1.0, 0.0, 0.0, 0.0};
    dae_options options = dae_options_default();
    dae_solver *solver;
    options.method = method;
    options.rtol = options.atol = tolerance;
    options.fixed_step = step;
    assert_int_equal(dae_problem_from_hessenberg(&form, problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(*problem, &options, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, y0, NULL), DAE_OK);
    return solver;
}

static void run_to(const char *method, double tolerance, double step, bool exact, double t,
                   double *y)
{
    dae_problem *problem;
    dae_solver *solver = open_run(method, tolerance, step, exact, false, &problem);
    assert_int_equal(dae_solver_set_stop_time(solver, t), DAE_OK);
    assert_int_equal(dae_solver_run(solver, t, y, NULL), DAE_OK);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

static const char *const methods[] = {"hem:3", "hem:4", "hem:5", "phem"};
static const int orders[] = {3, 4, 5, 5};

/* The published values at t = 0.2, and u = sin(2.5 z) */
static void the_reference_is_met(void **state)
{
    (void)state;
    growth = 0.0;
    for (int m = 0; m < 8; m++) {
        double y[N];
        run_to(methods[m / 2], 1e-9, 0.0, m % 2, 0.2, y);
        assert_true(fabs(y[Y1] - 0.91114967) < 2e-8);
        assert_true(fabs(y[Y2] - 0.41207557) < 2e-8);
        assert_true(fabs(y[Z] + 0.533220190) < 2e-8);
        assert_true(fabs(y[U] - sin(2.5 * y[Z])) < 1e-12);
    }
}

/* Orders of y, z and u, also on a circle that grows. Differences of f and g limit the errors to
 * 1e-11, so that order 5 is seen from far only; test_hem.c looks closer. */
static void all_have_the_order(void **state)
{
    (void)state;
    for (int m = 0; m < 8; m++) {
        growth = m / 4 ? 0.2 : 0.0;
        const char *method = methods[m % 4];
        double exact[N], y[N], error[2][2] = {{0}};
        run_to(m % 4 == 2 ? "phem" : "hem:5", 1e-12, 0.3 / 240, true, 0.3, exact);
        for (int i = 0; i < 2; i++) {
            run_to(method, 1e-12, 0.3 / ((orders[m % 4] == 5 ? 8 : 16) << i), true, 0.3, y);
            error[i][0] = fmax(fabs(y[Y1] - exact[Y1]), fabs(y[Y2] - exact[Y2]));
            error[i][1] = fmax(fabs(y[Z] - exact[Z]), fabs(y[U] - exact[U]));
        }
        for (int j = 0; j < 2; j++) {
            double order = log2(error[0][j] / error[1][j]);
            if (fabs(order - orders[m % 4]) > (orders[m % 4] < 5 ? 0.2 : 0.75))
                fail_msg("%s, growth %g: order %g of %s (%g, %g)", method, growth, order,
                         j ? "z, u" : "y", error[0][j], error[1][j]);
        }
    }
}

/* Values between the steps, and an event of u */
static void dense_output_and_events_know_u(void **state)
{
    (void)state;
    growth = 0.0;
    for (int m = 0; m < 4; m++) {
        dae_problem *problem;
        dae_solver *solver = open_run(methods[m], 1e-8, 0.0, false, true, &problem);
        double y[N], from, to, at[N];
        assert_int_equal(dae_solver_run(solver, 0.3, y, NULL), DAE_EVENT);
        assert_int_equal(dae_solver_events(solver)[0], -1);
        assert_true(fabs(y[U] + 0.5) < 1e-12);
        assert_true(fabs(y[Z] + asin(0.5) / 2.5) < 1e-6);
        dae_solver_last_step(solver, &from, &to);
        assert_int_equal(dae_solver_at(solver, 0.3 * from + 0.7 * to, 0, at), DAE_OK);
        assert_true(fabs(at[U] - sin(2.5 * at[Z])) < 1e-6);
        assert_true(fabs(at[Y1] * at[Y1] + at[Y2] * at[Y2] - 1.0) < 1e-6);
        dae_solver_free(solver);
        dae_problem_free(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_reference_is_met),
                                       cmocka_unit_test(all_have_the_order),
                                       cmocka_unit_test(dense_output_and_events_know_u)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
