/* The constructors of the graph: which node an operation becomes. The rules, and why each keeps the
 * domain, are listed in docs/expressions.md. */
#include "expr/graph.h"
#include "expr/intern.h"
#include "expr/loop.h"

#include <math.h>

static const expr_node *at(const graph *g, expr e)
{
    return graph_node(g, e);
}

static bool has_op(const graph *g, expr e, expr_op op)
{
    return at(g, e)->op == op;
}

static expr unary_node(graph *g, expr_op op, expr a)
{
    return graph_intern(g, &(expr_node){.op = (uint8_t)op, .a = a});
}

static expr binary_node(graph *g, expr_op op, expr a, expr b)
{
    return graph_intern(g, &(expr_node){.op = (uint8_t)op, .a = a, .b = b});
}

/* The operation on constants, unless it makes NaN or Inf out of finite ones: then it stays, and
 * fails at run time where the user can be told the place. */
static bool fold(graph *g, expr_op op, expr a, expr b, expr *folded)
{
    if (!has_op(g, a, EXPR_CONSTANT) || (b && !has_op(g, b, EXPR_CONSTANT))) return false;
    double x = at(g, a)->value, y = b ? at(g, b)->value : 0.0;
    double value = graph_apply(op, x, y, 0.0);
    if (!isfinite(value) && isfinite(x) && isfinite(y)) return false;
    *folded = graph_constant(g, value);
    return true;
}

/* ---- signs ---------------------------------------------------------------------------------- */

static bool negative_constant(const graph *g, expr e)
{
    return has_op(g, e, EXPR_CONSTANT) && at(g, e)->value < 0.0;
}

/* Whether -e is as cheap as e without its sign: -x, -2, -2*x, -2/x */
static bool carries_minus(const graph *g, expr e)
{
    const expr_node *n = at(g, e);
    if (n->op == EXPR_NEG) return true;
    if (n->op == EXPR_MUL || n->op == EXPR_DIV) return negative_constant(g, n->a);
    return negative_constant(g, e);
}

/* -a */
static expr negate(graph *g, expr a)
{
    const expr_node *n = at(g, a);
    switch ((expr_op)n->op) {
    case EXPR_CONSTANT: return graph_constant(g, -n->value);
    case EXPR_NEG: return n->a;
    case EXPR_SUB: return graph_binary(g, EXPR_SUB, n->b, n->a);
    case EXPR_MUL:
    case EXPR_DIV:
        if (!has_op(g, n->a, EXPR_CONSTANT)) break;
        return graph_binary(g, n->op, graph_constant(g, -at(g, n->a)->value), n->b);
    default: break;
    }
    return unary_node(g, EXPR_NEG, a);
}

/* ---- one operand ---------------------------------------------------------------------------- */

static bool is_odd(expr_op op)
{
    return op == EXPR_SIN || op == EXPR_TAN || op == EXPR_ASIN || op == EXPR_ATAN ||
           op == EXPR_SINH || op == EXPR_TANH || op == EXPR_SIGN;
}

static bool is_even(expr_op op)
{
    return op == EXPR_COS || op == EXPR_COSH || op == EXPR_ABS;
}

/* not a: not (b == c) is b <> c also for NaN; not (b < c) stays, since NaN would tell. */
static expr invert(graph *g, expr a)
{
    const expr_node *n = at(g, a);
    switch ((expr_op)n->op) {
    case EXPR_NOT: return n->a;
    case EXPR_EQ: return binary_node(g, EXPR_NE, n->a, n->b);
    case EXPR_NE: return binary_node(g, EXPR_EQ, n->a, n->b);
    default: return unary_node(g, EXPR_NOT, a);
    }
}

/* Functions that leave the values of others alone: abs(abs), floor(floor), .. */
static bool is_idempotent(const graph *g, expr_op op, expr a)
{
    bool whole = has_op(g, a, EXPR_FLOOR) || has_op(g, a, EXPR_CEIL) || has_op(g, a, EXPR_SIGN);
    if (op == EXPR_FLOOR || op == EXPR_CEIL) return whole;
    return (op == EXPR_ABS || op == EXPR_SIGN) && has_op(g, a, op);
}

