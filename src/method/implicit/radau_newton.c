/* Simplified Newton for the collocation equations, in transformed variables [HW96 IV.8].
 *
 *   R_i = F(t + c_i h, y + Z_i, (A^-1 Z)_i / h) = 0
 *   (I x dF/dy + A^-1/h x dF/dy') D = -R
 * With A^-1 = T Lambda T^-1 and V = T^-1 D this falls apart into one real system of shift gamma/h
 * and a complex one for every pair (a + i b)/h. */
#include "method/implicit/radau_parts.h"

#include <float.h>

#include "base/vector.h"
#include "matrix/shifted.h"

/* The iteration error may be this part of the tolerance, and less where that is loose. RADAU has
 * 0.02 to 0.03 in these units; the work at equal error is the same from 0.002 to 0.02, but at loose
 * tolerances iteration errors are large beside variables that are small by themselves: of 100 runs
 * of Robertson's problem with rtol = 1e-2 .. 1e-5, 11 leave the positive solution with 0.005
 * throughout, and 2 in this way. */
static const double KAPPA = 0.005, KAPPA_LEAST = 0.001, KAPPA_FULL = 1e-5;
static const double SLOWEST_RATE = 0.99, BEST_OLD_ETA = 0.02;
static const double ROUND_OFF = 100.0 * DBL_EPSILON;
/* The largest error of a prediction that is trusted with partial derivatives, in units of the error
 * test. */
static const double MOST_SURPRISE = 1e5;
/* Updates of the matrix make every correction faster than the one before by about this. */
static const double RATE_IMPROVES = 0.85;
/* Beyond it an update tells more of noise and curvature than of the matrix. */
static const double LARGEST_UPDATE = 0.5;
/* Failures in one step before matrices are renewed within any iteration, how often, and the slowest
 * iteration with which that is tried; before, steps up to MODEST times the last one may, if they
 * converge at all. Over 13 problems this saves 5 % of the evaluations, half of them on a pendulum
 * at 10 digits; for larger steps too it costs accuracy (HIRES). */
enum { PATIENCE = 2, MOST_RENEWALS = 5, EARLY_RENEWALS = 3 };
static const double MOST_RATE_TO_RENEW = 2.0, MODEST = 1.5;
/* A first contraction that is worse may be that of algebraic variables alone, as long as it is
 * below the second number. */
static const double TRANSIENT = 0.1, MOST_TRANSIENT = 10.0;
/* With current matrices a correction that small which does not shrink is noise of F; where
 * tolerances are loose (KAPPA_FULL) less. */
static const double NOISE = 0.1;
/* The slowest rate that a variable is taken to have by itself. */
static const double SLOWEST_OWN = 0.5;

/* ---- matrices ------------------------------------------------------------------------------- */

static attempt_status from_iteration(iteration_status status)
{
    switch (status) {
    case ITERATION_OK: return ATTEMPT_OK;
    case ITERATION_RETRY: return ATTEMPT_EVALUATION;
    case ITERATION_SINGULAR: return ATTEMPT_SINGULAR;
    case ITERATION_STOP: return ATTEMPT_STOP;
    case ITERATION_MEMORY: break;
    }
    return ATTEMPT_MEMORY;
}

/* point = y + Z_i, within the bounds: F need not exist outside */
static void stage_point(const radau_state *s, const radau_scratch *w, const dae_residual *form,
                        int i)
{
    const int n = form->n;
    const double *Z = w->Z + (size_t)i * (size_t)n;
    for (int j = 0; j < n; j++) w->point[j] = s->y[j] + Z[j];
    if (form->lower_bounds)
        for (int j = 0; j < n; j++) w->point[j] = fmax(w->point[j], form->lower_bounds[j]);
    if (form->upper_bounds)
        for (int j = 0; j < n; j++) w->point[j] = fmin(w->point[j], form->upper_bounds[j]);
}

/* Whether the prediction is worth partial derivatives: where it is far off they may be far too
 * large (exponentials), so that corrections and estimates come out too small. The last prediction
 * was wrong by s->surprise in units of the error test. */
static bool prediction_trusted(const radau_state *s, const radau_scratch *w)
{
    if (w->interpolates && !w->distrusted) return true;
    if (!s->m || w->tries > 1 || w->distrusted) return false;
    double expected = s->surprise, ratio = fabs(w->h / s->accepted_h);
    for (int k = 0; k <= w->m->stages && ratio > 1.0; k++) expected *= ratio;
    return expected <= MOST_SURPRISE;
}

