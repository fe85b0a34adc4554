/* y' = f(t,y,z,u), 0 = g(t,y), 0 = k(t,y,z,u) from the equations of a model.
 *
 * Variables with derivatives, x_j^(p) below the highest one in the equations, are y; the others
 * that no equation defines explicitly are z and u. Equations with highest derivatives, the leading
 * ones, give y'; of those without, the ones over y alone are constraints, and the others 0 = k.
 * Constraints of an index above 2 are differentiated until they have index 2. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "formulation/form_plan_parts.h"

typedef struct search {
    const analysed *a;
    const equation_point *at;
    graph *g;
    int *highest;                         /* n: derivative of x_j anywhere */
    int *uses;                            /* n: rows that x_j appears in */
    expr *value;                          /* n: definition, or EXPR_NONE */
    bool *defines;                        /* m */
    expr *row;                            /* m: residuals, definitions seen through */
    int *dynamic, *constraint, *implicit; /* rows by what they are, m each */
    int dynamics, constraints, implicits;
    int *lead;  /* differential variables, n */
    int *z, *u; /* algebraic ones, n */
    int leads, algebraics;
    int ny;
} search;

static void search_free(search *s)
{
    dae_free_all(s->highest, s->uses, s->value, s->defines, s->row, s->dynamic, s->constraint,
                 s->implicit, s->lead, s->z, s->u);
}

static bool search_new(search *s, const analysed *a, const equation_point *at)
{
    size_t n = (size_t)a->set.n, m = (size_t)a->set.m;
    *s = (search){.a = a,
                  .at = at,
                  .g = a->set.graph,
                  .highest = DAE_ARRAY(int, n),
                  .uses = DAE_ARRAY(int, n),
                  .value = DAE_ARRAY(expr, n),
                  .defines = DAE_ARRAY(bool, m),
                  .row = DAE_ARRAY(expr, m),
                  .dynamic = DAE_ARRAY(int, m),
                  .constraint = DAE_ARRAY(int, m),
                  .implicit = DAE_ARRAY(int, m),
                  .lead = DAE_ARRAY(int, n),
                  .z = DAE_ARRAY(int, n),
                  .u = DAE_ARRAY(int, n)};
    return s->highest && s->uses && s->value && s->defines && s->row && s->dynamic &&
           s->constraint && s->implicit && s->lead && s->z && s->u;
}

/* ---- what rows contain ---- */

typedef struct content {
    const search *s;
    int leading;   /* a variable whose highest derivative is there; -1: none */
    int algebraic; /* a variable without derivatives; -1: none */
    int wanted;    /* a variable that is asked for */
    bool found;
} content;

static void note_content(void *context, const expr_node *node)
{
    content *c = context;
    if (node->op != EXPR_VARIABLE) return;
    c->found |= node->index == c->wanted;
    if (c->s->highest[node->index] == 0)
        c->algebraic = node->index;
    else if (node->order >= c->s->highest[node->index])
        c->leading = node->index;
}

static bool content_of(const search *s, expr e, int wanted, content *c)
{
    *c = (content){s, -1, -1, wanted, false};
    return graph_leaves(s->g, &e, 1, note_content, c);
}

static void note_variable(void *context, const expr_node *node)
{
    search *s = context;
    if (node->op != EXPR_VARIABLE) return;
    if (node->order > s->highest[node->index]) s->highest[node->index] = node->order;
    s->uses[node->index]++; /* of algebraic variables there is one leaf a row */
}

static bool note_variables(search *s)
{
    for (int i = 0; i < s->a->set.m; i++)
        if (!graph_leaves(s->g, &s->a->set.row[i].residual, 1, note_variable, s)) return false;
    return true;
}

/* ---- explicit definitions ---- */

/* Take x_j = .. from row i if it is linear in it with a factor of parameters that is not zero:
 * 1, 0, or -1: memory. */
static int try_definition(search *s, int i, int j, expr by)
{
    if (!depends_on_parameters_alone(s->g, by)) return 0;
    double factor = equation_set_value(&s->a->set, by, s->at);
    if (!isfinite(factor) || factor == 0.0) return 0;
    expr value = definition_from(s->g, s->a->set.row[i].residual, j);
    content c;
    value = value == EXPR_NONE ? EXPR_NONE : put_definitions(s->g, s->value, value);
    if (value == EXPR_NONE || !content_of(s, value, j, &c)) return -1;
    if (c.found) return 0;
    s->value[j] = value;
    s->defines[i] = true;
    return 1;
}

