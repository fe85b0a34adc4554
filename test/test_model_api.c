#define _GNU_SOURCE
/* Models from C: names, parameters, start values, texts and files, settings, messages, emitted
 * code, engines and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daedal.h"

static const char *const decay = "model Decay \"one substance\"\n"
                                 "  parameter Real k(unit = \"1/s\") = 2;\n"
                                 "  parameter Real k2 = 2*k;\n"
                                 "  final parameter Real k3 = k + 1;\n"
                                 "  constant Real c = 7;\n"
                                 "  parameter String label = \"x\";\n"
                                 "  parameter Integer n = 3;\n"
                                 "  parameter Real ambient = 20;\n"
                                 "  Real x(unit = \"mol\", start = 1, fixed = true) \"amount\";\n"
                                 "  Real v[n](each start = 2, each fixed = true), s;\n"
                                 "equation\n"
                                 "  der(x) = -k*x;\n"
                                 "  for i in 1:n loop\n"
                                 "    der(v[i]) = -i*v[i];\n"
                                 "  end for;\n"
                                 "  s = x + k2;\n"
                                 "  annotation(experiment(StartTime = 1, StopTime = 3,\n"
                                 "                        Tolerance = 1e-5, Interval = 0.25));\n"
                                 "end Decay;\n";

static dae_problem *problem_of(const dae_model *model)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_status status = dae_problem_from_model(model, &p, &diag);
    if (status != DAE_OK) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
    return p;
}

static dae_problem *decay_problem(void)
{
    return problem_of(&(dae_model){.text = decay, .file = "decay.mo", .engine = DAE_ENGINE_TAPE});
}

static dae_solver *solver_of(const dae_problem *p)
{
    dae_solver *s = NULL;
    dae_options options = dae_options_default();
    options.rtol = 1e-9;
    options.atol = 1e-12;
    assert_int_equal(dae_solver_new(p, &options, &s, NULL), DAE_OK);
    return s;
}

static double value_of(dae_solver *s, const dae_problem *p, const char *name)
{
    double values[256];
    int i = dae_problem_find_variable(p, name);
    assert_in_range(dae_problem_variable_count(p), 1, 256);
    assert_true(i >= 0);
    assert_int_equal(dae_solver_variables(s, dae_solver_time(s), values), DAE_OK);
    return values[i];
}

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-7 * fmax(1.0, fabs(expected))))
        print_error("%.17g, not %.17g\n", found, expected);
    assert_true(fabs(found - expected) <= 1e-7 * fmax(1.0, fabs(expected)));
}

/* ---- names ---------------------------------------------------------------------------------- */

static void test_names_units_experiment(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    assert_string_equal(dae_problem_name(p), "Decay");
    assert_int_equal(dae_problem_variable_count(p), 5);
    int x = dae_problem_find_variable(p, "x"), v = dae_problem_find_variable(p, "v[3]");
    assert_string_equal(dae_problem_variable(p, x), "x");
    assert_string_equal(dae_problem_unit(p, x), "mol");
    assert_string_equal(dae_problem_description(p, x), "amount");
    assert_string_equal(dae_problem_unit(p, v), "");
    assert_string_equal(dae_problem_description(p, v), "");
    assert_int_equal(dae_problem_find_variable(p, "nothing"), -1);
    assert_int_equal(dae_problem_find_variable(p, NULL), -1);
    assert_null(dae_problem_variable(p, 99));
    dae_experiment e = dae_problem_experiment(p);
    assert_true(e.start == 1.0 && e.stop == 3.0 && e.tolerance == 1e-5 && e.interval == 0.25);
    dae_problem_free(p);
    p = problem_of(&(dae_model){.text = "model A Real x; equation der(x) = 1; end A;"});
    e = dae_problem_experiment(p);
    assert_true(isnan(e.start) && isnan(e.stop) && isnan(e.tolerance) && isnan(e.interval));
    dae_problem_free(p);
}

static int parameter_named(const dae_problem *p, const char *name)
{
    for (int i = 0; i < dae_problem_parameter_count(p); i++)
        if (strcmp(dae_problem_parameter(p, i), name) == 0) return i;
    return -1;
}

static void test_parameters(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    int k = parameter_named(p, "k"), k2 = parameter_named(p, "k2"), k3 = parameter_named(p, "k3");
    assert_true(k >= 0 && k2 >= 0);
    assert_string_equal(dae_problem_parameter_unit(p, k), "1/s");
    assert_true(dae_problem_parameter_value(p, k2) == 4.0);
    assert_int_equal(dae_problem_set_parameter(p, "k", 5.0, NULL), DAE_OK);
    assert_true(dae_problem_parameter_value(p, k2) == 10.0); /* follows */
    if (k3 >= 0) assert_true(dae_problem_parameter_value(p, k3) == 6.0);
    assert_int_equal(dae_problem_set_parameter(p, "k2", 1.0, NULL), DAE_OK);
    assert_int_equal(dae_problem_set_parameter(p, "k", 3.0, NULL), DAE_OK);
    assert_true(dae_problem_parameter_value(p, k2) == 1.0); /* no longer */
    assert_true(isnan(dae_problem_parameter_value(p, -1)));
    dae_problem_free(p);
}

