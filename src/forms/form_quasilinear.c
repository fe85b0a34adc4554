/* The quasilinear form E x' = f, 0 = g: from callbacks, or with all levels of the constraints from
 * the mechanical and the Hessenberg form. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"

static double time_scale(const form_instance *x)
{
    double given = 0.0;
    switch (x->source->kind) {
    case KIND_MECHANICAL: given = x->source->as.m.time_scale; break;
    case KIND_HESSENBERG: given = x->source->as.h.time_scale; break;
    case KIND_QUASILINEAR: given = x->source->as.x.time_scale; break;
    case KIND_SECOND_ORDER:
    case FORM_KINDS: break;
    }
    return time_scale_of(given);
}

/* ---- from callbacks ---- */

static const dae_quasilinear *form_of(const form_instance *x)
{
    return &x->source->as.x;
}

static eval_status call(form_instance *x, dae_quasilinear_fn fn, const char *name, double t,
                        const double *at_x, int count, int first_row, double *out)
{
    const dae_quasilinear_point at = {t, at_x};
    int code = fn(&at, out, form_of(x)->user);
    return form_judge(x, name, t, code, (size_t)count, out, first_row, NULL);
}

static eval_status call_matrix(form_instance *x, dae_quasilinear_fn fn, const char *name, double t,
                               const double *at_x, const form_matrix *m, int first_row,
                               double *values)
{
    const dae_quasilinear_point at = {t, at_x};
    memset(values, 0, m->count * sizeof *values);
    int code = fn(&at, values, form_of(x)->user);
    return form_judge(x, name, t, code, m->count, values, first_row, m);
}

/* What the user calls a callback: the names of the manifold form, or of the quasilinear one */
static const char *called(const form_instance *x, const char *manifold, const char *quasilinear)
{
    return x->source->manifold ? manifold : quasilinear;
}

static eval_status eval_E(void *context, double t, const double *at, double *values)
{
    form_instance *x = context;
    if (form_of(x)->E)
        return call_matrix(x, form_of(x)->E, "E", t, at, &x->quasilinear.E_matrix, 0, values);
    for (int i = 0; i < form_of(x)->n; i++) values[i] = 1.0;
    return EVAL_OK;
}

static eval_status eval_f(void *context, double t, const double *at, double *f)
{
    form_instance *x = context;
    x->eval->stats->residuals++;
    return call(x, form_of(x)->f, called(x, "phi", "f"), t, at, form_of(x)->ne, 0, f);
}

static eval_status eval_g(void *context, double t, const double *at, double *g)
{
    form_instance *x = context;
    const dae_quasilinear *form = form_of(x);
    return form->ng > 0 ? call(x, form->g, called(x, "c", "g"), t, at, form->ng, form->ne, g)
                        : EVAL_OK;
}

/* g of any origin, counted as one evaluation for differences, whatever it takes */
static eval_status g_difference(void *context, double t, const double *at, double *g)
{
    form_instance *x = context;
    dae_stats *stats = x->eval->stats;
    long residuals = stats->residuals, matrices = stats->jacobians;
    long differences = stats->jacobian_residuals;
    eval_status status = x->quasilinear.g(x, t, at, g);
    stats->residuals = residuals;
    stats->jacobians = matrices;
    stats->jacobian_residuals = differences + 1;
    return status;
}

static eval_status difference_g_x(form_instance *x, double t, const double *at, double *values)
{
    return difference_matrix(&x->qw.by_x, &x->quasilinear.g_x_matrix, g_difference, x, t, at,
                             x->qw.nominal, values);
}

static eval_status difference_g_t(void *context, double t, const double *at, double *g_t)
{
    form_instance *x = context;
    return difference_along(&x->qw.by_x, g_difference, x, t, at, NULL, time_scale(x), g_t);
}

static eval_status eval_g_x(void *context, double t, const double *at, double *values)
{
    form_instance *x = context;
    const dae_quasilinear *form = form_of(x);
    x->eval->stats->jacobians++;
    if (!form->g_x) return difference_g_x(x, t, at, values);
    return call_matrix(x, form->g_x, called(x, "c_x", "g_x"), t, at, &x->quasilinear.g_x_matrix,
                       form->ne, values);
}

static eval_status eval_g_t(void *context, double t, const double *at, double *g_t)
{
    form_instance *x = context;
    const dae_quasilinear *form = form_of(x);
    if (form->autonomous || form->ng == 0) {
        vector_zero(form->ng, g_t);
        return EVAL_OK;
    }
    if (form->g_t)
        return call(x, form->g_t, called(x, "c_t", "g_t"), t, at, form->ng, form->ne, g_t);
    return difference_g_t(x, t, at, g_t);
}

