/* Band LU with partial pivoting. Own kernels where the band is narrow, LAPACK where it is wide.
 *
 * Both leave the factors in dgbtrf's form. With kl = lower, ku = upper and column stride
 * ld = 2 kl + ku + 1, element (i,j) lies at [kl + ku + i - j + j ld]: U has bandwidth kl + ku, the
 * multipliers of column j follow below the diagonal, in the row order of the time they were made.
 */
#include "base/memory.h"
#include "base/vector.h"
#include "linalg/lapack.h"
#include "linalg/linear_solver.h"

#include <float.h>
#include <math.h>

/* Up to this many subdiagonals the own kernels beat OpenBLAS's dgbtrf and dgbtrs, which pay several
 * calls a column: bench/linalg_kernels.c, n = 2000, least of 7 runs on an AMD EPYC with -O3. Factor
 * 19 against 44 ns a row at 1, 80 against 150 at 12, 277 against 300 at 24, 505 against 384 at 32;
 * solve 13 against 33 ns at 1, 38 against 63 at 32, 64 against 82 at 48, 116 against 91 at 64. */
enum { NARROW_FACTOR = 24, NARROW_SOLVE = 48 };

typedef struct banded_solver {
    linear_solver base;
    int lower, upper;   /* bandwidths, cut at n-1 */
    int stride;         /* 2 lower + upper + 1 */
    double *lu;         /* n*stride */
    double *reciprocal; /* n: 1/U(k,k) */
    int *swap;          /* n: LAPACK's row interchanges, from 1 */
    double *work;       /* max(3n, stride): for the condition estimate */
    int *iwork;         /* n */
} banded_solver;

