/* Formulations of mechanical systems that keep the constraints of two or three levels, from models:
 * the same as form_stabilised.c has for callbacks. */
#include <stdio.h>

#include "base/diag.h"
#include "base/memory.h"
#include "expr/derive.h"
#include "formulation/formulation_mechanical.h"
#include "structure/rewrite/symbolic_solve.h"

/* The unknown that is q_j^(p). */
static int position(const rewriting *p, int j, int order)
{
    return p->l.first[p->m->q[j]] + order;
}

/* miss_j = (q_j^(order))' - q_j^(order + 1), in units of q_j */
static void find_misses(rewriting *p, int order)
{
    graph *g = p->f->set.graph;
    for (int j = 0; j < p->m->nq; j++) {
        int i = position(p, j, order), next = i + 1;
        expr slope = graph_variable(g, i, 1), value = graph_variable(g, next, 0);
        if (p->f->sign[i] < 0) slope = graph_unary(g, EXPR_NEG, slope);
        if (p->f->sign[next] < 0) value = graph_unary(g, EXPR_NEG, value);
        p->miss[j] = graph_binary(g, EXPR_SUB, slope, value);
    }
}

/* miss := scale M miss; false: memory */
static bool weigh_misses(rewriting *p)
{
    const mechanical *m = p->m;
    graph *g = p->f->set.graph;
    expr *out = DAE_ARRAY(expr, m->nq);
    for (int j = 0; out && j < m->nq; j++) out[j] = EXPR_NONE;
    bool ok = out;
    for (int e = 0; ok && e < m->M.count; e++) {
        const mechanical_entry *q = &m->M.entry[e];
        expr value = formulated_expression(p->f, &p->l.index, q->value);
        ok = value != EXPR_NONE;
        if (!ok) break;
        value = graph_binary(g, EXPR_MUL, graph_constant(g, m->scale[q->row]), value);
        value = graph_binary(g, EXPR_MUL, value, p->miss[q->column]);
        out[q->row] = expr_plus(g, out[q->row], value);
    }
    for (int j = 0; ok && j < m->nq; j++) p->miss[j] = out[j];
    dae_free(out);
    return ok && !graph_failed(g);
}

/* d e / d q_j with s(q, t): e_q + e_s s_q, and s_q = ds'/dq' of the slopes; EXPR_NONE: memory */
static expr derivative_by_position(const rewriting *p, expr e, int j)
{
    const mechanical *m = p->m;
    graph *g = p->f->set.graph;
    expr sum = derive_partial(g, e, graph_variable(g, m->q[j], 0));
    for (int k = 0; k < m->ns && sum != EXPR_NONE; k++) {
        expr by_s = derive_partial(g, e, graph_variable(g, m->contact[k], 0));
        expr by_q = derive_partial(g, m->slope[k], graph_variable(g, m->q[j], 1));
        if (by_s == EXPR_NONE || by_q == EXPR_NONE) return EXPR_NONE;
        sum = graph_binary(g, EXPR_ADD, sum, graph_binary(g, EXPR_MUL, by_s, by_q));
    }
    return sum;
}

/* sum_j += sum_l (d g_l'/ d q_j) eta_l with eta_l = y[first + l] */
static bool add_rate_gradients(rewriting *p, int first)
{
    const mechanical *m = p->m;
    graph *g = p->f->set.graph;
    for (int l = 0; l < m->nlambda; l++) {
        expr rate = mechanical_level(&p->a->set, m, l, 1);
        for (int j = 0; rate != EXPR_NONE && j < m->nq; j++) {
            expr d = derivative_by_position(p, rate, j);
            if (d == EXPR_NONE) return false;
            if (graph_is_constant(g, d, NULL))
                continue; /* zero: no constraint is quadratic there */
            d = formulated_expression(p->f, &p->l.index, d);
            if (d == EXPR_NONE) return false;
            d = graph_binary(g, EXPR_MUL, d, graph_variable(g, first + l, 0));
            p->sum[j] = expr_plus(g, p->sum[j], d);
        }
        if (rate == EXPR_NONE) return false;
    }
    return !graph_failed(g);
}

