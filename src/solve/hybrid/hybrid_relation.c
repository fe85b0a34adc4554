/* Relations: what they are held to be, and where they change. */
#include <float.h>
#include <math.h>

#include "base/vector.h"
#include "control/bracket.h"
#include "solve/hybrid/hybrid_parts.h"

/* ---- the sides of relations ---- */

/* A moment: short against the time; where events come ever closer also against the time since the
 * last one, so that it does not reach beyond the next. It ends at the next clock: tables have
 * another piece from there on. */
static double moment(const dae_solver *s, double t)
{
    const double part = 0.01, least = 64.0 * DBL_EPSILON * fabs(t);
    double span = fmax(fabs(s->stats.last_h), fabs(t)), flight = fabs(t - s->hybrid->event_time);
    double delta = 1e-9 * (span > 0.0 ? span : 1.0);
    if (flight > 0.0 && crowd_shrinks(s)) delta = fmin(delta, fmax(part * flight, least));
    if (s->hybrid->direction < 0.0) return -delta;
    return s->hybrid->next_time > t ? fmin(delta, s->hybrid->next_time - t) : delta;
}

/* A start stops at its tolerance. Where that leaves more in an algebraic variable than a part of
 * what relations take for zero, the corrected values (y, yp) are the better start: the step behind
 * the event would begin with a leap to them, and its interpolant would cross zero. */
static void take_correction(dae_solver *s, const double *y, const double *yp)
{
    static const double SEEN = 0.01;
    bool seen = false;
    for (int i = 0; i < s->bound.n; i++) {
        bool algebraic = s->bound.kinds[i] != DAE_KIND_DIFFERENTIAL;
        seen =
            seen || (algebraic && fabs(y[i] - s->bound.y[i]) > SEEN * s->hybrid->instance->noise);
    }
    if (!seen) return;
    vector_copy(s->bound.n, y, s->bound.y);
    vector_copy(s->bound.n, yp, s->bound.yp);
    s->hybrid->armed = false;
}

/* A moment ahead of t: differential variables on their tangent, algebraic ones by the equations if
 * they are to be solved. A correction before makes the tangent as good as rounding allows; a start
 * stops at its tolerance. keep: it is the better start, too. */
static double look_ahead(dae_solver *s, double t, bool solve, bool keep)
{
    hybrid *h = s->hybrid;
    const double delta = moment(s, t);
    vector_copy(s->bound.n, s->bound.y, h->ahead);
    vector_copy(s->bound.n, s->bound.yp, h->ahead_yp);
    bool corrected = initializer_project(s->bound.init, t, delta, s->bound.kinds,
                                         s->bound.norm.weights, h->ahead, h->ahead_yp) == EVAL_OK;
    if (corrected && keep) take_correction(s, h->ahead, h->ahead_yp);
    vector_copy(s->bound.n, h->ahead_yp, h->tangent);
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) h->ahead[i] += delta * h->ahead_yp[i];
    h->foreseen =
        solve && initializer_project(s->bound.init, t + delta, delta, s->bound.kinds,
                                     s->bound.norm.weights, h->ahead, h->ahead_yp) == EVAL_OK;
    return t + delta;
}

double relation_slack(const dae_solver *s, double t, const double *y, const double *yp, size_t r)
{
    const model_instance *m = s->hybrid->instance;
    return fmax(m->form->rounded[r] ? m->noise : 0.0, relation_digits(s, t, y, yp, r));
}

double relation_noise(const dae_solver *s, double t, const double *y, const double *yp, size_t r)
{
    return s->hybrid->instance->form->rounded[r] ? relation_slack(s, t, y, yp, r) : 0.0;
}

void relations_evaluate(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    model_instance_crossings(h->instance, t, s->bound.y, s->bound.yp, h->crossing);
    for (size_t r = 0; r < flat_of(s)->relation_count; r++)
        h->noise[r] = relation_noise(s, t, s->bound.y, s->bound.yp, r);
}

double relation_digits(const dae_solver *s, double t, const double *y, const double *yp, size_t r)
{
    static const double DIGITS = 4.0 * DBL_EPSILON;
    graph_enter(flat_of(s)->graph);
    const graph *g = flat_of(s)->graph;
    const expr_node *node = graph_node(g, flat_of(s)->relations[r].crossing);
    if (node->op == EXPR_NEG) node = graph_node(g, node->a);
    graph_leave(flat_of(s)->graph);
    const bool two = node->op == EXPR_SUB || node->op == EXPR_ADD;
    return two ? DIGITS * fabs(hybrid_value(s, t, y, yp, node->a)) : 0.0;
}

/* What the last digits of its two sides leave open of the crossing function of relation r. */
static double last_digits(const dae_solver *s, double t, size_t r)
{
    return relation_digits(s, t, s->bound.y, s->bound.yp, r);
}

