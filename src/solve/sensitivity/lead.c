/* The equations that are linearised: an index-1 form that shows all constraints, the run's own or
 * that of a companion, at points of the run. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/begin/begin.h"
#include "solve/hybrid/hybrid.h"
#include "solve/run/run.h"
#include "solve/sensitivity/run_error.h"
#include "solve/sensitivity/sensitivity_parts.h"
#include "solve/sensitivity/stage_system.h"
#include "solve/sensitivity/tangent_ledger.h"
#include "solve/sensitivity/tangent_past.h"

dae_status sensitivity_no_memory(const dae_sensitivity *x)
{
    return diag_set(&x->run->diag, DAE_ERR_MEMORY, "%s: out of memory.", x->what);
}

/* ---- life ---- */

static void tangents_free(form_tangents *q)
{
    while (q) {
        form_tangents *next = q->next;
        model_tangent_free(q->rows);
        model_tangent_free(q->crossings);
        model_tangent_free(q->outputs);
        model_tangent_free(q->actions);
        model_tangent_free(q->delayed);
        dae_free(q);
        q = next;
    }
}

/* What belongs to the lead at hand. */
static void lead_release(lead *l)
{
    if (l->solver) iteration_free(&l->matrix);
    dae_free_all(l->y, l->user);
    l->y = l->yp = l->work = l->values = l->user = NULL;
    l->solver = NULL;
    l->row = l->row_outputs = NAN;
}

void lead_free(lead *l)
{
    lead_release(l);
    tangents_free(l->all);
    dae_solver_free(l->companion);
    *l = (lead){0};
}

/* ---- which form ---- */

bool lead_is_fit(const dae_solver *s)
{
    const binding *b = &s->bound;
    if (b->rewritten || b->array || b->forms) return false;
    if (!s->hybrid) return true; /* residual callbacks: theirs to say */
    if (s->hybrid->instance->array) return false;
    bool residual = !binding_uses_forms(b) && !binding_second_order(b) && !b->ode;
    if (!residual || b->method->forms == FORM_SERIES) return false;
    const model_mode *v = s->modes->current;
    if (v)
        return !v->plan.form->levels && !v->plan.runs_base && v->plan.form->seen_count == 0 &&
               !v->instance->positions && v->plan.form->formulated->candidates > 0;
    v = s->modes->slots_known ? mode_find(s->modes, s->hybrid->instance->memory) : NULL;
    return v && !v->plan.form && v->plan.index <= 1;
}

/* Whether it integrates a model of index 1 as it is written, whose constraints do not show. */
static bool is_plain(const dae_solver *s)
{
    const binding *b = &s->bound;
    if (!s->hybrid || s->modes->current || b->forms || b->ode || s->hybrid->instance->array)
        return false;
    if (binding_uses_forms(b) || binding_second_order(b) || b->method->forms == FORM_SERIES)
        return false;
    const model_mode *v =
        s->modes->slots_known ? mode_find(s->modes, s->hybrid->instance->memory) : NULL;
    return v && v->plan.runs_base && !v->plan.doubt[0];
}

static lead_key key_of(const dae_solver *s)
{
    return (lead_key){s->bound.problem, s->modes ? s->modes->current : NULL, s->bound.method,
                      s->modes ? s->modes->choices : s->bound.choices};
}

bool lead_stands(const dae_sensitivity *x)
{
    const lead *l = &x->lead;
    if (!l->solver) return false;
    lead_key now = key_of(l->solver);
    bool same = now.problem == l->key.problem && now.mode == l->key.mode &&
                now.method == l->key.method && now.choices == l->key.choices;
    if (!same || l->n != l->solver->bound.n) return false;
    bool fit = lead_is_fit(x->run), plain = is_plain(x->run);
    return l->solver == l->companion ? !fit && !plain : l->plain ? plain : fit;
}

/* ---- the companion ---- */

dae_status lead_companion_new(const dae_problem *base, const dae_options *tolerances,
                              dae_solver **companion, dae_diag *diag)
{
    const dae_options o = lead_companion_options(tolerances, "dummy");
    dae_status status = solver_new(base, &o, companion, diag);
    if (status != DAE_OK) return status;
    (*companion)->wishes.unfolded = true;
    status = hybrid_open_ahead(*companion);
    if (status != DAE_OK && diag) *diag = (*companion)->diag;
    return status;
}

/* Values of the run at t in at_y and at_yp: as rows show them, or as an event within the step takes
 * them, or its own stages have them, whose interpolant is not refined. Both must be one point where
 * an event is looked at. */
