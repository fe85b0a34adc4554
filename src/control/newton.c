#include "control/newton.h"

#include <float.h>

#include "base/memory.h"
#include "base/vector.h"
#include "control/confirm.h"
#include "control/step_sequence.h"

/* Constants of DASSL [BCP96 5.2.2]. */
static const double SLOWEST_RATE = 0.9;          /* beyond it the iteration has failed */
static const double UNKNOWN_RATE_FACTOR = 100.0; /* S before a rate is known */
static const double ROUND_OFF = 100.0 * DBL_EPSILON;
static const double VELOCITY_ROUND_OFF = 4.0 * DBL_EPSILON; /* second order only */

/* The best that is believed of an old rate. One measured with a matrix of that very point is as
 * small as rounding allows, and says nothing of the points that follow. */
static const double BEST_OLD_RATE = 0.02;

/* A rate that was measured in one solve and accepts the next one after a single iteration was not
 * measured again: trust in it fades by this factor a solve. DASSL keeps it for as long as h stays,
 * while the matrix grows old and the true rate rises unseen. Costs nothing on ten models. */
static const double RATE_FADES = 2.0;

/* A correction that small which does not shrink with a current matrix is noise of F: its size is
 * the iteration error, and DASSL would let it pass. */
static const double NOISE = 0.33;

/* How far cj may drift from the matrix, |cj_hat - cj| / (cj_hat + cj), and how many solves a
 * Jacobian may serve before a new factorisation takes a new one as well. DASSL has 0.25 and 0.
 * Tuned on ten models (docs/notes/bdf.md): small dense matrices are renewed early,
 * which saves iterations, and the others, and Jacobians by differences, are kept longer. */
static const double MAX_DRIFT = 0.25, MAX_DRIFT_CHEAP = 0.15;
static const double MOVED = 0.02; /* a drift that the rate feels; second order only */
static const long MAX_AGE = 20, MAX_AGE_CHEAP = 5;
enum { CHEAP_SIZE = 24, CHEAP_SPARSE_SIZE = 19 };

/* Solves behind a start that may take a matrix of every iterate. */
enum { AT_START = 20 };

/* How far beside the end of an iteration F is asked, in what that may leave over. */
static const double PROOF = 5.0;

/* With a matrix of this very point corrections shrink by this at least where the theorem of Newton
 * and Mysovskikh holds [Deu11 2.1]. Slower ones come from equations that change within the first
 * correction: that rate rises from one iterate to the next, and says nothing of the distance. An
 * exponential that is smaller by e after a correction has many such corrections to go. */
static const double LOCAL_RATE = 0.25;

/* A damped iteration ends after so many iterates, or where less than this part of a correction
 * would help. */
enum { MOST_DAMPED = 50 };
static const double LEAST_PART = 1e-4;

bool newton_new(newton *nw, evaluator *eval, iteration *matrix, error_norm *norm,
                const dae_options *options)
{
    *nw = (newton){.eval = eval,
                   .matrix = matrix,
                   .norm = norm,
                   .max_iterations = options->newton_iterations,
                   .tolerance = options->newton_tolerance,
                   .krylov_tolerance = options->krylov_tolerance};
    nw->cheap_jacobian = eval->problem->form.jacobian != NULL;
    nw->first = DAE_ARRAY(double, norm->n);
    nw->delta = DAE_ARRAY(double, norm->n);
    const bool damps = steps_are_given(options);
    if (damps) nw->trial = DAE_ARRAY(double, norm->n);
    newton_reset(nw);
    return nw->first && nw->delta && (nw->trial || !damps);
}

void newton_free(newton *nw)
{
    dae_free_all(nw->first, nw->delta, nw->trial);
    *nw = (newton){0};
}

bool newton_matrix_is_cheap(const newton *nw)
{
    const matrix_layout *layout = &nw->matrix->jac.layout;
    const bool dense = layout->kind == DAE_STRUCTURE_DENSE;
    return !nw->matrix->matrix_free && layout->kind != DAE_STRUCTURE_BANDED &&
           layout->n <= (dense ? CHEAP_SIZE : CHEAP_SPARSE_SIZE);
}

int newton_most(const newton *nw, int usual)
{
    return nw->max_iterations == NEWTON_USUAL ? usual : nw->max_iterations;
}

void newton_reset(newton *nw)
{
    nw->stale = true;
    nw->rate_factor = UNKNOWN_RATE_FACTOR;
    nw->last_cj = 0.0;
    nw->solves = 0;
}

