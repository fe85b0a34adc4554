#include "expr/range.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static const double PI = 3.14159265358979323846;

/* ---- intervals ---- */

static const interval ALL = {-INFINITY, INFINITY}, UNIT = {0.0, 1.0}, NONE = {0.0, 0.0};

/* An interval of two bounds that may be NaN, which are no bounds. */
static interval bounds(double lo, double hi)
{
    return isnan(lo) || isnan(hi) ? ALL : (interval){lo, hi};
}

static interval point(double x)
{
    return bounds(x, x);
}

static bool has_zero(interval a)
{
    return a.lo <= 0.0 && a.hi >= 0.0;
}

static interval add(interval a, interval b)
{
    return bounds(a.lo + b.lo, a.hi + b.hi);
}

static interval negate(interval a)
{
    return (interval){-a.hi, -a.lo};
}

/* x y, where 0 times no bound is 0 */
static double product(double x, double y)
{
    return x == 0.0 || y == 0.0 ? 0.0 : x * y;
}

static interval multiply_unbounded(interval a, interval b)
{
    double p = product(a.lo, b.lo), q = product(a.lo, b.hi);
    double r = product(a.hi, b.lo), s = product(a.hi, b.hi);
    return bounds(fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s)));
}

static interval multiply(interval a, interval b)
{
    const double p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
    if (isnan(p + q + r + s)) return multiply_unbounded(a, b);
    return (interval){lesser(lesser(p, q), lesser(r, s)), greater(greater(p, q), greater(r, s))};
}

static interval square(interval a)
{
    double p = a.lo * a.lo, q = a.hi * a.hi;
    return bounds(has_zero(a) ? 0.0 : fmin(p, q), fmax(p, q));
}

static interval invert(interval a)
{
    return has_zero(a) ? ALL : (interval){1.0 / a.hi, 1.0 / a.lo};
}

/* The part of a between lo and hi, where a function has values: along a solution it is asked for no
 * others, and bounds of its argument may reach a little further. */
static interval within(interval a, double lo, double hi)
{
    return (interval){fmin(fmax(a.lo, lo), hi), fmax(fmin(a.hi, hi), lo)};
}

/* f of an interval on which it grows */
static interval growing(interval a, double (*f)(double))
{
    return bounds(f(a.lo), f(a.hi));
}

/* Whether base + 2 pi k lies in a for some integer k. */
static bool meets_phase(interval a, double base)
{
    double k = ceil((a.lo - base) / (2.0 * PI));
    return base + 2.0 * PI * k <= a.hi;
}

static interval cosine(interval a)
{
    if (!(a.hi - a.lo < 2.0 * PI)) return (interval){-1.0, 1.0};
    double p = cos(a.lo), q = cos(a.hi);
    return (interval){meets_phase(a, PI) ? -1.0 : fmin(p, q),
                      meets_phase(a, 0.0) ? 1.0 : fmax(p, q)};
}

static interval sine(interval a)
{
    return cosine((interval){a.lo - 0.5 * PI, a.hi - 0.5 * PI});
}

static interval absolute(interval a)
{
    if (a.lo >= 0.0) return a;
    return a.hi <= 0.0 ? negate(a) : (interval){0.0, fmax(-a.lo, a.hi)};
}

/* ---- values with slopes ---- */

/* f(a) with f' in `rate` */
static range chain(interval value, interval rate, const range *a)
{
    return (range){value, multiply(rate, a->slope)};
}

static range of_absolute(const range *a)
{
    interval rate = a->value.lo >= 0.0   ? point(1.0)
                    : a->value.hi <= 0.0 ? point(-1.0)
                                         : (interval){-1.0, 1.0};
    return chain(absolute(a->value), rate, a);
}

/* A function that is constant between jumps: sign, floor, ceil. */
static range of_steps(interval a, double (*f)(double))
{
    interval v = growing(a, f);
    return (range){v, v.lo == v.hi ? NONE : ALL};
}

static double sign_number(double x)
{
    return (x > 0.0) - (x < 0.0);
}

static range of_tangent(const range *a)
{
    interval c = cosine(a->value);
    if (has_zero(c) || !(a->value.hi - a->value.lo < PI)) return (range){ALL, ALL};
    return chain(growing(a->value, tan), invert(square(c)), a);
}

