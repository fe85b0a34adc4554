/* The interpreter of the language at points: residuals with their sizes and spreads, switches and
 * their other side, algorithms, when-clauses, names, overrides, times of pulses. Values by hand. */
#include <float.h>
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

enum { MOST = 64 };

typedef struct bench { /* a judge with a point that tests change */
    judge *j;
    judge_point p;
    double values[MOST], before[MOST], derivatives[MOST], tolerances[MOST], rates[MOST];
    bool fires[MOST];
    const judge_result *r;
    const judge_equation *e;
    size_t equations;
} bench;

static bench *open_bench(const char *source)
{
    bench *b = calloc(1, sizeof *b);
    dae_diag diag;
    if (judge_open(source, strlen(source), "test.mo", NULL, 0, &b->j, &diag) != DAE_OK)
        fail_msg("%s", diag.text);
    const judge_gap *g;
    if (judge_gaps(b->j, &g)) fail_msg("gap: %s", g[0].construct);
    judge_start_values(b->j, b->values);
    judge_start_values(b->j, b->before);
    b->equations = judge_equations(b->j, &b->e);
    b->p = (judge_point){.values = b->values,
                         .before = b->before,
                         .derivatives = b->derivatives,
                         .tolerances = b->tolerances,
                         .derivative_tolerances = b->rates,
                         .fires = b->fires};
    return b;
}

static void close_bench(bench *b)
{
    judge_free(b->j);
    free(b);
}

static double *at(bench *b, const char *name)
{
    int k = judge_find(b->j, name);
    if (k < 0) fail_msg("no variable %s", name);
    return &b->values[k];
}

static const judge_row *row(bench *b, int equation)
{
    assert_int_equal(judge_evaluate(b->j, &b->p, &b->r), DAE_OK);
    return &b->r->rows[equation];
}

static const judge_effect *effect_of(bench *b, const char *name)
{
    int k = judge_find(b->j, name);
    for (size_t i = 0; i < b->r->effect_count; i++)
        if (b->r->effects[i].variable == k) return &b->r->effects[i];
    return NULL;
}

/* m x'' = -k x + f: residual, terms and what errors of the values make of it */
static void test_residual(void **state)
{
    (void)state;
    bench *b = open_bench("model M\n  parameter Real k = 3;\n  Real x(start = 2), v, f;\nequation\n"
                          "  der(x) = v;\n  2*der(v) = -k*x + f;\n  f = v*v;\nend M;\n");
    *at(b, "v") = 5;
    *at(b, "f") = 1;
    b->derivatives[0] = 5.5, b->derivatives[1] = 4;
    for (int k = 0; k < MOST; k++) b->tolerances[k] = 0.01, b->rates[k] = 0.1;
    const judge_row *r = row(b, 0);
    assert_true(r->residual == 0.5 && !r->holds && r->size == 10.5);
    assert_true(fabs(r->spread - 0.11) < 1e-15);
    r = row(b, 1);
    assert_true(r->left == 8 && r->right == -5 && r->residual == 13);
    assert_true(r->size == 8 + 6 + 1);
    /* k is a parameter, and has a tolerance here, too */
    assert_true(fabs(r->spread - (0.2 + 0.03 + 0.02 + 0.0001 + 0.01)) < 1e-15);
    assert_true(row(b, 2)->residual == 1 - 25);
    close_bench(b);
}

/* Errors are those of an equation alone, with their lines. */
static void test_errors(void **state)
{
    (void)state;
    bench *b = open_bench("model M\n  Real x(start = 1), y;\nequation\n  der(x) = 1/(x - 1);\n"
                          "  y = sqrt(x - 2);\n  x = 1;\nend M;\n");
    assert_non_null(row(b, 0)->error);
    assert_int_equal(row(b, 0)->error_line, 4);
    assert_int_equal(row(b, 1)->error_line, 5);
    assert_null(row(b, 2)->error);
    *at(b, "x") = 6;
    assert_null(row(b, 0)->error);
    assert_null(row(b, 1)->error);
    close_bench(b);
}

