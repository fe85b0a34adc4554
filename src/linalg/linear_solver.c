#include "linalg/linear_solver.h"

#include "linalg/elimination_shape.h"

/* Lists of operations beat the panels behind KLU at every size for which they are made. */
static const linear_solver_ops *sparse_solver(const matrix_layout *layout)
{
    return layout->n <= ELIMINATION_MOST ? &linear_elimination : &linear_sparse;
}

linear_solver *linear_new(const matrix_layout *layout)
{
    switch (layout->kind) {
    case DAE_STRUCTURE_BANDED: return linear_banded.analyse(layout, NULL);
    case DAE_STRUCTURE_SPARSE: return sparse_solver(layout)->analyse(layout, NULL);
    default: return linear_dense.analyse(layout, NULL);
    }
}

linear_solver *complex_new(const matrix_layout *layout, const linear_solver *real)
{
    switch (layout->kind) {
    case DAE_STRUCTURE_BANDED: return complex_banded.analyse(layout, real);
    case DAE_STRUCTURE_SPARSE:
        return real && real->ops == &linear_elimination ? complex_elimination.analyse(layout, real)
                                                        : complex_sparse.analyse(layout, real);
    default: return complex_dense.analyse(layout, real);
    }
}

void linear_solve_several(linear_solver *const *solvers, int count, double *const *re,
                          double *const *im)
{
    if (count > 1 && solvers[0]->ops->solve_several) {
        solvers[0]->ops->solve_several(solvers, count, re, im);
        return;
    }
    for (int k = 0; k < count; k++) solvers[k]->ops->solve(solvers[k], re[k], im[k]);
}

void linear_solve_rows(linear_solver *solver, int count, double *b)
{
    const size_t n = (size_t)solver->layout->n;
    if (count > 1 && solver->ops->solve_rows) {
        solver->ops->solve_rows(solver, count, b);
        return;
    }
    for (int k = 0; k < count; k++) linear_solve(solver, b + (size_t)k * n);
}

void linear_persist(linear_solver *solver, persist *p)
{
    PERSIST(p, solver->singular_column);
    PERSIST(p, solver->repivots);
    solver->ops->persist(solver, p);
}

void linear_free(linear_solver *solver)
{
    if (solver) solver->ops->free(solver);
}
