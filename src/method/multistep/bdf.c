/* BDF of orders 1 to 5, and 6 if it is asked for, with variable step and fixed leading coefficient,
 * as in DASSL.
 *
 * Notation of [BCP96 (5.2.4)], with arrays counted from 1 as there:
 *   psi_i   = t_{n+1} - t_{n+1-i}                 phi_i  = psi_1..psi_{i-1} [y_n, .., y_{n-i+1}]
 *   alpha_i = h / psi_i                           beta_i = prod_{j<i} psi_j(n+1) / psi_j(n)
 *   sigma_i = h^i (i-1)! / (psi_1 .. psi_i)       gamma_i = sum_{j<i} 1 / psi_j
 * The history phi is stored as of the last accepted step and scaled by beta on the fly, so that an
 * attempt never touches it. */
#include "method/common/method.h"

#include "base/vector.h"
#include "method/common/stages.h"
#include "method/multistep/history.h"

enum { USUAL_ORDER = 5, MAX_ORDER = 6, COLUMNS = MAX_ORDER + 1 };

/* Differences of high order amplify what Newton leaves over, by up to 2^k: the error estimate then
 * shows the iteration and not the solution, and steps stay small. Orders 4 and 5 iterate this much
 * further. RC ladder, n = 1e5, rtol = 1e-9: 626 steps instead of 1408; no change in the mean over
 * the ten models of bench_sweep. */
static const double HIGH_ORDER_TIGHTNESS = 2.5;

/* What tells the variants from the default. */
typedef struct bdf_rules {
    bool dassl;     /* corrector, error test and steps of DASSL to the letter */
    bool rate_anew; /* and every corrector begins without a rate of convergence */
} bdf_rules;

static const bdf_rules *rules_of(const method_context *ctx)
{
    static const bdf_rules ours = {0};
    return ctx->method && ctx->method->table ? ctx->method->table : &ours;
}

/* What survives between steps. */
typedef struct bdf_state {
    double t, h;              /* end and size of the last step */
    int order;                /* of the last step: the degree of the interpolant */
    int steady;               /* steps in a row with equal h and order, at most order + 2 */
    double psi[COLUMNS + 2];  /* psi_i(n) */
    int nodes;                /* steps since the start, at most COLUMNS: values of the solution */
    double *phi[COLUMNS + 2]; /* phi_1 .. phi_7 */
    double *yp_old, *yp_new;  /* y' at the ends of the last step, for the smooth interpolant */
    double t_old;
} bdf_state;

/* One attempt. */
typedef struct bdf_scratch {
    int order;
    double t, h;
    double psi[COLUMNS + 2], alpha[COLUMNS + 2], beta[COLUMNS + 2], sigma[COLUMNS + 2];
    double gamma[COLUMNS + 2];
    double cj, error_constant;
    double *y0, *yp0; /* prediction */
    double *y, *yp;   /* solution of the corrector */
    double *e;        /* y - y0 */
    double *filtered;
} bdf_scratch;

static const method_memory bdf_memory = {
    .state = {sizeof(bdf_state),
              {VECTORS(bdf_state, phi[1], phi[COLUMNS]), VECTORS(bdf_state, yp_old, yp_new)}},
    .scratch = {sizeof(bdf_scratch), {VECTORS(bdf_scratch, y0, filtered)}},
};

/* phi_i for i = 1 .. m from past values, by divided differences times products of psi. */
static void history_to_phi(bdf_state *s, int n, const start_point *at)
{
    int m = at->history;
    for (int i = 0; i < m; i++) vector_copy(n, at->past_y + (size_t)i * (size_t)n, s->phi[i + 1]);
    history_divide(s->phi, m, at->past_t, n);
    double product = 1.0;
    for (int i = 2; i <= m; i++) {
        s->psi[i - 1] = at->past_t[0] - at->past_t[i - 1];
        product *= s->psi[i - 1];
        for (int j = 0; j < n; j++) s->phi[i][j] *= product;
    }
}

