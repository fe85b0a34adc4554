/* Sensitivities of callbacks in mechanical form: those of the same pendulum as a model, on the
 * linearised constraints of all levels. */
#include "model_run.h"

enum { NQ = 2, N = 5, BY = 3 };

/* p = (g, L, m): m v' = (0, -m g) - q lambda, 0 = (q.q - L^2)/2 */
static int mass(const dae_mechanical_point *at, double *M, void *user)
{
    const double *p = user;
    (void)at;
    M[0] = M[3] = p[2];
    return 0;
}

static int force(const dae_mechanical_point *at, double *f, void *user)
{
    const double *p = user;
    (void)at;
    f[0] = 0.0;
    f[1] = -p[2] * p[0];
    return 0;
}

static int rod(const dae_mechanical_point *at, double *g, void *user)
{
    const double *p = user;
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - p[1] * p[1]);
    return 0;
}

static int gradient(const dae_mechanical_point *at, double *G, void *user)
{
    (void)user;
    G[0] = at->q[0];
    G[1] = at->q[1];
    return 0;
}

static int curvature(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->v[0] * at->v[0] + at->v[1] * at->v[1];
    return 0;
}

static const char *const text =
    MODEL("  parameter Real g = 9.81;\n  parameter Real L = 1.2;\n  parameter Real m = 0.7;\n"
          "  Real x(start = L), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), f;\n"
          "equation\n  der(x) = vx;\n  der(y) = vy;\n  m*der(vx) = -f*x;\n"
          "  m*der(vy) = -f*y - m*g;\n  x^2 + y^2 = L^2;");

static const char *const names[N] = {"x", "y", "vx", "vy", "f"}, *const by[BY] = {"g", "L", "m"};

/* S of the model at 0.3, 0.6, 0.9, to rtol. */
static void take_reference(double (*s)[BY][N])
{
    run r;
    dae_sensitivity *x = NULL;
    double slopes[MOST_VALUES];
    prepare(&r, text);
    r.options.rtol = 1e-10;
    r.options.atol = 1e-12;
    r.options.method = "radau";
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    dae_sensitivity_request request = {.count = BY, .names = by};
    assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    for (int row = 0; row < 3; row++) {
        const double t = 0.3 * (row + 1);
        assert_int_equal(dae_solver_run(r.solver, t, NULL, NULL), DAE_OK);
        for (int k = 0; k < BY; k++) {
            assert_int_equal(dae_sensitivity_variables(x, t, k, slopes), DAE_OK);
            for (int i = 0; i < N; i++)
                s[row][k][i] = slopes[dae_problem_find_variable(r.problem, names[i])];
        }
    }
    dae_sensitivity_free(x);
    end(&r);
}

/* Positions and velocities stay on the linearised constraints. */
static void expect_levels(const double *y, const double *s, int k, double L, double close)
{
    const double position = y[0] * s[0] + y[1] * s[1] - (k == 1 ? L : 0.0);
    const double velocity = y[2] * s[0] + y[3] * s[1] + y[0] * s[2] + y[1] * s[3];
    if (fabs(position) > close || fabs(velocity) > close)
        print_error("by %s: levels %g and %g\n", by[k], position, velocity);
    assert_true(fabs(position) <= close);
    assert_true(fabs(velocity) <= close);
}

static void open_form(dae_mechanical *form, double *p, const char *method, const double *y0,
                      dae_problem **problem, dae_solver **solver, dae_sensitivity **x)
{
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    options.rtol = 1e-7;
    options.atol = 1e-9;
    options.method = method;
    assert_int_equal(dae_problem_from_mechanical(form, problem, &diag), DAE_OK);
    assert_int_equal(dae_solver_new(*problem, &options, solver, &diag), DAE_OK);
    dae_sensitivity_request request = {.count = BY, .values = p, .y0 = y0};
    dae_status status = dae_sensitivity_new(*solver, &request, x, &diag);
    if (status != DAE_OK) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
}

