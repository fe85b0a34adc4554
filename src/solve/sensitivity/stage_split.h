/* All stages of a collocation step on linear equations F_Y S + F_Y' S' + F_p = 0 whose derivatives
 * are the same at all of them. With A^-1 = T Lambda T^-1 of the method
 *
 *     M = I x F_Y + (1/h) A^-1 x F_Y' = (T x I) (I x F_Y + (1/h) Lambda x F_Y') (T^-1 x I)
 *
 * falls apart into a real system and complex ones of the size of one stage [HW96 IV.8]. So does its
 * transpose: there T^-T, T^T and the conjugates of Lambda take their places. */
#ifndef DAE_SOLVE_SENSITIVITY_STAGE_SPLIT_H
#define DAE_SOLVE_SENSITIVITY_STAGE_SPLIT_H

#include "linalg/linear_solver.h"
#include "method/common/collocation.h"

typedef struct stage_split stage_split;

/* For F_Y and F_Y' on the layout `of`; m has one real eigenvalue. NULL: memory. */
stage_split *stage_split_new(const matrix_layout *of, const collocation *m, bool transposed);
void stage_split_free(stage_split *q); /* NULL is fine */

/* Factors for these derivatives and a step of length h: those at hand where they are of the same.
 * *anew: they are not. */
linear_status stage_split_factor(stage_split *q, const double *fy, const double *fyp, double h,
                                 bool *anew);
/* b := M^-1 b, or M^-T b, for n s values; work has as many. */
void stage_split_solve(const stage_split *q, double *b, double *work);
/* b := (F_Y + (gamma/h) F_Y')^-1 b for n values; not of a transposed one. */
void stage_split_filter(const stage_split *q, double *b);

#endif
