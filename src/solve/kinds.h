/* Whether the kinds that the user declared fit what F is like at the start. */
#ifndef DAE_SOLVE_KINDS_H
#define DAE_SOLVE_KINDS_H

#include "solve/solver.h"

/* DAE_OK, or DAE_ERR_ARGUMENT with a variable whose kind contradicts the Jacobians. h: scale of the
 * start. Costs a Jacobian of up to some dozens of variables; more are not looked at. */
dae_status solver_check_kinds(dae_solver *s, double t, double h);

#endif
