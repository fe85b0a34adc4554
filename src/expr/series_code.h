/* The instructions of a series program, shared by its compiler and its interpreters. */
#ifndef DAE_EXPR_SERIES_CODE_H
#define DAE_EXPR_SERIES_CODE_H

#include "expr/series.h"

typedef enum series_op {
    SERIES_LEAF,   /* r = the c-th derivative of x_b */
    SERIES_TIME,   /* r = time */
    SERIES_SIGNAL, /* r = signal number c of time, with jump b, fixed */
    SERIES_LOOP,   /* loop number b up to this coefficient; r stays 0 */
    SERIES_RESULT, /* r = cell number c of loop b */
    SERIES_NEG,
    SERIES_ADD,
    SERIES_SUB,
    SERIES_SHIFT, /* a + b, b fixed */
    SERIES_FROM,  /* b - a, b fixed */
    SERIES_SCALE, /* a b, b fixed */
    SERIES_MUL,
    SERIES_SQUARE,
    SERIES_DIV_FIXED, /* a / b, b fixed */
    SERIES_DIV,
    SERIES_SQRT,
    SERIES_EXP,
    SERIES_LOG,
    SERIES_LOG10,
    SERIES_SINCOS,     /* r = sin a, w = cos a */
    SERIES_SINHCOSH,   /* r = sinh a, w = cosh a */
    SERIES_TAN,        /* w = 1 + r r */
    SERIES_TANH,       /* w = 1 - r r */
    SERIES_ASIN,       /* v = 1 - a a, w = sqrt v */
    SERIES_ACOS,       /* v = 1 - a a, w = -sqrt v */
    SERIES_ATAN,       /* w = 1 + a a */
    SERIES_ATAN2,      /* of y = a, x = b; w = a a + b b */
    SERIES_POWER,      /* a^b, b fixed */
    SERIES_POWER_BOTH, /* a^b; w = log a, v = b w */
    SERIES_ABS,
    SERIES_MIN,
    SERIES_MAX,
    SERIES_SELECT,
    SERIES_STEP /* piecewise constant; `step` is the expr_op */
} series_op;

/* Where series begin: r result, a, b, c operands, w, v of its own; all else are numbers of series.
 * Changes of the operands are in da, db, dc, number 0 for none; those of r and w go to dr and dw.
 */
typedef struct series_instruction {
    uint8_t op, step; /* step: also the order of a signal */
    int16_t ahead;    /* at stage s it makes coefficient ahead + s */
    uint32_t r, a, b, c, w, v;
    uint32_t da, db, dc, dr, dw;
} series_instruction;

/* What is computed once, as numbers: a leaf (op), or step(a, b, c). */
typedef struct series_fixed {
    uint8_t op; /* expr_op */
    int32_t index;
    uint32_t r, a, b, c;
    double value;
} series_fixed;

/* A loop: the outputs of its pass are the condition, then new values of `changing` cells. */
typedef struct series_loop {
    series_program *pass; /* its variables are the cells; owned */
    size_t cells, changing;
    uint32_t *cell;  /* which ones change; owned */
    uint32_t *start; /* by cell: where the series begins that it starts with; owned */
} series_loop;

struct series_program {
    series_fixed *fixed;             /* owned, as all below */
    series_instruction *instruction; /* in order of computation */
    uint32_t *active;                /* those that the coefficients top_j + s reach at stage s */
    size_t fixed_count, count, active_count, products;
    uint32_t *output; /* where the series of e_i begins */
    int *lag;
    size_t outputs;
    uint32_t series;       /* their number; number 0 is not used */
    int variables, length; /* coefficients kept per series, twice: the other way round behind */
    series_loop *loops;
    size_t loop_count;
    const graph *graph; /* of signals; borrowed */
};

#endif
