/* The null space way of saddle.h for small systems, by exchange (Gauss-Jordan) steps.
 *
 * An exchange solves row k of r = C x for the variable of its largest coefficient and puts that
 * into all other rows. After all of them, with p_k the variables solved for and f the free ones,
 *
 *     x_{p_k} = sum_j A(k,p_j) r_j - sum_f A(k,f) x_f,
 *
 * so that C1^-1 and the null basis -C1^-1 C2 lie side by side where C was. That takes up to three
 * times the multiplications of L U, but solving is multiplying: no chains of results that wait for
 * each other, which is what the time of small triangular solves is made of. */
#ifndef DAE_LINALG_SADDLE_SMALL_H
#define DAE_LINALG_SADDLE_SMALL_H

#include <stdbool.h>

typedef struct small_null small_null;

/* Whether this is faster than L U for m constraints on n variables. */
bool small_null_fits(int n, int m);

small_null *small_null_new(int n, int m); /* NULL: out of memory */
void small_null_free(small_null *s);      /* NULL is fine */

/* Where the entries of C (or of B with B' = F) go before factoring, m x n by columns */
double *small_null_C(small_null *s);
double *small_null_B(small_null *s);

/* Factor for C and B there, M n x n by columns, borrowed until the next call. Returns the first
 * dependent row, m if M is singular on the null space, or -1: all is well. */
int small_null_factor(small_null *s, const double *M, bool symmetric);

/* The least ratio of a pivot to its row. */
double small_null_pivot(const small_null *s);

/* (x, lambda) := solution for the right-hand side (f, r) in them; x alone if `forces` is false. */
void small_null_solve(small_null *s, double *x, double *lambda, bool forces);

#endif
