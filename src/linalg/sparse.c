/* Sparse LU of real matrices, and what their complex relatives take from it. */
#include "base/vector.h"
#include "linalg/complex_sparse.h"
#include "linalg/inverse_norm.h"
#include "linalg/number.h"
#include "linalg/scalar.h"

/* y -= L u for rows x m, four columns at a time */
DAE_INLINE void subtract_product(int rows, int m, int ld, const double *restrict l,
                                 const double *restrict u, double *restrict y)
{
    int j = 0;
    for (; j + 3 < m; j += 4, l += 4 * (ptrdiff_t)ld) {
        const double *restrict b = l + ld, *restrict c = b + ld, *restrict d = c + ld;
        const double u0 = u[j], u1 = u[j + 1], u2 = u[j + 2], u3 = u[j + 3];
        for (int i = 0; i < rows; i++) y[i] -= (l[i] * u0 + b[i] * u1) + (c[i] * u2 + d[i] * u3);
    }
    for (; j < m; j++, l += ld)
        for (int i = 0; i < rows; i++) y[i] -= l[i] * u[j];
}

#define KLU(f) klu_##f
#define KLU_VALUES(x, z) x

static double sparse_condition(linear_solver *solver);

#include "linalg/frozen.inc"
#include "linalg/sparse.inc"

linear_solver *sparse_analyse_values(const matrix_layout *layout, const double *values)
{
    return analyse_values(layout, NULL, values);
}

klu_symbolic *sparse_symbolic(const linear_solver *real)
{
    return ((const sparse_solver *)real)->symbolic;
}

frozen_shape *sparse_shape(const linear_solver *real, double *growth)
{
    const sparse_solver *s = (const sparse_solver *)real;
    *growth = s->growth;
    return s->factors ? s->factors->shape : NULL;
}

/* x_k := (U^-T (x - F^T x))_k, from the components before it */
DAE_INLINE void forward_transpose(const frozen_lu *f, int k, double *x)
{
    const frozen_shape *shape = f->shape;
    const int s = shape->owner[k], j = k - shape->first[s];
    const double *column = f->lower + shape->panel[s] + (ptrdiff_t)j * stride_of(shape, s);
    double sum = x[k];
    for (int q = shape->outside.start[k]; q < shape->outside.start[k + 1]; q++)
        sum -= f->F[q] * x[shape->outside.row[q]];
    for (size_t i = shape->piece[shape->segment[k]]; i < shape->piece[shape->segment[k + 1]]; i++)
        sum -= f->upper[i] * x[shape->upper_row[i]];
    for (int i = 0; i < j; i++) sum -= column[i] * x[shape->first[s] + i];
    x[k] = sum * f->reciprocal[k];
}

/* x_k := (L^-T x)_k, from the components after it */
DAE_INLINE void backward_transpose(const frozen_lu *f, int k, double *x)
{
    const frozen_shape *shape = f->shape;
    const int s = shape->owner[k], m = width_of(shape, s), ld = stride_of(shape, s),
              j = k - shape->first[s];
    const double *column = f->lower + shape->panel[s] + (ptrdiff_t)j * ld;
    double sum = x[k];
    for (int i = j + 1; i < m; i++) sum -= column[i] * x[shape->first[s] + i];
    for (int i = m; i < ld; i++) sum -= column[i] * x[shape->row[shape->below[s] + i - m]];
    x[k] = sum;
}

/* b := A^-T b */
static void solve_transpose(frozen_lu *f, double *b)
{
    const frozen_shape *shape = f->shape;
    double *x = f->x;
    for (int k = 0; k < shape->n; k++) x[k] = b[shape->Q[k]];
    for (int c = 0; c < shape->blocks; c++) {
        for (int k = shape->block[c]; k < shape->block[c + 1]; k++) forward_transpose(f, k, x);
        for (int k = shape->block[c + 1] - 1; k >= shape->block[c]; k--)
            backward_transpose(f, k, x);
    }
    for (int i = 0; i < shape->n; i++) b[shape->P[i]] = x[i] * f->scale[i];
    vector_zero(shape->n, x);
}

static void solve_by_factors(linear_solver *solver, double *b)
{
    frozen_solve(((sparse_solver *)solver)->factors, b, NULL);
}

static void solve_transposed(linear_solver *solver, double *b)
{
    solve_transpose(((sparse_solver *)solver)->factors, b);
}

static double sparse_condition(linear_solver *solver)
{
    sparse_solver *s = (sparse_solver *)solver;
    if (!s->valid || !(s->norm > 0.0)) return 0.0;
    return reciprocal_condition(
        s->norm, inverse_norm(solver, solve_by_factors, solve_transposed, s->work, s->iwork));
}
