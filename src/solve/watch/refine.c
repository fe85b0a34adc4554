/* Values between the ends of a step of a method that works on a form of its own: there is no F to
 * look at its interpolant with (watch/defect.c). Steps to places inside the step tell how wrong it
 * is; where it is not good enough, values are those at the ends of such steps. They are made by a
 * second instance of the method, with state and matrices of its own. */
#include "solve/watch/refine.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "method/common/stages.h"
#include "solve/explain/explain.h"
#include "solve/watch/watch.h"

/* In tolerances: what an interpolant may be wrong by. The contract is 10. */
static const double TRUSTED = 0.7;

/* Parts of the step below which nothing is asked of a step any more: the width of a jump. */
static const double NARROW = 1e-10;
enum { MOST_STEPS = 1000 };

/* A second instance of the method, for the last step of the solver. */
struct refiner {
    owned_part part;
    const method *method;
    evaluator eval;
    iteration matrix;
    error_norm norm;
    newton newton;
    method_context context;
    void *state, *scratch;
    step_control control;
    double *y, *f;
    double t_new; /* the end of its own last step */
};

static void refiner_free(void *self)
{
    refiner *r = self;
    if (r->context.cache) r->method->cache_free(r->context.cache);
    newton_free(&r->newton);
    iteration_free(&r->matrix);
    norm_free(&r->norm);
    dae_free_all(r->state, r->scratch, r->y, r);
}

static void drop_refiner(dae_solver *s)
{
    part_free(s->bound.refiner);
    s->bound.refiner = NULL;
}

/* What belongs to the method, with everything that it changes its own. */
static bool refiner_fill(refiner *r, const dae_solver *s)
{
    r->part.free = refiner_free;
    const size_t n = (size_t)s->bound.n;
    size_t state, scratch;
    r->method = s->bound.method;
    r->eval = s->bound.eval;
    method_size(r->method, s->bound.n, &state, &scratch);
    r->state = dae_calloc(1, state);
    r->scratch = dae_calloc(1, scratch);
    r->y = DAE_ARRAY(double, 2 * n);
    if (!r->state || !r->scratch || !r->y) return false;
    r->f = r->y + n;
    if (!norm_new(&r->norm, s->bound.n, &s->bound.options) ||
        iteration_new(&r->matrix, &r->eval, &s->bound.options, NULL) != DAE_OK ||
        !newton_new(&r->newton, &r->eval, &r->matrix, &r->norm, &s->bound.options))
        return false;
    norm_classify(&r->norm, s->bound.kinds, s->bound.context.error_test);
    r->norm.hidden = s->bound.norm.hidden;
    norm_follow(&r->norm, s->bound.norm.tighten, s->bound.norm.followers);
    r->context = s->bound.context;
    r->context.eval = &r->eval;
    r->context.newton = &r->newton;
    r->context.norm = &r->norm;
    r->context.fixed_steps = r->context.look_at_stability = false;
    r->context.cache = r->method->cache_new ? r->method->cache_new(&r->context) : NULL;
    return !r->method->cache_new || r->context.cache;
}

static refiner *refiner_of(dae_solver *s)
{
    if (s->bound.refiner && s->bound.refiner->method != s->bound.method) drop_refiner(s);
    if (s->bound.refiner) return s->bound.refiner;
    s->bound.refiner = DAE_NEW(refiner);
    if (s->bound.refiner && !refiner_fill(s->bound.refiner, s)) drop_refiner(s);
    return s->bound.refiner;
}

void refine_note_start(dae_solver *s)
{
    step_start *at = &s->bound.step_start;
    at->judged = false;
    if (!s->bound.method->rough_between) return;
    s->bound.method->interpolate(s->bound.state, &s->bound.context, s->run.t_new, 0, at->y);
    s->bound.method->interpolate(s->bound.state, &s->bound.context, s->run.t_new, 1, at->yp);
}

