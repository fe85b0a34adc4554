/* Equations differentiated as often as the index asked for needs, and Baumgarte's combination.
 *
 * With the offsets c of the signature method f_i^(c_i), all i, determine the highest derivatives:
 * index 1. Leaving out the last derivative leaves index 2, the last two index 3 [Pryce01]. Fewer
 * levels hold than the solution satisfies, so that solutions may drift off; the start must satisfy
 * them all. */
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "expr/derive.h"
#include "formulation/formulation_parts.h"

/* ---- layout ---- */

void first_order_free(first_order *l)
{
    dae_free_all(l->times, l->top, l->first);
    unknown_index_free(&l->index);
    *l = (first_order){0};
}

/* top_j: one below the highest derivative; but what appears in differentiated equations is an
 * unknown, so that multipliers do not follow the method's y', which is less accurate than y where
 * steps and orders change; and variables of the model stay unknowns. */
static void find_tops(first_order *l, const analysed *a)
{
    const signature *s = &a->structure.sigma;
    for (int i = 0; i < s->m; i++)
        for (int k = s->start[i]; k < s->start[i + 1]; k++) {
            int j = s->column[k], top = s->order[k] + l->times[i] - (l->times[i] == 0);
            if (top > l->top[j]) l->top[j] = top;
        }
    for (int k = 0; k < a->set.synonym_count; k++) {
        const equation_synonym *v = &a->set.synonym[k];
        if (v->order > l->top[v->variable]) l->top[v->variable] = v->order;
    }
}

void first_order_number(first_order *l, const analysed *a)
{
    l->unknowns = l->kinematics = 0;
    for (int j = 0; j < a->set.n; j++) {
        l->first[j] = l->unknowns;
        l->unknowns += l->top[j] + 1;
        l->kinematics += l->top[j];
    }
}

bool first_order_new(first_order *l, const analysed *a, int lack)
{
    const int *c = a->structure.c;
    *l = (first_order){
        DAE_ARRAY(int, a->set.m), DAE_ARRAY(int, a->set.n), DAE_ARRAY(int, a->set.n), 0, 0, {0}};
    if (!l->times || !l->top || !l->first) {
        first_order_free(l);
        return false;
    }
    for (int i = 0; i < a->set.m; i++) l->times[i] = c[i] > lack ? c[i] - lack : 0;
    find_tops(l, a);
    first_order_number(l, a);
    return true;
}

bool first_order_begin(first_order *l, const analysed *a, formulated *f, int more, int rows)
{
    if (!formulated_new(f, a, l->unknowns + more, rows, 0)) return false;
    for (int j = 0; j < a->set.n; j++)
        for (int p = 0; p <= l->top[j]; p++)
            if (!formulated_stands_for(f, a, l->first[j] + p, j, p)) return false;
    return unknown_index_new(&l->index, a, f);
}

bool formulated_new_unknown(formulated *f, int i, const char *name)
{
    f->variable[i] = -1;
    f->sign[i] = 1;
    f->hidden[i] = true;
    f->set.model[i] = -1;
    f->set.nominal[i] = 1.0;
    f->set.name[i] = arena_text(f->texts, name, strlen(name));
    return f->set.name[i];
}

/* ---- rows ---- */

bool kinematic_row(formulated *f, int i, int next, expr more, int *r)
{
    graph *g = f->set.graph;
    expr to = graph_variable(g, next, 0);
    if (f->sign[i] * f->sign[next] < 0) to = graph_unary(g, EXPR_NEG, to);
    expr e = graph_binary(g, EXPR_SUB, graph_variable(g, i, 1), to);
    if (more != EXPR_NONE) e = graph_binary(g, EXPR_ADD, e, more);
    char *name = arena_alloc(f->texts, strlen(f->set.name[i]) + 24);
    if (!name || e == EXPR_NONE) return false;
    strcat(strcat(strcpy(name, "definition of der("), f->set.name[i]), ")");
    f->set.row[(*r)++] = (equation_row){e, -1, 0, name, 0};
    return true;
}

