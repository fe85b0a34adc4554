/* The beginning of a stretch of a run: consistent values for what is bound, and a method that is
 * ready to go on from them. Starts, events and changes of the method all come through here. */
#ifndef DAE_SOLVE_BEGIN_BEGIN_H
#define DAE_SOLVE_BEGIN_BEGIN_H

#include "solve/bind/solver.h"

/* begin.c: at (t, s->bound.y, s->bound.yp), made consistent as `init` says. */
dae_status solver_begin(dae_solver *s, double t, dae_init init);

/* The last step ended at `from`, a moment before the point at which the solver has begun again.
 * What lies between can be asked for (solver_point). */
void solver_join(dae_solver *s, double from);

/* Whether the relations are at s->bound.y, s->bound.yp on the sides they are held to be. */
bool relations_agree(const dae_solver *s, double t);
/* Memory of the method, unless more searches for values are to come, which need much themselves. */
dae_status solver_ready_method(dae_solver *s);
/* The search for events begins there; part of the above. */
dae_status solver_start_events(dae_solver *s, double t);
/* The same for callbacks at given values: y0, yp0 of the user's unknowns; yp0 NULL: unknown. */
dae_status begin_callbacks(dae_solver *s, double t, const double *y0, const double *yp0);
/* After that, at values that meet the equations: where these do not determine y', as where the
 * coefficient of a derivative vanishes, by their derivatives; or an error that says so. */
dae_status solver_settle_singular(dae_solver *s, double t);
/* Callbacks in a formulation that chooses positions: at the start (`anew`), or after a step where
 * the choice has become bad; then s->bound.choices grows, and the method has to start at
 * s->bound.y, s->bound.yp. */
dae_status forms_choose(dae_solver *s, double t, bool anew);
/* The same input gives the same bits: nothing of what was done before may show. */
dae_status forget_matrices(dae_solver *s);

/* start_facts.c: guesses of unknowns, s->bound.y, that a start has made at a point before: true,
 * and they are there. */
bool guesses_recall(dae_solver *s, const model_point *at);
void guesses_remember(const dae_solver *s, const model_point *at);

/* fixed_starts.c: whether all fixed start values of a model are what its variables begin with, but
 * for those that reinit has set. It is the last word, whatever way the values have come. */
dae_status check_fixed_starts(dae_solver *s, double t);

/* initial_equations.c: whether the initial equations of a model hold; the last word, likewise. */
dae_status check_initial_equations(dae_solver *s, double t);

/* weights.c: error weights at y, with the checks that belong to them. */
dae_status solver_update_weights(dae_solver *s, double t, const double *y);

/* find_velocities.c: the second order form, where rows must be looked for at a point. */
dae_status second_find(dae_solver *s, double t);

/* formulated.c: consistent values on all levels for the form of a mode, a choice of states, and the
 * solver is ready at t. initial: start values count as what their attributes say, and initial
 * equations hold. */
dae_status begin_formulated(dae_solver *s, double t, bool initial);
/* Where the usual way to consistent values of a model as it is written has failed: whether its
 * levels may find them; do so, at the start from what the attributes say, later from the values
 * before. */
bool levels_may_help(const dae_solver *s);
dae_status rescue_by_levels(dae_solver *s, double t, bool initial, dae_status failed);
/* After an accepted step: choose states anew where the old ones have become bad. */
dae_status watch_formulated(dae_solver *s);

/* states.c: whether the form has chosen positions that are looked at before every step: where they
 * are chosen anew the solver is ready in other unknowns. */
bool has_chosen_positions(const dae_solver *s);

#endif
