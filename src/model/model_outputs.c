/* Outputs: variables that an equation v = expression gives and that nothing else needs (a root of a
 * state, an angle, a reported power), and those that nothing but outputs need. They leave the
 * system that is integrated and are evaluated after it, where values reach a user: an infinite
 * slope or a value that is not defined stops no start and throttles no step. */
#include "base/memory.h"
#include "expr/walk.h"
#include "model/model_build.h"

typedef struct output_scan {
    build *b;
    int *uses;      /* per root: equations that contain it; */
    int *which;     /* the exclusive or of their numbers, which is the number if there is one */
    bool *needed;   /* per root: never an output */
    int *seen;      /* per root: the last equation that was looked at with it in, plus one */
    bool *slopes;   /* per equation: contains a derivative */
    int *queue;     /* roots that one equation contains */
    int queued, at; /* at: the equation at hand, plus one */
    int step;       /* +1: equations are counted; -1: one leaves */
    walk events;    /* what events contain, once */
    bool failed;
} output_scan;

int build_root_of_leaf(const model_form *f, const expr_node *node, int *order)
{
    int sign;
    *order = node->order;
    return node->op == EXPR_VARIABLE ? model_alias_root(f, node->index, &sign) : -1;
}

static void note_needed(void *context, const expr_node *leaf)
{
    output_scan *s = context;
    int order, root = build_root_of_leaf(s->b->f, leaf, &order);
    if (root >= 0) s->needed[root] = true;
}

static void need(output_scan *s, expr e)
{
    const graph *g = s->b->f->flat->graph;
    if (!walk_new_leaves(&s->events, g, e, note_needed, s)) s->failed = true;
}

static void need_actions(output_scan *s, const flat_action *a, size_t count)
{
    for (size_t i = 0; i < count; i++) { /* texts of messages need nothing: they are reports, too */
        need(s, a[i].value);
        need(s, a[i].guard);
        int sign;
        if (a[i].kind == ACTION_REINIT)
            s->needed[model_alias_root(s->b->f, a[i].variable, &sign)] = true;
    }
}

/* What events, assertions and initial equations use decides something. */
static void need_events(output_scan *s)
{
    const flat_model *m = s->b->f->flat;
    for (size_t i = 0; i < m->initial_count; i++) need(s, m->initial_equations[i].residual);
    for (size_t i = 0; i < m->terminal_count; i++) need(s, m->terminal_equations[i].residual);
    for (size_t i = 0; i < m->relation_count; i++) need(s, m->relations[i].crossing);
    for (size_t i = 0; i < m->discrete_count; i++) need(s, m->discretes[i].value);
    need_actions(s, m->asserts, m->assert_count);
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t k = 0; k < m->whens[w].branch_count; k++) {
            need(s, m->whens[w].branches[k].condition);
            need_actions(s, m->whens[w].branches[k].actions, m->whens[w].branches[k].action_count);
        }
    walk_free(&s->events);
}

/* So does a variable with a fixed start value, and one that is asked for as a state or unknown. */
static void need_declared(output_scan *s)
{
    const model_form *f = s->b->f;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        bool decides =
            q->asked || q->discrete || q->input || q->fixed || q->state_select > SELECT_DEFAULT;
        int sign, root = model_alias_root(f, (int)v, &sign);
        if (decides || f->alias[root].value != EXPR_NONE) s->needed[root] = true;
    }
}

/* The equation at hand contains a derivative of that order of a root. */
static void count_root(output_scan *s, int root, int order)
{
    if (order > 0) s->needed[root] = s->slopes[s->at - 1] = true;
    if (s->seen[root] == s->at) return; /* in the same equation */
    s->seen[root] = s->at;
    s->uses[root] += s->step;
    s->which[root] ^= s->at - 1;
    if (s->step < 0 && s->uses[root] == 1 && !s->needed[root]) s->queue[s->queued++] = root;
}

