/* dae_solver_new plans and binds a model for its start values; the start uses that only where it is
 * asked for the same, and says all that there is to say. */
#include "model_run.h"

#define PENDULUM                                                                                   \
    MODEL("  parameter Real g = 9.81, L = 1;\n"                                                    \
          "  Real x(start = 1, fixed = true), y(start = 0), vx(start = 0, fixed = true), vy, l;\n" \
          "equation\n"                                                                             \
          "  der(x) = vx; der(y) = vy;\n"                                                          \
          "  der(vx) = -l*x; der(vy) = -l*y - g;\n"                                                \
          "  x^2 + y^2 = L^2;")

/* ---- the method is known before the start ---- */

static void method_is_chosen_by_new(void **unused)
{
    (void)unused;
    run r;
    prepare(&r, PENDULUM);
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    const char *before = dae_solver_method(r.solver);
    char choice[200];
    snprintf(choice, sizeof choice, "%s", dae_solver_choice(r.solver));
    WORDS(choice, "mechanism");
    OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
    assert_string_equal(before, dae_solver_method(r.solver));
    assert_string_equal(choice, dae_solver_choice(r.solver));
    end(&r);
}

/* The choice of `auto` is that of a fresh problem, whatever other solvers have made of it. */
static void choice_does_not_depend_on_others(void **unused)
{
    (void)unused;
    run r;
    char alone[40] = "";
    for (int k = 0; k < 2; k++) {
        prepare(&r, MODEL("  Real h(start = 1, fixed = true), v(start = 0, fixed = true);\n"
                          "equation\n  der(h) = v; der(v) = -9.81;\n"
                          "  when h <= 0 then\n    reinit(v, -0.8*pre(v));\n  end when;"));
        if (k == 1) {
            dae_solver *other = NULL;
            r.options.method = "prk";
            OK(dae_solver_new(r.problem, &r.options, &other, &r.diag));
            OK(dae_solver_start(other, 0.0, NULL, NULL));
            dae_solver_free(other);
            r.options.method = "auto";
        }
        OK(start_at(&r, 0.0));
        if (k == 0) snprintf(alone, sizeof alone, "%s", dae_solver_method(r.solver));
        assert_string_equal(dae_solver_method(r.solver), alone);
        end(&r);
    }
}

/* ---- what changes after new counts ---- */

static void parameter_after_new(void **unused)
{
    (void)unused;
    run r;
    prepare(&r, MODEL("  parameter Real a = 1;\n  Real x(start = 1, fixed = true), y;\nequation\n"
                      "  der(x) = -a*y;\n  y = if a > 2 then 2*x else x;"));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    OK(dae_problem_set_parameter(r.problem, "a", 3.0, &r.diag));
    OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
    EXACTLY("y", 2.0);
    OK(step_to(&r, 0.5));
    NEAR("x", exp(-3.0));
    end(&r);
}

/* The same where the equations are compiled into series, and where a = 0 changes the index. */
static void parameter_of_series(void **unused)
{
    (void)unused;
    run r;
    prepare(&r, MODEL("  parameter Real a = 1;\n  Real x, v, u, w;\nequation\n"
                      "  der(x) = v; der(v) = u; der(u) = w;\n  x = sin(a*time);"));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    OK(dae_problem_set_parameter(r.problem, "a", 2.0, &r.diag));
    OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
    OK(step_to(&r, 1.0));
    NEAR("x", sin(2.0));
    NEAR("v", 2.0 * cos(2.0));
    OK(dae_problem_set_parameter(r.problem, "a", 3.0, &r.diag));
    OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
    OK(step_to(&r, 1.0));
    NEAR("x", sin(3.0));
    end(&r);
}

static void parameter_of_index(void **unused)
{
    (void)unused;
    run r;
    prepare(&r, MODEL("  parameter Real a = 1;\n  Real x, v, z;\nequation\n"
                      "  der(x) = v; der(v) = -z;\n  a*z = x - cos(time);"));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    OK(dae_problem_set_parameter(r.problem, "a", 0.0, &r.diag));
    OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
    NEAR("z", 1.0);
    OK(step_to(&r, 1.0));
    NEAR("z", cos(1.0));
    end(&r);
}

