/* A run: start, step, values at a time, another method. */
#ifndef DAE_SOLVE_RUN_RUN_H
#define DAE_SOLVE_RUN_RUN_H

#include "solve/bind/solver.h"

/* start.c, step.c: dae_solver_start and dae_solver_step without the scope that interrupts them. */
dae_status solver_start(dae_solver *s, double t0, const double *y0, const double *yp0);
dae_status solver_step(dae_solver *s, double tend);

/* homotopy.c: y = values of the unknowns at the end of the way from simplified equations to actual
 * ones, guesses for a start at t, if that is found; s is bound as it was written. */
dae_status homotopy_guesses(dae_solver *s, double t, double *y, bool *found);

/* first_step.c: the first step size towards tend, signed. */
double solver_first_step(dae_solver *s, double tend);
/* A step is accepted: what it says of first steps behind events, if it is one. */
void solver_note_resumed(dae_solver *s);

/* point.c: whether values at t can be asked for; values of the form that is integrated into
 * s->bound.at_y and s->bound.at_yp, projected as the options say. */
dae_status solver_check_point(dae_solver *s, double t, const char *call);
dae_status solver_point(dae_solver *s, double t);
/* The same for who asks from outside of the run: later values may depend on that. */
dae_status solver_ask(dae_solver *s, double t);
/* The beginning and the end of a public call: `status`, unless a callback asked to stop in between.
 */
void solver_forget_stop(dae_solver *s);
dae_status solver_heed_stop(dae_solver *s, dae_status status);
/* Rounding in a time of this size; whether t is in the last step, up to that. */
double time_slack(const dae_solver *s);
bool in_last_step(const dae_solver *s, double t);

/* change.c: whether a failed step may be due to the method, so that another one is worth a try. */
bool change_may_help(const dae_solver *s, dae_status failed);
/* GMRES, where it is our choice: whether it fails too often, with an attempt that was rejected, or
 * would do so; what a step that was accepted says; whether factors would take less work; go on with
 * factors. None of it looks at a clock: a run is the same each time. */
void gmres_begin_attempt(dae_solver *s);
bool gmres_gives_up(dae_solver *s, const attempt *a);
void gmres_note_step(dae_solver *s);
bool gmres_is_slow(dae_solver *s);
bool gmres_failed(const dae_solver *s, dae_status failed);
dae_status gmres_replace(dae_solver *s, const char *what);
/* Whether taylor, which does not know stiffness, takes so many steps that it may be that. */
bool is_slow(const dae_solver *s, double tend);
/* The method at work is no use any more, for `reason`: go on with another one from where the solver
 * stands. DAE_OK, or what went wrong. */
dae_status change_method(dae_solver *s, const char *reason);
/* The method at work has failed: the next family's, from the last good point, for a bounded work.
 */
dae_status change_family(dae_solver *s, dae_status failed);
/* The same where its steps lead nowhere: it is not tried again in this run. */
dae_status change_stalled(dae_solver *s);
/* A step is accepted: whether the trouble is over; whether the work is spent before that, and that
 * as an error; at the end of an error, what was tried. */
void fallback_note_step(dae_solver *s);
bool fallback_is_spent(const dae_solver *s);
dae_status fallback_explain_spent(dae_solver *s);
dae_status fallback_explain(dae_solver *s, dae_status failed);
/* The method at work is not for stiff equations. It has filled the solution with fast modes up to
 * the tolerances, which the next one would have to follow: go on with that from a point before
 * they came. */
dae_status change_stiff_method(dae_solver *s, const char *reason);
/* Where a method starts, and behind its steps: keep points that the run may go back to. */
void keep_start(dae_solver *s);
void keep_point(dae_solver *s);
/* Before a start: what a run has shown of the method does not count for the next. */
dae_status reset_method(dae_solver *s);

/* delay_record.c: write down what delayed expressions were, up to where the run stands. */
dae_status delays_record(dae_solver *s);

/* leap.c: after a failure of the step from t_new: over a change of algebraic variables that no step
 * resolves. Whether the solver is ready behind it. */
bool leap_over(dae_solver *s, dae_status failed, double tend);

#endif
