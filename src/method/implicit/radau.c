/* Radau IIA collocation of orders 5, 9 and 13 (1 where nothing else works) for F(t, y, y') = 0,
 * after RADAU5 and RADAU [HW96 IV.8; HW99]. docs/methods/radau.md has the formulas. */
#include "method/implicit/radau_parts.h"

#include "base/vector.h"
#include "matrix/shifted.h"
#include "method/common/stages.h"

enum { MOST_STAGES = COLLOCATION_STAGES };

/* Growth a step of the limit that a failure of Newton's method sets. */
static const double LIMIT_FADES = 1.4;
/* The polynomial of the last step is continued only if that of the step before met the end of the
 * last one so well, relative to its way: else it may lead to another root. With predictions
 * throughout, 20 of 101 runs of radau9 and radau13 on Robertson's problem at rtol = 1e-2 .. 1e-5
 * leave the positive solution; in this way none of 1001 does (with 0.9: 8). */
static const double MOST_MISS = 0.3;
/* A try with at most this error is still close to the solution. */
static const double MOST_REJECTED = 100.0;
/* Contraction of Newton's method from which on estimates are multiplied. */
static const double SLOW = 0.2;
/* Values between steps may be wrong by 10 tolerances where events depend on them, and by one where
 * they are asked for (ctx->between). */
static const double DENSE_WEIGHT = 0.1;

static const method_memory radau_memory = {
    .state = {sizeof(radau_state),
              {VECTORS(radau_state, y, yp_old), BLOCKS(radau_state, Z, Z, MOST_STAGES)}},
    .gaps = {GAP(radau_state, m), GAP(radau_state, failure)},
    .scratch_gaps = {GAP(radau_scratch, step.m), GAPS(radau_scratch, step.y, step.yp),
                     GAP(radau_scratch, step.D), GAP(radau_scratch, step.scale),
                     GAP(radau_scratch, rejected_m), GAPS(radau_scratch, from, places)},
    .scratch = {sizeof(radau_scratch),
                {VECTORS(radau_scratch, y, scale),
                 COLLOCATION_VECTORS(radau_scratch, MOST_STAGES)}},
};

/* The number of stages for an order at least. */
static int stages_for(int order)
{
    return order <= 1 ? 1 : order <= 5 ? 3 : order <= 9 ? 5 : 7;
}

/* Begin with the number of stages that suits the tolerance, if it may vary. */
static void start_between(void *state, void *scratch, const method_context *ctx,
                          const start_point *at, int least, int most)
{
    radau_state *s = state;
    radau_scratch *w = scratch;
    method_clear(ctx, state, scratch);
    s->t = s->t_old = at->t;
    s->least = least;
    s->most = most;
    const int first = radau_first_stages(ctx->norm, at->y);
    s->stages = first < least ? least : first > most ? most : first;
    w->step.newton.eta = 1.0;
    vectors_begin(ctx->n, at->y, s->y, s->y_old);
    vectors_begin(ctx->n, at->yp, s->yp, s->yp_old);
    s->failure = projection_start(ctx->cache);
    shifted_prepare(ctx->newton->matrix, most / 2); /* a failure shows at the first attempt */
}

/* One number of stages for a method of that name; radau has those of the orders allowed. */
static void radau_start(void *state, void *scratch, const method_context *ctx,
                        const start_point *at)
{
    const int *only = ctx->method->table;
    if (only)
        start_between(state, scratch, ctx, at, *only, *only);
    else
        start_between(state, scratch, ctx, at, stages_for(ctx->options->min_order), 7);
}

/* w->E: the polynomial of the last step at the stages of this one */
static void extrapolate(const radau_state *s, radau_scratch *w)
{
    double ratio = w->step.h / s->accepted_h;
    if (ratio == w->ratio && w->from == s->m && w->to == w->step.m) return;
    collocation_extrapolation(s->m, w->step.m, ratio, w->E);
    w->ratio = ratio;
    w->from = s->m;
    w->to = w->step.m;
}

