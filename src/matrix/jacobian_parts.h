/* What jacobian.c (values) and jacobian_detect.c (patterns) share. */
#ifndef DAE_MATRIX_JACOBIAN_PARTS_H
#define DAE_MATRIX_JACOBIAN_PARTS_H

#include "base/random.h"
#include "matrix/jacobian.h"

/* Fuller than this part of n x n: dense. */
#define JACOBIAN_DENSE_DENSITY 0.3

/* Uniform in [0.1, 1) */
static inline double random_size(uint64_t *state)
{
    return 0.1 + 0.9 * ((double)(random_bits(state) >> 11) * 0x1p-53);
}

/* Whether y_c may have this value. */
static inline bool within_bounds(const dae_residual *form, int c, double value)
{
    return !(form->lower_bounds && value < form->lower_bounds[c]) &&
           !(form->upper_bounds && value > form->upper_bounds[c]);
}

/* The layout in which derivatives are obtained. */
const matrix_layout *jacobian_source(const jacobian *j);

/* Build everything on a pattern that was found, by columns, or as dense. EVAL_OK or EVAL_MEMORY;
 * without memory there is no layout any more. */
eval_status jacobian_adopt(jacobian *j, bool dense, const int *colptr, const int *rowind);

/* Look for entries beyond a detected pattern at (t, y, y') and around it; *grown: some were found,
 * and all values are lost. */
eval_status jacobian_grow(jacobian *j, double t, const double *y, const double *yp,
                          const double *weights, bool *grown);

#endif
