/* Locating zero crossings of g(t, y(t), y'(t)) on the dense output of a step.
 *
 * Detection: g is sampled at the six Chebyshev-Lobatto points of the interval, and the quintic
 * through the samples tells where else to look: at those of its extrema that dip towards or through
 * zero between samples of one sign. BDF's dense output has degree at most five, so that the quintic
 * is g itself whenever g is affine in (t, y, y'): no crossing is then missed, however close it is
 * to the next (down to round-off). Only values of g itself, never of the quintic, become events.
 *
 * Location: all components at once on one bracket, as in DASRT [BCP96 5.3.3], [HS80], by the ITP
 * method [OT20], which converges superlinearly and never needs more than one evaluation above
 * bisection. ITP carries no memory from point to point, so that the component which leads may
 * change from one iteration to the next. */
#include "control/events.h"

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"

#include <float.h>
#include <stdlib.h>

enum {
    NODES = 6,                /* Chebyshev-Lobatto points of a search interval */
    DEGREE = NODES - 1,       /* of the polynomial through them */
    EXTRA = 26,               /* room for samples at dips; beyond it dips go unchecked */
    CAPACITY = NODES + EXTRA, /* samples in one search */
    SPLITS = 3,               /* halvings of an interval in which the quintic is a poor guide */
    MOST_SPLITS = 12,         /* the same while it is none at all: g oscillates within the step */
    REFINEMENTS = 6,          /* evaluations on one dip that the quintic does not describe */
    PIECES = 1024,            /* pieces of time in one search; then others have their turn */
    MOST_HALVINGS = 24,       /* of a step, until a piece is plain */
    MOST_UNBOUNDED = 1024,    /* pieces of a step that are short and not plain: near touches and
                                 poles there are few */
    MOST_PIECES = 1 << 18,    /* of a step in all */
    PRESUMED = 2              /* a sign times this: known, but not seen off zero yet */
};

/* Values below this fraction of the largest sample are zero at a dip: two crossings closer than
 * about twice its square root, in units of the step, are a touch. Well above the rounding of g. */
static const double TOUCH = 1e-12;
/* g at a start is zero if it is below this fraction of its change in the first search. */
static const double START_ZERO = 100.0 * DBL_EPSILON;
/* The quintic is no good guide if its last two Chebyshev coefficients exceed this fraction of all
 * but the first; the interval is then halved, at most SPLITS times. Measured on sin(c(t)) exp(2t)
 * with random cubics c, roots at least h/20 apart: 0.84 percent of the roots lost without halving,
 * none of 80000 with it. */
static const double POOR = 0.01;
/* It is none at all if it misses g by this fraction of its own change at a point between the nodes.
 * Where kinks or jumps make it poor it is mostly better than that. */
static const double LOST = 0.1;

/* Where g goes through zero continuously its change over the bracket becomes small as that closes,
 * even at a root of high order. Beyond this part of the first one g has jumped, or passed a pole.
 */
static const double JUMP = 0.5;
/* That can be told if the location began with a bracket of so many times its tolerance, */
static const double WIDE = 16.0;
/* and if it is so many times the rounding of g. */
static const double NOISE = 16.0;

typedef struct sample {
    double t;
    double *g; /* one vector of the finder's store; pointers are swapped, not copied */
    bool node; /* a Chebyshev-Lobatto point */
} sample;

struct event_finder {
    evaluator *eval;  /* borrowed */
    int count;        /* components of g */
    double tolerance; /* relative */

    double t;                     /* where the last search ended */
    double *g;                    /* g there */
    int *sign;                    /* last sign off zero; 0: not armed; +-PRESUMED */
    double *band;                 /* |g_i| up to this is zero while not armed, or presumed */
    int *held;                    /* side on which it is held since the start, 0: not known */
    bool *unresolved;             /* of the last find: flagged while presumed; */
    bool *jumped;                 /* flagged by a jump or a pole */
    double *peak;                 /* largest |g_i| since its last crossing */
    double *last_peak;            /* the same at the last find, where flagged */
    bool fresh;                   /* no search since the start */
    double *entry_g, *entry_band; /* copies for a failing search to go back to */
    int *entry_sign;
    double start_time; /* of the last start */