expr graph_unary(graph *g, expr_op op, expr a)
{
    expr folded;
    if (a == EXPR_NONE || graph_failed(g)) return EXPR_NONE;
    if (fold(g, op, a, EXPR_NONE, &folded)) return folded;
    if (op == EXPR_NEG) return negate(g, a);
    if (op == EXPR_NOT) return invert(g, a);
    if (is_idempotent(g, op, a)) return a;
    if (is_even(op) && carries_minus(g, a)) return graph_unary(g, op, negate(g, a));
    if (is_odd(op) && has_op(g, a, EXPR_NEG)) return negate(g, graph_unary(g, op, at(g, a)->a));
    return unary_node(g, op, a);
}

/* ---- two operands --------------------------------------------------------------------------- */

static void swap(expr *a, expr *b)
{
    expr t = *a;
    *a = *b;
    *b = t;
}

/* Commutative operands in order of their numbers, a constant last. */
static void sort_operands(const graph *g, expr *a, expr *b)
{
    bool constant_a = has_op(g, *a, EXPR_CONSTANT), constant_b = has_op(g, *b, EXPR_CONSTANT);
    if (constant_a != constant_b ? constant_a : *a > *b) swap(a, b);
}

/* a + b */
static expr add(graph *g, expr a, expr b)
{
    sort_operands(g, &a, &b);
    if (graph_is_number(g, b, 0.0)) return a;
    if (has_op(g, a, EXPR_NEG) && has_op(g, b, EXPR_NEG))
        return negate(g, graph_binary(g, EXPR_ADD, at(g, a)->a, at(g, b)->a));
    if (carries_minus(g, b)) return graph_binary(g, EXPR_SUB, a, negate(g, b));
    if (carries_minus(g, a)) return graph_binary(g, EXPR_SUB, b, negate(g, a));
    if (a == b) return graph_binary(g, EXPR_MUL, graph_constant(g, 2.0), a); /* exact */
    return binary_node(g, EXPR_ADD, a, b);
}

/* a - b */
static expr subtract(graph *g, expr a, expr b)
{
    if (graph_is_number(g, b, 0.0)) return a;
    if (graph_is_number(g, a, 0.0)) return negate(g, b);
    if (a == b && at(g, a)->finite) return graph_constant(g, 0.0);
    if (has_op(g, a, EXPR_NEG) && !carries_minus(g, b))
        return negate(g, graph_binary(g, EXPR_ADD, at(g, a)->a, b));
    if (carries_minus(g, b)) return graph_binary(g, EXPR_ADD, a, negate(g, b));
    return binary_node(g, EXPR_SUB, a, b);
}

/* p (q x) = (p q) x where p q is exact: one rounding less. Where q x overflows, the result does in
 * both ways if |q| <= 1 (it cannot) or |p| >= 1; the sizes keep the constants from underflow. */
static bool merge_factors(graph *g, expr c, expr x, expr *merged)
{
    const double tiny = 1e-100, huge = 1e100;
    const expr_node *n = at(g, x);
    if (n->op != EXPR_MUL || !has_op(g, n->a, EXPR_CONSTANT)) return false;
    double p = at(g, c)->value, q = at(g, n->a)->value, product = p * q;
    bool moderate = fabs(p) >= tiny && fabs(p) <= huge && fabs(q) >= tiny && fabs(q) <= huge;
    if (!moderate || fma(p, q, -product) != 0.0) return false;
    if (fabs(q) > 1.0 && fabs(p) < 1.0) return false;
    *merged = graph_binary(g, EXPR_MUL, graph_constant(g, product), n->b);
    return true;
}

