/* Whether the rows of a sparse matrix with at least as many columns are independent, by a square
 * part of it that is well conditioned: a proof where it is found, at the cost of one sparse LU. */
#ifndef DAE_LINALG_ROW_BASIS_H
#define DAE_LINALG_ROW_BASIS_H

typedef enum basis_status {
    BASIS_FOUND,     /* the rows are independent */
    BASIS_NOT_FOUND, /* nothing is known */
    BASIS_MEMORY
} basis_status;

/* A is m x n by columns, its rows scaled to a largest entry of 1; the part's reciprocal condition
 * has to be above rcond. */
basis_status row_basis(int m, int n, const int *colptr, const int *rowind, const double *values,
                       double rcond);

#endif
