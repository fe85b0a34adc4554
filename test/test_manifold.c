/* Explicit Runge-Kutta methods on manifolds: orders on all forms, the statements of [HW96 VII.2]
 * about drift, projections and invariants, Baumgarte's stabilisation, dense output, monitors, and
 * what is refused. */
#include "daedal.h"
#include "mechanisms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- runs ---- */

static dae_options options_for(const char *method, double tolerance)
{
    dae_options o = dae_options_default();
    o.method = method;
    o.rtol = o.atol = tolerance;
    o.max_steps = 0;
    return o;
}

static dae_problem *problem_of(const mechanics *m)
{
    dae_problem *p = NULL;
    assert_int_equal(dae_problem_from_mechanical(&m->form, &p, NULL), DAE_OK);
    return p;
}

static dae_solver *start(const dae_problem *p, const dae_options *o, const double *y)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    if (dae_solver_new(p, o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    if (dae_solver_start(s, 0.0, y, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    return s;
}

/* y at tend, with the statistics */
static dae_stats run(const dae_problem *p, const dae_options *o, const double *from, double tend,
                     double *y)
{
    dae_solver *s = start(p, o, from);
    if (dae_solver_run(s, tend, y, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    dae_stats stats = *dae_solver_stats(s);
    dae_solver_free(s);
    return stats;
}

static double distance(int n, const double *a, const double *b)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

static bool try_run(const dae_problem *p, const dae_options *o, const double *from, double tend,
                    double *y)
{
    dae_solver *s = start(p, o, from);
    dae_status status = dae_solver_run(s, tend, y, NULL);
    dae_solver_free(s);
    return status == DAE_OK;
}

/* The order at tend by the finest pair of step sizes above round-off. exact: a problem with the
 * same solution. */
static double observed_order(const dae_problem *p, const dae_problem *exact,
                             const dae_options *with, int n, const double *from, double tend,
                             double round_off)
{
    double before = 0.0, seen = NAN, y[MOST_Y], known[MOST_Y];
    dae_options o = options_for("dopri:8", 3e-14);
    assert_true(try_run(exact, &o, from, tend, known));
    for (int steps = 6, last = 0; steps < 5000; steps += steps / 2) {
        o = *with;
        o.rtol = o.atol = 1e-13;
        o.fixed_step = tend / steps;
        if (!try_run(p, &o, from, tend, y)) continue; /* too long */
        double after = distance(n, y, known);
        if (after < round_off) break;
        if (before > 0.0) seen = log(before / after) / log((double)steps / last);
        before = after;
        last = steps;
    }
    return seen;
}

static void check_order(const char *what, const char *method, double seen, int order)
{
    if (!(fabs(seen - order) <= 0.2)) print_message("%s, %s: order %g\n", what, method, seen);
    assert_true(fabs(seen - order) <= 0.2);
}

static const struct {
    const char *name;
    int order;
} pairs[] = {{"dopri:5", 5}, {"dopri:8", 8}},
  mechanical_pairs[] = {{"dopri:5", 5}, {"dopri:8", 8}, {"prk", 8}, {"euler", 1}};

/* ---- orders ---- */

static void test_orders_mechanical(void **state)
{
    (void)state;
    mechanics all[] = {pendulum(), bead(), four_bar()};
    const double tend[] = {6.0, 8.0, 4.0};
    for (int k = 0; k < 3; k++) {
        dae_problem *p = problem_of(&all[k]);
        double from[MOST_Y] = {0.0};
        memcpy(from, all[k].start, sizeof all[k].start);
        for (int i = 0; i < 4; i++) {
            dae_options o = options_for(mechanical_pairs[i].name, 1e-13);
            double end = mechanical_pairs[i].order > 1 ? tend[k] : 0.5;
            check_order(all[k].name, o.method,
                        observed_order(p, p, &o, 2 * all[k].form.nq, from, end, 1e-11),
                        mechanical_pairs[i].order);
        }
        dae_problem_free(p);
    }
}

/* (1.9) of [HW96 VII.1], on the circle; f is nonlinear in z */
static int steer_f(const dae_hessenberg_point *at, double *f, void *user)
{
    (void)user;
    f[0] = 0.7 * at->y[1] + sin(2.5 * at->z[0]);
    f[1] = 1.4 * at->y[0] + cos(2.5 * at->z[0]);
    return 0;
}

static int steer_g(const dae_hessenberg_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->y[0] * at->y[0] + at->y[1] * at->y[1] - 1.0;
    return 0;
}

static int steer_g_y(const dae_hessenberg_point *at, double *J, void *user)
{
    (void)user;
    J[0] = 2.0 * at->y[0];
    J[1] = 2.0 * at->y[1];
    return 0;
}

static void test_hessenberg(void **state)
{
    (void)state;
    dae_hessenberg form = {
        .ny = 2, .nz = 1, .f = steer_f, .g = steer_g, .g_y = steer_g_y, .autonomous = true};
    const double from[3] = {1.0, 0.0, 0.0}, known[3] = {0.91114967, 0.41207557, -0.533220190};
    dae_problem *p;
    double y[3];
    assert_int_equal(dae_problem_from_hessenberg(&form, &p, NULL), DAE_OK);
    for (int i = 0; i < 2; i++) {
        dae_options o = options_for(pairs[i].name, 1e-11);
        run(p, &o, from, 0.2, y);
        assert_true(distance(3, y, known) < 1e-8);
    }
    dae_problem_free(p);
}

/* The pendulum at velocity level, y = (q, v), z = lambda */
static int swing_f(const dae_hessenberg_point *at, double *f, void *user)
{
    (void)user;
    const double *y = at->y;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -y[0] * at->z[0];
    f[3] = -1.0 - y[1] * at->z[0];
    return 0;
}

static int swing_g(const dae_hessenberg_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->y[0] * at->y[2] + at->y[1] * at->y[3];
    return 0;
}

static int swing_g_y(const dae_hessenberg_point *at, double *J, void *user)
{
    (void)user;
    for (int j = 0; j < 4; j++) J[j] = at->y[(j + 2) % 4];
    return 0;
}

static void test_orders_hessenberg(void **state)
{
    (void)state;
    mechanics m = pendulum();
    dae_hessenberg form = {
        .ny = 4, .nz = 1, .f = swing_f, .g = swing_g, .g_y = swing_g_y, .autonomous = true};
    dae_problem *p, *reference = problem_of(&m);
    double from[MOST_Y] = {0.0, -1.0, 1.2, 0.0, 2.44};
    assert_int_equal(dae_problem_from_hessenberg(&form, &p, NULL), DAE_OK);
    for (int i = 0; i < 2; i++) {
        dae_options o = options_for(pairs[i].name, 1e-13);
        check_order("Hessenberg form", o.method,
                    observed_order(p, reference, &o, 5, from, 5.0, 2e-12), pairs[i].order);
    }
    dae_problem_free(p);
    dae_problem_free(reference);
}

/* The pendulum as E x' = f with constraints of three levels, x = (q, v, lambda) */
static int book_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    for (int i = 0; i < 4; i++) E[i + 4 * i] = 1.0;
    return 0;
}

static int book_f(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    const double *x = at->x;
    f[0] = x[2];
    f[1] = x[3];
    f[2] = -x[0] * x[4];
    f[3] = -1.0 - x[1] * x[4];
    return 0;
}

static int book_g(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    const double *x = at->x;
    g[0] = x[0] * x[0] + x[1] * x[1] - 1.0;
    g[1] = x[0] * x[2] + x[1] * x[3];
    g[2] = x[2] * x[2] + x[3] * x[3] - x[1] - x[4] * (x[0] * x[0] + x[1] * x[1]);
    return 0;
}

static int book_g_x(const dae_quasilinear_point *at, double *J, void *user)
{
    (void)user;
    const double *x = at->x, l = x[4];
    const double rows[3][5] = {{2.0 * x[0], 2.0 * x[1], 0.0, 0.0, 0.0},
                               {x[2], x[3], x[0], x[1], 0.0},
                               {-2.0 * l * x[0], -1.0 - 2.0 * l * x[1], 2.0 * x[2], 2.0 * x[3],
                                -x[0] * x[0] - x[1] * x[1]}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 5; j++) J[i + 3 * j] = rows[i][j];
    return 0;
}

static const int book_levels[3] = {0, 1, 2};

static dae_problem *book_problem(void)
{
    dae_quasilinear form = {.n = 5,
                            .ne = 4,
                            .ng = 3,
                            .E = book_E,
                            .f = book_f,
                            .g = book_g,
                            .g_x = book_g_x,
                            .autonomous = true,
                            .constraint_levels = book_levels};
    dae_problem *p = NULL;
    assert_int_equal(dae_problem_from_quasilinear(&form, &p, NULL), DAE_OK);
    return p;
}

static void test_orders_manifold(void **state)
{
    (void)state;
    mechanics m = pendulum();
    dae_problem *p = book_problem(), *reference = problem_of(&m);
    double from[MOST_Y] = {0.6, -0.8, 0.8, 0.6, 1.8};
    for (int i = 0; i < 2; i++) {
        dae_options o = options_for(pairs[i].name, 1e-13);
        check_order("manifold form", o.method,
                    observed_order(p, reference, &o, 5, from, 15.0, 3e-11), pairs[i].order);
    }
    dae_problem_free(p);
    dae_problem_free(reference);
}

/* (2 + y1 y1) (y1' - y2) = 0, y1' + y2' = y2 - y1: a circle, with a dF/dy' that changes */
static int circle_F(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)t, (void)user;
    F[0] = (2.0 + y[0] * y[0]) * (yp[0] - y[1]);
    F[1] = yp[0] + yp[1] - y[1] + y[0];
    return 0;
}

static void test_orders_residual(void **state)
{
    (void)state;
    dae_residual form = {.n = 2, .f = circle_F};
    dae_problem *p;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    double from[2] = {0.0, 1.0}, y[2], exact[2] = {sin(4.0), cos(4.0)};
    for (int i = 0; i < 2; i++) {
        dae_options o = options_for(pairs[i].name, 1e-13);
        check_order("residual form", o.method, observed_order(p, p, &o, 2, from, 4.0, 1e-11),
                    pairs[i].order);
        run(p, &o, from, 4.0, y);
        assert_true(distance(2, y, exact) < 1e-11);
    }
    dae_problem_free(p);
}

/* A nonlinear y', and dF/dy' that is singular: which variable is named */
static int cubic_F(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)t;
    F[0] = yp[0] + 0.1 * yp[0] * yp[0] * yp[0] - 1.1 * y[0];
    F[1] = user ? y[1] - y[0] : yp[1] - y[0];
    return 0;
}

static void test_residual_forms(void **state)
{
    (void)state;
    int flag = 1;
    dae_residual form = {.n = 2, .f = cubic_F};
    dae_problem *p;
    dae_options o = options_for("dopri:8", 1e-11), by_bdf = options_for("bdf", 1e-11);
    double from[2] = {1.0, 0.0}, y[2], z[2];
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    run(p, &o, from, 1.0, y);
    run(p, &by_bdf, from, 1.0, z);
    assert_true(distance(2, y, z) < 1e-8);
    dae_problem_free(p);
    form.user = &flag;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    from[1] = 1.0;
    dae_solver *s = start(p, &o, from);
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_ERR_SINGULAR);
    assert_int_equal(dae_solver_diag(s)->variable, 1);
    assert_non_null(strstr(dae_solver_diag(s)->text, "no ODE"));
    dae_solver_free(s);
    dae_problem_free(p);
}

/* ---- dense output ---- */

/* The largest error inside the steps falls as that of the methods at their ends, of order 5 and 8
 */
static double dense_error(const dae_problem *p, const char *method, int steps, const double *from)
{
    dae_options o = options_for(method, 1e-13), fine = options_for("dopri:8", 3e-14);
    double worst = 0.0, y[MOST_Y], exact[MOST_Y];
    o.fixed_step = 2.0 / steps;
    dae_solver *s = start(p, &o, from), *r = start(p, &fine, from);
    while (dae_solver_step(s, 2.0) == DAE_STEPPED) {
        double a, b;
        dae_solver_last_step(s, &a, &b);
        for (int k = 1; k < 4; k++) {
            double t = a + 0.25 * k * (b - a);
            assert_int_equal(dae_solver_run(r, t, exact, NULL), DAE_OK);
            assert_int_equal(dae_solver_at(s, t, 0, y), DAE_OK);
            worst = fmax(worst, distance(4, y, exact));
        }
    }
    dae_solver_free(s);
    dae_solver_free(r);
    return worst;
}

static void test_dense(void **state)
{
    (void)state;
    mechanics m = bead();
    dae_problem *p = problem_of(&m);
    double from[MOST_Y] = {0.0};
    memcpy(from, m.start, sizeof m.start);
    double five =
        log2(dense_error(p, "dopri:5", 10, from) / dense_error(p, "dopri:5", 80, from)) / 3;
    double eight = log2(dense_error(p, "dopri:8", 10, from) / dense_error(p, "dopri:8", 20, from));
    if (five < 4.6 || eight < 7.4) print_message("dense output: orders %g, %g\n", five, eight);
    assert_true(five > 4.6); /* local errors of order 5, global ones of order 5 */
    assert_true(eight > 7.4);
    dae_problem_free(p);
}

/* ---- Figures 2.1 and 2.2: the pendulum from rest at (1, 0), tolerance 1e-6 ---- */

static const double rest[MOST_Y] = {1.0, 0.0, 0.0, 0.0, 0.0};

/* Residuals of position and velocity at t */
static void residuals(const double *y, double *position, double *velocity)
{
    *position = fabs(y[0] * y[0] + y[1] * y[1] - 1.0);
    *velocity = fabs(y[0] * y[2] + y[1] * y[3]);
}

/* Without projection the error of the velocity constraint grows linearly, that of the position
 * quadratically: over twice the time twice and four times as much, within a factor of 1.5. */
static void test_drift(void **state)
{
    (void)state;
    mechanics m = pendulum();
    dae_problem *p = problem_of(&m);
    dae_options o = options_for("dopri:5", 1e-6);
    double y[MOST_Y], position[2], velocity[2];
    o.projection = DAE_PROJECTION_NONE;
    for (int k = 0; k < 2; k++) {
        run(p, &o, rest, k ? 400.0 : 200.0, y);
        residuals(y, &position[k], &velocity[k]);
    }
    double linear = velocity[1] / velocity[0], quadratic = position[1] / position[0];
    if (!(fabs(linear - 2.0) < 0.3 && fabs(quadratic - 4.0) < 0.8))
        print_message("drift: %g, %g\n", linear, quadratic);
    assert_true(fabs(linear - 2.0) < 0.3);
    assert_true(fabs(quadratic - 4.0) < 0.8);
    dae_problem_free(p);
}

/* Position alone does not help, velocity alone is as good as both. */
static void test_four_projections(void **state)
{
    (void)state;
    mechanics m = pendulum();
    dae_problem *p = problem_of(&m);
    double y[MOST_Y], exact[MOST_Y], error[5];
    dae_options o = options_for("dopri:8", 3e-14);
    run(p, &o, rest, 100.0, exact);
    for (int what = DAE_PROJECTION_NONE; what <= DAE_PROJECTION_BOTH; what++) {
        o = options_for("dopri:5", 1e-6);
        o.projection = (dae_projection)what;
        run(p, &o, rest, 100.0, y);
        error[what] = distance(4, y, exact);
    }
    print_message("none %.2g, position %.2g, velocity %.2g, both %.2g\n",
                  error[DAE_PROJECTION_NONE], error[DAE_PROJECTION_POSITION],
                  error[DAE_PROJECTION_VELOCITY], error[DAE_PROJECTION_BOTH]);
    assert_true(error[DAE_PROJECTION_POSITION] > 0.5 * error[DAE_PROJECTION_NONE]);
    assert_true(error[DAE_PROJECTION_VELOCITY] < 0.5 * error[DAE_PROJECTION_NONE]);
    double ratio = error[DAE_PROJECTION_VELOCITY] / error[DAE_PROJECTION_BOTH];
    assert_true(ratio > 0.5 && ratio < 2.0);
    dae_problem_free(p);
}

/* What is projected is met, what is not drifts; on the manifold form by the levels of its rows. */
static void test_what_is_projected(void **state)
{
    (void)state;
    mechanics m = pendulum();
    dae_problem *all[2] = {problem_of(&m), book_problem()};
    double y[MOST_Y], begin[MOST_Y] = {1.0};
    for (int k = 0; k < 2; k++)
        for (int what = DAE_PROJECTION_NONE; what <= DAE_PROJECTION_BOTH; what++) {
            dae_options o = options_for("dopri:5", 1e-6);
            o.projection = (dae_projection)what;
            o.watch_constraints = true;
            dae_stats s = run(all[k], &o, begin, 10.0, y);
            bool position = what == DAE_PROJECTION_POSITION || what == DAE_PROJECTION_BOTH;
            bool velocity = what == DAE_PROJECTION_VELOCITY || what == DAE_PROJECTION_BOTH;
            if (position != (s.position_residual < 1e-8) ||
                velocity != (s.velocity_residual < 1e-8))
                print_message("%d, %d: %g, %g\n", k, what, s.position_residual,
                              s.velocity_residual);
            assert_int_equal(position, s.position_residual < 1e-8);
            assert_int_equal(velocity, s.velocity_residual < 1e-8);
        }
    for (int k = 0; k < 2; k++) dae_problem_free(all[k]);
}

/* ---- Baumgarte ---- */

static void test_baumgarte(void **state)
{
    (void)state;
    mechanics m = pendulum();
    dae_problem *all[2] = {problem_of(&m), book_problem()};
    double y[MOST_Y], begin[MOST_Y] = {1.0};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2; i++) {
            dae_options o = options_for(pairs[i].name, 1e-6);
            o.watch_constraints = true;
            o.projection = DAE_PROJECTION_NONE;
            dae_stats none = run(all[k], &o, begin, 200.0, y);
            for (int given = 0; given < 2; given++) {
                o.baumgarte = true;
                o.baumgarte_alpha = given ? 1.0 : 0.0;
                dae_stats damped = run(all[k], &o, begin, 200.0, y);
                if (!(damped.position_residual < 0.05 * none.position_residual))
                    print_message("%d %s %d: %g, %g; %ld, %ld steps\n", k, pairs[i].name, given,
                                  damped.position_residual, none.position_residual, damped.steps,
                                  none.steps);
                assert_true(damped.position_residual < 0.05 * none.position_residual);
                if (!given) assert_true((double)damped.steps < 1.3 * (double)none.steps);
            }
        }
    for (int k = 0; k < 2; k++) dae_problem_free(all[k]);
}

