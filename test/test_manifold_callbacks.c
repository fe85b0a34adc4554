/* Problems given as x' = phi(t, x) on 0 = c(t, x): explicit and implicit methods against closed
 * forms, what phi costs, names in messages, and what is refused. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A point on a circle of radius r(t) = 1 + t/2 at angle t; c = (x^2 + y^2 - r^2) / 2. */
static int spiral(const dae_manifold_point *at, double *xp, void *user)
{
    (void)user;
    double r = 1.0 + 0.5 * at->t;
    xp[0] = 0.5 / r * at->x[0] - at->x[1];
    xp[1] = 0.5 / r * at->x[1] + at->x[0];
    return 0;
}

static int circle(const dae_manifold_point *at, double *c, void *user)
{
    const double *spoil_after = user;
    double r = 1.0 + 0.5 * at->t;
    c[0] = 0.5 * (at->x[0] * at->x[0] + at->x[1] * at->x[1] - r * r);
    if (spoil_after && at->t > *spoil_after) c[0] = NAN;
    return 0;
}

static int circle_x(const dae_manifold_point *at, double *c_x, void *user)
{
    (void)user;
    c_x[0] = at->x[0];
    c_x[1] = at->x[1];
    return 0;
}

static int circle_t(const dae_manifold_point *at, double *c_t, void *user)
{
    (void)user;
    c_t[0] = -0.5 * (1.0 + 0.5 * at->t);
    return 0;
}

static dae_manifold spiral_form(void)
{
    return (dae_manifold){
        .n = 2, .nc = 1, .phi = spiral, .c = circle, .c_x = circle_x, .c_t = circle_t};
}

/* x(tend) from the consistent point at t = 0; fails the test on any error. */
static dae_stats run_to(const dae_manifold *form, const char *method, dae_projection projection,
                        double tend, double *x)
{
    const double start[2] = {1.0, 0.0};
    dae_diag diag = {0};
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_options o = dae_options_default();
    o.method = method;
    o.rtol = o.atol = 1e-9;
    o.projection = projection;
    o.stop_time = tend; /* the last step ends there */
    if (dae_problem_from_manifold(form, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    if (dae_solver_new(p, &o, &s, &diag) != DAE_OK) fail_msg("%s: %s", method, diag.text);
    if (dae_solver_start(s, 0.0, start, NULL) != DAE_OK ||
        dae_solver_run(s, tend, x, NULL) != DAE_OK)
        fail_msg("%s: %s", method, dae_solver_diag(s)->text);
    dae_stats stats = *dae_solver_stats(s);
    dae_solver_free(s);
    dae_problem_free(p);
    return stats;
}

static void assert_on_spiral(const char *method, double t, const double *x)
{
    double r = 1.0 + 0.5 * t, dx = x[0] - r * cos(t), dy = x[1] - r * sin(t);
    if (!(hypot(dx, dy) < 1e-6)) fail_msg("%s: error %.2e at t = %g", method, hypot(dx, dy), t);
}

/* Errors add up over three turns: 1000 tolerances are allowed. */
static void test_methods(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "dopri:5", "dopri:8", "bdf", "radau"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        dae_manifold given = spiral_form(), differenced = spiral_form();
        differenced.c_x = differenced.c_t = NULL;
        double x[2];
        run_to(&given, methods[k], DAE_PROJECTION_AUTO, 20.0, x);
        assert_on_spiral(methods[k], 20.0, x);
        run_to(&differenced, methods[k], DAE_PROJECTION_AUTO, 20.0, x);
        assert_on_spiral(methods[k], 20.0, x);
    }
}

/* With projection the end lies on the circle to round-off, without it does not; and then phi is all
 * that is evaluated. */
static void test_projection(void **state)
{
    (void)state;
    dae_manifold form = spiral_form();
    double x[2], c;
    run_to(&form, "dopri:5", DAE_PROJECTION_AUTO, 20.0, x);
    circle(&(dae_manifold_point){20.0, x}, &c, NULL);
    assert_true(fabs(c) < 1e-12 * 121.0);
    dae_stats stats = run_to(&form, "dopri:5", DAE_PROJECTION_NONE, 20.0, x);
    circle(&(dae_manifold_point){20.0, x}, &c, NULL);
    assert_true(fabs(c) > 1e-12 * 121.0);
    assert_on_spiral("dopri:5 without projection", 20.0, x);
    /* the consistent start alone factors */
    assert_true(stats.factorisations < stats.steps / 10);
}

/* Without constraints it is an ODE. */
static void test_no_constraints(void **state)
{
    (void)state;
    dae_manifold form = {.n = 2, .phi = spiral};
    double x[2];
    run_to(&form, "dopri:8", DAE_PROJECTION_AUTO, 3.0, x);
    assert_on_spiral("dopri:8 on an ODE", 3.0, x);
}

/* A start off the manifold is brought to a near point on it. */
static void test_start(void **state)
{
    (void)state;
    const double off[2] = {0.63, 0.84};
    dae_manifold form = spiral_form();
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    double x[2], c;
    assert_int_equal(dae_problem_from_manifold(&form, &p, NULL), DAE_OK);
    dae_options o = dae_options_default();
    o.method = "dopri:8";
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, off, NULL), DAE_OK);
    assert_int_equal(dae_solver_at(s, 0.0, 0, x), DAE_OK);
    circle(&(dae_manifold_point){0.0, x}, &c, NULL);
    assert_true(fabs(c) < 1e-12);
    /* the nearest point is 0.05 away */
    assert_true(hypot(x[0] - off[0], x[1] - off[1]) < 0.1);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* x' = -10^6 (x - cos t) - sin t: x = cos t */
