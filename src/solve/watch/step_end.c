/* Whether equations without derivatives hold where a step ends.
 *
 * Error estimates compare two results of a method, and iterations their corrections. Neither sees a
 * step that ends beside the algebraic equations and hidden constraints: matrices of another point,
 * a last stage that is not the end of the step, or factors of an iterate where an exponential is
 * larger by powers of ten make both small. So F itself is asked there, with partial derivatives of
 * that very point: d = G^-1 (F_i of the rows without y', 0 of the others) is Newton's correction
 * onto them [BCP96 (5.2.11)], and part of the error of the step. It holds for all methods but those
 * whose iteration has asked F already (control/confirm.h), and for steps whose errors are
 * controlled. Those others are asked, with all rows, where a state outgrows all that it was. */
#include <float.h>
#include <math.h>

#include "base/vector.h"
#include "solve/watch/watch.h"

/* By so many units in their last places the values of a step may differ without a reason. */
static const double ROUNDING = 16.0 * DBL_EPSILON;

/* *algebraic: some variables are. False: some are of higher index, so that d has what belongs to
 * other levels: a position's over h in its velocity. */
static bool is_index_one(const dae_solver *s, bool *algebraic)
{
    *algebraic = false;
    for (int i = 0; i < s->bound.n; i++) {
        if (s->bound.kinds[i] > DAE_KIND_INDEX1) return false;
        *algebraic = *algebraic || s->bound.kinds[i] == DAE_KIND_INDEX1;
    }
    return true;
}

/* Partial derivatives of a model are exact, and known to have no others; with those of callbacks by
 * differences a step would cost n evaluations more. */
static bool is_due(const dae_solver *s)
{
    const binding *b = &s->bound;
    const method *m = b->method;
    if (m->dassl || m->own_steps || s->run.control.fixed) return false;
    bool algebraic;
    if (b->ends_free || b->ends.matrix_free || !binding_has_all_rows(b)) return false;
    if (!is_index_one(s, &algebraic)) return false;
    return s->hybrid || (algebraic && !b->ends.jac.undetected);
}

/* G of this point, for a derivative that moves with 1/h */
static attempt_status make_matrix(dae_solver *s, const attempt *a)
{
    const double cj = 1.0 / a->h;
    iteration_status status = iteration_evaluate(&s->bound.ends, a->t + a->h, a->y, a->yp, cj, a->h,
                                                 s->bound.norm.weights, NULL);
    if (status == ITERATION_OK) {
        int rows = 0;
        for (int i = 0; i < s->bound.n; i++) rows += s->bound.ends.constraint_row[i];
        s->bound.ends_free = s->hybrid && rows == 0;
        if (rows == 0) return ATTEMPT_CONVERGENCE;
        status = iteration_factor(&s->bound.ends, cj, NULL);
    }
    return status == ITERATION_OK       ? ATTEMPT_OK
           : status == ITERATION_STOP   ? ATTEMPT_STOP
           : status == ITERATION_MEMORY ? ATTEMPT_MEMORY
                                        : ATTEMPT_CONVERGENCE;
}

bool step_end_factor(dae_solver *s, const attempt *a)
{
    const double cj = 1.0 / a->h;
    iteration *ends = &s->bound.ends;
    if (!ends->eval || ends->matrix_free) return false;
    const eval_failure failure = s->bound.eval.failure;
    iteration_status status =
        iteration_evaluate(ends, a->t + a->h, a->y, a->yp, cj, a->h, s->bound.norm.weights, NULL);
    if (status == ITERATION_OK) status = iteration_factor(ends, cj, NULL);
    if (status != ITERATION_OK && status != ITERATION_STOP) s->bound.eval.failure = failure;
    return status == ITERATION_OK;
}

/* d by F(t, b->work, y') with the matrix of the end; its norm, NAN: there is none */
static double correction_at(dae_solver *s, double t, const double *yp, double *d)
{
    binding *b = &s->bound;
    const eval_failure failure = b->eval.failure;
    eval_status status = evaluate_residual(&b->eval, t, b->work, yp, d, &s->stats.residuals);
    if (status == EVAL_RETRY) b->eval.failure = failure;
    if (status != EVAL_OK) return NAN;
    for (int i = 0; i < b->n; i++)
        if (!b->ends.constraint_row[i]) d[i] = 0.0;
    if (iteration_solve(&b->ends, NULL, d) != ITERATION_OK) return NAN;
    return norm_of(&b->norm, d, b->norm.scale);
}

