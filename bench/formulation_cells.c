#include "formulation_cells.h"

#include "peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_Q = 8, MOST = 3 * MOST_Q };

/* ---- the thesis' example (8.1) as mass, force and constraint; the others are there already ----
 */

static void circle_values(const mechanism *m, double t, const double *q, const double *v,
                          const mechanism_values *out)
{
    (void)m, (void)t;
    if (out->mass)
        for (int i = 0; i < 2; i++) out->mass[out->ld ? i + i * out->ld : i] = 1.0;
    if (out->force) {
        out->force[0] = -q[0] - 2.0 * q[0] * v[0] * v[1];
        out->force[1] = -v[0] + 2.0 * q[0] * q[1] * q[1];
    }
    if (out->gradient) out->gradient[0] = 2.0 * q[0], out->gradient[1] = 2.0 * q[1];
    if (out->rate) out->rate[0] = 0.0;
    if (out->curvature) out->curvature[0] = 2.0 * (v[0] * v[0] + v[1] * v[1]);
}

static void circle_constraint(const mechanism *m, double t, const double *q, double *g)
{
    (void)m, (void)t;
    g[0] = q[0] * q[0] + q[1] * q[1] - 1.0;
}

static const char *circle_variable(int i, char *text)
{
    (void)text;
    return i ? "q2" : "q1";
}

static mechanism *circle_new(void)
{
    mechanism *m = calloc(1, sizeof *m);
    if (!m) abort();
    *m = (mechanism){.name = "circle",
                     .model = "models/circle.mo",
                     .nq = 2,
                     .nl = 1,
                     .tend = 1.0,
                     .values = circle_values,
                     .constraint = circle_constraint,
                     .variable = circle_variable};
    return m;
}

/* ---- problems ---- */

static const struct {
    const char *name, *velocity; /* of q_i: a name with %d, from 1, or NULL: listed below */
    double sign, fixed_step;
} known[CELL_PROBLEMS] = {{"circle", "v%d", 1.0, 1e-3},
                          {"pendulum", NULL, 1.0, 1e-2},
                          {"caraxis", NULL, -1.0, 1e-3},
                          {"andrews", "v[%d]", 1.0, 1e-5}};
static const char *const pendulum_velocity[] = {"vx", "vy"};
static const char *const caraxis_velocity[] = {"vl[1]", "vl[2]", "vr[1]", "vr[2]"};

const char *cell_problem_name(int i)
{
    return i >= 0 && i < CELL_PROBLEMS ? known[i].name : NULL;
}

static int place_of(const char *name)
{
    for (int i = 0; i < CELL_PROBLEMS; i++)
        if (!strcmp(known[i].name, name)) return i;
    return -1;
}

/* The name of the k-th of (q, v, lambda) in the model */
static const char *name_of(const cell_problem *p, int k, char *text, size_t size)
{
    const int nq = p->m->nq, nl = p->m->nl, at = place_of(p->name);
    if (k < nq) return p->m->variable(k, text);
    if (k >= 2 * nq) {
        snprintf(text, size, nl > 1 ? "lambda[%d]" : "lambda", k - 2 * nq + 1);
        return text;
    }
    if (!strcmp(p->name, "pendulum")) return pendulum_velocity[k - nq];
    if (!strcmp(p->name, "caraxis")) return caraxis_velocity[k - nq];
    snprintf(text, size, known[at].velocity, k - nq + 1);
    return text;
}

/* q, v and lambda (as M a = f - G' lambda has it) where the solver stands at the end */
static bool read_end(const cell_problem *p, dae_solver *solver, double *y)
{
    char text[32];
    const int n = 2 * p->m->nq + p->m->nl;
    double *all = calloc((size_t)dae_problem_variable_count(p->problem) + 1, sizeof *all);
    if (!all) abort();
    bool ok = dae_solver_variables(solver, p->m->tend, all) == DAE_OK;
    for (int k = 0; ok && k < n; k++) {
        int at = dae_problem_find_variable(p->problem, name_of(p, k, text, sizeof text));
        ok = at >= 0;
        if (ok) y[k] = all[at] * (k < 2 * p->m->nq ? 1.0 : p->multiplier_sign);
    }
    free(all);
    return ok;
}

static bool find_reference(cell_problem *p)
{
    dae_options options = dae_options_default();
    dae_solver *solver = NULL;
    options.method = "prk", options.rtol = options.atol = 1e-12, options.max_steps = 0;
    options.stop_time = p->m->tend;
    bool ok = dae_solver_new(p->problem, &options, &solver, NULL) == DAE_OK &&
              dae_solver_start(solver, 0.0, NULL, NULL) == DAE_OK &&
              dae_solver_run(solver, p->m->tend, NULL, NULL) == DAE_OK &&
              read_end(p, solver, p->reference);
    dae_solver_free(solver);
    return ok;
}

cell_problem *cell_problem_new(const char *name, const char *root, dae_engine engine)
{
    const int at = place_of(name);
    cell_problem *p = at < 0 ? NULL : calloc(1, sizeof *p);
    if (!p) return NULL;
    char path[1024];
    p->name = known[at].name, p->multiplier_sign = known[at].sign;
    p->fixed_step = known[at].fixed_step;
    p->m = strcmp(name, "circle") ? mechanism_new(name, 0) : circle_new();
    p->reference = calloc(MOST, sizeof *p->reference);
    snprintf(path, sizeof path, "%s/%s", root, p->m->model);
    dae_model text = {.file = path, .engine = engine};
    bool ok = p->reference && dae_problem_from_model(&text, &p->problem, NULL) == DAE_OK &&
              find_reference(p);
    if (ok) return p;
    cell_problem_free(p);
    return NULL;
}

