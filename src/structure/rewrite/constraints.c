#include "structure/rewrite/constraints.h"

#include <string.h>

#include "base/grouping.h"
#include "base/memory.h"
#include "expr/derive.h"
#include "expr/walk.h"
#include "structure/index/equation_names.h"
#include "structure/rewrite/tidy.h"

/* Results with more nodes than this are no help to anyone: derivatives stay then. */
enum { LARGEST = 120 };
/* So often an equation with more than one derivative left is solved for one of them. */
enum { MOST_CHOICES = 100 };

/* One equation at the stage at hand. */
typedef struct stage_row {
    expr e;       /* residual; EXPR_NONE: not yet part of it */
    int times;    /* differentiated so often */
    int open;     /* unnamed derivatives in it */
    bool changed; /* derivatives were replaced, here or at an earlier stage */
    bool pivot;   /* it was solved for a derivative */
    bool closed;  /* not linear in its derivatives, or too large */
    bool queued;  /* on the agenda */
    int used_count, used[CONSTRAINT_SOURCES];
} stage_row;

typedef struct elimination {
    const equation_set *set;
    const structure *s;
    int *place;                     /* x_j^(p) is number place[j] + p */
    expr *solution;                 /* per derivative: its value, EXPR_NONE */
    int *solved_by;                 /* .. and the equation it came from */
    stage_row *row;                 /* m */
    int *column_start, *column_row; /* rows that may contain x_j^(top) at a stage, by columns */
    int stage, choices;
    walk w;
    constraint_list *list;
} elimination;

/* ---- life ---- */

static bool elimination_new(elimination *q, const equation_set *set, const structure *s,
                            constraint_list *list)
{
    size_t n = (size_t)set->n, m = (size_t)set->m, all = 0;
    *q = (elimination){.set = set, .s = s, .list = list, .place = DAE_ARRAY(int, n + 1)};
    for (size_t j = 0; q->place && j < n; j++) {
        q->place[j] = (int)all;
        all += (size_t)s->d[j] + 1;
    }
    q->solution = DAE_ARRAY(expr, all);
    q->solved_by = DAE_ARRAY(int, all);
    q->row = DAE_ARRAY(stage_row, m);
    q->column_start = DAE_ARRAY(int, n + 1);
    q->column_row = DAE_ARRAY(int, s->sigma.start[m]);
    return q->place && q->solution && q->solved_by && q->row && q->column_start && q->column_row;
}

static void elimination_free(elimination *q)
{
    dae_free_all(q->place, q->solution, q->solved_by, q->row, q->column_start, q->column_row);
    walk_free(&q->w);
}

/* ---- derivatives ---- */

/* Whether x_j^(p) is a derivative without a name of its own. */
static bool unnamed(const equation_set *set, int j, int p)
{
    if (p == 0) return false;
    int k = equation_set_synonym(set, j, p);
    return k < 0 || set->synonym[k].order != p;
}

static expr *solution_of(const elimination *q, const expr_node *leaf)
{
    return leaf->order <= q->s->d[leaf->index] ? &q->solution[q->place[leaf->index] + leaf->order]
                                               : NULL;
}

static void note_used(stage_row *r, int row)
{
    int known = r->used_count < CONSTRAINT_SOURCES ? r->used_count : CONSTRAINT_SOURCES;
    for (int k = 0; k < known; k++)
        if (r->used[k] == row) return;
    if (r->used_count < CONSTRAINT_SOURCES) r->used[r->used_count] = row;
    r->used_count++;
}

/* Row r uses what pivot row `from` was made of. */
static void inherit(elimination *q, stage_row *r, int from)
{
    const stage_row *p = &q->row[from];
    int known = p->used_count < CONSTRAINT_SOURCES ? p->used_count : CONSTRAINT_SOURCES;
    note_used(r, from);
    for (int k = 0; k < known; k++) note_used(r, p->used[k]);
}

typedef struct replacement {
    elimination *q;
    stage_row *r;
} replacement;

