/* BDF for the second order form F(t, x, x', x'') = 0, orders k = 1 to 5, variable step: x' and x''
 * at t_n are those of the polynomial of degree K = k + 1 through x_n, x_{n-1}, .., x_{n-K}. For
 * k = 2 this is Houbolt's method. Other than BDF on the first order form it keeps the multipliers
 * of index 3 accurate where step or order change: x'' is exact for polynomials of degree K on every
 * grid [Wun05 3.3].
 *
 * Notation, counted from 1 as in bdf.c:
 *   psi_i   = t_{n+1} - t_{n+1-i}, the distance of the i-th node behind; nodes may coincide (start)
 *   phi_i   = norm_i x[t_n, .., t_{n-i+1}], phi*_i = psi_1 .. psi_{i-1} x[t_n, .., t_{n-i+1}]
 *   gamma_i = sum_{j<i} 1 / psi_j                     first derivative of the i-th Newton
 * polynomial kappa_i = sum_{j<l<i} 2 / (psi_j psi_l)           and the second, at t_{n+1} over its
 * value With the prediction x^0 = sum phi*_i, i <= K + 1, and e = x - x^0: x' = x^0' + gamma_{K+1}
 * e,   x'' = x^0'' + kappa_{K+1} e. */
#include "method/multistep/bdf2nd.h"

#include <float.h>

#include "base/vector.h"
#include "method/common/interpolation.h"
#include "method/multistep/history.h"

enum {
    MAX_ORDER = 5,
    COLUMNS = MAX_ORDER + 2, /* phi_1 .. phi_{K+1} */
    ARRAY = COLUMNS + 3
};

/* As in bdf.c: differences of high order amplify what Newton leaves over. Against 2.5 there, six
 * mechanisms at rtol = 1e-4, 1e-6 and 1e-8 take 5 % fewer steps and as many evaluations, and less
 * of it is left in positions that the mechanism itself amplifies (crankrocker.mo). */
static const double HIGH_ORDER_TIGHTNESS = 4.0;

/* Steps that grow fast amplify it even more. */
static const double FIRST_TIGHTNESS = 1000.0;
enum { FIRST_STEPS = 8 };

/* Errors at which the growth of the first steps aims; over the curves of test_bdf2nd it makes no
 * difference between 0.02 and 0.2. */
static const double START_AIM = 0.05;
/* Part of a velocity's tolerance from which on rounding errors are looked at more closely: what
 * they are multiplied by, the condition of the constraints, is not known, but 100 is a lot. */
static const double ROUNDING_COUNTS = 0.01;

/* What survives between steps. Vectors have one entry per unknown x. */
typedef struct direct_state {
    double t, h, t_old;
    int order;                /* of the last step */
    int steady;               /* steps in a row with equal order, at most order + 2 */
    int uniform;              /* steps in a row with equal h, at most ARRAY */
    int count;                /* columns phi_1 .. phi_count are good; that behind them is 0 */
    bool fresh;               /* no step since a start without history */
    int steps;                /* since the start, at most FIRST_STEPS */
    double psi[ARRAY];        /* t_n - t_{n-i} */
    double norm[ARRAY];       /* of the columns */
    double *phi[ARRAY];       /* phi_1 .. phi_{COLUMNS+1} */
    double *xp_old, *xpp_old; /* x' and x'' at the ends of the last step */
    double *xp_new, *xpp_new;
} direct_state;

/* One attempt. */
typedef struct direct_scratch {
    int order;
    double t, h;
    bool distrust;               /* of x'' where the run starts */
    double first_h, first_error; /* of the first step's last failure of the error test; 0: none */
    bool noisy;                  /* rounding errors are seen in velocities */
    double psi[ARRAY], norm[ARRAY], beta[ARRAY], gamma[ARRAY], kappa[ARRAY];
    double *y0, *yp0, *y, *yp, *e; /* of the residual form: prediction, solution, difference */
    double *y_old;                 /* where the step begins, for bounds */
    double *estimate;
    double *x0, *xp0, *xpp0; /* per unknown x */
    double *ex, *filtered, *spare, *tangent;
} direct_scratch;

static const method_memory direct_memory = {
    .state = {sizeof(direct_state),
              {VECTORS(direct_state, phi[1], phi[COLUMNS + 1]),
               VECTORS(direct_state, xp_old, xpp_new)}},
    .scratch = {sizeof(direct_scratch), {VECTORS(direct_scratch, y0, tangent)}},
};

