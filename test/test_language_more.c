/* Rules of the language at the edges: texts of values, branches that are never reached, arrays that
 * know their own size, records with constants, what algorithms define, priorities of guesses,
 * functions of records on arrays of them. */
#include "model_run.h"

/* ---- String ------------------------------------------------------------------------------------
 */

/* The message of an assertion that fails at once. */
static void expect_text(const char *declarations, const char *text, const char *expected, int line)
{
    char model[1000];
    run r;
    snprintf(model, sizeof model,
             "model M\nReal x(start=0, fixed=true);\n%s\nequation\nder(x) = 1;\n"
             "assert(x < 0.1, \"<\" + %s + \">\");\nend M;\n",
             declarations, text);
    OK(begin(&r, model));
    assert_int_equal(step_to(&r, 1.0), DAE_ERR_ASSERT);
    if (!strstr(diag_of(&r)->text, expected)) {
        print_error("line %d: no \"%s\" in: %s\n", line, expected, diag_of(&r)->text);
        fail();
    }
    end(&r);
}
#define TEXT(declarations, text, expected) expect_text(declarations, text, expected, __LINE__)

static void test_texts_of_values(void **state)
{
    (void)state;
    TEXT("", "String(2.5)", "<2.5>");
    TEXT("", "String(1234567)", "<1234567>");
    TEXT("", "String(true)", "<true>");
    TEXT("", "String(1.0/3.0, significantDigits=3)", "<0.333>");
    TEXT("", "String(42, minimumLength=6)", "<42    >");
    TEXT("", "String(42, minimumLength=6, leftJustified=false)", "<    42>");
    TEXT("", "String(3.14159, format=\"8.3f\")", "<   3.142>");
    TEXT("", "String(3.14159, format=\"-8.3e\")", "<3.142e+00>");
    TEXT("", "String(255, format=\"06x\")", "<0000ff>");
}

/* The same for what is known only during the run, parameters that may be set among it. */
static void test_texts_of_the_run(void **state)
{
    (void)state;
    TEXT("parameter Integer n = 1234567;", "String(n)", "<1234567>");
    TEXT("parameter Real p = 1/3;", "String(p, significantDigits=3)", "<0.333>");
    TEXT("parameter Integer n = 3;", "String(n, minimumLength=4)", "<3   >");
    TEXT("Real y = 2*x + 1;", "String(y, format=\"7.2f\")", "<   1.20>");
    TEXT("Real y = 2*x + 1;", "String(y, minimumLength=6, leftJustified=false)", "<   1.2>");
    TEXT("Boolean b = time < 5;", "String(b, minimumLength=5)", "<true >");
}

/* Texts of parameters are compared as they are; then these cannot be set later. */
static void test_texts_are_compared(void **state)
{
    (void)state;
    run r;
    prepare(&r, MODEL("parameter Integer n = 3;\nparameter String a = String(n) + \"!\";\n"
                      "parameter Boolean same = String(n) == \"3\", other = a <> \"3!\";\n"
                      "parameter Integer k = if a == \"3!\" then 7 else 8;\n"
                      "Real x(start=k, fixed=true);\nequation\nder(x) = 0;"));
    for (int i = 0; i < dae_problem_parameter_count(r.problem); i++) {
        const char *name = dae_problem_parameter(r.problem, i);
        double x = dae_problem_parameter_value(r.problem, i);
        dae_parameter_info info = dae_problem_parameter_info(r.problem, i);
        if (strcmp(name, "a") == 0) assert_string_equal(info.text, "3!");
        if (strcmp(name, "same") == 0) assert_true(x == 1.0);
        if (strcmp(name, "other") == 0) assert_true(x == 0.0);
        if (strcmp(name, "k") == 0) assert_true(x == 7.0);
        if (strcmp(name, "n") == 0) assert_true(info.structural);
    }
    end(&r);
}