/* The crossing function of relation r a time delta ahead of p, along its y'. */
static double crossing_along(dae_solver *s, const trend_point *p, size_t r, double delta)
{
    hybrid *h = s->hybrid;
    vector_copy(s->bound.n, p->y, h->further);
    vector_copy(s->bound.n, p->yp, h->further_yp);
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) h->further[i] += delta * p->yp[i];
    if (h->instance->form->rounded[r] &&
        initializer_project(s->bound.init, p->t + delta, delta, s->bound.kinds,
                            s->bound.norm.weights, h->further, h->further_yp) != EVAL_OK)
        return NAN;
    return hybrid_value(s, p->t + delta, h->further, h->further_yp,
                        flat_of(s)->relations[r].crossing);
}

double crossing_trend(dae_solver *s, const trend_point *p, size_t r, double least, double *change)
{
    enum { FARTHER = 8, GROWTH = 16 };
    double delta = p->delta;
    for (int k = 0; k < FARTHER; k++) {
        double expected = GROWTH * *change;
        const bool hidden = fabs(*change) <= p->hidden;
        delta *= GROWTH;
        *change = crossing_along(s, p, r, delta) - p->now;
        bool grows = fabs(*change - expected) <= 0.5 * fabs(expected);
        if (*change != 0.0 && grows && fabs(*change) > least) return delta;
        if (hidden && fabs(*change) > 1.5 * GROWTH * p->hidden) return 0.0;
    }
    return 0.0;
}

/* A relation that has just crossed, a moment later: where rounding hides where it goes in that
 * moment, its trend. */
static void see_past_rounding(dae_solver *s, double t, size_t r)
{
    hybrid *h = s->hybrid;
    const double now = h->crossing[r], noise = h->noise[r];
    trend_point p = {.t = t, .delta = h->soon - t, .now = now, .y = s->bound.y, .yp = h->tangent};
    if (noise > 0.0 && fabs(h->crossing_ahead[r] - h->zero[r]) > noise) return;
    double change = h->crossing_ahead[r] - now;
    p.hidden = 16.0 * fmax(noise, last_digits(s, t, r));
    double delta = crossing_trend(s, &p, r, 16.0 * noise, &change);
    bool seen = noise == 0.0 && fabs(delta) < 17.0 * fabs(p.delta); /* in the moment itself */
    if (delta == 0.0 || seen) return;
    h->crossing_ahead[r] = now + (noise > 0.0 ? change : change * (p.delta / delta));
}

double crossing_change(dae_solver *s, double t, double *y, int i, expr crossing)
{
    const double now = hybrid_value(s, t, s->bound.y, s->bound.yp, crossing);
    double change[2];
    for (int side = 0; side < 2; side++) {
        y[i] = s->bound.y[i] + (side == 0 ? 1.0 : -1.0) * s->bound.norm.weights[i];
        change[side] = fabs(hybrid_value(s, t, y, s->bound.yp, crossing) - now);
    }
    y[i] = s->bound.y[i];
    return fmin(change[0], change[1]);
}

/* Whether the equations can be asked where variables go: not with multipliers of higher index. */
static bool tells_onward(const dae_solver *s)
{
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] >= DAE_KIND_INDEX2) return false;
    return true;
}

/* Whether a relation reads variable i. */
static bool relations_read(dae_solver *s, double t, int i)
{
    const flat_model *m = flat_of(s);
    double *y = s->hybrid->further;
    vector_copy(s->bound.n, s->bound.y, y);
    for (size_t r = 0; r < m->relation_count; r++)
        if (crossing_change(s, t, y, i, m->relations[r].crossing) != 0.0) return true;
    return false;
}

/* Whether there are derivatives of all variables that relations read, and the equations cannot be
 * asked: of forms, whose rows no method looks at and need not determine them, and of multipliers.
 * Tangents tell where they go then. */
static bool is_all_tangents(dae_solver *s, double t)
{
    const bool asked = tells_onward(s);
    if (asked && !binding_uses_forms(&s->bound)) return false;
    for (int i = 0; i < s->bound.n; i++) {
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) continue;
        if (asked || relations_read(s, t, i)) return false;
    }
    return true;
}

/* Crossing functions at t and a moment later; solve: there by the equations, too;
 * keep: corrected values are. */
static void look_at_relations(dae_solver *s, double t, bool solve, bool keep)
{
    hybrid *h = s->hybrid;
    h->soon = look_ahead(s, t, solve, keep);
    h->stands = h->foreseen || !reads_ahead(s) || is_all_tangents(s, t);
    h->window =
        fmin(1.0, 2.0 * event_finder_resolution(s->bound.events, t, 0.0) / fabs(h->soon - t));
    relations_evaluate(s, t);
    model_instance_crossings(h->instance, h->soon, h->ahead, h->ahead_yp, h->crossing_ahead);
    for (size_t r = 0; r < flat_of(s)->relation_count; r++)
        if (h->trace[r].when == t || (h->at_seam && fabs(h->crossing[r]) <= h->noise[r]))
            see_past_rounding(s, t, r);
}

