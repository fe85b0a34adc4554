/* Linear systems A_2 u'' + A_1 u' + A_0 u = d(t) with constant matrices, as many equations as one
 * likes: characteristic values and strangeness index by the condensed form of matrix triples
 * [Wun05 (3.2)-(3.8)], which for A_2 = 0 is that of matrix pairs [Wun05 (2.11)-(2.14)].
 *
 * Rows are only combined by orthogonal matrices, and derivatives of rows subtracted: nothing is
 * multiplied from the right, so that u stays what it is, and it is known how d enters. */
#ifndef DAE_STRUCTURE_LINEAR_CONDENSED_H
#define DAE_STRUCTURE_LINEAR_CONDENSED_H

#include <stdbool.h>

#include "daedal.h"
#include "linalg/singular_values.h"

enum { CONDENSED_MATRICES = 3 };

typedef struct condensed {
    int m, n, order;            /* equations, unknowns, highest derivative: 1 or 2 */
    int steps;                  /* index + 1 */
    dae_characteristic *values; /* of each step; owned */
    int derivatives;            /* the highest derivative of d that enters */
    /* The system without strangeness: m x n each, rows of second order first, then of first order,
     * algebraic ones, and such without u. Its right hand side is the sum of left_k d^(k),
     * left + k m m. Owned. */
    double *a[CONDENSED_MATRICES], *left;
    rank_gap gap;
    bool unclear; /* rank decisions contradict each other: there is no result */
} condensed;

/* a[k] is the coefficient of u^(k), m x n by columns, NULL beyond the order. False: memory, or
 * `unclear`. */
bool condense(condensed *c, int m, int n, int order, const double *const *a, double tolerance);
void condensed_free(condensed *c); /* leaves it zeroed */

/* The condensed form of a pair at one point: P E Q = diag(I_s, I_d, 0), and P A Q with rows s, d,
 * a, s, u and columns s, d, a, v as [ 0    A12  0    A14 ] [ 0    A22  0    A24 ] [ 0    0    I_a
 * 0   ] [ I_s  0    0    0   ] [ 0    0    0    0   ] Constant Q leave A22; a Q(t) with Q' = A22 Q
 * makes it vanish, too [Wun05 (2.13)]. */
typedef struct condensed_pair {
    int r, a, s, d, u, v;
    double *P, *Q; /* m x m, n x n; owned */
    rank_gap gap;
} condensed_pair;

bool condensed_pair_new(condensed_pair *c, int m, int n, const double *E, const double *A,
                        double tolerance);
void condensed_pair_free(condensed_pair *c);

#endif
