/* The model of an optimal control problem: its controls are unknowns, and so are parameters that
 * are chosen. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "solve/optimality/optimality_parts.h"

/* ---- translation ---- */

typedef struct name_list {
    const char **items; /* in the arena */
    int count;
} name_list;

static dae_status refuse_control(const flat_model *m, const char *name, dae_diag *diag)
{
    diag_variable(diag, -1, name);
    diag_set(diag, DAE_ERR_ARGUMENT,
             "Conditions of optimality: the model has no input %s that is a continuous Real.",
             name);
    size_t inputs = 0;
    for (size_t v = 0; v < m->variable_count; v++) inputs += m->variables[v].input;
    if (inputs == 0)
        diag_append(diag, " It has no inputs: declare a control as 'input Real %s'.", name);
    else
        diag_append(diag, " Its inputs: ");
    text_list list = text_list_in(diag, 10);
    for (size_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].input) text_list_add(&list, "%s", m->variables[v].name);
    text_list_end(&list);
    return DAE_ERR_ARGUMENT;
}

static bool is_listed(const name_list *list, const char *name)
{
    for (int k = 0; k < list->count; k++)
        if (strcmp(list->items[k], name) == 0) return true;
    return false;
}

/* The scalars that a name means. */
static dae_status add_controls(optimality *q, const flat_model *m, const char *given,
                               name_list *list, dae_diag *diag)
{
    bool found = false;
    const char *name = given ? given : "(no name)";
    for (size_t v = 0; given && v < m->variable_count; v++) {
        const flat_variable *x = &m->variables[v];
        if (!x->input || x->discrete || x->type != FLAT_REAL || !flat_name_means(given, x->name))
            continue;
        found = true;
        if (is_listed(list, x->name))
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "Conditions of optimality: control %s is named twice.", x->name);
        list->items[list->count] = arena_text(q->memory, x->name, strlen(x->name));
        if (!list->items[list->count++]) return no_memory_for_conditions(diag);
    }
    return found ? DAE_OK : refuse_control(m, name, diag);
}

/* Names of all scalar controls, from a first translation. */
static dae_status name_controls(optimality *q, const dae_model *given, name_list *list,
                                dae_diag *diag)
{
    dae_model model = *given;
    dae_problem *p = NULL;
    model.message = NULL; /* inputs without a value are none to be warned of */
    model.engine = DAE_ENGINE_TAPE;
    dae_status status = dae_problem_from_model(&model, &p, diag);
    if (status != DAE_OK) { /* once more for its messages */
        status = given->message ? dae_problem_from_model(given, &p, diag) : status;
        dae_problem_free(p);
        return status;
    }
    const flat_model *m = p->model->flat;
    list->items = arena_alloc(q->memory, (m->variable_count + 1) * sizeof *list->items);
    if (!list->items) status = no_memory_for_conditions(diag);
    for (int k = 0; k < q->request->control_count && status == DAE_OK; k++)
        status = add_controls(q, m, q->request->controls[k], list, diag);
    dae_problem_free(p);
    return status;
}

/* What drives inputs, and each control by 0 beside it; NULL: memory. */
static const dae_input *drive(optimality *q, const dae_model *given, const name_list *controls)
{
    const size_t count = (size_t)given->input_count;
    dae_input *all = arena_alloc(q->memory, (count + (size_t)controls->count + 1) * sizeof *all);
    for (size_t k = 0; all && k < count; k++) all[k] = given->inputs[k];
    for (int k = 0; all && k < controls->count; k++)
        all[count + (size_t)k] = (dae_input){.name = controls->items[k], .expression = "0.0"};
    return all;
}

/* Conditions at the end, and the objective behind them as such; NULL: memory. */
static const char *const *extend_terminal(optimality *q, const dae_model *given, int *count)
{
    const char **all = arena_alloc(q->memory, ((size_t)given->terminal_count + 3) * sizeof *all);
    *count = given->terminal_count;
    if (!all) return NULL;
    for (int k = 0; k < *count; k++) all[k] = given->terminal[k];
    if (q->request->integral)
        all[(*count)++] = optimality_text(q, "0.0 = %s", q->request->integral);
    if (q->request->at_end) all[(*count)++] = optimality_text(q, "0.0 = %s", q->request->at_end);
    return arena_failed(q->memory) ? NULL : all;
}

