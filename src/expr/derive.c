/* Forward differentiation: tangents of all nodes, operands first. */
#include "expr/derive.h"

#include "base/memory.h"
#include "expr/loop.h"
#include "expr/partial.h"
#include "expr/walk.h"

/* Tangents by place in the walk; EXPR_NONE is zero. */
typedef struct forward {
    graph *g;
    walk nodes;
    expr *tangent;
    bool *failed; /* memory ran out */
} forward;

static expr tangent_of(const forward *f, expr operand)
{
    return f->tangent[walk_place(&f->nodes, operand)];
}

static expr or_zero(graph *g, expr e)
{
    return e == EXPR_NONE ? graph_constant(g, 0.0) : e;
}

static expr sum(graph *g, expr a, expr b)
{
    if (a == EXPR_NONE) return b;
    return b == EXPR_NONE ? a : graph_binary(g, EXPR_ADD, a, b);
}

/* d(a/b) = (da - (a/b) db)/b */
static expr tangent_of_quotient(graph *g, expr e, expr b, expr da, expr db)
{
    expr numerator = graph_binary(g, EXPR_SUB, da, graph_binary(g, EXPR_MUL, e, db));
    return graph_binary(g, EXPR_DIV, numerator, b);
}

/* Of the branch taken; branches come one by one, so that the other's derivative never matters. */
static expr tangent_of_branches(const forward *f, expr condition, expr a, expr b)
{
    expr da = tangent_of(f, a), db = tangent_of(f, b);
    if (da == EXPR_NONE && db == EXPR_NONE) return EXPR_NONE;
    return graph_select(f->g, condition, or_zero(f->g, da), or_zero(f->g, db));
}

/* Of a loop's result, by the tangents of what the loop starts with. */
static expr tangent_of_result(const forward *f, expr e)
{
    expr loop = graph_node(f->g, e)->a, result = EXPR_NONE;
    size_t count = loop_cells(f->g, loop), varying = 0;
    expr *start = DAE_ARRAY(expr, count);
    for (size_t k = 0; start && k < count; k++) {
        if (k == 0) loop_starts(f->g, loop, start);
        start[k] = tangent_of(f, start[k]);
        varying += start[k] != EXPR_NONE;
    }
    if (varying > 0) result = loop_tangent(f->g, e, start);
    if (!start || (varying > 0 && result == EXPR_NONE)) *f->failed = true;
    dae_free(start);
    return result;
}

/* de = sum over operands of (d e / d operand) d operand */
static expr tangent_of_operation(const forward *f, expr e)
{
    graph *g = f->g;
    const expr_node *n = graph_node(g, e);
    expr condition, a, b, result = EXPR_NONE;
    if (n->op == EXPR_RESULT) return tangent_of_result(f, e);
    if (n->op == EXPR_LIST || n->op == EXPR_LOOP) return EXPR_NONE;
    if (partial_branches(g, e, &condition, &a, &b)) return tangent_of_branches(f, condition, a, b);
    expr operand[2] = {n->a, n->b}, d[2] = {EXPR_NONE, EXPR_NONE};
    for (int i = 0; i < 2; i++)
        if (partial_exists(n->op, i)) d[i] = tangent_of(f, operand[i]);
    if (n->op == EXPR_DIV && d[0] != EXPR_NONE && d[1] != EXPR_NONE)
        return tangent_of_quotient(g, e, n->b, d[0], d[1]);
    for (int i = 0; i < 2; i++)
        if (d[i] != EXPR_NONE) result = sum(g, result, partial_times(g, e, i, d[i]));
    return result;
}

/* Tangents of all nodes; the last one is that of the root. */
static expr run_forward(forward *f, derive_seed seed, void *context)
{
    graph *g = f->g;
    for (size_t i = 0; i < f->nodes.count && !graph_failed(g); i++) {
        expr e = f->nodes.order[i];
        const expr_node *n = graph_node(g, e);
        expr tangent = EXPR_NONE;
        if (n->arity > 0) {
            tangent = tangent_of_operation(f, e);
        } else if (n->op != EXPR_CONSTANT) {
            tangent = seed(context, g, e);
        }
        f->tangent[i] = graph_is_number(g, tangent, 0.0) ? EXPR_NONE : tangent;
    }
    return or_zero(g, f->tangent[f->nodes.count - 1]);
}

expr derive_direction(graph *g, expr e, derive_seed seed, void *context)
{
    bool failed = false;
    forward f = {.g = g, .failed = &failed};
    expr result = EXPR_NONE;
    if (e == EXPR_NONE || graph_failed(g)) return EXPR_NONE;
    if (walk_from(&f.nodes, g, &e, 1)) f.tangent = DAE_ARRAY(expr, f.nodes.count);
    if (f.tangent) result = run_forward(&f, seed, context);
    dae_free(f.tangent);
    walk_free(&f.nodes);
    return failed ? EXPR_NONE : result;
}

static expr seed_one_leaf(void *context, graph *g, expr leaf)
{
    return leaf == *(const expr *)context ? graph_constant(g, 1.0) : EXPR_NONE;
}

expr derive_partial(graph *g, expr e, expr leaf)
{
    return derive_direction(g, e, seed_one_leaf, &leaf);
}

/* d leaf / dt; the context is a flag for orders beyond what a node can hold. */
static expr seed_time(void *context, graph *g, expr leaf)
{
    const expr_node *n = graph_node(g, leaf);
    if (n->op == EXPR_TIME) return graph_constant(g, 1.0);
    if (n->op != EXPR_VARIABLE) return EXPR_NONE;
    expr derivative = graph_variable(g, n->index, n->order + 1);
    if (derivative == EXPR_NONE) *(bool *)context = true;
    return derivative;
}

expr derive_time(graph *g, expr e)
{
    bool failed = false;
    expr result = derive_direction(g, e, seed_time, &failed);
    return failed ? EXPR_NONE : result;
}
