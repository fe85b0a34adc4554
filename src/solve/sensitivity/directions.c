/* By what a solution is differentiated, and what of a model moves with it. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "solve/sensitivity/sensitivity_parts.h"

void directions_free(directions *d)
{
    tangent_inputs_free(&d->inputs);
    model_tangent_free(d->bindings);
    model_tangent_free(d->starts);
    dae_free_all(d->list, d->mix, d->moved, d->dependent);
    *d = (directions){0};
}

/* ---- names ---- */

static int find_parameter(const flat_model *m, const char *name)
{
    for (size_t p = 0; p < m->parameter_count; p++)
        if (strcmp(m->parameters[p].name, name) == 0) return (int)p;
    return -1;
}

static int find_variable(const flat_model *m, const char *name)
{
    for (size_t v = 0; v < m->variable_count; v++)
        if (strcmp(m->variables[v].name, name) == 0) return (int)v;
    return -1;
}

dae_status directions_check(const flat_parameter *p, const char *what, dae_diag *diag)
{
    const char *why = NULL;
    if (p->type != FLAT_REAL)
        why = "is no Real: nothing can be differentiated by it";
    else if (p->constant)
        why = "is a constant: declare it as a parameter";
    else if (p->final_)
        why = "is final: name the parameters that it follows from";
    else if (p->structural)
        why = "is structural: it has decided sizes or branches, and cannot move";
    if (!why) return DAE_OK;
    diag_variable(diag, -1, p->name);
    if (diag) diag->line = p->place.line;
    return diag_set(diag, DAE_ERR_ARGUMENT, "%s: parameter %s %s.", what, p->name, why);
}

static dae_status name_direction(const flat_model *m, const char *name, direction *d,
                                 dae_diag *diag)
{
    if (!name) return diag_set(diag, DAE_ERR_ARGUMENT, "Sensitivities: a name is NULL.");
    d->parameter = find_parameter(m, name);
    if (d->parameter >= 0)
        return directions_check(&m->parameters[d->parameter], "Sensitivities", diag);
    d->variable = find_variable(m, name);
    diag_variable(diag, -1, name);
    if (d->variable < 0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Sensitivities: the model has neither a parameter nor a variable %s.",
                        name);
    if (m->variables[d->variable].discrete || m->variables[d->variable].type != FLAT_REAL)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Sensitivities: variable %s is discrete; parameters and start values of "
                        "continuous variables can be asked for.",
                        name);
    return DAE_OK;
}

/* ---- parameters that follow from others ---- */

typedef struct reach_scan {
    const int *number; /* of parameters that move */
    bool found;
} reach_scan;

static void see_parameter(void *context, const expr_node *leaf)
{
    reach_scan *scan = context;
    if (leaf->op == EXPR_PARAMETER && scan->number[leaf->index] >= 0) scan->found = true;
}

/* One pass over all parameters that are not listed yet; *again: some were added. */
static bool add_next(directions *d, const model_form *f, bool *listed, bool *again)
{
    const flat_model *m = f->flat;
    *again = false;
    for (size_t p = 0; p < m->parameter_count; p++) {
        const flat_parameter *q = &m->parameters[p];
        reach_scan scan = {d->inputs.parameter, false};
        if (listed[p] || f->parameter_set[p] || q->value == EXPR_NONE) continue;
        if (!graph_leaves(m->graph, &q->value, 1, see_parameter, &scan)) return false;
        if (!scan.found) continue;
        if (d->inputs.parameter[p] < 0) d->inputs.parameter[p] = d->inputs.count++;
        d->dependent[d->dependent_count++] = (int)p;
        listed[p] = *again = true;
    }
    return true;
}

/* Number the parameters that follow from ones that move, until there is none any more. One that is
 * asked for itself is among them: it follows in other directions than its own. */
static bool add_dependent(directions *d, const model_form *f)
{
    bool again = true, *listed = DAE_ARRAY(bool, f->flat->parameter_count), ok = listed;
    d->dependent = DAE_ARRAY(int, f->flat->parameter_count);
    if (!d->dependent) ok = false;
    while (ok && again) ok = add_next(d, f, listed, &again);
    dae_free(listed);
    return ok;
}

