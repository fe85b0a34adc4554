/* Questions about nodes of the graph: which leaves they have, and their values before the run. */
#include <math.h>

#include "base/memory.h"
#include "expr/loop.h"
#include "modelica/flatten/flatten_internal.h"

static uint8_t leaf_depends(const expr_node *n)
{
    switch (n->op) {
    case EXPR_TIME:
    case EXPR_CELL: /* of a loop of the run */
    case EXPR_VARIABLE: return DEPENDS_CONTINUOUS;
    case EXPR_MEMORY: return DEPENDS_MEMORY;
    case EXPR_PARAMETER: return DEPENDS_PARAMETER;
    default: return 0;
    }
}

enum { NUMBER_PAGE = 64, DEPENDS_RUN = DEPENDS_CONTINUOUS | DEPENDS_MEMORY };

/* The value of a node that was scanned; NAN: it depends on the run. */
static double number_of(const flattener *f, expr e)
{
    const expr_node *n = graph_node(f->g, e);
    if (f->depends[e] & DEPENDS_RUN) return NAN;
    return n->op == EXPR_CONSTANT ? n->value : f->number[e / NUMBER_PAGE][e % NUMBER_PAGE];
}

static bool keep_number(flattener *f, expr e, double x)
{
    const size_t page = e / NUMBER_PAGE;
    if (!flatten_grow(f, &f->number, &f->number_capacity, page + 1, sizeof *f->number))
        return false;
    if (!f->number[page]) f->number[page] = DAE_ARRAY(double, NUMBER_PAGE);
    if (!f->number[page]) return !(f->failed = true);
    f->number[page][e % NUMBER_PAGE] = x;
    return true;
}

void numbers_free(flattener *f)
{
    for (size_t k = 0; k < f->number_capacity; k++) dae_free(f->number[k]);
    dae_free(f->number);
}

/* The same for what a loop leaves behind. */
static double result_number(flattener *f, const expr_node *n)
{
    size_t cells = loop_cells(f->g, n->a);
    expr *start = DAE_ARRAY(expr, cells);
    double *cell = DAE_ARRAY(double, cells), result = NAN;
    bool known = start && cell;
    if (known) loop_starts(f->g, n->a, start);
    for (size_t k = 0; known && k < cells; k++) {
        cell[k] = number_of(f, start[k]);
        known = !isnan(cell[k]);
    }
    bool ran = known && loop_run(f->g, graph_node(f->g, n->a)->index, cell);
    if (ran) result = cell[n->index];
    if (!start || !cell || (known && !ran)) f->failed = true;
    dae_free_all(start, cell);
    return result;
}

/* Value of a node made of constants and parameters alone, given those of its operands. */
static double node_number(flattener *f, const expr_node *n)
{
    int arity = graph_arity((expr_op)n->op);
    if (n->op == EXPR_CONSTANT) return n->value;
    if (n->op == EXPR_PARAMETER) return f->parameter_value[n->index];
    if (n->op == EXPR_RESULT) return result_number(f, n);
    return graph_apply((expr_op)n->op, number_of(f, n->a), arity > 1 ? number_of(f, n->b) : 0.0,
                       arity > 2 ? number_of(f, n->c) : 0.0);
}

/* Fill the tables of dependence and values up to the last node. Operands come before their parents
 * and a parameter's value is known before its leaf is made, so one scan does it. */
static bool scan_nodes(flattener *f)
{
    size_t size = graph_size(f->g);
    if (!flatten_grow(f, &f->depends, &f->depends_capacity, size, sizeof *f->depends)) return false;
    for (size_t k = f->depends_count ? f->depends_count : 1; k < size; k++) {
        const expr_node *n = graph_node(f->g, (expr)k);
        int arity = graph_arity((expr_op)n->op);
        uint8_t flags = leaf_depends(n);
        if (arity > 0) flags |= f->depends[n->a];
        if (arity > 1) flags |= f->depends[n->b];
        if (arity > 2) flags |= f->depends[n->c];
        f->depends[k] = flags;
        if (flags & DEPENDS_RUN || n->op == EXPR_CONSTANT) continue;
        if (!keep_number(f, (expr)k, node_number(f, n))) return false;
    }
    f->depends_count = size;
    return true;
}

/* Which kinds of leaves e contains. */
uint8_t node_depends(flattener *f, expr e)
{
    if (e == EXPR_NONE || e >= graph_size(f->g) || !scan_nodes(f)) return 0;
    return f->depends[e];
}

double fixed_value(flattener *f, expr e)
{
    if (e == EXPR_NONE || e >= graph_size(f->g) || !scan_nodes(f)) return NAN;
    return number_of(f, e);
}

void visit_begin(flattener *f)
{
    f->stamp_now++;
}

static bool visit_push(flattener *f, size_t *count, expr e)
{
    if (e == EXPR_NONE || f->stamp[e] == f->stamp_now) return true;
    f->stamp[e] = f->stamp_now;
    if (!flatten_grow(f, &f->stack, &f->stack_capacity, *count + 1, sizeof *f->stack)) return false;
    f->stack[(*count)++] = e;
    return true;
}

/* Call `visit` for every leaf of e not seen since visit_begin; cost is the number of new nodes. */
void visit_leaves(flattener *f, expr e, leaf_visit visit, void *context)
{
    size_t size = (size_t)e + 1, count = 0; /* operands have smaller numbers */
    if (e == EXPR_NONE || !flatten_grow(f, &f->stamp, &f->stamp_capacity, size, sizeof *f->stamp) ||
        !visit_push(f, &count, e))
        return;
    while (count > 0) {
        expr top = f->stack[--count];
        const expr_node *n = graph_node(f->g, top);
        int arity = graph_arity((expr_op)n->op);
        if (arity == 0) visit(f, context, n);
        if (arity > 0 && !visit_push(f, &count, n->a)) return;
        if (arity > 1 && !visit_push(f, &count, n->b)) return;
        if (arity > 2 && !visit_push(f, &count, n->c)) return;
    }
}

void mark_structural(flattener *f, void *context, const expr_node *n)
{
    (void)context;
    if (n->op != EXPR_PARAMETER) return;
    flat_parameter *p = &f->m->parameters[n->index];
    p->structural = true;
}

/* All parameters that the structural ones are computed from are structural, too. Values only use
 * earlier parameters, so one sweep from the last to the first is enough; it is done at the end. */
static void note_structural(flattener *f, expr e)
{
    visit_begin(f);
    visit_leaves(f, e, mark_structural, NULL);
}

bool compile_time_value(flattener *f, expr e, double *out)
{
    if (graph_is_constant(f->g, e, out)) return true;
    if (e == EXPR_NONE || node_depends(f, e) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY)) return false;
    *out = fixed_value(f, e);
    if (isnan(*out)) return false;
    note_structural(f, e);
    return true;
}

static void find_free_parameter(flattener *f, void *context, const expr_node *n)
{
    if (n->op == EXPR_PARAMETER && !f->m->parameters[n->index].structural) *(bool *)context = true;
}

bool is_structural(flattener *f, expr e)
{
    if (graph_is_constant(f->g, e, NULL)) return true;
    if (e == EXPR_NONE || node_depends(f, e) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY)) return false;
    bool free_parameter = false;
    visit_begin(f);
    visit_leaves(f, e, find_free_parameter, &free_parameter);
    return !free_parameter;
}

/* ---- conditions ---- */

expr both(flattener *f, expr a, expr b)
{
    return a == EXPR_NONE ? b : b == EXPR_NONE ? a : graph_binary(f->g, EXPR_AND, a, b);
}
