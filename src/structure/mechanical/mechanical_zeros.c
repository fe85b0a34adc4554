/* Parameters that are zero: matrices given as parameter arrays have zeros where constants would
 * have left nothing, M_ij q_j'' with M_ij = 0, say, and the roles of rows and variables would be
 * read from what is not there. The equations without these terms are recognised as if the zeros had
 * been constants; the form then holds for as long as they are zero (mechanical.zero). */
#include "base/memory.h"
#include "structure/mechanical/mechanical_parts.h"

typedef struct zero_scan {
    const double *parameters;
    int *index; /* of parameters that are zero, as they are met; owned by the caller */
    size_t room;
    int count;
    bool failed;
} zero_scan;

static bool is_zero(const zero_scan *z, const expr_node *leaf)
{
    return leaf->op == EXPR_PARAMETER && z->parameters[leaf->index] == 0.0;
}

static void note_zero(void *context, const expr_node *leaf)
{
    zero_scan *z = context;
    if (!is_zero(z, leaf) || z->failed) return;
    z->failed = !dae_grow(&z->index, &z->room, (size_t)z->count + 1, sizeof *z->index);
    if (!z->failed) z->index[z->count++] = leaf->index;
}

static expr put_zero(void *context, graph *g, expr leaf)
{
    const expr_node node = *graph_node(g, leaf);
    return is_zero(context, &node) ? graph_constant(g, 0.0) : leaf;
}

/* All zeros of the equations in one visit, so that each is listed once. */
static bool list_zeros(const equation_set *set, zero_scan *z)
{
    expr *row = DAE_ARRAY(expr, set->m);
    for (int i = 0; row && i < set->m; i++) row[i] = set->row[i].residual;
    bool ok = row && graph_leaves(set->graph, row, (size_t)set->m, note_zero, z) && !z->failed;
    dae_free(row);
    return ok;
}

int mechanical_without_zeros(const equation_set *set, const equation_point *at,
                             equation_set *reduced, int **zero, int *count)
{
    zero_scan z = {.parameters = at->parameters};
    *reduced = (equation_set){0};
    *zero = NULL;
    if (!at->parameters) return 0;
    bool ok = list_zeros(set, &z), any = z.count > 0;
    ok = ok && (!any || equation_set_copy(reduced, set));
    for (int i = 0; ok && any && i < set->m; i++) {
        expr *e = &reduced->row[i].residual;
        ok = (*e = graph_substitute(set->graph, *e, put_zero, &z)) != EXPR_NONE;
    }
    if (!ok) equation_set_free(reduced);
    *count = z.count;
    if (ok && any)
        *zero = z.index;
    else
        dae_free(z.index);
    return ok ? any : -1;
}