/* Off the circle by g_0 at rest: g'' + 2 alpha g' + beta^2 g = 0 has a closed form. */
static void test_baumgarte_decay(void **state)
{
    (void)state;
    const double alpha = 0.5, beta = 2.0, omega = sqrt(beta * beta - alpha * alpha);
    mechanics m = pendulum();
    dae_problem *p = problem_of(&m);
    for (int i = 0; i < 2; i++) {
        double y[MOST_Y], begin[MOST_Y] = {1.001};
        dae_options o = options_for(pairs[i].name, 1e-9);
        o.init = DAE_INIT_NONE;
        o.fixed_step = 1.0 / 512.0; /* the error test would count g, too; so does the first slope */
        o.projection = DAE_PROJECTION_NONE;
        o.baumgarte = true;
        o.baumgarte_alpha = alpha;
        o.baumgarte_beta = beta;
        double first = 0.5 * (1.001 * 1.001 - 1.0);
        for (double t = 1.0; t < 4.0; t += 1.0) {
            run(p, &o, begin, t, y);
            double g = 0.5 * (y[0] * y[0] + y[1] * y[1] - 1.0), x = omega * t;
            double expected = first * exp(-alpha * t) * (cos(x) + alpha / omega * sin(x));
            if (!(fabs(g - expected) < 1e-2 * first))
                fail_msg("%s: g(%g) = %g, not %g", pairs[i].name, t, g, expected);
        }
    }
    dae_problem_free(p);
}

