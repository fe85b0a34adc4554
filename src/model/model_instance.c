/* Instances of a model: the callbacks of its residual form, and values at a point. */
#include "model/model_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/model_code.h"
#include "model/model_pieces.h"
#include "model/model_structure.h"
#include "model/model_tangent.h"
#include "model/model_watch.h"

model_instance *model_instance_new(const model_form *f)
{
    model_instance *m = DAE_NEW(model_instance);
    if (!m) return NULL;
    m->form = f;
    size_t total = 0, size[MOST_PROGRAMS];
    int programs = model_program_count(f);
    for (int k = 0; k < programs; k++) {
        const expr_code *c = &model_program_at((model_form *)f, k)->code;
        size[k] = c->work_size;
        total += size[k];
    }
    m->parameters = DAE_ARRAY(double, f->flat->parameter_count + (size_t)f->pinned_count);
    m->memory = DAE_ARRAY(double, f->flat->memory_count);
    m->jacobian_values = DAE_ARRAY(double, f->jacobian_outputs);
    m->work = DAE_ARRAY(double, total);
    if (!m->parameters || !m->memory || !m->jacobian_values || !m->work ||
        !model_name_equations(f)) {
        model_instance_free(m);
        return NULL;
    }
    double *at = m->work;
    for (int k = 0; k < programs; k++, at += size[k - 1]) m->work_of[k] = at;
    if (f->formulated && !instance_begin_selection(m)) {
        model_instance_free(m);
        return NULL;
    }
    model_instance_load(m);
    model_code_adopt(m);
    return m;
}

void model_instance_free(model_instance *m)
{
    if (!m) return;
    model_code_note(m);
    dae_free_all(m->parameters, m->memory, m->jacobian_values, m->work);
    instance_end_selection(m);
    for (int k = 0; k < MOST_PROGRAMS; k++) model_pieces_free(m->pieces[k]);
    row_program_free(m->rows);
    dae_free(m);
}

void model_instance_load(model_instance *m)
{
    if (m->form->parameters)
        memcpy(m->parameters, m->form->parameters,
               m->form->flat->parameter_count * sizeof *m->parameters);
    model_instance_prepare(m);
}

void model_instance_follow(model_instance *m, const model_instance *from)
{
    const flat_model *flat = m->form->flat;
    memcpy(m->memory, from->memory, (size_t)flat->memory_count * sizeof(double));
    memcpy(m->parameters, from->parameters, flat->parameter_count * sizeof(double));
    m->delays = from->delays;
    model_instance_prepare(m);
}

static tape_inputs inputs_at(const model_instance *m, double t, const double *y, const double *yp)
{
    return (tape_inputs){
        .time = t, .values = {y, yp, NULL, NULL}, .parameters = m->parameters, .memory = m->memory};
}

void model_instance_prepare(model_instance *m)
{
    tape_inputs in = inputs_at(m, 0.0, NULL, NULL);
    for (int k = 0; k < model_program_count(m->form); k++) {
        const expr_code *c = &model_program_at((model_form *)m->form, k)->code;
        if (c->tape) tape_prepare(c->tape, &in, m->work_of[k]);
        model_pieces_prepare(m->pieces[k], &in);
    }
    row_program_prepare(m->rows, &in);
    if (m->selection) selection_prepare(m->selection, &in);
    if (m->positions) position_watch_prepare(m->positions, &in);
}

void model_instance_run(model_instance *m, int k, double t, const double *a, const double *b,
                        const double *c, double *out)
{
    if (m->delays) { /* other programs have unknowns of their own */
        bool of_form = k <= SEEN_THROUGH;
        model_instance_recall(m, t, of_form ? a : NULL, of_form ? b : NULL);
    }
    model_pieces *pieces = m->pieces[k];
    if (m->function[k] && (!pieces || !pieces->native)) {
        m->function[k](t, a, b, c, m->parameters, m->memory, out);
        return;
    }
    const expr_code *program = &model_program_at((model_form *)m->form, k)->code;
    tape_inputs in = inputs_at(m, t, a, b);
    in.values[2] = c;
    if (pieces) {
        m->runs[k] += model_pieces_run(pieces, m->threads, &in, out);
        return;
    }
    tape_run(program->tape, &in, m->work_of[k], out);
    m->runs[k]++;
}

int model_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    model_instance *m = user;
    model_instance_run(m, 0, t, y, yp, NULL, f);
    if (m->selection) instance_kinematic_residual(m, y, yp, f);
    return 0;
}

int model_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                   void *user)
{
    model_instance *m = user;
    const model_form *f = m->form;
    const int *scatter = m->scatter ? m->scatter : f->scatter;
    model_instance_run(m, 1, t, y, yp, NULL, m->jacobian_values);
    instance_kinematic_jacobian(m, dfdy, dfdyp);
    model_scatter(m->threads, f->jacobian_outputs, scatter, m->jacobian_values, dfdy, dfdyp);
    return 0;
}

