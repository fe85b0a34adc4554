/* Texts in models: String variables, texts that conditions of the run choose, texts that a path of
 * a function does not assign, names of enumerations, and matrices of files. */
#include "model_run.h"

/* Stops with this message before the time 10. */
static void stops(const char *text, const char *message, int line)
{
    run r;
    OK(begin(&r, text));
    int got = step_to(&r, 10.0);
    if (got >= 0 || !strstr(diag_of(&r)->text, message))
        print_error("line %d: %s\n", line, diag_of(&r)->text);
    assert_true(got < 0 && strstr(diag_of(&r)->text, message));
    end(&r);
}
#define STOPS(text, message) stops(text, message, __LINE__)

static void refused(const char *text, const char *message, int line)
{
    run r;
    dae_status status = load(&r, text);
    if (status != DAE_ERR_MODEL || !strstr(r.diag.text, message))
        print_error("line %d: %s\n", line, r.diag.text);
    assert_int_equal(status, DAE_ERR_MODEL);
    assert_non_null(strstr(r.diag.text, message));
    dae_problem_free(r.problem);
}
#define REFUSED(text, message) refused(text, message, __LINE__)

/* ---- choices of the run ---- */

#define RISES "  Real x(start = 0, fixed = true);\n  type Mode = enumeration(low, high);\n"
#define EQUATIONS "equation\n  der(x) = 1;\n"

static void test_chosen_texts(void **state)
{
    (void)state;
    STOPS(MODEL(RISES "  String s = if x > 1 then \"high\" else \"low\";\n" EQUATIONS
                      "  assert(x < 2, \"it is \" + s + \".\");\n"),
          "it is high.");
    STOPS(MODEL(RISES "  String s = if x > 3 then \"high\" elseif x > 1 then \"middle\" else "
                      "\"low\";\n" EQUATIONS "  assert(x < 2, s);\n"),
          ": middle");
    STOPS(MODEL(RISES "  String s, t;\n" EQUATIONS
                      "  t = \"<\" + s + \">\";\n  s = if x < 1 then \"a\" else \"b\";\n"
                      "  assert(x < 0.5, t);\n"),
          ": <a>");
    REFUSED(MODEL(RISES "  String s = if x > 1 then String(x) else \"low\";\n" EQUATIONS),
            "cannot contain values of it");
}

static void test_chosen_in_functions(void **state)
{
    (void)state;
    const char *f =
        "function name\n  input Real x;\n  output String s;\nalgorithm\n"
        "  if x > 2 then\n    s := \"big\";\n  elseif x > 1 then\n    s := \"middle\";\n"
        "  else\n    s := \"small\";\n  end if;\nend name;\n";
    char text[2000];
    snprintf(text, sizeof text, "%s%s", f,
             MODEL("  Real x = time, y, z;\n  String s = name(x);\nequation\n"
                   "  y = if s == \"big\" then 1 elseif s <> \"small\" then 2 else 3;\n"
                   "  z = if s < \"n\" and s >= \"big\" then 1 else 0;\n"));
    run r;
    OK(begin(&r, text));
    const double at[] = {0.5, 1.5, 2.5}, y[] = {3, 2, 1}, z[] = {0, 1, 1};
    for (int k = 0; k < 3; k++) {
        assert_true(step_to(&r, at[k]) >= 0);
        assert_true(value(&r, "y") == y[k]);
        assert_true(value(&r, "z") == z[k]);
    }
    end(&r);
}

static void test_names_of_enumerations(void **state)
{
    (void)state;
    STOPS(MODEL(RISES
                "  Mode m = if x > 1 then Mode.high else Mode.low;\n" EQUATIONS
                "  assert(x < 2, \"mode \" + String(m) + \"|\" + String(m, minimumLength = 6) + "
                "\"|\" + String(m, minimumLength = 6, leftJustified = false) + \"|\");\n"),
          "mode high|high  |  high|");
    STOPS(MODEL(RISES "  Mode m = if x > 1 then Mode.high else Mode.low;\n  Real y = if "
                      "String(m) == \"high\" then 1 else 0;\n" EQUATIONS
                      "  assert(y < 0.5, \"y\");\n"),
          ": y");
}

/* ---- paths of functions ---- */

#define PICK(first, second)                                                                        \
    "function pick\n  input Real x;\n  output Real y;\nprotected\n  String s;\nalgorithm\n"        \
    "  if " first " then\n    s := \"high\";\n  end if;\n"                                         \
    "  if " second " then\n    y := if s == \"high\" then 2 else 3;\n  else\n    y := 5;\n"        \
    "  end if;\nend pick;\n" MODEL("  Real y = pick(time);\n")

static void test_texts_of_some_paths(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, PICK("x > 1", "x > 1"))); /* asked where it is there */
    assert_true(value(&r, "y") == 5.0);
    assert_true(step_to(&r, 2.0) >= 0);
    assert_true(value(&r, "y") == 2.0);
    end(&r);
    OK(begin(&r, PICK("x > 1", "false"))); /* asked nowhere */
    assert_true(step_to(&r, 2.0) >= 0);
    end(&r);
    STOPS(PICK("x < 1", "x > -1"), "'s' of pick is used, but it is not assigned on this path");
}

/* ---- matrices of files ---- */

#define READ(rows)                                                                                 \
    "function sizes\n  input String f;\n  input String n;\n  output Integer dim[2];\n"             \
    "external \"C\" ModelicaIO_readMatrixSizes(f, n, dim);\nend sizes;\n"                          \
    "function read\n  input String f;\n  input String n;\n  input Integer r;\n  input Integer "    \
    "c;\n"                                                                                         \
    "  output Real m[r, c];\n"                                                                     \
    "external \"C\" ModelicaIO_readRealMatrix(f, n, m, size(m, 1), size(m, 2), true);\nend "       \
    "read;\n" MODEL("  parameter Integer d[2] = sizes(\"strings-matrix.txt\", \"A\");\n"           \
                    "  parameter Real m[" rows ", 2] = read(\"strings-matrix.txt\", \"A\", " rows  \
                    ", 2);\n"                                                                      \
                    "  Real y = 100*d[1] + 10*d[2] + m[3, 1] + 1000*m[1, 2];\n")

static void test_matrices_of_files(void **state)
{
    (void)state;
    FILE *file = fopen("strings-matrix.txt", "w");
    assert_non_null(file);
    fputs("#1\ndouble A(3,2)\n1 2\n3 4\n5 6\n", file);
    fclose(file);
    run r;
    OK(begin(&r, READ("d[1]")));
    assert_true(value(&r, "y") == 2325.0);
    end(&r);
    REFUSED(READ("4"), "the file has sizes [3, 2], read wants [4, 2]");
    remove("strings-matrix.txt");
    REFUSED(READ("3"), "strings-matrix.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chosen_texts),          cmocka_unit_test(test_chosen_in_functions),
        cmocka_unit_test(test_names_of_enumerations), cmocka_unit_test(test_texts_of_some_paths),
        cmocka_unit_test(test_matrices_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
