/* Variants of a model: the same variables, events and outputs over the unknowns of a formulation.
 */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/model_build.h"
#include "model/model_forms.h"

/* ---- where the unknowns of the base form are ---- */

/* x_j^(p) of the analysed set among the unknowns y. */
static model_place place_of(const formulated *y, const unknown_index *index, int j, int p, int sign)
{
    int here = unknown_index_at(index, j, p), below = unknown_index_at(index, j, p - 1);
    int i = here >= 0 ? here : below;
    if (i < 0 || formulated_definition(y, j, p) != EXPR_NONE) return (model_place){-1, false, 1};
    return (model_place){i, here < 0, (signed char)(sign * y->sign[i])};
}

static void note_place(model_form *f, const unknown_index *index, int unknown, int j, int p,
                       int sign)
{
    const formulated *y = f->formulated;
    f->place[unknown] = place_of(y, index, j, p, sign);
    f->place_slope[unknown] = place_of(y, index, j, p + 1, sign);
    bool defined = formulated_definition(y, j, p + 1) != EXPR_NONE;
    if (f->place_slope[unknown].unknown < 0 && !defined) { /* beyond reach: its own slope */
        f->place_slope[unknown] = f->place[unknown];
        f->place_slope[unknown].slope = true;
    }
}

/* Unknown of the base form that is none here, but follows from the others. */
static bool note_seen(model_form *f, const unknown_index *index, int unknown, int j, int p,
                      int sign)
{
    graph *g = f->flat->graph;
    bool here = f->place[unknown].unknown < 0, slope = f->place_slope[unknown].unknown < 0;
    expr e[2] = {EXPR_NONE, EXPR_NONE};
    if (f->formulated->defined_count == 0 || !(here || slope)) return true;
    for (int k = 0; k < 2; k++) {
        e[k] = formulated_derivative(f->formulated, index, j, p + k);
        if (e[k] != EXPR_NONE && sign < 0) e[k] = graph_unary(g, EXPR_NEG, e[k]);
    }
    f->value[unknown] = here ? e[0] : EXPR_NONE;
    f->value_slope[unknown] = slope || here ? e[1] : EXPR_NONE;
    f->seen_at[unknown] = f->seen_count;
    f->seen[f->seen_count++] = unknown;
    return !graph_failed(g);
}

static bool note_unknown(model_form *f, const unknown_index *index, int unknown, int j, int p,
                         int sign)
{
    note_place(f, index, unknown, j, p, sign);
    return note_seen(f, index, unknown, j, p, sign);
}

static bool find_places(model_form *f)
{
    const equation_set *set = &f->analysed->set;
    unknown_index index = {0};
    f->place = DAE_ARRAY(model_place, f->base->n);
    f->place_slope = DAE_ARRAY(model_place, f->base->n);
    f->value = DAE_ARRAY(expr, f->base->n);
    f->value_slope = DAE_ARRAY(expr, f->base->n);
    f->seen = DAE_ARRAY(int, f->base->n);
    f->seen_at = DAE_ARRAY(int, f->base->n);
    bool ok = f->place && f->place_slope && f->value && f->value_slope && f->seen && f->seen_at &&
              unknown_index_new(&index, f->analysed, f->formulated);
    for (int i = 0; ok && i < f->base->n; i++) {
        f->place[i] = f->place_slope[i] = (model_place){-1, false, 1};
        f->seen_at[i] = -1;
    }
    for (int j = 0; ok && j < set->n; j++)
        if (set->model[j] >= 0) ok = note_unknown(f, &index, set->model[j], j, 0, 1);
    for (int k = 0; ok && k < set->synonym_count; k++) {
        const equation_synonym *v = &set->synonym[k];
        ok = note_unknown(f, &index, v->model, v->variable, v->order, v->sign);
    }
    unknown_index_free(&index);
    return ok;
}

/* ---- unknowns and equations ---- */

