/* The modes of a model in a checkpoint: plans are not saved but made again, at the numbers that
 * they were made at; what was chosen since is. */
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "solve/bind/solver.h"

/* Numbers and equations that a plan is made from. */
static void persist_origin(const dae_solver *s, plan_origin *o, persist *p)
{
    const size_t count = mode_numbers(s->base->model);
    uint64_t release = o->release ? (uint64_t)o->release_count : 0;
    PERSIST(p, release);
    PERSIST(p, o->levels);
    if (p->reading && release > p->count - p->at) persist_refuse(p, "it ends within a plan");
    if (p->reading && persist_ok(p)) {
        o->numbers = DAE_ARRAY(double, count);
        o->release = release > 0 ? DAE_ARRAY(bool, release) : NULL;
        o->release_count = (int)release;
        p->no_memory = !o->numbers || (release > 0 && !o->release);
    }
    if (!persist_ok(p)) return;
    PERSIST_ARRAY(p, o->numbers, count);
    if (release > 0) PERSIST_ARRAY(p, o->release, release);
}

/* The plan that was made from o, as a new mode; NULL: memory, or why. Notes were told before. */
static model_mode *plan_again(dae_solver *s, const plan_origin *o, dae_status *status)
{
    const model_form *base = s->base->model;
    const double *y = o->numbers + 1, *parameters = y + 2 * base->n;
    const mode_point at = {
        .slots = &s->modes->slots,
        .at = {o->numbers[0], y, y + base->n, parameters, parameters + base->flat->parameter_count},
        .release = o->release,
        .release_count = o->release_count,
        .levels = o->levels,
        .exact = true};
    plan made = {0};
    *status = prepare_plan(s->base, &at, &s->wishes, &made, &s->diag);
    if (*status != DAE_OK) {
        solve_plan_free(&made);
        return NULL;
    }
    return mode_add(s->modes, &made, at.at.memory, s->base_options.precision);
}

/* A mode that was read, without what was chosen in it. */
static model_mode *read_mode(dae_solver *s, persist *p)
{
    plan_origin origin = {0};
    dae_status status = DAE_ERR_MEMORY;
    persist_origin(s, &origin, p);
    model_mode *v = persist_ok(p) ? plan_again(s, &origin, &status) : NULL;
    if (v) {
        v->origin = origin;
        return v;
    }
    dae_free_all(origin.numbers, origin.release);
    if (status != DAE_OK && status != DAE_ERR_MEMORY)
        persist_refuse(p, "a plan cannot be made again");
    else if (persist_ok(p))
        p->no_memory = true;
    return NULL;
}

/* What was chosen by numbers, and found out. */
static void persist_choice(const dae_solver *s, model_mode *v, persist *p)
{
    PERSIST(p, v->searched);
    PERSIST(p, v->certified);
    PERSIST(p, v->retired);
    PERSIST_ARRAY(p, v->key, s->modes->slots.count);
    persist_same_text(p, v->plan.method ? v->plan.method->name : "", "a mode has another method");
    persist_same(p, v->plan.form ? (uint64_t)v->plan.form->n : 0, "a mode has another form");
    rank_watch_persist(v->plan.watch, p);
    if (v->instance && v->instance->selection) selection_persist(v->instance->selection, p);
    /* what stands in the way of a plan elsewhere is found out at a start */
    PERSIST(p, v->plan.doubt);
}

/* Start values of the user's unknowns, and how much they count. */
static void persist_starts(dae_solver *s, persist *p)
{
    mode_list *r = s->modes;
    const size_t n = (size_t)s->base->form.n;
    const bool known = persist_flag(p, r->slots_known);
    if (!known) return;
    if (p->reading && !modes_begin(r, s->base->model, s->hybrid->instance)) p->no_memory = true;
    if (!persist_ok(p)) return;
    PERSIST_ARRAY(p, r->start, n);
    PERSIST_ARRAY(p, r->fixed_by, n);
    PERSIST_ARRAY(p, r->start_word, n);
    PERSIST_ARRAY(p, r->held, n);
    PERSIST(p, r->start_time);
    PERSIST(p, r->steps_since_watch);
    PERSIST(p, r->choices);
}

dae_status modes_persist(dae_solver *s, persist *p, model_mode **current)
{
    mode_list *r = s->modes;
    int count = r->count, now = -1;
    *current = NULL;
    for (int k = 0; k < r->count; k++)
        if (r->list[k] == r->current) now = k;
    persist_starts(s, p);
    PERSIST(p, count);
    PERSIST(p, now);
    if (count < 0 || now >= count) persist_refuse(p, "the mode at work is none of those there are");
    for (int k = 0; k < count && persist_ok(p); k++) {
        model_mode *v = p->reading ? read_mode(s, p) : r->list[k];
        if (!v) break;
        if (!p->reading) persist_origin(s, &v->origin, p);
        persist_choice(s, v, p);
        if (p->reading && persist_ok(p) && v->instance && describe_mode(s, v) != DAE_OK)
            p->no_memory = true;
        if (k == now) *current = v;
    }
    return p->no_memory ? plan_exhausted(&s->diag) : DAE_OK;
}
