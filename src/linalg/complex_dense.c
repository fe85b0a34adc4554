/* Dense LU of complex matrices. */
#define SCALAR_COMPLEX
#include "linalg/parts.h"

/* Up to this size the own kernels beat OpenBLAS's zgetrf and zgetrs at a factorisation with four
 * solutions; least of 15 runs on an AMD EPYC with AVX2. Factor 0.11 us at n = 3, 0.39 us at 8, 6 us
 * at 32, 18 against 21 us at 48, 46 against 40 us at 64; solve 0.04 us at 3, 0.12 us at 8, 1.1
 * against 2.6 us at 48, 1.7 against 4.2 us at 64. */
enum { CROSSOVER = 64 };
/* From this size on rows with at most two entries are eliminated before: 4 % fewer instructions for
 * all of radau on a pendulum (n = 5), 9 % on the car axis (n = 10), 3 % on Andrews' squeezer (n =
 * 20); 12 % more on van der Pol's equation (n = 2). */
enum { SHORT_ROWS_PAY = 4 };

/* 1/a without overflow on the way */
DAE_INLINE scalar inverse(scalar a)
{
    if (fabs(a.re) >= fabs(a.im)) {
        const double q = a.im / a.re, d = 1.0 / (a.re + a.im * q);
        return (scalar){d, -q * d};
    }
    const double q = a.re / a.im, d = 1.0 / (a.re * q + a.im);
    return (scalar){q * d, -d};
}

#include "linalg/dense.inc"
