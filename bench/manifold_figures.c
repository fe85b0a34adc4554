/* Data of Figures 2.1 to 2.3 of [HW96 VII.2], for bench/manifold_plots.sh: into the directory
 * given.
 */
#include "daedal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the pendulum (2.1) from rest at (1, 0) ---- */

static int weight(const dae_mechanical_point *at, double *f, void *user)
{
    (void)at, (void)user;
    f[0] = 0.0;
    f[1] = -1.0;
    return 0;
}

static int rod(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    return 0;
}

static int rod_gradient(const dae_mechanical_point *at, double *G, void *user)
{
    (void)user;
    memcpy(G, at->q, 2 * sizeof *G);
    return 0;
}

static int rod_curvature(const dae_mechanical_point *at, double *c, void *user)
{
    (void)user;
    c[0] = at->v[0] * at->v[0] + at->v[1] * at->v[1];
    return 0;
}

/* ---- the perturbed Kepler problem (2.15) ---- */

static int attraction(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    double r2 = at->q[0] * at->q[0] + at->q[1] * at->q[1], r = sqrt(r2);
    double by_r3 = 1.0 / (r * r2) + 0.015 / (r * r2 * r2);
    f[0] = -at->q[0] * by_r3;
    f[1] = -at->q[1] * by_r3;
    return 0;
}

static int energy(double t, const double *y, double *H, void *user)
{
    (void)t, (void)user;
    double r2 = y[0] * y[0] + y[1] * y[1], r = sqrt(r2);
    H[0] = 0.5 * (y[2] * y[2] + y[3] * y[3]) - 1.0 / r - 0.005 / (r * r2);
    return 0;
}

/* ---- runs ---- */

static FILE *file_in(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.dat", directory, name);
    FILE *stream = fopen(path, "w");
    if (stream) return stream;
    perror(path);
    exit(1);
}

static dae_solver *solver_of(const dae_problem *p, const dae_options *o, const double *y)
{
    dae_solver *s;
    dae_diag diag = {0};
    if (dae_solver_new(p, o, &s, &diag) == DAE_OK && dae_solver_start(s, 0.0, y, NULL) == DAE_OK)
        return s;
    fprintf(stderr, "%s\n", diag.text);
    exit(1);
}

/* t, |x^2 + y^2 - 1|, |x u + y v|, error of (q, v) at the ends of steps of dopri5 */
static void pendulum_run(const dae_problem *p, dae_projection projection, FILE *out)
{
    dae_options o = dae_options_default(), fine = o;
    const double from[5] = {1.0};
    double y[5], exact[5];
    o.method = "dopri:5";
    o.rtol = o.atol = 1e-6;
    o.projection = projection;
    fine.method = "dopri:8";
    fine.rtol = fine.atol = 1e-13;
    dae_solver *s = solver_of(p, &o, from), *r = solver_of(p, &fine, from);
    while (dae_solver_step(s, 100.0) >= 0 && dae_solver_time(s) < 100.0) {
        double t = dae_solver_time(s), error = 0.0;
        dae_solver_at(s, t, 0, y);
        dae_solver_run(r, t, exact, NULL);
        for (int i = 0; i < 4; i++) error += (y[i] - exact[i]) * (y[i] - exact[i]);
        fprintf(out, "%g %g %g %g\n", t, fabs(y[0] * y[0] + y[1] * y[1] - 1.0),
                fabs(y[0] * y[2] + y[1] * y[3]), sqrt(error));
    }
    dae_solver_free(s);
    dae_solver_free(r);
    fclose(out);
}

/* (q1, q2) in 2000 steps of 0.01 */
static void kepler_run(const dae_problem *p, const char *method, bool project, FILE *out)
{
    double y[4] = {0.4, 0.0, 0.0, 2.0};
    dae_options o = dae_options_default();
    o.method = method;
    o.fixed_step = 0.01;
    o.invariant_count = project;
    o.invariant_function = energy;
    dae_solver *s = solver_of(p, &o, y);
    for (int k = 0; k < 2000 && dae_solver_step(s, 1e3) >= 0; k++) {
        dae_solver_at(s, dae_solver_time(s), 0, y);
        fprintf(out, "%g %g\n", y[0], y[1]);
    }
    dae_solver_free(s);
    fclose(out);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"none", "position", "velocity", "both"};
    dae_mechanical pendulum = {.nq = 2,
                               .nlambda = 1,
                               .force = weight,
                               .constraint = rod,
                               .gradient = rod_gradient,
                               .curvature = rod_curvature,
                               .scleronomic = true};
    dae_mechanical kepler = {.nq = 2, .force = attraction};
    dae_problem *p;
    if (argc != 2) {
        fprintf(stderr, "usage: %s directory\n", argv[0]);
        return 2;
    }
    if (dae_problem_from_mechanical(&pendulum, &p, NULL) != DAE_OK) return 1;
    for (int k = 0; k < 4; k++)
        pendulum_run(p, (dae_projection)(DAE_PROJECTION_NONE + k), file_in(argv[1], names[k]));
    dae_problem_free(p);
    if (dae_problem_from_mechanical(&kepler, &p, NULL) != DAE_OK) return 1;
    kepler_run(p, "euler", false, file_in(argv[1], "euler"));
    kepler_run(p, "euler", true, file_in(argv[1], "euler-projected"));
    kepler_run(p, "symplectic_euler", false, file_in(argv[1], "symplectic"));
    kepler_run(p, "symplectic_euler", true, file_in(argv[1], "symplectic-projected"));
    dae_problem_free(p);
    return 0;
}
