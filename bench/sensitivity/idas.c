/* SUNDIALS IDAS: forward sensitivities, staggered and simultaneous, and adjoints. Dense matrices
 * with SUNLinSol_Dense, sparse ones with KLU and AMD, as in ../peer_ida.c.
 *
 * Residuals of sensitivities are exact: the Jacobian at the point, once for all of them, times S
 * and S', and dF/dp. */
#include "sensitivity.h"

#include <idas/idas.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

enum { ORDERING_AMD = 0 };

static SUNContext context; /* made once, as a program would */

typedef struct pattern {
    int *colptr, *rowind; /* owned */
    int *from;            /* of a transpose: the entry each one is of; owned */
} pattern;

typedef struct matrix {
    SUNMatrix values;
    SUNLinearSolver solver;
} matrix;

typedef struct idas_run {
    const problem *q;
    int n, np;
    size_t count; /* of entries */
    double *dfdy, *dfdyp;
    pattern transposed; /* adjoint */
    N_Vector y, yp, atol, *s, *sp;
    N_Vector lambda, lambda_p, gradient;
    matrix forward, backward;
    void *ida;
} idas_run;

/* ---- callbacks ---- */

static int residual(realtype t, N_Vector y, N_Vector yp, N_Vector f, void *user)
{
    const dae_residual *form = &((const idas_run *)user)->q->form;
    return form->f(t, NV_DATA_S(y), NV_DATA_S(yp), NV_DATA_S(f), form->user);
}

static int evaluate(const idas_run *r, realtype t, N_Vector y, N_Vector yp)
{
    const dae_residual *form = &r->q->form;
    memset(r->dfdy, 0, r->count * sizeof *r->dfdy);
    memset(r->dfdyp, 0, r->count * sizeof *r->dfdyp);
    return form->jacobian(t, NV_DATA_S(y), NV_DATA_S(yp), r->dfdy, r->dfdyp, form->user);
}

/* IDA zeroes the pattern along with the values */
static void put_pattern(SUNMatrix a, int n, const int *colptr, const int *rowind)
{
    for (int j = 0; j <= n; j++) SM_INDEXPTRS_S(a)[j] = colptr[j];
    for (int e = 0; e < colptr[n]; e++) SM_INDEXVALS_S(a)[e] = rowind[e];
}

static int jacobian(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector f, SUNMatrix a,
                    void *user, N_Vector w1, N_Vector w2, N_Vector w3)
{
    (void)f, (void)w1, (void)w2, (void)w3;
    const idas_run *r = user;
    const dae_residual *form = &r->q->form;
    int status = evaluate(r, t, y, yp);
    double *values = form->colptr ? SM_DATA_S(a) : SM_DATA_D(a);
    for (size_t e = 0; e < r->count; e++) values[e] = r->dfdy[e] + cj * r->dfdyp[e];
    if (form->colptr) put_pattern(a, r->n, form->colptr, form->rowind);
    return status;
}

/* out += dF/dy s + dF/dy' sp */
static void add_products(const idas_run *r, const double *s, const double *sp, double *out)
{
    const dae_residual *form = &r->q->form;
    for (int j = 0; j < r->n; j++) {
        const int first = form->colptr ? form->colptr[j] : j * r->n;
        const int end = form->colptr ? form->colptr[j + 1] : first + r->n;
        const double a = s[j], b = sp[j];
        for (int e = first; e < end; e++)
            out[form->colptr ? form->rowind[e] : e - first] += r->dfdy[e] * a + r->dfdyp[e] * b;
    }
}

static int sensitivity_residual(int count, realtype t, N_Vector y, N_Vector yp, N_Vector f,
                                N_Vector *s, N_Vector *sp, N_Vector *out, void *user, N_Vector w1,
                                N_Vector w2, N_Vector w3)
{
    (void)f, (void)w1, (void)w2, (void)w3;
    const idas_run *r = user;
    int status = evaluate(r, t, y, yp);
    for (int k = 0; k < count && status == 0; k++) {
        double *to = NV_DATA_S(out[k]);
        status = r->q->by(t, NV_DATA_S(y), NV_DATA_S(yp), k, to, r->q->form.user);
        add_products(r, NV_DATA_S(s[k]), NV_DATA_S(sp[k]), to);
    }
    return status;
}

