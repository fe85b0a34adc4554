/* Exact derivatives against differences in long double, known series, and awkward branches. */
#include "expr/derive.h"
#include "expr/intern.h"
#include "expr/print.h"
#include "expr_build.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VARIABLES = 4 };

static int setup(void **state)
{
    (void)state;
    g = graph_new();
    return g ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    graph_free(g);
    return 0;
}

/* ---- short names ---------------------------------------------------------------------------- */

static expr choose(expr condition, expr a, expr b)
{
    return graph_select(g, condition, a, b);
}

static uint32_t random_state;

static int draw(int count)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (int)((random_state >> 8) % (uint32_t)count);
}

static long double draw_real(void)
{
    return ((long double)draw(1 << 20) / (1 << 19) - 1.0L) * 1.5L;
}

/* ---- evaluation in long double, by recursion ----------------------------------------------- */

/* Values of leaves, and the branches taken so far: two points with different marks lie on
 * different smooth pieces of the function. `singular`: an operation that was needed has no finite
 * value or derivative, or a value so large that differences drown in round-off. */
typedef struct point {
    long double x[VARIABLES], parameter, time;
    uint64_t marks;
    bool singular;
} point;

static long double eval(point *p, expr e);

static void mark(point *p, int outcome)
{
    p->marks = (p->marks ^ (uint64_t)(outcome + 7)) * UINT64_C(0x100000001B3);
}

static void mark_number(point *p, long double a)
{
    if (fabsl(a) < 1e6L) mark(p, (int)a);
}

static long double eval_unary(point *p, expr_op op, long double a)
{
    int sign = (a > 0.0L) - (a < 0.0L);
    switch (op) {
    case EXPR_NEG: return -a;
    case EXPR_NOT: return a == 0.0L;
    case EXPR_ABS: mark(p, sign); return fabsl(a);
    case EXPR_SIGN: mark(p, sign); return sign;
    case EXPR_SQRT: return sqrtl(a);
    case EXPR_EXP: return expl(a);
    case EXPR_LOG: return logl(a);
    case EXPR_LOG10: return log10l(a);
    case EXPR_SIN: return sinl(a);
    case EXPR_COS: return cosl(a);
    case EXPR_TAN: return tanl(a);
    case EXPR_ASIN: return asinl(a);
    case EXPR_ACOS: return acosl(a);
    case EXPR_ATAN: return atanl(a);
    case EXPR_SINH: return sinhl(a);
    case EXPR_COSH: return coshl(a);
    case EXPR_TANH: return tanhl(a);
    case EXPR_FLOOR: mark_number(p, floorl(a)); return floorl(a);
    case EXPR_CEIL: mark_number(p, ceill(a)); return ceill(a);
    default: fail(); return 0.0L;
    }
}

static long double eval_binary(point *p, expr_op op, long double a, long double b)
{
    mark(p, op >= EXPR_MIN ? (a < b) - (a > b) : 0);
    switch (op) {
    case EXPR_ADD: return a + b;
    case EXPR_SUB: return a - b;
    case EXPR_MUL: return a * b;
    case EXPR_DIV: return a / b;
    case EXPR_POW: return powl(a, b);
    case EXPR_ATAN2: return atan2l(a, b);
    case EXPR_MIN: return a < b ? a : b;
    case EXPR_MAX: return a > b ? a : b;
    case EXPR_LT: return a < b;
    case EXPR_LE: return a <= b;
    case EXPR_EQ: return a == b;
    case EXPR_NE: return a != b;
    case EXPR_AND: return a != 0.0L && b != 0.0L;
    case EXPR_OR: return a != 0.0L || b != 0.0L;
    default: fail(); return 0.0L;
    }
}

/* Whether an operation has no finite derivative at (a, b) though its value may be finite. */
static bool is_singular(const expr_node *n, long double a, long double b)
{
    bool varying = n->b && !graph_is_constant(g, n->b, NULL);
    if (n->op == EXPR_ASIN || n->op == EXPR_ACOS) return fabsl(a) >= 1.0L;
    if (n->op == EXPR_ATAN2) return a == 0.0L && b == 0.0L;
    if (n->op == EXPR_POW) return a == 0.0L || (a < 0.0L && varying);
    return n->op == EXPR_SQRT && a == 0.0L;
}

