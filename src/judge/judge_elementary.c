/* Elementary functions, with their slopes for the spread of errors, and the functions that round
 * (Modelica specification 3.6, 3.7.1 to 3.7.3). All work element by element. */
#include <string.h>

#include "judge/judge_parts.h"

/* ---- smooth functions ---- */

typedef struct slope {
    double v, d; /* value and derivative */
} slope;

typedef struct elementary {
    const char *name;
    slope (*at)(double x);
    double least, most; /* where it is defined */
    bool open;          /* without the ends */
    const char *outside;
} elementary;

#define SMOOTH(name, value, derivative)                                                            \
    static slope name##_at(double x)                                                               \
    {                                                                                              \
        return (slope){value, derivative};                                                         \
    }
SMOOTH(sqrt, sqrt(x), 0.5 / sqrt(x))
SMOOTH(exp, exp(x), exp(x))
SMOOTH(log, log(x), 1.0 / x)
SMOOTH(log10, log10(x), 0.43429448190325182765 / x)
SMOOTH(sin, sin(x), cos(x))
SMOOTH(cos, cos(x), -sin(x))
SMOOTH(tan, tan(x), 1.0 / (cos(x) * cos(x)))
SMOOTH(asin, asin(x), 1.0 / sqrt(1.0 - x * x))
SMOOTH(acos, acos(x), -1.0 / sqrt(1.0 - x * x))
SMOOTH(atan, atan(x), 1.0 / (1.0 + x * x))
SMOOTH(sinh, sinh(x), cosh(x))
SMOOTH(cosh, cosh(x), sinh(x))
SMOOTH(tanh, tanh(x), 1.0 - tanh(x) * tanh(x))

static const elementary elementaries[] = {
    {"sqrt", sqrt_at, 0.0, INFINITY, false, "sqrt of a negative number"},
    {"exp", exp_at, -INFINITY, INFINITY, false, ""},
    {"log", log_at, 0.0, INFINITY, true, "log of a number that is not positive"},
    {"log10", log10_at, 0.0, INFINITY, true, "log10 of a number that is not positive"},
    {"sin", sin_at, -INFINITY, INFINITY, false, ""},
    {"cos", cos_at, -INFINITY, INFINITY, false, ""},
    {"tan", tan_at, -INFINITY, INFINITY, false, ""},
    {"asin", asin_at, -1.0, 1.0, false, "asin of a number outside [-1, 1]"},
    {"acos", acos_at, -1.0, 1.0, false, "acos of a number outside [-1, 1]"},
    {"atan", atan_at, -INFINITY, INFINITY, false, ""},
    {"sinh", sinh_at, -INFINITY, INFINITY, false, ""},
    {"cosh", cosh_at, -INFINITY, INFINITY, false, ""},
    {"tanh", tanh_at, -INFINITY, INFINITY, false, ""}};

static const elementary *elementary_of(const char *name)
{
    for (size_t k = 0; k < sizeof elementaries / sizeof elementaries[0]; k++)
        if (strcmp(elementaries[k].name, name) == 0) return &elementaries[k];
    return NULL;
}

/* f and its derivative at x, by name; false: no such function, or it is not defined there. */
bool judge_elementary(const char *name, double x, double *v, double *derivative)
{
    const elementary *e = elementary_of(name);
    if (!e || !(e->open ? x > e->least && x < e->most : x >= e->least && x <= e->most))
        return false;
    slope s = e->at(x);
    *v = s.v, *derivative = s.d;
    return true;
}

/* Where the derivative is infinite, as at the ends of sqrt, the spread is that of a finite step. */
static double spread_of(const elementary *e, slope s, cell c)
{
    if (c.spread == 0.0) return 0.0;
    if (isfinite(s.d) && fabs(s.d) * c.spread <= 1.0 + fabs(s.v)) return fabs(s.d) * c.spread;
    double low = fmax(c.v - c.spread, e->least), high = fmin(c.v + c.spread, e->most);
    if (e->open && low <= e->least) low = 0.5 * (e->least + c.v);
    return fmax(fabs(e->at(low).v - s.v), fabs(e->at(high).v - s.v));
}

