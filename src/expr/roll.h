/* Loops found again: outputs that are one expression over other leaves, pass by pass.
 *
 * Rows of a discretised equation differ in the numbers of their leaves alone, and these grow by
 * constant steps along each direction of the grid. Such outputs are a family: one body, nested
 * counters, and for each leaf a base and a step for each counter. The tape and the emitted C run
 * the body in loops; their size does not depend on the number of passes. No bit changes: every pass
 * does the operations of its own expression. docs/loops.md */
#ifndef DAE_EXPR_ROLL_H
#define DAE_EXPR_ROLL_H

#include "expr/graph.h"

enum { ROLL_LEVELS = 5 }; /* nested counters */

/* A place base + sum of step[l] * counter l. */
typedef struct roll_place {
    int32_t base, step[ROLL_LEVELS];
} roll_place;

/* What the body's variable of that number reads in each pass. */
typedef struct roll_slot {
    uint8_t op;    /* EXPR_VARIABLE, PARAMETER or MEMORY; EXPR_CELL: output `base` of the rest;
                      EXPR_CONSTANT: the place itself */
    uint8_t order; /* of a VARIABLE */
    roll_place place;
} roll_slot;

typedef struct roll_family {
    expr body;       /* in roll.graph, over variables 0 .. slots-1 of order 0 */
    roll_slot *slot; /* owned */
    size_t slots;
    roll_place out;            /* which output a pass computes */
    int levels;                /* at least 1; the last counter has most passes */
    size_t count[ROLL_LEVELS]; /* passes of each counter */
    size_t passes;             /* of all together */
} roll_family;

typedef struct roll {
    roll_family *families; /* owned */
    size_t family_count;   /* 0: nothing is worth a loop, and all below is empty */
    graph *graph;          /* of the bodies; owned */
    expr *rest;            /* in the graph of the outputs: those in no family, then what all
                              passes of a family share; owned */
    size_t rest_count;
    uint32_t *output; /* of the first ones of the rest: which outputs they are; owned */
    size_t outputs;
} roll;

/* The families of e[0 .. count-1]. false: memory; nothing is kept. */
bool roll_new(roll *r, const graph *g, const expr *e, size_t count);
void roll_free(roll *r);

/* The place in the pass with these counters. */
static inline int32_t roll_at(const roll_place *p, const size_t *counter, int levels)
{
    int64_t at = p->base;
    for (int l = 0; l < levels; l++) at += (int64_t)p->step[l] * (int64_t)counter[l];
    return (int32_t)at;
}

#endif
