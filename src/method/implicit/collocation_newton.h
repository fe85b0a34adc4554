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

/* Corrections kept for Broyden's updates. */
enum { COLLOCATION_PAST = 3 };
/* Stages of up to so many values are one vector for norms and products, with weights side by side:
 * loops over the few variables of each would cost more than what is in them. */
enum { COLLOCATION_FLAT = 105 };

/* The step in hand. */
typedef struct collocation_step {
    const collocation *m;
    double from, t, h;                  /* from where to where */
    const double *y, *yp;               /* where it begins */
    double *point;                      /* y of a stage; n values */
    double *Z, *R, *V;                  /* stages: solution, residuals and corrections, work */
    double *predicted;                  /* stages before Newton */
    double *past[COLLOCATION_PAST];     /* corrections of this iteration, */
    double past_size[COLLOCATION_PAST]; /* their squares, */
    int past_count;                     /* and number */
    double *D;                          /* the last correction */
    int rows, width;                    /* of stages, for norms and products, */
    const double *scale;                /* with these weights for each row; borrowed, or */
    double flat[COLLOCATION_FLAT];      /* for all of them; then y where the step begins and */
    double begin[COLLOCATION_FLAT];     /* y of all stages are one vector, too */
    double points[COLLOCATION_FLAT];
    double factor_cost; /* work of a factorisation over that of a solution, about */
    stage_newton newton;
} collocation_step;

/* Its vectors as part of a scratch, for at most so many stages. */
#define COLLOCATION_VECTORS(type, stages)                                                          \
    VECTORS(type, step.point, step.point),                                                         \
        BLOCKS(type, step.Z, step.past[COLLOCATION_PAST - 1], stages)

/* The task of an attempt, with the iteration error and what counts as noise in units of the error
 * test, and so many corrections unless the user says otherwise. */
stage_task collocation_task(collocation_step *step, const method_context *ctx, attempt *result,
                            double kappa, double noise, int usual);

/* The part of the step within the bounds, over all stages; 1 if all of it. */
double collocation_within_bounds(const collocation_step *step, const method_context *ctx,
                                 double *first_h);

#endif