/* ---- invariants ---- */

/* (2.15) of [HW96 VII.2]: y = (q1, q2, p1, p2), residual form */
static int kepler_F(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)t, (void)user;
    double r2 = y[0] * y[0] + y[1] * y[1], r = sqrt(r2);
    double by_r3 = 1.0 / (r * r2) + 0.015 / (r * r2 * r2);
    F[0] = yp[0] - y[2];
    F[1] = yp[1] - y[3];
    F[2] = yp[2] + y[0] * by_r3;
    F[3] = yp[3] + y[1] * by_r3;
    return 0;
}

static double kepler_H(const double *y)
{
    double r2 = y[0] * y[0] + y[1] * y[1], r = sqrt(r2);
    return 0.5 * (y[2] * y[2] + y[3] * y[3]) - 1.0 / r - 0.005 / (r * r2);
}

static int kepler_invariants(double t, const double *y, double *values, void *user)
{
    (void)t;
    values[0] = kepler_H(y) + (user ? 0.1 * y[0] : 0.0);
    values[1] = y[0] * y[3] - y[1] * y[2];
    return 0;
}

static int kepler_energy(double t, const double *y, double *values, void *user)
{
    (void)t, (void)user;
    values[0] = kepler_H(y);
    return 0;
}

static const double kepler_start[4] = {0.4, 0.0, 0.0, 2.0};

