/* DASSL and DASPK (with its direct solver) as Octave carries them (ddassl_ and ddaspk_ in
 * liboctave), on the dense and banded models, one step a call.
 *
 * liboctave is opened at run time with its names kept local, since it redefines LAPACK's xerbla and
 * since the comparison should build and run where Octave is not installed. */
#include "peer.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BENCH_LIBOCTAVE
#define BENCH_LIBOCTAVE "liboctave.so"
#endif

typedef int32_t fint; /* Fortran INTEGER in Debian's liboctave (octave_f77_int_type) */

typedef void dassl_res(const double *t, const double *y, const double *yp, double *delta,
                       fint *ires, double *rpar, fint *ipar);
typedef void dassl_jac(const double *t, const double *y, const double *yp, double *pd,
                       const double *cj, double *rpar, fint *ipar);
typedef void dassl_fn(dassl_res *res, const fint *neq, double *t, double *y, double *yp,
                      const double *tout, fint *info, double *rtol, double *atol, fint *idid,
                      double *rwork, const fint *lrw, fint *iwork, const fint *liw, double *rpar,
                      fint *ipar, dassl_jac *jac);
typedef void daspk_res(const double *t, const double *y, const double *yp, const double *cj,
                       double *delta, fint *ires, double *rpar, fint *ipar);
typedef void daspk_fn(daspk_res *res, const fint *neq, double *t, double *y, double *yp,
                      const double *tout, fint *info, double *rtol, double *atol, fint *idid,
                      double *rwork, const fint *lrw, fint *iwork, const fint *liw, double *rpar,
                      fint *ipar, dassl_jac *jac, void (*psol)(void));
typedef void xsetf_fn(const fint *flag);

/* INFO and IWORK entries, counted from 0 [BCP96 5.3; prologues of DDASSL and DDASPK] */
enum {
    INFO_CONTINUE = 0,
    INFO_VECTOR_TOLERANCES = 1,
    INFO_ONE_STEP = 2,
    INFO_JACOBIAN = 4,
    INFO_BAND = 5
};
enum { IWORK_STEPS = 10, IWORK_RESIDUALS, IWORK_JACOBIANS, IWORK_BAD_ERROR, IWORK_BAD_NEWTON };
enum { IDID_STEPPED = 1, MAX_ORDER = 5, MAX_STEPS = 10000000, INFO_LENGTH = 30 };

static dassl_fn *ddassl; /* set by dassl_missing() */
static daspk_fn *ddaspk; /* set by daspk_missing() */

/* Both hand RPAR through untouched: it carries the address of this. */
typedef struct dassl_run {
    const dae_residual *form;
    double *rtol, *atol, *yp, *rwork, *dfdy, *dfdyp;
    fint *iwork;
    fint n, lrw, liw;
    bool daspk;
} dassl_run;

static void residual(const double *t, const double *y, const double *yp, double *delta, fint *ires,
                     double *rpar, fint *ipar)
{
    (void)ipar;
    const dassl_run *r = (const dassl_run *)(void *)rpar;
    int status = r->form->f(*t, y, yp, delta, r->form->user);
    if (status) *ires = status > 0 ? -1 : -2;
}

static void daspk_residual(const double *t, const double *y, const double *yp, const double *cj,
                           double *delta, fint *ires, double *rpar, fint *ipar)
{
    (void)cj;
    residual(t, y, yp, delta, ires, rpar, ipar);
}

/* The preconditioner that DASPK's direct solver does not call. */
static void nothing(void)
{
}

static long entries(const dassl_run *r)
{
    const dae_residual *form = r->form;
    if (form->structure == DAE_STRUCTURE_BANDED)
        return (long)(form->lower + form->upper + 1) * r->n;
    return (long)r->n * r->n;
}