static void from_callbacks(form_instance *x)
{
    const dae_quasilinear *form = form_of(x);
    const int *colptr = form->E ? form->E_pattern.colptr : x->source->mass.colptr;
    const int *rowind = form->E ? form->E_pattern.rowind : x->source->mass.rowind;
    x->quasilinear =
        (quasilinear_form){.n = form->n,
                           .ne = form->ne,
                           .ng = form->ng,
                           .context = x,
                           .E = eval_E,
                           .f = eval_f,
                           .g = eval_g,
                           .g_x = eval_g_x,
                           .g_t = eval_g_t,
                           .E_matrix = form_matrix_on(form->ne, form->n, colptr, rowind),
                           .g_x_matrix = form_matrix_on(form->ng, form->n, form->g_x_pattern.colptr,
                                                        form->g_x_pattern.rowind)};
    x->quasilinear.E_matrix.constant = form->E_constant || !form->E;
    x->quasilinear.E_matrix.diagonal = !form->E;
    x->quasilinear.differenced = !form->g_x;
}

/* ---- from the mechanical form: x = (q, v, lambda), E = diag(I, M, no rows) ---- */

static eval_status mechanical_E(void *context, double t, const double *at, double *values)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    for (int i = 0; i < m->nq; i++) values[i] = 1.0;
    return m->evaluate(m->context, t, at, at + m->nq, values + m->nq, NULL, NULL, NULL, NULL);
}

static eval_status mechanical_f(void *context, double t, const double *at, double *f)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    const double *v = at + m->nq, *lambda = v + m->nq;
    vector_copy(m->nq, v, f);
    eval_status status =
        m->evaluate(m->context, t, at, v, NULL, f + m->nq, m->nl > 0 ? x->mw.G : NULL, NULL, NULL);
    if (status == EVAL_OK) form_matrix_transposed(&m->G_matrix, x->mw.G, -1.0, lambda, f + m->nq);
    return status;
}

/* g, G v + g_t, G v' + curvature */
static eval_status mechanical_g(void *context, double t, const double *at, double *g)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    mechanical_work *w = &x->mw;
    const double *v = at + m->nq, *lambda = v + m->nq;
    int k = m->nl;
    if (k == 0) return EVAL_OK;
    eval_status status = m->g(m->context, t, at, g);
    if (status == EVAL_OK) status = mechanical_acceleration(x, t, at, v, lambda, w->a);
    if (status == EVAL_OK)
        status = m->evaluate(m->context, t, at, v, NULL, NULL, NULL, g + k, g + 2 * k);
    if (status != EVAL_OK) return status;
    form_matrix_multiply(&m->G_matrix, w->G, 1.0, v, g + k);
    form_matrix_multiply(&m->G_matrix, w->G, 1.0, w->a, g + 2 * k);
    return EVAL_OK;
}

/* Differences, but for the blocks of G that are known exactly. */
static eval_status mechanical_g_x(void *context, double t, const double *at, double *values)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    eval_status status = difference_g_x(x, t, at, values);
    if (status != EVAL_OK || m->nl == 0) return status;
    const double *v = at + m->nq;
    status = m->evaluate(m->context, t, at, v, NULL, NULL, x->mw.G, NULL, NULL);
    if (status != EVAL_OK) return status;
    size_t height = 3 * (size_t)m->nl, width = (size_t)m->nq;
    form_matrix_place(&m->G_matrix, x->mw.G, 1, height, values);
    form_matrix_place(&m->G_matrix, x->mw.G, 1, height, values + m->nl + width * height);
    return EVAL_OK;
}

/* diag(I, M) in compressed columns: the values of M follow nq ones. */
static bool mechanical_pattern(form_pattern *p, const form_matrix *M, int n)
{
    int q = M->columns;
    p->colptr = DAE_ARRAY(int, n + 1);
    p->rowind = DAE_ARRAY(int, (size_t)q + M->count);
    if (!p->colptr || !p->rowind) return false;
    for (int j = 0; j < q; j++) {
        p->colptr[j] = p->rowind[j] = j;
        p->colptr[q + j] = q + (int)form_matrix_column(M, j).next;
    }
    for (form_entry e = {0}; form_matrix_next(M, &e);) p->rowind[q + (int)e.at] = q + e.row;
    for (int j = 2 * q; j <= n; j++) p->colptr[j] = q + (int)M->count;
    return true;
}

static bool from_mechanical(form_instance *x)
{
    const mechanical_form *m = &x->mechanical;
    int n = 2 * m->nq + m->nl;
    if (!mechanical_pattern(&x->qw.E_pattern, &m->M_matrix, n)) return false;
    x->quasilinear = (quasilinear_form){
        .n = n,
        .ne = 2 * m->nq,
        .ng = 3 * m->nl,
        .context = x,
        .E = mechanical_E,
        .f = mechanical_f,
        .g = mechanical_g,
        .g_x = mechanical_g_x,
        .g_t = difference_g_t,
        .E_matrix = form_matrix_on(2 * m->nq, n, x->qw.E_pattern.colptr, x->qw.E_pattern.rowind),
        .g_x_matrix = form_matrix_dense(3 * m->nl, n)};
    x->quasilinear.E_matrix.constant = m->M_matrix.constant;
    x->quasilinear.differenced = true;
    return true;
}

