/* Loops whose passes depend on the run, in functions and algorithms: values and derivatives against
 * the same written in C, and what stops a run: subscripts, asserts, loops that do not end. */
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
    "model M\n  Real x, y, r, p, dp, s;\n  Integer n, steps, k, kr;\nequation\n  der(x) = 1;\n"
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
    };
    return cmocka_run_group_tests_name("loops of the run", tests, NULL, NULL);
}