/* Fixed values are those of this start: p = q |q|, so that q = sqrt(p). */
static void fixed_values_of_each_start(void **unused)
{
    (void)unused;
    run r;
    prepare(&r, MODEL("  Real q(start = 1), p(start = 1, fixed = true);\nequation\n"
                      "  der(p) = -q;\n  p = if q > 0 then q^2 else -q^2;"));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    static const double p[] = {0.25, 0.64, 0.09};
    for (int k = 0; k < 3; k++) {
        OK(dae_problem_set_start(r.problem, "p", p[k], &r.diag));
        OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
        EXACTLY("p", p[k]);
        NEAR("q", sqrt(p[k]));
    }
    end(&r);
}

static void start_value_after_new(void **unused)
{
    (void)unused;
    run r;
    prepare(&r, MODEL("  Real x(start = -1, fixed = true), y;\nequation\n"
                      "  der(x) = y;\n  y = if x > 0 then 1 else 2;"));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    OK(dae_problem_set_start(r.problem, "x", 5.0, &r.diag));
    OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
    EXACTLY("y", 1.0);
    EXACTLY("x", 5.0);
    end(&r);
}

static void given_values(void **unused)
{
    (void)unused;
    run r;
    prepare(&r, MODEL("  Real x(start = -1), y(start = 2);\nequation\n"
                      "  der(x) = y;\n  y = if x > 0 then 1 else 2;"));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    const double y0[] = {5.0, 1.0}; /* unknowns are in the order of the text */
    OK(dae_solver_start(r.solver, 0.0, y0, NULL));
    EXACTLY("x", 5.0);
    EXACTLY("y", 1.0);
    end(&r);
}

static void other_time(void **unused)
{
    (void)unused;
    run r;
    prepare(&r, MODEL("  Real x(start = 0, fixed = true);\n  Integer k(start = 0, fixed = true);\n"
                      "equation\n  der(x) = if time < 1 then 1 else -1;\n"
                      "  when sample(0, 0.5) then\n    k = pre(k) + 1;\n  end when;"));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    OK(dae_solver_start(r.solver, 2.0, NULL, NULL));
    OK(step_to(&r, 2.25));
    NEAR("x", -0.25);
    EXACTLY("k", 1.0);
    end(&r);
}

/* x(1) of the pendulum, to the last bit */
static double pendulum_at_1(double before, double after)
{
    run r;
    prepare(&r, PENDULUM);
    r.options.rtol = r.options.atol = before;
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    if (after != before) OK(dae_solver_set_tolerances(r.solver, after, after));
    OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
    OK(step_to(&r, 1.0));
    double x = value(&r, "x");
    end(&r);
    return x;
}

static void tolerances_after_new(void **unused)
{
    (void)unused;
    double asked = pendulum_at_1(1e-6, 1e-6);
    assert_true(asked == pendulum_at_1(1e-10, 1e-6));
    assert_true(asked != pendulum_at_1(1e-10, 1e-10));
}

/* Tolerances go with nominal sizes, also where they are set once more. */
static void tolerances_keep_nominal_sizes(void **unused)
{
    (void)unused;
    run r;
    double x[2];
    for (int k = 0; k < 2; k++) {
        prepare(&r, MODEL("  Real x(start = 1e-8, fixed = true, nominal = 1e-8);\n"
                          "equation\n  der(x) = -x;"));
        r.options.rtol = r.options.atol = 1e-6;
        assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
        if (k == 1) OK(dae_solver_set_tolerances(r.solver, 1e-6, 1e-6));
        OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
        OK(step_to(&r, 1.0));
        x[k] = value(&r, "x");
        end(&r);
    }
    assert_true(x[0] == x[1]);
    assert_true(fabs(x[0] - 1e-8 * exp(-1.0)) < 1e-12);
}