/* ---- from the Hessenberg form: x = (y, z, u), E = (I 0 0) ---- */

static eval_status hessenberg_E(void *context, double t, const double *at, double *values)
{
    form_instance *x = context;
    (void)t, (void)at;
    for (int i = 0; i < x->hessenberg.ny; i++) values[i] = 1.0;
    return EVAL_OK;
}

static eval_status hessenberg_f(void *context, double t, const double *at, double *f)
{
    form_instance *x = context;
    const hessenberg_form *h = &x->hessenberg;
    return h->f(h->context, t, at, at + h->ny, at + h->ny + h->nz, f);
}

/* g, g_y f + g_t, k */
static eval_status hessenberg_g(void *context, double t, const double *at, double *g)
{
    form_instance *x = context;
    const hessenberg_form *h = &x->hessenberg;
    const double *z = at + h->ny, *u = z + h->nz;
    double *f = x->qw.f;
    eval_status status = h->g(h->context, t, at, g);
    if (!status) status = h->f(h->context, t, at, z, u, f);
    if (!status) status = hessenberg_rate(x, t, at, f, g + h->nz);
    if (!status && h->nu > 0) status = h->k(h->context, t, at, z, u, g + 2 * h->nz);
    return status;
}

static eval_status hessenberg_g_x(void *context, double t, const double *at, double *values)
{
    return difference_g_x(context, t, at, values);
}

static bool from_hessenberg(form_instance *x)
{
    const hessenberg_form *h = &x->hessenberg;
    int n = h->ny + h->nz + h->nu;
    form_pattern *p = &x->qw.E_pattern;
    p->colptr = DAE_ARRAY(int, n + 1);
    p->rowind = DAE_ARRAY(int, h->ny);
    if (!p->colptr || !p->rowind) return false;
    for (int j = 0; j <= n; j++) p->colptr[j] = j < h->ny ? j : h->ny;
    for (int j = 0; j < h->ny; j++) p->rowind[j] = j;
    x->quasilinear = (quasilinear_form){.n = n,
                                        .ne = h->ny,
                                        .ng = 2 * h->nz + h->nu,
                                        .context = x,
                                        .E = hessenberg_E,
                                        .f = hessenberg_f,
                                        .g = hessenberg_g,
                                        .g_x = hessenberg_g_x,
                                        .g_t = difference_g_t,
                                        .E_matrix = form_matrix_on(h->ny, n, p->colptr, p->rowind),
                                        .g_x_matrix = form_matrix_dense(2 * h->nz + h->nu, n)};
    x->quasilinear.E_matrix.constant = true;
    x->quasilinear.differenced = true;
    return true;
}

/* ---- life ---- */

/* Typical sizes of all unknowns: those of v follow from q, those of lambda are 1. */
static void set_nominal(form_instance *x)
{
    const form_source *s = x->source;
    double *nominal = x->qw.nominal;
    const double *given = s->kind == KIND_HESSENBERG ? s->as.h.nominal : s->as.x.nominal;
    for (int i = 0; i < s->n; i++) nominal[i] = 1.0;
    if (s->kind != KIND_MECHANICAL) {
        if (given) vector_copy(s->n, given, nominal);
        return;
    }
    const dae_mechanical *m = &s->as.m;
    for (int i = 0; m->nominal && i < m->nq; i++) {
        nominal[i] = m->nominal[i];
        nominal[m->nq + i] = m->nominal[i] / time_scale(x);
    }
}

static bool allocate(form_instance *x)
{
    quasilinear_work *w = &x->qw;
    const quasilinear_form *q = &x->quasilinear;
    size_t n = (size_t)q->n, ne = (size_t)q->ne, ng = (size_t)q->ng;
    if (!SHARED_BLOCK(SHARE(w->E, q->E_matrix.count), SHARE(w->slope, q->g_x_matrix.count),
                      SHARE(w->f, ne), SHARE(w->g, ng), SHARE(w->rate, ng),
                      SHARE(w->rest, ng + ne + n), SHARE(w->nominal, n)))
        return false;
    set_nominal(x);
    return differencer_new(&w->by_x, &q->g_x_matrix);
}

bool quasilinear_build(form_instance *x)
{
    bool ok = true;
    switch (x->source->kind) {
    case KIND_MECHANICAL: ok = from_mechanical(x); break;
    case KIND_HESSENBERG: ok = from_hessenberg(x); break;
    case KIND_QUASILINEAR: from_callbacks(x); break;
    case KIND_SECOND_ORDER:
    case FORM_KINDS: break;
    }
    if (!ok || !allocate(x)) return false;
    x->set.quasilinear = &x->quasilinear;
    x->set.quasilinear_places = (form_places){.q = x->places};
    return true;
}

void quasilinear_release(form_instance *x)
{
    differencer_free(&x->qw.by_x);
    dae_free_all(x->qw.E_pattern.colptr, x->qw.E_pattern.rowind, x->qw.E);
}
