/* prk: explicit Runge-Kutta with projection on mechanisms. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A pendulum of length 1 + growth t: m = g = 1 */
typedef struct pendulum {
    double growth;
} pendulum;

static double length_at(const pendulum *p, double t)
{
    return 1.0 + p->growth * t;
}

static int values(const dae_mechanical_point *at, const dae_mechanical_values *out, void *user)
{
    const pendulum *p = user;
    if (out->mass) out->mass[0] = out->mass[1] = 1.0;
    if (out->force) out->force[0] = 0.0, out->force[1] = -1.0;
    if (out->gradient) out->gradient[0] = at->q[0], out->gradient[1] = at->q[1];
    if (out->rate) out->rate[0] = -p->growth * length_at(p, at->t);
    if (out->curvature)
        out->curvature[0] = at->v[0] * at->v[0] + at->v[1] * at->v[1] - p->growth * p->growth;
    return 0;
}

static int constraint(const dae_mechanical_point *at, double *g, void *user)
{
    double length = length_at(user, at->t);
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - length * length);
    return 0;
}

/* y = (q, v, lambda) at tend, and at an inner point of the last step if `inside` is not NULL */
static void solve(pendulum *p, double rtol, double step, double tend, double *y, double *inside,
                  double *at)
{
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .all = values,
                           .constraint = constraint,
                           .user = p,
                           .scleronomic = p->growth == 0.0,
                           .mass_structure = DAE_MASS_DIAGONAL,
                           .mass_constant = true};
    dae_options options = dae_options_default();
    options.method = "prk";
    options.rtol = options.atol = rtol;
    options.fixed_step = step;
    options.stop_time = tend;
    double start[5] = {1.0, 0.0, p->growth, 0.0, 0.0};
    dae_problem *problem;
    dae_solver *solver;
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, start, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(solver, tend, y, NULL), DAE_OK);
    if (inside) {
        const double h = dae_solver_stats(solver)->last_h;
        *at = tend - 0.37 * h;
        assert_int_equal(dae_solver_at(solver, *at, 0, inside), DAE_OK);
    }
    dae_solver_free(solver);
    dae_problem_free(problem);
}

