/* A plan: the part of the graph that some outputs need, in order of computation, with what the tape
 * and the emitted C must decide alike in order to give the same bits. */
#ifndef DAE_EXPR_TAPE_PLAN_H
#define DAE_EXPR_TAPE_PLAN_H

#include "expr/graph.h"

#define PLAN_NONE UINT32_MAX

typedef struct plan_node {
    uint8_t op;       /* expr_op */
    uint8_t order;    /* of a VARIABLE or a SIGNAL */
    uint8_t operands; /* number of them */
    bool fixed;       /* depends on constants, parameters and memory alone */
    int32_t index; /* of a VARIABLE (also of a CELL), PARAMETER, MEMORY, LOOP, RESULT or SIGNAL */
    uint32_t operand[3];
    uint32_t uses; /* as an operand and as an output */
    uint32_t pair; /* the cosine of a sine's operand and back, or PLAN_NONE */
    double value;  /* of a CONSTANT */
} plan_node;

typedef struct plan {
    size_t count;     /* nodes, operands before their users */
    plan_node *nodes; /* owned */
    size_t outputs;
    uint32_t *output; /* node of each output; owned */
} plan;

/* The nodes that e[0 .. count-1] need, in depth-first order: what one output needs stands together,
 * so that few values are alive at once. false: out of memory, nothing is kept. */
bool plan_new(plan *p, const graph *g, const expr *e, size_t count);
void plan_free(plan *p);

static inline bool plan_is_leaf(const plan_node *node)
{
    return node->operands == 0;
}

#endif
