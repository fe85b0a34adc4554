/* Newton's method with damping by the natural level function [Deu11 2.1.4, NLEQ-ERR]. */
#include <math.h>

#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "solve/bvp/bvp_parts.h"

static const double SMALLEST = 1e-8; /* damping factor, below which nothing is left to hope for */
static const double ENOUGH = 1e-3; /* correction, in tolerances: far below the error of the mesh */

static const double STAGNANT = 0.1; /* the same where rounding lets nothing make it smaller */

typedef struct newton_work {
    dae_bvp *q;
    bvp_solution *s, trial; /* trial has a u of its own, and the mesh of s */
    size_t size;
    double *step, *bar, *weight, *residual; /* size each; owned in one block at step */
    double damping, norm, bar_norm, between;
} newton_work;

/* ---- sizes ---- */

/* weight = rtol max|.| + atol over the mesh, for each unknown of the form; slopes over the length
 * of the interval. */
static void weigh(newton_work *w)
{
    const dae_bvp *q = w->q;
    const bvp_solution *s = w->s;
    const double rtol = q->request.rtol, atol = q->request.atol;
    const double span = s->t[s->intervals] - s->t[0];
    double *value = q->work, *slope = q->f; /* largest ones */
    for (int i = 0; i < q->n; i++) value[i] = slope[i] = 0.0;
    for (int i = 0; i < s->intervals; i++) {
        for (int k = 0; k < q->d; k++)
            value[q->state[k]] = fmax(value[q->state[k]], fabs(s->u[bvp_at_x(q, i) + (size_t)k]));
        for (int a = 0; a < q->method->stages; a++)
            for (int j = 0; j < q->n; j++) {
                double *most = q->number[j] >= 0 ? &slope[j] : &value[j];
                *most = fmax(*most, fabs(s->u[bvp_at_v(q, i, a) + (size_t)j]));
            }
    }
    for (int j = 0; j < q->n; j++) {
        double at_v = q->number[j] >= 0 ? rtol * slope[j] + (rtol * value[j] + atol) / span
                                        : rtol * value[j] + atol;
        w->weight[j] = w->weight[bvp_at_right(q, s->intervals) + (size_t)j] = at_v;
        for (int i = 0; i < s->intervals; i++)
            for (int a = 0; a < q->method->stages; a++)
                w->weight[bvp_at_v(q, i, a) + (size_t)j] = at_v;
    }
    for (int i = 0; i <= s->intervals; i++)
        for (int k = 0; k < q->d; k++)
            w->weight[bvp_at_x(q, i) + (size_t)k] = rtol * value[q->state[k]] + atol;
    for (size_t k = bvp_at_p(q, s->intervals); k < w->size; k++)
        w->weight[k] = rtol * fabs(s->u[k]) + atol;
}

/* Root mean square and largest of v - factor * from, in weights. */
static double step_norm(const newton_work *w, const double *v, double factor, const double *from,
                        double *most)
{
    double sum = 0.0, max = 0.0;
    for (size_t k = 0; k < w->size; k++) {
        double x = (from ? v[k] - factor * from[k] : v[k]) / w->weight[k];
        sum += x * x;
        max = fmax(max, fabs(x));
    }
    if (most) *most = max;
    return sqrt(sum / (double)w->size);
}

static size_t largest(size_t size, const double *v, const double *weight)
{
    size_t best = 0;
    for (size_t k = 1; k < size; k++) {
        double a = fabs(v[k]) / (weight ? weight[k] : 1.0);
        double b = fabs(v[best]) / (weight ? weight[best] : 1.0);
        if (!(a <= b)) best = k;
    }
    return best;
}

/* ---- one step ---- */

/* bar = -J^-1 R(u + damping step), false: R has no value there. */
static bool try_step(newton_work *w, dae_diag *diag)
{
    for (size_t k = 0; k < w->size; k++) w->trial.u[k] = w->s->u[k] + w->damping * w->step[k];
    if (bvp_residual(w->q, &w->trial, w->bar, false, diag) != DAE_OK) return false;
    linear_solve(w->q->system.solver, w->bar);
    for (size_t k = 0; k < w->size; k++) w->bar[k] = -w->bar[k];
    w->bar_norm = step_norm(w, w->bar, 0.0, NULL, NULL);
    return isfinite(w->bar_norm);
}

static void take(newton_work *w)
{
    double *u = w->s->u;
    w->s->u = w->trial.u;
    w->trial.u = u;
}

typedef enum step_end { STEP_TAKEN, STEP_LAST, STEP_NONE, STEP_STOPPED } step_end;