static dae_problem *kepler_problem(void)
{
    static const dae_residual form = {.n = 4, .f = kepler_F};
    dae_problem *p = NULL;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    return p;
}

static void test_invariants(void **state)
{
    (void)state;
    dae_problem *p = kepler_problem();
    double y[4], exact[4];
    dae_options o = options_for("dopri:8", 1e-13);
    run(p, &o, kepler_start, 50.0, exact);
    for (int i = 0; i < 2; i++) {
        dae_stats with[2];
        double error[2];
        for (int watch = 0; watch < 2; watch++) {
            o = options_for(pairs[i].name, 1e-6);
            o.invariant_count = 2;
            o.invariant_function = kepler_invariants;
            o.watch_invariants = watch;
            with[watch] = run(p, &o, kepler_start, 50.0, y);
            error[watch] = distance(4, y, exact);
        }
        if (!(error[0] < 0.2 * error[1])) print_message("%g, %g\n", error[0], error[1]);
        assert_true(with[0].invariant_drift < 1e-11);
        assert_true(with[1].invariant_drift > 1e-7);
        assert_true(error[0] < 0.2 * error[1]); /* phase errors grow linearly, not quadratically */
    }
    dae_problem_free(p);
}

/* The energy of mechanisms is kept along their constraints, which stay met. */
static double (*energy_of)(const double *y);

