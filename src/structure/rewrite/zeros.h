/* Variables that are zero wherever the equations hold. */
#ifndef DAE_STRUCTURE_REWRITE_ZEROS_H
#define DAE_STRUCTURE_REWRITE_ZEROS_H

#include "structure/index/equations.h"

/* zero[j]: an equation x_j = e says so, whose e is zero with these parameters whatever the other
 * variables are, as the capacitance C = Cj*exp(v) with Cj = 0. It looks like a pivot of C*der(v) =
 * i at a point in general position, where C is not what its equation says. Owned; NULL: memory. */
bool *equation_zeros(const equation_set *set, const double *parameters);

/* x_j^(p) = 0, p <= orders, for those of them. */
void hold_zeros(const equation_set *set, const bool *zero, int orders, double **x);

#endif
