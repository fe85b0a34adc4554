/* Algebraic variables between the ends of a step, by the equations that determine them. */
#include <math.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/explain/explain.h"
#include "solve/watch/watch.h"

/* Corrections below the first part of the tolerance end the iteration; one that stops to shrink is
 * good enough below the second. */
static const double ENOUGH = 0.01, TOLERABLE = 0.1;
enum { MOST_CORRECTIONS = 4 };

/* Values that were found good are not moved by more: where equations magnify the errors of
 * differential variables, as those of stabilised constraints do, the interpolant knows better. */
static const double PLAUSIBLE = 2.0;

static bool has_bounds(const dae_residual *form)
{
    return form->lower_bounds || form->upper_bounds;
}

/* F need not exist outside the bounds. */
static void keep_within_bounds(const dae_residual *form, double *y)
{
    if (!has_bounds(form)) return;
    for (int j = 0; j < form->n; j++) {
        if (form->lower_bounds) y[j] = fmax(y[j], form->lower_bounds[j]);
        if (form->upper_bounds) y[j] = fmin(y[j], form->upper_bounds[j]);
    }
}

/* A step that ends where it was told to may be one unit of rounding short of that: what an
 * interpolant is off by goes to nothing towards the ends of a step. */
static const double AT_THE_END = 1e-10;

bool output_is_between(const dae_solver *s, double t)
{
    if (!s->bound.method->rough_between || s->run.phase == PHASE_READY) return false;
    double near = AT_THE_END * fabs(s->run.t_new - s->run.t_old);
    return fabs(t - s->run.t_old) > near && fabs(t - s->run.t_new) > near;
}

bool output_is_solved(const dae_solver *s)
{
    bool some = false;
    if (!s->bound.method->rough_between) return false;
    for (int j = 0; j < s->bound.n; j++) {
        if (s->bound.kinds[j] > DAE_KIND_INDEX1) return false;
        some = some || s->bound.kinds[j] == DAE_KIND_INDEX1;
    }
    return some;
}

bool output_is_rough(const dae_solver *s, double t)
{
    return output_is_between(s, t) && output_is_solved(s);
}

/* Whether as many equations have no y' as there are algebraic variables. */
static bool is_semi_explicit(const dae_solver *s, const iteration *it)
{
    int excess = 0;
    for (int j = 0; j < s->bound.n; j++)
        excess += (s->bound.kinds[j] == DAE_KIND_INDEX1) - it->constraint_row[j];
    return excess == 0;
}

/* work = the index-1 part of (dF/dy + cj dF/dy')^-1 F(t, at_y, at_yp) with the factors of the step;
 * where equations have no y', of these alone: then it is Newton's correction but for O(1/cj) */
static eval_status correction(dae_solver *s, iteration *it, double t, bool semi_explicit)
{
    eval_status status = evaluate_residual(&s->bound.eval, t, s->bound.at_y, s->bound.at_yp,
                                           s->bound.work, &s->stats.residuals);
    if (status != EVAL_OK) return status;
    for (int i = 0; semi_explicit && i < s->bound.n; i++)
        if (!it->constraint_row[i]) s->bound.work[i] = 0.0;
    if (iteration_solve(it, NULL, s->bound.work) != ITERATION_OK) return EVAL_RETRY;
    for (int j = 0; j < s->bound.n; j++)
        if (s->bound.kinds[j] != DAE_KIND_INDEX1) s->bound.work[j] = 0.0;
    return EVAL_OK;
}

eval_status output_correct(dae_solver *s, double t)
{
    iteration *it = defect_matrix(s);
    const eval_failure failure = s->bound.eval.failure;
    double last = INFINITY;
    eval_status status = EVAL_RETRY;
    if (!it) return EVAL_RETRY;
    const bool semi_explicit = is_semi_explicit(s, it);
    keep_within_bounds(&s->bound.problem->form, s->bound.at_y);
    for (int k = 0; k < MOST_CORRECTIONS; k++) {
        status = correction(s, it, t, semi_explicit);
        if (status != EVAL_OK) break;
        double size = norm_of(&s->bound.norm, s->bound.work, s->bound.norm.scale);
        if (!(size < last)) break;
        vector_axpy(s->bound.n, -1.0, s->bound.work, s->bound.at_y);
        keep_within_bounds(&s->bound.problem->form, s->bound.at_y);
        last = size;
        if (size <= ENOUGH) break;
    }
    if (status != EVAL_STOP) s->bound.eval.failure = failure;
    if (status == EVAL_STOP) return status;
    return last <= TOLERABLE ? EVAL_OK : EVAL_RETRY;
}

dae_status output_project(dae_solver *s, double t)
{
    initializer *output_projector = binding_output_projector(&s->bound);
    if (!output_projector)
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for an output.");
    const eval_status status =
        initializer_project(output_projector, t, s->run.t_new - s->run.t_old, s->bound.kinds,
                            s->bound.norm.weights, s->bound.at_y, s->bound.at_yp);
    return status == EVAL_STOP ? explain_evaluation(s, status) : DAE_OK;
}

