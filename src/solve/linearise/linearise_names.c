/* Inputs and outputs of a linear system, by the names of a model. */
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "solve/linearise/linearise_parts.h"

static const model_form *form_of(const linear_work *w)
{
    return w->run->base->model;
}

static dae_status no_memory(dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Linearisation: out of memory.");
}

static const flat_variable *visible(const model_form *f, int k)
{
    return &f->flat->variables[f->visible[k]];
}

static bool is_continuous(const flat_variable *v)
{
    return v->type == FLAT_REAL && !v->discrete;
}

/* ---- inputs ---- */

typedef struct input_list {
    direction *list;
    size_t count, room, input_room;
} input_list;

/* Whether an input that is there already has the same variable or parameter. */
static bool has_input(const linear_work *w, const linear_input *in)
{
    for (int k = 0; k < w->input_count; k++)
        if (w->inputs[k].variable == in->variable && w->inputs[k].parameter == in->parameter)
            return true;
    return false;
}

/* One more input with its directions, from slot `memory` on or by its parameter. */
static dae_status add_input(linear_work *w, input_list *q, linear_input in, int memory,
                            dae_diag *diag)
{
    if (has_input(w, &in)) return DAE_OK;
    in.first = (int)q->count;
    if (!dae_grow(&w->inputs, &q->input_room, (size_t)w->input_count + 1, sizeof in) ||
        !dae_grow(&q->list, &q->room, q->count + (size_t)in.orders, sizeof *q->list))
        return no_memory(diag);
    for (int j = 0; j < in.orders; j++)
        q->list[q->count++] = (direction){in.parameter, -1, memory >= 0 ? memory + j : -1, 0.0};
    w->inputs[w->input_count++] = in;
    return DAE_OK;
}

static dae_status add_variable(linear_work *w, input_list *q, int k, dae_diag *diag)
{
    const flat_variable *v = visible(form_of(w), k);
    linear_input in = {v->name, 0, SHIFT_TERMS, k, -1};
    if (v->shift > 0) return add_input(w, q, in, v->shift, diag);
    diag_variable(diag, k, v->name);
    if (!v->input)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Linearisation: variable %s follows from the equations; inputs of the "
                        "model and parameters can be moved.",
                        v->name);
    if (!is_continuous(v))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Linearisation: input %s is discrete; it cannot be moved by a little.",
                        v->name);
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Linearisation: input %s has no shift to move it by. Translate the model with "
                    "dae_model.shift_inputs; an input that equations of the model give beside its "
                    "declaration has none.",
                    v->name);
}

static dae_status add_parameter(linear_work *w, input_list *q, int p, dae_diag *diag)
{
    const flat_parameter *v = &form_of(w)->flat->parameters[p];
    dae_status status = directions_check(v, "Linearisation", diag);
    linear_input in = {v->name, 0, 1, -1, p};
    return status == DAE_OK ? add_input(w, q, in, -1, diag) : status;
}

/* All that a name means: parameters, else variables. */
static dae_status add_named(linear_work *w, input_list *q, const char *name, dae_diag *diag)
{
    const model_form *f = form_of(w);
    dae_status status = DAE_OK;
    int met = 0;
    if (!name) return diag_set(diag, DAE_ERR_ARGUMENT, "Linearisation: a name is NULL.");
    for (size_t p = 0; p < f->flat->parameter_count && status == DAE_OK; p++)
        if (flat_name_means(name, f->flat->parameters[p].name)) {
            status = add_parameter(w, q, (int)p, diag);
            met++;
        }
    for (int k = 0; k < f->visible_count && status == DAE_OK; k++)
        if (flat_name_means(name, visible(f, k)->name)) {
            status = add_variable(w, q, k, diag);
            met++;
        }
    if (met > 0) return status;
    diag_variable(diag, -1, name);
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "Linearisation: the model has neither an input nor a parameter %s.", name);
}

static dae_status add_all(linear_work *w, input_list *q, dae_diag *diag)
{
    const model_form *f = form_of(w);
    dae_status status = DAE_OK;
    for (int k = 0; k < f->visible_count && status == DAE_OK; k++)
        if (visible(f, k)->input && is_continuous(visible(f, k)))
            status = add_variable(w, q, k, diag);
    return status;
}