static dae_status point_of_run(dae_sensitivity *x, double t)
{
    dae_solver *s = x->run;
    const bool plain = x->lead.as_taken || x->lead.as_solved;
    if (!plain || s->run.phase != PHASE_RUNNING) return solver_ask(s, t);
    const run_observer *o = s->observer;
    dae_status status = o && o->asked ? o->asked(o->user, t, true) : DAE_OK;
    if (status != DAE_OK) return status;
    solver_interpolate(s, t, 0, s->bound.at_y);
    solver_interpolate(s, t, 1, s->bound.at_yp);
    return DAE_OK;
}

dae_status lead_companion_start(const dae_problem *base, const dae_options *tolerances, double t,
                                const char *what, dae_solver **companion, dae_diag *diag)
{
    dae_status status = lead_companion_new(base, tolerances, companion, diag);
    if (status != DAE_OK) return status;
    status = dae_solver_start(*companion, t, NULL, NULL);
    if (status != DAE_OK && diag) *diag = (*companion)->diag;
    if (status != DAE_OK || lead_is_fit(*companion)) return status;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "%s: at t = %.9g the equations are solved by their derivative array, or choose "
                    "positions by numbers; such systems have no place here. If they are singular "
                    "at that time only, as time*der(x) = .. is at 0, begin a little later.",
                    what, t);
}

/* y, then y' = values of the run at t in the user's unknowns. */
static dae_status run_values(dae_sensitivity *x, double t, double *y)
{
    dae_solver *s = x->run;
    dae_status status = point_of_run(x, t);
    if (status == DAE_OK)
        values_to_user(s, t, s->bound.at_y, s->bound.at_yp, y, y + s->base->form.n);
    return status;
}

/* The companion in the mode of the run, at values of the user's unknowns, y and then y', made
 * consistent on all levels. */
static dae_status place_companion(dae_sensitivity *x, double t, const double *y)
{
    dae_solver *s = x->run, *c = x->lead.companion;
    const size_t n = (size_t)s->base->form.n;
    c->hybrid->opening.stands = false;
    c->hybrid->at_start = false;
    c->hybrid->direction = s->run.direction < 0.0 ? -1.0 : 1.0;
    c->hybrid->started = s->hybrid->started;
    c->run.t = c->run.t_old = c->run.t_new = t;
    model_instance_follow(c->hybrid->instance, s->hybrid->instance);
    values_from_user(c, y, y + n);
    dae_status status = bind_mode_at_hand(c, t);
    if (status == DAE_OK) {
        values_from_user(c, y, y + n);
        status = hybrid_begin_again(c);
    }
    if (status != DAE_OK) {
        s->diag = c->diag;
        return status;
    }
    if (lead_is_fit(c)) return DAE_OK;
    s->diag.t = t;
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "%s: at t = %.9g the equations are solved by their derivative array, or choose "
                    "positions by numbers; such systems are not linearised.",
                    x->what, t);
}

/* ---- taking ---- */

/* Whether all derivatives of a form's equations by its unknowns read parameters alone. False
 * without memory, too: they are evaluated then. */
static bool has_constant_derivatives(const model_form *f)
{
    graph *g = f->flat->graph;
    bool varies = true, known = false;
    if (!f->jacobian.e) return false;
    graph_enter(g);
    known = graph_reads(g, f->jacobian.e, f->jacobian_outputs, READS_RUN, &varies);
    graph_leave(g);
    return known && !varies;
}

static form_tangents *tangents_of(lead *l, const directions *d, const model_form *f)
{
    for (form_tangents *q = l->all; q; q = q->next)
        if (q->form == f) return q;
    form_tangents *q = DAE_NEW(form_tangents);
    if (!q) return NULL;
    q->form = f;
    q->constant = has_constant_derivatives(f);
    q->rows =
        model_tangent_new(f->flat->graph, f->residual.e, (size_t)f->rows, f->n, &d->inputs, false);
    q->next = l->all;
    l->all = q;
    return q->rows ? q : NULL;
}

static bool lead_room(dae_sensitivity *x)
{
    lead *l = &x->lead;
    const size_t n = (size_t)l->solver->bound.n;
    l->n = (int)n;
    const size_t forms = lead_has_forms(l) ? 7 * n : 0;
    l->y = DAE_ARRAY(double, 3 * n + (size_t)x->directions.named + forms);
    if (!l->y) return false;
    l->user = DAE_ARRAY(double, 2 * (size_t)x->run->base->form.n);
    if (!l->user) return false;
    l->yp = l->y + n;
    l->work = l->y + 2 * n;
    l->values = l->y + 3 * n;
    l->forms = l->values + x->directions.named;
    l->at = NAN;
    l->weights = l->solver->bound.norm.weights;
    l->form = l->solver->hybrid ? l->solver->hybrid->instance->form : NULL;
    l->tangents = l->form ? tangents_of(l, &x->directions, l->form) : NULL;
    l->constant = l->tangents && l->tangents->constant && !l->solver->hybrid->instance->selection;
    l->evaluated = false;
    return !l->form || l->tangents;
}

