/* The derivative of every method's interpolant is the derivative of its values, inside of a step
 * and at its ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "solve/bind/solver.h"

/* q1'' = -q1, q2'' = -4 q2: all of y is differential */
static int force(const dae_mechanical_point *at, double *out, void *user)
{
    (void)user;
    out[0] = -at->q[0];
    out[1] = -4.0 * at->q[1];
    return 0;
}

enum { N = 4, PLACES = 5 };

/* Whether values and slopes at t fit each other: central differences in two widths */
static double misfit(const dae_solver *s, double t, double h)
{
    double slope[N], worst = 0.0, y[4][N];
    const double d = 1e-3 * h, at[4] = {t - d, t + d, t - 2.0 * d, t + 2.0 * d};
    for (int k = 0; k < 4; k++)
        s->bound.method->interpolate(s->bound.state, &s->bound.context, at[k], 0, y[k]);
    s->bound.method->interpolate(s->bound.state, &s->bound.context, t, 1, slope);
    for (int i = 0; i < N; i++) {
        double fine = (y[1][i] - y[0][i]) / (2.0 * d), coarse = (y[3][i] - y[2][i]) / (4.0 * d);
        worst = fmax(worst, fabs((4.0 * fine - coarse) / 3.0 - slope[i]));
    }
    return worst;
}

static dae_solver *open_solver(const dae_problem *problem, const char *name, dae_dense dense)
{
    dae_options options = dae_options_default();
    dae_solver *s = NULL;
    options.method = name;
    options.rtol = options.atol = 1e-5;
    options.dense = dense;
    const method *m = method_find(name);
    if (m->constant_steps) options.fixed_step = 0.05;
    if (dae_solver_new(problem, &options, &s, NULL)) return NULL;
    const double y[N] = {1.0, 1.0, 0.0, 0.0}, yp[N] = {0.0, 0.0, -1.0, -4.0};
    if (dae_solver_start(s, 0.0, y, yp) == DAE_OK) return s;
    dae_solver_free(s);
    return NULL;
}

/* Whether the method takes the problem */
static bool check_method(const dae_problem *problem, const char *name, dae_dense dense)
{
    dae_solver *s = open_solver(problem, name, dense);
    if (!s) return false;
    for (int k = 0; k < 40 && dae_solver_step(s, 3.0) > 0; k++) {
        double h = s->run.t_new - s->run.t_old;
        for (int i = 0; i < PLACES; i++) {
            double t = s->run.t_old + (0.01 + 0.98 * i / (PLACES - 1.0)) * h, y[N];
            double off = misfit(s, t, h);
            s->bound.method->interpolate(s->bound.state, &s->bound.context, t, 0, y);
            if (!(off < 1e-7 + 1e-12 / h)) /* rounding errors: u / d */
                fail_msg("%s (%d), t = %g, h = %g: slopes are off by %g", name, (int)dense, t, h,
                         off);
            if (!(fabs(y[0] - cos(t)) < 0.05 && fabs(y[3] + 2.0 * sin(2.0 * t)) < 0.5))
                fail_msg("%s (%d), t = %g: %g, %g", name, (int)dense, t, y[0], y[3]);
        }
    }
    dae_solver_free(s);
    return true;
}

static void slopes_belong_to_values(void **state)
{
    (void)state;
    dae_mechanical form = {.nq = 2, .force = force};
    dae_problem *problem;
    int taken = 0;
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
    for (int i = 0; dae_method_name(i); i++)
        for (int dense = 0; dense < 2; dense++)
            taken += check_method(problem, dae_method_name(i),
                                  dense ? DAE_DENSE_SMOOTH : DAE_DENSE_CONTINUOUS);
    assert_true(taken > 60);
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slopes_belong_to_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
