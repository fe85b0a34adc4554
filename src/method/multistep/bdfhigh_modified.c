/* bdfhigh:modified: the modified BDF methods for F(t, x, x', .., x^(d)) = 0, d = 3, 4, to the
 * letter of [Wun05 (3.20), (3.21)]: level after level x^(j+1)_n = sum_{i=1}^k alpha_i^[j+1]
 * x^(j)[t_n, .., t_{n-i}], where alpha depends on the orders by which the x^(j) behind were made
 * (bdf2nd_tables.h). Order 1 is the modified Euler method (3.18). There is no error test: steps are
 * prescribed. */
#include "method/multistep/bdfhigh.h"

#include "base/vector.h"
#include "method/common/interpolation.h"
#include "method/common/stages.h"
#include "method/multistep/bdf2nd_tables.h"

enum {
    MAX_ORDER = 5,
    HIGHEST = 4, /* derivatives: what alpha of higher ones costs grows with the power of them */
    POINTS = MAX_ORDER + 1,
    TIMES = MODIFIED_NODES
};

/* Histories that determine alpha worse than this are not used: order k - 1 is. */
static const double WORST_CONDITION = 1e-6;

typedef struct modified_state {
    int points, nodes; /* values and times in use */
    int order;
    double t[TIMES];     /* t_n, t_{n-1}, .. */
    int accuracy[TIMES]; /* orders of the derivatives there */
    double *y[POINTS];   /* x, x', .., x^(d-1) there, as y of the residual form, newest first */
    double *yp;          /* at t_n */
} modified_state;

typedef struct modified_scratch {
    int order;
    double t[TIMES];
    int accuracy[TIMES];
    double weight[HIGHEST + 1][POINTS + 1]; /* x^(j) = sum weight[j][i] x^(j-1)_{n+1-i} */
    higher_step step;
} modified_scratch;

static const method_memory modified_memory = {
    .state = {sizeof(modified_state), {VECTORS(modified_state, y[0], yp)}},
    .scratch = {sizeof(modified_scratch), {VECTORS(modified_scratch, step.x0[0], step.f)}},
};

static void modified_start(void *state, void *scratch, const method_context *ctx,
                           const start_point *at)
{
    modified_state *s = state;
    int n = ctx->n;
    method_clear(ctx, state, scratch);
    s->points = s->nodes = at->history > 1 ? at->history : 1;
    s->order = s->points > 1 ? s->points - 1 : 1;
    for (int i = 0; i < s->points; i++) {
        s->t[i] = at->history > 1 ? at->past_t[i] : at->t;
        s->accuracy[i] = MODIFIED_EXACT;
        vector_copy(n, at->history > 1 ? at->past_y + (size_t)i * (size_t)n : at->y, s->y[i]);
    }
    vector_copy(n, at->yp, s->yp);
}

/* ---- one step ---- */

/* alpha of all levels at order k; false: the history does not allow it */
static bool set_weights(modified_scratch *w, int nodes, int d, int k)
{
    double alpha[MODIFIED_MOST + 1];
    w->accuracy[0] = k;
    for (int j = 1; j <= d; j++) {
        if (modified_coefficients(j, k, nodes, w->t, w->accuracy, alpha) < WORST_CONDITION)
            return false;
        modified_weights(k, w->t, alpha, w->weight[j]);
    }
    return true;
}

static void set_coefficients(const modified_state *s, modified_scratch *w, int d, double h, int k)
{
    if (k > s->points) k = s->points;
    w->step.h = h;
    w->step.t = w->t[0] = s->t[0] + h;
    for (int i = 0; i + 1 < TIMES && i < s->nodes; i++) {
        w->t[i + 1] = s->t[i];
        w->accuracy[i + 1] = s->accuracy[i];
    }
    int nodes = s->nodes + 1 < TIMES ? s->nodes + 1 : TIMES;
    while (k > 1 && !set_weights(w, nodes, d, k)) k--;
    if (k == 1) set_weights(w, nodes, d, 1);
    w->order = k;
    for (int length = 1; length <= d; length++) {
        double *a = w->step.a[length];
        a[0] = 1.0;
        for (int j = 1; j <= d; j++) a[j] = w->weight[j][0] * a[j - 1];
    }
}