static cell elementary_cell(machine *m, const elementary *e, cell c, int line)
{
    bool inside = e->open ? c.v > e->least && c.v < e->most : c.v >= e->least && c.v <= e->most;
    if (!inside && !isnan(c.v)) return (cell){.v = judge_undefined(m, line, e->outside)};
    slope s = e->at(c.v);
    double term = isfinite(s.d) ? fabs(s.d) * c.size : 0.0;
    return (cell){.v = s.v, .size = fabs(s.v) + term, .spread = spread_of(e, s, c)};
}

static value argument(machine *m, const node *n, int k)
{
    value v = judge_eval(m, n->kids[k]);
    if (!judge_numeric(&v)) judge_fail(m, n->line, "'%s' of what is not a number", n->name);
    return v;
}

static value call_elementary(machine *m, const node *n)
{
    const elementary *e = elementary_of(n->name);
    value x = argument(m, n, 0), v = judge_make(m, &judge_real, &x.shape);
    int count = judge_cells(&x);
    for (int k = 0; k < count; k++) v.cells[k] = elementary_cell(m, e, x.cells[k], n->line);
    return v;
}

/* ---- two arguments, element by element ---- */

typedef cell (*two_cells)(machine *m, cell a, cell b, const node *n, bool discrete);

static value call_two(machine *m, const node *n, two_cells f, const jtype *type)
{
    value a = argument(m, n, 0), b = argument(m, n, 1);
    bool sa = a.shape.ndims == 0, sb = b.shape.ndims == 0;
    if (!sa && !sb && !judge_same_shape(&a.shape, &b.shape))
        judge_fail(m, n->line, "arguments of different sizes");
    bool whole = a.type->base == BASE_INTEGER && b.type->base == BASE_INTEGER;
    value v = judge_make(m,
                         type    ? type
                         : whole ? &judge_integer
                                 : &judge_real,
                         sa ? &b.shape : &a.shape);
    int count = judge_cells(&v);
    for (int k = 0; k < count; k++)
        v.cells[k] = f(m, a.cells[sa ? 0 : k], b.cells[sb ? 0 : k], n, whole);
    return v;
}

/* In (-pi, pi], so that -0 is 0. */
static cell atan2_cell(machine *m, cell a, cell b, const node *n, bool discrete)
{
    (void)m, (void)n, (void)discrete;
    double square = a.v * a.v + b.v * b.v, v = atan2(a.v + 0.0, b.v);
    if (square == 0.0 || (a.v == 0.0 && b.v < 0.0)) /* as in C; other angles are near */
        return (cell){.v = v,
                      .size = fabs(v),
                      .spread = a.spread + b.spread > 0.0 ? 6.2831853071795865 : 0.0};
    double da = fabs(b.v) / square, db = fabs(a.v) / square;
    return (cell){.v = v,
                  .size = fabs(v) + da * a.size + db * b.size,
                  .spread = da * a.spread + db * b.spread};
}

static value call_atan2(machine *m, const node *n)
{
    return call_two(m, n, atan2_cell, &judge_real);
}

/* ---- rounding ---- */

/* An integer that x is rounded to, as a switch. `up`: ceil; else floor. */
static double rounded(machine *m, const node *n, double x, double spread, bool up, bool discrete)
{
    double whole = up ? ceil(x) : floor(x), nearest = round(x);
    double distance = x - nearest, other;
    if (up)
        other = whole == nearest ? whole + 1.0 : nearest;
    else
        other = whole == nearest ? whole - 1.0 : nearest;
    return judge_switch_value(m, n, JUDGE_ROUNDING, whole, other, distance, spread, discrete);
}

/* div rounds towards zero: it does not jump at a quotient of zero. */
static double truncated(machine *m, const node *n, double q, double spread, bool discrete)
{
    if (fabs(q) < 0.5) return 0.0;
    double whole = trunc(q), nearest = round(q), away = q < 0.0 ? -1.0 : 1.0;
    double other = whole == nearest ? whole - away : nearest;
    return judge_switch_value(m, n, JUDGE_ROUNDING, whole, other, q - nearest, spread, discrete);
}

