/* Algorithm 3.3 of [Baese17] as a method: steps, error estimates, and the variants by name. */
#include "method/half_explicit/herk.h"

#include <math.h>

#include "base/vector.h"
#include "method/common/stages.h"
#include "method/half_explicit/herk_parts.h"

/* Below this relative tolerance 12 stages of order 8 beat 6 of order 5: on the pendulum of [Baese17
 * (4.5)] over ten periods, 3600 right-hand sides for an error of 2e-5 against 5600 for 2e-4. */
static const double TIGHT = 2e-6;

/* One attempt. */
typedef struct herk_scratch {
    double t, h;
    int stage;        /* at work, from 1; the one behind the last is the end of the step */
    bool begun;       /* xp_first belongs to the start */
    double *xp_first; /* x' at the start, before the first step is accepted */
    double *X, *middle, *x_full;
    double *x, *xp; /* the end of the step */
    double *e, *e_low;
    double *y, *yp, *estimate; /* the same in the numbering of y */
    double *point;             /* for interpolation, and for a norm */
    double *K;                 /* derivatives of the stages, s + 1 of them */
    double rough;              /* see herk_state */
} herk_scratch;

enum { STAGE_VECTORS = TABLEAU_MOST_STAGES + 1 };

static const method_memory herk_memory = {
    .state = {sizeof(herk_state),
              {VECTORS(herk_state, x, y), BLOCKS(herk_state, K, K, STAGE_VECTORS)}},
    .scratch = {sizeof(herk_scratch),
                {VECTORS(herk_scratch, xp_first, point),
                 BLOCKS(herk_scratch, K, K, STAGE_VECTORS)}},
};

static void gather(const herk_work *w, const double *y, double *x)
{
    for (int i = 0; i < w->n; i++) x[i] = y[herk_place(w, i)];
}

static void scatter(const herk_work *w, const double *x, double *y)
{
    for (int i = 0; i < w->n; i++) y[herk_place(w, i)] = x[i];
}

/* ---- the start ------------------------------------------------------------------------------ */

/* A variant with the user's options, where they say something. */
static herk_config configure(const herk_config *variant, const dae_herk_options *o)
{
    herk_config c = *variant;
    if (!o) return c;
    if (o->safety > 0.0) c.beta = o->safety;
    if (o->newton_tolerance > 0.0) c.newton_tolerance = o->newton_tolerance;
    if (o->pivot_tolerance > 0.0) c.pivot_tolerance = o->pivot_tolerance;
    if (o->increment > 0.0) c.increment = o->increment;
    if (o->simplified_newton) c.classical = o->simplified_newton == DAE_SWITCH_OFF;
    c.differences = o->given_jacobian == DAE_SWITCH_OFF || o->increment > 0.0;
    c.need_jacobian = o->given_jacobian == DAE_SWITCH_ON;
    c.constant_E = o->constant_E == DAE_SWITCH_ON;
    c.variable_E = o->constant_E == DAE_SWITCH_OFF;
    return c;
}

void herk_start(void *state, void *scratch, const method_context *ctx, const start_point *at,
                const herk_config *config)
{
    herk_state *s = state;
    herk_scratch *r = scratch;
    herk_work *w = ctx->cache;
    method_clear(ctx, s, r);
    s->t = s->t_old = r->t = at->t;
    s->step = ++w->numbered;
    herk_work_reset(w);
    w->config = configure(config, ctx->options ? ctx->options->herk : NULL);
    const tableau *table = config->table;
    const dae_table *own = ctx->method->takes_table && ctx->options ? ctx->options->table : NULL;
    if (!table) table = norm_finest(ctx->norm) < TIGHT ? &tableau_dop853 : &tableau_dopri5;
    if (own)
        own_tableau(own, &w->table);
    else
        tableau_round(table, &w->table);
    vector_copy(ctx->n, at->y, s->y);
    gather(w, at->y, s->x);
    gather(w, at->yp, s->xp);
    vector_copy(w->n, s->x, s->x_old);
    vector_copy(w->n, s->xp, s->xp_old);
}

/* ---- one Runge-Kutta step ------------------------------------------------------------------- */

/* x' at the start of the step */
static const double *first_derivative(const herk_state *s, const herk_scratch *r)
{
    return s->steps == 0 && r->begun ? r->xp_first : s->xp;
}

