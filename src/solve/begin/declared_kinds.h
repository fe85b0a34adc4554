/* Whether the kinds that the user declared fit what F is like at the start. */
#ifndef DAE_SOLVE_BEGIN_DECLARED_KINDS_H
#define DAE_SOLVE_BEGIN_DECLARED_KINDS_H

#include "solve/bind/solver.h"

/* DAE_OK, or DAE_ERR_ARGUMENT with a variable whose kind contradicts the Jacobians. h: scale of the
 * start. Costs a Jacobian of up to some dozens of variables; more are not looked at. */
dae_status solver_check_kinds(dae_solver *s, double t, double h);

/* Residual callbacks with variables that are declared to be of a higher index than the method is
 * for: DAE_OK, or DAE_ERR_UNSUPPORTED with the variable. Notes whether the matrices at hand look
 * like an index that was not declared: three inverses, up to some dozens of variables. */
dae_status solver_check_declared_index(dae_solver *s, double t);
/* Whether the equations of callbacks have an index above 1 where the run stands, and nobody said
 * so: that explains what rounding seems to. */
bool solver_index_is_undeclared(dae_solver *s);

/* After a step: where the index was suspect it is diagnosed. DAE_OK, or if it is certain and none
 * that the method can integrate DAE_ERR_UNSUPPORTED with the index, the equations and variables it
 * comes from, and what to do. */
dae_status solver_check_index(dae_solver *s);

#endif
