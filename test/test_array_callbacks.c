/* formulation = "array" for residual callbacks: mixtures of equations of index 1 to 3 run in the
 * unknowns they are written in, and what differences cannot do is refused. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The pendulum [BH93] with its five equations mixed; user: the level of its constraint, 0 .. 2 */
static int mixed(double t, const double *y, const double *yp, double *f, void *user)
{
    const int level = *(const int *)user;
    const double x = y[0], z = y[1], u = y[2], v = y[3], lambda = y[4];
    const double r[] = {yp[0] - u, yp[1] - v, yp[2] + x * lambda, yp[3] + z * lambda + 1.0,
                        level == 0   ? x * x + z * z - 1.0
                        : level == 1 ? x * u + z * v
                                     : u * u + v * v - lambda * (x * x + z * z) - z};
    f[0] = r[0] + 0.5 * r[4] - 0.3 * z * r[3];
    f[1] = r[1] + 0.4 * x * r[2] + 0.3 * cos(u) * r[0];
    f[2] = r[2] - 0.5 * r[4] + 0.3 * sin(v) * r[1];
    f[3] = r[3] + 0.4 * r[0] + 0.3 * x * x * r[4];
    f[4] = r[4] + 0.3 * r[1] - 0.4 * r[2] + 0.2 * r[3] * cos(t);
    return 0;
}

static const double AT_10[] = {-0.81158645, -0.58423235, -0.63152915, 0.8772888, 1.752697};

static dae_status run(dae_residual *form, const char *method, double rtol, double tend, double *y,
                      dae_diag *diag)
{
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_options o = dae_options_default();
    o.formulation = "array";
    o.method = method;
    o.rtol = rtol, o.atol = 1e-2 * rtol;
    o.stop_time = tend;
    dae_status status = dae_problem_from_residual(form, &p, diag);
    if (status == DAE_OK) status = dae_solver_new(p, &o, &s, diag);
    if (status == DAE_OK) {
        status = dae_solver_start(s, 0.0, y, NULL);
        if (status == DAE_OK) status = dae_solver_run(s, tend, y, NULL);
        if (status < 0) *diag = *dae_solver_diag(s);
    }
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

/* Errors that add up over 10 time units: 300 tolerances, as of formulations of models */
static void test_mixtures(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "radau", "bdf"};
    for (int level = 0; level < 3; level++)
        for (int k = 0; k < 3; k++) {
            double y[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
            dae_diag diag = {0};
            dae_residual form = {.n = 5, .f = mixed, .user = &level};
            if (run(&form, methods[k], 1e-6, 10.0, y, &diag) != DAE_OK)
                fail_msg("level %d, %s: %s", level, methods[k], diag.text);
            for (int i = 0; i < 5; i++)
                if (!(fabs(y[i] - AT_10[i]) <= 3e-4))
                    fail_msg("level %d, %s: y[%d] = %.9g", level, methods[k], i, y[i]);
            double off = fabs(y[0] * y[0] + y[1] * y[1] - 1.0); /* level 0: it is an equation */
            assert_true(level > 0 || off < 1e-5);
        }
}

/* The pendulum as it is, at rest at the start, where every term of F but one is 0 and stays 0 along
 * short curves: no agreement of steps tells how accurate derivatives are there. */
static const double GRAVITY = 9.81;

static int plain(double t, const double *y, const double *yp, double *f, void *user)
{
    const int level = *(const int *)user;
    (void)t;
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] + y[0] * y[4];
    f[3] = yp[3] + y[1] * y[4] + GRAVITY;
    f[4] = level == 0 ? 0.5 * (y[0] * y[0] + y[1] * y[1] - 1.0) : y[0] * y[2] + y[1] * y[3];
    return 0;
}

