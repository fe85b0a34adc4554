/* Events that crowd.
 *
 * Events may accumulate: a ball that bounces ever lower has infinitely many in a finite time
 * (Zeno). Sooner or later its flights are too short to be told from none: the crossing function h
 * stays within the error with which the last crossing was located. From there on the relation h <=
 * 0 says nothing more. It is then held as if the ball had not left the floor. A model that knows
 * what rest is, by a condition on the velocity, say, has an event of its own then, and goes on. In
 * another the ball would fall through the floor: the run ends and names the relation and the time.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* So many events within CROWD_SPAN of the time since the start are no progress: at that rate the
 * same time again would take 10^8 of them. */
enum { MOST_CROWDED = 1000 };
/* Where they come ever faster so many times more are waited for: the model may know what rest is.
 */
enum { PATIENCE = 50 };
static const double CROWD_SPAN = 1e-5;

/* A relation that comes back so often in a row without having been seen to leave rests. Once it may
 * do so in truth: a solution leaves zero against its tangent. */
enum { MOST_RETURNS = 3 };
/* Events of a relation that are this many times the resolution of times apart may be chance: of the
 * flight between them, the excursion is that small against the error of its ends. */
static const double APART = 16.0;
/* Flights this many times the rounding of the crossing function high are chance, too. */
static const double HIDDEN = 4.0;
/* Where the last digits of a variable change as much of a crossing function as this part of what
 * its tolerance does, it has no values between two neighbouring numbers: as sin(1000 x) at x =
 * 1e300. */
static const double SCATTERED = 0.1;
/* Part of a flight on which its beginning is looked at. */
static const double PART = 0.1;
static const double ACCUMULATED = 64.0;
/* Gaps that shrink by less than this from one to the next come to no end that could be waited for.
 */
static const double STILL_GEOMETRIC = 0.9995;
/* Beyond this many times its last excursions a relation that rests is left behind. */
static const double LEFT_BEHIND = 64.0;
/* A first step is shortened by this factor until a relation is seen to leave. */
static const double SHORTEN = 1.0 / 16.0;

/* The tolerance of a crossing function is computed anew every so many events. */
enum { RENEW = 128 };
/* Crossings of a relation again within this part of the time since the start may be the
 * interpolant's. */
static const double SUSPECT = 1e-3;
/* A parabola that is rtol of its size high lasts 2 sqrt(2 rtol) of its time. */
static const double GRAZES = 3.0;

void crowd_start(hybrid *h)
{
    for (size_t r = 0; r < h->instance->form->flat->relation_count; r++)
        h->trace[r] = (relation_trace){.when = NAN, .gap = NAN, .ratio = NAN};
    h->crowd = 0;
    h->uncertain_reported = false;
    h->fold_reported = false;
    h->beyond_reported = h->impulse_told = false;
    h->approaches = 0;
    h->event_time = h->rescued = h->fold = h->thrown = h->reached = h->cut = h->cut_from =
        h->close_from = NAN;
    h->first_step = 0.0;
    h->pace = h->paced = NAN;
}

void crowd_keep_point(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    h->event_time = t;
    h->first_step = 0.0;
    vector_copy(s->bound.n, s->bound.y, h->after);
    vector_copy(s->bound.n, s->bound.yp, h->after_yp);
}

/* ---- the first step ---- */

static bool any_unresolved(const dae_solver *s)
{
    for (size_t r = 0; r < flat_of(s)->relation_count; r++)
        if (trace_unresolved(s, r)) return true;
    return false;
}

