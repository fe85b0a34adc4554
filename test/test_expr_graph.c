/* The expression graph: sharing, folding that keeps domains, substitution, values, text. */
#include "expr/graph.h"
#include "expr/print.h"
#include "expr_build.h"

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

/* ---- short names ---------------------------------------------------------------------------- */

static expr neg(expr a)
{
    return un(EXPR_NEG, a);
}

static expr_op op_of(expr e)
{
    return graph_node(g, e)->op;
}

static double leaf_values[8]; /* of variables; parameters and memory after them; time last */

static double read_leaf(void *context, const expr_node *leaf)
{
    (void)context;
    switch ((expr_op)leaf->op) {
    case EXPR_VARIABLE: return leaf_values[leaf->index];
    case EXPR_PARAMETER: return leaf_values[4 + leaf->index];
    case EXPR_MEMORY: return leaf_values[6];
    default: return leaf_values[7];
    }
}

static double value_at(expr e, double x)
{
    leaf_values[0] = x;
    return graph_value(g, e, read_leaf, NULL);
}

static uint32_t random_state;

static int draw(int count)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (int)((random_state >> 8) % (uint32_t)count);
}

/* ---- sharing -------------------------------------------------------------------------------- */

static void equal_builds_are_equal_nodes(void **state)
{
    (void)state;
    expr x = var(0), y = var(1);
    assert_int_equal(x, var(0));
    assert_int_not_equal(x, y);
    assert_int_not_equal(x, graph_variable(g, 0, 1));
    assert_int_not_equal(graph_parameter(g, 0), graph_memory(g, 0));
    assert_int_equal(num(0.1), num(0.1));
    assert_int_not_equal(num(0.1), num(nextafter(0.1, 1.0)));
    assert_int_equal(num(0.0), num(-0.0));
    assert_int_equal(num(NAN), num(-NAN));
    assert_int_equal(bin(EXPR_ADD, x, y), bin(EXPR_ADD, y, x));
    assert_int_equal(bin(EXPR_MUL, x, y), bin(EXPR_MUL, y, x));
    assert_int_equal(bin(EXPR_MIN, x, y), bin(EXPR_MIN, y, x));
    assert_int_equal(bin(EXPR_EQ, x, y), bin(EXPR_EQ, y, x));
    assert_int_not_equal(bin(EXPR_SUB, x, y), bin(EXPR_SUB, y, x));
    assert_int_not_equal(bin(EXPR_LT, x, y), bin(EXPR_LT, y, x));
    assert_int_not_equal(bin(EXPR_ATAN2, x, y), bin(EXPR_ATAN2, y, x));
    size_t size = graph_size(g);
    assert_int_equal(un(EXPR_SIN, bin(EXPR_MUL, x, y)), un(EXPR_SIN, bin(EXPR_MUL, y, x)));
    assert_int_equal(graph_size(g), size + 1);
}

/* Many nodes: all found again, operands before parents, pointers to nodes never move. */
static void a_million_nodes(void **state)
{
    (void)state;
    enum { COUNT = 300000 };
    const expr_node *early = graph_node(g, var(0));
    expr *e = malloc(COUNT * sizeof *e);
    for (int i = 0; i < COUNT; i++) e[i] = bin(EXPR_MUL, var(i), un(EXPR_SIN, var(i + 1)));
    assert_ptr_equal(early, graph_node(g, var(0)));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(e[i], bin(EXPR_MUL, var(i), un(EXPR_SIN, var(i + 1))));
    for (size_t i = 1; i < graph_size(g); i++) {
        const expr_node *n = graph_node(g, (expr)i);
        for (int k = 0; k < 3; k++) assert_true(expr_operand(n, k) < i);
    }
    assert_int_equal(graph_size(g), 3 * COUNT + 2);
    assert_int_equal(sizeof(expr_node), 16);
    free(e);
}

static void the_limit_is_remembered(void **state)
{
    (void)state;
    graph_set_limit(g, 10);
    expr e = var(0);
    for (int i = 0; i < 20; i++) e = un(EXPR_SIN, e);
    assert_int_equal(e, EXPR_NONE);
    assert_true(graph_failed(g));
    assert_int_equal(graph_size(g), 11);
    assert_int_equal(var(0), EXPR_NONE);
    assert_int_equal(bin(EXPR_ADD, 1, 2), EXPR_NONE);
    assert_int_equal(graph_select(g, 1, 2, 3), EXPR_NONE);
}