bool first_order_kinematics(const first_order *l, const analysed *a, formulated *f, int *r)
{
    for (int j = 0; j < a->set.n; j++)
        for (int p = 0; p < l->top[j]; p++)
            if (!kinematic_row(f, l->first[j] + p, l->first[j] + p + 1, EXPR_NONE, r)) return false;
    return true;
}

expr equation_level(const analysed *a, int i, int k)
{
    expr e = a->set.row[i].residual;
    for (; k > 0 && e != EXPR_NONE; k--) e = derive_time(a->set.graph, e);
    return e;
}

bool level_row(formulated *f, const analysed *a, const unknown_index *index, int i, int k, expr e,
               int *r)
{
    expr over_y = e == EXPR_NONE ? EXPR_NONE : formulated_expression(f, index, e);
    return over_y != EXPR_NONE && formulated_row(f, a, (*r)++, i, k, over_y);
}

bool all_levels(formulated *f, const analysed *a, const unknown_index *index, int *first, int *r)
{
    bool ok = true;
    for (int i = 0; ok && i < a->set.m; i++) {
        expr e = a->set.row[i].residual;
        if (first) first[i] = *r;
        for (int k = 0; ok && k <= a->structure.c[i]; k++) {
            if (k > 0) e = derive_time(a->set.graph, e);
            ok = level_row(f, a, index, i, k, e, r);
        }
    }
    return ok;
}

dae_status formulation_exhausted(formulated *f, dae_diag *diag)
{
    formulated_free(f);
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while the equations are rewritten.");
}

/* ---- kinds ---- */

/* left_b := how many differentiations left undone, lack_i, come back in the highest derivatives of
 * block b: its own most, and those of the blocks whose variables it contains, less by how far they
 * are below their highest derivatives, d_j - c_i - sigma_ij. */
static void spread_lack(const structure *s, const int *lack, int *left)
{
    const signature *sigma = &s->sigma;
    bool changed = true;
    for (int i = 0; i < sigma->m; i++) {
        int *own = &left[s->blocks.of_row[i]];
        if (lack[i] > *own) *own = lack[i];
    }
    while (changed) {
        changed = false;
        for (int i = 0; i < sigma->m; i++)
            for (int k = sigma->start[i]; k < sigma->start[i + 1]; k++) {
                int j = sigma->column[k], below = s->d[j] - s->c[i] - sigma->order[k];
                int from = left[s->blocks.of_column[j]] - below, *to = &left[s->blocks.of_row[i]];
                changed = changed || from > *to;
                if (from > *to) *to = from;
            }
    }
}

bool first_order_kinds(const first_order *l, const analysed *a, formulated *f)
{
    const structure *s = &a->structure;
    int *lack = DAE_ARRAY(int, a->set.m), *left = DAE_ARRAY(int, s->blocks.count);
    bool ok = lack && left;
    for (int i = 0; ok && i < a->set.m; i++) lack[i] = s->c[i] - l->times[i];
    if (ok) spread_lack(s, lack, left);
    for (int j = 0; ok && j < a->set.n; j++)
        for (int p = 0; p <= l->top[j]; p++) {
            int power = left[s->blocks.of_column[j]] + p - s->d[j];
            dae_kind kind = power > 1 ? DAE_KIND_INDEX3 : DAE_KIND_INDEX2;
            if (power > 0) f->kinds[l->first[j] + p] = kind;
        }
    dae_free_all(lack, left);
    return ok;
}

bool is_multiplier(const analysed *a, int j)
{
    const structure *s = &a->structure;
    if (s->d[j] > 0) return false;
    int b = s->blocks.of_column[j];
    for (int k = s->blocks.start[b]; k < s->blocks.start[b + 1]; k++)
        if (s->c[s->blocks.rows[k]] > 0) return true;
    return false;
}

