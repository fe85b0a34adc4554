/* Formulations of mechanical systems M q'' = f - G' lambda, 0 = g(q, t). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "expr/derive.h"
#include "formulation/formulation_mechanical.h"

/* A position whose velocity constraint l restricts. */
static int restricted(const mechanical *m, int l)
{
    for (int e = 0; e < m->G.count; e++)
        if (m->G.entry[e].row == l) return m->q[m->G.entry[e].column];
    return m->q[0];
}

static dae_status refuse_velocities(const analysed *a, const char *name, const mechanical *m,
                                    dae_diag *diag)
{
    int l = mechanical_positions(m);
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Formulation %s needs constraints 0 = g(q, t): %s restricts velocities, "
                    "der(%s) among them, and not positions. Formulations index2 and index1 take "
                    "it as it is.",
                    name, a->set.row[m->constraint[l]].name, a->set.name[restricted(m, l)]);
}

/* The mechanical form for a formulation, or why the equations have none, with constraints on
 * positions. */
static dae_status find_form(rewriting *p, dae_diag *diag)
{
    char reason[400];
    const formulation *of = p->setting->of;
    const equation_point *at = p->setting->at;
    mechanical_status found = MECHANICAL_NOT;
    snprintf(reason, sizeof reason, "values of the parameters are missing");
    if (at) found = analysed_mechanism(p->a, at, &p->m, reason, sizeof reason);
    if (found == MECHANICAL_MEMORY)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while the mechanical form is sought.");
    if (found == MECHANICAL_NOT)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Formulation %s needs a mechanical system, M q'' = f - G' lambda with "
                        "constraints 0 = g(q, t): %s.",
                        of->name, reason);
    bool fits = p->m->nvelocity == 0 || (of->velocities && mechanical_positions(p->m) > 0);
    return fits ? DAE_OK : refuse_velocities(p->a, of->name, p->m, diag);
}

/* G at a point, dense, row l at G[l * nq], positions by their sizes; false: memory. */
static bool gradient_at(const analysed *a, const mechanical *m, const equation_point *at, double *G)
{
    double *value = DAE_ARRAY(double, m->G.count);
    bool ok = value && mechanical_evaluate(&a->set, &m->G, at, value);
    for (int e = 0; ok && e < m->G.count; e++) {
        const mechanical_entry *q = &m->G.entry[e];
        double size = a->set.nominal[m->q[q->column]];
        G[q->row * m->nq + q->column] = isfinite(value[e]) ? value[e] * size : 0.0;
    }
    dae_free(value);
    return ok;
}

/* dependent[j]: the constraints determine position j best, by pivots of G where the run begins. */
static dae_status choose_positions(rewriting *p, dae_diag *diag)
{
    const mechanical *m = p->m;
    double *G = DAE_ARRAY(double, (size_t)m->nlambda *(size_t)m->nq);
    bool *chosen = DAE_ARRAY(bool, 2 * m->nq + m->nlambda);
    bool ready = G && chosen && gradient_at(p->a, m, p->setting->at, G);
    int l = -1;
    if (ready && positions_eliminate(m->nlambda, m->nq, G, chosen, false) < INFINITY)
        memcpy(p->dependent, chosen, (size_t)m->nq * sizeof *p->dependent);
    else if (ready)
        l = positions_dependent_row(m->nlambda, m->nq, chosen);
    dae_free_all(G, chosen);
    if (!ready) return formulation_exhausted(p->f, diag);
    if (l < 0) return DAE_OK;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Formulation %s chooses coordinates where the run starts, but there %s "
                    "depends on the other constraints.",
                    p->setting->of->name, p->a->set.row[m->constraint[l]].name);
}

dae_status mechanical_begin(rewriting *p, dae_diag *diag)
{
    const formulation *of = p->setting->of;
    dae_status status = find_form(p, diag);
    if (status == DAE_OK && of->fits) status = of->fits(p, diag);
    if (status != DAE_OK) return status;
    p->dependent = DAE_ARRAY(bool, p->m->nq);
    p->miss = DAE_ARRAY(expr, p->m->nq);
    p->sum = DAE_ARRAY(expr, p->m->nq);
    p->position = DAE_ARRAY(int, p->a->set.n);
    if (!p->dependent || !p->miss || !p->sum || !p->position)
        return formulation_exhausted(p->f, diag);
    for (int j = 0; j < p->a->set.n; j++) p->position[j] = -1;
    for (int k = 0; k < p->m->nq; k++) p->position[p->m->q[k]] = k;
    return of->chooses_positions ? choose_positions(p, diag) : DAE_OK;
}

