/* The order in which variables and equations are given changes nothing: every variable is the first
 * and the last one once, with every method that takes the problem. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "daedal.h"

enum { N = 3, POINTS = 40 };

/* x' = -x + z + sin 3t, y' = x - y z, 0 = z + z^3 - x - y; variable k stands at (k + shift) mod N,
 * and so do equations, by a shift of their own */
typedef struct shifts {
    int variable, equation;
} shifts;

static int residual(double t, const double *given, const double *slopes, double *f, void *user)
{
    const shifts *by = user;
    double v[N], vp[N];
    for (int k = 0; k < N; k++) {
        v[k] = given[(k + by->variable) % N];
        vp[k] = slopes[(k + by->variable) % N];
    }
    f[by->equation] = vp[0] + v[0] - v[2] - sin(3.0 * t);
    f[(1 + by->equation) % N] = vp[1] - v[0] + v[1] * v[2];
    f[(2 + by->equation) % N] = v[2] + v[2] * v[2] * v[2] - v[0] - v[1];
    return 0;
}

/* Values at POINTS times in the order of the text; false: the method does not take it */
static bool run(const char *name, shifts by, double *values)
{
    dae_residual form = {.n = N, .f = residual, .user = &by};
    const double start[N] = {1.5, 0.5, 1.0}, yp0[N] = {0.0};
    dae_problem *problem;
    dae_solver *s = NULL;
    dae_options options = dae_options_default();
    double y0[N], y[N];
    int point = 0;
    options.method = name;
    options.rtol = options.atol = 1e-5;
    for (int k = 0; k < N; k++) y0[(k + by.variable) % N] = start[k];
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    bool taken = dae_solver_new(problem, &options, &s, NULL) == DAE_OK &&
                 dae_solver_start(s, 0.0, y0, yp0) == DAE_OK;
    for (dae_status status = 1; taken && status > 0;) {
        status = dae_solver_step(s, 4.0);
        if (status < 0) break;
        for (; point < POINTS && 0.1 * point <= dae_solver_time(s); point++) {
            if (dae_solver_at(s, 0.1 * point, 0, y)) fail_msg("%s", dae_solver_diag(s)->text);
            for (int k = 0; k < N; k++) values[point * N + k] = y[(k + by.variable) % N];
        }
    }
    dae_solver_free(s);
    dae_problem_free(problem);
    return point == POINTS;
}

/* Rounding errors alone are let through, as much as steps magnify them: a thousandth of the
 * tolerance. */
static void order_does_not_matter(void **state)
{
    (void)state;
    int taken = 0;
    for (int i = 0; dae_method_name(i); i++) {
        double first[POINTS * N], other[POINTS * N];
        const char *name = dae_method_name(i);
        if (!run(name, (shifts){0, 0}, first)) continue;
        taken++;
        for (int k = 1; k < N * N; k++) {
            shifts by = {k / N, k % N};
            if (!run(name, by, other)) fail_msg("%s: order %d fails", name, k);
            for (int j = 0; j < POINTS * N; j++)
                if (!(fabs(first[j] - other[j]) < 1e-8))
                    fail_msg("%s, shifted by %d and %d: %.12g or %.12g at t = %g", name,
                             by.variable, by.equation, first[j], other[j], 0.1 * (j / N));
        }
    }
    assert_true(taken >= 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order_does_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
