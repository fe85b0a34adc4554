/* IDA on the large problems, all by hand: residual, sparse Jacobian for KLU (AMD, the faster of its
 * orders here), factored cells as preconditioner of GMRES. */
#include "large.h"

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_sparse.h>

typedef struct ida_run {
    const large_problem *p;
    double *blocks;
} ida_run;

static int residual(realtype t, N_Vector y, N_Vector yp, N_Vector f, void *user)
{
    large_residual(((ida_run *)user)->p, t, NV_DATA_S(y), NV_DATA_S(yp), NV_DATA_S(f));
    return 0;
}

static int jacobian(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector f, SUNMatrix a,
                    void *user, N_Vector w1, N_Vector w2, N_Vector w3)
{
    const large_problem *p = ((ida_run *)user)->p;
    (void)yp, (void)f, (void)w1, (void)w2, (void)w3;
    for (long c = 0; c <= p->n; c++) SM_INDEXPTRS_S(a)[c] = p->start[c];
    for (long k = 0; k < p->start[p->n]; k++) SM_INDEXVALS_S(a)[k] = p->row[k];
    large_jacobian(p, cj, t, NV_DATA_S(y), SM_DATA_S(a));
    return 0;
}

static int set_up(realtype t, N_Vector y, N_Vector yp, N_Vector f, realtype cj, void *user)
{
    ida_run *r = user;
    (void)yp, (void)f;
    large_blocks(r->p, cj, t, NV_DATA_S(y), r->blocks);
    return 0;
}

static int precondition(realtype t, N_Vector y, N_Vector yp, N_Vector f, N_Vector b, N_Vector z,
                        realtype cj, realtype delta, void *user)
{
    const ida_run *r = user;
    (void)t, (void)y, (void)yp, (void)f, (void)cj, (void)delta;
    N_VScale(1.0, b, z);
    large_block_solve(r->p, r->blocks, NV_DATA_S(z));
    return 0;
}

static void silent(int code, const char *module, const char *function, char *text, void *user)
{
    (void)code, (void)module, (void)function, (void)text, (void)user;
}

/* A linear solver for IDA; the matrix, if it has one, in *a */
static bool attach(void *ida, ida_run *q, N_Vector y, bool gmres, SUNContext context, SUNMatrix *a,
                   SUNLinearSolver *solver)
{
    const large_problem *p = q->p;
    *a = gmres ? NULL : SUNSparseMatrix(p->n, p->n, p->start[p->n], CSC_MAT, context);
    *solver =
        gmres ? SUNLinSol_SPGMR(y, SUN_PREC_LEFT, 20, context) : SUNLinSol_KLU(y, *a, context);
    if (!*solver || IDASetLinearSolver(ida, *solver, *a) < 0) return false;
    if (gmres) return IDASetPreconditioner(ida, set_up, precondition) == 0;
    return SUNLinSol_KLUSetOrdering(*solver, 0) == 0 && IDASetJacFn(ida, jacobian) == 0;
}

static void integrate(void *ida, ida_run *q, double rtol, N_Vector y, N_Vector yp, N_Vector id,
                      large_result *r)
{
    const large_problem *p = q->p;
    double before = large_seconds(), wall;
    int code = IDASStolerances(ida, rtol, 1e-3 * rtol);
    IDASetId(ida, id);
    if (p->cell == CELL_MOST) IDASetSuppressAlg(ida, 1); /* index 2 */
    IDASetMaxNumSteps(ida, -1);
    IDASetErrHandlerFn(ida, silent, NULL);
    if (p->cell != CELL_MOST) code |= IDACalcIC(ida, IDA_YA_YDP_INIT, p->end);
    r->start = large_seconds() - before;
    r->memory[1] = large_megabytes();
    before = large_seconds(), wall = large_wall();
    double t = 0.0;
    if (code >= 0) code = IDASolve(ida, p->end, &t, y, yp, IDA_NORMAL);
    r->run = large_seconds() - before;
    r->wall = large_wall() - wall;
    r->memory[2] = large_megabytes();
    IDAGetNumSteps(ida, &r->steps);
    r->ok = code >= 0;
    r->value = NV_DATA_S(y)[p->probed];
    if (!r->ok) snprintf(r->note, sizeof r->note, "IDA %d at t = %.3g", code, t);
}

void large_ida(const large_problem *p, bool gmres, double rtol, large_result *r)
{
    ida_run q = {.p = p, .blocks = calloc((size_t)(p->n * p->cell), sizeof(double))};
    SUNContext context = NULL;
    SUNMatrix a = NULL;
    SUNLinearSolver solver = NULL;
    SUNContext_Create(NULL, &context);
    N_Vector y = N_VMake_Serial(p->n, p->y, context), yp = N_VMake_Serial(p->n, p->yp, context);
    N_Vector id = N_VNew_Serial(p->n, context);
    for (long i = 0; i < p->n; i++) NV_DATA_S(id)[i] = p->M[i] != 0.0;
    void *ida = IDACreate(context);
    r->unknowns = p->n;
    r->memory[0] = large_megabytes();
    if (ida && IDAInit(ida, residual, 0.0, y, yp) == 0 && IDASetUserData(ida, &q) == 0 &&
        attach(ida, &q, y, gmres, context, &a, &solver))
        integrate(ida, &q, rtol, y, yp, id, r);
    IDAFree(&ida);
    SUNLinSolFree(solver);
    if (a) SUNMatDestroy(a);
    N_VDestroy(y), N_VDestroy(yp), N_VDestroy(id);
    SUNContext_Free(&context);
    free(q.blocks);
}
