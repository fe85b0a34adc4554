/* Newton's method with damping by the natural level function [Deu11 2.1.4, NLEQ-ERR]. */
#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "solve/bvp/bvp_parts.h"

static const double SMALLEST = 1e-8; /* damping factor, below which nothing is left to hope for */

static const double STAGNANT = 0.1; /* correction, in tolerances, that will do where rounding lets
                                       nothing make it smaller */

typedef struct newton_work {
    const bvp_equations *e;
    dae_bvp *q;
    double *step, *bar, *weight, *residual; /* size each; owned in one block at step */
    double damping, norm, bar_norm, between;
    char refused[300]; /* why the last point that was tried has no values; "": it has */
} newton_work;

/* Root mean square and largest of v - factor * from, in weights. */
static double step_norm(const newton_work *w, const double *v, double factor, const double *from,
                        double *most)
{
    double sum = 0.0, max = 0.0;
    for (size_t k = 0; k < w->e->size; k++) {
        double x = (from ? v[k] - factor * from[k] : v[k]) / w->weight[k];
        sum += x * x;
        max = fmax(max, fabs(x));
    }
    if (most) *most = max;
    return sqrt(sum / (double)w->e->size);
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
    w->e->move(w->e->user, w->damping, w->step);
    w->refused[0] = '\0';
    if (w->e->residual(w->e->user, w->bar, diag) != DAE_OK) {
        if (diag) snprintf(w->refused, sizeof w->refused, "%.299s", diag->text);
        return false;
    }
    linear_solve(w->q->system.solver, w->bar);
    for (size_t k = 0; k < w->e->size; k++) w->bar[k] = -w->bar[k];
    w->bar_norm = step_norm(w, w->bar, 0.0, NULL, NULL);
    return isfinite(w->bar_norm);
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
        if (w->bar_norm >= w->norm && most > w->e->enough) {
            w->damping = fmin(next, 0.5 * w->damping);
            reduced = true;
            continue;
        }
        next = fmin(1.0, next);
        if (w->damping == 1.0 && most <= w->e->enough) {
            w->e->take(w->e->user, w->bar);
            return STEP_LAST;
        }
        if (!reduced && next >= 4.0 * w->damping) {
            w->damping = next;
            continue;
        }
        w->e->take(w->e->user, NULL);
        return STEP_TAKEN;
    }
    return STEP_NONE;
}

/* ---- words ---- */

void bvp_advise_points(const dae_bvp *q, dae_diag *diag)
{
    const dae_bvp_method by = q->request.method;
    if (by == DAE_BVP_RADAU || by == DAE_BVP_PROJECTED_RADAU)
        diag_append(diag,
                    " Radau points are for solutions that decay; where they grow, as in a "
                    "layer at the end, take Gauss points (method %s).",
                    by == DAE_BVP_RADAU ? "gauss" : "projected");
}

static dae_status explain(newton_work *w, const char *why, dae_diag *diag)
{
    const bvp_equations *e = w->e;
    char variable[200], equation[200];
    e->name_unknown(e->user, largest(e->size, w->step, w->weight), variable, sizeof variable);
    e->name_equation(e->user, largest(e->size, w->residual, NULL), equation, sizeof equation);
    diag_set(
        diag, DAE_ERR_CONVERGENCE,
        "Boundary values: Newton's method does not converge on a mesh of %d intervals: %s. The "
        "largest correction is that of %s; the equation that is off most is %s",
        e->intervals, why, variable, equation);
    if (w->refused[0]) diag_append(diag, ". The last point has no values (%s)", w->refused);
    diag_append(diag, ". There may be no solution. Else give a better guess (start values, a "
                      "simulation, a table such as the solution for other parameters), or more "
                      "intervals.");
    if (w->q->request.method <= DAE_BVP_RADAU && w->q->instance->selection)
        diag_append(diag, " If the states chosen at the start do not hold on the whole way, take "
                          "shooting, or projected collocation.");
    bvp_advise_points(w->q, diag);
    return DAE_ERR_CONVERGENCE;
}