static void expect_ran(dae_solver *solver, dae_status status)
{
    if (status != DAE_OK) print_error("%s\n", dae_solver_diag(solver)->text);
    assert_int_equal(status, DAE_OK);
}

static void test_pendulum(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "radau", "prk", "hem"};
    double reference[3][BY][N];
    take_reference(reference);
    for (int i = 0; i < 8; i++) {
        double p[BY] = {9.81, 1.2, 0.7}, y[N], s[N];
        const double y0[BY * N] = {0, 0, 0, 0, 0, 1}, start[N] = {1.2};
        const bool given = i >= 4; /* derivatives of the constraint */
        dae_mechanical form = {.nq = NQ,
                               .nlambda = 1,
                               .mass = mass,
                               .force = force,
                               .constraint = rod,
                               .user = p,
                               .scleronomic = true,
                               .gradient = given ? gradient : NULL,
                               .curvature = given ? curvature : NULL};
        dae_problem *problem;
        dae_solver *solver;
        dae_sensitivity *x;
        open_form(&form, p, methods[i % 4], y0, &problem, &solver, &x);
        expect_ran(solver, dae_solver_start(solver, 0.0, start, NULL));
        for (int row = 0; row < 3; row++) {
            const double t = 0.3 * (row + 1);
            expect_ran(solver, dae_solver_run(solver, t, y, NULL));
            for (int k = 0; k < BY; k++) {
                expect_ran(solver, dae_sensitivity_at(x, t, k, s));
                expect_levels(y, s, k, p[1], 10.0 * 1e-7); /* y is the run's, with its errors */
                for (int j = 0; j < N; j++) {
                    const double off = fabs(s[j] - reference[row][k][j]);
                    if (off > 100.0 * 1e-7 * fmax(fabs(reference[row][k][j]), 1.0))
                        print_error("%s %d: %s by %s at %g: %.9g, not %.9g\n", methods[i % 4],
                                    given, names[j], by[k], t, s[j], reference[row][k][j]);
                    assert_true(off <= 100.0 * 1e-7 * fmax(fabs(reference[row][k][j]), 1.0));
                }
            }
        }
        assert_true(p[0] == 9.81 && p[1] == 1.2 && p[2] == 0.7);
        dae_sensitivity_free(x);
        dae_solver_free(solver);
        dae_problem_free(problem);
    }
}