static void refuse(dae_problem *p, const char *name, double value, bool start, const char *word)
{
    dae_diag diag = {0};
    dae_status status = start ? dae_problem_set_start(p, name, value, &diag)
                              : dae_problem_set_parameter(p, name, value, &diag);
    assert_int_equal(status, DAE_ERR_ARGUMENT);
    if (!strstr(diag.text, word)) print_error("no \"%s\" in: %s\n", word, diag.text);
    assert_non_null(strstr(diag.text, word));
}

static void test_refused_names_and_values(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    refuse(p, "ambeint", 1.0, false, "Did you mean ambient?");
    refuse(p, "xx[1]", 1.0, true, "no variable xx[1]");
    refuse(p, "k", NAN, false, "finite");
    refuse(p, "k", INFINITY, false, "finite");
    refuse(p, "k3", 1.0, false, "final");
    refuse(p, "c", 1.0, false, "constant");
    refuse(p, "label", 1.0, false, "String");
    refuse(p, "n", 4.0, false, "settings"); /* before the translation */
    refuse(p, "x", 1.0, false, "x");
    refuse(p, "v[4]", 1.0, true, "v[");
    refuse(p, "x", NAN, true, "finite");
    refuse(p, "k", 1.0, true, "k");
    refuse(NULL, "k", 1.0, false, "model");
    refuse(p, NULL, 1.0, false, "name");
    dae_problem_free(p);
}

/* A value that makes another parameter impossible is refused, and what was there stays. */
static void test_refused_parameter_leaves_no_trace(void **state)
{
    (void)state;
    dae_diag diag = {0};
    dae_problem *p = problem_of(&(dae_model){
        .text = "model M parameter Real a = 2; parameter Real b = 1/(a - 1); Real x(start=0);\n"
                "equation der(x) = b; end M;"});
    assert_int_equal(dae_problem_set_parameter(p, "a", 1.0, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "Parameter b"));
    assert_true(dae_problem_parameter_value(p, parameter_named(p, "a")) == 2.0);
    assert_true(dae_problem_parameter_value(p, parameter_named(p, "b")) == 1.0);
    dae_problem_free(p);
}

static void test_values_are_seen_at_the_next_start(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    dae_solver *s = solver_of(p);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_problem_set_parameter(p, "k", 0.5, NULL), DAE_OK);
    assert_int_equal(dae_problem_set_start(p, "v[2]", 8.0, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_OK);
    near(value_of(s, p, "x"), exp(-2.0));
    near(value_of(s, p, "v[2]"), 2.0 * exp(-2.0));
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_OK);
    near(value_of(s, p, "x"), exp(-0.5));
    near(value_of(s, p, "v[2]"), 8.0 * exp(-2.0));
    near(value_of(s, p, "s"), exp(-0.5) + 1.0);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* The start value of an alias reaches what stands for it; that of a discrete variable its memory.
 */
static void test_start_values_of_aliases_and_discretes(void **state)
{
    (void)state;
    dae_problem *p = problem_of(&(dae_model){
        .text = "model M\n Real x(start=1, fixed=true), y; Integer k(start=2);\nequation\n"
                "der(x) = 0; y = -x;\nwhen time > 0.5 then k = pre(k) + 1; end when; end M;"});
    assert_int_equal(dae_problem_set_start(p, "y", 3.0, NULL), DAE_OK);
    assert_int_equal(dae_problem_set_start(p, "k", 10.0, NULL), DAE_OK);
    dae_solver *s = solver_of(p);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    near(value_of(s, p, "y"), 3.0);
    near(value_of(s, p, "x"), -3.0);
    assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_OK);
    near(value_of(s, p, "k"), 11.0);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* ---- texts, files, settings, sizes -------------------------------------------------------------
 */

