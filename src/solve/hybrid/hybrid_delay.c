/* delay(..): where a past begins, the times at which its breaks come back, and how long steps may
 * be.
 *
 * An event where a delayed expression has a jump or a kink is an event again one delay later: a
 * breaking point [BZ13]. What it does there may be smoother by one order, and so on, until
 * methods do not notice. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "model/model_delay.h"
#include "solve/hybrid/hybrid_parts.h"

/* A delay time that varies must stay above this part of its largest value: no step is longer. */
static const double VANISHING = 1e-9;

double delays_tolerance(const dae_solver *s, double size)
{
    const dae_options *o = &s->bound.options;
    double atol = o->atol;
    for (int i = 0; o->atol_by_unknown && i < s->bound.n; i++)
        if (i == 0 || o->atol_by_unknown[i] < atol) atol = o->atol_by_unknown[i];
    return o->rtol * size + atol + 1e-14 * size;
}

/* At the start a delayed expression is that of now. */
void delays_open(dae_solver *s)
{
    const flat_model *m = flat_of(s);
    delay_table *d = s->hybrid->delays;
    if (!d) return;
    d->begun = d->held = false;
    for (size_t i = 0; i < m->delay_count; i++)
        s->hybrid->instance->memory[m->delays[i].memory] = 1.0;
}

static dae_status reject_lag(dae_solver *s, size_t i, double lag, double t)
{
    const flat_delay *d = &flat_of(s)->delays[i];
    const double most = s->hybrid->delays->past[i].most;
    s->diag.t = t;
    s->diag.line = d->place.line;
    s->diag.value = lag;
    if (!isfinite(lag) || !isfinite(most))
        return diag_set(
            &s->diag, DAE_ERR_ARGUMENT,
            "%s:%d: the delay time is %g, at most %g, at t = %.9g: both must be finite.",
            model_file(s), d->place.line, lag, most, t);
    if (lag < 0.0)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "%s:%d: the delay time is %g at t = %.9g; it must not be negative.",
                        model_file(s), d->place.line, lag, t);
    if (lag <= most)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "%s:%d: the delay time has come down to %g at t = %.9g: no step may be "
                        "longer. Keep it away from 0.",
                        model_file(s), d->place.line, lag, t);
    return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                    "%s:%d: the delay time is %g at t = %.9g, more than delayMax = %g.",
                    model_file(s), d->place.line, lag, t, most);
}

/* The lag of delay i at t, with the values in y and yp, is one. */
static dae_status check_lag(dae_solver *s, size_t i, double t, const double *y, const double *yp)
{
    delay_past *p = &s->hybrid->delays->past[i];
    double lag = p->recent = hybrid_value(s, t, y, yp, flat_of(s)->delays[i].lag);
    double slack = delay_slack(t, p->most);
    bool sound = lag >= -slack && lag <= p->most + slack && isfinite(lag) && isfinite(p->most);
    bool gone = flat_of(s)->delays[i].varies && lag < VANISHING * p->most;
    return sound && !gone ? DAE_OK : reject_lag(s, i, lag, t);
}

dae_status hybrid_explain_lag(dae_solver *s, dae_status status)
{
    static const double NEAR = 1e-6;
    const delay_table *d = s->hybrid ? s->hybrid->delays : NULL;
    for (size_t i = 0; d && i < d->flat->delay_count; i++) {
        const double lag = d->past[i].recent, most = d->past[i].most;
        const flat_delay *q = &d->flat->delays[i];
        if (!q->varies || (lag > NEAR * most && lag < (1.0 - NEAR) * most)) continue;
        s->diag.line = q->place.line;
        s->diag.value = lag;
        return diag_set(&s->diag, status,
                        "%s:%d: no step leads on from t = %.9g: there the delay time has come to "
                        "%g, and must stay above 0 and up to delayMax = %g.",
                        model_file(s), q->place.line, s->run.t_new, lag, most);
    }
    return status;
}

dae_status hybrid_delayed(dae_solver *s, double t, const double *y, const double *yp,
                          double *values, size_t stride)
{
    const flat_model *m = flat_of(s);
    dae_status status = DAE_OK;
    for (size_t i = 0; status == DAE_OK && i < m->delay_count; i++) {
        if (m->delays[i].varies) status = check_lag(s, i, t, y, yp);
        if (status != DAE_OK) return status;
        double value = values[i * stride] = hybrid_value(s, t, y, yp, m->delays[i].value);
        if (value == 0.0) values[i * stride] = 0.0; /* without a sign */
        if (isfinite(value)) continue;
        s->diag.t = t;
        s->diag.line = m->delays[i].place.line;
        status = diag_set(&s->diag, DAE_ERR_EVALUATION,
                          "%s:%d: what is delayed has the value %g at t = %.9g.", model_file(s),
                          m->delays[i].place.line, value, t);
    }
    return status;
}