/* The side of relation r, *below for a < b; false: it keeps its own. At the start `digits` count as
 * zero.
 *
 * At the start a relation of states and time, or of the steps of floor, has the value that its
 * definition gives at t. Later those away from zero
 * take their present values. At zero, closer to it than they move in a time that can be told from
 * none, or, with rounding errors of algebraic variables, in a moment, they take the side where they
 * are going, so that a solution that leaves zero is already on its new side; zero is
 * where the event was located, rounding included. What reinit has given a value of its own is not
 * at zero, however small: a ball goes up before it comes down again. But not if this event has
 * decided them before: the crossing of T >= Thigh that switches a heater off holds for the event,
 * though T goes back at once. One that stays at zero has the value of equality, a < b false and
 * a <= b true, if the event, or the start, has brought it there; if it was there before it keeps
 * its value: that was decided elsewhere. One that made the event alone, and is stopped by what it
 * has changed itself, does so only when all clauses have acted. */
static bool side_of(hybrid *h, double t, size_t r, double digits, bool *below)
{
    const model_form *f = h->instance->form;
    double now = h->crossing[r] - h->zero[r], later = h->crossing_ahead[r] - h->zero[r];
    const bool equal = fabs(now) <= digits && !h->trace[r].met;
    if (h->at_start && (!f->rounded[r] || f->flat->relations[r].steps != EXPR_NONE || equal)) {
        *below = fabs(now) <= fmax(h->noise[r], digits) ? !f->flat->relations[r].strict : now < 0.0;
        return !isnan(now);
    }
    double window = f->rounded[r] ? 1.0 : h->window;
    bool away = fabs(now) > window * fabs(later - now);
    /* reinit moved it, or a new value of a discrete variable: where zero was met is zero no more */
    if (!f->rounded[r] && h->crossing[r] != h->crossing_entry[r]) {
        h->zero[r] = 0.0;
        now = h->crossing[r];
        away = now != 0.0;
        h->trace[r].resting = 0;
    }
    if (h->trace[r].resting != 0 && fabs(h->crossing[r]) <= h->trace[r].band) return false;
    /* consistent values of a new mode may round otherwise: that is no way back */
    if (h->decided[r] && fabs(now) <= fmax(h->noise[r], h->instance->noise)) away = false;
    double c = away ? now : later;
    if (fabs(c) <= h->noise[r]) {
        *below = !f->flat->relations[r].strict;
        if (h->at_start) return h->crossing[r] == 0.0 && h->crossing_ahead[r] == 0.0;
        const bool made = h->decided[r] && h->alone && h->trace[r].when == t;
        return h->stands && h->came[r] && !h->trace[r].met && !made;
    }
    *below = c < 0.0;
    return !isnan(c) && (away || !h->decided[r]);
}

/* Values of algebraic variables are at zero within so many tolerances. */
static const double NEAR_ZERO = 100.0;

/* What the tolerances of y leave open of the crossing function of relation r: the sum of |dc/dy_i|
 * w_i. */
static double crossing_tolerance(dae_solver *s, double t, size_t r)
{
    const expr e = flat_of(s)->relations[r].crossing;
    double *y = s->hybrid->further, sum = 0.0;
    vector_copy(s->bound.n, s->bound.y, y);
    for (int i = 0; i < s->bound.n; i++) sum += crossing_change(s, t, y, i, e);
    return sum;
}

/* y' at (t, onward) by a form that has the derivatives of all variables, where its residual form
 * does not determine them; false: it has no value. */
static bool slopes_by_form(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const manifold_form *m = s->bound.form_set->manifold;
    const int *place = s->bound.form_set->manifold_places.q;
    for (int i = 0; i < m->n; i++) h->further[i] = h->onward[place ? place[i] : i];
    if (m->phi(m->context, t, h->further, 0.0, h->further_yp) != EVAL_OK) return false;
    for (int i = 0; i < m->n; i++) h->onward_yp[place ? place[i] : i] = h->further_yp[i];
    return vector_all_finite((size_t)m->n, h->further_yp);
}

/* What the equations say at (t, onward): y' and algebraic variables; false: they have no solution.
 */
static bool solve_onward(dae_solver *s, double t, double delta)
{
    hybrid *h = s->hybrid;
    const bool by_form = !binding_has_all_rows(&s->bound) && s->bound.form_set->manifold;
    if (by_form && is_all_tangents(s, t)) return slopes_by_form(s, t);
    return initializer_project(s->bound.init, t, delta, s->bound.kinds, s->bound.norm.weights,
                               h->onward, h->onward_yp) == EVAL_OK;
}

/* y and y' so many Euler steps of the equations after t, in `onward`; false: they have no solution.
 */
static bool step_onward(dae_solver *s, double t, double delta, int steps)
{
    hybrid *h = s->hybrid;
    vector_copy(s->bound.n, s->bound.y, h->onward);
    vector_copy(s->bound.n, h->tangent, h->onward_yp);
    for (int k = 1; k <= steps; k++) {
        for (int i = 0; i < s->bound.n; i++)
            if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) h->onward[i] += delta * h->onward_yp[i];
        if (!solve_onward(s, t + k * delta, delta)) return false;
    }
    return true;
}