static void test_settings_before_the_translation(void **state)
{
    (void)state;
    const dae_setting settings[] = {{"n", 7.0}, {"k", 1.5}};
    dae_problem *p =
        problem_of(&(dae_model){.text = decay, .settings = settings, .setting_count = 2});
    assert_int_equal(dae_problem_variable_count(p), 9);
    assert_true(dae_problem_parameter_value(p, parameter_named(p, "k2")) == 3.0);
    dae_problem_free(p);
    const dae_setting wrong[] = {{"ambeint", 1.0}};
    dae_diag diag = {0};
    dae_model model = {.text = decay, .settings = wrong, .setting_count = 1};
    assert_true(dae_problem_from_model(&model, &p, &diag) < 0);
    assert_null(p);
    assert_non_null(strstr(diag.text, "ambeint"));
    assert_non_null(strstr(diag.text, "ambient"));
    model.settings = &(dae_setting){"k", NAN};
    assert_int_equal(dae_problem_from_model(&model, &p, &diag), DAE_ERR_ARGUMENT);
    model.settings = NULL;
    assert_int_equal(dae_problem_from_model(&model, &p, &diag), DAE_ERR_ARGUMENT);
}

/* ---- values as the language writes them -------------------------------------------------------
 */

static const char *const kinds =
    "model Kinds\n"
    "  type Mode = enumeration(slow, fast);\n"
    "  type Count = Integer(min = 1, max = 5);\n"
    "  record Pair Real a; Mode m; end Pair;\n"
    "  parameter Count n = 2;\n"
    "  parameter Mode mode = Mode.slow;\n"
    "  parameter Mode modes[2] = {Mode.slow, Mode.slow};\n"
    "  parameter Boolean on = true;\n"
    "  parameter String title = \"none\";\n"
    "  parameter Real v[n] = fill(1, n);\n"
    "  parameter Real k(min = 0) = 1;\n"
    "  parameter Real twice(max = 10) = 2*k;\n"
    "  parameter Pair r(a = 1, m = Mode.slow);\n"
    "  parameter Real 'a b'[2] = {1, 2};\n"
    "  constant Real c = 3;\n"
    "  Real x(start = 1, fixed = true, min = -2, max = k + 3);\n"
    "  Real y[n](each start = 1, each fixed = true), 'q r', minus, q;\n"
    "  discrete Mode now(start = Mode.slow, fixed = true);\n"
    "  discrete Integer count(start = 1, fixed = true);\n"
    "  discrete Boolean up(start = false, fixed = true);\n"
    "equation\n"
    "  der(x) = if mode == Mode.fast then -2*x else -x;\n"
    "  for i in 1:n loop der(y[i]) = -v[i]*y[i]; end for;\n"
    "  'q r' = x;\n  minus = -x;\n  q = 2*k;\n"
    "  when x < 0.5 then\n"
    "    now = Mode.fast;\n    count = pre(count) + 1;\n"
    "    up = not pre(up);\n  end when;\n"
    "end Kinds;\n";

static dae_status assign(const char *assignment, dae_problem **p, dae_diag *diag)
{
    dae_model model = {.text = kinds,
                       .file = "kinds.mo",
                       .engine = DAE_ENGINE_TAPE,
                       .assignments = &assignment,
                       .assignment_count = 1};
    return dae_problem_from_model(&model, p, diag);
}

/* The value of a parameter after one assignment. */
static void takes(const char *assignment, const char *name, double value)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    if (assign(assignment, &p, &diag) != DAE_OK) fail_msg("%s: %s", assignment, diag.text);
    if (dae_problem_parameter_value(p, parameter_named(p, name)) != value)
        fail_msg("%s: %s = %g", assignment, name,
                 dae_problem_parameter_value(p, parameter_named(p, name)));
    dae_problem_free(p);
}

static void test_assignments(void **state)
{
    (void)state;
    takes("k = 2.5", "k", 2.5);
    takes("k=2.5", "twice", 5.0);
    takes("k = 9/2", "k", 4.5);
    takes("twice = -3", "twice", -3.0);
    takes("twice = c + k", "twice", 4.0);
    takes("n = 4", "v[4]", 1.0);
    takes("on = false", "on", 0.0);
    takes("on = 0", "on", 0.0);
    takes("mode = Mode.fast", "mode", 2.0);
    takes("mode = fast", "mode", 2.0);
    takes("mode = 2", "mode", 2.0);
    takes("modes = {slow, fast}", "modes[2]", 2.0);
    takes("modes[2] = fast", "modes[2]", 2.0);
    takes("v = {3, 4}", "v[2]", 4.0);
    takes("v[2] = 7", "v[2]", 7.0);
    takes("r.a = 5", "r.a", 5.0);
    takes("r.m = fast", "r.m", 2.0);
    takes("'a b' = {5, 6}", "'a b'[2]", 6.0);
    takes("a b[ 2 ] = 8", "'a b'[2]", 8.0);
    dae_problem *p = NULL;
    const char *const titles[] = {"title = new", "title = \"new\""};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(assign(titles[i], &p, NULL), DAE_OK);
        dae_parameter_info info = dae_problem_parameter_info(p, parameter_named(p, "title"));
        assert_int_equal(info.type, DAE_TYPE_STRING);
        assert_string_equal(info.text, "new");
        dae_problem_free(p);
    }
}

