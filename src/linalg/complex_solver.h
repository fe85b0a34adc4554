/* Direct solvers for complex matrices A = R + i S on a layout: analyse, factor, solve, free, as for
 * real ones (linear_solver.h). Real and imaginary parts are apart everywhere, so that kernels
 * vectorise, and so that a pair of real vectors is a right-hand side. */
#ifndef DAE_LINALG_COMPLEX_SOLVER_H
#define DAE_LINALG_COMPLEX_SOLVER_H

#include "linalg/linear_solver.h"

typedef struct complex_solver complex_solver;

struct complex_solver {
    const struct complex_solver_ops *ops;
    const matrix_layout *layout; /* borrowed */
    int singular_column;         /* column of the failed pivot after LINEAR_SINGULAR, else -1 */
    long repivots;               /* sparse: factorisations after the first with fresh pivots */
};

typedef struct complex_solver_ops {
    const char *name;
    /* All allocation that does not depend on values. For sparse layouts `real` is a solver of the
     * same layout, whose symbolic analysis is shared and which must live longer. NULL: memory. */
    complex_solver *(*analyse)(const matrix_layout *layout, const linear_solver *real);
    /* Factor R + i S, values on the layout (not kept, not changed). */
    linear_status (*factor)(complex_solver *solver, const double *re, const double *im);
    /* The same without allocation, for another thread; false: it cannot, or the pivots failed;
     * factor tells then. */
    bool (*refactor)(complex_solver *solver, const double *re, const double *im);
    /* Stored values of the factors, a measure of the work; 0: not known, or none that another
     * thread should do (LAPACK is one for all). */
    size_t (*values)(const complex_solver *solver);
    /* b := A^-1 b; only after a factorisation that returned LINEAR_OK */
    void (*solve)(complex_solver *solver, double *re, double *im);
    void (*free)(complex_solver *solver);
} complex_solver_ops;

extern const complex_solver_ops complex_dense, complex_banded, complex_sparse;

const complex_solver_ops *complex_solver_for(const matrix_layout *layout);
void complex_free(complex_solver *solver); /* NULL is fine */

#endif