/* Where the crossing function of relation r goes that y' does not move from zero at t: a ball that
 * is let go at its limit has no speed yet, but is not at rest. k Euler steps show what its first k
 * derivatives make of it. They are longer than a moment, since that is small to the power k, but so
 * short that a step of the method is long against them. 0: it stays; NAN: that is not known. */
static double crossing_onward(dae_solver *s, double t, size_t r)
{
    static const double longer[] = {1e3, 1e4, 1e5};
    hybrid *h = s->hybrid;
    const double least = fmax(h->noise[r], last_digits(s, t, r));
    for (int k = 0; k < (int)(sizeof longer / sizeof *longer); k++) {
        const double delta = (h->soon - t) * longer[k], end = t + (k + 2) * delta;
        if (fabs(end - t) >= fabs(h->next_time - t)) break;
        if (!step_onward(s, t, delta, k + 2)) return NAN;
        const expr crossing = flat_of(s)->relations[r].crossing;
        const double c = hybrid_value(s, end, h->onward, h->onward_yp, crossing) - h->zero[r];
        if (!(fabs(c) <= least)) return c;
    }
    return 0.0;
}

/* Relation r would be turned to *below, the value of equality, since it is at zero and a moment
 * later. Where it goes further on instead; false: nowhere that is known. The steps of floor look no
 * further than floor itself does (discrete_value), or they would be on a side that it is not. */
static bool goes_on(dae_solver *s, double t, size_t r, bool *below)
{
    const hybrid *h = s->hybrid;
    const double noise = h->noise[r];
    if (h->at_start || fabs(h->crossing[r] - h->zero[r]) > noise) return true;
    if (fabs(h->crossing_ahead[r] - h->zero[r]) > noise) return true;
    const model_form *f = h->instance->form;
    if (f->flat->relations[r].steps != EXPR_NONE && !f->rounded[r]) return true;
    if (!tells_onward(s)) return true;
    const double onward = crossing_onward(s, t, r);
    if (onward != 0.0) *below = onward < 0.0;
    return !isnan(onward);
}

/* Whether relation r, at a seam, has yet to cross: by the last digits of the time, as time >= next
 * where next is not rounded as the seam is. Clauses that act now would read values before it; the
 * search finds it next. */
static bool has_yet_to_cross(const hybrid *h, size_t r, bool held)
{
    const double c = h->crossing[r];
    return h->at_seam && !h->instance->form->rounded[r] && c != 0.0 && held == (c < 0.0);
}

/* Whether relation r is turned over, to *below. One that goes to its other side in a moment, and is
 * far from zero now, is not: the equations are faster than a moment, and it crosses behind the
 * event, if at all. */
static bool turns(dae_solver *s, double t, size_t r, bool *below)
{
    hybrid *h = s->hybrid;
    const double now = h->crossing[r] - h->zero[r];
    const bool held = h->instance->memory[flat_of(s)->relations[r].memory] != 0.0;
    const bool start = h->at_start && h->instance->form->rounded[r];
    if (!side_of(h, t, r, start ? last_digits(s, t, r) : 0.0, below) || *below == held)
        return false;
    if (has_yet_to_cross(h, r, held)) return false;
    if (!goes_on(s, t, r, below) || *below == held) return false;
    bool there = held == (now < 0.0) && fabs(now) > h->noise[r];
    if (!there || !h->instance->form->rounded[r]) return true;
    const double tolerance = crossing_tolerance(s, t, r);
    return tolerance == 0.0 || fabs(now) <= NEAR_ZERO * tolerance;
}

/* Relation r is `below` from now on, by the event at hand. One that the event meets as it goes
 * through zero has its zero here. */
static void turn(hybrid *h, size_t r, bool below)
{
    const double c = h->crossing[r];
    if (!h->instance->form->rounded[r] && c == h->crossing_entry[r] && !h->at_start &&
        fabs(c - h->zero[r]) <= h->window * fabs(h->crossing_ahead[r] - c))
        h->zero[r] = c;
    h->instance->memory[h->instance->form->flat->relations[r].memory] = below;
    h->decided[r] = h->came[r] = true;
    h->trace[r].turned = ++h->turns;
    h->trace[r].seen = false;
    h->armed = false;
    if (below == !h->instance->form->flat->relations[r].strict) h->trace[r].met = true;
}

/* Turn all relations that are to be turned, or, one by one, that which has been left alone for the
 * longest time; whether there is any. */
static bool turn_relations(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const size_t count = flat_of(s)->relation_count;
    size_t one = count;
    bool changed = false, below, one_below = false;
    for (size_t r = 0; r < count; r++) {
        if (!turns(s, t, r, &below)) continue;
        changed = true;
        if (!h->one_by_one) turn(h, r, below);
        if (one < count && h->trace[one].turned <= h->trace[r].turned) continue;
        one = r;
        one_below = below;
    }
    if (changed && h->one_by_one) turn(h, one, one_below);
    return changed;
}

