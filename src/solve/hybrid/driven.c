/* What states drive, over whole steps: a pulse that is shorter than the step, exp(-((h - 20)/w)^2)
 * of a body that falls past a sensor, lies between the evaluations of every method, and no error
 * estimate tells. As states are smooth along the step, cubics enclose them, and interval arithmetic
 * [Moore66] what they drive. A node that goes one way, or stays near its values at the ends, was
 * seen. Of any other the step is halved where its bound is highest, down to a time at which the
 * node is in truth as far away as the bound says. There the dense output of the attempt is put into
 * the equations (watch/defect.h). If it does not solve them, the next attempt ends at that time,
 * where the error test sees what the node does; methods that do not evaluate the equations at the
 * ends of their steps are asked there, too. So a pulse costs a logarithm of its part of the step.
 *
 * Most steps need none of this: functions are tame along them (expr/range.h), as tanh(x) is where x
 * moves by less than 1, and what sums and products make of tame functions has no pulses.
 *
 * Crossing functions of relations are nodes as well: two crossings within a step leave the same
 * sign at its ends. And so is what is delayed, as it must be seen to be recorded. */
#include "solve/hybrid/driven.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "expr/range.h"
#include "solve/hybrid/hybrid_parts.h"
#include "solve/hybrid/motion.h"
#include "solve/watch/defect.h"

/* Changes below this part of the largest value that is known of a node are left to the error test.
 */
static const double SMALL = 1.0 / 64.0;
/* Tolerances by which the dense output may be off, as hybrid_forcing.c has it. */
static const double OFF = 100.0;
/* A box in which functions are tame has room for so many more steps on both sides of one. */
static const double LEAST_ROOM = 1.0;
/* Runs of the nodes that a step earns for those that need them, the short ones of multistep methods
 * fewer, and how many are kept: one pulse takes some 50. What finds something is free. Where bounds
 * stay wide in all steps, as those of quotients on a moving mesh, looks cost no more than that. */
enum { EARNED = 8, EARNED_SHORT = 2, MOST_CREDIT = 400 };
/* Pieces of a step at hand, halvings, cubics in a row. */
enum { MOST_PIECES = 32, MOST_HALVINGS = 30, MOST_ARCS = 8 };

/* A part of the step in which node `top` may be elsewhere, within these bounds. */
typedef struct piece {
    double from, to; /* parts of the step */
    size_t top;
    interval bound;
} piece;

struct driven {
    const model_form *form;
    const model_forcing *terms;
    motion *arc;                /* per arc and unknown that moves */
    int arcs;                   /* of the step at hand */
    double *inside, *inside_yp; /* work: n each where arcs meet */
    range *y;                   /* per unknown of the form */
    range_program *program;     /* of the nodes */
    range_program *functions;   /* that nodes are made of */
    range_program *given;       /* of the unknowns that follow states and time; NULL: none */
    range *value;               /* work: of them */
    size_t count;               /* of them */
    range *step, *now;          /* work: per node, over the step and over a piece of it */
    interval *seen;             /* work: per node, where the attempt was seen to be right */
    double *begin, *end;        /* work: per node, at both ends */
    double *spread;             /* work: per node, what tolerances of the states make of it */
    range *middle;              /* work: per node, in the middle of a piece */
    double *extent;             /* per node: the largest magnitude that is known of it */
    interval *box;              /* per unknown that moves: functions are tame there, */
    interval box_time;
    bool boxed;     /* if there is one */
    double room;    /* of the next one, in steps; */
    int tight;      /* steps in which none is sought */
    double *memory; /* of the model, when programs were settled */
    bool settled;   /* programs know memory and parameters */
    piece pieces[MOST_PIECES];
    int piece_count, runs; /* of the step at hand */
    int credit;            /* runs that may be made for it */
};