/* Let row i define one of its algebraic variables, the one that the structure gives it first;
 * alone: only one that no other row contains. */
static int define_by(search *s, int i, const gradient *d, bool alone)
{
    int preferred = s->a->structure.match[i];
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < d->count; k++) {
            const expr_node *node = graph_node(s->g, d->leaf[k]);
            int j = node->index;
            if ((j == preferred) != (pass == 0)) continue;
            if (s->highest[j] > 0 || s->value[j] != EXPR_NONE) continue;
            if (alone && s->uses[j] > 1) continue;
            int taken = try_definition(s, i, j, d->derivative[k]);
            if (taken != 0) return taken;
        }
    return 0;
}

/* Definitions by rows without leading derivatives; `surplus` more by rows with, if there are more
 * of these than variables with derivatives: as of a force that is only looked at. */
static bool find_definitions(search *s, bool leading, int surplus)
{
    gradient d = {0};
    bool ok = true;
    for (int i = 0; ok && i < s->a->set.m && (!leading || surplus > 0); i++) {
        content c;
        expr e = s->a->set.row[i].residual;
        ok = content_of(s, e, -1, &c);
        if (!ok || s->defines[i] || c.algebraic < 0 || (c.leading >= 0) != leading) continue;
        int taken = derive_gradient(s->g, e, &d) ? define_by(s, i, &d, leading) : -1;
        ok = taken >= 0;
        surplus -= taken;
    }
    gradient_free(&d);
    return ok;
}

static int surplus_rows(const search *s, bool *ok)
{
    int surplus = 0;
    for (int i = 0; i < s->a->set.m && *ok; i++) {
        content c;
        *ok = content_of(s, s->a->set.row[i].residual, -1, &c);
        surplus += c.leading >= 0;
    }
    for (int j = 0; j < s->a->set.n; j++) surplus -= s->highest[j] > 0;
    return surplus;
}

static bool define(search *s)
{
    bool ok = find_definitions(s, false, 0);
    int surplus = ok ? surplus_rows(s, &ok) : 0;
    ok = ok && find_definitions(s, true, surplus) &&
         see_through_definitions(s->g, s->a->set.n, s->value);
    for (int i = 0; ok && i < s->a->set.m; i++) {
        if (s->defines[i]) continue;
        s->row[i] = put_definitions(s->g, s->value, s->a->set.row[i].residual);
        ok = s->row[i] != EXPR_NONE;
    }
    return ok;
}

/* ---- rows and variables ---- */

static bool sort_rows(search *s)
{
    for (int i = 0; i < s->a->set.m; i++) {
        content c;
        if (s->defines[i]) continue;
        if (!content_of(s, s->row[i], -1, &c)) return false;
        if (c.leading >= 0)
            s->dynamic[s->dynamics++] = i;
        else if (c.algebraic >= 0)
            s->implicit[s->implicits++] = i;
        else
            s->constraint[s->constraints++] = i;
    }
    for (int j = 0; j < s->a->set.n; j++) {
        if (s->value[j] != EXPR_NONE) continue;
        if (s->highest[j] > 0)
            s->lead[s->leads++] = j;
        else
            s->algebraics++;
        s->ny += s->highest[j];
    }
    return true;
}

/* u: the variables that the structure gives to the rows 0 = k; z: the rest. False: it gives them
 * others. */
static bool split_algebraics(search *s, bool *is_u)
{
    int z = 0;
    for (int k = 0; k < s->implicits; k++) {
        int j = s->a->structure.match[s->implicit[k]];
        if (s->highest[j] > 0 || s->value[j] != EXPR_NONE) return false;
        is_u[j] = true;
        s->u[k] = j;
    }
    for (int j = 0; j < s->a->set.n; j++)
        if (s->highest[j] == 0 && s->value[j] == EXPR_NONE && !is_u[j]) s->z[z++] = j;
    return z == s->constraints;
}

/* Constraints of index 2: differentiated as often as they are behind. */
static bool lower_constraints(search *s, int *refused)
{
    for (int k = 0; k < s->constraints; k++) {
        int i = s->constraint[k];
        content c;
        for (int n = s->a->structure.c[i]; n > 1 && s->row[i] != EXPR_NONE; n--)
            s->row[i] = derive_time(s->g, s->row[i]);
        if (s->row[i] == EXPR_NONE || !content_of(s, s->row[i], -1, &c)) return false;
        if (c.leading >= 0 || c.algebraic >= 0) *refused = i;
    }
    return true;
}

