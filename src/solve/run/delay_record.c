/* The past of delayed expressions, written down behind each step from what a row there would show,
 * and as exact as the tolerance asks for. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "solve/hybrid/hybrid.h"
#include "solve/run/run.h"

/* Between the nodes a piece is checked at these places; it may be wrong by this part of the
 * tolerance, as the method's own error stands beside it. */
static const double CHECKS[] = {0.22, 0.5, 0.81};
enum { CHECK_COUNT = 3 };
static const double FINE = 0.02;
/* A piece is halved so often at most, which narrows a kink to a billionth of the step. Half of a
 * piece of something smooth is 64 times as good; so many may be no better than LITTLE times the
 * whole: where rounding is above the tolerance none is. */
enum { MOST_HALVINGS = 30, MOST_IN_VAIN = 100 };
static const double LITTLE = 0.25;

/* Values of all delayed expressions at t, as a row there would show them. */
static dae_status sample_at(dae_solver *s, double t, double *values, size_t stride)
{
    t = fmin(fmax(t, s->run.t_old), s->run.t_new);
    dae_status status = solver_point(s, t);
    if (status != DAE_OK) return status;
    return hybrid_delayed(s, t, s->bound.at_y, s->bound.at_yp, values, stride);
}

/* By how many tolerances the polynomial from a to b through the first values misses the others,
 * beyond what these move by within two roundings of the time. */
static double misfit(const dae_solver *s, double a, double b, const double *v)
{
    double size = 0.0, off = 0.0, low = v[0], high = v[0], c[DELAY_NODES];
    delay_fit(v, c);
    for (int k = 0; k < DELAY_NODES; k++) {
        size = fmax(size, fabs(v[k]));
        low = fmin(low, v[k]);
        high = fmax(high, v[k]);
    }
    const double rounding = 2.0 * DBL_EPSILON * fabs(b) / (b - a) * (high - low);
    for (int k = 0; k < CHECK_COUNT; k++)
        off = fmax(off, fabs(delay_at(c, CHECKS[k]) - v[DELAY_NODES + k]));
    return fmax(off - rounding, 0.0) / delays_tolerance(s, size);
}

/* What the value and the slope do where piece `next` follows `last`. */
static int break_rank(const dae_solver *s, const delay_past *p, const delay_piece *last,
                      const delay_piece *next, int cause)
{
    double length = last->to - last->from, x = (next->from - last->from) / length;
    double before = delay_at(last->c, x), after = next->c[0];
    double bend =
        delay_slope(next->c, 0.0) / (next->to - next->from) - delay_slope(last->c, x) / length;
    double allowed = delays_tolerance(s, fmax(fabs(before), fabs(after)));
    if (!(fabs(after - before) <= allowed)) return DELAY_JUMP;
    if (!(fabs(bend) * p->most <= allowed)) return DELAY_KINK;
    return cause < DELAY_SOFT ? DELAY_SOFT : cause;
}

static dae_status no_memory(dae_solver *s)
{
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for delayed values at t = %.9g.",
                    s->run.t);
}

enum { STRIDE = DELAY_NODES + CHECK_COUNT };

/* Pieces from a to b through the values at hand. */
static dae_status append_pieces(dae_solver *s, double a, double b)
{
    delay_table *d = s->hybrid->delays;
    for (size_t i = 0; i < d->flat->delay_count; i++) {
        delay_past *p = &d->past[i];
        delay_piece *next = delay_append(p);
        if (!next) return no_memory(s);
        *next = (delay_piece){.from = a, .to = b, .rank = DELAY_SMOOTH};
        delay_fit(d->work + i * STRIDE, next->c);
        if (d->broken < DELAY_SMOOTH && p->count > 1)
            next->rank = break_rank(s, p, next - 1, next, d->broken);
    }
    d->broken = DELAY_SMOOTH;
    d->reached = b;
    return DAE_OK;
}

/* Pieces that are fine enough from a to b, halved up to `halvings` times; whole: what the one that
 * this is half of was off by. */
static dae_status record_span(dae_solver *s, double a, double b, int halvings, double whole,
                              int *in_vain)
{
    delay_table *d = s->hybrid->delays;
    dae_status status = DAE_OK;
    double off = 0.0;
    for (int k = 0; status == DAE_OK && k < STRIDE; k++) {
        double x = k < DELAY_NODES ? flat_delay_node(k) : CHECKS[k - DELAY_NODES];
        status = sample_at(s, a + x * (b - a), d->work + k, STRIDE);
    }
    if (status != DAE_OK) return status;
    for (size_t i = 0; i < d->flat->delay_count; i++)
        off = fmax(off, misfit(s, a, b, d->work + i * STRIDE));
    const double middle = a + 0.5 * (b - a);
    *in_vain += off > FINE && off > LITTLE * whole;
    if (off <= FINE || halvings == 0 || *in_vain > MOST_IN_VAIN || !(b - a > delay_slack(b, 0.0)))
        return append_pieces(s, a, b);
    status = record_span(s, a, middle, halvings - 1, off, in_vain);
    return status == DAE_OK ? record_span(s, middle, b, halvings - 1, off, in_vain) : status;
}

/* The run has gone back to t. */
static dae_status rewind_pasts(dae_solver *s, double t)
{
    delay_table *d = s->hybrid->delays;
    for (size_t i = 0; i < d->flat->delay_count; i++) {
        if (d->past[i].piece[0].from > t - d->past[i].most)
            return diag_set(&s->diag, DAE_ERR_STATE,
                            "The run goes back from t = %.9g to %.9g: what delayed values were "
                            "before that is not known any more.",
                            d->reached, t);
        delay_rewind(&d->past[i], t);
    }
    d->reached = t;
    d->broken = DELAY_SOFT;
    return DAE_OK;
}

dae_status delays_record(dae_solver *s)
{
    delay_table *d = s->hybrid ? s->hybrid->delays : NULL;
    const double t = s->run.t;
    if (!d || !d->begun) return DAE_OK;
    if (t < d->reached) return rewind_pasts(s, t);
    if (!(t > d->reached)) return DAE_OK;
    int in_vain = 0;
    dae_status status = record_span(s, d->reached, t, MOST_HALVINGS, INFINITY, &in_vain);
    for (size_t i = 0; i < d->flat->delay_count; i++) /* rows of the last step are still to come */
        delay_forget(&d->past[i], s->run.t_old - d->past[i].most - delay_slack(t, d->past[i].most));
    bool event = hybrid_next_return(s->hybrid) <= t + time_slack(s); /* which passes them all */
    int soft = event ? DELAY_SMOOTH : hybrid_pass_returns(s->hybrid, t);
    if (soft < DELAY_SMOOTH) hybrid_break_delays(s->hybrid, soft + 1);
    return status;
}
