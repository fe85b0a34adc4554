/* Whether a symmetric matrix is positive, where that is little work. */
#ifndef DAE_LINALG_INERTIA_H
#define DAE_LINALG_INERTIA_H

#include <stdbool.h>

/* A, n x n by columns, := what elimination by the diagonal leaves of it. Returns the row of the
 * first pivot that is negative beyond rounding, or with `zero` also of one that vanishes; -1: none
 * is, A is positive semidefinite or definite. */
int inertia_bad_pivot(int n, double *A, bool zero);

#endif
