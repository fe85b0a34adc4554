/* Exact derivatives on the graph. */
#ifndef DAE_EXPR_DERIVE_H
#define DAE_EXPR_DERIVE_H

#include "expr/graph.h"

/* Partial derivatives of one expression by all VARIABLE leaves it contains. Zero-initialise. */
typedef struct gradient {
    size_t count, capacity;
    expr *leaf;       /* VARIABLE nodes, increasing; owned */
    expr *derivative; /* same length; entries that are the constant 0 are left out; owned */
    struct derive_scratch *scratch; /* memory of the sweep, kept for the next one; owned */
} gradient;

/* Reverse accumulation: cost is a small multiple of the distinct nodes of e. A gradient that serves
 * for many expressions, one after the other, keeps its memory, so that 1e5 small equations cost 1e5
 * small sweeps. False: memory. */
bool derive_gradient(graph *g, expr e, gradient *out);
void gradient_free(gradient *out);

/* d e / d leaf for one leaf (VARIABLE, PARAMETER or TIME). EXPR_NONE: memory. */
expr derive_partial(graph *g, expr e, expr leaf);

/* Total derivative d e / dt: variables of order m become order m+1, TIME becomes 1, parameters and
 * memory are constant. */
expr derive_time(graph *g, expr e);

/* sum_j (d e / d leaf_j) seed_j with seeds given as expressions per leaf (EXPR_NONE: zero). */
typedef expr (*derive_seed)(void *context, graph *g, expr leaf);
expr derive_direction(graph *g, expr e, derive_seed seed, void *context);

#endif
