/* Nodes: stored once each, with their bodies of loops; what one operation computes. */
#define _XOPEN_SOURCE 700 /* recursive mutexes */
#include "expr/graph.h"

#include "base/memory.h"
#include "expr/hash.h"
#include "expr/intern.h"
#include "expr/memo.h"
#include "expr/walk_pool.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum {
    LINE = 16,             /* slots side by side in the cache, */
    APART = 2,             /* and between operations whose last operands are neighbours */
    FIRST_TABLE = 1 << 6,  /* some graphs have but one expression, and are made by the thousand */
    LARGE_TABLE = 1 << 16, /* slots from which on a table is not kept between times of building */
    PAGE = 64,             /* variables with numbers side by side */
    DIRECT_ORDERS = 2,     /* x and der(x) are found by their numbers, */
    DIRECT_MOST = 1 << 24  /* those below this one */
};

/* A place for a node in the hash table, 0 if it is empty: its number in as many bits as numbers
 * need, and above them the bits of its hash there. A search looks at a node only if these agree:
 * nodes are far apart in memory. */
typedef uint32_t graph_slot;

/* The nodes of variables of one order by their numbers, page by page: NULL, and EXPR_NONE, where
 * there is none. */
typedef struct direct_nodes {
    expr **page; /* owned */
    size_t pages;
} direct_nodes;

struct graph {
    graph_nodes nodes;
    size_t block_count, directory;
    size_t size;       /* nodes, the unused number 0 included */
    size_t limit;      /* of size */
    graph_slot *table; /* open addressing, at most three quarters full; owned, NULL: released by
                          graph_tidy */
    size_t slots;      /* a power of two */
    size_t entered;    /* nodes in the table */
    uint32_t numbers;  /* bits of a slot that are its number: one less than a power of two */
    direct_nodes direct[DIRECT_ORDERS]; /* nodes that are not in the table, */
    bool direct_gone;                   /* unless they were released */
    graph_loop *loops;                  /* owned, with their arrays */
    size_t loop_count, loop_capacity;
    size_t loop_cells;     /* of all loops; they count as nodes */
    graph_signal *signals; /* owned */
    size_t signal_count, signal_capacity;
    bool failed;
    walk_pool *walks;     /* owned */
    memo *memo;           /* owned */
    pthread_mutex_t lock; /* recursive */
};

static const struct {
    const char *name;
    int arity;
} operators[EXPR_ALL_COUNT] = {
    [EXPR_CONSTANT] = {"constant", 0},
    [EXPR_TIME] = {"time", 0},
    [EXPR_VARIABLE] = {"variable", 0},
    [EXPR_PARAMETER] = {"parameter", 0},
    [EXPR_MEMORY] = {"memory", 0},
    [EXPR_CELL] = {"cell", 0},
#define ENTRY(name, operands, notation, value) [EXPR_##name] = {notation, operands},
    EXPR_OPERATIONS(ENTRY)
#undef ENTRY
        [EXPR_LIST] = {"list", 2},
    [EXPR_LOOP] = {"loop", 1},
    [EXPR_RESULT] = {"result", 1},
    [EXPR_SIGNAL] = {"signal", 2},
};

int graph_arity(expr_op op)
{
    return operators[op].arity;
}

const char *graph_op_name(expr_op op)
{
    return operators[op].name;
}

/* ---- storage -------------------------------------------------------------------------------- */

static bool add_block(graph *g)
{
    expr_node ***blocks = &g->nodes.blocks;
    if (!dae_grow(blocks, &g->directory, g->block_count + 1, sizeof **blocks)) return false;
    expr_node *block = dae_alloc(GRAPH_BLOCK, sizeof *block);
    if (!block) return false;
    g->nodes.blocks[g->block_count++] = block;
    return true;
}

static void start_lock(graph *g)
{
    pthread_mutexattr_t nests;
    pthread_mutexattr_init(&nests);
    pthread_mutexattr_settype(&nests, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&g->lock, &nests);
    pthread_mutexattr_destroy(&nests);
}

