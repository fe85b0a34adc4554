/* Jumps of the equations that are no events: if, sign and floor inside of noEvent and of functions.
 *
 * Where one happens depends on the parameters, and S jumps with it, but its linear equations are
 * smooth on both sides and show nothing. So the conditions are watched: where one has changed
 * within a step its time is found, and the branches are compared there. A kink, where they agree,
 * is none of our business. */
#include "solve/sensitivity/rough.h"

#include <math.h>

#include "base/memory.h"
#include "expr/walk.h"

/* One place: outputs 3 i, 3 i + 1 and 3 i + 2 of the program are condition, and both branches. Of
 * sign, floor and ceil the value is the condition, and there are no branches to agree. */
struct rough_watch {
    const model_form *form;
    int count;
    bool *step; /* per place: the value itself jumps: sign, floor, ceil, a condition as a number */
    bool loops; /* a loop may end sooner or later with the parameters */
    expr_code code;
    double *before, *now; /* outputs at the last time that was looked at, and at hand */
    double t;             /* of before; NAN: none */
};

void rough_watch_free(rough_watch *w)
{
    if (!w) return;
    code_free(&w->code);
    dae_free_all(w->step, w->before, w);
}

typedef struct reading {
    const tangent_inputs *in;
    bool variables, time, inputs;
} reading;

static void note_leaf(void *context, const expr_node *leaf)
{
    reading *r = context;
    r->variables |= leaf->op == EXPR_VARIABLE;
    r->time |= leaf->op == EXPR_TIME;
    if (leaf->op == EXPR_PARAMETER) r->inputs |= r->in->parameter[leaf->index] >= 0;
    if (leaf->op == EXPR_MEMORY) r->inputs |= r->in->memory[leaf->index] >= 0;
}

/* Whether the time at which a condition changes may move: not that of time against what rests. */
static bool moves(const graph *g, expr e, const tangent_inputs *in, bool *failed)
{
    reading r = {.in = in};
    if (!graph_leaves(g, &e, 1, note_leaf, &r)) *failed = true;
    return r.variables || (r.time && r.inputs);
}

/* Whether operand k of a node is a condition that counts as a number: 0 or 1. */
static bool is_number_of_truth(const graph *g, const expr_node *n, int k)
{
    if (k >= n->arity || expr_is_truth(n->op) || (n->op == EXPR_SELECT && k == 0)) return false;
    return expr_is_truth(graph_node(g, expr_operand(n, k))->op);
}

/* Add a place whose value itself jumps. */
static void add_step(expr *e, bool *step, int *count, expr value)
{
    step[*count] = true;
    for (int k = 0; k < 3; k++) e[3 * *count + k] = value;
    (*count)++;
}

/* The places in expressions of a form, as outputs; *count of them. NULL: memory. */
static expr *find_places(const model_form *f, const tangent_inputs *in, const walk *nodes,
                         bool **step, int *count, bool *loops)
{
    graph *g = f->flat->graph;
    expr *e = DAE_ARRAY(expr, 12 * nodes->count);
    bool failed = false;
    *step = DAE_ARRAY(bool, 4 * nodes->count);
    *count = 0;
    for (size_t i = 0; e && *step && i < nodes->count && !failed; i++) {
        const expr node = nodes->order[i];
        const expr_node *n = graph_node(g, node);
        if (n->op == EXPR_SIGN || n->op == EXPR_FLOOR || n->op == EXPR_CEIL)
            if (moves(g, n->a, in, &failed)) add_step(e, *step, count, node);
        for (int k = 0; k < 3; k++)
            if (is_number_of_truth(g, n, k) && moves(g, expr_operand(n, k), in, &failed))
                add_step(e, *step, count, expr_operand(n, k));
        if (n->op == EXPR_LOOP && moves(g, n->a, in, &failed)) *loops = true;
        if (n->op != EXPR_SELECT || !moves(g, n->a, in, &failed)) continue;
        e[3 * *count] = n->a;
        e[3 * *count + 1] = n->b;
        e[3 * (*count)++ + 2] = n->c;
    }
    if (e && *step && !failed) return e;
    dae_free_all(e, *step);
    *step = NULL;
    return NULL;
}

rough_watch *rough_watch_new(const model_form *f, const expr *watched, size_t count,
                             const tangent_inputs *in)
{
    rough_watch *w = DAE_NEW(rough_watch);
    graph *g = f->flat->graph;
    walk nodes = {0};
    expr *e = NULL;
    if (!w) return NULL;
    w->form = f;
    w->t = NAN;
    graph_enter(g);
    bool ok = walk_from(&nodes, g, watched, count);
    if (ok) e = find_places(f, in, &nodes, &w->step, &w->count, &w->loops);
    ok = e && (w->count == 0 || code_new(&w->code, g, e, 3 * (size_t)w->count));
    walk_free(&nodes);
    graph_leave(g);
    dae_free(e);
    if (ok) w->before = DAE_ARRAY(double, 6 * (size_t)w->count);
    if (w->before) {
        w->now = w->before + 3 * w->count;
        return w;
    }
    rough_watch_free(w);
    return NULL;
}

bool rough_watch_loops(const rough_watch *w)
{
    return w->loops;
}

const model_form *rough_watch_form(const rough_watch *w)
{
    return w->form;
}

static void take(rough_watch *w, const rough_point *p, double t, double *out)
{
    tape_inputs at = p->at(p->user, t);
    code_prepare(&w->code, &at);
    code_run(&w->code, &at, out);
}

static bool differs(const rough_watch *w, int i, const double *a, const double *b)
{
    return w->step[i] ? a[3 * i] != b[3 * i] : (a[3 * i] != 0.0) != (b[3 * i] != 0.0);
}

/* Whether what place i has changed from w->before to w->now is a jump, and when, by bisection. */
static bool is_jump(rough_watch *w, const rough_point *p, int i, double to, double *when)
{
    static const double AGREE = 1e-6;
    double from = w->t, *mid = p->work;
    if (w->step[i]) {
        *when = to;
        return true;
    }
    for (int k = 0; k < 60 && fabs(to - from) > 1e-13 * fmax(fabs(to), fabs(from)); k++) {
        double t = from + 0.5 * (to - from);
        take(w, p, t, mid);
        if (differs(w, i, w->before, mid))
            to = t;
        else
            from = t;
    }
    take(w, p, to, mid);
    const double a = mid[3 * i + 1], b = mid[3 * i + 2];
    *when = to;
    return fabs(a - b) > AGREE * fmax(fabs(a), fabs(b)) + 1e-12;
}

void rough_watch_begin(rough_watch *w)
{
    w->t = NAN;
}

size_t rough_watch_work(const rough_watch *w)
{
    return 3 * (size_t)w->count;
}

bool rough_watch_step(rough_watch *w, const rough_point *p, double from, double to, double *when)
{
    static const double SAME = 1e-12; /* runs go over seams by a rounding of time */
    if (w->count == 0) return false;
    if (!(fabs(w->t - from) <= SAME * fmax(fabs(from), fabs(to - from)))) {
        take(w, p, from, w->before);
        w->t = from;
    }
    take(w, p, to, w->now);
    for (int i = 0; i < w->count; i++)
        if (differs(w, i, w->before, w->now) && is_jump(w, p, i, to, when)) return true;
    for (int i = 0; i < 3 * w->count; i++) w->before[i] = w->now[i];
    w->t = to;
    return false;
}