/* ---- start ---- */

/* Three times the node t_0: x, x', x''/2. The third serves the prediction of the first step only:
 * its corrector, and all that follows, rests on x_0 and x'_0. */
static void start_from_tangent(direct_state *s, const second_order *form, const start_point *at)
{
    s->fresh = true;
    s->order = 1;
    s->h = at->h;
    s->count = 3;
    for (int i = 0; i <= 3; i++) s->norm[i] = 1.0;
    second_order_gather(form, at->y, at->yp, s->phi[1], s->phi[2]);
    for (int k = 0; k < form->n; k++)
        s->phi[3][k] = form->velocity[k] >= 0 ? 0.5 * at->yp[form->velocity[k]] : 0.0;
}

/* Divided differences over the history, with the velocity of its oldest point as one more datum. */
static void start_from_history(direct_state *s, const second_order *form, int n,
                               const start_point *at)
{
    int m = at->history;
    double node[ARRAY];
    for (int i = 0; i < m; i++) {
        node[i] = at->past_t[i];
        const double *y = at->past_y + (size_t)i * (size_t)n;
        for (int k = 0; k < form->n; k++) s->phi[i + 1][k] = y[form->place[k]];
    }
    const double *oldest = at->past_y + (size_t)(m - 1) * (size_t)n;
    node[m] = node[m - 1];
    for (int k = 0; k < form->n; k++) {
        int v = form->velocity[k];
        double last = (s->phi[m - 1][k] - s->phi[m][k]) / (node[m - 2] - node[m - 1]);
        s->phi[m + 1][k] = v >= 0 ? oldest[v] : last;
    }
    history_divide(s->phi, m + 1, node, form->n);
    for (int i = 1; i <= m + 1; i++) s->norm[i] = 1.0;
    for (int i = 1; i <= m; i++) s->psi[i] = node[0] - node[i];
    s->count = m + 1;
    s->order = m - 1;
    s->h = node[0] - node[1];
    s->t_old = node[1];
    s->steps = FIRST_STEPS;
}

static void direct_start(void *state, void *scratch, const method_context *ctx,
                         const start_point *at)
{
    direct_state *s = state;
    const second_order *form = ctx->second;
    method_clear(ctx, state, scratch);
    for (int i = 1; i <= COLUMNS + 1; i++) vector_zero(form->n, s->phi[i]);
    s->t = s->t_old = at->t;
    if (at->history > 1)
        start_from_history(s, form, ctx->n, at);
    else
        start_from_tangent(s, form, at);
    second_order_gather(form, at->y, at->yp, NULL, s->xp_new);
    for (int k = 0; k < form->n; k++)
        s->xpp_new[k] = form->velocity[k] >= 0 ? at->yp[form->velocity[k]] : 0.0;
    vector_copy(form->n, s->xp_new, s->xp_old);
    vector_copy(form->n, s->xpp_new, s->xpp_old);
}

/* ---- one step ---- */

/* Whether the grid behind is uniform as far as order k sees it, and the coefficients in scratch are
 * those of the step before: then they are right for this step, too. */
static bool coefficients_stand(const direct_state *s, const direct_scratch *w, double h, int k)
{
    return s->uniform > k + 3 && h == s->h && k == s->order && h == w->h && k == w->order;
}

static void set_coefficients(const direct_state *s, direct_scratch *w, double h, int k)
{
    w->t = s->t + h;
    if (coefficients_stand(s, w, h, k)) return;
    w->order = k;
    w->h = h;
    w->norm[1] = 1.0;
    w->beta[1] = 1.0;
    w->gamma[1] = w->kappa[1] = 0.0;
    for (int i = 1; i <= COLUMNS + 1; i++) {
        w->psi[i] = s->psi[i - 1] + h; /* psi_0 = 0 */
        w->norm[i + 1] = w->norm[i] * w->psi[i];
        w->beta[i + 1] = i < s->count ? w->norm[i + 1] / s->norm[i + 1] : 0.0;
        w->kappa[i + 1] = w->kappa[i] + 2.0 * w->gamma[i] / w->psi[i];
        w->gamma[i + 1] = w->gamma[i] + 1.0 / w->psi[i];
    }
}

