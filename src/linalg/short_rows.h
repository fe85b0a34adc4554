/* Rows with at most two entries, eliminated before a dense complex factorisation.
 *
 * Of rows like q' = v, a x_p + c x_o = b, x_p is put into all other rows, at the cost of one column
 * each, and a matrix of n - count rows is left to factor (RADAU5 does the same where
 * it is told of second order equations [HW96 IV.8]). The larger one of the two entries is the
 * pivot, so that nothing grows. */
#ifndef DAE_LINALG_SHORT_ROWS_H
#define DAE_LINALG_SHORT_ROWS_H

#include "base/persist.h"

#include <stdbool.h>

typedef struct short_row {
    int row, pivot, other;         /* other = -1: one entry only */
    double inverse_re, inverse_im; /* 1 / A(row, pivot) */
    double factor_re, factor_im;   /* A(row, other) / A(row, pivot) */
} short_row;

typedef struct short_rows {
    int n, count;        /* of the matrix, and of such rows */
    bool searched, none; /* there were none at the first search: there will be no other */
    short_row *rows;     /* n */
    int *kept_row;       /* n - count: rows and columns that are left */
    int *kept_column;
    int *entries;                /* n: work, twice */
    double *re, *im;             /* n*n: the matrix in hand */
    double *pivot_re, *pivot_im; /* count columns of n - count values: A(kept_row, pivot) */
} short_rows;

bool short_rows_new(short_rows *s, int n); /* false: memory; free it even then */
void short_rows_free(short_rows *s);
void short_rows_persist(short_rows *s, persist *p); /* what was eliminated */

/* Eliminate the short rows of A = re + i im (n*n by columns); what is left comes in columns of ld
 * >= n - count values, filled with zeros. Returns count; 0: there are none, and nothing was
 * written. */
int short_rows_reduce(short_rows *s, const double *re, const double *im);
void short_rows_left(const short_rows *s, int ld, double *re, double *im);

/* (xr, xi) := right-hand side for the matrix that is left, b := what the eliminated rows keep; and
 * b
 * := the solution from that of the matrix that is left. */
void short_rows_forward(const short_rows *s, double *br, double *bi, double *xr, double *xi);
void short_rows_back(const short_rows *s, const double *xr, const double *xi, double *br,
                     double *bi);

#endif
