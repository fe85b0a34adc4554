/* SDIRK methods [HW96 IV.6]; sdirk.h has the formulas. Newton's method is that of control/newton.c.
 */
#include "method/implicit/sdirk.h"

#include "base/vector.h"
#include "method/common/stages.h"

/* Iteration errors of the stages enter the estimate with factors up to 8: they must be so much
 * below what Newton's method has for BDF. */
static const double TIGHTNESS = 20.0;

/* Rates of convergence at which partial derivatives are renewed, with the factors or for them; and
 * after so many stages. */
static const double SLOW = 0.1, WORN = 0.01;
enum { MOST_AGE = 20 };

/* What survives between steps. */
typedef struct sdirk_state {
    const sdirk_table *table;
    double t, t_old;
    long step;                       /* counts starts and accepted steps */
    double *y, *yp, *y_old, *yp_old; /* at t and t_old */
    double *K;                       /* stage derivatives of the last step */
} sdirk_state;

/* One attempt. */
typedef struct sdirk_scratch {
    double t, h;
    bool rejected;      /* the last attempt was not accepted */
    bool by_slope;      /* Newton's method begins with y' of the last step, else with 0 */
    stages_trial slope; /* error of y' where the step begins */
    stages_trial quiet;
    double *y0, *yp0;   /* prediction */
    double *y, *yp, *e; /* iterate, which ends as the candidate */
    double *from;       /* X_i, and work */
    double *error, *scale;
    double *last; /* stage value before this one */
    double *K;    /* stage derivatives */
} sdirk_scratch;

static const method_memory sdirk_memory = {
    .state = {sizeof(sdirk_state),
              {VECTORS(sdirk_state, y, yp_old), BLOCKS(sdirk_state, K, K, SDIRK_STAGES)}},
    .gaps = {GAP(sdirk_state, table)},
    .scratch = {sizeof(sdirk_scratch),
                {VECTORS(sdirk_scratch, y0, last), BLOCKS(sdirk_scratch, K, K, SDIRK_STAGES)}},
};

static void sdirk_start(void *state, void *scratch, const method_context *ctx,
                        const start_point *at)
{
    sdirk_state *s = state;
    const int n = ctx->n;
    method_clear(ctx, s, scratch);
    s->table = ctx->method->table;
    s->t = s->t_old = at->t;
    s->step = 1;
    vectors_begin(n, at->y, s->y, s->y_old);
    vectors_begin(n, at->yp, s->yp, s->yp_old);
}

/* ---- between steps ------------------------------------------------------------------------------
 */

/* y(x) or y'(x) from the start y0 and the stage derivatives K of a step h */
static void dense_value(const sdirk_table *table, int n, double h, double x, int derivative,
                        const double *y0, const double *K, double *y)
{
    if (derivative)
        vector_zero(n, y);
    else
        vector_copy(n, y0, y);
    for (int i = 0; i < table->stages; i++) {
        double weight = 0.0;
        for (int k = SDIRK_DENSE - 1; k >= 0; k--)
            weight = weight * x + (derivative ? k + 1 : 1) * table->dense[k][i];
        vector_axpy(n, derivative ? weight : h * x * weight, K + (size_t)i * (size_t)n, y);
    }
}

/* ---- stages -------------------------------------------------------------------------------------
 */

/* from = X_i */
static void stage_origin(const sdirk_state *s, sdirk_scratch *w, int n, int i)
{
    const double *a = s->table->a + i * (i - 1) / 2;
    vector_copy(n, s->y, w->from);
    for (int j = 0; j < i; j++) vector_axpy(n, w->h * a[j], w->K + (size_t)j * (size_t)n, w->from);
}

/* y0: the first stage begins at y, or on a first step on the tangent: to continue the last step's
 * polynomial may lead to another root of the equations (Robertson's problem at loose tolerances).
 * Where Newton's method fails from y' = 0, as it does for y'^2 = y with every step size, it is the
 * tangent, and the other way round.
 * The others begin on the parabola through y and the last stage with its slope. */