/* A rounding that rests at 7 while y has gone on to 9 is found, and both sides of a switch. */
static void test_switches(void **state)
{
    (void)state;
    bench *b = open_bench("model M\n  Real x, y(start = 9);\n  Boolean u(start = true);\nequation\n"
                          "  der(x) = ceil(y);\n  u = y > 9 + 1e-9;\n  y = 9;\nend M;\n");
    b->derivatives[0] = 7;
    assert_true(row(b, 0)->residual == -2);
    for (int k = 0; k < MOST; k++) b->tolerances[k] = 1e-6;
    assert_true(!row(b, 1)->holds);
    assert_int_equal(b->r->switch_count, 2);
    const judge_switch s = b->r->switches[0], w = b->r->switches[1];
    assert_true(s.kind == JUDGE_ROUNDING && s.value == 9 && s.other == 10 && s.crossing == 0);
    assert_true(w.kind == JUDGE_RELATION && w.value == 0 && w.other == 1);
    assert_true(fabs(w.crossing + 1e-9) < 1e-14 && fabs(w.spread - 1e-6) < 1e-12);
    judge_force forces[] = {{w.id, w.other}, {s.id, s.other}};
    b->p.forces = forces, b->p.force_count = 2;
    assert_true(row(b, 1)->holds && row(b, 0)->residual == -3);
    assert_true(b->r->switches[1].forced && b->r->switches[1].id == w.id);
    b->p.force_count = 0;
    assert_true(!row(b, 1)->holds && row(b, 0)->residual == -2);
    close_bench(b);
}

/* Specification 11.1.2: assigned variables begin with their start value, discrete ones with pre. */
static void test_algorithm(void **state)
{
    (void)state;
    bench *b = open_bench(
        "model M\n  Real x(start = 3), y;\n  Integer n(start = 5);\n  Real z[2];\nalgorithm\n"
        "  if time > 1 then\n    x := 10;\n  end if;\n  y := x + 1;\n"
        "  when y > 5 then\n    n := pre(n) + 1;\n  elsewhen y > 8 then\n    n := 0;\n  end when;\n"
        "  for i in 1:2 loop\n    z[i] := y*i;\n  end for;\nend M;\n");
    assert_int_equal(b->equations, 5); /* x, y, n, z[1], z[2] */
    double rows[5];
    for (int fired = 0; fired < 3; fired++) {
        b->p.time = fired ? 2 : 0.5;
        b->fires[0] = fired == 1, b->fires[1] = fired == 2;
        (void)row(b, 0);
        for (size_t k = 0; k < 5; k++) rows[k] = b->r->rows[k].right;
        const double x = fired ? 10 : 3, n[] = {5, 6, 0};
        const double expected[] = {x, x + 1, n[fired], x + 1, 2 * (x + 1)};
        for (size_t k = 0; k < 5; k++) {
            const char *const names[] = {"x", "y", "n", "z[1]", "z[2]"};
            int which = -1;
            for (int i = 0; i < 5; i++)
                if (b->e[k].variable == judge_find(b->j, names[i])) which = i;
            assert_true(which >= 0);
            assert_true(rows[k] == expected[which]);
            assert_true(b->r->rows[k].left == b->values[b->e[k].variable]);
        }
        assert_true(b->r->conditions[0] == (fired ? 1 : 0));
    }
    int n = judge_find(b->j, "n");
    b->before[n] = 8;
    b->fires[0] = b->fires[1] = false;
    for (int k = 0; k < 5; k++)
        if (b->e[k].variable == n) assert_true(row(b, k)->right == 8);
    const judge_when *w;
    assert_int_equal(judge_whens(b->j, &w), 2);
    assert_true(w[0].previous == -1 && w[1].previous == 0 && w[1].first == 1);
    close_bench(b);
}

static const char clause[] =
    "function two\n  input Real x;\n  output Real y;\n  output Real z;\nalgorithm\n  y := x;\n"
    "  z := 2*x;\nend two;\n"
    "model M\n  Real h(start = 1), v(start = -2);\n  Integer n(start = 4);\n"
    "  discrete Real a, c, d;\n  Boolean u;\nequation\n  der(h) = v;\n  der(v) = -1;\n"
    "  u = h < 0;\n  when {u, initial()} then\n    reinit(v, -0.5*pre(v));\n"
    "    n = pre(n) + 1;\n    if v < 0 then\n      a = 1;\n    else\n      a = 2;\n    end if;\n"
    "    (c, d) = two(v);\n  elsewhen time > 3 then\n    terminate(\"end\");\n  end when;\nend "
    "M;\n";

