/* Local state space forms: generalised coordinate partitioning and tangent space parametrisation
 * [HW96 VII.2 (2.18)-(2.24)]: orders across changes of coordinates, points on the manifold, and
 * what is told where a chart ends or constraints lose rank. */
#include "daedal.h"
#include "mechanisms.h"
#include "method/half_explicit/chart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static dae_options options_for(const char *method, dae_coordinates coordinates, double tolerance)
{
    dae_options o = dae_options_default();
    o.method = method;
    o.coordinates = coordinates;
    o.rtol = o.atol = tolerance;
    o.watch_constraints = true;
    o.max_steps = 0;
    return o;
}

static dae_status run(const dae_problem *p, const dae_options *o, const double *from, double tend,
                      double *y, dae_stats *stats, dae_diag *diag)
{
    dae_solver *s;
    assert_int_equal(dae_solver_new(p, o, &s, diag), DAE_OK);
    dae_status status = dae_solver_start(s, 0.0, from, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, tend, y, NULL);
    if (stats) *stats = *dae_solver_stats(s);
    if (diag) *diag = *dae_solver_diag(s);
    dae_solver_free(s);
    return status;
}

static double distance(int n, const double *a, const double *b)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

/* The slope of log error against log steps by least squares, over the finest three step sizes above
 * round-off: where coordinates change depends on the step size, so that single pairs scatter. */
static double observed_order(const dae_problem *p, const char *method, dae_coordinates coordinates,
                             int n, const double *from, double tend)
{
    enum { FIT = 3 };
    double x[FIT], e[FIT], y[MOST_Y], exact[MOST_Y], sx = 0.0, se = 0.0, sxx = 0.0, sxe = 0.0;
    int count = 0;
    dae_options o = options_for("dopri:8", DAE_COORDINATES_AMBIENT, 3e-14);
    assert_int_equal(run(p, &o, from, tend, exact, NULL, NULL), DAE_OK);
    for (int steps = 12; steps < 5000; steps += steps / 2) {
        o = options_for(method, coordinates, 1e-13);
        o.fixed_step = tend / steps;
        if (run(p, &o, from, tend, y, NULL, NULL) != DAE_OK) continue; /* too long */
        double after = distance(n, y, exact);
        if (after < (strchr(method, '8') ? 3e-12 : 2e-11)) break;
        x[count % FIT] = log((double)steps);
        e[count++ % FIT] = log(after);
    }
    assert_true(count >= FIT);
    for (int i = 0; i < FIT; i++) {
        sx += x[i] / FIT;
        se += e[i] / FIT;
    }
    for (int i = 0; i < FIT; i++) {
        sxx += (x[i] - sx) * (x[i] - sx);
        sxe += (x[i] - sx) * (e[i] - se);
    }
    return -sxe / sxx;
}

/* Orders are kept where coordinates change. */
static void test_orders(void **state)
{
    (void)state;
    mechanics all[] = {pendulum(), bead(), four_bar()};
    const double tend[] = {6.0, 10.0, 4.0};
    for (int k = 0; k < 3; k++)
        for (int c = DAE_COORDINATES_PARTITIONED; c <= DAE_COORDINATES_TANGENT; c++)
            for (int i = 0; i < 2; i++) {
                dae_problem *p;
                double from[MOST_Y] = {0.0};
                int order = i ? 8 : 5;
                memcpy(from, all[k].start, sizeof all[k].start);
                assert_int_equal(dae_problem_from_mechanical(&all[k].form, &p, NULL), DAE_OK);
                double seen = observed_order(p, i ? "dopri:8" : "dopri:5", (dae_coordinates)c,
                                             2 * all[k].form.nq, from, tend[k]);
                if (!(seen >= order - 0.2))
                    print_message("%s, %d: order %g in place of %d\n", all[k].name, c, seen, order);
                assert_true(seen >= order - 0.2);
                dae_problem_free(p);
            }
}

