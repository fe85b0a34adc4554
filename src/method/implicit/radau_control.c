/* Step size and number of stages, after RADAU5 and RADAU [HW96 IV.8; HW99]. */
#include "method/implicit/radau_parts.h"

#include <float.h>
#include <math.h>

/* The second one near singularities, where errors are larger beside estimates than elsewhere; from
 * 0.7 to 0.8 the work at equal error is the same. */
static const double SAFETY = 0.9, SAFETY_STEEP = 0.75;
/* Rejected steps tell the exponent of the error if they are that much larger, and at most so many
 * times the usual one; errors below LEAST_ERROR make no trend (as in RADAU5). */
static const double LEAST_SECANT = 1.05, MOST_EXPONENT = 3.0, LEAST_EXPONENT = 0.5, FORGET = 0.95,
                    LEAST_ERROR = 0.01;
static const double LEAST_FACTOR = 0.2, MOST_FACTOR = 8.0, MOST_RAISED = 3.0;
/* A first step may be wrong by many powers of ten, but not all of them at once: errors next to an
 * infinite slope, which fall slowly, would have the step vanish in rounding. */
static const double LEAST_FIRST = 1e-4;
/* Growth by less than this is not worth a factorisation: the first one if that costs nothing beside
 * the iterations, more if it costs more. RADAU has 1.2. On the heat equation 2 to 2.5 save a fifth
 * of the time. */
static const double DEAD_ZONE = 1.3, DEAD_ZONE_MOST = 2.2, FACTOR_WEIGHT = 0.25;
/* Beyond it new partial derivatives are worth their price. */
static const double WORN = 0.001;
/* The number of stages: work of a step relative to one of 3 stages, measured on six problems of
 * bench/radau_peers.c; gains that are worth a change; steps between changes. */
static const double GAIN_RAISE = 1.3, GAIN_LOWER = 1.2, GAIN_LOWER_MOST = 2.0;
enum { STEADY_STEPS = 4 };
/* Where to begin with 5 and with 7 stages */
static const double START_5 = 1e-6, START_7 = 0.0;
/* Believable ratios of successive terms of Taylor's series. */
static const double LEAST_RATIO = 1e-3, MOST_RATIO = 10.0;
/* Contraction at which Newton's method is still good value. */
static const double BEST_THETA = 0.1;
static const double LEAST_THETA = 0.001, MOST_THETA = 0.9;
/* Work of a step that its stages have no part in, in evaluations of a stage: from 0 to 8 times on
 * nine problems of 2 to 20 variables differ by 4 %, 4 is best. */
static const double STEP_WORK = 4.0;

int radau_max_iterations(int stages)
{
    return stages < 3 ? 7 : 7 + (stages - 3) * 5 / 2;
}

int radau_first_stages(const error_norm *norm, const double *y)
{
    double rtol = stages_relative_tolerance(norm, y);
    return rtol > START_5 ? 3 : rtol > START_7 ? 5 : 7;
}