static void bdf_start(void *state, void *scratch, const method_context *ctx, const start_point *at)
{
    bdf_state *s = state;
    int n = ctx->n;
    method_clear(ctx, state, scratch);
    for (int i = 1; i <= COLUMNS; i++) vector_zero(n, s->phi[i]);
    s->t = s->t_old = at->t;
    if (at->history > 1) {
        history_to_phi(s, n, at);
        s->order = at->history - 1;
        s->nodes = at->history - 1;
        s->h = at->past_t[0] - at->past_t[1];
        s->t_old = at->past_t[1];
    } else {
        s->order = 1;
        s->h = s->psi[1] = at->h;
        vector_copy(n, at->y, s->phi[1]);
        for (int j = 0; j < n; j++) s->phi[2][j] = at->h * at->yp[j];
    }
    for (int i = s->order + 1; i <= COLUMNS; i++) s->psi[i] = s->psi[i - 1] + s->h;
    vector_copy(n, at->yp, s->yp_old);
    vector_copy(n, at->yp, s->yp_new);
}

/* Whether the grid behind is uniform as far as order k sees it, and the coefficients in scratch are
 * those of the step before: then they are right for this step, too. */
static bool coefficients_stand(const bdf_state *s, const bdf_scratch *w, double h, int k)
{
    return s->steady > k + 1 && h == s->h && k == s->order && h == w->h && k == w->order;
}

/* The coefficients of (5.2.4) for a step h at order k. Behind a start there is only the tangent: it
 * counts as a step of size h, whatever size was tried before, lest the error constant vanish with h
 * and the error test with it. */
static void set_coefficients(const bdf_state *s, bdf_scratch *w, double h, int k,
                             const bdf_rules *rules)
{
    w->t = s->t + h;
    if (coefficients_stand(s, w, h, k)) return;
    bool first = s->t_old == s->t && !rules->dassl;
    w->order = k;
    w->h = h;
    w->psi[1] = h;
    w->alpha[1] = w->beta[1] = w->sigma[1] = 1.0;
    w->gamma[1] = 0.0;
    double alpha_0 = -1.0, alpha_s = -1.0;
    for (int i = 2; i <= k + 1; i++) {
        w->psi[i] = (first ? h : s->psi[i - 1]) + h;
        w->alpha[i] = h / w->psi[i];
        w->beta[i] = w->beta[i - 1] * w->psi[i - 1] / s->psi[i - 1];
        w->sigma[i] = (i - 1) * w->sigma[i - 1] * w->alpha[i];
        w->gamma[i] = w->gamma[i - 1] + 1.0 / w->psi[i - 1];
        if (i <= k) {
            alpha_0 -= w->alpha[i];
            alpha_s -= 1.0 / i;
        }
    }
    w->cj = -alpha_s / h;
    w->error_constant = fmax(w->alpha[k + 1], fabs(w->alpha[k + 1] + alpha_s - alpha_0));
}

/* Newton on the corrector equation (5.2.8). */
static attempt_status solve_corrector(const bdf_state *s, bdf_scratch *w, const method_context *ctx)
{
    const bdf_rules *rules = rules_of(ctx);
    corrector c = {.t = w->t,
                   .h = w->h,
                   .cj = w->cj,
                   .tightness = w->order >= 4 ? HIGH_ORDER_TIGHTNESS : 1.0,
                   .y0 = w->y0,
                   .yp0 = w->yp0,
                   .y_old = s->phi[1],
                   .damped = ctx->fixed_steps,
                   .y = w->y,
                   .yp = w->yp,
                   .e = w->e};
    if (rules->dassl) return newton_solve_dassl(ctx->newton, &c, rules->rate_anew);
    return newton_solve(ctx->newton, &c);
}

/* F at the solution, in newton.first, where products with dF/dy' are differences of it. */
static iteration_status evaluate_end(const bdf_scratch *w, const method_context *ctx)
{
    const iteration *it = ctx->newton->matrix;
    if (!it->matrix_free && it->jac.valid) return ITERATION_OK;
    eval_status status = evaluate_residual(ctx->eval, w->t, w->y, w->yp, ctx->newton->first,
                                           &ctx->eval->stats->jacobian_residuals);
    return status == EVAL_OK     ? ITERATION_OK
           : status == EVAL_STOP ? ITERATION_STOP
                                 : ITERATION_RETRY;
}

/* The filtered estimate (dF/dy' + dF/dy / cj)^-1 dF/dy' e [BCP96 (5.4.9)], in scratch */
static iteration_status filter_estimate(bdf_scratch *w, const method_context *ctx)
{
    newton *nw = ctx->newton;
    linear_point at = {.t = w->t,
                       .cj = w->cj,
                       .y = w->y,
                       .yp = w->yp,
                       .f = nw->first,
                       .scale = ctx->norm->newton,
                       .tolerance = nw->krylov_tolerance * nw->tolerance};
    iteration_status status = evaluate_end(w, ctx);
    if (status == ITERATION_OK) status = iteration_apply_yp(nw->matrix, &at, w->e, w->filtered);
    if (status != ITERATION_OK) return status;
    double cj = nw->matrix->matrix_free ? w->cj : nw->matrix->cj;
    for (int j = 0; j < ctx->n; j++) w->filtered[j] *= cj;
    return iteration_solve(nw->matrix, &at, w->filtered);
}

