/* The functions of the C library in quadruple precision, as quad_sin and so on; include after
 * expr/tape_scalar.h. Declared here because <math.h> does so for gcc only, as functions of the same
 * type by another name; the assembler names keep our declarations apart from those. */
#ifndef DAE_EXPR_SCALAR_MATH_H
#define DAE_EXPR_SCALAR_MATH_H

#include <stddef.h>

#include "expr/tape_scalar.h"

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
