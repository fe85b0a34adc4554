/* Samples of g over an interval of time, at the Chebyshev-Lobatto points, and where the quintics
 * through them dip towards or through zero between samples of one sign. */
#include "control/events_parts.h"

enum {
    SPLITS = 3,       /* halvings of an interval in which the quintic is a poor guide */
    MOST_SPLITS = 12, /* the same while it is none at all: g oscillates within the step */
    REFINEMENTS = 6   /* evaluations on one dip that the quintic does not describe */
};

/* Values below this fraction of the largest sample are zero at a dip: two crossings closer than
 * about twice its square root, in units of the step, are a touch. Well above the rounding of g. */
static const double TOUCH = 1e-12;
/* g at a start is zero if it is below this fraction of its change in the first search. */
static const double START_ZERO = 100.0 * DBL_EPSILON;
/* It is none at all if it misses g by this fraction of its own change at a point between the nodes.
 * Where kinks or jumps make it poor it is mostly better than that. */
static const double LOST = 0.1;

/* ---- points ---- */

/* trial = g(t, y(t), y'(t)) */
eval_status evaluate_trial(event_finder *f, const trajectory *path, double t)
{
    eval_status status = path->at(path->context, t, f->y, f->slopes ? f->yp : NULL);
    if (status == EVAL_OK) status = evaluate_events(f->eval, t, f->y, f->yp, f->trial);
    for (int i = 0; i < f->count && status == EVAL_OK; i++)
        if (f->quiet[i] || f->mute[i]) f->trial[i] = f->mute[i] ? f->g[i] : 0.0;
    return status;
}

/* The trial as sample number `index`; later ones move up. */
static void insert_trial(event_finder *f, int index, double t, bool node)
{
    double *spare = f->samples[f->sample_count].g;
    for (int k = f->sample_count; k > index; k--) f->samples[k] = f->samples[k - 1];
    f->samples[index] = (sample){.t = t, .g = f->trial, .node = node};
    f->trial = spare;
    f->sample_count++;
}

/* The quintics through the samples, which are nodes. */
static void fit_nodes(event_finder *f)
{
    double v[NODES];
    f->fit_from = f->samples[0].t;
    f->fit_to = f->samples[DEGREE].t;
    for (int i = 0; i < f->count; i++) {
        for (int k = 0; k < NODES; k++) v[k] = f->samples[k].g[i];
        f->fit[i] = fit_values(v);
    }
}

/* Samples at the Chebyshev-Lobatto points of [t, to]; the first is known. */
static eval_status sample_nodes(event_finder *f, const trajectory *path, double to)
{
    /* (1 - cos(k pi / 5)) / 2 */
    static const double node[NODES] = {
        0.0, 0.095491502812526288, 0.34549150281252629, 0.65450849718747371, 0.90450849718747371,
        1.0};
    f->sample_count = 0;
    vector_copy(f->count, f->g, f->trial);
    insert_trial(f, 0, f->t, true);
    for (int k = 1; k < NODES; k++) {
        double t = k == DEGREE ? to : f->t + node[k] * (to - f->t);
        eval_status status = evaluate_trial(f, path, t);
        if (status != EVAL_OK) return status;
        insert_trial(f, k, t, true);
    }
    fit_nodes(f);
    return EVAL_OK;
}

/* A component that starts within rounding of zero, against its change, starts at zero. */
static void disarm_rounding(event_finder *f)
{
    for (int i = 0; i < f->count; i++) {
        double change = 0.0;
        for (int k = 1; k < f->sample_count; k++)
            change = fmax(change, fabs(f->samples[k].g[i] - f->g[i]));
        if (fabs(f->g[i]) <= START_ZERO * change) {
            f->sign[i] = presumed_sign(f, i);
            f->band[i] = fmax(f->band[i], fabs(f->g[i]));
        }
    }
}

