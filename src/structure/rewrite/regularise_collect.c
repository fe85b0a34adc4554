/* Sums of products with equal terms collected: what makes leading derivatives cancel.
 *
 * A polynomial in atoms: leaves, functions of collected operands, and inverses of sums. The graph's
 * own constructors keep every domain; here equal terms cancel also where they are not finite, so
 * that the result is defined at least where the original is. */
#include "structure/rewrite/regularise_parts.h"

#include "base/arena.h"
#include "base/memory.h"
#include "expr/intern.h"

#include <math.h>
#include <string.h>

enum { MOST_TERMS = 400 };                   /* of one sum; longer ones stay products */
static const size_t MOST_MEMORY = 64u << 20; /* of one call */

typedef struct factor {
    expr atom;
    int power; /* not 0 */
} factor;

/* coefficient * product of atom^power */
typedef struct term {
    long double coefficient;
    long double size; /* sum of |coefficients| that were added up to it */
    int count;
    factor *factors; /* atoms increasing */
} term;

typedef struct polynomial {
    int count;
    term *terms; /* increasing in monomials */
} polynomial;

typedef struct collector {
    graph *g;
    arena *memory;  /* owned */
    walk nodes;     /* owned */
    polynomial *of; /* by place in the walk; in the arena */
    expr *built;    /* the same as expressions, where one was asked for; in the arena */
} collector;

/* ---- terms ---------------------------------------------------------------------------------- */

/* Order of monomials. */
static int compare(const term *a, const term *b)
{
    for (int k = 0; k < a->count && k < b->count; k++) {
        const factor *p = &a->factors[k], *q = &b->factors[k];
        if (p->atom != q->atom) return p->atom < q->atom ? -1 : 1;
        if (p->power != q->power) return p->power < q->power ? -1 : 1;
    }
    return a->count - b->count;
}

static polynomial zero(void)
{
    return (polynomial){0};
}

static polynomial *failed(polynomial *p)
{
    *p = zero();
    return NULL;
}

/* One term without factors. */
static bool make_number(collector *c, double value, polynomial *p)
{
    *p = zero();
    if (value == 0.0) return true;
    p->terms = arena_alloc(c->memory, sizeof *p->terms);
    if (!p->terms) return false;
    p->count = 1;
    p->terms[0] = (term){.coefficient = value, .size = fabs(value)};
    return true;
}

/* atom^power */
static bool make_atom(collector *c, expr atom, int power, polynomial *p)
{
    double value;
    if (graph_is_constant(c->g, atom, &value) && (power == 1 || value != 0.0))
        return make_number(c, power == 1 ? value : 1.0 / value, p);
    p->terms = arena_alloc(c->memory, sizeof *p->terms);
    factor *f = arena_alloc(c->memory, sizeof *f);
    if (!p->terms || !f) return failed(p) != NULL;
    *f = (factor){.atom = atom, .power = power};
    p->count = 1;
    p->terms[0] = (term){.coefficient = 1.0L, .size = 1.0L, .count = 1, .factors = f};
    return true;
}

/* Whether a coefficient is nothing but the rounding of those that were added: they are doubles. */
static bool cancelled(const term *t)
{
    return fabsl(t->coefficient) <= 4.0L * 0x1p-53L * t->size;
}

/* p + sign q */
static bool add(collector *c, polynomial p, polynomial q, long double sign, polynomial *sum)
{
    int i = 0, j = 0;
    *sum = zero();
    sum->terms = arena_alloc(c->memory, (size_t)(p.count + q.count + 1) * sizeof *sum->terms);
    if (!sum->terms) return false;
    while (i < p.count || j < q.count) {
        int order = i == p.count ? 1 : j == q.count ? -1 : compare(&p.terms[i], &q.terms[j]);
        term t = order <= 0 ? p.terms[i++] : q.terms[j];
        if (order > 0) t.coefficient *= sign;
        if (order >= 0) {
            if (order == 0) {
                t.coefficient += sign * q.terms[j].coefficient;
                t.size += q.terms[j].size;
            }
            j++;
        }
        if (!cancelled(&t)) sum->terms[sum->count++] = t;
    }
    return true;
}