static void predict(const sdirk_state *s, sdirk_scratch *w, int n, int i)
{
    const double *c = s->table->c;
    if (i > 0) {
        const double *slope = w->K + (size_t)(i - 1) * (size_t)n;
        double x = c[i] / c[i - 1], r = 1.0 - x, run = w->h * c[i - 1];
        for (int j = 0; j < n; j++) {
            double way = w->last[j] - s->y[j];
            w->y0[j] = s->y[j] + x * way + x * r * (way - run * slope[j]);
        }
        return;
    }
    bool by_slope = s->step == 1 ? !w->rejected : w->by_slope;
    double reach = by_slope ? c[0] * w->h : 0.0;
    for (int j = 0; j < n; j++) w->y0[j] = s->y[j] + reach * s->yp[j];
}

/* All stages have one cj: a matrix of the very one is worth its factorisation. Partial derivatives
 * are kept with it while Newton's method is fast, and for so many stages: those of a fast phase
 * make corrections look small in the slow one that follows. */
static attempt_status renew_factors(const method_context *ctx, double cj)
{
    newton *nw = ctx->newton;
    iteration *it = nw->matrix;
    if (it->matrix_free || nw->stale || !it->factored) return ATTEMPT_OK;
    if (nw->rate > (it->cj == cj ? SLOW : WORN) || nw->jacobian_age >= MOST_AGE) nw->stale = true;
    if (nw->stale || it->cj == cj) return ATTEMPT_OK;
    attempt_status status = stages_from_iteration(iteration_factor(it, cj, NULL));
    if (status != ATTEMPT_OK) nw->stale = true;
    return status == ATTEMPT_MEMORY ? status : ATTEMPT_OK;
}

static attempt_status solve_stage(const sdirk_state *s, sdirk_scratch *w, const method_context *ctx,
                                  double cj, int i)
{
    const int n = ctx->n;
    stage_origin(s, w, n, i);
    predict(s, w, n, i);
    stages_clamp(&ctx->eval->problem->form, w->y0);
    for (int j = 0; j < n; j++) w->yp0[j] = cj * (w->y0[j] - w->from[j]);
    vector_copy(n, w->y0, w->y);
    vector_copy(n, w->yp0, w->yp);
    vector_zero(n, w->e);
    bool end = i + 1 == s->table->stages;
    corrector c = {.t = end ? w->t : s->t + s->table->c[i] * w->h,
                   .h = w->h,
                   .cj = cj,
                   .tightness = TIGHTNESS,
                   .y0 = w->y0,
                   .yp0 = w->yp0,
                   .y_old = s->y,
                   .y = w->y,
                   .yp = w->yp,
                   .e = w->e};
    if (i == 0) { /* y' = 0 is predicted there */
        c.at_t = s->t;
        c.at_y = s->y;
        c.at_yp = s->yp;
    }
    attempt_status status = newton_solve(ctx->newton, &c);
    vector_copy(n, w->yp, w->K + (size_t)i * (size_t)n);
    vector_copy(n, w->y, w->last);
    return status;
}

static attempt_status solve_stages(const sdirk_state *s, sdirk_scratch *w,
                                   const method_context *ctx, double cj, attempt *result)
{
    attempt_status status = renew_factors(ctx, cj);
    for (int i = 0; i < s->table->stages && status == ATTEMPT_OK; i++) {
        status = solve_stage(s, w, ctx, cj, i);
        result->stage = i + 1;
        result->bound_ratio = fmin(0.5, s->table->c[i] * ctx->newton->bound_ratio);
    }
    if (status == ATTEMPT_OK) result->stage = 0;
    return status;
}

/* Whether steps do not end with their last stage. */
static bool has_weights(const sdirk_table *table)
{
    return table->b[table->stages - 1] != 0.0;
}

/* y_1 = y + h sum b_i Y'_i, and the slope of the interpolant there */
static void combine_stages(const sdirk_state *s, sdirk_scratch *w, int n)
{
    vector_copy(n, s->y, w->y);
    for (int i = 0; i < s->table->stages; i++)
        vector_axpy(n, w->h * s->table->b[i], w->K + (size_t)i * (size_t)n, w->y);
    dense_value(s->table, n, w->h, 1.0, 1, s->y, w->K, w->yp);
}

/* y' of algebraic variables, of which F knows nothing, is that of the interpolant, of order 2; that
 * of the last stage has order 1. */
