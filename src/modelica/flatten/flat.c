/* Names of a flat model, and its release. */
#include "modelica/flatten/flat.h"

#include "base/memory.h"

bool flat_name_means(const char *given, const char *name)
{
    for (;; given++, name++) {
        while (*given == '\'') given++;
        while (*name == '\'') name++;
        if (!*given) return !*name || *name == '[' || *name == '.';
        if (*given != *name) return false;
    }
}

void flat_when_free(flat_when *w)
{
    for (size_t k = 0; k < w->branch_count; k++) dae_free(w->branches[k].actions);
    dae_free(w->branches);
}

void flat_model_free(flat_model *m)
{
    if (!m) return;
    for (size_t k = 0; k < m->when_count; k++) flat_when_free(&m->whens[k]);
    dae_free_all(m->whens, m->variables, m->parameters, m->equations, m->initial_equations,
                 m->relations, m->samples, m->discretes, m->asserts, m->event_order);
    graph_free(m->graph);
    arena_free(m->texts);
    dae_free(m);
}