/* Partial derivatives at the middle stage as it is now */
static iteration_status evaluate_here(const radau_state *s, radau_scratch *w,
                                      const method_context *ctx)
{
    const collocation *m = w->m;
    const int middle = (m->stages - 1) / 2, n = ctx->n;
    radau_transform(m->stages, n, 1.0 / w->h, m->inverse, w->Z, w->V);
    stage_point(s, w, &ctx->eval->problem->form, middle);
    return iteration_evaluate(ctx->newton->matrix, s->t + m->nodes[middle] * w->h, w->point,
                              w->V + (size_t)middle * (size_t)n, m->gamma / w->h, w->h,
                              ctx->norm->weights, NULL);
}

/* Partial derivatives at the stage in the middle, as predicted: they differ less from those along
 * the step than the ones at its beginning. There, if there is no prediction or it is no use. */
static iteration_status evaluate(const radau_state *s, radau_scratch *w, const method_context *ctx)
{
    newton *nw = ctx->newton;
    const double cj = w->m->gamma / w->h, *weights = ctx->norm->weights;
    iteration_status status = ITERATION_RETRY;
    nw->stale = true;
    w->ahead = prediction_trusted(s, w);
    if (w->ahead) {
        status = evaluate_here(s, w, ctx);
    }
    w->ahead = w->ahead && status == ITERATION_OK;
    if (status == ITERATION_RETRY)
        status = iteration_evaluate(nw->matrix, s->t, s->y, s->yp, cj, w->h, weights, NULL);
    if (status != ITERATION_OK) return status;
    nw->stale = false;
    w->fresh = true;
    return ITERATION_OK;
}

