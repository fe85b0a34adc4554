#include "formulation/formulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "expr/derive.h"
#include "formulation/form_plan.h"
#include "formulation/formulation_parts.h"
#include "structure/rewrite/certificate.h"

bool formulated_new(formulated *f, const analysed *a, int n, int m, int candidates)
{
    *f = (formulated){0};
    if (!equation_set_new(&f->set, a->set.graph, n, m)) return false;
    f->set.parameter_name = a->set.parameter_name;
    f->variable = DAE_ARRAY(int, n);
    f->order = DAE_ARRAY(int, n);
    f->sign = DAE_ARRAY(signed char, n);
    f->kinds = DAE_ARRAY(dae_kind, n);
    f->hidden = DAE_ARRAY(bool, n);
    f->candidate = DAE_ARRAY(kinematic, candidates);
    f->candidates = candidates;
    f->texts = arena_new(0);
    for (int i = 0; f->variable && i < n; i++) f->variable[i] = -1;
    for (int i = 0; i < n; i++) f->set.model[i] = -1;
    if (f->variable && f->order && f->sign && f->kinds && f->hidden && f->candidate && f->texts)
        return true;
    formulated_free(f);
    return false;
}

void formulated_free(formulated *f)
{
    equation_set_free(&f->set);
    dae_free_all(f->variable, f->order, f->sign, f->kinds, f->hidden, f->candidate, f->defined);
    position_choice_free(f->positions);
    form_plan_free(f->plan);
    if (f->chooser.tape) code_free(&f->chooser);
    arena_free(f->texts);
    *f = (formulated){0};
}