/* s t */
static bool multiply_terms(collector *c, const term *s, const term *t, term *product)
{
    int i = 0, j = 0;
    *product = (term){.coefficient = s->coefficient * t->coefficient, .size = s->size * t->size};
    product->factors =
        arena_alloc(c->memory, (size_t)(s->count + t->count + 1) * sizeof *product->factors);
    if (!product->factors) return false;
    while (i < s->count || j < t->count) {
        const factor *p = &s->factors[i], *q = &t->factors[j];
        factor f;
        if (j == t->count || (i < s->count && p->atom < q->atom)) {
            f = s->factors[i++];
        } else if (i == s->count || q->atom < p->atom) {
            f = t->factors[j++];
        } else {
            f = (factor){.atom = p->atom, .power = p->power + q->power};
            i++;
            j++;
        }
        if (f.power != 0) product->factors[product->count++] = f;
    }
    return true;
}

/* p q, halving the longer one so that sums merge pairwise */
static bool multiply(collector *c, polynomial p, polynomial q, polynomial *product)
{
    *product = zero();
    if (p.count < q.count) {
        polynomial r = p;
        p = q;
        q = r;
    }
    if (q.count == 0) return true;
    if (p.count > 1) {
        polynomial low = {.count = p.count / 2, .terms = p.terms}, a, b;
        polynomial high = {.count = p.count - low.count, .terms = p.terms + low.count};
        return multiply(c, low, q, &a) && multiply(c, high, q, &b) && add(c, a, b, 1.0L, product);
    }
    product->terms = arena_alloc(c->memory, sizeof *product->terms);
    if (!product->terms) return false;
    product->count = 1;
    return multiply_terms(c, &p.terms[0], &q.terms[0], &product->terms[0]);
}

/* 1 / t */
static bool invert_term(collector *c, const term *t, polynomial *inverse)
{
    factor *f = arena_alloc(c->memory, (size_t)(t->count + 1) * sizeof *f);
    inverse->terms = arena_alloc(c->memory, sizeof *inverse->terms);
    if (!f || !inverse->terms) return failed(inverse) != NULL;
    for (int k = 0; k < t->count; k++)
        f[k] = (factor){.atom = t->factors[k].atom, .power = -t->factors[k].power};
    long double one = 1.0L / t->coefficient;
    inverse->count = 1;
    inverse->terms[0] =
        (term){.coefficient = one, .size = fabsl(one), .count = t->count, .factors = f};
    return true;
}

/* ---- back to expressions --------------------------------------------------------------------- */

/* product of the factors with positive, or of those with negative powers; 1 if there are none */
static expr build_product(graph *g, const term *t, bool positive)
{
    expr product = EXPR_NONE;
    for (int k = 0; k < t->count; k++) {
        int power = positive ? t->factors[k].power : -t->factors[k].power;
        for (; power > 0; power--)
            product = product ? graph_binary(g, EXPR_MUL, product, t->factors[k].atom)
                              : t->factors[k].atom;
    }
    return product ? product : graph_constant(g, 1.0);
}

/* |coefficient| * product */
static expr build_term(graph *g, const term *t)
{
    double size = (double)fabsl(t->coefficient);
    expr top = build_product(g, t, true), bottom = build_product(g, t, false);
    if (size < 1.0 && 1.0 / size == floor(1.0 / size) && 1.0 / size < 1e6) /* x/2, not 0.5*x */
        bottom = graph_binary(g, EXPR_MUL, graph_constant(g, 1.0 / size), bottom);
    else
        top = graph_binary(g, EXPR_MUL, graph_constant(g, size), top);
    return graph_binary(g, EXPR_DIV, top, bottom);
}