/* What the lead needs beside a solver. */
static dae_status take_solver(dae_sensitivity *x, dae_solver *chosen)
{
    lead *l = &x->lead;
    dae_options o = chosen->bound.options;
    o.linear_solver = o.linear_solver == DAE_LINEAR_GMRES ? DAE_LINEAR_AUTO : o.linear_solver;
    dae_status status = iteration_new(&l->matrix, &chosen->bound.eval, &o, &x->run->diag);
    if (status != DAE_OK) return status;
    l->solver = chosen;
    l->key = key_of(chosen);
    collocation_drop_systems(x);
    run_error_restart(x->error);
    return lead_room(x) ? DAE_OK : sensitivity_no_memory(x);
}

/* Whether a form chooses its states by numbers: a point beside the run may need other ones. */
static bool chooses_states(const dae_solver *s)
{
    return is_formulated(s) && s->hybrid && s->hybrid->instance->selection;
}

dae_status lead_take(dae_sensitivity *x, double t, bool whole)
{
    dae_solver *s = x->run;
    lead *l = &x->lead;
    lead_release(l);
    const bool fit = lead_is_fit(s) && !(x->apart && chooses_states(s));
    l->plain = !whole && !fit && is_plain(s);
    if (fit || l->plain) return take_solver(x, s);
    double *y = DAE_ARRAY(double, 2 * (size_t)s->base->form.n);
    dae_status status = y ? run_values(x, t, y) : sensitivity_no_memory(x);
    if (status == DAE_OK) status = lead_take_at(x, t, y);
    dae_free(y);
    return status;
}

dae_status lead_take_at(dae_sensitivity *x, double t, const double *y)
{
    lead *l = &x->lead;
    dae_status status = DAE_OK;
    lead_release(l);
    if (!x->run->hybrid) {
        dae_solver *chosen = NULL;
        status = lead_take_form(x, t, y, &chosen);
        return status == DAE_OK ? take_solver(x, chosen) : status;
    }
    if (!l->companion)
        status =
            lead_companion_new(x->run->base, &x->run->base_options, &l->companion, &x->run->diag);
    if (status == DAE_OK) status = place_companion(x, t, y);
    return status == DAE_OK ? take_solver(x, l->companion) : status;
}

/* ---- points ---- */

/* The form's values from those of the run at t: states as they are, the rest by the equations. */
static dae_status find_values(dae_sensitivity *x, double t)
{
    lead *l = &x->lead;
    dae_solver *s = x->run, *c = l->solver;
    if (c == s) {
        dae_status status = point_of_run(x, t);
        if (status != DAE_OK) return status;
        vector_copy(l->n, s->bound.at_y, l->y);
        vector_copy(l->n, s->bound.at_yp, l->yp);
        return DAE_OK;
    }
    dae_status status = run_values(x, t, l->user);
    if (status != DAE_OK) return status;
    values_from_user(c, l->user, l->user + s->base->form.n);
    double h = s->run.t_new != s->run.t_old ? s->run.t_new - s->run.t_old : 1e-3;
    initializer_project(c->bound.init, t, h, c->bound.kinds, c->bound.norm.weights, c->bound.y,
                        c->bound.yp);
    vector_copy(l->n, c->bound.y, l->y);
    vector_copy(l->n, c->bound.yp, l->yp);
    return DAE_OK;
}

dae_status lead_values(dae_sensitivity *x, double t)
{
    if (x->lead.at == t) return DAE_OK;
    x->lead.at = NAN;
    dae_status status = find_values(x, t);
    if (status == DAE_OK) x->lead.at = t;
    return status;
}

void lead_keep(const lead *l, double *point)
{
    vector_copy(l->n, l->y, point);
    vector_copy(l->n, l->yp, point + l->n);
}

void lead_recall(lead *l, double t, const double *point)
{
    vector_copy(l->n, point, l->y);
    vector_copy(l->n, point + l->n, l->yp);
    l->at = t;
}

bool lead_states_may_change(const dae_sensitivity *x)
{
    const dae_solver *c = x->lead.solver;
    if (c == x->run) return false;
    return lead_has_forms(&x->lead) || (is_formulated(c) && c->hybrid->instance->selection);
}

