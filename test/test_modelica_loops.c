/* Loops whose passes depend on the run, in functions and algorithms: values and derivatives against
 * the same written in C, and what stops a run: subscripts, asserts, loops that do not end, values
 * that are missing on the path taken. */
#include "test_modelica_flatten.h"

#include "expr/derive.h"

static const char loop_text[] =
    "function collatz\n  input Integer n;\n  output Integer steps;\nprotected\n  Integer k;\n"
    "algorithm\n  k := n;\n  steps := 0;\n  while k > 1 loop\n"
    "    if mod(k, 2) == 0 then\n      k := div(k, 2);\n    else\n      k := 3*k + 1;\n    end "
    "if;\n"
    "    steps := steps + 1;\n  end while;\nend collatz;\n"
    "function root \"cube root by Newton's method\"\n  input Real a;\n  output Real y;\n"
    "  output Integer n;\nprotected\n  Real d;\nalgorithm\n  y := 1;\n  d := 1;\n  n := 0;\n"
    "  while abs(d) > 1e-14*abs(y) loop\n    d := (y^3 - a)/(3*y^2);\n    y := y - d;\n"
    "    n := n + 1;\n    if n >= 100 then\n      break;\n    end if;\n  end while;\nend root;\n"
    "function find \"first element above a limit, 0 if there is none\"\n  input Real v[:];\n"
    "  input Real limit;\n  output Integer k;\nalgorithm\n  k := 1;\n  while true loop\n"
    "    if k > size(v, 1) then\n      k := 0;\n      return;\n    end if;\n"
    "    if v[k] > limit then\n      break;\n    end if;\n    k := k + 1;\n  end while;\nend "
    "find;\n"
    "function poly \"a polynomial of n terms and its slope\"\n  input Real c[:];\n  input Real x;\n"
    "  input Integer n;\n  output Real y;\n  output Real dy;\nalgorithm\n  y := 0;\n  dy := 0;\n"
    "  for i in n:-1:1 loop\n    dy := dy*x + y;\n    y := y*x + c[i];\n  end for;\nend poly;\n"
    "function fill_up \"squares of 1..n into an array, then their sum by another loop\"\n"
    "  input Integer n;\n  input Real x;\n  output Real s;\nprotected\n  Real v[6];\n"
    "algorithm\n  v := zeros(6);\n  for i in 1:n loop\n    v[i] := collatz(i) + x*i^2;\n"
    "  end for;\n  s := 0;\n"
    "  for i in 1:n, j in 1:i loop\n    if v[j] < 0 then\n      break;\n    end if;\n"
    "    s := s + v[j];\n  end for;\nend fill_up;\n"
    "model M\n  Real x, y, r, p, dp, s, k, kr;\n  Integer n, steps;\nequation\n  der(x) = 1;\n"
    "  der(y) = 1;\n  n = integer(y);\n  steps = collatz(n);\n  (r, kr) = root(x);\n"
    "  k = find({1, 2, 4, 8}, x);\n"
    "  (p, dp) = poly({1, -2, 0.5, 3}, x, n);\n  s = fill_up(n, x);\nend M;\n";

static int c_collatz(int n)
{
    int steps = 0;
    for (; n > 1; steps++) n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

static double c_poly(double x, int n, double *slope)
{
    static const double c[] = {1.0, -2.0, 0.5, 3.0};
    double y = 0.0;
    *slope = 0.0;
    for (int i = n; i >= 1; i--) {
        *slope = *slope * x + y;
        y = y * x + c[i - 1];
    }
    return y;
}

static double c_fill_up(int n, double x)
{
    double s = 0.0;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= i; j++) {
            double v = c_collatz(j) + x * j * j;
            if (v < 0.0) return s; /* break leaves all iterators of one for */
            s += v;
        }
    return s;
}

static void values_of_loops(void **state)
{
    (void)state;
    flattened f = flatten_good(loop_text);
    static const double xs[] = {0.3, 1.0, 2.5, 27.0, 9.9, -0.1};
    for (int n = 1; n <= 4; n++)
        for (int k = 0; k < 6; k++) {
            double x = xs[k], slope, p = c_poly(x, n, &slope);
            give(&f, "x", x);
            give(&f, "n", n);
            f.memory[f.m->variables[variable_index(&f, "n")].memory] = n;
            assert_near(number(&f, "steps"), c_collatz(n));
            if (x > 0.0) assert_near(number(&f, "r"), cbrt(x));
            assert_near(number(&f, "k"), x < 1 ? 1 : x < 2 ? 2 : x < 4 ? 3 : x < 8 ? 4 : 0);
            assert_near(number(&f, "p"), p);
            assert_near(number(&f, "dp"), slope);
            assert_near(number(&f, "s"), c_fill_up(n, x));
        }
    release(&f);
}

