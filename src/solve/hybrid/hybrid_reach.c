/* Events that no step reaches: beyond them the equations, with relations as they are held, have no
 * values, as sqrt(h - 0.5) of a branch for h > 0.5. Steps shorten as such an event comes near,
 * until it is nearer than times can be told apart. Then it is here. */
#include <float.h>
#include <math.h>

#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* So many of the shortest steps; and what is looked ahead by, as a part of the last step. */
static const double NEAR = 16.0, AHEAD = 1e-9;

/* What a shorter step cannot mend. */
static bool is_stuck_at(dae_status status)
{
    return status == DAE_ERR_EVALUATION || status == DAE_ERR_CONVERGENCE ||
           status == DAE_ERR_ERROR_TEST || status == DAE_ERR_SINGULAR;
}

/* The time to the zero of relation r, from the crossing functions now and `delta` ahead; INFINITY:
 * it is not on its way there. */
static double time_to_zero(const hybrid *h, size_t r, double delta)
{
    const flat_relation *q = &h->instance->form->flat->relations[r];
    const double c = h->crossing[r], change = h->crossing_ahead[r] - c;
    const bool held = h->instance->memory[q->memory] != 0.0;
    if (held != (c < 0.0) || !(change * c < 0.0)) return INFINITY;
    return fabs(delta * c / change);
}

bool hybrid_reach(dae_solver *s, dae_status status)
{
    hybrid *h = s->hybrid;
    const size_t count = flat_of(s)->relation_count;
    const double t = s->run.t_new, least = 4.0 * DBL_EPSILON * fabs(t);
    const double delta = s->run.direction * fmax(AHEAD * fabs(s->run.t_new - s->run.t_old), least);
    double soon = NEAR * least;
    size_t next = count;
    if (!is_stuck_at(status) || s->run.phase != PHASE_RUNNING || !s->bound.events || count == 0 ||
        h->reached == t || steps_are_given(&s->bound.options))
        return false;
    solver_interpolate(s, t, 0, h->ahead);
    solver_interpolate(s, t, 1, h->ahead_yp);
    model_instance_crossings(h->instance, t, h->ahead, h->ahead_yp, h->crossing);
    vector_axpy(s->bound.n, delta, h->ahead_yp, h->ahead);
    model_instance_crossings(h->instance, t + delta, h->ahead, h->ahead_yp, h->crossing_ahead);
    for (size_t r = 0; r < count; r++) {
        const double time = time_to_zero(h, r, delta);
        if (!(time <= soon)) continue;
        soon = time;
        next = r;
    }
    if (next == count) return false;
    event_finder_claim(s->bound.events, (int)next, h->crossing[next] < 0.0 ? 1 : -1);
    h->reached = t;
    h->pending = EVENT_CROSSING;
    return true;
}