static bool number_unknowns(model_form *f)
{
    const model_form *base = f->base;
    const equation_set *set = &f->formulated->set;
    f->unknown_variable = DAE_ARRAY(int, f->n);
    f->unknown_order = DAE_ARRAY(int, f->n);
    f->differential = DAE_ARRAY(bool, f->n);
    f->unknown_names = DAE_ARRAY(const char *, f->n);
    f->first_unknown = DAE_ARRAY(int, base->flat->variable_count);
    if (!f->unknown_variable || !f->unknown_order || !f->differential || !f->unknown_names ||
        !f->first_unknown)
        return false;
    for (int i = 0; i < f->n; i++) {
        int model = set->model[i];
        f->unknown_variable[i] = model >= 0 ? base->unknown_variable[model] : -1;
        f->unknown_order[i] = model >= 0 ? base->unknown_order[model] : f->formulated->order[i];
        f->unknown_names[i] = set->name[i];
    }
    for (size_t v = 0; v < base->flat->variable_count; v++) {
        int in_base = base->first_unknown[v];
        f->first_unknown[v] = in_base >= 0 ? f->place[in_base].unknown : -1;
    }
    return true;
}

/* Names of the compiled rows, then of the candidates. */
static bool name_rows(model_form *f)
{
    const formulated *y = f->formulated;
    size_t rows = (size_t)f->rows, all = rows + (size_t)y->candidates;
    f->equation_names = DAE_ARRAY(const char *, all);
    f->equation_lines = DAE_ARRAY(int, all);
    if (!f->equation_names || !f->equation_lines) return false;
    for (size_t r = 0; r < rows; r++) {
        f->equation_names[r] = y->set.row[r].name;
        f->equation_lines[r] = y->set.row[r].line;
    }
    for (int k = 0; k < y->candidates; k++) {
        char name[256];
        size_t at = text_append(name, sizeof name, 0, "definition of der(", sizeof name);
        at = text_append(name, sizeof name, at, f->unknown_names[y->candidate[k].unknown], 200);
        text_append(name, sizeof name, at, ")", 1);
        f->equation_names[rows + (size_t)k] = build_text(f, "", name, "");
        if (!f->equation_names[rows + (size_t)k]) return false;
    }
    return true;
}

/* ---- programs ---- */

typedef struct place_map {
    const model_form *f;
    bool failed;
} place_map;

/* An unknown of the base form, or its derivative, over the unknowns of the variant. */
static expr map_place(void *context, graph *g, expr leaf)
{
    place_map *map = context;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE) return leaf;
    const model_form *f = map->f;
    model_place at = node.order == 0 ? f->place[node.index] : f->place_slope[node.index];
    expr seen = (node.order == 0 ? f->value : f->value_slope)[node.index];
    if (node.order <= 1 && seen != EXPR_NONE) return seen;
    if (at.unknown < 0 || node.order > 1) {
        map->failed = true;
        return leaf;
    }
    expr e = graph_variable(g, at.unknown, at.slope);
    return at.sign > 0 ? e : graph_unary(g, EXPR_NEG, e);
}

/* What a program of the base form computes, over the unknowns of the variant. */
static bool carry_expressions(model_form *f, model_program *p, const model_program *base)
{
    expr *e = DAE_ARRAY(expr, base->outputs);
    place_map map = {f, false};
    for (size_t k = 0; e && k < base->outputs; k++)
        e[k] = graph_substitute(f->flat->graph, base->e[k], map_place, &map);
    bool ok = e && !map.failed && build_expressions(p, e, base->outputs);
    dae_free(e);
    return ok;
}

static bool carry_program(model_form *f, model_program *p, const model_program *base)
{
    return carry_expressions(f, p, base) && code_new(&p->code, f->flat->graph, p->e, p->outputs);
}

/* What is delayed, over the unknowns of the variant; none of it, where some is out of their reach.
 */
static bool carry_delayed(model_form *f)
{
    const size_t count = f->base->delayed ? f->flat->delay_count : 0;
    place_map map = {f, false};
    f->delayed = DAE_ARRAY(expr, count);
    for (size_t i = 0; f->delayed && i < count; i++)
        f->delayed[i] = graph_substitute(f->flat->graph, f->base->delayed[i], map_place, &map);
    const bool ok = f->delayed != NULL;
    if (map.failed || count == 0) {
        dae_free(f->delayed);
        f->delayed = NULL;
    }
    return ok;
}