/* ||e||, ||e + phi*_{k+1}||, ||e + phi*_{k+1} + phi*_k||, ||e - phi_{k+2}|| in one pass */
static void difference_norms(const bdf_state *s, const bdf_scratch *w, const error_norm *norm,
                             bool raise, double size[4])
{
    int n = norm->n, k = w->order;
    const double *restrict scale = norm->tested, *restrict e = w->e;
    const double *restrict first = s->phi[k + 1], *restrict second = s->phi[k];
    const double *restrict next = s->phi[raise ? k + 2 : 1];
    double b1 = w->beta[k + 1], b2 = w->beta[k];
    double sum0 = 0.0, sum1 = 0.0, sum2 = 0.0, sum3 = 0.0;
    for (int j = 0; j < n; j++) {
        /* Scaled before they are squared: neither y nor its weight may over- or underflow here. */
        double weight = scale[j], x = e[j] * weight;
        double up = x - next[j] * weight;
        sum0 += x * x;
        sum3 += up * up;
        x += b1 * first[j] * weight;
        sum1 += x * x;
        x += b2 * second[j] * weight;
        sum2 += x * x;
    }
    size[0] = sqrt(sum0 / n);
    size[1] = sqrt(sum1 / n);
    size[2] = sqrt(sum2 / n);
    size[3] = sqrt(sum3 / n);
}

/* The same four norms with a user's norm. */
static void difference_user_norms(const bdf_state *s, bdf_scratch *w, const error_norm *norm,
                                  bool raise, double size[4])
{
    int n = norm->n, k = w->order;
    double *x = w->filtered;
    size[0] = norm_of(norm, w->e, norm->tested);
    for (int j = 0; j < n; j++) x[j] = w->e[j] + w->beta[k + 1] * s->phi[k + 1][j];
    size[1] = norm_of(norm, x, norm->tested);
    for (int j = 0; j < n; j++) x[j] += w->beta[k] * s->phi[k][j];
    size[2] = norm_of(norm, x, norm->tested);
    for (int j = 0; j < n; j++) x[j] = raise ? w->e[j] - s->phi[k + 2][j] : 0.0;
    size[3] = norm_of(norm, x, norm->tested);
}

/* The highest order of this run: its differences are kept, and not those behind them. */
static int highest_order(const method_context *ctx)
{
    return ctx->options && ctx->options->max_order > USUAL_ORDER ? MAX_ORDER : USUAL_ORDER;
}

/* TERKM2, TERKM1, TERK, TERKP1 of (5.2.22) and the error of (5.2.21). */
static void estimate_errors(const bdf_state *s, bdf_scratch *w, const method_context *ctx,
                            attempt *result)
{
    int k = w->order;
    /* Only after k + 1 steps of one size and order does e - phi_{k+2} estimate h^{k+2} y^{(k+2)}.
     */
    bool raise = k < highest_order(ctx) && k == s->order && w->h == s->h && s->steady > k;
    double size[4];
    if (ctx->norm->user_norm)
        difference_user_norms(s, w, ctx->norm, raise, size);
    else
        difference_norms(s, w, ctx->norm, raise, size);
    result->terms[0] = k > 2 ? (k - 1) * w->sigma[k - 1] * size[2] : NAN;
    result->terms[1] = k > 1 ? k * w->sigma[k] * size[1] : NAN;
    result->terms[2] = (k + 1) * w->sigma[k + 1] * size[0];
    result->terms[3] = raise ? size[3] : NAN;
    result->error = w->error_constant * size[0];
    result->estimate = w->e;
    result->error_constant = w->error_constant;
    if (ctx->error_test != DAE_ERROR_FILTERED) return;
    iteration_status status = filter_estimate(w, ctx);
    if (status == ITERATION_STOP) result->status = ATTEMPT_STOP;
    if (status != ITERATION_OK) return; /* the estimate as it is will do */
    /* Orders are compared as before, by the ratios of the terms [BCP96 5.4.2]; steps follow the
     * estimate. */
    double filtered = norm_of(ctx->norm, w->filtered, ctx->norm->tested);
    for (int i = 0; i < 4 && size[0] > 0.0; i++) result->terms[i] *= filtered / size[0];
    result->estimate = w->filtered;
    result->error = w->error_constant * filtered;
}