static void silent(int number, const char *module, const char *function, char *text, void *user)
{
    (void)number, (void)module, (void)function, (void)text, (void)user;
}

/* ---- life ---- */

static bool create_matrix(const idas_run *r, matrix *m)
{
    const bool is_sparse = r->q->form.colptr;
    m->values = is_sparse ? SUNSparseMatrix(r->n, r->n, (sunindextype)r->count, CSC_MAT, context)
                          : SUNDenseMatrix(r->n, r->n, context);
    if (!m->values) return false;
    m->solver = is_sparse ? SUNLinSol_KLU(r->y, m->values, context)
                          : SUNLinSol_Dense(r->y, m->values, context);
    return m->solver && (!is_sparse || !SUNLinSol_KLUSetOrdering(m->solver, ORDERING_AMD));
}

static N_Vector vector_of(int n, const double *values)
{
    N_Vector v = N_VNew_Serial(n, context);
    if (!v) abort();
    memset(NV_DATA_S(v), 0, (size_t)n * sizeof(double));
    if (values) memcpy(NV_DATA_S(v), values, (size_t)n * sizeof(double));
    return v;
}

static bool create(idas_run *r, const problem *q, double rtol, int np)
{
    r->q = q, r->n = q->form.n, r->np = np;
    r->count = q->form.colptr ? (size_t)q->form.colptr[r->n] : (size_t)r->n * (size_t)r->n;
    r->dfdy = bench_space(r->count, sizeof *r->dfdy);
    r->dfdyp = bench_space(r->count, sizeof *r->dfdyp);
    r->y = vector_of(r->n, q->y0), r->yp = vector_of(r->n, q->yp0);
    r->atol = vector_of(r->n, q->scale);
    for (int i = 0; i < r->n; i++) NV_DATA_S(r->atol)[i] *= rtol;
    r->ida = IDACreate(context);
    return r->ida && create_matrix(r, &r->forward) && !IDASetErrHandlerFn(r->ida, silent, NULL) &&
           !IDAInit(r->ida, residual, 0.0, r->y, r->yp) &&
           !IDASVtolerances(r->ida, rtol, r->atol) && !IDASetUserData(r->ida, r) &&
           !IDASetMaxNumSteps(r->ida, 10000000) &&
           !IDASetLinearSolver(r->ida, r->forward.solver, r->forward.values) &&
           !IDASetJacFn(r->ida, jacobian);
}

static bool create_sensitivities(idas_run *r, int way)
{
    const problem *q = r->q;
    r->s = N_VCloneVectorArray(r->np, r->y), r->sp = N_VCloneVectorArray(r->np, r->y);
    for (int k = 0; k < r->np; k++) {
        const size_t row = (size_t)k * (size_t)r->n, bytes = (size_t)r->n * sizeof(double);
        memcpy(NV_DATA_S(r->s[k]), q->s0 + row, bytes);
        memcpy(NV_DATA_S(r->sp[k]), q->sp0 + row, bytes);
    }
    return !IDASensInit(r->ida, r->np, way, sensitivity_residual, r->s, r->sp) &&
           !IDASetSensParams(r->ida, NULL, q->p, NULL) && !IDASensEEtolerances(r->ida) &&
           !IDASetSensErrCon(r->ida, SUNTRUE);
}

