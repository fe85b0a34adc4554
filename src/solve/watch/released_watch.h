/* Constraints that were released, as they followed from others at the start: whether they still do.
 *
 * A released constraint has no say in the run. If it parts from the others later, with time or at
 * an event, the run would be that of another model. So its residual is looked at after every step,
 * in units of the tolerances, beside those of the constraints that are kept. */
#ifndef DAE_SOLVE_WATCH_RELEASED_WATCH_H
#define DAE_SOLVE_WATCH_RELEASED_WATCH_H

#include "daedal.h"

struct dae_solver;

/* After an accepted step: DAE_OK, or DAE_ERR_SINGULAR with the constraints that part. */
dae_status released_watch_step(struct dae_solver *s);

#endif
