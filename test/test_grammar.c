/* The table "The grammar, element by element" of docs/language.md: each row is tried here, and each
 * row here is in the table. */
#include "model_run.h"

/* A text with the element in it, and what refuses it (NULL: it is supported). */
typedef struct element {
    const char *name, *text, *message;
} element;

#define F "function f\n  input Real u;\n  output Real y;\nalgorithm\n  y := 2*u;\nend f;\n"

static const element elements[] = {
    {"version header", "//! base 0.1.0\n" MODEL("  Real x = 1;\n"), NULL},
    {"package", "package P\nmodel M\n  Real x = 1;\nend M;\nend P;\n", NULL},
    {"global constant", "package P\nconstant Real c = 2;\nmodel M\n  Real x = c;\nend M;\nend P;\n",
     NULL},
    {"type", "type T = Real[2](each unit = \"V\");\n" MODEL("  T x = {1, 2};\n"), NULL},
    {"type with input or output", "type T = input Real;\n" MODEL("  T x = 1;\n"), NULL},
    {"enumeration", "type E = enumeration(a, b);\n" MODEL("  E x = E.b;\n"), NULL},
    {"open enumeration", "type E = enumeration(:);\n" MODEL("  Real x = 1;\n"),
     "an enumeration names its values"},
    {"record", "record R\n  Real a;\nend R;\n" MODEL("  R r(a = 2);\n"), NULL},
    {"function", F MODEL("  Real x = f(1);\n"), NULL},
    {"impure function, pure(f(x))", "impure " F MODEL("  Real x = pure(f(1));\n"), NULL},
    {"partial function, function as argument",
     F "partial function C\n  input Real u;\n  output Real y;\nend C;\n"
       "function twice\n  input C g;\n  output Real y;\nalgorithm\n  y := 2*g(1);\nend "
       "twice;\n" MODEL("  Real x = twice(function f());\n"),
     NULL},
    {"derivative function", F "function g = der(f, u);\n" MODEL("  Real x = g(1);\n"),
     "derivative functions, 'function f = der(g, x)', are not supported"},
    {"external function",
     "function g\n  input Real u;\n  output Real y;\nexternal \"C\" y = foo(u);\nend g;\n" MODEL(
         "  Real x = g(1);\n"),
     "the external function 'foo' is not one that Daedal has"},
    {"parameter, constant, discrete, final",
     MODEL("  final parameter Real p = 1;\n  constant Real c = 2;\n  discrete Real d;\n"
           "equation\n  when time > p then\n    d = c;\n  end when;\n"),
     NULL},
    {"String parameter", MODEL("  parameter String s = \"a\";\n  Real x = 1;\n"), NULL},
    {"String variable",
     MODEL("  String s;\n  Real x = 1;\nequation\n  s = \"a\";\n  assert(x > 0, s);\n"), NULL},
    {"String assigned in algorithms and when",
     MODEL("  String s;\n  Real x = 1;\nalgorithm\n  s := \"a\";\n"),
     "is a String variable, which needs a definition"},
    {"flow, stream", MODEL("  flow Real x = 1;\n"), "'flow' is not part of Base Modelica"},
    {"inner, outer", MODEL("  inner Real x = 1;\n"), "'inner' is not part of Base Modelica"},
    {"condition", MODEL("  Real x = 1;\n  Real z = 2 if false;\n"), NULL},
    {"guess", MODEL("  Real x;\n  parameter equation guess(x) = 2;\nequation\n  x^2 = 4;\n"), NULL},
    {"initial equation", MODEL("  Real x;\ninitial equation\n  x = 1;\nequation\n  der(x) = 1;\n"),
     NULL},
    {"initial algorithm",
     MODEL("  parameter Real p(fixed = false);\n  Real x = p;\ninitial algorithm\n  p := 2;\n"),
     NULL},
    {"algorithm", MODEL("  Real x;\nalgorithm\n  x := 1;\n  x := x + time;\n"), NULL},
    {"if-equation",
     MODEL("  Real x;\nequation\n  if time < 1 then\n    x = 1;\n  else\n    x = 2;\n  end if;\n"),
     NULL},
    {"for-equation",
     MODEL("  Real x[2];\nequation\n  for i in 1:2 loop\n    x[i] = i;\n  end for;\n"), NULL},
    {"when-equation",
     MODEL("  Real x(start = 0, fixed = true);\nequation\n  der(x) = 1;\n  when x > 2 then\n"
           "    reinit(x, 0);\n  end when;\n"),
     NULL},
    {"while, break, return",
     "function g\n  input Real u;\n  output Real y;\nalgorithm\n  y := u;\n  while true loop\n"
     "    y := y + 1;\n    if y > 3 then\n      break;\n    end if;\n  end while;\n  return;\nend "
     "g;\n" MODEL("  Real x = g(1);\n"),
     NULL},
    {"break outside of loops", MODEL("  Real x;\nalgorithm\n  x := 1;\n  break;\n"),
     "break stands only in loops"},
    {"connect", MODEL("  Real x = 1, z = 1;\nequation\n  connect(x, z);\n"), "connect"},
    {"delay", MODEL("  Real x = delay(time, 1);\n"), NULL},
    {"spatialDistribution", MODEL("  Real x = spatialDistribution(1, 2, 3, true);\n"),
     "the function 'spatialDistribution' is not supported"},
    {"clocks", MODEL("  Real x = previous(2);\n"), "the function 'previous' is not supported"},
    {"semiLinear, homotopy, smooth, noEvent",
     MODEL(
         "  Real x = semiLinear(time, 1, 2) + homotopy(1, 2) + smooth(1, time) + noEvent(time);\n"),
     NULL},
    {"comprehension", MODEL("  Real x = sum({i^2 for i in 1:3});\n"), NULL},
    {"member of a result", "record R\n  Real a;\nend R;\n" MODEL("  Real x = R(2).a;\n"), NULL},
    {"getInstanceName", MODEL("  Real x = getInstanceName();\n"),
     "'getInstanceName' is not supported"},
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

static void test_elements(void **state)
{
    (void)state;
    for (size_t k = 0; k < ELEMENTS; k++) {
        const element *e = &elements[k];
        run r;
        dae_status status = load(&r, e->text);
        bool fine =
            e->message ? status != DAE_OK && strstr(r.diag.text, e->message) : status == DAE_OK;
        if (!fine) print_message("%s: %s\n", e->name, status ? r.diag.text : "accepted");
        assert_true(fine);
        dae_problem_free(r.problem);
    }
}

static char *read_page(void)
{
    char path[1024];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s../docs/language.md", slash ? (int)(slash - __FILE__) + 1 : 0,
             __FILE__);
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* Every element has its row, with "supported" or the message; there are no other rows. */
static void test_page(void **state)
{
    (void)state;
    char *page = read_page(), row[512];
    const char *table = strstr(page, "## The grammar, element by element");
    assert_non_null(table);
    for (size_t k = 0; k < ELEMENTS; k++) {
        const element *e = &elements[k];
        if (e->message)
            snprintf(row, sizeof row, "\n| %s | refused: `%s`", e->name, e->message);
        else
            snprintf(row, sizeof row, "\n| %s | supported", e->name);
        if (!strstr(table, row)) print_message("no row: %s\n", row);
        assert_non_null(strstr(table, row));
    }
    size_t rows = 0;
    char *stop = strstr(table + 3, "\n## ");
    if (stop) *stop = 0;
    for (const char *at = table; (at = strstr(at, "\n| ")); at++) rows++;
    assert_int_equal(rows, ELEMENTS + 1); /* and the head */
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elements),
                                       cmocka_unit_test(test_page)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
