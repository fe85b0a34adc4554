/* The interpreter of the language against the Modelica specification 3.6: for each element of the
 * grammar expressions with their values, by hand. docs/judge.md has a row for each element. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "judge/judge.h"

static const char text[] =
    "type E = enumeration(red, green, blue);\n"
    "record R\n  Real a = 1;\n  Real b[2] = {2*a, 3*a};\nend R;\n"
    "record C\n  Real re;\n  Real im;\nend C;\n"
    "record Open\n  Real u[:];\n  Integer k;\nend Open;\n"
    "function twice\n  input Real u;\n  output Real y;\nalgorithm\n  y := 2*u;\nend twice;\n"
    "function fact\n  input Integer n;\n  output Integer y;\nalgorithm\n"
    "  if n < 2 then\n    y := 1;\n  else\n    y := n*fact(n - 1);\n  end if;\nend fact;\n"
    "function scale\n  input Real u;\n  input Real by = 10;\n  input Real plus = by + 1;\n"
    "  output Real y;\nalgorithm\n  y := u*by + plus;\nend scale;\n"
    "function both\n  input Real u;\n  output Real y;\n  output Real z;\nalgorithm\n"
    "  y := u + 1;\n  z := u - 1;\nend both;\n"
    "function second\n  input Real u;\n  output Real v;\nprotected\n  Real w;\nalgorithm\n"
    "  (, v) := both(u);\nend second;\n"
    "function norm1\n  input Real v[:];\n  output Real y = 0;\nprotected\n"
    "  Integer n = size(v, 1);\n  Real w[size(v, 1)];\nalgorithm\n"
    "  for i in 1:n loop\n    w[i] := abs(v[i]);\n  end for;\n  y := sum(w);\nend norm1;\n"
    "function firsts\n  input Integer n;\n  output Integer y[:] = {i^2 for i in 1:n};\n"
    "algorithm\nend firsts;\n"
    "function collatz\n  input Integer n;\n  output Integer steps = 0;\nprotected\n  Integer k = "
    "n;\n"
    "algorithm\n  while k > 1 loop\n    k := if mod(k, 2) == 0 then div(k, 2) else 3*k + 1;\n"
    "    steps := steps + 1;\n  end while;\nend collatz;\n"
    "function find\n  input Real v[:];\n  input Real x;\n  output Integer at = 0;\nalgorithm\n"
    "  for i in 1:size(v, 1) loop\n    if v[i] == x then\n      at := i;\n      break;\n    end "
    "if;\n"
    "  end for;\nend find;\n"
    "function early\n  input Real u;\n  output Real y = 1;\nalgorithm\n"
    "  if u > 0 then\n    return;\n  end if;\n  y := 2;\nend early;\n"
    "partial function Shape\n  input Real u;\n  output Real y;\nend Shape;\n"
    "function at2\n  input Shape f;\n  output Real y;\nalgorithm\n  y := f(2);\nend at2;\n"
    "function parabola\n  input Real u;\n  input Real a;\n  output Real y;\nalgorithm\n"
    "  y := a*u^2;\nend parabola;\n"
    "function sizes\n  input Real m[:, :];\n  output Integer n[2];\nalgorithm\n"
    "  n := size(m);\nend sizes;\n"
    "function swap\n  input Real v[2];\n  output Real w[2];\nalgorithm\n"
    "  w := v;\n  w := {w[2], w[1]};\nend swap;\n"
    "function word\n  input Integer n;\n  output String s = \"\";\nprotected\n  String t;\n"
    "algorithm\n  for i in 1:n loop\n    t := s + String(i);\n    s := t;\n  end for;\nend word;\n"
    "constant Real global = 4;\n"
    "model M\n"
    "  parameter Real p[3] = {1, 2, 3}, m[2, 3] = [1, 2, 3; 4, 5, 6], s2[2, 2] = [1, 2; 3, 4];\n"
    "  parameter R r(a = 5), q[2](a = {1, 2}), d;\n"
    "  parameter Integer n = 3, late = later + 1, later = 7;\n"
    "  parameter Boolean t = true, f = false, bits[2] = {true, false};\n"
    "  parameter E e = E.green;\n  parameter String s = \"ab\";\n"
    "  parameter Open o(u = {7, 8, 9}, k = 2);\n"
    "  parameter Real deduced[:] = {3, 4}, by[Boolean] = {5, 6}, colour[E] = {7, 8, 9};\n"
    "  Real x(start = 1.5), y(start = -2);\n  Boolean b(start = true);\n"
    "  Real 'w.v[1]'(start = 7), 'w.v[2]'(start = 8), 'z.re'(start = 1), 'z.im'(start = 2);\n"
    "  Real gone if n > 3;\n  String label = if x > 1 then \"high\" else \"low\";\n"
    "equation\n  der(x) = -x;\n  y = x;\n  b = x > 1;\n"
    "  'w.v' = {1, 2};\n  'z.re' = 1;\n  'z.im' = 2;\nend M;\n";

enum { MOST = 12 };

typedef struct element {
    const char *name; /* the row of docs/judge.md; NULL: that of the element before */
    const char *expression;
    int count;
    double values[MOST];
} element;

