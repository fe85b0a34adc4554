/* The tape in truncated Taylor series, in all real arithmetics. */
#include "expr/tape.h"

#include "expr/scalar_math.h"
#include "expr/tape_code.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

enum { SCRATCH = 4 }; /* series beside the registers: a result, a first result, w and v */

/* The two operations of a fused instruction, inner first; false if it is a single one. */
static bool split(tape_op op, tape_op *inner, tape_op *outer)
{
    static const struct {
        tape_op fused, inner, outer;
    } table[] = {{TAPE_MUL_ADD, TAPE_MUL, TAPE_ADD}, {TAPE_MUL_SUB, TAPE_MUL, TAPE_SUB},
                 {TAPE_SUB_MUL, TAPE_MUL, TAPE_SUB}, {TAPE_MUL_MUL, TAPE_MUL, TAPE_MUL},
                 {TAPE_ADD_ADD, TAPE_ADD, TAPE_ADD}, {TAPE_SUB_ADD, TAPE_SUB, TAPE_ADD},
                 {TAPE_ADD_SUB, TAPE_ADD, TAPE_SUB}, {TAPE_SUB_SUB, TAPE_SUB, TAPE_SUB},
                 {TAPE_ADD_MUL, TAPE_ADD, TAPE_MUL}, {TAPE_DIF_MUL, TAPE_SUB, TAPE_MUL}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        if (table[k].fused != op) continue;
        *inner = table[k].inner;
        *outer = table[k].outer;
        return true;
    }
    return false;
}

size_t tape_series_work_size(const tape *t, int degree)
{
    size_t n = (size_t)(degree + 1), size = (t->registers + SCRATCH) * n;
    for (size_t k = 0; k < t->loop_count; k++)
        size += tape_series_work_size(t->loops[k].body, degree) + (t->loops[k].changing + 1) * n;
    return size;
}

#define T double
#define NAME(f) f##_double
#define MATH(f) f
#include "expr/tape_series.inc"

#define T tape_long
#define NAME(f) f##_long
#define MATH(f) f##l
#include "expr/tape_series.inc"

#ifdef TAPE_QUAD
#define T tape_quad
#define NAME(f) f##_quad
#define MATH(f) QUAD_MATH(f)
#include "expr/tape_series.inc"
#endif

void tape_run_series(const tape *t, int degree, double time, const double *const *coefficients,
                     const double *parameters, const double *memory, double *work, double *out)
{
    tape_run_series_double(t, degree, time, 1.0, coefficients, parameters, memory, work, out);
}
