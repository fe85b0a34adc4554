#include "expr/walk.h"

#include "base/memory.h"
#include "expr/intern.h"
#include "expr/walk_pool.h"

#include <string.h>

enum { LEAST_ROOM = 1 << 9, LONG_ORDER = 1 << 16 }; /* nodes */

/* The order of a walk over much of a large model is not kept for the short ones that follow. */
void walk_free(walk *w)
{
    if (w->length > LONG_ORDER) {
        dae_free(w->order);
        w->order = NULL;
        w->length = 0;
    }
    if (w->place)
        walk_pool_give(graph_walks(w->graph),
                       (walk_memory){w->place, w->room, w->order, w->length});
    *w = (walk){0};
}

/* Memory from the pool, or places for every node of the graph and for some that it may get. */
bool walk_open(walk *w, const graph *g)
{
    walk_memory memory = {w->place, w->room, w->order, w->length};
    if (!memory.place) memory = walk_pool_take(graph_walks(g));
    if (graph_size(g) > memory.room) {
        dae_free(memory.place);
        memory.room = graph_size(g) + graph_size(g) / 4 + LEAST_ROOM;
        memory.place = DAE_ARRAY(uint32_t, memory.room);
    }
    *w = (walk){memory.order, 0, memory.place, memory.room, memory.length, g};
    if (w->place) return true;
    dae_free(w->order);
    *w = (walk){0};
    return false;
}

bool walk_lengthen(walk *w, size_t depth)
{
    const size_t length = 2 * w->length + LEAST_ROOM;
    expr *order = dae_alloc(length, sizeof *order);
    if (!order) return false;
    if (w->count > 0) memcpy(order, w->order, w->count * sizeof *order);
    if (depth > 0)
        memcpy(order + length - depth, w->order + w->length - depth, depth * sizeof *order);
    dae_free(w->order);
    w->order = order;
    w->length = length;
    return true;
}

/* A walk on its way, in variables that compilers keep in registers: most of the time of a
 * translation goes into walks over expressions of a few nodes. */
typedef struct course {
    const graph *g;
    expr *order;
    uint32_t *place;
    size_t count;
} course;

static inline bool reached(const course *c, expr e)
{
    return c->place[e] < c->count && c->order[c->place[e]] == e;
}

static inline void put(course *c, expr e)
{
    c->place[e] = (uint32_t)c->count;
    c->order[c->count++] = e;
}

/* The operands of *n by number, up to its arity. */
static inline expr operand_of(const expr_node *n, int k)
{
    return k == 0 ? n->a : k == 1 ? n->b : n->c;
}

/* The first operand of *n from number k on that is an operation not reached yet, else EXPR_NONE;
 * leaves before it are placed. */
static inline expr next_operand(course *c, const expr_node *n, int k)
{
    for (; k < n->arity; k++) {
        expr operand = operand_of(n, k);
        if (reached(c, operand)) continue;
        if (graph_node(c->g, operand)->arity > 0) return operand;
        put(c, operand);
    }
    return EXPR_NONE;
}

/* More room for the nodes of a course, and its end. */
static bool go_on(walk *w, course *c, size_t depth, expr **end)
{
    w->count = c->count;
    if (!walk_lengthen(w, depth)) return false;
    c->order = w->order;
    *end = w->order + w->length;
    return true;
}

/* Depth first: an operation is placed when its operands have been. Behind an operand its parent
 * goes on with the next one. It ends early where more than `most` nodes are placed or stacked, and
 * *whole is false. False: out of memory. */
static bool visit(walk *w, const graph *g, expr root, size_t most, bool *whole)
{
    if (root == EXPR_NONE || walk_reached(w, root)) return true;
    course c = {g, w->order, w->place, w->count};
    expr *end = w->order + w->length;
    size_t depth = 0;
    for (expr e = root, done = EXPR_NONE;;) {
        const expr_node *n = graph_node(g, e);
        *whole = c.count + depth <= most;
        if (!*whole) break;
        if (c.count + depth + WALK_NEXT > w->length && !go_on(w, &c, depth, &end)) return false;
        expr next = next_operand(&c, n,
                                 done == EXPR_NONE ? 0
                                 : done == n->a    ? 1
                                 : done == n->b    ? 2
                                                   : 3);
        if (next != EXPR_NONE) {
            end[-1 - (ptrdiff_t)depth++] = e;
            e = next;
            done = EXPR_NONE;
            continue;
        }
        put(&c, e);
        if (depth == 0) break;
        done = e;
        e = end[-1 - (ptrdiff_t)--depth];
    }
    w->count = c.count;
    return true;
}

bool walk_on(walk *w, const graph *g, expr root)
{
    bool whole;
    return visit(w, g, root, SIZE_MAX, &whole);
}

bool walk_new_leaves(walk *w, const graph *g, expr e, graph_leaf_visit visit_leaf, void *context)
{
    if (w->room < graph_size(g) && !walk_open(w, g)) return false;
    const size_t known = w->count;
    if (!walk_on(w, g, e)) return false;
    for (size_t i = known; i < w->count; i++) {
        const expr_node *n = graph_node(g, w->order[i]);
        if (n->arity == 0) visit_leaf(context, n);
    }
    return true;
}

bool walk_from(walk *w, const graph *g, const expr *roots, size_t count)
{
    bool ok = walk_open(w, g);
    for (size_t i = 0; ok && i < count; i++) ok = walk_on(w, g, roots[i]);
    return ok;
}

bool walk_within(walk *w, const graph *g, expr root, size_t most, bool *whole)
{
    *whole = true;
    return walk_open(w, g) && visit(w, g, root, most, whole);
}
