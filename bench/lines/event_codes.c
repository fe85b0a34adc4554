/* Daedal, IDA with root finding and DASRT (out of liboctave, opened at run time) on problems with
 * events. At a root each code stops, the problem changes its mode and values, and the code starts
 * again from there, as the manuals of IDA and DASRT ask for. */
#include "event_problem.h"

#include <dlfcn.h>
#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

#ifndef BENCH_LIBOCTAVE
#define BENCH_LIBOCTAVE "liboctave.so"
#endif

/* ---- Daedal ---- */

static dae_status run_to_end(event_problem *p, dae_solver *solver, double *y, double *yp)
{
    dae_status status = dae_solver_start(solver, 0.0, p->y0, p->yp0);
    while (status >= 0) {
        status = dae_solver_run(solver, p->tend, y, yp);
        if (status != DAE_EVENT) return status;
        p->handle(p, dae_solver_time(solver), dae_solver_events(solver), y, yp);
        status = dae_solver_restart(solver, y, yp);
    }
    return status;
}

void event_run_daedal(event_problem *p, double rtol, run *out)
{
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_options options = dae_options_default();
    double *y = bench_space(2 * (size_t)p->form.n, sizeof *y);
    options.rtol = options.atol = rtol, options.max_steps = 0, options.stop_time = p->tend;
    p->begin(p);
    double start = bench_clock();
    dae_status status =
        p->make ? p->make(p, &problem) : dae_problem_from_residual(&p->form, &problem, NULL);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, NULL);
    if (status == DAE_OK) status = run_to_end(p, solver, y, y + p->form.n);
    if (solver) out->steps = dae_solver_stats(solver)->steps;
    dae_solver_free(solver);
    dae_problem_free(problem);
    out->seconds = bench_clock() - start;
    out->ok = status == DAE_OK;
    if (!out->ok) snprintf(out->note, sizeof out->note, "%s", dae_status_name(status));
    memcpy(out->y, y, (size_t)p->compared * sizeof *y);
    free(y);
}

/* ---- IDA ---- */

typedef struct ida_run {
    event_problem *p;
    double *dfdyp;
    long nonzeros;
    N_Vector y, yp;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    void *ida;
    int *fired;
} ida_run;

static SUNContext context;

static int ida_residual(realtype t, N_Vector y, N_Vector yp, N_Vector f, void *user)
{
    event_problem *p = ((const ida_run *)user)->p;
    return p->form.f(t, NV_DATA_S(y), NV_DATA_S(yp), NV_DATA_S(f), p);
}

static int ida_roots(realtype t, N_Vector y, N_Vector yp, realtype *g, void *user)
{
    event_problem *p = ((const ida_run *)user)->p;
    return p->form.event_function(t, NV_DATA_S(y), NV_DATA_S(yp), g, p);
}

static int ida_jacobian(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector f, SUNMatrix a,
                        void *user, N_Vector w1, N_Vector w2, N_Vector w3)
{
    (void)f, (void)w1, (void)w2, (void)w3;
    const ida_run *r = user;
    const dae_residual *form = &r->p->form;
    double *data = form->colptr ? SM_DATA_S(a) : SM_DATA_D(a);
    memset(r->dfdyp, 0, (size_t)r->nonzeros * sizeof(double));
    int status = form->jacobian(t, NV_DATA_S(y), NV_DATA_S(yp), data, r->dfdyp, form->user);
    for (int j = 0; form->colptr && j <= form->n; j++) SM_INDEXPTRS_S(a)[j] = form->colptr[j];
    for (long k = 0; form->colptr && k < r->nonzeros; k++) SM_INDEXVALS_S(a)[k] = form->rowind[k];
    add_scaled(r->nonzeros, data, cj, r->dfdyp);
    return status;
}

static void silent(int code, const char *module, const char *function, char *text, void *user)
{
    (void)code, (void)module, (void)function, (void)text, (void)user;
}

