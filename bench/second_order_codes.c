/* The codes: bdf2nd and colloc2nd from callbacks and from model texts; IDA (linked), DASSL and
 * DASPK out of liboctave, RADAU5 out of libsiconos_externals (Debian: libsiconos-numerics7), opened
 * at run time, at index 3, at index 2 and with two sets of multipliers.
 *
 * Error tests: with multipliers in them IDA, DASSL and DASPK do not get through at index 3 and 2.
 * IDA leaves them out (IDASetSuppressAlg), DASSL and DASPK get an absolute tolerance of 1e10 for
 * them; at index 3 velocities, too. RADAU5 is told the index of each variable. */
#include "second_order.h"

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

static void *space(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

/* ---- IDA, DASSL, DASPK ---- */

static void solve_peer(const solver_code *c, const trial *p, double rtol, result *out)
{
    const bool ida = !strncmp(c->name, "IDA", 3), chain = p->m->links;
    const peer *other = ida ? &peer_ida : !strncmp(c->name, "DASSL", 5) ? &peer_dassl : &peer_daspk;
    const model *m = ida && chain ? &p->sparse[c->stage] : &p->first[c->stage];
    const size_t n = (size_t)m->form.n;
    double *atol = space(3 * n, 8), *tested = atol + n;
    for (int i = 0; i < m->form.n; i++) {
        bool skip = trial_is_multiplier(p, c->stage, i) ||
                    (c->stage == INDEX3 && trial_is_velocity(p, c->stage, i));
        atol[i] = skip && !ida ? 1e10 : rtol * trial_scale(p, c->stage, i);
        tested[i] = !skip;
    }
    run r = {.y = atol + 2 * n};
    other->solve(&(task){m, rtol, atol, tested}, &r);
    out->ok = r.ok, out->seconds = r.seconds, out->steps = r.steps, out->residuals = r.residuals;
    out->jacobians = r.jacobians, out->factors = r.factors;
    snprintf(out->note, sizeof out->note, "%s", r.note);
    if (p->m->links) {
        const int block = c->stage == GGL ? 6 : 5;
        for (int i = 0; i < p->m->nl; i++) {
            out->y[2 * i] = r.y[block * i], out->y[2 * i + 1] = r.y[block * i + 1];
            out->y[p->m->nq + i] = r.y[block * i + 4];
        }
    } else {
        memcpy(out->y, r.y, (size_t)p->m->nq * 8);
        memcpy(out->y + p->m->nq, r.y + 2 * p->m->nq, (size_t)p->m->nl * 8);
    }
    free(atol);
}

/* ---- RADAU5: (q, v, a, lambda) with q' = v, v' = a and 0 = r as its M1 part; with mu all in full
 */

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
static radau_fn *fortran_radau5;

static void nothing(void)
{
}

typedef struct radau_view {
    const model *m; /* y = (q, v, lambda, mu) */
    int nq, nl;
    bool ggl;
    double *y, *yp, *f, *dfdy, *dfdyp;
    long evaluations, jacobians;
} radau_view;

/* (q, v, a, lambda, mu) to y and y' = (v, a, 0); q' of GGL, v - G' mu, is what F leaves at y' = v
 */
static void radau_spread(const radau_view *w, const double *x)
{
    const size_t nq = (size_t)w->nq, rest = (size_t)w->m->form.n - 2 * nq;
    memcpy(w->y, x, 2 * nq * sizeof *x);
    memcpy(w->y + 2 * nq, x + 3 * nq, rest * sizeof *x);
    memcpy(w->yp, x + nq, 2 * nq * sizeof *x);
}

static void radau_rhs(fint *n, double *t, double *x, double *f, double *rpar, fint *ipar)
{
    (void)n, (void)ipar;
    radau_view *w = (radau_view *)(void *)rpar;
    const size_t nq = (size_t)w->nq;
    radau_spread(w, x);
    w->m->form.f(*t, w->y, w->yp, w->f, w->m->form.user);
    w->evaluations++;
    memcpy(f, x + nq, 2 * nq * sizeof *f);
    for (size_t i = 0; i < nq && w->ggl; i++) f[i] -= w->f[i];
    memcpy(f + 2 * nq, w->f + nq, ((size_t)w->m->form.n - nq) * sizeof *f);
}

/* Rows of 0 = r begin at `top`, with GGL behind those of q' and v' */
static void radau_jac(fint *n, double *t, double *x, double *dfy, fint *ldfy, double *rpar,
                      fint *ipar)
{
    (void)ipar;
    radau_view *w = (radau_view *)(void *)rpar;
    const int nq = w->nq, N = w->m->form.n, ld = *ldfy, top = w->ggl ? 2 * nq : 0;
    radau_spread(w, x);
    w->jacobians++;
    memset(w->dfdy, 0, (size_t)N * (size_t)N * sizeof(double));
    memset(w->dfdyp, 0, (size_t)N * (size_t)N * sizeof(double));
    w->m->form.jacobian(*t, w->y, w->yp, w->dfdy, w->dfdyp, w->m->form.user);
    memset(dfy, 0, (size_t)*n * (size_t)ld * sizeof *dfy);
    for (int k = 0; k < N; k++) {
        const int to = k < 2 * nq ? k : k + nq;
        for (int i = nq; i < N; i++) dfy[top + i - nq + to * ld] = w->dfdy[i + k * N];
        for (int i = 0; i < nq && w->ggl; i++) dfy[i + to * ld] = -w->dfdy[i + k * N];
    }
    for (int k = 0; k < nq; k++) {
        for (int i = nq; i < N; i++)
            dfy[top + i - nq + (2 * nq + k) * ld] = w->dfdyp[i + (nq + k) * N];
        if (w->ggl) dfy[nq + k + (2 * nq + k) * ld] = 1.0;
    }
}

static void radau_mas(fint *n, double *am, fint *lmas, double *rpar, fint *ipar)
{
    (void)ipar;
    const radau_view *w = (const radau_view *)(const void *)rpar;
    for (int i = 0; i < *n; i++) am[i * *lmas] = w->ggl && i < 2 * w->nq ? 1.0 : 0.0;
}

static void radau_start(const radau_view *w, const trial *p, double rtol, double *y, double *rt,
                        double *atol)
{
    const int nq = w->nq, n = w->m->form.n + nq;
    for (int i = 0; i < n; i++) {
        bool a = i >= 2 * nq && i < 3 * nq;
        int at = i < 2 * nq ? i : i - nq;
        y[i] = a ? p->m->a0[i - 2 * nq] : w->m->y0[at];
        rt[i] = rtol;
        atol[i] = rtol * (a ? fmax(1.0, fabs(y[i])) : trial_scale(p, w->ggl ? GGL : INDEX3, at));
    }
}

static void solve_radau5(const solver_code *c, const trial *p, double rtol, result *out)
{
    const model *m = &p->first[c->stage];
    const int nq = p->m->nq, nl = p->m->nl;
    radau_view w = {.m = m, .nq = nq, .nl = nl, .ggl = c->stage == GGL};
    fint n = m->form.n + nq, one = 1, zero = 0, idid = 0, lower = w.ggl ? n : nq + nl;
    fint upper = 0; /* the code writes the size of a full matrix to both */
    const size_t N = (size_t)n;
    w.y = space(3 * N + 2 * N * N, 8), w.yp = w.y + N, w.f = w.yp + N;
    w.dfdy = w.f + N, w.dfdyp = w.dfdy + N * N;
    fint lwork = (fint)(N * (5 * N + 20) + 100), liwork = 3 * n + 100;
    double *work = space((size_t)lwork + 3 * N, 8), *y = work + lwork, *rt = y + N, *atol = rt + N;
    double x = 0.0, xend = p->m->tend, h = 0.0;
    fint *iwork = space((size_t)liwork, sizeof *iwork);
    radau_start(&w, p, rtol, y, rt, atol);
    iwork[1] = 10000000;
    if (!w.ggl) iwork[8] = 2 * nq, iwork[9] = nq;
    iwork[4] = c->stage == INDEX3 ? nq : 2 * nq;
    iwork[5] = c->stage == INDEX3 ? nq : n - 2 * nq;
    iwork[6] = c->stage == INDEX3 ? nq + nl : 0;
    double start = bench_clock();
    fortran_radau5(&n, radau_rhs, &x, y, &xend, &h, rt, atol, &one, radau_jac, &one, &lower, &upper,
                   radau_mas, &one, &zero, &zero, nothing, &zero, work, &lwork, iwork, &liwork,
                   (double *)(void *)&w, &zero, &idid);
    out->seconds = bench_clock() - start;
    out->ok = idid == 1;
    if (!out->ok) snprintf(out->note, sizeof out->note, "idid = %d", (int)idid);
    out->steps = iwork[16], out->residuals = w.evaluations, out->jacobians = w.jacobians;
    out->factors = iwork[18];
    memcpy(out->y, y, (size_t)nq * 8), memcpy(out->y + nq, y + 3 * nq, (size_t)nl * 8);
    free(w.y), free(work), free(iwork);
}

/* ---- ours ---- */

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

/* Out of the derivatives of the index-1 rows by q and v */
static int ours_jacobian(const dae_mechanical_point *at, const double *a, double *by_q,
                         double *by_v, void *user)
{
    const mechanism *m = user;
    const int nq = m->nq, rows = nq + m->nl;
    double block[512 + 256] = {0};
    m->jacobian(m, at->t, at->q, at->v, a, at->lambda, block, rows);
    for (int k = 0; k < nq; k++)
        for (int i = 0; i < nq; i++) {
            by_q[i + k * nq] = block[i + k * rows];
            by_v[i + k * nq] = block[i + (nq + k) * rows];
        }
    return 0;
}

dae_status second_order_problem(const trial *p, dae_problem **problem, dae_diag *diag)
{
    const mechanism *m = p->m;
    dae_mechanical form = {.nq = m->nq,
                           .nlambda = m->nl,
                           .all = ours_all,
                           .constraint = ours_constraint,
                           .user = (void *)(size_t)m,
                           .scleronomic = !m->rheonomic,
                           .gradient_pattern = m->gradient_pattern,
                           .force_q_pattern = p->force_pattern,
                           .force_v_pattern = p->force_pattern,
                           .mass_structure = m->mass_diagonal ? DAE_MASS_DIAGONAL : DAE_MASS_DENSE,
                           .mass_constant = m->mass_diagonal,
                           .jacobian = m->jacobian ? ours_jacobian : NULL};
    return dae_problem_from_mechanical(&form, problem, diag);
}

/* The model text, translated once */
static dae_problem *text_problem(const trial *p, dae_diag *diag)
{
    static char last[32];
    static dae_problem *problem;
    char path[1024], size[32];
    if (!strcmp(last, p->name)) return problem;
    snprintf(last, sizeof last, "%s", p->name);
    snprintf(path, sizeof path, "%s/%s", BENCH_ROOT, p->m->model);
    snprintf(size, sizeof size, "n = %d", p->m->links);
    const char *assignment = size;
    dae_model description = {.file = path,
                             .assignments = &assignment,
                             .assignment_count = p->m->links > 0,
                             .engine = DAE_ENGINE_NATIVE};
    dae_problem_free(problem);
    problem = NULL;
    dae_problem_from_model(&description, &problem, diag);
    return problem;
}

static void read_text(const trial *p, dae_solver *solver, const dae_problem *problem, result *out)
{
    char name[32];
    const mechanism *m = p->m;
    double *all = space((size_t)dae_problem_variable_count(problem), 8);
    bool ok = dae_solver_variables(solver, m->tend, all) == DAE_OK;
    for (int i = 0; i < m->nq + m->nl; i++) {
        const char *wanted = name;
        if (i < m->nq)
            wanted = m->variable(i, name);
        else
            snprintf(name, sizeof name, m->nl > 1 ? "lambda[%d]" : "lambda", i - m->nq + 1);
        int at = dae_problem_find_variable(problem, wanted);
        out->y[i] = ok && at >= 0 ? all[at] * (i < m->nq ? 1.0 : p->lambda_sign) : NAN;
    }
    free(all);
}

static void read_counters(const dae_solver *solver, result *out)
{
    const dae_stats *s = dae_solver_stats(solver);
    out->steps = s->steps, out->residuals = s->residuals + s->jacobian_residuals;
    out->jacobians = s->jacobians, out->factors = s->factorisations;
}

static void solve_ours(const solver_code *c, const trial *p, double rtol, result *out)
{
    const mechanism *m = p->m;
    const size_t nq = (size_t)m->nq, nl = (size_t)m->nl, n = 2 * nq + nl;
    double *y = space(n, 8);
    memcpy(y, m->q0, nq * 8), memcpy(y + nq, m->v0, nq * 8), memcpy(y + 2 * nq, m->l0, nl * 8);
    dae_diag diag = {0};
    dae_problem *problem = c->text ? text_problem(p, &diag) : NULL;
    dae_solver *solver = NULL;
    dae_options options = dae_options_default();
    options.method = c->method, options.rtol = options.atol = rtol, options.max_steps = 0;
    options.stop_time = m->tend, options.threads = 1;
    double start = bench_clock();
    dae_status status = problem ? DAE_OK : diag.status;
    if (!c->text) status = second_order_problem(p, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, c->text ? NULL : y, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, m->tend, c->text ? NULL : y, NULL);
    double first = bench_clock() - start;
    if (solver) read_counters(solver, out);
    if (status < 0) snprintf(out->note, sizeof out->note, "%s", dae_status_name(status));
    if (c->text && status == DAE_OK) read_text(p, solver, problem, out);
    if (!c->text) memcpy(out->y, y, nq * 8), memcpy(out->y + nq, y + 2 * nq, nl * 8);
    start = bench_clock();
    dae_solver_free(solver);
    if (!c->text) dae_problem_free(problem);
    out->seconds = first + bench_clock() - start;
    out->ok = status == DAE_OK;
    free(y);
}

/* ---- all ---- */

static bool always(const trial *p)
{
    (void)p;
    return true;
}

static bool full(const trial *p)
{
    return !p->m->links;
}

const solver_code second_order_codes[] = {
    {"bdf2nd", "bdf2nd", false, INDEX3, always, solve_ours},
    {"bdf2nd.mo", "bdf2nd", true, INDEX3, always, solve_ours},
    {"colloc2nd", "colloc2nd", false, INDEX3, always, solve_ours},
    {"colloc2nd.mo", "colloc2nd", true, INDEX3, always, solve_ours},
    {"IDA-3", NULL, false, INDEX3, always, solve_peer},
    {"IDA-2", NULL, false, INDEX2, always, solve_peer},
    {"IDA-ggl", NULL, false, GGL, always, solve_peer},
    {"DASSL-3", NULL, false, INDEX3, always, solve_peer},
    {"DASSL-2", NULL, false, INDEX2, always, solve_peer},
    {"DASSL-ggl", NULL, false, GGL, always, solve_peer},
    {"DASPK-3", NULL, false, INDEX3, always, solve_peer},
    {"DASPK-2", NULL, false, INDEX2, always, solve_peer},
    {"DASPK-ggl", NULL, false, GGL, always, solve_peer},
    {"RADAU5-3", NULL, false, INDEX3, full, solve_radau5},
    {"RADAU5-2", NULL, false, INDEX2, full, solve_radau5},
    {"RADAU5-ggl", NULL, false, GGL, full, solve_radau5}};
const int second_order_code_count = sizeof second_order_codes / sizeof *second_order_codes;

const char *second_order_open(void)
{
    void *library = dlopen(BENCH_SICONOS, RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
    *(void **)&fortran_radau5 = dlsym(library, "radau5_");
    if (!fortran_radau5) return "no RADAU5 in " BENCH_SICONOS;
    const char *missing = peer_dassl.missing();
    if (!missing) missing = peer_daspk.missing();
    return missing ? missing : peer_ida.missing();
}