/* What a clause does: from the values at the point and those before it; only if it fires. */
static void test_clause(void **state)
{
    (void)state;
    bench *b = open_bench(clause);
    const judge_variable *v;
    judge_variables(b->j, &v);
    assert_true(v[judge_find(b->j, "a")].in_when && !v[judge_find(b->j, "h")].in_when);
    assert_true(v[judge_find(b->j, "v")].reinit);
    (void)row(b, 0);
    assert_int_equal(b->r->effect_count, 0);
    assert_true(b->r->conditions[0] == 0 && b->r->conditions[1] == 0 && b->r->conditions[2] == 0);
    *at(b, "u") = 1;
    *at(b, "v") = 1;
    b->fires[0] = true;
    (void)row(b, 0);
    assert_true(b->r->conditions[0] == 1);
    const judge_effect *e = effect_of(b, "v");
    assert_true(e && e->kind == JUDGE_REINIT && e->value == 1 && e->when == 0);
    assert_true(effect_of(b, "n")->value == 5 && effect_of(b, "a")->value == 2);
    assert_true(effect_of(b, "c")->value == 1 && effect_of(b, "d")->value == 2);
    b->fires[0] = false, b->fires[1] = true;
    (void)row(b, 0);
    assert_true(b->r->effect_count == 1 && b->r->effects[0].kind == JUDGE_STOP);
    close_bench(b);
}

/* Branches: by parameters before the run, by variables during it, with asserts in them. */
static void test_branches(void **state)
{
    (void)state;
    bench *b = open_bench(
        "model M\n  parameter Integer n = 2;\n  Real x(start = 1), y, z;\nequation\n"
        "  if n > 1 then\n    x = 1;\n  else\n    x = 2;\n    z = 1;\n  end if;\n"
        "  if x > 0 then\n    y = 5;\n    assert(x < 2, \"small\");\n    z = 3;\n  else\n    z = "
        "6;\n"
        "    y = 7;\n  end if;\n  assert(x > 0, \"\", AssertionLevel.warning);\nend M;\n");
    assert_int_equal(b->equations, 5);
    *at(b, "y") = 5, *at(b, "z") = 3;
    for (int k = 0; k < 5; k++) assert_true(row(b, k)->holds);
    assert_true(b->e[4].warning && !b->e[3].warning && b->e[3].kind == JUDGE_ASSERT);
    *at(b, "x") = 3;
    assert_true(!row(b, 3)->holds);
    *at(b, "x") = -1;
    assert_true(row(b, 1)->right == 6 && row(b, 2)->right == 7 && row(b, 3)->holds);
    assert_true(!row(b, 4)->holds);
    close_bench(b);
}

/* Names of scalars, and wholes of elements that are declared one by one */
static void test_names(void **state)
{
    (void)state;
    bench *b = open_bench(
        "record R\n  Real a;\n  Real b[2];\nend R;\ntype V = Real[2](each start = 7);\n"
        "model M\n  Real x[2], m[2, 2];\n  R r, q[2];\n  V w[3];\n  Real 'u.v[1].re', 'u.v[1].im', "
        "'u.v[2].re', 'u.v[2].im';\nequation\n  x = {1, 2};\n  m = [1, 2; 3, 4];\n"
        "  r = R(1, {2, 3});\n  q.a = {4, 5};\n  for i in 1:2 loop\n    q[i].b = {i, 10*i};\n"
        "  end for;\n  'u.v'.im = {8, 9};\n  'u.v[2]'.re = 3;\nend M;\n");
    static const char *const names[] = {"x[2]", "m[2,1]", "r.a", "r.b[2]", "q[2].b[1]", "w[3,2]"};
    for (int k = 0; k < 6; k++) assert_true(judge_find(b->j, names[k]) >= 0);
    assert_true(*at(b, "w[3,2]") == 7);
    *at(b, "x[1]") = 1, *at(b, "x[2]") = 2, *at(b, "q[2].b[2]") = 20;
    *at(b, "'u.v[2].im'") = 9, *at(b, "'u.v[2].re'") = 3;
    *at(b, "r.b[2]") = 3, *at(b, "m[2,1]") = 3;
    int held = 0;
    for (size_t k = 0; k < b->equations; k++) held += row(b, (int)k)->holds;
    assert_int_equal(b->equations, 2 + 4 + 3 + 2 + 4 + 2 + 1);
    assert_int_equal(held, 7);
    close_bench(b);
}

