/* Fixed start values are kept, or the start fails. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "solve/begin/begin.h"

/* How far a value may be from the fixed one it stands for, relative to its size and to its nominal
 * value; and the part of the latter that is rounding, whatever the absolute tolerance is. */
static const double SAME = 1e-6, ROUNDING = 1e-12;

static double allowed_way(const dae_solver *s, int i, double start)
{
    const double nominal = model_form_nominal(s->base->model, i), atol = model_atol(s, i);
    return SAME * fabs(start) + fmin(fmax(atol, ROUNDING * nominal), SAME * nominal);
}

/* Whether reinit has set unknown i of the model in the event at hand. */
static bool is_set(const dae_solver *s, int i)
{
    model_place at = place_of(s, i, false);
    return at.unknown >= 0 && !at.slope && s->hybrid->is_held[at.unknown];
}

static dae_status refuse_moved(dae_solver *s, double t, int v, double start, double value)
{
    const flat_variable *q = &s->base->model->flat->variables[v];
    diag_variable(&s->diag, v, q->name);
    s->diag.line = q->place.line;
    s->diag.t = t;
    s->diag.value = value;
    return diag_set(&s->diag, DAE_ERR_INITIAL,
                    "The fixed start value %.9g of %s (%s:%d) does not satisfy the equations and "
                    "their derivatives; near it they hold with %.9g. Free it, or another one.",
                    start, q->name, model_file(s), q->place.line, value);
}

dae_status check_fixed_starts(dae_solver *s, double t)
{
    const model_form *f = s->base->model;
    const bool other = is_formulated(s);
    const int *fixed_by = other ? s->modes->fixed_by : s->hybrid->fixed_by;
    const double *start = other ? s->modes->start : s->hybrid->start;
    double *y = user_values(s);
    if (!y) return plan_exhausted(&s->diag);
    dae_status status = DAE_OK;
    for (int i = 0; status == DAE_OK && i < f->n; i++) {
        int v = fixed_by[i];
        if (v < 0 || is_set(s, i) || !(fabs(y[i] - start[i]) > allowed_way(s, i, start[i])))
            continue;
        int sign = f->alias[v].top_sign;
        status = refuse_moved(s, t, v, sign * start[i], sign * y[i]);
    }
    dae_free(y);
    return status;
}
