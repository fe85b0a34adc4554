/* The linear system where a run stands. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/vector.h"
#include "solve/linearise/linearise_parts.h"
#include "solve/run/run.h"

/* ---- a lead at the point ---- */

static const model_form *form_of(const linear_work *w)
{
    return w->run->base->model;
}

static dae_status check_solver(const dae_solver *s, dae_diag *diag)
{
    const model_form *f = s->base->model;
    if (s->run.phase == PHASE_NEW)
        return diag_set(diag, DAE_ERR_STATE, "Linearisation: the solver has not been started.");
    if (f && f->flat->delay_count > 0)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Linearisation: the model has delayed values: the past is part of its "
                        "state, and A would be no matrix.");
    return DAE_OK;
}

static dae_status name_all(linear_work *w, dae_diag *diag)
{
    direction *list = NULL;
    int count = 0;
    dae_status status = linear_name_inputs(w, &list, &count, diag);
    for (int k = 0; status == DAE_OK && w->request.values && !form_of(w) && k < count; k++)
        if (w->request.values[k] != 0.0) list[k].size = fabs(w->request.values[k]);
    if (status == DAE_OK) status = linear_name_outputs(w, diag);
    if (status == DAE_OK) status = directions_listed(&w->x->directions, w->run, list, count, diag);
    dae_free(list);
    return status;
}

/* States of the lead: none where a model without unknowns has one that stands in. */
static dae_status list_states(linear_work *w)
{
    const lead *l = &w->x->lead;
    const bool none = form_of(w) && form_of(w)->resting;
    dae_free(w->states);
    w->state_count = 0;
    w->states = DAE_ARRAY(int, l->n);
    if (!w->states) return sensitivity_no_memory(w->x);
    for (int i = 0; i < l->n && !none; i++)
        if (lead_is_state(l, i)) w->states[w->state_count++] = i;
    return DAE_OK;
}

static dae_status take_lead(linear_work *w)
{
    const double t = w->run->run.t;
    dae_status status = lead_take(w->x, t, true);
    if (status == DAE_OK) status = lead_values(w->x, t);
    return status == DAE_OK ? list_states(w) : status;
}

dae_status linear_open(linear_work *w, dae_solver *s, const dae_linearise_request *r, size_t size,
                       bool apart, dae_diag *diag)
{
    *w = (linear_work){.run = s, .stats = s->stats};
    dae_status status = check_solver(s, diag);
    if (status == DAE_OK && r)
        status = sized_read(r, size, &w->request, sizeof w->request, "request for a linear system",
                            diag);
    if (status != DAE_OK) return status;
    w->x = DAE_NEW(dae_sensitivity);
    if (!w->x) return diag_set(diag, DAE_ERR_MEMORY, "Linearisation: out of memory.");
    w->x->run = s;
    w->x->what = "Linearisation";
    w->x->apart = apart;
    w->x->request.derivative = w->request.derivative;
    w->x->request.values = w->request.values;
    w->x->request.user = w->request.user;
    status = name_all(w, diag);
    if (status != DAE_OK) return status;
    if (s->hybrid) directions_start(&w->x->directions, s->hybrid->instance);
    const dae_diag before = s->diag;
    status = take_lead(w);
    if (status != DAE_OK && diag) *diag = s->diag;
    s->diag = before;
    return status;
}

/* The lead anew at its own values. */
static dae_status retake(linear_work *w, double t)
{
    dae_sensitivity *x = w->x;
    lead *l = &x->lead;
    const int n = w->run->base->form.n;
    double *y = DAE_ARRAY(double, 2 * (size_t)n);
    if (!y) return sensitivity_no_memory(x);
    lead_to_user(x, l->y, l->yp, y, y + n);
    dae_status status = lead_take_at(x, t, y);
    if (status == DAE_OK) {
        vector_copy(l->n, l->solver->bound.y, l->y);
        vector_copy(l->n, l->solver->bound.yp, l->yp);
        status = list_states(w);
    }
    dae_free(y);
    return status;
}

dae_status linear_choose_states(linear_work *w, double t, bool *same)
{
    *same = lead_states_hold(w->x, t);
    return *same ? DAE_OK : retake(w, t);
}

