/* The codes: RADAU5, RADAU, RODAS and SEULEX out of libsiconos_externals (Debian:
 * libsiconos-numerics7), DASSL and DASPK out of liboctave, all opened at run time; IDA is linked.
 *
 * Mechanisms go to Hairer's codes as q' = v, v' = a, 0 = r(q,v,a,lambda), of which only the last
 * part enters their linear algebra (M1 and M2), with the index of every variable; RODAS and SEULEX
 * take index 1 only. All Jacobians are the same callbacks. The clock of Hairer's codes starts when
 * memory is there; Daedal's contains problem and solver from creation to release, of model texts
 * not their translation. */
#include "radau.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BENCH_SICONOS
#define BENCH_SICONOS "libsiconos_externals.so.7"
#endif
#ifndef BENCH_ROOT
#define BENCH_ROOT "."
#endif

typedef int32_t fint;
typedef void rhs_fn(fint *n, double *t, double *y, double *f, double *rpar, fint *ipar);
typedef void jac_fn(fint *n, double *t, double *y, double *dfy, fint *ldfy, double *rpar,
                    fint *ipar);
typedef void mas_fn(fint *n, double *am, fint *lmas, double *rpar, fint *ipar);
typedef void radau_fn(fint *n, rhs_fn *f, double *x, double *y, double *xend, double *h,
                      double *rtol, double *atol, fint *itol, jac_fn *jac, fint *ijac, fint *mljac,
                      fint *mujac, mas_fn *mas, fint *imas, fint *mlmas, fint *mumas,
                      void (*solout)(void), fint *iout, double *work, fint *lwork, fint *iwork,
                      fint *liwork, double *rpar, fint *ipar, fint *idid);
typedef void seulex_fn(fint *n, rhs_fn *f, fint *ifcn, double *x, double *y, double *xend,
                       double *h, double *rtol, double *atol, fint *itol, jac_fn *jac, fint *ijac,
                       fint *mljac, fint *mujac, mas_fn *mas, fint *imas, fint *mlmas, fint *mumas,
                       void (*solout)(void), fint *iout, double *work, fint *lwork, fint *iwork,
                       fint *liwork, double *rpar, fint *ipar, fint *idid);
typedef void rodas_fn(fint *n, rhs_fn *f, fint *ifcn, double *x, double *y, double *xend, double *h,
                      double *rtol, double *atol, fint *itol, jac_fn *jac, fint *ijac, fint *mljac,
                      fint *mujac, void (*dfx)(void), fint *idfx, mas_fn *mas, fint *imas,
                      fint *mlmas, fint *mumas, void (*solout)(void), fint *iout, double *work,
                      fint *lwork, fint *iwork, fint *liwork, double *rpar, fint *ipar, fint *idid);

static radau_fn *fortran_radau5, *fortran_radau;
static seulex_fn *fortran_seulex;
static rodas_fn *fortran_rodas;

static void nothing(void)
{
}

/* What the callbacks need; its address goes through RPAR. */
typedef struct given {
    const entry *e;
    const dae_residual *form; /* banded where the problem has a narrow band */
    size_t entries;           /* of its matrices */
    double *zero, *mass, *scratch, *dfdy, *yp, *y;
} given;

/* M y' = f(t,y): f = -F(t,y,0) */
static void rhs_plain(fint *n, double *t, double *y, double *f, double *rpar, fint *ipar)
{
    (void)ipar;
    const given *g = (const given *)(void *)rpar;
    const dae_residual *form = g->form;
    if (form->f(*t, y, g->zero, f, form->user))
        for (int i = 0; i < *n; i++) f[i] = NAN;
    for (int i = 0; i < *n; i++) f[i] = -f[i];
}

static void jac_plain(fint *n, double *t, double *y, double *dfy, fint *ldfy, double *rpar,
                      fint *ipar)
{
    (void)n, (void)ipar, (void)ldfy;
    const given *g = (const given *)(void *)rpar;
    memset(dfy, 0, g->entries * sizeof *dfy);
    g->form->jacobian(*t, y, g->zero, dfy, g->scratch, g->form->user);
    for (size_t i = 0; i < g->entries; i++) dfy[i] = -dfy[i];
}