/* An assignment that is refused with these words in the text. */
static void refuses(const char *assignment, const char *words)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_status status = assign(assignment, &p, &diag);
    if (status >= 0 || !strstr(diag.text, words))
        fail_msg("%s: status %d, %s", assignment, (int)status, diag.text);
    assert_null(p);
}

static void test_refused_assignments(void **state)
{
    (void)state;
    refuses("n = 1.5", "n is an Integer, a whole number, not 1.5");
    refuses("n = 1e10", "at most 2147483647");
    refuses("n = 7", "n = 7 lies above its max = 5 (kinds.mo:5)");
    refuses("on = 3", "on is a Boolean, true or false (1 or 0), not 3");
    refuses("mode = quick", "mode is of type Mode, one of slow, fast (or 1 to 2), not quick");
    refuses("mode = 3", "one of slow, fast (or 1 to 2), not 3");
    refuses("modes[1] = 0", "not 0");
    refuses("r.m = quick", "r.m is of type Mode");
    refuses("k = -1", "k = -1 lies below its min = 0");
    refuses("k = 6", "twice = 12 lies above its max = 10");
    refuses("k = nan", "k needs a finite number, not 'nan'");
    refuses("k = 1e999", "k needs a finite number");
    refuses("k = ", "k needs a finite number, not ''");
    refuses("k = 1; Real z", "k needs a finite number");
    refuses("k = 1 2", "k needs a finite number");
    refuses("k", "name = value");
    refuses("= 3", "name = value");
    refuses("v = {1, 2, 3}", "'v' has sizes [2], but its value has sizes [3]");
    refuses("v = 3", "'v' has sizes [2]");
    refuses("v[3] = 1", "v[3]");
    refuses("c = 1", "c (line 15) is a constant");
    refuses("x = 1", "x (line 16) is a variable, not a parameter");
    refuses("titel = 1", "no parameter 'titel' to set; did you mean 'title'?");
    dae_diag diag = {0};
    dae_problem *p = NULL;
    dae_model model = {.text = kinds, .assignment_count = 1};
    assert_int_equal(dae_problem_from_model(&model, &p, &diag), DAE_ERR_ARGUMENT);
    model.assignment_count = 0;
    model.setting_count = 1;
    model.settings = &(dae_setting){"n", 1.5};
    assert_int_equal(dae_problem_from_model(&model, &p, &diag), DAE_ERR_ARGUMENT);
    model.settings = &(dae_setting){"mode", 2.0};
    assert_int_equal(dae_problem_from_model(&model, &p, &diag), DAE_OK);
    assert_true(dae_problem_parameter_value(p, parameter_named(p, "mode")) == 2.0);
    dae_problem_free(p);
}

static dae_problem *kinds_problem(void)
{
    return problem_of(&(dae_model){.text = kinds, .engine = DAE_ENGINE_TAPE});
}

