#include "linalg/saddle_small.h"

#include "base/memory.h"
#include "base/vector.h"

#include <float.h>
#include <math.h>

/* As for L U, see saddle.c. */
static const double PIVOT_LIMIT = 1e-13;

/* Full matrices, factor and solve, m = 4 .. 24, 1 to 6 degrees of freedom: 0.6 to 0.8 of the time
 * of L U. Beyond 20 rows nothing was gained in two of the runs. */
enum { MOST_ROWS = 20, MOST_FREE = 6, MOST_COLUMNS = MOST_ROWS + MOST_FREE };

/* A matrix after its exchanges. */
typedef struct exchanged {
    double *A;              /* m x n by columns */
    int pivot[MOST_ROWS];   /* p_k */
    int free[MOST_COLUMNS]; /* the free variables, after factoring n - m of them */
    double smallest;
} exchanged;

struct small_null {
    int n, m, dof;
    bool symmetric;
    exchanged C, B;
    const double *M;                    /* borrowed */
    double Z[MOST_FREE * MOST_COLUMNS]; /* null basis of C by columns */
    double W[MOST_FREE * MOST_COLUMNS]; /* of B; not used where symmetric */
    double MZ[MOST_FREE * MOST_COLUMNS];
    double reduced[MOST_FREE * MOST_FREE]; /* (W'M Z)^-1 by rows */
    double block[2 * MOST_ROWS * MOST_COLUMNS];
};

bool small_null_fits(int n, int m)
{
    return m > 0 && m <= MOST_ROWS && n - m <= MOST_FREE;
}

small_null *small_null_new(int n, int m)
{
    small_null *s = DAE_NEW(small_null);
    if (!s) return NULL;
    s->n = n;
    s->m = m;
    s->dof = n - m;
    s->C.A = s->block;
    s->B.A = s->block + MOST_ROWS * MOST_COLUMNS;
    return s;
}

void small_null_free(small_null *s)
{
    dae_free(s);
}

double *small_null_C(small_null *s)
{
    return s->C.A;
}

double *small_null_B(small_null *s)
{
    return s->B.A;
}

double small_null_pivot(const small_null *s)
{
    return s->symmetric ? s->C.smallest : fmin(s->C.smallest, s->B.smallest);
}

/* ---- exchanges; `m` and `n` are constants where this is inlined ---- */

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif

/* Place in x->free of the largest entry of row k among the free columns */
INLINED int largest_free(const exchanged *x, int m, int k, int count)
{
    int best = 0;
    double size = fabs(x->A[k + x->free[0] * m]);
    for (int c = 1; c < count; c++) {
        double other = fabs(x->A[k + x->free[c] * m]);
        if (other > size) {
            size = other;
            best = c;
        }
    }
    return best;
}

/* Row k is solved for variable p: column_j -= (A(k,j) / A(k,p)) column_p for all other columns. Row
 * k itself is written last: a vector loaded right after a store to one of its parts would wait. */
INLINED void exchange_row(double *restrict A, int m, int n, int k, int p)
{
    double *restrict column = A + p * m;
    const double r = 1.0 / column[k];
    double pivot[MOST_ROWS];
    for (int i = 0; i < m; i++) pivot[i] = column[i] * -r;
    for (int j = 0; j < n; j++) {
        double *restrict other = A + j * m;
        const double t = other[k];
        if (t == 0.0 || j == p) continue;
        for (int i = 0; i < m; i++) other[i] += t * pivot[i];
        other[k] = t * r;
    }
    for (int i = 0; i < m; i++) column[i] = pivot[i];
    column[k] = r;
}

/* All exchanges; the first row without a pivot, or m. NaN has none. */
INLINED int exchange_all(exchanged *x, int m, int n)
{
    double scale[MOST_ROWS] = {0.0};
    for (int j = 0; j < n; j++) {
        x->free[j] = j;
        for (int i = 0; i < m; i++) {
            double size = fabs(x->A[i + j * m]);
            scale[i] = size > scale[i] ? size : scale[i];
        }
    }
    x->smallest = 1.0;
    for (int k = 0, count = n; k < m; k++) {
        int best = largest_free(x, m, k, count), p = x->free[best];
        double size = fabs(x->A[k + p * m]);
        if (!(size > PIVOT_LIMIT * scale[k] && size >= DBL_MIN && size <= DBL_MAX)) return k;
        if (size < x->smallest * scale[k]) x->smallest = size / scale[k];
        x->pivot[k] = p;
        x->free[best] = x->free[--count];
        exchange_row(x->A, m, n, k, p);
    }
    return m;
}

/* One degree of freedom is what most mechanisms have: constants for both loops there. */
INLINED int exchange_sized(exchanged *x, int m, int n)
{
    return n == m + 1 ? exchange_all(x, m, m + 1) : exchange_all(x, m, n);
}

static int exchange(exchanged *x, int m, int n)
{
    switch (m) {
    case 1: return exchange_sized(x, 1, n);
    case 2: return exchange_sized(x, 2, n);
    case 3: return exchange_sized(x, 3, n);
    case 4: return exchange_sized(x, 4, n);
    case 5: return exchange_sized(x, 5, n);
    case 6: return exchange_sized(x, 6, n);
    case 7: return exchange_sized(x, 7, n);
    case 8: return exchange_sized(x, 8, n);
    default: return exchange_all(x, m, n);
    }
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

/* y = M x */
static void multiply(int n, const double *restrict M, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++) y[i] = M[i] * x[0];
    for (int j = 1; j < n; j++)
        for (int i = 0; i < n; i++) y[i] += M[i + j * n] * x[j];
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
    double out[MOST_FREE * MOST_FREE];
    if (exchange_all(&x, n, n) < n) return false;
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
static void particular(const small_null *s, const double *restrict r, double *restrict x)
{
    const int m = s->m;
    double y[MOST_ROWS] = {0.0};
    for (int j = 0; j < m; j++) {
        const double *restrict column = s->C.A + s->C.pivot[j] * m;
        const double t = r[j];
        for (int i = 0; i < m; i++) y[i] += t * column[i];
    }
    for (int j = 0; j < s->dof; j++) x[s->C.free[j]] = 0.0;
    for (int k = 0; k < m; k++) x[s->C.pivot[k]] = y[k];
}

/* lambda with B1' lambda = h on the pivots of B */
static void forces_of(const small_null *s, const double *h, double *restrict lambda)
{
    const exchanged *B = s->symmetric ? &s->C : &s->B;
    double at_pivots[MOST_ROWS];
    for (int k = 0; k < s->m; k++) at_pivots[k] = h[B->pivot[k]];
    for (int j = 0; j < s->m; j++) lambda[j] = dot(s->m, B->A + B->pivot[j] * s->m, at_pivots);
}

/* x = x_p + Z w with C x_p = r, W'M Z w = W'(f - M x_p); then B1' lambda = (f - M x)_1 */
void small_null_solve(small_null *s, double *x, double *lambda, bool forces)
{
    const int n = s->n, dof = s->dof;
    const double *W = s->symmetric ? s->Z : s->W;
    double f[MOST_COLUMNS], Mx[MOST_COLUMNS], rest[MOST_FREE];
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
