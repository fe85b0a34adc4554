/* What is nearly singular is not singular: constraints at a small angle to each other, and a system
 * whose slopes are the small difference of two equations, are solved as they are. Of no freedom
 * nothing is tested. */
#include "model_run.h"

#include "linalg/saddle.h"

/* M = I or diagonal, two constraints x1 = a, x1 + angle x2 = b in n dimensions: with a right side
 * of (0, r) the solution is x1 = r1, x2 = (r2 - r1) / angle. */
static void nearly_parallel(int n, int block, double angle)
{
    enum { M = 2, MOST = 9 };
    double mass[MOST * MOST] = {0.0}, C[M * MOST] = {0.0}, x[MOST] = {0.0}, r[M] = {0.7, 0.9};
    for (int i = 0; i < n; i++) mass[i * n + i] = 1.0 + 0.1 * i;
    C[0] = C[1] = 1.0; /* by columns */
    C[3] = angle;
    saddle *s = saddle_new(&(saddle_shape){.n = n, .m = M, .block = block, .transposed = true});
    assert_non_null(s);
    assert_int_equal(saddle_factor(s, mass, C, C), SADDLE_OK);
    saddle_solve(s, x, r);
    double allowed = 1e-13 / (angle * angle);
    assert_true(fabs(x[0] - 0.7) <= allowed);
    assert_true(fabs(x[1] * angle - 0.2) <= allowed);
    for (int i = 2; i < n; i++) assert_true(fabs(x[i]) <= allowed);
    saddle_free(s);
}

static void constraints_at_a_small_angle(void **state)
{
    (void)state;
    static const double angles[] = {1e-2, 1e-3, 1e-4, 1e-5};
    for (size_t k = 0; k < sizeof angles / sizeof *angles; k++)
        for (int n = 3; n <= 9; n += 3) {
            nearly_parallel(n, n, angles[k]);
            nearly_parallel(n, 1, angles[k]);
        }
}

/* Constraints that differ by rounding alone are dependent. */
static void constraints_that_are_the_same(void **state)
{
    (void)state;
    double mass[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, C[6] = {1.0, 1.0, 1.0, 1.0 + 2e-16, 0.0, 0.0};
    saddle *s = saddle_new(&(saddle_shape){.n = 3, .m = 2, .transposed = true});
    assert_int_equal(saddle_factor(s, mass, C, C), SADDLE_DEPENDENT);
    assert_int_equal(saddle_row(s), 1);
    saddle_free(s);
}

/* x1' + x2' = f, 0 = x1 + (1 + d) x2: x2 = sin t, x1 = -(1 + d) sin t for f = -d cos t. Slopes are
 * differences, divided by d. */
static double offset;

static int weak_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at;
    (void)user;
    E[0] = E[1] = 1.0;
    return 0;
}

static int weak_f(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = -offset * cos(at->t);
    return 0;
}

static int weak_g(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->x[0] + (1.0 + offset) * at->x[1];
    return 0;
}

static int weak_g_x(const dae_quasilinear_point *at, double *J, void *user)
{
    (void)at;
    (void)user;
    J[0] = 1.0;
    J[1] = 1.0 + offset;
    return 0;
}

