/* Damped Newton iteration for n unknowns, y_j or y'_j each, with the error oriented control of
 * [Deu11 3.3]: the natural monotonicity test sees corrections, never residuals, so that neither the
 * scaling nor the mixing of equations changes a single decision. */
#include <float.h>

#include "base/vector.h"
#include "init/workspace.h"

static const double least_damping = 1e-12;  /* exponentials overshoot by many powers of ten */
static const double keep_matrix_rate = 0.2; /* full steps that contract so need no new matrix: three
                                               more of them reach the tolerance from 1 */

/* Full steps whose corrections do not get shorter from one matrix to the next: far out on an
 * exponential each covers one unit of its argument, however far the solution is. Then steps are
 * doubled for as long as that goes on. */
static const double as_long_as_before = 0.6;
static const double longest_stride = 1e6;

static damped_status from_iteration(const initializer *init, iteration_status status)
{
    bool of_callback = init->eval->failure.callback;
    switch (status) {
    case ITERATION_OK: return DAMPED_OK;
    case ITERATION_SINGULAR: return DAMPED_SINGULAR;
    case ITERATION_STOP: return DAMPED_STOP;
    case ITERATION_MEMORY: return DAMPED_MEMORY;
    case ITERATION_RETRY: break;
    }
    return of_callback ? DAMPED_EVALUATION : DAMPED_LINEAR;
}

