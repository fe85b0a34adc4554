#include "linalg/frozen_lu.h"

#include "base/memory.h"
#include "base/vector.h"
#include "base/wide.h"

#include <float.h>
#include <math.h>

struct frozen_lu {
    frozen_shape *shape; /* shared */
    double *lower;       /* the panels */
    double *upper;       /* U above them */
    double *reciprocal;  /* n: 1/U(k,k) */
    double *scale;       /* n: reciprocal row maxima, in the order of the factors */
    double *F;
    double *x;    /* n: zero between calls of frozen_factor */
    double *work; /* n */
};

void frozen_free(frozen_lu *f)
{
    if (!f) return;
    void *const arrays[] = {f->lower, f->upper, f->reciprocal, f->scale, f->F, f->x, f->work};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) dae_free(arrays[k]);
    shape_free(f->shape);
    dae_free(f);
}

frozen_lu *frozen_new(const matrix_layout *layout, const lu_pattern *pattern)
{
    frozen_lu *f = DAE_NEW(frozen_lu);
    if (!f) return NULL;
    f->shape = shape_new(layout, pattern);
    if (f->shape) {
        f->lower = DAE_ARRAY(double, shape_lower(f->shape));
        f->upper = DAE_ARRAY(double, shape_upper(f->shape));
        f->F = DAE_ARRAY(double, shape_outside(f->shape));
        f->reciprocal = DAE_ARRAY(double, layout->n);
        f->scale = DAE_ARRAY(double, layout->n);
        f->x = DAE_ARRAY(double, layout->n);
        f->work = DAE_ARRAY(double, layout->n);
    }
    if (f->lower && f->upper && f->F && f->reciprocal && f->scale && f->x && f->work) return f;
    frozen_free(f);
    return NULL;
}

frozen_shape *frozen_shape_of(frozen_lu *f)
{
    return f->shape;
}

/* ---- dense kernels; all columns have stride ld ---- */

/* u := L^-1 u for a unit lower triangle of order m */
DAE_INLINE void lower_solve(int m, int ld, const double *restrict l, double *restrict u)
{
    for (int j = 0; j + 1 < m; j++, l += ld)
        for (int i = j + 1; i < m; i++) u[i] -= l[i] * u[j];
}

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

/* x[row] -= L u: directly for a few columns, else through a contiguous buffer */
DAE_INLINE void scatter_product(int rows, int m, int ld, const double *restrict l,
                                const double *restrict u, const int *restrict row,
                                double *restrict work, double *restrict x)
{
    const double *restrict b = l + ld, *restrict c = b + ld;
    if (m == 1) {
        for (int i = 0; i < rows; i++) x[row[i]] -= l[i] * u[0];
    } else if (m == 2) {
        for (int i = 0; i < rows; i++) x[row[i]] -= l[i] * u[0] + b[i] * u[1];
    } else if (m == 3) {
        for (int i = 0; i < rows; i++) x[row[i]] -= l[i] * u[0] + b[i] * u[1] + c[i] * u[2];
    } else {
        for (int i = 0; i < rows; i++) work[i] = x[row[i]];
        subtract_product(rows, m, ld, l, u, work);
        for (int i = 0; i < rows; i++) x[row[i]] = work[i];
    }
}

/* ---- factorisation ---- */

/* Move m values from x to u and clear x; most often there is one, which needs no library calls. */
DAE_INLINE void take(int m, double *restrict x, double *restrict u)
{
    if (m == 1) {
        u[0] = x[0];
        x[0] = 0.0;
        return;
    }
    vector_copy(m, x, u);
    vector_zero(m, x);
}

/* Subtract what supernode s contributes to the column in x, from row `start` on; the finished piece
 * of U goes to `u` and its place in x is cleared. */
DAE_INLINE void apply_supernode(frozen_lu *f, int s, int start, double *restrict u)
{
    const int m = f->shape->first[s + 1] - start, ld = stride_of(f->shape, s),
              skip = start - f->shape->first[s];
    const double *l = f->lower + f->shape->panel[s] + (ptrdiff_t)skip * (ld + 1);
    take(m, f->x + start, u);
    lower_solve(m, ld, l, u);
    scatter_product(f->shape->below[s + 1] - f->shape->below[s], m, ld, l + m, u,
                    f->shape->row + f->shape->below[s], f->work, f->x);
}

/* Largest |x_i| */
DAE_INLINE double largest(int count, const double *x, double most)
{
    for (int i = 0; i < count; i++)
        if (fabs(x[i]) > most) most = fabs(x[i]);
    return most;
}

