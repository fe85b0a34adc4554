/* Forms with the constraints of all levels beside the differential equations: more rows than
 * unknowns, for methods that know what to do with them. */
#include "base/memory.h"
#include "formulation/formulation_parts.h"

/* Put the candidates for kinematic equations behind the other rows. */
static bool take_candidates(formulated *f)
{
    int rows = f->set.m, all = rows + f->candidates;
    equation_row *row = DAE_ARRAY(equation_row, all);
    if (!row) return false;
    for (int i = 0; i < rows; i++) row[i] = f->set.row[i];
    dae_free(f->set.row);
    f->set.row = row;
    f->set.m = all;
    for (int k = 0; k < f->candidates; k++) {
        const kinematic *q = &f->candidate[k];
        if (!kinematic_row(f, q->unknown, q->next, EXPR_NONE, &rows)) return false;
    }
    f->candidates = 0;
    return true;
}

/* E x' = f and 0 = g on all levels [Baese17 2.9]. x are all derivatives x_j^(p), p <= d_j, so that
 * no constraint contains x'. */
static bool build_overdetermined(rewriting *p)
{
    return dummy_build(p->a, p->f) && take_candidates(p->f);
}

const formulation formulation_overdetermined = {
    .name = "overdetermined",
    .summary = "E x' = f with the constraints of all levels, for half-explicit methods",
    .citation = "Baese, thesis, TU Berlin 2017",
    .needs = "herk",
    .forms = FORM_QUASILINEAR,
    .build = build_overdetermined,
};

/* f_i^(c_i) = 0 as the underlying ODE, f_i^(k) = 0, k < c_i, as its invariants [HW96 VII.2]. */
static bool build_manifold(rewriting *p)
{
    const analysed *a = p->a;
    int rows = a->set.m + p->l.kinematics;
    for (int i = 0; i < a->set.m; i++) rows += a->structure.c[i];
    bool ok =
        first_order_begin(&p->l, a, p->f, 0, rows) && first_order_kinematics(&p->l, a, p->f, &p->r);
    for (int i = 0; ok && i < a->set.m; i++)
        for (int k = a->structure.c[i]; ok && k >= 0; k--)
            ok = rewriting_level(p, i, k, equation_level(a, i, k));
    return ok;
}

const formulation formulation_manifold = {
    .name = "manifold",
    .summary = "underlying ODE with the constraints of all levels, for explicit methods",
    .citation = "Hairer, Wanner, Springer 1996, section VII.2",
    .needs = "dopri",
    .forms = FORM_MANIFOLD,
    .build = build_manifold,
};
