/* The frame of Newton's method for stages: every method that uses it heeds the number of iterations
 * that the user asks for, fewer and more than its own, and tells how it ended by one status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "solve/bind/solver.h"

static const char *const names[] = {"radau",     "radau5",  "radau13",          "gauss2",
                                    "gauss4",    "gauss10", "lobattoc2",        "lobattoc6",
                                    "sirk22",    "sirk23",  "colloc2nd_radau3", "colloc2nd_gauss3",
                                    "colloc2nd", "glm3"};
enum {
    NAMES = sizeof names / sizeof names[0],
    UPDATED = 3
}; /* radau updates its matrix: fewer do */

/* x' = v, v' = -x with partial derivatives of the second equation that are 5/2 times too large:
 * each correction leaves 3/5. */
static int slow_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[1];
    f[1] = yp[1] + y[0];
    return 0;
}

static int slow_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                         void *user)
{
    const double by_y[4] = {0.0, 2.5, -2.5, 0.0}, by_yp[4] = {2.5, 0.0, 0.0, 2.5};
    (void)t, (void)y, (void)yp, (void)user;
    for (int i = 0; i < 4; i++) dfdy[i] = by_y[i];
    for (int i = 0; i < 4; i++) dfdyp[i] = by_yp[i];
    return 0;
}

/* The first attempt, of length 1/2; iterations in *taken */
static attempt_status try_with(const char *name, int most, int *taken)
{
    static const int velocity[2] = {1, -1};
    dae_residual form = {.n = 2, .f = slow_f, .jacobian = slow_jacobian, .velocity = velocity};
    dae_problem *p;
    dae_options o = dae_options_default();
    attempt a;
    o.method = name;
    o.rtol = o.atol = 1e-12;
    if (most > 0) o.newton_iterations = most;
    const double y0[2] = {1.0, 0.0}, yp0[2] = {0.0, -1.0};
    dae_solver *s;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    dae_diag diag;
    if (dae_solver_new(p, &o, &s, &diag) != DAE_OK) fail_msg("%s: %s", name, diag.text);
    if (dae_solver_start(s, 0.0, y0, yp0) != DAE_OK)
        fail_msg("%s: %s", name, dae_solver_diag(s)->text);
    start_point at = {.t = 0.0, .h = 0.5, .y = s->bound.y, .yp = s->bound.yp};
    s->bound.method->start(s->bound.state, s->bound.scratch, &s->bound.context, &at);
    s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, 0.5,
                             s->bound.method->max_order, &a);
    *taken = s->bound.newton.iterations;
    dae_solver_free(s);
    dae_problem_free(p);
    return a.status;
}

static void fewer_iterations(void **state)
{
    (void)state;
    for (int m = 0; m < NAMES; m++)
        for (int most = 1; most <= 6; most++) {
            int taken;
            if (most == 4) continue; /* stands for the number of the method */
            attempt_status status = try_with(names[m], most, &taken);
            bool ends = status == ATTEMPT_CONVERGENCE || m < UPDATED;
            if (taken > most || !ends)
                fail_msg("%s asked for %d: %d, status %d", names[m], most, taken, (int)status);
        }
}

static void more_iterations(void **state)
{
    (void)state;
    for (int m = UPDATED; m < NAMES; m++) {
        int own, taken;
        assert_int_equal(try_with(names[m], 0, &own), ATTEMPT_CONVERGENCE);
        try_with(names[m], 100, &taken); /* the projection of Gauss methods may still fail */
        if (taken <= own) fail_msg("%s: %d, asked for 100 %d iterations", names[m], own, taken);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fewer_iterations),
                                       cmocka_unit_test(more_iterations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