static int compare_synonyms(const void *a, const void *b)
{
    const equation_synonym *p = a, *q = b;
    if (p->variable != q->variable) return p->variable < q->variable ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

/* The variable of the model that is sign * x_j^(p); NULL: none. Synonyms are sorted. */
static const equation_synonym *find_synonym(const equation_set *set, int j, int p)
{
    equation_synonym key = {.variable = j, .order = p};
    if (set->synonym_count == 0) return NULL;
    return bsearch(&key, set->synonym, (size_t)set->synonym_count, sizeof key, compare_synonyms);
}

void analysed_drop_derived(analysed *a)
{
    if (a->jacobian) system_jacobian_free(a->jacobian);
    if (a->mechanism) mechanical_free(a->mechanism);
    dae_free(a->jacobian);
    a->jacobian = NULL;
}

mechanical_status analysed_mechanism(const analysed *a, const equation_point *at,
                                     const mechanical **m, char *reason, size_t size)
{
    *m = a->mechanism;
    if (a->mechanism->q) return MECHANICAL_OK;
    return mechanical_recognise(&a->set, at, a->mechanism, reason, size);
}

void analysed_free(analysed *a)
{
    analysed_drop_derived(a);
    equation_set_free(&a->set);
    structure_free(&a->structure);
    dae_free_all(a->wish, a->mechanism);
    *a = (analysed){0};
}

bool formulated_stands_for(formulated *f, const analysed *a, int i, int j, int p)
{
    char name[512];
    const equation_synonym *other = p > 0 ? find_synonym(&a->set, j, p) : NULL;
    const char *text =
        other ? other->name : equation_set_variable(&a->set, j, p, name, sizeof name);
    f->variable[i] = j;
    f->order[i] = p;
    f->sign[i] = other ? (signed char)other->sign : 1;
    f->set.model[i] = p == 0 ? a->set.model[j] : other ? other->model : -1;
    f->hidden[i] = f->set.model[i] < 0;
    f->set.nominal[i] = a->set.nominal[j];
    f->set.name[i] = arena_text(f->texts, text, strlen(text));
    return f->set.name[i];
}

/* ---- where a derivative is among the unknowns ---- */

bool unknown_index_new(unknown_index *index, const analysed *a, const formulated *f)
{
    int n = a->set.n;
    *index = (unknown_index){.n = n, .start = DAE_ARRAY(int, n + 1)};
    if (!index->start) return false;
    for (int i = 0; i < f->set.n; i++)
        if (f->variable[i] >= 0 && f->order[i] + 2 > index->start[f->variable[i] + 1])
            index->start[f->variable[i] + 1] = f->order[i] + 2;
    for (int j = 0; j < n; j++) index->start[j + 1] += index->start[j];
    index->y = DAE_ARRAY(int, index->start[n]);
    if (!index->y) {
        unknown_index_free(index);
        return false;
    }
    for (int k = 0; k < index->start[n]; k++) index->y[k] = -1;
    for (int i = 0; i < f->set.n; i++)
        if (f->variable[i] >= 0) index->y[index->start[f->variable[i]] + f->order[i] + 1] = i;
    return true;
}

void unknown_index_free(unknown_index *index)
{
    dae_free_all(index->start, index->y);
    *index = (unknown_index){0};
}

/* The unknown that is x_j^(p); -1: none. */
int unknown_index_at(const unknown_index *index, int j, int p)
{
    bool there = p >= -1 && p + 1 < index->start[j + 1] - index->start[j];
    return there ? index->y[index->start[j] + p + 1] : -1;
}

static void note_order(void *context, const expr_node *node)
{
    int *highest = context;
    if (node->op == EXPR_VARIABLE && node->order > *highest) *highest = node->order;
}

static int compare_definitions(const void *a, const void *b)
{
    const definition *p = a, *q = b;
    if (p->variable != q->variable) return p->variable < q->variable ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

bool formulated_define(formulated *f, int j, int p, expr value)
{
    int count = f->defined_count;
    bool full = (count & (count + 1)) == 0; /* room for 1, 3, 7, .. */
    if (full) {
        definition *more = DAE_ARRAY(definition, 2 * count + 1);
        if (!more) return false;
        if (count > 0) memcpy(more, f->defined, (size_t)count * sizeof *more);
        dae_free(f->defined);
        f->defined = more;
    }
    for (; count > 0 && compare_definitions(&f->defined[count - 1], &(definition){j, p, 0}) > 0;
         count--)
        f->defined[count] = f->defined[count - 1];
    f->defined[count] = (definition){j, p, value};
    f->defined_count++;
    return value != EXPR_NONE;
}

expr formulated_definition(const formulated *f, int j, int p)
{
    definition key = {j, p, EXPR_NONE};
    if (f->defined_count == 0) return EXPR_NONE;
    const definition *found =
        bsearch(&key, f->defined, (size_t)f->defined_count, sizeof key, compare_definitions);
    return found ? found->value : EXPR_NONE;
}

typedef struct slope_map {
    const formulated *f;
    const unknown_index *index;
} slope_map;

/* y_i' is another unknown, if there is one that stands for it. */
static expr map_slope(void *context, graph *g, expr leaf)
{
    const slope_map *map = context;
    const formulated *f = map->f;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE || node.order != 1 || f->variable[node.index] < 0) return leaf;
    int u = unknown_index_at(map->index, f->variable[node.index], f->order[node.index] + 1);
    if (u < 0) return leaf;
    expr e = graph_variable(g, u, 0);
    return f->sign[u] * f->sign[node.index] > 0 ? e : graph_unary(g, EXPR_NEG, e);
}

/* x_j^(p) by its definition, or by the derivative of that of x_j^(p-1), if that needs no more than
 * y and y'. */
static expr defined_derivative(const formulated *f, const unknown_index *index, int j, int p)
{
    graph *g = f->set.graph;
    expr e = formulated_definition(f, j, p);
    if (e != EXPR_NONE) return e;
    e = p > 0 ? formulated_definition(f, j, p - 1) : EXPR_NONE;
    if (e != EXPR_NONE) e = derive_time(g, e);
    int highest = 0;
    if (e == EXPR_NONE || !graph_leaves(g, &e, 1, note_order, &highest)) return EXPR_NONE;
    slope_map map = {f, index};
    return highest <= 1 ? graph_substitute(g, e, map_slope, &map) : EXPR_NONE;
}

expr formulated_derivative(const formulated *f, const unknown_index *index, int j, int p)
{
    int here = unknown_index_at(index, j, p), below = unknown_index_at(index, j, p - 1);
    int i = here >= 0 ? here : below;
    if (i < 0 || formulated_definition(f, j, p) != EXPR_NONE)
        return defined_derivative(f, index, j, p);
    expr e = graph_variable(f->set.graph, i, here >= 0 ? 0 : 1);
    return f->sign[i] > 0 ? e : graph_unary(f->set.graph, EXPR_NEG, e);
}

typedef struct reach {
    const formulated *f;
    const unknown_index *index;
    bool failed;
} reach;

static expr map_derivative(void *context, graph *g, expr leaf)
{
    reach *r = context;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE) return leaf;
    expr e = formulated_derivative(r->f, r->index, node.index, node.order);
    if (e == EXPR_NONE) r->failed = true;
    return e == EXPR_NONE ? leaf : e;
}

expr formulated_expression(const formulated *f, const unknown_index *index, expr e)
{
    reach r = {f, index, false};
    expr mapped = graph_substitute(f->set.graph, e, map_derivative, &r);
    return r.failed ? EXPR_NONE : mapped;
}

/* ---- rows ---- */

bool formulated_row(formulated *f, const analysed *a, int r, int i, int times, expr residual)
{
    equation_row *row = &f->set.row[r];
    *row = a->set.row[i];
    row->residual = residual;
    row->times += times;
    if (row->times == 0) return true;
    char name[512];
    const char *how = row->times == 1 ? "once" : row->times == 2 ? "twice" : NULL;
    size_t at = text_append(name, sizeof name, 0, a->set.row[i].name, 400);
    at = text_append(name, sizeof name, at, ", differentiated ", sizeof name);
    if (how) at = text_append(name, sizeof name, at, how, sizeof name);
    if (!how) at = text_append_number(name, sizeof name, at, (size_t)row->times);
    if (!how) at = text_append(name, sizeof name, at, " times", sizeof name);
    row->name = arena_text(f->texts, name, at);
    return row->name;
}