static value round_values(machine *m, const node *n, bool up, const jtype *type)
{
    value x = argument(m, n, 0), v = judge_make(m, type ? type : &judge_real, &x.shape);
    bool discrete = x.type->base == BASE_INTEGER;
    int count = judge_cells(&x);
    for (int k = 0; k < count; k++) {
        double w = rounded(m, n, x.cells[k].v, x.cells[k].spread, up, discrete);
        if (fabs(w) > 9007199254740992.0 && type && !m->trial)
            judge_fail(m, n->line, "an Integer beyond 2^53");
        v.cells[k] = (cell){.v = w, .size = fabs(w)};
    }
    return v;
}

static value call_floor(machine *m, const node *n)
{
    return round_values(m, n, false, NULL);
}

static value call_ceil(machine *m, const node *n)
{
    return round_values(m, n, true, NULL);
}

static value call_integer(machine *m, const node *n)
{
    return round_values(m, n, false, &judge_integer);
}

static cell quotient_of(machine *m, cell a, cell b, const node *n)
{
    if (b.v == 0.0) return (cell){.v = judge_undefined(m, n->line, "the second argument is zero")};
    return judge_divide(m, a, b, n->line);
}

/* a - quotient b: its terms are a and the quotient times b */
static cell remainder_cell(cell a, cell b, double quotient, double v)
{
    double q = fabs(quotient);
    return (cell){.v = v, .size = a.size + q * b.size, .spread = a.spread + q * b.spread};
}

static cell div_cell(machine *m, cell a, cell b, const node *n, bool discrete)
{
    cell q = quotient_of(m, a, b, n);
    double w = isnan(q.v) ? q.v : truncated(m, n, q.v, q.spread, discrete);
    return (cell){.v = w, .size = fabs(w)};
}

/* mod(x, y) = x - floor(x/y) y. Where the quotient is the exact one, fmod has no rounding. */
static cell mod_cell(machine *m, cell a, cell b, const node *n, bool discrete)
{
    cell q = quotient_of(m, a, b, n);
    if (isnan(q.v)) return q;
    double w = rounded(m, n, q.v, q.spread, false, discrete);
    return remainder_cell(a, b, w, a.v - w * b.v);
}

static cell rem_cell(machine *m, cell a, cell b, const node *n, bool discrete)
{
    cell q = quotient_of(m, a, b, n);
    if (isnan(q.v)) return q;
    double w = truncated(m, n, q.v, q.spread, discrete);
    return remainder_cell(a, b, w, a.v - w * b.v);
}

static value call_div(machine *m, const node *n)
{
    return call_two(m, n, div_cell, NULL);
}

static value call_mod(machine *m, const node *n)
{
    return call_two(m, n, mod_cell, NULL);
}

static value call_rem(machine *m, const node *n)
{
    return call_two(m, n, rem_cell, NULL);
}

/* ---- signs and extremes ---- */

static value call_abs(machine *m, const node *n)
{
    value x = argument(m, n, 0), v = judge_make(m, x.type, &x.shape);
    bool discrete = x.type->base == BASE_INTEGER;
    int count = judge_cells(&x);
    for (int k = 0; k < count; k++) {
        cell c = x.cells[k];
        double sign = c.v < 0.0 ? -1.0 : 1.0;
        sign = judge_switch_value(m, n, JUDGE_KINK, sign, -sign, c.v, c.spread, discrete);
        v.cells[k] = (cell){.v = sign * c.v, .size = c.size, .spread = c.spread};
    }
    return v;
}

static value call_sign(machine *m, const node *n)
{
    value x = argument(m, n, 0), v = judge_make(m, &judge_integer, &x.shape);
    bool discrete = x.type->base == BASE_INTEGER;
    int count = judge_cells(&x);
    for (int k = 0; k < count; k++) {
        cell c = x.cells[k];
        double sign = c.v > 0.0 ? 1.0 : c.v < 0.0 ? -1.0 : 0.0;
        double other = sign == 0.0 ? 1.0 : -sign;
        sign = judge_switch_value(m, n, JUDGE_SIGN, sign, other, c.v, c.spread, discrete);
        v.cells[k] = (cell){.v = sign, .size = fabs(sign)};
    }
    return v;
}

static cell extreme_cell(machine *m, cell a, cell b, const node *n, bool discrete)
{
    bool largest = n->name[1] == 'a'; /* max */
    double second = largest ? b.v > a.v : b.v < a.v;
    second = judge_switch_value(m, n, JUDGE_KINK, second, 1.0 - second, a.v - b.v,
                                a.spread + b.spread, discrete);
    cell c = second != 0.0 ? b : a;
    c.index = 0;
    return c;
}

