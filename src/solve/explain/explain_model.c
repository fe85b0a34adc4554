#include "solve/explain/explain_model.h"

#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/memory.h"
#include "expr/print.h"
#include "expr/walk.h"
#include "model/definition_names.h"
#include "model/model_structure.h"

/* Relative distance from the end of a domain below which a function is suspected. Steps that are
 * cut down to rounding end much closer to a singularity. */
static const double NEAR = 1e-6;

/* ---- values of all nodes of an equation ---- */

typedef struct point {
    const model_instance *m;
    double t;
    const double *y, *yp;
    walk w;
    double *value; /* per node of the walk */
    bool *needed;  /* per node: it matters for the value of the root */
} point;

static double leaf_value(const point *at, const expr_node *n)
{
    switch (n->op) {
    case EXPR_CONSTANT: return n->value;
    case EXPR_TIME: return at->t;
    case EXPR_PARAMETER: return at->m->parameters[n->index];
    case EXPR_MEMORY: return at->m->memory[n->index];
    default: return n->order == 0 ? at->y[n->index] : at->yp[n->index];
    }
}

static double operand_value(const point *at, expr e)
{
    return e == EXPR_NONE ? 0.0 : at->value[walk_place(&at->w, e)];
}

/* Values upwards, then downwards what they depend on: of a branch only the one taken. */
static void evaluate_nodes(point *at, const graph *g)
{
    for (size_t i = 0; i < at->w.count; i++) {
        const expr_node *n = graph_node(g, at->w.order[i]);
        at->value[i] = graph_arity(n->op) == 0
                           ? leaf_value(at, n)
                           : graph_apply(n->op, operand_value(at, n->a), operand_value(at, n->b),
                                         operand_value(at, expr_operand(n, 2)));
    }
    at->needed[at->w.count - 1] = true;
    for (size_t i = at->w.count; i-- > 0;) {
        const expr_node *n = graph_node(g, at->w.order[i]);
        expr operand[3] = {n->a, n->b, n->c};
        bool branch = n->op == EXPR_SELECT;
        int skipped = !branch ? -1 : operand_value(at, n->a) != 0.0 ? 2 : 1;
        for (int k = 0; k < graph_arity(n->op) && at->needed[i]; k++)
            if (k != skipped) at->needed[walk_place(&at->w, operand[k])] = true;
    }
}

static bool point_open(point *at, const graph *g, expr root)
{
    bool ok = walk_from(&at->w, g, &root, 1) && at->w.count > 0;
    at->value = ok ? DAE_ARRAY(double, at->w.count) : NULL;
    at->needed = ok ? DAE_ARRAY(bool, at->w.count) : NULL;
    if (!at->value || !at->needed) return false;
    evaluate_nodes(at, g);
    return true;
}

static void point_close(point *at)
{
    dae_free_all(at->value, at->needed);
    at->value = NULL;
    at->needed = NULL;
}

/* ---- how near a function is to the end of its domain ---- */

/* What e is small against: the terms of a sum, else 1. */
static double size_of(const point *at, const graph *g, expr e)
{
    const expr_node *n = graph_node(g, e);
    if (n->op != EXPR_ADD && n->op != EXPR_SUB) return 1.0;
    return fmax(fabs(operand_value(at, n->a)), fabs(operand_value(at, n->b)));
}

/* |e| against its size; *of is what is to be named. */
static double smallness(const point *at, const graph *g, expr e, expr *of)
{
    *of = e;
    double size = size_of(at, g, e), value = fabs(operand_value(at, e));
    return size > 0.0 ? value / size : value > 0.0 ? 1.0 : 0.0;
}

/* Distance of node n from the end of its domain: 0 there and beyond, INFINITY if it has none. */
static double distance(const point *at, const graph *g, const expr_node *n, double value, expr *of)
{
    double a = operand_value(at, n->a), b = operand_value(at, n->b);
    *of = n->a;
    if (!isfinite(a) || (graph_arity(n->op) > 1 && !isfinite(b))) return INFINITY;
    switch (n->op) {
    case EXPR_DIV: return smallness(at, g, n->b, of);
    case EXPR_LOG:
    case EXPR_LOG10:
    case EXPR_SQRT: return a < 0.0 ? 0.0 : smallness(at, g, n->a, of);
    case EXPR_POW:
        if (!isfinite(value)) return 0.0;
        return b < 1.0 && b != 0.0 ? smallness(at, g, n->a, of) : INFINITY;
    case EXPR_ASIN:
    case EXPR_ACOS: return fmax(0.0, 1.0 - fabs(a));
    case EXPR_TAN: return fabs(cos(a));
    default: return isfinite(value) ? INFINITY : 0.0;
    }
}

/* ---- words ---- */

static const char *leaf_name(void *context, const expr_node *leaf)
{
    const model_form *f = context;
    if (leaf->op == EXPR_TIME) return "time";
    if (leaf->op == EXPR_VARIABLE) return f->unknown_names[leaf->index];
    if (leaf->op == EXPR_PARAMETER && (size_t)leaf->index < f->flat->parameter_count)
        return f->flat->parameters[leaf->index].name;
    for (size_t v = 0; leaf->op == EXPR_MEMORY && v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        if (q->discrete && q->memory == leaf->index && q->name[0] != '$') return q->name;
    }
    return leaf->op == EXPR_MEMORY ? "(held)" : "(start)";
}

