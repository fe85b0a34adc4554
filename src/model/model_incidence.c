#include "model/model_incidence.h"

#include <stdlib.h>

#include "base/memory.h"
#include "expr/walk.h"
#include "structure/index/matching.h"

/* ---- the pattern ---- */

typedef struct leaf_scan {
    const build *b;
    int *order;   /* per variable: 1 + its highest order in the equation at hand, 0: absent */
    int *touched; /* variables of that equation */
    int count;
} leaf_scan;

/* The variables that stand for those of equation i. */
static void note_variables(leaf_scan *s, int i)
{
    const signature *c = &s->b->contents;
    s->count = 0;
    for (int sign, k = c->start[i]; k < c->start[i + 1]; k++) {
        int root = model_alias_root(s->b->f, c->column[k], &sign);
        if (s->b->f->alias[root].value != EXPR_NONE) continue;
        if (s->order[root] == 0) s->touched[s->count++] = root;
        if (c->order[k] + 1 > s->order[root]) s->order[root] = c->order[k] + 1;
    }
}

static int by_number(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

/* Without aliases they are sorted, as contents are. */
static bool is_sorted(const leaf_scan *s)
{
    for (int k = 1; k < s->count; k++)
        if (s->touched[k - 1] > s->touched[k]) return false;
    return true;
}

/* The variables of equation i behind those of the equations before it. */
static bool add_row(incidence *in, leaf_scan *s, int i, size_t room[2])
{
    signature *g = &in->sigma;
    int at = g->start[i];
    note_variables(s, i);
    size_t needed = (size_t)at + (size_t)s->count;
    if (!dae_grow(&g->column, &room[0], needed, sizeof *g->column) ||
        !dae_grow(&g->order, &room[1], needed, sizeof *g->order))
        return false;
    if (!is_sorted(s)) qsort(s->touched, (size_t)s->count, sizeof *s->touched, by_number);
    for (int k = 0; k < s->count; k++) {
        int root = s->touched[k], order = s->order[root] - 1;
        g->column[at + k] = root;
        g->order[at + k] = order;
        in->slopes[i] |= order > 0;
        if (order > in->highest[root]) in->highest[root] = order;
        s->order[root] = 0;
    }
    g->start[i + 1] = at + s->count;
    return true;
}

static bool add_rows(incidence *in, const build *b)
{
    int nv = in->sigma.n;
    size_t room[2] = {0, 0};
    leaf_scan s = {b, DAE_ARRAY(int, nv), DAE_ARRAY(int, nv), 0};
    bool ok = s.order && s.touched;
    for (int i = 0; ok && i < in->sigma.m; i++) {
        in->sigma.start[i + 1] = in->sigma.start[i];
        if (!b->gone[i]) ok = add_row(in, &s, i, room);
    }
    dae_free_all(s.order, s.touched);
    return ok;
}

/* The transposed pattern. */
static bool add_columns(incidence *in)
{
    const signature *g = &in->sigma;
    in->equations_start = DAE_ARRAY(int, g->n + 2);
    in->equations = DAE_ARRAY(int, g->start[g->m]);
    if (!in->equations_start || !in->equations) return false;
    int *fill = in->equations_start + 1;
    for (int k = 0; k < g->start[g->m]; k++) fill[g->column[k] + 1]++;
    for (int v = 0; v < g->n; v++) fill[v + 1] += fill[v];
    for (int i = 0; i < g->m; i++)
        for (int k = g->start[i]; k < g->start[i + 1]; k++) in->equations[fill[g->column[k]]++] = i;
    return true;
}

bool incidence_new(incidence *in, const build *b)
{
    const flat_model *m = b->f->flat;
    *in = (incidence){.sigma = {.m = (int)m->equation_count, .n = (int)m->variable_count}};
    in->sigma.start = DAE_ARRAY(int, m->equation_count + 1);
    in->highest = DAE_ARRAY(int, m->variable_count);
    in->slopes = DAE_ARRAY(bool, m->equation_count);
    return in->sigma.start && in->highest && in->slopes && add_rows(in, b) && add_columns(in);
}

void incidence_free(incidence *in)
{
    signature_free(&in->sigma);
    dae_free_all(in->equations_start, in->equations, in->highest, in->slopes);
}

/* ---- what may leave ---- */

/* The equations and variables that stay, numbered through. */
typedef struct compact {
    int rows, columns;
    int *row, *column; /* of flat equations and variables, -1: none; owned */
} compact;

static bool compact_new(compact *q, const build *b, const incidence *in)
{
    const flat_model *m = b->f->flat;
    *q = (compact){.row = DAE_ARRAY(int, in->sigma.m), .column = DAE_ARRAY(int, in->sigma.n)};
    if (!q->row || !q->column) return false;
    for (int i = 0; i < in->sigma.m; i++) q->row[i] = b->gone[i] ? -1 : q->rows++;
    for (int v = 0; v < in->sigma.n; v++) {
        bool lives = !m->variables[v].discrete && b->f->alias[v].top == v &&
                     b->f->alias[v].value == EXPR_NONE;
        q->column[v] = lives ? q->columns++ : -1;
    }
    return true;
}

static void compact_free(compact *q)
{
    dae_free_all(q->row, q->column);
}

/* Whether what an equation contains may depend on what is held between events. */
static bool changes_with_mode(const build *b, bool *found)
{
    const flat_model *m = b->f->flat;
    const graph *g = m->graph;
    walk w = {0};
    bool ok = true;
    *found = false;
    for (size_t i = 0; ok && i < m->equation_count && !*found && m->memory_count > 0; i++) {
        if (b->gone[i]) continue;
        ok = walk_from(&w, g, &m->equations[i].residual, 1);
        for (size_t k = 0; ok && k < w.count && !*found; k++) {
            const expr_node *node = graph_node(g, w.order[k]);
            if (node->op == EXPR_SELECT) ok = graph_reads(g, &node->a, 1, 1u << EXPR_MEMORY, found);
        }
    }
    walk_free(&w);
    return ok;
}

/* The signature over what stays. */
static bool compact_signature(signature *s, const incidence *in, const compact *q)
{
    const signature *g = &in->sigma;
    int entries = g->start[g->m];
    *s = (signature){.m = q->rows,
                     .n = q->columns,
                     .start = DAE_ARRAY(int, q->rows + 1),
                     .column = DAE_ARRAY(int, entries),
                     .order = DAE_ARRAY(int, entries)};
    if (!s->start || !s->column || !s->order) return false;
    for (int i = 0; i < g->m; i++)
        if (q->row[i] >= 0) s->start[q->row[i] + 1] = g->start[i + 1];
    for (int k = 0; k < entries; k++) {
        s->column[k] = q->column[g->column[k]];
        s->order[k] = g->order[k];
    }
    return true;
}

/* The structure of what stays. */
typedef struct whole {
    compact q;
    signature s;
    int *match, *c, *d; /* owned */
} whole;

/* match and offsets where each equation has a variable of its own in its highest derivative: c = 0,
 * d = that derivative. *found: it is so */
static bool match_index_one(whole *w, const incidence *in, bool *found)
{
    const signature *s = &w->s;
    size_t *start = DAE_ARRAY(size_t, s->m + 1), kept = 0;
    int *column = DAE_ARRAY(int, s->start[s->m]);
    matching m = {0};
    bool ok = start && column;
    for (int v = 0; ok && v < in->sigma.n; v++)
        if (w->q.column[v] >= 0) w->d[w->q.column[v]] = in->highest[v];
    for (int i = 0; ok && i < s->m; i++) {
        for (int k = s->start[i]; k < s->start[i + 1]; k++)
            if (s->order[k] == w->d[s->column[k]]) column[kept++] = s->column[k];
        start[i + 1] = kept;
    }
    ok = ok && matching_new(&m, start, column, s->m, s->n);
    *found = ok && s->m == s->n;
    for (int r = 0; *found && r < s->m; r++) *found = matching_add(&m, r);
    for (int j = 0; *found && j < s->n; j++) w->match[m.row_of[j]] = j;
    matching_free(&m);
    dae_free_all(start, column);
    return ok;
}

/* match and offsets of whatever it is */
static signature_status match_any(whole *w)
{
    signature_status status = signature_transversal(&w->s, w->match);
    return status == SIGNATURE_OK ? signature_offsets(&w->s, w->match, NULL, w->c, w->d) : status;
}

/* What was found, by the numbers of flat equations and variables. */
static bool write_back(elimination *e, const whole *w, const incidence *in)
{
    block_form blocks;
    e->c = DAE_ARRAY(int, in->sigma.m);
    e->d = DAE_ARRAY(int, in->sigma.n);
    e->row_block = DAE_ARRAY(int, in->sigma.m);
    e->column_block = DAE_ARRAY(int, in->sigma.n);
    if (!e->c || !e->d || !e->row_block || !e->column_block) return false;
    if (!block_form_new(&blocks, &w->s, w->match, w->c, w->d)) return false;
    for (int i = 0; i < in->sigma.m; i++) {
        int row = w->q.row[i];
        e->row_block[i] = row < 0 ? -1 : blocks.of_row[row];
        e->c[i] = row < 0 ? 0 : w->c[row];
    }
    for (int v = 0; v < in->sigma.n; v++) {
        int column = w->q.column[v];
        e->column_block[v] = column < 0 ? -2 : blocks.of_column[column];
        e->d[v] = column < 0 ? 0 : w->d[column];
    }
    block_form_free(&blocks);
    return true;
}

static bool find_structure(elimination *e, const build *b, const incidence *in, whole *w)
{
    bool simple, modes;
    if (!compact_new(&w->q, b, in) || !compact_signature(&w->s, in, &w->q)) return false;
    w->match = DAE_ARRAY(int, w->s.m);
    w->c = DAE_ARRAY(int, w->s.m);
    w->d = DAE_ARRAY(int, w->s.n);
    if (!w->match || !w->c || !w->d || !match_index_one(w, in, &simple)) return false;
    e->rule = simple ? ELIMINATE_ALL : ELIMINATE_TIGHT;
    signature_status status = simple ? SIGNATURE_OK : match_any(w);
    if (status == SIGNATURE_SINGULAR) e->rule = ELIMINATE_NONE;
    if (status != SIGNATURE_OK) return status != SIGNATURE_MEMORY;
    if (!changes_with_mode(b, &modes)) return false;
    if (modes) e->rule = ELIMINATE_SINGLE;
    return write_back(e, w, in);
}

bool elimination_new(elimination *e, const build *b, const incidence *in)
{
    whole w = {0};
    *e = (elimination){0};
    bool ok = find_structure(e, b, in, &w);
    compact_free(&w.q);
    signature_free(&w.s);
    dae_free_all(w.match, w.c, w.d);
    return ok;
}

void elimination_free(elimination *e)
{
    dae_free_all(e->c, e->d, e->row_block, e->column_block);
}

bool elimination_allows(const elimination *e, int v, int equation, int others, int users)
{
    if (e->rule == ELIMINATE_ALL || others <= 1 || users <= 1) return true;
    return e->rule == ELIMINATE_TIGHT && e->c[equation] == e->d[v];
}
