/* The form of index 1 that is collocated, and programs of its equations and conditions: values,
 * exact first and second derivatives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "expr/derive.h"
#include "model/model_structure.h"
#include "solve/bvp/whole_guess.h"
#include "solve/optimise/optimise_parts.h"

/* ---- the form ---- */

/* There are no consistent values with controls at their guesses. */
static void explain_guess(const dae_optimum *q, bool asserted, dae_diag *diag)
{
    const char *name = q->request.controls[0].name;
    diag_append(diag, "%s Controls are at their guesses there (%s = %g).", asserted ? "." : "",
                name, q->base[0]);
    if (!asserted)
        diag_append(diag,
                    " Where equations of a high index tie a control to the states, give a guess "
                    "that fits, or write der(%s) = w in the model and let the input w be the "
                    "control.",
                    name);
}

/* Bind the form of index 1 at consistent values. */
static dae_status bind_form(dae_optimum *q, dae_diag *diag)
{
    dae_options o = dae_options_default();
    o.rtol = q->request.rtol;
    o.atol = q->request.atol;
    dae_status status =
        lead_companion_start(q->problem, &o, q->request.start, "Optimisation", &q->companion, diag);
    if (status != DAE_OK && status != DAE_ERR_MEMORY && q->c > 0)
        explain_guess(q, status == DAE_ERR_ASSERT, diag);
    if (status != DAE_OK) return status;
    q->instance = q->companion->hybrid->instance;
    q->form = q->instance->form;
    q->n = q->companion->bound.n;
    return DAE_OK;
}

static bool number_states(dae_optimum *q)
{
    const size_t n = (size_t)q->n;
    q->state = DAE_ARRAY(int, n);
    q->number = DAE_ARRAY(int, n);
    q->y = DAE_ARRAY(double, 4 * n);
    if (!q->state || !q->number || !q->y) return false;
    q->yp = q->y + n;
    q->weights = q->y + 2 * n;
    q->work = q->y + 3 * n;
    for (int i = 0; i < q->n; i++) {
        bool state = q->companion->bound.kinds[i] == DAE_KIND_DIFFERENTIAL;
        q->number[i] = state ? q->d : -1;
        if (state) q->state[q->d++] = i;
    }
    return true;
}

/* ---- leaves as numbers of a block ---- */

static expr to_local(void *context, graph *g, expr leaf)
{
    dae_optimum *q = context;
    const expr_node *node = graph_node(g, leaf);
    if (node->op == EXPR_VARIABLE && node->order == 0) return leaf;
    if (node->op == EXPR_VARIABLE) {
        const int k = node->order == 1 ? q->number[node->index] : -1;
        return k < 0 ? EXPR_NONE : graph_variable(g, q->n + k, 0);
    }
    if (node->op == EXPR_PARAMETER && q->bound_value[node->index] != EXPR_NONE)
        return q->bound_value[node->index];
    if (node->op != EXPR_MEMORY) return leaf;
    for (int k = 0; k < q->c; k++) {
        const int at = node->index - q->slot[k];
        if (at == 0) return graph_time(g);
        if (at == 1) return graph_variable(g, q->n + q->d + k, 0);
    }
    return leaf;
}

/* Parameters that are varied, and those that follow from them, over numbers of a block. */
static bool follow_parameters(dae_optimum *q)
{
    const model_form *f = q->problem->model;
    const flat_model *m = f->flat;
    graph *g = m->graph;
    q->bound_value = DAE_ARRAY(expr, m->parameter_count);
    if (!q->bound_value) return false;
    for (int k = 0; k < q->m; k++)
        q->bound_value[q->parameter[k]] = graph_variable(g, opt_block(q) + k, 0);
    for (size_t p = 0; p < m->parameter_count; p++) {
        const flat_parameter *v = &m->parameters[p];
        if (q->bound_value[p] != EXPR_NONE || f->parameter_set[p] || v->value == EXPR_NONE)
            continue;
        expr moved = graph_substitute(g, v->value, to_local, q);
        if (moved == EXPR_NONE) return false;
        if (moved != v->value) q->bound_value[p] = moved;
    }
    return true;
}

/* ---- programs ---- */

void opt_program_free(opt_program *p)
{
    for (int k = 0; k < 3; k++)
        if (p->made[k]) code_free(&p->code[k]);
    dae_free_all(p->first_row, p->first_column, p->second_row, p->second_column, p->value, p->first,
                 p->second);
    *p = (opt_program){0};
}

/* Entries of a derivative as they are found. */
typedef struct entry_list {
    int *row, *column;
    expr *e;
    size_t count, room_row, room_column, room_e;
} entry_list;