/* Stages on the polynomial of a try that failed the error test only: it is nearly right on the
 * shorter step, where that of the last step has to be continued. */
static void predict_from_rejected(radau_scratch *w, int n)
{
    const collocation *m = w->rejected_m;
    double W[COLLOCATION_STAGES * COLLOCATION_STAGES], *Z = w->step.Z;
    for (int i = 0; i < w->step.m->stages; i++)
        collocation_weights(m, w->step.m->nodes[i] * w->step.h / w->rejected_h, 0,
                            W + i * m->stages);
    collocation_combine(w->step.m->stages, m->stages, n, 1.0, W, Z, w->step.V);
    w->step.Z = w->step.V;
    w->step.V = Z;
}

/* Stages on the polynomial of the last step, or 0 where such predictions are no use; on a first
 * step on the tangent, since its size follows y', and 0 if that failed. */
static void predict(const radau_state *s, radau_scratch *w, int n)
{
    if (w->interpolates) {
        predict_from_rejected(w, n);
        return;
    }
    if (!s->m) {
        for (int i = 0; i < w->step.m->stages; i++) {
            double reach = w->tries == 1 ? w->step.m->nodes[i] * w->step.h : 0.0;
            for (int j = 0; j < n; j++) w->step.Z[i * n + j] = reach * s->yp[j];
        }
        return;
    }
    extrapolate(s, w);
    collocation_combine(w->step.m->stages, s->m->stages, n, 1.0, w->E, s->Z, w->step.Z);
    if (s->miss > MOST_MISS)
        memset(w->step.Z, 0, (size_t)w->step.m->stages * (size_t)n * sizeof(double));
}

/* ||Z_s - P|| / ||Z_s||, P what the polynomial of the step before says of Z_s; at most 1 */
static double prediction_miss(const radau_state *s, radau_scratch *w, const method_context *ctx)
{
    const int n = ctx->n, end = w->step.m->stages - 1;
    const double *last = w->step.Z + (size_t)end * (size_t)n, *scale = ctx->norm->newton;
    if (!s->m) return 0.0;
    extrapolate(s, w);
    collocation_combine(1, s->m->stages, n, 1.0, w->E + end * s->m->stages, s->Z, w->step.point);
    vector_axpy(n, -1.0, last, w->step.point);
    double wrong = norm_of(ctx->norm, w->step.point, scale), way = norm_of(ctx->norm, last, scale);
    return wrong < way ? wrong / way : 1.0;
}

/* prod (1 - c_i) / (x - c_i) over the nodes before the end: the slope at 1 over the value at x of
 * prod (x - c_i), but for the factor x - 1 */
static double end_of_defect(const collocation *m, double x)
{
    double ratio = 1.0;
    for (int i = 0; i < m->stages - 1; i++) ratio *= (1.0 - m->nodes[i]) / (x - m->nodes[i]);
    return ratio / (x - 1.0);
}

/* What the end of a step needs of this method: rows over the stages, one after the other, of y_1'
 * h, q'(0), the leading coefficient of q, and q' and q between the last two nodes, where the defect
 * is looked at for stiff variables. */
static void prepare_ends(radau_ends *e, const collocation *m)
{
    const int s = m->stages;
    const size_t row = (size_t)s * sizeof(double);
    if (e->m == m) return;
    e->m = m;
    e->x = 0.5 * (1.0 + (s > 1 ? m->nodes[s - 2] : 0.0));
    e->weight = STAGES_STIFF_END * fabs(end_of_defect(m, e->x)) / m->gamma;
    memcpy(e->rows, m->inverse + (s - 1) * s, row);
    memcpy(e->rows + s, m->left, row);
    memcpy(e->rows + 2 * s, m->lagrange, row);
    collocation_weights(m, e->x, 1, e->rows + 3 * s);
    collocation_weights(m, e->x, 0, e->rows + 4 * s);
}

/* y_1 = y + Z_s, y_1' = (A^-1 Z)_s / h, slope = q'(0) / h; error = the leading coefficient of q,
 * over h: in one pass, since these vectors follow each other. q' at x over h, and y + q there,
 * stand in V, whose slopes of stages nobody needs any more. */
