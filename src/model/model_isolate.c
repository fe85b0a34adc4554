/* residual = 0, solved for a variable by sums and factors that are numbers. */
#include "base/memory.h"
#include "expr/walk.h"
#include "model/model_build.h"

/* An unknown is looked for under so many operations at most: long sums stay equations. */
enum { DEEPEST = 64 };

typedef struct isolation {
    const model_form *f;
    int root;
    walk nodes;
    bool *has; /* per node of the walk: contains the variable */
} isolation;

static bool has_variable(const isolation *s, expr e)
{
    return e != EXPR_NONE && s->has[walk_place(&s->nodes, e)];
}

static bool mark_nodes(isolation *s, expr residual)
{
    const graph *g = s->f->flat->graph;
    if (!walk_from(&s->nodes, g, &residual, 1)) return false;
    s->has = DAE_ARRAY(bool, s->nodes.count);
    for (size_t k = 0; s->has && k < s->nodes.count; k++) {
        const expr_node *node = graph_node(g, s->nodes.order[k]);
        int order, arity = graph_arity((expr_op)node->op);
        const expr operand[3] = {node->a, node->b, node->c};
        s->has[k] = build_root_of_leaf(s->f, node, &order) == s->root;
        for (int i = 0; i < arity; i++) s->has[k] |= has_variable(s, operand[i]);
    }
    return s->has;
}

/* a o b where EXPR_NONE is zero */
static expr combine(graph *g, expr_op op, expr a, expr b)
{
    if (b == EXPR_NONE) return a;
    if (a != EXPR_NONE) return graph_binary(g, op, a, b);
    return op == EXPR_SUB ? graph_unary(g, EXPR_NEG, b) : b;
}

static bool is_divisor(const graph *g, expr e)
{
    double value;
    return graph_is_constant(g, e, &value) && value != 0.0;
}

/* One operation of e = r moved to the other side: *e is what contains the variable then. */
static bool peel(isolation *s, expr *e, expr *r)
{
    graph *g = s->f->flat->graph;
    const expr_node node = *graph_node(g, *e);
    bool left = has_variable(s, node.a),
         right = graph_arity((expr_op)node.op) > 1 && has_variable(s, node.b);
    if (left && right) return false;
    expr other = left ? node.b : node.a;
    switch ((expr_op)node.op) {
    case EXPR_NEG: *r = *r == EXPR_NONE ? *r : graph_unary(g, EXPR_NEG, *r); break;
    case EXPR_ADD: *r = combine(g, EXPR_SUB, *r, other); break;
    case EXPR_SUB:
        *r = left ? combine(g, EXPR_ADD, *r, other) : combine(g, EXPR_SUB, other, *r);
        break;
    case EXPR_MUL:
        if (!is_divisor(g, other)) return false;
        *r = *r == EXPR_NONE ? *r : graph_binary(g, EXPR_DIV, *r, other);
        break;
    case EXPR_DIV:
        if (!left || !is_divisor(g, other)) return false;
        *r = *r == EXPR_NONE ? *r : graph_binary(g, EXPR_MUL, *r, other);
        break;
    default: return false;
    }
    *e = left ? node.a : node.b;
    return true;
}

/* The variable from e = r (EXPR_NONE: 0), as it may occur once on each way; EXPR_NONE: it cannot be
 * had without a division by what may be zero. */
static expr isolate(isolation *s, expr e, expr r, int depth)
{
    graph *g = s->f->flat->graph;
    for (; depth > 0; depth--) {
        const expr_node node = *graph_node(g, e);
        if (node.op == EXPR_VARIABLE) {
            int sign;
            (void)model_alias_root(s->f, node.index, &sign);
            if (r == EXPR_NONE) r = graph_constant(g, 0.0);
            return sign > 0 ? r : graph_unary(g, EXPR_NEG, r);
        }
        if (node.op == EXPR_SELECT) {
            bool each =
                !has_variable(s, node.a) && has_variable(s, node.b) && has_variable(s, node.c);
            expr a = each ? isolate(s, node.b, r, depth - 1) : EXPR_NONE;
            expr b = a ? isolate(s, node.c, r, depth - 1) : EXPR_NONE;
            return b ? graph_select(g, node.a, a, b) : EXPR_NONE;
        }
        if (!peel(s, &e, &r)) return EXPR_NONE;
    }
    return EXPR_NONE;
}

bool build_isolate(const model_form *f, int root, expr residual, expr *value)
{
    isolation s = {.f = f, .root = root};
    bool ok = mark_nodes(&s, residual);
    *value = ok ? isolate(&s, residual, EXPR_NONE, DEEPEST) : EXPR_NONE;
    walk_free(&s.nodes);
    dae_free(s.has);
    return ok;
}
