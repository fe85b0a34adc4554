/* Numbers of sparse factors: real, or complex where SCALAR_COMPLEX is defined. Values are reached
 * through indices there, one by one. Texts for both (frozen.inc, elimination.inc) use
 *   number                      the type; sums, and products with doubles, as of doubles
 *   number_of(re, im, k)        value k of an array
 *   put(a, re, im, k)           writes it back
 *   multiplier, by(u)           a number ready for products
 *   times(a, m)                 a u
 *   size_of(a), inverse(a)      |a|, 1/a
 */
#ifndef DAE_LINALG_NUMBER_H
#define DAE_LINALG_NUMBER_H

#include "base/wide.h"

#include <math.h>

#ifdef SCALAR_COMPLEX

/* (re, im) in one register: this halves loads, stores and arithmetic. */
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

#else

typedef double number, multiplier;

DAE_INLINE number number_of(const double *re, const double *im, int k)
{
    (void)im;
    return re[k];
}

DAE_INLINE void put(number a, double *re, double *im, int k)
{
    (void)im;
    re[k] = a;
}

DAE_INLINE multiplier by(number u)
{
    return u;
}

DAE_INLINE number times(number a, multiplier u)
{
    return a * u;
}

DAE_INLINE double size_of(number a)
{
    return fabs(a);
}

DAE_INLINE number inverse(number a)
{
    return 1.0 / a;
}

#endif

#endif