static void finish_stages(const radau_state *s, radau_scratch *w, int n)
{
    const int stages = w->step.m->stages;
    const double *last = w->step.Z + (size_t)(stages - 1) * (size_t)n, h = w->step.h;
    double *inside = w->step.V + n;
    prepare_ends(&w->ends, w->step.m);
    collocation_combine(3, stages, n, 1.0 / h, w->ends.rows, w->step.Z, w->yp);
    collocation_combine(2, stages, n, 1.0 / h, w->ends.rows + 3 * stages, w->step.Z, w->step.V);
    for (int j = 0; j < n; j++) {
        w->y[j] = s->y[j] + last[j];
        inside[j] = s->y[j] + h * inside[j];
    }
}

/* error := -(dF/dy + gamma/h dF/dy')^-1 F(t, y + shift, q'(0)/h); `shift` may be NULL */
static bool defect_of(const radau_state *s, radau_scratch *w, const method_context *ctx,
                      const double *shift)
{
    const int n = ctx->n;
    for (int j = 0; j < n; j++) w->step.point[j] = s->y[j] + (shift ? shift[j] : 0.0);
    stages_clamp(&ctx->eval->problem->form, w->step.point);
    eval_status status = evaluate_residual(ctx->eval, s->t, w->step.point, w->slope, w->defect,
                                           &ctx->eval->stats->residuals);
    w->stop = w->stop || status == EVAL_STOP;
    if (status != EVAL_OK) return false;
    for (int j = 0; j < n; j++) w->defect[j] = -w->defect[j];
    return radau_filter(ctx, w->defect) == ITERATION_OK;
}

/* error := (dF/dy + gamma/h dF/dy')^-1 dF/dy' (y' - q'(0)/h): the embedded formula of order s, the
 * defect of the collocation polynomial where the step begins [HW96 IV.8] */
static bool embedded_error(const radau_state *s, radau_scratch *w, const method_context *ctx)
{
    const int n = ctx->n;
    /* y' at a start may be a guess, or bear Newton's last error; but what F says of constraints of
     * index 2 and 3 there does not go to 0 with h */
    bool higher = ctx->norm->newton != ctx->norm->scale;
    if (!s->m || (w->tries > 1 && !higher)) {
        if (!defect_of(s, w, ctx, NULL)) return false;
        vector_copy(n, w->defect, w->error);
        return true;
    }
    for (int j = 0; j < n; j++) w->defect[j] = s->yp[j] - w->slope[j];
    if (iteration_apply_yp(ctx->newton->matrix, NULL, w->defect, w->error) != ITERATION_OK)
        return false;
    return radau_filter(ctx, w->error) == ITERATION_OK;
}

/* The estimate by F(t, y + shift, q'(0)/h) in w->error, if that is less than `error`; the lesser.
 */
static double filtered(const radau_state *s, radau_scratch *w, const method_context *ctx,
                       const double *shift, double error)
{
    if (!defect_of(s, w, ctx, shift)) return error;
    double other = w->error_factor * norm_of(ctx->norm, w->defect, w->scale);
    if (!(other < error)) return error;
    vector_copy(ctx->n, w->defect, w->error);
    return other;
}

/* (theta / SLOW)^4, at least 1. Where the partial derivatives change much along the step, the
 * solution is no more accurate than the estimate, whatever the order: with this weight HIRES
 * arrives within 230 tolerances from 1e-9 to 1e-12, without with up to 4000; the evaluations for
 * equal errors are the same on 13 problems. */
static double nonlinearity(const radau_scratch *w)
{
    double slow = fmax(1.0, w->step.newton.theta / SLOW);
    return slow * slow * slow * slow;
}