/* A crossing function that the equations hold at zero (the current of an open switch) shows the
 * rounding of the solver, which is no event. */
static int model_events(double t, const double *y, const double *yp, double *g, void *user)
{
    const model_instance *m = user;
    model_instance_run(user, 2, t, y, yp, NULL, g);
    for (size_t r = 0; r < m->form->flat->relation_count; r++)
        if (m->form->rounded[r] && fabs(g[r]) <= m->noise) g[r] = 0.0;
    for (size_t r = m->form->flat->relation_count; r < m->form->crossing.outputs; r++)
        if (!isfinite(g[r])) g[r] = 0.0; /* a condition that cannot be told is no end of the run */
    return 0;
}

static int model_conditions(double t, const double *y, const double *yp, double *b, void *user)
{
    model_instance_run(user, 3, t, y, yp, NULL, b);
    return 0;
}

void model_instance_crossings(model_instance *m, double t, const double *y, const double *yp,
                              double *out)
{
    model_instance_run(m, 2, t, y, yp, NULL, out);
}

void model_instance_outputs(model_instance *m, double t, const double *y, const double *yp,
                            double *out)
{
    model_instance_run(m, 4, t, y, yp, NULL, out);
}

void model_instance_assertions(model_instance *m, double t, const double *y, const double *yp,
                               double *out)
{
    model_instance_run(m, 5, t, y, yp, NULL, out);
}

typedef struct point_scan {
    const model_instance *m;
    double t;
    const double *y, *yp;
} point_scan;

/* Where the order-th derivative of a root is among the unknowns of a base form. */
static model_place locate_in_base(const model_form *f, int root, int order)
{
    int first = f->first_unknown[root], last = first;
    while (last + 1 < f->n && f->unknown_variable[last + 1] == root) last++;
    if (first >= 0 && first + order <= last) return (model_place){first + order, false, 1};
    bool slope = first >= 0 && first + order == last + 1;
    return (model_place){slope ? last : -1, slope, 1};
}

/* Where the order-th derivative of the root of an alias class is; unknown -1: nowhere. */
static model_place model_form_locate(const model_form *f, int root, int order)
{
    if (!f->base) return locate_in_base(f, root, order);
    model_place at = locate_in_base(f->base, root, order);
    if (at.unknown < 0) return at;
    return at.slope ? f->place_slope[at.unknown] : f->place[at.unknown];
}

/* Value of an unknown of a variant, or of its slope. */
static double unknown_leaf(void *context, const expr_node *leaf)
{
    const point_scan *at = context;
    if (leaf->op == EXPR_TIME) return at->t;
    if (leaf->op == EXPR_PARAMETER) return at->m->parameters[leaf->index];
    if (leaf->op == EXPR_MEMORY) return at->m->memory[leaf->index];
    return (leaf->order > 0 ? at->yp : at->y)[leaf->index];
}

/* Value of a variable that a variant sees through; NAN: it is none. */
static double seen_value(const point_scan *at, int root, int order)
{
    const model_form *f = at->m->form;
    if (!f->base) return NAN;
    model_place in_base = locate_in_base(f->base, root, order);
    if (in_base.unknown < 0) return NAN;
    expr e = (in_base.slope ? f->value_slope : f->value)[in_base.unknown];
    return e == EXPR_NONE ? NAN : graph_value(f->flat->graph, e, unknown_leaf, (void *)at);
}

/* Value of an unknown of the base form, or of its slope, at a point. */
static double base_leaf(void *context, const expr_node *leaf)
{
    const point_scan *at = context;
    const model_form *f = at->m->form, *base = f->base ? f->base : f;
    if (leaf->op != EXPR_VARIABLE) return unknown_leaf(context, leaf);
    int root = base->unknown_variable[leaf->index];
    int order = base->unknown_order[leaf->index] + leaf->order;
    if (order == 0 && root >= 0 && base->alias[root].of_time != EXPR_NONE)
        return graph_value(f->flat->graph, base->alias[root].of_time, unknown_leaf, context);
    if (!f->base) return unknown_leaf(context, leaf);
    model_place place = model_form_locate(f, root, order);
    if (place.unknown < 0) return seen_value(at, root, order);
    return place.sign * (place.slope ? at->yp : at->y)[place.unknown];
}

