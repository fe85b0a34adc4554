/* Rosenbrock methods: one Jacobian, one factorisation and `stages` solutions a step, no Newton
 * iteration. rosenbrock.h has the formulas. */
#include "method/implicit/rosenbrock.h"

#include "base/vector.h"
#include "method/common/collocation.h"
#include "method/common/stages.h"

/* dF/dt is a difference of order 3 over this part of the step: its error is 3e-8 h^3 d4F/dt4, and
 * that of rounding 1e-13 |F| / h. */
static const double TIME_PART = 1.0 / 128.0;

/* Steps in a row, and their size against time and other steps, that may leave equations of exempt
 * variables unmet. Jumps of a cubic equation by factors of 3 to 10 take 1 to 50. */
enum { MOST_DEFECTIVE = 100 };
static const double WAITING = 1e-7;

/* What survives between steps. */
typedef struct rosenbrock_state {
    const rosenbrock_table *table;
    double t, t_old;
    long step;             /* counts starts and accepted steps */
    double *y, *z, *y_old; /* at t and t_old; z = y' */
    double *d1, *d2;       /* of cubic_value on the last step */
    rosenbrock_mix mix;
    double longest; /* of the steps so far */
    int defective;  /* steps in a row that left a defect, see defect_at_end */
    bool memory;    /* there was enough at the start; if not, the first attempt tells */
} rosenbrock_state;

/* One attempt. */
typedef struct rosenbrock_scratch {
    double t, h;
    double first_h;      /* size of the first try since the last accepted step; 0: none */
    long evaluated_step; /* the step to which f, rate and the partial derivatives belong; */
    long evaluations;    /* of the iteration, when they were made */
    double defect;       /* of exempt variables at the end */
    stages_trial quiet;
    double *f, *rate;                /* F(t, y, z), dF/dt */
    double *point, *z_point, *slope; /* Y_i, Z_i, h S_i: rows of one product */
    double *rhs, *scale, *force;     /* force: F at a stage */
    double *y, *z, *error;           /* candidate, */
    double *d1, *d2;                 /* and its interpolant: rows of another */
    double *X;                       /* h z, U_1, U_2, .. */
} rosenbrock_scratch;

static const method_memory rosenbrock_memory = {
    .state = {sizeof(rosenbrock_state), {VECTORS(rosenbrock_state, y, d2)}},
    .gaps = {GAP(rosenbrock_state, table)},
    .scratch = {sizeof(rosenbrock_scratch),
                {VECTORS(rosenbrock_scratch, f, d2),
                 BLOCKS(rosenbrock_scratch, X, X, ROSENBROCK_STAGES + 1)}},
};

static void rosenbrock_start(void *state, void *scratch, const method_context *ctx,
                             const start_point *at)
{
    rosenbrock_state *s = state;
    const int n = ctx->n;
    method_clear(ctx, s, scratch);
    s->table = ctx->method->table;
    rosenbrock_mix_of(s->table, &s->mix);
    s->t = s->t_old = at->t;
    s->step = 1;
    vectors_begin(n, at->y, s->y, s->y_old);
    vector_copy(n, at->yp, s->z);
    vector_zero(n, s->d1);
    vector_zero(n, s->d2);
    s->memory = iteration_expect_apply(ctx->newton->matrix);
}

/* ---- what belongs to the beginning of the step ------------------------------------------------
 */

/* f = F(t + dt, y, z) */
static attempt_status residual_later(const rosenbrock_state *s, const method_context *ctx,
                                     double dt, double *f)
{
    return stages_from_evaluation(evaluate_residual(ctx->eval, s->t + dt, s->y, s->z, f,
                                                    &ctx->eval->stats->jacobian_residuals));
}

/* rate = (18 F(t + d) - 9 F(t + 2d) + 2 F(t + 3d) - 11 F(t)) / 6d, within the step; 0 if F does not
 * move with t */
static attempt_status time_derivative(const rosenbrock_state *s, rosenbrock_scratch *w,
                                      const method_context *ctx)
{
    const int n = ctx->n;
    const double weight[3] = {18.0, -9.0, 2.0};
    double least = 64.0 * fabs(nextafter(s->t, INFINITY) - s->t);
    double d = copysign(fmax(fabs(w->h) * TIME_PART, least), w->h);
    bool moves = false;
    d = (s->t + d) - s->t;
    vector_zero(n, w->rate);
    for (int k = 0; k < 3; k++) {
        attempt_status status = residual_later(s, ctx, (k + 1) * d, w->rhs);
        if (status != ATTEMPT_OK) return status;
        for (int j = 0; j < n; j++) {
            double change = w->rhs[j] - w->f[j];
            moves = moves || change != 0.0;
            w->rate[j] += weight[k] / (6.0 * d) * change;
        }
        if (!moves) break;
    }
    return ATTEMPT_OK;
}