/* x := column k of A, scaled; returns its largest entry */
DAE_INLINE double load_column(frozen_lu *f, int k, const double *values)
{
    double most = 0.0;
    for (int q = f->shape->diagonal.start[k]; q < f->shape->diagonal.start[k + 1]; q++) {
        const int i = f->shape->diagonal.row[q];
        const double v = values[f->shape->diagonal.source[q]] * f->scale[i];
        f->x[i] = v;
        if (fabs(v) > most) most = fabs(v);
    }
    return most;
}

/* Move the column from x into its panel and clear x. */
DAE_INLINE void store_column(frozen_lu *f, int s, double *restrict column)
{
    const int width = width_of(f->shape, s), rows = f->shape->below[s + 1] - f->shape->below[s];
    const int *row = f->shape->row + f->shape->below[s];
    take(width, f->x + f->shape->first[s], column);
    for (int i = 0; i < rows; i++) {
        column[width + i] = f->x[row[i]];
        f->x[row[i]] = 0.0;
    }
}

/* Column k of L and U, left-looking as in [DPN10]; false if its pivot is unusable. */
DAE_INLINE bool factor_column(frozen_lu *f, int k, const double *values, double *growth)
{
    const int s = f->shape->owner[k], j = k - f->shape->first[s], ld = stride_of(f->shape, s);
    double *panel = f->lower + f->shape->panel[s], *column = panel + (ptrdiff_t)j * ld;
    const double size = load_column(f, k, values);
    double most = 0.0;
    for (int q = f->shape->segment[k]; q < f->shape->segment[k + 1]; q++) {
        double *u = f->upper + f->shape->piece[q];
        apply_supernode(f, f->shape->owner[f->shape->segment_first[q]], f->shape->segment_first[q],
                        u);
        most = largest((int)(f->shape->piece[q + 1] - f->shape->piece[q]), u, most);
    }
    store_column(f, s, column);
    lower_solve(j, ld, panel, column);
    subtract_product(ld - j, j, ld, panel + j, column, column + j);
    most = largest(j + 1, column, most);
    const double pivot = column[j];
    if (!(fabs(pivot) >= DBL_MIN && fabs(pivot) <= DBL_MAX)) return false;
    f->reciprocal[k] = 1.0 / pivot;
    for (int i = j + 1; i < ld; i++) column[i] *= f->reciprocal[k];
    if (size < *growth * most) *growth = size / most;
    return true;
}

/* Raise the row maxima by the entries of g. */
DAE_INLINE void widen_rows(const gather *g, int count, const double *restrict values,
                           double *restrict most)
{
    for (int q = 0; q < count; q++) {
        const double size = fabs(values[g->source[q]]);
        if (size > most[g->row[q]]) most[g->row[q]] = size;
    }
}

/* scale_i = 1 / max_j |A(i,j)| */
DAE_INLINE void scale_rows(frozen_lu *f, const double *values)
{
    vector_zero(f->shape->n, f->scale);
    widen_rows(&f->shape->diagonal, f->shape->diagonal.start[f->shape->n], values, f->scale);
    widen_rows(&f->shape->outside, f->shape->outside.start[f->shape->n], values, f->scale);
    for (int i = 0; i < f->shape->n; i++)
        f->scale[i] = f->scale[i] >= DBL_MIN ? 1.0 / f->scale[i] : 1.0;
}

DAE_WIDE static int factor(frozen_lu *f, const double *values, double *growth)
{
    *growth = 1.0;
    scale_rows(f, values);
    for (int q = 0; q < f->shape->outside.start[f->shape->n]; q++)
        f->F[q] = values[f->shape->outside.source[q]] * f->scale[f->shape->outside.row[q]];
    for (int k = 0; k < f->shape->n; k++)
        if (!factor_column(f, k, values, growth)) {
            vector_zero(f->shape->n, f->x);
            return f->shape->Q[k];
        }
    return -1;
}

/* ---- solves ---- */

/* x := L^-1 x on supernode s and what depends on it */
DAE_INLINE void forward(frozen_lu *f, int s, double *x)
{
    const int m = width_of(f->shape, s), ld = stride_of(f->shape, s);
    const double *l = f->lower + f->shape->panel[s];
    lower_solve(m, ld, l, x + f->shape->first[s]);
    scatter_product(ld - m, m, ld, l + m, x + f->shape->first[s],
                    f->shape->row + f->shape->below[s], f->work, x);
}