/* Begin where the last step of the solver does. */
static void begin(refiner *r, const dae_solver *s)
{
    const step_start *from = &s->bound.step_start;
    const double way = s->run.t_new - s->run.t_old;
    double part = fmax(0.1, fmin(0.5, pow(TRUSTED / from->error, 0.25)));
    start_point at = {.t = s->run.t_old, .h = part * way, .y = from->y, .yp = from->yp};
    norm_classify(&r->norm, s->bound.kinds, s->bound.context.error_test);
    for (int j = 0; j < s->bound.n; j++) /* what jumps in the step does so here */
        if (s->bound.norm.exempt[j] > 0) norm_exempt(&r->norm, j, INT_MAX);
    r->norm.floor = s->bound.norm.floor;
    norm_update(&r->norm, s->run.t_old, from->y);
    r->norm.reach = fabs(way); /* multipliers are as accurate as those of the step */
    newton_reset(&r->newton);
    r->method->start(r->state, r->scratch, &r->context, &at);
    int order = method_run_order(r->method, &s->bound.options);
    control_start_one_step(&r->control, at.h, order, &s->bound.options);
    r->control.fixed = false;
    r->t_new = s->run.t_old;
}

void refine_persist(dae_solver *s, persist *p)
{
    const bool made = s->bound.refiner && s->bound.refiner->method == s->bound.method;
    if (!persist_flag(p, made)) return;
    refiner *r = p->reading ? refiner_of(s) : s->bound.refiner;
    if (!r) p->no_memory = true;
    if (!persist_ok(p)) return;
    if (p->reading) begin(r, s); /* vectors come to their places */
    PERSIST_STRUCT(p, r, GAPS(refiner, part, scratch), GAPS(refiner, y, f));
    persist_block(p, r->y);
    iteration_persist(&r->matrix, p);
    newton_persist(&r->newton, p);
    norm_persist(&r->norm, p);
    if (p->reading) r->norm.floor = s->bound.norm.floor;
    if (r->context.cache && r->method->cache_persist)
        r->method->cache_persist(r->context.cache, &r->context, p);
    method_persist(&r->context, r->state, r->scratch, p);
}

/* The next step towards `end`; one that nearly reaches it is stretched or halved. */
static double next_step(const refiner *r, double end)
{
    double rest = end - r->t_new, h = r->control.h;
    if (fabs(h) >= fabs(rest) * (1.0 - 1e-9)) return rest;
    return fabs(h) > 0.5 * fabs(rest) ? 0.5 * rest : h;
}

static dae_status out_of_memory(dae_solver *s)
{
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for an output.");
}

/* No step from t on within the last step of the solver is good enough. */
static dae_status explain_nowhere(dae_solver *s, double t, const attempt *a)
{
    bool evaluation = a->status == ATTEMPT_EVALUATION;
    dae_status status = diag_set(
        &s->diag, evaluation ? DAE_ERR_EVALUATION : DAE_ERR_CONVERGENCE,
        "Values within the step [%.9g, %.9g] cannot be computed to the tolerances: %s "
        "at t = %.9g with every step size down to h = %.2g%s%s.",
        s->run.t_old, s->run.t_new, evaluation ? "the equations have no value" : "the method fails",
        t, a->h, a->reason ? ": it " : "", a->reason ? a->reason : "");
    s->diag.t = t;
    s->diag.h = a->h;
    diag_append(&s->diag, " Limit the steps (max_step, --max-step), or choose another method, such "
                          "as bdf, or rodas.");
    return explain_growth(s, status);
}

/* A callback asked to stop. */
static dae_status stopped(const refiner *r, dae_solver *s)
{
    s->bound.eval.failure = s->stop.code < 0 ? s->stop : r->eval.failure;
    return explain_evaluation(s, EVAL_STOP);
}