/* A derivative that was solved for becomes its value. */
static expr map_solved(void *context, graph *g, expr leaf)
{
    replacement *a = context;
    const expr_node *n = graph_node(g, leaf);
    if (n->op != EXPR_VARIABLE) return leaf;
    expr *value = solution_of(a->q, n);
    if (!value || *value == EXPR_NONE) return leaf;
    inherit(a->q, a->r, a->q->solved_by[value - a->q->solution]);
    a->r->changed = true;
    return *value;
}

/* Number of nodes of e; 0: memory */
static size_t size_of(elimination *q, expr e)
{
    return walk_from(&q->w, q->set->graph, &e, 1) ? q->w.count : 0;
}

/* Replace what is known in row r and count what is open; the last one open goes to *leaf. */
static bool settle_row(elimination *q, stage_row *r, expr *leaf)
{
    graph *g = q->set->graph;
    replacement a = {q, r};
    stage_row before = *r;
    r->e = graph_substitute(g, r->e, map_solved, &a);
    if (r->e == EXPR_NONE) return false;
    if (size_of(q, r->e) > LARGEST && r->changed && r->e != before.e) {
        *r = before;
        r->closed = true;
    }
    r->open = 0;
    if (!walk_from(&q->w, g, &r->e, 1)) return false;
    for (size_t k = 0; k < q->w.count; k++) {
        const expr_node *n = graph_node(g, q->w.order[k]);
        if (n->op != EXPR_VARIABLE || !unnamed(q->set, n->index, n->order)) continue;
        r->open++;
        *leaf = q->w.order[k];
    }
    return true;
}

/* ---- solving for a derivative ---- */

typedef struct leaf_search {
    const expr_node *wanted;
    bool found, varies;
} leaf_search;

static void look_at_leaf(void *context, const expr_node *leaf)
{
    leaf_search *s = context;
    if (leaf == s->wanted) s->found = true;
    if (leaf->op == EXPR_VARIABLE || leaf->op == EXPR_TIME) s->varies = true;
}

/* d e / d leaf if e is linear in leaf, EXPR_NONE if not; *varies: it is no constant. */
static expr linear_coefficient(graph *g, expr e, expr leaf, bool *varies)
{
    expr coefficient = derive_partial(g, e, leaf);
    leaf_search search = {.wanted = graph_node(g, leaf)};
    if (coefficient == EXPR_NONE || graph_is_number(g, coefficient, 0.0)) return EXPR_NONE;
    if (!graph_leaves(g, &coefficient, 1, look_at_leaf, &search) || search.found) return EXPR_NONE;
    *varies = search.varies;
    return coefficient;
}

static expr map_to_zero(void *context, graph *g, expr leaf)
{
    return leaf == *(const expr *)context ? graph_constant(g, 0.0) : leaf;
}

/* leaf := -(e without it) / coefficient, by row i */
static bool solve_row(elimination *q, int i, expr leaf, expr coefficient)
{
    graph *g = q->set->graph;
    const expr_node *n = graph_node(g, leaf);
    expr *value = solution_of(q, n);
    expr rest = graph_substitute(g, q->row[i].e, map_to_zero, &leaf);
    rest = tidy_sum(g, rest);
    expr e = graph_binary(g, EXPR_DIV, graph_unary(g, EXPR_NEG, rest), coefficient);
    if (e == EXPR_NONE) return false;
    if (!value || size_of(q, e) > LARGEST) {
        q->row[i].closed = true;
        return true;
    }
    q->row[i].pivot = true;
    *value = e;
    q->solved_by[value - q->solution] = i;
    return true;
}

/* ---- the order of elimination ---- */

/* Rows of one kind that wait: with one open derivative, or with several. */
typedef struct row_stack {
    int *row;
    int count;
} row_stack;

/* How gladly a row is solved for its derivative: rows that were differentiated less go first, those
 * with a constant coefficient before others. */
typedef struct agenda {
    row_stack *class; /* by 2 * times + varies */
    int classes;
    int *memory;
} agenda;

static bool agenda_new(agenda *a, const elimination *q)
{
    size_t m = (size_t)q->set->m;
    int most = 0;
    for (size_t i = 0; i < m; i++)
        if (q->s->c[i] > most) most = q->s->c[i];
    a->classes = 2 * (most + 1);
    a->class = DAE_ARRAY(row_stack, a->classes);
    a->memory = DAE_ARRAY(int, (size_t)a->classes *(m + 1));
    if (!a->class || !a->memory) return false;
    for (int k = 0; k < a->classes; k++) a->class[k].row = a->memory + (size_t)k * (m + 1);
    return true;
}