/* The gradient is that of sensitivities, also where the positions that were chosen have changed. */
static void expect_adjoint(dae_adjoint_kind kind, bool unchecked)
{
    double reference[3][BY][N], p[BY] = {9.81, 1.2, 0.7}, found[BY];
    const double y0[BY * N] = {0, 0, 0, 0, 0, 1}, start[N] = {1.2}, weights[N] = {1, 0, 0, 2, 0.1};
    dae_mechanical form = {.nq = NQ,
                           .nlambda = 1,
                           .mass = mass,
                           .force = force,
                           .constraint = rod,
                           .user = p,
                           .scleronomic = true,
                           .gradient = gradient,
                           .curvature = curvature};
    dae_problem *problem;
    dae_solver *solver;
    dae_sensitivity *x;
    dae_adjoint *adjoint = NULL;
    dae_diag diag = {0};
    take_reference(reference);
    open_form(&form, p, "radau", y0, &problem, &solver, &x);
    dae_sensitivity_free(x);
    dae_adjoint_request request = {
        .count = BY, .functionals = 1, .values = p, .y0 = y0, .kind = kind, .unchecked = unchecked};
    assert_int_equal(dae_adjoint_new(solver, &request, &adjoint, &diag), DAE_OK);
    expect_ran(solver, dae_solver_start(solver, 0.0, start, NULL));
    for (int row = 0; row < 3; row++) {
        expect_ran(solver, dae_solver_run(solver, 0.3 * (row + 1), NULL, NULL));
        expect_ran(solver, dae_adjoint_point(adjoint, 0, weights));
    }
    expect_ran(solver, dae_adjoint_gradient(adjoint, 0, found));
    for (int k = 0; k < BY; k++) {
        double sum = 0.0;
        for (int row = 0; row < 3; row++)
            for (int i = 0; i < N; i++) sum += weights[i] * reference[row][k][i];
        if (fabs(found[k] - sum) > 1e-5 * fmax(fabs(sum), 1.0))
            print_error("by %s: %.9g, not %.9g\n", by[k], found[k], sum);
        assert_true(fabs(found[k] - sum) <= 1e-5 * fmax(fabs(sum), 1.0));
    }
    dae_adjoint_free(adjoint);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

static void test_adjoint(void **state)
{
    (void)state;
    expect_adjoint(DAE_ADJOINT_DISCRETE, false);
    expect_adjoint(DAE_ADJOINT_CONTINUOUS, false);
    expect_adjoint(DAE_ADJOINT_CONTINUOUS, true);
}

/* On a circle of radius p0 with the speed p1: y' = p1 (-y2, y1) + (z - p2) y, 0 = (y.y - p0^2)/2,
 * so that z = p2. Index 2. */
static int turn(const dae_hessenberg_point *at, double *f, void *user)
{
    const double *p = user;
    f[0] = -p[1] * at->y[1] + (at->z[0] - p[2]) * at->y[0];
    f[1] = p[1] * at->y[0] + (at->z[0] - p[2]) * at->y[1];
    return 0;
}

static int circle(const dae_hessenberg_point *at, double *g, void *user)
{
    const double *p = user;
    g[0] = 0.5 * (at->y[0] * at->y[0] + at->y[1] * at->y[1] - p[0] * p[0]);
    return 0;
}

static int circle_y(const dae_hessenberg_point *at, double *G, void *user)
{
    (void)user;
    G[0] = at->y[0];
    G[1] = at->y[1];
    return 0;
}

static void expect_turn(const dae_hessenberg *form, const char *formulation, double *p)
{
    enum { SIZE = 3 };
    const double rtol = 1e-7, y0[BY * SIZE] = {1}, start[SIZE] = {1.5, 0.0, 0.7};
    dae_problem *problem;
    dae_solver *solver;
    dae_sensitivity *x = NULL;
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    options.rtol = rtol;
    options.atol = 1e-9;
    options.method = "radau";
    options.formulation = formulation;
    assert_int_equal(dae_problem_from_hessenberg(form, &problem, &diag), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &solver, &diag), DAE_OK);
    dae_sensitivity_request request = {.count = BY, .values = p, .y0 = y0};
    assert_int_equal(dae_sensitivity_new(solver, &request, &x, &diag), DAE_OK);
    expect_ran(solver, dae_solver_start(solver, 0.0, start, NULL));
    for (int row = 1; row <= 4; row++) {
        const double t = 0.8 * row, c = cos(2.0 * t), s = sin(2.0 * t);
        const double exact[SIZE] = {1.5 * c, 1.5 * s, 0.7};
        const double slopes[BY][SIZE] = {{c, s, 0}, {-1.5 * t * s, 1.5 * t * c, 0}, {0, 0, 1}};
        double y[SIZE], found[SIZE];
        expect_ran(solver, dae_solver_run(solver, t, y, NULL));
        for (int i = 0; i < SIZE; i++) assert_true(fabs(y[i] - exact[i]) <= 100.0 * rtol);
        for (int k = 0; k < BY; k++) {
            expect_ran(solver, dae_sensitivity_at(x, t, k, found));
            for (int i = 0; i < SIZE; i++) {
                if (fabs(found[i] - slopes[k][i]) > 100.0 * rtol)
                    print_error("%d by %d at %g: %.9g, not %.9g\n", i, k, t, found[i],
                                slopes[k][i]);
                assert_true(fabs(found[i] - slopes[k][i]) <= 100.0 * rtol);
            }
            const double level = y[0] * found[0] + y[1] * found[1] - (k == 0 ? p[0] : 0.0);
            assert_true(fabs(level) <= 10.0 * rtol);
        }
    }
    dae_sensitivity_free(x);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

/* In closed form, integrated as given and in the formulation that sensitivities take; the component
 * that the constraint determines changes on the way. */
static void test_hessenberg(void **state)
{
    (void)state;
    static const char *const formulations[] = {"auto", "reduced", "index1"};
    for (int i = 0; i < 6; i++) {
        double p[BY] = {1.5, 2.0, 0.7};
        dae_hessenberg form = {.ny = 2,
                               .nz = 1,
                               .f = turn,
                               .g = circle,
                               .g_y = i < 3 ? circle_y : NULL,
                               .autonomous = true,
                               .user = p};
        expect_turn(&form, formulations[i % 3], p);
    }
}

/* ---- quasilinear and second order callbacks of index 1 ---- */

/* x0'/x0 = -p0, 0 = x0^2 - p1 x1: x0 = exp(-p0 t), x1 = x0^2/p1 */
static int quasi_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)user;
    E[0] = 1.0 / at->x[0];
    E[1] = E[2] = E[3] = 0.0;
    return 0;
}

