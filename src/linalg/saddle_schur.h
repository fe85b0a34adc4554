/* S = C D^-1 B' for a positive diagonal D and sparse B, C on one pattern: the range space way of
 * saddle.c for large systems. On a chain of bodies S is as sparse as the chain, and three to ten
 * times smaller than the whole matrix. */
#ifndef DAE_LINALG_SADDLE_SCHUR_H
#define DAE_LINALG_SADDLE_SCHUR_H

#include "linalg/linear_solver.h"

typedef struct sparse_schur sparse_schur;

/* Whether S has so few entries that it is worth it. */
bool schur_fits(int n, const int *colptr);

/* The pattern (m x n by columns) is borrowed. NULL: out of memory. */
sparse_schur *schur_new(int n, int m, const int *colptr, const int *rowind);
void schur_free(sparse_schur *s); /* NULL is fine */
/* The factors; B and C are in blocks of `home`. */
void schur_persist(sparse_schur *s, const persist_home *home, persist *p);

/* Factor for new values; inverse = 1/D, or NULL for what it was. B and C stay borrowed until the
 * next call. */
linear_status schur_factor(sparse_schur *s, const double *inverse, const double *B,
                           const double *C);

/* (x, lambda) := solution of [D B'; C 0] for the right-hand side given in them */
void schur_solve(sparse_schur *s, double *x, double *lambda);

#endif
