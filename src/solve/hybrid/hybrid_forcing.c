/* Forcing: functions of time alone in the equations, over whole steps.
 *
 * A method knows them at the times of its evaluations. What they do in between, as a pulse that is
 * shorter than the step, no error estimate tells. But they can be bounded: interval arithmetic
 * [Moore66] encloses each of their nodes over a piece of time. A step has seen a node if the node
 * stays near the values that are known of it, and does not go up and down more often than these can
 * tell. Where that cannot be shown for a piece, it is halved, down to
 * pieces that show it, or a time at which the node is elsewhere. What F differs by there, by the
 * matrix of the end of the step, is what the solution may have missed: if it matters in units of
 * the tolerances, the step is to end there. So a pulse costs the logarithm of its part of the step.
 *
 * What is delayed by a constant lag is known, too, as no step is longer than the lag: its bounds
 * are the hull of those of the pieces of the past. And what will be delayed must be seen to be
 * recorded.
 *
 * Loops and relations are not bounded: relations of time are events, or seams (hybrid_seams.c). */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "expr/range.h"
#include "solve/hybrid/driven.h"
#include "solve/hybrid/hybrid_parts.h"
#include "solve/watch/defect.h"

/* What is smaller than this part of the largest value of a node is left to the error test, which
 * sees it wherever an evaluation does. */
static const double SMALL = 1.0 / 64.0;
/* Pieces of a step, halvings, and how often one step is cut: at t = 0, where no step is too short
 * for t, nothing else ends the cuts. */
enum { MOST_PIECES = 256, MOST_HALVINGS = 30, MOST_CUTS = 60 };

/* A method knows a node at its stages. Where it is largest an exponential or a limit may make much
 * of little that lies between them, so that the dense output is put into the equations there.
 * Beyond so many tolerances it does not solve them: a pulse of a quarter of the step moves the end
 * by as much then. Polynomials of collocation are off by 10 on smooth solutions; on the ladder a
 * limit of 10 takes a sixth of the steps more, one of 100 none, and both find the same pulses of
 * 840 runs. */
static const double OFF = 100.0;
enum { LOOKS = 16 }; /* places at which the largest value is looked for, before a parabola */

/* A node that did not matter in the step at hand. The next step asks anew: what the node is
 * multiplied by may have grown or come back from zero. */
typedef struct calm {
    double h, width; /* for attempts and changes up to this size; 0: it is not known */
} calm;

struct forcing {
    owned_part part;
    const model_form *form; /* of the equations these are of */
    model_forcing terms;    /* the nodes, and what they read */
    driven *driven;         /* what states drive; owned, NULL: nothing */
    range_program *program; /* of the nodes; NULL: there are none */
    range_program *given;   /* of the unknowns that are functions of time; NULL: there are none */
    range *given_value;     /* work: of them */
    size_t count;           /* of nodes */
    double *memory;         /* work: that of the model, with the pieces of the past that hold at
                               the time looked at; NULL: no delays */
    range *more;            /* work: per node or per unknown that is given, over one of them */
    double *off;            /* work: what is delayed, off straight lines */
    double *size;           /* work: of what is delayed */
    range *piece, *step;    /* work: per node, over a piece of the step, and over all of it */
    interval *seen;         /* work: per node, where the equations were evaluated */
    double *extent;         /* per node: the largest magnitude that is known of it */
    double *steepest;       /* per node: a bound on its slope in the rest of the run */
    interval *ends;         /* work: per node, between its values at both ends of the step */
    double *look;           /* work: LOOKS + 1 values of each node, evenly spaced */
    double *before, *begin,
        *end;                /* per node: where the last step began, and at both ends of this */
    double begin_at;         /* the time of `begin` */
    calm *calm;              /* per node */
    bool has_before, looked; /* `before` is known; the others are, for the last attempt */
    bool has_matrix;
    int cuts; /* of the step at hand */
};

