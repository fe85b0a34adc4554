/* A largest set of entries of a sparse matrix, no two in one row or column. */
#ifndef DAE_LINALG_TRANSVERSAL_H
#define DAE_LINALG_TRANSVERSAL_H

#include <stdbool.h>

/* column_of[i]: the column of row i, or -1; m rows, n columns, pattern by columns. Where there is a
 * choice, a column takes the first of its rows; with `diagonal` the one of its own number, so that
 * a symmetric pattern stays one. Returns how many rows have a column, or -1: memory. *steps (or
 * NULL) := entries looked at. */
int transversal(int m, int n, const int *colptr, const int *rowind, bool diagonal, int *column_of,
                long *steps);

#endif
