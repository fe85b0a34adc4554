/* Radau methods side by side: Daedal's, and RADAU5 and RADAU of Hairer and Wanner as
 * libsiconos_externals carries them (Debian: libsiconos-numerics7), opened at run time.
 *
 * Usage: bench_radau_peers [model ..]. The models are M y' = f(t,y) with constant M: f = -F(t,y,0),
 * M = dF/dy'. */
#include "peer.h"
#include "work_precision.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BENCH_SICONOS
#define BENCH_SICONOS "libsiconos_externals.so.7"
#endif

typedef int32_t fint;
typedef void radau_rhs(fint *n, double *t, double *y, double *f, double *rpar, fint *ipar);
typedef void radau_jac(fint *n, double *t, double *y, double *dfy, fint *ldfy, double *rpar,
                       fint *ipar);
typedef void radau_mas(fint *n, double *am, fint *lmas, double *rpar, fint *ipar);
typedef void radau_fn(fint *n, radau_rhs *f, double *x, double *y, double *xend, double *h,
                      double *rtol, double *atol, fint *itol, radau_jac *jac, fint *ijac,
                      fint *mljac, fint *mujac, radau_mas *mas, fint *imas, fint *mlmas,
                      fint *mumas, void (*solout)(void), fint *iout, double *work, fint *lwork,
                      fint *iwork, fint *liwork, double *rpar, fint *ipar, fint *idid);

/* RPAR carries the address of this. */
typedef struct mass_form {
    const dae_residual *form;
    double *zero, *mass, *scratch; /* n; n*n; n*n */
} mass_form;

static radau_fn *fortran_radau5, *fortran_radau;

static void rhs(fint *n, double *t, double *y, double *f, double *rpar, fint *ipar)
{
    (void)ipar;
    const mass_form *m = (const mass_form *)(void *)rpar;
    if (m->form->f(*t, y, m->zero, f, m->form->user))
        for (int i = 0; i < *n; i++) f[i] = NAN;
    for (int i = 0; i < *n; i++) f[i] = -f[i];
}

static void jacobian(fint *n, double *t, double *y, double *dfy, fint *ldfy, double *rpar,
                     fint *ipar)
{
    (void)ipar, (void)ldfy;
    const mass_form *m = (const mass_form *)(void *)rpar;
    size_t count = (size_t)*n * (size_t)*n;
    memset(dfy, 0, count * sizeof *dfy);
    m->form->jacobian(*t, y, m->zero, dfy, m->scratch, m->form->user);
    for (size_t i = 0; i < count; i++) dfy[i] = -dfy[i];
}

static void mass(fint *n, double *am, fint *lmas, double *rpar, fint *ipar)
{
    (void)ipar, (void)lmas;
    const mass_form *m = (const mass_form *)(void *)rpar;
    memcpy(am, m->mass, (size_t)*n * (size_t)*n * sizeof *am);
}

static void no_output(void)
{
}

static void *space(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p) abort();
    return p;
}

