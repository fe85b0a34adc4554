/* Flattening: declarations, attributes, equations, records and loops become the scalar model that
 * the text says. */
#include <time.h>

#include "base/memory.h"
#include "model/model_structure.h"
#include "test_modelica_flatten.h"

/* ---- declarations ---- */

static void pendulum(void **state)
{
    (void)state;
    flattened f = flatten_good("model Pendulum\n"
                               "  parameter Real g(unit = \"m/s2\") = 9.81 \"gravity\";\n"
                               "  parameter Real L = 2*k;\n"
                               "  parameter Real k = 0.5;\n"
                               "  Real x(start = L, fixed = true, unit = \"m\", nominal = 3);\n"
                               "  Real y(min = -L, max = L, stateSelect = StateSelect.prefer);\n"
                               "  Real vx, vy, lam \"tension\";\n"
                               "equation\n"
                               "  der(x) = vx;\n"
                               "  der(y) = vy;\n"
                               "  der(vx) = -lam*x;\n"
                               "  der(vy) = -lam*y - g;\n"
                               "  x^2 + y^2 = L^2 \"length\";\n"
                               "  annotation(experiment(StartTime = 1, StopTime = 10, "
                               "Tolerance = 1e-8, Interval = 0.01));\n"
                               "end Pendulum;\n");
    const flat_model *m = f.m;
    assert_string_equal(m->name, "Pendulum");
    assert_int_equal(m->variable_count, 5);
    assert_int_equal(m->equation_count, 5);
    assert_int_equal(m->parameter_count, 3);
    const flat_variable *x = &m->variables[variable_index(&f, "x")];
    assert_true(x->fixed && x->has_start && !x->discrete);
    assert_string_equal(x->words->unit, "m");
    assert_int_equal(x->place.line, 5);
    assert_near(number_of(&f, x->start), 1.0);
    assert_near(number_of(&f, x->nominal), 3.0);
    const flat_variable *y = &m->variables[variable_index(&f, "y")];
    assert_int_equal(y->state_select, SELECT_PREFER);
    assert_near(number_of(&f, y->min), -1.0);
    assert_near(number_of(&f, y->max), 1.0);
    assert_int_equal(x->state_select, SELECT_DEFAULT);
    assert_string_equal(m->variables[4].words->comment, "tension");
    const flat_parameter *g = &m->parameters[parameter_index(&f, "g")];
    assert_string_equal(g->unit, "m/s2");
    assert_string_equal(g->comment, "gravity");
    assert_false(g->structural || g->constant || g->final_);
    assert_true(parameter_index(&f, "k") < parameter_index(&f, "L")); /* values use earlier ones */
    assert_string_equal(m->equations[4].name, "length");
    char *name = flat_equation_name(m, &m->equations[1]);
    assert_string_equal(name, "equation 2 (test.mo:10)");
    dae_free(name);
    assert_int_equal(m->equations[3].place.line, 12);
    assert_text(&f, m->equations[0].left, "der(x)");
    assert_text(&f, m->equations[0].right, "vx");
    assert_true(m->experiment.has_start && m->experiment.start == 1.0);
    assert_true(m->experiment.has_stop && m->experiment.stop == 10.0);
    assert_true(m->experiment.has_tolerance && m->experiment.tolerance == 1e-8);
    assert_true(m->experiment.has_interval && m->experiment.interval == 0.01);
    assert_int_equal(m->relation_count + m->when_count + m->discrete_count, 0);
    release(&f);
}

/* residual = left - right at chosen values */
static void residuals(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  Real x, y;\nequation\n  x*y + time = sin(y)/x;\n"
                               "  x - y = 2;\nend M;\n");
    give(&f, "x", 1.5);
    give(&f, "y", -0.3);
    f.time = 0.25;
    assert_near(number_of(&f, f.m->equations[0].residual), 1.5 * -0.3 + 0.25 - sin(-0.3) / 1.5);
    assert_near(number_of(&f, f.m->equations[1].residual), 1.8 - 2.0);
    release(&f);
}

