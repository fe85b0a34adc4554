/* Simplified Newton for the stages of second order collocation, in transformed variables.
 *
 *   R_i = F(t + c_i h, X_i, X'_i, X''_i) = 0
 *   (I x F_x + A^-1/h x F_x' + A^-2/h^2 x F_x'') D = -R
 * With A^-1 = T Lambda T^-1 this falls apart into systems of the size of x with
 * F_x + (mu/h) F_x' + (mu/h)^2 F_x'', one for every real eigenvalue mu and every pair [HW96 IV.8].
 * The logic of the iteration is that of radau_newton.c. */
#include "method/implicit/colloc2nd_parts.h"

#include <float.h>

#include "base/vector.h"

/* The iteration error may be this part of the tolerance. On pendulum, Andrews' mechanism, car axis
 * and truck the work at equal errors is the same within 2 per cent from 0.003 to 0.03; above 0.01
 * multipliers lose digits. */
static const double KAPPA = 0.01, FAITHFUL_KAPPA = 1e-4;
/* What of it the error estimate may see: Gauss methods, whose estimate is not as far above the
 * error as that of Radau IIA, need it. */
static const double SEEN = 0.01;
static const double SLOWEST_RATE = 0.99, BEST_OLD_ETA = 0.02;
static const double ROUND_OFF = 100.0 * DBL_EPSILON;
static const double MOST_SURPRISE = 1e5;
static const double NOISE = 0.1;
/* Attempts at a step with partial derivatives at a prediction: shorter ones are predicted better.
 */
enum { MOST_ITERATIONS = 20, MOST_TRUST = 3 };

attempt_status colloc2nd_status(iteration_status status)
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

/* ---- matrices ---- */

/* Whether the prediction is worth partial derivatives, as in radau_newton.c */
static bool prediction_trusted(const colloc2nd_state *s, const colloc2nd_scratch *w, int stages)
{
    if (!(s->accepted_h != 0.0) || w->tries > MOST_TRUST) return false;
    double expected = s->surprise, ratio = fabs(w->h / s->accepted_h);
    for (int k = 0; k <= stages && ratio > 1.0; k++) expected *= ratio;
    return expected <= MOST_SURPRISE;
}

/* Partial derivatives at the predicted stage in the middle, or where the step begins */
static iteration_status evaluate(const colloc2nd_state *s, colloc2nd_scratch *w,
                                 const method_context *ctx)
{
    colloc2nd_cache *c = ctx->cache;
    const collocation *m = c->kind->m;
    const int middle = (m->stages - 1) / 2;
    const double *weights = ctx->norm->weights;
    iteration_status status = ITERATION_RETRY;
    c->evaluated = false;
    c->h = 0.0;
    w->ahead = prediction_trusted(s, w, m->stages);
    if (w->ahead) {
        colloc2nd_derivatives(w, ctx);
        colloc2nd_point(w, ctx, middle);
        status = second_matrix_evaluate(c->matrix, s->t + m->nodes[middle] * w->h, w->point,
                                        w->slope, w->h, weights, NULL);
    }
    w->ahead = w->ahead && status == ITERATION_OK;
    if (status == ITERATION_RETRY)
        status = second_matrix_evaluate(c->matrix, s->t, s->y, s->yp, w->h, weights, NULL);
    if (status != ITERATION_OK) return status;
    c->evaluated = w->fresh = true;
    ctx->newton->stale = false;
    return ITERATION_OK;
}

/* One real factorisation, which the error estimate needs at least, and one for every pair */
static iteration_status factor(const colloc2nd_scratch *w, colloc2nd_cache *c)
{
    const collocation *m = c->kind->m;
    const double g = m->gamma / w->h;
    c->h = 0.0;
    bool real = m->stages % 2 == 1 || !c->kind->faithful;
    iteration_status status = real ? second_matrix_factor(c->matrix, g, g * g) : ITERATION_OK;
    for (int p = 0; p < m->pairs && status == ITERATION_OK; p++) {
        double a = m->pair[2 * p] / w->h, b = m->pair[2 * p + 1] / w->h;
        status = second_matrix_factor_complex(c->matrix, p, a, b, (a - b) * (a + b), 2.0 * a * b);
    }
    if (status == ITERATION_OK) c->h = w->h;
    return status;
}

