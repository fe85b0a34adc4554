/* Gradients of problems from callbacks, and of integrands from callbacks. */
#include "model_run.h"

/* All of this holds for each kind of adjoint: this is the one at hand. */
static const dae_adjoint_request *kind;
static const dae_adjoint_request kinds[] = {
    {.kind = DAE_ADJOINT_DISCRETE},
    {.kind = DAE_ADJOINT_CONTINUOUS},
    {.kind = DAE_ADJOINT_CONTINUOUS, .unchecked = 1},
    {.kind = DAE_ADJOINT_CONTINUOUS, .checkpoints = 4, .memory = 1e5},
};

/* y0' = -p0 y0, y1^3 = p1 y0: y0 = a exp(-p0 t), y1 = (p1 y0)^(1/3). Parameters: p0, p1, and a by
 * start values. */
static int residual(double t, const double *y, const double *yp, double *f, void *user)
{
    const double *p = user;
    (void)t;
    f[0] = yp[0] + p[0] * y[0];
    f[1] = y[1] * y[1] * y[1] - p[1] * y[0];
    return 0;
}

static int by_parameter(double t, const double *y, const double *yp, int k, double *f, void *user)
{
    (void)t, (void)yp, (void)user;
    f[0] = k == 0 ? y[0] : 0.0;
    f[1] = k == 1 ? -y[0] : 0.0;
    return 0;
}

/* J_0: p0 t y0^2; J_1: nothing. With user: it fails beyond that time. */
static int integrand(double t, const double *v, int m, double *g, double *dv, double *dp,
                     void *user)
{
    const double *most = user;
    if (most && t > *most) return 1;
    if (m != 0) return 0;
    *g = 0.5 * t * v[0] * v[0];
    dv[0] = t * v[0];
    dp[0] = t * v[0]; /* as if it had p0 v0 beside */
    *g += 0.5 * t * v[0];
    dv[0] += 0.5 * t;
    return 0;
}

typedef struct setting {
    double p[3];
    dae_problem *problem;
    dae_solver *solver;
    dae_diag diag;
} setting;

static const double start[] = {1.0, 2.0}, start_slope[] = {-0.5, -1.0 / 3.0};
static const double by_start[] = {0, 0, 0, 0, 1, 0}; /* of p0, p1 and a */

static void open_setting(setting *q, double rtol)
{
    *q = (setting){.p = {0.5, 8.0, 1.0}};
    dae_residual form = {.n = 2, .f = residual, .user = q->p};
    dae_options options = dae_options_default();
    options.rtol = rtol;
    options.atol = 1e-3 * rtol;
    assert_int_equal(dae_problem_from_residual(&form, &q->problem, &q->diag), DAE_OK);
    assert_int_equal(dae_solver_new(q->problem, &options, &q->solver, &q->diag), DAE_OK);
}

static void close_setting(setting *q)
{
    dae_solver_free(q->solver);
    dae_problem_free(q->problem);
}

static void expect_number(const char *what, int k, double found, double asked, double close)
{
    if (fabs(found - asked) <= close * fmax(fabs(asked), 1e-3)) return;
    print_error("%s by %d: %.15g, not %.15g\n", what, k, found, asked);
    fail();
}

static void run_to(setting *q, double t)
{
    dae_status status = dae_solver_run(q->solver, t, NULL, NULL);
    if (status != DAE_OK) print_error("%s\n", dae_solver_diag(q->solver)->text);
    assert_int_equal(status, DAE_OK);
}

