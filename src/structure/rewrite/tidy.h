/* Equations for the eye: like terms collected, denominators and common factors removed. */
#ifndef DAE_STRUCTURE_REWRITE_TIDY_H
#define DAE_STRUCTURE_REWRITE_TIDY_H

#include "expr/graph.h"

/* An expression that is zero where e is, away from zeros of denominators and of factors without
 * variables: left - right, each a sum of products. e itself if it is too large for that; EXPR_NONE:
 * memory. */
expr tidy_equation(graph *g, expr e);

/* The same value as a sum of products, like terms collected. */
expr tidy_sum(graph *g, expr e);

#endif