/* Rows miss_j + sum_j = 0. */
static bool miss_rows(rewriting *p, const char *of)
{
    formulated *f = p->f;
    for (int j = 0; j < p->m->nq; j++) {
        expr e = expr_plus(f->set.graph, p->miss[j], p->sum[j]);
        char name[300];
        int length = snprintf(name, sizeof name, "%s of %.200s", of, p->a->set.name[p->m->q[j]]);
        const char *text = arena_text(f->texts, name, (size_t)length);
        if (!text || e == EXPR_NONE) return false;
        f->set.row[p->r++] = (equation_row){e, -1, 0, text, 0};
    }
    return true;
}

/* (x_j^(p))' = x_j^(p+1) of all variables, or of all but the positions. */
static bool other_kinematics(rewriting *p)
{
    for (int j = 0; j < p->a->set.n; j++)
        for (int k = 0; k < p->l.top[j] && p->position[j] < 0; k++)
            if (!kinematic_row(p->f, p->l.first[j] + k, p->l.first[j] + k + 1, EXPR_NONE, &p->r))
                return false;
    return true;
}

/* ---- formulations ---- */

/* M q' = M v - G' mu, M v' = f - G' lambda, g = 0, g' = 0 [HW96 VII (1.48)] */
static bool build_gglm(rewriting *p)
{
    int k = mechanical_positions(p->m), n = p->l.kinematics + p->a->set.m + k;
    bool ok = first_order_begin(&p->l, p->a, p->f, k, n) &&
              mechanical_name_multipliers(p, p->l.unknowns, "mu") &&
              mechanical_along(p, p->l.unknowns);
    if (ok) find_misses(p, 0);
    ok = ok && weigh_misses(p) && miss_rows(p, "velocity") && other_kinematics(p) &&
         rewriting_as_written(p) && mechanical_levels(p, 1, 1);
    ok = ok && mechanical_kinds(p);
    return ok;
}

const formulation formulation_gglm = {
    .name = "gglm",
    .velocities = true,
    .summary = "mechanical: as ggl, with multipliers weighted by the mass matrix",
    .citation = "Hairer, Wanner, Springer 1996, section VII.1",
    .mechanical = true,
    .callbacks = {[KIND_MECHANICAL] = &mechanical_gglm},
    .build = build_gglm,
};

/* ---- GGL of second order ---- */

/* v_j -> v_j + sum_j, v_j' -> v_j' + sum_j' over y */
typedef struct shift {
    const rewriting *p;
    const expr *slope; /* nq: sum_j' */
    bool failed;
} shift;

static expr shift_leaf(void *context, graph *g, expr leaf)
{
    shift *s = context;
    const rewriting *p = s->p;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE || node.order > 1) return leaf;
    for (int j = 0; j < p->m->nq; j++) {
        if (position(p, j, 1) != node.index) continue;
        expr more = node.order == 0 ? p->sum[j] : s->slope[j];
        if (more == EXPR_NONE) return leaf;
        if (p->f->sign[node.index] < 0) more = graph_unary(g, EXPR_NEG, more);
        return graph_binary(g, EXPR_ADD, leaf, more);
    }
    return leaf;
}

/* q_j' -> v_j in the derivative of G' eta */
static expr slope_leaf(void *context, graph *g, expr leaf)
{
    const rewriting *p = context;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE || node.order != 1) return leaf;
    for (int j = 0; j < p->m->nq; j++) {
        int i = position(p, j, 0);
        if (i != node.index) continue;
        expr v = graph_variable(g, i + 1, 0);
        return p->f->sign[i] * p->f->sign[i + 1] < 0 ? graph_unary(g, EXPR_NEG, v) : v;
    }
    return leaf;
}