/* ---- multipliers of index 3 ---- */

/* kappa_i = sum_{j<l<i} 2 / (psi_j psi_l), the second derivative of the i-th Newton polynomial over
 * its value, for as many values behind as there are and order k + 1 needs. At the start the tangent
 * is a second value there. Returns the degree of the polynomial through them and the new value. */
static int second_derivative_weights(const bdf_state *s, const bdf_scratch *w, double *kappa)
{
    int degree = s->nodes == 0 ? 2 : w->order + 1 < s->nodes + 1 ? w->order + 1 : s->nodes + 1;
    double gamma = 0.0;
    kappa[1] = 0.0;
    for (int i = 1; i <= degree; i++) {
        double psi = s->nodes == 0 ? w->h : w->psi[i];
        kappa[i + 1] = kappa[i] + 2.0 * gamma / psi;
        gamma += 1.0 / psi;
    }
    return degree;
}

/* x''_{n+1} of that polynomial for component j */
static double second_derivative(const bdf_state *s, const bdf_scratch *w, const double *kappa,
                                int degree, int j)
{
    double sum = 0.0, e = w->e[j];
    for (int i = w->order + 1; i > degree; i--) e += w->beta[i] * s->phi[i][j];
    for (int i = 2; i <= degree; i++) sum += kappa[i] * w->beta[i] * s->phi[i][j];
    return sum + kappa[degree + 1] * e;
}

/* After a change of step or order v' misses q'' by O(1), and multipliers have to make up for it.
 * The polynomial through q tells q'': the difference d of the two is taken back by A delta = F_v'
 * d, in multipliers where constraints stand against it [AL95]. Only these change, and v'. */
static void correct_multipliers(const bdf_state *s, bdf_scratch *w, const method_context *ctx)
{
    const dae_problem *p = ctx->eval->problem;
    const dae_kind *kinds = ctx->norm->kinds;
    newton *nw = ctx->newton;
    double kappa[COLUMNS + 3], *d = w->y0, *delta = w->yp0; /* the prediction has served */
    if (p->kinematic_count == 0 || nw->matrix->matrix_free) return;
    int degree = second_derivative_weights(s, w, kappa);
    vector_zero(ctx->n, d);
    for (int r = 0; r < p->kinematic_count; r++) {
        int q = p->kinematic[r].unknown, v = p->kinematic[r].velocity;
        d[v] = second_derivative(s, w, kappa, degree, q) - w->yp[v];
    }
    linear_point at = {.t = w->t, .cj = w->cj, .y = w->y, .yp = w->yp};
    if (iteration_apply_yp(nw->matrix, &at, d, delta) != ITERATION_OK) return;
    if (iteration_solve(nw->matrix, &at, delta) != ITERATION_OK) return;
    for (int j = 0; j < ctx->n; j++) {
        w->yp[j] += d[j];
        if (kinds[j] != DAE_KIND_INDEX3) continue;
        w->y[j] -= delta[j];
        w->e[j] -= delta[j];
    }
}

/* DASSL's error test has no way with variables of index 3 [BCP96 5.4.2]; constant steps do. */
static bool refuse_index3(const method_context *ctx, attempt *result)
{
    if (!rules_of(ctx)->dassl || ctx->fixed_steps) return false;
    return stages_refuse_index3(ctx, result);
}

static void bdf_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                        int order, attempt *result)
{
    const bdf_state *s = state;
    bdf_scratch *w = scratch;
    set_coefficients(s, w, h, order, rules_of(ctx));
    history_predict(s->phi, order + 1, w->beta, w->gamma, NULL, ctx->n, w->y0, w->yp0, NULL);
    *result = (attempt){.t = s->t, .h = h, .order = order, .y = w->y, .yp = w->yp};
    if (refuse_index3(ctx, result)) return;
    result->status = solve_corrector(s, w, ctx);
    result->bound_ratio = ctx->newton->bound_ratio;
    if (result->status != ATTEMPT_OK) return;
    estimate_errors(s, w, ctx, result);
    if (ctx->options && ctx->options->multiplier_correction) correct_multipliers(s, w, ctx);
}

