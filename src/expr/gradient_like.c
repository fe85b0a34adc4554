#include "expr/gradient_like.h"

#include "base/memory.h"
#include "expr/hash.h"
#include "expr/intern.h"
#include "expr/sort_nodes.h"

#include <string.h>

enum {
    SHAPES = 64,      /* that are kept, by their hash */
    MOST_NODES = 400, /* of an expression, and of its derivatives */
    OWN = 1 << 15     /* an operand that is a node of the derivatives, not of the expression */
};

/* A node of the expression; leaves but constants may differ. */
typedef struct like_node {
    uint8_t op, order;
    uint16_t operand[3];
    double value; /* of a CONSTANT */
} like_node;

/* A node of the derivatives that the expression does not have. */
typedef struct like_step {
    expr first;          /* in the first expression */
    uint16_t operand[3]; /* places in the expression, or OWN + steps before */
} like_step;

typedef struct like {
    uint64_t hash;
    bool again;      /* the shape has come twice: the rest is known */
    expr *order;     /* of the first expression's walk; owned, as all below */
    like_node *node; /* of the walk */
    size_t nodes;
    like_step *step;
    size_t steps;
    uint16_t *leaf, *derivative; /* places, as operands */
    size_t count;
} like;

struct gradient_likes {
    like shape[SHAPES];
    const graph *graph;    /* that they belong to, */
    size_t size;           /* and how large it was at least */
    uint64_t hash;         /* of the last expression that was looked for, and not found */
    const like *last;      /* the shape that was found last: neighbours are alike; NULL: none */
    expr made[MOST_NODES]; /* steps of the expression at hand */
};

gradient_likes *likes_new(void)
{
    return DAE_NEW(gradient_likes);
}

static void like_clear(like *k)
{
    dae_free_all(k->order, k->node, k->step, k->leaf);
    *k = (like){0};
}

