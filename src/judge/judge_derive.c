/* der(e) of an expression: by the rules of differentiation, over der of its variables. */
#include <string.h>

#include "judge/judge_parts.h"

enum { MOST_FACTORS = 64 };

static node *two(judge *j, node *a, ast_op op, node *b)
{
    node *n = judge_node(j, NODE_CHAIN, a->line);
    n->kids = JUDGE_TAKE(j, node *, 2);
    n->ops = JUDGE_TAKE(j, ast_op, 1);
    n->kids[0] = a, n->kids[1] = b;
    n->ops[0] = op;
    n->kid_count = 2;
    return n;
}

static node *of_function(judge *j, const char *name, node *argument)
{
    const builtin *b = judge_builtin_find(name);
    node *n = judge_node(j, NODE_BUILTIN, argument->line);
    n->builtin = b->call;
    n->name = b->name;
    n->kids = JUDGE_TAKE(j, node *, 1);
    n->kids[0] = argument;
    n->kid_count = 1;
    return n;
}

static node *negative(judge *j, node *a)
{
    node *n = judge_node(j, NODE_UNARY, a->line);
    n->op = OP_MINUS;
    n->kids = JUDGE_TAKE(j, node *, 1);
    n->kids[0] = a;
    n->kid_count = 1;
    return n;
}

/* The chain without its last operand. */
static node *before_last(judge *j, const node *n)
{
    if (n->kid_count == 2) return n->kids[0];
    node *copy = judge_node(j, NODE_CHAIN, n->line);
    *copy = *n;
    copy->kid_count--;
    return copy;
}

static node *derived_power(judge *j, node *a, node *da, node *b)
{
    node *less = two(j, b, OP_SUB, judge_number_node(j, 1.0, b->line));
    return two(j, two(j, b, OP_MUL, two(j, a, OP_POW, less)), OP_MUL, da);
}

static node *derived_kids(judge *j, const node *n);

/* a + b - c ..: term by term, as long as it is. */
static bool is_sum(const node *n)
{
    for (int k = 0; k + 1 < n->kid_count; k++)
        if (n->ops[k] != OP_ADD && n->ops[k] != OP_SUB) return false;
    return true;
}

static node *derived_chain(judge *j, const node *n)
{
    if (is_sum(n)) return derived_kids(j, n);
    if (n->kid_count > MOST_FACTORS) return NULL;
    ast_op op = n->ops[n->kid_count - 2];
    node *a = before_last(j, n), *b = n->kids[n->kid_count - 1];
    node *da = judge_derive(j, a), *db = judge_derive(j, b);
    if (!da || !db) return NULL;
    switch (op) {
    case OP_ADD:
    case OP_SUB: return two(j, da, op, db);
    case OP_MUL: return two(j, two(j, da, OP_MUL, b), OP_ADD, two(j, a, OP_MUL, db));
    case OP_DIV: /* (a' - (a/b) b')/b */
        return two(j, two(j, da, OP_SUB, two(j, two(j, a, OP_DIV, b), OP_MUL, db)), OP_DIV, b);
    case OP_POW: return b->kind == NODE_CONSTANT ? derived_power(j, a, da, b) : NULL;
    default: return NULL;
    }
}

/* f'(u) of an elementary function; NULL: not one of these */
static node *outer_derivative(judge *j, const char *name, node *u)
{
    node *one = judge_number_node(j, 1.0, u->line), *square = two(j, u, OP_MUL, u);
    if (strcmp(name, "sin") == 0) return of_function(j, "cos", u);
    if (strcmp(name, "cos") == 0) return negative(j, of_function(j, "sin", u));
    if (strcmp(name, "exp") == 0) return of_function(j, "exp", u);
    if (strcmp(name, "log") == 0) return two(j, one, OP_DIV, u);
    if (strcmp(name, "atan") == 0) return two(j, one, OP_DIV, two(j, one, OP_ADD, square));
    if (strcmp(name, "sinh") == 0) return of_function(j, "cosh", u);
    if (strcmp(name, "cosh") == 0) return of_function(j, "sinh", u);
    node *f = NULL;
    if (strcmp(name, "sqrt") == 0)
        f = two(j, two(j, one, OP_ADD, one), OP_MUL, of_function(j, "sqrt", u));
    if (strcmp(name, "tan") == 0)
        f = two(j, of_function(j, "cos", u), OP_MUL, of_function(j, "cos", u));
    if (strcmp(name, "tanh") == 0)
        f = two(j, of_function(j, "cosh", u), OP_MUL, of_function(j, "cosh", u));
    return f ? two(j, one, OP_DIV, f) : NULL;
}

static node *derived_builtin(judge *j, const node *n)
{
    if (strcmp(n->name, "der") == 0) return of_function(j, "der", (node *)(size_t)n);
    if (n->kid_count != 1) return NULL;
    if (strcmp(n->name, "noEvent") == 0) {
        node *inner = judge_derive(j, n->kids[0]);
        return inner ? of_function(j, "noEvent", inner) : NULL;
    }
    node *outer = outer_derivative(j, n->name, n->kids[0]);
    node *inner = outer ? judge_derive(j, n->kids[0]) : NULL;
    return inner ? two(j, outer, OP_MUL, inner) : NULL;
}

/* Branches and elements one by one; conditions stay. */
static node *derived_kids(judge *j, const node *n)
{
    node *copy = judge_node(j, n->kind, n->line);
    *copy = *n;
    copy->kids = JUDGE_TAKE(j, node *, n->kid_count);
    for (int k = 0; k < n->kid_count; k++) {
        bool condition = n->kind == NODE_IF && k % 2 == 0 && k + 1 < n->kid_count;
        copy->kids[k] = condition ? n->kids[k] : judge_derive(j, n->kids[k]);
        if (!copy->kids[k]) return NULL;
    }
    return copy;
}

/* The derivative of a node with respect to time; NULL: the judge does not know it. */
node *judge_derive(judge *j, node *n)
{
    switch (n->kind) {
    case NODE_CONSTANT: return judge_number_node(j, 0.0, n->line);
    case NODE_TIME: return judge_number_node(j, 1.0, n->line);
    case NODE_COMPONENT: return of_function(j, "der", n);
    case NODE_CHAIN: return derived_chain(j, n);
    case NODE_BUILTIN: return derived_builtin(j, n);
    case NODE_UNARY:
    case NODE_ARRAY:
    case NODE_IF: return derived_kids(j, n);
    default: return NULL;
    }
}
