#include "expr/walk.h"

#include "base/memory.h"

#include <string.h>

/* A walk that reaches 1/DIRECT_SHARE of the graph gets a slot for each node: neighbours in the
 * graph are then neighbours in the table. */
enum { FIRST_TABLE = 64, DIRECT_SHARE = 8 };

static size_t hash(expr e)
{
    return (size_t)((e * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

/* The slot that holds e, or the empty one where it belongs. */
static walk_slot *find(const walk *w, expr e)
{
    if (w->direct) return &w->table[e];
    size_t mask = w->used - 1, i = hash(e) & mask;
    while (w->table[i].stamp == w->stamp && w->table[i].node != e) i = (i + 1) & mask;
    return &w->table[i];
}

/* Start an empty table of `used` slots; slots of earlier walks are outdated by their stamp. */
static void clear(walk *w, size_t used, bool direct)
{
    w->used = used;
    w->direct = direct;
    if (++w->stamp != 0) return;
    memset(w->table, 0, w->table_capacity * sizeof *w->table);
    w->stamp = 1;
}

static bool reserve_table(walk *w, size_t used)
{
    if (used <= w->table_capacity) return true;
    walk_slot *table = DAE_ARRAY(walk_slot, used);
    if (!table) return false;
    dae_free(w->table);
    w->table = table;
    w->table_capacity = used;
    w->stamp = 0;
    return true;
}

/* Twice the slots or one for each node of the graph, with the nodes found so far. */
static bool enlarge_table(walk *w, const graph *g)
{
    bool direct = w->count >= graph_size(g) / DIRECT_SHARE;
    size_t used = direct ? graph_size(g) : 2 * w->used;
    if (!reserve_table(w, used)) return false;
    clear(w, used, direct);
    for (size_t i = 0; i < w->count; i++)
        *find(w, w->order[i]) =
            (walk_slot){.node = w->order[i], .place = (uint32_t)i, .stamp = w->stamp};
    return true;
}

static bool seen(const walk *w, expr e)
{
    return find(w, e)->stamp == w->stamp;
}

/* Append e to the order. */
static bool place(walk *w, const graph *g, expr e)
{
    if (!w->direct && 2 * (w->count + 1) > w->used && !enlarge_table(w, g)) return false;
    if (!dae_grow(&w->order, &w->order_capacity, w->count + 1, sizeof *w->order)) return false;
    *find(w, e) = (walk_slot){.node = e, .place = (uint32_t)w->count, .stamp = w->stamp};
    w->order[w->count++] = e;
    return true;
}

static bool push(walk *w, expr e)
{
    if (e == EXPR_NONE || seen(w, e)) return true;
    if (!dae_grow(&w->stack, &w->stack_capacity, w->depth + 1, sizeof *w->stack)) return false;
    w->stack[w->depth++] = e;
    return true;
}

/* Depth first: a node is placed when the operands pushed above it have been. */
static bool visit(walk *w, const graph *g, expr root)
{
    w->depth = 0;
    if (!push(w, root)) return false;
    while (w->depth > 0) {
        expr e = w->stack[w->depth - 1];
        size_t before = w->depth;
        if (!seen(w, e)) {
            const expr_node *n = graph_node(g, e);
            if (!push(w, n->c) || !push(w, n->b) || !push(w, n->a)) return false;
            if (w->depth > before) continue;
            if (!place(w, g, e)) return false;
        }
        w->depth--;
    }
    return true;
}

bool walk_from(walk *w, const graph *g, const expr *roots, size_t count)
{
    w->count = 0;
    if (!reserve_table(w, FIRST_TABLE)) return false;
    clear(w, FIRST_TABLE, false);
    for (size_t i = 0; i < count; i++)
        if (!visit(w, g, roots[i])) return false;
    return true;
}

size_t walk_place(const walk *w, expr e)
{
    return find(w, e)->place;
}

void walk_free(walk *w)
{
    dae_free_all(w->order, w->stack, w->table);
    *w = (walk){0};
}