static expr right_side(const flattened *f, const char *name)
{
    int v = variable_index(f, name);
    for (size_t k = 0; k < f->m->equation_count; k++) {
        const expr_node *n = graph_node(f->m->graph, f->m->equations[k].left);
        if (n->op == EXPR_VARIABLE && n->order == 0 && n->index == v)
            return f->m->equations[k].right;
    }
    fail();
    return EXPR_NONE;
}

/* The derivative of a polynomial's loop is its slope; that of the root's is 1/(3 r^2). */
static void derivatives_of_loops(void **state)
{
    (void)state;
    flattened f = flatten_good(loop_text);
    graph *g = f.m->graph;
    expr x = graph_variable(g, variable_index(&f, "x"), 0);
    expr dp = derive_partial(g, right_side(&f, "p"), x);
    expr dr = derive_partial(g, right_side(&f, "r"), x);
    expr ddp = derive_partial(g, right_side(&f, "dp"), x);
    for (int n = 1; n <= 4; n++) {
        double at = 0.4 * n, slope;
        give(&f, "x", at);
        f.memory[f.m->variables[variable_index(&f, "n")].memory] = n;
        c_poly(at, n, &slope);
        assert_near(number_of(&f, dp), slope);
        assert_near(number_of(&f, ddp), n < 3 ? 0.0 : n < 4 ? 1.0 : 1.0 + 18.0 * at);
        assert_near(number_of(&f, dr), 1.0 / (3.0 * cbrt(at) * cbrt(at)));
    }
    release(&f);
}

/* ---- what is asserted ---- */

/* The value of the first assert with that text in its message. */
static double check_of(flattened *f, const char *text, double *hole)
{
    for (size_t k = 0; k < f->m->assert_count; k++) {
        const flat_action *a = &f->m->asserts[k];
        if (!strstr(a->message, text)) continue;
        if (hole && a->hole_count > 0) *hole = number_of(f, a->holes[0].value);
        return number_of(f, a->value);
    }
    print_message("no assert says %s\n", text);
    fail();
    return NAN;
}

static void subscripts_are_asserted(void **state)
{
    (void)state;
    flattened f =
        flatten_good("model M\n  Real t[3] = {1, 2, 3};\n  discrete Integer k;\n  Real y = t[k];\n"
                     "  Real z = if k > 0 and k < 4 then t[k] else 0;\n"
                     "  Boolean b = k > 0 and k < 4 and t[k] > 1;\nequation\n"
                     "  when time > 0.5 then\n    k = 4;\n  end when;\nend M;\n");
    int slot = f.m->variables[variable_index(&f, "k")].memory;
    for (int k = -1; k <= 5; k++) {
        double shown = NAN;
        int failed = 0;
        f.memory[slot] = k;
        for (size_t i = 0; i < f.m->assert_count; i++)
            failed += number_of(&f, f.m->asserts[i].value) == 0.0;
        assert_int_equal(failed, k < 1 || k > 3); /* guarded ones always hold */
        assert_near(check_of(&f, "'t' is outside 1..3", &shown), k >= 1 && k <= 3);
        assert_near(shown, k);
    }
    assert_int_equal(f.m->asserts[0].place.line, 4);
    release(&f);
}

static void asserts_inside_loops(void **state)
{
    (void)state;
    flattened f = flatten_good(
        "function take\n  input Real t[:];\n  input Real a;\n  output Real y;\nprotected\n"
        "  Integer i;\nalgorithm\n  y := 0;\n  i := 0;\n  while y < a loop\n    i := i + 1;\n"
        "    assert(y < 100, \"y is \" + String(y));\n    y := y + t[i];\n  end while;\nend take;\n"
        "model M\n  Real x, y = if x > 0 then take({1, 150, 1}, x) else 0;\nequation\n"
        "  der(x) = 1;\nend M;\n");
    double shown = 0.0;
    give(&f, "x", 1.0);
    assert_near(check_of(&f, "y is", NULL), 1.0);
    assert_near(check_of(&f, "outside 1..3", NULL), 1.0);
    assert_near(number(&f, "y"), 1.0);
    give(&f, "x", 151.5); /* the third pass has y = 151 */
    assert_near(check_of(&f, "y is", &shown), 0.0);
    assert_near(shown, 151.0);
    give(&f, "x", -1.0);
    assert_near(check_of(&f, "y is", NULL), 1.0);
    release(&f);
}

