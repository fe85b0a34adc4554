#include "expr/walk.h"

#include "base/memory.h"
#include "expr/intern.h"
#include "expr/walk_pool.h"

#include <string.h>

enum { LEAST_ROOM = 1 << 9 }; /* nodes */

void walk_free(walk *w)
{
    if (w->place) walk_pool_give(graph_walks(w->graph), (walk_memory){w->place, w->room});
    *w = (walk){0};
}

/* Memory from the pool, or for every node of the graph and for many that it may get. */
bool walk_open(walk *w, const graph *g)
{
    walk_memory memory = {w->place, w->room};
    if (!memory.block) memory = walk_pool_take(graph_walks(g));
    if (graph_size(g) > memory.room) {
        dae_free(memory.block);
        for (memory.room = LEAST_ROOM; memory.room < graph_size(g);) memory.room *= 2;
        memory.block = dae_alloc(3 * memory.room, sizeof *memory.block);
        if (memory.block) memset(memory.block, 0, memory.room * sizeof *memory.block);
    }
    *w = (walk){.place = memory.block, .room = memory.room, .graph = g};
    if (!w->place) return false;
    w->order = w->place + w->room;
    w->stack = w->order + w->room;
    return true;
}

/* The operands of *n by number, up to its arity. */
static inline expr operand_of(const expr_node *n, int k)
{
    return k == 0 ? n->a : k == 1 ? n->b : n->c;
}

/* The first operand of *n from number k on that is an operation not reached yet, else EXPR_NONE;
 * leaves before it are placed. */
static inline expr next_operand(walk *w, const graph *g, const expr_node *n, int k)
{
    for (; k < n->arity; k++) {
        expr operand = operand_of(n, k);
        if (walk_reached(w, operand)) continue;
        if (graph_node(g, operand)->arity > 0) return operand;
        walk_append(w, operand);
    }
    return EXPR_NONE;
}

/* Depth first: an operation is placed when its operands have been. Behind an operand its parent
 * goes on with the next one. */
static void visit(walk *w, const graph *g, expr root)
{
    size_t depth = 0;
    if (root == EXPR_NONE || walk_reached(w, root)) return;
    const expr_node *n = graph_node(g, root);
    for (expr e = root, done = EXPR_NONE;;) {
        int k = done == EXPR_NONE ? 0 : done == n->a ? 1 : done == n->b ? 2 : 3;
        expr next = next_operand(w, g, n, k);
        if (next != EXPR_NONE) {
            w->stack[depth++] = e;
            e = next;
            done = EXPR_NONE;
        } else {
            walk_append(w, e);
            if (depth == 0) return;
            done = e;
            e = w->stack[--depth];
        }
        n = graph_node(g, e);
    }
}

bool walk_new_leaves(walk *w, const graph *g, expr e, graph_leaf_visit visit_leaf, void *context)
{
    if (w->room < graph_size(g) && !walk_open(w, g)) return false;
    const size_t known = w->count;
    visit(w, g, e);
    for (size_t i = known; i < w->count; i++) {
        const expr_node *n = graph_node(g, w->order[i]);
        if (n->arity == 0) visit_leaf(context, n);
    }
    return true;
}

bool walk_from(walk *w, const graph *g, const expr *roots, size_t count)
{
    if (!walk_open(w, g)) return false;
    for (size_t i = 0; i < count; i++) visit(w, g, roots[i]);
    return true;
}
