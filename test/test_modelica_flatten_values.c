/* Arrays and functions: what the flattened expressions are worth, against hand values and against
 * the same functions written in C. */
#include "test_modelica_flatten.h"

/* ---- arrays ---- */

typedef struct hand_value {
    const char *expression; /* of variables a[3], A[2,3], B[3,2], t */
    double value;
} hand_value;

/* a = {1.5, -2, 0.25}; A = [1, 2, 3; 4, 5, 6]; B = [1, -1; 0.5, 2; 3, 0]; t = 0.7 */
static const hand_value hand_values[] = {
    {"a[1] + a[end]", 1.75},
    {"sum(a)", -0.25},
    {"product(a)", -0.75},
    {"min(a)", -2.0},
    {"max(a)", 1.5},
    {"min(t, 0.5)", 0.5},
    {"max(t, a[1])", 1.5},
    {"a*a", 1.5 * 1.5 + 4.0 + 0.0625},
    {"sum(A*a)", (1.5 - 4.0 + 0.75) + (6.0 - 10.0 + 1.5)},
    {"sum(a*B)", (1.5 - 1.0 + 0.75) + (-1.5 - 4.0)},
    {"(A*B)[2, 1]", 4.0 + 2.5 + 18.0},
    {"(B*A)[3, 2]", 6.0},
    {"transpose(A)[3, 1]", 3.0},
    {"sum(2*a)", -0.5},
    {"sum(a/2)", -0.125},
    {"sum(a .* a)", 6.3125},
    {"sum(a ./ {1, 2, 0.5})", 1.5 - 1.0 + 0.5},
    {"sum({2, 3} .^ 2)", 13.0},
    {"sum(a .+ t)", -0.25 + 2.1},
    {"sum(t .- a)", 2.1 + 0.25},
    {"sum(-a)", 0.25},
    {"([1, 2; 3, 4]^3)[1, 2]", 54.0},
    {"sum(identity(3)*a)", -0.25},
    {"sum(zeros(2, 3) + A)", 21.0},
    {"sum(ones(4))", 4.0},
    {"sum(fill(t, 2, 2))", 2.8},
    {"fill({1, 2}, 3)[3, 2]", 2.0},
    {"linspace(1, 2, 5)[4]", 1.75},
    {"diagonal(a)[2, 2] + diagonal(a)[1, 2]", -2.0},
    {"cross({1, 2, 3}, {4, 5, 6})*{1, 10, 100}", -3.0 + 60.0 - 300.0},
    {"(skew({1, 2, 3})*{4, 5, 6})*{1, 10, 100}", -3.0 + 60.0 - 300.0},
    {"outerProduct({1, 2}, a)[2, 3]", 0.5},
    {"symmetric([1, 2; 3, 4])[2, 1]", 2.0},
    {"size(A, 2) + 10*size(B, 1) + 100*ndims(A)", 233.0},
    {"size(A)*{1, 10}", 32.0},
    {"cat(1, {1, 2}, a)[4]", -2.0},
    {"cat(2, A, [7; 8])[2, 4]", 8.0},
    {"[A; 7, 8, 9][3, 2]", 8.0},
    {"[a, {1, 2, 3}][2, 2]", 2.0},
    {"{{1, 2}, {3, t}}[2, 2]", 0.7},
    {"(promote(a, 2)*transpose(promote(a, 2)))[2, 3]", -0.5},
    {"size(promote(A, 3), 3) + 10*size(promote(A, 3), 2) + 100*ndims(promote(t, 1))", 131.0},
    {"vector([1; 2; 3])*a", 1.5 - 4.0 + 0.75},
    {"matrix(a)[3, 1]", 0.25},
    {"scalar({{t}})", 0.7},
    {"array(1, t, 3)[2]", 0.7},
    {"sum(A[:, 2])", 7.0},
    {"sum(A[1, 2:3])", 5.0},
    {"sum(A[2, {1, 3}])", 10.0},
    {"A[end, end - 1]", 5.0},
    {"sum(a[1:2:3])", 1.75},
    {"sum(a[3:-1:2])", -1.75},
    {"sum(i^2 for i in 1:4)", 30.0},
    {"product(i for i in 1:5)", 120.0},
    {"max(a[i]*i for i in 1:3)", 1.5},
    {"min(i - 2 for i in {5, 3, 4})", 1.0},
    {"sum(A[i, j]*(i + j) for i in 1:2, j in 1:3)", 2.0 + 6.0 + 12.0 + 12.0 + 20.0 + 30.0},
    {"{10*i + j for i in 1:2, j in 1:3}[3, 1]", 13.0},
    {"sum({a[i]*t for i in 1:3})", -0.25 * 0.7},
    {"sum(x for x in a)", -0.25},
    {"(0.5:0.5:2)*{1, 1, 1, 1}", 5.0},
    {"if t > 0.5 then 1 else 2", 1.0},
    {"sum(if t > 0.8 then a else 2*a)", -0.5},
    {"if t > 1 then 1 elseif t > 0.6 then 2 else 3", 2.0},
    {"abs(a[2]) + sign(a[2])", 1.0},
    {"sqrt(t)*exp(t) - log(t) + log10(t)", 1.0}, /* value below */
    {"sin(t) + cos(t)*tan(t)", 1.0},
    {"asin(t) + acos(t) + atan(t)", 1.0},
    {"sinh(t) + cosh(t) + tanh(t)", 1.0},
    {"atan2(a[2], t)", 1.0},
    {"sum(sin(a))", 1.0},
    {"floor(a[2] - t) + ceil(t)", -2.0},
    {"integer(3.7*t)", 2.0},
    {"mod(7.5, 2) + mod(-1, 3) + mod(t, 0.5)", 1.5 + 2.0 + 0.2},
    {"rem(-7.5, 2) + div(-7.5, 2)", -1.5 - 3.0},
    {"div(7, 2) + rem(7, -2)", 4.0},
    {"div(-t, 0.2) + rem(-t, 0.2)", -3.0 - 0.1},
    {"semiLinear(t, 2, 3) + semiLinear(-t, 2, 3)", 1.4 - 2.1},
    {"smooth(1, if t > 1 then t^2 else t)", 0.7},
    {"noEvent(if t > 1 then t^2 else t)", 0.7},
    {"homotopy(actual = t, simplified = 1)", 0.7},
    {"homotopy(2*t, 1)", 1.4},
    {"2^0.5 + t^2 + t^(-1)", 1.0},
    {"a[integer(2*t)]", 1.5}, /* a subscript of the run */
    {"A[integer(2*t) + 1, 2]", 5.0},
    {"sum(A[integer(2*t), :])", 6.0},
};
enum { HAND_COUNT = sizeof hand_values / sizeof *hand_values };