    event_bound bound; /* NULL: none */
    void *bound_context;
    bool bound_for_all;
    double reach;          /* length of the next piece to ask for */
    double counted_to;     /* end of the step that these count pieces of: */
    int pieces, unbounded; /* all; short ones that are not plain */
    int culprit;           /* the component that was not plain last, or EVENTS_PLAIN */

    int *flags;        /* of the last find */
    double found_at;   /* its time; NAN if none */
    double *overshoot; /* |g_i| there where flagged and not beyond a jump, else 0 */
    double *rounding;  /* of g_i; 0: not known */
    double *extent;    /* change of g_i over the bracket that the location began with */

    sample samples[CAPACITY]; /* sorted in the direction of integration */
    int sample_count;
    double *trial;      /* g at the point tried last */
    int *state;         /* sign during a search */
    int *changed;       /* new sign of the components that cross in the bracket, else 0 */
    double *y, *yp;     /* work, n each */
    double *real_store; /* owns all double arrays */
    int *int_store;     /* owns all int arrays */
};

/* What the interpolant callback needs to be called. */
typedef struct trajectory {
    event_interpolant at;
    void *context;
} trajectory;

static int sign_of(double x)
{
    return (x > 0.0) - (x < 0.0);
}

static void swap_vectors(double **a, double **b)
{
    double *kept = *a;
    *a = *b;
    *b = kept;
}

/* ---------------------------------------------------------------------------------------------
 * Life
 * ------------------------------------------------------------------------------------------- */

/* Deal out the two stores. */
static void partition(event_finder *f, size_t n)
{
    size_t count = (size_t)f->count;
    double *next = f->real_store;
    f->y = next;
    f->yp = next + n;
    next += 2 * n;
    double **vectors[] = {&f->g,     &f->band, &f->overshoot, &f->entry_g, &f->entry_band,
                          &f->trial, &f->peak, &f->last_peak, &f->extent,  &f->rounding};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++, next += count) *vectors[k] = next;
    for (int k = 0; k < CAPACITY; k++, next += count) f->samples[k].g = next;
    f->sign = f->int_store;
    f->flags = f->sign + count;
    f->state = f->flags + count;
    f->changed = f->state + count;
    f->entry_sign = f->changed + count;
    f->held = f->entry_sign + count;
    f->jumped = f->unresolved + count;
}

dae_status event_finder_new(event_finder **finder, evaluator *eval, double tolerance,
                            dae_diag *diag)
{
    *finder = NULL;
    if (!(tolerance >= 0.0 && tolerance < 1.0))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "event_tolerance is %g; it must be at least 0 and less than 1.", tolerance);
    const dae_residual *form = &eval->problem->form;
    size_t n = (size_t)form->n, count = (size_t)form->event_count;
    event_finder *f = DAE_NEW(event_finder);
    if (f) {
        f->real_store = DAE_ARRAY(double, 2 * n + (10 + CAPACITY) * count);
        f->int_store = DAE_ARRAY(int, 6 * count);
        f->unresolved = DAE_ARRAY(bool, 2 * count);
    }
    if (!f || !f->real_store || !f->int_store || !f->unresolved) {
        event_finder_free(f);
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d event functions.",
                        form->event_count);
    }
    f->eval = eval;
    f->count = form->event_count;
    f->tolerance = tolerance > 0.0 ? fmax(tolerance, 8.0 * DBL_EPSILON) : 100.0 * DBL_EPSILON;
    f->found_at = NAN;
    partition(f, n);
    *finder = f;
    return DAE_OK;
}

void event_finder_free(event_finder *finder)
{
    if (!finder) return;
    dae_free_all(finder->real_store, finder->int_store, finder->unresolved, finder);
}

const int *event_finder_flags(const event_finder *finder)
{
    return finder->flags;
}

bool event_finder_terminal(const event_finder *finder)
{
    const dae_event *events = finder->eval->problem->form.events;
    if (!events) return false;
    for (int i = 0; i < finder->count; i++)
        if (finder->flags[i] != 0 && events[i].terminal) return true;
    return false;
}

