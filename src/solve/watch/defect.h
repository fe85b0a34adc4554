/* How far the dense output of an attempt is from the equations inside of its step. */
#ifndef DAE_SOLVE_WATCH_DEFECT_H
#define DAE_SOLVE_WATCH_DEFECT_H

#include "control/attempt.h"

struct dae_solver;

/* Values that equations give are set in y, where states have theirs at t. */
typedef void follow_states(void *context, struct dae_solver *s, double t, double *y);

/* Of an attempt that passes its test, at t within its step, in tolerances: the largest correction
 * of a state. What `follow` sets is taken from the equations, not from the dense output: NULL:
 * nothing. INFINITY: the equations have no value there. 0: it cannot be told, since the residual
 * does not have all rows of the form that the method works on, or since the method projects the
 * ends of its steps, as those of second order do. The attempt and the method stay as they are. */
double defect_inside(struct dae_solver *s, const attempt *a, double t, follow_states *follow,
                     void *context);

/* y[k] and yp[k] = the dense output of such an attempt at t[k]; n numbers each. False: it has none
 * before it is accepted. */
bool dense_inside(struct dae_solver *s, int count, const double *t, double *y, double *yp);

#endif
