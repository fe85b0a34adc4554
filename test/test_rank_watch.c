/* Points where a model's equations lose rank: every method stops there with the equation, or goes
 * on where there is none, whatever the scales. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "solve/bind/solver.h"

enum { MOST = 8 };

/* y(tend) of a text, or what went wrong. */
static dae_status solve(const char *text, const char *name, double tend, double *y, dae_diag *diag)
{
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_model model = {.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    dae_options o = dae_options_default();
    o.method = name;
    o.rtol = 1e-6;
    o.atol = 1e-9;
    o.stop_time = tend;
    o.max_steps = 20000;
    if (dae_problem_from_model(&model, &p, diag) != DAE_OK) fail_msg("%s", diag->text);
    dae_status status = dae_solver_new(p, &o, &s, diag);
    if (status == DAE_OK) {
        status = dae_solver_start(s, 0.0, NULL, NULL);
        if (status == DAE_OK) status = dae_solver_run(s, tend, y, NULL);
        *diag = *dae_solver_diag(s);
    }
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

static const char *const METHODS[] = {"auto", "bdf",     "radau:5", "rodas",   "sdirk:4", "liex",
                                      "herk", "taylor",  "dopri:5", "dopri:8", "hem:5",   "gauss:4",
                                      "glm",  "rodas:3", "sirk:2",  "radau"};
enum { METHOD_COUNT = sizeof METHODS / sizeof METHODS[0] };

/* A text with a singular point at `t`; its line 4 is to blame. */
typedef struct singular_text {
    const char *text;
    double t;
} singular_text;

#define DECLARE                                                                                    \
    "model M\n  Real x(start = 1, fixed = true), y(start = 1, fixed = true);\nequation\n"

static void every_method_stops(void **unused)
{
    (void)unused;
    const singular_text list[] = {
        /* zeros that are passed: of time, of a state, of a product, of a pair of derivatives */
        {DECLARE "  (0.5 - time)*der(y) = x - y;\n  der(x) = -y;\nend M;\n", 0.5},
        {DECLARE "  (1 - time)*der(y) = -y;\n  der(x) = -x;\nend M;\n", 1.0},
        {DECLARE "  (x - 0.25)*der(y) = x - 0.25;\n  der(x) = -1;\nend M;\n", 0.75},
        {DECLARE "  (1 + y^2)*cos(time)*der(y) = -sin(time);\n  der(x) = 0;\nend M;\n", acos(0.0)},
        {DECLARE "  cos(time)*der(x) + 0.5*der(y) = -x;\n  der(x) + der(y) = y;\nend M;\n",
         acos(0.5)},
        /* scales of 1e-20 and 1e20 change nothing */
        {DECLARE "  1e-20*(1 - time)*der(y) = -1e-20*y;\n  1e20*der(x) = -1e20*x;\nend M;\n", 1.0},
        /* a zero that is touched */
        {DECLARE "  (1 - time)^2*der(y) = -y;\n  der(x) = -x;\nend M;\n", 1.0}};
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++)
        for (int m = 0; m < METHOD_COUNT; m++) {
            double y[MOST];
            dae_diag diag = {0};
            dae_status status = solve(list[k].text, METHODS[m], 1.7, y, &diag);
            if (status == DAE_ERR_STIFF || status == DAE_ERR_STALL) continue; /* before it */
            if (status == DAE_OK || !strstr(diag.text, "m.mo:4"))
                fail_msg("text %d, %s: %s", (int)k, METHODS[m], diag.text);
            if (fabs(diag.t - list[k].t) > 1e-2)
                fail_msg("text %d, %s: stops at %.9g", (int)k, METHODS[m], diag.t);
        }
}

/* y(1) of a text whose factors never vanish. */
typedef struct regular_text {
    const char *text;
    double y;
} regular_text;

static void no_method_stops(void **unused)
{
    (void)unused;
    const regular_text list[] = {
        /* a factor that jumps from -1 to 1 without an event, and at one */
        {DECLARE "  noEvent(if x > 0.5 then -1.0 else 1.0)*der(y) = 0;\n  der(x) = -1;\nend M;\n",
         1.0},
        {DECLARE "  (if time < 0.5 then -1.0 else 1.0)*(1 + x^2)*der(y) = 1 + x^2;\n"
                 "  der(x) = -1;\nend M;\n",
         1.0},
        /* factors of 1e-20 and 1e20, and one that falls by 1e-20 */
        {DECLARE "  1e-20*(1 + x^2)*der(y) = -1e-20*(1 + x^2)*y;\n  1e20*der(x) = -1e20*x;\n"
                 "end M;\n",
         0.36787944117144233},
        {DECLARE "  exp(-46*time)*der(y) = -exp(-46*time)*y;\n  der(x) = -x;\nend M;\n",
         0.36787944117144233},
        /* one that changes its sign through infinity */
        {DECLARE "  der(y)/(time - 0.3) = -y;\n  der(x) = -x;\nend M;\n", 0.8187307530779818},
    };
    const char *const methods[] = {"auto", "bdf", "radau:5", "rodas", "dopri:5", "taylor"};
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++)
        for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
            double y[MOST];
            dae_diag diag = {0};
            if (solve(list[k].text, methods[m], 1.0, y, &diag) != DAE_OK)
                fail_msg("text %d, %s: %s", (int)k, methods[m], diag.text);
            if (!(fabs(y[1] - list[k].y) <= 1e-4))
                fail_msg("text %d, %s: %.9g", (int)k, methods[m], y[1]);
        }
}

