/* Boundary value problems against closed forms and published values. */
#include "bvp_run.h"

/* ---- closed forms ---- */

/* y'' = y, y(0) = 0, y(1) = 1: sinh(t)/sinh(1) */
static void test_linear(void **state)
{
    (void)state;
    const char *const at_end[] = {"y = 1"};
    bvp_run q;
    open_with(&q,
              MODEL("  Real y(start = 0, fixed = true);\n  Real v;\nequation\n  der(y) = v;\n"
                    "  der(v) = y;"),
              1, at_end);
    solve(&q);
    for (int k = 0; k <= 100; k++) {
        expect_about(value_at(&q, "y", k / 100.0), sinh(k / 100.0) / sinh(1.0), 2e-8);
        expect_about(value_at(&q, "v", k / 100.0), cosh(k / 100.0) / sinh(1.0), 4e-8);
    }
    assert_int_equal(dae_bvp_statistics(q.b)->states, 2);
    assert_true(dae_bvp_mesh(q.b, 0) == 0.0);
    assert_true(dae_bvp_mesh(q.b, dae_bvp_statistics(q.b)->intervals) == 1.0);
    shut(&q);
}

static const char *const bratu =
    MODEL("  parameter Real lambda = 1;\n  Real u(start = 0, fixed = true);\n  Real v(start = 0);\n"
          "equation\n  der(u) = v;\n  der(v) = -lambda*exp(u);\n"
          "  annotation(__Daedal(terminal = {u == 0}));");

/* u = -2 log(cosh((t - 1/2) theta/2)/cosh(theta/4)) with theta = sqrt(2 lambda) cosh(theta/4):
 * theta = 1.5171645990507543 and 10.938702772122106; u'(0) = theta tanh(theta/4) */
static void test_bratu(void **state)
{
    (void)state;
    bvp_run q;
    open_with(&q, bratu, 0, NULL);
    solve(&q);
    expect_about(value_at(&q, "v", 0.0), 0.5493527287752707, 5e-8);
    q.request.rtol = q.request.atol = 1e-13; /* rounding stops Newton's method here */
    solve(&q);
    expect_about(value_at(&q, "v", 0.0), 0.5493527287752707, 1e-12);
    q.request.rtol = q.request.atol = 1e-8;
    expect_about(value_at(&q, "u", 0.5), 0.14053921440047, 1e-8);
    assert_int_equal(dae_problem_set_start(q.r.problem, "v", 10.5, &q.r.diag), DAE_OK);
    q.request.guess = DAE_BVP_GUESS_SIMULATE;
    solve(&q);
    assert_true(dae_bvp_statistics(q.b)->simulated);
    expect_about(value_at(&q, "v", 0.0), 10.84689901938945, 1e-6);
    expect_about(value_at(&q, "u", 0.5), 4.09146724618926, 2e-7);
    shut(&q);
}

/* The second solution from a table. */
static void test_table(void **state)
{
    (void)state;
    const double times[] = {0.0, 0.5, 1.0}, rows[] = {0.0, 4.0, 0.0};
    const char *const names[] = {"u"};
    bvp_run q;
    open_with(&q, bratu, 0, NULL);
    q.request.rows = 3;
    q.request.columns = 1;
    q.request.times = times;
    q.request.variables = names;
    q.request.values = rows;
    solve(&q);
    expect_about(value_at(&q, "v", 0.0), 10.84689901938945, 1e-6);
    const char *const wrong[] = {"w"};
    q.request.variables = wrong;
    expect_refused(&q, DAE_ERR_ARGUMENT, "column w");
    shut(&q);
}

/* y'' = l sinh(l y), y(0) = 0, y(1) = 1, l = 5: y'(0) = 0.0457504614, y'(1) = 12.1004954 (Roberts
 * and Shipman) */
static void test_troesch(void **state)
{
    (void)state;
    const char *const at_end[] = {"y = 1"};
    bvp_run q;
    open_with(&q,
              MODEL("  parameter Real l = 5;\n  Real y(start = 0, fixed = true);\n  Real v;\n"
                    "equation\n  der(y) = v;\n  der(v) = l*sinh(l*y);"),
              1, at_end);
    solve(&q);
    expect_about(value_at(&q, "v", 0.0), 0.0457504614063, 1e-8);
    /* v^2 - 2 cosh(l y) is constant */
    double v0 = value_at(&q, "v", 0.0), v1 = value_at(&q, "v", 1.0);
    expect_about(v1, sqrt(v0 * v0 + 2.0 * (cosh(5.0) - 1.0)), 1e-6);
    shut(&q);
}