static void loops_end(void **state)
{
    (void)state;
    flattened f = flatten_good(
        "function up\n  input Real a;\n  output Real y;\nprotected\n  Real z;\nalgorithm\n  y := "
        "a;\n"
        "  while y > 0 loop\n    z := y;\n    while z > 1e-3 loop\n      z := z/2;\n    end "
        "while;\n"
        "    y := y + 1;\n  end while;\nend up;\n"
        "model M\n  Real x, y = up(x), z = if x < 0 then up(-x) else 0;\nequation\n  der(x) = 1;\n"
        "end M;\n");
    give(&f, "x", -1.0);
    assert_near(number(&f, "y"), -1.0);
    for (size_t k = 0; k < f.m->assert_count; k++)
        assert_non_null(strstr(f.m->asserts[k].message, "has not ended after 1000000 passes"));
    int failed = 0;
    for (size_t k = 0; k < f.m->assert_count; k++)
        failed += number_of(&f, f.m->asserts[k].value) == 0.0;
    assert_true(failed > 0); /* of up(-x) */
    give(&f, "x", 1.0);
    failed = 0;
    for (size_t k = 0; k < f.m->assert_count; k++)
        failed += number_of(&f, f.m->asserts[k].value) == 0.0;
    assert_true(failed > 0); /* of up(x) */
    assert_near(number(&f, "z"), 0.0);
    release(&f);
}

static void integers_are_asserted(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  Real x;\n  Integer k = integer(x);\nequation\n"
                               "  der(x) = 1;\nend M;\n");
    double shown = NAN;
    assert_int_equal(f.m->assert_count, 1);
    for (int k = 0; k < f.m->memory_count; k++) f.memory[k] = 9e15;
    assert_near(check_of(&f, "Integer overflow", NULL), 1.0);
    for (int k = 0; k < f.m->memory_count; k++) f.memory[k] = 1e16;
    assert_near(check_of(&f, "Integer overflow", &shown), 0.0);
    assert_near(shown, 1e16);
    release(&f);
}

/* mod, rem and div by a zero of the run: an Integer would be no number without a word. */
static void divisors_are_asserted(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  Real x, y, z = noEvent(mod(5, x));\nequation\n"
                               "  der(x) = 1;\n"
                               "  y = noEvent(if x > 1 then div(7, x - 2) else 0);\nend M;\n");
    assert_int_equal(f.m->assert_count, 2);
    for (int x = -1; x <= 3; x++) {
        give(&f, "x", x);
        assert_near(check_of(&f, "argument of mod is zero", NULL), x != 0);
        assert_near(check_of(&f, "argument of div is zero", NULL), x != 2);
    }
    assert_int_equal(f.m->asserts[0].place.line, 2);
    release(&f);
}

/* A variable that equals an undefined value of parameters says so, unless they are set well. */
static void undefined_values_are_asserted(void **state)
{
    (void)state;
    static const char text[] =
        "model M\n  parameter Real p = -1;\n  Real x, y = log(p);\nequation\n"
        "  der(x) = 1;\nend M;\n";
    flattened f = flatten_good(text);
    assert_int_equal(f.m->assert_count, 1);
    assert_non_null(strstr(f.m->asserts[0].message, "'y' is not a finite number"));
    release(&f);
    flatten_setting set = {"p", 2.0};
    f = flatten_with("test.mo", text, &set, 1);
    assert_non_null(f.m);
    assert_int_equal(f.m->assert_count, 0);
    release(&f);
}

/* ---- values that are missing on some paths ---- */

