/* Elimination of small sparse matrices by lists: which value is subtracted from which is written
 * down once for a pattern and an order of pivots, as generators of code for chemical kinetics do
 * [DSDPC02], and run for new values. Real and complex factors share one shape. */
#ifndef DAE_LINALG_ELIMINATION_SHAPE_H
#define DAE_LINALG_ELIMINATION_SHAPE_H

#include "base/persist.h"
#include "linalg/matrix.h"

#include <stdatomic.h>

/* The part of a matrix that is not eliminated yet, by lists of its rows and columns. The lists of a
 * row and column that have been a pivot's are those of U and L, without the pivot. */
typedef struct active_part {
    int n;
    int *in_row, *in_column; /* n: lengths of the lists */
    int *column_of, *row_of; /* n x n: columns of row i from i n on, rows of column j from j n on */
    bool *stored;            /* n x n: whether there is an entry (i,j), at i n + j */
    int *pivot_row, *pivot_column; /* n: in the order of elimination; -1: not yet */
    bool *gone;                    /* n: column has been a pivot's */
} active_part;

bool active_new(active_part *a, const matrix_layout *pattern); /* false: memory */
void active_free(active_part *a);
/* Entry (p, q) is pivot k: row p and column q leave the lists of the others, fill-in joins them. */
void active_eliminate(active_part *a, int k, int p, int q);

/* Operations of an elimination: multiplications to factor, and to solve */
typedef struct elimination_work {
    double factor, solve;
    bool possible; /* false: every matrix of this pattern is singular */
} elimination_work;

/* Counted for Markowitz' order on the pattern alone; false: memory */
bool elimination_count(const matrix_layout *pattern, elimination_work *work);

/* Largest matrices for which an order is looked for: the search takes a time of order n nnz(A), at
 * n = 100 three times as long as KLU's. */
enum { ELIMINATION_MOST = 100 };

/* Whether lists of operations beat dense LU on this pattern, by the counted operations and what one
 * takes in either; false: memory */
bool elimination_pays(const matrix_layout *pattern, bool *pays);

/* Step k takes 1 + lower[k] + upper[k] values: the pivot, column k of L and row k of U. */
typedef struct elimination_shape {
    atomic_int references;
    int n;
    size_t values, multipliers; /* of the factors, and of L alone */
    size_t targets, count;      /* products; values of A */
    int *lower, *upper;         /* n */
    int *index;        /* values: row of an entry of L, column of one of U, as pivots count */
    int *target;       /* what L(i,k) U(k,j) is subtracted from, in the order of elimination */
    int *place, *home; /* where a value of A goes; its row */
    int *row, *column; /* n: pivot k is entry (row[k], column[k]) of A */
} elimination_shape;

/* For the pivots of `done`; NULL: memory */
elimination_shape *elimination_shape_new(const matrix_layout *layout, const active_part *done);
/* Of each multiplier L(i,k): scale_i / scale_k for scales of the rows of A, 0 where row k has no
 * other entry */
void elimination_weights(const elimination_shape *s, const double *scale, double *weight);
/* Whether both have the same pattern and order, so that the same operations serve them. */
bool elimination_shape_equal(const elimination_shape *a, const elimination_shape *b);
/* About the ns that lists take for it, real and complex */
void elimination_times(const elimination_shape *s, long factor[2], long solve[2]);
elimination_shape *elimination_shape_share(elimination_shape *s); /* one more owner */
void elimination_shape_free(elimination_shape *s);                /* one owner less; NULL is fine */
/* Save a shape; reading: *s is a new one of the same pattern, NULL where that fails. */
void elimination_shape_persist(elimination_shape **s, const matrix_layout *layout, persist *p);

#endif
