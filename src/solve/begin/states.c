/* What a mode chooses by numbers: states, positions, rows that are redundant. */
#include "solve/begin/begin_parts.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/model_redundant.h"
#include "model/model_structure.h"

dae_status explain_selection(dae_solver *s, double t, selection_status status)
{
    const model_mode *v = s->modes->current;
    const equation_set *set = &v->plan.form->analysed->set;
    s->diag.t = t;
    if (status == SELECTION_NOT_FINITE)
        return diag_set(&s->diag, DAE_ERR_EVALUATION,
                        "The derivatives of the constraints cannot be evaluated at t = %.9g.", t);
    const int *culprit;
    int count = selection_culprits(v->instance->selection, &culprit);
    if (count > 0) {
        diag_equation(&s->diag, -1, set->row[culprit[0]].name);
        s->diag.line = set->row[culprit[0]].line;
    }
    diag_set(&s->diag, DAE_ERR_SINGULAR,
             "The index changes at t = %.9g: constraints depend on each other there: ", t);
    text_list list = text_list_in(&s->diag, 8);
    for (int k = 0; k < count; k++) text_list_add(&list, "%s", set->row[culprit[k]].name);
    text_list_end(&list);
    diag_append(&s->diag,
                ". A mechanism in such a position can move in more ways than before; start "
                "elsewhere, or leave out a redundant constraint.");
    return DAE_ERR_SINGULAR;
}

/* Take the choice of states at s->bound.y, s->bound.yp. */
dae_status choose_states(dae_solver *s, double t)
{
    model_mode *v = s->modes->current;
    if (!v->instance->selection) return DAE_OK;
    selection_status chosen = model_instance_select(v->instance, t, s->bound.y, s->bound.yp, true);
    if (chosen != SELECTION_CHANGED) return explain_selection(s, t, chosen);
    dae_status status = describe_mode(s, v);
    return status == DAE_OK ? binding_repattern(&s->bound, v->problem, &s->diag) : status;
}

/* Fixed start values are exact, also where the events of the start end; later nothing is. */
void note_kept_starts(dae_solver *s, double t, bool initial)
{
    mode_list *r = s->modes;
    bool *kept = model_series_kept(r->current->series);
    if (initial) r->start_time = t;
    for (int i = 0; i < r->current->plan.form->n; i++)
        kept[i] = t == r->start_time && s->hybrid->fixed_by[i] >= 0;
}

/* ---- positions ---- */

bool has_chosen_positions(const dae_solver *s)
{
    return is_formulated(s) && s->modes->current->instance->positions;
}

static dae_status explain_positions(dae_solver *s, double t, position_status status)
{
    const model_mode *v = s->modes->current;
    const equation_set *set = &v->plan.form->analysed->set;
    s->diag.t = t;
    if (status == POSITIONS_NOT_FINITE)
        return diag_set(&s->diag, DAE_ERR_EVALUATION,
                        "The derivatives of the constraints cannot be evaluated at t = %.9g.", t);
    int culprit =
        v->plan.form->formulated->positions->source[position_watch_culprit(v->instance->positions)];
    diag_equation(&s->diag, -1, set->row[culprit].name);
    s->diag.line = set->row[culprit].line;
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "Formulation %s chooses positions that the constraints determine, but at t = "
                    "%.9g %s depends on the other constraints.",
                    s->wishes.formulation->name, t, set->row[culprit].name);
}

/* The mode at hand with p2 as given; NULL: there is none yet. */
static model_mode *find_choice(const dae_solver *s, const bool *dependent)
{
    const mode_list *r = s->modes;
    size_t bytes =
        (size_t)r->current->plan.form->formulated->positions->columns * sizeof *dependent;
    for (int k = 0; k < r->count; k++) {
        model_mode *v = r->list[k];
        const position_choice *c = v->plan.form ? v->plan.form->formulated->positions : NULL;
        bool fits = c && mode_matches(r, v, s->hybrid->instance->memory);
        if (fits && memcmp(c->dependent, dependent, bytes) == 0) return v;
    }
    return NULL;
}

/* Other positions: to the plan that has them, made here if need be, with the values at
 * s->bound.y. */
