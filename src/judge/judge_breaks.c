/* Times between which expressions of time alone are nearly straight lines. Each such expression is
 * enclosed over an interval, with its first two derivatives, by interval arithmetic; an interval is
 * halved until the enclosure is narrow, or the second derivative is small. A pulse that no row of a
 * result has seen is found so, however narrow it is. */
#include <stdlib.h>
#include <string.h>

#include "judge/judge_interval.h"
#include "judge/judge_parts.h"

enum { MOST_TERMS = 1000 };

/* ---- trees of time ---- */

typedef enum time_kind {
    TIME_CONSTANT,
    TIME_NOW,
    TIME_OPERATOR,
    TIME_NOT,
    TIME_MINUS,
    TIME_IF,
    TIME_FUNCTION,
    TIME_MOD,
    TIME_EXTREME,
    TIME_DELAYED, /* v: where the past begins */
    TIME_SAMPLED
} time_kind;

typedef struct time_node time_node;
struct time_node {
    time_kind kind;
    ast_op op;
    double v;
    const char *name;
    time_node **kids;
    int count;
    bool moves;       /* time is in it */
    const node *from; /* SAMPLED: a function of the text */
};

typedef struct search {
    judge *j;
    double t0, t1, tolerance;
    size_t most, count;
    double *times;
    bool full;
    int depth;
    value slots[MODEL_SLOTS];
} search;

static time_node *new_node(judge *j, time_kind kind, int count)
{
    time_node *t = JUDGE_TAKE(j, time_node, 1);
    t->kind = kind;
    t->count = count;
    t->kids = JUDGE_TAKE(j, time_node *, count);
    return t;
}

/* A scalar that neither time nor the run changes. */
static time_node *constant(search *s, const node *n)
{
    machine *m = &s->j->machine;
    value v;
    m->touched = false;
    m->frame = (frame){s->slots, MODEL_SLOTS};
    if (!judge_try(m, n, &v) || m->touched) return NULL;
    if (v.type->base >= BASE_STRING || v.type->cells != 1 || v.shape.ndims) return NULL;
    time_node *t = new_node(s->j, TIME_CONSTANT, 0);
    t->v = v.cells->v;
    return t;
}

static time_node *build(search *s, const node *n);

static bool build_kids(search *s, time_node *t, node *const *kids)
{
    for (int k = 0; k < t->count; k++) {
        t->kids[k] = build(s, kids[k]);
        if (!t->kids[k]) return false;
        t->moves |= t->kids[k]->moves;
    }
    return true;
}

static time_node *build_chain(search *s, const node *n)
{
    if (n->kid_count > MOST_TERMS) return NULL;
    time_node *t = build(s, n->kids[0]);
    for (int k = 1; t && k < n->kid_count; k++) {
        time_node *other = build(s, n->kids[k]), *left = t;
        if (!other) return NULL;
        t = new_node(s->j, TIME_OPERATOR, 2);
        t->op = n->ops[k - 1];
        t->kids[0] = left, t->kids[1] = other;
        t->moves = left->moves || other->moves;
    }
    return t;
}

static time_node *build_builtin(search *s, const node *n)
{
    static const char *const others[] = {"abs", "sign", "floor", "ceil", "integer"};
    double v, d;
    time_kind kind = TIME_CONSTANT;
    if (judge_elementary(n->name, 0.5, &v, &d)) kind = TIME_FUNCTION;
    for (int k = 0; k < 5; k++)
        if (strcmp(n->name, others[k]) == 0) kind = TIME_FUNCTION;
    if (strcmp(n->name, "mod") == 0) kind = TIME_MOD;
    if (strcmp(n->name, "delay") == 0) kind = TIME_DELAYED;
    if (n->kid_count == 2 && (strcmp(n->name, "min") == 0 || strcmp(n->name, "max") == 0))
        kind = TIME_EXTREME;
    if (strcmp(n->name, "noEvent") == 0 || strcmp(n->name, "smooth") == 0)
        return build(s, n->kids[n->kid_count - 1]);
    if (strcmp(n->name, "homotopy") == 0) return build(s, n->kids[0]);
    if (kind == TIME_CONSTANT) return NULL;
    time_node *t = new_node(s->j, kind, n->kid_count);
    t->name = n->name;
    t->v = s->t0;
    return build_kids(s, t, n->kids) ? t : NULL;
}

