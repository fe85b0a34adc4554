/* Values of parameters and constants. */
#include "model/model_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "model/model_structure.h"

typedef struct parameter_scan {
    const model_form *f;
    const signed char *state; /* 0 not yet, 1 being evaluated, 2 known */
    int missing;              /* first parameter that is needed and not known; -1 */
} parameter_scan;

static double parameter_leaf(void *context, const expr_node *leaf)
{
    parameter_scan *scan = context;
    if (leaf->op != EXPR_PARAMETER) return NAN;
    if (scan->state && scan->state[leaf->index] != 2) {
        if (scan->missing < 0) scan->missing = leaf->index;
        return NAN;
    }
    return scan->f->parameters[leaf->index];
}

/* Value of e; what is not a number is looked at twice, since lack of memory looks the same. */
double model_value_of(const model_form *f, expr e, graph_leaf_value leaf, void *context)
{
    graph_enter(f->flat->graph);
    double value = graph_value(f->flat->graph, e, leaf, context);
    if (isnan(value)) value = graph_value(f->flat->graph, e, leaf, context);
    graph_leave(f->flat->graph);
    return value;
}

double model_form_constant(const model_form *f, expr e)
{
    parameter_scan scan = {f, NULL, -1};
    return e == EXPR_NONE ? NAN : model_value_of(f, e, parameter_leaf, &scan);
}

static dae_status reject_parameter(const model_form *f, int p, const char *why, dae_diag *diag)
{
    const flat_parameter *q = &f->flat->parameters[p];
    diag_variable(diag, p, q->name);
    if (diag) diag->line = q->place.line;
    return diag_set(diag, DAE_ERR_ARGUMENT, "Parameter %s%s%s:%d) %s.", q->name, " (",
                    f->flat->file ? f->flat->file : "line", q->place.line, why);
}

/* Evaluate parameter p and, first, what it needs: depth first on an explicit stack. */
static dae_status evaluate_parameter(model_form *f, int p, signed char *state, int *stack,
                                     dae_diag *diag)
{
    int depth = 0;
    stack[depth++] = p;
    while (depth > 0) {
        int top = stack[depth - 1];
        const flat_parameter *q = &f->flat->parameters[top];
        parameter_scan scan = {f, state, -1};
        double value = f->parameters[top];
        if (!f->parameter_set[top])
            value =
                q->value == EXPR_NONE ? 0.0 : model_value_of(f, q->value, parameter_leaf, &scan);
        if (scan.missing >= 0) {
            state[top] = 1;
            if (state[scan.missing] == 1)
                return reject_parameter(f, scan.missing, "depends on itself", diag);
            stack[depth++] = scan.missing;
            continue;
        }
        if (!isfinite(value) && q->type != FLAT_STRING) {
            if (!f->parameter_set[top] && !graph_has_memory(f->flat->graph))
                return build_no_memory(diag);
            if (diag) diag->value = value;
            return reject_parameter(f, top, isnan(value) ? "is not a number" : "is infinite", diag);
        }
        f->parameters[top] = value;
        state[top] = 2;
        depth--;
    }
    return DAE_OK;
}

/* Start attributes with the parameters at hand. Sums along a chain share their beginnings: all of
 * them in one walk take a time that grows with the chain, one by one its square. */
static dae_status evaluate_starts(model_form *f, dae_diag *diag)
{
    const flat_model *m = f->flat;
    expr *e = DAE_ARRAY(expr, m->variable_count);
    parameter_scan scan = {f, NULL, -1};
    for (size_t v = 0; e && v < m->variable_count; v++)
        e[v] = m->variables[v].has_start ? m->variables[v].start : EXPR_NONE;
    graph_enter(m->graph);
    bool done =
        e && graph_values(m->graph, e, m->variable_count, parameter_leaf, &scan, f->attribute);
    graph_leave(m->graph);
    dae_free(e);
    return done ? DAE_OK : build_no_memory(diag);
}

dae_status model_form_evaluate_parameters(model_form *f, dae_diag *diag)
{
    size_t count = f->flat->parameter_count;
    signed char *state = DAE_ARRAY(signed char, count);
    int *stack = DAE_ARRAY(int, count + 1);
    dae_status status = state && stack ? DAE_OK : build_no_memory(diag);
    for (size_t p = 0; p < count && status == DAE_OK; p++)
        if (state[p] != 2) status = evaluate_parameter(f, (int)p, state, stack, diag);
    dae_free_all(state, stack);
    return status == DAE_OK ? evaluate_starts(f, diag) : status;
}

dae_status model_form_set_start_time(model_form *f, double t, dae_diag *diag)
{
    const int p = f->flat->start_parameter - 1;
    if (p < 0 || f->parameters[p] == t) return DAE_OK;
    f->parameters[p] = t;
    f->parameter_set[p] = true;
    f->revision++;
    return model_form_evaluate_parameters(f, diag);
}

bool model_start_is_outside(const model_form *f, size_t v)
{
    return !isnan(f->start[v]) && !f->start_moved[v];
}

bool model_form_keep(const model_form *f, kept_values *kept)
{
    const flat_model *m = f->flat;
    kept->parameters = dae_copy(f->parameters, m->parameter_count, sizeof *kept->parameters);
    kept->set = dae_copy(f->parameter_set, m->parameter_count, sizeof *kept->set);
    kept->start = dae_copy(f->start, m->variable_count, sizeof *kept->start);
    if (kept->parameters && kept->set && kept->start) return true;
    dae_free_all(kept->parameters, kept->set, kept->start);
    *kept = (kept_values){0};
    return false;
}

dae_status model_form_put_back(model_form *f, kept_values *kept, dae_diag *diag)
{
    const flat_model *m = f->flat;
    if (!kept->parameters) return DAE_OK;
    memcpy(f->parameters, kept->parameters, m->parameter_count * sizeof *kept->parameters);
    memcpy(f->parameter_set, kept->set, m->parameter_count * sizeof *kept->set);
    memcpy(f->start, kept->start, m->variable_count * sizeof *kept->start);
    for (size_t v = 0; v < m->variable_count; v++) f->start_moved[v] = false;
    dae_free_all(kept->parameters, kept->set, kept->start);
    *kept = (kept_values){0};
    f->revision++;
    return model_form_evaluate_parameters(f, diag);
}
