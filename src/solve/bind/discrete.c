#include "solve/bind/discrete.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/model_code.h"
#include "solve/bind/part.h"

void hybrid_drop_initial(hybrid *h)
{
    dae_solver_free(h->initial_solver);
    dae_problem_free(h->initial_problem);
    model_instance_free(h->initial);
    dae_free_all(h->initial_y, h->initial_yp, h->initial_guessed);
    h->initial_solver = NULL;
    h->initial_problem = NULL;
    h->initial = NULL;
    h->initial_y = h->initial_yp = NULL;
    h->initial_guessed = NULL;
}

/* What there is one of per unknown: all of it goes. */
static void free_unknowns(hybrid *h)
{
    dae_free(h->reset); /* the first of one block */
    dae_free_all(h->is_reset, h->fixed_by);
}

/* The same for n unknowns in place of what there was; false: memory, and nothing changes. */
static bool allocate_unknowns(hybrid *h, int n)
{
    double **const values[] = {&h->reset,    &h->ahead,      &h->ahead_yp, &h->tangent,
                               &h->further,  &h->after,      &h->after_yp, &h->track,
                               &h->track_yp, &h->further_yp, &h->branch,   &h->branch_yp,
                               &h->start,    &h->entry,      &h->entry_yp, &h->left,
                               &h->left_yp,  &h->onward,     &h->onward_yp};
    enum { LISTS = sizeof values / sizeof values[0] };
    double *block = DAE_ARRAY(double, LISTS *(size_t)n);
    bool *marks = DAE_ARRAY(bool, 3 * (size_t)n);
    int *fixed_by = DAE_ARRAY(int, n);
    if (!block || !marks || !fixed_by) {
        dae_free_all(block, marks, fixed_by);
        return false;
    }
    free_unknowns(h);
    for (size_t k = 0; k < LISTS; k++) *values[k] = block + k * (size_t)n;
    h->is_reset = marks;
    h->is_held = marks + n;
    h->guessed = marks + 2 * (size_t)n;
    h->fixed_by = fixed_by;
    h->event_time = NAN;
    return true;
}

bool hybrid_bind(hybrid *h, model_instance *to)
{
    if (!allocate_unknowns(h, to->form->n)) return false;
    if (to != h->instance) {
        model_instance_follow(to, h->instance);
        to->noise = h->instance->noise;
    }
    part_free(h->state_seams);
    h->state_seams = NULL;
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
    h->came = DAE_ARRAY(bool, m->relation_count);
    h->zero = DAE_ARRAY(double, m->relation_count);
    h->noise = DAE_ARRAY(double, m->relation_count);
    h->trace = DAE_ARRAY(relation_trace, m->relation_count);
    h->active = DAE_ARRAY(int, m->when_count);
    h->assertion = DAE_ARRAY(double, m->assert_count);
    h->warned = DAE_ARRAY(bool, m->assert_count);
    h->undefined = DAE_ARRAY(bool, form->visible_count);
    h->before = DAE_ARRAY(double, m->memory_count);
    h->kept = DAE_ARRAY(double, m->memory_count);
    h->outputs = DAE_ARRAY(double, form->visible_count);
    h->next_time = INFINITY;
    if (m->delay_count > 0) h->delays = delay_table_new(m);
    if (h->instance) h->instance->delays = h->delays;
    if ((h->delays || m->delay_count == 0) && h->instance && h->sample && h->crossing &&
        h->crossing_ahead && h->crossing_entry && h->decided && h->came && h->zero && h->noise &&
        h->trace && h->active && h->assertion && h->warned && h->undefined && h->before &&
        h->kept && h->outputs && allocate_unknowns(h, form->n))
        return h;
    hybrid_free(h);
    return NULL;
}

bool hybrid_is_large(const hybrid *h)
{
    enum { LARGE = 1000 }; /* unknowns: below that all of it is less than a megabyte */
    return h->own->form->n >= LARGE;
}

void hybrid_tidy(const hybrid *h)
{
    graph *g = h->own->form->flat->graph;
    graph_enter(g); /* other solvers of the problem may be building */
    graph_tidy(g);
    graph_leave(g);
}

void hybrid_free(hybrid *h)
{
    if (!h) return;
    if (h->own) model_code_reap(h->own->form->code);
    if (h->own) hybrid_tidy(h);
    model_instance_free(h->own);
    dae_free_all(h->sample, h->crossing, h->crossing_ahead, h->crossing_entry, h->decided, h->came,
                 h->zero, h->noise, h->trace);
    void *const parts[] = {h->ranges,      h->reads, h->base, h->seams,
                           h->state_seams, h->doubt, h->mute, h->forcing};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) part_free(parts[k]);
    dae_free(h->active);
    free_unknowns(h);
    dae_free_all(h->assertion, h->warned, h->undefined, h->before, h->kept, h->outputs);
    hybrid_drop_initial(h);
    delay_table_free(h->delays);
    dae_free(h);
}