/* F, its partial derivatives and dF/dt at the beginning of the step, once for all its attempts. */
static attempt_status evaluate_start(const rosenbrock_state *s, rosenbrock_scratch *w,
                                     const method_context *ctx, double cj)
{
    iteration *it = ctx->newton->matrix;
    if (!s->memory) return stages_from_iteration(ITERATION_MEMORY);
    if (w->evaluated_step == s->step && w->evaluations == it->evaluations) return ATTEMPT_OK;
    w->evaluated_step = 0;
    attempt_status status = stages_from_evaluation(
        evaluate_residual(ctx->eval, s->t, s->y, s->z, w->f, &ctx->eval->stats->residuals));
    if (status == ATTEMPT_OK)
        status = stages_from_iteration(
            iteration_evaluate(it, s->t, s->y, s->z, cj, w->h, ctx->norm->weights, w->f));
    if (status == ATTEMPT_OK) status = time_derivative(s, w, ctx);
    if (status != ATTEMPT_OK) return status;
    iteration_prepare_apply(it);
    w->evaluated_step = s->step;
    w->evaluations = it->evaluations;
    return ATTEMPT_OK;
}

/* ---- stages -----------------------------------------------------------------------------------
 */

/* U_i, from 0 */
static double *stage_of(const rosenbrock_scratch *w, int n, int i)
{
    return w->X + (size_t)(i + 1) * (size_t)n;
}

/* point = Y_i, z_point = Z_i, slope = h S_i, i > 0 */
static void stage_point(const rosenbrock_state *s, rosenbrock_scratch *w, const dae_residual *form,
                        int i)
{
    const int n = form->n;
    const double by_h = 1.0 / w->h;
    double *restrict point = w->point, *restrict z_point = w->z_point;
    const double *restrict y = s->y;
    collocation_combine(3, i + 1, n, 1.0, s->mix.stage[i], w->X, w->point);
    for (int j = 0; j < n; j++) {
        point[j] += y[j];
        z_point[j] *= by_h;
    }
    stages_clamp(form, w->point);
}

/* force := F at stage i > 0 */
static attempt_status stage_residual(const rosenbrock_state *s, rosenbrock_scratch *w,
                                     const method_context *ctx, int i)
{
    double t = s->table->alpha[i] == 1.0 ? w->t : s->t + s->table->alpha[i] * w->h;
    return stages_from_evaluation(evaluate_residual(ctx->eval, t, w->point, w->z_point, w->force,
                                                    &ctx->eval->stats->residuals));
}

static attempt_status solve_stage(const rosenbrock_state *s, rosenbrock_scratch *w,
                                  const method_context *ctx, int i)
{
    const int n = ctx->n;
    iteration *it = ctx->newton->matrix;
    double *restrict U = stage_of(w, n, i);
    const double by_time = s->table->gamma_sum[i] * w->h, by_h = 1.0 / w->h;
    const double *slope = i > 0 ? w->slope : w->X;
    const double *restrict force = i > 0 ? w->force : w->f, *restrict rate = w->rate;
    attempt_status status = ATTEMPT_OK;
    if (i > 0) {
        stage_point(s, w, &ctx->eval->problem->form, i);
        status = stage_residual(s, w, ctx, i);
        if (status != ATTEMPT_OK) return status;
    }
    status = stages_from_iteration(iteration_apply_yp(it, NULL, slope, U));
    if (status != ATTEMPT_OK) return status;
    for (int j = 0; j < n; j++) U[j] = U[j] * by_h - (force[j] + by_time * rate[j]);
    status = stages_from_iteration(iteration_solve(it, NULL, U));
    return status == ATTEMPT_OK && !vector_finite(n, U) ? ATTEMPT_EVALUATION : status;
}

/* y_1, z_1, the error and, where the table has them, d1 and d2 */
static void combine_stages(const rosenbrock_state *s, rosenbrock_scratch *w, int n)
{
    const double by_h = 1.0 / w->h;
    collocation_combine(s->table->dense ? 5 : 3, s->table->stages + 1, n, 1.0, s->mix.end, w->X,
                        w->y);
    for (int j = 0; j < n; j++) {
        w->y[j] += s->y[j];
        w->z[j] *= by_h;
    }
}

