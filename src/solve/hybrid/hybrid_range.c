/* Relations whose arguments may oscillate or have narrow peaks within a step: bounds on their
 * crossing functions over a piece of time, from the ranges of the solution and the expression
 * itself. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "expr/range.h"
#include "model/model_watch.h"
#include "solve/hybrid/hybrid_parts.h"

struct relation_ranges {
    owned_part part;
    const model_form *form;   /* the unknowns are those of this one */
    int n;                    /* of them */
    range_program *program;   /* of the wild ones; NULL: there are none */
    bool *wild;               /* per crossing function */
    bool slopes;              /* one of them reads y' */
    size_t *root;             /* per root of the program: its crossing function */
    size_t count;             /* of roots */
    range *result, *y;        /* work: per root, per unknown */
    double *at[3], *slope[3]; /* work: y and y' at both ends and in the middle */
    double *store;
};

static void ranges_free(void *self)
{
    relation_ranges *q = self;
    range_program_free(q->program);
    dae_free_all(q->wild, q->root, q->result, q->y, q->store, q);
}

typedef struct delay_scan {
    const flat_model *m;
    bool found;
} delay_scan;

static void note_varying_delay(void *context, const expr_node *node)
{
    delay_scan *scan = context;
    for (size_t i = 0; node->op == EXPR_MEMORY && i < scan->m->delay_count; i++)
        if (scan->m->delays[i].varies && node->index > scan->m->delays[i].memory &&
            node->index < scan->m->delays[i].memory + DELAY_SLOTS)
            scan->found = true;
}

/* Which crossing functions are wild; false: memory. Nothing is known of a piece of time where delay
 * times vary: the past may change within it. */
static bool find_wild(relation_ranges *q, const flat_model *m, const model_program *crossing)
{
    range_program *all = range_program_new(m->graph, crossing->e, crossing->outputs);
    bool ok = all != NULL;
    for (size_t k = 0; ok && k < crossing->outputs; k++) {
        delay_scan scan = {.m = m};
        if (m->delay_count > 0)
            ok = graph_leaves(m->graph, &crossing->e[k], 1, note_varying_delay, &scan);
        q->wild[k] =
            range_program_is_wild(all, k) && !range_program_is_opaque(all, k) && !scan.found;
        if (q->wild[k]) q->root[q->count++] = k;
    }
    range_program_free(all);
    return ok;
}

static bool program_of_wild(relation_ranges *q, const graph *g, const model_program *crossing)
{
    expr *roots = DAE_ARRAY(expr, q->count);
    for (size_t k = 0; roots && k < q->count; k++) roots[k] = crossing->e[q->root[k]];
    q->program = roots ? range_program_new(g, roots, q->count) : NULL;
    dae_free(roots);
    size_t n = (size_t)q->n;
    q->result = DAE_ARRAY(range, q->count);
    q->y = DAE_ARRAY(range, n);
    q->store = DAE_ARRAY(double, 6 * n);
    if (!q->program || !q->result || !q->y || !q->store) return false;
    for (int k = 0; k < 3; k++) {
        q->at[k] = q->store + (size_t)k * n;
        q->slope[k] = q->store + (size_t)(3 + k) * n;
    }
    return true;
}

static void note_slope(void *context, const expr_node *node)
{
    bool *slopes = context;
    if (node->op == EXPR_VARIABLE && node->order > 0) *slopes = true;
}

static relation_ranges *ranges_new(const model_form *f)
{
    relation_ranges *q = DAE_NEW(relation_ranges);
    if (!q) return NULL;
    q->part.free = ranges_free;
    q->form = f;
    q->n = f->n;
    q->wild = DAE_ARRAY(bool, f->crossing.outputs);
    q->root = DAE_ARRAY(size_t, f->crossing.outputs);
    graph_enter(f->flat->graph);
    bool ok = q->wild && q->root && find_wild(q, f->flat, &f->crossing);
    if (ok && f->crossing.outputs > 0)
        ok = graph_leaves(f->flat->graph, f->crossing.e, f->crossing.outputs, note_slope,
                          &q->slopes);
    if (ok && q->count > 0) ok = program_of_wild(q, f->flat->graph, &f->crossing);
    graph_leave(f->flat->graph);
    if (ok) return q;
    ranges_free(q);
    return NULL;
}

/* y_i and y_i' between a and b: as the three points and a parabola through them allow, twice over.
 */
static range range_of_unknown(const relation_ranges *q, int i, double length)
{
    double u = q->slope[0][i], v = q->slope[1][i], w = q->slope[2][i];
    double bend = 0.25 * fabs(u - 2.0 * v + w);
    interval slope = {fmin(u, fmin(v, w)) - bend, fmax(u, fmax(v, w)) + bend};
    double a = q->at[0][i], m = q->at[1][i], b = q->at[2][i];
    double sag = 0.25 * length * (slope.hi - slope.lo);
    return (range){{fmin(a, fmin(m, b)) - sag, fmax(a, fmax(m, b)) + sag}, slope};
}

static void solution_ranges(const dae_solver *s, relation_ranges *q, double a, double b)
{
    double t[3] = {a, 0.5 * (a + b), b};
    for (int k = 0; k < 3; k++) {
        solver_interpolate(s, t[k], 0, q->at[k]);
        solver_interpolate(s, t[k], 1, q->slope[k]);
    }
    for (int i = 0; i < q->n; i++) q->y[i] = range_of_unknown(q, i, fabs(b - a));
}

/* Crossing functions of relations come first, those of assertions behind them. */
static bool is_mute(const dae_solver *s, size_t k)
{
    return k < flat_of(s)->relation_count && s->hybrid->trace[k].mute;
}

/* The first wild crossing function that may have several crossings between a and b, or
 * EVENTS_PLAIN. */
static int first_not_plain(void *context, double a, double b)
{
    dae_solver *s = context;
    relation_ranges *q = s->hybrid->ranges;
    if (range_program_reads_variables(q->program)) solution_ranges(s, q, a, b);
    model_instance_recall(s->hybrid->instance, 0.5 * (a + b), NULL, NULL);
    range_leaves leaves = {.time = {fmin(a, b), fmax(a, b)},
                           .y = q->y,
                           .parameters = s->hybrid->instance->parameters,
                           .memory = s->hybrid->instance->memory};
    range_program_run(q->program, &leaves, q->result);
    for (size_t k = 0; k < q->count; k++)
        if (!range_is_plain(&q->result[k]) && !is_mute(s, q->root[k])) return (int)q->root[k];
    return EVENTS_PLAIN;
}

void ranges_bind(dae_solver *s)
{
    hybrid *h = s->hybrid;
    if (!h->ranges || h->ranges->form != h->instance->form) {
        part_free(h->ranges);
        h->ranges = ranges_new(h->instance->form);
        if (!h->ranges) h->no_memory = true;
    }
    bool any = h->ranges && h->ranges->count > 0;
    event_finder_slopes(s->bound.events, !h->ranges || h->ranges->slopes);
    event_finder_bound(s->bound.events, any ? first_not_plain : NULL, s,
                       any && h->ranges->count == h->instance->form->crossing.outputs);
}
