/* liex: extrapolated Euler for F(t, y, y') = 0 of index 1, linearly implicit as in LIMEX and SEULEX
 * [DHZ87; HW96 IV.9], or fully implicit [BCP96 4.6].
 *
 * With A = dF/dy and B = dF/dy' at the start of the basic step, a small step is
 *   (A + B/h) d = B p - F(t + h, y, p),   y := y + d,   p := d/h,
 * one linear solve and no iteration. F is taken at the end of the small step: the expansions of
 * [DHZ87] hold for F(t, ..) + h dF/dt at its beginning, but constraints that are driven by t are
 * met better so, and the transistor amplifier takes a fifth of the steps. For constant B it does
 * not depend on p; for B(y) y' = f(y) it is Lubich's first scheme [Lub89], which p makes
 * consistent. Variant "scheme2" is his second one, with B(y) where the small step begins; in
 * variant "implicit" Newton's method solves F(t + h, y + d, d/h) = 0 for every small step. The last
 * differences of each row, extrapolated, are the derivatives at the end of the step: they give y'
 * and the dense output [HO90]. docs/methods/extrapolation.md has the orders. */
#include "method/extrapolation/extrapolation.h"

#include "base/memory.h"
#include "base/vector.h"
#include "method/common/stages.h"

#include <math.h>
#include <string.h>

enum { ROWS = EXTRAPOLATION_ROWS, DERIVATIVES = 4, RECENT = DERIVATIVES + 1 };

/* The harmonic sequence from 2 on, unless the options have another one. */
static const int STEPS[ROWS] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
/* A Jacobian counts as five evaluations of F, a factorisation and a solve as one each, as in SEULEX
 * [HW96 IV.9]. */
static const double JACOBIAN = 5.0;

/* How a small step is done. */
typedef enum scheme {
    SCHEME_1,       /* B of where the basic step begins [BCP96 Scheme 1] */
    SCHEME_2,       /* B of where the small step begins [BCP96 Scheme 2] */
    SCHEME_IMPLICIT /* Newton's method up to convergence */
} scheme;

/* Newton's method of the implicit small steps: what is left of its error, in tolerances, since
 * extrapolation magnifies it; its slowest rate; corrections so small, over y, are rounding. */
static const double TIGHT = 1e-4, SLOWEST = 0.5, ROUNDING = 1e-15;
/* Corrections that stay this small are noise of F, if the derivatives are those of the iterate:
 * with others they may only be slow, as where a diode blocks and the matrix is of where it
 * conducts. */
static const double NOISE = 0.01;
/* Newton's rate at which it is worth new derivatives. */
static const double WORN = 0.05;
enum { MOST_CORRECTIONS = 15 };

/* Weight of errors of slopes where nothing is abrupt. */
static const double SMOOTH_SLOPE = 0.01;

/* A step falls to no less of it at once, however wrong it was: an exponential function may make an
 * error of 1e60 of a step that is ten times too long. As in step_control.c. */
static const double MOST_FALL = 0.1;

/* What survives between steps. */
typedef struct liex_state {
    extrapolation_rule rule;
    double t, t_old;
    double slope_error;              /* at the beginning of the last step */
    int target;                      /* row to aim at */
    int done;                        /* rows of the last step; 0: no step yet */
    int degree;                      /* derivatives known at t */
    double *y, *yp, *y_old;          /* at t and t_old */
    double *derivative[DERIVATIVES]; /* H^k y^(k)(t) / k!, k = 1 .. degree */
    double *column[ROWS];            /* T_j1 of the last step */
} liex_state;

/* What a small step needs beside n vectors: dF/dy of the start, where B is renewed. */
typedef struct liex_cache {
    double *dfdy;
    size_t count;
} liex_cache;

