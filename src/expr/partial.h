/* Partial derivatives of single operations, as derive.c and gradient.c both need them. */
#ifndef DAE_EXPR_PARTIAL_H
#define DAE_EXPR_PARTIAL_H

#include "expr/graph.h"

/* Whether the operation's value changes smoothly with operand 0, 1 or 2 at all: not for relations,
 * sign, floor, .., nor for the condition of SELECT. */
bool partial_exists(expr_op op, int operand);

/* Operations that pass one operand on: SELECT, MIN and MAX. e is *a where the condition holds and
 * *b elsewhere. false: not such an operation. */
bool partial_branches(graph *g, expr e, expr *condition, expr *a, expr *b);

/* seed * d e / d operand, for the other operations. Constant 0 where that is identically 0;
 * EXPR_NONE: memory. */
expr partial_times(graph *g, expr e, int operand, expr seed);

#endif
