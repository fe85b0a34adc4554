#include "solve/prepare/rank_blocks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "structure/index/equation_names.h"
#include "structure/rewrite/certificate.h"

void rank_watch_free(rank_watch *w)
{
    if (!w) return;
    dae_free_all(w->block, w->value, w->need, w->y);
    if (w->code.tape) code_free(&w->code);
    dae_free(w);
}

/* Room for entries and for the work of a determinant. False: memory */
static bool make_room(rank_watch *w)
{
    w->value = DAE_ARRAY(double, w->entries + LARGEST_WATCHED * LARGEST_WATCHED);
    w->dense = w->value ? w->value + w->entries : NULL;
    w->fresh = true;
    return w->value;
}

bool rank_watch_copy(const rank_watch *of, rank_watch **result)
{
    *result = NULL;
    if (!of) return true;
    rank_watch *w = DAE_NEW(rank_watch);
    if (!w) return false;
    *w = (rank_watch){.count = of->count, .entries = of->entries, .need_count = of->need_count};
    w->block = dae_copy(of->block, (size_t)of->count, sizeof *w->block);
    w->need =
        dae_copy(of->need, (size_t)(of->need_count > 0 ? of->need_count : 1), sizeof *w->need);
    if (w->block && w->need && make_room(w) && code_share(&w->code, &of->code))
        *result = w;
    else
        rank_watch_free(w);
    return *result;
}

int rank_watch_blocks(const rank_watch *w)
{
    return w ? w->count : 0;
}

/* ---- signs of expressions ---- */

/* What is known of a value whatever the leaves are. */
typedef enum sign_of { SIGN_OPEN = 0, SIGN_NOT_NEGATIVE, SIGN_POSITIVE } sign_of;

/* Expressions share their parts, and a walk that takes each of them as often as it is used may
 * have no end: nothing is known of an expression with more parts than these. */
enum { MOST_PARTS = 1000 };

static sign_of find_sign(const graph *g, expr e, int *parts_left);

static sign_of sign_of_product(const graph *g, const expr_node *n, int *parts_left)
{
    sign_of a = find_sign(g, n->a, parts_left), b = find_sign(g, n->b, parts_left);
    if (n->a == n->b) return a == SIGN_POSITIVE ? SIGN_POSITIVE : SIGN_NOT_NEGATIVE;
    if (a == SIGN_OPEN || b == SIGN_OPEN) return SIGN_OPEN;
    return a < b ? a : b;
}

static sign_of sign_of_power(const graph *g, const expr_node *n, int *parts_left)
{
    double power;
    if (find_sign(g, n->a, parts_left) == SIGN_POSITIVE) return SIGN_POSITIVE;
    bool even = graph_is_constant(g, n->b, &power) && fmod(power, 2.0) == 0.0 && power > 0.0;
    return even ? SIGN_NOT_NEGATIVE : SIGN_OPEN;
}

static sign_of find_sign(const graph *g, expr e, int *parts_left)
{
    const expr_node *n = graph_node(g, e);
    sign_of a, b;
    if ((*parts_left)-- <= 0) return SIGN_OPEN;
    switch (n->op) {
    case EXPR_CONSTANT: return n->value > 0.0 ? SIGN_POSITIVE : n->value == 0.0;
    case EXPR_EXP:
    case EXPR_COSH: return SIGN_POSITIVE;
    case EXPR_ABS:
    case EXPR_SQRT: return SIGN_NOT_NEGATIVE;
    case EXPR_ADD:
        a = find_sign(g, n->a, parts_left), b = find_sign(g, n->b, parts_left);
        if (a == SIGN_OPEN || b == SIGN_OPEN) return SIGN_OPEN;
        return a > b ? a : b;
    case EXPR_MUL:
    case EXPR_DIV: return sign_of_product(g, n, parts_left);
    case EXPR_POW: return sign_of_power(g, n, parts_left);
    default: return SIGN_OPEN;
    }
}

/* Whether e keeps its sign for certain: what it says of parameters holds for all steps. */
static bool keeps_sign(const graph *g, expr e, int *parts_left)
{
    const expr_node *n = graph_node(g, e);
    if ((*parts_left)-- <= 0) return false;
    if (n->op == EXPR_NEG) return keeps_sign(g, n->a, parts_left);
    if (n->op == EXPR_MUL || n->op == EXPR_DIV)
        return keeps_sign(g, n->a, parts_left) && keeps_sign(g, n->b, parts_left);
    if (n->op == EXPR_PARAMETER || n->op == EXPR_MEMORY) return true;
    return find_sign(g, e, parts_left) == SIGN_POSITIVE ||
           (n->op == EXPR_CONSTANT && n->value != 0.0);
}