static void banded_free(linear_solver *solver)
{
    banded_solver *s = (banded_solver *)solver;
    dae_free(s->lu);
    dae_free(s->reciprocal);
    dae_free(s->swap);
    dae_free(s->work);
    dae_free(s->iwork);
    dae_free(s);
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static linear_solver *banded_analyse(const matrix_layout *layout)
{
    const int n = layout->n;
    banded_solver *s = DAE_NEW(banded_solver);
    if (!s) return NULL;
    s->base = (linear_solver){.ops = &linear_banded, .layout = layout, .singular_column = -1};
    s->lower = smaller(layout->lower, n - 1);
    s->upper = smaller(layout->upper, n - 1);
    s->stride = 2 * s->lower + s->upper + 1;
    s->lu = DAE_ARRAY(double, (size_t)n *(size_t)s->stride);
    s->reciprocal = DAE_ARRAY(double, n);
    s->swap = DAE_ARRAY(int, n);
    s->work = DAE_ARRAY(double, 3 * (size_t)n + (size_t)s->stride);
    s->iwork = DAE_ARRAY(int, n);
    if (s->lu && s->reciprocal && s->swap && s->work && s->iwork) return &s->base;
    banded_free(&s->base);
    return NULL;
}

/* Spread the band into the factors' storage, with room for fill above. */
static void load_band(banded_solver *s, const double *restrict values)
{
    const matrix_layout *layout = s->base.layout;
    const int n = layout->n, width = s->lower + s->upper + 1;
    const size_t source = (size_t)layout->lower + (size_t)layout->upper + 1;
    const double *restrict from = values + (layout->upper - s->upper);
    double *restrict to = s->lu;
    for (int j = 0; j < n; j++, from += source, to += s->stride) {
        for (int i = 0; i < s->lower; i++) to[i] = 0.0;
        for (int i = 0; i < width; i++) to[s->lower + i] = from[i];
    }
}

/* P A = L U right-looking on the band; returns the column without a usable pivot, or n. `diagonal`
 * points at U(k,k); the element below and to the right is ld further, so rows run in steps of ld-1.
 */
static inline int factor_kernel(int n, int kl, int ku, double *restrict lu,
                                double *restrict reciprocal, int *restrict swap)
{
    const int ld = 2 * kl + ku + 1, step = ld - 1;
    double *diagonal = lu + kl + ku;
    int reach = 0; /* last column that an interchange has touched so far */
    for (int k = 0; k < n; k++, diagonal += ld) {
        const int below = kl < n - 1 - k ? kl : n - 1 - k;
        int p = 0;
        double most = fabs(diagonal[0]);
        for (int i = 1; i <= below; i++)
            if (fabs(diagonal[i]) > most) {
                most = fabs(diagonal[i]);
                p = i;
            }
        if (!(most >= DBL_MIN && most <= DBL_MAX)) return k;
        swap[k] = k + p + 1;
        const int wanted = k + p + ku < n - 1 ? k + p + ku : n - 1;
        if (wanted > reach) reach = wanted;
        if (p > 0)
            for (int j = 0; j <= reach - k; j++) {
                double *at = diagonal + (ptrdiff_t)j * step, t = at[0];
                at[0] = at[p];
                at[p] = t;
            }
        const double r = 1.0 / diagonal[0];
        reciprocal[k] = r;
        for (int i = 1; i <= below; i++) diagonal[i] *= r;
        for (int j = 1; j <= reach - k; j++) {
            double *restrict at = diagonal + (ptrdiff_t)j * step;
            const double u = at[0];
            for (int i = 1; i <= below; i++) at[i] -= diagonal[i] * u;
        }
    }
    return n;
}

/* P A = L U by LAPACK; returns the column without a usable pivot, or n */
static int factor_lapack(banded_solver *s, int n)
{
    lapack_enter();
    int info =
        LAPACKE_dgbtrf_work(LAPACK_COL_MAJOR, n, n, s->lower, s->upper, s->lu, s->stride, s->swap);
    lapack_leave();
    if (info > 0) return info - 1;
    const double *diagonal = s->lu + s->lower + s->upper;
    for (int k = 0; k < n; k++, diagonal += s->stride) {
        if (!(fabs(*diagonal) >= DBL_MIN && fabs(*diagonal) <= DBL_MAX)) return k;
        s->reciprocal[k] = 1.0 / *diagonal;
    }
    return n;
}

static int factor_narrow(banded_solver *s, int n)
{
    if (s->lower == 1 && s->upper == 1)
        return factor_kernel(n, 1, 1, s->lu, s->reciprocal, s->swap);
    if (s->lower == 2 && s->upper == 2)
        return factor_kernel(n, 2, 2, s->lu, s->reciprocal, s->swap);
    return factor_kernel(n, s->lower, s->upper, s->lu, s->reciprocal, s->swap);
}

static linear_status banded_factor(linear_solver *solver, const double *values)
{
    banded_solver *s = (banded_solver *)solver;
    const int n = solver->layout->n;
    int failed = matrix_nonfinite_column(solver->layout, values);
    if (failed < 0) {
        load_band(s, values);
        failed = s->lower <= NARROW_FACTOR ? factor_narrow(s, n) : factor_lapack(s, n);
    }
    solver->singular_column = failed < n ? failed : -1;
    return failed < n ? LINEAR_SINGULAR : LINEAR_OK;
}

/* b := U^-1 L^-1 P b with the interchanges in between */
static inline void solve_kernel(int n, int kl, int ku, const double *restrict lu,
                                const double *restrict reciprocal, const int *restrict swap,
                                double *restrict b)
{
    const int ld = 2 * kl + ku + 1, reach = kl + ku;
    const double *diagonal = lu + kl + ku;
    if (kl > 0)
        for (int k = 0; k < n - 1; k++, diagonal += ld) {
            const int below = kl < n - 1 - k ? kl : n - 1 - k, p = swap[k] - 1;
            const double t = b[p];
            b[p] = b[k];
            b[k] = t;
            for (int i = 1; i <= below; i++) b[k + i] -= diagonal[i] * t;
        }
    diagonal = lu + kl + ku + (ptrdiff_t)(n - 1) * ld;
    for (int k = n - 1; k >= 0; k--, diagonal -= ld) {
        const int above = reach < k ? reach : k;
        const double t = b[k] * reciprocal[k];
        b[k] = t;
        for (int i = 1; i <= above; i++) b[k - i] -= diagonal[-i] * t;
    }
}

static void solve_lapack(const banded_solver *s, int n, double *b)
{
    lapack_enter();
    LAPACKE_dgbtrs_work(LAPACK_COL_MAJOR, 'N', n, s->lower, s->upper, 1, s->lu, s->stride, s->swap,
                        b, n);
    lapack_leave();
}

static void banded_solve(linear_solver *solver, double *b)
{
    banded_solver *s = (banded_solver *)solver;
    const int n = solver->layout->n, kl = s->lower, ku = s->upper;
    if (kl == 1 && ku == 1)
        solve_kernel(n, 1, 1, s->lu, s->reciprocal, s->swap, b);
    else if (kl == 2 && ku == 2)
        solve_kernel(n, 2, 2, s->lu, s->reciprocal, s->swap, b);
    else if (kl <= NARROW_SOLVE)
        solve_kernel(n, kl, ku, s->lu, s->reciprocal, s->swap, b);
    else
        solve_lapack(s, n, b);
}

/* ||A e_j||_1 from the factors: undo, last first, the eliminations and interchanges of the columns
 * that U(:,j) touches. `window` holds rows top .. j + lower. */
static double column_sum(const banded_solver *s, int j, double *window)
{
    const int n = s->base.layout->n, kl = s->lower, reach = s->lower + s->upper;
    const int top = j > reach ? j - reach : 0, last = smaller(n - 1, j + kl);
    const double *diagonal = s->lu + reach + (ptrdiff_t)j * s->stride;
    for (int i = top; i <= last; i++) window[i - top] = i <= j ? diagonal[i - j] : 0.0;
    for (int k = j; k >= top; k--) {
        const double *l = s->lu + reach + (ptrdiff_t)k * s->stride;
        double *at = window + (k - top), t = *at;
        for (int i = 1; i <= kl && k + i < n; i++) at[i] += l[i] * t;
        int p = s->swap[k] - 1 - k;
        t = at[p];
        at[p] = at[0];
        at[0] = t;
    }
    double sum = 0.0;
    for (int i = top; i <= last; i++) sum += fabs(window[i - top]);
    return sum;
}

static double banded_condition(linear_solver *solver)
{
    banded_solver *s = (banded_solver *)solver;
    const int n = solver->layout->n;
    if (solver->singular_column >= 0) return 0.0;
    double norm = 0.0, rcond = 0.0;
    for (int j = 0; j < n; j++) {
        double sum = column_sum(s, j, s->work);
        if (sum > norm) norm = sum;
    }
    lapack_enter();
    LAPACKE_dgbcon_work(LAPACK_COL_MAJOR, '1', n, s->lower, s->upper, s->lu, s->stride, s->swap,
                        norm, &rcond, s->work, s->iwork);
    lapack_leave();
    return rcond;
}

const linear_solver_ops linear_banded = {.name = "banded",
                                         .analyse = banded_analyse,
                                         .factor = banded_factor,
                                         .solve = banded_solve,
                                         .condition = banded_condition,
                                         .free = banded_free};
