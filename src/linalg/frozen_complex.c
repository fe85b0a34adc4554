#include "linalg/frozen_complex.h"

#include "base/memory.h"
#include "base/wide.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* (re, im) in one register: values are reached through indices most of the time, one by one, where
 * this halves loads, stores and arithmetic. */
typedef double pair __attribute__((vector_size(16), aligned(8)));

struct frozen_complex {
    frozen_shape *shape; /* shared */
    pair *lower;         /* the panels */
    pair *upper;         /* U above them */
    pair *reciprocal;    /* n: 1/U(k,k) */
    double *scale;       /* n: reciprocal row maxima, in the order of the factors */
    pair *F;
    pair *x;    /* n: zero between calls */
    pair *work; /* n */
};

void frozen_complex_free(frozen_complex *f)
{
    if (!f) return;
    void *const arrays[] = {f->lower, f->upper, f->reciprocal, f->scale, f->F, f->x, f->work};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) dae_free(arrays[k]);
    shape_free(f->shape);
    dae_free(f);
}

frozen_complex *frozen_complex_new(frozen_shape *shape)
{
    frozen_complex *f = DAE_NEW(frozen_complex);
    if (!f) return NULL;
    f->shape = shape_share(shape);
    f->lower = DAE_ARRAY(pair, shape_lower(shape));
    f->upper = DAE_ARRAY(pair, shape_upper(shape));
    f->F = DAE_ARRAY(pair, shape_outside(shape));
    f->reciprocal = DAE_ARRAY(pair, shape->n);
    f->scale = DAE_ARRAY(double, shape->n);
    f->x = DAE_ARRAY(pair, shape->n);
    f->work = DAE_ARRAY(pair, shape->n);
    if (f->lower && f->upper && f->F && f->reciprocal && f->scale && f->x && f->work) return f;
    frozen_complex_free(f);
    return NULL;
}

const frozen_shape *frozen_complex_shape(const frozen_complex *f)
{
    return f->shape;
}

/* ---- arithmetic ---- */

/* u ready for products: a u = re(a) u + im(a) i u */
typedef struct multiplier {
    pair u, iu;
} multiplier;

DAE_INLINE multiplier by(pair u)
{
    return (multiplier){u, (pair){-u[1], u[0]}};
}

DAE_INLINE pair times(pair a, multiplier m)
{
    return (pair){a[0], a[0]} * m.u + (pair){a[1], a[1]} * m.iu;
}

DAE_INLINE double size_of(pair a)
{
    return fabs(a[0]) + fabs(a[1]);
}

/* 1 / a without overflow on the way */
DAE_INLINE pair reciprocal(pair a)
{
    double size = fmax(fabs(a[0]), fabs(a[1])), x = a[0] / size, y = a[1] / size;
    double d = 1.0 / ((x * x + y * y) * size);
    return (pair){x * d, -y * d};
}

/* ---- dense kernels; all columns have stride ld ---- */

/* u := L^-1 u for a unit lower triangle of order m */
DAE_INLINE void lower_solve(int m, int ld, const pair *restrict l, pair *restrict u)
{
    for (int j = 0; j + 1 < m; j++, l += ld) {
        const multiplier t = by(u[j]);
        for (int i = j + 1; i < m; i++) u[i] -= times(l[i], t);
    }
}

/* The same for two complex numbers at a time. Macros, since functions that take or return such
 * vectors are not the same on all processors. */
#define TWICE(u)                                                                                   \
    {                                                                                              \
        u[0], u[1], u[0], u[1]                                                                     \
    }
#define TIMES_TWICE(a, u, iu)                                                                      \
    (__builtin_shufflevector(a, a, 0, 0, 2, 2) * u + __builtin_shufflevector(a, a, 1, 1, 3, 3) * iu)

/* y -= a u + b v + c w for columns of `rows` numbers */
DAE_INLINE void subtract_three(int rows, const pair *restrict a, const pair *restrict b,
                               const pair *restrict c, multiplier u, multiplier v, multiplier w,
                               pair *restrict y)
{
    const four u2 = TWICE(u.u), v2 = TWICE(v.u), w2 = TWICE(w.u);
    const four iu2 = TWICE(u.iu), iv2 = TWICE(v.iu), iw2 = TWICE(w.iu);
    int i = 0;
    for (; i + 1 < rows; i += 2) {
        const four p = *(const four *)(const void *)(a + i);
        const four q = *(const four *)(const void *)(b + i);
        const four r = *(const four *)(const void *)(c + i);
        *(four *)(void *)(y + i) -=
            (TIMES_TWICE(p, u2, iu2) + TIMES_TWICE(q, v2, iv2)) + TIMES_TWICE(r, w2, iw2);
    }
    if (i < rows) y[i] -= (times(a[i], u) + times(b[i], v)) + times(c[i], w);
}