/* angle'' = -g sin(angle) by Runge and Kutta's method, from the horizontal: the angle at t = 1 */
static double angle_at_1(void)
{
    enum { STEPS = 2000 };
    const double h = 1.0 / STEPS;
    double a = acos(0.0), w = 0.0;
    for (int n = 0; n < STEPS; n++) {
        double k1 = w, l1 = -GRAVITY * sin(a), k2 = w + h / 2 * l1,
               l2 = -GRAVITY * sin(a + h / 2 * k1), k3 = w + h / 2 * l2,
               l3 = -GRAVITY * sin(a + h / 2 * k2), k4 = w + h * l3,
               l4 = -GRAVITY * sin(a + h * k3);
        a += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
        w += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    }
    return a;
}

static void test_rest(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "radau", "bdf"};
    const double angle = angle_at_1();
    for (int level = 0; level < 2; level++)
        for (int k = 0; k < 3; k++) {
            double y[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
            dae_diag diag = {0};
            dae_residual form = {.n = 5, .f = plain, .user = &level};
            if (run(&form, methods[k], 1e-6, 1.0, y, &diag) != DAE_OK)
                fail_msg("level %d, %s: %s", level, methods[k], diag.text);
            double x = fabs(y[0] - sin(angle)), z = fabs(y[1] + cos(angle));
            if (!(x <= 3e-5 && z <= 3e-5)) fail_msg("level %d, %s: %g %g", level, methods[k], x, z);
        }
}

/* z2' + z1 = d1, z3' + z2 = d2, z3 = d3 [Wun05 (2.8)], from inconsistent values */
static int chain(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[1] + y[0] - exp(-t);
    f[1] = yp[2] + y[1] - sin(2.0 * t);
    f[2] = y[2] - cos(t);
    return 0;
}

static void test_chain(void **state)
{
    (void)state;
    const double t = 1.0;
    double y[3] = {0.0, 0.0, 0.0};
    dae_diag diag = {0};
    dae_residual form = {.n = 3, .f = chain};
    if (run(&form, "auto", 1e-6, t, y, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_true(fabs(y[2] - cos(t)) < 1e-8);
    assert_true(fabs(y[1] - (sin(2.0 * t) + sin(t))) < 1e-6);
    assert_true(fabs(y[0] - (exp(-t) - 2.0 * cos(2.0 * t) - cos(t))) < 1e-5);
}

/* A chain of five: index 5 */
static int longer(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    for (int i = 0; i < 4; i++) f[i] = yp[i + 1] + y[i];
    f[4] = y[4] - sin(t);
    return 0;
}

/* Steps of 1e-5: no difference sees a derivative */
static int rough(double t, const double *y, const double *yp, double *f, void *user)
{
    chain(t, y, yp, f, user);
    f[2] += 1e-6 * (floor(1e5 * (t + y[2])) - 1e5 * (t + y[2]));
    return 0;
}

static void refuse(dae_residual_fn f, int n, const char *method, double rtol, dae_status wanted,
                   const char *words)
{
    double y[80] = {0};
    dae_diag diag = {0};
    dae_residual form = {.n = n, .f = f};
    dae_status status = run(&form, method, rtol, 1.0, y, &diag);
    if (status != wanted || !strstr(diag.text, words))
        fail_msg("%s, rtol %g: %d: %s", words, rtol, (int)status, diag.text);
}

static int decay(double t, const double *y, const double *yp, double *f, void *user)
{
    const int *n = user;
    (void)t;
    for (int i = 0; i < (n ? *n : 80); i++) f[i] = yp[i] + y[i];
    return 0;
}

static void test_refusals(void **state)
{
    (void)state;
    refuse(longer, 5, "auto", 1e-6, DAE_ERR_SINGULAR, "index is above 3");
    refuse(rough, 3, "auto", 1e-6, DAE_ERR_UNSUPPORTED, "by differences");
    refuse(chain, 3, "auto", 1e-15, DAE_ERR_UNSUPPORTED, "by differences");
    refuse(chain, 3, "gauss", 1e-6, DAE_ERR_UNSUPPORTED, "gauss");
    refuse(chain, 3, "hem", 1e-6, DAE_ERR_UNSUPPORTED, "hem");
    refuse(decay, 80, "auto", 1e-6, DAE_ERR_UNSUPPORTED, "up to 60 unknowns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixtures),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