/* A guess of the required components at t: the last step's cubic goes on, not too far. */
static void predict_required(const herk_state *s, const herk_scratch *r, const herk_work *w,
                             double t, double *x)
{
    double h = s->t - s->t_old, beyond = t - s->t;
    bool cubic = s->steps > 0 && h != 0.0 && fabs(beyond) <= 2.0 * fabs(h);
    const double *xp = first_derivative(s, r);
    for (int j = 0; j < w->n; j++) {
        if (!w->required[j] || w->leading == LEADING_GENERAL) continue;
        x[j] = s->x[j] + beyond * xp[j];
        if (!cubic) continue;
        double secant = (s->x[j] - s->x_old[j]) / h;
        double second = (xp[j] - secant) / h;
        double third = (xp[j] - 2.0 * secant + s->xp_old[j]) / (h * h);
        x[j] += beyond * beyond * (second + (beyond + h) * third);
    }
}

/* What herk_newton needs to know. */
static double thesis_tolerance(const herk_work *w, const method_context *ctx)
{
    double given = w->config.newton_tolerance;
    return given > 0.0 ? given : 0.01 * ctx->norm->atol;
}

/* Solve (3.2b) from a guess: predicted, or the last stage's values as in the thesis. */
static attempt_status solve_stage(const herk_state *s, const herk_scratch *r,
                                  const method_context *ctx, double t, const double *before,
                                  double *x)
{
    herk_work *w = ctx->cache;
    if (!w->config.thesis) {
        predict_required(s, r, w, t, x);
        return herk_newton(w, ctx->norm, t, x);
    }
    for (int k = 0; k < w->ng; k++) x[w->algebraic[k]] = before[w->algebraic[k]];
    return herk_newton_thesis(w, thesis_tolerance(w, ctx), t, x);
}

/* Algorithm 3.3 from (t, x0) to x1, with K_1 given: (3.2a) to (3.2e). */
static attempt_status runge_kutta(const herk_state *s, herk_scratch *r, const method_context *ctx,
                                  double t, double h, const double *x0, double *x1)
{
    herk_work *w = ctx->cache;
    const rounded_tableau *b = &w->table;
    const double *before = x0;
    for (int i = 1; i <= b->stages; i++) {
        r->stage = i + 1;
        double at = t + b->c[i] * h, *x = i < b->stages ? r->X : x1;
        if (before == r->X && x == r->X) { /* its algebraic components are needed once more */
            vector_copy(w->n, r->X, r->e);
            before = r->e;
        }
        herk_combine(w->n, x0, h, i, b->a[i], r->K, x);
        attempt_status status = solve_stage(s, r, ctx, at, before, x);
        if (status == ATTEMPT_OK && i < b->stages)
            status = herk_derivative(w, at, x, r->K + (size_t)i * (size_t)w->n);
        if (status != ATTEMPT_OK) return status;
        before = x;
    }
    return ATTEMPT_OK;
}

/* g_x at the start of a step, unless it is known. */
static attempt_status first_jacobian(const herk_state *s, herk_work *w, double t, const double *x)
{
    if (w->J_step == s->step) return ATTEMPT_OK;
    attempt_status status = herk_evaluate(w, HERK_JACOBIAN, t, x, w->J[w->current]);
    if (status != ATTEMPT_OK) return status;
    HERK_COUNT(w, jacobians);
    w->J_step = s->step;
    w->R_current = w->R_current && w->form->g_x_matrix.constant;
    return ATTEMPT_OK;
}

/* One step of the thesis: the selection at its beginning, then the stages. */
static attempt_status thesis_step(const herk_state *s, herk_scratch *r, const method_context *ctx,
                                  double t, double h, const double *x0, double *x1)
{
    herk_work *w = ctx->cache;
    w->J_step = 0;
    attempt_status status = first_jacobian(s, w, t, x0);
    if (status == ATTEMPT_OK) status = herk_derivative(w, t, x0, r->K);
    if (status == ATTEMPT_OK) status = herk_select(w, w->J[w->current]);
    w->J_step = 0;
    return status == ATTEMPT_OK ? runge_kutta(s, r, ctx, t, h, x0, x1) : status;
}

/* ---- attempts ---------------------------------------------------------------------------------
 */

/* A selection where one is needed within a run: the matrices of a checkpoint are made anew. r->K is
 * overwritten. */
