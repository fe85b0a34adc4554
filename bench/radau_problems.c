#include "radau.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- mechanisms as F(t, y, y') = 0, y = (q, v, lambda) ---- */

/* The constraint rows of index 2 and 3: G v + g_t, or g */
static void constraint_rows(const entry *e, double t, const double *q, const double *v, double *r)
{
    const mechanism *m = e->mechanism;
    if (e->index == 3) {
        m->constraint(m, t, q, r);
        return;
    }
    double gradient[64] = {0};
    m->values(m, t, q, v, &(mechanism_values){.gradient = gradient, .rate = r});
    for (int k = 0; k < m->nq; k++)
        for (int i = 0; i < m->nl; i++) r[i] += gradient[i + k * m->nl] * v[k];
}

static int mechanism_f(double t, const double *y, const double *yp, double *f, void *user)
{
    const entry *e = user;
    const mechanism *m = e->mechanism;
    const int nq = m->nq;
    for (int i = 0; i < nq; i++) f[i] = yp[i] - y[nq + i];
    m->residual(m, t, y, y + nq, yp + nq, y + 2 * nq, f + nq);
    if (e->index > 1) constraint_rows(e, t, y, y + nq, f + 2 * nq);
    return 0;
}

/* Derivatives of the constraint rows of index 2 and 3 by q and v, ld rows a column; those of G v by
 * central differences of G */
static void constraint_jacobian(const entry *e, double t, const double *y, double *dq, double *dv,
                                int ld)
{
    const mechanism *m = e->mechanism;
    const int nq = m->nq, nl = m->nl;
    double gradient[64] = {0}, q[16], up[16], down[16], *to = e->index == 3 ? dq : dv;
    m->values(m, t, y, y + nq, &(mechanism_values){.gradient = gradient});
    for (int k = 0; k < nq; k++)
        for (int i = 0; i < nl; i++) to[i + k * ld] = gradient[i + k * nl];
    memcpy(q, y, (size_t)nq * sizeof *q);
    for (int k = 0; k < nq && e->index == 2; k++) {
        const double d = 1e-6 * fmax(1.0, fabs(y[k]));
        q[k] = y[k] + d;
        constraint_rows(e, t, q, y + nq, up);
        q[k] = y[k] - d;
        constraint_rows(e, t, q, y + nq, down);
        q[k] = y[k];
        for (int i = 0; i < nl; i++) dq[i + k * ld] = (up[i] - down[i]) / (2.0 * d);
    }
}

static int mechanism_jacobian(double t, const double *y, const double *yp, double *dfdy,
                              double *dfdyp, void *user)
{
    const entry *e = user;
    const mechanism *m = e->mechanism;
    const int nq = m->nq, nl = m->nl, n = 2 * nq + nl, rows = nq + nl;
    double block[512] = {0};
    m->jacobian(m, t, y, y + nq, yp + nq, y + 2 * nq, block, rows);
    if (e->index > 1) {
        for (int k = 0; k < 3 * nq + nl; k++)
            for (int i = nq; i < rows; i++) block[i + k * rows] = 0.0;
        constraint_jacobian(e, t, y, block + nq, block + nq + nq * rows, rows);
    }
    for (int i = 0; i < nq; i++) dfdyp[i + i * n] = 1.0, dfdy[i + (nq + i) * n] = -1.0;
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < 2 * nq; k++) dfdy[nq + i + k * n] = block[i + k * rows];
        for (int k = 0; k < nq; k++) dfdyp[nq + i + (nq + k) * n] = block[i + (2 * nq + k) * rows];
        for (int k = 0; k < nl; k++)
            dfdy[nq + i + (2 * nq + k) * n] = block[i + (3 * nq + k) * rows];
    }
    return 0;
}

static double largest(const double *x, int n, double least)
{
    for (int i = 0; i < n; i++) least = fmax(least, fabs(x[i]));
    return least;
}

