/* What a start need not compute, as one before has: only at starts, since events of a run are not
 * the same twice. */
#include "solve/begin/begin_parts.h"

fact_key key_at(const dae_solver *s, const model_point *at)
{
    fact_key key = {.count = 0};
    const flat_model *m = s->base->model->flat;
    const size_t n = (size_t)s->base->form.n;
    fact_key_add_numbers(&key, &at->t, 1);
    fact_key_add_numbers(&key, at->y, n);
    fact_key_add_numbers(&key, at->yp, n);
    fact_key_add_numbers(&key, at->parameters, m->parameter_count);
    fact_key_add_numbers(&key, at->memory, (size_t)m->memory_count);
    return key;
}

bool recalls(const dae_solver *s, start_fact what, const fact_key *key, void *result, size_t bytes)
{
    return s->hybrid->at_start && plan_recalls(&s->modes->current->plan, what, key, result, bytes);
}

void remembers(const dae_solver *s, start_fact what, const fact_key *key, const void *result,
               size_t bytes)
{
    if (s->hybrid->at_start) plan_remembers(&s->modes->current->plan, what, key, result, bytes);
}
