/* Hessenberg form where Newton's iterations are not easy: f nonlinear in z, u that moves far in a
 * step, large tolerances, values of other sizes. The solution is known. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* 0 = k: w + cubic w^3 = z + cubic z^3 with w = u, or z itself if there is no u; z in units of
 * `unit` */
typedef struct problem {
    bool with_u;
    double cubic, unit;
} problem;

/* y = (r cos t, r sin t, cos t), z = 1 + sin(t)/2 */
static double radius(double t)
{
    return 1.0 + 0.2 * sin(3.0 * t);
}
static double radius_rate(double t)
{
    return 0.6 * cos(3.0 * t);
}
static double exact_z(double t)
{
    return 1.0 + 0.5 * sin(t);
}

static int f(const dae_hessenberg_point *at, double *out, void *user)
{
    const problem *p = user;
    double t = at->t, e = exact_z(t), z = (p->with_u ? at->u[0] : at->z[0]) / p->unit;
    double push = sin(z) - sin(e) + z * z * z - e * e * e + radius_rate(t) / radius(t);
    out[0] = -at->y[1] * (1.0 + at->y[2] - cos(t)) + at->y[0] * push;
    out[1] = at->y[0] + at->y[1] * push;
    out[2] = -sin(t) + 0.3 * (at->y[2] - cos(t)) * z + 0.5 * (z - e);
    return 0;
}
static int g(const dae_hessenberg_point *at, double *out, void *user)
{
    (void)user;
    out[0] = at->y[0] * at->y[0] + at->y[1] * at->y[1] - radius(at->t) * radius(at->t);
    return 0;
}
static int k(const dae_hessenberg_point *at, double *out, void *user)
{
    const problem *p = user;
    double z = at->z[0] / p->unit, w = at->u[0] / p->unit;
    out[0] = p->unit * (w + p->cubic * w * w * w - z - p->cubic * z * z * z);
    return 0;
}

/* Largest errors of y and z at nine points of every step, and of g at the ends of steps */
static void run(const char *method, problem p, double tolerance, double tend, double worst[3])
{
    double nominal[5] = {1.0, 1.0, 1.0, p.unit, p.unit};
    double atol[5] = {tolerance, tolerance, tolerance, tolerance * p.unit, tolerance * p.unit};
    dae_hessenberg form = {.ny = 3, .nz = 1, .f = f, .g = g, .nominal = nominal, .user = &p};
    if (p.with_u) form.nu = 1, form.k = k;
    dae_problem *made;
    dae_solver *solver;
    dae_options options = dae_options_default();
    options.method = method;
    options.rtol = tolerance;
    options.atol_by_unknown = atol;
    double y[5] = {1.0, 0.0, 1.0, 1.05 * p.unit, 1.05 * p.unit}, before = 0.0;
    dae_status status;
    worst[0] = worst[1] = worst[2] = 0.0;
    assert_int_equal(dae_problem_from_hessenberg(&form, &made, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(made, &options, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, y, NULL), DAE_OK);
    do {
        status = dae_solver_step(solver, tend);
        if (status < 0) fail_msg("%s, %g: %s", method, tolerance, dae_solver_diag(solver)->text);
        double end = status == DAE_OK ? tend : dae_solver_time(solver);
        for (int i = 1; i <= 9; i++) {
            double t = before + (end - before) * i / 9.0, r = radius(t);
            assert_int_equal(dae_solver_at(solver, t, 0, y), DAE_OK);
            double e = fmax(fabs(y[0] - r * cos(t)), fabs(y[1] - r * sin(t)));
            worst[0] = fmax(worst[0], fmax(e, fabs(y[2] - cos(t))));
            worst[1] = fmax(worst[1], fabs(y[3] / p.unit - exact_z(t)));
            if (p.with_u) worst[1] = fmax(worst[1], fabs(y[4] / p.unit - exact_z(t)));
        }
        if (status != DAE_OK)
            worst[2] = fmax(worst[2], fabs(y[0] * y[0] + y[1] * y[1] - radius(end) * radius(end)));
        before = end;
    } while (status != DAE_OK);
    dae_solver_free(solver);
    dae_problem_free(made);
}

static const char *const METHODS[] = {"hem:3", "hem:4", "hem:5", "phem"};

/* A step that was far too long leaves nothing behind that spoils the shorter ones: neither factors
 * nor an end that is off the constraint, which the shortest of steps could not come back from. */
static void test_large_tolerances(void **state)
{
    (void)state;
    double worst[3];
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++)
        for (double tolerance = 0.3; tolerance > 1e-3; tolerance *= 0.8)
            for (double tend = 4.0; tend >= -4.0; tend -= 8.0) {
                run(METHODS[i], (problem){.unit = 1.0}, tolerance, tend, worst);
                if (!(worst[2] < 0.05 * tolerance))
                    fail_msg("%s, %g: constraint %g", METHODS[i], tolerance, worst[2]);
                if (tolerance < 0.02 && !(worst[0] < 5.0 * tolerance))
                    fail_msg("%s, %g: error %g", METHODS[i], tolerance, worst[0]);
            }
}

/* u = z for every k: neither its nonlinearity nor the unit of z shows in the dense output. */
static void test_u(void **state)
{
    (void)state;
    static const problem list[] = {
        {true, 0.0, 1.0}, {true, 1.0, 1.0}, {true, 30.0, 1.0}, {true, 1.0, 1e-8}, {true, 1.0, 1e8}};
    double worst[3];
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++)
        for (size_t l = 0; l < sizeof list / sizeof *list; l++) {
            run(METHODS[i], list[l], 1e-6, 4.0, worst);
            if (!(worst[0] < 1e-5 && worst[1] < 1e-5))
                fail_msg("%s, %g, %g: errors %g, %g", METHODS[i], list[l].cubic, list[l].unit,
                         worst[0], worst[1]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_large_tolerances),
                                       cmocka_unit_test(test_u)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