bool lead_states_hold(dae_sensitivity *x, double t)
{
    const lead *l = &x->lead;
    dae_solver *c = l->solver;
    if (c != x->run && lead_has_forms(l)) return lead_form_holds(x, t);
    if (!lead_states_may_change(x)) return true;
    return model_instance_select(c->hybrid->instance, t, l->y, l->yp, false) == SELECTION_KEPT;
}

tape_inputs lead_point(const dae_sensitivity *x, double t)
{
    const lead *l = &x->lead;
    const model_instance *m = l->solver->hybrid->instance;
    return (tape_inputs){.time = t,
                         .values = {l->y, l->yp, NULL, NULL},
                         .parameters = m->parameters,
                         .memory = x->past ? tangent_past_memory(x->past) : m->memory};
}

static dae_status explain_matrix(dae_sensitivity *x, double t, iteration_status status)
{
    dae_solver *s = x->run;
    s->diag.t = t;
    if (status == ITERATION_MEMORY) return sensitivity_no_memory(x);
    if (status == ITERATION_SINGULAR) {
        int i = x->lead.matrix.singular_column;
        const char *name = problem_variable(x->lead.solver->bound.problem, i);
        diag_variable(&s->diag, -1, name ? name : "");
        return diag_set(&s->diag, DAE_ERR_SINGULAR,
                        "%s: the linearised equations at t = %.9g do not determine %s.", x->what, t,
                        name ? name : "a variable");
    }
    return diag_set(&s->diag, DAE_ERR_EVALUATION,
                    "%s: the derivatives of the equations cannot be evaluated at t = %.9g.",
                    x->what, t);
}

/* F_Y and F_Y' at the point, unless they are there already. */
static iteration_status evaluate_derivatives(dae_sensitivity *x, double t)
{
    lead *l = &x->lead;
    const run_state *r = &x->run->run;
    const double h = r->t_new != r->t_old ? r->t_new - r->t_old : 1e-3;
    if (l->constant && l->evaluated) {
        l->matrix.factored = false; /* as behind an evaluation */
        return ITERATION_OK;
    }
    x->stats.jacobians++;
    const bool steered = tangent_past_steer(x, t);
    iteration_status status =
        iteration_evaluate(&l->matrix, t, l->y, l->yp, 1.0 / h, h, l->weights, NULL);
    if (steered) tangent_past_let_go(x);
    l->evaluated = status == ITERATION_OK;
    return status;
}

dae_status lead_linearise(dae_sensitivity *x, double t)
{
    lead *l = &x->lead;
    iteration_status status = evaluate_derivatives(x, t);
    l->row = l->row_outputs = NAN;
    if (status == ITERATION_OK && lead_has_forms(l) && lead_sharpen(x, t) != EVAL_OK)
        status = ITERATION_RETRY;
    if (status != ITERATION_OK) return explain_matrix(x, t, status);
    if (l->form) {
        dae_status checked = tangent_past_check(x, t);
        if (checked != DAE_OK) return checked;
        tangent_past_load(x, t);
        tape_inputs at = lead_point(x, t);
        model_tangent_at(l->tangents->rows, &at);
    }
    return DAE_OK;
}

/* Move number k that callbacks read, or all of them in the proportions of the mixture (k < 0), by a
 * part of their sizes away from `kept`. What single numbers move by, exactly. */
static double move_values(dae_sensitivity *x, int k, double part, const double *kept)
{
    const directions *d = &x->directions;
    double *p = x->request.values;
    if (k >= 0) {
        p[k] = kept[k] + part * d->list[k].size;
        return p[k] - kept[k];
    }
    for (int i = 0; i < d->named; i++) p[i] = kept[i] + part * d->mix[i] * d->list[i].size;
    return part;
}

/* dF/dp_k of callbacks at (t, y, y') by a central difference in a number that they read; k < 0:
 * along the mixture. */
static dae_status differ(dae_sensitivity *x, double t, const double *y, const double *yp, int k,
                         double *out)
{
    static const double REACH = 6e-6; /* cube root of the unit of rounding */
    lead *l = &x->lead;
    evaluator *e = &l->solver->bound.eval;
    const size_t bytes = (size_t)x->directions.named * sizeof *l->values;
    memcpy(l->values, x->request.values, bytes);
    const double up = move_values(x, k, REACH, l->values);
    eval_status status = evaluate_residual(e, t, y, yp, out, &e->stats->residuals);
    const double down = -move_values(x, k, -REACH, l->values);
    if (status == EVAL_OK) status = evaluate_residual(e, t, y, yp, l->work, &e->stats->residuals);
    memcpy(x->request.values, l->values, bytes);
    if (status != EVAL_OK) return explain_matrix(x, t, ITERATION_RETRY);
    for (int i = 0; i < l->n; i++) out[i] = (out[i] - l->work[i]) / (up + down);
    return DAE_OK;
}