/* A pendulum that loops: x and y are chosen in turns; all ends lie on the manifold. */
static void test_looping(void **state)
{
    (void)state;
    mechanics m = pendulum();
    dae_problem *p;
    const double from[MOST_Y] = {0.0, -1.0, 3.0, 0.0, 0.0};
    double y[MOST_Y], exact[MOST_Y];
    assert_int_equal(dae_problem_from_mechanical(&m.form, &p, NULL), DAE_OK);
    dae_options o = options_for("dopri:8", DAE_COORDINATES_AMBIENT, 1e-13);
    assert_int_equal(run(p, &o, from, 20.0, exact, NULL, NULL), DAE_OK);
    o = options_for("dopri:8", DAE_COORDINATES_AMBIENT, 1e-9);
    assert_int_equal(run(p, &o, from, 20.0, y, NULL, NULL), DAE_OK);
    double ambient = fmax(1e-9, distance(4, y, exact)); /* no less than the tolerance */
    for (int c = DAE_COORDINATES_PARTITIONED; c <= DAE_COORDINATES_TANGENT; c++) {
        dae_stats stats;
        o = options_for("dopri:8", (dae_coordinates)c, 1e-9);
        assert_int_equal(run(p, &o, from, 20.0, y, &stats, NULL), DAE_OK);
        double most = c == DAE_COORDINATES_TANGENT ? 10.0 : 100.0; /* errors of axes are larger */
        if (!(distance(4, y, exact) < most * ambient))
            print_message("%d: %g, ambient %g\n", c, distance(4, y, exact), ambient);
        assert_true(distance(4, y, exact) < most * ambient);
        assert_true(stats.position_residual < 1e-10);
        assert_true(stats.velocity_residual < 1e-10);
    }
    dae_problem_free(p);
}

/* On forms without masses: a Hessenberg system, and constraints of several levels. */
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

static int turn_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    E[0] = E[3] = 1.0;
    return 0;
}

/* x1' = -x2, x2' = x1 on the circle, x3 = x1 x2 */
static int turn_f(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = -at->x[1];
    f[1] = at->x[0];
    return 0;
}

static int turn_g(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->x[0] * at->x[0] + at->x[1] * at->x[1] - 1.0;
    g[1] = at->x[2] - at->x[0] * at->x[1];
    return 0;
}

static void test_other_forms(void **state)
{
    (void)state;
    dae_hessenberg h = {.ny = 2, .nz = 1, .f = steer_f, .g = steer_g, .autonomous = true};
    dae_quasilinear q = {
        .n = 3, .ne = 2, .ng = 2, .E = turn_E, .f = turn_f, .g = turn_g, .autonomous = true};
    dae_problem *p[2];
    const double from[2][3] = {{1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}}, tend[2] = {0.2, 5.0};
    const double known[2][3] = {{0.91114967, 0.41207557, -0.533220190},
                                {cos(5.0), sin(5.0), cos(5.0) * sin(5.0)}};
    assert_int_equal(dae_problem_from_hessenberg(&h, &p[0], NULL), DAE_OK);
    assert_int_equal(dae_problem_from_quasilinear(&q, &p[1], NULL), DAE_OK);
    for (int k = 0; k < 2; k++) {
        for (int c = DAE_COORDINATES_PARTITIONED; c <= DAE_COORDINATES_TANGENT; c++) {
            double y[3];
            dae_stats stats;
            dae_options o = options_for("dopri:5", (dae_coordinates)c, 1e-10);
            assert_int_equal(run(p[k], &o, from[k], tend[k], y, &stats, NULL), DAE_OK);
            if (distance(3, y, known[k]) > 1e-8)
                print_message("%d, %d: %g\n", k, c, distance(3, y, known[k]));
            assert_true(distance(3, y, known[k]) < 1e-8);
            assert_true(stats.position_residual < 1e-11);
        }
        dae_problem_free(p[k]);
    }
}

/* g = x y: where the branches meet, at the origin, G vanishes; motion along x reaches it. */
static int cross(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->q[0] * at->q[1];
    return 0;
}

