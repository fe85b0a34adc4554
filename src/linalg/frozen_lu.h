/* LU with a frozen pivot order: sparse refactorisations and solves by dense panels.
 *
 * KLU finds orderings and pivots; this keeps them and repeats the arithmetic for new values.
 * Columns of L with (almost) the same rows are gathered into supernodes and stored as dense panels,
 * so that the inner loops are contiguous, as in SuperLU. */
#ifndef DAE_LINALG_FROZEN_LU_H
#define DAE_LINALG_FROZEN_LU_H

#include "linalg/matrix.h"

/* L U + F = P D A Q, with D = the rows' scales: L unit lower, U upper, both block diagonal; F the
 * entries above the blocks. Patterns by columns, rows in any order; L and U with their diagonals.
 * All borrowed. */
typedef struct lu_pattern {
    const int *Lp, *Li, *Up, *Ui;
    const int *P, *Q; /* row and column k of the factors is row P[k], column Q[k] of A */
    const int *block; /* blocks+1: first column of each block */
    int blocks;
} lu_pattern;

typedef struct frozen_lu frozen_lu;

frozen_lu *frozen_new(const matrix_layout *layout, const lu_pattern *pattern); /* NULL: memory */
void frozen_free(frozen_lu *f);                                                /* NULL is fine */

/* Factor new values; returns the column of A whose pivot is zero or not finite, or -1. *growth =
 * min_j max|A(:,j)| / max|U(:,j)|, the reciprocal pivot growth with rows scaled to maximum 1. */
int frozen_factor(frozen_lu *f, const double *values, double *growth);

void frozen_solve(frozen_lu *f, double *b);           /* b := A^-1 b */
void frozen_solve_transpose(frozen_lu *f, double *b); /* b := A^-T b */

#endif
