/* Steps onto constraints 0 = c(x) with the least weighted change. */
#ifndef DAE_FORMS_FORM_MANIFOLD_H
#define DAE_FORMS_FORM_MANIFOLD_H

#include "forms/form_parts.h"
#include "linalg/kkt.h"

typedef struct manifold {
    int m, n;
    const form_matrix *matrix; /* of dc/dx; borrowed */
    kkt *solver;
    const double *size; /* n: how far x_j may move at equal cost; 0: not at all; borrowed */
    const double
        *floor;  /* m: rows whose largest entry is no larger are zero; NULL: none; borrowed */
    double rank; /* relative, of rows scaled to 1 */
    double *A, *scaled, *row, *c, *b, *dx, *moved; /* owned: one block, at A */
    int worst;
    double misfit; /* of it: |c_i| against what x_j moved by size_j would do */
} manifold;

/* free[j]: x_j costs nothing; NULL: none does. False: memory. */
bool manifold_new(manifold *p, const form_matrix *matrix, const double *size, const bool *free);
void manifold_free(manifold *p);

/* Take Jacobian values: scale rows and columns, and factor. False: memory. */
bool manifold_factor(manifold *p, const double *values);
/* dx: the shortest solution of A dx = -c after manifold_factor */
void manifold_step(manifold *p, const double *c, double *dx);

/* max_i |c_i| / row_i after manifold_factor, with where it is; rows without variables count as they
 * are. Kept in p. */
double manifold_misfit(manifold *p, const double *c);

/* After manifold_factor: whether rows depend on each other; y (m): how, largest entry 1. */
bool manifold_dependent(manifold *p, double *y);

#endif