static void add_mechanism(entry *e, const char *name)
{
    mechanism *m = e->mechanism = mechanism_new(name, 0);
    const int nq = m->nq, nl = m->nl, n = 2 * nq + nl;
    model *mo = e->model = bench_space(1, sizeof *mo);
    dae_kind *kinds = bench_space((size_t)n, sizeof *kinds);
    int *velocity = bench_space((size_t)n, sizeof *velocity);
    mo->y0 = bench_space((size_t)n, 8), mo->yp0 = bench_space((size_t)n, 8);
    mo->reference = m->reference, mo->atol_factor = bench_space((size_t)n, 8);
    for (int i = 0; i < n; i++) {
        bool lambda = i >= 2 * nq;
        kinds[i] = lambda                     ? (dae_kind)(DAE_KIND_INDEX1 + e->index - 1)
                   : i >= nq && e->index == 3 ? DAE_KIND_INDEX2
                                              : DAE_KIND_DIFFERENTIAL;
        mo->y0[i] = i < nq ? m->q0[i] : lambda ? m->l0[i - 2 * nq] : m->v0[i - nq];
        mo->yp0[i] = i < nq ? m->v0[i] : lambda ? 0.0 : m->a0[i - nq];
        mo->atol_factor[i] = lambda ? largest(m->l0, nl, 1.0) : 1.0;
        velocity[i] = i < nq ? nq + i : -1;
    }
    mo->name = e->name, mo->tend = m->tend;
    mo->form = (dae_residual){.n = n,
                              .f = mechanism_f,
                              .jacobian = mechanism_jacobian,
                              .kinds = kinds,
                              .user = e,
                              .velocity = velocity};
    e->compared = nq;
}

/* ---- van der Pol's equation with mu = 1e6; the value at t = 2 of Hairer's and Wanner's test set
 */

static int vanderpol_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[1];
    f[1] = yp[1] - 1e6 * ((1.0 - y[0] * y[0]) * y[1] - y[0]);
    return 0;
}

static int vanderpol_jacobian(double t, const double *y, const double *yp, double *dfdy,
                              double *dfdyp, void *user)
{
    (void)t, (void)yp, (void)user;
    dfdy[2] = -1.0;
    dfdy[1] = 1e6 * (2.0 * y[0] * y[1] + 1.0);
    dfdy[3] = -1e6 * (1.0 - y[0] * y[0]);
    dfdyp[0] = dfdyp[3] = 1.0;
    return 0;
}

static void add_vanderpol(entry *e)
{
    static double y0[2] = {2.0, 0.0}, yp0[2] = {0.0, -2e6};
    static double end[2] = {0.1706167732170483e1, -0.8928097010247975e0};
    model *m = e->model = bench_space(1, sizeof *m);
    m->name = e->name, m->tend = 2.0, m->y0 = y0, m->yp0 = yp0, m->reference = end;
    m->form = (dae_residual){.n = 2, .f = vanderpol_f, .jacobian = vanderpol_jacobian};
    e->compared = 2;
}

/* ---- a sparse system with a narrow band, for codes that take bands ---- */

enum { WIDEST_BAND = 8 };

typedef struct banding {
    const dae_residual *sparse;
    int lower, upper;
    double *dfdy, *dfdyp;
} banding;

static int banded_f(double t, const double *y, const double *yp, double *f, void *user)
{
    const dae_residual *sparse = ((const banding *)user)->sparse;
    return sparse->f(t, y, yp, f, sparse->user);
}

static int banded_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                           void *user)
{
    const banding *b = user;
    const dae_residual *s = b->sparse;
    const size_t bytes = (size_t)s->colptr[s->n] * sizeof(double);
    memset(b->dfdy, 0, bytes), memset(b->dfdyp, 0, bytes);
    int status = s->jacobian(t, y, yp, b->dfdy, b->dfdyp, s->user);
    for (int j = 0; j < s->n; j++)
        for (int k = s->colptr[j]; k < s->colptr[j + 1]; k++) {
            int at = b->upper + s->rowind[k] - j + j * (b->lower + b->upper + 1);
            dfdy[at] = b->dfdy[k], dfdyp[at] = b->dfdyp[k];
        }
    return status;
}