static inline double clamp(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

/* What fewer stages must promise: from 1.2 at rtol = 1e-6 to 2 at 1e-10. Where tolerances are tight
 * they cost accuracy: errors of order s + 1, where steps are too long for the order 2s - 1, are
 * larger beside rtol. (On the ring modulator at 1e-12 errors were up to 1500 tolerances with 1.2,
 * and 80 with 2, with fewer evaluations.) */
static double gain_to_lower(double rtol)
{
    double digits = -log10(rtol);
    return clamp(GAIN_LOWER + 0.2 * (digits - 6.0), GAIN_LOWER, GAIN_LOWER_MOST);
}

/* Error of the embedded formula over ||h^(s+1) y^(s+1)|| / (s+1)!: (s+1) c_1 .. c_s / gamma, since
 * y'(0) - q'(0)/h is the error at 0 of interpolation at the nodes */
static double error_constant(const collocation *m)
{
    double product = (m->stages + 1) / m->gamma;
    for (int i = 0; i < m->stages; i++) product *= m->nodes[i];
    return product;
}

void radau_set_error_factor(radau_scratch *w, const method_context *ctx, const double *y)
{
    double rtol = stages_relative_tolerance(ctx->norm, y);
    if (rtol != w->factor_rtol) w->gain_to_lower = gain_to_lower(rtol);
    for (int k = 0; k < RADAU_METHODS && rtol != w->factor_rtol; k++) {
        w->factors[k] = collocation_error_factor(rtol, 2 * k + 1);
        w->constants[k] = error_constant(radau_iia(2 * k + 1));
    }
    w->factor_rtol = rtol;
    w->error_factor = w->factors[w->step.m->stages / 2];
}

/* x^(1/(s+1)) */
static double root(int stages, double x)
{
    switch (stages) {
    case 1: return sqrt(x);
    case 3: return sqrt(sqrt(x));
    case 5: return cbrt(sqrt(x));
    default: return sqrt(sqrt(sqrt(x)));
    }
}

/* Many Newton iterations ask for more safety. */
static double safety(const radau_scratch *w)
{
    double k = radau_max_iterations(w->step.m->stages);
    return fmin(SAFETY, SAFETY * (1.0 + 2.0 * k) / (w->step.newton.iterations + 2.0 * k));
}

/* The power of h with which errors grow, from this try of error e and a larger one that was
 * rejected; 0: there is none */
static double secant_exponent(const radau_scratch *w, double e)
{
    const double ratio = fabs(w->rejected_h / w->step.h);
    if (w->rejected_m != w->step.m || ratio < LEAST_SECANT || !(w->rejected_error > e)) return 0.0;
    return log(w->rejected_error / e) / log(ratio);
}

/* The same for an accepted step: s + 1 or more. Near singularities it is much more, and every step
 * there would be followed by a rejected one; so it is forgotten slowly. */
static double error_exponent(const radau_state *s, const radau_scratch *w, double e)
{
    const double usual = w->step.m->stages + 1.0, measured = secant_exponent(w, e);
    if (measured > 0.0) return clamp(measured, usual, MOST_EXPONENT * usual);
    return s->m == w->step.m && s->exponent > usual ? fmax(usual, FORGET * s->exponent) : usual;
}

/* e^(-1/exponent): the factor of h with which the error becomes 1 */
static double reach_factor(const radau_scratch *w, double e)
{
    return w->exponent > w->step.m->stages + 1.0 ? pow(e, -1.0 / w->exponent)
                                                 : 1.0 / root(w->step.m->stages, e);
}

/* h_next / h with the same number of stages after a step of error e < 1: Gustafsson's predictive
 * controller and the plain one, the smaller of both [HW96 IV.8] */
static double same_order_factor(const radau_state *s, radau_scratch *w, double e)
{
    w->exponent = error_exponent(s, w, e);
    const double reach = reach_factor(w, e);
    w->reach = fabs(w->step.h) * (e < LEAST_ERROR ? reach_factor(w, LEAST_ERROR) : reach);
    double factor = safety(w) * reach;
    w->trend = 1.0;
    if (!(s->reach > 0.0) || s->m != w->step.m) return factor;
    const double trend = fabs(w->step.h) * reach / s->reach;
    w->trend = fmin(1.0, trend);
    const double safe = w->exponent > w->step.m->stages + 1.0 ? SAFETY_STEEP : SAFETY;
    return fmin(factor, safe * reach * trend);
}

/* The weighted error of a step of this length with `stages`: the terms a_k = ||h^k y^(k)|| / k! are
 * known for k = s and s + 1 and taken for a geometric sequence. */
static double other_order_error(const radau_scratch *w, double e, int stages)
{
    const int now = w->step.m->stages;
    double next = e / (w->error_factor * w->constants[now / 2]); /* a_(s+1) */
    double ratio = clamp(next / w->leading, LEAST_RATIO, MOST_RATIO);
    double term = next;
    for (int k = now; k < stages; k++) term *= ratio;
    for (int k = now; k > stages; k--) term /= ratio;
    double error = w->factors[stages / 2] * w->constants[stages / 2] * term;
    return error > 1e-12 ? error : 1e-12;
}

/* How far h may grow before Newton's method gets slow: theta is about proportional to h. After a
 * failure the step stays below where it happened for a while. */
static double newton_limit(const radau_state *s, const radau_scratch *w)
{
    double limit =
        w->step.newton.theta > 0.0 ? sqrt(BEST_THETA / w->step.newton.theta) : MOST_FACTOR;
    if (s->h_limit > 0.0) limit = fmin(limit, s->h_limit / fabs(w->step.h));
    return fmax(limit, 1.0);
}

/* Progress per work with so many stages and a step factor h. Newton's method contracts by
 * theta in proportion to h^2, since derivatives are those of the middle of the step; matrices and
 * the estimate cost as much as one iteration. */
static double efficiency(const radau_scratch *w, int stages, double factor)
{
    double iterations = w->step.newton.iterations;
    if (w->step.newton.theta > 0.0) {
        const double now = clamp(w->step.newton.theta, LEAST_THETA, MOST_THETA);
        const double then = clamp(factor * factor * now, LEAST_THETA, MOST_THETA);
        if (then != now) iterations *= w->log_theta / log(then);
    }
    return factor / (stages * (iterations + 1.0) + STEP_WORK);
}

/* The largest error with which so many stages can have the progress per work `value`: a longer step
 * takes no fewer iterations, and a shorter one at least those of the best rate. Without roots and
 * logarithms, and with a little more than rounding in reserve. */
static double most_error(const radau_scratch *w, int stages, double value)
{
    const double RESERVE = 1.0 + 1e-9, LOG_LEAST_THETA = -6.9077552789821368;
    double fewest = w->step.newton.theta > 0.0 ? w->log_theta / LOG_LEAST_THETA : 1.0;
    double least = value * (stages * (w->step.newton.iterations * fewest + 1.0) + STEP_WORK);
    if (least >= 1.0) least = value * (stages * (w->step.newton.iterations + 1.0) + STEP_WORK);
    const double ratio = RESERVE * SAFETY * w->trend / least;
    double error = ratio;
    for (int k = 0; k < stages; k++) error *= ratio;
    return error;
}

/* Compare with one number of stages more or less. */
static void consider(const radau_state *s, radau_scratch *w, double e, int stages, double limit,
                     double gain, double *best, double *factor)
{
    if (stages < 3 || stages < s->least || stages > s->most || stages > w->cap) return;
    const double error = other_order_error(w, e, stages);
    if (error > most_error(w, stages, gain * *best)) return;
    double other = SAFETY / root(stages, error) * w->trend;
    if (stages > w->step.m->stages) other = fmin(other, MOST_RAISED);
    double value = efficiency(w, stages, fmin(other, limit));
    if (value < gain * *best) return;
    *best = value;
    *factor = other;
    w->next_stages = stages;
}

static double dead_zone(const radau_scratch *w)
{
    double part = FACTOR_WEIGHT * w->step.factor_cost / (w->step.newton.iterations + 1.0);
    return clamp(1.0 + part, DEAD_ZONE, DEAD_ZONE_MOST);
}

/* h_next / h after an accepted step, and the number of stages for it. */
static double plan_next(const radau_state *s, radau_scratch *w, double e)
{
    const int now = w->step.m->stages;
    double factor = same_order_factor(s, w, e), limit = newton_limit(s, w);
    if (w->step.newton.theta > 0.0)
        w->log_theta = log(clamp(w->step.newton.theta, LEAST_THETA, MOST_THETA));
    double best = efficiency(w, now, fmin(factor, limit));
    w->next_stages = now < 3 && s->most >= 3 ? 3 : now;
    if (now >= 3 && s->since_change >= STEADY_STEPS && w->leading > 0.0) {
        consider(s, w, e, now + 2, limit, GAIN_RAISE, &best, &factor);
        if (!w->limited) consider(s, w, e, now - 2, limit, w->gain_to_lower, &best, &factor);
    }
    if (w->next_stages < s->least) w->next_stages = s->least;
    double most = w->tries > 1 ? 1.0 : w->next_stages > now ? MOST_RAISED : MOST_FACTOR;
    factor = clamp(factor, LEAST_FACTOR, fmin(most, limit));
    bool same = w->next_stages == now && !radau_jacobian_worn(w);
    return same && factor >= 1.0 && factor <= dead_zone(w) ? 1.0 : factor;
}

/* h_next / h after a step that failed the error test. Errors that shrink more slowly than they
 * should (those of y' where the step begins do, at index 3) tell so from the second try on. */
static double after_rejection(const radau_state *s, radau_scratch *w, double e)
{
    const double usual = w->step.m->stages + 1.0, measured = secant_exponent(w, e);
    double factor = safety(w) / root(w->step.m->stages, e);
    if (measured > 0.0 && measured < usual)
        factor = safety(w) * pow(e, -1.0 / fmax(measured, LEAST_EXPONENT));
    w->rejected_m = w->step.m;
    w->rejected_h = w->step.h;
    w->rejected_error = e;
    return s->m ? clamp(factor, LEAST_FACTOR, SAFETY) : clamp(factor, LEAST_FIRST, 0.1);
}

double radau_next_factor(const radau_state *s, radau_scratch *w, double error)
{
    if (!(error < DBL_MAX)) return LEAST_FACTOR;
    return error < 1.0 ? plan_next(s, w, fmax(error, 1e-12)) : after_rejection(s, w, error);
}

bool radau_jacobian_worn(const radau_scratch *w)
{
    return w->step.newton.theta > WORN;
}

/* Within [least, most] */
static int within(const radau_state *s, int stages)
{
    return stages < s->least ? s->least : stages > s->most ? s->most : stages;
}

/* What was planned; after repeated failures 3 stages, then 1. */
int radau_stages_now(const radau_state *s, const radau_scratch *w)
{
    int stages = s->stages;
    if (w->newton_failures >= 4 || w->error_failures >= 4) stages = 3;
    if (w->newton_failures >= 7 || w->error_failures >= 7) stages = 1;
    stages = within(s, stages < s->stages ? stages : s->stages);
    return radau_iia(stages < w->cap ? stages : w->cap)->stages;
}