static void test_types_and_bounds_after_the_translation(void **state)
{
    (void)state;
    dae_problem *p = kinds_problem();
    dae_diag diag = {0};
    assert_int_equal(dae_problem_set_parameter(p, "mode", 3.0, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_set_parameter(p, "mode", 2.0, &diag), DAE_OK);
    assert_int_equal(dae_problem_set_parameter(p, "on", 0.5, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_set_parameter(p, "k", -1.0, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "below its min"));
    assert_int_equal(dae_problem_set_parameter(p, "k", 6.0, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "twice"));
    assert_true(dae_problem_parameter_value(p, parameter_named(p, "k")) == 1.0);
    assert_true(dae_problem_parameter_value(p, parameter_named(p, "twice")) == 2.0);
    assert_int_equal(dae_problem_set_parameter(p, "x", 1.0, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "start value"));
    assert_int_equal(dae_problem_set_parameter(p, "a b[1]", 4.0, &diag), DAE_OK);
    assert_int_equal(dae_problem_set_start(p, "k", 1.0, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "parameter"));
    assert_int_equal(dae_problem_set_start(p, "now", 3.0, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_set_start(p, "count", 0.5, &diag), DAE_ERR_ARGUMENT);
    dae_problem_free(p);
}

static void test_assigned_starts(void **state)
{
    (void)state;
    static const char *const good[] = {"y = {3, 4}", "y[1] = 5",  "now = fast",
                                       "count = 7",  "up = true", "q r = 0.75"};
    static const char *const bad[] = {"y = {1, 2, 3}", "now = quick", "up = 2", "x",
                                      "x = abc",       "x = {1}",     "x = 1;", "none = 1"};
    dae_problem *p = kinds_problem();
    dae_diag diag = {0};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (dae_problem_assign_start(p, good[i], &diag) != DAE_OK)
            fail_msg("%s: %s", good[i], diag.text);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dae_problem *other = kinds_problem();
        if (dae_problem_assign_start(other, bad[i], &diag) != DAE_ERR_ARGUMENT || !diag.text[0])
            fail_msg("%s", bad[i]);
        dae_problem_free(other);
    }
    dae_solver *s = solver_of(p);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    near(value_of(s, p, "y[1]"), 5.0);
    near(value_of(s, p, "y[2]"), 4.0);
    near(value_of(s, p, "now"), 2.0);
    near(value_of(s, p, "count"), 7.0);
    near(value_of(s, p, "up"), 1.0);
    near(value_of(s, p, "minus"), -0.75);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* ---- what is known beforehand -------------------------------------------------------------------
 */

static void test_infos_and_counts(void **state)
{
    (void)state;
    dae_problem *p = kinds_problem();
    dae_counts c = dae_problem_counts(p);
    assert_int_equal(c.equations, 3);
    assert_int_equal(c.states, 3);
    assert_int_equal(c.variables, 9);
    assert_int_equal(c.eliminated, 3);
    assert_int_equal(c.discrete, 3);
    assert_int_equal(c.relations, 1);
    assert_int_equal(c.whens, 1);
    assert_int_equal(c.samples, 0);
    assert_int_equal(c.nonzeros, 3);
    int x = dae_problem_find_variable(p, "x"), minus = dae_problem_find_variable(p, "minus");
    dae_variable_info of_x = dae_problem_variable_info(p, x);
    dae_variable_info of_minus = dae_problem_variable_info(p, minus);
    assert_true(of_x.state && of_x.alias == x && of_x.alias_sign == 1);
    assert_true(of_x.min == -2.0 && of_x.max == 4.0);
    assert_int_equal(dae_problem_set_parameter(p, "k", 2.0, NULL), DAE_OK);
    assert_true(dae_problem_variable_info(p, x).max == 5.0);
    assert_true(of_minus.state && of_minus.alias == x && of_minus.alias_sign == -1);
    assert_true(isinf(of_minus.min) && isinf(of_minus.max));
    int quoted = dae_problem_find_variable(p, "q r");
    assert_string_equal(dae_problem_variable(p, quoted), "'q r'");
    assert_int_equal(dae_problem_variable_info(p, quoted).alias, x);
    dae_variable_info constant = dae_problem_variable_info(p, dae_problem_find_variable(p, "q"));
    assert_true(constant.alias == -1 && !constant.state);
    dae_variable_info now = dae_problem_variable_info(p, dae_problem_find_variable(p, "now"));
    assert_true(now.discrete && now.type == DAE_TYPE_ENUMERATION && now.literal_count == 2);
    assert_string_equal(now.literals[1], "fast");
    dae_parameter_info n = dae_problem_parameter_info(p, parameter_named(p, "n"));
    assert_true(n.type == DAE_TYPE_INTEGER && n.structural && n.min == 1.0 && n.max == 5.0);
    assert_false(dae_problem_parameter_info(p, parameter_named(p, "c")).settable);
    assert_int_equal(dae_problem_variable_info(p, 99).literal_count, 0);
    assert_int_equal(dae_problem_variable_info(NULL, 0).alias, 0);
    assert_int_equal(dae_problem_counts(NULL).equations, 0);
    dae_problem_free(p);
}

/* der(x) of states, of aliases with their sign, and where der(q) is an unknown itself. */
static void test_derivatives(void **state)
{
    (void)state;
    static const char text[] = "model D\n"
                               "  Real q(start = 1, fixed = true, unit = \"m\");\n"
                               "  Real v(unit = \"m/s\"), m;\n"
                               "  Real x(start = 2, fixed = true), a;\n"
                               "equation\n"
                               "  der(der(q)) = -q;\n  v = der(q);\n  m = -x;\n"
                               "  der(x) = -3*x;\n  a = x*x;\n"
                               "end D;\n";
    dae_problem *p = problem_of(&(dae_model){.text = text, .engine = DAE_ENGINE_TAPE});
    dae_solver *s = solver_of(p);
    double values[8];
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 0.5, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_derivatives(s, 0.5, values), DAE_OK);
    int seen = 0;
    for (int k = 0; k < dae_problem_derivative_count(p); k++) {
        const char *name = dae_problem_derivative(p, k);
        double expected = strcmp(name, "der(q)") == 0   ? -sin(0.5)
                          : strcmp(name, "der(v)") == 0 ? -cos(0.5)
                          : strcmp(name, "der(x)") == 0 ? -6.0 * exp(-1.5)
                                                        : 6.0 * exp(-1.5);
        if (fabs(values[k] - expected) > 1e-5)
            fail_msg("%s = %g, not %g", name, values[k], expected);
        char wanted[40];
        snprintf(wanted, sizeof wanted, "der(%s)",
                 dae_problem_variable(p, dae_problem_derivative_of(p, k)));
        assert_string_equal(name, wanted);
        if (strcmp(name, "der(q)") == 0)
            assert_string_equal(dae_problem_derivative_unit(p, k), "m/s");
        seen++;
    }
    assert_true(seen >= 3);
    assert_null(dae_problem_derivative(p, 99));
    assert_int_equal(dae_problem_derivative_of(p, -1), -1);
    dae_solver_free(s);
    dae_problem_free(p);
}

static void test_engine_used(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    dae_solver *s = solver_of(p);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_engine(s), DAE_ENGINE_TAPE);
    assert_int_equal(dae_solver_engine(NULL), DAE_ENGINE_AUTO);
    dae_solver_free(s);
    dae_problem_free(p);
}

static void test_text_in_memory_and_in_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/daedal-test-XXXXXX";
    int handle = mkstemp(path);
    assert_true(handle >= 0);
    FILE *file = fdopen(handle, "w");
    fputs(decay, file);
    fclose(file);
    dae_problem *from_file = NULL, *from_text = decay_problem(), *counted = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_file(path, &from_file, &diag), DAE_OK);
    size_t length = strlen(decay);
    char *longer = malloc(length + 8);
    memcpy(longer, decay, length);
    memcpy(longer + length, "garbage", 8);
    counted = problem_of(&(dae_model){.text = longer, .length = length});
    free(longer);
    assert_int_equal(dae_problem_size(from_file), dae_problem_size(from_text));
    assert_int_equal(dae_problem_size(counted), dae_problem_size(from_text));
    remove(path);
    dae_problem_free(from_file);
    dae_problem_free(from_text);
    dae_problem_free(counted);
    assert_int_equal(dae_problem_from_file(path, &from_file, &diag), DAE_ERR_FILE);
    assert_non_null(strstr(diag.text, path));
    assert_null(from_file);
    assert_int_equal(dae_problem_from_file("/", &from_file, &diag), DAE_ERR_FILE);
    assert_int_equal(dae_problem_from_file(NULL, &from_file, &diag), DAE_ERR_ARGUMENT);
}

