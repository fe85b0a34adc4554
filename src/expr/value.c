/* Values of expressions at a point, with leaves that may be unknown; loops are run on the tape. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "expr/loop_parts.h"
#include "expr/tape.h"
#include "expr/walk.h"

bool loop_run(const graph *g, int body, double *cell)
{
    const graph_loop *l = graph_loop_at(g, body);
    expr *roots = loop_roots(l->condition, l->next, l->cells);
    tape *t = roots ? tape_new(g, roots, l->cells + 1) : NULL;
    double *work = t ? DAE_ARRAY(double, tape_work_size(t)) : NULL;
    double *out = DAE_ARRAY(double, l->cells + 1);
    bool ok = work && out;
    tape_inputs in = {.values = {cell}};
    if (ok) tape_prepare(t, &in, work);
    while (ok) {
        tape_run(t, &in, work, out);
        if (out[0] == 0.0) break;
        memcpy(cell, out + 1, l->cells * sizeof *cell);
    }
    dae_free_all(roots, work, out);
    tape_free(t);
    return ok;
}

/* A value, or that a leaf it needs is unknown. */
typedef struct known {
    double value;
    bool unknown;
} known;

static known apply_known(expr_op op, known a, known b, known c)
{
    known r = {graph_apply(op, a.value, b.value, c.value), a.unknown || b.unknown || c.unknown};
    if (op == EXPR_SELECT && !a.unknown) return a.value != 0.0 ? b : c;
    if (op != EXPR_AND && op != EXPR_OR) return r;
    bool decides = op == EXPR_OR; /* the operand that settles it alone */
    if (!a.unknown && (a.value != 0.0) == decides) return (known){decides, false};
    if (!b.unknown && (b.value != 0.0) == decides) return (known){decides, false};
    return r;
}

/* The value of an operand; 0 for one that is not needed. */
static known known_at(const walk *w, const known *values, expr operand)
{
    bool there = operand != EXPR_NONE && walk_reached(w, operand);
    return there ? values[walk_place(w, operand)] : (known){0};
}

/* The value of a RESULT: run its loop on values that are all known. */
static known loop_known(const graph *g, const walk *w, const known *values, const expr_node *n)
{
    const expr_node *loop = graph_node(g, n->a);
    size_t cells = graph_loop_at(g, loop->index)->cells, k = 0;
    double *cell = DAE_ARRAY(double, cells);
    bool unknown = !cell;
    for (expr at = loop->a; !unknown && k < cells; k++) {
        const expr_node *list = graph_node(g, at);
        known first = known_at(w, values, list->a);
        cell[k] = first.value;
        unknown = first.unknown;
        at = list->b;
    }
    unknown = unknown || !loop_run(g, loop->index, cell);
    known result = {unknown ? NAN : cell[n->index], unknown};
    dae_free(cell);
    return result;
}

/* The value of node n from those of its operands */
static known node_known(const graph *g, const walk *w, const known *values, const expr_node *n,
                        graph_leaf_value leaf, void *context)
{
    if (n->op == EXPR_CONSTANT) return (known){n->value, false};
    if (n->arity == 0) {
        double value = leaf ? leaf(context, n) : NAN;
        return (known){value, isnan(value)};
    }
    if (n->op == EXPR_RESULT) return loop_known(g, w, values, n);
    if (n->op == EXPR_SIGNAL) {
        known time = known_at(w, values, n->a), jump = known_at(w, values, n->b);
        if (time.unknown || jump.unknown) return (known){NAN, true};
        double value =
            graph_signal_value(graph_signal_at(g, n->index), n->order, time.value, jump.value);
        return (known){value, isnan(value)};
    }
    return apply_known(n->op, known_at(w, values, n->a), known_at(w, values, n->b),
                       known_at(w, values, expr_operand(n, 2)));
}

/* Values while they are found, by the places of the walk. */
typedef struct evaluation {
    const graph *g;
    walk w;
    known *values;
    size_t room;
    graph_leaf_value leaf;
    void *context;
} evaluation;

/* Whether the value of *n needs its operand k, by the values of those before it: the side that a
 * condition does not choose is not evaluated, however large. */
static bool needs_operand(const evaluation *v, const expr_node *n, int k)
{
    if (k == 0 || (n->op != EXPR_SELECT && n->op != EXPR_AND && n->op != EXPR_OR)) return true;
    known first = known_at(&v->w, v->values, n->a);
    if (n->op == EXPR_SELECT) return !first.unknown && k == (first.value != 0.0 ? 1 : 2);
    return first.unknown || (first.value != 0.0) != (n->op == EXPR_OR);
}

static bool place_value(evaluation *v, expr e)
{
    size_t at = v->w.count;
    if (!dae_grow(&v->values, &v->room, at + 1, sizeof *v->values)) return false;
    known value = node_known(v->g, &v->w, v->values, graph_node(v->g, e), v->leaf, v->context);
    v->values[at] = value;
    walk_append(&v->w, e);
    return true;
}

/* The first operand of *n from number k on that is needed and has no value yet, else EXPR_NONE. */
static expr next_needed(const evaluation *v, const expr_node *n, int k)
{
    for (; k < n->arity; k++) {
        expr operand = expr_operand(n, k);
        if (!walk_reached(&v->w, operand) && needs_operand(v, n, k)) return operand;
    }
    return EXPR_NONE;
}

/* Depth first: a node gets its value when the operands that it needs have theirs. */
static bool evaluate_from(evaluation *v, expr root)
{
    size_t depth = 0;
    if (root == EXPR_NONE || walk_reached(&v->w, root)) return true;
    for (expr e = root, done = EXPR_NONE; walk_fits(&v->w, depth);) {
        const expr_node *n = graph_node(v->g, e);
        int k = done == EXPR_NONE ? 0 : done == n->a ? 1 : done == n->b ? 2 : 3;
        expr next = next_needed(v, n, k);
        done = EXPR_NONE;
        if (next != EXPR_NONE) {
            *walk_stacked(&v->w, depth++) = e;
            e = next;
        } else {
            if (!place_value(v, e)) return false;
            if (depth == 0) return true;
            done = e;
            e = *walk_stacked(&v->w, --depth);
        }
    }
    return false;
}

bool graph_values(const graph *g, const expr *e, size_t count, graph_leaf_value leaf, void *context,
                  double *out)
{
    evaluation v = {.g = g, .leaf = leaf, .context = context};
    bool ok = walk_open(&v.w, g);
    for (size_t k = 0; ok && k < count; k++) ok = evaluate_from(&v, e[k]);
    for (size_t k = 0; ok && k < count; k++) {
        known result = e[k] != EXPR_NONE ? v.values[walk_place(&v.w, e[k])] : (known){NAN, true};
        out[k] = result.unknown ? NAN : result.value;
    }
    dae_free(v.values);
    walk_free(&v.w);
    return ok;
}

double graph_value(const graph *g, expr e, graph_leaf_value leaf, void *context)
{
    const expr_node *top = e != EXPR_NONE ? graph_node(g, e) : NULL;
    double value = NAN;
    if (top && top->op == EXPR_CONSTANT) return top->value;
    if (top && top->arity == 0) return leaf ? leaf(context, top) : NAN;
    return top && graph_values(g, &e, 1, leaf, context, &value) ? value : NAN;
}

bool graph_has_memory(const graph *g)
{
    known *probe = DAE_ARRAY(known, graph_size(g));
    dae_free(probe);
    return probe != NULL;
}
