/* The Hessenberg form y' = f(t,y,z,u), 0 = g(t,y), 0 = k(t,y,z,u) from callbacks. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"

/* ---- from callbacks ---- */

static const dae_hessenberg *form_of(const form_instance *x)
{
    return &x->source->as.h;
}

static eval_status call(form_instance *x, dae_hessenberg_fn fn, const char *name,
                        const dae_hessenberg_point *at, int count, int first_row, double *out)
{
    int code = fn(at, out, form_of(x)->user);
    return form_judge(x, name, at->t, code, (size_t)count, out, first_row, NULL);
}

static eval_status call_matrix(form_instance *x, dae_hessenberg_fn fn, const char *name,
                               const dae_hessenberg_point *at, const form_matrix *m, int first_row,
                               double *values)
{
    memset(values, 0, m->count * sizeof *values);
    x->eval->stats->jacobians++;
    int code = fn(at, values, form_of(x)->user);
    return form_judge(x, name, at->t, code, m->count, values, first_row, m);
}

static eval_status eval_f(void *context, double t, const double *y, const double *z,
                          const double *u, double *f)
{
    form_instance *x = context;
    const dae_hessenberg_point at = {t, y, z, u};
    x->eval->stats->residuals++;
    return call(x, form_of(x)->f, "f", &at, form_of(x)->ny, 0, f);
}

static eval_status eval_g(void *context, double t, const double *y, double *g)
{
    form_instance *x = context;
    const dae_hessenberg *form = form_of(x);
    const dae_hessenberg_point at = {.t = t, .y = y};
    return form->nz > 0 ? call(x, form->g, "g", &at, form->nz, form->ny, g) : EVAL_OK;
}

static eval_status eval_k(void *context, double t, const double *y, const double *z,
                          const double *u, double *k)
{
    form_instance *x = context;
    const dae_hessenberg *form = form_of(x);
    const dae_hessenberg_point at = {t, y, z, u};
    return call(x, form->k, "k", &at, form->nu, form->ny + form->nz, k);
}

/* ---- differences: one argument moves ---- */

static eval_status g_by_y(void *context, double t, const double *y, double *g)
{
    form_instance *x = context;
    x->eval->stats->jacobian_residuals++;
    return eval_g(x, t, y, g);
}

static eval_status f_by_z(void *context, double t, const double *z, double *f)
{
    form_instance *x = context;
    const dae_hessenberg_point at = {t, x->hw.y, z, x->hw.u};
    x->eval->stats->jacobian_residuals++;
    return call(x, form_of(x)->f, "f", &at, form_of(x)->ny, 0, f);
}

static eval_status k_by_u(void *context, double t, const double *u, double *k)
{
    form_instance *x = context;
    x->eval->stats->jacobian_residuals++;
    return eval_k(x, t, x->hw.y, x->hw.z, u, k);
}

static const double *sizes_from(const form_instance *x, int first)
{
    const double *nominal = form_of(x)->nominal;
    return nominal ? nominal + first : NULL;
}

static eval_status eval_g_y(void *context, double t, const double *y, double *values)
{
    form_instance *x = context;
    const dae_hessenberg *form = form_of(x);
    const form_matrix *m = &x->hessenberg.g_y_matrix;
    const dae_hessenberg_point at = {.t = t, .y = y};
    if (form->nz == 0) return EVAL_OK;
    if (form->g_y) return call_matrix(x, form->g_y, "g_y", &at, m, form->ny, values);
    return difference_matrix(&x->hw.g_y, m, g_by_y, x, t, y, sizes_from(x, 0), values);
}

static eval_status eval_g_t(void *context, double t, const double *y, double *g_t)
{
    form_instance *x = context;
    const dae_hessenberg *form = form_of(x);
    const dae_hessenberg_point at = {.t = t, .y = y};
    if (form->autonomous || form->nz == 0) {
        vector_zero(form->nz, g_t);
        return EVAL_OK;
    }
    if (form->g_t) return call(x, form->g_t, "g_t", &at, form->nz, form->ny, g_t);
    return difference_along(&x->hw.g_y, g_by_y, x, t, y, NULL, time_scale_of(form->time_scale),
                            g_t);
}

