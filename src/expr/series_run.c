/* Series programs in doubles, long doubles and quadruple precision; and decimal numbers in these.
 */
#include "expr/series.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- sums of products -------------------------------------------------------------------------
 */

/* dot         sum_j a_j b_j
 * slope_dot   sum_j (j+1) a_j b_j
 * slope_dots  the same for b and c at once;   j = 0 .. count-1 */
#define SUMS(T, SUFFIX)                                                                            \
    static inline T dot##SUFFIX(int count, const T *a, const T *b)                                 \
    {                                                                                              \
        T sum = 0;                                                                                 \
        for (int j = 0; j < count; j++) sum += a[j] * b[j];                                        \
        return sum;                                                                                \
    }                                                                                              \
    static inline T slope_dot##SUFFIX(int count, const T *a, const T *b)                           \
    {                                                                                              \
        T sum = 0;                                                                                 \
        for (int j = 0; j < count; j++) sum += (T)(j + 1) * a[j] * b[j];                           \
        return sum;                                                                                \
    }                                                                                              \
    static inline void slope_dots##SUFFIX(int count, const T *a, const T *b, const T *c, T *by_b,  \
                                          T *by_c)                                                 \
    {                                                                                              \
        T sum_b = 0, sum_c = 0;                                                                    \
        for (int j = 0; j < count; j++) {                                                          \
            T slope = (T)(j + 1) * a[j];                                                           \
            sum_b += slope * b[j];                                                                 \
            sum_c += slope * c[j];                                                                 \
        }                                                                                          \
        *by_b = sum_b;                                                                             \
        *by_c = sum_c;                                                                             \
    }

#ifdef __GNUC__
/* Two numbers at a time: half of the instructions on every x86-64, and on others that have such
 * registers. */
typedef double pair __attribute__((vector_size(16)));

static inline pair load_pair(const double *a)
{
    pair p;
    memcpy(&p, a, sizeof p);
    return p;
}

static inline double dot_double(int count, const double *a, const double *b)
{
    pair one = {0}, two = {0};
    int j = 0;
    for (; j + 3 < count; j += 4) {
        one += load_pair(a + j) * load_pair(b + j);
        two += load_pair(a + j + 2) * load_pair(b + j + 2);
    }
    if (j + 1 < count) {
        one += load_pair(a + j) * load_pair(b + j);
        j += 2;
    }
    one += two;
    double sum = one[0] + one[1];
    return j < count ? sum + a[j] * b[j] : sum;
}

static inline double slope_dot_double(int count, const double *a, const double *b)
{
    pair sum = {0}, weight = {1, 2};
    int j = 0;
    for (; j + 1 < count; j += 2) {
        sum += weight * load_pair(a + j) * load_pair(b + j);
        weight += 2;
    }
    double whole = sum[0] + sum[1];
    return j < count ? whole + count * a[j] * b[j] : whole;
}

static inline void slope_dots_double(int count, const double *a, const double *b, const double *c,
                                     double *by_b, double *by_c)
{
    pair sum_b = {0}, sum_c = {0}, weight = {1, 2};
    int j = 0;
    for (; j + 1 < count; j += 2) {
        pair slope = weight * load_pair(a + j);
        sum_b += slope * load_pair(b + j);
        sum_c += slope * load_pair(c + j);
        weight += 2;
    }
    double last = j < count ? count * a[j] : 0.0;
    *by_b = sum_b[0] + sum_b[1] + (j < count ? last * b[j] : 0.0);
    *by_c = sum_c[0] + sum_c[1] + (j < count ? last * c[j] : 0.0);
}
#else
SUMS(double, _double)
#endif
SUMS(tape_long, _long)
#ifdef TAPE_QUAD
SUMS(tape_quad, _quad)
#endif

/* ---- programs -------------------------------------------------------------------------------- */

#define T double
#define NAME(f) f##_double
#define MATH(f) f
#include "expr/series_run.inc"

#define T tape_long
#define NAME(f) f##_long
#define MATH(f) f##l
#include "expr/series_run.inc"

#ifdef TAPE_QUAD
#define T tape_quad
#define NAME(f) f##_quad
#define MATH(f) QUAD_MATH(f)
#include "expr/series_run.inc"
#endif
