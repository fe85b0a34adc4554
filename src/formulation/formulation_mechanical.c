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

dae_status mechanical_find(const analysed *a, const formulation_setting *setting,
                           const mechanical **result, dae_diag *diag)
{
    char reason[400];
    mechanical_status found = MECHANICAL_NOT;
    snprintf(reason, sizeof reason, "values of the parameters are missing");
    if (setting->at) found = analysed_mechanism(a, setting->at, result, reason, sizeof reason);
    if (found == MECHANICAL_MEMORY)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while the mechanical form is sought.");
    if (found == MECHANICAL_NOT)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Formulation %s needs a mechanical system, M q'' = f - G' lambda with "
                        "constraints 0 = g(q, t): %s.",
                        setting->of->name, reason);
    const mechanical *m = *result;
    bool fits = m->nvelocity == 0 || (setting->of->velocities && mechanical_positions(m) > 0);
    return fits ? DAE_OK : refuse_velocities(a, setting->of->name, m, diag);
}

/* The equations as written, but constraints, from row *r on. */
static bool rows_but_constraints(formulated *f, const analysed *a, const mechanical *m,
                                 const unknown_index *index, int *r)
{
    bool *constraint = DAE_ARRAY(bool, a->set.m), ok = constraint;
    for (int l = 0; ok && l < m->nlambda; l++) constraint[m->constraint[l]] = true;
    for (int i = 0; ok && i < a->set.m; i++)
        if (!constraint[i]) ok = level_row(f, a, index, i, 0, a->set.row[i].residual, r);
    dae_free(constraint);
    return ok;
}

/* ---- Gear, Gupta, Leimkuhler ---- */

bool mechanical_along(const formulated *f, const mechanical *m, const first_order *l, int first,
                      expr *sum)
{
    graph *g = f->set.graph;
    for (int j = 0; j < m->nq; j++) sum[j] = EXPR_NONE;
    for (int e = 0; e < m->G.count; e++) {
        const mechanical_entry *q = &m->G.entry[e];
        if (q->row >= mechanical_positions(m)) continue;
        expr along = formulated_expression(f, &l->index, q->value);
        if (along == EXPR_NONE) return false;
        expr part = graph_binary(g, EXPR_MUL, along, graph_variable(g, first + q->row, 0));
        expr *to = &sum[q->column];
        *to = *to == EXPR_NONE ? part : graph_binary(g, EXPR_ADD, *to, part);
    }
    return !graph_failed(g);
}

bool mechanical_name_multipliers(formulated *f, const mechanical *m, int first, const char *stem)
{
    char name[48];
    int count = mechanical_positions(m);
    for (int l = 0; l < count; l++) {
        if (count == 1)
            snprintf(name, sizeof name, "%s", stem);
        else
            snprintf(name, sizeof name, "%s[%d]", stem, l + 1);
        if (!formulated_new_unknown(f, first + l, name)) return false;
        f->kinds[first + l] = DAE_KIND_INDEX2;
    }
    return true;
}

/* (x_j^(p))' = x_j^(p+1), for positions less G' mu. */
static bool corrected_kinematics(formulated *f, const analysed *a, const mechanical *m,
                                 const first_order *l, int *r)
{
    expr *sum = DAE_ARRAY(expr, m->nq);
    int *position = DAE_ARRAY(int, a->set.n); /* 1 + number of the position; 0: it is none */
    bool ok = sum && position && mechanical_along(f, m, l, l->unknowns, sum);
    for (int j = 0; ok && j < m->nq; j++) position[m->q[j]] = j + 1;
    for (int j = 0; ok && j < a->set.n; j++)
        for (int p = 0; ok && p < l->top[j]; p++) {
            expr more = p == 0 && position[j] > 0 ? sum[position[j] - 1] : EXPR_NONE;
            ok = kinematic_row(f, l->first[j] + p, l->first[j] + p + 1, more, r);
        }
    dae_free_all(sum, position);
    return ok;
}

bool mechanical_constraint_row(formulated *f, const analysed *a, const mechanical *m,
                               const unknown_index *index, int l, int k, int *r)
{
    expr e = mechanical_level(&a->set, m, l, k);
    return level_row(f, a, index, m->constraint[l], k, e, r);
}