static void nothing_comes_of_nothing(void **state)
{
    (void)state;
    assert_int_equal(neg(EXPR_NONE), EXPR_NONE);
    assert_int_equal(bin(EXPR_ADD, var(0), EXPR_NONE), EXPR_NONE);
    assert_int_equal(graph_select(g, EXPR_NONE, var(0), var(1)), EXPR_NONE);
    assert_int_equal(graph_variable(g, 0, 256), EXPR_NONE);
    assert_int_equal(graph_variable(g, 0, -1), EXPR_NONE);
    assert_false(graph_failed(g));
    assert_false(graph_is_constant(g, EXPR_NONE, NULL));
}

/* ---- rules ---------------------------------------------------------------------------------- */

static void neutral_elements_vanish(void **state)
{
    (void)state;
    expr e = un(EXPR_LOG, var(0)); /* may be NaN or -Inf: the rules hold all the same */
    assert_int_equal(bin(EXPR_ADD, e, num(0)), e);
    assert_int_equal(bin(EXPR_ADD, num(0), e), e);
    assert_int_equal(bin(EXPR_SUB, e, num(0)), e);
    assert_int_equal(bin(EXPR_SUB, num(0), e), neg(e));
    assert_int_equal(bin(EXPR_MUL, e, num(1)), e);
    assert_int_equal(bin(EXPR_MUL, num(-1), e), neg(e));
    assert_int_equal(bin(EXPR_DIV, e, num(1)), e);
    assert_int_equal(bin(EXPR_DIV, e, num(-1)), neg(e));
    assert_int_equal(bin(EXPR_POW, e, num(1)), e);
    assert_int_equal(bin(EXPR_POW, e, num(2)), bin(EXPR_MUL, e, e));
    assert_int_equal(bin(EXPR_POW, e, num(-1)), bin(EXPR_DIV, num(1), e));
    assert_int_equal(bin(EXPR_ADD, e, e), bin(EXPR_MUL, num(2), e));
    assert_int_equal(bin(EXPR_MUL, num(2), bin(EXPR_MUL, num(0.5), e)), e);
}

/* pow(x, 0) and pow(1, x) are 1 for all x in C, NaN included, and so are the nodes. */
static void zeroth_powers(void **state)
{
    (void)state;
    expr e = un(EXPR_LOG, var(0));
    assert_true(pow(NAN, 0.0) == 1.0 && pow(1.0, NAN) == 1.0);
    assert_int_equal(bin(EXPR_POW, e, num(0)), num(1));
    assert_int_equal(bin(EXPR_POW, num(1), e), num(1));
    assert_int_equal(op_of(bin(EXPR_POW, num(0), e)), EXPR_POW);
    assert_int_equal(op_of(bin(EXPR_POW, e, num(0.5))), EXPR_POW);
    assert_true(value_at(bin(EXPR_POW, e, num(0.5)), 0.0) == INFINITY); /* sqrt would be NaN */
}

static void signs_move_out(void **state)
{
    (void)state;
    expr x = var(0), y = var(1), xy = bin(EXPR_MUL, x, y);
    assert_int_equal(neg(neg(x)), x);
    assert_int_equal(bin(EXPR_ADD, x, neg(y)), bin(EXPR_SUB, x, y));
    assert_int_equal(bin(EXPR_ADD, neg(x), y), bin(EXPR_SUB, y, x));
    assert_int_equal(bin(EXPR_SUB, x, neg(y)), bin(EXPR_ADD, x, y));
    assert_int_equal(bin(EXPR_ADD, neg(x), neg(y)), neg(bin(EXPR_ADD, x, y)));
    assert_int_equal(bin(EXPR_SUB, neg(x), y), neg(bin(EXPR_ADD, x, y)));
    assert_int_equal(neg(bin(EXPR_SUB, x, y)), bin(EXPR_SUB, y, x));
    assert_int_equal(bin(EXPR_MUL, neg(x), neg(y)), xy);
    assert_int_equal(bin(EXPR_MUL, neg(x), y), neg(xy));
    assert_int_equal(bin(EXPR_MUL, num(3), neg(x)), bin(EXPR_MUL, num(-3), x));
    assert_int_equal(neg(bin(EXPR_MUL, num(3), x)), bin(EXPR_MUL, num(-3), x));
    assert_int_equal(bin(EXPR_ADD, y, bin(EXPR_MUL, num(-3), x)),
                     bin(EXPR_SUB, y, bin(EXPR_MUL, num(3), x)));
    assert_int_equal(bin(EXPR_DIV, neg(x), neg(y)), bin(EXPR_DIV, x, y));
    assert_int_equal(bin(EXPR_DIV, x, neg(y)), neg(bin(EXPR_DIV, x, y)));
    assert_int_equal(un(EXPR_COS, neg(x)), un(EXPR_COS, x));
    assert_int_equal(un(EXPR_ABS, bin(EXPR_MUL, num(-2), x)),
                     un(EXPR_ABS, bin(EXPR_MUL, num(2), x)));
    assert_int_equal(un(EXPR_SIN, neg(x)), neg(un(EXPR_SIN, x)));
}

