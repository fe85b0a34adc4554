/* Direct linear solvers behind one interface: analyse, factor, solve, condition, free. Real and
 * complex ones come from one text (dense.inc, banded.inc, sparse.inc). Real and imaginary parts of
 * complex numbers are apart everywhere, so that kernels vectorise, and so that a pair of real
 * vectors is a right-hand side; real solvers pass over the imaginary parts, which are NULL. */
#ifndef DAE_LINALG_LINEAR_SOLVER_H
#define DAE_LINALG_LINEAR_SOLVER_H

#include "base/persist.h"
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
    /* Symbolic work and all allocation that does not depend on values. For complex sparse matrices
     * `real` is a solver of the same layout, whose symbolic analysis is shared and which must live
     * longer; else it may be NULL. NULL: out of memory. */
    linear_solver *(*analyse)(const matrix_layout *layout, const linear_solver *real);
    /* Factor A given by values on the layout (not kept, not changed). */
    linear_status (*factor)(linear_solver *solver, const double *re, const double *im);
    /* The same without allocation, for another thread; false: it cannot, or the pivots failed;
     * factor tells then. */
    bool (*refactor)(linear_solver *solver, const double *re, const double *im);
    /* Stored values of the factors, a measure of the work; 0: not known, or none that another
     * thread should do (LAPACK is one for all). */
    size_t (*values)(const linear_solver *solver);
    /* b := A^-1 b; only after a factorisation that returned LINEAR_OK */
    void (*solve)(linear_solver *solver, double *re, double *im);
    /* The same for several solvers of this kind, with the same bits; NULL: there is no faster way
     * than one after the other. */
    void (*solve_several)(linear_solver *const *solvers, int count, double *const *re,
                          double *const *im);
    /* b := A^-1 b for `count` right-hand sides of n values, one behind the other in b, with the
     * bits of one by one; NULL: there is no faster way than that. */
    void (*solve_rows)(linear_solver *solver, int count, double *b);
    /* Estimate of 1/cond_1(A) in [0, 1], from the factors; NULL for complex matrices. */
    double (*condition)(linear_solver *solver);
    void (*free)(linear_solver *solver);
    /* Save the factors and their pivots, or read them over a solver that was analysed for the same
     * layout; a complex one behind its `real`. */
    void (*persist)(linear_solver *solver, persist *p);
} linear_solver_ops;

/* Dense and banded: own kernels when small or narrow, LAPACK above; sparse: KLU's pivots, or lists
 * of operations for small matrices */
extern const linear_solver_ops linear_dense, linear_banded, linear_sparse, linear_elimination;
extern const linear_solver_ops complex_dense, complex_banded, complex_sparse, complex_elimination;

/* Analyse for the solver of a layout: dense, banded or sparse by layout->kind. NULL: memory */
linear_solver *linear_new(const matrix_layout *layout);
linear_solver *complex_new(const matrix_layout *layout, const linear_solver *real);

/* A sparse one whose order suits these values, small or zero on the diagonal as they may be. */
linear_solver *sparse_analyse_values(const matrix_layout *layout, const double *values);

static inline linear_status linear_factor(linear_solver *s, const double *values)
{
    return s->ops->factor(s, values, NULL);
}
static inline void linear_solve(linear_solver *s, double *b)
{
    s->ops->solve(s, b, NULL);
}
/* b_k := A^-1 b_k for `count` real right-hand sides, one behind the other */
void linear_solve_rows(linear_solver *solver, int count, double *b);
/* b_k := A_k^-1 b_k for `count` solvers of one kind */
void linear_solve_several(linear_solver *const *solvers, int count, double *const *re,
                          double *const *im);
void linear_free(linear_solver *solver); /* NULL is fine */
void linear_persist(linear_solver *solver, persist *p);

#endif
