/* Time events, and slow progress. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/explain/explain_model.h"
#include "solve/hybrid/hybrid_parts.h"

/* ---- samples ---- */

double hybrid_next_time(const hybrid *h)
{
    return h->delays ? fmin(h->next_time, hybrid_next_return(h)) : h->next_time;
}

double hybrid_next_stop(const dae_solver *s)
{
    const hybrid *h = s->hybrid;
    double next = INFINITY;
    for (size_t i = 0; isfinite(h->next_time) && i < flat_of(s)->sample_count; i++)
        if (reads_clock(s, i)) next = fmin(next, h->sample[i].next);
    if (h->delays) next = fmin(next, fmin(hybrid_next_return(h), hybrid_next_soft_return(h)));
    return next;
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

static dae_status reject_clock(dae_solver *s, size_t i, double t)
{
    const flat_sample *q = &flat_of(s)->samples[i];
    s->diag.t = t;
    s->diag.line = q->place.line;
    s->diag.value = s->hybrid->sample[i].interval;
    return diag_set(&s->diag, DAE_ERR_EVENT,
                    "%s:%d: the times of sample(%g, %g) are closer to each other than numbers of "
                    "the size of t = %.9g can tell.",
                    model_file(s), q->place.line, s->hybrid->sample[i].start, s->diag.value, t);
}

/* The piece of inputs from outside that begins at t. */
static dae_status enter_piece(dae_solver *s, size_t i, double t)
{
    hybrid *h = s->hybrid;
    const flat_schedule *schedule = flat_of(s)->samples[i].schedule;
    double next = flat_schedule_enter(schedule, t, sample_slack(t), h->instance->memory);
    h->sample[i] = (sample_clock){.start = t, .interval = INFINITY, .next = next};
    if (next > t + sample_slack(t)) return DAE_OK;
    s->diag.t = t;
    s->diag.line = flat_of(s)->samples[i].place.line;
    return diag_set(&s->diag, DAE_ERR_EVENT,
                    "%s:%d: the next jump of an input behind t = %.9g is said to be at %.9g.",
                    model_file(s), s->diag.line, t, next);
}

/* Raise the flags of samples due at t, and set their next times; whether there are any. */
dae_status samples_raise(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    if (hybrid_pass_returns(h, t) < DELAY_SOFT) s->stats.events++;
    for (size_t i = 0; i < m->sample_count; i++) {
        sample_clock *c = &h->sample[i];
        bool due = c->next <= t + sample_slack(t);
        h->instance->memory[m->samples[i].memory] = due;
        if (!due) continue;
        s->stats.events++;
        if (m->samples[i].schedule) {
            dae_status status = enter_piece(s, i, t);
            if (status != DAE_OK) return status;
            continue;
        }
        c->count += 1.0;
        c->next = c->start + c->count * c->interval;
        if (c->next <= t + sample_slack(t)) return reject_clock(s, i, t);
    }
    find_next_time(h);
    return DAE_OK;
}

/* First sample times at or after t. */
dae_status samples_start(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    for (size_t i = 0; i < m->sample_count; i++) {
        if (m->samples[i].schedule) {
            dae_status status = enter_piece(s, i, t);
            if (status != DAE_OK) return status;
            continue;
        }
        double start = model_form_constant(h->instance->form, m->samples[i].start);
        double interval = model_form_constant(h->instance->form, m->samples[i].interval);
        if (!isfinite(start) || !(interval > 0.0) || !isfinite(interval)) {
            s->diag.line = m->samples[i].place.line;
            return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                            "%s:%d: sample(%g, %g) needs a finite start and a positive interval.",
                            model_file(s), m->samples[i].place.line, start, interval);
        }
        double k = fmax(0.0, ceil((t - start) / interval));
        if (k > 0.0 && start + (k - 1.0) * interval >= t - sample_slack(t)) k -= 1.0;
        h->sample[i] = (sample_clock){start, interval, k, start + k * interval};
    }
    find_next_time(h);
    return DAE_OK;
}

/* ---- slow progress ---- */

/* Every so many steps and events progress is looked at; a run that needs MOST_STEPS more at this
 * rate, some seconds for the smallest models, deserves a word. */
enum { LOOK_EVERY = 10000, MOST_STEPS = 1000000 };

/* The clock that strikes so often that it makes the steps short: a dozen or two follow each event.
 * -1: none. */
static int busy_clock(const hybrid *h, double pace)
{
    int busiest = -1;
    for (size_t i = 0; i < h->instance->form->flat->sample_count; i++)
        if (h->sample[i].interval < 100.0 * pace &&
            (busiest < 0 || h->sample[i].interval < h->sample[busiest].interval))
            busiest = (int)i;
    return busiest;
}

static void tell_slow(dae_solver *s, double tend, double pace)
{
    const hybrid *h = s->hybrid;
    dae_diag text;
    diag_clear(&text);
    int clock = busy_clock(h, pace);
    diag_set(&text, DAE_OK,
             "note: %ld steps and events took the run to t = %.6g; at this rate %.1e more would "
             "take it to %.6g.",
             h->calls, s->run.t, (tend - s->run.t) / pace, tend);
    if (clock >= 0)
        diag_append(&text, " sample(%g, %g) at %s:%d strikes that often.", h->sample[clock].start,
                    h->sample[clock].interval, model_file(s),
                    flat_of(s)->samples[clock].place.line);
    else if (!explain_index(h->instance->form, &text) && s->run.last.estimate)
        diag_append(
            &text, " Variable %s dominates the error.",
            problem_variable(s->bound.problem, vector_argmax(s->bound.n, s->run.last.estimate,
                                                             s->bound.norm.tested)));
    solver_note(s, text.text);
}

void hybrid_note_progress(dae_solver *s, double tend)
{
    hybrid *h = s->hybrid;
    if (++h->calls % LOOK_EVERY != 0 || h->slow_reported) return;
    double pace = (s->run.t - h->started) / (double)h->calls;
    if (fabs(tend - s->run.t) <= MOST_STEPS * fabs(pace)) return;
    h->slow_reported = true;
    tell_slow(s, tend, pace);
}
