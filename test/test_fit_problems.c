/* Fits of problems of the literature, through events, and of models of index 3. */
#include "model_run.h"

static void expect_about(double found, double exact, double tolerance)
{
    if (fabs(found - exact) <= tolerance) return;
    print_error("%.12g, not %.12g\n", found, exact);
    fail();
}

static dae_fit_result *fit_ok(run *r, const dae_fit_request *request)
{
    dae_fit_result *result = NULL;
    dae_status status = dae_fit(r->problem, request, &result, &r->diag);
    if (status != DAE_OK) print_error("%s\n", r->diag.text);
    assert_int_equal(status, DAE_OK);
    return result;
}

/* A number between 0 and 1, the same in all runs. */
static double next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (double)(1 << 24);
}

/* ---- alpha-pinene [BHME73] ---- */

static const char *const pinene =
    MODEL("  parameter Real th[5] = {5e-5, 3e-5, 2e-5, 3e-4, 5e-5};\n"
          "  Real y1(start = 100, fixed = true);\n  Real y2(start = 0, fixed = true);\n"
          "  Real y3(start = 0, fixed = true);\n  Real y4(start = 0, fixed = true);\n"
          "  Real y5(start = 0, fixed = true);\nequation\n  der(y1) = -(th[1] + th[2])*y1;\n"
          "  der(y2) = th[1]*y1;\n"
          "  der(y3) = th[2]*y1 - (th[3] + th[4])*y3 + th[5]*y5;\n  der(y4) = th[3]*y3;\n"
          "  der(y5) = th[4]*y3 - th[5]*y5;");

static const double pinene_times[] = {1230, 3060, 4920, 7800, 10680, 15030, 22620, 36420};
static const double pinene_values[] = {88.35, 7.3,  2.3, 0.4, 1.75, 76.4, 15.6, 4.5, 0.7, 2.8,
                                       65.1,  23.1, 5.3, 1.1, 5.8,  50.4, 32.9, 6.0, 1.5, 9.3,
                                       37.5,  42.7, 6.0, 1.9, 12.0, 25.9, 49.1, 5.9, 2.2, 17.0,
                                       14.0,  57.4, 5.1, 2.6, 21.0, 4.5,  63.1, 3.8, 2.9, 25.7};
/* as published, to the digits there */
static const double pinene_answer[] = {5.93e-5, 2.96e-5, 2.05e-5, 27.5e-5, 4.00e-5};

/* Every start, up to ten times the answer and down to a tenth of it, ends there. */
static void test_pinene(void **state)
{
    (void)state;
    enum { STARTS = 10 };
    static const char *const names[] = {"th[1]", "th[2]", "th[3]", "th[4]", "th[5]"};
    static const char *const columns[] = {"y1", "y2", "y3", "y4", "y5"};
    dae_fit_data data = {.rows = 8,
                         .columns = 5,
                         .times = pinene_times,
                         .variables = columns,
                         .values = pinene_values};
    run r;
    uint32_t seed = 1;
    prepare(&r, pinene);
    r.options.rtol = 1e-8;
    r.options.atol = 1e-8;
    for (int n = 0; n < STARTS; n++) {
        dae_fit_parameter p[5];
        for (int k = 0; k < 5; k++) {
            double factor = pow(10.0, 2.0 * next_random(&seed) - 1.0);
            p[k] = (dae_fit_parameter){names[k], pinene_answer[k] * factor, 0.0, INFINITY};
        }
        dae_fit_result *f = fit_ok(&r, &(dae_fit_request){.parameters = p,
                                                          .parameter_count = 5,
                                                          .data = &data,
                                                          .data_count = 1,
                                                          .options = &r.options});
        assert_int_equal(f->end, DAE_FIT_CONVERGED);
        expect_about(2.0 * f->cost, 19.87, 0.006);
        for (int k = 0; k < 5; k++)
            expect_about(f->values[k], pinene_answer[k], 0.006 * pinene_answer[k]);
        dae_fit_result_free(f);
    }
    end(&r);
}

/* ---- first-order reversible chain A <-> B <-> C [TB91], in closed form ---- */

static const char *const chain =
    MODEL("  parameter Real k1 = 1;\n  parameter Real k2 = 1;\n  parameter Real k3 = 1;\n"
          "  parameter Real k4 = 1;\n  Real A(start = 1, fixed = true);\n"
          "  Real B(start = 0, fixed = true);\n  Real C;\nequation\n  der(A) = -k1*A + k2*B;\n"
          "  der(B) = k1*A - (k2 + k3)*B + k4*C;\n  A + B + C = 1;");