int sign_at(const event_finder *f, int k, int i, int s)
{
    if (abs(s) == PRESUMED) /* here, and nowhere later */
        return fabs(f->samples[k].g[i]) > f->band[i] ? sign_of(f->samples[k].g[i]) : s;
    if (is_seen(s) && f->zero[i] == s && f->samples[k].g[i] == 0.0) return s;
    for (; k < f->sample_count; k++) {
        double g = f->samples[k].g[i];
        if (g != 0.0 && (is_seen(s) || fabs(g) > f->band[i])) return sign_of(g);
    }
    if (!is_seen(s)) return s;
    return f->zero[i] != 0 ? f->zero[i] : -s;
}

/* ---- dips: where else to look for crossings ---- */

/* First sample beyond t in the direction of integration. */
static int sample_after(const event_finder *f, double t)
{
    double towards = f->samples[f->sample_count - 1].t - f->samples[0].t;
    int k = 1;
    while (k < f->sample_count - 1 && (f->samples[k].t - t) * towards <= 0.0) k++;
    return k;
}

/* Size of component i: the largest |g_i| among the samples. */
static double component_size(const event_finder *f, int i)
{
    double size = 0.0;
    for (int k = 0; k < f->sample_count; k++) size = fmax(size, fabs(f->samples[k].g[i]));
    return size;
}

/* Sample g at t, before sample k; values within rounding of zero become zero, so that a touch
 * stays one. */
static eval_status sample_dip(event_finder *f, const trajectory *path, int k, double t)
{
    eval_status status = evaluate_trial(f, path, t);
    if (status != EVAL_OK) return status;
    insert_trial(f, k, t, false);
    double *g = f->samples[k].g;
    for (int i = 0; i < f->count; i++)
        if (fabs(g[i]) <= TOUCH * component_size(f, i)) g[i] = 0.0;
    return EVAL_OK;
}

/* Minimiser of the parabola through three points, or the golden section of the longer half where
 * that is no use [Bre73 5]. */
static double dip_guess(const double t[3], const double g[3])
{
    double p = (t[1] - t[0]) * (g[1] - g[2]), q = (t[1] - t[2]) * (g[1] - g[0]);
    double denominator = 2.0 * (p - q);
    double shift = denominator != 0.0 ? ((t[1] - t[0]) * p - (t[1] - t[2]) * q) / denominator : 0.0;
    double width = fabs(t[2] - t[0]), guess = t[1] - shift;
    bool inside = (guess - t[0]) * (guess - t[2]) < 0.0;
    if (inside && fabs(shift) > 1e-3 * width) return guess;
    double longer = fabs(t[0] - t[1]) > fabs(t[2] - t[1]) ? t[0] : t[2];
    return t[1] + 0.381966 * (longer - t[1]);
}

/* Follow |g_i| down from the dip at sample k until it crosses, for a few evaluations. */
static eval_status follow_dip(event_finder *f, const trajectory *path, int i, int k)
{
    double floor = TOUCH * component_size(f, i);
    int s = sign_of(f->samples[k].g[i]);
    for (int pass = 0; pass < REFINEMENTS && f->sample_count < CAPACITY; pass++) {
        const sample *at = &f->samples[k];
        double t[3] = {at[-1].t, at[0].t, at[1].t};
        double g[3] = {s * at[-1].g[i], s * at[0].g[i], s * at[1].g[i]};
        if (g[1] <= floor || g[1] > g[0] || g[1] > g[2]) break;
        double guess = dip_guess(t, g);
        int place = sample_after(f, guess);
        eval_status status = sample_dip(f, path, place, guess);
        if (status != EVAL_OK) return status;
        double new_g = s * f->samples[place].g[i];
        if (place == k)
            k = new_g < g[1] ? k : k + 1; /* the new one is before the old middle */
        else
            k = new_g < g[1] ? place : k;
    }
    return EVAL_OK;
}

/* Whether an extremum p of component i's quintic, between samples k-1 and k, could show a crossing
 * that these two do not. */
static bool worth_checking(const event_finder *f, int i, int k, double p, double error)
{
    double left = f->samples[k - 1].g[i], right = f->samples[k].g[i];
    int s = k == 1 ? sign_of(f->sign[i]) : sign_of(left), next = sign_of(right);
    if (s == next) return s * p < error && s * p < fmin(s * left, s * right);
    if (fabs(p) <= TOUCH * component_size(f, i)) return false;
    return s != 0 || sign_of(p) != next;
}

