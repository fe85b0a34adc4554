/* The tape in truncated Taylor series: one recurrence per operation [GW08 13.2].
 *
 * Notation: a, b operands, r result, w and v scratch, each with coefficients 0 .. d; d the degree.
 * A function r = f(a) that solves a linear differential equation in a gives r_k from a_j, j <= k,
 * and r_j, j < k, by comparing the coefficients of t^(k-1). Results never overlap operands. */
#include "expr/tape.h"

#include "expr/tape_code.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

enum { SCRATCH = 4 }; /* series beside the registers: a result, a first result, w and v */

/* ---- arithmetic ------------------------------------------------------------------------------ */

static void constant(int d, double value, double *r)
{
    r[0] = value;
    for (int k = 1; k <= d; k++) r[k] = 0.0;
}

/* Whether a does not move. Then neither does f(a), even where f has no derivative. */
static bool is_constant(int d, const double *a)
{
    for (int k = 1; k <= d; k++)
        if (a[k] != 0.0) return false;
    return true;
}

static void negate(int d, const double *a, double *r)
{
    for (int k = 0; k <= d; k++) r[k] = -a[k];
}

static void add(int d, const double *a, const double *b, double *r)
{
    for (int k = 0; k <= d; k++) r[k] = a[k] + b[k];
}

static void subtract(int d, const double *a, const double *b, double *r)
{
    for (int k = 0; k <= d; k++) r[k] = a[k] - b[k];
}

/* sum_{j=from}^{to} a_j b_{k-j} */
static double convolve(int k, int from, int to, const double *a, const double *b)
{
    double sum = 0.0;
    for (int j = from; j <= to; j++) sum += a[j] * b[k - j];
    return sum;
}

/* (1/k) sum_{j=1}^{to} j a_j b_{k-j}: the coefficient k of the integral of a' b for to = k */
static double convolve_slope(int k, int to, const double *a, const double *b)
{
    double sum = 0.0;
    for (int j = 1; j <= to; j++) sum += j * a[j] * b[k - j];
    return sum / k;
}

static void multiply(int d, const double *a, const double *b, double *r)
{
    for (int k = 0; k <= d; k++) r[k] = convolve(k, 0, k, a, b);
}

/* r b = a */
static void divide(int d, const double *a, const double *b, double *r)
{
    r[0] = a[0] / b[0];
    if (is_constant(d, b)) {
        for (int k = 1; k <= d; k++) r[k] = a[k] == 0.0 ? 0.0 : a[k] / b[0];
        return;
    }
    for (int k = 1; k <= d; k++) r[k] = (a[k] - convolve(k, 0, k - 1, r, b)) / b[0];
}

/* ---- functions of one series; r_0 is set, a moves -------------------------------------------- */

/* r r = a */
static void square_root(int d, const double *a, double *r)
{
    for (int k = 1; k <= d; k++) r[k] = (a[k] - convolve(k, 1, k - 1, r, r)) / (2.0 * r[0]);
}

/* r' = a' r */
static void exponential(int d, const double *a, double *r)
{
    for (int k = 1; k <= d; k++) r[k] = convolve_slope(k, k, a, r);
}

/* r' w = a' */
static void integrate_quotient(int d, const double *a, const double *w, double *r)
{
    for (int k = 1; k <= d; k++) r[k] = (a[k] - convolve_slope(k, k - 1, r, w)) / w[0];
}

/* s' = c a', c' = sign s a': sine and cosine with sign -1, their hyperbolic sisters with +1 */
static void sine_cosine(int d, double sign, const double *a, double *s, double *c)
{
    for (int k = 1; k <= d; k++) {
        s[k] = convolve_slope(k, k, a, c);
        c[k] = sign * convolve_slope(k, k, a, s);
    }
}

/* r' = w a', w = 1 + sign r r: tangent with +1, hyperbolic tangent with -1 */
static void tangent(int d, double sign, const double *a, double *r, double *w)
{
    w[0] = 1.0 + sign * (r[0] * r[0]);
    for (int k = 1; k <= d; k++) {
        r[k] = convolve_slope(k, k, a, w);
        w[k] = sign * convolve(k, 0, k, r, r);
    }
}

/* w = 1 + sign a a */
static void one_and_square(int d, double sign, const double *a, double *w)
{
    for (int k = 0; k <= d; k++) w[k] = sign * convolve(k, 0, k, a, a);
    w[0] += 1.0;
}

/* r' sqrt(1 - a a) = sign a' */
static void arc_sine(int d, double sign, const double *a, double *r, double *w, double *v)
{
    one_and_square(d, -1.0, a, v);
    w[0] = sign * sqrt(v[0]);
    square_root(d, v, w);
    integrate_quotient(d, a, w, r);
}

