/* Names of a flat model, its release, and the nodes of delayed values. */
#include "modelica/flatten/flat.h"

#include "base/memory.h"

const flat_words flat_no_words = {NULL, NULL, NULL, NULL};

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
                 m->terminal_equations, m->relations, m->samples, m->delays, m->discretes,
                 m->asserts, m->event_order);
    graph_free(m->graph);
    arena_free(m->texts);
    dae_free(m);
}

double flat_delay_node(int k)
{
    static const double node[DELAY_NODES] = {
        0.0, 0.095491502812526274, 0.34549150281252633, 0.65450849718747373, 0.90450849718747373,
        1.0};
    return node[k];
}

const flat_delay *flat_delay_of(const flat_model *m, int slot)
{
    for (size_t k = 0; k < m->delay_count; k++)
        if (slot > m->delays[k].memory && slot < m->delays[k].memory + DELAY_SLOTS)
            return &m->delays[k];
    return NULL;
}

bool flat_is_delayed(const flat_model *m, int slot)
{
    return flat_delay_of(m, slot) != NULL;
}

bool flat_lags_by_unknowns(const flat_model *m)
{
    for (size_t k = 0; k < m->delay_count; k++)
        if (m->delays[k].by_unknowns) return true;
    return false;
}