/* Where an operand may be NaN or infinite, nothing is cancelled. */
static void domains_are_kept(void **state)
{
    (void)state;
    expr x = var(0), e = un(EXPR_LOG, x);
    expr product = bin(EXPR_MUL, num(0), e), difference = bin(EXPR_SUB, e, e);
    expr quotient = bin(EXPR_DIV, x, x), zero_over = bin(EXPR_DIV, num(0), x);
    expr root = un(EXPR_SQRT, x), square = bin(EXPR_POW, root, num(2));
    assert_true(isnan(value_at(product, 0.0)));
    assert_true(isnan(value_at(product, -1.0)));
    assert_true(value_at(product, 1.0) == 0.0);
    assert_true(isnan(value_at(difference, 0.0)));
    assert_true(isnan(value_at(quotient, 0.0)));
    assert_true(isnan(value_at(zero_over, 0.0)));
    assert_true(isnan(value_at(square, -1.0)));
    assert_true(isnan(value_at(un(EXPR_EXP, e), -1.0)));
    assert_true(value_at(bin(EXPR_EQ, e, e), -1.0) == 0.0);
    assert_true(value_at(bin(EXPR_NE, e, e), -1.0) == 1.0);
    assert_true(value_at(bin(EXPR_LE, e, e), -1.0) == 0.0);
    assert_true(value_at(bin(EXPR_LT, e, e), -1.0) == 0.0);
    assert_true(isnan(value_at(bin(EXPR_MIN, e, num(1)), -1.0)));
    assert_true(isnan(value_at(bin(EXPR_MAX, num(1), e), -1.0)));
}

/* Leaves, and bounded functions of them, are finite. */
static void finite_operands_cancel(void **state)
{
    (void)state;
    expr x = var(0), y = var(1);
    expr e = bin(EXPR_ATAN2, un(EXPR_SIN, x), bin(EXPR_MIN, un(EXPR_TANH, y), num(3)));
    assert_int_equal(bin(EXPR_MUL, num(0), x), num(0));
    assert_int_equal(bin(EXPR_SUB, x, x), num(0));
    assert_int_equal(bin(EXPR_MUL, e, num(0)), num(0));
    assert_int_equal(bin(EXPR_SUB, e, e), num(0));
    assert_int_equal(bin(EXPR_LE, e, e), num(1));
    assert_int_equal(bin(EXPR_NE, e, e), num(0));
    expr sum = bin(EXPR_ADD, x, y); /* may overflow */
    assert_int_not_equal(bin(EXPR_SUB, sum, sum), num(0));
    assert_int_not_equal(bin(EXPR_MUL, num(0), sum), num(0));
}

/* Finite constants never fold into NaN or Inf; those given stay and fold on. */
static void errors_stay_visible(void **state)
{
    (void)state;
    assert_int_equal(op_of(bin(EXPR_DIV, num(1), num(0))), EXPR_DIV);
    assert_int_equal(op_of(bin(EXPR_DIV, num(0), num(0))), EXPR_DIV);
    assert_int_equal(op_of(bin(EXPR_POW, num(0), num(-1))), EXPR_DIV);
    assert_int_equal(op_of(un(EXPR_LOG, num(-1))), EXPR_LOG);
    assert_int_equal(op_of(un(EXPR_SQRT, num(-1))), EXPR_SQRT);
    assert_int_equal(op_of(un(EXPR_EXP, num(1000))), EXPR_EXP);
    assert_int_equal(op_of(bin(EXPR_MUL, num(1e200), num(1e200))), EXPR_MUL);
    assert_int_equal(op_of(bin(EXPR_POW, num(1e200), num(2))), EXPR_MUL);
    assert_int_equal(op_of(bin(EXPR_POW, num(-8), num(1.0 / 3))), EXPR_POW);
    assert_int_equal(bin(EXPR_ADD, num(INFINITY), num(1)), num(INFINITY));
    assert_int_equal(bin(EXPR_SUB, num(INFINITY), num(INFINITY)), num(NAN));
    assert_int_equal(op_of(bin(EXPR_MUL, num(0), num(INFINITY))), EXPR_CONSTANT);
    assert_true(isnan(value_at(bin(EXPR_MUL, num(NAN), var(0)), 1.0)));
}

static void constants_fold_as_they_run(void **state)
{
    (void)state;
    for (expr_op op = EXPR_NEG; op < EXPR_SELECT; op++) {
        const double a = 0.625, b = 1.75;
        double folded, expected = graph_apply(op, a, b, 0.0);
        expr e = graph_build(g, op, num(a), num(b), EXPR_NONE);
        assert_true(graph_is_constant(g, e, &folded));
        assert_true(folded == expected);
    }
    double cube;
    assert_true(graph_is_constant(g, bin(EXPR_POW, num(0.1), num(3)), &cube));
    assert_true(cube == 0.1 * 0.1 * 0.1);
}