/* The same at the end, with y moved by the part `by` of itself, one way or the other. */
static double correction(dae_solver *s, const attempt *a, double by, double *d)
{
    binding *b = &s->bound;
    for (int i = 0; i < b->n; i++) b->work[i] = a->y[i] * (1.0 + (i % 2 ? by : -by));
    return correction_at(s, a->t + a->h, a->yp, d);
}

/* Whether the step began as far from the equations, in the units of its end: a method whose
 * stability function is not 0 at infinity damps what is left of steps before, and units shrink
 * where a variable passes zero. No shorter step would be better. */
static bool began_off(dae_solver *s, const attempt *a, double size)
{
    binding *b = &s->bound;
    solver_interpolate(s, a->t, 0, b->work);
    solver_interpolate(s, a->t, 1, b->at_yp);
    return correction_at(s, a->t, b->at_yp, b->end_beside) >= size;
}

/* Where the matrix is nearly singular, as that of other states than the method has, rounding of y
 * makes a correction of any size. */
static bool is_rounding(dae_solver *s, const attempt *a, double size)
{
    binding *b = &s->bound;
    double *beside = b->end_beside;
    if (!isfinite(correction(s, a, ROUNDING, beside))) return false;
    for (int i = 0; i < b->n; i++) beside[i] -= b->end_off[i];
    return 2.0 * norm_of(&b->norm, beside, b->norm.scale) >= size;
}

/* Whether a state ends far beyond all that it was so far. */
static bool has_outgrown(const dae_solver *s, const attempt *a)
{
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL && s->bound.extent[i] > 0.0 &&
            jump_outgrown(s, i, a->y[i]))
            return true;
    return false;
}

/* Where a state outgrows itself, whether all equations hold at the end, by the derivatives of that
 * very point: an exponential at an iterate of Newton's method that overshoots has derivatives of
 * 1e20, which make small both the correction that is left and the filtered error estimate. The
 * iteration of such methods ends where the step does, so that F is 0 there up to its tolerance. */
static attempt_status look_at_growth(dae_solver *s, attempt *a)
{
    binding *b = &s->bound;
    if (!s->hybrid || !b->method->confirms || s->run.control.fixed || b->method->dassl ||
        binding_uses_forms(b) || !has_outgrown(s, a) || !step_end_factor(s, a))
        return s->stop.code < 0 ? ATTEMPT_STOP : ATTEMPT_OK;
    const eval_failure failure = b->eval.failure;
    const eval_status status =
        evaluate_residual(&b->eval, a->t + a->h, a->y, a->yp, b->end_off, &s->stats.residuals);
    if (status == EVAL_STOP) return ATTEMPT_STOP;
    if (status == EVAL_RETRY) b->eval.failure = failure;
    if (status != EVAL_OK || iteration_solve(&b->ends, NULL, b->end_off) != ITERATION_OK)
        return ATTEMPT_OK;
    const double size = norm_of(&b->norm, b->end_off, b->norm.tested);
    if (!(size > 1.0)) return ATTEMPT_OK;
    a->error = size;
    a->estimate = b->end_off;
    a->error_constant = 1.0;
    a->scale = b->norm.tested;
    a->next_factor = 0.0;
    return ATTEMPT_OK;
}

attempt_status step_end_look(dae_solver *s, attempt *a)
{
    binding *b = &s->bound;
    if (a->status != ATTEMPT_OK || !(a->error <= 1.0)) return a->status;
    if (b->method->confirms) return look_at_growth(s, a);
    if (!is_due(s)) return a->status;
    const eval_failure failure = b->eval.failure;
    const attempt_status made = make_matrix(s, a);
    if (made == ATTEMPT_CONVERGENCE) b->eval.failure = failure; /* nothing can be said */
    if (made != ATTEMPT_OK) return made == ATTEMPT_CONVERGENCE ? ATTEMPT_OK : made;
    const double size = correction(s, a, 0.0, b->end_off);
    if (s->stop.code < 0) return ATTEMPT_STOP;
    /* who iterates leaves over a part of the tolerance, which says nothing of the step */
    if (!(size > (b->method->no_iteration ? a->error : 1.0))) return ATTEMPT_OK;
    if (size > 1.0 && (is_rounding(s, a, size) || began_off(s, a, size))) return ATTEMPT_OK;
    a->error = size;
    a->estimate = b->end_off;
    a->error_constant = 1.0;
    a->scale = b->norm.scale;
    a->next_factor = 0.0; /* the method's own does not know of it */
    return ATTEMPT_OK;
}