/* The same with l = 10, and two names of y that are fixed: y'(0) = 3.583377845e-4 */
static void test_troesch_10(void **state)
{
    (void)state;
    const char *const at_end[] = {"y = 1"};
    bvp_run q;
    open_with(&q,
              MODEL("  parameter Real l = 10;\n  Real y(start = 0, fixed = true);\n  Real v;\n"
                    "  Real same(start = 0, fixed = true);\nequation\n  der(y) = v;\n"
                    "  der(v) = l*sinh(l*y);\n  same = y;"),
              1, at_end);
    q.request.atol = 1e-12;
    q.request.guess = DAE_BVP_GUESS_START;
    solve(&q);
    assert_int_equal(dae_bvp_statistics(q.b)->at_start, 1); /* two names of one unknown */
    expect_about(value_at(&q, "v", 0.0), 3.583377845e-4, 2e-12);
    shut(&q);
}

/* ---- parameters ---- */

/* u'' + k u = 0, u(0) = u(1) = 0, u'(0) = 1: k = pi^2 near 8, 4 pi^2 near 35 */
static void test_eigenvalue(void **state)
{
    (void)state;
    static const double PI = 3.14159265358979323846;
    const char *const at_end[] = {"u = 0"}, *const names[] = {"k"};
    bvp_run q;
    open_with(&q,
              MODEL("  parameter Real k = 8;\n  parameter Real k2 = k^2;\n"
                    "  Real u(start = 0, fixed = true);\n  Real v(start = 1, fixed = true);\n"
                    "equation\n  der(u) = v;\n  der(v) = -sqrt(k2)*u;"),
              1, at_end);
    q.request.unknown = names;
    q.request.unknown_count = 1;
    q.request.guess = DAE_BVP_GUESS_SIMULATE;
    solve(&q);
    expect_about(dae_bvp_parameter(q.b, 0), PI * PI, 2e-7);
    expect_about(value_at(&q, "u", 0.5), 1.0 / PI, 1e-7);
    assert_true(isnan(dae_bvp_parameter(q.b, 1)));
    assert_true(dae_problem_parameter_value(q.r.problem, 0) == 8.0); /* as it was */
    assert_int_equal(dae_problem_set_parameter(q.r.problem, "k", 35.0, &q.r.diag), DAE_OK);
    solve(&q);
    expect_about(dae_bvp_parameter(q.b, 0), 4.0 * PI * PI, 1e-6);
    shut(&q);
}

/* Mathieu: y'' + (l - 10 cos 2t) y = 0, y'(0) = y'(pi) = 0, y(0) = 1, near l = 15: l = 17.0966
 * (17.096582, Matlab's mat4bvp; a_4(5) = 17.0965816844) */
static void test_mathieu(void **state)
{
    (void)state;
    const char *const at_end[] = {"v = 0"}, *const names[] = {"l"};
    double rows[3 * 101], times[101];
    const char *const columns[] = {"y", "v"};
    bvp_run q;
    open_with(&q,
              MODEL("  parameter Real l = 15;\n  Real y(start = 1, fixed = true);\n"
                    "  Real v(start = 0, fixed = true);\nequation\n  der(y) = v;\n"
                    "  der(v) = -(l - 10*cos(2*time))*y;"),
              1, at_end);
    q.request.end = 3.14159265358979323846;
    for (int i = 0; i <= 100; i++) {
        times[i] = q.request.end * i / 100.0;
        rows[2 * i] = cos(4.0 * times[i]);
        rows[2 * i + 1] = -4.0 * sin(4.0 * times[i]);
    }
    q.request.unknown = names;
    q.request.unknown_count = 1;
    q.request.rows = 101;
    q.request.columns = 2;
    q.request.times = times;
    q.request.variables = columns;
    q.request.values = rows;
    solve(&q);
    expect_about(dae_bvp_parameter(q.b, 0), 17.0965816844, 1e-6);
    shut(&q);
}

/* The periodic epidemics of measles [AMR95 1.10]: parameters tie the ends. A run from the values
 * found comes back to them. */