/* ---- powers and angles ----------------------------------------------------------------------- */

/* a^n by squaring, for a_0 = 0, where the recurrence would divide by zero */
static void whole_power(int d, const double *a, double n, double *r, double *w, double *v)
{
    size_t bytes = (size_t)(d + 1) * sizeof *r;
    constant(d, 1.0, r);
    if (n > d) { /* t^n and smaller */
        constant(d, 0.0, r);
        return;
    }
    memcpy(w, a, bytes);
    for (int left = (int)n; left > 0; left /= 2) {
        if (left % 2) {
            multiply(d, r, w, v);
            memcpy(r, v, bytes);
        }
        multiply(d, w, w, v);
        memcpy(w, v, bytes);
    }
}

/* a^p for a_0 = 0 and p > 0 not whole: t^(p m) and smaller for a of t^m; no series from there on */
static void fractional_power_at_zero(int d, const double *a, double p, double *r)
{
    int m = 1;
    while (m <= d && a[m] == 0.0) m++;
    for (int k = 0; k <= d; k++) r[k] = k < p * m ? 0.0 : (double)NAN;
}

/* a^p with constant p: a r' = p r a' */
static void constant_power(int d, const double *a, double p, double *r, double *w, double *v)
{
    if (a[0] == 0.0 && p >= 0.0) {
        if (p == floor(p))
            whole_power(d, a, p, r, w, v);
        else
            fractional_power_at_zero(d, a, p, r);
        return;
    }
    r[0] = pow(a[0], p);
    for (int k = 1; k <= d; k++) {
        double sum = 0.0;
        for (int j = 1; j <= k; j++) sum += (p * j - (k - j)) * a[j] * r[k - j];
        r[k] = sum / (k * a[0]);
    }
}

/* a^b = exp(b log a) */
static void power(int d, const double *a, const double *b, double *r, double *w, double *v)
{
    if (is_constant(d, b)) {
        constant_power(d, a, b[0], r, w, v);
        return;
    }
    w[0] = log(a[0]);
    integrate_quotient(d, a, a, w);
    multiply(d, b, w, v);
    r[0] = pow(a[0], b[0]);
    exponential(d, v, r);
}

/* The angle r of (x, y): r' w = x y' - y x', w = x x + y y */
static void angle(int d, const double *y, const double *x, double *r, double *w)
{
    for (int k = 0; k <= d; k++) w[k] = convolve(k, 0, k, x, x) + convolve(k, 0, k, y, y);
    r[0] = atan2(y[0], x[0]);
    for (int k = 1; k <= d; k++) {
        double turn = convolve_slope(k, k, y, x) - convolve_slope(k, k, x, y);
        r[k] = (turn - convolve_slope(k, k - 1, r, w)) / w[0];
    }
}

/* ---- the interpreter ------------------------------------------------------------------------- */

/* r = f(a) for the functions whose value at a_0 is f(a_0) and that have a recurrence. */
static void smooth_function(tape_op op, int d, const double *a, double *r, double *w, double *v)
{
    bool still = is_constant(d, a);
    int n = still ? 0 : d; /* orders to compute; the others stay 0 */
    if (still) constant(d, 0.0, r);
    switch (op) {
    case TAPE_SQRT: r[0] = sqrt(a[0]), square_root(n, a, r); break;
    case TAPE_EXP: r[0] = exp(a[0]), exponential(n, a, r); break;
    case TAPE_LOG: r[0] = log(a[0]), integrate_quotient(n, a, a, r); break;
    case TAPE_LOG10:
        w[0] = log(a[0]);
        integrate_quotient(n, a, a, w);
        for (int k = 1; k <= n; k++) r[k] = w[k] * 0.43429448190325182765;
        r[0] = log10(a[0]);
        break;
    case TAPE_SIN: r[0] = sin(a[0]), w[0] = cos(a[0]), sine_cosine(n, -1.0, a, r, w); break;
    case TAPE_COS: r[0] = cos(a[0]), w[0] = sin(a[0]), sine_cosine(n, -1.0, a, w, r); break;
    case TAPE_TAN: r[0] = tan(a[0]), tangent(n, 1.0, a, r, w); break;
    case TAPE_ASIN: r[0] = asin(a[0]), arc_sine(n, 1.0, a, r, w, v); break;
    case TAPE_ACOS: r[0] = acos(a[0]), arc_sine(n, -1.0, a, r, w, v); break;
    case TAPE_ATAN:
        one_and_square(n, 1.0, a, w);
        r[0] = atan(a[0]);
        integrate_quotient(n, a, w, r);
        break;
    case TAPE_SINH: r[0] = sinh(a[0]), w[0] = cosh(a[0]), sine_cosine(n, 1.0, a, r, w); break;
    case TAPE_COSH: r[0] = cosh(a[0]), w[0] = sinh(a[0]), sine_cosine(n, 1.0, a, w, r); break;
    default: r[0] = tanh(a[0]), tangent(n, -1.0, a, r, w); break;
    }
}

