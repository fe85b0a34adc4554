/* Modified BDF for the second order form [Wun05 3.3, 3.4]: x' by ordinary BDF of order k, x'' by
 *   x''_n = sum_{i=1}^k alpha_i x'[t_n, .., t_{n-i}],
 * where alpha depends on the orders that produced the x' behind (bdf2nd_tables.h), so that x'' is
 * exact for polynomials of degree k + 1. Two methods: orders 1 to 5 under the controller of all
 * multistep methods, and, for the tables of the thesis, orders 1 and 2 with the controller of its
 * chapter 4. History is kept as values and summed with weights: the grid is rarely steady here. */
#include "method/multistep/bdf2nd.h"

#include "base/vector.h"
#include "method/common/interpolation.h"
#include "method/common/stages.h"
#include "method/common/thesis.h"
#include "method/multistep/bdf2nd_tables.h"
#include "method/multistep/history.h"

#include <float.h>
#include <math.h>

enum {
    MAX_ORDER = 5,
    POINTS = MAX_ORDER + 2,   /* values kept: prediction of degree 5 needs 6, and one to come */
    TIMES = 2 * MAX_ORDER + 3 /* times and orders kept */
};

/* Histories that determine alpha worse than this are not used: order k - 1 is. */
static const double WORST_CONDITION = 1e-6;

typedef struct modified_state {
    int points;              /* values in use, at most POINTS - 1 */
    int nodes;               /* times in use, at most TIMES - 1 */
    int steps;               /* accepted since the start */
    int order;               /* of the last step */
    int steady;              /* steps in a row with equal h and order, at most order + 2 */
    bool after_failure;      /* the last step was rejected before it passed */
    double h;                /* of the last step */
    double t[TIMES];         /* t_n, t_{n-1}, .. */
    int accuracy[TIMES];     /* orders of the x' there */
    double *y[POINTS];       /* values there, newest first */
    double *yp_old, *yp_new; /* at the ends of the last step, for the smooth interpolant */
} modified_state;

typedef struct modified_scratch {
    int order, failures;
    double h;
    double t[TIMES]; /* t_{n+1}, t_n, .. */
    int accuracy[TIMES];
    double slope[POINTS + 1];     /* x' = sum slope_i x_{n+1-i} */
    double curvature[POINTS + 1]; /* x'' = sum curvature_i x'_{n+1-i} */
    double *y0, *yp0, *y, *yp, *e, *estimate;
} modified_scratch;

static const method_memory modified_memory = {
    .state = {sizeof(modified_state), {VECTORS(modified_state, y[0], yp_new)}},
    .scratch = {sizeof(modified_scratch), {VECTORS(modified_scratch, y0, estimate)}},
};

static void modified_start(void *state, void *scratch, const method_context *ctx,
                           const start_point *at)
{
    modified_state *s = state;
    int n = ctx->n;
    method_clear(ctx, state, scratch);
    for (int i = 0; i < POINTS; i++) vector_zero(n, s->y[i]);
    s->points = at->history > 1 ? at->history : 1;
    if (s->points > POINTS - 1) s->points = POINTS - 1;
    s->nodes = s->points;
    s->order = s->points > 1 ? s->points - 1 : 1;
    for (int i = 0; i < s->points; i++) {
        s->t[i] = at->history > 1 ? at->past_t[i] : at->t;
        s->accuracy[i] = MODIFIED_EXACT;
        const double *y = at->history > 1 ? at->past_y + (size_t)i * (size_t)n : at->y;
        vector_copy(n, y, s->y[i]);
    }
    vector_copy(n, at->yp, s->yp_old);
    vector_copy(n, at->yp, s->yp_new);
}

/* ---- one step ---- */

/* x'_{n+1} from values, as weights: those of the interpolant through k + 1 of them */
static void set_slope(modified_scratch *w, int k)
{
    interpolation_row(k + 1, w->t, w->t[0], 1, w->slope);
}

/* x''_{n+1} from slopes, as weights: sum_i alpha_i [t_{n+1}, .., t_{n+1-i}] */
static bool set_curvature(modified_scratch *w, int nodes, int k)
{
    double alpha[MODIFIED_MOST + 1];
    w->accuracy[0] = k;
    if (modified_coefficients(2, k, nodes, w->t, w->accuracy, alpha) < WORST_CONDITION)
        return false;
    modified_weights(k, w->t, alpha, w->curvature);
    return true;
}

/* Coefficients for a step h at order k, or the highest below that the history allows. */
static void set_coefficients(const modified_state *s, modified_scratch *w, double h, int k)
{
    if (k > s->points) k = s->points;
    w->h = h;
    w->t[0] = s->t[0] + h;
    for (int i = 0; i < s->nodes; i++) {
        w->t[i + 1] = s->t[i];
        w->accuracy[i + 1] = s->accuracy[i];
    }
    while (!set_curvature(w, s->nodes + 1, k)) k--;
    set_slope(w, k);
    w->order = k;
}

