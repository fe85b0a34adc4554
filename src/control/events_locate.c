/* Where the first crossing lies between two samples.
 *
 * All components at once on one bracket, as in DASRT [BCP96 5.3.3], [HS80]. The points are zeros of
 * the quintics through the nodes, moved so that they meet g at the ends of the bracket: where the
 * quintic is nearly g, the first two looks mostly close the bracket. Where it is no guide they are
 * zeros of the quadratic through the last three points. Either is projected as by the ITP method
 * [OT20], so that no more than SLACK evaluations above bisection are ever needed. */
#include "control/bracket.h"
#include "control/events_parts.h"

enum { SLACK = 4 };

/* Where g goes through zero continuously its change over the bracket becomes small as that closes,
 * even at a root of high order. Beyond this part of the first one g has jumped, or passed a pole.
 */
static const double JUMP = 0.5;
/* That can be told if the location began with a WIDE bracket, and if it is so many times the
 * rounding of g. */
static const double NOISE = 16.0;

/* Whether a crossing from sign s is one the user asked for. */
static bool wanted(const event_finder *f, int i, int s)
{
    const dae_event *events = f->eval->problem->form.events;
    return !events || events[i].direction == 0 || events[i].direction == -sign_of(s);
}

/* changed = new signs of the wanted components that cross between samples k-1 and k */
static bool crossings_before(event_finder *f, int k)
{
    bool any = false;
    for (int i = 0; i < f->count; i++) {
        int s = f->state[i];
        bool crosses = opposite(s, sign_at(f, k, i, s)) && wanted(f, i, s);
        f->changed[i] = crosses ? -sign_of(s) : 0;
        any = any || crosses;
    }
    return any;
}

int first_bracket(event_finder *f)
{
    memcpy(f->state, f->sign, (size_t)f->count * sizeof *f->state);
    for (int k = 1; k < f->sample_count; k++) {
        if (crossings_before(f, k)) return k;
        for (int i = 0; i < f->count; i++) f->state[i] = sign_at(f, k, i, f->state[i]);
    }
    return 0;
}

/* Whether the quintic of component i is a guide to its zeros. */
static bool is_guided(const event_finder *f, int i)
{
    return !isnan(f->fit_to) && !f->fit[i].poor;
}

/* The zero of component i in the bracket: of its quintic, moved so that it meets g at both ends;
 * where that is no guide, of the quadratic through the ends and the one given up last, or of the
 * chord. */
static double predicted_zero(const event_finder *f, int i, const sample *lo, const sample *hi)
{
    double a = lo->g[i], b = hi->g[i];
    if (is_guided(f, i)) {
        double scale = 2.0 / (f->fit_to - f->fit_from);
        double u = polynomial_zero_between(&f->fit[i].p, (lo->t - f->fit_from) * scale - 1.0, a,
                                           (hi->t - f->fit_from) * scale - 1.0, b);
        return f->fit_from + (u + 1.0) / scale;
    }
    double t[3] = {lo->t, hi->t, f->dropped_t}, g[3] = {a, b, f->dropped[i]};
    double part = isnan(f->dropped_t) ? fabs(a) / (fabs(a) + fabs(b)) : quadratic_zero(t, g);
    return lo->t + part * (hi->t - lo->t);
}

/* The earliest of them over the components that cross; *guided: it is that of a quintic. */
static double earliest_zero(const event_finder *f, const sample *lo, const sample *hi, bool *guided)
{
    double earliest = hi->t, towards = hi->t - lo->t;
    *guided = false;
    for (int i = 0; i < f->count; i++) {
        if (f->changed[i] == 0 || !(fabs(lo->g[i]) + fabs(hi->g[i]) > 0.0)) continue;
        double zero = predicted_zero(f, i, lo, hi);
        if ((zero - earliest) * towards > 0.0) continue;
        earliest = zero;
        *guided = is_guided(f, i);
    }
    return (earliest - lo->t) * towards > 0.0 ? earliest : lo->t;
}

/* One point of the ITP method [OT20 sec. 2.2]: interpolate (chord), truncate (move towards the
 * midpoint, so that the bracket closes from both sides), project (stay where bisection would still
 * be in time). `radius` is that of the projection, `truncation` the least shift worth making. */
static double itp_point(double lo, double hi, double chord, double radius, double truncation)
{
    double middle = lo + 0.5 * (hi - lo), towards = middle >= chord ? 1.0 : -1.0;
    double point = fabs(middle - chord) >= truncation ? chord + towards * truncation : middle;
    return fabs(point - middle) <= radius ? point : middle - towards * radius;
}

/* Whether the trial is on the far side for component i: beyond zero, or at a zero that it goes
 * through. */
static bool trial_crosses(const event_finder *f, int i)
{
    int s = f->state[i];
    double g = f->trial[i];
    if (s == 0 || !wanted(f, i, s)) return false;
    if (!is_seen(s)) return s * g < 0.0 && fabs(g) > f->band[i];
    return s * g < 0.0 || (g == 0.0 && f->changed[i] != 0 && f->zero[i] != s);
}

/* The trial at t in place of an end of the bracket, which is remembered. */
static void replace_end(event_finder *f, sample *end, double t)
{
    f->dropped_t = end->t;
    end->t = t;
    swap_vectors(&f->dropped, &end->g);
    swap_vectors(&end->g, &f->trial);
}

