#include "model/model_way.h"

#include "base/memory.h"

typedef struct way_scan {
    const model_form *f;
    bool sees;    /* the parameter of the way */
    bool depends; /* on what a start solves for, or on what relations say of that */
} way_scan;

/* Whether a start solves for the value, or for the derivative, of unknown i. */
static bool is_sought(const model_form *f, int i, bool slope)
{
    return slope || f->initial || !f->differential[i];
}

static void scan_leaf(void *context, const expr_node *leaf)
{
    way_scan *s = context;
    if (leaf->op == EXPR_PARAMETER && leaf->index == s->f->flat->way_parameter - 1) s->sees = true;
    if (leaf->op == EXPR_MEMORY) s->depends = true;
    if (leaf->op == EXPR_VARIABLE && is_sought(s->f, leaf->index, leaf->order > 0))
        s->depends = true;
}

/* Per place in the pattern: its column; NULL: memory. */
static int *columns_of(const model_form *f)
{
    int *column = DAE_ARRAY(int, f->colptr[f->n]);
    for (int j = 0; column && j < f->n; j++)
        for (int k = f->colptr[j]; k < f->colptr[j + 1]; k++) column[k] = j;
    return column;
}

/* *linear: no partial derivative by what is sought depends on that. */
static bool scan_derivatives(const model_form *f, bool *linear)
{
    int *column = columns_of(f);
    bool ok = column;
    *linear = true;
    for (size_t k = 0; ok && *linear && k < f->jacobian_outputs; k++) {
        way_scan s = {.f = f};
        const bool slope = f->scatter[k] < 0;
        const int place = slope ? -1 - f->scatter[k] : f->scatter[k];
        if (!is_sought(f, column[place], slope)) continue;
        ok = graph_leaves(f->flat->graph, &f->jacobian.e[k], 1, scan_leaf, &s);
        *linear = !s.depends;
    }
    dae_free(column);
    return ok;
}

bool model_way_matters(const model_form *f, bool *matters)
{
    way_scan s = {.f = f};
    const graph *g = f->flat->graph;
    bool linear = false;
    *matters = false;
    if (f->flat->way_parameter == 0) return true;
    if (!graph_leaves(g, f->residual.e, f->residual.outputs, scan_leaf, &s) ||
        !graph_leaves(g, f->condition.e, f->condition.outputs, scan_leaf, &s))
        return false;
    if (!s.sees) return true;
    if (f->condition_count == 0 && !scan_derivatives(f, &linear)) return false;
    *matters = !linear;
    return true;
}
