/* What the equations and the crossing functions read of the discrete side. An event changes flags,
 * counters and pre(..) in most of its passes; where none of them enters an equation or a crossing
 * function, the continuous values of the pass before still hold, to the last bit. */
#include <string.h>

#include "base/memory.h"
#include "expr/walk.h"
#include "solve/hybrid/hybrid_parts.h"

struct memory_reads {
    owned_part part;
    const bool *slot;    /* per slot of the memory: an equation reads it; borrowed from the model */
    const bool *crossed; /* the same of crossing functions */
    const bool *felt;    /* what it says may come to be read */
    double *kept;        /* the memory that the continuous values were solved for; owned */
    bool floors;         /* a discrete equation is the floor of something: it looks ahead */
    bool slopes;         /* relations, clauses or discrete equations read derivatives */
    const model_form *form; /* whose crossing functions were looked at last; borrowed */
    bool form_slopes;       /* over its unknowns they read derivatives: y where der(x) = y */
    int *flag; /* per branch of a when: its condition is this slot, as it stands; -1: it is not */
    size_t *first; /* per when: its first branch in there */
};

static void reads_free(void *self)
{
    memory_reads *q = self;
    dae_free_all(q->kept, q->flag, q->first, q);
}

/* Conditions that are nothing but a flag, as those of most clauses are: one relation. */
static bool find_flags(memory_reads *q, const flat_model *m)
{
    size_t count = 0;
    for (size_t w = 0; w < m->when_count; w++) count += m->whens[w].branch_count;
    q->flag = DAE_ARRAY(int, count);
    q->first = DAE_ARRAY(size_t, m->when_count);
    if (!q->flag || !q->first) return false;
    count = 0;
    for (size_t w = 0; w < m->when_count; w++) {
        q->first[w] = count;
        for (size_t b = 0; b < m->whens[w].branch_count; b++) {
            const expr_node *node = graph_node(m->graph, m->whens[w].branches[b].condition);
            q->flag[count++] = node->op == EXPR_MEMORY ? node->index : -1;
        }
    }
    return true;
}

static void note_slope(void *context, const expr_node *node)
{
    if (node->op == EXPR_VARIABLE && node->order > 0) *(bool *)context = true;
}

static bool find_slopes_of_branch(memory_reads *q, walk *w, const graph *g, const flat_branch *b)
{
    bool ok = walk_new_leaves(w, g, b->condition, note_slope, &q->slopes);
    for (size_t i = 0; ok && i < b->action_count; i++)
        ok = walk_new_leaves(w, g, b->actions[i].value, note_slope, &q->slopes);
    return ok;
}

/* false: memory */
static bool find_slopes(memory_reads *q, const flat_model *m)
{
    const graph *g = m->graph;
    walk seen = {0};
    bool ok = true;
    for (size_t r = 0; ok && r < m->relation_count; r++)
        ok = walk_new_leaves(&seen, g, m->relations[r].crossing, note_slope, &q->slopes);
    for (size_t k = 0; ok && k < m->discrete_count; k++)
        ok = walk_new_leaves(&seen, g, m->discretes[k].value, note_slope, &q->slopes);
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; ok && b < m->whens[w].branch_count; b++)
            ok = find_slopes_of_branch(q, &seen, g, &m->whens[w].branches[b]);
    walk_free(&seen);
    return ok;
}

/* Of the model as it is written: its modes, and all that is derived, read no more. */
static bool find_reads(memory_reads *q, model_form *f)
{
    graph *g = f->flat->graph;
    const mode_slots *slots = mode_slots_of(f);
    q->slot = slots ? slots->read : NULL;
    q->crossed = slots ? slots->crossed : NULL;
    q->felt = slots ? slots->felt : NULL;
    graph_enter(g);
    bool ok = find_flags(q, f->flat) && find_slopes(q, f->flat);
    for (size_t k = 0; k < f->flat->discrete_count; k++)
        if (graph_node(g, f->flat->discretes[k].value)->op == EXPR_FLOOR) q->floors = true;
    graph_leave(g);
    return slots && ok;
}