static const node *definition_of(const judge *j, const component *c)
{
    for (size_t k = 0; k < j->group_count; k++) {
        const group *g = &j->groups[k];
        const jitem *i = g->item;
        if (g->bound && g->bound->target->component == c && !g->bound->target->step_count)
            return g->bound->value;
        if (g->kind == JUDGE_EQUATION && i && i->kind == ITEM_EQUATION && g->pass_count == 0 &&
            i->left->kind == NODE_COMPONENT && i->left->component == c && !i->left->step_count)
            return i->right;
    }
    return NULL;
}

/* A variable that is defined by time alone. */
static time_node *build_variable(search *s, const node *n)
{
    const component *c = n->component;
    if (n->step_count || c->sizes != DONE || c->shape.ndims || s->depth > 20) return NULL;
    if (c->type->base >= BASE_STRING || c->variability <= JUDGE_PARAMETER) return NULL;
    const node *definition = definition_of(s->j, c);
    s->depth++;
    time_node *t = definition ? build(s, definition) : NULL;
    s->depth--;
    return t;
}

/* The tree of an expression; NULL: it is not one of time alone, or not one that can be enclosed. */
static time_node *build(search *s, const node *n)
{
    time_node *t = NULL;
    if (n->kind == NODE_TIME) {
        t = new_node(s->j, TIME_NOW, 0);
        t->moves = true;
        return t;
    }
    if (n->kind != NODE_CONSTANT && n->kind != NODE_COMPONENT && n->kind != NODE_LOCAL &&
        n->kind != NODE_CALL) {
        if (n->kind == NODE_CHAIN) t = build_chain(s, n);
        if (n->kind == NODE_BUILTIN) t = build_builtin(s, n);
        if (n->kind == NODE_IF || n->kind == NODE_UNARY) {
            t = new_node(s->j,
                         n->kind == NODE_IF  ? TIME_IF
                         : n->op == OP_NOT   ? TIME_NOT
                         : n->op == OP_MINUS ? TIME_MINUS
                                             : TIME_OPERATOR,
                         n->kid_count);
            if (!build_kids(s, t, n->kids)) t = NULL;
            if (t && t->kind == TIME_OPERATOR) t = t->kids[0];
        }
        if (t) return t;
    }
    if ((t = constant(s, n))) return t;
    return n->kind == NODE_COMPONENT ? build_variable(s, n) : NULL;
}

/* ---- enclosures ---- */

static jet enclose(const time_node *t, double low, double high);

static jet enclose_if(const time_node *t, double low, double high)
{
    jet all = {{{INFINITY, -INFINITY}, {INFINITY, -INFINITY}, {INFINITY, -INFINITY}}};
    int possible = 0;
    for (int k = 0; k < t->count; k += 2) {
        bool last = k + 1 == t->count;
        jet c = last ? jet_constant(1.0) : enclose(t->kids[k], low, high);
        if (c.d[0].high < 0.5) continue;
        jet v = enclose(t->kids[last ? k : k + 1], low, high);
        possible++;
        all = possible == 1 ? v : jet_either(all, v);
        if (c.d[0].low > 0.5) break;
    }
    return all;
}

/* What was there a while ago; at the beginning and before it, the same. */
static jet enclose_delayed(const time_node *t, double low, double high)
{
    jet lag = enclose(t->kids[1], low, high);
    double from = low - lag.d[0].high, to = high - lag.d[0].low;
    if (t->kids[1]->moves || !(from <= to)) return jet_unknown();
    jet then = enclose(t->kids[0], fmax(from, t->v), fmax(to, t->v));
    jet begin = enclose(t->kids[0], t->v, t->v);
    begin.d[1] = begin.d[2] = (interval){0.0, 0.0};
    return from >= t->v ? then : to <= t->v ? begin : jet_either(begin, then);
}