static void settings_override(void **state)
{
    (void)state;
    const char *text = "model M\n  parameter Integer n = 3;\n  parameter Real p[2] = {1, 2};\n"
                       "  parameter Real q = p[2] + 1;\n  Real 'the x'[n];\n"
                       "  parameter Real 'a b' = 1;\n"
                       "equation\n  'the x' = fill(q + 'a b', n);\nend M;\n";
    flatten_setting good[] = {{"n", 5.0}, {"p[2]", 7.0}, {"a b", 10.0}};
    flattened f = flatten_with("test.mo", text, good, 3);
    assert_non_null(f.m);
    prepare(&f);
    assert_int_equal(f.m->variable_count, 5);
    assert_true(f.m->parameters[parameter_index(&f, "n")].structural);
    assert_false(f.m->parameters[parameter_index(&f, "p[2]")].structural);
    assert_near(parameter(&f, "q"), 8.0);
    assert_near(number(&f, "'the x'[5]"), 18.0);
    release(&f);
    flatten_setting bad[] = {{"m", 5.0}};
    f = flatten_with("test.mo", text, bad, 1);
    assert_null(f.m);
    assert_non_null(strstr(message_text(f.messages), "no parameter 'm' to set"));
    release(&f);
    flatten_setting fixed[] = {{"c", 5.0}};
    f = flatten_with("test.mo", "model M\n final parameter Real c = 1;\n Real x = c;\nend M;\n",
                     fixed, 1);
    assert_null(f.m);
    assert_non_null(strstr(message_text(f.messages), "cannot be set"));
    release(&f);
}

static void structural_parameters(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n"
                               "  parameter Integer a = 2, b = a + 1, c = 5, d = 7;\n"
                               "  parameter Boolean big = true, choice = false;\n"
                               "  Real x[b], y, z;\n"
                               "equation\n"
                               "  for i in 1:b loop\n    x[i] = i*d;\n  end for;\n"
                               "  if big then\n    y = c;\n    z = 1;\n  end if;\n"
                               "  if choice then\n    assert(false, \"no\");\n  end if;\n"
                               "end M;\n");
    static const char *const structural[] = {"a", "b", "big"};
    static const char *const free_ones[] = {"c", "d", "choice"};
    for (int k = 0; k < 3; k++) {
        assert_true(f.m->parameters[parameter_index(&f, structural[k])].structural);
        assert_false(f.m->parameters[parameter_index(&f, free_ones[k])].structural);
    }
    assert_int_equal(f.m->equation_count, 5);
    assert_near(number(&f, "x[3]"), 21.0);
    assert_near(number(&f, "y"), 5.0);
    release(&f);
}

static void types_and_attributes(void **state)
{
    (void)state;
    flattened f =
        flatten_good("model M\n"
                     "  type Voltage = Real(unit = \"V\", start = 1, nominal = 10);\n"
                     "  type Vector = Voltage[3](each start = 2);\n"
                     "  Voltage u(start = 5), w;\n"
                     "  Vector v(start = {1, 2, 3}), z[2], q;\n"
                     "  Real r[2](each start = 4, fixed = {true, false}), s[2, 2](start = {{1, 2}, "
                     "{3, 4}});\n"
                     "equation\n"
                     "  u = time; w = time; v = fill(time, 3); z = fill(time, 2, 3); q = v;\n"
                     "  der(r) = {1, 2}; s = fill(time, 2, 2);\n"
                     "end M;\n");
#define START(name) number_of(&f, f.m->variables[variable_index(&f, name)].start)
    assert_near(START("u"), 5.0);
    assert_near(START("w"), 1.0);
    assert_near(START("v[2]"), 2.0);
    assert_near(START("v[3]"), 3.0);
    assert_near(START("q[3]"), 2.0);
    assert_near(START("z[2,3]"), 2.0);
    assert_near(START("r[2]"), 4.0);
    assert_near(START("s[2,1]"), 3.0);
    assert_string_equal(f.m->variables[variable_index(&f, "z[2,3]")].words->unit, "V");
    assert_near(number_of(&f, f.m->variables[variable_index(&f, "u")].nominal), 10.0);
    assert_true(f.m->variables[variable_index(&f, "r[1]")].fixed);
    assert_false(f.m->variables[variable_index(&f, "r[2]")].fixed);
    release(&f);
}