static void expect_error(const char *text, const char *words, int line)
{
    run r;
    assert_int_equal(load(&r, text), DAE_ERR_MODEL);
    expect_words(r.diag.text, words, line);
    if (strstr(r.diag.text, "more error")) {
        print_error("line %d: more than one error: %s\n", line, r.diag.text);
        fail();
    }
}
#define ERROR(text, words) expect_error(text, words, __LINE__)

static void test_wrong_options_of_string(void **state)
{
    (void)state;
    ERROR(MODEL("parameter String a = String(1.5, format=\"3.2d\");\nReal x = 1;"),
          "m.mo:2|3.2d|a Real");
    ERROR(MODEL("parameter String a = String(1, format=\"999999999f\");\nReal x = 1;"),
          "m.mo:2|999999999f");
    ERROR(MODEL("parameter String a = String(1, format=\"%d%s\");\nReal x = 1;"), "m.mo:2|%d%s");
    ERROR(MODEL("parameter String a = String(1, width=3);\nReal x = 1;"), "m.mo:2|width|format");
    ERROR(MODEL("parameter String a = String(1, minimumLength=-3);\nReal x = 1;"), "m.mo:2|-3");
    ERROR(MODEL("Real y = time;\nparameter Boolean b = String(2, 3) == \"2\";"),
          "m.mo:3|one value");
}

/* ---- branches
 * ------------------------------------------------------------------------------------ */

static void test_division_by_zero_in_a_branch(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real y, z, x(start=0, fixed=true);\nequation\n"
                       "y = if time < 1e60 then 5.0 else (2 - time)*5.0/0.0;\n"
                       "der(x) = if time < 7 then 2 else 1/0;\n"
                       "if time < 9 then\nz = 1;\nelse\nz = 2/0;\nend if;")));
    OK(step_to(&r, 1.0));
    EXACTLY("y", 5.0);
    EXACTLY("z", 1.0);
    NEAR("x", 2.0);
    end(&r);
    ERROR(MODEL("Real y;\nequation\ny = 2/0;"), "m.mo:4|division by zero");
}

/* One wrong equation in a branch: one message. */
static void test_error_in_a_branch(void **state)
{
    (void)state;
    ERROR(MODEL("Real x, y;\nequation\nif time < 1 then\nx = nothing(time);\ny = 1;\nelse\nx = 2;\n"
                "y = 3;\nend if;"),
          "m.mo:5|nothing");
    ERROR(MODEL("Real x, y;\nequation\nif time < 1 then\nx = 1;\ny = 1;\nelse\nx = 2;\nend if;"),
          "m.mo:4|2 and 1 equations");
}

/* ---- functions and records
 * ----------------------------------------------------------------------- */

static void test_own_size(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, "package M\nfunction trace\ninput Real A[:, size(A, 1)];\noutput Real t;\n"
                 "algorithm\nt := sum(A[i, i] for i in 1:size(A, 1));\nend trace;\nmodel M\n"
                 "Real y;\nequation\ny = trace({{1, time, 2}, {3, 4, 5}, {6, 7, 8}});\nend M;\n"
                 "end M;\n"));
    EXACTLY("y", 13.0);
    end(&r);
    ERROR("package M\nfunction trace\ninput Real A[:, size(A, 1)];\noutput Real t;\nalgorithm\n"
          "t := A[1, 1];\nend trace;\nmodel M\nReal y;\nequation\ny = trace({{1, time, 2}});\n"
          "end M;\nend M;\n",
          "m.mo:11|sizes");
}

static void test_constant_in_a_record(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, "package M\nrecord R\nReal x;\nconstant Integer n = 3;\nend R;\nmodel M\nR r;\n"
                 "equation\nr = R(2*time, 3);\nend M;\nend M;\n"));
    OK(step_to(&r, 1.0));
    NEAR("r.x", 2.0);
    end(&r);
    ERROR("package M\nrecord R\nReal x;\nconstant Integer n = 3;\nend R;\nmodel M\nR r;\n"
          "equation\nr = R(2*time, 4);\nend M;\nend M;\n",
          "m.mo:9|3 and 4");
}

