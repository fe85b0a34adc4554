/* What is watched along a run: declared invariants, and residuals of the constraints. */
#ifndef DAE_SOLVE_RUN_MONITORS_H
#define DAE_SOLVE_RUN_MONITORS_H

#include "method/common/method.h"

typedef struct monitors {
    invariant_set set;
    bool constraints;
    char **names;        /* of the invariants; owned, as all that follows */
    int *variable;       /* of a model: which it is */
    double *all;         /* values of all variables of a model */
    double *now, *drift; /* per invariant: at the last point, largest change */
    double *x, *g, *J;   /* work for the constraints of the form at hand; one block, at x */
} monitors;

struct dae_solver;

/* Check what the options ask for, and make room; s->monitors stays NULL if that is nothing. */
dae_status monitors_new(struct dae_solver *s, const dae_options *options, dae_diag *diag);
void monitors_free(monitors *m); /* NULL is fine */
/* The form that is integrated has changed; false: memory. */
bool monitors_bind(struct dae_solver *s);
/* The method starts at (t, y, y'): what the invariants are to be. */
dae_status monitors_start(struct dae_solver *s, double t, const double *y, const double *yp);
/* The end of an accepted step. */
void monitors_note(struct dae_solver *s, double t, const double *y, const double *yp);

#endif
