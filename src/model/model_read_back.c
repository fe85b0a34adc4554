/* Definitions through which a when-clause reads what it assigns: z = 10*u + x in
 *   when c then w = 2*z; u = x; end when
 * The equations of a clause are put in order before it is known which variables leave the system,
 * so that the clause would read z over u from before the event. As an unknown z is solved for
 * between two passes of the event iteration: all of these equations hold at once, also where they
 * form a loop (u = z/2), and rates of discrete variables follow in the same passes. */
#include "base/memory.h"
#include "expr/walk.h"
#include "model/model_incidence.h"

/* A definition whose value contains a discrete variable. */
typedef struct slot_reader {
    int variable, next; /* the next one of the same slot, -1 */
} slot_reader;

typedef struct read_back {
    const build *b;
    const incidence *in;
    bool *kept;        /* borrowed */
    bool *assigned;    /* per slot of the memory: a clause gives the variable its value */
    int *first;        /* per slot: its first reader, -1 */
    int *defines;      /* per equation: the variable that it gives, -1 */
    int *struck;       /* per variable: the last clause that assigns what it is made of, plus one */
    int *queue;        /* variables */
    slot_reader *list; /* this and those above are owned */
    size_t count, room;
    int queued, variable, clause; /* at hand; the clause plus one */
    bool failed;
} read_back;

static void note_reader(void *context, const expr_node *leaf)
{
    read_back *q = context;
    if (leaf->op != EXPR_MEMORY || !q->assigned[leaf->index]) return;
    if (!dae_grow(&q->list, &q->room, q->count + 1, sizeof *q->list)) {
        q->failed = true;
        return;
    }
    q->list[q->count] = (slot_reader){q->variable, q->first[leaf->index]};
    q->first[leaf->index] = (int)q->count++;
}

static void find_readers(read_back *q, const int *by, const expr *value)
{
    const graph *g = q->b->f->flat->graph;
    for (int v = 0; v < q->in->sigma.n && !q->failed; v++) {
        if (by[v] < 0) continue;
        q->defines[by[v]] = v;
        q->variable = v;
        q->failed = !graph_leaves(g, &value[v], 1, note_reader, q) || q->failed;
    }
}

/* The slot of what an action assigns, -1: it does something else. */
static int assigned_slot(const flat_model *m, const flat_action *a)
{
    return a->kind == ACTION_ASSIGN ? m->variables[a->variable].memory : -1;
}

static void find_assigned(read_back *q)
{
    const flat_model *m = q->b->f->flat;
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++)
            for (size_t i = 0; i < m->whens[w].branches[b].action_count; i++) {
                const int slot = assigned_slot(m, &m->whens[w].branches[b].actions[i]);
                if (slot >= 0) q->assigned[slot] = true;
            }
}

static void strike(read_back *q, int v)
{
    if (q->kept[v] || q->struck[v] == q->clause) return;
    q->struck[v] = q->clause;
    q->queue[q->queued++] = v;
}

/* Definitions that are made of what a branch assigns, and those that are made of these. */
static void strike_branch(read_back *q, const flat_branch *b)
{
    const flat_model *m = q->b->f->flat;
    q->queued = 0;
    for (size_t i = 0; i < b->action_count; i++) {
        const int slot = assigned_slot(m, &b->actions[i]);
        for (int k = slot >= 0 ? q->first[slot] : -1; k >= 0; k = q->list[k].next)
            strike(q, q->list[k].variable);
    }
    for (int at = 0; at < q->queued; at++) {
        const int v = q->queue[at];
        for (int k = q->in->equations_start[v]; k < q->in->equations_start[v + 1]; k++) {
            const int user = q->defines[q->in->equations[k]];
            if (user >= 0) strike(q, user);
        }
    }
}

static void keep_struck(void *context, const expr_node *leaf)
{
    read_back *q = context;
    int order, root = build_root_of_leaf(q->b->f, leaf, &order);
    if (root >= 0 && q->struck[root] == q->clause) q->kept[root] = true;
}

static void keep_read(read_back *q, const flat_branch *b)
{
    const flat_model *m = q->b->f->flat;
    for (size_t i = 0; i < b->action_count && !q->failed; i++)
        if (b->actions[i].kind == ACTION_ASSIGN)
            q->failed = !graph_leaves(m->graph, &b->actions[i].value, 1, keep_struck, q);
}

static void keep_all(read_back *q)
{
    const flat_model *m = q->b->f->flat;
    for (size_t w = 0; w < m->when_count && !q->failed; w++) {
        q->clause = (int)w + 1;
        for (size_t b = 0; b < m->whens[w].branch_count; b++)
            strike_branch(q, &m->whens[w].branches[b]);
        for (size_t b = 0; b < m->whens[w].branch_count; b++)
            keep_read(q, &m->whens[w].branches[b]);
    }
}

bool keep_read_back(const build *b, const incidence *in, const int *by, const expr *value,
                    bool *kept)
{
    const flat_model *m = b->f->flat;
    if (m->when_count == 0) return true;
    read_back q = {.b = b,
                   .in = in,
                   .kept = kept,
                   .assigned = DAE_ARRAY(bool, m->memory_count),
                   .first = DAE_ARRAY(int, m->memory_count),
                   .defines = DAE_ARRAY(int, in->sigma.m),
                   .struck = DAE_ARRAY(int, in->sigma.n),
                   .queue = DAE_ARRAY(int, in->sigma.n)};
    q.failed = !q.assigned || !q.first || !q.defines || !q.struck || !q.queue;
    for (int k = 0; k < m->memory_count && !q.failed; k++) q.first[k] = -1;
    for (int i = 0; i < in->sigma.m && !q.failed; i++) q.defines[i] = -1;
    if (!q.failed) find_assigned(&q);
    if (!q.failed) find_readers(&q, by, value);
    if (!q.failed && q.count > 0) keep_all(&q);
    dae_free_all(q.assigned, q.first, q.defines, q.struck, q.queue, q.list);
    return !q.failed;
}