static void forcing_free(void *self)
{
    forcing *q = self;
    driven_free(q->driven);
    range_program_free(q->program);
    range_program_free(q->given);
    model_forcing_free(&q->terms);
    dae_free_all(q->memory, q->more, q->off, q->size, q->given_value, q->piece, q->step, q->seen,
                 q->extent, q->steepest, q->ends, q->look, q->before, q->begin, q->end, q->calm, q);
}

static bool make_programs(forcing *q, const model_form *f)
{
    const graph *g = f->flat->graph;
    if (!model_forcing_find(&q->terms, f)) return false;
    const size_t given = (size_t)q->terms.given_count;
    q->count = q->terms.count;
    if (q->terms.driven_count > 0) {
        q->driven = driven_new(f, &q->terms);
        if (!q->driven) return false;
    }
    if (q->count == 0) return true;
    q->program = range_program_new(g, q->terms.nodes, q->count);
    if (given > 0) q->given = range_program_new(g, q->terms.value, given);
    return q->program && (given == 0 || q->given);
}

static forcing *forcing_new(const model_form *f)
{
    forcing *q = DAE_NEW(forcing);
    if (!q) return NULL;
    q->part.free = forcing_free;
    q->form = f;
    graph_enter(f->flat->graph);
    bool ok = make_programs(q, f);
    graph_leave(f->flat->graph);
    const size_t given = (size_t)q->terms.given_count, delays = f->flat->delay_count;
    if (delays > 0) q->memory = DAE_ARRAY(double, (size_t)f->flat->memory_count);
    q->more = DAE_ARRAY(range, given > q->count ? given : q->count);
    q->off = DAE_ARRAY(double, delays);
    q->size = DAE_ARRAY(double, delays);
    ok = ok && (q->memory || delays == 0) && q->more && q->off && q->size;
    q->given_value = DAE_ARRAY(range, given);
    ok = ok && q->given_value;
    q->piece = DAE_ARRAY(range, q->count);
    q->step = DAE_ARRAY(range, q->count);
    q->seen = DAE_ARRAY(interval, q->count);
    q->extent = DAE_ARRAY(double, q->count);
    q->steepest = DAE_ARRAY(double, q->count);
    q->begin = DAE_ARRAY(double, q->count);
    q->before = DAE_ARRAY(double, q->count);
    q->end = DAE_ARRAY(double, q->count);
    q->calm = DAE_ARRAY(calm, q->count);
    q->ends = DAE_ARRAY(interval, q->count);
    q->look = DAE_ARRAY(double, (LOOKS + 1) * q->count);
    ok = ok && q->piece && q->step && q->seen && q->extent && q->steepest && q->begin &&
         q->before && q->end && q->calm && q->ends && q->look;
    if (ok) return q;
    forcing_free(q);
    return NULL;
}

/* ---- values and bounds ---- */

/* out = the roots of a program between a and b, as this memory has the past */
static void enclose_piece(const dae_solver *s, range_program *program, double a, double b,
                          const double *memory, range *out)
{
    const model_instance *m = s->hybrid->instance;
    const range_leaves leaves = {
        .time = {fmin(a, b), fmax(a, b)}, .parameters = m->parameters, .memory = memory};
    range_program_run(program, &leaves, out);
}

/* out = the `count` roots of a program between a and b: the hull over the pieces of the past */
static void enclose_roots(const dae_solver *s, range_program *program, size_t count, double a,
                          double b, range *out)
{
    const hybrid *h = s->hybrid;
    const forcing *q = h->forcing;
    double t = fmin(a, b), to, end = fmax(a, b);
    if (!q->memory) {
        enclose_piece(s, program, a, b, h->instance->memory, out);
        return;
    }
    for (bool first = true; first || t < end; first = false, t = to) {
        to = fmin(end, hybrid_next_piece(h, t));
        delay_table_load(h->delays, 0.5 * (t + to), q->memory);
        enclose_piece(s, program, t, to, q->memory, first ? out : q->more);
        for (size_t k = 0; !first && k < count; k++) {
            out[k].value = interval_hull(out[k].value, q->more[k].value);
            out[k].slope = interval_hull(out[k].slope, q->more[k].slope);
        }
    }
}

