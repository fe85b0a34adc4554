/* Linear equations F_Y S + F_Y' S' + F_p = 0 of index 1 whose constraints do not show, such as
 * those of C (u1' - u2') = i: F_Y' is singular, and no choice of columns makes states. With N' F_Y'
 * = 0 and F_Y' V = 0 the constraints are N' (F_Y S + F_p) = 0, and N' F_Y V is regular. */
#ifndef DAE_SOLVE_SENSITIVITY_ADJOINT_PLAIN_H
#define DAE_SOLVE_SENSITIVITY_ADJOINT_PLAIN_H

#include "linalg/linear_solver.h"

typedef struct plain_parts {
    int n, rank;
    double *row, *column; /* n: what rows and columns were scaled by */
    double *a;            /* n x n by rows: scaled, eliminated, columns in the order of `order`; */
    double *e;            /* n x n by rows: what made it so, of the scaled matrix */
    int *order;
    double *N, *V;         /* n - rank rows of n each */
    matrix_layout layout;  /* of N' F_Y V */
    linear_solver *solver; /* its transpose; NULL: it has no rows */
    double *work;          /* 2 n */
    double *all;           /* owned: of all but order, layout and solver */
} plain_parts;

void plain_free(plain_parts *q); /* leaves it zeroed */
/* LINEAR_SINGULAR: the index is above 1 there. */
linear_status plain_split(plain_parts *q, const matrix_layout *layout, const double *fy,
                          const double *fyp);
/* w S = (w - F_Y' mu) S - mu F_p with mu = N nu and w - F_Y' mu in the range of F_Y'': w becomes
 * that. */
void plain_complete(plain_parts *q, const matrix_layout *layout, const double *fy, double *w,
                    double *mu);
/* mu with F_Y'' mu = psi and V' (F_Y' mu - g) = 0 */
void plain_solve(plain_parts *q, const matrix_layout *layout, const double *fy, const double *psi,
                 const double *g, double *mu);

#endif