void likes_free(gradient_likes *l)
{
    for (int k = 0; l && k < SHAPES; k++) like_clear(&l->shape[k]);
    dae_free(l);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static like_node node_of(const graph *g, const walk *w, size_t i)
{
    const expr_node *n = graph_node(g, w->order[i]);
    like_node out = {.op = n->op, .order = n->order};
    if (n->op == EXPR_CONSTANT) out.value = n->value;
    for (int k = 0; k < n->arity; k++) out.operand[k] = (uint16_t)walk_place(w, expr_operand(n, k));
    return out;
}

/* 0: no shape that is kept */
static uint64_t hash_of(const graph *g, const walk *w)
{
    uint64_t h = w->count;
    if (w->count > MOST_NODES) return 0;
    for (size_t i = 0; i < w->count; i++) {
        const like_node n = node_of(g, w, i);
        if (n.op >= EXPR_OP_COUNT) return 0; /* loops of the run, signals */
        h = hash_mix(h, (uint64_t)n.op << 56 | (uint64_t)n.order << 48 |
                            (uint64_t)n.operand[0] << 32 | (uint64_t)n.operand[1] << 16 |
                            n.operand[2]);
        if (n.op == EXPR_CONSTANT) h = hash_mix(h, bits_of(n.value));
    }
    return h ? h : 1;
}

static bool has_shape(const like *k, const graph *g, const walk *w)
{
    if (!k->again || k->nodes != w->count) return false;
    for (size_t i = 0; i < w->count; i++) {
        const expr_node *n = graph_node(g, w->order[i]);
        const like_node *b = &k->node[i];
        if (n->op != b->op || n->order != b->order) return false;
        if (n->op == EXPR_CONSTANT && bits_of(n->value) != bits_of(b->value)) return false;
        for (int o = 0; o < n->arity; o++)
            if (walk_place(w, expr_operand(n, o)) != b->operand[o]) return false;
    }
    return true;
}

/* ---- using one ------------------------------------------------------------------------------- */

static expr operand_at(const gradient_likes *l, const walk *w, uint16_t place)
{
    return place & OWN ? l->made[place - OWN] : w->order[place];
}

static expr first_at(const like *k, uint16_t place)
{
    return place & OWN ? k->step[place - OWN].first : k->order[place];
}

/* Step i for the expression at hand; what has the operands of the first is the same. */
static expr make_step(const gradient_likes *l, const like *k, graph *g, const walk *w, size_t i)
{
    const like_step *s = &k->step[i];
    const expr_node *n = graph_node(g, s->first);
    expr operand[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
    bool same = true;
    for (int o = 0; o < n->arity; o++) {
        operand[o] = operand_at(l, w, s->operand[o]);
        same = same && operand[o] == first_at(k, s->operand[o]);
    }
    return same ? s->first : graph_build(g, n->op, operand[0], operand[1], operand[2]);
}

/* Leaves in increasing order, as derive_gradient has them. */
static void insert_sorted(gradient *out, expr leaf, expr derivative)
{
    size_t at = out->count++;
    for (; at > 0 && out->leaf[at - 1] > leaf; at--) {
        out->leaf[at] = out->leaf[at - 1];
        out->derivative[at] = out->derivative[at - 1];
    }
    out->leaf[at] = leaf;
    out->derivative[at] = derivative;
}

/* Nodes of another graph mean nothing. */
static void keep_to(gradient_likes *l, const graph *g)
{
    const bool other = l->graph != g || graph_size(g) < l->size;
    for (int k = 0; k < SHAPES && other; k++) like_clear(&l->shape[k]);
    if (other) l->last = NULL;
    l->graph = g;
    l->size = graph_size(g);
}

/* The shape of an expression; NULL: it is none of those that are kept. */
static const like *find_like(gradient_likes *l, const graph *g, const walk *w)
{
    if (l->last && has_shape(l->last, g, w)) return l->last;
    l->hash = hash_of(g, w);
    const like *k = &l->shape[l->hash % SHAPES];
    if (!l->hash || k->hash != l->hash || !has_shape(k, g, w)) return NULL;
    l->last = k;
    return k;
}

bool likes_find(gradient_likes *l, graph *g, const walk *w, gradient *out)
{
    keep_to(l, g);
    const like *k = find_like(l, g, w);
    if (!k) return false;
    for (size_t i = 0; i < k->steps; i++) l->made[i] = make_step(l, k, g, w, i);
    out->count = 0;
    for (size_t i = 0; i < k->count; i++)
        insert_sorted(out, operand_at(l, w, k->leaf[i]), operand_at(l, w, k->derivative[i]));
    return true;
}

/* ---- keeping one ----------------------------------------------------------------------------- */

/* The nodes of the derivatives that the expression does not have, in increasing order: operands
 * before parents. */
typedef struct recorder {
    const graph *g;
    const walk *w;
    expr list[MOST_NODES];
    size_t count;
} recorder;

static bool is_own(const recorder *r, expr e)
{
    return e < r->w->room && walk_reached(r->w, e);
}

/* Add a node to the list and what it needs; false: it cannot be kept. Lists are short. */
static bool add_node(recorder *r, expr root)
{
    expr stack[3 * MOST_NODES];
    size_t depth = 0;
    stack[depth++] = root;
    while (depth > 0) {
        const expr e = stack[--depth];
        size_t at = 0;
        while (at < r->count && r->list[at] != e) at++;
        if (at < r->count || is_own(r, e)) continue;
        const expr_node *n = graph_node(r->g, e);
        if (n->op >= EXPR_OP_COUNT || r->count == MOST_NODES) return false;
        if (n->arity == 0 && n->op != EXPR_CONSTANT) return false;
        r->list[r->count++] = e;
        for (int k = 0; k < n->arity; k++) stack[depth++] = expr_operand(n, k);
    }
    return true;
}

/* Where a node stands: in the expression, or among the steps. */
static uint16_t place_of(const recorder *r, expr e)
{
    if (is_own(r, e)) return (uint16_t)walk_place(r->w, e);
    size_t at = 0;
    while (r->list[at] != e) at++;
    return (uint16_t)(OWN + at);
}

static bool allocate(like *k, size_t nodes, size_t steps, size_t count)
{
    k->order = DAE_ARRAY(expr, nodes);
    k->node = DAE_ARRAY(like_node, nodes);
    k->step = DAE_ARRAY(like_step, steps);
    k->leaf = DAE_ARRAY(uint16_t, 2 * count);
    k->derivative = k->leaf ? k->leaf + count : NULL;
    return k->order && k->node && k->step && k->leaf;
}

static bool record(recorder *r, like *k, const gradient *of)
{
    const walk *w = r->w;
    for (size_t i = 0; i < of->count; i++)
        if (!add_node(r, of->derivative[i])) return false;
    sort_nodes(r->list, r->count);
    if (!allocate(k, w->count, r->count, of->count)) return false;
    for (size_t i = 0; i < w->count; i++) k->node[i] = node_of(r->g, w, i);
    memcpy(k->order, w->order, w->count * sizeof *k->order);
    k->nodes = w->count;
    k->steps = r->count;
    k->count = of->count;
    for (size_t i = 0; i < r->count; i++) {
        const expr_node *n = graph_node(r->g, r->list[i]);
        k->step[i].first = r->list[i];
        for (int o = 0; o < n->arity; o++) k->step[i].operand[o] = place_of(r, expr_operand(n, o));
    }
    for (size_t i = 0; i < of->count; i++) {
        k->leaf[i] = (uint16_t)walk_place(w, of->leaf[i]);
        k->derivative[i] = place_of(r, of->derivative[i]);
    }
    return true;
}

void likes_keep(gradient_likes *l, const graph *g, const walk *w, const gradient *of)
{
    like *k = &l->shape[l->hash % SHAPES];
    if (!l->hash) return;
    if (k->hash != l->hash) { /* the first time: most shapes do not come again */
        like_clear(k);
        k->hash = l->hash;
        return;
    }
    if (k->again) return; /* another shape with this hash */
    recorder r = {.g = g, .w = w};
    k->again = record(&r, k, of);
    if (!k->again) like_clear(k);
}