static dae_status refuse(dae_diag *diag, const char *what, const char *name)
{
    return diag_set(diag, DAE_ERR_UNSUPPORTED, what, name);
}

static dae_status out_of_memory(dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while the Hessenberg form is sought.");
}

static dae_status look(search *s, dae_diag *diag)
{
    const equation_set *set = &s->a->set;
    int refused = -1;
    if (!note_variables(s) || !define(s) || !sort_rows(s)) return out_of_memory(diag);
    if (s->leads == 0) return refuse(diag, "no variable has a derivative%s", "");
    if (s->dynamics != s->leads)
        return refuse(diag,
                      s->dynamics > s->leads ? "more equations contain highest derivatives than "
                                               "there are variables with them, %s among them"
                                             : "%s and others determine too few derivatives",
                      s->dynamics > 0 ? set->row[s->dynamic[s->dynamics - 1]].name
                                      : set->name[s->lead[0]]);
    bool *is_u = DAE_ARRAY(bool, set->n);
    bool split = is_u && split_algebraics(s, is_u);
    dae_free(is_u);
    if (!is_u) return out_of_memory(diag);
    if (!split)
        return refuse(diag, "%s does not determine an algebraic variable of its own",
                      set->row[s->implicits > 0 ? s->implicit[0] : s->constraint[0]].name);
    if (!lower_constraints(s, &refused)) return out_of_memory(diag);
    if (refused >= 0)
        return refuse(diag, "hidden constraints of %s contain more than differential variables",
                      set->row[refused].name);
    return DAE_OK;
}

/* ---- the residual form in the same unknowns ---- */

static bool name_unknowns(const search *s, formulated *f)
{
    int i = 0;
    bool ok = true;
    for (int k = 0; ok && k < s->leads; k++)
        for (int p = 0; ok && p < s->highest[s->lead[k]]; p++) {
            f->kinds[i] = DAE_KIND_DIFFERENTIAL;
            ok = formulated_stands_plainly(f, s->a, i++, s->lead[k], p);
        }
    for (int k = 0; ok && k < s->constraints; k++) {
        f->kinds[i] = DAE_KIND_INDEX2;
        ok = formulated_stands_plainly(f, s->a, i++, s->z[k], 0);
    }
    for (int k = 0; ok && k < s->implicits; k++) {
        f->kinds[i] = DAE_KIND_INDEX1;
        ok = formulated_stands_plainly(f, s->a, i++, s->u[k], 0);
    }
    return ok;
}

/* Rows in the order of y', g and k. */
static bool build_rows(const search *s, const unknown_index *index, formulated *f)
{
    int r = 0, i = 0;
    bool ok = true;
    for (int k = 0; ok && k < s->leads; k++) {
        for (int p = 1; ok && p < s->highest[s->lead[k]]; p++, i++)
            ok = kinematic_row(f, i, i + 1, EXPR_NONE, &r);
        i++;
        ok = ok && level_row(f, s->a, index, s->dynamic[k], 0, s->row[s->dynamic[k]], &r);
    }
    for (int k = 0; ok && k < s->constraints; k++) {
        int row = s->constraint[k], c = s->a->structure.c[row];
        ok = level_row(f, s->a, index, row, c > 1 ? c - 1 : 0, s->row[row], &r);
    }
    for (int k = 0; ok && k < s->implicits; k++)
        ok = level_row(f, s->a, index, s->implicit[k], 0, s->row[s->implicit[k]], &r);
    return ok;
}

/* ---- the functions of the form ---- */

static expr drop_leading(void *context, graph *g, expr leaf)
{
    const search *s = context;
    const expr_node node = *graph_node(g, leaf);
    bool leads = node.op == EXPR_VARIABLE && s->highest[node.index] > 0 &&
                 node.order >= s->highest[node.index];
    return leads ? graph_constant(g, 0.0) : leaf;
}

/* Entries of E in rows of the dynamic equations and columns of `lead`. *refused: a row that is not
 * linear in leading derivatives; -1: none. */
