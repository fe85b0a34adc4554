/* Order and step size: methods propose, this decides. Multistep methods: [BCP96 5.2.3]; one-step
 * methods of one order: proportional-integral control [Gus91], unless the method knows better. */
#ifndef DAE_CONTROL_STEP_CONTROL_H
#define DAE_CONTROL_STEP_CONTROL_H

#include "control/attempt.h"
#include "control/norm.h"
#include "control/step_sequence.h"

typedef struct step_control {
    int order, min_order, max_order;
    double h;      /* next step, signed */
    bool starting; /* order and step still rise with every step */
    bool first;    /* no step accepted yet: h is a guess */
    bool fixed;    /* the user says how long steps are: no error control */
    bool literal;  /* the method's own control holds: next_factor without limits */
    bool ramp;     /* the order rises by one a step to the highest, whatever the estimates say */
    int last_order;
    int error_failures, other_failures; /* since the last accepted step */
    double first_error, first_h;        /* of the first error failure of this step */
    double failed_error, failed_h;      /* of the last one, if error_failures > 0 */
    double max_step;
    double least_growth; /* h grows by at least this factor, or not at all */
    int since_change;    /* accepted steps since h or the order changed */
    int near_bound;      /* accepted steps until the order may rise after a bound was met */
    int hold;            /* accepted steps until h may grow again after a failure */
    bool one_step;       /* one order: order = the power of h in the error estimate */
    bool rejected;       /* the last attempt failed */
    double last_error;   /* of the last accepted step; 0: none */
    bool dassl;          /* multistep: the decisions of DASSL, to the letter */
} step_control;

/* Begin with a step h at the given order (1, or more with a history). */
void control_start(step_control *c, double h, int order, const dae_options *options,
                   int method_max_order);

/* The same for a one-step method whose error estimate behaves as h^order. */
void control_start_one_step(step_control *c, double h, int order, const dae_options *options);

/* An attempt passed (error <= 1): choose order and step of the next one. */
void control_accept(step_control *c, const attempt *a);

/* An attempt failed: choose order and step of the next try. */
void control_reject(step_control *c, const attempt *a);

/* After an attempt that passed its test, and is to be taken again with a shorter step for a reason
 * that no error estimate knows. */
void control_shorten(step_control *c, double h);

#endif