static void test_overrides(void **state)
{
    (void)state;
    static const char text[] = "model M\n  parameter Real p[2] = {1, 2}, q = 2*p[2];\n"
                               "  Real x(start = q);\nequation\n  der(x) = p[1];\nend M;\n";
    judge *j;
    dae_diag diag;
    const judge_override good[] = {{"p[2]", 5}}, start[] = {{"x", 3}}, none[] = {{"r", 1}};
    const judge_variable *v;
    assert_int_equal(judge_open(text, strlen(text), "m", good, 1, &j, &diag), DAE_OK);
    judge_variables(j, &v);
    assert_true(v[judge_find(j, "p[1]")].value == 1 && v[judge_find(j, "p[2]")].value == 5);
    assert_true(v[judge_find(j, "q")].value == 10 && v[judge_find(j, "x")].start == 10);
    judge_free(j);
    assert_int_equal(judge_open(text, strlen(text), "m", start, 1, &j, &diag), DAE_OK);
    judge_variables(j, &v);
    assert_true(v[judge_find(j, "x")].start == 3 && v[judge_find(j, "q")].value == 4);
    judge_free(j);
    assert_int_equal(judge_open(text, strlen(text), "m", none, 1, &j, &diag), DAE_ERR_ARGUMENT);
    assert_null(j);
    static const char wrong[] = "model M\n  Real x\nequation\n";
    assert_int_equal(judge_open(wrong, strlen(wrong), "m", NULL, 0, &j, &diag), DAE_ERR_MODEL);
}

/* A parameter that initial equations give comes with the row, and those bound to it follow. */
static void test_initial_parameters(void **state)
{
    (void)state;
    bench *b =
        open_bench("model M\n  parameter Real p(fixed = false), q = 2*p;\n  Real x(start = 1);\n"
                   "initial equation\n  p = 3*x;\nequation\n  der(x) = q;\nend M;\n");
    const judge_variable *v;
    judge_variables(b->j, &v);
    assert_true(isnan(v[judge_find(b->j, "p")].value) && !v[judge_find(b->j, "p")].fixed);
    assert_true(isnan(v[judge_find(b->j, "q")].value));
    assert_int_equal(b->equations, 3);
    b->derivatives[0] = 8;
    assert_non_null(row(b, 2)->error);
    *at(b, "p") = 3, *at(b, "q") = 7;
    for (size_t k = 0; k < 3; k++) {
        const judge_row *r = row(b, (int)k);
        double expected = b->e[k].kind == JUDGE_BINDING    ? 1
                          : b->e[k].kind == JUDGE_EQUATION ? 1
                                                           : 0;
        assert_null(r->error);
        assert_true(r->residual == expected);
    }
    close_bench(b);
}

static void test_reads(void **state)
{
    (void)state;
    bench *b = open_bench("model M\n  Real x(start = 1), y, z;\nequation\n"
                          "  y = if x > 0 then x else z;\n  der(x) = -y;\n  z = pre(y);\nend M;\n");
    const int *v, *d;
    size_t nv, nd;
    assert_int_equal(judge_reads(b->j, &b->p, 0, &v, &nv, &d, &nd), DAE_OK);
    assert_true(nv == 2 && v[0] == 0 && v[1] == 1 && nd == 0);
    assert_int_equal(judge_reads(b->j, &b->p, 1, &v, &nv, &d, &nd), DAE_OK);
    assert_true(nv == 1 && v[0] == 1 && nd == 1 && d[0] == 0);
    close_bench(b);
}