/* Whether c is on the side where relation r is held, and no zero. */
static bool is_on_its_side(const hybrid *h, size_t r, double c)
{
    const flat_relation *q = &h->instance->form->flat->relations[r];
    return fabs(c) > h->noise[r] && (h->instance->memory[q->memory] != 0.0) == (c < 0.0);
}

/* Where relation r is at once, if the search that begins at c finds it on its other side: by the
 * equations, or a moment later; 0: nowhere else. What it reads jumps without an event, as mod does
 * in a function. */
static double leaps_to(const hybrid *h, size_t r, double c)
{
    if (!h->stands || !h->instance->form->rounded[r]) return 0.0;
    if (!(fabs(c) > h->noise[r]) || is_on_its_side(h, r, c)) return 0.0;
    if (is_on_its_side(h, r, h->crossing[r])) return h->crossing[r];
    return is_on_its_side(h, r, h->crossing_ahead[r]) ? h->crossing_ahead[r] : 0.0;
}

void relations_leap(dae_solver *s, double t, const double *y, const double *yp)
{
    hybrid *h = s->hybrid;
    if (!h->looked || !s->bound.events || flat_of(s)->relation_count == 0) return;
    model_instance_crossings(h->instance, t, y, yp, h->crossing_entry);
    for (size_t r = 0; r < flat_of(s)->relation_count; r++) {
        const double to = leaps_to(h, r, h->crossing_entry[r]);
        if (to != 0.0) event_finder_leap(s->bound.events, (int)r, to);
    }
}

bool relations_update(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    if (flat_of(s)->relation_count == 0) return false;
    if (!h->looked) {
        bool solve = reads_ahead(s);
        look_at_relations(s, t, solve, solve && h->solved && !h->at_start && !h->stays);
    }
    h->looked = true;
    return turn_relations(s, t);
}

/* Whether any relation is to be turned at t, by a look ahead. */
static bool any_turns(dae_solver *s, double t)
{
    bool any = false, below;
    s->hybrid->looked = false;
    look_at_relations(s, t, true, false);
    for (size_t r = 0; r < flat_of(s)->relation_count && !any; r++) any = turns(s, t, r, &below);
    return any;
}

bool relations_leave(dae_solver *s, double t)
{
    if (flat_of(s)->relation_count == 0) return false;
    relations_decide(s, false);
    s->hybrid->at_seam = false;
    return any_turns(s, t);
}

void relations_note_seam(dae_solver *s)
{
    hybrid *h = s->hybrid;
    if (flat_of(s)->relation_count == 0) return;
    relations_evaluate(s, s->run.t_new);
    for (size_t r = 0; r < flat_of(s)->relation_count; r++) {
        h->came[r] = fabs(h->crossing[r]) > h->noise[r];
        h->trace[r].met = false;
    }
}

bool relations_pass_seam(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    if (flat_of(s)->relation_count == 0) return false;
    relations_decide(s, false);
    h->at_seam = true;
    model_instance_crossings(h->instance, t, s->bound.y, s->bound.yp, h->crossing_entry);
    return any_turns(s, t);
}

void relations_decide(dae_solver *s, bool decided)
{
    for (size_t r = 0; r < flat_of(s)->relation_count; r++) s->hybrid->decided[r] = decided;
}

/* Whether relation r, which carries rounding errors, is seen on another side than it is held to be
 * by more than atol. Of others the search finds every crossing, since it knows where they are held.
 */
static bool overdue(const dae_solver *s, size_t r, double crossing)
{
    const hybrid *h = s->hybrid;
    bool held = h->instance->memory[h->instance->form->flat->relations[r].memory] != 0.0;
    const double atol = s->bound.options.atol;
    if (!h->instance->form->rounded[r] || h->trace[r].mute) return false;
    if (!(fabs(crossing) > atol) || held == (crossing < 0.0)) return false;
    return fabs(crossing) > h->noise[r];
}

/* Part of the tolerances that says nothing about which of two relations crosses first; and of the
 * time since the last event of a relation, in which it is not the same one again. */
static const double UNRESOLVED = 0.01, ANOTHER = 1e-3;

/* Crossing functions at (t, y) moved: by a part of the tolerances, and a moment ahead along y'.
 * Returns how long that is. */
static double look_around(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    double delta = h->direction * 1e-9 * fmax(fabs(s->stats.last_h), DBL_MIN);
    for (int i = 0; i < s->bound.n; i++)
        h->ahead[i] = s->bound.y[i] + UNRESOLVED * s->bound.norm.weights[i];
    model_instance_crossings(h->instance, t, h->ahead, s->bound.yp, h->crossing_ahead);
    for (int i = 0; i < s->bound.n; i++) h->ahead[i] = s->bound.y[i] + delta * s->bound.yp[i];
    model_instance_crossings(h->instance, t + delta, h->ahead, s->bound.yp, h->crossing_entry);
    return fabs(delta);
}