static int mechanism_energy(double t, const double *y, double *values, void *user)
{
    (void)t, (void)user;
    values[0] = energy_of(y);
    return 0;
}

static void test_energy(void **state)
{
    (void)state;
    mechanics all[] = {pendulum(), bead(), four_bar(), polar_bead()};
    for (int k = 0; k < 4; k++)
        for (int c = DAE_COORDINATES_AMBIENT; c <= DAE_COORDINATES_TANGENT; c++) {
            dae_problem *p = problem_of(&all[k]);
            double from[MOST_Y] = {0.0}, y[MOST_Y];
            memcpy(from, all[k].start, sizeof all[k].start);
            energy_of = all[k].energy;
            dae_options o = options_for("dopri:5", 1e-6);
            o.coordinates = (dae_coordinates)c;
            o.invariant_count = 1;
            o.invariant_function = mechanism_energy;
            o.watch_constraints = true;
            dae_stats s = run(p, &o, from, 20.0, y);
            if (!(s.invariant_drift < 1e-7 && s.position_residual < 1e-7))
                print_message("%s, %d: %g %g\n", all[k].name, c, s.invariant_drift,
                              s.position_residual);
            assert_true(s.invariant_drift < (c ? 1e-7 : 1e-8));
            assert_true(s.position_residual < 1e-7 && s.velocity_residual < 1e-7);
            dae_problem_free(p);
        }
}