/* q' = v - G' mu, M v' = f - G' lambda, 0 = g, 0 = G v + g_t: index 2, mu = 0 [GLG85]. */
static bool build_ggl(const analysed *a, const mechanical *m, formulated *f)
{
    first_order l = {0};
    int r = 0, count = mechanical_positions(m);
    bool ok = first_order_new(&l, a, AS_WRITTEN) &&
              first_order_begin(&l, a, f, count, l.kinematics + a->set.m + count) &&
              mechanical_name_multipliers(f, m, l.unknowns, "mu") &&
              corrected_kinematics(f, a, m, &l, &r);
    for (int i = 0; ok && i < a->set.m; i++)
        ok = level_row(f, a, &l.index, i, 0, a->set.row[i].residual, &r);
    for (int k = 0; ok && k < count; k++)
        ok = mechanical_constraint_row(f, a, m, &l.index, k, 1, &r);
    for (int i = 0; ok && i < a->set.m; i++) { /* one level is still hidden */
        int c = a->structure.c[i];
        l.times[i] = c > 1 ? c - 1 : 0;
    }
    ok = ok && first_order_kinds(&l, a, f);
    first_order_free(&l);
    return ok;
}

static dae_status formulate_ggl(const analysed *a, const formulation_setting *setting,
                                formulated *f, dae_diag *diag)
{
    const mechanical *m;
    *f = (formulated){0};
    dae_status status = mechanical_find(a, setting, &m, diag);
    if (status == DAE_OK && !build_ggl(a, m, f)) status = formulation_exhausted(f, diag);
    return status;
}

const formulation formulation_ggl = {
    .name = "ggl",
    .velocities = true,
    .summary = "mechanical: positions and velocities on their constraints, index 2",
    .citation = "Gear, Leimkuhler, Gupta, J. Comput. Appl. Math. 12 (1985) 77-90",
    .mechanical = true,
    .callbacks = {[KIND_MECHANICAL] = &mechanical_ggl, [KIND_QUASILINEAR] = &quasilinear_ggl},
    .apply = formulate_ggl,
};

/* ---- minimal extension ---- */

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

/* p1' = z1 stays; p2, p2', p2'' become unknowns p2, w1, w2 without derivatives, and g, g', g'' = 0
 * determine them [KM04], [Wun05 (7.31)]. */
static bool build_minimal(const analysed *a, const mechanical *m, const bool *dependent,
                          formulated *f)
{
    first_order l = {0};
    bool *fixed = DAE_ARRAY(bool, a->set.n), ok = fixed && first_order_new(&l, a, AS_WRITTEN);
    int r = 0, kinematics = 0;
    for (int j = 0; ok && j < m->nq; j++)
        if (dependent[j]) {
            fixed[m->q[j]] = true;
            l.top[m->q[j]] = 2;
        }
    if (ok) first_order_number(&l, a);
    for (int j = 0; ok && j < a->set.n; j++) kinematics += fixed[j] ? 0 : l.top[j];
    ok = ok && first_order_begin(&l, a, f, 0, kinematics + a->set.m + 2 * m->nlambda);
    for (int j = 0; ok && j < a->set.n; j++)
        for (int p = 0; ok && !fixed[j] && p < l.top[j]; p++)
            ok = kinematic_row(f, l.first[j] + p, l.first[j] + p + 1, EXPR_NONE, &r);
    for (int i = 0; ok && i < a->set.m; i++)
        ok = level_row(f, a, &l.index, i, 0, a->set.row[i].residual, &r);
    for (int k = 0; ok && k < 2 * m->nlambda; k++)
        ok = mechanical_constraint_row(f, a, m, &l.index, k / 2, 1 + k % 2, &r);
    ok = ok && mechanical_note_choice(f, a, m, &l.index, dependent);
    ok = ok && first_order_hide_multipliers(&l, a, f);
    for (int j = 0; ok && j < m->nq; j++) /* p2'' has the errors of p1'', a difference quotient */
        if (dependent[j]) f->hidden[l.first[m->q[j]] + 2] = true;
    first_order_free(&l);
    dae_free(fixed);
    return ok;
}

bool mechanical_note_choice(formulated *f, const analysed *a, const mechanical *m,
                            const unknown_index *index, const bool *dependent)
{
    position_choice *c = f->positions = position_choice_new(m->nlambda, m->nq, m->G.count);
    for (int e = 0; c && e < m->G.count; e++) {
        c->row[e] = m->G.entry[e].row;
        c->column[e] = m->G.entry[e].column;
        c->value[e] = formulated_expression(f, index, m->G.entry[e].value);
        if (c->value[e] == EXPR_NONE) return false;
    }
    for (int l = 0; c && l < m->nlambda; l++) c->source[l] = m->constraint[l];
    for (int j = 0; c && j < m->nq; j++) {
        c->size[j] = a->set.nominal[m->q[j]];
        c->dependent[j] = dependent[j];
    }
    return c;
}