/* The trial at t becomes the far end of the bracket (samples k-1 and k). */
static void take_far_end(event_finder *f, int k, double t)
{
    for (int i = 0; i < f->count; i++)
        f->changed[i] = trial_crosses(f, i) ? -sign_of(f->state[i]) : 0;
    replace_end(f, &f->samples[k], t);
}

/* The trial at t becomes the near end of the bracket; it may arm components, which then cross if
 * they have the other sign at the far end. */
static void take_near_end(event_finder *f, int k, double t)
{
    for (int i = 0; i < f->count; i++) {
        if (is_seen(f->state[i]) || fabs(f->trial[i]) <= f->band[i]) continue;
        int s = f->state[i] = sign_of(f->trial[i]);
        if (opposite(s, sign_at(f, k, i, s)) && wanted(f, i, s)) f->changed[i] = -s;
    }
    replace_end(f, &f->samples[k - 1], t);
}

/* Shrink the bracket to the part with the first crossing; the trial at t becomes one of its ends.
 */
static void shrink_bracket(event_finder *f, int k, double t)
{
    bool any = false;
    for (int i = 0; i < f->count; i++) any = any || trial_crosses(f, i);
    if (any)
        take_far_end(f, k, t);
    else
        take_near_end(f, k, t);
}

/* How far beyond a predicted zero to look, towards the middle, so that the bracket closes from both
 * sides. A quintic is nearly g: a tenth of what the last look changed of its zero; a shift below
 * the tolerance would only close the bracket from one side. Else as [OT20]: kappa1 = 0.2 / initial,
 * kappa2 = 2. */
static double shift_of(double width, double initial, double tolerance, double taught, bool guided)
{
    double shift = guided ? 0.1 * taught : 0.2 * width * width / initial;
    return fmax(shift, 0.4 * tolerance);
}

/* Narrow the bracket (samples k-1 and k) around the first crossing down to the tolerance. */
static eval_status locate(event_finder *f, const trajectory *path, int k, double tolerance)
{
    sample *lo = &f->samples[k - 1], *hi = &f->samples[k];
    double initial = fabs(hi->t - lo->t), last = NAN;
    int bisections = initial > tolerance ? (int)ceil(log2(initial / tolerance)) : 0;
    f->dropped_t = NAN;
    for (int j = 0; fabs(hi->t - lo->t) > tolerance; j++) {
        bool guided;
        double width = fabs(hi->t - lo->t), zero = earliest_zero(f, lo, hi, &guided);
        double taught = isnan(last) ? 0.0 : fmin(fabs(zero - last), width);
        double shift = shift_of(width, initial, tolerance, taught, guided);
        double radius = fmax(0.5 * (ldexp(tolerance, bisections + SLACK - j) - width), 0.0);
        double t = itp_point(lo->t, hi->t, zero, radius, shift);
        if ((t - lo->t) * (t - hi->t) >= 0.0) break; /* no number between them */
        eval_status status = evaluate_trial(f, path, t);
        if (status != EVAL_OK) return status;
        shrink_bracket(f, k, t);
        last = zero;
    }
    return EVAL_OK;
}

/* Let the far end of the located bracket take in crossings of other components within the
 * tolerance, so that simultaneous events stay together in spite of rounding. */
static eval_status gather_simultaneous(event_finder *f, const trajectory *path, int k,
                                       double tolerance)
{
    sample *lo = &f->samples[k - 1], *hi = &f->samples[k];
    double last = f->samples[f->sample_count - 1].t;
    double t = lo->t + copysign(2.0 * tolerance, last - lo->t);
    if ((t - last) * (last - lo->t) > 0.0) t = last;
    if (f->count < 2 || fabs(t - lo->t) <= fabs(hi->t - lo->t)) return EVAL_OK;
    eval_status status = evaluate_trial(f, path, t);
    if (status != EVAL_OK) return status;
    for (int i = 0; i < f->count; i++)
        if (f->changed[i] != 0 && f->changed[i] * f->trial[i] <= 0.0) return EVAL_OK;
    for (int i = 0; i < f->count; i++)
        if (trial_crosses(f, i)) f->changed[i] = -sign_of(f->state[i]);
    hi->t = t;
    swap_vectors(&hi->g, &f->trial);
    return EVAL_OK;
}

/* Change of component i over the bracket (samples k-1 and k). */
static double bracket_change(const event_finder *f, int k, int i)
{
    return fabs(f->samples[k].g[i] - f->samples[k - 1].g[i]);
}

eval_status locate_crossings(event_finder *f, const trajectory *path, int k, double tolerance)
{
    bool wide = fabs(f->samples[k].t - f->samples[k - 1].t) > WIDE * tolerance;
    for (int i = 0; i < f->count; i++) f->extent[i] = wide ? bracket_change(f, k, i) : INFINITY;
    /* Half of the tolerance here, so that what gather_simultaneous adds stays within it. */
    eval_status status = locate(f, path, k, 0.5 * tolerance);
    if (status == EVAL_OK) status = gather_simultaneous(f, path, k, 0.5 * tolerance);
    for (int i = 0; i < f->count; i++)
        f->jumped[i] = f->changed[i] != 0 &&
                       bracket_change(f, k, i) > fmax(JUMP * f->extent[i], NOISE * f->rounding[i]);
    return status;
}
