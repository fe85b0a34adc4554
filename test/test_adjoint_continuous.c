/* Gradients by the adjoint equations: closed forms of index 1, 2 and 3, among them functionals of
 * multipliers at the end, whose terminal conditions the hidden constraints decide; published models
 * against sensitivities; what is refused. */
#include "model_run.h"

enum { MOST_BY = 32 };

static const double tolerances[] = {1e-6, 1e-9};

typedef struct back_case {
    const char *text, *file; /* one of both */
    const char *of;
    bool integral;
    double tend;
    int count;
    const char *by[5];
    const char *method; /* NULL: auto */
} back_case;

static void expect_done(run *r, dae_status status, const char *what)
{
    if (status != DAE_OK) print_error("%s: %s\n", what, diag_of(r)->text);
    assert_int_equal(status, DAE_OK);
}

static void open_case(run *r, const back_case *c, double rtol)
{
    if (c->text) {
        prepare(r, c->text);
    } else {
        char path[512];
        snprintf(path, sizeof path, TEST_ROOT "/models/%s", c->file);
        memset(r, 0, sizeof *r);
        r->options = dae_options_default();
        assert_int_equal(dae_problem_from_file(path, &r->problem, &r->diag), DAE_OK);
    }
    r->options.rtol = rtol;
    r->options.atol = 1e-3 * rtol;
    if (c->method) r->options.method = c->method;
    assert_int_equal(dae_solver_new(r->problem, &r->options, &r->solver, &r->diag), DAE_OK);
}

static const double *weigh(const run *r, const back_case *c, double *weights)
{
    memset(weights, 0, MOST_VALUES * sizeof *weights);
    weights[dae_problem_find_variable(r->problem, c->of)] = 1.0;
    return weights;
}

static void go_back(const back_case *c, double rtol, bool unchecked, double *gradient)
{
    run r;
    dae_adjoint *adjoint = NULL;
    double weights[MOST_VALUES];
    open_case(&r, c, rtol);
    dae_adjoint_request request = {.count = c->count,
                                   .names = c->by,
                                   .functionals = 1,
                                   .kind = DAE_ADJOINT_CONTINUOUS,
                                   .unchecked = unchecked};
    assert_int_equal(dae_adjoint_new(r.solver, &request, &adjoint, &r.diag), DAE_OK);
    weigh(&r, c, weights);
    if (c->integral) expect_done(&r, dae_adjoint_integral(adjoint, 0, weights), "integral");
    expect_done(&r, dae_solver_start(r.solver, 0.0, NULL, NULL), "start");
    expect_done(&r, dae_solver_run(r.solver, c->tend, NULL, NULL), "run");
    if (!c->integral) expect_done(&r, dae_adjoint_point(adjoint, 0, weights), "point");
    expect_done(&r, dae_adjoint_gradient(adjoint, 0, gradient), "gradient");
    dae_adjoint_free(adjoint);
    end(&r);
}

static void expect_gradient(const back_case *c, const double *exact)
{
    double found[MOST_BY];
    for (int i = 0; i < 4; i++) {
        const double rtol = tolerances[i / 2];
        go_back(c, rtol, i % 2 == 1, found);
        for (int k = 0; k < c->count; k++) {
            if (fabs(found[k] - exact[k]) <= 100.0 * rtol * fmax(fabs(exact[k]), 1e-3)) continue;
            print_error("%s by %s at %g: %.12g, not %.12g\n", c->of, c->by[k], rtol, found[k],
                        exact[k]);
            fail();
        }
    }
}

/* Index 1: x = x0 exp(-k t), z^3 = k x. */
static void test_index_1(void **state)
{
    (void)state;
    static const char *const text =
        MODEL("  parameter Real k = 2;\n  parameter Real x0 = 3;\n"
              "  Real x(start = x0, fixed = true), z(start = 1);\nequation\n  der(x) = -k*x;\n"
              "  z^3 = k*x;");
    const double k = 2.0, x0 = 3.0, T = 1.5, x = x0 * exp(-k * T), z = cbrt(k * x);
    const double at_end[2] = {z / (3.0 * k) - T * z / 3.0, z / (3.0 * x0)};
    /* the integral of z is 3 (z(0) - z(T))/k */
    const double z0 = cbrt(k * x0), all = 3.0 * (z0 - z) / k;
    const double over[2] = {-all / k + 3.0 / k * (z0 / (3.0 * k) - at_end[0]), all / (3.0 * x0)};
    expect_gradient(&(back_case){text, NULL, "z", false, T, 2, {"k", "x0"}, NULL}, at_end);
    expect_gradient(&(back_case){text, NULL, "z", true, T, 2, {"k", "x0"}, NULL}, over);
}

