/* How far the dense output of a step is from the equations inside of it. docs/methods/dense-output.md. */
#ifndef DAE_SOLVE_WATCH_DEFECT_H
#define DAE_SOLVE_WATCH_DEFECT_H

#include "control/attempt.h"
#include "control/norm.h"
#include "method/common/method.h"

struct dae_solver;

/* An attempt that passes its test so far: where its values inside do not meet the equations, its
 * error is what they are off by. */
attempt_status defect_look(struct dae_solver *s, attempt *a);

/* The attempt was accepted, and control has chosen the next step: no longer than the defect lets
 * expect. */
void defect_accept(struct dae_solver *s);

/* Factors that tell errors inside the last step; NULL: there are none. */
struct iteration *defect_matrix(struct dae_solver *s);

/* Whether algebraic variables that are solved from the states at t of the last step are off by less
 * than those of the interpolant: that is what the states are off by, and not all of the defect. */
bool defect_prefers_equations(struct dae_solver *s, double t);

/* Whether all values inside the last step were found good. */
bool defect_is_small(const struct dae_solver *s);

/* How far the interpolant of the last step is from the equations at t, in tolerances; INFINITY: it
 * cannot be told. */
double defect_at(struct dae_solver *s, double t);

#endif
