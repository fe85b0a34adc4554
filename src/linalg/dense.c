/* Dense LU with partial pivoting: P A = L U. Own kernels for small matrices, LAPACK above.
 *
 * Both leave the factors in LAPACK's form (L below, U on and above the diagonal, column-major), so
 * that everything after the factorisation is shared. Reciprocal pivots are kept apart, so that a
 * solve divides nowhere. */
#include "base/memory.h"
#include "base/vector.h"
#include "linalg/lapack.h"
#include "linalg/linear_solver.h"

#include <float.h>
#include <math.h>

/* Up to this size the own kernels beat OpenBLAS's dgetrf and dgetrs: bench/linalg_kernels.c, least
 * of 7 runs on an AMD EPYC with -O3. Factor 30 against 109 ns at n = 3, 3.4 against 6.9 us at 32,
 * 22 against 24 us at 64, 50 against 35 us at 80; solve 21 against 69 ns at 3, 1.4 against 1.7 us
 * at 64. */
enum { CROSSOVER = 64 };

typedef struct dense_solver {
    linear_solver base;
    double *lu;         /* n*n */
    double *reciprocal; /* n: 1/U(k,k) */
    int *swap;          /* n: LAPACK's row interchanges, from 1 */
    int *permutation;   /* n: row i of P A is row permutation[i] of A */
    double *work;       /* 4n: for the condition estimate */
    int *iwork;         /* n */
    double norm;        /* ||A||_1; < 0: to be found from the factors when asked for */
} dense_solver;

static void dense_free(linear_solver *solver)
{
    dense_solver *s = (dense_solver *)solver;
    dae_free(s->lu);
    dae_free(s->reciprocal);
    dae_free(s->swap);
    dae_free(s->permutation);
    dae_free(s->work);
    dae_free(s->iwork);
    dae_free(s);
}

static linear_solver *dense_analyse(const matrix_layout *layout)
{
    const size_t n = (size_t)layout->n;
    dense_solver *s = DAE_NEW(dense_solver);
    if (!s) return NULL;
    s->base = (linear_solver){.ops = &linear_dense, .layout = layout, .singular_column = -1};
    s->lu = DAE_ARRAY(double, layout->count);
    s->reciprocal = DAE_ARRAY(double, n);
    s->swap = DAE_ARRAY(int, n);
    s->permutation = DAE_ARRAY(int, n);
    s->work = DAE_ARRAY(double, 4 * n);
    s->iwork = DAE_ARRAY(int, n);
    if (s->lu && s->reciprocal && s->swap && s->permutation && s->work && s->iwork) return &s->base;
    dense_free(&s->base);
    return NULL;
}

/* Row of the largest |a_i|, i = k..n-1. A NaN at k stays there and fails the pivot test. */
static inline int largest_row(int n, int k, const double *a)
{
    int best = k;
    double most = fabs(a[k]);
    for (int i = k + 1; i < n; i++) {
        double size = fabs(a[i]);
        if (size > most) {
            most = size;
            best = i;
        }
    }
    return best;
}

/* Exchange rows k and p of an n x n matrix and of the permutation. */
static inline void swap_rows(int n, int k, int p, double *restrict lu, int *restrict permutation)
{
    for (int j = 0; j < n; j++) {
        double *column = lu + (size_t)j * (size_t)n;
        double t = column[k];
        column[k] = column[p];
        column[p] = t;
    }
    int t = permutation[k];
    permutation[k] = permutation[p];
    permutation[p] = t;
}

/* P A = L U by columns, right-looking; returns the column without a usable pivot, or n. A NaN or
 * Inf anywhere ends in some pivot, so testing the pivots suffices; a pivot below DBL_MIN has no
 * finite reciprocal. */
