#include "expr/partial.h"

bool partial_exists(expr_op op, int operand)
{
    if (expr_is_step(op)) return false;
    if (op == EXPR_SIGNAL) return operand == 0;
    return op == EXPR_SELECT ? operand > 0 : operand < graph_arity(op);
}

bool partial_branches(graph *g, expr e, expr *condition, expr *a, expr *b)
{
    const expr_node *n = graph_node(g, e);
    *a = n->op == EXPR_SELECT ? n->b : n->a;
    *b = n->op == EXPR_SELECT ? n->c : n->b;
    switch ((expr_op)n->op) {
    case EXPR_SELECT: *condition = n->a; return true;
    case EXPR_MIN: *condition = graph_binary(g, EXPR_LT, n->a, n->b); return true;
    case EXPR_MAX: *condition = graph_binary(g, EXPR_LT, n->b, n->a); return true;
    default: return false;
    }
}

/* Short names for building. */
static expr number(graph *g, double value)
{
    return graph_constant(g, value);
}

static expr add(graph *g, expr a, expr b)
{
    return graph_binary(g, EXPR_ADD, a, b);
}

static expr subtract(graph *g, expr a, expr b)
{
    return graph_binary(g, EXPR_SUB, a, b);
}

static expr times(graph *g, expr a, expr b)
{
    return graph_binary(g, EXPR_MUL, a, b);
}

static expr over(graph *g, expr a, expr b)
{
    return graph_binary(g, EXPR_DIV, a, b);
}

static expr minus(graph *g, expr a)
{
    return graph_unary(g, EXPR_NEG, a);
}

static expr of(graph *g, expr_op op, expr a)
{
    return graph_unary(g, op, a);
}

/* 1 + x^2 */
static expr one_plus_square(graph *g, expr x)
{
    return add(g, times(g, x, x), number(g, 1.0));
}

/* s / sqrt((1 - a)(1 + a)): no cancellation near |a| = 1 */
static expr over_arc(graph *g, expr s, expr a)
{
    expr one = number(g, 1.0);
    expr product = times(g, subtract(g, one, a), add(g, a, one));
    return over(g, s, of(g, EXPR_SQRT, product));
}

/* s * f'(a) for e = f(a); e itself is used where it occurs in f' */
static expr times_unary(graph *g, expr_op op, expr e, expr a, expr s)
{
    const double log_of_10 = 2.302585092994045684;
    switch (op) {
    case EXPR_NEG: return minus(g, s);
    case EXPR_ABS: return times(g, s, of(g, EXPR_SIGN, a));
    case EXPR_SQRT: return over(g, s, times(g, number(g, 2.0), e));
    case EXPR_EXP: return times(g, s, e);
    case EXPR_LOG: return over(g, s, a);
    case EXPR_LOG10: return over(g, s, times(g, number(g, log_of_10), a));
    case EXPR_SIN: return times(g, s, of(g, EXPR_COS, a));
    case EXPR_COS: return minus(g, times(g, s, of(g, EXPR_SIN, a)));
    case EXPR_TAN: return times(g, s, one_plus_square(g, e));
    case EXPR_ASIN: return over_arc(g, s, a);
    case EXPR_ACOS: return minus(g, over_arc(g, s, a));
    case EXPR_ATAN: return over(g, s, one_plus_square(g, a));
    case EXPR_SINH: return times(g, s, of(g, EXPR_COSH, a));
    case EXPR_COSH: return times(g, s, of(g, EXPR_SINH, a));
    case EXPR_TANH: return times(g, s, subtract(g, number(g, 1.0), times(g, e, e)));
    default: return number(g, 0.0);
    }
}

/* s * d(a/b)/db = -s e/b, sharing s/b with the derivative by a, or e with itself for 1/b */
static expr times_by_divisor(graph *g, expr e, expr a, expr b, expr s)
{
    double numerator = 0.0;
    bool constant = graph_is_constant(g, a, &numerator);
    if (numerator == 1.0) return minus(g, times(g, s, times(g, e, e)));
    if (constant) return minus(g, over(g, times(g, s, e), b));
    return minus(g, times(g, over(g, s, b), e));
}

/* s * b a^(b-1) */
static expr times_by_base(graph *g, expr a, expr b, expr s)
{
    expr lower = graph_binary(g, EXPR_POW, a, subtract(g, b, number(g, 1.0)));
    return times(g, s, times(g, b, lower));
}

/* s * a^b log a, and 0 at a = 0, where a^b stays 0 for all b > 0 */
static expr times_by_exponent(graph *g, expr e, expr a, expr s)
{
    expr zero = number(g, 0.0);
    expr product = times(g, s, times(g, e, of(g, EXPR_LOG, a)));
    return graph_select(g, graph_binary(g, EXPR_EQ, a, zero), zero, product);
}

/* s * d atan2(y, x): (x dy - y dx)/(x^2 + y^2) */
static expr times_angle(graph *g, expr y, expr x, int operand, expr s)
{
    expr square = add(g, times(g, y, y), times(g, x, x));
    if (operand == 0) return over(g, times(g, s, x), square);
    return minus(g, over(g, times(g, s, y), square));
}

expr partial_times(graph *g, expr e, int operand, expr seed)
{
    const expr_node *n = graph_node(g, e);
    expr a = n->a, b = n->b;
    switch ((expr_op)n->op) {
    case EXPR_ADD: return seed;
    case EXPR_SUB: return operand == 0 ? seed : minus(g, seed);
    case EXPR_MUL: return times(g, seed, operand == 0 ? b : a);
    case EXPR_DIV: return operand == 0 ? over(g, seed, b) : times_by_divisor(g, e, a, b, seed);
    case EXPR_POW:
        return operand == 0 ? times_by_base(g, a, b, seed) : times_by_exponent(g, e, a, seed);
    case EXPR_ATAN2: return times_angle(g, a, b, operand, seed);
    case EXPR_SIGNAL: return times(g, seed, graph_signal_node(g, n->index, n->order + 1, a, b));
    default: return times_unary(g, n->op, e, a, seed);
    }
}
