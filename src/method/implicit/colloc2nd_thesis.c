/* The thesis variant: error estimate and step size of [Wun05 4.3, 4.4] for the two-stage methods of
 * [Wun05 6.3], with lambda and lambda' among the variables. */
#include "method/implicit/colloc2nd_parts.h"

#include "base/vector.h"
#include "method/common/interpolation.h"

enum { CONSTANT_STEPS = 4, POINTS = 4 };
/* [Wun05 8.2]: atol = 1e-2 for lambda and 1e-1 for lambda' */
static const double SLOPE_WEIGHT = 0.1;
/* r = (2 ERR)^(-1/(k+1)) with k = 2, as the controller of chapter 4 has it */
static const double POWER = 1.0 / 3.0;

/* ||y_n - p(t_n)|| with p through the last four points [Wun05 (4.22)-(4.24)]; 0 on the first four
 * steps */
void colloc2nd_thesis_estimate(const colloc2nd_state *s, colloc2nd_scratch *w,
                               const method_context *ctx, attempt *result)
{
    const colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    const int n = ctx->n;
    result->error = w->error = 0.0;
    result->estimate = w->error_1;
    result->error_constant = 1.0;
    result->scale = ctx->norm->scale;
    vector_zero(n, w->error_1);
    if (s->taken < CONSTANT_STEPS) return;
    double weight[POINTS], sum = 0.0;
    int count = n;
    const double at[POINTS] = {s->t, s->t_old, s->past_t[0], s->past_t[1]};
    interpolation_row(POINTS, at, w->t, 0, weight);
    for (int i = 0; i < n; i++) {
        w->error_1[i] = w->y[i] - weight[0] * s->y[i] - weight[1] * s->y_old[i] -
                        weight[2] * s->past[0][i] - weight[3] * s->past[1][i];
        sum += pow(w->error_1[i] * ctx->norm->scale[i], 2.0);
    }
    for (int k = 0; k < second->n; k++) {
        if (second->velocity[k] >= 0 || !c->drifts[k]) continue;
        const int i = second->place[k];
        double e = w->yp[i] - weight[0] * s->yp[i] - weight[1] * s->yp_old[i] -
                   weight[2] * s->past[0][n + i] - weight[3] * s->past[1][n + i];
        sum += pow(SLOPE_WEIGHT * e * ctx->norm->scale[i], 2.0);
        count++;
        if (SLOPE_WEIGHT * fabs(e) > fabs(w->error_1[i])) w->error_1[i] = SLOPE_WEIGHT * e;
    }
    result->error = w->error = sqrt(sum / count);
}

/* Doubling while nothing fails; after a failure what the estimate says [Wun05 4.4] */
double colloc2nd_thesis_factor(const colloc2nd_state *s, const colloc2nd_scratch *w,
                               const attempt *result)
{
    if (result->status != ATTEMPT_OK) return 0.25;
    double r = pow(2.0 * fmax(w->error, 1e-12), -POWER);
    if (w->error > 1.0) {
        double cut = fmax(0.25, fmin(0.9, 0.9 * r));
        return w->error_failures == 0 ? cut : 0.25;
    }
    if (s->taken < CONSTANT_STEPS) return 1.0;
    if (w->tries == 1) return 2.0;
    if (r >= 2.0) return 2.0;
    return r > 1.0 ? 1.0 : fmax(0.5, fmin(0.9, r));
}
