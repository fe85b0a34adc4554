/* The nodes of a loop: LISTs of start values, LOOP, RESULTs. */
#include "expr/loop_parts.h"

expr graph_cell(graph *g, int index)
{
    return graph_intern(g, &(expr_node){.op = EXPR_CELL, .index = index});
}

expr loop_fail_if_none(graph *g, const expr *list, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (list[k] == EXPR_NONE) return EXPR_NONE;
    return graph_constant(g, 0.0);
}

/* LIST(start[0], LIST(start[1], .. 0)) under a LOOP */
expr loop_node(graph *g, int body, const expr *start, size_t count)
{
    expr list = body < 0 ? EXPR_NONE : loop_fail_if_none(g, start, count);
    for (size_t k = count; k > 0 && list != EXPR_NONE; k--)
        list = graph_intern(g, &(expr_node){.op = EXPR_LIST, .a = start[k - 1], .b = list});
    if (list == EXPR_NONE) return EXPR_NONE;
    return graph_intern(g, &(expr_node){.op = EXPR_LOOP, .index = body, .a = list});
}

size_t loop_cells(const graph *g, expr loop)
{
    return graph_loop_at(g, graph_node(g, loop)->index)->cells;
}

void loop_starts(const graph *g, expr loop, expr *start)
{
    size_t count = loop_cells(g, loop);
    const expr_node *list = graph_node(g, graph_node(g, loop)->a);
    for (size_t k = 0; k < count; k++) {
        start[k] = list->a;
        list = graph_node(g, list->b);
    }
}

/* Whether a cell keeps what it starts with. */
static bool is_invariant(const graph *g, const graph_loop *l, size_t cell)
{
    const expr_node *next = graph_node(g, l->next[cell]);
    return next->op == EXPR_CELL && (size_t)next->index == cell;
}

size_t loop_outputs(const graph *g, int body, expr *e, uint32_t *cell)
{
    const graph_loop *l = graph_loop_at(g, body);
    size_t changing = 0;
    e[0] = l->condition;
    for (uint32_t k = 0; k < l->cells; k++) {
        if (is_invariant(g, l, k)) continue;
        cell[changing++] = k;
        e[changing] = l->next[k];
    }
    return changing;
}

expr loop_result(graph *g, expr loop, int cell)
{
    const expr_node *n = graph_node(g, loop);
    if (is_invariant(g, graph_loop_at(g, n->index), (size_t)cell)) {
        const expr_node *list = graph_node(g, n->a);
        for (int k = 0; k < cell; k++) list = graph_node(g, list->b);
        return list->a;
    }
    return graph_intern(g, &(expr_node){.op = EXPR_RESULT, .index = cell, .a = loop});
}
