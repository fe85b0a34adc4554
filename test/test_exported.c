/* Texts as other tools export them: elements that are declared one by one and used as a whole,
 * subscripts inside of quoted names, members of results, functions that the text leaves out. */
#include "model_run.h"

/* What y is at the start, after the declarations and with the equations given. */
static void expect_y(const char *text, double expected, int line)
{
    run r;
    OK(begin(&r, text));
    expect_near(&r, "y", expected, 1e-9, line);
    end(&r);
}
#define Y(text, expected) expect_y(text, expected, __LINE__)

/* ---- wholes of elements ---- */

#define SCALE                                                                                      \
    "function weigh\n  input Real v[:];\n  output Real y;\nalgorithm\n"                            \
    "  y := sum(v[i]*10^(i - 1) for i in 1:size(v, 1));\nend weigh;\n"

static void test_array_of_elements(void **state)
{
    (void)state;
    Y(SCALE "model M\n  Real 'a.b[2]' = 5, 'a.b[1]' = 3, 'a.b[3]' = 7, y;\nequation\n"
            "  y = weigh('a.b');\nend M;\n",
      753.0);
    /* on the left side, and its sizes */
    Y("model M\n  Real 'v[1]', 'v[2]', y;\nequation\n  'v' = {2, 4};\n"
      "  y = 10*'v[1]' + 'v[2]' + 100*size('v', 1);\nend M;\n",
      224.0);
    /* two subscripts, and an element of the whole */
    Y("model M\n  Real 'm[1,1]' = 1, 'm[1,2]' = 2, 'm[2,1]' = 3, 'm[2,2]' = 4, y;\nequation\n"
      "  y = sum('m'*{1, 10}) + 100*'m'[2, 1];\nend M;\n",
      1 + 20 + 3 + 40 + 300.0);
}

static void test_derivatives_of_wholes(void **state)
{
    (void)state;
    run r;
    OK(begin(&r,
             "model M\n  Real 'x[1]'(start = 1, fixed = true), 'x[2]'(start = 2, fixed = true);\n"
             "equation\n  der('x') = -'x';\nend M;\n"));
    OK(step_to(&r, 1.0));
    expect_near(&r, "'x[1]'", exp(-1.0), 1e-7, __LINE__);
    expect_near(&r, "'x[2]'", 2.0 * exp(-1.0), 1e-7, __LINE__);
    end(&r);
}

#define COMPLEX                                                                                    \
    "record Complex\n  Real 're';\n  Real 'im';\nend Complex;\n"                                   \
    "function square\n  input Complex z;\n  output Complex w;\nalgorithm\n"                        \
    "  w := Complex(z.re^2 - z.im^2, 2*z.re*z.im);\nend square;\n"

static void test_records_of_elements(void **state)
{
    (void)state;
    Y(COMPLEX "model M\n  Real 'z.re' = 3, 'z.im' = 2, y;\n  Complex w = square('z');\nequation\n"
              "  y = w.re + 100*w.im;\nend M;\n",
      1205.0);
    /* an array of records, one of them, and a field of all */
    Y(COMPLEX "model M\n  Real 'z[1].re' = 1, 'z[1].im' = 2, 'z[2].re' = 3, 'z[2].im' = 4, y;\n"
              "  Complex w = square('z[2]');\nequation\n"
              "  y = w.im + 100*sum('z'.re) + 1000*'z'[2].im;\nend M;\n",
      24.0 + 400.0 + 4000.0);
    /* a record that the text does not define */
    Y("model M\n  Real 'c.d[1].R' = 1, 'c.d[1].C' = 2, 'c.d[2].R' = 3, 'c.d[2].C' = 4, y;\n"
      "equation\n  y = sum('c.d[\\'k\\'].R'*'c.d[\\'k\\'].C' for 'k' in 1:2);\nend M;\n",
      14.0);
}

static void test_members_of_results(void **state)
{
    (void)state;
    Y(COMPLEX
      "model M\n  Real y = (square(Complex(3, 2))).im + square(Complex(1, 1)).im;\nend M;\n",
      14.0);
    Y(COMPLEX "model M\n  Real y = sum({Complex(i, 2*i) for i in 1:3}.im);\nend M;\n", 12.0);
}

/* ---- subscripts inside of names ---- */