static int stiff(const dae_manifold_point *at, double *xp, void *user)
{
    (void)user;
    xp[0] = -1e6 * (at->x[0] - cos(at->t)) - sin(at->t);
    return 0;
}

/* auto begins with an explicit pair, and leaves it where stability keeps steps small. */
static void test_choice(void **state)
{
    (void)state;
    const double one[2] = {1.0, 0.0};
    const dae_manifold forms[2] = {spiral_form(), {.n = 1, .phi = stiff}};
    for (int k = 0; k < 2; k++) {
        dae_problem *p = NULL;
        dae_solver *s = NULL;
        double x[2];
        assert_int_equal(dae_problem_from_manifold(&forms[k], &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, NULL, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, one, NULL), DAE_OK);
        assert_string_equal(dae_solver_method(s), "dopri:8");
        assert_int_equal(dae_solver_run(s, 3.0, x, NULL), DAE_OK);
        assert_string_equal(dae_solver_method(s), k == 0 ? "dopri:8" : "radau");
        if (k == 1) assert_true(fabs(x[0] - cos(3.0)) < 1e-5);
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

/* Failures speak of phi and c, not of the names of another form. */
static void test_names(void **state)
{
    (void)state;
    double spoil_after = 1.0, x[2];
    const double start[2] = {1.0, 0.0};
    dae_manifold form = spiral_form();
    form.user = &spoil_after;
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_options o = dae_options_default();
    o.method = "dopri:5";
    assert_int_equal(dae_problem_from_manifold(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, start, NULL), DAE_OK);
    assert_true(dae_solver_run(s, 5.0, x, NULL) < 0);
    const char *text = dae_solver_diag(s)->text;
    if (!strstr(text, "c[0]")) fail_msg("%s", text);
    dae_solver_free(s);
    dae_problem_free(p);
}

static void assert_refused(const dae_manifold *form, const char *word)
{
    dae_diag diag = {0};
    dae_problem *p = (dae_problem *)&diag;
    assert_true(dae_problem_from_manifold(form, &p, &diag) < 0);
    assert_null(p);
    if (!strstr(diag.text, word)) fail_msg("no '%s' in: %s", word, diag.text);
}

static void test_refusals(void **state)
{
    (void)state;
    static const int colptr[3] = {0, 1, 2}, beyond[2] = {0, 1};
    dae_manifold form = spiral_form();
    form.phi = NULL;
    assert_refused(&form, "phi");
    form = spiral_form();
    form.c = NULL;
    assert_refused(&form, "nc");
    form = spiral_form();
    form.nc = -1;
    assert_refused(&form, "nc");
    form = spiral_form();
    form.c_x_pattern = (dae_pattern){colptr, beyond};
    assert_refused(&form, "c_x_pattern");
    assert_refused(NULL, "NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods),        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_no_constraints), cmocka_unit_test(test_start),
        cmocka_unit_test(test_choice),         cmocka_unit_test(test_names),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
