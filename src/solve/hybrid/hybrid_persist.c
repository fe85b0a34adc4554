/* The discrete side of a model in a checkpoint.
 *
 * Saved: discrete values and relations, clocks, the traces of relations, pasts of delayed values,
 * notes that were given, and what stands between two passes. Made anew: what follows from the
 * equations (ranges, reads, mute relations, seams), and searches with matrices of their own. */
#include "solve/hybrid/hybrid_parts.h"

void hybrid_persist_memory(dae_solver *s, persist *p)
{
    hybrid *h = s->hybrid;
    model_instance *m = h->instance;
    const flat_model *flat = m->form->flat;
    persist_same(p, (uint64_t)flat->memory_count, "the model has another memory");
    persist_same(p, flat->parameter_count, "the model has other parameters");
    PERSIST_ARRAY(p, m->memory, flat->memory_count);
    PERSIST_ARRAY(p, m->parameters, flat->parameter_count);
    PERSIST(p, m->noise);
    if (h->delays) delay_table_persist(h->delays, p);
    if (p->reading) model_instance_prepare(m);
}

/* Arrays by relations, clauses and other parts of the text. */
static void persist_parts(dae_solver *s, persist *p)
{
    hybrid *h = s->hybrid;
    const model_form *f = h->own->form;
    const flat_model *m = f->flat;
    const size_t crossings = f->crossing.outputs, slots = (size_t)m->memory_count;
    PERSIST_ARRAY(p, h->sample, m->sample_count);
    PERSIST_ARRAY(p, h->crossing, crossings);
    PERSIST_ARRAY(p, h->crossing_ahead, crossings);
    PERSIST_ARRAY(p, h->crossing_entry, crossings);
    PERSIST_ARRAY(p, h->zero, m->relation_count);
    PERSIST_ARRAY(p, h->noise, m->relation_count);
    PERSIST_ARRAY(p, h->decided, m->relation_count);
    PERSIST_ARRAY(p, h->came, m->relation_count);
    PERSIST_ARRAY(p, h->trace, m->relation_count);
    PERSIST_ARRAY(p, h->active, m->when_count);
    PERSIST_ARRAY(p, h->before, slots);
    PERSIST_ARRAY(p, h->kept, slots);
    PERSIST_ARRAY(p, h->warned, m->assert_count);
    PERSIST_ARRAY(p, h->undefined, f->visible_count);
}

/* Arrays by unknowns of the form at hand. */
static void persist_unknowns(dae_solver *s, persist *p)
{
    hybrid *h = s->hybrid;
    double *const values[] = {h->reset,    h->ahead,  h->ahead_yp, h->tangent,    h->further,
                              h->after,    h->track,  h->track_yp, h->further_yp, h->branch,
                              h->after_yp, h->start,  h->entry,    h->entry_yp,   h->branch_yp,
                              h->left,     h->left_yp};
    const size_t n = (size_t)h->instance->form->n;
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) PERSIST_ARRAY(p, values[k], n);
    PERSIST_ARRAY(p, h->is_reset, n);
    PERSIST_ARRAY(p, h->is_held, n);
    PERSIST_ARRAY(p, h->fixed_by, n);
}

/* All numbers of the struct. */
static void persist_numbers(dae_solver *s, persist *p)
{
    PERSIST_STRUCT(p, s->hybrid, GAPS(hybrid, instance, sample),
                   GAPS(hybrid, crossing, state_seams), GAPS(hybrid, active, is_held),
                   GAPS(hybrid, assertion, left_yp), GAPS(hybrid, before, kept),
                   GAPS(hybrid, outputs, undefined), GAPS(hybrid, pieces_of, branch_yp),
                   GAPS(hybrid, base, branches_hidden), GAP(hybrid, opening),
                   GAPS(hybrid, initial, fixed_by), GAPS(hybrid, start, entry_yp));
}

/* What follows from the equations and the memory, for the form at hand. */
static dae_status make_again(dae_solver *s)
{
    if (s->bound.events) hybrid_arm(s);
    return hybrid_check_branches(s);
}

dae_status hybrid_persist(dae_solver *s, persist *p)
{
    dae_status status = p->reading ? make_again(s) : DAE_OK;
    if (status != DAE_OK) return status;
    branches_persist(s, p);
    reads_persist(s, p);
    seams_persist(s, p);
    forcing_persist(s, p);
    persist_parts(s, p);
    persist_unknowns(s, p);
    persist_numbers(s, p);
    output_doubt_persist(s, p);
    if (p->reading && s->hybrid->no_memory) p->no_memory = true;
    return DAE_OK;
}