static void mas_plain(fint *n, double *am, fint *lmas, double *rpar, fint *ipar)
{
    (void)ipar, (void)lmas;
    memcpy(am, ((const given *)(void *)rpar)->mass, (size_t)*n * (size_t)*n * sizeof *am);
}

/* The diagonal of a banded mass matrix, which has nothing else */
static void mas_diagonal(fint *n, double *am, fint *lmas, double *rpar, fint *ipar)
{
    (void)ipar;
    const given *g = (const given *)(void *)rpar;
    const int width = g->form->lower + g->form->upper + 1;
    for (int j = 0; j < *n; j++) am[j * *lmas] = g->mass[g->form->upper + j * width];
}

/* Mechanisms: (q, v, a, lambda) to the arguments (q, v, lambda) and (v, a, 0) of F */
static void spread(const given *g, const double *x)
{
    const size_t nq = (size_t)g->e->mechanism->nq, nl = (size_t)g->e->mechanism->nl;
    memcpy(g->y, x, 2 * nq * sizeof *x);
    memcpy(g->y + 2 * nq, x + 3 * nq, nl * sizeof *x);
    memcpy(g->yp, x + nq, 2 * nq * sizeof *x);
}

static void rhs_mechanism(fint *n, double *t, double *x, double *f, double *rpar, fint *ipar)
{
    (void)n, (void)ipar;
    const given *g = (const given *)(void *)rpar;
    const dae_residual *form = &g->e->model->form;
    const size_t nq = (size_t)g->e->mechanism->nq, rows = nq + (size_t)g->e->mechanism->nl;
    spread(g, x);
    form->f(*t, g->y, g->yp, g->scratch, form->user);
    memcpy(f, x + nq, 2 * nq * sizeof *f);
    memcpy(f + 2 * nq, g->scratch + nq, rows * sizeof *f);
}

static void jac_mechanism(fint *n, double *t, double *x, double *dfy, fint *ldfy, double *rpar,
                          fint *ipar)
{
    (void)ipar;
    const given *g = (const given *)(void *)rpar;
    const dae_residual *form = &g->e->model->form;
    const int nq = g->e->mechanism->nq, nl = g->e->mechanism->nl, N = form->n;
    spread(g, x);
    memset(g->dfdy, 0, (size_t)(N * N) * sizeof(double));
    memset(g->scratch, 0, (size_t)(N * N) * sizeof(double));
    form->jacobian(*t, g->y, g->yp, g->dfdy, g->scratch, form->user);
    memset(dfy, 0, (size_t)*n * (size_t)*ldfy * sizeof *dfy);
    for (int i = 0; i < nq + nl; i++) {
        for (int k = 0; k < 2 * nq; k++) dfy[i + k * *ldfy] = g->dfdy[nq + i + k * N];
        for (int k = 0; k < nq; k++)
            dfy[i + (2 * nq + k) * *ldfy] = g->scratch[nq + i + (nq + k) * N];
        for (int k = 0; k < nl; k++)
            dfy[i + (3 * nq + k) * *ldfy] = g->dfdy[nq + i + (2 * nq + k) * N];
    }
}

static void mas_mechanism(fint *n, double *am, fint *lmas, double *rpar, fint *ipar)
{
    (void)rpar, (void)ipar;
    memset(am, 0, (size_t)*n * (size_t)*lmas * sizeof *am);
}

/* y0 and tolerances in the order of the code's unknowns */
static void start_values(const entry *e, const task *k, double *y, double *rtol, double *atol)
{
    const model *mo = e->model;
    if (!e->mechanism) {
        memcpy(y, mo->y0, (size_t)mo->form.n * sizeof *y);
        for (int i = 0; i < mo->form.n; i++) rtol[i] = k->rtol, atol[i] = k->atol[i];
        return;
    }
    const int nq = e->mechanism->nq, nl = e->mechanism->nl;
    for (int i = 0; i < 3 * nq + nl; i++) {
        bool a = i >= 2 * nq && i < 3 * nq;
        int at = i < 2 * nq ? i : i - nq;
        y[i] = a ? mo->yp0[i - nq] : mo->y0[at];
        rtol[i] = k->rtol;
        atol[i] = k->rtol * (a ? fmax(1.0, fabs(y[i])) : mo->atol_factor[at]);
    }
}

