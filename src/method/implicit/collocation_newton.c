#include "method/implicit/collocation_newton.h"

#include "base/vector.h"
#include "base/wide.h"
#include "matrix/shifted.h"
#include "method/common/stages.h"

#include <float.h>

/* Updates of the matrix make every correction faster than the one before by about this. */
static const double RATE_IMPROVES = 0.85;
/* Beyond it an update tells more of noise and curvature than of the matrix. */
static const double LARGEST_UPDATE = 0.5;
/* A first contraction that is worse may be that of algebraic variables alone, as long as it is
 * below the second number. */
static const double TRANSIENT = 0.1, MOST_TRANSIENT = 10.0;
/* The slowest rate that a variable is taken to have by itself, one at which as much is left as the
 * last correction has, and what it may be off by. */
static const double SLOWEST_OWN = 0.5, MOST_OWN = 0.1;

/* Vectors of doubles at p; elements need no alignment */
#define TWO(p) (*(two *)(void *)(p))
#define FOUR(p) (*(four *)(void *)(p))
#define TWO_OF(p) (*(const two *)(const void *)(p))
#define FOUR_OF(p) (*(const four *)(const void *)(p))

/* z = x + y */
static inline void add_vectors(int n, const double *restrict x, const double *restrict y,
                               double *restrict z)
{
    int j = 0;
    for (; j + 1 < n; j += 2) TWO(z + j) = TWO_OF(x + j) + TWO_OF(y + j);
    if (j < n) z[j] = x[j] + y[j];
}

/* point = y + Z_i, within the bounds: F need not exist outside */
static inline void collocation_point(const collocation_step *step, const method_context *ctx, int i)
{
    add_vectors(ctx->n, step->y, step->Z + (size_t)i * (size_t)ctx->n, step->point);
    stages_clamp(&ctx->eval->problem->form, step->point);
}

double collocation_within_bounds(const collocation_step *step, const method_context *ctx,
                                 double *first_h)
{
    const dae_residual *form = &ctx->eval->problem->form;
    double part = 1.0;
    if (!form->lower_bounds && !form->upper_bounds) return part;
    bound_slack slack = stages_slack(ctx->norm, step->h, first_h);
    for (int i = 0; i < step->m->stages; i++) {
        const double *Z = step->Z + (size_t)i * (size_t)ctx->n;
        for (int j = 0; j < ctx->n; j++) step->point[j] = step->y[j] + Z[j];
        stages_within_bounds(form, slack, step->m->nodes[i], step->y, step->point, &part,
                             &ctx->newton->bound_variable);
    }
    return part;
}

/* ---- matrices ---- */

static stage_matrices at_hand(const stage_task *k)
{
    const collocation_step *step = k->scratch;
    const iteration *it = k->ctx->newton->matrix;
    const struct shifted *f = it->shifted;
    if (!it->jac.valid) return STAGE_NOTHING;
    bool fit = f && f->h == step->h && f->stages == step->m->stages &&
               f->evaluations == it->evaluations && it->factored && !it->by_columns &&
               it->cj == step->m->gamma / step->h;
    return fit ? STAGE_FACTORS : STAGE_DERIVATIVES;
}

/* V = A^-1 Z/h, the slopes of the stages */
static void find_slopes(const collocation_step *step, int n)
{
    const int s = step->m->stages;
    collocation_combine(s, s, n, 1.0 / step->h, step->m->inverse, step->Z, step->V);
}

static iteration_status evaluate(const stage_task *k, bool ahead)
{
    const collocation_step *step = k->scratch;
    const collocation *m = step->m;
    const int middle = (m->stages - 1) / 2, n = k->ctx->n;
    const double cj = m->gamma / step->h, *weights = k->ctx->norm->weights;
    iteration *it = k->ctx->newton->matrix;
    if (!ahead)
        return iteration_evaluate(it, step->from, step->y, step->yp, cj, step->h, weights, NULL);
    find_slopes(step, n);
    collocation_point(step, k->ctx, middle);
    return iteration_evaluate(it, step->from + m->nodes[middle] * step->h, step->point,
                              step->V + (size_t)middle * (size_t)n, cj, step->h, weights, NULL);
}

