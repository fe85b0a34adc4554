/* What a variant chooses by numbers: states, positions, rows that are redundant. */
#include "solve/bind/reform_parts.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "model/model_redundant.h"
#include "model/model_structure.h"
#include "solve/hybrid/hybrid_parts.h"

dae_status reform_explain_selection(dae_solver *s, double t, selection_status status)
{
    const variant *v = s->reform->current;
    const equation_set *set = &v->form->analysed->set;
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
             "The index changes at t = %.9g: constraints depend on each other there:", t);
    for (int k = 0; k < count && k < 8; k++)
        diag_append(&s->diag, "%s %s", k ? "," : "", set->row[culprit[k]].name);
    diag_append(&s->diag,
                "%s. A mechanism in such a position can move in more ways than before; start "
                "elsewhere, or leave out a redundant constraint.",
                count > 8 ? ", .." : "");
    return DAE_ERR_SINGULAR;
}

/* Take the choice of states at s->bound.y, s->bound.yp. */
dae_status reform_choose_states(dae_solver *s, double t)
{
    variant *v = s->reform->current;
    if (!v->instance->selection) return DAE_OK;
    selection_status chosen = model_instance_select(v->instance, t, s->bound.y, s->bound.yp, true);
    if (chosen != SELECTION_CHANGED) return reform_explain_selection(s, t, chosen);
    dae_status status = variant_describe(s, v);
    return status == DAE_OK ? solver_repattern(s, v->problem) : status;
}

/* Fixed start values must be what the array found. */
static dae_status check_fixed(dae_solver *s, double t)
{
    const hybrid *h = s->hybrid;
    for (int i = 0; i < s->bound.n; i++) {
        double size = fmax(1.0, fabs(h->start[i]));
        if (h->fixed_by[i] < 0 || fabs(s->bound.y[i] - h->start[i]) <= 1e-6 * size) continue;
        diag_variable(&s->diag, i, problem_variable(s->bound.problem, i));
        s->diag.t = t;
        s->diag.value = s->bound.y[i];
        return diag_set(&s->diag, DAE_ERR_INITIAL,
                        "The fixed start value %.9g of %s does not satisfy the equations and their "
                        "derivatives; near it they hold with %.9g. Free it, or another one.",
                        h->start[i], s->diag.variable_name, s->bound.y[i]);
    }
    return DAE_OK;
}

/* Consistent values by the derivative array. */
static dae_status begin_array(dae_solver *s, double t, bool initial)
{
    array_run *run = s->hybrid->instance->array;
    array_status found = array_run_start(run, t, s->bound.y, s->bound.yp);
    s->diag.t = t;
    if (found == ARRAY_MEMORY) return reform_exhausted(s);
    if (found != ARRAY_OK)
        return diag_set(&s->diag, DAE_ERR_INITIAL,
                        "No consistent values were found at t = %.9g by the derivatives of the "
                        "equations, whose structure tells too little here. Give better start "
                        "values.",
                        t);
    dae_status status = initial ? check_fixed(s, t) : DAE_OK;
    s->reform->steps_since_watch = 0;
    return status == DAE_OK ? solver_begin(s, t, DAE_INIT_NONE) : status;
}

/* A product with a vector, by differences, solves the whole array: that takes minutes where
 * matrices take a second. */
static dae_status refuse_gmres(dae_solver *s, double t)
{
    s->diag.t = t;
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "From t = %.9g on the equations are integrated by their derivatives, as their "
                    "structure does not tell enough there, and GMRES would solve for all of these "
                    "in each of its iterations. Use another linear solver, such as dense.",
                    t);
}

/* Without a rewriting that makes structure and numbers agree: by the derivative array, if that
 * determines the solution near the values found so far. */
dae_status reform_seek_array(dae_solver *s, double t, bool initial)
{
    if (s->base_options.linear_solver == DAE_LINEAR_GMRES) return refuse_gmres(s, t);
    variant *v = s->reform->current;
    const model_instance *m = s->reform->base_instance;
    graph *g = s->base->model->flat->graph;
    double *ease = reform_ease(s), *y = reform_base_values(s);
    dae_status status = ease && y ? DAE_OK : reform_exhausted(s);
    if (status == DAE_OK) {
        model_point at = {t, y, y + s->base->form.n, m->parameters, v->instance->memory};
        graph_enter(g);
        if (!v->array)
            status = array_run_new(&v->array, s->base->model, &s->reform->slots, &at, ease);
        graph_recover(g);
        graph_leave(g);
        if (status != DAE_OK) reform_exhausted(s);
    }
    if (status == DAE_OK && !v->array) status = variant_explain_doubt(s, v, t);
    if (status == DAE_OK && !v->array_problem) status = variant_describe_array(s, v);
    if (status == DAE_OK) status = reform_bind_array(s, v, y, y + s->base->form.n);
    dae_free(ease);
    dae_free(y);
    return status == DAE_OK ? begin_array(s, t, initial) : status;
}

/* Fixed start values are exact, also where the events of the start end; later nothing is. */
void reform_tell_kept(dae_solver *s, double t, bool initial)
{
    reform *r = s->reform;
    bool *kept = model_series_kept(r->current->series);
    if (initial) r->start_time = t;
    for (int i = 0; i < r->current->form->n; i++)
        kept[i] = t == r->start_time && s->hybrid->fixed_by[i] >= 0;
}

/* ---- positions ---- */

bool reform_chose_positions(const dae_solver *s)
{
    return reform_active(s) && s->reform->current->instance->positions;
}