static long double eval_operation(point *p, const expr_node *n)
{
    long double a = eval(p, n->a), b = n->b ? eval(p, n->b) : 0.0L;
    long double r = n->b ? eval_binary(p, n->op, a, b) : eval_unary(p, n->op, a);
    if (!(fabsl(r) <= 1e4L) || is_singular(n, a, b)) p->singular = true;
    return r;
}

static long double eval(point *p, expr e)
{
    const expr_node *n = graph_node(g, e);
    switch (graph_arity(n->op)) {
    case 1:
    case 2: return eval_operation(p, n);
    case 3: return eval(p, n->a) != 0.0L ? eval(p, n->b) : eval(p, n->c);
    default: break;
    }
    if (n->op == EXPR_CONSTANT) return n->value;
    if (n->op == EXPR_TIME) return p->time;
    return n->op == EXPR_VARIABLE ? p->x[n->index] : p->parameter;
}

static long double eval_at(const point *p, expr e)
{
    point copy = *p;
    return eval(&copy, e);
}

/* Central differences by x[i], extrapolated [h^2, h^4, ..]; false where the function is not smooth
 * around the point, or too rough for the differences to be trusted to 1e-11. */
static bool difference(const point *p, expr e, int i, long double *result)
{
    enum { LEVELS = 7 };
    long double t[LEVELS][LEVELS], h = 0.02L;
    point centre = *p;
    centre.marks = 0;
    centre.singular = false;
    eval(&centre, e);
    if (centre.singular) return false;
    for (int k = 0; k < LEVELS; k++, h /= 2) {
        point plus = *p, minus = *p;
        plus.marks = minus.marks = 0;
        plus.x[i] += h;
        minus.x[i] -= h;
        t[k][0] = (eval(&plus, e) - eval(&minus, e)) / (plus.x[i] - minus.x[i]);
        if (!isfinite(t[k][0]) || plus.marks != centre.marks || minus.marks != centre.marks)
            return false;
        long double power = 4;
        for (int j = 1; j <= k; j++, power *= 4)
            t[k][j] = t[k][j - 1] + (t[k][j - 1] - t[k - 1][j - 1]) / (power - 1);
    }
    *result = t[LEVELS - 1][LEVELS - 1];
    long double error = fabsl(*result - t[LEVELS - 2][LEVELS - 2]);
    return fabsl(*result) < 1e6L && error <= 1e-11L * (1 + fabsl(*result));
}

/* ---- random expressions --------------------------------------------------------------------- */

static int used[EXPR_OP_COUNT];

static expr random_leaf(void)
{
    static const double numbers[] = {1, 2, 3, 0.5, -1.5, 0.25, -2, 5};
    int kind = draw(8);
    if (kind < 5) return var(draw(VARIABLES));
    if (kind == 5) return draw(2) ? graph_parameter(g, 0) : graph_time(g);
    return num(numbers[draw(8)]);
}

static expr random_expression(int depth);

/* A truth value that changes at a place inside the range of the variables. */
static expr random_condition(int depth)
{
    expr_op op = (expr_op)(EXPR_LT + draw(4));
    if (depth > 1 && draw(4) == 0) {
        expr a = random_condition(depth - 1);
        return draw(3) == 0 ? un(EXPR_NOT, a)
                            : bin(draw(2) ? EXPR_AND : EXPR_OR, a, random_condition(depth - 1));
    }
    expr a = random_expression(depth - 1);
    return bin(op, a, random_expression(depth - 1));
}

static expr random_expression(int depth)
{
    if (depth <= 0 || draw(9) == 0) return random_leaf();
    expr_op op = (expr_op)(EXPR_NEG + draw(EXPR_OP_COUNT - EXPR_NEG));
    if (draw(2) == 0) op = (expr_op)(EXPR_ADD + draw(4));
    if (op == EXPR_NOT || (op >= EXPR_LT && op <= EXPR_OR)) return random_condition(depth);
    expr a = op == EXPR_SELECT ? random_condition(depth - 1) : random_expression(depth - 1);
    expr b = graph_arity(op) > 1 ? random_expression(depth - 1) : EXPR_NONE;
    expr c = graph_arity(op) > 2 ? random_expression(depth - 1) : EXPR_NONE;
    return graph_build(g, op, a, b, c);
}