static attempt_status select_again(const herk_state *s, herk_scratch *r, herk_work *w)
{
    attempt_status status = herk_derivative(w, s->t, s->x, r->K);
    if (status == ATTEMPT_OK) status = herk_select(w, w->J[w->current]);
    w->R_current = status == ATTEMPT_OK;
    w->look = false;
    return status;
}

/* Selection, Jacobian and x' at the start of a step. */
static attempt_status begin_step(const herk_state *s, herk_scratch *r, herk_work *w)
{
    attempt_status status = first_jacobian(s, w, s->t, s->x);
    if (status != ATTEMPT_OK) return status;
    if (s->steps == 0 && !r->begun) {
        status = herk_derivative(w, s->t, s->x, r->xp_first);
        if (status == ATTEMPT_OK) status = herk_select(w, w->J[w->current]);
        if (status == ATTEMPT_OK)
            status = herk_complete_derivative(w, s->t, s->x, w->J[w->current], r->xp_first);
        w->R_current = r->begun = status == ATTEMPT_OK;
        w->look = false;
        return status;
    }
    if (!w->selected) return select_again(s, r, w);
    if (!w->look) return ATTEMPT_OK;
    if (!w->R_current) {
        status = herk_factor(w, w->J[w->current]);
        if (status == ATTEMPT_SINGULAR) status = herk_select(w, w->J[w->current]);
        w->R_current = status == ATTEMPT_OK;
    }
    if (status == ATTEMPT_OK) status = herk_watch(w, w->J[w->current]);
    w->look = status != ATTEMPT_OK;
    return status;
}

/* The end of a step: x' there, and g_x for the next one. */
static attempt_status finish_step(const herk_state *s, herk_scratch *r, herk_work *w,
                                  const double *slope)
{
    double t = s->t + r->h, *J = w->J[1 - w->current];
    const double *xp0 = first_derivative(s, r);
    vector_copy(w->n, slope, r->xp);
    for (int j = 0; j < w->n && w->leading != LEADING_GENERAL; j++)
        if (w->required[j]) r->xp[j] = 2.0 * (r->x[j] - s->x[j]) / r->h - xp0[j];
    attempt_status status = ATTEMPT_OK;
    if (w->form->g_x_matrix.constant)
        vector_copy((int)w->form->g_x_matrix.count, w->J[w->current], J);
    else {
        status = herk_evaluate(w, HERK_JACOBIAN, t, r->x, J);
        HERK_COUNT(w, jacobians);
    }
    return status == ATTEMPT_OK ? herk_complete_derivative(w, t, r->x, J, r->xp) : status;
}

/* ||h sum e_i K_i||, extended to the algebraic components; r->estimate in the numbering of y */
static double embedded_norm(herk_scratch *r, const method_context *ctx, const double *weights,
                            double *e)
{
    herk_work *w = ctx->cache;
    vector_zero(w->n, r->X);
    herk_combine(w->n, r->X, r->h, w->table.stages + 1, weights, r->K, e);
    herk_extend(w, w->J[w->current], e);
    vector_zero(ctx->n, r->estimate);
    scatter(w, e, r->estimate);
    return norm_of(ctx->norm, r->estimate, ctx->norm->tested);
}

/* A single estimate of order 4 does not see much of a kink, see hem_table.c; for two see prk.c. */
static const double SINGLE_COUNTS = 3.0, PAIR_COUNTS = 10.0;

/* The pair's estimate; two of them combined as in DOP853 [HNW93 (10.17)]. */
static double embedded_error(herk_scratch *r, const method_context *ctx)
{
    const herk_work *w = ctx->cache;
    double low = w->table.has_low ? embedded_norm(r, ctx, w->table.error_low, r->e_low) : 0.0;
    double error = embedded_norm(r, ctx, w->table.error, r->e);
    if (!w->table.has_low) return SINGLE_COUNTS * error;
    if (error == 0.0) return error;
    double factor = PAIR_COUNTS * error / sqrt(error * error + 0.01 * low * low);
    for (int i = 0; i < ctx->n; i++) r->estimate[i] *= factor;
    return error * factor;
}

/* h |slopes| / |values| over the boundary of stability, both without algebraic components: what
 * the table says of |lambda| [HW96 IV.2] */