bool hybrid_take_back(dae_solver *s)
{
    hybrid *h = s->hybrid;
    double step = fabs(s->run.t_new - s->run.t_old),
           size = fmax(fabs(s->run.t_new), fabs(s->run.t_old));
    bool first = s->run.t_old == h->event_time && !steps_are_given(&s->bound.options);
    double least = APART * event_finder_resolution(s->bound.events, size, 0.0);
    if (!first || !any_unresolved(s) || SHORTEN * step <= fmax(least, s->bound.options.min_step))
        return false;
    vector_copy(s->bound.n, h->after, s->bound.y);
    vector_copy(s->bound.n, h->after_yp, s->bound.yp);
    if (event_finder_start(s->bound.events, h->event_time, s->bound.y, s->bound.yp) != EVAL_OK)
        return false;
    hybrid_forget_crossings(s);
    hybrid_arm(s);
    h->first_step = SHORTEN * step;
    s->run.t = s->run.t_old = s->run.t_new = s->run.searched = h->event_time;
    s->run.phase = PHASE_READY;
    return true;
}

/* ---- crossings that the interpolant makes up ---- */

/* The slope of the crossing function of relation r at (t, ahead, ahead_yp), whose y' is that of the
 * equations; 0 if it cannot be told from zero. */
static double crossing_slope(dae_solver *s, size_t r)
{
    hybrid *h = s->hybrid;
    expr e = flat_of(s)->relations[r].crossing;
    double delta =
        s->run.direction * 1e-9 * fmax(fabs(s->run.t), fabs(s->run.t_new - s->run.t_old));
    double now = hybrid_value(s, s->run.t, h->ahead, h->ahead_yp, e);
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) h->ahead[i] += delta * h->ahead_yp[i];
    double later = hybrid_value(s, s->run.t + delta, h->ahead, h->ahead_yp, e);
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) h->ahead[i] -= delta * h->ahead_yp[i];
    bool plain = fabs(later - now) > fabs(now) || trace_unresolved(s, r);
    if (plain && later != now) return later - now;
    trend_point p = {.t = s->run.t,
                     .delta = delta,
                     .now = now,
                     .hidden = INFINITY,
                     .y = h->ahead,
                     .yp = h->ahead_yp};
    double change = later - now;
    return crossing_trend(s, &p, r, fabs(now), &change) != 0.0 ? change : 0.0;
}

/* Whether relation r may cross by an error of the interpolant only: it did so a short time ago. */
static bool is_suspect(const dae_solver *s, size_t r)
{
    const hybrid *h = s->hybrid;
    if (event_finder_flags(s->bound.events)[r] == 0 || h->instance->form->rounded[r]) return false;
    return fabs(s->run.t - h->trace[r].when) <= SUSPECT * fabs(s->run.t - h->started);
}

/* Whether the equations contradict all crossings just found. */
static bool all_refuted(dae_solver *s)
{
    const int *flags = event_finder_flags(s->bound.events);
    hybrid *h = s->hybrid;
    for (size_t r = 0; r < flat_of(s)->relation_count; r++)
        if (flags[r] != 0 && !is_suspect(s, r)) return false;
    solver_interpolate(s, s->run.t, 0, h->ahead);
    solver_interpolate(s, s->run.t, 1, h->ahead_yp);
    if (initializer_project(s->bound.init, s->run.t, s->run.t_new - s->run.t_old, s->bound.kinds,
                            s->bound.norm.weights, h->ahead, h->ahead_yp) != EVAL_OK)
        return false;
    for (size_t r = 0; r < flat_of(s)->relation_count; r++) {
        double towards = flags[r] != 0 ? crossing_slope(s, r) * flags[r] : -1.0;
        bool open = towards == 0.0 && trace_unresolved(s, r);
        if (towards >= 0.0 && !open) return false;
    }
    return true;
}

/* Relation r is held on one side from now on, while it is within what its last flights reached. */
static void begin_rest(dae_solver *s, size_t r, int side, double crossing)
{
    relation_trace *q = &s->hybrid->trace[r];
    q->resting = side;
    q->band = LEFT_BEHIND * fmax(fabs(crossing), event_finder_peak(s->bound.events, (int)r));
    q->reacted = false;
}

/* The relations that cross do so too soon after their last time to be seen to leave: they rest from
 * now on, as if they had never left. */
