/* The step size behind an event. The solution goes on with the time constants that it had, so the
 * step before tells more than y' alone; but what a switch, or an error of the interpolant, has
 * excited may be fast, and what came back soon may do so again. */
#include <math.h>

#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* A step on the tangent goes at most so many times as far as the step before it did, */
static const double MOST_FASTER = 10.0;
/* and is at most so many times as long as the last flight of a relation that crosses, */
static const double MOST_FLIGHTS = 2.0;
/* or as the mean time between events: values at the next one are those of the interpolant, whose
 * errors grow with the step. Measured on ten relays side by side, 261 events, radau at 1e-8: 0.3
 * tolerances in the end with 2, 55 without the limit, at 323 and 263 steps. */
static const double MOST_PACES = 2.0;
/* of the last events, about so many */
static const double LATELY = 8.0;
/* Flights that a reinit begins and that became shorter so often go on to do so: they end below the
 * tolerances, where the interpolant of a long step would make up the next crossing, or miss it. */
enum { MOST_SHRINKS = 2 };

static double longest_flights(const dae_solver *s, double t)
{
    double reach = INFINITY;
    for (size_t r = 0; r < flat_of(s)->relation_count; r++) {
        const relation_trace *q = &s->hybrid->trace[r];
        if (q->when == t && q->gap != 0.0) reach = fmin(reach, MOST_FLIGHTS * fabs(q->gap));
    }
    return reach; /* gaps that are NAN: none so far */
}

/* The mean time between the last events that had a beginning, that at t included; NAN: there is
 * none before it. */
static double pace_of_events(hybrid *h, double t)
{
    double gap = fabs(t - h->paced); /* NAN: the first one */
    h->paced = t;
    h->pace = isfinite(h->pace) ? h->pace + (gap - h->pace) / LATELY : gap;
    return h->pace;
}

step_memory resume_leave(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    if (s->run.phase != PHASE_RUNNING) return (step_memory){0};
    vector_copy(s->bound.n, s->bound.norm.weights, h->left);
    vector_copy(s->bound.n, s->bound.yp, h->left_yp);
    return (step_memory){.method = s->bound.method,
                         .mode = s->modes->current,
                         .h = fmin(fabs(s->run.control.h), longest_flights(s, t))};
}

/* max |v_i| over differential variables, in tolerances: the larger of those on both sides of the
 * event, since a reinit to zero would make all of its slopes look fast. */
static double largest(const dae_solver *s, const double *v, bool both)
{
    double most = 0.0;
    for (int i = 0; i < s->bound.n; i++) {
        double weight = s->bound.norm.weights[i];
        if (both) weight = fmax(weight, s->hybrid->left[i]);
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) most = fmax(most, fabs(v[i]) / weight);
    }
    return most;
}

/* Whether a reinit has thrown a relation off zero to come back nobody knows when: flights are not
 * known yet, or become shorter. */
static bool is_thrown(const dae_solver *s)
{
    const hybrid *h = s->hybrid;
    if (h->thrown != s->run.t) return false;
    for (size_t r = 0; r < flat_of(s)->relation_count; r++) {
        const relation_trace *q = &h->trace[r];
        if (q->when == s->run.t && (isnan(q->ratio) || q->shrinks > MOST_SHRINKS)) return true;
    }
    return false;
}

/* The first step at order 1, by y'' and not by y' alone, which lets y move by no more than half a
 * tolerance and then takes a step for each doubling. y'' is the change of y' where y has moved by
 * that. Part of the tolerance that the first step leaves, h^2 / 2 ||y''||: the next ones are twice
 * as long each, at an order higher. On ten relays, 188 beginnings at 1e-4, 1e-6, 1e-8: 1902, 3393,
 * 5413 steps and errors of 5, 22, 22 tolerances in place of 2466, 4423, 7167 and 6, 26, 23; with
 * 0.25 errors are 80, 58, 100, and each beginning has a step that fails. */
static const double FIRST_BEND = 1e-3;
/* The same of algebraic variables, whose y' is not known: h ||z' - y'||. */
static const double FIRST_LEAP = 0.25;

/* 0: it is not known */
static double curved_step(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const error_norm *norm = &s->bound.norm;
    const double speed = norm_of(norm, s->bound.yp, norm->tested);
    const double delta = s->run.direction < 0.0 ? -0.5 / speed : 0.5 / speed;
    if (!(speed > 0.0) || !isfinite(delta)) return 0.0;
    vector_copy(s->bound.n, s->bound.y, h->ahead);
    vector_copy(s->bound.n, s->bound.yp, h->ahead_yp);
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) h->ahead[i] += delta * s->bound.yp[i];
    if (initializer_project(s->bound.init, s->run.t + delta, delta, s->bound.kinds, norm->weights,
                            h->ahead, h->ahead_yp) != EVAL_OK)
        return 0.0;
    for (int i = 0; i < s->bound.n; i++) {
        bool state = s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL;
        h->further[i] = state ? (h->ahead_yp[i] - s->bound.yp[i]) / delta : 0.0;
        h->further_yp[i] = state ? 0.0 : (h->ahead[i] - s->bound.y[i]) / delta - s->bound.yp[i];
    }
    return fmin(sqrt(2.0 * FIRST_BEND / norm_of(norm, h->further, norm->tested)),
                FIRST_LEAP / norm_of(norm, h->further_yp, norm->tested));
}

void resume_enter(dae_solver *s, const step_memory *left)
{
    const bool same = left->mode == s->modes->current;
    const double most = fmin(left->h, MOST_PACES * pace_of_events(s->hybrid, s->run.t));
    if (left->method != s->bound.method || s->run.phase != PHASE_READY || is_thrown(s)) return;
    if (!s->bound.method->fixed_order) {
        if (!s->bound.context.second && !s->bound.method->dassl)
            s->run.resumption.h = fmin(most, curved_step(s));
        return;
    }
    double before = same ? MOST_FASTER * most * largest(s, s->hybrid->left_yp, true) : 0.0;
    double reach = fmax(before, largest(s, s->bound.y, same));
    s->run.resumption.h = fmin(most, reach / largest(s, s->bound.yp, same)); /* NAN: 0 by 0 */
}
