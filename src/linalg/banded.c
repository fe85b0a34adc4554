/* Band LU of real matrices. */
#include "linalg/parts.h"

/* Up to this many subdiagonals the own kernels beat OpenBLAS's dgbtrf and dgbtrs, which pay several
 * calls a column: bench/linalg_kernels.c, n = 2000, least of 7 runs on an AMD EPYC with -O3. Factor
 * 19 against 44 ns a row at 1, 80 against 150 at 12, 277 against 300 at 24, 505 against 384 at 32;
 * solve 13 against 33 ns at 1, 38 against 63 at 32, 64 against 82 at 48, 116 against 91 at 64. */
enum { NARROW_FACTOR = 24, NARROW_SOLVE = 48 };

static double banded_condition(linear_solver *solver);

#include "linalg/banded.inc"

/* ||A e_j||_1 from the factors: undo, last first, the eliminations and interchanges of the columns
 * that U(:,j) touches. `window` holds rows top .. j + lower. */
static double column_sum(const banded_solver *s, int j, double *window)
{
    const int n = s->base.layout->n, kl = s->lower, reach = s->lower + s->upper;
    const int top = j > reach ? j - reach : 0, last = smaller(n - 1, j + kl);
    const double *diagonal = s->band.part[0] + reach + (ptrdiff_t)j * s->stride;
    for (int i = top; i <= last; i++) window[i - top] = i <= j ? diagonal[i - j] : 0.0;
    for (int k = j; k >= top; k--) {
        const double *l = s->band.part[0] + reach + (ptrdiff_t)k * s->stride;
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
        double sum = column_sum(s, j, s->x);
        if (sum > norm) norm = sum;
    }
    lapack_enter();
    LAPACKE_dgbcon_work(LAPACK_COL_MAJOR, '1', n, s->lower, s->upper, s->lu, s->stride, s->swap,
                        norm, &rcond, s->x, s->iwork);
    lapack_leave();
    return rcond;
}