static bool ida_create(ida_run *r, double rtol)
{
    const dae_residual *form = &r->p->form;
    const long n = form->n;
    const size_t bytes = (size_t)n * sizeof(double);
    r->nonzeros = form->colptr ? form->colptr[n] : n * n;
    r->dfdyp = bench_space((size_t)r->nonzeros, sizeof(double));
    r->fired = bench_space((size_t)form->event_count, sizeof *r->fired);
    r->y = N_VNew_Serial(n, context), r->yp = N_VNew_Serial(n, context);
    memcpy(NV_DATA_S(r->y), r->p->y0, bytes), memcpy(NV_DATA_S(r->yp), r->p->yp0, bytes);
    r->matrix = form->colptr ? SUNSparseMatrix(n, n, r->nonzeros, CSC_MAT, context)
                             : SUNDenseMatrix(n, n, context);
    r->linear = form->colptr ? SUNLinSol_KLU(r->y, r->matrix, context)
                             : SUNLinSol_Dense(r->y, r->matrix, context);
    r->ida = IDACreate(context);
    for (int i = 0; i < form->event_count; i++) r->fired[i] = form->events[i].direction;
    return !(
        IDASetErrHandlerFn(r->ida, silent, NULL) ||
        IDAInit(r->ida, ida_residual, 0.0, r->y, r->yp) || IDASStolerances(r->ida, rtol, rtol) ||
        IDASetUserData(r->ida, r) || IDASetMaxNumSteps(r->ida, 10000000) ||
        IDASetLinearSolver(r->ida, r->linear, r->matrix) || IDASetJacFn(r->ida, ida_jacobian) ||
        IDARootInit(r->ida, form->event_count, ida_roots) ||
        IDASetRootDirection(r->ida, r->fired) || IDASetStopTime(r->ida, r->p->tend));
}

static int ida_to_end(ida_run *r, run *out)
{
    double t = 0.0;
    for (;;) {
        long steps = 0;
        int status = IDASolve(r->ida, r->p->tend, &t, r->y, r->yp, IDA_NORMAL);
        if (status != IDA_ROOT_RETURN) {
            IDAGetNumSteps(r->ida, &steps), out->steps += steps;
            return status;
        }
        IDAGetNumSteps(r->ida, &steps), out->steps += steps; /* a new start counts from 0 */
        IDAGetRootInfo(r->ida, r->fired);
        r->p->handle(r->p, t, r->fired, NV_DATA_S(r->y), NV_DATA_S(r->yp));
        status = IDAReInit(r->ida, t, r->y, r->yp);
        if (status) return status;
    }
}

void event_run_ida(event_problem *p, double rtol, run *out)
{
    ida_run r = {.p = p};
    int status = -1;
    p->begin(p);
    double start = bench_clock();
    if (ida_create(&r, rtol)) status = ida_to_end(&r, out);
    memcpy(out->y, NV_DATA_S(r.y), (size_t)p->compared * sizeof(double));
    IDAFree(&r.ida);
    SUNLinSolFree(r.linear), SUNMatDestroy(r.matrix);
    N_VDestroy(r.y), N_VDestroy(r.yp);
    free(r.dfdyp), free(r.fired);
    out->seconds = bench_clock() - start;
    out->ok = status == IDA_SUCCESS || status == IDA_TSTOP_RETURN;
    if (!out->ok) snprintf(out->note, sizeof out->note, "IDASolve returned %d", status);
}

/* ---- DASRT ---- */

typedef int32_t fint;
typedef void dasrt_res(const double *t, const double *y, const double *yp, double *delta,
                       fint *ires, double *rpar, fint *ipar);
typedef void dasrt_jac(const double *t, const double *y, const double *yp, double *pd,
                       const double *cj, double *rpar, fint *ipar);
typedef void dasrt_g(const fint *neq, const double *t, const double *y, const fint *ng, double *g,
                     double *rpar, fint *ipar);
typedef void dasrt_fn(dasrt_res *res, const fint *neq, double *t, double *y, double *yp,
                      const double *tout, fint *info, double *rtol, double *atol, fint *idid,
                      double *rwork, const fint *lrw, fint *iwork, const fint *liw, double *rpar,
                      fint *ipar, dasrt_jac *jac, dasrt_g *g, const fint *ng, fint *jroot);

static dasrt_fn *ddasrt;

enum { DASRT_STEPPED = 1, DASRT_ROOT = 4, DASRT_ORDER = 5, DASRT_STEPS = 2000000 };

typedef struct dasrt_run {
    event_problem *p;
    double *dfdy, *dfdyp, *yp, *rwork;
    fint *iwork, *jroot;
    int *fired;
} dasrt_run;

static void dasrt_residual(const double *t, const double *y, const double *yp, double *delta,
                           fint *ires, double *rpar, fint *ipar)
{
    (void)ipar;
    event_problem *p = ((const dasrt_run *)(void *)rpar)->p;
    if (p->form.f(*t, y, yp, delta, p)) *ires = -1;
}

/* DASRT knows y alone at a root */
static void dasrt_roots(const fint *neq, const double *t, const double *y, const fint *ng,
                        double *g, double *rpar, fint *ipar)
{
    (void)neq, (void)ng, (void)ipar;
    event_problem *p = ((const dasrt_run *)(void *)rpar)->p;
    p->form.event_function(*t, y, NULL, g, p);
}

