/* What complex matrices share with the real one of the same pattern: symbolic analysis and pivots.
 */
#ifndef DAE_LINALG_COMPLEX_SPARSE_H
#define DAE_LINALG_COMPLEX_SPARSE_H

#include "linalg/frozen_shape.h"
#include "linalg/linear_solver.h"

#include <klu.h>

/* `real` was made by linear_sparse; it keeps the analysis. */
klu_symbolic *sparse_symbolic(const linear_solver *real);

/* The pivots that `real` has now, and their reciprocal growth when they were chosen; NULL: none. */
frozen_shape *sparse_shape(const linear_solver *real, double *growth);

#endif
