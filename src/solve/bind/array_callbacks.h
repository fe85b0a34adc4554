/* Residual callbacks by their derivative array: F and its total derivatives by differences along
 * curves, the reduced system of index 1 [KM98] as a residual problem. Dense. */
#ifndef DAE_SOLVE_BIND_ARRAY_CALLBACKS_H
#define DAE_SOLVE_BIND_ARRAY_CALLBACKS_H

#include "problem/residual.h"
#include "solve/bind/array_run.h"

/* More unknowns are not tried: a matrix of the array takes 44 n evaluations of F. */
enum { ARRAY_CALLBACKS_SIZE = 60 };

typedef struct callback_array {
    array_run *run;       /* owned */
    evaluator eval;       /* of the user's callbacks; counts in a solver's statistics */
    dae_problem *problem; /* the reduced system; owned */
    double part;   /* of the time in which a curve moves, between the points at which F is taken */
    double h;      /* and what that was where it was chosen: no longer elsewhere */
    double *work;  /* points and values there; owned */
    double *rough; /* rounding errors of F_0, F_1, .. with the step at hand; owned */
} callback_array;

/* DAE_OK, DAE_ERR_MEMORY or DAE_ERR_UNSUPPORTED, with text. */
dae_status callback_array_new(callback_array **result, const dae_problem *base, dae_stats *stats,
                              eval_failure *stop, dae_diag *diag);
void callback_array_free(callback_array *a); /* NULL is fine */

/* Move (y, y') to consistent values, find how often F must be differentiated, and set up the
 * reduced system. `fixed`: n unknowns that should stay, or NULL. rtol: what derivatives must be
 * accurate to.
 */
dae_status callback_array_start(callback_array *a, double t, const bool *fixed, double rtol,
                                double *y, double *yp, dae_diag *diag);

#endif
