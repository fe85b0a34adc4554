/* E x' = f and 0 = g on all levels from the system of dummy derivatives: its rows with x', and all
 * kinematic equations, are E x' = f; the other rows are constraints [Baese17 2.9].
 *
 * Equations that are linear in a leading derivative x_j^(d_j - c_i) with a constant factor define
 * it, and their derivatives the ones above it: these are seen through. Since the factors are
 * constant pivots of the system Jacobian what is left of it is as regular as it was. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "system/model_forms_parts.h"

typedef struct build {
    const analysed *a;
    const equation_point *at;
    graph *g;
    formulated full;     /* by dummy derivatives */
    unknown_index index; /* of full */
    int *first_row;      /* m: row of equation i in full; its derivatives follow */
    expr *value;         /* per unknown of full: its definition over the others, or EXPR_NONE */
    bool *gone;          /* per row of full: it defines something */
    int *place;          /* per unknown of full: where it is in the result, or -1 */
    entry_list E;
    expr *f, *c;     /* right-hand sides; constraints; over the unknowns of the result */
    int *constraint; /* row of full */
    int *slope;      /* per row of E: row of full, or -1 - candidate */
    int n, ne, ng;
    int refused; /* row of full that is not linear in x'; -1: none */
} build;

static void build_free(build *b)
{
    formulated_free(&b->full);
    unknown_index_free(&b->index);
    entry_list_free(&b->E);
    void *const blocks[] = {b->first_row, b->value, b->gone,       b->place,
                            b->f,         b->c,     b->constraint, b->slope};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dae_free(blocks[k]);
}

static bool build_new(build *b, const analysed *a)
{
    size_t n = (size_t)b->full.set.n, m = (size_t)(b->full.set.m + b->full.candidates);
    b->first_row = DAE_ARRAY(int, a->set.m);
    b->value = DAE_ARRAY(expr, n);
    b->place = DAE_ARRAY(int, n);
    b->gone = DAE_ARRAY(bool, m);
    b->f = DAE_ARRAY(expr, m);
    b->c = DAE_ARRAY(expr, m);
    b->constraint = DAE_ARRAY(int, m);
    b->slope = DAE_ARRAY(int, m);
    if (!b->first_row || !b->value || !b->place || !b->gone || !b->f || !b->c || !b->constraint ||
        !b->slope)
        return false;
    for (int i = 1; i < a->set.m; i++)
        b->first_row[i] = b->first_row[i - 1] + a->structure.c[i - 1] + 1;
    return unknown_index_new(&b->index, a, &b->full);
}

/* ---- what leaves contain ---- */

typedef struct leaf_scan {
    const graph *g;
    int wanted;
    bool found, slopes, memory;
} leaf_scan;

static void scan_leaf(void *context, expr leaf)
{
    leaf_scan *scan = context;
    const expr_node *node = graph_node(scan->g, leaf);
    scan->memory |= node->op == EXPR_MEMORY;
    if (node->op != EXPR_VARIABLE) return;
    scan->found |= node->index == scan->wanted;
    scan->slopes |= node->order > 0;
}

