/* The text against runs of a model that is a little different: what fires at events, in which
 * passes, what it does, and what is there at the start. All judges make the same mistake, so that
 * the interpreter of the text is alone to find it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/residual.h"

enum { TEXT = 2000 };

/* A text, a place of it that is changed, and the fault that is found. */
typedef struct change {
    const char *text, *from, *to;
    int line; /* of the fault, and words of it */
    const char *words;
} change;

static const char machine[] =
    "model M\n"
    "  Integer state(start = 1, fixed = true);\n"
    "  Real level(start = 0, fixed = true), T(start = 15, fixed = true);\n"
    "equation\n"
    "  der(level) = if state == 1 then 6 else 0;\n"
    "  der(T) = if state == 2 then 4 else 0;\n"
    "  when pre(state) == 1 and level >= 12 then\n"
    "    state = 2;\n"
    "  elsewhen pre(state) == 2 and T >= 60 then\n"
    "    state = 3;\n"
    "  end when;\n"
    "  annotation(experiment(StopTime = 20));\n"
    "end M;\n";

static const char neuron[] = "model M\n"
                             "  Real v(start = 0, fixed = true), u(start = 0, fixed = true);\n"
                             "  Integer n(start = 0, fixed = true);\n"
                             "equation\n"
                             "  der(v) = 1;\n"
                             "  der(u) = -u;\n"
                             "  when v >= 1 then\n"
                             "    reinit(v, 0);\n"
                             "    reinit(u, pre(u) + 1);\n"
                             "    n = pre(n) + 1;\n"
                             "  end when;\n"
                             "  annotation(experiment(StopTime = 5.5));\n"
                             "end M;\n";

static const char thermostat[] = "model M\n"
                                 "  Real T(start = 17, fixed = true);\n"
                                 "  Boolean on(start = true, fixed = true);\n"
                                 "  Integer n(start = 0, fixed = true);\n"
                                 "algorithm\n"
                                 "  when T < 19 then\n"
                                 "    on := true;\n"
                                 "  elsewhen T > 21 then\n"
                                 "    on := false;\n"
                                 "    n := pre(n) + 1;\n"
                                 "  end when;\n"
                                 "equation\n"
                                 "  4*der(T) = 3 - T + (if on then 30 else 0);\n"
                                 "  annotation(experiment(StopTime = 10));\n"
                                 "end M;\n";

static const char tank[] = "model M\n"
                           "  Real V(start = 50, fixed = true);\n"
                           "  Boolean feeding(start = true, fixed = true);\n"
                           "equation\n"
                           "  der(V) = if feeding then 2 else 0;\n"
                           "  when V > 70 then\n"
                           "    feeding = false;\n"
                           "  end when;\n"
                           "  annotation(experiment(StopTime = 50));\n"
                           "end M;\n";

static const char trigger[] = "model M\n"
                              "  Real x;\n"
                              "  Boolean q(start = false, fixed = true);\n"
                              "equation\n"
                              "  x = sin(time);\n"
                              "  q = x > (if pre(q) then -0.4 else 0.4);\n"
                              "  annotation(experiment(StopTime = 10));\n"
                              "end M;\n";

static const char timer[] = "model M\n"
                            "  Boolean on(start = false, fixed = true);\n"
                            "  Real T(start = 20, fixed = true);\n"
                            "equation\n"
                            "  when {sample(0, 10), sample(6, 10)} then\n"
                            "    on = not pre(on);\n"
                            "  end when;\n"
                            "  der(T) = if on then 1 else -1;\n"
                            "  annotation(experiment(StopTime = 35));\n"
                            "end M;\n";

/* It discharges in 8 ms of 2 s. */
static const char lamp[] = "model M\n"
                           "  Real v(start = 0, fixed = true);\n"
                           "  Boolean lit(start = false, fixed = true);\n"
                           "equation\n"
                           "  lit = if pre(lit) then v > 60 else v > 90;\n"
                           "  1e-6*der(v) = (150 - v)/1e6 - (if lit then (v - 50)/5e3 else 0);\n"
                           "  annotation(experiment(StopTime = 2));\n"
                           "end M;\n";

