/* Ranges of expressions: at every point of a piece of time value and slope lie within them, and
 * they close in as the piece becomes short. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "expr/graph.h"
#include "expr/range.h"

/* Functions of y = a + b (t - t0): all of whose values at hand are in their domains. */
typedef struct trial {
    expr_op op;
    double a, b; /* the first operand at its start, and its slope */
    double c, d; /* the second one's, where there is one */
} trial;

static const trial trials[] = {
    {EXPR_NEG, 1, 2, 0, 0},       {EXPR_ABS, -0.3, 1, 0, 0},    {EXPR_SIGN, -0.3, 1, 0, 0},
    {EXPR_FLOOR, 0.4, 3, 0, 0},   {EXPR_CEIL, 0.4, 3, 0, 0},    {EXPR_SQRT, 0.01, 2, 0, 0},
    {EXPR_EXP, -1, 5, 0, 0},      {EXPR_LOG, 0.1, 2, 0, 0},     {EXPR_LOG10, 0.1, 2, 0, 0},
    {EXPR_SIN, -1, 20, 0, 0},     {EXPR_COS, -1, 20, 0, 0},     {EXPR_TAN, -1, 2, 0, 0},
    {EXPR_ASIN, -0.9, 1.7, 0, 0}, {EXPR_ACOS, -0.9, 1.7, 0, 0}, {EXPR_ACOS, 0.3, 0.5, 0, 0},
    {EXPR_ATAN, -4, 9, 0, 0},     {EXPR_SINH, -2, 3, 0, 0},     {EXPR_COSH, -2, 3, 0, 0},
    {EXPR_TANH, -2, 5, 0, 0},     {EXPR_ADD, 1, 2, 3, -4},      {EXPR_SUB, 1, 2, 3, -4},
    {EXPR_MUL, -1, 2, 3, -4},     {EXPR_DIV, -1, 2, 1, 3},      {EXPR_DIV, 1, 2, -4, 3},
    {EXPR_POW, 0.2, 2, 1.5, 0},   {EXPR_POW, 0, 2, 1.5, 0},     {EXPR_POW, -0.5, 2, 2, 0},
    {EXPR_POW, -0.5, 2, 3, 0},    {EXPR_POW, -3, 1, -1, 0},     {EXPR_POW, -3, 1, -2, 0},
    {EXPR_POW, 0.5, 1, -1.5, 0},  {EXPR_POW, 0.5, 1, 1, 2},     {EXPR_POW, 0.3, 2, 0.5, 0},
    {EXPR_ATAN2, -1, 3, 1, 2},    {EXPR_ATAN2, 0.5, 3, -2, 5},  {EXPR_ATAN2, -3, 2, -2, 5},
    {EXPR_MIN, 0, 2, 1, -1},      {EXPR_MAX, 0, 2, 1, -1},
};
enum { TRIALS = sizeof trials / sizeof *trials, POINTS = 257 };

/* y_k in place of the operands */
static expr expression_of(graph *g, const trial *q)
{
    expr y = graph_variable(g, 0, 0), z = graph_variable(g, 1, 0);
    if (graph_arity(q->op) == 1) return graph_unary(g, q->op, y);
    bool constant = q->d == 0.0;
    return graph_binary(g, q->op, y, constant ? graph_constant(g, q->c) : z);
}

static range line(double at, double slope, double from, double to)
{
    double u = at + slope * from, v = at + slope * to;
    return (range){{fmin(u, v), fmax(u, v)}, {slope, slope}};
}

static range range_between(range_program *p, const trial *q, double from, double to)
{
    range y[2] = {line(q->a, q->b, from, to), line(q->c, q->d, from, to)}, out;
    range_program_run(p, &(range_leaves){.time = {from, to}, .y = y}, &out);
    return out;
}

static double operand_at(void *context, const expr_node *leaf)
{
    const double *y = context;
    return leaf->op == EXPR_CONSTANT ? leaf->value : y[leaf->index];
}

static double value_at(const graph *g, expr e, const trial *q, double t)
{
    double y[2] = {q->a + q->b * t, q->c + q->d * t};
    return graph_value(g, e, operand_at, y);
}

/* Values at many points of a piece, and the slopes of all chords between neighbours: by the mean
 * value theorem each of these is a slope within. */
static void check_piece(const graph *g, expr e, range_program *p, const trial *q, double from,
                        double to)
{
    range r = range_between(p, q, from, to);
    double last = NAN, size = fmax(1.0, fabs(value_at(g, e, q, from)));
    for (int k = 0; k < POINTS; k++) {
        double step = (to - from) / (POINTS - 1), slack = 1e-13 * size;
        double v = value_at(g, e, q, from + k * step);
        bool inside = v >= r.value.lo - slack && v <= r.value.hi + slack;
        double chord = (v - last) / step, loose = 4.0 * slack / step + 1e-9 * fabs(chord);
        bool goes = k == 0 || (chord >= r.slope.lo - loose && chord <= r.slope.hi + loose);
        if (!inside || !goes)
            fail_msg("%s of %g + %g t, %g + %g t: at t = %g it is %g, slope %g",
                     graph_op_name(q->op), q->a, q->b, q->c, q->d, from + k * step, v, chord);
        last = v;
    }
}

