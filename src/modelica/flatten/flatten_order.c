/* Discrete equations, when-clauses and their actions in an order in which values are computed
 * before they are read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/walk.h"
#include "modelica/flatten/flatten_internal.h"

/* ---- parts, and who waits for whom ---- */

/* What is put in order: parts with their values, which stand together for each part. */
typedef struct part_values {
    expr *item;
    uint32_t *part;
    size_t count, parts;
    size_t closed; /* parts from this one on may read what they define themselves */
} part_values;

/* Parts wait for their values, operations for their operands, and variables for the part that
 * defines them: so values that have nearly all operations in common cost these operations once.
 * Numbers of parts follow those of the nodes of `nodes`. */
typedef struct waiting_graph {
    const int *definer; /* by variable: a part, or -1 */
    walk nodes;
    bool *moves;              /* by node: a part defines something in it */
    uint32_t *start, *reader; /* who waits for it */
    uint32_t *waits;          /* for how many it still waits */
    uint32_t *stack;
    size_t current; /* part whose values are scanned */
    bool filling;
} waiting_graph;

static void add_value(part_values *p, expr e, size_t part)
{
    if (e == EXPR_NONE) return;
    p->item[p->count] = e;
    p->part[p->count++] = (uint32_t)part;
}

static bool values_open(part_values *p, size_t count, size_t parts, size_t closed)
{
    *p = (part_values){.item = dae_calloc(count + 1, sizeof *p->item),
                       .part = dae_calloc(count + 1, sizeof *p->part),
                       .parts = parts,
                       .closed = closed};
    return p->item && p->part;
}

static void values_free(part_values *p)
{
    dae_free_all(p->item, p->part);
    *p = (part_values){0};
}

/* `to` waits for `from`: counted, then stored. */
static void tie(waiting_graph *g, size_t from, size_t to)
{
    if (g->filling) {
        g->reader[g->start[from + 1]++] = (uint32_t)to;
    } else {
        g->start[from + 2]++;
        g->waits[to]++;
    }
}

/* The part that defines the variable of a leaf, or -1. */
static int leaf_definer(const flattener *f, const waiting_graph *g, const expr_node *n)
{
    int v = n->op == EXPR_MEMORY ? f->slot_variable[n->index] : -1;
    return v >= 0 ? g->definer[v] : -1;
}

static void tie_nodes(const flattener *f, waiting_graph *g)
{
    for (size_t i = 0; i < g->nodes.count; i++) {
        const expr_node *n = graph_node(f->g, g->nodes.order[i]);
        const expr operand[3] = {n->a, n->b, n->c};
        int from = leaf_definer(f, g, n);
        g->moves[i] = from >= 0;
        if (from >= 0) tie(g, g->nodes.count + (size_t)from, i);
        for (int k = 0; k < n->arity; k++) {
            size_t at = walk_place(&g->nodes, operand[k]);
            if (!g->moves[at]) continue;
            g->moves[i] = true;
            tie(g, at, i);
        }
    }
}

static void tie_leaf(flattener *f, void *context, const expr_node *n)
{
    waiting_graph *g = context;
    int from = leaf_definer(f, g, n);
    if (from >= 0 && (size_t)from != g->current)
        tie(g, g->nodes.count + (size_t)from, g->nodes.count + g->current);
}

/* A part that may read what it defines waits for the variables of others alone. */
static void tie_parts(flattener *f, waiting_graph *g, const part_values *p)
{
    g->current = p->parts;
    for (size_t k = 0; k < p->count; k++) {
        size_t at = walk_place(&g->nodes, p->item[k]);
        if (p->part[k] >= p->closed) {
            if (g->current != p->part[k]) visit_begin(f);
            g->current = p->part[k];
            visit_leaves(f, p->item[k], tie_leaf, g);
        } else if (g->moves[at]) {
            tie(g, at, g->nodes.count + p->part[k]);
        }
    }
}

static bool waiting_graph_build(flattener *f, waiting_graph *g, const part_values *p)
{
    if (!walk_from(&g->nodes, f->g, p->item, p->count)) return false;
    size_t count = g->nodes.count + p->parts;
    g->moves = dae_calloc(g->nodes.count + 1, sizeof *g->moves);
    g->stack = dae_calloc(g->nodes.count + 1, sizeof *g->stack);
    g->start = dae_calloc(count + 2, sizeof *g->start);
    g->waits = dae_calloc(count + 1, sizeof *g->waits);
    if (!g->moves || !g->stack || !g->start || !g->waits) return false;
    tie_nodes(f, g);
    tie_parts(f, g, p);
    for (size_t k = 2; k < count + 2; k++) g->start[k] += g->start[k - 1];
    g->reader = dae_calloc((size_t)g->start[count + 1] + 1, sizeof *g->reader);
    if (!g->reader) return false;
    g->filling = true;
    tie_nodes(f, g);
    tie_parts(f, g, p);
    return !f->failed;
}

static void waiting_graph_free(waiting_graph *g)
{
    walk_free(&g->nodes);
    dae_free_all(g->moves, g->stack, g->start, g->waits, g->reader);
}