static dae_status change_positions(dae_solver *s, double t)
{
    mode_list *r = s->modes;
    model_mode *old = r->current,
               *v = find_choice(s, position_watch_better(old->instance->positions));
    double *y = user_values(s), direction = s->run.direction;
    if (!y) return plan_exhausted(&s->diag);
    const double *yp = y + s->base->form.n;
    old->retired = true;
    dae_status status = v ? DAE_OK : ask_for_mode(s, t, y, yp, NULL, &v);
    if (v) v->retired = false;
    if (status == DAE_OK) status = bind_mode(s, v, y, yp);
    if (status != DAE_OK) old->retired = false;
    dae_free(y);
    if (status != DAE_OK) return status;
    model_instance_prepare(s->hybrid->instance);
    s->run.direction = direction;
    s->run.history = 0;
    r->choices++;
    return solve_levels(s, t, false);
}

/* Look at the positions at s->bound.y, s->bound.yp, and change them if they have become bad. */
dae_status reconsider_positions(dae_solver *s, double t, bool *changed)
{
    position_status found =
        model_instance_look(s->modes->current->instance, t, s->bound.y, s->bound.yp);
    *changed = found == POSITIONS_BAD;
    if (found == POSITIONS_KEPT) return DAE_OK;
    return found == POSITIONS_BAD ? change_positions(s, t) : explain_positions(s, t, found);
}

/* ---- redundant constraints ---- */

/* To a plan without the equations `rows`, with the values at s->bound.y. */
static dae_status release(dae_solver *s, double t, const bool *rows)
{
    model_mode *old = s->modes->current, *v = NULL;
    double *y = user_values(s), direction = s->run.direction;
    if (!y) return plan_exhausted(&s->diag);
    old->retired = true;
    dae_status status = ask_for_mode(s, t, y, y + s->base->form.n, rows, &v);
    if (status == DAE_OK) {
        v->searched = true;
        status = bind_mode(s, v, y, y + s->base->form.n);
    } else {
        old->retired = false;
    }
    dae_free(y);
    if (status != DAE_OK) return status;
    model_instance_prepare(s->hybrid->instance);
    s->run.direction = direction;
    return solve_levels(s, t, false);
}

/* Whether the search is worth its time: the states cannot be chosen, or nothing else would tell. */
static bool suspects_redundant(const dae_solver *s, double t)
{
    const model_mode *v = s->modes->current;
    if (v->plan.index != 3 || v->plan.doubt[0] || v->series) return false;
    if (!v->instance->selection) return v->plan.seeks_redundant;
    return model_instance_select(v->instance, t, s->bound.y, s->bound.yp, true) ==
           SELECTION_SINGULAR;
}

/* Constraints that follow from others at a point: rows, and how many; -1: memory. */
static int search_redundant(dae_solver *s, const model_point *at, bool *rows,
                            model_conflict *conflict)
{
    enum { ORDERS = 2 };
    model_form *f = s->modes->current->plan.form;
    const analysed *a = f->analysed;
    const fact_key key = key_at(s, at);
    if (recalls(s, FACT_INDEPENDENT, &key, NULL, 0)) return 0;
    double **x = analysed_values(&a->set, at, ORDERS);
    if (!x) return -1;
    equation_point point = {at->t, (const double *const *)x, ORDERS, at->parameters, at->memory};
    graph *g = s->base->model->flat->graph;
    graph_enter(g);
    bool ready = f->constraints || model_redundant_prepare(a, &point, &f->constraints);
    int count = ready ? model_redundant_find(a, f->constraints, &point, rows, conflict) : -1;
    graph_recover(g);
    graph_leave(g);
    dae_free(x);
    if (count == 0 && conflict->row < 0) remembers(s, FACT_INDEPENDENT, &key, NULL, 0);
    return count;
}

/* Once per mode, where all equations hold: release constraints that follow from others. */
dae_status settle_redundant(dae_solver *s, double t)
{
    model_mode *v = s->modes->current;
    if (v->searched || !suspects_redundant(s, t)) return DAE_OK;
    v->searched = true;
    const equation_set *set = &v->plan.form->analysed->set;
    double *y = user_values(s);
    bool *rows = DAE_ARRAY(bool, 2 * (size_t)set->m);
    model_conflict conflict = {.row = -1, .with = rows ? rows + set->m : NULL};
    int count = -1;
    if (y && rows) {
        model_point at = {t, y, y + s->base->form.n, v->instance->parameters, v->instance->memory};
        count = search_redundant(s, &at, rows, &conflict);
    }
    dae_status status = count < 0 ? plan_exhausted(&s->diag) : DAE_OK;
    if (count > 0) status = release(s, t, rows);
    if (count == 0 && conflict.row >= 0) status = refuse_conflict(set, &conflict, &s->diag);
    dae_free_all(rows, y);
    return status;
}