/* One accepted step towards `end`. */
static dae_status one_step(refiner *r, dae_solver *s, double end)
{
    attempt a;
    for (;;) {
        if (s->bound.options.interrupt && s->bound.options.interrupt(s->bound.options.user) != 0)
            return explain_interrupt(s);
        const double h = next_step(r, end), least = NARROW * fabs(s->run.t_new - s->run.t_old);
        const bool narrow = fabs(h) <= least || r->t_new + h == r->t_new;
        newton_guard guard;
        newton_guard_open(&r->newton, &guard);
        r->method->attempt(r->state, r->scratch, &r->context, h, r->control.order, &a);
        if (newton_guard_close(&r->newton, &guard)) return explain_interrupt(s);
        if (a.status == ATTEMPT_STOP || s->stop.code < 0) return stopped(r, s);
        if (a.status == ATTEMPT_MEMORY) return out_of_memory(s);
        if (a.status == ATTEMPT_OK && (a.error <= 1.0 || narrow)) break;
        if (narrow || a.status >= ATTEMPT_UNSUPPORTED) return explain_nowhere(s, r->t_new, &a);
        control_reject(&r->control, &a);
    }
    r->method->accept(r->state, r->scratch, &r->context);
    r->t_new = a.t + a.h;
    norm_update(&r->norm, r->t_new, a.y);
    control_accept(&r->control, &a);
    return DAE_OK;
}

/* Steps from the beginning of the last one to t. */
static dae_status run_to(refiner *r, dae_solver *s, double t)
{
    begin(r, s);
    r->control.h = t - s->run.t_old;
    for (int k = 0; r->t_new != t && k < MOST_STEPS; k++) {
        dae_status status = one_step(r, s, t);
        if (status != DAE_OK) return status;
        if (fabs(r->t_new - t) <= 4.0 * DBL_EPSILON * fabs(t)) return DAE_OK;
    }
    return r->t_new == t ? DAE_OK : explain_nowhere(s, t, &(attempt){0});
}

/* The largest part of v in tolerances. Multipliers count with h and h^2, as in the error test, but
 * where the method makes them as accurate as states; added ones do not. */
static double largest(const dae_solver *s, const double *v)
{
    const error_norm *norm = &s->bound.norm;
    double most = 0.0;
    for (int j = 0; j < norm->n; j++) {
        const bool higher = norm->kinds && norm->kinds[j] >= DAE_KIND_INDEX2;
        const bool dim = higher && !s->bound.method->sharp_multipliers;
        const bool algebraic = norm->kinds && norm->kinds[j] == DAE_KIND_INDEX1;
        if (norm->exempt[j] > 0 || (norm->hidden && norm->hidden[j] && !algebraic)) continue;
        const double size = fabs(v[j]) * (dim ? norm->newton[j] : norm->scale[j]);
        if (!(size <= most)) most = isnan(size) ? INFINITY : size;
    }
    return most;
}

/* The distance of the interpolant from what steps to places inside give. */
static dae_status compare_step(refiner *r, dae_solver *s)
{
    /* more places: extrapolation methods have polynomials of high degree */
    static const double places[] = {0.1, 0.27, 0.44, 0.61, 0.78, 0.93};
    enum { PLACES = sizeof places / sizeof *places };
    step_start *at = &s->bound.step_start;
    at->error = 0.0;
    for (int k = 0; k < PLACES && at->error <= TRUSTED; k++) {
        double t = s->run.t_old + places[k] * (s->run.t_new - s->run.t_old);
        dae_status status = run_to(r, s, t);
        if (status != DAE_OK) return status;
        r->method->interpolate(r->state, &r->context, t, 0, r->y);
        s->bound.method->interpolate(s->bound.state, &s->bound.context, t, 0, r->f);
        vector_axpy(s->bound.n, -1.0, r->y, r->f);
        at->error = fmax(at->error, largest(s, r->f));
    }
    at->judged = true;
    return DAE_OK;
}

dae_status refine_point(dae_solver *s, double t, bool *refined)
{
    *refined = false;
    if (!binding_uses_forms(&s->bound) || s->run.control.fixed || !output_is_between(s, t))
        return DAE_OK;
    refiner *r = refiner_of(s);
    if (!r) return out_of_memory(s);
    dae_status status = s->bound.step_start.judged ? DAE_OK : compare_step(r, s);
    if (status != DAE_OK || s->bound.step_start.error <= TRUSTED) return status;
    status = run_to(r, s, t);
    if (status != DAE_OK) return status;
    r->method->interpolate(r->state, &r->context, r->t_new, 0, s->bound.at_y);
    r->method->interpolate(r->state, &r->context, r->t_new, 1, s->bound.at_yp);
    *refined = true;
    return DAE_OK;
}