/* pd = dF/dy + cj dF/dy', full; pd is zero on entry */
static void dasrt_jacobian(const double *t, const double *y, const double *yp, double *pd,
                           const double *cj, double *rpar, fint *ipar)
{
    (void)ipar;
    const dasrt_run *r = (const dasrt_run *)(void *)rpar;
    const dae_residual *form = &r->p->form;
    const int n = form->n;
    const size_t count = form->colptr ? (size_t)form->colptr[n] : (size_t)n * (size_t)n;
    memset(r->dfdy, 0, count * sizeof(double)), memset(r->dfdyp, 0, count * sizeof(double));
    form->jacobian(*t, y, yp, r->dfdy, r->dfdyp, form->user);
    for (int j = 0; j < n; j++) {
        int from = form->colptr ? form->colptr[j] : j * n;
        int to = form->colptr ? form->colptr[j + 1] : from + n;
        for (int k = from; k < to; k++)
            pd[(form->colptr ? form->rowind[k] : k - from) + j * n] =
                r->dfdy[k] + *cj * r->dfdyp[k];
    }
}

/* Which event functions rise: DASRT also stops where they fall, as just after an impact, where the
 * value is 0 but for rounding */
static bool dasrt_rising(const dasrt_run *r, double t, const double *y)
{
    const event_problem *p = r->p;
    const int n = p->form.n, ng = p->form.event_count;
    const double ahead = 1e-8 * p->tend;
    double *g = bench_space((size_t)(2 * ng + n), sizeof *g), *next = g + ng, *there = next + ng;
    bool any = false;
    for (int i = 0; i < n; i++) there[i] = y[i] + ahead * r->yp[i];
    p->form.event_function(t, y, NULL, g, p->form.user);
    p->form.event_function(t + ahead, there, NULL, next, p->form.user);
    for (int i = 0; i < ng; i++) any |= r->fired[i] = r->jroot[i] != 0 && next[i] > g[i];
    free(g);
    return any;
}

/* From root to root; IDID at the end */
static fint dasrt_to_end(dasrt_run *r, double rtol, fint lrw, fint liw, double *y, run *out)
{
    event_problem *p = r->p;
    fint n = p->form.n, ng = p->form.event_count, info[20] = {0}, idid = 0, ipar = 0;
    double t = 0.0, atol = rtol;
    /* one step a call, else it prints a message every 500 steps; tend is not passed; exact Jacobian
     */
    info[2] = info[3] = info[4] = 1, r->rwork[0] = p->tend;
    while (out->steps < DASRT_STEPS) {
        ddasrt(dasrt_residual, &n, &t, y, r->yp, &p->tend, info, &rtol, &atol, &idid, r->rwork,
               &lrw, r->iwork, &liw, (double *)(void *)r, &ipar, dasrt_jacobian, dasrt_roots, &ng,
               r->jroot);
        info[0] = 1, out->steps++;
        if (idid != DASRT_STEPPED && idid != DASRT_ROOT) break;
        if (idid == DASRT_STEPPED || !dasrt_rising(r, t, y)) continue;
        p->handle(p, t, r->fired, y, r->yp);
        info[0] = 0;
    }
    return t >= p->tend ? idid : -1;
}

void event_run_dasrt(event_problem *p, double rtol, run *out)
{
    const fint n = p->form.n, ng = p->form.event_count;
    const fint lrw = 60 + (DASRT_ORDER + 4) * n + n * n + 3 * ng, liw = 30 + n;
    const size_t full = (size_t)n * (size_t)n;
    dasrt_run r = {.p = p};
    p->begin(p);
    double start = bench_clock();
    r.dfdy = bench_space(full, 8), r.dfdyp = bench_space(full, 8);
    r.yp = bench_space((size_t)n, 8), r.rwork = bench_space((size_t)lrw, 8);
    r.iwork = bench_space((size_t)liw, sizeof(fint));
    r.jroot = bench_space((size_t)ng, sizeof(fint));
    r.fired = bench_space((size_t)ng, sizeof(int));
    double *y = bench_space((size_t)n, 8);
    memcpy(y, p->y0, (size_t)n * 8), memcpy(r.yp, p->yp0, (size_t)n * 8);
    fint idid = dasrt_to_end(&r, rtol, lrw, liw, y, out);
    memcpy(out->y, y, (size_t)p->compared * 8);
    free(r.dfdy), free(r.dfdyp), free(r.yp), free(r.rwork), free(r.iwork), free(r.jroot);
    free(r.fired), free(y);
    out->seconds = bench_clock() - start;
    out->ok = idid > 0;
    if (!out->ok) snprintf(out->note, sizeof out->note, "idid = %d", (int)idid);
}

const char *event_codes_open(void)
{
    void *library = dlopen(BENCH_LIBOCTAVE, RTLD_NOW | RTLD_LOCAL);
    if (library) *(void **)&ddasrt = dlsym(library, "ddasrt_");
    if (!ddasrt) return "liboctave with ddasrt_ not found";
    return context || SUNContext_Create(NULL, &context) == 0 ? NULL : "no SUNContext";
}
