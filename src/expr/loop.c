#include "expr/loop.h"

#include "base/memory.h"
#include "expr/derive.h"
#include "expr/intern.h"
#include "expr/tape.h"
#include "expr/walk.h"

#include <string.h>

expr graph_cell(graph *g, int index)
{
    return graph_intern(g, &(expr_node){.op = EXPR_CELL, .index = index});
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static expr fail_if_none(graph *g, const expr *list, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (list[k] == EXPR_NONE) return EXPR_NONE;
    return graph_constant(g, 0.0);
}

/* LIST(start[0], LIST(start[1], .. 0)) under a LOOP */
static expr loop_node(graph *g, int body, const expr *start, size_t count)
{
    expr list = body < 0 ? EXPR_NONE : fail_if_none(g, start, count);
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

/* ---- closing a draft ------------------------------------------------------------------------ */

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
            c->image[i] =
                graph_rebuild(c->g, n, image_of(c, n->a), image_of(c, n->b), image_of(c, n->c));
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

/* condition, next[0], .. in one list; NULL: out of memory */
static expr *roots_of(expr condition, const expr *next, size_t count)
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
    expr *roots = roots_of(draft->condition, draft->next, draft->count);
    bool ok = roots && !graph_failed(g) && fail_if_none(g, roots, draft->count + 1) != EXPR_NONE &&
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
    dae_free(roots);
    dae_free(c.varies);
    dae_free(c.needed);
    dae_free(c.image);
    dae_free(c.start);
    dae_free(c.next);
    walk_free(&c.nodes);
    return result;
}

/* ---- tangents ------------------------------------------------------------------------------- */

/* A loop with tangents beside its cells. */
typedef struct dual {
    const graph_loop *body;
    int *cell; /* of the tangent of each cell, or -1: it is zero */
    int cells;
} dual;

static expr seed_cell(void *context, graph *g, expr leaf)
{
    const dual *d = context;
    int tangent = d->cell[graph_node(g, leaf)->index];
    return tangent < 0 ? EXPR_NONE : graph_cell(g, tangent);
}

static bool is_zero(const graph *g, expr e)
{
    double value = 1.0;
    return graph_is_constant(g, e, &value) && value == 0.0;
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
            if (is_zero(g, tangent)) continue;
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
    dae_free(d.cell);
    dae_free(start);
    dae_free(next);
    return out;
}

/* ---- values --------------------------------------------------------------------------------- */

bool loop_run(const graph *g, int body, double *cell)
{
    const graph_loop *l = graph_loop_at(g, body);
    expr *roots = roots_of(l->condition, l->next, l->cells);
    tape *t = roots ? tape_new(g, roots, l->cells + 1) : NULL;
    double *work = t ? DAE_ARRAY(double, tape_work_size(t)) : NULL;
    double *out = DAE_ARRAY(double, l->cells + 1);
    bool ok = work && out;
    tape_inputs in = {.values = {cell}};
    if (ok) tape_prepare(t, &in, work);
    while (ok) {
        tape_run(t, &in, work, out);
        if (out[0] == 0.0) break;
        memcpy(cell, out + 1, l->cells * sizeof *cell);
    }
    dae_free(roots);
    dae_free(work);
    dae_free(out);
    tape_free(t);
    return ok;
}