static bool add_entry(entry_list *l, int row, int column, expr e)
{
    if (!dae_grow(&l->row, &l->room_row, l->count + 1, sizeof *l->row) ||
        !dae_grow(&l->column, &l->room_column, l->count + 1, sizeof *l->column) ||
        !dae_grow(&l->e, &l->room_e, l->count + 1, sizeof *l->e))
        return false;
    l->row[l->count] = row;
    l->column[l->count] = column;
    l->e[l->count++] = e;
    return true;
}

/* Derivatives of e by numbers of a block and p below `columns`. */
static bool add_gradient(entry_list *l, graph *g, expr e, int row, int columns, gradient *work)
{
    if (!derive_gradient(g, e, work)) return false;
    for (size_t k = 0; k < work->count; k++) {
        const int column = graph_node(g, work->leaf[k])->index;
        if (column < columns && !add_entry(l, row, column, work->derivative[k])) return false;
    }
    return true;
}

/* sum_i weight_i e_i, over weights that are variables behind those of the block and p. */
static expr weighted_sum(graph *g, const expr *e, int rows, int columns)
{
    expr sum = graph_constant(g, 0.0);
    for (int i = 0; i < rows; i++)
        sum = graph_binary(g, EXPR_ADD, sum,
                           graph_binary(g, EXPR_MUL, graph_variable(g, columns + i, 0), e[i]));
    return sum;
}

static bool find_entries(const dae_optimum *q, graph *g, const expr *e, int rows, entry_list *first,
                         entry_list *second)
{
    const int columns = opt_block(q) + q->m;
    gradient work = {0};
    entry_list slope = {0};
    bool ok = true;
    for (int i = 0; i < rows && ok; i++) ok = add_gradient(first, g, e[i], i, columns, &work);
    ok = ok && add_gradient(&slope, g, weighted_sum(g, e, rows, columns), 0, columns, &work);
    for (size_t k = 0; k < slope.count && ok; k++)
        ok = add_gradient(second, g, slope.e[k], slope.column[k], slope.column[k] + 1, &work);
    gradient_free(&work);
    dae_free_all(slope.row, slope.column, slope.e);
    return ok && !graph_failed(g);
}

static bool compile(opt_program *p, graph *g, const expr *e, int rows, const entry_list *first,
                    const entry_list *second)
{
    const expr *of[3] = {e, first->e, second->e};
    const size_t count[3] = {(size_t)rows, first->count, second->count};
    double **value[3] = {&p->value, &p->first, &p->second};
    for (int k = 0; k < 3; k++) {
        static const expr none = EXPR_NONE;
        p->made[k] = code_new(&p->code[k], g, of[k] ? of[k] : &none, count[k]);
        *value[k] = DAE_ARRAY(double, count[k]);
        if (!p->made[k] || !*value[k]) return false;
    }
    return true;
}

/* Derivatives of a control: those that are left once its shift counts from the present time. */
static void see_derivative(void *context, const expr_node *leaf)
{
    dae_optimum *q = context;
    for (int k = 0; k < q->c && leaf->op == EXPR_MEMORY; k++)
        if (leaf->index > q->slot[k] + 1 && leaf->index <= q->slot[k] + SHIFT_TERMS) q->derived = k;
}

/* Programs of rows that are over the unknowns of the form; they become local ones. */
static dae_status make_program(dae_optimum *q, opt_program *p, expr *e, int rows, dae_diag *diag)
{
    graph *g = q->form->flat->graph;
    entry_list first = {0}, second = {0};
    bool ok = true;
    graph_enter(g);
    for (int i = 0; i < rows && ok; i++) {
        e[i] = graph_substitute(g, e[i], to_local, q);
        ok = e[i] != EXPR_NONE;
    }
    ok = ok && graph_leaves(g, e, (size_t)rows, see_derivative, q) &&
         find_entries(q, g, e, rows, &first, &second) && compile(p, g, e, rows, &first, &second);
    graph_leave(g);
    p->rows = rows;
    p->first_count = first.count;
    p->second_count = second.count;
    p->first_row = first.row;
    p->first_column = first.column;
    p->second_row = second.row;
    p->second_column = second.column;
    dae_free_all(first.e, second.e);
    return ok ? DAE_OK : opt_no_memory(diag);
}

void opt_programs_prepare(dae_optimum *q)
{
    tape_inputs at = {.values = {q->local, NULL, NULL, NULL},
                      .parameters = q->instance->parameters,
                      .memory = q->instance->memory};
    opt_program *all[] = {&q->at_point, &q->at_start, &q->at_end};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (all[i]->made[k]) code_prepare(&all[i]->code[k], &at);
}

