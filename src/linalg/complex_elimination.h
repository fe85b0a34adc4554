/* What complex matrices share with the real one of the same pattern: the order of the pivots. */
#ifndef DAE_LINALG_COMPLEX_ELIMINATION_H
#define DAE_LINALG_COMPLEX_ELIMINATION_H

#include "linalg/elimination_kernel.h"
#include "linalg/linear_solver.h"

/* The order that `real`, made by linear_elimination, has now, and its reciprocal growth when it was
 * chosen; NULL: none. */
elimination_shape *elimination_shape_of(const linear_solver *real, double *growth);
/* Its store of code, or NULL */
kernel_store *elimination_store_of(const linear_solver *real);

#endif
