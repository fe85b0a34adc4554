#include "structure/rewrite/tidy.h"

#include <math.h>
#include <string.h>

/* Larger sums are not made any clearer by reordering. */
enum { MOST_TERMS = 40, MOST_FACTORS = 10, DEEPEST = 24 };

/* coefficient * product of factor^power; factors increasing */
typedef struct monomial {
    double coefficient;
    int count;
    expr factor[MOST_FACTORS];
    int power[MOST_FACTORS];
} monomial;

typedef struct polynomial {
    int count;
    monomial term[MOST_TERMS];
} polynomial;

/* ---- products ---- */

/* m := m * e^power; false: too long */
static bool multiply_factor(monomial *m, expr e, int power)
{
    int at = 0;
    while (at < m->count && m->factor[at] < e) at++;
    if (at < m->count && m->factor[at] == e) {
        m->power[at] += power;
        if (m->power[at] != 0) return true;
        m->count--;
        memmove(&m->factor[at], &m->factor[at + 1], (size_t)(m->count - at) * sizeof *m->factor);
        memmove(&m->power[at], &m->power[at + 1], (size_t)(m->count - at) * sizeof *m->power);
        return true;
    }
    if (m->count == MOST_FACTORS) return false;
    memmove(&m->factor[at + 1], &m->factor[at], (size_t)(m->count - at) * sizeof *m->factor);
    memmove(&m->power[at + 1], &m->power[at], (size_t)(m->count - at) * sizeof *m->power);
    m->factor[at] = e;
    m->power[at] = power;
    m->count++;
    return true;
}

/* m := m * q^power */
static bool multiply_monomial(monomial *m, const monomial *q, int power)
{
    m->coefficient *= pow(q->coefficient, power);
    for (int k = 0; k < q->count; k++)
        if (!multiply_factor(m, q->factor[k], power * q->power[k])) return false;
    return true;
}

static bool same_factors(const monomial *a, const monomial *b)
{
    if (a->count != b->count) return false;
    for (int k = 0; k < a->count; k++)
        if (a->factor[k] != b->factor[k] || a->power[k] != b->power[k]) return false;
    return true;
}

/* ---- sums ---- */

/* p := p + scale * m; what cancels to rounding is gone */
static bool add_monomial(polynomial *p, const monomial *m, double scale)
{
    double more = scale * m->coefficient;
    for (int k = 0; k < p->count; k++) {
        if (!same_factors(&p->term[k], m)) continue;
        double sum = p->term[k].coefficient + more;
        p->term[k].coefficient = sum;
        if (fabs(sum) > 1e-14 * fabs(more)) return true;
        p->count--;
        memmove(&p->term[k], &p->term[k + 1], (size_t)(p->count - k) * sizeof *p->term);
        return true;
    }
    if (more == 0.0) return true;
    if (p->count == MOST_TERMS) return false;
    p->term[p->count] = *m;
    p->term[p->count++].coefficient = more;
    return true;
}

static bool add_polynomial(polynomial *p, const polynomial *q, double scale)
{
    for (int k = 0; k < q->count; k++)
        if (!add_monomial(p, &q->term[k], scale)) return false;
    return true;
}

/* p := p + m^power q */
static bool add_product(polynomial *p, const monomial *m, const polynomial *q)
{
    for (int k = 0; k < q->count; k++) {
        monomial product = q->term[k];
        if (!multiply_monomial(&product, m, 1) || !add_monomial(p, &product, 1.0)) return false;
    }
    return true;
}

/* p := p + a^power_a b^power_b, as factors that stay whole */
static bool add_factors(polynomial *p, expr a, int power_a, expr b, int power_b)
{
    monomial m = {.coefficient = 1.0};
    return multiply_factor(&m, a, power_a) && (b == EXPR_NONE || multiply_factor(&m, b, power_b)) &&
           add_monomial(p, &m, 1.0);
}

/* ---- expansion ---- */

static bool expand(graph *g, expr e, int depth, polynomial *p);