/* All stages, then y_1, z_1 and the error. */
static attempt_status solve_stages(const rosenbrock_state *s, rosenbrock_scratch *w,
                                   const method_context *ctx, attempt *result)
{
    const rosenbrock_table *table = s->table;
    const double cj = 1.0 / (table->gamma * w->h);
    attempt_status status = evaluate_start(s, w, ctx, cj);
    if (status == ATTEMPT_OK)
        status = stages_from_iteration(iteration_factor(ctx->newton->matrix, cj, NULL));
    for (int j = 0; j < ctx->n; j++) w->X[j] = w->h * s->z[j];
    for (int i = 0; i < table->stages && status == ATTEMPT_OK; i++) {
        status = solve_stage(s, w, ctx, i);
        result->stage = i + 1;
    }
    if (status != ATTEMPT_OK) return status;
    result->stage = 0;
    combine_stages(s, w, ctx->n);
    return ATTEMPT_OK;
}

/* d1, d2 of the candidate, if they are not sums over stages. At a start y' is known for
 * differential variables only. */
static void prepare_dense(const rosenbrock_state *s, rosenbrock_scratch *w,
                          const method_context *ctx)
{
    const int n = ctx->n;
    bool first = s->step == 1;
    if (!s->table->dense)
        cubic_from_slopes(n, w->h, s->y, w->y, first ? NULL : s->z, w->z, w->d1, w->d2);
    if (!ctx->smooth) return;
    vector_copy(n, s->z, w->slope);
    for (int j = 0; first && j < n; j++)
        if (ctx->norm->kinds[j] != DAE_KIND_DIFFERENTIAL)
            w->slope[j] = (w->y[j] - s->y[j] + w->d1[j]) / w->h;
    cubic_from_slopes(n, w->h, s->y, w->y, w->slope, w->z, w->d1, w->d2);
}

/* How wrong the interpolant is at x. */
static double look(const void *state, void *scratch, const method_context *ctx, double x,
                   double **correction)
{
    const rosenbrock_state *s = state;
    rosenbrock_scratch *w = scratch;
    const int n = ctx->n;
    cubic_value(n, x, w->h, 0, s->y, w->y, w->d1, w->d2, w->point);
    cubic_value(n, x, w->h, 1, s->y, w->y, w->d1, w->d2, w->z_point);
    *correction = w->rhs;
    return stages_dense_error(ctx, s->t + x * w->h, w->point, w->z_point, w->scale, w->rhs);
}

/* The error of the candidate, and that of its interpolant where events depend on it, or no stage
 * lies within the step. */
static double error_of(const rosenbrock_state *s, rosenbrock_scratch *w, const method_context *ctx)
{
    stages_error_scale(ctx->norm, ctx->error_test, w->scale);
    double error = norm_of(ctx->norm, w->error, w->scale);
    return stages_error_between(ctx,
                                stages_looked_at(ctx) || !s->table->within ? STAGES_DENSE : 0.0,
                                error, w->h, &w->quiet, w->scale, look, s, w);
}

/* Newton's correction of exempt variables at the end of the step, in tolerances: their errors are
 * not tested, and no iteration solves their equations, which may have no solution any more. */
static double defect_at_end(rosenbrock_scratch *w, const method_context *ctx, attempt *result)
{
    const error_norm *norm = ctx->norm;
    double most = 0.0;
    eval_status status =
        evaluate_residual(ctx->eval, w->t, w->y, w->z, w->rhs, &ctx->eval->stats->residuals);
    if (status != EVAL_OK) {
        result->status = stages_from_evaluation(status);
        return INFINITY;
    }
    if (iteration_solve(ctx->newton->matrix, NULL, w->rhs) != ITERATION_OK) return INFINITY;
    for (int j = 0; j < norm->n; j++)
        if (norm->exempt[j]) most = fmax(most, fabs(w->rhs[j]) * norm->scale[j]);
    return most;
}

/* A jump may leave a defect for some steps, as many as Newton's method would take, which must be
 * short against all others: the solution cannot go on before its equations are met. */
static void check_exempt(const rosenbrock_state *s, rosenbrock_scratch *w,
                         const method_context *ctx, attempt *result)
{
    w->defect = 0.0;
    if (ctx->norm->exempt_count == 0) return;
    w->defect = defect_at_end(w, ctx, result);
    bool waits = fabs(w->h) <= WAITING * fmax(fabs(s->t), s->longest);
    if (w->defect > 1.0 && !(waits && s->defective < MOST_DEFECTIVE))
        result->error = fmax(result->error, w->defect);
}

