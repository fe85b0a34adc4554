/* Sparse LU of complex matrices. */
#define SCALAR_COMPLEX
#include "linalg/complex_sparse.h"
#include "base/wide.h"
#include "linalg/scalar.h"

/* (re, im) in one register: values are reached through indices most of the time, one by one, where
 * this halves loads, stores and arithmetic. */
typedef double number __attribute__((vector_size(16), aligned(8)));

DAE_INLINE number number_of(const double *re, const double *im, int k)
{
    return (number){re[k], im[k]};
}

DAE_INLINE void put(number a, double *re, double *im, int k)
{
    re[k] = a[0];
    im[k] = a[1];
}

/* u ready for products: a u = re(a) u + im(a) i u */
typedef struct multiplier {
    number u, iu;
} multiplier;

DAE_INLINE multiplier by(number u)
{
    return (multiplier){u, (number){-u[1], u[0]}};
}

DAE_INLINE number times(number a, multiplier m)
{
    return (number){a[0], a[0]} * m.u + (number){a[1], a[1]} * m.iu;
}

DAE_INLINE double size_of(number a)
{
    return fabs(a[0]) + fabs(a[1]);
}

/* 1 / a without overflow on the way */
DAE_INLINE number inverse(number a)
{
    double size = fmax(fabs(a[0]), fabs(a[1])), x = a[0] / size, y = a[1] / size;
    double d = 1.0 / ((x * x + y * y) * size);
    return (number){x * d, -y * d};
}

/* Products of two complex numbers at a time. Macros, since functions that take or return such
 * vectors are not the same on all processors. */
#define TWICE(u)                                                                                   \
    {                                                                                              \
        u[0], u[1], u[0], u[1]                                                                     \
    }
#define TIMES_TWICE(a, u, iu)                                                                      \
    (__builtin_shufflevector(a, a, 0, 0, 2, 2) * u + __builtin_shufflevector(a, a, 1, 1, 3, 3) * iu)

/* y -= a u + b v + c w for columns of `rows` numbers */
DAE_INLINE void subtract_three(int rows, const number *restrict a, const number *restrict b,
                               const number *restrict c, multiplier u, multiplier v, multiplier w,
                               number *restrict y)
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
DAE_INLINE void subtract_product(int rows, int m, int ld, const number *restrict l,
                                 const number *restrict u, number *restrict y)
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

#define KLU(f) klu_z_##f
#define KLU_VALUES(x, z) x, z

#include "linalg/frozen.inc"
#include "linalg/sparse.inc"
