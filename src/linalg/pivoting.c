/* Complete pivoting: columns of a dense matrix that form a regular block. */
#include "linalg/pivoting.h"

#include <math.h>
#include <stddef.h>

typedef struct elimination {
    int rows, columns;
    double *A;
    int *row, *column; /* row i of A is row[i] as given, column j column[j] */
} elimination;

static double *entry(const elimination *e, int i, int j)
{
    return e->A + i + (size_t)e->column[j] * (size_t)e->rows;
}

/* Largest entry of rows and columns k.. of A, among required columns only if there are such. */
static double find_pivot(const elimination *e, int k, const bool *required, int *row, int *column)
{
    double most = -1.0;
    for (int j = k; j < e->columns; j++) {
        if (required && !required[e->column[j]]) continue;
        for (int i = k; i < e->rows; i++) {
            if (fabs(*entry(e, i, j)) <= most) continue;
            most = fabs(*entry(e, i, j));
            *row = i;
            *column = j;
        }
    }
    return most;
}

static void swap_ints(int *a, int *b)
{
    int keep = *a;
    *a = *b;
    *b = keep;
}

/* Steps 2 to 5: bring the pivot to (k,k), eliminate below it. */
static void eliminate(elimination *e, int k, int row, int column)
{
    swap_ints(&e->row[k], &e->row[row]);
    swap_ints(&e->column[k], &e->column[column]);
    for (int j = 0; row != k && j < e->columns; j++) {
        double keep = *entry(e, k, j);
        *entry(e, k, j) = *entry(e, row, j);
        *entry(e, row, j) = keep;
    }
    for (int i = k + 1; i < e->rows; i++) *entry(e, i, k) /= *entry(e, k, k);
    for (int j = k + 1; j < e->columns; j++) {
        double u = *entry(e, k, j);
        for (int i = k + 1; u != 0.0 && i < e->rows; i++) *entry(e, i, j) -= *entry(e, i, k) * u;
    }
}

select_status select_dense(int rows, int columns, double *A, const bool *required, double tolerance,
                           int *order, int *chosen, int *row, int *column)
{
    elimination e = {
        .rows = rows, .columns = columns, .A = A, .row = order, .column = order + rows};
    int count = 0, i = 0, j = 0;
    for (int k = 0; k < rows; k++) e.row[k] = k;
    for (int k = 0; k < columns; k++) e.column[k] = k;
    for (int k = 0; required && k < columns; k++) count += required[k];
    double least = tolerance * fmax(find_pivot(&e, 0, NULL, &i, &j), 1e-300);
    if (count > rows) count = rows + 1; /* one too many: the last step finds no row for it */
    for (int k = 0; k < rows || k < count; k++) {
        j = i = k;
        double pivot = find_pivot(&e, k, k < count ? required : NULL, &i, &j);
        if (!(pivot > least) && k < count) {
            for (j = k; !required[e.column[j]];) j++;
            *column = e.column[j];
            return SELECT_REQUIRED;
        }
        if (!(pivot > least)) {
            *row = e.row[i];
            return SELECT_DEPENDENT;
        }
        eliminate(&e, k, i, j);
        chosen[k] = e.column[k];
    }
    return SELECT_OK;
}
