#include "structure/linear/linear.h"

#include <math.h>

#include "base/vector.h"
#include "expr/derive.h"

/* The partial derivatives of one residual go to its row of A and B. */
static linearity take_row(const equation_set *set, const gradient *g, int row,
                          const equation_point *at, double *A, double *B)
{
    bool varies;
    if (!graph_reads(set->graph, g->derivative, g->count, READS_MOTION, &varies))
        return LINEARITY_UNKNOWN;
    if (varies) return LINEARITY_NONE;
    for (size_t i = 0; i < g->count; i++) {
        const expr_node *leaf = graph_node(set->graph, g->leaf[i]);
        const double value = equation_set_value(set, g->derivative[i], at);
        if (leaf->order > 1 || leaf->index >= set->n || !isfinite(value)) return LINEARITY_NONE;
        (leaf->order == 1 ? B : A)[row + leaf->index * set->n] = value;
    }
    return LINEARITY_CONSTANT;
}

linearity equation_set_linear(const equation_set *set, const equation_point *at, double *A,
                              double *B)
{
    linearity status = LINEARITY_CONSTANT;
    if (set->n != set->m || set->n < 1) return LINEARITY_NONE;
    gradient g = {0};
    vector_zero(set->n * set->n, A);
    vector_zero(set->n * set->n, B);
    for (int i = 0; status == LINEARITY_CONSTANT && i < set->m; i++)
        status = derive_gradient(set->graph, set->row[i].residual, &g)
                     ? take_row(set, &g, i, at, A, B)
                     : LINEARITY_UNKNOWN;
    gradient_free(&g);
    return status;
}