/* One run of a Fortran code; the mass matrix is made before the clock starts. */
static void solve_fortran(radau_fn *code, const task *k, run *out)
{
    const model *mo = k->model;
    fint n = mo->form.n, one = 1, zero = 0, idid = 0, full = n;
    size_t N = (size_t)n;
    mass_form m = {&mo->form, space(N, 8), space(N * N, 8), space(N * N, 8)};
    fint lwork = (fint)(N * (7 * N + N + 3 * 7 + 3) + 20 + N * (N + 8 * 7)), liwork = 15 * n + 100;
    double *work = space((size_t)lwork, 8), x = mo->t0, xend = mo->tend, h = 0.0;
    fint *iwork = space((size_t)liwork, sizeof *iwork);
    double *rtol = space(N, 8), *atol = space(N, 8);
    mo->form.jacobian(mo->t0, mo->y0, m.zero, m.scratch, m.mass, mo->form.user);
    memset(m.scratch, 0, N * N * 8);
    for (int i = 0; i < n; i++) rtol[i] = k->rtol, atol[i] = k->atol[i];
    memcpy(out->y, mo->y0, N * sizeof *out->y);
    iwork[1] = 10000000; /* steps */
    double start = bench_clock();
    code(&n, rhs, &x, out->y, &xend, &h, rtol, atol, &one, jacobian, &one, &full, &zero, mass, &one,
         &full, &zero, no_output, &zero, work, &lwork, iwork, &liwork, (double *)(void *)&m, &zero,
         &idid);
    out->seconds = bench_clock() - start;
    out->ok = idid == 1;
    if (!out->ok) snprintf(out->note, sizeof out->note, "idid = %d", (int)idid);
    out->residuals = iwork[13];
    out->jacobians = iwork[14];
    out->steps = iwork[16];
    out->bad_error = iwork[17];
    out->factors = iwork[18];
    free(m.zero), free(m.mass), free(m.scratch), free(work), free(iwork), free(rtol), free(atol);
}

static void solve_daedal(const char *method, const task *k, run *out)
{
    const model *m = k->model;
    dae_diag diag = {0};
    dae_problem *problem;
    dae_solver *solver = NULL;
    dae_options options = dae_options_default();
    options.method = method;
    options.rtol = k->rtol;
    options.atol_by_variable = k->atol;
    options.max_steps = 0;
    options.stop_time = m->tend; /* as the others end there, too */
    double start = bench_clock();
    dae_status status = dae_problem_from_residual(&m->form, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, m->t0, m->y0, m->yp0);
    if (status == DAE_OK) status = dae_solver_run(solver, m->tend, out->y, NULL);
    if (solver) {
        const dae_stats *s = dae_solver_stats(solver);
        *out = (run){.y = out->y,
                     .steps = s->steps,
                     .residuals = s->residuals,
                     .jacobians = s->jacobians,
                     .factors = s->factorizations,
                     .bad_error = s->rejected_error,
                     .bad_newton = s->rejected_convergence};
    }
    dae_solver_free(solver);
    dae_problem_free(problem);
    out->seconds = bench_clock() - start;
    out->ok = status == DAE_OK;
    snprintf(out->note, sizeof out->note, "%s", out->ok ? "" : dae_status_name(status));
}

enum { CODES = 4, MAX_TOLERANCES = 24 };
static const char *const names[CODES] = {"radau", "radau5", "RADAU", "RADAU5"};

static void solve_code(int code, const task *k, run *out)
{
    if (code < 2)
        solve_daedal(names[code], k, out);
    else
        solve_fortran(code == 2 ? fortran_radau : fortran_radau5, k, out);
}

/* -log10(max|e| / max|y|), and the largest error in units of rtol |y| + atol */
static double digits(const model *m, const double *y, const task *k, double *in_tolerances)
{
    double most = 0.0, size = 0.0;
    *in_tolerances = 0.0;
    for (int i = 0; i < m->form.n; i++) {
        double e = fabs(y[i] - m->reference[i]), r = fabs(m->reference[i]);
        most = isnan(e) ? NAN : fmax(most, e);
        size = fmax(size, r);
        *in_tolerances = fmax(*in_tolerances, e / (k->rtol * r + k->atol[i]));
    }
    return -log10(most / size);
}