/* With v = q' + G' eta in all but the kinematic equations: index 2, eta = 0 [Wun05 (7.19)] */
static bool build_ggl2(rewriting *p)
{
    graph *g = p->a->set.graph;
    int k = p->m->nlambda, n = p->l.kinematics + p->a->set.m + k, nq = p->m->nq;
    expr *slope = DAE_ARRAY(expr, nq);
    bool ok = slope && first_order_begin(&p->l, p->a, p->f, k, n) &&
              mechanical_name_multipliers(p, p->l.unknowns, "eta") &&
              mechanical_along(p, p->l.unknowns) &&
              first_order_kinematics(&p->l, p->a, p->f, &p->r);
    int first = p->r;
    ok = ok && rewriting_as_written(p) && mechanical_levels(p, 1, 1);
    for (int j = 0; ok && j < nq; j++) {
        slope[j] = p->sum[j] == EXPR_NONE ? EXPR_NONE : derive_time(g, p->sum[j]);
        if (slope[j] != EXPR_NONE) slope[j] = graph_substitute(g, slope[j], slope_leaf, p);
    }
    shift s = {p, slope, false};
    for (int i = first; ok && i < p->r; i++) {
        equation_row *row = &p->f->set.row[i];
        row->residual = graph_substitute(g, row->residual, shift_leaf, &s);
        ok = row->residual != EXPR_NONE;
    }
    ok = ok && mechanical_kinds(p);
    /* eta has the errors of q' and lambda those of eta', whatever the index */
    for (int j = 0; ok && j < nq; j++) p->f->kinds[position(p, j, 1)] = DAE_KIND_INDEX2;
    for (int l = 0; ok && l < k; l++) p->f->kinds[p->l.first[p->m->lambda[l]]] = DAE_KIND_INDEX3;
    dae_free(slope);
    return ok;
}

const formulation formulation_ggl2 = {
    .name = "ggl2",
    .summary = "mechanical: ggl for second order methods, velocities q' + G' eta, index 2",
    .citation = "Wunderlich, thesis, TU Berlin 2005, section 7.2.1",
    .mechanical = true,
    .callbacks = {[KIND_MECHANICAL] = &mechanical_ggl2},
    .build = build_ggl2,
};

/* ---- three levels ---- */

/* With accelerations a as unknowns: (M)(q' - v) + G' mu + (g'_q)' eta = 0, M (v' - a) + G' eta = 0,
 * the equations with a for q'', and g = g' = g'' = 0 [HW96 VII (2.27)]; plain: as ODASSL's class.
 */
static bool build_three(rewriting *p)
{
    const bool plain = !p->setting->of->weighted;
    int k = p->m->nlambda;
    for (int j = 0; j < p->m->nq; j++) p->l.top[p->m->q[j]] = 2;
    first_order_number(&p->l, p->a);
    int mu = p->l.unknowns, eta = mu + k, n = p->l.kinematics + p->a->set.m + 2 * k;
    bool ok = first_order_begin(&p->l, p->a, p->f, 2 * k, n) &&
              mechanical_name_multipliers(p, mu, "mu") &&
              mechanical_name_multipliers(p, eta, "eta") && mechanical_along(p, mu) &&
              add_rate_gradients(p, eta);
    if (ok) find_misses(p, 0);
    ok = ok && (plain || weigh_misses(p)) && miss_rows(p, "velocity") && mechanical_along(p, eta);
    if (ok) find_misses(p, 1);
    ok = ok && weigh_misses(p) && (!plain || weigh_misses(p)) && miss_rows(p, "acceleration");
    return ok && other_kinematics(p) && rewriting_as_written(p) && mechanical_levels(p, 1, 2);
}

const formulation formulation_fuehrer = {
    .name = "fuehrer",
    .summary = "mechanical: constraints of three levels by multipliers, weighted by masses",
    .citation = "Fuehrer, Leimkuhler, Numer. Math. 59 (1991) 55-69",
    .mechanical = true,
    .callbacks = {[KIND_MECHANICAL] = &mechanical_fuehrer},
    .weighted = true,
    .build = build_three,
};

const formulation formulation_odassl = {
    .name = "odassl",
    .summary = "mechanical: constraints of three levels, other residuals by least squares",
    .citation = "Fuehrer, thesis, TU Muenchen 1988",
    .mechanical = true,
    .callbacks = {[KIND_MECHANICAL] = &mechanical_odassl},
    .build = build_three,
};

/* ---- the reduced system ---- */

/* miss := accelerations M^-1 f(.., lambda) over the analysed set. M, up to factors of its rows, is
 * symmetric and positive definite. */
static bool accelerations(rewriting *p)
{
    const mechanical *m = p->m;
    graph *g = p->a->set.graph;
    size_t n = (size_t)m->nq;
    expr *M = DAE_ARRAY(expr, n * n);
    if (!M) return false;
    for (size_t k = 0; k < n * n; k++) M[k] = EXPR_NONE;
    for (size_t j = 0; j < n; j++) p->miss[j] = m->force[j];
    for (int e = 0; e < m->M.count; e++)
        M[m->M.entry[e].row * m->nq + m->M.entry[e].column] = m->M.entry[e].value;
    bool ok = symbolic_solve(g, m->nq, M, 1, p->miss);
    dae_free(M);
    return ok;
}