value judge_reduce_extreme(machine *m, const cell *cells, int count, const jtype *type,
                           const node *n);
value judge_reduce_extreme(machine *m, const cell *cells, int count, const jtype *type,
                           const node *n)
{
    bool largest = n->name[1] == 'a';
    value v = judge_make(m, type, &(shape){0});
    double empty = largest ? -1.7976931348623157e308 : 1.7976931348623157e308;
    *v.cells = (cell){.v = empty, .size = fabs(empty)};
    for (int k = 0; k < count; k++)
        *v.cells = k ? extreme_cell(m, *v.cells, cells[k], n, type->base != BASE_REAL) : cells[k];
    v.cells->index = 0;
    return v;
}

static value call_extreme(machine *m, const node *n)
{
    value a = judge_eval(m, n->kids[0]);
    if (n->kid_count == 1) return judge_reduce_extreme(m, a.cells, judge_cells(&a), a.type, n);
    value b = judge_eval(m, n->kids[1]);
    if (a.type->base >= BASE_STRING || b.type->base >= BASE_STRING)
        judge_fail(m, n->line, "'%s' of what is not a number", n->name);
    if (a.shape.ndims || b.shape.ndims) {
        value v = judge_make(m, &judge_real, a.shape.ndims ? &a.shape : &b.shape);
        int count = judge_cells(&v);
        for (int k = 0; k < count; k++)
            v.cells[k] = extreme_cell(m, a.cells[a.shape.ndims ? k : 0],
                                      b.cells[b.shape.ndims ? k : 0], n, false);
        return v;
    }
    const jtype *type = a.type->base == b.type->base ? a.type : &judge_real;
    value v = judge_make(m, type, &(shape){0});
    *v.cells = extreme_cell(m, *a.cells, *b.cells, n, type->base != BASE_REAL);
    return v;
}

/* semiLinear(x, p, n): p x for x >= 0, else n x */
static value call_semilinear(machine *m, const node *n)
{
    value x = argument(m, n, 0), p = argument(m, n, 1), q = argument(m, n, 2);
    if (x.shape.ndims || p.shape.ndims || q.shape.ndims)
        judge_fail(m, n->line, "semiLinear of arrays");
    double positive = x.cells->v >= 0.0;
    positive = judge_switch_value(m, n, JUDGE_KINK, positive, 1.0 - positive, x.cells->v,
                                  x.cells->spread, false);
    value v = judge_make(m, &judge_real, &(shape){0});
    *v.cells = judge_multiply(*x.cells, positive != 0.0 ? *p.cells : *q.cells);
    return v;
}

const builtin judge_elementary_builtins[] = {
    {"sqrt", call_elementary, 1, 1, NULL},
    {"exp", call_elementary, 1, 1, NULL},
    {"log", call_elementary, 1, 1, NULL},
    {"log10", call_elementary, 1, 1, NULL},
    {"sin", call_elementary, 1, 1, NULL},
    {"cos", call_elementary, 1, 1, NULL},
    {"tan", call_elementary, 1, 1, NULL},
    {"asin", call_elementary, 1, 1, NULL},
    {"acos", call_elementary, 1, 1, NULL},
    {"atan", call_elementary, 1, 1, NULL},
    {"sinh", call_elementary, 1, 1, NULL},
    {"cosh", call_elementary, 1, 1, NULL},
    {"tanh", call_elementary, 1, 1, NULL},
    {"atan2", call_atan2, 2, 2, NULL},
    {"floor", call_floor, 1, 1, NULL},
    {"ceil", call_ceil, 1, 1, NULL},
    {"integer", call_integer, 1, 1, NULL},
    {"div", call_div, 2, 2, NULL},
    {"mod", call_mod, 2, 2, NULL},
    {"rem", call_rem, 2, 2, NULL},
    {"abs", call_abs, 1, 1, NULL},
    {"sign", call_sign, 1, 1, NULL},
    {"min", call_extreme, 1, 2, NULL},
    {"max", call_extreme, 1, 2, NULL},
    {"semiLinear", call_semilinear, 3, 3, "x positiveSlope negativeSlope"},
    {NULL, NULL, 0, 0, NULL}};
