/* The index lowered by other means than differentiation: a small parameter, or integrals in place
 * of variables [BCP96 5.4.1]. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
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
static dae_status formulate_regularised(const analysed *a, const formulation_setting *setting,
                                        formulated *f, dae_diag *diag)
{
    double eps = setting->parameter;
    dae_status status = formulate_lacking(a, setting, f, diag);
    if (status != DAE_OK) return status;
    for (int r = 0; r < f->set.m; r++) {
        expr e = graph_substitute(f->set.graph, f->set.row[r].residual, relax_leaf, &eps);
        if (e == EXPR_NONE) return formulation_exhausted(f, diag);
        f->set.row[r].residual = e;
    }
    return DAE_OK;
}

const formulation formulation_regularised = {
    .name = "regularised",
    .summary = "x + eps x' for x, so that the index is 0 (pencil regularisation); regularised:EPS",
    .citation = "Cobb, J. Differential Equations 46 (1982) 310-323",
    .parameter = 1e-6,
    .lack = 2,
    .apply = formulate_regularised,
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
static dae_status formulate_integral(const analysed *a, const formulation_setting *setting,
                                     formulated *f, dae_diag *diag)
{
    (void)setting;
    first_order l = {0};
    int r = 0;
    *f = (formulated){0};
    bool ok = first_order_new(&l, a, 2) && first_order_begin(&l, a, f, 0, l.kinematics + a->set.m);
    ok = ok && first_order_kinds(&l, a, f);
    for (int j = 0; ok && j < a->set.n; j++)
        if (l.top[j] == 0 && is_multiplier(a, j)) ok = stands_for_integral(f, a, l.first[j], j);
    unknown_index_free(&l.index);
    ok = ok && unknown_index_new(&l.index, a, f) && first_order_kinematics(&l, a, f, &r);
    for (int i = 0; ok && i < a->set.m; i++)
        ok = level_row(f, a, &l.index, i, l.times[i], equation_level(a, i, l.times[i]), &r);
    first_order_free(&l);
    return ok ? DAE_OK : formulation_exhausted(f, diag);
}

const formulation formulation_integral = {
    .name = "integral",
    .summary = "y = w' for variables without derivatives: index 2 for 3",
    .citation = "Gear, SIAM J. Sci. Stat. Comput. 9 (1988) 39-47",
    .apply = formulate_integral,
};