static dae_status explain_stop(dae_diag *diag)
{
    return diag && diag->status == DAE_ERR_MEMORY ? DAE_ERR_MEMORY
                                                  : interrupt_explain(diag, "boundary values");
}

/* ---- the iteration ---- */

static bool work_new(newton_work *w, dae_bvp *q, const bvp_equations *e)
{
    *w = (newton_work){.q = q, .e = e, .damping = 1.0};
    w->step = DAE_ARRAY(double, 4 * e->size);
    if (!w->step) return false;
    w->bar = w->step + e->size;
    w->weight = w->step + 2 * e->size;
    w->residual = w->step + 3 * e->size;
    return true;
}

/* What the last corrections say of the next damping [Deu11 2.1.4]. */
static void predict(newton_work *w, int count)
{
    if (count == 0) return;
    double off = step_norm(w, w->bar, 1.0, w->step, NULL);
    double factor = off > 0.0 ? w->between * w->bar_norm / (off * w->norm) * w->damping : 1.0;
    w->damping = fmax(10.0 * SMALLEST, fmin(1.0, factor));
}

/* step = -J^-1 R at the point at hand, and its sizes. */
static dae_status correct(newton_work *w, double *most, dae_diag *diag)
{
    const bvp_equations *e = w->e;
    dae_status status = e->linearise(e->user, w->residual, diag);
    if (status != DAE_OK) return status;
    for (size_t i = 0; i < e->size; i++) w->step[i] = -w->residual[i];
    linear_solve(w->q->system.solver, w->step);
    e->weigh(e->user, w->weight);
    w->norm = step_norm(w, w->step, 0.0, NULL, most);
    w->q->stats.iterations++;
    return isfinite(w->norm) ? DAE_OK
                             : explain(w, "the linear equations have no finite solution", diag);
}

static dae_status iterate(newton_work *w, dae_diag *diag)
{
    const bvp_equations *e = w->e;
    for (int k = 0; k < w->q->request.max_iterations; k++) {
        double most;
        dae_status status = correct(w, &most, diag);
        if (status != DAE_OK) return status;
        if (most <= w->e->enough) {
            e->move(e->user, 1.0, w->step);
            e->take(e->user, NULL);
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

/* sum = |J| weight: what each equation is off by when all its unknowns are off by a tolerance */
static void weigh_equations(const newton_work *w, double *sum)
{
    const bvp_matrix *m = &w->q->system;
    for (size_t i = 0; i < w->e->size; i++) sum[i] = 0.0;
    for (int j = 0; j < m->layout.n; j++)
        for (int k = m->layout.colptr[j]; k < m->layout.colptr[j + 1]; k++)
            sum[m->layout.rowind[k]] += fabs(m->values[k]) * w->weight[j];
}

/* max |J^-1 (+-|J| weight)| / weight, over some signs: the condition of the last matrix [Ske79], by
 * components and in tolerances, so that units and rows do not matter. Signs of a fixed sequence are
 * at right angles to no direction in which the matrix is singular, but for bad luck four times. */
static double find_condition(newton_work *w)
{
    enum { SETS = 4 };
    double most, largest_one = 0.0;
    unsigned sign = 1;
    weigh_equations(w, w->residual);
    for (int set = 0; set < SETS; set++) {
        for (size_t i = 0; i < w->e->size; i++) {
            sign = sign * 1664525u + 1013904223u; /* a linear congruence; its upper bits */
            w->bar[i] = sign >> 31 ? w->residual[i] : -w->residual[i];
        }
        linear_solve(w->q->system.solver, w->bar);
        step_norm(w, w->bar, 0.0, NULL, &most);
        largest_one = bvp_larger(largest_one, most);
    }
    return largest_one;
}

dae_status bvp_newton(dae_bvp *q, const bvp_equations *e, dae_diag *diag)
{
    newton_work w;
    dae_status status = work_new(&w, q, e) ? iterate(&w, diag) : bvp_no_memory(diag);
    if (status == DAE_OK) q->stats.condition = find_condition(&w);
    dae_free(w.step);
    return status;
}
