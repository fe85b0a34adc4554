/* Dense minimum-norm least squares, rank revealing (LAPACK gelsy / QR with column pivoting). */
#ifndef DAE_LINALG_LEAST_SQUARES_H
#define DAE_LINALG_LEAST_SQUARES_H

#include <stdbool.h>

typedef struct least_squares {
    int rows, columns;
    int rank;     /* found by the last call */
    double *work; /* owned */
    int *pivots;  /* owned */
    int work_size;
} least_squares;

bool least_squares_new(least_squares *ls, int max_rows, int max_columns);
void least_squares_free(least_squares *ls);

/* x = argmin ||x|| over argmin ||A x - b||; A is rows x columns, column-major with leading
 * dimension rows, overwritten; b has max(rows, columns) entries, overwritten by x. Singular values
 * below rcond times the largest count as zero. False on memory exhaustion inside LAPACK. */
bool least_squares_solve(least_squares *ls, int rows, int columns, double *A, double *b,
                         double rcond);

/* B = the pseudo-inverse of A (columns x rows, leading dimension max(rows, columns)): what
 * least_squares_solve multiplies b by. A is overwritten. */
bool least_squares_inverse(least_squares *ls, int rows, int columns, double *A, double *B,
                           double rcond);

#endif
