/* Consistent initial values of the Hessenberg form: y on 0 = g, then z and u. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "init/forms_parts.h"

/* H(z, u) = (g_y f + g_t, k) at fixed y: [BH93 (3.6)] gives z */
typedef struct closing {
    form_instance *x;
    const double *y;
    double *f, *g_t; /* ny; nz: g_t, with g_y in hw.values, found once; borrowed */
    form_matrix matrix;
    differencer difference;
} closing;

static eval_status closing_value(void *context, double t, const double *w, double *H)
{
    closing *c = context;
    const hessenberg_form *h = &c->x->hessenberg;
    eval_status status = h->f(c->x, t, c->y, w, w + h->nz, c->f);
    if (!status && h->nu > 0) status = h->k(c->x, t, c->y, w, w + h->nz, H + h->nz);
    if (status != EVAL_OK) return status;
    vector_copy(h->nz, c->g_t, H);
    form_matrix_multiply(&h->g_y_matrix, c->x->hw.values, 1.0, c->f, H);
    return EVAL_OK;
}

static eval_status closing_jacobian(void *context, double t, const double *w, double *values)
{
    closing *c = context;
    const double *nominal = c->x->source->as.h.nominal;
    return difference_matrix(&c->difference, &c->matrix, closing_value, c, t, w,
                             nominal ? nominal + c->x->hessenberg.ny : NULL, values);
}

static dae_status report_closing(const start *s, manifold *p, engine_outcome moved)
{
    const hessenberg_form *h = &s->x->hessenberg;
    bool judged = moved == ENGINE_MET || moved == ENGINE_STALLED;
    if (judged && manifold_dependent(p, p->dx)) {
        int worst = vector_argmax(p->m, p->dx, NULL);
        if (worst < h->nz) start_constraint(s, worst);
        return diag_set(s->diag, DAE_ERR_SINGULAR,
                        "%s is singular at t = %.9g, at %s %s: z and u are not determined there, "
                        "the index is above 2.",
                        h->nu > 0 ? "The derivative of (g_y f, k) by (z, u)" : "g_y f_z", s->t,
                        worst < h->nz ? "constraint" : "equation",
                        s->x->source->equation_names[h->ny + worst]);
    }
    if (moved != ENGINE_STALLED) return start_moved(s, p, moved, "constraint");
    return diag_set(s->diag, DAE_ERR_INITIAL,
                    "No z and u were found near those given for which g_y f + g_t = 0 and k = 0 "
                    "hold at t = %.9g: %s is farthest from it.",
                    s->t, s->x->source->equation_names[h->ny + p->worst]);
}

/* z and u at fixed y: square, so that the shortest step is Newton's. */
static dae_status find_multipliers(const start *s)
{
    form_instance *x = s->x;
    const hessenberg_form *h = &x->hessenberg;
    int n = h->nz + h->nu;
    /* y' of z has no other use yet */
    closing c = {
        .x = x, .y = s->y, .f = s->yp, .g_t = s->yp + h->ny, .matrix = form_matrix_dense(n, n)};
    eval_status eval = h->g_t(x, s->t, s->y, c.g_t);
    if (eval == EVAL_OK) eval = h->g_y(x, s->t, s->y, x->hw.values);
    if (eval != EVAL_OK) return start_evaluation(s, eval);
    manifold p = {0};
    bool ready = differencer_new(&c.difference, &c.matrix);
    ready = ready && manifold_new(&p, &c.matrix, s->size + h->ny, NULL);
    const start_part closes = {&c.matrix, closing_value, closing_jacobian, &c, h->ny, "constraint"};
    engine_outcome moved = ready ? start_move(s, &closes, &p) : ENGINE_MEMORY;
    dae_status status = report_closing(s, &p, moved);
    manifold_free(&p);
    differencer_free(&c.difference);
    return status;
}

/* y = y_0 + f_z nu: where z can bring y. */
typedef struct driven {
    form_instance *x;
    const double *y; /* y_0 */
    double *B;       /* f_z at y_0, ny x nz by columns; 0 in rows that are fixed */
    double *moved;   /* ny */
    double *values;  /* of g_y */
    form_matrix square;
} driven;

static double *column_of(const driven *d, int k)
{
    return d->B + (size_t)k * (size_t)d->x->hessenberg.ny;
}

static void drive(const driven *d, const double *nu)
{
    const hessenberg_form *h = &d->x->hessenberg;
    vector_copy(h->ny, d->y, d->moved);
    for (int k = 0; k < h->nz; k++)
        for (int i = 0; i < h->ny; i++) d->moved[i] += column_of(d, k)[i] * nu[k];
}

