/* Values at a time of the last step, as good as they are asked for. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/explain/explain.h"
#include "solve/run/run.h"
#include "solve/watch/watch.h"

/* Rounding in a time of this size. */
double time_slack(const dae_solver *s)
{
    return 100.0 * DBL_EPSILON * fmax(fabs(s->run.t_new), fabs(s->run.t_old));
}

/* Where the last step begins; behind an event within it, which has changed discrete values, there.
 */
static double last_beginning(const dae_solver *s)
{
    const double event = s->hybrid ? s->hybrid->event_time : NAN;
    bool within = s->run.phase != PHASE_READY && (event - s->run.t_old) * s->run.direction > 0.0 &&
                  (s->run.t_new - event) * s->run.direction >= 0.0;
    return within ? event : s->run.t_old;
}

bool in_last_step(const dae_solver *s, double t)
{
    const double slack = time_slack(s), from = last_beginning(s);
    return t >= fmin(from, s->run.t_new) - slack && t <= fmax(from, s->run.t_new) + slack;
}

void solver_forget_stop(dae_solver *s)
{
    s->stop = (eval_failure){0};
}

dae_status solver_heed_stop(dae_solver *s, dae_status status)
{
    if (s->stop.code == 0) return status;
    s->bound.eval.failure = s->stop;
    solver_forget_stop(s);
    bool told = status == DAE_ERR_CALLBACK || status == DAE_ERR_MEMORY;
    return told || status == DAE_ERR_INTERRUPTED ? status : explain_evaluation(s, EVAL_STOP);
}

/* Whether t lies between the end of the last step and the point, a moment later, at which the
 * solver has begun again: beyond a kink or a jump. */
static bool is_skipped(const dae_solver *s, double t)
{
    return s->run.phase == PHASE_READY && s->run.t_old != s->run.t_new && t != s->run.t_new;
}

/* Values there: differential variables along their slopes, the others by the equations at t; where
 * these have none, as they come after it. */
static dae_status find_skipped(dae_solver *s, double t)
{
    const double delta = t - s->run.t_new;
    for (int j = 0; j < s->bound.n; j++)
        if (s->bound.kinds[j] == DAE_KIND_DIFFERENTIAL) s->bound.at_y[j] += delta * s->bound.yp[j];
    const eval_status projected =
        initializer_project(s->bound.init, t, delta, s->bound.kinds, s->bound.norm.weights,
                            s->bound.at_y, s->bound.at_yp);
    return projected == EVAL_STOP ? explain_evaluation(s, projected) : DAE_OK;
}

static dae_status find_point(dae_solver *s, double t)
{
    solver_interpolate(s, t, 0, s->bound.at_y);
    solver_interpolate(s, t, 1, s->bound.at_yp);
    bool some = s->bound.norm.exempt_count > 0; /* cannot be interpolated */
    bool wanted = s->bound.options.project_output, rough = output_is_rough(s, t);
    if (is_skipped(s, t)) return find_skipped(s, t);
    if (s->run.phase == PHASE_READY || s->bound.method->raw_output) return DAE_OK;
    if (some && !wanted) return binding_uses_forms(&s->bound) ? DAE_OK : output_beside_jump(s, t);
    bool refined = false, checked = !some && !s->run.control.fixed && output_is_between(s, t);
    dae_status status = checked ? refine_point(s, t, &refined) : DAE_OK;
    if (status != DAE_OK || !(wanted || rough) || binding_uses_forms(&s->bound)) return status;
    if (checked && !wanted) return output_polish(s, t);
    if (!wanted) {
        eval_status corrected = output_correct(s, t);
        if (corrected == EVAL_STOP) return explain_evaluation(s, corrected);
        if (corrected == EVAL_OK) return DAE_OK;
    }
    initializer *output_projector = binding_output_projector(&s->bound);
    if (!output_projector)
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for an output.");
    eval_status projected =
        initializer_project(output_projector, t, s->run.t_new - s->run.t_old, s->bound.kinds,
                            s->bound.norm.weights, s->bound.at_y, s->bound.at_yp);
    return projected == EVAL_STOP ? explain_evaluation(s, projected) : DAE_OK;
}

dae_status solver_point(dae_solver *s, double t)
{
    solver_forget_stop(s);
    dae_status status = solver_heed_stop(s, find_point(s, t));
    if (status != DAE_OK || vector_finite(s->bound.n, s->bound.at_y)) return status;
    int i = 0;
    while (isfinite(s->bound.at_y[i])) i++;
    diag_variable(&s->diag, i, problem_variable(s->bound.problem, i));
    return explain_no_row(s, t, problem_variable(s->bound.problem, i));
}

dae_status solver_ask(dae_solver *s, double t)
{
    const run_observer *o = s->observer;
    dae_status status = o && o->asked ? o->asked(o->user, t, false) : DAE_OK;
    return status == DAE_OK ? solver_point(s, t) : status;
}

/* Whether values at t can be asked for. */
dae_status solver_check_point(dae_solver *s, double t, const char *call)
{
    if (s->diag.status != DAE_OK) diag_clear(&s->diag);
    if (s->run.phase == PHASE_NEW)
        return diag_set(&s->diag, DAE_ERR_STATE, "%s was called before a start.", call);
    if (in_last_step(s, t)) return DAE_OK;
    return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                    "%s: t = %.17g is outside the last step [%.17g, %.17g].", call, t,
                    last_beginning(s), s->run.t_new);
}

int dae_solver_tableau(dae_solver *s, int row, int column, double *y)
{
    if (!s) return DAE_ERR_ARGUMENT;
    const struct method *m = s->bound.method;
    if (m && !m->tableau)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "dae_solver_tableau: method %s does not extrapolate; liex does.", m->name);
    int rows = m && s->run.phase >= PHASE_RUNNING
                   ? m->tableau(s->bound.state, &s->bound.context, row, column, s->bound.at_y)
                   : 0;
    if (rows == 0)
        return diag_set(&s->diag, DAE_ERR_STATE,
                        "dae_solver_tableau: there is no step yet, or an event came behind it.");
    if (!y) return rows;
    if (row < 0 || row >= rows || column < 0 || column > row)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "dae_solver_tableau: there is no entry in row %d, column %d; the tableau "
                        "has rows 0 to %d, and columns up to the row.",
                        row, column, rows - 1);
    solver_interpolate(s, s->run.t_new, 1, s->bound.at_yp);
    values_to_user(s, s->run.t_new, s->bound.at_y, s->bound.at_yp, y, NULL);
    return rows;
}

dae_status dae_solver_at(dae_solver *s, double t, int derivative, double *y)
{
    if (!s) return DAE_ERR_ARGUMENT;
    dae_status status = solver_check_point(s, t, "dae_solver_at");
    if (status != DAE_OK) return status;
    if (!y || derivative < 0 || derivative > 1)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "dae_solver_at: y must not be NULL, derivative must be 0 or 1, not %d.",
                        derivative);
    bool plain = !s->bound.options.project_output && s->bound.norm.exempt_count == 0 &&
                 !output_is_between(s, t) && !is_skipped(s, t);
    if (plain && !solver_rewritten(s)) {
        solver_forget_stop(s);
        solver_interpolate(s, t, derivative, y);
        return solver_heed_stop(s, DAE_OK);
    }
    status = solver_ask(s, t);
    if (status != DAE_OK) return status;
    values_to_user(s, t, s->bound.at_y, s->bound.at_yp, derivative ? NULL : y,
                   derivative ? y : NULL);
    return DAE_OK;
}
