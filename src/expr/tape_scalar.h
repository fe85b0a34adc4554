/* The tape in other arithmetics than double. Constants of the model are doubles in all of them.
 *
 * Complex values continue the real functions analytically, with the principal branches of C's
 * <complex.h>; so log(-1) is i pi where doubles give NaN. Relations, min, max, abs, sign, floor,
 * ceil and conditions look at the real part: abs is z or -z, and complex steps through all of these
 * give the derivative of the piece taken. atan2(y, x) is the angle of the real parts continued by
 * atan(y / x). */
#ifndef DAE_EXPR_TAPE_SCALAR_H
#define DAE_EXPR_TAPE_SCALAR_H

#include "expr/tape.h"

typedef double _Complex tape_complex;
typedef long double tape_long;

/* As tape_inputs; work holds tape_work_size elements. */
typedef struct tape_inputs_complex {
    tape_complex time;
    const tape_complex *values[4], *parameters, *memory;
} tape_inputs_complex;

typedef struct tape_inputs_long {
    tape_long time;
    const tape_long *values[4], *parameters, *memory;
} tape_inputs_long;

void tape_prepare_complex(const tape *t, const tape_inputs_complex *in, tape_complex *work);
void tape_run_complex(const tape *t, const tape_inputs_complex *in, tape_complex *work,
                      tape_complex *out);
void tape_prepare_long(const tape *t, const tape_inputs_long *in, tape_long *work);
void tape_run_long(const tape *t, const tape_inputs_long *in, tape_long *work, tape_long *out);
/* As tape_run_series, with coefficients of ((t - time) / unit)^k; work holds tape_series_work_size
 * elements. */
void tape_run_series_double(const tape *t, int degree, double time, double unit,
                            const double *const *coefficients, const double *parameters,
                            const double *memory, double *work, double *out);
void tape_run_series_long(const tape *t, int degree, tape_long time, tape_long unit,
                          const tape_long *const *coefficients, const tape_long *parameters,
                          const tape_long *memory, tape_long *work, tape_long *out);

/* Quadruple precision: long double where that is it, else __float128 with the functions of the C
 * library (glibc 2.26 has them on x86, and clang knows the type though not the declarations).
 * Elsewhere TAPE_QUAD is not defined. */
#include <float.h>
#include <math.h> /* tells __GLIBC__ */
#if LDBL_MANT_DIG == 113
#define TAPE_QUAD 1
typedef long double tape_quad;
#elif defined __SIZEOF_FLOAT128__ && defined __GLIBC__
#if __GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 26)
#define TAPE_QUAD 2
typedef __float128 tape_quad;
#endif
#endif

#ifdef TAPE_QUAD
typedef struct tape_inputs_quad {
    tape_quad time;
    const tape_quad *values[4], *parameters, *memory;
} tape_inputs_quad;

void tape_prepare_quad(const tape *t, const tape_inputs_quad *in, tape_quad *work);
void tape_run_quad(const tape *t, const tape_inputs_quad *in, tape_quad *work, tape_quad *out);
void tape_run_series_quad(const tape *t, int degree, tape_quad time, tape_quad unit,
                          const tape_quad *const *coefficients, const tape_quad *parameters,
                          const tape_quad *memory, tape_quad *work, tape_quad *out);
#endif

#endif