static void constants_and_packages(void **state)
{
    (void)state;
    flattened f = flatten_good("package P\n"
                               "  constant Real g = 9.81;\n"
                               "  constant Integer n = 2;\n"
                               "  constant Real table[2] = {g, 2*g};\n"
                               "  function double\n    input Real x;\n    output Real y;\n"
                               "  algorithm\n    y := 2*x;\n  end double;\n"
                               "  model M\n"
                               "    Real x[n], y;\n"
                               "  equation\n"
                               "    x = table;\n"
                               "    y = double(g);\n"
                               "  end M;\n"
                               "end P;\n");
    assert_near(number(&f, "x[2]"), 19.62);
    assert_near(number(&f, "y"), 19.62);
    release(&f);
}

/* ---- records ---- */

static void records(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n"
                               "  record Point\n    Real x;\n    Real y;\n  end Point;\n"
                               "  record Given\n    Real x;\n    Real y = 2*x;\n  end Given;\n"
                               "  record Body\n    Point p;\n    Real m[2];\n  end Body;\n"
                               "  parameter Given a(x = 1);\n"
                               "  parameter Point b = Point(3, 4), c = Point(y = 5, x = 6);\n"
                               "  parameter Given d[2](x = {7, 8});\n"
                               "  Body body, copy, all[2];\n"
                               "  Real sum_x;\n"
                               "equation\n"
                               "  body.p = Point(time, 2*time);\n"
                               "  body.m = {a.x, b.y};\n"
                               "  copy = body;\n"
                               "  for i in 1:2 loop\n"
                               "    all[i].p.x = i;\n"
                               "    all[i].p.y = d[i].x;\n"
                               "    all[i].m = {c.x, i};\n"
                               "  end for;\n"
                               "  sum_x = sum(all.p.x) + sum(all[:].m[2]) + all[end].p.y;\n"
                               "end M;\n");
    f.time = 0.5;
    assert_near(parameter(&f, "a.y"), 2.0);
    assert_near(parameter(&f, "c.y"), 5.0);
    assert_near(parameter(&f, "d[2].x"), 8.0);
    assert_near(parameter(&f, "d[2].y"), 16.0);
    assert_near(number(&f, "copy.p.y"), 1.0);
    assert_near(number(&f, "copy.m[2]"), 4.0);
    assert_near(number(&f, "all[2].m[1]"), 6.0);
    assert_near(number(&f, "sum_x"), 3.0 + 3.0 + 8.0);
    assert_int_equal(f.m->equation_count, f.m->variable_count);
    release(&f);
}

/* ---- equations ---- */

static void derivatives(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  Real q, x, y, w;\n  parameter Real p = 2;\nequation\n"
                               "  der(der(q)) = -q;\n"
                               "  der(x*y) = 1;\n  x = q + der(p);\n"
                               "  w = der(sin(x) + time^2);\nend M;\n");
    assert_text(&f, f.m->equations[0].left, "der(der(q))");
    const expr_node *n = graph_node(f.m->graph, f.m->equations[0].left);
    assert_int_equal(n->order, 2);
    assert_text(&f, f.m->equations[2].right, "q");
    release(&f);
}

static void if_equations(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  Real x, y, z;\n  parameter Boolean p = true;\nequation\n"
                               "  if time > 1 then\n    x = 1;\n    y = 2;\n"
                               "  elseif time > 0.5 then\n    y = 3;\n    x = 4;\n"
                               "  else\n    x + y = 10;\n    x - y = 2*time;\n  end if;\n"
                               "  if p then\n    z = 1;\n  else\n    z = 2;\n  end if;\n"
                               "end M;\n");
    assert_int_equal(f.m->equation_count, 3);
    assert_int_equal(f.m->relation_count, 2);
    give(&f, "x", 3.0);
    give(&f, "y", 5.0);
    static const double times[] = {2.0, 0.7, 0.2};
    static const double first[] = {2.0, -1.0, -2.0}, second[] = {3.0, 2.0, -2.4};
    for (int k = 0; k < 3; k++) {
        f.time = times[k];
        double r0 = number_of(&f, f.m->equations[0].residual);
        double r1 = number_of(&f, f.m->equations[1].residual);
        assert_near(r0, first[k]);
        assert_near(r1, second[k]);
    }
    assert_near(number(&f, "z"), 1.0);
    assert_false(f.m->parameters[0].structural); /* both branches stay: p may change */
    release(&f);
}

