/* Values at the time of an event: rows before and after it. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* Whether c, the crossing function of relation r, counts as zero. */
static bool is_zero(const dae_solver *s, double t, size_t r, double c)
{
    return c == 0.0 || c == s->hybrid->zero[r] ||
           fabs(c) <= relation_noise(s, t, s->bound.at_y, s->bound.at_yp, r);
}

/* Whether all relations, those that cross if flags tell which, are on the sides on which they are
 * held, at (t, at_y). Zero counts only where it belongs to that side, and is not to be avoided. */
static bool are_held(dae_solver *s, double t, const int *flags, bool strictly)
{
    const flat_model *m = flat_of(s);
    double *c = s->hybrid->crossing;
    model_instance_crossings(s->hybrid->instance, t, s->bound.at_y, s->bound.at_yp, c);
    for (size_t r = 0; r < m->relation_count; r++) {
        const bool below = s->hybrid->instance->memory[m->relations[r].memory] != 0.0;
        if (flags ? flags[r] == 0 : is_zero(s, t, r, c[r])) continue;
        if (c[r] != 0.0 && below != (c[r] < 0.0)) return false;
        if (c[r] == 0.0 && (strictly || below == m->relations[r].strict)) return false;
    }
    return true;
}

/* at_y, at_yp = values at t as output has them, which knows better than the interpolant of some
 * methods, and algebraic variables by the equations where relations read them. */
static void take_output(dae_solver *s, double t)
{
    bool refined = false;
    solver_interpolate(s, t, 0, s->bound.at_y);
    solver_interpolate(s, t, 1, s->bound.at_yp);
    if (refine_point(s, t, &refined) != DAE_OK) {
        diag_clear(&s->diag);
        solver_interpolate(s, t, 0, s->bound.at_y);
        solver_interpolate(s, t, 1, s->bound.at_yp);
    }
    if (reads_solved(s)) /* left as they are where that fails */
        initializer_project(s->bound.init, t, s->run.t_new - s->run.t_old, s->bound.kinds,
                            s->bound.norm.weights, s->bound.at_y, s->bound.at_yp);
}

/* The limit from the left at an event that was located beyond its crossing: the last values at
 * which the relations have not changed, a few roundings before t. */
static double take_before(dae_solver *s, double t, const int *flags)
{
    enum { MOST_DOUBLINGS = 10 };
    double back = DBL_EPSILON * fmax(fabs(t), fabs(s->run.t_new - s->run.t_old));
    for (int k = 0; k <= MOST_DOUBLINGS; k++, back *= 2.0) {
        double before = t - copysign(back, s->run.t_new - s->run.t_old);
        const bool all = (before - s->run.t_old) * (t - before) < 0.0; /* of the step */
        if (all) before = s->run.t_old;
        take_output(s, before);
        if (are_held(s, before, flags, k < MOST_DOUBLINGS && !all)) return before;
        if (all) break;
    }
    return NAN;
}

/* Values of output may need a second run of the step, whose work s->bound.y and yp are. */
void rows_leave_seam(dae_solver *s)
{
    hybrid *h = s->hybrid;
    vector_copy(s->bound.n, s->bound.y, h->left);
    vector_copy(s->bound.n, s->bound.yp, h->left_yp);
    h->left_at = s->run.t_new;
    if (flat_of(s)->relation_count == 0) return;
    const double before = take_before(s, s->run.t_new, NULL);
    vector_copy(s->bound.n, h->left, s->bound.y);
    vector_copy(s->bound.n, h->left_yp, s->bound.yp);
    if (isnan(before)) return;
    h->left_at = before;
    vector_copy(s->bound.n, s->bound.at_y, h->left);
    vector_copy(s->bound.n, s->bound.at_yp, h->left_yp);
}

/* at_y, at_yp = those that the event at t has found, a time delta later. */
static bool take_later(dae_solver *s, double t, double delta)
{
    const hybrid *h = s->hybrid;
    vector_copy(s->bound.n, h->after, s->bound.at_y);
    vector_copy(s->bound.n, h->after_yp, s->bound.at_yp);
    if (delta == 0.0) return true;
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) s->bound.at_y[i] += delta * h->after_yp[i];
    return initializer_project(s->bound.init, t + delta, delta, s->bound.kinds,
                               s->bound.norm.weights, s->bound.at_y, s->bound.at_yp) == EVAL_OK;
}

/* The limit from the right at the event at t: values at which its relations are held. */
static double take_after(dae_solver *s, double t)
{
    static const double parts[] = {0.0, 0x1p-24, 0x1p-16, 0x1p-8, 1.0};
    const double moment = s->hybrid->soon - t;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (take_later(s, t, parts[k] * moment) && are_held(s, t + parts[k] * moment, NULL, false))
            return t + parts[k] * moment;
    take_later(s, t, 0.0);
    return t;
}

double hybrid_take_row(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    if (flat_of(s)->relation_count == 0 || h->at_start || s->run.phase == PHASE_ENDED) return t;
    if (h->pending == EVENT_NONE && t == h->event_time && h->looked) return take_after(s, t);
    if (t != s->run.t) return t;
    if (h->pending == EVENT_SEAM) {
        vector_copy(s->bound.n, h->left, s->bound.at_y);
        vector_copy(s->bound.n, h->left_yp, s->bound.at_yp);
        return h->left_at;
    }
    if (h->pending != EVENT_CROSSING || s->run.t_new == s->run.t_old) return t;
    vector_copy(s->bound.n, s->bound.at_y, h->further);
    vector_copy(s->bound.n, s->bound.at_yp, h->further_yp);
    double before = take_before(s, t, event_finder_flags(s->bound.events));
    if (!isnan(before)) return before;
    vector_copy(s->bound.n, h->further, s->bound.at_y);
    vector_copy(s->bound.n, h->further_yp, s->bound.at_yp);
    return t;
}
