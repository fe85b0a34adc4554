/* SUNDIALS IDA on the models: dense with SUNLinSol_Dense, sparse with KLU on the same pattern.
 *
 * IDA gets the model's own callbacks. Its matrix arrives zeroed, so that dF/dy is written straight
 * into it and only dF/dy' goes through scratch memory. */
#include "peer.h"

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_version.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

/* KLU orderings as SUNLinSol_KLU numbers them. AMD is faster than the default COLAMD on both sparse
 * problems here (less fill on their symmetric patterns), so IDA is given AMD. */
enum { ORDERING_AMD = 0 };

typedef struct ida_run {
    const dae_residual *form;
    double *dfdyp; /* scratch for dF/dy' */
    long nonzeros;
    sunindextype *colptr, *rowind; /* the pattern in IDA's integers */
    N_Vector y, yp, atol, tested;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    void *ida;
} ida_run;

static SUNContext context; /* made once, as a program would */

static int residual(realtype t, N_Vector y, N_Vector yp, N_Vector f, void *user)
{
    const ida_run *r = user;
    return r->form->f(t, NV_DATA_S(y), NV_DATA_S(yp), NV_DATA_S(f), r->form->user);
}

static int jacobian_dense(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector f, SUNMatrix a,
                          void *user, N_Vector w1, N_Vector w2, N_Vector w3)
{
    (void)f, (void)w1, (void)w2, (void)w3;
    const ida_run *r = user;
    double *data = SM_DATA_D(a);
    memset(r->dfdyp, 0, (size_t)r->nonzeros * sizeof(double));
    int status = r->form->jacobian(t, NV_DATA_S(y), NV_DATA_S(yp), data, r->dfdyp, r->form->user);
    add_scaled(r->nonzeros, data, cj, r->dfdyp);
    return status;
}

static int jacobian_sparse(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector f,
                           SUNMatrix a, void *user, N_Vector w1, N_Vector w2, N_Vector w3)
{
    (void)f, (void)w1, (void)w2, (void)w3;
    const ida_run *r = user;
    double *data = SM_DATA_S(a);
    memset(r->dfdyp, 0, (size_t)r->nonzeros * sizeof(double));
    int status = r->form->jacobian(t, NV_DATA_S(y), NV_DATA_S(yp), data, r->dfdyp, r->form->user);
    /* IDA zeroes the pattern along with the values */
    memcpy(SM_INDEXPTRS_S(a), r->colptr, (size_t)(r->form->n + 1) * sizeof(sunindextype));
    memcpy(SM_INDEXVALS_S(a), r->rowind, (size_t)r->nonzeros * sizeof(sunindextype));
    add_scaled(r->nonzeros, data, cj, r->dfdyp);
    return status;
}

static bool create_dense(ida_run *r)
{
    long n = r->form->n;
    r->nonzeros = n * n;
    r->matrix = SUNDenseMatrix(n, n, context);
    r->linear = r->matrix ? SUNLinSol_Dense(r->y, r->matrix, context) : NULL;
    return r->linear;
}

static bool create_sparse(ida_run *r)
{
    const dae_residual *form = r->form;
    long n = form->n;
    r->nonzeros = form->colptr[n];
    r->colptr = malloc((size_t)(n + 1) * sizeof *r->colptr);
    r->rowind = malloc((size_t)r->nonzeros * sizeof *r->rowind);
    r->matrix = SUNSparseMatrix(n, n, r->nonzeros, CSC_MAT, context);
    if (!r->colptr || !r->rowind || !r->matrix) return false;
    for (long j = 0; j <= n; j++) r->colptr[j] = form->colptr[j];
    for (long k = 0; k < r->nonzeros; k++) r->rowind[k] = form->rowind[k];
    r->linear = SUNLinSol_KLU(r->y, r->matrix, context);
    return r->linear && SUNLinSol_KLUSetOrdering(r->linear, ORDERING_AMD) == 0;
}

static void silent(int code, const char *module, const char *function, char *text, void *user)
{
    (void)code, (void)module, (void)function, (void)text, (void)user;
}

