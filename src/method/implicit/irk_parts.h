/* Fully implicit methods: what the parts share. Stages are rows of n values. */
#ifndef DAE_METHOD_IMPLICIT_IRK_PARTS_H
#define DAE_METHOD_IMPLICIT_IRK_PARTS_H

#include "method/common/stages.h"
#include "method/implicit/collocation_newton.h"
#include "method/implicit/irk.h"

/* Errors of the last try of a step: by an estimate, and the stiff part of that. */
typedef struct irk_trials {
    stages_trial plain, stiff;
} irk_trials;

/* What survives between steps. */
typedef struct irk_state {
    const irk_table *table;
    bool project; /* on the constraints after every step, unless the options say none */
    int on, stage[IRK_STAGES]; /* stages that lie on the interpolant */
    int nodes;                 /* of the interpolant, beside 0: */
    double node[IRK_NODES];    /* the c_i > 0, and 1 if it is not among them */
    double left[IRK_STAGES];   /* q'(0) = sum left_j Z_j over these stages */
    double right[IRK_STAGES];  /* and q'(1) */
    double t, t_old;
    long step;                       /* counts starts and accepted steps */
    double plain_error;              /* of the last step, by its estimate alone */
    double *y, *yp, *y_old, *yp_old; /* at t and t_old */
    double *P;                       /* increments at the nodes of the last step */
} irk_state;

/* One attempt. */
typedef struct irk_scratch {
    collocation_step step; /* stages and Newton's method */
    bool rejected;         /* the last attempt was not accepted */
    bool unprojected;   /* by a table that does without: the equations have no constraints apart */
    double first_h;     /* size of the first try since the last accepted step; 0: none */
    double factor;      /* weight of the estimate in the error test */
    double plain_error; /* by the estimate alone */
    irk_trials estimated, at_end, of_slope;
    stages_trial quiet;
    double *P;      /* increments at the nodes */
    double *slope;  /* y' of a point */
    double *y, *yp; /* candidate */
    double *error, *scale;
    double *cy, *cyp; /* columns of the projection's matrix */
    double *work;
} irk_scratch;

/* irk_project.c: whether algebraic variables have the index that their kinds say; at a start. */
attempt_status irk_check_index(const irk_state *s, irk_scratch *w, const method_context *ctx,
                               attempt *result);
/* The candidate on the constraints, with y' and index-2 variables from their
 * derivative; the matrices at hand are lost. */
attempt_status irk_project(const irk_state *s, irk_scratch *w, const method_context *ctx,
                           attempt *result);

/* irk.c: the start by a table, which is borrowed. */
void irk_begin(const irk_table *table, void *state, void *scratch, const method_context *ctx,
               const start_point *at);
extern const method_memory irk_memory;
void irk_attempt(const void *state, void *scratch, const method_context *ctx, double h, int order,
                 attempt *result);
void irk_accept(void *state, void *scratch, const method_context *ctx);
void irk_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                     double *y);

#endif