/* Stored values a column of the factors, over 3: the work of a factorisation over that of a
 * solution, exact for large dense matrices. (A real matrix alone takes those of its own.) */
static double factor_cost(const iteration *it)
{
    const matrix_layout *layout = &it->jac.layout;
    const linear_solver *first = it->shifted->solver[0];
    const double values = first ? (double)first->ops->values(first) : 0.0;
    return fmax(values, (double)layout->count) / (3.0 * layout->n);
}

/* One real factorisation, which the error estimate needs in any case, and one for every pair. */
static iteration_status factor(const stage_task *k)
{
    collocation_step *step = k->scratch;
    const collocation *m = step->m;
    iteration *it = k->ctx->newton->matrix;
    double shift[2 * COLLOCATION_PAIRS];
    if (!shifted_prepare(it, m->pairs)) return ITERATION_MEMORY;
    struct shifted *f = it->shifted;
    f->stages = 0;
    for (int p = 0; p < 2 * m->pairs; p++) shift[p] = m->pair[p] / step->h;
    iteration_status status = shifted_factor_all(it, m->gamma / step->h, m->pairs, shift);
    if (status != ITERATION_OK) return status;
    f->h = step->h;
    f->stages = m->stages;
    f->evaluations = it->evaluations;
    step->factor_cost = factor_cost(it);
    return ITERATION_OK;
}

/* V := transformed matrices^-1 V, with two real systems or none; work has n values */
static iteration_status solve_one_by_one(const collocation_step *step, iteration *it, int n,
                                         double *work)
{
    const collocation *m = step->m;
    double *V = step->V;
    iteration_status status = ITERATION_OK;
    for (int r = 0; r < m->reals && status == ITERATION_OK; r++, V += n) {
        if (r > 0) { /* V_1 -= gamma/h dF/dy' V_0 */
            status = iteration_apply_yp(it, NULL, V - n, work);
            vector_axpy(n, -m->gamma / step->h, work, V);
        }
        if (status == ITERATION_OK) status = iteration_solve(it, NULL, V);
    }
    for (int p = 0; p < m->pairs && status == ITERATION_OK; p++, V += 2 * n)
        shifted_solve(it, p, V, V + n);
    return status;
}

/* V_r -= 1/h dF/dy' sum over the columns behind block k of above_rj V_j; R is free, and work */
static iteration_status subtract_above(const collocation_step *step, iteration *it, int n, int r,
                                       int behind)
{
    const int s = step->m->stages;
    if (behind == s) return ITERATION_OK;
    collocation_combine(1, s - behind, n, 1.0 / step->h, step->m->blocks->above[r] + behind,
                        step->V + (size_t)behind * (size_t)n, step->R);
    iteration_status status = iteration_apply_yp(it, NULL, step->R, step->point);
    vector_axpy(n, -1.0, step->point, step->V + (size_t)r * (size_t)n);
    return status;
}

/* The same for tables of the user, whose matrices are block triangular: from the last block on. */
static iteration_status solve_blocks(const collocation_step *step, iteration *it, int n)
{
    const collocation_blocks *b = step->m->blocks;
    iteration_status status = ITERATION_OK;
    for (int k = b->count - 1, end = step->m->stages; k >= 0 && status == ITERATION_OK; k--) {
        const int first = end - b->rows[k];
        double *V = step->V + (size_t)first * (size_t)n;
        for (int r = first; r < end && status == ITERATION_OK; r++)
            status = subtract_above(step, it, n, r, end);
        if (status != ITERATION_OK) break;
        if (b->rows[k] == 1) vector_zero(n, step->R); /* the imaginary part of a real number */
        if (b->shift[k] < 0)
            status = iteration_solve(it, NULL, V);
        else
            shifted_solve(it, b->shift[k], V, b->rows[k] == 2 ? V + n : step->R);
        end = first;
    }
    return status;
}

/* ---- iteration ---- */

