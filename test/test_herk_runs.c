/* herk through the public face: callbacks in quasilinear and in mechanical form, events, dense
 * output, and messages that name the user's variables and constraints. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

/* ---- a pendulum, m = l = g = 1, in mechanical form: g = (q'q - 1)/2 -------------------------- */

static int force(const dae_mechanical_point *at, double *out, void *user)
{
    (void)at, (void)user;
    out[0] = 0;
    out[1] = -1;
    return 0;
}
static int circle(const dae_mechanical_point *at, double *out, void *user)
{
    (void)user;
    out[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1);
    return 0;
}
static int circle_gradient(const dae_mechanical_point *at, double *out, void *user)
{
    (void)user;
    out[0] = at->q[0];
    out[1] = at->q[1];
    return 0;
}
static int circle_curvature(const dae_mechanical_point *at, double *out, void *user)
{
    (void)user;
    out[0] = at->v[0] * at->v[0] + at->v[1] * at->v[1];
    return 0;
}

/* The lowest point. */
static int lowest(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp, (void)user;
    g[0] = y[0];
    return 0;
}

static const dae_event at_lowest = {.name = "lowest"};
static const dae_mechanical mechanical_pendulum = {.nq = 2,
                                                   .nlambda = 1,
                                                   .force = force,
                                                   .constraint = circle,
                                                   .gradient = circle_gradient,
                                                   .curvature = circle_curvature,
                                                   .scleronomic = true,
                                                   .event_count = 1,
                                                   .event_function = lowest,
                                                   .events = &at_lowest};

static dae_solver *open_solver(const dae_problem *p, const char *method, double tolerance)
{
    dae_diag diag = {0};
    dae_options o = dae_options_default();
    dae_solver *s;
    o.method = method;
    o.rtol = o.atol = tolerance;
    /* the error test of the thesis promises no tolerance: constant steps alone */
    if (strcmp(method, "herk:thesis") == 0) o.fixed_step = 0.01;
    dae_status status = dae_solver_new(p, &o, &s, &diag);
    if (status != DAE_OK) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
    return s;
}

/* Period of the swing from the horizontal: 4 K(1/2) */
static const double QUARTER = 1.85407467730137191843;

static void a_mechanical_problem_runs_with_events(void **state)
{
    (void)state;
    static const char *const methods[] = {"herk", "herk:5", "herk:hem4", "herk:thesis"};
    static const double reference[] = {-0.81158645, -0.58423235, -0.63152915, 0.8772888, 1.752697};
    dae_problem *p;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_mechanical(&mechanical_pendulum, &p, &diag), DAE_OK);
    for (int k = 0; k < 4; k++) {
        dae_solver *s = open_solver(p, methods[k], k == 3 ? 1e-10 : 1e-9);
        double y[5] = {1, 0, 0, 0, 0}, yp[5] = {0};
        int events = 0;
        dae_status status = dae_solver_start(s, 0, y, yp);
        assert_int_equal(status, DAE_OK);
        while ((status = dae_solver_step(s, 10)) > 0) {
            if (status != DAE_EVENT) continue;
            double t = dae_solver_time(s);
            assert_true(fabs(t - (2 * events + 1) * QUARTER) < 1e-6);
            assert_int_equal(dae_solver_at(s, t, 0, y), DAE_OK);
            assert_true(fabs(y[4] - 3) < 1e-5); /* centripetal and weight */
            events++;
        }
        assert_int_equal(status, DAE_OK);
        assert_int_equal(events, 3);
        assert_int_equal(dae_solver_at(s, 10, 0, y), DAE_OK);
        for (int i = 0; i < 5; i++) assert_true(fabs(y[i] - reference[i]) < 1e-6);
        assert_true(dae_solver_stats(s)->steps > 20);
        dae_solver_free(s);
    }
    dae_problem_free(p);
}

/* Consistent start, a few thousand right-hand sides, and what a tighter tolerance brings. */
static double horizon_error(const char *method, double tolerance, long *calls)
{
    dae_problem *p;
    dae_diag diag = {0};
    dae_mechanical form = mechanical_pendulum;
    double y[5] = {1, 0, 0, 0, 0}, yp[5] = {0};
    form.event_count = 0;
    form.event_function = NULL;
    form.events = NULL;
    assert_int_equal(dae_problem_from_mechanical(&form, &p, &diag), DAE_OK);
    dae_solver *s = open_solver(p, method, tolerance);
    assert_int_equal(dae_solver_start(s, 0, y, yp), DAE_OK);
    assert_int_equal(dae_solver_run(s, 8 * QUARTER, y, yp), DAE_OK);
    *calls = dae_solver_stats(s)->steps;
    dae_solver_free(s);
    dae_problem_free(p);
    return hypot(y[0] - 1, y[1]);
}

static void errors_follow_the_tolerance(void **state)
{
    (void)state;
    long few, many;
    double loose = horizon_error("herk", 1e-5, &few), tight = horizon_error("herk", 1e-10, &many);
    assert_true(loose < 1e-2 && tight < 1e-7 && tight < 1e-3 * loose);
    assert_true(many < 8 * few); /* order 8 from 2e-6 on */
}

/* ---- messages -------------------------------------------------------------------------------- */

static int slide_E(const dae_quasilinear_point *at, double *out, void *user)
{
    (void)at, (void)user;
    out[0] = 1; /* 1 x 2: the second derivative is not there */
    out[1] = 0;
    return 0;
}
static int slide_f(const dae_quasilinear_point *at, double *out, void *user)
{
    double *wall = user;
    out[0] = at->t > wall[0] ? NAN : at->x[1];
    return 0;
}
static int slide_g(const dae_quasilinear_point *at, double *out, void *user)
{
    const double *wall = user;
    out[0] = at->x[1] - cos(at->t) + wall[1] * 0;
    return 0;
}

static const char *const names[] = {"path", "speed"};
static const char *const rows[] = {"motion"};
static const char *const constraints[] = {"timetable"};

static void a_wall_is_named_and_does_not_leak(void **state)
{
    (void)state;
    double wall[] = {0.5, 0};
    dae_problem *p;
    dae_diag diag = {0};
    dae_quasilinear form = {.n = 2,
                            .ne = 1,
                            .ng = 1,
                            .E = slide_E,
                            .f = slide_f,
                            .g = slide_g,
                            .user = wall,
                            .variable_names = names,
                            .equation_names = rows,
                            .constraint_names = constraints};
    assert_int_equal(dae_problem_from_quasilinear(&form, &p, &diag), DAE_OK);
    dae_solver *s = open_solver(p, "herk", 1e-6);
    double y[2] = {0, 1}, yp[2] = {1, 0};
    assert_int_equal(dae_solver_start(s, 0, y, yp), DAE_OK);
    assert_true(dae_solver_run(s, 0.4, y, yp) == DAE_OK && fabs(y[0] - sin(0.4)) < 1e-6);
    assert_true(dae_solver_run(s, 1, y, yp) < 0);
    const dae_diag *d = dae_solver_diag(s);
    assert_int_equal(d->status, DAE_ERR_EVALUATION);
    assert_non_null(strstr(d->text, "motion"));
    assert_true(d->t > 0.4 && d->t < 1);
    dae_solver_free(s);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mechanical_problem_runs_with_events),
        cmocka_unit_test(errors_follow_the_tolerance),
        cmocka_unit_test(a_wall_is_named_and_does_not_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