static dae_status explain_positions(dae_solver *s, double t, position_status status)
{
    const variant *v = s->reform->current;
    const equation_set *set = &v->form->analysed->set;
    s->diag.t = t;
    if (status == POSITIONS_NOT_FINITE)
        return diag_set(&s->diag, DAE_ERR_EVALUATION,
                        "The derivatives of the constraints cannot be evaluated at t = %.9g.", t);
    int culprit =
        v->form->formulated->positions->source[position_watch_culprit(v->instance->positions)];
    diag_equation(&s->diag, -1, set->row[culprit].name);
    s->diag.line = set->row[culprit].line;
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "Formulation %s chooses positions that the constraints determine, but at t = "
                    "%.9g %s depends on the other constraints.",
                    s->formulation->name, t, set->row[culprit].name);
}

/* A variant of the mode at hand with p2 as told; NULL: there is none yet. */
static variant *find_choice(const dae_solver *s, const bool *dependent)
{
    const reform *r = s->reform;
    size_t bytes = (size_t)r->current->form->formulated->positions->columns * sizeof *dependent;
    for (int k = 0; k < r->count; k++) {
        variant *v = r->list[k];
        const position_choice *c = v->form ? v->form->formulated->positions : NULL;
        bool fits = c && variant_same_mode(r, v, s->hybrid->instance->memory);
        if (fits && memcmp(c->dependent, dependent, bytes) == 0) return v;
    }
    return NULL;
}

/* Other positions: to the variant that has them, made here if need be, with the values at
 * s->bound.y. */
static dae_status change_positions(dae_solver *s, double t)
{
    reform *r = s->reform;
    variant *old = r->current, *v = find_choice(s, position_watch_better(old->instance->positions));
    double *y = reform_base_values(s), direction = s->run.direction;
    if (!y) return reform_exhausted(s);
    const double *yp = y + s->base->form.n;
    old->retired = true;
    dae_status status = v ? DAE_OK : variant_make(s, t, y, yp, &v);
    if (v) v->retired = false;
    if (status == DAE_OK) status = reform_bind_to(s, v, y, yp);
    if (status != DAE_OK) old->retired = false;
    dae_free(y);
    if (status != DAE_OK) return status;
    model_instance_prepare(s->hybrid->instance);
    s->run.direction = direction;
    s->run.history = 0;
    r->choices++;
    return reform_solve_levels(s, t, false);
}

/* Look at the positions at s->bound.y, s->bound.yp, and change them if they have become bad. */
dae_status reform_reconsider_positions(dae_solver *s, double t, bool *changed)
{
    position_status found =
        model_instance_look(s->reform->current->instance, t, s->bound.y, s->bound.yp);
    *changed = found == POSITIONS_BAD;
    if (found == POSITIONS_KEPT) return DAE_OK;
    return found == POSITIONS_BAD ? change_positions(s, t) : explain_positions(s, t, found);
}

/* ---- redundant constraints ---- */

/* To a variant without the equations `rows`, with the values at s->bound.y. */
static dae_status release(dae_solver *s, double t, const bool *rows)
{
    reform *r = s->reform;
    variant *old = r->current, *v = NULL;
    double *y = reform_base_values(s), direction = s->run.direction;
    if (!y) return reform_exhausted(s);
    old->retired = true;
    r->release = rows;
    dae_status status = variant_make(s, t, y, y + s->base->form.n, &v);
    r->release = NULL;
    if (status == DAE_OK) {
        reform_tell_redundant(s, &old->form->analysed->set, rows);
        v->searched = true;
        status = reform_bind_to(s, v, y, y + s->base->form.n);
    } else {
        old->retired = false;
    }
    dae_free(y);
    if (status != DAE_OK) return status;
    model_instance_prepare(s->hybrid->instance);
    s->run.direction = direction;
    return reform_solve_levels(s, t, false);
}

/* Whether the search is worth its time: the states cannot be chosen, or nothing else would tell. */
static bool suspects_redundant(const dae_solver *s, double t)
{
    enum { LARGEST = 500 };
    const variant *v = s->reform->current;
    if (v->index != 3 || v->doubt[0] || v->series) return false;
    if (!v->instance->selection) return v->form->analysed->set.n <= LARGEST;
    return model_instance_select(v->instance, t, s->bound.y, s->bound.yp, true) ==
           SELECTION_SINGULAR;
}

/* Once per variant, where all equations hold: release constraints that follow from others. */
dae_status reform_settle_redundant(dae_solver *s, double t)
{
    enum { ORDERS = 2 };
    variant *v = s->reform->current;
    if (v->searched || !suspects_redundant(s, t)) return DAE_OK;
    v->searched = true;
    const analysed *a = v->form->analysed;
    const model_instance *m = v->instance;
    double *y = reform_base_values(s);
    model_point at = {t, y, y + s->base->form.n, m->parameters, m->memory};
    double **x = y ? analysed_values(&a->set, &at, ORDERS) : NULL;
    bool *rows = DAE_ARRAY(bool, 2 * (size_t)a->set.m);
    model_conflict conflict = {.row = -1, .with = rows ? rows + a->set.m : NULL};
    int count = -1;
    if (x && rows) {
        equation_point point = {t, (const double *const *)x, ORDERS, m->parameters, m->memory};
        graph *g = s->base->model->flat->graph;
        graph_enter(g);
        count = model_redundant_find(a, &point, rows, &conflict);
        graph_recover(g);
        graph_leave(g);
    }
    dae_status status = count < 0 ? reform_exhausted(s) : DAE_OK;
    if (count > 0) status = release(s, t, rows);
    if (count == 0 && conflict.row >= 0) status = reform_refuse_conflict(s, &a->set, &conflict);
    dae_free(rows);
    dae_free(x);
    dae_free(y);
    return status;
}