static void algebraic_slopes(const sdirk_state *s, sdirk_scratch *w, const method_context *ctx)
{
    const int n = ctx->n;
    dense_value(s->table, n, w->h, 1.0, 1, s->y, w->K, w->yp0);
    for (int j = 0; j < n; j++)
        if (ctx->norm->kinds[j] == DAE_KIND_INDEX1 && ctx->newton->matrix->algebraic_column[j])
            w->yp[j] = w->yp0[j];
}

/* ---- error --------------------------------------------------------------------------------------
 */

/* error = (dF/dy + cj dF/dy')^-1 cj dF/dy' (y_1 - embedded): algebraic variables follow the others
 * [HW96 IV.8]; GMRES: as it is */
static bool estimate(const sdirk_state *s, sdirk_scratch *w, const method_context *ctx, double cj)
{
    const sdirk_table *table = s->table;
    const int n = ctx->n;
    iteration *it = ctx->newton->matrix;
    vector_zero(n, w->from);
    for (int i = 0; i < table->stages; i++)
        vector_axpy(n, w->h * table->e[i], w->K + (size_t)i * (size_t)n, w->from);
    vector_copy(n, w->from, w->error);
    if (it->matrix_free) return true;
    if (iteration_apply_yp(it, NULL, w->from, w->error) != ITERATION_OK) return false;
    for (int j = 0; j < n; j++) w->error[j] *= cj;
    return iteration_solve(it, NULL, w->error) == ITERATION_OK;
}

/* How wrong the interpolant is at x. */
static double look(const void *state, void *scratch, const method_context *ctx, double x,
                   double **correction)
{
    const sdirk_state *s = state;
    sdirk_scratch *w = scratch;
    dense_value(s->table, ctx->n, w->h, x, 0, s->y, w->K, w->y0);
    dense_value(s->table, ctx->n, w->h, x, 1, s->y, w->K, w->yp0);
    *correction = w->from;
    return stages_dense_error(ctx, s->t + x * w->h, w->y0, w->yp0, w->scale, w->from);
}

/* What events see of the interpolant, and what a quiet step may not have seen. */
static double error_between(const sdirk_state *s, sdirk_scratch *w, const method_context *ctx,
                            double error)
{
    bool events = ctx->eval->problem->form.event_count > 0;
    return stages_error_between(ctx,
                                events && !ctx->newton->matrix->matrix_free ? STAGES_DENSE : 0.0,
                                error, w->h, &w->quiet, w->scale, look, s, w);
}

/* y' where the step begins against the slope of its interpolant: no stage is there, and a jump of
 * y' before the first one leaves no trace in the embedded formula. At a start y' may be a guess. */
static double error_of_slope(const sdirk_state *s, sdirk_scratch *w, const method_context *ctx,
                             bool rejected)
{
    const int n = ctx->n;
    if (s->step == 1 || ctx->newton->matrix->matrix_free) return 0.0;
    dense_value(s->table, n, w->h, 0.0, 1, s->y, w->K, w->yp0);
    for (int j = 0; j < n; j++) w->yp0[j] = s->yp[j] - w->yp0[j];
    if (!stages_filter_slope(ctx, w->yp0, w->from)) return INFINITY;
    double error = STAGES_SLOPE * norm_of(ctx->norm, w->yp0, w->scale);
    return stages_falling(&w->slope, error, w->h, rejected);
}

static void sdirk_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                          int order, attempt *result)
{
    const sdirk_state *s = state;
    sdirk_scratch *w = scratch;
    const double cj = 1.0 / (s->table->gamma * h);
    (void)order;
    w->t = s->t + h;
    w->h = h;
    stages_begin(result, s->t, h, s->table->order, w->y, w->yp);
    if (stages_refuse_index3(ctx, result)) return;
    result->status = solve_stages(s, w, ctx, cj, result);
    if (result->status == ATTEMPT_CONVERGENCE) w->by_slope = !w->by_slope;
    if (result->status == ATTEMPT_OK && !estimate(s, w, ctx, cj))
        result->status = ATTEMPT_EVALUATION;
    bool rejected = w->rejected;
    w->rejected = true; /* until it is accepted */
    if (result->status != ATTEMPT_OK) return;
    if (has_weights(s->table))
        combine_stages(s, w, ctx->n);
    else
        algebraic_slopes(s, w, ctx);
    stages_error_scale(ctx->norm, ctx->error_test, w->scale);
    result->error = norm_of(ctx->norm, w->error, w->scale);
    result->error = fmax(result->error, error_of_slope(s, w, ctx, rejected));
    result->error = error_between(s, w, ctx, result->error);
    result->estimate = w->error;
    result->next_factor =
        stages_next_factor(result->error, s->table->order, s->step == 1, rejected);
}

