#include "structure/index/equations.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool equation_set_new(equation_set *set, graph *g, int n, int m)
{
    *set = (equation_set){.graph = g,
                          .n = n,
                          .m = m,
                          .row = DAE_ARRAY(equation_row, m),
                          .model = DAE_ARRAY(int, n),
                          .name = DAE_ARRAY(const char *, n),
                          .nominal = DAE_ARRAY(double, n)};
    if (!set->row || !set->model || !set->name || !set->nominal) {
        equation_set_free(set);
        return false;
    }
    for (int j = 0; j < n; j++) set->nominal[j] = 1.0;
    return true;
}

bool equation_set_copy(equation_set *copy, const equation_set *set)
{
    size_t n = (size_t)set->n, m = (size_t)set->m;
    if (!equation_set_new(copy, set->graph, set->n, set->m)) return false;
    if (m > 0) memcpy(copy->row, set->row, m * sizeof *set->row);
    if (n > 0) {
        memcpy(copy->model, set->model, n * sizeof *set->model);
        memcpy(copy->name, set->name, n * sizeof *set->name);
        memcpy(copy->nominal, set->nominal, n * sizeof *set->nominal);
    }
    copy->parameter_name = set->parameter_name;
    copy->memory_name = set->memory_name;
    if (set->synonym_count == 0) return true;
    copy->synonym = dae_copy(set->synonym, (size_t)set->synonym_count, sizeof *set->synonym);
    copy->synonym_count = copy->synonym ? set->synonym_count : 0;
    if (!copy->synonym) equation_set_free(copy);
    return copy->synonym_count > 0;
}

void equation_set_free(equation_set *set)
{
    dae_free_all(set->row, set->model, set->name, set->nominal, set->synonym);
    *set = (equation_set){0};
}

/* ---- values --------------------------------------------------------------------------------- */

static double leaf_value(void *context, const expr_node *leaf)
{
    const equation_point *at = context;
    switch ((expr_op)leaf->op) {
    case EXPR_TIME: return at->time;
    case EXPR_PARAMETER: return at->parameters ? at->parameters[leaf->index] : NAN;
    case EXPR_MEMORY: return at->memory ? at->memory[leaf->index] : NAN;
    case EXPR_VARIABLE:
        return leaf->order <= at->orders && at->x[leaf->order] ? at->x[leaf->order][leaf->index]
                                                               : NAN;
    default: return NAN;
    }
}

double equation_set_value(const equation_set *set, expr e, const equation_point *at)
{
    equation_point point = *at;
    return graph_value(set->graph, e, leaf_value, &point);
}
