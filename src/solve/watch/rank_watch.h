/* Points where a model's equations lose rank, looked for on every step, whatever the method.
 *
 * Where the factor of a derivative passes through zero, as 1 - time in (1 - time)*der(x) = -x, the
 * equations determine nothing, and what a method computes beyond is chance: steps may leap over the
 * point without a sign of it. The determinants of the diagonal blocks of the system Jacobian
 * [Pryce01] are followed from step to step: a change of sign is a singular point within the step,
 * which is located on the interpolant. So is a zero of a block of derivatives that is only touched.
 * Blocks whose determinants are constant, or obviously keep their sign, are left out, and large
 * ones, whose matrices would cost as much as the step. */
#ifndef DAE_SOLVE_WATCH_RANK_WATCH_H
#define DAE_SOLVE_WATCH_RANK_WATCH_H

#include "daedal.h"

struct dae_solver;

/* The method starts: what was seen before belongs to another stretch. */
void rank_watch_restart(struct dae_solver *s);
/* Whether determinants have the signs there that they had where the last step ended: else a
 * singular point lies between. */
bool rank_watch_agrees(struct dae_solver *s, double t, const double *y, const double *yp);
/* After an accepted step: DAE_OK, or DAE_ERR_SINGULAR at a singular point within it, with its
 * equations and variables. */
dae_status rank_watch_step(struct dae_solver *s);
/* Whether algebraic equations may lose their rank in the mode at hand; true where that is not
 * known.
 */
bool rank_watch_may_fold(const struct dae_solver *s);

#endif