static void inputs_rest(void **state)
{
    (void)state;
    flattened f = flatten_with("test.mo",
                               "model M\n  input Real u(start = 3);\n  output Real y;\n"
                               "equation\n  der(y) = u;\nend M;\n",
                               NULL, 0);
    assert_non_null(f.m);
    prepare(&f);
    assert_int_equal(message_warnings(f.messages), 1);
    assert_true(f.m->variables[0].input && f.m->variables[1].output);
    assert_near(number(&f, "u"), 3.0);
    release(&f);
}

static void computed_parameters(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  parameter Real p(fixed = false, start = 2);\n"
                               "  Real x(start = 1);\ninitial equation\n  x = 1;\n  der(x) = -3;\n"
                               "equation\n  der(x) = -p*x;\nend M;\n");
    assert_int_equal(f.m->variable_count, 2);
    assert_int_equal(f.m->equation_count, 2);
    assert_int_equal(f.m->initial_count, 2);
    assert_text(&f, f.m->equations[0].residual, "der(p)");
    release(&f);
}

static void conditional_components(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  parameter Integer n = 2;\n  Real x[n], y[:] = 2*x;\n"
                               "  Real z[:, :] = {{1, 2}, {3, 4}, {5, time}};\n"
                               "equation\n  der(x) = -x;\nend M;\n");
    assert_int_equal(f.m->variable_count, 10);
    give(&f, "x[2]", 4.0);
    assert_near(number(&f, "y[2]"), 8.0);
    assert_near(number(&f, "z[3,1]"), 5.0);
    release(&f);
}

/* ---- size ---- */

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* The ladder of n cells takes time and memory proportional to n. */
static void long_ladder(void **state)
{
    (void)state;
    const char *text = "model Ladder\n  parameter Integer n = 10;\n"
                       "  parameter Real R = 1, C = 2;\n  Real v[n](each start = 0);\nequation\n"
                       "  C*der(v[1]) = (1 - 2*v[1] + v[2])/R;\n"
                       "  for i in 2:n-1 loop\n"
                       "    C*der(v[i]) = (v[i-1] - 2*v[i] + v[i+1])/R;\n  end for;\n"
                       "  C*der(v[n]) = (v[n-1] - v[n])/R;\nend Ladder;\n";
    flatten_setting n = {"n", 100000.0};
    double start = seconds();
    flattened f = flatten_with("ladder.mo", text, &n, 1);
    double used = seconds() - start;
    assert_non_null(f.m);
    assert_int_equal(f.m->variable_count, 100000);
    assert_int_equal(f.m->equation_count, 100000);
    assert_string_equal(f.m->variables[99999].name, "v[100000]");
    assert_text(&f, f.m->equations[50000].left, "C*der(v[50001])");
    print_message("1e5 cells: %.2f s\n", used);
    assert_true(used < 10.0); /* quadratic cost would take minutes */
    release(&f);
}

/* A sum of 1e5 terms is as deep as it is long. */
static void long_sum(void **state)
{
    (void)state;
    enum { TERMS = 100000 };
    size_t size = 64 + 10 * (size_t)TERMS;
    char *text = malloc(size);
    assert_non_null(text);
    size_t at = (size_t)snprintf(text, size, "model M\n  Real x;\nequation\n  x = 0");
    for (int k = 0; k < TERMS; k++) at += (size_t)snprintf(text + at, size - at, "+time");
    snprintf(text + at, size - at, ";\nend M;\n");
    flattened f = flatten_good(text);
    f.time = 2.0;
    assert_near(number(&f, "x"), 2.0 * TERMS);
    release(&f);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum),
        cmocka_unit_test(residuals),
        cmocka_unit_test(settings_override),
        cmocka_unit_test(structural_parameters),
        cmocka_unit_test(types_and_attributes),
        cmocka_unit_test(constants_and_packages),
        cmocka_unit_test(records),
        cmocka_unit_test(derivatives),
        cmocka_unit_test(if_equations),
        cmocka_unit_test(inputs_rest),
        cmocka_unit_test(computed_parameters),
        cmocka_unit_test(conditional_components),
        cmocka_unit_test(long_ladder),
        cmocka_unit_test(long_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