dae_status lead_explicit_named(dae_sensitivity *x, double t, const double *y, const double *yp,
                               int k, double *out)
{
    const lead *l = &x->lead;
    vector_zero(l->n, out);
    if (lead_has_forms(l) && x->request.values)
        return lead_differ_form(x, t, y, yp, k, out) == EVAL_OK
                   ? DAE_OK
                   : explain_matrix(x, t, ITERATION_RETRY);
    if (!x->request.derivative) return x->request.values ? differ(x, t, y, yp, k, out) : DAE_OK;
    if (x->request.derivative(t, y, yp, k, out, x->request.user) == 0 && vector_finite(l->n, out))
        return DAE_OK;
    x->run->diag.t = t;
    return diag_set(&x->run->diag, DAE_ERR_CALLBACK,
                    "%s: the derivative by parameter %d failed at t = %.9g.", x->what, k, t);
}

/* The same along the mixture. */
static dae_status explicit_mixed(dae_sensitivity *x, double t, double *out)
{
    const directions *d = &x->directions;
    lead *l = &x->lead;
    if (!x->request.derivative && x->request.values && !lead_has_forms(l))
        return differ(x, t, l->y, l->yp, -1, out);
    dae_status status = DAE_OK;
    vector_zero(l->n, out);
    for (int k = 0; k < d->named && status == DAE_OK; k++) {
        status = lead_explicit_named(x, t, l->y, l->yp, k, l->work);
        vector_axpy(l->n, d->mix[k] * d->list[k].size, l->work, out);
    }
    return status;
}

dae_status lead_explicit(dae_sensitivity *x, double t, int k, double dt, double *out)
{
    lead *l = &x->lead;
    vector_zero(l->n, out);
    const directions *d = &x->directions;
    if (k >= directions_asked(d) && d->first_discrete == d->inputs.count) return DAE_OK;
    if (l->form) {
        const double *moved = k >= 0 ? directions_moved(&x->directions, k) : NULL;
        model_tangent_apply(l->tangents->rows, NULL, NULL, moved, dt, out);
        return DAE_OK;
    }
    if (k < 0 || k >= directions_asked(&x->directions)) return DAE_OK;
    if (x->directions.mix) return explicit_mixed(x, t, out);
    return lead_explicit_named(x, t, l->y, l->yp, k, out);
}

/* `made`, or derivatives of expressions of the form made now, taken at the point. */
static model_tangent *taken(dae_sensitivity *x, double t, model_tangent **made, const expr *e,
                            size_t count)
{
    const model_form *f = x->lead.form;
    if (!*made)
        *made = model_tangent_new(f->flat->graph, e, count, f->n, &x->directions.inputs, true);
    if (!*made) return NULL;
    tangent_past_load(x, t);
    tape_inputs at = lead_point(x, t);
    model_tangent_at(*made, &at);
    return *made;
}

model_tangent *lead_crossings(dae_sensitivity *x, double t)
{
    const model_form *f = x->lead.form;
    return taken(x, t, &x->lead.tangents->crossings, f->crossing.e, f->flat->relation_count);
}

model_tangent *lead_outputs(dae_sensitivity *x, double t)
{
    const model_form *f = x->lead.form;
    if (x->lead.row_outputs == t) return x->lead.tangents->outputs;
    model_tangent *m = taken(x, t, &x->lead.tangents->outputs, f->output.e, f->output.outputs);
    x->lead.row_outputs = m ? t : NAN;
    return m;
}

/* Values of discrete equations, then of all actions, over the unknowns; EXPR_NONE: out of reach. */
static expr *list_actions(const model_form *f, size_t *count)
{
    const flat_model *m = f->flat;
    *count = m->discrete_count;
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++)
            *count += m->whens[w].branches[b].action_count;
    expr *e = DAE_ARRAY(expr, *count);
    size_t at = 0;
    for (size_t i = 0; e && i < m->discrete_count; i++)
        e[at++] = model_form_mapped(f, m->discretes[i].value);
    for (size_t w = 0; e && w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++)
            for (size_t i = 0; i < m->whens[w].branches[b].action_count; i++) {
                const flat_action *a = &m->whens[w].branches[b].actions[i];
                bool value = a->kind == ACTION_ASSIGN || a->kind == ACTION_REINIT;
                e[at++] = value ? model_form_mapped(f, a->value) : EXPR_NONE;
            }
    return e;
}