/* The memory of the model may have changed. */
static void take_memory(const dae_solver *s, forcing *q)
{
    const size_t count = (size_t)q->form->flat->memory_count;
    if (q->memory) vector_copy((int)count, s->hybrid->instance->memory, q->memory);
}

/* out = the nodes between a and b */
static void enclose(const dae_solver *s, double a, double b, range *out)
{
    const forcing *q = s->hybrid->forcing;
    enclose_roots(s, q->program, q->count, a, b, out);
}

static double magnitude(interval a)
{
    return fmax(fabs(a.lo), fabs(a.hi));
}

/* out = the nodes at t */
static void values_at(const dae_solver *s, forcing *q, double t, double *out)
{
    enclose(s, t, t, q->piece);
    for (size_t k = 0; k < q->count; k++) out[k] = q->piece[k].value.lo;
}

/* The equations were evaluated at t. */
static void see(const dae_solver *s, forcing *q, double t)
{
    enclose(s, t, t, q->piece);
    for (size_t k = 0; k < q->count; k++) {
        const interval v = q->piece[k].value;
        q->seen[k] = (interval){fmin(q->seen[k].lo, v.lo), fmax(q->seen[k].hi, v.hi)};
        if (isfinite(magnitude(v))) q->extent[k] = fmax(q->extent[k], magnitude(v));
    }
}

static double small_change(const forcing *q, size_t k)
{
    return SMALL * q->extent[k];
}

/* By how much v leaves what is near the values that node k was seen to have. */
static double beyond(const forcing *q, size_t k, interval v)
{
    const interval a = q->seen[k];
    const double near = (a.hi - a.lo) + small_change(q, k);
    return fmax(v.hi - (a.hi + near), (a.lo - near) - v.lo);
}

/* Whether node k is known not to matter in steps of this length. */
static bool is_calm(const forcing *q, size_t k, double h)
{
    const calm *c = &q->calm[k];
    const interval v = q->step[k].value;
    return fabs(h) <= c->h && v.hi - v.lo <= c->width;
}

static void set_calm(forcing *q, size_t k, double h)
{
    const interval v = q->step[k].value;
    q->calm[k] = (calm){.h = fabs(h), .width = v.hi - v.lo};
}

/* ---- what it does to the solution ---- */

/* F at t, with what time alone decides as it is there, and all else as at the end of the attempt;
 * false: it has no values */
static bool residual_at(dae_solver *s, const attempt *a, double t, double *f)
{
    binding *b = &s->bound;
    const forcing *q = s->hybrid->forcing;
    const eval_failure failure = b->eval.failure;
    vector_copy(b->n, a->y, b->work);
    const size_t given = (size_t)q->terms.given_count;
    if (q->given) enclose_roots(s, q->given, given, t, t, q->given_value);
    for (size_t k = 0; k < given; k++) b->work[q->terms.given[k]] = q->given_value[k].value.lo;
    const eval_status status =
        evaluate_residual(&b->eval, t, b->work, a->yp, f, &s->stats.residuals);
    if (status == EVAL_RETRY) b->eval.failure = failure;
    return status == EVAL_OK;
}

/* Adds `part` of what is delayed at t, where residual_at was called last. */
static void add_delayed(dae_solver *s, const attempt *a, double t, double part)
{
    const forcing *q = s->hybrid->forcing;
    for (size_t i = 0; i < q->form->flat->delay_count; i++) {
        const double v = hybrid_value(s, t, s->bound.work, a->yp, q->form->flat->delays[i].value);
        q->off[i] += part * v;
        q->size[i] = fmax(q->size[i], fabs(v));
    }
}

/* What a straight line would be off by where effect() was asked for, of what is delayed, in
 * tolerances. The record of it is fine enough to show whatever it meets (delay_record.c). */