static void slopes_from_small_differences(void **state)
{
    (void)state;
    static const double offsets[] = {0.3, 0.1, 1e-2, 1e-3, 1e-5};
    for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++) {
        offset = offsets[k];
        dae_quasilinear form = {.n = 2,
                                .ne = 1,
                                .ng = 1,
                                .E = weak_E,
                                .f = weak_f,
                                .g = weak_g,
                                .g_x = weak_g_x,
                                .autonomous = true,
                                .E_constant = true};
        dae_options o = dae_options_default();
        dae_problem *p;
        dae_solver *s;
        double y[2] = {0.0}, yp[2] = {-1.0 - offset, 1.0};
        o.method = "herk";
        o.rtol = o.atol = 1e-9;
        assert_int_equal(dae_problem_from_quasilinear(&form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
        dae_status status = dae_solver_run(s, 2.0, y, NULL);
        if (status != DAE_OK) fail_msg("%g: %s", offset, dae_solver_diag(s)->text);
        assert_true(fabs(y[1] - sin(2.0)) < 1e-7);
        assert_true(fabs(y[0] + (1.0 + offset) * sin(2.0)) < 1e-7);
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

/* Drives that leave no freedom: what the estimate has across the constraints is removed at the end
 * of a step, and nothing else is left: steps are as long as they may grow, and values are exact. */
static void of_no_freedom_nothing_is_tested(void **state)
{
    (void)state;
    static const char *const methods[] = {"colloc2nd", "colloc2nd:5", "colloc2nd:6"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        run r;
        prepare(&r, MODEL("Real x, y, vx, vy, fx, fy;\nequation\n der(x) = vx; der(y) = vy;\n"
                          " 2*der(vx) = fx; 2*der(vy) = fy - 19.62;\n x = sin(7*time);\n"
                          " y = cos(5*time);"));
        r.options.method = methods[k];
        r.options.rtol = r.options.atol = 1e-8;
        r.options.stop_time = 3.0;
        assert_int_equal(start_at(&r, 0.0), DAE_OK);
        assert_int_equal(step_to(&r, 3.0), DAE_OK);
        long steps = dae_solver_stats(r.solver)->steps;
        if (!(steps <= 10)) fail_msg("%s: %ld steps", methods[k], steps);
        expect_near(&r, "x", sin(21.0), 1e-7, __LINE__);
        expect_near(&r, "fx", -98.0 * sin(21.0), 1e-5, __LINE__);
        end(&r);
    }
}

/* Many constraints at once, of which each third is over variables that the two before it are solved
 * for, so that only elimination tells what it is solved for. The motions that are left are along
 * (1, -1, -10, 10) in each group, so that the slope of a is 1/202. */
static void rows_are_solved_for_what_others_leave(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("constant Integer n = 32;\n"
                       "Real a[n](each fixed=true), b[n], c[n], d[n], l[n], m[n], p[n];\n"
                       "equation\nfor k in 1:n loop\n10*a[k] + c[k] = 0;\n10*b[k] + d[k] = 0;\n"
                       "a[k] + b[k] + (if k < n then 0.01*(a[min(k + 1, n)] + b[min(k + 1, n)]) "
                       "else 0) = 0;\n"
                       "der(a[k]) = 1 + 10*l[k] + p[k];\nder(b[k]) = 10*m[k] + p[k];\n"
                       "der(c[k]) = l[k];\nder(d[k]) = m[k];\nend for;")));
    OK(step_to(&r, 1.0));
    expect_near(&r, "a[1]", 1.0 / 202.0, 1e-10, __LINE__);
    expect_near(&r, "a[32]", 1.0 / 202.0, 1e-10, __LINE__);
    expect_near(&r, "d[3]", 10.0 / 202.0, 1e-10, __LINE__);
    end(&r);
}

/* The same with positions in the third, and speeds in the others: elimination must not solve a
 * constraint of positions for what has a speed only. The motions that are left are along
 * (1, -0.9, -1.9, 9), so that the acceleration of a is 1/86.42. */
static void rows_are_solved_for_what_has_their_derivatives(void **state)
{
    (void)state;
    run r;
    OK(begin(
        &r,
        MODEL("constant Integer n = 26;\n"
              "Real a[n](each fixed=true), u[n](each fixed=true), b[n], v[n], c[n], d[n];\n"
              "Real l[n], m[n], p[n];\n"
              "equation\nfor k in 1:n loop\n10*u[k] + 9*v[k] + c[k] = 0;\n"
              "10*v[k] + d[k] = 0;\n0.9*a[k] + b[k] + (if k < n then 0.01*(0.9*a[min(k + 1, n)] "
              "+ b[min(k + 1, n)]) else 0) = 0;\nder(a[k]) = u[k];\nder(b[k]) = v[k];\n"
              "der(u[k]) = 1 + 10*l[k] + 0.9*p[k];\nder(v[k]) = 9*l[k] + 10*m[k] + p[k];\n"
              "der(c[k]) = l[k];\nder(d[k]) = m[k];\nend for;")));
    OK(step_to(&r, 1.0));
    expect_near(&r, "a[1]", 0.5 / 86.42, 1e-10, __LINE__);
    expect_near(&r, "u[26]", 1.0 / 86.42, 1e-10, __LINE__);
    expect_near(&r, "d[3]", 9.0 / 86.42, 1e-10, __LINE__);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_solved_for_what_others_leave),
        cmocka_unit_test(rows_are_solved_for_what_has_their_derivatives),
        cmocka_unit_test(constraints_at_a_small_angle),
        cmocka_unit_test(constraints_that_are_the_same),
        cmocka_unit_test(slopes_from_small_differences),
        cmocka_unit_test(of_no_freedom_nothing_is_tested)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
