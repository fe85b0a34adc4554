/* Rank, condition and null vectors of one square block: QR with column pivoting for dense blocks,
 * KLU with inverse iteration for large sparse ones. */
#ifndef DAE_LINALG_RANK_H
#define DAE_LINALG_RANK_H

#include "linalg/matrix.h"

/* Work space for dense blocks up to size n, reused from block to block; it keeps the last
 * factorisation A P = Q R. */
typedef struct rank_work {
    int capacity;  /* largest size */
    int n, rank;   /* of the last block */
    double *R;     /* owned: n x n, the factor in its upper triangle */
    double *tau;   /* owned */
    int *pivot;    /* owned: column k of A P is column pivot[k] - 1 of A */
    double *work;  /* owned */
    int *integers; /* owned */
    int work_size;
} rank_work;

bool rank_work_new(rank_work *w, int n); /* false: memory */
void rank_work_free(rank_work *w);

/* Rank of the n x n matrix A (columns contiguous, not changed) and 1/cond_1 of its triangular
 * factor, of large ones an estimate; A counts as singular if that is below `tolerance`. No
 * allocation. */
int rank_dense(rank_work *w, int n, const double *A, double tolerance, double *condition);

/* v = the k-th of n - rank independent vectors with A v = 0 for the last matrix, largest component
 * 1: v = P (-R11^-1 R12 e_k, e_k). */
void rank_null_vector(const rank_work *w, int k, double *v);

/* Independent null vectors. */
typedef struct null_space {
    int n, count;
    double *right, *left; /* n a vector, largest components 1; owned */
} null_space;

/* The power of two next to 1/sqrt(size); 1 for size 0. */
double rank_half_scale(double size);
/* Scale a matrix by columns in place to row and column maxima about 1, by powers of two, and keep
 * the scales: values_ij := row_i values_ij column_j [Rui01]. `most` is work, 2n. */
void rank_equilibrate(const matrix_layout *layout, double *values, double *row, double *column,
                      double *most);

/* Blocks above this size are sparse unless they are full. */
bool rank_is_dense(int n, size_t entries);

/* Vectors with A v = 0 and A'w = 0 for a singular matrix by columns (SPARSE layout with a full
 * structural diagonal), scaled to maxima about 1. Large blocks: at most `most`. False: memory. */
bool null_space_new(null_space *s, const matrix_layout *layout, const double *values,
                    double tolerance, int most);
void null_space_free(null_space *s);

#endif