bool first_order_hide_multipliers(const first_order *l, const analysed *a, formulated *f)
{
    const structure *s = &a->structure;
    int *left = DAE_ARRAY(int, s->blocks.count);
    if (left) spread_lack(s, s->c, left);
    for (int j = 0; left && j < a->set.n; j++)
        if (s->d[j] == 0 && left[s->blocks.of_column[j]] > 0) f->hidden[l->first[j]] = true;
    dae_free(left);
    return left;
}

/* ---- formulations ---- */

bool rewriting_level(rewriting *p, int i, int k, expr e)
{
    return level_row(p->f, p->a, &p->l.index, i, k, e, &p->r);
}

bool rewriting_as_written(rewriting *p)
{
    bool ok = true;
    for (int i = 0; ok && i < p->a->set.m; i++)
        ok = rewriting_level(p, i, 0, p->a->set.row[i].residual);
    return ok;
}

/* Unknowns, kinematic rows, and for each equation the row `level` of it, as often differentiated as
 * p->l says. */
static bool rewriting_rows(rewriting *p, expr (*level)(const rewriting *p, int i))
{
    bool ok = first_order_begin(&p->l, p->a, p->f, 0, p->l.kinematics + p->a->set.m) &&
              first_order_kinematics(&p->l, p->a, p->f, &p->r);
    for (int i = 0; ok && i < p->a->set.m; i++)
        ok = rewriting_level(p, i, p->l.times[i], level(p, i));
    return ok;
}

static expr plain_level(const rewriting *p, int i)
{
    return equation_level(p->a, i, p->l.times[i]);
}

bool build_lacking(rewriting *p)
{
    return rewriting_rows(p, plain_level) && first_order_kinds(&p->l, p->a, p->f);
}

const formulation formulation_index1 = {
    .name = "index1",
    .summary = "equations differentiated until the index is 1; drifts off the constraints",
    .citation = "Hairer, Wanner, Springer 1996, section VII.2",
    .callbacks = {[KIND_MECHANICAL] = &mechanical_index1, [KIND_HESSENBERG] = &hessenberg_index1},
    .build = build_lacking,
};

const formulation formulation_index2 = {
    .name = "index2",
    .summary = "equations differentiated until the index is 2: velocity constraints",
    .citation = "Brenan, Campbell, Petzold, SIAM 1996, section 6.2",
    .callbacks = {[KIND_MECHANICAL] = &mechanical_index2, [KIND_HESSENBERG] = &hessenberg_as_given},
    .lack = 1,
    .build = build_lacking,
};

const formulation formulation_index3 = {
    .name = "index3",
    .summary = "equations differentiated until the index is 3: as written where it is",
    .citation = "Petzold, Loetstedt, SIAM J. Sci. Stat. Comput. 7 (1986) 720-733",
    .projects = true,
    .callbacks = {[KIND_MECHANICAL] = &mechanical_as_given},
    .lack = 2,
    .build = build_lacking,
};

/* (d/dt + alpha)^times f_i */
static expr damped_level(const rewriting *p, int i)
{
    graph *g = p->a->set.graph;
    expr e = p->a->set.row[i].residual, rate = graph_constant(g, p->setting->parameter);
    for (int times = p->l.times[i]; times > 0 && e != EXPR_NONE; times--)
        e = graph_binary(g, EXPR_ADD, derive_time(g, e), graph_binary(g, EXPR_MUL, rate, e));
    return e;
}

/* [Bau72], [HW96 VII (2.7)] with beta = alpha: what is off the constraints decays as exp(-alpha t).
 */
static bool build_baumgarte(rewriting *p)
{
    return rewriting_rows(p, damped_level) && first_order_hide_multipliers(&p->l, p->a, p->f);
}

const formulation formulation_baumgarte = {
    .name = "baumgarte",
    .summary = "index 1 with (d/dt + alpha)^c g = 0 for each constraint; baumgarte:ALPHA",
    .citation = "Baumgarte, Comput. Methods Appl. Mech. Eng. 1 (1972) 1-16",
    .parameter = 10.0,
    .callbacks = {[KIND_MECHANICAL] = &mechanical_baumgarte},
    .build = build_baumgarte,
};