/* ---- algorithms
 * ---------------------------------------------------------------------------------- */

/* vout is defined where it is assigned; the equation is for p. */
static void test_assigned_in_an_algorithm(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real p, n, u, vout(start=0, fixed=true);\nalgorithm\n"
                       "when time > 0.5 then\nvout := 2 + time;\nend when;\nequation\n"
                       "p - n = vout;\nn = 0;\nu = -vout;")));
    EXACTLY("p", 0.0);
    OK(step_to(&r, 1.0));
    NEAR("p", 2.5);
    NEAR("u", -2.5);
    NEAR("vout", 2.5);
    end(&r);
    ERROR(MODEL("discrete Real p;\nReal vout(start=0);\nalgorithm\nwhen time > 0.5 then\n"
                "vout := 2;\nend when;\nalgorithm\nwhen time > 0.6 then\nvout := 3;\nend when;\n"
                "equation\np = vout;"),
          "vout|twice");
}

/* ---- guesses
 * ------------------------------------------------------------------------------------- */

static void test_priorities(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, "package M\nmodel M\nReal x(start=2.0);\nReal y;\n"
                 "parameter equation guess(y) = prioritize(-3.0, 2);\ninitial equation\n"
                 "prioritize(x, 1);\nequation\nder(x) = -x;\ny^2 = 2.0 + x;\nend M;\nend M;\n"));
    NEAR("x", 2.0);
    NEAR("y", -2.0);
    end(&r);
    ERROR("package M\nmodel M\nReal x(start=2.0);\ninitial equation\nprioritize(3*x, 1);\n"
          "equation\nder(x) = -x;\nend M;\nend M;\n",
          "m.mo:5|a variable");
}

/* A function of one record on arrays of records: of its fields every element, in every dimension.
 */
static void test_function_of_records_on_arrays(void **state)
{
    (void)state;
    run r;
    static const char pair[] =
        "record P\nReal a;\nReal b[2];\nend P;\n"
        "function f\ninput P p;\ninput Real k;\noutput Real y;\nalgorithm\n"
        "y := p.a + 10*p.b[1] + 100*p.b[2] + k;\nend f;\n"
        "function twice\ninput P p;\noutput P q;\nalgorithm\nq.a := 2*p.a;\nq.b := 2*p.b;\n"
        "end twice;\n";
    char text[1500];
    snprintf(text, sizeof text, "%s%s", pair,
             MODEL("P p[2, 3], q[2, 3];\nReal y[2, 3];\nReal 'v[1].a', 'v[1].b[1]', 'v[1].b[2]';\n"
                   "Real 'v[2].b[1]', 'v[2].b[2]', 'v[2].a', z[2];\nequation\n"
                   "for i in 1:2, j in 1:3 loop\np[i, j].a = i + time;\np[i, j].b = {j, i - j};\n"
                   "end for;\nq = twice(p);\ny = f(q, 1000);\n'v[1]' = P(1, {2, 3});\n"
                   "'v[2]' = P(4, {5, 6});\nz = f('v', {1000, 2000});"));
    OK(begin(&r, text));
    OK(step_to(&r, 1.0));
    EXACTLY("q[2,3].b[2]", -2.0);
    EXACTLY("y[1,3]", 1000 + 2 * (2 + 30 - 200));
    EXACTLY("y[2,1]", 1000 + 2 * (3 + 10 + 100));
    EXACTLY("z[1]", 1321.0);
    EXACTLY("z[2]", 2654.0);
    end(&r);
    snprintf(text, sizeof text,
             "function g\ninput Real x;\noutput Real y;\noutput Real z;\n"
             "algorithm\ny := x;\nz := 2*x;\nend g;\n%s",
             MODEL("Real y[2];\nequation\ny = g({1, time});"));
    ERROR(text, "m.mo:12|several outputs");
}