/* What was a while ago: of states, of an expression with time in it, of a jump that comes back,
 * after a time that changes, and of a pulse that no row meets. */
static const char echo[] =
    "model M\n"
    "  Real x(start = 1, fixed = true), z(start = 0, fixed = true), y, u;\n"
    "  Real w(start = 1, fixed = true);\n"
    "  parameter Real lag = 0.5;\n"
    "  Real v[2];\n"
    "equation\n"
    "  der(x) = -delay(x, lag);\n"
    "  y = delay(if x > 0.2 then x*sin(time) else 0, 0.25) + delay(time, 0.3);\n"
    "  u = if time < 1 then 0 else 1;\n"
    "  der(z) = delay(u, 0.7) + 0.5*delay(z, 1.7);\n"
    "  der(w) = -delay(w, 0.3 + 0.1*sin(time), 0.5);\n"
    "  v = {x, delay(sum(v), 0.4)/3};\n"
    "  annotation(experiment(StopTime = 5));\n"
    "end M;\n";

static const char pulse[] = "model M\n"
                            "  Real c(start = 0, fixed = true), p;\n"
                            "equation\n"
                            "  p = 100*exp(-((time - 0.53)/0.002)^2);\n"
                            "  der(c) = p + delay(p, 1.1) - c;\n"
                            "  annotation(experiment(StopTime = 2));\n"
                            "end M;\n";

/* What differs is far below the limit in each step, and adds up. */
static const char drift[] = "model M\n"
                            "  Real x(start = 10, fixed = true), y(start = 1, fixed = true);\n"
                            "  discrete Real s(start = 0, fixed = true);\n"
                            "equation\n"
                            "  der(x) = 1 + cos(5*time);\n"
                            "  der(y) = sin(3*time);\n"
                            "  when time > 1 then\n"
                            "    s = x;\n"
                            "  end when;\n"
                            "  annotation(experiment(StopTime = 10));\n"
                            "end M;\n";

/* clang-format off */
static const change changes[] = {
    /* a pass more than the text has: 1, 2, 3 at once */
    {machine, "pre(state) == 2 and T", "pre(state) == 2 or T", 2, "state (line 2) changes from 1 to 3"},
    {machine, "state = 3", "state = 4", 2, "state (line 2) changes from 2 to 4"},
    {machine, "start = 1,", "start = 2,", 2, "state begins with 2, where what the text fixes makes it 1"},
    {machine, "level(start = 0", "level(start = 1", 3, "level begins with 1"},
    /* the branch ends its own condition */
    {neuron, "reinit(u, pre(u) + 1)", "reinit(u, pre(u) + 0.5)", 2, "u (line 2) changes from"},
    {neuron, "    reinit(u, pre(u) + 1);\n", "", 2, "u (line 2) changes from 0 to 0"},
    {neuron, "n = pre(n) + 1", "n = pre(n) + 2", 3, "n (line 3) changes from 0 to 2"},
    {neuron, "v >= 1 then", "v >= 1.1 then", 10, "so that n would be 1"},
    {neuron, "v(start = 0,", "v(start = 0.5,", 2, "v begins with 0.5"},
    /* in algorithms */
    {thermostat, "T < 19", "T > 19", 6, "what it says does not happen"},
    {thermostat, "n := pre(n) + 1", "n := pre(n) + 2", 4, "n (line 4) changes from 0 to 2"},
    {thermostat, "on(start = true", "on(start = false", 3, "on begins with false"},
    /* the condition passes so slowly that it is uncertain for a while */
    {tank, "V > 70", "V < 70", 7, "so that feeding would be false"},
    {tank, "V > 70", "V > 80", 7, "so that feeding would be false"},
    {tank, "(start = true", "(start = false", 3, "feeding begins with false"},
    /* equations with a memory */
    {trigger, "then -0.4", "then 0.4", 3, "q (line 3) changes from true to false"},
    {trigger, "start = false", "start = true", 3, "q begins with true"},
    /* what is fast is short */
    {lamp, "/5e3", "/5500", 6, "the integral of the left side less the right one"},
    /* clocks */
    {timer, "start = false", "start = true", 2, "on begins with false"},
    /* delays */
    {echo, "lag = 0.5", "lag = 0.501", 7, "der(x) = -delay(x, lag): from t = "},
    {echo, "x*sin(time)", "x*sin(time - 0.001)", 8, "the left side is"},
    {echo, "> 0.2", "> 0.21", 8, "the left side is"},
    {echo, "delay(time, 0.3)", "delay(time, 0.31)", 8, "the left side is"},
    {echo, "delay(u, 0.7)", "delay(u, 0.701)", 10, "the integral"},
    {echo, "delay(z, 1.7)", "delay(z, 1.6)", 10, "the integral"},
    {echo, "0.1*sin", "0.101*sin", 11, "the integral"},
    {echo, "delay(sum(v), 0.4)", "delay(sum(v), 0.41)", 12, "the left side is"},
    {drift, "1 + cos", "1.001 + cos", 5, "the integral"},
    {timer, "sample(0, 10)", "sample(10, 10)", 2, "on begins with false"},
};
/* clang-format on */