static damped_status from_evaluation(eval_status status)
{
    if (status == EVAL_OK) return DAMPED_OK;
    return status == EVAL_STOP ? DAMPED_STOP : DAMPED_EVALUATION;
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
static void set_scales(initializer *init, double h)
{
    const iteration *it = init->matrix;
    bool stored = !it->matrix_free && it->jac.valid;
    double rate = stored ? scales_rate(&it->jac.layout, it->jac.dfdy, it->jac.dfdyp, init->weights,
                                       init->ynew, init->ypnew)
                         : 0.0;
    init->T = scales_time(init, h, rate, init->y, init->yp);
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

damped_status newton_matrix(initializer *init, double t, double h, bool reuse_derivatives)
{
    iteration *it = init->matrix;
    init->singular_variable = -1;
    init->eval->failure.callback = NULL;
    if (!reuse_derivatives) {
        it->jac.recheck = true; /* dF/dy' in full: it is a part of the matrix in its own right */
        iteration_status status =
            iteration_evaluate(it, t, init->y, init->yp, precondition_shift(init),
                               scales_difference_time(init, h), init->weights, init->f);
        if (status != ITERATION_OK) return from_iteration(init, status);
    }
    set_scales(init, h);
    iteration_status status = iteration_factor_columns(it, init->cy, init->cyp);
    if (status == ITERATION_SINGULAR) init->singular_variable = it->singular_column;
    return from_iteration(init, status);
}

damped_status newton_correction(initializer *init, double t, const double *f, double *dx)
{
    linear_point here = {.t = t,
                         .y = init->y,
                         .yp = init->yp,
                         .f = init->f,
                         .scale = init->scale,
                         .tolerance =
                             init->options->krylov_tolerance * init->options->init_tolerance};
    init->eval->failure.callback = NULL;
    for (int j = 0; j < init->n; j++) dx[j] = -f[j];
    iteration_status status = iteration_solve(init->matrix, &here, dx);
    if (status != ITERATION_OK) return from_iteration(init, status);
    for (int j = 0; j < init->n; j++) dx[j] *= init->scale[j];
    return vector_finite(init->n, dx) ? DAMPED_OK : DAMPED_SINGULAR;
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
    vector_zero(n * n, init->rank_matrix);
    for (int j = 0; j < n; j++) dense_column(init, j, init->rank_matrix + j * n);
    equilibrate(n, init->rank_matrix);
    vector_zero(n, init->dxbar);
    /* differences carry errors of sqrt(u), a user's derivatives of u */
    double rcond = init->eval->problem->form.jacobian ? 1e-13 : 1e-7;
    if (!least_squares_solve(&init->rank, n, n, init->rank_matrix, init->dxbar, rcond)) return true;
    return init->rank.rank == n;
}

/* Whether every |F_i| is within the noise of its own evaluation. */
static bool at_roundoff(const initializer *init, const double *f)
{
    if (!init->rows.known) return false;
    for (int i = 0; i < init->n; i++)
        if (fabs(f[i]) > 4.0 * DBL_EPSILON * init->rows.roundoff[i]) return false;
    return true;
}

static damped_status evaluate_new(initializer *init, double t)
{
    return from_evaluation(evaluate_residual(init->eval, t, init->ynew, init->ypnew, init->fnew,
                                             &init->eval->stats->residuals));
}

/* The trial point becomes the iterate. */
static void adopt(initializer *init)
{
    vector_copy(init->n, init->ynew, init->y);
    vector_copy(init->n, init->ypnew, init->yp);
    vector_copy(init->n, init->fnew, init->f);
}

double newton_room(initializer *init, const double *dx)
{
    for (int j = 0; j < init->n; j++)
        init->ypnew[j] = init->derivative[j] ? 0.0 : dx[j] * init->unit[j];
    return scales_bounds(init, init->y, init->ypnew, init->options->init_tolerance,
                         &init->blocking);
}

/* Add a last correction below the tolerance where the bounds allow all of it. */
static void finish(initializer *init, const double *dx)
{
    if (newton_room(init, dx) < 1.0) return;
    newton_move(init, 1.0, dx);
    vector_copy(init->n, init->ynew, init->y);
    vector_copy(init->n, init->ypnew, init->yp);
}

/* The damping factor that the curvature seen on the trial step suggests [Deu11 (3.48)]. */
static double damping_from_curvature(const initializer *init, double lambda, double norm)
{
    double sum = 0.0;
    for (int j = 0; j < init->n; j++) {
        double bend = init->dxbar[j] - (1.0 - lambda) * init->dx[j];
        sum += bend * bend;
    }
    double bend = sqrt(sum / init->n);
    return bend > 0.0 ? 0.5 * norm * lambda * lambda / bend : 1.0;
}

typedef struct search_result {
    double lambda, rate; /* accepted damping; ||dxbar||/||dx|| */
    double next_lambda;  /* suggestion for the next iteration */
} search_result;

/* Whether the correction has shrunk enough for a step with this damping: 1 - lambda/4, and 1/2 for
 * steps longer than Newton's. */
static bool accepts(double lambda, double rate)
{
    return rate <= (lambda > 1.0 ? 0.5 : 1.0 - lambda / 4.0);
}

/* Find lambda with ||dxbar(lambda)|| <= (1 - lambda/4) ||dx||; (ynew, ypnew, fnew), dxbar follow.
 */
static damped_status search(initializer *init, double t, double norm, double lambda,
                            search_result *found)
{
    damped_status last = DAMPED_STALLED;
    for (; lambda >= least_damping;) {
        newton_move(init, lambda, init->dx);
        damped_status status = evaluate_new(init, t);
        if (status == DAMPED_OK) status = newton_correction(init, t, init->fnew, init->dxbar);
        if (status == DAMPED_STOP || status == DAMPED_MEMORY) return status;
        if (status != DAMPED_OK) {
            last = status;
            lambda *= 0.25;
            continue;
        }
        last = DAMPED_STALLED;
        double rate = newton_norm(init->n, init->dxbar) / norm;
        double next = damping_from_curvature(init, lambda, norm);
        if (accepts(lambda, rate)) {
            *found = (search_result){lambda, rate, fmin(1.0, fmax(next, 4.0 * lambda))};
            return DAMPED_OK;
        }
        lambda = fmin(fmax(next, 0.1 * lambda), 0.5 * lambda);
    }
    return last;
}

/* New weights, matrix and correction at the iterate. */
static damped_status relinearise(initializer *init, double t, double h, const double *given)
{
    scales_weights(init, given, init->y, init->weights);
    damped_status status = newton_matrix(init, t, h, false);
    if (status == DAMPED_OK && init->test_rank && !newton_full_rank(init)) status = DAMPED_SINGULAR;
    init->test_rank = false;
    return status == DAMPED_OK ? newton_correction(init, t, init->f, init->dx) : status;
}

/* lambda, or the part of it that the bounds allow for dx */
static double allowed_step(initializer *init, double lambda)
{
    double stride = fmax(lambda, 1.0);
    for (int j = 0; j < init->n; j++) init->dxbar[j] = stride * init->dx[j];
    return fmin(lambda, stride * newton_room(init, init->dxbar));
}

/* A step longer than Newton's overshoots where the equations are linear: dxbar takes that back. */
static damped_status settle_stride(initializer *init, double t)
{
    if (newton_room(init, init->dxbar) < 1.0) return DAMPED_OK;
    newton_move(init, 1.0, init->dxbar);
    damped_status status = evaluate_new(init, t);
    if (status == DAMPED_OK) adopt(init);
    return status == DAMPED_EVALUATION ? DAMPED_OK : status;
}

/* One Newton iteration from dx; tells whether it ended the solve. */
static damped_status iterate(initializer *init, double t, double *lambda, bool *fresh, bool *done)
{
    double norm = newton_norm(init->n, init->dx), tolerance = init->options->init_tolerance;
    *done = norm <= tolerance || at_roundoff(init, init->f);
    if (*done) {
        /* values that were consistent when they came are left as they were */
        if (init->iterations > 0) finish(init, init->dx);
        return DAMPED_OK;
    }
    search_result found;
    damped_status status = search(init, t, norm, allowed_step(init, *lambda), &found);
    if (status != DAMPED_OK) return status;
    adopt(init);
    init->iterations++;
    init->tried++;
    init->eval->stats->newton_iterations++;
    if (found.lambda > 1.0) status = settle_stride(init, t);
    *lambda = found.lambda > 1.0 ? found.lambda : found.next_lambda;
    *fresh = found.lambda != 1.0 || found.rate > keep_matrix_rate;
    *done = found.lambda == 1.0 && found.rate * norm <= tolerance;
    if (*done)
        finish(init, init->dxbar);
    else if (!*fresh)
        vector_copy(init->n, init->dxbar, init->dx);
    return status;
}

damped_status damped_newton(initializer *init, double t, double h, const double *given_weights)
{
    bool fresh = true, done = false, retried = false;
    double lambda = 1.0, norm = 0.0;
    init->iterations = 0;
    init->blocking = -1;
    init->rows.known = false;
    damped_status status = from_evaluation(evaluate_residual(
        init->eval, t, init->y, init->yp, init->f, &init->eval->stats->residuals));
    if (status != DAMPED_OK) return status;
    for (int k = 0; k < init->options->init_iterations; k++) {
        status = fresh ? relinearise(init, t, h, given_weights) : DAMPED_OK;
        if (status != DAMPED_OK) return status;
        if (fresh) {
            double before = norm;
            norm = newton_norm(init->n, init->dx);
            bool strides = lambda >= 1.0 && norm >= as_long_as_before * before && before > 0.0;
            lambda = strides ? fmin(2.0 * lambda, longest_stride) : fmin(lambda, 1.0);
        }
        bool was_fresh = fresh;
        status = iterate(init, t, &lambda, &fresh, &done);
        if (status == DAMPED_STALLED && !was_fresh && !retried) {
            fresh = retried = true; /* an old matrix is to blame first */
            lambda = 1.0;
            continue;
        }
        if (status != DAMPED_OK || done) return status;
        retried = false;
    }
    return DAMPED_STALLED;
}