/* r = what piecewise constant operations give at t = time. */
static double step_function(tape_op op, double a, double b)
{
    switch (op) {
    case TAPE_NOT: return a == 0.0;
    case TAPE_SIGN: return (a > 0.0) - (a < 0.0);
    case TAPE_FLOOR: return floor(a);
    case TAPE_CEIL: return ceil(a);
    case TAPE_LT: return a < b;
    case TAPE_LE: return a <= b;
    case TAPE_EQ: return a == b;
    case TAPE_NE: return a != b;
    case TAPE_AND: return a != 0.0 && b != 0.0;
    default: return a != 0.0 || b != 0.0;
    }
}

/* The piece that abs, min, max and select take at t = time. */
static void piece(tape_op op, int d, const double *a, const double *b, const double *c, double *r)
{
    const double *taken = a;
    if (op == TAPE_MIN) taken = a[0] < b[0] || isnan(a[0]) ? a : b;
    if (op == TAPE_MAX) taken = b[0] < a[0] || isnan(a[0]) ? a : b;
    if (op == TAPE_SELECT) taken = a[0] != 0.0 ? b : c;
    if (op == TAPE_ABS && a[0] < 0.0)
        negate(d, a, r);
    else
        memcpy(r, taken, (size_t)(d + 1) * sizeof *r);
    if (op == TAPE_ABS) r[0] = fabs(a[0]);
}

/* r = one operation of the graph. */
static void operation(tape_op op, int d, const double *a, const double *b, const double *c,
                      double *r, double *w, double *v)
{
    switch (op) {
    case TAPE_COPY: memcpy(r, a, (size_t)(d + 1) * sizeof *r); break;
    case TAPE_NEG: negate(d, a, r); break;
    case TAPE_ADD: add(d, a, b, r); break;
    case TAPE_SUB: subtract(d, a, b, r); break;
    case TAPE_MUL: multiply(d, a, b, r); break;
    case TAPE_DIV: divide(d, a, b, r); break;
    case TAPE_POW:
        if (is_constant(d, a) && is_constant(d, b))
            constant(d, pow(a[0], b[0]), r);
        else
            power(d, a, b, r, w, v);
        break;
    case TAPE_ATAN2:
        if (is_constant(d, a) && is_constant(d, b))
            constant(d, atan2(a[0], b[0]), r);
        else
            angle(d, a, b, r, w);
        break;
    case TAPE_ABS:
    case TAPE_MIN:
    case TAPE_MAX:
    case TAPE_SELECT: piece(op, d, a, b, c, r); break;
    case TAPE_NOT:
    case TAPE_SIGN:
    case TAPE_FLOOR:
    case TAPE_CEIL: constant(d, step_function(op, a[0], 0.0), r); break;
    case TAPE_LT:
    case TAPE_LE:
    case TAPE_EQ:
    case TAPE_NE:
    case TAPE_AND:
    case TAPE_OR: constant(d, step_function(op, a[0], b[0]), r); break;
    default: smooth_function(op, d, a, r, w, v); break;
    }
}

/* The two operations of a fused instruction, inner first; false if it is a single one. */
static bool split(tape_op op, tape_op *inner, tape_op *outer)
{
    static const struct {
        tape_op fused, inner, outer;
    } table[] = {{TAPE_MUL_ADD, TAPE_MUL, TAPE_ADD}, {TAPE_MUL_SUB, TAPE_MUL, TAPE_SUB},
                 {TAPE_SUB_MUL, TAPE_MUL, TAPE_SUB}, {TAPE_MUL_MUL, TAPE_MUL, TAPE_MUL},
                 {TAPE_ADD_ADD, TAPE_ADD, TAPE_ADD}, {TAPE_SUB_ADD, TAPE_SUB, TAPE_ADD},
                 {TAPE_ADD_SUB, TAPE_ADD, TAPE_SUB}, {TAPE_SUB_SUB, TAPE_SUB, TAPE_SUB},
                 {TAPE_ADD_MUL, TAPE_ADD, TAPE_MUL}, {TAPE_DIF_MUL, TAPE_SUB, TAPE_MUL}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        if (table[k].fused != op) continue;
        *inner = table[k].inner;
        *outer = table[k].outer;
        return true;
    }
    return false;
}

