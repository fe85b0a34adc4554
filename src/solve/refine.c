/* Values between the ends of a step: is the interpolant good enough for them? Where it is not, a
 * second run of the same method, with state and matrices of its own, goes from the beginning of the
 * step to the place that is asked for, by steps whose interpolant is. */
#include "solve/refine.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/solver.h"

/* Where interpolants are looked at: no two of the places are close to nodes of one method. */
static const double LOOKS[] = {0.1, 0.381966011250105, 0.81};
enum { LOOK_COUNT = sizeof LOOKS / sizeof *LOOKS };

/* In tolerances: what an interpolant may be wrong by. The contract is 10. */
static const double TRUSTED = 2.0;

/* The shift cj h of matrices that are made for the check: errors of an interpolant are h times its
 * defect, times a quarter or less. Smaller ones would hide the defect of slow variables. */
static const double SHIFT = 4.0;

/* Parts of the step below which the error test no longer holds steps back: the width of a jump. */
static const double NARROW = 1e-10;
enum { MOST_STEPS = 10000 };

/* A second run through the last step of the solver. */
struct refiner {
    const method *method;
    evaluator eval;
    iteration matrix; /* of the method */
    iteration check;  /* of the check, where those of the method do not serve */
    error_norm norm;
    newton newton;
    method_context context;
    void *state, *scratch;
    void *before; /* the state before the step that is looked at */
    size_t state_size;
    step_control control;
    double *y, *yp, *f;
    double t_old, t_new; /* its own last step */
    long of;             /* the step of the solver that it is in; 0: none */
};

/* The last step of the solver, where it begins, and what is known of its interpolant. */

/* ---- how wrong an interpolant is --------------------------------------------------------------
 */

/* The largest part of v in tolerances. Variables of index 2 and 3 with h and h^2 before them, as in
 * the error test [HLR89 7]; none that have left it because they jump, nor added multipliers. */
static double largest(const error_norm *norm, const double *v)
{
    double most = 0.0;
    for (int j = 0; j < norm->n; j++) {
        if (norm->excused[j] > 0 || (norm->hidden && norm->hidden[j])) continue;
        bool higher = norm->kinds && norm->kinds[j] >= DAE_KIND_INDEX2;
        double size = fabs(v[j]) * (higher ? norm->newton : norm->scale)[j];
        if (!(size <= most)) most = isnan(size) ? INFINITY : size;
    }
    return most;
}

static bool serves(const iteration *it)
{
    return it->factored && !it->by_columns && !it->matrix_free;
}

/* f = (dF/dy + cj dF/dy')^-1 F(t, y, y'): Newton's correction, which tells how far y is from a
 * solution of stiff and algebraic equations, and h times the defect of the others */
static eval_status correction(evaluator *eval, iteration *it, double t, const double *y,
                              const double *yp, double *f)
{
    const eval_failure failure = eval->failure;
    eval_status status = evaluate_residual(eval, t, y, yp, f, &eval->stats->residuals);
    if (status != EVAL_STOP) eval->failure = failure;
    if (status != EVAL_OK) return status;
    return iteration_solve(it, NULL, f) == ITERATION_OK ? EVAL_OK : EVAL_RETRY;
}

/* A step of a method, to be looked at. */
typedef struct looked {
    const method *method;
    const void *state;
    const method_context *context;
    double from, h;
} looked;

/* The largest correction over all places; INFINITY where F does not exist, or cannot be solved. */
static eval_status look(const looked *at, evaluator *eval, iteration *it, const error_norm *norm,
                        refiner *r, double *error)
{
    double scale = fmax(1.0, fabs(it->cj * at->h) / SHIFT);
    *error = 0.0;
    for (int k = 0; k < LOOK_COUNT; k++) {
        double t = at->from + LOOKS[k] * at->h;
        at->method->interpolate(at->state, at->context, t, 0, r->y);
        at->method->interpolate(at->state, at->context, t, 1, r->yp);
        eval_status status = correction(eval, it, t, r->y, r->yp, r->f);
        if (status == EVAL_STOP) return status;
        *error = status == EVAL_OK ? fmax(*error, scale * largest(norm, r->f)) : INFINITY;
        if (*error > TRUSTED) break;
    }
    return EVAL_OK;
}