void graph_enter(graph *g)
{
    pthread_mutex_lock(&g->lock);
}

void graph_leave(graph *g)
{
    pthread_mutex_unlock(&g->lock);
}

/* Forget where variables are found. */
static void release_direct(graph *g)
{
    for (int k = 0; k < DIRECT_ORDERS; k++) {
        for (size_t i = 0; i < g->direct[k].pages; i++) dae_free(g->direct[k].page[i]);
        dae_free(g->direct[k].page);
        g->direct[k] = (direct_nodes){0};
    }
    g->direct_gone = true;
}

/* Forget where all other nodes are found; the next one looks for all of them. */
static void release_table(graph *g)
{
    dae_free(g->table);
    g->table = NULL;
}

void graph_tidy(graph *g)
{
    walk_pool_empty(g->walks);
    memo_empty(g->memo);
    if (g->slots < LARGE_TABLE) return;
    release_direct(g);
    release_table(g);
}

void graph_make_room(graph *g)
{
    if (g->table && g->slots >= LARGE_TABLE) graph_tidy(g);
}

void graph_recover(graph *g)
{
    g->failed = false;
}

graph *graph_new(void)
{
    graph *g = DAE_NEW(graph);
    if (!g) return NULL;
    g->size = 1; /* number 0 is EXPR_NONE */
    g->slots = FIRST_TABLE;
    g->numbers = FIRST_TABLE - 1;
    g->table = DAE_ARRAY(graph_slot, g->slots);
    g->walks = walk_pool_new();
    g->memo = memo_new();
    graph_set_limit(g, 0);
    start_lock(g);
    if (!g->table || !g->walks || !g->memo || !add_block(g)) {
        graph_free(g);
        return NULL;
    }
    g->nodes.blocks[0][EXPR_NONE] = (expr_node){.op = EXPR_CONSTANT, .value = NAN};
    return g;
}

void graph_free(graph *g)
{
    if (!g) return;
    pthread_mutex_destroy(&g->lock);
    for (size_t i = 0; i < g->block_count; i++) dae_free(g->nodes.blocks[i]);
    for (size_t i = 0; i < g->loop_count; i++) dae_free((void *)g->loops[i].next);
    walk_pool_free(g->walks);
    memo_free(g->memo);
    release_direct(g);
    release_table(g);
    dae_free_all(g->loops, g->signals, g->nodes.blocks, g);
}

bool graph_failed(const graph *g)
{
    return g->failed;
}

size_t graph_limit(const graph *g)
{
    return g->limit - 1;
}

void graph_set_limit(graph *g, size_t nodes)
{
    g->limit = nodes > 0 && nodes < UINT32_MAX ? nodes + 1 : UINT32_MAX;
}

walk_pool *graph_walks(const graph *g)
{
    return g->walks;
}

const expr *graph_recall(const graph *g, memo_kind kind, expr e, size_t *count)
{
    return memo_find(g->memo, kind, e, count);
}

bool graph_remember(const graph *g, memo_kind kind, expr e, size_t count, expr **items)
{
    enum { A_NODE = 2, ANYWAY = 1 << 12 }; /* small beside the nodes and their table */
    return memo_add(g->memo, kind, e, count, A_NODE * g->size + ANYWAY, items);
}

bool graph_try_enter(const graph *g)
{
    return pthread_mutex_trylock((pthread_mutex_t *)&g->lock) == 0;
}

size_t graph_size(const graph *g)
{
    return g->size;
}

static expr_node *node_at(const graph *g, size_t e)
{
    return &g->nodes.blocks[e >> GRAPH_BLOCK_BITS][e & (GRAPH_BLOCK - 1)];
}

/* ---- hash-consing --------------------------------------------------------------------------- */

/* The value of a constant is where other nodes have b and c: its bits stand for all of them. Those
 * of short numbers are the upper ones. */
