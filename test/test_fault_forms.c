/* Callbacks of forms that fail: at the k-th call of all, for every k of a start and the steps after
 * it. One that asks to stop ends the run. One that cannot give values, or gives nan, ends the run
 * by a message that names a callback, or the run goes on and has the values of a healthy one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

/* The fault: call number `at` returns `code`, or spoils its first value if that is 0. */
typedef struct cast {
    long calls, at;
    int code;
} cast;

static int play(void *user, double *out)
{
    cast *c = user;
    if (c->calls++ != c->at) return 0;
    if (c->code == 0) out[0] = NAN;
    return c->code;
}

/* All go round the circle x = cos t, y = sin t. */
static double off_circle(const double *q)
{
    return q[0] * q[0] + q[1] * q[1] - 1.0;
}

static void by_place(const double *q, double *row)
{
    row[0] = 2.0 * q[0];
    row[1] = 2.0 * q[1];
}

/* ---- mechanical: no force, mass 1 ---- */

static int mass(const dae_mechanical_point *at, double *out, void *user)
{
    (void)at;
    out[0] = out[3] = 1.0;
    return play(user, out);
}

static int force(const dae_mechanical_point *at, double *out, void *user)
{
    (void)at;
    out[0] = out[1] = 0.0;
    return play(user, out);
}

static int constraint(const dae_mechanical_point *at, double *out, void *user)
{
    out[0] = off_circle(at->q);
    return play(user, out);
}

static int gradient(const dae_mechanical_point *at, double *out, void *user)
{
    by_place(at->q, out);
    return play(user, out);
}

static int rate(const dae_mechanical_point *at, double *out, void *user)
{
    (void)at;
    out[0] = 0.0;
    return play(user, out);
}

static int curvature(const dae_mechanical_point *at, double *out, void *user)
{
    out[0] = 2.0 * (at->v[0] * at->v[0] + at->v[1] * at->v[1]);
    return play(user, out);
}

static dae_status mechanical(cast *c, dae_problem **p)
{
    const dae_mechanical form = {.nq = 2,
                                 .nlambda = 1,
                                 .mass = mass,
                                 .force = force,
                                 .constraint = constraint,
                                 .gradient = gradient,
                                 .rate = rate,
                                 .curvature = curvature,
                                 .user = c};
    return dae_problem_from_mechanical(&form, p, NULL);
}

/* ---- hessenberg: x' = -u y + x z, y' = u x + y z, z = 0, u = 1 ---- */

static int hess_f(const dae_hessenberg_point *at, double *out, void *user)
{
    out[0] = -at->u[0] * at->y[1] + at->y[0] * at->z[0];
    out[1] = at->u[0] * at->y[0] + at->y[1] * at->z[0];
    return play(user, out);
}

static int hess_g(const dae_hessenberg_point *at, double *out, void *user)
{
    out[0] = off_circle(at->y);
    return play(user, out);
}

static int hess_k(const dae_hessenberg_point *at, double *out, void *user)
{
    out[0] = at->u[0] - 1.0;
    return play(user, out);
}

static int hess_g_y(const dae_hessenberg_point *at, double *out, void *user)
{
    by_place(at->y, out);
    return play(user, out);
}

static int hess_g_t(const dae_hessenberg_point *at, double *out, void *user)
{
    (void)at;
    out[0] = 0.0;
    return play(user, out);
}

static int hess_f_z(const dae_hessenberg_point *at, double *out, void *user)
{
    out[0] = at->y[0];
    out[1] = at->y[1];
    return play(user, out);
}

static int hess_k_u(const dae_hessenberg_point *at, double *out, void *user)
{
    (void)at;
    out[0] = 1.0;
    return play(user, out);
}

static dae_status hessenberg(cast *c, dae_problem **p)
{
    const dae_hessenberg form = {.ny = 2,
                                 .nz = 1,
                                 .nu = 1,
                                 .f = hess_f,
                                 .g = hess_g,
                                 .k = hess_k,
                                 .g_y = hess_g_y,
                                 .g_t = hess_g_t,
                                 .f_z = hess_f_z,
                                 .k_u = hess_k_u,
                                 .user = c};
    return dae_problem_from_hessenberg(&form, p, NULL);
}

/* ---- quasilinear, and manifold ---- */

static int identity(const dae_quasilinear_point *at, double *out, void *user)
{
    (void)at;
    out[0] = out[3] = 1.0;
    return play(user, out);
}

