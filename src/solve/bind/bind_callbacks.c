/* Binding callbacks: as they are, in another form, or as the residual problem of a formulation. */
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "solve/bind/array_callbacks.h"
#include "solve/bind/solver.h"

/* Tolerances and tags of unknowns that are only behind those of the user. */
static bool extend_options(dae_options *o, int n, int longer)
{
    double *rtol = o->rtol_by_unknown ? DAE_ARRAY(double, longer) : NULL;
    double *atol = o->atol_by_unknown ? DAE_ARRAY(double, longer) : NULL;
    dae_tag *tags[2] = {o->y_tags ? DAE_ARRAY(dae_tag, longer) : NULL,
                        o->yp_tags ? DAE_ARRAY(dae_tag, longer) : NULL};
    bool ok = (rtol || !o->rtol_by_unknown) && (atol || !o->atol_by_unknown) &&
              (tags[0] || !o->y_tags) && (tags[1] || !o->yp_tags);
    for (int i = 0; ok && i < longer; i++) {
        if (rtol) rtol[i] = i < n ? o->rtol_by_unknown[i] : o->rtol;
        if (atol) atol[i] = i < n ? o->atol_by_unknown[i] : o->atol;
        if (tags[0]) tags[0][i] = i < n ? o->y_tags[i] : DAE_TAG_GUESS;
        if (tags[1]) tags[1][i] = i < n ? o->yp_tags[i] : DAE_TAG_GUESS;
    }
    options_free(o);
    o->rtol_by_unknown = rtol;
    o->atol_by_unknown = atol;
    o->y_tags = tags[0];
    o->yp_tags = tags[1];
    return ok;
}

/* The residual problem of the plan in place of the user's, with unknowns behind theirs. */
static dae_status bind_rewritten(binding *b, plan *p, dae_diag *diag)
{
    if (!form_instance_rewrite(b->forms, p->rewriting, p->parameter))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the choice of positions.");
    if (!p->rewritten) return DAE_OK;
    int n = b->n, longer = p->rewritten->form.n;
    b->problem = b->rewritten = p->rewritten;
    p->rewritten = NULL;
    b->n = longer;
    b->multipliers = DAE_ARRAY(bool, longer);
    if (!b->multipliers || !extend_options(&b->options, n, longer))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", longer);
    for (int i = n; i < longer; i++) b->multipliers[i] = true;
    return DAE_OK;
}

/* Callbacks in another form: for the method as they are, or as a residual. */
static dae_status bind_forms(dae_solver *s, plan *p, dae_diag *diag)
{
    binding *b = &s->bound;
    const form_source *source = s->base->forms;
    b->forms = form_instance_new(source, b->method->forms, &b->eval);
    if (!b->forms) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the problem's form.");
    b->form_set = form_instance_set(b->forms);
    return binding_uses_forms(b) ? DAE_OK : bind_rewritten(b, p, diag);
}

/* Residual callbacks as y' = phi(t, y), for methods on manifolds. */
static dae_status bind_explicit(dae_solver *s, dae_diag *diag)
{
    binding *b = &s->bound;
    b->eval = (evaluator){
        .problem = b->problem, .stats = &s->stats, .stop = &s->stop, .threads = s->threads};
    b->ode = ode_form_new(&b->eval);
    if (!b->ode) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for y' = phi(t, y).");
    b->form_set = ode_form_set(b->ode);
    return DAE_OK;
}

/* Residual callbacks by their derivative array. */
static dae_status bind_array_of(dae_solver *s, dae_diag *diag)
{
    binding *b = &s->bound;
    dae_status status = callback_array_new(&b->array, s->base, &s->stats, &s->stop, diag);
    if (status == DAE_OK) b->problem = b->array->problem;
    return status;
}

/* Everything but the problem goes. */
static void unbind(dae_solver *s)
{
    binding *b = &s->bound;
    binding_empty(b);
    options_free(&b->options);
    ode_form_free(b->ode);
    callback_array_free(b->array);
    form_instance_free(b->forms); /* before what its source belongs to */
    dae_problem_free(b->rewritten);
    dae_free(b->multipliers);
    long choices = b->choices;
    *b = (binding){.problem = s->base,
                   .n = s->base->form.n,
                   .unknowns = &unknowns_as_given,
                   .choices = choices};
}

dae_status bind_callbacks(dae_solver *s, dae_diag *diag)
{
    plan p = {0};
    unbind(s);
    dae_status status = options_copy(&s->bound.options, &s->base_options, s->bound.n, diag);
    if (status == DAE_OK) status = prepare_plan(s->base, NULL, &s->wishes, &p, diag);
    if (status == DAE_OK) {
        s->bound.method = p.method;
        memcpy(s->why, p.why, sizeof s->why);
        if (s->base->forms)
            status = bind_forms(s, &p, diag);
        else if (s->wishes.formulation->by_array)
            status = bind_array_of(s, diag);
        else if (p.method->forms & FORM_MANIFOLD)
            status = bind_explicit(s, diag);
    }
    solve_plan_free(&p);
    return status == DAE_OK ? binding_fill(s, diag) : status;
}
