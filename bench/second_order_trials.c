/* Mechanisms as F(t, y, y') = 0 of index 3, of index 2, and as Gear, Leimkuhler and Gupta have it.
 * Jacobians are exact but for the derivatives of G' mu by q, which vanish with mu. */
#include "second_order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *space(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

enum { MOST_Q = 12, MOST_L = 6 };

/* ---- full matrices: y = (q, v, lambda), GGL: and mu ---- */

static int full_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    const view *w = user;
    const mechanism *m = w->m;
    const int nq = m->nq, nl = m->nl;
    double gradient[MOST_Q * MOST_L] = {0}, *velocity = f + 2 * nq + (w->stage == GGL ? nl : 0);
    for (int i = 0; i < nq; i++) f[i] = yp[i] - y[nq + i];
    m->residual(m, t, y, y + nq, yp + nq, y + 2 * nq, f + nq);
    if (w->stage != INDEX2) m->constraint(m, t, y, f + 2 * nq);
    if (w->stage == INDEX3) return 0;
    m->values(m, t, y, y + nq, &(mechanism_values){.gradient = gradient, .rate = velocity});
    for (int k = 0; k < nq; k++)
        for (int i = 0; i < nl; i++) {
            velocity[i] += gradient[i + k * nl] * y[nq + k];
            if (w->stage == GGL) f[k] += gradient[i + k * nl] * y[2 * nq + nl + i];
        }
    return 0;
}

/* The rows of one constraint level by q and v from the index-1 rows: G stands before v', and
 * (G v + g_t)_q is half of what stands before v */
static void level_rows(const mechanism *m, const double *block, bool velocity, double *dfdy, int n)
{
    const int nq = m->nq, nl = m->nl, rows = nq + nl;
    for (int k = 0; k < nq; k++)
        for (int i = 0; i < nl; i++) {
            double g = block[nq + i + (2 * nq + k) * rows];
            double by_q = 0.5 * block[nq + i + (nq + k) * rows];
            dfdy[i + k * n] = velocity ? by_q : g;
            if (velocity) dfdy[i + (nq + k) * n] = g;
        }
}

static int full_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                         void *user)
{
    const view *w = user;
    const mechanism *m = w->m;
    const int nq = m->nq, nl = m->nl, rows = nq + nl, n = 2 * nq + nl + (w->stage == GGL ? nl : 0);
    double block[(MOST_Q + MOST_L) * (3 * MOST_Q + MOST_L)] = {0};
    m->jacobian(m, t, y, y + nq, yp + nq, y + 2 * nq, block, rows);
    for (int k = 0; k < nq; k++) dfdyp[k + k * n] = 1.0, dfdy[k + (nq + k) * n] = -1.0;
    for (int i = 0; i < nq; i++) {
        for (int k = 0; k < 2 * nq; k++) dfdy[nq + i + k * n] = block[i + k * rows];
        for (int k = 0; k < nq; k++) dfdyp[nq + i + (nq + k) * n] = block[i + (2 * nq + k) * rows];
        for (int k = 0; k < nl; k++)
            dfdy[nq + i + (2 * nq + k) * n] = block[i + (3 * nq + k) * rows];
    }
    level_rows(m, block, w->stage == INDEX2, dfdy + 2 * nq, n);
    if (w->stage != GGL) return 0;
    level_rows(m, block, true, dfdy + 2 * nq + nl, n);
    for (int k = 0; k < nl; k++)
        for (int i = 0; i < nq; i++)
            dfdy[i + (2 * nq + nl + k) * n] = block[nq + k + (2 * nq + i) * rows];
    return 0;
}

/* ---- pendulums, banded and sparse ---- */

typedef struct target {
    double *dfdy, *dfdyp;
    const view *w;
} target;

static void put_band(void *to, int row, int column, double dy, double dyp)
{
    const target *t = to;
    const int at = PENDULUMS_BAND + row - column + column * (2 * PENDULUMS_BAND + 1);
    t->dfdy[at] += dy, t->dfdyp[at] += dyp;
}

static int band_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                         void *user)
{
    (void)t, (void)yp;
    const view *w = user;
    pendulums_jacobian(w->m->nl, w->stage, y, put_band, &(target){dfdy, dfdyp, w});
    return 0;
}

static void put_sparse(void *to, int row, int column, double dy, double dyp)
{
    const target *t = to;
    int k = t->w->colptr[column];
    while (t->w->rowind[k] != row) k++;
    t->dfdy[k] += dy, t->dfdyp[k] += dyp;
}

static int sparse_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                           void *user)
{
    (void)t, (void)yp;
    const view *w = user;
    pendulums_jacobian(w->m->nl, w->stage, y, put_sparse, &(target){dfdy, dfdyp, w});
    return 0;
}

/* ---- patterns: a band of flags, compressed ---- */

typedef struct flags {
    char *set;
    int lower;
} flags;

static void put_flag(void *to, int row, int column, double dy, double dyp)
{
    (void)dy, (void)dyp;
    const flags *f = to;
    f->set[(size_t)column * (size_t)(2 * f->lower + 1) + (size_t)(row - column + f->lower)] = 1;
}

static dae_pattern compress(const flags *f, int n)
{
    const int width = 2 * f->lower + 1;
    int *colptr = space((size_t)n + 1, sizeof *colptr);
    int *rowind = space((size_t)n * (size_t)width, sizeof *rowind), count = 0;
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < width; i++)
            if (f->set[(size_t)k * (size_t)width + (size_t)i]) rowind[count++] = k + i - f->lower;
        colptr[k + 1] = count;
    }
    return (dae_pattern){colptr, rowind};
}