static bool scan_leaves(const graph *g, expr e, int wanted, leaf_scan *scan)
{
    *scan = (leaf_scan){.g = g, .wanted = wanted};
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
    if (scan.found || scan.slopes || (scan.memory && moves)) return 0;
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
    derive_scratch *scratch = derive_scratch_new();
    bool *used = DAE_ARRAY(bool, b->a->set.n);
    gradient d = {0};
    bool ok = scratch && used;
    for (int i = 0; ok && i < b->a->set.m; i++)
        ok = derive_gradient(b->g, scratch, b->a->set.row[i].residual, &d) &&
             define_by(b, i, &d, used) >= 0;
    gradient_free(&d);
    derive_scratch_free(scratch);
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

static expr drop_slope(void *context, graph *g, expr leaf)
{
    (void)context;
    const expr_node node = *graph_node(g, leaf);
    return node.op == EXPR_VARIABLE && node.order > 0 ? graph_constant(g, 0.0) : leaf;
}

/* 0 = e as a row of E x' = f */
static bool add_differential(build *b, int r, expr e)
{
    entry_list row = {0};
    bool ok = entry_gradients(b->g, &e, 1, 1, &row);
    for (int k = 0; ok && k < row.count; k++) {
        leaf_scan scan;
        ok = scan_leaves(b->g, row.entry[k].value, -1, &scan) &&
             entry_add(&b->E, b->ne, row.entry[k].column, row.entry[k].value);
        if (ok && scan.slopes) b->refused = r;
    }
    entry_list_free(&row);
    expr rest = graph_substitute(b->g, e, drop_slope, NULL);
    b->slope[b->ne] = r;
    b->f[b->ne++] = graph_unary(b->g, EXPR_NEG, rest);
    return ok && rest != EXPR_NONE;
}

/* (x_j^(p))' = x_j^(p+1) */
static bool add_candidate(build *b, int k)
{
    const kinematic *q = &b->full.candidate[k];
    if (b->place[q->unknown] < 0) return true;
    expr next = moved(b, graph_variable(b->g, q->next, 0));
    if (next != EXPR_NONE && q->sign < 0) next = graph_unary(b->g, EXPR_NEG, next);
    b->slope[b->ne] = -1 - k;
    b->f[b->ne] = next;
    return next != EXPR_NONE &&
           entry_add(&b->E, b->ne++, b->place[q->unknown], graph_constant(b->g, 1.0));
}

static bool sort_rows(build *b)
{
    bool ok = true;
    for (int r = 0; ok && r < b->full.set.m; r++) {
        leaf_scan scan;
        if (b->gone[r]) continue;
        expr e = moved(b, b->full.set.row[r].residual);
        if (e == EXPR_NONE || !scan_leaves(b->g, e, -1, &scan)) return false;
        if (scan.slopes) {
            ok = add_differential(b, r, e);
        } else {
            b->constraint[b->ng] = r;
            b->c[b->ng++] = e;
        }
    }
    for (int k = 0; ok && k < b->full.candidates; k++) ok = add_candidate(b, k);
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
    for (int e = 0; e < b->E.count; e++) f->kinds[b->E.entry[e].column] = DAE_KIND_DIFFERENTIAL;
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
        int from = b->slope[k];
        if (from >= 0) {
            const equation_row *row = &b->full.set.row[from];
            ok = add_row(b, f, &r, row, moved(b, row->residual));
        } else {
            const kinematic *q = &b->full.candidate[-1 - from];
            equation_row row = {.name = b->full.set.name[q->unknown], .source = -1};
            expr rate = graph_variable(b->g, b->place[q->unknown], 1);
            ok = add_row(b, f, &r, &row, graph_binary(b->g, EXPR_SUB, rate, b->f[k]));
        }
    }
    return ok && r == b->n;
}

/* ---- the functions of the form ---- */

static bool build_programs(build *b, form_plan *p)
{
    graph *g = b->g;
    entry_list by_x = {0};
    bool ok = entry_gradients(g, b->c, b->ng, 0, &by_x) &&
              form_block_new(&p->block[BLOCK_E], g, b->ne, b->n, &b->E) &&
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
    return ok && !graph_failed(g);
}

static bool make_plan(build *b, formulated *f)
{
    form_plan *p = f->plan = DAE_NEW(form_plan);
    if (!p) return false;
    *p = (form_plan){.form = FORM_QUASILINEAR, .size = {b->n, b->ne, b->ng}};
    p->constraint = DAE_ARRAY(int, b->ng);
    for (int k = 0; p->constraint && k < b->ng; k++) p->constraint[k] = k;
    return p->constraint && build_programs(b, p);
}

dae_status formulate_quasilinear_form(const analysed *a, const equation_point *at, formulated *f,
                                      dae_diag *diag)
{
    build b = {.a = a, .at = at, .g = a->set.graph, .refused = -1};
    *f = (formulated){0};
    dae_status status = formulate_dummy(a, &b.full, diag);
    if (status != DAE_OK) return status;
    bool ok = build_new(&b, a) && define(&b) && sort_rows(&b);
    if (ok && b.refused >= 0)
        status = diag_set(diag, DAE_ERR_UNSUPPORTED, "%s is not linear in derivatives",
                          b.full.set.row[b.refused].name);
    else if (!ok || !formulated_new(f, a, b.n, b.n, 0) || !name_unknowns(&b, f) ||
             !build_rows(&b, f) || !make_plan(&b, f))
        status = formulation_exhausted(f, diag);
    build_free(&b);
    return status;
}