/* What is no invariant is named, at the start and along the run. */
static int late_invariant(double t, const double *y, double *values, void *user)
{
    (void)user;
    values[0] = kepler_H(y) + (t > 2.0 ? 0.01 * (t - 2.0) * (t - 2.0) * y[0] : 0.0);
    return 0;
}

static void test_no_invariant(void **state)
{
    (void)state;
    dae_problem *p = kepler_problem();
    const char *const names[] = {"energy", "momentum"};
    double y[4];
    int wrong = 1;
    dae_options o = options_for("dopri:5", 1e-8);
    o.invariant_count = 2;
    o.invariants = names;
    o.invariant_function = kepler_invariants;
    o.user = &wrong;
    dae_solver *s = start(p, &o, kepler_start);
    assert_int_equal(dae_solver_run(s, 5.0, y, NULL), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(dae_solver_diag(s)->text, "energy"));
    assert_null(strstr(dae_solver_diag(s)->text, "momentum"));
    dae_solver_free(s);
    o.invariant_count = 1;
    o.invariant_function = late_invariant;
    s = start(p, &o, kepler_start);
    assert_int_equal(dae_solver_run(s, 5.0, y, NULL), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(dae_solver_diag(s)->text, "energy"));
    assert_true(dae_solver_diag(s)->t > 1.0 && dae_solver_diag(s)->t < 4.0);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Nor are multipliers invariants, although they do not change with q and v. */
static int multiplier(double t, const double *y, double *values, void *user)
{
    (void)t, (void)user;
    values[0] = y[4];
    return 0;
}

static void test_no_function_of_x(void **state)
{
    (void)state;
    mechanics m = pendulum();
    dae_problem *p = problem_of(&m);
    double y[MOST_Y];
    dae_options o = options_for("dopri:8", 1e-8);
    o.invariant_count = 1;
    o.invariant_function = multiplier;
    dae_solver *s = start(p, &o, rest);
    assert_int_equal(dae_solver_run(s, 5.0, y, NULL), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(dae_solver_diag(s)->text, "invariant 1"));
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Figure 2.3: explicit Euler spirals outwards, with projection onto H it does not leave the energy,
 * but its orbit has another angular momentum; the symplectic Euler method keeps both near, and
 * loses the torus where it is projected, too. */
static int kepler_force(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    double r2 = at->q[0] * at->q[0] + at->q[1] * at->q[1], r = sqrt(r2);
    double by_r3 = 1.0 / (r * r2) + 0.015 / (r * r2 * r2);
    f[0] = -at->q[0] * by_r3;
    f[1] = -at->q[1] * by_r3;
    return 0;
}

typedef struct torus {
    double momentum, energy, farthest; /* largest changes of L and H, and distance */
} torus;

static torus orbit(const char *method, bool project)
{
    dae_mechanical form = {.nq = 2, .force = kepler_force};
    dae_problem *p;
    dae_options o = options_for(method, 1e-6);
    double y[4], L0 = 0.8, H0 = kepler_H(kepler_start);
    torus seen = {0};
    assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
    o.fixed_step = 0.01;
    o.invariant_count = project;
    o.invariant_function = kepler_energy;
    dae_solver *s = start(p, &o, kepler_start);
    for (int k = 0; k < 5000; k++) {
        assert_true(dae_solver_step(s, 1e9) >= 0);
        assert_int_equal(dae_solver_at(s, dae_solver_time(s), 0, y), DAE_OK);
        seen.momentum = fmax(seen.momentum, fabs(y[0] * y[3] - y[1] * y[2] - L0));
        seen.energy = fmax(seen.energy, fabs(kepler_H(y) - H0));
        seen.farthest = fmax(seen.farthest, hypot(y[0], y[1]));
    }
    dae_solver_free(s);
    dae_problem_free(p);
    return seen;
}

static void test_perturbed_kepler(void **state)
{
    (void)state;
    torus plain = orbit("euler", false), kept = orbit("euler", true);
    torus symplectic = orbit("symplectic_euler", false),
          destroyed = orbit("symplectic_euler", true);
    assert_true(destroyed.energy < 1e-8);
    assert_true(destroyed.momentum > 0.05);
    assert_true(plain.farthest > 3.0); /* the exact orbit stays within 1.61 */
    assert_true(plain.energy > 0.2);
    assert_true(kept.energy < 1e-8);
    assert_true(kept.momentum > 0.05); /* another torus */
    assert_true(symplectic.farthest < 1.75);
    assert_true(symplectic.momentum < 1e-12); /* a quadratic first integral */
    assert_true(symplectic.energy < 0.1);
}

/* ---- stiffness, options, restarts ---- */

static int stiff_F(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)user;
    F[0] = yp[0] + 1e6 * (y[0] - cos(t));
    return 0;
}

static void test_stiff(void **state)
{
    (void)state;
    dae_residual form = {.n = 1, .f = stiff_F};
    dae_problem *p;
    double from[1] = {1.0}, y[1];
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    for (int i = 0; i < 2; i++) {
        dae_options o = options_for(pairs[i].name, 1e-4);
        dae_solver *s = start(p, &o, from);
        assert_int_equal(dae_solver_run(s, 10.0, y, NULL), DAE_ERR_STIFF);
        assert_non_null(strstr(dae_solver_diag(s)->text, "radau"));
        dae_solver_free(s);
    }
    dae_problem_free(p);
}

static void test_refused(void **state)
{
    (void)state;
    mechanics m = pendulum();
    dae_problem *p = problem_of(&m);
    dae_diag diag = {0};
    dae_solver *s;
    dae_options o = options_for("hem:5", 1e-6);
    o.baumgarte = true;
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_ERR_UNSUPPORTED);
    o = options_for("rattle", 1e-6);
    o.fixed_step = 0.1;
    o.coordinates = DAE_COORDINATES_TANGENT;
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_ERR_UNSUPPORTED);
    o = options_for("dopri:5", 1e-6);
    o.invariant_count = 1;
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "invariant_function"));
    o = options_for("euler", 1e-6);
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_ERR_ARGUMENT);
    o = options_for("dopri:5", 1e-6);
    o.baumgarte_alpha = -1.0;
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_ERR_ARGUMENT);
    dae_problem_free(p);
}