static void add_banded(entry *e)
{
    const dae_residual *form = &e->model->form;
    int lower = 0, upper = 0;
    for (int j = 0; j < form->n; j++)
        for (int k = form->colptr[j]; k < form->colptr[j + 1]; k++) {
            const int below = form->rowind[k] - j;
            lower = below > lower ? below : lower, upper = -below > upper ? -below : upper;
        }
    if (lower > WIDEST_BAND || upper > WIDEST_BAND) return;
    const size_t nonzeros = (size_t)form->colptr[form->n];
    banding *b = bench_space(1, sizeof *b);
    *b = (banding){form, lower, upper, bench_space(nonzeros, 8), bench_space(nonzeros, 8)};
    e->banded = bench_space(1, sizeof *e->banded);
    *e->banded = *e->model;
    e->banded->form.f = banded_f, e->banded->form.jacobian = banded_jacobian;
    e->banded->form.structure = DAE_STRUCTURE_BANDED, e->banded->form.user = b;
    e->banded->form.lower = lower, e->banded->form.upper = upper;
    e->banded->form.colptr = e->banded->form.rowind = NULL;
}

static void free_banded(entry *e)
{
    if (!e->banded) return;
    banding *b = e->banded->form.user;
    free(b->dfdy), free(b->dfdyp), free(b), free(e->banded);
}

/* ---- all ---- */

static const struct {
    const char *name, *file;
} texts[] = {{"robertson", "models/robertson.mo"}, {"akzo", "models/akzo.mo"},
             {"hires", "models/hires.mo"},         {"transamp", "models/transamp.mo"},
             {"ringmod", "models/ringmod.mo"},     {"pendulum", "models/pendulum.mo"},
             {"andrews", "models/andrews.mo"},     {"caraxis", "models/caraxis.mo"},
             {"heat2d", "models/heat2d.mo"},       {"brusselator", "models/brusselator.mo"}};

entry *entry_new(const char *name, int size)
{
    entry *e = bench_space(1, sizeof *e);
    char base[32];
    snprintf(e->name, sizeof e->name, "%s", name);
    snprintf(base, sizeof base, "%s", name);
    const size_t length = strlen(base);
    const char last = length ? base[length - 1] : 0;
    bool mechanics = !strncmp(name, "andrews", 7) || !strncmp(name, "caraxis", 7) ||
                     !strncmp(name, "pendulum", 8);
    if (mechanics && last >= '1' && last <= '3') {
        e->index = last - '0';
        base[length - 1] = 0;
        add_mechanism(e, base);
    } else if (!strcmp(name, "vanderpol")) {
        add_vanderpol(e);
    } else {
        e->model = model_new(name, size);
        if (e->model) e->compared = e->model->form.n;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(base, texts[i].name)) e->file = texts[i].file;
    if (!strcmp(name, "heat2d") && size > 0) snprintf(e->set, sizeof e->set, "n = %d", size);
    if (!strcmp(name, "brusselator") && size > 0) snprintf(e->set, sizeof e->set, "m = %d", size);
    if (e->model && model_is_sparse(e->model)) add_banded(e);
    e->each = !strcmp(name, "robertson");
    if (e->model) return e;
    free(e);
    return NULL;
}

void entry_free(entry *e)
{
    if (!e) return;
    free_banded(e);
    if (e->mechanism) {
        free((void *)(size_t)e->model->form.kinds), free((void *)(size_t)e->model->form.velocity),
            free(e->model->y0), free(e->model->yp0);
        free(e->model->atol_factor), free(e->model), mechanism_free(e->mechanism);
    } else if (!strcmp(e->name, "vanderpol")) {
        free(e->model);
    } else {
        model_free(e->model);
    }
    free(e);
}