static jet enclose(const time_node *t, double low, double high)
{
    switch (t->kind) {
    case TIME_CONSTANT: return jet_constant(t->v);
    case TIME_NOW: return (jet){{{low, high}, {1.0, 1.0}, {0.0, 0.0}}};
    case TIME_OPERATOR:
        return jet_operator(t->op, enclose(t->kids[0], low, high), enclose(t->kids[1], low, high));
    case TIME_NOT: return jet_operator(OP_SUB, jet_constant(1.0), enclose(t->kids[0], low, high));
    case TIME_MINUS: return jet_operator(OP_SUB, jet_constant(0.0), enclose(t->kids[0], low, high));
    case TIME_IF: return enclose_if(t, low, high);
    case TIME_FUNCTION: return jet_function(t->name, enclose(t->kids[0], low, high));
    case TIME_MOD: return jet_mod(enclose(t->kids[0], low, high), enclose(t->kids[1], low, high));
    case TIME_EXTREME:
        return jet_extreme(t->name[1] == 'a', enclose(t->kids[0], low, high),
                           enclose(t->kids[1], low, high));
    case TIME_DELAYED: return enclose_delayed(t, low, high);
    case TIME_SAMPLED: break;
    }
    return jet_unknown();
}

/* ---- functions of the text, of time alone: they are sampled ---- */

static double sampled(search *s, const node *n, double time, bool *good)
{
    machine *m = &s->j->machine;
    value v;
    m->time = time;
    m->frame = (frame){s->slots, MODEL_SLOTS};
    m->varied = false;
    stack_mark mark = m->scratch.at;
    bool is = judge_try(m, n, &v) && !m->varied && v.type->base < BASE_STRING &&
              v.type->cells == 1 && !v.shape.ndims;
    double x = is ? v.cells->v : 0.0;
    m->scratch.at = mark;
    *good &= is;
    return x;
}

/* Distance of some values within an interval from its chord, and the largest of them. */
static double sampled_error(search *s, const node *n, double low, double high, double *largest)
{
    enum { INSIDE = 15 };
    bool good = true;
    double a = sampled(s, n, low, &good), b = sampled(s, n, high, &good), error = 0.0;
    for (int k = 1; k <= INSIDE; k++) {
        double part = k / (INSIDE + 1.0);
        double v = sampled(s, n, low + part * (high - low), &good);
        error = fmax(error, fabs(v - (a + part * (b - a))));
        *largest = fmax(*largest, fabs(v));
    }
    return good ? error : 0.0;
}

/* ---- halving ---- */

typedef struct piece {
    double low, high;
} piece;

static void add_time(search *s, double t)
{
    if (t <= s->t0 || t >= s->t1) return;
    if (s->count == s->most)
        s->full = true;
    else
        s->times[s->count++] = t;
}

/* How far an expression may be from a straight line on a piece. */
static double piece_error(search *s, const time_node *t, const piece *p, double *largest)
{
    double width = p->high - p->low;
    if (t->kind == TIME_SAMPLED) {
        double error = sampled_error(s, t->from, p->low, p->high, largest);
        return width > (s->t1 - s->t0) / 100.0 ? INFINITY : error;
    }
    jet f = enclose(t, p->low, p->high), at = enclose(t, p->low, p->low);
    double v = fmin(fabs(at.d[0].low), fabs(at.d[0].high));
    if (isfinite(v)) *largest = fmax(*largest, v);
    double narrow = f.d[0].high - f.d[0].low;
    double bend = fmax(fabs(f.d[2].low), fabs(f.d[2].high)) * width * width / 8.0;
    return fmin(isnan(narrow) ? INFINITY : narrow, isnan(bend) ? INFINITY : bend);
}