static void count_ops(expr e)
{
    const expr_node *n = graph_node(g, e);
    used[n->op]++;
    if (n->a) count_ops(n->a);
    if (expr_operand(n, 1)) count_ops(expr_operand(n, 1));
    if (expr_operand(n, 2)) count_ops(expr_operand(n, 2));
}

/* Whether e changes smoothly with x[i] anywhere, by its structure alone. */
static bool depends(expr e, int i)
{
    const expr_node *n = graph_node(g, e);
    if (n->op == EXPR_VARIABLE) return n->index == i;
    if (n->op == EXPR_NOT || n->op == EXPR_SIGN || n->op == EXPR_FLOOR || n->op == EXPR_CEIL ||
        (n->op >= EXPR_LT && n->op <= EXPR_OR))
        return false;
    if (n->op == EXPR_SELECT) return depends(n->b, i) || depends(n->c, i);
    expr b = expr_operand(n, 1);
    return (n->a && depends(n->a, i)) || (b && depends(b, i));
}

static void random_point(point *p)
{
    for (int i = 0; i < VARIABLES; i++) p->x[i] = draw_real();
    p->parameter = draw_real();
    p->time = draw_real();
}

/* The entry for x[i], or EXPR_NONE. */
static expr entry(const gradient *d, int i)
{
    for (size_t k = 0; k < d->count; k++)
        if (d->leaf[k] == var(i)) return d->derivative[k];
    return EXPR_NONE;
}

static void complain(expr e, int i, long double found, long double expected)
{
    char text[1000];
    expr_print(g, e, NULL, NULL, text, sizeof text);
    fail_msg("d/dx[%d] of %s is %.15Lg, expected %.15Lg", i, text, found, expected);
}

static void compare(expr e, int i, const point *p, expr derivative, long double expected)
{
    long double found = derivative == EXPR_NONE ? 0.0L : eval_at(p, derivative);
    if (!(fabsl(found - expected) <= 1e-10L * (1 + fabsl(expected))))
        complain(e, i, found, expected);
}

/* Compare all derivatives of e by x[i] with differences at random points; how many points did. */
static int check_partial(expr e, int i, const gradient *d)
{
    int good = 0;
    expr backward = entry(d, i), forward = derive_partial(g, e, var(i));
    for (int k = 0; k < 12; k++) {
        point p;
        long double expected;
        random_point(&p);
        if (!difference(&p, e, i, &expected)) continue;
        compare(e, i, &p, backward, expected);
        compare(e, i, &p, forward, expected);
        good++;
    }
    return good;
}

/* 200 expressions that have enough points where differences can be trusted. */
static void random_derivatives(void **state)
{
    (void)state;
    gradient d = {0};
    int expressions = 0, tried = 0, nonzero = 0;
    random_state = 2026;
    for (; expressions < 200 && tried < 5000; tried++) {
        expr e = random_expression(3 + draw(6));
        if (graph_arity(graph_node(g, e)->op) == 0) continue;
        int points = 0;
        assert_true(derive_gradient(g, e, &d));
        for (size_t k = 1; k < d.count; k++) assert_true(d.leaf[k - 1] < d.leaf[k]);
        for (int i = 0; i < VARIABLES; i++) {
            bool there = entry(&d, i) != EXPR_NONE;
            if (there) assert_true(depends(e, i)); /* not too large */
            points += check_partial(e, i, &d);     /* not too small: absent counts as 0 */
            nonzero += there;
        }
        if (points < 4) continue;
        count_ops(e);
        expressions++;
    }
    assert_int_equal(expressions, 200);
    assert_true(nonzero > 200);
    for (int op = EXPR_TIME; op < EXPR_OP_COUNT; op++)
        if (op != EXPR_MEMORY) assert_true(used[op] > 0);
    gradient_free(&d);
}

