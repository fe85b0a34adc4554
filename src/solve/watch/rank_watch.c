#include "solve/watch/rank_watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "linalg/singular_values.h"
#include "solve/watch/watch.h"

/* What a determinant comes down to at its zero, against the most that it was. Where a branch or a
 * pole makes it jump, it does not. */
static const double VANISHES = 1e-6;
/* Of the time run so far: nothing touches zero within a step of this part unseen. */
static const double BRIEF = 1e-6;
/* What is left of a speed at rest. */
static const double RESTS = 1e-6;
/* Golden sections to a zero of |x| have come to 0.618^SIGHT of where they began: a least value
 * above this part is none. */
static const double SEEN = 0.05;
enum { SIGHT = 12 };
enum { BISECTIONS = 100, NARROWINGS = 80 };

/* ---- determinants ---- */

/* det A by elimination with pivots; A is used up */
static double determinant(int n, double *A)
{
    double det = 1.0;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i + k * n]) > fabs(A[best + k * n])) best = i;
        if (!(fabs(A[best + k * n]) > 0.0)) return A[best + k * n] == 0.0 ? 0.0 : (double)NAN;
        if (best != k) det = -det;
        for (int j = k; j < n && best != k; j++) {
            double swap = A[k + j * n];
            A[k + j * n] = A[best + j * n];
            A[best + j * n] = swap;
        }
        det *= A[k + k * n];
        for (int i = k + 1; i < n; i++) {
            double factor = A[i + k * n] / A[k + k * n];
            for (int j = k + 1; factor != 0.0 && j < n; j++) A[i + j * n] -= factor * A[k + j * n];
        }
    }
    return det;
}

static double block_determinant(rank_watch *w, const rank_block *b)
{
    memcpy(w->dense, w->value + b->first, (size_t)(b->size * b->size) * sizeof *w->dense);
    return determinant(b->size, w->dense);
}

/* Unknowns of the base form that entries depend on. Those that a formulation sees through are
 * evaluated, with all others of their kind. */
static void take_values(const dae_solver *s, rank_watch *w, double t, const double *own,
                        const double *slope)
{
    double *y = w->y, *yp = w->y + w->n;
    const model_form *f = is_formulated(s) ? s->modes->current->plan.form : NULL;
    for (int k = 0; k < w->need_count; k++) {
        int i = w->need[k].unknown;
        if (f && f->seen_at[i] >= 0) {
            values_to_user(s, t, own, slope, y, yp);
            return;
        }
        (w->need[k].slope ? yp : y)[i] =
            value_at_place(place_of(s, i, w->need[k].slope), own, slope);
    }
}

/* Entries where the unknowns have these values. */
static void evaluate(dae_solver *s, rank_watch *w, double t, const double *own, const double *slope)
{
    const model_instance *m = s->modes->base_instance;
    take_values(s, w, t, own, slope);
    model_instance_recall(s->hybrid->instance, t, NULL, NULL);
    tape_inputs in = {t, {w->y, w->y + w->n}, m->parameters, s->hybrid->instance->memory};
    if (w->fresh || !w->prepared || s->hybrid->delays) code_prepare(&w->code, &in);
    w->prepared = true;
    w->fresh = false;
    code_run(&w->code, &in, w->value);
}

/* Entries at a time of the last step. */
static void evaluate_at(dae_solver *s, rank_watch *w, double t)
{
    solver_interpolate(s, t, 0, w->own);
    solver_interpolate(s, t, 1, w->own + s->bound.n);
    evaluate(s, w, t, w->own, w->own + s->bound.n);
}

static double determinant_at(dae_solver *s, rank_watch *w, const rank_block *b, double t)
{
    evaluate_at(s, w, t);
    return block_determinant(w, b);
}

/* ---- zeros ---- */

/* A change of sign between the ends of the step: *t where it is; false: it jumps there. */
static bool locate_sign(dae_solver *s, rank_watch *w, const rank_block *b, double end, double *t)
{
    double lo = w->t, hi = s->run.t_new, at_lo = b->before, at_hi = end;
    for (int k = 0; k < BISECTIONS; k++) {
        double middle = lo + 0.5 * (hi - lo);
        if (middle == lo || middle == hi) break;
        double value = determinant_at(s, w, b, middle);
        if (!isfinite(value)) return false;
        bool left = value * at_lo > 0.0;
        if (left) lo = middle, at_lo = value;
        if (!left) hi = middle, at_hi = value;
        if (value == 0.0) break;
    }
    *t = hi;
    return fmin(fabs(at_lo), fabs(at_hi)) <= VANISHES * b->most;
}