eval_status event_finder_start(event_finder *f, double t, const double *y, const double *yp)
{
    if (f->count > 0) {
        eval_status status = evaluate_events(f->eval, t, y, yp, f->trial);
        if (status != EVAL_OK) return status;
        swap_vectors(&f->g, &f->trial);
    }
    bool at_find = t == f->found_at;
    for (int i = 0; i < f->count; i++) {
        /* Restitution, say, turns a component around just beyond its zero: the overshoot of the
         * location is then no side of its own. */
        f->band[i] = at_find ? 4.0 * f->overshoot[i] : 0.0;
        f->sign[i] = fabs(f->g[i]) > f->band[i] ? sign_of(f->g[i]) : 0;
        f->held[i] = 0;
    }
    f->t = f->start_time = t;
    f->fresh = true;
    return EVAL_OK;
}

/* Not seen off zero: where it is held, or nothing is known. */
static int presumed_sign(const event_finder *f, int i)
{
    return PRESUMED * f->held[i];
}

void event_finder_hold(event_finder *f, int i, int side, double band)
{
    if (!f->fresh) return;
    f->held[i] = side;
    if (side == 0 || (f->sign[i] == side && fabs(f->g[i]) >= band)) return;
    f->band[i] = fmax(fmax(f->band[i], band), 2.0 * fabs(f->g[i]));
    f->sign[i] = presumed_sign(f, i);
}

void event_finder_rounding(event_finder *f, int i, double rounding)
{
    f->rounding[i] = rounding;
}

void event_finder_bound(event_finder *f, event_bound bound, void *context, bool all)
{
    f->bound = bound;
    f->bound_context = context;
    f->bound_for_all = bound && all;
    f->reach = INFINITY;
    f->counted_to = NAN;
    f->culprit = EVENTS_PLAIN;
}

static bool search_is_spent(const event_finder *f)
{
    return f->bound && (f->unbounded > MOST_UNBOUNDED || f->pieces > MOST_PIECES);
}

int event_finder_unbounded(const event_finder *f)
{
    return search_is_spent(f) ? f->culprit : EVENTS_PLAIN;
}

double event_finder_time(const event_finder *f)
{
    return f->t;
}

bool event_finder_unresolved(const event_finder *f, int i)
{
    return f->flags[i] != 0 && f->unresolved[i];
}

bool event_finder_jumped(const event_finder *f, int i)
{
    return f->flags[i] != 0 && f->jumped[i];
}

double event_finder_peak(const event_finder *f, int i)
{
    return f->last_peak[i];
}

double event_finder_resolution(const event_finder *f, double t, double h)
{
    return 2.0 * f->tolerance * fmax(fabs(t), fabs(h));
}

/* ---------------------------------------------------------------------------------------------
 * Sampling
 * ------------------------------------------------------------------------------------------- */

