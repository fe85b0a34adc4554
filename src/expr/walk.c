#include "expr/walk.h"

#include "base/memory.h"
#include "expr/intern.h"
#include "expr/walk_pool.h"

void walk_free(walk *w)
{
    if (w->place) walk_pool_give(graph_walks(w->graph), (walk_memory){w->place, w->room});
    *w = (walk){0};
}

/* Memory from the pool, or for every node of the graph and for many that it may get. */
static bool make_room(walk *w, const graph *g)
{
    walk_memory memory = {w->place, w->room};
    if (!memory.block) memory = walk_pool_take(graph_walks(g));
    if (graph_size(g) > memory.room) {
        dae_free(memory.block);
        for (memory.room = GRAPH_BLOCK; memory.room < graph_size(g);) memory.room *= 2;
        memory.block = DAE_ARRAY(uint32_t, 3 * memory.room);
    }
    *w = (walk){.place = memory.block, .room = memory.room, .graph = g};
    if (!w->place) return false;
    w->order = w->place + w->room;
    w->stack = w->order + w->room;
    return true;
}

/* Places of earlier walks mean nothing: they are checked against the order. */
static inline bool reached(const walk *w, expr e)
{
    return w->place[e] < w->count && w->order[w->place[e]] == e;
}

static inline void append(walk *w, expr e)
{
    w->place[e] = (uint32_t)w->count;
    w->order[w->count++] = e;
}

/* The first operand of *n that is an operation not reached yet, else EXPR_NONE; leaves before it
 * are placed. */
static inline expr next_operand(walk *w, const graph *g, const expr_node *n)
{
    const expr operand[3] = {n->a, n->b, n->c};
    for (int k = 0; k < n->arity; k++) {
        if (reached(w, operand[k])) continue;
        if (graph_node(g, operand[k])->arity > 0) return operand[k];
        append(w, operand[k]);
    }
    return EXPR_NONE;
}

/* Depth first: an operation is placed when its operands have been. */
static void visit(walk *w, const graph *g, expr root)
{
    size_t depth = 0;
    if (root == EXPR_NONE || reached(w, root)) return;
    w->stack[depth++] = root;
    while (depth > 0) {
        expr e = w->stack[depth - 1], next = next_operand(w, g, graph_node(g, e));
        if (next != EXPR_NONE) {
            w->stack[depth++] = next;
        } else {
            append(w, e);
            depth--;
        }
    }
}

bool walk_from(walk *w, const graph *g, const expr *roots, size_t count)
{
    if (!make_room(w, g)) return false;
    for (size_t i = 0; i < count; i++) visit(w, g, roots[i]);
    return true;
}