static bool leading_entries(const search *s, entry_list *E, int *refused)
{
    gradient d = {0};
    int *place = DAE_ARRAY(int, s->a->set.n);
    bool ok = place;
    for (int k = 0; ok && k < s->leads; k++) place[s->lead[k]] = k;
    for (int r = 0; ok && r < s->dynamics; r++) {
        ok = derive_gradient(s->g, s->row[s->dynamic[r]], &d);
        for (size_t k = 0; ok && k < d.count; k++) {
            const expr_node *node = graph_node(s->g, d.leaf[k]);
            if (s->highest[node->index] == 0 || node->order < s->highest[node->index]) continue;
            content c;
            ok = entry_add(E, r, place[node->index], d.derivative[k]) &&
                 content_of(s, d.derivative[k], -1, &c);
            if (ok && c.leading >= 0) *refused = s->dynamic[r];
        }
    }
    gradient_free(&d);
    dae_free(place);
    return ok;
}

/* One leading derivative a row, each in its own: then row of lead k is from[k]. */
static bool is_permutation(const search *s, const entry_list *E, int *from)
{
    if (E->count != s->leads) return false;
    for (int k = 0; k < s->leads; k++) from[k] = -1;
    for (int e = 0; e < E->count; e++) {
        int k = E->entry[e].column;
        if (E->entry[e].row != e || from[k] >= 0) return false;
        from[k] = e;
    }
    return true;
}

static expr over_arguments(const search *s, const formulated *f, const unknown_index *index, expr e)
{
    if (e == EXPR_NONE) return EXPR_NONE;
    return form_arguments(s->g, s->ny, s->constraints, formulated_expression(f, index, e));
}

/* -(row without leading derivatives) over the arguments of the form */
static expr right_side(const search *s, const formulated *f, const unknown_index *index, int r)
{
    expr rest = graph_substitute(s->g, s->row[s->dynamic[r]], drop_leading, (void *)s);
    return over_arguments(s, f, index, graph_unary(s->g, EXPR_NEG, rest));
}

/* What is found out about f before its program. */
typedef struct slopes {
    entry_list E;
    int *from; /* explicit: the row of leading derivative k */
    expr *f;   /* ny; implicit: right-hand side k where leading derivative k is */
    bool explicit;
} slopes;

/* Dynamic rows in the order of their leading derivatives, if each has one of its own. */
static void order_rows(search *s, slopes *w)
{
    w->explicit = is_permutation(s, &w->E, w->from);
    if (!w->explicit) return;
    for (int k = 0; k < s->leads; k++) s->u[k] = s->dynamic[w->from[k]];
    memcpy(s->dynamic, s->u, (size_t)s->leads * sizeof *s->dynamic);
}

static bool build_slopes(const search *s, const formulated *f, const unknown_index *index,
                         slopes *w, int *leading)
{
    int i = 0;
    for (int k = 0; k < s->leads; k++) {
        for (int p = 1; p < s->highest[s->lead[k]]; p++, i++)
            w->f[i] = graph_variable(s->g, i + 1, 0);
        expr e = right_side(s, f, index, k);
        if (w->explicit) {
            expr by = over_arguments(s, f, index, w->E.entry[w->from[k]].value);
            e = e == EXPR_NONE || by == EXPR_NONE ? EXPR_NONE : graph_binary(s->g, EXPR_DIV, e, by);
        }
        if (e == EXPR_NONE) return false;
        leading[k] = i;
        w->f[i++] = e;
    }
    return true;
}

/* f, with E before it where that is needed, and f_z */
static bool build_f(const search *s, const formulated *f, const unknown_index *index, slopes *w,
                    form_plan *p)
{
    entry_list by_z = {0}, E = {0};
    size_t at = 0;
    bool ok = build_slopes(s, f, index, w, p->leading);
    for (int e = 0; ok && !w->explicit && e < w->E.count; e++)
        ok = entry_add(&E, w->E.entry[e].row, w->E.entry[e].column,
                       over_arguments(s, f, index, w->E.entry[e].value));
    ok = ok && entry_gradients(s->g, w->f, s->ny, 1, &by_z) &&
         form_block_new(&p->block[BLOCK_F_Z], s->g, s->ny, s->constraints, &by_z) &&
         form_block_new(&p->block[BLOCK_LEADING], s->g, s->leads, s->leads, &E) &&
         form_program_block(&p->program[HESSENBERG_F_Z], &p->block[BLOCK_F_Z]) &&
         form_program_new(&p->program[HESSENBERG_F],
                          (size_t)p->block[BLOCK_LEADING].count + (size_t)s->ny);
    p->implicit = !w->explicit;
    form_program *to = &p->program[HESSENBERG_F];
    for (int k = 0; ok && k < p->block[BLOCK_LEADING].count; k++)
        to->e[at++] = p->block[BLOCK_LEADING].e[k];
    for (int i = 0; ok && i < s->ny; i++) to->e[at++] = w->f[i];
    if (ok && p->implicit) p->block[BLOCK_F_Z].dense = true; /* E^-1 fills it */
    entry_list_free(&by_z);
    entry_list_free(&E);
    return ok;
}