/* y1 at 1 and 2, and integrals, in closed form; derivatives given, or by differences. */
static void test_closed_forms(void **state)
{
    (void)state;
    static const double at[] = {0.0, 1.0};
    for (int i = 0; i < 2; i++) {
        setting q;
        dae_adjoint *adjoint = NULL;
        const double rtol = 1e-8;
        double gradient[3], point[3] = {0}, value;
        open_setting(&q, rtol);
        dae_adjoint_request request = *kind;
        request.count = 3;
        request.functionals = 2;
        request.y0 = by_start;
        request.derivative = i == 0 ? by_parameter : NULL;
        request.values = i == 0 ? NULL : q.p;
        request.integrand = integrand;
        assert_int_equal(dae_adjoint_new(q.solver, &request, &adjoint, &q.diag), DAE_OK);
        assert_int_equal(dae_solver_start(q.solver, 0.0, start, start_slope), DAE_OK);
        assert_int_equal(dae_adjoint_point(adjoint, 1, at), DAE_OK); /* at the start: p1^(1/3) */
        point[1] = 2.0 / 24.0;
        point[2] = 2.0 / 3.0;
        for (int n = 1; n <= 2; n++) {
            run_to(&q, n);
            assert_int_equal(dae_adjoint_point(adjoint, 1, at), DAE_OK);
            const double y1 = 2.0 * exp(-0.5 * n / 3.0);
            point[0] -= n / 3.0 * y1;
            point[1] += y1 / 24.0;
            point[2] += y1 / 3.0;
        }
        assert_int_equal(dae_adjoint_gradient(adjoint, 1, gradient), DAE_OK);
        for (int k = 0; k < 3; k++) expect_number("points", k, gradient[k], point[k], 100.0 * rtol);
        /* J_0 = 1/2 integral of t (y0^2 + y0), y0 = a exp(-p t), p = 0.5, a = 1, T = 2; with
         * A(c) = integral of t exp(-c t), dA/dc = B(c) = - integral of t^2 exp(-c t) */
        const double e1 = exp(-1.0), e2 = exp(-2.0);
        const double A1 = 4.0 - 8.0 * e1, A2 = 1.0 - 3.0 * e2; /* c = 0.5, 1 */
        const double B1 = -(16.0 - 40.0 * e1), B2 = -(2.0 - 10.0 * e2);
        const double exact[3] = {0.5 * (2.0 * B2 + B1) + A1, 0.0, 0.5 * (2.0 * A2 + A1)};
        assert_int_equal(dae_adjoint_gradient(adjoint, 0, gradient), DAE_OK);
        for (int k = 0; k < 3; k++)
            expect_number("integral", k, gradient[k], exact[k], 100.0 * rtol);
        assert_int_equal(dae_adjoint_value(adjoint, 0, &value), DAE_OK);
        expect_number("value", 0, value, 0.5 * (A1 + A2), 100.0 * rtol);
        assert_true(q.p[0] == 0.5 && q.p[1] == 8.0 && q.p[2] == 1.0); /* put back */
        dae_adjoint_free(adjoint);
        close_setting(&q);
    }
}

/* One parameter: sensitivities take the same steps, and both agree to rounding. */
static void test_forward_and_back(void **state)
{
    (void)state;
    static const double at[] = {0.3, 1.0};
    for (int i = 0; i < 2; i++) {
        setting q;
        dae_adjoint *adjoint = NULL;
        dae_sensitivity *x = NULL;
        double gradient, slopes[2];
        open_setting(&q, 1e-6);
        dae_adjoint_request back = *kind;
        back.count = back.functionals = 1;
        dae_sensitivity_request forward = {.count = 1};
        if (i == 0) back.derivative = forward.derivative = by_parameter;
        if (i == 1) back.values = forward.values = q.p;
        assert_int_equal(dae_adjoint_new(q.solver, &back, &adjoint, &q.diag), DAE_OK);
        assert_int_equal(dae_solver_start(q.solver, 0.0, start, start_slope), DAE_OK);
        run_to(&q, 2.0);
        assert_int_equal(dae_adjoint_point(adjoint, 0, at), DAE_OK);
        assert_int_equal(dae_adjoint_gradient(adjoint, 0, &gradient), DAE_OK);
        dae_adjoint_free(adjoint);
        assert_int_equal(dae_sensitivity_new(q.solver, &forward, &x, &q.diag), DAE_OK);
        assert_int_equal(dae_solver_start(q.solver, 0.0, start, start_slope), DAE_OK);
        run_to(&q, 2.0);
        assert_int_equal(dae_sensitivity_at(x, 2.0, 0, slopes), DAE_OK);
        expect_number("both", i, gradient, 0.3 * slopes[0] + slopes[1],
                      kind->kind == DAE_ADJOINT_DISCRETE ? 1e-10 : 100.0 * 1e-6);
        dae_sensitivity_free(x);
        close_setting(&q);
    }
}

/* J = integral of x^2/2 of a model, with x = x0 exp(-k t). */
static int half_square(double t, const double *v, int m, double *g, double *dv, double *dp,
                       void *user)
{
    const int i = *(const int *)user;
    (void)t, (void)m, (void)dp;
    *g = 0.5 * v[i] * v[i];
    dv[i] = v[i];
    return 0;
}