static range of_hyperbolic_cosine(const range *a)
{
    interval v = growing(absolute(a->value), cosh);
    return chain(v, growing(a->value, sinh), a);
}

/* sqrt(1 - a^2) inverted, the slope of arcus functions */
static interval arc_rate(interval a)
{
    interval rest = add(point(1.0), negate(square(a)));
    return rest.lo > 0.0 ? invert(growing(rest, sqrt)) : (interval){1.0, INFINITY};
}

static range of_unary(expr_op op, const range *a)
{
    interval v = a->value, positive = within(v, 0.0, INFINITY), unit = within(v, -1.0, 1.0);
    interval not_known = {0.0, INFINITY};
    switch (op) {
    case EXPR_NEG: return (range){negate(v), negate(a->slope)};
    case EXPR_ABS: return of_absolute(a);
    case EXPR_SIGN: return of_steps(v, sign_number);
    case EXPR_FLOOR: return of_steps(v, floor);
    case EXPR_CEIL: return of_steps(v, ceil);
    case EXPR_SQRT:
        return chain(growing(positive, sqrt),
                     v.lo > 0.0 ? multiply(point(0.5), invert(growing(v, sqrt))) : not_known, a);
    case EXPR_EXP: {
        const interval e = growing(v, exp);
        return chain(e, e, a);
    }
    case EXPR_LOG: return chain(growing(positive, log), v.lo > 0.0 ? invert(v) : not_known, a);
    case EXPR_LOG10:
        return chain(growing(positive, log10),
                     v.lo > 0.0 ? multiply(point(1.0 / log(10.0)), invert(v)) : not_known, a);
    case EXPR_SIN: return chain(sine(v), cosine(v), a);
    case EXPR_COS: return chain(cosine(v), negate(sine(v)), a);
    case EXPR_TAN: return of_tangent(a);
    case EXPR_ASIN: return chain(growing(unit, asin), arc_rate(unit), a);
    case EXPR_ACOS:
        return chain((interval){acos(unit.hi), acos(unit.lo)}, negate(arc_rate(unit)), a);
    case EXPR_ATAN: return chain(growing(v, atan), invert(add(point(1.0), square(v))), a);
    case EXPR_SINH: return chain(growing(v, sinh), growing(absolute(v), cosh), a);
    case EXPR_COSH: return of_hyperbolic_cosine(a);
    case EXPR_TANH:
        return chain(growing(v, tanh), add(point(1.0), negate(square(growing(v, tanh)))), a);
    case EXPR_NOT: return (range){v.lo == v.hi ? point(v.lo == 0.0) : UNIT, ALL};
    default: return (range){ALL, ALL};
    }
}

static range of_product(const range *a, const range *b, bool same)
{
    if (same) return chain(square(a->value), multiply(point(2.0), a->value), a);
    return (range){multiply(a->value, b->value),
                   add(multiply(a->slope, b->value), multiply(a->value, b->slope))};
}

static range of_quotient(const range *a, const range *b)
{
    interval i = invert(b->value);
    range inverse = chain(i, negate(square(i)), b);
    return of_product(a, &inverse, false);
}

/* atan2(a, b): its slope is (b a' - a b') / (a^2 + b^2). It jumps where a changes its sign and b is
 * negative. */
static range of_angle(const range *a, const range *b)
{
    interval u = a->value, v = b->value;
    if (has_zero(u) && !(v.lo > 0.0)) return (range){{-PI, PI}, ALL};
    double p = atan2(u.lo, v.lo), q = atan2(u.lo, v.hi);
    double r = atan2(u.hi, v.lo), s = atan2(u.hi, v.hi);
    interval turn = add(multiply(v, a->slope), negate(multiply(u, b->slope)));
    return (range){bounds(fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s))),
                   multiply(turn, invert(add(square(u), square(v))))};
}

/* a^b = exp(b log a) */
static range of_general_power(const range *a, const range *b)
{
    range l = of_unary(EXPR_LOG, a);
    range e = {multiply(l.value, b->value),
               add(multiply(l.slope, b->value), multiply(l.value, b->slope))};
    return of_unary(EXPR_EXP, &e);
}