/* The equations as written, but constraints. */
static bool rows_but_constraints(rewriting *p)
{
    bool *constraint = DAE_ARRAY(bool, p->a->set.m), ok = constraint;
    for (int l = 0; ok && l < p->m->nlambda; l++) constraint[p->m->constraint[l]] = true;
    for (int i = 0; ok && i < p->a->set.m; i++)
        if (!constraint[i]) ok = rewriting_level(p, i, 0, p->a->set.row[i].residual);
    dae_free(constraint);
    return ok;
}

/* ---- Gear, Gupta, Leimkuhler ---- */

bool mechanical_along(rewriting *p, int first)
{
    const mechanical *m = p->m;
    graph *g = p->f->set.graph;
    for (int j = 0; j < m->nq; j++) p->sum[j] = EXPR_NONE;
    for (int e = 0; e < m->G.count; e++) {
        const mechanical_entry *q = &m->G.entry[e];
        if (q->row >= mechanical_positions(m)) continue;
        expr along = formulated_expression(p->f, &p->l.index, q->value);
        if (along == EXPR_NONE) return false;
        expr part = graph_binary(g, EXPR_MUL, along, graph_variable(g, first + q->row, 0));
        p->sum[q->column] = expr_plus(g, p->sum[q->column], part);
    }
    return !graph_failed(g);
}

bool mechanical_name_multipliers(rewriting *p, int first, const char *stem)
{
    char name[48];
    int count = mechanical_positions(p->m);
    for (int l = 0; l < count; l++) {
        if (count == 1)
            snprintf(name, sizeof name, "%s", stem);
        else
            snprintf(name, sizeof name, "%s[%d]", stem, l + 1);
        if (!formulated_new_unknown(p->f, first + l, name)) return false;
        p->f->kinds[first + l] = DAE_KIND_INDEX2;
    }
    return true;
}

/* (x_j^(p))' = x_j^(p+1), for positions less G' mu. */
static bool corrected_kinematics(rewriting *p)
{
    bool ok = mechanical_along(p, p->l.unknowns);
    for (int j = 0; ok && j < p->a->set.n; j++)
        for (int k = 0; ok && k < p->l.top[j]; k++) {
            int i = p->l.first[j] + k, position = k == 0 ? p->position[j] : -1;
            ok = kinematic_row(p->f, i, i + 1, position >= 0 ? p->sum[position] : EXPR_NONE, &p->r);
        }
    return ok;
}

bool mechanical_levels(rewriting *p, int from, int to)
{
    bool ok = true;
    for (int k = from; k <= to; k++)
        for (int l = 0; ok && l < mechanical_positions(p->m); l++)
            ok = rewriting_level(p, p->m->constraint[l], k,
                                 mechanical_level(&p->a->set, p->m, l, k));
    return ok;
}

bool mechanical_kinds(rewriting *p)
{
    for (int i = 0; i < p->a->set.m; i++) {
        int c = p->a->structure.c[i];
        p->l.times[i] = c > 1 ? c - 1 : 0;
    }
    return first_order_kinds(&p->l, p->a, p->f);
}

/* q' = v - G' mu, M v' = f - G' lambda, 0 = g, 0 = G v + g_t: index 2, mu = 0 [GLG85]. */
static bool build_ggl(rewriting *p)
{
    int count = mechanical_positions(p->m);
    return first_order_begin(&p->l, p->a, p->f, count, p->l.kinematics + p->a->set.m + count) &&
           mechanical_name_multipliers(p, p->l.unknowns, "mu") && corrected_kinematics(p) &&
           rewriting_as_written(p) && mechanical_levels(p, 1, 1) && mechanical_kinds(p);
}

const formulation formulation_ggl = {
    .name = "ggl",
    .velocities = true,
    .summary = "mechanical: positions and velocities on their constraints, index 2",
    .citation = "Gear, Leimkuhler, Gupta, J. Comput. Appl. Math. 12 (1985) 77-90",
    .mechanical = true,
    .callbacks = {[KIND_MECHANICAL] = &mechanical_ggl, [KIND_QUASILINEAR] = &quasilinear_ggl},
    .build = build_ggl,
};

/* ---- minimal extension ---- */

/* p1' = z1 stays; p2, p2', p2'' become unknowns p2, w1, w2 without derivatives, and g, g', g'' = 0
 * determine them [KM04], [Wun05 (7.31)]. */