/* One attempt. */
typedef struct liex_scratch {
    extrapolation tableau;
    const liex_state *state;
    const method_context *ctx;
    double t, h;        /* the basic step */
    int target;         /* of this attempt */
    int next_target;    /* after it */
    int tries;          /* attempts since the last accepted step */
    bool fresh;         /* partial derivatives were evaluated since then */
    double theta;       /* contraction of Newton's method at the first row */
    stages_trial slope; /* error of y' where the step begins */
    stages_trial quiet;
    double *y, *p, *b, *yp, *result, *estimate, *from;
    double *column[ROWS];                   /* T_j1 */
    double *recent[RECENT];                 /* the last values of a row */
    double *differences[DERIVATIVES][ROWS]; /* last row of the tableau of each derivative */
} liex_scratch;

static const method_memory liex_memory = {
    .state = {sizeof(liex_state), {VECTORS(liex_state, y, column[ROWS - 1])}},
    .scratch = {sizeof(liex_scratch),
                {VECTORS(liex_scratch, y, differences[DERIVATIVES - 1][ROWS - 1]),
                 VECTORS(liex_scratch, tableau.T[0], tableau.T[ROWS - 1])}},
    .scratch_gaps = {GAP(liex_scratch, tableau.rule), GAP(liex_scratch, tableau.error),
                     GAPS(liex_scratch, tableau.compute, tableau.context),
                     GAPS(liex_scratch, state, ctx)},
};

static scheme scheme_of(const method_context *ctx)
{
    return *(const scheme *)ctx->method->table;
}

/* The numbers of small steps and the work of rows 1 .. j together. */
static void choose_rule(liex_state *s, const method_context *ctx)
{
    const int *asked = ctx->options->small_steps;
    const double fresh = scheme_of(ctx) == SCHEME_2 ? JACOBIAN + 1.0 : 0.0;
    double work = JACOBIAN;
    const int *steps = asked[0] > 0 ? asked : STEPS;
    s->rule.power = 1;
    for (int j = 0; j < ROWS && steps[j] > 0; j++) {
        s->rule.rows = j + 1;
        s->rule.steps[j] = steps[j];
        s->rule.work[j] = work += (2.0 + fresh) * steps[j] + 1.0;
    }
}

static void liex_start(void *state, void *scratch, const method_context *ctx, const start_point *at)
{
    liex_state *s = state;
    method_clear(ctx, state, scratch);
    s->t = s->t_old = at->t;
    choose_rule(s, ctx);
    s->target = extrapolation_first_target(ctx->norm->rtol, s->rule.rows - 2);
    vectors_begin(ctx->n, at->y, s->y, s->y_old);
    vector_copy(ctx->n, at->yp, s->yp);
}

/* ---- rows ---- */

static attempt_status keep_within(const liex_scratch *w)
{
    return stages_keep_within(&w->ctx->eval->problem->form, w->ctx->norm, w->y);
}

/* b := (A + B/h)^-1 (b - F(t, y, p)) */
static attempt_status solve_residual(liex_scratch *w, double t)
{
    const method_context *ctx = w->ctx;
    double *f = w->estimate;
    attempt_status status = keep_within(w);
    if (status != ATTEMPT_OK) return status;
    status = stages_from_evaluation(
        evaluate_residual(ctx->eval, t, w->y, w->p, f, &ctx->eval->stats->residuals));
    if (status != ATTEMPT_OK) return status;
    for (int i = 0; i < ctx->n; i++) w->b[i] -= f[i];
    status = stages_from_iteration(iteration_solve(ctx->newton->matrix, NULL, w->b));
    if (status != ATTEMPT_OK) return status;
    return vector_finite(ctx->n, w->b) ? ATTEMPT_OK : ATTEMPT_EVALUATION;
}

/* b := d of a linearly implicit small step to t */
static attempt_status linear_step(liex_scratch *w, double t)
{
    iteration *it = w->ctx->newton->matrix;
    attempt_status status = stages_from_iteration(iteration_apply_yp(it, NULL, w->p, w->b));
    return status == ATTEMPT_OK ? solve_residual(w, t) : status;
}

/* New B = dF/dy' of the y in hand, with the A = dF/dy of the start, and factors for 1/h. Its time
 * is that of F: where F is linear in y', p cancels. */