void linear_close(linear_work *w)
{
    if (w->x) {
        lead_free(&w->x->lead);
        directions_free(&w->x->directions);
    }
    w->run->stats = w->stats;
    dae_free_all(w->x, w->inputs, w->outputs, w->states);
    *w = (linear_work){0};
}

/* ---- columns ---- */

/* What all columns share. */
typedef struct column_work {
    linear_work *w;
    double t;
    model_tangent *outputs; /* NULL: callbacks, whose outputs are unknowns */
    double *s, *sp;         /* of the lead, n each */
    double *values;         /* of all variables, or all unknowns of callbacks */
} column_work;

/* States in c->s: column of A or B, and of C or D. */
static dae_status fill_column(column_work *c, int k, double *rates, double *outputs)
{
    linear_work *w = c->w;
    dae_sensitivity *x = w->x;
    dae_status status = lead_complete(x, c->t, k, 0.0, c->s, c->sp);
    if (status != DAE_OK) return status;
    if (!vector_finite(x->lead.n, c->s) || !vector_finite(x->lead.n, c->sp))
        return diag_set(&w->run->diag, DAE_ERR_EVALUATION,
                        "Linearisation: derivatives of the equations are not finite at t = %.9g.",
                        c->t);
    for (int i = 0; i < w->state_count; i++) rates[i] = c->sp[w->states[i]] + 0.0;
    for (int o = 0; o < w->output_count; o++) {
        const int v = w->outputs[o];
        outputs[o] =
            !c->outputs
                ? c->s[v]
                : model_tangent_row(c->outputs, v, c->s, c->sp,
                                    k >= 0 ? directions_moved(&x->directions, k) : NULL, 0.0);
    }
    return DAE_OK;
}

static dae_status columns_open(column_work *c, linear_work *w, double t)
{
    const size_t n = (size_t)w->x->lead.n;
    *c = (column_work){.w = w, .t = t, .s = DAE_ARRAY(double, 2 * n)};
    if (!c->s) return sensitivity_no_memory(w->x);
    c->sp = c->s + n;
    if (w->x->lead.form && !(c->outputs = lead_outputs(w->x, t)))
        return sensitivity_no_memory(w->x);
    return DAE_OK;
}

dae_status linear_matrix(linear_work *w, double t, double *A)
{
    const size_t n = (size_t)w->x->lead.n;
    double *s = DAE_ARRAY(double, 2 * n);
    dae_status status = s ? DAE_OK : sensitivity_no_memory(w->x);
    for (int j = 0; j < w->state_count && status == DAE_OK; j++) {
        vector_zero((int)n, s);
        s[w->states[j]] = 1.0;
        status = lead_complete(w->x, t, -1, 0.0, s, s + n);
        for (int i = 0; i < w->state_count; i++)
            A[(size_t)i + (size_t)j * (size_t)w->state_count] = s[n + (size_t)w->states[i]];
    }
    dae_free(s);
    return status;
}

/* ---- inputs ---- */

/* Where shifts count from: derivatives of an input are those at the point. */
static void set_origins(const linear_work *w, double t)
{
    const model_form *f = form_of(w);
    for (int k = 0; f && k < w->input_count; k++)
        if (w->inputs[k].variable >= 0) {
            int slot = f->flat->variables[f->visible[w->inputs[k].variable]].shift - 1;
            w->x->lead.solver->hybrid->instance->memory[slot] = t;
        }
}

/* Equations of a high index may have more derivatives of an input than shifts have terms. */
static dae_status check_index(const linear_work *w)
{
    const dae_solver *c = w->x->lead.solver;
    const model_mode *v = c->modes ? c->modes->current : NULL;
    for (int k = 0; v && v->plan.index > SHIFT_TERMS && k < w->input_count; k++)
        if (w->inputs[k].variable >= 0)
            return diag_set(&w->run->diag, DAE_ERR_UNSUPPORTED,
                            "Linearisation: equations of index %d may have more than %d "
                            "derivatives of input %s.",
                            v->plan.index, SHIFT_TERMS - 1, w->inputs[k].name);
    return DAE_OK;
}

static const char *input_name(const linear_input *in, int number, int order, arena *a)
{
    char text[40];
    if (!in->name) {
        snprintf(text, sizeof text, "u[%d]", number);
        return arena_text(a, text, strlen(text));
    }
    size_t length = strlen(in->name) + sizeof text;
    char *name = arena_alloc(a, length);
    if (!name) return NULL;
    if (order == 0)
        snprintf(name, length, "%s", in->name);
    else if (order == 1)
        snprintf(name, length, "der(%s)", in->name);
    else
        snprintf(name, length, "der(%s, %d)", in->name, order);
    return name;
}

