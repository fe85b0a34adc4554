/* Explicit definitions of algebraic variables: s = h(q, q', t, ..), as forces, lengths and
 * prescribed motions are written. */
#include <math.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "structure/mechanical/mechanical_parts.h"

typedef struct leaf_scan {
    const mechanical_search *s;
    bool defined;  /* some variable with a definition */
    bool wanted;   /* variable `j` */
    bool variable; /* any variable, time or memory */
    int j;
} leaf_scan;

static void scan_leaf(void *context, const expr_node *node)
{
    leaf_scan *scan = context;
    scan->variable |= node->op != EXPR_CONSTANT && node->op != EXPR_PARAMETER;
    if (node->op != EXPR_VARIABLE) return;
    scan->defined |= scan->s->role[node->index] == ROLE_DEFINED;
    scan->wanted |= node->index == scan->j;
}

static bool scan_leaves(const mechanical_search *s, expr e, int j, leaf_scan *scan)
{
    *scan = (leaf_scan){.s = s, .j = j};
    return graph_leaves(s->set->graph, &e, 1, scan_leaf, scan);
}

static expr replace_defined(void *context, graph *g, expr leaf)
{
    const mechanical_search *s = context;
    const expr_node node = *graph_node(g, leaf);
    bool defined = node.op == EXPR_VARIABLE && s->role[node.index] == ROLE_DEFINED;
    return defined ? s->value[node.index] : leaf;
}

/* e with definitions put in until none is left: they do not go in circles. EXPR_NONE: memory. */
static expr see_through(mechanical_search *s, expr e)
{
    leaf_scan scan;
    for (;;) {
        if (!scan_leaves(s, e, -1, &scan)) return EXPR_NONE;
        if (!scan.defined) return e;
        e = graph_substitute(s->set->graph, e, replace_defined, s);
        if (e == EXPR_NONE) return EXPR_NONE;
    }
}

static expr replace_by_zero(void *context, graph *g, expr leaf)
{
    return leaf == *(const expr *)context ? graph_constant(g, 0.0) : leaf;
}

/* Take x_j = value from a row that is linear in it with the factor `by`; 1: done, 0: it depends on
 * itself that way, -1: memory. */
static int take_definition(mechanical_search *s, int i, int j, expr leaf, expr by)
{
    graph *g = s->set->graph;
    leaf_scan scan;
    expr rest = graph_substitute(g, s->set->row[i].residual, replace_by_zero, &leaf);
    expr value = graph_unary(g, EXPR_NEG, graph_binary(g, EXPR_DIV, rest, by));
    if (value != EXPR_NONE) value = see_through(s, value);
    if (value == EXPR_NONE || !scan_leaves(s, value, j, &scan)) return -1;
    if (scan.wanted) return 0;
    s->role[j] = ROLE_DEFINED;
    s->value[j] = value;
    s->use[i] = USE_DEFINITION;
    s->m->divisor[s->m->explicit_count] = by;
    s->m->other[s->m->explicit_count] = j;
    s->m->other_row[s->m->explicit_count++] = i;
    return 1;
}

/* An algebraic variable that row i contains with a factor of parameters alone, not zero. */
static int try_definition(mechanical_search *s, int i, const gradient *d)
{
    const graph *g = s->set->graph;
    for (size_t k = 0; k < d->count; k++) {
        const expr_node *node = graph_node(g, d->leaf[k]);
        if (s->role[node->index] != ROLE_OPEN || s->highest[node->index] > 0) continue;
        leaf_scan scan;
        if (!scan_leaves(s, d->derivative[k], -1, &scan)) return -1;
        if (scan.variable) continue;
        mechanical_entry entry = {0, 0, d->derivative[k]};
        mechanical_matrix factor = {1, 1, &entry};
        double by;
        s->m->looked = s->m->looked || !graph_is_constant(g, entry.value, &by);
        if (!mechanical_evaluate(s->set, &factor, s->at, &by)) return -1;
        if (!isfinite(by) || by == 0.0) continue;
        int taken = take_definition(s, i, node->index, d->leaf[k], d->derivative[k]);
        if (taken != 0) return taken;
    }
    return 0;
}

mechanical_status mechanical_define(mechanical_search *s)
{
    gradient d = {0};
    bool ok = true;
    for (int i = 0; ok && i < s->set->m; i++) {
        if (s->use[i] != USE_OPEN) continue;
        ok = derive_gradient(s->set->graph, s->set->row[i].residual, &d) &&
             try_definition(s, i, &d) >= 0;
    }
    gradient_free(&d);
    for (int i = 0; ok && i < s->set->m; i++) {
        if (s->use[i] == USE_DEFINITION) continue;
        s->row[i] = see_through(s, s->set->row[i].residual);
        ok = s->row[i] != EXPR_NONE;
    }
    return ok ? MECHANICAL_OK : MECHANICAL_MEMORY;
}