static attempt_status renew_leading(liex_scratch *w, double t, double h)
{
    const method_context *ctx = w->ctx;
    const liex_cache *c = ctx->cache;
    iteration *it = ctx->newton->matrix;
    attempt_status status = stages_from_iteration(
        iteration_evaluate_leading(it, t, w->y, w->p, w->h, ctx->norm->weights));
    if (status != ATTEMPT_OK) return status;
    memcpy(it->jac.dfdy, c->dfdy, c->count * sizeof(double));
    return stages_from_iteration(iteration_factor(it, 1.0 / h, NULL));
}

/* How well the matrix fits: the ratio of Newton's next correction to the first small step
 * [HW96 IV.9]. Above 1 small steps of this length are not stable. */
static attempt_status measure_contraction(liex_scratch *w, double t)
{
    const error_norm *norm = w->ctx->norm;
    double first = norm_of(norm, w->b, norm->scale);
    vector_zero(norm->n, w->b);
    attempt_status status = solve_residual(w, t);
    if (status != ATTEMPT_OK) return status;
    w->theta = norm_of(norm, w->b, norm->scale) / fmax(first, 1.0);
    return w->theta <= 1.0 ? ATTEMPT_OK : ATTEMPT_CONVERGENCE;
}

/* Factors of dF/dy + 1/h dF/dy' at the point in hand. */
static attempt_status renew_here(liex_scratch *w, double t, double h)
{
    const method_context *ctx = w->ctx;
    iteration *it = ctx->newton->matrix;
    attempt_status status = stages_from_iteration(
        iteration_evaluate(it, t, w->y, w->p, 1.0 / h, w->h, ctx->norm->weights, NULL));
    if (status != ATTEMPT_OK) return status;
    return stages_from_iteration(iteration_factor(it, 1.0 / h, NULL));
}

/* Whether Newton's method has come to its end after correction number k, of this size; `own`: with
 * derivatives of the iterate. */
static bool converged(const liex_scratch *w, int k, double size, double rate, bool own)
{
    const error_norm *norm = w->ctx->norm;
    if (size <= ROUNDING * norm_of(norm, w->y, norm->newton)) return true;
    if (own && k > 1 && rate > SLOWEST && size < NOISE) return true;
    return k > 0 && rate < 1.0 && rate / (1.0 - rate) * size <= TIGHT;
}

/* Newton's method for F(t, y + h p, p) = 0 from p on, with the factors at hand or with derivatives
 * of every iterate; y becomes y + h p. */
static attempt_status iterate(liex_scratch *w, double t, double h, bool renew)
{
    error_norm *norm = w->ctx->norm;
    const int n = w->ctx->n;
    attempt_status status = ATTEMPT_OK;
    double last = 0.0;
    norm_set_step(norm, h);
    for (int k = 0; k < MOST_CORRECTIONS && status == ATTEMPT_OK; k++) {
        for (int i = 0; i < n; i++) w->y[i] = w->from[i] + h * w->p[i];
        if (renew) status = renew_here(w, t, h);
        vector_zero(n, w->b);
        if (status == ATTEMPT_OK) status = solve_residual(w, t);
        if (status != ATTEMPT_OK) return status;
        vector_axpy(n, 1.0 / h, w->b, w->p);
        double size = norm_of(norm, w->b, norm->newton), rate = k > 0 ? size / last : SLOWEST;
        if (converged(w, k, size, rate, renew)) {
            vector_axpy(n, 1.0, w->b, w->y);
            return ATTEMPT_OK;
        }
        if (k > 0) w->theta = fmax(w->theta, rate);
        if (k > 1 && rate > SLOWEST && !renew) return ATTEMPT_CONVERGENCE;
        last = size;
    }
    return ATTEMPT_CONVERGENCE;
}

/* A small step up to convergence; where it fails, once more from its start and with derivatives of
 * every iterate. */
static attempt_status implicit_step(liex_scratch *w, double t, double h)
{
    const int n = w->ctx->n;
    vector_copy(n, w->y, w->from);
    attempt_status status = iterate(w, t, h, false);
    if (status != ATTEMPT_CONVERGENCE) return status;
    vector_zero(n, w->p);
    status = iterate(w, t, h, true);
    if (status != ATTEMPT_OK) w->ctx->newton->stale = true; /* derivatives of an iterate astray */
    return status;
}