/* Matrices of the check, at the middle of the step. */
static bool make_check(refiner *r, const looked *at, const error_norm *norm)
{
    const double t = at->from + 0.5 * at->h, cj = SHIFT / at->h;
    const eval_failure failure = r->eval.failure;
    at->method->interpolate(at->state, at->context, t, 0, r->y);
    at->method->interpolate(at->state, at->context, t, 1, r->yp);
    bool ok = iteration_evaluate(&r->check, t, r->y, r->yp, cj, at->h, norm->weights, NULL) ==
                  ITERATION_OK &&
              iteration_factor(&r->check, cj, NULL) == ITERATION_OK;
    r->eval.failure = failure;
    return ok;
}

/* How wrong the interpolant of a step is, in tolerances, with the factors `it` if they serve. */
static eval_status judge(refiner *r, const looked *at, iteration *it, const error_norm *norm,
                         double *error)
{
    *error = INFINITY;
    if (serves(it)) return look(at, &r->eval, it, norm, r, error);
    if (r->check.matrix_free || !make_check(r, at, norm)) return EVAL_OK;
    return look(at, &r->eval, &r->check, norm, r, error);
}

/* ---- making one --------------------------------------------------------------------------------
 */

void refine_free(dae_solver *s)
{
    refiner *r = s->refiner;
    if (!r) return;
    if (r->context.cache) r->method->cache_free(r->context.cache);
    newton_free(&r->newton);
    iteration_free(&r->check);
    iteration_free(&r->matrix);
    norm_free(&r->norm);
    dae_free(r->state);
    dae_free(r->scratch);
    dae_free(r->before);
    dae_free(r->y);
    dae_free(r);
    s->refiner = NULL;
}

/* What belongs to the method, with everything that it changes its own. */
static bool furnish(refiner *r, const dae_solver *s)
{
    const size_t n = (size_t)s->n;
    size_t scratch;
    r->method = s->method;
    r->eval = s->eval;
    r->method->size(s->n, &r->state_size, &scratch);
    r->state = dae_calloc(1, r->state_size);
    r->before = dae_calloc(1, r->state_size);
    r->scratch = dae_calloc(1, scratch);
    r->y = DAE_ARRAY(double, 3 * n);
    if (!r->state || !r->before || !r->scratch || !r->y) return false;
    r->yp = r->y + n;
    r->f = r->yp + n;
    if (!norm_new(&r->norm, s->n, &s->options) ||
        iteration_new(&r->matrix, &r->eval, &s->options, NULL) != DAE_OK ||
        iteration_new(&r->check, &r->eval, &s->options, NULL) != DAE_OK ||
        !newton_new(&r->newton, &r->eval, &r->matrix, &r->norm, &s->options))
        return false;
    norm_classify(&r->norm, s->kinds, s->context.error_test);
    r->norm.hidden = s->norm.hidden;
    r->context = s->context;
    r->context.eval = &r->eval;
    r->context.newton = &r->newton;
    r->context.norm = &r->norm;
    r->context.fixed_steps = r->context.look_at_stability = false;
    r->context.cache = r->method->cache_new ? r->method->cache_new(&r->context) : NULL;
    return !r->method->cache_new || r->context.cache;
}

static refiner *refiner_of(dae_solver *s)
{
    if (s->refiner && s->refiner->method != s->method) refine_free(s);
    if (s->refiner) return s->refiner;
    s->refiner = DAE_NEW(refiner);
    if (s->refiner && !furnish(s->refiner, s)) refine_free(s);
    return s->refiner;
}

void refine_note_start(dae_solver *s)
{
    step_start *at = &s->step_start;
    at->judged = false;
    if (!s->method->rough_between || solver_uses_forms(s)) return;
    s->method->interpolate(s->state, &s->context, s->t_new, 0, at->y);
    s->method->interpolate(s->state, &s->context, s->t_new, 1, at->yp);
}

/* ---- the second run ----------------------------------------------------------------------------
 */

/* Begin where the last step of the solver does. */
static void begin(refiner *r, const dae_solver *s)
{
    const step_start *from = &s->step_start;
    const double way = s->t_new - s->t_old;
    start_point at = {.t = s->t_old, .h = 0.1 * way, .y = from->y, .yp = from->yp};
    norm_update(&r->norm, s->t_old, from->y);
    newton_reset(&r->newton);
    r->method->start(r->state, r->scratch, &r->context, &at);
    int order = r->method->max_order, asked = s->options.max_order;
    if (asked > 0 && asked < order) order = asked;
    control_start_one_step(&r->control, at.h, order, &s->options);
    r->control.fixed = false;
    r->t_old = r->t_new = s->t_old;
    r->of = s->stats.steps;
}

