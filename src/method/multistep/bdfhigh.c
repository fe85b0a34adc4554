/* bdfhigh: BDF for F(t, x, x', .., x^(d)) = 0, d = 3 to 6, orders k = 1 to 5, variable step: x',
 * .., x^(d) at t_n are those of the polynomial of degree K = k + d - 1 through x_n, .., x_{n-K},
 * which is bdf2nd for d = 2. Its x^(d) is exact for polynomials of degree K on every grid, as the
 * formulas (3.18) and (3.21) of [Wun05] are, and no history makes it singular. On uniform grids it
 * is root stable for k <= 5, d <= 6.
 *
 * Notation, as in bdf2nd.c and counted from 1:
 *   psi_i   = t_{n+1} - t_{n+1-i}; nodes may coincide (start)
 *   phi_i   = norm_i x[t_n, .., t_{n-i+1}]
 *   D_j,i   = the j-th derivative of the i-th Newton polynomial at t_{n+1} over its value:
 *             D_j,i+1 = D_j,i + j D_{j-1},i / psi_i
 * With the prediction x0 = sum phi*_i, i <= K + 1, and e = x - x0: x^(j) = x0^(j) + D_j,K+1 e.
 * Of unknowns with L < d derivatives K is k + L - 1; at a start they have values of x .. x^(L). */
#include "method/multistep/bdfhigh.h"

#include <math.h>

#include "base/vector.h"
#include "method/common/stages.h"
#include "method/multistep/history.h"

enum {
    MAX_ORDER = 5,
    COLUMNS = MAX_ORDER + HIGHER_MOST, /* phi_1 .. phi_{K+1} */
    ARRAY = COLUMNS + 3
};

/* What survives between steps. Vectors have one entry per unknown x. */
typedef struct high_state {
    double t, h, t_old;
    int order, steady; /* of the last step; steps in a row with equal order, at most order + 2 */
    int count;         /* columns phi_1 .. phi_count are good; that behind them is 0 */
    double psi[ARRAY], norm[ARRAY]; /* t_n - t_{n-i}; of the columns */
    double *phi[ARRAY];
} high_state;

typedef struct high_scratch {
    int order;
    double psi[ARRAY], norm[ARRAY], beta[ARRAY], D[HIGHER_LEVELS][ARRAY];
    higher_step step;
    double *e, *estimate;
} high_scratch;

static const method_memory high_memory = {
    .state = {sizeof(high_state), {VECTORS(high_state, phi[1], phi[COLUMNS + 1])}},
    .scratch = {sizeof(high_scratch),
                {VECTORS(high_scratch, step.x0[0], step.f), VECTORS(high_scratch, e, estimate)}},
};

/* ---- start ---- */

/* The node t_0 as often as there are values: x, x', x''/2, .., x^(d)/d! */
static void start_from_tangent(high_state *s, const second_order *form, const start_point *at)
{
    double factorial = 1.0;
    higher_order_gather(form, at->y, at->yp, s->phi + 1);
    for (int j = 0; j <= form->order; j++) {
        if (j > 1) factorial *= j;
        s->norm[j + 1] = 1.0;
        for (int i = 0; i < form->n; i++) s->phi[j + 1][i] /= factorial;
    }
    s->order = 1;
    s->h = at->h;
    s->count = form->order + 1;
}

/* x, x', .., x^(d-1) of the oldest point, and the values behind it: divided differences over nodes
 * of which the oldest coincide. */
static void start_from_history(high_state *s, const second_order *form, int n,
                               const start_point *at)
{
    int d = form->order, m = at->history, total = m + d - 1;
    double node[ARRAY], factorial = 1.0;
    for (int i = 0; i < total; i++) node[i] = at->past_t[i < m ? i : m - 1];
    for (int i = 0; i < m; i++)
        for (int k = 0; k < form->n; k++)
            s->phi[i + 1][k] = at->past_y[(size_t)i * (size_t)n + (size_t)form->place[k]];
    const double *oldest = at->past_y + (size_t)(m - 1) * (size_t)n;
    for (int j = 1; j < d; j++) {
        factorial *= j;
        for (int k = 0; k < form->n; k++) {
            int place = second_order_place(form, k, j);
            s->phi[m + j][k] = place >= 0 ? oldest[place] / factorial : 0.0; /* 0: not used */
        }
    }
    history_divide(s->phi, total, node, form->n);
    for (int i = 1; i <= total; i++) s->norm[i] = 1.0;
    for (int i = 1; i < total; i++) s->psi[i] = node[0] - node[i];
    s->count = total;
    s->order = m - 1;
    s->h = node[0] - node[1];
    s->t_old = node[1];
}