/* a^n for n > 0; n that is not whole has no values for negative a */
static range of_constant_power(const range *a, double n)
{
    bool whole = n == nearbyint(n), even = whole && fmod(n, 2.0) == 0.0;
    interval v = whole ? a->value : within(a->value, 0.0, INFINITY);
    interval base = even ? absolute(v) : v;
    double p = pow(v.lo, n - 1.0), q = pow(v.hi, n - 1.0);
    interval rate = bounds(fmin(p, q), fmax(p, q));
    if (has_zero(v)) rate = interval_hull(rate, NONE);
    return chain(bounds(pow(base.lo, n), pow(base.hi, n)), multiply(point(n), rate), a);
}

static range of_power(const range *a, const range *b)
{
    double n = b->value.lo;
    if (n != b->value.hi) return of_general_power(a, b);
    if (n == 0.0) return (range){point(1.0), NONE};
    range p = of_constant_power(a, fabs(n)), one = {point(1.0), NONE};
    return n > 0.0 ? p : of_quotient(&one, &p);
}

/* The smaller one; `sign` = -1: the larger one. */
static range of_extreme(const range *a, const range *b, bool larger)
{
    interval u = a->value, w = b->value;
    if (larger ? u.lo >= w.hi : u.hi <= w.lo) return *a;
    if (larger ? w.lo >= u.hi : w.hi <= u.lo) return *b;
    interval v = larger ? (interval){fmax(u.lo, w.lo), fmax(u.hi, w.hi)}
                        : (interval){fmin(u.lo, w.lo), fmin(u.hi, w.hi)};
    return (range){v, interval_hull(a->slope, b->slope)};
}

/* A truth value: known, or either. */
static range truth(bool is_true, bool is_false)
{
    if (is_true) return (range){point(1.0), NONE};
    return is_false ? (range){NONE, NONE} : (range){UNIT, ALL};
}

static range of_relation(expr_op op, interval a, interval b)
{
    bool fixed = a.lo == a.hi && b.lo == b.hi;
    switch (op) {
    case EXPR_LT: return truth(a.hi < b.lo, a.lo >= b.hi);
    case EXPR_LE: return truth(a.hi <= b.lo, a.lo > b.hi);
    case EXPR_EQ: return truth(fixed && a.lo == b.lo, a.hi < b.lo || b.hi < a.lo);
    default: return truth(a.hi < b.lo || b.hi < a.lo, fixed && a.lo == b.lo);
    }
}

static range of_logic(expr_op op, interval a, interval b)
{
    bool at = !has_zero(a), bt = !has_zero(b);
    bool af = a.lo == 0.0 && a.hi == 0.0, bf = b.lo == 0.0 && b.hi == 0.0;
    return op == EXPR_AND ? truth(at && bt, af || bf) : truth(at || bt, af && bf);
}

static range of_binary(const expr_node *n, const range *a, const range *b)
{
    switch (n->op) {
    case EXPR_ADD: return (range){add(a->value, b->value), add(a->slope, b->slope)};
    case EXPR_SUB: return (range){add(a->value, negate(b->value)), add(a->slope, negate(b->slope))};
    case EXPR_MUL: return of_product(a, b, n->a == n->b);
    case EXPR_DIV: return of_quotient(a, b);
    case EXPR_POW: return of_power(a, b);
    case EXPR_ATAN2: return of_angle(a, b);
    case EXPR_MIN: return of_extreme(a, b, false);
    case EXPR_MAX: return of_extreme(a, b, true);
    case EXPR_AND:
    case EXPR_OR: return of_logic(n->op, a->value, b->value);
    case EXPR_LT:
    case EXPR_LE:
    case EXPR_EQ:
    case EXPR_NE: return of_relation(n->op, a->value, b->value);
    default: return (range){ALL, ALL};
    }
}

/* The branch that holds; where both may, there may be a jump. */
static range of_select(interval condition, const range *a, const range *b)
{
    if (!has_zero(condition)) return *a;
    if (condition.lo == 0.0 && condition.hi == 0.0) return *b;
    return (range){interval_hull(a->value, b->value), ALL};
}

/* ---- programs ---- */