bool reads_bind(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const size_t slots = (size_t)flat_of(s)->memory_count;
    if (h->reads) return true;
    memory_reads *q = DAE_NEW(memory_reads);
    if (!q) return false;
    q->part.free = reads_free;
    q->kept = DAE_ARRAY(double, slots);
    if (q->kept && find_reads(q, s->base->model))
        h->reads = q;
    else
        reads_free(q);
    return h->reads;
}

void reads_keep(dae_solver *s)
{
    const hybrid *h = s->hybrid;
    if (!h->reads) return;
    memcpy(h->reads->kept, h->instance->memory,
           (size_t)flat_of(s)->memory_count * sizeof *h->reads->kept);
}

void reads_persist(dae_solver *s, persist *p)
{
    hybrid *h = s->hybrid;
    const bool known = persist_flag(p, h->reads);
    if (p->reading && known && !reads_bind(s)) p->no_memory = true;
    if (known && h->reads) PERSIST_ARRAY(p, h->reads->kept, flat_of(s)->memory_count);
}

/* Whether a slot of these has changed since. */
static bool any_changed(const dae_solver *s, const bool *slots)
{
    const hybrid *h = s->hybrid;
    for (int k = 0; k < flat_of(s)->memory_count; k++)
        if (slots[k] && h->reads->kept[k] != h->instance->memory[k]) return true;
    return false;
}

bool reads_unchanged(dae_solver *s)
{
    hybrid *h = s->hybrid;
    if (!h->solved || !h->reads || any_changed(s, h->reads->slot)) return false;
    if (!any_changed(s, h->reads->crossed)) return true;
    reads_keep(s);
    model_instance_prepare(h->instance);
    h->looked = h->armed = false;
    return true;
}

double reads_condition(const dae_solver *s, double t, size_t w, size_t b)
{
    const memory_reads *q = s->hybrid->reads;
    int flag = q ? q->flag[q->first[w] + b] : -1;
    if (flag >= 0) return s->hybrid->instance->memory[flag];
    return value_at(s, t, flat_of(s)->whens[w].branches[b].condition);
}

bool reads_ahead(const dae_solver *s)
{
    const hybrid *h = s->hybrid;
    if (!h->reads || h->reads->floors || is_formulated(s)) return true;
    for (size_t r = 0; r < flat_of(s)->relation_count; r++)
        if (h->instance->form->rounded[r]) return true;
    return false;
}

/* Whether crossing functions read derivatives of the unknowns of the form at hand. */
static bool form_reads_slopes(const dae_solver *s)
{
    memory_reads *q = s->hybrid->reads;
    const model_form *f = s->hybrid->instance->form;
    if (q->form == f) return q->form_slopes;
    graph *g = f->flat->graph;
    walk seen = {0};
    bool found = false, ok = true;
    graph_enter(g);
    for (size_t k = 0; ok && k < f->crossing.outputs; k++)
        ok = walk_new_leaves(&seen, g, f->crossing.e[k], note_slope, &found);
    walk_free(&seen);
    graph_leave(g);
    q->form = ok ? f : NULL;
    return q->form_slopes = found || !ok;
}

bool reads_solved(const dae_solver *s)
{
    const hybrid *h = s->hybrid;
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] != DAE_KIND_DIFFERENTIAL) return true;
    return !h->reads || h->reads->slopes || form_reads_slopes(s);
}

bool reads_clock(const dae_solver *s, size_t i)
{
    const hybrid *h = s->hybrid;
    const flat_sample *q = &flat_of(s)->samples[i];
    return !h->reads || q->schedule || h->reads->felt[q->memory];
}

bool reads_event(const dae_solver *s, double t)
{
    const hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    const int *flags = h->pending == EVENT_CROSSING ? event_finder_flags(s->bound.events) : NULL;
    if (!h->reads || h->pending > EVENT_SAMPLE) return true;
    for (size_t r = 0; flags && r < m->relation_count; r++)
        if (flags[r] != 0 && h->reads->felt[m->relations[r].memory]) return true;
    for (size_t i = 0; i < m->sample_count; i++)
        if (h->sample[i].next <= t + sample_slack(t) && reads_clock(s, i)) return true;
    return false;
}
