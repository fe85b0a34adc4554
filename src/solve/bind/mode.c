#include "solve/bind/mode.h"

#include <math.h>

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
    dae_free_all(v->key, v->origin.numbers, v->origin.release, v);
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
    dae_free_all(r->start, r->fixed_by, r->start_word, r->held, r);
}

bool modes_begin(mode_list *r, model_form *base, model_instance *instance)
{
    const mode_slots *slots = r->slots_known ? &r->slots : mode_slots_of(base);
    if (!r->base_instance) r->base_instance = instance;
    if (!r->start) r->start = DAE_ARRAY(double, base->n);
    if (!r->fixed_by) r->fixed_by = DAE_ARRAY(int, base->n);
    if (!r->start_word) r->start_word = DAE_ARRAY(start_word, base->n);
    if (!r->held) r->held = DAE_ARRAY(bool, base->n);
    if (slots) r->slots = *slots;
    r->slots_known = slots;
    return r->start && r->fixed_by && r->start_word && r->held && r->slots_known;
}

/* ---- start values ---- */

/* The unknown that variable v is, perhaps with a sign; -1: none. */
static int unknown_of(const model_form *base, int v)
{
    return base->flat->variables[v].discrete ? -1 : base->first_unknown[base->alias[v].top];
}

/* What variable v says of where it begins. */
static start_word start_word_of(const model_form *f, size_t v)
{
    const flat_variable *q = &f->flat->variables[v];
    if (model_start_is_outside(f, v)) return START_OUTSIDE;
    if (q->fixed) return START_FIXED;
    if (!q->has_start) return START_NONE;
    return q->state_select < SELECT_DEFAULT ? START_BEHIND : START_GIVEN;
}

void modes_note_starts(mode_list *r, const model_form *base, const double *start,
                       const int *fixed_by)
{
    for (int i = 0; i < base->n; i++) {
        r->start[i] = start[i];
        r->fixed_by[i] = fixed_by[i];
        r->start_word[i] = START_NONE;
    }
    for (size_t v = 0; v < base->flat->variable_count; v++) {
        int i = unknown_of(base, (int)v);
        start_word word = start_word_of(base, v);
        if (i >= 0 && word > r->start_word[i]) r->start_word[i] = word;
    }
}

/* Whether unknown i of the model, with this value at an unknown of the form that another one has
 * fixed at a value before, contradicts that: both are fixed, and neither was set by the caller
 * alone. */
static bool contradicts(const mode_list *r, const model_form *base, int i, double value, int before,
                        double at)
{
    int other = before < 0 ? -1 : unknown_of(base, before);
    return r->fixed_by[i] >= 0 && other >= 0 && r->start_word[other] == r->start_word[i] &&
           fabs(value - at) > 1e-9 * fmax(fabs(value), fabs(at));
}

int modes_starts_of_form(const mode_list *r, const model_form *f, double *start, int *fixed_by)
{
    int conflict = -1;
    for (int i = 0; i < f->n; i++) {
        start[i] = 0.0;
        fixed_by[i] = -1;
    }
    for (int word = 0; word < START_WORDS; word++) /* later ones win */
        for (int i = 0; i < f->base->n; i++) {
            model_place at = f->place[i];
            int u = at.unknown;
            if ((int)r->start_word[i] != word || u < 0 || at.slope) continue;
            double value = at.sign * r->start[i];
            if (contradicts(r, f->base, i, value, fixed_by[u], start[u])) {
                conflict = i;
                continue;
            }
            start[u] = value;
            if (r->fixed_by[i] >= 0) fixed_by[u] = r->fixed_by[i];
        }
    return conflict;
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
    model_instance_run(v->instance, SEEN_THROUGH, t, y, yp, NULL, v->eliminated);
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