void newton_persist(newton *nw, persist *p)
{
    const int n = nw->norm->n;
    PERSIST_STRUCT(p, nw, GAPS(newton, eval, norm), GAPS(newton, first, trial));
    PERSIST_ARRAY(p, nw->first, n);
    PERSIST_ARRAY(p, nw->delta, n);
    if (nw->trial) PERSIST_ARRAY(p, nw->trial, n);
}

void newton_guard_open(newton *nw, newton_guard *guard)
{
    guard->before = *nw;
    guard->counted = *nw->eval->stats;
    iteration_guard_open(nw->matrix, &guard->matrix);
}

bool newton_guard_close(newton *nw, newton_guard *guard)
{
    bool lost = false;
    if (!iteration_guard_close(nw->matrix, &guard->matrix, &lost)) return false;
    *nw = guard->before;
    *nw->eval->stats = guard->counted;
    if (lost) newton_reset(nw);
    return true;
}

static attempt_status from_evaluation(eval_status status)
{
    return status == EVAL_STOP ? ATTEMPT_STOP : ATTEMPT_EVALUATION;
}

/* Without a callback to blame it is GMRES that failed. */
static attempt_status from_iteration(const newton *nw, iteration_status status)
{
    switch (status) {
    case ITERATION_OK: return ATTEMPT_OK;
    case ITERATION_RETRY:
        return nw->eval->failure.callback ? ATTEMPT_EVALUATION : ATTEMPT_CONVERGENCE;
    case ITERATION_SINGULAR: return ATTEMPT_SINGULAR;
    case ITERATION_STOP: return ATTEMPT_STOP;
    case ITERATION_MEMORY: return ATTEMPT_MEMORY;
    }
    return ATTEMPT_MEMORY;
}

/* Where a linear system is solved, for matrix-free products. */
static linear_point point_at(const newton *nw, const corrector *c, const double *f)
{
    return (linear_point){.t = c->t,
                          .cj = c->cj,
                          .y = c->y,
                          .yp = c->yp,
                          .f = f,
                          .scale = nw->norm->newton,
                          .tolerance = nw->krylov_tolerance * nw->tolerance};
}

/* |a_hat - a| / |a_hat + a|: the convergence rate to expect from an old matrix (5.2.14) */
static double drift(double factored, double wanted)
{
    return fabs((factored - wanted) / (factored + wanted));
}

static bool matrix_outdated(const newton *nw, const corrector *c)
{
    double limit = newton_matrix_is_cheap(nw) ? MAX_DRIFT_CHEAP : MAX_DRIFT;
    if (nw->stale) return true;
    if (!c->second) return !nw->matrix->factored || drift(nw->matrix->cj, c->cj) > limit;
    double a1, a2;
    if (!second_matrix_shifts(c->factors, &a1, &a2)) return true;
    return drift(a2, c->a2) > limit;
}

/* Whether the factors are those of this very shift. */
static bool shift_is_current(const newton *nw, const corrector *c)
{
    if (!c->second) return nw->matrix->cj == c->cj;
    double a1, a2;
    return second_matrix_shifts(c->factors, &a1, &a2) && a1 == c->cj && a2 == c->a2;
}

static bool jacobian_outdated(const newton *nw)
{
    bool cheap = nw->cheap_jacobian && newton_matrix_is_cheap(nw);
    return nw->stale || nw->jacobian_age >= (cheap ? MAX_AGE_CHEAP : MAX_AGE);
}

/* dF/dy and dF/dy' at the prediction, or where they are wanted */
static iteration_status renew_derivatives(newton *nw, const corrector *c)
{
    nw->jacobian_age = 0;
    nw->excess = 0;
    if (c->second)
        return second_matrix_evaluate(c->factors, c->t, c->y, c->yp, c->h, nw->norm->weights,
                                      nw->first);
    if (c->at_y)
        return iteration_evaluate(nw->matrix, c->at_t, c->at_y, c->at_yp, c->cj, c->h,
                                  nw->norm->weights, NULL);
    return iteration_evaluate(nw->matrix, c->t, c->y, c->yp, c->cj, c->h, nw->norm->weights,
                              nw->first);
}

static iteration_status factor_matrix(newton *nw, const corrector *c)
{
    if (c->second) {
        iteration_status status = second_matrix_factor(c->factors, c->cj, c->a2);
        nw->matrix->singular_column = second_matrix_singular(c->factors);
        return status;
    }
    linear_point at = point_at(nw, c, nw->first);
    return iteration_factor(nw->matrix, c->cj, &at);
}