void driven_free(driven *q)
{
    if (!q) return;
    range_program_free(q->program);
    range_program_free(q->given);
    range_program_free(q->functions);
    dae_free_all(q->memory, q->box, q->spread, q->middle, q->value, q->arc, q->inside, q->inside_yp,
                 q->y, q->step, q->now, q->seen, q->begin, q->end, q->extent, q);
}

driven *driven_new(const model_form *form, const model_forcing *terms)
{
    driven *q = DAE_NEW(driven);
    if (!q) return NULL;
    const size_t count = terms->driven_count;
    q->form = form;
    q->terms = terms;
    q->count = count;
    q->credit = MOST_CREDIT;
    q->arc = DAE_ARRAY(motion, MOST_ARCS * (size_t)terms->moving_count);
    q->memory = DAE_ARRAY(double, (size_t)form->flat->memory_count);
    q->inside = DAE_ARRAY(double, MOST_ARCS *(size_t)form->n);
    q->inside_yp = DAE_ARRAY(double, MOST_ARCS *(size_t)form->n);
    q->y = DAE_ARRAY(range, (size_t)form->n);
    q->program = range_program_new(form->flat->graph, terms->driven, count);
    q->functions = range_program_new(form->flat->graph, terms->functions, terms->function_count);
    const size_t given = (size_t)terms->followed_count;
    if (given > 0) q->given = range_program_new(form->flat->graph, terms->followed_value, given);
    q->value = DAE_ARRAY(range, given);
    q->box = DAE_ARRAY(interval, (size_t)terms->moving_count);
    q->step = DAE_ARRAY(range, count);
    q->now = DAE_ARRAY(range, count);
    q->seen = DAE_ARRAY(interval, count);
    q->begin = DAE_ARRAY(double, count);
    q->end = DAE_ARRAY(double, count);
    q->extent = DAE_ARRAY(double, count);
    q->spread = DAE_ARRAY(double, count);
    q->middle = DAE_ARRAY(range, count);
    if (q->memory && q->functions && q->box && (q->given || given == 0) && q->value && q->arc &&
        q->inside && q->inside_yp && q->y && q->program && q->step && q->now && q->seen &&
        q->begin && q->end && q->extent && q->spread && q->middle)
        return q;
    driven_free(q);
    return NULL;
}

/* ---- states along the step ---- */

static motion *motions_of(const driven *q, int arc)
{
    return q->arc + (size_t)arc * (size_t)q->terms->moving_count;
}

/* An arc ends with these values and slopes. */
static void end_arc(const driven *q, int arc, double t, const double *y, const double *yp)
{
    motion *m = motions_of(q, arc);
    for (int k = 0; k < q->terms->moving_count; k++, m++) {
        m->t[1] = t;
        m->y[1] = y[q->terms->moving[k]];
        m->slope[1] = yp[q->terms->moving[k]];
    }
}

/* An arc begins where another one ends. */
static void begin_arc(const driven *q, int arc, int before)
{
    motion *m = motions_of(q, arc);
    const motion *last = motions_of(q, before);
    for (int k = 0; k < q->terms->moving_count; k++)
        m[k] = (motion){.t = {last[k].t[1]}, .y = {last[k].y[1]}, .slope = {last[k].slope[1]}};
}

/* What is known of functions, of memory that has changed. */
static void forget_box(driven *q)
{
    q->boxed = false;
    q->tight = 0;
    q->room = LEAST_ROOM;
}

void driven_bind(dae_solver *s, driven *q)
{
    end_arc(q, 0, s->run.t, s->bound.y, s->bound.yp);
    begin_arc(q, 0, 0);
    q->arcs = 1;
    q->settled = false;
    forget_box(q);
    for (size_t k = 0; k < q->count; k++) q->extent[k] = 0.0;
    if (s->run.t != s->hybrid->started) return;
    q->credit = MOST_CREDIT; /* runs of one solver repeat */
    q->runs = 0;
}

void driven_accept(const dae_solver *s, driven *q)
{
    const attempt *a = &s->run.last;
    end_arc(q, q->arcs - 1, a->t + a->h, a->y, a->yp);
    begin_arc(q, 0, q->arcs - 1);
    q->arcs = 1;
}