static void agenda_free(agenda *a)
{
    dae_free_all(a->class, a->memory);
}

static void agenda_add(agenda *a, int class, int row)
{
    row_stack *s = &a->class[class];
    s->row[s->count++] = row;
}

static int agenda_take(agenda *a)
{
    for (int k = 0; k < a->classes; k++)
        if (a->class[k].count > 0) return a->class[k].row[--a->class[k].count];
    return -1;
}

/* Put row i where it belongs, if it has exactly one derivative. */
static bool schedule(elimination *q, agenda *a, int i)
{
    stage_row *r = &q->row[i];
    expr leaf = EXPR_NONE;
    bool varies = false;
    if (!settle_row(q, r, &leaf)) return false;
    if (r->open != 1 || r->closed || r->queued) return true;
    if (linear_coefficient(q->set->graph, r->e, leaf, &varies) == EXPR_NONE)
        r->closed = true;
    else
        agenda_add(a, 2 * r->times + varies, i);
    r->queued = !r->closed;
    return !graph_failed(q->set->graph);
}

/* Solve row i for one of its derivatives, and tell the rows that contain it. */
static bool eliminate_by(elimination *q, agenda *a, int i)
{
    stage_row *r = &q->row[i];
    expr leaf = EXPR_NONE;
    bool varies = false;
    r->queued = false;
    if (!settle_row(q, r, &leaf)) return false;
    if (r->open == 0 || r->closed || r->pivot) return true;
    expr coefficient = linear_coefficient(q->set->graph, r->e, leaf, &varies);
    if (coefficient == EXPR_NONE) {
        r->closed = true;
        return !graph_failed(q->set->graph);
    }
    if (!solve_row(q, i, leaf, coefficient)) return false;
    int j = graph_node(q->set->graph, leaf)->index;
    for (int k = q->column_start[j]; r->pivot && k < q->column_start[j + 1]; k++) {
        stage_row *other = &q->row[q->column_row[k]];
        if (other->e == EXPR_NONE || other->pivot || other->closed) continue;
        if (!schedule(q, a, q->column_row[k])) return false;
    }
    return true;
}

/* The row with the fewest derivatives, at least two, differentiated least; -1: none */
static int choose_row(const elimination *q)
{
    int best = -1;
    for (int i = 0; i < q->set->m; i++) {
        const stage_row *r = &q->row[i];
        if (r->e == EXPR_NONE || r->pivot || r->closed || r->open < 2) continue;
        const stage_row *b = best < 0 ? NULL : &q->row[best];
        if (!b || r->times < b->times || (r->times == b->times && r->open < b->open)) best = i;
    }
    return best;
}

static bool eliminate_stage(elimination *q, agenda *a)
{
    for (int i = q->set->m - 1; i >= 0; i--)
        if (q->row[i].e != EXPR_NONE && !schedule(q, a, i)) return false;
    for (;;) {
        int i = agenda_take(a);
        if (i < 0 && q->choices++ < MOST_CHOICES) i = choose_row(q);
        if (i < 0) return true;
        if (!eliminate_by(q, a, i)) return false;
    }
}

/* ---- what is left ---- */

static bool list_constraint(constraint_list *list, const constraint *c)
{
    if (!dae_grow(&list->item, &list->capacity, (size_t)list->count + 1, sizeof *c)) return false;
    list->item[list->count++] = *c;
    return true;
}

static int by_number(const int *a, int n, int x)
{
    int at = n;
    while (at > 0 && a[at - 1] > x) at--;
    return at;
}

static void sort_used(constraint *c)
{
    int known = c->used_count < CONSTRAINT_SOURCES ? c->used_count : CONSTRAINT_SOURCES;
    for (int k = 1; k < known; k++) {
        int x = c->used[k], at = by_number(c->used, k, x);
        memmove(&c->used[at + 1], &c->used[at], (size_t)(k - at) * sizeof *c->used);
        c->used[at] = x;
    }
}