static uint32_t hash_node(const expr_node *n)
{
    const uint64_t bits = bits_of(n->value);
    uint64_t h = hash_mix((uint64_t)n->op << 8 | n->order, (uint64_t)n->a << 32);
    return (uint32_t)hash_mix(h, bits ^ bits >> 29);
}

static bool same_node(const expr_node *m, const expr_node *n)
{
    return m->op == n->op && m->order == n->order && m->a == n->a &&
           bits_of(m->value) == bits_of(n->value);
}

static bool is_operation(const expr_node *n)
{
    return n->op >= EXPR_NEG && n->op < EXPR_OP_COUNT;
}

static bool holds(const graph *g, graph_slot at, const expr_node *n, uint32_t hash)
{
    return ((at ^ hash) & ~g->numbers) == 0 && same_node(node_at(g, at & g->numbers), n);
}

/* Whether a node is found by its number, and not in the table: most nodes that are asked for are
 * variables, and those of neighbours are neighbours in memory. */
static bool is_direct(const expr_node *n)
{
    return n->op == EXPR_VARIABLE && n->order < DIRECT_ORDERS && n->index >= 0 &&
           n->index < DIRECT_MOST;
}

/* Where the number of such a node stands; NULL: out of memory. */
static expr *direct_place(graph *g, const expr_node *n)
{
    direct_nodes *d = &g->direct[n->order];
    const size_t i = (size_t)n->index / PAGE;
    if (!dae_grow(&d->page, &d->pages, i + 1, sizeof *d->page)) return NULL;
    if (!d->page[i]) d->page[i] = DAE_ARRAY(expr, PAGE);
    return d->page[i] ? &d->page[i][n->index % PAGE] : NULL;
}

/* Where lines to be searched begin. A model's operations come in the order of their last operands,
 * and so do questions for them: those of neighbours are neighbours, so that a large table is read
 * line by line. Those of one last operand, products of all pairs, say, are neighbours by the other
 * one. */
typedef struct lines {
    size_t first, second, other, step; /* then other, other + step, .. by the hash */
} lines;

static lines lines_of(const expr_node *n, uint32_t hash)
{
    lines to = {hash, hash, hash, (hash >> 8 | 1) * (size_t)LINE};
    if (!is_operation(n)) return to;
    const expr last = n->a > n->b ? n->a : n->b, before = n->a > n->b ? n->b : n->a;
    to.first = (size_t)last * APART;
    to.second = (size_t)before * APART + (size_t)last * (LINE * (size_t)0x9E3779B1u);
    return to;
}

/* The slot of a node that is *n, or an empty one where it belongs. A line of slots after the other
 * is searched, each from some slot on and around. Nodes are never taken out: what is in front of
 * one stays full. */
static size_t find_slot(const graph *g, const expr_node *n, uint32_t hash)
{
    const lines at = lines_of(n, hash);
    size_t from = at.first;
    for (size_t search = 0;; search++) {
        const size_t line = from & (g->slots - LINE);
        for (size_t k = 0; k < LINE; k++) {
            const size_t i = line | ((from + k) & (LINE - 1));
            if (!g->table[i] || holds(g, g->table[i], n, hash)) return i;
        }
        from = search == 0 ? at.second : at.other + search * at.step;
    }
}

static void enter_slot(graph *g, size_t slot, expr e, uint32_t hash)
{
    g->table[slot] = e | (hash & ~g->numbers);
    g->entered++;
}

/* Note node e, or a variable where these are not known any more; false: out of memory. */
static bool enter_node(graph *g, expr e)
{
    const expr_node *n = node_at(g, e);
    if (!is_direct(n)) {
        const uint32_t hash = hash_node(n);
        enter_slot(g, find_slot(g, n, hash), e, hash);
        return true;
    }
    expr *place = g->direct_gone ? direct_place(g, n) : NULL;
    if (place) *place = e;
    return place || !g->direct_gone;
}

