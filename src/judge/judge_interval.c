/* Intervals of a function of time and of its first two derivatives. Bounds are widened by a few
 * units of the last place in each operation, so that rounding does not make them too narrow. */
#include "judge/judge_interval.h"

#include <math.h>
#include <string.h>

static interval widened(double low, double high)
{
    if (isnan(low) || isnan(high)) return (interval){-INFINITY, INFINITY};
    double more = 1e-15;
    return (interval){low - more * fabs(low), high + more * fabs(high)};
}

static interval unbounded(void)
{
    return (interval){-INFINITY, INFINITY};
}

static interval sum_of(interval a, interval b)
{
    return widened(a.low + b.low, a.high + b.high);
}

static interval minus(interval a)
{
    return (interval){-a.high, -a.low};
}

static double times(double a, double b)
{
    return a == 0.0 || b == 0.0 ? 0.0 : a * b;
}

static interval product_of(interval a, interval b)
{
    double p[4] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                   times(a.high, b.high)};
    double low = p[0], high = p[0];
    for (int k = 1; k < 4; k++) low = fmin(low, p[k]), high = fmax(high, p[k]);
    return widened(low, high);
}

static interval hull(interval a, interval b)
{
    return (interval){fmin(a.low, b.low), fmax(a.high, b.high)};
}

static interval square_of(interval a)
{
    double x = fabs(a.low), y = fabs(a.high);
    double low = a.low <= 0.0 && a.high >= 0.0 ? 0.0 : fmin(x * x, y * y);
    return widened(low, fmax(x * x, y * y));
}

static interval scaled(double factor, interval a)
{
    return product_of((interval){factor, factor}, a);
}

jet jet_constant(double v)
{
    return (jet){{{v, v}, {0.0, 0.0}, {0.0, 0.0}}};
}

jet jet_unknown(void)
{
    return (jet){{unbounded(), unbounded(), unbounded()}};
}

/* ---- elementary functions: h, h', h'' over an interval ---- */

static interval increasing(double (*f)(double), interval u)
{
    return widened(f(u.low), f(u.high));
}

/* sin over [a, b] by its largest and smallest value within */
static interval sine(interval u)
{
    const double half = 1.57079632679489661923, turn = 6.28318530717958647693;
    if (!(u.high - u.low < turn) || fabs(u.low) > 1e12) return (interval){-1.0, 1.0};
    double a = sin(u.low), b = sin(u.high), low = fmin(a, b), high = fmax(a, b);
    double slack = 1e-9;
    if (ceil((u.low - slack - half) / turn) * turn + half <= u.high + slack) high = 1.0;
    if (ceil((u.low - slack + half) / turn) * turn - half <= u.high + slack) low = -1.0;
    return (interval){fmax(low - 1e-15, -1.0), fmin(high + 1e-15, 1.0)};
}

static interval cosine(interval u)
{
    const double half = 1.57079632679489661923;
    return sine((interval){u.low + half, u.high + half});
}

static interval inverse(interval u)
{
    if (u.low <= 0.0 && u.high >= 0.0) return unbounded();
    return widened(1.0 / u.high, 1.0 / u.low);
}

static bool is(const char *name, const char *other)
{
    return strcmp(name, other) == 0;
}

static void sine_like(bool sin_, interval u, interval h[3])
{
    h[0] = sin_ ? sine(u) : cosine(u);
    h[1] = sin_ ? cosine(u) : minus(sine(u));
    h[2] = minus(h[0]);
}

static void root_like(interval u, interval h[3])
{
    interval v = {fmax(u.low, 0.0), u.high};
    h[0] = increasing(sqrt, v);
    h[1] = scaled(0.5, inverse(h[0]));
    h[2] = v.low > 0.0 ? scaled(-0.25, inverse(product_of(h[0], v))) : unbounded();
}

static void logarithm(interval u, double factor, interval h[3])
{
    if (u.low <= 0.0) {
        h[0] = h[1] = h[2] = unbounded();
        return;
    }
    h[0] = scaled(factor, increasing(log, u));
    h[1] = scaled(factor, inverse(u));
    h[2] = scaled(-factor, inverse(square_of(u)));
}

/* tan = sin/cos: tan' = 1 + tan^2, tan'' = 2 tan tan'. tanh: with the other sign. */
static void tangent_like(double (*f)(double), double sign, interval u, interval h[3])
{
    const interval one = {1.0, 1.0};
    h[0] = increasing(f, u);
    h[1] = sum_of(one, scaled(sign, square_of(h[0])));
    h[2] = scaled(2.0 * sign, product_of(h[0], h[1]));
}

