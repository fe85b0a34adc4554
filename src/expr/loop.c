/* Closing a draft: what its body needs from outside become cells that never change. */
#include "expr/loop.h"

#include "base/memory.h"
#include "expr/loop_parts.h"
#include "expr/walk.h"

#include <string.h>

/* A draft while it is closed; arrays are by place in the walk. */
typedef struct closing {
    graph *g;
    const loop_draft *draft;
    walk nodes;
    bool *varies; /* depends on the draft's cells */
    bool *needed; /* part of the closed body, or an invariant of it */
    expr *image;  /* the same in the closed body */
    expr *start;  /* of the draft's cells, then of the invariants */
    expr *next;
    size_t cells;
} closing;

static bool is_list_or_loop(const expr_node *n)
{
    return n->op == EXPR_LIST || n->op == EXPR_LOOP;
}

/* The draft's number of a cell, or SIZE_MAX: a cell of a loop around this one. */
static size_t own_cell(const closing *c, expr leaf)
{
    int k = graph_node(c->g, leaf)->index - c->draft->first;
    return k >= 0 && (size_t)k < c->draft->count ? (size_t)k : SIZE_MAX;
}

static void find_varying(closing *c)
{
    for (size_t i = 0; i < c->nodes.count; i++) {
        const expr_node *n = graph_node(c->g, c->nodes.order[i]);
        const expr operand[3] = {n->a, n->b, n->c};
        if (n->op == EXPR_CELL) {
            size_t own = own_cell(c, c->nodes.order[i]);
            c->varies[i] = own != SIZE_MAX;
            if (own != SIZE_MAX) c->image[i] = graph_cell(c->g, (int)own);
        }
        for (int k = 0; k < graph_arity(n->op); k++)
            c->varies[i] = c->varies[i] || c->varies[walk_place(&c->nodes, operand[k])];
    }
}

/* Users first: what varies needs its operands, and so do lists, which are not numbers. */
static void find_needed(closing *c)
{
    c->needed[walk_place(&c->nodes, c->draft->condition)] = true;
    for (size_t k = 0; k < c->draft->count; k++)
        c->needed[walk_place(&c->nodes, c->draft->next[k])] = true;
    for (size_t i = c->nodes.count; i-- > 0;) {
        const expr_node *n = graph_node(c->g, c->nodes.order[i]);
        const expr operand[3] = {n->a, n->b, n->c};
        if (!c->needed[i] || !(c->varies[i] || is_list_or_loop(n))) continue;
        for (int k = 0; k < graph_arity(n->op); k++)
            c->needed[walk_place(&c->nodes, operand[k])] = true;
    }
}

/* A cell that holds what the body needs from outside. */
static expr add_invariant(closing *c, expr e)
{
    expr cell = graph_cell(c->g, (int)c->cells);
    c->start[c->cells] = e;
    c->next[c->cells++] = cell;
    return cell;
}

static expr image_of(const closing *c, expr operand)
{
    return operand == EXPR_NONE ? EXPR_NONE : c->image[walk_place(&c->nodes, operand)];
}

/* Images of all needed nodes, operands first. */
static void map_body(closing *c)
{
    for (size_t i = 0; i < c->nodes.count; i++) {
        expr e = c->nodes.order[i];
        const expr_node *n = graph_node(c->g, e);
        if (!c->needed[i] || c->image[i] != EXPR_NONE) continue;
        if (n->op == EXPR_CONSTANT)
            c->image[i] = e;
        else if (!c->varies[i] && !is_list_or_loop(n))
            c->image[i] = add_invariant(c, e);
        else
            c->image[i] = graph_rebuild(c->g, n, image_of(c, n->a), image_of(c, expr_operand(n, 1)),
                                        image_of(c, expr_operand(n, 2)));
    }
}

static expr close_draft(closing *c)
{
    const loop_draft *d = c->draft;
    find_varying(c);
    find_needed(c);
    c->cells = d->count;
    map_body(c);
    for (size_t k = 0; k < d->count; k++) {
        c->start[k] = d->start[k];
        c->next[k] = image_of(c, d->next[k]);
        if (c->next[k] == EXPR_NONE) return EXPR_NONE;
    }
    graph_loop body = {image_of(c, d->condition), c->cells, c->next};
    if (body.condition == EXPR_NONE || graph_failed(c->g)) return EXPR_NONE;
    return loop_node(c->g, graph_intern_loop(c->g, &body), c->start, c->cells);
}

expr *loop_roots(expr condition, const expr *next, size_t count)
{
    expr *roots = DAE_ARRAY(expr, count + 1);
    if (!roots) return NULL;
    roots[0] = condition;
    if (count > 0) memcpy(roots + 1, next, count * sizeof *roots);
    return roots;
}

expr loop_close(graph *g, const loop_draft *draft)
{
    closing c = {.g = g, .draft = draft};
    expr result = EXPR_NONE;
    expr *roots = loop_roots(draft->condition, draft->next, draft->count);
    bool ok = roots && !graph_failed(g) &&
              loop_fail_if_none(g, roots, draft->count + 1) != EXPR_NONE &&
              walk_from(&c.nodes, g, roots, draft->count + 1);
    size_t n = c.nodes.count;
    if (ok) {
        c.varies = DAE_ARRAY(bool, n);
        c.needed = DAE_ARRAY(bool, n);
        c.image = DAE_ARRAY(expr, n);
        c.start = DAE_ARRAY(expr, n + draft->count);
        c.next = DAE_ARRAY(expr, n + draft->count);
        if (c.varies && c.needed && c.image && c.start && c.next) result = close_draft(&c);
    }
    dae_free_all(roots, c.varies, c.needed, c.image, c.start, c.next);
    walk_free(&c.nodes);
    return result;
}
