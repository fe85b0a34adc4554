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
static const double KAPPA = 0.01, THESIS_KAPPA = 1e-6;
/* What of it the error estimate may see: Gauss methods, whose estimate is not as far above the
 * error as that of Radau IIA, need it. */
static const double SEEN = 0.01;
static const double NOISE = 0.1;
/* Attempts at a step with partial derivatives at a prediction: shorter ones are predicted better.
 */
enum { MOST_ITERATIONS = 20, MOST_TRUST = 3 };

/* ---- matrices ---- */

static stage_matrices at_hand(const stage_task *k)
{
    const colloc2nd_scratch *w = k->scratch;
    const colloc2nd_cache *c = k->ctx->cache;
    return !c->evaluated ? STAGE_NOTHING : c->h == w->h ? STAGE_FACTORS : STAGE_DERIVATIVES;
}

/* Partial derivatives at the stage in the middle, or where the step begins */
static iteration_status evaluate(const stage_task *k, bool ahead)
{
    const colloc2nd_state *s = k->state;
    colloc2nd_scratch *w = k->scratch;
    const method_context *ctx = k->ctx;
    colloc2nd_cache *c = ctx->cache;
    const collocation *m = c->kind->m;
    const int middle = (m->stages - 1) / 2;
    const double *weights = ctx->norm->weights, t = s->t + m->nodes[middle] * w->h;
    c->h = 0.0;
    if (ahead) {
        colloc2nd_derivatives(w, ctx);
        colloc2nd_point(w, ctx, middle);
    }
    iteration_status status =
        ahead ? second_matrix_evaluate(c->matrix, t, w->point, w->slope, w->h, weights, NULL)
              : second_matrix_evaluate(c->matrix, s->t, s->y, s->yp, w->h, weights, NULL);
    c->evaluated = status == ITERATION_OK;
    return status;
}

/* One real factorisation, which the error estimate needs at least, and one for every pair */
static iteration_status factor(const stage_task *k)
{
    const colloc2nd_scratch *w = k->scratch;
    colloc2nd_cache *c = k->ctx->cache;
    const collocation *m = c->kind->m;
    const double g = m->gamma / w->h;
    c->h = 0.0;
    bool real = m->stages % 2 == 1 || !c->kind->thesis;
    iteration_status status = real ? second_matrix_factor(c->matrix, g, g * g) : ITERATION_OK;
    for (int p = 0; p < m->pairs && status == ITERATION_OK; p++) {
        double a = m->pair[2 * p] / w->h, b = m->pair[2 * p + 1] / w->h;
        status = second_matrix_factor_complex(c->matrix, p, a, b, (a - b) * (a + b), 2.0 * a * b);
    }
    if (status == ITERATION_OK) c->h = w->h;
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
static attempt_status residuals(const stage_task *k)
{
    const colloc2nd_state *s = k->state;
    colloc2nd_scratch *w = k->scratch;
    const method_context *ctx = k->ctx;
    const colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    const collocation *m = c->kind->m;
    for (int i = 0; i < m->stages; i++) {
        double t = m->nodes[i] == 1.0 ? w->t : s->t + m->nodes[i] * w->h;
        double *R = w->R + (size_t)i * (size_t)second->n;
        colloc2nd_point(w, ctx, i);
        eval_status status =
            evaluate_residual(ctx->eval, t, w->point, w->slope, w->f, &ctx->eval->stats->residuals);
        k->result->stage = i + 1;
        if (status != EVAL_OK) return stages_from_evaluation(status);
        for (int l = 0; l < second->n; l++) R[l] = w->f[second->row[l]];
    }
    k->result->stage = 0;
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
static double apply(const colloc2nd_scratch *w, const method_context *ctx)
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
static attempt_status correct(const stage_task *k, double *size)
{
    colloc2nd_scratch *w = k->scratch;
    colloc2nd_cache *c = k->ctx->cache;
    const collocation *m = c->kind->m;
    const int stages = m->stages, n = k->ctx->second->n;
    attempt_status status = residuals(k);
    if (status != ATTEMPT_OK) return status;
    collocation_combine(stages, stages, n, -1.0, m->T_inverse, w->R, w->work);
    solve_transformed(c, n, w->work);
    collocation_combine(stages, stages, n, 1.0, m->T, w->work, w->R);
    *size = apply(w, k->ctx);
    return ATTEMPT_OK;
}

static void begin(const stage_task *k)
{
    colloc2nd_derivatives(k->scratch, k->ctx);
}

static void blame(const stage_task *k)
{
    correction_by_stage(k->scratch, k->ctx, &k->result->stage);
    k->result->stage++;
}

static const stage_equations equations = {.at_hand = at_hand,
                                          .evaluate = evaluate,
                                          .factor = factor,
                                          .begin = begin,
                                          .correct = correct,
                                          .blame = blame};

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
    return stage_newton_round_off(norm_of(ctx->norm, w->f, w->newton_scale));
}

/* Velocities count in full. Multipliers that are projected do not count: they do not go into the
 * next step, and what their corrections do shows in those of positions, whatever units time and
 * forces are measured in. In the thesis variant, where they do, all count in full. */
static void set_scale(colloc2nd_scratch *w, const method_context *ctx)
{
    const colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    norm_set_step(ctx->norm, w->h);
    vector_copy(ctx->n, c->kind->thesis ? ctx->norm->scale : ctx->norm->newton, w->newton_scale);
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

/* What the iteration is to reach */
static void set_goals(const colloc2nd_state *s, colloc2nd_scratch *w, const method_context *ctx)
{
    const colloc2nd_cache *c = ctx->cache;
    const int stages = c->kind->m->stages;
    stage_newton *nw = &w->newton;
    nw->most = newton_most(ctx->newton, MOST_ITERATIONS);
    nw->first = 2; /* multipliers need a second correction to come right, as large as the first */
    nw->noise = NOISE;
    nw->floor = round_off(s, w, ctx);
    nw->trusted = s->accepted_h != 0.0 && w->tries <= MOST_TRUST &&
                  stage_prediction_trusted(s->surprise, fabs(w->h / s->accepted_h), stages);
    nw->kappa = fmin(KAPPA, SEEN / (w->error_factor * c->amplifies));
    if (!c->kind->thesis) return;
    nw->kappa = THESIS_KAPPA * fmin(1.0, fabs(w->h)); /* lambda' = sum of Lambda / h counts, too */
    nw->eta = 1.0;
    nw->patient =
        true; /* lambda'' is predicted badly: the first corrections say little of the rate */
}

attempt_status colloc2nd_solve(const colloc2nd_state *s, colloc2nd_scratch *w,
                               const method_context *ctx, attempt *result)
{
    const colloc2nd_cache *c = ctx->cache;
    stage_task task = {.equations = &equations,
                       .newton = &w->newton,
                       .state = s,
                       .scratch = w,
                       .ctx = ctx,
                       .result = result,
                       .stages = w->Z,
                       .predicted = w->predicted,
                       .count = c->kind->m->stages * ctx->second->n};
    set_scale(w, ctx);
    set_goals(s, w, ctx);
    attempt_status status = stage_newton_solve(&task);
    if (status != ATTEMPT_OK && w->newton.ahead) ctx->newton->stale = true; /* of a bad one */
    if (status == ATTEMPT_SINGULAR)
        ctx->newton->matrix->singular_column = second_matrix_singular(c->matrix);
    return status;
}
