/* Long and quadruple precision: the types, and the functions of the C library in the latter as
 * quad_sin and so on. Quadruple is long double where that is it, else __float128 with the functions
 * of the C library (glibc 2.26 has them on x86, and clang knows the type). Elsewhere TAPE_QUAD is
 * not defined. The functions are declared here because <math.h> does so for gcc only, as functions
 * of the same type by another name; the assembler names keep our declarations apart from those. */
#ifndef DAE_EXPR_SCALAR_MATH_H
#define DAE_EXPR_SCALAR_MATH_H

#include <float.h>
#include <math.h> /* tells __GLIBC__ */
#include <stddef.h>

typedef long double tape_long;

#if LDBL_MANT_DIG == 113
#define TAPE_QUAD 1
typedef long double tape_quad;
#elif defined __SIZEOF_FLOAT128__ && defined __GLIBC__
#if __GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 26)
#define TAPE_QUAD 2
typedef __float128 tape_quad;
#endif
#endif

#if defined TAPE_QUAD && TAPE_QUAD == 1
#define QUAD_MATH(f) f##l
#elif defined TAPE_QUAD
#define QUAD_MATH(f) quad_##f
#define QUAD1(f) extern tape_quad quad_##f(tape_quad) __asm__(#f "f128");
#define QUAD2(f) extern tape_quad quad_##f(tape_quad, tape_quad) __asm__(#f "f128");
QUAD1(fabs)
QUAD1(sqrt)
QUAD1(exp)
QUAD1(log)
QUAD1(log10)
QUAD1(sin)
QUAD1(cos)
QUAD1(tan)
QUAD1(asin)
QUAD1(acos)
QUAD1(atan)
QUAD1(sinh)
QUAD1(cosh)
QUAD1(tanh)
QUAD1(floor)
QUAD1(ceil)
QUAD2(pow)
QUAD2(atan2)
#undef QUAD1
#undef QUAD2
extern tape_quad quad_strto(const char *, char **) __asm__("strtof128");
extern int quad_strfrom(char *, size_t, const char *, tape_quad) __asm__("strfromf128");
#endif

#endif
