/* Points on constraints 0 = c(x), by Gauss-Newton with the least weighted change. */
#ifndef DAE_FORMS_FORM_MANIFOLD_H
#define DAE_FORMS_FORM_MANIFOLD_H

#include "forms/form_parts.h"
#include "linalg/kkt.h"

typedef enum manifold_status {
    MANIFOLD_OK = 0,
    MANIFOLD_FAR,   /* no convergence; `worst` tells the constraint */
    MANIFOLD_RETRY, /* a callback failed, and recorded it */
    MANIFOLD_STOP,
    MANIFOLD_MEMORY
} manifold_status;

typedef struct manifold {
    int m, n;
    const form_matrix *matrix; /* of dc/dx; borrowed */
    kkt *solver;
    const double *size; /* n: how far x_j may move at equal cost; 0: not at all; borrowed */
    double *A, *scaled, *row, *c, *b, *dx, *moved; /* owned: one block, at A */
    int worst;
    double misfit; /* of it: |c_i| against what x_j moved by size_j would do */
} manifold;

/* c and its Jacobian values at (t, x) */
typedef eval_status (*manifold_jacobian)(void *context, double t, const double *x, double *values);

bool manifold_new(manifold *p, const form_matrix *matrix, const double *size); /* false: memory */
void manifold_free(manifold *p);

/* Move x onto 0 = c(t, x). */
manifold_status manifold_project(manifold *p, form_function c, manifold_jacobian jacobian,
                                 void *context, double t, double *x);

/* Take Jacobian values: scale rows and columns, and factor. MANIFOLD_OK or _MEMORY. */
manifold_status manifold_factor(manifold *p, const double *values);
/* dx: the shortest solution of A dx = -c after manifold_factor */
void manifold_step(manifold *p, const double *c, double *dx);

/* After manifold_factor: whether rows depend on each other; y (m): how, largest entry 1. */
bool manifold_dependent(manifold *p, double *y);

#endif