/* Whether the quintics are a poor guide where one is needed. */
static bool guidance_is_poor(const event_finder *f)
{
    for (int i = 0; i < f->count; i++) {
        if (f->fit[i].near && f->fit[i].poor) return true;
    }
    return false;
}

/* Whether a poor quintic of a component misses even the value at one more point. Nodes and point
 * are at irrational places of the interval, so that no period hides between them. */
static eval_status guidance_is_lost(event_finder *f, const trajectory *path, double to, bool *lost)
{
    static const double probe = 0.23606797749978970; /* sqrt(5) - 2, in [-1, 1] */
    *lost = guidance_is_poor(f);
    if (!*lost) return EVAL_OK;
    eval_status status = evaluate_trial(f, path, f->t + 0.5 * (1.0 + probe) * (to - f->t));
    if (status != EVAL_OK) return status;
    *lost = false;
    for (int i = 0; i < f->count; i++) {
        const component_fit *fit = &f->fit[i];
        if (!fit->near || !fit->poor) continue;
        double miss = fabs(f->trial[i] - polynomial_at(&fit->p, probe));
        if (miss > LOST * fit->change) *lost = true;
    }
    return EVAL_OK;
}

/* Sample g at those extrema of component i's quintic that may reveal crossings between samples. */
static eval_status sample_dips(event_finder *f, const trajectory *path, int i, double to)
{
    const component_fit *fit = &f->fit[i];
    if (!fit->near) return EVAL_OK;
    double extrema[NODES];
    polynomial slope = polynomial_derivative(&fit->p);
    int count = polynomial_zeros(&slope, extrema);
    for (int e = 0; e < count && f->sample_count < CAPACITY; e++) {
        double t = f->t + 0.5 * (1.0 + extrema[e]) * (to - f->t);
        double predicted = polynomial_at(&fit->p, extrema[e]);
        int k = sample_after(f, t);
        if (!worth_checking(f, i, k, predicted, fit->error)) continue;
        int s = sign_of(f->samples[k].g[i]);
        eval_status status = sample_dip(f, path, k, t);
        if (status != EVAL_OK) return status;
        /* Above zero, and not what was predicted: the quintic is no guide here. */
        double g = f->samples[k].g[i];
        if (s * g > 0.0 && fabs(g - predicted) > 0.1 * fabs(g)) status = follow_dip(f, path, i, k);
        if (status != EVAL_OK) return status;
    }
    return EVAL_OK;
}

/* ---- intervals ---- */

eval_status sample_ends(event_finder *f, const trajectory *path, double to)
{
    eval_status status = evaluate_trial(f, path, to);
    if (status != EVAL_OK) return status;
    f->sample_count = 0;
    f->fit_to = NAN;
    insert_trial(f, 0, to, false);
    vector_copy(f->count, f->g, f->trial);
    insert_trial(f, 0, f->t, false);
    if (f->fresh) disarm_rounding(f);
    return EVAL_OK;
}

eval_status sample_interval(event_finder *f, const trajectory *path, double least, double *to)
{
    if (fabs(*to - f->t) <= least) return sample_ends(f, path, *to);
    eval_status status = sample_nodes(f, path, *to);
    for (int k = 0; k < SPLITS && status == EVAL_OK && guidance_is_poor(f); k++) {
        if (fabs(*to - f->t) <= 2.0 * least) break;
        *to = f->t + 0.5 * (*to - f->t);
        status = sample_nodes(f, path, *to);
    }
    for (int k = SPLITS; k < MOST_SPLITS && status == EVAL_OK; k++) {
        bool lost;
        status = guidance_is_lost(f, path, *to, &lost);
        if (status != EVAL_OK || !lost || fabs(*to - f->t) <= 2.0 * least) break;
        *to = f->t + 0.5 * (*to - f->t);
        status = sample_nodes(f, path, *to);
    }
    if (status != EVAL_OK) return status;
    if (f->fresh) disarm_rounding(f);
    for (int i = 0; i < f->count && status == EVAL_OK; i++) status = sample_dips(f, path, i, *to);
    return status;
}