static inline int factor_kernel(int n, double *restrict lu, double *restrict reciprocal,
                                int *restrict permutation)
{
    for (int i = 0; i < n; i++) permutation[i] = i;
    for (int k = 0; k < n; k++) {
        double *restrict pivot = lu + (size_t)k * (size_t)n;
        int p = largest_row(n, k, pivot);
        double size = fabs(pivot[p]);
        if (!(size >= DBL_MIN && size <= DBL_MAX)) return k;
        if (p != k) swap_rows(n, k, p, lu, permutation);
        const double r = 1.0 / pivot[k];
        reciprocal[k] = r;
        for (int i = k + 1; i < n; i++) pivot[i] *= r;
        for (int j = k + 1; j < n; j++) {
            double *restrict column = lu + (size_t)j * (size_t)n;
            const double u = column[k];
            for (int i = k + 1; i < n; i++) column[i] -= pivot[i] * u;
        }
    }
    return n;
}

/* The kernel with known trip counts for the sizes of small models */
static int factor_small(int n, double *lu, double *reciprocal, int *permutation)
{
    switch (n) {
    case 1: return factor_kernel(1, lu, reciprocal, permutation);
    case 2: return factor_kernel(2, lu, reciprocal, permutation);
    case 3: return factor_kernel(3, lu, reciprocal, permutation);
    case 4: return factor_kernel(4, lu, reciprocal, permutation);
    case 5: return factor_kernel(5, lu, reciprocal, permutation);
    case 6: return factor_kernel(6, lu, reciprocal, permutation);
    case 7: return factor_kernel(7, lu, reciprocal, permutation);
    case 8: return factor_kernel(8, lu, reciprocal, permutation);
    default: return factor_kernel(n, lu, reciprocal, permutation);
    }
}

/* ||A||_1 */
static double one_norm(int n, const double *A)
{
    double most = 0.0;
    for (int j = 0; j < n; j++) {
        const double *column = A + (size_t)j * (size_t)n;
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += fabs(column[i]);
        if (!(sum <= most)) most = sum;
    }
    return most;
}

/* Turn LAPACK's interchanges into a permutation. */
static void permutation_from_swaps(int n, const int *swap, int *permutation)
{
    for (int i = 0; i < n; i++) permutation[i] = i;
    for (int i = 0; i < n; i++) {
        int p = swap[i] - 1, t = permutation[i];
        permutation[i] = permutation[p];
        permutation[p] = t;
    }
}

/* P A = L U by LAPACK; returns the column without a usable pivot, or n */
static int factor_lapack(dense_solver *s, int n)
{
    s->norm = one_norm(n, s->lu);
    lapack_enter();
    int info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, s->lu, n, s->swap);
    lapack_leave();
    if (info > 0) return info - 1;
    int bad = matrix_nonfinite_column(s->base.layout, s->lu);
    if (bad >= 0) return bad;
    for (int k = 0; k < n; k++) {
        const double pivot = s->lu[(size_t)k * (size_t)n + (size_t)k];
        if (fabs(pivot) < DBL_MIN) return k;
        s->reciprocal[k] = 1.0 / pivot;
    }
    permutation_from_swaps(n, s->swap, s->permutation);
    return n;
}

static linear_status dense_factor(linear_solver *solver, const double *values)
{
    dense_solver *s = (dense_solver *)solver;
    const int n = solver->layout->n;
    memcpy(s->lu, values, (size_t)n * (size_t)n * sizeof *values);
    s->norm = -1.0;
    int failed = n <= CROSSOVER ? factor_small(n, s->lu, s->reciprocal, s->permutation)
                                : factor_lapack(s, n);
    solver->singular_column = failed < n ? failed : -1;
    return failed < n ? LINEAR_SINGULAR : LINEAR_OK;
}

