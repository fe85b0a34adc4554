/* The two ways of saddle.h for small systems, by exchanges (exchange.h): the null space of C with
 * few degrees of freedom, and the range space with a diagonal M. */
#ifndef DAE_LINALG_SADDLE_SMALL_H
#define DAE_LINALG_SADDLE_SMALL_H

#include "base/persist.h"

#include <stdbool.h>

typedef struct small_null small_null;

/* Whether this is faster than L U for m constraints on n variables. */
bool small_null_fits(int n, int m);

small_null *small_null_new(int n, int m); /* NULL: out of memory */
void small_null_free(small_null *s);      /* NULL is fine */
/* The factors for an M that is there. */
void small_null_persist(small_null *s, const double *M, persist *p);

/* Where the entries of C (or of B with B' = F) go before factoring, m x n by columns */
double *small_null_C(small_null *s);
double *small_null_B(small_null *s);

/* Factor for C and B there, M n x n by columns, borrowed until the next call. Returns the first
 * dependent row, m if M is singular on the null space, or -1: all is well. */
int small_null_factor(small_null *s, const double *M, bool symmetric);

/* (x, lambda) := solution for the right-hand side (f, r) in them; x alone if `forces` is false. */
void small_null_solve(small_null *s, double *x, double *lambda, bool forces);

/* Diagonal M, S = C M^-1 B' for B and C on one layout, m x n by columns, compressed unless colptr
 * is NULL. */
typedef struct small_range small_range;

bool small_range_fits(int m);
/* The layout stays borrowed. NULL: out of memory */
small_range *small_range_new(int n, int m, const int *colptr, const int *rowind);
void small_range_free(small_range *s); /* NULL is fine */
/* The factors; B and C are in blocks of `home`. */
void small_range_persist(small_range *s, const persist_home *home, persist *p);

/* Factor for the diagonal of M (NULL: as before, at first I); B and C stay borrowed. Returns the
 * first dependent row, or -1. Diagonals have to be positive. */
int small_range_factor(small_range *s, const double *M, const double *B, const double *C);
void small_range_solve(small_range *s, double *x, double *lambda);

#endif