/* y -= L u for rows x m, three columns at a time: their multipliers just fit into registers */
DAE_INLINE void subtract_product(int rows, int m, int ld, const pair *restrict l,
                                 const pair *restrict u, pair *restrict y)
{
    int j = 0;
    for (; j + 2 < m; j += 3, l += 3 * (ptrdiff_t)ld)
        subtract_three(rows, l, l + ld, l + 2 * (ptrdiff_t)ld, by(u[j]), by(u[j + 1]), by(u[j + 2]),
                       y);
    for (; j < m; j++, l += ld) {
        const multiplier t = by(u[j]);
        for (int i = 0; i < rows; i++) y[i] -= times(l[i], t);
    }
}

/* x[row] -= L u: directly for a few columns, else through a contiguous buffer */
DAE_INLINE void scatter_product(int rows, int m, int ld, const pair *restrict l,
                                const pair *restrict u, const int *restrict row,
                                pair *restrict work, pair *restrict x)
{
    const pair *restrict b = l + ld;
    if (m == 1) {
        const multiplier t = by(u[0]);
        for (int i = 0; i < rows; i++) x[row[i]] -= times(l[i], t);
    } else if (m == 2) {
        const multiplier t0 = by(u[0]), t1 = by(u[1]);
        for (int i = 0; i < rows; i++) x[row[i]] -= times(l[i], t0) + times(b[i], t1);
    } else {
        for (int i = 0; i < rows; i++) work[i] = x[row[i]];
        subtract_product(rows, m, ld, l, u, work);
        for (int i = 0; i < rows; i++) x[row[i]] = work[i];
    }
}

/* ---- factorisation ---- */

/* Move m values from x to u and clear x. */
DAE_INLINE void take(int m, pair *restrict x, pair *restrict u)
{
    for (int i = 0; i < m; i++) {
        u[i] = x[i];
        x[i] = (pair){0.0, 0.0};
    }
}

/* Subtract what supernode s contributes to the column in x, from row `start` on; the finished piece
 * of U goes to `u` and its place in x is cleared. */
DAE_INLINE void apply_supernode(frozen_complex *f, int s, int start, pair *restrict u)
{
    const frozen_shape *shape = f->shape;
    const int m = shape->first[s + 1] - start, ld = stride_of(shape, s);
    const pair *l = f->lower + shape->panel[s] + (ptrdiff_t)(start - shape->first[s]) * (ld + 1);
    take(m, f->x + start, u);
    lower_solve(m, ld, l, u);
    scatter_product(shape->below[s + 1] - shape->below[s], m, ld, l + m, u,
                    shape->row + shape->below[s], f->work, f->x);
}

/* The larger of `most` and the largest |x_i| */
DAE_INLINE double largest(size_t count, const pair *x, double most)
{
    for (size_t i = 0; i < count; i++)
        if (size_of(x[i]) > most) most = size_of(x[i]);
    return most;
}

/* x := column k of A, scaled; returns its largest entry */
DAE_INLINE double load_column(frozen_complex *f, int k, const double *re, const double *im)
{
    const gather *g = &f->shape->diagonal;
    double most = 0.0;
    for (int q = g->start[k]; q < g->start[k + 1]; q++) {
        const int i = g->row[q], at = g->source[q];
        const pair v = (pair){re[at], im[at]} * f->scale[i];
        f->x[i] = v;
        if (size_of(v) > most) most = size_of(v);
    }
    return most;
}

/* Move the column from x into its panel and clear x. */
DAE_INLINE void store_column(frozen_complex *f, int s, pair *restrict column)
{
    const frozen_shape *shape = f->shape;
    const int width = width_of(shape, s), rows = shape->below[s + 1] - shape->below[s];
    const int *row = shape->row + shape->below[s];
    take(width, f->x + shape->first[s], column);
    for (int i = 0; i < rows; i++) {
        column[width + i] = f->x[row[i]];
        f->x[row[i]] = (pair){0.0, 0.0};
    }
}

/* Column k of L and U, left-looking as in [DPN10]; false if its pivot is unusable. */
DAE_INLINE bool factor_column(frozen_complex *f, int k, const double *re, const double *im,
                              double *growth)
{
    const frozen_shape *shape = f->shape;
    const int s = shape->owner[k], j = k - shape->first[s], ld = stride_of(shape, s);
    pair *panel = f->lower + shape->panel[s], *column = panel + (ptrdiff_t)j * ld;
    const double size = load_column(f, k, re, im);
    const size_t begin = shape->piece[shape->segment[k]];
    for (int q = shape->segment[k]; q < shape->segment[k + 1]; q++)
        apply_supernode(f, shape->owner[shape->segment_first[q]], shape->segment_first[q],
                        f->upper + shape->piece[q]);
    double most = largest(shape->piece[shape->segment[k + 1]] - begin, f->upper + begin, 0.0);
    store_column(f, s, column);
    lower_solve(j, ld, panel, column);
    subtract_product(ld - j, j, ld, panel + j, column, column + j);
    most = largest((size_t)j + 1, column, most);
    const double pivot = size_of(column[j]);
    if (!(pivot >= DBL_MIN && pivot <= DBL_MAX)) return false;
    f->reciprocal[k] = reciprocal(column[j]);
    const multiplier r = by(f->reciprocal[k]);
    for (int i = j + 1; i < ld; i++) column[i] = times(column[i], r);
    if (size < *growth * most) *growth = size / most;
    return true;
}