/* Whether the equation of motion of q_j contains another acceleration than its own. */
static bool is_coupled(const mechanical *m, int j)
{
    for (int e = 0; e < m->M.count; e++)
        if (m->M.entry[e].row == j && m->M.entry[e].column != j) return true;
    return false;
}

/* q_j'' -> a_j over the analysed set */
static expr acceleration_leaf(void *context, graph *g, expr leaf)
{
    const rewriting *p = context;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE || node.order != 2) return leaf;
    for (int j = 0; j < p->m->nq; j++)
        if (p->m->q[j] == node.index) return p->miss[j];
    return leaf;
}

/* Row *r: the equation of motion of q_j, solved for q_j'' where it contains other accelerations. */
static bool motion_row(rewriting *p, int j)
{
    const mechanical *m = p->m;
    graph *g = p->a->set.graph;
    int i = m->dynamic[j];
    expr e = p->a->set.row[i].residual;
    if (is_coupled(m, j)) e = graph_binary(g, EXPR_SUB, graph_variable(g, m->q[j], 2), p->miss[j]);
    return rewriting_level(p, i, 0, e);
}

/* The equations that are no equations of motion, then those of p1. */
static bool reduced_motion(rewriting *p)
{
    const mechanical *m = p->m;
    bool *moves = DAE_ARRAY(bool, p->a->set.m), ok = moves;
    for (int j = 0; ok && j < m->nq; j++) moves[m->dynamic[j]] = true;
    for (int i = 0; ok && i < p->a->set.m; i++)
        if (!moves[i]) ok = rewriting_level(p, i, 0, p->a->set.row[i].residual);
    for (int j = 0; ok && j < m->nq; j++)
        if (!p->dependent[j]) ok = motion_row(p, j);
    dae_free(moves);
    return ok;
}

/* p1' = z1, the equations of motion of p1, g = g' = 0, and g'' = 0 with accelerations put in
 * [Wun05 7.2.2]: no unknowns for p2'' */
static bool build_reduced(rewriting *p)
{
    const mechanical *m = p->m;
    graph *g = p->a->set.graph;
    bool ok = accelerations(p) &&
              first_order_begin(&p->l, p->a, p->f, 0, p->l.kinematics + p->a->set.m) &&
              other_kinematics(p);
    for (int j = 0; ok && j < m->nq; j++) {
        int i = position(p, j, 0);
        if (!p->dependent[j]) ok = kinematic_row(p->f, i, i + 1, EXPR_NONE, &p->r);
    }
    ok = ok && reduced_motion(p) && mechanical_levels(p, 1, 1);
    for (int l = 0; ok && l < m->nlambda; l++) {
        expr e = mechanical_level(&p->a->set, m, l, 2);
        if (e != EXPR_NONE) e = graph_substitute(g, e, acceleration_leaf, p);
        ok = rewriting_level(p, m->constraint[l], 2, e);
    }
    return ok && mechanical_note_choice(p);
}

/* M must be regular where the run begins. */
static dae_status reduced_fits(const rewriting *p, dae_diag *diag)
{
    const mechanical *m = p->m;
    double *value = DAE_ARRAY(double, m->M.count);
    bool known = value && mechanical_evaluate(&p->a->set, &m->M, p->setting->at, value);
    int j = known ? mechanical_bad_mass(m, value, true) : -1;
    dae_free(value);
    if (!known)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while the equations are rewritten.");
    if (j < 0) return DAE_OK;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Formulation reduced needs a positive definite mass matrix, but %s has "
                    "no mass; use minimal.",
                    p->a->set.name[m->q[j]]);
}

const formulation formulation_reduced = {
    .name = "reduced",
    .summary = "mechanical: minimal extension without its new unknowns, M eliminated",
    .citation = "Wunderlich, thesis, TU Berlin 2005, section 7.2.2",
    .mechanical = true,
    .chooses_positions = true,
    .callbacks = {[KIND_MECHANICAL] = &mechanical_reduced, [KIND_HESSENBERG] = &hessenberg_reduced},
    .build = build_reduced,
    .fits = reduced_fits,
};
