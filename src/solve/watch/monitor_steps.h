/* What monitors see of a run. */
#ifndef DAE_SOLVE_WATCH_MONITOR_STEPS_H
#define DAE_SOLVE_WATCH_MONITOR_STEPS_H

#include "daedal.h"

struct dae_solver;

/* The method starts at (t, y, y'): what the invariants are to be. */
dae_status monitors_start(struct dae_solver *s, double t, const double *y, const double *yp);
/* The end of an accepted step. */
void monitors_note(struct dae_solver *s, double t, const double *y, const double *yp);

#endif
