/* M(t,y) y' = f(t,y) with a singular M whose null space turns with the solution, every equation and
 * every variable with y' in it: index 1, but neither a constraint nor an algebraic variable can be
 * seen. And an estimate that must not drown in what Newton's method leaves. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daedal.h"

enum { N = 3 };

static void solution(double t, double *y, double *yp)
{
    y[0] = sin(t);
    y[1] = 1.5 + cos(2.0 * t);
    y[2] = exp(-t);
    yp[0] = cos(t);
    yp[1] = -2.0 * sin(2.0 * t);
    yp[2] = -y[2];
}

/* With d = y - solution and a frame u, v, w that depends on y: u'(d' + d) = 0, v'(d' + d) = 0 and
 * w'd = 0, each equation a combination of these. */
static int frame_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double e[N], ep[N], u = 0.0, v = 0.0, w = 0.0;
    double a = y[0] + t, b = 0.7 * y[1];
    const double U[N] = {cos(a) * cos(b), sin(a) * cos(b), sin(b)};
    const double V[N] = {-sin(a), cos(a), 0.0};
    const double W[N] = {-cos(a) * sin(b), -sin(a) * sin(b), cos(b)};
    solution(t, e, ep);
    for (int j = 0; j < N; j++) {
        double d = y[j] - e[j], rate = yp[j] - ep[j] + d;
        u += U[j] * rate;
        v += V[j] * rate;
        w += W[j] * d;
    }
    f[0] = u + 0.3 * v * y[2];
    f[1] = v - y[0] * w;
    f[2] = w * (1.0 + w * w) + 0.5 * u * y[0] + 0.2 * v;
    return 0;
}

/* Largest error at t = 3 in tolerances. */
static double frame_error(const char *name, double rtol, bool know_slope)
{
    dae_residual form = {.n = N, .f = frame_f};
    dae_options o = dae_options_default();
    dae_problem *p;
    dae_solver *s;
    double y[N], yp[N], exact[N], most = 0.0;
    o.method = name;
    o.rtol = o.atol = rtol;
    o.stop_time = 3.0;
    solution(0.0, y, yp);
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, know_slope ? yp : NULL), DAE_OK);
    if (dae_solver_run(s, 3.0, y, NULL) != DAE_OK)
        fail_msg("%s, %g: %s", name, rtol, dae_solver_diag(s)->text);
    solution(3.0, exact, yp);
    for (int i = 0; i < N; i++)
        most = fmax(most, fabs(y[i] - exact[i]) / (rtol * (1.0 + fabs(exact[i]))));
    dae_solver_free(s);
    dae_problem_free(p);
    return most;
}

/* 30 tolerances, as on other stiff problems. Methods of low stage order have order 2 here [BCP96
 * Table 4.3.1] and are asked for few digits. */
static void turning_null_space(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double finest;
    } cases[] = {{"radau", 1e-12},    {"radau:5", 1e-12},    {"radau:9", 1e-12},
                 {"radau:13", 1e-12}, {"lobattoc:4", 1e-10}, {"lobattoc:6", 1e-12},
                 {"sirk:2", 1e-6},    {"sirk:3", 1e-6},      {"sdirk:2", 1e-4},
                 {"sdirk:3", 1e-4},   {"sdirk:4", 1e-5},     {"rodas", 1e-5},
                 {"rodas:p2", 1e-6},  {"rodas:p", 1e-6}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (double rtol = 1e-3; rtol > 0.5 * cases[k].finest; rtol *= 0.1)
            for (int know = 0; know < 2; know++) {
                double e = frame_error(cases[k].name, rtol, know);
                if (!(e <= 30.0)) fail_msg("%s, %g: %.2g tolerances", cases[k].name, rtol, e);
            }
}

/* The Oregonator to t = 360, reference of the test set of [HW96]. The test of sirk22 weighs its
 * estimate by rtol^-1/2. */
static int oregonator_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - 77.27 * (y[1] + y[0] * (1.0 - 8.375e-6 * y[0] - y[1]));
    f[1] = yp[1] - (y[2] - (1.0 + y[0]) * y[1]) / 77.27;
    f[2] = yp[2] - 0.161 * (y[0] - y[2]);
    return 0;
}

/* An order 2 method takes sqrt(10) times the steps for another digit; with noise in its estimate it
 * takes tenfold, or fails. */
static void weighted_estimate(void **state)
{
    (void)state;
    const double exact[N] = {0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3};
    long last = 0;
    for (double rtol = 1e-3; rtol > 5e-7; rtol *= 0.1) {
        dae_residual form = {.n = N, .f = oregonator_f};
        dae_options o = dae_options_default();
        dae_problem *p;
        dae_solver *s;
        double y[N] = {1.0, 2.0, 3.0};
        o.method = "sirk:2";
        o.rtol = o.atol = rtol;
        o.stop_time = 360.0;
        assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
        if (dae_solver_run(s, 360.0, y, NULL) != DAE_OK)
            fail_msg("%g: %s", rtol, dae_solver_diag(s)->text);
        for (int i = 0; i < N; i++)
            assert_true(fabs(y[i] - exact[i]) <= 30.0 * rtol * (1.0 + exact[i]));
        long steps = dae_solver_stats(s)->steps;
        assert_true(last == 0 || steps < 4 * last);
        last = steps;
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turning_null_space),
        cmocka_unit_test(weighted_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