/* Redundant constraints: G loses rank, and the constraint is named. */
static int twice(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    g[1] = 2.0 * g[0];
    return 0;
}

static void test_rank(void **state)
{
    (void)state;
    const char *const names[] = {"rod", "same rod"};
    mechanics m = pendulum();
    dae_mechanical form = {.nq = 2,
                           .nlambda = 2,
                           .force = m.form.force,
                           .user = m.form.user,
                           .constraint = twice,
                           .scleronomic = true,
                           .constraint_names = names};
    static const char *const methods[] = {
        "dopri:5",  "dopri:8",          "prk",   "euler",    "midex", "phem", "rattle",
        "rattle:8", "symplectic_euler", "shake", "lobatto:4"};
    dae_problem *p;
    double from[MOST_Y] = {1.0}, y[MOST_Y];
    assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        dae_options o = options_for(methods[i], 1e-6);
        o.init = DAE_INIT_NONE;
        if (i == 3 || i > 5) o.fixed_step = 0.01;
        dae_solver *s = start(p, &o, from);
        if (dae_solver_run(s, 1.0, y, NULL) != DAE_ERR_SINGULAR)
            print_message("%s: %s\n", methods[i], dae_solver_diag(s)->text);
        assert_int_equal(dae_solver_diag(s)->status, DAE_ERR_SINGULAR);
        assert_string_equal(dae_solver_diag(s)->equation_name, "same rod");
        dae_solver_free(s);
    }
    dae_problem_free(p);
}