/* What depends on a variable by its structure is in the gradient, unless it cancels exactly. */
static void sparsity_is_that_of_the_structure(void **state)
{
    (void)state;
    gradient d = {0};
    int missing = 0, present = 0;
    random_state = 11;
    for (int k = 0; k < 2000; k++) {
        expr e = random_expression(1 + draw(6));
        assert_true(derive_gradient(g, e, &d));
        for (int i = 0; i < VARIABLES; i++) {
            bool there = entry(&d, i) != EXPR_NONE;
            if (there) assert_true(depends(e, i));
            missing += !there && depends(e, i);
            present += there;
            if (there || !depends(e, i)) continue;
            expr forward = derive_partial(g, e, var(i));
            for (int tries = 0; tries < 20; tries++) {
                point p;
                random_point(&p);
                long double value = eval_at(&p, forward);
                assert_true(isnan(value) || value == 0.0L);
            }
        }
    }
    assert_true(missing * 100 < present); /* only x - x and the like */
    gradient_free(&d);
}

/* ---- known derivatives ---------------------------------------------------------------------- */

static void expect_derivative(expr e, expr expected)
{
    gradient d = {0};
    assert_true(derive_gradient(g, e, &d));
    if (entry(&d, 0) != expected || derive_partial(g, e, var(0)) != expected) {
        char found[200], wanted[200];
        expr_print(g, entry(&d, 0), NULL, NULL, found, sizeof found);
        expr_print(g, expected, NULL, NULL, wanted, sizeof wanted);
        fail_msg("%s instead of %s", found, wanted);
    }
    gradient_free(&d);
}

/* Results are as short as by hand, and use the nodes that are there. */
static void short_results(void **state)
{
    (void)state;
    expr x = var(0), y = var(1), exponential = un(EXPR_EXP, x), root = un(EXPR_SQRT, x);
    expect_derivative(bin(EXPR_MUL, x, x), bin(EXPR_MUL, num(2), x));
    expect_derivative(bin(EXPR_MUL, x, y), y);
    expect_derivative(bin(EXPR_SUB, y, x), num(-1));
    expect_derivative(exponential, exponential);
    expect_derivative(root, bin(EXPR_DIV, num(1), bin(EXPR_MUL, num(2), root)));
    expect_derivative(un(EXPR_COS, x), un(EXPR_NEG, un(EXPR_SIN, x)));
    expect_derivative(un(EXPR_LOG, x), bin(EXPR_DIV, num(1), x));
    expect_derivative(bin(EXPR_POW, x, num(5)), bin(EXPR_MUL, num(5), bin(EXPR_POW, x, num(4))));
    expr c = bin(EXPR_LT, y, num(0));
    expect_derivative(choose(c, bin(EXPR_MUL, x, y), un(EXPR_SIN, x)),
                      choose(c, y, un(EXPR_COS, x)));
    expect_derivative(choose(c, y, exponential), choose(c, num(0), exponential));
}

static double leaf_value;

static double read_x(void *context, const expr_node *leaf)
{
    (void)context;
    return leaf->index == 0 ? leaf_value : 0.75;
}

/* de/dx at x by both ways, which must agree */
static double derivative_at(expr e, double x)
{
    gradient d = {0};
    assert_true(derive_gradient(g, e, &d));
    leaf_value = x;
    double forward = graph_value(g, derive_partial(g, e, var(0)), read_x, NULL);
    double backward = entry(&d, 0) ? graph_value(g, entry(&d, 0), read_x, NULL) : 0.0;
    gradient_free(&d);
    assert_true(forward == backward || (isnan(forward) && isnan(backward)));
    return backward;
}

