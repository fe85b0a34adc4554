/* Error estimate and step size of second order collocation, after RADAU5 [HW96 IV.8]. */
#include "method/implicit/colloc2nd_parts.h"

#include <float.h>

#include "base/vector.h"

/* On pendulum, Andrews' mechanism, car axis and truck a safety of 0.65 to 0.8 costs 6 to 8 per cent
 * less at equal errors than RADAU5's 0.9, since fewer steps are rejected. */
static const double SAFETY = 0.75, LEAST_FACTOR = 0.2, MOST_FACTOR = 8.0;
/* After a first step, whose length nobody chose with care. */
static const double FIRST_FACTOR = 64.0;
/* A change by less than this is not worth a factorisation. */
static const double DEAD_LOW = 0.95, DEAD_HIGH = 1.3;
/* Beyond this contraction new partial derivatives are worth their price; up to the other one
 * Newton's method is good value. */
static const double WORN = 0.01, BEST_THETA = 0.1;
/* Weight of the estimate. */
static const double FACTOR = 10.0;

/* ---- the estimate ---- */

/* The estimate has order s, a solution of order p > s + 1 may be tested against
 * rtol^((s+1)/(p+1)): its error is about rtol then. Where p = s + 1 there is nothing to be gained.
 * Gauss methods have order s where there are constraints. */
static void set_error_factor(colloc2nd_scratch *w, const method_context *ctx, const double *y)
{
    const colloc2nd_cache *c = ctx->cache;
    const collocation *m = c->kind->m;
    double rtol = stages_relative_tolerance(ctx->norm, y), s = m->stages;
    if (rtol == w->factor_rtol) return;
    bool stiffly = m->nodes[m->stages - 1] == 1.0;
    double order = stiffly || !c->ends.form ? m->order : s;
    w->factor_rtol = rtol;
    double exponent = order > s + 1.0 ? (order - s) / (order + 1.0) : 0.0;
    w->error_factor = FACTOR * pow(rtol, exponent);
}

/* Which variables are tested: (q, v) of a mechanism that is projected in full, its multipliers and
 * what else follows from these not; index-2 and index-3 variables elsewhere with h and h^2 [HLR89
 * 7]. */
static void error_scale(colloc2nd_scratch *w, const method_context *ctx)
{
    const colloc2nd_cache *c = ctx->cache;
    const error_norm *norm = ctx->norm;
    stages_error_scale(norm, ctx->error_test, w->scale);
    if (!c->ends.form) return;
    for (int i = 0; i < c->ends.form->nq; i++) {
        int q = projection_q(&c->ends, i), v = projection_v(&c->ends, i);
        w->scale[q] = norm->exempt[q] ? 0.0 : norm->scale[q];
        w->scale[v] = norm->exempt[v] ? 0.0 : norm->scale[v];
    }
    for (int i = 0; i < projection_followers(&c->ends); i++)
        w->scale[projection_follower(&c->ends, i)] = 0.0;
    int tested = 0;
    for (int j = 0; j < norm->n; j++) tested += w->scale[j] > 0.0;
    double stretch = tested > 0 ? sqrt((double)norm->n / tested) : 0.0;
    for (int j = 0; j < norm->n; j++) w->scale[j] *= stretch;
}

/* The embedded formula of order s in the first order system, the defect of the collocation
 * polynomials where the step begins [HW96 IV.8], with velocities eliminated: for the slopes
 * s1 = w'(0) - v0 and s2 = pi'(0) of the polynomials of x and x', and `shift` e0 or 0,
 *   A(g, g^2) e = -F(t, x0 + e0, v0 + s1, s2 + g r),  r = s1 - e0',  e' = g e + r,  g = gamma/h */
