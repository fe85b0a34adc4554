/* E x' = f and 0 = g on all levels from the system of dummy derivatives: its rows with x', and all
 * kinematic equations that might be states, are E x' = f; the other rows are constraints [Baese17
 * 2.9]. */
#include "base/diag.h"
#include "base/memory.h"
#include "system/model_forms_parts.h"

typedef struct slope_scan {
    const graph *g;
    bool slopes;
} slope_scan;

static void note_slope(void *context, expr leaf)
{
    slope_scan *scan = context;
    const expr_node *node = graph_node(scan->g, leaf);
    scan->slopes |= node->op == EXPR_VARIABLE && node->order > 0;
}

static bool has_slopes(const graph *g, expr e, bool *memory)
{
    slope_scan scan = {g, false};
    if (!graph_leaves(g, &e, 1, note_slope, &scan)) *memory = false;
    return scan.slopes;
}

static expr drop_slope(void *context, graph *g, expr leaf)
{
    (void)context;
    const expr_node node = *graph_node(g, leaf);
    return node.op == EXPR_VARIABLE && node.order > 0 ? graph_constant(g, 0.0) : leaf;
}

/* What is found while the rows are sorted. */
typedef struct row_sort {
    entry_list E;
    expr *f, *g; /* right-hand sides; constraints */
    int ne, ng;
    int refused; /* row that is not linear in x'; -1: none */
} row_sort;

/* Row r of the system as a row of E x' = f. */
static bool add_differential(row_sort *s, const formulated *f, int r)
{
    graph *g = f->set.graph;
    expr e = f->set.row[r].residual;
    int first = s->E.count;
    entry_list row = {0};
    bool memory = entry_gradients(g, &e, 1, 1, &row);
    for (int k = 0; memory && k < row.count; k++) {
        if (has_slopes(g, row.entry[k].value, &memory)) s->refused = r;
        memory = memory && entry_add(&s->E, s->ne, row.entry[k].column, row.entry[k].value);
    }
    entry_list_free(&row);
    (void)first;
    expr rest = graph_substitute(g, e, drop_slope, NULL);
    s->f[s->ne++] = graph_unary(g, EXPR_NEG, rest);
    return memory && rest != EXPR_NONE;
}

static bool add_candidate(row_sort *s, const formulated *f, const kinematic *q)
{
    graph *g = f->set.graph;
    expr next = graph_variable(g, q->next, 0);
    bool ok = entry_add(&s->E, s->ne, q->unknown, graph_constant(g, 1.0));
    s->f[s->ne++] = q->sign > 0 ? next : graph_unary(g, EXPR_NEG, next);
    return ok;
}

static bool sort_rows(row_sort *s, const formulated *f, int *constraint)
{
    const graph *g = f->set.graph;
    bool ok = true;
    for (int r = 0; ok && r < f->set.m; r++) {
        if (has_slopes(g, f->set.row[r].residual, &ok)) {
            ok = add_differential(s, f, r);
        } else {
            constraint[s->ng] = r;
            s->g[s->ng++] = f->set.row[r].residual;
        }
    }
    for (int k = 0; ok && k < f->candidates; k++) ok = add_candidate(s, f, &f->candidate[k]);
    return ok;
}

static bool build_programs(const formulated *f, row_sort *s, form_plan *p)
{
    graph *g = f->set.graph;
    entry_list by_x = {0};
    bool ok = entry_gradients(g, s->g, s->ng, 0, &by_x) &&
              form_block_new(&p->block[BLOCK_E], g, s->ne, f->set.n, &s->E) &&
              form_block_new(&p->block[BLOCK_G_X], g, s->ng, f->set.n, &by_x) &&
              form_program_block(&p->program[QUASILINEAR_E], &p->block[BLOCK_E]) &&
              form_program_block(&p->program[QUASILINEAR_G_X], &p->block[BLOCK_G_X]) &&
              form_program_new(&p->program[QUASILINEAR_F], (size_t)s->ne) &&
              form_program_new(&p->program[QUASILINEAR_G], (size_t)s->ng) &&
              form_program_new(&p->program[QUASILINEAR_G_T], (size_t)s->ng);
    for (int r = 0; ok && r < s->ne; r++) p->program[QUASILINEAR_F].e[r] = s->f[r];
    for (int r = 0; ok && r < s->ng; r++) p->program[QUASILINEAR_G].e[r] = s->g[r];
    ok = ok &&
         time_derivatives(g, s->g, s->ng, p->program[QUASILINEAR_G_T].e, &p->autonomous);
    entry_list_free(&by_x);
    p->form = FORM_QUASILINEAR;
    p->size[0] = f->set.n;
    p->size[1] = s->ne;
    p->size[2] = s->ng;
    return ok && !graph_failed(g);
}

dae_status formulate_quasilinear_form(const analysed *a, formulated *f, dae_diag *diag)
{
    dae_status status = formulate_dummy(a, f, diag);
    if (status != DAE_OK) return status;
    int rows = f->set.m + f->candidates;
    row_sort s = {.f = DAE_ARRAY(expr, rows), .g = DAE_ARRAY(expr, rows), .refused = -1};
    form_plan *p = f->plan = DAE_NEW(form_plan);
    if (p) p->constraint = DAE_ARRAY(int, rows);
    bool ok = s.f && s.g && p && p->constraint && sort_rows(&s, f, p->constraint);
    if (ok && s.refused < 0) ok = build_programs(f, &s, p);
    if (!ok)
        status = formulation_exhausted(f, diag);
    else if (s.refused >= 0) {
        status = diag_set(diag, DAE_ERR_UNSUPPORTED, "%s is not linear in derivatives",
                          f->set.row[s.refused].name);
        formulated_free(f);
    }
    entry_list_free(&s.E);
    dae_free(s.f);
    dae_free(s.g);
    return status;
}
