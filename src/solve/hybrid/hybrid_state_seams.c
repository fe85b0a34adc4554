/* Pieces: relations of variables, abs, min, max, sign, floor and ceil, that are no events.
 *
 * Inside of noEvent and smooth the equations have pieces whose seams nobody searches for. A step
 * over such a seam is a step through a kink or a jump: estimates of high order make light of a
 * kink, and a pulse between two seams may lie between the stages of a step. So the pieces are
 * looked at where steps end. Where they have changed within a step, and its interpolant does not
 * meet the equations behind the change, the step is undone: it is made again up to the seam, as
 * steps are at those of time. Seams that come and go within one step are not seen. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "expr/range.h"
#include "expr/walk.h"
#include "solve/hybrid/hybrid_parts.h"
#include "solve/watch/refine.h"

/* What an interpolant may be off by behind a seam, in tolerances. */
static const double MEETS = 0.7;
/* Shorter steps, as a part of the time since the start, are let pass: where the equations hold a
 * solution at a jump there is a seam in every step. */
static const double LEAST = 1e-9;
/* And a seam that a step begins at, to so many roundings of the time. */
static const double RESOLVED = 64.0;
/* The seam of a step that was made again is this near to its end, as such a part, or further off.
 */
static const double NEAR = 1e-6;
/* A step is undone so often: the place of a seam becomes better with the step. */
enum { MOST_CUTS = 6 };
/* So many seams within this part of the time since the start are as many as are looked for there: a
 * variable that rests at a kink, q of q |q| = 0, goes to and fro over it by rounding alone. */
static const double CLOSE = 1e-3;
enum { MOST_CLOSE = 100 };

struct state_seams {
    owned_part part;
    const model_form *form;
    size_t count;
    range_program *program; /* left sides, and arguments (seam_argument); NULL: there are none */
    bool *steps;            /* per argument: the floor of it tells the piece, not its sign */
    range *y, *result;      /* work */
    double *before, *now;   /* work: signs and floors */
};

static void state_seams_free(void *self)
{
    state_seams *q = self;
    range_program_free(q->program);
    dae_free_all(q->steps, q->y, q->result, q->before, q->now, q);
}

/* The arguments of all seams of variables in the residuals; false: memory. */
static bool make_program(state_seams *q, graph *g, const walk *w, const unsigned char *on)
{
    expr *argument = DAE_ARRAY(expr, 2 * w->count + 1);
    q->steps = DAE_ARRAY(bool, w->count + 1);
    for (size_t i = 0; argument && q->steps && i < w->count; i++) {
        expr seam = on[i] & SEAM_OF_VARIABLES ? seam_of(g, w->order[i]) : EXPR_NONE;
        if (seam == EXPR_NONE) continue;
        q->steps[q->count] = graph_node(g, seam)->op == EXPR_FLOOR;
        argument[2 * q->count] = graph_node(g, seam)->a;
        argument[2 * q->count + 1] = seam_argument(g, seam);
        q->count++;
    }
    bool ok = argument && q->steps && !graph_failed(g);
    if (ok && q->count > 0) {
        q->program = range_program_new(g, argument, 2 * q->count);
        q->y = DAE_ARRAY(range, q->form->n);
        q->result = DAE_ARRAY(range, 2 * q->count);
        q->before = DAE_ARRAY(double, q->count);
        q->now = DAE_ARRAY(double, q->count);
        ok = q->program && q->y && q->result && q->before && q->now;
    }
    dae_free(argument);
    return ok;
}

static state_seams *state_seams_new(const model_form *f)
{
    graph *g = f->flat->graph;
    state_seams *q = DAE_NEW(state_seams);
    walk w = {0};
    if (!q) return NULL;
    q->part.free = state_seams_free;
    q->form = f;
    graph_enter(g);
    bool none = !seams_possible(g);
    bool ok = none || walk_from(&w, g, f->residual.e, f->residual.outputs);
    unsigned char *on = ok && !none ? seam_leaves(f->flat, &w) : NULL;
    ok = none || (on && make_program(q, g, &w, on));
    graph_leave(g);
    dae_free(on);
    walk_free(&w);
    if (ok) return q;
    state_seams_free(q);
    return NULL;
}

