/* Collocation methods in the form in which Newton's method is transformed [HW96 IV.8].
 *
 * On a step from (t, y) of length h the polynomial q of degree s with q(0) = 0 has
 *   F(t + c_i h, y + q(c_i), q'(c_i)/h) = 0,  i = 1 .. s.
 * With Z_i = q(c_i) and the Butcher matrix A: h Y' = A^-1 Z. */
#ifndef DAE_METHOD_COMMON_COLLOCATION_H
#define DAE_METHOD_COMMON_COLLOCATION_H

enum { COLLOCATION_STAGES = 7, COLLOCATION_PAIRS = 3 };

/* One method. Matrices by rows. T^-1 A^-1 T is block diagonal: first the real eigenvalue gamma if s
 * is odd, then for every pair (a, b) the block [a -b; b a], which is multiplication of v_1 + i v_2
 * by a + i b. */
typedef struct collocation {
    int stages, order, pairs;
    const double *nodes;         /* s: c */
    const double *A;             /* s x s */
    const double *inverse;       /* s x s: A^-1 */
    const double *left;          /* s: q'(0) = sum left_j Z_j */
    const double *lagrange;      /* s: 1 / (c_j prod_{k != j} (c_j - c_k)) */
    const double *T, *T_inverse; /* s x s */
    double gamma;                /* the real eigenvalue of A^-1; s even: det(A)^(-1/s) */
    const double *pair;          /* 2 pairs: a, b with b > 0 */
} collocation;

extern const collocation radau_iia_1, radau_iia_2, radau_iia_3, radau_iia_4, radau_iia_5,
    radau_iia_7;
extern const collocation gauss_1, gauss_2, gauss_3, gauss_4, gauss_5;

/* Radau IIA with at most that many stages: 1, 3, 5 or 7 */
const collocation *radau_iia(int stages);

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
