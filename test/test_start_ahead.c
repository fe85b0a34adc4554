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
        cmocka_unit_test(parameter_after_new),
        cmocka_unit_test(start_value_after_new),
        cmocka_unit_test(given_values),
        cmocka_unit_test(other_time),
        cmocka_unit_test(tolerances_after_new),
        cmocka_unit_test(second_start),
        cmocka_unit_test(redundant_for_each_solver),
        cmocka_unit_test(failure_is_that_of_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