/* Outputs that are assigned on some paths: who uses them asserts these paths, others nothing. */
static void outputs_of_some_paths(void **state)
{
    (void)state;
    flattened f = flatten_good(
        "record R\n  Real a;\n  Real b;\nend R;\n"
        "function f\n  input Real x;\n  output R r;\n  output Real z;\nalgorithm\n"
        "  r.a := 2*x;\n  if x > 1 then\n    r.b := 3*x;\n    z := 4*x;\n  end if;\nend f;\n"
        "function first\n  input R r;\n  output Real y;\nalgorithm\n  y := r.a;\nend first;\n"
        "function part\n  input Real x;\n  output Real y;\nalgorithm\n"
        "  if x > 0 then\n    y := x;\n  end if;\nend part;\n"
        "model M\n  Real x, p, q, u, v, w;\n  R r;\nequation\n  der(x) = 1;\n"
        "  p = part(x);\n  q = noEvent(if x > 0 then part(x) else 7);\n  u = f(x).a;\n"
        "  v = first(f(x));\n  r = f(x + 1);\n  (, w) = f(x + 1);\nend M;\n");
    assert_int_equal(f.m->assert_count, 3); /* p, r.b, w */
    for (double x = -1.5; x < 2.0; x++) {
        give(&f, "x", x);
        assert_near(check_of(&f, "output 'y' of part is used, but it is not ass", NULL), x > 0);
        assert_near(check_of(&f, "output 'r' of f", NULL), x > 0);
        assert_near(check_of(&f, "output 'z' of f", NULL), x > 0);
        assert_near(number(&f, "q"), x > 0 ? x : 7.0);
        assert_near(number(&f, "u"), 2.0 * x);
        assert_near(number(&f, "v"), 2.0 * x);
        if (x > 0) assert_near(number(&f, "p"), x);
        if (x > 0) assert_near(number(&f, "w"), 4.0 * (x + 1.0));
    }
    assert_int_equal(f.m->asserts[0].place.line, 35);
    release(&f);
}

/* Paths that together are all of them: nothing is asserted. */
static void all_paths_together(void **state)
{
    (void)state;
    flattened f = flatten_good(
        "function early\n  input Real x;\n  output Real y;\nalgorithm\n"
        "  if x < 1 then\n    y := 10;\n    return;\n  end if;\n"
        "  if x < 2 then\n    y := 20;\n    return;\n  end if;\n  y := 30;\nend early;\n"
        "function guarded\n  input Real x;\n  output Real y;\nprotected\n  Real t;\nalgorithm\n"
        "  y := 0;\n  if x > 1 then\n    t := 5*x;\n  end if;\n"
        "  if x > 1 then\n    y := t;\n  end if;\nend guarded;\n"
        "function either\n  input Integer k;\n  output Real y;\nalgorithm\n"
        "  if k == 1 then\n    y := 1;\n  end if;\n"
        "  if k <> 1 then\n    y := 2;\n  end if;\nend either;\n"
        "model M\n  Real x, a, b, c;\nequation\n  der(x) = 1;\n  a = early(x);\n"
        "  b = guarded(x);\n  c = either(integer(x));\nend M;\n");
    for (size_t k = 0; k < f.m->assert_count; k++)
        assert_null(strstr(f.m->asserts[k].message, "not assigned"));
    for (double x = 0.5; x < 3.0; x++) {
        give(&f, "x", x);
        assert_near(number(&f, "a"), x < 1 ? 10.0 : x < 2 ? 20.0 : 30.0);
        assert_near(number(&f, "b"), x > 1 ? 5.0 * x : 0.0);
    }
    release(&f);
}

/* Conditions in conditions, and one of more relations than are looked through. */
static void conditions_of_paths(void **state)
{
    (void)state;
    flattened f = flatten_good(
        "function nested\n  input Real x;\n  output Real y;\nalgorithm\n  if x > 1 then\n"
        "    if x < 3 then\n      y := x;\n    end if;\n  else\n    if x < 0 then\n"
        "      y := -x;\n    end if;\n  end if;\nend nested;\n"
        "function deep\n  input Real x;\n  output Real y;\nalgorithm\n  if x > 1 then\n"
        "    if x < 3 then\n      y := x;\n    end if;\n  end if;\nend deep;\n"
        "function other\n  input Real x;\n  output Real y;\nalgorithm\n"
        "  if x == 1 or x == 2 or x == 3 or x == 4 or x == 5 or x == 6 or not x < 7.2 "
        "then\n    y := 2*x;\n  end if;\nend other;\n"
        "model M\n  Real x, a, b, c;\nequation\n  der(x) = 1;\n  a = nested(x);\n  c = deep(x);\n"
        "  b = other(x);\nend M;\n");
    for (double x = -1.0; x < 9.0; x += 0.5) {
        bool in = (x > 1 && x < 3) || x < 0;
        bool one = (x == floor(x) && x > 0 && x < 7) || x > 7.2;
        give(&f, "x", x);
        assert_near(check_of(&f, "'y' of nested", NULL), in);
        assert_near(check_of(&f, "'y' of other", NULL), one);
        assert_near(check_of(&f, "'y' of deep", NULL), x > 1 && x < 3);
        if (in) assert_near(number(&f, "a"), fabs(x));
        if (one) assert_near(number(&f, "b"), 2.0 * x);
    }
    release(&f);
}