enum { CHAIN_ROWS = 23 };

/* A, B, C of k = (4, 2, 40, 20): the distances from the equilibrium (1, 2, 4)/7 are sums of two
 * exponentials. */
static void chain_values(double t, double *y)
{
    const double root = sqrt(33.0 * 33.0 - 280.0), fast = -33.0 - root, slow = -33.0 + root;
    const double c = (-4.0 - fast * 6.0 / 7.0) / (slow - fast), d = 6.0 / 7.0 - c;
    const double a = c * exp(slow * t) + d * exp(fast * t);
    const double rate = c * slow * exp(slow * t) + d * fast * exp(fast * t);
    y[0] = 1.0 / 7.0 + a;
    y[1] = 2.0 / 7.0 + (rate + 4.0 * a) / 2.0;
    y[2] = 1.0 - y[0] - y[1];
}

static void test_chain(void **state)
{
    (void)state;
    static const double exact[] = {4.0, 2.0, 40.0, 20.0};
    static const char *const columns[] = {"A", "B", "C"};
    double times[CHAIN_ROWS], values[3 * CHAIN_ROWS];
    for (int i = 0; i < CHAIN_ROWS; i++) {
        times[i] = i < 10 ? 0.01 * i : 0.05 * (i - 8);
        chain_values(times[i], values + 3 * i);
    }
    dae_fit_data data = {
        .rows = CHAIN_ROWS, .columns = 3, .times = times, .variables = columns, .values = values};
    dae_fit_parameter p[] = {{"k1", 8.0, 0.0, 10.0},
                             {"k2", 8.0, 0.0, 10.0},
                             {"k3", 30.0, 10.0, 50.0},
                             {"k4", 30.0, 10.0, 50.0}};
    dae_fit_request request = {
        .parameters = p, .parameter_count = 4, .data = &data, .data_count = 1, .options = NULL};
    run r;
    prepare(&r, chain);
    request.options = &r.options;
    dae_fit_result *f = fit_ok(&r, &request);
    assert_int_equal(f->end, DAE_FIT_CONVERGED);
    for (int k = 0; k < 4; k++) expect_about(f->values[k], exact[k], 1e-5 * exact[k]);
    dae_fit_result_free(f);
    /* off by 0.001 up and down: the answer moves by some standard errors, which are small */
    for (int i = 0; i < 3 * CHAIN_ROWS; i++) values[i] += i % 2 ? 1e-3 : -1e-3;
    f = fit_ok(&r, &request);
    assert_int_equal(f->end, DAE_FIT_CONVERGED);
    for (int k = 0; k < 4; k++) {
        assert_true(f->errors[k] < 0.05 * exact[k]);
        expect_about(f->values[k], exact[k], 3.0 * f->errors[k]);
    }
    dae_fit_result_free(f);
    end(&r);
}

/* ---- through events ---- */

/* The height of a ball, dropped from 1 m, that keeps the part e of its speed. */
static double height(double e, double t)
{
    const double g = 9.81;
    double fall = sqrt(2.0 / g), v = sqrt(2.0 * g);
    if (t <= fall) return 1.0 - g * t * t / 2.0;
    for (t -= fall, v *= e; t > 2.0 * v / g; v *= e) t -= 2.0 * v / g;
    return v * t - g * t * t / 2.0;
}

static void test_ball(void **state)
{
    (void)state;
    enum { ROWS = 12 };
    static const char *const columns[] = {"h"};
    double times[ROWS], values[ROWS];
    for (int i = 0; i < ROWS; i++) {
        times[i] = 0.12 * i;
        values[i] = height(0.8, times[i]);
    }
    values[5] = NAN; /* not seen */
    dae_fit_data data = {
        .rows = ROWS, .columns = 1, .times = times, .variables = columns, .values = values};
    dae_fit_parameter p = {"e", 0.7, 0.1, 1.0};
    run r;
    prepare(&r, MODEL("  parameter Real e = 0.5;\n  parameter Real g = 9.81;\n"
                      "  Real h(start = 1, fixed = true);\n  Real v(start = 0, fixed = true);\n"
                      "equation\n  der(h) = v;\n  der(v) = -g;\n  when h <= 0 then\n"
                      "    reinit(v, -e*pre(v));\n  end when;"));
    dae_fit_result *f = fit_ok(&r, &(dae_fit_request){.parameters = &p,
                                                      .parameter_count = 1,
                                                      .data = &data,
                                                      .data_count = 1,
                                                      .options = &r.options});
    assert_int_equal(f->end, DAE_FIT_CONVERGED);
    assert_int_equal(f->observations, ROWS - 1);
    expect_about(f->values[0], 0.8, 1e-6);
    dae_fit_result_free(f);
    end(&r);
}