/* The same for a band: its columns have `lower` more places above, for interchanges */
static void band_jacobian(const dassl_run *r, double t, const double *y, const double *yp,
                          double *pd, double cj)
{
    const long lower = r->form->lower, width = r->form->lower + r->form->upper + 1;
    memset(r->dfdy, 0, (size_t)entries(r) * sizeof(double));
    memset(r->dfdyp, 0, (size_t)entries(r) * sizeof(double));
    r->form->jacobian(t, y, yp, r->dfdy, r->dfdyp, r->form->user);
    add_scaled(entries(r), r->dfdy, cj, r->dfdyp);
    for (long j = 0; j < r->n; j++)
        memcpy(pd + j * (lower + width) + lower, r->dfdy + j * width,
               (size_t)width * sizeof(double));
}

/* pd = dF/dy + cj dF/dy'; pd is zero on entry */
static void jacobian(const double *t, const double *y, const double *yp, double *pd,
                     const double *cj, double *rpar, fint *ipar)
{
    (void)ipar;
    const dassl_run *r = (const dassl_run *)(void *)rpar;
    if (r->form->structure == DAE_STRUCTURE_BANDED) {
        band_jacobian(r, *t, y, yp, pd, *cj);
        return;
    }
    long count = (long)r->n * r->n;
    memset(r->dfdyp, 0, (size_t)count * sizeof(double));
    r->form->jacobian(*t, y, yp, pd, r->dfdyp, r->form->user);
    add_scaled(count, pd, *cj, r->dfdyp);
}

static bool create(dassl_run *r, const task *k)
{
    size_t n = (size_t)k->model->form.n;
    r->form = &k->model->form;
    r->n = (fint)n;
    fint matrix = (fint)entries(r) + k->model->form.lower * r->n;
    r->lrw = (r->daspk ? 100 + (MAX_ORDER + 5) * r->n : 40 + (MAX_ORDER + 4) * r->n) + matrix;
    r->liw = r->daspk ? 80 + 2 * r->n : 21 + r->n;
    r->rtol = malloc(n * sizeof(double));
    r->atol = malloc(n * sizeof(double));
    r->yp = malloc(n * sizeof(double));
    r->dfdy = malloc((size_t)entries(r) * sizeof(double));
    r->dfdyp = malloc((size_t)entries(r) * sizeof(double));
    r->rwork = calloc((size_t)r->lrw, sizeof(double));
    r->iwork = calloc((size_t)r->liw, sizeof(fint));
    if (!r->rtol || !r->atol || !r->yp || !r->dfdy || !r->dfdyp || !r->rwork || !r->iwork)
        return false;
    for (size_t i = 0; i < n; i++) r->rtol[i] = k->rtol;
    r->iwork[0] = k->model->form.lower, r->iwork[1] = k->model->form.upper;
    memcpy(r->atol, k->atol, n * sizeof(double));
    memcpy(r->yp, k->model->yp0, n * sizeof(double));
    return true;
}

static void destroy(dassl_run *r)
{
    free(r->rtol);
    free(r->atol);
    free(r->yp);
    free(r->dfdy);
    free(r->dfdyp);
    free(r->rwork);
    free(r->iwork);
}

/* TOUT for the next call. DASSL gives up when the error test asks for a step below 4 ulp of TOUT,
 * which over a span like Robertson's 1e11 forbids the steps that the initial layer needs; there
 * TOUT goes ahead by decades, which costs a dozen extra returns. */
static double next_target(const model *m, double t)
{
    const double long_span = 1e6, first_part = 1e-12;
    double span = m->tend - m->t0;
    if (span <= long_span) return m->tend;
    double done = fmax(t - m->t0, 0.1 * first_part * span);
    return fmin(m->t0 + 10 * done, m->tend);
}