/* Matrices for this step; `renew`: with new partial derivatives */
static iteration_status prepare(const colloc2nd_state *s, colloc2nd_scratch *w,
                                const method_context *ctx, bool renew)
{
    colloc2nd_cache *c = ctx->cache;
    iteration_status status = ITERATION_OK;
    if (renew || ctx->newton->stale || !c->evaluated) status = evaluate(s, w, ctx);
    if (status == ITERATION_OK && c->h != w->h) status = factor(w, c);
    if (status == ITERATION_SINGULAR && !w->fresh) {
        status = evaluate(s, w, ctx);
        if (status == ITERATION_OK) status = factor(w, c);
    }
    return status;
}

/* work := transformed matrices^-1 work */
static void solve_transformed(colloc2nd_cache *c, int n, double *work)
{
    const collocation *m = c->kind->m;
    const int real = m->stages - 2 * m->pairs;
    if (real) second_matrix_solve(c->matrix, work);
    for (int p = 0; p < m->pairs; p++) {
        double *v = work + (size_t)(real + 2 * p) * (size_t)n;
        second_matrix_solve_complex(c->matrix, p, v, v + n);
    }
}

/* ---- iteration ---- */

/* R_i = F(t + c_i h, X_i, X'_i, X''_i) */
static attempt_status residuals(const colloc2nd_state *s, colloc2nd_scratch *w,
                                const method_context *ctx, attempt *result)
{
    const colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    const collocation *m = c->kind->m;
    for (int i = 0; i < m->stages; i++) {
        double t = m->nodes[i] == 1.0 ? w->t : s->t + m->nodes[i] * w->h;
        double *R = w->R + (size_t)i * (size_t)second->n;
        colloc2nd_point(w, ctx, i);
        eval_status status =
            evaluate_residual(ctx->eval, t, w->point, w->slope, w->f, &ctx->eval->stats->residuals);
        result->stage = i + 1;
        if (status == EVAL_STOP) return ATTEMPT_STOP;
        if (status != EVAL_OK) return ATTEMPT_EVALUATION;
        for (int k = 0; k < second->n; k++) R[k] = w->f[second->row[k]];
    }
    result->stage = 0;
    return ATTEMPT_OK;
}

/* The largest of the corrections D = R of one stage, with velocities V = work, for diagnostics and
 * for norms of the user: sum ||.||^2 s */
static double correction_by_stage(const colloc2nd_scratch *w, const method_context *ctx, int *worst)
{
    const colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    const int stages = c->kind->m->stages, n = second->n;
    double sum = 0.0, most = -1.0;
    for (int i = 0; i < stages; i++) {
        const double *D = w->R + (size_t)i * (size_t)n, *V = w->work + (size_t)i * (size_t)n;
        vector_zero(ctx->n, w->f);
        for (int k = 0; k < n; k++) {
            w->f[second->place[k]] = D[k];
            if (second->velocity[k] >= 0) w->f[second->velocity[k]] = V[k];
        }
        double size = norm_of(ctx->norm, w->f, w->newton_scale);
        sum += size * size;
        if (size <= most) continue;
        most = size;
        *worst = i;
        vector_copy(ctx->n, w->f, ctx->newton->delta);
    }
    return sum;
}

/* Z += D, Z' += V, and sum (D^2 + V^2) in the weights of the iteration, one stage */
static double correct_stage(const colloc2nd_scratch *w, int n, size_t row)
{
    const double *restrict D = w->R + row, *restrict V = w->work + row;
    const double *restrict x_scale = w->x_scale, *restrict v_scale = w->v_scale;
    double *restrict Z = w->Z + row, *restrict Z1 = w->D1 + row;
    double of_x = 0.0, of_v = 0.0;
    for (int k = 0; k < n; k++) {
        const double d = D[k] * x_scale[k], v = V[k] * v_scale[k];
        Z[k] += D[k];
        Z1[k] += V[k];
        of_x += d * d;
        of_v += v * v;
    }
    return of_x + of_v;
}

/* The correction D = R applied to Z, Z' and Z''; its size sqrt(sum ||.||^2 / s), of D and, for
 * velocities, of V = A^-1 D/h */
