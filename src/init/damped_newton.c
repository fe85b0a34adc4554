/* F = 0 as a source of the engine: n unknowns, y_j or y'_j each, and partial derivatives with LU
 * factors or GMRES. */
#include <float.h>

#include "base/vector.h"
#include "init/workspace.h"

static const double keep_matrix_rate = 0.2; /* full steps that contract so need no new matrix: three
                                               more of them reach the tolerance from 1 */
static const double longest_stride = 1e6;
/* The estimate from the factors is at most an order of magnitude off, and so are their row and
 * column scales: a condition that is better by this factor is better for sure. */
static const double SURE = 1e4;

static engine_outcome from_iteration(const initializer *init, iteration_status status)
{
    bool of_callback = init->eval->failure.callback;
    switch (status) {
    case ITERATION_OK: return ENGINE_MET;
    case ITERATION_SINGULAR: return ENGINE_SINGULAR;
    case ITERATION_STOP: return ENGINE_STOP;
    case ITERATION_MEMORY: return ENGINE_MEMORY;
    case ITERATION_RETRY: break;
    }
    return of_callback ? ENGINE_UNDEFINED : ENGINE_LINEAR;
}

double newton_norm(int n, const double *dx)
{
    double sum = 0.0;
    for (int j = 0; j < n; j++) sum += dx[j] * dx[j];
    return n > 0 ? sqrt(sum / n) : 0.0;
}

/* Units of the unknowns and column factors: a direct solve works on units; GMRES works on y and
 * T y', with the weights in its norm, so that it makes sense without a preconditioner too. */
static void set_units(initializer *init)
{
    bool matrix_free = init->matrix->matrix_free;
    for (int j = 0; j < init->n; j++) {
        bool derivative = init->derivative[j];
        init->unit[j] =
            derivative ? scales_derivative_unit(init, j, init->yp[j]) : init->weights[j];
        init->scale[j] = matrix_free ? 1.0 / init->weights[j] : 1.0;
        double factor = init->unit[j] * init->scale[j];
        init->cy[j] = derivative ? 0.0 : factor;
        init->cyp[j] = derivative ? factor : 0.0;
    }
}

/* T from y' and, where the derivatives are stored, from the equations; then the units. */
static void set_scales(initializer *init)
{
    const iteration *it = init->matrix;
    bool stored = !it->matrix_free && it->jac.valid;
    if (stored && init->slope_of) scales_slopes(init, &it->jac.layout, it->jac.dfdy);
    init->rate = stored ? scales_rate(&it->jac.layout, it->jac.dfdy, it->jac.dfdyp, init->weights,
                                      init->ynew, init->ypnew)
                        : 0.0;
    init->T = scales_time(init, init->rate, init->y, init->yp);
    set_units(init);
    if (stored)
        scales_rows(init, &init->rows, &it->jac.layout, it->jac.dfdy, it->jac.dfdyp, init->y,
                    init->yp);
}

/* Shift of a user's P: large, since dF/dy + cj dF/dy' tends to Newton's matrix with its derivative
 * columns times cj [BHP98; BCP96 (7.5.34)]; 0 if no derivative is sought. */
static double precondition_shift(const initializer *init)
{
    for (int j = 0; j < init->n; j++)
        if (init->derivative[j]) return 100.0 / init->T;
    return 0.0;
}

engine_outcome newton_matrix(initializer *init, bool reuse_derivatives)
{
    iteration *it = init->matrix;
    init->singular_variable = -1;
    init->eval->failure.callback = NULL;
    if (!reuse_derivatives) {
        it->jac.recheck = true; /* dF/dy' in full: it is a part of the matrix in its own right */
        iteration_status status =
            iteration_evaluate(it, init->call->t, init->y, init->yp, precondition_shift(init),
                               scales_difference_time(init), init->weights, init->f);
        if (status != ITERATION_OK) return from_iteration(init, status);
    }
    set_scales(init);
    iteration_status status = iteration_factor_columns(it, init->cy, init->cyp);
    if (status == ITERATION_SINGULAR) init->singular_variable = it->singular_column;
    init->kept = status == ITERATION_OK && !it->matrix_free ? it->factorings : 0;
    return from_iteration(init, status);
}

/* The factors are those of columns in the units of another point, which cy and cyp have: `scale`
 * takes a correction from those to the units of this one. */
bool newton_keeps_factors(initializer *init)
{
    const iteration *it = init->matrix;
    if (init->kept == 0 || init->kept != it->factorings || !it->factored || !it->by_columns)
        return false;
    init->T = scales_time(init, init->rate, init->y, init->yp);
    for (int j = 0; j < init->n; j++) {
        bool derivative = init->derivative[j];
        init->unit[j] =
            derivative ? scales_derivative_unit(init, j, init->yp[j]) : init->weights[j];
        init->scale[j] = (derivative ? init->cyp[j] : init->cy[j]) / init->unit[j];
    }
    return true;
}

