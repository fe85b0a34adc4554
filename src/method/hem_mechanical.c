/* Stages on M(t,q) v' = f(t,q,v) - G'lambda, q' = v, 0 = G v + g_t: linear systems only
 * [BH93 (5.4)-(5.5)], and the position constraint g(t,q) = 0 by a correction of q at the end.
 *
 * In stage i the matrices are M and B = G at Q_i and C = G at Qbar_i. In methods that are not
 * partitioned Qbar_i = Q_{i+1}, so that each G serves twice. Qbar_s = q1 is known before the last
 * linear system is set up: correcting it there, with the factors of the stage before, leaves the
 * velocity constraint to the last stage, at no cost of its own and at the corrected position. */
#include "method/hem_parts.h"

#include "base/vector.h"

/* A correction of q below this part of the error weights ends the projection: what it leaves over
 * is smaller by a factor O(h), and the next step corrects that, too. */
static const double POSITION_TOLERANCE = 0.1;
enum { POSITION_ITERATIONS = 4 };

/* r += G v */
static void add_product(const form_matrix *G, const double *values, const double *v, double *r)
{
    for (int j = 0; j < G->columns; j++) {
        if (!G->colptr) {
            vector_axpy(G->rows, v[j], values + (size_t)j * (size_t)G->rows, r);
            continue;
        }
        for (int k = G->colptr[j]; k < G->colptr[j + 1]; k++) r[G->rowind[k]] += values[k] * v[j];
    }
}

/* M, unless it is constant and known, with f and perhaps G and the curvature at a point. */
static eval_status evaluate_forces(hem_cache *c, double t, const double *q, const double *v,
                                   double *M, double *f, double *G, double *curvature)
{
    const mechanical_form *m = c->mechanical;
    bool keep = m->M_matrix.constant && c->mass_known;
    return m->evaluate(m->context, t, q, v, keep ? NULL : M, f, G, NULL, curvature);
}

/* The coordinate, from 1, whose row of M is zero beside the others; 0: none is */
static int massless_coordinate(const form_matrix *m, const double *M, double *row)
{
    vector_zero(m->rows, row);
    for (int j = 0; j < m->columns; j++) {
        int first = m->colptr ? m->colptr[j] : j * m->rows;
        int last = m->colptr ? m->colptr[j + 1] : (j + 1) * m->rows;
        for (int k = first; k < last; k++) row[m->colptr ? m->rowind[k] : k - first] += fabs(M[k]);
    }
    double most = row[vector_argmax(m->rows, row, NULL)];
    for (int i = 0; i < m->rows; i++)
        if (row[i] <= 1e-14 * most) return i + 1;
    return 0;
}

/* Factor [M B'; C 0]; a constant mass goes in once. */
static hem_failure factor(hem_cache *c, const double *M, const double *B, const double *C)
{
    bool keep = c->mechanical->M_matrix.constant && c->mass_known;
    saddle_status status = saddle_factor(c->saddle, keep ? NULL : M, B, C);
    if (status == SADDLE_OK) c->mass_known = true;
    c->massless = status == SADDLE_SINGULAR && !keep
                      ? massless_coordinate(&c->mechanical->M_matrix, M, c->work[0])
                      : 0;
    return hem_linear(c, status);
}

/* q := q + dq with g(t, q) = 0, dq = M^-1 B' mu by simplified Newton with the factors at hand */
static hem_failure project_position(hem_cache *c, const method_context *ctx, double t, double *q)
{
    const mechanical_form *m = c->mechanical;
    double *dq = c->work[0], *mu = c->work[1], before = 0.0;
    for (int k = 0; k < POSITION_ITERATIONS; k++) {
        eval_status status = m->g(m->context, t, q, mu);
        if (status != EVAL_OK) return hem_evaluation(status);
        vector_zero(m->nq, dq);
        for (int i = 0; i < m->nl; i++) mu[i] = -mu[i];
        saddle_solve_x(c->saddle, dq, mu);
        double size = hem_norm(c, ctx->norm, dq, 0, m->nq);
        if (!isfinite(size)) return hem_evaluation(EVAL_RETRY);
        if (k > 0 && size > before) break; /* round-off, or hopeless: see below */
        for (int i = 0; i < m->nq; i++) q[i] += dq[i];
        if (size <= POSITION_TOLERANCE) return (hem_failure){.constraint = -1};
        before = size;
    }
    return before <= 1.0 ? (hem_failure){.constraint = -1}
                         : (hem_failure){ATTEMPT_CONVERGENCE,
                                         "The position constraints could not be met", -1, 0};
}

