/* Small vector helpers, inlined so that tiny problems pay no calls. */
#ifndef DAE_BASE_VECTOR_H
#define DAE_BASE_VECTOR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline void vector_copy(int n, const double *x, double *y)
{
    memcpy(y, x, (size_t)n * sizeof *y);
}

static inline void vector_zero(int n, double *y)
{
    memset(y, 0, (size_t)n * sizeof *y);
}

/* y += a x */
static inline void vector_axpy(int n, double a, const double *x, double *y)
{
    for (int i = 0; i < n; i++) y[i] += a * x[i];
}

/* x'y, summed in order */
static inline double vector_dot(int n, const double *restrict x, const double *restrict y)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Whether all components are finite: an exponent of ones carries into the sign if one is added to
 * it. In integers, since additions of doubles would wait for each other. */
static inline bool vector_all_finite(size_t n, const double *x)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        carry |= (bits & UINT64_C(0x7fffffffffffffff)) + UINT64_C(0x0010000000000000);
    }
    return carry >> 63 == 0;
}

static inline bool vector_finite(int n, const double *x)
{
    return vector_all_finite((size_t)n, x);
}

/* First component that is not finite, or -1. */
static inline int vector_first_nonfinite(int n, const double *x)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return i;
    return -1;
}

/* sqrt(sum (x_i s_i)^2 / n): weighted root mean square, s = reciprocal weights */
static inline double vector_wrms(int n, const double *x, const double *s)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (x[i] * s[i]) * (x[i] * s[i]);
    return n > 0 ? sqrt(sum / n) : 0.0;
}

/* Index of the largest |x_i s_i|; s may be NULL. */
static inline int vector_argmax(int n, const double *x, const double *s)
{
    int best = 0;
    double most = -1.0;
    for (int i = 0; i < n; i++) {
        double size = fabs(s ? x[i] * s[i] : x[i]);
        if (size > most) {
            most = size;
            best = i;
        }
    }
    return best;
}

#endif
