#include "structure/rewrite/zeros.h"

#include <math.h>

#include "base/memory.h"
#include "expr/walk.h"

/* Zeros that follow from zeros, of a longer chain than this, are not found. */
enum { MOST_PASSES = 20 };

typedef struct zero_search {
    const equation_set *set;
    const double *parameters;
    bool *zero;    /* found so far */
    walk w;        /* over all equations */
    double *value; /* per node of the walk: its number, NAN: it is open; owned */
} zero_search;

static double number_of_leaf(const zero_search *z, const expr_node *n)
{
    switch ((expr_op)n->op) {
    case EXPR_CONSTANT: return n->value;
    case EXPR_PARAMETER: return z->parameters ? z->parameters[n->index] : (double)NAN;
    case EXPR_VARIABLE: return z->zero[n->index] ? 0.0 : (double)NAN;
    default: return NAN;
    }
}

/* The number of an operation whose operands are a, b and c, NAN where they are open. What is
 * multiplied by zero is taken for finite, as it is where equations can be evaluated. */
static double number_of_operation(expr_op op, double a, double b, double c)
{
    switch (op) {
    case EXPR_MUL:
    case EXPR_AND:
        if (a == 0.0 || b == 0.0) return 0.0;
        break;
    case EXPR_DIV:
        if (a == 0.0) return b == 0.0 ? (double)NAN : 0.0;
        break;
    case EXPR_SELECT:
        if (isnan(a)) return b == c ? b : (double)NAN;
        return a != 0.0 ? b : c;
    default: break;
    }
    return isnan(a) || isnan(b) || isnan(c) ? (double)NAN : graph_apply(op, a, b, c);
}

static double number_of(const zero_search *z, expr e)
{
    const expr_node *n = graph_node(z->set->graph, e);
    double operand[3] = {0.0, 0.0, 0.0};
    if (n->arity == 0) return number_of_leaf(z, n);
    if (n->op >= EXPR_OP_COUNT) return NAN; /* loops, functions from outside */
    for (int k = 0; k < n->arity; k++) operand[k] = z->value[walk_place(&z->w, expr_operand(n, k))];
    return number_of_operation((expr_op)n->op, operand[0], operand[1], operand[2]);
}

/* The variable that `e` is; -1: none */
static int variable_of(const zero_search *z, expr e)
{
    const expr_node *n = graph_node(z->set->graph, e);
    return n->op == EXPR_VARIABLE && n->order == 0 ? n->index : -1;
}

/* The variable that equation i says to be zero: x, x - e or x + e with e = 0; -1: none */
static int zero_of_row(const zero_search *z, int i)
{
    expr residual = z->set->row[i].residual;
    const expr_node *n = graph_node(z->set->graph, residual);
    if (n->op != EXPR_SUB && n->op != EXPR_ADD) return variable_of(z, residual);
    if (z->value[walk_place(&z->w, n->b)] == 0.0) return variable_of(z, n->a);
    return z->value[walk_place(&z->w, n->a)] == 0.0 ? variable_of(z, n->b) : -1;
}

/* Numbers of all nodes, then the variables that are zero by them; whether there is a new one */
static bool find_more(zero_search *z)
{
    bool more = false;
    for (size_t k = 0; k < z->w.count; k++) z->value[k] = number_of(z, z->w.order[k]);
    for (int i = 0; i < z->set->m; i++) {
        int j = zero_of_row(z, i);
        if (j < 0 || z->zero[j]) continue;
        z->zero[j] = more = true;
    }
    return more;
}

bool *equation_zeros(const equation_set *set, const double *parameters)
{
    zero_search z = {.set = set, .parameters = parameters, .zero = DAE_ARRAY(bool, set->n)};
    expr *row = DAE_ARRAY(expr, set->m);
    for (int i = 0; row && i < set->m; i++) row[i] = set->row[i].residual;
    bool ok = z.zero && row && walk_from(&z.w, set->graph, row, (size_t)set->m);
    z.value = ok ? DAE_ARRAY(double, z.w.count) : NULL;
    ok = ok && z.value;
    for (int k = 0; ok && k < MOST_PASSES; k++)
        if (!find_more(&z)) break;
    dae_free_all(row, z.value);
    walk_free(&z.w);
    if (ok) return z.zero;
    dae_free(z.zero);
    return NULL;
}

void hold_zeros(const equation_set *set, const bool *zero, int orders, double **x)
{
    for (int p = 0; p <= orders; p++)
        for (int j = 0; j < set->n; j++)
            if (zero[j]) x[p][j] = 0.0;
}
