/* What the attributes of a model's variables say: options, start values, outputs. */
#include <math.h>

#include "base/memory.h"
#include "solve/bind/discrete.h"

/* ---- options ---- */

/* With initial equations, y tags: fixed values stay, others are guesses. */
static bool tag_fixed(const model_form *f, dae_options *options)
{
    dae_tag *tags = DAE_ARRAY(dae_tag, f->n);
    if (!tags) return false;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int sign, first = q->discrete ? -1 : f->first_unknown[hybrid_root(f, (int)v, &sign)];
        if (first >= 0 && q->fixed) tags[first] = DAE_TAG_FIXED;
    }
    options->y_tags = tags;
    return true;
}

/* atol_i = atol |nominal_i| */
static bool scale_by_nominal(const model_form *f, dae_options *options)
{
    double *atol = DAE_ARRAY(double, f->n);
    if (!atol) return false;
    for (int i = 0; i < f->n; i++) {
        int v = f->unknown_variable[i];
        double nominal = v < 0 ? 1.0 : fabs(model_form_constant(f, f->flat->variables[v].nominal));
        atol[i] = options->atol * (isfinite(nominal) && nominal > 0.0 ? nominal : 1.0);
    }
    options->atol_by_unknown = atol;
    return true;
}

static bool any_nominal(const model_form *f)
{
    for (size_t v = 0; v < f->flat->variable_count; v++)
        if (f->flat->variables[v].nominal != EXPR_NONE) return true;
    return false;
}

bool model_options(const model_form *f, dae_options *options)
{
    bool tags = f->overdetermined && !options->y_tags;
    bool nominal = any_nominal(f) && !options->atol_by_unknown;
    return (!tags || tag_fixed(f, options)) && (!nominal || scale_by_nominal(f, options));
}

/* ---- start values ---- */

/* The start value of flat variable v: set from outside, or its attribute; 0 if it is fixed without
 * one, NAN if there is none. */
double hybrid_start_value(const model_form *f, size_t v)
{
    const flat_variable *q = &f->flat->variables[v];
    if (!isnan(f->start[v])) return f->start[v];
    return q->fixed && !q->has_start && !q->discrete ? 0.0 : f->attribute[v];
}

bool hybrid_is_output(const model_form *f, int k)
{
    int v = f->visible[k];
    return !f->flat->variables[v].discrete && f->alias[f->alias[v].top].evaluated;
}