static void test_size_tag(void **state)
{
    (void)state;
    dae_model model = {.text = "model A Real x; equation der(x) = 1; end A;",
                       .engine = (dae_engine)99};
    dae_problem *p = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_model(&model, &p, &diag), DAE_ERR_ARGUMENT);
    /* one who does not know of engines yet */
    assert_int_equal(dae_problem_from_model_sized(&model, offsetof(dae_model, engine), &p, &diag),
                     DAE_OK);
    dae_problem_free(p);
    assert_int_equal(dae_problem_from_model_sized(&model, 0, &p, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_from_model_sized(NULL, sizeof model, &p, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_from_model_sized(&model, sizeof model, NULL, &diag),
                     DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_from_model(&(dae_model){0}, &p, &diag), DAE_ERR_ARGUMENT);
}

static void collect(const char *text, void *user)
{
    char *all = user;
    snprintf(all + strlen(all), 4096 - strlen(all), "%s", text);
}

static void test_messages(void **state)
{
    (void)state;
    char all[4096] = "";
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_model model = {.text =
                           "model A\n  Real x;\nequation\n  der(x) = yy;\n  foo(x) = 1;\nend A;\n",
                       .file = "a.mo",
                       .message = collect,
                       .user = all};
    assert_int_equal(dae_problem_from_model(&model, &p, &diag), DAE_ERR_MODEL);
    assert_null(p);
    assert_non_null(strstr(all, "a.mo:4:"));
    assert_non_null(strstr(all, "a.mo:5:")); /* all of them */
    assert_int_equal(diag.line, 4);
    assert_non_null(strstr(diag.text, "a.mo:4:"));
    assert_non_null(strstr(diag.text, "more error"));
}

/* ---- emitted code ---------------------------------------------------------------------------- */

typedef void (*program)(double t, const double *y, const double *yp, const double *ypp,
                        const double *p, const double *m, double *out);

static void run_command(const char *format, const char *a, const char *b)
{
    char command[512];
    snprintf(command, sizeof command, format, a, b);
    assert_int_equal(system(command), 0);
}

/* The emitted text compiles without a warning, and its residual is that of the library to the last
 * bit: a problem from the compiled function takes the same steps. */
static program emitted;
static const double *emitted_parameters;

static int emitted_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    emitted(t, y, yp, NULL, emitted_parameters, NULL, f);
    return 0;
}