static double tightness(const direct_state *s, int k)
{
    if (s->steps < FIRST_STEPS) return FIRST_TIGHTNESS;
    return k >= 4 ? HIGH_ORDER_TIGHTNESS : 1.0;
}

static attempt_status solve_corrector(const direct_state *s, direct_scratch *w,
                                      const method_context *ctx)
{
    const second_order *form = ctx->second;
    const dae_residual *f = &ctx->eval->problem->form;
    if (f->lower_bounds || f->upper_bounds) /* y' is scratch: Newton overwrites it */
        second_order_spread(form, s->phi[1], s->xp_new, s->xpp_new, w->y_old, w->yp);
    corrector c = {.t = w->t,
                   .h = w->h,
                   .cj = w->gamma[w->order + 2],
                   .a2 = w->kappa[w->order + 2],
                   .second = form,
                   .factors = ctx->cache,
                   .tightness = tightness(s, w->order),
                   .y0 = w->y0,
                   .yp0 = w->yp0,
                   .y_old = w->y_old,
                   .y = w->y,
                   .yp = w->yp,
                   .e = w->e};
    return newton_solve(ctx->newton, &c);
}

/* ---- errors ----
 *
 * The polynomial through exact values misses x'' by tau = 2 gamma_{K+1} / psi_{K+1} e, where e is
 * the difference to the prediction that exact values would show. It moves x_n by tau / kappa_{K+1},
 * which the difference shows as well, and the velocity by h tau: that is the local error of order
 * k + 1 that adds up. In place of x's own, of order k + 2, which says nothing of what the
 * velocity's error does to x later, stands what BDF of order k would do: h/psi_{k+1} (x -
 * prediction of degree k). */

/* Factors of the estimates at order m: of e for velocities, and of the difference at degree m for
 * x.
 */
typedef struct error_factors {
    double velocity, value;
} error_factors;

static error_factors factors_at(const direct_scratch *w, int m)
{
    double tau = 2.0 * w->gamma[m + 2] / w->psi[m + 2];
    double share = 1.0 + tau / w->kappa[m + 2];
    return (error_factors){.velocity = w->h * tau / share, .value = w->h / w->psi[m + 1]};
}

/* Rounding errors of x in a difference at degree m + 1, which has 2^(m+2) of them, as an error of
 * the velocity: the division by h makes them large where steps are short. */
static double rounding_at(const direct_scratch *w, int m)
{
    return factors_at(w, m).velocity * ldexp(DBL_EPSILON, m + 2);
}

static double above_rounding(double error, double rounding)
{
    return copysign(fmax(0.0, fabs(error) - rounding), error);
}

/* Whether rounding errors are no longer small beside the tolerances of velocities. */
static bool rounding_counts(const direct_state *s, const direct_scratch *w,
                            const method_context *ctx)
{
    const second_order *form = ctx->second;
    const double rounding = rounding_at(w, w->order);
    for (int k = 0; k < form->n; k++) {
        const int v = form->velocity[k];
        double size = v >= 0 ? fabs(s->phi[1][k]) * ctx->norm->tested[v] : 0.0;
        if (rounding * size > ROUNDING_COUNTS) return true;
    }
    return false;
}

/* e := A^-1 (a1 F_x' + a2 F_x'') e: what the equations for derivatives feel of it [BCP96 (5.4.9)]
 */
static void filter(const method_context *ctx, double *e, double *work)
{
    second_matrix *m = ctx->cache;
    double a1, a2;
    if (!second_matrix_shifts(m, &a1, &a2)) return;
    second_matrix_multiply(m, 0.0, a1, a2, e, work);
    second_matrix_solve(m, work);
    vector_copy(ctx->second->n, work, e);
}

/* ||estimate|| at order m from differences at degrees m + 1 and m. Constraints multiply rounding
 * errors by their condition, across themselves, where no error of a velocity adds up: where they
 * count these parts are taken out. */
static double estimate_norm(const direct_state *s, const direct_scratch *w,
                            const method_context *ctx, int m, const double *fine,
                            const double *coarse, double *estimate)
{
    const second_order *form = ctx->second;
    error_factors c = factors_at(w, m);
    double rounding = rounding_at(w, m);
    if (w->noisy) {
        vector_copy(form->n, fine, w->tangent);
        filter(ctx, w->tangent, w->filtered);
        fine = w->tangent;
    }
    for (int k = 0; k < form->n; k++) {
        estimate[form->place[k]] = c.value * coarse[k];
        if (form->velocity[k] >= 0)
            estimate[form->velocity[k]] =
                above_rounding(c.velocity * fine[k], rounding * fabs(s->phi[1][k]));
    }
    return norm_of(ctx->norm, estimate, ctx->norm->tested);
}

