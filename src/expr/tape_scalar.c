/* sincos is an extension of the C library where we use it. */
#define _GNU_SOURCE
#include "expr/tape_scalar.h"

#include "expr/scalar_math.h"
#include "expr/tape_code.h"

#include <complex.h>
#include <math.h>

#ifdef __GNUC__
#define TAPE_COMPUTED_GOTO
#pragma GCC diagnostic ignored "-Wpedantic" /* for the computed goto */
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* Emitted C makes the same choice, so that both give the same bits. */
#ifndef __GLIBC__
static void sincos(double x, double *s, double *c)
{
    *s = sin(x);
    *c = cos(x);
}

static void sincosl(long double x, long double *s, long double *c)
{
    *s = sinl(x);
    *c = cosl(x);
}
#endif

#define T double
#define INPUTS tape_inputs
#define NAME(f) f
#define MATH(f) f
#include "expr/tape_run.inc"

/* ---- complex ----------------------------------------------------------------------------------
 */

/* The angle of (x, y) by that quotient of the two which has a real part of at most 1. */
static tape_complex complex_angle(tape_complex y, tape_complex x)
{
    const double pi = 3.14159265358979323846;
    if (fabs(creal(x)) >= fabs(creal(y))) {
        if (creal(x) >= 0.0) return catan(y / x);
        return catan(y / x) + (signbit(creal(y)) ? -pi : pi);
    }
    return (creal(y) < 0.0 ? -pi / 2 : pi / 2) - catan(x / y);
}

#define T tape_complex
#define INPUTS tape_inputs_complex
#define NAME(f) f##_complex
#define MATH(f) c##f
#define TAPE_ANALYTIC
#include "expr/tape_run.inc"

/* ---- long double ------------------------------------------------------------------------------
 */

#define T tape_long
#define INPUTS tape_inputs_long
#define NAME(f) f##_long
#define MATH(f) f##l
#include "expr/tape_run.inc"

/* ---- quadruple precision ----------------------------------------------------------------------
 */

#if defined TAPE_QUAD && TAPE_QUAD == 1
#define T tape_quad
#define INPUTS tape_inputs_quad
#define NAME(f) f##_quad
#define MATH(f) f##l
#include "expr/tape_run.inc"
#elif defined TAPE_QUAD
static void quad_sincos(tape_quad x, tape_quad *s, tape_quad *c)
{
    *s = quad_sin(x);
    *c = quad_cos(x);
}

#define T tape_quad
#define INPUTS tape_inputs_quad
#define NAME(f) f##_quad
#define MATH(f) quad_##f
#include "expr/tape_run.inc"
#endif