static void bdf_accept(void *state, void *scratch, const method_context *ctx)
{
    bdf_state *s = state;
    const bdf_scratch *w = scratch;
    int k = w->order;
    bool steady = w->h == s->h && k == s->order;
    s->steady = steady ? (s->steady < k + 2 ? s->steady + 1 : k + 2) : 1;
    if (k < highest_order(ctx)) vector_copy(ctx->n, w->e, s->phi[k + 2]);
    history_update(s->phi, k + 1, w->beta, w->e, ctx->n);
    /* Past the order the grid is still known; a later rise of the order needs psi_{k+1}. */
    for (int i = COLUMNS; i > k + 1; i--) s->psi[i] = s->psi[i - 1] + w->h;
    for (int i = 1; i <= k + 1; i++) s->psi[i] = w->psi[i];
    if (ctx->smooth) {
        vectors_swap(&s->yp_old, &s->yp_new);
        vector_copy(ctx->n, w->yp, s->yp_new);
    }
    s->t_old = s->t;
    s->t = w->t;
    s->h = w->h;
    s->order = k;
    if (s->nodes < COLUMNS) s->nodes++;
}

/* c_i and d_i with y(t) = sum c_i phi_i, y'(t) = sum d_i phi_i, i = 1 .. order + 1 (5.2.9) */
static void interpolation_weights(const bdf_state *s, double t, double *c, double *d)
{
    double distance = t - s->t, value = 1.0, slope = 0.0, ratio = distance / s->psi[1];
    c[1] = 1.0;
    d[1] = 0.0;
    for (int i = 2; i <= s->order + 1; i++) {
        slope = slope * ratio + value / s->psi[i - 1];
        value *= ratio;
        ratio = (distance + s->psi[i - 1]) / s->psi[i];
        c[i] = value;
        d[i] = slope;
    }
}

static void combine_phi(const bdf_state *s, int n, const double *weights, double *y)
{
    for (int j = 0; j < n; j++) y[j] = weights[1] * s->phi[1][j];
    for (int i = 2; i <= s->order + 1; i++) vector_axpy(n, weights[i], s->phi[i], y);
}

static void bdf_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                            double *y)
{
    const bdf_state *s = state;
    double c[COLUMNS + 2], d[COLUMNS + 2];
    interpolation_weights(s, t, c, d);
    combine_phi(s, ctx->n, derivative ? d : c, y);
    double h = s->t - s->t_old;
    if (!ctx->smooth || h == 0.0) return;
    double left[COLUMNS + 2], right[COLUMNS + 2];
    interpolation_weights(s, s->t_old, c, left);
    interpolation_weights(s, s->t, c, right);
    end_slopes ends = {s->order, s->phi + 2, left + 2, right + 2, s->yp_old, s->yp_new};
    history_smooth(&ends, (t - s->t_old) / h, h, derivative, ctx->n, y);
}

const method method_bdf = {
    .name = "bdf",
    .summary = "BDF, orders 1 to 5, or 6, variable step, fixed leading coefficient; F(t,y,y') = 0",
    .citation = "Brenan, Campbell, Petzold: Numerical Solution of Initial-Value Problems in "
                "Differential-Algebraic Equations, SIAM 1996, chapter 5",
    .tests_algebraic = true,
    .confirms = true,
    .kinds_asked = true,
    .max_order = MAX_ORDER,
    .usual_order = USUAL_ORDER,
    .index_range = "1 to 2",
    METHOD_STEPS(bdf),
};

#define BDF_DASSL(id, variant, text, ...)                                                          \
    static const bdf_rules id##_rules = {.dassl = true, __VA_ARGS__};                              \
    const method method_bdf_##id = {                                                               \
        .name = "bdf:" variant,                                                                    \
        .summary = text,                                                                           \
        .citation = "Brenan, Campbell, Petzold: Numerical Solution of Initial-Value Problems in "  \
                    "Differential-Algebraic Equations, SIAM 1996, chapter 5",                      \
        .dassl = true,                                                                             \
        .kinds_asked = true,                                                                       \
        .max_order = USUAL_ORDER,                                                                  \
        .index_range = "1 to 2",                                                                   \
        .table = &id##_rules,                                                                      \
        METHOD_STEPS(bdf),                                                                         \
    }

BDF_DASSL(dassl, "dassl", "DASSL to the letter: its Newton, error test, orders and steps",
          .rate_anew = false);
BDF_DASSL(dassl_tables, "dassl-tables",
          "DASSL as in [BCP96 6.2]: each corrector begins without a rate of convergence",
          .rate_anew = true);
