/* Loops in expressions: values in every arithmetic, derivatives of any order against formulas,
 * closed bodies, and native code bit by bit like the tape. */
#include "expr/derive.h"
#include "expr/emit.h"
#include "expr/intern.h"
#include "expr/loop.h"
#include "expr/native.h"
#include "expr/series.h"
#include "expr_build.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int setup(void **state)
{
    (void)state;
    g = graph_new();
    return g ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    graph_free(g);
    return 0;
}

/* s x^n with i = 0, p = s; while i < n do i := i + 1; p := p x */
static expr power_loop(int first, expr x, expr n, expr s)
{
    expr i = graph_cell(g, first), p = graph_cell(g, first + 1);
    expr start[2] = {num(0.0), s}, next[2] = {bin(EXPR_ADD, i, num(1.0)), bin(EXPR_MUL, p, x)};
    loop_draft d = {2, first, start, next, bin(EXPR_LT, i, n)};
    return loop_result(g, loop_close(g, &d), 1);
}

/* sum_{k=1}^{n} x^k, each power by a loop of its own inside the loop */
static expr sum_loop(int first, expr x, expr n)
{
    expr k = graph_cell(g, first), sum = graph_cell(g, first + 1);
    expr up = bin(EXPR_ADD, k, num(1.0));
    expr start[2] = {num(0.0), num(0.0)};
    expr next[2] = {up, bin(EXPR_ADD, sum, power_loop(first + 2, x, up, num(1.0)))};
    loop_draft d = {2, first, start, next, bin(EXPR_LT, k, n)};
    return loop_result(g, loop_close(g, &d), 1);
}