/* The rows of the formulation with their derivatives. */
static bool differentiate_rows(build *b)
{
    model_form *f = b->f;
    b->equations = (size_t)f->rows;
    b->residuals = DAE_ARRAY(expr, b->equations);
    for (int r = 0; b->residuals && r < f->rows; r++)
        b->residuals[r] = f->formulated->set.row[r].residual;
    return b->residuals && build_differentiate(b, 0);
}

static bool compile_rows(build *b)
{
    return differentiate_rows(b) && build_pattern(b) && build_rows(b);
}

static bool carry_programs(model_form *f)
{
    const model_form *base = f->base;
    f->watch_count = base->watch_count;
    return carry_program(f, &f->crossing, &base->crossing) &&
           carry_program(f, &f->condition, &base->condition) &&
           carry_program(f, &f->output, &base->output) &&
           carry_program(f, &f->assertion, &base->assertion);
}

/* Values and slopes of what is seen through. */
static bool compile_seen(model_form *f, model_program *p)
{
    int count = f->seen_count;
    expr *e = DAE_ARRAY(expr, 2 * (size_t)count), zero = graph_constant(f->flat->graph, 0.0);
    for (int k = 0; e && k < count; k++) {
        expr here = f->value[f->seen[k]], slope = f->value_slope[f->seen[k]];
        e[k] = here == EXPR_NONE ? zero : here;
        e[count + k] = slope == EXPR_NONE ? zero : slope;
    }
    bool ok = e && build_program(f, p, e, 2 * (size_t)count);
    dae_free(e);
    return ok;
}

/* Programs of what follows, of what is seen through, and of the form that the variant offers. */
static bool compile_more(model_form *f)
{
    const form_plan *plan = f->formulated->plan;
    bool ok = build_followers(f, plan ? 1 + FORM_PROGRAMS : 0);
    if (!plan || !ok) return ok;
    ok = compile_seen(f, model_program_at(f, SEEN_THROUGH));
    const expr none = EXPR_NONE;
    for (int k = 0; ok && k < FORM_PROGRAMS; k++) {
        const form_program *p = &plan->program[k];
        ok = build_program(f, model_program_at(f, model_form_program(k)), p->e ? p->e : &none,
                           p->count);
    }
    return ok;
}

/* What a variant has in common with its base. */
static bool share(model_form *f)
{
    const model_form *base = f->base;
    f->flat = base->flat;
    f->parameters = base->parameters;
    f->parameter_set = base->parameter_set;
    f->start = base->start;
    f->start_moved = base->start_moved;
    f->attribute = base->attribute;
    f->eliminated = base->eliminated;
    f->visible_count = base->visible_count;
    f->condition_count = base->condition_count;
    f->settings_count = base->settings_count;
    f->resting = base->resting;
    f->unmet = f->undetermined = -1;
    f->alias = dae_copy(base->alias, base->flat->variable_count, sizeof *base->alias);
    f->visible = dae_copy(base->visible, (size_t)base->visible_count, sizeof *base->visible);
    f->settings = dae_copy(base->settings, base->settings_count, sizeof *base->settings);
    return f->alias && f->visible && f->settings;
}

/* Unknowns and names of equations. */
static bool begin_variant(model_form *f)
{
    f->n = f->formulated->set.n;
    f->rows = f->formulated->set.m;
    return share(f) && find_places(f) && number_unknowns(f) && name_rows(f);
}

/* Candidates for states are differential, too. */
static void mark_candidates(model_form *f)
{
    for (int k = 0; k < f->formulated->candidates; k++)
        f->differential[f->formulated->candidate[k].unknown] = true;
}

static bool assemble_variant(build *b)
{
    model_form *f = b->f;
    if (!begin_variant(f)) return false;
    if (!compile_rows(b) || !carry_programs(f) || !carry_delayed(f) || !compile_more(f))
        return false;
    if (!build_kinematics(f)) return false;
    if (!f->levels && !build_levels(f)) return false;
    mark_candidates(f);
    if (!build_rounded(f)) return false;
    for (size_t r = 0; f->seen_count > 0 && r < f->flat->relation_count; r++)
        f->rounded[r] |= f->base->rounded[r]; /* also of variables that are seen through */
    return !graph_failed(f->flat->graph);
}

