/* Stages on M(t,q) v' = f(t,q,v) - G'lambda, q' = v, 0 = G v + g_t: linear systems only
 * [BH93 (5.4)-(5.5)], and the position constraint g(t,q) = 0 by a correction of q at the end.
 *
 * In stage i the matrices are M and B = G at Q_i and C = G at Qbar_i. In methods that are not
 * partitioned Qbar_i = Q_{i+1}, so that each G serves twice. Qbar_s = q1 is known before the last
 * linear system is set up: correcting it there, with the factors of the stage before, leaves the
 * velocity constraint to the last stage, at no cost of its own and at the corrected position. */
#include "method/half_explicit/hem_parts.h"

#include "base/vector.h"

/* The linear system of one stage: v' in K + nq with 0 = C (V + h d v') + rate, d = abar_ii */
static hem_failure stage_solve(hem_cache *c, const double *f, const double *C, double hd,
                               const double *V, double *dv)
{
    const mechanical_form *m = c->mechanical;
    double *r = c->system.r;
    vector_copy(m->nl, c->system.rate, r);
    mechanism_add_product(&c->system, C, V, r);
    for (int i = 0; i < m->nl; i++) r[i] *= -1.0 / hd;
    vector_copy(m->nq, f, dv);
    saddle_solve_x(c->saddle, dv, r);
    return vector_finite(m->nq, dv) ? (hem_failure){.constraint = -1}
                                    : mechanism_evaluation(EVAL_RETRY);
}

/* Stage i: K_i = (V_i, V'_i) and Xbar_i. On entry X = (Q_i, V_i); G[1] = G(Q_i) if it is known. */
static hem_failure stage(const hem_state *s, hem_scratch *w, const method_context *ctx, int i)
{
    hem_cache *c = ctx->cache;
    const mechanical_form *m = c->mechanical;
    const hem_table *table = s->table;
    const int nq = m->nq, n = 2 * nq;
    const double h = w->h, d = table->a_bar[i][i], t = s->t + table->c[i] * h;
    const double t_bar = s->t + table->c_bar[i] * h;
    bool start = i == 0, partitioned = table->partitioned, last = i == table->stages - 1;
    double *f = c->force[start ? 0 : 1], *M = c->M[start ? 0 : 1];
    double *B = start ? c->G[0] : c->G[1], *C = c->G[2];
    hem_failure failure = mechanism_ok();
    if (!start)
        failure = mechanism_values(&c->system, t, w->X, M, f, partitioned ? B : NULL, NULL, NULL);
    if (failure.status) return failure;
    vector_copy(nq, w->X + nq, w->K[i]);
    hem_combine(n, s->x, h, i, table->a_bar[i], w->K, w->X_bar);
    vector_axpy(nq, h * d, w->K[i], w->X_bar);
    if (last && hem_projects_position(ctx))
        failure = mechanism_project_position(&c->system, ctx->norm, t_bar, w->X_bar);
    if (failure.status) return failure;
    eval_status status =
        m->evaluate(m->context, t_bar, w->X_bar, w->X + nq, NULL, NULL, C, c->system.rate, NULL);
    if (status != EVAL_OK) return mechanism_evaluation(status);
    failure = mechanism_factor_with(&c->system, M, B, C);
    if (!failure.status) failure = stage_solve(c, f, C, h * d, w->X_bar + nq, w->K[i] + nq);
    if (failure.status) return failure;
    vector_axpy(nq, h * d, w->K[i] + nq, w->X_bar + nq);
    vectors_swap(&c->G[1], &c->G[2]); /* G[1] = G(Qbar_i) */
    return failure;
}

/* All stages: K, and the end of the step in w->x; G[1] is G(q1) afterwards. */
hem_failure hem_mechanical_stages(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    const hem_table *table = s->table;
    const int n = c->nx;
    int first = table->partitioned ? 1 : 0;
    if (table->partitioned) vector_copy(n, s->k, w->K[0]);
    if (!table->partitioned && c->start_step != s->step) {
        hem_failure failure =
            mechanism_values(&c->system, s->t, s->x, c->M[0], c->force[0], c->G[0], NULL, NULL);
        if (failure.status) return failure;
        c->start_step = s->step;
    }
    for (int i = first; i < table->stages; i++) {
        if (table->partitioned || i == 0)
            hem_combine(n, s->x, w->h, i, table->a[i], w->K, w->X);
        else
            vector_copy(n, w->X_bar, w->X);
        hem_failure failure = stage(s, w, ctx, i);
        if (failure.status) return failure;
    }
    vector_copy(n, w->X_bar, w->x);
    return (hem_failure){.constraint = -1};
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

/* One evaluation and one factorisation: f and the curvature belong to v before its correction,
 * which is of the size of the local error and enters the slope only. */
hem_failure hem_mechanical_end(hem_cache *c, const method_context *ctx, double t, double *x,
                               double *k, double *w, bool position, bool velocity)
{
    mechanism *m = &c->system;
    hem_failure failure = mechanism_ok();
    if (position) failure = mechanism_project_position(m, ctx->norm, t, x);
    if (!failure.status)
        failure = mechanism_values(m, t, x, c->M[1], c->force[1], c->G[1], m->rate, m->curvature);
    if (!failure.status) failure = mechanism_factor_with(m, c->M[1], c->G[1], c->G[1]);
    if (failure.status) return failure;
    if (velocity) mechanism_project_velocity(m, c->G[1], x + c->mechanical->nq);
    eval_status status = c->alpha > 0.0 ? add_damping(c, t, x, c->G[1]) : EVAL_OK;
    return status == EVAL_OK ? mechanism_slope_of(m, c->force[1], x, k, w)
                             : mechanism_evaluation(status);
}

/* k = (v, v') and lambda (w may be NULL) with 0 = G v' + curvature at (t, q, v). At the end of a
 * step G(q) is there already, and M, f, G are what the next step begins with. */
hem_failure hem_mechanical_slope(hem_cache *c, const method_context *ctx, double t, const double *x,
                                 double *k, double *w, bool end)
{
    (void)ctx;
    mechanism *m = &c->system;
    double *G = end ? c->G[1] : c->G[3], *f = c->force[1];
    hem_failure failure = mechanism_values(m, t, x, c->M[1], f, end ? NULL : G, NULL, m->curvature);
    if (!failure.status && c->alpha > 0.0) failure = mechanism_evaluation(add_damping(c, t, x, G));
    if (!failure.status) failure = mechanism_factor_with(m, c->M[1], G, G);
    return failure.status ? failure : mechanism_slope_of(m, f, x, k, w);
}

/* e_v := e_v - M^-1 G'mu with G e_v = 0, by the factors at hand: those of the last stage or of the
 * slope at the end, both with C = G(q1). */
void hem_mechanical_tangent(hem_cache *c, double *e)
{
    const mechanical_form *m = c->mechanical;
    double *dv = c->work[0], *mu = c->work[1], *ev = e + m->nq;
    vector_zero(m->nq, dv);
    vector_zero(m->nl, mu);
    mechanism_add_product(&c->system, c->G[1], ev, mu);
    saddle_solve_x(c->saddle, dv, mu);
    for (int i = 0; i < m->nq; i++) ev[i] -= dv[i];
}

/* What was evaluated at the end is what the next step starts with. */
void hem_mechanical_accept(hem_cache *c)
{
    vectors_swap(&c->M[0], &c->M[1]);
    vectors_swap(&c->G[0], &c->G[1]);
    vectors_swap(&c->force[0], &c->force[1]);
}
