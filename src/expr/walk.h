/* A walk over the nodes that expressions reach: operands before parents, each node once. */
#ifndef DAE_EXPR_WALK_H
#define DAE_EXPR_WALK_H

#include "expr/graph.h"

/* Where a node stands in a walk; a slot belongs to the current walk if its stamp does. */
typedef struct walk_slot {
    expr node;
    uint32_t place, stamp;
} walk_slot;

/* Zero-initialise. Memory is kept between walks, and only as much of it is touched as a walk has
 * nodes, so that many short walks after a long one stay cheap. */
typedef struct walk {
    expr *order; /* distinct nodes reached, operands before parents; owned */
    size_t count, order_capacity;
    expr *stack; /* owned */
    size_t depth, stack_capacity;
    walk_slot *table; /* open addressing, or one slot for each node of the graph; owned */
    size_t used, table_capacity;
    bool direct; /* slots are numbered by nodes */
    uint32_t stamp;
} walk;

/* w->order[0 .. w->count-1] = nodes reached from `count` roots (EXPR_NONE is skipped). false: out
 * of memory. Iterative: any depth will do. */
bool walk_from(walk *w, const graph *g, const expr *roots, size_t count);
/* i with w->order[i] = e, for e reached. */
size_t walk_place(const walk *w, expr e);
void walk_free(walk *w);

#endif