/* The least |det| within the step, by golden sections around its middle: whether it is zero. */
static bool locate_touch(dae_solver *s, rank_watch *w, const rank_block *b, double *t)
{
    double lo = w->t, hi = s->run.t_new;
    double p = lo + (1.0 - GOLDEN) * (hi - lo), q = lo + GOLDEN * (hi - lo);
    double at_p = fabs(determinant_at(s, w, b, p)), at_q = fabs(determinant_at(s, w, b, q));
    const double far = fmax(fabs(b->before), fmax(at_p, at_q));
    for (int k = 0; k < NARROWINGS && at_p != at_q; k++) {
        if (k == SIGHT && fmin(at_p, at_q) > SEEN * far) return false;
        if (at_p < at_q) {
            hi = q, q = p, at_q = at_p, p = lo + (1.0 - GOLDEN) * (hi - lo);
            at_p = fabs(determinant_at(s, w, b, p));
        } else {
            lo = p, p = q, at_p = at_q, q = lo + GOLDEN * (hi - lo);
            at_q = fabs(determinant_at(s, w, b, q));
        }
    }
    *t = at_p < at_q ? p : q;
    return fmin(at_p, at_q) <= VANISHES * VANISHES * b->most;
}

/* Whether |det| falls into the step from both of its ends, so that it has a least value within. It
 * comes to zero there only if it was on its way: c |t - t0|^p falls by p/a of its value in a step
 * that begins at the part a of it before t0, if it goes on as it did in the step before. */
static bool may_touch(dae_solver *s, rank_watch *w, const rank_block *b, double end)
{
    static const double BESIDE = 1e-3, ON_ITS_WAY = 0.5;
    double h = BESIDE * (s->run.t_new - w->t), change = fabs(b->trend * (s->run.t_new - w->t));
    /* of a step that short the ends tell what is within */
    bool brief = fabs(s->run.t_new - w->t) <= BRIEF * fabs(s->run.t_new - s->hybrid->started);
    if (!b->leading || brief) return false;
    if (change < ON_ITS_WAY * fmin(fabs(b->before), fabs(end))) return false;
    return fabs(determinant_at(s, w, b, w->t + h)) < fabs(b->before) &&
           fabs(determinant_at(s, w, b, s->run.t_new - h)) < fabs(end);
}

static dae_status report(dae_solver *s, const rank_block *b, double t)
{
    diag_equation(&s->diag, -1, b->rows);
    s->diag.line = b->line;
    s->diag.t = t;
    s->hybrid->branch_ended = strstr(b->of, "der(") == NULL; /* algebraic ones only */
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "The index changes at t = %.9g: there %s cannot be solved any more for %s, as "
                    "a factor passes through zero. What comes next is not determined by the model, "
                    "or not in this way.",
                    t, b->rows, b->of);
}

/* The largest of the unknowns of a block where entries were evaluated last. */
static double speed_of(const rank_watch *w, const rank_block *b)
{
    double most = 0.0;
    for (int k = 0; k < b->size; k++) {
        if (b->unknown[k] < 0) return INFINITY;
        most = fmax(most, fabs(w->y[b->unknown[k]]));
    }
    return most;
}

/* Whether the block is singular at t because its unknowns are zero there, as q |q| = p1 - p2 where
 * a flow between two tanks ends: that is a rest, and to stay there a solution. Where the sign of
 * the determinant changes it is not looked for. */
static bool comes_to_rest(dae_solver *s, rank_watch *w, rank_block *b, double t)
{
    char text[WATCHED_NAMES + 400];
    if (!b->own) return false;
    evaluate_at(s, w, t);
    if (!(speed_of(w, b) <= RESTS * b->fastest)) return false;
    snprintf(text, sizeof text,
             "note: %.300s cannot be solved for %.100s from t = %.6g on, where that comes to rest. "
             "It stays there; if other solutions leave the rest, the model does not choose.",
             b->rows, b->of, t);
    if (!b->told) solver_note(s, text);
    b->told = true;
    return true;
}