/* x -= U(:,k) t above the panel */
DAE_INLINE void subtract_column(const frozen_lu *f, int k, double t, double *restrict x)
{
    const double *restrict upper = f->upper;
    if (f->shape->short_pieces) {
        const int *restrict row = f->shape->upper_row;
        const size_t end = f->shape->piece[f->shape->segment[k + 1]];
        for (size_t i = f->shape->piece[f->shape->segment[k]]; i < end; i++)
            x[row[i]] -= upper[i] * t;
        return;
    }
    for (int q = f->shape->segment[k]; q < f->shape->segment[k + 1]; q++) {
        const double *restrict u = upper + f->shape->piece[q];
        const int m = (int)(f->shape->piece[q + 1] - f->shape->piece[q]);
        double *restrict at = x + f->shape->segment_first[q];
        for (int i = 0; i < m; i++) at[i] -= u[i] * t;
    }
}

/* x := U^-1 x on column k, and what depends on it */
DAE_INLINE void backward(const frozen_lu *f, int k, double *restrict x)
{
    const int s = f->shape->owner[k], j = k - f->shape->first[s];
    const double *restrict column =
        f->lower + f->shape->panel[s] + (ptrdiff_t)j * stride_of(f->shape, s);
    const double t = x[k] *= f->reciprocal[k];
    for (int i = 0; i < j; i++) x[f->shape->first[s] + i] -= column[i] * t;
    subtract_column(f, k, t, x);
}

DAE_WIDE static void solve(frozen_lu *f, double *b)
{
    double *x = f->x;
    for (int i = 0; i < f->shape->n; i++) x[i] = b[f->shape->P[i]] * f->scale[i];
    for (int c = f->shape->blocks - 1; c >= 0; c--) {
        const int begin = f->shape->block[c], end = f->shape->block[c + 1];
        for (int s = f->shape->owner[begin]; s < f->shape->supernodes && f->shape->first[s] < end;
             s++)
            forward(f, s, x);
        for (int k = end - 1; k >= begin; k--) backward(f, k, x);
        for (int q = f->shape->outside.start[begin], k = begin; k < end; k++)
            for (; q < f->shape->outside.start[k + 1]; q++)
                x[f->shape->outside.row[q]] -= f->F[q] * x[k];
    }
    for (int k = 0; k < f->shape->n; k++) b[f->shape->Q[k]] = x[k];
    vector_zero(f->shape->n, x);
}

/* x_k := (U^-T (x - F^T x))_k, from the components before it */
DAE_INLINE void forward_transpose(const frozen_lu *f, int k, double *x)
{
    const int s = f->shape->owner[k], j = k - f->shape->first[s];
    const double *column = f->lower + f->shape->panel[s] + (ptrdiff_t)j * stride_of(f->shape, s);
    double sum = x[k];
    for (int q = f->shape->outside.start[k]; q < f->shape->outside.start[k + 1]; q++)
        sum -= f->F[q] * x[f->shape->outside.row[q]];
    for (size_t i = f->shape->piece[f->shape->segment[k]];
         i < f->shape->piece[f->shape->segment[k + 1]]; i++)
        sum -= f->upper[i] * x[f->shape->upper_row[i]];
    for (int i = 0; i < j; i++) sum -= column[i] * x[f->shape->first[s] + i];
    x[k] = sum * f->reciprocal[k];
}

/* x_k := (L^-T x)_k, from the components after it */
DAE_INLINE void backward_transpose(const frozen_lu *f, int k, double *x)
{
    const int s = f->shape->owner[k], m = width_of(f->shape, s), ld = stride_of(f->shape, s),
              j = k - f->shape->first[s];
    const double *column = f->lower + f->shape->panel[s] + (ptrdiff_t)j * ld;
    double sum = x[k];
    for (int i = j + 1; i < m; i++) sum -= column[i] * x[f->shape->first[s] + i];
    for (int i = m; i < ld; i++) sum -= column[i] * x[f->shape->row[f->shape->below[s] + i - m]];
    x[k] = sum;
}

void frozen_solve_transpose(frozen_lu *f, double *b)
{
    double *x = f->x;
    for (int k = 0; k < f->shape->n; k++) x[k] = b[f->shape->Q[k]];
    for (int c = 0; c < f->shape->blocks; c++) {
        for (int k = f->shape->block[c]; k < f->shape->block[c + 1]; k++)
            forward_transpose(f, k, x);
        for (int k = f->shape->block[c + 1] - 1; k >= f->shape->block[c]; k--)
            backward_transpose(f, k, x);
    }
    for (int i = 0; i < f->shape->n; i++) b[f->shape->P[i]] = x[i] * f->scale[i];
    vector_zero(f->shape->n, x);
}

int frozen_factor(frozen_lu *f, const double *values, double *growth)
{
    return factor(f, values, growth);
}

void frozen_solve(frozen_lu *f, double *b)
{
    solve(f, b);
}
