/* Values at the time of an event: rows before and after it. */
#include <float.h>
#include <math.h>

#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* Whether all relations, those that cross if flags tell which, are on the sides on which they are
 * held, at (t, at_y). Zero counts only where it belongs to that side, and is not to be avoided. */
static bool are_held(dae_solver *s, double t, const int *flags, bool strictly)
{
    const flat_model *m = flat_of(s);
    double *c = s->hybrid->crossing;
    model_instance_crossings(s->hybrid->instance, t, s->bound.at_y, s->bound.at_yp, c);
    for (size_t r = 0; r < m->relation_count; r++) {
        const bool below = s->hybrid->instance->memory[m->relations[r].memory] != 0.0;
        if (flags ? flags[r] == 0 : c[r] == 0.0) continue;
        if (c[r] != 0.0 && below != (c[r] < 0.0)) return false;
        if (c[r] == 0.0 && (strictly || below == m->relations[r].strict)) return false;
    }
    return true;
}

/* The limit from the left at an event that was located beyond its crossing: the last values at
 * which the relations have not changed, a few roundings before t. */
static bool take_before(dae_solver *s, double t, const int *flags)
{
    enum { MOST_DOUBLINGS = 10 };
    double back = DBL_EPSILON * fmax(fabs(t), fabs(s->run.t_new - s->run.t_old));
    for (int k = 0; k <= MOST_DOUBLINGS; k++, back *= 2.0) {
        double before = t - copysign(back, s->run.t_new - s->run.t_old);
        if ((before - s->run.t_old) * (t - before) < 0.0) return false;
        hybrid_values_at(s, before, s->bound.at_y, s->bound.at_yp);
        if (are_held(s, before, flags, k < MOST_DOUBLINGS)) return true;
    }
    return false;
}

void rows_leave_seam(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const bool taken = flat_of(s)->relation_count > 0 && take_before(s, s->run.t_new, NULL);
    vector_copy(s->bound.n, taken ? s->bound.at_y : s->bound.y, h->left);
    vector_copy(s->bound.n, taken ? s->bound.at_yp : s->bound.yp, h->left_yp);
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
    if (h->pending == EVENT_CROSSING && t == s->run.t) 
        return take_before(s, t, event_finder_flags(s->bound.events));
    if (h->pending != EVENT_NONE || t != h->event_time) return false;
    vector_copy(s->bound.n, h->after, s->bound.at_y);
    vector_copy(s->bound.n, h->after_yp, s->bound.at_yp);
    return true;
}