/* A variant that is there for its initial system alone: no method runs it. */
static bool assemble_levels(build *b)
{
    model_form *f = b->f;
    bool ok = begin_variant(f) && differentiate_rows(b) &&
              build_expressions(&f->residual, b->residuals, b->equations) &&
              carry_expressions(f, &f->condition, &f->base->condition);
    build_free(b); /* the initial system has derivatives of its own */
    *b = (build){.f = f, .stopped_line = b->stopped_line, .dense = b->dense};
    ok = ok && build_levels(f);
    if (ok) mark_candidates(f);
    return ok && !graph_failed(f->flat->graph);
}

/* A variant that takes over y, and refers to *a; NULL: memory, and y is free. */
static model_form *variant_new(const model_form *base, analysed *a, formulated *y)
{
    model_form *f = DAE_NEW(model_form);
    formulated *own = DAE_NEW(formulated);
    if (!f || !own) {
        dae_free_all(f, own);
        formulated_free(y);
        return NULL;
    }
    *own = *y;
    *y = (formulated){0};
    f->base = base;
    f->code = base->code;
    f->borrowed = true; /* flat model and code are those of the base, also where it fails */
    f->analysed = a;
    f->analysed_borrowed = true;
    f->formulated = own;
    return f;
}

static dae_status compile_variant(model_form *f, bool (*assemble)(build *b), dae_diag *diag)
{
    build b = {.f = f};
    dae_status status = assemble(&b) ? DAE_OK : build_exhausted(&b, diag);
    build_free(&b);
    return status;
}

/* to[i] = where y_i^(more) of `from` is among the unknowns of `among`. */
static void place_among(const formulated *from, const formulated *among, const unknown_index *index,
                        int more, model_place *to)
{
    for (int i = 0; i < from->set.n; i++) {
        int j = from->variable[i], p = from->order[i] + more;
        to[i] = j < 0 ? (model_place){-1, false, 1} : place_of(among, index, j, p, from->sign[i]);
    }
}

/* Where the unknowns of the form with all levels are in f, and the other way round. */
static bool relate_levels(model_form *f)
{
    const formulated *here = f->formulated, *there = f->levels->formulated;
    unknown_index of_here = {0}, of_there = {0};
    f->level_place = DAE_ARRAY(model_place, there->set.n);
    f->of_level = DAE_ARRAY(model_place, here->set.n);
    f->of_level_slope = DAE_ARRAY(model_place, here->set.n);
    bool ok = f->level_place && f->of_level && f->of_level_slope &&
              unknown_index_new(&of_here, f->analysed, here) &&
              unknown_index_new(&of_there, f->analysed, there);
    if (ok) {
        place_among(there, here, &of_here, 0, f->level_place);
        place_among(here, there, &of_there, 0, f->of_level);
        place_among(here, there, &of_there, 1, f->of_level_slope);
    }
    unknown_index_free(&of_here);
    unknown_index_free(&of_there);
    return ok;
}

/* Whether functions from outside give the derivatives that the equations need. */
static dae_status check_signals(const model_form *f, dae_diag *diag)
{
    int order;
    bool failed;
    const graph_signal *s =
        graph_signal_lacking(f->flat->graph, f->residual.e, f->residual.outputs, &order, &failed);
    if (failed)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a formulation of the model.");
    if (!s) return DAE_OK;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "The equations are of higher index and need derivative %d of input %s, a "
                    "function that gives %d: let it give more, or give the input an expression or "
                    "a file.",
                    order, s->name, s->orders);
}

dae_status model_form_variant(const model_form *base, analysed *a, formulated *y,
                              formulated *levels, model_form **form, dae_diag *diag)
{
    *form = NULL;
    analysed *own = DAE_NEW(analysed);
    if (own) {
        *own = *a;
        *a = (analysed){0};
    }
    model_form *f = variant_new(base, own, y);
    model_form *all = levels ? variant_new(base, own, levels) : NULL;
    if (!own || !f || (levels && !all)) {
        model_form_free(f);
        model_form_free(all);
        analysed_free(own ? own : a);
        dae_free(own);
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a formulation of the model.");
    }
    f->analysed_borrowed = false;
    f->levels = all;
    dae_status status = compile_variant(f, assemble_variant, diag);
    if (status == DAE_OK && all) status = compile_variant(all, assemble_levels, diag);
    if (status == DAE_OK) status = check_signals(all ? all : f, diag);
    if (status == DAE_OK && all && !relate_levels(f))
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a formulation of the model.");
    if (status == DAE_OK)
        *form = f;
    else
        model_form_free(f);
    return status;
}

