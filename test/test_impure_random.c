/* Random numbers with a hidden state, drawn in when-equations and in algorithms, against the
 * generator with its state in the text. */
#include "model_run.h"

#define RANDOM "'Modelica.Math.Random."
#define STEP RANDOM "Generators.Xorshift1024star.random'"
#define DRAW RANDOM "Utilities.impureRandom'(id)"

/* As exported texts have it, and the state that it sets. */
#define SEED                                                                                       \
    "function seeded\n  input Integer seed;\n  output Integer id;\nprotected\n  Integer s[33];\n"  \
    "algorithm\n  s := " RANDOM "Utilities.initialStateWithXorshift64star'(7, seed, 33);\n"        \
    "  id := 7;\n  " RANDOM "Utilities.initializeImpureRandom.setInternalState'(s, id);\n"         \
    "end seeded;\n"
#define OPEN                                                                                       \
    "  parameter Integer id(fixed = false);\n  Integer s[33](each fixed = true, start = " RANDOM   \
    "Utilities.initialStateWithXorshift64star'(7, 99, 33));\n  Integer m[33];\n"                   \
    "  discrete Real a(start = 0), b(start = 0), c(start = 0), d(start = 0);\n"                    \
    "initial equation\n  id = seeded(99);\n"

/* a, b from the state in the text; c, d from the hidden one. */
static void draws_agree(const char *text)
{
    run r;
    double last = -1.0;
    OK(begin(&r, text));
    for (int k = 1; k <= 20; k++) {
        assert_true(step_to(&r, k + 0.5) >= 0);
        double a = value(&r, "a"), b = value(&r, "b");
        assert_true(a > 0.0 && a < 1.0 && a != b && a != last);
        EXACTLY("c", a);
        EXACTLY("d", b);
        last = a;
    }
    end(&r);
}

static void test_when_equations(void **state)
{
    (void)state;
    draws_agree(SEED MODEL(OPEN "equation\n  when sample(1, 1) then\n    (a, m) = " STEP
                                "(pre(s));\n    (b, s) = " STEP "(m);\n    c = " DRAW
                                ";\n    d = " DRAW ";\n  end when;\n"));
}

static void test_algorithms(void **state)
{
    (void)state;
    draws_agree(SEED MODEL(OPEN
                           "equation\n  when sample(1, 1) then\n    (a, m) = " STEP
                           "(pre(s));\n    (b, s) = " STEP
                           "(m);\n  end when;\nalgorithm\n  when sample(1, 1) then\n    c := " DRAW
                           ";\n  end when;\nalgorithm\n  when sample(1, 1) then\n"
                           "    d := " DRAW ";\n  end when;\n"));
}

/* Two solvers of one problem have states of their own. */
static void test_solvers_are_apart(void **state)
{
    (void)state;
    run r, other;
    const char *text =
        MODEL("  parameter Integer id = 5;\n  discrete Real c(start = 0);\nequation\n"
              "  when sample(1, 1) then\n    c = " DRAW ";\n  end when;\n");
    OK(begin(&r, text));
    assert_true(step_to(&r, 3.5) >= 0);
    other = r;
    OK(start_at(&other, 0.0));
    assert_true(step_to(&other, 1.5) >= 0);
    double early = value(&other, "c");
    assert_true(step_to(&other, 3.5) >= 0);
    EXACTLY("c", value(&other, "c"));
    assert_true(early != value(&other, "c"));
    dae_solver_free(other.solver);
    end(&r);
}

static void refused(const char *equations, const char *message)
{
    char text[2000];
    run r;
    snprintf(text, sizeof text,
             "model M\n  parameter Integer id = 5;\n  discrete Real c(start = 0), d(start = 0);\n"
             "  Real x = time;\n%send M;\n",
             equations);
    dae_status status = load(&r, text);
    if (status != DAE_ERR_MODEL || !strstr(r.diag.text, message)) print_error("%s\n", r.diag.text);
    assert_int_equal(status, DAE_ERR_MODEL);
    assert_non_null(strstr(r.diag.text, message));
}

static void test_refused(void **state)
{
    (void)state;
    refused("equation\n  c = " DRAW ";\n  when x > 1 then\n    d = 1;\n  end when;\n",
            "they are drawn in when-clauses");
    refused("equation\n  d = 0;\n  when x > 1 then\n    if x > 2 then\n      c = " DRAW
            ";\n    else\n      c = 1;\n    end if;\n  end when;\n",
            "a when-equation draws them outside of if");
    refused("equation\n  when x > 1 then\n    c = " DRAW
            ";\n  end when;\nalgorithm\n  when x > 2 then\n    d := " DRAW ";\n  end when;\n",
            "not in both");
    refused("equation\n  when x > 1 then\n    c = " DRAW
            ";\n  end when;\n  when x > 2 then\n    d = " DRAW ";\n  end when;\n",
            "$random1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_when_equations),
        cmocka_unit_test(test_algorithms),
        cmocka_unit_test(test_solvers_are_apart),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
