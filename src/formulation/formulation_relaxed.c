/* The index lowered by other means than differentiation: a small parameter, or integrals in place
 * of variables [BCP96 5.4.1]. */
#include <stdio.h>
#include <string.h>

#include "formulation/formulation_parts.h"

/* ---- regularisation ---- */

static expr relax_leaf(void *context, graph *g, expr leaf)
{
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE || node.order > 0) return leaf;
    expr slope = graph_variable(g, node.index, 1);
    expr part = graph_binary(g, EXPR_MUL, graph_constant(g, *(const double *)context), slope);
    return graph_binary(g, EXPR_ADD, leaf, part);
}

/* F(t, y + eps y', y') = 0: for A y' + B y = f(t) the pencil regularisation (A + eps B) y' + B y =
 * f, whose solutions tend to those of the DAE [Cob82], [BCP96 (3.3.10)]. Steps are longer than eps,
 * and then so do numerical solutions [Lub93]: the kinds stay those of the equations of index 3. */
static bool build_regularised(rewriting *p)
{
    double eps = p->setting->parameter;
    bool ok = build_lacking(p);
    for (int r = 0; ok && r < p->f->set.m; r++) {
        expr *e = &p->f->set.row[r].residual;
        *e = graph_substitute(p->f->set.graph, *e, relax_leaf, &eps);
        ok = *e != EXPR_NONE;
    }
    return ok;
}

const formulation formulation_regularised = {
    .name = "regularised",
    .summary = "x + eps x' for x, so that the index is 0 (pencil regularisation); regularised:EPS",
    .citation = "Cobb, J. Differential Equations 46 (1982) 310-323",
    .parameter = 1e-6,
    .lack = 2,
    .build = build_regularised,
};

/* ---- integrals ---- */

/* Unknown i is an integral of x_j. */
static bool stands_for_integral(formulated *f, const analysed *a, int i, int j)
{
    char name[512];
    snprintf(name, sizeof name, "integral of %.400s", a->set.name[j]);
    f->variable[i] = j;
    f->order[i] = -1;
    f->sign[i] = 1;
    f->set.model[i] = -1;
    f->hidden[i] = true;
    if (f->kinds[i] == DAE_KIND_INDEX3)
        f->kinds[i] = DAE_KIND_INDEX2;
    else if (f->kinds[i] == DAE_KIND_INDEX2)
        f->kinds[i] = DAE_KIND_AUTO;
    f->set.name[i] = arena_text(f->texts, name, strlen(name));
    return f->set.name[i];
}

/* x_j = w_j' for the variables that have no derivatives: one index less [Gea88]; x_j is what the
 * method knows of w_j'. */
static bool build_integral(rewriting *p)
{
    const analysed *a = p->a;
    first_order *l = &p->l;
    bool ok =
        first_order_begin(l, a, p->f, 0, l->kinematics + a->set.m) && first_order_kinds(l, a, p->f);
    for (int j = 0; ok && j < a->set.n; j++)
        if (l->top[j] == 0 && is_multiplier(a, j))
            ok = stands_for_integral(p->f, a, l->first[j], j);
    unknown_index_free(&l->index);
    ok = ok && unknown_index_new(&l->index, a, p->f) && first_order_kinematics(l, a, p->f, &p->r);
    for (int i = 0; ok && i < a->set.m; i++)
        ok = rewriting_level(p, i, l->times[i], equation_level(a, i, l->times[i]));
    return ok;
}

const formulation formulation_integral = {
    .name = "integral",
    .summary = "y = w' for variables without derivatives: index 2 for 3",
    .citation = "Gear, SIAM J. Sci. Stat. Comput. 9 (1988) 39-47",
    .lack = 2,
    .build = build_integral,
};