typedef struct range_node {
    expr e;
    uint32_t a, b, c;   /* places of its operands */
    uint8_t op, arity;  /* loops are opaque: they have no operands that matter */
    bool varies, wild;  /* with time; by more than a polynomial; */
    bool moved, pieces; /* with a variable; in pieces that one decides; */
    bool operand;       /* of another node */
    double end[2];      /* its value at both ends of what is looked at */
    bool opaque;        /* with something in it of which no range is known */
    bool open;          /* work: a root has more than one value, through it */
    uint32_t same;      /* work: the place of what it is the same as all along, else its own */
    range value;
} range_node;

struct range_program {
    const graph *g;
    range_node *nodes; /* all that the roots need, operands first */
    uint32_t *roots;   /* places of the roots */
    size_t count, root_count;
    bool variables;
    bool settled; /* nodes that do not vary have their values */
};

void range_program_free(range_program *p)
{
    if (p) dae_free_all(p->nodes, p->roots, p);
}

/* Operands that matter; loops are opaque. */
static int operands(const expr_node *n)
{
    return n->op < EXPR_OP_COUNT ? graph_arity(n->op) : 0;
}

/* needed[e] for all nodes below the roots: operands have smaller indices. */
static size_t mark(const graph *g, const expr *roots, size_t count, uint32_t *needed, expr last)
{
    size_t total = 0;
    for (size_t k = 0; k < count; k++) needed[roots[k]] = 1;
    for (expr e = last; e >= 1; e--) {
        if (!needed[e]) continue;
        const expr_node *n = graph_node(g, e);
        int arity = operands(n);
        if (arity > 0) needed[n->a] = 1;
        if (arity > 1) needed[n->b] = 1;
        if (arity > 2) needed[n->c] = 1;
        total++;
    }
    return total;
}

/* Whether node k of a polynomial's operands is one: sums and products, and what does not vary. */
static bool stays_polynomial(const range_program *p, const range_node *k)
{
    const range_node *by = &p->nodes[k->b];
    const expr_node *power = graph_node(p->g, by->e);
    switch (graph_node(p->g, k->e)->op) {
    case EXPR_NEG:
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL: return true;
    case EXPR_DIV: return !by->varies;
    case EXPR_POW:
        return power->op == EXPR_CONSTANT && power->value >= 1.0 &&
               power->value == nearbyint(power->value);
    default: return false;
    }
}

/* Operations whose first operand decides between pieces. */
static bool decides(expr_op op)
{
    return op == EXPR_SELECT || op == EXPR_MIN || op == EXPR_MAX || op == EXPR_ABS ||
           op == EXPR_SIGN;
}

/* Does node k vary, and how? Its operands are known. */
static void classify(range_program *p, range_node *k)
{
    const expr_node *n = graph_node(p->g, k->e);
    int arity = operands(n);
    if (arity == 0) {
        k->varies = n->op == EXPR_TIME || n->op == EXPR_VARIABLE || n->op >= EXPR_OP_COUNT;
        k->wild = n->op >= EXPR_OP_COUNT; /* a loop */
        k->opaque = k->wild || (n->op == EXPR_VARIABLE && n->order > 1);
        k->moved = k->varies && n->op != EXPR_TIME;
        return;
    }
    const uint32_t at[3] = {k->a, k->b, k->c};
    for (int j = 0; j < arity; j++) {
        const range_node *o = &p->nodes[at[j]];
        k->varies = k->varies || o->varies;
        k->wild = k->wild || o->wild;
        k->moved = k->moved || o->moved;
        k->pieces = k->pieces || o->pieces;
        k->opaque = k->opaque || o->opaque;
    }
    if (decides(n->op) && p->nodes[at[0]].moved) k->pieces = true;
    if (k->varies && !stays_polynomial(p, k)) k->wild = true;
}

/* List the marked nodes; needed[e] becomes the place of e, counted from 1. */
static void list(range_program *p, uint32_t *needed, expr last)
{
    uint32_t place = 0;
    for (expr e = 1; e <= last; e++) {
        if (!needed[e]) continue;
        const expr_node *n = graph_node(p->g, e);
        range_node *k = &p->nodes[place];
        int arity = operands(n);
        k->e = e;
        k->op = (uint8_t)n->op;
        k->arity = (uint8_t)arity;
        if (arity > 0) k->a = needed[n->a] - 1, p->nodes[k->a].operand = true;
        if (arity > 1) k->b = needed[n->b] - 1, p->nodes[k->b].operand = true;
        if (arity > 2) k->c = needed[n->c] - 1, p->nodes[k->c].operand = true;
        p->variables = p->variables || n->op == EXPR_VARIABLE;
        classify(p, k);
        needed[e] = ++place;
    }
}