/* Before t the value was what it is there. */
static bool begin_past(delay_past *p, double t, double value)
{
    p->count = p->hint = 0;
    delay_piece *first = delay_append(p);
    if (!first) return false;
    *first = (delay_piece){.from = t - fmax(1.0, p->most), .to = t, .rank = DELAY_SMOOTH};
    first->c[0] = value;
    p->passed = -INFINITY;
    return true;
}

/* Delay times as far as they are constant, and whether they are sound at t. */
static dae_status begin_lags(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    dae_status status = DAE_OK;
    for (size_t i = 0; status == DAE_OK && i < m->delay_count; i++) {
        delay_past *p = &s->hybrid->delays->past[i];
        p->most = model_form_constant(s->hybrid->instance->form, m->delays[i].most);
        p->lag = m->delays[i].varies ? NAN : value_at(s, t, m->delays[i].lag);
        p->identity = p->lag == 0.0;
        status = check_lag(s, i, t, s->bound.y, s->bound.yp);
    }
    return status;
}

dae_status delays_begin(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    delay_table *d = h->delays;
    if (!d) return DAE_OK;
    dae_status status = begin_lags(s, t);
    if (status == DAE_OK) status = hybrid_delayed(s, t, s->bound.y, s->bound.yp, d->work, 1);
    if (status != DAE_OK) return status;
    for (size_t i = 0; i < m->delay_count; i++) {
        if (!begin_past(&d->past[i], t, d->work[i]))
            return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for delayed values.");
        h->instance->memory[m->delays[i].memory] = d->past[i].identity;
    }
    d->begun = true;
    d->reached = t;
    d->broken = DELAY_JUMP;
    model_instance_recall(h->instance, t, s->bound.y, s->bound.yp);
    model_instance_prepare(h->instance);
    return DAE_OK;
}

void delays_hold(dae_solver *s, double t)
{
    delay_table *d = s->hybrid->delays;
    if (!d || d->held) return;
    model_instance_recall(s->hybrid->instance, t, s->bound.y, s->bound.yp);
    d->held = true;
}

void delays_release(dae_solver *s)
{
    if (s->hybrid->delays) s->hybrid->delays->held = false;
}

/* ---- breaks ---- */

/* When the first break of these ranks comes back. */
static double next_return(const hybrid *h, int low, int high)
{
    const delay_table *d = h->delays;
    double next = INFINITY;
    for (size_t i = 0; d && d->begun && i < d->flat->delay_count; i++) {
        const delay_piece *p = delay_break_behind(&d->past[i], d->past[i].passed, low, high);
        if (p) next = fmin(next, p->from + d->past[i].lag);
    }
    /* one that nothing is recorded behind yet: it counts as a jump */
    if (d && d->begun && d->broken < DELAY_SOFT && low == DELAY_JUMP)
        for (size_t i = 0; i < d->flat->delay_count; i++)
            if (d->past[i].lag > 0.0) next = fmin(next, d->reached + d->past[i].lag);
    return next;
}

double hybrid_next_return(const hybrid *h)
{
    return next_return(h, DELAY_JUMP, DELAY_KINK);
}

double hybrid_next_soft_return(const hybrid *h)
{
    return next_return(h, DELAY_SOFT, DELAY_SMOOTH - 1);
}

void hybrid_break_delays(const hybrid *h, int rank)
{
    if (h->delays && rank < h->delays->broken) h->delays->broken = rank;
}

/* Goes behind the breaks of a past that come back up to t; the lowest of their ranks. */
static int pass_breaks(delay_past *p, double t)
{
    int lowest = DELAY_SMOOTH;
    const delay_piece *next;
    while ((next = delay_break_behind(p, p->passed, DELAY_JUMP, DELAY_SMOOTH - 1)) &&
           delay_returns(p, next, t)) {
        p->passed = next->from;
        if (next->rank < lowest) lowest = next->rank;
    }
    return lowest;
}

int hybrid_pass_returns(const hybrid *h, double t)
{
    int lowest = DELAY_SMOOTH;
    for (size_t i = 0; h->delays && i < h->delays->flat->delay_count; i++) {
        int rank = pass_breaks(&h->delays->past[i], t);
        if (rank < lowest) lowest = rank;
    }
    return lowest;
}

bool delays_due(const hybrid *h, double t)
{
    return h->delays && hybrid_next_return(h) <= t + sample_slack(t);
}

/* ---- steps ---- */

double hybrid_longest_step(const dae_solver *s)
{
    const delay_table *d = s->hybrid->delays;
    double longest = INFINITY;
    for (size_t i = 0; d && i < d->flat->delay_count; i++)
        if (!d->past[i].identity) longest = fmin(longest, d->past[i].recent);
    return longest;
}

double hybrid_next_piece(const hybrid *h, double t)
{
    const delay_table *d = h->delays;
    double next = INFINITY;
    for (size_t i = 0; d && d->begun && i < d->flat->delay_count; i++) {
        delay_past *p = &d->past[i];
        if (p->lag > 0.0)
            next = fmin(next, delay_next(p, t - p->lag + delay_slack(t, p->most)) + p->lag);
    }
    return next;
}
