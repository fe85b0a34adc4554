/* A TS of PETSc as an integrator of Daedal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

/* ---- values between PETSc's vectors and arrays of all unknowns ---- */

/* y = those values of a vector that the rows of this rank read. */
static PetscErrorCode bring(dae_petsc *p, Vec from, double *y)
{
    const PetscScalar *values;
    PetscCall(VecScatterBegin(p->bring, from, p->needed, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(p->bring, from, p->needed, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGetArrayRead(p->needed, &values));
    for (int k = 0; k < p->share.reads; k++) y[p->share.read[k]] = values[k];
    PetscCall(VecRestoreArrayRead(p->needed, &values));
    return 0;
}

/* y = all values of a vector, on every rank. */
static PetscErrorCode bring_all(dae_petsc *p, Vec from, double *y)
{
    const PetscScalar *values;
    PetscCall(VecScatterBegin(p->all, from, p->whole, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(p->all, from, p->whole, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGetArrayRead(p->whole, &values));
    for (int j = 0; j < p->n; j++) y[j] = values[p->share.place[j]];
    PetscCall(VecRestoreArrayRead(p->whole, &values));
    return 0;
}

static PetscErrorCode put(const dae_petsc *p, const double *y, Vec to)
{
    const share *s = &p->share;
    PetscScalar *values;
    PetscCall(VecGetArray(to, &values));
    for (PetscInt k = s->first; k < s->last; k++) values[k - s->first] = y[s->unknown[k]];
    PetscCall(VecRestoreArray(to, &values));
    return 0;
}

/* ---- callbacks of TS ---- */

/* A failed evaluation is one on every rank: PETSc then tries a shorter step. */
static PetscErrorCode agree(dae_petsc *p, int code, int *failed)
{
    const int here[2] = {code != 0, code < 0};
    int worst[2];
    MPI_Allreduce(here, worst, 2, MPI_INT, MPI_MAX, p->comm);
    *failed = worst[0];
    if (worst[1]) p->code = -1; /* to stop, on every rank */
    return 0;
}

static PetscErrorCode function(TS ts, PetscReal t, Vec u, Vec slope, Vec f, void *user)
{
    dae_petsc *p = user;
    const share *s = &p->share;
    PetscScalar *values;
    SNES snes;
    int failed = 0;
    PetscCall(bring(p, u, p->y));
    PetscCall(bring(p, slope, p->yp));
    const int count = (int)(s->last - s->first);
    int code = dae_equations_residual_rows(p->equations, t, p->y, p->yp, s->rows, count, p->f);
    PetscCall(agree(p, code, &failed));
    PetscCall(VecGetArray(f, &values));
    for (int k = 0; k < count; k++) values[k] = failed ? 0.0 : p->f[s->rows[k]];
    PetscCall(VecRestoreArray(f, &values));
    PetscCall(TSGetSNES(ts, &snes));
    if (failed) PetscCall(SNESSetFunctionDomainError(snes));
    PetscCall(VecCopy(slope, p->slope));
    p->evaluated = t;
    return 0;
}

static PetscErrorCode jacobian(TS ts, PetscReal t, Vec u, Vec slope, PetscReal shift, Mat a, Mat b,
                               void *user)
{
    dae_petsc *p = user;
    const share *s = &p->share;
    SNES snes;
    int failed = 0;
    PetscCall(bring(p, u, p->y));
    PetscCall(bring(p, slope, p->yp));
    const int count = (int)(s->last - s->first);
    int code = dae_equations_jacobian_rows(p->equations, t, p->y, p->yp, s->rows, count, p->dfdy,
                                           p->dfdyp);
    PetscCall(agree(p, code, &failed));
    PetscCall(TSGetSNES(ts, &snes));
    if (failed) PetscCall(SNESSetJacobianDomainError(snes));
    for (int k = 0; k < count; k++) {
        const PetscInt row = s->first + k, width = s->start[k + 1] - s->start[k];
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            p->values[e - s->start[k]] = p->dfdy[s->entry[e]] + shift * p->dfdyp[s->entry[e]];
        PetscCall(
            MatSetValues(b, 1, &row, width, s->column + s->start[k], p->values, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(b, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(b, MAT_FINAL_ASSEMBLY));
    if (a == b) return 0;
    PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    return 0;
}

/* ---- making and freeing ---- */

static void release(dae_petsc *p)
{
    TSDestroy(&p->ts);
    VecDestroy(&p->u);
    VecDestroy(&p->slope);
    VecDestroy(&p->rtol);
    VecDestroy(&p->atol);
    VecDestroy(&p->needed);
    VecDestroy(&p->whole);
    MatDestroy(&p->matrix);
    VecScatterDestroy(&p->bring);
    VecScatterDestroy(&p->all);
    PetscFree(p->y);
    PetscFree(p->values);
    share_free(&p->share);
    p->colptr = NULL;
    p->n = 0;
}

static PetscErrorCode make_vectors(dae_petsc *p)
{
    const share *s = &p->share;
    PetscInt *places;
    IS from;
    PetscCall(VecCreate(p->comm, &p->u));
    PetscCall(VecSetSizes(p->u, s->last - s->first, p->n));
    PetscCall(VecSetFromOptions(p->u));
    PetscCall(VecDuplicate(p->u, &p->slope));
    PetscCall(VecDuplicate(p->u, &p->rtol));
    PetscCall(VecDuplicate(p->u, &p->atol));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, s->reads, &p->needed));
    PetscCall(PetscMalloc1((size_t)s->reads + 1, &places));
    for (int k = 0; k < s->reads; k++) places[k] = s->place[s->read[k]];
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, s->reads, places, PETSC_OWN_POINTER, &from));
    PetscCall(VecScatterCreate(p->u, from, p->needed, NULL, &p->bring));
    PetscCall(ISDestroy(&from));
    PetscCall(VecScatterCreateToAll(p->u, &p->all, &p->whole));
    return 0;
}

/* An empty matrix with room for the entries of all rows. */
static PetscErrorCode make_matrix(dae_petsc *p)
{
    const share *s = &p->share;
    const int count = (int)(s->last - s->first);
    PetscInt *inside, *outside;
    PetscCall(PetscCalloc2((size_t)count + 1, &inside, (size_t)count + 1, &outside));
    for (int k = 0; k < count; k++)
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            (s->column[e] >= s->first && s->column[e] < s->last ? inside : outside)[k]++;
    PetscCall(MatCreate(p->comm, &p->matrix));
    PetscCall(MatSetSizes(p->matrix, count, count, p->n, p->n));
    PetscCall(MatSetFromOptions(p->matrix));
    PetscCall(MatXAIJSetPreallocation(p->matrix, 1, inside, outside, NULL, NULL));
    PetscCall(PetscFree2(inside, outside));
    return 0;
}

static PetscErrorCode make_arrays(dae_petsc *p)
{
    const size_t n = (size_t)p->n, entries = (size_t)p->colptr[p->n];
    int widest = 1;
    PetscCall(PetscCalloc1(3 * n + 2 * entries + 1, &p->y));
    p->yp = p->y + n;
    p->f = p->y + 2 * n;
    p->dfdy = p->y + 3 * n;
    p->dfdyp = p->dfdy + entries;
    for (int k = 0; k < p->share.last - p->share.first; k++)
        widest = PetscMax(widest, p->share.start[k + 1] - p->share.start[k]);
    PetscCall(PetscMalloc1((size_t)widest, &p->values));
    return 0;
}

/* Direct solvers with pivots unless words ask for others: by default PETSc has ILU, which breaks
 * down on many of the systems that algebraic equations give. */
static PetscErrorCode choose_solvers(dae_petsc *p)
{
    SNES snes;
    KSP ksp;
    PC pc;
    PetscBool given;
    PetscCall(PetscOptionsHasName(NULL, NULL, "-pc_type", &given));
    if (given) return 0;
    PetscCall(TSGetSNES(p->ts, &snes));
    PetscCall(SNESGetKSP(snes, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(KSPSetType(ksp, KSPPREONLY));
    PetscCall(PCSetType(pc, PCLU));
    PetscCall(PCFactorSetMatSolverType(pc, p->ranks > 1 ? MATSOLVERMUMPS : MATSOLVERKLU));
    return 0;
}

/* Vectors of tolerances, for TS and for Newton's method. */
static PetscErrorCode set_tolerances(dae_petsc *p)
{
    double *rtol, *atol;
    PetscCall(PetscMalloc2((size_t)p->n, &rtol, (size_t)p->n, &atol));
    dae_equations_tolerances(p->equations, rtol, atol);
    PetscCall(put(p, rtol, p->rtol));
    PetscCall(put(p, atol, p->atol));
    PetscCall(TSSetTolerances(p->ts, atol[0], p->atol, rtol[0], p->rtol));
    PetscCall(PetscFree2(rtol, atol));
    return 0;
}

/* The largest |dx_i|/(atol_i + rtol_i |x_i|) over all ranks. */
static PetscErrorCode size_of(const dae_petsc *p, Vec x, Vec dx, PetscReal *size)
{
    const PetscScalar *a, *b, *rtol, *atol;
    PetscReal here = 0.0;
    PetscCall(VecGetArrayRead(x, &a));
    PetscCall(VecGetArrayRead(dx, &b));
    PetscCall(VecGetArrayRead(p->rtol, &rtol));
    PetscCall(VecGetArrayRead(p->atol, &atol));
    for (PetscInt k = 0; k < p->share.last - p->share.first; k++) {
        const PetscReal part = fabs(b[k]) / (atol[k] + rtol[k] * fabs(a[k]));
        if (!(part <= here)) here = part; /* nan, too */
    }
    PetscCall(VecRestoreArrayRead(x, &a));
    PetscCall(VecRestoreArrayRead(dx, &b));
    PetscCall(VecRestoreArrayRead(p->rtol, &rtol));
    PetscCall(VecRestoreArrayRead(p->atol, &atol));
    if (isnan(here)) here = PETSC_MAX_REAL;
    MPI_Allreduce(&here, size, 1, MPIU_REAL, MPIU_MAX, p->comm);
    return 0;
}

/* Newton's method ends where its last correction is small against the tolerances of the run:
 * residuals have units of their own, and at the prediction they may be rounding already. */
static PetscErrorCode newton_ends(SNES snes, PetscInt pass, PetscReal x_norm, PetscReal dx_norm,
                                  PetscReal f_norm, SNESConvergedReason *reason, void *user)
{
    static const PetscReal SMALL = 0.01;
    const dae_petsc *p = user;
    Vec x, dx;
    PetscReal size;
    (void)x_norm, (void)dx_norm;
    *reason = SNES_CONVERGED_ITERATING;
    if (PetscIsInfOrNanReal(f_norm)) *reason = SNES_DIVERGED_FNORM_NAN;
    if (pass == 0 || *reason != SNES_CONVERGED_ITERATING) return 0;
    PetscCall(SNESGetSolution(snes, &x));
    PetscCall(SNESGetSolutionUpdate(snes, &dx));
    PetscCall(size_of(p, x, dx, &size));
    if (size <= SMALL) *reason = SNES_CONVERGED_SNORM_RELATIVE;
    return 0;
}

/* What words have not said. */
static PetscErrorCode default_option(const char *name, const char *value)
{
    PetscBool given;
    PetscCall(PetscOptionsHasName(NULL, NULL, name, &given));
    if (!given) PetscCall(PetscOptionsSetValue(NULL, name, value));
    return 0;
}

static PetscErrorCode make_ts(dae_petsc *p)
{
    enum { MOST_PASSES = 10 };
    SNES snes;
    SNESLineSearch search;
    TSAdapt adapt;
    PetscBool blind;
    TSType type;
    PetscCall(TSCreate(p->comm, &p->ts));
    PetscCall(TSSetProblemType(p->ts, TS_NONLINEAR));
    PetscCall(TSSetEquationType(p->ts, TS_EQ_DAE_IMPLICIT_INDEX1));
    PetscCall(TSSetType(p->ts, TSBDF));
    PetscCall(TSSetIFunction(p->ts, NULL, function, p));
    PetscCall(TSSetIJacobian(p->ts, p->matrix, p->matrix, jacobian, p));
    PetscCall(TSSetExactFinalTime(p->ts, TS_EXACTFINALTIME_STEPOVER));
    PetscCall(TSSetMaxTime(p->ts, 0.5 * PETSC_MAX_REAL));
    PetscCall(TSSetMaxSteps(p->ts, PETSC_MAX_INT - 1));
    PetscCall(TSSetMaxSNESFailures(p->ts, 1));
    PetscCall(TSSetErrorIfStepFails(p->ts, PETSC_FALSE));
    PetscCall(default_option("-ts_bdf_order", "5"));              /* PETSc has 2 */
    PetscCall(default_option("-ts_adapt_wnormtype", "infinity")); /* few of many may move */
    PetscCall(TSGetSNES(p->ts, &snes));
    PetscCall(SNESSetConvergenceTest(snes, newton_ends, p, NULL));
    PetscCall(SNESSetTolerances(snes, 0.0, 0.0, 0.0, MOST_PASSES, PETSC_DEFAULT));
    PetscCall(SNESGetLineSearch(snes, &search));
    PetscCall(SNESLineSearchSetType(search, SNESLINESEARCHBASIC));
    PetscCall(choose_solvers(p));
    PetscCall(TSSetSolution(p->ts, p->u));
    PetscCall(TSSetFromOptions(p->ts));
    PetscCall(TSGetType(p->ts, &type));
    PetscCall(PetscStrncpy(p->type, type, sizeof p->type));
    PetscCall(TSSetUp(p->ts));
    PetscCall(TSGetAdapt(p->ts, &adapt));
    PetscCall(PetscObjectTypeCompare((PetscObject)adapt, TSADAPTNONE, &blind));
    if (blind)
        snprintf(
            p->error, sizeof p->error,
            "TS of type %.20s does not test the errors of its steps as it is set; take bdf, or "
            "-ts_adapt_type basic where the type has an estimate",
            type);
    return 0;
}

/* Everything for the equations at hand; *failed: they have no pattern, or none that is regular. */
static PetscErrorCode make(dae_petsc *p, int *failed)
{
    const int *rowind;
    release(p);
    p->n = dae_equations_size(p->equations);
    PetscCall(share_make(&p->share, p->equations, p->comm, failed));
    if (*failed) return 0;
    dae_equations_pattern(p->equations, &p->colptr, &rowind);
    PetscCall(make_arrays(p));
    PetscCall(make_vectors(p));
    PetscCall(make_matrix(p));
    PetscCall(make_ts(p));
    p->stats.rows = (long)(p->share.last - p->share.first);
    p->stats.read = 0;
    for (int k = 0; k < p->share.reads; k++) {
        const PetscInt at = p->share.place[p->share.read[k]];
        p->stats.read += at < p->share.first || at >= p->share.last;
    }
    return 0;
}

/* ---- errors of PETSc ---- */

/* The words of the first error are kept; PETSc would print them with a page of its own. */
static PetscErrorCode keep_error(MPI_Comm comm, int line, const char *where, const char *file,
                                 PetscErrorCode code, PetscErrorType type, const char *words,
                                 void *user)
{
    dae_petsc *p = user;
    (void)comm, (void)line, (void)file;
    if (type == PETSC_ERROR_INITIAL)
        snprintf(p->error, sizeof p->error, "PETSc has reported an error in %.40s: %.120s", where,
                 words ? words : "");
    return code;
}

/* ---- what an integrator does ---- */

static PetscErrorCode begin(dae_petsc *p, double t, double h, const double *y, int *failed)
{
    /* another choice of states writes another pattern in the place of the old one */
    PetscCall(make(p, failed));
    if (*failed) return 0;
    PetscCall(put(p, y, p->u));
    PetscCall(TSSetTime(p->ts, t));
    PetscCall(TSSetTimeStep(p->ts, h));
    PetscCall(set_tolerances(p));
    p->t = t;
    p->pending = p->begun = false;
    p->code = 0;
    return 0;
}

static int start(void *user, dae_equations *q, double t, double h, const double *y,
                 const double *yp)
{
    dae_petsc *p = user;
    int failed = 0;
    (void)yp;
    p->equations = q;
    p->error[0] = '\0';
    PetscPushErrorHandler(keep_error, p);
    (void)begin(p, t, h, y, &failed);
    PetscPopErrorHandler();
    if (failed)
        snprintf(p->error, sizeof p->error,
                 "the equations have no sparse pattern, or one that is singular");
    if (h < 0.0) snprintf(p->error, sizeof p->error, "PETSc's TS goes forward in time only");
    return 0; /* the first attempt tells */
}

/* Why the last step failed, in words. */
static PetscErrorCode explain(dae_petsc *p, TSConvergedReason reason, const char **words)
{
    SNES snes;
    SNESConvergedReason newton;
    PetscCall(TSGetSNES(p->ts, &snes));
    PetscCall(SNESGetConvergedReason(snes, &newton));
    *words = reason == TS_DIVERGED_STEP_REJECTED ? "PETSc's TS rejected the step too often"
             : newton == SNES_DIVERGED_LINEAR_SOLVE
                 ? "PETSc's linear solver (KSP) did not converge; try another one, or -pc_type lu"
             : newton == SNES_DIVERGED_FUNCTION_DOMAIN
                 ? "the equations have no value at a point that PETSc's SNES tried"
                 : "PETSc's nonlinear solver (SNES) did not converge";
    return 0;
}

/* Back to where the last accepted step ended, with all that TS remembers gone but its solution. */
static PetscErrorCode go_back(dae_petsc *p)
{
    PetscCall(TSRollBack(p->ts));
    PetscCall(TSRestartStep(p->ts));
    return 0;
}

static PetscErrorCode step(dae_petsc *p, dae_integrator_step *s, int *code)
{
    TSConvergedReason reason;
    PetscReal t, next;
    if (p->pending) PetscCall(go_back(p));
    PetscCall(TSSetTimeStep(p->ts, s->h));
    PetscCall(TSSetConvergedReason(p->ts, TS_CONVERGED_ITERATING));
    p->pending = false;
    PetscCall(TSStep(p->ts));
    PetscCall(TSGetConvergedReason(p->ts, &reason));
    if (reason < 0) {
        PetscCall(explain(p, reason, &s->reason));
        PetscCall(TSSetTime(p->ts, p->t));
        PetscCall(TSRestartStep(p->ts));
        *code = p->code < 0 ? p->code : 1;
        return 0;
    }
    p->pending = true;
    PetscCall(TSGetTime(p->ts, &t));
    PetscCall(TSGetTimeStep(p->ts, &next));
    s->h = t - p->t;
    s->next = next;
    PetscCall(bring_all(p, p->u, s->y));
    PetscCall(bring_all(p, p->slope, s->yp));
    *code = 0;
    if (fabs(p->evaluated - t) > 1e-9 * fabs(s->h)) {
        s->reason = "this type of PETSc's TS does not end its steps with a stage, so that slopes "
                    "are not known there; take bdf or beuler";
        *code = -1;
    }
    return 0;
}

static int attempt(void *user, dae_integrator_step *s)
{
    dae_petsc *p = user;
    int code = 0;
    PetscPushErrorHandler(keep_error, p);
    if (p->error[0] || step(p, s, &code)) {
        s->reason = p->error;
        code = -1;
    }
    PetscPopErrorHandler();
    return code;
}

static int accept(void *user)
{
    dae_petsc *p = user;
    PetscReal t;
    PetscInt newton, linear, rejected;
    p->pending = false;
    if (TSGetTime(p->ts, &t)) return -1;
    p->t = t;
    p->stats.steps++;
    if (TSGetSNESIterations(p->ts, &newton) || TSGetKSPIterations(p->ts, &linear) ||
        TSGetStepRejections(p->ts, &rejected))
        return -1;
    p->stats.newton = (long)newton;
    p->stats.linear = (long)linear;
    p->stats.rejected = (long)rejected;
    return 0;
}

/* ---- public ---- */

static dae_status fail(dae_petsc *p, const char *why, char *message, size_t size)
{
    if (message && size > 0) snprintf(message, size, "%s", why);
    free(p);
    return DAE_ERR_UNSUPPORTED;
}

dae_status dae_petsc_new(MPI_Comm comm, const char *options, dae_petsc **petsc, char *message,
                         size_t size)
{
    PetscBool there;
    if (!petsc) return DAE_ERR_ARGUMENT;
    *petsc = NULL;
    dae_petsc *p = calloc(1, sizeof *p);
    if (!p) return DAE_ERR_MEMORY;
    if (PetscInitialized(&there)) return fail(p, "PETSc cannot be asked.", message, size);
    if (!there && PetscInitializeNoArguments())
        return fail(p, "PETSc cannot be initialised.", message, size);
    p->initialised = !there;
    if (options && PetscOptionsInsertString(NULL, options))
        return fail(p, "PETSc does not understand its options.", message, size);
    p->comm = comm;
    MPI_Comm_rank(comm, &p->rank);
    MPI_Comm_size(comm, &p->ranks);
    p->integrator = (dae_integrator){.name = "PETSc",
                                     .order = 2,
                                     .start = start,
                                     .attempt = attempt,
                                     .accept = accept,
                                     .user = p};
    *petsc = p;
    return DAE_OK;
}

void dae_petsc_free(dae_petsc *p)
{
    if (!p) return;
    bool last = p->initialised;
    dae_solver_free(p->own);
    release(p);
    free(p);
    if (last) PetscFinalize();
}

/* ---- a TS for others ---- */

static int no_step(void *user, dae_integrator_step *s)
{
    (void)user, (void)s;
    return -1;
}

/* Let a solver begin, so that everything is made for its equations, and take no step. */
static dae_status begin_own(dae_petsc *p, const dae_problem *problem, const dae_options *options,
                            double t0, dae_diag *diag)
{
    dae_options o = options ? *options : dae_options_default();
    dae_integrator g = p->integrator;
    g.attempt = no_step;
    o.integrator = &g;
    dae_status status = dae_solver_new(problem, &o, &p->own, diag);
    if (status != DAE_OK) return status;
    status = dae_solver_start(p->own, t0, NULL, NULL);
    if (status != DAE_OK) {
        if (diag) *diag = *dae_solver_diag(p->own);
        return status;
    }
    (void)dae_solver_step(p->own, t0 + 1.0); /* start() has made the TS */
    if (p->ts && !p->error[0]) return DAE_OK;
    if (diag) snprintf(diag->text, sizeof diag->text, "%s", p->error);
    return DAE_ERR_UNSUPPORTED;
}

dae_status dae_petsc_ts(dae_petsc *p, const dae_problem *problem, const dae_options *options,
                        double t0, TS *ts, dae_diag *diag)
{
    if (!p || !problem || !ts) return DAE_ERR_ARGUMENT;
    *ts = NULL;
    dae_solver_free(p->own);
    p->own = NULL;
    const dae_counts c = dae_problem_counts(problem);
    if (c.relations + c.samples + c.whens + c.delays > 0) {
        if (diag)
            snprintf(diag->text, sizeof diag->text,
                     "The model has events or delays, which a TS alone does not handle: run it "
                     "with opt.integrator = dae_petsc_integrator().");
        return DAE_ERR_UNSUPPORTED;
    }
    dae_status status = begin_own(p, problem, options, t0, diag);
    if (status == DAE_OK) *ts = p->ts;
    return status;
}

int dae_petsc_size(const dae_petsc *p)
{
    return p ? p->n : 0;
}

const char *dae_petsc_unknown(const dae_petsc *p, int i)
{
    return p && p->equations ? dae_equations_unknown(p->equations, i) : NULL;
}

dae_status dae_petsc_values(dae_petsc *p, double *y)
{
    if (!p || !p->ts || !y) return DAE_ERR_ARGUMENT;
    return bring_all(p, p->u, y) ? DAE_ERR_EVALUATION : DAE_OK;
}

const dae_integrator *dae_petsc_integrator(dae_petsc *p)
{
    return p ? &p->integrator : NULL;
}

int dae_petsc_rank(const dae_petsc *p)
{
    return p ? p->rank : 0;
}

int dae_petsc_ranks(const dae_petsc *p)
{
    return p ? p->ranks : 1;
}

void dae_petsc_statistics(const dae_petsc *p, dae_petsc_stats *stats)
{
    *stats = p->stats;
    stats->ts = p->type;
}