/* out = sum_{i=first}^{last} weights_i y_{n+1-i}, y_n the newest value of the history */
static void sum_history(const modified_state *s, int n, const double *weights, int first, int last,
                        double *out)
{
    vector_zero(n, out);
    for (int i = first; i <= last; i++) vector_axpy(n, weights[i], s->y[i - 1], out);
}

/* Extrapolation of degree d through the last d + 1 values, with y' at the start. */
static void extrapolate(const modified_state *s, const modified_scratch *w, int n, int d,
                        double *out)
{
    double weights[POINTS + 1];
    if (s->points == 1) {
        for (int j = 0; j < n; j++) out[j] = s->y[0][j] + w->h * s->yp_new[j];
        return;
    }
    interpolation_row(d + 1, w->t + 1, w->t[0], 0, weights + 1);
    sum_history(s, n, weights, 1, d + 1, out);
}

static int prediction_degree(const modified_state *s, int k)
{
    return k < s->points ? k : s->points - 1;
}

/* x' and x'' of the formulas with the predicted x, and the velocities to match. */
static void predict(const modified_state *s, modified_scratch *w, const method_context *ctx)
{
    const second_order *form = ctx->second;
    int n = ctx->n, k = w->order;
    extrapolate(s, w, n, prediction_degree(s, k), w->y0);
    double *slopes = w->e, *bends = w->estimate; /* Newton fills them later */
    sum_history(s, n, w->slope, 1, k, slopes);
    sum_history(s, n, w->curvature, 1, k, bends);
    for (int j = 0; j < form->n; j++) {
        int i = form->place[j], v = form->velocity[j];
        w->yp0[i] = slopes[i] + w->slope[0] * w->y0[i];
        if (v < 0) continue;
        w->y0[v] = w->yp0[i];
        w->yp0[v] = bends[v] + w->curvature[0] * w->y0[v];
    }
}

/* Prediction and corrector, with the coefficients at hand */
static void solve_step(const modified_state *s, modified_scratch *w, const method_context *ctx,
                       double tightness, bool every_iterate, attempt *result)
{
    predict(s, w, ctx);
    corrector c = {.t = w->t[0],
                   .h = w->h,
                   .cj = w->slope[0],
                   .a2 = w->slope[0] * w->curvature[0],
                   .second = ctx->second,
                   .factors = ctx->cache,
                   .tightness = tightness,
                   .every_iterate = every_iterate,
                   .y0 = w->y0,
                   .yp0 = w->yp0,
                   .y_old = s->y[0],
                   .y = w->y,
                   .yp = w->yp,
                   .e = w->e};
    result->order = w->order;
    result->status = newton_solve(ctx->newton, &c);
    result->bound_ratio = ctx->newton->bound_ratio;
}

/* Whether there are variables of index 2 or 3. */
static bool constrained(const method_context *ctx)
{
    const dae_kind *kinds = ctx->norm->kinds;
    for (int i = 0; kinds && i < ctx->n; i++)
        if (kinds[i] >= DAE_KIND_INDEX2) return true;
    return false;
}

/* h/psi_{m+1} (y - extrapolation of degree m): what BDF of order m makes of values and velocities
 */
static double estimate_at(const modified_state *s, modified_scratch *w, const method_context *ctx,
                          int m)
{
    int d = m < s->points ? m : s->points - 1;
    extrapolate(s, w, ctx->n, d, w->estimate);
    double factor = s->points > 1 ? w->h / (w->t[0] - w->t[d + 1]) : 0.5;
    for (int j = 0; j < ctx->n; j++) w->estimate[j] = factor * (w->y[j] - w->estimate[j]);
    return norm_of(ctx->norm, w->estimate, ctx->norm->tested);
}

static void estimate_errors(const modified_state *s, modified_scratch *w, const method_context *ctx,
                            attempt *result)
{
    int k = w->order;
    bool raise =
        k < MAX_ORDER && k == s->order && w->h == s->h && s->steady > k && s->points > k + 1;
    result->terms[3] = raise ? (k + 2) * estimate_at(s, w, ctx, k + 1) : NAN;
    result->terms[0] = k > 2 ? (k - 1) * estimate_at(s, w, ctx, k - 2) : NAN;
    result->terms[1] = k > 1 ? k * estimate_at(s, w, ctx, k - 1) : NAN;
    result->error = estimate_at(s, w, ctx, k);
    result->terms[2] = (k + 1) * result->error;
    result->estimate = w->estimate;
    result->error_constant = 1.0;
}