void opt_program_run(const dae_optimum *q, opt_program *p, double t, int what)
{
    tape_inputs at = {.time = t,
                      .values = {q->local, NULL, NULL, NULL},
                      .parameters = q->instance->parameters,
                      .memory = q->instance->memory};
    double *out[3] = {p->value, p->first, p->second};
    code_run(&p->code[what], &at, out[what]);
}

/* ---- equations and conditions ---- */

/* Row r of the choice of states: sum of weight (y' - sign y_next). */
static expr chosen_row(const dae_optimum *q, graph *g, int r)
{
    const int *candidate;
    const double *weight;
    expr sum = graph_constant(g, 0.0);
    const int terms = selection_terms(q->instance->selection, r, &candidate, &weight);
    for (int k = 0; k < terms; k++) {
        const kinematic *of = &q->form->formulated->candidate[candidate[k]];
        expr next =
            graph_binary(g, EXPR_MUL, graph_constant(g, of->sign), graph_variable(g, of->next, 0));
        expr part = graph_binary(g, EXPR_SUB, graph_variable(g, of->unknown, 1), next);
        sum = graph_binary(g, EXPR_ADD, sum,
                           graph_binary(g, EXPR_MUL, graph_constant(g, weight[k]), part));
    }
    return sum;
}

/* A condition over the unknowns of the form. */
static dae_status map_condition(dae_optimum *q, const char *text, expr *e, dae_diag *diag)
{
    if (*e == EXPR_NONE) return DAE_OK;
    *e = model_form_mapped(q->form, *e);
    if (*e != EXPR_NONE) return DAE_OK;
    if (graph_failed(q->form->flat->graph)) return opt_no_memory(diag);
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Optimisation: %s contains a derivative that the equations do not have. Give "
                    "it a variable of its own: v = der(x).",
                    text);
}

typedef struct slope_scan {
    const dae_optimum *q;
    bool slope, other; /* a derivative of what is no state; what is no state */
    bool control;
} slope_scan;

static void see_leaf(void *context, const expr_node *leaf)
{
    slope_scan *s = context;
    const dae_optimum *q = s->q;
    for (int k = 0; k < q->c && leaf->op == EXPR_MEMORY; k++)
        s->control = s->control || leaf->index == q->slot[k] + 1;
    if (leaf->op != EXPR_VARIABLE) return;
    const bool state = q->number[leaf->index] >= 0;
    s->slope = s->slope || (leaf->order > 0 && !state);
    s->other = s->other || leaf->order > 0 || !state;
}

static dae_status map_all(dae_optimum *q, dae_diag *diag)
{
    opt_conditions *lists[] = {&q->start, &q->path, &q->end};
    graph *g = q->form->flat->graph;
    dae_status status = DAE_OK;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < lists[i]->count && status == DAE_OK; k++) {
            opt_condition *c = &lists[i]->list[k];
            slope_scan scan = {.q = q};
            status = map_condition(q, c->text, &c->e, diag);
            if (status != DAE_OK) return status;
            if (!graph_leaves(g, &c->e, 1, see_leaf, &scan)) return opt_no_memory(diag);
            if (scan.slope)
                return diag_set(diag, DAE_ERR_UNSUPPORTED,
                                "Optimisation: the condition %s contains a derivative that the "
                                "equations do not have. Give it a variable of its own: v = der(x).",
                                c->text);
            if (i == 0) q->whole_start = q->whole_start || scan.other || scan.control;
        }
    if (status == DAE_OK) status = map_condition(q, "the objective", &q->objective, diag);
    if (status == DAE_OK) status = map_condition(q, "the integral", &q->integral, diag);
    return status;
}

static dae_status make_points(dae_optimum *q, dae_diag *diag)
{
    graph *g = q->form->flat->graph;
    const int compiled = q->form->rows;
    const int chosen = q->instance->selection ? selection_count(q->instance->selection) : 0;
    q->rows = compiled + chosen;
    expr *e = DAE_ARRAY(expr, q->rows + q->path.count + 1);
    if (!e) return opt_no_memory(diag);
    graph_enter(g);
    for (int i = 0; i < compiled; i++) e[i] = q->form->residual.e[i];
    for (int i = 0; i < chosen; i++) e[compiled + i] = chosen_row(q, g, i);
    graph_leave(g);
    for (int k = 0; k < q->path.count; k++) e[q->rows + k] = q->path.list[k].e;
    int count = q->rows + q->path.count;
    if (q->integral != EXPR_NONE) e[count++] = q->integral;
    dae_status status = make_program(q, &q->at_point, e, count, diag);
    dae_free(e);
    return status;
}

