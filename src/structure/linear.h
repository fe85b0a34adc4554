/* Whether equations are linear with constant coefficients, and their matrices. */
#ifndef DAE_STRUCTURE_LINEAR_H
#define DAE_STRUCTURE_LINEAR_H

#include "structure/equations.h"

typedef enum linear_status {
    LINEAR_YES = 0,
    LINEAR_NO, /* not linear, coefficients that vary, order above 1, or m != n */
    LINEAR_MEMORY
} linear_status;

/* B x' + A x = d(t): A and B (n x n by columns) at the parameters and memory of `at`, whose x is
 * not looked at. Partial derivatives must depend on neither time nor variables as expressions. */
linear_status equation_set_linear(const equation_set *set, const equation_point *at, double *A,
                                  double *B);

#endif
