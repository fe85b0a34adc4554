/* Plans that are kept with their problem, for all of its solvers.
 *
 * A plan depends on the problem, the wishes, the mode and the point where the analysis looks. The
 * store is a list of such plans, the latest used one first; a plan is found again where all of that
 * is the same, bit by bit, or where all that it was decided on can be checked and still holds:
 * structure and numbers of the equations, and the mechanism they are. What a plan has is shared and
 * never changes; what a run writes into (watches, a doubt that comes up at the start) is copied for
 * each user. Counts and lists are guarded by the lock of the model's graph. */
#ifndef DAE_SOLVE_PREPARE_PLAN_STORE_H
#define DAE_SOLVE_PREPARE_PLAN_STORE_H

#include "solve/prepare/plan.h"

/* The plan that was kept for this, in *result, which is zeroed before. True: it was found, *ok or
 * memory ran out for what the caller owns of it. The caller holds the lock. */
bool plan_store_find(const dae_problem *problem, const mode_point *mode, const wishes *w,
                     plan *result, bool *ok);

/* Keep a plan: it goes over to the store, and *made is the caller's share of it. False: memory; the
 * plan is still the caller's. The caller holds the lock. */
bool plan_store_add(const dae_problem *problem, const mode_point *mode, const wishes *w,
                    plan *made);

/* One user less; the caller does not hold the lock. */
void kept_plan_release(kept_plan *kept);

/* The numbers that a plan was made at: t, y, y', parameters and memory. */
const double *kept_plan_numbers(const kept_plan *kept);

/* ---- for start_memory.c ---- */

/* Take the lock that guards the plan; graph_leave() gives it back. */
graph *kept_plan_enter(kept_plan *kept);
/* Where what its starts have computed is; NULL there: nothing so far. */
struct start_memory **kept_plan_starts(kept_plan *kept);
/* The same of what a problem knows before there is a plan; NULL: memory. The caller holds the lock.
 */
struct start_memory **plan_store_starts(model_form *base);
void start_memory_free(struct start_memory *m); /* NULL is fine */

#endif