/* Terms with a plus first, then those with a minus. */
static expr build(graph *g, polynomial p)
{
    expr sum = EXPR_NONE;
    for (int k = 0; k < p.count; k++)
        if (p.terms[k].coefficient > 0.0L) {
            expr t = build_term(g, &p.terms[k]);
            sum = sum ? graph_binary(g, EXPR_ADD, sum, t) : t;
        }
    if (!sum) sum = graph_constant(g, 0.0);
    for (int k = 0; k < p.count; k++)
        if (p.terms[k].coefficient < 0.0L)
            sum = graph_binary(g, EXPR_SUB, sum, build_term(g, &p.terms[k]));
    return sum;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static polynomial of(const collector *c, expr e)
{
    return c->of[walk_place(&c->nodes, e)];
}

/* The expression of a collected node: made once, however many operations it is an operand of. */
static expr built(const collector *c, expr e)
{
    size_t place = walk_place(&c->nodes, e);
    if (!c->built[place]) c->built[place] = build(c->g, c->of[place]);
    return c->built[place];
}

/* Any other operation: an atom with collected operands. */
static bool collect_function(collector *c, const expr_node *n, polynomial *p)
{
    expr operand[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE}, old[3] = {n->a, n->b, n->c};
    for (int k = 0; k < 3; k++)
        if (old[k]) operand[k] = built(c, old[k]);
    expr e = graph_rebuild(c->g, n, operand[0], operand[1], operand[2]);
    return e != EXPR_NONE && make_atom(c, e, 1, p);
}

/* Lists and loops keep what they have: their operands are no numbers to collect. */
static bool collect_as_is(collector *c, expr e, polynomial *p)
{
    return make_atom(c, e, 1, p);
}

static bool collect_product(collector *c, const expr_node *n, polynomial *p)
{
    polynomial a = of(c, n->a), b = of(c, n->b), factor_a, factor_b;
    if ((long)a.count * b.count <= MOST_TERMS) return multiply(c, a, b, p);
    return make_atom(c, built(c, n->a), 1, &factor_a) &&
           make_atom(c, built(c, n->b), 1, &factor_b) && multiply(c, factor_a, factor_b, p);
}

static bool collect_quotient(collector *c, const expr_node *n, polynomial *p)
{
    polynomial b = of(c, n->b), inverse;
    if (b.count == 0) return collect_function(c, n, p);
    bool ok = b.count == 1 ? invert_term(c, &b.terms[0], &inverse)
                           : make_atom(c, built(c, n->b), -1, &inverse);
    return ok && multiply(c, of(c, n->a), inverse, p);
}

static bool collect_node(collector *c, expr e, polynomial *p)
{
    const expr_node *n = graph_node(c->g, e);
    switch ((expr_op)n->op) {
    case EXPR_CONSTANT:
        return isfinite(n->value) ? make_number(c, n->value, p) : make_atom(c, e, 1, p);
    case EXPR_ADD: return add(c, of(c, n->a), of(c, n->b), 1.0L, p);
    case EXPR_SUB: return add(c, of(c, n->a), of(c, n->b), -1.0L, p);
    case EXPR_NEG: return add(c, zero(), of(c, n->a), -1.0L, p);
    case EXPR_MUL: return collect_product(c, n, p);
    case EXPR_DIV: return collect_quotient(c, n, p);
    case EXPR_LIST:
    case EXPR_LOOP:
    case EXPR_SIGNAL:
    case EXPR_RESULT: return collect_as_is(c, e, p);
    default: return graph_arity(n->op) ? collect_function(c, n, p) : make_atom(c, e, 1, p);
    }
}

static void collector_free(collector *c)
{
    arena_free(c->memory);
    walk_free(&c->nodes);
}

/* Polynomials of all nodes; false: memory, or it is too long. */
static bool collector_run(collector *c, graph *g, const expr *e, size_t count)
{
    *c = (collector){.g = g, .memory = arena_new(MOST_MEMORY)};
    if (!c->memory || !walk_from(&c->nodes, g, e, count)) return false;
    c->of = arena_alloc(c->memory, c->nodes.count * sizeof *c->of);
    c->built = arena_alloc(c->memory, c->nodes.count * sizeof *c->built);
    if (!c->of || !c->built) return false;
    for (size_t i = 0; i < c->nodes.count; i++)
        if (!collect_node(c, c->nodes.order[i], &c->of[i])) return false;
    return true;
}

/* ---- what the others call ---------------------------------------------------------------------
 */

/* Number of nodes and of leaves that an expression has. */
typedef struct measure {
    size_t nodes, leaves;
} measure;

static bool measure_of(graph *g, expr e, measure *m)
{
    walk w = {0};
    bool ok = walk_from(&w, g, &e, 1);
    *m = (measure){.nodes = w.count};
    for (size_t i = 0; ok && i < w.count; i++) {
        const expr_node *n = graph_node(g, w.order[i]);
        m->leaves += graph_arity(n->op) == 0 && n->op != EXPR_CONSTANT;
    }
    walk_free(&w);
    return ok;
}

expr collect_fully(graph *g, expr e)
{
    collector c;
    expr result = e;
    if (e == EXPR_NONE || graph_failed(g)) return EXPR_NONE;
    if (collector_run(&c, g, &e, 1)) result = build(g, of(&c, e));
    collector_free(&c);
    return graph_failed(g) ? EXPR_NONE : result;
}

expr collect(graph *g, expr e)
{
    measure before, after;
    expr result = collect_fully(g, e);
    if (result == EXPR_NONE || !measure_of(g, e, &before) || !measure_of(g, result, &after))
        return EXPR_NONE;
    return after.leaves < before.leaves || after.nodes <= before.nodes ? result : e;
}

/* power of an atom in a term */
static int power_of(const term *t, expr atom)
{
    for (int k = 0; k < t->count; k++)
        if (t->factors[k].atom == atom) return t->factors[k].power;
    return 0;
}

/* min over all terms of the power of an atom */
static int least_power(const collector *c, const expr *e, size_t count, expr atom)
{
    int least = 1 << 20;
    for (size_t i = 0; i < count; i++) {
        polynomial p = of(c, e[i]);
        for (int k = 0; k < p.count; k++) {
            int power = power_of(&p.terms[k], atom);
            if (power < least) least = power;
        }
    }
    return least;
}

/* The inverse of what all terms have in common; atoms are those of the terms. */
static bool inverse_of_common(collector *c, const expr *e, size_t count, polynomial *inverse)
{
    bool ok = make_number(c, 1.0, inverse);
    for (size_t i = 0; ok && i < count; i++) {
        polynomial p = of(c, e[i]);
        for (int k = 0; ok && k < p.count; k++)
            for (int f = 0; ok && f < p.terms[k].count; f++) {
                expr atom = p.terms[k].factors[f].atom;
                int least = least_power(c, e, count, atom);
                polynomial power, product;
                if (least == 0 || power_of(&inverse->terms[0], atom) != 0) continue;
                ok = make_atom(c, atom, -least, &power) && multiply(c, *inverse, power, &product);
                if (ok) *inverse = product;
            }
    }
    return ok;
}

/* e_i := e_i inverse, all or none */
static void divide_all(collector *c, expr *e, size_t count, polynomial inverse)
{
    polynomial *quotient = arena_alloc(c->memory, (count + 1) * sizeof *quotient);
    if (!quotient) return;
    for (size_t i = 0; i < count; i++)
        if (!multiply(c, of(c, e[i]), inverse, &quotient[i])) return;
    for (size_t i = 0; i < count; i++) e[i] = build(c->g, quotient[i]);
}

bool collect_divide_common(graph *g, expr *e, size_t count)
{
    collector c;
    polynomial inverse;
    if (collector_run(&c, g, e, count) && inverse_of_common(&c, e, count, &inverse))
        divide_all(&c, e, count, inverse);
    collector_free(&c);
    return !graph_failed(g);
}
