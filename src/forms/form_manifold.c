#include "forms/form_manifold.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"

/* Ranks are told from rows scaled to 1; differences of the user's functions carry errors of 1e-10.
 */
static const double RANK_TOLERANCE = 1e-9;
/* A step this small, in units of the tolerances, leaves an error of about its square. */
static const double CLOSE = 1e-5, CLOSE_ENOUGH = 1e-2;
static const double NO_ROW = 1e-8; /* the scale of constraints that no variable can change */
enum { MOST_STEPS = 50, MOST_HALVINGS = 12 };

bool manifold_new(manifold *p, const form_matrix *matrix, const double *size)
{
    size_t m = (size_t)matrix->rows, n = (size_t)matrix->columns, count = matrix->count;
    *p = (manifold){.m = matrix->rows, .n = matrix->columns, .matrix = matrix, .size = size};
    p->A = DAE_ARRAY(double, 2 * count + 3 * m + 2 * n);
    if (!p->A) return false;
    p->scaled = p->A + count;
    p->row = p->scaled + count;
    p->c = p->row + m;
    p->b = p->c + m;
    p->dx = p->b + m;
    p->moved = p->dx + n;
    p->solver = kkt_new(p->m, p->n, matrix->colptr, matrix->rowind, NULL);
    return p->solver != NULL;
}

void manifold_free(manifold *p)
{
    kkt_free(p->solver);
    dae_free(p->A);
    *p = (manifold){0};
}

/* scaled_ij = A_ij size_j / row_i with row_i = max_j |A_ij size_j| */
static void scale(manifold *p, const double *values)
{
    for (int i = 0; i < p->m; i++) p->row[i] = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < p->n; j++) {
            size_t first;
            int count;
            form_matrix_column(p->matrix, j, &first, &count);
            for (int k = 0; k < count; k++) {
                double entry = values[first + (size_t)k] * p->size[j];
                double *row = &p->row[form_matrix_row(p->matrix, first, k)];
                if (pass == 0)
                    *row = fmax(*row, fabs(entry));
                else
                    p->scaled[first + (size_t)k] = *row > 0.0 ? entry / *row : 0.0;
            }
        }
}

manifold_status manifold_factor(manifold *p, const double *values)
{
    scale(p, values);
    linear_status status = kkt_factor(p->solver, p->scaled, RANK_TOLERANCE, 0.0);
    return status == LINEAR_OK ? MANIFOLD_OK : MANIFOLD_MEMORY;
}

void manifold_step(manifold *p, const double *c, double *dx)
{
    for (int i = 0; i < p->m; i++) p->b[i] = p->row[i] > 0.0 ? -c[i] / p->row[i] : 0.0;
    kkt_solve(p->solver, p->b, dx);
    for (int j = 0; j < p->n; j++) dx[j] *= p->size[j];
}

/* Row i of the scaled matrix, full. */
static void full_row(const manifold *p, int i, double *row)
{
    for (int j = 0; j < p->n; j++) {
        size_t first;
        int count;
        row[j] = 0.0;
        form_matrix_column(p->matrix, j, &first, &count);
        for (int k = 0; k < count; k++)
            if (form_matrix_row(p->matrix, first, k) == i) row[j] = p->scaled[first + (size_t)k];
    }
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
    for (int i = 0; Q && T && i < p->m && !found; i++) {
        double *q = Q + (size_t)i * n, *t = T + (size_t)i * m;
        full_row(p, i, q);
        double before = sqrt(vector_dot(p->n, q, q));
        t[i] = 1.0;
        for (int k = 0; k < 2 * i; k++) {
            int b = k % i;
            double part = vector_dot(p->n, Q + (size_t)b * n, q);
            vector_axpy(p->n, -part, Q + (size_t)b * n, q);
            vector_axpy(p->m, -part, T + (size_t)b * m, t);
        }
        double size = sqrt(vector_dot(p->n, q, q));
        found = size <= RANK_TOLERANCE * before;
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

/* max_i |c_i| / row_i, with where it is; rows without variables count as they are */
static double misfit(manifold *p, const double *c)
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

static double step_size(const manifold *p)
{
    double sum = 0.0;
    for (int j = 0; j < p->n; j++)
        if (p->size[j] > 0.0) sum += (p->dx[j] / p->size[j]) * (p->dx[j] / p->size[j]);
    return sqrt(sum / fmax(1.0, (double)p->n));
}

/* Take as much of the step as makes |c| smaller; p->c is c there. Steps that are close to the
 * solution are taken as they are, for |c| may be all rounding. */
static manifold_status damped_step(manifold *p, form_function c, void *context, double t, double *x,
                                   bool close)
{
    double before = misfit(p, p->c), part = 1.0;
    eval_status status = EVAL_OK;
    for (int k = 0; k < MOST_HALVINGS; k++, part *= 0.5) {
        vector_copy(p->n, x, p->moved);
        vector_axpy(p->n, part, p->dx, p->moved);
        status = c(context, t, p->moved, p->c);
        if (status == EVAL_STOP) return MANIFOLD_STOP;
        if (status != EVAL_OK) continue;
        if (close || misfit(p, p->c) < (1.0 - 0.25 * part) * before) {
            vector_copy(p->n, p->moved, x);
            return MANIFOLD_OK;
        }
    }
    return status == EVAL_OK ? MANIFOLD_FAR : MANIFOLD_RETRY;
}

static manifold_status from_eval(eval_status status)
{
    if (status == EVAL_OK) return MANIFOLD_OK;
    return status == EVAL_STOP ? MANIFOLD_STOP : MANIFOLD_RETRY;
}

manifold_status manifold_project(manifold *p, form_function c, manifold_jacobian jacobian,
                                 void *context, double t, double *x)
{
    double last = INFINITY;
    manifold_status status = from_eval(c(context, t, x, p->c));
    for (int k = 0; status == MANIFOLD_OK && k < MOST_STEPS; k++) {
        status = from_eval(jacobian(context, t, x, p->A));
        if (status == MANIFOLD_OK) status = manifold_factor(p, p->A);
        if (status != MANIFOLD_OK) return status;
        manifold_step(p, p->c, p->dx);
        double size = step_size(p);
        double rounding = 0.0;
        for (int j = 0; j < p->n; j++)
            if (p->size[j] > 0.0) rounding = fmax(rounding, fabs(x[j]) / p->size[j]);
        rounding *= 10.0 * DBL_EPSILON;
        bool stuck = size > 0.5 * last && size <= CLOSE_ENOUGH;
        bool close = size <= fmax(CLOSE, rounding) || stuck;
        double left = misfit(p, p->c);
        status = damped_step(p, c, context, t, x, close);
        /* a vanishing step is a solution only if nothing is left for it to remove */
        if (close)
            return left <= 10.0 * sqrt((double)p->n) * size + rounding + CLOSE ? status
                                                                               : MANIFOLD_FAR;
        last = size;
    }
    misfit(p, p->c);
    return status == MANIFOLD_OK ? MANIFOLD_FAR : status;
}