static void measure(const model *m, double rtol, curve *curves)
{
    size_t n = (size_t)m->form.n;
    double *atol = space(n, 8), *y = space(n, 8);
    for (size_t i = 0; i < n; i++) atol[i] = rtol * model_scale(m, (int)i);
    task k = {m, rtol, atol};
    run best[CODES] = {{0}};
    double good[CODES], weighted[CODES];
    for (int round = 0; round < 10 && (round < 3 || best[0].seconds < 0.05); round++)
        for (int c = 0; c < CODES; c++) {
            run now = {.y = y};
            if ((c == 2 && !fortran_radau) || (c == 3 && !fortran_radau5)) continue;
            solve_code(c, &k, &now);
            good[c] = digits(m, y, &k, &weighted[c]);
            if (round == 0 || now.seconds < best[c].seconds) best[c] = now;
        }
    for (int c = 0; c < CODES; c++) {
        const run *r = &best[c];
        if (!r->y) continue;
        printf("%7.0e  %-7s %7.2f %9.2g %6ld %7ld %6ld %6ld %4ld %4ld %10.4f  %s\n", rtol, names[c],
               good[c], weighted[c], r->steps, r->residuals, r->jacobians, r->factors, r->bad_error,
               r->bad_newton, 1e3 * r->seconds, r->note);
        if (r->ok && good[c] > 1.0) curve_add(&curves[c], pow(10, -good[c]), r->seconds);
    }
    free(atol), free(y);
}

static void compare(const model *m)
{
    curve curves[CODES] = {{0}};
    printf(
        "== %s: n = %d\n   rtol  code     digits   err/tol  steps       F      J     LU rejected  "
        "      ms\n",
        m->name, m->form.n);
    for (int k = 6; k <= 24; k++) measure(m, pow(10, -0.5 * k), curves);
    for (int ours = 0; ours < 2; ours++)
        for (int c = 2; c < CODES; c++) {
            ratio r = curve_ratio(&curves[ours], &curves[c]);
            if (!r.valid) continue;
            printf("time of %s / ours (%s): mean %.2f, least %.2f at %.0e", names[c], names[ours],
                   r.mean, r.worst, r.at_worst);
            for (int d = 4; d <= 10; d += 3)
                if (-d >= log10(r.low) && -d <= log10(r.high))
                    printf("; %d digits %.2f", d,
                           pow(10, curve_time(&curves[c], -d) - curve_time(&curves[ours], -d)));
            printf("\n");
        }
    printf("\n");
    fflush(stdout);
}

/* Van der Pol's equation with mu = 1e6 and the value at t = 2 of Hairer's and Wanner's test set */
static int vanderpol_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[1];
    f[1] = yp[1] - 1e6 * ((1.0 - y[0] * y[0]) * y[1] - y[0]);
    return 0;
}

static int vanderpol_jacobian(double t, const double *y, const double *yp, double *dfdy,
                              double *dfdyp, void *user)
{
    (void)t, (void)yp, (void)user;
    dfdy[2] = -1.0;
    dfdy[1] = 1e6 * (2.0 * y[0] * y[1] + 1.0);
    dfdy[3] = -1e6 * (1.0 - y[0] * y[0]);
    dfdyp[0] = dfdyp[3] = 1.0;
    return 0;
}

static void compare_vanderpol(void)
{
    double y0[2] = {2.0, 0.0}, yp0[2] = {0.0, -2e6};
    double end[2] = {0.1706167732170483e1, -0.8928097010247975e0};
    model m = {.name = "vanderpol", .tend = 2.0, .y0 = y0, .yp0 = yp0, .reference = end};
    m.form = (dae_residual){.n = 2, .f = vanderpol_f, .jacobian = vanderpol_jacobian};
    compare(&m);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"robertson", "hires", "ringmod", "akzo", "transamp"};
    void *library = dlopen(BENCH_SICONOS, RTLD_NOW | RTLD_LOCAL);
    if (library) {
        *(void **)&fortran_radau5 = dlsym(library, "radau5_");
        *(void **)&fortran_radau = dlsym(library, "radau_");
    } else {
        printf("RADAU5 and RADAU are absent: %s\n", dlerror());
    }
    if (argc == 1) compare_vanderpol();
    int count = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof *usual);
    for (int i = 0; i < count; i++) {
        model *m = model_new(argc > 1 ? argv[i + 1] : usual[i], 0);
        if (m && m->reference && m->form.jacobian && !model_is_sparse(m)) compare(m);
        model_free(m);
    }
    return 0;
}
