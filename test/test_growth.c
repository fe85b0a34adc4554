/* Solutions that grow without bound: the message names the variable, the time in which it grows by
 * a factor e, and the equations that feed it. */
#include "model_run.h"

#include "structure/linear/growth.h"

/* ---- the loop that feeds a mode ----------------------------------------------------------------
 */

/* x' = v, v' = +c v - k x: the spring is larger, but it is damping that has the wrong sign. */
static void test_oscillation(void **state)
{
    (void)state;
    const double A[] = {0.0, 100.0, -1.0, -0.2}, B[] = {1.0, 0.0, 0.0, 1.0};
    growth g;
    assert_true(growth_find(2, A, B, 0, &g));
    assert_true(g.found);
    assert_true(fabs(g.rate - 0.1) < 1e-9);
    assert_true(fabs(g.frequency - sqrt(100.0 - 0.01)) < 1e-9);
    assert_int_equal(g.loop, 1);
    assert_int_equal(g.variable[0], 1);
    assert_int_equal(g.equation[0], 1);
}

/* The same with F = +c v - k x between them: its largest part is the spring, out of phase with v.
 */
static void test_oscillation_by_a_force(void **state)
{
    (void)state;
    const double A[] = {0.0, 0.0, 100.0, -1.0, 0.0, -0.2, 0.0, -1.0, 1.0}; /* columns x, v, F */
    const double B[] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0};
    for (int from = 0; from < 3; from++) {
        growth g;
        assert_true(growth_find(3, A, B, from, &g));
        assert_true(g.found && fabs(g.rate - 0.1) < 1e-9);
        assert_int_equal(g.loop, 2);
        assert_int_equal(g.variable[0] + g.variable[1], 3); /* v and F */
        assert_int_equal(g.variable[0] * g.variable[1], 2);
    }
}

/* x' = u, u = 3 x - y, y' = -y: the loop is x and u. */
static void test_loop_through_algebraic_variable(void **state)
{
    (void)state;
    const double A[] = {0.0, -3.0, 0.0, -1.0, 1.0, 0.0, 0.0, 1.0, 1.0}; /* by columns x, u, y */
    const double B[] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0};
    growth g;
    assert_true(growth_find(3, A, B, 0, &g));
    assert_true(g.found && fabs(g.rate - 3.0) < 1e-9);
    assert_int_equal(g.loop, 2);
    assert_int_equal(g.variable[0], 0);
    assert_int_equal(g.variable[1], 1);
    assert_int_equal(g.equation[1], 1);
}

static void test_decay(void **state)
{
    (void)state;
    const double A[] = {2.0}, B[] = {1.0};
    growth g;
    assert_true(growth_find(1, A, B, 0, &g));
    assert_false(g.found);
}

/* ---- messages ----------------------------------------------------------------------------------
 */

static void expect_growth(const char *text, const char *method, const char *variable, int at,
                          const char *words, int line)
{
    run r;
    prepare(&r, text);
    r.options.rtol = 1e-6;
    r.options.atol = 1e-9;
    r.options.method = method;
    dae_status status = start_at(&r, 0.0);
    if (status == DAE_OK) status = step_to(&r, 1e4);
    if (status >= 0 || diag_of(&r)->line != at ||
        strcmp(diag_of(&r)->variable_name, variable) != 0) {
        print_error("line %d: %s at line %d of %s: %s\n", line, dae_status_name(status),
                    diag_of(&r)->line, diag_of(&r)->variable_name, diag_of(&r)->text);
        fail();
    }
    expect_words(diag_of(&r)->text, words, line);
    if (strncmp(diag_of(&r)->text, "Variable ", 9) != 0 || strstr(diag_of(&r)->text, "atol")) {
        print_error("line %d: not the cause first: %s\n", line, diag_of(&r)->text);
        fail();
    }
    end(&r);
}
#define GROWS(text, method, variable, at, words)                                                   \
    expect_growth(text, method, variable, at, words, __LINE__)

static void test_exponential(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "bdf", "radau:5", "rodas", "sdirk:4"};
    for (int k = 0; k < 5; k++) {
        /* x'' = 100 x: by exp(10 t) */
        GROWS(MODEL("Real x(start=1, fixed=true), v(start=20, fixed=true), F;\nequation\n"
                    "der(x) = v;\nF = 100*x;\nder(v) = F;"),
              methods[k], "x", 4,
              "x grows without bound|factor e every 0.1 s|m.mo:4|m.mo:5|m.mo:6|sign");
        GROWS(MODEL("Real a(start=1), b(start=1), c(start=1);\nequation\nder(a) = b - 2*a;\n"
                    "der(b) = -(a - 50*b + c);\nder(c) = b - 2*c;"),
              methods[k], "b", 5, "b grows without bound|0.02 s|m.mo:5|own derivative");
    }
}

/* The loop of a controller with the wrong sign. */
static void test_wrong_feedback(void **state)
{
    (void)state;
    GROWS(MODEL("Real y(start=0, fixed=true), e, u, I(start=0, fixed=true);\nequation\n"
                "0.5*der(y) = -y + u;\nu = 50*(e + I/0.1);\ne = y - 1;\nder(I) = e;"),
          "auto", "y", 4, "y in equation 1 (m.mo:4)|u in equation 2 (m.mo:5)|e in equation 3");
}

static void test_finite_time(void **state)
{
    (void)state;
    GROWS(MODEL("Real x(start=1, fixed=true), z(start=0, fixed=true);\nequation\nder(x) = x^2;\n"
                "der(z) = x^2;"),
          "auto", "x", 4, "faster than any exponential|singularity near t = 1|m.mo:4");
    /* two that feed each other, near whose pole rounding is above the tolerance, too */
    static const char *const methods[] = {"auto", "bdf", "rodas", "dopri:5"};
    for (int k = 0; k < 4; k++)
        GROWS(MODEL("Real x(start=1, fixed=true), y(start=1, fixed=true);\nequation\n"
                    "der(x) = x*(1 + y);\nder(y) = y*(x - 1);"),
              methods[k], "y", 5,
              "faster than any exponential|singularity near t = 0.96559|m.mo:5");
}

/* What overflows first follows from another variable, which has the wrong sign: y = z^4/12. */
static void test_follower(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "bdf", "rodas", "dopri:5"};
    for (int k = 0; k < 4; k++)
        GROWS(MODEL("Real z(start=1, fixed=true), y(start=0, fixed=true);\nequation\n"
                    "der(z) = 3*z;\nder(y) = z^4;"),
              methods[k], "z", 4,
              "z grows without bound|factor e every 0.333 s|m.mo:4|own derivative");
}

/* Something grows, but the run ends for another reason. */
static void test_other_cause(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true), v(start=0, fixed=true);\nequation\n"
                       "der(x) = x;\nder(v) = log(20 - time);")));
    assert_int_equal(step_to(&r, 30.0), DAE_ERR_EVALUATION);
    WORDS(diag_of(&r)->text, "m.mo:5|log(20 - time)");
    assert_null(strstr(diag_of(&r)->text, "without bound"));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oscillation),
        cmocka_unit_test(test_oscillation_by_a_force),
        cmocka_unit_test(test_loop_through_algebraic_variable),
        cmocka_unit_test(test_decay),
        cmocka_unit_test(test_exponential),
        cmocka_unit_test(test_wrong_feedback),
        cmocka_unit_test(test_finite_time),
        cmocka_unit_test(test_follower),
        cmocka_unit_test(test_other_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