/* Index 2, Hessenberg: on a circle of radius R with the speed w, y' = w (-y2, y1) + (z - c y1) y,
 * 0 = y.y - R^2: z = c y1 = c R cos(w t). A functional of z at the end counts what y counts for
 * through the hidden constraint. */
static void test_index_2(void **state)
{
    (void)state;
    static const char *const text =
        MODEL("  parameter Real R = 1.5;\n  parameter Real w = 2;\n  parameter Real c = 0.7;\n"
              "  Real y1(start = R), y2(start = 0, fixed = true), z;\nequation\n"
              "  der(y1) = -w*y2 + (z - c*y1)*y1;\n  der(y2) = w*y1 + (z - c*y1)*y2;\n"
              "  y1^2 + y2^2 = R^2;");
    const double R = 1.5, w = 2.0, c = 0.7, T = 1.3, e = cos(w * T), s = sin(w * T);
    const double z[3] = {c * e, -c * R * T * s, R * e}, y2[3] = {s, R * T * e, 0.0};
    const double sum[3] = {c * s / w, c * R * (T * e / w - s / (w * w)), R * s / w};
    expect_gradient(&(back_case){text, NULL, "z", false, T, 3, {"R", "w", "c"}, NULL}, z);
    expect_gradient(&(back_case){text, NULL, "y2", false, T, 3, {"R", "w", "c"}, NULL}, y2);
    expect_gradient(&(back_case){text, NULL, "z", true, T, 3, {"R", "w", "c"}, NULL}, sum);
}

/* Index 3, a mechanism: without gravity at the speed u on a rod of length L; the force per length
 * is m u^2/L^2 at all times, x = L cos(u t/L). A terminal condition without the projection to
 * velocities would give dlambda/du = 0. */
static void test_index_3(void **state)
{
    (void)state;
    static const char *const text =
        MODEL("  parameter Real L = 1.2;\n  parameter Real m = 0.8;\n  parameter Real u = 1.7;\n"
              "  Real x(start = L), y(start = 0, fixed = true), vx, vy(start = u, fixed = true);\n"
              "  Real f;\nequation\n  der(x) = vx;\n  der(y) = vy;\n  m*der(vx) = -f*x;\n"
              "  m*der(vy) = -f*y;\n  x^2 + y^2 = L^2;");
    const double L = 1.2, m = 0.8, u = 1.7, T = 2.0, a = u * T / L, e = cos(a), s = sin(a);
    const double f[3] = {-2.0 * m * u * u / (L * L * L), u * u / (L * L), 2.0 * m * u / (L * L)};
    const double F[3] = {T * f[0], T * f[1], T * f[2]};
    const double x[3] = {e + a * s, 0.0, -T * s}, vx[3] = {u * a / L * e, 0.0, -s - a * e};
    const double Y[3] = {2.0 * L / u * (1.0 - e) - T * s, 0.0,
                         -L * L / (u * u) * (1.0 - e) + L * T / u * s};
    static const char *const by[] = {"L", "m", "u"};
    expect_gradient(&(back_case){text, NULL, "f", false, T, 3, {by[0], by[1], by[2]}, NULL}, f);
    expect_gradient(&(back_case){text, NULL, "f", true, T, 3, {by[0], by[1], by[2]}, NULL}, F);
    expect_gradient(&(back_case){text, NULL, "x", false, T, 3, {by[0], by[1], by[2]}, NULL}, x);
    expect_gradient(&(back_case){text, NULL, "vx", false, T, 3, {by[0], by[1], by[2]}, NULL}, vx);
    expect_gradient(&(back_case){text, NULL, "y", true, T, 3, {by[0], by[1], by[2]}, NULL}, Y);
}

