#include "linalg/linear_solver.h"

const linear_solver_ops *linear_solver_for(const matrix_layout *layout)
{
    if (layout->kind == DAE_STRUCTURE_SPARSE) return &linear_sparse;
    if (layout->kind == DAE_STRUCTURE_BANDED) return &linear_banded;
    return &linear_dense;
}

void linear_free(linear_solver *solver)
{
    if (solver) solver->ops->free(solver);
}