/* Raise the row maxima by the entries of g. */
DAE_INLINE void widen_rows(const gather *g, int count, const double *restrict re,
                           const double *restrict im, double *restrict most)
{
    for (int q = 0; q < count; q++) {
        const double size = fabs(re[g->source[q]]) + fabs(im[g->source[q]]);
        if (size > most[g->row[q]]) most[g->row[q]] = size;
    }
}

/* scale_i = 1 / max_j |A(i,j)| */
DAE_INLINE void scale_rows(frozen_complex *f, const double *re, const double *im)
{
    const frozen_shape *shape = f->shape;
    const int n = shape->n;
    memset(f->scale, 0, (size_t)n * sizeof *f->scale);
    widen_rows(&shape->diagonal, shape->diagonal.start[n], re, im, f->scale);
    widen_rows(&shape->outside, shape->outside.start[n], re, im, f->scale);
    for (int i = 0; i < n; i++) f->scale[i] = f->scale[i] >= DBL_MIN ? 1.0 / f->scale[i] : 1.0;
}

DAE_WIDE static int factor(frozen_complex *f, const double *re, const double *im, double *growth)
{
    const frozen_shape *shape = f->shape;
    const gather *g = &shape->outside;
    *growth = 1.0;
    scale_rows(f, re, im);
    for (int q = 0; q < g->start[shape->n]; q++)
        f->F[q] = (pair){re[g->source[q]], im[g->source[q]]} * f->scale[g->row[q]];
    for (int k = 0; k < shape->n; k++)
        if (!factor_column(f, k, re, im, growth)) {
            memset(f->x, 0, (size_t)shape->n * sizeof *f->x);
            return shape->Q[k];
        }
    return -1;
}

/* ---- solves ---- */

/* x := L^-1 x on supernode s and what depends on it */
DAE_INLINE void forward(frozen_complex *f, int s, pair *x)
{
    const frozen_shape *shape = f->shape;
    const int m = width_of(shape, s), ld = stride_of(shape, s);
    const pair *l = f->lower + shape->panel[s];
    pair *u = x + shape->first[s];
    lower_solve(m, ld, l, u);
    scatter_product(ld - m, m, ld, l + m, u, shape->row + shape->below[s], f->work, x);
}

/* x := U^-1 x on column k, and what depends on it */
DAE_INLINE void backward(const frozen_complex *f, int k, pair *restrict x)
{
    const frozen_shape *shape = f->shape;
    const int s = shape->owner[k], j = k - shape->first[s];
    const pair *restrict column = f->lower + shape->panel[s] + (ptrdiff_t)j * stride_of(shape, s);
    const pair *restrict upper = f->upper;
    const int *restrict row = shape->upper_row;
    x[k] = times(x[k], by(f->reciprocal[k]));
    const multiplier t = by(x[k]);
    for (int i = 0; i < j; i++) x[shape->first[s] + i] -= times(column[i], t);
    const size_t end = shape->piece[shape->segment[k + 1]];
    for (size_t i = shape->piece[shape->segment[k]]; i < end; i++) x[row[i]] -= times(upper[i], t);
}

DAE_WIDE static void solve(frozen_complex *f, double *re, double *im)
{
    const frozen_shape *shape = f->shape;
    const gather *outside = &shape->outside;
    pair *x = f->x;
    for (int i = 0; i < shape->n; i++)
        x[i] = (pair){re[shape->P[i]], im[shape->P[i]]} * f->scale[i];
    for (int c = shape->blocks - 1; c >= 0; c--) {
        const int begin = shape->block[c], end = shape->block[c + 1];
        for (int s = shape->owner[begin]; s < shape->supernodes && shape->first[s] < end; s++)
            forward(f, s, x);
        for (int k = end - 1; k >= begin; k--) backward(f, k, x);
        for (int q = outside->start[begin], k = begin; k < end; k++) {
            const multiplier t = by(x[k]);
            for (; q < outside->start[k + 1]; q++) x[outside->row[q]] -= times(f->F[q], t);
        }
    }
    for (int k = 0; k < shape->n; k++) {
        re[shape->Q[k]] = x[k][0];
        im[shape->Q[k]] = x[k][1];
    }
    memset(x, 0, (size_t)shape->n * sizeof *x);
}

int frozen_complex_factor(frozen_complex *f, const double *re, const double *im, double *growth)
{
    return factor(f, re, im, growth);
}

void frozen_complex_solve(frozen_complex *f, double *re, double *im)
{
    solve(f, re, im);
}