/* The table of all nodes there are, with room for as many again if it is full. Numbers have two
 * bits more than slots, as variables are not in the table: it is seldom made for lack of bits. The
 * old one goes first: together they would be what a model needs most memory for. */
static bool renew_table(graph *g)
{
    const bool full = 4 * g->entered >= 3 * g->slots;
    release_table(g);
    if (full) g->slots *= 2;
    g->entered = 0;
    while (g->numbers < UINT32_MAX && (g->numbers < 4 * g->slots || g->numbers < 2 * g->size))
        g->numbers = 2 * g->numbers + 1;
    g->table = DAE_ARRAY(graph_slot, g->slots);
    bool ok = g->table;
    for (size_t e = 1; ok && e < g->size; e++) ok = enter_node(g, (expr)e);
    if (ok) g->direct_gone = false;
    if (!ok) release_table(g);
    return ok;
}

static bool finite_at(const graph *g, expr e)
{
    return node_at(g, e)->finite;
}

/* Whether the value is finite for all finite leaves: leaves are finite by contract, and some
 * functions map finite numbers to finite ones without overflow. */
static bool is_finite(const graph *g, const expr_node *n)
{
    switch ((expr_op)n->op) {
    case EXPR_CONSTANT: return isfinite(n->value);
    case EXPR_TIME:
    case EXPR_VARIABLE:
    case EXPR_PARAMETER:
    case EXPR_MEMORY:
    case EXPR_SIGN: /* 0 for NaN */ return true;
    case EXPR_NEG:
    case EXPR_ABS:
    case EXPR_SIN:
    case EXPR_COS:
    case EXPR_ATAN:
    case EXPR_TANH:
    case EXPR_FLOOR:
    case EXPR_CEIL: return finite_at(g, n->a);
    case EXPR_ATAN2:
    case EXPR_MIN:
    case EXPR_MAX: return finite_at(g, n->a) && finite_at(g, n->b);
    case EXPR_SELECT: return finite_at(g, n->b) && finite_at(g, n->c);
    default: return expr_is_truth(n->op);
    }
}

expr graph_fail(graph *g)
{
    g->failed = true;
    return EXPR_NONE;
}

/* Append *n as a new node, which has yet to be noted. */
static expr append(graph *g, const expr_node *n)
{
    if (g->size >= g->limit) return graph_fail(g);
    if (g->size >> GRAPH_BLOCK_BITS == g->block_count && !add_block(g)) return graph_fail(g);
    expr e = (expr)g->size;
    expr_node *stored = node_at(g, e);
    *stored = *n;
    stored->finite = is_finite(g, n);
    stored->arity = (uint8_t)graph_arity(n->op);
    g->size++;
    return e;
}

static expr intern_direct(graph *g, const expr_node *n)
{
    const direct_nodes *d = &g->direct[n->order];
    const size_t i = (size_t)n->index / PAGE;
    expr known = i < d->pages && d->page[i] ? d->page[i][n->index % PAGE] : EXPR_NONE;
    if (known != EXPR_NONE) return known;
    expr *place = direct_place(g, n);
    if (!place) return graph_fail(g);
    if (*place == EXPR_NONE) *place = append(g, n);
    return *place;
}

/* Whether the table has room for one more node. */
static bool has_room(const graph *g)
{
    return g->table && 4 * g->entered < 3 * g->slots && g->size <= g->numbers;
}

expr graph_intern(graph *g, const expr_node *n)
{
    if (g->failed || (!has_room(g) && !renew_table(g))) return graph_fail(g);
    if (is_direct(n)) return intern_direct(g, n);
    const uint32_t hash = hash_node(n);
    const size_t slot = find_slot(g, n, hash);
    if (g->table[slot]) return g->table[slot] & g->numbers;
    expr e = append(g, n);
    if (e != EXPR_NONE) enter_slot(g, slot, e, hash);
    return e;
}

