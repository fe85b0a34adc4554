/* Failures in words. Each function returns the status that it puts into the diagnostic. */
#ifndef DAE_SOLVE_EXPLAIN_EXPLAIN_H
#define DAE_SOLVE_EXPLAIN_EXPLAIN_H

#include "solve/bind/solver.h"

/* explain.c */

dae_status explain_evaluation(dae_solver *s, eval_status status);
dae_status explain_interrupt(dae_solver *s);
/* A variable has no finite value at t, in the last step. */
dae_status explain_no_row(dae_solver *s, double t, const char *name);
dae_status explain_stiff(dae_solver *s);
/* What a model's equations say about steps that had to become tiny. Whether they say anything. */
bool explain_small_steps(dae_solver *s);
dae_status explain_max_steps(dae_solver *s, double tend);
dae_status explain_weights(dae_solver *s, int variable);
dae_status explain_accuracy(dae_solver *s, double factor);
dae_status explain_rejections(dae_solver *s, const attempt *a, const char *limit);
dae_status explain_fatal(dae_solver *s, const attempt *a);

/* explain_events.c: the search for events cannot go on. */
dae_status explain_events(dae_solver *s, eval_status status);

/* explain_stall.c: steps without progress. */
dae_status explain_stall(dae_solver *s, double tend);

/* explain_growth.c: where a solution has grown far beyond its start, and grows on, the diagnostic
 * of a failure names that instead, which is its cause. Returns status. */
dae_status explain_growth(dae_solver *s, dae_status status);

/* explain_parameters.c: a start that fails at values of parameters where equations depend on each
 * other: name these first. Returns status. */
dae_status explain_parameters(dae_solver *s, double t, dae_status status);

/* explain_rank.c: say so if the equations of a model lose rank at values of the user's unknowns;
 * false: they do not, or it cannot be said. */
bool explain_rank(dae_solver *s, double t, const double *user_y, const double *user_yp);

/* explain_mode.c: a failure of a run in terms of the analysis, where that explains it. */
dae_status explain_mode(dae_solver *s, dae_status status);
/* The same file: that a run by derivative arrays failed, and why there is one. */
void explain_array(dae_solver *s);

#endif