static void derivatives_at_awkward_points(void **state)
{
    (void)state;
    expr x = var(0), y = var(1), p = graph_parameter(g, 1);
    assert_true(derivative_at(un(EXPR_ABS, x), 0.0) == 0.0);
    assert_true(derivative_at(un(EXPR_ABS, x), -2.0) == -1.0);
    for (int power = 2; power <= 6; power++)
        assert_true(derivative_at(bin(EXPR_POW, x, num(power)), 0.0) == 0.0);
    assert_true(derivative_at(bin(EXPR_POW, x, num(1.5)), 0.0) == 0.0);
    assert_true(derivative_at(bin(EXPR_POW, x, p), -1.0) != 0.0);
    assert_true(derivative_at(un(EXPR_SQRT, x), 0.0) == INFINITY);
    /* x^y by y at x = 0: 0, not 0 * log(0) */
    leaf_value = 0.0;
    assert_true(graph_value(g, derive_partial(g, bin(EXPR_POW, x, y), y), read_x, NULL) == 0.0);
    /* a parameter as exponent never meets the logarithm */
    expr derivative = derive_partial(g, bin(EXPR_POW, x, p), x);
    leaf_value = -2.0;
    assert_true(isnan(graph_value(g, derivative, read_x, NULL))); /* (-2)^(-1/4): as it should */
    assert_true(fabs(derivative_at(un(EXPR_ASIN, x), 1.0 - 1e-12) * sqrt(2e-12) - 1.0) < 1e-4);
}

/* The derivative of a branch not taken is never looked at, however the branches are shared. */
static void branches_not_taken_do_not_matter(void **state)
{
    (void)state;
    expr x = var(0), y = var(1), root = un(EXPR_SQRT, x);
    expr positive = bin(EXPR_LT, num(0), x), large = bin(EXPR_LT, num(4), x);
    expr safe = choose(positive, root, num(0));
    assert_true(derivative_at(safe, 0.0) == 0.0);
    assert_true(derivative_at(safe, -1.0) == 0.0);
    assert_true(derivative_at(safe, 4.0) == 0.25);
    assert_true(derivative_at(un(EXPR_SIN, bin(EXPR_MUL, y, safe)), -1.0) == 0.0);
    expr twice = bin(EXPR_ADD, safe, choose(large, bin(EXPR_MUL, y, root), x));
    assert_true(derivative_at(twice, -1.0) == 1.0);
    assert_true(derivative_at(twice, 1.0) == 0.5 + 1.0);
    assert_true(fabs(derivative_at(twice, 16.0) - 1.75 / 8) < 1e-15);
    expr nested = choose(positive, choose(large, root, un(EXPR_LOG, x)), un(EXPR_EXP, x));
    expr deep = bin(EXPR_MUL, nested, nested);
    assert_true(fabs(derivative_at(deep, -1.0) - 2 * exp(-2.0)) < 1e-15);
    assert_true(fabs(derivative_at(deep, 2.0) - log(2.0)) < 1e-15);
    assert_true(fabs(derivative_at(deep, 9.0) - 1.0) < 1e-15);
    assert_true(derivative_at(bin(EXPR_MAX, root, num(1)), 0.0) == 0.0);
    assert_true(derivative_at(bin(EXPR_MIN, un(EXPR_LOG, x), y), 10.0) == 0.0);
}

/* if x < 1 then f1 elseif x < 2 then f2 ..: the derivative is a chain of the same length. */
static void chains_of_branches_stay_chains(void **state)
{
    (void)state;
    enum { BRANCHES = 400 };
    expr x = var(0), e = x;
    for (int i = BRANCHES; i > 0; i--)
        e = choose(bin(EXPR_LT, x, num(i)), bin(EXPR_MUL, num(i + 0.5), un(EXPR_SIN, x)), e);
    size_t before = graph_size(g);
    assert_true(derivative_at(e, 1e6) == 1.0);
    assert_true(graph_size(g) - before < 12 * BRANCHES);
    assert_true(fabs(derivative_at(e, 6.5) - 7.5 * cos(6.5)) < 1e-14);
}