static double correct(const colloc2nd_scratch *w, const method_context *ctx)
{
    const colloc2nd_cache *c = ctx->cache;
    const collocation *m = c->kind->m;
    const int stages = m->stages, n = ctx->second->n;
    double sum = 0.0;
    collocation_combine(stages, stages, n, 1.0 / w->h, m->inverse, w->R, w->work);
    for (int i = 0; i < stages; i++) sum += correct_stage(w, n, (size_t)i * (size_t)n);
    sum /= ctx->n;
    collocation_combine_add(stages, stages, n, 1.0 / w->h, m->inverse, w->work, w->D2);
    int worst;
    if (ctx->norm->user_norm) sum = correction_by_stage(w, ctx, &worst);
    return sqrt(sum / stages);
}

/* One correction D in R, Z += D, its norm in *size */
static attempt_status iterate_once(const colloc2nd_state *s, colloc2nd_scratch *w,
                                   const method_context *ctx, attempt *result, double *size)
{
    colloc2nd_cache *c = ctx->cache;
    const collocation *m = c->kind->m;
    const int stages = m->stages, n = ctx->second->n;
    attempt_status status = residuals(s, w, ctx, result);
    if (status != ATTEMPT_OK) return status;
    collocation_combine(stages, stages, n, -1.0, m->T_inverse, w->R, w->work);
    solve_transformed(c, n, w->work);
    collocation_combine(stages, stages, n, 1.0, m->T, w->work, w->R);
    *size = correct(w, ctx);
    w->iterations++;
    ctx->eval->stats->newton_iterations++;
    ctx->newton->last_size = *size;
    return isfinite(*size) ? ATTEMPT_OK : ATTEMPT_EVALUATION;
}

/* What a correction cannot get below: roundings of x, and in velocities those of x over h */
static double round_off(const colloc2nd_state *s, const colloc2nd_scratch *w,
                        const method_context *ctx)
{
    const colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    const double g = c->kind->m->gamma / fabs(w->h);
    vector_zero(ctx->n, w->f);
    for (int k = 0; k < second->n; k++) {
        double x = fabs(s->y[second->place[k]]);
        w->f[second->place[k]] = x;
        if (second->velocity[k] >= 0)
            w->f[second->velocity[k]] = fabs(s->y[second->velocity[k]]) + 0.1 * g * x;
    }
    return ROUND_OFF * norm_of(ctx->norm, w->f, w->newton_scale);
}

/* Whether `left` more iterations will do, or by how much to cut h [HW96 IV.8] */
static bool will_converge(const colloc2nd_cache *c, colloc2nd_scratch *w, double size, int left,
                          double kappa)
{
    double remaining = c->eta * size / kappa;
    for (int k = 0; k < left && remaining >= 1.0; k++) remaining *= w->theta;
    if (remaining < 1.0) return true;
    w->shrink = 0.8 * pow(fmin(20.0, remaining), -1.0 / (4.0 + left));
    return false;
}

/* theta and eta from the quotient q of the last two corrections and the one before, 0: none */
static void measure_contraction(colloc2nd_cache *c, colloc2nd_scratch *w, double q, double before)
{
    w->theta = before > 0.0 ? sqrt(q * before) : q;
    if (w->theta < SLOWEST_RATE) c->eta = w->theta / (1.0 - w->theta);
}

static attempt_status diverged(colloc2nd_scratch *w, const method_context *ctx, attempt *result)
{
    correction_by_stage(w, ctx, &result->stage);
    result->stage++;
    if (!(w->theta < SLOWEST_RATE)) w->shrink = 0.5;
    return ATTEMPT_CONVERGENCE;
}