/* y and p := those at the end t of a small step h */
static attempt_status small_step(liex_scratch *w, double t, double h, bool first)
{
    const scheme kind = scheme_of(w->ctx);
    if (kind == SCHEME_IMPLICIT) return implicit_step(w, t, h);
    attempt_status status = kind == SCHEME_2 ? renew_leading(w, t, h) : ATTEMPT_OK;
    if (status == ATTEMPT_OK) status = linear_step(w, t);
    if (status != ATTEMPT_OK) return status;
    for (int i = 0; i < w->ctx->n; i++) {
        w->y[i] += w->b[i];
        w->p[i] = w->b[i] / h;
    }
    status = keep_within(w);
    if (status != ATTEMPT_OK) return status;
    return first ? measure_contraction(w, t) : ATTEMPT_OK;
}

/* The first row whose differences of order k are of use: at index 1 the first values of a row do
 * not follow the expansion, so that two of them are left out [HO90]. */
static int first_with(const extrapolation_rule *rule, int k)
{
    int row = 0;
    while (row < rule->rows && rule->steps[row] < k + 2) row++;
    return row;
}

/* How many derivatives rows up to this one give. */
static int degree_of(const extrapolation_rule *rule, int row)
{
    int k = 0;
    while (k < DERIVATIVES && first_with(rule, k + 1) <= row) k++;
    return k;
}

/* H^k y^(k)(t + H) / k! by backward differences of the small steps, extrapolated as the values are.
 * Rows with fewer than k steps have none; the difference of order k needs the tableau from its
 * first row on: row_k = row - (first row with k steps). */
static void add_differences(liex_scratch *w, int row)
{
    const extrapolation_rule *rule = w->tableau.rule;
    const int n = w->ctx->n, *steps = rule->steps, count = steps[row];
    for (int k = 1; k <= degree_of(rule, row); k++) {
        for (int m = 0; m <= DERIVATIVES - k; m++) /* recent[m] := its k-th difference */
            for (int i = 0; i < n && m + k <= count; i++)
                w->recent[m][i] = (w->recent[m][i] - w->recent[m + 1][i]) * count / k;
        int first = first_with(rule, k);
        double **D = w->differences[k - 1];
        for (int i = 0; i < n; i++) {
            double value = w->recent[0][i];
            for (int j = 0; j < row - first; j++) {
                double before = D[j][i], ratio = (double)steps[row] / steps[row - 1 - j];
                D[j][i] = value;
                value += (value - before) / (ratio - 1.0);
            }
            D[row - first][i] = value;
        }
    }
}

/* y is the newest of the recent values. */
static void remember(liex_scratch *w, const double *y)
{
    double *oldest = w->recent[RECENT - 1];
    memmove(w->recent + 1, w->recent, (RECENT - 1) * sizeof *w->recent);
    w->recent[0] = oldest;
    vector_copy(w->ctx->n, y, oldest);
}

/* Row j: n_j small steps from (t, y). */
static attempt_status compute_row(void *context, int row, double *result)
{
    liex_scratch *w = context;
    const liex_state *s = w->state;
    const method_context *ctx = w->ctx;
    const int count = s->rule.steps[row], n = ctx->n;
    const double h = w->h / count;
    attempt_status status =
        stages_from_iteration(iteration_factor(ctx->newton->matrix, 1.0 / h, NULL));
    vector_copy(n, s->y, w->y);
    vector_copy(n, s->yp, w->p);
    remember(w, s->y);
    for (int m = 1; m <= count && status == ATTEMPT_OK; m++) {
        status = small_step(w, m == count ? w->t : s->t + m * h, h, row == 0 && m == 1);
        remember(w, w->y);
    }
    if (status != ATTEMPT_OK) return status;
    vector_copy(n, w->y, result);
    vector_copy(n, w->y, w->column[row]);
    for (int i = 0; i < n; i++) w->yp[i] = w->p[i] * w->h;
    add_differences(w, row);
    return ATTEMPT_OK;
}