/* ---- the choice of states ---- */

static int chosen_count(const model_instance *m)
{
    return m->selection ? selection_count(m->selection) : 0;
}

static const kinematic *chosen_row(const model_instance *m, int r)
{
    return &m->form->formulated->candidate[selection_chosen(m->selection)[r]];
}

/* A term of a chosen row: weight (y_u' - sign y_next) */
typedef struct row_term {
    const kinematic *of;
    double weight;
} row_term;

static int term_count(const model_instance *m, int r)
{
    const int *candidate;
    const double *weight;
    return selection_terms(m->selection, r, &candidate, &weight);
}

static row_term term_at(const model_instance *m, int r, int k)
{
    const int *candidate;
    const double *weight;
    selection_terms(m->selection, r, &candidate, &weight);
    return (row_term){&m->form->formulated->candidate[candidate[k]], weight[k]};
}

bool instance_begin_selection(model_instance *m)
{
    const model_form *f = m->form;
    size_t n = (size_t)f->n;
    const position_choice *positions = f->formulated->positions;
    if (positions && !(m->positions = position_watch_new(positions, f->flat->graph))) return false;
    if (f->formulated->candidates == 0 || f->rows > f->n) return true;
    m->selection = selection_new(f->analysed, f->formulated);
    m->colptr = DAE_ARRAY(int, n + 1);
    size_t terms = m->selection ? (size_t)selection_most_terms(m->selection) : 0;
    m->rowind = DAE_ARRAY(int, (size_t)f->colptr[n] + 2 * terms);
    m->scatter = DAE_ARRAY(int, f->jacobian_outputs);
    m->kinematic_at = DAE_ARRAY(int, 2 * terms);
    m->equation_names = DAE_ARRAY(const char *, n);
    m->kinds = DAE_ARRAY(dae_kind, n);
    return m->selection && m->colptr && m->rowind && m->scatter && m->kinematic_at &&
           m->equation_names && m->kinds;
}

void instance_end_selection(model_instance *m)
{
    position_watch_free(m->positions);
    selection_free(m->selection);
    dae_free_all(m->colptr, m->rowind, m->scatter, m->kinematic_at);
    dae_free_all((void *)m->equation_names, m->kinds);
}

/* sum of weight (y_u' - sign y_next) = 0 */
void instance_kinematic_residual(const model_instance *m, const double *y, const double *yp,
                                 double *f)
{
    for (int r = 0, count = chosen_count(m); r < count; r++) {
        double sum = 0.0;
        for (int k = 0, terms = term_count(m, r); k < terms; k++) {
            const row_term term = term_at(m, r, k);
            sum += term.weight * (yp[term.of->unknown] - term.of->sign * y[term.of->next]);
        }
        f[m->form->rows + r] = sum;
    }
}

void instance_kinematic_jacobian(const model_instance *m, double *dfdy, double *dfdyp)
{
    const int *at = m->kinematic_at;
    for (int r = 0, count = chosen_count(m); r < count; r++)
        for (int k = 0, terms = term_count(m, r); k < terms; k++, at += 2) {
            const row_term term = term_at(m, r, k);
            dfdyp[at[0]] = term.weight;
            dfdy[at[1]] = -term.weight * term.of->sign;
        }
}

/* The pattern of the compiled rows with the chosen ones below them. */
static void write_pattern(model_instance *m)
{
    const model_form *f = m->form;
    int n = f->n, count = chosen_count(m), *fill = m->colptr + 1;
    for (int j = 0; j <= n; j++) m->colptr[j] = 0;
    for (int j = 0; j < n; j++) fill[j] = f->colptr[j + 1] - f->colptr[j];
    for (int r = 0; r < count; r++)
        for (int k = 0, terms = term_count(m, r); k < terms; k++) {
            fill[term_at(m, r, k).of->unknown]++;
            fill[term_at(m, r, k).of->next]++;
        }
    for (int j = 0; j < n; j++) m->colptr[j + 1] += m->colptr[j];
    for (int j = 0; j < n; j++)
        for (int k = f->colptr[j], to = m->colptr[j]; k < f->colptr[j + 1]; k++)
            m->rowind[to++] = f->rowind[k];
}

