#include "forms/form_manifold.h"

#include <math.h>

#include "base/memory.h"
#include "base/vector.h"

/* Ranks are told from rows scaled to 1; differences of the user's functions carry errors of 1e-10.
 */
static const double RANK_TOLERANCE = 1e-9;
static const double NO_ROW = 1e-8; /* the scale of constraints that no variable can change */

bool manifold_new(manifold *p, const form_matrix *matrix, const double *size, const bool *free)
{
    size_t m = (size_t)matrix->rows, n = (size_t)matrix->columns, count = matrix->count;
    *p = (manifold){.m = matrix->rows,
                    .n = matrix->columns,
                    .matrix = matrix,
                    .size = size,
                    .rank = RANK_TOLERANCE};
    if (!SHARED_BLOCK(SHARE(p->A, count), SHARE(p->scaled, count), SHARE(p->row, m), SHARE(p->c, m),
                      SHARE(p->b, m), SHARE(p->dx, n), SHARE(p->moved, n)))
        return false;
    p->solver = kkt_new(p->m, p->n, matrix->colptr, matrix->rowind, free);
    return p->solver && kkt_reserve(p->solver); /* steps ask for no memory */
}

void manifold_free(manifold *p)
{
    kkt_free(p->solver);
    dae_free(p->A);
    *p = (manifold){0};
}

/* scaled_ij = A_ij size_j / row_i with row_i = max_j |A_ij size_j|, or 0 */
static void scale(manifold *p, const double *values)
{
    vector_zero(p->m, p->row);
    for (form_entry e = {0}; form_matrix_next(p->matrix, &e);)
        p->row[e.row] = fmax(p->row[e.row], fabs(values[e.at] * p->size[e.column]));
    for (int i = 0; p->floor && i < p->m; i++)
        if (p->row[i] <= p->floor[i]) p->row[i] = 0.0;
    for (form_entry e = {0}; form_matrix_next(p->matrix, &e);) {
        double row = p->row[e.row], entry = values[e.at] * p->size[e.column];
        p->scaled[e.at] = row > 0.0 ? entry / row : 0.0;
    }
}

bool manifold_factor(manifold *p, const double *values)
{
    scale(p, values);
    return kkt_factor(p->solver, p->scaled, p->rank, 0.0) == LINEAR_OK;
}

void manifold_step(manifold *p, const double *c, double *dx)
{
    for (int i = 0; i < p->m; i++) p->b[i] = p->row[i] > 0.0 ? -c[i] / p->row[i] : 0.0;
    kkt_solve(p->solver, p->b, dx);
    for (int j = 0; j < p->n; j++) dx[j] *= p->size[j];
}

/* Gram and Schmidt's q_i = sum_j T_ij a_j for the rows a_j one after another, each twice, until one
 * is all in the span of those before: then y tells how. False: none is. Without memory the last
 * one is blamed. */
static bool first_dependent_row(const manifold *p, double *y)
{
    size_t m = (size_t)p->m, n = (size_t)p->n;
    double *Q = DAE_ARRAY(double, m *n), *T = DAE_ARRAY(double, m *m);
    bool found = !Q || !T;
    if (found) y[m - 1] = 1.0;
    if (!found) form_matrix_place(p->matrix, p->scaled, n, 1, Q);
    for (int i = 0; Q && T && i < p->m && !found; i++) {
        double *q = Q + (size_t)i * n, *t = T + (size_t)i * m;
        double before = sqrt(vector_dot(p->n, q, q));
        t[i] = 1.0;
        for (int k = 0; k < 2 * i; k++) {
            int b = k % i;
            double part = vector_dot(p->n, Q + (size_t)b * n, q);
            vector_axpy(p->n, -part, Q + (size_t)b * n, q);
            vector_axpy(p->m, -part, T + (size_t)b * m, t);
        }
        double size = sqrt(vector_dot(p->n, q, q));
        found = size <= p->rank * before;
        if (found) vector_copy(p->m, t, y);
        for (int j = 0; !found && j < p->n; j++) q[j] /= size;
        for (int j = 0; !found && j < p->m; j++) t[j] /= size;
    }
    dae_free_all(Q, T);
    return found;
}

bool manifold_dependent(manifold *p, double *y)
{
    for (int i = 0; i < p->m; i++) y[i] = 0.0;
    for (int i = 0; i < p->m; i++)
        if (p->row[i] == 0.0) {
            y[i] = 1.0;
            return true;
        }
    bool dense = kkt_is_dense(p->solver);
    if (dense && (kkt_rank(p->solver) >= p->m || !first_dependent_row(p, y))) return false;
    if (!dense && !kkt_dependent(p->solver, 1u, y)) return false;
    double most = fabs(y[vector_argmax(p->m, y, NULL)]);
    for (int i = 0; i < p->m; i++) y[i] /= most;
    return true;
}

double manifold_misfit(manifold *p, const double *c)
{
    p->misfit = 0.0;
    p->worst = 0;
    for (int i = 0; i < p->m; i++) {
        double size = p->row[i] > 0.0 ? fabs(c[i]) / p->row[i] : fabs(c[i]) / NO_ROW;
        if (!(size > p->misfit)) continue;
        p->misfit = size;
        p->worst = i;
    }
    return p->misfit;
}
