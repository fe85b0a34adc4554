/* Direct linear solvers behind one interface: analyse, factor, solve, condition, free. */
#ifndef DAE_LINALG_LINEAR_SOLVER_H
#define DAE_LINALG_LINEAR_SOLVER_H

#include "linalg/matrix.h"

typedef enum linear_status {
    LINEAR_OK = 0,
    LINEAR_SINGULAR = 1, /* linear_solver.singular_column tells where */
    LINEAR_MEMORY = -1
} linear_status;

typedef struct linear_solver linear_solver;

struct linear_solver {
    const struct linear_solver_ops *ops;
    const matrix_layout *layout; /* borrowed */
    int singular_column;         /* column of the failed pivot after LINEAR_SINGULAR, else -1 */
    long repivots;               /* sparse: factorisations after the first with fresh pivots */
};

typedef struct linear_solver_ops {
    const char *name;
    /* Symbolic work and all allocation that does not depend on values. NULL: out of memory. */
    linear_solver *(*analyse)(const matrix_layout *layout);
    /* Factor A given by `values` (not kept, not changed). */
    linear_status (*factor)(linear_solver *solver, const double *values);
    /* b := A^-1 b; only after a factorisation that returned LINEAR_OK */
    void (*solve)(linear_solver *solver, double *b);
    /* Estimate of 1/cond_1(A) in [0, 1], from the factors. */
    double (*condition)(linear_solver *solver);
    void (*free)(linear_solver *solver);
} linear_solver_ops;

extern const linear_solver_ops linear_dense;  /* own kernels when small, LAPACK above */
extern const linear_solver_ops linear_banded; /* LAPACK gb */
extern const linear_solver_ops linear_sparse; /* KLU */

/* The solver for a layout: dense, banded or sparse by layout->kind. */
const linear_solver_ops *linear_solver_for(const matrix_layout *layout);

static inline linear_status linear_factor(linear_solver *s, const double *values)
{
    return s->ops->factor(s, values);
}
static inline void linear_solve(linear_solver *s, double *b)
{
    s->ops->solve(s, b);
}
void linear_free(linear_solver *solver); /* NULL is fine */

#endif
