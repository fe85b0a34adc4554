/* Residual forms of the mechanical form that keep the constraints of two or three levels: GGL in
 * its variants, Fuehrer and Leimkuhler's multipliers, minimal extension and the reduced system.
 *
 * Notation: n = nq, k constraints, all with a position level. Rows and unknowns are those of the
 * form, with more behind them. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"
#include "forms/positions.h"

/* M, f, G, g_t, and g and the curvature where they are needed, at (t, q, v). */
static eval_status evaluate_all(form_instance *x, double t, const double *q, const double *v,
                                bool curved)
{
    mechanical_work *w = &x->mw;
    eval_status status =
        x->mechanical.evaluate(x, t, q, v, w->M, w->f, w->G, w->rate, curved ? w->curvature : NULL);
    if (status == EVAL_OK) status = x->mechanical.g(x, t, q, w->level);
    if (status == EVAL_OK) form_matrix_multiply(&x->mechanical.G_matrix, w->G, 1.0, v, w->rate);
    return status;
}

/* F_v = M a - f + G' lambda */
static void motion_rows(form_instance *x, const double *a, const double *lambda, double *F)
{
    const mechanical_form *form = &x->mechanical;
    const mechanical_work *w = &x->mw;
    for (int i = 0; i < form->nq; i++) F[i] = -w->f[i];
    form_matrix_multiply(&form->M_matrix, w->M, 1.0, a, F);
    form_matrix_transposed(&form->G_matrix, w->G, 1.0, lambda, F);
}

/* ---- GGL of second order ---- */

/* G(t, q)' eta for mw.eta */
static eval_status gradient_along(void *context, double t, const double *q, double *sum)
{
    form_instance *x = context;
    mechanical_work *w = &x->mw;
    const mechanical_form *form = &x->mechanical;
    eval_status status = form->evaluate(x, t, q, w->v, NULL, NULL, w->G_moved, NULL, NULL);
    vector_zero(form->nq, sum);
    if (status == EVAL_OK) form_matrix_transposed(&form->G_matrix, w->G_moved, 1.0, w->eta, sum);
    return status;
}

/* With v = q' + G' eta [Wun05 (7.19)]: F = (q' - p, M (p' + (G' eta)') - f(q, v) + G' lambda, ..,
 * g, G v + g_t); the unknown p is q'. */
static eval_status ggl2_rows(form_instance *x, double t, const double *y, const double *yp,
                             double *F)
{
    const mechanical_form *form = &x->mechanical;
    const dae_mechanical *m = &x->source->as.m;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    mechanical_work *w = &x->mw;
    int n = form->nq, k = form->nl;
    const double *q = y, *velocity = y + n, *lambda = y + p.lambda, *eta = lambda + k;
    double scale = difference_scale(n, q, velocity, m->nominal, time_scale_of(m->time_scale));
    w->eta = eta;
    vector_copy(n, velocity, w->v);
    eval_status status =
        difference_along(&w->along, gradient_along, x, t, q, velocity, scale, w->a);
    if (status == EVAL_OK) status = form->evaluate(x, t, q, w->v, NULL, NULL, w->G, NULL, NULL);
    if (status != EVAL_OK) return status;
    form_matrix_transposed(&form->G_matrix, w->G, 1.0, eta, w->v); /* v = q' + G' eta */
    form_matrix_transposed(&form->G_matrix, w->G, 1.0, yp + p.lambda + k, w->a);
    vector_axpy(n, 1.0, yp + n, w->a); /* a = p' + (G' eta)' */
    status = evaluate_all(x, t, q, w->v, false);
    if (status != EVAL_OK) return status;
    for (int i = 0; i < n; i++) F[i] = yp[i] - velocity[i];
    motion_rows(x, w->a, lambda, F + n);
    vector_copy(k, w->level, F + p.lambda);
    vector_copy(k, w->rate, F + p.lambda + k);
    return multibody_residual(x, t, y, yp, true, F);
}

/* ---- multipliers for all three levels ---- */