/* One block at the end of the step, where its determinant is `end`. */
static dae_status look_at_block(dae_solver *s, rank_watch *w, rank_block *b, double end)
{
    double t = s->run.t_new, before = b->before;
    bool found = false;
    if (isfinite(end)) b->most = fmax(b->most, fabs(end));
    if (b->own) b->fastest = fmax(b->fastest, speed_of(w, b));
    if (!isfinite(end) || before == 0.0 || !isfinite(before)) {
        b->before = isfinite(end) ? end : 0.0;
        b->trend = NAN;
        return DAE_OK;
    }
    /* An algebraic equation that touches zero there, as q |q| = p does where a flow ends, leaves q
     * to the derivative of p, and goes on; behind a change of its sign it would not. */
    if (end == 0.0 && !b->leading) return DAE_OK;
    if (end * before < 0.0)
        found = locate_sign(s, w, b, end, &t);
    else if (end == 0.0)
        found = !comes_to_rest(s, w, b, t);
    else if (may_touch(s, w, b, end))
        found = locate_touch(s, w, b, &t) && !comes_to_rest(s, w, b, t);
    b->trend = (end - before) / (s->run.t_new - w->t);
    b->before = end;
    return found ? report(s, b, t) : DAE_OK;
}

/* ---- the driver's calls ---- */

static rank_watch *watch_of(const dae_solver *s)
{
    if (!s->hybrid || !s->modes || !s->modes->slots_known || s->hybrid->instance->array)
        return NULL;
    model_mode *v = s->modes->current;
    if (!v) v = mode_find(s->modes, s->hybrid->instance->memory);
    return v ? v->plan.watch : NULL;
}

bool rank_watch_may_fold(const dae_solver *s)
{
    const rank_watch *w = watch_of(s);
    bool any = s->base->form.n > LARGEST_WATCHED; /* it does not watch all of them then */
    for (int k = 0; w && k < w->count; k++) any = any || !w->block[k].leading;
    return any;
}

void rank_watch_restart(dae_solver *s)
{
    rank_watch *w = watch_of(s);
    if (!w) return;
    w->fresh = true;
    for (int k = 0; k < w->count; k++) {
        w->block[k].before = w->block[k].most = 0.0;
        w->block[k].trend = NAN;
    }
}

static bool make_room(const dae_solver *s, rank_watch *w)
{
    int n = s->base->form.n;
    if (w->y && w->n == n && w->own_n >= s->bound.n) return true;
    dae_free(w->y);
    w->y = DAE_ARRAY(double, 2 * (size_t)(n + s->bound.n));
    w->own = w->y ? w->y + 2 * n : NULL;
    w->n = n;
    w->own_n = s->bound.n;
    return w->y;
}

bool rank_watch_agrees(dae_solver *s, double t, const double *y, const double *yp)
{
    rank_watch *w = watch_of(s);
    if (!w || w->fresh || !w->y) return true;
    evaluate(s, w, t, y, yp);
    for (int k = 0; k < w->count; k++)
        if (block_determinant(w, &w->block[k]) * w->block[k].before < 0.0) return false;
    return true;
}

dae_status rank_watch_step(dae_solver *s)
{
    rank_watch *w = watch_of(s);
    dae_status status = DAE_OK;
    /* a derivative array is at work where the blocks are singular all along, and takes no part of
     * them: the signs of their determinants are rounding */
    if (!w || s->hybrid->instance->array) return DAE_OK;
    if (!make_room(s, w))
        return diag_set(&s->diag, DAE_ERR_MEMORY,
                        "Out of memory for the watch of singular points.");
    double end[WATCHED_ENTRIES];
    if (w->fresh || w->t != s->run.t_old) {
        evaluate_at(s, w, s->run.t_old);
        for (int k = 0; k < w->count; k++) {
            rank_block *b = &w->block[k];
            b->most = fabs(b->before = block_determinant(w, b));
            b->trend = NAN;
        }
        w->t = s->run.t_old;
    }
    evaluate(s, w, s->run.t_new, s->run.last.y, s->run.last.yp);
    for (int k = 0; k < w->count; k++) end[k] = block_determinant(w, &w->block[k]);
    for (int k = 0; k < w->count && status == DAE_OK; k++)
        status = look_at_block(s, w, &w->block[k], end[k]);
    w->t = s->run.t_new;
    return status;
}