void state_seams_bind(dae_solver *s)
{
    hybrid *h = s->hybrid;
    if (h->state_seams && h->state_seams->form == h->instance->form) return;
    part_free(h->state_seams);
    h->state_seams = state_seams_new(h->instance->form);
    h->cut = NAN; /* a seam of another mode */
    if (!h->state_seams) h->no_memory = true;
    if (hybrid_is_large(h)) hybrid_tidy(h);
}

/* Whether the form at hand has seams that can be looked at. */
static bool has_seams(const dae_solver *s)
{
    const state_seams *q = s->hybrid->state_seams;
    return q && q->program && q->form == s->hybrid->instance->form && q->form->n == s->bound.n;
}

/* Pieces at (t, y, y'); NAN where the two sides agree but for their last digits. */
static void look(const dae_solver *s, double t, const double *y, const double *yp, double *piece)
{
    state_seams *q = s->hybrid->state_seams;
    model_instance *m = s->hybrid->instance;
    model_instance_recall(m, t, y, yp);
    for (int i = 0; i < s->bound.n; i++)
        q->y[i] = (range){.value = {y[i], y[i]}, .slope = {yp[i], yp[i]}};
    range_leaves leaves = {
        .time = {t, t}, .y = q->y, .parameters = m->parameters, .memory = m->memory};
    range_program_run(q->program, &leaves, q->result);
    for (size_t k = 0; k < q->count; k++) {
        const double side = q->result[2 * k].value.hi, at = q->result[2 * k + 1].value.hi;
        const bool agree = at != 0.0 && fabs(at) <= SEAM_DIGITS * fabs(side);
        piece[k] = q->steps[k] ? floor(at) : agree ? NAN : at < 0.0;
    }
}

/* Whether a piece at (t, y, y') is another than before the last step. */
static bool differ_at(dae_solver *s, double t, const double *y, const double *yp)
{
    const state_seams *q = s->hybrid->state_seams;
    look(s, t, y, yp, q->now);
    for (size_t k = 0; k < q->count; k++)
        if (fabs(q->before[k] - q->now[k]) > 0.0) return true; /* both are known */
    return false;
}

/* The same at t of the last step. */
static bool differ(dae_solver *s, double t)
{
    solver_interpolate(s, t, 0, s->hybrid->further);
    solver_interpolate(s, t, 1, s->hybrid->further_yp);
    return differ_at(s, t, s->hybrid->further, s->hybrid->further_yp);
}

/* The first time in the last step behind a change, which there is at its end. */
static double find_seam(dae_solver *s)
{
    double a = s->run.t_old, b = s->run.t_new;
    for (double m = 0.5 * (a + b); m > a && m < b; m = 0.5 * (a + b))
        if (differ(s, m))
            b = m;
        else
            a = m;
    return b;
}

/* Whether the interpolant meets the equations at, after and before the seam, as far as the error
 * test hears all of them: what it exempts is what has jumped before. */
static bool is_met(dae_solver *s, double seam)
{
    if (s->bound.norm.exempt_count > 0) return false;
    const double places[] = {seam, 0.5 * (seam + s->run.t_new), 0.5 * (s->run.t_old + seam)};
    for (int k = 0; k < 3; k++)
        if (!(refine_defect(s, places[k]) <= MEETS)) return false;
    return true;
}