static bool build_minimal(rewriting *p)
{
    const analysed *a = p->a;
    const mechanical *m = p->m;
    first_order *l = &p->l;
    bool *fixed = DAE_ARRAY(bool, a->set.n), ok = fixed;
    int kinematics = 0;
    for (int j = 0; ok && j < m->nq; j++)
        if (p->dependent[j]) {
            fixed[m->q[j]] = true;
            l->top[m->q[j]] = 2;
        }
    first_order_number(l, a);
    for (int j = 0; ok && j < a->set.n; j++) kinematics += fixed[j] ? 0 : l->top[j];
    ok = ok && first_order_begin(l, a, p->f, 0, kinematics + a->set.m + 2 * m->nlambda);
    for (int j = 0; ok && j < a->set.n; j++)
        for (int k = 0; ok && !fixed[j] && k < l->top[j]; k++)
            ok = kinematic_row(p->f, l->first[j] + k, l->first[j] + k + 1, EXPR_NONE, &p->r);
    ok = ok && rewriting_as_written(p);
    for (int k = 0; ok && k < 2 * m->nlambda; k++)
        ok = rewriting_level(p, m->constraint[k / 2], 1 + k % 2,
                             mechanical_level(&a->set, m, k / 2, 1 + k % 2));
    ok = ok && mechanical_note_choice(p) && first_order_hide_multipliers(l, a, p->f);
    for (int j = 0; ok && j < m->nq; j++) /* p2'' has the errors of p1'', a difference quotient */
        if (p->dependent[j]) p->f->hidden[l->first[m->q[j]] + 2] = true;
    dae_free(fixed);
    return ok;
}

bool mechanical_note_choice(rewriting *p)
{
    const mechanical *m = p->m;
    position_choice *c = p->f->positions = position_choice_new(m->nlambda, m->nq, m->G.count);
    for (int e = 0; c && e < m->G.count; e++) {
        c->row[e] = m->G.entry[e].row;
        c->column[e] = m->G.entry[e].column;
        c->value[e] = formulated_expression(p->f, &p->l.index, m->G.entry[e].value);
        if (c->value[e] == EXPR_NONE) return false;
    }
    for (int l = 0; c && l < m->nlambda; l++) c->source[l] = m->constraint[l];
    for (int j = 0; c && j < m->nq; j++) {
        c->size[j] = p->a->set.nominal[m->q[j]];
        c->dependent[j] = p->dependent[j];
    }
    return c;
}

const formulation formulation_minimal = {
    .name = "minimal",
    .summary = "mechanical: minimal extension, index 1, coordinates chosen at the start",
    .citation = "Kunkel, Mehrmann, Z. Angew. Math. Mech. 84 (2004) 579-597",
    .mechanical = true,
    .chooses_positions = true,
    .callbacks = {[KIND_MECHANICAL] = &mechanical_minimal},
    .build = build_minimal,
};

/* ---- penalties ---- */

/* eps factor_l lambda_l - g_l - 2 sqrt(eps) g_l' = 0: springs of stiffness 1/eps with dampers,
 * critical for unit mass [Loe79]. */
static bool penalty_row(rewriting *p, int k)
{
    const mechanical *m = p->m;
    const double eps = p->setting->parameter;
    graph *g = p->a->set.graph;
    expr rate = mechanical_level(&p->a->set, m, k, 1);
    if (rate == EXPR_NONE) return false;
    expr damper = graph_binary(g, EXPR_MUL, graph_constant(g, 2.0 * sqrt(eps)), rate);
    expr force = graph_binary(g, EXPR_MUL, graph_constant(g, eps * m->factor[k]),
                              graph_variable(g, m->lambda[k], 0));
    expr e = graph_binary(g, EXPR_SUB, graph_binary(g, EXPR_SUB, force, m->g[k]), damper);
    return rewriting_level(p, m->constraint[k], 0, e);
}

static bool build_penalty(rewriting *p)
{
    bool ok = first_order_begin(&p->l, p->a, p->f, 0, p->l.kinematics + p->a->set.m) &&
              first_order_kinematics(&p->l, p->a, p->f, &p->r) && rows_but_constraints(p);
    for (int k = 0; ok && k < p->m->nlambda; k++) ok = penalty_row(p, k);
    ok = ok && first_order_hide_multipliers(&p->l, p->a, p->f);
    /* Where steps are longer than the springs' own time, solutions behave as those of the
     * constraints the springs stand for [Lub93]: with velocities in the error test, multipliers
     * have their errors over h. */
    for (int k = 0; ok && k < p->m->nlambda; k++)
        p->f->kinds[p->l.first[p->m->lambda[k]]] = DAE_KIND_INDEX2;
    p->f->springs = ok;
    return ok;
}

static dae_status penalty_fits(const rewriting *p, dae_diag *diag)
{
    for (int k = 0; k < p->m->nlambda; k++)
        if (!p->m->steady[k])
            return diag_set(diag, DAE_ERR_UNSUPPORTED,
                            "Formulation penalty needs multipliers that act along the gradients "
                            "of the constraints up to constant factors; %s does not.",
                            p->a->set.name[p->m->lambda[k]]);
    return DAE_OK;
}

const formulation formulation_penalty = {
    .name = "penalty",
    .summary = "mechanical: stiff springs and dampers for constraints; penalty:COMPLIANCE",
    .citation = "Loetstedt, TRITA-NA-7919, Royal Institute of Technology, Stockholm 1979",
    .mechanical = true,
    .parameter = 1e-6,
    .build = build_penalty,
    .fits = penalty_fits,
};
