/* Questions one can ask a solver, and what can be set on the way. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "solve/begin/begin.h"

const char *dae_solver_method(const dae_solver *s)
{
    return !s ? NULL : (s->bound.waits ? s->bound.waits : s->bound.method)->name;
}

const char *dae_solver_linear(const dae_solver *s)
{
    return s && s->wishes.iterative && s->bound.matrix.matrix_free ? s->why_linear : "";
}

const char *dae_solver_choice(const dae_solver *s)
{
    return s && s->wishes.open ? s->why : "";
}

double dae_solver_time(const dae_solver *s)
{
    return s ? s->run.t : NAN;
}

void dae_solver_last_step(const dae_solver *s, double *start, double *end)
{
    if (start) *start = s ? s->run.t_old : NAN;
    if (end) *end = s ? s->run.t_new : NAN;
}

const int *dae_solver_events(const dae_solver *s)
{
    return s && s->bound.events ? event_finder_flags(s->bound.events) : NULL;
}

const dae_stats *dae_solver_stats(const dae_solver *s)
{
    return s ? &s->stats : NULL;
}

const dae_diag *dae_solver_diag(const dae_solver *s)
{
    return s ? &s->diag : NULL;
}

double dae_solver_condition(dae_solver *s)
{
    return s ? iteration_condition(&s->bound.matrix) : -1.0;
}

dae_status dae_solver_local_errors(const dae_solver *s, double *errors)
{
    if (!s || !errors) return DAE_ERR_ARGUMENT;
    bool accepted =
        s->run.last.t + s->run.last.h == s->run.t_new; /* not so after a rejected attempt */
    if (s->run.phase < PHASE_RUNNING || !s->run.last.estimate || !accepted) return DAE_ERR_STATE;
    if (solver_rewritten(s)) { /* of a variant: variables of the base that are no unknowns: 0 */
        values_to_user(s, s->run.t_new, s->run.last.estimate, NULL, errors, NULL);
        for (int i = 0; i < s->base->form.n; i++) errors[i] *= s->run.last.error_constant;
        return DAE_OK;
    }
    for (int i = 0; i < s->bound.n; i++)
        errors[i] = s->run.last.error_constant * s->run.last.estimate[i];
    return DAE_OK;
}

/* What was made ahead of the start was made for other options. */
static void close_opening(dae_solver *s)
{
    if (s->hybrid) s->hybrid->opening.stands = false;
}

dae_status dae_solver_set_tolerances(dae_solver *s, double rtol, double atol)
{
    if (!s) return DAE_ERR_ARGUMENT;
    diag_clear(&s->diag);
    bool sound = isfinite(rtol) && isfinite(atol) && rtol >= 0.0 && atol >= 0.0;
    if (!sound || rtol + atol <= 0.0)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "Tolerances rtol = %g, atol = %g: both must be finite and not negative, "
                        "and one of them positive.",
                        rtol, atol);
    dae_free_all((void *)s->bound.options.rtol_by_unknown,
                 (void *)s->bound.options.atol_by_unknown);
    s->bound.options.rtol_by_unknown = s->bound.options.atol_by_unknown = NULL;
    s->bound.norm.rtol_by_unknown = s->bound.norm.atol_by_unknown = NULL;
    dae_free_all((void *)s->base_options.rtol_by_unknown, (void *)s->base_options.atol_by_unknown);
    s->base_options.rtol_by_unknown = s->base_options.atol_by_unknown = NULL;
    s->bound.options.rtol = s->bound.norm.rtol = s->base_options.rtol = rtol;
    s->bound.options.atol = s->bound.norm.atol = s->base_options.atol = atol;
    if (!s->bound.options.weights) s->bound.finest_rtol = rtol;
    close_opening(s);
    if (s->run.phase == PHASE_NEW) return DAE_OK;
    solver_interpolate(s, s->run.t_new, 0, s->bound.work);
    return solver_update_weights(s, s->run.t_new, s->bound.work);
}

dae_status dae_solver_set_stop_time(dae_solver *s, double stop_time)
{
    if (!s) return DAE_ERR_ARGUMENT;
    diag_clear(&s->diag);
    if (isinf(stop_time))
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "The stop time is infinite; use NAN for no stop time.");
    s->bound.options.stop_time = s->base_options.stop_time = stop_time;
    close_opening(s);
    return DAE_OK;
}