static double error_size(void *context, const double *error)
{
    const liex_scratch *w = context;
    return norm_of(w->ctx->norm, error, w->ctx->norm->tested);
}

/* ---- attempt ---- */

/* Newton's rate beyond which new partial derivatives are worth their price: on algebraic variables
 * old ones cost order. SEULEX has min(1e-4, rtol). */
static double renewal(const method_context *ctx)
{
    const double rtol = ctx->norm->rtol;
    if (scheme_of(ctx) == SCHEME_2) return -1.0; /* B has moved on */
    if (scheme_of(ctx) == SCHEME_IMPLICIT) return WORN;
    return fmin(1e-4, rtol > 0.0 ? rtol : 1e-4);
}

/* A = dF/dy of the start of the basic step; memory grows with a pattern that is found. */
static attempt_status keep_start(const method_context *ctx)
{
    liex_cache *c = ctx->cache;
    const jacobian *jac = &ctx->newton->matrix->jac;
    if (c->count != jac->layout.count) {
        dae_free(c->dfdy);
        c->dfdy = DAE_ARRAY(double, jac->layout.count);
        c->count = c->dfdy ? jac->layout.count : 0;
        if (!c->dfdy) return ATTEMPT_MEMORY;
    }
    memcpy(c->dfdy, jac->dfdy, c->count * sizeof(double));
    return ATTEMPT_OK;
}

static attempt_status renew_matrix(const liex_state *s, liex_scratch *w, const method_context *ctx)
{
    newton *nw = ctx->newton;
    if (!nw->stale && nw->matrix->jac.valid) return ATTEMPT_OK;
    attempt_status status = stages_from_iteration(iteration_evaluate(
        nw->matrix, s->t, s->y, s->yp, 1.0 / w->h, w->h, ctx->norm->weights, NULL));
    nw->stale = status != ATTEMPT_OK;
    w->fresh = status == ATTEMPT_OK;
    return status == ATTEMPT_OK && scheme_of(ctx) == SCHEME_2 ? keep_start(ctx) : status;
}

/* The rows of this step, once more with new partial derivatives if old ones will not do. */
static attempt_status compute(const liex_state *s, liex_scratch *w, const method_context *ctx)
{
    attempt_status status = renew_matrix(s, w, ctx);
    if (status != ATTEMPT_OK) return status;
    bool fresh = w->fresh;
    status = extrapolation_run(&w->tableau, w->target, ctx->fixed_steps, w->result);
    bool again = status == ATTEMPT_CONVERGENCE || status == ATTEMPT_SINGULAR ||
                 (status == ATTEMPT_OK && !extrapolation_passed(&w->tableau));
    if (!again || fresh || ctx->fixed_steps) return status;
    ctx->newton->stale = true;
    status = renew_matrix(s, w, ctx);
    if (status != ATTEMPT_OK) return status;
    return extrapolation_run(&w->tableau, w->target, false, w->result);
}

/* The polynomial with y at both ends of a step, y1 and y0, and the derivatives d_k h^k / k! at its
 * end, at x = -1 .. 0 */
static double polynomial(int degree, double x, double y0, double y1, const double *d,
                         int derivative)
{
    double last = y0 - y1, sign = degree % 2 ? 1.0 : -1.0; /* y0 = sum_k (-1)^k d_k + .. */
    for (int k = 1; k <= degree; k++) last += (k % 2 ? 1.0 : -1.0) * d[k - 1];
    double value = sign * last, slope = 0.0;
    for (int k = degree; k >= 0; k--) {
        slope = slope * x + value;
        value = value * x + (k > 0 ? d[k - 1] : y1);
    }
    return derivative ? slope : value;
}

/* H^k y^(k) / k! of variable i at the end of the step, k = 1 .. degree */
static void derivatives_at(const liex_scratch *w, int row, int degree, int i, double *d)
{
    for (int k = 1; k <= degree; k++)
        d[k - 1] = w->differences[k - 1][row - first_with(w->tableau.rule, k)][i];
}