/* An equation is counted. */
static void count_equation(output_scan *s, int at)
{
    const signature *c = &s->b->contents;
    s->at = at + 1;
    for (int sign, k = c->start[at]; k < c->start[at + 1]; k++)
        count_root(s, model_alias_root(s->b->f, c->column[k], &sign), c->order[k]);
}

static void count_use(void *context, const expr_node *leaf)
{
    output_scan *s = context;
    int order, root = build_root_of_leaf(s->b->f, leaf, &order);
    if (root >= 0) count_root(s, root, order);
}

/* An equation leaves; what it alone used is queued in the order of its leaves. */
static void leave_equation(output_scan *s, int at)
{
    const flat_model *m = s->b->f->flat;
    s->at = at + 1;
    if (!graph_leaves(m->graph, &m->equations[at].residual, 1, count_use, s)) s->failed = true;
}

static expr solve_for(output_scan *s, int root, int equation)
{
    expr found;
    if (!build_isolate(s->b->f, root, s->b->f->flat->equations[equation].residual, &found))
        s->failed = true;
    return found;
}

/* An output and its equation leave; what only this equation used may be the next one. */
static void take_out(output_scan *s, int root)
{
    model_form *f = s->b->f;
    int equation = s->which[root];
    if (s->uses[root] != 1 || s->b->gone[equation] || s->slopes[equation]) return;
    expr value = solve_for(s, root, equation);
    if (value == EXPR_NONE) return;
    f->alias[root].value = value;
    f->alias[root].equation = equation;
    f->alias[root].evaluated = true;
    f->evaluated[f->evaluated_count++] = root;
    s->b->gone[equation] = true;
    s->needed[root] = true;
    s->step = -1;
    leave_equation(s, equation);
}

/* In the order in which they are evaluated, last found first. */
static void reverse(int *list, int count)
{
    for (int i = 0, j = count - 1; i < j; i++, j--) {
        int keep = list[i];
        list[i] = list[j];
        list[j] = keep;
    }
}

static void find_outputs(output_scan *s)
{
    const model_form *f = s->b->f;
    need_declared(s);
    need_events(s);
    s->step = 1;
    for (size_t i = 0; i < f->flat->equation_count; i++)
        if (!s->b->gone[i]) count_equation(s, (int)i);
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        s->seen[v] = 0; /* removals are told apart from the counting */
        if (s->uses[v] == 1 && !s->needed[v]) s->queue[s->queued++] = (int)v;
    }
    for (int k = 0; k < s->queued && !s->failed; k++) take_out(s, s->queue[k]);
}

bool build_outputs(build *b)
{
    model_form *f = b->f;
    size_t nv = f->flat->variable_count, ne = f->flat->equation_count;
    f->evaluated = DAE_ARRAY(int, nv);
    output_scan s = {.b = b,
                     .uses = DAE_ARRAY(int, nv),
                     .which = DAE_ARRAY(int, nv),
                     .needed = DAE_ARRAY(bool, nv),
                     .seen = DAE_ARRAY(int, nv),
                     .slopes = DAE_ARRAY(bool, ne),
                     .queue = DAE_ARRAY(int, nv)};
    s.failed =
        !f->evaluated || !s.uses || !s.which || !s.needed || !s.seen || !s.slopes || !s.queue;
    if (!s.failed) find_outputs(&s);
    if (!s.failed) reverse(f->evaluated, f->evaluated_count);
    if (!s.failed) s.failed = !build_keep_differences(b);
    dae_free_all(s.uses, s.which, s.needed, s.seen, s.slopes, s.queue);
    return !s.failed && !graph_failed(f->flat->graph);
}

bool build_map_outputs(build *b)
{
    model_form *f = b->f;
    for (int k = 0; k < f->evaluated_count; k++) {
        model_alias *a = &f->alias[f->evaluated[k]];
        a->mapped = build_mapped(b, a->value);
        if (a->mapped == EXPR_NONE) return false;
    }
    return true;
}