static double time_of_stage(const collocation_step *step, int i)
{
    const double c = step->m->nodes[i];
    return c == 1.0 ? step->t : step->from + c * step->h;
}

/* The same as below for few values: all stages in one pass */
static attempt_status residuals_of_few(const stage_task *k)
{
    collocation_step *step = k->scratch;
    const dae_residual *form = &k->ctx->eval->problem->form;
    const int s = step->m->stages, n = k->ctx->n;
    double t[COLLOCATION_STAGES];
    int failed = 0;
    add_vectors(s * n, step->begin, step->Z, step->points);
    for (int i = 0; i < s; i++) {
        t[i] = time_of_stage(step, i);
        stages_clamp(form, step->points + i * n);
    }
    eval_status status =
        evaluate_residuals(k->ctx->eval, s, t, step->points, step->V, step->R, &failed);
    k->result->stage = status == EVAL_OK ? 0 : failed + 1;
    return stages_from_evaluation(status);
}

/* R_i = F(t + c_i h, y + Z_i, Y'_i) */
static attempt_status residuals(const stage_task *k)
{
    const collocation_step *step = k->scratch;
    const size_t n = (size_t)k->ctx->n;
    evaluator *eval = k->ctx->eval;
    find_slopes(step, k->ctx->n);
    if (step->scale == step->flat) return residuals_of_few(k);
    for (int i = 0; i < step->m->stages; i++) {
        collocation_point(step, k->ctx, i);
        k->result->stage = i + 1;
        eval_status status =
            evaluate_residual(eval, time_of_stage(step, i), step->point, step->V + (size_t)i * n,
                              step->R + (size_t)i * n, &eval->stats->residuals);
        if (status != EVAL_OK) return stages_from_evaluation(status);
    }
    k->result->stage = 0;
    return ATTEMPT_OK;
}

/* sum over rows of <X, Y> in the weights of the iteration */
DAE_INLINE double product(const collocation_step *step, const double *X, const double *Y)
{
    const int n = step->width;
    const double *s = step->scale;
    double sum = 0.0;
    for (int i = 0; i < step->rows; i++, X += n, Y += n) {
        four part = {0.0, 0.0, 0.0, 0.0};
        int j = 0;
        for (; j + 3 < n; j += 4)
            part += (FOUR_OF(X + j) * FOUR_OF(s + j)) * (FOUR_OF(Y + j) * FOUR_OF(s + j));
        for (; j < n; j++) sum += (X[j] * s[j]) * (Y[j] * s[j]);
        sum += (part[0] + part[1]) + (part[2] + part[3]);
    }
    return sum;
}

/* Y += a X */
DAE_INLINE void add_times(int count, double a, const double *restrict X, double *restrict Y)
{
    int j = 0;
    for (; j + 3 < count; j += 4) FOUR(Y + j) += a * FOUR_OF(X + j);
    for (; j < count; j++) Y[j] += a * X[j];
}

/* Broyden's updates of the inverse matrix, applied to the simplified correction D in place, as in
 * the algorithm QNERR of [Deu11 2.1.4]: after the corrections D_0 .. D_k
 *   D += <D, D_(i-1)>/|D_(i-1)|^2 D_i, i = 1 .. k;  D /= 1 - <D, D_k>/|D_k|^2
 * They cost no evaluation and save one iteration in six to ten. The first ones are kept. */
DAE_INLINE void accelerate(const collocation_step *step, double *restrict D)
{
    const int count = step->rows * step->width;
    const bool last_kept = step->newton.iterations == step->past_count;
    for (int i = 0; i < step->past_count - !last_kept; i++) {
        double a = product(step, D, step->past[i]) / step->past_size[i];
        if (i + 1 < step->past_count) {
            add_times(count, a, step->past[i + 1], D);
        } else if (fabs(a) < LARGEST_UPDATE) {
            const double stretch = 1.0 / (1.0 - a);
            for (int j = 0; j < count; j++) D[j] *= stretch;
        }
    }
}

/* The correction D, updated if that is asked for; Z += D; sum ||D_i||^2 n in the weights of the
 * iteration */