/* What the interpolant adds to the error; whose variables are blamed for it, then. */
static void add_error_between(const radau_state *s, radau_scratch *w, const method_context *ctx,
                              attempt *result)
{
    double weight = ctx->between ? 1.0 : DENSE_WEIGHT, error = 0.0;
    if (stages_looked_at(ctx)) error = weight * radau_error_between(s, w, ctx, STAGES_LOOK);
    if (!(error > result->error)) return;
    result->error = error;
    if (error == weight * STAGES_NOWHERE) return; /* nobody's */
    result->estimate = w->defect;
    result->error_constant = weight;
}

static double look(const void *state, void *scratch, const method_context *ctx, double x,
                   double **correction)
{
    radau_scratch *w = scratch;
    *correction = w->defect;
    return radau_error_between(state, w, ctx, x);
}

/* The weighted estimate of what is no multiplier: the estimate of those is led by errors that y'
 * comes with, and falls with the h or h^2 of its scale, not with the power of a smooth solution. */
static double error_of_states(radau_scratch *w, const method_context *ctx, double error)
{
    const error_norm *norm = ctx->norm;
    if (norm->newton == norm->scale) return error;
    for (int j = 0; j < norm->n; j++)
        w->step.point[j] = norm->kinds[j] >= DAE_KIND_INDEX2 ? 0.0 : w->error[j];
    return w->error_factor * norm_of(norm, w->step.point, w->scale);
}

/* The error where the solution is abrupt, without the weight of the order; else 0. What does not
 * fall with the step at all is no kink, but comes with the y' of multipliers. */
static double abrupt_error(const radau_state *s, radau_scratch *w, const method_context *ctx,
                           double error)
{
    double plain = error_of_states(w, ctx, error);
    double falling = stages_falling(&w->plain, plain, w->step.h, w->tries > 1);
    if (!s->m || !(falling > 0.0)) return 0.0;
    return plain * stages_abruptness(&w->plain, s->plain_error, w->step.h / s->accepted_h,
                                     w->step.m->stages + 1, w->error_factor);
}

/* defect = (dF/dy + gamma/h dF/dy')^-1 F of the polynomial of this attempt between the last two
 * nodes; false: there is none, or w->stop */
static bool defect_inside(const radau_state *s, radau_scratch *w, const method_context *ctx)
{
    const eval_failure failure = ctx->eval->failure;
    double *slope = w->step.V, *inside = w->step.V + ctx->n; /* by finish_stages */
    stages_clamp(&ctx->eval->problem->form, inside);
    eval_status status = evaluate_residual(ctx->eval, s->t + w->ends.x * w->step.h, inside, slope,
                                           w->defect, &ctx->eval->stats->residuals);
    w->stop = w->stop || status == EVAL_STOP;
    if (status != EVAL_STOP) ctx->eval->failure = failure;
    return status == EVAL_OK && radau_filter(ctx, w->defect) == ITERATION_OK;
}

/* The error of stiff variables at the end of the step, whatever the order, by the defect d of q
 * between the last two nodes. With the time constant T of a variable, z = h/T, d is K(t) w(x),
 * w = prod (x - c_i); the correction c = (dF/dy + gamma/h dF/dy')^-1 d is h d/(z + gamma), and the
 * error at 1 is h K w'(1)/z^2 where z is large: w'(1)/w(x) P c/gamma, P as in stages.h [HW96
 * IV.15]. What does not fall with the step is an error that the step began with. Multipliers of
 * index 2 and 3 are stiff in this sense at every step: nothing is asked with them. */
static double stiff_error(const radau_state *s, radau_scratch *w, const method_context *ctx,
                          double known)
{
    const double weight = w->ends.weight;
    bool higher = ctx->norm->newton != ctx->norm->scale;
    if (higher || !defect_inside(s, w, ctx)) return 0.0;
    double error = weight * STAGES_STIFF_MOST * norm_of(ctx->norm, w->defect, w->scale);
    bool matters = error > known;
    if (matters) error = weight * stages_stiff_end(ctx, w->scale, w->defect, w->step.point);
    double falling = stages_falling(&w->stiff, error, w->step.h, w->tries > 1);
    return !matters ? 0.0 : s->m ? falling : error;
}