/* Entries marked 1.0 above whose value only C can tell. */
static double expected_value(size_t k)
{
    const char *e = hand_values[k].expression;
    double t = 0.7;
    if (strncmp(e, "sqrt", 4) == 0) return sqrt(t) * exp(t) - log(t) + log10(t);
    if (strncmp(e, "sin(t)", 6) == 0) return sin(t) + cos(t) * tan(t);
    if (strncmp(e, "asin", 4) == 0) return asin(t) + acos(t) + atan(t);
    if (strncmp(e, "sinh", 4) == 0) return sinh(t) + cosh(t) + tanh(t);
    if (strncmp(e, "atan2", 5) == 0) return atan2(-2.0, t);
    if (strncmp(e, "sum(sin", 7) == 0) return sin(1.5) + sin(-2.0) + sin(0.25);
    if (strncmp(e, "2^0.5", 5) == 0) return sqrt(2.0) + t * t + 1.0 / t;
    return hand_values[k].value;
}

static void give_arrays(flattened *f)
{
    static const double a[] = {1.5, -2.0, 0.25}, big_b[] = {1.0, -1.0, 0.5, 2.0, 3.0, 0.0};
    char name[32];
    for (int k = 0; k < 6; k++) {
        snprintf(name, sizeof name, "A[%d,%d]", k / 3 + 1, k % 3 + 1);
        give(f, name, k + 1.0);
        snprintf(name, sizeof name, "B[%d,%d]", k / 2 + 1, k % 2 + 1);
        give(f, name, big_b[k]);
        snprintf(name, sizeof name, "a[%d]", k + 1);
        if (k < 3) give(f, name, a[k]);
    }
    give(f, "t", 0.7);
}

