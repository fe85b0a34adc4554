/* Variables that equations say to be zero: what is proved of expressions, and models whose
 * capacitances are zero by parameters, against solutions of the circuits without them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "daedal.h"
#include "structure/rewrite/zeros.h"

/* ---- expressions ---- */

enum { N = 8 };

static graph *G;

static expr X(int j, int order)
{
    return graph_variable(G, j, order);
}
static expr P(int k)
{
    return graph_parameter(G, k);
}
static expr make(expr_op op, expr a, expr b)
{
    return graph_binary(G, op, a, b);
}

/* x_0 = e, x_1 = x_0 der(x_2), and others that are not zero: whether x_0 and x_1 are */
static bool is_zero(expr e, double p0, double p1)
{
    equation_set set;
    const double parameters[2] = {p0, p1};
    assert_true(equation_set_new(&set, G, N, N));
    set.row[0].residual = make(EXPR_SUB, X(1, 0), make(EXPR_MUL, X(0, 0), X(2, 1)));
    set.row[1].residual = make(EXPR_SUB, X(0, 0), e);
    for (int i = 2; i < N; i++)
        set.row[i].residual = make(EXPR_SUB, X(i, 1), make(EXPR_ADD, X(i, 0), P(0)));
    bool *zero = equation_zeros(&set, parameters), found;
    assert_non_null(zero);
    found = zero[0];
    assert_int_equal(zero[1], found); /* it follows, although its equation comes first */
    for (int i = 2; i < N; i++) assert_false(zero[i]);
    dae_free(zero);
    equation_set_free(&set);
    return found;
}

static void expressions(void **state)
{
    (void)state;
    G = graph_new();
    expr less = make(EXPR_LT, X(3, 0), X(4, 0)), on = make(EXPR_LT, graph_constant(G, 0.5), P(1));
    expr product = make(EXPR_MUL, P(0), graph_unary(G, EXPR_EXP, X(3, 0)));
    expr quotient = make(EXPR_DIV, P(0), X(3, 0)), sum = make(EXPR_ADD, product, quotient);
    assert_true(is_zero(product, 0.0, 0.0));
    assert_false(is_zero(product, 1e-300, 0.0));
    assert_true(is_zero(sum, 0.0, 0.0));
    assert_false(is_zero(make(EXPR_ADD, product, X(3, 0)), 0.0, 0.0));
    assert_false(is_zero(make(EXPR_DIV, P(0), P(1)), 0.0, 0.0)); /* 0/0 */
    /* both branches, or the one that a parameter takes */
    assert_true(is_zero(graph_select(G, less, product, quotient), 0.0, 0.0));
    assert_false(is_zero(graph_select(G, less, product, X(5, 0)), 0.0, 0.0));
    assert_true(is_zero(graph_select(G, on, product, X(5, 0)), 0.0, 1.0));
    assert_false(is_zero(graph_select(G, on, product, X(5, 0)), 0.0, 0.0));
    /* e - e is zero, but that is not proved; nor is a root of something open */
    assert_false(is_zero(graph_unary(G, EXPR_SQRT, X(3, 0)), 0.0, 0.0));
    assert_true(is_zero(graph_unary(G, EXPR_SQRT, product), 0.0, 0.0));
    assert_false(is_zero(graph_unary(G, EXPR_COS, product), 0.0, 0.0));
    graph_free(G);
}

/* ---- models ---- */

/* A junction with its charge between a source and a divider. Without charge e = 3/5 sin(t). */
static const char *const JUNCTION = "model M\n"
                                    "  parameter Real Cj = 0, R1 = 2, R2 = 3;\n"
                                    "  Real s, v, e, c(start = 0), d, i;\n"
                                    "equation\n"
                                    "  s = sin(time);\n"
                                    "  v = s - e;\n"
                                    "  d = if v > 0.5 then Cj*(1 + v) else Cj*exp(v);\n"
                                    "  c = d*(1 + v);\n"
                                    "  i = c*der(v) + d*v;\n"
                                    "  i + v/R1 = e/R2;\n"
                                    "end M;\n";

static dae_problem *junction(double Cj)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_model m = {.text = JUNCTION, .file = "m.mo"};
    if (dae_problem_from_model(&m, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_int_equal(dae_problem_set_parameter(p, "Cj", Cj, &diag), DAE_OK);
    return p;
}

static void structure_without_them(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        dae_analysis *a = NULL;
        dae_diag diag = {0};
        dae_problem *p = junction(0.1 * k);
        assert_int_equal(dae_problem_analyse(p, 0.0, &a, &diag), DAE_OK);
        assert_true(a->agree);
        assert_int_equal(a->index, 1);
        assert_int_equal(a->freedom, k);
        assert_int_equal(a->rewrite_count > 0, k == 0);
        dae_analysis_free(a);
        dae_problem_free(p);
    }
}

