#include "structure/linear.h"

#include <math.h>

#include "base/vector.h"
#include "expr/derive.h"

typedef struct leaf_search {
    const graph *graph;
    bool varies;
} leaf_search;

static void look_at_leaf(void *context, expr leaf)
{
    leaf_search *s = context;
    const uint8_t op = graph_node(s->graph, leaf)->op;
    if (op == EXPR_VARIABLE || op == EXPR_TIME) s->varies = true;
}

/* The partial derivatives of one residual go to its row of A and B. */
static linear_status take_row(const equation_set *set, const gradient *g, int row,
                              const equation_point *at, double *A, double *B)
{
    leaf_search search = {.graph = set->graph};
    if (!graph_leaves(set->graph, g->derivative, g->count, look_at_leaf, &search))
        return LINEAR_MEMORY;
    if (search.varies) return LINEAR_NO;
    for (size_t i = 0; i < g->count; i++) {
        const expr_node *leaf = graph_node(set->graph, g->leaf[i]);
        const double value = equation_set_value(set, g->derivative[i], at);
        if (leaf->order > 1 || leaf->index >= set->n || !isfinite(value)) return LINEAR_NO;
        (leaf->order == 1 ? B : A)[row + leaf->index * set->n] = value;
    }
    return LINEAR_YES;
}

linear_status equation_set_linear(const equation_set *set, const equation_point *at, double *A,
                                  double *B)
{
    linear_status status = LINEAR_YES;
    if (set->n != set->m || set->n < 1) return LINEAR_NO;
    derive_scratch *scratch = derive_scratch_new();
    if (!scratch) return LINEAR_MEMORY;
    vector_zero(set->n * set->n, A);
    vector_zero(set->n * set->n, B);
    for (int i = 0; status == LINEAR_YES && i < set->m; i++) {
        gradient g = {0};
        status = derive_gradient(set->graph, scratch, set->row[i].residual, &g)
                     ? take_row(set, &g, i, at, A, B)
                     : LINEAR_MEMORY;
        gradient_free(&g);
    }
    derive_scratch_free(scratch);
    return status;
}