static void logic_folds(void **state)
{
    (void)state;
    expr x = var(0), y = var(1), c = bin(EXPR_LT, x, y), d = graph_memory(g, 0);
    assert_int_equal(bin(EXPR_AND, c, num(1)), c);
    assert_int_equal(bin(EXPR_AND, num(0), c), num(0));
    assert_int_equal(bin(EXPR_OR, c, num(0)), c);
    assert_int_equal(bin(EXPR_OR, num(1), c), num(1));
    assert_int_equal(bin(EXPR_AND, d, d), d);
    assert_int_equal(bin(EXPR_OR, c, un(EXPR_NOT, c)), num(1));
    assert_int_equal(bin(EXPR_AND, un(EXPR_NOT, d), d), num(0));
    assert_int_equal(un(EXPR_NOT, un(EXPR_NOT, d)), d);
    assert_int_equal(un(EXPR_NOT, bin(EXPR_EQ, x, y)), bin(EXPR_NE, x, y));
    assert_int_equal(op_of(un(EXPR_NOT, c)), EXPR_NOT); /* not y <= x: NaN */
    assert_int_equal(graph_select(g, num(1), x, y), x);
    assert_int_equal(graph_select(g, num(0), x, y), y);
    assert_int_equal(graph_select(g, c, x, x), x);
    assert_int_equal(graph_select(g, un(EXPR_NOT, d), x, y), graph_select(g, d, y, x));
    assert_int_equal(graph_select(g, c, num(1), num(0)), c);
    assert_int_equal(graph_select(g, c, graph_select(g, c, x, y), num(3)),
                     graph_select(g, c, x, num(3)));
}

/* ---- random expressions: folded and plain values agree ------------------------------------- */

/* Build a random expression, and at the same time its value by plain arithmetic, without folding.
 * `doubtful` is set where the sign of a zero matters, which the graph does not keep. */
typedef struct built {
    expr e;
    double value;
} built;

static bool doubtful;

static built random_leaf(void)
{
    static const double numbers[] = {0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 4.0, 1e300, INFINITY, NAN};
    int kind = draw(10);
    if (kind < 5) {
        int index = draw(4);
        return (built){var(index), leaf_values[index]};
    }
    if (kind == 5) return (built){graph_parameter(g, 1), leaf_values[5]};
    double number = numbers[draw(kind == 6 ? 10 : 7)];
    return (built){num(number), number};
}

static double plain_power(double a, double b)
{
    if (b == 2.0) return a * a;
    if (b == 3.0) return a * (a * a);
    if (b == 4.0) return (a * a) * (a * a);
    return pow(a, b);
}

static bool is_logical(expr_op op)
{
    return op == EXPR_NOT || op == EXPR_AND || op == EXPR_OR;
}

static built random_expression(int depth)
{
    if (depth == 0 || draw(8) == 0) return random_leaf();
    expr_op op = (expr_op)(EXPR_NEG + draw(EXPR_OP_COUNT - EXPR_NEG));
    if (draw(3) == 0) op = (expr_op)(EXPR_ADD + draw(5));
    built operand[3];
    for (int i = 0; i < graph_arity(op); i++) {
        operand[i] = random_expression(depth - 1);
        bool boolean = is_logical(op) || (op == EXPR_SELECT && i == 0);
        if (!boolean) continue;
        operand[i].e = bin(EXPR_LT, operand[i].e, num(0.25));
        operand[i].value = operand[i].value < 0.25;
    }
    double a = operand[0].value, b = graph_arity(op) > 1 ? operand[1].value : 0.0;
    double c = graph_arity(op) > 2 ? operand[2].value : 0.0;
    if (op == EXPR_DIV && b == 0.0) doubtful = true;
    if (op == EXPR_ATAN2 && (a == 0.0 || b == 0.0)) doubtful = true;
    if (op == EXPR_POW && a == 0.0) doubtful = true;
    built r = {graph_build(g, op, operand[0].e, graph_arity(op) > 1 ? operand[1].e : EXPR_NONE,
                           graph_arity(op) > 2 ? operand[2].e : EXPR_NONE),
               op == EXPR_POW ? plain_power(a, b) : graph_apply(op, a, b, c)};
    return r;
}

static bool agrees(double x, double y)
{
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    if (isinf(x) || isinf(y)) return x == y;
    return fabs(x - y) <= 1e-11 * (fabs(x) + fabs(y)) + 1e-11;
}