/* Dimensions of the index-1, 2 and 3 variables of a mechanism for RADAU5 and RADAU */
static void tell_index(const entry *e, fint *iwork)
{
    const int nq = e->mechanism->nq, nl = e->mechanism->nl;
    iwork[8] = 2 * nq, iwork[9] = nq;
    if (e->index == 2) iwork[4] = 2 * nq, iwork[5] = nq + nl;
    if (e->index == 3) iwork[4] = nq, iwork[5] = nq, iwork[6] = nq + nl;
}

static void solve_hairer(const code *c, const entry *e, const task *k, run *out)
{
    const model *mo = e->banded ? e->banded : e->model;
    const bool mech = e->mechanism, rodas = !strcmp(c->name, "RODAS"), band = e->banded;
    fint n = mech ? 3 * e->mechanism->nq + e->mechanism->nl : mo->form.n, one = 1, zero = 0;
    fint idid = 0, lower = mech ? e->mechanism->nq + e->mechanism->nl : n, mass = mech ? 0 : n;
    fint upper = band ? mo->form.upper : 0;
    if (band) lower = mo->form.lower, mass = 0;
    const size_t N = (size_t)n, width = band ? (size_t)(2 * lower + upper + 1) : N, all = N * width;
    given g = {e,
               &mo->form,
               band ? N * (size_t)(lower + upper + 1) : all,
               bench_space(N, 8),
               bench_space(all, 8),
               bench_space(all, 8),
               bench_space(all, 8),
               bench_space(N, 8),
               bench_space(N, 8)};
    fint lwork = (fint)(N * (12 * width + 300) + 1000), liwork = 25 * n + 200;
    double *work = bench_space((size_t)lwork, 8), x = mo->t0, xend = mo->tend, h = 0.0;
    double *y = bench_space(N, 8), *rtol = bench_space(N, 8), *atol = bench_space(N, 8);
    fint *iwork = bench_space((size_t)liwork, sizeof *iwork);
    start_values(e, k, y, rtol, atol);
    if (!mech) mo->form.jacobian(mo->t0, mo->y0, g.zero, g.scratch, g.mass, mo->form.user);
    memset(g.scratch, 0, all * 8);
    iwork[rodas ? 0 : 1] = 10000000; /* steps */
    if (mech) tell_index(e, iwork);
    if (rodas || !strcmp(c->name, "SEULEX")) iwork[4] = iwork[5] = iwork[6] = 0;
    rhs_fn *f = mech ? rhs_mechanism : rhs_plain;
    jac_fn *jac = mech ? jac_mechanism : jac_plain;
    mas_fn *mas = mech ? mas_mechanism : band ? mas_diagonal : mas_plain;
    double *data = (double *)(void *)&g, start = bench_clock();
    if (rodas)
        fortran_rodas(&n, f, &one, &x, y, &xend, &h, rtol, atol, &one, jac, &one, &lower, &upper,
                      nothing, &zero, mas, &one, &mass, &zero, nothing, &zero, work, &lwork, iwork,
                      &liwork, data, &zero, &idid);
    else if (!strcmp(c->name, "SEULEX"))
        fortran_seulex(&n, f, &one, &x, y, &xend, &h, rtol, atol, &one, jac, &one, &lower, &upper,
                       mas, &one, &mass, &zero, nothing, &zero, work, &lwork, iwork, &liwork, data,
                       &zero, &idid);
    else
        (!strcmp(c->name, "RADAU") ? fortran_radau : fortran_radau5)(
            &n, f, &x, y, &xend, &h, rtol, atol, &one, jac, &one, &lower, &upper, mas, &one, &mass,
            &zero, nothing, &zero, work, &lwork, iwork, &liwork, data, &zero, &idid);
    out->seconds = bench_clock() - start;
    out->ok = idid == 1;
    if (!out->ok) snprintf(out->note, sizeof out->note, "idid = %d", (int)idid);
    out->residuals = iwork[13], out->jacobians = iwork[14], out->factors = iwork[18];
    out->steps = iwork[16], out->bad_error = iwork[17];
    memcpy(out->y, y, (size_t)e->compared * sizeof *y);
    free(g.zero), free(g.mass), free(g.scratch), free(g.dfdy), free(g.yp), free(g.y);
    free(work), free(y), free(rtol), free(atol), free(iwork);
}