/* ready[0 .. n-1] = parts that waited for this one at last; returns n. */
static size_t release(waiting_graph *g, size_t part, uint32_t *ready)
{
    size_t depth = 0, count = 0, at = g->nodes.count + part;
    for (;;) {
        for (uint32_t r = g->start[at]; r < g->start[at + 1]; r++) {
            uint32_t to = g->reader[r];
            if (--g->waits[to] > 0) continue;
            if (to < g->nodes.count)
                g->stack[depth++] = to;
            else
                ready[count++] = to - (uint32_t)g->nodes.count;
        }
        if (depth == 0) return count;
        at = g->stack[--depth];
    }
}

static int by_part(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Kahn's algorithm: order = parts, each behind those that it reads, and waiting = those that wait
 * in circles or for them. Ties keep the order of the text. Returns how many have a place. */
static size_t order_parts(flattener *f, const part_values *p, const int *definer, uint32_t *order,
                          bool *waiting)
{
    waiting_graph g = {.definer = definer};
    size_t done = 0, tail = 0;
    if (!waiting_graph_build(f, &g, p)) f->failed = true;
    for (size_t k = 0; !f->failed && k < p->parts; k++)
        if (!g.waits[g.nodes.count + k]) order[tail++] = (uint32_t)k;
    for (; done < tail; done++) {
        size_t count = release(&g, order[done], order + tail);
        if (count > 1) qsort(order + tail, count, sizeof *order, by_part);
        tail += count;
    }
    for (size_t k = 0; !f->failed && k < p->parts; k++) waiting[k] = g.waits[g.nodes.count + k] > 0;
    waiting_graph_free(&g);
    return done;
}

/* ---- discrete equations and when-clauses ---- */

static size_t count_when_values(const flat_model *m)
{
    size_t count = 0;
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++)
            count += 1 + m->whens[w].branches[b].action_count;
    return count;
}

static void add_when(part_values *p, const flat_when *w, size_t part, int *definer)
{
    for (size_t b = 0; b < w->branch_count; b++) {
        add_value(p, w->branches[b].condition, part);
        for (size_t k = 0; k < w->branches[b].action_count; k++) {
            const flat_action *a = &w->branches[b].actions[k];
            add_value(p, a->value, part);
            if (a->kind == ACTION_ASSIGN) definer[a->variable] = (int)part;
        }
    }
}

/* Parts: discretes, then whens. */
static bool collect_events(const flat_model *m, part_values *p, int *definer)
{
    size_t n = m->discrete_count;
    if (!values_open(p, n + count_when_values(m), n + m->when_count, n)) return false;
    for (size_t k = 0; k < n; k++) {
        add_value(p, m->discretes[k].value, k);
        definer[m->discretes[k].variable] = (int)k;
    }
    for (size_t w = 0; w < m->when_count; w++) add_when(p, &m->whens[w], n + w, definer);
    return true;
}

static void report_event_cycle(flattener *f, const bool *waiting)
{
    char names[512] = "";
    source_place place = {0, 0};
    size_t at = 0;
    for (size_t k = 0; k < f->m->discrete_count; k++) {
        if (!waiting[k]) continue;
        const flat_variable *v = &f->m->variables[f->m->discretes[k].variable];
        if (!place.line) place = f->m->discretes[k].place;
        int n = snprintf(names + at, sizeof names - at, "%s'%s'", at ? ", " : "", v->name);
        if (n < 0 || at + (size_t)n >= sizeof names) break;
        at += (size_t)n;
    }
    for (size_t w = 0; w < f->m->when_count && !place.line; w++)
        if (waiting[f->m->discrete_count + w] && f->m->whens[w].branch_count)
            place = f->m->whens[w].branches[0].place;
    report_error(f, place,
                 "discrete equations depend on each other%s%s: break the circle with pre(..)",
                 at ? ": " : " through when-clauses", names);
}

/* A variable that the clause assigns, other than its first one; -1: it has no other. */
static int another_assigned(const flat_when *w)
{
    int first = -1;
    for (size_t b = 0; b < w->branch_count; b++)
        for (size_t k = 0; k < w->branches[b].action_count; k++) {
            const flat_action *a = &w->branches[b].actions[k];
            if (a->kind != ACTION_ASSIGN || a->variable == first) continue;
            if (first >= 0) return a->variable;
            first = a->variable;
        }
    return -1;
}

/* The actions of the branch that assign v become those of another one. */
static void move_actions(flattener *f, flat_branch *from, int v, flat_when *to, size_t *capacity)
{
    action_list own = {0};
    size_t kept = 0;
    for (size_t k = 0; k < from->action_count; k++) {
        flat_action a = from->actions[k];
        if (a.kind == ACTION_ASSIGN && a.variable == v)
            push_action(f, &own, a);
        else
            from->actions[kept++] = a;
    }
    from->action_count = kept;
    push_branch(f, to, capacity,
                (flat_branch){.condition = from->condition,
                              .at_initial = from->at_initial,
                              .place = from->place},
                &own);
    dae_free(own.items);
}

/* Equations of a when are equations by themselves [MLS 8.3.5]: clauses that wait for each other get
 * one clause for each variable, with the same conditions. false: none assigns several. */