/* Factor G for cj, after evaluating dF/dy and dF/dy' at the prediction if asked to. */
static attempt_status renew_matrix(newton *nw, const corrector *c, bool evaluate)
{
    iteration_status status = evaluate ? renew_derivatives(nw, c) : ITERATION_OK;
    if (status == ITERATION_OK) status = factor_matrix(nw, c);
    nw->rate_factor = UNKNOWN_RATE_FACTOR;
    nw->stale = status != ITERATION_OK;
    return from_iteration(nw, status);
}

static bool has_bounds(const newton *nw)
{
    const dae_residual *form = &nw->eval->problem->form;
    return form->lower_bounds || form->upper_bounds;
}

/* y_i, or the bound that it violates */
static double bounded(const dae_residual *form, int i, double y)
{
    if (form->lower_bounds && y < form->lower_bounds[i]) return form->lower_bounds[i];
    if (form->upper_bounds && y > form->upper_bounds[i]) return form->upper_bounds[i];
    return y;
}

/* x' = x'_0 + a1 e, x'' = x''_0 + a2 e with e of the unknowns x; velocities within their own bounds
 * follow the unknowns all the same: they are what the equation says they are. */
static void match_velocities(const corrector *c)
{
    const second_order *s = c->second;
    for (int k = 0; k < s->n; k++) {
        int i = s->place[k], v = s->velocity[k];
        double e = c->e[i];
        c->yp[i] = c->yp0[i] + c->cj * e;
        if (v < 0) continue;
        c->e[v] = c->cj * e;
        c->y[v] = c->y0[v] + c->e[v];
        c->yp[v] = c->yp0[v] + c->a2 * e;
    }
}

/* Put the components outside their bounds on them, with y' and e to match: it is where the next
 * iteration starts from that moves, not the equation G(y) = 0, nor its solution. F need not exist
 * outside, and is not asked there. */
static void keep_within_bounds(const newton *nw, const corrector *c)
{
    const dae_residual *form = &nw->eval->problem->form;
    if (!has_bounds(nw)) return;
    for (int i = 0; i < form->n; i++) {
        double y = bounded(form, i, c->y[i]);
        if (y == c->y[i]) continue;
        c->y[i] = y;
        c->e[i] = y - c->y0[i];
        if (!c->second) c->yp[i] = c->yp0[i] + c->cj * c->e[i];
    }
    if (c->second) match_velocities(c);
}

/* y_i = value, with e and y' to match */
static void put(const corrector *c, int i, double value)
{
    c->y[i] = value;
    c->e[i] = value - c->y0[i];
    c->yp[i] = c->yp0[i] + c->cj * c->e[i];
}

/* Back to the prediction, or what the bounds leave of it. */
static void restore_prediction(const newton *nw, const corrector *c)
{
    int n = nw->norm->n;
    vector_copy(n, c->y0, c->y);
    vector_copy(n, c->yp0, c->yp);
    vector_zero(n, c->e);
    keep_within_bounds(nw, c);
}

/* x += d, x' += a1 d, x'' += a2 d, where delta holds d and a1 d in their places; returns ||delta||
 */
static double correct_second(const newton *nw, const corrector *c)
{
    const second_order *s = c->second;
    const double *d = nw->delta;
    for (int k = 0; k < s->n; k++) {
        int i = s->place[k], v = s->velocity[k];
        c->y[i] += d[i];
        c->e[i] += d[i];
        c->yp[i] += c->cj * d[i];
        if (v < 0) continue;
        c->y[v] += d[v];
        c->e[v] += d[v];
        c->yp[v] += c->a2 * d[i];
    }
    return norm_of(nw->norm, d, nw->norm->newton);
}

/* y += d, y' += cj d, e += d; returns ||d|| */
static double correct_first(const newton *nw, const corrector *c)
{
    int n = nw->norm->n;
    const double *restrict d = nw->delta, *restrict scale = nw->norm->newton;
    double *restrict y = c->y, *restrict yp = c->yp, *restrict e = c->e;
    double sum = 0.0, cj = c->cj;
    for (int i = 0; i < n; i++) {
        y[i] += d[i];
        yp[i] += cj * d[i];
        e[i] += d[i];
        sum += (d[i] * scale[i]) * (d[i] * scale[i]);
    }
    return nw->norm->user_norm ? norm_of(nw->norm, d, scale) : sqrt(sum / n);
}