/* Where the entries of the chosen rows are, each column's behind its compiled rows. */
static void place_kinematics(model_instance *m, int *next)
{
    const model_form *f = m->form;
    for (int j = 0; j < f->n; j++) next[j] = m->colptr[j] + f->colptr[j + 1] - f->colptr[j];
    int *place = m->kinematic_at;
    for (int r = 0, count = chosen_count(m); r < count; r++)
        for (int k = 0, terms = term_count(m, r); k < terms; k++) {
            const kinematic *q = term_at(m, r, k).of;
            int columns[2] = {q->unknown, q->next};
            for (int side = 0; side < 2; side++) {
                int at = next[columns[side]]++;
                m->rowind[at] = f->rows + r;
                *place++ = at;
            }
        }
}

/* Positions of the compiled entries move by what was put in before their column. */
static void move_scatter(model_instance *m, int *moved)
{
    const model_form *f = m->form;
    for (int j = 0; j < f->n; j++)
        for (int k = f->colptr[j]; k < f->colptr[j + 1]; k++)
            moved[k] = m->colptr[j] - f->colptr[j];
    for (size_t k = 0; k < f->jacobian_outputs; k++) {
        int place = f->scatter[k], at = place >= 0 ? place : -1 - place;
        m->scatter[k] = place >= 0 ? at + moved[at] : -1 - (at + moved[at]);
    }
}

/* States are differential; what else has a kinematic equation is algebraic now. */
static void tell_kinds(model_instance *m)
{
    const formulated *y = m->form->formulated;
    memcpy(m->kinds, y->kinds, (size_t)m->form->n * sizeof *m->kinds);
    for (int k = 0; k < y->candidates; k++) m->kinds[y->candidate[k].unknown] = DAE_KIND_INDEX1;
    for (int r = 0, count = chosen_count(m); r < count; r++)
        m->kinds[chosen_row(m, r)->unknown] = DAE_KIND_DIFFERENTIAL;
}

bool model_instance_describe(model_instance *m, dae_residual *r)
{
    model_form *f = (model_form *)m->form;
    model_form_describe(f, r);
    r->user = m;
    if (f->formulated) r->kinds = f->formulated->kinds;
    if (!m->selection) return true;
    size_t entries = (size_t)f->colptr[f->n];
    int *work = DAE_ARRAY(int, entries > (size_t)f->n ? entries : (size_t)f->n);
    if (!work) return false;
    write_pattern(m);
    place_kinematics(m, work);
    move_scatter(m, work);
    dae_free(work);
    for (int i = 0; i < f->rows; i++) m->equation_names[i] = f->equation_names[i];
    tell_kinds(m);
    for (int k = 0, count = chosen_count(m); k < count; k++)
        m->equation_names[f->rows + k] =
            f->equation_names[f->rows + selection_chosen(m->selection)[k]];
    r->colptr = m->colptr;
    r->rowind = m->rowind;
    r->equation_names = m->equation_names;
    r->kinds = m->kinds;
    return true;
}

selection_status model_instance_select(model_instance *m, double t, const double *y,
                                       const double *yp, bool anew)
{
    if (!m->selection) return SELECTION_KEPT;
    model_instance_recall(m, t, y, yp);
    tape_inputs in = {
        .time = t, .values = {y, yp, NULL, NULL}, .parameters = m->parameters, .memory = m->memory};
    return anew ? selection_choose(m->selection, &in) : selection_watch(m->selection, &in);
}

position_status model_instance_look(model_instance *m, double t, const double *y, const double *yp)
{
    if (!m->positions) return POSITIONS_KEPT;
    model_instance_recall(m, t, y, yp);
    tape_inputs in = {
        .time = t, .values = {y, yp, NULL, NULL}, .parameters = m->parameters, .memory = m->memory};
    return position_watch_look(m->positions, &in);
}
