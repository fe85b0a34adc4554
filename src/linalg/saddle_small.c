#include "linalg/saddle_small.h"

#include "base/memory.h"
#include "base/vector.h"
#include "base/wide.h"
#include "linalg/exchange.h"

#include <math.h>

struct small_null {
    int n, m, dof;
    bool symmetric;
    exchanged C, B;
    const double *M; /* borrowed */
    double *Z;       /* null basis of C by columns */
    double *W;       /* of B; not used where symmetric */
    double *MZ;
    double reduced[EXCHANGE_FREE * EXCHANGE_FREE]; /* (W'M Z)^-1 by rows */
    double block[];                                /* what is pointed to */
};

bool small_null_fits(int n, int m)
{
    return m > 0 && m <= EXCHANGE_ROWS && n - m <= EXCHANGE_FREE;
}

small_null *small_null_new(int n, int m)
{
    const int matrix = m * n, basis = (n - m) * n;
    small_null *s = dae_calloc(sizeof *s + (size_t)(2 * matrix + 3 * basis) * sizeof(double), 1);
    if (!s) return NULL;
    s->n = n;
    s->m = m;
    s->dof = n - m;
    s->C.A = s->block;
    s->B.A = s->C.A + matrix;
    s->Z = s->B.A + matrix;
    s->W = s->Z + basis;
    s->MZ = s->W + basis;
    return s;
}

void small_null_free(small_null *s)
{
    dae_free(s);
}

void small_null_persist(small_null *s, const double *M, persist *p)
{
    const int matrix = s->m * s->n, basis = s->dof * s->n;
    PERSIST_STRUCT(p, s, GAP(small_null, C.A), GAP(small_null, B.A), GAPS(small_null, M, MZ));
    PERSIST_ARRAY(p, s->block, 2 * matrix + 3 * basis);
    if (p->reading) s->M = M;
}

double *small_null_C(small_null *s)
{
    return s->C.A;
}

double *small_null_B(small_null *s)
{
    return s->B.A;
}

/* ---- the null spaces ---- */

static void null_columns(const exchanged *x, int m, int n, double *restrict Z)
{
    for (int j = 0; j < n - m; j++) {
        const double *column = x->A + x->free[j] * m;
        double *z = Z + j * n;
        for (int i = 0; i < n - m; i++) z[x->free[i]] = i == j ? 1.0 : 0.0;
        for (int k = 0; k < m; k++) z[x->pivot[k]] = -column[k];
    }
}

/* y = M x for `width` rows from `first` on; the sums stay in registers. */
DAE_INLINE void multiply_rows(int width, int first, int n, const double *M, const double *x,
                              double *y)
{
    double sum[4];
    for (int i = 0; i < width; i++) sum[i] = M[first + i] * x[0];
    for (int j = 1; j < n; j++)
        for (int i = 0; i < width; i++) sum[i] += M[first + i + j * n] * x[j];
    for (int i = 0; i < width; i++) y[first + i] = sum[i];
}

/* y = M x, four rows at a time; the last four may overlap those before */
DAE_WIDE static void multiply(int n, const double *M, const double *x, double *y)
{
    for (int i = 0; n >= 4 && i < n; i += 4) multiply_rows(4, i < n - 4 ? i : n - 4, n, M, x, y);
    for (int i = 0; n < 4 && i < n; i++) multiply_rows(1, i, n, M, x, y);
}

static inline double dot(int n, const double *restrict a, const double *restrict b)
{
    double even = 0.0, odd = 0.0;
    for (int i = 0; i + 1 < n; i += 2) {
        even += a[i] * b[i];
        odd += a[i + 1] * b[i + 1];
    }
    return n % 2 ? even + odd + a[n - 1] * b[n - 1] : even + odd;
}

/* A := A^-1 for a small square matrix by rows, exchanges with the pivots on rows; false: singular
 */
static bool invert(int n, double *A)
{
    if (n == 1) {
        A[0] = 1.0 / A[0];
        return isfinite(A[0]) && A[0] != 0.0;
    }
    exchanged x = {.A = A}; /* by columns this is A', and so is the inverse */
    double out[EXCHANGE_FREE * EXCHANGE_FREE];
    if (exchange(&x, n, n) < n) return false;
    for (int k = 0; k < n; k++) /* row k belongs to variable p_k, column p_j to row j */
        for (int j = 0; j < n; j++) out[x.pivot[k] + j * n] = A[k + x.pivot[j] * n];
    vector_copy(n * n, out, A);
    return true;
}

static bool reduce(small_null *s)
{
    const int n = s->n, dof = s->dof;
    const double *W = s->symmetric ? s->Z : s->W;
    for (int j = 0; j < dof; j++) {
        multiply(n, s->M, s->Z + j * n, s->MZ + j * n);
        for (int i = 0; i < dof; i++) s->reduced[i * dof + j] = dot(n, W + i * n, s->MZ + j * n);
    }
    return dof == 0 || invert(dof, s->reduced);
}

int small_null_factor(small_null *s, const double *M, bool symmetric)
{
    const int n = s->n, m = s->m;
    s->M = M;
    s->symmetric = symmetric;
    int row = exchange(&s->C, m, n);
    if (row < m) return row;
    null_columns(&s->C, m, n, s->Z);
    if (!symmetric) {
        row = exchange(&s->B, m, n);
        if (row < m) return row;
        null_columns(&s->B, m, n, s->W);
    }
    return reduce(s) ? -1 : m;
}

/* x_p = C1^-1 r on the pivots, zero on the free variables */
static void particular(const small_null *s, const double *r, double *restrict x)
{
    double y[EXCHANGE_ROWS];
    exchange_solve(&s->C, s->m, r, y);
    for (int j = 0; j < s->dof; j++) x[s->C.free[j]] = 0.0;
    for (int k = 0; k < s->m; k++) x[s->C.pivot[k]] = y[k];
}

/* lambda with B1' lambda = h on the pivots of B */
static void forces_of(const small_null *s, const double *h, double *restrict lambda)
{
    const exchanged *B = s->symmetric ? &s->C : &s->B;
    double at_pivots[EXCHANGE_ROWS];
    for (int k = 0; k < s->m; k++) at_pivots[k] = h[B->pivot[k]];
    exchange_transposed(B, s->m, at_pivots, lambda);
}

/* x = x_p + Z w with C x_p = r, W'M Z w = W'(f - M x_p); then B1' lambda = (f - M x)_1 */
void small_null_solve(small_null *s, double *x, double *lambda, bool forces)
{
    const int n = s->n, dof = s->dof;
    const double *W = s->symmetric ? s->Z : s->W;
    double f[EXCHANGE_COLUMNS], Mx[EXCHANGE_COLUMNS], rest[EXCHANGE_FREE];
    vector_copy(n, x, f);
    particular(s, lambda, x);
    bool product = forces || !s->symmetric;
    if (product) multiply(n, s->M, x, Mx);
    for (int i = 0; i < dof; i++) {
        double taken = product ? dot(n, W + i * n, Mx) : dot(n, s->MZ + i * n, x);
        rest[i] = dot(n, W + i * n, f) - taken;
    }
    for (int j = 0; j < dof; j++) {
        double w = dot(dof, s->reduced + j * dof, rest);
        vector_axpy(n, w, s->Z + j * n, x);
        if (product) vector_axpy(n, w, s->MZ + j * n, Mx);
    }
    if (!forces) return;
    for (int i = 0; i < n; i++) f[i] -= Mx[i];
    forces_of(s, f, lambda);
}