static dae_status translate(optimality *q, const dae_model *given, name_list *controls,
                            dae_diag *diag)
{
    dae_status status = name_controls(q, given, controls, diag);
    if (status != DAE_OK) return status;
    dae_model model = *given;
    model.engine = DAE_ENGINE_TAPE;
    model.inputs = drive(q, given, controls);
    model.input_count = given->input_count + controls->count;
    model.terminal = extend_terminal(q, given, &model.terminal_count);
    if (!model.inputs || !model.terminal) return no_memory_for_conditions(diag);
    status = dae_problem_from_model(&model, &q->problem, diag);
    if (status != DAE_OK) return status;
    q->form = q->problem->model;
    q->g = q->form->flat->graph;
    return DAE_OK;
}

/* ---- what has no place ---- */

static dae_status refuse_part(const char *what, int line, dae_diag *diag)
{
    if (diag) diag->line = line;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Conditions of optimality: the model has %s (line %d), and they are those of "
                    "smooth solutions. What is smooth may stand in noEvent().",
                    what, line);
}

static dae_status check_memory(const flat_model *m, dae_diag *diag)
{
    for (size_t k = 0; k < m->equation_count; k++) {
        bool found = false;
        if (!graph_reads(m->graph, &m->equations[k].residual, 1, 1u << EXPR_MEMORY, &found))
            return no_memory_for_conditions(diag);
        if (found)
            return refuse_part("an equation with discrete values", m->equations[k].place.line,
                               diag);
    }
    return DAE_OK;
}

static dae_status check_parts(const flat_model *m, dae_diag *diag)
{
    if (m->when_count)
        return refuse_part("a when-clause", m->whens[0].branches[0].place.line, diag);
    if (m->relation_count)
        return refuse_part("a condition that is an event", m->relations[0].place.line, diag);
    if (m->sample_count)
        return refuse_part("an event at given times", m->samples[0].place.line, diag);
    if (m->delay_count) return refuse_part("a delay", m->delays[0].place.line, diag);
    if (m->discrete_count)
        return refuse_part("a discrete variable", m->discretes[0].place.line, diag);
    return check_memory(m, diag);
}

/* ---- parameters that are chosen ---- */

static int find_parameter(const flat_model *m, const char *name)
{
    for (size_t k = 0; name && k < m->parameter_count; k++)
        if (strcmp(m->parameters[k].name, name) == 0) return (int)k;
    return -1;
}

/* Parameter k becomes a variable. */
static dae_status move_parameter(optimality *q, int k, dae_diag *diag)
{
    const flat_parameter *p = &q->form->flat->parameters[k];
    diag_variable(diag, -1, p->name);
    if (p->type != FLAT_REAL || p->constant || p->final_ || p->structural)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Conditions of optimality: parameter %s (line %d) cannot be chosen: it is "
                        "%s.",
                        p->name, p->place.line,
                        p->type != FLAT_REAL ? "no Real"
                        : p->structural      ? "one that decides the structure of the model"
                                             : "constant or final");
    const flat_words *words = optimality_words(
        q, (flat_words){p->unit, p->display_unit, p->quantity, p->comment ? p->comment : ""});
    q->omitted[k] = true; /* its name is free for the variable */
    if (!words ||
        !dae_grow(&q->variables, &q->variable_room, q->variable_count + 1, sizeof *q->variables))
        return no_memory_for_conditions(diag);
    q->moved[k] = (int)q->variable_count;
    q->variables[q->variable_count++] =
        (flat_variable){.name = p->name,
                        .type = FLAT_REAL,
                        .words = words,
                        .start = graph_constant(q->g, q->form->parameters[k]),
                        .has_start = true,
                        .min = p->min,
                        .max = p->max,
                        .memory = -1,
                        .memory_pre = -1,
                        .state_select = SELECT_DEFAULT,
                        .place = p->place};
    return DAE_OK;
}

typedef struct moved_scan {
    const optimality *q;
    bool found;
} moved_scan;

static void see_moved(void *context, const expr_node *leaf)
{
    moved_scan *scan = context;
    if (leaf->op == EXPR_PARAMETER && scan->q->moved[leaf->index] >= 0) scan->found = true;
}

static bool reads_moved(const optimality *q, expr e, bool *failed)
{
    moved_scan scan = {q, false};
    if (e != EXPR_NONE && !graph_leaves(q->g, &e, 1, see_moved, &scan)) *failed = true;
    return scan.found;
}

static expr to_variable(void *context, graph *g, expr leaf)
{
    const optimality *q = context;
    const expr_node *n = graph_node(g, leaf);
    bool moved = n->op == EXPR_PARAMETER && q->moved[n->index] >= 0;
    return moved ? graph_variable(g, q->moved[n->index], 0) : leaf;
}

static expr to_value(void *context, graph *g, expr leaf)
{
    const optimality *q = context;
    const expr_node *n = graph_node(g, leaf);
    bool moved = n->op == EXPR_PARAMETER && q->moved[n->index] >= 0;
    return moved ? graph_constant(g, q->form->parameters[n->index]) : leaf;
}

