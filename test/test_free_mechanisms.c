/* Mechanisms in texts: without constraints, and with matrices that are parameters with zeros. */
#include "model_run.h"

/* A planet, e = 0.6: energy -1/2, period 2 pi. */
static const char *const orbit =
    MODEL("Real x(start = 0.4, fixed = true), y(start = 0, fixed = true), r;\n"
          "Real u(start = 0, fixed = true), v(start = 2, fixed = true), H;\nequation\n"
          " r = sqrt(x^2 + y^2);\n der(x) = u; der(y) = v;\n der(u) = -x/r^3; der(v) = -y/r^3;\n"
          " H = (u^2 + v^2)/2 - 1/r;");

/* Largest error of the energy at the ends of steps. */
static double energy_error(const char *method, double h)
{
    run r;
    double worst = 0.0;
    prepare(&r, orbit);
    r.options.method = method;
    r.options.fixed_step = h;
    OK(start_at(&r, 0.0));
    for (int k = 0; k < (int)(12.0 / h + 0.5); k++) {
        assert_true(dae_solver_step(r.solver, 12.0) >= 0);
        worst = fmax(worst, fabs(value(&r, "H") + 0.5));
    }
    end(&r);
    return worst;
}

/* Symplectic methods keep the energy to the order of the method, over two turns [HLW06 IX]. */
static void symplectic_methods_run(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int order;
        double h;
    } methods[] = {{"symplectic_euler", 1, 1e-3}, {"shake", 2, 0.005},    {"rattle", 2, 0.005},
                   {"rattle:4", 4, 0.01},         {"lobatto:4", 4, 0.01}, {"rattle:6", 6, 0.02},
                   {"lobatto:6", 6, 0.02},        {"rattle:8", 8, 0.06}};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        double coarse = energy_error(methods[k].name, methods[k].h);
        double fine = energy_error(methods[k].name, 0.5 * methods[k].h);
        double order = log2(coarse / fine);
        if (!(coarse < 0.05 && order > methods[k].order - 0.6))
            fail_msg("%s: energy off by %g, order %g", methods[k].name, coarse, order);
    }
}

/* The analysis tells of it: two positions, no multipliers. */
static void analysis_tells(void **state)
{
    (void)state;
    dae_analysis *a = NULL;
    dae_diag diag;
    const dae_model model = {.text = orbit, .file = "orbit.mo"};
    assert_int_equal(dae_model_analyse(&model, 0.0, &a, &diag), DAE_OK);
    assert_int_equal(a->positions, 2);
    assert_int_equal(a->multipliers, 0);
    dae_analysis_free(a);
}

/* Explicit and extrapolation methods for mechanisms take it, too; auto leaves it to others. */
static void other_methods_run(void **state)
{
    (void)state;
    static const char *const methods[] = {"prk", "midex", "auto", "dopri:8", "hem:5"};
    const double period = 2.0 * acos(-1.0);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        run r;
        prepare(&r, orbit);
        r.options.method = methods[k];
        r.options.rtol = r.options.atol = 1e-9;
        OK(start_at(&r, 0.0));
        OK(dae_solver_run(r.solver, period, NULL, NULL));
        expect_near(&r, "x", 0.4, 1e-6, __LINE__);
        expect_near(&r, "v", 2.0, 1e-6, __LINE__);
        if (k == 2) assert_string_not_equal(dae_solver_method(r.solver), "prk");
        end(&r);
    }
}

/* Largest ratio of what the output is off from the plain steps to |H - H0|/|grad H|, the way to the
 * manifold H = H0; *drift: of H in the output. */
