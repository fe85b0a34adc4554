/* Lobatto IIIA-IIIB pairs for constrained Hamiltonian systems [Jay96; HLW06 VII.1.5]:
 *
 *   Q_i = q + h sum_j a_ij V_j,           P_i = p + h sum_j a^_ij (dL/dq (Q_j, V_j) -
 * G_j'Lambda_j), P_i = M(Q_i) V_i,  0 = g(Q_i),        p_1 = p + h sum_j b_j (..),  0 = G(q_1) v_1
 * + g_t. a^_is = 0: Lambda_1 .. Lambda_s-1 belong to Q_2 .. Q_s, Lambda_s to v_1. All stages are
 * iterated together; Lambda by a simplified Newton step, with G M^-1 G' of the beginning. */
#include "method/geometric/geometric.h"

#include "base/vector.h"
#include "method/common/collocation.h"

#include <float.h>
#include <math.h>

static const double FINEST = 4.0 * DBL_EPSILON;
enum { MOST_ITERATIONS = 100 };

/* X := X^-1, m x m with m <= 3, by Gauss and Jordan with pivots from the diagonal's column */
static void invert(int m, double X[GEOMETRIC_STAGES][GEOMETRIC_STAGES])
{
    double W[GEOMETRIC_STAGES][2 * GEOMETRIC_STAGES] = {{0.0}};
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) W[i][j] = X[i][j];
        W[i][m + i] = 1.0;
    }
    for (int k = 0; k < m; k++) {
        int pivot = k;
        for (int i = k + 1; i < m; i++)
            if (fabs(W[i][k]) > fabs(W[pivot][k])) pivot = i;
        for (int j = 0; j < 2 * m; j++) {
            double held = W[k][j];
            W[k][j] = W[pivot][j];
            W[pivot][j] = held;
        }
        for (int j = 2 * m - 1; j >= k; j--) W[k][j] /= W[k][k];
        for (int i = 0; i < m; i++)
            for (int j = 2 * m - 1; i != k && j >= k; j--) W[i][j] -= W[i][k] * W[k][j];
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) X[i][j] = W[i][m + j];
}

void lobatto_pair_fill(lobatto_pair *p, int stages)
{
    const collocation *m = stages == 3 ? &lobatto_iiia_3 : &lobatto_iiia_4;
    *p = (lobatto_pair){.stages = stages};
    vector_copy(stages, m->b, p->b);
    vector_copy(stages, m->nodes, p->c);
    for (int i = 0; i < stages; i++) vector_copy(stages, m->A + i * stages, p->a[i]);
    for (int i = 0; i < stages; i++)
        for (int j = 0; j < stages; j++) /* symplectic [HLW06 VI.4] */
            p->a_hat[i][j] = p->b[j] - p->b[j] * p->a[j][i] / p->b[i];
    for (int i = 0; i < stages; i++) p->a_hat[i][stages - 1] = 0.0; /* what rounding leaves */
    for (int i = 0; i + 1 < stages; i++)
        for (int j = 0; j + 1 < stages; j++)
            for (int k = 0; k < stages; k++) p->coupling[i][j] += p->a[i + 1][k] * p->a_hat[k][j];
    invert(stages - 1, p->coupling);
}

/* force_j = dL/dq - G_j'Lambda_j at stage j, G_j beside it; without the last multiplier */
static mechanism_failure stage_force(geometric_cache *c, double t, int j)
{
    const mechanical_form *m = c->system.form;
    const form_matrix *G = &m->G_matrix;
    const int nq = m->nq;
    vector_copy(nq, c->Q[j], c->x);
    vector_copy(nq, c->V[j], c->x + nq);
    mechanism_failure failure = geometric_force(c, t, c->x, c->force[j]);
    if (failure.status || j + 1 == c->pair.stages) return failure;
    for (int k = 0; k < G->columns; k++) {
        int first = G->colptr ? G->colptr[k] : k * G->rows;
        int end = G->colptr ? G->colptr[k + 1] : first + G->rows;
        for (int e = first; e < end; e++) {
            int row = G->colptr ? G->rowind[e] : e - first;
            c->force[j][k] -= c->system.G[0][e] * c->Lambda[j][row];
        }
    }
    return failure;
}

/* Lambda from g(Q_i), i = 1 .. s-1: h^2 coupling^-1 (x) G M^-1 G' dLambda = g */
static mechanism_failure correct_multipliers(geometric_cache *c, double t, double h)
{
    mechanism *m = &c->system;
    const int nl = m->form->nl, inner = c->pair.stages - 1;
    for (int i = 0; i < inner; i++) {
        eval_status status = m->form->g(m->form->context, t + c->pair.c[i + 1] * h, c->Q[i + 1],
                                        c->residual + i * nl);
        if (status != EVAL_OK) return mechanism_evaluation(status);
    }
    for (int j = 0; j < inner; j++) {
        vector_zero(nl, m->r);
        for (int i = 0; i < inner; i++)
            vector_axpy(nl, c->pair.coupling[j][i] / (h * h), c->residual + i * nl, m->r);
        vector_zero(m->form->nq, m->dx);
        saddle_solve(m->saddle, m->dx, m->r); /* r := -(G M^-1 G')^-1 r */
        vector_axpy(nl, -1.0, m->r, c->Lambda[j]);
    }
    return mechanism_ok();
}