/* Branches in branches, each with a variable of its own: conditions are shared, not repeated. */
static void nested_branches_share_conditions(void **state)
{
    (void)state;
    enum { LEVELS = 1000 };
    gradient d = {0};
    expr x = var(0), e = x;
    for (int i = 1; i < LEVELS; i++) {
        expr y = var(i), product = bin(EXPR_MUL, e, un(EXPR_SIN, y));
        e = choose(bin(EXPR_LT, y, num(i)), product, bin(EXPR_MAX, e, y));
    }
    size_t before = graph_size(g);
    assert_true(derive_gradient(g, e, &d));
    assert_int_equal(d.count, LEVELS);
    assert_true(graph_size(g) - before < 40 * LEVELS);
    /* all y = 0.75: the product of the sines times x, as all conditions hold */
    leaf_value = 2.0;
    double innermost = graph_value(g, entry(&d, 0), read_x, NULL);
    double last = graph_value(g, entry(&d, LEVELS - 1), read_x, NULL);
    assert_true(fabs(innermost / pow(sin(0.75), LEVELS - 1) - 1.0) < 1e-10);
    assert_true(fabs(last / (2 * pow(sin(0.75), LEVELS - 2) * cos(0.75)) - 1.0) < 1e-10);
    gradient_free(&d);
}

/* The same with forward and backward at random points, values included where branches share. */
static void both_ways_agree_at_kinks(void **state)
{
    (void)state;
    gradient d = {0};
    int compared = 0;
    random_state = 5;
    for (int k = 0; k < 3000; k++) {
        expr e = random_expression(4);
        assert_true(derive_gradient(g, e, &d));
        for (int i = 0; i < VARIABLES; i++) {
            point p;
            expr forward = derive_partial(g, e, var(i)), backward = entry(&d, i);
            random_point(&p);
            p.x[i] = draw(5) - 2;
            p.x[(i + 1) % VARIABLES] = draw(3) - 1;
            long double f = eval_at(&p, forward), b = backward ? eval_at(&p, backward) : 0.0L;
            p.singular = false;
            eval(&p, e);
            if (p.singular) continue;
            if (!(fabsl(f - b) <= 1e-12L * (1 + fabsl(f)))) complain(e, i, b, f);
            compared++;
        }
    }
    assert_true(compared > 5000);
    gradient_free(&d);
}

/* ---- directions ----------------------------------------------------------------------------- */

static expr seed_numbers(void *context, graph *owner, expr leaf)
{
    const expr_node *n = graph_node(owner, leaf);
    (void)context;
    if (n->op == EXPR_PARAMETER) return graph_constant(owner, 7.0);
    return n->op == EXPR_VARIABLE && n->index < 2 ? graph_constant(owner, 2.0 + n->index)
                                                  : EXPR_NONE;
}

/* d(x y z p) in direction (2, 3, 0, 7) at (2, 5, 3, 0.5) */
static void directional_derivative(void **state)
{
    (void)state;
    expr e =
        bin(EXPR_MUL, bin(EXPR_MUL, var(0), var(1)), bin(EXPR_MUL, var(2), graph_parameter(g, 0)));
    point p = {.x = {2, 5, 3}, .parameter = 0.5L};
    expr d = derive_direction(g, e, seed_numbers, NULL);
    assert_true(fabsl(eval_at(&p, d) - (2 * 5 * 1.5L + 3 * 2 * 1.5L + 7 * 30)) < 1e-15L);
    assert_int_equal(derive_direction(g, graph_time(g), seed_numbers, NULL), num(0));
    assert_int_equal(derive_partial(g, bin(EXPR_MUL, graph_time(g), var(0)), graph_time(g)),
                     var(0));
    expr twice = bin(EXPR_MUL, num(2), graph_parameter(g, 0));
    assert_int_equal(derive_partial(g, twice, graph_parameter(g, 0)), num(2));
}

/* ---- total time derivatives ----------------------------------------------------------------- */

/* Known functions of time for the variables: x = exp(t), y = 1/(1-t), z = sin(t), w = cos(t). */
static double known_derivative(int index, int order, double t)
{
    double value = 1.0 / (1.0 - t);
    switch (index) {
    case 0: return exp(t);
    case 1:
        for (int k = 1; k <= order; k++) value *= k / (1.0 - t);
        return value;
    case 2: return sin(t + order * acos(0.0));
    default: return cos(t + order * acos(0.0));
    }
}

static double read_known(void *context, const expr_node *leaf)
{
    double t = *(const double *)context;
    return leaf->op == EXPR_TIME ? t : known_derivative(leaf->index, leaf->order, t);
}

