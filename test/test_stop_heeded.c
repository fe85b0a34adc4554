/* A callback that asks to stop (a negative code) stops the call with its status, whoever evaluated
 * it: a step, the check of an interpolant, a second run through a step, a Newton iteration that is
 * only tried. Every method on every kind of problem it takes, the request at every few calls. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

/* Calls so far, and the one from which on the answer is to stop. */
static long calls, stop_from;
static const int CODE = -7;

static int answer(void)
{
    return ++calls > stop_from ? CODE : 0;
}

/* A fast filter behind a sine, and an algebraic variable: values between steps need work. */
static int filter(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = 1e-4 * yp[0] - (sin(20.0 * t) - y[0]);
    f[1] = y[1] - y[0] * y[0];
    return answer();
}

static int force(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    f[0] = cos(30.0 * at->t);
    f[1] = -1.0;
    return answer();
}

static int circle(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    return answer();
}

static dae_problem *make(bool mechanism)
{
    dae_mechanical m = {.nq = 2, .nlambda = 1, .force = force, .constraint = circle};
    dae_residual r = {.n = 2, .f = filter};
    dae_problem *p = NULL;
    if (mechanism)
        assert_int_equal(dae_problem_from_mechanical(&m, &p, NULL), DAE_OK);
    else
        assert_int_equal(dae_problem_from_residual(&r, &p, NULL), DAE_OK);
    return p;
}

static dae_solver *begin(const dae_problem *p, bool mechanism, const char *method)
{
    dae_options o = dae_options_default();
    double y[5] = {mechanism ? 1.0 : 0.0}, yp[5] = {0.0};
    dae_solver *s = NULL;
    o.method = method;
    o.rtol = o.atol = 1e-5;
    calls = 0;
    stop_from = 1000000;
    if (dae_solver_new(p, &o, &s, NULL) != DAE_OK) return NULL;
    if (dae_solver_start(s, 0.0, y, yp) == DAE_OK) return s;
    dae_solver_free(s);
    return NULL;
}

/* Values inside of the last step, and whether a request was heeded. */
static void look_inside(dae_solver *s, const char *method)
{
    double from, to, y[5];
    dae_solver_last_step(s, &from, &to);
    for (int after = 0; after < 12; after += 1 + after / 3) {
        stop_from = calls + after;
        dae_status status = dae_solver_at(s, from + 0.37 * (to - from), 0, y);
        bool asked = calls > stop_from;
        stop_from = 1000000;
        if (asked && status != DAE_ERR_CALLBACK)
            fail_msg("%s: call %d of an output asks to stop: %d", method, after, (int)status);
        if (!asked) assert_int_equal(status, DAE_OK);
        if (asked) assert_non_null(strstr(dae_solver_diag(s)->text, "-7"));
    }
}

/* One method: requests during steps, each from another number of calls on, and during outputs. */
static void judge(const dae_problem *p, bool mechanism, const char *method)
{
    dae_solver *s = begin(p, mechanism, method);
    dae_status status = DAE_STEPPED;
    if (!s) return;
    for (int k = 0; status > 0 && k < 12; k++) {
        stop_from = calls + 5 * k;
        status = dae_solver_step(s, 1.0);
        bool asked = calls > stop_from;
        stop_from = 1000000;
        if (asked && status != DAE_ERR_CALLBACK)
            fail_msg("%s: call %d of a step asks to stop: %d", method, 5 * k, (int)status);
        if (asked) status = dae_solver_step(s, 1.0); /* it goes on */
        if (status > 0) look_inside(s, method);
    }
    dae_solver_free(s);
}

static void requests_are_heeded(void **state)
{
    (void)state;
    for (int mechanism = 0; mechanism < 2; mechanism++) {
        dae_problem *p = make(mechanism);
        for (int i = 0; dae_method_name(i); i++) judge(p, mechanism, dae_method_name(i));
        dae_problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_are_heeded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