static eval_status driven_level(void *context, double t, const double *nu, double *g)
{
    const driven *d = context;
    drive(d, nu);
    return d->x->hessenberg.g(d->x->hessenberg.context, t, d->moved, g);
}

/* g_y f_z */
static eval_status driven_jacobian(void *context, double t, const double *nu, double *values)
{
    const driven *d = context;
    const hessenberg_form *h = &d->x->hessenberg;
    drive(d, nu);
    eval_status status = h->g_y(h->context, t, d->moved, d->values);
    vector_zero(h->nz * h->nz, values);
    for (int k = 0; status == EVAL_OK && k < h->nz; k++)
        form_matrix_multiply(&h->g_y_matrix, d->values, 1.0, column_of(d, k),
                             values + (size_t)k * (size_t)h->nz);
    return status;
}

/* B at the values given; size_k: nu_k that moves some y by its size. */
static eval_status find_drive(const start *s, driven *d, double *size)
{
    const hessenberg_form *h = &s->x->hessenberg;
    const double *z = s->y + h->ny;
    double *f_z = DAE_ARRAY(double, h->f_z_matrix.count);
    eval_status status = f_z ? h->f_z(h->context, s->t, s->y, z, z + h->nz, f_z) : EVAL_MEMORY;
    for (form_entry e = {0}; status == EVAL_OK && form_matrix_next(&h->f_z_matrix, &e);)
        if (s->size[e.row] > 0.0) {
            column_of(d, e.column)[e.row] = f_z[e.at];
            size[e.column] = fmax(size[e.column], fabs(f_z[e.at]) / s->size[e.row]);
        }
    for (int k = 0; k < h->nz; k++) size[k] = size[k] > 0.0 ? 1.0 / size[k] : 0.0;
    dae_free(f_z);
    return status;
}

/* y on 0 = g by what z can do to it, as impulses of multipliers change velocities and no positions
 * [AP91]: the part of a constraint that is met stays so. y stays where that does not lead there. */
static dae_status drive_home(const start *s)
{
    enum { LARGEST = 1000000 };
    const hessenberg_form *h = &s->x->hessenberg;
    const size_t ny = (size_t)h->ny, nz = (size_t)h->nz;
    if (ny * nz > LARGEST) return DAE_OK;
    double *work = DAE_ARRAY(double, ny *nz + ny + 2 * nz + h->g_y_matrix.count);
    if (!work) return start_exhausted(s);
    double *nu = work + ny * nz + ny, *size = nu + nz;
    driven d = {s->x, s->y, work, work + ny * nz, size + nz, form_matrix_dense(h->nz, h->nz)};
    eval_status eval = find_drive(s, &d, size);
    start along = *s;
    along.y = nu;
    manifold p = {0};
    const start_part part = {&d.square, driven_level, driven_jacobian, &d, 0, "constraint"};
    engine_outcome moved = engine_from(eval);
    if (eval == EVAL_OK)
        moved =
            manifold_new(&p, &d.square, size, NULL) ? start_move(&along, &part, &p) : ENGINE_MEMORY;
    if (moved == ENGINE_MET) {
        drive(&d, nu);
        vector_copy(h->ny, d.moved, s->y);
    }
    manifold_free(&p);
    dae_free(work);
    return engine_ends(moved) ? start_moved(s, &p, moved, part.what) : DAE_OK;
}

dae_status hessenberg_start(const start *s)
{
    form_instance *x = s->x;
    const hessenberg_form *h = &x->hessenberg;
    start_sizes(s, 0, h->ny);
    start_sizes(s, h->ny, h->nz + h->nu);
    dae_status status = h->nz > 0 ? drive_home(s) : DAE_OK;
    if (status == DAE_OK && h->nz > 0) {
        manifold p;
        const start_part constraints = {&h->g_y_matrix, h->g, h->g_y, h->context, 0, "constraint"};
        status = start_project(s, &constraints, &p);
        if (status == DAE_OK) status = start_independent(s, &p, p.A, p.b);
        manifold_free(&p);
    }
    if (status == DAE_OK && h->nz + h->nu > 0) status = find_multipliers(s);
    if (status != DAE_OK) return status;
    vector_zero(x->source->n, s->yp);
    const double *z = s->y + h->ny;
    eval_status eval = h->f(x, s->t, s->y, z, z + h->nz, s->yp);
    return eval == EVAL_OK ? DAE_OK : start_evaluation(s, eval);
}