/* One more iterate; returns the size of its correction. */
static double correct(newton *nw, const corrector *c)
{
    nw->iterations++;
    nw->eval->stats->newton_iterations++;
    return nw->last_size = c->second ? correct_second(nw, c) : correct_first(nw, c);
}

/* (a / b)^(1/m) without pow for the few m that occur */
static double mean_rate(double a, double b, int m)
{
    double quotient = a / b;
    if (m == 1) return quotient;
    if (m == 2) return sqrt(quotient);
    return pow(quotient, 1.0 / m);
}

/* The part of the step [y_old, y] inside the bounds; 1 if all of it. Names the worst variable. */
static double part_within_bounds(newton *nw, const corrector *c)
{
    const dae_residual *form = &nw->eval->problem->form;
    double part = 1.0;
    for (int i = 0; i < form->n; i++) {
        double bound = bounded(form, i, c->y[i]);
        if (bound == c->y[i]) continue;
        double way = fabs(c->y[i] - c->y_old[i]);
        double inside = way > 0.0 ? fmax(0.0, 1.0 - fabs(c->y[i] - bound) / way) : 0.0;
        if (inside < part) {
            part = inside;
            nw->bound_variable = i;
        }
    }
    return part;
}

/* What rounding errors of the unknowns x do to their velocities a1 x, in the norm. Constraints
 * share those of large unknowns with the others. */
static double velocity_rounding(const newton *nw, const corrector *c)
{
    const second_order *s = c->second;
    const double *scale = nw->norm->newton, most = second_order_largest(s, c->y0);
    double sum = 0.0;
    for (int k = 0; k < s->n; k++) {
        if (s->velocity[k] < 0) continue;
        double size = norm_size(nw->norm, s->place[k], c->y0[s->place[k]], most);
        double x = c->cj * size * scale[s->velocity[k]];
        sum += x * x;
    }
    return VELOCITY_ROUND_OFF * sqrt(sum / nw->norm->n);
}

/* Whether the correction is lost in the rounding of y: no rate can be told from it. */
static bool is_round_off(const newton *nw, const corrector *c, double size)
{
    double level = ROUND_OFF * norm_of(nw->norm, c->y0, nw->norm->newton);
    return size <= (c->second ? fmax(level, velocity_rounding(nw, c)) : level);
}

/* Whether the matrix is that of the prediction, or of the last iterate. */
static bool matrix_is_current(const newton *nw, const corrector *c)
{
    return nw->jacobian_age == 0 && shift_is_current(nw, c);
}

/* Whether a correction that does not shrink is as good as it can get. */
static bool is_noise(const newton *nw, const corrector *c, double size)
{
    return (matrix_is_current(nw, c) && size <= NOISE) || is_round_off(nw, c, size);
}

/* delta = -c G^-1 F at the current iterate (5.2.11) */
static attempt_status newton_direction(newton *nw, const corrector *c, bool at_prediction)
{
    const iteration *matrix = nw->matrix;
    int n = nw->norm->n;
    if (!at_prediction) {
        eval_status eval =
            evaluate_residual(nw->eval, c->t, c->y, c->yp, nw->delta, &nw->eval->stats->residuals);
        if (eval != EVAL_OK) return from_evaluation(eval);
    }
    const double *f = at_prediction ? nw->first : nw->delta;
    if (c->second) {
        second_matrix_direction(c->factors, f, c->cj, c->a2, nw->delta);
        return ATTEMPT_OK;
    }
    linear_point at = point_at(nw, c, f);
    if (matrix->matrix_free && !at_prediction) { /* delta is overwritten, F is needed beside it */
        vector_copy(n, nw->delta, nw->first);
        at.f = nw->first;
    }
    double factor = matrix->matrix_free ? -1.0 : -2.0 / (1.0 + c->cj / matrix->cj);
    for (int i = 0; i < n; i++) nw->delta[i] = factor * f[i];
    nw->eval->failure.callback = NULL;
    return from_iteration(nw, iteration_solve(nw->matrix, &at, nw->delta));
}

/* The end of an iteration that does not converge. With a matrix of this very point and an iterate
 * outside the bounds it is these that stand in the way. */
static attempt_status diverged(newton *nw, const corrector *c)
{
    if (!has_bounds(nw) || nw->jacobian_age > 0) return ATTEMPT_CONVERGENCE;
    nw->bound_ratio = part_within_bounds(nw, c);
    return nw->bound_ratio < 1.0 ? ATTEMPT_BOUND : ATTEMPT_CONVERGENCE;
}