static int no_force(const dae_mechanical_point *at, double *f, void *user)
{
    (void)at, (void)user;
    f[0] = -1.0;
    f[1] = 0.0;
    return 0;
}

/* Rods of length 1 from (0,0) and (2,0) that meet: stretched, the constraints are dependent. */
static int stretched(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    double x = at->q[0], y = at->q[1], d = x - 2.0;
    g[0] = 0.5 * (x * x + y * y - 1.0);
    g[1] = 0.5 * (d * d + y * y - 1.0);
    return 0;
}

static void test_rank(void **state)
{
    (void)state;
    const char *const names[] = {"left", "right"};
    for (int c = DAE_COORDINATES_PARTITIONED; c <= DAE_COORDINATES_TANGENT; c++) {
        dae_mechanical form = {.nq = 2,
                               .nlambda = 2,
                               .force = no_force,
                               .constraint = stretched,
                               .scleronomic = true,
                               .constraint_names = names};
        dae_problem *p;
        dae_diag diag = {0};
        double y[6], from[6] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        dae_options o = options_for("dopri:5", (dae_coordinates)c, 1e-6);
        o.init = DAE_INIT_NONE;
        assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
        assert_int_equal(run(p, &o, from, 1.0, y, NULL, &diag), DAE_ERR_SINGULAR);
        assert_true(diag.equation >= 0);
        assert_true(strcmp(diag.equation_name, "right") == 0 ||
                    strcmp(diag.equation_name, "left") == 0);
        dae_problem_free(p);
        form.nlambda = 1;
        form.constraint = cross;
        const double on_x[5] = {1.0, 0.0, -1.0, 0.0, 0.0};
        assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
        o = options_for("dopri:5", (dae_coordinates)c, 1e-6);
        o.fixed_step = 0.25; /* lands on it or jumps over it: told or carried through */
        dae_status status = run(p, &o, on_x, 2.0, y, NULL, &diag);
        if (status != DAE_OK) {
            assert_string_equal(diag.equation_name, "left");
            assert_true(status == DAE_ERR_SINGULAR || status == DAE_ERR_CONVERGENCE);
        }
        dae_problem_free(p);
    }
}

/* Steps that leave the chart whatever their coordinates: told with the constraint. */
static void test_left(void **state)
{
    (void)state;
    mechanics m = pendulum();
    const char *const names[] = {"rod"};
    m.form.constraint_names = names;
    dae_problem *p;
    dae_diag diag = {0};
    double y[MOST_Y], from[MOST_Y] = {0.0, -1.0, 3.0, 0.0, 0.0};
    assert_int_equal(dae_problem_from_mechanical(&m.form, &p, NULL), DAE_OK);
    for (int c = DAE_COORDINATES_PARTITIONED; c <= DAE_COORDINATES_TANGENT; c++) {
        dae_options o = options_for("dopri:5", (dae_coordinates)c, 1e-6);
        o.fixed_step = 2.0;
        assert_int_equal(run(p, &o, from, 4.0, y, NULL, &diag), DAE_ERR_CONVERGENCE);
        assert_non_null(strstr(diag.text, "chart"));
        assert_string_equal(diag.equation_name, "rod");
    }
    dae_problem_free(p);
}

/* Partitioning on its own: the columns that it picks are those with the largest derivatives, and
 * new ones are picked where the old ones have become bad. */
static void test_choice(void **state)
{
    (void)state;
    form_matrix m = form_matrix_dense(1, 2);
    const double unit[2] = {1.0, 1.0}, rows[3][2] = {{0.1, 1.0}, {0.6, 0.5}, {1.0, 0.05}};
    chart *c = chart_new(DAE_COORDINATES_PARTITIONED, &m, NULL, 0);
    assert_non_null(c);
    memcpy(c->A, rows[0], sizeof rows[0]);
    assert_int_equal(chart_choose(c, unit), CHART_OK);
    assert_int_equal(c->dependent[0], 1);
    memcpy(c->A, rows[1], sizeof rows[1]);
    assert_int_equal(chart_watch(c, unit), CHART_OK);
    assert_int_equal(c->dependent[0], 1); /* not so bad */
    assert_int_equal(c->choices, 1);
    memcpy(c->A, rows[2], sizeof rows[2]);
    assert_int_equal(chart_watch(c, unit), CHART_OK);
    assert_int_equal(c->dependent[0], 0);
    assert_int_equal(c->choices, 2);
    double r[1] = {0.5}, dx[2];
    chart_correct(c, r, dx);
    assert_true(fabs(dx[0] + 0.5) < 1e-15 && dx[1] == 0.0);
    chart_free(c);
}

