/* Short names for nodes of one graph, which a test makes and frees. */
#ifndef TEST_EXPR_BUILD_H
#define TEST_EXPR_BUILD_H

#include "expr/graph.h"

static graph *g;

static inline expr num(double value)
{
    return graph_constant(g, value);
}

static inline expr var(int index)
{
    return graph_variable(g, index, 0);
}

static inline expr un(expr_op op, expr a)
{
    return graph_unary(g, op, a);
}

static inline expr bin(expr_op op, expr a, expr b)
{
    return graph_binary(g, op, a, b);
}

#endif
