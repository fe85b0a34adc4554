/* The order in which variables and equations are given changes nothing: every variable is the first
 * and the last one once, with every method that takes the problem. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

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

static dae_problem *new_residual(shifts *by, double *y0)
{
    dae_residual form = {.n = N, .f = residual, .user = by};
    const double start[N] = {1.5, 0.5, 1.0};
    dae_problem *problem;
    for (int k = 0; k < N; k++) y0[(k + by->variable) % N] = start[k];
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    return problem;
}

/* ---- a mechanism: a pendulum of length 1 at (q1, q2), a mass of 2 on a spring at (q1, q3), and a
 * rod that holds q4 = q3 + sin(q2) ---- */

enum { NQ = 4, NY = 2 * NQ + 2 };

static int mass(const dae_mechanical_point *at, double *out, void *user)
{
    const shifts *by = user;
    (void)at;
    for (int i = 0; i < NQ * NQ; i++) out[i] = 0.0;
    for (int k = 0; k < NQ; k++) {
        int i = (k + by->variable) % NQ;
        out[i + i * NQ] = k == 2 ? 2.0 : 1.0;
    }
    return 0;
}

static double q_of(const dae_mechanical_point *at, const shifts *by, int k)
{
    return at->q[(k + by->variable) % NQ];
}

static int force(const dae_mechanical_point *at, double *out, void *user)
{
    const shifts *by = user;
    double stretch = q_of(at, by, 2) - q_of(at, by, 0);
    const double f[NQ] = {stretch, -1.0, -stretch - 0.1 * at->v[(2 + by->variable) % NQ], 0.2};
    for (int k = 0; k < NQ; k++) out[(k + by->variable) % NQ] = f[k];
    return 0;
}

static int constraint(const dae_mechanical_point *at, double *out, void *user)
{
    const shifts *by = user;
    double x = q_of(at, by, 0), y = q_of(at, by, 1);
    out[by->equation] = 0.5 * (x * x + y * y - 1.0);
    out[1 - by->equation] = q_of(at, by, 3) - q_of(at, by, 2) - sin(y);
    return 0;
}

static int gradient(const dae_mechanical_point *at, double *out, void *user)
{
    const shifts *by = user;
    const double G[2][NQ] = {{q_of(at, by, 0), q_of(at, by, 1), 0.0, 0.0},
                             {0.0, -cos(q_of(at, by, 1)), -1.0, 1.0}};
    for (int k = 0; k < NQ; k++) {
        int column = 2 * ((k + by->variable) % NQ);
        out[column + by->equation] = G[0][k];
        out[column + 1 - by->equation] = G[1][k];
    }
    return 0;
}

static int curvature(const dae_mechanical_point *at, double *out, void *user)
{
    const shifts *by = user;
    double v1 = at->v[by->variable % NQ], v2 = at->v[(1 + by->variable) % NQ];
    out[by->equation] = v1 * v1 + v2 * v2;
    out[1 - by->equation] = sin(q_of(at, by, 1)) * v2 * v2;
    return 0;
}

static dae_problem *new_mechanism(shifts *by, double *y0)
{
    dae_mechanical form = {.nq = NQ,
                           .nlambda = 2,
                           .mass = mass,
                           .force = force,
                           .constraint = constraint,
                           .gradient = gradient,
                           .curvature = curvature,
                           .scleronomic = true,
                           .user = by};
    const double start[NQ] = {0.8, -0.6, 0.5, 0.5 - 0.5646424733950354};
    dae_problem *problem;
    dae_diag diag = {0};
    for (int i = 0; i < NY; i++) y0[i] = 0.0;
    for (int k = 0; k < NQ; k++) y0[(k + by->variable) % NQ] = start[k];
    if (dae_problem_from_mechanical(&form, &problem, &diag)) fail_msg("%s", diag.text);
    return problem;
}

/* ---- runs ---- */

typedef struct subject {
    dae_problem *(*make)(shifts *by, double *y0);
    int variables; /* that are compared, by their number before any shift; */
    int cycle;     /* in which they are shifted */
    int equations; /* shifts of these */
    int methods;   /* so many take it at least */
} subject;

/* Values at POINTS times in the order of the text; false: the method does not take it */
static bool run(const subject *x, const char *name, shifts by, double *values)
{
    dae_solver *s = NULL;
    dae_options options = dae_options_default();
    double y0[NY], yp0[NY] = {0.0}, y[NY];
    int point = 0;
    options.method = name;
    options.rtol = options.atol = 1e-5;
    dae_problem *problem = x->make(&by, y0);
    bool taken = dae_solver_new(problem, &options, &s, NULL) == DAE_OK &&
                 dae_solver_start(s, 0.0, y0, yp0) == DAE_OK;
    for (dae_status status = 1; taken && status > 0;) {
        status = dae_solver_step(s, 4.0);
        if (status < 0) break;
        for (; point < POINTS && 0.1 * point <= dae_solver_time(s); point++) {
            if (dae_solver_at(s, 0.1 * point, 0, y)) fail_msg("%s", dae_solver_diag(s)->text);
            for (int k = 0; k < x->variables; k++)
                values[point * x->variables + k] = y[(k + by.variable) % x->cycle];
        }
    }
    dae_solver_free(s);
    dae_problem_free(problem);
    return point == POINTS;
}

/* Rounding errors alone are let through, as much as steps magnify them: a hundredth of the
 * tolerance. herk chooses rows by their order where they are as good: there it is ten times that.
 */
static void compare(const subject *x)
{
    int taken = 0;
    for (int i = 0; dae_method_name(i); i++) {
        double first[POINTS * NQ], other[POINTS * NQ];
        const char *name = dae_method_name(i);
        if (!run(x, name, (shifts){0, 0}, first)) continue;
        double most = strncmp(name, "herk", 4) == 0 ? 1e-4 : 1e-7;
        taken++;
        for (int k = 1; k < x->cycle * x->equations; k++) {
            shifts by = {k / x->equations, k % x->equations};
            if (!run(x, name, by, other)) fail_msg("%s: order %d fails", name, k);
            for (int j = 0; j < POINTS * x->variables; j++)
                if (!(fabs(first[j] - other[j]) < most))
                    fail_msg("%s, shifted by %d and %d: %.12g or %.12g at t = %g", name,
                             by.variable, by.equation, first[j], other[j],
                             0.1 * (j / x->variables));
        }
    }
    if (!(taken >= x->methods)) fail_msg("%d methods", taken);
}

static void order_of_variables_and_equations(void **state)
{
    (void)state;
    compare(&(subject){new_residual, N, N, N, 24});
}

static void order_of_positions_and_constraints(void **state)
{
    (void)state;
    compare(&(subject){new_mechanism, NQ, NQ, 2, 30});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order_of_variables_and_equations),
                                       cmocka_unit_test(order_of_positions_and_constraints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
