/* Factors that vanish at a point of the solution. */
#ifndef DAE_SOLVE_PREPARE_VANISHING_H
#define DAE_SOLVE_PREPARE_VANISHING_H

#include "model/analyse.h"

/* x = 0 where values are nothing but rounding of zero, at consistent values. An equation x_j = e
 * may say that a small one is none: a capacitance of 1e-18. False: memory */
bool drop_rounding(const equation_set *set, const model_point *at, int orders, double **x);

/* Whether the model as it is written has index 1 at the point, where some factors of derivatives
 * are zero: C(v) der(v) = i where C vanishes is an equation for i, and what follows for v may be as
 * good. An implicit method takes both as they come. The graph is entered. 1, 0, -1: memory */
int implicit_at(const model_form *f, const mode_slots *slots, const model_point *at);

#endif
