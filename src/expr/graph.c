/* Nodes: stored once each, with their bodies of loops; what one operation computes. */
#define _XOPEN_SOURCE 700 /* recursive mutexes */
#include "expr/graph.h"

#include "base/memory.h"
#include "expr/intern.h"
#include "expr/memo.h"
#include "expr/walk_pool.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum {
    FIRST_TABLE = 1 << 6, /* some graphs have but one expression, and are made by the thousand */
    LARGE_TABLE = 1 << 16 /* slots from which on a table is not kept between times of building */
};

/* A place for a node in the hash table, with the low bits of its hash: a search looks at a node
 * only if these agree, and the table grows without looking at nodes, which are far apart in memory.
 */
typedef struct graph_slot {
    expr node; /* EXPR_NONE: empty */
    uint32_t hash;
} graph_slot;

struct graph {
    graph_nodes nodes;
    size_t block_count, directory;
    size_t size;       /* nodes, the unused number 0 included */
    size_t limit;      /* of size */
    graph_slot *table; /* open addressing, at most three quarters full; owned, NULL: released by
                          graph_tidy */
    size_t slots;      /* a power of two */
    graph_loop *loops; /* owned, with their arrays */
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

void graph_tidy(graph *g)
{
    walk_pool_empty(g->walks);
    memo_empty(g->memo);
    if (g->slots < LARGE_TABLE) return;
    dae_free(g->table);
    g->table = NULL;
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
    g->table = DAE_ARRAY(graph_slot, g->slots);
    g->walks = walk_pool_new();
    g->memo = memo_new();
    graph_set_limit(g, 0);
    start_lock(g);
    if (g->table && g->walks && g->memo && add_block(g)) return g;
    graph_free(g);
    return NULL;
}

void graph_free(graph *g)
{
    if (!g) return;
    pthread_mutex_destroy(&g->lock);
    for (size_t i = 0; i < g->block_count; i++) dae_free(g->nodes.blocks[i]);
    for (size_t i = 0; i < g->loop_count; i++) dae_free((void *)g->loops[i].next);
    walk_pool_free(g->walks);
    memo_free(g->memo);
    dae_free_all(g->loops, g->signals, g->nodes.blocks, g->table, g);
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

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Multiply and fold, once per word: cheap, and good to the last bit for tables of powers of two. */
static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ (h >> 32);
}

/* The value of a constant is where other nodes have b and c: its bits stand for all of them. */
static uint32_t hash_node(const expr_node *n)
{
    uint64_t h = mix((uint64_t)n->op << 8 | n->order, (uint64_t)n->a << 32);
    return (uint32_t)mix(h, bits_of(n->value));
}

static bool same_node(const expr_node *m, const expr_node *n)
{
    return m->op == n->op && m->order == n->order && m->a == n->a &&
           bits_of(m->value) == bits_of(n->value);
}

/* Note a node that is not in the table yet. */
static void enter_slot(graph_slot *table, size_t slots, graph_slot slot)
{
    size_t mask = slots - 1, i = slot.hash & mask;
    while (table[i].node != EXPR_NONE) i = (i + 1) & mask;
    table[i] = slot;
}

/* The table of all nodes there are, after graph_tidy. */
static bool renew_table(graph *g)
{
    g->table = DAE_ARRAY(graph_slot, g->slots);
    if (!g->table) return false;
    for (size_t e = 1; e < g->size; e++)
        enter_slot(g->table, g->slots, (graph_slot){(expr)e, hash_node(node_at(g, e))});
    return true;
}

static bool double_table(graph *g)
{
    size_t slots = 2 * g->slots;
    graph_slot *table = DAE_ARRAY(graph_slot, slots);
    if (!table) return false;
    for (size_t k = 0; k < g->slots; k++)
        if (g->table[k].node != EXPR_NONE) enter_slot(table, slots, g->table[k]);
    dae_free(g->table);
    g->table = table;
    g->slots = slots;
    return true;
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

/* Append *n as a new node and note it in the free slot found for it. */
static expr append(graph *g, const expr_node *n, uint32_t hash, size_t slot)
{
    if (g->size >= g->limit) return graph_fail(g);
    if (g->size >> GRAPH_BLOCK_BITS == g->block_count && !add_block(g)) return graph_fail(g);
    expr e = (expr)g->size;
    expr_node *stored = node_at(g, e);
    *stored = *n;
    stored->finite = is_finite(g, n);
    stored->arity = (uint8_t)graph_arity(n->op);
    g->table[slot] = (graph_slot){e, hash};
    g->size++;
    return e;
}

expr graph_intern(graph *g, const expr_node *n)
{
    if (g->failed) return EXPR_NONE;
    if (!g->table && !renew_table(g)) return graph_fail(g);
    if (4 * g->size >= 3 * g->slots && !double_table(g)) return graph_fail(g);
    uint32_t hash = hash_node(n);
    size_t mask = g->slots - 1, i = hash & mask;
    for (; g->table[i].node != EXPR_NONE; i = (i + 1) & mask)
        if (g->table[i].hash == hash && same_node(node_at(g, g->table[i].node), n))
            return g->table[i].node;
    return append(g, n, hash, i);
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
