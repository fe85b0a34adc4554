/* Constraints that were released, as they followed from others at the start: whether they still do.
 *
 * A released constraint has no say in the run. If it parts from the others later, with time or at
 * an event, the run would be that of another model. So its residual is looked at after every step,
 * in units of the tolerances, beside those of the constraints that are kept. */
#ifndef DAE_SOLVE_RUN_RELEASED_WATCH_H
#define DAE_SOLVE_RUN_RELEASED_WATCH_H

#include "daedal.h"
#include "formulation/formulation.h"
#include "model/model.h"

struct dae_solver;
typedef struct released_watch released_watch;

/* For the equations `rows` of an analysed set that were released, beside its other constraints;
 * false: memory. Adds to the graph. */
bool released_watch_new(released_watch **watch, const model_form *base, const analysed *a,
                        const bool *rows);
void released_watch_free(released_watch *watch); /* NULL is fine */

/* After an accepted step: DAE_OK, or DAE_ERR_SINGULAR with the constraints that part. */
dae_status released_watch_step(struct dae_solver *s);

#endif