static expr in_variables(optimality *q, expr e)
{
    return e == EXPR_NONE ? e : graph_substitute(q->g, e, to_variable, q);
}

expr optimality_in_values(optimality *q, expr e)
{
    return e == EXPR_NONE ? e : graph_substitute(q->g, e, to_value, q);
}

/* der(p) = 0 of those that are named, q = .. of those that follow from them. */
static dae_status move_parameters(optimality *q, dae_diag *diag)
{
    const flat_model *m = q->form->flat;
    dae_status status = DAE_OK;
    bool failed = false;
    for (int k = 0; k < q->request->unknown_count && status == DAE_OK; k++) {
        const char *name = q->request->unknown[k];
        int p = find_parameter(m, name);
        diag_variable(diag, -1, name ? name : "(no name)");
        if (p < 0 || q->moved[p] >= 0)
            return diag_set(diag, DAE_ERR_ARGUMENT, "Conditions of optimality: %s %s.",
                            p < 0 ? "the model has no parameter" : "named twice: parameter",
                            name ? name : "(no name)");
        status = move_parameter(q, p, diag);
        if (status == DAE_OK && !optimality_add(&q->equations, graph_variable(q->g, q->moved[p], 1),
                                                graph_constant(q->g, 0.0), q->g, NULL))
            status = no_memory_for_conditions(diag);
    }
    for (size_t k = 0; k < m->parameter_count && status == DAE_OK && !failed; k++) {
        const flat_parameter *p = &m->parameters[k];
        if (q->moved[k] >= 0 || q->form->parameter_set[k] || !reads_moved(q, p->value, &failed))
            continue;
        status = move_parameter(q, (int)k, diag);
        if (status == DAE_OK && !optimality_add(&q->equations, graph_variable(q->g, q->moved[k], 0),
                                                in_variables(q, p->value), q->g, NULL))
            failed = true;
    }
    return failed && status == DAE_OK ? no_memory_for_conditions(diag) : status;
}

/* ---- variables ---- */

static bool copy_variables(optimality *q)
{
    const flat_model *m = q->form->flat;
    const size_t n = m->variable_count;
    if (!dae_grow(&q->variables, &q->variable_room, n + m->parameter_count + 1,
                  sizeof *q->variables))
        return false;
    memcpy(q->variables, m->variables, n * sizeof *q->variables);
    q->variable_count = n;
    q->moved = arena_alloc(q->memory, (m->parameter_count + 1) * sizeof *q->moved);
    q->omitted = arena_alloc(q->memory, (m->parameter_count + 1) * sizeof *q->omitted);
    for (size_t k = 0; q->moved && k < m->parameter_count; k++) q->moved[k] = -1;
    for (size_t v = 0; v < n; v++) {
        flat_variable *x = &q->variables[v];
        x->input = false;
        if (isnan(q->form->start[v])) continue;
        x->has_start = true;
        x->start = graph_constant(q->g, q->form->start[v]);
    }
    return q->moved && q->omitted;
}

/* A bound holds as an assertion: conditions of optimality know none. */
static bool assert_bound(optimality *q, int v, expr bound, bool least)
{
    if (bound == EXPR_NONE) return true;
    if (!dae_grow(&q->asserts, &q->assert_room, q->assert_count + 1, sizeof *q->asserts))
        return false;
    expr x = graph_variable(q->g, v, 0);
    q->asserts[q->assert_count++] = (flat_action){
        .kind = ACTION_ASSERT,
        .variable = -1,
        .value = graph_binary(q->g, EXPR_LE, least ? bound : x, least ? x : bound),
        .message = (char *)optimality_text(q,
                                           "%s passes its %s: conditions of optimality know no "
                                           "bounds",
                                           q->variables[v].name, least ? "min" : "max"),
        .place = q->variables[v].place,
        .guard = EXPR_NONE};
    return !arena_failed(q->memory);
}

/* Attributes over parameters that are variables now: fixed start values become equations, others
 * numbers, bounds assertions. */
static bool settle_attributes(optimality *q)
{
    bool failed = false;
    for (size_t v = 0; v < q->variable_count && !failed; v++) {
        flat_variable *x = &q->variables[v];
        if (x->has_start && x->fixed && reads_moved(q, x->start, &failed)) {
            failed = failed || !optimality_add(&q->initial, graph_variable(q->g, (int)v, 0),
                                               in_variables(q, x->start), q->g,
                                               optimality_text(q, "start value of %s", x->name));
            x->fixed = false;
        }
        failed = failed || !assert_bound(q, (int)v, in_variables(q, x->min), true) ||
                 !assert_bound(q, (int)v, in_variables(q, x->max), false);
        x->start = optimality_in_values(q, x->start);
        x->nominal = optimality_in_values(q, x->nominal);
        x->min = x->max = EXPR_NONE;
    }
    return !failed;
}