model_tangent *lead_actions(dae_sensitivity *x, double t)
{
    size_t count = 0;
    expr *e = x->lead.tangents->actions ? NULL : list_actions(x->lead.form, &count);
    if (!e && !x->lead.tangents->actions) return NULL;
    model_tangent *m = taken(x, t, &x->lead.tangents->actions, e, count);
    dae_free(e);
    return m;
}

typedef struct state_scan {
    const lead *l;
    bool alone;
} state_scan;

static void see_state(void *context, const expr_node *leaf)
{
    state_scan *scan = context;
    if (leaf->op == EXPR_VARIABLE && (leaf->order > 0 || !lead_is_state(scan->l, leaf->index)))
        scan->alone = false;
}

/* What is delayed, over the unknowns. NULL: memory, or refused. */
static expr *list_delayed(dae_sensitivity *x)
{
    const model_form *f = x->lead.form;
    const flat_model *m = f->flat;
    expr *e = DAE_ARRAY(expr, m->delay_count);
    for (size_t i = 0; e && i < m->delay_count; i++) {
        e[i] = model_form_mapped(f, m->delays[i].value);
        if (e[i] != EXPR_NONE) continue;
        const int line = x->run->diag.line = m->delays[i].place.line;
        if (graph_failed(m->graph))
            sensitivity_no_memory(x);
        else
            diag_set(&x->run->diag, DAE_ERR_UNSUPPORTED,
                     "%s: what is delayed at %.100s:%d has a derivative by time of a variable that "
                     "the equations do not determine. Give it a name: v = der(x).",
                     x->what, model_file(x->run), line);
        dae_free(e);
        return NULL;
    }
    if (!e) sensitivity_no_memory(x);
    return e;
}

dae_status lead_delayed(dae_sensitivity *x, double t, const model_tangent **delayed)
{
    lead *l = &x->lead;
    form_tangents *q = l->tangents;
    const size_t count = l->form->flat->delay_count;
    state_scan scan = {l, !l->solver->hybrid->instance->selection};
    expr *e = q->delayed ? NULL : list_delayed(x);
    if (!e && !q->delayed) return x->run->diag.status;
    if (e && !graph_leaves(l->form->flat->graph, e, count, see_state, &scan)) scan.alone = false;
    if (e) q->delayed_states = scan.alone;
    *delayed = taken(x, t, &q->delayed, e, count);
    dae_free(e);
    return *delayed ? DAE_OK : sensitivity_no_memory(x);
}

/* ---- states and what follows from them ---- */

dae_status lead_factor_states(dae_sensitivity *x)
{
    lead *l = &x->lead;
    double *cy = DAE_ARRAY(double, 2 * (size_t)l->n), *cyp = cy + l->n;
    if (!cy) return sensitivity_no_memory(x);
    for (int i = 0; i < l->n; i++) {
        cyp[i] = lead_is_state(l, i);
        cy[i] = 1.0 - cyp[i];
    }
    iteration_status status = iteration_factor_columns(&l->matrix, cy, cyp);
    dae_free(cy);
    return status == ITERATION_OK ? DAE_OK : explain_matrix(x, x->run->run.t, status);
}

/* One Newton step for the values that follow from the states: slopes of the run's polynomials are
 * off by its errors, those behind an event are not, and jumps are differences of both. */
dae_status lead_settle(dae_sensitivity *x, double t)
{
    lead *l = &x->lead;
    evaluator *e = &l->solver->bound.eval;
    if (evaluate_residual(e, t, l->y, l->yp, l->work, &e->stats->residuals) != EVAL_OK)
        return explain_matrix(x, t, ITERATION_RETRY);
    iteration_status solved = iteration_solve(&l->matrix, NULL, l->work);
    x->stats.solves++;
    if (solved != ITERATION_OK) return explain_matrix(x, t, solved);
    for (int i = 0; i < l->n; i++) *(lead_is_state(l, i) ? &l->yp[i] : &l->y[i]) -= l->work[i];
    return DAE_OK;
}

/* slopes = those of the run's polynomials at t, within its last step, of the lead's unknowns that
 * are the user's; those by the equations of all others. */