/* trial = g(t, y(t), y'(t)) */
static eval_status evaluate_trial(event_finder *f, const trajectory *path, double t)
{
    eval_status status = path->at(path->context, t, f->y, f->yp);
    return status == EVAL_OK ? evaluate_events(f->eval, t, f->y, f->yp, f->trial) : status;
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

/* A sign that was seen off zero. */
static bool is_seen(int s)
{
    return s == 1 || s == -1;
}

/* The sign of g_i that counts at sample k, given its sign s before: a zero takes the sign that
 * follows, so that a touch is no crossing; zero up to the end is a crossing (-s), unless the sign
 * is but presumed. */
static int sign_at(const event_finder *f, int k, int i, int s)
{
    if (abs(s) == PRESUMED) /* here, and nowhere later */
        return fabs(f->samples[k].g[i]) > f->band[i] ? sign_of(f->samples[k].g[i]) : s;
    for (; k < f->sample_count; k++) {
        double g = f->samples[k].g[i];
        if (g != 0.0 && (is_seen(s) || fabs(g) > f->band[i])) return sign_of(g);
    }
    return is_seen(s) ? -s : s;
}

/* Whether signs s and next are on the two sides of zero. */
static bool opposite(int s, int next)
{
    return s * next < 0;
}

/* ---------------------------------------------------------------------------------------------
 * The quintic through the nodes, and its extrema
 * ------------------------------------------------------------------------------------------- */

typedef struct polynomial {
    int degree;
    double a[NODES]; /* sum a_k u^k, -1 <= u <= 1 */
} polynomial;

static double polynomial_at(const polynomial *p, double u)
{
    double sum = 0.0;
    for (int k = p->degree; k >= 0; k--) sum = sum * u + p->a[k];
    return sum;
}

static polynomial polynomial_derivative(const polynomial *p)
{
    polynomial d = {.degree = p->degree - 1};
    for (int k = 0; k <= d.degree; k++) d.a[k] = (k + 1) * p->a[k + 1];
    return d;
}

/* c_k = (2/5) sum''_j v_j cos(pi j k / 5): Chebyshev coefficients of the quintic through v, u
 * growing with j */
static void chebyshev_coefficients(const double *v, double *c)
{
    /* cos(m pi / 5), m = 0 .. 9 */
    static const double cosine[10] = {1.0,
                                      0.80901699437494742,
                                      0.30901699437494742,
                                      -0.30901699437494742,
                                      -0.80901699437494742,
                                      -1.0,
                                      -0.80901699437494742,
                                      -0.30901699437494742,
                                      0.30901699437494742,
                                      0.80901699437494742};
    for (int k = 0; k < NODES; k++) {
        double sum = 0.5 * (v[DEGREE] + v[0] * cosine[(DEGREE * k) % 10]);
        for (int j = 1; j < DEGREE; j++) sum += v[DEGREE - j] * cosine[(j * k) % 10];
        c[k] = 0.4 * sum;
    }
    c[0] *= 0.5;
    c[DEGREE] *= 0.5;
}

static polynomial chebyshev_to_powers(const double *c)
{
    return (polynomial){.degree = DEGREE,
                        .a = {c[0] - c[2] + c[4], c[1] - 3.0 * c[3] + 5.0 * c[5],
                              2.0 * c[2] - 8.0 * c[4], 4.0 * c[3] - 20.0 * c[5], 8.0 * c[4],
                              16.0 * c[5]}};
}

/* The zero of a polynomial between a and b, where its signs differ. Bisection: it is cheap beside
 * a call of g, and sixty steps exhaust the digits. */
static double polynomial_zero(const polynomial *p, double a, double b)
{
    double pa = polynomial_at(p, a);
    for (int k = 0; k < 60; k++) {
        double m = 0.5 * (a + b), pm = polynomial_at(p, m);
        if ((pm < 0.0) == (pa < 0.0))
            a = m;
        else
            b = m;
    }
    return 0.5 * (a + b);
}

/* The zeros in (-1, 1) at which p changes sign, ascending. Between zeros of p' the polynomial is
 * monotone; so climb up from the linear derivative. */
static int polynomial_zeros(const polynomial *p, double *zeros)
{
    polynomial chain[NODES];
    int depth = 0, count = 0;
    for (chain[0] = *p; chain[depth].degree > 1; depth++)
        chain[depth + 1] = polynomial_derivative(&chain[depth]);
    for (; depth >= 0; depth--) {
        double bound[NODES + 1] = {-1.0};
        for (int k = 0; k < count; k++) bound[k + 1] = zeros[k];
        bound[count + 1] = 1.0;
        int pieces = count + 1;
        count = 0;
        for (int k = 0; k < pieces; k++) {
            double left = polynomial_at(&chain[depth], bound[k]);
            double right = polynomial_at(&chain[depth], bound[k + 1]);
            if ((left < 0.0) != (right < 0.0))
                zeros[count++] = polynomial_zero(&chain[depth], bound[k], bound[k + 1]);
        }
    }
    return count;
}

/* ---------------------------------------------------------------------------------------------
 * Dips: where else to look for crossings
 * ------------------------------------------------------------------------------------------- */

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

/* The quintic through the nodes' g_i. */
typedef struct component_fit {
    polynomial p;
    double change; /* of g_i in the interval, as it tells */
    double error;  /* how far g_i may be from it, judged by its last coefficients */
    bool near;     /* it may have zeros within that error; the rest does not matter if not */
    bool poor;     /* the error is large against the change of g_i */
} component_fit;

static component_fit fit_component(const event_finder *f, int i)
{
    double v[NODES], c[NODES], change = 0.0;
    for (int k = 0, node = 0; k < f->sample_count; k++)
        if (f->samples[k].node) v[node++] = f->samples[k].g[i];
    chebyshev_coefficients(v, c);
    for (int k = 1; k < NODES; k++) change += fabs(c[k]);
    double error = fabs(c[4]) + fabs(c[5]);
    return (component_fit){.p = chebyshev_to_powers(c),
                           .change = change,
                           .error = error,
                           .near = change > 0.0 && fabs(c[0]) <= change + error,
                           .poor = error > POOR * change};
}

/* Whether the quintics are a poor guide where one is needed. */
static bool guidance_is_poor(const event_finder *f)
{
    for (int i = 0; i < f->count; i++) {
        component_fit fit = fit_component(f, i);
        if (fit.near && fit.poor) return true;
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
        component_fit fit = fit_component(f, i);
        double miss = fabs(f->trial[i] - polynomial_at(&fit.p, probe));
        if (fit.near && fit.poor && miss > LOST * fit.change) *lost = true;
    }
    return EVAL_OK;
}

/* Sample g at those extrema of component i's quintic that may reveal crossings between samples. */
static eval_status sample_dips(event_finder *f, const trajectory *path, int i, double to)
{
    component_fit fit = fit_component(f, i);
    if (!fit.near) return EVAL_OK;
    double extrema[NODES];
    polynomial slope = polynomial_derivative(&fit.p);
    int count = polynomial_zeros(&slope, extrema);
    for (int e = 0; e < count && f->sample_count < CAPACITY; e++) {
        double t = f->t + 0.5 * (1.0 + extrema[e]) * (to - f->t);
        double predicted = polynomial_at(&fit.p, extrema[e]);
        int k = sample_after(f, t);
        if (!worth_checking(f, i, k, predicted, fit.error)) continue;
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

/* ---------------------------------------------------------------------------------------------
 * Bracketing and location
 * ------------------------------------------------------------------------------------------- */

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

/* The first sample before which a wanted component crosses, or 0; state = signs at the one before
 * it. */
static int first_bracket(event_finder *f)
{
    memcpy(f->state, f->sign, (size_t)f->count * sizeof *f->state);
    for (int k = 1; k < f->sample_count; k++) {
        if (crossings_before(f, k)) return k;
        for (int i = 0; i < f->count; i++) f->state[i] = sign_at(f, k, i, f->state[i]);
    }
    return 0;
}

/* The earliest zero that the chords of the crossing components predict in the bracket. */
static double earliest_chord_zero(const event_finder *f, const sample *lo, const sample *hi)
{
    double fraction = 1.0;
    for (int i = 0; i < f->count; i++) {
        double a = fabs(lo->g[i]), b = fabs(hi->g[i]);
        if (f->changed[i] != 0 && a + b > 0.0) fraction = fmin(fraction, a / (a + b));
    }
    return lo->t + fraction * (hi->t - lo->t);
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
    return s * g < 0.0 || (g == 0.0 && f->changed[i] != 0);
}

/* The trial at t becomes the far end of the bracket (samples k-1 and k). */
static void take_far_end(event_finder *f, int k, double t)
{
    for (int i = 0; i < f->count; i++)
        f->changed[i] = trial_crosses(f, i) ? -sign_of(f->state[i]) : 0;
    f->samples[k].t = t;
    swap_vectors(&f->samples[k].g, &f->trial);
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
    f->samples[k - 1].t = t;
    swap_vectors(&f->samples[k - 1].g, &f->trial);
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

/* Narrow the bracket (samples k-1 and k) around the first crossing down to the tolerance. */
static eval_status locate(event_finder *f, const trajectory *path, int k, double tolerance)
{
    sample *lo = &f->samples[k - 1], *hi = &f->samples[k];
    double initial = fabs(hi->t - lo->t);
    int bisections = initial > tolerance ? (int)ceil(log2(initial / tolerance)) : 0;
    for (int j = 0; fabs(hi->t - lo->t) > tolerance; j++) {
        double width = fabs(hi->t - lo->t);
        /* kappa1 = 0.2 / initial, kappa2 = 2, n0 = 1: the authors' choice. A shift below the
         * tolerance would only close the bracket from one side. */
        double truncation = fmax(0.2 * width * width / initial, 0.4 * tolerance);
        double radius = fmax(0.5 * (ldexp(tolerance, bisections + 1 - j) - width), 0.0);
        double chord = earliest_chord_zero(f, lo, hi);
        double t = itp_point(lo->t, hi->t, chord, radius, truncation);
        if ((t - lo->t) * (t - hi->t) >= 0.0) break; /* no number between them */
        eval_status status = evaluate_trial(f, path, t);
        if (status != EVAL_OK) return status;
        shrink_bracket(f, k, t);
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

/* ---------------------------------------------------------------------------------------------
 * The search
 * ------------------------------------------------------------------------------------------- */

/* The sign of component i where the search stands now. Zero at the end of a find or a step disarms.
 */
static int sign_here(const event_finder *f, int i, bool found)
{
    int s = f->state[i];
    if (!is_seen(s)) return fabs(f->g[i]) > f->band[i] ? sign_of(f->g[i]) : s;
    if (f->g[i] != 0.0) return sign_of(f->g[i]);
    return found && f->changed[i] == 0 ? s : 0;
}

/* Keep how far the components went off zero up to sample k. */
static void note_peaks(event_finder *f, int k)
{
    for (int j = 1; j <= k; j++)
        for (int i = 0; i < f->count; i++) f->peak[i] = fmax(f->peak[i], fabs(f->samples[j].g[i]));
}

/* Stand at sample k: its time, values and signs. */
static void move_to(event_finder *f, int k, bool found)
{
    note_peaks(f, k);
    f->t = f->samples[k].t;
    swap_vectors(&f->g, &f->samples[k].g);
    for (int i = 0; i < f->count; i++) {
        f->sign[i] = sign_here(f, i, found);
        if (is_seen(f->sign[i])) f->band[i] = 0.0;
    }
    f->fresh = false;
}

/* Hand out the crossings at the place just moved to. */
static void record_find(event_finder *f)
{
    for (int i = 0; i < f->count; i++) {
        f->flags[i] = f->changed[i];
        f->unresolved[i] = f->flags[i] != 0 && !is_seen(f->state[i]);
        if (f->flags[i] != 0) {
            f->last_peak[i] = f->peak[i];
            f->peak[i] = 0.0;
        }
        bool through = f->flags[i] != 0 && !f->jumped[i];
        f->overshoot[i] = through ? fabs(f->g[i]) : 0.0;
        f->eval->stats->events += f->flags[i] != 0;
    }
    f->found_at = f->t;
}

/* Samples at both ends of [t, to]: between them there are no times worth telling apart. */
static eval_status sample_ends(event_finder *f, const trajectory *path, double to)
{
    eval_status status = evaluate_trial(f, path, to);
    if (status != EVAL_OK) return status;
    f->sample_count = 0;
    insert_trial(f, 0, to, false);
    vector_copy(f->count, f->g, f->trial);
    insert_trial(f, 0, f->t, false);
    if (f->fresh) disarm_rounding(f);
    return EVAL_OK;
}

/* Samples of [t, *to], with *to drawn back as far as needed for good guidance, but no closer to t
 * than `least`, and of dips. */
static eval_status sample_interval(event_finder *f, const trajectory *path, double least,
                                   double *to)
{
    if (fabs(*to - f->t) <= least) return sample_ends(f, path, *to);
    eval_status status = sample_nodes(f, path, *to);
    for (int k = 0; k < SPLITS && status == EVAL_OK && guidance_is_poor(f); k++) {
        if (fabs(*to - f->t) <= 2.0 * least) break;
        *to = f->t + 0.5 * (*to - f->t);
        status = sample_nodes(f, path, *to);
    }
    bool lost = status == EVAL_OK;
    for (int k = SPLITS; k < MOST_SPLITS && lost && status == EVAL_OK; k++) {
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

/* The end of the first piece of [t, to] that is plain, or as short as pieces get. Pieces grow again
 * by doubling, so that one question or two are asked for each. */
static double plain_end(event_finder *f, double to, double least)
{
    double whole = fabs(to - f->t),
           shortest = fmax(4.0 * WIDE * least, ldexp(whole, -MOST_HALVINGS));
    if (!f->bound) return to;
    double length = fmin(whole, f->reach);
    f->pieces++;
    for (;; length *= 0.5) {
        double end = length < whole ? f->t + copysign(length, to - f->t) : to;
        int wild = f->bound(f->bound_context, f->t, end);
        if (wild != EVENTS_PLAIN) f->culprit = wild;
        if (wild != EVENTS_PLAIN && 0.5 * length >= shortest) continue;
        f->unbounded += wild != EVENTS_PLAIN;
        f->reach = 2.0 * length;
        return end;
    }
}

/* Change of component i over the bracket (samples k-1 and k). */
static double bracket_change(const event_finder *f, int k, int i)
{
    return fabs(f->samples[k].g[i] - f->samples[k - 1].g[i]);
}

/* Narrow the bracket (samples k-1 and k) around its first crossings; which of them are jumps. */
static eval_status locate_crossings(event_finder *f, const trajectory *path, int k,
                                    double tolerance)
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

/* Stand at the first wanted crossing in (t, to], or at the end of the part that was searched. */
static eval_status search_once(event_finder *f, const trajectory *path, double to, double tolerance,
                               bool *found)
{
    /* intervals in which the nodes are different numbers */
    double size = fmax(fabs(f->t), fabs(to)), least = fmax(tolerance, 32.0 * DBL_EPSILON * size);
    to = plain_end(f, to, least);
    eval_status status =
        f->bound_for_all ? sample_ends(f, path, to) : sample_interval(f, path, least, &to);
    if (status != EVAL_OK) return status;
    int k = first_bracket(f);
    *found = k != 0;
    if (*found) {
        status = locate_crossings(f, path, k, tolerance);
        if (status != EVAL_OK) return status;
    }
    move_to(f, *found ? k : f->sample_count - 1, *found);
    return EVAL_OK;
}

/* Whether one of the components that cross was held. */
static bool held_crosses(const event_finder *f)
{
    for (int i = 0; i < f->count; i++)
        if (f->changed[i] != 0 && f->held[i] == -f->changed[i]) return true;
    return false;
}

/* Search part after part of (t, to] until something is found. Every part brings t forward: a search
 * ends. */
static eval_status search_parts(event_finder *f, const trajectory *path, double to, bool *found)
{
    for (int k = 0; k < PIECES && !*found && f->t != to; k++) {
        double size = fmax(fmax(fabs(f->t), fabs(to)), fabs(to - f->t));
        double tolerance = f->tolerance * size;
        eval_status status = search_once(f, path, to, tolerance, found);
        if (status != EVAL_OK) return status;
        /* A crossing that cannot be told from the start was a zero at the start, unless the
         * component is held on the other side since. */
        if (fabs(f->t - f->start_time) <= 2.0 * tolerance && !held_crosses(f)) *found = false;
        if (!*found && search_is_spent(f)) return EVAL_STOP;
    }
    return EVAL_OK;
}

/* A step begins: count its pieces anew. */
static void count_pieces(event_finder *f, double to)
{
    if ((f->counted_to - f->t) * (to - f->t) > 0.0) return; /* NAN: no step yet */
    f->counted_to = to;
    f->pieces = f->unbounded = 0;
}

/* Keep, or bring back, where the finder stands. */
static void save_entry(event_finder *f)
{
    vector_copy(f->count, f->g, f->entry_g);
    vector_copy(f->count, f->band, f->entry_band);
    memcpy(f->entry_sign, f->sign, (size_t)f->count * sizeof *f->sign);
}

static void restore_entry(event_finder *f)
{
    vector_copy(f->count, f->entry_g, f->g);
    vector_copy(f->count, f->entry_band, f->band);
    memcpy(f->sign, f->entry_sign, (size_t)f->count * sizeof *f->sign);
}

eval_status event_finder_search(event_finder *f, event_interpolant interpolant, void *context,
                                double to, bool *found, double *when)
{
    trajectory path = {interpolant, context};
    double from = f->t;
    bool fresh = f->fresh;
    *found = false;
    if (f->count == 0) return EVAL_OK;
    save_entry(f);
    count_pieces(f, to);
    eval_status status = search_parts(f, &path, to, found);
    if (status != EVAL_OK) {
        restore_entry(f);
        f->t = from;
        f->fresh = fresh;
        *found = false;
    } else if (*found) {
        record_find(f);
        *when = f->t;
    }
    return status;
}