static double distance(const double *a, const double *b, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* The published solution at t = 10; tolerances on both sides of the change of tables */
static void the_pendulum_is_met(void **state)
{
    (void)state;
    const double end[5] = {-8.115864461913038e-1, -5.842323513453959e-1, -6.315291490650178e-1,
                           8.772887988410693e-1, 1.752697054036187};
    pendulum p = {.growth = 0.0};
    double y[5];
    solve(&p, 1e-4, 0.0, 10.0, y, NULL, NULL);
    assert_true(distance(y, end, 5) < 5e-3);
    solve(&p, 1e-9, 0.0, 10.0, y, NULL, NULL);
    assert_true(distance(y, end, 5) < 2e-8);
    solve(&p, 1e-13, 0.0, 10.0, y, NULL, NULL);
    assert_true(distance(y, end, 5) < 2e-11);
}

/* Orders 5 and 8, also where the constraint moves */
static void the_orders_are_those_of_the_tables(void **state)
{
    (void)state;
    for (int moving = 0; moving < 2; moving++) {
        pendulum p = {.growth = moving ? 0.3 : 0.0};
        double fine[5], coarse[5], exact[5];
        solve(&p, 1e-13, 0.0, 2.0, exact, NULL, NULL);
        solve(&p, 1e-2, 0.1, 2.0, coarse, NULL, NULL);
        solve(&p, 1e-2, 0.05, 2.0, fine, NULL, NULL);
        double order = log2(distance(coarse, exact, 5) / distance(fine, exact, 5));
        assert_true(order > 4.5 && order < 6.0);
        solve(&p, 1e-9, 0.4, 2.0, coarse, NULL, NULL);
        solve(&p, 1e-9, 0.2, 2.0, fine, NULL, NULL);
        order = log2(distance(coarse, exact, 5) / distance(fine, exact, 5));
        assert_true(order > 7.0 && order < 10.0);
    }
}

/* Position within a part of the tolerance, velocity to round-off at that position */
static void constraints_hold_at_the_end(void **state)
{
    (void)state;
    pendulum p = {.growth = 0.3};
    double y[5], length = 1.0 + 0.3 * 5.0;
    solve(&p, 1e-6, 0.0, 5.0, y, NULL, NULL);
    assert_true(fabs(hypot(y[0], y[1]) - length) < 1e-9);
    assert_true(fabs(y[0] * y[2] + y[1] * y[3] - 0.3 * length) < 1e-13);
}

/* Inside a step the error is that of the ends, for the multiplier as well */
static void dense_output_is_as_good(void **state)
{
    (void)state;
    for (int moving = 0; moving < 2; moving++) {
        pendulum p = {.growth = moving ? 0.3 : 0.0};
        double y[5], inside[5], exact[5], at;
        const double rtol[2] = {1e-4, 1e-9}, allowed[2] = {3e-3, 1e-7};
        for (int k = 0; k < 2; k++) {
            solve(&p, rtol[k], 0.0, 3.0, y, inside, &at);
            solve(&p, 1e-13, 0.0, at, exact, NULL, NULL);
            assert_true(distance(inside, exact, 5) < allowed[k]);
        }
    }
}

/* On this circle hardly any error is tangential, so that f inside of the steps alone tells how long
 * they may be. Hermite's cubic, off by h^4/24 max 2s(1-s)(1-2s) = h^4/125, would ask for h < 0.1 at
 * 1e-6, beside a dozen shorter ones and tries: 23 steps. The slopes of the stages are right up to
 * h^6. */
static void smooth_steps_are_long(void **state)
{
    (void)state;
    const char *circle = "model Circle\n  Real q1(start = 0, fixed = true), q2(start = 1), "
                         "v1(start = 1, fixed = true), v2(start = 0), lambda;\nequation\n"
                         "  der(q1) = v1;\n  der(q2) = v2;\n"
                         "  der(v1) = -q1 - 2*q1*v1*v2 - 2*q1*lambda;\n"
                         "  der(v2) = -v1 + 2*q1*q2^2 - 2*q2*lambda;\n"
                         "  q1^2 + q2^2 = 1;\nend Circle;\n";
    dae_model text = {.text = circle, .file = "circle.mo", .engine = DAE_ENGINE_TAPE};
    dae_options options = dae_options_default();
    options.method = "prk";
    options.rtol = 1e-6;
    options.atol = 1e-9;
    options.stop_time = 1.0;
    double values[64];
    dae_problem *problem;
    dae_solver *solver;
    assert_int_equal(dae_problem_from_model(&text, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(solver, 1.0, NULL, NULL), DAE_OK);
    assert_true(dae_solver_stats(solver)->steps <= 15);
    assert_int_equal(dae_solver_variables(solver, 1.0, values), DAE_OK);
    assert_true(fabs(values[dae_problem_find_variable(problem, "q1")] - sin(1.0)) < 1e-7);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

static void other_forms_are_refused(void **state)
{
    (void)state;
    dae_options options = dae_options_default();
    options.method = "prk";
    dae_problem *problem;
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    assert_int_equal(
        dae_problem_from_model(&(dae_model){.text = "model A Real x(start=1,fixed=true); equation "
                                                    "der(x) = -x; end A;",
                                            .file = "A"},
                               &problem, &diag),
        DAE_OK);
    dae_status status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, NULL, NULL);
    assert_int_equal(status, DAE_ERR_UNSUPPORTED);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_pendulum_is_met),
                                       cmocka_unit_test(the_orders_are_those_of_the_tables),
                                       cmocka_unit_test(constraints_hold_at_the_end),
                                       cmocka_unit_test(dense_output_is_as_good),
                                       cmocka_unit_test(smooth_steps_are_long),
                                       cmocka_unit_test(other_forms_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
