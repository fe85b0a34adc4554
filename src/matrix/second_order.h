/* The second order form F(t, x, x', x'') = 0 [Wun05 (3.1)], found in a residual form.
 *
 * Where F(t, y, y') = 0 contains kinematic rows y_i' = y_j, unknown y_j is the velocity of y_i:
 * both leave, row and velocity, and what is left are n equations for n unknowns x, of which some
 * have second derivatives: x = y_i, x' = y_j, x'' = y_j'. So every formulation of a model, and
 * every rewriting of callbacks, has its second order form without a line of its own; linear systems
 * have second order size [Wun05 (4.15)-(4.17)]. */
#ifndef DAE_MATRIX_SECOND_ORDER_H
#define DAE_MATRIX_SECOND_ORDER_H

#include "linalg/linear_solver.h"
#include "matrix/iteration.h"
#include "problem/velocities.h"

/* Which unknowns and rows of a residual form are left. */
typedef struct second_order {
    int n;         /* unknowns x, and equations */
    int *place;    /* n: x_k = y[place[k]]; owned, as are the next two */
    int *velocity; /* n: x_k' = y[velocity[k]]; -1: x_k'' does not appear, and x_k' is y'[place[k]]
                    */
    int *row;      /* n: equations, rows of F */
    int order;     /* highest derivative: 1, 2, or more where chains of velocities are followed */
    int *levels;   /* n: x_k, x_k', .. that are unknowns of y, 1 to order; owned */
    int *higher;   /* (order - 2) n: x_k^(j) = y[higher[(j-2) n + k]], j = 2 .. order - 1; -1: it is
                      not an unknown; owned, NULL where order <= 2 */
} second_order;

enum { SECOND_HIGHEST = DAE_MOST_ORDER };

/* Where x_k^(j) is in y; -1: nowhere. */
static inline int second_order_place(const second_order *s, int k, int j)
{
    if (j >= s->order) return j == 0 ? s->place[k] : -1;
    return j == 0 ? s->place[k] : j == 1 ? s->velocity[k] : s->higher[(j - 2) * s->n + k];
}

/* The form behind n_y unknowns with the given kinematic rows, which may make chains of up to
 * SECOND_HIGHEST derivatives; false: memory. No rows: x = y. */
bool second_order_new(second_order *s, int n_y, int count, const kinematic_row *rows);
void second_order_free(second_order *s); /* leaves it zeroed */

/* y and y' from x, x', x'' */
void second_order_spread(const second_order *s, const double *x, const double *xp,
                         const double *xpp, double *y, double *yp);
/* x and x' (either may be NULL) from y and y' */
void second_order_gather(const second_order *s, const double *y, const double *yp, double *x,
                         double *xp);
/* max |y_i| over the unknowns that have a velocity */
double second_order_largest(const second_order *s, const double *y);

/* y and y' from x, x', .., x^(order), d[j] each n values; and back, as far as they are there: 0 for
 * derivatives that do not appear */
void higher_order_spread(const second_order *s, double *const *d, double *y, double *yp);
void higher_order_gather(const second_order *s, const double *y, const double *yp,
                         double *const *d);

/* The matrices A(a1, a2) = F_x + a1 F_x' + a2 F_x'' and their factors, from the partial derivatives
 * that `source` keeps of F(t, y, y'). Rows without x'' are scaled so that all rows are of one size
 * as h goes to 0. Part of the matrix cache. Up to SECOND_MOST complex ones beside the real one. */
typedef struct second_matrix second_matrix;

enum { SECOND_MOST = 3 };

/* NULL: memory, or a `source` without matrices (GMRES). */
second_matrix *second_matrix_new(const second_order *s, iteration *source, int n_complex);
void second_matrix_free(second_matrix *m); /* NULL is fine */
/* Behind its source: save the matrices and their factors, or read them over new ones. */
void second_matrix_persist(second_matrix *m, persist *p);

/* Partial derivatives at (t, y, y'), by `source`; then factors for any shifts. The first call
 * allocates, as does one in which a detected pattern has grown. */
iteration_status second_matrix_evaluate(second_matrix *m, double t, const double *y,
                                        const double *yp, double h, const double *weights,
                                        const double *f0);
/* After ITERATION_SINGULAR second_matrix_singular tells the unknown of y, -1: not known. */
iteration_status second_matrix_factor(second_matrix *m, double a1, double a2);
iteration_status second_matrix_factor_complex(second_matrix *m, int k, double a1_re, double a1_im,
                                              double a2_re, double a2_im);
/* The same for A = F_x + F_x' A_1 + .. + F_x^(order) A_order with diagonal matrices A_j, in which
 * unknowns of the same length have the same element: a[levels_k][j] of x_k. */
typedef double higher_shifts[SECOND_HIGHEST + 1][SECOND_HIGHEST + 1];
iteration_status higher_matrix_factor(second_matrix *m, higher_shifts a);
int second_matrix_singular(const second_matrix *m);
/* The highest derivative in the rows that have x_k, if x_k has none itself; else -1. */
int second_matrix_multiplier(const second_matrix *m, int k);
/* The highest derivative that appears, as the partial derivatives tell. */
int second_matrix_top(const second_matrix *m);
/* b := A^-1 b; b holds n values, residuals of the equations in the order of s->row */
void second_matrix_solve(second_matrix *m, double *b);
void second_matrix_solve_complex(second_matrix *m, int k, double *re, double *im);
/* Whether there are real factors, and their shifts. */
bool second_matrix_shifts(const second_matrix *m, double *a1, double *a2);
/* Newton's direction for residuals f of F(t, y, y'), in the places of y: d = -A(a1, a2)^-1 f and
 * the velocities' a1 d. Factors of shifts near by serve: rows with derivatives, and the columns of
 * multipliers in them, are scaled by what the shifts differ. f and delta may be the same. */
void second_matrix_direction(second_matrix *m, const double *f, double a1, double a2,
                             double *delta);
/* b = (a0 F_x + a1 F_x' + a2 F_x'') x */
void second_matrix_multiply(second_matrix *m, double a0, double a1, double a2, const double *x,
                            double *b);

#endif