static dae_pattern pendulums_pattern(const mechanism *m, stage s, int n, const double *y)
{
    flags f = {space((size_t)n * (2 * PENDULUMS_BAND + 1), 1), PENDULUMS_BAND};
    pendulums_jacobian(m->nl, s, y, put_flag, &f);
    dae_pattern p = compress(&f, n);
    free(f.set);
    return p;
}

/* df/dq and df/dv: each point, and its neighbours, x and y apart */
static dae_pattern force_pattern(int nq)
{
    flags f = {space((size_t)nq * 5, 1), 2};
    for (int k = 0; k < nq; k++)
        for (int i = k - 2; i <= k + 2; i += 2)
            if (i >= 0 && i < nq) put_flag(&f, i, k, 1.0, 0.0);
    dae_pattern p = compress(&f, nq);
    free(f.set);
    return p;
}

/* ---- trials ---- */

/* Where unknown i of a first order system belongs: 0: q, 1: v, 2: lambda, 3: mu, and which */
static int part_of(const trial *p, stage s, int i, int *which)
{
    const int nq = p->m->nq, nl = p->m->nl, block = s == GGL ? 6 : 5;
    if (p->m->links) {
        int c = i % block;
        *which = c < 4 ? 2 * (i / block) + c % 2 : i / block;
        return c < 2 ? 0 : c < 4 ? 1 : c - 2;
    }
    int part = i < nq ? 0 : i < 2 * nq ? 1 : i < 2 * nq + nl ? 2 : 3;
    *which = i - (part > 0 ? nq : 0) - (part > 1 ? nq : 0) - (part > 2 ? nl : 0);
    return part;
}

bool trial_is_multiplier(const trial *p, stage s, int i)
{
    int which;
    return part_of(p, s, i, &which) > 1;
}

bool trial_is_velocity(const trial *p, stage s, int i)
{
    int which;
    return part_of(p, s, i, &which) == 1;
}

double trial_scale(const trial *p, stage s, int i)
{
    double most = 1.0;
    int which;
    if (part_of(p, s, i, &which) == 2)
        for (int k = 0; k < p->m->nl; k++) most = fmax(most, fabs(p->m->l0[k]));
    return most;
}

void trial_read(const trial *p, const double *y, double *q, double *lambda)
{
    for (int i = 0; i < p->first[INDEX3].form.n; i++) {
        int which, part = part_of(p, INDEX3, i, &which);
        if (part == 0) q[which] = y[i];
        if (part == 2) lambda[which] = y[i];
    }
}

static void start_view(trial *p, stage s, model *to)
{
    const mechanism *m = p->m;
    const int n = 2 * m->nq + m->nl + (s == GGL ? m->nl : 0);
    to->name = p->name, to->tend = m->tend;
    to->y0 = space((size_t)n, 8), to->yp0 = space((size_t)n, 8);
    for (int i = 0; i < n; i++) {
        int k, part = part_of(p, s, i, &k);
        to->y0[i] = part == 0 ? m->q0[k] : part == 1 ? m->v0[k] : part == 2 ? m->l0[k] : 0.0;
        to->yp0[i] = part == 0 ? m->v0[k] : part == 1 ? m->a0[k] : 0.0;
    }
    to->form = (dae_residual){.n = n, .user = &p->views[s]};
    to->form.f = m->links ? pendulums_residual : full_residual;
    to->form.jacobian = m->links ? band_jacobian : full_jacobian;
    if (m->links) to->form.structure = DAE_STRUCTURE_BANDED;
    to->form.lower = to->form.upper = m->links ? PENDULUMS_BAND : 0;
}

static void add_sparse(trial *p, stage s)
{
    model *to = &p->sparse[s];
    *to = p->first[s];
    dae_pattern q = pendulums_pattern(p->m, s, to->form.n, to->y0);
    to->form.structure = DAE_STRUCTURE_SPARSE, to->form.jacobian = sparse_jacobian;
    to->form.colptr = q.colptr, to->form.rowind = q.rowind;
    p->views[s].colptr = q.colptr, p->views[s].rowind = q.rowind;
}

trial *trial_new(const char *name, int size)
{
    trial *p = space(1, sizeof *p);
    const bool chain = !strcmp(name, "pendulums");
    p->m = chain                    ? pendulums_new(size > 1 ? size : 100)
           : !strcmp(name, "truck") ? truck_new()
                                    : mechanism_new(name, 0);
    if (!p->m) return free(p), NULL;
    snprintf(p->name, sizeof p->name, chain ? "%s:%d" : "%s", name, p->m->links);
    p->lambda = space((size_t)p->m->nl, 8);
    p->lambda_sign = !strcmp(name, "caraxis") ? -1.0 : 1.0;
    p->lambda_format = p->m->nl > 1 ? "lambda[%d]" : "lambda";
    for (int s = 0; s < STAGES; s++) {
        p->views[s] = (view){.m = p->m, .stage = (stage)s};
        start_view(p, (stage)s, &p->first[s]);
        if (chain) add_sparse(p, (stage)s);
    }
    if (chain) p->force_pattern = force_pattern(p->m->nq);
    return p;
}

void trial_free(trial *p)
{
    if (!p) return;
    for (int s = 0; s < STAGES; s++) {
        free(p->first[s].y0), free(p->first[s].yp0);
        free((void *)(size_t)p->sparse[s].form.colptr);
        free((void *)(size_t)p->sparse[s].form.rowind);
    }
    free((void *)(size_t)p->force_pattern.colptr);
    free((void *)(size_t)p->force_pattern.rowind);
    mechanism_free(p->m);
    free(p->lambda);
    free(p);
}