/* Damp until the next correction is smaller than this one. */
static step_end damped_step(newton_work *w, dae_diag *diag)
{
    for (bool reduced = false; w->damping >= SMALLEST;) {
        if (interrupted()) return STEP_STOPPED;
        if (!try_step(w, diag)) {
            if (diag && diag->status == DAE_ERR_MEMORY) return STEP_STOPPED;
            w->damping *= 0.5;
            reduced = true;
            continue;
        }
        double most, off = step_norm(w, w->bar, 1.0 - w->damping, w->step, NULL);
        double next = off > 0.0 ? 0.5 * w->norm * w->damping * w->damping / off : 1.0;
        step_norm(w, w->bar, 0.0, NULL, &most);
        if (w->bar_norm >= w->norm && most > ENOUGH) {
            w->damping = fmin(next, 0.5 * w->damping);
            reduced = true;
            continue;
        }
        next = fmin(1.0, next);
        if (w->damping == 1.0 && most <= ENOUGH) {
            for (size_t k = 0; k < w->size; k++) w->trial.u[k] += w->bar[k];
            take(w);
            return STEP_LAST;
        }
        if (!reduced && next >= 4.0 * w->damping) {
            w->damping = next;
            continue;
        }
        take(w);
        return STEP_TAKEN;
    }
    return STEP_NONE;
}

/* ---- words ---- */

static dae_status explain(newton_work *w, const char *why, dae_diag *diag)
{
    dae_bvp *q = w->q;
    char variable[200], equation[200];
    dae_diag ignored = {0};
    bool known = bvp_residual(q, w->s, w->residual, false, &ignored) == DAE_OK;
    bvp_name_unknown(q, w->s, largest(w->size, w->step, w->weight), variable, sizeof variable);
    bvp_name_equation(q, w->s, largest(w->size, w->residual, NULL), equation, sizeof equation);
    diag_set(
        diag, DAE_ERR_CONVERGENCE,
        "Boundary values: Newton's method does not converge on a mesh of %d intervals: %s. The "
        "largest correction is that of %s",
        w->s->intervals, why, variable);
    if (known) diag_append(diag, "; the equation that is off most is %s", equation);
    diag_append(diag, ". Give a better guess (start values, a table, a simulation), or more "
                      "intervals.");
    return DAE_ERR_CONVERGENCE;
}

static dae_status explain_stop(dae_diag *diag)
{
    return diag && diag->status == DAE_ERR_MEMORY ? DAE_ERR_MEMORY
                                                  : interrupt_explain(diag, "boundary values");
}

/* ---- the iteration ---- */

static bool work_new(newton_work *w, dae_bvp *q, bvp_solution *s)
{
    *w = (newton_work){.q = q, .s = s, .size = bvp_size(q, s->intervals), .damping = 1.0};
    w->step = DAE_ARRAY(double, 4 * w->size);
    w->trial = (bvp_solution){s->intervals, s->t, DAE_ARRAY(double, w->size)};
    w->bar = w->step + w->size;
    w->weight = w->step + 2 * w->size;
    w->residual = w->step + 3 * w->size;
    return w->step && w->trial.u;
}

/* What the last corrections say of the next damping [Deu11 2.1.4]. */
static void predict(newton_work *w, int count)
{
    if (count == 0) return;
    double off = step_norm(w, w->bar, 1.0, w->step, NULL);
    double factor = off > 0.0 ? w->between * w->bar_norm / (off * w->norm) * w->damping : 1.0;
    w->damping = fmax(10.0 * SMALLEST, fmin(1.0, factor));
}

static dae_status iterate(newton_work *w, dae_diag *diag)
{
    dae_bvp *q = w->q;
    for (int k = 0; k < q->request.max_iterations; k++) {
        double most;
        dae_status status = bvp_residual(q, w->s, w->step, true, diag);
        if (status != DAE_OK) return status;
        linear_solve(q->system.solver, w->step);
        for (size_t i = 0; i < w->size; i++) w->step[i] = -w->step[i];
        weigh(w);
        w->norm = step_norm(w, w->step, 0.0, NULL, &most);
        q->stats.iterations++;
        if (!isfinite(w->norm))
            return explain(w, "the linear equations have no finite solution", diag);
        if (most <= ENOUGH) {
            for (size_t i = 0; i < w->size; i++) w->s->u[i] += w->step[i];
            return DAE_OK;
        }
        predict(w, k);
        switch (damped_step(w, diag)) {
        case STEP_LAST: return DAE_OK;
        case STEP_NONE:
            if (most <= STAGNANT) return DAE_OK;
            return explain(w, "no step makes corrections smaller", diag);
        case STEP_STOPPED: return explain_stop(diag);
        case STEP_TAKEN: w->between = w->norm; break;
        }
    }
    return explain(w, "there are too many iterations", diag);
}

dae_status bvp_newton(dae_bvp *q, bvp_solution *s, dae_diag *diag)
{
    newton_work w;
    dae_status status = work_new(&w, q, s) ? iterate(&w, diag) : bvp_no_memory(diag);
    if (status == DAE_OK) status = bvp_set_parameters(q, s->u + bvp_at_p(q, s->intervals), diag);
    dae_free_all(w.step, w.trial.u);
    return status;
}
