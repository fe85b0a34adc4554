/* Values of all variables of a model along a run, its engine and its end. */
#include <math.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/api/model_values.h"
#include "solve/hybrid/hybrid_parts.h"
#include "solve/run/run.h"

dae_status dae_solver_variables(dae_solver *s, double t, double *values)
{
    if (!s || !values) return DAE_ERR_ARGUMENT;
    if (!s->hybrid) return dae_solver_at(s, t, 0, values);
    dae_status status = solver_check_point(s, t, "dae_solver_variables");
    if (status == DAE_OK) status = solver_ask(s, t);
    if (status != DAE_OK) return status;
    hybrid_variables(s, hybrid_take_row(s, t), s->bound.at_y, s->bound.at_yp, values);
    const char *without = hybrid_without_value(s, values);
    return without ? explain_no_row(s, t, without) : DAE_OK;
}

dae_status dae_solver_derivatives(dae_solver *s, double t, double *values)
{
    if (!s || !values) return DAE_ERR_ARGUMENT;
    if (!s->hybrid) return DAE_OK;
    const struct model_listing *l = s->base->model->listing;
    dae_status status = solver_check_point(s, t, "dae_solver_derivatives");
    if (status == DAE_OK) status = solver_ask(s, t);
    if (status == DAE_OK) t = hybrid_take_row(s, t);
    if (status == DAE_OK) look_at_eliminated(s, t, s->bound.at_y, s->bound.at_yp);
    for (int k = 0; status == DAE_OK && k < l->derivative_count; k++) {
        const model_derivative *d = &l->derivatives[k];
        model_place at = place_of(s, d->unknown, !d->is_unknown);
        double value = at.unknown < 0
                           ? value_of_eliminated(s, d->unknown, !d->is_unknown)
                           : at.sign * (at.slope ? s->bound.at_yp : s->bound.at_y)[at.unknown];
        values[k] = d->sign * value;
    }
    return status;
}

dae_engine dae_solver_engine(const dae_solver *s)
{
    if (!s || !s->hybrid) return DAE_ENGINE_AUTO;
    bool native = s->hybrid->instance->native || s->hybrid->own->native;
    for (int k = 0; s->modes && k < s->modes->count; k++)
        native = native || (s->modes->list[k]->instance && s->modes->list[k]->instance->native);
    return native ? DAE_ENGINE_NATIVE : DAE_ENGINE_TAPE;
}

dae_status dae_solver_finish(dae_solver *s)
{
    if (!s) return DAE_ERR_ARGUMENT;
    if (s->diag.status != DAE_OK) diag_clear(&s->diag);
    if (s->run.phase == PHASE_NEW)
        return diag_set(&s->diag, DAE_ERR_STATE, "dae_solver_finish was called before a start.");
    if (s->hybrid) output_doubt_tell(s);
    if (s->observer) s->observer->finished(s->observer->user);
    if (!s->hybrid || s->run.phase == PHASE_ENDED) return DAE_OK;
    dae_status status = s->hybrid->pending ? hybrid_update(s) : DAE_OK;
    return status == DAE_OK && s->run.phase != PHASE_ENDED ? hybrid_finish(s) : status;
}
