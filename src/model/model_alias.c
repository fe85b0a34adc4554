/* Unknowns of a model: aliases leave the system, der(der(x)) makes der(x) an unknown. */
#include "model/model_build.h"

#include <stdlib.h>

#include "base/memory.h"

/* The variable that stands for v; v = *sign times it. Once all aliases are settled. */
int model_alias_root(const model_form *f, int v, int *sign)
{
    *sign = f->alias[v].top_sign;
    return f->alias[v].top;
}

/* The same while aliases are being found: follow the way to its end, and shorten it, so that long
 * chains of x = y take hardly more than linear time. */
static int model_settle_root(model_form *f, int v, int *sign)
{
    int top = v, product = 1;
    while (f->alias[top].top != top) {
        product *= f->alias[top].top_sign;
        top = f->alias[top].top;
    }
    *sign = product;
    while (v != top) {
        model_alias *a = &f->alias[v];
        int next = a->top, rest = product * a->top_sign;
        a->top = top;
        a->top_sign = (signed char)product;
        v = next;
        product = rest;
    }
    return top;
}

/* A continuous variable of order 0; -1 if e is something else. */
static int plain_variable(const model_form *f, expr e)
{
    const expr_node *node = graph_node(f->flat->graph, e);
    if (node->op != EXPR_VARIABLE || node->order != 0) return -1;
    const flat_variable *v = &f->flat->variables[node->index];
    return v->discrete || v->input ? -1 : node->index;
}

/* Whether e depends on parameters and constants alone. */
static bool is_fixed_value(model_form *f, expr e)
{
    bool varies;
    bool ok = graph_reads(f->flat->graph, &e, 1, READS_RUN, &varies);
    if (!ok) f->failed = true;
    return ok && !varies;
}

/* How much a variable is wanted as the one that stays. */
static int preference(const flat_variable *v)
{
    return 8 * (int)v->state_select + 4 * v->fixed + 2 * v->has_start + v->output;
}

/* Join x = sign * y; false if they are joined already. */
static bool join(model_form *f, int x, int y, int sign, int equation)
{
    int sx, sy;
    int rx = model_settle_root(f, x, &sx), ry = model_settle_root(f, y, &sy);
    if (rx == ry) return false;
    if (f->alias[rx].value != EXPR_NONE && f->alias[ry].value != EXPR_NONE) return false;
    bool keep_x = f->alias[rx].value != EXPR_NONE ||
                  (f->alias[ry].value == EXPR_NONE &&
                   preference(&f->flat->variables[rx]) > preference(&f->flat->variables[ry]));
    int kept = keep_x ? rx : ry, gone = keep_x ? ry : rx;
    f->alias[gone].root = f->alias[gone].top = kept;
    f->alias[gone].sign = f->alias[gone].top_sign = (signed char)(sx * sign * sy);
    f->alias[gone].equation = equation;
    return true;
}

/* x = value */
static bool fix(model_form *f, int x, expr value, int equation)
{
    int sign;
    int root = model_settle_root(f, x, &sign);
    if (f->alias[root].value != EXPR_NONE) return false;
    f->alias[root].value = sign > 0 ? value : graph_unary(f->flat->graph, EXPR_NEG, value);
    f->alias[root].equation = equation;
    return true;
}

/* Whether equation number `at` is an alias; it is then eliminated. */
static bool eliminate(model_form *f, const rate_ties *ties, int at)
{
    graph *g = f->flat->graph;
    const flat_equation *q = &f->flat->equations[at];
    const expr_node *node = graph_node(g, q->residual);
    int alone = plain_variable(f, q->residual);
    if (alone >= 0) return fix(f, alone, graph_constant(g, 0.0), at);
    if (node->op != EXPR_SUB && node->op != EXPR_ADD) return false;
    bool sum = node->op == EXPR_ADD;
    expr a = node->a, b = node->b;
    int x = plain_variable(f, a), y = plain_variable(f, b);
    if (x >= 0 && y >= 0 && rate_ties_tied(ties, x, y)) return false;
    if (x >= 0 && y >= 0) return join(f, x, y, sum ? -1 : 1, at);
    if (x >= 0 && is_fixed_value(f, b)) return fix(f, x, sum ? graph_unary(g, EXPR_NEG, b) : b, at);
    if (y >= 0 && is_fixed_value(f, a)) return fix(f, y, sum ? graph_unary(g, EXPR_NEG, a) : a, at);
    return false;
}

/* ---------------------------------------------------------------------------------------------
 * First order: der(der(x)) makes der(x) an unknown of its own
 * ------------------------------------------------------------------------------------------- */

/* A derivative of a variable occurs. */
static void raise_order(build *b, int variable, int order)
{
    int sign, root = model_alias_root(b->f, variable, &sign);
    if (b->f->alias[root].value != EXPR_NONE) return;
    if (order > b->order[root]) b->order[root] = order;
}

static void note_order(void *context, const expr_node *node)
{
    if (node->op == EXPR_VARIABLE) raise_order(context, node->index, node->order);
}

/* Orders in the equations that stay. */
static void note_contents(build *b)
{
    const signature *s = &b->contents;
    for (int i = 0; i < s->m; i++)
        for (int k = s->start[i]; k < s->start[i + 1] && !b->gone[i]; k++)
            raise_order(b, s->column[k], s->order[k]);
}

