#include "linalg/exchange.h"

#include "base/vector.h"
#include "base/wide.h"

#include <float.h>
#include <math.h>

/* As for L U, see saddle.c. */
static const double PIVOT_LIMIT = 1e-13;

/* `m` and `n` are constants where these are inlined. */

/* Place in x->free of the largest entry of row k among the free columns */
DAE_INLINE int largest_free(const exchanged *x, int m, int k, int count)
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
DAE_INLINE void exchange_row(double *restrict A, int m, int n, int k, int p)
{
    double *restrict column = A + p * m;
    const double r = 1.0 / column[k];
    double pivot[EXCHANGE_ROWS];
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
DAE_INLINE int exchange_all(exchanged *x, int m, int n)
{
    double scale[EXCHANGE_ROWS] = {0.0};
    for (int j = 0; j < n; j++) {
        x->free[j] = j;
        for (int i = 0; i < m; i++) {
            double size = fabs(x->A[i + j * m]);
            scale[i] = size > scale[i] ? size : scale[i];
        }
    }
    for (int k = 0, count = n; k < m; k++) {
        int best = largest_free(x, m, k, count), p = x->free[best];
        double size = fabs(x->A[k + p * m]);
        if (!(size > PIVOT_LIMIT * scale[k] && size >= DBL_MIN && size <= DBL_MAX)) return k;
        x->pivot[k] = p;
        x->free[best] = x->free[--count];
        exchange_row(x->A, m, n, k, p);
    }
    return m;
}

/* One degree of freedom is what most mechanisms have: constants for both loops there. */
DAE_INLINE int exchange_sized(exchanged *x, int m, int n)
{
    return n == m + 1 ? exchange_all(x, m, m + 1) : exchange_all(x, m, n);
}

DAE_WIDE static int exchange_by_size(exchanged *x, int m, int n)
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

int exchange(exchanged *x, int m, int n)
{
    return exchange_by_size(x, m, n);
}

/* ---- solving ---- */

DAE_INLINE void solve_sized(const exchanged *x, int m, const double *restrict r, double *restrict y)
{
    double sum[EXCHANGE_ROWS] = {0.0};
    for (int j = 0; j < m; j++) {
        const double *restrict column = x->A + x->pivot[j] * m;
        const double t = r[j];
        for (int i = 0; i < m; i++) sum[i] += t * column[i];
    }
    for (int i = 0; i < m; i++) y[i] = sum[i];
}

void exchange_solve(const exchanged *x, int m, const double *r, double *y)
{
    switch (m) {
    case 1: y[0] = x->A[x->pivot[0]] * r[0]; break;
    case 2: solve_sized(x, 2, r, y); break;
    case 3: solve_sized(x, 3, r, y); break;
    case 4: solve_sized(x, 4, r, y); break;
    case 5: solve_sized(x, 5, r, y); break;
    case 6: solve_sized(x, 6, r, y); break;
    case 7: solve_sized(x, 7, r, y); break;
    case 8: solve_sized(x, 8, r, y); break;
    default: solve_sized(x, m, r, y); break;
    }
}

void exchange_transposed(const exchanged *x, int m, const double *h, double *r)
{
    for (int j = 0; j < m; j++) {
        const double *column = x->A + x->pivot[j] * m;
        double sum = 0.0;
        for (int i = 0; i < m; i++) sum += column[i] * h[i];
        r[j] = sum;
    }
}