/* Of index 1 and with a constraint that does not show, C (u1' - u2') = i: with u = u1 - u2 = exp(-r
 * t), r = (G + 1/R)/.. : i = -u1/R = G u2. */
static void test_plain(void **state)
{
    (void)state;
    static const char *const text =
        MODEL("  parameter Real C = 0.5;\n  parameter Real R = 2;\n  parameter Real G = 0.25;\n"
              "  Real u1(start = 1), u2(start = 0);\ninitial equation\n  u1 - u2 = 1;\nequation\n"
              "  C*der(u1 - u2) = -u1/R;\n  C*der(u2 - u1) = -G*u2;");
    /* u1 = b u, u2 = -(1 - b) u with u1/R = -G u2: b = G R/(1 + G R), C u' = -b u/R */
    const double C = 0.5, R = 2.0, G = 0.25, T = 1.0, q = 1.0 + G * R, b = G * R / q;
    const double rate = b / (R * C), u = exp(-rate * T);
    const double by_R = G / (q * q), by_G = R / (q * q); /* of b */
    const double rates[3] = {-rate / C, by_R / (R * C) - rate / R, by_G / (R * C)};
    const double u1[3] = {-b * T * rates[0] * u, by_R * u - b * T * rates[1] * u,
                          by_G * u - b * T * rates[2] * u};
    expect_gradient(&(back_case){text, NULL, "u1", false, T, 3, {"C", "R", "G"}, NULL}, u1);
}

/* At rest the run has nothing to do, and what x at the end counts for turns: x = x0 cos w t + v0/w
 * sin w t with x0 = v0 = 0. The way back has an error test of its own. */
static void test_steps_of_its_own(void **state)
{
    (void)state;
    static const char *const text =
        MODEL("  Real x(start = 0, fixed = true), v(start = 0, fixed = true);\nequation\n"
              "  der(x) = v;\n  der(v) = -100*x;");
    const double T = 10.0, exact[2] = {cos(10.0 * T), sin(10.0 * T) / 10.0};
    expect_gradient(&(back_case){text, NULL, "x", false, T, 2, {"x", "v"}, NULL}, exact);
}

/* Steps of Taylor series are longer than polynomials of the trajectory may be: x = cos w t, and z =
 * exp(k (t/2 + sin(2 w t)/(4 w))). */
static void test_trajectory(void **state)
{
    (void)state;
    static const char *const text =
        MODEL("  parameter Real k = 0.5;\n  parameter Real z0 = 1;\n"
              "  Real x(start = 1, fixed = true), v(start = 0, fixed = true);\n"
              "  Real z(start = z0, fixed = true);\nequation\n  der(x) = v;\n  der(v) = -9*x;\n"
              "  der(z) = k*x^2*z;");
    const double T = 4.0, k = 0.5, over = T / 2.0 + sin(6.0 * T) / 12.0, z = exp(k * over);
    const double exact[2] = {over * z, z};
    expect_gradient(&(back_case){text, NULL, "z", false, T, 2, {"k", "z0"}, "taylor"}, exact);
}

static double value_of(const run *r, const char *name)
{
    int i = 0;
    while (strcmp(dae_problem_parameter(r->problem, i), name) != 0) i++;
    return dae_problem_parameter_value(r->problem, i);
}

/* Sensitivities give the same, within 100 tolerances. */
static void expect_forward(const back_case *c, double rtol)
{
    run r;
    dae_sensitivity *x = NULL;
    double slopes[MOST_VALUES], found[MOST_BY];
    go_back(c, rtol, false, found);
    open_case(&r, c, rtol);
    dae_sensitivity_request request = {.count = c->count, .names = c->by};
    assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
    expect_done(&r, dae_solver_start(r.solver, 0.0, NULL, NULL), "start");
    expect_done(&r, dae_solver_run(r.solver, c->tend, NULL, NULL), "run");
    for (int k = 0; k < c->count; k++) {
        expect_done(&r, dae_sensitivity_variables(x, c->tend, k, slopes), "variables");
        const double forward = slopes[dae_problem_find_variable(r.problem, c->of)];
        const double p = value_of(&r, c->by[k]);
        const double allowed = rtol * fabs(forward) + 1e-3 * rtol / fabs(p);
        if (fabs(found[k] - forward) > 100.0 * allowed)
            print_error("%s: %s by %s at %g: %.12g back, %.12g forward\n", c->file, c->of, c->by[k],
                        rtol, found[k], forward);
        assert_true(fabs(found[k] - forward) <= 100.0 * allowed);
    }
    dae_sensitivity_free(x);
    end(&r);
}