/* The weighted error; on a first step or after a failure filtered twice, since the estimate is far
 * too large for stiff components there. With variables of index 2 and 3 both ways to estimate it
 * are tried then: errors of y' enter one of them, residuals of constraints the other. */
static void estimate_error(const radau_state *s, radau_scratch *w, const method_context *ctx,
                           attempt *result)
{
    double factor = w->error_factor;
    stages_error_scale(ctx->norm, ctx->error_test, w->scale);
    w->leading = fabs(w->step.h) * norm_of(ctx->norm, w->error, w->scale); /* finish_stages */
    w->stop = false;
    if (!embedded_error(s, w, ctx)) {
        result->status = w->stop ? ATTEMPT_STOP : ATTEMPT_EVALUATION;
        return;
    }
    double error = factor * norm_of(ctx->norm, w->error, w->scale);
    bool again = !s->m || w->tries > 1, higher = ctx->norm->newton != ctx->norm->scale;
    if (error >= 1.0 && again && higher && s->m) error = filtered(s, w, ctx, NULL, error);
    if (error >= 1.0 && again) error = filtered(s, w, ctx, w->error, error);
    if (w->stop) result->status = ATTEMPT_STOP;
    result->estimate = w->error;
    result->error_constant = factor;
    double more = fmax(abrupt_error(s, w, ctx, error), stiff_error(s, w, ctx, error));
    w->limited = more > error;
    error = fmax(error, more);
    result->error = nonlinearity(w) * error;
    add_error_between(s, w, ctx, result);
    result->error =
        stages_quiet_error(ctx, result->error, w->step.h, &w->quiet, w->scale, look, s, w);
}

/* What the driver tells about Newton's method. */
static void report_newton(const radau_scratch *w, const method_context *ctx)
{
    ctx->newton->iterations = w->step.newton.iterations;
    ctx->newton->rate = w->step.newton.theta;
}

static void judge(const radau_state *s, radau_scratch *w, const method_context *ctx,
                  attempt *result)
{
    if (result->status == ATTEMPT_OK) {
        result->bound_ratio = collocation_within_bounds(&w->step, ctx, &w->first_h);
        if (result->bound_ratio < 1.0) result->status = ATTEMPT_BOUND;
    }
    if (result->status == ATTEMPT_OK) {
        finish_stages(s, w, ctx->n);
        stages_clamp(&ctx->eval->problem->form, w->y);
        estimate_error(s, w, ctx, result);
    }
    bool passed = result->status == ATTEMPT_OK && result->error <= 1.0;
    if (passed || (result->status == ATTEMPT_OK && ctx->fixed_steps))
        result->status = radau_project(w, ctx, result);
    if (result->status == ATTEMPT_OK) {
        result->next_factor = radau_next_factor(s, w, result->error);
        result->next_order = radau_iia(w->next_stages < w->cap ? w->next_stages : w->cap)->order;
        w->error_failures += !passed;
        if (!passed && w->step.newton.ahead) ctx->newton->stale = true;
        w->interpolates = !passed && result->error <= MOST_REJECTED;
    } else {
        w->interpolates = false;
        finish_stages(s, w, ctx->n); /* how far it came, for diagnostics */
        result->next_factor =
            w->newton_failures < 2 ? w->step.newton.shrink : fmin(w->step.newton.shrink, 0.25);
        w->newton_failures++;
        w->failed_h = fabs(w->step.h);
    }
}

static void radau_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                          int order, attempt *result)
{
    const radau_state *s = state;
    radau_scratch *w = scratch;
    w->tries++;
    w->cap = order > 0 ? (order + 1) / 2 : MOST_STAGES;
    w->step.m = radau_iia(radau_stages_now(s, w));
    w->next_stages = w->step.m->stages;
    w->step.from = s->t;
    w->step.t = s->t + h;
    w->step.h = h;
    w->step.y = s->y;
    w->step.yp = s->yp;
    stages_begin(result, s->t, h, w->step.m->order, w->y, w->yp);
    if (stages_need_matrix(ctx, result)) return;
    mechanism_report(s->failure, result);
    if (result->status != ATTEMPT_OK) return;
    radau_set_error_factor(w, ctx, s->y);
    predict(s, w, ctx->n);
    result->status = radau_solve(s, w, ctx, result);
    judge(s, w, ctx, result);
    result->stage = result->status == ATTEMPT_OK ? 0 : result->stage;
    report_newton(w, ctx);
}