static int quasi_f(const dae_quasilinear_point *at, double *f, void *user)
{
    const double *p = user;
    f[0] = -p[0];
    f[1] = at->x[0] * at->x[0] - p[1] * at->x[1];
    return 0;
}

/* p0 x'' + p1 x = 0 */
static int swing(double t, const double *x, const double *xp, const double *xpp, double *f,
                 void *user)
{
    const double *p = user;
    (void)t, (void)xp;
    f[0] = p[0] * xpp[0] + p[1] * x[0];
    return 0;
}

/* dy/dp at t = 1 of two unknowns by two numbers against `exact`, rows by number; then these run on
 * by dy/dp(0) = 0. */
static void expect_slopes(const dae_problem *problem, const char *method, double *p,
                          const double *start, const double *exact)
{
    dae_solver *solver;
    dae_sensitivity *x;
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    const double kept[2] = {p[0], p[1]};
    double slope[2];
    options.method = method;
    options.rtol = 1e-7;
    options.atol = 1e-10;
    assert_int_equal(dae_solver_new(problem, &options, &solver, &diag), DAE_OK);
    dae_sensitivity_request request = {.count = 2, .values = p};
    assert_int_equal(dae_sensitivity_new(solver, &request, &x, &diag), DAE_OK);
    dae_status status = dae_solver_start(solver, 0.0, start, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, 1.0, NULL, NULL);
    if (status != DAE_OK) print_error("%s: %s\n", method, dae_solver_diag(solver)->text);
    assert_int_equal(status, DAE_OK);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(dae_sensitivity_at(x, 1.0, k, slope), DAE_OK);
        for (int i = 0; i < 2; i++) {
            const double off = fabs(slope[i] - exact[2 * k + i]);
            if (off > 1e-5) print_error("%s: y%d by %d off by %g\n", method, i, k, off);
            assert_true(off <= 1e-5); /* 100 tolerances of slopes of about 1 */
        }
    }
    assert_true(p[0] == kept[0] && p[1] == kept[1]);
    dae_sensitivity_free(x);
    dae_solver_free(solver);
}

static void test_quasilinear(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf", "radau", "rodas"};
    double p[2] = {0.7, 1.5};
    const double x0 = exp(-0.7), start[2] = {1.0, 1.0 / 1.5};
    const double exact[4] = {-x0, -2.0 * x0 * x0 / 1.5, 0.0, -x0 * x0 / (1.5 * 1.5)};
    dae_quasilinear form = {.n = 2, .ne = 2, .E = quasi_E, .f = quasi_f, .user = p};
    dae_problem *problem;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_quasilinear(&form, &problem, &diag), DAE_OK);
    for (int i = 0; i < 3; i++) expect_slopes(problem, methods[i], p, start, exact);
    dae_problem_free(problem);
}