static expr last_of(const expr *roots, size_t count)
{
    expr last = 0;
    for (size_t k = 0; k < count; k++) last = roots[k] > last ? roots[k] : last;
    return last;
}

range_program *range_program_new(const graph *g, const expr *roots, size_t count)
{
    const expr last = last_of(roots, count);
    range_program *p = DAE_NEW(range_program);
    uint32_t *needed = DAE_ARRAY(uint32_t, (size_t)last + 1);
    if (p && needed) {
        p->g = g;
        p->root_count = count;
        p->count = mark(g, roots, count, needed, last);
        p->nodes = DAE_ARRAY(range_node, p->count);
        p->roots = DAE_ARRAY(uint32_t, count);
    }
    bool ok = p && needed && p->nodes && p->roots;
    if (ok) {
        list(p, needed, last);
        for (size_t k = 0; k < count; k++) p->roots[k] = needed[roots[k]] - 1;
    } else {
        range_program_free(p);
    }
    dae_free(needed);
    return ok ? p : NULL;
}

bool range_program_is_wild(const range_program *p, size_t root)
{
    return p->nodes[p->roots[root]].wild;
}

bool range_program_is_opaque(const range_program *p, size_t root)
{
    return p->nodes[p->roots[root]].opaque;
}

bool range_program_has_pieces(const range_program *p, size_t root)
{
    return p->nodes[p->roots[root]].pieces;
}

bool range_may_have_pieces(const graph *g, const expr *roots, size_t count)
{
    const expr last = last_of(roots, count);
    for (expr e = 1; e <= last; e++)
        if (decides(graph_node(g, e)->op)) return true;
    return false;
}

bool range_program_reads_variables(const range_program *p)
{
    return p->variables;
}

static range of_leaf(const expr_node *n, const range_leaves *leaves)
{
    switch (n->op) {
    case EXPR_CONSTANT: return (range){point(n->value), NONE};
    case EXPR_TIME: return (range){leaves->time, leaves->still ? NONE : point(1.0)};
    case EXPR_PARAMETER: return (range){point(leaves->parameters[n->index]), NONE};
    case EXPR_MEMORY:
        if (leaves->either && leaves->either[n->index]) return (range){UNIT, ALL};
        return (range){point(leaves->memory[n->index]), NONE};
    case EXPR_VARIABLE:
        if (!leaves->y) return (range){ALL, ALL};
        if (n->order == 0) return leaves->y[n->index];
        if (n->order == 1) return (range){leaves->y[n->index].slope, ALL};
        return (range){ALL, ALL};
    default: return (range){ALL, ALL};
    }
}

/* What node k is the same as all along, since of its branches the ranges leave one: a place. */
static uint32_t stands_for(const range_program *p, uint32_t k, expr_op op)
{
    const range_node *at = &p->nodes[k], *a = &p->nodes[at->a], *b = &p->nodes[at->b];
    const interval u = a->value.value, w = b->value.value;
    const bool below = u.hi <= w.lo, above = w.hi <= u.lo;
    switch (op) {
    case EXPR_MIN: return below ? a->same : above ? b->same : k;
    case EXPR_MAX: return above ? a->same : below ? b->same : k;
    case EXPR_SELECT:
        if (!has_zero(u)) return b->same;
        return u.lo == 0.0 && u.hi == 0.0 ? p->nodes[at->c].same : k;
    default: return k;
    }
}

/* A binary operation on one thing twice: x - min(x, 5), say, where x is below 5. */
static range of_the_same(const expr_node *n, const range *a, const range *b)
{
    switch (n->op) {
    case EXPR_SUB: return (range){NONE, NONE};
    case EXPR_LT:
    case EXPR_NE: return truth(false, true);
    case EXPR_LE:
    case EXPR_EQ: return truth(true, false);
    default: return of_binary(n, a, b);
    }
}