static void interpolated_slopes(dae_sensitivity *x, double t, double *slopes)
{
    lead *l = &x->lead;
    dae_solver *s = x->run;
    const binding *b = &s->bound;
    const int n = s->base->form.n;
    solver_interpolate(s, t, 0, b->at_y);
    solver_interpolate(s, t, 1, b->at_yp);
    vector_copy(l->n, l->solver == s ? b->at_yp : l->yp, slopes);
    if (l->solver == s) return;
    values_to_user(s, t, b->at_y, b->at_yp, l->user, l->user + n);
    for (int u = 0; u < n; u++) {
        model_place at = place_of(l->solver, u, false);
        if (at.unknown >= 0 && !at.slope) slopes[at.unknown] = at.sign * l->user[n + u];
    }
}

/* filtered = R d of the states, R = (F_y' + h F_y)^-1 F_y' (times = 1), or (3 R^2 - 2 R^3) d (3);
 * *good is false where it is singular, or makes d larger, as where solutions grow within h. The
 * factors of the states stand afterwards. */
static dae_status filter_slopes(dae_sensitivity *x, double h, int times, const double *d,
                                double *filtered, bool *good)
{
    lead *l = &x->lead;
    double *cy = DAE_ARRAY(double, 2 * (size_t)l->n), *cyp = cy + l->n, most = 0.0, left = 0.0;
    if (!cy) return sensitivity_no_memory(x);
    for (int i = 0; i < l->n; i++) {
        cyp[i] = lead_is_state(l, i);
        cy[i] = lead_is_state(l, i) ? h : 1.0;
    }
    iteration_status solved = iteration_factor_columns(&l->matrix, cy, cyp);
    for (int i = 0; i < times && solved == ITERATION_OK; i++) {
        double *to = i == 0 ? filtered : cy; /* which factors have used */
        matrix_multiply(&l->matrix.jac.layout, l->matrix.jac.dfdyp, i == 0 ? d : filtered, to);
        solved = iteration_solve(&l->matrix, NULL, to);
        x->stats.solves++;
        if (i == 2) /* 3 R^2 - 2 R^3 */
            for (int k = 0; k < l->n; k++) filtered[k] = 3.0 * filtered[k] - 2.0 * cy[k];
        if (i == 1) vector_copy(l->n, cy, filtered);
    }
    dae_free(cy);
    if (solved == ITERATION_MEMORY) return sensitivity_no_memory(x);
    for (int i = 0; i < l->n; i++) {
        if (!lead_is_state(l, i)) continue;
        most = fmax(most, fabs(d[i]) / l->weights[i]);
        left = fmax(left, fabs(filtered[i]) / l->weights[i]);
    }
    *good = solved == ITERATION_OK && left <= 2.0 * most;
    return lead_factor_states(x);
}

/* With an error delta of the run's y, slopes by the equations are off by J delta, and those of its
 * polynomials by about delta/h. (I - h J)^-1 (f - h J p') has of each direction the better one: the
 * fast ones of stiff equations, in which S stands on the smooth solution, from the polynomial.
 * Where the error of the run is known v' takes the place of the polynomial's, and 3 R^2 - 2 R^3
 * that of R = (I - h J)^-1: it leaves less of the fast directions, and more of the slow ones. */
dae_status lead_smooth(dae_sensitivity *x, double t, double *c, double *cp)
{
    lead *l = &x->lead;
    const run_state *r = &x->run->run;
    const double h = r->t_new - r->t_old;
    bool good = false;
    vector_zero(l->n, c);
    vector_zero(l->n, cp);
    if (r->phase != PHASE_RUNNING || h == 0.0) return DAE_OK;
    double *d = DAE_ARRAY(double, 2 * (size_t)l->n), *filtered = d + l->n;
    if (!d) return sensitivity_no_memory(x);
    const bool better = run_error_slopes(x->error, t, l->n, d);
    if (!better) interpolated_slopes(x, t, d);
    for (int i = 0; i < l->n; i++) d[i] = lead_is_state(l, i) ? l->yp[i] - d[i] : 0.0;
    dae_status status = filter_slopes(x, h, better ? 3 : 1, d, filtered, &good);
    for (int i = 0; i < l->n && good; i++) c[i] = lead_is_state(l, i) ? filtered[i] - d[i] : 0.0;
    vector_zero(l->n, d);
    if (status == DAE_OK && good) status = lead_complete_with(x, t, d, c, cp);
    dae_free(d);
    return status;
}

