/* x' where E is not regularly reducible: [E; g_x] x' = [f; -g_t] has more rows than columns but
 * agrees on the solution manifold. A QR factorisation with column pivoting tells its rank; large
 * sparse systems go through their Karush-Kuhn-Tucker matrix.
 *
 * This takes the place of the variant in the thesis' summary, which puts secants of stage values
 * for x' and so uses neither E nor f: on x' = x, x(0) = 1 it gives 2 instead of e. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "method/half_explicit/herk_parts.h"

/* Singular values below this part of the largest count as 0. */
static const double RANK_TOLERANCE = 1e-11;
enum { DENSE_UP_TO = 64 };

typedef struct stacked {
    int rows, n;
    bool sparse;
    least_squares qr; /* dense */
    kkt *augmented;   /* sparse, with its pattern */
    int *colptr, *rowind;
    double *values, *rhs, *scale;
} stacked;

void stacked_free(stacked *s)
{
    if (!s) return;
    least_squares_free(&s->qr);
    kkt_free(s->augmented);
    dae_free(s->colptr);
    dae_free(s->rowind);
    dae_free(s->values);
    dae_free(s->rhs);
    dae_free(s->scale);
    dae_free(s);
}

/* The pattern of [E; g_x] by columns */
static bool stack_patterns(stacked *s, const form_matrix *E, const form_matrix *g_x)
{
    s->colptr = DAE_ARRAY(int, s->n + 1);
    s->rowind = DAE_ARRAY(int, E->count + g_x->count);
    if (!s->colptr || !s->rowind) return false;
    int at = 0;
    for (int j = 0; j < s->n; j++) {
        for (int q = E->colptr[j]; q < E->colptr[j + 1]; q++) s->rowind[at++] = E->rowind[q];
        for (int q = g_x->colptr[j]; q < g_x->colptr[j + 1]; q++)
            s->rowind[at++] = E->rows + g_x->rowind[q];
        s->colptr[j + 1] = at;
    }
    s->augmented = kkt_new(s->rows, s->n, s->colptr, s->rowind, NULL);
    return s->augmented != NULL;
}

static stacked *stacked_new(const quasilinear_form *form)
{
    const form_matrix *E = &form->E_matrix, *g_x = &form->g_x_matrix;
    stacked *s = DAE_NEW(stacked);
    if (!s) return NULL;
    s->rows = form->ne + form->ng;
    s->n = form->n;
    s->sparse = E->colptr && g_x->colptr && s->n > DENSE_UP_TO;
    size_t count = s->sparse ? E->count + g_x->count : (size_t)s->rows * (size_t)s->n;
    s->values = DAE_ARRAY(double, count);
    s->rhs = DAE_ARRAY(double, s->rows > s->n ? s->rows : s->n);
    s->scale = DAE_ARRAY(double, s->rows);
    bool ok = s->values && s->rhs && s->scale;
    if (ok && s->sparse) ok = stack_patterns(s, E, g_x);
    if (ok && !s->sparse) ok = least_squares_new(&s->qr, s->rows, s->n);
    if (ok) return s;
    stacked_free(s);
    return NULL;
}

static void place_dense(stacked *s, const form_matrix *m, const double *values, int first)
{
    for (int j = 0; j < s->n; j++) {
        double *column = s->values + (size_t)j * (size_t)s->rows + first;
        if (!m->colptr) {
            vector_copy(m->rows, values + (size_t)j * (size_t)m->rows, column);
            continue;
        }
        vector_zero(m->rows, column);
        for (int q = m->colptr[j]; q < m->colptr[j + 1]; q++) column[m->rowind[q]] = values[q];
    }
}

/* scale_i := 1 / scale_i; the right-hand side goes along */
static void scale_right_hand_side(stacked *s)
{
    for (int i = 0; i < s->rows; i++) s->scale[i] = s->scale[i] > 0.0 ? 1.0 / s->scale[i] : 1.0;
    for (int i = 0; i < s->rows; i++) s->rhs[i] *= s->scale[i];
}

