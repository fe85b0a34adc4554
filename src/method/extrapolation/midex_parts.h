/* What the two halves of midex share: rows and steps (midex.c), dense output (midex_dense.c). */
#ifndef DAE_METHOD_EXTRAPOLATION_MIDEX_PARTS_H
#define DAE_METHOD_EXTRAPOLATION_MIDEX_PARTS_H

#include "method/common/mechanism.h"
#include "method/extrapolation/extrapolation.h"

/* Points at which a step is known for dense output, and the degree for q that they allow. */
enum { MIDEX_POINTS = 5, MIDEX_INNER = MIDEX_POINTS - 2, MIDEX_DEGREE = 3 * MIDEX_POINTS - 1 };

/* What survives between steps: x = (q, v), its slope, and lambda at both ends of the last step. */
typedef struct midex_state {
    double t, t_old;
    int target;                /* row to aim at */
    int row;                   /* that gave the last step */
    long step;                 /* its number, which no other has: what caches belong to */
    bool stepped;              /* since the start */
    mechanism_failure failure; /* of the start */
    double *x, *k, *lambda, *x_old, *k_old, *lambda_old;
} midex_state;

/* Matrices and work, outside state. */
typedef struct midex_cache {
    mechanism system;
    double *memory; /* behind all vectors; owned */
    /* the basic step at work: from (t0, x0) to t = t0 + h */
    extrapolation tableau;
    double bend[EXTRAPOLATION_ROWS]; /* second differences at the end of each row, in tolerances */
    const method_context *ctx;
    double t0, t, h;
    const double *x0;
    mechanism_failure failure;
    double *x, *before, *after; /* three successive points of a row */
    double *result, *error, *full;
    long numbered; /* the last number of a start or an accepted step */
    /* dense output of step `inner_step`: values at 1/4, 1/2, 3/4, coefficients of q, work */
    long inner_step;
    bool inner_known; /* parts of the step could be done again */
    double *coefficient, *inner_x[MIDEX_INNER], *inner_k[MIDEX_INNER], *inner_lambda[MIDEX_INNER];
    double *dense_x, *dense_k, *dense_lambda;
} midex_cache;

/* midex.c: the rows up to `target` of a basic step h from (t, x); `all`: without a test of the
 * error. The tableau is in the cache afterwards. */
mechanism_failure midex_extrapolate(const method_context *ctx, double t, double h, const double *x,
                                    int target, bool all);
/* x = the last extrapolated value, moved onto the constraints, with k and lambda */
mechanism_failure midex_finish(midex_cache *c, double *x, double *k, double *lambda);

/* midex_dense.c */
void midex_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                       double *y);

#endif