/* y' where the step begins against the slope of its interpolant, of degree `row` + 1 or 5: no small
 * step evaluates F there, and a jump of y' before the first one is seen by no row. Errors are of
 * order row + 1, and the weight follows, the more so since the derivatives of the interpolant are
 * rough: what counts is what is abrupt. At a start y' may be a guess. The end of a step has no
 * weight in extrapolated values: a jump after the last point but one is seen by no row either, but
 * by how wrong the interpolant is inside. */
static double error_of_slope(const liex_state *s, liex_scratch *w, const method_context *ctx,
                             double inside)
{
    const extrapolation *e = &w->tableau;
    const int n = ctx->n, row = e->row, degree = degree_of(e->rule, row);
    double rtol = stages_relative_tolerance(ctx->norm, s->y), power = 0.0;
    if (s->done == 0 || degree < 1) return 0.0;
    if (row > degree + 1) power = 1.0 - (degree + 2.0) / (row + 1.0);
    for (int i = 0; i < n; i++) {
        double d[DERIVATIVES];
        derivatives_at(w, row, degree, i, d);
        w->p[i] = s->yp[i] - polynomial(degree, -1.0, s->y[i], e->T[row][i], d, 1) / w->h;
    }
    if (!stages_filter_slope(ctx, w->p, w->b)) return INFINITY;
    double weight = SMOOTH_SLOPE * pow(rtol, power);
    double error = weight * fmax(inside, norm_of(ctx->norm, w->p, ctx->norm->tested));
    error = stages_falling(&w->slope, error, w->h, w->tries > 1);
    if (!(error > 0.0)) return 0.0;
    return error * stages_abruptness(&w->slope, s->slope_error, w->h / (s->t - s->t_old),
                                     degree + 2, weight / STAGES_SLOPE);
}

/* How wrong the interpolant is at `part` of the step. */
static double look(const void *state, void *scratch, const method_context *ctx, double part,
                   double **correction)
{
    const liex_state *s = state;
    liex_scratch *w = scratch;
    const int row = w->tableau.row, degree = degree_of(&s->rule, row);
    const double x = part - 1.0, *end = w->tableau.T[row];
    for (int i = 0; i < ctx->n; i++) {
        double d[DERIVATIVES];
        derivatives_at(w, row, degree, i, d);
        w->p[i] = polynomial(degree, x, s->y[i], end[i], d, 0);
        w->b[i] = polynomial(degree, x, s->y[i], end[i], d, 1) / w->h;
    }
    *correction = w->y;
    return stages_dense_error(ctx, s->t + part * w->h, w->p, w->b, ctx->norm->tested, w->y);
}

/* What events see of the interpolant, and what a quiet step may not have seen. */
static double error_between(const liex_state *s, liex_scratch *w, const method_context *ctx,
                            double inside, double error)
{
    if (w->tableau.row < 1) return 0.0;
    const double between = stages_looked_at(ctx) ? STAGES_DENSE * inside : 0.0;
    error = fmax(error, between);
    double quiet = stages_quiet_error(ctx, error, w->h, &w->quiet, ctx->norm->tested, look, s, w);
    return quiet > error ? quiet : between;
}

