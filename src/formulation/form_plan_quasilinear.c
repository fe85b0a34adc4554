/* E x' = f and 0 = g on all levels [Baese17 2.9]: unknowns are all x_j^(p), p <= d_j, equations all
 * f_i^(k) = 0, k <= c_i, which contain no x', and (x_j^(p))' = x_j^(p+1), so that [E; g_x] has full
 * rank where the system Jacobian is regular [Pryce01].
 *
 * Equations that are linear in a leading derivative x_j^(d_j - c_i) with a constant factor define
 * it, and their derivatives the ones above it: these are seen through, as in x' = f(x). Since the
 * factors are constant pivots of the system Jacobian what is left of it is as regular as it was. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "formulation/form_plan_parts.h"

typedef struct build {
    const analysed *a;
    const equation_point *at;
    graph *g;
    formulated full;     /* all levels; its kinematic equations are candidates */
    unknown_index index; /* of full */
    int *first_row;      /* m: row of equation i in full; its derivatives follow */
    expr *value;         /* per unknown of full: its definition over the others, or EXPR_NONE */
    bool *gone;          /* per row of full: it defines something */
    int *place;          /* per unknown of full: where it is in the result, or -1 */
    expr *c;             /* constraints over the unknowns of the result, */
    int *constraint;     /* and their rows in full */
    expr *f;             /* right-hand sides */
    int *slope;          /* per right-hand side: whose derivative it is */
    int n, ne, ng;
} build;

static void build_free(build *b)
{
    formulated_free(&b->full);
    unknown_index_free(&b->index);
    dae_free_all(b->first_row, b->value, b->gone, b->place, b->f, b->c, b->constraint, b->slope);
}

static bool build_new(build *b)
{
    size_t n = (size_t)b->full.set.n, m = (size_t)b->full.set.m;
    b->first_row = DAE_ARRAY(int, b->a->set.m);
    b->value = DAE_ARRAY(expr, n);
    b->place = DAE_ARRAY(int, n);
    b->gone = DAE_ARRAY(bool, m);
    b->c = DAE_ARRAY(expr, m);
    b->constraint = DAE_ARRAY(int, m);
    b->f = DAE_ARRAY(expr, n);
    b->slope = DAE_ARRAY(int, n);
    return b->first_row && b->value && b->place && b->gone && b->c && b->constraint && b->f &&
           b->slope;
}

/* ---- all levels ---- */

static bool name_all(build *b)
{
    formulated *f = &b->full;
    int u = 0, candidates = 0;
    for (int j = 0; j < b->a->set.n; j++)
        for (int p = 0; p <= b->a->structure.d[j]; p++, u++) {
            if (!formulated_stands_for(f, b->a, u, j, p)) return false;
            if (p == 0) continue;
            int sign = f->sign[u - 1] * f->sign[u];
            f->candidate[candidates++] = (kinematic){u - 1, u, sign, j, 0};
        }
    return unknown_index_new(&b->index, b->a, f);
}

static bool take_levels(build *b)
{
    const structure *s = &b->a->structure;
    int n = b->a->set.n, m = b->a->set.m, candidates = 0, r = 0;
    for (int j = 0; j < b->a->set.n; j++) candidates += s->d[j];
    for (int i = 0; i < b->a->set.m; i++) m += s->c[i];
    return formulated_new(&b->full, b->a, n + candidates, m, candidates) && build_new(b) &&
           name_all(b) && all_levels(&b->full, b->a, &b->index, b->first_row, &r);
}

/* ---- what leaves contain ---- */

typedef struct leaf_scan {
    int wanted;
    bool found, memory;
} leaf_scan;

static void scan_leaf(void *context, const expr_node *node)
{
    leaf_scan *scan = context;
    scan->memory |= node->op == EXPR_MEMORY;
    if (node->op != EXPR_VARIABLE) return;
    scan->found |= node->index == scan->wanted;
}

static bool scan_leaves(const graph *g, expr e, int wanted, leaf_scan *scan)
{
    *scan = (leaf_scan){.wanted = wanted};
    return graph_leaves(g, &e, 1, scan_leaf, scan);
}

/* ---- definitions ---- */

/* Level k of equation i defines unknown u of full: 1, 0: it depends on itself, -1: memory */
static int define_level(build *b, int row, int u)
{
    leaf_scan scan;
    expr value = definition_from(b->g, b->full.set.row[row].residual, u);
    if (value != EXPR_NONE) value = put_definitions(b->g, b->value, value);
    if (value == EXPR_NONE || !scan_leaves(b->g, value, u, &scan)) return -1;
    bool moves = b->a->structure.d[b->full.variable[u]] > 0; /* then no event makes it jump */
    if (scan.found || (scan.memory && moves)) return 0;
    b->value[u] = value;
    b->gone[row] = true;
    return 1;
}