/* The derivatives of e of orders 0 .. count-1 are `expected` at t */
static void expect_series(expr e, double t, int count, const double *expected)
{
    for (int k = 0; k < count; k++) {
        double value = graph_value(g, e, read_known, &t);
        if (!(fabs(value - expected[k]) <= 1e-10 * (1.0 + fabs(expected[k]))))
            fail_msg("order %d: %.15g instead of %.15g", k, value, expected[k]);
        e = derive_time(g, e);
        assert_int_not_equal(e, EXPR_NONE);
    }
}

static void time_derivatives_of_known_functions(void **state)
{
    (void)state;
    const double t = 0.3;
    expr x = var(0), y = var(1), z = var(2), w = var(3);
    double sine[7], reciprocal[7], logarithm[7] = {-log(1 - t)}, power[7], line[7] = {t, 1};
    double one[7] = {1}, polynomial[5] = {t * t * t, 3 * t * t, 6 * t, 6};
    for (int k = 0; k < 7; k++) {
        sine[k] = known_derivative(2, k, t);
        reciprocal[k] = k == 0 ? 1 - t : k == 1 ? -1 : 0;
        if (k > 0) logarithm[k] = known_derivative(1, k - 1, t);
        power[k] = k == 0 ? pow(1 - t, -2.5) : power[k - 1] * (1.5 + k) / (1 - t);
    }
    expect_series(un(EXPR_SIN, un(EXPR_LOG, x)), t, 7, sine);
    expect_series(bin(EXPR_DIV, num(1), y), t, 7, reciprocal);
    expect_series(un(EXPR_LOG, y), t, 7, logarithm);
    expect_series(bin(EXPR_POW, y, num(2.5)), t, 7, power);
    expect_series(un(EXPR_ASIN, z), t, 5, line);
    expect_series(bin(EXPR_ATAN2, z, w), t, 6, line);
    expect_series(bin(EXPR_ADD, bin(EXPR_MUL, z, z), bin(EXPR_MUL, w, w)), t, 6, one);
    expr time = graph_time(g);
    expect_series(bin(EXPR_POW, time, num(3)), t, 5, polynomial);
}

static void time_derivative_of_leaves(void **state)
{
    (void)state;
    expr velocity = graph_variable(g, 3, 1);
    assert_int_equal(derive_time(g, graph_variable(g, 3, 0)), velocity);
    assert_int_equal(derive_time(g, velocity), graph_variable(g, 3, 2));
    assert_int_equal(derive_time(g, graph_time(g)), num(1));
    assert_int_equal(derive_time(g, graph_parameter(g, 0)), num(0));
    assert_int_equal(derive_time(g, graph_memory(g, 0)), num(0));
    assert_int_equal(derive_time(g, num(3)), num(0));
    assert_int_equal(derive_time(g, graph_variable(g, 0, 255)), EXPR_NONE);
    assert_false(graph_failed(g));
}

/* ---- size ----------------------------------------------------------------------------------- */

/* Nodes that the k-th time derivative of the pendulum's constraint needs stay few. */
static void repeated_derivatives_share(void **state)
{
    (void)state;
    expr e = un(EXPR_SIN, bin(EXPR_MUL, var(0), un(EXPR_EXP, var(1))));
    for (int k = 0; k < 8; k++) e = derive_time(g, e);
    assert_int_not_equal(e, EXPR_NONE);
    assert_true(graph_size(g) < 20000);
}

static void deep_and_wide_expressions(void **state)
{
    (void)state;
    gradient d = {0};
    expr chain = var(0), sum = var(0);
    for (int i = 0; i < 300000; i++) chain = un(EXPR_SIN, chain);
    assert_true(derive_gradient(g, chain, &d));
    assert_int_equal(d.count, 1);
    assert_int_not_equal(derive_time(g, chain), EXPR_NONE);
    for (int i = 1; i < 100000; i++) sum = bin(EXPR_ADD, sum, bin(EXPR_MUL, var(i), var(i - 1)));
    size_t before = graph_size(g);
    assert_true(derive_gradient(g, sum, &d));
    assert_int_equal(d.count, 100000);
    assert_true(graph_size(g) - before <= 2 * 100000);
    gradient_free(&d);
}