static void put_to_rest(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    const int *flags = event_finder_flags(s->bound.events);
    for (size_t r = 0; r < m->relation_count; r++) {
        if (flags[r] == 0) continue;
        h->zero[r] = hybrid_value(s, s->run.t, s->bound.y, s->bound.yp, m->relations[r].crossing);
        begin_rest(s, r, flags[r], h->zero[r]);
        h->instance->memory[m->relations[r].memory] = flags[r] < 0;
    }
    events_follow(s, s->run.t);
}

dae_status hybrid_refute(dae_solver *s, bool *again)
{
    hybrid *h = s->hybrid;
    double step = fabs(s->run.t_new - s->run.t_old);
    bool moved =
        fabs(s->run.t - s->run.t_old) > event_finder_resolution(s->bound.events, s->run.t, 0.0);
    *again = !steps_are_given(&s->bound.options) && all_refuted(s);
    if (!*again) return DAE_OK;
    vector_copy(s->bound.n, h->ahead, s->bound.y);
    vector_copy(s->bound.n, h->ahead_yp, s->bound.yp);
    if (!moved) put_to_rest(s);
    hybrid_forget_crossings(s);
    double direction = s->run.direction;
    dae_status status = hybrid_begin_again(s);
    s->run.direction = direction;
    crowd_keep_point(s, s->run.t);
    h->first_step = SHORTEN * step;
    return status;
}

/* ---- before an event ---- */

/* Where the events of a relation accumulate if its gaps go on as the last two: a geometric series.
 */
static double accumulates_at(const relation_trace *q)
{
    bool shrinks = q->ratio > 0.0 && q->ratio < 1.0;
    return shrinks ? q->when + q->gap * q->ratio / (1.0 - q->ratio) : q->when;
}

/* The most that the crossing function e changes by when y_i moves by one or two units in its last
 * place; `now`: its value. */
static double last_digits(dae_solver *s, expr e, int i, double now)
{
    hybrid *h = s->hybrid;
    double most = 0.0;
    for (int side = -1; side <= 1; side += 2) {
        h->ahead[i] = s->bound.y[i];
        for (int k = 0; k < 2; k++) {
            h->ahead[i] = nextafter(h->ahead[i], side * HUGE_VAL);
            double change = fabs(hybrid_value(s, s->run.t, h->ahead, s->bound.yp, e) - now);
            most = fmax(most, change);
        }
    }
    h->ahead[i] = s->bound.y[i];
    return most;
}

/* What the tolerances, and what rounding of t and y, leave open of the crossing function of
 * relation r at (s->t, s->y): sums of |dc/dy_i| w_i and of |dc/dy_i| u |y_i|. */
static void crossing_uncertainty(dae_solver *s, size_t r)
{
    hybrid *h = s->hybrid;
    relation_trace *q = &h->trace[r];
    expr e = flat_of(s)->relations[r].crossing;
    const double size = fabs(s->run.t) + fabs(s->stats.last_h), delta = 1e-6 * size;
    double now = hybrid_value(s, s->run.t, s->bound.y, s->bound.yp, e);
    double drift = fabs(hybrid_value(s, s->run.t + delta, s->bound.y, s->bound.yp, e) - now);
    q->tolerance = q->scatter = 0.0;
    q->rounding = size > 0.0 ? drift * (DBL_EPSILON * fabs(s->run.t) / delta) : 0.0;
    vector_copy(s->bound.n, s->bound.y, h->ahead);
    for (int i = 0; i < s->bound.n; i++) {
        double change = crossing_change(s, s->run.t, h->ahead, i, e);
        q->tolerance += change;
        q->rounding += change * (DBL_EPSILON * fabs(s->bound.y[i]) / s->bound.norm.weights[i]);
        double digits = last_digits(s, e, i, now);
        if (digits > SCATTERED * change) q->scatter += digits;
    }
}