/* Equation i and its derivatives define x_j^(p), x_j^(p+1), ..: all of them or none. */
static int define_levels(build *b, int i, int j, int p)
{
    int c = b->a->structure.c[i], taken = 1, k = 0;
    for (; taken > 0 && k <= c; k++) {
        int u = unknown_index_at(&b->index, j, p + k);
        taken = u < 0 || b->value[u] != EXPR_NONE ? 0 : define_level(b, b->first_row[i] + k, u);
    }
    if (taken > 0) return 1;
    for (k -= 2; k >= 0; k--) {
        b->value[unknown_index_at(&b->index, j, p + k)] = EXPR_NONE;
        b->gone[b->first_row[i] + k] = false;
    }
    return taken;
}

/* Let equation i define a leading derivative, that of the transversal first. */
static int define_by(build *b, int i, const gradient *d, bool *used)
{
    const structure *s = &b->a->structure;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < d->count; k++) {
            const expr_node *node = graph_node(b->g, d->leaf[k]);
            int j = node->index, p = node->order;
            if ((j == s->match[i]) != (pass == 0) || used[j] || p != s->d[j] - s->c[i]) continue;
            if (!depends_on_parameters_alone(b->g, d->derivative[k])) continue;
            double by = equation_set_value(&b->a->set, d->derivative[k], b->at);
            if (!isfinite(by) || by == 0.0) continue;
            int taken = define_levels(b, i, j, p);
            used[j] = taken > 0;
            if (taken != 0) return taken;
        }
    return 0;
}

static bool define(build *b)
{
    bool *used = DAE_ARRAY(bool, b->a->set.n);
    gradient d = {0};
    bool ok = used;
    for (int i = 0; ok && i < b->a->set.m; i++)
        ok = derive_gradient(b->g, b->a->set.row[i].residual, &d) && define_by(b, i, &d, used) >= 0;
    gradient_free(&d);
    dae_free(used);
    ok = ok && see_through_definitions(b->g, b->full.set.n, b->value);
    for (int u = 0; ok && u < b->full.set.n; u++)
        b->place[u] = b->value[u] == EXPR_NONE ? b->n++ : -1;
    return ok;
}

/* ---- rows ---- */

static expr move_unknown(void *context, graph *g, expr leaf)
{
    const build *b = context;
    const expr_node node = *graph_node(g, leaf);
    return node.op == EXPR_VARIABLE ? graph_variable(g, b->place[node.index], node.order) : leaf;
}

/* e over the unknowns of full, over those of the result */
static expr moved(const build *b, expr e)
{
    e = put_definitions(b->g, b->value, e);
    return e == EXPR_NONE ? EXPR_NONE : graph_substitute(b->g, e, move_unknown, (void *)b);
}

/* (x_j^(p))' = x_j^(p+1) */
static bool add_kinematic(build *b, const kinematic *q)
{
    if (b->place[q->unknown] < 0) return true;
    expr next = moved(b, graph_variable(b->g, q->next, 0));
    if (next != EXPR_NONE && q->sign < 0) next = graph_unary(b->g, EXPR_NEG, next);
    b->slope[b->ne] = b->place[q->unknown];
    b->f[b->ne++] = next;
    return next != EXPR_NONE;
}

static bool sort_rows(build *b)
{
    bool ok = true;
    for (int r = 0; ok && r < b->full.set.m; r++) {
        if (b->gone[r]) continue;
        b->constraint[b->ng] = r;
        b->c[b->ng] = moved(b, b->full.set.row[r].residual);
        ok = b->c[b->ng++] != EXPR_NONE;
    }
    for (int k = 0; ok && k < b->full.candidates; k++) ok = add_kinematic(b, &b->full.candidate[k]);
    return ok;
}

/* ---- the residual form in the same unknowns ---- */

