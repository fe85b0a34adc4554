/* Factors of dF/dy + mu dF/dy' for complex shifts mu, beside the real one of an iteration: its
 * partial derivatives, row scales and symbolic analysis serve them all. Part of the matrix cache.
 */
#ifndef DAE_SYSTEM_SHIFTED_H
#define DAE_SYSTEM_SHIFTED_H

#include "linalg/complex_solver.h"
#include "system/iteration.h"

enum { SHIFTED_MOST = 3 };

struct shifted {
    complex_solver *solver[SHIFTED_MOST]; /* owned; NULL where not asked for */
    double *re, *im;                      /* values of the matrix in hand */
    /* What the factors belong to; 0 stages: nothing. The method sets and compares it. */
    double h;
    int stages;
    long evaluations; /* of the iteration */
};

/* Make room for `count` shifts on the layout of it->jac: allocates if there is none yet. False:
 * memory, or no matrix (GMRES). */
bool shifted_prepare(iteration *it, int count);
void shifted_free(struct shifted *s); /* NULL is fine */

/* Factor number k for shift re + i im, with the row scales of the last iteration_factor. */
iteration_status shifted_factor(iteration *it, int k, double re, double im);

/* (re + i im) := A^-1 (re + i im) with the factors number k */
void shifted_solve(iteration *it, int k, double *re, double *im);

#endif
