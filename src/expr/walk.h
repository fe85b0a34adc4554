/* A walk over the nodes that expressions reach: operands before parents, each node once. */
#ifndef DAE_EXPR_WALK_H
#define DAE_EXPR_WALK_H

#include "expr/graph.h"

/* Zero-initialise. Memory is kept between walks, and only as much of it is touched as a walk has
 * nodes, so that many short walks in a large graph stay cheap. */
typedef struct walk {
    expr *order; /* distinct nodes reached, operands before parents; owned, with the stack, which
                  * grows down from its end */
    size_t count;
    uint32_t *place;    /* by node: where it stands in order, if it is the node there; owned */
    size_t room;        /* places */
    size_t length;      /* of order and stack together */
    const graph *graph; /* of the last walk: its pool gets the memory back */
} walk;

/* Places for all nodes of the graph, nothing reached: for walks that choose their way themselves.
 * false: out of memory. */
bool walk_open(walk *w, const graph *g);

/* Room for the next few nodes, in the order or on a stack of so many; false: out of memory. */
enum { WALK_NEXT = 4 };
bool walk_lengthen(walk *w, size_t depth);
static inline bool walk_fits(walk *w, size_t depth)
{
    return w->count + depth + WALK_NEXT <= w->length || walk_lengthen(w, depth);
}

/* Node number `depth` on the stack: operations on the way to the node at hand. */
static inline expr *walk_stacked(const walk *w, size_t depth)
{
    return &w->order[w->length - 1 - depth];
}

/* w->order[0 .. w->count-1] = nodes reached from `count` roots (EXPR_NONE is skipped). false: out
 * of memory. Iterative: any depth will do. */
bool walk_from(walk *w, const graph *g, const expr *roots, size_t count);

/* As walk_from, for one root, as long as it reaches no more than `most` nodes; *whole: it does not.
 * Else the walk has a part of them, after a work that goes with `most`. */
bool walk_within(walk *w, const graph *g, expr root, size_t most, bool *whole);

/* The nodes that another root reaches behind those of the walk so far. */
bool walk_on(walk *w, const graph *g, expr root);

/* Visit the leaves of e that no earlier call with *w has visited, in no particular order: what many
 * expressions have in common costs once. The graph does not grow meanwhile. false: out of memory.
 */
bool walk_new_leaves(walk *w, const graph *g, expr e, graph_leaf_visit visit_leaf, void *context);
void walk_free(walk *w); /* while the graph is there, which keeps the memory for others */

/* i with w->order[i] = e, for e reached. */
static inline size_t walk_place(const walk *w, expr e)
{
    return w->place[e];
}

/* Places of earlier walks mean nothing: they are checked against the order. */
static inline bool walk_reached(const walk *w, expr e)
{
    return w->place[e] < w->count && w->order[w->place[e]] == e;
}

static inline void walk_append(walk *w, expr e)
{
    w->place[e] = (uint32_t)w->count;
    w->order[w->count++] = e;
}

#endif