static bool name_unknowns(const build *b, formulated *f)
{
    for (int u = 0; u < b->full.set.n; u++) {
        int i = b->place[u];
        if (i < 0) continue;
        if (!formulated_stands_for(f, b->a, i, b->full.variable[u], b->full.order[u])) return false;
        f->kinds[i] = DAE_KIND_INDEX1;
    }
    for (int k = 0; k < b->ne; k++) f->kinds[b->slope[k]] = DAE_KIND_DIFFERENTIAL;
    for (int u = 0; u < b->full.set.n; u++) {
        if (b->value[u] == EXPR_NONE) continue;
        expr e = moved(b, b->value[u]);
        if (e != EXPR_NONE && b->full.sign[u] < 0) e = graph_unary(b->g, EXPR_NEG, e);
        if (!formulated_define(f, b->full.variable[u], b->full.order[u], e)) return false;
    }
    return true;
}

static bool add_row(const build *b, formulated *f, int *r, const equation_row *from, expr e)
{
    equation_row *row = &f->set.row[(*r)++];
    *row = *from;
    row->residual = e;
    row->name = arena_text(f->texts, from->name, strlen(from->name));
    return row->name && e != EXPR_NONE && !graph_failed(b->g);
}

/* The constraints, and as many differential rows as make the system square: it serves for names
 * and patterns, as methods on forms never look at it. */
static bool build_rows(const build *b, formulated *f)
{
    int r = 0;
    bool ok = true;
    for (int k = 0; ok && k < b->ng; k++)
        ok = add_row(b, f, &r, &b->full.set.row[b->constraint[k]], b->c[k]);
    for (int k = 0; ok && k < b->ne && r < b->n; k++) {
        equation_row row = {.name = f->set.name[b->slope[k]], .source = -1};
        expr rate = graph_variable(b->g, b->slope[k], 1);
        ok = add_row(b, f, &r, &row, graph_binary(b->g, EXPR_SUB, rate, b->f[k]));
    }
    return ok && r == b->n;
}

/* ---- the functions of the form ---- */

static bool build_programs(build *b, form_plan *p)
{
    graph *g = b->g;
    entry_list by_x = {0}, E = {0};
    bool ok = entry_gradients(g, b->c, b->ng, 0, &by_x);
    for (int r = 0; ok && r < b->ne; r++)
        ok = entry_add(&E, r, b->slope[r], graph_constant(g, 1.0));
    ok = ok && form_block_new(&p->block[BLOCK_E], g, b->ne, b->n, &E) &&
         form_block_new(&p->block[BLOCK_G_X], g, b->ng, b->n, &by_x) &&
         form_program_block(&p->program[QUASILINEAR_E], &p->block[BLOCK_E]) &&
         form_program_block(&p->program[QUASILINEAR_G_X], &p->block[BLOCK_G_X]) &&
         form_program_new(&p->program[QUASILINEAR_F], (size_t)b->ne) &&
         form_program_new(&p->program[QUASILINEAR_G], (size_t)b->ng) &&
         form_program_new(&p->program[QUASILINEAR_G_T], (size_t)b->ng);
    for (int r = 0; ok && r < b->ne; r++) p->program[QUASILINEAR_F].e[r] = b->f[r];
    for (int r = 0; ok && r < b->ng; r++) p->program[QUASILINEAR_G].e[r] = b->c[r];
    ok = ok && time_derivatives(g, b->c, b->ng, p->program[QUASILINEAR_G_T].e, &p->autonomous);
    entry_list_free(&by_x);
    entry_list_free(&E);
    return ok && !graph_failed(g);
}

static bool make_plan(build *b, formulated *f)
{
    form_plan *p = f->plan = DAE_NEW(form_plan);
    if (!p) return false;
    *p = (form_plan){.form = FORM_QUASILINEAR, .size = {b->n, b->ne, b->ng}};
    p->constraint = DAE_ARRAY(int, b->ng);
    p->level = DAE_ARRAY(int, b->ng);
    if (!p->constraint || !p->level) return false;
    for (int k = 0; k < b->ng; k++) {
        p->constraint[k] = k;
        for (int i = 0; i < b->a->set.m && b->first_row[i] <= b->constraint[k]; i++)
            p->level[k] = b->constraint[k] - b->first_row[i];
    }
    return build_programs(b, p);
}

dae_status formulate_quasilinear_form(const analysed *a, const equation_point *at, formulated *f,
                                      dae_diag *diag)
{
    build b = {.a = a, .at = at, .g = a->set.graph};
    *f = (formulated){0};
    dae_status status = DAE_OK;
    if (!take_levels(&b) || !define(&b) || !sort_rows(&b) || !formulated_new(f, a, b.n, b.n, 0) ||
        !name_unknowns(&b, f) || !build_rows(&b, f) || !make_plan(&b, f))
        status = formulation_exhausted(f, diag);
    build_free(&b);
    return status;
}