static void test_subscripts_in_quotes(void **state)
{
    (void)state;
    Y("function last\n  input Real 'c'[:];\n  output Real y;\nalgorithm\n  y := 0;\n"
      "  for 'i' in 1:size('c', 1) loop\n    y := 10*y + 'c[\\'i\\']';\n  end for;\nend last;\n"
      "model M\n  Real y = last({1, 2, 3});\nend M;\n",
      123.0);
    Y("model M\n  Real 'v[1]' = 1, 'v[2]' = 2, 'v[3]' = 3, y = sum('v[{1, 3}]') + "
      "10*sum('v[2:3]');\n"
      "end M;\n",
      54.0);
    /* literals of an enumeration */
    Y("type 'E' = enumeration('lo', 'hi');\nmodel M\n"
      "  Real 't[\\'E\\'.\\'lo\\',\\'E\\'.\\'lo\\']' = 1, 't[\\'E\\'.\\'lo\\',\\'E\\'.\\'hi\\']' = "
      "2,\n"
      "    't[\\'E\\'.\\'hi\\',\\'E\\'.\\'lo\\']' = 3, 't[\\'E\\'.\\'hi\\',\\'E\\'.\\'hi\\']' = "
      "4;\n"
      "  parameter 'E' 'e' = 'E'.'hi';\n"
      "  Real y = 't'['e', 'E'.'lo'] + 10*'t[\\'E\\'.\\'lo\\',\\'e\\']';\nend M;\n",
      23.0);
}

/* ---- algorithms ---- */

/* An element and its whole are one thing while an algorithm runs. */
static void test_wholes_in_algorithms(void **state)
{
    (void)state;
    Y("model M\n  Real 'r[1]', 'r[2]', y;\nalgorithm\n  'r[1]' := 1;\n  'r[2]' := 2;\n"
      "  'r' := 10*'r';\n  'r[2]' := 'r[2]' + 'r[1]';\n  y := 100*'r[1]' + 'r'[2];\nend M;\n",
      1030.0);
    /* the whole is only read */
    Y("model M\n  Real 'r[1]', 'r[2]', y;\nalgorithm\n  'r[1]' := 1;\n  'r[2]' := 2;\n"
      "  y := sum('r');\n  'r[1]' := 5;\nend M;\n",
      3.0);
}

/* ---- types and functions that every text may use ---- */

static void test_state_select_is_a_type(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, "model M\n  parameter StateSelect s = StateSelect.prefer;\n"
                 "  Real x(start = 1, fixed = true, stateSelect = s), y(stateSelect = "
                 "StateSelect.never);\nequation\n  der(x) = -x;\n  y = 2*x;\nend M;\n"));
    OK(step_to(&r, 1.0));
    expect_near(&r, "y", 2.0 * exp(-1.0), 1e-7, __LINE__);
    end(&r);
}

static void test_functions_of_the_library(void **state)
{
    (void)state;
    Y("model M\n  Real y = 'Modelica.Math.atan2'(1, 2) + 'Modelica.Math.exp'(0.5) + "
      "'Modelica.Math.log10'(7);\nend M;\n",
      atan2(1.0, 2.0) + exp(0.5) + log10(7.0));
    Y("model M\n  Real y = 'Modelica.Math.Vectors.length'({3, 4}) + "
      "sum('Modelica.Math.Vectors.normalize'({0, 2}));\nend M;\n",
      6.0);
    Y("model M\n  Real y = sum('Modelica.Math.Vectors.normalize'({0, 1e-14}));\nend M;\n", 0.1);
    Y("model M\n  Real y = 'Modelica.Units.Conversions.from_degC'(1) + "
      "'Modelica.Units.Conversions.to_degC'(0) + 'Modelica.Units.Conversions.from_deg'(180) + "
      "'Modelica.Units.Conversions.to_deg'(1);\nend M;\n",
      1.0 + acos(-1.0) + 180.0 / acos(-1.0));
}

/* Errors inside of such a function are told where it is called. */
static void test_errors_of_the_library(void **state)
{
    (void)state;
    run r;
    assert_int_equal(load(&r, "model M\n  Real y = 'Modelica.Math.Vectors.length'(1);\nend M;\n"),
                     DAE_ERR_MODEL);
    assert_non_null(strstr(r.diag.text, "m.mo:2:"));
    assert_int_equal(load(&r, "model M\n  Real y = 'Modelica.Math.nothing'(1);\nend M;\n"),
                     DAE_ERR_MODEL);
    assert_non_null(strstr(r.diag.text, "unknown function"));
}

/* ---- functions as arguments ---- */

