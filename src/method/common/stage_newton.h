/* Simplified Newton for the stages of a step, the frame of all methods that solve for them.
 *
 * A method supplies its equations as a table of functions: matrices, one correction of all stages,
 * and the stages as they were predicted. The frame renews matrices, measures how fast corrections
 * shrink, and decides when the iteration ends [HW96 IV.8]. */
#ifndef DAE_METHOD_COMMON_STAGE_NEWTON_H
#define DAE_METHOD_COMMON_STAGE_NEWTON_H

#include "control/confirm.h"
#include "method/common/method.h"

/* What is known of the iteration. */
typedef struct stage_newton {
    /* before every solve, by the method */
    int most;        /* corrections at most */
    int first;       /* number of the first one, from 0, that tells the rate by the one before */
    double kappa;    /* the iteration error may be this part of the tolerance */
    double floor;    /* corrections as small as this are lost in rounding */
    double noise;    /* with current matrices corrections this small that stay are noise of F */
    double rounding; /* constant steps: so are these, since no other step has less of it; else 0 */
    double
        improves; /* every correction is faster than the one before by this factor; 0: it is not */
    bool patient; /* only a rate that is too slow ends the iteration, no forecast */
    bool trusted; /* the prediction is worth partial derivatives */
    /* from solve to solve */
    double eta; /* theta / (1 - theta), the last one known; 1 at a start */
    bool fresh; /* partial derivatives were evaluated since the last accepted step, */
    bool ahead; /* at a predicted point */
    /* of the last solve */
    int iterations;
    double theta;           /* contraction; 0: one iteration did, or noise hides it */
    bool noisy;             /* it ended in noise of F */
    correction_sizes sizes; /* norms of corrections */
    double shrink;          /* after a failure: what it says of h */
} stage_newton;

typedef struct stage_equations stage_equations;

/* One attempt at a step. */
typedef struct stage_task {
    const stage_equations *equations;
    stage_newton *newton;
    const void *state;
    void *scratch;
    const method_context *ctx;
    attempt *result;
    double *stages, *predicted; /* `count` values: the stages, and room to keep them as predicted */
    int count;
} stage_task;

typedef enum stage_matrices { STAGE_NOTHING, STAGE_DERIVATIVES, STAGE_FACTORS } stage_matrices;

struct stage_equations {
    stage_matrices (*at_hand)(const stage_task *k); /* for this step */
    /* Partial derivatives at the stage in the middle as it is now, or where the step begins. */
    iteration_status (*evaluate)(const stage_task *k, bool ahead);
    iteration_status (*factor)(const stage_task *k);
    void (*begin)(const stage_task *k); /* before the first correction; NULL: nothing */
    /* The next correction D by the matrices at hand, Z += D; its norm. */
    attempt_status (*correct)(const stage_task *k, double *size);
    /* Whether every variable converges, not only all together; NULL: yes */
    bool (*settled)(const stage_task *k);
    /* Whether the quotient of the first two corrections says nothing of the rate; NULL: never */
    bool (*is_transient)(const stage_task *k, double quotient);
    /* The end of the last stage, to be confirmed with the factors of the matrix in ctx, and room
     * for a point and a slope beside it; NULL: the rate is proof enough. */
    void (*last_stage)(const stage_task *k, iteration_end *end);
    void (*blame)(const stage_task *k); /* the largest correction into newton->delta; NULL: it is */
};

/* Whether a prediction is worth partial derivatives: the last one was wrong by `surprise` in units
 * of the error test, and this step is `ratio` times as long. */
bool stage_prediction_trusted(double surprise, double ratio, int stages);

/* Matrices for this step; `renew`: with new partial derivatives. */
attempt_status stage_newton_prepare(const stage_task *k, bool renew);
/* Matrices for the stages as they are now */
attempt_status stage_newton_renew_here(const stage_task *k);

/* Corrections with the matrices at hand until the iteration error is below kappa. */
attempt_status stage_newton_iterate(const stage_task *k);
/* Solve with the matrices at hand, or else with new ones. */
attempt_status stage_newton_solve(const stage_task *k);

/* Corrections that are lost in the rounding of values of this norm */
double stage_newton_round_off(double size);

#endif
