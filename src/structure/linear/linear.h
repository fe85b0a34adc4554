/* Whether equations are linear with constant coefficients, and their matrices. */
#ifndef DAE_STRUCTURE_LINEAR_LINEAR_H
#define DAE_STRUCTURE_LINEAR_LINEAR_H

#include "structure/index/equations.h"

typedef enum linearity {
    LINEARITY_CONSTANT = 0,
    LINEARITY_NONE,   /* not linear, coefficients that vary, order above 1, or m != n */
    LINEARITY_UNKNOWN /* memory */
} linearity;

/* B x' + A x = d(t): A and B (n x n by columns) at the parameters and memory of `at`, whose x is
 * not looked at. Partial derivatives must depend on neither time nor variables as expressions. */
linearity equation_set_linear(const equation_set *set, const equation_point *at, double *A,
                              double *B);

#endif