static void folding_keeps_values(void **state)
{
    (void)state;
    static const double points[] = {0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 0.25, 1e308, -1e-308};
    int compared = 0, finite = 0;
    random_state = 42;
    for (int i = 0; i < 60000; i++) {
        for (int k = 0; k < 8; k++) leaf_values[k] = points[draw(9)];
        doubtful = false;
        built r = random_expression(1 + draw(5));
        if (doubtful) continue;
        double value = graph_value(g, r.e, read_leaf, NULL);
        if (!agrees(value, r.value)) {
            char text[400];
            expr_print(g, r.e, NULL, NULL, text, sizeof text);
            fail_msg("%s is %.17g, plainly %.17g", text, value, r.value);
        }
        compared++;
        finite += isfinite(value) != 0;
    }
    assert_true(compared > 20000);
    assert_true(finite > 10000);
}

/* ---- substitution, leaves, values ----------------------------------------------------------- */

/* x[0] -> x[1] + 1; others stay */
static int asked[8]; /* how often leaves were, by index */

static double count_leaf(void *context, const expr_node *leaf)
{
    asked[leaf->op == EXPR_VARIABLE ? leaf->index : 7]++;
    return read_leaf(context, leaf);
}

/* The side that a condition does not choose is not evaluated, nor what a first operand decides. */
static void sides_not_chosen_are_not_evaluated(void **state)
{
    (void)state;
    leaf_values[0] = 1.0;
    leaf_values[1] = 5.0;
    leaf_values[2] = 6.0;
    leaf_values[3] = 0.0;
    expr first = var(0); /* made first, it stands first in 'and' and 'or' */
    expr later = graph_select(g, var(3), un(EXPR_SIN, var(1)), un(EXPR_EXP, var(2)));
    expr both = graph_select(g, first, un(EXPR_SIN, var(1)), later);
    memset(asked, 0, sizeof asked);
    assert_true(graph_value(g, both, count_leaf, NULL) == sin(5.0));
    assert_int_equal(asked[0], 1);
    assert_int_equal(asked[1], 1);
    assert_int_equal(asked[2] + asked[3], 0);
    memset(asked, 0, sizeof asked);
    assert_true(graph_value(g, bin(EXPR_OR, first, var(3)), count_leaf, NULL) == 1.0);
    leaf_values[0] = 0.0;
    assert_true(graph_value(g, bin(EXPR_AND, first, var(3)), count_leaf, NULL) == 0.0);
    assert_int_equal(asked[3], 0);
    leaf_values[0] = NAN; /* unknown: the other operand may decide */
    assert_true(graph_value(g, bin(EXPR_AND, first, var(3)), count_leaf, NULL) == 0.0);
    assert_true(isnan(graph_value(g, both, count_leaf, NULL)));
}

static expr replace_first(void *context, graph *owner, expr leaf)
{
    (void)context;
    if (leaf != graph_variable(owner, 0, 0)) return leaf;
    return graph_binary(owner, EXPR_ADD, graph_variable(owner, 1, 0), graph_constant(owner, 1.0));
}

static void substitution_maps_and_folds(void **state)
{
    (void)state;
    expr x = var(0), y = var(1), z = var(2);
    expr e = bin(EXPR_MUL, un(EXPR_SIN, x), bin(EXPR_ADD, un(EXPR_SIN, x), z));
    expr s = un(EXPR_SIN, bin(EXPR_ADD, y, num(1)));
    assert_int_equal(graph_substitute(g, e, replace_first, NULL),
                     bin(EXPR_MUL, s, bin(EXPR_ADD, s, z)));
    assert_int_equal(graph_substitute(g, z, replace_first, NULL), z);
    expr difference = bin(EXPR_SUB, x, bin(EXPR_ADD, y, num(1)));
    expr result = graph_substitute(g, difference, replace_first, NULL);
    assert_int_equal(op_of(result), EXPR_SUB); /* (y+1) - (y+1) may overflow: stays */
}

static expr to_constant(void *context, graph *owner, expr leaf)
{
    (void)context;
    (void)leaf;
    return graph_constant(owner, 2.0);
}

static expr to_nothing(void *context, graph *owner, expr leaf)
{
    (void)context;
    (void)owner;
    (void)leaf;
    return EXPR_NONE;
}

static void substitution_by_constants_evaluates(void **state)
{
    (void)state;
    double value;
    expr e = bin(EXPR_ADD, un(EXPR_EXP, var(0)), bin(EXPR_DIV, var(1), graph_time(g)));
    assert_true(graph_is_constant(g, graph_substitute(g, e, to_constant, NULL), &value));
    assert_true(value == exp(2.0) + 1.0);
    assert_int_equal(graph_substitute(g, e, to_nothing, NULL), EXPR_NONE);
    assert_false(graph_failed(g));
}

typedef struct visited {
    const expr_node *leaf[16];
    int count;
} visited;