static void sdirk_accept(void *state, void *scratch, const method_context *ctx)
{
    sdirk_state *s = state;
    sdirk_scratch *w = scratch;
    const int n = ctx->n;
    s->t_old = s->t;
    s->t = w->t;
    s->step++;
    w->rejected = false;
    w->quiet = (stages_trial){0};
    vectors_advance(n, w->y, s->y, s->y_old);
    vectors_advance(n, w->yp, s->yp, s->yp_old);
    memcpy(s->K, w->K, (size_t)s->table->stages * (size_t)n * sizeof(double));
}

static void sdirk_interpolate(const void *state, const method_context *ctx, double t,
                              int derivative, double *y)
{
    const sdirk_state *s = state;
    const int n = ctx->n;
    if (s->step == 1 || t == s->t) {
        vector_copy(n, derivative ? s->yp : s->y, y);
        return;
    }
    double h = s->t - s->t_old, x = (t - s->t_old) / h;
    dense_value(s->table, n, h, x, derivative, s->y_old, s->K, y);
    if (!ctx->smooth) return;
    for (int i = 0; i < s->table->stages; i++) { /* slopes p'(0) and p'(1), stage by stage */
        const double *K = s->K + (size_t)i * (size_t)n;
        double left = s->table->dense[0][i], right = 0.0;
        for (int k = 0; k < SDIRK_DENSE; k++) right += (k + 1) * s->table->dense[k][i];
        cubic_bend(n, x, h, derivative, left, right, K, y);
    }
    cubic_bend(n, x, h, derivative, -1.0, 0.0, s->yp_old, y);
    cubic_bend(n, x, h, derivative, 0.0, -1.0, s->yp, y);
}

#define SDIRK_METHOD(id, label, about, source, highest, range, constant)                           \
    const method method_##id = {                                                                   \
        .name = label,                                                                             \
        .summary = about,                                                                          \
        .citation = source,                                                                        \
        .max_order = highest,                                                                      \
        .fixed_order = true,                                                                       \
        .rough_between = true,                                                                     \
        .confirms = true,                                                                          \
        .constant_steps = constant,                                                                \
        .index_range = range,                                                                      \
        .table = &sdirk_##id,                                                                      \
        METHOD_STEPS(sdirk),                                                                       \
    }

#define ALEXANDER                                                                                  \
    "Alexander: Diagonally implicit Runge-Kutta methods for stiff ODEs, SIAM J. Numer. Anal. 14 "  \
    "(1977) 1006-1021"

SDIRK_METHOD(sdirk2, "sdirk:2", "SDIRK method of order 2, L-stable; F(t,y,y') = 0", ALEXANDER, 2,
             "1 to 2", false);
SDIRK_METHOD(sdirk3, "sdirk:3", "SDIRK method of order 3(2), L-stable; F(t,y,y') = 0", ALEXANDER, 3,
             "1 to 2", false);
SDIRK_METHOD(sdirk4, "sdirk:4", "SDIRK method of order 4(3), L-stable; F(t,y,y') = 0",
             "Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., Springer 1996, "
             "IV.6",
             4, "1 to 2", false);
SDIRK_METHOD(
    houbak, "sdirk:2:houbak",
    "SDIRK method of order 2, L-stable, not stiffly accurate; F(t,y,y') = 0",
    "Coefficients of our own with what Brenan, Campbell, Petzold, Table 4.3.1, print of the "
    "method of Houbak, Thomsen: A FORTRAN subroutine for the solution of stiff ODEs with "
    "sparse Jacobians, Technical University of Denmark (1979), which they do not print",
    2, "1", true);