static int unknown_count(int order)
{
    return order > 1 ? order : 1;
}

/* Number the unknowns: variable by variable, lower derivatives first. */
static bool number_unknowns(model_form *f, const int *order)
{
    const flat_model *m = f->flat;
    f->n = 0;
    for (size_t v = 0; v < m->variable_count; v++) {
        bool lives = !m->variables[v].discrete && f->alias[v].root == (int)v &&
                     f->alias[v].value == EXPR_NONE;
        f->first_unknown[v] = lives ? f->n : -1;
        if (lives) f->n += unknown_count(order[v]);
    }
    f->resting = f->n == 0; /* events need something to integrate */
    if (f->resting) f->n = 1;
    f->unknown_variable = DAE_ARRAY(int, f->n);
    f->unknown_order = DAE_ARRAY(int, f->n);
    f->differential = DAE_ARRAY(bool, f->n);
    if (!f->unknown_variable || !f->unknown_order || !f->differential) return false;
    if (f->resting) f->unknown_variable[0] = -1;
    for (size_t v = 0; v < m->variable_count; v++)
        for (int j = 0; f->first_unknown[v] >= 0 && j < unknown_count(order[v]); j++) {
            f->unknown_variable[f->first_unknown[v] + j] = (int)v;
            f->unknown_order[f->first_unknown[v] + j] = j;
        }
    return true;
}

typedef struct leaf_map {
    const model_form *f;
    const int *order;
} leaf_map;

/* A leaf of the flat model in terms of unknowns: VARIABLE(i, 0) = y_i, VARIABLE(i, 1) = y'_i. */
static expr map_leaf(void *context, graph *g, expr leaf)
{
    const leaf_map *map = context;
    const model_form *f = map->f;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE) return leaf;
    int sign, root = model_alias_root(f, node.index, &sign);
    expr e;
    if (f->alias[root].evaluated) {
        e = f->alias[root].mapped;
    } else if (f->alias[root].value != EXPR_NONE) {
        e = node.order == 0 ? f->alias[root].value : graph_constant(g, 0.0);
    } else {
        int last = unknown_count(map->order[root]) - 1, first = f->first_unknown[root];
        e = node.order <= last ? graph_variable(g, first + node.order, 0)
                               : graph_variable(g, first + last, node.order - last);
    }
    return sign > 0 ? e : graph_unary(g, EXPR_NEG, e);
}

/* Whether unknown v is flat variable v for all of them: then no leaf changes. */
static bool is_same(const build *b)
{
    const model_form *f = b->f;
    for (size_t v = 0; v < f->flat->variable_count; v++)
        if (f->first_unknown[v] != (int)v || b->order[v] > 1 || f->alias[v].top != (int)v)
            return false;
    return true;
}

/* Decide aliases, orders and unknowns. */
bool build_unknowns(build *b)
{
    model_form *f = b->f;
    flat_model *m = f->flat;
    size_t nv = m->variable_count;
    f->alias = DAE_ARRAY(model_alias, nv);
    f->first_unknown = DAE_ARRAY(int, nv);
    b->order = DAE_ARRAY(int, nv);
    b->gone = DAE_ARRAY(bool, m->equation_count);
    if (!f->alias || !f->first_unknown || !b->order || !b->gone) return false;
    for (size_t v = 0; v < nv; v++)
        f->alias[v] =
            (model_alias){.root = (int)v, .sign = 1, .equation = -1, .top = (int)v, .top_sign = 1};
    rate_ties ties;
    if (!rate_ties_new(&ties, m)) return false;
    for (size_t i = 0; i < m->equation_count; i++) {
        b->gone[i] = eliminate(f, &ties, (int)i);
        f->eliminated += b->gone[i];
    }
    rate_ties_free(&ties);
    for (int v = 0, sign; v < (int)nv; v++) model_settle_root(f, v, &sign);
    if (f->failed || !build_outputs(b) || !build_definitions(b)) return false;
    note_contents(b);
    signature_free(&b->contents);
    bool ok = true;
    for (size_t i = 0; i < f->condition_count && ok; i++)
        ok = graph_leaves(m->graph, &m->initial_equations[i].residual, 1, note_order, b);
    for (size_t i = 0; i < m->terminal_count && ok; i++)
        ok = graph_leaves(m->graph, &m->terminal_equations[i].residual, 1, note_order, b);
    for (size_t i = 0; i < m->relation_count && ok; i++)
        ok = graph_leaves(m->graph, &m->relations[i].crossing, 1, note_order, b);
    for (size_t i = 0; i < m->assert_count && ok; i++)
        ok = graph_leaves(m->graph, &m->asserts[i].value, 1, note_order, b);
    if (!ok || f->failed || !number_unknowns(f, b->order)) return false;
    b->same = is_same(b);
    return build_map_outputs(b);
}

expr build_mapped(build *b, expr e)
{
    leaf_map map = {b->f, b->order};
    if (b->same && !graph_failed(b->f->flat->graph)) return e;
    return graph_substitute(b->f->flat->graph, e, map_leaf, &map);
}