static void test_second_order(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf", "radau", "bdf2nd"};
    double p[2] = {0.7, 1.5};
    const double start[2] = {1.0, 0.0}, w = sqrt(1.5 / 0.7);
    const double by_w[2] = {-sin(w), -sin(w) - w * cos(w)}; /* x = cos(w t), v = -w sin(w t) */
    const double exact[4] = {by_w[0] * -w / 1.4, by_w[1] * -w / 1.4, by_w[0] * w / 3.0,
                             by_w[1] * w / 3.0};
    dae_second_order form = {.n = 1, .f = swing, .user = p};
    dae_problem *problem;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_second_order(&form, &problem, &diag), DAE_OK);
    for (int i = 0; i < 3; i++) expect_slopes(problem, methods[i], p, start, exact);
    dae_problem_free(problem);
}

/* Index 2, as x0' = x1, x0 = sin t: nothing of it can be a state, and that is said. */
static int hidden_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    E[0] = 1.0;
    E[1] = E[2] = E[3] = 0.0;
    return 0;
}

static int hidden_f(const dae_quasilinear_point *at, double *f, void *user)
{
    const double *p = user;
    f[0] = p[0] * at->x[1];
    f[1] = at->x[0] - p[1] * sin(at->t);
    return 0;
}

static void test_hidden_constraints(void **state)
{
    (void)state;
    double p[2] = {1.0, 1.0};
    const double start[2] = {0.0, 1.0};
    dae_quasilinear form = {.n = 2, .ne = 2, .E = hidden_E, .f = hidden_f, .user = p};
    dae_problem *problem;
    dae_solver *solver;
    dae_sensitivity *x;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_quasilinear(&form, &problem, &diag), DAE_OK);
    dae_options options = dae_options_default();
    options.method = "radau";
    assert_int_equal(dae_solver_new(problem, &options, &solver, &diag), DAE_OK);
    dae_sensitivity_request request = {.count = 2, .values = p};
    assert_int_equal(dae_sensitivity_new(solver, &request, &x, &diag), DAE_OK);
    dae_status status = dae_solver_start(solver, 0.0, start, NULL);
    assert_int_equal(status, DAE_ERR_SINGULAR);
    assert_non_null(strstr(dae_solver_diag(solver)->text, "do not determine x[1]"));
    dae_sensitivity_free(x);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

/* y0 that leaves the rod is refused by name; so are derivatives of residuals. */
static int derivative(double t, const double *y, const double *yp, int k, double *f, void *user)
{
    (void)t, (void)y, (void)yp, (void)k, (void)f, (void)user;
    return 0;
}

static void test_refusals(void **state)
{
    (void)state;
    double p[BY] = {9.81, 1.2, 0.7};
    const double y0[BY * N] = {0, 0, 0, 0, 0, 2}, start[N] = {1.2};
    dae_mechanical form = {.nq = NQ,
                           .nlambda = 1,
                           .mass = mass,
                           .force = force,
                           .constraint = rod,
                           .user = p,
                           .scleronomic = true};
    dae_problem *problem;
    dae_solver *solver;
    dae_sensitivity *x;
    dae_diag diag = {0};
    open_form(&form, p, "radau", y0, &problem, &solver, &x);
    assert_int_equal(dae_solver_start(solver, 0.0, start, NULL), DAE_ERR_INITIAL);
    assert_non_null(strstr(dae_solver_diag(solver)->text, "q[0] would move by 2"));
    dae_sensitivity_free(x);
    dae_sensitivity_request wrong = {.count = BY, .derivative = derivative};
    assert_int_equal(dae_sensitivity_new(solver, &wrong, &x, &diag), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, start, NULL), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(dae_solver_diag(solver)->text, "give `values`"));
    dae_sensitivity_free(x);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum),     cmocka_unit_test(test_adjoint),
        cmocka_unit_test(test_hessenberg),   cmocka_unit_test(test_quasilinear),
        cmocka_unit_test(test_second_order), cmocka_unit_test(test_hidden_constraints),
        cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
