/* Linear systems over expressions: A X = B by elimination on the graph, whose shared nodes keep the
 * result as small as the elimination is long. */
#ifndef DAE_STRUCTURE_REWRITE_SYMBOLIC_SOLVE_H
#define DAE_STRUCTURE_REWRITE_SYMBOLIC_SOLVE_H

#include "expr/graph.h"

/* B := A^-1 B. A: n x n, B: n x columns, by rows, EXPR_NONE for zeros; A is overwritten. Pivots are
 * on the diagonal, in an order that fills in little: for matrices that are, up to factors of their
 * rows, symmetric and positive definite, this does at every point. False: a pivot is missing, or
 * memory. */
bool symbolic_solve(graph *g, int n, expr *A, int columns, expr *B);

#endif
