/* Expressions with leaves replaced, and the leaves of expressions. */
#include <string.h>

#include "base/memory.h"
#include "expr/intern.h"
#include "expr/sort_nodes.h"
#include "expr/walk.h"

/* The operands' images; EXPR_NONE where there is no operand. */
static expr image_of(const walk *w, const expr *image, expr operand)
{
    return operand == EXPR_NONE ? EXPR_NONE : image[walk_place(w, operand)];
}

/* image[i] = order[i] with leaves replaced; a node whose operands are kept is kept as it is. */
static bool map_nodes(graph *g, const walk *w, graph_leaf_map leaf, void *context, expr *image)
{
    for (size_t i = 0; i < w->count; i++) {
        const expr_node *n = graph_node(g, w->order[i]);
        if (n->arity == 0) {
            image[i] = leaf(context, g, w->order[i]);
        } else {
            expr a = image_of(w, image, n->a), b = image_of(w, image, n->b);
            expr third = expr_operand(n, 2), c = image_of(w, image, third);
            bool kept = a == n->a && b == n->b && c == third;
            image[i] = kept ? w->order[i] : graph_rebuild(g, n, a, b, c);
        }
        if (image[i] == EXPR_NONE) return false;
    }
    return true;
}

expr graph_substitute(graph *g, expr e, graph_leaf_map leaf, void *context)
{
    walk w = {0};
    expr result = EXPR_NONE;
    if (e == EXPR_NONE || graph_failed(g)) return EXPR_NONE;
    if (graph_node(g, e)->arity == 0) return leaf(context, g, e);
    bool reached = walk_from(&w, g, &e, 1);
    expr *image = reached ? DAE_ARRAY(expr, w.count) : NULL;
    if (!image) graph_fail(g);
    if (image && map_nodes(g, &w, leaf, context, image)) result = image[w.count - 1];
    dae_free(image);
    walk_free(&w);
    return result;
}

/* The leaves of a walk in increasing order, at the front of its list; returns how many. */
static size_t sort_leaves(const graph *g, walk *w)
{
    size_t leaves = 0;
    for (size_t i = 0; i < w->count; i++)
        if (graph_node(g, w->order[i])->arity == 0) w->order[leaves++] = w->order[i];
    sort_nodes(w->order, leaves);
    return leaves;
}

/* Keep the leaves of one expression for the next one who asks; false: memory. */
static bool keep_leaves(const graph *g, expr e, const walk *w, size_t leaves)
{
    expr *kept;
    if (!graph_remember(g, MEMO_LEAVES, e, leaves, &kept)) return false;
    if (kept) memcpy(kept, w->order, leaves * sizeof *kept);
    return true;
}

enum { LARGE = 1 << 16, SHORT = 64 }; /* nodes of a graph, and of a walk */

/* Visit the leaves by a walk; `keep`: the memo is ours. */
static bool walk_leaves(const graph *g, const expr *e, size_t count, bool keep,
                        graph_leaf_visit visit, void *context)
{
    walk w = {0};
    bool reached = walk_from(&w, g, e, count);
    /* in a large model a short walk costs less than to remember all of them */
    if (graph_size(g) > LARGE && w.count < SHORT) keep = false;
    size_t leaves = reached ? sort_leaves(g, &w) : 0;
    if (reached && keep) reached = keep_leaves(g, *e, &w, leaves);
    for (size_t i = 0; reached && i < leaves; i++) visit(context, graph_node(g, w.order[i]));
    walk_free(&w);
    return reached;
}

bool graph_leaves(const graph *g, const expr *e, size_t count, graph_leaf_visit visit,
                  void *context)
{
    size_t leaves = 0;
    bool mine = count == 1 && *e != EXPR_NONE && graph_try_enter(g);
    const expr *leaf = mine ? graph_recall(g, MEMO_LEAVES, *e, &leaves) : NULL;
    for (size_t i = 0; leaf && i < leaves; i++) visit(context, graph_node(g, leaf[i]));
    bool done = leaf || walk_leaves(g, e, count, mine, visit, context);
    if (mine) graph_leave((graph *)g);
    return done;
}

const graph_signal *graph_signal_lacking(const graph *g, const expr *e, size_t count, int *order,
                                         bool *failed)
{
    walk w = {0};
    const graph_signal *lacking = NULL;
    *order = 0;
    *failed = !walk_from(&w, g, e, count);
    for (size_t i = 0; !*failed && i < w.count; i++) {
        const expr_node *n = graph_node(g, w.order[i]);
        if (n->op != EXPR_SIGNAL || n->order <= graph_signal_at(g, n->index)->orders) continue;
        lacking = graph_signal_at(g, n->index);
        if (n->order > *order) *order = n->order;
    }
    walk_free(&w);
    return lacking;
}

bool graph_reads(const graph *g, const expr *e, size_t count, unsigned kinds, bool *found)
{
    walk w = {0};
    bool reached = walk_from(&w, g, e, count);
    *found = false;
    for (size_t i = 0; reached && i < w.count && !*found; i++) {
        const expr_node *n = graph_node(g, w.order[i]);
        *found = n->arity == 0 && (kinds >> n->op & 1u);
    }
    walk_free(&w);
    return reached;
}