static double effect_on_past(const dae_solver *s)
{
    const forcing *q = s->hybrid->forcing;
    double most = 0.0;
    for (size_t i = 0; i < q->form->flat->delay_count; i++)
        most = fmax(most, fabs(q->off[i]) / delays_tolerance(s, q->size[i]));
    return most;
}

/* F at t goes to d, times `part`, and with it what is delayed; false: no values. */
static bool add_residual(dae_solver *s, const attempt *a, double t, double part, double *d)
{
    binding *b = &s->bound;
    if (!residual_at(s, a, t, b->end_beside)) return false;
    for (int i = 0; i < b->n; i++) d[i] += part * b->end_beside[i];
    add_delayed(s, a, t, part);
    return true;
}

/* What F at t differs by from the straight line between the ends of the step, in units of the
 * tolerances: by the derivatives at the end, for a y' that moves with 1/h. INFINITY: not known. */
static double effect(dae_solver *s, const attempt *a, double t)
{
    binding *b = &s->bound;
    const double part = (t - a->t) / a->h;
    double *d = b->end_off;
    forcing *q = s->hybrid->forcing;
    if (!q->has_matrix && !step_end_factor(s, a)) return INFINITY;
    q->has_matrix = true;
    vector_zero(b->n, d);
    vector_zero((int)q->form->flat->delay_count, q->off);
    vector_zero((int)q->form->flat->delay_count, q->size);
    if (!add_residual(s, a, t, 1.0, d) || !add_residual(s, a, a->t, part - 1.0, d) ||
        !add_residual(s, a, a->t + a->h, -part, d))
        return INFINITY;
    if (iteration_solve(&b->ends, NULL, d) != ITERATION_OK) return INFINITY;
    const double size = norm_of(&b->norm, d, b->norm.scale);
    return isnan(size) ? INFINITY : size;
}

/* ---- a time that the step has not seen ---- */

/* The first node that may be elsewhere between t and `to`, or q->count. */
static size_t first_elsewhere(const dae_solver *s, forcing *q, const attempt *a, double t,
                              double to)
{
    size_t k = 0;
    enclose(s, t, to, q->piece);
    while (k < q->count && (is_calm(q, k, a->h) || !(beyond(q, k, q->piece[k].value) > 0.0))) k++;
    return k;
}

/* Whether a node is elsewhere at t, and that matters. Nodes to which it does not are calm. */
static bool matters_at(dae_solver *s, forcing *q, const attempt *a, double t)
{
    double more = 0.0; /* elsewhere in the step the largest may be so many times as far away */
    enclose(s, t, t, q->piece);
    for (size_t k = 0; k < q->count; k++) {
        const double off = is_calm(q, k, a->h) ? 0.0 : beyond(q, k, q->piece[k].value);
        const double most = beyond(q, k, q->step[k].value) + small_change(q, k);
        if (off > 0.0) more = fmax(more, most / (off + small_change(q, k)));
    }
    if (more == 0.0) return false;
    if (!(more < 1.0 / SMALL)) more = 1.0 / SMALL;
    if (more * effect(s, a, t) > 1.0 || more * effect_on_past(s) > 1.0) return true;
    for (size_t k = 0; k < q->count; k++)
        if (beyond(q, k, q->piece[k].value) > 0.0) set_calm(q, k, a->h);
    return false;
}

/* The first time found at which a node does what matters and was not seen, or NAN. */
static double unseen_time(dae_solver *s, forcing *q, const attempt *a)
{
    const double end = fmax(a->t, a->t + a->h);
    double t = fmin(a->t, a->t + a->h), length = end - t;
    const double shortest = ldexp(length, -MOST_HALVINGS);
    for (int pieces = 0; t < end && pieces < MOST_PIECES; pieces++) {
        const double to = fmin(t + length, end), middle = 0.5 * (t + to);
        const bool whole = first_elsewhere(s, q, a, t, to) == q->count;
        if (!whole && matters_at(s, q, a, middle)) return middle;
        if (whole || length <= shortest) {
            t = to;
            length *= 2.0;
        } else {
            length *= 0.5;
        }
    }
    return NAN;
}

/* ---- ups and downs ---- */