/* Elements by subscripts of the run: element i is assigned where one of them was i. */
static void elements_of_some_paths(void **state)
{
    (void)state;
    flattened f = flatten_good(
        "function fill\n  input Real k;\n  input Real n;\n  output Real y[3];\n"
        "protected\n  Integer j;\nalgorithm\n  j := integer(k);\n  for i in 1:integer(n) loop\n"
        "    y[j] := 10*i;\n    j := mod(j, 3) + 1;\n  end for;\nend fill;\n"
        "function one\n  input Real k;\n  input Real i;\n  output Real y;\n"
        "protected\n  Real t[3];\nalgorithm\n  t[integer(k)] := 5;\n  y := t[integer(i)];\n"
        "end one;\n"
        "model M\n  Real a[3], b[3], c;\n  Real k, n, i;\nequation\n"
        "  der(k) = 1;\n  der(n) = 1;\n  der(i) = 1;\n"
        "  a = fill(k, 3);\n  b = fill(k, n);\n  c = one(k, i);\nend M;\n");
    for (int k = 1; k <= 3; k++)
        for (int n = 0; n <= 4; n++) {
            give(&f, "k", k);
            give(&f, "n", n);
            give(&f, "i", n > 1 ? n - 1 : 1);
            for (int at = 1; at <= 3; at++) {
                char name[16];
                snprintf(name, sizeof name, "a[%d]", at);
                assert_near(number(&f, name), 10.0 * ((at - k + 3) % 3 + 1));
                snprintf(name, sizeof name, "b[%d]", at);
                if (n == 3) assert_near(number(&f, name), 10.0 * ((at - k + 3) % 3 + 1));
            }
            assert_near(check_of(&f, "'t' of one", NULL), k == (n > 1 ? n - 1 : 1));
            int fine = 0, all = 0;
            for (size_t m = 0; m < f.m->assert_count; m++) {
                const flat_action *c = &f.m->asserts[m];
                if (!strstr(c->message, "'y' of fill") || c->place.line != 32) continue;
                all++;
                fine += number_of(&f, c->value) != 0.0;
            }
            assert_int_equal(all, 3); /* of b, whose number of passes is that of the run */
            assert_int_equal(fine, n < 3 ? n : 3);
        }
    release(&f);
}

/* A loop of the run without a pass assigns nothing; one with a break may have. */
static void loops_of_some_paths(void **state)
{
    (void)state;
    flattened f = flatten_good(
        "function last\n  input Real x;\n  output Real y;\nprotected\n  Real s;\n  Real t;\n"
        "algorithm\n  s := 0;\n  while s < x loop\n    t := 2*s;\n    s := s + 1;\n"
        "    y := t;\n  end while;\nend last;\n"
        "function above\n  input Real x;\n  output Real y;\nprotected\n  Real s;\n"
        "algorithm\n  s := 0;\n  while s < x loop\n    s := s + 1;\n    if s > 2 then\n"
        "      y := s;\n      break;\n    end if;\n  end while;\nend above;\n"
        "model M\n  Real x, a, b;\nequation\n  der(x) = 1;\n  a = last(x);\n"
        "  b = above(x);\nend M;\n");
    for (double x = -0.5; x < 5.0; x++) {
        give(&f, "x", x);
        assert_near(check_of(&f, "'y' of last", NULL), x > 0);
        assert_near(check_of(&f, "'y' of above", NULL), x > 2);
        if (x > 0) assert_near(number(&f, "a"), 2.0 * floor(x));
        if (x > 2) assert_near(number(&f, "b"), 3.0);
    }
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_loops),
        cmocka_unit_test(derivatives_of_loops),
        cmocka_unit_test(subscripts_are_asserted),
        cmocka_unit_test(asserts_inside_loops),
        cmocka_unit_test(loops_end),
        cmocka_unit_test(integers_are_asserted),
        cmocka_unit_test(divisors_are_asserted),
        cmocka_unit_test(undefined_values_are_asserted),
        cmocka_unit_test(outputs_of_some_paths),
        cmocka_unit_test(all_paths_together),
        cmocka_unit_test(conditions_of_paths),
        cmocka_unit_test(elements_of_some_paths),
        cmocka_unit_test(loops_of_some_paths),
    };
    return cmocka_run_group_tests_name("loops of the run", tests, NULL, NULL);
}