/* ---- index 3 ---- */

/* The angle of a pendulum of length 1.3, released at 1 rad from the vertical, by Runge and Kutta's
 * method of order 4 with steps of 1e-4. */
static double angle(double t)
{
    const double g = 9.81 / 1.3;
    const int steps = (int)ceil(t / 1e-4);
    const double h = steps > 0 ? t / steps : 0.0;
    double a = 1.0, w = 0.0;
    for (int i = 0; i < steps; i++) {
        double a1 = w, w1 = -g * sin(a), a2 = w + h / 2 * w1, w2 = -g * sin(a + h / 2 * a1);
        double a3 = w + h / 2 * w2, w3 = -g * sin(a + h / 2 * a2);
        double a4 = w + h * w3, w4 = -g * sin(a + h * a3);
        a += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        w += h / 6 * (w1 + 2 * w2 + 2 * w3 + w4);
    }
    return a;
}

static void test_pendulum(void **state)
{
    (void)state;
    enum { ROWS = 15 };
    static const char *const columns[] = {"x", "y"};
    double times[ROWS], values[2 * ROWS];
    for (int i = 0; i < ROWS; i++) {
        times[i] = 0.1 * (i + 1);
        values[2 * i] = 1.3 * sin(angle(times[i]));
        values[2 * i + 1] = -1.3 * cos(angle(times[i]));
    }
    dae_fit_data data = {
        .rows = ROWS, .columns = 2, .times = times, .variables = columns, .values = values};
    dae_fit_parameter p = {"L", 1.0, 0.5, 3.0};
    run r;
    prepare(&r, MODEL("  parameter Real L = 1;\n  parameter Real g = 9.81;\n"
                      "  Real x(start = L*sin(1), fixed = true);\n  Real y(start = -L*cos(1));\n"
                      "  Real vx(start = 0, fixed = true);\n  Real vy(start = 0);\n  Real F;\n"
                      "equation\n  der(x) = vx;\n  der(y) = vy;\n  der(vx) = -F*x;\n"
                      "  der(vy) = -F*y - g;\n  x^2 + y^2 = L^2;"));
    dae_fit_result *f = fit_ok(&r, &(dae_fit_request){.parameters = &p,
                                                      .parameter_count = 1,
                                                      .data = &data,
                                                      .data_count = 1,
                                                      .options = &r.options});
    assert_int_equal(f->end, DAE_FIT_CONVERGED);
    expect_about(f->values[0], 1.3, 1e-6);
    dae_fit_result_free(f);
    end(&r);
}

/* ---- several experiments, and curves ---- */

static const char *const arrhenius =
    MODEL("  parameter Real A = 1;\n  parameter Real E = 1;\n  parameter Real T = 300;\n"
          "  Real x(start = 1, fixed = true);\nequation\n  der(x) = -A*exp(-E*1000/T)*x;");

/* Rates at two temperatures tell A and E, and at one only their combination. Their start value is
 * x0 in the second. */
static void test_experiments(void **state)
{
    (void)state;
    enum { ROWS = 6 };
    static const char *const columns[] = {"x"};
    const double T[] = {300.0, 400.0}, x0[] = {1.0, 2.0};
    double times[ROWS], values[2][ROWS], curve[ROWS];
    const dae_setting settings[] = {{"T", 400.0}, {"x", 2.0}};
    dae_fit_data data[2];
    for (int d = 0; d < 2; d++) {
        for (int i = 0; i < ROWS; i++) {
            times[i] = 0.4 * i;
            values[d][i] = x0[d] * exp(-30.0 * exp(-1.2e3 / T[d]) * times[i]);
        }
        data[d] = (dae_fit_data){.rows = ROWS,
                                 .columns = 1,
                                 .times = times,
                                 .variables = columns,
                                 .values = values[d],
                                 .settings = d == 1 ? settings : NULL,
                                 .setting_count = d == 1 ? 2 : 0};
    }
    dae_fit_parameter p[] = {{"A", 20.0, 0.0, INFINITY}, {"E", 1.0, 0.0, 10.0}};
    dae_fit_request request = {
        .parameters = p, .parameter_count = 2, .data = data, .data_count = 2};
    run r;
    prepare(&r, arrhenius);
    request.options = &r.options;
    dae_fit_result *f = fit_ok(&r, &request);
    assert_int_equal(f->end, DAE_FIT_CONVERGED);
    assert_int_equal(f->rank, 2);
    expect_about(f->values[0], 30.0, 1e-4);
    expect_about(f->values[1], 1.2, 1e-6);
    assert_true(f->starts[0] == 20.0 && f->starts[1] == 1.0);
    assert_int_equal(dae_fit_curves(r.problem, &request, f->values, &data[1], curve, &r.diag),
                     DAE_OK);
    for (int i = 0; i < ROWS; i++) expect_about(curve[i], values[1][i], 1e-6);
    /* the problem is as it was */
    assert_true(dae_problem_parameter_value(r.problem, 2) == 300.0);
    dae_fit_result_free(f);
    request.data_count = 1;
    f = fit_ok(&r, &request);
    assert_int_equal(f->rank, 1);
    assert_non_null(strstr(f->text, "A, E cannot be told apart"));
    dae_fit_result_free(f);
    end(&r);
}