static bool factors_fit(const iteration *it, const radau_scratch *w)
{
    const struct shifted *f = it->shifted;
    return f && f->h == w->h && f->stages == w->m->stages && f->evaluations == it->evaluations &&
           it->factored && it->cj == w->m->gamma / w->h;
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

/* One real factorisation and one for every pair. */
static iteration_status factor(radau_scratch *w, iteration *it)
{
    const collocation *m = w->m;
    double shift[2 * COLLOCATION_PAIRS];
    if (!shifted_prepare(it, m->pairs)) return ITERATION_MEMORY;
    struct shifted *f = it->shifted;
    f->stages = 0;
    for (int p = 0; p < 2 * m->pairs; p++) shift[p] = m->pair[p] / w->h;
    iteration_status status = shifted_factor_all(it, m->gamma / w->h, m->pairs, shift);
    if (status != ITERATION_OK) return status;
    f->h = w->h;
    f->stages = m->stages;
    f->evaluations = it->evaluations;
    w->factor_cost = factor_cost(it);
    return ITERATION_OK;
}

/* Matrices for this step; `renew`: with new partial derivatives. */
static iteration_status prepare(const radau_state *s, radau_scratch *w, const method_context *ctx,
                                bool renew)
{
    iteration *it = ctx->newton->matrix;
    iteration_status status = ITERATION_OK;
    if (renew || ctx->newton->stale || !it->jac.valid) status = evaluate(s, w, ctx);
    if (status == ITERATION_OK && !factors_fit(it, w)) status = factor(w, it);
    if (status == ITERATION_SINGULAR && !w->fresh) {
        status = evaluate(s, w, ctx);
        if (status == ITERATION_OK) status = factor(w, it);
    }
    return status;
}

/* Matrices for the stages as they are now */
static iteration_status renew_here(const radau_state *s, radau_scratch *w,
                                   const method_context *ctx)
{
    ctx->newton->stale = true;
    iteration_status status = evaluate_here(s, w, ctx);
    if (status != ITERATION_OK) return status;
    ctx->newton->stale = false;
    w->ahead = true;
    return factor(w, ctx->newton->matrix);
}

iteration_status radau_filter(const method_context *ctx, double *b)
{
    return iteration_solve(ctx->newton->matrix, NULL, b);
}

/* ---- iteration ------------------------------------------------------------------------------ */

/* R_i = F(t + c_i h, y + Z_i, Y'_i) */
static attempt_status residuals(const radau_state *s, radau_scratch *w, const method_context *ctx,
                                attempt *result)
{
    const collocation *m = w->m;
    const size_t n = (size_t)ctx->n;
    radau_transform(m->stages, ctx->n, 1.0 / w->h, m->inverse, w->Z, w->V);
    for (int i = 0; i < m->stages; i++) {
        double t = i + 1 == m->stages ? w->t : s->t + m->nodes[i] * w->h;
        stage_point(s, w, &ctx->eval->problem->form, i);
        eval_status status = evaluate_residual(ctx->eval, t, w->point, w->V + (size_t)i * n,
                                               w->R + (size_t)i * n, &ctx->eval->stats->residuals);
        result->stage = i + 1;
        if (status == EVAL_STOP) return ATTEMPT_STOP;
        if (status != EVAL_OK) return ATTEMPT_EVALUATION;
    }
    result->stage = 0;
    return ATTEMPT_OK;
}

/* The largest correction, for diagnostics. */
static void remember_correction(const radau_scratch *w, const method_context *ctx, attempt *result)
{
    double most = -1.0;
    for (int i = 0; i < w->m->stages; i++) {
        const double *D = w->D + (size_t)i * (size_t)ctx->n;
        double size = norm_of(ctx->norm, D, ctx->norm->newton);
        if (size <= most) continue;
        most = size;
        result->stage = i + 1;
        vector_copy(ctx->n, D, ctx->newton->delta);
    }
}

/* Whether a correction that does not get smaller is as good as it can get. (Larger ones that the
 * error test would not see must not pass: y' and multipliers suffer, and the next steps with them.)
 */
static bool is_noise(const radau_scratch *w, double size)
{
    return w->fresh && size <= NOISE * fmin(1.0, KAPPA_FULL / w->factor_rtol);
}

/* KAPPA sqrt(KAPPA_FULL / rtol) between the least and the usual one */
static double iteration_tolerance(double rtol)
{
    return fmax(KAPPA_LEAST, fmin(KAPPA, KAPPA * sqrt(KAPPA_FULL / rtol)));
}

/* What the contraction says of an iteration that goes on: whether k more iterations suffice, or by
 * how much to cut h [HW96 IV.8]. */
static bool will_converge(radau_scratch *w, double size, int left)
{
    double remaining = w->eta * size / w->kappa;
    double rate = w->theta;
    for (int k = 0; k < left && remaining >= 1.0; k++, rate *= RATE_IMPROVES) remaining *= rate;
    if (remaining < 1.0) return true;
    w->shrink = 0.8 * pow(fmin(20.0, remaining), -1.0 / (4.0 + left));
    return false;
}

static attempt_status diverged(radau_scratch *w, const method_context *ctx, attempt *result)
{
    remember_correction(w, ctx, result);
    if (!(w->theta < SLOWEST_RATE)) w->shrink = 0.5;
    return ATTEMPT_CONVERGENCE;
}

/* Broyden's updates of the inverse matrix, applied to the simplified correction D in place, as in
 * the algorithm QNERR of [Deu11 2.1.4]: after the corrections D_0 .. D_k
 *   D += <D, D_(i-1)>/|D_(i-1)|^2 D_i, i = 1 .. k;  D /= 1 - <D, D_k>/|D_k|^2
 * They cost no evaluation and save one iteration in six to ten. The first RADAU_PAST are kept. */
static void accelerate(const radau_scratch *w, const method_context *ctx, double *D)
{
    const int s = w->m->stages, count = s * ctx->n;
    const bool last_kept = w->iterations == w->past_count;
    for (int i = 0; i < w->past_count - !last_kept; i++) {
        double a = radau_product(ctx->norm, s, D, w->past[i]) / w->past_size[i];
        if (i + 1 < w->past_count) {
            vector_axpy(count, a, w->past[i + 1], D);
        } else if (fabs(a) < LARGEST_UPDATE) {
            const double stretch = 1.0 / (1.0 - a);
            for (int j = 0; j < count; j++) D[j] *= stretch;
        }
    }
}

/* Keep the correction in w->R, whose square is given, for the next ones: blocks change places. */
static void remember(radau_scratch *w, const method_context *ctx, double square)
{
    w->D = w->R;
    if (w->past_count == RADAU_PAST || !(square > 0.0) || ctx->norm->user_norm) return;
    w->R = w->past[w->past_count];
    w->past[w->past_count] = w->D;
    w->past_size[w->past_count++] = square;
}

/* One correction: D = -T Lambda-solve T^-1 R in w->D, Z += D, its norm in *size. */
static attempt_status iterate_once(const radau_state *s, radau_scratch *w,
                                   const method_context *ctx, attempt *result, double *size)
{
    const collocation *m = w->m;
    attempt_status status = residuals(s, w, ctx, result);
    if (status != ATTEMPT_OK) return status;
    radau_transform(m->stages, ctx->n, -1.0, m->T_inverse, w->R, w->V);
    status = from_iteration(shifted_solve_all(ctx->newton->matrix, m->pairs, w->V));
    if (status != ATTEMPT_OK) return status;
    radau_transform(m->stages, ctx->n, 1.0, m->T, w->V, w->R);
    accelerate(w, ctx, w->R);
    double square = radau_correct(ctx->norm, m->stages, w->R, w->Z);
    remember(w, ctx, square);
    *size = sqrt(square / (m->stages * ctx->n));
    w->iterations++;
    ctx->eval->stats->newton_iterations++;
    return ATTEMPT_OK;
}

/* theta and eta from the quotient q of the last two corrections, and `before` of those before; 0 if
 * there are none */
static void measure_contraction(radau_scratch *w, double q, double before)
{
    w->theta = before > 0.0 ? sqrt(q * before) : q;
    if (w->theta < SLOWEST_RATE) w->eta = w->theta / (1.0 - w->theta);
}

/* eta^(3/4): trust in an old rate fades (RADAU has the power 0.8), and none is believed that is
 * better than BEST_OLD_ETA: where exponentials are switched on it would pass far too much. */
static double faded(double eta)
{
    double root = sqrt(eta);
    return fmax(root * sqrt(root), BEST_OLD_ETA);
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
static bool is_transient(const radau_scratch *w, const error_norm *norm, double quotient)
{
    if (!(quotient > TRANSIENT && quotient < MOST_TRANSIENT)) return false;
    if (!norm->kinds || w->past_count < 2) return false;
    double first = differential_part(norm, w->m->stages, w->past[0]);
    double second = differential_part(norm, w->m->stages, w->past[1]);
    return second <= TRANSIENT * TRANSIENT * first;
}

/* sum over stages of D_j^2 for variable j */
static double square_of(const radau_scratch *w, const double *D, int n, int j)
{
    double sum = 0.0;
    for (int i = 0; i < w->m->stages; i++) sum += D[i * n + j] * D[i * n + j];
    return sum;
}

/* Whether the iteration error is small also if every variable goes on at its own rate, that of its
 * last two corrections: ||r_j / (1 - r_j) D_j|| <= NOISE. Variables that enter linearly, as
 * functions of t do, come right at once from any prediction; next to them the corrections of others
 * look small, and theirs may be slow. Nothing is said where corrections are not kept any more. */
static bool all_converge(const radau_scratch *w, const error_norm *norm)
{
    const int k = w->past_count - 1, n = norm->n;
    double sum = 0.0;
    if (k < 1 || w->iterations != w->past_count) return true;
    for (int j = 0; j < n; j++) {
        double now = square_of(w, w->past[k], n, j), before = square_of(w, w->past[k - 1], n, j);
        double rate = now < before ? fmin(sqrt(now / before), SLOWEST_OWN) : SLOWEST_OWN;
        double rest = rate / (1.0 - rate) * norm->newton[j];
        sum += rest * rest * now;
    }
    return sum <= NOISE * NOISE * w->m->stages * n;
}

/* Iterate until the iteration error is below w->kappa. */
static attempt_status iterate(const radau_state *s, radau_scratch *w, const method_context *ctx,
                              attempt *result)
{
    const int usual = radau_max_iterations(w->m->stages), wanted = ctx->newton->max_iterations;
    const int most = wanted > usual ? wanted : usual;
    const double round_off = ROUND_OFF * norm_of(ctx->norm, s->y, ctx->norm->newton);
    /* Multipliers of index 3 need a second correction to come right, as large as the first. */
    const int first = ctx->norm->newton != ctx->norm->scale ? 2 : 1;
    double size = 0.0, last = 0.0, q = 0.0;
    w->kappa = iteration_tolerance(w->factor_rtol);
    w->iterations = 0;
    w->past_count = 0;
    w->theta = 0.0;
    w->eta = faded(w->eta);
    for (int k = 0; k < most; k++) {
        attempt_status status = iterate_once(s, w, ctx, result, &size);
        if (status != ATTEMPT_OK) return status;
        if (k == 0 && !w->interpolates) w->first_size = size;
        if (k >= first) {
            double before = q;
            q = size / last;
            measure_contraction(w, q, before);
        }
        bool slow = k >= first && !(w->theta < SLOWEST_RATE);
        bool small = !slow && w->eta * size <= w->kappa;
        if (size <= round_off || (small && all_converge(w, ctx->norm))) return ATTEMPT_OK;
        if (k == 1 && first == 1 && is_transient(w, ctx->norm, q)) {
            q = 0.0; /* the next one tells */
            last = size;
            continue;
        }
        if (slow || (k >= first && !will_converge(w, size, most - 1 - k))) {
            if (is_noise(w, size)) return ATTEMPT_OK;
            return diverged(w, ctx, result);
        }
        last = size;
    }
    w->shrink = 0.5;
    return diverged(w, ctx, result);
}

/* Solve with the matrices at hand, or else with new ones. */
static attempt_status solve(const radau_state *s, radau_scratch *w, const method_context *ctx,
                            attempt *result)
{
    const size_t bytes = (size_t)w->m->stages * (size_t)ctx->n * sizeof(double);
    const double eta = w->eta;
    norm_set_step(ctx->norm, w->h);
    w->shrink = 0.5;
    attempt_status status = from_iteration(prepare(s, w, ctx, false));
    if (status != ATTEMPT_OK) return status;
    bool fresh = w->fresh;
    if (!fresh) memcpy(w->predicted, w->Z, bytes);
    status = iterate(s, w, ctx, result);
    bool retry = status == ATTEMPT_CONVERGENCE || status == ATTEMPT_EVALUATION;
    if (!retry || fresh) return status;
    memcpy(w->Z, w->predicted, bytes);
    w->eta = eta;
    result->stage = 0;
    status = from_iteration(prepare(s, w, ctx, true));
    return status == ATTEMPT_OK ? iterate(s, w, ctx, result) : status;
}

/* Once more from Z = 0 and the matrices of where the step begins: F does not exist where the
 * prediction leads, or its exponentials overflow there. */
static attempt_status from_rest(const radau_state *s, radau_scratch *w, const method_context *ctx,
                                attempt *result)
{
    memset(w->Z, 0, (size_t)w->m->stages * (size_t)ctx->n * sizeof(double));
    w->eta = 1.0;
    w->distrusted = true;
    result->stage = 0;
    attempt_status status = from_iteration(prepare(s, w, ctx, true));
    if (status == ATTEMPT_OK) status = iterate(s, w, ctx, result);
    w->distrusted = false;
    return status;
}

/* Where smaller steps do not help, or the step is no longer than the last ones, it is the matrix
 * that is wrong (a diode that opens, a mechanism that swings), so that it is renewed where the
 * iteration has come to, as long as it goes somewhere. */
static attempt_status insist(const radau_state *s, radau_scratch *w, const method_context *ctx,
                             attempt *result)
{
    const bool early = w->newton_failures < PATIENCE;
    const double worst = early ? SLOWEST_RATE : MOST_RATE_TO_RENEW;
    attempt_status status = ATTEMPT_CONVERGENCE;
    for (int k = 0; k < (early ? EARLY_RENEWALS : MOST_RENEWALS); k++) {
        if (status != ATTEMPT_CONVERGENCE || !(w->theta < worst)) break;
        result->stage = 0;
        status = from_iteration(renew_here(s, w, ctx));
        if (status == ATTEMPT_OK) status = iterate(s, w, ctx, result);
    }
    return status;
}

attempt_status radau_solve(const radau_state *s, radau_scratch *w, const method_context *ctx,
                           attempt *result)
{
    attempt_status status = solve(s, w, ctx, result);
    if (status == ATTEMPT_EVALUATION && s->m) status = from_rest(s, w, ctx, result);
    bool modest = s->m && fabs(w->h) <= MODEST * fabs(s->accepted_h);
    if (status == ATTEMPT_CONVERGENCE && (modest || w->newton_failures >= PATIENCE))
        status = insist(s, w, ctx, result);
    if (status != ATTEMPT_OK && w->ahead) ctx->newton->stale = true; /* of a bad prediction */
    return status;
}
