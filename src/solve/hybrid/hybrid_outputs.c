/* Values of all variables at a point, outputs among them, and a note if one of these has none. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "base/vector.h"
#include "solve/explain/explain_model.h"
#include "solve/hybrid/hybrid_parts.h"

static bool is_undefined(const model_form *f, int k, const double *values)
{
    return !isfinite(values[k]) && hybrid_is_output(f, k);
}

/* The first output from number k on whose value is not finite; -1 */
static int undefined_from(const model_form *f, int k, const double *values)
{
    for (; k < f->visible_count; k++)
        if (is_undefined(f, k, values)) return k;
    return -1;
}

/* Memory as the relations stand at the very point. */
static void read_relations(hybrid *h, double t, const double *y, const double *yp)
{
    model_instance *m = h->instance;
    const flat_model *flat = m->form->flat;
    const double *g = h->crossing_ahead;
    model_instance_crossings(m, t, y, yp, h->crossing_ahead);
    for (size_t r = 0; r < flat->relation_count; r++)
        if (isfinite(g[r]))
            m->memory[flat->relations[r].memory] =
                flat->relations[r].strict ? g[r] < 0.0 : g[r] <= 0.0;
}

/* At an event a relation holds its value from before, though rounding may have taken its argument
 * over the crossing: if x > 0 then sqrt(x) has no value there. Take what is undefined with the
 * relations as they stand. */
static void settle_relations(hybrid *h, double t, const double *y, const double *yp, double *values)
{
    model_instance *m = h->instance;
    const model_form *f = m->form;
    const size_t bytes = (size_t)f->flat->memory_count * sizeof(double);
    memcpy(h->before, m->memory, bytes); /* free between events */
    read_relations(h, t, y, yp);
    model_instance_prepare(m);
    model_instance_outputs(m, t, y, yp, h->outputs);
    for (int k = 0; k < f->visible_count; k++)
        if (is_undefined(f, k, values)) values[k] = h->outputs[k];
    memcpy(m->memory, h->before, bytes);
    model_instance_prepare(m);
}

enum { MOST_NAMES = 4 };

/* One note: the first output that has no value for the first time, why, and which others. */
static void tell_undefined(dae_solver *s, double t, const double *y, const double *yp, int first,
                           const double *values)
{
    hybrid *h = s->hybrid;
    const model_form *f = h->instance->form;
    int equation = f->alias[f->alias[f->visible[first]].top].equation;
    dae_diag text;
    diag_clear(&text);
    diag_set(&text, DAE_OK, "note: %.200s:%d: %.200s = %g at t = %.9g.", model_file(s),
             f->flat->equations[equation].place.line, f->flat->variables[f->visible[first]].name,
             values[first], t);
    explain_output(h->instance, t, y, yp, first, &text);
    text_list list = text_list_in(&text, MOST_NAMES);
    for (int k = first; k >= 0; k = undefined_from(f, k + 1, values)) {
        const char *name = f->flat->variables[f->visible[k]].name;
        bool fresh = k > first && !h->undefined[k];
        h->undefined[k] = true;
        if (fresh && list.count == 0) diag_append(&text, " Without a value, too: ");
        if (fresh) text_list_add(&list, "%.100s", name);
    }
    text_list_end(&list);
    bool used = f->alias[f->alias[f->visible[first]].top].used;
    diag_append(&text, "%s", list.count ? "." : "");
    if (!used) diag_append(&text, " No equation needs %s:", list.count ? "them" : "it");
    diag_append(&text, used ? " The run goes on." : " the run goes on.");
    solver_note(s, text.text);
}

/* Such are variables that the formulation sees through: they are evaluated from others, which the
 * method may bring where there is no value. */
const char *hybrid_without_value(const dae_solver *s, const double *values)
{
    const model_form *f = s->hybrid->instance->form;
    if (vector_finite(f->visible_count, values)) return NULL;
    for (int k = 0; k < f->visible_count; k++) {
        const flat_variable *v = &f->flat->variables[f->visible[k]];
        if (!isfinite(values[k]) && !v->discrete && !hybrid_is_output(f, k)) return v->name;
    }
    return NULL;
}

void hybrid_variables(dae_solver *s, double t, const double *y, const double *yp, double *values)
{
    model_instance *m = s->hybrid->instance;
    const model_form *f = m->form;
    model_instance_outputs(m, t, y, yp, values);
    int first = undefined_from(f, 0, values);
    if (first < 0) output_doubt_row(s, t, y, yp, values);
    if (first < 0) return;
    if (f->flat->relation_count > 0) settle_relations(s->hybrid, t, y, yp, values);
    for (int k = first; k < f->visible_count; k++)
        if (isnan(values[k])) values[k] = (double)NAN; /* without a sign */
    for (first = undefined_from(f, first, values); first >= 0;
         first = undefined_from(f, first + 1, values))
        if (!s->hybrid->undefined[first]) break;
    if (first >= 0) tell_undefined(s, t, y, yp, first, values);
}