/* Whether a small correction ends the iteration: yes, unless it leads out of the bounds. Then once
 * more from the bound, and if that leads out again, so does the solution. */
static bool ends_within_bounds(newton *nw, const corrector *c, int *outside, attempt_status *status)
{
    *status = ATTEMPT_OK;
    if (!has_bounds(nw)) return true;
    nw->bound_ratio = part_within_bounds(nw, c);
    if (nw->bound_ratio >= 1.0) return true;
    *status = ATTEMPT_BOUND;
    return ++*outside > 1;
}

/* F where the iteration begins, in nw->first. */
static attempt_status evaluate_prediction(newton *nw, const corrector *c)
{
    eval_status status =
        evaluate_residual(nw->eval, c->t, c->y, c->yp, nw->first, &nw->eval->stats->residuals);
    return status == EVAL_OK ? ATTEMPT_OK : from_evaluation(status);
}

/* y = y_0 + e, y' = y'_0 + cj e, where rounding does not lead out of the bounds */
static void put_solution(const newton *nw, const corrector *c)
{
    const dae_residual *form = &nw->eval->problem->form;
    for (int i = 0; i < nw->norm->n; i++) {
        c->y[i] = bounded(form, i, c->y0[i] + c->e[i]);
        if (!c->second) c->yp[i] = c->yp0[i] + c->cj * c->e[i];
    }
    if (c->second) match_velocities(c);
}

/* Whether the end of an iteration of m + 1 corrections solves the equations. Rates that were
 * measured near by say so; without one, or far from the prediction, F has to. */
static attempt_status confirm(newton *nw, const corrector *c, int m, correction_sizes sizes,
                              bool *confirmed)
{
    const bool bends = m > 0 && matrix_is_current(nw, c) && nw->rate > LOCAL_RATE;
    const bool known = m == 0 ? nw->rate_factor < UNKNOWN_RATE_FACTOR
                              : !bends && iteration_is_local(nw->norm, sizes);
    *confirmed = known || nw->matrix->matrix_free;
    if (*confirmed) return ATTEMPT_OK;
    const double rounding = ROUND_OFF * norm_of(nw->norm, c->y0, nw->norm->newton);
    const double left = PROOF * fmax(nw->tolerance, fmin(nw->last_size, 1.0)) / c->tightness;
    iteration_end end = {.eval = nw->eval,
                         .matrix = nw->matrix,
                         .norm = nw->norm,
                         .t = c->t,
                         .y = c->y0,
                         .yp = c->yp0,
                         .sum = c->e,
                         .cj = c->cj,
                         .second = c->second,
                         .factors = c->factors,
                         .a2 = c->a2,
                         .part = fmax(left, rounding),
                         .ways = CONFIRM_ONE,
                         .e = nw->delta,
                         .f = nw->first,
                         .point = c->y,
                         .slope = c->yp};
    attempt_status status = iteration_confirm(&end, confirmed);
    put_solution(nw, c);
    if (*confirmed && end.left < SLOWEST_RATE) nw->rate_factor = end.left / (1.0 - end.left);
    return status;
}

/* The largest part of a correction. */
typedef struct correction_lead {
    int variable;
    double value;
} correction_lead;

static correction_lead lead_of(const newton *nw)
{
    const int i = vector_argmax(nw->norm->n, nw->delta, nw->norm->newton);
    return (correction_lead){i, nw->delta[i]};
}

/* Whether this correction goes the same way as the one before. */
static bool goes_on(const newton *nw, correction_lead before)
{
    const double ALONG = 0.5;
    return nw->delta[before.variable] * before.value > ALONG * before.value * before.value;
}

/* Whether Newton's corrections, the last two of these sizes, have come to an end. One alone tells
 * nothing of those that follow: far from the solution an exponential makes them all alike, however
 * small. Those that rounding makes do not shrink either, but they go to and fro. */
static bool has_ended(const newton *nw, const corrector *c, double before, correction_lead lead,
                      double size)
{
    if (is_round_off(nw, c, size)) return true;
    if (before == 0.0) return false;
    const double rate = size / before;
    if (rate > SLOWEST_RATE) return size * c->tightness <= nw->tolerance && !goes_on(nw, lead);
    return rate / (1.0 - rate) * size * c->tightness <= nw->tolerance;
}