static double input_value(const linear_work *w, int k, int order, const double *variables)
{
    const linear_input *in = &w->inputs[k];
    if (order > 0) return NAN;
    if (in->parameter >= 0) return w->x->lead.solver->hybrid->instance->parameters[in->parameter];
    if (in->variable >= 0) return variables[in->variable];
    return w->request.values ? w->request.values[k] : NAN;
}

/* Columns of B and D that a direction has, put behind those of `out`. Derivatives of an input are
 * left out where nothing depends on them. */
static dae_status add_direction(column_work *c, dae_linearisation *out, double *B, double *D, int k,
                                int order, const char **names, double *values,
                                const double *variables, arena *a)
{
    linear_work *w = c->w;
    const linear_input *in = &w->inputs[k];
    const size_t column = (size_t)out->input_count;
    double *b = B + column * (size_t)w->state_count, *d = D + column * (size_t)w->output_count;
    vector_zero(w->x->lead.n, c->s);
    dae_status status = fill_column(c, in->first + order, b, d);
    if (status != DAE_OK) return status;
    bool any = order == 0;
    for (int i = 0; i < w->state_count && !any; i++) any = b[i] != 0.0;
    for (int o = 0; o < w->output_count && !any; o++) any = d[o] != 0.0;
    if (!any) return DAE_OK;
    names[column] = input_name(in, k, order, a);
    values[column] = input_value(w, k, order, variables);
    out->input_count++;
    return names[column] ? DAE_OK : sensitivity_no_memory(w->x);
}

static dae_status fill_inputs(column_work *c, dae_linearisation *out, const double *variables,
                              arena *a)
{
    linear_work *w = c->w;
    const size_t most = (size_t)w->x->directions.count + 1;
    double *B = arena_alloc(a, most * ((size_t)w->state_count + 1) * sizeof *B);
    double *D = arena_alloc(a, most * ((size_t)w->output_count + 1) * sizeof *D);
    double *values = arena_alloc(a, most * sizeof *values);
    const char **names = arena_alloc(a, most * sizeof *names);
    if (!B || !D || !values || !names) return sensitivity_no_memory(w->x);
    out->B = B;
    out->D = D;
    out->inputs = names;
    out->input_values = values;
    dae_status status = check_index(w);
    for (int k = 0; k < w->input_count && status == DAE_OK; k++)
        for (int order = 0; order < w->inputs[k].orders && status == DAE_OK; order++)
            status = add_direction(c, out, B, D, k, order, names, values, variables, a);
    return status;
}

/* ---- all of it ---- */

static dae_status fill_states(column_work *c, dae_linearisation *out, arena *a)
{
    linear_work *w = c->w;
    const lead *l = &w->x->lead;
    const size_t n = (size_t)w->state_count + 1, outputs = (size_t)w->output_count + 1;
    double *A = arena_alloc(a, n * n * sizeof *A), *C = arena_alloc(a, n * outputs * sizeof *C);
    double *x = arena_alloc(a, 2 * n * sizeof *x);
    const char **names = arena_alloc(a, n * sizeof *names);
    dae_status status = DAE_OK;
    if (!A || !C || !x || !names) return sensitivity_no_memory(w->x);
    for (int j = 0; j < w->state_count && status == DAE_OK; j++) {
        const int i = w->states[j];
        const char *name = problem_variable(l->solver->bound.problem, i);
        names[j] = arena_text(a, name, strlen(name));
        x[j] = l->y[i];
        x[(size_t)j + n] = l->yp[i];
        vector_zero(l->n, c->s);
        c->s[i] = 1.0;
        status = names[j]
                     ? fill_column(c, -1, A + (size_t)j * (n - 1), C + (size_t)j * (outputs - 1))
                     : sensitivity_no_memory(w->x);
    }
    out->states = names;
    out->state_values = x;
    out->state_rates = x + n;
    out->A = A;
    out->C = C;
    return status;
}

void linear_variables(const linear_work *w, double t, double *values)
{
    const lead *l = &w->x->lead;
    if (l->form)
        model_instance_outputs(l->solver->hybrid->instance, t, l->y, l->yp, values);
    else
        vector_copy(l->n, l->y, values);
}

