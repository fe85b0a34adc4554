/* What the starts of the forms share. */
#ifndef DAE_INIT_FORMS_PARTS_H
#define DAE_INIT_FORMS_PARTS_H

#include "forms/form_manifold.h"
#include "init/engine.h"
#include "init/init.h"

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
dae_status start_moved(const start *s, const manifold *p, engine_outcome outcome, const char *what);
const char *start_constraint(const start *s, int i); /* named in the diagnostic, too */
const char *start_variable(const start *s, int i);   /* named in the diagnostic, too */

/* Unknowns first .. first + count - 1 may move by their sizes; fixed ones not at all. */
void start_sizes(const start *s, int first, int count);
/* Constraints 0 = level(t, x) for a part x of y, with their derivative. */
typedef struct start_part {
    const form_matrix *matrix;
    form_function level;
    form_function jacobian; /* its values at (t, x) */
    void *context;          /* of both */
    int first;              /* x = y + first */
    const char *what;       /* the constraints in words */
} start_part;

/* Move the part onto its constraints. p is made, and left for who asks about its matrix; to be
 * freed in any case. */
dae_status start_project(const start *s, const start_part *part, manifold *p);
/* The same with p at hand, and without words: ENGINE_STALLED where constraint p->worst is not met.
 */
engine_outcome start_move(const start *s, const start_part *part, manifold *p);
/* Rows of the constraint matrix that depend on each other, even while all variables may move. */
dae_status start_independent(const start *s, manifold *p, const double *values, double *y);

/* After `status` of start_independent: whether the constraints follow from each other, so that the
 * run can go on; else status. */
dae_status start_redundant(const start *s, dae_status status);
/* After `status`: where values on the constraints were not found because these contradict each
 * other, an error that names them. */
dae_status start_conflict(const start *s, dae_status status);

/* Whether M or E, declared constant, is constant (forms_declared.c). */
dae_status start_declared(const start *s);

/* One for each form. */
dae_status mechanical_start(const start *s);
dae_status hessenberg_start(const start *s);
dae_status quasilinear_start(const start *s);

#endif