static void second_start(void **unused)
{
    (void)unused;
    run r;
    double x[2];
    prepare(&r, PENDULUM);
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    for (int k = 0; k < 2; k++) {
        OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
        OK(step_to(&r, 1.0));
        x[k] = value(&r, "x");
    }
    assert_true(x[0] == x[1]);
    end(&r);
}

/* ---- messages come from the start, once ---- */

#define PARTING                                                                                    \
    MODEL("  Real x(start = 0, fixed = true), y(start = 2), vx(start = 1, fixed = true), vy, k, "  \
          "l;\n"                                                                                   \
          "equation\n"                                                                             \
          "  der(x) = vx; der(y) = vy;\n"                                                          \
          "  der(vx) = -k - 2*l; der(vy) = -k - 2*l;\n"                                            \
          "  x + y = 2;\n"                                                                         \
          "  2*(x + y) = 4 + noEvent(if time > 0.05 then exp(-1/time^2) else 0);")

static int count_of(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) count++;
    return count;
}

/* The second solver of a problem finds what the first one made: it must know what that knew. */
static void redundant_for_each_solver(void **unused)
{
    (void)unused;
    run r;
    prepare(&r, PARTING);
    r.options.max_steps = 10000;
    for (int k = 0; k < 2; k++) {
        r.messages[0] = 0;
        assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
        assert_string_equal(r.messages, "");
        OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
        assert_int_equal(count_of(r.messages, "these constraints follow from the others"), 1);
        assert_true(step_to(&r, 1.0) < 0);
        WORDS(diag_of(&r)->text, "cannot hold together any more");
        dae_solver_free(r.solver);
    }
    r.solver = NULL;
    end(&r);
}

/* The form of this plan is not kept for others: it goes where the method changes in the run. */
static void change_of_method_without_kept_form(void **unused)
{
    (void)unused;
    run r;
    prepare(&r, MODEL("  parameter Real c = 1e5;\n"
                      "  Real q(start = 0.5, fixed = true), p(start = -0.9), w;\n"
                      "  Real vq(start = 0.1, fixed = true), vp, k, l;\nequation\n"
                      "  der(q) = vq; der(p) = vp;\n"
                      "  der(vq) = -2*q*k - 4*q*l - c*(vq - w);\n"
                      "  der(vp) = -1 - 2*p*k - 4*p*l;\n"
                      "  q^2 + p^2 = 1; 2*q^2 + 2*p^2 = 2;\n  w = 0.1*cos(time);"));
    r.options.rtol = r.options.atol = 1e-6;
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
    OK(step_to(&r, 0.5));
    expect_near(&r, "q", 0.5 + 0.1 * sin(0.5), 1e-4, __LINE__); /* drag holds vq at w up to 1/c */
    end(&r);
}

static void failure_is_that_of_the_start(void **unused)
{
    (void)unused;
    run r;
    prepare(&r, MODEL("  Real x(start = 1, fixed = true), y(start = 2, fixed = true);\n"
                      "equation\n  der(x) = -x;\n  y = x;"));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    assert_string_equal(r.diag.text, "");
    for (int k = 0; k < 2; k++) {
        assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_ERR_INITIAL);
        WORDS(diag_of(&r)->text, "fixed start value 2 of y|contradicts");
    }
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(method_is_chosen_by_new),
        cmocka_unit_test(choice_does_not_depend_on_others),
        cmocka_unit_test(parameter_after_new),
        cmocka_unit_test(parameter_of_series),
        cmocka_unit_test(parameter_of_index),
        cmocka_unit_test(fixed_values_of_each_start),
        cmocka_unit_test(start_value_after_new),
        cmocka_unit_test(given_values),
        cmocka_unit_test(other_time),
        cmocka_unit_test(tolerances_after_new),
        cmocka_unit_test(tolerances_keep_nominal_sizes),
        cmocka_unit_test(second_start),
        cmocka_unit_test(redundant_for_each_solver),
        cmocka_unit_test(change_of_method_without_kept_form),
        cmocka_unit_test(failure_is_that_of_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