/* ---- bodies of loops ------------------------------------------------------------------------ */

static bool same_loop(const graph_loop *l, const graph_loop *m)
{
    return l->condition == m->condition && l->cells == m->cells &&
           memcmp(l->next, m->next, l->cells * sizeof *l->next) == 0;
}

int graph_intern_loop(graph *g, const graph_loop *l)
{
    for (size_t i = g->loop_count; i > 0; i--)
        if (same_loop(&g->loops[i - 1], l)) return (int)(i - 1);
    expr *next = NULL;
    bool fits = !g->failed && g->size + g->loop_cells + l->cells < g->limit;
    if (fits && dae_grow(&g->loops, &g->loop_capacity, g->loop_count + 1, sizeof *l))
        next = dae_copy(l->next, l->cells, sizeof *next);
    if (!next) {
        g->failed = true;
        return -1;
    }
    g->loops[g->loop_count] = (graph_loop){l->condition, l->cells, next};
    g->loop_cells += l->cells;
    return (int)g->loop_count++;
}

const graph_loop *graph_loop_at(const graph *g, int index)
{
    return &g->loops[index];
}

size_t graph_loop_count(const graph *g)
{
    return g->loop_count;
}

/* ---- functions from outside ----------------------------------------------------------------- */

int graph_add_signal(graph *g, const graph_signal *s)
{
    if (!dae_grow(&g->signals, &g->signal_capacity, g->signal_count + 1, sizeof *s)) {
        g->failed = true;
        return -1;
    }
    g->signals[g->signal_count] = *s;
    return (int)g->signal_count++;
}

const graph_signal *graph_signal_at(const graph *g, int index)
{
    return &g->signals[index];
}

expr graph_signal_node(graph *g, int index, int order, expr time, expr jump)
{
    if (time == EXPR_NONE || jump == EXPR_NONE || order > UINT8_MAX) return EXPR_NONE;
    return graph_intern(
        g, &(expr_node){
               .op = EXPR_SIGNAL, .order = (uint8_t)order, .index = index, .a = time, .b = jump});
}

double graph_signal_value(const graph_signal *s, int order, double time, double jump)
{
    double value = NAN;
    if (order > s->orders || s->value(time, order, jump, &value, s->user) != 0) return NAN;
    return value;
}

/* ---- leaves --------------------------------------------------------------------------------- */

expr graph_constant(graph *g, double value)
{
    if (value == 0.0) value = 0.0; /* one zero, */
    if (isnan(value)) value = NAN; /* one NaN */
    return graph_intern(g, &(expr_node){.op = EXPR_CONSTANT, .value = value});
}

expr graph_time(graph *g)
{
    return graph_intern(g, &(expr_node){.op = EXPR_TIME});
}

expr graph_variable(graph *g, int index, int order)
{
    if (order < 0 || order > UINT8_MAX) return EXPR_NONE;
    return graph_intern(g,
                        &(expr_node){.op = EXPR_VARIABLE, .index = index, .order = (uint8_t)order});
}

expr graph_parameter(graph *g, int index)
{
    return graph_intern(g, &(expr_node){.op = EXPR_PARAMETER, .index = index});
}

expr graph_memory(graph *g, int index)
{
    return graph_intern(g, &(expr_node){.op = EXPR_MEMORY, .index = index});
}

bool graph_is_constant(const graph *g, expr e, double *value)
{
    if (e == EXPR_NONE || node_at(g, e)->op != EXPR_CONSTANT) return false;
    if (value) *value = node_at(g, e)->value;
    return true;
}

/* ---- values --------------------------------------------------------------------------------- */

#define A a
#define B b
#define C c
#define MATH(f) f
#define VALUE(name, operands, notation, value)                                                     \
    case EXPR_##name: return (value);

double graph_apply(expr_op op, double a, double b, double c)
{
    switch (op) {
        EXPR_OPERATIONS(VALUE)
    default: return NAN;
    }
}
