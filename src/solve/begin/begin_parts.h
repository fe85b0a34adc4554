/* What the files of this room share. */
#ifndef DAE_SOLVE_BEGIN_BEGIN_PARTS_H
#define DAE_SOLVE_BEGIN_BEGIN_PARTS_H

#include "solve/begin/begin.h"
#include "solve/prepare/start_memory.h"

/* resolve_kinds.c: differential or index-1 for every variable left to us. */
dae_status resolve_kinds(dae_solver *s, double t, double h);

/* levels_of_model.c: nearest values that satisfy all levels. */
dae_status solve_levels(dae_solver *s, double t, bool initial);

/* start_facts.c: what was computed at another start of the plan at hand, where this is one, too. */

/* The numbers of a point, to begin a key with; `at` must outlive it. */
fact_key key_at(const dae_solver *s, const model_point *at);
bool recalls(const dae_solver *s, start_fact what, const fact_key *key, void *result, size_t bytes);
void remembers(const dae_solver *s, start_fact what, const fact_key *key, const void *result,
               size_t bytes);

/* Consistent values of the problem that is bound, by initialize(), or, *known, as at another
 * start, where there was no other solution to tell of. */
dae_status initialize_once(dae_solver *s, double t, double h, dae_init mode, bool *known);

/* certify.c: once per mode, where all equations hold at s->bound.y, s->bound.yp: whether the
 * structure is right there. If not, it leaves a doubt, or an error where nothing but the structure
 * can help. */
dae_status certify_mode(dae_solver *s, double t);

/* states.c: choices by numbers. */

/* Why no states could be chosen. */
dae_status explain_selection(dae_solver *s, double t, selection_status status);
/* Take the choice of states at s->bound.y, s->bound.yp. */
dae_status choose_states(dae_solver *s, double t);
/* Fixed start values are exact, also where the events of the start end; later nothing is. */
void note_kept_starts(dae_solver *s, double t, bool initial);
/* Look at the positions at s->bound.y, s->bound.yp, and change them if they have become bad. */
dae_status reconsider_positions(dae_solver *s, double t, bool *changed);
/* Once per mode, where all equations hold: release constraints that follow from others. */
dae_status settle_redundant(dae_solver *s, double t);

/* by_array.c: without a rewriting that makes structure and numbers agree: by the derivative array,
 * if that determines the solution near the values found so far. */
dae_status seek_array(dae_solver *s, double t, bool initial);

#endif