static bool split_whens(flattener *f, const bool *waiting)
{
    flat_model *m = f->m;
    size_t count = m->when_count;
    bool any = false;
    for (size_t w = 0; w < count && !f->failed; w++) {
        flat_when old = m->whens[w]; /* clauses move as they become more; its branches do not */
        int v = waiting[m->discrete_count + w] ? another_assigned(&old) : -1;
        for (; v >= 0 && !f->failed; v = another_assigned(&old)) {
            flat_when own = {0};
            size_t capacity = 0;
            for (size_t b = 0; b < old.branch_count; b++)
                move_actions(f, &old.branches[b], v, &own, &capacity);
            push_when(f, &own);
            any = true;
        }
    }
    return any && !f->failed;
}

/* No variable has a definer; NULL: out of memory. */
static int *no_definers(const flat_model *m)
{
    int *definer = dae_calloc(m->variable_count + 1, sizeof *definer);
    for (size_t v = 0; definer && v < m->variable_count; v++) definer[v] = -1;
    return definer;
}

/* Discretes move to their places, and event_order = the parts by number. */
static void store_order(flattener *f, const uint32_t *order, size_t count)
{
    flat_model *m = f->m;
    flat_discrete *sorted = dae_calloc(m->discrete_count + 1, sizeof *sorted);
    m->event_order = dae_calloc(count + 1, sizeof *m->event_order);
    if (!sorted || !m->event_order) f->failed = true;
    for (size_t k = 0, out = 0; !f->failed && k < count; k++) {
        bool is_when = order[k] >= m->discrete_count;
        m->event_order[k] =
            (flat_event_step){is_when, is_when ? order[k] - m->discrete_count : out};
        if (!is_when) sorted[out++] = m->discretes[order[k]];
    }
    m->event_count = f->failed ? 0 : count;
    if (!f->failed && m->discrete_count)
        memcpy(m->discretes, sorted, m->discrete_count * sizeof *sorted);
    dae_free(sorted);
}

/* false: parts wait for each other, and *waiting says which, or memory is exhausted. */
static bool order_events(flattener *f, bool *waiting)
{
    flat_model *m = f->m;
    size_t total = m->discrete_count + m->when_count;
    part_values p = {0};
    uint32_t *order = dae_calloc(total + 1, sizeof *order);
    int *definer = no_definers(m);
    if (!order || !definer || !collect_events(m, &p, definer)) f->failed = true;
    bool ok = !f->failed && order_parts(f, &p, definer, order, waiting) == total;
    if (ok) store_order(f, order, total);
    values_free(&p);
    dae_free_all(order, definer);
    return ok && !f->failed;
}

/* ---- actions of when-clauses ---- */

/* Actions of one branch; definer is as before afterwards. */
static void sort_actions(flattener *f, flat_branch *b, int *definer)
{
    size_t n = b->action_count, placed = 0;
    part_values p = {0};
    if (n < 2) return;
    uint32_t *order = dae_calloc(n, sizeof *order);
    bool *waiting = dae_calloc(n, sizeof *waiting);
    flat_action *sorted = dae_calloc(n, sizeof *sorted);
    if (!order || !waiting || !sorted || !values_open(&p, n, n, n)) f->failed = true;
    for (size_t k = 0; !f->failed && k < n; k++) {
        add_value(&p, b->actions[k].value, k);
        if (b->actions[k].kind == ACTION_ASSIGN) definer[b->actions[k].variable] = (int)k;
    }
    if (!f->failed) placed = order_parts(f, &p, definer, order, waiting);
    for (size_t k = 0; k < placed; k++) sorted[k] = b->actions[order[k]];
    for (size_t k = 0; !f->failed && k < n; k++)
        if (b->actions[k].kind == ACTION_ASSIGN) definer[b->actions[k].variable] = -1;
    if (!f->failed && placed == n) memcpy(b->actions, sorted, n * sizeof *sorted);
    if (!f->failed && placed < n)
        report_error(f, b->place,
                     "equations of this when-clause depend on each other: break the circle with "
                     "pre(..)");
    values_free(&p);
    dae_free_all(order, waiting, sorted);
}

static void sort_all_actions(flattener *f)
{
    flat_model *m = f->m;
    int *definer = no_definers(m);
    if (!definer) f->failed = true;
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count && !f->failed; b++)
            sort_actions(f, &m->whens[w].branches[b], definer);
    dae_free(definer);
}

void sort_events(flattener *f)
{
    flat_model *m = f->m;
    bool *waiting = dae_calloc(m->discrete_count + m->when_count + 1, sizeof *waiting);
    if (!waiting) f->failed = true;
    bool sorted = !f->failed && order_events(f, waiting);
    if (!sorted && !f->failed && split_whens(f, waiting)) {
        dae_free(waiting);
        waiting = dae_calloc(m->discrete_count + m->when_count + 1, sizeof *waiting);
        if (!waiting) f->failed = true;
        sorted = !f->failed && order_events(f, waiting);
    }
    if (!sorted && !f->failed) report_event_cycle(f, waiting);
    dae_free(waiting);
    if (!f->failed) sort_all_actions(f);
}
