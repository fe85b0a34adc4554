#include "linalg/linear_solver.h"

linear_solver *linear_new(const matrix_layout *layout)
{
    switch (layout->kind) {
    case DAE_STRUCTURE_BANDED: return linear_banded.analyse(layout, NULL);
    case DAE_STRUCTURE_SPARSE: return linear_sparse.analyse(layout, NULL);
    default: return linear_dense.analyse(layout, NULL);
    }
}

linear_solver *complex_new(const matrix_layout *layout, const linear_solver *real)
{
    switch (layout->kind) {
    case DAE_STRUCTURE_BANDED: return complex_banded.analyse(layout, real);
    case DAE_STRUCTURE_SPARSE: return complex_sparse.analyse(layout, real);
    default: return complex_dense.analyse(layout, real);
    }
}

void linear_free(linear_solver *solver)
{
    if (solver) solver->ops->free(solver);
}