static dae_problem *problem_of(const char *text)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_model m = {.text = text, .file = "m.mo"};
    if (dae_problem_from_model(&m, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

/* What is said of a run of `run`, held against `text`. */
static dae_verify_report *judge_steps(const char *run, const char *text, double max_step)
{
    dae_options o = dae_options_default();
    dae_verify_report *r = NULL;
    dae_diag diag = {0};
    dae_problem *p = problem_of(run);
    dae_experiment e = dae_problem_experiment(p);
    const dae_model *own = p->source;
    dae_model source = *own;
    source.text = text;
    source.length = strlen(text);
    p->source = &source;
    dae_verify_request q = {.tend = e.stop};
    o.max_step = max_step;
    dae_status status = dae_verify(p, &o, &q, &r, &diag);
    p->source = own;
    dae_problem_free(p);
    if (status != DAE_OK) fail_msg("%s", diag.text);
    return r;
}

static dae_verify_report *judge(const char *run, const char *text)
{
    return judge_steps(run, text, 0.0);
}

static void test_right_runs_pass(void **state)
{
    static const char *const texts[] = {machine, neuron, thermostat, tank, trigger,
                                        timer,   lamp,   echo,       drift};
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        dae_verify_report *r = judge(texts[k], texts[k]);
        if (r->verdict != DAE_VERDICT_GOOD) fail_msg("text %zu: %s", k, r->text);
        dae_verify_report_free(r);
    }
}

static void check_change(const change *c)
{
    char run[TEXT];
    bool found = false;
    const char *at = strstr(c->text, c->from);
    assert_non_null(at);
    snprintf(run, sizeof run, "%.*s%s%s", (int)(at - c->text), c->text, c->to,
             at + strlen(c->from));
    dae_verify_report *r = judge(run, c->text);
    for (int k = 0; k < r->fault_count; k++)
        found = found || ((c->line == 0 || r->faults[k].line == c->line) &&
                          strstr(r->faults[k].what, c->words));
    if (r->verdict != DAE_VERDICT_OFF || !found)
        fail_msg("'%s' to '%s': %s", c->from, c->to,
                 r->fault_count > 0 ? r->faults[0].what : r->text);
    dae_verify_report_free(r);
}

static void test_finds_what_differs(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) check_change(&changes[k]);
}

/* A pulse that comes back: with short steps nothing passes it. */
static void test_delayed_pulses(void **state)
{
    static const char other[] = "delay(p, 1.11)";
    char run[TEXT];
    (void)state;
    dae_verify_report *r = judge_steps(pulse, pulse, 5e-4);
    if (r->verdict != DAE_VERDICT_GOOD) fail_msg("%s", r->text);
    dae_verify_report_free(r);
    const char *at = strstr(pulse, "delay(p, 1.1)");
    snprintf(run, sizeof run, "%.*s%s%s", (int)(at - pulse), pulse, other, at + strlen(other) - 1);
    r = judge_steps(run, pulse, 5e-4);
    if (r->verdict != DAE_VERDICT_OFF || r->fault_count == 0 || r->faults[0].line != 5)
        fail_msg("%s", r->text);
    dae_verify_report_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_right_runs_pass),
                                       cmocka_unit_test(test_finds_what_differs),
                                       cmocka_unit_test(test_delayed_pulses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
