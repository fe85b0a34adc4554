/* What a method is given to start with, and what it proposes for a step. */
#ifndef DAE_CONTROL_ATTEMPT_H
#define DAE_CONTROL_ATTEMPT_H

#include <stdbool.h>

/* Where to start. history = 0: from (t, y, yp) alone. history = m > 0: past[i*n ..] = y(past_t[i]),
 * i = 0 .. m-1, newest first, past_t[0] = t. */
typedef struct start_point {
    double t, h; /* h: the first step that will be tried */
    const double *y, *yp;
    int history;
    const double *past_t, *past_y;
} start_point;

typedef enum attempt_status {
    ATTEMPT_OK = 0,
    ATTEMPT_CONVERGENCE,
    ATTEMPT_EVALUATION,
    ATTEMPT_BOUND,
    ATTEMPT_SINGULAR,
    /* from here on: no step size will help */
    ATTEMPT_UNSUPPORTED, /* attempt.reason says why */
    ATTEMPT_STOP,
    ATTEMPT_MEMORY
} attempt_status;

/* What a method proposes; control/ decides. The vectors live in scratch until the next attempt. */
typedef struct attempt {
    attempt_status status;
    double t, h; /* from t to t + h */
    int order;
    double error;    /* weighted local error; <= 1 passes */
    double terms[4]; /* ||h^q y^(q)|| for q = order-1, order, order+1, order+2; NAN: not known */
    const double *y, *yp;   /* the candidate */
    const double *estimate; /* local error per variable is error_constant * estimate[i] */
    double error_constant;
    const double *scale; /* n: reciprocal weights of `error`, if not those of the norm; else NULL */
    double bound_ratio;  /* after ATTEMPT_BOUND: part of the step within bounds */
    double next_factor;  /* > 0: the step of the next try, or after this one, over h, from an error
                            model of the method's own; 0: control has to find it. Of multistep
                            methods only while order and step rise at the start */
    int next_order;      /* > 0: of the next step, by a method that chooses it; 0: control's */
    double stability; /* h |lambda| over the boundary of stability on the negative axis; 0: unknown
                       */
    int stage;        /* of the last failure, from 1; 0: none, or the method has no stages */
    /* After a failure, if the method understands it: a static text, and what it is about. */
    const char *reason; /* NULL: nothing more is known */
    int variable;       /* of y, -1: none; only with a reason */
    int constraint;     /* row of the form's g, -1: none; only with a reason */
    int invariant;      /* of the invariants, from 1; 0: none; only with a reason */
} attempt;

#endif
