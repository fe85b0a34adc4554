/* Values at the time of an event: rows before and after it. */
#include <float.h>
#include <math.h>

#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* Whether all relations that cross at the pending event are on their old sides at (t, at_y). Zero
 * counts only where it belongs to that side, and is not to be avoided. */
static bool has_not_crossed(dae_solver *s, double t, bool strictly)
{
    const flat_model *m = flat_of(s);
    const int *flags = event_finder_flags(s->bound.events);
    double *c = s->hybrid->crossing;
    model_instance_crossings(s->hybrid->instance, t, s->bound.at_y, s->bound.at_yp, c);
    for (size_t r = 0; r < m->relation_count; r++) {
        const int zero = m->relations[r].strict ? 1 : -1;
        if (flags[r] == 0 || flags[r] * c[r] < 0.0) continue;
        if (c[r] != 0.0 || strictly || zero == flags[r]) return false;
    }
    return true;
}

/* at_y, at_yp = values at t of the last step, by the equations where events read what these give;
 * false: there are none. */
static bool values_by_equations(dae_solver *s, double t)
{
    solver_interpolate(s, t, 0, s->bound.at_y);
    solver_interpolate(s, t, 1, s->bound.at_yp);
    return !reads_solved(s) ||
           initializer_project(s->bound.init, t, s->run.t_new - s->run.t_old, s->bound.kinds,
                               s->bound.norm.weights, s->bound.at_y, s->bound.at_yp) == EVAL_OK;
}

/* The limit from the left at an event that was located beyond its crossing: the last values at
 * which the relations have not changed, a few roundings before t. */
static bool take_before(dae_solver *s, double t)
{
    enum { MOST_DOUBLINGS = 10 };
    double back = DBL_EPSILON * fmax(fabs(t), fabs(s->run.t_new - s->run.t_old));
    for (int k = 0; k <= MOST_DOUBLINGS; k++, back *= 2.0) {
        double before = t - copysign(back, s->run.t_new - s->run.t_old);
        if ((before - s->run.t_old) * (t - before) < 0.0) return false;
        if (!values_by_equations(s, before)) return false;
        if (has_not_crossed(s, before, k < MOST_DOUBLINGS)) return true;
    }
    return false;
}

bool hybrid_take_row(dae_solver *s, double t)
{
    const hybrid *h = s->hybrid;
    if (h->pending == EVENT_SEAM && t == s->run.t) {
        vector_copy(s->bound.n, h->left, s->bound.at_y);
        vector_copy(s->bound.n, h->left_yp, s->bound.at_yp);
        return true;
    }
    if (s->run.phase != PHASE_RUNNING || s->run.t_new == s->run.t_old) return false;
    if (h->pending == EVENT_CROSSING && t == s->run.t) return take_before(s, t);
    if (h->pending != EVENT_NONE || t != h->event_time) return false;
    vector_copy(s->bound.n, h->after, s->bound.at_y);
    vector_copy(s->bound.n, h->after_yp, s->bound.at_yp);
    return true;
}
