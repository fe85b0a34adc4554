#include "linalg/complex_solver.h"

const complex_solver_ops *complex_solver_for(const matrix_layout *layout)
{
    switch (layout->kind) {
    case DAE_STRUCTURE_BANDED: return &complex_banded;
    case DAE_STRUCTURE_SPARSE: return &complex_sparse;
    default: return &complex_dense;
    }
}

void complex_free(complex_solver *solver)
{
    if (solver) solver->ops->free(solver);
}
