/* Locating zero crossings of g(t, y(t), y'(t)) on the dense output of a step: the finder, and its
 * search through a step, part by part.
 *
 * Detection (events_samples.c): g is sampled at the six Chebyshev-Lobatto points of the interval,
 * and the quintic through the samples (events_quintic.c) tells where else to look: at those of its
 * extrema that dip towards or through zero between samples of one sign. BDF's dense output has
 * degree at most five, so that the quintic is g itself whenever g is affine in (t, y, y'): no
 * crossing is then missed, however close it is to the next (down to round-off). Only values of g
 * itself, never of the quintic, become events. Location: events_locate.c. */
#include "control/events_parts.h"

#include "base/diag.h"
#include "base/memory.h"

enum {
    PIECES = 1024,         /* pieces of time in one search; then others have their turn */
    MOST_HALVINGS = 24,    /* of a step, until a piece is plain */
    MOST_UNBOUNDED = 1024, /* pieces of a step that are short and not plain: near touches and
                              poles there are few */
    MOST_PIECES = 1 << 18  /* of a step in all */
};

/* ---- life ---- */

/* Deal out the two stores. */
static void partition(event_finder *f, size_t n)
{
    size_t count = (size_t)f->count;
    double *next = f->real_store;
    f->y = next;
    f->yp = next + n;
    next += 2 * n;
    double **vectors[] = {&f->g,          &f->band,     &f->overshoot, &f->entry_g,
                          &f->entry_band, &f->trial,    &f->peak,      &f->last_peak,
                          &f->extent,     &f->rounding, &f->dropped,   &f->far};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++, next += count) *vectors[k] = next;
    for (int k = 0; k < CAPACITY; k++, next += count) f->samples[k].g = next;
    f->sign = f->int_store;
    f->flags = f->sign + count;
    f->state = f->flags + count;
    f->changed = f->state + count;
    f->entry_sign = f->changed + count;
    f->held = f->entry_sign + count;
    f->zero = f->held + count;
    f->jumped = f->unresolved + count;
    f->quiet = f->jumped + count;
    f->mute = f->quiet + count;
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
        f->real_store = DAE_ARRAY(double, 2 * n + (12 + CAPACITY) * count);
        f->int_store = DAE_ARRAY(int, 7 * count);
        f->unresolved = DAE_ARRAY(bool, 4 * count);
        f->fit = DAE_ARRAY(component_fit, count);
    }
    if (!f || !f->real_store || !f->int_store || !f->unresolved || !f->fit) {
        event_finder_free(f);
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d event functions.",
                        form->event_count);
    }
    f->eval = eval;
    f->count = form->event_count;
    f->tolerance = tolerance > 0.0 ? fmax(tolerance, 8.0 * DBL_EPSILON) : 100.0 * DBL_EPSILON;
    f->found_at = f->fit_to = NAN;
    f->slopes = true;
    partition(f, n);
    *finder = f;
    return DAE_OK;
}

void event_finder_free(event_finder *finder)
{
    if (!finder) return;
    dae_free_all(finder->real_store, finder->int_store, finder->unresolved, finder->fit, finder);
}

/* Vectors change places among the samples, so that each is saved by itself. */
void event_finder_persist(event_finder *f, persist *p)
{
    const size_t count = (size_t)f->count;
    double *vectors[] = {f->g,    f->band,      f->overshoot, f->entry_g,  f->entry_band, f->trial,
                         f->peak, f->last_peak, f->extent,    f->rounding, f->dropped,    f->far};
    persist_same(p, count, "the problem has other events");
    PERSIST_STRUCT(p, f, GAP(event_finder, eval), GAP(event_finder, tolerance),
                   GAPS(event_finder, g, last_peak), GAPS(event_finder, entry_g, entry_sign),
                   GAPS(event_finder, bound, bound_for_all), GAP(event_finder, flags),
                   GAPS(event_finder, overshoot, samples), GAPS(event_finder, far, fit),
                   GAPS(event_finder, dropped, dropped), GAPS(event_finder, state, int_store));
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        PERSIST_ARRAY(p, vectors[k], count);
    for (int k = 0; k < CAPACITY; k++) {
        PERSIST_STRUCT(p, &f->samples[k], GAP(sample, g));
        PERSIST_ARRAY(p, f->samples[k].g, count);
    }
    PERSIST_ARRAY(p, f->int_store, 7 * count);
    PERSIST_ARRAY(p, f->unresolved, 4 * count);
    PERSIST_ARRAY(p, f->fit, count);
}

void event_finder_claim(event_finder *f, int i, int flag)
{
    for (int k = 0; k < f->count; k++) {
        f->flags[k] = k == i ? flag : 0;
        f->unresolved[k] = f->jumped[k] = false;
    }
    f->eval->stats->events++;
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
        f->quiet[i] = f->mute[i] = false;
    }
    f->t = f->start_time = t;
    f->fresh = true;
    f->rest = 0;
    return EVAL_OK;
}