#define CURVES                                                                                     \
    "partial function Curve\n  input Real u;\n  output Real y;\nend Curve;\n"                      \
    "function parabola\n  input Real u;\n  input Real 'a';\n  input Real b = 0;\n"                 \
    "  output Real y;\nalgorithm\n  y := 'a'*u^2 + b;\nend parabola;\n"                            \
    "function square\n  input Real u;\n  output Real y;\nalgorithm\n  y := u*u;\nend square;\n"    \
    "function simpson\n  input Curve f;\n  input Real lo;\n  input Real hi;\n  output Real y;\n"   \
    "algorithm\n  y := (hi - lo)/6*(f(lo) + 4*f(u = (lo + hi)/2) + f(hi));\nend simpson;\n"        \
    "function twice\n  input Curve f;\n  output Real y;\nalgorithm\n"                              \
    "  y := 2*simpson(f, 0, 3);\nend twice;\n"

/* Simpson's rule integrates parabolas exactly. */
static void test_functions_as_arguments(void **state)
{
    (void)state;
    Y(CURVES "model M\n  Real y = simpson(square, 0, 3);\nend M;\n", 9.0);
    Y(CURVES "model M\n  Real y = simpson(function parabola(a = 2), lo = 0, hi = 3);\nend M;\n",
      18.0);
    Y(CURVES "model M\n  Real y = simpson(hi = 3, lo = 0, f = function parabola('a' = 2, b = 1));\n"
             "end M;\n",
      21.0);
    /* what is open is not the first input: 5 - u */
    Y(CURVES
      "function minus\n  input Real a;\n  input Real u;\n  output Real y;\nalgorithm\n"
      "  y := a - u;\nend minus;\nmodel M\n  Real y = simpson(function minus(a = 5), 0, 3);\n"
      "end M;\n",
      10.5);
    /* handed on, and over a variable of the run */
    Y(CURVES "model M\n  Real x(start = 2, fixed = true), y;\nequation\n  der(x) = 1;\n"
             "  y = twice(function parabola(a = x));\nend M;\n",
      36.0);
}

/* A search by halves in a loop of the run. */
static void test_function_argument_in_a_loop(void **state)
{
    (void)state;
    Y(CURVES
      "function root\n  input Curve f;\n  output Real y;\nprotected\n  Real lo = 0;\n"
      "  Real hi = 2;\n  Real m;\nalgorithm\n  while hi - lo > 1e-12 loop\n    m := (lo + hi)/2;\n"
      "    if f(m) < 0 then\n      lo := m;\n    else\n      hi := m;\n    end if;\n  end while;\n"
      "  y := lo;\nend root;\n"
      "model M\n  Real x(start = 2, fixed = true), y;\nequation\n  der(x) = 1;\n"
      "  y = root(function parabola(a = 1, b = -x));\nend M;\n",
      sqrt(2.0));
}

static void expect_error(const char *text, const char *part)
{
    run r;
    assert_int_equal(load(&r, text), DAE_ERR_MODEL);
    if (!strstr(r.diag.text, part)) print_message("%s", r.diag.text);
    assert_non_null(strstr(r.diag.text, part));
}

static void test_wrong_functions_as_arguments(void **state)
{
    (void)state;
    expect_error(CURVES "model M\n  Real y = simpson(parabola, 0, 1);\nend M;\n",
                 "expected a function of 1 input, but parabola leaves 3 open");
    expect_error(CURVES "model M\n  Real y = simpson(1.0, 0, 1);\nend M;\n",
                 "expected a function, found Real");
    expect_error(CURVES "model M\n  Real y = simpson(nothing, 0, 1);\nend M;\n",
                 "unknown function 'nothing'");
    expect_error(CURVES "model M\n  Real y = simpson(function parabola(c = 1), 0, 1);\nend M;\n",
                 "parabola has no input 'c'");
    expect_error(CURVES "model M\n  Real y = square(function parabola(a = 1));\nend M;\n",
                 "a function stands only where a function wants one");
    expect_error(CURVES "model M\n  Real y = simpson(function square(2), 0, 1);\nend M;\n",
                 "inputs are bound by name");
    expect_error(CURVES "model M\n  Curve c;\n  Real y = 1;\nend M;\n", "'Curve' is not a type");
}

static void test_calls_of_impure_functions(void **state)
{
    (void)state;
    Y("impure function half\n  input Real u;\n  output Real y;\nalgorithm\n  y := u/2;\nend half;\n"
      "model M\n  Real y = 3*pure(half(4));\nend M;\n",
      6.0);
    expect_error("model M\n  Real y = pure();\nend M;\n", "pure wants 1 argument");
}

/* ---- parameters that the initial system computes ---- */

/* p + q = 5, p q = 6 with p near 2; r = p^2 would be a definition, but by what is not known; s is
 * bound to it. */
