/* The symbolic analysis of the real sparse solver, for complex matrices of the same pattern. */
#ifndef DAE_LINALG_COMPLEX_SPARSE_H
#define DAE_LINALG_COMPLEX_SPARSE_H

#include "linalg/linear_solver.h"

#include <klu.h>

/* `real` was made by linear_sparse; it keeps the analysis. */
klu_symbolic *sparse_symbolic(const linear_solver *real);

#endif
