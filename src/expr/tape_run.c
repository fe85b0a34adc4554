/* The interpreter of tapes. Every operation is a statement of its own, so that no compiler may
 * contract two of them into one rounding. */
#define _GNU_SOURCE /* sincos is an extension of the C library where we use it */
#include "expr/tape_code.h"

#include <math.h>

#ifdef __GNUC__
#define TAPE_COMPUTED_GOTO
#pragma GCC diagnostic ignored "-Wpedantic" /* for the computed goto */
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#ifdef TAPE_COMPUTED_GOTO
#define CASE(name) label_##name:
#define NEXT                                                                                       \
    do {                                                                                           \
        i++;                                                                                       \
        goto *label[i->op];                                                                        \
    } while (0)
#else
#define CASE(name) case TAPE_##name:
#define NEXT break
#endif

/* One operation of the graph, into a register and into an output. */
#define OPERATION(name, operands, notation, value)                                                 \
    CASE(name)                                                                                     \
    {                                                                                              \
        work[i->dst] = (value);                                                                    \
        NEXT;                                                                                      \
    }                                                                                              \
    CASE(name##_OUT)                                                                               \
    {                                                                                              \
        out[i->dst] = (value);                                                                     \
        NEXT;                                                                                      \
    }

/* Two operations, the first one's result named `first`. */
#define TWO_OPERATIONS(name, inner, value)                                                         \
    CASE(name)                                                                                     \
    {                                                                                              \
        double first = (inner);                                                                    \
        work[i->dst] = (value);                                                                    \
        NEXT;                                                                                      \
    }                                                                                              \
    CASE(name##_OUT)                                                                               \
    {                                                                                              \
        double first = (inner);                                                                    \
        out[i->dst] = (value);                                                                     \
        NEXT;                                                                                      \
    }

#define A work[i->a]
#define B work[i->b]
#define C work[i->c]
#define MATH(f) f

static void run_loop(const tape *t, size_t which, double *cell, double *work);

/* Execute instructions of t from i up to TAPE_END. */
static void execute(const tape *t, const tape_instruction *i, double *restrict work,
                    double *restrict out)
{
#ifdef TAPE_COMPUTED_GOTO
#define LABELS(name, ...) &&label_##name, &&label_##name##_OUT,
    static const void *const label[] = {&&label_COPY,
                                        &&label_COPY_OUT,
                                        EXPR_OPERATIONS(LABELS) TAPE_FUSED(LABELS) && label_SIGNAL,
                                        &&label_SIGNAL_OUT,
                                        &&label_SINCOS,
                                        &&label_END,
                                        &&label_LOOP};
    goto *label[i->op];
#else
    for (;; i++) {
        switch ((tape_op)i->op) {
#endif
    OPERATION(COPY, 1, "", A)
    EXPR_OPERATIONS(OPERATION)
    TAPE_FUSED(TWO_OPERATIONS)
    OPERATION(SIGNAL, 2, "", graph_signal_value(&t->signals[i->c].of, t->signals[i->c].order, A, B))
    CASE(SINCOS)
    {
        double angle = A; /* either result may replace it */
        sincos(angle, &work[i->dst], &work[i->b]);
        NEXT;
    }
    CASE(LOOP)
    {
        run_loop(t, i->b, work + i->a, work + t->registers);
        NEXT;
    }
    CASE(END)
    {
        return;
    }
#ifndef TAPE_COMPUTED_GOTO
case TAPE_OP_COUNT: return;
}
}
#endif
}

/* Set the registers that keep their values between runs. */
void tape_prepare(const tape *t, const tape_inputs *in, double *work)
{
    if (t->rolled) {
        tape_prepare(t->rolled->rest, in, work);
        return;
    }
    double *to = work;
    for (size_t k = 0; k < t->constants; k++) *to++ = t->constant[k];
    for (size_t k = 0; k < t->parameters; k++) *to++ = in->parameters[t->parameter[k]];
    for (size_t k = 0; k < t->memories; k++) *to++ = in->memory[t->memory[k]];
    execute(t, t->prologue, work, NULL);
    to = work + t->registers;
    for (size_t k = 0; k < t->loop_count; k++) {
        tape_prepare(t->loops[k].body, in, to);
        to += tape_work_size(t->loops[k].body) + t->loops[k].changing + 1;
    }
}

/* out[i] = e[i] */
void tape_run(const tape *t, const tape_inputs *in, double *work, double *out)
{
    if (t->rolled) {
        tape_rolled_run(t->rolled, in, work, out);
        return;
    }
    double *to = work + tape_first_copied(t);
    if (t->timed) *to++ = in->time;
    for (int m = 0; m < TAPE_ORDERS; m++) {
        const double *from = in->values[m];
        for (size_t k = t->group[m]; k < t->group[m + 1]; k++) *to++ = from[t->variable[k]];
    }
    for (size_t k = t->group[TAPE_ORDERS]; k < t->variables; k++) *to++ = NAN;
    execute(t, t->body, work, out);
}

/* While the condition holds, cells := what the body makes of them. */
static void run_loop(const tape *t, size_t which, double *cell, double *work)
{
    const tape_loop *l = &t->loops[which];
    tape_inputs in = {.values = {cell}};
    for (size_t k = 0; k < which; k++)
        work += tape_work_size(t->loops[k].body) + t->loops[k].changing + 1;
    double *out = work + tape_work_size(l->body);
    for (;;) {
        tape_run(l->body, &in, work, out);
        if (out[0] == 0.0) break;
        for (size_t k = 0; k < l->changing; k++) cell[l->cell[k]] = out[k + 1];
    }
}
