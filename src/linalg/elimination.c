/* Sparse LU of small real matrices, and what their complex relatives take from it. */
#include "base/vector.h"
#include "linalg/complex_elimination.h"
#include "linalg/inverse_norm.h"
#include "linalg/number.h"
#include "linalg/scalar.h"

static double elimination_condition(linear_solver *solver);

#include "linalg/elimination.inc"

elimination_shape *elimination_shape_of(const linear_solver *real, double *growth)
{
    const elimination_solver *s = (const elimination_solver *)real;
    *growth = s->growth;
    return s->shape;
}

kernel_store *elimination_store_of(const linear_solver *real)
{
    return ((const elimination_solver *)real)->store;
}

void linear_use_kernels(linear_solver *solver, kernel_store *store)
{
    if (solver && solver->ops == &linear_elimination) ((elimination_solver *)solver)->store = store;
}

/* x := L^-T U^-T x, in the order of the pivots */
static void substitute_transpose(const elimination_shape *s, const double *factors, double *x)
{
    const int *index = s->index;
    const double *at = factors;
    for (int k = 0; k < s->n; k++) {
        const int rows = s->lower[k], all = 1 + rows + s->upper[k];
        x[k] *= at[0];
        for (int j = rows + 1; j < all; j++) x[index[j]] -= at[j] * x[k];
        at += all;
        index += all;
    }
    for (int k = s->n - 1; k >= 0; k--) {
        const int rows = s->lower[k], all = 1 + rows + s->upper[k];
        at -= all;
        index -= all;
        for (int i = 1; i <= rows; i++) x[k] -= at[i] * x[index[i]];
    }
}

/* b := A^-T b */
static void solve_transpose(linear_solver *solver, double *b)
{
    elimination_solver *s = (elimination_solver *)solver;
    const elimination_shape *shape = s->shape;
    for (int k = 0; k < shape->n; k++) s->x[k] = b[shape->column[k]];
    substitute_transpose(shape, s->factors, s->x);
    for (int k = 0; k < shape->n; k++) b[shape->row[k]] = s->x[k];
}

/* U(k,j) from the values of step k, which the indices go with; 0: none */
static double upper_entry(const elimination_shape *s, int k, const double *at, const int *index,
                          int j)
{
    if (k == j) return 1.0 / at[0];
    for (int c = 1 + s->lower[k]; c <= s->lower[k] + s->upper[k]; c++)
        if (index[c] == j) return at[c];
    return 0.0;
}

/* || L U ||_1 = ||A||_1 up to rounding, since permutations keep sums of columns */
static double norm_from_factors(const elimination_solver *s, double *sum)
{
    const elimination_shape *shape = s->shape;
    double most = 0.0;
    for (int j = 0; j < shape->n; j++) {
        const double *at = s->factors;
        const int *index = shape->index;
        vector_zero(shape->n, sum);
        for (int k = 0; k <= j; k++) {
            const double u = upper_entry(shape, k, at, index, j);
            sum[k] += u;
            for (int i = 1; i <= shape->lower[k]; i++) sum[index[i]] += at[i] * u;
            at += 1 + shape->lower[k] + shape->upper[k];
            index += 1 + shape->lower[k] + shape->upper[k];
        }
        double size = 0.0;
        for (int i = 0; i < shape->n; i++) size += fabs(sum[i]);
        most = fmax(most, size);
    }
    return most;
}

static void solve_real(linear_solver *solver, double *b)
{
    elimination_solve(solver, b, NULL);
}

static double elimination_condition(linear_solver *solver)
{
    elimination_solver *s = (elimination_solver *)solver;
    if (!s->valid) return 0.0;
    const double norm = norm_from_factors(s, s->extent);
    if (!(norm > 0.0)) return 0.0;
    return reciprocal_condition(
        norm, inverse_norm(solver, solve_real, solve_transpose, s->extent, s->iwork));
}