/* a*b; sums are multiplied out only by single products */
static bool expand_product(graph *g, const expr_node *n, int depth, polynomial *p)
{
    polynomial a = {0}, b = {0};
    if (!expand(g, n->a, depth, &a) || !expand(g, n->b, depth, &b)) return false;
    if (a.count == 0 || b.count == 0) return true;
    if (a.count == 1) return add_product(p, &a.term[0], &b);
    if (b.count == 1) return add_product(p, &b.term[0], &a);
    return add_factors(p, n->a, 1, n->b, 1);
}

static bool expand_quotient(graph *g, const expr_node *n, int depth, polynomial *p)
{
    polynomial a = {0}, b = {0};
    monomial inverse = {.coefficient = 1.0};
    if (!expand(g, n->a, depth, &a) || !expand(g, n->b, depth, &b)) return false;
    bool ok = b.count == 1 ? multiply_monomial(&inverse, &b.term[0], -1)
                           : multiply_factor(&inverse, n->b, -1);
    return ok && isfinite(inverse.coefficient) && add_product(p, &inverse, &a);
}

/* a^k of a single product with a small whole k */
static bool expand_power(graph *g, expr e, const expr_node *n, int depth, polynomial *p)
{
    polynomial a = {0};
    double k;
    monomial m = {.coefficient = 1.0};
    if (!graph_is_constant(g, n->b, &k) || k != floor(k) || fabs(k) > 6.0)
        return add_factors(p, e, 1, EXPR_NONE, 0);
    if (!expand(g, n->a, depth, &a)) return false;
    bool ok = a.count == 1 ? multiply_monomial(&m, &a.term[0], (int)k)
                           : multiply_factor(&m, n->a, (int)k);
    return ok && add_monomial(p, &m, 1.0);
}

/* p := p + e; false: too large */
static bool expand(graph *g, expr e, int depth, polynomial *p)
{
    const expr_node *n = graph_node(g, e);
    polynomial part = {0};
    if (depth > DEEPEST) return false;
    switch ((expr_op)n->op) {
    case EXPR_CONSTANT: return add_monomial(p, &(monomial){.coefficient = n->value}, 1.0);
    case EXPR_ADD: return expand(g, n->a, depth + 1, p) && expand(g, n->b, depth + 1, p);
    case EXPR_NEG: return expand(g, n->a, depth + 1, &part) && add_polynomial(p, &part, -1.0);
    case EXPR_SUB:
        return expand(g, n->a, depth + 1, p) && expand(g, n->b, depth + 1, &part) &&
               add_polynomial(p, &part, -1.0);
    case EXPR_MUL: return expand_product(g, n, depth + 1, p);
    case EXPR_DIV: return expand_quotient(g, n, depth + 1, p);
    case EXPR_POW: return expand_power(g, e, n, depth + 1, p);
    default: return add_factors(p, e, 1, EXPR_NONE, 0);
    }
}

/* ---- common factors ---- */

static bool has_variables(const graph *g, expr e)
{
    bool found;
    return !graph_reads(g, &e, 1, READS_VARIABLES, &found) || found;
}

static int power_in(const monomial *m, expr factor)
{
    for (int k = 0; k < m->count; k++)
        if (m->factor[k] == factor) return m->power[k];
    return 0;
}

/* Least power of a factor over all terms. */
static int least_power(const polynomial *p, expr factor)
{
    int least = power_in(&p->term[0], factor);
    for (int k = 1; k < p->count; k++) {
        int power = power_in(&p->term[k], factor);
        if (power < least) least = power;
    }
    return least;
}

/* Denominators go, and factors without variables that all terms have. */
static bool clear_factors(const graph *g, polynomial *p)
{
    for (int k = 0; k < p->count; k++)
        for (int i = 0; i < p->term[k].count; i++) {
            expr factor = p->term[k].factor[i];
            int least = least_power(p, factor);
            if (least == 0 || (least > 0 && has_variables(g, factor))) continue;
            for (int q = 0; q < p->count; q++)
                if (!multiply_factor(&p->term[q], factor, -least)) return false;
            i = -1; /* factors have moved */
        }
    return true;
}