/* A cubic follows a step of a multistep method, which is short against what the solution does; one
 * of order p of a one-step method is as many cubics long as collocation of that order has points.
 */
static int arcs_of(const dae_solver *s, const attempt *a)
{
    const int arcs = s->run.control.one_step ? (a->order + 1) / 2 : 1;
    return arcs < MOST_ARCS ? arcs : MOST_ARCS;
}

/* The motions along the attempt, by its dense output if it has one. */
static void follow(dae_solver *s, driven *q, const attempt *a)
{
    const int n = s->bound.n;
    double t[MOST_ARCS];
    q->arcs = arcs_of(s, a);
    for (int k = 1; k < q->arcs; k++) t[k - 1] = a->t + a->h * k / q->arcs;
    if (q->arcs > 1 && !dense_inside(s, q->arcs - 1, t, q->inside, q->inside_yp)) q->arcs = 1;
    for (int k = 0; k < q->arcs - 1; k++) {
        const size_t at = (size_t)k * (size_t)n;
        end_arc(q, k, t[k], q->inside + at, q->inside_yp + at);
        begin_arc(q, k + 1, k);
    }
    end_arc(q, q->arcs - 1, a->t + a->h, a->y, a->yp);
}

/* q->y: the states between two parts of the step */
static void enclose_states(driven *q, const attempt *a, double from, double to)
{
    const int first = (int)fmin(from * q->arcs, q->arcs - 1.0);
    int last = (int)fmin(ceil(to * q->arcs), q->arcs) - 1;
    if (last < first) last = first;
    for (int arc = first; arc <= last; arc++) {
        const double begin = fmax(from, (double)arc / q->arcs);
        const double end = fmin(to, (arc + 1.0) / q->arcs);
        const motion *m = motions_of(q, arc);
        for (int k = 0; k < q->terms->moving_count; k++) {
            range *y = &q->y[q->terms->moving[k]];
            const range r = motion_between(&m[k], a->t + begin * a->h, a->t + end * a->h);
            if (arc == first)
                *y = r;
            else
                *y = (range){interval_hull(y->value, r.value), interval_hull(y->slope, r.slope)};
        }
    }
}

/* The hull of four numbers, wider by such a part on both sides. */
static interval wide_hull(double p, double q, double r, double u, double more)
{
    const double lo = lesser(lesser(p, q), lesser(r, u)),
                 hi = greater(greater(p, q), greater(r, u));
    return (interval){lo - more * (hi - lo), hi + more * (hi - lo)};
}

/* q->y: values and slopes of states within the control points of the cubic through both ends. */
static void box_states(driven *q, const attempt *a, double more)
{
    const motion *m = motions_of(q, 0);
    for (int k = 0; k < q->terms->moving_count; k++) {
        const int i = q->terms->moving[k];
        const double u = m[k].slope[0], v = a->yp[i];
        const double p = m[k].y[0] + a->h * u / 3.0, r = a->y[i] - a->h * v / 3.0;
        const double w = 3.0 * (r - p) / a->h;
        q->y[i] = (range){wide_hull(m[k].y[0], p, r, a->y[i], more), wide_hull(u, v, w, w, more)};
    }
}

/* Whether the end of an attempt that begins in the box where functions are known to be tame is in
 * it, too. */
static bool is_boxed(const driven *q, const attempt *a)
{
    const double t = a->t + a->h;
    if (!q->boxed || t < q->box_time.lo || t > q->box_time.hi) return false;
    for (int k = 0; k < q->terms->moving_count; k++) {
        const double y = a->y[q->terms->moving[k]];
        if (!(y >= q->box[k].lo && y <= q->box[k].hi)) return false;
    }
    return true;
}