static void test_integrand_of_model(void **state)
{
    (void)state;
    static const char *const by[] = {"k"};
    run r;
    dae_adjoint *adjoint = NULL;
    double gradient;
    prepare(&r, MODEL("  parameter Real k = 2;\n  Real x(start = 3, fixed = true);\nequation\n"
                      "  der(x) = -k*x;"));
    int i = dae_problem_find_variable(r.problem, "x");
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    dae_adjoint_request request = *kind;
    request.count = request.functionals = 1;
    request.names = by;
    request.integrand = half_square;
    request.integrand_user = &i;
    assert_int_equal(dae_adjoint_new(r.solver, &request, &adjoint, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(r.solver, 1.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_adjoint_gradient(adjoint, 0, &gradient), DAE_OK);
    /* 9 (1 - exp(-2 k))/(4 k) */
    const double e = exp(-4.0);
    expect_number("integral", 0, gradient, 9.0 * (2.0 * e / 8.0 - (1.0 - e) / 16.0), 1e-5);
    dae_adjoint_free(adjoint);
    end(&r);
}

static void test_refusals(void **state)
{
    (void)state;
    setting q;
    dae_adjoint *adjoint = NULL;
    double most = 0.5;
    open_setting(&q, 1e-6);
    dae_adjoint_request nothing = {.count = 3, .functionals = 1};
    assert_int_equal(dae_adjoint_new(q.solver, &nothing, &adjoint, &q.diag), DAE_ERR_ARGUMENT);
    assert_null(adjoint);
    dae_adjoint_request failing = {.count = 3,
                                   .functionals = 1,
                                   .derivative = by_parameter,
                                   .integrand = integrand,
                                   .integrand_user = &most};
    assert_int_equal(dae_adjoint_new(q.solver, &failing, &adjoint, &q.diag), DAE_OK);
    assert_int_equal(dae_solver_start(q.solver, 0.0, start, start_slope), DAE_OK);
    assert_int_equal(dae_solver_run(q.solver, 2.0, NULL, NULL), DAE_ERR_CALLBACK);
    assert_non_null(strstr(dae_solver_diag(q.solver)->text, "integrand of functional 0 failed"));
    double gradient[3];
    assert_int_equal(dae_adjoint_gradient(adjoint, 0, gradient), DAE_ERR_STATE);
    dae_adjoint_free(adjoint);
    close_setting(&q);
    run r;
    prepare(&r, MODEL("  parameter Real k = 2;\n  Real x(start = 3, fixed = true);\nequation\n"
                      "  der(x) = -k*x;"));
    static const char *const by[] = {"k"};
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    dae_adjoint_request both = {.count = 1, .names = by, .functionals = 1, .values = &most};
    assert_int_equal(dae_adjoint_new(r.solver, &both, &adjoint, &r.diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(r.diag.text, "for callbacks"));
    end(&r);
}

/* Integrated again with other numbers the run has other values: that is seen, and they are not used
 * later. */
static void test_changed(void **state)
{
    static const double at[] = {0.0, 1.0};
    double gradient[2][3] = {{0}};
    (void)state;
    for (int i = 0; i < 2 && kind->checkpoints > 0; i++) {
        setting q;
        dae_adjoint *adjoint = NULL;
        open_setting(&q, 1e-8);
        dae_adjoint_request request = *kind;
        request.count = 3;
        request.functionals = 1;
        request.y0 = by_start;
        request.values = q.p;
        assert_int_equal(dae_adjoint_new(q.solver, &request, &adjoint, &q.diag), DAE_OK);
        assert_int_equal(dae_solver_start(q.solver, 0.0, start, start_slope), DAE_OK);
        run_to(&q, 2.0);
        assert_int_equal(dae_adjoint_point(adjoint, 0, at), DAE_OK);
        if (i == 1) {
            q.p[0] = 0.5 + 1e-9;
            assert_true(dae_adjoint_gradient(adjoint, 0, gradient[1]) < 0);
            assert_non_null(strstr(dae_solver_diag(q.solver)->text, "other values"));
            q.p[0] = 0.5;
        }
        assert_int_equal(dae_adjoint_gradient(adjoint, 0, gradient[i]), DAE_OK);
        dae_adjoint_free(adjoint);
        close_setting(&q);
    }
    assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_forward_and_back),
        cmocka_unit_test(test_integrand_of_model), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_changed)};
    int failed = 0;
    for (kind = kinds; kind < kinds + sizeof kinds / sizeof *kinds; kind++)
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