static void array_values(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t k = 0; k < HAND_COUNT; k++) {
        char text[512];
        snprintf(text, sizeof text,
                 "model M\n  Real a[3], A[2, 3], B[3, 2], t, y;\nequation\n  y = %s;\n"
                 "  der(a) = zeros(3);\n  der(A) = zeros(2, 3);\n  der(B) = zeros(3, 2);\n"
                 "  der(t) = 0;\nend M;\n",
                 hand_values[k].expression);
        flattened f = flatten_good(text);
        give_arrays(&f);
        double got = number(&f, "y"), want = expected_value(k);
        if (!(fabs(got - want) <= 1e-12 * (1.0 + fabs(want)))) {
            print_message("%s: %.17g, not %.17g\n", hand_values[k].expression, got, want);
            wrong++;
        }
        release(&f);
    }
    assert_int_equal(wrong, 0);
}

static void enumerations(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n"
                               "  type Size = enumeration(small, medium \"m\", large);\n"
                               "  parameter Size s = Size.medium;\n"
                               "  parameter Real weight[Size] = {1, 2, 4};\n"
                               "  Real x = if s == Size.medium then weight[s] else 0;\n"
                               "  Real y = sum(weight[k] for k in Size.medium:Size.large);\n"
                               "  Real z = if s < Size.large then Integer(s) else 10;\n"
                               "  Real w = sum(weight[k]*Integer(k) for k in Size);\n"
                               "end M;\n");
    assert_int_equal(f.m->parameters[0].type, FLAT_ENUMERATION);
    assert_near(number(&f, "x"), 2.0);
    assert_near(number(&f, "y"), 6.0);
    assert_near(number(&f, "z"), 2.0);
    assert_near(number(&f, "w"), 1.0 + 4.0 + 12.0);
    release(&f);
}

/* ---- functions ---- */

static double random_number(void)
{
    static uint64_t s = 88172645463325252u;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return 4.0 * ((double)(s >> 11) / 9007199254740992.0) - 2.0;
}

static const char *const function_text =
    "model M\n"
    "  function horner\n    input Real x;\n    input Real c[:];\n    output Real y = 0;\n"
    "  algorithm\n    for i in size(c, 1):-1:1 loop\n      y := y*x + c[i];\n    end for;\n"
    "  end horner;\n"
    "  function newton\n    input Real a;\n    input Integer most = 6;\n    output Real r;\n"
    "    output Integer used;\n  protected\n    Real next;\n  algorithm\n"
    "    r := 1;\n    used := 0;\n    for k in 1:most loop\n      next := (r + a/r)/2;\n"
    "      if abs(next - r) < 1e-3 then\n        r := next;\n        break;\n      end if;\n"
    "      r := next;\n      used := used + 1;\n    end for;\n  end newton;\n"
    "  function clip\n    input Real x, low = -1, high = 1;\n    output Real y;\n  algorithm\n"
    "    if x < low then\n      y := low;\n      return;\n    elseif x > high then\n"
    "      y := high;\n      return;\n    end if;\n    y := x;\n    y := y*1;\n  end clip;\n"
    "  function solve2\n    input Real A[2, 2], b[2];\n    output Real x[2];\n  protected\n"
    "    Real L[2, 2] = A, r[2] = b, f;\n  algorithm\n"
    "    if abs(L[1, 1]) < abs(L[2, 1]) then\n      L := {L[2, :], L[1, :]};\n"
    "      r := {r[2], r[1]};\n    end if;\n"
    "    f := L[2, 1]/L[1, 1];\n    L[2, :] := L[2, :] - f*L[1, :];\n    r[2] := r[2] - f*r[1];\n"
    "    x[2] := r[2]/L[2, 2];\n    x[1] := (r[1] - L[1, 2]*x[2])/L[1, 1];\n  end solve2;\n"
    "  function fibonacci\n    input Integer n;\n    output Integer r;\n  algorithm\n"
    "    if n <= 2 then\n      r := 1;\n    else\n      r := fibonacci(n - 1) + fibonacci(n - 2);\n"
    "    end if;\n  end fibonacci;\n"
    "  function gcd\n    input Integer a, b;\n    output Integer r;\n  protected\n    Integer s, "
    "t;\n"
    "  algorithm\n    r := a;\n    s := b;\n    while s > 0 loop\n      t := mod(r, s);\n"
    "      r := s;\n      s := t;\n    end while;\n  end gcd;\n"
    "  record Polar\n    Real r, phi;\n  end Polar;\n"
    "  function polar\n    input Real x, y;\n    output Polar p;\n  algorithm\n"
    "    p.r := sqrt(x^2 + y^2);\n    p.phi := atan2(y, x);\n  end polar;\n"
    "  function turn\n    input Polar p;\n    input Real angle;\n    output Real x, y;\n  "
    "algorithm\n"
    "    x := p.r*cos(p.phi + angle);\n    y := p.r*sin(p.phi + angle);\n  end turn;\n"
    "  function sort3\n    input Real v[3];\n    output Real s[3] = v;\n  protected\n    Real t;\n"
    "  algorithm\n    for i in 1:2 loop\n      for j in 1:3 - i loop\n"
    "        if s[j] > s[j + 1] then\n          t := s[j];\n          s[j] := s[j + 1];\n"
    "          s[j + 1] := t;\n        end if;\n      end for;\n    end for;\n  end sort3;\n"
    "  function first_above\n    input Real v[:], limit;\n    output Real index = 0;\n  algorithm\n"
    "    for i in 1:size(v, 1) loop\n      if v[i] > limit then\n        index := i;\n"
    "        return;\n      end if;\n    end for;\n    index := -1;\n  end first_above;\n"
    "  Real x, y, z;\n"
    "  Real h = horner(x, {1, -2, 0.5, 3});\n"
    "  Real n1, n2;\n"
    "  Real c1 = clip(x), c2 = clip(y, high = 0.5);\n"
    "  Real s[2] = solve2([x, y; 1, z], {1, x});\n"
    "  Real g = gcd(84, 36) + fibonacci(12);\n"
    "  Polar p = polar(x, y);\n"
    "  Real tx, ty;\n"
    "  Real o[3] = sort3({x, y, z});\n"
    "  Real i1 = first_above({x, y, z}, 0.5);\n"
    "  Real many[2, 2] = clip([x, y; z, 2*x]);\n"
    "equation\n"
    "  der({x, y, z}) = {1, 2, 3};\n"
    "  (n1, n2) = newton(x^2 + 0.1);\n"
    "  (tx, ty) = turn(p, 0.3);\n"
    "end M;\n";

