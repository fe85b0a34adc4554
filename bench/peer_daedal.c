/* Daedal itself, through its public header and with its default options. */
#include "peer.h"

#include <stdio.h>

static void read_counters(const dae_stats *s, run *out)
{
    out->steps = s->steps;
    out->residuals = s->residuals + s->jacobian_residuals;
    out->jacobians = s->jacobians;
    out->factors = s->factorisations;
    out->bad_error = s->rejected_error;
    out->bad_newton = s->rejected_convergence;
}

static dae_status integrate(const dae_problem *problem, const task *k, run *out, dae_diag *diag)
{
    const model *m = k->model;
    dae_options options = dae_options_default();
    options.rtol = k->rtol;
    options.atol_by_unknown = k->atol;
    options.max_steps = 0;
    dae_solver *solver;
    dae_status status = dae_solver_new(problem, &options, &solver, diag);
    if (status < 0) return status;
    status = dae_solver_start(solver, m->t0, m->y0, m->yp0);
    if (status >= 0) status = dae_solver_run(solver, m->tend, out->y, NULL);
    read_counters(dae_solver_stats(solver), out);
    if (status < 0) *diag = *dae_solver_diag(solver);
    dae_solver_free(solver);
    return status;
}

static void solve(const task *k, run *out)
{
    dae_diag diag = {0};
    dae_problem *problem;
    double start = bench_clock();
    dae_status status = dae_problem_from_residual(&k->model->form, &problem, &diag);
    if (status >= 0) status = integrate(problem, k, out, &diag);
    dae_problem_free(problem);
    out->seconds = bench_clock() - start;
    out->ok = status == DAE_OK;
    if (!out->ok) snprintf(out->note, sizeof out->note, "%s", dae_status_name(status));
}

static const char *missing(void)
{
    return NULL;
}

static const char *version(void)
{
    static char text[64];
    snprintf(text, sizeof text, "Daedal %s, default options", dae_version());
    return text;
}

static bool suits(const model *m)
{
    (void)m;
    return true;
}

const peer peer_daedal = {"Daedal", missing, version, suits, solve};
