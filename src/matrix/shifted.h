/* Factors of dF/dy + mu dF/dy' for complex shifts mu, beside the real one of an iteration: its
 * partial derivatives, row scales and symbolic analysis serve them all. Part of the matrix cache.
 *
 * Where it pays other threads take a part of them; results are the same, bit for bit. */
#ifndef DAE_MATRIX_SHIFTED_H
#define DAE_MATRIX_SHIFTED_H

#include "linalg/linear_solver.h"
#include "matrix/iteration.h"

enum { SHIFTED_MOST = 4 };

struct shifted {
    linear_solver *solver[SHIFTED_MOST];         /* owned; NULL where not asked for */
    double *re[SHIFTED_MOST], *im[SHIFTED_MOST]; /* values of matrices in hand; owned; the first
                                                    ones alone, where one thread does it all */
    bool done[SHIFTED_MOST];                     /* factored, without allocation */
    const double *shift; /* re, im of each system, while they are factored */
    double *b;           /* right-hand sides, while they are solved for */
    /* What the factors belong to; 0 stages: nothing. The method sets and compares it. */
    double h;
    int stages;
    long evaluations; /* of the iteration */
};

/* Make room for `count` shifts on the layout of it->jac: allocates if there is none yet. False:
 * memory, or no matrix (GMRES). */
bool shifted_prepare(iteration *it, int count);
void shifted_free(struct shifted *s); /* NULL is fine */
void shifted_persist(iteration *it, persist *p);

/* Factor number k for shift re + i im, with the row scales of the last iteration_factor. */
iteration_status shifted_factor(iteration *it, int k, double re, double im);

/* (re + i im) := A^-1 (re + i im) with the factors number k */
void shifted_solve(iteration *it, int k, double *re, double *im);

/* Factor for the real shift cj (iteration_factor) and `count` complex ones, re and im in turn. */
iteration_status shifted_factor_all(iteration *it, double cj, int count, const double *shift);

/* b_0 := A_0^-1 b_0 with the real factors, then pairs (b_1 + i b_2) := A_1^-1 (b_1 + i b_2) and so
 * on; n values each */
iteration_status shifted_solve_all(iteration *it, int count, double *b);

#endif