static void high_start(void *state, void *scratch, const method_context *ctx, const start_point *at)
{
    high_state *s = state;
    const second_order *form = ctx->second;
    method_clear(ctx, state, scratch);
    for (int i = 1; i <= COLUMNS + 1; i++) vector_zero(form->n, s->phi[i]);
    s->t = s->t_old = at->t;
    if (form->order > HIGHER_MOST) return; /* the first attempt refuses */
    if (at->history > 1)
        start_from_history(s, form, ctx->n, at);
    else
        start_from_tangent(s, form, at);
}

/* ---- one step ---- */

static void set_coefficients(const high_state *s, high_scratch *w, int d, double h, int k)
{
    w->order = k;
    w->step.h = h;
    w->step.t = s->t + h;
    w->norm[1] = w->beta[1] = 1.0;
    for (int j = 0; j <= d; j++) w->D[j][1] = j == 0;
    for (int i = 1; i <= COLUMNS + 1; i++) {
        w->psi[i] = s->psi[i - 1] + h; /* psi_0 = 0 */
        w->norm[i + 1] = w->norm[i] * w->psi[i];
        w->beta[i + 1] = i < s->count ? w->norm[i + 1] / s->norm[i + 1] : 0.0;
        for (int j = 0; j <= d; j++)
            w->D[j][i + 1] = w->D[j][i] + (j > 0 ? j * w->D[j - 1][i] / w->psi[i] : 0.0);
    }
    for (int length = 1; length <= d; length++)
        for (int j = 0; j <= length; j++) w->step.a[length][j] = w->D[j][k + length];
}

/* beta_i of an unknown with L = `length`, which has d - L columns less than the longest */
static double beta_of(const high_state *s, const high_scratch *w, int d, int length, int i)
{
    return i <= s->count - (d - length) ? w->beta[i] : 0.0;
}

/* x0^(j) = sum D_j,i beta_i phi_i, i <= K + 1 */
static void predict(const high_state *s, const high_scratch *w, const second_order *form)
{
    for (int u = 0; u < form->n; u++) {
        int length = form->levels[u];
        for (int j = 0; j <= length; j++) w->step.x0[j][u] = 0.0;
        for (int i = 1; i <= w->order + length; i++) {
            double column = beta_of(s, w, form->order, length, i) * s->phi[i][u];
            for (int j = 0; j <= length && j < i; j++) w->step.x0[j][u] += w->D[j][i] * column;
        }
    }
}

/* ---- errors ----
 *
 * The polynomial through exact values misses x^(L) by tau = L D_{L-1},K+1 / psi_{K+1} e, where e is
 * the difference to the prediction that exact values would show; the method's own error moves it as
 * well (share). What adds up is h tau in x^(L-1). For the derivatives below it stands what BDF of
 * order k would do: h/psi_{k+1} times the difference to a prediction of degree k + j for x^(j). */

/* The j-th derivative of x - prediction of degree m: e + beta_{m+2} phi_{m+2} + .. + beta_{K+1}
 * phi_{K+1}, or for m = K + 1 the same the other way round */
static double difference(const high_state *s, const high_scratch *w, const second_order *form,
                         int u, int m, int j)
{
    int length = form->levels[u], K = w->order + length - 1;
    double sum = w->D[j][K + 1] * w->e[u];
    for (int i = m + 2; i <= K + 1; i++)
        sum += w->D[j][i] * beta_of(s, w, form->order, length, i) * s->phi[i][u];
    for (int i = K + 2; i <= m + 1; i++)
        sum -= w->D[j][i] * beta_of(s, w, form->order, length, i) * s->phi[i][u];
    return sum;
}

/* ||estimate|| at order m, the step having been done at order w->order */
static double estimate_at(const high_state *s, high_scratch *w, const method_context *ctx, int m)
{
    const second_order *form = ctx->second;
    vector_zero(ctx->n, w->estimate);
    for (int u = 0; u < form->n; u++) {
        int length = form->levels[u], M = m + length - 1;
        double tau = length * w->D[length - 1][M + 1] / w->psi[M + 1];
        double top = w->step.h * tau / (1.0 + tau / w->D[length][M + 1]);
        w->estimate[second_order_place(form, u, length - 1)] =
            top * difference(s, w, form, u, M, 0);
        for (int j = 0; j + 1 < length; j++)
            w->estimate[second_order_place(form, u, j)] =
                w->step.h / w->psi[m + 1] * difference(s, w, form, u, m + j, j);
    }
    return norm_of(ctx->norm, w->estimate, ctx->norm->tested);
}