static double stability(const herk_scratch *r, const method_context *ctx, const double *slopes,
                        const double *values, double boundary)
{
    const herk_work *w = ctx->cache;
    double slope_sum = 0.0, value_sum = 0.0;
    for (int j = 0; j < w->n; j++) {
        if (w->algebraic_place[j] >= 0) continue;
        double scale = ctx->norm->scale[herk_place(w, j)];
        double slope = slopes[j] * scale, value = values[j] * scale;
        slope_sum += slope * slope;
        value_sum += value * value;
    }
    return value_sum > 0.0 ? fabs(r->h) * sqrt(slope_sum / value_sum) / boundary : 0.0;
}

/* The same from the last stage and the end of the step, both at t + h; X is overwritten. */
static double stability_of_pair(herk_scratch *r, const method_context *ctx)
{
    const herk_work *w = ctx->cache;
    const double *end = r->K + (size_t)w->table.stages * (size_t)w->n, *before = end - w->n;
    for (int j = 0; j < w->n; j++) {
        r->X[j] = r->x[j] - r->X[j];
        r->e[j] = end[j] - before[j];
    }
    return stability(r, ctx, r->e, r->X, w->table.stable);
}

static attempt_status try_embedded(const herk_state *s, herk_scratch *r, const method_context *ctx,
                                   attempt *result)
{
    herk_work *w = ctx->cache;
    double *last = r->K + (size_t)w->table.stages * (size_t)w->n;
    vector_copy(w->n, first_derivative(s, r), r->K);
    attempt_status status = runge_kutta(s, r, ctx, s->t, r->h, s->x, r->x);
    if (status == ATTEMPT_OK) status = herk_derivative(w, s->t + r->h, r->x, last);
    if (status != ATTEMPT_OK) return status;
    if (ctx->look_at_stability) result->stability = stability_of_pair(r, ctx);
    result->error = embedded_error(r, ctx);
    result->order = w->table.estimate_order + 1;
    return finish_step(s, r, w, last);
}

/* One step of a kind. */
static attempt_status one_step(const herk_state *s, herk_scratch *r, const method_context *ctx,
                               double t, double h, const double *x0, double *x1)
{
    herk_work *w = ctx->cache;
    if (w->config.thesis) return thesis_step(s, r, ctx, t, h, x0, x1);
    if (x0 == s->x)
        vector_copy(w->n, first_derivative(s, r), r->K);
    else {
        attempt_status status = herk_derivative(w, t, x0, r->K);
        if (status != ATTEMPT_OK) return status;
    }
    return runge_kutta(s, r, ctx, t, h, x0, x1);
}

/* What X_h - X_{h/2} is divided by: in the thesis by 2^p - 1. Errors of low order add up from many
 * steps, so that the difference counts more than once, the more so the lower the order. */
static double divisor_of(const herk_work *w)
{
    const double counts = 8.0 / w->table.order;
    return w->config.thesis ? ldexp(1.0, w->table.order) - 1.0 : 1.0 / counts;
}

/* ||X_h - X_{h/2}||: weighted; in the thesis Euclidean, against the absolute tolerance */
static double richardson_error(herk_scratch *r, const method_context *ctx)
{
    const herk_work *w = ctx->cache;
    double divisor = divisor_of(w), sum = 0.0;
    for (int j = 0; j < w->n; j++) {
        r->e[j] = (r->x_full[j] - r->x[j]) / divisor;
        sum += r->e[j] * r->e[j];
    }
    vector_zero(ctx->n, r->estimate);
    scatter(w, r->e, r->estimate);
    return w->config.thesis ? sqrt(sum) / ctx->norm->atol
                            : norm_of(ctx->norm, r->estimate, ctx->norm->tested);
}

/* beta (1/error)^(1/(p+1)), or 1/p after a failure, without limits [Baese17 4.1.5] */
static double thesis_factor(const herk_work *w, double error)
{
    double beta = w->config.beta > 0.0 ? w->config.beta : 0.9;
    int p = error <= 1.0 ? w->table.order + 1 : w->table.order;
    return beta * pow(fmax(error, 1e-30), -1.0 / p);
}

/* The end that is not kept, of one step or of two */
static const double *other_end(const herk_scratch *r, const herk_work *w)
{
    return w->config.thesis ? r->x : r->x_full;
}