static void propose(const liex_state *s, liex_scratch *w, const method_context *ctx, int most,
                    attempt *result)
{
    const extrapolation *e = &w->tableau;
    if (result->status == ATTEMPT_OK) {
        result->bound_ratio = 1.0;
        stages_within_bounds(&ctx->eval->problem->form, (bound_slack){ctx->norm, 1.0}, 1.0, s->y,
                             e->T[e->row], &result->bound_ratio, &ctx->newton->bound_variable);
        if (result->bound_ratio < 1.0) result->status = ATTEMPT_BOUND;
        stages_clamp(&ctx->eval->problem->form, e->T[e->row]);
    }
    if (result->status != ATTEMPT_OK) {
        result->next_factor = 0.5;
        w->next_target = w->target > 2 ? w->target - 1 : w->target;
        return;
    }
    result->order = e->row + 1;
    double *correction, inside = e->row < 1 ? 0.0 : look(s, w, ctx, STAGES_LOOK, &correction);
    double slopes = ctx->fixed_steps ? 0.0 : error_of_slope(s, w, ctx, inside);
    slopes = fmax(slopes, error_between(s, w, ctx, inside, fmax(slopes, e->errors[e->row])));
    result->error = fmax(e->errors[e->row], slopes);
    result->next_factor = extrapolation_plan(e, w->target, most, w->tries > 1, &w->next_target);
    if (slopes > 1.0)
        result->next_factor = fmin(result->next_factor, fmax(MOST_FALL, 0.9 / sqrt(slopes)));
    if (degree_of(e->rule, e->row) > 0) /* else the last difference of the last row */
        vector_copy(ctx->n, w->differences[0][e->row - first_with(e->rule, 1)], w->yp);
    for (int i = 0; i < ctx->n; i++) w->yp[i] /= w->h;
    result->y = e->T[e->row];
}

/* Implicit Euler extrapolates at index 2, too [BCP96 Table 4.4.1], but what the rows say of
 * multipliers between steps is worth an order less than what tolerances ask for. */
static bool refuse_index2(const method_context *ctx, attempt *a)
{
    const dae_kind *kinds = ctx->norm->kinds;
    if (scheme_of(ctx) != SCHEME_IMPLICIT || ctx->fixed_steps) return false;
    for (int j = 0; kinds && j < ctx->n; j++)
        if (kinds[j] == DAE_KIND_INDEX2)
            return stages_refused(a, j,
                                  "takes variables of index 2 with constant steps only: set "
                                  "fixed_step, or choose radau");
    return false;
}

static void liex_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                         int order, attempt *result)
{
    const liex_state *s = state;
    liex_scratch *w = scratch;
    const int rows = s->rule.rows, most = order < 2 ? 1 : order > rows ? rows - 1 : order - 1;
    const int usual = rows < 3 ? 1 : rows - 2 < most ? rows - 2 : most;
    w->state = s;
    w->ctx = ctx;
    w->t = s->t + h;
    w->h = h;
    w->target = w->tries++ > 0 ? w->next_target : s->target;
    if (ctx->fixed_steps || w->target > most) w->target = most;
    w->tableau.rule = &s->rule;
    w->tableau.n = ctx->n;
    w->tableau.error = w->estimate;
    w->tableau.compute = compute_row;
    w->tableau.norm = error_size;
    w->tableau.context = w;
    stages_begin(result, s->t, h, w->target + 1, w->y, w->yp);
    result->estimate = w->estimate;
    if (stages_need_matrix(ctx, result)) return;
    /* Every row begins anew, and the first steps of Euler's method have errors O(1) in multipliers
     * of index 3 [BCP96 3.2.3]: there is no expansion in h to extrapolate. */
    if (stages_refuse_index3(ctx, result) || refuse_index2(ctx, result)) return;
    w->theta = 0.0;
    result->status = compute(s, w, ctx);
    propose(s, w, ctx, usual, result);
    if (result->status != ATTEMPT_OK && !w->fresh) ctx->newton->stale = true;
    ctx->newton->iterations = 0;
    ctx->newton->rate = w->theta;
}

static void liex_accept(void *state, void *scratch, const method_context *ctx)
{
    liex_state *s = state;
    liex_scratch *w = scratch;
    const int row = w->tableau.row, n = ctx->n;
    s->t_old = s->t;
    s->t = w->t;
    s->target = w->next_target;
    s->slope_error = w->slope.error;
    s->done = row + 1;
    s->degree = degree_of(&s->rule, row);
    vectors_advance(n, w->tableau.T[row], s->y, s->y_old);
    vector_copy(n, w->yp, s->yp);
    for (int k = 1; k <= s->degree; k++)
        vector_copy(n, w->differences[k - 1][row - first_with(&s->rule, k)], s->derivative[k - 1]);
    for (int j = 0; j <= row; j++) vector_copy(n, w->column[j], s->column[j]);
    if (w->theta > renewal(ctx)) ctx->newton->stale = true;
    w->fresh = false;
    w->tries = 0;
    w->quiet = (stages_trial){0};
}