static double c_newton(double a, int *used)
{
    double r = 1.0;
    *used = 0;
    for (int k = 0; k < 6; k++) {
        double next = (r + a / r) / 2.0;
        bool done = fabs(next - r) < 1e-3;
        r = next;
        if (done) break;
        ++*used;
    }
    return r;
}

static double c_clip(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void compare_with_c(flattened *f, double x, double y, double z)
{
    int used;
    double det = x * z - y, v[3] = {x, y, z};
    assert_near(number(f, "h"), 1.0 + x * (-2.0 + x * (0.5 + 3.0 * x)));
    assert_near(number(f, "n1"), c_newton(x * x + 0.1, &used));
    assert_near(number(f, "n2"), used);
    assert_near(number(f, "c1"), c_clip(x, -1.0, 1.0));
    assert_near(number(f, "c2"), c_clip(y, -1.0, 0.5));
    assert_true(fabs(number(f, "s[1]") - (z - x * y) / det) < 1e-9 * (1.0 + fabs(1.0 / det)));
    assert_true(fabs(number(f, "s[2]") - (x * x - 1.0) / det) < 1e-9 * (1.0 + fabs(1.0 / det)));
    assert_near(number(f, "g"), 12.0 + 144.0);
    assert_near(number(f, "p.r"), sqrt(x * x + y * y));
    assert_near(number(f, "tx"), x * cos(0.3) - y * sin(0.3));
    assert_near(number(f, "ty"), x * sin(0.3) + y * cos(0.3));
    double index = x > 0.5 ? 1.0 : y > 0.5 ? 2.0 : z > 0.5 ? 3.0 : -1.0;
    assert_near(number(f, "i1"), index);
    assert_near(number(f, "many[2,2]"), c_clip(2.0 * x, -1.0, 1.0));
    qsort(v, 3, sizeof *v, compare_doubles);
    assert_near(number(f, "o[1]"), v[0]);
    assert_near(number(f, "o[2]"), v[1]);
    assert_near(number(f, "o[3]"), v[2]);
}

static void functions(void **state)
{
    (void)state;
    flattened f = flatten_good(function_text);
    assert_int_equal(f.m->relation_count, 0); /* functions make no events */
    for (int k = 0; k < 200; k++) {
        double x = random_number(), y = random_number(), z = random_number();
        give(&f, "x", x);
        give(&f, "y", y);
        give(&f, "z", z);
        compare_with_c(&f, x, y, z);
    }
    release(&f);
}

/* Statements of the model itself, with branches of the run and loops. */
static void algorithms(void **state)
{
    (void)state;
    flattened f =
        flatten_good("model M\n  Real x, y, v[4], s;\nequation\n  der(x) = 1;\nalgorithm\n"
                     "  y := 1;\n"
                     "  for i in 1:4 loop\n    y := y*x;\n    v[i] := y + i;\n  end for;\n"
                     "  if x > 1 then\n    v[2] := 0;\n  elseif x > 0 then\n    y := -y;\n"
                     "  end if;\n"
                     "  s := sum(v);\n"
                     "end M;\n");
    static const double xs[] = {-0.5, 0.5, 1.5};
    for (int k = 0; k < 3; k++) {
        double x = xs[k], y = x * x * x * x;
        double v2 = x > 1.0 ? 0.0 : x * x + 2.0;
        give(&f, "x", x);
        assert_near(number(&f, "y"), x > 0.0 && x <= 1.0 ? -y : y);
        assert_near(number(&f, "v[2]"), v2);
        assert_near(number(&f, "s"), x + 1.0 + v2 + x * x * x + 3.0 + y + 4.0);
    }
    release(&f);
}

/* What a call costs is what it computes: a recursion of 12 with many equal calls shares nodes. */
static void shared_calls(void **state)
{
    (void)state;
    flattened f = flatten_good("model M\n  function f\n    input Real x;\n    output Real y;\n"
                               "  algorithm\n    y := sin(x) + cos(x);\n  end f;\n"
                               "  Real x, y[1000];\nequation\n  der(x) = 1;\n"
                               "  for i in 1:1000 loop\n    y[i] = f(x)*i;\n  end for;\nend M;\n");
    assert_true(graph_size(f.m->graph) < 5000);
    release(&f);
}

/* Sums along a chain go on from one another: as many nodes and passes as there are elements, and
 * the values that each sum has alone. 30000 sums of 15000 elements in the mean would pass every
 * limit. */
static void sums_that_go_on(void **state)
{
    (void)state;
    flattened f =
        flatten_good("model M\n  parameter Integer n = 30000;\n  parameter Real a = 0.3;\n"
                     "  Real x[n](start = {sum(sin(a + 0.5*sin(j)) for j in 1:i) for i in 1:n});\n"
                     "equation\n  for i in 1:n loop\n    der(x[i]) = 1;\n  end for;\nend M;\n");
    assert_true(graph_size(f.m->graph) < 400000);
    release(&f);
}

/* What depends on the outer iterator is not continued, nor what begins elsewhere or has steps. */
static void sums_on_their_own(void **state)
{
    (void)state;
    flattened f = flatten_good(
        "model M\n  Real x, y[5], z[5], w[5], v[5];\nequation\n  der(x) = 1;\n"
        "  y = {sum(i*j for j in 1:i) for i in 1:5};\n"
        "  z = {sum(j*x for j in i:5) for i in 1:5};\n"
        "  w = {sum(j for j in 1:i:5) for i in 1:5};\n"
        "  v = {sum(j*x for j in 1:6-i) + sum(2*j*x for j in 1:i) for i in 1:5};\nend M;\n");
    give(&f, "x", 2.0);
    const double z[] = {30.0, 28.0, 24.0, 18.0, 10.0}, w[] = {15.0, 9.0, 5.0, 6.0, 1.0};
    for (int i = 1; i <= 5; i++) {
        char name[16];
        const int down = 6 - i;
        snprintf(name, sizeof name, "y[%d]", i);
        assert_near(number(&f, name), i * i * (i + 1) / 2.0);
        snprintf(name, sizeof name, "z[%d]", i);
        assert_near(number(&f, name), z[i - 1]);
        snprintf(name, sizeof name, "w[%d]", i);
        assert_near(number(&f, name), w[i - 1]);
        snprintf(name, sizeof name, "v[%d]", i);
        assert_near(number(&f, name), down * (down + 1) + 2.0 * i * (i + 1));
    }
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(array_values),      cmocka_unit_test(enumerations),
        cmocka_unit_test(functions),         cmocka_unit_test(algorithms),
        cmocka_unit_test(shared_calls),      cmocka_unit_test(sums_that_go_on),
        cmocka_unit_test(sums_on_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
