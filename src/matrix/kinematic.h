/* Rows y_i' = y_j of residual forms: found by the text of a model, or by looking at F. */
#ifndef DAE_MATRIX_KINEMATIC_H
#define DAE_MATRIX_KINEMATIC_H

#include "expr/graph.h"
#include "matrix/second_order.h"

/* Whether a row of a model, over y_i and y_i', is c (y_i' - y_j) with a constant c; row is left. */
bool kinematic_of_expression(const graph *g, expr row, kinematic_row *found);

/* Rows that the user's `velocity` promised (row -1), found by looking at F around a point. After
 * EVAL_OK *missing is the first of them that no row says, or -1. Calls are counted as those for
 * Jacobians. */
eval_status kinematic_find(evaluator *eval, double t, const double *y, const double *yp, int count,
                           kinematic_row *rows, int *missing);

#endif