/* How many evenly spaced values of a node a step knows, beside the first: collocation of order 2 s
 * has s points within the step, and there is its end; a multistep method has its end. */
static int values_known(const dae_solver *s, const attempt *a)
{
    return s->run.control.one_step ? a->order / 2 + 1 : 1;
}

/* What values that are known tell of node k: that it goes up and down between the values seen,
 * once, and between two neighbours no further than twice as far. */
static double way_told(const forcing *q, size_t k, int known)
{
    const interval v = q->seen[k];
    return (known > 1 ? 2.0 : 1.5) * (v.hi - v.lo + small_change(q, k));
}

static double steepest_told(const forcing *q, size_t k, int known)
{
    const interval v = q->seen[k];
    return 2.0 * known * (v.hi - v.lo + small_change(q, k));
}

/* The most that node k may move along the step, if it is steepest all along. */
static double most_way(const forcing *q, const attempt *a, size_t k)
{
    const double way = magnitude(q->step[k].slope) * fabs(a->h);
    return isfinite(way) ? way : 0.0;
}

/* A bound on how far node k goes, up and down, within the attempt. */
static double way_of(const dae_solver *s, forcing *q, const attempt *a, size_t k)
{
    enum { PIECES = 8 };
    double way = 0.0;
    for (int i = 0; i < PIECES; i++) {
        enclose(s, a->t + a->h * i / PIECES, a->t + a->h * (i + 1) / PIECES, q->piece);
        way += magnitude(q->piece[k].slope) * fabs(a->h) / PIECES;
    }
    return way;
}

/* The part of the step in which node k does no more than is told. */
static double part_told(const dae_solver *s, forcing *q, const attempt *a, size_t k)
{
    const int known = values_known(s, a);
    const double most = most_way(q, a, k), told = way_told(q, k, known);
    double part = fmin(1.0, steepest_told(q, k, known) / most);
    if (most > told) part = fmin(part, told / way_of(s, q, a, k));
    return part;
}

/* Whether what a step does not resolve of node k matters: where the values known of it are least
 * and greatest, and at times that fit no period. */