static void liex_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                             double *y)
{
    const liex_state *s = state;
    const int n = ctx->n, degree = s->degree;
    if (s->done == 0 || t == s->t) {
        vector_copy(n, derivative ? s->yp : s->y, y);
        return;
    }
    double h = s->t - s->t_old, x = (t - s->t) / h;
    for (int i = 0; i < n; i++) {
        double d[DERIVATIVES];
        for (int k = 0; k < degree; k++) d[k] = s->derivative[k][i];
        y[i] = polynomial(degree, x, s->y_old[i], s->y[i], d, derivative);
        if (derivative) y[i] /= h;
    }
}

/* T_jk, from the first column. */
static int liex_tableau(const void *state, const method_context *ctx, int row, int column,
                        double *y)
{
    const liex_state *s = state;
    const int n = ctx->n;
    if (row < 0 || row >= s->done || column < 0 || column > row) return s->done;
    for (int i = 0; i < n; i++) {
        double T[ROWS];
        for (int j = row - column; j <= row; j++) T[j] = s->column[j][i];
        for (int k = 1; k <= column; k++)
            for (int j = row; j >= row - column + k; j--)
                T[j] += (T[j] - T[j - 1]) / ((double)s->rule.steps[j] / s->rule.steps[j - k] - 1.0);
        y[i] = T[row];
    }
    return s->done;
}

static void *liex_cache_new(const method_context *ctx)
{
    (void)ctx;
    return DAE_NEW(liex_cache);
}

static void liex_cache_persist(void *cache, const method_context *ctx, persist *p)
{
    liex_cache *c = cache;
    (void)ctx;
    PERSIST(p, c->count);
    PERSIST_OWNED(p, c->dfdy, c->count);
}

static void liex_cache_free(void *cache)
{
    liex_cache *c = cache;
    if (c) dae_free(c->dfdy);
    dae_free(c);
}

#define DEUFLHARD                                                                                  \
    "Deuflhard, Hairer, Zugck: One-step and extrapolation methods for differential-algebraic "     \
    "systems, Numer. Math. 51 (1987) 501-516"
#define LUBICH                                                                                     \
    "Lubich: Linearly implicit extrapolation methods for differential-algebraic systems, Numer. "  \
    "Math. 55 (1989) 197-211"
#define BRENAN                                                                                     \
    "Brenan, Campbell, Petzold: Numerical solution of initial-value problems in "                  \
    "differential-algebraic equations, SIAM (1996), section 4.6"

#define LIEX_METHOD(id, label, about, source, which, range, sharp)                                 \
    static const scheme id##_kind = which;                                                         \
    const method method_##id = {                                                                   \
        .name = label,                                                                             \
        .summary = about,                                                                          \
        .citation = source,                                                                        \
        .max_order = ROWS,                                                                         \
        .fixed_order = true,                                                                       \
        .own_order = true,                                                                         \
        .small_steps = true,                                                                       \
        .rough_between = true,                                                                     \
        .no_iteration = true,                                                                      \
        .ends_unseen = true,                                                                       \
        .sharp_multipliers = sharp,                                                                \
        .index_range = range,                                                                      \
        .table = &id##_kind,                                                                       \
        METHOD_STEPS(liex),                                                                        \
        METHOD_CACHE(liex),                                                                        \
        .tableau = liex_tableau,                                                                   \
    }

LIEX_METHOD(liex, "liex", "extrapolated linearly implicit Euler, order up to 9; F(t,y,y') = 0",
            DEUFLHARD, SCHEME_1, "1", true);
LIEX_METHOD(liex_scheme2, "liex:scheme2",
            "the same by Lubich's second scheme: dF/dy' anew for every small step", LUBICH,
            SCHEME_2, "1", true);
LIEX_METHOD(liex_implicit, "liex:implicit",
            "extrapolated implicit Euler, iterated to convergence; F(t,y,y') = 0", BRENAN,
            SCHEME_IMPLICIT, "1 (2: constant steps)", false);