/* ---- equations ---- */

static bool copy_equation(optimality *q, flat_list *list, const flat_equation *e)
{
    if (!dae_grow(&list->items, &list->room, list->count + 1, sizeof *list->items)) return false;
    flat_equation copy = *e;
    copy.residual = in_variables(q, e->residual);
    copy.left = in_variables(q, e->left);
    copy.right = in_variables(q, e->right);
    list->items[list->count++] = copy;
    return copy.residual != EXPR_NONE;
}

/* The control that an equation of its own drives by 0; -1: it is none. */
static int driven_control(const optimality *q, const name_list *controls, const flat_equation *e)
{
    const flat_model *m = q->form->flat;
    const expr_node *n = e->left != EXPR_NONE ? graph_node(q->g, e->left) : NULL;
    if (!n || n->op != EXPR_VARIABLE || n->order || !graph_is_number(q->g, e->right, 0.0))
        return -1;
    const flat_variable *v = &m->variables[n->index];
    bool own = e->place.line == v->place.line && e->place.column == v->place.column;
    return own && v->input && is_listed(controls, v->name) ? n->index : -1;
}

static bool copy_equations(optimality *q, const name_list *controls)
{
    const flat_model *m = q->form->flat;
    bool *seen = arena_alloc(q->memory, q->variable_count + 1);
    bool ok = seen != NULL;
    for (size_t k = 0; ok && k < m->equation_count; k++) {
        int u = driven_control(q, controls, &m->equations[k]);
        if (u >= 0 && !seen[u])
            seen[u] = true;
        else
            ok = copy_equation(q, &q->equations, &m->equations[k]);
    }
    q->control = seen;
    for (size_t k = 0; ok && k < q->form->condition_count; k++)
        ok = copy_equation(q, &q->initial, &m->initial_equations[k]);
    return ok;
}

/* Conditions at the end; the last ones are the objective. */
static bool copy_terminal(optimality *q)
{
    const flat_model *m = q->form->flat;
    size_t count = m->terminal_count;
    bool ok = true;
    q->integrand = q->at_end = graph_constant(q->g, 0.0);
    if (q->request->at_end) q->at_end = in_variables(q, m->terminal_equations[--count].right);
    if (q->request->integral) q->integrand = in_variables(q, m->terminal_equations[--count].right);
    for (size_t k = 0; ok && k < count; k++)
        ok = copy_equation(q, &q->terminal, &m->terminal_equations[k]);
    return ok;
}

static bool copy_asserts(optimality *q)
{
    const flat_model *m = q->form->flat;
    if (!dae_grow(&q->asserts, &q->assert_room, m->assert_count + 1, sizeof *q->asserts))
        return false;
    for (size_t k = 0; k < m->assert_count; k++) {
        q->asserts[k] = m->asserts[k];
        q->asserts[k].value = in_variables(q, m->asserts[k].value);
    }
    q->assert_count = m->assert_count;
    return true;
}

static dae_status check_bounds(const optimality *q, dae_diag *diag)
{
    for (size_t v = 0; v < q->form->flat->variable_count; v++) {
        const flat_variable *x = &q->variables[v];
        if (!q->control[v] || (x->min == EXPR_NONE && x->max == EXPR_NONE)) continue;
        diag_variable(diag, (int)v, x->name);
        if (diag) diag->line = x->place.line;
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Conditions of optimality: control %s has bounds (line %d), which they "
                        "cannot say. Without min and max they hold where no bound is reached.",
                        x->name, x->place.line);
    }
    return DAE_OK;
}

dae_status optimality_read(optimality *q, const dae_model *model, dae_diag *diag)
{
    name_list controls = {0};
    dae_status status = translate(q, model, &controls, diag);
    if (status == DAE_OK) status = check_parts(q->form->flat, diag);
    if (status == DAE_OK && !copy_variables(q)) status = no_memory_for_conditions(diag);
    if (status == DAE_OK) status = move_parameters(q, diag);
    if (status != DAE_OK) return status;
    if (!copy_equations(q, &controls) || !copy_terminal(q) || !copy_asserts(q))
        return no_memory_for_conditions(diag);
    status = check_bounds(q, diag);
    if (status == DAE_OK && !settle_attributes(q)) status = no_memory_for_conditions(diag);
    q->own = (int)q->variable_count;
    q->rows = (int)q->equations.count;
    return status;
}