/* a b, a constant first */
static expr multiply(graph *g, expr a, expr b)
{
    expr merged;
    sort_operands(g, &a, &b);
    if (has_op(g, b, EXPR_CONSTANT)) swap(&a, &b);
    if (graph_is_number(g, a, 1.0)) return b;
    if (graph_is_number(g, a, -1.0)) return negate(g, b);
    if (graph_is_number(g, a, 0.0) && at(g, b)->finite) return a;
    if (has_op(g, a, EXPR_CONSTANT) && has_op(g, b, EXPR_NEG))
        return graph_binary(g, EXPR_MUL, negate(g, a), at(g, b)->a);
    if (has_op(g, a, EXPR_CONSTANT) && merge_factors(g, a, b, &merged)) return merged;
    if (has_op(g, a, EXPR_NEG)) return negate(g, graph_binary(g, EXPR_MUL, at(g, a)->a, b));
    if (has_op(g, b, EXPR_NEG)) return negate(g, graph_binary(g, EXPR_MUL, a, at(g, b)->a));
    return binary_node(g, EXPR_MUL, a, b);
}

/* a/b; 0/b and b/b stay, for b may be 0 */
static expr divide(graph *g, expr a, expr b)
{
    if (graph_is_number(g, b, 1.0)) return a;
    if (graph_is_number(g, b, -1.0)) return negate(g, a);
    if (has_op(g, b, EXPR_NEG)) return graph_binary(g, EXPR_DIV, negate(g, a), at(g, b)->a);
    if (has_op(g, a, EXPR_NEG) && has_op(g, b, EXPR_CONSTANT))
        return graph_binary(g, EXPR_DIV, at(g, a)->a, negate(g, b));
    if (has_op(g, a, EXPR_NEG)) return negate(g, graph_binary(g, EXPR_DIV, at(g, a)->a, b));
    return binary_node(g, EXPR_DIV, a, b);
}

/* a^b: small whole powers become products, so that all engines agree and run fast. pow(x, 0) and
 * pow(1, x) are 1 in C also for NaN. a^0.5 is not sqrt(a): they differ at -Inf. */
static expr power(graph *g, expr a, expr b)
{
    expr folded;
    double exponent = NAN;
    graph_is_constant(g, b, &exponent);
    if (exponent == 0.0 || graph_is_number(g, a, 1.0)) return graph_constant(g, 1.0);
    if (exponent == 1.0) return a;
    if (exponent == -1.0) return graph_binary(g, EXPR_DIV, graph_constant(g, 1.0), a);
    if (exponent == 2.0 || exponent == 3.0 || exponent == 4.0) {
        expr square = graph_binary(g, EXPR_MUL, a, a);
        if (exponent == 2.0) return square;
        return graph_binary(g, EXPR_MUL, square, exponent == 3.0 ? a : square);
    }
    if (fold(g, EXPR_POW, a, b, &folded)) return folded;
    return binary_node(g, EXPR_POW, a, b);
}

/* Relations of an expression with itself: a < a is false also for NaN, a == a true for numbers. */
static bool relate_to_itself(graph *g, expr_op op, expr a, expr *truth)
{
    if (op != EXPR_LT && !at(g, a)->finite) return false;
    *truth = graph_constant(g, op == EXPR_LE || op == EXPR_EQ);
    return true;
}

static expr relate(graph *g, expr_op op, expr a, expr b)
{
    expr truth;
    if (op == EXPR_EQ || op == EXPR_NE) sort_operands(g, &a, &b);
    if (a == b && relate_to_itself(g, op, a, &truth)) return truth;
    return binary_node(g, op, a, b);
}

/* Whether the value is 0 or 1: leaves are not asked, since only their use tells. */
static bool is_boolean(const graph *g, expr e)
{
    return expr_is_truth(at(g, e)->op) || graph_is_number(g, e, 0.0) || graph_is_number(g, e, 1.0);
}

static bool complementary(graph *g, expr a, expr b)
{
    const expr_node *m = at(g, a), *n = at(g, b);
    if (m->op == EXPR_NOT && m->a == b) return true;
    if (n->op == EXPR_NOT && n->a == a) return true;
    bool opposite =
        (m->op == EXPR_EQ && n->op == EXPR_NE) || (m->op == EXPR_NE && n->op == EXPR_EQ);
    return opposite && m->a == n->a && m->b == n->b;
}