static void note_leaf(void *context, const expr_node *leaf)
{
    visited *v = context;
    v->leaf[v->count++] = leaf;
}

static void leaves_come_once_in_order(void **state)
{
    (void)state;
    expr y = var(1), x = var(0), p = graph_parameter(g, 0), unused = var(5);
    expr e[2] = {bin(EXPR_MUL, bin(EXPR_ADD, x, y), un(EXPR_SIN, x)),
                 graph_select(g, bin(EXPR_LT, p, y), x, num(3))};
    visited v = {.count = 0};
    assert_true(graph_leaves(g, e, 2, note_leaf, &v));
    assert_int_equal(v.count, 4); /* y, x, p, 3 */
    assert_ptr_equal(v.leaf[0], graph_node(g, y));
    assert_ptr_equal(v.leaf[1], graph_node(g, x));
    assert_ptr_equal(v.leaf[2], graph_node(g, p));
    assert_ptr_equal(v.leaf[3], graph_node(g, num(3)));
    assert_true(unused != EXPR_NONE);
}

static void unknown_leaves_matter_only_where_used(void **state)
{
    (void)state;
    expr x = var(0), unknown = var(1);
    leaf_values[1] = NAN;
    expr less = bin(EXPR_LT, x, unknown);
    assert_true(isnan(value_at(less, 1.0)));
    assert_true(isnan(value_at(un(EXPR_NOT, less), 1.0)));
    expr positive = bin(EXPR_LT, num(0), x);
    assert_true(value_at(graph_select(g, positive, x, unknown), 1.0) == 1.0);
    assert_true(isnan(value_at(graph_select(g, positive, x, unknown), -1.0)));
    assert_true(isnan(value_at(graph_select(g, less, x, num(2)), 1.0)));
    assert_true(value_at(bin(EXPR_AND, positive, less), -1.0) == 0.0);
    assert_true(isnan(value_at(bin(EXPR_AND, positive, less), 1.0)));
    assert_true(value_at(bin(EXPR_OR, positive, less), 1.0) == 1.0);
    assert_true(isnan(value_at(bin(EXPR_OR, positive, less), -1.0)));
    assert_true(isnan(graph_value(g, EXPR_NONE, read_leaf, NULL)));
    leaf_values[1] = 0.0;
}

static void deep_chains_need_no_stack(void **state)
{
    (void)state;
    expr left = var(0), right = var(0);
    for (int i = 0; i < 1000000; i++) {
        left = bin(EXPR_SUB, left, var(1));
        right = un(EXPR_SIN, right);
    }
    leaf_values[1] = 1.0;
    assert_true(value_at(left, 5.0) == 5.0 - 1e6);
    visited v = {.count = 0};
    assert_true(graph_leaves(g, &right, 1, note_leaf, &v));
    assert_int_equal(v.count, 1);
    assert_int_not_equal(graph_substitute(g, right, replace_first, NULL), EXPR_NONE);
    char text[64];
    assert_int_equal(expr_print(g, left, NULL, NULL, text, sizeof text), sizeof text);
    assert_memory_equal(text, "x[0] - x[1] - x[1]", 18);
    assert_int_equal(expr_print(g, right, NULL, NULL, text, sizeof text), sizeof text);
    assert_memory_equal(text, "sin(sin(sin(", 12);
    assert_string_equal(text + 61, "..");
}

/* Small walks in a large graph stay small: 200000 of them here would take hours otherwise. */
static void small_walks_in_a_large_graph(void **state)
{
    (void)state;
    for (int i = 0; i < 500000; i++) un(EXPR_SIN, var(i));
    leaf_values[0] = 0.5;
    expr e = bin(EXPR_ADD, un(EXPR_EXP, var(0)), var(400000));
    for (int i = 0; i < 200000; i++) {
        assert_int_not_equal(graph_substitute(g, e, replace_first, NULL), EXPR_NONE);
        assert_true(graph_value(g, un(EXPR_EXP, var(0)), read_leaf, NULL) >= 0.0);
    }
}

/* ---- text ----------------------------------------------------------------------------------- */

static const char *name_of(void *context, const expr_node *leaf)
{
    static const char *const names[] = {"x", "y", "z", "w"};
    (void)context;
    if (leaf->op == EXPR_VARIABLE) return names[leaf->index];
    if (leaf->op == EXPR_PARAMETER) return "L";
    return leaf->op == EXPR_MEMORY ? "on" : NULL;
}