static bool number_inputs(directions *d, const model_form *f)
{
    const flat_model *m = f->flat;
    d->inputs.parameter = DAE_ARRAY(int, m->parameter_count);
    d->inputs.memory = DAE_ARRAY(int, m->memory_count);
    if (!d->inputs.parameter || !d->inputs.memory) return false;
    for (size_t p = 0; p < m->parameter_count; p++) d->inputs.parameter[p] = -1;
    for (int i = 0; i < m->memory_count; i++) d->inputs.memory[i] = -1;
    for (int k = 0; k < d->named; k++) {
        int p = d->list[k].parameter;
        int slot = d->list[k].memory;
        if (p >= 0 && d->inputs.parameter[p] < 0) d->inputs.parameter[p] = d->inputs.count++;
        if (slot >= 0 && d->inputs.memory[slot] < 0) d->inputs.memory[slot] = d->inputs.count++;
    }
    if (!add_dependent(d, f)) return false;
    d->first_discrete = d->inputs.count;
    for (size_t v = 0; v < m->variable_count; v++) {
        const flat_variable *q = &m->variables[v];
        if (!q->discrete || q->type != FLAT_REAL) continue;
        d->inputs.memory[q->memory] = d->inputs.count++;
        d->inputs.memory[q->memory_pre] = d->inputs.count++;
    }
    for (size_t i = 0; i < m->delay_count; i++)
        for (int k = 0; k < DELAY_NODES; k++)
            d->inputs.memory[m->delays[i].memory + DELAY_FIRST + k] = d->inputs.count++;
    return true;
}

static bool compile_bindings(directions *d, const model_form *f)
{
    expr *value = DAE_ARRAY(expr, d->dependent_count);
    for (int i = 0; value && i < d->dependent_count; i++)
        value[i] = f->flat->parameters[d->dependent[i]].value;
    if (value)
        d->bindings = model_tangent_new(f->flat->graph, value, (size_t)d->dependent_count, 0,
                                        &d->inputs, false);
    dae_free(value);
    return d->bindings;
}

static bool compile_starts(directions *d, const model_form *f)
{
    const flat_model *m = f->flat;
    expr *start = DAE_ARRAY(expr, m->variable_count);
    for (size_t v = 0; start && v < m->variable_count; v++)
        start[v] = m->variables[v].has_start ? m->variables[v].start : EXPR_NONE;
    if (start)
        d->starts = model_tangent_new(m->graph, start, m->variable_count, 0, &d->inputs, false);
    dae_free(start);
    return d->starts;
}

/* ---- making ---- */

static dae_status name_directions(directions *d, const model_form *f,
                                  const dae_sensitivity_request *r, dae_diag *diag)
{
    for (int k = 0; k < d->named; k++) {
        direction *q = &d->list[k];
        q->parameter = q->variable = q->memory = -1;
        dae_status status = f ? name_direction(f->flat, r->names[k], q, diag) : DAE_OK;
        if (status != DAE_OK) return status;
        if (r->sizes && !(r->sizes[k] > 0.0 && isfinite(r->sizes[k])))
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "Sensitivities: sizes[%d] is %g; it must be positive.", k, r->sizes[k]);
        q->size = r->sizes ? r->sizes[k] : 0.0;
    }
    return DAE_OK;
}

/* What moves in the directions of d->list, which was made with this status. */
static dae_status directions_finish(directions *d, const model_form *f, dae_status status,
                                    dae_diag *diag)
{
    bool ok = status == DAE_OK;
    if (f) ok = ok && number_inputs(d, f) && compile_bindings(d, f) && compile_starts(d, f);
    if (ok)
        d->moved = DAE_ARRAY(double, (size_t)(d->named + 1) * (size_t)d->inputs.count +
                                         (size_t)d->dependent_count);
    for (int k = 0; ok && k < d->named; k++)
        if (d->list[k].variable >= 0) d->by_start = true;
    if (ok && d->moved) return DAE_OK;
    directions_free(d);
    if (status != DAE_OK && status != DAE_ERR_MEMORY) return status;
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for sensitivities.");
}

dae_status directions_new(directions *d, const dae_solver *s, const dae_sensitivity_request *r,
                          dae_diag *diag)
{
    const model_form *f = s->base->model;
    *d = (directions){.count = r->count, .named = r->count};
    d->list = DAE_ARRAY(direction, r->count);
    dae_status status = d->list ? name_directions(d, f, r, diag) : DAE_ERR_MEMORY;
    return directions_finish(d, f, status, diag);
}

dae_status directions_listed(directions *d, const dae_solver *s, const direction *list, int count,
                             dae_diag *diag)
{
    *d = (directions){.count = count, .named = count};
    d->list = DAE_ARRAY(direction, count);
    for (int k = 0; d->list && k < count; k++) d->list[k] = list[k];
    return directions_finish(d, s->base->model, d->list ? DAE_OK : DAE_ERR_MEMORY, diag);
}

/* ---- rates ---- */

/* Rates of parameters that follow from others, but for `own`, by which is differentiated: each
 * needs those before it, in an order that the passes find. */
static void follow_bindings(directions *d, int own, double *moved, double *out)
{
    for (int pass = 0; pass <= d->dependent_count; pass++) {
        bool changed = false;
        model_tangent_apply(d->bindings, NULL, NULL, moved, 0.0, out);
        for (int i = 0; i < d->dependent_count; i++) {
            if (d->dependent[i] == own) continue;
            double *rate = &moved[d->inputs.parameter[d->dependent[i]]];
            changed = changed || *rate != out[i];
            *rate = out[i];
        }
        if (!changed) return;
    }
}

