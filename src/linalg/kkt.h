/* Shortest solutions of A w = b for sparse A with more columns than rows, or fewer, or dependent
 * rows, where some unknowns cost nothing: the Karush-Kuhn-Tucker system of
 *
 *     min |w_p|^2   subject to   A_p w_p + A_f w_f = b,   and among those   min |w_f|^2. */
#ifndef DAE_LINALG_KKT_H
#define DAE_LINALG_KKT_H

#include "linalg/linear_solver.h"

typedef struct kkt kkt;

/* A is m x n; the pattern (by columns, rows increasing; NULL: full, without damping) is borrowed;
 * free[j]: w_j costs nothing (NULL: none is free; not kept). Small ones are dense. Memory for
 * factors is taken when there are some. NULL: out of memory. */
kkt *kkt_new(int m, int n, const int *colptr, const int *rowind, const bool *free);
void kkt_free(kkt *k); /* NULL is fine */
/* Take that memory now, so that factors of small matrices need no more. False: out of memory. */
bool kkt_reserve(kkt *k);

/* Take over values of A, which stay borrowed until the next call; its rows should be scaled to a
 * largest entry of 1. damping = 0: ranks are decided by rcond, and kkt_solve gives the shortest
 * least squares solution. damping > 0: kkt_solve minimises |A w - b|^2 + damping |w|^2 over all
 * unknowns alike. LINEAR_MEMORY or LINEAR_OK; a rank deficiency is no error. */
linear_status kkt_factor(kkt *k, const double *values, double rcond, double damping);

/* w (n entries) from b (m entries, unchanged). */
void kkt_solve(kkt *k, const double *b, double *w);

/* Rank of A after kkt_factor without damping; m of a sparse matrix: see kkt_dependent. */
int kkt_rank(const kkt *k);
/* Of a full one without free unknowns, and of rank below n: one that A does not determine. */
int kkt_undetermined(const kkt *k);
bool kkt_is_dense(const kkt *k);

/* A left null vector y of A (y'A = 0, |y| = 1) that is random in the null space, or false if the
 * rows are independent. After kkt_factor without damping. */
bool kkt_dependent(kkt *k, unsigned seed, double *y);

#endif