#define NO NAN /* there is no value, but an error */

static const element elements[] = {
    /* chapter 3 */
    {"numbers, Booleans, texts, enumerations", "{1, 2.5, 1e3}", 3, {1, 2.5, 1000}},
    {NULL, "E.blue", 1, {3}},
    {"arithmetic: + - * / ^", "-2^2 + 7/2 - 3*4", 1, {-12.5}},
    {NULL, "2 - 3 - 4", 1, {-5}},
    {NULL, "8/4/2", 1, {1}},
    {NULL, "(-8)^3", 1, {-512}},
    {NULL, "(-8)^(1/3)", 1, {NO}},
    {NULL, "1/(n - 3)", 1, {NO}},
    {"relations and logic",
     "{if 1 < 2 and not 2 <= 1 then 1 else 0, if f or t then 1 else 0}",
     2,
     {1, 1}},
    {NULL, "if f and 1/(n - 3) > 0 then 1 else 2", 1, {2}},
    {NULL, "if E.red < e and e <> E.blue and \"a\" < \"b\" then 1 else 0", 1, {1}},
    {NULL, "bits[1] and not bits[2]", 1, {1}},
    {"if expression", "if n > 5 then 1 elseif n > 2 then 2 else 1/(n - 3)", 1, {2}},
    {"abs, sign, sqrt, min, max",
     "{abs(-2), sign(-0.5), sign(0), sqrt(16), min(2, 1), max(2, 1)}",
     6,
     {2, -1, 0, 4, 1, 2}},
    {NULL, "sqrt(-1)", 1, {NO}},
    {"div, mod, rem", "{div(7, 3), div(-7, 3), div(7, -3), div(7.5, 2)}", 4, {2, -2, -2, 3}},
    {NULL, "{mod(7, 3), mod(-7, 3), mod(7, -3), mod(3, 1.4)}", 4, {1, 2, -2, 0.2}},
    {NULL, "{rem(7, 3), rem(-7, 3), rem(7, -3), rem(3, -1.4)}", 4, {1, -1, 1, 0.2}},
    {NULL, "mod(1, n - 3)", 1, {NO}},
    {"floor, ceil, integer",
     "{floor(-1.5), ceil(-1.5), floor(1.5), ceil(1.5), integer(-1.5)}",
     5,
     {-2, -1, 1, 2, -2}},
    {"elementary functions",
     "{sin(0), cos(0), tan(0), exp(0), log(1), log10(1000)}",
     6,
     {0, 1, 0, 1, 0, 3}},
    {NULL,
     "{asin(1), acos(1), atan(1), atan2(1, -1), sinh(0), cosh(0), tanh(0)}",
     7,
     {1.57079632679489662, 0, 0.785398163397448310, 2.35619449019234493, 0, 1, 0}},
    {NULL, "log(0)", 1, {NO}},
    {NULL, "asin(1.5)", 1, {NO}},
    {"der", "der(x)", 1, {0.5}},
    {NULL, "der(3*x^2 - time)", 1, {3.5}},
    {NULL, "der(n)", 1, {0}},
    {"pre, edge, change",
     "{pre(y), if edge(b) then 1 else 0, if change(y) then 1 else 0}",
     3,
     {-3, 1, 1}},
    {"initial, terminal, sample",
     "{if initial() then 1 else 0, if terminal() then 1 else 0}",
     2,
     {1, 0}},
    {NULL, "{if sample(0, 0.5) then 1 else 0, if sample(0.1, 0.5) then 1 else 0}", 2, {1, 0}},
    {NULL, "if sample(2.5, 0.5) then 1 else 0", 1, {0}},
    {"noEvent, smooth, homotopy, semiLinear", "noEvent(if x > 0 then sqrt(4) else 0)", 1, {2}},
    {NULL, "{smooth(1, x), homotopy(1, 2), homotopy(simplified = 2, actual = 3)}", 3, {1.5, 1, 3}},
    {NULL, "{semiLinear(2, 3, 4), semiLinear(-2, 3, 4), semiLinear(0, 3, 4)}", 3, {6, -8, 0}},
    {"String, Integer of an enumeration",
     "if String(1.5) == \"1.5\" and String(3) == \"3\" and String(t) == \"true\" then 1 else 0",
     1,
     {1}},
    {NULL, "if String(E.red) == \"red\" and s + \"c\" == \"abc\" then 1 else 0", 1, {1}},
    {NULL, "if String(3, minimumLength = 4) == \"3   \" then 1 else 0", 1, {1}},
    {NULL,
     "if String(3, minimumLength = 4, leftJustified = false) == \"   3\" then 1 else 0",
     1,
     {1}},
    {NULL, "if String(3.14159, significantDigits = 3) == \"3.14\" then 1 else 0", 1, {1}},
    {NULL, "if String(2.5, format = \"6.2f\") == \"  2.50\" then 1 else 0", 1, {1}},
    {NULL, "{Integer(E.blue), Integer(E(2))}", 2, {3, 2}},
    {NULL, "if word(4) + word(2) == \"123412\" then 1 else 0", 1, {1}},
    {NULL, "if label == \"high\" then 1 else 0", 1, {1}},
    /* chapter 10 */
    {"arrays and matrices", "{{1, 2}, {3, 4}}", 4, {1, 2, 3, 4}},
    {NULL, "[p, p]", 6, {1, 1, 2, 2, 3, 3}},
    {NULL, "[1, 2; 3, 4; 5, 6]", 6, {1, 2, 3, 4, 5, 6}},
    {NULL, "[s2, {9, 8}; 1, 2, 3]", 9, {1, 2, 9, 3, 4, 8, 1, 2, 3}},
    {"ranges", "1:4", 4, {1, 2, 3, 4}},
    {NULL, "{5:-2:0, {5, 3, 1}}", 6, {5, 3, 1, 5, 3, 1}},
    {NULL, "0:0.25:1", 5, {0, 0.25, 0.5, 0.75, 1}},
    {NULL, "sum(2:1)", 1, {0}},
    {"subscripts, slices, end", "{p[2], p[end], m[2, end], m[end, 1]}", 4, {2, 3, 6, 4}},
    {NULL, "m[:, 2]", 2, {2, 5}},
    {NULL, "m[2]", 3, {4, 5, 6}},
    {NULL, "m[{2, 1}, 1:2:3]", 4, {4, 6, 1, 3}},
    {NULL, "p[n:-1:1]", 3, {3, 2, 1}},
    {NULL, "p[4]", 1, {NO}},
    {NULL, "{by[true], colour[E.blue], deduced[end]}", 3, {6, 9, 4}},
    {NULL, "(p + p)[2]", 1, {4}},
    {"operators of arrays", "p + 2*p - p/2", 3, {2.5, 5, 7.5}},
    {NULL, "p*p", 1, {14}},
    {NULL, "m*p", 2, {14, 32}},
    {NULL, "{1, 2}*m", 3, {9, 12, 15}},
    {NULL, "s2*s2", 4, {7, 10, 15, 22}},
    {NULL, "s2^3", 4, {37, 54, 81, 118}},
    {NULL, "p .* p .- 1", 3, {0, 3, 8}},
    {NULL, "2 ./ p", 3, {2, 1, 2.0 / 3.0}},
    {NULL, "p .^ 2", 3, {1, 4, 9}},
    {NULL, "p + 1", 1, {NO}},
    {NULL, "m*m", 1, {NO}},
    {"size, ndims", "{size(m, 1), size(m, 2), ndims(m), ndims(1)}", 4, {2, 3, 2, 0}},
    {NULL, "size(m)", 2, {2, 3}},
    {"zeros, ones, fill, identity, diagonal, linspace",
     "{zeros(2), ones(2), fill(7, 2)}",
     6,
     {0, 0, 1, 1, 7, 7}},
    {NULL, "identity(2)", 4, {1, 0, 0, 1}},
    {NULL, "diagonal({3, 4})", 4, {3, 0, 0, 4}},
    {NULL, "linspace(1, 2, 5)", 5, {1, 1.25, 1.5, 1.75, 2}},
    {"sum, product, min, max of arrays", "{sum(m), product(p), min(p), max(m)}", 4, {21, 6, 1, 6}},
    {"transpose, symmetric, outerProduct, cross, skew", "transpose(m)", 6, {1, 4, 2, 5, 3, 6}},
    {NULL, "symmetric(s2)", 4, {1, 2, 2, 4}},
    {NULL, "outerProduct({1, 2}, {3, 4})", 4, {3, 4, 6, 8}},
    {NULL, "cross({1, 2, 3}, {3, 5, 4})", 3, {-7, 5, -1}},
    {NULL, "skew({1, 2, 3})*{3, 5, 4}", 3, {-7, 5, -1}},
    {"cat, vector, matrix, scalar, array", "cat(1, {1}, {2, 3})", 3, {1, 2, 3}},
    {NULL, "cat(2, s2, identity(2))", 8, {1, 2, 1, 0, 3, 4, 0, 1}},
    {NULL, "vector([1; 2])", 2, {1, 2}},
    {NULL, "size(matrix({1, 2}))", 2, {2, 1}},
    {NULL, "scalar([5]) + sum(array(1, 2))", 1, {8}},
    {"comprehensions", "{i^2 for i in 1:3}", 3, {1, 4, 9}},
    {NULL, "{10*i + k for i in 1:2, k in 1:3}", 6, {11, 21, 12, 22, 13, 23}},
    {NULL,
     "{sum(i*k for i in 1:2, k in 1:3), product(i for i in 1:4), max(-i for i in p)}",
     3,
     {18, 24, -1}},
    {NULL, "sum(p[i] for i)", 1, {6}},
    /* chapters 4 and 12: records and functions */
    {"records", "{r.a, r.b[1], r.b[2], d.a, d.b[2]}", 5, {5, 10, 15, 1, 3}},
    {NULL, "q.a", 2, {1, 2}},
    {NULL, "q.b", 4, {2, 3, 4, 6}},
    {NULL, "q[2].b[1]", 1, {4}},
    {NULL, "q.b[1]", 2, {2, 4}},
    {NULL, "q[:].b[{2, 1}]", 4, {3, 2, 6, 4}},
    {NULL, "R(a = 3).b", 2, {6, 9}},
    {NULL, "R(3, {4, 5}).b[end]", 1, {5}},
    {NULL, "{o.u[3], o.u[o.k], size(o.u, 1)}", 3, {9, 8, 3}},
    {NULL, "(C(1, 2) + C(3, 5)).im", 1, {7}},
    {"functions, named and default arguments",
     "{scale(1), scale(1, 2), scale(plus = 0, u = 3)}",
     3,
     {21, 5, 30}},
    {NULL,
     "{fact(5), collatz(27), find(p, 3), find(p, 9), early(1), early(-1)}",
     6,
     {120, 111, 3, 0, 1, 2}},
    {"protected variables, arrays of any size, sizes of inputs", "norm1({-1, 2, -3})", 1, {6}},
    {NULL, "firsts(4)", 4, {1, 4, 9, 16}},
    {NULL, "sizes(m)", 2, {2, 3}},
    {NULL, "swap({1, 2})", 2, {2, 1}},
    {"several results", "{both(5), second(5)}", 2, {6, 4}},
    {"functions of scalars called with arrays", "twice(p)", 3, {2, 4, 6}},
    {NULL, "scale({1, 2}, {3, 4}, 0)", 2, {3, 8}},
    {"functions as arguments",
     "{at2(twice), at2(function parabola(a = 3)), at2(function scale(by = 2))}",
     3,
     {4, 12, 7}},
    /* chapters 4, 8 and the names of exported models */
    {"parameters in any order, global constants, conditions", "{late, global}", 2, {8, 4}},
    {NULL, "gone", 1, {NO}},
    {"wholes of elements that are declared one by one", "'w.v'*{1, 10}", 1, {87}},
    {NULL, "'z'.im", 1, {2}},
    {"delay", "{delay(x, 0.5), delay(time, 0.5), delay(x*time, 0.5)}", 3, {15, 1.5, 22.5}},
    {NULL,
     "{delay(x, 0), delay(time, 5), delay(x, delayTime = 1.75, delayMax = 2)}",
     3,
     {1.5, 1, 10}},
    {NULL, "{delay(delay(x, 0.25) + x, 0.5), x, delay('w.v'[n - 1], 0.5)}", 3, {27.5, 1.5, 15}},
    {NULL, "delay(x, -0.5)", 1, {NO}},
    {NULL, "delay(der(x), 0.5)", 1, {NO}},
    {NULL, "delay(pre(y), 0.5)", 1, {NO}},
    {"time", "time", 1, {2}},
};