/* ---- blocks ---- */

/* Entries over the unknowns of the base form. */
typedef struct collector {
    const equation_set *set;
    const structure *s;
    const system_jacobian *J;
    bool varies, reachable; /* of the entries walked over */
    int block;              /* at hand, */
    bool own;               /* and whether they depend on its unknowns */
} collector;

/* The variable of the model that x_j^(p), or x_j^(p-1), is; NULL: none */
static const equation_synonym *synonym_of(const equation_set *set, int j, int p)
{
    for (int k = equation_set_first_synonym(set, j); k < set->synonym_count; k++) {
        const equation_synonym *v = &set->synonym[k];
        if (v->variable != j) break;
        if (p == v->order || p == v->order + 1) return v;
    }
    return NULL;
}

/* VARIABLE(j, p) of the set as an unknown of the base form, or a derivative of one */
static expr base_leaf(void *context, graph *g, expr leaf)
{
    const equation_set *set = ((const collector *)context)->set;
    const expr_node n = *graph_node(g, leaf);
    if (n.op != EXPR_VARIABLE) return leaf;
    const equation_synonym *v = synonym_of(set, n.index, n.order);
    if (v) {
        expr e = graph_variable(g, v->model, n.order - v->order);
        return v->sign < 0 ? graph_unary(g, EXPR_NEG, e) : e;
    }
    return graph_variable(g, set->model[n.index], n.order);
}

static bool is_reachable(const equation_set *set, int j, int order)
{
    if (synonym_of(set, j, order)) return true;
    return set->model[j] >= 0 && order <= 1;
}

static void note_leaf(void *context, const expr_node *n)
{
    collector *c = context;
    if (n->op == EXPR_VARIABLE || n->op == EXPR_TIME) c->varies = true;
    if (n->op == EXPR_VARIABLE && c->s->blocks.of_column[n->index] == c->block)
        c->own = c->own || n->order == c->s->d[n->index];
    if (n->op == EXPR_VARIABLE && !is_reachable(c->set, n->index, n->order)) c->reachable = false;
}

static int place_in(const block_form *f, int b, int column)
{
    int k = f->start[b];
    while (f->columns[k] != column) k++;
    return k - f->start[b];
}

/* Whether block b can and need be watched. False in *ok: memory */
static bool is_worth_it(collector *c, int b, bool *ok)
{
    const block_form *f = &c->s->blocks;
    int size = f->start[b + 1] - f->start[b];
    if (size > LARGEST_WATCHED) return false;
    c->varies = c->own = false;
    c->reachable = true;
    c->block = b;
    for (int k = f->start[b]; k < f->start[b + 1]; k++)
        for (int e = c->J->start[f->rows[k]]; e < c->J->start[f->rows[k] + 1]; e++) {
            if (f->of_column[c->J->column[e]] != b) continue;
            *ok = *ok && graph_leaves(c->set->graph, &c->J->entry[e], 1, note_leaf, c);
            int parts_left = MOST_PARTS;
            if (size == 1 && keeps_sign(c->set->graph, c->J->entry[e], &parts_left)) return false;
        }
    return c->varies && c->reachable;
}

/* VARIABLE(j, p) among y, y' of the base form, which has n of each; -1: it is not there */
static int base_place(const equation_set *set, int j, int p, int n)
{
    const equation_synonym *v = synonym_of(set, j, p);
    if (v) return v->model + (p - v->order) * n;
    return set->model[j] >= 0 && p <= 1 ? set->model[j] + p * n : -1;
}

static void describe_block(const collector *c, int b, int n, rank_block *w)
{
    const block_form *f = &c->s->blocks;
    char name[160];
    text_list rows = {.text = w->rows, .size = WATCHED_NAMES, .most = 4};
    text_list of = {.text = w->of, .size = WATCHED_NAMES, .most = 4};
    w->leading = true;
    w->line = c->set->row[f->rows[f->start[b]]].line;
    for (int k = 0; k < w->size; k++) {
        int i = f->rows[f->start[b] + k], j = f->columns[f->start[b] + k], p = c->s->d[j];
        if (p == 0) w->leading = false;
        w->unknown[k] = base_place(c->set, j, p, n);
        text_list_add(&rows, "%.90s", c->set->row[i].name);
        const char *unknown = equation_set_variable(c->set, j, p, name, sizeof name);
        text_list_add(&of, "%.90s", unknown[0] == '-' ? unknown + 1 : unknown);
    }
    text_list_end(&rows);
    text_list_end(&of);
}

