/* Conditions at both ends: initial equations, fixed start values, terminal equations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/memory.h"
#include "model/model_structure.h"
#include "solve/bvp/bvp_parts.h"
#include "solve/bvp/whole_guess.h"

void bvp_conditions_free(bvp_conditions *c)
{
    for (int k = 0; c->names && k < c->count; k++) dae_free(c->names[k]);
    if (c->compiled) code_free(&c->code);
    model_tangent_free(c->tangent);
    dae_free_all(c->e, c->names, c->values);
    *c = (bvp_conditions){0};
}

static bool room(bvp_conditions *c, size_t most)
{
    c->e = DAE_ARRAY(expr, most);
    c->names = DAE_ARRAY(char *, most);
    c->values = DAE_ARRAY(double, most);
    return c->e && c->names && c->values;
}

/* ---- what a condition may contain ---- */

typedef struct slope_scan {
    const dae_bvp *q;
    bool found;
} slope_scan;

static void see_slope(void *context, const expr_node *leaf)
{
    slope_scan *scan = context;
    if (leaf->op == EXPR_VARIABLE && leaf->order > 0 && !scan->q->sloped[leaf->index])
        scan->found = true;
}

/* Add e = 0, over flat variables; takes the name over. */
static dae_status add(dae_bvp *q, bvp_conditions *c, expr e, char *name, int line, dae_diag *diag)
{
    if (!name) return bvp_no_memory(diag);
    slope_scan scan = {q, false};
    expr mapped = model_form_mapped(q->seen, e);
    c->names[c->count] = name;
    c->e[c->count++] = mapped;
    graph *g = q->seen->flat->graph;
    bool seen = mapped == EXPR_NONE || graph_leaves(g, &mapped, 1, see_slope, &scan);
    if (!seen || graph_failed(g)) return bvp_no_memory(diag);
    if (mapped != EXPR_NONE && !scan.found) return DAE_OK;
    if (diag) diag->line = line;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Boundary values: the condition %s contains a derivative that the equations do "
                    "not have. Give it a variable of its own: v = der(x).",
                    name);
}

/* ---- start values ---- */

static dae_status add_fixed(dae_bvp *q, size_t v, dae_diag *diag)
{
    const flat_variable *x = &q->problem->model->flat->variables[v];
    const expr e = fixed_start_condition(q->problem->model, v);
    if (e == EXPR_NONE) return DAE_OK;
    char text[DAE_NAME_SIZE + 40];
    snprintf(text, sizeof text, "start value of %.*s", DAE_NAME_SIZE, x->name);
    return add(q, &q->left, e, dae_strdup(text), x->place.line, diag);
}

/* ---- all of them ---- */

static dae_status collect(dae_bvp *q, dae_diag *diag)
{
    const model_form *f = q->problem->model;
    const flat_model *m = f->flat;
    if (!room(&q->left, f->condition_count + m->variable_count) ||
        !room(&q->right, m->terminal_count))
        return bvp_no_memory(diag);
    dae_status status = DAE_OK;
    for (size_t k = 0; k < f->condition_count && status == DAE_OK; k++) {
        const flat_equation *e = &m->initial_equations[k];
        status = add(q, &q->left, e->residual, flat_equation_name(m, e), e->place.line, diag);
    }
    for (size_t v = 0; v < m->variable_count && status == DAE_OK; v++)
        status = add_fixed(q, v, diag);
    for (size_t k = 0; k < m->terminal_count && status == DAE_OK; k++) {
        const flat_equation *e = &m->terminal_equations[k];
        char *name = e->place.line || !e->name ? flat_equation_name(m, e) : dae_strdup(e->name);
        status = add(q, &q->right, e->residual, name, e->place.line, diag);
    }
    return status;
}

static void list_names(dae_diag *diag, const bvp_conditions *c)
{
    enum { SHOWN = 8 };
    for (int k = 0; k < c->count && k < SHOWN; k++)
        diag_append(diag, "%s%.60s", k ? ", " : " (", c->names[k]);
    if (c->count) diag_append(diag, c->count > SHOWN ? ", ..)" : ")");
}

static void list_states(const dae_bvp *q, dae_diag *diag)
{
    enum { SHOWN = 8 };
    for (int k = 0; k < q->d && k < SHOWN; k++)
        diag_append(diag, "%s%.60s", k ? ", " : " (",
                    problem_variable(q->companion->bound.problem, q->state[k]));
    if (q->d) diag_append(diag, q->d > SHOWN ? ", ..)" : ")");
}

static dae_status check_count(const dae_bvp *q, dae_diag *diag)
{
    const int have = q->left.count + q->right.count, want = q->d + q->m;
    if (have == want) return DAE_OK;
    diag_set(diag, DAE_ERR_ARGUMENT, "Boundary values: %d condition%s %s. The model has %d state%s",
             abs(have - want), abs(have - want) == 1 ? "" : "s",
             have < want ? "missing" : "too many", q->d, q->d == 1 ? "" : "s");
    list_states(q, diag);
    diag_append(diag, " and %d unknown parameter%s; there are %d condition%s at the start", q->m,
                q->m == 1 ? "" : "s", q->left.count, q->left.count == 1 ? "" : "s");
    list_names(diag, &q->left);
    diag_append(diag, " and %d at the end", q->right.count);
    list_names(diag, &q->right);
    diag_append(diag, have < want ? ". Give more terminal conditions, or fix start values."
                                  : ". Let start values be guesses (fixed = false), or name "
                                    "parameters that are unknown.");
    return DAE_ERR_ARGUMENT;
}

static bool compile(dae_bvp *q, bvp_conditions *c)
{
    graph *g = q->seen->flat->graph;
    graph_enter(g);
    c->compiled = code_new(&c->code, g, c->e, (size_t)c->count);
    graph_leave(g);
    if (!c->compiled) return false;
    c->tangent =
        model_tangent_new(g, c->e, (size_t)c->count, q->seen_n, &q->directions.inputs, true);
    return c->tangent;
}

dae_status bvp_conditions_make(dae_bvp *q, dae_diag *diag)
{
    dae_status status = collect(q, diag);
    if (status == DAE_OK) status = check_count(q, diag);
    if (status != DAE_OK) return status;
    q->stats.at_start = q->left.count;
    q->stats.at_end = q->right.count;
    return compile(q, &q->left) && compile(q, &q->right) ? DAE_OK : bvp_no_memory(diag);
}
