/* Release of a flat model. */
#include "modelica/flatten/flat.h"

#include "base/memory.h"

void flat_when_free(flat_when *w)
{
    for (size_t k = 0; k < w->branch_count; k++) dae_free(w->branches[k].actions);
    dae_free(w->branches);
}

void flat_model_free(flat_model *m)
{
    if (!m) return;
    for (size_t k = 0; k < m->when_count; k++) flat_when_free(&m->whens[k]);
    dae_free(m->whens);
    dae_free(m->variables);
    dae_free(m->parameters);
    dae_free(m->equations);
    dae_free(m->initial_equations);
    dae_free(m->relations);
    dae_free(m->samples);
    dae_free(m->discretes);
    dae_free(m->asserts);
    dae_free(m->event_order);
    graph_free(m->graph);
    arena_free(m->texts);
    dae_free(m);
}