/* Whether relation r, which did not cross, is about to: so soon that the tolerances do not tell its
 * crossing from the one at hand. Then both are one event, as in the solution that both are meant
 * for: x >= 1 and y >= 3 where x = t and y = 1 + 2 t. */
static bool meets(const hybrid *h, size_t r, double t, double moment)
{
    const double c = h->crossing[r], ahead = h->crossing_entry[r] - c;
    const relation_trace *trace = &h->trace[r];
    bool held = h->instance->memory[h->instance->form->flat->relations[r].memory] != 0.0;
    if (h->instance->form->rounded[r] || c == 0.0 || held != (c < 0.0)) return false;
    if (!(ahead * c < 0.0) || !(fabs(h->crossing_ahead[r] - c) >= fabs(c))) return false;
    double soon = moment * fabs(c / ahead);
    return isnan(trace->when) || soon <= ANOTHER * fabs(t - trace->when);
}

/* Whether the crossing function of relation r, c now, is still where its last event has met zero,
 * up to rounding: what a limit has stopped. */
static bool stays_at_zero(dae_solver *s, double t, size_t r, double c)
{
    const double zero = s->hybrid->zero[r];
    if (zero == 0.0 || c == zero) return zero != 0.0;
    return fabs(c - zero) <= last_digits(s, t, r);
}

/* Whether relation r goes through zero at t, as times can be told; `moment` after it is looked at.
 */
static bool goes_through(const dae_solver *s, double t, size_t r, double moment)
{
    const double c = s->hybrid->crossing[r], change = s->hybrid->crossing_entry[r] - c;
    const double resolution = 4.0 * event_finder_resolution(s->bound.events, t, 0.0);
    return change != 0.0 && fabs(c) * moment <= resolution * fabs(change);
}

/* Whether nothing but one relation has made the event. */
static bool is_alone(const dae_solver *s, double t, double moment)
{
    const flat_model *m = flat_of(s);
    size_t causes = 0;
    for (size_t r = 0; r < m->relation_count; r++)
        if (s->hybrid->decided[r] || (moment > 0.0 && goes_through(s, t, r, moment))) causes++;
    for (size_t i = 0; i < m->sample_count; i++)
        if (s->hybrid->instance->memory[m->samples[i].memory] != 0.0) causes++;
    return causes == 1;
}

/* Whether relation r has jumped over zero at t, by more than the last digits of its two sides and
 * the tolerances leave open: to the search a unit in the last place, and the gap between the
 * interpolants of two steps, are jumps. */
static bool jumps(dae_solver *s, double t, size_t r, const int *flags)
{
    return flags && event_finder_jumped(s->bound.events, (int)r) &&
           fabs(s->hybrid->crossing[r]) > last_digits(s, t, r) + crossing_tolerance(s, t, r);
}

/* Whether the crossing function of relation r, c at an event, has been away from zero since the
 * last one: an event that another relation makes may come where this one has all but met it. */
static bool was_away(const dae_solver *s, size_t r, double c)
{
    return fabs(c) > s->hybrid->noise[r] || s->hybrid->trace[r].seen ||
           (s->bound.events && event_finder_seen(s->bound.events, (int)r));
}

/* The relations whose crossing is the event take their new sides; they are decided. Where exactly
 * their zero was met tells what is a step off it: zero_r = crossing function there. Those that
 * nothing heard so far take the side on which they are. Those that have not moved since their last
 * event keep their zero: its last digits, or what the tolerances leave open, are no side. */
void relations_cross(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    bool found = s->bound.events && h->pending == EVENT_CROSSING;
    const int *flags = found ? event_finder_flags(s->bound.events) : NULL;
    if (m->relation_count == 0) return;
    h->at_seam = h->pending == EVENT_SEAM;
    relations_evaluate(s, t);
    double moment = flags ? look_around(s, t) : 0.0;
    for (size_t r = 0; r < m->relation_count; r++) {
        double c = h->crossing[r];
        bool late = h->pending == EVENT_OVERDUE && overdue(s, r, c);
        bool crosses = flags && flags[r] != 0, joins = flags && !crosses && meets(h, r, t, moment);
        h->decided[r] = late || crosses || joins;
        bool through = h->decided[r] && !jumps(s, t, r, flags);
        bool stays = stays_at_zero(s, t, r, c);
        if (h->pending != EVENT_SEAM) h->came[r] = !stays && was_away(s, r, c);
        h->came[r] = h->came[r] || h->decided[r];
        h->trace[r].met = false;
        if (h->decided[r] || !stays)
            h->zero[r] = through && !h->instance->form->rounded[r] ? c : 0.0;
        bool below = late ? c < 0.0 : joins ? c > 0.0 : crosses && flags[r] < 0;
        bool follows = h->trace[r].mute && fabs(c) > h->noise[r] && !h->decided[r];
        if (follows) below = c < 0.0;
        if (h->decided[r] || follows) h->instance->memory[m->relations[r].memory] = below;
    }
    h->alone = is_alone(s, t, moment);
}