static void expect_text(expr e, const char *expected)
{
    char text[200];
    size_t length = expr_print(g, e, name_of, NULL, text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
}

static void text_of_sums_and_products(void **state)
{
    (void)state;
    expr x = var(0), y = var(1), z = var(2), sum = bin(EXPR_ADD, x, y);
    expect_text(bin(EXPR_ADD, sum, z), "x + y + z");
    expect_text(bin(EXPR_SUB, x, bin(EXPR_SUB, y, z)), "x - (y - z)");
    expect_text(bin(EXPR_SUB, sum, z), "x + y - z");
    expect_text(bin(EXPR_ADD, bin(EXPR_ADD, x, z), sum), "x + y + x + z");
    expect_text(bin(EXPR_MUL, sum, z), "z*(x + y)");
    expect_text(bin(EXPR_DIV, x, bin(EXPR_MUL, y, z)), "x/(y*z)");
    expect_text(bin(EXPR_DIV, bin(EXPR_MUL, x, y), z), "x*y/z");
    expect_text(bin(EXPR_DIV, x, bin(EXPR_DIV, y, z)), "x/(y/z)");
    expect_text(neg(bin(EXPR_MUL, x, y)), "-x*y");
    expect_text(neg(sum), "-(x + y)");
    expect_text(bin(EXPR_MUL, num(-2), x), "-2*x");
    expect_text(bin(EXPR_MUL, y, bin(EXPR_MUL, num(-2), x)), "-2*x*y");
    expect_text(bin(EXPR_SUB, bin(EXPR_MUL, num(-2), x), y), "-2*x - y");
    expect_text(bin(EXPR_SUB, x, num(3)), "x - 3");
    expect_text(bin(EXPR_ADD, num(-3), x), "x - 3");
    expect_text(bin(EXPR_SUB, num(3), x), "3 - x");
    expect_text(bin(EXPR_POW, x, num(-2)), "x^(-2)");
    expect_text(bin(EXPR_POW, sum, z), "(x + y)^z");
    expect_text(bin(EXPR_POW, bin(EXPR_POW, x, y), z), "(x^y)^z");
    expect_text(bin(EXPR_POW, x, bin(EXPR_POW, y, z)), "x^(y^z)");
    expect_text(bin(EXPR_POW, num(-2), x), "(-2)^x");
    expect_text(bin(EXPR_MUL, num(2), bin(EXPR_POW, x, num(0.5))), "2*x^0.5");
}

static void text_of_functions_and_branches(void **state)
{
    (void)state;
    expr x = var(0), y = var(1), on = graph_memory(g, 0), c = bin(EXPR_LT, x, y);
    expect_text(un(EXPR_SIN, bin(EXPR_ADD, x, y)), "sin(x + y)");
    expect_text(bin(EXPR_ATAN2, y, neg(x)), "atan2(y, -x)");
    expect_text(bin(EXPR_MAX, x, num(-1)), "max(x, -1)");
    expect_text(graph_variable(g, 0, 1), "der(x)");
    expect_text(graph_variable(g, 0, 2), "der(der(x))");
    expr length = graph_parameter(g, 0);
    expect_text(bin(EXPR_MUL, graph_time(g), length), "L*time");
    expect_text(graph_select(g, c, x, neg(y)), "if x < y then x else -y");
    expect_text(bin(EXPR_ADD, y, graph_select(g, on, x, num(1))), "y + (if on then x else 1)");
    expect_text(graph_select(g, c, x, graph_select(g, on, y, num(0))),
                "if x < y then x else if on then y else 0");
    expect_text(bin(EXPR_LT, num(0), x), "x > 0");
    expect_text(bin(EXPR_LE, num(0), neg(x)), "-x >= 0");
    expect_text(bin(EXPR_NE, x, num(-1)), "x <> -1");
    expect_text(bin(EXPR_AND, c, bin(EXPR_OR, on, bin(EXPR_EQ, x, y))), "x < y and (on or x == y)");
    expect_text(un(EXPR_NOT, bin(EXPR_AND, on, c)), "not (on and x < y)");
    expect_text(un(EXPR_NOT, c), "not x < y");
    char text[40];
    expr velocity = graph_variable(g, 7, 1);
    expr_print(g, bin(EXPR_ADD, velocity, graph_parameter(g, 2)), NULL, NULL, text, sizeof text);
    assert_string_equal(text, "der(x[7]) + p[2]");
}

static void text_of_numbers(void **state)
{
    (void)state;
    expect_text(num(0.1), "0.1");
    expect_text(num(1.0 / 3), "0.3333333333333333");
    expect_text(num(0.1 + 0.2), "0.30000000000000004");
    expect_text(num(1e20), "1e20");
    expect_text(num(-2.5e-7), "-2.5e-7");
    expect_text(num(100), "100");
    expect_text(num(0.05), "0.05");
    expect_text(num(5e-324), "5e-324");
    expect_text(num(1.7976931348623157e308), "1.7976931348623157e308");
    expect_text(num(-INFINITY), "-inf");
    expect_text(num(NAN), "nan");
    random_state = 3;
    for (int i = 0; i < 2000; i++) {
        char text[64];
        double value = ldexp((double)draw(1 << 24) + draw(1 << 24) / 16777216.0, draw(400) - 200);
        expr_print(g, num(value), NULL, NULL, text, sizeof text);
        assert_true(strtod(text, NULL) == value);
    }
}

/* 2^100 terms if written out: the text is cut, the work is bounded. */
static void text_is_cut_where_the_buffer_ends(void **state)
{
    (void)state;
    expr x = var(0), e = x;
    char text[12];
    for (int i = 0; i < 100; i++) {
        expr sine = un(EXPR_SIN, e);
        e = bin(EXPR_MUL, sine, un(EXPR_COS, e));
    }
    assert_int_equal(expr_print(g, e, name_of, NULL, text, sizeof text), sizeof text);
    assert_string_equal(text, "sin(sin(s..");
    e = bin(EXPR_ADD, x, var(1));
    assert_int_equal(expr_print(g, e, name_of, NULL, text, 6), 5);
    assert_string_equal(text, "x + y");
    assert_int_equal(expr_print(g, e, name_of, NULL, text, 5), 5);
    assert_string_equal(text, "x ..");
    assert_int_equal(expr_print(g, e, name_of, NULL, text, 1), 1);
    assert_string_equal(text, "");
    assert_int_equal(expr_print(g, e, name_of, NULL, text, 0), 0);
    assert_int_equal(expr_print(g, EXPR_NONE, name_of, NULL, text, 5), 0);
    assert_string_equal(text, "");
}

/* A variable is one node, whatever its number and order, also once a large table was released. */
static void variables_are_found_by_number(void **state)
{
    static const int index[] = {0, 1, 63, 64, 5000, (1 << 24) - 1, 1 << 24, INT32_MAX};
    enum { COUNT = sizeof index / sizeof *index, ORDERS = 4, MANY = 60000 };
    expr first[COUNT][ORDERS];
    const size_t before = graph_size(g);
    (void)state;
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < ORDERS; k++) first[i][k] = graph_variable(g, index[i], k);
    assert_int_equal(graph_size(g), before + COUNT * ORDERS);
    for (int i = 0; i < MANY; i++)
        graph_binary(g, EXPR_MUL, graph_variable(g, i, 0), graph_variable(g, i + 1, 1));
    const size_t size = graph_size(g);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < COUNT; i++)
            for (int k = 0; k < ORDERS; k++)
                assert_int_equal(graph_variable(g, index[i], k), first[i][k]);
        for (int i = 0; i < MANY; i++)
            graph_binary(g, EXPR_MUL, graph_variable(g, i, 0), graph_variable(g, i + 1, 1));
        assert_int_equal(graph_size(g), size);
        graph_tidy(g);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* A large graph finds its nodes again after graph_tidy, the first time and when it has grown. */
