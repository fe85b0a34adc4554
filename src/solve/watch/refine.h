/* Values between the ends of a step of a method on a form of its own. docs/methods/dense-output.md. */
#ifndef DAE_SOLVE_WATCH_REFINE_H
#define DAE_SOLVE_WATCH_REFINE_H

#include "control/step_control.h"
#include "method/common/method.h"

typedef struct refiner refiner;
struct dae_solver;

/* The second run in a checkpoint. */
void refine_persist(struct dae_solver *s, persist *p);

/* After an attempt that is to be accepted, before it is: where the step begins. */
void refine_note_start(struct dae_solver *s);

/* y(t) and y'(t) within the last step in s->bound.at_y and s->bound.at_yp, where the method has a
 * form of its own and its interpolant, which is there on entry, is not good enough; *refined tells.
 * The run goes on as if nothing had been looked at. */
dae_status refine_point(struct dae_solver *s, double t, bool *refined);

#endif
