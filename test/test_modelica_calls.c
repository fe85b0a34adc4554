/* Calls of functions whose results are kept: equal calls are executed once, and what they assert
 * holds wherever they stand. */
#include "test_modelica_flatten.h"

/* f1 calls f0 twice, f2 calls f1 twice, ..: 2^40 calls if each were executed, 40 if equal ones are
 * one. */
static void equal_calls_cost_once(void **state)
{
    (void)state;
    enum { LEVELS = 40 };
    char text[16000] = "";
    size_t used = 0;
    for (int k = 0; k <= LEVELS; k++) {
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "function f%d\n  input Real x;\n  output Real y;\nprotected\n"
            "  Real z = 0;\nalgorithm\n  for i in 1:9 loop\n    z := z + x/9;\n  end for;\n",
            k);
        used += (size_t)(k ? snprintf(text + used, sizeof text - used,
                                      "  y := (f%d(x) + f%d(x))/2;\n", k - 1, k - 1)
                           : snprintf(text + used, sizeof text - used, "  y := z;\n"));
        used += (size_t)snprintf(text + used, sizeof text - used, "end f%d;\n", k);
    }
    snprintf(text + used, sizeof text - used,
             "model M\n  Real x, y = f%d(x);\nequation\n  der(x) = 1;\nend M;\n", LEVELS);
    flattened f = flatten_good(text);
    give(&f, "x", 3.0);
    assert_near(number(&f, "y"), 3.0);
    release(&f);
}

/* A function of enough statements to be kept, with an assert in it; g calls it at its input as it
 * is. */
#define ASSERTING                                                                                  \
    "function f\n  input Real x;\n  output Real y;\nalgorithm\n  y := 0;\n"                        \
    "  for i in 1:20 loop\n    y := y + x/20;\n  end for;\n"                                       \
    "  assert(x > 0, \"not positive\");\nend f;\n"                                                 \
    "function g\n  input Real x;\n  output Real y;\nalgorithm\n  y := 0;\n"                        \
    "  for i in 1:20 loop\n    y := y + x/20;\n  end for;\n  y := y + f(x);\nend g;\n"

/* Whether some assert fails at x and s. */
static bool asserts_fail(flattened *f, double x, double s)
{
    bool fails = false;
    give(f, "x", x);
    give(f, "s", s);
    for (size_t k = 0; k < f->m->assert_count; k++)
        fails |= number_of(f, f->m->asserts[k].value) == 0.0;
    return fails;
}

/* A call behind a condition asserts only there; one without a condition that comes later asserts
 * always. */
static void later_calls_assert_for_themselves(void **state)
{
    (void)state;
    static const char *const later[] = {"f(x)", "g(x)", "(if s > 5 then f(x) else 0)",
                                        "(if s > 5 then g(x) else 0)"};
    static const char *const first[] = {"f(x)", "g(x)"};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) {
            char text[2000];
            snprintf(text, sizeof text,
                     ASSERTING
                     "model M\n  Real x, s, a, b, c;\nequation\n  der(x) = 1;\n  der(s) = 1;\n"
                     "  a = noEvent(if s < 0 then %s else 0);\n  b = noEvent(if s < 0 then g(x) "
                     "else 0);\n"
                     "  c = noEvent(%s);\nend M;\n",
                     first[i], later[k]);
            flattened f = flatten_good(text);
            assert_true(asserts_fail(&f, -1.0, -1.0));
            assert_false(asserts_fail(&f, 1.0, -1.0));
            assert_true(asserts_fail(&f, -1.0, 6.0));
            assert_int_equal(asserts_fail(&f, -1.0, 1.0), k < 2);
            release(&f);
        }
}

/* Arrays of the same elements in another shape, and sizes, are other arguments; results are no
 * places to assign to. */
static void shapes_are_arguments(void **state)
{
    (void)state;
    flattened f = flatten_good(
        "function first\n  input Real a[:, :];\n  output Real y;\nalgorithm\n  y := 0;\n"
        "  for i in 1:10 loop\n    y := y + (if i == 1 then 10*size(a, 1) + a[1, 1] else 0);\n  "
        "end for;\nend first;\n"
        "function up\n  input Real x;\n  output Real v[3];\nalgorithm\n"
        "  for i in 1:3 loop\n    v[i] := x*i;\n    v[i] := v[i] + 1;\n    v[i] := v[i] - 1;\n  "
        "end for;\nend up;\n"
        "function twice\n  input Real x;\n  output Real y;\nprotected\n  Real a[3];\n  Real "
        "b[3];\nalgorithm\n"
        "  if x > 0 then\n    a := up(x);\n    a[2] := 100;\n  else\n    a := up(x);\n  end if;\n"
        "  b := up(x);\n  y := a[2] + b[2]/1000;\nend twice;\n"
        "model M\n  Real x, p, q, r;\nequation\n  der(x) = 1;\n  p = first([x, x, x, x]);\n"
        "  q = first([x, x; x, x]);\n  r = twice(x);\nend M;\n");
    give(&f, "x", 3.0);
    assert_near(number(&f, "p"), 13.0);
    assert_near(number(&f, "q"), 23.0);
    assert_near(number(&f, "r"), 100.006);
    give(&f, "x", -3.0);
    assert_near(number(&f, "r"), -6.006);
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_calls_cost_once),
        cmocka_unit_test(later_calls_assert_for_themselves),
        cmocka_unit_test(shapes_are_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