/* out = e + b phi_i */
static const double *add_column(const direct_state *s, int n, const double *e, double b, int i,
                                double *out)
{
    const double *restrict phi = s->phi[i];
    for (int k = 0; k < n; k++) out[k] = e[k] + b * phi[k];
    return out;
}

/* Behind a start steps may grow as fast as the error allows: what was wrong with the short ones is
 * dwarfed by what the longer ones add. The higher the order, the less is known of its error. */
static double first_growth(int k, double error)
{
    static const double most[MAX_ORDER + 1] = {0.0, 10.0, 4.0, 2.0, 2.0, 2.0};
    double aim = pow(START_AIM / fmax(error, 1e-10), 1.0 / (k + 1));
    return fmin(most[k], aim);
}

/* The estimate with the parts filtered that equations without derivatives keep to themselves. */
static void filter_error(const direct_state *s, direct_scratch *w, const method_context *ctx, int m,
                         double *fine, double *coarse, attempt *result)
{
    filter(ctx, fine, w->filtered);
    filter(ctx, coarse, w->filtered);
    result->error = estimate_norm(s, w, ctx, m, fine, coarse, w->estimate);
}

/* The error, and what orders k - 2 to k + 1 would have made of it. Where the order has risen by one
 * with every step since the start, the column that tells the error of order k is not there yet:
 * then that of order k - 1 stands for it, and the next one is guessed from those before. */
static void estimate_errors(const direct_state *s, direct_scratch *w, const method_context *ctx,
                            attempt *result)
{
    int k = w->order, n = ctx->second->n;
    bool known = s->count > k + 1;
    double *e = w->ex, *x1 = w->x0, *x2 = w->xp0, *x3 = w->xpp0; /* the prediction has served */
    for (int i = 0; i < 4; i++) result->terms[i] = NAN;
    for (int j = 0; j < n; j++) e[j] = w->e[ctx->second->place[j]];
    w->noisy = rounding_counts(s, w, ctx);
    if (k < MAX_ORDER && k == s->order && s->steady > k && s->count >= k + 3) {
        add_column(s, n, e, -w->beta[k + 3], k + 3, x1);
        result->terms[3] = (k + 2) * estimate_norm(s, w, ctx, k + 1, x1, e, w->estimate);
    }
    add_column(s, n, e, w->beta[k + 2], k + 2, x1);
    if (k > 1) {
        add_column(s, n, x1, w->beta[k + 1], k + 1, x2);
        result->terms[1] = k * estimate_norm(s, w, ctx, k - 1, x1, x2, w->estimate);
    }
    if (k > 2) {
        add_column(s, n, x2, w->beta[k], k, x3);
        result->terms[0] = (k - 1) * estimate_norm(s, w, ctx, k - 2, x2, x3, w->estimate);
    }
    const double *fine = known ? e : x1, *coarse = known ? x1 : x2;
    result->error = estimate_norm(s, w, ctx, known ? k : k - 1, fine, coarse, w->estimate);
    result->terms[2] = (k + 1) * result->error;
    result->estimate = w->estimate;
    result->error_constant = 1.0;
    if (ctx->error_test != DAE_ERROR_FILTERED) return;
    vector_copy(n, fine, x3);
    vector_copy(n, coarse, w->spare);
    filter_error(s, w, ctx, known ? k : k - 1, x3, w->spare, result);
}

/* The order that counts nodes in the first step: with x''_0 a polynomial of degree 3 passes through
 * the start, and errors of order 1 do not stay behind. If x''_0 is not trusted x_0 and x'_0 alone
 * have to do. */
static int first_order(const direct_scratch *w)
{
    return w->distrust ? 1 : 2;
}

/* After a failure of the error test in the first step: an x''_0 that does not belong to x_0 and
 * x'_0 on the constraints shows as an error of order h, all others are of order h^2 at least. */
static void judge_start(direct_scratch *w, double error)
{
    if (w->first_h != 0.0)
        w->distrust = w->distrust || !(error < w->first_error * pow(w->h / w->first_h, 1.5));
    w->first_h = w->h;
    w->first_error = error;
}