/* Newton's iteration with a matrix of every iterate, from the iterate at hand on. */
static attempt_status iterate_on(newton *nw, const corrector *c)
{
    double before = 0.0;
    correction_lead lead = {0};
    int outside = 0;
    for (int m = 0; m < 2 * nw->max_iterations; m++) {
        attempt_status status = evaluate_prediction(nw, c); /* at the iterate */
        if (status == ATTEMPT_OK) status = renew_matrix(nw, c, true);
        if (status == ATTEMPT_OK) status = newton_direction(nw, c, true);
        if (status != ATTEMPT_OK) return status;
        double size = correct(nw, c);
        if (!isfinite(size)) return ATTEMPT_CONVERGENCE;
        const bool ended = has_ended(nw, c, before, lead, size);
        if (ended && ends_within_bounds(nw, c, &outside, &status)) return status;
        keep_within_bounds(nw, c);
        lead = lead_of(nw);
        before = size;
    }
    return outside > 0 ? ATTEMPT_BOUND : ATTEMPT_CONVERGENCE;
}

/* Iterate from the prediction until the iteration error is below the tolerance (5.2.15). */
static attempt_status iterate(newton *nw, const corrector *c)
{
    correction_sizes sizes = {0};
    int outside = 0;
    nw->rate = 0.0;
    for (int m = 0; m < nw->max_iterations; m++) {
        attempt_status status = newton_direction(nw, c, m == 0);
        if (status != ATTEMPT_OK) return status;
        double size = correct(nw, c);
        sizes.before = sizes.last;
        sizes.last = size;
        if (m == 0) sizes.first = size;
        if (m > 0) nw->rate = mean_rate(size, sizes.first, m);
        bool slow = !(nw->rate <= SLOWEST_RATE);
        /* what GMRES has left over is missing in the correction */
        const bool met = nw->matrix->leftover * c->tightness <= nw->tolerance;
        if (slow && !(met && is_noise(nw, c, size))) return diverged(nw, c);
        if (m > 0 && !slow) nw->rate_factor = nw->rate / (1.0 - nw->rate);
        double factor = m == 0 ? fmax(nw->rate_factor, BEST_OLD_RATE) : nw->rate_factor;
        bool small = factor * size * c->tightness <= nw->tolerance;
        if (met && (slow || small || is_round_off(nw, c, size))) {
            const bool ends = ends_within_bounds(nw, c, &outside, &status);
            bool confirmed = true;
            if (ends && status == ATTEMPT_OK) status = confirm(nw, c, m, sizes, &confirmed);
            if (!confirmed && status == ATTEMPT_OK) return iterate_on(nw, c);
            if (m == 0) nw->rate_factor = fmin(RATE_FADES * nw->rate_factor, UNKNOWN_RATE_FACTOR);
            if (ends) return status;
        }
        keep_within_bounds(nw, c);
    }
    return outside > 0 ? ATTEMPT_BOUND : ATTEMPT_CONVERGENCE;
}

/* Once more from the prediction, with a matrix of this very point. */
static attempt_status iterate_anew(newton *nw, const corrector *c)
{
    attempt_status status = ATTEMPT_OK;
    restore_prediction(nw, c);
    if (nw->matrix->matrix_free) status = evaluate_prediction(nw, c); /* F was overwritten */
    if (status == ATTEMPT_OK) status = renew_matrix(nw, c, true);
    return status == ATTEMPT_OK ? iterate(nw, c) : status;
}

/* Newton's iteration with a matrix of every iterate, from the prediction on. Behind a start the
 * slopes of algebraic variables are not known, and where the prediction leaves them on an infinite
 * slope, as sqrt(x) at 0, its matrix is of no use, but that of the next iterate is. */
static attempt_status iterate_with_new_matrices(newton *nw, const corrector *c)
{
    restore_prediction(nw, c);
    return iterate_on(nw, c);
}

/* y += part d, y' += cj part d, e += part d for the direction d */
static void move_along(const newton *nw, const corrector *c, double part)
{
    for (int i = 0; i < nw->norm->n; i++) {
        double step = part * nw->delta[i];
        c->y[i] += step;
        c->yp[i] += c->cj * step;
        c->e[i] += step;
    }
}

/* trial = G^-1 F at the iterate, first = F there; its norm, or infinity where F has no value */
static double next_correction(newton *nw, const corrector *c)
{
    if (evaluate_prediction(nw, c) != ATTEMPT_OK) return INFINITY;
    vector_copy(nw->norm->n, nw->first, nw->trial);
    linear_point at = point_at(nw, c, nw->first);
    if (iteration_solve(nw->matrix, &at, nw->trial) != ITERATION_OK) return INFINITY;
    return norm_of(nw->norm, nw->trial, nw->norm->newton);
}

