/* Whether linear systems are factored or solved by iteration, where the user leaves that to us. */
#ifndef DAE_SOLVE_PREPARE_LINEAR_CHOICE_H
#define DAE_SOLVE_PREPARE_LINEAR_CHOICE_H

#include "solve/prepare/plan.h"

/* Whether GMRES takes the place of factors: by the operations that one factorisation of a sparse
 * matrix is predicted to take, by symbolic analysis, in *operations, and in words in why
 * (CHOICE_TEXT characters). */
bool choose_iterative(const dae_problem *problem, const wishes *w, char *why, double *operations);

#endif