/* a and b, a or b. `decisive` settles the result whatever the other operand is. */
static expr combine(graph *g, expr_op op, expr a, expr b)
{
    double decisive = op == EXPR_OR ? 1.0 : 0.0;
    sort_operands(g, &a, &b);
    if (a == b) return a;
    if (has_op(g, b, EXPR_CONSTANT))
        return (at(g, b)->value != 0.0) == (decisive != 0.0) ? graph_constant(g, decisive) : a;
    if (complementary(g, a, b)) return graph_constant(g, decisive);
    return binary_node(g, op, a, b);
}

expr graph_binary(graph *g, expr_op op, expr a, expr b)
{
    expr folded;
    if (a == EXPR_NONE || b == EXPR_NONE || graph_failed(g)) return EXPR_NONE;
    if (op == EXPR_POW) return power(g, a, b);
    if (fold(g, op, a, b, &folded)) return folded;
    switch (op) {
    case EXPR_ADD: return add(g, a, b);
    case EXPR_SUB: return subtract(g, a, b);
    case EXPR_MUL: return multiply(g, a, b);
    case EXPR_DIV: return divide(g, a, b);
    case EXPR_MIN:
    case EXPR_MAX: sort_operands(g, &a, &b); return a == b ? a : binary_node(g, op, a, b);
    case EXPR_LT:
    case EXPR_LE:
    case EXPR_EQ:
    case EXPR_NE: return relate(g, op, a, b);
    case EXPR_AND:
    case EXPR_OR: return combine(g, op, a, b);
    default: return binary_node(g, op, a, b);
    }
}

/* ---- three operands ------------------------------------------------------------------------- */

/* The branch that `e` takes where the condition is known to hold, or not to. */
static expr branch_of(const graph *g, expr e, expr condition, bool holds)
{
    const expr_node *n = at(g, e);
    if (n->op != EXPR_SELECT || n->a != condition) return e;
    return holds ? n->b : n->c;
}

expr graph_select(graph *g, expr condition, expr a, expr b)
{
    double known;
    if (condition == EXPR_NONE || a == EXPR_NONE || b == EXPR_NONE || graph_failed(g))
        return EXPR_NONE;
    if (graph_is_constant(g, condition, &known)) return known != 0.0 ? a : b;
    if (has_op(g, condition, EXPR_NOT)) {
        condition = at(g, condition)->a;
        swap(&a, &b);
    }
    a = branch_of(g, a, condition, true);
    b = branch_of(g, b, condition, false);
    if (a == b) return a;
    if (is_boolean(g, condition) && graph_is_number(g, a, 1.0) && graph_is_number(g, b, 0.0))
        return condition;
    if (is_boolean(g, condition) && graph_is_number(g, a, 0.0) && graph_is_number(g, b, 1.0))
        return graph_unary(g, EXPR_NOT, condition);
    return graph_intern(g, &(expr_node){.op = EXPR_SELECT, .a = condition, .b = a, .c = b});
}

expr graph_build(graph *g, expr_op op, expr a, expr b, expr c)
{
    switch (graph_arity(op)) {
    case 1: return graph_unary(g, op, a);
    case 2: return graph_binary(g, op, a, b);
    case 3: return graph_select(g, a, b, c);
    default: return EXPR_NONE;
    }
}

expr graph_rebuild(graph *g, const expr_node *n, expr a, expr b, expr c)
{
    if (n->op == EXPR_SIGNAL) return graph_signal_node(g, n->index, n->order, a, b);
    if (n->op == EXPR_RESULT) return a == EXPR_NONE ? a : loop_result(g, a, n->index);
    if (n->op != EXPR_LIST && n->op != EXPR_LOOP) return graph_build(g, n->op, a, b, c);
    if (a == EXPR_NONE || (n->op == EXPR_LIST && b == EXPR_NONE)) return EXPR_NONE;
    if (n->op == EXPR_LIST) return binary_node(g, EXPR_LIST, a, b);
    return graph_intern(g, &(expr_node){.op = EXPR_LOOP, .index = n->index, .a = a});
}
