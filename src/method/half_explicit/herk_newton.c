/* The divided Newton method: only algebraic components move [Baese17 Definition 3.14]. */
#include <float.h>
#include <math.h>

#include "base/vector.h"
#include "control/confirm.h"
#include "method/half_explicit/herk_parts.h"

/* What the iteration leaves over, in weights of the error test: a thousandth of what a step may
 * do wrong does not show in its estimate. */
static const double LEFT_OVER = 1e-3;
/* An iteration that stalls at so many units of rounding is as far as it gets: R amplifies them. */
static const double STALLED = 1e3;
/* Within the tolerances corrections by g_x of their very point shrink quadratically: those that do
 * not shrink by this are made by rounding, however R amplifies it. */
static const double SHRINKS = 0.5;
enum { MOST_ITERATIONS = 12, MOST_THESIS = 60 };

/* x^a -= R^-1 g; the correction stays in w->delta */
static void correct(herk_work *w, double *x)
{
    vector_copy(w->ng, w->g, w->delta);
    part_solve(&w->R, w->delta);
    for (int k = 0; k < w->ng; k++) x[w->algebraic[k]] -= w->delta[k];
    HERK_COUNT(w, solves);
    HERK_COUNT(w, newton_iterations);
}

/* Weighted root mean square of the correction, and of what rounding makes of it in *noise. */
static double correction_size(const herk_work *w, const error_norm *norm, const double *x,
                              double *noise)
{
    double sum = 0.0, rounding = 0.0;
    for (int k = 0; k < w->ng; k++) {
        int j = w->algebraic[k];
        double scale = norm->scale[herk_place(w, j)];
        double d = w->delta[k] * scale, r = x[j] * scale;
        sum += d * d;
        rounding += r * r;
    }
    *noise = 4.0 * DBL_EPSILON * sqrt(rounding / w->ng);
    return sqrt(sum / w->ng);
}

/* The component whose correction is largest. */
static attempt_status diverged(herk_work *w, const error_norm *norm)
{
    int worst = w->algebraic[0];
    double most = -1.0;
    for (int k = 0; k < w->ng; k++) {
        int j = w->algebraic[k];
        double size = fabs(w->delta[k]) * (norm ? norm->scale[herk_place(w, j)] : 1.0);
        if (size <= most) continue;
        most = size;
        worst = j;
    }
    return herk_fail(w, ATTEMPT_CONVERGENCE,
                     "Newton's iteration for the algebraic components does not converge", worst,
                     -1);
}

/* g_x at an iterate, and its factors: the classical method. */
static attempt_status factor_here(herk_work *w, double t, const double *x)
{
    attempt_status status = herk_evaluate(w, HERK_JACOBIAN, t, x, w->J_stage);
    if (status != ATTEMPT_OK) return status;
    HERK_COUNT(w, jacobians);
    w->R_current = false;
    return herk_factor(w, w->J_stage);
}

/* Whether the rate reached does not end the iteration soon: g_x is looked at anew. */
static bool too_slow(int k, double rate, double size, double goal)
{
    return k > 0 && (rate > 0.5 || size * pow(rate, 3.0) > goal);
}

static void add_size(correction_sizes *sizes, int k, double size)
{
    if (k == 0) sizes->first = size;
    sizes->before = sizes->last;
    sizes->last = size;
}

/* Whether corrections are as small as they have to be, or as rounding lets them be. */
static bool has_ended(double size, double rate, int since, double noise, double goal)
{
    if (size <= noise) return true;
    if (since > 0 && rate >= 0.9 && size <= STALLED * noise) return true;
    return rate < 0.9 && rate / (1.0 - rate) * size <= goal;
}

/* Whether the iteration has come to a solution, as corrections by g_x of their very point tell, of
 * which so many were made. */
static bool is_proved(correction_sizes sizes, int count, double goal)
{
    if (sizes.last <= goal) return true;
    return count > 1 && fmax(sizes.before, sizes.last) <= 1.0 &&
           sizes.last >= SHRINKS * sizes.before;
}

/* Where the iteration came from afar small corrections prove nothing (control/confirm.h): then the
 * last one is to be that of the classical method, by g_x of the very point, which goes on until it
 * proves the end. */
attempt_status herk_newton(herk_work *w, const error_norm *norm, double t, double *x)
{
    if (w->ng == 0) return ATTEMPT_OK;
    const bool same = w->form->g_x_matrix.constant; /* at every point */
    bool renew = w->config.classical, renewed = false;
    int proofs = -1; /* corrections of the classical method, once they are due */
    correction_sizes sizes = {0};
    double last = 0.0;
    for (int k = 0, since = 0; k < MOST_ITERATIONS; k++, since++) {
        attempt_status status = herk_evaluate(w, HERK_CONSTRAINTS, t, x, w->g);
        if (status == ATTEMPT_OK && renew) status = factor_here(w, t, x);
        if (status != ATTEMPT_OK) return status;
        correct(w, x);
        double noise, size = correction_size(w, norm, x, &noise);
        add_size(&sizes, k, size);
        double rate = since > 0 ? size / last : w->rate, goal = fmax(LEFT_OVER, noise);
        if (proofs >= 0) {
            if (is_proved(sizes, ++proofs, goal)) return ATTEMPT_OK;
            continue;
        }
        if (since > 0) w->rate = fmax(fmin(0.5 * w->rate, 0.1), rate);
        if (has_ended(size, rate, since, noise, goal)) {
            if ((renew && size <= goal) || same || iteration_is_local(norm, sizes))
                return ATTEMPT_OK;
            renew = true;
            proofs = 0;
            continue;
        }
        if (since > 0 && renewed && !(rate < 0.9)) return diverged(w, norm);
        last = size;
        renew = w->config.classical || (!renewed && too_slow(since, rate, size, goal));
        if (renew && !w->config.classical) {
            renewed = true;
            since = -1;
        }
    }
    return diverged(w, norm);
}

attempt_status herk_newton_thesis(herk_work *w, double tolerance, double t, double *x)
{
    if (w->ng == 0) return ATTEMPT_OK;
    double last = INFINITY;
    for (int k = 0; k < MOST_THESIS; k++) {
        attempt_status status = herk_evaluate(w, HERK_CONSTRAINTS, t, x, w->g);
        if (status == ATTEMPT_OK && (k == 0 || w->config.classical)) status = factor_here(w, t, x);
        if (status != ATTEMPT_OK) return status;
        correct(w, x);
        double g = 0.0, step = 0.0, size = 0.0;
        for (int i = 0; i < w->ng; i++) {
            g += w->g[i] * w->g[i];
            step = fmax(step, fabs(w->delta[i]));
            size = fmax(size, fabs(x[w->algebraic[i]]));
        }
        const double noise = 4.0 * DBL_EPSILON * size;
        if (sqrt(g) < tolerance || step <= noise) return ATTEMPT_OK;
        /* where rounding errors of g are above the tolerance it is as far as it gets */
        if (step >= 0.9 * last && step <= STALLED * noise) return ATTEMPT_OK;
        last = step;
    }
    return diverged(w, NULL);
}
