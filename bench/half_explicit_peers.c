/* The codes of the comparison. HEM5, RADAU5, RADAU and SEULEX come out of libsiconos_externals
 * (Debian: libsiconos-numerics7), opened at run time; IDA is linked.
 *
 * HEM5 gets mass, force and constraint as Daedal does, and that of its kinds of linear algebra
 * which suits: MA28 for chains, otherwise its own DEC, with which it takes half to two thirds of
 * the time with LAPACK. It does not project (its default). The implicit codes get index 1: small
 * mechanisms as q' = v, v' = a, 0 = r(q,v,a,lambda), of which only the last part enters the linear
 * algebra of Hairer's codes (their M1 and M2); chains explicitly and banded. Derivatives are exact,
 * memory and start values are ready before the clock starts. Daedal's time contains problem and
 * solver, from creation to release; of models not their translation. */
#include "half_explicit.h"
#include "peer.h"

#include <dlfcn.h>
#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_dense.h>

#ifndef BENCH_SICONOS
#define BENCH_SICONOS "libsiconos_externals.so.7"
#endif
#ifndef BENCH_ROOT
#define BENCH_ROOT "."
#endif

static void *space(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

static const mechanism *current; /* HEM5 hands nothing of the user's to its callback */

/* ---------------------------------------------------------------------------------------- HEM5 */

typedef int32_t fint;
typedef void hem5_problem(fint *wanted, fint *nq, fint *nv, fint *nu, fint *nl, fint *ldg,
                          fint *ldf, fint *lda, fint *nblk, fint *nmrc, fint *npgp, fint *npfl,
                          fint *g_rows, fint *g_columns, fint *l_rows, fint *l_columns, double *t,
                          double *q, double *v, double *u, double *lambda, double *g,
                          double *gradient, double *force, double *curvature, double *rate,
                          double *fl, double *qdot, double *udot, double *mass);
typedef void hem5_fn(fint *nq, fint *nv, fint *nu, fint *nl, hem5_problem *f, double *t, double *q,
                     double *v, double *u, double *a, double *lambda, double *tend, double *h,
                     double *rtol, double *atol, fint *itol, void (*solout)(void), fint *iout,
                     double *work, fint *lwork, fint *iwork, fint *liwork, fint *idid);

static hem5_fn *fortran_hem5;

static void no_output(void)
{
}

static void hem5_pattern(const mechanism *m, fint *rows, fint *columns)
{
    if (!m->gradient_pattern.colptr || rows[0]) return;
    for (int j = 0; j < m->nq; j++)
        for (int k = m->gradient_pattern.colptr[j]; k < m->gradient_pattern.colptr[j + 1]; k++)
            rows[k] = m->gradient_pattern.rowind[k] + 1, columns[k] = j + 1;
}

/* HEM5's table of what it may want, by number */
static void hem5_callback(fint *wanted, fint *nq, fint *nv, fint *nu, fint *nl, fint *ldg,
                          fint *ldf, fint *lda, fint *nblk, fint *nmrc, fint *npgp, fint *npfl,
                          fint *g_rows, fint *g_columns, fint *l_rows, fint *l_columns, double *t,
                          double *q, double *v, double *u, double *lambda, double *g,
                          double *gradient, double *force, double *curvature, double *rate,
                          double *fl, double *qdot, double *udot, double *mass)
{
    (void)nv, (void)nu, (void)nl, (void)ldg, (void)ldf, (void)nblk, (void)nmrc, (void)npgp;
    (void)npfl, (void)l_rows, (void)l_columns, (void)u, (void)lambda, (void)fl, (void)udot;
    (void)curvature;
    enum { FORCE = 1, MASS = 2, SPEED = 4, RATE = 8, VALUE = 16, GRADIENT = 32 };
    static const unsigned char table[12] = {0,
                                            FORCE | MASS | SPEED,
                                            SPEED,
                                            RATE,
                                            VALUE,
                                            FORCE,
                                            GRADIENT | RATE,
                                            FORCE | MASS,
                                            FORCE | MASS,
                                            MASS,
                                            RATE | GRADIENT | MASS | SPEED,
                                            RATE | GRADIENT | MASS};
    const mechanism *m = current;
    unsigned need = table[*wanted];
    bool full = !m->links;
    if (need & VALUE) m->constraint(m, *t, q, g);
    if (need & SPEED) memcpy(qdot, v, (size_t)*nq * sizeof *v);
    if ((need & MASS) && full)
        for (int j = 0; j < m->nq; j++) memset(mass + j * *lda, 0, (size_t)m->nq * sizeof *mass);
    if (need & GRADIENT) hem5_pattern(m, g_rows, g_columns);
    if (!(need & (FORCE | MASS | RATE | GRADIENT))) return;
    mechanism_values out = {.ld = full ? *lda : 0};
    if (need & MASS) out.mass = mass;
    if (need & FORCE) out.force = force;
    if (need & GRADIENT) out.gradient = gradient;
    if (need & RATE) out.rate = rate;
    m->values(m, *t, q, v, &out);
}

static void solve_hem5(const contender *c, const mechanism *m, double rtol, outcome *out)
{
    (void)c;
    fint nq = m->nq, nl = m->nl, nu = 0, nm = nq + nl, zero = 0, idid = 0;
    fint nonzeros = m->links ? m->gradient_pattern.colptr[nq] : nl * nq, nza = nq + 2 * nonzeros;
    size_t full = (size_t)nm * (size_t)nm;
    size_t reals = m->links ? (size_t)(60 * nm + 40 * nza) : 200 * (size_t)nm + 12 * full;
    size_t ints = m->links ? (size_t)(120 * nm + 80 * nza) : 300 * (size_t)nm + 40 * full;
    fint lwork = (fint)reals + 1000, liwork = (fint)ints + 1000;
    double *work = space((size_t)lwork, 8), t = 0.0, tend = m->tend, h = 1e-4, atol = rtol;
    double *v = space((size_t)(2 * nq + nl + 1), 8), *a = v + nq, *lambda = a + nq;
    fint *iwork = space((size_t)liwork, sizeof *iwork);
    iwork[10] = 10000000;
    if (m->links) {
        iwork[0] = iwork[1] = nonzeros, iwork[13] = 4, iwork[20] = 1, iwork[21] = nq;
        iwork[24] = 13 * nm, iwork[25] = 4 * nza + nm;
    }
    memcpy(out->q, m->q0, (size_t)nq * sizeof *v);
    memcpy(v, m->v0, (size_t)nq * sizeof *v);
    current = m;
    double start = bench_clock();
    fortran_hem5(&nq, &nq, &nu, &nl, hem5_callback, &t, out->q, v, lambda + nl, a, lambda, &tend,
                 &h, &rtol, &atol, &zero, no_output, &zero, work, &lwork, iwork, &liwork, &idid);
    out->seconds = bench_clock() - start;
    out->ok = idid >= 0 && t == m->tend; /* the packaged one leaves idid alone */
    if (!out->ok) snprintf(out->note, sizeof out->note, "idid = %d", (int)idid);
    out->steps = iwork[31];
    free(work), free(v), free(iwork);
}

/* ---------------------------------------------------------------------- RADAU5, RADAU, SEULEX */

typedef void stiff_rhs(fint *n, double *t, double *y, double *f, double *rpar, fint *ipar);
typedef void stiff_jac(fint *n, double *t, double *y, double *dfy, fint *ldfy, double *rpar,
                       fint *ipar);
typedef void stiff_mas(fint *n, double *am, fint *lmas, double *rpar, fint *ipar);
typedef void radau_fn(fint *n, stiff_rhs *f, double *x, double *y, double *xend, double *h,
                      double *rtol, double *atol, fint *itol, stiff_jac *jac, fint *ijac,
                      fint *mljac, fint *mujac, stiff_mas *mas, fint *imas, fint *mlmas,
                      fint *mumas, void (*solout)(void), fint *iout, double *work, fint *lwork,
                      fint *iwork, fint *liwork, double *rpar, fint *ipar, fint *idid);
typedef void seulex_fn(fint *n, stiff_rhs *f, fint *ifcn, double *x, double *y, double *xend,
                       double *h, double *rtol, double *atol, fint *itol, stiff_jac *jac,
                       fint *ijac, fint *mljac, fint *mujac, stiff_mas *mas, fint *imas,
                       fint *mlmas, fint *mumas, void (*solout)(void), fint *iout, double *work,
                       fint *lwork, fint *iwork, fint *liwork, double *rpar, fint *ipar,
                       fint *idid);

static radau_fn *fortran_radau5, *fortran_radau;
static seulex_fn *fortran_seulex;

/* y = (q, v, a, lambda) */
static void stiff_rhs_full(fint *n, double *t, double *y, double *f, double *rpar, fint *ipar)
{
    (void)n, (void)rpar, (void)ipar;
    const mechanism *m = current;
    int nq = m->nq;
    memcpy(f, y + nq, 2 * (size_t)nq * sizeof *f);
    m->residual(m, *t, y, y + nq, y + 2 * nq, y + 3 * nq, f + 2 * nq);
}

static void stiff_jac_full(fint *n, double *t, double *y, double *dfy, fint *ldfy, double *rpar,
                           fint *ipar)
{
    (void)rpar, (void)ipar;
    const mechanism *m = current;
    int nq = m->nq;
    memset(dfy, 0, (size_t)*n * (size_t)*ldfy * sizeof *dfy);
    m->jacobian(m, *t, y, y + nq, y + 2 * nq, y + 3 * nq, dfy, *ldfy);
}

static void stiff_mas_full(fint *n, double *am, fint *lmas, double *rpar, fint *ipar)
{
    (void)rpar, (void)ipar;
    memset(am, 0, (size_t)*n * (size_t)*lmas * sizeof *am);
}

static void stiff_rhs_chain(fint *n, double *t, double *y, double *f, double *rpar, fint *ipar)
{
    (void)n, (void)t, (void)rpar, (void)ipar;
    chain_explicit(current->links, y, f);
}

static void stiff_jac_chain(fint *n, double *t, double *y, double *dfy, fint *ldfy, double *rpar,
                            fint *ipar)
{
    (void)n, (void)t, (void)rpar, (void)ipar;
    chain_explicit_jacobian(current->links, y, dfy, *ldfy);
}

static void stiff_mas_chain(fint *n, double *am, fint *lmas, double *rpar, fint *ipar)
{
    (void)rpar, (void)ipar;
    for (int i = 0; i < *n; i++) am[i * *lmas] = i % CHAIN_UNKNOWNS < 4;
}

static double largest(const double *x, int n, double least)
{
    for (int i = 0; i < n; i++) least = fmax(least, fabs(x[i]));
    return least;
}

/* Start values in the order of the form, and tolerances: of a and lambda relative to their size */
static void stiff_start(const mechanism *m, double rtol, double *y, double *atol)
{
    size_t nq = (size_t)m->nq, nl = (size_t)m->nl;
    double force = largest(m->l0, m->nl, 1.0), pull = largest(m->a0, m->nq, 1.0);
    for (int i = 0; i < m->links; i++) {
        double *at = y + CHAIN_UNKNOWNS * i, *tol = atol + CHAIN_UNKNOWNS * i;
        at[0] = m->q0[2 * i], at[1] = m->q0[2 * i + 1], at[2] = m->v0[2 * i];
        at[3] = m->v0[2 * i + 1], at[4] = m->l0[i];
        for (int k = 0; k < 4; k++) tol[k] = rtol;
        tol[4] = rtol * force;
    }
    if (m->links) return;
    memcpy(y, m->q0, nq * sizeof *y), memcpy(y + nq, m->v0, nq * sizeof *y);
    memcpy(y + 2 * nq, m->a0, nq * sizeof *y), memcpy(y + 3 * nq, m->l0, nl * sizeof *y);
    for (size_t i = 0; i < 3 * nq + nl; i++)
        atol[i] = rtol * (i < 2 * nq ? 1.0 : i < 3 * nq ? pull : force);
}

static void stiff_result(const mechanism *m, const double *y, double *q)
{
    for (int i = 0; i < m->nq; i++) q[i] = m->links ? y[CHAIN_UNKNOWNS * (i / 2) + i % 2] : y[i];
}

static void solve_stiff(const contender *c, const mechanism *m, double rtol, outcome *out)
{
    bool chain = m->links;
    fint n = chain ? CHAIN_UNKNOWNS * m->links : 3 * m->nq + m->nl, one = 1, zero = 0, idid = 0;
    fint rest = chain ? n : m->nq + m->nl, lower = chain ? CHAIN_LOWER : rest;
    fint upper = chain ? CHAIN_UPPER : rest,
         width = chain ? 2 * CHAIN_LOWER + CHAIN_UPPER + 1 : rest;
    fint lwork = n * (10 * width + 200) + 1000, liwork = 25 * n + 200;
    double *work = space((size_t)lwork, 8), x = 0.0, xend = m->tend, h = 1e-3 * m->tend, r = rtol;
    fint *iwork = space((size_t)liwork, sizeof *iwork);
    double *y = space((size_t)n, 8), *atol = space((size_t)n, 8), *rtols = space((size_t)n, 8);
    for (int i = 0; i < n; i++) rtols[i] = r;
    stiff_start(m, rtol, y, atol);
    iwork[1] = 100000; /* SEULEX goes on for ever below rtol = 1e-13 on Andrews' mechanism */
    if (!chain) iwork[8] = 2 * m->nq, iwork[9] = m->nq;
    stiff_rhs *f = chain ? stiff_rhs_chain : stiff_rhs_full;
    stiff_jac *jac = chain ? stiff_jac_chain : stiff_jac_full;
    stiff_mas *mas = chain ? stiff_mas_chain : stiff_mas_full;
    fint ifcn = m->rheonomic;
    current = m;
    double start = bench_clock();
    if (!strcmp(c->name, "SEULEX"))
        fortran_seulex(&n, f, &ifcn, &x, y, &xend, &h, rtols, atol, &one, jac, &one, &lower, &upper,
                       mas, &one, &zero, &zero, no_output, &zero, work, &lwork, iwork, &liwork,
                       work, &zero, &idid);
    else
        (!strcmp(c->name, "RADAU") ? fortran_radau : fortran_radau5)(
            &n, f, &x, y, &xend, &h, rtols, atol, &one, jac, &one, &lower, &upper, mas, &one, &zero,
            &zero, no_output, &zero, work, &lwork, iwork, &liwork, work, &zero, &idid);
    out->seconds = bench_clock() - start;
    out->ok = idid == 1;
    if (!out->ok) snprintf(out->note, sizeof out->note, "idid = %d", (int)idid);
    out->steps = iwork[16];
    stiff_result(m, y, out->q);
    free(work), free(iwork), free(y), free(atol), free(rtols);
}

/* ----------------------------------------------------------------------------------------- IDA */

typedef struct ida_form {
    const mechanism *m;
    double *block; /* derivatives of r, or the chain's band */
} ida_form;

static SUNContext context;

/* y = (q, v, lambda) */
static int ida_residual_full(realtype t, N_Vector vy, N_Vector vyp, N_Vector vr, void *user)
{
    const mechanism *m = ((const ida_form *)user)->m;
    const double *y = NV_DATA_S(vy), *yp = NV_DATA_S(vyp);
    double *r = NV_DATA_S(vr);
    int nq = m->nq;
    for (int i = 0; i < nq; i++) r[i] = yp[i] - y[nq + i];
    m->residual(m, t, y, y + nq, yp + nq, y + 2 * nq, r + nq);
    return 0;
}

static int ida_jacobian_full(realtype t, realtype cj, N_Vector vy, N_Vector vyp, N_Vector vr,
                             SUNMatrix matrix, void *user, N_Vector w1, N_Vector w2, N_Vector w3)
{
    (void)vr, (void)w1, (void)w2, (void)w3;
    const ida_form *form = user;
    const mechanism *m = form->m;
    const double *y = NV_DATA_S(vy), *yp = NV_DATA_S(vyp);
    int nq = m->nq, nl = m->nl, n = 2 * nq + nl, ld = nq + nl;
    double *a = SM_DATA_D(matrix), *j = form->block;
    memset(j, 0, (size_t)ld * (size_t)(3 * nq + nl) * sizeof *j);
    m->jacobian(m, t, y, y + nq, yp + nq, y + 2 * nq, j, ld);
    for (int i = 0; i < nq; i++) a[i + i * n] = cj, a[i + (nq + i) * n] = -1.0;
    for (int k = 0; k < nq; k++)
        for (int i = 0; i < ld; i++) {
            a[nq + i + k * n] = j[i + k * ld];
            a[nq + i + (nq + k) * n] = j[i + (nq + k) * ld] + cj * j[i + (2 * nq + k) * ld];
        }
    for (int k = 0; k < nl; k++)
        memcpy(a + nq + (2 * nq + k) * n, j + (3 * nq + k) * ld, (size_t)ld * sizeof *a);
    return 0;
}

static int ida_residual_chain(realtype t, N_Vector vy, N_Vector vyp, N_Vector vr, void *user)
{
    (void)t;
    const mechanism *m = ((const ida_form *)user)->m;
    const double *yp = NV_DATA_S(vyp);
    double *r = NV_DATA_S(vr);
    chain_explicit(m->links, NV_DATA_S(vy), r);
    for (int i = 0; i < CHAIN_UNKNOWNS * m->links; i++)
        if (i % CHAIN_UNKNOWNS < 4) r[i] -= yp[i];
    return 0;
}

static int ida_jacobian_chain(realtype t, realtype cj, N_Vector vy, N_Vector vyp, N_Vector vr,
                              SUNMatrix matrix, void *user, N_Vector w1, N_Vector w2, N_Vector w3)
{
    (void)t, (void)vyp, (void)vr, (void)w1, (void)w2, (void)w3;
    const ida_form *form = user;
    enum { WIDTH = CHAIN_LOWER + CHAIN_UPPER + 1 };
    int links = form->m->links;
    chain_explicit_jacobian(links, NV_DATA_S(vy), form->block, WIDTH);
    for (int j = 0; j < CHAIN_UNKNOWNS * links; j++) {
        double *column = SM_COLUMN_B(matrix, j) - CHAIN_UPPER;
        memcpy(column, form->block + j * WIDTH, WIDTH * sizeof *column);
        if (j % CHAIN_UNKNOWNS < 4) column[CHAIN_UPPER] -= cj;
    }
    return 0;
}

/* y, y' and absolute tolerances at the start */
static void ida_start(const mechanism *m, double rtol, double *y, double *yp, double *atol)
{
    size_t nq = (size_t)m->nq, nl = (size_t)m->nl;
    if (m->links) {
        stiff_start(m, rtol, y, atol);
        chain_explicit(m->links, y, yp);
        for (int i = 4; i < CHAIN_UNKNOWNS * m->links; i += CHAIN_UNKNOWNS) yp[i] = 0.0;
        return;
    }
    memcpy(y, m->q0, nq * sizeof *y), memcpy(y + nq, m->v0, nq * sizeof *y);
    memcpy(y + 2 * nq, m->l0, nl * sizeof *y);
    memcpy(yp, m->v0, nq * sizeof *y), memcpy(yp + nq, m->a0, nq * sizeof *y);
    for (size_t i = 0; i < 2 * nq + nl; i++)
        atol[i] = rtol * (i < 2 * nq ? 1.0 : largest(m->l0, m->nl, 1.0));
}

static void silent(int code, const char *module, const char *function, char *text, void *user)
{
    (void)code, (void)module, (void)function, (void)text, (void)user;
}

static void solve_ida(const contender *c, const mechanism *m, double rtol, outcome *out)
{
    (void)c;
    if (!context) SUNContext_Create(NULL, &context);
    bool chain = m->links;
    long n = chain ? CHAIN_UNKNOWNS * m->links : 2 * m->nq + m->nl;
    size_t cells = chain ? (size_t)n * (CHAIN_LOWER + CHAIN_UPPER + 1)
                         : (size_t)(m->nq + m->nl) * (size_t)(3 * m->nq + m->nl);
    ida_form form = {m, space(cells, 8)};
    double start = bench_clock();
    N_Vector y = N_VNew_Serial(n, context), yp = N_VClone(y), atol = N_VClone(y);
    SUNMatrix matrix =
        chain ? SUNBandMatrix(n, CHAIN_UPPER, CHAIN_LOWER, context) : SUNDenseMatrix(n, n, context);
    SUNLinearSolver linear =
        chain ? SUNLinSol_Band(y, matrix, context) : SUNLinSol_Dense(y, matrix, context);
    void *ida = IDACreate(context);
    ida_start(m, rtol, NV_DATA_S(y), NV_DATA_S(yp), NV_DATA_S(atol));
    N_Vector id =
        N_VClone(y); /* multipliers are left out of the error test: with them IDA crawls */
    for (long i = 0; i < n; i++) NV_Ith_S(id, i) = chain ? i % CHAIN_UNKNOWNS < 4 : i < 2 * m->nq;
    double reached = 0.0;
    int status = IDASetErrHandlerFn(ida, silent, NULL) ||
                 IDAInit(ida, chain ? ida_residual_chain : ida_residual_full, 0.0, y, yp) ||
                 IDASVtolerances(ida, rtol, atol) || IDASetUserData(ida, &form) ||
                 IDASetMaxNumSteps(ida, 10000000) || IDASetId(ida, id) ||
                 IDASetSuppressAlg(ida, 1) || IDASetLinearSolver(ida, linear, matrix) ||
                 IDASetJacFn(ida, chain ? ida_jacobian_chain : ida_jacobian_full);
    if (!status) status = IDASolve(ida, m->tend, &reached, y, yp, IDA_NORMAL);
    IDAGetNumSteps(ida, &out->steps);
    stiff_result(m, NV_DATA_S(y), out->q);
    IDAFree(&ida);
    SUNLinSolFree(linear), SUNMatDestroy(matrix);
    N_VDestroy(y), N_VDestroy(yp), N_VDestroy(atol), N_VDestroy(id);
    out->seconds = bench_clock() - start;
    out->ok = status == IDA_SUCCESS;
    if (!out->ok) snprintf(out->note, sizeof out->note, "status %d", status);
    free(form.block);
}

/* -------------------------------------------------------------------------------------- Daedal */

static int ours_all(const dae_mechanical_point *at, const dae_mechanical_values *out, void *user)
{
    const mechanism *m = user;
    mechanism_values values = {.mass = out->mass,
                               .force = out->force,
                               .gradient = out->gradient,
                               .rate = out->rate,
                               .curvature = out->curvature};
    m->values(m, at->t, at->q, at->v, &values);
    return 0;
}

static int ours_constraint(const dae_mechanical_point *at, double *g, void *user)
{
    const mechanism *m = user;
    m->constraint(m, at->t, at->q, g);
    return 0;
}

static dae_status ours_problem(const mechanism *m, dae_problem **problem, dae_diag *diag)
{
    dae_mechanical form = {.nq = m->nq,
                           .nlambda = m->nl,
                           .all = ours_all,
                           .constraint = ours_constraint,
                           .user = (void *)(size_t)m,
                           .scleronomic = !m->rheonomic,
                           .gradient_pattern = m->gradient_pattern,
                           .mass_structure = m->mass_diagonal ? DAE_MASS_DIAGONAL : DAE_MASS_DENSE,
                           .mass_constant = m->mass_diagonal};
    return dae_problem_from_mechanical(&form, problem, diag);
}

static void ours_read(const mechanism *m, dae_solver *solver, const dae_problem *problem,
                      outcome *out)
{
    char name[32];
    double *all = space((size_t)dae_problem_variable_count(problem), 8);
    if (dae_solver_variables(solver, m->tend, all) == DAE_OK)
        for (int i = 0; i < m->nq; i++) {
            int at = dae_problem_find_variable(problem, m->variable(i, name));
            out->q[i] = at < 0 ? NAN : all[at];
        }
    free(all);
}

static dae_problem *model_problem(const mechanism *m, dae_diag *diag)
{
    static const char *last = ""; /* what is translated now */
    static int links;
    static dae_problem *problem;
    if (last == m->model && links == m->links) return problem;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", BENCH_ROOT, m->model);
    char size[32];
    snprintf(size, sizeof size, "n = %d", m->links);
    const char *assignment = size;
    dae_model description = {.file = path,
                             .assignments = &assignment,
                             .assignment_count = m->links > 0,
                             .engine = DAE_ENGINE_NATIVE};
    dae_problem_free(problem);
    problem = NULL, last = m->model, links = m->links;
    dae_problem_from_model(&description, &problem, diag);
    return problem;
}

static void solve_ours(const contender *c, const mechanism *m, double rtol, outcome *out)
{
    size_t nq = (size_t)m->nq, n = 2 * nq + (size_t)m->nl;
    double *y = space(n, 8);
    memcpy(y, m->q0, nq * sizeof *y), memcpy(y + nq, m->v0, nq * sizeof *y);
    memcpy(y + 2 * nq, m->l0, (size_t)m->nl * sizeof *y);
    dae_diag diag = {0};
    dae_problem *problem = c->model ? model_problem(m, &diag) : NULL;
    dae_solver *solver = NULL;
    dae_options options = dae_options_default();
    options.method = c->method, options.rtol = options.atol = rtol, options.max_steps = 0;
    options.stop_time = m->tend, options.precision = c->precision;
    options.projection = c->projection;
    double start = bench_clock();
    dae_status status = problem ? DAE_OK : diag.status;
    if (!c->model) status = ours_problem(m, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, c->model ? NULL : y, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, m->tend, c->model ? NULL : y, NULL);
    if (solver) out->steps = dae_solver_stats(solver)->steps;
    double first = bench_clock() - start;
    if (c->model && status == DAE_OK) ours_read(m, solver, problem, out);
    if (!c->model) memcpy(out->q, y, nq * sizeof *y);
    start = bench_clock();
    dae_solver_free(solver);
    if (!c->model) dae_problem_free(problem);
    out->seconds = first + bench_clock() - start;
    out->ok = status == DAE_OK;
    snprintf(out->note, sizeof out->note, "%s", out->ok ? "" : dae_status_name(status));
    free(y);
}

/* ----------------------------------------------------------------------------------------- all */

#define OURS(label, method, model, part, projection)                                               \
    {                                                                                              \
        label, true, model, method, solve_ours, part, 0, projection                                \
    }
#define PEER(label, solve, part)                                                                   \
    {                                                                                              \
        label, false, false, NULL, solve, part, 0, 0                                               \
    }
enum { BOTH = IN_HALF_EXPLICIT | IN_MANIFOLD };

const contender half_explicit_contenders[] = {
    OURS("phem", "phem", false, BOTH, 0),
    OURS("hem:5", "hem:5", false, IN_HALF_EXPLICIT, 0),
    OURS("prk", "prk", false, BOTH, 0),
    OURS("prk.mo", "prk", true, IN_HALF_EXPLICIT, 0),
    OURS("dopri:8", "dopri:8", false, IN_MANIFOLD, DAE_PROJECTION_VELOCITY),
    OURS("midex", "midex", false, IN_MANIFOLD, 0),
    OURS("colloc2nd", "colloc2nd", false, IN_MANIFOLD, 0),
    OURS("taylor.mo", "taylor", true, IN_MANIFOLD, 0),
    PEER("HEM5", solve_hem5, BOTH),
    PEER("RADAU5", solve_stiff, IN_HALF_EXPLICIT),
    PEER("RADAU", solve_stiff, BOTH),
    PEER("SEULEX", solve_stiff, BOTH),
    PEER("IDA", solve_ida, BOTH)};
const int half_explicit_count = sizeof half_explicit_contenders / sizeof *half_explicit_contenders;
const contender half_explicit_precise = {
    "quad", true, true, "taylor", solve_ours, IN_MANIFOLD, DAE_PRECISION_QUAD, 0};
const contender half_explicit_long = {
    "long", true, true, "taylor", solve_ours, IN_MANIFOLD, DAE_PRECISION_LONG, 0};
const contender half_explicit_auto = OURS("callbacks", "auto", false, IN_MANIFOLD, 0);

const char *half_explicit_open(void)
{
    void *library = dlopen(BENCH_SICONOS, RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
    *(void **)&fortran_hem5 = dlsym(library, "hem5_");
    *(void **)&fortran_radau5 = dlsym(library, "radau5_");
    *(void **)&fortran_radau = dlsym(library, "radau_");
    *(void **)&fortran_seulex = dlsym(library, "seulex_");
    bool all = fortran_hem5 && fortran_radau5 && fortran_radau && fortran_seulex;
    return all ? NULL : "a code is not in " BENCH_SICONOS;
}