static range_leaves leaves_of(const dae_solver *s, const driven *q, interval time)
{
    const model_instance *m = s->hybrid->instance;
    return (range_leaves){
        .time = time, .y = q->y, .parameters = m->parameters, .memory = m->memory};
}

/* Events change the memory, also those that begin nothing and are not counted. */
static void settle(const dae_solver *s, driven *q)
{
    const double *memory = s->hybrid->instance->memory;
    const size_t size = (size_t)q->form->flat->memory_count * sizeof *memory;
    const range_leaves leaves = leaves_of(s, q, (interval){s->run.t, s->run.t});
    if (size > 0 && memcmp(q->memory, memory, size) != 0) {
        memcpy(q->memory, memory, size);
        forget_box(q);
        q->settled = false;
    }
    if (q->settled) return;
    q->settled = true;
    range_program_settle(q->program, &leaves);
    range_program_settle(q->functions, &leaves);
    if (q->given) range_program_settle(q->given, &leaves);
}

/* Whether all functions are tame where q->y has the states. */
static bool tame_there(const dae_solver *s, const driven *q, interval time, int known, bool ends)
{
    const range_leaves leaves = leaves_of(s, q, time);
    return range_program_is_tame(q->functions, &leaves, known, ends);
}

/* The functions have their values at both ends of the attempt. */
static void hold_ends(const dae_solver *s, driven *q, const attempt *a)
{
    const motion *m = motions_of(q, 0);
    for (int end = 0; end < 2; end++) {
        for (int k = 0; k < q->terms->moving_count; k++) {
            const int i = q->terms->moving[k];
            const double y = end == 0 ? m[k].y[0] : a->y[i];
            q->y[i] = (range){{y, y}, {0.0, 0.0}};
        }
        const double t = a->t + end * a->h;
        const range_leaves leaves = leaves_of(s, q, (interval){t, t});
        range_program_hold(q->functions, &leaves, end);
    }
}

/* What functions do at the ends of a step does not count: they may go either way. */
static void ignore_slopes(driven *q)
{
    for (int k = 0; k < q->terms->moving_count; k++)
        q->y[q->terms->moving[k]].slope = (interval){-INFINITY, INFINITY};
}

/* Makes a box around the attempt, with room for so many more of its length on both sides, if
 * functions are tame there whatever the slopes. */
static bool make_box(const dae_solver *s, driven *q, const attempt *a, double more)
{
    const double t = a->t, end = a->t + a->h;
    q->box_time = wide_hull(t, t, end, end, more);
    box_states(q, a, more);
    for (int k = 0; k < q->terms->moving_count; k++) q->box[k] = q->y[q->terms->moving[k]].value;
    ignore_slopes(q);
    q->boxed = tame_there(s, q, q->box_time, 1, false);
    return q->boxed;
}

/* Whether all functions are tame along the attempt. What is shown for a step of a multistep method
 * is shown for some more, where it can be: these steps are short and cheap. */
static bool is_tame(const dae_solver *s, driven *q, const attempt *a)
{
    static const double MORE = 0.25, MOST_ROOM = 64.0;
    enum { TRY_AGAIN = 16 }; /* steps after which a box is tried again */
    const interval time = wide_hull(a->t, a->t, a->t + a->h, a->t + a->h, 0.0);
    const bool one_step = s->run.control.one_step;
    const int known = one_step ? a->order / 2 + 1 : 1;
    if (is_boxed(q, a)) return true;
    q->boxed = false;
    if (!one_step && --q->tight <= 0) {
        const bool made = make_box(s, q, a, q->room);
        q->room = made ? fmin(2.0 * q->room, MOST_ROOM) : fmax(0.5 * q->room, LEAST_ROOM);
        if (made) return true;
        if (q->room == LEAST_ROOM) q->tight = TRY_AGAIN;
    }
    box_states(q, a, MORE);
    if (s->bound.method->ends_unseen) ignore_slopes(q);
    if (tame_there(s, q, time, known, false)) return true;
    if (s->bound.method->ends_unseen) return false;
    hold_ends(s, q, a);
    box_states(q, a, MORE);
    return tame_there(s, q, time, known, true);
}