/* c a */
static range scaled(const range *a, double c)
{
    const interval v = a->value, w = a->slope;
    if (c == 0.0) return (range){NONE, NONE};
    return c > 0.0 ? (range){{c * v.lo, c * v.hi}, {c * w.lo, c * w.hi}}
                   : (range){{c * v.hi, c * v.lo}, {c * w.hi, c * w.lo}};
}

/* Whether a node has one value, in *c, all along. */
static bool is_number(const range_node *k, double *c)
{
    *c = k->value.value.lo;
    return !k->varies && *c == k->value.value.hi && isfinite(*c);
}

static range run_binary(const range_program *p, const range_node *at)
{
    const range_node *a = &p->nodes[at->a], *b = &p->nodes[at->b];
    double c;
    if (at->op == EXPR_MUL && is_number(a, &c)) return scaled(&b->value, c);
    if (at->op == EXPR_MUL && is_number(b, &c)) return scaled(&a->value, c);
    if (at->op == EXPR_DIV && is_number(b, &c) && isnormal(1.0 / c))
        return scaled(&a->value, 1.0 / c);
    const expr_node *n = graph_node(p->g, at->e);
    return a->same == b->same ? of_the_same(n, &a->value, &b->value)
                              : of_binary(n, &a->value, &b->value);
}

static void run_node(range_program *p, uint32_t k, const range_leaves *leaves)
{
    range_node *at = &p->nodes[k];
    const range_node *a = &p->nodes[at->a], *b = &p->nodes[at->b];
    if (p->settled && !at->varies) return;
    switch (at->arity) {
    case 0: at->value = of_leaf(graph_node(p->g, at->e), leaves); break;
    case 1: at->value = of_unary((expr_op)at->op, &a->value); break;
    case 2: at->value = run_binary(p, at); break;
    default: at->value = of_select(a->value.value, &b->value, &p->nodes[at->c].value); break;
    }
    at->same = stands_for(p, k, (expr_op)at->op);
}

void range_program_settle(range_program *p, const range_leaves *leaves)
{
    p->settled = false;
    for (uint32_t k = 0; k < p->count; k++)
        if (!p->nodes[k].varies) run_node(p, k, leaves);
    p->settled = true;
}

void range_program_run(range_program *p, const range_leaves *leaves, range *out)
{
    for (uint32_t k = 0; k < p->count; k++) run_node(p, k, leaves);
    for (size_t k = 0; k < p->root_count; k++) out[k] = p->nodes[p->roots[k]].value;
}

/* Whether a factor of e covers it, to the power `known`; or the n-th part of that. */
static bool is_narrow(interval a, double n, int known)
{
    const interval m = a.hi < 0.0 ? negate(a) : a;
    return m.lo > 0.0 && n * log(m.hi / m.lo) <= known;
}

static bool is_tame_power(interval base, const interval *n, int known)
{
    static const double LOW = 4.0; /* polynomials of this degree at most */
    if (n->lo != n->hi) return false;
    return (n->lo >= 0.0 && n->lo <= LOW && n->lo == nearbyint(n->lo)) ||
           is_narrow(base, fabs(n->lo), known);
}

static bool goes_one_way(interval slope)
{
    return slope.lo >= 0.0 || slope.hi <= 0.0;
}

/* By how much a node leaves the values that it has at both ends. */
static double beyond_ends(const range_node *k)
{
    const interval v = k->value.value;
    const double lo = fmin(k->end[0], k->end[1]), hi = fmax(k->end[0], k->end[1]);
    return fmax(v.hi - hi, lo - v.lo);
}

/* The part of a node that lies beyond the values at both ends, as a factor. */
static interval rest_of(const range_node *k)
{
    const interval v = k->value.value;
    const double lo = fmin(k->end[0], k->end[1]), hi = fmax(k->end[0], k->end[1]);
    if (!(v.lo > 0.0 && lo > 0.0)) return v;
    const double factor = fmax(v.hi / hi, lo / v.lo);
    return (interval){1.0, factor};
}

/* Whether node k is no more than a polynomial of low degree, or nearly so; or one that grows or
 * falls without an end, and leaves the values at both ends by no more than that. */