/* b := U^-1 L^-1 P b, by columns */
static inline void solve_kernel(int n, const double *restrict lu, const double *restrict reciprocal,
                                const int *restrict permutation, double *restrict b)
{
    double x[CROSSOVER];
    for (int i = 0; i < n; i++) x[i] = b[permutation[i]];
    for (int k = 0; k < n - 1; k++) {
        const double *restrict column = lu + (size_t)k * (size_t)n;
        const double t = x[k];
        for (int i = k + 1; i < n; i++) x[i] -= column[i] * t;
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *restrict column = lu + (size_t)k * (size_t)n;
        const double t = x[k] * reciprocal[k];
        b[k] = t;
        for (int i = 0; i < k; i++) x[i] -= column[i] * t;
    }
}

static void solve_small(int n, const double *lu, const double *reciprocal, const int *permutation,
                        double *b)
{
    switch (n) {
    case 1: solve_kernel(1, lu, reciprocal, permutation, b); break;
    case 2: solve_kernel(2, lu, reciprocal, permutation, b); break;
    case 3: solve_kernel(3, lu, reciprocal, permutation, b); break;
    case 4: solve_kernel(4, lu, reciprocal, permutation, b); break;
    case 5: solve_kernel(5, lu, reciprocal, permutation, b); break;
    case 6: solve_kernel(6, lu, reciprocal, permutation, b); break;
    case 7: solve_kernel(7, lu, reciprocal, permutation, b); break;
    case 8: solve_kernel(8, lu, reciprocal, permutation, b); break;
    default: solve_kernel(n, lu, reciprocal, permutation, b); break;
    }
}

static void dense_solve(linear_solver *solver, double *b)
{
    dense_solver *s = (dense_solver *)solver;
    const int n = solver->layout->n;
    if (n <= CROSSOVER) {
        solve_small(n, s->lu, s->reciprocal, s->permutation, b);
        return;
    }
    lapack_enter();
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n, 1, s->lu, n, s->swap, b, n);
    lapack_leave();
}

/* ||L U||_1 = ||A||_1 up to round-off, since permuted rows keep column sums */
static double norm_from_factors(int n, const double *lu, double *column)
{
    double most = 0.0;
    for (int j = 0; j < n; j++) {
        const double *u = lu + (size_t)j * (size_t)n;
        vector_zero(n, column);
        for (int k = 0; k <= j; k++) {
            const double *l = lu + (size_t)k * (size_t)n;
            column[k] += u[k];
            for (int i = k + 1; i < n; i++) column[i] += l[i] * u[k];
        }
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += fabs(column[i]);
        if (sum > most) most = sum;
    }
    return most;
}

/* ||A^-1||_1, column by column */
static double inverse_norm(const dense_solver *s, int n, double *column)
{
    double most = 0.0;
    for (int j = 0; j < n; j++) {
        vector_zero(n, column);
        column[j] = 1.0;
        solve_small(n, s->lu, s->reciprocal, s->permutation, column);
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += fabs(column[i]);
        if (!(sum <= most)) most = sum;
    }
    return most;
}

/* Up to this size the inverse itself costs less than LAPACK's estimate: 8 solves of 50 ns. */
enum { INVERTED = 8 };

static double dense_condition(linear_solver *solver)
{
    dense_solver *s = (dense_solver *)solver;
    const int n = solver->layout->n;
    if (solver->singular_column >= 0) return 0.0;
    if (s->norm < 0.0) s->norm = norm_from_factors(n, s->lu, s->work);
    if (n <= INVERTED) {
        double rcond = 1.0 / (s->norm * inverse_norm(s, n, s->work));
        return rcond > 0.0 ? rcond : 0.0; /* NaN: hopeless */
    }
    double rcond = 0.0;
    lapack_enter();
    LAPACKE_dgecon_work(LAPACK_COL_MAJOR, '1', n, s->lu, n, s->norm, &rcond, s->work, s->iwork);
    lapack_leave();
    return rcond;
}

const linear_solver_ops linear_dense = {.name = "dense",
                                        .analyse = dense_analyse,
                                        .factor = dense_factor,
                                        .solve = dense_solve,
                                        .condition = dense_condition,
                                        .free = dense_free};