static void test_parameters_of_the_initial_system(void **state)
{
    (void)state;
    Y("model M\n  parameter Real p(fixed = false, start = 2.1), q(fixed = false, start = 3.2);\n"
      "  parameter Real r(fixed = false, start = 1);\n  parameter Real s = 10*r;\n"
      "  parameter Real t = s + 1;\n  Real x(start = 1, fixed = true), y;\n"
      "initial equation\n  p + q = 5;\n  p*q = 6;\n  r = p^2;\n"
      "equation\n  der(x) = -t*x;\n  y = t + s + q;\nend M;\n",
      41.0 + 40.0 + 3.0);
    expect_error("model M\n  Real x(start = 1, fixed = true);\n  parameter Real s = 2*x;\n"
                 "equation\n  der(x) = s;\nend M;\n",
                 "must not depend on variables");
}

/* Whole arrays, elements, rows and several results at once. */
static void test_initial_algorithms_of_arrays(void **state)
{
    (void)state;
    static const char two[] =
        "function two\n  input Real x;\n  output Real a;\n  output Real b[2];\nalgorithm\n"
        "  a := x;\n  b := {x, 2*x};\nend two;\n"
        "model M\n  parameter Real p(fixed = false), v[2](each fixed = false);\n"
        "  parameter Real w[2, 2](each fixed = false), u[3](each fixed = false);\n"
        "  Real y = p + sum(v) + 10*w[2, 1] + 100*u[3] + w[1, 2];\ninitial algorithm\n"
        "  (p, v) := two(3);\n  w[1, :] := v;\n  w[2, :] := {p, time};\n"
        "  for i in 1:3 loop\n    u[i] := i*p;\n  end for;\nend M;\n";
    Y(two, 3.0 + 9.0 + 30.0 + 900.0 + 6.0);
    expect_error("model M\n  parameter Real v[2](each fixed = false);\n  Real y = sum(v);\n"
                 "initial algorithm\n  v[2] := 1;\nend M;\n",
                 "'v' gets no value");
    expect_error("model M\n  parameter Real p(fixed = false);\n  discrete Real d;\n  Real y = p;\n"
                 "initial algorithm\n  p := 1;\n  d := 2;\nequation\n  when time > 1 then\n"
                 "    d = 1;\n  end when;\nend M;\n",
                 "nothing but parameters");
}

/* A value counts with fixed = false, too; it was passed over. Together with an initial equation it
 * may be one too many. A parameter whose initial equation became its value is not to be set. */
static void test_values_of_computed_parameters(void **state)
{
    (void)state;
    run r;
    Y("model M\n  parameter Real p(fixed = false) = 3;\n  Real y = 2*p;\nend M;\n", 6.0);
    Y("model M\n  parameter Real p(fixed = false) = 3;\n  Real y = 2*p;\ninitial equation\n"
      "  p = 3;\nend M;\n",
      6.0);
    assert_int_not_equal(
        begin(
            &r,
            "model M\n  parameter Real p(fixed = false) = 4;\n  Real x(start = 1, fixed = true);\n"
            "initial equation\n  p = 3;\nequation\n  der(x) = -p*x;\nend M;\n"),
        DAE_OK);
    expect_words(diag_of(&r)->text, "initial equation|off by 1", __LINE__);
    end(&r);
    prepare(&r, "model M\n  parameter Real p(fixed = false);\n  Real y = 2*p;\ninitial equation\n"
                "  p = 3;\nend M;\n");
    assert_string_equal(dae_problem_parameter(r.problem, 0), "p");
    assert_false(dae_problem_parameter_info(r.problem, 0).settable);
    end(&r);
}

/* What is no Real is held from the start on: y(0) = 4 x(0) = 4 makes b true, then e high, so that
 * y = 2 x, and k = 2: x = 1 - 2 t. Behind t = 0.25, y is below 1, and b stays. */
static void test_held_parameters_of_the_initial_system(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, "type E = enumeration(low, high);\nmodel M\n"
                 "  parameter Boolean b(fixed = false);\n  parameter Integer k(fixed = false);\n"
                 "  parameter E e(fixed = false);\n  Real x(start = 1, fixed = true), y;\n"
                 "initial equation\n  b = y > 1;\n  e = if y > 1 then E.high else E.low;\n"
                 "  if b then\n    k = 2;\n  else\n    k = 7;\n  end if;\n"
                 "equation\n  der(x) = if b then -k else 1;\n"
                 "  y = (if e == E.high then 2 else 4)*x;\nend M;\n"));
    expect_near(&r, "y", 2.0, 1e-9, __LINE__);
    OK(step_to(&r, 2.0));
    expect_near(&r, "x", -3.0, 1e-6, __LINE__);
    expect_near(&r, "b", 1.0, 0.0, __LINE__);
    expect_near(&r, "e", 2.0, 0.0, __LINE__);
    end(&r);
}