void cell_problem_free(cell_problem *p)
{
    if (!p) return;
    mechanism_free(p->m);
    dae_problem_free(p->problem);
    free(p->reference);
    free(p);
}

/* ---- cells ---- */

/* x := A^-1 x by Gauss elimination with row interchanges, A n x n by columns */
static void solve_small(int n, double *a, double *x)
{
    for (int k = 0; k < n; k++) {
        int top = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i + k * n]) > fabs(a[top + k * n])) top = i;
        for (int j = 0; j < n; j++) {
            double s = a[k + j * n];
            a[k + j * n] = a[top + j * n], a[top + j * n] = s;
        }
        double s = x[k];
        x[k] = x[top], x[top] = s;
        for (int i = 0; i < n; i++) {
            double factor = i == k ? 0.0 : a[i + k * n] / a[k + k * n];
            for (int j = k; j < n; j++) a[i + j * n] -= factor * a[k + j * n];
            x[i] -= factor * x[k];
        }
    }
    for (int k = 0; k < n; k++) x[k] /= a[k + k * n];
}

static double largest(const double *x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = isnan(x[i]) ? INFINITY : fmax(most, fabs(x[i]));
    return most;
}

/* Residuals of the constraints of positions, velocities and accelerations */
static void find_drift(const cell_problem *p, const double *y, double drift[3])
{
    const mechanism *m = p->m;
    const int nq = m->nq, nl = m->nl;
    const double *q = y, *v = y + nq, *lambda = y + 2 * nq;
    double mass[MOST_Q * MOST_Q] = {0}, a[MOST_Q], gradient[MOST_Q * MOST_Q] = {0};
    double level[3][MOST_Q] = {{0}};
    mechanism_values out = {.mass = mass,
                            .ld = nq,
                            .force = a,
                            .gradient = gradient,
                            .rate = level[1],
                            .curvature = level[2]};
    m->values(m, m->tend, q, v, &out);
    m->constraint(m, m->tend, q, level[0]);
    for (int k = 0; k < nq; k++)
        for (int i = 0; i < nl; i++) a[k] -= gradient[i + k * nl] * lambda[i];
    solve_small(nq, mass, a);
    for (int k = 0; k < nq; k++)
        for (int i = 0; i < nl; i++) {
            level[1][i] += gradient[i + k * nl] * v[k];
            level[2][i] += gradient[i + k * nl] * a[k];
        }
    for (int k = 0; k < 3; k++) drift[k] = largest(level[k], nl);
}

static void find_errors(const cell_problem *p, const double *y, double error[3])
{
    const int nq = p->m->nq, nl = p->m->nl;
    const int from[] = {0, nq, 2 * nq}, count[] = {nq, nq, nl};
    for (int k = 0; k < 3; k++) {
        double e[MOST_Q];
        const double *exact = p->reference + from[k];
        for (int i = 0; i < count[k]; i++) e[i] = y[from[k] + i] - exact[i];
        error[k] = largest(e, count[k]) / largest(exact, count[k]);
    }
}

/* Methods of low order: what they reach in reasonable time; none looser than 1e-3, since explicit
 * ones of order 1 feed undamped oscillations: at 1e-2 half-explicit Euler's method leaves the
 * solution of the car axis for good. */
static double usual_rtol(int method)
{
    const int order = dae_method_at(method).max_order;
    return order < 3 ? 1e-3 : order < 5 ? pow(10.0, -(order + 1)) : 1e-6;
}

/* Steps of a method of constant ones. Explicit Euler lets the car axis' springs, w = 45, grow as
 * exp(h w^2 t / 2): its h is a quarter of what makes that e^3 at the end. */
static double constant_step(const cell_problem *p, const char *name)
{
    return strcmp(name, "euler") == 0 ? 0.25 * p->fixed_step : p->fixed_step;
}

static dae_solver *solver_of(const cell_problem *p, dae_options *options, dae_diag *diag)
{
    dae_solver *solver = NULL;
    dae_status status = dae_solver_new(p->problem, options, &solver, diag);
    if (status == DAE_OK || !strstr(diag->text, "fixed_step")) return solver;
    options->fixed_step = constant_step(p, options->method);
    dae_solver_new(p->problem, options, &solver, diag);
    return solver;
}

static void fail(cell *c, cell_status status, const dae_diag *diag)
{
    c->status = status;
    snprintf(c->why, sizeof c->why, "%s", diag->text);
}

cell cell_run(const cell_problem *p, const char *formulation, int method, double rtol)
{
    cell c = {.status = CELL_RUNS, .rtol = rtol > 0.0 ? rtol : usual_rtol(method)};
    double y[MOST] = {0};
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    options.method = dae_method_name(method), options.formulation = formulation;
    options.rtol = options.atol = c.rtol, options.max_steps = 200000;
    options.stop_time = p->m->tend, options.threads = 1;
    dae_solver *solver = solver_of(p, &options, &diag);
    if (!solver) return fail(&c, CELL_REFUSED, &diag), c;
    double start = bench_clock();
    dae_status status = dae_solver_start(solver, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, p->m->tend, NULL, NULL);
    c.seconds = bench_clock() - start;
    if (status < 0)
        fail(&c, status == DAE_ERR_UNSUPPORTED ? CELL_REFUSED : CELL_FAILS,
             dae_solver_diag(solver));
    const dae_stats *s = dae_solver_stats(solver);
    c.steps = s->steps, c.evaluations = s->residuals + s->jacobian_residuals;
    if (c.status == CELL_RUNS && read_end(p, solver, y))
        find_errors(p, y, c.error), find_drift(p, y, c.drift);
    dae_solver_free(solver);
    return c;
}
