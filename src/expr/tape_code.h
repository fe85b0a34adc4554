/* The instructions of a tape, shared by its compiler and its interpreters. */
#ifndef DAE_EXPR_TAPE_CODE_H
#define DAE_EXPR_TAPE_CODE_H

#include "expr/roll.h"
#include "expr/tape.h"
#include <math.h>

/* Two operations of the graph in one instruction, each rounded by itself: a tape is never
 * contracted. Name, the first of them, and the second by `first` and C. */
#define TAPE_FUSED(X)                                                                              \
    X(MUL_ADD, A *B, first + C)                                                                    \
    X(MUL_SUB, A *B, first - C)                                                                    \
    X(SUB_MUL, A *B, C - first)                                                                    \
    X(MUL_MUL, A *B, first *C)                                                                     \
    X(ADD_ADD, A + B, first + C)                                                                   \
    X(SUB_ADD, A - B, first + C)                                                                   \
    X(ADD_SUB, A + B, first - C)                                                                   \
    X(SUB_SUB, A - B, first - C)                                                                   \
    X(ADD_MUL, A + B, first * C)                                                                   \
    X(DIF_MUL, A - B, first * C)

/* Each operation comes twice: with its result in a register, and (the name with _OUT) with its
 * result in an output. */
typedef enum tape_op {
#define TAPE_ENUMERATE(name, ...) TAPE_##name, TAPE_##name##_OUT,
    TAPE_COPY,
    TAPE_COPY_OUT,
    EXPR_OPERATIONS(TAPE_ENUMERATE) TAPE_FUSED(TAPE_ENUMERATE)
#undef TAPE_ENUMERATE
    /* signal number c of the tape at time a with jump b */
    TAPE_SIGNAL,
    TAPE_SIGNAL_OUT,
    /* registers dst = sin a, b = cos a */
    TAPE_SINCOS,
    TAPE_END,
    /* run loop b of the tape on the registers from a on */
    TAPE_LOOP,
    TAPE_OP_COUNT
} tape_op;

typedef struct tape_instruction {
    uint32_t op;
    uint32_t dst;     /* register, or output of an _OUT */
    uint32_t a, b, c; /* registers */
} tape_instruction;

/* Number of operands of an instruction. */
static inline int tape_operands(uint32_t op)
{
    static const uint8_t table[TAPE_OP_COUNT] = {
#define TAPE_OPERANDS(name, operands, ...) operands, operands,
#define TAPE_THREE(name, ...) 3, 3,
        1,
        1, /* COPY */
        EXPR_OPERATIONS(TAPE_OPERANDS) TAPE_FUSED(TAPE_THREE)
#undef TAPE_OPERANDS
#undef TAPE_THREE
            [TAPE_SIGNAL] = 2,
        [TAPE_SIGNAL_OUT] = 2,
        [TAPE_SINCOS] = 1,
        [TAPE_LOOP] = 1};
    return table[op];
}

/* The instruction for one operation of the graph: both lists have the same order. */
static inline uint32_t tape_op_of(uint8_t op)
{
    return TAPE_NEG + 2u * (op - EXPR_NEG);
}

/* Whether dst is a register, not an output: the _OUT are odd. */
static inline bool tape_makes_register(uint32_t op)
{
    return op % 2 == 0;
}

enum { TAPE_ORDERS = 4 }; /* derivatives that tape_inputs can give */

/* A derivative of a function from outside. */
typedef struct tape_signal {
    graph_signal of;
    int order;
} tape_signal;

/* A loop of a tape: outputs of its body are the condition, then new values of `changing` cells. */
typedef struct tape_loop {
    struct tape *body; /* its variables are the cells; owned */
    size_t cells, changing;
    uint32_t *cell; /* which ones; owned */
    int32_t index;  /* in the graph */
} tape_loop;

/* A family of outputs (expr/roll.h): its body, a tape over slots, is run for many passes at once.
 */
typedef struct tape_family {
    struct tape *body; /* owned, as the slots */
    roll_family of;    /* without the number of its body */
} tape_family;

/* A tape with loops over families in the place of instructions of its own. */
typedef struct tape_rolled {
    struct tape
        *rest; /* outputs that are in no family, then what passes share; owned, as all else */
    uint32_t *output; /* of the first `outputs` of the rest: which ones of the tape they are */
    size_t outputs;
    tape_family *families;
    size_t family_count;
    size_t registers; /* most that a body has */
} tape_rolled;

enum { TAPE_LANES = 64 }; /* passes at once: a body's registers stay in the first cache */

/* Registers stand in this order:
 *   constants | parameters | memory | values made by `prologue`     set by tape_prepare, then kept
 *   time | variables by order                                       copied at the start of a run
 *   cells of loops, those of one loop together                      set and used within a run
 *   temporaries                                                     reused within a run
 * Leaves are copied because one base register for all operands makes a short instruction, and
 * because a copy costs less than the dispatch of a load. */
struct tape {
    size_t constants, parameters, memories, kept; /* numbers of registers, */
    bool timed;                                   /* whether time has one, */
    size_t variables, registers;                  /* and all together */
    double *constant;              /* owned, with the indices behind it; owned, too, is all else */
    int32_t *parameter, *memory;   /* their indices */
    int32_t *variable;             /* indices, grouped by order */
    size_t group[TAPE_ORDERS + 2]; /* order m: variable[group[m] .. group[m+1]); the last group
                                      holds all orders that tape_inputs cannot give */
    tape_instruction *prologue, *body;
    size_t prologue_length, length, outputs;
    tape_loop *loops; /* owned */
    size_t loop_count, loop_cells;
    tape_signal *signals; /* owned */
    size_t signal_count;
    tape_rolled *rolled; /* owned; not NULL: all above is empty but `outputs` */
};

/* First register of the copied leaves: time if there is one, then variables. */
static inline size_t tape_first_copied(const tape *t)
{
    return t->constants + t->parameters + t->memories + t->kept;
}

/* First register of the cells of loops. */
static inline size_t tape_first_cell(const tape *t)
{
    return tape_first_copied(t) + t->timed + t->variables;
}

/* tape.c: a tape without loops over outputs; NULL: memory. */
tape *straight_tape(const graph *g, const expr *e, size_t count);

/* tape_rolled.c */

/* The tape of outputs that have families; NULL: memory. */
tape *tape_of_roll(const graph *g, roll *r, size_t outputs);
void tape_rolled_free(tape_rolled *r);
size_t tape_rolled_length(const tape_rolled *r);
size_t tape_rolled_size(const tape_rolled *r);
size_t tape_rolled_work(const tape_rolled *r);
void tape_rolled_run(const tape_rolled *r, const tape_inputs *in, double *work, double *out);

/* Emitted C makes the same choice, so that both give the same bits. */
#ifndef __GLIBC__
static inline void sincos(double x, double *s, double *c)
{
    *s = sin(x);
    *c = cos(x);
}
#endif

#endif
