/* Relations whose arguments may oscillate or have narrow peaks within a step: bounds on their
 * crossing functions over a piece of time, from the ranges of the solution and the expression
 * itself. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "expr/range.h"
#include "model/model_watch.h"
#include "solve/hybrid/hybrid_parts.h"

/* Root `root` of the ranges is in the condition of an assertion. */
typedef struct watched {
    size_t root, assertion;
} watched;

struct relation_ranges {
    owned_part part;
    const model_form *form; /* the unknowns are those of this one */
    int n;                  /* of them */
    range_program *program; /* of the wild ones; NULL: there are none */
    bool *wild;             /* per crossing function */
    bool slopes;            /* one of them reads y' */
    size_t *root;           /* per root of the program: its crossing function */
    size_t count;           /* of roots */
    range *result, *y;      /* work: per root, per unknown */
    range_program *held;    /* of the conditions of assertions; NULL: no root is of one */
    range *holds;           /* work: per assertion */
    watched *pair;          /* which root is of the condition of which assertion */
    size_t pair_count, pair_capacity;
    bool *matters;            /* work: per root: one of its assertions may not hold */
    double *at[3], *slope[3]; /* work: y and y' at both ends and in the middle */
    double *store;
    bool told; /* the user knows of sides that are equal up to rounding */
};

