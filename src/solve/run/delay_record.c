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
/* A piece is halved so often at most, which narrows a kink to a 4000th of the step, and so many
 * pieces are looked at: where rounding is above the tolerance none fits. */
enum { MOST_HALVINGS = 12, MOST_LOOKS = 100 };

/* The tolerance of a value of this size. */
static double tolerance(const dae_solver *s, double size)
{
    const dae_options *o = &s->bound.options;
    double atol = o->atol;
    for (int i = 0; o->atol_by_unknown && i < s->bound.n; i++)
        if (i == 0 || o->atol_by_unknown[i] < atol) atol = o->atol_by_unknown[i];
    return o->rtol * size + atol + 1e-14 * size;
}

/* Values of all delayed expressions at t, as a row there would show them. */
static dae_status sample_at(dae_solver *s, double t, double *values, size_t stride)
{
    t = fmin(fmax(t, s->run.t_old), s->run.t_new);
    dae_status status = solver_point(s, t);
    if (status != DAE_OK) return status;
    return hybrid_delayed(s, t, s->bound.at_y, s->bound.at_yp, values, stride);
}

/* Whether the polynomial through the first values meets the others; c: its coefficients. */
static bool fits(const dae_solver *s, const double *v, double *c)
{
    double size = 0.0, off = 0.0;
    delay_fit(v, c);
    for (int k = 0; k < DELAY_NODES; k++) size = fmax(size, fabs(v[k]));
    for (int k = 0; k < CHECK_COUNT; k++)
        off = fmax(off, fabs(delay_at(c, CHECKS[k]) - v[DELAY_NODES + k]));
    return off <= FINE * tolerance(s, size);
}

/* What the value and the slope do where piece `next` follows `last`. */
static int break_rank(const dae_solver *s, const delay_past *p, const delay_piece *last,
                      const delay_piece *next, int cause)
{
    double length = last->to - last->from, x = (next->from - last->from) / length;
    double before = delay_at(last->c, x), after = next->c[0];
    double bend =
        delay_slope(next->c, 0.0) / (next->to - next->from) - delay_slope(last->c, x) / length;
    double allowed = tolerance(s, fmax(fabs(before), fabs(after)));
    if (!(fabs(after - before) <= allowed)) return DELAY_JUMP;
    if (!(fabs(bend) * p->most <= allowed)) return DELAY_KINK;
    return cause < DELAY_SOFT ? DELAY_SOFT : cause;
}

static dae_status no_memory(dae_solver *s)
{
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for delayed values at t = %.9g.",
                    s->run.t);
}

/* Pieces from a to b through the values at hand; `whole`: only if all of them fit. */
static dae_status append_pieces(dae_solver *s, double a, double b, bool whole, bool *done)
{
    enum { STRIDE = DELAY_NODES + CHECK_COUNT };
    delay_table *d = s->hybrid->delays;
    double c[DELAY_NODES];
    *done = true;
    for (size_t i = 0; whole && *done && i < d->flat->delay_count; i++)
        *done = fits(s, d->work + i * STRIDE, c);
    for (size_t i = 0; *done && i < d->flat->delay_count; i++) {
        delay_past *p = &d->past[i];
        delay_piece *next = delay_append(p);
        if (!next) return no_memory(s);
        *next = (delay_piece){.from = a, .to = b, .rank = DELAY_SMOOTH};
        delay_fit(d->work + i * STRIDE, next->c);
        if (d->broken < DELAY_SMOOTH && p->count > 1)
            next->rank = break_rank(s, p, next - 1, next, d->broken);
    }
    if (*done) {
        d->broken = DELAY_SMOOTH;
        d->reached = b;
    }
    return DAE_OK;
}

/* Pieces that are fine enough from a to b, halved up to `halvings` times. */
static dae_status record_span(dae_solver *s, double a, double b, int halvings, int *looks)
{
    enum { STRIDE = DELAY_NODES + CHECK_COUNT };
    delay_table *d = s->hybrid->delays;
    dae_status status = DAE_OK;
    bool done = false;
    for (int k = 0; status == DAE_OK && k < STRIDE; k++) {
        double x = k < DELAY_NODES ? flat_delay_node(k) : CHECKS[k - DELAY_NODES];
        status = sample_at(s, a + x * (b - a), d->work + k, STRIDE);
    }
    double middle = a + 0.5 * (b - a);
    bool last = halvings == 0 || ++*looks > MOST_LOOKS || !(middle > a && middle < b);
    if (status == DAE_OK) status = append_pieces(s, a, b, !last, &done);
    if (status == DAE_OK && !done) status = record_span(s, a, middle, halvings - 1, looks);
    if (status == DAE_OK && !done) status = record_span(s, middle, b, halvings - 1, looks);
    return status;
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
    int looks = 0;
    dae_status status = record_span(s, d->reached, t, MOST_HALVINGS, &looks);
    for (size_t i = 0; i < d->flat->delay_count; i++) /* rows of the last step are still to come */
        delay_forget(&d->past[i], s->run.t_old - d->past[i].most - delay_slack(t, d->past[i].most));
    bool event = hybrid_next_return(s->hybrid) <= t + time_slack(s); /* which passes them all */
    int soft = event ? DELAY_SMOOTH : hybrid_pass_returns(s->hybrid, t);
    if (soft < DELAY_SMOOTH) hybrid_break_delays(s->hybrid, soft + 1);
    return status;
}
