/* A tape: straight-line code for many expressions at once, run by a small interpreter. */
#ifndef DAE_EXPR_TAPE_H
#define DAE_EXPR_TAPE_H

#include "expr/graph.h"

typedef struct tape tape;

/* Inputs of a run, in doubles: variables by (index, order), parameters, memory, time. A VARIABLE
 * leaf (index, order) reads values[order][index]; orders above 3 read NaN. */
typedef struct tape_inputs {
    double time;
    const double *values[4]; /* values[0] = y, values[1] = y', ..; NULL where no leaf needs it */
    const double *parameters;
    const double *memory;
} tape_inputs;

/* Code for outputs[i] = e[i], i < count; common subexpressions once; registers reused so that work
 * space stays small; select is lazy only in the sense that the other branch's NaN does not matter.
 * Parts that depend on parameters and memory alone are hoisted: tape_prepare computes them. Many
 * outputs of one shape become loops (expr/roll.h). */
tape *tape_new(const graph *g, const expr *e, size_t count); /* NULL: memory */
void tape_free(tape *t);
size_t tape_length(const tape *t); /* instructions per run */
size_t tape_size(const tape *t);   /* instructions there are: fewer, where some run in loops */
/* Sines and cosines that come in pairs from one call, and those that do not; within bodies of loops
 * neither. */
void tape_sines(const tape *t, size_t *pairs, size_t *singles);
bool tape_calls_out(const tape *t); /* it has functions from outside: no native code can take its
                                       place */

/* Work space of a run is caller-owned so that a tape can be shared by threads. tape_prepare must
 * have filled it since parameters or memory last changed. Outputs must not overlap inputs. */
size_t tape_work_size(const tape *t); /* doubles */
void tape_prepare(const tape *t, const tape_inputs *in, double *work);
void tape_run(const tape *t, const tape_inputs *in, double *work, double *out);

#endif