/* A sum of a hundred thousand terms costs no depth. */
static void test_long_chain(void **state)
{
    (void)state;
    enum { TERMS = 100000 };
    char *source = malloc(4 * TERMS + 200), *to = source;
    to += sprintf(to, "model M\n  Real x(start = 1), y;\nequation\n  x = 1;\n  y = x");
    for (int k = 1; k < TERMS; k++) to += sprintf(to, " + x");
    sprintf(to, ";\nend M;\n");
    bench *b = open_bench(source);
    *at(b, "y") = TERMS;
    assert_true(row(b, 1)->holds);
    close_bench(b);
    free(source);
}

/* ---- times of pulses ---- */

static size_t breaks_of(const char *right, double tolerance, double *times, size_t most)
{
    char source[400];
    size_t count;
    judge *j;
    dae_diag diag;
    snprintf(
        source, sizeof source,
        "function f\n  input Real t;\n  output Real y;\nalgorithm\n"
        "  y := exp(-((t - 3)/0.2)^2);\nend f;\n"
        "model M\n  Real x, y, g = exp(-((time - 3)/0.001)^2);\nequation\n  der(x) = %s;\nend M;\n",
        right);
    if (judge_open(source, strlen(source), "m", NULL, 0, &j, &diag)) fail_msg("%s", diag.text);
    dae_status status = judge_breaks(j, 0.0, 10.0, tolerance, most, times, &count);
    assert_true(status == DAE_OK || status == DAE_ERR_MAX_STEPS);
    judge_free(j);
    return count;
}

static size_t within(const double *times, size_t count, double low, double high)
{
    size_t n = 0;
    for (size_t k = 0; k < count; k++) n += times[k] >= low && times[k] <= high;
    return n;
}

/* Every pulse gets times inside, however narrow; a straight line gets none. */
static void test_breaks(void **state)
{
    (void)state;
    double t[4000];
    size_t always = breaks_of("2*time + x", 0.1, t, 4000); /* those of g */
    assert_true(within(t, always, 2.999, 3.001) >= 2 && always < 100);
    size_t n = breaks_of("exp(-((time - 7)/1e-5)^2)*x", 0.1, t, 4000);
    assert_true(within(t, n, 7 - 2e-5, 7 + 2e-5) >= 2 && n < 300);
    n = breaks_of("if time > 6 and time < 6.0001 then x else 0", 0.1, t, 4000);
    assert_true(within(t, n, 6, 6.0001) >= 1);
    assert_true(within(t, n, 6 - 3e-8, 6 + 3e-8) >= 2 && within(t, n, 6.0001, 6.00010003) >= 1);
    n = breaks_of("mod(time, 2.5)", 0.1, t, 4000);
    for (int k = 1; k < 4; k++) assert_true(within(t, n, 2.5 * k - 3e-8, 2.5 * k + 3e-8) >= 2);
    n = breaks_of("sin(10*time)", 0.05, t, 4000);
    for (size_t k = 1; k < n; k++) {
        double chord = 0.5 * (sin(10 * t[k - 1]) + sin(10 * t[k]));
        assert_true(t[k] > t[k - 1]);
        assert_true(fabs(sin(5 * (t[k - 1] + t[k])) - chord) <= 0.05);
    }
    n = breaks_of("if x > 0 then 10*f(time) else 1", 0.1, t, 4000);
    assert_true(within(t, n, 2.6, 3.4) >= 4);
    n = breaks_of("3*x;\nalgorithm\n  for i in 1:2 loop\n    y := i*time;\n  end for", 0.1, t,
                  4000);
    assert_int_equal(n, always); /* of a loop that is not unrolled nothing is known */
    n = breaks_of("sin(1000*time)", 0.01, t, 50);
    assert_true(n > 25 && n <= 50); /* as many as there is room for, but for close ones */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_residual),   cmocka_unit_test(test_errors),
        cmocka_unit_test(test_switches),   cmocka_unit_test(test_algorithm),
        cmocka_unit_test(test_clause),     cmocka_unit_test(test_branches),
        cmocka_unit_test(test_names),      cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_reads),      cmocka_unit_test(test_initial_parameters),
        cmocka_unit_test(test_long_chain), cmocka_unit_test(test_breaks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