static bool waves_matter(dae_solver *s, forcing *q, const attempt *a, size_t k)
{
    double times[] = {0.1459, 0.3820, 0.6180, 0.9017, 0.5, 0.5}; /* by the golden section */
    const int known = values_known(s, a);
    double least = INFINITY, most = -INFINITY;
    for (int i = 1; i < known; i++) {
        const double at = (double)i / known;
        enclose(s, a->t + at * a->h, a->t + at * a->h, q->piece);
        const double v = q->piece[k].value.lo;
        if (v < least) least = v, times[4] = at;
        if (v > most) most = v, times[5] = at;
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (effect(s, a, a->t + times[i] * a->h) > 1.0) return true;
    return false;
}

/* The part of the step in which all nodes do no more than is told. */
static double resolved_part(dae_solver *s, forcing *q, const attempt *a)
{
    static const double LEAST = 0.125;
    double part = 1.0;
    for (size_t k = 0; k < q->count; k++) {
        const double told = is_calm(q, k, a->h) ? 1.0 : part_told(s, q, a, k);
        if (!(told < part)) continue;
        if (waves_matter(s, q, a, k))
            while (part > told && part > LEAST) part *= 0.5;
        else
            set_calm(q, k, a->h);
    }
    return part;
}

/* ---- where a node is largest ---- */

/* Whether v leaves the values of node k at the ends of the step. */
static bool leaves(const forcing *q, size_t k, interval v)
{
    const double near = small_change(q, k);
    return v.hi > q->ends[k].hi + near || v.lo < q->ends[k].lo - near;
}

static bool any_leaves(const forcing *q)
{
    for (size_t k = 0; k < q->count; k++)
        if (leaves(q, k, q->step[k].value)) return true;
    return false;
}

/* Where the parabola through three values, evenly spaced, has its vertex; in spaces from the middle
 */
static double vertex(double before, double here, double after)
{
    const double bend = before - 2.0 * here + after;
    const double x = 0.5 * (before - after) / bend;
    return fabs(x) < 1.0 ? x : 0.0;
}

/* The place in the step, from 0 to 1, where sign times node k is largest, of those looked at. */
static double largest_at(const forcing *q, size_t k, double sign)
{
    int most = 0;
    for (int i = 1; i <= LOOKS; i++)
        if (sign * q->look[(size_t)i * q->count + k] > sign * q->look[(size_t)most * q->count + k])
            most = i;
    if (most == 0 || most == LOOKS) return (double)most / LOOKS;
    const double *v = q->look + (size_t)most * q->count + k;
    return (most + vertex(*(v - q->count), *v, *(v + q->count))) / LOOKS;
}

/* Where a node is largest, or least, within the step, and the solution does not meet the equations
 * there: part of the step; 1: nowhere. */
static double unmet_part(dae_solver *s, forcing *q, const attempt *a)
{
    static const double APART = 1.0 / 64.0; /* nodes are largest together */
    double part = 1.0, asked = -1.0;
    for (int i = 0; i <= LOOKS; i++)
        values_at(s, q, a->t + a->h * i / LOOKS, q->look + (size_t)i * q->count);
    for (size_t k = 0; k < q->count; k++) {
        for (double sign = -1.0; sign <= 1.0; sign += 2.0) {
            const double at = largest_at(q, k, sign), t = a->t + at * a->h;
            if (!(at > 0.0 && at < part) || fabs(at - asked) < APART) continue;
            enclose(s, t, t, q->piece);
            if (!leaves(q, k, q->piece[k].value)) continue;
            asked = at;
            if (defect_inside(s, a, t, q->driven ? driven_follow : NULL, q->driven) > OFF)
                part = at;
        }
    }
    return part;
}

/* ---- for steps ---- */

void hybrid_bind_forcing(dae_solver *s)
{
    hybrid *h = s->hybrid;
    if (!h->forcing || h->forcing->form != h->instance->form) {
        part_free(h->forcing);
        h->forcing = forcing_new(h->instance->form);
        if (!h->forcing) h->no_memory = true;
    }
    forcing *q = h->forcing;
    if (q && q->driven) driven_bind(s, q->driven);
    if (q) q->cuts = 0;
    if (!q || !q->program) return;
    const double stop = solver_stop_time(s), end = isfinite(stop) ? stop : s->run.goal;
    take_memory(s, q);
    enclose_piece(s, q->program, s->run.t, end, s->hybrid->instance->memory, q->piece);
    for (size_t k = 0; k < q->count; k++) {
        const bool past = q->terms.past[k];
        const double most = magnitude(q->piece[k].value);
        q->extent[k] =
            isfinite(most) && !past ? most : 0.0; /* what comes of the past is not known */
        q->steepest[k] = past ? INFINITY : magnitude(q->piece[k].slope);
        q->calm[k].h = 0.0;
    }
    q->looked = q->has_before = false;
    q->begin_at = NAN;
}

/* What is seen at the ends of the step, and where the one before began. */
static void see_ends(const dae_solver *s, forcing *q, const attempt *a)
{
    if (q->begin_at != a->t) values_at(s, q, a->t, q->begin);
    q->begin_at = a->t;
    values_at(s, q, a->t + a->h, q->end);
    for (size_t k = 0; k < q->count; k++) {
        q->seen[k] = (interval){fmin(q->begin[k], q->end[k]), fmax(q->begin[k], q->end[k])};
        q->ends[k] = q->seen[k];
        if (isfinite(magnitude(q->seen[k])))
            q->extent[k] = fmax(q->extent[k], magnitude(q->seen[k]));
        if (!q->has_before) continue;
        q->seen[k].lo = fmin(q->seen[k].lo, q->before[k]);
        q->seen[k].hi = fmax(q->seen[k].hi, q->before[k]);
    }
}

/* How large the past is that a step reads is known when it comes. */
static void stretch_past(forcing *q)
{
    for (size_t k = 0; k < q->count; k++)
        if (q->terms.past[k] && isfinite(magnitude(q->step[k].value)))
            q->extent[k] = fmax(q->extent[k], magnitude(q->step[k].value));
}

/* Whether a step is too short for any node to do what matters, whatever the time. */
static bool is_short(const forcing *q, double h)
{
    for (size_t k = 0; k < q->count; k++)
        if (!(q->steepest[k] * fabs(h) <= small_change(q, k))) return false;
    return true;
}

/* Whether all nodes are near what is known of them; known: values beside the first */
static bool is_seen(const forcing *q, const attempt *a, int known)
{
    for (size_t k = 0; k < q->count; k++) {
        const double told = fmin(way_told(q, k, known), steepest_told(q, k, known));
        if (beyond(q, k, q->step[k].value) > 0.0 || most_way(q, a, k) > told) return false;
    }
    return true;
}

/* The part of the step in which what time decides was seen. */
static double seen_by_time(dae_solver *s, forcing *q, const attempt *a)
{
    take_memory(s, q);
    q->looked = !is_short(q, a->h);
    if (!q->looked) return a->h;
    const int known = values_known(s, a);
    see_ends(s, q, a);
    enclose(s, a->t, a->t + a->h, q->step);
    stretch_past(q);
    q->has_matrix = false;
    if ((is_seen(q, a, 1) && !any_leaves(q)) || q->cuts >= MOST_CUTS) return a->h;
    for (int i = 1; i < known; i++) see(s, q, a->t + a->h * i / known);
    const double t = is_seen(q, a, known) ? NAN : unseen_time(s, q, a);
    double h = !isnan(t) ? t - a->t : is_seen(q, a, known) ? a->h : resolved_part(s, q, a) * a->h;
    if (h == a->h && any_leaves(q)) h *= unmet_part(s, q, a);
    return h;
}

double hybrid_seen_step(dae_solver *s, const attempt *a)
{
    forcing *q = s->hybrid->forcing;
    const step_control *c = &s->run.control;
    if (!q || c->fixed || c->literal || s->bound.method->dassl) return a->h;
    if (q->form != s->hybrid->instance->form) return a->h; /* the method is about to begin anew */
    double h = q->program ? seen_by_time(s, q, a) : a->h;
    if (h == a->h && q->driven && q->cuts < MOST_CUTS)
        h *= driven_part(s, q->driven, a, q->cuts > 0);
    if (h != a->h && q->cuts++ > 0 && fabs(h) > 0.5 * fabs(a->h)) h = 0.5 * a->h;
    return h;
}

void hybrid_accept_forcing(dae_solver *s)
{
    forcing *q = s->hybrid->forcing;
    if (q && q->driven) driven_accept(s, q->driven);
    if (q) q->cuts = 0;
    if (!q || !q->program) return;
    for (size_t k = 0; k < q->count; k++) q->calm[k].h = 0.0;
    for (size_t k = 0; k < q->count && q->looked; k++) {
        q->before[k] = q->begin[k];
        q->begin[k] = q->end[k];
    }
    if (q->looked) q->begin_at = s->run.last.t + s->run.last.h;
    q->has_before = q->looked;
}

void forcing_persist(dae_solver *s, persist *p)
{
    forcing *q = s->hybrid->forcing;
    const model_form *form = s->hybrid->instance->form;
    const bool there = persist_flag(p, q && q->form == form); /* else it is made anew */
    if (p->reading && there && !(q && q->form == form)) hybrid_bind_forcing(s);
    q = s->hybrid->forcing;
    if (there && !q) p->no_memory = true;
    if (!there || !q) return;
    PERSIST_ARRAY(p, q->extent, q->count);
    PERSIST_ARRAY(p, q->steepest, q->count);
    PERSIST_ARRAY(p, q->begin, q->count);
    PERSIST_ARRAY(p, q->before, q->count);
    PERSIST(p, q->begin_at);
    PERSIST(p, q->has_before);
    if (q->driven) driven_persist(q->driven, p);
}