/* y = 3 x + 1 is no state: der(y) = 3 der(x) = -6 x. */
static void test_derivatives_of_algebraic_variables(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, "model M\n  Real x, y;\ninitial equation\n  der(y) = -6;\nequation\n"
                 "  der(x) = -2*x;\n  y = 3*x + 1;\nend M;\n"));
    expect_near(&r, "x", 1.0, 1e-9, __LINE__);
    OK(step_to(&r, 1.0));
    expect_near(&r, "y", 3.0 * exp(-2.0) + 1.0, 1e-6, __LINE__);
    end(&r);
    /* by another name */
    Y("model M\n  Real x, y, z;\ninitial equation\n  der(z) = -6;\nequation\n"
      "  der(x) = -2*x;\n  z + y = 0;\n  x = -z;\nend M;\n",
      -3.0);
}

/* ---- streams at rest ---- */

/* Two vessels and a port between them: what the port carries is that of the vessel it comes from,
 * also where nothing flows. */
#define PORT(flow)                                                                                 \
    "model M\n  Real m1, m2, H1, H2, y, h1 = 10, h2 = 20;\nequation\n  m1 = " flow                 \
    ";\n  m1 + m2 = 0;\n  H1 + H2 = 0;\n  H1 = semiLinear(m1, y, h1);\n"                           \
    "  H2 = semiLinear(m2, y, h2);\nend M;\n"

static void test_streams_at_rest(void **state)
{
    (void)state;
    static const double later[] = {20.0, 10.0}, heat[] = {20.0, -10.0};
    for (int k = 0; k < 2; k++) {
        run r;
        OK(begin(&r, k ? PORT("-time") : PORT("time")));
        OK(step_to(&r, 1.0));
        expect_near(&r, "y", later[k], 1e-9, __LINE__);
        expect_near(&r, "H1", heat[k], 1e-9, __LINE__);
        end(&r);
    }
    Y(PORT("0*time"), 20.0);
    /* a third vessel without storage in the middle, through a heat flow that is zero */
    Y("model M\n  Real m, a, b, Ha, Hb, H1, H2, q, y, p1, p2, h1 = 10, h2 = 20;\nequation\n"
      "  m = time;\n  a = m;\n  a + b = 0;\n  q = 0;\n  Ha + Hb + q = 0;\n"
      "  Ha = semiLinear(a, p1, y);\n  Hb = semiLinear(b, p2, y);\n"
      "  H1 + Ha = 0;\n  H2 + Hb = 0;\n  H1 = semiLinear(-a, p1, h1);\n"
      "  H2 = semiLinear(-b, p2, h2);\nend M;\n",
      10.0);
}

/* ---- messages ---- */

/* What is missing in a branch because of an error is no second error. */
static void test_branches_with_errors(void **state)
{
    (void)state;
    run r;
    assert_int_equal(load(&r, "model M\n  Real x, y;\n  Real z = nothing;\nequation\n"
                              "  if time < 1 then\n    x = 1;\n    y = z;\n  else\n"
                              "    x = 2;\n    y = nothing;\n  end if;\nend M;\n"),
                     DAE_ERR_MODEL);
    assert_null(strstr(r.diag.text, "branches of this if"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_array_of_elements),
        cmocka_unit_test(test_derivatives_of_wholes),
        cmocka_unit_test(test_records_of_elements),
        cmocka_unit_test(test_members_of_results),
        cmocka_unit_test(test_subscripts_in_quotes),
        cmocka_unit_test(test_wholes_in_algorithms),
        cmocka_unit_test(test_state_select_is_a_type),
        cmocka_unit_test(test_functions_of_the_library),
        cmocka_unit_test(test_errors_of_the_library),
        cmocka_unit_test(test_functions_as_arguments),
        cmocka_unit_test(test_function_argument_in_a_loop),
        cmocka_unit_test(test_wrong_functions_as_arguments),
        cmocka_unit_test(test_calls_of_impure_functions),
        cmocka_unit_test(test_parameters_of_the_initial_system),
        cmocka_unit_test(test_values_of_computed_parameters),
        cmocka_unit_test(test_initial_algorithms_of_arrays),
        cmocka_unit_test(test_held_parameters_of_the_initial_system),
        cmocka_unit_test(test_derivatives_of_algebraic_variables),
        cmocka_unit_test(test_streams_at_rest),
        cmocka_unit_test(test_branches_with_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
