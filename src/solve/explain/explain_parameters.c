/* Values of parameters that take the rank which the structure promises: equations depend on each
 * other at a = 1 only. What a start fails with then is a consequence, and comes last. */
#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/memory.h"
#include "model/analyse.h"
#include "solve/explain/explain.h"

/* A parameter is moved by this part of its value; larger models, and more parameters than these,
 * are not tried. */
static const double MOVED = 0.01;
enum { LARGEST = 100, MOST_PARAMETERS = 40, MOST_EQUATIONS = 4 };

typedef struct parameter_scan {
    bool *used;
    size_t count;
} parameter_scan;

static void note_parameter(void *context, const expr_node *node)
{
    parameter_scan *scan = context;
    if (node->op == EXPR_PARAMETER && (size_t)node->index < scan->count)
        scan->used[node->index] = true;
}

/* Whether structure and numbers agree at a point without a rewriting; false as well: memory. */
static bool is_regular(const model_form *f, const mode_slots *slots, const model_point *at)
{
    model_analysis a;
    if (model_analyse(f, slots, at, &a, NULL) != DAE_OK) return false;
    bool regular = a.numbers_agree && a.rewrites.count == 0;
    model_analysis_free(&a);
    return regular;
}

/* A parameter whose value alone makes the equations depend on each other; -1 */
static int special_parameter(const model_form *f, const mode_slots *slots, const model_point *at,
                             double *values)
{
    size_t count = f->flat->parameter_count;
    parameter_scan scan = {DAE_ARRAY(bool, count), count};
    int found = -1, tried = 0;
    bool ok = scan.used && graph_leaves(f->flat->graph, f->residual.e, f->residual.outputs,
                                        note_parameter, &scan);
    for (size_t p = 0; ok && found < 0 && p < count && tried < MOST_PARAMETERS; p++) {
        const flat_parameter *q = &f->flat->parameters[p];
        double value = values[p];
        if (!scan.used[p] || q->constant || q->type != FLAT_REAL || !isfinite(value)) continue;
        tried++;
        values[p] = value == 0.0 ? MOVED : value * (1.0 + MOVED);
        if (is_regular(f, slots, at)) found = (int)p;
        values[p] = value;
    }
    dae_free(scan.used);
    return found;
}

/* "With a = 1, equation 1 (m.mo:6) and equation 2 (m.mo:7) depend on each other", then the text as
 * it was. */
static void tell_parameter(dae_solver *s, const model_analysis *a, int parameter, double value)
{
    const flat_parameter *q = &s->base->model->flat->parameters[parameter];
    const certificate *c = &a->certificate;
    dae_diag before = s->diag;
    diag_set(&s->diag, before.status, "With %s = %.6g (line %d)", q->name, value, q->place.line);
    for (int k = 0; k < c->row_count && k < MOST_EQUATIONS; k++)
        diag_append(&s->diag, "%s %s",
                    k == 0                  ? ","
                    : k + 1 == c->row_count ? " and"
                                            : ",",
                    a->reduced.set.row[c->row[k]].name);
    if (c->row_count == 1)
        diag_append(&s->diag, " determines nothing new; with another value it does. %s",
                    before.text);
    else
        diag_append(&s->diag, "%s depend on each other; with another value they do not. %s",
                    c->row_count > 0 ? "" : ", equations", before.text);
    if (c->row_count > 0) {
        const equation_row *row = &a->reduced.set.row[c->row[0]];
        diag_equation(&s->diag, row->source, row->name);
        s->diag.line = row->line;
    }
}

static void look_at(dae_solver *s, const mode_slots *slots, const model_point *at, double *values)
{
    const model_form *f = s->base->model;
    model_analysis a;
    if (model_analyse(f, slots, at, &a, NULL) != DAE_OK) return;
    bool special = !a.written.singular && (!a.numbers_agree || a.rewrites.count > 0);
    int parameter = special ? special_parameter(f, slots, at, values) : -1;
    if (parameter >= 0) tell_parameter(s, &a, parameter, values[parameter]);
    model_analysis_free(&a);
}

dae_status explain_parameters(dae_solver *s, double t, dae_status status)
{
    const model_form *f = s->hybrid && s->base->model ? s->base->model : NULL;
    if (!f || f->n > LARGEST || f->resting || status == DAE_ERR_MEMORY) return status;
    const model_instance *m = s->hybrid->instance;
    double *y = DAE_ARRAY(double, 2 * f->n);
    double *values = dae_copy(m->parameters, f->flat->parameter_count, sizeof *values);
    mode_slots slots = {0};
    graph_enter(f->flat->graph);
    if (y && values && mode_slots_find(&slots, f)) {
        model_point at = {t, y, y + f->n, values, m->memory};
        look_at(s, &slots, &at, values);
    }
    graph_recover(f->flat->graph);
    graph_leave(f->flat->graph);
    mode_slots_free(&slots);
    dae_free_all(values, y);
    return status;
}