static bool build_constraints(const search *s, const formulated *f, const unknown_index *index,
                              form_plan *p)
{
    form_program *g = &p->program[HESSENBERG_G], *k = &p->program[HESSENBERG_K];
    entry_list g_y = {0}, k_u = {0};
    bool ok = form_program_new(g, (size_t)s->constraints) &&
              form_program_new(k, (size_t)s->implicits) &&
              form_program_new(&p->program[HESSENBERG_G_T], (size_t)s->constraints);
    for (int r = 0; ok && r < s->constraints; r++) {
        g->e[r] = over_arguments(s, f, index, s->row[s->constraint[r]]);
        ok = g->e[r] != EXPR_NONE;
        p->constraint[r] = s->ny + r;
    }
    for (int r = 0; ok && r < s->implicits; r++) {
        k->e[r] = over_arguments(s, f, index, s->row[s->implicit[r]]);
        ok = k->e[r] != EXPR_NONE;
    }
    ok = ok && entry_gradients(s->g, g->e, s->constraints, 0, &g_y) &&
         entry_gradients(s->g, k->e, s->implicits, 2, &k_u) &&
         form_block_new(&p->block[BLOCK_G_Y], s->g, s->constraints, s->ny, &g_y) &&
         form_block_new(&p->block[BLOCK_K_U], s->g, s->implicits, s->implicits, &k_u) &&
         form_program_block(&p->program[HESSENBERG_G_Y], &p->block[BLOCK_G_Y]) &&
         form_program_block(&p->program[HESSENBERG_K_U], &p->block[BLOCK_K_U]) &&
         time_derivatives(s->g, g->e, s->constraints, p->program[HESSENBERG_G_T].e, &p->autonomous);
    entry_list_free(&g_y);
    entry_list_free(&k_u);
    return ok;
}

static form_plan *make_plan(const search *s, const formulated *f, const unknown_index *index,
                            slopes *w)
{
    form_plan *p = DAE_NEW(form_plan);
    if (!p) return NULL;
    *p = (form_plan){.form = FORM_HESSENBERG, .size = {s->ny, s->constraints, s->implicits}};
    p->leading = DAE_ARRAY(int, s->leads);
    p->constraint = DAE_ARRAY(int, s->constraints);
    w->f = DAE_ARRAY(expr, s->ny);
    if (p->leading && p->constraint && w->f && build_f(s, f, index, w, p) &&
        build_constraints(s, f, index, p))
        return p;
    form_plan_free(p);
    return NULL;
}

static bool build(search *s, slopes *w, formulated *f)
{
    unknown_index index = {0};
    int n = s->ny + s->constraints + s->implicits;
    bool ok = formulated_new(f, s->a, n, n, 0) && name_unknowns(s, f) &&
              unknown_index_new(&index, s->a, f) && note_definitions(f, s->a, &index, s->value);
    if (ok) order_rows(s, w);
    ok = ok && build_rows(s, &index, f);
    if (ok) f->plan = make_plan(s, f, &index, w);
    unknown_index_free(&index);
    return ok && f->plan;
}

dae_status formulate_hessenberg_form(const analysed *a, const equation_point *at, formulated *f,
                                     dae_diag *diag)
{
    search s;
    slopes w = {0};
    int refused = -1;
    *f = (formulated){0};
    dae_status status = search_new(&s, a, at) ? look(&s, diag) : out_of_memory(diag);
    if (status == DAE_OK) {
        w.from = DAE_ARRAY(int, s.leads);
        if (!w.from || !leading_entries(&s, &w.E, &refused)) status = out_of_memory(diag);
    }
    if (status == DAE_OK && refused >= 0)
        status =
            refuse(diag, "%s is not linear in the highest derivatives", a->set.row[refused].name);
    if (status == DAE_OK && !build(&s, &w, f)) status = formulation_exhausted(f, diag);
    entry_list_free(&w.E);
    dae_free_all(w.from, w.f);
    search_free(&s);
    return status;
}
