/* Collocation for F(t, x, x', x'') = 0: what the parts of the method share.
 *
 * Notation of collocation.h. On a step of length h from (x0, v0), for unknowns with second
 * derivatives,
 *   X = x0 + c h v0 + Z,  X' = v0 + A^-1 Z / h,  X'' = A^-2 Z / h^2
 * [Wun05 (6.15) with A~ = A^2], and X = x0 + Z, X' = A^-1 Z / h for the others. The thesis variant
 * takes multipliers for unknowns with second derivatives [Wun05 (6.25)]. Stages are rows of nx
 * values, one after the other. docs/methods/colloc2nd.md has the formulas. */
#ifndef DAE_METHOD_IMPLICIT_COLLOC2ND_PARTS_H
#define DAE_METHOD_IMPLICIT_COLLOC2ND_PARTS_H

#include "method/common/collocation.h"
#include "method/common/projection.h"
#include "method/common/stage_newton.h"
#include "method/common/stages.h"
#include "method/common/thesis.h"

enum {
    COLLOC2ND_STAGES = 5,
    COLLOC2ND_PAIRS = 2,
    COLLOC2ND_INNER = 4,
    COLLOC2ND_SAMPLES = 2,
    COLLOC2ND_PAST = THESIS_POINTS - 2 /* points kept before the last step */
};

/* One method of the family. */
typedef struct colloc2nd_kind {
    const collocation *m;
    bool thesis; /* [Wun05 (6.25)], its controller, no projection */
} colloc2nd_kind;

/* Matrices and work, outside state. */
typedef struct colloc2nd_cache {
    const colloc2nd_kind *kind;
    second_matrix *matrix;
    projection ends;  /* form = NULL: no projection */
    double amplifies; /* what the error estimate makes of errors in stage velocities */
    bool *drifts;     /* nx: X contains c h v0 */
    bool *loose;      /* nx: x' does not appear, as far as is known */
    /* s x s and s: A^2, A^-2; x(1) - x0 - h v0, or v(1) - v0, from stages; and values at 1 of what
     * is known at the nodes only */
    double square[COLLOC2ND_STAGES * COLLOC2ND_STAGES];
    double inverse_2[COLLOC2ND_STAGES * COLLOC2ND_STAGES];
    double end[COLLOC2ND_STAGES], beyond[COLLOC2ND_STAGES];
    /* where x'' of the last step is known for predictions, 0 among them unless it is the
     * thesis variant, and 1 / prod_{k != j} (node_j - node_k) */
    int known;
    double node[COLLOC2ND_STAGES + 1], reciprocal[COLLOC2ND_STAGES + 1];
    bool evaluated; /* partial derivatives are at hand, and */
    double h;       /* factors for this step; 0: none */
    long numbered;  /* the last number of a start or an accepted step */
    /* dense output: what belongs to the inside of the step with this number */
    long inner_step;
    bool smooth;                      /* accelerations inside are of use: forces are not stiff */
    double *inner;                    /* multipliers at the points inside, */
    double *inner_slopes;             /* r' there, */
    double *inner_bumps, *inner_rest; /* bumps, and what the quintic lacks of accelerations */
    double *inner_work;               /* y and y' */
    double *inner_samples[COLLOC2ND_SAMPLES]; /* y on the last polynomial that was looked at */
} colloc2nd_cache;

/* What survives between steps. */
typedef struct colloc2nd_state {
    double t, t_old;
    long step;                         /* its number, which no other has */
    long taken;                        /* since the start */
    mechanism_failure failure;         /* of the start */
    double accepted_h, accepted_error; /* of the last step; 0: none */
    double surprise; /* how wrong its prediction was, in units of the error test */
    double h_limit;  /* > 0: Newton's method failed with steps of this size */

    double *y, *yp;                                       /* at t */
    double *y_old, *yp_old;                               /* at t_old */
    double *Z;                                            /* stages of the last step */
    double *past[COLLOC2ND_PAST], past_t[COLLOC2ND_PAST]; /* thesis: (y, y') of the points before
                                                              t_old, newest first */
} colloc2nd_state;

/* One attempt. */
typedef struct colloc2nd_scratch {
    double t, h;
    int tries, newton_failures, error_failures; /* since the last accepted step */
    stage_newton newton;
    double first_h;  /* size of the first try since the last accepted step; 0: none */
    double failed_h; /* smallest step with which Newton's method failed, 0: none */
    double error;
    double error_factor, factor_rtol;
    double *Z, *R, *D1, *D2;      /* stages: solution, residuals and corrections, X', X'' */
    double *work, *predicted;     /* stages */
    double *x0, *v0;              /* nx: where the step starts */
    double *x, *xp, *xpp;         /* nx: of one point */
    double *point, *slope;        /* n: y and y' of one point */
    double *f;                    /* n: residual */
    double *y, *yp;               /* n: candidate */
    double *error_1, *error_2;    /* n: estimates */
    double *scale, *newton_scale; /* n: reciprocal weights */
    double *x_scale, *v_scale;    /* nx: of the iteration, for x and for velocities, else 0 */
    double ratio; /* for which these were made: stages of the next step from those */
    double E1[COLLOC2ND_STAGES * COLLOC2ND_STAGES]; /* of the last one, for Z with x0 + Z, */
    double E2[COLLOC2ND_STAGES * COLLOC2ND_STAGES]; /* with x0 + c h v0 + Z, */
    double E0[COLLOC2ND_STAGES];                    /* and from h^2 x'' at its start */
} colloc2nd_scratch;

/* y, y' of stage i into w->point, w->slope; D1 and D2 hold A^-1 Z/h and A^-2 Z/h^2 */
void colloc2nd_point(const colloc2nd_scratch *w, const method_context *ctx, int i);
void colloc2nd_derivatives(const colloc2nd_scratch *w, const method_context *ctx);

/* colloc2nd_newton.c: solve for the stages w->Z, predicted and in place on entry. */
attempt_status colloc2nd_solve(const colloc2nd_state *s, colloc2nd_scratch *w,
                               const method_context *ctx, attempt *result);

/* colloc2nd_error.c: the weighted error and the step after it */
attempt_status colloc2nd_estimate(const colloc2nd_state *s, colloc2nd_scratch *w,
                                  const method_context *ctx, attempt *result);
double colloc2nd_next_factor(const colloc2nd_state *s, const colloc2nd_scratch *w,
                             const collocation *m, double error);
bool colloc2nd_worn(const colloc2nd_scratch *w);

/* colloc2nd_thesis.c: the same as the thesis has it */
void colloc2nd_thesis_estimate(const colloc2nd_state *s, colloc2nd_scratch *w,
                               const method_context *ctx, attempt *result);
double colloc2nd_thesis_factor(const colloc2nd_state *s, const colloc2nd_scratch *w,
                               const attempt *result);
void colloc2nd_thesis_interpolate(const void *state, const method_context *ctx, double t,
                                  int derivative, double *y);

/* colloc2nd_dense.c */
int colloc2nd_elements(const colloc2nd_cache *c);
void colloc2nd_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                           double *y);

#endif