/* One constraint of row i, unless it says nothing. */
static bool collect_row(elimination *q, int i)
{
    graph *g = q->set->graph;
    stage_row *r = &q->row[i];
    expr e = tidy_equation(g, r->e);
    if (e == EXPR_NONE) return false;
    if (graph_is_constant(g, e, NULL)) return true;
    constraint c = {.residual = e,
                    .row = i,
                    .times = r->times,
                    .hidden = true,
                    .derivatives = r->open > 0,
                    .used_count = r->used_count};
    memcpy(c.used, r->used, sizeof c.used);
    sort_used(&c);
    if (r->open == 0) r->e = e;
    return list_constraint(q->list, &c);
}

/* So many rows of the stage must be constraints, beyond those without derivatives: there are not
 * enough derivatives for the others. */
static int count_missing(const elimination *q)
{
    int missing = 0;
    for (int i = 0; i < q->set->m; i++)
        missing += q->row[i].e != EXPR_NONE && (q->row[i].pivot || q->row[i].open > 0);
    for (int j = 0; j < q->set->n; j++)
        missing -= q->s->d[j] > q->stage && unnamed(q->set, j, q->s->d[j] - q->stage);
    return missing;
}

/* Constraints among the rows of the stage: those without derivatives that the text does not say
 * anyway, and where elimination was not complete the most differentiated ones of the rest. */
static bool collect_stage(elimination *q)
{
    int missing = count_missing(q), most = 0;
    for (int i = 0; i < q->set->m; i++) {
        const stage_row *r = &q->row[i];
        bool written = r->times == 0 && !r->changed;
        if (r->e == EXPR_NONE || r->pivot || written) continue;
        if (r->open == 0 && !collect_row(q, i)) return false;
        if (r->times > most) most = r->times;
    }
    for (int times = most; times > 0 && missing > 0; times--)
        for (int i = 0; i < q->set->m && missing > 0; i++) {
            const stage_row *r = &q->row[i];
            if (r->e == EXPR_NONE || r->pivot || r->open == 0 || r->times != times) continue;
            if (!collect_row(q, i)) return false;
            missing--;
        }
    return true;
}

/* The equations of the next stage: one differentiation more of each. */
static bool next_stage(elimination *q)
{
    graph *g = q->set->graph;
    for (int i = 0; i < q->set->m; i++) {
        stage_row *r = &q->row[i];
        if (q->s->c[i] < q->stage) continue;
        bool first = r->e == EXPR_NONE;
        r->e = first ? q->set->row[i].residual : derive_time(g, r->e);
        if (r->e == EXPR_NONE) return false;
        r->times += !first;
        r->pivot = r->closed = false;
    }
    return true;
}

/* Equations that are constraints as they stand. */
static bool list_written(const equation_set *set, const structure *s, constraint_list *list)
{
    for (int i = 0; i < set->m; i++) {
        constraint c = {.residual = set->row[i].residual, .row = i};
        bool differential = false;
        for (int k = s->sigma.start[i]; k < s->sigma.start[i + 1]; k++)
            if (unnamed(set, s->sigma.column[k], s->sigma.order[k])) differential = true;
        if (s->c[i] > 0 && !differential && !list_constraint(list, &c)) return false;
    }
    return true;
}

bool constraints_find(const equation_set *set, const structure *s, constraint_list *list)
{
    elimination q;
    agenda a = {0};
    int stages = 0;
    *list = (constraint_list){0};
    bool ok = elimination_new(&q, set, s, list) && agenda_new(&a, &q) && list_written(set, s, list);
    for (int i = 0; i < set->m; i++)
        if (s->c[i] > stages) stages = s->c[i];
    if (ok)
        pattern_transpose(set->n, set->m, s->sigma.start, s->sigma.column, q.column_start,
                          q.column_row);
    for (q.stage = stages; ok && stages > 0 && q.stage >= 0; q.stage--) {
        q.choices = 0;
        ok = next_stage(&q) && eliminate_stage(&q, &a) && collect_stage(&q);
    }
    agenda_free(&a);
    elimination_free(&q);
    if (!ok) constraint_list_free(list);
    return ok;
}

void constraint_list_free(constraint_list *list)
{
    dae_free(list->item);
    *list = (constraint_list){0};
}