/* |c| of relation r at time t of the last step; 0 if that began later. */
static double middle_value(dae_solver *s, size_t r, double t)
{
    hybrid *h = s->hybrid;
    if (s->run.phase != PHASE_RUNNING || (t - s->run.t_old) * s->run.direction < 0.0) return 0.0;
    solver_interpolate(s, t, 0, h->ahead);
    solver_interpolate(s, t, 1, h->ahead_yp);
    return fabs(hybrid_value(s, t, h->ahead, h->ahead_yp, flat_of(s)->relations[r].crossing));
}

/* The crossing function of relation r along y', a part of the last flight ahead. */
static double along_tangent(dae_solver *s, size_t r)
{
    hybrid *h = s->hybrid;
    const double delta = PART * h->trace[r].flight;
    vector_copy(s->bound.n, s->bound.y, h->further);
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) h->further[i] += delta * s->bound.yp[i];
    return hybrid_value(s, s->run.t + delta, h->further, s->bound.yp,
                        flat_of(s)->relations[r].crossing);
}

/* How far the crossing function went off zero since its last event; INFINITY: far. Asked only where
 * events follow each other closely. */
static void measure_flight(dae_solver *s, size_t r, double t)
{
    relation_trace *q = &s->hybrid->trace[r];
    q->peak = INFINITY;
    if (!(fabs(t - q->when) <= SUSPECT * fabs(t - s->hybrid->started))) return;
    if (q->age++ % RENEW == 0) crossing_uncertainty(s, r);
    q->peak =
        fmax(event_finder_peak(s->bound.events, (int)r), middle_value(s, r, 0.5 * (q->when + t)));
    q->flight = t - q->when;
    q->onwards = along_tangent(s, r);
}

/* A pulse lower than the tolerance: when it begins and ends, and whether it is at all, is open. */
static void tell_uncertain(dae_solver *s, size_t r, double t)
{
    hybrid *h = s->hybrid;
    bool rounded = h->instance->form->rounded[r]; /* it may be noise */
    if (h->uncertain_reported || rounded || h->trace[r].shrinks >= MOST_RETURNS) return;
    h->uncertain_reported = true;
    char text[400];
    snprintf(text, sizeof text,
             "note: %.100s:%d: the two sides of this relation differ by %.1e at most between its "
             "last two events, up to t = %.9g; the tolerances leave %.1e open. When such events "
             "happen, and how many, only smaller tolerances tell.",
             model_file(s), flat_of(s)->relations[r].place.line, h->trace[r].peak, t,
             h->trace[r].tolerance);
    solver_note(s, text);
}

/* A pulse too long to crowd may graze all the same: at loose tolerances it, or none, is chance. */
static void look_at_graze(dae_solver *s, size_t r, double t)
{
    relation_trace *q = &s->hybrid->trace[r];
    double near = GRAZES * sqrt(s->bound.options.rtol) * fabs(t - s->hybrid->started);
    if (isfinite(q->peak) || s->hybrid->uncertain_reported || !(fabs(t - q->when) <= near)) return;
    if (q->age++ % RENEW == 0) crossing_uncertainty(s, r);
    q->peak =
        fmax(event_finder_peak(s->bound.events, (int)r), middle_value(s, r, 0.5 * (q->when + t)));
    if (q->peak <= q->tolerance) tell_uncertain(s, r, t);
    q->peak = INFINITY;
}

/* Note an event of relation r in direction `flag`. */
static void note_crossing(dae_solver *s, size_t r, int flag, double t)
{
    relation_trace *q = &s->hybrid->trace[r];
    double gap = t - q->when, least = APART * event_finder_resolution(s->bound.events, t, 0.0);
    measure_flight(s, r, t);
    bool unresolved =
        trace_unresolved(s, r) || fabs(gap) <= least || q->peak <= HIDDEN * q->rounding;
    if (!unresolved) {
        q->ratio = gap / q->gap;
        q->shrinks = q->ratio < 1.0 ? q->shrinks + 1 : q->shrinks / 2;
        q->gap = gap;
    }
    q->small = q->peak <= q->tolerance ? q->small + 1 : 0;
    if (q->small > 0) tell_uncertain(s, r, t);
    look_at_graze(s, r, t);
    q->when = t;
    q->flag = flag;
    q->seen = false;
    q->returns = unresolved ? q->returns + 1 : 0;
    q->resting = 0;
    bool accumulated = q->shrinks >= MANY_SHRINKS && fabs(gap) <= ACCUMULATED * least;
    if (q->returns < MOST_RETURNS && !accumulated) return;
    begin_rest(s, r, flag,
               hybrid_value(s, t, s->bound.y, s->bound.yp, flat_of(s)->relations[r].crossing));
}