void event_finder_hold(event_finder *f, int i, int side, double band)
{
    if (!f->fresh) return;
    f->held[i] = side;
    if (side == 0 || (f->sign[i] == side && fabs(f->g[i]) >= band)) return;
    f->band[i] = fmax(fmax(f->band[i], band), 2.0 * fabs(f->g[i]));
    f->sign[i] = presumed_sign(f, i);
}

void event_finder_leap(event_finder *f, int i, double g)
{
    if (!f->fresh) return;
    f->g[i] = g;
    f->sign[i] = sign_of(g);
    f->band[i] = 0.0;
}

void event_finder_zero(event_finder *f, int i, int side)
{
    f->zero[i] = side;
}

void event_finder_rounding(event_finder *f, int i, double rounding)
{
    f->rounding[i] = rounding;
}

void event_finder_quiet(event_finder *f, int i, double band)
{
    f->quiet[i] = true;
    f->g[i] = 0.0;
    f->band[i] = band;
    f->sign[i] = presumed_sign(f, i);
    f->rest = 0; /* samples in which it is not */
}

void event_finder_mute(event_finder *f, int i, bool mute)
{
    f->mute[i] = mute;
}

void event_finder_slopes(event_finder *f, bool read)
{
    f->slopes = read;
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

bool event_finder_seen(const event_finder *f, int i)
{
    return is_seen(f->sign[i]);
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

/* ---- the search ---- */

/* The sign of component i where the search stands now. Zero at the end of a find or a step is that
 * of the side it belongs to; where that is not known it disarms. */
static int sign_here(const event_finder *f, int i, bool found)
{
    int s = f->state[i];
    if (!is_seen(s)) return fabs(f->g[i]) > f->band[i] ? sign_of(f->g[i]) : s;
    if (f->g[i] != 0.0) return sign_of(f->g[i]);
    if (found && f->changed[i] == 0) return s;
    return found && f->zero[i] != 0 ? f->changed[i] : f->zero[i];
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

/* Before the crossing between samples k-1 and k is located: what stays for the next search. */
static void leave_rest(event_finder *f, int k)
{
    f->far_t = f->samples[k].t;
    vector_copy(f->count, f->samples[k].g, f->far);
    f->rest_to = f->samples[f->sample_count - 1].t;
    f->rest = k;
}

/* Whether the samples behind the last find serve a search in (t, to]: they do in the same step.
 * Then they follow the find, and its far end if that is another time. */
static bool take_up_rest(event_finder *f, double to)
{
    const int k = f->rest, last = f->sample_count - 1;
    f->rest = 0;
    if (k == 0 || f->t != f->rest_from || f->t == f->rest_to) return false;
    if ((to - f->rest_to) * (f->rest_to - f->t) < 0.0) return false;
    const bool apart = f->far_t != f->t;
    const int from = apart ? k - 1 : k;
    for (int j = 0; from + j <= last; j++) {
        sample kept = f->samples[j];
        f->samples[j] = f->samples[from + j];
        f->samples[from + j] = kept;
    }
    f->sample_count = last - from + 1;
    f->samples[0].t = f->t;
    vector_copy(f->count, f->g, f->samples[0].g);
    if (!apart) return true;
    f->samples[1].t = f->far_t;
    vector_copy(f->count, f->far, f->samples[1].g);
    return true;
}

/* Samples of (t, to], or of its first part. */
static eval_status sample_part(event_finder *f, const trajectory *path, double to, double tolerance)
{
    /* intervals in which the nodes are different numbers */
    double size = fmax(fabs(f->t), fabs(to)), least = fmax(tolerance, 32.0 * DBL_EPSILON * size);
    if (take_up_rest(f, to)) return EVAL_OK;
    to = plain_end(f, to, least);
    return f->bound_for_all ? sample_ends(f, path, to) : sample_interval(f, path, least, &to);
}

/* Stand at the first wanted crossing in (t, to], or at the end of the part that was searched. */
static eval_status search_once(event_finder *f, const trajectory *path, double to, double tolerance,
                               bool *found)
{
    eval_status status = sample_part(f, path, to, tolerance);
    if (status != EVAL_OK) return status;
    int k = first_bracket(f);
    *found = k != 0;
    if (*found) {
        leave_rest(f, k);
        status = locate_crossings(f, path, k, tolerance);
        if (status != EVAL_OK) return status;
    }
    move_to(f, *found ? k : f->sample_count - 1, *found);
    f->rest_from = f->t;
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

/* A step begins: count its pieces anew, and look at all components. */
static void count_pieces(event_finder *f, double to)
{
    if ((f->counted_to - f->t) * (to - f->t) > 0.0) return; /* NAN: no step yet */
    f->counted_to = to;
    f->pieces = f->unbounded = 0;
    for (int i = 0; i < f->count; i++) f->quiet[i] = false;
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
        f->rest = 0;
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
