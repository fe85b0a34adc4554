/* M v' = f - G' lambda, 0 = g(q, t) from the equations of a model.
 *
 * With scale_i M_ij symmetric and scale_i C_ik = factor_k G_ki, both constant, the form has
 * scale M, scale f and factor g, so that lambda is the variable of the model. */
#include <stdio.h>

#include "base/diag.h"
#include "base/memory.h"
#include "formulation/form_plan_parts.h"
#include "structure/mechanical/mechanical.h"

static dae_status refuse(dae_diag *diag, const char *what, const char *name)
{
    return diag_set(diag, DAE_ERR_UNSUPPORTED, what, name);
}

/* DAE_OK: the form has it all. */
static dae_status check_form(const analysed *a, const mechanical *m, dae_diag *diag)
{
    if (m->nvelocity > 0)
        return refuse(diag, "%s restricts velocities, and not positions",
                      a->set.row[m->constraint[mechanical_positions(m)]].name);
    if (m->nother > m->explicit_count)
        return refuse(diag, "%s gives a variable only implicitly",
                      a->set.row[m->other_row[m->explicit_count]].name);
    for (int k = 0; k < m->nlambda; k++)
        if (!m->steady[k] || m->friction)
            return refuse(diag,
                          "%s does not act along the gradient of its constraint up to a "
                          "constant factor",
                          a->set.name[m->lambda[k]]);
    return DAE_OK;
}

/* Definitions of the variables that the form sees through, over the analysed set; NULL: memory */
static expr *definitions(const analysed *a, const mechanical *m)
{
    graph *g = a->set.graph;
    expr *value = DAE_ARRAY(expr, a->set.n);
    bool ok = value;
    for (int k = 0; ok && k < m->explicit_count; k++) {
        int j = m->other[k];
        value[j] = definition_from(g, a->set.row[m->other_row[k]].residual, j);
        ok = value[j] != EXPR_NONE;
    }
    if (ok && see_through_definitions(g, a->set.n, value)) return value;
    dae_free(value);
    return NULL;
}

/* ---- the residual form in the same unknowns ---- */

static bool name_unknowns(const analysed *a, const mechanical *m, formulated *f)
{
    for (int i = 0; i < m->nq; i++) {
        if (!formulated_stands_plainly(f, a, i, m->q[i], 0)) return false;
        if (!formulated_stands_plainly(f, a, m->nq + i, m->q[i], 1)) return false;
        f->kinds[i] = f->kinds[m->nq + i] = DAE_KIND_DIFFERENTIAL;
    }
    for (int k = 0; k < m->nlambda; k++) {
        if (!formulated_stands_plainly(f, a, 2 * m->nq + k, m->lambda[k], 0)) return false;
        f->kinds[2 * m->nq + k] = DAE_KIND_INDEX3;
    }
    return true;
}

static bool build_rows(const analysed *a, const mechanical *m, const unknown_index *index,
                       formulated *f)
{
    int r = 0;
    bool ok = true;
    for (int i = 0; ok && i < m->nq; i++) ok = kinematic_row(f, i, m->nq + i, EXPR_NONE, &r);
    for (int i = 0; ok && i < m->nq; i++)
        ok = level_row(f, a, index, m->dynamic[i], 0, a->set.row[m->dynamic[i]].residual, &r);
    for (int k = 0; ok && k < m->nlambda; k++)
        ok = level_row(f, a, index, m->constraint[k], 0, m->g[k], &r);
    return ok;
}

/* ---- the functions of the form ---- */

/* factor * e over q and v */
static expr scaled(const formulated *f, const unknown_index *index, int nq, double factor, expr e)
{
    graph *g = f->set.graph;
    if (e == EXPR_NONE) return EXPR_NONE;
    expr over = form_arguments(g, nq, nq, formulated_expression(f, index, e));
    if (over == EXPR_NONE || factor == 1.0) return over;
    return graph_binary(g, EXPR_MUL, graph_constant(g, factor), over);
}

static bool is_diagonal(const form_block *b)
{
    for (int j = 0; j < b->columns; j++)
        for (int k = b->colptr[j]; k < b->colptr[j + 1]; k++)
            if (b->rowind[k] != j) return false;
    return true;
}

static bool build_blocks(const mechanical *m, const formulated *f, const unknown_index *index,
                         form_plan *p)
{
    entry_list M = {0}, G = {0};
    graph *g = f->set.graph;
    bool ok = true;
    for (int k = 0; ok && k < m->M.count + m->G.count; k++) {
        const bool mass = k < m->M.count;
        const mechanical_entry *e = mass ? &m->M.entry[k] : &m->G.entry[k - m->M.count];
        double factor = mass ? m->scale[e->row] : m->factor[e->row];
        ok =
            entry_add(mass ? &M : &G, e->row, e->column, scaled(f, index, m->nq, factor, e->value));
    }
    ok = ok && form_block_new(&p->block[BLOCK_M], g, m->nq, m->nq, &M) &&
         form_block_new(&p->block[BLOCK_G], g, m->nlambda, m->nq, &G);
    if (ok) p->block[BLOCK_M].diagonal = is_diagonal(&p->block[BLOCK_M]);
    entry_list_free(&M);
    entry_list_free(&G);
    return ok;
}

/* dg/ds along (t + s, q + s v): q' is v, and v stays */
static expr along(void *context, graph *g, expr leaf)
{
    (void)context;
    const expr_node node = *graph_node(g, leaf);
    if (node.op == EXPR_TIME) return graph_constant(g, 1.0);
    if (node.op != EXPR_VARIABLE || node.order > 0) return EXPR_NONE;
    return graph_variable(g, node.index, 1);
}

