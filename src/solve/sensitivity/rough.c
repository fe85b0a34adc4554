/* Jumps of the equations that are no events: if, sign and floor inside of noEvent and of functions.
 *
 * Where one happens depends on the parameters, and S jumps with it, but its linear equations are
 * smooth on both sides and show nothing. So the conditions are watched: where one has changed
 * within a step its time is found, and the branches are compared there. A kink, where they agree,
 * is none of our business. */
#include "solve/sensitivity/rough.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "expr/walk.h"

/* One place: outputs 3 i, 3 i + 1 and 3 i + 2 of the program are what changes, and values. */
typedef enum place_kind {
    STEP,    /* the value itself jumps: floor, ceil, a condition as a number */
    CHOICE,  /* if: a condition, and both branches */
    PRODUCT, /* sign(a)*b: the sign, and the product, twice: a kink where b is 0 */
} place_kind;

struct rough_watch {
    const model_form *form;
    int count;
    place_kind *kind; /* per place */
    bool loops;       /* a loop may end sooner or later with the parameters */
    expr_code code;
    double *before, *now; /* outputs at the last time that was looked at, and at hand */
    double *seen; /* per place: the most that branches differed by, or a product had, so far */
    double t;     /* of before; NAN: none */
};

void rough_watch_free(rough_watch *w)
{
    if (!w) return;
    code_free(&w->code);
    dae_free_all(w->kind, w->before, w);
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

/* Places while they are sought. */
typedef struct places {
    expr *outputs; /* three each */
    place_kind *kind;
    int count;
    bool loops, failed;
    expr *sign; /* per node of the walk: the sign that it is, or a product with; EXPR_NONE */
} places;

static void add_place(places *p, place_kind kind, expr changes, expr a, expr b)
{
    const expr outputs[] = {changes, a, b};
    memcpy(p->outputs + 3 * p->count, outputs, sizeof outputs);
    p->kind[p->count++] = kind;
}

/* p->sign of a node; a product of two signs has none, and both are steps. */
static void note_sign(places *p, const graph *g, const walk *nodes, expr node,
                      const tangent_inputs *in)
{
    const expr_node *n = graph_node(g, node);
    expr *to = &p->sign[walk_place(nodes, node)];
    *to = n->op == EXPR_SIGN && moves(g, n->a, in, &p->failed) ? node : EXPR_NONE;
    if (n->op != EXPR_MUL && n->op != EXPR_DIV && n->op != EXPR_NEG) return;
    const expr a = p->sign[walk_place(nodes, n->a)];
    const expr b = n->op == EXPR_MUL ? p->sign[walk_place(nodes, n->b)] : EXPR_NONE;
    *to = a == EXPR_NONE ? b : a;
    if (a == EXPR_NONE || b == EXPR_NONE) return;
    add_place(p, STEP, a, a, a);
    add_place(p, STEP, b, b, b);
    *to = EXPR_NONE;
}

/* The product with a sign that an operation other than those above has as operand k, if any. */
static void add_product(places *p, const walk *nodes, expr operand)
{
    const expr sign = p->sign[walk_place(nodes, operand)];
    if (sign != EXPR_NONE) add_place(p, PRODUCT, sign, operand, operand);
}

/* Places at a node: four at most. */
static void add_places(places *p, const graph *g, const walk *nodes, expr node,
                       const tangent_inputs *in)
{
    const expr_node *n = graph_node(g, node);
    const bool product = n->op == EXPR_MUL || n->op == EXPR_NEG;
    note_sign(p, g, nodes, node, in);
    if ((n->op == EXPR_FLOOR || n->op == EXPR_CEIL) && moves(g, n->a, in, &p->failed))
        add_place(p, STEP, node, node, node);
    for (int k = 0; k < n->arity && k < 3; k++) {
        const expr operand = expr_operand(n, k);
        if (is_number_of_truth(g, n, k) && moves(g, operand, in, &p->failed))
            add_place(p, STEP, operand, operand, operand);
        if (!product && !(n->op == EXPR_DIV && k == 0)) add_product(p, nodes, operand);
    }
    if (n->op == EXPR_LOOP && moves(g, n->a, in, &p->failed)) p->loops = true;
    if (n->op == EXPR_SELECT && moves(g, n->a, in, &p->failed))
        add_place(p, CHOICE, n->a, n->b, n->c);
}

/* The places in expressions of a form; nodes: all that these reach. */
static void find_places(places *p, const model_form *f, const expr *watched, size_t count,
                        const walk *nodes, const tangent_inputs *in)
{
    const size_t most = 4 * nodes->count + count;
    p->outputs = DAE_ARRAY(expr, 3 * most);
    p->kind = DAE_ARRAY(place_kind, most);
    p->sign = DAE_ARRAY(expr, nodes->count);
    p->failed = !p->outputs || !p->kind || !p->sign;
    for (size_t i = 0; i < nodes->count && !p->failed; i++)
        add_places(p, f->flat->graph, nodes, nodes->order[i], in);
    for (size_t i = 0; i < count && !p->failed; i++)
        if (watched[i] != EXPR_NONE) add_product(p, nodes, watched[i]);
    dae_free(p->sign);
}

rough_watch *rough_watch_new(const model_form *f, const expr *watched, size_t count,
                             const tangent_inputs *in)
{
    rough_watch *w = DAE_NEW(rough_watch);
    graph *g = f->flat->graph;
    walk nodes = {0};
    places p = {0};
    if (!w) return NULL;
    w->form = f;
    w->t = NAN;
    graph_enter(g);
    bool ok = walk_from(&nodes, g, watched, count);
    if (ok) find_places(&p, f, watched, count, &nodes, in);
    ok = ok && !p.failed && (p.count == 0 || code_new(&w->code, g, p.outputs, 3 * (size_t)p.count));
    walk_free(&nodes);
    graph_leave(g);
    dae_free(p.outputs);
    w->kind = p.kind;
    w->count = p.count;
    w->loops = p.loops;
    if (ok) w->before = DAE_ARRAY(double, 7 * (size_t)w->count);
    if (w->before) {
        w->now = w->before + 3 * w->count;
        w->seen = w->now + 3 * w->count;
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
    if (w->kind[i] != CHOICE) return a[3 * i] != b[3 * i];
    return (a[3 * i] != 0.0) != (b[3 * i] != 0.0);
}

/* What place i gives: of two branches, that which its condition takes. The other one may have no
 * value there, as sqrt(x) below 0. */
static double taken(const double *out, int i)
{
    return out[3 * i] != 0.0 ? out[3 * i + 1] : out[3 * i + 2];
}

/* Remember how large place i gets. */
static void note_size(rough_watch *w, int i, const double *out)
{
    const double a = out[3 * i + 1], b = w->kind[i] == CHOICE ? out[3 * i + 2] : 0.0;
    if (isfinite(a - b)) w->seen[i] = fmax(w->seen[i], fabs(a - b));
}

/* Whether what place i has changed from w->before to w->now is a jump, and when, by bisection down
 * to neighbouring numbers. At a kink what is taken goes on: both values agree in their digits, or
 * are nothing beside what the place had so far, where rounding is all that they are, or the error
 * of the run, by which its values jump from step to step. */
static bool is_jump(rough_watch *w, const rough_point *p, int i, double to, double *when)
{
    static const double AGREE = 1e-6, NOTHING = 1e-9, JOINT = 10.0;
    double from = w->t, *mid = p->work, old = taken(w->before, i), new = taken(w->now, i);
    *when = to;
    if (w->kind[i] == STEP) return true;
    for (double t = 0.5 * (from + to); t != from && t != to; t = 0.5 * (from + to)) {
        take(w, p, t, mid);
        const bool behind = differs(w, i, w->before, mid);
        *(behind ? &to : &from) = t;
        *(behind ? &new : &old) = taken(mid, i);
    }
    *when = to;
    const double size = fmax(fabs(old), fabs(new));
    return fabs(new - old) > fmax(AGREE * size, fmax(NOTHING, JOINT * p->rtol) * w->seen[i]);
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
    for (int i = 0; i < w->count; i++) note_size(w, i, w->before);
    for (int i = 0; i < w->count; i++) note_size(w, i, w->now);
    for (int i = 0; i < w->count; i++)
        if (differs(w, i, w->before, w->now) && is_jump(w, p, i, to, when)) return true;
    for (int i = 0; i < 3 * w->count; i++) w->before[i] = w->now[i];
    w->t = to;
    return false;
}