/* e at t = 1, by a new solver of p */
static double solve(dae_problem *p)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options o = dae_options_default();
    o.rtol = o.atol = 1e-9;
    double values[16];
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_OK);
    if (dae_solver_start(s, 0.0, NULL, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    dae_status status;
    while ((status = dae_solver_step(s, 1.0)) > 0) {
    }
    assert_int_equal(status, DAE_OK);
    assert_int_equal(dae_solver_variables(s, 1.0, values), DAE_OK);
    dae_solver_free(s);
    return values[2];
}

/* Plans are kept with a problem: one that was made with a capacitance is none without it. */
static void parameters_change(void **state)
{
    (void)state;
    dae_diag diag = {0};
    dae_problem *p = junction(0.5), *other = junction(0.5);
    const double with = solve(other);
    assert_true(fabs(with - 0.6 * sin(1.0)) > 1e-2);
    for (int k = 0; k < 4; k++) {
        bool charged = k % 2 == 0;
        assert_int_equal(dae_problem_set_parameter(p, "Cj", charged ? 0.5 : 0.0, &diag), DAE_OK);
        assert_true(fabs(solve(p) - (charged ? with : 0.6 * sin(1.0))) < 1e-7);
    }
    dae_problem_free(p);
    dae_problem_free(other);
}

/* A junction that is cut off below a voltage: there e follows the source, and the structure, which
 * needs the capacitance, is none. */
static const char *const CUT_OFF = "model M\n"
                                   "  parameter Real least = 0;\n"
                                   "  Real s, v, e, c(start = 0), q;\n"
                                   "equation\n"
                                   "  s = sin(time);\n"
                                   "  q = noEvent(if v > 0.2 then v - 0.2 else 0);\n"
                                   "  v = e;\n"
                                   "  c = least + q*(1 + 0.01*v);\n"
                                   "  (s - e)/2 = e/3 + c*der(v);\n"
                                   "end M;\n";

/* Values at the given times of a run with a smallest capacitance. */
static void solve_cut_off(double least, int count, const double *t, double *v)
{
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_model m = {.text = CUT_OFF, .file = "m.mo"};
    dae_options o = dae_options_default();
    double values[16];
    o.rtol = o.atol = 1e-9;
    if (dae_problem_from_model(&m, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_int_equal(dae_problem_set_parameter(p, "least", least, &diag), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_OK);
    if (dae_solver_start(s, 0.0, NULL, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    for (int k = 0; k < count; k++) {
        dae_status status;
        while ((status = dae_solver_step(s, t[k])) > 0) {
        }
        if (status != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
        assert_int_equal(dae_solver_variables(s, t[k], values), DAE_OK);
        v[k] = values[1];
    }
    dae_solver_free(s);
    dae_problem_free(p);
}

/* It begins without capacitance, and goes on with it: as with a very small one. */
static void cut_off_at_the_start(void **state)
{
    enum { TIMES = 4 };
    const double t[TIMES] = {0.1, 0.3, 1.0, 2.5};
    double without[TIMES], with[TIMES];
    (void)state;
    solve_cut_off(0.0, TIMES, t, without);
    solve_cut_off(1e-10, TIMES, t, with);
    for (int k = 0; k < TIMES; k++) assert_true(fabs(without[k] - with[k]) < 1e-7);
    for (int k = 0; k < 2; k++) assert_true(fabs(without[k] - 0.6 * sin(t[k])) < 1e-8);
    assert_true(without[2] < 0.6 * sin(t[2]) - 0.05);
}

/* Where nothing but the capacitance would determine the voltage it is refused. */
static void cut_off_with_nothing_else(void **state)
{
    const char *text = "model M\n"
                       "  Real v(start = 0.1), c(start = 0), q, i;\n"
                       "equation\n"
                       "  i = if time < 5 then 0 else 1;\n"
                       "  q = noEvent(if v > 0.2 then v - 0.2 else 0);\n"
                       "  c = q*(1 + 0.01*v);\n"
                       "  i = c*der(v);\n"
                       "end M;\n";
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_model m = {.text = text, .file = "m.mo"};
    (void)state;
    if (dae_problem_from_model(&m, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_int_equal(dae_solver_new(p, NULL, &s, &diag), DAE_OK);
    dae_status status = dae_solver_start(s, 0.0, NULL, NULL);
    for (int k = 0; status >= 0 && k < 1000; k++) status = dae_solver_step(s, 1.0);
    assert_true(status < 0);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Iterations leave rounding of zero, which a start at zero is not; what is as small and meant
 * stays. The derivatives make the model one of index 2, whose start is found by iterations. */
static void zero_at_the_start(void **state)
{
    const char *text = "model M\n"
                       "  Real p(start = 1e5, nominal = 1e5), z(start = 1), x(start = 300), w;\n"
                       "  Real rp, rz, rx;\n"
                       "equation\n"
                       "  p = -1e4*time;\n"
                       "  w = time - 30;\n"
                       "  z = 1e-40*exp(time);\n"
                       "  x = (if w > 10 then 1e5 else if w < -10 then p else w*p)/3;\n"
                       "  rp = der(p);\n"
                       "  rz = der(z);\n"
                       "  rx = der(x);\n"
                       "end M;\n";
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_model m = {.text = text, .file = "m.mo"};
    double values[8];
    (void)state;
    if (dae_problem_from_model(&m, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_int_equal(dae_solver_new(p, NULL, &s, &diag), DAE_OK);
    if (dae_solver_start(s, 0.0, NULL, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    assert_int_equal(dae_solver_variables(s, 0.0, values), DAE_OK);
    assert_true(values[0] == 0.0);
    assert_true(fabs(values[1] - 1e-40) < 1e-44);
    dae_solver_free(s);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions),
        cmocka_unit_test(structure_without_them),
        cmocka_unit_test(parameters_change),
        cmocka_unit_test(cut_off_at_the_start),
        cmocka_unit_test(cut_off_with_nothing_else),
        cmocka_unit_test(zero_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
