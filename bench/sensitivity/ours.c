/* Daedal: sensitivities from callbacks and from the text, adjoints from the text. */
#include "sensitivity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *absolute(const problem *q, const dae_problem *text, double rtol)
{
    const int n = text ? dae_problem_size(text) : q->form.n;
    double *atol = bench_space((size_t)n, sizeof *atol);
    char name[32];
    for (int i = 0; i < n; i++) atol[i] = text ? rtol : rtol * q->scale[i];
    for (int i = 0; text && i < q->form.n; i++)
        for (int u = 0; q->scale[i] != 1.0 && u < n; u++)
            if (!strcmp(q->variable(i, name), dae_problem_unknown_name(text, u)))
                atol[u] = rtol * q->scale[i];
    return atol;
}

static dae_options options_for(const problem *q, double rtol, const double *atol)
{
    dae_options options = dae_options_default();
    options.rtol = rtol, options.atol_by_unknown = atol;
    options.max_steps = 0, options.stop_time = q->tend;
    return options;
}

static void read_rows(const problem *q, dae_sensitivity *x, bool text, int np, outcome *out)
{
    const size_t n = (size_t)q->form.n;
    double *all =
        bench_space(text ? (size_t)dae_problem_variable_count(q->native) : 1, sizeof *all);
    for (int k = 0; k < np && out->ok; k++) {
        double *row = out->s + (size_t)k * n;
        out->ok = (text ? dae_sensitivity_variables(x, q->tend, k, all)
                        : dae_sensitivity_at(x, q->tend, k, row)) == DAE_OK;
        for (size_t i = 0; text && i < n; i++) row[i] = all[q->position[i]];
    }
    free(all);
}

/* np = 0: a run without sensitivities */
static void forward(const problem *q, const dae_problem *from, bool text, double rtol, int np,
                    outcome *out)
{
    double *atol = absolute(q, text ? from : NULL, rtol);
    dae_options options = options_for(q, rtol, atol);
    dae_solver *solver = NULL;
    dae_sensitivity *x = NULL;
    dae_diag diag = {0};
    dae_sensitivity_request r = {.count = np};
    if (text)
        r.names = q->names;
    else
        r.derivative = q->by, r.sizes = q->p, r.y0 = q->s0, r.yp0 = q->sp0, r.user = q->form.user;
    double start = bench_clock();
    dae_status status = dae_solver_new(from, &options, &solver, &diag);
    if (status == DAE_OK && np) status = dae_sensitivity_new(solver, &r, &x, &diag);
    if (status == DAE_OK)
        status = dae_solver_start(solver, 0.0, text ? NULL : q->y0, text ? NULL : q->yp0);
    if (status == DAE_OK) status = dae_solver_run(solver, q->tend, NULL, NULL);
    out->ok = status == DAE_OK;
    if (out->ok && np) read_rows(q, x, text, np, out);
    if (!out->ok)
        snprintf(out->note, sizeof out->note, "%.150s",
                 solver && dae_solver_diag(solver)->text[0] ? dae_solver_diag(solver)->text
                                                            : diag.text);
    else
        snprintf(out->note, sizeof out->note, "%s, %ld steps of S, %ld rejected",
                 dae_solver_method(solver), np ? dae_sensitivity_statistics(x)->steps : 0,
                 np ? dae_sensitivity_statistics(x)->rejected : 0);
    out->steps = solver ? dae_solver_stats(solver)->steps : 0;
    dae_sensitivity_free(x);
    dae_solver_free(solver);
    out->seconds = bench_clock() - start;
    free(atol);
}

void ours_callbacks(const problem *q, double rtol, int np, outcome *out)
{
    dae_problem *from = NULL;
    double start = bench_clock();
    if (dae_problem_from_residual(&q->form, &from, NULL) != DAE_OK) return;
    double made = bench_clock() - start;
    forward(q, from, false, rtol, np, out);
    out->seconds += made;
    dae_problem_free(from);
}

void ours_native(const problem *q, double rtol, int np, outcome *out)
{
    forward(q, q->native, true, rtol, np, out);
}

static void back(const problem *q, double rtol, int np, const char *method, dae_adjoint_kind kind,
                 int unchecked, outcome *out)
{
    double *atol = absolute(q, q->native, rtol);
    double *weights = bench_space((size_t)dae_problem_variable_count(q->native), sizeof *weights);
    dae_options options = options_for(q, rtol, atol);
    options.method = method;
    dae_solver *solver = NULL;
    dae_adjoint *x = NULL;
    dae_diag diag = {0};
    dae_adjoint_request r = {
        .count = np, .names = q->names, .functionals = 1, .kind = kind, .unchecked = unchecked};
    for (int i = 0; i < q->form.n; i++) weights[q->position[i]] = q->weights[i];
    double start = bench_clock();
    dae_status status = dae_solver_new(q->native, &options, &solver, &diag);
    if (status == DAE_OK && np) status = dae_adjoint_new(solver, &r, &x, &diag);
    if (status == DAE_OK && np) status = dae_adjoint_integral(x, 0, weights);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, q->tend, NULL, NULL);
    if (status == DAE_OK && np) status = dae_adjoint_gradient(x, 0, out->s);
    out->ok = status == DAE_OK;
    snprintf(out->note, sizeof out->note, "%.150s",
             out->ok                                      ? dae_solver_method(solver)
             : solver && dae_solver_diag(solver)->text[0] ? dae_solver_diag(solver)->text
                                                          : diag.text);
    out->steps = solver ? dae_solver_stats(solver)->steps : 0;
    dae_adjoint_free(x);
    dae_solver_free(solver);
    out->seconds = bench_clock() - start;
    free(atol), free(weights);
}

void ours_adjoint(const problem *q, double rtol, int np, outcome *out)
{
    back(q, rtol, np, "auto", DAE_ADJOINT_DISCRETE, 0, out);
}

void ours_by_radau(const problem *q, double rtol, int np, outcome *out)
{
    back(q, rtol, np, "radau", DAE_ADJOINT_DISCRETE, 0, out);
}

void ours_continuous(const problem *q, double rtol, int np, outcome *out)
{
    back(q, rtol, np, "auto", DAE_ADJOINT_CONTINUOUS, 0, out);
}

void ours_unchecked(const problem *q, double rtol, int np, outcome *out)
{
    back(q, rtol, np, "auto", DAE_ADJOINT_CONTINUOUS, 1, out);
}
