/* The numerical part of the Taylor series method, in every precision. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "expr/scalar_math.h"
#include "method/taylor/taylor_parts.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

double taylor_unit(double h)
{
    int exponent;
    frexp(h, &exponent);
    return ldexp(1.0, exponent - 1);
}

/* Events solve for all values in double to this relative accuracy, whether they change or not. */
static const double SAME_VALUE = 1e-12;

/* Whether some equation is there at a stage <= 0. */
static bool has_equations(const series_form *f, int stage)
{
    for (int i = 0; i < f->n; i++)
        if (f->c[i] + stage >= 0) return true;
    return false;
}

#define T double
#define NAME(f) f##_double
#define MATH(f) f
#define ROUNDING DBL_EPSILON
#include "method/taylor/taylor_run.inc"

#define T tape_long
#define NAME(f) f##_long
#define MATH(f) f##l
#define ROUNDING LDBL_EPSILON
#include "method/taylor/taylor_run.inc"

#ifdef TAPE_QUAD
#define T tape_quad
#define NAME(f) f##_quad
#define MATH(f) QUAD_MATH(f)
#define ROUNDING 1.925929944387236e-34 /* 2^-112 */
#include "method/taylor/taylor_run.inc"
#endif