/* Rows scaled to a largest entry of 1: their units say nothing about the rank */
static void scale_dense(stacked *s)
{
    size_t rows = (size_t)s->rows, count = rows * (size_t)s->n;
    vector_zero(s->rows, s->scale);
    for (size_t q = 0; q < count; q++)
        s->scale[q % rows] = fmax(s->scale[q % rows], fabs(s->values[q]));
    scale_right_hand_side(s);
    for (size_t q = 0; q < count; q++) s->values[q] *= s->scale[q % rows];
}

static attempt_status solve_dense(herk_work *w, stacked *s, double *xp)
{
    place_dense(s, &w->form->E_matrix, w->E, 0);
    place_dense(s, &w->form->g_x_matrix, w->J_stage, w->ne);
    scale_dense(s);
    if (!least_squares_solve(&s->qr, s->rows, s->n, s->values, s->rhs, RANK_TOLERANCE))
        return ATTEMPT_MEMORY;
    int last = s->qr.pivots[s->n - 1] - 1;
    if (s->qr.rank < s->n)
        return herk_fail(
            w, ATTEMPT_SINGULAR,
            "[E; g_x] has not full rank: equations and constraints do not determine a derivative",
            last >= 0 && last < s->n ? last : -1, -1);
    vector_copy(s->n, s->rhs, xp);
    return ATTEMPT_OK;
}

/* Values on the stacked pattern, rows scaled to a largest entry of 1. */
static void place_sparse(herk_work *w, stacked *s)
{
    const form_matrix *E = &w->form->E_matrix, *g_x = &w->form->g_x_matrix;
    int at = 0;
    for (int j = 0; j < s->n; j++) {
        for (int q = E->colptr[j]; q < E->colptr[j + 1]; q++) s->values[at++] = w->E[q];
        for (int q = g_x->colptr[j]; q < g_x->colptr[j + 1]; q++) s->values[at++] = w->J_stage[q];
    }
    vector_zero(s->rows, s->scale);
    for (int q = 0; q < at; q++)
        s->scale[s->rowind[q]] = fmax(s->scale[s->rowind[q]], fabs(s->values[q]));
    scale_right_hand_side(s);
    for (int q = 0; q < at; q++) s->values[q] *= s->scale[s->rowind[q]];
}

static attempt_status solve_sparse(herk_work *w, stacked *s, double *xp)
{
    place_sparse(w, s);
    if (kkt_factor(s->augmented, s->values, RANK_TOLERANCE, 0.0) != LINEAR_OK)
        return ATTEMPT_MEMORY;
    kkt_solve(s->augmented, s->rhs, xp);
    int bad = vector_first_nonfinite(s->n, xp);
    if (bad < 0) return ATTEMPT_OK;
    return herk_fail(
        w, ATTEMPT_SINGULAR,
        "[E; g_x] has not full rank: equations and constraints do not determine a derivative", bad,
        -1);
}

attempt_status herk_general_derivative(herk_work *w, double t, const double *x, double *xp)
{
    if (!w->stacked) w->stacked = stacked_new(w->form);
    stacked *s = w->stacked;
    if (!s) return ATTEMPT_MEMORY;
    if (s->rows < s->n)
        return herk_fail(w, ATTEMPT_SINGULAR,
                         "E and g_x together have fewer rows than there are components", -1, -1);
    attempt_status status = herk_evaluation(herk_right_hand_side(w, t, x, s->rhs));
    if (status == ATTEMPT_OK) status = herk_evaluation(w->form->E(w->form->context, t, x, w->E));
    if (status == ATTEMPT_OK) status = herk_evaluation(herk_jacobian(w, t, x, w->J_stage));
    if (status == ATTEMPT_OK) status = herk_evaluation(herk_time_slope(w, t, x, w->g_t));
    if (status != ATTEMPT_OK) return status;
    for (int i = 0; i < w->ng; i++) s->rhs[w->ne + i] = -w->g_t[i];
    HERK_COUNT(w, factorisations);
    return s->sparse ? solve_sparse(w, s, xp) : solve_dense(w, s, xp);
}
