/* Series programs in doubles, long doubles and quadruple precision; and decimal numbers in these.
 */
#include "expr/series.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "expr/scalar_math.h"
#include "expr/series_code.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* ---- decimal numbers ------------------------------------------------------------------------- */

/* The shortest decimal that rounds to the value; 32 characters suffice. */
static const char *shortest(double value, char *text, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

double decimal_value_double(double value)
{
    return value;
}

tape_long decimal_value_long(double value)
{
    char text[32];
    return isfinite(value) ? strtold(shortest(value, text, sizeof text), NULL) : (tape_long)value;
}

void decimal_text_double(double value, char *text, size_t size)
{
    snprintf(text, size, "%.17g", value);
}

void decimal_text_long(tape_long value, char *text, size_t size)
{
    snprintf(text, size, "%.*Lg", LDBL_DECIMAL_DIG, value);
}

#ifdef TAPE_QUAD
tape_quad decimal_value_quad(double value)
{
#if TAPE_QUAD == 1
    return decimal_value_long(value);
#else
    char text[32];
    return isfinite(value) ? quad_strto(shortest(value, text, sizeof text), NULL)
                           : (tape_quad)value;
#endif
}

void decimal_text_quad(tape_quad value, char *text, size_t size)
{
#if TAPE_QUAD == 1
    decimal_text_long(value, text, size);
#else
    quad_strfrom(text, size, "%.36g", value);
#endif
}
#endif

/* ---- programs -------------------------------------------------------------------------------- */

#define T double
#define NAME(f) f##_double
#define MATH(f) f
#define TAPE_SERIES tape_run_series_double
#include "expr/series_run.inc"

#define T tape_long
#define NAME(f) f##_long
#define MATH(f) f##l
#define TAPE_SERIES tape_run_series_long
#include "expr/series_run.inc"

#ifdef TAPE_QUAD
#define T tape_quad
#define NAME(f) f##_quad
#define MATH(f) QUAD_MATH(f)
#define TAPE_SERIES tape_run_series_quad
#include "expr/series_run.inc"
#endif