static void radau_accept(void *state, void *scratch, const method_context *ctx)
{
    radau_state *s = state;
    radau_scratch *w = scratch;
    const int n = ctx->n;
    s->miss = prediction_miss(s, w, ctx);
    s->since_change = w->next_stages == w->step.m->stages ? s->since_change + 1 : 0;
    s->stages = w->next_stages;
    s->h_limit = w->failed_h > 0.0 ? w->failed_h : LIMIT_FADES * s->h_limit;
    s->m = w->step.m;
    const dae_residual *form = &ctx->eval->problem->form;
    s->moved =
        ((const projection *)ctx->cache)->form != NULL || form->lower_bounds || form->upper_bounds;
    s->accepted_h = w->step.h;
    s->plain_error = w->plain.error;
    s->surprise = w->first_size * w->error_factor;
    s->reach = w->reach;
    s->exponent = w->exponent;
    s->t_old = s->t;
    s->t = w->step.t;
    vectors_advance(n, w->y, s->y, s->y_old);
    vectors_advance(n, w->yp, s->yp, s->yp_old);
    memcpy(s->Z, w->step.Z, (size_t)w->step.m->stages * (size_t)n * sizeof(double));
    if (radau_jacobian_worn(w)) ctx->newton->stale = true;
    w->step.newton.fresh = w->step.newton.ahead = false;
    w->tries = w->newton_failures = w->error_failures = 0;
    w->quiet = (stages_trial){0};
    w->failed_h = w->reach = w->first_h = 0.0;
    w->rejected_m = NULL;
    w->interpolates = false;
}

/* The stages of the last step tell its table. */
static void radau_persist(void *state, const method_context *ctx, persist *p)
{
    radau_state *s = state;
    int stages = s->m ? s->m->stages : 0;
    (void)ctx;
    PERSIST(p, stages);
    const collocation *m = stages > 0 && stages <= MOST_STAGES ? radau_iia(stages) : NULL;
    if (stages != 0 && !m) persist_refuse(p, "the last step has stages that radau does not have");
    if (p->reading && persist_ok(p)) s->m = m;
}

#define RADAU_METHOD(id, label, about, highest, stages)                                            \
    const method method_##id = {                                                                   \
        .name = label,                                                                             \
        .summary = about,                                                                          \
        .citation = "Hairer, Wanner: Stiff differential equations solved by Radau methods, "       \
                    "J. Comput. Appl. Math. 111 (1999) 93-111",                                    \
        .max_order = highest,                                                                      \
        .fixed_order = true,                                                                       \
        .projects = true,                                                                          \
        .rough_between = true,                                                                     \
        .confirms = true,                                                                          \
        .gives_way = (stages) == 0,                                                                \
        .index_range = "1 to 3",                                                                   \
        .table = (stages) ? &(const int){stages} : NULL,                                           \
        METHOD_STEPS(radau),                                                                       \
        METHOD_CACHE(radau),                                                                       \
        .persist = radau_persist,                                                                  \
        .collocates = radau_collocates,                                                            \
    }

RADAU_METHOD(radau, "radau", "Radau IIA collocation, orders 5, 9 and 13 by itself; F(t,y,y') = 0",
             13, 0);
RADAU_METHOD(radau5, "radau:5", "Radau IIA collocation of order 5; F(t,y,y') = 0", 5, 3);
RADAU_METHOD(radau9, "radau:9", "Radau IIA collocation of order 9; F(t,y,y') = 0", 9, 5);
RADAU_METHOD(radau13, "radau:13", "Radau IIA collocation of order 13; F(t,y,y') = 0", 13, 7);