static eval_status eval_f_z(void *context, double t, const double *y, const double *z,
                            const double *u, double *values)
{
    form_instance *x = context;
    const dae_hessenberg *form = form_of(x);
    const form_matrix *m = &x->hessenberg.f_z_matrix;
    const dae_hessenberg_point at = {t, y, z, u};
    if (form->f_z) return call_matrix(x, form->f_z, "f_z", &at, m, 0, values);
    x->hw.y = y;
    x->hw.u = u;
    return difference_matrix(&x->hw.f_z, m, f_by_z, x, t, z, sizes_from(x, form->ny), values);
}

static eval_status eval_k_u(void *context, double t, const double *y, const double *z,
                            const double *u, double *values)
{
    form_instance *x = context;
    const dae_hessenberg *form = form_of(x);
    const form_matrix *m = &x->hessenberg.k_u_matrix;
    const dae_hessenberg_point at = {t, y, z, u};
    int first = form->ny + form->nz;
    if (form->k_u) return call_matrix(x, form->k_u, "k_u", &at, m, first, values);
    x->hw.y = y;
    x->hw.z = z;
    return difference_matrix(&x->hw.k_u, m, k_by_u, x, t, u, sizes_from(x, first), values);
}

eval_status hessenberg_rate(form_instance *x, double t, const double *y, const double *f,
                            double *out)
{
    const dae_hessenberg *form = form_of(x);
    const form_matrix *m = &x->hessenberg.g_y_matrix;
    if (form->nz == 0) return EVAL_OK;
    if (!form->g_y) {
        double scale =
            difference_scale(form->ny, y, f, form->nominal, time_scale_of(form->time_scale));
        return difference_along(&x->hw.g_y, g_by_y, x, t, y, f, scale, out);
    }
    eval_status status = eval_g_t(x, t, y, out);
    if (status == EVAL_OK) status = eval_g_y(x, t, y, x->hw.values);
    if (status == EVAL_OK) form_matrix_multiply(m, x->hw.values, 1.0, f, out);
    return status;
}

static form_matrix matrix_on(int rows, int columns, const dae_pattern *p)
{
    return form_matrix_on(rows, columns, p->colptr, p->rowind);
}

static void from_callbacks(form_instance *x)
{
    const dae_hessenberg *form = form_of(x);
    bool with_u = form->nu > 0;
    x->hessenberg =
        (hessenberg_form){.ny = form->ny,
                          .z_size = sizes_from(x, form->ny),
                          .nz = form->nz,
                          .nu = form->nu,
                          .context = x,
                          .f = eval_f,
                          .g = eval_g,
                          .g_y = eval_g_y,
                          .g_t = eval_g_t,
                          .f_z = eval_f_z,
                          .k = with_u ? eval_k : NULL,
                          .k_u = with_u ? eval_k_u : NULL,
                          .g_y_matrix = matrix_on(form->nz, form->ny, &form->g_y_pattern),
                          .f_z_matrix = matrix_on(form->ny, form->nz, &form->f_z_pattern),
                          .k_u_matrix = matrix_on(form->nu, form->nu, &form->k_u_pattern)};
    int *y = x->places;
    x->set.hessenberg_places =
        (form_places){.q = y, .lambda = y + form->ny, .v = y + form->ny + form->nz};
}

bool hessenberg_build(form_instance *x)
{
    if (x->source->kind != KIND_MECHANICAL)
        from_callbacks(x);
    else if (!mechanical_hessenberg(x))
        return false;
    x->set.hessenberg = &x->hessenberg;
    const hessenberg_form *h = &x->hessenberg;
    size_t most = h->g_y_matrix.count; /* also for blocks of k_u */
    if (h->k_u_matrix.count > most) most = h->k_u_matrix.count;
    x->hw.values = DAE_ARRAY(double, most);
    bool fits = x->hw.values && differencer_new(&x->hw.g_y, &h->g_y_matrix) &&
                differencer_new(&x->hw.f_z, &h->f_z_matrix) &&
                differencer_new(&x->hw.k_u, &h->k_u_matrix);
    x->hw.g_y.still = x->source->kind != KIND_MECHANICAL && form_of(x)->autonomous;
    return fits;
}

void hessenberg_release(form_instance *x)
{
    differencer_free(&x->hw.g_y);
    differencer_free(&x->hw.f_z);
    differencer_free(&x->hw.k_u);
    dae_free_all(x->hw.g_y_pattern.colptr, x->hw.g_y_pattern.rowind, x->hw.values);
}