static double way_of_output(const char *method, double h, double *drift)
{
    static const char *const names[] = {"H"}, *const x[] = {"x", "y", "u", "v"};
    run plain, shown;
    double worst = 0.0;
    prepare(&plain, orbit);
    prepare(&shown, orbit);
    plain.options.method = shown.options.method = method;
    plain.options.fixed_step = shown.options.fixed_step = h;
    shown.options.invariants = names;
    shown.options.invariant_count = 1;
    shown.options.invariants_in_output = true;
    expect_ok(&plain, start_at(&plain, 0.0), __LINE__);
    expect_ok(&shown, start_at(&shown, 0.0), __LINE__);
    *drift = 0.0;
    for (int k = 0; k < (int)(60.0 / h + 0.5); k++) {
        assert_true(dae_solver_step(plain.solver, 60.0) >= 0);
        assert_true(dae_solver_step(shown.solver, 60.0) >= 0);
        double radius = value(&plain, "r"), u = value(&plain, "u"), v = value(&plain, "v");
        double way = fabs(value(&plain, "H") + 0.5) / sqrt(1.0 / pow(radius, 4.0) + u * u + v * v);
        double off = 0.0;
        for (int i = 0; i < 4; i++) off = hypot(off, value(&shown, x[i]) - value(&plain, x[i]));
        worst = fmax(worst, off / (way + 1e-9));
        *drift = fmax(*drift, fabs(value(&shown, "H") + 0.5));
    }
    end(&plain);
    end(&shown);
    return worst;
}

/* The output is projected onto H = H0, the nearest point; the steps go on as if it were not [HW96
 * VII.2, the remedy below Figure 2.3]. */
static void invariants_in_output_alone(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double h;
    } methods[] = {
        {"symplectic_euler", 0.005}, {"shake", 0.02}, {"rattle", 0.02}, {"lobatto:4", 0.05}};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        double drift, ratio = way_of_output(methods[k].name, methods[k].h, &drift);
        if (!(ratio < 10.0 && drift < 1e-8)) /* near: the metric is not Euclidean */
            fail_msg("%s: %g times the way to H = H0, which drifts by %g", methods[k].name, ratio,
                     drift);
    }
}

/* With zeros in M and in the gradient: recognised, and the same as the plain pendulum, whose end is
 * in models/pendulum.ref. */
static void zeros_in_parameters(void **state)
{
    (void)state;
    static const char *const text =
        MODEL("parameter Real M[3, 3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 2}}, D[3, 3] = zeros(3, 3);\n"
              "parameter Real c[3] = {1, 1, 0};\n"
              "Real q[3](start = {1, 0, 0}), v[3](start = {0, 0, 0.5}), lambda;\nequation\n"
              " der(q) = v;\n"
              " M*der(v) = -D*v - lambda*{c[1]*q[1], c[2]*q[2], c[3]*q[3]} - {0, 1, 0};\n"
              " c[1]*q[1]^2 + c[2]*q[2]^2 + c[3]*q[3]^2 = 1;");
    run r;
    prepare(&r, text);
    OK(start_at(&r, 0.0));
    assert_string_equal(dae_solver_method(r.solver), "prk");
    OK(dae_solver_run(r.solver, 10.0, NULL, NULL));
    expect_near(&r, "q[1]", -0.8115864461913038, 1e-7, __LINE__);
    expect_near(&r, "q[2]", -0.5842323513453959, 1e-7, __LINE__);
    expect_near(&r, "q[3]", 5.0, 1e-7, __LINE__);
    expect_near(&r, "lambda", 1.752697054036187, 1e-6, __LINE__);
    end(&r);
}

/* A matrix that is not symmetric is none of a mechanism, and says so. */
static void asymmetric_masses(void **state)
{
    (void)state;
    static const char *const text =
        MODEL("parameter Real M[2, 2] = {{1, 0.5}, {0, 1}};\n"
              "Real q[2](start = {1, 0}), v[2], lambda;\nequation\n der(q) = v;\n"
              " M*der(v) = -lambda*q - {0, 1};\n q[1]^2 + q[2]^2 = 1;");
    run r;
    prepare(&r, text);
    r.options.method = "prk";
    dae_status status = start_at(&r, 0.0);
    assert_int_equal(status, DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(diag_of(&r)->text, "not symmetric"));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symplectic_methods_run), cmocka_unit_test(other_methods_run),
        cmocka_unit_test(analysis_tells),         cmocka_unit_test(invariants_in_output_alone),
        cmocka_unit_test(zeros_in_parameters),    cmocka_unit_test(asymmetric_masses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