/* h |lambda| from both ends, with the slopes in X and K; two steps of half the size go twice as
 * far. The difference of the ends is in e, divided. */
static double stability_of_halves(herk_scratch *r, const method_context *ctx)
{
    const herk_work *w = ctx->cache;
    double divisor = divisor_of(w);
    for (int j = 0; j < w->n; j++) r->X[j] = (r->X[j] - r->K[j]) / divisor;
    return stability(r, ctx, r->X, r->e, (w->config.thesis ? 1.0 : 2.0) * w->table.stable);
}

/* A table without a pair: one step against two of half the size. The better result is kept, but in
 * the thesis X_h is. */
static attempt_status try_richardson(const herk_state *s, herk_scratch *r,
                                     const method_context *ctx, attempt *result)
{
    herk_work *w = ctx->cache;
    double half = 0.5 * r->h;
    attempt_status status = one_step(s, r, ctx, s->t, r->h, s->x, r->x_full);
    if (status == ATTEMPT_OK) status = one_step(s, r, ctx, s->t, half, s->x, r->middle);
    if (status == ATTEMPT_OK) status = one_step(s, r, ctx, s->t + half, half, r->middle, r->x);
    if (status != ATTEMPT_OK) return status;
    vector_copy(w->n, r->K, r->K + w->n); /* x' and x at the middle, for dense output */
    vector_copy(w->n, r->middle, r->K + 2 * w->n);
    result->error = richardson_error(r, ctx);
    result->order = w->table.order + 1;
    if (w->config.thesis) result->next_factor = thesis_factor(w, result->error);
    if (ctx->look_at_stability) status = herk_derivative(w, s->t + r->h, other_end(r, w), r->X);
    if (w->config.thesis) vector_copy(w->n, r->x_full, r->x);
    if (status == ATTEMPT_OK) status = herk_derivative(w, s->t + r->h, r->x, r->K);
    if (status != ATTEMPT_OK) return status;
    if (ctx->look_at_stability) result->stability = stability_of_halves(r, ctx);
    return finish_step(s, r, w, r->K);
}

/* Of two half steps, in component j: how far the middle is from the cubic through both ends, or, if
 * that is more, the end from Simpson's rule for the slopes. Where these are equal and x does not
 * move, as between two bounds that half steps bounce off, only the rule sees it. */
static double roughness_of_halves(const herk_state *s, const herk_scratch *r, const herk_work *w,
                                  int j)
{
    const double x0 = s->x[j], x1 = r->x[j], xp0 = first_derivative(s, r)[j], xp1 = r->xp[j];
    double cubic = r->middle[j] - 0.5 * (x0 + x1) - 0.125 * r->h * (xp0 - xp1);
    double rule = x1 - x0 - r->h / 6.0 * (xp0 + 4.0 * r->K[w->n + j] + xp1);
    return fabs(rule) > fabs(cubic) ? rule : cubic;
}

/* How far x is from the cubic through both ends: by half steps, or by the pair's coarser estimate
 * or its continuous extension. e and X are overwritten. */
static double roughness(const herk_state *s, herk_scratch *r, const method_context *ctx)
{
    const herk_work *w = ctx->cache;
    const double sixteenth = 1.0 / 16.0;
    vector_zero(ctx->n, r->point);
    for (int j = 0; j < w->n; j++) {
        double x = w->table.has_error ? 0.0 : roughness_of_halves(s, r, w, j);
        if (w->table.has_low) x = 0.1 * r->e_low[j];
        if (w->table.has_error && !w->table.has_low && w->table.further == 0) {
            for (int i = 0; i <= w->table.stages; i++)
                x += sixteenth * r->h * w->table.dense[0][i] * r->K[i * w->n + j];
        }
        r->point[herk_place(w, j)] = x;
    }
    return norm_of(ctx->norm, r->point, ctx->norm->tested);
}

/* The error where x' leaps; the memory goes on as the step does. */
static double leap(const herk_state *s, herk_scratch *r, const method_context *ctx)
{
    const herk_work *w = ctx->cache;
    double before = s->t - s->t_old, ratio = before != 0.0 ? r->h / before : 1.0;
    if (w->config.thesis) return 0.0;
    double rough = roughness(s, r, ctx);
    r->rough = s->rough;
    return stages_leap(rough, ratio, s->steps > 0, &r->rough);
}