static void destroy(idas_run *r)
{
    IDAFree(&r->ida);
    const matrix *both[] = {&r->forward, &r->backward};
    for (int i = 0; i < 2; i++) {
        SUNLinSolFree(both[i]->solver);
        SUNMatDestroy(both[i]->values);
    }
    N_Vector all[] = {r->y, r->yp, r->atol, r->lambda, r->lambda_p, r->gradient};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) N_VDestroy(all[i]);
    if (r->s) N_VDestroyVectorArray(r->s, r->np);
    if (r->sp) N_VDestroyVectorArray(r->sp, r->np);
    free(r->dfdy), free(r->dfdyp);
    free(r->transposed.colptr), free(r->transposed.rowind), free(r->transposed.from);
}

static void finish(idas_run *r, int status, double start, outcome *out)
{
    if (r->ida) IDAGetNumSteps(r->ida, &out->steps);
    destroy(r);
    out->seconds = bench_clock() - start;
    out->ok = status == 0;
    if (!out->ok) snprintf(out->note, sizeof out->note, "IDAS returned %d", status);
}

static bool open_context(void)
{
    return context || SUNContext_Create(NULL, &context) == 0;
}

/* ---- forward ---- */

/* np = 0: a run without sensitivities */
static void forward(const problem *q, double rtol, int np, int way, outcome *out)
{
    if (!open_context()) return;
    double start = bench_clock(), reached = 0.0;
    idas_run r = {0};
    int status = -1;
    if (create(&r, q, rtol, np) && (np == 0 || create_sensitivities(&r, way)))
        status = IDASolve(r.ida, q->tend, &reached, r.y, r.yp, IDA_NORMAL);
    if (status == 0 && np) status = IDAGetSens(r.ida, &reached, r.s);
    for (int k = 0; k < np && status == 0; k++)
        memcpy(out->s + (size_t)k * (size_t)r.n, NV_DATA_S(r.s[k]), (size_t)r.n * sizeof(double));
    finish(&r, status, start, out);
}

void idas_staggered(const problem *q, double rtol, int np, outcome *out)
{
    forward(q, rtol, np, IDA_STAGGERED, out);
}

void idas_simultaneous(const problem *q, double rtol, int np, outcome *out)
{
    forward(q, rtol, np, IDA_SIMULTANEOUS, out);
}

/* ---- adjoint: (F_y'^T l)' = F_y^T l - g_y, dJ/dp = - integral of l^T F_p [Cao, Li, Petzold,
 * Serban 2003]; F_y' is constant here ---- */

static void transpose(idas_run *r)
{
    const dae_residual *form = &r->q->form;
    pattern *p = &r->transposed;
    p->colptr = bench_space((size_t)r->n + 2, sizeof *p->colptr);
    p->rowind = bench_space(r->count, sizeof *p->rowind);
    p->from = bench_space(r->count, sizeof *p->from);
    for (size_t e = 0; e < r->count; e++) p->colptr[form->rowind[e] + 2]++;
    for (int j = 0; j < r->n; j++) p->colptr[j + 2] += p->colptr[j + 1];
    for (int j = 0; j < r->n; j++)
        for (int e = form->colptr[j]; e < form->colptr[j + 1]; e++) {
            const int to = p->colptr[form->rowind[e] + 1]++;
            p->rowind[to] = j, p->from[to] = e;
        }
}

static int adjoint_residual(realtype t, N_Vector y, N_Vector yp, N_Vector l, N_Vector lp,
                            N_Vector out, void *user)
{
    const idas_run *r = user;
    const dae_residual *form = &r->q->form;
    const double *a = NV_DATA_S(l), *b = NV_DATA_S(lp);
    int status = evaluate(r, t, y, yp);
    for (int j = 0; j < r->n; j++) {
        double sum = r->q->weights[j];
        for (int e = form->colptr[j]; e < form->colptr[j + 1]; e++)
            sum += r->dfdyp[e] * b[form->rowind[e]] - r->dfdy[e] * a[form->rowind[e]];
        NV_DATA_S(out)[j] = sum;
    }
    return status;
}

