/* Start values that came to nothing: those of outputs, which are computed, those that were set
 * from outside and gave way to the equations, and those of states that gave way to other start
 * values, which decided in their place. A fixed one never does. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/model_structure.h"
#include "solve/hybrid/hybrid_parts.h"

/* In tolerances: what a start may move a value by without a word. */
static const double MOVED = 10.0;
enum { MOST_NAMES = 4 };

/* A definition is none: its start value is a guess. */
static bool is_output(const model_form *f, int v)
{
    const model_alias *a = &f->alias[f->alias[v].top];
    return a->evaluated && !a->used;
}

/* Whether the start value of v might have been kept where start values had to decide. */
static bool is_state(const model_form *f, int v)
{
    const flat_variable *q = &f->flat->variables[v];
    int sign, first = f->first_unknown[hybrid_root(f, v, &sign)];
    return first >= 0 && f->differential[first] && q->has_start &&
           q->state_select >= SELECT_DEFAULT;
}

/* Whether v shall be a state, and start values alone decide. */
static bool is_wished(const model_form *f, int v)
{
    const flat_variable *q = &f->flat->variables[v];
    return q->has_start && q->state_select > SELECT_DEFAULT && f->condition.outputs == 0;
}

/* The start value of visible variable k that a user expects to see; NAN: none. A start value of
 * the text is a guess where something is solved for, and 0 stands in many texts without meaning. */
static double expected_start(const dae_solver *s, int k)
{
    const model_form *f = s->hybrid->instance->form;
    int v = f->visible[k];
    const flat_variable *q = &f->flat->variables[v];
    if (q->discrete) return (double)NAN;
    bool outside = model_start_is_outside(f, (size_t)v);
    if (!outside && !is_output(f, v) && !is_wished(f, v) &&
        !(s->hybrid->starts_chosen && is_state(f, v)))
        return (double)NAN;
    double start = hybrid_start_value(f, (size_t)v);
    return outside || start != 0.0 ? start : (double)NAN;
}

static bool came_to_nothing(const dae_solver *s, int k, const double *values)
{
    double start = expected_start(s, k), value = values[k];
    double size = fmax(fabs(start), fabs(value));
    return !isnan(start) && isfinite(value) &&
           fabs(value - start) > MOVED * (s->bound.options.rtol * size + s->bound.options.atol);
}

/* One note: the first such variable, why, and which others. */
static void tell_lost_start(dae_solver *s, int first, const double *values)
{
    const model_form *f = s->hybrid->instance->form;
    int v = f->visible[first], top = f->alias[v].top;
    dae_diag text;
    diag_clear(&text);
    diag_set(&text, DAE_OK,
             "note: %.200s:%d: %.200s begins with %.6g, and not with its start value %.6g: ",
             model_file(s), f->flat->variables[v].place.line, f->flat->variables[v].name,
             values[first], hybrid_start_value(f, (size_t)v));
    if (is_output(f, v)) {
        char *name = flat_equation_name(f->flat, &f->flat->equations[f->alias[top].equation]);
        diag_append(&text, "%.200s computes it, and no equation needs it.",
                    name ? name : "an equation");
        dae_free(name);
    } else
        diag_append(&text, "the equations and other start values decide it; fixed = true would "
                           "insist on it.");
    text_list list = text_list_in(&text, MOST_NAMES);
    for (int k = 0; k < f->visible_count; k++) {
        if (k == first || !came_to_nothing(s, k, values)) continue;
        if (list.count == 0) diag_append(&text, " Likewise: ");
        text_list_add(&list, "%.100s", f->flat->variables[f->visible[k]].name);
    }
    text_list_end(&list);
    if (list.count) diag_append(&text, ".");
    solver_note(s, text.text);
}

/* The first start value that came to nothing, one that decides before those of outputs; -1: none */
static int first_lost(const dae_solver *s, const double *values)
{
    const model_form *f = s->hybrid->instance->form;
    int first = -1;
    for (int k = 0; k < f->visible_count; k++) {
        if (!came_to_nothing(s, k, values)) continue;
        if (!is_output(f, f->visible[k])) return k;
        if (first < 0) first = k;
    }
    return first;
}

void hybrid_tell_lost_starts(dae_solver *s, double t)
{
    const model_form *f = s->hybrid->instance->form;
    bool any = false;
    for (int k = 0; k < f->visible_count && !any; k++) any = !isnan(expected_start(s, k));
    double *values = any && s->bound.options.message ? DAE_ARRAY(double, f->visible_count) : NULL;
    if (!values) return;
    model_instance_outputs(s->hybrid->instance, t, s->bound.y, s->bound.yp, values);
    int first = first_lost(s, values);
    if (first >= 0) tell_lost_start(s, first, values);
    dae_free(values);
}