/* The condition of an elseif is not asked where a branch before it is taken: what its function
 * asserts does not count there, in algorithms, equations and expressions. */
static void test_assert_in_a_condition(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "algorithm\n  if x < 0.5 then\n    y := 1;\n  elseif f(x) then\n    y := 2;\n  else\n    y "
        ":= 3;\n"
        "  end if;\n",
        "equation\n  if x < 0.5 then\n    y = 1;\n  elseif f(x) then\n    y = 2;\n  else\n    y = "
        "3;\n"
        "  end if;\n",
        "equation\n  y = if x < 0.5 then 1 elseif f(x) then 2 else 3;\n"};
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        char text[1000];
        run r;
        snprintf(
            text, sizeof text,
            "function f\n  input Real u;\n  output Boolean y;\nalgorithm\n"
            "  assert(u >= 0.5 and u < 1.5, \"asked\");\n  y := u < 1;\nend f;\n"
            "model M\n  Real x(start = 0, fixed = true), y;\nequation\n  der(x) = 1;\n%send M;\n",
            bodies[k]);
        OK(begin(&r, text));
        assert_true(step_to(&r, 0.75) >= 0);
        assert_true(value(&r, "y") == 2.0);
        assert_int_equal(step_to(&r, 2.0), DAE_ERR_ASSERT); /* here it is asked */
        end(&r);
    }
}

/* Equations of a when are sorted one by one: b of the first clause needs c of the second, which
 * needs a of the first. What needs itself is still refused. */
static void test_whens_across_each_other(void **state)
{
    (void)state;
    run r;
    OK(begin(&r,
             "model M\n  discrete Real a(start = 0), b(start = 0), c(start = 0), d(start = 0);\n"
             "equation\n  when time > 0.5 then\n    a = time;\n    b = c + pre(b) + 1;\n"
             "  elsewhen time > 1.5 then\n    a = 10;\n    b = 2*c;\n  end when;\n"
             "  when {time > 0.5, time > 1.5} then\n    c = 2*a;\n    d = 3*b;\n  end when;\n"
             "end M;\n"));
    assert_true(step_to(&r, 1.0) >= 0);
    assert_true(fabs(value(&r, "a") - 0.5) < 1e-6);
    assert_true(fabs(value(&r, "c") - 1.0) < 1e-6);
    assert_true(fabs(value(&r, "b") - 2.0) < 1e-6);
    assert_true(fabs(value(&r, "d") - 6.0) < 1e-6);
    assert_true(step_to(&r, 2.0) >= 0);
    assert_true(fabs(value(&r, "c") - 20.0) < 1e-6);
    assert_true(fabs(value(&r, "d") - 120.0) < 1e-6);
    end(&r);
    assert_int_equal(load(&r, "model M\n  discrete Real a(start = 0), b(start = 0), c;\nequation\n"
                              "  when time > 0.5 then\n    a = b;\n    c = 1;\n  end when;\n"
                              "  when time > 0.5 then\n    b = a + 1;\n  end when;\nend M;\n"),
                     DAE_ERR_MODEL);
    assert_non_null(strstr(r.diag.text, "depend on each other"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_of_values),
        cmocka_unit_test(test_texts_of_the_run),
        cmocka_unit_test(test_texts_are_compared),
        cmocka_unit_test(test_wrong_options_of_string),
        cmocka_unit_test(test_division_by_zero_in_a_branch),
        cmocka_unit_test(test_error_in_a_branch),
        cmocka_unit_test(test_own_size),
        cmocka_unit_test(test_constant_in_a_record),
        cmocka_unit_test(test_assigned_in_an_algorithm),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_function_of_records_on_arrays),
        cmocka_unit_test(test_assert_in_a_condition),
        cmocka_unit_test(test_whens_across_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
