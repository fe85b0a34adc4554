#include "control/step_control.h"

#include <math.h>

/* Aim at half the tolerance; the second number keeps the power finite [BCP96 (5.2.23)]. */
static const double SAFETY = 2.0, SMALLEST_ESTIMATE = 1e-4;

/* Steps that only ever double lie somewhere between half of the aim and the aim, with errors well
 * below it. Steps that may grow by less stay close to it and must aim lower for the same accuracy:
 * a tenth of the tolerance. Over the models of bench_sweep the work at equal error is the same for
 * aims from 1/2 to 1/10; errors on the index-1 pendulum at rtol = 1e-11 are 111 rtol instead of
 * 490.
 */
static const double SAFETY_FINE = 10.0;

/* Departures from DASSL, tuned on ten models (docs/notes/bdf.md):
 *   - h may grow by less than 2 once it has been steady for a few steps;
 *   - the order may fall only if it has been steady for two steps: right after a change the
 *     differences show the change, not the solution;
 *   - after a failure h may not grow for order + 1 steps. DASSL may double, fail and halve for
 * ever.
 */
static const double MOST_GROWTH = 2.0;
static const double LEAST_FIRST_FACTOR = 1e-4; /* h0 = 0.1 meets 1e-13 in ten attempts */
enum { STEADY_FOR_GROWTH = 3, STEADY_FOR_LOWER = 2 };

/* So many steps after a bound was met the order may rise again. On y_i' = -2^i y_i, y >= 0, i = 0
 * .. 11, tolerances 1e-2 to 1e-8, the work is the same within a third from 5 to 50; with 0 it can
 * be 20 times as much, since every other attempt meets the bound. */
enum { STEPS_NEAR_BOUND = 10 };

void control_start(step_control *c, double h, int order, const dae_options *options,
                   int method_max_order)
{
    int max_order = options->max_order > 0 ? options->max_order : method_max_order;
    *c = (step_control){.order = order,
                        .last_order = order,
                        .h = h,
                        .min_order = options->min_order > 0 ? options->min_order : 1,
                        .max_order = max_order,
                        .starting = order == 1,
                        .first = true,
                        .fixed = steps_are_given(options),
                        .ramp = options->step_count > 0,
                        .max_step = options->max_step,
                        .least_growth = MOST_GROWTH};
}

static void limit_step(step_control *c)
{
    if (c->max_step > 0.0 && fabs(c->h) > c->max_step) c->h = copysign(c->max_step, c->h);
}

void control_start_one_step(step_control *c, double h, int order, const dae_options *options)
{
    control_start(c, h, order, options, order);
    c->min_order = c->max_order = order;
    c->starting = false;
    c->one_step = true;
}

/* ---- one-step methods ---- */

/* Aim at 0.9 of the step that would meet the tolerance, with the part 0.4/p of the error before
 * [Gus91]. DOPRI5 has 0.2/p [HNW93 II.4], which follows sooner: on four mechanisms a fifth of the
 * steps of an order 8 method were rejected then and a tenth are now, at 5 to 15 % fewer evaluations
 * for the same error. */
static const double ONE_STEP_SAFETY = 0.9, INTEGRAL = 0.4;
static const double MOST_RISE = 8.0, MOST_FALL = 0.2, MOST_FALL_REJECTED = 0.1;
static const double LEAST_ERROR = 1e-4; /* a lucky step says little about the next one */
static const double LEAST_POWER = 0.1;  /* [Gus94] */

/* max(error, 1e-10)^-power */
static double relief(double error, double power)
{
    return pow(fmax(error, 1e-10), -power);
}

/* Factor for h after an accepted step: 0.9 err_n^(-0.7/p) err_{n-1}^(0.4/p); after a failure none
 * above 1. */
static double one_step_factor(const step_control *c, const attempt *a)
{
    const double p = a->order;
    if (a->next_factor > 0.0) return a->next_factor;
    double factor = c->last_error > 0.0 ? relief(a->error, (1.0 - 0.75 * INTEGRAL) / p) /
                                              relief(c->last_error, INTEGRAL / p)
                                        : relief(a->error, 1.0 / p);
    factor = fmax(MOST_FALL, fmin(MOST_RISE, ONE_STEP_SAFETY * factor));
    return c->rejected ? fmin(factor, 1.0) : factor;
}

static void accept_one_step(step_control *c, const attempt *a)
{
    if (!c->fixed) c->h = a->h * one_step_factor(c, a);
    c->last_error = fmax(a->error, LEAST_ERROR);
    c->last_order = a->order;
    c->rejected = c->first = false;
    c->error_failures = c->other_failures = 0;
    limit_step(c);
}