enum { ELEMENTS = sizeof elements / sizeof elements[0] };

/* What the judge lists as not covered, each with a text. */
static const struct {
    const char *name, *equation;
} gaps[] = {
    {"functions of libraries that the text does not contain", "y = Modelica.Math.sin(x)"},
    {"external functions", "y = outside(x)"},
    {"der of what is not a sum, product, quotient, power or elementary function",
     "y = der(abs(x))"},
    {"when within an if that the run decides",
     "if x > 0 then when x > 1 then y = 1; end when; end if"},
};

static judge *open_text(const char *source)
{
    judge *j;
    dae_diag diag;
    if (judge_open(source, strlen(source), "test.mo", NULL, 0, &j, &diag) != DAE_OK)
        fail_msg("%s", diag.text);
    return j;
}

/* What is delayed was ten times the time, which begins at 1. */
static double past_value(void *of, int variable, double t, double off, double *spread)
{
    (void)of, (void)variable, (void)off;
    *spread = 0.0;
    return 10.0 * t;
}

static judge_point point_of(judge *j, double *values, double *before, double *derivatives)
{
    const judge_derivative *d;
    size_t count = judge_derivatives(j, &d);
    judge_start_values(j, values);
    judge_start_values(j, before);
    for (size_t k = 0; k < count; k++) derivatives[k] = 0.5;
    if (judge_find(j, "y") >= 0) before[judge_find(j, "y")] = -3.0;
    if (judge_find(j, "b") >= 0) before[judge_find(j, "b")] = 0.0;
    return (judge_point){.time = 2.0,
                         .values = values,
                         .before = before,
                         .derivatives = derivatives,
                         .past = past_value,
                         .origin = 1.0,
                         .initial = true,
                         .event = true};
}

