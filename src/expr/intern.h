/* Between graph.c, which stores nodes and the bodies of loops, those who decide which ones to
 * store, simplify.c and the files of loops, and who walks over them. */
#ifndef DAE_EXPR_INTERN_H
#define DAE_EXPR_INTERN_H

#include "expr/graph.h"
#include "expr/memo.h"

/* The node equal to *n (but for `finite` and `arity`, which are found here), new or old; no
 * simplification. */
expr graph_intern(graph *g, const expr_node *n);

expr graph_fail(graph *g); /* remember that memory ran out; EXPR_NONE */

/* n's operation with other operands, also for those of loops. */
expr graph_rebuild(graph *g, const expr_node *n, expr a, expr b, expr c);

/* The body of a loop: while condition do cell[k] := next[k], all at once. Its expressions have no
 * other leaves than constants and CELLs 0 .. cells-1. */
typedef struct graph_loop {
    expr condition;
    size_t cells;
    const expr *next; /* owned by the graph */
} graph_loop;

/* The number of a body equal to *l, new or old; -1: out of memory. l->next is copied. */
int graph_intern_loop(graph *g, const graph_loop *l);
const graph_loop *graph_loop_at(const graph *g, int index);
size_t graph_loop_count(const graph *g);

/* Memory for walks over the graph, which are no part of its value. */
struct walk_pool *graph_walks(const graph *g);

/* The memo of the graph, for who has entered it: memo_find() and memo_add(). */
const expr *graph_recall(const graph *g, memo_kind kind, expr e, size_t *count);
bool graph_remember(const graph *g, memo_kind kind, expr e, size_t count, expr **items);
/* graph_enter() where no other thread is inside; false: one is. */
bool graph_try_enter(const graph *g);

#endif