static void test_emitted_code(void **state)
{
    (void)state;
    static const char *const text =
        "model M parameter Real k = 2; parameter Real q = k/3;\n"
        "Real x(start=1, fixed=true), y(start=0.5, fixed=true), z(start=1);\nequation\n"
        "der(x) = -k*x + sin(y)*z; der(y) = exp(-x) - q*y^3; z^2 + x = 4 + atan2(y, x); end M;";
    dae_problem *p = problem_of(&(dae_model){.text = text, .engine = DAE_ENGINE_TAPE});
    char *code = dae_problem_emit(p);
    assert_non_null(code);
    char directory[] = "/tmp/daedal-emit-XXXXXX", path[128];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/m.c", directory);
    FILE *file = fopen(path, "w");
    fputs(code, file);
    fclose(file);
    dae_text_free(code);
    run_command("gcc -std=c11 -O2 -ffp-contract=off -Wall -Wextra -Werror -fPIC -shared %s -o "
                "%s/m.so -lm",
                path, directory);
    snprintf(path, sizeof path, "%s/m.so", directory);
    void *handle = dlopen(path, RTLD_NOW);
    assert_non_null(handle);
    void *symbol = dlsym(handle, "model_residual");
    assert_non_null(symbol);
    memcpy(&emitted, &symbol, sizeof symbol);

    enum { N = 3 };
    double parameters[8], y0[N] = {1.0, 0.5, 1.0}, ends[2][N];
    for (int i = 0; i < dae_problem_parameter_count(p); i++)
        parameters[i] = dae_problem_parameter_value(p, i);
    emitted_parameters = parameters;
    assert_int_equal(dae_problem_size(p), N);
    dae_problem *by_hand = NULL;
    dae_residual description = {.n = N, .f = emitted_residual};
    assert_int_equal(dae_problem_from_residual(&description, &by_hand, NULL), DAE_OK);
    const dae_problem *both[2] = {p, by_hand};
    for (int k = 0; k < 2; k++) { /* two Jacobians, one solution */
        dae_solver *s = solver_of(both[k]);
        assert_int_equal(dae_solver_start(s, 0.0, y0, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(s, 1.0, ends[k], NULL), DAE_OK);
        dae_solver_free(s);
    }
    for (int i = 0; i < N; i++) near(ends[0][i], ends[1][i]);
    dae_problem_free(by_hand);
    dlclose(handle);
    run_command("rm -r %s%s", directory, "");
    dae_problem_free(p);
    assert_null(dae_problem_emit(NULL));
}

/* Start values, derivatives and memory are written with their names, at the model's own start. */
static void test_emitted_start(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "#define MODEL_START 0.5\n", "model_y0[1] = {\n    2.0, /* x */\n",
        "    -6.0, /* der(x) */\n",  "    1.0, /* b */\n",
        "    1.0, /* pre(b) */\n",   "/* initial() */",
        "/* terminal() */",          "/* crossing 0 < 0, line 5 */",
        "/* sample, line 6 */",
    };
    dae_problem *p = problem_of(
        &(dae_model){.text = "model M Real x(start=2, fixed=true); Boolean b(start=true, "
                             "fixed=true);\nInteger n(start=0, fixed=true);\nequation\n"
                             "der(x) = -3*x;\nb = x > 1;\nwhen sample(1, 1) then n = pre(n) + 1; "
                             "end when;\nannotation(experiment(StartTime=0.5));\nend M;",
                     .engine = DAE_ENGINE_TAPE});
    char *code = dae_problem_emit(p);
    assert_non_null(code);
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
        if (!strstr(code, lines[k])) fail_msg("there is no '%s' in\n%s", lines[k], code);
    dae_text_free(code);
    dae_problem_free(p);
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct job {
    const dae_problem *problem;
    double end[3];
    dae_status status;
} job;

static void *work(void *argument)
{
    job *j = argument;
    dae_solver *s = NULL;
    j->status = dae_solver_new(j->problem, NULL, &s, NULL);
    for (int k = 0; k < 20 && j->status == DAE_OK; k++) {
        j->status = dae_solver_start(s, 0.0, NULL, NULL);
        if (j->status == DAE_OK) j->status = dae_solver_run(s, 3.0, NULL, NULL);
    }
    if (j->status == DAE_OK) j->status = dae_solver_variables(s, 3.0, j->end);
    dae_solver_free(s);
    return NULL;
}

static void test_two_threads(void **state)
{
    (void)state;
    dae_problem *p = problem_of(&(dae_model){
        .text = "model Ball Real h(start=1, fixed=true), v(start=0, fixed=true);\n"
                "Integer n(start=0);\nequation\nder(h) = v; der(v) = -9.81;\n"
                "when h <= 0 then reinit(v, -0.8*pre(v)); n = pre(n) + 1; end when; end Ball;"});
    job jobs[2] = {{.problem = p}, {.problem = p}};
    pthread_t threads[2];
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, work, &jobs[k]), 0);
    for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    assert_int_equal(jobs[0].status, DAE_OK);
    assert_int_equal(jobs[1].status, DAE_OK);
    assert_memory_equal(jobs[0].end, jobs[1].end, sizeof jobs[0].end);
    assert_true(jobs[0].end[2] == 6.0);
    dae_problem_free(p);
}