static void check_values(const element *e, const double *values, size_t count, dae_status status)
{
    if (isnan(e->values[0])) {
        if (status != DAE_ERR_MODEL) fail_msg("%s has a value", e->expression);
        return;
    }
    if (count != (size_t)e->count) fail_msg("%s: %zu values", e->expression, count);
    for (int k = 0; k < e->count; k++)
        if (!(fabs(values[k] - e->values[k]) <= 4e-16 * (1.0 + fabs(e->values[k]))))
            fail_msg("%s [%d]: %.17g", e->expression, k, values[k]);
}

static void test_elements(void **state)
{
    (void)state;
    double values[200], before[200], derivatives[20], out[MOST];
    judge *j = open_text(text);
    const judge_gap *g;
    size_t found = judge_gaps(j, &g);
    for (size_t k = 0; k < found; k++) print_message("line %d: %s\n", g[k].line, g[k].construct);
    assert_int_equal(found, 0);
    judge_point p = point_of(j, values, before, derivatives);
    for (int k = 0; k < ELEMENTS; k++) {
        size_t count;
        dae_diag diag;
        dae_status status = judge_function(j, elements[k].expression, &p, out, MOST, &count, &diag);
        if (status && !isnan(elements[k].values[0]))
            fail_msg("%s: %s", elements[k].expression, diag.text);
        check_values(&elements[k], out, count, status);
    }
    judge_free(j);
}