static void for_each(void (*check)(const graph *, expr, range_program *, const trial *))
{
    for (int k = 0; k < TRIALS; k++) {
        graph *g = graph_new();
        expr e = expression_of(g, &trials[k]);
        range_program *p = range_program_new(g, &e, 1);
        assert_non_null(p);
        check(g, e, p, &trials[k]);
        range_program_free(p);
        graph_free(g);
    }
}

static void check_pieces(const graph *g, expr e, range_program *p, const trial *q)
{
    for (int pieces = 1; pieces <= 64; pieces *= 2)
        for (int k = 0; k < pieces; k++)
            check_piece(g, e, p, q, (double)k / pieces, (k + 1.0) / pieces);
}

static void test_values_and_slopes_are_within(void **state)
{
    (void)state;
    for_each(check_pieces);
}

/* A bound that does not close in would let the search for crossings halve its pieces for ever. */
static void check_short(const graph *g, expr e, range_program *p, const trial *q)
{
    (void)g;
    (void)e;
    const double at = 0.3719, length = 1e-6;
    range r = range_between(p, q, at, at + length);
    if (!(r.value.hi - r.value.lo <= 1e3 * length) || !(r.slope.hi - r.slope.lo <= 1.0))
        fail_msg("%s of %g + %g t, %g + %g t: [%g, %g], slopes [%g, %g]", graph_op_name(q->op),
                 q->a, q->b, q->c, q->d, r.value.lo, r.value.hi, r.slope.lo, r.slope.hi);
}

static void test_short_pieces_are_bounded(void **state)
{
    (void)state;
    for_each(check_short);
}

/* Bounds of an argument reach a little beyond where a function has values: no reason to know
 * nothing. */
static void test_edges_of_domains(void **state)
{
    (void)state;
    static const trial edges[] = {{EXPR_SQRT, -1e-9, 1e-8, 0, 0},
                                  {EXPR_POW, -1e-9, 1e-8, 1.5, 0},
                                  {EXPR_ASIN, 1.0 - 1e-9, 1e-8, 0, 0},
                                  {EXPR_ACOS, -1.0 - 1e-9, 1e-8, 0, 0}};
    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) {
        graph *g = graph_new();
        expr e = expression_of(g, &edges[k]);
        range_program *p = range_program_new(g, &e, 1);
        range r = range_between(p, &edges[k], 0.0, 1.0);
        assert_true(r.value.hi - r.value.lo < 1e-3);
        range_program_free(p);
        graph_free(g);
    }
}

/* Where the ranges decide which operand min or max is, or which branch holds, it is compared with
 * that operand as with itself. */
static void test_decided_branches_are_the_same(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr y = graph_variable(g, 0, 0), z = graph_variable(g, 1, 0);
    expr low = graph_binary(g, EXPR_MIN, y, z), high = graph_binary(g, EXPR_MAX, y, z);
    const expr roots[] = {graph_binary(g, EXPR_SUB, y, low), graph_binary(g, EXPR_LT, low, y),
                          graph_binary(g, EXPR_LE, z, high), graph_binary(g, EXPR_SUB, z, low)};
    range_program *p = range_program_new(g, roots, 4);
    range apart[2] = {{{1, 2}, {1, 1}}, {{3, 4}, {1, 1}}}, out[4];
    range_program_run(p, &(range_leaves){.y = apart}, out);
    assert_true(out[0].value.lo == 0.0 && out[0].value.hi == 0.0 && range_is_plain(&out[0]));
    assert_true(out[1].value.hi == 0.0);
    assert_true(out[2].value.lo == 1.0);
    assert_true(out[3].value.lo == 1.0 && out[3].value.hi == 3.0);
    range close[2] = {{{1, 3.5}, {1, 1}}, {{3, 4}, {1, 1}}};
    range_program_run(p, &(range_leaves){.y = close}, out);
    assert_true(out[0].value.hi > 0.0);
    assert_true(out[1].value.lo == 0.0 && out[1].value.hi == 1.0);
    range_program_free(p);
    graph_free(g);
}

/* What has one value does not move, whatever is known of its slope. */
static void test_one_value_is_plain(void **state)
{
    (void)state;
    const interval any = {-INFINITY, INFINITY};
    assert_true(range_is_plain(&(range){{0.0, 0.0}, any}));
    assert_false(range_is_plain(&(range){{-1e-9, 1e-9}, any}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_and_slopes_are_within),
        cmocka_unit_test(test_short_pieces_are_bounded),
        cmocka_unit_test(test_edges_of_domains),
        cmocka_unit_test(test_decided_branches_are_the_same),
        cmocka_unit_test(test_one_value_is_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
