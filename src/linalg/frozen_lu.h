/* LU with a frozen pivot order: sparse refactorisations and solves by dense panels.
 *
 * KLU finds orderings and pivots; this keeps them and repeats the arithmetic for new values, on
 * panels (frozen_shape.h), so that the inner loops are contiguous. */
#ifndef DAE_LINALG_FROZEN_LU_H
#define DAE_LINALG_FROZEN_LU_H

#include "linalg/frozen_shape.h"

typedef struct frozen_lu frozen_lu;

frozen_lu *frozen_new(const matrix_layout *layout, const lu_pattern *pattern); /* NULL: memory */
void frozen_free(frozen_lu *f);                                                /* NULL is fine */
frozen_shape *frozen_shape_of(frozen_lu *f);

/* Factor new values; returns the column of A whose pivot is zero or not finite, or -1. *growth =
 * min_j max|A(:,j)| / max|U(:,j)|, the reciprocal pivot growth with rows scaled to maximum 1. */
int frozen_factor(frozen_lu *f, const double *values, double *growth);

void frozen_solve(frozen_lu *f, double *b);           /* b := A^-1 b */
void frozen_solve_transpose(frozen_lu *f, double *b); /* b := A^-T b */

#endif