/* The longest part 1, 1/2, 1/4, .. of the direction after which the next correction with the same
 * matrix is shorter, by the natural monotonicity test of [Deu11 3.3]; false: there is none. */
static bool damped_step(newton *nw, const corrector *c, double size)
{
    double part = 1.0;
    move_along(nw, c, part);
    while (!(next_correction(nw, c) <= (1.0 - 0.5 * part) * size)) {
        if (part < LEAST_PART) return false;
        part *= 0.5;
        move_along(nw, c, -part);
    }
    return true;
}

/* Newton's iteration with a matrix of every iterate, damped. With constant steps variables of index
 * 3 are off by O(1) after the first one [BCP96 3.2.4], and no start is near the solution then: what
 * is algebraic begins at its last value, not where extrapolation leads. Corrections that cannot
 * shrink are rounding errors if they are small: u / h^2 of the positions, or more. */
static attempt_status iterate_damped(newton *nw, const corrector *c)
{
    const double rounding = sqrt(DBL_EPSILON) * norm_of(nw->norm, c->y_old, nw->norm->newton);
    restore_prediction(nw, c);
    for (int i = 0; i < nw->norm->n; i++)
        if (nw->norm->kinds && nw->norm->kinds[i] != DAE_KIND_DIFFERENTIAL) put(c, i, c->y_old[i]);
    attempt_status status = evaluate_prediction(nw, c);
    for (int m = 0; m < MOST_DAMPED && status == ATTEMPT_OK; m++) {
        status = renew_matrix(nw, c, true);
        if (status == ATTEMPT_OK) status = newton_direction(nw, c, true);
        if (status != ATTEMPT_OK) return status;
        nw->iterations++;
        nw->eval->stats->newton_iterations++;
        double size = norm_of(nw->norm, nw->delta, nw->norm->newton);
        if (size * c->tightness <= nw->tolerance || is_round_off(nw, c, size)) {
            move_along(nw, c, 1.0);
            return ATTEMPT_OK;
        }
        if (!damped_step(nw, c, size)) return size <= rounding ? ATTEMPT_OK : ATTEMPT_CONVERGENCE;
    }
    return status == ATTEMPT_OK ? ATTEMPT_CONVERGENCE : status;
}

/* Whether the rate of the last solve says nothing of this one. Coefficients on a variable grid move
 * a little with every step, if only by rounding: that is not it. */
static bool shift_moved(const newton *nw, const corrector *c)
{
    return c->second ? drift(nw->last_cj, c->cj) > MOVED : c->cj != nw->last_cj;
}

/* Iterations that an old matrix may cost before it is renewed: about what that takes in residuals
 * and solves. */
static int patience(const newton *nw)
{
    const matrix_layout *layout = &nw->matrix->jac.layout;
    int most = layout->kind == DAE_STRUCTURE_DENSE ? layout->n : 10;
    return (nw->cheap_jacobian ? 2 : most) + (newton_matrix_is_cheap(nw) ? 2 : 10);
}

/* On the second order form steps change by little, and often: it is slow convergence that tells
 * when derivatives are out of date. */
static void note_convergence(newton *nw)
{
    if (nw->iterations > 2) nw->excess += nw->iterations - 2;
    if (nw->excess > patience(nw) && nw->jacobian_age > 0) nw->stale = true;
}

attempt_status newton_solve(newton *nw, const corrector *c)
{
    nw->iterations = 0;
    nw->rate = 0.0;
    norm_set_step(nw->norm, c->h);
    if (c->every_iterate) return iterate_with_new_matrices(nw, c);
    restore_prediction(nw, c);
    attempt_status status = evaluate_prediction(nw, c);
    if (status != ATTEMPT_OK) return status;
    bool new_jacobian = false;
    if (matrix_outdated(nw, c)) {
        new_jacobian = jacobian_outdated(nw);
        status = renew_matrix(nw, c, new_jacobian);
        if (status == ATTEMPT_SINGULAR && !new_jacobian) status = renew_matrix(nw, c, true);
        if (status != ATTEMPT_OK) return status;
    }
    if (shift_moved(nw, c)) nw->rate_factor = UNKNOWN_RATE_FACTOR;
    nw->last_cj = c->cj;
    status = iterate(nw, c);
    bool retry = status == ATTEMPT_CONVERGENCE || status == ATTEMPT_EVALUATION;
    if (retry && !new_jacobian) status = iterate_anew(nw, c);
    /* algebraic variables: second order forms have none */
    bool whole = !c->second && !nw->matrix->matrix_free;
    if (status == ATTEMPT_CONVERGENCE && c->damped && whole && !has_bounds(nw))
        status = iterate_damped(nw, c);
    else if (status == ATTEMPT_CONVERGENCE && nw->solves < AT_START && whole)
        status = iterate_with_new_matrices(nw, c);
    if (nw->solves < AT_START) nw->solves++;
    /* with derivatives of this very point: perhaps some are missing */
    if (status == ATTEMPT_CONVERGENCE && iteration_distrust(nw->matrix)) nw->stale = true;
    /* nor are those of a prediction that leads nowhere of any use to a shorter step */
    if (status == ATTEMPT_CONVERGENCE || status == ATTEMPT_EVALUATION) nw->stale = true;
    if (c->second) note_convergence(nw);
    nw->jacobian_age++;
    return status;
}