/* The block as it is delivered, so that its values need not be moved */
static bool put_delivered(form_program *p, size_t *at, graph *g, const form_block *b)
{
    const size_t size = form_block_size(b);
    expr *to = p->e + *at, zero = graph_constant(g, 0.0);
    if (zero == EXPR_NONE) return false;
    for (size_t k = 0; k < size; k++) to[k] = zero;
    for (int j = 0; j < b->columns; j++)
        for (int k = b->colptr[j]; k < b->colptr[j + 1]; k++)
            to[form_block_place(b, k, j)] = b->e[k];
    *at += size;
    return true;
}

/* M, where it is constant */
static bool build_mass(graph *g, form_plan *p)
{
    const form_block *M = &p->block[BLOCK_M];
    form_program *mass = &p->program[MECHANICAL_MASS];
    size_t at = 0;
    if (!form_program_new(mass, M->constant ? form_block_size(M) : 0)) return false;
    return !M->constant || put_delivered(mass, &at, g, M);
}

/* (M,) f, G and curvature */
static bool build_stage(const mechanical *m, const formulated *f, const unknown_index *index,
                        const expr *g, form_plan *p)
{
    const form_block *M = &p->block[BLOCK_M], *G = &p->block[BLOCK_G];
    form_program *stage = &p->program[MECHANICAL_STAGE];
    size_t at = 0, mass = M->constant ? 0 : form_block_size(M);
    if (!form_program_new(stage, mass + (size_t)(m->nq + m->nlambda) + form_block_size(G)))
        return false;
    if (!M->constant && !put_delivered(stage, &at, f->set.graph, M)) return false;
    for (int i = 0; i < m->nq; i++) {
        stage->e[at] = scaled(f, index, m->nq, m->scale[i], m->f[i]);
        if (stage->e[at++] == EXPR_NONE) return false;
    }
    if (!put_delivered(stage, &at, f->set.graph, G)) return false;
    for (int k = 0; k < m->nlambda; k++) {
        expr rate = derive_direction(f->set.graph, g[k], along, NULL);
        stage->e[at] = derive_direction(f->set.graph, rate, along, NULL);
        if (rate == EXPR_NONE || stage->e[at++] == EXPR_NONE) return false;
    }
    return true;
}

static bool build_programs(const mechanical *m, const formulated *f, const unknown_index *index,
                           form_plan *p)
{
    form_program *position = &p->program[MECHANICAL_POSITION];
    form_program *velocity = &p->program[MECHANICAL_VELOCITY];
    const form_block *G = &p->block[BLOCK_G];
    size_t at = 0;
    if (!form_program_new(position, (size_t)m->nlambda)) return false;
    for (int k = 0; k < m->nlambda; k++) {
        position->e[k] = scaled(f, index, m->nq, m->factor[k], m->g[k]);
        if (position->e[k] == EXPR_NONE) return false;
    }
    if (!form_program_new(velocity, form_block_size(G) + (size_t)m->nlambda)) return false;
    if (!put_delivered(velocity, &at, f->set.graph, G)) return false;
    if (!time_derivatives(f->set.graph, position->e, m->nlambda, velocity->e + at, &p->autonomous))
        return false;
    return build_mass(f->set.graph, p) && build_stage(m, f, index, position->e, p) &&
           form_plan_accelerations(f->set.graph, p);
}

static form_plan *make_plan(const mechanical *m, const formulated *f, const unknown_index *index)
{
    form_plan *p = DAE_NEW(form_plan);
    if (!p) return NULL;
    *p = (form_plan){.form = FORM_MECHANICAL, .size = {m->nq, m->nlambda, 0}};
    p->constraint = DAE_ARRAY(int, m->nlambda);
    for (int k = 0; p->constraint && k < m->nlambda; k++) p->constraint[k] = 2 * m->nq + k;
    if (p->constraint && build_blocks(m, f, index, p) && build_programs(m, f, index, p)) return p;
    form_plan_free(p);
    return NULL;
}

static bool build(const analysed *a, const mechanical *m, formulated *f)
{
    unknown_index index = {0};
    int n = 2 * m->nq + m->nlambda;
    expr *value = definitions(a, m);
    bool ok = value && formulated_new(f, a, n, n, 0) && name_unknowns(a, m, f) &&
              unknown_index_new(&index, a, f) && note_definitions(f, a, &index, value) &&
              build_rows(a, m, &index, f);
    if (ok) f->plan = make_plan(m, f, &index);
    unknown_index_free(&index);
    dae_free(value);
    return ok && f->plan;
}

dae_status formulate_mechanical_form(const analysed *a, const equation_point *at, bool free,
                                     formulated *f, dae_diag *diag)
{
    mechanical own = {0};
    const mechanical *m = &own;
    char reason[400];
    *f = (formulated){0};
    mechanical_status found =
        free ? mechanical_recognise_any(&a->set, at, &own, reason, sizeof reason)
             : analysed_mechanism(a, at, &m, reason, sizeof reason);
    if (found == MECHANICAL_MEMORY)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while the mechanical form is sought.");
    if (found == MECHANICAL_NOT) return refuse(diag, "%s", reason);
    dae_status status = check_form(a, m, diag);
    if (status == DAE_OK && !build(a, m, f)) status = formulation_exhausted(f, diag);
    mechanical_free(&own);
    return status;
}
