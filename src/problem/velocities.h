/* Which unknowns of a residual form are velocities of others: rows y_i' = y_j, kept with a problem.
 */
#ifndef DAE_PROBLEM_VELOCITIES_H
#define DAE_PROBLEM_VELOCITIES_H

#include "daedal.h"

/* Row `row` of F says y_unknown' = y_velocity, up to a constant factor. A velocity is that of one
 * unknown only, and has no velocity of its own. */
typedef struct kinematic_row {
    int row, unknown, velocity;
} kinematic_row;

/* The problem's kinematic rows, in place of those it had: of the candidates those that make pairs,
 * in which no unknown is a velocity and no velocity serves twice. Of a chain q' = v, v' = a it is q
 * and v; p->chain has both, for equations of higher order. False: memory. */
bool kinematic_keep(dae_problem *p, int count, const kinematic_row *candidates);

#endif
