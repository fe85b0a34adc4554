/* Gaussian elimination with complete pivoting, to choose columns. */
#ifndef DAE_LINALG_PIVOTING_H
#define DAE_LINALG_PIVOTING_H

#include <stdbool.h>

typedef enum select_status {
    SELECT_OK = 0,
    SELECT_DEPENDENT, /* a constraint depends on others: *row */
    SELECT_REQUIRED,  /* Criterion 3.6 cannot be met: *column is not determined by g */
    SELECT_MEMORY
} select_status;

/* Procedure 3.11 of [Baese17]: chosen[k], k < rows, are columns that form a regular block, with all
 * the required ones (NULL: none is). A (by columns) is overwritten; order has rows + columns
 * entries of work. Pivots below tolerance * max |A| count as 0. */
select_status select_dense(int rows, int columns, double *A, const bool *required, double tolerance,
                           int *order, int *chosen, int *row, int *column);

#endif
