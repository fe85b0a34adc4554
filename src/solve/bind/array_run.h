/* A model by its derivative array: the last resort where structure and numbers disagree and no
 * rewriting of the equations helps. The reduced system of index 1 [KM98] over the unknowns of the
 * base form takes the place of its equations; events, outputs and all else stay. Dense. */
#ifndef DAE_SOLVE_BIND_ARRAY_RUN_H
#define DAE_SOLVE_BIND_ARRAY_RUN_H

#include "model/analyse.h"
#include "structure/linear/derivative_array.h"

/* More unknowns are not tried. */
enum { ARRAY_RUN_SIZE = 150 };

typedef struct array_run {
    derivative_array array;
    reduced_system reduced;
    bool is_reduced;
    double rank; /* singular values below this part of the largest count as zero */
    int steps;   /* since the reduced system was set up */
    double *x;   /* coefficients of the solution at the last point; owned */
} array_run;

/* Derivatives of the equations that are tried, where their structure says `index`. */
int array_run_limit(int index);
/* An array of derivatives up to `limit` that determines the solution near the point (ease: how
 * easily each unknown moves), or *run = NULL: there is none. DAE_OK or DAE_ERR_MEMORY. Adds to the
 * graph of f. */
dae_status array_run_new(array_run **run, const model_form *f, const mode_slots *slots,
                         const model_point *at, int limit, const double *ease);
/* One over n equations that are no expressions, without a reduced system yet. NULL: memory. */
array_run *array_run_new_black(int n, int limit, array_black_box f, void *context);
void array_run_free(array_run *run); /* NULL is fine */

/* Coefficients at (y, y'), higher ones zero. */
void array_run_load(array_run *run, const double *y, const double *yp);
/* The level that determines the solution near the coefficients at hand, and its reduced system;
 * RANK if there is none. */
array_status array_run_find(array_run *run, double t, double rank);

/* Move (y, y') to the nearest consistent values, and set up the reduced system there; from then on
 * all unknowns move alike. */
array_status array_run_start(array_run *run, double t, double *y, double *yp);

/* Set up the reduced system anew near (y, y'), which stay. */
array_status array_run_renew(array_run *run, double t, const double *y, const double *yp);

/* The reduced system as a residual problem: F and its Jacobians, dense; user is the array_run. */
int array_run_residual(array_run *run, double t, const double *y, const double *yp, double *f);
int array_run_jacobian(array_run *run, double t, const double *y, const double *yp, double *dfdy,
                       double *dfdyp);

#endif
