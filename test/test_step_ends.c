/* Where one-step methods end their steps: past tend, with values by dense output there, but not
 * past the stop time. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static double furthest; /* time at which anything was asked for */

static int force(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    furthest = fmax(furthest, at->t);
    f[0] = 0.0;
    f[1] = -1.0;
    return 0;
}

static int rod(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    furthest = fmax(furthest, at->t);
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    return 0;
}

static const char *const methods[] = {"hem:3", "hem:4", "hem:5", "phem",
                                      "prk",   "herk",  "radau", "herk:4"};
enum { METHODS = sizeof methods / sizeof *methods };

static dae_solver *begin(const char *method, double stop, dae_problem **problem)
{
    const dae_mechanical form = {
        .nq = 2, .nlambda = 1, .force = force, .constraint = rod, .scleronomic = true};
    const double y0[5] = {1.0};
    dae_options options = dae_options_default();
    dae_solver *solver;
    options.method = method;
    options.rtol = options.atol = 1e-8;
    options.stop_time = stop;
    furthest = 0.0;
    assert_int_equal(dae_problem_from_mechanical(&form, problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(*problem, &options, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, y0, NULL), DAE_OK);
    return solver;
}

/* The published solution at t = 10 */
static void check_values(const double *y, double allowed)
{
    const double end[4] = {-8.115864461913038e-1, -5.842323513453959e-1, -6.315291490650178e-1,
                           8.772887988410693e-1};
    for (int i = 0; i < 4; i++) assert_true(fabs(y[i] - end[i]) < allowed);
}

static void steps_pass_the_end(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        dae_problem *problem;
        dae_solver *solver = begin(methods[k], NAN, &problem);
        dae_status status;
        double from, to, y[5], again[5];
        while ((status = dae_solver_step(solver, 10.0)) == DAE_STEPPED)
            ;
        assert_int_equal(status, DAE_OK);
        dae_solver_last_step(solver, &from, &to);
        assert_true(dae_solver_time(solver) == 10.0 && from < 10.0 && to > 10.0);
        assert_int_equal(dae_solver_at(solver, 10.0, 0, y), DAE_OK);
        check_values(y, 2e-6);
        long steps = dae_solver_stats(solver)->steps;
        assert_int_equal(dae_solver_step(solver, 0.5 * (10.0 + to)), DAE_OK); /* still in it */
        assert_int_equal(dae_solver_stats(solver)->steps, steps);
        assert_int_equal(dae_solver_run(solver, 11.0, again, NULL), DAE_OK);
        assert_true(dae_solver_stats(solver)->steps > steps);
        dae_solver_free(solver);
        dae_problem_free(problem);
    }
}

/* With differences of a constraint that does not depend on t, too */
static void nothing_is_asked_beyond_the_stop_time(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        dae_problem *problem;
        dae_solver *solver = begin(methods[k], 10.0, &problem);
        double y[5];
        assert_int_equal(dae_solver_run(solver, 10.0, y, NULL), DAE_OK);
        /* herk needs the derivative by t of accelerations, in which f depends on t. */
        if (strncmp(methods[k], "herk", 4) != 0) assert_true(furthest <= 10.0);
        check_values(y, 2e-6);
        dae_solver_free(solver);
        dae_problem_free(problem);
    }
}

/* Methods of one order say so. */
static void other_orders_are_refused(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        const dae_mechanical form = {.nq = 2, .force = force};
        dae_options options = dae_options_default();
        dae_problem *problem;
        dae_solver *solver = NULL;
        dae_diag diag = {0};
        options.method = methods[k];
        options.max_order = 2;
        assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
        dae_status expected = methods[k][0] == 'r' ? DAE_OK : DAE_ERR_ARGUMENT;
        assert_int_equal(dae_solver_new(problem, &options, &solver, &diag), expected);
        dae_solver_free(solver);
        dae_problem_free(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_pass_the_end),
                                       cmocka_unit_test(nothing_is_asked_beyond_the_stop_time),
                                       cmocka_unit_test(other_orders_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