/* The linear system of one stage: v' in K + nq with 0 = C (V + h d v') + rate, d = abar_ii */
static hem_failure stage_solve(hem_cache *c, const double *f, const double *C, double hd,
                               const double *V, double *dv)
{
    const mechanical_form *m = c->mechanical;
    double *r = c->work[1];
    vector_copy(m->nl, c->rate, r);
    add_product(&m->G_matrix, C, V, r);
    for (int i = 0; i < m->nl; i++) r[i] *= -1.0 / hd;
    vector_copy(m->nq, f, dv);
    saddle_solve_x(c->saddle, dv, r);
    return vector_finite(m->nq, dv) ? (hem_failure){.constraint = -1} : hem_evaluation(EVAL_RETRY);
}

/* Exchange two buffers of G. */
static void swap(double **a, double **b)
{
    double *t = *a;
    *a = *b;
    *b = t;
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
    if (!start) {
        eval_status status =
            evaluate_forces(c, t, w->X, w->X + nq, M, f, partitioned ? B : NULL, NULL);
        if (status != EVAL_OK) return hem_evaluation(status);
    }
    vector_copy(nq, w->X + nq, w->K[i]);
    hem_combine(n, s->x, h, i, table->a_bar[i], w->K, w->X_bar);
    vector_axpy(nq, h * d, w->K[i], w->X_bar);
    if (last && hem_projects_position(ctx)) {
        hem_failure failure = project_position(c, ctx, t_bar, w->X_bar);
        if (failure.status) return failure;
    }
    eval_status status =
        m->evaluate(m->context, t_bar, w->X_bar, w->X + nq, NULL, NULL, C, c->rate, NULL);
    if (status != EVAL_OK) return hem_evaluation(status);
    hem_failure failure = factor(c, M, B, C);
    if (!failure.status) failure = stage_solve(c, f, C, h * d, w->X_bar + nq, w->K[i] + nq);
    if (failure.status) return failure;
    vector_axpy(nq, h * d, w->K[i] + nq, w->X_bar + nq);
    swap(&c->G[1], &c->G[2]); /* G[1] = G(Qbar_i) */
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
        eval_status status =
            evaluate_forces(c, s->t, s->x, s->x + n / 2, c->M[0], c->force[0], c->G[0], NULL);
        if (status != EVAL_OK) return hem_evaluation(status);
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

/* v := v + dv with 0 = G v + g_t, dv = M^-1 G'mu, G in C and g_t in c->rate */
static void project_velocity(hem_cache *c, const double *C, double *v)
{
    const mechanical_form *m = c->mechanical;
    double *dv = c->work[0], *mu = c->work[1];
    vector_copy(m->nl, c->rate, mu);
    add_product(&m->G_matrix, C, v, mu);
    for (int i = 0; i < m->nl; i++) mu[i] = -mu[i];
    vector_zero(m->nq, dv);
    saddle_solve_x(c->saddle, dv, mu);
    for (int i = 0; i < m->nq; i++) v[i] += dv[i];
}

/* (v', lambda) from f and the curvature by the factors at hand; v' alone if w is NULL */
static hem_failure solve_slope(hem_cache *c, const double *f, const double *v, double *k, double *w)
{
    const mechanical_form *m = c->mechanical;
    const int nq = m->nq;
    vector_copy(nq, v, k);
    vector_copy(nq, f, k + nq);
    double *lambda = w ? w : c->work[1];
    for (int i = 0; i < m->nl; i++) lambda[i] = -c->curvature[i];
    if (w)
        saddle_solve(c->saddle, k + nq, w);
    else
        saddle_solve_x(c->saddle, k + nq, lambda);
    bool finite = vector_finite(nq, k + nq) && (!w || vector_finite(m->nl, w));
    return finite ? (hem_failure){.constraint = -1} : hem_evaluation(EVAL_RETRY);
}

/* curvature += 2 alpha (G v + g_t) + beta^2 g, so that 0 = g'' + 2 alpha g' + beta^2 g [Bau72] */
static eval_status add_damping(hem_cache *c, double t, const double *x, const double *G)
{
    const mechanical_form *m = c->mechanical;
    double *g = c->work[1];
    eval_status status = m->evaluate(m->context, t, x, x + m->nq, NULL, NULL, NULL, c->rate, NULL);
    if (status != EVAL_OK) return status;
    add_product(&m->G_matrix, G, x + m->nq, c->rate);
    vector_axpy(m->nl, 2.0 * c->alpha, c->rate, c->curvature);
    status = m->g(m->context, t, x, g);
    vector_axpy(m->nl, c->beta * c->beta, g, c->curvature);
    return status;
}

/* One evaluation and one factorisation: f and the curvature belong to v before its correction,
 * which is of the size of the local error and enters the slope only. */
hem_failure hem_mechanical_end(hem_cache *c, const method_context *ctx, double t, double *x,
                               double *k, double *w, bool position, bool velocity)
{
    const mechanical_form *m = c->mechanical;
    const int nq = m->nq;
    hem_failure failure = {.constraint = -1};
    if (position) failure = project_position(c, ctx, t, x);
    if (failure.status) return failure;
    bool keep = m->M_matrix.constant && c->mass_known;
    eval_status status = m->evaluate(m->context, t, x, x + nq, keep ? NULL : c->M[1], c->force[1],
                                     c->G[1], c->rate, c->curvature);
    if (status != EVAL_OK) return hem_evaluation(status);
    failure = factor(c, c->M[1], c->G[1], c->G[1]);
    if (failure.status) return failure;
    if (velocity) project_velocity(c, c->G[1], x + nq);
    if (c->alpha > 0.0) status = add_damping(c, t, x, c->G[1]);
    return status == EVAL_OK ? solve_slope(c, c->force[1], x + nq, k, w) : hem_evaluation(status);
}

/* k = (v, v') and lambda (w may be NULL) with 0 = G v' + curvature at (t, q, v). At the end of a
 * step G(q) is there already, and M, f, G are what the next step begins with. */
hem_failure hem_mechanical_slope(hem_cache *c, const method_context *ctx, double t, const double *x,
                                 double *k, double *w, bool end)
{
    (void)ctx;
    const mechanical_form *m = c->mechanical;
    const int nq = m->nq;
    double *G = end ? c->G[1] : c->G[3], *f = c->force[1];
    eval_status status = evaluate_forces(c, t, x, x + nq, c->M[1], f, end ? NULL : G, c->curvature);
    if (status == EVAL_OK && c->alpha > 0.0) status = add_damping(c, t, x, G);
    if (status != EVAL_OK) return hem_evaluation(status);
    hem_failure failure = factor(c, c->M[1], G, G);
    if (failure.status) return failure;
    return solve_slope(c, f, x + nq, k, w);
}

/* e_v := e_v - M^-1 G'mu with G e_v = 0, by the factors at hand: those of the last stage or of the
 * slope at the end, both with C = G(q1). */
void hem_mechanical_tangent(hem_cache *c, double *e)
{
    const mechanical_form *m = c->mechanical;
    double *dv = c->work[0], *mu = c->work[1], *ev = e + m->nq;
    vector_zero(m->nq, dv);
    vector_zero(m->nl, mu);
    add_product(&m->G_matrix, c->G[1], ev, mu);
    saddle_solve_x(c->saddle, dv, mu);
    for (int i = 0; i < m->nq; i++) ev[i] -= dv[i];
}

/* What was evaluated at the end is what the next step starts with. */
void hem_mechanical_accept(hem_cache *c)
{
    swap(&c->M[0], &c->M[1]);
    swap(&c->G[0], &c->G[1]);
    swap(&c->force[0], &c->force[1]);
}
