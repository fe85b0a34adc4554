/* Necessary conditions of optimal control: the calls. */
#include <math.h>

#include "base/interrupt.h"
#include "base/sized.h"
#include "solve/optimality/optimality_parts.h"

static dae_status check_request(const dae_optimality_request *r, dae_diag *diag)
{
    if (r->control_count < 0 || (r->control_count > 0 && !r->controls))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Conditions of optimality: control_count = %d without names.",
                        r->control_count);
    if (r->unknown_count < 0 || (r->unknown_count > 0 && !r->unknown))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Conditions of optimality: unknown_count = %d without names.",
                        r->unknown_count);
    if (r->control_count + r->unknown_count == 0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Conditions of optimality: nothing is to be chosen; name a control or a "
                        "parameter.");
    if (!r->integral && !r->at_end)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Conditions of optimality: nothing is to be minimised; give an integral, "
                        "or a value at the end.");
    return DAE_OK;
}

static void close_all(optimality *q)
{
    structure_free(&q->analysed);
    dae_free_all(q->variables, q->equations.items, q->initial.items, q->terminal.items, q->asserts);
    dae_problem_free(q->problem);
    arena_free(q->memory);
}

/* Parameters that stay; NULL: memory. */
static flat_parameter *copy_parameters(optimality *q)
{
    const flat_model *m = q->form->flat;
    flat_parameter *copy = arena_alloc(q->memory, (m->parameter_count + 1) * sizeof *copy);
    for (size_t k = 0; copy && k < m->parameter_count; k++) {
        copy[k] = m->parameters[k];
        copy[k].min = optimality_in_values(q, copy[k].min);
        copy[k].max = optimality_in_values(q, copy[k].max);
    }
    return graph_failed(q->g) ? NULL : copy;
}

static char *write_text(optimality *q, dae_diag *diag)
{
    flat_model out = *q->form->flat;
    double *start = arena_alloc(q->memory, (q->variable_count + 1) * sizeof *start);
    out.parameters = copy_parameters(q);
    if (!start || !out.parameters) {
        no_memory_for_conditions(diag);
        return NULL;
    }
    for (size_t v = 0; v < q->variable_count; v++) start[v] = NAN;
    out.variables = q->variables;
    out.variable_count = q->variable_count;
    out.equations = q->equations.items;
    out.equation_count = q->equations.count;
    out.initial_equations = q->initial.items;
    out.initial_count = q->initial.count;
    out.terminal_equations = q->terminal.items;
    out.terminal_count = q->terminal.count;
    out.asserts = q->asserts;
    out.assert_count = q->assert_count;
    return model_write_text(
        &(model_source){.flat = &out,
                        .parameters = q->form->parameters,
                        .parameter_set = q->form->parameter_set,
                        .start = start,
                        .omitted = q->omitted,
                        .head = "Written by daedal: conditions of optimality, to be "
                                "solved by 'daedal bvp'."},
        diag);
}

static char *derive_text(const dae_model *model, const dae_optimality_request *r, dae_diag *diag)
{
    optimality q = {.request = r, .memory = arena_new(0)};
    char *text = NULL;
    dae_status status =
        q.memory ? optimality_read(&q, model, diag) : no_memory_for_conditions(diag);
    const size_t initial = q.initial.count, terminal = q.terminal.count;
    if (status == DAE_OK) status = optimality_structure(&q, diag);
    if (status == DAE_OK) status = optimality_adjoints(&q, diag);
    if (status == DAE_OK) status = optimality_ends(&q, diag);
    if (status == DAE_OK) status = optimality_outputs(&q, diag);
    if (status == DAE_OK) status = optimality_count(&q, initial, terminal, diag);
    if (status == DAE_OK) text = write_text(&q, diag);
    close_all(&q);
    return text;
}

/* The text, with *m and a request that are complete. */
static char *make_text(const dae_model *model, size_t model_size, dae_model *m,
                       const dae_optimality_request *request, size_t request_size, dae_diag *diag)
{
    dae_optimality_request r = {0};
    dae_diag own;
    if (!diag) diag = &own;
    diag_clear(diag);
    *m = (dae_model){0};
    if (sized_read(model, model_size, m, sizeof *m, "model description", diag) != DAE_OK ||
        sized_read(request, request_size, &r, sizeof r, "request for conditions of optimality",
                   diag) != DAE_OK ||
        check_request(&r, diag) != DAE_OK)
        return NULL;
    if (m->terminal_count < 0 || (m->terminal_count > 0 && !m->terminal) || m->input_count < 0 ||
        (m->input_count > 0 && !m->inputs)) {
        diag_set(diag, DAE_ERR_ARGUMENT,
                 "Conditions of optimality: conditions or inputs of the model are counted, but not "
                 "given.");
        return NULL;
    }
    interrupt_scope scope;
    interrupt_open(&scope, m->interrupt, m->user);
    char *text = derive_text(m, &r, diag);
    if (!interrupt_close(&scope)) {
        if (text) diag_clear(diag);
        return text;
    }
    dae_free(text);
    interrupt_explain(diag, "the derivation of conditions of optimality");
    return NULL;
}

char *dae_optimality_text_sized(const dae_model *model, size_t model_size,
                                const dae_optimality_request *request, size_t request_size,
                                dae_diag *diag)
{
    dae_model m;
    return make_text(model, model_size, &m, request, request_size, diag);
}

dae_status dae_problem_optimality_sized(const dae_model *model, size_t model_size,
                                        const dae_optimality_request *request, size_t request_size,
                                        dae_problem **conditions, dae_diag *diag)
{
    dae_model m;
    dae_diag own;
    if (!diag) diag = &own;
    diag_clear(diag);
    if (!conditions)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_problem_optimality: conditions is NULL.");
    *conditions = NULL;
    char *text = make_text(model, model_size, &m, request, request_size, diag);
    if (!text) return diag->status;
    dae_status status = dae_problem_from_model(&(dae_model){.text = text,
                                                            .file = "conditions of optimality",
                                                            .engine = m.engine,
                                                            .user = m.user,
                                                            .interrupt = m.interrupt},
                                               conditions, diag);
    dae_free(text);
    return status;
}