static int adjoint_jacobian(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector l,
                            N_Vector lp, N_Vector f, SUNMatrix a, void *user, N_Vector w1,
                            N_Vector w2, N_Vector w3)
{
    (void)l, (void)lp, (void)f, (void)w1, (void)w2, (void)w3;
    const idas_run *r = user;
    const pattern *p = &r->transposed;
    int status = evaluate(r, t, y, yp);
    for (size_t e = 0; e < r->count; e++)
        SM_DATA_S(a)[e] = cj * r->dfdyp[p->from[e]] - r->dfdy[p->from[e]];
    put_pattern(a, r->n, p->colptr, p->rowind);
    return status;
}

/* l^T F_p of all parameters at once; from the end to 0 its integral is dJ/dp. */
static int adjoint_quadrature(realtype t, N_Vector y, N_Vector yp, N_Vector l, N_Vector lp,
                              N_Vector out, void *user)
{
    (void)lp;
    const idas_run *r = user;
    r->q->all_by(t, NV_DATA_S(y), NV_DATA_S(yp), NV_DATA_S(l), NV_DATA_S(out), r->q->form.user);
    return 0;
}

/* l = 0 at the end, and l' there by the weights: those of unknowns that have slopes. */
static void end_values(idas_run *r)
{
    const dae_residual *form = &r->q->form;
    r->lambda = vector_of(r->n, NULL), r->lambda_p = vector_of(r->n, NULL);
    r->gradient = vector_of(r->np, NULL);
    evaluate(r, 0.0, r->y, r->yp);
    for (int j = 0; j < r->n; j++)
        for (int e = form->colptr[j]; e < form->colptr[j + 1]; e++)
            if (r->dfdyp[e] != 0.0)
                NV_DATA_S(r->lambda_p)[form->rowind[e]] = -r->q->weights[j] / r->dfdyp[e];
}

static bool create_backward(idas_run *r, double rtol, int *which)
{
    end_values(r);
    transpose(r);
    return create_matrix(r, &r->backward) && !IDACreateB(r->ida, which) &&
           !IDAInitB(r->ida, *which, adjoint_residual, r->q->tend, r->lambda, r->lambda_p) &&
           !IDASStolerancesB(r->ida, *which, rtol, rtol * r->q->adjoint_size) &&
           !IDASetUserDataB(r->ida, *which, r) && !IDASetMaxNumStepsB(r->ida, *which, 10000000) &&
           !IDASetLinearSolverB(r->ida, *which, r->backward.solver, r->backward.values) &&
           !IDASetJacFnB(r->ida, *which, adjoint_jacobian) &&
           !IDAQuadInitB(r->ida, *which, adjoint_quadrature, r->gradient) &&
           !IDAQuadSStolerancesB(r->ida, *which, rtol, rtol * r->q->gradient_size) &&
           !IDASetQuadErrConB(r->ida, *which, SUNTRUE);
}

void idas_adjoint(const problem *q, double rtol, int np, outcome *out)
{
    enum { STEPS_OF_CHECKPOINT = 100 };
    if (!open_context()) return;
    double start = bench_clock(), reached = 0.0;
    idas_run r = {0};
    int status = -1, checkpoints = 0, which = 0;
    if (create(&r, q, rtol, np) &&
        (np == 0 || !IDAAdjInit(r.ida, STEPS_OF_CHECKPOINT, IDA_HERMITE)))
        status = np ? IDASolveF(r.ida, q->tend, &reached, r.y, r.yp, IDA_NORMAL, &checkpoints)
                    : IDASolve(r.ida, q->tend, &reached, r.y, r.yp, IDA_NORMAL);
    if (status == 0 && np) status = create_backward(&r, rtol, &which) ? 0 : -1;
    if (status == 0 && np) status = IDASolveB(r.ida, 0.0, IDA_NORMAL);
    if (status == 0 && np) status = IDAGetQuadB(r.ida, which, &reached, r.gradient);
    for (int k = 0; k < np && status == 0; k++) out->s[k] = NV_DATA_S(r.gradient)[k];
    finish(&r, status, start, out);
}