/* The smallest coefficient becomes 1 if the others are whole then; most signs positive. */
static void scale_coefficients(polynomial *p)
{
    double least = INFINITY;
    int negative = 0;
    for (int k = 0; k < p->count; k++) {
        least = fmin(least, fabs(p->term[k].coefficient));
        negative += p->term[k].coefficient < 0.0;
    }
    bool whole = true;
    for (int k = 0; k < p->count; k++) {
        double ratio = fabs(p->term[k].coefficient) / least;
        if (fabs(ratio - round(ratio)) > 1e-12 * ratio) whole = false;
    }
    bool turn = 2 * negative > p->count || (2 * negative == p->count && p->term[0].coefficient < 0);
    double scale = (turn ? -1.0 : 1.0) / (whole ? least : 1.0);
    for (int k = 0; k < p->count; k++) {
        double c = scale * p->term[k].coefficient;
        p->term[k].coefficient = whole ? round(c) : c;
    }
}

/* ---- back to expressions ---- */

/* product * e^power, power > 0 */
static expr times(graph *g, expr product, expr e, int power)
{
    expr factor = power == 1   ? e
                  : power == 2 ? graph_binary(g, EXPR_MUL, e, e)
                               : graph_binary(g, EXPR_POW, e, graph_constant(g, power));
    return product == EXPR_NONE ? factor : graph_binary(g, EXPR_MUL, product, factor);
}

/* Product of the factors with positive, or negative, powers; parameters first. */
static expr build_factors(graph *g, const monomial *m, expr product, int sign)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < m->count; k++)
            if ((graph_node(g, m->factor[k])->op == EXPR_PARAMETER) == (pass == 0) &&
                sign * m->power[k] > 0)
                product = times(g, product, m->factor[k], sign * m->power[k]);
    return product;
}

/* |coefficient| * factors */
static expr build_term(graph *g, const monomial *m)
{
    double size = fabs(m->coefficient);
    expr above = size != 1.0 ? graph_constant(g, size) : EXPR_NONE;
    above = build_factors(g, m, above, 1);
    expr below = build_factors(g, m, EXPR_NONE, -1);
    if (above == EXPR_NONE) above = graph_constant(g, size);
    return below == EXPR_NONE ? above : graph_binary(g, EXPR_DIV, above, below);
}

static bool term_varies(const graph *g, const monomial *m)
{
    for (int k = 0; k < m->count; k++)
        if (has_variables(g, m->factor[k])) return true;
    return false;
}

/* Sum of |term| or -|term| over the terms on one side. EXPR_NONE: none */
static expr build_side(graph *g, const polynomial *p, const bool *right, bool side)
{
    expr sum = EXPR_NONE;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < p->count; k++) {
            bool minus = (p->term[k].coefficient < 0.0) != side;
            if (minus != (pass == 1) || right[k] != side) continue;
            expr term = build_term(g, &p->term[k]);
            if (sum == EXPR_NONE)
                sum = minus ? graph_unary(g, EXPR_NEG, term) : term;
            else
                sum = graph_binary(g, minus ? EXPR_SUB : EXPR_ADD, sum, term);
        }
    return sum;
}

/* right[k]: terms that go to the right of the equals sign: negative ones, or if none of those has
 * variables, what has none */
static void choose_sides(const graph *g, const polynomial *p, bool *right)
{
    bool negative = false;
    for (int k = 0; k < p->count; k++)
        if (p->term[k].coefficient < 0.0 && term_varies(g, &p->term[k])) negative = true;
    for (int k = 0; k < p->count; k++)
        right[k] = negative ? p->term[k].coefficient < 0.0 : !term_varies(g, &p->term[k]);
}

expr tidy_equation(graph *g, expr e)
{
    polynomial p = {0};
    if (e == EXPR_NONE || !expand(g, e, 0, &p)) return e;
    if (p.count == 0) return graph_constant(g, 0.0);
    if (!clear_factors(g, &p)) return e;
    scale_coefficients(&p);
    bool side[MOST_TERMS] = {false};
    choose_sides(g, &p, side);
    expr left = build_side(g, &p, side, false), right = build_side(g, &p, side, true);
    if (left == EXPR_NONE) return e;
    return right == EXPR_NONE ? left : graph_binary(g, EXPR_SUB, left, right);
}

expr tidy_sum(graph *g, expr e)
{
    polynomial p = {0};
    bool side[MOST_TERMS] = {false};
    if (e == EXPR_NONE || !expand(g, e, 0, &p)) return e;
    return p.count == 0 ? graph_constant(g, 0.0) : build_side(g, &p, side, false);
}