/* Those of callbacks have no names. */
static dae_status add_numbers(linear_work *w, input_list *q, dae_diag *diag)
{
    const dae_linearise_request *r = &w->request;
    dae_status status = DAE_OK;
    if (r->input_count > 0 && !r->derivative && !r->values)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Linearisation of callbacks: inputs need `derivative`, or the numbers "
                        "`values` that callbacks read.");
    for (int k = 0; k < r->input_count && status == DAE_OK; k++)
        status = add_input(w, q, (linear_input){NULL, 0, 1, -2 - k, -1}, -1, diag);
    for (int k = 0; k < r->input_count && status == DAE_OK; k++) q->list[k].size = 1.0;
    return status;
}

dae_status linear_name_inputs(linear_work *w, direction **list, int *count, dae_diag *diag)
{
    const dae_linearise_request *r = &w->request;
    input_list q = {0};
    dae_status status = DAE_OK;
    if (r->input_count < 0 || (r->input_count > 0 && !r->inputs && form_of(w)))
        status = diag_set(diag, DAE_ERR_ARGUMENT, "Linearisation: input_count = %d without inputs.",
                          r->input_count);
    else if (r->without_inputs)
        status = DAE_OK;
    else if (!form_of(w))
        status = add_numbers(w, &q, diag);
    else if (!r->inputs)
        status = add_all(w, &q, diag);
    for (int k = 0; form_of(w) && r->inputs && k < r->input_count && status == DAE_OK; k++)
        status = add_named(w, &q, r->inputs[k], diag);
    *list = q.list;
    *count = (int)q.count;
    return status;
}

/* ---- outputs ---- */

static dae_status add_output(linear_work *w, int k, dae_diag *diag)
{
    for (int i = 0; i < w->output_count; i++)
        if (w->outputs[i] == k) return DAE_OK;
    const model_form *f = form_of(w);
    if (f && !is_continuous(visible(f, k))) {
        diag_variable(diag, k, visible(f, k)->name);
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Linearisation: variable %s is discrete; outputs are continuous.",
                        visible(f, k)->name);
    }
    w->outputs[w->output_count++] = k;
    return DAE_OK;
}

static const char *name_of(const linear_work *w, int k)
{
    const model_form *f = form_of(w);
    return f ? visible(f, k)->name : problem_variable(w->run->base, k);
}

static dae_status add_output_named(linear_work *w, int most, const char *name, dae_diag *diag)
{
    dae_status status = DAE_OK;
    int met = 0;
    if (!name) return diag_set(diag, DAE_ERR_ARGUMENT, "Linearisation: a name is NULL.");
    for (int k = 0; k < most && status == DAE_OK; k++)
        if (flat_name_means(name, name_of(w, k))) {
            status = add_output(w, k, diag);
            met++;
        }
    if (met > 0) return status;
    diag_variable(diag, -1, name);
    return diag_set(diag, DAE_ERR_ARGUMENT, "Linearisation: there is no variable %s.", name);
}

/* The outputs of the model; if it has none, all that is continuous. */
static void add_default(linear_work *w, int most)
{
    const model_form *f = form_of(w);
    for (int k = 0; f && k < most; k++)
        if (visible(f, k)->output && is_continuous(visible(f, k)))
            w->outputs[w->output_count++] = k;
    if (w->output_count > 0) return;
    for (int k = 0; k < most; k++)
        if (!f || is_continuous(visible(f, k))) w->outputs[w->output_count++] = k;
}

dae_status linear_name_outputs(linear_work *w, dae_diag *diag)
{
    const dae_linearise_request *r = &w->request;
    const model_form *f = form_of(w);
    const int most = f ? f->visible_count : w->run->base->form.n;
    dae_status status = DAE_OK;
    w->outputs = DAE_ARRAY(int, most);
    if (!w->outputs) return no_memory(diag);
    if (r->output_count < 0 || (r->output_count > 0 && !r->outputs))
        return diag_set(diag, DAE_ERR_ARGUMENT, "Linearisation: output_count = %d without outputs.",
                        r->output_count);
    if (!r->outputs) add_default(w, most);
    for (int k = 0; r->outputs && k < r->output_count && status == DAE_OK; k++)
        status = add_output_named(w, most, r->outputs[k], diag);
    return status;
}
