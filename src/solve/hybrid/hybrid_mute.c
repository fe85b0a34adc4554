/* Relations that nothing hears. A relation that only discrete equations and conditions of when read
 * says nothing while these have the same values whatever it is: of `off and (i <= 0 or
 * pre(quenched))` that is so while off is false, and while pre(quenched) is true. Only an event can
 * change that. Up to the next one its crossings are no events, and are not looked for; at that
 * event it takes the side on which it is then. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "expr/range.h"
#include "expr/walk.h"
#include "solve/hybrid/hybrid_parts.h"

struct mute_relations {
    owned_part part;
    bool *free;             /* per slot of the memory: of a relation that may be mute */
    bool *heard;            /* work: per slot: it is read, and it matters */
    range_program *program; /* of discrete equations and conditions; NULL: no relation may be */
    range *result;          /* work: per root of it */
};

static void mute_free(void *self)
{
    mute_relations *q = self;
    range_program_free(q->program);
    dae_free_all(q->free, q->heard, q->result, q);
}

/* Expressions in a list that has room for them. */
typedef struct expr_list {
    expr *e;
    size_t count;
} expr_list;

static void append(expr_list *list, expr e)
{
    if (e != EXPR_NONE) list->e[list->count++] = e;
}

static void note_read(void *context, const expr_node *leaf)
{
    mute_relations *q = context;
    if (leaf->op == EXPR_MEMORY) q->free[leaf->index] = false;
}

static void note_heard(void *context, const expr_node *leaf)
{
    bool *heard = context;
    if (leaf->op == EXPR_MEMORY) heard[leaf->index] = true;
}

/* Relations that neither equations nor assertions nor crossing functions read; false: memory. */
static bool find_free(mute_relations *q, const flat_model *m)
{
    expr_list list = {.e =
                          DAE_ARRAY(expr, m->equation_count + m->assert_count + m->relation_count)};
    if (!list.e) return false;
    for (size_t k = 0; k < m->equation_count; k++) append(&list, m->equations[k].residual);
    for (size_t k = 0; k < m->assert_count; k++) append(&list, m->asserts[k].value);
    for (size_t r = 0; r < m->relation_count; r++) append(&list, m->relations[r].crossing);
    for (size_t r = 0; r < m->relation_count; r++) q->free[m->relations[r].memory] = true;
    bool ok = graph_leaves(m->graph, list.e, list.count, note_read, q);
    dae_free(list.e);
    return ok;
}

static size_t branch_count(const flat_model *m)
{
    size_t count = 0;
    for (size_t w = 0; w < m->when_count; w++) count += m->whens[w].branch_count;
    return count;
}

/* Expressions that read a relation which may be mute stay in the list; false: memory. */
static bool drop_deaf(const mute_relations *q, const graph *g, expr_list *list)
{
    walk w = {0};
    bool *hears = walk_from(&w, g, list->e, list->count) ? DAE_ARRAY(bool, w.count) : NULL;
    size_t kept = 0;
    for (size_t i = 0; hears && i < w.count; i++) {
        const expr_node *n = graph_node(g, w.order[i]);
        hears[i] = n->op == EXPR_MEMORY && q->free[n->index];
        for (int k = 0; k < n->arity && !hears[i]; k++)
            hears[i] = hears[walk_place(&w, expr_operand(n, k))];
    }
    for (size_t k = 0; hears && k < list->count; k++)
        if (hears[walk_place(&w, list->e[k])]) list->e[kept++] = list->e[k];
    list->count = kept;
    walk_free(&w);
    dae_free(hears);
    return hears != NULL;
}

/* What may hear a relation between events: values in a clause are asked for in its event alone. */
static bool build_program(mute_relations *q, const flat_model *m)
{
    expr_list list = {.e = DAE_ARRAY(expr, m->discrete_count + branch_count(m))};
    if (!list.e) return false;
    for (size_t k = 0; k < m->discrete_count; k++) append(&list, m->discretes[k].value);
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++)
            append(&list, m->whens[w].branches[b].condition);
    bool ok = drop_deaf(q, m->graph, &list);
    q->result = DAE_ARRAY(range, list.count);
    if (ok) q->program = range_program_new(m->graph, list.e, list.count);
    ok =
        q->result && q->program && graph_leaves(m->graph, list.e, list.count, note_heard, q->heard);
    dae_free(list.e);
    /* what nobody reads is there for its events, as at the steps of floor(x) */
    for (int k = 0; ok && k < m->memory_count; k++) q->free[k] = q->free[k] && q->heard[k];
    return ok;
}

static mute_relations *mute_new(const flat_model *m)
{
    mute_relations *q = DAE_NEW(mute_relations);
    if (!q) return NULL;
    q->part.free = mute_free;
    q->free = DAE_ARRAY(bool, m->memory_count);
    q->heard = DAE_ARRAY(bool, m->memory_count);
    graph_enter(m->graph);
    bool ok = q->free && q->heard && find_free(q, m), any = false;
    for (int k = 0; ok && k < m->memory_count; k++) any = any || q->free[k];
    if (ok && any) ok = build_program(q, m);
    graph_leave(m->graph);
    if (ok) return q;
    mute_free(q);
    return NULL;
}

/* Which slots are heard with the memory as it is. */
static void listen(dae_solver *s, mute_relations *q)
{
    const range all = {{-INFINITY, INFINITY}, {-INFINITY, INFINITY}};
    range_leaves leaves = {.time = all.value,
                           .parameters = s->hybrid->instance->parameters,
                           .memory = s->hybrid->instance->memory,
                           .either = q->free};
    memset(q->heard, 0, (size_t)flat_of(s)->memory_count * sizeof *q->heard);
    range_program_run(q->program, &leaves, q->result);
    range_program_open_slots(q->program, q->heard);
}

void mute_update(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    if (m->relation_count == 0) return;
    if (!h->mute) h->mute = mute_new(m);
    if (!h->mute) h->no_memory = true;
    if (!h->mute || !h->mute->program) return;
    listen(s, h->mute);
    for (size_t r = 0; r < m->relation_count; r++) {
        int slot = m->relations[r].memory;
        h->trace[r].mute = h->mute->free[slot] && !h->mute->heard[slot];
        if (s->bound.events) event_finder_mute(s->bound.events, (int)r, h->trace[r].mute);
    }
}