/* e at y by the tape */
static double at(expr e, const double *y, const double *yp)
{
    tape *t = tape_new(g, &e, 1);
    assert_non_null(t);
    double *work = calloc(tape_work_size(t), sizeof *work), out = NAN;
    tape_inputs in = {.time = 0.5, .values = {y, yp}};
    tape_prepare(t, &in, work);
    tape_run(t, &in, work, &out);
    free(work);
    tape_free(t);
    return out;
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-13 * fmax(1.0, fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* ---- values --------------------------------------------------------------------------------- */

static void values_on_the_tape(void **state)
{
    (void)state;
    expr e = power_loop(0, var(0), var(1), var(2));
    for (int n = 0; n < 40; n += 3) {
        double y[3] = {1.1, n, 2.0};
        near(at(e, y, NULL), 2.0 * pow(1.1, n));
    }
    double y[2] = {0.9, 7.0}, sum = 0.0;
    for (int k = 1; k <= 7; k++) sum += pow(0.9, k);
    near(at(sum_loop(0, var(0), var(1)), y, NULL), sum);
}

static double leaf_value(void *context, const expr_node *leaf)
{
    const double *y = context;
    return leaf->op == EXPR_VARIABLE ? y[leaf->index] : NAN;
}

static void values_without_a_tape(void **state)
{
    (void)state;
    expr e = bin(EXPR_ADD, sum_loop(0, var(0), var(1)), num(1.0));
    double y[2] = {2.0, 5.0};
    near(graph_value(g, e, leaf_value, y), 63.0);
    expr unknown = bin(EXPR_ADD, e, graph_parameter(g, 0));
    assert_true(isnan(graph_value(g, unknown, leaf_value, y)));
}

static expr swap_leaves(void *context, graph *in, expr leaf)
{
    (void)context;
    const expr_node *n = graph_node(in, leaf);
    return n->op == EXPR_VARIABLE ? graph_variable(in, 1 - n->index, 0) : leaf;
}

static void count_leaf(void *context, const expr_node *leaf)
{
    if (leaf->op == EXPR_VARIABLE) ++*(int *)context;
    assert_int_not_equal(leaf->op, EXPR_CELL);
}

static void bodies_are_closed_and_shared(void **state)
{
    (void)state;
    expr e = sum_loop(0, bin(EXPR_MUL, var(0), var(0)), var(1));
    size_t bodies = graph_loop_count(g);
    assert_int_equal(sum_loop(40, bin(EXPR_MUL, var(0), var(0)), var(1)), e);
    sum_loop(7, var(3), num(4.0));
    /* 4 is a constant of the body, not a cell of it: one more outer body, the inner one is there */
    assert_int_equal(graph_loop_count(g), bodies + 1);
    int leaves = 0;
    assert_true(graph_leaves(g, &e, 1, count_leaf, &leaves));
    assert_int_equal(leaves, 2);
    double y[2] = {1.5, 3.0}, z[2] = {3.0, 1.5};
    near(at(graph_substitute(g, e, swap_leaves, NULL), z, NULL), at(e, y, NULL));
    /* an invariant is its own result */
    expr cell = graph_cell(g, 0), start = var(0);
    loop_draft d = {1, 0, &start, &cell, num(0.0)};
    assert_int_equal(loop_result(g, loop_close(g, &d), 0), var(0));
}

/* Coefficients of e along x_0 = x, x_1 = 6, into out[i][k]. */
#define SERIES_OF(T, SUFFIX)                                                                       \
    static void series_of##SUFFIX(const expr *e, int count, const T *x, T out[][DEGREE + 1])       \
    {                                                                                              \
        const int lag[2] = {0, 0}, top[2] = {0, 0};                                                \
        const T six[DEGREE + 1] = {6};                                                             \
        T now[2];                                                                                  \
        series_run##SUFFIX run;                                                                    \
        series_program *p = series_program_new(g, e, lag, (size_t)count, top, 2, DEGREE);          \
        assert_true(p &&series_run_new##SUFFIX(&run, p));                                          \
        run.rows[0] = x;                                                                           \
        run.rows[1] = six;                                                                         \
        series_prepare##SUFFIX(&run);                                                              \
        for (int k = 0; k <= DEGREE; k++) {                                                        \
            series_sweep##SUFFIX(&run, k);                                                         \
            series_outputs##SUFFIX(&run, k, now);                                                  \
            for (int i = 0; i < count; i++) out[i][k] = now[i];                                    \
        }                                                                                          \
        series_run_free##SUFFIX(&run);                                                             \
        series_program_free(p);                                                                    \
    }

enum { DEGREE = 6 };
SERIES_OF(double, _double)
SERIES_OF(tape_long, _long)

static void other_arithmetics(void **state)
{
    (void)state;
    expr e = sum_loop(0, var(0), var(1));
    tape_long x[DEGREE + 1] = {0.8L}, out[1][DEGREE + 1], sum = 0.0L;
    series_of_long(&e, 1, x, out);
    for (int k = 1; k <= 6; k++) sum += powl(0.8L, k);
    assert_true(fabsl(out[0][0] - sum) < 1e-17L);
}

/* x = 1 + t: the series of (1 + t)^5 has binomial coefficients; of the sum, sums of them */
static void taylor_series(void **state)
{
    (void)state;
    expr e[2] = {power_loop(0, var(0), num(5.0), num(1.0)), sum_loop(0, var(0), num(3.0))};
    double x[DEGREE + 1] = {1.0, 1.0}, out[2][DEGREE + 1];
    series_of_double(e, 2, x, out);
    const double power[DEGREE + 1] = {1, 5, 10, 10, 5, 1, 0}, sum[DEGREE + 1] = {3, 6, 4, 1};
    for (int k = 0; k <= DEGREE; k++) {
        near(out[0][k], power[k]);
        near(out[1][k], sum[k]);
    }
}

/* ---- derivatives ---------------------------------------------------------------------------- */

static void derivatives_of_any_order(void **state)
{
    (void)state;
    double y[3] = {1.3, 6.0, 2.0}, expected = 2.0 * pow(1.3, 6);
    expr e = power_loop(0, var(0), var(1), var(2));
    for (int order = 0; order <= 7; order++) {
        near(at(e, y, NULL), expected);
        expected *= (6.0 - order) / 1.3;
        e = derive_partial(g, e, var(0));
        assert_int_not_equal(e, EXPR_NONE);
    }
}

static void gradients_are_exact_and_sparse(void **state)
{
    (void)state;
    gradient d = {0};
    double y[4] = {1.3, 6.0, 2.0, 0.7};
    /* 3 y3 (y2 y0^y1)^2: by y1, which only decides, there is none */
    expr loop = power_loop(0, var(0), var(1), var(2));
    expr e = bin(EXPR_MUL, bin(EXPR_MUL, num(3.0), var(3)), bin(EXPR_MUL, loop, loop));
    assert_true(derive_gradient(g, e, &d));
    assert_int_equal(d.count, 3);
    double value = at(e, y, NULL), expected[4] = {12.0 * value / 1.3, 0.0, value, value / 0.7};
    for (size_t k = 0; k < d.count; k++) {
        int index = graph_node(g, d.leaf[k])->index;
        near(at(d.derivative[k], y, NULL), expected[index]);
        near(at(derive_partial(g, e, d.leaf[k]), y, NULL), expected[index]);
    }
    /* through two levels: d/dx sum_k x^k = sum_k k x^(k-1) */
    double slope = 0.0;
    for (int k = 1; k <= 6; k++) slope += k * pow(1.3, k - 1);
    assert_true(derive_gradient(g, sum_loop(0, var(0), var(1)), &d));
    assert_int_equal(d.count, 1);
    near(at(d.derivative[0], y, NULL), slope);
    gradient_free(&d);
}

static void time_derivatives(void **state)
{
    (void)state;
    /* d/dt t^n x^n by t = 0.5, x' = 3: n (t x)^(n-1) (x + t x') */
    double y[2] = {1.3, 4.0}, yp[2] = {3.0, 100.0};
    expr e = power_loop(0, bin(EXPR_MUL, graph_time(g), var(0)), var(1), num(1.0));
    near(at(derive_time(g, e), y, yp), 4.0 * pow(0.65, 3) * (1.3 + 0.5 * 3.0));
}

/* The derivative of a branch not taken never matters, loop or not. */
static void branches_around_loops(void **state)
{
    (void)state;
    gradient d = {0};
    expr root = graph_unary(g, EXPR_SQRT, power_loop(0, var(0), num(3.0), num(1.0)));
    expr e = graph_select(g, bin(EXPR_LT, num(0.0), var(0)), root, num(0.0));
    assert_true(derive_gradient(g, e, &d));
    double y[1] = {0.0};
    near(at(d.derivative[0], y, NULL), 0.0);
    y[0] = 4.0;
    near(at(d.derivative[0], y, NULL), 3.0);
    gradient_free(&d);
}

/* ---- native code ---------------------------------------------------------------------------- */

/* Many loops in one function, so that it is split: emitted C gives the bits of the tape. */
static void native_like_the_tape(void **state)
{
    (void)state;
    enum { N = 60 };
    expr e[N];
    if (!native_available()) skip();
    for (int k = 0; k < N; k++) {
        expr x = graph_unary(g, EXPR_SIN, bin(EXPR_MUL, num(k + 1.0), var(0)));
        expr sum = sum_loop(0, x, bin(EXPR_ADD, var(1), num(k % 3)));
        e[k] = k % 2 ? derive_partial(g, sum, var(0)) : bin(EXPR_ADD, sum, x);
        if (k > 2) e[k] = bin(EXPR_ADD, e[k], bin(EXPR_MUL, x, e[k - 3]));
    }
    emit_text text = {0};
    emit_function f = {.name = "many", .e = e, .count = N};
    emit_unit(&text, g, &f, 1, NULL, NULL);
    assert_false(text.failed);
    assert_non_null(strstr(text.text, "many_2"));
    native_module *module = NULL;
    char reason[256] = "";
    native_status status = native_load(text.text, text.length, &module, reason);
    if (status != NATIVE_OK) fail_msg("%s", reason);
    double y[2] = {0.7, 5.0}, out[N], same[N];
    native_find(module, "many")(0.0, y, NULL, NULL, NULL, NULL, out);
    tape *t = tape_new(g, e, N);
    double *work = calloc(tape_work_size(t), sizeof *work);
    tape_inputs in = {.values = {y}};
    tape_prepare(t, &in, work);
    tape_run(t, &in, work, same);
    for (int k = 0; k < N; k++)
        if (out[k] != same[k]) fail_msg("output %d: %.17g and %.17g", k, out[k], same[k]);
    free(work);
    tape_free(t);
    native_free(module);
    emit_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_on_the_tape, setup, teardown),
        cmocka_unit_test_setup_teardown(values_without_a_tape, setup, teardown),
        cmocka_unit_test_setup_teardown(bodies_are_closed_and_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(other_arithmetics, setup, teardown),
        cmocka_unit_test_setup_teardown(taylor_series, setup, teardown),
        cmocka_unit_test_setup_teardown(derivatives_of_any_order, setup, teardown),
        cmocka_unit_test_setup_teardown(gradients_are_exact_and_sparse, setup, teardown),
        cmocka_unit_test_setup_teardown(time_derivatives, setup, teardown),
        cmocka_unit_test_setup_teardown(branches_around_loops, setup, teardown),
        cmocka_unit_test_setup_teardown(native_like_the_tape, setup, teardown),
    };
    return cmocka_run_group_tests_name("loops in expressions", tests, NULL, NULL);
}