/* What went wrong, in the numbering of y. */
static void report_failure(const herk_work *w, attempt *result)
{
    if (result->status == ATTEMPT_OK || !w->failure.reason) return;
    result->reason = w->failure.reason;
    result->variable = herk_place(w, w->failure.component);
    result->constraint = w->failure.constraint;
}

static attempt_status try_step(const herk_state *s, herk_scratch *r, const method_context *ctx,
                               attempt *result)
{
    herk_work *w = ctx->cache;
    bool embedded = w->table.has_error && !w->config.thesis;
    attempt_status status = w->config.thesis ? ATTEMPT_OK : begin_step(s, r, w);
    if (w->config.need_jacobian && w->form->differenced)
        status = herk_fail(w, ATTEMPT_UNSUPPORTED,
                           "option Jopt of herk (given_jacobian) is on, but the problem does not "
                           "give g_x",
                           -1, -1);
    if (status != ATTEMPT_OK) return status;
    status = embedded ? try_embedded(s, r, ctx, result) : try_richardson(s, r, ctx, result);
    if (status != ATTEMPT_CONVERGENCE || w->config.thesis || w->R_current) return status;
    status = herk_factor(w, w->J[w->current]); /* old factors may be to blame */
    if (status != ATTEMPT_OK) return status;
    w->R_current = true;
    return embedded ? try_embedded(s, r, ctx, result) : try_richardson(s, r, ctx, result);
}

static void herk_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                         int order, attempt *result)
{
    const herk_state *s = state;
    herk_scratch *r = scratch;
    herk_work *w = ctx->cache;
    (void)order;
    r->t = s->t;
    r->h = h;
    r->stage = 1;
    w->factored_end = false;
    w->ended = true;
    w->failure = (herk_failure){.component = -1, .constraint = -1};
    stages_begin(result, s->t, h,
                 (w->table.has_error ? w->table.estimate_order : w->table.order) + 1, r->y, r->yp);
    result->estimate = r->estimate;
    vector_copy(ctx->n, s->y, r->y);
    vector_zero(ctx->n, r->yp);
    result->status = try_step(s, r, ctx, result);
    if (result->status == ATTEMPT_OK) result->status = herk_watch_leading(w, s->t + h, r->x);
    if (result->status == ATTEMPT_OK) {
        result->error = fmax(result->error, leap(s, r, ctx));
        scatter(w, r->x, r->y);
        scatter(w, r->xp, r->yp);
    }
    if (result->status != ATTEMPT_OK) result->stage = r->stage;
    report_failure(w, result);
}

static void herk_accept(void *state, void *scratch, const method_context *ctx)
{
    herk_state *s = state;
    herk_scratch *r = scratch;
    herk_work *w = ctx->cache;
    vectors_advance(w->n, r->x, s->x, s->x_old);
    vector_copy(w->n, first_derivative(s, r), s->xp_old);
    vector_copy(w->n, r->xp, s->xp);
    vector_copy(ctx->n, r->y, s->y);
    s->embedded = w->table.has_error && !w->config.thesis;
    if (s->embedded)
        vector_copy((w->table.stages + 1) * w->n, r->K, s->K);
    else
        vector_copy(2 * w->n, r->K + w->n, s->K);
    s->t_old = s->t;
    s->t = r->t + r->h;
    s->rough = r->rough;
    s->steps++;
    s->step = ++w->numbered;
    if (w->ended) { /* else it was accepted before, and taken back */
        w->current = 1 - w->current;
        w->R_current = w->factored_end || w->form->g_x_matrix.constant;
    }
    w->ended = false;
    w->J_step = s->step;
}

static void herk_at(const void *state, const method_context *ctx, double t, int derivative,
                    double *y)
{
    const herk_state *s = state;
    herk_work *w = ctx->cache;
    double *x = w->dense_point + w->n;
    herk_interpolate(s, w, ctx->norm, t, derivative, x);
    if (derivative)
        vector_zero(ctx->n, y);
    else
        vector_copy(ctx->n, s->y, y);
    scatter(w, x, y);
}

/* ---- variants by name -------------------------------------------------------------------------
 */

/* [Baese17], [BH93], [HNW93 II.5] */
#define THESIS                                                                                     \
    "Baese: Half-explicit Runge-Kutta methods for overdetermined semi-implicit "                   \
    "differential-algebraic equations, master's thesis, TU Berlin 2017"