/* Begin again where the last step began, with a seam ahead. */
static bool undo(dae_solver *s, double seam)
{
    hybrid *h = s->hybrid;
    if (s->bound.method->rough_between) {
        vector_copy(s->bound.n, s->bound.step_start.y, s->bound.y);
        vector_copy(s->bound.n, s->bound.step_start.yp, s->bound.yp);
    } else {
        solver_interpolate(s, s->run.t_old, 0, s->bound.y);
        solver_interpolate(s, s->run.t_old, 1, s->bound.yp);
    }
    if (s->bound.events &&
        event_finder_start(s->bound.events, s->run.t_old, s->bound.y, s->bound.yp) != EVAL_OK)
        return false;
    if (s->bound.events) hybrid_arm(s);
    h->cuts = h->cut_from == s->run.t_old ? h->cuts + 1 : 1;
    h->cut_from = s->run.t_old;
    h->cut = seam;
    s->run.t = s->run.t_new = s->run.searched = s->run.t_old;
    s->run.history = 0;
    s->run.phase = PHASE_READY;
    return true;
}

/* Whether the piece is another one a time delta behind the last step, along y' and by the
 * equations; the values there are in `further`. */
static bool differ_ahead(dae_solver *s, double delta)
{
    hybrid *h = s->hybrid;
    vector_copy(s->bound.n, s->bound.y, h->further);
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) h->further[i] += delta * s->bound.yp[i];
    vector_copy(s->bound.n, s->bound.yp, h->further_yp);
    return initializer_project(s->bound.init, s->run.t_new + delta, delta, s->bound.kinds,
                               s->bound.norm.weights, h->further, h->further_yp) == EVAL_OK &&
           differ_at(s, s->run.t_new + delta, h->further, h->further_yp);
}

/* The shortest of the times ahead that are beyond the seam, between `before`, which is not, and
 * `behind`, to rounding: what happens there is an event of others, too. */
static double nearest_ahead(dae_solver *s, double before, double behind)
{
    const double close = 4.0 * DBL_EPSILON * fabs(s->run.t_new);
    while (behind - before > close) {
        const double middle = 0.5 * (before + behind);
        if (differ_ahead(s, middle))
            behind = middle;
        else
            before = middle;
    }
    return behind;
}

double hybrid_pass_state_seam(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const double first = 16.0 * DBL_EPSILON * fabs(s->run.t_new),
                 most = NEAR * fabs(s->run.t_new - h->started);
    for (double delta = first; delta <= most; delta *= 2.0) {
        if (!differ_ahead(s, delta)) continue;
        const double nearest = nearest_ahead(s, delta > first ? 0.5 * delta : 0.0, delta);
        if (!differ_ahead(s, nearest)) return h->cut;
        vector_copy(s->bound.n, h->further, s->bound.y);
        return s->run.t_new + nearest;
    }
    return h->cut;
}

/* Whether the seam of the last step is one of too many that follow each other closely. */
static bool is_crowded(dae_solver *s)
{
    hybrid *h = s->hybrid;
    bool close = s->run.t_old - h->close_from <= CLOSE * fabs(s->run.t_old - h->started);
    if (!close) {
        h->close_from = s->run.t_old;
        h->close = 0;
    }
    return ++h->close > MOST_CLOSE;
}

bool hybrid_undo_step(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const double told = RESOLVED * DBL_EPSILON * fabs(s->run.t_new);
    double length = s->run.t_new - s->run.t_old,
           least = fmax(LEAST * fabs(s->run.t_new - h->started), told);
    bool free =
        s->run.direction > 0.0 && !steps_are_given(&s->bound.options) && s->run.t == s->run.t_old;
    if (!free || h->instance->array || !has_seams(s)) return false;
    if (!(length > least) || (h->cuts >= MOST_CUTS && h->cut_from == s->run.t_old)) return false;
    solver_interpolate(s, s->run.t_old, 0, h->further);
    solver_interpolate(s, s->run.t_old, 1, h->further_yp);
    look(s, s->run.t_old, h->further, h->further_yp, h->state_seams->before);
    if (!differ(s, s->run.t_new)) return false;
    double seam = find_seam(s);
    bool inside = seam - s->run.t_old > least && s->run.t_new - seam > least;
    return inside && !is_met(s, seam) && !is_crowded(s) && undo(s, seam);
}