static void direct_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                           int order, attempt *result)
{
    const direct_state *s = state;
    direct_scratch *w = scratch;
    if (order > s->count - 1) order = s->count - 1;
    set_coefficients(s, w, h, s->fresh ? first_order(w) : order);
    history_predict(s->phi, w->order + 2, w->beta, w->gamma, w->kappa, ctx->second->n, w->x0,
                    w->xp0, w->xpp0);
    second_order_spread(ctx->second, w->x0, w->xp0, w->xpp0, w->y0, w->yp0);
    *result = (attempt){.t = s->t, .h = h, .order = order, .y = w->y, .yp = w->yp};
    result->status = solve_corrector(s, w, ctx);
    result->bound_ratio = ctx->newton->bound_ratio;
    if (result->status != ATTEMPT_OK) return;
    estimate_errors(s, w, ctx, result);
    result->next_factor = first_growth(order, result->error);
    if (s->fresh) {
        result->terms[1] = NAN;
        result->terms[2] = 2.0 * result->error;
        if (!(result->error <= 1.0)) judge_start(w, result->error);
    }
}

/* ---- after a step ---- */

/* x' and x'' of the candidate, and those before. */
static void update_ends(direct_state *s, const direct_scratch *w, const second_order *form)
{
    vectors_swap(&s->xp_old, &s->xp_new);
    vectors_swap(&s->xpp_old, &s->xpp_new);
    for (int k = 0; k < form->n; k++) {
        s->xp_new[k] = w->yp[form->place[k]];
        s->xpp_new[k] = form->velocity[k] >= 0 ? w->yp[form->velocity[k]] : 0.0;
    }
}

static void direct_accept(void *state, void *scratch, const method_context *ctx)
{
    direct_state *s = state;
    const direct_scratch *w = scratch;
    int k = w->order;
    bool known = s->count > k + 1;
    s->steady = k == s->order ? (s->steady < k + 2 ? s->steady + 1 : k + 2) : 1;
    s->uniform = w->h == s->h ? (s->uniform < ARRAY ? s->uniform + 1 : ARRAY) : 1;
    vector_copy(ctx->second->n, w->ex, s->phi[k + 3]);
    history_update(s->phi, k + 2, w->beta, w->ex, ctx->second->n);
    if (!known) vector_zero(ctx->second->n, s->phi[k + 3]);
    update_ends(s, w, ctx->second);
    s->count = known ? k + 3 : k + 2;
    for (int i = 1; i <= COLUMNS + 1; i++) {
        s->norm[i] = w->norm[i];
        s->psi[i] = w->psi[i];
    }
    s->t_old = s->t;
    s->t = w->t;
    s->h = w->h;
    s->order = k;
    s->fresh = false;
    if (s->steps < FIRST_STEPS) s->steps++;
}

/* ---- dense output ---- */

/* Weights of phi_i in the interpolant of degree K and its first two derivatives at t. */
static void interpolation_weights(const direct_state *s, double t, double c[3][ARRAY])
{
    double distance = t - s->t, value = 1.0, slope = 0.0, curvature = 0.0;
    for (int i = 1; i <= s->order + 2; i++) {
        c[0][i] = value / s->norm[i];
        c[1][i] = slope / s->norm[i];
        c[2][i] = curvature / s->norm[i];
        double factor = distance + s->psi[i - 1];
        curvature = curvature * factor + 2.0 * slope;
        slope = slope * factor + value;
        value *= factor;
    }
}

/* sum c_i phi_i, i = 1 .. terms */
static double weighted(const direct_state *s, const double *c, int terms, int j)
{
    double sum = 0.0;
    for (int i = 1; i <= terms; i++) sum += c[i] * s->phi[i][j];
    return sum;
}

/* What errors of the values at t_n .. t_{n-m} become in the middle of the last step on the
 * polynomial through them: the sum of |l_i|, INFINITY where nodes coincide */
static double amplification(const direct_state *s, int m)
{
    double sum = 0.0, weight[ARRAY];
    interpolation_row(m + 1, s->psi, 0.5 * s->psi[1], 0, weight); /* psi: distances behind t_n */
    for (int i = 0; i <= m; i++) sum += fabs(weight[i]);
    return isfinite(sum) ? sum : INFINITY;
}