static int turn(const dae_quasilinear_point *at, double *out, void *user)
{
    out[0] = -at->x[1];
    out[1] = at->x[0];
    return play(user, out);
}

static int circle(const dae_quasilinear_point *at, double *out, void *user)
{
    out[0] = off_circle(at->x);
    return play(user, out);
}

static int circle_x(const dae_quasilinear_point *at, double *out, void *user)
{
    by_place(at->x, out);
    return play(user, out);
}

static int circle_t(const dae_quasilinear_point *at, double *out, void *user)
{
    (void)at;
    out[0] = 0.0;
    return play(user, out);
}

static dae_status quasilinear(cast *c, dae_problem **p)
{
    const dae_quasilinear form = {.n = 2,
                                  .ne = 2,
                                  .ng = 1,
                                  .E = identity,
                                  .f = turn,
                                  .g = circle,
                                  .g_x = circle_x,
                                  .g_t = circle_t,
                                  .user = c};
    return dae_problem_from_quasilinear(&form, p, NULL);
}

static dae_status manifold(cast *c, dae_problem **p)
{
    const dae_manifold form = {
        .n = 2, .nc = 1, .phi = turn, .c = circle, .c_x = circle_x, .c_t = circle_t, .user = c};
    return dae_problem_from_manifold(&form, p, NULL);
}

/* ---- runs ---- */

typedef struct scene {
    const char *name, *method;
    dae_status (*make)(cast *c, dae_problem **p);
    double y0[5]; /* beside the circle, so that starts have work to do */
} scene;

typedef struct result {
    dae_status status;
    dae_diag diag;
    long calls;
    double x, y;
} result;

static const double TEND = 0.2;

static result perform(const scene *s, int code, long at)
{
    cast c = {.at = at, .code = code};
    result r = {0};
    dae_problem *p;
    dae_solver *solver = NULL;
    dae_options o = dae_options_default();
    double y[5] = {0.0};
    o.method = s->method;
    o.rtol = o.atol = 1e-5;
    assert_int_equal(s->make(&c, &p), DAE_OK);
    r.status = dae_solver_new(p, &o, &solver, &r.diag);
    if (r.status == DAE_OK) {
        r.status = dae_solver_start(solver, 0.0, s->y0, NULL);
        if (r.status == DAE_OK) r.status = dae_solver_run(solver, TEND, y, NULL);
        r.diag = *dae_solver_diag(solver);
    }
    r.calls = c.calls;
    r.x = y[0];
    r.y = y[1];
    dae_solver_free(solver);
    dae_problem_free(p);
    return r;
}

static void check(const scene *s, int code, long at)
{
    const result r = perform(s, code, at);
    const dae_status wanted = code < 0 ? DAE_ERR_CALLBACK : DAE_ERR_EVALUATION;
    bool right = r.status == wanted && strstr(r.diag.text, "callback");
    if (r.status == DAE_OK && code >= 0)
        right = fabs(r.x - cos(TEND)) < 1e-3 && fabs(r.y - sin(TEND)) < 1e-3;
    if (!right)
        fail_msg("%s, %s: call %ld fails by %d, status %d at (%g, %g): %s", s->name, s->method, at,
                 code, (int)r.status, r.x, r.y, r.diag.text);
}

static void every_call_fails(void **state)
{
    (void)state;
    static const scene scenes[] = {
        {"mechanical", "hem:5", mechanical, {1.0, 1e-3, 0.0, 1.0}},
        {"mechanical", "prk", mechanical, {1.0, 0.0, 0.0, 1.0}},
        {"mechanical", "bdf", mechanical, {1.0, 0.0, 0.0, 1.0}},
        {"hessenberg", "hem:5", hessenberg, {1.0, 0.0, 0.0, 1.0}},
        {"hessenberg", "radau", hessenberg, {1.0, 0.0, 0.0, 1.0}},
        {"quasilinear", "herk", quasilinear, {1.0, 0.0}},
        {"quasilinear", "radau", quasilinear, {1.0, 0.0}},
        {"manifold", "dopri", manifold, {1.0, 0.0}},
        {"manifold", "bdf", manifold, {1.0, 0.0}},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        const scene *s = &scenes[i];
        const result healthy = perform(s, 0, -1);
        if (healthy.status != DAE_OK)
            print_message("%s, %s: %s", s->name, s->method, healthy.diag.text);
        for (int code = -1; code <= 1; code++)
            for (long at = 0; at < healthy.calls; at++) check(s, code, at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