static void rosenbrock_attempt(const void *state, void *scratch, const method_context *ctx,
                               double h, int order, attempt *result)
{
    const rosenbrock_state *s = state;
    rosenbrock_scratch *w = scratch;
    (void)order;
    w->t = s->t + h;
    w->h = h;
    stages_begin(result, s->t, h, s->table->order, w->y, w->z);
    stages_no_newton(ctx);
    if (stages_need_matrix(ctx, result) || stages_refuse_index3(ctx, result)) return;
    norm_set_step(ctx->norm, h);
    result->status = solve_stages(s, w, ctx, result);
    if (result->status != ATTEMPT_OK) return;
    const dae_residual *form = &ctx->eval->problem->form;
    bound_slack slack = stages_slack(ctx->norm, h, &w->first_h);
    result->bound_ratio = 1.0;
    stages_within_bounds(form, slack, 1.0, s->y, w->y, &result->bound_ratio,
                         &ctx->newton->bound_variable);
    if (result->bound_ratio < 1.0) { /* by how much says little: halve it */
        result->bound_ratio = fmin(0.5, result->bound_ratio);
        result->status = ATTEMPT_BOUND;
        return;
    }
    stages_clamp(form, w->y);
    prepare_dense(s, w, ctx);
    result->error = error_of(s, w, ctx);
    result->estimate = w->error;
    check_exempt(s, w, ctx, result);
}

static void rosenbrock_accept(void *state, void *scratch, const method_context *ctx)
{
    rosenbrock_state *s = state;
    rosenbrock_scratch *w = scratch;
    const int n = ctx->n;
    w->first_h = 0.0;
    w->quiet = (stages_trial){0};
    s->defective = w->defect > 1.0 ? s->defective + 1 : 0;
    s->longest = fmax(s->longest, fabs(w->h));
    s->t_old = s->t;
    s->t = w->t;
    s->step++;
    vectors_advance(n, w->y, s->y, s->y_old);
    vector_copy(n, w->z, s->z);
    vector_copy(n, w->d1, s->d1);
    vector_copy(n, w->d2, s->d2);
}

static void rosenbrock_interpolate(const void *state, const method_context *ctx, double t,
                                   int derivative, double *y)
{
    const rosenbrock_state *s = state;
    if (s->step == 1 || t == s->t) {
        vector_copy(ctx->n, derivative ? s->z : s->y, y);
        return;
    }
    double h = s->t - s->t_old;
    cubic_value(ctx->n, (t - s->t_old) / h, h, derivative, s->y_old, s->y, s->d1, s->d2, y);
}

#define ROSENBROCK_METHOD(id, label, about, source, highest, range)                                \
    const method method_##id = {                                                                   \
        .name = label,                                                                             \
        .summary = about,                                                                          \
        .citation = source,                                                                        \
        .max_order = highest,                                                                      \
        .fixed_order = true,                                                                       \
        .rough_between = true,                                                                     \
        .no_iteration = true,                                                                      \
        .index_range = range,                                                                      \
        .table = &rosenbrock_##id,                                                                 \
        METHOD_STEPS(rosenbrock),                                                                  \
    }

ROSENBROCK_METHOD(rodas, "rodas:4", "Rosenbrock method of order 4(3), no Newton; F(t,y,y') = 0",
                  "Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., Springer "
                  "1996, IV.7, VI.4",
                  4, "1");
ROSENBROCK_METHOD(rodasp, "rodas:p",
                  "Rosenbrock method of order 4(3) for parabolic equations and index 2",
                  "Steinebach: Order-reduction of ROW-methods for DAEs and method of lines "
                  "applications, Preprint 1741, TH Darmstadt 1995",
                  4, "1 to 2");
ROSENBROCK_METHOD(rodas4p2, "rodas:p2", "Rosenbrock method of order 4(3), as variant p, index 2",
                  "Steinebach: Improvement of Rosenbrock-Wanner method RODASP, in: Progress in "
                  "Differential-Algebraic Equations II, Springer 2020, 165-184",
                  4, "1 to 2");
ROSENBROCK_METHOD(rodas3, "rodas:3", "Rosenbrock method of order 3(2), for few digits",
                  "Sandu, Verwer, Blom, Spee, Carmichael, Potra: Benchmarking stiff ODE solvers "
                  "for atmospheric chemistry problems II, Atmos. Environ. 31 (1997) 3459-3472",
                  3, "1");
