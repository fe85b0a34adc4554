#include "solve/watch/released_watch.h"

#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "solve/watch/watch.h"

/* A constraint that is not met by so many tolerances, and by so much more than those that are kept,
 * does not follow from them: what drift and projections leave is of their size. */
static const double FAR = 1e3, MORE = 1e2;
/* So are fewer tolerances, if they are this part of what is in the constraint: small values, whose
 * absolute tolerance is large for them. */
static const double NEAR = 10.0, PART = 1e-2;

/* |F| over what the tolerances of its variables make of it; *part: over what their sizes do */
static double misfit(const dae_solver *s, const released_watch *w, const released_row *r,
                     double *part)
{
    const dae_options *o = &s->base_options;
    int n = s->base->form.n;
    double size = 0.0, whole = 0.0, f = fabs(w->value[r->first]);
    for (int k = r->first + 1; k <= r->first + r->count; k++) {
        const released_slot *at = &w->slots[k];
        double seen = at->order > 0 ? 0.0 : s->run.sizes[at->index];
        double value = fmax(fabs(w->y[at->order > 0 ? n + at->index : at->index]), seen);
        size += fabs(w->value[k]) * (o->rtol * value + o->atol);
        whole += fabs(w->value[k]) * value;
    }
    *part = whole > 0.0 ? f / whole : 0.0;
    return size > 0.0 ? f / size : 0.0;
}

static bool evaluate(dae_solver *s, released_watch *w, double t)
{
    const model_instance *m = s->modes->base_instance;
    int n = s->base->form.n;
    if (!w->y || w->own_n < s->bound.n) {
        dae_free(w->y);
        w->y = DAE_ARRAY(double, 2 * (size_t)(n + s->bound.n));
        if (!w->y) return false;
        w->own = w->y + 2 * n;
        w->own_n = s->bound.n;
    }
    solver_interpolate(s, t, 0, w->own);
    solver_interpolate(s, t, 1, w->own + s->bound.n);
    values_to_user(s, t, w->own, w->own + s->bound.n, w->y, w->y + n);
    model_instance_recall(s->hybrid->instance, t, NULL, NULL);
    tape_inputs in = {t, {w->y, w->y + n}, m->parameters, s->hybrid->instance->memory};
    code_prepare(&w->code, &in);
    code_run(&w->code, &in, w->value);
    return true;
}

static dae_status report(dae_solver *s, const released_watch *w, const released_row *r, double t)
{
    enum { MOST = 4 };
    text_list list = text_list_in(&s->diag, MOST);
    diag_equation(&s->diag, -1, r->name);
    s->diag.line = r->line;
    s->diag.t = t;
    s->diag.value = w->value[r->first];
    diag_set(&s->diag, DAE_ERR_SINGULAR, "These constraints cannot hold together any more: %s and ",
             r->name);
    for (int k = 0; k < w->count; k++)
        if (!w->rows[k].released) text_list_add(&list, "%s", w->rows[k].name);
    text_list_end(&list);
    diag_append(&s->diag,
                ". They restrict the same motion and did agree before, but at t = %.9g the first "
                "is off by %.6g where the other%s. Correct one of them, or leave it out.",
                t, w->value[r->first], list.count == 1 ? " holds" : "s hold");
    return DAE_ERR_SINGULAR;
}

static dae_status look_at(dae_solver *s, released_watch *w, double t)
{
    double kept = 0.0, worst = 0.0, part, share = 0.0;
    int at = -1;
    if (!evaluate(s, w, t)) return plan_exhausted(&s->diag);
    for (int k = 0; k < w->count; k++) {
        double off = misfit(s, w, &w->rows[k], &part);
        if (!w->rows[k].released) kept = fmax(kept, off);
        if (w->rows[k].released && off > worst) worst = off, share = part, at = k;
    }
    bool far = worst > FAR || (worst > NEAR && share > PART);
    bool apart = at >= 0 && far && worst > MORE * kept;
    return apart ? report(s, w, &w->rows[at], t) : DAE_OK;
}

/* The same for constraints of callbacks. */
static dae_status look_at_forms(dae_solver *s)
{
    double off = 0.0;
    int l = form_instance_apart(s->bound.forms, s->run.t_new, s->run.last.y, s->bound.norm.weights,
                                FAR, MORE, &off);
    if (l < 0) return DAE_OK;
    diag_equation(&s->diag, -1, form_instance_constraint_name(s->bound.forms, l));
    s->diag.t = s->run.t_new;
    s->diag.value = off;
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "Constraint %s cannot hold any more together with the constraints that it "
                    "followed from before: at t = %.9g it is off by %.6g where they hold. Correct "
                    "one of them, or leave it out.",
                    s->diag.equation_name, s->run.t_new, off);
}

dae_status released_watch_step(dae_solver *s)
{
    if (s->bound.forms && !s->hybrid && !binding_uses_forms(&s->bound)) return look_at_forms(s);
    if (!is_formulated(s) || !s->modes->current->plan.released) return DAE_OK;
    released_watch *w = s->modes->current->plan.released;
    dae_status status = look_at(s, w, s->run.t_new);
    if (status == DAE_OK) return status;
    dae_diag later = s->diag;
    dae_status before = look_at(s, w, s->run.t_old); /* where they part */
    if (before == DAE_OK) s->diag = later;
    return status;
}