typedef struct suspect {
    double distance;
    int row;
    expr node, of;
    double value, of_value; /* of the function, and of what it is near the end with */
} suspect;

static void describe(const model_form *f, const suspect *q, const char *where, dae_diag *diag)
{
    const graph *g = f->flat->graph;
    const expr_node *n = graph_node(g, q->node);
    char whole[120], of[80];
    expr_print(g, q->node, leaf_name, (void *)f, whole, sizeof whole);
    expr_print(g, q->of, leaf_name, (void *)f, of, sizeof of);
    diag_append(diag, " In %s, ", where);
    if (n->op == EXPR_DIV)
        diag_append(diag, "the denominator of %s is %s: %s = %.3g.", whole,
                    q->of_value == 0.0 ? "zero" : "close to zero", of, q->of_value);
    else if (!isfinite(q->value))
        diag_append(diag, "%s has no finite value: %s = %.6g.", whole, of, q->of_value);
    else
        diag_append(diag, "%s is at the end of its domain: %s = %.6g.", whole, of, q->of_value);
}

/* ---- the search ---- */

/* The function of one equation that is nearest to the end of its domain, if nearer than *best. */
static void suspect_in(point *at, const graph *g, int row, suspect *best)
{
    for (size_t i = 0; i < at->w.count; i++) {
        const expr_node *n = graph_node(g, at->w.order[i]);
        expr of;
        if (!at->needed[i] || graph_arity(n->op) == 0) continue;
        double d = distance(at, g, n, at->value[i], &of);
        if (d < best->distance)
            *best = (suspect){d, row, at->w.order[i], of, at->value[i], operand_value(at, of)};
    }
}

/* If what is suspected is part of a definition, its equation is to blame, and not one that uses it.
 */
static bool blame_definition(const model_form *f, const suspect *q, dae_diag *diag)
{
    int v = model_definition_with(f, q->node);
    if (v < 0) return false;
    const model_form *form = f->starts ? f->starts : f;
    const flat_equation *own = &f->flat->equations[form->alias[v].equation];
    char *name = flat_equation_name(f->flat, own);
    diag_equation(diag, -1, name ? name : f->flat->variables[v].name);
    if (diag) diag->line = own->place.line;
    describe(f, q, name ? name : f->flat->variables[v].name, diag);
    dae_free(name);
    return true;
}

bool explain_domain(const model_instance *m, double t, const double *y, const double *yp, int row,
                    dae_diag *diag)
{
    const model_form *f = m->form;
    const graph *g = f->flat->graph;
    suspect best = {.distance = NEAR, .row = -1};
    point at = {.m = m, .t = t, .y = y, .yp = yp};
    int first = row < 0 ? 0 : row, last = row < 0 ? (int)f->residual.outputs - 1 : row;
    graph_enter(f->flat->graph);
    for (int r = first; r <= last && r < (int)f->residual.outputs; r++) {
        if (point_open(&at, g, f->residual.e[r])) suspect_in(&at, g, r, &best);
        point_close(&at);
    }
    walk_free(&at.w);
    if (best.row >= 0 && !blame_definition(f, &best, diag)) {
        diag_equation(diag, best.row, model_equation_name(f, best.row));
        describe(f, &best, model_equation_name(f, best.row), diag);
    }
    graph_leave(f->flat->graph);
    return best.row >= 0;
}

bool explain_output(const model_instance *m, double t, const double *y, const double *yp, int k,
                    dae_diag *diag)
{
    const model_form *f = m->form;
    suspect best = {.distance = NEAR, .row = -1};
    point at = {.m = m, .t = t, .y = y, .yp = yp};
    char where[220];
    graph_enter(f->flat->graph);
    if (point_open(&at, f->flat->graph, f->output.e[k])) suspect_in(&at, f->flat->graph, 0, &best);
    point_close(&at);
    walk_free(&at.w);
    snprintf(where, sizeof where, "the equation of %.200s", f->flat->variables[f->visible[k]].name);
    if (best.row >= 0) describe(f, &best, where, diag);
    graph_leave(f->flat->graph);
    return best.row >= 0;
}

bool explain_index(const model_form *f, dae_diag *diag)
{
    if (f->unmet < 0) return false;
    diag_equation(diag, f->unmet, model_equation_name(f, f->unmet));
    diag_append(diag,
                " The index of the model is above 1: %s only ties variables together whose "
                "derivatives other equations determine",
                model_equation_name(f, f->unmet));
    if (f->undetermined >= 0)
        diag_append(diag, ", and no equation is left for %s", f->unknown_names[f->undetermined]);
    diag_append(diag, ". Differentiate it with respect to time until it determines something new.");
    return true;
}

void explain_line(const model_form *f, dae_diag *diag)
{
    if (diag->line != 0) return;
    if (diag->equation >= 0 && diag->equation < f->n)
        diag->line = f->equation_lines[diag->equation];
    else if (diag->variable >= 0 && diag->variable < f->n && f->unknown_variable &&
             f->unknown_variable[diag->variable] >= 0)
        diag->line = f->flat->variables[f->unknown_variable[diag->variable]].place.line;
}