/* out = the nodes between two times, as q->y has the states */
static void run_nodes(const dae_solver *s, driven *q, double t, double to, bool still, range *out)
{
    range_leaves leaves = leaves_of(s, q, (interval){fmin(t, to), fmax(t, to)});
    leaves.still = still;
    range_program_run(q->program, &leaves, out);
    q->runs++;
}

/* out = the nodes between two parts of the step, or at one */
static void enclose(const dae_solver *s, driven *q, const attempt *a, double from, double to,
                    range *out)
{
    enclose_states(q, a, from, to);
    run_nodes(s, q, a->t + from * a->h, a->t + to * a->h, false, out);
}

void driven_follow(void *context, dae_solver *s, double t, double *y)
{
    driven *q = context;
    const range_leaves leaves = leaves_of(s, q, (interval){t, t});
    if (!q->given) return;
    for (int i = 0; i < q->form->n; i++) q->y[i] = (range){{y[i], y[i]}, {0.0, 0.0}};
    range_program_run(q->given, &leaves, q->value);
    for (int k = 0; k < q->terms->followed_count; k++)
        if (isfinite(q->value[k].value.lo)) y[q->terms->followed[k]] = q->value[k].value.lo;
}

/* ---- which nodes may be elsewhere ---- */

static bool is_crossing(const driven *q, size_t k)
{
    return k < q->terms->driven_crossings;
}

static bool is_delayed(const driven *q, size_t k)
{
    return !is_crossing(q, k) && k < q->terms->driven_crossings + q->terms->driven_delays;
}

static bool is_special(const driven *q, size_t k)
{
    return k < q->terms->driven_crossings + q->terms->driven_delays;
}

/* By how much v leaves what was seen of node k: of a relation the side of zero, of others what is
 * near the values. Not above zero: it does not. */
static double beyond(const driven *q, size_t k, interval v)
{
    const interval a = q->seen[k];
    if (is_crossing(q, k)) return a.lo > 0.0 ? -v.lo : a.hi < 0.0 ? v.hi : 0.0;
    const double near = (a.hi - a.lo) + fmax(SMALL * q->extent[k], q->spread[k]);
    return fmax(v.hi - (a.hi + near), (a.lo - near) - v.lo);
}

/* The same as a part of all that node k may do in the step. */
static double part_beyond(const driven *q, size_t k, interval v)
{
    const double off = beyond(q, k, v), way = q->step[k].value.hi - q->step[k].value.lo;
    return !(off > 0.0) ? 0.0 : isfinite(way) ? off / way : 1.0;
}

/* Whether any node turns within the step: all others are seen at its ends. */
static bool any_turns(const driven *q)
{
    for (size_t k = 0; k < q->count; k++) {
        const interval slope = q->step[k].slope;
        if (!(slope.lo >= 0.0 || slope.hi <= 0.0)) return true;
    }
    return false;
}

static double magnitude(interval v)
{
    return fmax(fabs(v.lo), fabs(v.hi));
}

static void see_ends(const dae_solver *s, driven *q, const attempt *a)
{
    enclose(s, q, a, 0.0, 0.0, q->now);
    for (size_t k = 0; k < q->count; k++) q->begin[k] = q->now[k].value.lo;
    enclose(s, q, a, 1.0, 1.0, q->middle);
    for (size_t k = 0; k < q->count; k++) {
        q->end[k] = q->middle[k].value.lo;
        q->seen[k] = (interval){fmin(q->begin[k], q->end[k]), fmax(q->begin[k], q->end[k])};
        if (isfinite(magnitude(q->seen[k])))
            q->extent[k] = fmax(q->extent[k], magnitude(q->seen[k]));
    }
}

/* What tolerances of the states at the end make of the nodes: differences of that size, times what
 * the dense output may be off by, are no reason to look, as the correction would be no larger. */
