/* Matrix layouts: dense, banded and compressed columns, as flat arrays of values.
 *
 * All matrices of a problem (dF/dy, dF/dy', their combination) share one layout, so that the
 * iteration matrix is a flat scaled sum of value arrays. */
#ifndef DAE_LINALG_MATRIX_H
#define DAE_LINALG_MATRIX_H

#include "base/persist.h"
#include "daedal.h"

typedef struct matrix_layout {
    dae_structure kind; /* DENSE, BANDED or SPARSE; never AUTO */
    int n;
    int lower, upper; /* BANDED: element (i,j) at [upper + i - j + j*(lower+upper+1)] */
    int *colptr;      /* SPARSE: n+1, owned; rows strictly increasing within a column */
    int *rowind;      /* SPARSE: colptr[n], owned */
    size_t count;     /* number of stored values */
} matrix_layout;

/* Build a layout; false when memory is exhausted. The CSC pattern is copied as is. */
bool layout_dense(matrix_layout *layout, int n);
bool layout_banded(matrix_layout *layout, int n, int lower, int upper);
bool layout_sparse(matrix_layout *layout, int n, const int *colptr, const int *rowind);
bool layout_copy(matrix_layout *layout, const matrix_layout *source);
void layout_free(matrix_layout *layout); /* leaves it zeroed */
void layout_persist(matrix_layout *layout, persist *p);

/* The stored part of column j: row numbers and where its values lie, for any kind of layout. */
typedef struct matrix_column {
    int count;       /* stored entries that belong to the matrix */
    size_t first;    /* position of the first of them among the values; they are contiguous */
    int top;         /* DENSE, BANDED: rows are top, top+1, .. */
    const int *rows; /* SPARSE: the rows; else NULL */
} matrix_column;

matrix_column layout_column(const matrix_layout *layout, int j);

/* Row of the k-th stored entry of a column. */
static inline int column_row(const matrix_column *column, int k)
{
    return column->rows ? column->rows[k] : column->top + k;
}

/* Where entry (row, j) lies among the values; SIZE_MAX: it is not stored. */
size_t layout_place(const matrix_layout *layout, int row, int j);

/* Check a user's CSC pattern: returns NULL if sound, else a static text of what is wrong, with the
 * column concerned in *column. Rows must be in range, sorted and without duplicates. */
const char *pattern_check(int n, const int *colptr, const int *rowind, int *column);

/* Bandwidths of a pattern. */
void pattern_bandwidth(const matrix_layout *layout, int *lower, int *upper);

/* First column with an entry that is not finite, or -1. */
int matrix_nonfinite_column(const matrix_layout *layout, const double *values);

/* ||A||_1 */
double matrix_one_norm(const matrix_layout *layout, const double *values);

/* y = A x */
void matrix_multiply(const matrix_layout *layout, const double *values, const double *x, double *y);

/* A(:,j)' x */
double matrix_column_dot(const matrix_layout *layout, int j, const double *values, const double *x);

/* C = a A + b B on one layout; C must not overlap A or B */
void matrix_combine(const matrix_layout *layout, double a, const double *A, double b,
                    const double *B, double *C);

/* C(:,j) = a[j] A(:,j) + b[j] B(:,j); C must not overlap A or B */
void matrix_combine_columns(const matrix_layout *layout, const double *a, const double *A,
                            const double *b, const double *B, double *C);

/* A(i,:) *= r[i] */
void matrix_scale_rows(const matrix_layout *layout, const double *r, double *A);

/* row_max[i] = max_j |A(i,j)|, column_max[j] = max_i |A(i,j)|; either may be NULL */
void matrix_extents(const matrix_layout *layout, const double *A, double *row_max,
                    double *column_max);

#endif
