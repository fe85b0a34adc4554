/* Dummy derivatives [MS93] from the offsets of the signature method [Pryce01].
 *
 * Unknowns are all x_j^(p), p <= d_j, equations all f_i^(k), k <= c_i. That many equations
 * determine all but sum d - sum c of the unknowns; as many kinematic equations (x_j^(p))' =
 * x_j^(p+1) complete the system, and those x_j^(p) are its states. Which ones may serve is told by
 * the system Jacobian J: at stage s < 0 the equations f_i^(c_i + s) have the matrix J, rows with
 * c_i + s >= 0, by the unknowns x_j^(d_j + s); the columns that do not take part in solving it are
 * states. Where a column of J is empty in these rows x_j^(d_j + s) is a state for ever, and its
 * kinematic equation is a row like any other; if it is all for ever, the highest derivative is y'
 * itself and no unknown. */
#include "base/memory.h"
#include "formulation/formulation_parts.h"

/* Per column of the analysed set. */
typedef struct layout {
    int *deepest; /* largest c_i among rows with an entry of J in the column; 0: no candidates */
    int *top;     /* highest derivative that is an unknown */
    int *first;   /* unknown of x_j */
    int unknowns, rows, candidates;
} layout;

static void layout_drop(layout *l)
{
    dae_free_all(l->deepest, l->top, l->first);
}

static void find_deepest(const structure *s, int *deepest)
{
    for (int i = 0; i < s->sigma.m; i++)
        for (int k = s->sigma.start[i]; k < s->sigma.start[i + 1]; k++) {
            int j = s->sigma.column[k];
            bool in_jacobian = s->sigma.order[k] == s->d[j] - s->c[i];
            if (in_jacobian && s->c[i] > deepest[j]) deepest[j] = s->c[i];
        }
}

/* Whether x_j^(p), p < d_j, may be state or not. */
static bool is_candidate(const layout *l, const structure *s, int j, int p)
{
    return p < s->d[j] && p >= s->d[j] - l->deepest[j];
}

static bool plan(const analysed *a, layout *l)
{
    const structure *s = &a->structure;
    int n = a->set.n;
    *l = (layout){DAE_ARRAY(int, n), DAE_ARRAY(int, n), DAE_ARRAY(int, n), 0, 0, 0};
    if (!l->deepest || !l->top || !l->first) return false;
    find_deepest(s, l->deepest);
    for (int j = 0; j < n; j++)
        l->top[j] = l->deepest[j] > 0 || s->d[j] == 0 ? s->d[j] : s->d[j] - 1;
    for (int k = 0; k < a->set.synonym_count; k++) { /* variables of the model stay unknowns */
        const equation_synonym *v = &a->set.synonym[k];
        if (v->order > l->top[v->variable] && v->order <= s->d[v->variable])
            l->top[v->variable] = v->order;
    }
    for (int i = 0; i < a->set.m; i++) l->rows += s->c[i] + 1;
    for (int j = 0; j < n; j++) {
        l->first[j] = l->unknowns;
        l->unknowns += l->top[j] + 1;
        for (int p = 0; p < l->top[j]; p++)
            if (is_candidate(l, s, j, p))
                l->candidates++;
            else
                l->rows++;
    }
    return true;
}

static bool name_unknowns(const analysed *a, const layout *l, formulated *f)
{
    for (int j = 0; j < a->set.n; j++)
        for (int p = 0; p <= l->top[j]; p++)
            if (!formulated_stands_for(f, a, l->first[j] + p, j, p)) return false;
    return true;
}

/* (x_j^(p))' = x_j^(p+1): a row, or a candidate for one. */
static bool add_kinematics(const analysed *a, const layout *l, formulated *f, int r)
{
    int count = 0;
    bool ok = true;
    for (int j = 0; j < a->set.n; j++)
        for (int p = 0; ok && p < l->top[j]; p++) {
            int i = l->first[j] + p;
            kinematic q = {i, i + 1, f->sign[i] * f->sign[i + 1], j, p - a->structure.d[j]};
            if (is_candidate(l, &a->structure, j, p))
                f->candidate[count++] = q;
            else
                ok = kinematic_row(f, i, i + 1, EXPR_NONE, &r);
        }
    return ok && !graph_failed(a->set.graph);
}

bool dummy_build(const analysed *a, formulated *f)
{
    layout l = {0};
    unknown_index index = {0};
    int r = 0;
    bool ok = plan(a, &l) && formulated_new(f, a, l.unknowns, l.rows, l.candidates) &&
              name_unknowns(a, &l, f) && unknown_index_new(&index, a, f) &&
              all_levels(f, a, &index, NULL, &r) && add_kinematics(a, &l, f, r);
    unknown_index_free(&index);
    layout_drop(&l);
    return ok;
}

dae_status formulate_dummy(const analysed *a, formulated *f, dae_diag *diag)
{
    *f = (formulated){0};
    return dummy_build(a, f) ? DAE_OK : formulation_exhausted(f, diag);
}

static bool build_dummy(rewriting *p)
{
    return dummy_build(p->a, p->f);
}

const formulation formulation_dummy = {
    .name = "dummy",
    .summary = "index 1 by dummy derivatives, states chosen anew where they degrade",
    .citation = "Mattsson, Soederlind, SIAM J. Sci. Comput. 14 (1993) 677-692",
    .all_levels = true,
    .build = build_dummy,
};

/* The same in linear coordinates of the tangent space. */
static bool build_tangent(rewriting *p)
{
    p->f->tangent = dummy_build(p->a, p->f);
    return p->f->tangent;
}

const formulation formulation_tangent = {
    .name = "tangent",
    .summary = "index 1 in coordinates of the tangent space, chosen anew where it turns",
    .citation = "Potra, Rheinboldt, Mech. Struct. Mach. 19 (1991) 1-18",
    .all_levels = true,
    .build = build_tangent,
};

/* Consistent values come from the equations of all levels; what is integrated is made from the
 * derivative array where the run begins, and anew along it. */
const formulation formulation_array = {
    .name = "array",
    .summary = "index 1 by the derivative array: numbers alone decide, whatever the structure",
    .citation = "Kunkel, Mehrmann, Numer. Math. 79 (1998) 581-600",
    .all_levels = true,
    .by_array = true,
    .build = build_dummy,
};