static double size_of(const directions *d, const model_instance *m, int k)
{
    const direction *q = &d->list[k];
    double size = 0.0;
    if (q->parameter >= 0) size = fabs(m->parameters[q->parameter]);
    if (q->variable >= 0) {
        const model_form *f = m->form->base ? m->form->base : m->form;
        size = fabs(hybrid_start_value(f, (size_t)q->variable));
    }
    return size > 0.0 && isfinite(size) ? size : 1.0;
}

/* The mixture moves by all of its parts. */
static void mix_rates(directions *d)
{
    double *row = directions_named(d, d->named);
    for (int i = 0; i < d->inputs.count; i++) row[i] = 0.0;
    for (int k = 0; k < d->named; k++) {
        const double *part = directions_named(d, k), by = d->mix[k] * d->list[k].size;
        for (int i = 0; i < d->inputs.count; i++) row[i] += by * part[i];
    }
}

void directions_start(directions *d, const model_instance *m)
{
    tape_inputs at = {.parameters = m->parameters, .memory = m->memory};
    const size_t inputs = (size_t)d->inputs.count;
    const size_t rows = (size_t)(d->named + 1 + d->errors) * inputs; /* work is behind them */
    model_tangent_at(d->bindings, &at);
    model_tangent_at(d->starts, &at);
    for (int k = 0; k < d->named; k++) {
        double *moved = directions_named(d, k);
        for (int i = 0; i < d->inputs.count; i++) moved[i] = 0.0;
        if (d->list[k].parameter >= 0) moved[d->inputs.parameter[d->list[k].parameter]] = 1.0;
        if (d->list[k].memory >= 0) moved[d->inputs.memory[d->list[k].memory]] = 1.0;
        follow_bindings(d, d->list[k].parameter, moved, d->moved + rows);
        if (d->list[k].size == 0.0) d->list[k].size = size_of(d, m, k);
    }
    for (size_t i = (size_t)d->named * inputs; i < rows; i++) d->moved[i] = 0.0;
    if (d->mix) mix_rates(d);
}

void directions_remix(directions *d)
{
    if (d->mix) mix_rates(d);
}

bool directions_mix(directions *d)
{
    uint64_t random = 88172645463325252u; /* any seed but 0 */
    d->mix = DAE_ARRAY(double, d->named);
    for (int k = 0; d->mix && k < d->named; k++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        double part = 0.5 + 0.5 * (double)(random >> 12) / 4503599627370496.0;
        d->mix[k] = random & 1u ? part : -part;
    }
    if (d->mix && d->named == 1) d->mix[0] = 1.0; /* the same steps as without a mixture */
    if (d->mix) d->count = 1 + d->errors;
    return d->mix;
}

bool directions_add_errors(directions *d, int errors)
{
    const size_t rows = (size_t)(d->named + 1 + errors) * (size_t)d->inputs.count;
    double *moved = DAE_ARRAY(double, rows + (size_t)d->dependent_count);
    if (!moved) return false;
    dae_free(d->moved);
    d->moved = moved;
    d->errors = errors;
    d->count += errors;
    return true;
}

/* ---- start values ---- */

bool directions_move_start(const directions *d, const model_form *f, int variable)
{
    size_t entries = 0;
    if (isnan(f->start[variable])) model_tangent_row_entries(d->starts, variable, &entries);
    for (int k = 0; entries == 0 && k < d->named && d->by_start; k++)
        entries = d->list[k].variable == variable;
    return entries > 0;
}

double directions_start_value(const directions *d, const model_form *f, int k, int variable)
{
    if (d->list[k].variable >= 0) return d->list[k].variable == variable ? 1.0 : 0.0;
    if (!isnan(f->start[variable])) return 0.0;
    return model_tangent_row(d->starts, variable, NULL, NULL, directions_named(d, k), 0.0);
}

double directions_start_rate(const directions *d, const model_form *f, int k, int variable)
{
    double sum = 0.0;
    if (!d->mix) return directions_start_value(d, f, k, variable);
    if (!directions_move_start(d, f, variable)) return 0.0;
    for (int j = 0; j < d->named; j++)
        sum += d->mix[j] * d->list[j].size * directions_start_value(d, f, j, variable);
    return sum;
}

double sensitivity_weight(const dae_sensitivity *x, int k, int i, double a, double b)
{
    const error_norm *norm = &x->lead.solver->bound.norm;
    const dae_sensitivity_request *r = &x->request;
    double rtol = r->rtol > 0.0           ? r->rtol
                  : norm->rtol_by_unknown ? norm->rtol_by_unknown[i]
                                          : norm->rtol;
    double atol = r->atol > 0.0           ? r->atol
                  : norm->atol_by_unknown ? norm->atol_by_unknown[i]
                                          : norm->atol;
    return rtol * fmax(fabs(a), fabs(b)) + atol / directions_size(&x->directions, k);
}