/* The relation among those flagged, or of all, that a message about a crowd names; -1: none. */
static int culprit(const dae_solver *s)
{
    const int *flags = s->bound.events ? event_finder_flags(s->bound.events) : NULL;
    for (size_t r = 0; flags && r < flat_of(s)->relation_count; r++)
        if (flags[r] != 0) return (int)r;
    return -1;
}

static void append_advice(dae_solver *s, int r)
{
    if (r >= 0) {
        s->diag.line = flat_of(s)->relations[r].place.line;
        diag_append(&s->diag, " The relation is at %s:%d.", model_file(s), s->diag.line);
    }
    diag_append(&s->diag, " Say in the model what rest is (below a small speed, say, another "
                          "equation holds), end the run there by terminate, or give the relation "
                          "some hysteresis.");
}

static dae_status explain_crowd(dae_solver *s, double t)
{
    int r = culprit(s);
    double limit = r >= 0 ? accumulates_at(&s->hybrid->trace[r]) : t;
    s->diag.t = t;
    diag_set(&s->diag, DAE_ERR_EVENT, "%d events without progress: t went from %.17g to %.17g.",
             s->hybrid->crowd - 1, s->hybrid->crowd_since, t);
    if (limit != t)
        diag_append(&s->diag, " Events accumulate at t = %.9g.", limit);
    else
        diag_append(&s->diag, " Events accumulate here, or the model chatters.");
    append_advice(s, r);
    return DAE_ERR_EVENT;
}

static dae_status explain_small(dae_solver *s, size_t r, double t)
{
    s->diag.t = t;
    s->diag.value = s->hybrid->trace[r].tolerance;
    diag_set(
        &s->diag, DAE_ERR_EVENT,
        "%d events in a row, up to t = %.9g, of a relation whose two sides differ by less than "
        "the tolerances leave open (%.1e): these events are chance. They accumulate, or the "
        "model chatters; smaller tolerances tell.",
        s->hybrid->trace[r].small, t, s->diag.value);
    append_advice(s, (int)r);
    return DAE_ERR_EVENT;
}

/* Whether its last flight is one of the last digits of variables, of whatever tolerance. */
static bool is_scattered(const relation_trace *q)
{
    return q->scatter > 0.0 && q->peak <= HIDDEN * q->scatter;
}

static dae_status explain_scattered(dae_solver *s, size_t r, double t)
{
    s->diag.t = t;
    s->diag.line = flat_of(s)->relations[r].place.line;
    s->diag.value = s->hybrid->trace[r].scatter;
    return diag_set(&s->diag, DAE_ERR_EVENT,
                    "%s:%d: the crossings of this relation cannot be found behind t = %.10g: the "
                    "difference of its two sides changes by %.1e when variables change in their "
                    "last digits, so that its events are chance. Measure the variables in it from "
                    "another origin, or use noEvent where no event is wanted.",
                    model_file(s), s->diag.line, t, s->diag.value);
}

/* Whether the events of the relation at hand come ever faster: they have an end. */
static bool accumulate(const dae_solver *s)
{
    int r = culprit(s);
    if (r < 0) return false;
    const relation_trace *q = &s->hybrid->trace[r];
    return q->shrinks >= MOST_CROWDED / 10 && q->ratio < STILL_GEOMETRIC;
}

