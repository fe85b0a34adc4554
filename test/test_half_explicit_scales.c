/* Half-explicit methods do not depend on the units of length, mass and constraints: a pendulum on
 * a rod that moves, against its angle. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Units: lengths in 1/length, masses in 1/mass; the constraint is multiplied by `factor`. */
typedef struct units {
    double length, mass, factor;
} units;

static const double TEND = 3.0;

/* l = 1 + 0.3 sin 2t and its derivatives */
static double rod(double t)
{
    return 1.0 + 0.3 * sin(2.0 * t);
}
static double rod_rate(double t)
{
    return 0.6 * cos(2.0 * t);
}
static double rod_curvature(double t)
{
    return -1.2 * sin(2.0 * t);
}

static int values(const dae_mechanical_point *at, const dae_mechanical_values *out, void *user)
{
    const units *u = user;
    double t = at->t, square = u->length * u->length, rate = rod_rate(t);
    const double *q = at->q, *v = at->v;
    if (out->mass) out->mass[0] = out->mass[3] = u->mass;
    if (out->force) out->force[0] = 0.0, out->force[1] = -u->mass * u->length;
    if (out->gradient) out->gradient[0] = u->factor * q[0], out->gradient[1] = u->factor * q[1];
    if (out->rate) out->rate[0] = -u->factor * square * rod(t) * rate;
    if (out->curvature)
        out->curvature[0] = u->factor * (v[0] * v[0] + v[1] * v[1] -
                                         square * (rate * rate + rod(t) * rod_curvature(t)));
    return 0;
}

static int constraint(const dae_mechanical_point *at, double *g, void *user)
{
    const units *u = user;
    double l = u->length * rod(at->t);
    g[0] = 0.5 * u->factor * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - l * l);
    return 0;
}

/* x = l sin a, y = -l cos a with a'' = -sin(a)/l - 2 (l'/l) a', by the classical method */
static void slope(double t, const double *a, double *f)
{
    f[0] = a[1];
    f[1] = -(sin(a[0]) + 2.0 * rod_rate(t) * a[1]) / rod(t);
}
static void reference(double *x, double *y)
{
    enum { STEPS = 4000 };
    double a[2] = {1.2, 0.0}, h = TEND / STEPS, k[4][2], moved[2];
    for (int i = 0; i < STEPS; i++) {
        double t = i * h;
        slope(t, a, k[0]);
        for (int s = 1; s < 4; s++) {
            double part = s < 3 ? 0.5 * h : h;
            for (int j = 0; j < 2; j++) moved[j] = a[j] + part * k[s - 1][j];
            slope(t + part, moved, k[s]);
        }
        for (int j = 0; j < 2; j++)
            a[j] += h / 6.0 * (k[0][j] + 2.0 * k[1][j] + 2.0 * k[2][j] + k[3][j]);
    }
    *x = rod(TEND) * sin(a[0]);
    *y = -rod(TEND) * cos(a[0]);
}

/* Distance from the reference in units of length */
static double error_of(const char *method, units u)
{
    dae_problem *problem;
    dae_solver *solver;
    dae_options options = dae_options_default();
    double nominal[2] = {u.length, u.length};
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .all = values,
                           .constraint = constraint,
                           .nominal = nominal,
                           .user = &u};
    double atol[5], y[5] = {u.length * sin(1.2), -u.length * cos(1.2)}, x_end, y_end;
    y[2] = u.length * 0.6 * sin(1.2);
    y[3] = -u.length * 0.6 * cos(1.2);
    for (int i = 0; i < 4; i++) atol[i] = 1e-8 * u.length;
    atol[4] = 1e-8 * u.mass / u.factor;
    options.method = method;
    options.rtol = 1e-8;
    options.atol_by_unknown = atol;
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, y, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(solver, TEND, y, NULL), DAE_OK);
    dae_solver_free(solver);
    dae_problem_free(problem);
    reference(&x_end, &y_end);
    return hypot(y[0] / u.length - x_end, y[1] / u.length - y_end);
}

static void test_units(void **state)
{
    (void)state;
    static const char *const methods[] = {"hem:3", "hem:4", "hem:5",  "phem",
                                          "prk",   "herk",  "herk:5", "herk:4"};
    static const units list[] = {{1.0, 1.0, 1.0},    {1e-8, 1.0, 1.0}, {1e8, 1.0, 1.0},
                                 {1.0, 1e-12, 1.0},  {1.0, 1e12, 1.0}, {1e6, 1e-6, 1.0},
                                 {1e-9, 1e-26, 1.0}, {1.0, 1.0, 1e14}, {1.0, 1.0, 1e-14}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
            double error = error_of(methods[i], list[k]);
            if (!(error < 1e-6))
                fail_msg("%s, length %g, mass %g, factor %g: error %g", methods[i], list[k].length,
                         list[k].mass, list[k].factor, error);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