/* Value of a flat leaf at a point. */
static double point_leaf(void *context, const expr_node *leaf)
{
    const point_scan *at = context;
    const model_form *f = at->m->form;
    if (leaf->op == EXPR_TIME) return at->t;
    if (leaf->op == EXPR_PARAMETER) return at->m->parameters[leaf->index];
    if (leaf->op == EXPR_MEMORY) return at->m->memory[leaf->index];
    int sign, root = model_alias_root(f, leaf->index, &sign);
    if (f->alias[root].evaluated)
        return sign * graph_value(f->flat->graph, f->alias[root].mapped, base_leaf, context);
    if (f->alias[root].value != EXPR_NONE)
        return leaf->order > 0
                   ? 0.0
                   : sign * graph_value(f->flat->graph, f->alias[root].value, point_leaf, context);
    if (leaf->order == 0 && f->alias[root].of_time != EXPR_NONE)
        return sign * graph_value(f->flat->graph, f->alias[root].of_time, unknown_leaf, context);
    model_place place = model_form_locate(f, root, leaf->order);
    if (place.unknown < 0) return sign * seen_value(at, root, leaf->order);
    return sign * place.sign * (place.slope ? at->yp : at->y)[place.unknown];
}

double model_instance_value_now(const model_instance *m, double t, const double *y,
                                const double *yp, expr e)
{
    point_scan at = {m, t, y, yp};
    return model_value_of(m->form, e, point_leaf, &at);
}

double model_instance_value(model_instance *m, double t, const double *y, const double *yp, expr e)
{
    model_instance_recall(m, t, y, yp);
    return model_instance_value_now(m, t, y, yp, e);
}

void model_form_describe(model_form *f, dae_residual *r)
{
    *r = (dae_residual){.n = f->n,
                        .f = model_residual,
                        .jacobian = model_jacobian,
                        .rows = model_rows,
                        .jacobian_rows = model_jacobian_rows,
                        .structure = DAE_STRUCTURE_SPARSE,
                        .colptr = f->colptr,
                        .rowind = f->rowind,
                        .variable_names = (const char *const *)f->unknown_names,
                        .equation_names = (const char *const *)f->equation_names};
    if (f->borrowed && !f->base) return;
    if (f->crossing.outputs > 0) {
        r->event_count = (int)f->crossing.outputs;
        r->event_function = model_events;
    }
    if (f->condition_count > 0 && !f->initial &&
        !f->base) { /* too many for a square initial system */
        r->condition_count = (int)f->condition_count;
        r->conditions = model_conditions;
    }
}

/* ---- expressions over the unknowns of a form ---- */

typedef struct form_map {
    const model_form *f;
    bool failed; /* a variable is out of reach */
} form_map;

/* An unknown of the base form, or its slope, over the unknowns of f. */
static expr map_base_leaf(void *context, graph *g, expr leaf)
{
    form_map *map = context;
    const model_form *f = map->f;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE || !f->base) return leaf;
    if (node.order <= 1) {
        expr seen = (node.order ? f->value_slope : f->value)[node.index];
        model_place at = (node.order ? f->place_slope : f->place)[node.index];
        if (seen != EXPR_NONE) return seen;
        if (at.unknown >= 0) {
            expr e = graph_variable(g, at.unknown, at.slope);
            return at.sign > 0 ? e : graph_unary(g, EXPR_NEG, e);
        }
    }
    map->failed = true;
    return leaf;
}

/* The order-th derivative of the root of an alias class over the unknowns of f. */
static expr map_root(form_map *map, graph *g, int root, int order)
{
    const model_form *base = map->f->base ? map->f->base : map->f;
    model_place at = locate_in_base(base, root, order);
    if (at.unknown < 0) {
        map->failed = true;
        return EXPR_NONE;
    }
    return map_base_leaf(map, g, graph_variable(g, at.unknown, at.slope));
}

/* A flat variable over the unknowns of f. */
static expr map_flat_leaf(void *context, graph *g, expr leaf)
{
    form_map *map = context;
    const model_form *f = map->f;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE) return leaf;
    int sign, root = model_alias_root(f, node.index, &sign);
    const model_alias *q = &f->alias[root];
    expr e;
    if (q->evaluated && node.order > 0) {
        map->failed = true; /* outputs and definitions have no slope here */
        return leaf;
    }
    if (q->evaluated)
        e = graph_substitute(g, q->mapped, map_base_leaf, map);
    else if (q->value != EXPR_NONE)
        e = node.order > 0 ? graph_constant(g, 0.0) : q->value;
    else
        e = map_root(map, g, root, node.order);
    if (e == EXPR_NONE) return leaf;
    return sign > 0 ? e : graph_unary(g, EXPR_NEG, e);
}

expr model_form_mapped(const model_form *f, expr e)
{
    form_map map = {f, false};
    graph *g = f->flat->graph;
    if (e == EXPR_NONE) return EXPR_NONE;
    graph_enter(g);
    expr mapped = graph_substitute(g, e, map_flat_leaf, &map);
    graph_leave(g);
    return map.failed ? EXPR_NONE : mapped;
}

void model_instance_followers(model_instance *m, double t, const double *y, const double *yp,
                              double *out)
{
    model_instance_run(m, FOLLOWERS, t, y, yp, NULL, out);
}