/* Iterate until the iteration error is below kappa. */
static attempt_status iterate(const colloc2nd_state *s, colloc2nd_scratch *w,
                              const method_context *ctx, attempt *result)
{
    colloc2nd_cache *c = ctx->cache;
    const int wanted = ctx->newton->max_iterations;
    const int most = wanted > MOST_ITERATIONS ? wanted : MOST_ITERATIONS;
    const double floor = round_off(s, w, ctx);
    /* lambda' = sum of Lambda / h is among the variables of the faithful mode. */
    const double kappa = c->kind->faithful ? FAITHFUL_KAPPA * fmin(1.0, fabs(w->h))
                                           : fmin(KAPPA, SEEN / (w->error_factor * c->amplifies));
    /* Multipliers need a second correction to come right, as large as the first. */
    const int first = 2;
    double size = 0.0, last = 0.0, q = 0.0;
    colloc2nd_derivatives(w, ctx);
    w->iterations = 0;
    w->theta = 0.0;
    c->eta = c->kind->faithful ? 1.0 : fmax(pow(c->eta, 0.75), BEST_OLD_ETA);
    for (int k = 0; k < most; k++) {
        attempt_status status = iterate_once(s, w, ctx, result, &size);
        if (status != ATTEMPT_OK) return status;
        if (k == 0) w->first_size = size;
        if (k >= first) {
            double before = q;
            q = size / last;
            measure_contraction(c, w, q, before);
        }
        bool slow = k >= first && !(w->theta < SLOWEST_RATE);
        if (size <= floor || (!slow && c->eta * size <= kappa)) return ATTEMPT_OK;
        if (slow || (k >= first && !will_converge(c, w, size, most - 1 - k, kappa)))
            return w->fresh && size <= NOISE ? ATTEMPT_OK : diverged(w, ctx, result);
        last = size;
    }
    w->shrink = 0.5;
    return diverged(w, ctx, result);
}

/* Velocities count in full. Multipliers that are projected do not count: they do not go into the
 * next step, and what their corrections do shows in those of positions, whatever units time and
 * forces are measured in. In the faithful mode, where they do, all count in full. */
static void set_scale(colloc2nd_scratch *w, const method_context *ctx)
{
    const colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    norm_set_step(ctx->norm, w->h);
    vector_copy(ctx->n, c->kind->faithful ? ctx->norm->scale : ctx->norm->newton, w->newton_scale);
    for (int k = 0; k < second->n; k++)
        if (second->velocity[k] >= 0)
            w->newton_scale[second->velocity[k]] = ctx->norm->scale[second->velocity[k]];
    for (int i = 0; c->ends.form && i < c->ends.form->nl; i++)
        w->newton_scale[projection_lambda(&c->ends, i)] = 0.0;
    for (int k = 0; k < second->n; k++) {
        const int velocity = second->velocity[k];
        w->x_scale[k] = w->newton_scale[second->place[k]];
        w->v_scale[k] = velocity >= 0 ? w->newton_scale[velocity] : 0.0;
    }
}

/* Solve with the matrices at hand, or else with new ones. */
static attempt_status solve(const colloc2nd_state *s, colloc2nd_scratch *w,
                            const method_context *ctx, attempt *result)
{
    colloc2nd_cache *c = ctx->cache;
    const int count = c->kind->m->stages * ctx->second->n;
    const double eta = c->eta;
    set_scale(w, ctx);
    w->shrink = 0.5;
    attempt_status status = colloc2nd_status(prepare(s, w, ctx, false));
    if (status != ATTEMPT_OK) return status;
    bool fresh = w->fresh;
    if (!fresh) vector_copy(count, w->Z, w->predicted);
    status = iterate(s, w, ctx, result);
    bool retry = status == ATTEMPT_CONVERGENCE || status == ATTEMPT_EVALUATION;
    if (!retry || fresh) return status;
    vector_copy(count, w->predicted, w->Z);
    c->eta = eta;
    result->stage = 0;
    status = colloc2nd_status(prepare(s, w, ctx, true));
    return status == ATTEMPT_OK ? iterate(s, w, ctx, result) : status;
}

attempt_status colloc2nd_solve(const colloc2nd_state *s, colloc2nd_scratch *w,
                               const method_context *ctx, attempt *result)
{
    attempt_status status = solve(s, w, ctx, result);
    if (status != ATTEMPT_OK && w->ahead) ctx->newton->stale = true; /* of a bad prediction */
    if (status == ATTEMPT_SINGULAR) {
        const colloc2nd_cache *c = ctx->cache;
        ctx->newton->matrix->singular_column = second_matrix_singular(c->matrix);
    }
    return status;
}