/* x0: extrapolation through the last values, with x' at the start; its derivatives as the formulas
 * have them */
static void predict(const modified_state *s, const modified_scratch *w, const second_order *form)
{
    double row[POINTS];
    int count = w->order + 1 < s->points ? w->order + 1 : s->points;
    interpolation_row(count, s->t, w->t[0], 0, row);
    for (int k = 0; k < form->n; k++) {
        int place = form->place[k];
        double x = 0.0;
        for (int i = 0; i < count; i++) x += row[i] * s->y[i][place];
        if (count == 1)
            x += w->step.h * (form->velocity[k] >= 0 ? s->y[0][form->velocity[k]] : s->yp[place]);
        w->step.x0[0][k] = x;
        for (int j = 1; j <= form->order; j++) {
            int below = second_order_place(form, k, j - 1);
            double sum = w->weight[j][0] * w->step.x0[j - 1][k];
            for (int i = 1; below >= 0 && i <= w->order; i++)
                sum += w->weight[j][i] * s->y[i - 1][below];
            w->step.x0[j][k] = below >= 0 ? sum : 0.0;
        }
    }
}

static void modified_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                             int order, attempt *result)
{
    const modified_state *s = state;
    modified_scratch *w = scratch;
    const second_order *form = ctx->second;
    stages_begin(result, s->t[0], h, order, w->step.y, w->step.yp);
    if (higher_refused(ctx, HIGHEST, result)) return;
    set_coefficients(s, w, form->order, h, order);
    result->order = w->order;
    predict(s, w, form);
    result->status = higher_solve(&w->step, ctx, result);
    result->error = 0.0;
    for (int i = 0; i < 4; i++) result->terms[i] = NAN;
}

static void modified_accept(void *state, void *scratch, const method_context *ctx)
{
    modified_state *s = state;
    modified_scratch *w = scratch;
    double *oldest = s->y[POINTS - 1];
    for (int i = POINTS - 1; i > 0; i--) s->y[i] = s->y[i - 1];
    s->y[0] = oldest;
    vector_copy(ctx->n, w->step.y, oldest);
    vector_copy(ctx->n, w->step.yp, s->yp);
    if (s->points < POINTS) s->points++;
    if (s->nodes < TIMES) s->nodes++;
    for (int i = 0; i < s->nodes; i++) {
        s->t[i] = w->t[i];
        s->accuracy[i] = w->accuracy[i];
    }
    s->order = w->order;
    higher_accepted(&w->step, ctx);
}

/* The polynomial through the last values, component by component. */
static void modified_interpolate(const void *state, const method_context *ctx, double t,
                                 int derivative, double *y)
{
    const modified_state *s = state;
    double row[POINTS];
    int count = s->order + 1 < s->points ? s->order + 1 : s->points;
    if (count == 1 || (derivative == 1 && t == s->t[0])) {
        vector_copy(ctx->n, derivative ? s->yp : s->y[0], y);
        return;
    }
    interpolation_row(count, s->t, t, derivative, row);
    vector_zero(ctx->n, y);
    for (int i = 0; i < count; i++) vector_axpy(ctx->n, row[i], s->y[i], y);
}

const method method_bdfhigh_modified = {
    .name = "bdfhigh:modified",
    .summary = "modified BDF for order 3 and 4, orders 1 to 5, prescribed steps",
    .citation = "Wunderlich: Numerical Solution of Second Order Differential-Algebraic Equations, "
                "TU Berlin 2005, (3.18), (3.21); Sand: On implicit Euler for high-order high-index "
                "DAEs, Appl. Numer. Math. 42 (2002) 411-424",
    .max_order = MAX_ORDER,
    .forms = FORM_SECOND_ORDER,
    .chains = true,
    .constant_steps = true,
    .index_range = "any",
    METHOD_STEPS(modified),
    METHOD_CACHE(bdfhigh),
};