/* One call of the code. */
static void advance(dassl_run *r, double *t, double *y, const double *target, fint *info,
                    fint *idid)
{
    double *self = (double *)(void *)r;
    fint ipar = 0;
    if (r->daspk)
        ddaspk(daspk_residual, &r->n, t, y, r->yp, target, info, r->rtol, r->atol, idid, r->rwork,
               &r->lrw, r->iwork, &r->liw, self, &ipar, jacobian, nothing);
    else
        ddassl(residual, &r->n, t, y, r->yp, target, info, r->rtol, r->atol, idid, r->rwork,
               &r->lrw, r->iwork, &r->liw, self, &ipar, jacobian);
}

/* Step after step until tend is passed; y is then interpolated there. Returns IDID. */
static fint integrate(dassl_run *r, const model *m, double *y)
{
    fint info[INFO_LENGTH] = {0}, idid = 0;
    info[INFO_VECTOR_TOLERANCES] = info[INFO_ONE_STEP] = info[INFO_JACOBIAN] = 1;
    info[INFO_BAND] = r->form->structure == DAE_STRUCTURE_BANDED;
    double t = m->t0, target = next_target(m, t);
    for (long step = 0; step < MAX_STEPS; step++) {
        advance(r, &t, y, &target, info, &idid);
        info[INFO_CONTINUE] = 1;
        if (idid < 0 || (idid != IDID_STEPPED && t == m->tend)) break;
        if (idid != IDID_STEPPED) target = next_target(m, t);
    }
    return idid;
}

static void read_counters(const fint *iwork, run *out)
{
    out->steps = iwork[IWORK_STEPS];
    out->residuals = iwork[IWORK_RESIDUALS];
    out->jacobians = iwork[IWORK_JACOBIANS];
    out->factors = iwork[IWORK_JACOBIANS]; /* they factor whenever they evaluate */
    out->bad_error = iwork[IWORK_BAD_ERROR];
    out->bad_newton = iwork[IWORK_BAD_NEWTON];
}

static void solve(const task *k, run *out, bool daspk)
{
    double start = bench_clock();
    dassl_run r = {.daspk = daspk};
    fint idid = 0;
    if (create(&r, k)) {
        memcpy(out->y, k->model->y0, (size_t)r.n * sizeof(double));
        idid = integrate(&r, k->model, out->y);
        read_counters(r.iwork, out);
    }
    destroy(&r);
    out->seconds = bench_clock() - start;
    out->ok = idid > IDID_STEPPED;
    if (!out->ok) snprintf(out->note, sizeof out->note, "IDID = %d", (int)idid);
}

static void dassl_solve(const task *k, run *out)
{
    solve(k, out, false);
}

static void daspk_solve(const task *k, run *out)
{
    solve(k, out, true);
}

/* The address of a routine of liboctave, and the SLATEC error handler told neither to print nor to
 * stop; NULL: not there. */
static void *routine(const char *name)
{
    void *octave = dlopen(BENCH_LIBOCTAVE, RTLD_NOW | RTLD_LOCAL);
    if (!octave) return NULL;
    xsetf_fn *xsetf;
    *(void **)&xsetf = dlsym(octave, "xsetf_");
    if (xsetf) xsetf(&(fint){0});
    return dlsym(octave, name);
}

static const char *dassl_missing(void)
{
    *(void **)&ddassl = routine("ddassl_");
    return ddassl ? NULL : "liboctave with ddassl_ not found";
}

static const char *daspk_missing(void)
{
    *(void **)&ddaspk = routine("ddaspk_");
    return ddaspk ? NULL : "liboctave with ddaspk_ not found";
}

static const char *dassl_version(void)
{
    return "DASSL from " BENCH_LIBOCTAVE ", dense, one step a call (INFO(3) = 1)";
}

static const char *daspk_version(void)
{
    return "DASPK from " BENCH_LIBOCTAVE ", dense, one step a call (INFO(3) = 1)";
}

static bool suits(const model *m)
{
    return m->form.jacobian != NULL && !model_is_sparse(m);
}

const peer peer_dassl = {"DASSL", dassl_missing, dassl_version, suits, dassl_solve};
const peer peer_daspk = {"DASPK", daspk_missing, daspk_version, suits, daspk_solve};
