/* Scaling of a matrix by a matching of largest product. */
#ifndef DAE_STRUCTURE_REWRITE_MATCHED_SCALE_H
#define DAE_STRUCTURE_REWRITE_MATCHED_SCALE_H

#include "structure/index/signature.h"

/* Powers of two that bring the entries of a matching, one in each row and column, to about 1 and
 * all others to 1 or less: the duals of the assignment of largest product [DK01]. It does not
 * depend on units of rows and columns. Where maxima alone are brought to 1, the conductance g of x
 * = y, f = g x, f + h = 0, h = g y stays beside entries 1, and is rounding to a rank. */
typedef struct matched_scale {
    signature weight;         /* exponents of the entries, shifted to be positive; owned */
    struct assignment *found; /* owned */
    int *rows;                /* 0, 1, ..; owned */
    int row, count;           /* of the matrix that comes: the row at hand, entries so far */
} matched_scale;

/* Room for matrices of up to n rows and so many entries. Zero-initialise; false: memory. */
bool matched_scale_new(matched_scale *m, int n, int entries);
void matched_scale_free(matched_scale *m);

/* A matrix of n rows comes entry by entry, row by row. No allocation. */
void matched_scale_begin(matched_scale *m, int n);
void matched_scale_add(matched_scale *m, int i, int j, double value);
/* row_i value_ij column_j is scaled. False: there is no matching, or it is beyond the range. */
bool matched_scale_end(matched_scale *m, double *row, double *column);

#endif