static bool create_vectors(ida_run *r, const task *k)
{
    long n = r->form->n;
    size_t bytes = (size_t)n * sizeof(double);
    r->y = N_VNew_Serial(n, context);
    r->yp = N_VNew_Serial(n, context);
    r->atol = N_VNew_Serial(n, context);
    if (!r->y || !r->yp || !r->atol) return false;
    memcpy(NV_DATA_S(r->y), k->model->y0, bytes);
    memcpy(NV_DATA_S(r->yp), k->model->yp0, bytes);
    memcpy(NV_DATA_S(r->atol), k->atol, bytes);
    if (!k->tested) return true;
    r->tested = N_VNew_Serial(n, context);
    if (r->tested) memcpy(NV_DATA_S(r->tested), k->tested, bytes);
    return r->tested;
}

static bool create(ida_run *r, const task *k)
{
    bool sparse = model_is_sparse(k->model);
    r->form = &k->model->form;
    r->ida = IDACreate(context);
    if (!r->ida || !create_vectors(r, k)) return false;
    if (!(sparse ? create_sparse(r) : create_dense(r))) return false;
    r->dfdyp = malloc((size_t)r->nonzeros * sizeof(double));
    if (!r->dfdyp) return false;
    int failed = IDASetErrHandlerFn(r->ida, silent, NULL) ||
                 IDAInit(r->ida, residual, k->model->t0, r->y, r->yp) ||
                 IDASVtolerances(r->ida, k->rtol, r->atol) || IDASetUserData(r->ida, r) ||
                 IDASetMaxNumSteps(r->ida, 10000000) ||
                 IDASetLinearSolver(r->ida, r->linear, r->matrix) ||
                 IDASetJacFn(r->ida, sparse ? jacobian_sparse : jacobian_dense);
    if (!failed && r->tested) failed = IDASetId(r->ida, r->tested) || IDASetSuppressAlg(r->ida, 1);
    return !failed;
}

static void destroy(ida_run *r)
{
    IDAFree(&r->ida);
    SUNLinSolFree(r->linear);
    SUNMatDestroy(r->matrix);
    N_VDestroy(r->y);
    N_VDestroy(r->yp);
    N_VDestroy(r->atol);
    N_VDestroy(r->tested);
    free(r->dfdyp);
    free(r->colptr);
    free(r->rowind);
}

static void read_counters(void *ida, run *out)
{
    IDAGetNumSteps(ida, &out->steps);
    IDAGetNumResEvals(ida, &out->residuals);
    IDAGetNumJacEvals(ida, &out->jacobians);
    IDAGetNumLinSolvSetups(ida, &out->factors);
    IDAGetNumErrTestFails(ida, &out->bad_error);
    IDAGetNumNonlinSolvConvFails(ida, &out->bad_newton);
}

static void solve(const task *k, run *out)
{
    const model *m = k->model;
    double start = bench_clock();
    ida_run r = {0};
    int status = -1;
    if (create(&r, k)) {
        double reached = m->t0;
        status = IDASolve(r.ida, m->tend, &reached, r.y, r.yp, IDA_NORMAL);
        memcpy(out->y, NV_DATA_S(r.y), (size_t)m->form.n * sizeof(double));
        read_counters(r.ida, out);
    }
    destroy(&r);
    out->seconds = bench_clock() - start;
    out->ok = status == IDA_SUCCESS;
    if (!out->ok) snprintf(out->note, sizeof out->note, "IDASolve returned %d", status);
}

static const char *missing(void)
{
    if (!context && SUNContext_Create(NULL, &context) != 0) return "no SUNContext";
    return NULL;
}

static const char *version(void)
{
    return "SUNDIALS IDA " SUNDIALS_VERSION ", SUNLinSol_Dense or KLU with AMD, IDA_NORMAL";
}

static bool suits(const model *m)
{
    return m->form.jacobian != NULL;
}

const peer peer_ida = {"IDA", missing, version, suits, solve};