static void estimate_errors(const high_state *s, high_scratch *w, const method_context *ctx,
                            attempt *result)
{
    int k = w->order, d = ctx->second->order, n = ctx->second->n;
    bool known = s->count > k + d - 1; /* the column that tells the error of order k is there */
    bool raise = k < MAX_ORDER && k == s->order && s->steady > k && s->count >= k + d + 1;
    vector_copy(n, w->step.e, w->e);
    result->terms[0] = k > 2 ? (k - 1) * estimate_at(s, w, ctx, k - 2) : NAN;
    result->terms[1] = k > 1 ? k * estimate_at(s, w, ctx, k - 1) : NAN;
    result->terms[3] = raise ? (k + 2) * estimate_at(s, w, ctx, k + 1) : NAN;
    result->error = estimate_at(s, w, ctx, known || k == 1 ? k : k - 1);
    result->terms[2] = (k + 1) * result->error;
    result->estimate = w->estimate;
    result->error_constant = 1.0;
}

static void high_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                         int order, attempt *result)
{
    const high_state *s = state;
    high_scratch *w = scratch;
    const second_order *form = ctx->second;
    stages_begin(result, s->t, h, order, w->step.y, w->step.yp);
    if (higher_refused(ctx, HIGHER_MOST, result)) return;
    if (order > s->count - form->order + 1) order = s->count - form->order + 1;
    result->order = order;
    set_coefficients(s, w, form->order, h, order);
    predict(s, w, form);
    result->status = higher_solve(&w->step, ctx, result);
    if (result->status == ATTEMPT_OK) estimate_errors(s, w, ctx, result);
}

/* phi_{K+2} = e, phi_i = beta_i phi_i + phi_{i+1} from i = K + 1 down to 1, of unknown u */
static void update_columns(high_state *s, const high_scratch *w, const second_order *form, int u,
                           bool known)
{
    int length = form->levels[u], K = w->order + length - 1;
    double x = w->e[u];
    s->phi[K + 2][u] = known ? x : 0.0;
    for (int i = K + 1; i >= 1; i--) {
        x += beta_of(s, w, form->order, length, i) * s->phi[i][u];
        s->phi[i][u] = x;
    }
}

static void high_accept(void *state, void *scratch, const method_context *ctx)
{
    high_state *s = state;
    high_scratch *w = scratch;
    int k = w->order, K = k + ctx->second->order - 1;
    bool known = s->count > K;
    for (int u = 0; u < ctx->second->n; u++) update_columns(s, w, ctx->second, u, known);
    s->steady = k == s->order ? (s->steady < k + 2 ? s->steady + 1 : k + 2) : 1;
    s->count = known ? K + 2 : K + 1;
    for (int i = 1; i <= COLUMNS + 1; i++) {
        s->norm[i] = w->norm[i];
        s->psi[i] = w->psi[i];
    }
    s->t_old = s->t;
    s->t = w->step.t;
    s->h = w->step.h;
    s->order = k;
    higher_accepted(&w->step, ctx);
}

/* ---- dense output: the polynomial of degree K through the last values, and its derivatives ----
 */

/* c_j,i: the j-th derivative of the i-th Newton polynomial behind t_n, at t */
static void interpolation_weights(const high_state *s, double t, int d, double c[][ARRAY])
{
    double distance = t - s->t, value[HIGHER_LEVELS] = {1.0};
    for (int i = 1; i <= COLUMNS; i++) {
        for (int j = 0; j <= d; j++) c[j][i] = value[j] / s->norm[i];
        for (int j = d; j >= 0; j--)
            value[j] = value[j] * (distance + s->psi[i - 1]) + (j > 0 ? j * value[j - 1] : 0.0);
    }
}

static void high_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                             double *y)
{
    const high_state *s = state;
    const second_order *form = ctx->second;
    double c[HIGHER_LEVELS][ARRAY];
    if (form->order > HIGHER_MOST) return;
    interpolation_weights(s, t, form->order, c);
    for (int u = 0; u < form->n; u++) {
        int length = form->levels[u], terms = s->t == s->t_old ? length + 1 : s->order + length;
        for (int j = 0; j < length; j++) {
            double sum = 0.0;
            for (int i = 1; i <= terms; i++) sum += c[j + derivative][i] * s->phi[i][u];
            y[second_order_place(form, u, j)] = sum;
        }
    }
}

const method method_bdfhigh = {
    .name = "bdfhigh",
    .summary = "BDF for order 3 to 6, orders 1 to 5, variable step; F(t,x,x',..,x^(d)) = 0",
    .citation = "Wunderlich: Numerical Solution of Second Order Differential-Algebraic Equations, "
                "TU Berlin 2005, section 3.3; Sand: On implicit Euler for high-order high-index "
                "DAEs, Appl. Numer. Math. 42 (2002) 411-424",
    .max_order = MAX_ORDER,
    .forms = FORM_SECOND_ORDER,
    .chains = true,
    .tests_velocities = true,
    .index_range = "any",
    METHOD_STEPS(high),
    METHOD_CACHE(bdfhigh),
};