/* Terms of the interpolant for multipliers and other unknowns without derivatives. Each has errors
 * of its own at every node, which a polynomial of high degree through steps that grow makes large:
 * the highest degree is taken that does not. Equal steps amplify by 4.3 at most. */
static int quiet_terms(const direct_state *s)
{
    const double most = 6.0;
    int m = 1;
    while (m < s->order + 1 && amplification(s, m + 1) <= most) m++;
    return m + 1;
}

/* Values b and derivatives of s (1-s)^3 and s^2 (1-s)^3, or, for unknowns without x'', s (1-s)^2:
 * they vanish at both ends and are flat at the right one. */
typedef struct end_shapes {
    double slope[3], curvature[3], plain[2];
} end_shapes;

static end_shapes shapes_at(double x)
{
    double r = 1.0 - x, r2 = r * r;
    return (end_shapes){
        .slope = {x * r * r2, r2 * (1.0 - 4.0 * x), r * (12.0 * x - 6.0)},
        .curvature = {x * x * r * r2, x * r2 * (2.0 - 5.0 * x),
                      r * (2.0 - 16.0 * x + 20.0 * x * x)},
        .plain = {x * r2, r * (1.0 - 3.0 * x)},
    };
}

/* x, x' or x'' = sum c_i phi_i, plus what makes x' and x'' continuous where the last step began: a
 * quintic of size O(h^{K+1}); x' alone, by a cubic, for unknowns without x''. */
static double smooth_value(const direct_state *s, double c[3][ARRAY], double left[3][ARRAY],
                           const end_shapes *shape, bool second, int j, int d)
{
    const int terms = s->order + 2;
    double x = weighted(s, c[d], terms, j), h = s->t - s->t_old;
    if (h == 0.0) return x;
    double slope = h * (s->xp_old[j] - weighted(s, left[1], terms, j));
    double scale = d == 0 ? 1.0 : 1.0 / h;
    if (!second) return x + scale * slope * shape->plain[d];
    double bend = 0.5 * h * h * (s->xpp_old[j] - weighted(s, left[2], terms, j)) + 3.0 * slope;
    if (d == 2) scale /= h;
    return x + scale * (slope * shape->slope[d] + bend * shape->curvature[d]);
}

static void direct_interpolate(const void *state, const method_context *ctx, double t,
                               int derivative, double *y)
{
    const direct_state *s = state;
    const second_order *form = ctx->second;
    double c[3][ARRAY], left[3][ARRAY];
    interpolation_weights(s, t, c);
    interpolation_weights(s, s->t_old, left);
    double h = s->t - s->t_old;
    end_shapes shape = shapes_at(h != 0.0 ? (t - s->t_old) / h : 1.0);
    const dae_kind *kinds = ctx->smooth || h == 0.0 ? NULL : ctx->norm->kinds;
    const int quiet = kinds ? quiet_terms(s) : 0;
    for (int j = 0; j < form->n; j++) {
        bool second = form->velocity[j] >= 0;
        if (!second && kinds && kinds[form->place[j]] != DAE_KIND_DIFFERENTIAL)
            y[form->place[j]] = weighted(s, c[derivative], quiet, j);
        else
            y[form->place[j]] = smooth_value(s, c, left, &shape, second, j, derivative);
        if (second)
            y[form->velocity[j]] = smooth_value(s, c, left, &shape, second, j, derivative + 1);
    }
}

/* ---- matrices ---- */

void bdf2nd_cache_persist(void *cache, const method_context *ctx, persist *p)
{
    (void)ctx;
    second_matrix_persist(cache, p);
}

void *bdf2nd_cache_new(const method_context *ctx)
{
    return second_matrix_new(ctx->second, ctx->newton->matrix, 0);
}

void bdf2nd_cache_free(void *cache)
{
    second_matrix_free(cache);
}

const method method_bdf2nd = {
    .name = "bdf2nd",
    .summary = "BDF for second order, orders 1 to 5, variable step, the interpolant's x''; "
               "F(t,x,x',x'') = 0",
    .citation = "Wunderlich: Numerical Solution of Second Order Differential-Algebraic Equations, "
                "TU Berlin 2005, chapter 3",
    .max_order = MAX_ORDER,
    .forms = FORM_SECOND_ORDER,
    .index_range = "3",
    .tests_velocities = true,
    .anew_at_one = true,
    METHOD_STEPS(direct),
    METHOD_CACHE(bdf2nd),
};