static void test_gaps(void **state)
{
    (void)state;
    static const char before[] =
        "function outside\n  input Real u;\n  output Real y;\nexternal \"C\" y = outside(u);\n"
        "end outside;\nmodel G\n  Real x(start = 1), y;\nequation\n  der(x) = -x;\n  ";
    for (size_t k = 0; k < sizeof gaps / sizeof gaps[0]; k++) {
        char source[1024];
        const judge_gap *g;
        snprintf(source, sizeof source, "%s%s;\nend G;\n", before, gaps[k].equation);
        judge *j = open_text(source);
        if (judge_gaps(j, &g) == 0) fail_msg("%s is no gap", gaps[k].name);
        assert_int_equal(g[0].group, 1);
        double values[8] = {1, 1}, derivatives[8] = {0};
        judge_point p = {.values = values, .derivatives = derivatives};
        const judge_result *r;
        const judge_equation *e;
        size_t count = judge_equations(j, &e);
        assert_int_equal(judge_evaluate(j, &p, &r), DAE_OK);
        assert_int_equal(count, 2);
        assert_null(r->rows[0].error);
        assert_non_null(r->rows[1].error);
        judge_free(j);
    }
}

/* docs/judge.md has these rows and no others. */
static void test_page(void **state)
{
    (void)state;
    static char page[20000];
    FILE *file = fopen(TEST_ROOT "/docs/judge.md", "rb");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    int rows = 0, expected = 0;
    for (int k = 0; k < ELEMENTS; k++) {
        if (!elements[k].name) continue;
        char row[200];
        snprintf(row, sizeof row, "\n| %s |\n", elements[k].name);
        if (!strstr(page, row)) fail_msg("no row: %s", elements[k].name);
        expected++;
    }
    for (size_t k = 0; k < sizeof gaps / sizeof gaps[0]; k++) {
        char row[200];
        snprintf(row, sizeof row, "\n| %s |\n", gaps[k].name);
        if (!strstr(page, row)) fail_msg("no row: %s", gaps[k].name);
        expected++;
    }
    for (const char *at = page; (at = strstr(at, "\n| ")); at++) rows++;
    assert_int_equal(rows, expected + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elements), cmocka_unit_test(test_gaps),
                                       cmocka_unit_test(test_page)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
