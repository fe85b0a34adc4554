/* Damped Newton and Gauss-Newton steps with the error oriented control of [Deu11 3.3, 4.4]: the
 * natural monotonicity test sees corrections, never residuals, so that neither the scaling nor the
 * mixing of equations changes a single decision. */
#include "init/engine.h"

#include <float.h>

#include "base/vector.h"

static const double LEAST_DAMPING = 1e-12; /* exponentials overshoot by many powers of ten */
static const double NEARLY_LINEAR = 0.1;   /* contraction of a step that may leave the near */

/* Full steps whose corrections do not get shorter from one matrix to the next: far out on an
 * exponential each covers one unit of its argument, however far the solution is. Then steps are
 * doubled for as long as that goes on. */
static const double AS_LONG_AS_BEFORE = 0.6;

engine_outcome engine_from(eval_status status)
{
    return status == EVAL_OK       ? ENGINE_MET
           : status == EVAL_MEMORY ? ENGINE_MEMORY
           : status == EVAL_STOP   ? ENGINE_STOP
                                   : ENGINE_UNDEFINED;
}

/* ---- lengths ---- */

/* sqrt(mean of ((dx_j - part before_j) / size_j)^2); before may be NULL */
static double mean_length(const engine *e, const double *dx, double part, const double *before)
{
    double sum = 0.0;
    for (int j = 0; j < e->n; j++) {
        double way = (before ? dx[j] - part * before[j] : dx[j]) / (e->size ? e->size[j] : 1.0);
        sum += way * way;
    }
    return e->counted > 0 ? sqrt(sum / e->counted) : 0.0;
}

double engine_length(const engine *e, const double *dx)
{
    return mean_length(e, dx, 0.0, NULL);
}

/* max_j |dx_j| / size_j */
static double largest(const engine *e, const double *dx)
{
    double most = 0.0;
    for (int j = 0; j < e->n; j++) most = fmax(most, fabs(dx[j]) / (e->size ? e->size[j] : 1.0));
    return most;
}

/* ---- steps ---- */

static void move(engine *e, double lambda, const double *dx)
{
    if (e->source->move)
        e->source->move(e, lambda, dx);
    else
        for (int j = 0; j < e->n; j++) e->trial[j] = e->x[j] + lambda * dx[j];
}

/* The trial point becomes the iterate. */
static void take(engine *e)
{
    if (e->source->take)
        e->source->take(e);
    else
        vector_copy(e->n, e->trial, e->x);
}

/* .. and is a step. */
static void take_step(engine *e)
{
    take(e);
    vector_copy(e->m, e->trial_r, e->r);
}

/* The damping factor that the curvature seen on the trial step suggests [Deu11 (3.48)]. */
static double damping_from_curvature(const engine *e, double lambda)
{
    double bend = mean_length(e, e->next, 1.0 - lambda, e->dx);
    return bend > 0.0 ? 0.5 * lambda * lambda * e->length / bend : 1.0;
}

typedef struct search_result {
    double lambda, rate; /* accepted damping; ||next||/||dx|| */
    double next_lambda;  /* suggestion for the next iteration */
} search_result;

/* Whether the correction has shrunk enough for a step with this damping: 1 - lambda/4, and 1/2 for
 * steps longer than Newton's. */
static bool monotone(const engine *e, double lambda, double after)
{
    if (after <= (lambda > 1.0 ? 0.5 : 1.0 - 0.25 * lambda) * e->length) return true;
    return e->negligible > 0.0 && largest(e, e->next) <= e->negligible;
}

/* Find lambda with ||next(lambda)|| <= (1 - lambda/4) ||dx||; trial point and next follow. */
static engine_outcome search(engine *e, double lambda, search_result *found)
{
    const engine_source *s = e->source;
    const double near = s->near ? s->near(e) : INFINITY;
    engine_outcome last = ENGINE_STALLED;
    while (lambda >= LEAST_DAMPING) {
        move(e, lambda, e->dx);
        engine_outcome outcome = s->evaluate(e);
        if (outcome == ENGINE_MET) outcome = s->correction(e, e->trial_r, e->next);
        if (engine_ends(outcome)) return outcome;
        if (outcome != ENGINE_MET) {
            last = outcome;
            lambda *= 0.5;
            continue;
        }
        last = ENGINE_STALLED;
        double after = mean_length(e, e->next, 0.0, NULL), best = damping_from_curvature(e, lambda);
        bool linear = after <= NEARLY_LINEAR * e->length;
        if (linear || (lambda <= near && monotone(e, lambda, after))) {
            *found =
                (search_result){lambda, after / e->length, fmin(1.0, fmax(best, 4.0 * lambda))};
            return ENGINE_MET;
        }
        lambda = lambda > near ? near : fmin(fmax(best, 0.1 * lambda), 0.5 * lambda);
    }
    return last;
}