static bool defect(const colloc2nd_state *s, colloc2nd_scratch *w, const method_context *ctx,
                   const double *shift, double *error)
{
    colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    const int n = second->n;
    const double g = c->kind->m->gamma / w->h, *s1 = w->work, *s2 = w->work + n;
    double *r = w->work + 2 * n;
    for (int k = 0; k < n; k++) {
        const int place = second->place[k], velocity = second->velocity[k];
        w->x[k] = w->x0[k] + (shift ? shift[place] : 0.0);
        r[k] = s1[k] - (shift && velocity >= 0 ? shift[velocity] : 0.0);
        w->xp[k] = (velocity >= 0 ? w->v0[k] : 0.0) + s1[k];
        w->xpp[k] = s2[k] + g * r[k];
    }
    second_order_spread(second, w->x, w->xp, w->xpp, w->point, w->slope);
    eval_status status =
        evaluate_residual(ctx->eval, s->t, w->point, w->slope, w->f, &ctx->eval->stats->residuals);
    if (status != EVAL_OK) return false;
    for (int k = 0; k < n; k++) w->x[k] = -w->f[second->row[k]];
    second_matrix_solve(c->matrix, w->x);
    vector_zero(ctx->n, error);
    for (int k = 0; k < n; k++) {
        error[second->place[k]] = w->x[k];
        if (second->velocity[k] >= 0) error[second->velocity[k]] = g * w->x[k] + r[k];
    }
    if (c->ends.form) projection_tangent(&c->ends, w->t, w->y, error);
    return true;
}

/* On a first step or after a failure filtered twice, since the estimate is far too large for stiff
 * components there. */
attempt_status colloc2nd_estimate(const colloc2nd_state *s, colloc2nd_scratch *w,
                                  const method_context *ctx, attempt *result)
{
    const colloc2nd_cache *c = ctx->cache;
    const collocation *m = c->kind->m;
    const int n = ctx->second->n;
    set_error_factor(w, ctx, s->y);
    error_scale(w, ctx);
    collocation_combine(1, m->stages, n, 1.0 / w->h, m->left, w->Z, w->work);
    collocation_combine(1, m->stages, n, 1.0 / w->h, m->left, w->D1, w->work + n);
    if (!defect(s, w, ctx, NULL, w->error_1)) return ATTEMPT_EVALUATION;
    double error = w->error_factor * norm_of(ctx->norm, w->error_1, w->scale);
    result->estimate = w->error_1;
    bool doubtful = error >= 1.0 && (s->taken == 0 || w->tries > 1);
    if (doubtful && defect(s, w, ctx, w->error_1, w->error_2)) {
        double again = w->error_factor * norm_of(ctx->norm, w->error_2, w->scale);
        if (again < error) {
            error = again;
            result->estimate = w->error_2;
        }
    }
    result->error = w->error = error;
    result->error_constant = w->error_factor;
    result->scale = w->scale;
    return isfinite(error) ? ATTEMPT_OK : ATTEMPT_EVALUATION;
}

/* ---- the step ---- */

bool colloc2nd_worn(const colloc2nd_scratch *w)
{
    return w->newton.theta > WORN;
}

static double clamp(double x, double least, double most)
{
    return fmax(least, fmin(most, x));
}

/* Many Newton iterations ask for more safety. */
static double safety(const colloc2nd_scratch *w)
{
    const double k = 10.0;
    return fmin(SAFETY, SAFETY * (1.0 + 2.0 * k) / (w->newton.iterations + 2.0 * k));
}

/* How far h may grow before Newton's method gets slow; after a failure the step stays below where
 * it happened for a while. */
static double newton_limit(const colloc2nd_state *s, const colloc2nd_scratch *w)
{
    double limit = w->newton.theta > 0.0 ? BEST_THETA / w->newton.theta : FIRST_FACTOR;
    if (s->h_limit > 0.0) limit = fmin(limit, s->h_limit / fabs(w->h));
    return fmax(limit, 1.0);
}

/* Gustafsson's predictive controller and the plain one, the smaller of both [HW96 IV.8] */
double colloc2nd_next_factor(const colloc2nd_state *s, const colloc2nd_scratch *w,
                             const collocation *m, double error)
{
    const double power = 1.0 / (m->stages + 1.0), e = fmax(error, 1e-12);
    if (!(error < DBL_MAX)) return LEAST_FACTOR;
    double factor = safety(w) * pow(e, -power);
    if (error >= 1.0) return s->taken > 0 ? clamp(factor, LEAST_FACTOR, SAFETY) : fmin(0.1, factor);
    if (s->accepted_error > 0.0) {
        double trend = SAFETY * (w->h / s->accepted_h) * pow(s->accepted_error / (e * e), power);
        factor = fmin(factor, trend);
    }
    double most = s->taken == 0 ? FIRST_FACTOR : MOST_FACTOR;
    if (w->tries > 1) most = 1.0;
    factor = clamp(factor, LEAST_FACTOR, fmin(most, newton_limit(s, w)));
    return !colloc2nd_worn(w) && factor >= DEAD_LOW && factor <= DEAD_HIGH ? 1.0 : factor;
}
