/* What is remembered of the events of relations, for the search of their next ones. */
#include "solve/hybrid/hybrid_parts.h"

void hybrid_arm(dae_solver *s)
{
    const flat_model *m = flat_of(s);
    ranges_bind(s);
    for (size_t r = 0; r < m->relation_count; r++) {
        bool held = s->hybrid->instance->memory[m->relations[r].memory] != 0.0;
        const relation_trace *q = &s->hybrid->trace[r];
        event_finder_hold(s->bound.events, (int)r, held ? -1 : 1, q->resting != 0 ? q->band : 0.0);
        event_finder_zero(s->bound.events, (int)r, m->relations[r].strict ? 1 : -1);
        event_finder_rounding(s->bound.events, (int)r, q->rounding);
    }
    mute_update(s);
}

void trace_keep_seen(dae_solver *s)
{
    for (size_t r = 0; s->bound.events && r < flat_of(s)->relation_count; r++)
        if (event_finder_seen(s->bound.events, (int)r)) s->hybrid->trace[r].seen = true;
}

bool trace_unresolved(const dae_solver *s, size_t r)
{
    return event_finder_unresolved(s->bound.events, (int)r) && !s->hybrid->trace[r].seen;
}

bool crowd_shrinks(const dae_solver *s)
{
    for (size_t r = 0; r < flat_of(s)->relation_count; r++)
        if (s->hybrid->trace[r].shrinks >= MANY_SHRINKS) return true;
    return false;
}

void hybrid_forget_crossings(dae_solver *s)
{
    const int *flags = event_finder_flags(s->bound.events);
    for (size_t k = 0; k < s->hybrid->instance->form->crossing.outputs; k++)
        s->stats.events -= flags[k] != 0;
}
