/* Sparse LU of complex matrices. */
#define SCALAR_COMPLEX
#include "linalg/complex_sparse.h"
#include "linalg/number.h"
#include "linalg/scalar.h"

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
