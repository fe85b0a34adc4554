/* Implicit Runge-Kutta methods given by their nodes, in the form in which Newton's method is
 * transformed [HW96 IV.8].
 *
 * On a step from (t, y) of length h the stages have
 *   F(t + c_i h, y + Z_i, Y'_i) = 0,  h Y' = A^-1 Z,  i = 1 .. s,
 * and y_1 = y + sum d_i Z_i. For collocation methods (all but Lobatto IIIC) Z_i = q(c_i) and Y'_i =
 * q'(c_i)/h with the polynomial q of degree s with q(0) = 0. */
#ifndef DAE_METHOD_COMMON_COLLOCATION_H
#define DAE_METHOD_COMMON_COLLOCATION_H

#include <stdbool.h>

enum { COLLOCATION_STAGES = 7, COLLOCATION_PAIRS = 4 };

/* The blocks of a matrix that is block triangular only: rows of each, 1 or 2, and the number of its
 * shift among the pairs; -1: gamma. */
typedef struct collocation_blocks {
    int count, rows[COLLOCATION_STAGES], shift[COLLOCATION_STAGES];
    double above[COLLOCATION_STAGES][COLLOCATION_STAGES]; /* right of them */
} collocation_blocks;

/* One method. Matrices by rows. T^-1 A^-1 T is block diagonal: first `reals` rows with gamma on the
 * diagonal and, if there are several of them, below it; then for every pair (a, b) the block [a -b;
 * b a], which is multiplication of v_1 + i v_2 by a + i b. */
typedef struct collocation {
    int stages, order, reals, pairs;
    double gamma;                /* the real eigenvalue of A^-1; without one det(A)^(-1/s) */
    const double *nodes;         /* s: c */
    const double *A, *b;         /* s x s, s */
    const double *inverse, *d;   /* A^-1 and d' = b' A^-1 */
    const double *left;          /* s: q'(0) = sum left_j Z_j; 0 where c_j = 0 */
    const double *lagrange;      /* s: 1 / (c_j prod_{k != j} (c_j - c_k)) over c > 0; likewise */
    const double *T, *T_inverse; /* s x s */
    const double *pair;          /* 2 pairs: a, b with b > 0; a decreases */
    /* tables of the user: T^-1 A^-1 T is block triangular, and pairs with b = 0 are real numbers */
    const collocation_blocks *blocks;
    bool open; /* c_s = 1, but b is not the last row of A */
} collocation;

extern const collocation gauss_1, gauss_2, gauss_3, gauss_4, gauss_5;
extern const collocation radau_iia_1, radau_iia_2, radau_iia_3, radau_iia_4, radau_iia_5,
    radau_iia_7;
extern const collocation lobatto_iiic_2, lobatto_iiic_3, lobatto_iiic_4;
extern const collocation sirk_l, sirk_a; /* of two stages: L-stable, order 2; A-stable, order 3 */
extern const collocation sirk_t; /* of three stages: L-stable, order 3; not collocation, C(2) */
extern const collocation lobatto_iiia_3, lobatto_iiia_4; /* A is singular: nodes, A and b only */

/* Radau IIA with at most that many stages: 1, 3, 5 or 7 */
const collocation *radau_iia(int stages);

/* Whether the last stage is at 1, so that y_1 = y + Z_s */
static inline bool collocation_ends(const collocation *m)
{
    return m->nodes[m->stages - 1] == 1.0 && !m->open;
}

/* The weight of the embedded formula's estimate in an error test of Radau IIA, which makes errors
 * follow the tolerance. The estimate has order s, the solution 2s - 1: an estimate of
 * rtol^((s+1)/2s) goes with errors about rtol. RADAU tests against a tenth of that [HW99]. */
double collocation_error_factor(double rtol, int stages);

/* weight_j = l_j(x) or l_j'(x) (derivative = 1), the Lagrange polynomials on 0, c_1 .. c_s that
 * belong to c_j: q(x) = sum weight_j Z_j */
void collocation_weights(const collocation *m, double x, int derivative, double *weight);

/* E (s x s by rows) with q(1 + r c_i) - q(1) = sum E_ij Z_j: the stages of the next step, r times
 * as long, on the polynomial of this one; next has the nodes of that step. */
void collocation_extrapolation(const collocation *m, const collocation *next, double r, double *E);

/* Y_i = a sum_j M_ij X_j, i < rows, j < columns <= COLLOCATION_STAGES, for stages of n values, M by
 * rows; X and Y apart. The other one adds that to Y. */
void collocation_combine(int rows, int columns, int n, double a, const double *M, const double *X,
                         double *Y);
void collocation_combine_add(int rows, int columns, int n, double a, const double *M,
                             const double *X, double *Y);

#endif
