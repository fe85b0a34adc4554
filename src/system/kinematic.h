/* Rows y_i' = y_j of residual forms: found, chosen and kept with a problem (second_order.h). */
#ifndef DAE_SYSTEM_KINEMATIC_H
#define DAE_SYSTEM_KINEMATIC_H

#include "expr/graph.h"
#include "system/second_order.h"

/* The problem's kinematic rows, in place of those it had: of the candidates those that make pairs,
 * in which no unknown is a velocity and no velocity serves twice. Of a chain q' = v, v' = a it is q
 * and v. False: memory. */
bool kinematic_keep(dae_problem *p, int count, const kinematic_row *candidates);

/* Whether a row of a model, over y_i and y_i', is c (y_i' - y_j) with a constant c; row is left. */
bool kinematic_of_expression(const graph *g, expr row, kinematic_row *found);

/* Rows that the user's `velocity` promised (row -1), found by looking at F around a point. After
 * EVAL_OK *missing is the first of them that no row says, or -1. Calls are counted as those for
 * Jacobians. */
eval_status kinematic_find(evaluator *eval, double t, const double *y, const double *yp, int count,
                           kinematic_row *rows, int *missing);

#endif