DAE_WIDE static double apply(const collocation_step *step, bool updated, double *restrict D,
                             double *restrict Z)
{
    if (updated && step->past_count > 0) accelerate(step, D);
    add_times(step->rows * step->width, 1.0, D, Z);
    return product(step, D, D);
}

/* sum_i ||D_i||^2 n by the caller's norm */
static double squares_by_user(const error_norm *norm, int s, const double *D)
{
    double sum = 0.0;
    for (int i = 0; i < s; i++) {
        double size = norm_of(norm, D + (size_t)i * (size_t)norm->n, norm->newton);
        sum += size * size * norm->n;
    }
    return sum;
}

/* Keep the correction in R, whose square is given, for the next ones: blocks change places. */
static void remember(collocation_step *step, const error_norm *norm, double square)
{
    step->D = step->R;
    if (step->past_count == COLLOCATION_PAST || !(square > 0.0) || norm->user_norm) return;
    step->R = step->past[step->past_count];
    step->past[step->past_count] = step->D;
    step->past_size[step->past_count++] = square;
}

/* One correction: D = -T Lambda-solve T^-1 R, Z += D, its norm in *size. */
static attempt_status correct(const stage_task *k, double *size)
{
    collocation_step *step = k->scratch;
    const collocation *m = step->m;
    const int s = m->stages, n = k->ctx->n;
    iteration *it = k->ctx->newton->matrix;
    attempt_status status = residuals(k);
    if (status != ATTEMPT_OK) return status;
    collocation_combine(s, s, n, -1.0, m->T_inverse, step->R, step->V);
    status = stages_from_iteration(m->blocks       ? solve_blocks(step, it, n)
                                   : m->reals == 1 ? shifted_solve_all(it, m->pairs, step->V)
                                                   : solve_one_by_one(step, it, n, step->point));
    if (status != ATTEMPT_OK) return status;
    collocation_combine(s, s, n, 1.0, m->T, step->V, step->R);
    double square = apply(step, !k->newton->patient, step->R, step->Z);
    if (k->ctx->norm->user_norm) square = squares_by_user(k->ctx->norm, s, step->R);
    remember(step, k->ctx->norm, square);
    *size = sqrt(square / (s * n));
    return ATTEMPT_OK;
}

static void begin(const stage_task *k)
{
    collocation_step *step = k->scratch;
    step->past_count = 0;
}

/* The largest correction, for diagnostics. */
static void blame(const stage_task *k)
{
    const collocation_step *step = k->scratch;
    const error_norm *norm = k->ctx->norm;
    double most = -1.0;
    for (int i = 0; i < step->m->stages; i++) {
        const double *D = step->D + (size_t)i * (size_t)norm->n;
        double size = norm_of(norm, D, norm->newton);
        if (size <= most) continue;
        most = size;
        k->result->stage = i + 1;
        vector_copy(norm->n, D, k->ctx->newton->delta);
    }
}

/* sum over stages and differential variables of D^2, in the weights of the iteration */
static double differential_part(const error_norm *norm, int stages, const double *D)
{
    double sum = 0.0;
    for (int i = 0; i < stages; i++, D += norm->n)
        for (int j = 0; j < norm->n; j++) {
            double x = norm->kinds[j] == DAE_KIND_DIFFERENTIAL ? D[j] * norm->newton[j] : 0.0;
            sum += x * x;
        }
    return sum;
}

/* Where y' of differential variables stands in equations for algebraic ones with coefficients that
 * change along the step, G(y) y' + .. = 0, the second correction of these is as large as the first
 * one of y, for any h: the first quotient then says nothing of the iteration. */
static bool is_transient(const stage_task *k, double quotient)
{
    const collocation_step *step = k->scratch;
    const error_norm *norm = k->ctx->norm;
    if (!(quotient > TRANSIENT && quotient < MOST_TRANSIENT)) return false;
    if (!norm->kinds || step->past_count < 2) return false;
    double first = differential_part(norm, step->m->stages, step->past[0]);
    double second = differential_part(norm, step->m->stages, step->past[1]);
    return second <= TRANSIENT * TRANSIENT * first;
}