/* Entries of block b by columns, zeros too, behind those that are there. */
static void put_entries(collector *c, int b, rank_block *w, expr *entry)
{
    graph *g = c->set->graph;
    const block_form *f = &c->s->blocks;
    expr *to = entry + w->first;
    for (int k = 0; k < w->size * w->size; k++) to[k] = graph_constant(g, 0.0);
    for (int k = 0; k < w->size; k++) {
        int row = f->rows[f->start[b] + k];
        for (int e = c->J->start[row]; e < c->J->start[row + 1]; e++) {
            int column = c->J->column[e];
            if (f->of_column[column] != b) continue;
            to[k + place_in(f, b, column) * w->size] =
                graph_substitute(g, c->J->entry[e], base_leaf, c);
        }
    }
}

/* The blocks, their entries in `entry`, which has room for WATCHED_ENTRIES. */
static bool collect_blocks(rank_watch *w, collector *c, int n, expr *entry)
{
    const block_form *f = &c->s->blocks;
    bool ok = true;
    for (int b = 0; b < f->count && ok; b++) {
        int size = f->start[b + 1] - f->start[b];
        if (!is_worth_it(c, b, &ok) || w->entries + size * size > WATCHED_ENTRIES) continue;
        rank_block *next = &w->block[w->count++];
        *next = (rank_block){.size = size, .first = w->entries};
        w->entries += size * size;
        describe_block(c, b, n, next);
        next->own = c->own;
        put_entries(c, b, next, entry);
    }
    return ok && !graph_failed(c->set->graph);
}

static void add_need(rank_watch *w, int unknown, bool slope)
{
    if (w->need) w->need[w->need_count] = (needed){unknown, slope};
    w->need_count++;
}

static void note_need(void *context, const expr_node *n)
{
    if (n->op == EXPR_VARIABLE) add_need(context, n->index, n->order > 0);
}

/* What entries depend on, and the unknowns of blocks that may come to rest. */
static bool note_needs(rank_watch *w, const graph *g, const expr *entry, int n)
{
    w->need_count = 0;
    for (int b = 0; b < w->count; b++)
        for (int k = 0; w->block[b].own && k < w->block[b].size; k++) {
            int at = w->block[b].unknown[k];
            if (at >= 0) add_need(w, at % n, at >= n);
        }
    return graph_leaves(g, entry, (size_t)w->entries, note_need, w);
}

/* These are counted first, then noted. */
static bool list_needs(rank_watch *w, const graph *g, const expr *entry, int n)
{
    if (!note_needs(w, g, entry, n)) return false;
    w->need = DAE_ARRAY(needed, w->need_count > 0 ? w->need_count : 1);
    return w->need && note_needs(w, g, entry, n);
}

bool rank_watch_new(rank_watch **result, const analysed *a, int n)
{
    graph *g = a->set.graph;
    system_jacobian own = {0};
    const system_jacobian *J = a->jacobian ? a->jacobian : &own;
    rank_watch *w = DAE_NEW(rank_watch);
    expr *entry = DAE_ARRAY(expr, WATCHED_ENTRIES);
    *result = NULL;
    bool ok = w && entry && (J != &own || system_jacobian_new(&own, &a->set, &a->structure));
    collector c = {.set = &a->set, .s = &a->structure, .J = J};
    int most =
        a->structure.blocks.count < WATCHED_ENTRIES ? a->structure.blocks.count : WATCHED_ENTRIES;
    if (ok) w->block = DAE_ARRAY(rank_block, most > 0 ? most : 1);
    ok = ok && w->block && collect_blocks(w, &c, n, entry);
    if (ok && w->count > 0) {
        ok = code_new(&w->code, g, entry, (size_t)w->entries) && list_needs(w, g, entry, n) &&
             make_room(w);
    }
    system_jacobian_free(&own);
    dae_free(entry);
    if (ok && w->count > 0)
        *result = w;
    else
        rank_watch_free(w);
    return ok;
}

void rank_watch_persist(rank_watch *watch, persist *p)
{
    persist_same(p, (uint64_t)rank_watch_blocks(watch), "other blocks of equations are watched");
    if (!watch) return;
    for (int k = 0; k < watch->count; k++) {
        rank_block *b = &watch->block[k];
        PERSIST_STRUCT(p, b, GAPS(rank_block, size, own), GAP(rank_block, unknown),
                       GAPS(rank_block, rows, line));
    }
    PERSIST(p, watch->t);
    PERSIST(p, watch->fresh);
}