/* Commit the attempt if its interpolant is good enough, or the step so short that there is nothing
 * to interpolate; else its error is that of the interpolant. */
static eval_status accept(refiner *r, attempt *a, bool narrow, bool *accepted)
{
    double error = 0.0;
    memcpy(r->before, r->state, r->state_size);
    r->method->accept(r->state, r->scratch, &r->context);
    looked at = {r->method, r->state, &r->context, a->t, a->h};
    eval_status status = narrow ? EVAL_OK : judge(r, &at, &r->matrix, &r->norm, &error);
    *accepted = status == EVAL_OK && error <= TRUSTED;
    if (!*accepted) {
        memcpy(r->state, r->before, r->state_size);
        a->error = fmin(error / TRUSTED, 1e4);
        a->next_factor = 0.0;
        return status;
    }
    r->t_old = r->t_new;
    r->t_new = a->t + a->h;
    norm_update(&r->norm, r->t_new, a->y);
    control_accept(&r->control, a);
    return status;
}

/* One accepted step towards `end`; false: there is none. */
static dae_status one_step(refiner *r, dae_solver *s, double end)
{
    attempt a;
    for (;;) {
        if (s->options.interrupt && s->options.interrupt(s->options.user) != 0)
            return explain_interrupt(s);
        double rest = end - r->t_new, h = r->control.h, least = NARROW * (s->t_new - s->t_old);
        if (fabs(h) >= fabs(rest) * (1.0 - 1e-9))
            h = rest;
        else if (fabs(h) > 0.5 * fabs(rest))
            h = 0.5 * rest;
        bool narrow = fabs(h) <= fabs(least) || r->t_new + h == r->t_new, accepted = false;
        r->method->attempt(r->state, r->scratch, &r->context, h, r->control.order, &a);
        if (a.status == ATTEMPT_STOP) return explain_evaluation(s, EVAL_STOP);
        bool passed = a.status == ATTEMPT_OK && (a.error <= 1.0 || narrow);
        if (passed && accept(r, &a, narrow, &accepted) == EVAL_STOP)
            return explain_evaluation(s, EVAL_STOP);
        if (accepted) return DAE_OK;
        if (narrow || a.status >= ATTEMPT_UNSUPPORTED) return DAE_ERR_CONVERGENCE;
        control_reject(&r->control, &a);
    }
}

static dae_status explain_nowhere(dae_solver *s, double t)
{
    return diag_set(&s->diag, DAE_ERR_CONVERGENCE,
                    "The values at t = %.9g, within the step [%.9g, %.9g], cannot be computed to "
                    "the tolerances: method %s fails there with every step size. Limit the steps "
                    "(max_step), or choose another method.",
                    t, s->t_old, s->t_new, s->method->name);
}

/* The second run, up to t. */
static dae_status run_to(refiner *r, dae_solver *s, double t)
{
    const double direction = s->t_new > s->t_old ? 1.0 : -1.0;
    bool behind = (t - r->t_old) * direction < 0.0;
    if (r->of != s->stats.steps || behind) begin(r, s);
    for (int k = 0; (t - r->t_new) * direction > 0.0; k++) {
        dae_status status = k < MOST_STEPS ? one_step(r, s, s->t_new) : DAE_ERR_CONVERGENCE;
        if (status == DAE_OK) continue;
        r->of = 0;
        return s->diag.status != DAE_OK ? s->diag.status : explain_nowhere(s, t);
    }
    return DAE_OK;
}

dae_status refine_point(dae_solver *s, double t, bool *refined)
{
    step_start *at = &s->step_start;
    *refined = false;
    if (at->judged && at->trusted) return DAE_OK;
    refiner *r = refiner_of(s);
    if (!r) return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for an output.");
    if (!at->judged) {
        looked last = {s->method, s->state, &s->context, s->t_old, s->t_new - s->t_old};
        double error;
        if (judge(r, &last, &s->matrix, &s->norm, &error) == EVAL_STOP)
            return explain_evaluation(s, EVAL_STOP);
        at->judged = true;
        at->trusted = error <= TRUSTED;
        if (at->trusted) return DAE_OK;
    }
    dae_status status = run_to(r, s, t);
    if (status != DAE_OK) return status;
    r->method->interpolate(r->state, &r->context, t, 0, s->at_y);
    r->method->interpolate(r->state, &r->context, t, 1, s->at_yp);
    *refined = true;
    return DAE_OK;
}
