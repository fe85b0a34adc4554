/* Mechanisms for tests of second order methods, and runs on prescribed grids. */
#ifndef TEST_COLLOC2ND_PROBLEMS_H
#define TEST_COLLOC2ND_PROBLEMS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "numbers.h"
#include "solve/bind/solver.h"

/* One body in the plane, of mass 1, on k (x^2/a^2 + y^2 - 1)/2 = 0. */
typedef struct curve {
    const char *name;
    double a, k;
    void (*force)(const double *q, const double *v, double *f);
    double start[5]; /* q, v, lambda */
} curve;

static inline void force_255(const double *q, const double *v, double *f)
{
    (void)v;
    f[0] = 2.0 * q[1];
    f[1] = -2.0 * q[0];
}
static inline void force_gravity(const double *q, const double *v, double *f)
{
    (void)q, (void)v;
    f[0] = 0.0;
    f[1] = -1.0;
}
static inline void force_drag(const double *q, const double *v, double *f)
{
    (void)q;
    f[0] = -0.2 * v[0];
    f[1] = -1.0 - 0.2 * v[1];
}
/* [Wun05 (8.1)] */
static inline void force_81(const double *q, const double *v, double *f)
{
    f[0] = -q[0] - 2.0 * q[0] * v[0] * v[1];
    f[1] = -v[0] + 2.0 * q[0] * q[1] * q[1];
}

/* [Wun05 (2.55)] with lambda = 4 t^2 in these signs, a pendulum, an ellipse, and [Wun05 (8.1)] */
static const curve curve_255 = {"(2.55)", 1.0, 1.0, force_255, {0.0, 1.0, 0.0, 0.0, 0.0}};
static const curve curve_pendulum = {
    "pendulum", 1.0, 1.0, force_gravity, {1.0, 0.0, 0.0, 0.0, 0.0}};
static const curve curve_ellipse = {
    "ellipse", 2.0, 1.0, force_drag, {1.7551651237807455, 0.479425538604203, 0.0, 0.0, 0.0}};
static const curve curve_81 = {"(8.1)", 1.0, 2.0, force_81, {0.0, 1.0, 1.0, 0.0, 0.0}};

static inline int curve_values(const dae_mechanical_point *at, const dae_mechanical_values *out,
                               void *user)
{
    const curve *c = user;
    double w = c->k / (c->a * c->a);
    if (out->mass) out->mass[0] = out->mass[1] = 1.0;
    if (out->force) c->force(at->q, at->v, out->force);
    if (out->gradient) out->gradient[0] = w * at->q[0], out->gradient[1] = c->k * at->q[1];
    if (out->rate) out->rate[0] = 0.0;
    if (out->curvature) out->curvature[0] = w * at->v[0] * at->v[0] + c->k * at->v[1] * at->v[1];
    return 0;
}

static inline int curve_constraint(const dae_mechanical_point *at, double *g, void *user)
{
    const curve *c = user;
    g[0] = 0.5 * c->k * (at->q[0] * at->q[0] / (c->a * c->a) + at->q[1] * at->q[1] - 1.0);
    return 0;
}

static inline dae_mechanical curve_form(const curve *c)
{
    return (dae_mechanical){.nq = 2,
                            .nlambda = 1,
                            .all = curve_values,
                            .constraint = curve_constraint,
                            .user = (void *)(uintptr_t)c,
                            .scleronomic = true,
                            .mass_structure = DAE_MASS_DIAGONAL,
                            .mass_constant = true};
}

static inline dae_solver *curve_solver(const curve *c, const dae_options *options,
                                       dae_problem **problem)
{
    dae_mechanical form = curve_form(c);
    dae_solver *s;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_mechanical(&form, problem, NULL), DAE_OK);
    if (dae_solver_new(*problem, options, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    if (dae_solver_start(s, 0.0, c->start, NULL) != DAE_OK)
        fail_msg("%s", dae_solver_diag(s)->text);
    return s;
}

/* y at count times t, by an explicit method at a tight tolerance */
static inline void curve_reference(const curve *c, int count, const double *t, double *y)
{
    dae_options options = dae_options_default();
    dae_problem *problem;
    options.method = "prk";
    options.rtol = options.atol = 2e-14;
    dae_solver *s = curve_solver(c, &options, &problem);
    for (int i = 0; i < count; i++) {
        assert_int_equal(dae_solver_set_stop_time(s, t[i]), DAE_OK);
        if (dae_solver_run(s, t[i], y + 5 * i, NULL) != DAE_OK)
            fail_msg("%s", dae_solver_diag(s)->text);
    }
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* `steps` steps from a to b of equal size, or random by +- jitter. The random numbers repeat after
 * `period` steps, so that grids of different fineness have the same means of powers of h. */
static inline void fill_grid(double a, double b, int steps, int period, double jitter,
                             unsigned long seed, double *h)
{
    double sum = 0.0;
    for (int i = 0; i < steps; i++) {
        h[i] = i < period ? 1.0 + jitter * (2.0 * uniform(&seed) - 1.0) : h[i - period];
        sum += h[i];
    }
    for (int i = 0; i < steps; i++) h[i] *= (b - a) / sum;
}

#endif