static void nodes_are_shared_after_tidying(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    for (int k = 0; k < COUNT; k++) graph_constant(g, 0.5 + k);
    const size_t size = graph_size(g);
    const expr first = graph_constant(g, 0.5), last = graph_constant(g, COUNT - 0.5);
    for (int round = 0; round < 2; round++) {
        graph_tidy(g);
        assert_int_equal(graph_constant(g, 0.5), first);
        assert_int_equal(graph_constant(g, COUNT - 0.5), last);
    }
    assert_int_equal(graph_size(g), size);
    graph_tidy(g);
    for (int k = 0; k < 2 * COUNT; k++) graph_constant(g, 0.5 + k);
    assert_int_equal(graph_size(g), size + COUNT);
    assert_false(graph_failed(g));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nodes_are_shared_after_tidying),
        TEST(variables_are_found_by_number),
        TEST(equal_builds_are_equal_nodes),
        TEST(a_million_nodes),
        TEST(the_limit_is_remembered),
        TEST(nothing_comes_of_nothing),
        TEST(neutral_elements_vanish),
        TEST(zeroth_powers),
        TEST(signs_move_out),
        TEST(domains_are_kept),
        TEST(finite_operands_cancel),
        TEST(errors_stay_visible),
        TEST(constants_fold_as_they_run),
        TEST(logic_folds),
        TEST(folding_keeps_values),
        TEST(sides_not_chosen_are_not_evaluated),
        TEST(substitution_maps_and_folds),
        TEST(substitution_by_constants_evaluates),
        TEST(leaves_come_once_in_order),
        TEST(unknown_leaves_matter_only_where_used),
        TEST(deep_chains_need_no_stack),
        TEST(small_walks_in_a_large_graph),
        TEST(text_of_sums_and_products),
        TEST(text_of_functions_and_branches),
        TEST(text_of_numbers),
        TEST(text_is_cut_where_the_buffer_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