/* What GMRES has left over is missing in dx: where that is beyond the tolerance, and as much as dx
 * itself, a small dx would tell of nothing but GMRES. */
static bool is_correction(const initializer *init, const double *dx)
{
    const double leftover = init->matrix->leftover;
    return leftover <= init->options->init_tolerance ||
           leftover <= 0.5 * vector_wrms(init->n, dx, init->scale);
}

engine_outcome newton_correction(initializer *init, const double *f, double *dx)
{
    linear_point here = {.t = init->call->t,
                         .y = init->y,
                         .yp = init->yp,
                         .f = init->f,
                         .scale = init->scale,
                         .tolerance =
                             init->options->krylov_tolerance * init->options->init_tolerance};
    init->eval->failure.callback = NULL;
    for (int j = 0; j < init->n; j++) dx[j] = -f[j];
    iteration_status status = iteration_solve(init->matrix, &here, dx);
    if (status == ITERATION_OK && !is_correction(init, dx)) status = ITERATION_RETRY;
    if (status != ITERATION_OK) return from_iteration(init, status);
    for (int j = 0; j < init->n; j++) dx[j] *= init->scale[j];
    return vector_finite(init->n, dx) ? ENGINE_MET : ENGINE_SINGULAR;
}

void newton_move(const initializer *init, double lambda, const double *dx)
{
    for (int j = 0; j < init->n; j++) {
        double step = lambda * dx[j] * init->unit[j];
        init->ynew[j] = init->y[j] + (init->derivative[j] ? 0.0 : step);
        init->ypnew[j] = init->yp[j] + (init->derivative[j] ? step : 0.0);
    }
    scales_settle(init, init->y, init->ynew);
}

/* Copy column j of the matrix of the unknowns, equilibrated below, into a dense one. */
static void dense_column(const initializer *init, int j, double *column)
{
    const jacobian *jac = &init->matrix->jac;
    const double *values = init->derivative[j] ? jac->dfdyp : jac->dfdy;
    matrix_column from = layout_column(&jac->layout, j);
    for (int k = 0; k < from.count; k++)
        column[column_row(&from, k)] = values[from.first + (size_t)k] * init->unit[j];
}

static void equilibrate(int n, double *A)
{
    for (int i = 0; i < n; i++) {
        double most = 0.0;
        for (int j = 0; j < n; j++) most = fmax(most, fabs(A[i + j * n]));
        for (int j = 0; j < n && most > 0.0; j++) A[i + j * n] /= most;
    }
    for (int j = 0; j < n; j++) {
        double most = fabs(A[j * n + vector_argmax(n, A + j * n, NULL)]);
        for (int i = 0; i < n && most > 0.0; i++) A[i + j * n] /= most;
    }
}

bool newton_full_rank(initializer *init)
{
    int n = init->n;
    if (n > RANK_TEST_LIMIT || init->matrix->matrix_free) return true;
    /* differences carry errors of sqrt(u), a user's derivatives of u */
    double rcond = init->eval->problem->form.jacobian ? 1e-13 : 1e-7;
    if (iteration_condition(init->matrix) > SURE * rcond) return true;
    vector_zero(n * n, init->rank_matrix);
    for (int j = 0; j < n; j++) dense_column(init, j, init->rank_matrix + j * n);
    equilibrate(n, init->rank_matrix);
    vector_zero(n, init->dxbar);
    if (!least_squares_solve(&init->rank, n, n, init->rank_matrix, init->dxbar, rcond)) return true;
    return init->rank.rank == n;
}

bool newton_at_roundoff(const initializer *init, const double *f)
{
    if (!init->rows.known) return false;
    for (int i = 0; i < init->n; i++)
        if (fabs(f[i]) > 4.0 * DBL_EPSILON * init->rows.roundoff[i]) return false;
    return true;
}

double newton_room(initializer *init, double stride, const double *dx)
{
    for (int j = 0; j < init->n; j++)
        init->ypnew[j] = init->derivative[j] ? 0.0 : stride * dx[j] * init->unit[j];
    return scales_bounds(init, init->y, init->ypnew, init->options->init_tolerance,
                         &init->blocking);
}

/* ---- as a source ---- */

/* New weights, matrix and factors at the iterate. */
static engine_outcome source_linearise(engine *e)
{
    initializer *init = e->user;
    scales_weights(init, init->y);
    engine_outcome outcome = newton_matrix(init, false);
    if (outcome == ENGINE_MET && init->test_rank && !newton_full_rank(init))
        outcome = ENGINE_SINGULAR;
    init->test_rank = false;
    return outcome;
}