static bool is_tame(const range_program *p, const range_node *k, int known, bool ends)
{
    const interval a = p->nodes[k->a].value.value, b = p->nodes[k->b].value.value;
    const double width = a.hi - a.lo;
    const bool one_way = goes_one_way(p->nodes[k->a].value.slope);
    if (!k->varies || stays_polynomial(p, k)) {
        const bool power = graph_node(p->g, k->e)->op == EXPR_POW;
        return !power || is_tame_power(a, &b, known);
    }
    switch (graph_node(p->g, k->e)->op) {
    case EXPR_TIME:
    case EXPR_VARIABLE: return true;
    case EXPR_EXP:
    case EXPR_SINH:
        return one_way || width <= known || (ends && beyond_ends(&p->nodes[k->a]) <= known);
    case EXPR_SIN:
    case EXPR_COS: return width <= fmax(PI, known);
    case EXPR_COSH:
    case EXPR_TANH:
    case EXPR_ATAN: return width <= known;
    case EXPR_TAN: return is_narrow(cosine(a), 1.0, known);
    case EXPR_LOG:
    case EXPR_LOG10:
    case EXPR_SQRT: return one_way || is_narrow(ends ? rest_of(&p->nodes[k->a]) : a, 1.0, known);
    case EXPR_DIV: return is_narrow(b, 1.0, known);
    case EXPR_POW: return is_tame_power(a, &b, known) || (one_way && b.lo == b.hi && a.lo > 0.0);
    case EXPR_ABS: return !has_zero(a);
    case EXPR_MIN:
    case EXPR_MAX: return a.hi <= b.lo || b.hi <= a.lo;
    case EXPR_SELECT: return !has_zero(a) || (a.lo == 0.0 && a.hi == 0.0);
    case EXPR_LT:
    case EXPR_LE:
    case EXPR_EQ:
    case EXPR_NE: return a.hi < b.lo || b.hi < a.lo;
    case EXPR_FLOOR:
    case EXPR_CEIL: return floor(a.lo) == floor(a.hi) && a.lo != floor(a.lo);
    case EXPR_SIGN: return !has_zero(a);
    case EXPR_NOT:
    case EXPR_AND:
    case EXPR_OR: return true; /* if what they join is */
    default: return false;
    }
}

void range_program_hold(range_program *p, const range_leaves *leaves, int end)
{
    for (uint32_t k = 0; k < p->count; k++) {
        range_node *at = &p->nodes[k];
        if (!at->operand) continue;
        run_node(p, k, leaves);
        at->end[end] = at->value.value.lo;
    }
}

bool range_program_is_tame(range_program *p, const range_leaves *leaves, int known, bool ends)
{
    for (uint32_t k = 0; k < p->count; k++) {
        if (p->nodes[k].varies && !is_tame(p, &p->nodes[k], known, ends)) return false;
        if (p->nodes[k].operand) run_node(p, k, leaves);
    }
    return true;
}

/* What has more than one value has it through operands that have. */
static void open_operands(range_program *p, const range_node *k)
{
    const uint32_t at[3] = {k->a, k->b, k->c};
    for (int j = 0; j < operands(graph_node(p->g, k->e)); j++) {
        range_node *o = &p->nodes[at[j]];
        o->open = o->value.value.lo != o->value.value.hi;
    }
}

void range_program_open_slots(range_program *p, bool *slots)
{
    for (size_t k = 0; k < p->count; k++) p->nodes[k].open = false;
    for (size_t k = 0; k < p->root_count; k++) {
        range_node *root = &p->nodes[p->roots[k]];
        root->open = root->value.value.lo != root->value.value.hi;
    }
    for (size_t k = p->count; k-- > 0;) {
        const range_node *at = &p->nodes[k];
        const expr_node *n = graph_node(p->g, at->e);
        if (!at->open) continue;
        if (n->op == EXPR_MEMORY) slots[n->index] = true;
        open_operands(p, at);
    }
}

bool range_is_plain(const range *r)
{
    interval v = r->value, d = r->slope;
    bool away = v.lo > 0.0 || v.hi<0.0, one_way = d.lo> 0.0 || d.hi < 0.0;
    bool still = v.lo == v.hi || (d.lo == 0.0 && d.hi == 0.0);
    return away || one_way || still;
}
