/* The scalars of a factorisation: real, or complex where SCALAR_COMPLEX is defined. Texts that are
 * compiled for both (dense.inc, banded.inc, sparse.inc) use these names alone. */
#ifndef DAE_LINALG_SCALAR_H
#define DAE_LINALG_SCALAR_H

#include "base/memory.h"
#include "linalg/lapack.h"
#include "linalg/linear_solver.h"

#include <float.h>
#include <math.h>

#ifdef SCALAR_COMPLEX

enum { PARTS = 2 };
typedef lapack_complex_double lapack_scalar;
#define LAPACK_SCALAR(f) LAPACKE_z##f##_work
#define SOLVER_OPS(kind) complex_##kind
#define REAL_ONLY(f) NULL /* nobody asks for it of complex matrices */

#else

enum { PARTS = 1 };
typedef double lapack_scalar;
#define LAPACK_SCALAR(f) LAPACKE_d##f##_work
#define SOLVER_OPS(kind) linear_##kind
#define REAL_ONLY(f) f

#endif

/* Whether a pivot of this size is finite and has a finite reciprocal */
static inline bool usable(double size)
{
    return size >= DBL_MIN && size <= DBL_MAX;
}

/* What a factorisation of order n returns that failed at column `failed`; n, where it did not */
static inline linear_status factored(linear_solver *solver, int failed)
{
    const int n = solver->layout->n;
    solver->singular_column = failed < n ? failed : -1;
    return failed < n ? LINEAR_SINGULAR : LINEAR_OK;
}

/* First column with an entry that is not finite, or -1 */
static inline int nonfinite(const linear_solver *solver, const double *re, const double *im)
{
    const int bad = matrix_nonfinite_column(solver->layout, re);
    return PARTS == 1 || bad >= 0 ? bad : matrix_nonfinite_column(solver->layout, im);
}

/* x := re + i im in LAPACK's form, and back */
static inline void pack(size_t count, const double *re, const double *im, lapack_scalar *x)
{
    const double *const source[] = {re, im};
    for (int c = 0; c < PARTS; c++)
        for (size_t k = 0; k < count; k++) ((double *)x)[PARTS * k + (size_t)c] = source[c][k];
}

static inline void unpack(size_t count, const lapack_scalar *x, double *re, double *im)
{
    double *const target[] = {re, im};
    for (int c = 0; c < PARTS; c++)
        for (size_t k = 0; k < count; k++)
            target[c][k] = ((const double *)x)[PARTS * k + (size_t)c];
}

/* |x_k| of an array in LAPACK's form */
static inline double packed_size(const lapack_scalar *x, size_t k)
{
    const double *part = (const double *)(x + k);
    double size = 0.0;
    for (int c = 0; c < PARTS; c++) size += fabs(part[c]);
    return size;
}

#endif