/* ---- DASSL, DASPK, IDA ---- */

static void solve_peer(const code *c, const entry *e, const task *k, run *out)
{
    task banded = *k;
    const peer *p = !strcmp(c->name, "IDA")     ? &peer_ida
                    : !strcmp(c->name, "DASSL") ? &peer_dassl
                                                : &peer_daspk;
    if (e->banded && p != &peer_ida) banded.model = e->banded;
    p->solve(&banded, out);
}

/* ---- ours ---- */

static void read_counters(const dae_solver *solver, run *out)
{
    const dae_stats *s = dae_solver_stats(solver);
    out->steps = s->steps, out->residuals = s->residuals, out->jacobians = s->jacobians;
    out->factors = s->factorisations, out->bad_error = s->rejected_error;
    out->bad_newton = s->attempts - s->steps - s->rejected_error;
}

void radau_solve_ours(const code *c, const entry *e, const task *k, run *out)
{
    const model *m = e->model;
    dae_diag diag = {0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_options options = dae_options_default();
    double *y = bench_space((size_t)m->form.n, 8);
    options.method = c->method, options.rtol = k->rtol, options.atol_by_unknown = k->atol;
    options.max_steps = 0, options.stop_time = m->tend, options.threads = 1;
    double start = bench_clock();
    dae_status status = dae_problem_from_residual(&m->form, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, m->t0, m->y0, m->yp0);
    if (status == DAE_OK) status = dae_solver_run(solver, m->tend, y, NULL);
    if (solver) read_counters(solver, out);
    dae_solver_free(solver);
    dae_problem_free(problem);
    out->seconds = bench_clock() - start;
    out->ok = status == DAE_OK;
    if (!out->ok) snprintf(out->note, sizeof out->note, "%s", dae_status_name(status));
    memcpy(out->y, y, (size_t)e->compared * sizeof *y);
    free(y);
}

/* The variable of the model text that is number i of the callbacks: "U3" is U[3] there, "X'" Xp,
 * and points of a grid are counted from 1. */
int entry_find_in_text(const dae_problem *problem, const entry *e, int i)
{
    char name[128] = "", array[64];
    int a, b;
    char letter;
    const char *const *names = e->model->form.variable_names;
    if (e->mechanism)
        snprintf(array, sizeof array, "%s", e->mechanism->variable(i, name));
    else
        snprintf(array, sizeof array, "%s", names ? names[i] : "");
    for (char *c = array; *c; c++) *c = *c == '\'' ? 'p' : *c;
    if (sscanf(array, "u[%d,%d]", &a, &b) == 2) {
        snprintf(name, sizeof name, "u[%d,%d]", a + 1, b + 1);
        return dae_problem_find_variable(problem, name);
    }
    if (!strcmp(e->name, "brusselator") && sscanf(array, "%c[%d]", &letter, &a) == 2) {
        snprintf(name, sizeof name, "%c[%d]", letter, a + 1);
        return dae_problem_find_variable(problem, name);
    }
    int at = dae_problem_find_variable(problem, array);
    if (at >= 0) return at;
    snprintf(name, sizeof name, "%c[%s]", array[0], array + 1);
    return dae_problem_find_variable(problem, name);
}

/* Translate the model text once, with the engine for native code. */
static dae_problem *translated(const entry *e)
{
    static char last[64];
    static dae_problem *problem;
    char path[1024], now[64];
    snprintf(now, sizeof now, "%s %s", e->name, e->set);
    if (!strcmp(now, last)) return problem;
    snprintf(last, sizeof last, "%s", now);
    snprintf(path, sizeof path, "%s/%s", BENCH_ROOT, e->file);
    const char *set[1] = {e->set};
    dae_model description = {.file = path,
                             .engine = DAE_ENGINE_NATIVE,
                             .assignments = set,
                             .assignment_count = e->set[0] != 0};
    dae_problem_free(problem), problem = NULL;
    dae_problem_from_model(&description, &problem, NULL);
    return problem;
}

/* The same problem from its model text; mechanisms of index 2 and 3 in that formulation */
static void solve_text(const code *c, const entry *e, const task *k, run *out)
{
    dae_problem *problem = translated(e);
    dae_solver *solver = NULL;
    dae_options options = dae_options_default();
    options.method = c->method, options.rtol = k->rtol, options.atol = k->rtol;
    options.max_steps = 0, options.stop_time = e->model->tend, options.threads = 1;
    if (e->index > 1) options.formulation = e->index == 2 ? "index2" : "index3";
    double start = bench_clock();
    dae_status status = problem ? dae_solver_new(problem, &options, &solver, NULL) : DAE_ERR_MODEL;
    if (status == DAE_OK) status = dae_solver_start(solver, e->model->t0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, e->model->tend, NULL, NULL);
    out->seconds = bench_clock() - start;
    if (solver) read_counters(solver, out);
    double *all = problem ? bench_space((size_t)dae_problem_variable_count(problem), 8) : NULL;
    if (status == DAE_OK) status = dae_solver_variables(solver, e->model->tend, all);
    for (int i = 0; i < e->compared; i++) {
        int at = status == DAE_OK ? entry_find_in_text(problem, e, i) : -1;
        out->y[i] = at < 0 ? NAN : all[at];
    }
    dae_solver_free(solver);
    free(all);
    out->ok = status == DAE_OK;
    if (!out->ok) snprintf(out->note, sizeof out->note, "%s", dae_status_name(status));
}

/* ---- all ---- */

/* All but what takes too long on the largest systems */
static bool not_huge(const entry *e)
{
    return e->model->form.n < 20000;
}

static bool always(const entry *e)
{
    (void)e;
    return true;
}

static bool is_dense(const entry *e)
{
    return !model_is_sparse(e->model);
}

static bool dense_or_banded(const entry *e)
{
    return is_dense(e) || (e->banded && not_huge(e));
}

static bool index_1(const entry *e)
{
    return dense_or_banded(e) && e->index < 2;
}

static bool index_1_any(const entry *e)
{
    return not_huge(e) && e->index < 2;
}

static bool has_text(const entry *e)
{
    return e->file != NULL && not_huge(e);
}

static bool is_mechanism(const entry *e)
{
    return e->mechanism != NULL;
}

const code radau_codes[] = {{"radau", true, "radau", always, radau_solve_ours},
                            {"radau:5", true, "radau:5", is_dense, radau_solve_ours},
                            {"radau:9", true, "radau:9", is_dense, radau_solve_ours},
                            {"rodas", true, "rodas", index_1_any, radau_solve_ours},
                            {"rodas:p", true, "rodas:p", index_1_any, radau_solve_ours},
                            {"sdirk:4", true, "sdirk:4", index_1_any, radau_solve_ours},
                            {"liex", true, "liex", index_1_any, radau_solve_ours},
                            {"bdf", true, "bdf", always, radau_solve_ours},
                            {"bdf2nd", true, "bdf2nd", is_mechanism, radau_solve_ours},
                            {"radau.mo", true, "radau", has_text, solve_text},
                            {"RADAU5", false, NULL, dense_or_banded, solve_hairer},
                            {"RADAU", false, NULL, dense_or_banded, solve_hairer},
                            {"RODAS", false, NULL, index_1, solve_hairer},
                            {"SEULEX", false, NULL, index_1, solve_hairer},
                            {"DASSL", false, NULL, dense_or_banded, solve_peer},
                            {"DASPK", false, NULL, dense_or_banded, solve_peer},
                            {"IDA", false, NULL, always, solve_peer}};
const int radau_code_count = sizeof radau_codes / sizeof *radau_codes;

const char *radau_open(void)
{
    void *library = dlopen(BENCH_SICONOS, RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
    *(void **)&fortran_radau5 = dlsym(library, "radau5_");
    *(void **)&fortran_radau = dlsym(library, "radau_");
    *(void **)&fortran_rodas = dlsym(library, "rodas_");
    *(void **)&fortran_seulex = dlsym(library, "seulex_");
    if (!fortran_radau5 || !fortran_radau || !fortran_rodas || !fortran_seulex)
        return "a code is not in " BENCH_SICONOS;
    const char *missing = peer_dassl.missing();
    if (!missing) missing = peer_daspk.missing();
    return missing ? missing : peer_ida.missing();
}