/* Halve the interval, the widest pieces first; the ends of pieces are times. */
static void halve(search *s, const time_node *t)
{
    size_t capacity = 0, first = 0, count = 1;
    piece *queue = NULL;
    judge_grow(s->j, &queue, &capacity, 64, sizeof *queue);
    s->j->machine.held = queue;
    queue[0] = (piece){s->t0, s->t1};
    double largest = 0.0, smallest = 4e-15 * fmax(fabs(s->t0), fabs(s->t1)) + 1e-300;
    for (; first < count && !s->full; first++) {
        piece p = queue[first];
        double middle = 0.5 * (p.low + p.high);
        double error = piece_error(s, t, &p, &largest);
        if (!(error > s->tolerance * largest) || p.high - p.low <= smallest) continue;
        judge_grow(s->j, &queue, &capacity, count + 2, sizeof *queue);
        s->j->machine.held = queue;
        queue[count++] = (piece){p.low, middle};
        queue[count++] = (piece){middle, p.high};
        add_time(s, middle);
    }
    s->j->machine.held = NULL;
    dae_free(queue);
}

/* ---- which expressions ---- */

static void look_for(search *s, const node *n)
{
    if (!n || s->full) return;
    time_node *t = n->kind == NODE_COMPONENT || n->kind == NODE_CONSTANT ? NULL : build(s, n);
    if (t && t->moves && t->kind != TIME_NOW) halve(s, t);
    if (t) return;
    if (n->kind == NODE_CALL) {
        bool good = true;
        machine *m = &s->j->machine;
        m->timed = false;
        (void)sampled(s, n, s->t0, &good);
        if (good && m->timed) {
            halve(s, &(time_node){.kind = TIME_SAMPLED, .from = n, .moves = true});
            return;
        }
    }
    for (int k = 0; k < n->kid_count; k++) look_for(s, n->kids[k]);
}

static void look_in_items(search *s, jitem *const *items, int count)
{
    for (int k = 0; k < count; k++) {
        const jitem *i = items[k];
        look_for(s, i->left);
        look_for(s, i->right);
        if (i->arguments && i->argument_count != 2) look_for(s, i->arguments[0]);
        for (int b = 0; b < i->branch_count; b++) {
            look_for(s, i->branches[b].condition);
            look_in_items(s, i->branches[b].items, i->branches[b].item_count);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void find_breaks(judge *j, void *context)
{
    search *s = context;
    machine *m = &j->machine;
    m->group = -1;
    for (size_t k = 0; k < j->group_count && !s->full; k++) {
        const group *g = &j->groups[k];
        if (g->kind == JUDGE_INITIAL_EQUATION || g->kind == JUDGE_INITIAL_ALGORITHM) continue;
        memset(s->slots, 0, sizeof s->slots);
        if (g->pass_count) memcpy(s->slots, g->passes, (size_t)g->pass_count * sizeof(value));
        stack_mark mark = m->scratch.at;
        if (g->bound) look_for(s, g->bound->value);
        if (g->item) look_in_items(s, &g->item, 1);
        if (g->items) look_in_items(s, g->items, g->item_count);
        m->scratch.at = mark;
    }
}

/* Ascending times, each once. Of many close together, the halves of a jump, the first and the last:
 * the jump is between them. */
static size_t thinned(double *t, size_t count, double near)
{
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) {
        bool first = kept == 0 || t[k] - t[kept - 1] > near;
        bool last = k + 1 == count || t[k + 1] - t[k] > near;
        if (first || (last && t[k] > t[kept - 1])) t[kept++] = t[k];
    }
    return kept;
}

dae_status judge_breaks(judge *j, double t0, double t1, double tolerance, size_t most,
                        double *times, size_t *count)
{
    search s = {j, t0, t1, tolerance, most, 0, times, false, 0, {{0}}};
    *count = 0;
    if (!(t1 > t0) || !(tolerance > 0.0)) return DAE_ERR_ARGUMENT;
    bool good = judge_guarded(j, find_breaks, &s);
    dae_free(j->machine.held);
    j->machine.held = NULL;
    if (!good) return DAE_ERR_MEMORY;
    qsort(times, s.count, sizeof *times, by_size);
    *count = thinned(times, s.count, 1e-9 * (t1 - t0));
    return s.full ? DAE_ERR_MAX_STEPS : DAE_OK;
}
