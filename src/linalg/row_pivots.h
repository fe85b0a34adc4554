/* A column for every row of a sparse matrix with more columns than rows, such that these columns
 * form a regular block; or a row that depends on others.
 *
 * Sparse elimination, the shortest row first. In the order of a chain every row would be filled
 * with the freedom of all rows before it, n^2 entries; shortest rows first take every second link,
 * then every second of those that are left, and n log n entries. */
#ifndef DAE_LINALG_ROW_PIVOTS_H
#define DAE_LINALG_ROW_PIVOTS_H

#include <stdbool.h>
#include <stddef.h>

/* All borrowed. Rows are to be scaled to a largest entry of 1. */
typedef struct row_pivots_matrix {
    int rows, columns;
    const int *rowptr, *colind; /* row i has columns colind[rowptr[i] ..] */
    const double *values;
    const double *eager; /* per column: how much it counts; NULL: 1 */
    const int *group;    /* per row: rows of higher groups come first; NULL: one group */
} row_pivots_matrix;

typedef enum row_pivots_status {
    ROW_PIVOTS_FOUND,
    ROW_PIVOTS_DEPENDENT, /* row *dependent depends on rows before it */
    ROW_PIVOTS_FILLED,    /* more than `most` entries, or no memory for them */
} row_pivots_status;

/* pivot[i]: the column of row i. Entries up to `tolerance` count as 0. *fill (or NULL) := entries
 * of the eliminated rows. */
row_pivots_status row_pivots(const row_pivots_matrix *m, double tolerance, size_t most, int *pivot,
                             int *dependent, size_t *fill);

#endif
