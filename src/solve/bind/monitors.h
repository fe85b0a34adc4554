/* What is watched along a run: declared invariants, and residuals of the constraints. */
#ifndef DAE_SOLVE_BIND_MONITORS_H
#define DAE_SOLVE_BIND_MONITORS_H

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
/* Another form is integrated, or none (NULL); false: memory. */
bool monitors_bind(monitors *m, const form_set *f);
/* Values at the start, and how far they have drifted. */
void monitors_persist(monitors *m, persist *p);

#endif
