/* Random expressions, the same on every machine, for tests and measurements of src/expr. */
#ifndef EXPR_RANDOM_H
#define EXPR_RANDOM_H

#include "expr/graph.h"

enum { RANDOM_VARIABLES = 6, RANDOM_PARAMETERS = 4, RANDOM_MEMORIES = 3 };

typedef struct random_source {
    uint64_t state;
} random_source;

/* Uniform in 0 .. n-1: the upper bits of a linear congruence modulo 2^64. */
static inline int random_below(random_source *s, int n)
{
    s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((s->state >> 33) % (uint64_t)n);
}

/* Uniform in [low, high) */
static inline double random_between(random_source *s, double low, double high)
{
    return low + (high - low) * (random_below(s, 1 << 30) / (double)(1 << 30));
}

static inline expr random_leaf(graph *g, random_source *s)
{
    switch (random_below(s, 8)) {
    case 0: return graph_constant(g, random_between(s, -2.0, 2.0));
    case 1: return graph_parameter(g, random_below(s, RANDOM_PARAMETERS));
    case 2: return graph_memory(g, random_below(s, RANDOM_MEMORIES));
    case 3: return graph_time(g);
    default: return graph_variable(g, random_below(s, RANDOM_VARIABLES), random_below(s, 3));
    }
}

/* Any operation on any values, with `depth` levels at most. */
static inline expr random_wild(graph *g, random_source *s, int depth)
{
    if (depth == 0 || random_below(s, 8) == 0) return random_leaf(g, s);
    int op = EXPR_NEG + random_below(s, EXPR_OP_COUNT - EXPR_NEG);
    if (random_below(s, 3) == 0) op = EXPR_ADD + random_below(s, 3); /* as models have them */
    expr a = random_wild(g, s, depth - 1);
    if (graph_arity((expr_op)op) == 1) return graph_unary(g, (expr_op)op, a);
    expr b = random_wild(g, s, depth - 1);
    if (graph_arity((expr_op)op) == 2) return graph_binary(g, (expr_op)op, a, b);
    return graph_select(g, a, b, random_wild(g, s, depth - 1));
}

/* 2 + a^2, where roots, logarithms, quotients and powers are at home */
static inline expr random_positive(graph *g, expr a)
{
    return graph_binary(g, EXPR_ADD, graph_constant(g, 2.0), graph_binary(g, EXPR_MUL, a, a));
}

/* A smooth function of a that is defined everywhere and does not grow fast. */
static inline expr random_smooth_unary(graph *g, random_source *s, expr a)
{
    static const expr_op bounded[] = {EXPR_SIN, EXPR_COS, EXPR_ATAN, EXPR_TANH};
    static const expr_op positive[] = {EXPR_SQRT, EXPR_LOG, EXPR_LOG10};
    static const expr_op small[] = {EXPR_EXP, EXPR_SINH, EXPR_COSH, EXPR_ASIN, EXPR_ACOS, EXPR_TAN};
    switch (random_below(s, 3)) {
    case 0: return graph_unary(g, bounded[random_below(s, 4)], a);
    case 1: return graph_unary(g, positive[random_below(s, 3)], random_positive(g, a));
    default: /* |argument| < 3/4 */
        a = graph_binary(g, EXPR_MUL, graph_constant(g, 0.75), graph_unary(g, EXPR_SIN, a));
        return graph_unary(g, small[random_below(s, 6)], a);
    }
}

static inline expr random_smooth_binary(graph *g, random_source *s, expr a, expr b)
{
    switch (random_below(s, 8)) {
    case 0:
    case 1: return graph_binary(g, EXPR_ADD, a, b);
    case 2: return graph_binary(g, EXPR_SUB, a, b);
    case 3:
    case 4: return graph_binary(g, EXPR_MUL, graph_unary(g, EXPR_SIN, a), b);
    case 5: return graph_binary(g, EXPR_DIV, a, random_positive(g, b));
    case 6:
        return graph_binary(g, EXPR_POW, random_positive(g, graph_unary(g, EXPR_SIN, a)),
                            graph_unary(g, EXPR_COS, b));
    default: return graph_binary(g, EXPR_ATAN2, a, random_positive(g, b));
    }
}

/* Smooth everywhere, so that derivatives of every kind can be compared. */
static inline expr random_smooth(graph *g, random_source *s, int depth)
{
    if (depth == 0 || random_below(s, 8) == 0) return random_leaf(g, s);
    expr a = random_smooth(g, s, depth - 1);
    if (random_below(s, 5) < 2) return random_smooth_unary(g, s, a);
    return random_smooth_binary(g, s, a, random_smooth(g, s, depth - 1));
}

#endif