/* Whether F has a value at t, in at_y and at_yp; else which callback or equation has none. */
static dae_status check_value(dae_solver *s, double t)
{
    const eval_failure failure = s->bound.eval.failure;
    const eval_status status = evaluate_residual(&s->bound.eval, t, s->bound.at_y, s->bound.at_yp,
                                                 s->bound.work, &s->stats.residuals);
    if (status == EVAL_OK) return DAE_OK;
    const dae_status found = explain_evaluation(s, status);
    if (status == EVAL_RETRY) s->bound.eval.failure = failure;
    if (found == DAE_ERR_EVALUATION)
        diag_append(&s->diag,
                    " Values within the step [%.9g, %.9g] cannot be computed to the tolerances "
                    "without it.",
                    s->run.t_old, s->run.t_new);
    return found;
}

/* Whether no variable was moved beyond what is plausible for values that were found good. */
static bool moved_little(const dae_solver *s)
{
    for (int j = 0; j < s->bound.n; j++)
        if (!(fabs(s->bound.at_y[j] - s->bound.y[j]) * s->bound.norm.scale[j] <= PLAUSIBLE))
            return false;
    return true;
}

dae_status output_solve(dae_solver *s, double t)
{
    const bool small = defect_is_small(s);
    vector_copy(s->bound.n, s->bound.at_y, s->bound.y);
    const eval_status status = output_correct(s, t);
    if (status == EVAL_STOP) return explain_evaluation(s, status);
    if (status == EVAL_OK && (!small || moved_little(s) || defect_prefers_equations(s, t)))
        return DAE_OK;
    solver_interpolate(s, t, 0, s->bound.at_y);
    if (!small) {
        const dae_status projected = output_project(s, t);
        if (projected != DAE_OK) return projected;
    }
    return check_value(s, t);
}

/* Whether all of at_y lies between the ends of the step, in s->bound.y and s->bound.yp, or not
 * farther from them than they are from each other and MARGIN tolerances. */
static bool is_beside_ends(const dae_solver *s)
{
    static const double MARGIN = 1e3;
    for (int j = 0; j < s->bound.n; j++) {
        double low = fmin(s->bound.y[j], s->bound.yp[j]),
               high = fmax(s->bound.y[j], s->bound.yp[j]);
        double room = high - low + MARGIN * s->bound.norm.weights[j];
        if (!(s->bound.at_y[j] >= low - room && s->bound.at_y[j] <= high + room)) return false;
    }
    return true;
}

/* The method's own values, with variables that jump no farther than the ends of the step. */
static dae_status keep_between_ends(dae_solver *s, double t)
{
    bool refined = false;
    solver_interpolate(s, t, 0, s->bound.at_y);
    solver_interpolate(s, t, 1, s->bound.at_yp);
    dae_status status = refine_point(s, t, &refined);
    if (status != DAE_OK) return status;
    solver_interpolate(s, s->run.t_old, 0, s->bound.y); /* free during a run */
    solver_interpolate(s, s->run.t_new, 0, s->bound.yp);
    for (int j = 0; j < s->bound.n; j++) {
        if (s->bound.norm.exempt[j] == 0) continue;
        s->bound.at_y[j] = fmax(s->bound.at_y[j], fmin(s->bound.y[j], s->bound.yp[j]));
        s->bound.at_y[j] = fmin(s->bound.at_y[j], fmax(s->bound.y[j], s->bound.yp[j]));
    }
    return DAE_OK;
}

/* at_y, at_yp = values of a second run where the interpolant of what does not jump will not do, and
 * one can be had. */
static dae_status refine_beside_jump(dae_solver *s, double t)
{
    bool refined = false;
    dae_status status = refine_point(s, t, &refined);
    if (status != DAE_ERR_CONVERGENCE && status != DAE_ERR_EVALUATION) return status;
    diag_clear(&s->diag);
    solver_interpolate(s, t, 0, s->bound.at_y);
    solver_interpolate(s, t, 1, s->bound.at_yp);
    return DAE_OK;
}

dae_status output_beside_jump(dae_solver *s, double t)
{
    if (t == s->run.t_old || t == s->run.t_new) return DAE_OK;
    dae_status refined = refine_beside_jump(s, t);
    if (refined != DAE_OK) return refined;
    initializer *output_projector = binding_output_projector(&s->bound);
    if (!output_projector)
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for an output.");
    eval_status status =
        initializer_project(output_projector, t, s->run.t_new - s->run.t_old, s->bound.kinds,
                            s->bound.norm.weights, s->bound.at_y, s->bound.at_yp);
    if (status == EVAL_STOP) return explain_evaluation(s, status);
    solver_interpolate(s, s->run.t_old, 0, s->bound.y); /* free during a run */
    solver_interpolate(s, s->run.t_new, 0, s->bound.yp);
    bool sound = status == EVAL_OK && is_beside_ends(s);
    return sound ? DAE_OK : keep_between_ends(s, t);
}
