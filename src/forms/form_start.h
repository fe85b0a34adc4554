/* What the starts of the forms share. */
#ifndef DAE_FORMS_FORM_START_H
#define DAE_FORMS_FORM_START_H

#include "forms/form_manifold.h"

/* What a start is given. */
typedef struct start {
    form_instance *x;
    double t;
    const double *weights;
    const dae_tag *tags; /* or NULL */
    double *y, *yp;
    double *size; /* per unknown: how far it may move at equal cost; owned */
    dae_diag *diag;
} start;

/* Failures in words; each returns the status it puts into the diagnostic. */
dae_status start_exhausted(const start *s);
dae_status start_evaluation(const start *s, eval_status status);
/* `what` is not met, by constraint p->worst */
dae_status start_far(const start *s, const manifold *p, const char *what);
dae_status start_manifold(const start *s, const manifold *p, manifold_status status,
                          const char *what);
const char *start_variable(const start *s, int i); /* named in the diagnostic, too */

/* Unknowns first .. first + count - 1 may move by their weights; fixed ones not at all. */
void start_sizes(const start *s, int first, int count);
/* Rows of the constraint matrix that depend on each other, even while all variables may move. */
dae_status start_independent(const start *s, manifold *p, const double *values, double *y);

/* After `status` of start_independent: whether the constraints follow from each other, so that the
 * run can go on; else status. */
dae_status start_redundant(const start *s, dae_status status);
/* After `status`: where values on the constraints were not found because these contradict each
 * other, an error that names them. */
dae_status start_conflict(const start *s, dae_status status);

/* Whether M or E, declared constant, is constant (form_declared.c). */
dae_status start_declared(const start *s);
/* Whether the mass matrix in mw.M is one. */
dae_status start_masses(const start *s);

/* The full mechanical form (form_multibody_start.c). */
dae_status multibody_start(const start *s);

#endif