static void test_measles(void **state)
{
    (void)state;
    const char *const names[] = {"s0", "e0", "i0"};
    const char *const at_end[] = {"s = s0", "e = e0", "i = i0"};
    bvp_run q;
    open_with(&q,
              MODEL("  parameter Real mu = 0.02, lambda = 0.0279, eta = 0.01, b0 = 1575;\n"
                    "  parameter Real s0 = 0.07, e0 = 3e-5, i0 = 5e-5;\n"
                    "  Real s(start = s0, fixed = true), e(start = e0, fixed = true);\n"
                    "  Real i(start = i0, fixed = true), beta;\nequation\n"
                    "  beta = b0*(1 + cos(2*3.14159265358979323846*time));\n"
                    "  der(s) = mu - beta*s*i;\n  der(e) = beta*s*i - e/lambda;\n"
                    "  der(i) = e/lambda - i/eta;"),
              3, at_end);
    q.request.atol = 1e-11;
    q.request.unknown = names;
    q.request.unknown_count = 3;
    solve(&q);
    q.r.options = dae_options_default();
    q.r.options.rtol = 1e-9;
    q.r.options.atol = 1e-14;
    for (int k = 0; k < 3; k++)
        assert_int_equal(
            dae_problem_set_parameter(q.r.problem, names[k], dae_bvp_parameter(q.b, k), &q.r.diag),
            DAE_OK);
    assert_int_equal(start_at(&q.r, 0.0), DAE_OK);
    assert_int_equal(dae_solver_run(q.r.solver, 1.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_variables(q.r.solver, 1.0, q.r.values), DAE_OK);
    for (int k = 0; k < 3; k++) {
        const double p = dae_bvp_parameter(q.b, k);
        assert_true(p > 0.0);
        expect_about(q.r.values[k], p, 1e-5 * p);
    }
    shut(&q);
}

/* ---- DAEs ---- */

/* Index 1: der(x) = z, der(w) = x, 0 = z^3 + z - w - w^3, so that z = w: sinh again, with an
 * algebraic variable in a condition. */
static void test_index_1(void **state)
{
    (void)state;
    const char *const at_end[] = {"z = 1"};
    bvp_run q;
    open_with(&q,
              MODEL("  Real x;\n  Real w(start = 0, fixed = true);\n  Real z;\nequation\n"
                    "  der(x) = z;\n  der(w) = x;\n  z^3 + z = w + w^3;"),
              1, at_end);
    solve(&q);
    for (int k = 0; k <= 20; k++)
        expect_about(value_at(&q, "z", k / 20.0), sinh(k / 20.0) / sinh(1.0), 5e-8);
    shut(&q);
}

static const char *const pendulum = MODEL(
    "  parameter Real g = 9.81;\n  Real x(start = 0.1, fixed = true);\n  Real y(start = -1);\n"
    "  Real u(start = 0.2);\n  Real v(start = 0);\n  Real f(start = 9.81);\nequation\n"
    "  der(x) = u;\n  der(y) = v;\n  der(u) = -f*x;\n  der(v) = -f*y - g;\n"
    "  x^2 + y^2 = 1;");

/* Index 3: a pendulum from x = 0.1 to x = 0.3 in 0.4 s. A run from the velocity found comes there;
 * angle: phi'' = -g sin(phi). */
static void test_pendulum(void **state)
{
    (void)state;
    const char *const at_end[] = {"x = 0.3"};
    bvp_run q, angle;
    open_with(&q, pendulum, 1, at_end);
    q.request.end = 0.4;
    solve(&q);
    assert_int_equal(dae_bvp_statistics(q.b)->states, 2);
    expect_about(value_at(&q, "x", 0.4), 0.3, 1e-9);
    const char *const phi_end[] = {"sin(phi) = 0.3"};
    open_with(&angle,
              MODEL("  Real phi(start = asin(0.1), fixed = true);\n  Real w;\nequation\n"
                    "  der(phi) = w;\n  der(w) = -9.81*sin(phi);"),
              1, phi_end);
    angle.request.end = 0.4;
    solve(&angle);
    for (int k = 0; k <= 10; k++) {
        double t = 0.04 * k, phi = value_at(&angle, "phi", t), w = value_at(&angle, "w", t);
        expect_about(value_at(&q, "x", t), sin(phi), 5e-8);
        expect_about(value_at(&q, "y", t), -cos(phi), 5e-8);
        expect_about(value_at(&q, "u", t), w * cos(phi), 5e-7);
        expect_about(value_at(&q, "f", t), w * w + 9.81 * cos(phi), 5e-6);
    }
    shut(&angle);
    shut(&q);
}

/* Index 2: a' = b, b' = a + 2 z, a + c = time, c' = z. z = 1 - b: b' = a + 2 - 2 b. */
static void test_index_2(void **state)
{
    (void)state;
    const char *const at_end[] = {"a = 1"};
    bvp_run q;
    open_with(&q,
              MODEL("  Real a(start = 0, fixed = true);\n  Real b;\n  Real c;\n  Real z;\n"
                    "equation\n  der(a) = b;\n  der(b) = a + 2*z;\n  a + c = time;\n"
                    "  der(c) = z;"),
              1, at_end);
    solve(&q);
    /* a'' + 2 a' - a = 2: a = -2 + p exp(r1 t) + s exp(r2 t), r = -1 +- sqrt 2 */
    const double r1 = -1.0 + sqrt(2.0), r2 = -1.0 - sqrt(2.0);
    const double p = (3.0 - 2.0 * exp(r2)) / (exp(r1) - exp(r2)), s = 2.0 - p;
    for (int k = 0; k <= 10; k++) {
        double t = 0.1 * k;
        expect_about(value_at(&q, "a", t), -2.0 + p * exp(r1 * t) + s * exp(r2 * t), 3e-8);
        expect_about(value_at(&q, "z", t), 1.0 - p * r1 * exp(r1 * t) - s * r2 * exp(r2 * t), 1e-7);
    }
    shut(&q);
}

/* ---- layers, ends that are free ---- */

/* e y'' = y + cos^2(pi t) + 2 e pi^2 cos(2 pi t), y(0) = y(1) = 0, layers at both ends: y =
 * (exp((t - 1)/r) + exp(-t/r))/(1 + exp(-1/r)) - cos^2(pi t), r = sqrt(e) */
static void test_layers(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846, r = sqrt(1e-5);
    const char *const at_end[] = {"y = 0"};
    bvp_run q;
    open_with(&q,
              MODEL("  parameter Real e = 1e-5;\n  constant Real pi = 3.14159265358979323846;\n"
                    "  Real y(start = 0, fixed = true);\n  Real v;\nequation\n  der(y) = v;\n"
                    "  e*der(v) = y + cos(pi*time)^2 + 2*e*pi^2*cos(2*pi*time);"),
              1, at_end);
    q.request.rtol = q.request.atol = 1e-6;
    solve(&q);
    for (int k = 0; k <= 1000; k++) {
        double t = k / 1000.0;
        double y =
            (exp((t - 1.0) / r) + exp(-t / r)) / (1.0 + exp(-1.0 / r)) - pow(cos(pi * t), 2.0);
        expect_about(value_at(&q, "y", t), y, 2e-6);
    }
    shut(&q);
}

/* The end is free: time is scaled by T. x' = T v, v' = -T g from v = 5 to v = -5: T = 10/g. */
static void test_free_end(void **state)
{
    (void)state;
    const char *const at_end[] = {"v = -5"}, *const names[] = {"T"};
    bvp_run q;
    open_with(&q,
              MODEL("  parameter Real T = 2;\n  Real x(start = 0, fixed = true);\n"
                    "  Real v(start = 5, fixed = true);\nequation\n  der(x) = T*v;\n"
                    "  der(v) = -T*9.81;"),
              1, at_end);
    q.request.unknown = names;
    q.request.unknown_count = 1;
    solve(&q);
    expect_about(dae_bvp_parameter(q.b, 0), 10.0 / 9.81, 1e-8);
    shut(&q);
}

/* ---- what is refused ---- */

static void test_counts(void **state)
{
    (void)state;
    const char *const two[] = {"y = 1", "v = 2"}, *const names[] = {"k"}, *const none[] = {"q"};
    const char *text = MODEL("  parameter Real k = 1;\n  parameter Integer n = 1;\n"
                             "  Real y(start = 0, fixed = true);\n  Real v(start = 1);\n"
                             "equation\n  der(y) = v;\n  der(v) = k*y;");
    bvp_run q;
    open_with(&q, text, 2, two);
    expect_refused(&q, DAE_ERR_ARGUMENT, "1 condition too many");
    q.request.unknown = none;
    q.request.unknown_count = 1;
    expect_refused(&q, DAE_ERR_ARGUMENT, "no parameter q");
    q.request.unknown = names;
    solve(&q);
    const char *const integer[] = {"n"};
    q.request.unknown = integer;
    expect_refused(&q, DAE_ERR_ARGUMENT, "n is no Real");
    q.request.unknown_count = 0;
    q.request.rtol = 1e-15;
    expect_refused(&q, DAE_ERR_TOLERANCE, "1e-15");
    q.request.rtol = 1e-6;
    q.request.end = 0.0;
    expect_refused(&q, DAE_ERR_ARGUMENT, "empty");
    shut(&q);
    open_with(&q, text, 0, NULL);
    expect_refused(&q, DAE_ERR_ARGUMENT, "missing");
    assert_non_null(strstr(q.r.diag.text, "start value of y"));
    shut(&q);
}

static void test_refused(void **state)
{
    (void)state;
    bvp_run q;
    open_with(&q,
              MODEL("  Real y(start = 0, fixed = true);\nequation\n"
                    "  der(y) = if y < 0.5 then 1 else 2;"),
              0, NULL);
    expect_refused(&q, DAE_ERR_UNSUPPORTED, "event");
    shut(&q);
    const char *const at_end[] = {"y = 1"};
    open_with(&q,
              MODEL("  Real y(start = 0, fixed = true);\n  Real v;\nequation\n  der(y) = v;\n"
                    "  der(v) = -exp(y) - 20;"),
              1, at_end);
    assert_true(try_solve(&q) < 0); /* beyond the fold of Bratu's problem */
    assert_non_null(strstr(q.r.diag.text, "Boundary values"));
    shut(&q);
    /* a condition that depends on nothing unknown */
    const char *const twice[] = {"y = 1", "2*y = 2"};
    open_with(&q, MODEL("  Real y;\n  Real v;\nequation\n  der(y) = v;\n  der(v) = y;"), 2, twice);
    expect_refused(&q, DAE_ERR_SINGULAR, "do not determine");
    shut(&q);
}

/* Conditions that are none. */
static void test_conditions(void **state)
{
    (void)state;
    const struct {
        const char *text, *words;
    } cases[] = {{"y", "left = right"}, {"y = ", "left = right"}, {"q = 1", "q"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_model m = {.text = MODEL("  Real y(start = 0);\nequation\n  der(y) = 1;"),
                       .file = "m.mo",
                       .terminal = &cases[k].text,
                       .terminal_count = 1};
        dae_problem *problem = NULL;
        dae_diag diag;
        assert_true(dae_problem_from_model(&m, &problem, &diag) < 0);
        assert_null(problem);
        if (!strstr(diag.text, cases[k].words)) print_error("%s\n", diag.text);
        assert_non_null(strstr(diag.text, cases[k].words));
    }
}

/* u'' = -k u with u = 0 at both ends: for k = pi^2 all c sin(pi t) are solutions, and the condition
 * says so; that of k = pi^2 - 1e-3 is about 1e3 times that of k = 5, which is far from there. */
static void test_not_unique(void **state)
{
    (void)state;
    const char *const at_end[] = {"u = 0"};
    bvp_run q;
    open_with(&q,
              MODEL("  parameter Real k = 5;\n  Real u(start = 0, fixed = true), v(start = 1);\n"
                    "equation\n  der(u) = v;\n  der(v) = -k*u;"),
              1, at_end);
    for (q.request.method = DAE_BVP_GAUSS; q.request.method <= DAE_BVP_RADAU; q.request.method++) {
        static const double k[] = {5.0, 9.868604401089358, 9.869604401089358};
        double found[3];
        for (int i = 0; i < 3; i++) {
            assert_int_equal(dae_problem_set_parameter(q.r.problem, "k", k[i], &q.r.diag), DAE_OK);
            solve(&q);
            found[i] = dae_bvp_statistics(q.b)->condition;
        }
        assert_true(found[0] >= 1.0 && found[0] < 1e3);
        assert_true(found[1] > 100.0 * found[0] && found[1] < 1e7);
        assert_true(found[2] > 1e12);
    }
    shut(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_unique),

        cmocka_unit_test(test_linear),     cmocka_unit_test(test_bratu),
        cmocka_unit_test(test_table),      cmocka_unit_test(test_troesch),
        cmocka_unit_test(test_troesch_10), cmocka_unit_test(test_eigenvalue),
        cmocka_unit_test(test_mathieu),    cmocka_unit_test(test_measles),
        cmocka_unit_test(test_index_1),    cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_index_2),    cmocka_unit_test(test_layers),
        cmocka_unit_test(test_free_end),   cmocka_unit_test(test_counts),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_conditions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
