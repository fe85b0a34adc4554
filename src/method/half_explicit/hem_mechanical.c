/* Stages on M(t,q) v' = f(t,q,v) - G'lambda, q' = v, 0 = G v + g_t: linear systems only
 * [BH93 (5.4)-(5.5)], and the position constraint g(t,q) = 0 by a correction of q at the end.
 *
 * In stage i the matrices are M and B = G at Q_i and C = G at Qbar_i. In methods that are not
 * partitioned Qbar_i = Q_{i+1}, so that each G serves twice. Qbar_s = q1 is known before the last
 * linear system is set up: correcting it there, with the factors of the stage before, leaves the
 * velocity constraint to the last stage, at no cost of its own and at the corrected position. */
#include "method/half_explicit/hem_parts.h"

#include "base/vector.h"

/* The linear system of one stage: v' in K + nq with 0 = C (V + h d v') + rate, d = abar_ii; and its
 * multipliers, unless lambda is NULL */
static hem_failure stage_solve(hem_cache *c, const double *f, const double *C, double hd,
                               const double *V, double *dv, double *lambda)
{
    const mechanical_form *m = c->mechanical;
    double *r = lambda ? lambda : c->system.r;
    vector_copy(m->nl, c->system.rate, r);
    mechanism_add_product(&c->system, C, V, r);
    for (int i = 0; i < m->nl; i++) r[i] *= -1.0 / hd;
    vector_copy(m->nq, f, dv);
    if (lambda)
        saddle_solve(c->saddle, dv, r);
    else
        saddle_solve_x(c->saddle, dv, r);
    return vector_finite(m->nq, dv) ? (hem_failure){.constraint = -1}
                                    : mechanism_evaluation(EVAL_RETRY);
}

/* K_i = (V_i, V'_i) and Xbar_i. On entry X = (Q_i, V_i); system.G[0] = G(Q_i) if it is known; on
 * return it is G(Qbar_i). */
hem_failure hem_mechanical_stage(const hem_state *s, hem_scratch *w, const method_context *ctx,
                                 int i)
{
    hem_cache *c = ctx->cache;
    mechanism *m = &c->system;
    const mechanical_form *form = c->mechanical;
    const hem_table *table = s->table;
    const int nq = form->nq, n = 2 * nq;
    const double h = w->h, d = table->a_bar[i][i], t = s->t + table->c[i] * h;
    const double t_bar = s->t + table->c_bar[i] * h;
    bool start = i == 0, partitioned = table->partitioned, last = i == table->stages - 1;
    double *f = start ? c->force_start : m->force, *M = start ? c->M_start : m->M;
    double *B = start ? c->G_start : m->G[0], *C = m->G[1];
    hem_failure failure = mechanism_ok();
    if (!start) failure = mechanism_values(m, t, w->X, M, f, partitioned ? B : NULL, NULL, NULL);
    if (failure.status) return failure;
    vector_copy(nq, w->X + nq, w->K[i]);
    hem_combine(n, s->x, h, i, table->a_bar[i], w->K, w->X_bar);
    vector_axpy(nq, h * d, w->K[i], w->X_bar);
    if (last && hem_projects_position(ctx))
        failure = mechanism_project_position(m, ctx->norm, t_bar, w->X_bar);
    if (failure.status) return failure;
    eval_status status =
        form->evaluate(form->context, t_bar, w->X_bar, w->X + nq, NULL, NULL, C, m->rate, NULL);
    if (status != EVAL_OK) return mechanism_evaluation(status);
    failure = mechanism_factor_with(m, M, B, C);
    double *lambda = last && table->last_stage ? w->z : NULL;
    if (!failure.status) failure = stage_solve(c, f, C, h * d, w->X_bar + nq, w->K[i] + nq, lambda);
    if (failure.status) return failure;
    vector_axpy(nq, h * d, w->K[i] + nq, w->X_bar + nq);
    vectors_swap(&m->G[0], &m->G[1]);
    return failure;
}

hem_failure hem_mechanical_begin(const hem_state *s, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    if (s->table->partitioned || c->start_step == s->step) return mechanism_ok();
    hem_failure failure = mechanism_values(&c->system, s->t, s->x, c->M_start, c->force_start,
                                           c->G_start, NULL, NULL);
    if (!failure.status) c->start_step = s->step;
    return failure;
}

/* curvature += 2 alpha (G v + g_t) + beta^2 g, so that 0 = g'' + 2 alpha g' + beta^2 g [Bau72] */
static eval_status add_damping(hem_cache *c, double t, const double *x, const double *G)
{
    const mechanical_form *m = c->mechanical;
    mechanism *s = &c->system;
    eval_status status = m->evaluate(m->context, t, x, x + m->nq, NULL, NULL, NULL, s->rate, NULL);
    if (status != EVAL_OK) return status;
    mechanism_add_product(s, G, x + m->nq, s->rate);
    vector_axpy(m->nl, 2.0 * c->alpha, s->rate, s->curvature);
    status = m->g(m->context, t, x, s->r);
    vector_axpy(m->nl, c->beta * c->beta, s->r, s->curvature);
    return status;
}

hem_failure hem_mechanical_end(hem_cache *c, const method_context *ctx, double t, double *x,
                               double *k, double *w, bool position, bool velocity)
{
    mechanism *m = &c->system;
    hem_failure failure = mechanism_end(m, ctx->norm, t, x, position, velocity);
    if (!failure.status && c->alpha > 0.0)
        failure = mechanism_evaluation(add_damping(c, t, x, m->G[0]));
    return failure.status ? failure : mechanism_slope(m, x, k, w);
}

bool hem_mechanical_matrixless(const hem_cache *c)
{
    return c->mechanical && c->mechanical->accelerations && c->tableau && c->alpha == 0.0;
}

/* k = (v, v') and lambda (w may be NULL) with 0 = G v' + curvature at (t, q, v). At the end of a
 * half-explicit step G(q) is there already, and M, f, G are what the next step begins with.
 * Explicit methods keep nothing of a point but factors near the end, for projections. */
hem_failure hem_mechanical_slope(hem_cache *c, const method_context *ctx, double t, const double *x,
                                 double *k, double *w, bool end)
{
    (void)ctx;
    mechanism *m = &c->system;
    if (c->tableau && c->alpha == 0.0) return mechanism_slope_at(m, t, x, NULL, k, w);
    double *G = end ? m->G[0] : c->G_aside;
    hem_failure failure =
        mechanism_values(m, t, x, m->M, m->force, end ? NULL : G, NULL, m->curvature);
    if (!failure.status && c->alpha > 0.0) failure = mechanism_evaluation(add_damping(c, t, x, G));
    if (!failure.status) failure = mechanism_factor(m, G, G);
    return failure.status ? failure : mechanism_slope(m, x, k, w);
}

/* By the factors at hand: those of the last stage or of the slope at the end, both with C = G(q1).
 */
void hem_mechanical_tangent(hem_cache *c, double *e)
{
    mechanism_tangent(&c->system, e + c->mechanical->nq);
}

/* What was evaluated at the end is what the next step starts with. It is there already where this
 * step was accepted before, and taken back. */
void hem_mechanical_accept(hem_cache *c)
{
    if (!c->end_here) return;
    c->end_here = false;
    vectors_swap(&c->M_start, &c->system.M);
    vectors_swap(&c->G_start, &c->system.G[0]);
    vectors_swap(&c->force_start, &c->system.force);
}