dae_status crowd_watch(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const int *flags = s->bound.events && h->pending == EVENT_CROSSING
                           ? event_finder_flags(s->bound.events)
                           : NULL;
    double near = CROWD_SPAN * fabs(t - h->started);
    bool other = flags == NULL; /* an event of another kind than those that accumulate */
    for (size_t r = 0; flags && r < flat_of(s)->relation_count; r++) {
        if (flags[r] == 0) continue;
        bool rested = h->trace[r].resting != 0;
        note_crossing(s, r, flags[r], t);
        if (is_scattered(&h->trace[r])) return explain_scattered(s, r, t);
        other = other || (!rested && h->trace[r].resting == 0);
    }
    for (size_t r = 0; other && r < flat_of(s)->relation_count; r++) h->trace[r].reacted = true;
    if (h->crowd == 0 || fabs(t - h->crowd_since) > near) {
        h->crowd = 0;
        h->crowd_since = t;
    }
    int most = accumulate(s) ? PATIENCE * MOST_CROWDED : MOST_CROWDED;
    if (++h->crowd > most) return explain_crowd(s, t);
    for (size_t r = 0; r < flat_of(s)->relation_count; r++)
        if (h->trace[r].small > most) return explain_small(s, r, t);
    return DAE_OK;
}

/* ---- after an event ---- */

/* Whether the event has turned relation r back, out of a flight within the tolerances: on a
 * parabola its function was about to go on by 4 PART peak. */
static bool is_thrown_back(dae_solver *s, size_t r)
{
    const relation_trace *q = &s->hybrid->trace[r];
    return q->small > 0 && q->flag * (q->onwards - along_tangent(s, r)) >= 2.0 * PART * q->peak;
}

void crowd_settle(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    for (size_t r = 0; r < m->relation_count && h->thrown == t; r++) {
        const relation_trace *q = &h->trace[r];
        bool stays = (h->instance->memory[m->relations[r].memory] != 0.0) == (q->flag < 0);
        if (q->when != t || q->resting != 0 || !stays) continue;
        bool noise = h->instance->form->rounded[r] && q->peak <= HIDDEN * h->instance->noise;
        if (q->returns == 0 && !noise && !is_thrown_back(s, r)) continue;
        begin_rest(s, r, q->flag,
                   hybrid_value(s, t, s->bound.y, s->bound.yp, m->relations[r].crossing));
    }
}

/* ---- after a step ---- */

/* A relation whose events have accumulated, and that another event has answered to, is left behind
 * all the same: that may be meant, or not. */
static void tell_beyond(dae_solver *s, const relation_trace *q, size_t r)
{
    char text[400];
    if (s->hybrid->beyond_reported) return;
    s->hybrid->beyond_reported = true;
    snprintf(text, sizeof text,
             "note: %.100s:%d: the events of this relation have accumulated at t = %.9g, and the "
             "solution goes beyond it now (t = %.9g). If the model does not mean that, say in it "
             "what rest is.",
             model_file(s), flat_of(s)->relations[r].place.line, q->when, s->run.t_new);
    solver_note(s, text);
}

dae_status crowd_check(dae_solver *s)
{
    hybrid *h = s->hybrid;
    for (size_t r = 0; r < flat_of(s)->relation_count; r++) {
        const relation_trace *q = &h->trace[r];
        double c = h->crossing[r];
        if (q->resting == 0 || q->resting * c <= q->band) continue;
        if (q->reacted) {
            tell_beyond(s, q, r);
            continue;
        }
        char last[80] = ""; /* there may be no two that could be told */
        if (isfinite(q->gap))
            snprintf(last, sizeof last, " (the last two that are not are %.1e apart)",
                     fabs(q->gap));
        s->run.t = s->run.t_old;
        s->diag.t = q->when;
        diag_set(&s->diag, DAE_ERR_EVENT,
                 "Events accumulate at t = %.9g: a relation changes again and again, until its "
                 "events are closer to each other than times can be told%s.",
                 q->when, last);
        append_advice(s, (int)r);
        return DAE_ERR_EVENT;
    }
    return DAE_OK;
}