/* 0.9 err^(-1/p) within bounds: the first step may be wrong by many powers of ten */
static double retry_factor(const step_control *c, const attempt *a)
{
    double least = c->first ? LEAST_FIRST_FACTOR : MOST_FALL_REJECTED;
    if (a->next_factor > 0.0) return a->next_factor;
    if (!isfinite(a->error)) return least;
    return fmax(least, fmin(ONE_STEP_SAFETY, ONE_STEP_SAFETY * pow(a->error, -1.0 / a->order)));
}

/* Two failures in a row tell by which power k of h errors really fall, err ~ h^k: less than the
 * order where the equations are stiff. The step that meets the tolerance by that, within bounds
 * [Gus94]. */
static double observed_factor(const step_control *c, const attempt *a)
{
    double power = log(c->failed_error / a->error) / log(c->failed_h / a->h);
    if (!isfinite(power)) return ONE_STEP_SAFETY;
    power = fmax(LEAST_POWER, fmin(power, a->order));
    return fmax(MOST_FALL_REJECTED, ONE_STEP_SAFETY * pow(a->error, -1.0 / power));
}

static void reject_one_step(step_control *c, const attempt *a)
{
    double factor = a->next_factor > 0.0 ? a->next_factor : 0.25;
    if (a->status == ATTEMPT_OK) {
        factor = retry_factor(c, a);
        if (++c->error_failures == 1) {
            c->first_error = a->error;
            c->first_h = a->h;
        } else if (!c->literal) {
            factor = fmin(factor, observed_factor(c, a));
        }
        c->failed_error = a->error;
        c->failed_h = a->h;
    } else {
        c->other_failures++;
        if (a->status == ATTEMPT_BOUND) factor = fmax(0.1, fmin(0.9, 0.9 * a->bound_ratio));
    }
    c->rejected = true;
    c->h = a->h * factor;
}

/* ---- multistep methods ---- */

/* The error estimate ERK = TERK / (k + 1) that order k would have made. */
static double estimate_at(const attempt *a, int order)
{
    return a->terms[order - a->order + 2] / (order + 1);
}

/* Whether the terms of the Taylor series ask for a lower order (tested before acceptance). */
static bool wants_lower(const attempt *a)
{
    int k = a->order;
    if (k == 2) return a->terms[1] <= 0.5 * a->terms[2];
    return k > 2 && fmax(a->terms[0], a->terms[1]) <= a->terms[2];
}

/* Order after an accepted step, when the starting phase is over. */
static int choose_order(const step_control *c, const attempt *a, bool lower)
{
    int k = a->order;
    double down = a->terms[1], here = a->terms[2], up = a->terms[3];
    if (lower) return k - 1;
    bool stay = k >= c->max_order || k == c->last_order + 1 || c->near_bound > 0;
    if (isnan(up) || stay) return k;
    if (k == 1) return up < 0.5 * here ? k + 1 : k;
    if (down <= fmin(here, up)) return k > c->min_order ? k - 1 : k;
    return up < here ? k + 1 : k;
}

/* r of (5.2.23) */
static double growth(const step_control *c, double estimate, int order)
{
    double safety = c->least_growth < MOST_GROWTH ? SAFETY_FINE : SAFETY;
    return pow(safety * estimate + SMALLEST_ESTIMATE, -1.0 / (order + 1));
}

/* Factor for h after an accepted step, from the ratio r that the error estimate allows. */
static double accepted_factor(const step_control *c, double r)
{
    double least = c->since_change >= STEADY_FOR_GROWTH ? c->least_growth : MOST_GROWTH;
    if (r >= least && c->hold == 0) return fmin(r, MOST_GROWTH);
    return r <= 1.0 ? fmax(0.5, fmin(0.9, r)) : 1.0;
}

/* At order 1 a step that has just grown and must shrink again: order 2 is what is missing, but that
 * is not judged before the step has been the same for a while, and so on for ever. */
enum { STEADY_FOR_ORDER = 4 };

static bool in_a_circle(const step_control *c, const attempt *a, double h, int order)
{
    return order == 1 && a->order == 1 && fabs(h) < fabs(a->h) && c->since_change == 0;
}

/* ---- DASSL to the letter [BCP96 5.2.3] ---- */

/* r = (2 EST + 1e-4)^(-1/(k+1)) for the error estimate of order k (5.2.23) */
static double dassl_ratio(const attempt *a, int order)
{
    return pow(SAFETY * estimate_at(a, order) + SMALLEST_ESTIMATE, -1.0 / (order + 1));
}

/* Order and step rise with every step at first; then the order follows the terms of the Taylor
 * series, and h doubles, stays, or shrinks by 0.5 to 0.9. */