/* New V from the forces, new Q from V; the largest change of Q. */
static mechanism_failure sweep(geometric_cache *c, double t, double h, const double *x,
                               double *change)
{
    const lobatto_pair *p = &c->pair;
    const int nq = c->system.form->nq, s = p->stages;
    mechanism_failure failure = mechanism_ok();
    *change = 0.0;
    for (int i = 0; i < s && !failure.status; i++) {
        vector_copy(nq, c->p, c->P[i]);
        for (int j = 0; j + 1 < s; j++) vector_axpy(nq, h * p->a_hat[i][j], c->force[j], c->P[i]);
        failure = geometric_velocity(c, t + p->c[i] * h, c->Q[i], c->P[i], c->V[i]);
    }
    for (int i = 1; i < s && !failure.status; i++) {
        vector_copy(nq, x, c->phi);
        for (int j = 0; j < s; j++) vector_axpy(nq, h * p->a[i][j], c->V[j], c->phi);
        for (int k = 0; k < nq; k++) *change = fmax(*change, fabs(c->phi[k] - c->Q[i][k]));
        vector_copy(nq, c->phi, c->Q[i]);
    }
    if (!failure.status && !isfinite(*change)) failure = mechanism_evaluation(EVAL_RETRY);
    return failure;
}

/* Stages at rest on the tangent, p, and the factors at the beginning */
static mechanism_failure begin(geometric_cache *c, double t, double h, const double *x)
{
    mechanism *m = &c->system;
    const int nq = m->form->nq;
    mechanism_failure failure = mechanism_evaluate(m, t, x, m->rate, NULL);
    if (!failure.status) failure = mechanism_factor(m, m->G[0], m->G[0]);
    if (failure.status) return failure;
    failure = geometric_force(c, t, x, c->phi);
    mechanism_momentum(&c->system, x + nq, c->p);
    for (int i = 0; i < c->pair.stages; i++) {
        vector_copy(nq, x, c->Q[i]);
        vector_axpy(nq, c->pair.c[i] * h, x + nq, c->Q[i]);
        vector_copy(nq, x + nq, c->V[i]);
    }
    return failure;
}

/* v_1 = M_1^-1 (p + h sum b_j force_j - G'mu) on its constraint */
static mechanism_failure finish(geometric_cache *c, double t, double h, double *end)
{
    mechanism *m = &c->system;
    const lobatto_pair *p = &c->pair;
    const int nq = m->form->nq, s = p->stages;
    vector_copy(nq, c->Q[s - 1], end);
    vector_copy(nq, c->V[s - 1], end + nq);
    mechanism_failure failure = stage_force(c, t + h, s - 1); /* M, G and g_t at the end, too */
    if (!failure.status) failure = mechanism_factor(m, m->G[0], m->G[0]);
    if (failure.status) return failure;
    vector_copy(nq, c->p, end + nq);
    for (int j = 0; j < s; j++) vector_axpy(nq, h * p->b[j], c->force[j], end + nq);
    for (int i = 0; i < m->form->nl; i++) m->r[i] = -m->rate[i];
    saddle_solve_x(m->saddle, end + nq, m->r);
    return vector_finite(2 * nq, end) ? mechanism_ok() : mechanism_evaluation(EVAL_RETRY);
}

mechanism_failure lobatto_step(geometric_cache *c, double t, double h, const double *x, double *end)
{
    const lobatto_pair *p = &c->pair;
    const int s = p->stages;
    double last = INFINITY, scale = 0.0;
    mechanism_failure failure = begin(c, t, h, x);
    for (int i = 0; i < c->system.form->nq; i++) scale = fmax(scale, fabs(x[i]));
    for (int k = 0; k < MOST_ITERATIONS && !failure.status; k++) {
        double change = 0.0;
        for (int j = 0; j + 1 < s && !failure.status; j++)
            failure = stage_force(c, t + p->c[j] * h, j);
        if (!failure.status) failure = sweep(c, t, h, x, &change);
        if (!failure.status && c->system.form->nl > 0) failure = correct_multipliers(c, t, h);
        if (failure.status) return failure;
        if (geometric_settled(change, last, scale, FINEST)) return finish(c, t, h, end);
        last = change;
    }
    return failure.status ? failure : geometric_not_settled();
}