/* The relations by their crossing functions at hand; whether one has changed. */
static bool take_sides(const dae_solver *s)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    bool changed = false;
    for (size_t r = 0; r < m->relation_count; r++) {
        double c = h->crossing[r], side = m->relations[r].strict ? c < 0.0 : c <= 0.0;
        if (memory_store(&h->instance->memory[m->relations[r].memory], side)) changed = true;
    }
    return changed;
}

/* First guess of the relations, from the start values alone. One that reads another through its
 * crossing function follows in the next pass. */
void relations_start(dae_solver *s, double t)
{
    bool changed = true;
    s->hybrid->at_seam = false;
    for (size_t r = 0; r < flat_of(s)->relation_count && changed; r++) {
        model_instance_crossings(s->hybrid->instance, t, s->bound.y, s->bound.yp,
                                 s->hybrid->crossing);
        changed = take_sides(s);
    }
}

/* A solution may leave zero without a sign change that could be searched for, since the search
 * begins at zero. An update is then due. */
void relations_note_overdue(dae_solver *s, double t, const double *y, const double *yp)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    if (m->relation_count == 0) return;
    model_instance_crossings(h->instance, t, y, yp, h->crossing);
    for (size_t r = 0; r < m->relation_count; r++)
        if (overdue(s, r, h->crossing[r])) h->pending = EVENT_OVERDUE;
}

/* ---- where an event happens ---- */

void hybrid_values_at(dae_solver *s, double t, double *y, double *yp)
{
    solver_interpolate(s, t, 0, y);
    solver_interpolate(s, t, 1, yp);
    if (!reads_solved(s) ||
        initializer_project(s->bound.init, t, s->run.t_new - s->run.t_old, s->bound.kinds,
                            s->bound.norm.weights, y, yp) == EVAL_OK)
        return;
    solver_interpolate(s, t, 0, y);
    solver_interpolate(s, t, 1, yp);
}

/* The crossing function of relation r at t, with variables that meet the equations. */
static double crossing_at(dae_solver *s, double t, size_t r)
{
    hybrid *h = s->hybrid;
    hybrid_values_at(s, t, h->ahead, h->ahead_yp);
    return hybrid_value(s, t, h->ahead, h->ahead_yp, flat_of(s)->relations[r].crossing);
}

/* The crossing function of relation r by the equations, positive once it has crossed in direction
 * `flag`. Zero itself is on the side on which a < b is false and a <= b true. */
static double crossed_by(dae_solver *s, double t, size_t r, int flag)
{
    const double c = crossing_at(s, t, r);
    if (c == 0.0) return flat_of(s)->relations[r].strict == (flag > 0) ? DBL_MIN : 0.0;
    return flag * c;
}

/* Whether the crossing function of relation r counts as zero at t, with such variables. */
static bool is_zero_at(dae_solver *s, double t, size_t r)
{
    const hybrid *h = s->hybrid;
    const double c = crossing_at(s, t, r);
    return fabs(c) <= relation_noise(s, t, h->ahead, h->ahead_yp, r);
}

/* The same of any relation, whose last digits count. */
static bool agrees_at(dae_solver *s, double t, size_t r)
{
    const hybrid *h = s->hybrid;
    const double c = crossing_at(s, t, r);
    return fabs(c) <= relation_slack(s, t, h->ahead, h->ahead_yp, r);
}

/* Whether zero is where relation r goes in direction `flag`, and where it is at the end of the
 * step. */
static bool comes_to_rest(dae_solver *s, size_t r, int flag)
{
    return flat_of(s)->relations[r].strict == (flag > 0) && is_zero_at(s, s->run.t_new, r);
}

/* From s->run.t, where the crossing function is *g, towards `end`: out to a time at which it is on
 * the other side, at first by a little, then as far as its slope says and twice over, or by ever
 * longer steps. *b: a bracket of the crossing; false: there is none. */
static bool bracket_crossing(dae_solver *s, size_t r, int flag, double end, double g, bracket *b)
{
    static const double FIRST = 1e-9, LEAST_GROWTH = 4.0, MOST_GROWTH = 1e3;
    const bool crossed = g > 0.0;
    double way = end - s->run.t, t = s->run.t, length = FIRST * fabs(s->run.t_new - s->run.t_old);
    for (double reach = fmax(length, 8.0 * DBL_EPSILON * fabs(t)); t != end;) {
        double next = reach < fabs(way) ? s->run.t + copysign(reach, way) : end;
        double after = crossed_by(s, next, r, flag);
        if ((after > 0.0) != crossed) {
            *b = crossed ? (bracket){next, t, after, g, NAN, NAN, false}
                         : (bracket){t, next, g, after, NAN, NAN, true};
            return true;
        }
        double left = 2.0 * after / (g - after) * fabs(next - t); /* NAN, < 0: it goes away */
        double least = LEAST_GROWTH * reach, most = MOST_GROWTH * reach;
        t = next;
        g = after;
        reach = reach + left > least ? fmin(reach + left, most) : least;
    }
    return false;
}

