/* ||A^-1||_1, estimated from solutions. */
#ifndef DAE_LINALG_INVERSE_NORM_H
#define DAE_LINALG_INVERSE_NORM_H

#include "linalg/linear_solver.h"

/* Estimate with Higham's method [Hig88]: `solve` and `solve_transpose` do b := A^-1 b and A^-T b
 * for the factors of a solver; work has room for 2n numbers, iwork for n. */
double inverse_norm(linear_solver *solver, void (*solve)(linear_solver *, double *),
                    void (*solve_transpose)(linear_solver *, double *), double *work, int *iwork);

/* 1 / (norm ||A^-1||), at most 1 */
static inline double reciprocal_condition(double norm, double inverse)
{
    const double rcond = 1.0 / norm / inverse;
    return rcond <= 1.0 ? rcond : 1.0;
}

#endif