static void find_spread(const dae_solver *s, driven *q, const attempt *a)
{
    for (int k = 0; k < q->terms->moving_count; k++) {
        const int i = q->terms->moving[k];
        const double w = s->bound.norm.weights[i];
        q->y[i] = (range){{a->y[i], a->y[i]}, {-w, w}};
    }
    run_nodes(s, q, a->t + a->h, a->t + a->h, true, q->now);
    for (size_t k = 0; k < q->count; k++) {
        const double spread = OFF * magnitude(q->now[k].slope);
        q->spread[k] = isfinite(spread) && !is_special(q, k) ? spread : 0.0;
    }
}

/* Bounds of a value that is v at one end of a piece, `way` from the other. */
static interval along(double v, interval slope, double way)
{
    const double p = slope.lo * way, r = slope.hi * way;
    return (interval){v + fmin(0.0, fmin(p, r)), v + fmax(0.0, fmax(p, r))};
}

static interval common(interval a, interval b)
{
    const interval c = {fmax(a.lo, b.lo), fmin(a.hi, b.hi)};
    return c.lo <= c.hi ? c : a;
}

/* Adds a piece in which the nodes are q->now, and at one of its ends q->middle, unless they were
 * seen there. */
static void add_piece(driven *q, const attempt *a, double from, double to, bool begins)
{
    const double way = (begins ? 1.0 : -1.0) * (to - from) * a->h;
    double most = 0.0;
    piece p = {.from = from, .to = to};
    for (size_t k = 0; k < q->count; k++) {
        const range r = q->now[k];
        const interval v = common(r.value, along(q->middle[k].value.lo, r.slope, way));
        const double part = part_beyond(q, k, v);
        if (!(part > most)) continue;
        most = part;
        p.top = k;
        p.bound = v;
    }
    if (most > 0.0 && q->piece_count < MOST_PIECES) q->pieces[q->piece_count++] = p;
}

/* Takes out the piece whose bound goes furthest; of equal ones the shortest, so that one is halved
 * down to its end before others are. */
static piece take_piece(driven *q)
{
    static const double EQUAL = 1e-9;
    int most = 0;
    double part = -1.0;
    for (int i = 0; i < q->piece_count; i++) {
        const piece *p = &q->pieces[i], *best = &q->pieces[most];
        const double off = part_beyond(q, p->top, p->bound);
        const bool shorter = p->to - p->from < best->to - best->from;
        if (!(off > part + EQUAL || (shorter && off >= part - EQUAL))) continue;
        part = fmax(part, off);
        most = i;
    }
    const piece found = q->pieces[most];
    q->pieces[most] = q->pieces[--q->piece_count];
    return found;
}

/* ---- whether that matters ---- */

/* Whether the relation of node k is on its other side, with the value v, and is heard. */
static bool crosses(const dae_solver *s, const driven *q, const attempt *a, size_t k, double v)
{
    const size_t r = (size_t)q->terms->driven_source[k];
    const interval seen = q->seen[k];
    const double slack = relation_slack(s, a->t + a->h, a->y, a->yp, r);
    if (s->hybrid->trace[r].mute) return false;
    return (seen.lo > slack && v < -slack) || (seen.hi < -slack && v > slack);
}

/* Whether what is delayed is off a straight line by a tolerance. */
static bool bends(const dae_solver *s, const driven *q, double at, size_t k, double v)
{
    const double line = q->begin[k] + at * (q->end[k] - q->begin[k]);
    return fabs(v - line) > delays_tolerance(s, fmax(fabs(v), fabs(line)));
}

/* Whether what nodes do at this part of the step matters, where q->now has them. */
static bool matters(dae_solver *s, driven *q, const attempt *a, double at)
{
    bool ask = false;
    for (size_t k = 0; k < q->count; k++) {
        const interval v = q->middle[k].value;
        if (!(beyond(q, k, v) > 0.0)) continue;
        if (is_crossing(q, k) ? crosses(s, q, a, k, v.lo)
                              : is_delayed(q, k) && bends(s, q, at, k, v.lo))
            return true;
        ask = ask || (!is_crossing(q, k) && !is_delayed(q, k));
    }
    return ask && defect_inside(s, a, a->t + at * a->h, driven_follow, q) > OFF;
}

