/* What the files of pencils share. */
#ifndef DAE_STRUCTURE_LINEAR_PENCIL_PARTS_H
#define DAE_STRUCTURE_LINEAR_PENCIL_PARTS_H

#include "structure/linear/pencil.h"

/* R (lambda B + A) C = alpha (mu Bs + As) with lambda = mu alpha / beta, R = diag(row), .. */
typedef struct scaled_pencil {
    int n;
    double *A, *B;        /* As, Bs; owned */
    double *row, *column; /* owned */
    double alpha, beta;
    double norm; /* of the larger one */
} scaled_pencil;

/* A time in which B u' and A u are alike: the geometric mean of max|B| / max|A| over the rows that
 * have both, so that no single stiff row decides; over the matrices if there is no such row. */
double pencil_time_unit(int n, const double *A, const double *B);
bool scaled_pencil_new(scaled_pencil *s, int n, const double *A, const double *B);
void scaled_pencil_free(scaled_pencil *s);

/* Null polynomials of p, whose minimal indices are known; false: memory. */
bool pencil_polynomials(pencil *p, const scaled_pencil *s, double tolerance);

/* Eigenvalues (re + i im) / beta of -A x = lambda B x, and their vectors as LAPACK packs them. */
typedef struct eigen {
    int n;
    double *re, *im, *beta; /* owned, as all below */
    double *right, *left;   /* left ones only if they were asked for */
} eigen;

/* By QZ. False: memory, or no convergence; free it in any case. */
bool eigen_find(eigen *e, int n, const double *A, const double *B, bool left);
void eigen_free(eigen *e);

/* Eigenvalues of the finite part mu B + A (size p->finite; overwritten), times `unit`, and what
 * they say about stability; false: memory. */
bool pencil_eigenvalues(pencil *p, double *A, double *B, double unit);

/* X := M^-1 X for n x n M, which is overwritten. False: memory, or M is singular, and then so is
 * *singular. */
bool pencil_solve(int n, int columns, double *M, double *X, bool *singular);

/* P, Q (n x n): P B Q = diag(I, N), P A Q = diag(C, I) for the unscaled pencil, which is regular; N
 * has Jordan blocks by decreasing size. OK, MEMORY or UNCLEAR. */
pencil_status pencil_weierstrass(const pencil *p, const scaled_pencil *scaled, double tolerance,
                                 double *P, double *Q);

#endif
