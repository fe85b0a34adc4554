/* Guesses of a whole solution: values at the start, a simulation, or rows of a table. */
#include "solve/bvp/whole_guess.h"

#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"

static dae_status no_memory(const whole_guess *g, dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "%s: out of memory for a guess.", g->what);
}

/* ---- tables ---- */

static dae_status check_table(const whole_guess *g, dae_diag *diag)
{
    const guess_table *r = &g->table;
    if (r->rows < 2 || r->columns < 1 || !r->times || !r->variables || !r->values)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "%s: a table as a guess needs two rows and a column.", g->what);
    for (int i = 0; i < r->rows; i++)
        if (!isfinite(r->times[i]) || (i > 0 && !(r->times[i] > r->times[i - 1])))
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "%s: row %d of the guess has time %g; times ascend.", g->what, i + 1,
                            r->times[i]);
    for (size_t k = 0; k < (size_t)r->rows * (size_t)r->columns; k++)
        if (!isfinite(r->values[k]))
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "%s: row %d of the guess has a value that is not finite.", g->what,
                            (int)(k / (size_t)r->columns) + 1);
    return DAE_OK;
}

/* Which unknowns the columns are. Variables that follow from others need no guess. */
static dae_status name_columns(whole_guess *g, dae_diag *diag)
{
    const guess_table *r = &g->table;
    const model_form *f = g->problem->model;
    g->unknown = DAE_ARRAY(int, r->columns);
    g->sign = DAE_ARRAY(int, r->columns);
    g->row = DAE_ARRAY(double, r->columns);
    if (!g->unknown || !g->sign || !g->row) return no_memory(g, diag);
    for (int c = 0; c < r->columns; c++) {
        int v = r->variables[c] ? dae_problem_find_variable(g->problem, r->variables[c]) : -1;
        if (v < 0)
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "%s: the guess has a column %s, which is no variable of the model.",
                            g->what, r->variables[c] ? r->variables[c] : "(no name)");
        int root = hybrid_root(f, f->visible[v], &g->sign[c]);
        g->unknown[c] = f->flat->variables[f->visible[v]].discrete ? -1 : f->first_unknown[root];
    }
    return DAE_OK;
}

/* Straight between rows, and as the first or last one outside of them. */
static void look_up(whole_guess *g, double t)
{
    const guess_table *r = &g->table;
    int i = 0;
    while (i < r->rows - 2 && t > r->times[i + 1]) i++;
    const double h = r->times[i + 1] - r->times[i];
    const double part = fmin(1.0, fmax(0.0, (t - r->times[i]) / h));
    for (int c = 0; c < r->columns; c++) {
        const double *value = r->values + (size_t)i * (size_t)r->columns + c;
        const double rise = value[r->columns] - value[0];
        g->row[c] = value[0] + part * rise;
        if (g->unknown[c] < 0) continue;
        g->y[g->unknown[c]] = g->sign[c] * g->row[c];
        g->yp[g->unknown[c]] = g->sign[c] * rise / h;
    }
}

/* ---- simulations ---- */

static void simulate(whole_guess *g, double t)
{
    dae_status status =
        g->run && t > dae_solver_time(g->run) ? dae_solver_run(g->run, t, g->y, g->yp) : DAE_OK;
    bool good = g->run && status >= 0 && vector_finite(g->n, g->y) && vector_finite(g->n, g->yp);
    if (good) {
        vector_copy(g->n, g->y, g->held);
        return;
    }
    dae_solver_free(g->run); /* from here on the last values have to do */
    g->run = NULL;
    vector_copy(g->n, g->held, g->y);
    vector_zero(g->n, g->yp);
}

static dae_status begin_run(whole_guess *g, dae_diag *diag)
{
    enum { MOST_STEPS = 20000 };
    dae_options o = dae_options_default();
    o.rtol = 1e-4;
    o.max_steps = MOST_STEPS;
    dae_status status = dae_solver_new(g->problem, &o, &g->run, diag);
    if (status == DAE_OK) status = dae_solver_start(g->run, g->start, NULL, NULL);
    if (status != DAE_OK && g->run && diag) *diag = *dae_solver_diag(g->run);
    return status;
}

/* ---- both ---- */

dae_status whole_guess_open(whole_guess *g, const dae_solver *companion, dae_diag *diag)
{
    g->n = g->problem->form.n;
    g->y = DAE_ARRAY(double, 3 * (size_t)g->n);
    double *at_start = g->y ? user_values(companion) : NULL;
    if (!at_start) return no_memory(g, diag);
    g->yp = g->y + g->n;
    g->held = g->y + 2 * g->n;
    vector_copy(g->n, at_start, g->y);
    vector_copy(g->n, at_start, g->held);
    if (g->kind == DAE_BVP_GUESS_START) vector_copy(g->n, at_start + g->n, g->yp);
    dae_free(at_start);
    if (g->kind == DAE_BVP_GUESS_SIMULATE) return begin_run(g, diag);
    if (g->kind != DAE_BVP_GUESS_TABLE) return DAE_OK;
    dae_status status = check_table(g, diag);
    return status == DAE_OK ? name_columns(g, diag) : status;
}

void whole_guess_at(whole_guess *g, double t)
{
    if (g->kind == DAE_BVP_GUESS_TABLE) look_up(g, t);
    if (g->kind == DAE_BVP_GUESS_SIMULATE) simulate(g, t);
}

void whole_guess_close(whole_guess *g)
{
    dae_solver_free(g->run);
    dae_free_all(g->y, g->unknown, g->sign, g->row);
}

void even_mesh(int intervals, double start, double end, double *t)
{
    for (int i = 0; i <= intervals; i++) t[i] = start + (end - start) * i / intervals;
    t[intervals] = end;
}

/* ---- start values ---- */

/* Whether a variable before v that is the same unknown is fixed, too. */
static bool is_twice(const model_form *f, size_t v)
{
    int sign, root = hybrid_root(f, (int)v, &sign);
    for (size_t k = 0; k < v; k++)
        if (f->flat->variables[k].fixed && !f->flat->variables[k].discrete &&
            hybrid_root(f, (int)k, &sign) == root)
            return true;
    return false;
}

expr fixed_start_condition(const model_form *f, size_t v)
{
    const flat_variable *x = &f->flat->variables[v];
    graph *g = f->flat->graph;
    int sign, root = hybrid_root(f, (int)v, &sign);
    bool constant = f->alias[root].value != EXPR_NONE && !f->alias[root].evaluated;
    if (!x->fixed || x->discrete || constant || is_twice(f, v)) return EXPR_NONE;
    graph_enter(g);
    expr start = !isnan(f->start[v])                     ? graph_constant(g, f->start[v])
                 : x->has_start && x->start != EXPR_NONE ? x->start
                                                         : graph_constant(g, 0.0);
    expr e = graph_binary(g, EXPR_SUB, graph_variable(g, (int)v, 0), start);
    graph_leave(g);
    return e;
}