/* [FL91], [HW96 VII (2.26), (2.27)]: with a = M^-1 (f - G' lambda), K = d(G v + g_t)/dq,
 *   M (q' - v) + G' mu + K' eta = 0,  M v' - f + G' lambda + G' eta = 0,
 *   g = 0,  G v + g_t = 0,  G a + curvature = 0.
 * ODASSL's relatives [Fue88] measure the residuals by their length, and not by M:
 *   q' - v + G' mu + K' eta = 0,  M (M v' - f + G' lambda) + G' eta = 0. */
static eval_status fuehrer_rows(form_instance *x, double t, const double *y, const double *yp,
                                double *F)
{
    const mechanical_form *form = &x->mechanical;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    mechanical_work *w = &x->mw;
    bool plain = !x->rewriting->weighted;
    int n = form->nq, k = form->nl;
    const double *v = y + n, *lambda = y + p.lambda, *mu = lambda + k, *eta = mu + k;
    double *c = F + p.lambda;
    eval_status status = mechanical_acceleration(x, t, y, v, lambda, w->a);
    if (status == EVAL_OK) status = mechanical_velocity_jacobian(x, t, y, v, w->K);
    if (status == EVAL_OK) status = evaluate_all(x, t, y, v, true);
    if (status != EVAL_OK) return status;
    vector_copy(k, w->level, c);
    vector_copy(k, w->rate, c + k);
    vector_copy(k, w->curvature, c + 2 * k);
    form_matrix_multiply(&form->G_matrix, w->G, 1.0, w->a, c + 2 * k);
    double *miss = w->a; /* q' - v, then what is left of the motion */
    for (int i = 0; i < n; i++) miss[i] = yp[i] - v[i];
    vector_zero(n, F);
    if (plain)
        vector_copy(n, miss, F);
    else
        form_matrix_multiply(&form->M_matrix, w->M, 1.0, miss, F);
    form_matrix_transposed(&form->G_matrix, w->G, 1.0, mu, F);
    form_matrix_transposed(&form->G_matrix, w->K, 1.0, eta, F);
    motion_rows(x, yp + n, lambda, miss);
    vector_zero(n, F + n);
    if (plain)
        form_matrix_multiply(&form->M_matrix, w->M, 1.0, miss, F + n);
    else
        vector_copy(n, miss, F + n);
    form_matrix_transposed(&form->G_matrix, w->G, 1.0, eta, F + n);
    return multibody_residual(x, t, y, yp, true, F);
}

/* ---- a choice of positions ---- */

/* Minimal extension [Wun05 (7.13), (7.31)]: of the positions p2 (w->dependent) q' = v is replaced
 * by the velocity constraints, and q'' by unknowns w2: M (p1'', w2) = f - G' lambda, with g, and G
 * (p1'', w2) + curvature = 0 behind. */
static eval_status minimal_rows(form_instance *x, double t, const double *y, const double *yp,
                                double *F)
{
    const mechanical_form *form = &x->mechanical;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    mechanical_work *w = &x->mw;
    int n = form->nq, k = form->nl, next = form_next_kept(x, 0);
    const double *v = y + n, *lambda = y + p.lambda, *w2 = lambda + k;
    eval_status status = evaluate_all(x, t, y, v, true);
    if (status != EVAL_OK) return status;
    for (int i = 0; i < n; i++) {
        bool chosen = w->dependent[i];
        F[i] = chosen ? w->rate[next] : yp[i] - v[i];
        w->a[i] = chosen ? w2[next] : yp[n + i];
        if (chosen) next = form_next_kept(x, next + 1);
    }
    motion_rows(x, w->a, lambda, F + n);
    vector_copy(k, w->level, F + p.lambda);
    vector_copy(k, w->curvature, F + p.lambda + k);
    form_matrix_multiply(&form->G_matrix, w->G, 1.0, w->a, F + p.lambda + k);
    return multibody_residual(x, t, y, yp, true, F);
}

/* The reduced strangeness-free system, without w2: p1'' = a1 with a = M^-1 (f - G' lambda), and g,
 * G v + g_t, G a + curvature = 0 [Wun05 7.2.2]. */