static void run_loop(const tape *t, size_t which, int d, double *cell, double *work);

/* Execute instructions from i up to TAPE_END on registers of d+1 coefficients. */
static void execute(const tape *t, const tape_instruction *i, int d, double *work, double *out)
{
    size_t n = (size_t)(d + 1);
    double *r = work + t->registers * n, *first = r + n, *w = first + n, *v = w + n;
    for (; i->op != TAPE_END; i++) {
        const double *a = work + i->a * n, *b = work + i->b * n, *c = work + i->c * n;
        if (i->op == TAPE_SINCOS) {
            r[0] = sin(a[0]), w[0] = cos(a[0]);
            sine_cosine(d, -1.0, a, r, w);
            memcpy(work + i->b * n, w, n * sizeof *w);
            memcpy(work + i->dst * n, r, n * sizeof *r);
            continue;
        }
        if (i->op == TAPE_LOOP) {
            run_loop(t, i->b, d, work + i->a * n, v + n);
            continue;
        }
        tape_op op = (tape_op)(i->op & ~1u), inner, outer;
        if (!split(op, &inner, &outer)) {
            operation(op, d, a, b, c, r, w, v);
        } else {
            operation(inner, d, a, b, NULL, first, w, v);
            if (op == TAPE_SUB_MUL)
                operation(outer, d, c, first, NULL, r, w, v);
            else
                operation(outer, d, first, c, NULL, r, w, v);
        }
        memcpy(((i->op & 1u) ? out : work) + i->dst * n, r, n * sizeof *r);
    }
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The m-th derivative of c: coefficients (k+m)!/k! c_{k+m}. */
static void derivative(int d, int m, const double *c, double *r)
{
    for (int k = 0; k <= d; k++) {
        double factor = 1.0;
        for (int j = k + 1; j <= k + m; j++) factor *= j;
        r[k] = k + m <= d ? factor * c[k + m] : 0.0;
    }
}

size_t tape_series_work_size(const tape *t, int degree)
{
    size_t n = (size_t)(degree + 1), size = (t->registers + SCRATCH) * n;
    for (size_t k = 0; k < t->loop_count; k++)
        size += tape_series_work_size(t->loops[k].body, degree) + (t->loops[k].changing + 1) * n;
    return size;
}

static double *copy_fixed(const tape *t, int degree, const double *parameters, const double *memory,
                          double *work);

/* While the condition holds at t = time, cells := what the body makes of their series. */
static void run_loop(const tape *t, size_t which, int d, double *cell, double *work)
{
    const tape_loop *l = &t->loops[which];
    const tape *body = l->body;
    size_t n = (size_t)(d + 1);
    for (size_t k = 0; k < which; k++)
        work += tape_series_work_size(t->loops[k].body, d) + (t->loops[k].changing + 1) * n;
    double *out = work + tape_series_work_size(body, d);
    double *copied = copy_fixed(body, d, NULL, NULL, work);
    execute(body, body->prologue, d, work, NULL);
    for (;;) {
        for (size_t k = 0; k < body->variables; k++)
            memcpy(copied + k * n, cell + (size_t)body->variable[k] * n, n * sizeof *cell);
        execute(body, body->body, d, work, out);
        if (out[0] == 0.0) break;
        for (size_t k = 0; k < l->changing; k++)
            memcpy(cell + l->cell[k] * n, out + (k + 1) * n, n * sizeof *cell);
    }
}

/* Constants, parameters and memory as series; returns where the copied leaves begin. */
static double *copy_fixed(const tape *t, int degree, const double *parameters, const double *memory,
                          double *work)
{
    size_t n = (size_t)(degree + 1);
    double *to = work;
    for (size_t k = 0; k < t->constants; k++, to += n) constant(degree, t->constant[k], to);
    for (size_t k = 0; k < t->parameters; k++, to += n)
        constant(degree, parameters[t->parameter[k]], to);
    for (size_t k = 0; k < t->memories; k++, to += n) constant(degree, memory[t->memory[k]], to);
    return to + t->kept * n;
}

void tape_run_series(const tape *t, int degree, double time, const double *const *coefficients,
                     const double *parameters, const double *memory, double *work, double *out)
{
    size_t n = (size_t)(degree + 1);
    double *to = copy_fixed(t, degree, parameters, memory, work);
    if (t->timed) {
        constant(degree, time, to);
        if (degree > 0) to[1] = 1.0;
        to += n;
    }
    for (size_t k = 0; k < t->variables; k++, to += n)
        derivative(degree, t->order[k], coefficients[t->variable[k]], to);
    execute(t, t->prologue, degree, work, NULL);
    execute(t, t->body, degree, work, out);
}