dae_status mechanical_choose(const analysed *a, const mechanical *m,
                             const formulation_setting *setting, bool *dependent, dae_diag *diag)
{
    double *G = DAE_ARRAY(double, (size_t)m->nlambda *(size_t)m->nq);
    bool *chosen = DAE_ARRAY(bool, 2 * m->nq + m->nlambda);
    bool ready = G && chosen && gradient_at(a, m, setting->at, G);
    int l = -1;
    if (ready && positions_eliminate(m->nlambda, m->nq, G, chosen, false) < INFINITY)
        memcpy(dependent, chosen, (size_t)m->nq * sizeof *dependent);
    else if (ready)
        l = positions_dependent_row(m->nlambda, m->nq, chosen);
    dae_free_all(G, chosen);
    if (!ready)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while the equations are rewritten.");
    if (l < 0) return DAE_OK;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Formulation %s chooses coordinates where the run starts, but there %s "
                    "depends on the other constraints.",
                    setting->of->name, a->set.row[m->constraint[l]].name);
}

static dae_status formulate_minimal(const analysed *a, const formulation_setting *setting,
                                    formulated *f, dae_diag *diag)
{
    const mechanical *m;
    *f = (formulated){0};
    dae_status status = mechanical_find(a, setting, &m, diag);
    if (status != DAE_OK) return status;
    bool *dependent = DAE_ARRAY(bool, m->nq);
    if (!dependent)
        status = formulation_exhausted(f, diag);
    else
        status = mechanical_choose(a, m, setting, dependent, diag);
    if (status == DAE_OK && !build_minimal(a, m, dependent, f))
        status = formulation_exhausted(f, diag);
    dae_free(dependent);
    return status;
}

const formulation formulation_minimal = {
    .name = "minimal",
    .summary = "mechanical: minimal extension, index 1, coordinates chosen at the start",
    .citation = "Kunkel, Mehrmann, Z. Angew. Math. Mech. 84 (2004) 579-597",
    .mechanical = true,
    .chooses_positions = true,
    .callbacks = {[KIND_MECHANICAL] = &mechanical_minimal},
    .apply = formulate_minimal,
};

/* ---- penalties ---- */

/* eps factor_l lambda_l - g_l - 2 sqrt(eps) g_l' = 0: springs of stiffness 1/eps with dampers,
 * critical for unit mass [Loe79]. */
static bool penalty_row(formulated *f, const analysed *a, const mechanical *m, const first_order *l,
                        int k, double eps, int *r)
{
    graph *g = a->set.graph;
    expr rate = mechanical_level(&a->set, m, k, 1);
    if (rate == EXPR_NONE) return false;
    expr damper = graph_binary(g, EXPR_MUL, graph_constant(g, 2.0 * sqrt(eps)), rate);
    expr force = graph_binary(g, EXPR_MUL, graph_constant(g, eps * m->factor[k]),
                              graph_variable(g, m->lambda[k], 0));
    expr e = graph_binary(g, EXPR_SUB, graph_binary(g, EXPR_SUB, force, m->g[k]), damper);
    return level_row(f, a, &l->index, m->constraint[k], 0, e, r);
}

static bool build_penalty(const analysed *a, const mechanical *m, double eps, formulated *f)
{
    first_order l = {0};
    int r = 0;
    bool ok = first_order_new(&l, a, AS_WRITTEN) &&
              first_order_begin(&l, a, f, 0, l.kinematics + a->set.m) &&
              first_order_kinematics(&l, a, f, &r) && rows_but_constraints(f, a, m, &l.index, &r);
    for (int k = 0; ok && k < m->nlambda; k++) ok = penalty_row(f, a, m, &l, k, eps, &r);
    ok = ok && first_order_hide_multipliers(&l, a, f);
    /* Where steps are longer than the springs' own time, solutions behave as those of the
     * constraints the springs stand for [Lub93]: with velocities in the error test, multipliers
     * have their errors over h. */
    for (int k = 0; ok && k < m->nlambda; k++) f->kinds[l.first[m->lambda[k]]] = DAE_KIND_INDEX2;
    f->springs = ok;
    first_order_free(&l);
    return ok;
}

static dae_status formulate_penalty(const analysed *a, const formulation_setting *setting,
                                    formulated *f, dae_diag *diag)
{
    const mechanical *m;
    *f = (formulated){0};
    dae_status status = mechanical_find(a, setting, &m, diag);
    for (int k = 0; status == DAE_OK && k < m->nlambda; k++)
        if (!m->steady[k])
            status = diag_set(diag, DAE_ERR_UNSUPPORTED,
                              "Formulation penalty needs multipliers that act along the gradients "
                              "of the constraints up to constant factors; %s does not.",
                              a->set.name[m->lambda[k]]);
    if (status == DAE_OK && !build_penalty(a, m, setting->parameter, f))
        status = formulation_exhausted(f, diag);
    return status;
}

const formulation formulation_penalty = {
    .name = "penalty",
    .summary = "mechanical: stiff springs and dampers for constraints; penalty:COMPLIANCE",
    .citation = "Loetstedt, TRITA-NA-7919, Royal Institute of Technology, Stockholm 1979",
    .mechanical = true,
    .parameter = 1e-6,
    .apply = formulate_penalty,
};