/* Velocities are differences of values: without constraints, where they count in full, rounding
 * leaves them no more digits than this. */
static const double FINEST = 1e-9;

static bool refuse_tolerance(const method_context *ctx, attempt *result)
{
    if (ctx->fixed_steps || constrained(ctx) || ctx->norm->user_weights) return false;
    if (!(norm_finest(ctx->norm) < FINEST)) return false;
    result->constraint = -1;
    return stages_refused(result, -1,
                          "finds velocities as differences of positions, which have no more than "
                          "nine digits where there are no constraints: give an rtol of at least "
                          "1e-9, or choose bdf2nd or colloc2nd");
}

/* What rounding of positions does to velocities, in their tolerances: the division by h makes it
 * large where steps are short. */
static double rounding_of_velocities(const modified_scratch *w, const method_context *ctx)
{
    const second_order *form = ctx->second;
    double most = 0.0;
    for (int k = 0; k < form->n; k++) {
        const int v = form->velocity[k];
        if (v < 0) continue;
        most = fmax(most, fabs(w->slope[0] * w->y[form->place[k]]) * ctx->norm->tested[v]);
    }
    return DBL_EPSILON * most;
}

/* A step in which rounding is all that is left of velocities has no error that could be seen: it
 * fails. 100 tolerances are what a method may be wrong by. */
static void refuse_rounding(const modified_scratch *w, const method_context *ctx, attempt *result)
{
    static const double MOST = 100.0;
    if (ctx->fixed_steps) return;
    const double rounding = rounding_of_velocities(w, ctx);
    if (rounding > MOST) result->error = fmax(result->error, rounding);
}

static void modified_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                             int order, attempt *result)
{
    const modified_state *s = state;
    modified_scratch *w = scratch;
    *result = (attempt){.t = s->t[0], .h = h, .y = w->y, .yp = w->yp};
    if (refuse_tolerance(ctx, result)) return;
    set_coefficients(s, w, h, order);
    solve_step(s, w, ctx, w->order >= 4 ? 2.5 : 1.0, false, result);
    if (result->status != ATTEMPT_OK) return;
    estimate_errors(s, w, ctx, result);
    refuse_rounding(w, ctx, result);
}

/* ---- after a step ---- */

static void keep_point(modified_state *s, const modified_scratch *w, int n)
{
    double *oldest = s->y[POINTS - 1];
    for (int i = POINTS - 1; i > 0; i--) s->y[i] = s->y[i - 1];
    s->y[0] = oldest;
    vector_copy(n, w->y, oldest);
    if (s->points < POINTS - 1) s->points++;
    if (s->nodes < TIMES - 1) s->nodes++;
    for (int i = 0; i < s->nodes; i++) {
        s->t[i] = w->t[i];
        s->accuracy[i] = w->accuracy[i];
    }
}

static void modified_accept(void *state, void *scratch, const method_context *ctx)
{
    modified_state *s = state;
    modified_scratch *w = scratch;
    int k = w->order;
    bool steady = w->h == s->h && k == s->order;
    s->steady = steady ? (s->steady < k + 2 ? s->steady + 1 : k + 2) : 1;
    keep_point(s, w, ctx->n);
    vectors_swap(&s->yp_old, &s->yp_new);
    vector_copy(ctx->n, w->yp, s->yp_new);
    s->after_failure = w->failures > 0;
    w->failures = 0;
    s->order = k;
    s->h = w->h;
    s->steps++;
}

/* The polynomial of degree d through the last d + 1 values. */
static void interpolate_degree(const modified_state *s, int n, int d, double t, int derivative,
                               double *y)
{
    double weights[POINTS];
    if (d > s->points - 1) d = s->points - 1;
    interpolation_row(d + 1, s->t, t, derivative, weights);
    vector_zero(n, y);
    for (int i = 0; i <= d; i++) vector_axpy(n, weights[i], s->y[i], y);
}

static void modified_interpolate(const void *state, const method_context *ctx, double t,
                                 int derivative, double *y)
{
    const modified_state *s = state;
    if (s->points == 1) {
        vector_copy(ctx->n, derivative ? s->yp_new : s->y[0], y);
        return;
    }
    int d = s->order < s->points ? s->order : s->points - 1;
    interpolate_degree(s, ctx->n, d, t, derivative, y);
    if (!ctx->smooth) return;
    double h = s->t[0] - s->t[1], left[POINTS], right[POINTS];
    interpolation_row(d + 1, s->t, s->t[1], 1, left);
    interpolation_row(d + 1, s->t, s->t[0], 1, right);
    end_slopes ends = {d + 1, s->y, left, right, s->yp_old, s->yp_new};
    history_smooth(&ends, (t - s->t[1]) / h, h, derivative, ctx->n, y);
}

/* ---- chapter 4 ---- */

