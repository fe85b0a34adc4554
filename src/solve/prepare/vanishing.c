#include "solve/prepare/vanishing.h"

#include <math.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "structure/rewrite/certificate.h"

/* As in the analysis. */
static const double SINGULAR = 1e-11;
/* Values below this part of their sizes are rounding of zero, unless their equations say more. */
static const double ROUNDING = 1e-15;
/* A relative change that what is rounded does not survive. */
static const double SHAKEN = 1e-9;

/* ---- rounding of zero ---- */

/* The other side of an equation x_j = e: *j, and e; EXPR_NONE: it is none */
static expr definition_of(const equation_set *set, int row, int *j)
{
    const expr_node *n = graph_node(set->graph, set->row[row].residual);
    if (n->op != EXPR_SUB) return EXPR_NONE;
    for (int side = 0; side < 2; side++) {
        const expr_node *x = graph_node(set->graph, side ? n->b : n->a);
        *j = x->index;
        if (x->op == EXPR_VARIABLE && x->order == 0) return side ? n->a : n->b;
    }
    return EXPR_NONE;
}

/* told[j]: x_j is small, but no rounding of zero: an equation x_j = e says so at the point, and
 * beside it, where all values differ relatively by SHAKEN. A capacitance of 1e-18 is meant, a
 * difference of equal voltages is not. False: memory */
static bool find_told(const equation_set *set, const equation_point *at, bool *told)
{
    equation_point beside = *at;
    size_t n = (size_t)set->n, count = (size_t)at->orders + 1;
    double *values = DAE_ARRAY(double, n *count);
    const double **x = DAE_ARRAY(const double *, count);
    for (size_t p = 0; values && x && p < count; p++) {
        x[p] = values + p * n;
        for (size_t j = 0; j < n; j++)
            values[p * n + j] = at->x[p][j] * (1.0 + (j % 2 ? SHAKEN : -SHAKEN));
    }
    beside.x = x;
    for (int i = 0, j; values && x && i < set->m; i++) {
        expr e = definition_of(set, i, &j);
        double own = e == EXPR_NONE ? 0.0 : at->x[0][j];
        if (own == 0.0 || fabs(own) > ROUNDING * set->nominal[j]) continue;
        double here = equation_set_value(set, e, at), there = equation_set_value(set, e, &beside);
        told[j] = fabs(here - own) < 0.5 * fabs(own) && fabs(there - own) < 0.5 * fabs(own);
    }
    dae_free_all(values, x);
    return values && x;
}

bool drop_rounding(const equation_set *set, const model_point *at, int orders, double **x)
{
    equation_point point = {at->t, (const double *const *)x, orders, at->parameters, at->memory};
    bool *told = DAE_ARRAY(bool, set->n), ok = told && find_told(set, &point, told);
    for (int p = 0; ok && p <= orders; p++)
        for (int j = 0; j < set->n; j++)
            if (!told[j] && fabs(x[p][j]) <= ROUNDING * set->nominal[j]) x[p][j] = 0.0;
    dae_free(told);
    return ok;
}

/* ---- equations as they stand ---- */

typedef struct leaf_value {
    expr leaf;
    double value;
} leaf_value;

static expr put_value(void *context, graph *g, expr leaf)
{
    const leaf_value *v = context;
    return leaf == v->leaf ? graph_constant(g, v->value) : leaf;
}

/* Row i without derivatives whose factors are zero at the point. False: memory */
static bool drop_idle_rates(equation_set *set, int i, const equation_point *at, gradient *by)
{
    graph *g = set->graph;
    expr e = set->row[i].residual;
    bool ok = derive_gradient(g, e, by);
    for (size_t k = 0; ok && k < by->count; k++) {
        const expr_node n = *graph_node(g, by->leaf[k]);
        if (n.op != EXPR_VARIABLE || n.order == 0) continue;
        if (equation_set_value(set, by->derivative[k], at) != 0.0) continue;
        leaf_value v = {by->leaf[k], at->x[n.order][n.index]};
        e = graph_substitute(g, e, put_value, &v);
        ok = e != EXPR_NONE;
    }
    set->row[i].residual = e;
    return ok;
}

/* Whether these equations determine the highest derivatives of all that is in them, none of them
 * differentiated, at the point: 1, 0, -1: memory */
static int stands_by_itself(const equation_set *set, const equation_point *at)
{
    structure here = {0};
    system_jacobian J = {0};
    certificate c = {0};
    bool ok = structure_analyse(&here, set), plain = ok && !here.singular;
    for (int i = 0; plain && i < set->m; i++) plain = here.c[i] == 0;
    if (plain) ok = system_jacobian_new(&J, set, &here) && certify(&J, &here, at, SINGULAR, &c);
    plain = plain && ok && c.valid;
    certificate_free(&c);
    system_jacobian_free(&J);
    structure_free(&here);
    return ok ? plain : -1;
}

int implicit_at(const model_form *f, const mode_slots *slots, const model_point *at)
{
    enum { ORDERS = 1 };
    equation_set set = {0};
    gradient by = {0};
    bool ok = model_equations(f, slots, at->memory, &set);
    double **x = ok ? analysed_values(&set, at, ORDERS) : NULL;
    equation_point point = {at->t, (const double *const *)x, ORDERS, at->parameters, at->memory};
    ok = x && drop_rounding(&set, at, ORDERS, x);
    for (int i = 0; ok && i < set.m; i++) ok = drop_idle_rates(&set, i, &point, &by);
    int found = ok ? stands_by_itself(&set, &point) : -1;
    gradient_free(&by);
    equation_set_free(&set);
    dae_free(x);
    return found;
}
