/* The stage equations of radau and irk, for the frame of stage_newton.h.
 *
 *   R_i = F(t + c_i h, y + Z_i, (A^-1 Z)_i / h) = 0
 *   (I x dF/dy + A^-1/h x dF/dy') D = -R
 * With A^-1 = T Lambda T^-1 and V = T^-1 D this falls apart into real systems of shift gamma/h, one
 * after the other where there are two, and a complex one for every pair (a + i b)/h [HW96 IV.8;
 * But76]. Stages are rows of n values. */
#ifndef DAE_METHOD_IMPLICIT_COLLOCATION_NEWTON_H
#define DAE_METHOD_IMPLICIT_COLLOCATION_NEWTON_H

#include "method/common/collocation.h"
#include "method/common/stage_newton.h"

/* Corrections kept for Broyden's updates, and blocks of stages. */
enum { COLLOCATION_PAST = 3, COLLOCATION_BLOCKS = 4 + COLLOCATION_PAST };

/* The step in hand. */
typedef struct collocation_step {
    const collocation *m;
    double from, t, h;                  /* from where to where */
    const double *y, *yp;               /* where it begins */
    double *Z, *R, *V;                  /* stages: solution, residuals and corrections, work */
    double *D;                          /* the last correction */
    double *predicted;                  /* stages before Newton */
    double *point;                      /* y of a stage; n values */
    double factor_cost;                 /* work of a factorisation over that of a solution, about */
    double *past[COLLOCATION_PAST];     /* corrections of this iteration, */
    double past_size[COLLOCATION_PAST]; /* their squares, */
    int past_count;                     /* and number */
    stage_newton newton;
} collocation_step;

/* Its blocks of stages for at most so many, and the point, from `at` on; what is behind them. */
double *collocation_place(collocation_step *step, int stages, size_t n, double *at);

/* The task of an attempt, with the iteration error and what counts as noise in units of the error
 * test, and so many corrections unless the user says otherwise. */
stage_task collocation_task(collocation_step *step, const method_context *ctx, attempt *result,
                            double kappa, double noise, int usual);

/* point = y + Z_i, within the bounds: F need not exist outside */
void collocation_point(const collocation_step *step, const method_context *ctx, int i);
/* The part of the step within the bounds, over all stages; 1 if all of it. */
double collocation_within_bounds(const collocation_step *step, const method_context *ctx,
                                 double *first_h);

#endif