/* lambda, or the part of it that the bounds allow for dx */
static double allowed_step(engine *e, double lambda)
{
    double stride = fmax(lambda, 1.0);
    return e->source->room ? fmin(lambda, stride * e->source->room(e, stride, e->dx)) : lambda;
}

/* A step longer than Newton's overshoots where the equations are linear: `next` takes that back. */
static engine_outcome settle_stride(engine *e)
{
    if (e->source->room && e->source->room(e, 1.0, e->next) < 1.0) return ENGINE_MET;
    move(e, 1.0, e->next);
    engine_outcome outcome = e->source->evaluate(e);
    if (outcome == ENGINE_MET) take_step(e);
    return outcome == ENGINE_UNDEFINED ? ENGINE_MET : outcome;
}

/* Add a last correction below the tolerance, unless the source has none of it. */
static engine_outcome finish(engine *e, double *dx)
{
    engine_outcome outcome = e->source->last ? e->source->last(e, dx) : ENGINE_STALLED;
    if (engine_ends(outcome)) return outcome;
    if (outcome == ENGINE_MET) {
        move(e, 1.0, dx);
        take(e);
    }
    return ENGINE_MET;
}

/* ---- the iteration ---- */

/* Where an iteration stands between two steps. */
typedef struct progress {
    double lambda; /* the next damping factor, */
    double before; /* and the length of dx with the last matrix */
    bool fresh;    /* a new matrix is due */
    bool retried;  /* an old matrix was to blame once */
    bool done;
} progress;

/* New matrix, if one is due, and the correction at x; done: there is nothing left to correct. */
static engine_outcome look(engine *e, progress *p)
{
    const engine_source *s = e->source;
    bool met = false;
    engine_outcome outcome = p->fresh ? s->linearise(e) : ENGINE_MET;
    if (outcome == ENGINE_MET && s->met) outcome = s->met(e, &met);
    p->done = met && e->tolerance <= 0.0;
    if (outcome != ENGINE_MET || p->done) return outcome;
    if (p->fresh) outcome = s->correction(e, e->r, e->dx);
    if (outcome != ENGINE_MET) return outcome;
    e->length = mean_length(e, e->dx, 0.0, NULL);
    p->done = met || (e->tolerance > 0.0 && e->length <= e->tolerance);
    if (p->done) return finish(e, e->dx);
    if (e->taken >= e->most || largest(e, e->dx) <= DBL_EPSILON) return ENGINE_STALLED;
    if (!p->fresh) return ENGINE_MET;
    bool strides =
        p->lambda >= 1.0 && e->length >= AS_LONG_AS_BEFORE * p->before && p->before > 0.0;
    p->lambda = strides ? fmin(2.0 * p->lambda, e->longest_stride) : fmin(p->lambda, 1.0);
    p->before = e->length;
    return ENGINE_MET;
}

/* A step along dx, and what it says of the next one. */
static engine_outcome step(engine *e, progress *p)
{
    search_result found;
    engine_outcome outcome = search(e, allowed_step(e, p->lambda), &found);
    if (outcome != ENGINE_MET) return outcome;
    take_step(e);
    e->taken++;
    if (found.lambda > 1.0) outcome = settle_stride(e);
    p->lambda = found.lambda > 1.0 ? found.lambda : e->remembers ? found.next_lambda : 1.0;
    p->fresh = found.lambda != 1.0 || !(found.rate <= e->keep);
    double left = found.rate * e->length;
    p->done = found.lambda == 1.0 && e->tolerance > 0.0 && left <= e->tolerance;
    if (p->done) {
        e->length = left;
        return finish(e, e->next);
    }
    if (!p->fresh) vector_copy(e->n, e->next, e->dx);
    return outcome;
}

engine_outcome engine_solve(engine *e)
{
    progress p = {.lambda = 1.0, .fresh = true};
    for (;;) {
        engine_outcome outcome = look(e, &p);
        if (outcome != ENGINE_MET || p.done) return outcome;
        bool was_fresh = p.fresh;
        outcome = step(e, &p);
        if (outcome == ENGINE_STALLED && !was_fresh && !p.retried) {
            p.fresh = p.retried = true;
            p.lambda = 1.0;
            continue;
        }
        if (outcome != ENGINE_MET || p.done) return outcome;
        p.retried = false;
    }
}