#define HEM4 "Brasey, Hairer: SIAM J. Numer. Anal. 30 (1993) 538-552"
#define PAIRS                                                                                      \
    "Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, " \
    "section II.5"

static void start(void *state, void *scratch, const method_context *ctx, const start_point *at)
{
    herk_start(state, scratch, ctx, at, ctx->method->table);
}

/* Those that run by a table of the user take it, TABLE_HERK; the others take none. */
#define VARIANT(id, label, text, source, most, CONSTANT, ...)                                      \
    TABLE_VARIANT(id, label, text, source, most, CONSTANT, TABLE_NONE, __VA_ARGS__)
#define TABLE_VARIANT(id, label, text, source, most, CONSTANT, TAKES, ...)                         \
    const method method_##id = {.name = label,                                                     \
                                .summary = text,                                                   \
                                .citation = source,                                                \
                                .max_order = most,                                                 \
                                .forms = FORM_QUASILINEAR,                                         \
                                .rough_between = true,                                             \
                                .constant_steps = (most) == 1 || (CONSTANT),                       \
                                .own_steps = (CONSTANT),                                           \
                                .herk_options = true,                                              \
                                .fixed_order = true,                                               \
                                .takes_table = TAKES,                                              \
                                .index_range = "any, with all hidden constraints",                 \
                                .table = &(const herk_config){__VA_ARGS__},                        \
                                .memory = &herk_memory,                                            \
                                .start = start,                                                    \
                                .attempt = herk_attempt,                                           \
                                .accept = herk_accept,                                             \
                                .interpolate = herk_at,                                            \
                                .cache_new = herk_work_new,                                        \
                                .cache_free = herk_work_free,                                      \
                                .cache_persist = herk_work_persist};

VARIANT(herk, "herk", "half-explicit Runge-Kutta, orders 5 and 8 by tolerance", THESIS "; " PAIRS,
        8, false, .table = NULL)
VARIANT(herk_euler, "herk:1", "half-explicit Euler", THESIS, 1, false, .table = &tableau_euler)
VARIANT(herk_heun, "herk:2", "half-explicit Runge-Kutta, Heun's table", THESIS, 2, false,
        .table = &tableau_heun)
VARIANT(herk_kutta3, "herk:3", "half-explicit Runge-Kutta, Kutta's table of order 3", THESIS, 3,
        false, .table = &tableau_kutta3)
VARIANT(herk_rk4, "herk:4", "half-explicit Runge-Kutta, the classical table", THESIS, 4, false,
        .table = &tableau_rk4)
VARIANT(herk_hem4, "herk:hem4", "half-explicit Runge-Kutta, the table of HEM4", THESIS "; " HEM4, 4,
        false, .table = &tableau_hem4)
VARIANT(herk_dopri5, "herk:5", "half-explicit Runge-Kutta, Dormand and Prince 5(4)",
        THESIS "; " PAIRS, 5, false, .table = &tableau_dopri5)
VARIANT(herk_dop853, "herk:8", "half-explicit Runge-Kutta, Dormand and Prince 8(5,3)",
        THESIS "; " PAIRS, 8, false, .table = &tableau_dop853)
TABLE_VARIANT(own_herk, "herk:table", "half-explicit Runge-Kutta by a table of the user", THESIS, 5,
              false, TABLE_HERK, .table = NULL)
TABLE_VARIANT(herk_thesis, "herk:thesis", "as in the thesis, the table of HEM4 or the user's",
              THESIS, 4, true, TABLE_HERK, .table = &tableau_hem4, .thesis = true)
VARIANT(herk_thesis_euler, "herk:1:thesis", "as in the thesis, Euler", THESIS, 1, true,
        .table = &tableau_euler, .thesis = true)
VARIANT(herk_thesis_heun, "herk:2:thesis", "as in the thesis, Heun's table", THESIS, 2, true,
        .table = &tableau_heun, .thesis = true)
VARIANT(herk_thesis_kutta3, "herk:3:thesis", "as in the thesis, Kutta's table", THESIS, 3, true,
        .table = &tableau_kutta3, .thesis = true)
VARIANT(herk_thesis_rk4, "herk:4:thesis", "as in the thesis, the classical table", THESIS, 4, true,
        .table = &tableau_rk4, .thesis = true)