/* atan' = 1/(1 + u^2), atan'' = -2 u atan'^2 */
static void arc_tangent(interval u, interval h[3])
{
    h[0] = increasing(atan, u);
    h[1] = inverse(sum_of((interval){1.0, 1.0}, square_of(u)));
    h[2] = scaled(-2.0, product_of(u, square_of(h[1])));
}

/* asin' = (1 - u^2)^(-1/2), asin'' = u asin'^3; acos has the other sign. */
static void arc_sine(bool sine_, interval u, interval h[3])
{
    interval v = {fmax(u.low, -1.0), fmin(u.high, 1.0)};
    interval rest = sum_of((interval){1.0, 1.0}, minus(square_of(v)));
    if (rest.low <= 0.0) {
        h[1] = h[2] = unbounded();
    } else {
        h[1] = inverse(increasing(sqrt, rest));
        h[2] = product_of(v, product_of(h[1], square_of(h[1])));
    }
    h[0] = increasing(asin, v);
    if (sine_) return;
    h[0] = widened(acos(v.high), acos(v.low));
    h[1] = minus(h[1]), h[2] = minus(h[2]);
}

static void hyperbolic(bool sine_, interval u, interval h[3])
{
    double most = fmax(fabs(u.low), fabs(u.high));
    double least = u.low <= 0.0 && u.high >= 0.0 ? 0.0 : fmin(fabs(u.low), fabs(u.high));
    interval s = increasing(sinh, u), c = widened(cosh(least), cosh(most));
    h[0] = h[2] = sine_ ? s : c;
    h[1] = sine_ ? c : s;
}

static bool elementary(const char *name, interval u, interval h[3])
{
    if (is(name, "sin") || is(name, "cos"))
        sine_like(is(name, "sin"), u, h);
    else if (is(name, "exp"))
        h[0] = h[1] = h[2] = increasing(exp, u);
    else if (is(name, "sqrt") && u.high >= 0.0)
        root_like(u, h);
    else if (is(name, "log") || is(name, "log10"))
        logarithm(u, is(name, "log") ? 1.0 : 0.43429448190325182765, h);
    else if (is(name, "tanh"))
        tangent_like(tanh, -1.0, u, h);
    else if (is(name, "atan"))
        arc_tangent(u, h);
    else if ((is(name, "asin") || is(name, "acos")) && u.high >= -1.0 && u.low <= 1.0)
        arc_sine(is(name, "asin"), u, h);
    else if (is(name, "sinh") || is(name, "cosh"))
        hyperbolic(is(name, "sinh"), u, h);
    else if (is(name, "tan") && cosine(u).low > 0.0 && u.high - u.low < 3.0)
        tangent_like(tan, 1.0, u, h);
    else if (is(name, "tan") && cosine(u).high < 0.0 && u.high - u.low < 3.0)
        tangent_like(tan, 1.0, u, h);
    else
        return false;
    return true;
}

/* h(u(t)): f' = h' u', f'' = h'' u'^2 + h' u'' */
static jet composed(const interval h[3], jet u)
{
    jet f = {{h[0], product_of(h[1], u.d[1]),
              sum_of(product_of(h[2], square_of(u.d[1])), product_of(h[1], u.d[2]))}};
    return f;
}

static jet stepped(interval v)
{
    jet f = {{v, {0.0, 0.0}, {0.0, 0.0}}};
    if (v.low != v.high) f.d[1] = f.d[2] = unbounded();
    return f;
}

static jet absolute(jet u)
{
    if (u.d[0].low >= 0.0) return u;
    jet negative = {{minus(u.d[0]), minus(u.d[1]), minus(u.d[2])}};
    if (u.d[0].high <= 0.0) return negative;
    jet f = jet_either(u, negative);
    f.d[0].low = 0.0;
    return f;
}

jet jet_function(const char *name, jet u)
{
    interval h[3], v = u.d[0];
    if (elementary(name, v, h)) return composed(h, u);
    if (is(name, "abs")) return absolute(u);
    if (is(name, "floor") || is(name, "integer"))
        return stepped((interval){floor(v.low), floor(v.high)});
    if (is(name, "ceil")) return stepped((interval){ceil(v.low), ceil(v.high)});
    if (is(name, "sign"))
        return stepped((interval){v.low > 0.0   ? 1.0
                                  : v.low < 0.0 ? -1.0
                                                : 0.0,
                                  v.high > 0.0   ? 1.0
                                  : v.high < 0.0 ? -1.0
                                                 : 0.0});
    return jet_unknown();
}

/* ---- operators ---- */