/* The monitors know nothing where nothing is asked for; drift of single invariants. */
static void test_monitors(void **state)
{
    (void)state;
    dae_problem *p = kepler_problem();
    double y[4], begin, drift[2];
    dae_options o = options_for("dopri:5", 1e-6);
    dae_stats stats = run(p, &o, kepler_start, 1.0, y);
    assert_true(stats.position_residual == -1.0 && stats.velocity_residual == -1.0);
    assert_true(stats.invariant_drift == -1.0);
    o.method = "radau:5"; /* any method is watched */
    o.invariant_count = 2;
    o.invariant_function = kepler_invariants;
    dae_solver *s = start(p, &o, kepler_start);
    assert_int_equal(dae_solver_run(s, 5.0, y, NULL), DAE_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dae_solver_invariant(s, i, &begin, &drift[i]), DAE_OK);
        assert_true(fabs(begin - (i ? 0.8 : kepler_H(kepler_start))) < 1e-14);
        assert_true(drift[i] > 1e-10 && drift[i] < 1e-2);
    }
    assert_true(dae_solver_stats(s)->invariant_drift == fmax(drift[0], drift[1]));
    assert_int_equal(dae_solver_invariant(s, 2, NULL, NULL), DAE_ERR_ARGUMENT);
    dae_solver_free(s);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_mechanical),
        cmocka_unit_test(test_orders_hessenberg),
        cmocka_unit_test(test_hessenberg),
        cmocka_unit_test(test_orders_manifold),
        cmocka_unit_test(test_orders_residual),
        cmocka_unit_test(test_residual_forms),
        cmocka_unit_test(test_dense),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_four_projections),
        cmocka_unit_test(test_what_is_projected),
        cmocka_unit_test(test_baumgarte),
        cmocka_unit_test(test_baumgarte_decay),
        cmocka_unit_test(test_invariants),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_no_invariant),
        cmocka_unit_test(test_no_function_of_x),
        cmocka_unit_test(test_perturbed_kepler),
        cmocka_unit_test(test_stiff),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_monitors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
