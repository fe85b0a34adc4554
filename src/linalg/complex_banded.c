/* Band LU of complex matrices. */
#define SCALAR_COMPLEX
#include "linalg/parts.h"

/* LAPACK's blocked factorisation pays for wide bands only: the limit of real bands (banded.c). What
 * it leaves is in its own form, and solved by it. */
enum { NARROW_FACTOR = 24, NARROW_SOLVE = NARROW_FACTOR };

/* 1/a without overflow on the way */
DAE_INLINE scalar inverse(scalar a)
{
    const double size = fmax(fabs(a.re), fabs(a.im)), x = a.re / size, y = a.im / size;
    const double d = 1.0 / ((x * x + y * y) * size);
    return (scalar){x * d, -y * d};
}

#include "linalg/banded.inc"