/* After a large sweep, 100000 equations of three variables each. */
static void many_small_gradients(void **state)
{
    (void)state;
    gradient d = {0};
    deep_and_wide_expressions(state);
    for (int i = 0; i < 100000; i++) {
        expr second =
            bin(EXPR_SUB, bin(EXPR_ADD, var(i), var(i + 2)), bin(EXPR_MUL, num(2), var(i + 1)));
        assert_true(derive_gradient(g, bin(EXPR_SUB, graph_variable(g, i, 1), second), &d));
        assert_int_equal(d.count, 4);
    }
    gradient_free(&d);
}

/* A limit reached half way gives a clean refusal, whatever the half. */
static void limits_fail_cleanly(void **state)
{
    (void)state;
    for (size_t limit = 8; limit < 60; limit++) {
        gradient d = {0};
        graph_set_limit(g, limit);
        expr x = var(0),
             e = bin(EXPR_MUL, un(EXPR_SIN, x), un(EXPR_TANH, bin(EXPR_DIV, var(1), x)));
        e = bin(EXPR_POW, e, choose(bin(EXPR_LT, x, var(1)), x, bin(EXPR_ATAN2, x, e)));
        bool done = derive_gradient(g, e, &d);
        assert_int_equal(done, !graph_failed(g));
        if (!done) assert_int_equal(d.count, 0);
        if (!done) assert_int_equal(derive_time(g, e), EXPR_NONE);
        gradient_free(&d);
        graph_free(g);
        g = graph_new();
    }
}

/* A gradient is found once: the next one who asks gets what is kept, until the graph is tidied. */
static void gradients_are_found_once(void **state)
{
    (void)state;
    gradient first = {0}, again = {0};
    size_t count = 0;
    expr e = bin(EXPR_MUL, un(EXPR_SIN, var(1)), bin(EXPR_MUL, var(0), var(2)));
    assert_null(graph_recall(g, MEMO_GRADIENT, e, &count));
    assert_true(derive_gradient(g, e, &first));
    const expr *kept = graph_recall(g, MEMO_GRADIENT, e, &count);
    assert_non_null(kept);
    assert_int_equal(count, 2 * first.count);
    assert_true(derive_gradient(g, e, &again));
    assert_int_equal(again.count, first.count);
    for (size_t i = 0; i < first.count; i++) {
        assert_int_equal(kept[i], first.leaf[i]);
        assert_int_equal(again.leaf[i], first.leaf[i]);
        assert_int_equal(again.derivative[i], first.derivative[i]);
    }
    graph_tidy(g);
    assert_null(graph_recall(g, MEMO_GRADIENT, e, &count));
    gradient_free(&first);
    gradient_free(&again);
}

/* What is kept stays small beside the graph, however many leaves many expressions share. */
static void what_is_kept_is_bounded(void **state)
{
    (void)state;
    enum { WIDE = 400 };
    gradient d = {0};
    size_t count = 0, kept = 0;
    expr sum = var(0);
    for (int i = 1; i < WIDE; i++) sum = bin(EXPR_ADD, sum, var(i));
    for (int i = 0; i < WIDE; i++) {
        expr e = bin(EXPR_ADD, sum, num(i + 0.5));
        assert_true(derive_gradient(g, e, &d));
        assert_int_equal(d.count, WIDE);
        if (graph_recall(g, MEMO_GRADIENT, e, &count)) kept += count;
    }
    assert_true(kept > 0);
    assert_true(kept <= 2 * graph_size(g) + 4096);
    gradient_free(&d);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(random_derivatives),
        TEST(sparsity_is_that_of_the_structure),
        TEST(short_results),
        TEST(derivatives_at_awkward_points),
        TEST(branches_not_taken_do_not_matter),
        TEST(chains_of_branches_stay_chains),
        TEST(nested_branches_share_conditions),
        TEST(both_ways_agree_at_kinks),
        TEST(directional_derivative),
        TEST(time_derivatives_of_known_functions),
        TEST(time_derivative_of_leaves),
        TEST(repeated_derivatives_share),
        TEST(deep_and_wide_expressions),
        TEST(many_small_gradients),
        TEST(limits_fail_cleanly),
        TEST(gradients_are_found_once),
        TEST(what_is_kept_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
