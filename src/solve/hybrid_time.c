/* Time events, and events that crowd. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "solve/hybrid_parts.h"

/* So many events within CROWD_SPAN of the time since the start are no progress: at that rate the
 * same time again would take 10^8 of them. */
enum { MOST_CROWDED = 1000 };
static const double CROWD_SPAN = 1e-5;

/* ---- samples ---- */

double hybrid_next_time(const hybrid *h)
{
    return h->next_time;
}

static void find_next_time(hybrid *h)
{
    h->next_time = INFINITY;
    for (size_t i = 0; i < h->instance->form->flat->sample_count; i++)
        h->next_time = fmin(h->next_time, h->sample[i].next);
}

/* Times this close are one time. */
double sample_slack(double t)
{
    return 128.0 * DBL_EPSILON * fabs(t);
}

/* Raise the flags of samples due at t, and set their next times; whether there are any. */
bool samples_raise(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    bool any = false;
    for (size_t i = 0; i < m->sample_count; i++) {
        sample_clock *c = &h->sample[i];
        bool due = c->next <= t + sample_slack(t);
        h->instance->memory[m->samples[i].memory] = due;
        if (!due) continue;
        any = true;
        s->stats.events++;
        c->count += 1.0;
        c->next = c->start + c->count * c->interval;
    }
    find_next_time(h);
    return any;
}

/* First sample times at or after t. */
dae_status samples_start(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    for (size_t i = 0; i < m->sample_count; i++) {
        double start = model_form_constant(h->instance->form, m->samples[i].start);
        double interval = model_form_constant(h->instance->form, m->samples[i].interval);
        if (!isfinite(start) || !(interval > 0.0) || !isfinite(interval)) {
            s->diag.line = m->samples[i].place.line;
            return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                            "%s:%d: sample(%g, %g) needs a finite start and a positive interval.",
                            hybrid_file(s), m->samples[i].place.line, start, interval);
        }
        double k = fmax(0.0, ceil((t - start) / interval));
        if (k > 0.0 && start + (k - 1.0) * interval >= t - sample_slack(t)) k -= 1.0;
        h->sample[i] = (sample_clock){start, interval, k, start + k * interval};
    }
    find_next_time(h);
    return DAE_OK;
}

/* ---- events that crowd ---- */

/* Many events in a vanishing interval: a ball that comes to rest, a switch that chatters. */
dae_status hybrid_watch_crowd(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    double near = CROWD_SPAN * fabs(t - h->started);
    if (h->crowd == 0 || fabs(t - h->crowd_since) > near) {
        h->crowd = 0;
        h->crowd_since = t;
    }
    if (++h->crowd <= MOST_CROWDED) return DAE_OK;
    const flat_model *m = flat_of(s);
    const int *flags = s->events ? event_finder_flags(s->events) : NULL;
    s->diag.t = t;
    diag_set(
        &s->diag, DAE_ERR_EVENT,
        "%d events without progress: t went from %.17g to %.17g. Events accumulate here, or the "
        "model chatters.",
        MOST_CROWDED, h->crowd_since, t);
    for (size_t r = 0; flags && r < m->relation_count; r++) {
        if (flags[r] == 0) continue;
        s->diag.line = m->relations[r].place.line;
        diag_append(&s->diag, " The last one is of the relation at %s:%d.", hybrid_file(s),
                    s->diag.line);
        break;
    }
    diag_append(&s->diag, " Give the model a state of rest, or the relation some hysteresis.");
    return DAE_ERR_EVENT;
}
