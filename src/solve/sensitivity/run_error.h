/* What errors of the run do to S, which is linearised at its solution. */
#ifndef DAE_SOLVE_SENSITIVITY_RUN_ERROR_H
#define DAE_SOLVE_SENSITIVITY_RUN_ERROR_H

#include "solve/sensitivity/sensitivity_parts.h"

typedef struct run_error run_error;

/* Adds its columns to the directions, which must have their names. `alone`: the error of the run,
 * and not what it does. NULL: memory. */
run_error *run_error_new(directions *d, bool alone);
void run_error_free(run_error *e); /* NULL is fine, here and below */
/* A run begins: no error was seen. */
void run_error_begin(run_error *e);
/* The lead, or the values of the run, have jumped. */
void run_error_restart(run_error *e);
/* The stages of its columns, where those of S are known and its step is about to be accepted. */
dae_status run_error_step(dae_sensitivity *x, double h, double *stages);
/* slopes = v' where the last step of S has ended, if that was at t, nothing has jumped since, and
 * it is known. */
bool run_error_slopes(const run_error *e, double t, int n, double *slopes);
/* Look at the errors where S stands now. */
void run_error_note(dae_sensitivity *x);
/* Whether it has a column of its own for what errors do to S. */
bool run_error_counts(const run_error *e);
/* An event whose relation g bends, bend = g''/g': errors of the run move it, by `least` or more,
 * to a time of another rate, and what it moves by in all directions is off by that. */
void run_error_bend(const dae_sensitivity *x, double least, double bend, double *tau);
/* Tell what is doubtful, once. */
void run_error_tell(dae_sensitivity *x);

#endif
