/* What the equations of a model are like, as far as the choice of a method depends on it. */
#include "expr/derive.h"
#include "expr/walk.h"
#include "solve/prepare/choose.h"

/* Whether expressions are the same all along the run between events: parameters and memory alone.
 */
static bool are_constant(const graph *g, const walk *w)
{
    for (size_t k = 0; k < w->count; k++) {
        unsigned op = graph_node(g, w->order[k])->op;
        if (op == EXPR_VARIABLE || op == EXPR_TIME || op >= EXPR_OP_COUNT) return false;
    }
    return true;
}

/* *linear: all partial derivatives of the equations are constant; false: memory */
static bool find_linear(const equation_set *set, bool *linear)
{
    gradient slope = {0};
    walk reached = {0};
    bool ok = true;
    *linear = true;
    for (int i = 0; ok && *linear && i < set->m; i++) {
        ok = derive_gradient(set->graph, set->row[i].residual, &slope) &&
             walk_from(&reached, set->graph, slope.derivative, slope.count);
        *linear = ok && are_constant(set->graph, &reached);
    }
    walk_free(&reached);
    gradient_free(&slope);
    return ok;
}

bool find_traits(const model_analysis *a, equation_traits *traits)
{
    /* one of index 1 needs no more: see choose_next */
    *traits = (equation_traits){.index = a->index, .freedom = a->reduced.structure.freedom};
    return a->index <= 1 || find_linear(&a->reduced.set, &traits->linear);
}