/* ---- what ends a search ---- */

typedef struct patience {
    int asked, most;
} patience;

static int impatient(void *user)
{
    patience *p = user;
    return ++p->asked > p->most;
}

/* An interrupt behind the first run leaves the best point, at whatever step it comes. */
static void test_interrupted(void **state)
{
    (void)state;
    static const char *const columns[] = {"x"};
    double times[] = {0.5, 1.0, 1.5}, values[] = {1.0, 0.6, 0.4};
    dae_fit_data data = {
        .rows = 3, .columns = 1, .times = times, .variables = columns, .values = values};
    dae_fit_parameter p[] = {{"A", 20.0, 0.0, INFINITY}, {"x", 1.0, 0.0, INFINITY}};
    dae_fit_request request = {
        .parameters = p, .parameter_count = 2, .data = &data, .data_count = 1};
    int stopped = 0, first = 0;
    double cost = INFINITY;
    for (int most = 1; most < 100000; most = most + most / 8 + 1) {
        run r;
        patience asked = {.most = most};
        dae_fit_result *f = NULL;
        prepare(&r, arrhenius);
        r.options.message = NULL;
        r.options.interrupt = impatient;
        r.options.user = &asked;
        request.options = &r.options;
        dae_status status = dae_fit(r.problem, &request, &f, &r.diag);
        bool done = status == DAE_OK && f->end == DAE_FIT_CONVERGED;
        if (status != DAE_OK) {
            assert_int_equal(status, DAE_ERR_INTERRUPTED);
            assert_null(f);
            first++;
        } else if (!done) {
            assert_int_equal(f->end, DAE_FIT_STOPPED);
            assert_true(f->cost <= cost);
            assert_true(f->values[0] > 0.0);
            cost = f->cost;
            stopped++;
        }
        dae_fit_result_free(f);
        end(&r);
        if (done) break;
    }
    assert_true(first > 0 && stopped > 1);
}

/* What is not finite is no minimum: at the start it is an error, behind it a bad point. */
static void test_not_finite(void **state)
{
    (void)state;
    static const char *const columns[] = {"y"};
    double times[] = {1.0, 2.0}, values[] = {log(exp(-1.0) + 0.1), log(exp(-2.0) + 0.1)};
    dae_fit_data data = {
        .rows = 2, .columns = 1, .times = times, .variables = columns, .values = values};
    dae_fit_parameter p = {.name = "k", .start = -0.2};
    dae_fit_request request = {
        .parameters = &p, .parameter_count = 1, .data = &data, .data_count = 1};
    dae_fit_result *f = NULL;
    run r;
    prepare(&r, MODEL("  parameter Real k = 1;\n  Real x(start = 1, fixed = true);\n  Real y;\n"
                      "equation\n  der(x) = -x;\n  y = log(k + x);"));
    r.options.message = NULL;
    request.options = &r.options;
    assert_true(dae_fit(r.problem, &request, &f, &r.diag) != DAE_OK);
    assert_null(f);
    assert_non_null(strstr(r.diag.text, "y is "));
    /* the first steps from 20 go far below 0, where there is no logarithm */
    p.start = 20.0;
    f = fit_ok(&r, &request);
    assert_int_equal(f->end, DAE_FIT_CONVERGED);
    expect_about(f->values[0], 0.1, 1e-6);
    dae_fit_result_free(f);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pinene),      cmocka_unit_test(test_chain),
        cmocka_unit_test(test_ball),        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_experiments), cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_not_finite)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