enum { INITIAL_STEPS = 4, THESIS_ORDER = 2 };

/* sqrt(1/N sum (v_i / WT_i)^2) (4.19); scale_i = 1/WT_i */
static double literal_norm(const error_norm *norm, const double *v, double *scale)
{
    double sum = 0.0;
    for (int i = 0; i < norm->n; i++) {
        scale[i] = 1.0 / thesis_weight(norm, i, v[i]);
        sum += v[i] * scale[i] * v[i] * scale[i];
    }
    return sqrt(sum / norm->n);
}

/* Orders 1, 2, 2, 2 at first; then 2, but 1 after three failures in a row [Wun05 4.4] */
static int thesis_order(const modified_state *s, const modified_scratch *w)
{
    if (s->steps == 0 || w->failures >= 3) return 1;
    return s->order < THESIS_ORDER && s->after_failure ? s->order : THESIS_ORDER;
}

/* The next step over h, after an attempt with the given error. Chapter 4 would have (4.28) after a
 * first failure; the runs of Table 8.3 have a quarter after each. */
static double thesis_factor(const modified_state *s, const modified_scratch *w, double error)
{
    if (s->steps < INITIAL_STEPS - 1) return 1.0;
    if (error > 1.0) return 0.25;
    if (w->failures == 0) return 2.0;
    return thesis_growth(pow(2.0 * error, -1.0 / (w->order + 1))); /* (4.26) */
}

/* ERR = ||extrapolation of degree 3 - y|| (4.24), not in the first four steps */
static double thesis_error(const modified_state *s, modified_scratch *w, const method_context *ctx)
{
    int d = THESIS_ESTIMATE_DEGREE < s->points ? THESIS_ESTIMATE_DEGREE : s->points - 1;
    extrapolate(s, w, ctx->n, d, w->estimate);
    for (int j = 0; j < ctx->n; j++) w->estimate[j] = w->y[j] - w->estimate[j];
    double error = literal_norm(ctx->norm, w->estimate, w->y0); /* the prediction has served */
    return s->steps < THESIS_TESTED_FROM ? 0.0 : error;
}

static void thesis_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                           int order, attempt *result)
{
    const double TIGHT = 100.0; /* with every iterate's own matrix it costs one more iteration */
    const modified_state *s = state;
    modified_scratch *w = scratch;
    (void)order;
    *result = (attempt){.t = s->t[0], .h = h, .y = w->y, .yp = w->yp};
    if (thesis_refuses(ctx, result)) return;
    set_coefficients(s, w, h, thesis_order(s, w));
    solve_step(s, w, ctx, TIGHT, true, result);
    result->next_factor = 0.25;
    for (int i = 0; i < 4; i++) result->terms[i] = NAN;
    if (result->status == ATTEMPT_OK) {
        result->error = thesis_error(s, w, ctx);
        result->scale = w->y0;
        result->next_factor = thesis_factor(s, w, result->error);
    }
    result->estimate = w->estimate;
    result->error_constant = 1.0;
    if (result->status != ATTEMPT_OK || result->error > 1.0) w->failures++;
}

static void thesis_interpolate(const void *state, const method_context *ctx, double t,
                               int derivative, double *y)
{
    const modified_state *s = state;
    if (s->points == 1)
        vector_copy(ctx->n, derivative ? s->yp_new : s->y[0], y);
    else
        interpolate_degree(s, ctx->n, THESIS_OUTPUT_DEGREE, t, derivative, y); /* (4.31) */
}

static const char citation[] = "Wunderlich: Numerical Solution of Second Order "
                               "Differential-Algebraic Equations, TU Berlin 2005, chapters 3, 4";

const method method_bdf2nd_modified = {
    .name = "bdf2nd:modified",
    .summary = "BDF for second order, orders 1 to 5, x'' from differences of x'; "
               "F(t,x,x',x'') = 0",
    .citation = citation,
    .max_order = MAX_ORDER,
    .forms = FORM_SECOND_ORDER,
    .tests_velocities = true,
    .index_range = "3",
    METHOD_STEPS(modified),
    METHOD_CACHE(bdf2nd),
};

const method method_bdf2nd_thesis = {
    .name = "bdf2nd:thesis",
    .summary = "variant modified of orders 1 and 2 with the thesis' own controller",
    .citation = citation,
    .max_order = THESIS_ORDER,
    .forms = FORM_SECOND_ORDER,
    .fixed_order = true,
    .own_steps = true,
    .raw_output = true,
    .first_step = thesis_first_step,
    .index_range = "3",
    .memory = &modified_memory,
    .start = modified_start,
    .attempt = thesis_attempt,
    .accept = modified_accept,
    .interpolate = thesis_interpolate,
    METHOD_CACHE(bdf2nd),
};