static jet multiplied(jet a, jet b)
{
    interval cross = scaled(2.0, product_of(a.d[1], b.d[1]));
    return (jet){{product_of(a.d[0], b.d[0]),
                  sum_of(product_of(a.d[1], b.d[0]), product_of(a.d[0], b.d[1])),
                  sum_of(sum_of(product_of(a.d[2], b.d[0]), cross), product_of(a.d[0], b.d[2]))}};
}

static jet reciprocal(jet a)
{
    interval i = inverse(a.d[0]), square = square_of(i);
    interval h[3] = {i, minus(square), scaled(2.0, product_of(square, i))};
    return composed(h, a);
}

static interval whole_power(interval u, double n)
{
    if (n == 0.0) return (interval){1.0, 1.0};
    double a = pow(u.low, n), b = pow(u.high, n);
    if (fmod(n, 2.0) != 0.0) return widened(a, b);
    bool across = u.low <= 0.0 && u.high >= 0.0;
    return widened(across ? 0.0 : fmin(a, b), fmax(a, b));
}

/* u^n for a whole n, else exp(n log u) */
static jet raised(jet u, jet exponent)
{
    double n = exponent.d[0].low;
    bool fixed = n == exponent.d[0].high;
    if (fixed && n == floor(n) && n >= 0.0 && n <= 1000.0) {
        interval h[3] = {whole_power(u.d[0], n), {0.0, 0.0}, {0.0, 0.0}};
        if (n >= 1.0) h[1] = scaled(n, whole_power(u.d[0], n - 1.0));
        if (n >= 2.0) h[2] = scaled(n * (n - 1.0), whole_power(u.d[0], n - 2.0));
        return composed(h, u);
    }
    if (fixed && n == floor(n) && n < 0.0) return reciprocal(raised(u, jet_constant(-n)));
    return jet_function("exp", multiplied(exponent, jet_function("log", u)));
}

static jet relation(ast_op op, interval d)
{
    bool never = false, always = false;
    if (op == OP_LT || op == OP_LE) always = d.high<0.0, never = d.low> 0.0;
    if (op == OP_GT || op == OP_GE) always = d.low > 0.0, never = d.high < 0.0;
    bool apart = d.low > 0.0 || d.high < 0.0;
    if (op == OP_EQ) never = apart;
    if (op == OP_NE) always = apart;
    return stepped((interval){always ? 1.0 : 0.0, never ? 0.0 : 1.0});
}

jet jet_operator(ast_op op, jet a, jet b)
{
    jet negative = {{minus(b.d[0]), minus(b.d[1]), minus(b.d[2])}};
    switch (op) {
    case OP_ADD:
    case OP_EADD:
        return (jet){{sum_of(a.d[0], b.d[0]), sum_of(a.d[1], b.d[1]), sum_of(a.d[2], b.d[2])}};
    case OP_SUB:
    case OP_ESUB: return jet_operator(OP_ADD, a, negative);
    case OP_MUL:
    case OP_EMUL: return multiplied(a, b);
    case OP_DIV:
    case OP_EDIV: return multiplied(a, reciprocal(b));
    case OP_POW:
    case OP_EPOW: return raised(a, b);
    case OP_AND:
        return stepped((interval){fmin(a.d[0].low, b.d[0].low), fmin(a.d[0].high, b.d[0].high)});
    case OP_OR:
        return stepped((interval){fmax(a.d[0].low, b.d[0].low), fmax(a.d[0].high, b.d[0].high)});
    default: return relation(op, sum_of(a.d[0], negative.d[0]));
    }
}

/* a - b floor(a/b), for a constant b > 0 */
jet jet_mod(jet a, jet b)
{
    double n = b.d[0].low;
    if (n != b.d[0].high || !(n > 0.0)) return jet_unknown();
    double first = floor(a.d[0].low / n), last = floor(a.d[0].high / n);
    if (first == last) return jet_operator(OP_SUB, a, jet_constant(n * first));
    return (jet){{{0.0, n}, unbounded(), unbounded()}};
}

jet jet_extreme(bool largest, jet a, jet b)
{
    if (a.d[0].low >= b.d[0].high) return largest ? a : b;
    if (b.d[0].low >= a.d[0].high) return largest ? b : a;
    jet f = jet_either(a, b);
    if (largest)
        f.d[0] = (interval){fmax(a.d[0].low, b.d[0].low), fmax(a.d[0].high, b.d[0].high)};
    else
        f.d[0] = (interval){fmin(a.d[0].low, b.d[0].low), fmin(a.d[0].high, b.d[0].high)};
    return f;
}

jet jet_either(jet a, jet b)
{
    return (jet){{hull(a.d[0], b.d[0]), unbounded(), unbounded()}};
}
