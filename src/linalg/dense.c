/* Dense LU of real matrices. */
#include "base/vector.h"
#include "linalg/parts.h"

/* Up to this size the own kernels beat OpenBLAS's dgetrf and dgetrs: bench/linalg_kernels.c, least
 * of 7 runs on an AMD EPYC with -O3. Factor 30 against 109 ns at n = 3, 3.4 against 6.9 us at 32,
 * 22 against 24 us at 64, 50 against 35 us at 80; solve 21 against 69 ns at 3, 1.4 against 1.7 us
 * at 64. */
enum { CROSSOVER = 64 };

/* Short rows are for complex matrices: a real factorisation costs too little. */
enum { SHORT_ROWS_PAY = CROSSOVER + 1 };

static double dense_condition(linear_solver *solver);
static void dense_solve_rows(linear_solver *solver, int count, double *b);

#include "linalg/dense.inc"

/* Up to four right-hand sides at a time, an element of each in one vector. Sums are those of
 * solve_kernel, in its order. */
DAE_WIDE static void solve_four(int n, const dense_solver *s, int count, double *b)
{
    four x[CROSSOVER];
    const ptrdiff_t ld = 4 * (ptrdiff_t)s->blocks;
    const double *lower = s->lower.part[0], *upper = s->upper.part[0];
    for (int i = 0; i < n; i++) {
        x[i] = (four){0.0};
        for (int k = 0; k < count; k++) x[i][k] = b[k * n + s->permutation[i]];
    }
    for (int k = 0; k < n - 1; k++) {
        const four t = x[k];
        for (int i = k + 1; i < n; i++) x[i] -= lower[k * ld + i] * t;
    }
    for (int k = n - 1; k >= 0; k--) {
        const four t = x[k] * s->pivot.part[0][k];
        for (int i = 0; i < k; i++) x[i] -= upper[k * ld + i] * t;
        for (int j = 0; j < count; j++) b[j * n + k] = t[j];
    }
}

static void dense_solve_rows(linear_solver *solver, int count, double *b)
{
    const dense_solver *s = (const dense_solver *)solver;
    const int n = solver->layout->n;
    if (n > CROSSOVER) {
        for (int k = 0; k < count; k++) solve_large(s, n, b + (ptrdiff_t)k * n, NULL);
        return;
    }
    for (; count > 0; count -= 4, b += 4 * n) solve_four(n, s, count < 4 ? count : 4, b);
}

/* The small factors in LAPACK's form: L below, U on and above the diagonal */
static void compose(dense_solver *s, int n)
{
    for (int j = 0; j < n; j++) {
        const ptrdiff_t at = (ptrdiff_t)j * 4 * s->blocks;
        double *column = s->lu + (ptrdiff_t)j * n;
        for (int i = 0; i < n; i++) column[i] = (i <= j ? s->upper : s->lower).part[0][at + i];
    }
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
        solve_small(n, s, column, NULL);
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
    if (s->norm < 0.0) {
        compose(s, n);
        s->norm = norm_from_factors(n, s->lu, s->x);
    }
    if (n <= INVERTED) {
        double rcond = 1.0 / (s->norm * inverse_norm(s, n, s->x));
        return rcond > 0.0 ? rcond : 0.0; /* NaN: hopeless */
    }
    double rcond = 0.0;
    lapack_enter();
    LAPACKE_dgecon_work(LAPACK_COL_MAJOR, '1', n, s->lu, n, s->norm, &rcond, s->x, s->swap + n);
    lapack_leave();
    return rcond;
}
