/* Derivatives of loops: a second cell, its tangent, for every cell that varies. */
#include <string.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "expr/loop_parts.h"

/* A loop with tangents beside its cells. */
typedef struct dual {
    const graph_loop *body;
    int *cell; /* of the tangent of each cell, or -1: it is zero */
    int cells;
} dual;

static expr seed_cell(void *context, graph *g, expr leaf)
{
    const dual *d = context;
    const expr_node *n = graph_node(g, leaf);
    int tangent = n->op == EXPR_CELL ? d->cell[n->index] : -1;
    return tangent < 0 ? EXPR_NONE : graph_cell(g, tangent);
}

/* Which cells vary: those that start so, and those that are computed from them. One more at least
 * in every round, until there are no more. */
static bool find_varying_cells(graph *g, dual *d)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t k = 0; k < d->body->cells; k++) {
            if (d->cell[k] >= 0) continue;
            expr tangent = derive_direction(g, d->body->next[k], seed_cell, d);
            if (tangent == EXPR_NONE) return false;
            if (graph_is_number(g, tangent, 0.0)) continue;
            d->cell[k] = d->cells++;
            more = true;
        }
    }
    return true;
}

/* The loop of cells and tangents, the latter started by `tangent`. */
static expr dual_loop(graph *g, const dual *d, expr loop, const expr *tangent, expr *start,
                      expr *next)
{
    size_t n = d->body->cells;
    loop_starts(g, loop, start);
    memcpy(next, d->body->next, n * sizeof *next);
    for (size_t k = 0; k < n; k++) {
        if (d->cell[k] < 0) continue;
        start[d->cell[k]] = tangent[k] == EXPR_NONE ? graph_constant(g, 0.0) : tangent[k];
        next[d->cell[k]] = derive_direction(g, d->body->next[k], seed_cell, (void *)d);
        if (next[d->cell[k]] == EXPR_NONE) return EXPR_NONE;
    }
    graph_loop both = {d->body->condition, (size_t)d->cells, next};
    return loop_node(g, graph_intern_loop(g, &both), start, both.cells);
}

expr loop_tangent(graph *g, expr result, const expr *tangent)
{
    const expr_node *n = graph_node(g, result);
    graph_loop body = *graph_loop_at(g, graph_node(g, n->a)->index); /* the table may move */
    dual d = {.body = &body, .cell = DAE_ARRAY(int, body.cells), .cells = (int)body.cells};
    expr *start = DAE_ARRAY(expr, 2 * body.cells), *next = DAE_ARRAY(expr, 2 * body.cells);
    expr out = EXPR_NONE;
    bool ok = d.cell && start && next;
    for (size_t k = 0; ok && k < body.cells; k++)
        d.cell[k] = tangent[k] != EXPR_NONE ? d.cells++ : -1;
    if (ok && find_varying_cells(g, &d)) {
        if (d.cell[n->index] < 0) {
            out = graph_constant(g, 0.0);
        } else {
            expr loop = dual_loop(g, &d, n->a, tangent, start, next);
            if (loop != EXPR_NONE) out = loop_result(g, loop, d.cell[n->index]);
        }
    }
    dae_free_all(d.cell, start, next);
    return out;
}
