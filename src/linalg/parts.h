/* Arrays of scalars (scalar.h) for dense and banded matrices. Those of complex scalars are two
 * arrays of doubles, so that loops over them vectorise. */
#ifndef DAE_LINALG_PARTS_H
#define DAE_LINALG_PARTS_H

#include "base/wide.h"
#include "linalg/scalar.h"

/* An array of scalars: its real parts, and its imaginary ones */
typedef struct parts {
    double *part[PARTS];
} parts;

static inline bool parts_new(parts *x, size_t count)
{
    for (int c = 0; c < PARTS; c++) x->part[c] = DAE_ARRAY(double, count);
    return x->part[0] && x->part[PARTS - 1];
}

static inline void parts_free(parts *x)
{
    for (int c = 0; c < PARTS; c++) dae_free(x->part[c]);
}

/* The array from element k on */
DAE_INLINE parts from(parts x, ptrdiff_t k)
{
    for (int c = 0; c < PARTS; c++) x.part[c] += k;
    return x;
}

/* Exchange x_i and x_j. */
DAE_INLINE void exchange(parts x, ptrdiff_t i, ptrdiff_t j)
{
    for (int c = 0; c < PARTS; c++) {
        const double t = x.part[c][i];
        x.part[c][i] = x.part[c][j];
        x.part[c][j] = t;
    }
}

#ifdef SCALAR_COMPLEX

typedef struct scalar {
    double re, im;
} scalar;

DAE_INLINE parts parts_of(double *re, double *im)
{
    return (parts){{re, im}};
}

DAE_INLINE scalar get(parts x, ptrdiff_t i)
{
    return (scalar){x.part[0][i], x.part[1][i]};
}

DAE_INLINE void set(parts x, ptrdiff_t i, scalar a)
{
    x.part[0][i] = a.re;
    x.part[1][i] = a.im;
}

DAE_INLINE scalar times(scalar a, scalar b)
{
    return (scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* |re| + |im|, as LAPACK measures pivots */
DAE_INLINE double size_of(scalar a)
{
    return fabs(a.re) + fabs(a.im);
}

/* x := x - m u on elements first .. last-1 */
DAE_INLINE void subtract_parts(int first, int last, const double *restrict mr,
                               const double *restrict mi, scalar u, double *restrict xr,
                               double *restrict xi)
{
    for (int i = first; i < last; i++) {
        xr[i] -= mr[i] * u.re - mi[i] * u.im;
        xi[i] -= mr[i] * u.im + mi[i] * u.re;
    }
}

DAE_INLINE void subtract(int first, int last, parts m, scalar u, parts x)
{
    subtract_parts(first, last, m.part[0], m.part[1], u, x.part[0], x.part[1]);
}

/* The same on fours of elements */
DAE_INLINE void subtract_fours(int first, int last, parts m, scalar u, parts x)
{
    const four *mr = (const four *)m.part[0], *mi = (const four *)m.part[1];
    four *restrict xr = (four *)x.part[0], *restrict xi = (four *)x.part[1];
    for (int b = first; b < last; b++) {
        const four r = mr[b], i = mi[b];
        xr[b] -= r * u.re - i * u.im;
        xi[b] -= r * u.im + i * u.re;
    }
}

#else

typedef struct scalar {
    double re;
} scalar;

DAE_INLINE parts parts_of(double *re, double *im)
{
    (void)im;
    return (parts){{re}};
}

DAE_INLINE scalar get(parts x, ptrdiff_t i)
{
    return (scalar){x.part[0][i]};
}

DAE_INLINE void set(parts x, ptrdiff_t i, scalar a)
{
    x.part[0][i] = a.re;
}

DAE_INLINE scalar times(scalar a, scalar b)
{
    return (scalar){a.re * b.re};
}

DAE_INLINE scalar inverse(scalar a)
{
    return (scalar){1.0 / a.re};
}

DAE_INLINE double size_of(scalar a)
{
    return fabs(a.re);
}

/* x := x - m u on elements first .. last-1 */
DAE_INLINE void subtract_parts(int first, int last, const double *restrict m, double u,
                               double *restrict x)
{
    for (int i = first; i < last; i++) x[i] -= m[i] * u;
}

DAE_INLINE void subtract(int first, int last, parts m, scalar u, parts x)
{
    subtract_parts(first, last, m.part[0], u.re, x.part[0]);
}

/* The same on fours of elements */
DAE_INLINE void subtract_fours(int first, int last, parts m, scalar u, parts x)
{
    const four *l = (const four *)m.part[0];
    four *restrict y = (four *)x.part[0];
    for (int b = first; b < last; b++) y[b] -= l[b] * u.re;
}

#endif

/* y := x a on elements first .. last-1; y may be x */
DAE_INLINE void scale(int first, int last, parts x, scalar a, parts y)
{
    for (int i = first; i < last; i++) set(y, i, times(get(x, i), a));
}

/* Index of the largest |x_i|, i = first..last-1. A NaN at `first` stays there and fails the test of
 * the pivot. */
DAE_INLINE int largest(int first, int last, parts x)
{
    int best = first;
    double most = size_of(get(x, first));
    for (int i = first + 1; i < last; i++) {
        const double size = size_of(get(x, i));
        if (size > most) {
            most = size;
            best = i;
        }
    }
    return best;
}

#endif