static engine_outcome source_correction(engine *e, const double *f, double *dx)
{
    return newton_correction(e->user, f, dx);
}

static void source_move(engine *e, double lambda, const double *dx)
{
    newton_move(e->user, lambda, dx);
}

static engine_outcome source_evaluate(engine *e)
{
    const initializer *init = e->user;
    return engine_from(evaluate_residual(init->eval, init->call->t, init->ynew, init->ypnew,
                                         e->trial_r, &init->eval->stats->residuals));
}

static void source_take(engine *e)
{
    const initializer *init = e->user;
    vector_copy(init->n, init->ynew, init->y);
    vector_copy(init->n, init->ypnew, init->yp);
}

static engine_outcome source_met(engine *e, bool *met)
{
    *met = newton_at_roundoff(e->user, e->r);
    return ENGINE_MET;
}

static double source_room(engine *e, double stride, const double *dx)
{
    return newton_room(e->user, stride, dx);
}

/* Values that were consistent when they came are left as they were; else the bounds must allow all
 * of the last correction. */
static engine_outcome source_last(engine *e, double *dx)
{
    return e->taken > 0 && newton_room(e->user, 1.0, dx) >= 1.0 ? ENGINE_MET : ENGINE_STALLED;
}

static double source_value(engine *e, int j)
{
    const initializer *init = e->user;
    return (init->derivative[j] ? init->yp : init->y)[j] / init->unit[j];
}

static double source_unit(engine *e, int j)
{
    const initializer *init = e->user;
    return init->unit[j];
}

static const engine_source newton_source = {.linearise = source_linearise,
                                            .correction = source_correction,
                                            .move = source_move,
                                            .evaluate = source_evaluate,
                                            .take = source_take,
                                            .met = source_met,
                                            .room = source_room,
                                            .last = source_last,
                                            .value = source_value,
                                            .unit = source_unit};

/* From the iterate by Newton's method, or along a curve. */
static engine_outcome run(initializer *init, engine_outcome (*way)(engine *))
{
    engine e = {.source = &newton_source,
                .user = init,
                .n = init->n,
                .m = init->n,
                .counted = init->n,
                .r = init->f,
                .trial_r = init->fnew,
                .dx = init->dx,
                .next = init->dxbar,
                .tolerance = init->options->init_tolerance,
                .keep = keep_matrix_rate,
                .longest_stride = longest_stride,
                .remembers = true,
                .most = init->options->init_iterations};
    init->blocking = -1;
    init->rows.known = false;
    engine_outcome outcome = engine_from(evaluate_residual(
        init->eval, init->call->t, init->y, init->yp, init->f, &init->eval->stats->residuals));
    if (outcome == ENGINE_MET) outcome = way(&e);
    init->iterations = e.taken;
    init->tried += e.taken;
    init->eval->stats->newton_iterations += e.taken;
    return outcome;
}

engine_outcome damped_newton(initializer *init)
{
    return run(init, engine_solve);
}

/* Full corrections with the factors at hand from dx on, as long as each is less than half of the
 * one before it: what does not shrink so is rounding. */
static void correct(initializer *init)
{
    enum { MOST = 6 };
    double size = newton_norm(init->n, init->dx);
    for (int k = 0; k < MOST && size > 0.0 && newton_room(init, 1.0, init->dx) >= 1.0; k++) {
        newton_move(init, 1.0, init->dx);
        eval_status status = evaluate_residual(init->eval, init->call->t, init->ynew, init->ypnew,
                                               init->fnew, &init->eval->stats->residuals);
        if (status != EVAL_OK || newton_correction(init, init->fnew, init->dxbar) != ENGINE_MET)
            return;
        double next = newton_norm(init->n, init->dxbar);
        if (!(next < 0.5 * size)) return;
        size = next;
        vector_copy(init->n, init->ynew, init->y);
        vector_copy(init->n, init->ypnew, init->yp);
        vector_copy(init->n, init->dxbar, init->dx);
    }
}

void newton_polish(initializer *init)
{
    eval_status status = evaluate_residual(init->eval, init->call->t, init->y, init->yp, init->f,
                                           &init->eval->stats->residuals);
    if (status != EVAL_OK || newton_matrix(init, false) != ENGINE_MET) return;
    if (newton_correction(init, init->f, init->dx) == ENGINE_MET) correct(init);
}

engine_outcome followed_newton(initializer *init)
{
    return run(init, engine_follow);
}

static engine_outcome deflated(engine *e)
{
    const initializer *init = e->user;
    return engine_deflated(e, init->deflation);
}

engine_outcome deflated_newton(initializer *init, const deflation *known)
{
    init->deflation = known;
    engine_outcome outcome = run(init, deflated);
    init->deflation = NULL;
    return outcome;
}