static dae_status make_ends(dae_optimum *q, dae_diag *diag)
{
    expr *e = DAE_ARRAY(expr, q->start.count + q->end.count + 1);
    if (!e) return opt_no_memory(diag);
    for (int k = 0; k < q->start.count; k++) e[k] = q->start.list[k].e;
    dae_status status = make_program(q, &q->at_start, e, q->start.count, diag);
    for (int k = 0; k < q->end.count; k++) e[k] = q->end.list[k].e;
    int count = q->end.count;
    if (q->objective != EXPR_NONE) e[count++] = q->objective;
    if (status == DAE_OK) status = make_program(q, &q->at_end, e, count, diag);
    dae_free(e);
    return status;
}

/* ---- conditions at the start ---- */

static dae_status add_fixed(dae_optimum *q, size_t v, dae_diag *diag)
{
    const flat_variable *x = &q->problem->model->flat->variables[v];
    const expr e = fixed_start_condition(q->problem->model, v);
    if (e == EXPR_NONE) return DAE_OK;
    char text[DAE_NAME_SIZE + 40];
    snprintf(text, sizeof text, "start value of %.*s", DAE_NAME_SIZE, x->name);
    opt_condition *c = opt_add(&q->start, text, 0.0, 0.0);
    if (!c) return opt_no_memory(diag);
    c->e = e;
    return DAE_OK;
}

static dae_status collect_start(dae_optimum *q, dae_diag *diag)
{
    const model_form *f = q->problem->model;
    const flat_model *m = f->flat;
    dae_status status = DAE_OK;
    for (size_t k = 0; k < f->condition_count; k++) {
        char *name = flat_equation_name(m, &m->initial_equations[k]);
        opt_condition *c = name ? opt_add(&q->start, name, 0.0, 0.0) : NULL;
        dae_free(name);
        if (!c) return opt_no_memory(diag);
        c->e = m->initial_equations[k].residual;
    }
    for (size_t v = 0; v < m->variable_count && status == DAE_OK; v++)
        status = add_fixed(q, v, diag);
    return status;
}

/* ---- all of it ---- */

/* reach = largest integral of prod (x - c_a) from 0, over its value at 0 and at 1/2: for a smooth
 * solution the error of the polynomial over h times its defect there. */
static void find_reach(dae_optimum *q)
{
    enum { PARTS = 1000 };
    const collocation *m = q->method;
    double sum = 0.0, most = 0.0, at[2] = {1.0, 1.0};
    for (int k = 0; k < PARTS; k++) {
        double product = 1.0;
        for (int a = 0; a < m->stages; a++) product *= (k + 0.5) / PARTS - m->nodes[a];
        sum += product / PARTS;
        most = fmax(most, fabs(sum));
    }
    for (int a = 0; a < m->stages; a++) {
        at[0] *= m->nodes[a];
        at[1] *= fabs(0.5 - m->nodes[a]);
    }
    for (int k = 0; k < 2; k++) q->reach[k] = most / at[k];
}

static dae_status check_derived(const dae_optimum *q, dae_diag *diag)
{
    if (q->derived < 0) return DAE_OK;
    const char *name = q->request.controls[q->derived].name;
    diag_variable(diag, -1, name);
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Optimisation: equations of a high index contain the derivative of control %s. "
                    "Write der(%s) = w in the model, with a start value for it, and let the input "
                    "w be the control.",
                    name, name);
}

dae_status opt_take_form(dae_optimum *q, dae_diag *diag)
{
    q->method = &radau_iia_3;
    q->derived = -1;
    find_reach(q);
    dae_status status = bind_form(q, diag);
    if (status == DAE_OK && !number_states(q)) status = opt_no_memory(diag);
    if (status != DAE_OK) return status;
    graph *g = q->form->flat->graph;
    graph_enter(g);
    if (!follow_parameters(q)) status = opt_no_memory(diag);
    graph_leave(g);
    if (status == DAE_OK) status = collect_start(q, diag);
    if (status == DAE_OK) status = map_all(q, diag);
    if (status == DAE_OK) status = make_points(q, diag);
    if (status == DAE_OK) status = make_ends(q, diag);
    if (status == DAE_OK) status = check_derived(q, diag);
    if (status != DAE_OK) return status;
    const int columns = opt_block(q) + q->m;
    int most = q->at_point.rows;
    if (q->at_start.rows > most) most = q->at_start.rows;
    if (q->at_end.rows > most) most = q->at_end.rows;
    q->local = DAE_ARRAY(double, columns + most);
    q->scale = DAE_ARRAY(double, columns);
    q->stats.states = q->d;
    q->stats.at_start = q->start.count;
    return q->local && q->scale ? DAE_OK : opt_no_memory(diag);
}