dae_status lead_complete_with(dae_sensitivity *x, double t, double *b, double *s, double *sp)
{
    lead *l = &x->lead;
    const jacobian *j = &l->matrix.jac;
    for (int i = 0; i < l->n; i++)
        if (!lead_is_state(l, i)) s[i] = 0.0;
    matrix_multiply(&j->layout, j->dfdy, s, l->work);
    for (int i = 0; i < l->n; i++) b[i] = -(b[i] + l->work[i]);
    iteration_status solved = iteration_solve(&l->matrix, NULL, b);
    x->stats.solves++;
    if (solved != ITERATION_OK) return explain_matrix(x, t, solved);
    for (int i = 0; i < l->n; i++) {
        sp[i] = lead_is_state(l, i) ? b[i] : 0.0;
        if (!lead_is_state(l, i)) s[i] = b[i];
    }
    return DAE_OK;
}

dae_status lead_complete(dae_sensitivity *x, double t, int k, double dt, double *s, double *sp)
{
    double *b = DAE_ARRAY(double, x->lead.n);
    dae_status status = b ? lead_explicit(x, t, k, dt, b) : sensitivity_no_memory(x);
    if (status == DAE_OK) status = lead_complete_with(x, t, b, s, sp);
    dae_free(b);
    return status;
}

/* ---- the user's unknowns ---- */

void lead_to_user(const dae_sensitivity *x, const double *s, const double *sp, double *user_s,
                  double *user_sp)
{
    const lead *l = &x->lead;
    const int n = x->run->base->form.n;
    const model_form *f = is_formulated(l->solver) ? l->form : NULL;
    for (int i = 0; i < n; i++) {
        user_s[i] = f ? value_at_place(f->place[i], s, sp) : s[i];
        if (user_sp) user_sp[i] = f ? value_at_place(f->place_slope[i], s, sp) : sp[i];
    }
}

void lead_from_user(const dae_sensitivity *x, const double *user_s, const double *user_sp,
                    double *s, double *sp)
{
    const lead *l = &x->lead;
    if (is_formulated(l->solver)) {
        mode_from_user(l->solver->modes->current, user_s, user_sp, s, sp);
        return;
    }
    vector_copy(l->n, user_s, s);
    vector_copy(l->n, user_sp, sp);
}

/* S of the lead at hand in the user's unknowns: for each direction S, then S'. NULL: memory. */
static double *user_sensitivities(const dae_sensitivity *x)
{
    const size_t n = (size_t)x->run->base->form.n, m = (size_t)x->lead.n;
    double *user = DAE_ARRAY(double, 2 * n * (size_t)x->directions.count);
    for (size_t k = 0; user && k < (size_t)x->directions.count; k++)
        lead_to_user(x, x->s + k * m, x->sp + k * m, user + 2 * k * n, user + (2 * k + 1) * n);
    return user;
}

/* What lead_change does to S behind the choice. */
static void record_change(dae_sensitivity *x)
{
    ledger_point(x->ledger, &x->lead);
    ledger_from_user(x->ledger);
    if (!x->lead.plain) ledger_complete(x->ledger, false);
}

dae_status lead_change(dae_sensitivity *x, bool whole)
{
    const size_t n = (size_t)x->run->base->form.n;
    const model_form *form = x->lead.form;
    const int before = x->lead.n;
    double *user = user_sensitivities(x);
    if (!user) return sensitivity_no_memory(x);
    /* callbacks keep their unknowns, and S meets their equations already: nothing happens to it */
    struct tangent_ledger *ledger = form ? x->ledger : NULL;
    ledger_begin(ledger);
    ledger_to_user(ledger);
    dae_status status = lead_take(x, x->t, whole);
    /* pieces of this step stay where other states of the same unknowns were chosen: rows are asked
     * for behind the choice */
    if (status != DAE_OK || x->lead.form != form || x->lead.n != before) pieces_drop(x);
    if (status == DAE_OK && !sensitivity_room(x)) status = sensitivity_no_memory(x);
    const bool plain = x->lead.plain;
    if (status == DAE_OK && (!plain || ledger)) status = lead_values(x, x->t);
    if (status == DAE_OK && (!plain || ledger)) status = lead_linearise(x, x->t);
    if (status == DAE_OK && !plain) status = lead_factor_states(x);
    if (status == DAE_OK && ledger) record_change(x);
    for (size_t k = 0; k < (size_t)x->directions.count && status == DAE_OK; k++) {
        double *s = x->s + k * (size_t)x->lead.n, *sp = x->sp + k * (size_t)x->lead.n;
        lead_from_user(x, user + 2 * k * n, user + (2 * k + 1) * n, s, sp);
        if (!plain) status = lead_complete(x, x->t, (int)k, 0.0, s, sp);
    }
    dae_free(user);
    return status == DAE_OK && ledger ? x->recorder->changed(x->recorder->user) : status;
}
