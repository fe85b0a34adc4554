/* Pulses between stretches where nothing happens: there steps grow, and the stages of one may all
 * lie beside the next pulse. Such a step has no error that an estimate could see; the interpolant
 * is looked at in many places (stages_quiet_error). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daedal.h"

typedef struct pulses {
    double w, c; /* x' = max(sin(w t), c) */
} pulses;

static int kinks(double t, const double *y, const double *yp, double *f, void *user)
{
    const pulses *p = user;
    f[0] = yp[0] - fmax(sin(p->w * t), p->c);
    f[1] = yp[1] + y[1] - 1.0;
    return 0;
}

/* The integral of max(sin(w t), c) from 0 to t: c t, and of every pulse what is above c. */
static double integral(const pulses *p, double t)
{
    const double a = asin(p->c), turn = 2.0 * acos(-1.0);
    double sum = p->c * t;
    for (int k = 0; (a + turn * k) / p->w < t; k++) {
        double begin = (a + turn * k) / p->w, end = fmin((turn / 2.0 - a + turn * k) / p->w, t);
        sum += (cos(p->w * begin) - cos(p->w * end)) / p->w - p->c * (end - begin);
    }
    return sum;
}

/* No pulse is left out: each is more than 1e4 tolerances; kinks cost up to 50 each. */
static void check(const char *method, pulses p)
{
    const double end = 10.0, rtol = 1e-6, limit = 2000.0;
    dae_problem *problem;
    dae_solver *s;
    double y[2] = {0.0, 1.0}, yp[2] = {p.c, 0.0};
    dae_options o = dae_options_default();
    o.method = method;
    o.rtol = rtol;
    o.atol = rtol;
    dae_residual r = {.n = 2, .f = kinks, .user = &p};
    assert_int_equal(dae_problem_from_residual(&r, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    if (dae_solver_run(s, end, y, NULL) != DAE_OK)
        fail_msg("%s: %s", method, dae_solver_diag(s)->text);
    double exact = integral(&p, end), error = fabs(y[0] - exact) / (rtol * (1.0 + exact));
    if (!(error < limit))
        fail_msg("%s, w = %g, c = %g: off by %g tolerances", method, p.w, p.c, error);
    dae_solver_free(s);
    dae_problem_free(problem);
}

static void no_pulse_is_left_out(void **state)
{
    (void)state;
    static const char *const methods[] = {"radau",   "radau:5",    "radau:9", "radau:13", "rodas",
                                          "rodas:3", "sdirk:3",    "sdirk:4", "liex",     "gauss:4",
                                          "gauss:8", "lobattoc:4", "sirk:2"};
    static const pulses cases[] = {{7.0, 0.5}, {3.1, 0.5}, {13.7, 0.3}};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check(methods[m], cases[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_pulse_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