/* ---- DASSL to the letter [BCP96 5.2.2] ---- */

/* G of this very point and shift, and its factors */
static attempt_status renew_as_dassl(newton *nw, const corrector *c)
{
    iteration_status status = iteration_renew_together(nw->matrix, c->t, c->y, c->yp, c->cj, c->h,
                                                       nw->norm->weights, nw->first);
    nw->rate_factor = UNKNOWN_RATE_FACTOR;
    nw->stale = status != ITERATION_OK;
    nw->jacobian_age = 0;
    return from_iteration(nw, status);
}

/* Move what lies outside the bounds onto them, if that is less than the iteration may leave over.
 */
static attempt_status settle_within_bounds(newton *nw, const corrector *c)
{
    const dae_residual *form = &nw->eval->problem->form;
    if (!has_bounds(nw)) return ATTEMPT_OK;
    for (int i = 0; i < form->n; i++) nw->delta[i] = bounded(form, i, c->y[i]) - c->y[i];
    if (!(norm_of(nw->norm, nw->delta, nw->norm->scale) <= nw->tolerance))
        return ATTEMPT_CONVERGENCE;
    for (int i = 0; i < form->n; i++) {
        c->y[i] += nw->delta[i];
        c->e[i] += nw->delta[i];
    }
    return ATTEMPT_OK;
}

/* Iterate from the prediction until S ||d|| <= 0.33 (5.2.15), or d is lost in rounding. */
static attempt_status iterate_as_dassl(newton *nw, const corrector *c)
{
    const error_norm *norm = nw->norm;
    double level = ROUND_OFF * norm_of(norm, c->y0, norm->scale), first = 0.0;
    for (int m = 0; m < nw->max_iterations; m++) {
        attempt_status status = newton_direction(nw, c, m == 0);
        if (status != ATTEMPT_OK) return status;
        correct(nw, c);
        double size = nw->last_size = norm_of(norm, nw->delta, norm->scale);
        if (size <= level) return settle_within_bounds(nw, c);
        if (m == 0) {
            first = size;
        } else {
            nw->rate = mean_rate(size, first, m);
            if (!(nw->rate <= SLOWEST_RATE)) return ATTEMPT_CONVERGENCE;
            nw->rate_factor = nw->rate / (1.0 - nw->rate);
        }
        if (nw->rate_factor * size <= nw->tolerance) return settle_within_bounds(nw, c);
    }
    return ATTEMPT_CONVERGENCE;
}

attempt_status newton_solve_dassl(newton *nw, const corrector *c, bool rate_anew)
{
    const iteration *matrix = nw->matrix;
    bool renew = nw->stale || !matrix->factored || drift(matrix->cj, c->cj) > MAX_DRIFT;
    nw->iterations = 0;
    nw->rate = 0.0;
    nw->jacobian_age++;
    if (rate_anew || c->cj != nw->last_cj) nw->rate_factor = UNKNOWN_RATE_FACTOR;
    nw->last_cj = c->cj;
    norm_set_step(nw->norm, c->h);
    for (;; renew = true) {
        vector_copy(nw->norm->n, c->y0, c->y);
        vector_copy(nw->norm->n, c->yp0, c->yp);
        vector_zero(nw->norm->n, c->e);
        attempt_status status = evaluate_prediction(nw, c);
        if (status == ATTEMPT_OK && renew) status = renew_as_dassl(nw, c);
        if (status == ATTEMPT_OK) status = iterate_as_dassl(nw, c);
        if (status != ATTEMPT_CONVERGENCE || renew) return status;
    }
}