/* sum over stages of D_j^2 for variable j */
static double square_of(int stages, const double *D, int n, int j)
{
    double sum = 0.0;
    for (int i = 0; i < stages; i++) sum += D[i * n + j] * D[i * n + j];
    return sum;
}

/* Whether the iteration error is small also if every variable goes on at its own rate, that of its
 * last two corrections: ||r_j / (1 - r_j) D_j|| <= MOST_OWN. Variables that enter linearly, as
 * functions of t do, come right at once from any prediction; next to them the corrections of others
 * look small, and theirs may be slow. Nothing is said where corrections are not kept any more. */
static bool settled(const stage_task *k)
{
    const collocation_step *step = k->scratch;
    const error_norm *norm = k->ctx->norm;
    const int last = step->past_count - 1, n = norm->n, s = step->m->stages;
    const double most = MOST_OWN * MOST_OWN * s * n;
    double sum = 0.0;
    if (last < 1 || step->newton.iterations != step->past_count || k->newton->patient) return true;
    if (step->past_size[last] <= most) return true; /* at the slowest rate, for all */
    for (int j = 0; j < n; j++) {
        double now = square_of(s, step->past[last], n, j);
        double before = square_of(s, step->past[last - 1], n, j);
        double rate = now < before ? fmin(sqrt(now / before), SLOWEST_OWN) : SLOWEST_OWN;
        double rest = rate / (1.0 - rate) * norm->newton[j];
        sum += rest * rest * now;
    }
    return sum <= most;
}

/* The last stage, and its slope in V */
static void last_stage(const stage_task *k, iteration_end *end)
{
    const collocation_step *step = k->scratch;
    const int s = step->m->stages, n = k->ctx->n;
    collocation_combine(1, s, n, 1.0 / step->h, step->m->inverse + (s - 1) * s, step->Z, step->V);
    collocation_point(step, k->ctx, s - 1);
    end->t = time_of_stage(step, s - 1);
    end->y = step->point;
    end->yp = step->V;
    end->point = step->past[0];
    end->slope = step->past[1];
}

static const stage_equations equations = {.at_hand = at_hand,
                                          .evaluate = evaluate,
                                          .factor = factor,
                                          .begin = begin,
                                          .correct = correct,
                                          .settled = settled,
                                          .is_transient = is_transient,
                                          .last_stage = last_stage,
                                          .blame = blame};

/* Rows and weights for norms and products of stages, and y for their points */
static void spread(collocation_step *step, const error_norm *norm)
{
    const int s = step->m->stages, n = norm->n;
    const bool flat = s * n <= COLLOCATION_FLAT;
    step->rows = flat ? 1 : s;
    step->width = flat ? s * n : n;
    step->scale = flat ? step->flat : norm->newton;
    for (int j = 0; flat && j < n; j++)
        for (int i = j; i < s * n; i += n) {
            step->flat[i] = norm->newton[j];
            step->begin[i] = step->y[j];
        }
}

stage_task collocation_task(collocation_step *step, const method_context *ctx, attempt *result,
                            double kappa, double noise, int usual)
{
    stage_newton *nw = &step->newton;
    norm_set_step(ctx->norm, step->h);
    spread(step, ctx->norm);
    const bool alone = stages_alone(ctx);
    nw->most = newton_most(ctx->newton, alone ? 4 * usual : usual);
    /* Multipliers of index 3 need a second correction to come right, as large as the first. */
    nw->first = ctx->norm->newton != ctx->norm->scale ? 2 : 1;
    nw->kappa = kappa;
    nw->noise = noise;
    double size = norm_of(ctx->norm, step->y, ctx->norm->newton);
    nw->floor = stage_newton_round_off(size);
    nw->rounding = alone ? sqrt(DBL_EPSILON) * size : 0.0;
    nw->improves = RATE_IMPROVES;
    return (stage_task){.equations = &equations,
                        .newton = nw,
                        .scratch = step,
                        .ctx = ctx,
                        .result = result,
                        .stages = step->Z,
                        .predicted = step->predicted,
                        .count = step->m->stages * ctx->n};
}