/* How many blocks are watched for singular points where `factor` stands before a derivative. */
static int watched_blocks(const char *factor)
{
    char text[400];
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options o = dae_options_default();
    int count = 0;
    snprintf(text, sizeof text,
             "model M\n  parameter Real p = 2, q = 3;\n"
             "  Real x(start = 1, fixed = true), y(start = 1, fixed = true);\n"
             "equation\n  (%s)*der(y) = 1;\n  der(x) = -x;\nend M;\n",
             factor);
    dae_model model = {.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&model, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_OK);
    if (dae_solver_start(s, 0.0, NULL, NULL)) fail_msg("%s", dae_solver_diag(s)->text);
    for (int k = 0; k < s->modes->count; k++)
        count += rank_watch_blocks(s->modes->list[k]->plan.watch);
    dae_solver_free(s);
    dae_problem_free(p);
    return count;
}

/* Steps look after factors that may vanish, and no others. */
static void factors_that_may_vanish(void **unused)
{
    (void)unused;
    const char *const vanish[] = {"x",        "x - 0.1",   "p*x",        "x/q",          "-x",
                                  "x^2",      "abs(x)",    "sqrt(x)",    "x^3 + 1",      "x*exp(x)",
                                  "x/exp(x)", "x+exp(x)",  "exp(x) - 1", "sin(x) + 1.5", "x^2 + x",
                                  "p*x*q",    "x^2*abs(x)"};
    const char *const stay[] = {"exp(x)",      "-exp(x)",     "p*exp(x)",     "-p*exp(x)/q",
                                "cosh(x)",     "1 + x^2",     "exp(x) + x^2", "exp(x)*(1 + x^2)",
                                "exp(x)/p",    "2 + abs(x)",  "sqrt(x) + 1",  "(1 + x^2)^1.5",
                                "p/(1 + x^2)", "exp(x)^2 + 1"};
    for (size_t k = 0; k < sizeof vanish / sizeof *vanish; k++)
        if (watched_blocks(vanish[k]) != 1) fail_msg("%s is not watched", vanish[k]);
    for (size_t k = 0; k < sizeof stay / sizeof *stay; k++)
        if (watched_blocks(stay[k]) != 0) fail_msg("%s is watched", stay[k]);
}

/* Algebraic equations whose slope touches zero stay solvable: q |q| = cos(t). A fold does not. */
static void algebraic(void **unused)
{
    (void)unused;
    double y[MOST];
    dae_diag diag = {0};
    const char *reversal = "model M\n  Real q(start = 1), x(start = 0, fixed = true);\nequation\n"
                           "  q*abs(q) = cos(time);\n  der(x) = q;\nend M;\n";
    if (solve(reversal, "radau:5", 3.0, y, &diag) != DAE_OK) fail_msg("%s", diag.text);
    const char *fold = "model M\n  Real x(start = 1, fixed = true), y(start = 1);\nequation\n"
                       "  y^2 = x;\n  der(x) = -1;\nend M;\n";
    const char *const methods[] = {"auto", "bdf", "rodas", "sdirk:4", "liex"};
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        assert_int_not_equal(solve(fold, methods[m], 2.0, y, &diag), DAE_OK);
        assert_non_null(strstr(diag.text, "m.mo:4"));
        assert_true(fabs(diag.t - 1.0) < 1e-2);
    }
}