static eval_status reduced_rows(form_instance *x, double t, const double *y, const double *yp,
                                double *F)
{
    const mechanical_form *form = &x->mechanical;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    mechanical_work *w = &x->mw;
    int n = form->nq, next = form_next_kept(x, 0);
    const double *v = y + n;
    eval_status status = mechanical_acceleration(x, t, y, v, y + p.lambda, w->a);
    if (status == EVAL_OK) status = evaluate_all(x, t, y, v, true);
    if (status != EVAL_OK) return status;
    form_matrix_multiply(&form->G_matrix, w->G, 1.0, w->a, w->curvature);
    for (int i = 0; i < n; i++) {
        bool chosen = w->dependent[i];
        F[i] = chosen ? w->rate[next] : yp[i] - v[i];
        F[n + i] = chosen ? w->curvature[next] : yp[n + i] - w->a[i];
        if (chosen) next = form_next_kept(x, next + 1);
    }
    vector_copy(form->nl, w->level, F + p.lambda);
    return multibody_residual(x, t, y, yp, true, F);
}

/* For constraints that all have a position level */
#define HOLONOMIC(ROWS, V, LAMBDA)                                                                 \
    .rows = (ROWS), .positions = true, .holonomic = true, .velocity = DAE_KIND_##V,                \
    .multiplier = DAE_KIND_##LAMBDA
#define THREE_LEVELS .levels = LEVEL_POSITION | LEVEL_VELOCITY | LEVEL_ACCELERATION
#define WITH_MU_AND_ETA                                                                            \
    .added = 2, .added_kind = DAE_KIND_INDEX2, .added_name = {"mu of ", "eta of "},                \
    .added_row = {"rate of ", "curvature of "}

/* q' is an unknown beside v; lambda has the errors of eta' */
const form_rewriting mechanical_ggl2 = {HOLONOMIC(ggl2_rows, INDEX2, INDEX3),
                                        .levels = LEVEL_POSITION | LEVEL_VELOCITY,
                                        .kinematic = true,
                                        .added = 1,
                                        .added_kind = DAE_KIND_INDEX2,
                                        .added_name = {"mu of "},
                                        .added_row = {"rate of "}};
const form_rewriting mechanical_fuehrer = {HOLONOMIC(fuehrer_rows, DIFFERENTIAL, INDEX1),
                                           THREE_LEVELS, WITH_MU_AND_ETA, .weighted = true};
const form_rewriting mechanical_odassl = {HOLONOMIC(fuehrer_rows, DIFFERENTIAL, INDEX1),
                                          THREE_LEVELS, WITH_MU_AND_ETA};
const form_rewriting mechanical_minimal = {HOLONOMIC(minimal_rows, DIFFERENTIAL, INDEX1),
                                           THREE_LEVELS,
                                           .kinematic = true,
                                           .chooses = true,
                                           .added = 1,
                                           .added_kind = DAE_KIND_INDEX1,
                                           .added_name = {"w of "},
                                           .added_row = {"curvature of "}};
const form_rewriting mechanical_reduced = {HOLONOMIC(reduced_rows, DIFFERENTIAL, INDEX1),
                                           THREE_LEVELS, .kinematic = true, .chooses = true};

/* ---- the choice ---- */

/* Work for the choice; dense G of the constraints that are kept, row i at [i * n]. Returns how many
 * they are. */
static int dense_gradient(const form_instance *x, const double *values, double *G)
{
    int kept = 0;
    const form_matrix *m = &x->mechanical.G_matrix;
    const double *nominal = x->source->as.m.nominal;
    memset(G, 0, (size_t)m->rows * (size_t)m->columns * sizeof *G);
    for (form_entry e = {0}; form_matrix_next(m, &e);)
        G[e.row * m->columns + e.column] = values[e.at] * (nominal ? nominal[e.column] : 1.0);
    for (int l = form_next_kept(x, 0); l < m->rows; l = form_next_kept(x, l + 1), kept++)
        memmove(G + kept * m->columns, G + l * m->columns, (size_t)m->columns * sizeof *G);
    return kept;
}

/* The same of g_y, all rows. */
static int dense_of_hessenberg(const form_instance *x, const double *values, double *G)
{
    const form_matrix *m = &x->hessenberg.g_y_matrix;
    const double *nominal = x->source->as.h.nominal;
    memset(G, 0, (size_t)m->rows * (size_t)m->columns * sizeof *G);
    for (form_entry e = {0}; form_matrix_next(m, &e);)
        G[e.row * m->columns + e.column] = values[e.at] * (nominal ? nominal[e.column] : 1.0);
    return m->rows;
}