static void test_models(void **state)
{
    (void)state;
    static const back_case list[] = {
        {NULL, "robertson.mo", "y1", false, 1e5, 3, {"k1", "k2", "k3"}, NULL},
        {NULL, "akzo.mo", "ZLA", false, 180.0, 3, {"k1", "klA", "Ks"}, NULL},
        {NULL, "akzo.mo", "FLB_ZHU", false, 180.0, 3, {"k2", "k3", "Ks"}, NULL},
        {NULL, "transamp.mo", "U[8]", false, 0.05, 4, {"R[4]", "C[4]", "beta", "alpha"}, NULL},
        {NULL, "pendulum.mo", "lambda", false, 1.0, 3, {"L", "m", "g"}, NULL},
        {NULL, "caraxis.mo", "pl[1]", false, 1.5, 3, {"L", "eps", "M"}, NULL},
        {NULL, "caraxis.mo", "lambda[1]", false, 1.5, 3, {"L", "eps", "w"}, NULL},
        {NULL, "andrews.mo", "q[1]", false, 0.03, 3, {"e", "sc", "i1"}, NULL},
        {NULL, "trajectory2.mo", "V", false, 100.0, 2, {"m", "S"}, NULL},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int k = 0; k < 2; k++) expect_forward(&list[i], tolerances[k]);
}

/* The force in a pendulum is as its mass: all of its gradient by m is that of the end, and the
 * integral along the run is rounding, which no step makes smaller. */
static void test_integral_of_nothing(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf", "radau", "rodas"};
    for (int i = 0; i < 6; i++) {
        const back_case c = {
            MODEL("  parameter Real m = 1.2;\n  parameter Real L = 1.1;\n"
                  "  parameter Real g = 9.81;\n  Real x(start = L), y(start = 0, fixed = true);\n"
                  "  Real vx(start = 0), vy(start = 0, fixed = true), f;\nequation\n"
                  "  der(x) = vx;\n  der(y) = vy;\n  m*der(vx) = -f*x;\n"
                  "  m*der(vy) = -f*y - m*g;\n  x^2 + y^2 = L^2;"),
            NULL,
            "f",
            false,
            2.0,
            5,
            {"m", "L", "g", "y", "vy"},
            methods[i / 2]};
        const double rtol = tolerances[i % 2];
        double found[MOST_BY], value = 22.60300815 * 1.2; /* f(2), of a run at 1e-11 */
        go_back(&c, rtol, false, found);
        assert_true(fabs(found[0] - value / 1.2) <= 100.0 * rtol * value);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const by[] = {"k"};
    run r;
    dae_adjoint *adjoint = NULL;
    prepare(&r, MODEL("  parameter Real k = 2;\n  Real x(start = 3, fixed = true);\nequation\n"
                      "  der(x) = -k*x;"));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    dae_adjoint_request request = {.count = 1, .names = by, .functionals = 1, .kind = 2};
    assert_int_equal(dae_adjoint_new(r.solver, &request, &adjoint, &r.diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(r.diag.text, "kind = 2"));
    request.kind = DAE_ADJOINT_DISCRETE;
    request.unchecked = 1;
    assert_int_equal(dae_adjoint_new(r.solver, &request, &adjoint, &r.diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(r.diag.text, "unchecked"));
    assert_null(adjoint);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_index_1),
                                       cmocka_unit_test(test_index_2),
                                       cmocka_unit_test(test_index_3),
                                       cmocka_unit_test(test_plain),
                                       cmocka_unit_test(test_steps_of_its_own),
                                       cmocka_unit_test(test_trajectory),
                                       cmocka_unit_test(test_models),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_integral_of_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
