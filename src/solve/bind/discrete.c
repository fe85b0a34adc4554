#include "solve/bind/discrete.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/bind/part.h"

void hybrid_drop_initial(hybrid *h)
{
    dae_solver_free(h->initial_solver);
    dae_problem_free(h->initial_problem);
    model_instance_free(h->initial);
    dae_free(h->initial_y);
    dae_free(h->initial_yp);
    h->initial_solver = NULL;
    h->initial_problem = NULL;
    h->initial = NULL;
    h->initial_y = h->initial_yp = NULL;
}

/* What there is one of per unknown. */
static void free_unknowns(hybrid *h)
{
    dae_free(h->reset);
    dae_free(h->is_reset);
    dae_free(h->is_held);
    dae_free(h->fixed_by);
    dae_free(h->ahead);
    dae_free(h->ahead_yp);
    dae_free(h->tangent);
    dae_free(h->further);
    dae_free(h->further_yp);
    dae_free(h->after);
    dae_free(h->after_yp);
    dae_free(h->track);
    dae_free(h->track_yp);
    dae_free(h->branch);
    dae_free(h->branch_yp);
    dae_free(h->start);
    dae_free(h->entry);
    dae_free(h->entry_yp);
}

static bool allocate_unknowns(hybrid *h, int n)
{
    h->reset = DAE_ARRAY(double, n);
    h->is_reset = DAE_ARRAY(bool, n);
    h->is_held = DAE_ARRAY(bool, n);
    h->fixed_by = DAE_ARRAY(int, n);
    h->ahead = DAE_ARRAY(double, n);
    h->ahead_yp = DAE_ARRAY(double, n);
    h->tangent = DAE_ARRAY(double, n);
    h->further = DAE_ARRAY(double, n);
    h->further_yp = DAE_ARRAY(double, n);
    h->after = DAE_ARRAY(double, n);
    h->after_yp = DAE_ARRAY(double, n);
    h->track = DAE_ARRAY(double, n);
    h->track_yp = DAE_ARRAY(double, n);
    h->branch = DAE_ARRAY(double, n);
    h->branch_yp = DAE_ARRAY(double, n);
    h->event_time = NAN;
    h->start = DAE_ARRAY(double, n);
    h->entry = DAE_ARRAY(double, n);
    h->entry_yp = DAE_ARRAY(double, n);
    return h->reset && h->is_reset && h->is_held && h->fixed_by && h->ahead && h->ahead_yp &&
           h->tangent && h->further && h->further_yp && h->after && h->after_yp && h->track &&
           h->track_yp && h->branch && h->branch_yp && h->start && h->entry && h->entry_yp;
}

bool hybrid_bind(hybrid *h, model_instance *to)
{
    hybrid fresh = {0};
    if (!allocate_unknowns(&fresh, to->form->n)) {
        free_unknowns(&fresh);
        return false;
    }
    const flat_model *m = to->form->flat;
    if (to != h->instance) {
        memcpy(to->memory, h->instance->memory, (size_t)m->memory_count * sizeof(double));
        memcpy(to->parameters, h->instance->parameters, m->parameter_count * sizeof(double));
        to->noise = h->instance->noise;
        model_instance_prepare(to);
    }
    free_unknowns(h);
    part_free(h->state_seams);
    h->state_seams = NULL;
    h->reset = fresh.reset;
    h->is_reset = fresh.is_reset;
    h->is_held = fresh.is_held;
    h->fixed_by = fresh.fixed_by;
    h->ahead = fresh.ahead;
    h->ahead_yp = fresh.ahead_yp;
    h->tangent = fresh.tangent;
    h->further = fresh.further;
    h->further_yp = fresh.further_yp;
    h->after = fresh.after;
    h->after_yp = fresh.after_yp;
    h->track = fresh.track;
    h->track_yp = fresh.track_yp;
    h->branch = fresh.branch;
    h->branch_yp = fresh.branch_yp;
    h->event_time = NAN;
    h->start = fresh.start;
    h->entry = fresh.entry;
    h->entry_yp = fresh.entry_yp;
    h->instance = to;
    return true;
}

hybrid *hybrid_new(const model_form *form)
{
    const flat_model *m = form->flat;
    hybrid *h = DAE_NEW(hybrid);
    if (!h) return NULL;
    h->instance = h->own = model_instance_new(form);
    h->sample = DAE_ARRAY(sample_clock, m->sample_count);
    h->crossing = DAE_ARRAY(double, form->crossing.outputs);
    h->crossing_ahead = DAE_ARRAY(double, form->crossing.outputs);
    h->crossing_entry = DAE_ARRAY(double, form->crossing.outputs);
    h->decided = DAE_ARRAY(bool, m->relation_count);
    h->zero = DAE_ARRAY(double, m->relation_count);
    h->trace = DAE_ARRAY(relation_trace, m->relation_count);
    h->active = DAE_ARRAY(int, m->when_count);
    h->assertion = DAE_ARRAY(double, m->assert_count);
    h->warned = DAE_ARRAY(bool, m->assert_count);
    h->undefined = DAE_ARRAY(bool, form->visible_count);
    h->before = DAE_ARRAY(double, m->memory_count);
    h->outputs = DAE_ARRAY(double, form->visible_count);
    h->next_time = INFINITY;
    if (h->instance && h->sample && h->crossing && h->crossing_ahead && h->crossing_entry &&
        h->decided && h->zero && h->trace && h->active && h->assertion && h->warned &&
        h->undefined && h->before && h->outputs && allocate_unknowns(h, form->n))
        return h;
    hybrid_free(h);
    return NULL;
}

void hybrid_free(hybrid *h)
{
    if (!h) return;
    model_instance_free(h->own);
    dae_free(h->sample);
    dae_free(h->crossing);
    dae_free(h->crossing_ahead);
    dae_free(h->crossing_entry);
    dae_free(h->decided);
    dae_free(h->zero);
    dae_free(h->trace);
    void *const parts[] = {h->ranges, h->base, h->seams, h->state_seams, h->doubt};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) part_free(parts[k]);
    dae_free(h->active);
    free_unknowns(h);
    dae_free(h->assertion);
    dae_free(h->warned);
    dae_free(h->undefined);
    dae_free(h->before);
    dae_free(h->outputs);
    hybrid_drop_initial(h);
    dae_free(h);
}