/* A few roundings on from a time at which the crossing function of relation r is zero: where it has
 * passed zero, so that values that are read there are those after the event. */
static double pass_zero(dae_solver *s, size_t r, int flag, double t)
{
    enum { MOST_DOUBLINGS = 5 };
    double on = DBL_EPSILON * fabs(t);
    if (crossing_at(s, t, r) != 0.0) return t;
    for (int k = 0; k < MOST_DOUBLINGS; k++, on *= 2.0) {
        double next = t + copysign(on, s->run.direction);
        if ((s->run.t_new - next) * s->run.direction < 0.0) return t;
        if ((s->run.goal - next) * s->run.direction < 0.0) return t;
        if (flag * crossing_at(s, next, r) > 0.0) return next;
    }
    return t;
}

/* The first time at which relation r has crossed in direction `flag`, by the equations, near
 * s->run.t where the interpolant lets it: back to `from` or on to the end of the step. s->run.t if
 * it has crossed all the way back; NAN if it does not cross: the error of the interpolant does. */
static double crossing_time(dae_solver *s, size_t r, int flag, double from)
{
    const double g = crossed_by(s, s->run.t, r, flag);
    bracket b;
    if (g > 0.0 && !reads_solved(s) && !s->hybrid->instance->form->rounded[r]) return s->run.t;
    if (!bracket_crossing(s, r, flag, g > 0.0 ? from : s->run.t_new, g, &b))
        return g > 0.0 || !s->hybrid->instance->form->rounded[r] || comes_to_rest(s, r, flag)
                   ? s->run.t
                   : NAN;
    double tolerance = DBL_EPSILON * fmax(fabs(b.near), fabs(b.far));
    for (int k = 0; k < 60 && fabs(b.far - b.near) > tolerance; k++) {
        double t = bracket_next(&b, tolerance);
        if ((t - b.near) * (t - b.far) >= 0.0) break; /* no number between them */
        double at = crossed_by(s, t, r, flag);
        bracket_take(&b, t, at, at > 0.0);
    }
    return pass_zero(s, r, flag, b.far);
}

/* Whether the crossing function of relation r stays at zero over the last step: the equations hold
 * it there, as the current of an open switch, or its sides agree but for their last digits. What
 * crosses is then the error of the interpolant, or rounding. */
static bool is_held_at_zero(dae_solver *s, size_t r)
{
    static const double behind[] = {0.0, 1.0, GOLDEN, 0.25, 0.0625, 0.015625, 0.4, 0.8};
    const double a = s->run.t_old, t = s->run.t, b = s->run.t_new;
    if (!agrees_at(s, a, r) || !agrees_at(s, a + GOLDEN * (t - a), r)) return false;
    for (size_t k = 0; k < sizeof behind / sizeof *behind; k++) /* it may leave, and come back */
        if (!agrees_at(s, t + behind[k] * (b - t), r)) return false;
    return true;
}

bool hybrid_relation_changes(dae_solver *s)
{
    const flat_model *m = flat_of(s);
    const int *flags = event_finder_flags(s->bound.events);
    for (size_t r = 0; r < m->relation_count; r++) {
        bool held = s->hybrid->instance->memory[m->relations[r].memory] != 0.0;
        if (flags[r] == 0 || held == (flags[r] < 0)) continue;
        if (!is_held_at_zero(s, r)) return true;
        /* such errors cross again and again */
        hybrid_values_at(s, s->run.t, s->hybrid->ahead, s->hybrid->ahead_yp);
        event_finder_quiet(s->bound.events, (int)r,
                           relation_slack(s, s->run.t, s->hybrid->ahead, s->hybrid->ahead_yp, r));
    }
    return false;
}

/* A sample at the same time as the event at s->run.t: both are one event. */
static void join_sample(dae_solver *s)
{
    const double sample = s->hybrid->next_time;
    if (!isfinite(sample) || fabs(s->run.t - sample) > sample_slack(sample)) return;
    if (fabs(sample - s->run.t_new) <= sample_slack(sample))
        s->run.t = s->run.t_new;
    else if (sample < s->run.t_new)
        s->run.t = sample;
}

bool hybrid_polish(dae_solver *s, double from)
{
    const int *flags = event_finder_flags(s->bound.events);
    double latest = NAN;
    bool crosses = false;
    for (size_t r = 0; r < flat_of(s)->relation_count; r++)
        if (flags[r] != 0) {
            double when = crossing_time(s, r, flags[r], from);
            crosses = crosses || !isnan(when);
            if (isnan(latest) || (when - latest) * s->run.direction > 0.0) latest = when;
        }
    if (!crosses) return false;
    const bool late = (latest - s->run.goal) * s->run.direction > 0.0; /* by rounding */
    if (!isnan(latest)) s->run.t = late ? s->run.goal : latest;
    join_sample(s);
    return true;
}
