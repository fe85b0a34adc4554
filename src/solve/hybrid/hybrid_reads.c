/* What the equations and the crossing functions read of the discrete side. An event changes flags,
 * counters and pre(..) in most of its passes; where none of them enters an equation or a crossing
 * function, the continuous values of the pass before still hold, to the last bit. */
#include <string.h>

#include "base/memory.h"
#include "solve/hybrid/hybrid_parts.h"

struct memory_reads {
    owned_part part;
    const bool *slot; /* per slot of the memory: an equation or a crossing function reads it;
                         borrowed from the model */
    double *kept;     /* the memory that the continuous values were solved for; owned */
    bool floors;      /* a discrete equation is the floor of something: it looks ahead */
};

static void reads_free(void *self)
{
    memory_reads *q = self;
    dae_free_all(q->kept, q);
}

/* Of the model as it is written: its modes, and all that is derived, read no more. */
static bool find_reads(memory_reads *q, model_form *f)
{
    graph *g = f->flat->graph;
    const mode_slots *slots = mode_slots_of(f);
    q->slot = slots ? slots->read : NULL;
    graph_enter(g);
    for (size_t k = 0; k < f->flat->discrete_count; k++)
        if (graph_node(g, f->flat->discretes[k].value)->op == EXPR_FLOOR) q->floors = true;
    graph_leave(g);
    return slots;
}

void reads_bind(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const size_t slots = (size_t)flat_of(s)->memory_count;
    if (h->reads) return;
    memory_reads *q = DAE_NEW(memory_reads);
    if (!q) return;
    q->part.free = reads_free;
    q->kept = DAE_ARRAY(double, slots);
    if (q->kept && find_reads(q, s->base->model))
        h->reads = q;
    else
        reads_free(q);
}

void reads_keep(dae_solver *s)
{
    const hybrid *h = s->hybrid;
    if (!h->reads) return;
    memcpy(h->reads->kept, h->instance->memory,
           (size_t)flat_of(s)->memory_count * sizeof *h->reads->kept);
}

bool reads_unchanged(const dae_solver *s)
{
    const hybrid *h = s->hybrid;
    if (!h->solved || !h->reads) return false;
    for (int k = 0; k < flat_of(s)->memory_count; k++)
        if (h->reads->slot[k] && h->reads->kept[k] != h->instance->memory[k]) return false;
    return true;
}

bool reads_ahead(const dae_solver *s)
{
    const hybrid *h = s->hybrid;
    if (!h->reads || h->reads->floors) return true;
    for (size_t r = 0; r < flat_of(s)->relation_count; r++)
        if (h->instance->form->rounded[r]) return true;
    return false;
}