static dae_status fill_outputs(linear_work *w, dae_linearisation *out, const double *variables,
                               arena *a)
{
    const model_form *f = form_of(w);
    const size_t room = (size_t)w->output_count + 1;
    double *y = arena_alloc(a, room * sizeof *y);
    const char **names = arena_alloc(a, room * sizeof *names);
    if (!y || !names) return sensitivity_no_memory(w->x);
    for (int o = 0; o < w->output_count; o++) {
        const int v = w->outputs[o];
        const char *name =
            f ? f->flat->variables[f->visible[v]].name : problem_variable(w->run->base, v);
        y[o] = variables[v];
        names[o] = arena_text(a, name, strlen(name));
        if (!names[o]) return sensitivity_no_memory(w->x);
    }
    out->outputs = names;
    out->output_values = y;
    return DAE_OK;
}

static dae_status fill_matrices(linear_work *w, double t, const double *variables, arena *a,
                                dae_linearisation *out)
{
    column_work c = {0};
    dae_status status = lead_linearise(w->x, t);
    if (status == DAE_OK) status = lead_factor_states(w->x);
    if (status == DAE_OK) status = columns_open(&c, w, t);
    if (status == DAE_OK) status = fill_states(&c, out, a);
    if (status == DAE_OK) status = fill_inputs(&c, out, variables, a);
    if (status == DAE_OK) status = fill_outputs(w, out, variables, a);
    dae_free(c.s);
    return status;
}

dae_status linear_fill(linear_work *w, double t, arena *a, dae_linearisation *out)
{
    const int count = form_of(w) ? form_of(w)->visible_count : w->x->lead.n;
    double *variables = DAE_ARRAY(double, count);
    *out =
        (dae_linearisation){.t = t, .state_count = w->state_count, .output_count = w->output_count};
    if (!variables) return sensitivity_no_memory(w->x);
    linear_variables(w, t, variables);
    set_origins(w, t);
    dae_status status = fill_matrices(w, t, variables, a, out);
    set_origins(w, 0.0);
    dae_free(variables);
    if (status != DAE_OK || w->request.without_eigenvalues) return status;
    return linear_eigenvalues(out, a, &w->run->diag);
}

/* ---- the public calls ---- */

/* A linear system that has its own memory. */
typedef struct owned_linear {
    dae_linearisation linear; /* first */
    arena *memory;
} owned_linear;

static dae_status make(linear_work *w, dae_linearisation **linear)
{
    owned_linear *made = DAE_NEW(owned_linear);
    if (made) made->memory = arena_new(0);
    dae_status status = made && made->memory ? DAE_OK : sensitivity_no_memory(w->x);
    if (status == DAE_OK) status = linear_fill(w, w->run->run.t, made->memory, &made->linear);
    if (status == DAE_OK)
        *linear = &made->linear;
    else if (made)
        dae_linearise_free(&made->linear);
    return status;
}

static dae_status linearise(dae_solver *s, const dae_linearise_request *request, size_t size,
                            dae_linearisation **linear, dae_diag *diag)
{
    linear_work w;
    dae_status status = linear_open(&w, s, request, size, false, diag);
    if (status == DAE_OK) {
        const dae_diag before = s->diag;
        status = make(&w, linear);
        if (status != DAE_OK && diag) *diag = s->diag;
        s->diag = before;
    }
    linear_close(&w);
    return status;
}

dae_status dae_linearise_sized(dae_solver *s, const dae_linearise_request *request, size_t size,
                               dae_linearisation **linear, dae_diag *diag)
{
    diag_clear(diag);
    if (linear) *linear = NULL;
    if (!s || !linear)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_linearise: an argument is NULL.");
    interrupt_scope scope;
    interrupt_open(&scope, s->bound.options.interrupt, s->bound.options.user);
    dae_status status = linearise(s, request, size, linear, diag);
    if (!interrupt_close(&scope)) return status;
    dae_linearise_free(*linear);
    *linear = NULL;
    return interrupt_explain(diag, "a linearisation");
}

void dae_linearise_free(dae_linearisation *linear)
{
    if (!linear) return;
    owned_linear *made = (owned_linear *)linear;
    arena_free(made->memory);
    dae_free(made);
}