static void ranges_free(void *self)
{
    relation_ranges *q = self;
    range_program_free(q->program);
    range_program_free(q->held);
    dae_free_all(q->holds, q->pair, q->matters, q->wild, q->root, q->result, q->y, q->store, q);
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

/* The first of the two sides of a difference; of something else: all of it. */
static expr left_side(const graph *g, expr crossing)
{
    const expr_node *n = graph_node(g, crossing);
    if (n->op == EXPR_NEG) n = graph_node(g, n->a);
    return n->op == EXPR_SUB || n->op == EXPR_ADD ? n->a : crossing;
}

static bool program_of_wild(relation_ranges *q, const graph *g, const model_program *crossing)
{
    expr *roots = DAE_ARRAY(expr, 2 * q->count);
    for (size_t k = 0; roots && k < q->count; k++) {
        roots[k] = crossing->e[q->root[k]];
        roots[q->count + k] = left_side(g, roots[k]);
    }
    q->program = roots ? range_program_new(g, roots, 2 * q->count) : NULL;
    dae_free(roots);
    size_t n = (size_t)q->n;
    q->result = DAE_ARRAY(range, 2 * q->count);
    q->y = DAE_ARRAY(range, n);
    q->store = DAE_ARRAY(double, 6 * n);
    if (!q->program || !q->result || !q->y || !q->store) return false;
    for (int k = 0; k < 3; k++) {
        q->at[k] = q->store + (size_t)k * n;
        q->slope[k] = q->store + (size_t)(3 + k) * n;
    }
    return true;
}

/* ---- assertions: what is within one that holds anyway, does not matter ---- */

typedef struct named_root {
    expr e;
    size_t root;
} named_root;

static int compare_roots(const void *a, const void *b)
{
    const expr p = ((const named_root *)a)->e, q = ((const named_root *)b)->e;
    return (p > q) - (p < q);
}

/* The pairs of assertion k; false: memory. */
static bool add_pairs(relation_ranges *q, const model_form *f, size_t k, const named_root *names,
                      size_t name_count)
{
    expr *watches = NULL;
    size_t count = 0;
    bool ok = model_watches(f->flat->graph, &f->assertion.e[k], 1, &watches, &count);
    ok = ok && dae_grow(&q->pair, &q->pair_capacity, q->pair_count + count, sizeof *q->pair);
    for (size_t i = 0; ok && i < count; i++) {
        const named_root key = {.e = watches[i]};
        const named_root *at = bsearch(&key, names, name_count, sizeof key, compare_roots);
        if (at) q->pair[q->pair_count++] = (watched){at->root, k};
    }
    dae_free(watches);
    return ok;
}

/* Which roots are of which assertions, and a program of the conditions of these. */
static bool find_watched(relation_ranges *q, const model_form *f)
{
    const size_t asserts = f->flat->assert_count;
    named_root *names = DAE_ARRAY(named_root, q->count);
    bool ok = names != NULL;
    size_t count = 0; /* of roots that are not relations: these may have the same expression */
    for (size_t j = 0; ok && j < q->count; j++)
        if (q->root[j] >= f->flat->relation_count)
            names[count++] = (named_root){f->crossing.e[q->root[j]], j};
    if (ok) qsort(names, count, sizeof *names, compare_roots);
    for (size_t k = 0; ok && k < asserts; k++) ok = add_pairs(q, f, k, names, count);
    dae_free(names);
    if (!ok || q->pair_count == 0) return ok;
    q->held = range_program_new(f->flat->graph, f->assertion.e, asserts);
    q->holds = DAE_ARRAY(range, asserts);
    q->matters = DAE_ARRAY(bool, q->count);
    return q->held && q->holds && q->matters;
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
    if (ok && q->count > 0)
        ok = program_of_wild(q, f->flat->graph, &f->crossing) && find_watched(q, f);
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

/* matters[k], for roots within assertions: one of these is not sure to hold all along */
static void find_what_matters(relation_ranges *q, const range_leaves *leaves)
{
    if (!q->held) return;
    range_program_run(q->held, leaves, q->holds);
    for (size_t k = 0; k < q->count; k++) q->matters[k] = true; /* what is in no pair does */
    for (size_t i = 0; i < q->pair_count; i++) q->matters[q->pair[i].root] = false;
    for (size_t i = 0; i < q->pair_count; i++)
        if (!(q->holds[q->pair[i].assertion].value.lo > 0.0)) q->matters[q->pair[i].root] = true;
}

/* Whether root k is of a relation that is heard, or of an assertion that may not hold. */
static bool is_heard(const dae_solver *s, const relation_ranges *q, size_t k)
{
    const bool relation = q->root[k] < flat_of(s)->relation_count;
    return relation ? !s->hybrid->trace[q->root[k]].mute : !q->matters || q->matters[k];
}

/* Whether root k is a relation whose sides differ from a to b by no more than the noise of what is
 * solved for, or by their last digits: its value in the middle and its slopes say so. There is
 * nothing to find then. */
static bool is_noise(dae_solver *s, const relation_ranges *q, size_t k, double a, double b)
{
    const size_t r = q->root[k];
    const interval slope = q->result[k].slope, value = q->result[k].value;
    const double t = 0.5 * (a + b), *y = q->at[1], *yp = q->slope[1];
    if (r >= flat_of(s)->relation_count) return false;
    const double most = 0.5 * fabs(b - a) * fmax(fabs(slope.lo), fabs(slope.hi));
    const double noise = relation_slack(s, t, y, yp, r);
    if (fmax(fabs(value.lo), fabs(value.hi)) <= noise) return true;
    if (!(most <= noise)) return false;
    return fabs(hybrid_value(s, t, y, yp, flat_of(s)->relations[r].crossing)) + most <= noise;
}

/* Parts of a step in which sides that agree are looked at for differences between the places. */
static const double PART = 1.0 / 256.0;

/* What the last digits of the first side of root k leave open, as the last run of ranges has it. */
static double digits_of_side(const relation_ranges *q, size_t k)
{
    const interval side = q->result[q->count + k].value;
    const double digits = 2.0 * DBL_EPSILON * fabs(side.lo + side.hi);
    return isfinite(digits) ? digits : 0.0;
}

/* Whether root k is so near to zero at t of the last step. */
static bool is_near_zero(dae_solver *s, const relation_ranges *q, size_t k, double t, double near)
{
    hybrid *h = s->hybrid;
    solver_interpolate(s, t, 0, h->further);
    solver_interpolate(s, t, 1, h->further_yp);
    model_instance_crossings(h->instance, t, h->further, h->further_yp, h->crossing_ahead);
    return fabs(h->crossing_ahead[q->root[k]]) <= near;
}

/* Once in a run: sides are taken for equal because they are wherever they are looked at. */
static void tell_equal(dae_solver *s, size_t r, double t)
{
    const flat_model *m = flat_of(s);
    relation_ranges *q = s->hybrid->ranges;
    char text[400];
    if (q->told || r >= m->relation_count) return;
    q->told = true;
    snprintf(text, sizeof text,
             "note: %.100s:%d: the two sides of this relation are the same up to rounding, at t = "
             "%.9g and wherever else they are looked at. They count as equal there; a difference "
             "in a time shorter than %.0g of a step is not seen.",
             model_file(s), m->relations[r].place.line, t, PART);
    solver_note(s, text);
}

/* Whether the sides of root k agree but for their last digits all over a short piece, as those of
 * tan(atan(x)) >= x, of which no range can be known: they count as equal then. */
static bool sides_agree(dae_solver *s, const relation_ranges *q, size_t k, double a, double b)
{
    const double places[] = {0.0, 1.0, GOLDEN, 1.0 - GOLDEN}, digits = digits_of_side(q, k);
    const size_t r = q->root[k], count = flat_of(s)->relation_count;
    const bool rounded = r >= count || s->hybrid->instance->form->rounded[r];
    const double near = rounded ? fmax(digits, s->hybrid->instance->noise) : digits;
    if (!(fabs(b - a) <= PART * fabs(s->run.t_new - s->run.t_old)) || digits == 0.0) return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!is_near_zero(s, q, k, a + places[i] * (b - a), near)) return false;
    tell_equal(s, r, a);
    return true;
}

/* The first wild crossing function that may have several crossings between a and b, or
 * EVENTS_PLAIN. */
static int first_not_plain(void *context, double a, double b)
{
    dae_solver *s = context;
    relation_ranges *q = s->hybrid->ranges;
    if (range_program_reads_variables(q->program) ||
        (q->held && range_program_reads_variables(q->held)))
        solution_ranges(s, q, a, b);
    model_instance_recall(s->hybrid->instance, 0.5 * (a + b), NULL, NULL);
    range_leaves leaves = {.time = {fmin(a, b), fmax(a, b)},
                           .y = q->y,
                           .parameters = s->hybrid->instance->parameters,
                           .memory = s->hybrid->instance->memory};
    range_program_run(q->program, &leaves, q->result);
    bool asked = false; /* whether assertions hold: only where something is not plain */
    for (size_t k = 0; k < q->count; k++) {
        if (range_is_plain(&q->result[k]) || is_noise(s, q, k, a, b)) continue;
        if (sides_agree(s, q, k, a, b)) continue;
        if (!asked) find_what_matters(q, &leaves);
        asked = true;
        if (is_heard(s, q, k)) return (int)q->root[k];
    }
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