/* An inductor in series with a diode: when its current falls below 1e-14 A at 1000 A/s, the voltage
 * e3 falls by 1.2 V within 1e-17 s. That is no impasse; the run goes on. The value is that of
 * sdirk4, rodas and bdf at 1e-9. */
static void snap_off(void **unused)
{
    (void)unused;
    const char *text = "model M\n  Real e4(start = 0, fixed = true), iL(start = 0, fixed = true);\n"
                       "  Real e1, e2, e3;\nequation\n  e1 = 5*sin(6283.185307179586*time);\n"
                       "  (e2 - e1)/10 + iL = 0;\n  1e-3*der(iL) = e2 - e3;\n"
                       "  iL = 1e-14*(exp((e3 - e4)/0.02585) - 1);\n"
                       "  1e-5*der(e4) + e4/1000 - iL = 0;\nend M;\n";
    const char *const methods[] = {"auto", "bdf"};
    for (int m = 0; m < 2; m++) {
        double y[MOST];
        dae_diag diag = {0};
        if (solve(text, methods[m], 0.01, y, &diag) != DAE_OK) fail_msg("%s", diag.text);
        if (!(fabs(y[0] - 3.68638006) <= 1e-5)) fail_msg("%s: e4 = %.9g", methods[m], y[0]);
    }
}

/* A structure that no numbers keep where the equations hold: f*x with f = 0. The derivative array
 * finds the solution, x = sin t and y = cos t. */
static void broken_promise(void **unused)
{
    (void)unused;
    const char *text = "model M\n  Real x(start = 0), y(start = 1), f, g;\nequation\n"
                       "  f = der(x) - y;\n  g = x - sin(time);\n"
                       "  f + g*x + f*y = 0;\n  g + f*f + f*y*x = 0;\nend M;\n";
    double y[MOST];
    dae_diag diag = {0};
    dae_status status = solve(text, "radau:5", 1.0, y, &diag);
    if (status == DAE_OK)
        assert_true(fabs(y[0] - sin(1.0)) < 1e-4 && fabs(y[1] - cos(1.0)) < 1e-3);
    else
        assert_non_null(strstr(diag.text, "m.mo:"));
}

/* Where an amplifier of gain 1e5 meets its limit the determinant jumps from 1 to 1e5, and is never
 * small: a method that cannot pass the kink does not say that the index changes. */
static void limit_of_an_amplifier(void **unused)
{
    (void)unused;
    const char *text = "model M\n  Real vm, vo, vc(start = 0, fixed = true);\nequation\n"
                       "  der(vc) = 20*cos(10*time)/0.01 - vm/0.01;\n  vc = vm - vo;\n"
                       "  vo = min(10, max(-10, -1e5*vm));\nend M;\n";
    const char *const methods[] = {"auto", "bdf", "radau", "rodas", "irk", "sdirk"};
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        double y[MOST];
        dae_diag diag = {0};
        if (solve(text, methods[m], 2.0, y, &diag) == DAE_OK) continue;
        if (strstr(diag.text, "index") || m < 3) fail_msg("%s: %s", methods[m], diag.text);
    }
}

/* The factor of the derivative is a function's loop, whose expression uses each of its parts twice:
 * 2^40 of them, taken one by one. The fixed point of y = (y^2 + 0.3)/2 is what it gives. */
static void shared_parts(void **unused)
{
    (void)unused;
    const char *text =
        "package P\n  function f\n    input Real x;\n    output Real y;\n  algorithm\n"
        "    y := x;\n    for i in 1:40 loop y := 0.5*(y*y + 0.3); end for;\n"
        "  end f;\n  model P\n    Real x(start = 0.5, fixed = true);\n  equation\n"
        "    f(x)*der(x) = 1;\n  end P;\nend P;\n";
    double y[MOST];
    dae_diag diag = {0};
    if (solve(text, "auto", 0.1, y, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_true(fabs(y[0] - 0.5 - 0.1 / (1.0 - sqrt(0.7))) < 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_stops),
        cmocka_unit_test(no_method_stops),
        cmocka_unit_test(algebraic),
        cmocka_unit_test(snap_off),
        cmocka_unit_test(broken_promise),
        cmocka_unit_test(shared_parts),
        cmocka_unit_test(factors_that_may_vanish),
        cmocka_unit_test(limit_of_an_amplifier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