/* ---- engines --------------------------------------------------------------------------------- */

typedef struct trace {
    double sums[4];
    long count;
} trace;

static void note_step(const dae_step_info *info, void *user)
{
    trace *t = user;
    double weight = (double)(++t->count % 97 + 1);
    t->sums[0] += weight * info->t;
    t->sums[1] += weight * info->h;
    t->sums[2] += weight * (isnan(info->error) ? 0.5 : info->error);
    t->sums[3] += weight * info->order;
}

/* The same attempts, tape or native, also where events, discrete variables and initial equations
 * are involved. */
static void test_engines_agree(void **state)
{
    (void)state;
    static const char *const text =
        "model M parameter Real p(fixed=false, start=1);\n"
        "Real x(start=1), y(start=1), q(start=0, fixed=true); Integer n(start=0); Boolean up;\n"
        "initial equation der(x) = -2;\nequation\n"
        "der(x) = -p*x + n; y^2 = 1 + x^2; der(q) = y; up = sin(10*time) > 0.3*x;\n"
        "when {up, sample(0, 0.125)} then n = mod(pre(n) + 1, 3); reinit(x, x/2 + 0.1); end when;\n"
        "end M;";
    trace traces[2] = {{.count = 0}};
    double ends[2][8] = {{0}};
    for (int k = 0; k < 2; k++) {
        char messages[4096] = "";
        dae_model model = {.text = text,
                           .engine = k ? DAE_ENGINE_NATIVE : DAE_ENGINE_TAPE,
                           .message = collect,
                           .user = messages};
        dae_problem *p = problem_of(&model);
        dae_solver *s = NULL;
        dae_options options = dae_options_default();
        options.monitor = note_step;
        options.user = &traces[k];
        assert_int_equal(dae_solver_new(p, &options, &s, NULL), DAE_OK);
        dae_status status = dae_solver_start(s, 0.0, NULL, NULL);
        if (status == DAE_OK) status = dae_solver_run(s, 2.0, NULL, NULL);
        if (status != DAE_OK) print_error("%s\n", dae_solver_diag(s)->text);
        assert_int_equal(status, DAE_OK);
        assert_in_range(dae_problem_variable_count(p), 5, 8);
        assert_int_equal(dae_solver_variables(s, 2.0, ends[k]), DAE_OK);
        dae_solver_free(s);
        dae_problem_free(p);
    }
    assert_int_equal(traces[0].count, traces[1].count);
    assert_memory_equal(traces[0].sums, traces[1].sums, sizeof traces[0].sums);
    assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
}

/* ---- goals ----------------------------------------------------------------------------------- */

static void test_stop_before_start(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    dae_solver *s = NULL;
    dae_options options = dae_options_default();
    options.stop_time = 1.0;
    assert_int_equal(dae_solver_new(p, &options, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 2.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 3.0, NULL, NULL), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(dae_solver_diag(s)->text, "stop time"));
    assert_int_equal(dae_solver_start(s, NAN, NULL, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_variables(s, 0.0, (double[8]){0}), DAE_ERR_STATE);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Backwards without events; a model may run either way. */
static void test_backwards(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    dae_solver *s = solver_of(p);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, -1.0, NULL, NULL), DAE_OK);
    near(value_of(s, p, "x"), exp(2.0));
    dae_solver_free(s);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_units_experiment),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_refused_names_and_values),
        cmocka_unit_test(test_refused_parameter_leaves_no_trace),
        cmocka_unit_test(test_values_are_seen_at_the_next_start),
        cmocka_unit_test(test_start_values_of_aliases_and_discretes),
        cmocka_unit_test(test_settings_before_the_translation),
        cmocka_unit_test(test_assignments),
        cmocka_unit_test(test_refused_assignments),
        cmocka_unit_test(test_types_and_bounds_after_the_translation),
        cmocka_unit_test(test_assigned_starts),
        cmocka_unit_test(test_infos_and_counts),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_engine_used),
        cmocka_unit_test(test_text_in_memory_and_in_a_file),
        cmocka_unit_test(test_size_tag),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_emitted_code),
        cmocka_unit_test(test_emitted_start),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_engines_agree),
        cmocka_unit_test(test_stop_before_start),
        cmocka_unit_test(test_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
