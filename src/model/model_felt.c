/* What of the discrete side the equations come to feel: through discrete equations, clauses and
 * relations, backwards from what they read. A clock or a relation that they never feel can strike
 * or change without a new beginning of the method. */
#include "base/memory.h"
#include "model/analyse.h"

typedef struct reach {
    const flat_model *m;
    bool *felt;            /* per slot of the memory */
    bool *discrete, *when; /* per discrete equation, per clause: seen to be felt */
    bool *relation;        /* per relation */
    bool ok, again;
} reach;

static void note_felt(void *context, const expr_node *node)
{
    bool *felt = context;
    if (node->op == EXPR_MEMORY) felt[node->index] = true;
}

static void feel(reach *q, expr e)
{
    if (e != EXPR_NONE) q->ok = q->ok && graph_leaves(q->m->graph, &e, 1, note_felt, q->felt);
}

/* A variable is felt if its value or the one before is. */
static bool variable_felt(const reach *q, int v)
{
    const flat_variable *at = &q->m->variables[v];
    return q->felt[at->memory] || q->felt[at->memory_pre];
}

/* reinit, assert and terminate are felt as well. */
static bool action_felt(const reach *q, const flat_action *a)
{
    return a->kind != ACTION_ASSIGN || variable_felt(q, a->variable);
}

/* A clause of which anything is felt: all of its conditions, and all values. */
static void feel_when(reach *q, size_t index)
{
    const flat_when *w = &q->m->whens[index];
    bool any = false;
    for (size_t b = 0; b < w->branch_count; b++)
        for (size_t i = 0; i < w->branches[b].action_count; i++)
            any = any || action_felt(q, &w->branches[b].actions[i]);
    if (!any || q->when[index]) return;
    q->when[index] = q->again = true;
    for (size_t b = 0; b < w->branch_count; b++) {
        feel(q, w->branches[b].condition);
        for (size_t i = 0; i < w->branches[b].action_count; i++) {
            feel(q, w->branches[b].actions[i].value);
            feel(q, w->branches[b].actions[i].guard);
        }
    }
}

static void feel_discrete(reach *q, size_t index)
{
    const flat_discrete *d = &q->m->discretes[index];
    if (q->discrete[index] || !variable_felt(q, d->variable)) return;
    q->discrete[index] = q->again = true;
    feel(q, d->value);
}

static void feel_relation(reach *q, size_t r)
{
    if (q->relation[r] || !q->felt[q->m->relations[r].memory]) return;
    q->relation[r] = q->again = true;
    feel(q, q->m->relations[r].crossing);
}

/* Each equation and clause is gone through once, after what reads it: backwards in the order of
 * events that takes few passes. */
static void spread(reach *q)
{
    const flat_model *m = q->m;
    for (q->again = true; q->ok && q->again;) {
        q->again = false;
        for (size_t r = 0; r < m->relation_count; r++) feel_relation(q, r);
        for (size_t k = m->event_count; k-- > 0;)
            if (m->event_order[k].is_when)
                feel_when(q, m->event_order[k].index);
            else
                feel_discrete(q, m->event_order[k].index);
    }
}

bool *slots_felt(const model_form *f, const bool *read)
{
    const flat_model *m = f->flat;
    reach q = {.m = m,
               .felt = dae_copy(read, (size_t)m->memory_count, sizeof *read),
               .discrete = DAE_ARRAY(bool, m->discrete_count),
               .when = DAE_ARRAY(bool, m->when_count),
               .relation = DAE_ARRAY(bool, m->relation_count)};
    q.ok = q.felt && q.discrete && q.when && q.relation;
    if (q.ok) spread(&q);
    dae_free_all(q.discrete, q.when, q.relation);
    if (q.ok) return q.felt;
    dae_free(q.felt);
    return NULL;
}