static void accept_as_dassl(step_control *c, const attempt *a)
{
    bool lower = wants_lower(a) && a->order > c->min_order;
    double h = a->h;
    int order = a->order;
    if (lower || order >= c->max_order) c->starting = false;
    if (c->starting) {
        order++;
        h *= 2.0;
    } else {
        order = choose_order(c, a, lower);
        double r = dassl_ratio(a, order);
        h *= r >= 2.0 ? 2.0 : r <= 1.0 ? fmax(0.5, fmin(0.9, r)) : 1.0;
    }
    c->last_order = a->order;
    c->order = order;
    c->h = h;
    c->error_failures = c->other_failures = 0;
    c->first = false;
    limit_step(c);
}

/* Newton failed: h/4. The error test failed: 0.9 r within [0.25, 0.9], then a quarter, then order 1
 * and a quarter each. */
static void reject_as_dassl(step_control *c, const attempt *a)
{
    c->starting = false;
    c->h = 0.25 * a->h;
    if (a->status != ATTEMPT_OK) {
        c->other_failures++;
        return;
    }
    if (++c->error_failures == 1) {
        c->first_error = a->error;
        c->first_h = a->h;
    }
    bool lower = wants_lower(a) && a->order > c->min_order;
    c->order = c->error_failures >= 3 ? 1 : a->order - lower;
    if (c->error_failures == 1) c->h = a->h * fmax(0.25, fmin(0.9, 0.9 * dassl_ratio(a, c->order)));
}

void control_accept(step_control *c, const attempt *a)
{
    if (c->one_step) {
        accept_one_step(c, a);
        return;
    }
    if (c->dassl && !c->fixed) {
        accept_as_dassl(c, a);
        return;
    }
    bool steady = c->starting || c->since_change >= STEADY_FOR_LOWER;
    bool lower = steady && wants_lower(a) && a->order > c->min_order;
    if (lower || a->order >= c->max_order) c->starting = false;
    bool rising = c->starting || c->ramp || a->order < c->min_order;
    int hold = 0;
    double h = c->fixed ? c->h : a->h; /* the stop time may have cut a fixed step */
    int order = a->order;
    if (c->fixed || rising) {
        if (rising && order < c->max_order) order++;
        if (c->starting && !c->fixed) h *= fmax(2.0, a->next_factor);
    } else {
        order = choose_order(c, a, lower);
        h *= accepted_factor(c, growth(c, estimate_at(a, order), order));
        if (in_a_circle(c, a, h, order)) hold = STEADY_FOR_ORDER;
    }
    c->since_change = order == a->order && h == a->h ? c->since_change + 1 : 0;
    if (c->hold > 0) c->hold--;
    if (hold > 0) c->hold = hold;
    if (c->near_bound > 0) c->near_bound--;
    c->last_order = a->order;
    c->order = order;
    c->h = h;
    c->error_failures = c->other_failures = 0;
    c->first = false;
    limit_step(c);
}

/* First failure: what the estimate says; second: a quarter; then order 1 and a quarter each. The
 * first step of all may be wrong by many powers of ten, since y' of algebraic variables is unknown;
 * there the estimate is followed every time. */
static void reject_error(step_control *c, const attempt *a)
{
    c->error_failures++;
    if (c->error_failures == 1) {
        c->first_error = a->error;
        c->first_h = a->h;
    }
    bool lower = wants_lower(a) && a->order > c->min_order;
    c->order = c->error_failures >= 3 ? 1 : a->order - lower;
    double factor = 0.25, least = c->first ? LEAST_FIRST_FACTOR : 0.25;
    if (c->error_failures == 1 || c->first)
        factor = fmax(least, fmin(0.9, 0.9 * growth(c, estimate_at(a, c->order), c->order)));
    c->h = a->h * factor;
}

void control_shorten(step_control *c, double h)
{
    c->starting = false;
    c->since_change = 0;
    c->h = h;
}

void control_reject(step_control *c, const attempt *a)
{
    if (c->one_step) {
        reject_one_step(c, a);
        return;
    }
    if (c->dassl) {
        reject_as_dassl(c, a);
        return;
    }
    if (!c->first) c->starting = false; /* a first step that was too long says nothing */
    c->since_change = 0;
    c->hold = a->order + 1;
    if (a->status == ATTEMPT_OK) {
        reject_error(c, a);
        return;
    }
    c->other_failures++;
    c->h = 0.25 * a->h;
    if (a->status == ATTEMPT_BOUND) { /* backward Euler keeps signs where higher orders do not */
        c->order = 1;
        c->near_bound = STEPS_NEAR_BOUND;
        c->h = a->order > 1 ? a->h : a->h * fmax(0.1, fmin(0.9, 0.9 * a->bound_ratio));
    }
}
