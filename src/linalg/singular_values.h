/* Ranks and null spaces of small dense matrices, by singular values.
 *
 * Matrices are stored by columns without gaps: element (i,j) of an m x n matrix at [i + j*m]. */
#ifndef DAE_LINALG_SINGULAR_VALUES_H
#define DAE_LINALG_SINGULAR_VALUES_H

#include <stdbool.h>

/* How clear the rank decisions were: the smallest singular value taken for nonzero and the largest
 * taken for zero, relative to their matrices. Start with RANK_GAP_NEW. */
typedef struct rank_gap {
    double kept, dropped;
} rank_gap;

#define RANK_GAP_NEW ((rank_gap){.kept = 1.0, .dropped = 0.0})
/* gap := the less clear of both */
static inline void rank_gap_join(rank_gap *gap, const rank_gap *more)
{
    if (more->kept < gap->kept) gap->kept = more->kept;
    if (more->dropped > gap->dropped) gap->dropped = more->dropped;
}

/* A = U diag(sigma) V'. The first `rank` columns of U span the range of A, the others the left null
 * space; likewise V for the row space and the null space. */
typedef struct rank_split {
    int rows, columns, rank;
    double *U;     /* rows x rows, owned */
    double *V;     /* columns x columns, owned */
    double *sigma; /* min(rows, columns), decreasing; owned */
} rank_split;

/* Singular values up to tolerance * scale count as zero; scale = 0 stands for the largest one. gap
 * may be NULL. False: memory. */
bool rank_split_new(rank_split *s, int rows, int columns, const double *A, double tolerance,
                    double scale, rank_gap *gap);
void rank_split_free(rank_split *s); /* leaves it zeroed */

/* Columns of the left null space (rows x (rows - rank)) and of the null space. */
const double *rank_left_null(const rank_split *s);
const double *rank_null(const rank_split *s);

/* rank A alone; -1: memory */
int rank_of(int rows, int columns, const double *A, double tolerance, double scale, rank_gap *gap);

/* C = A B: A is m x k, B is k x n */
void dense_multiply(int m, int n, int k, const double *A, const double *B, double *C);
/* C = A' B: A is k x m, B is k x n */
void dense_multiply_left(int m, int n, int k, const double *A, const double *B, double *C);
/* B = A' */
void dense_transpose(int rows, int columns, const double *A, double *B);
/* sqrt(sum of squares) */
double dense_norm(int count, const double *A);

#endif
