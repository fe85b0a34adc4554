#include "solve/bind/mode.h"

#include "base/memory.h"
#include "base/vector.h"
#include "model/model_build.h"

mode_list *modes_new(void)
{
    return DAE_NEW(mode_list);
}

static void mode_free(model_mode *v)
{
    if (!v) return;
    dae_problem_free(v->problem);
    dae_problem_free(v->array_problem);
    array_run_free(v->array);
    model_forms_free(v->forms);
    model_series_free(v->series);
    dae_free(v->eliminated);
    model_instance_free(v->levels);
    model_instance_free(v->instance);
    solve_plan_free(&v->plan);
    dae_free_all(v->key, v);
}

void modes_forget(mode_list *r)
{
    for (int k = 0; k < r->count; k++) mode_free(r->list[k]);
    r->count = 0;
}

void modes_free(mode_list *r)
{
    if (!r) return;
    modes_forget(r);
    dae_free(r->list);
    dae_free_all(r->start, r->fixed_by, r);
}

bool modes_begin(mode_list *r, model_form *base, model_instance *instance)
{
    const mode_slots *slots = r->slots_known ? &r->slots : mode_slots_of(base);
    if (!r->base_instance) r->base_instance = instance;
    if (!r->start) r->start = DAE_ARRAY(double, base->n);
    if (!r->fixed_by) r->fixed_by = DAE_ARRAY(int, base->n);
    if (slots) r->slots = *slots;
    r->slots_known = slots;
    return r->start && r->fixed_by && r->slots_known;
}

/* ---- making ---- */

/* Instances of the form and of its initial system, and what it offers to methods. */
static bool make_instances(model_mode *v, dae_precision precision)
{
    const plan *p = &v->plan;
    if (!p->form) return true;
    graph *g = p->form->flat->graph; /* shared with other solvers of the problem */
    bool series = p->method->forms == FORM_SERIES;
    graph_enter(g);
    v->instance = model_instance_new(p->form);
    v->levels = model_instance_new(form_of_levels(p->form)->initial);
    v->eliminated = DAE_ARRAY(double, 2 * (size_t)p->form->seen_count);
    bool fits = v->instance && v->levels && v->eliminated;
    if (fits && series) v->series = model_series_new(v->instance, precision);
    if (fits && p->offers_forms && !series) v->forms = model_forms_new(v->instance);
    graph_recover(g);
    graph_leave(g);
    return fits && (!p->offers_forms || v->forms || v->series);
}

static bool keep(mode_list *r, model_mode *v)
{
    if (!dae_grow(&r->list, &r->room, (size_t)r->count + 1, sizeof *r->list)) return false;
    r->list[r->count++] = v;
    return true;
}

model_mode *mode_add(mode_list *r, plan *made, const double *memory, dae_precision precision)
{
    model_mode *v = DAE_NEW(model_mode);
    if (!v) {
        solve_plan_free(made);
        return NULL;
    }
    v->plan = *made;
    *made = (plan){0};
    v->key = DAE_ARRAY(double, r->slots.count);
    for (int k = 0; v->key && k < r->slots.count; k++) v->key[k] = memory[r->slots.slot[k]];
    if (v->key && make_instances(v, precision) && keep(r, v)) return v;
    mode_free(v);
    return NULL;
}

bool mode_replan(model_mode *v, plan *made, dae_precision precision)
{
    solve_plan_free(&v->plan);
    v->plan = *made;
    *made = (plan){0};
    v->retired = !make_instances(v, precision); /* the next to ask for the mode begins anew */
    return !v->retired;
}

bool mode_matches(const mode_list *r, const model_mode *v, const double *memory)
{
    for (int k = 0; k < r->slots.count; k++)
        if (v->key[k] != memory[r->slots.slot[k]]) return false;
    return true;
}

model_mode *mode_find(const mode_list *r, const double *memory)
{
    for (int k = 0; k < r->count; k++)
        if (!r->list[k]->retired && mode_matches(r, r->list[k], memory)) return r->list[k];
    return NULL;
}

/* ---- values ---- */

const model_form *form_of_levels(const model_form *f)
{
    return f->levels ? f->levels : f;
}

double value_at_place(model_place at, const double *y, const double *yp)
{
    const double *from = at.slope ? yp : y;
    return at.unknown >= 0 && from ? at.sign * from[at.unknown] : 0.0;
}

void mode_eliminated(const model_mode *v, double t, const double *y, const double *yp,
                     double *user_y, double *user_yp)
{
    const model_form *f = v->plan.form;
    if (f->seen_count == 0 || !yp) return;
    model_instance_run(v->instance, PROGRAMS, t, y, yp, NULL, v->eliminated);
    for (int k = 0; k < f->seen_count; k++) {
        int i = f->seen[k];
        if (user_y && f->value[i] != EXPR_NONE) user_y[i] = v->eliminated[k];
        if (user_yp && f->value_slope[i] != EXPR_NONE)
            user_yp[i] = v->eliminated[f->seen_count + k];
    }
}

void mode_to_user(const model_mode *v, double t, const double *y, const double *yp, double *user_y,
                  double *user_yp)
{
    const model_form *f = v->plan.form;
    for (int i = 0; i < f->base->n; i++) {
        if (user_y) user_y[i] = value_at_place(f->place[i], y, yp);
        if (user_yp) user_yp[i] = value_at_place(f->place_slope[i], y, yp);
    }
    mode_eliminated(v, t, y, yp, user_y, user_yp);
}

static void put_at_place(model_place at, double value, double *y, double *yp)
{
    if (at.unknown >= 0) (at.slope ? yp : y)[at.unknown] = at.sign * value;
}

void mode_from_user(const model_mode *v, const double *user_y, const double *user_yp, double *y,
                    double *yp)
{
    const model_form *f = v->plan.form;
    vector_zero(f->n, y);
    vector_zero(f->n, yp);
    for (int i = 0; i < f->base->n; i++) put_at_place(f->place_slope[i], user_yp[i], y, yp);
    for (int i = 0; i < f->base->n; i++) put_at_place(f->place[i], user_y[i], y, yp);
}