/* The attempt is right where q->middle has the nodes. */
static void see_now(driven *q)
{
    for (size_t k = 0; k < q->count; k++) {
        const interval v = q->middle[k].value;
        if (!isfinite(magnitude(v))) continue;
        q->seen[k] = interval_hull(q->seen[k], v);
    }
}

/* The part of the step at which a node is elsewhere, and that matters; 1: none was found. */
static double unseen_part(dae_solver *s, driven *q, const attempt *a)
{
    const double shortest = ldexp(1.0, -MOST_HALVINGS);
    q->piece_count = 0;
    for (size_t k = 0; k < q->count; k++) q->now[k] = q->step[k], q->spread[k] = 0.0;
    add_piece(q, a, 0.0, 1.0, false);
    if (q->piece_count == 0) return 1.0;
    find_spread(s, q, a);
    while (q->piece_count > 0 && q->runs < q->credit) {
        const piece p = take_piece(q);
        const double middle = 0.5 * (p.from + p.to), off = beyond(q, p.top, p.bound);
        if (!(off > 0.0)) continue;
        enclose(s, q, a, middle, middle, q->middle);
        if (beyond(q, p.top, q->middle[p.top].value) >= 0.5 * off) {
            if (matters(s, q, a, middle)) return middle;
            see_now(q);
        }
        if (p.to - p.from <= shortest) continue;
        enclose(s, q, a, p.from, middle, q->now);
        add_piece(q, a, p.from, middle, false);
        enclose(s, q, a, middle, p.to, q->now);
        add_piece(q, a, middle, p.to, true);
    }
    return 1.0;
}

/* Whether an attempt that ends where a node does what was not seen solves the equations there, and
 * shortly before: methods that know nothing of the end but y' fail in one of the two. */
static bool is_solved(dae_solver *s, driven *q, const attempt *a)
{
    static const double PLACES[] = {1.0, 0.9};
    for (int i = 0; i < 2; i++)
        if (defect_inside(s, a, a->t + PLACES[i] * a->h, driven_follow, q) > OFF) return false;
    return true;
}

double driven_part(dae_solver *s, driven *q, const attempt *a, bool cut)
{
    q->credit += (s->run.control.one_step ? EARNED : EARNED_SHORT) - q->runs;
    q->credit = q->credit < MOST_CREDIT ? q->credit : MOST_CREDIT;
    q->runs = 0;
    settle(s, q);
    if (cut && !is_solved(s, q, a)) return 0.5;
    q->arcs = 1;
    if (q->credit <= 0 || is_tame(s, q, a)) return 1.0;
    if (s->bound.method->ends_unseen && !cut && !is_solved(s, q, a)) return 0.5;
    follow(s, q, a);
    enclose(s, q, a, 0.0, 1.0, q->step);
    if (!any_turns(q)) return 1.0;
    see_ends(s, q, a);
    const double part = unseen_part(s, q, a);
    if (part < 1.0) q->runs = 0;
    return part;
}

void driven_persist(driven *q, persist *p)
{
    PERSIST_ARRAY(p, q->arc, (size_t)q->terms->moving_count);
    PERSIST_ARRAY(p, q->extent, q->count);
    PERSIST_ARRAY(p, q->box, (size_t)q->terms->moving_count);
    PERSIST(p, q->box_time);
    PERSIST(p, q->boxed);
    PERSIST(p, q->room);
    PERSIST(p, q->tight);
    PERSIST_ARRAY(p, q->memory, (size_t)q->form->flat->memory_count);
    PERSIST(p, q->runs);
    PERSIST(p, q->credit);
}