/* ---- methods on residual forms: (2.22) and (2.24) by multistep and implicit methods ---- */

/* A slider crank in Cartesian coordinates, with gravity: two constraints, one degree of freedom. */
static const char crank[] =
    "model Crank Real x(start=0,fixed=true), y(start=1), s(start=1.7), u(start=1,fixed=true), "
    "v(start=0), w(start=0), a, b; equation der(x)=u; der(y)=v; der(s)=w; "
    "der(u)=-2*a*x+2*b*(s-x); der(v)=-1-2*a*y-2*b*y; der(w)=-2*b*(s-x); x^2+y^2=1; "
    "(s-x)^2+y^2=4; end Crank;";
enum { CRANK = 8 };

/* The largest residuals of both levels at a point of the crank. */
static double off_the_crank(const double *y)
{
    double d = y[2] - y[0], g[4];
    g[0] = y[0] * y[0] + y[1] * y[1] - 1.0;
    g[1] = d * d + y[1] * y[1] - 4.0;
    g[2] = y[0] * y[3] + y[1] * y[4];
    g[3] = d * (y[5] - y[3]) + y[1] * y[4];
    return fmax(fmax(fabs(g[0]), fabs(g[1])), fmax(fabs(g[2]), fabs(g[3])));
}

/* Steps to tend: what is off the constraints at their ends; the last point is in y. */
static double run_crank(const dae_problem *p, const dae_options *o, double tend, double *y)
{
    dae_solver *s;
    dae_diag diag = {0};
    double worst = 0.0;
    if (dae_solver_new(p, o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    dae_status status = DAE_STEPPED;
    while (status == DAE_STEPPED) {
        status = dae_solver_step(s, tend);
        if (status < 0) fail_msg("%s: %s", o->method, dae_solver_diag(s)->text);
        assert_int_equal(dae_solver_at(s, dae_solver_time(s), 0, y), DAE_OK);
        worst = fmax(worst, off_the_crank(y));
    }
    dae_solver_free(s);
    return worst;
}

/* Through several turns: right within 100 tolerances, on the constraints to round-off. */
static void test_residual_methods(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf", "radau", "radau:5", "lobattoc:6"};
    double exact[CRANK], y[CRANK];
    dae_problem *p;
    dae_model model = {.text = crank};
    assert_int_equal(dae_problem_from_model(&model, &p, NULL), DAE_OK);
    dae_options o = options_for("dopri:8", DAE_COORDINATES_AMBIENT, 1e-12);
    o.stop_time = 12.0;
    run_crank(p, &o, 12.0, exact);
    for (int k = 0; k < 4; k++)
        for (int c = DAE_COORDINATES_PARTITIONED; c <= DAE_COORDINATES_TANGENT; c++) {
            o = options_for(methods[k], (dae_coordinates)c, 1e-7);
            o.stop_time = 12.0;
            double off = run_crank(p, &o, 12.0, y), error = distance(6, y, exact);
            if (!(error < 1e-5 && off < 1e-12))
                fail_msg("%s, %d: error %.1e, off %.1e", methods[k], c, error, off);
        }
    dae_problem_free(p);
}

/* With constant steps they have the order of the method, across changes of coordinates. */
static void test_residual_orders(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        int order;
        double step;
    } runs[] = {{"bdf", 2, 0.002}, {"radau:5", 5, 0.05}};
    double exact[CRANK], y[CRANK], error[2];
    dae_problem *p;
    dae_model model = {.text = crank};
    assert_int_equal(dae_problem_from_model(&model, &p, NULL), DAE_OK);
    dae_options o = options_for("dopri:8", DAE_COORDINATES_AMBIENT, 1e-13);
    o.stop_time = 4.0;
    run_crank(p, &o, 4.0, exact);
    for (int k = 0; k < 2; k++)
        for (int c = DAE_COORDINATES_PARTITIONED; c <= DAE_COORDINATES_TANGENT; c++) {
            for (int half = 0; half < 2; half++) {
                o = options_for(runs[k].method, (dae_coordinates)c, 1e-10);
                if (k == 0) o.min_order = o.max_order = runs[k].order;
                o.fixed_step = half ? runs[k].step / 2.0 : runs[k].step;
                o.stop_time = 4.0;
                run_crank(p, &o, 4.0, y);
                error[half] = distance(6, y, exact);
            }
            double order = log2(error[0] / error[1]);
            if (!(fabs(order - runs[k].order) < 0.4))
                fail_msg("%s, %d: order %.2f (%.1e)", runs[k].method, c, order, error[1]);
        }
    dae_problem_free(p);
}

/* Height of a pendulum in axes turned by an angle, after four steps of implicit Euler. */
static double turned_height(double angle, dae_coordinates coordinates)
{
    char text[600];
    double y[5];
    dae_problem *p;
    snprintf(text, sizeof text,
             "model P parameter Real a = %.17g; Real x(start=cos(0.3+a),fixed=true), "
             "y(start=sin(0.3+a)), u(start=-0.5*sin(0.3+a),fixed=true), v(start=0.5*cos(0.3+a)), "
             "l; equation der(x)=u; der(y)=v; der(u)=-l*x+sin(a); der(v)=-l*y-cos(a); "
             "x^2+y^2=1; end P;",
             angle);
    dae_model model = {.text = text};
    assert_int_equal(dae_problem_from_model(&model, &p, NULL), DAE_OK);
    dae_options o = options_for("bdf", coordinates, 1e-10);
    o.max_order = 1;
    o.fixed_step = 0.05;
    assert_int_equal(run(p, &o, NULL, 0.2, y, NULL, NULL), DAE_OK);
    dae_problem_free(p);
    return cos(angle) * y[1] - sin(angle) * y[0];
}

/* The tangent space does not depend on the axes, so that steps do not, either: N' A = 0 for the
 * dependent and independent variables that the axes make. Those of a partition do. */
static void test_turned_axes(void **state)
{
    (void)state;
    const double tangent = turned_height(0.0, DAE_COORDINATES_TANGENT);
    const double partitioned = turned_height(0.0, DAE_COORDINATES_PARTITIONED);
    for (int k = -1; k <= 1; k += 2) {
        const double angle = 0.35 * k;
        double off = fabs(turned_height(angle, DAE_COORDINATES_TANGENT) - tangent);
        if (!(off < 1e-9)) fail_msg("tangent, %g: %.1e", angle, off);
        off = fabs(turned_height(angle, DAE_COORDINATES_PARTITIONED) - partitioned);
        assert_true(off > 1e-6);
    }
}

/* What cannot be: another formulation beside it, second order methods, residual callbacks. */
static void test_residual_refusals(void **state)
{
    (void)state;
    dae_problem *p;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_model model = {.text = crank};
    assert_int_equal(dae_problem_from_model(&model, &p, NULL), DAE_OK);
    dae_options o = options_for("bdf", DAE_COORDINATES_TANGENT, 1e-6);
    o.formulation = "ggl";
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "Option coordinates is formulation tangent"));
    o = options_for("bdf2nd", DAE_COORDINATES_TANGENT, 1e-6);
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "method bdf2nd is none"));
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_looping),
        cmocka_unit_test(test_other_forms),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_residual_methods),
        cmocka_unit_test(test_residual_orders),
        cmocka_unit_test(test_turned_axes),
        cmocka_unit_test(test_residual_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