/* The derivatives of the constraints by what is chosen from, dense; their number, -1: they cannot
 * be evaluated. */
static int take_dense(form_instance *x, double t, const double *y)
{
    const mechanical_form *form = &x->mechanical;
    mechanical_work *w = &x->mw;
    if (x->source->kind == KIND_HESSENBERG)
        return x->hessenberg.g_y(x, t, y, x->hw.values) == EVAL_OK
                   ? dense_of_hessenberg(x, x->hw.values, w->dense)
                   : -1;
    multibody_at(x, y);
    if (form->evaluate(x, t, y, y + form->nq, NULL, NULL, w->G, NULL, NULL) != EVAL_OK) return -1;
    return dense_gradient(x, w->G, w->dense);
}

form_choice form_instance_choose(form_instance *x, double t, const double *y, bool anew)
{
    mechanical_work *w = &x->mw;
    const bool hessenberg = x->source->kind == KIND_HESSENBERG;
    const int n = hessenberg ? x->hessenberg.ny : x->mechanical.nq;
    if (!x->rewriting->chooses || x->source->constraints == 0) return CHOICE_KEPT;
    int k = take_dense(x, t, y);
    if (k < 0) return CHOICE_EVALUATION;
    if (!anew && positions_eliminate(k, n, w->dense, w->dependent, true) <= POSITIONS_WORST)
        return CHOICE_KEPT;
    if (hessenberg)
        dense_of_hessenberg(x, x->hw.values, w->dense);
    else
        dense_gradient(x, w->G, w->dense);
    memcpy(w->before, w->dependent, (size_t)n * sizeof(bool));
    if (!(positions_eliminate(k, n, w->dense, w->dependent, false) < INFINITY))
        return CHOICE_SINGULAR;
    bool same = memcmp(w->before, w->dependent, (size_t)n * sizeof(bool)) == 0;
    return same ? CHOICE_KEPT : CHOICE_CHANGED;
}

void form_instance_complete(const form_instance *x, double *y, double *yp)
{
    const mechanical_form *form = &x->mechanical;
    double *w2 = y + x->source->n, *slope = yp + x->source->n;
    if (!x->rewriting->chooses || x->rewriting->added == 0) return;
    int next = form_next_kept(x, 0);
    for (int l = 0; l < form->nl; l++) w2[l] = slope[l] = 0.0;
    for (int i = 0; i < form->nq; i++) {
        if (!x->mw.dependent[i]) continue;
        w2[next] = yp[form->nq + i];
        next = form_next_kept(x, next + 1);
    }
}

/* What is chosen from, and the first ones until there is a point. False: memory. */
static bool choice_room(mechanical_work *w, size_t n, size_t k)
{
    w->dependent = DAE_ARRAY(bool, 3 * n + k);
    if (!w->dependent) return false;
    w->before = w->dependent + 2 * n + k;
    for (size_t i = 0; i < k && i < n; i++) w->dependent[i] = true;
    return true;
}

bool stabilised_build(form_instance *x)
{
    mechanical_work *w = &x->mw;
    size_t n = (size_t)x->mechanical.nq, k = (size_t)x->mechanical.nl;
    const form_matrix square = {.rows = (int)n, .columns = (int)n, .count = n * n};
    w->K = DAE_ARRAY(double, x->mechanical.G_matrix.count);
    return w->K && choice_room(w, n, k) && differencer_new(&w->along, &square);
}

bool stabilised_prepare_choice(form_instance *x)
{
    const bool hessenberg = x->source->kind == KIND_HESSENBERG;
    const size_t n = (size_t)(hessenberg ? x->hessenberg.ny : x->mechanical.nq);
    const size_t k = (size_t)(hessenberg ? x->hessenberg.nz : x->mechanical.nl);
    if (!x->mw.dense) x->mw.dense = DAE_ARRAY(double, n *k + k);
    if (!x->mw.dense) return false;
    return x->mw.dependent || choice_room(&x->mw, n, k);
}

void stabilised_release(form_instance *x)
{
    dae_free(x->mw.dense);
    differencer_free(&x->mw.along);
    dae_free_all(x->mw.K, x->mw.dependent);
}
