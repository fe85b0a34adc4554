/* The thesis variant: error estimate, step size and output of [Wun05 4.3 to 4.5] for the two-stage
 * methods of [Wun05 6.3], with lambda and lambda' among the variables.
 *
 * Section 6.3 says "with some small modifications" of the controller and does not name them. Tables
 * 8.4 and 8.5 fix them, on every digit: six constant steps, not four; the power 1/2 in (4.26) and
 * (4.28). */
#include "method/implicit/colloc2nd_parts.h"

#include "base/vector.h"
#include "method/common/interpolation.h"

enum { CONSTANT_STEPS = 6, EXTRAPOLATED = THESIS_ESTIMATE_DEGREE + 1 };
/* [Wun05 8.2]: atol = 1e-2 for lambda and 1e-1 for lambda' */
static const double SLOPE_TOLERANCE = 10.0;
static const double POWER = 0.5;

/* The last points that are kept, t, t_old and those before; how many there are */
static int points(const colloc2nd_state *s, double t[THESIS_POINTS])
{
    t[0] = s->t;
    t[1] = s->t_old;
    for (int i = 0; i < COLLOC2ND_PAST; i++) t[i + 2] = s->past_t[i];
    return s->taken < THESIS_OUTPUT_DEGREE ? (int)s->taken + 1 : THESIS_POINTS;
}

/* sum weight_i y_i of variable j, or of its derivative */
static double weighted(const colloc2nd_state *s, int n, int count, const double *weight, int j,
                       bool derivative)
{
    const double *last = derivative ? s->yp : s->y, *before = derivative ? s->yp_old : s->y_old;
    double sum = weight[0] * last[j] + (count > 1 ? weight[1] * before[j] : 0.0);
    for (int i = 2; i < count; i++) sum += weight[i] * s->past[i - 2][j + (derivative ? n : 0)];
    return sum;
}

/* (e / WT)^2 for the estimate e of a variable, or of the derivative of a multiplier, by (4.20) */
static double counts(const error_norm *norm, int i, double e, bool slope)
{
    double atol = norm->atol_by_unknown ? norm->atol_by_unknown[i] : norm->atol;
    double weight = thesis_weight(norm, i, e) + (slope ? (SLOPE_TOLERANCE - 1.0) * atol : 0.0);
    return pow(e / weight, 2.0);
}

/* ||y_n - p(t_n)|| with p through the last four points [Wun05 (4.22)-(4.24)]; 0 on the first four
 * steps */
void colloc2nd_thesis_estimate(const colloc2nd_state *s, colloc2nd_scratch *w,
                               const method_context *ctx, attempt *result)
{
    const colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    const int n = ctx->n;
    double at[THESIS_POINTS], weight[EXTRAPOLATED], sum = 0.0;
    int count = n;
    result->error = w->error = 0.0;
    result->estimate = w->error_1;
    result->error_constant = 1.0;
    result->scale = w->error_2;
    vector_zero(n, w->error_1);
    for (int i = 0; i < n; i++) w->error_2[i] = 1.0 / thesis_weight(ctx->norm, i, 0.0);
    if (s->taken < THESIS_TESTED_FROM) return;
    points(s, at);
    interpolation_row(EXTRAPOLATED, at, w->t, 0, weight);
    for (int i = 0; i < n; i++) {
        w->error_1[i] = w->y[i] - weighted(s, n, EXTRAPOLATED, weight, i, false);
        w->error_2[i] = 1.0 / thesis_weight(ctx->norm, i, w->error_1[i]);
        sum += counts(ctx->norm, i, w->error_1[i], false);
    }
    for (int k = 0; k < second->n; k++) {
        if (second->velocity[k] >= 0 || !c->drifts[k]) continue;
        const int i = second->place[k];
        sum += counts(ctx->norm, i, w->yp[i] - weighted(s, n, EXTRAPOLATED, weight, i, true), true);
        count++;
    }
    result->error = w->error = sqrt(sum / count);
}

/* Doubling while nothing fails; after a failure what the estimate says [Wun05 4.4] */
double colloc2nd_thesis_factor(const colloc2nd_state *s, const colloc2nd_scratch *w,
                               const attempt *result)
{
    if (result->status != ATTEMPT_OK) return 0.25;
    double r = pow(2.0 * fmax(w->error, 1e-12), -POWER); /* (4.26) */
    if (w->error > 1.0)                                  /* (4.28) */
        return w->error_failures == 0 ? fmax(0.25, fmin(0.9, 0.9 * r)) : 0.25;
    if (s->taken < CONSTANT_STEPS - 1) return 1.0;
    return w->tries == 1 ? 2.0 : thesis_growth(r);
}

/* (4.31): the polynomial of degree 5 through the last six points, for y' through its own values */
void colloc2nd_thesis_interpolate(const void *state, const method_context *ctx, double t,
                                  int derivative, double *y)
{
    const colloc2nd_state *s = state;
    double at[THESIS_POINTS], weight[THESIS_POINTS];
    int count = points(s, at);
    interpolation_row(count, at, t, 0, weight);
    for (int j = 0; j < ctx->n; j++) y[j] = weighted(s, ctx->n, count, weight, j, derivative != 0);
}
