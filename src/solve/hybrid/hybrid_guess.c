/* Guesses of algebraic variables that have no start value.
 *
 * Newton's iteration from 0 would begin at sqrt(p), log(p) or 1/p with p = 0, though the text says
 * p = x + 1. As long as an equation without derivatives has one unknown whose value is not known
 * yet, and is linear in it, it gives that value; this is the order of evaluation by blocks of one
 * equation, without their matching. An equation that is not linear waits: another may give the
 * value from what was guessed, as z = 1 + 2 y gives y from a guess of z, and y^3 = 2 y + x does
 * not. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "solve/hybrid/hybrid_parts.h"

typedef struct guesses {
    const model_instance *instance;
    double t, *y;
    const double *yp;
    int *row_start, *column; /* the pattern by rows */
    int *missing;       /* per row: unknowns without a value; those of rows with y' do not count */
    bool *known;        /* per unknown */
    int *queue, queued; /* rows that miss one */
} guesses;

static double leaf_value(void *context, const expr_node *leaf)
{
    const guesses *g = context;
    switch (leaf->op) {
    case EXPR_TIME: return g->t;
    case EXPR_PARAMETER: return g->instance->parameters[leaf->index];
    case EXPR_MEMORY: return g->instance->memory[leaf->index];
    default: return (leaf->order > 0 ? g->yp : g->y)[leaf->index];
    }
}

/* F_row with y_j = value */
static double residual_at(guesses *g, int row, int j, double value)
{
    const model_form *f = g->instance->form;
    g->y[j] = value;
    return graph_value(f->flat->graph, f->residual.e[row], leaf_value, g);
}

/* y_j from the secant of F_row through 0 and 1; false: F_row is not zero there, and y_j = 0 stays.
 */
static bool solve_row(guesses *g, int row, int j)
{
    double at0 = residual_at(g, row, j, 0.0), at1 = residual_at(g, row, j, 1.0);
    double value = -at0 / (at1 - at0);
    double left = isfinite(value) ? residual_at(g, row, j, value) : NAN;
    const bool met = fabs(left) <= 1e-9 * (fabs(at0) + fabs(at1));
    if (!met) g->y[j] = 0.0;
    return met;
}

/* The pattern by rows, and in `missing` -1 for rows with derivatives. */
static void transpose_pattern(guesses *g)
{
    const model_form *f = g->instance->form;
    for (int k = 0; k < f->colptr[f->n]; k++) g->row_start[f->rowind[k] + 1]++;
    for (int i = 0; i < f->n; i++) g->row_start[i + 1] += g->row_start[i];
    for (int j = f->n - 1; j >= 0; j--)
        for (int k = f->colptr[j]; k < f->colptr[j + 1]; k++) {
            int i = f->rowind[k];
            g->column[g->row_start[i] + g->missing[i]++] = j;
        }
    for (int i = 0; i < f->n; i++) g->missing[i] = 0;
    for (size_t k = 0; k < f->jacobian_outputs; k++)
        if (f->scatter[k] < 0) g->missing[f->rowind[-1 - f->scatter[k]]] = -1;
}

/* Variables with a start value, or a value from the caller, are known, and differential ones, which
 * begin at 0 without; but for those that initial equations give. */
static void note_known(guesses *g)
{
    const model_form *f = g->instance->form;
    for (int i = 0; i < f->n; i++)
        g->known[i] = (f->differential[i] && !f->initial) || g->y[i] != 0.0;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        int sign;
        if (f->flat->variables[v].discrete || isnan(hybrid_start_value(f, v))) continue;
        int i = f->first_unknown[hybrid_root(f, (int)v, &sign)];
        if (i >= 0) g->known[i] = true;
    }
}

static void count_missing(guesses *g)
{
    for (int i = 0; i < g->instance->form->n; i++) {
        if (g->missing[i] < 0) continue;
        for (int k = g->row_start[i]; k < g->row_start[i + 1]; k++)
            g->missing[i] += !g->known[g->column[k]];
        if (g->missing[i] == 1) g->queue[g->queued++] = i;
    }
}

/* y_j has its value: rows that wait for nothing but one other can give that. */
static void make_known(guesses *g, int j)
{
    const model_form *f = g->instance->form;
    g->known[j] = true;
    for (int k = f->colptr[j]; k < f->colptr[j + 1]; k++) {
        int i = f->rowind[k];
        if (g->missing[i] > 0 && --g->missing[i] == 1) g->queue[g->queued++] = i;
    }
}

/* The unknown that row misses. */
static int missed(const guesses *g, int row)
{
    int k = g->row_start[row];
    while (g->known[g->column[k]]) k++;
    return g->column[k];
}

/* Rows of the queue from *next on that are linear in what they miss; the others go to its end,
 * until each has been looked at since the last that was one. */
static void solve_linear_rows(guesses *g, int *next)
{
    for (int waiting = 0; *next + waiting < g->queued;) {
        const int row = g->queue[*next], j = g->missing[row] == 1 ? missed(g, row) : -1;
        const int last = g->queued;
        if (j >= 0 && !solve_row(g, row, j)) {
            memmove(g->queue + *next, g->queue + *next + 1,
                    (size_t)(last - *next - 1) * sizeof *g->queue);
            g->queue[last - 1] = row;
            waiting++;
            continue;
        }
        ++*next;
        waiting = 0;
        if (j >= 0) make_known(g, j);
    }
}

/* Once no row gives a value: states that initial equations give are 0, and then unknowns that rows
 * miss which are not linear in them. */
static void solve_rows(guesses *g)
{
    const model_form *f = g->instance->form;
    int next = 0;
    solve_linear_rows(g, &next);
    for (int i = 0; i < f->n; i++)
        if (f->differential[i] && !g->known[i]) make_known(g, i), solve_linear_rows(g, &next);
    while (next < g->queued) {
        const int row = g->queue[next++];
        if (g->missing[row] == 1) make_known(g, missed(g, row));
        solve_linear_rows(g, &next);
    }
}

static void guesses_free(guesses *g)
{
    dae_free_all(g->row_start, g->column, g->missing, g->known, g->queue);
}

/* False: memory. */
static bool guess(dae_solver *s, double t)
{
    const model_form *f = s->hybrid->instance->form;
    guesses g = {.instance = s->hybrid->instance, .t = t, .y = s->bound.y, .yp = s->bound.yp};
    g.row_start = DAE_ARRAY(int, f->n + 1);
    g.column = DAE_ARRAY(int, f->colptr[f->n] + 1);
    g.missing = DAE_ARRAY(int, f->n);
    g.known = DAE_ARRAY(bool, f->n);
    g.queue = DAE_ARRAY(int, f->n);
    bool ok = g.row_start && g.column && g.missing && g.known && g.queue;
    if (ok) {
        transpose_pattern(&g);
        note_known(&g);
        count_missing(&g);
        graph_enter(f->flat->graph);
        solve_rows(&g);
        graph_leave(f->flat->graph);
    }
    guesses_free(&g);
    return ok;
}

dae_status hybrid_guess(dae_solver *s, double t, dae_init mode)
{
    const model_instance *m = s->hybrid->instance;
    const model_form *f = m->form;
    if (s->hybrid->given || mode == DAE_INIT_NONE || f->resting || f->unmet >= 0) return DAE_OK;
    const size_t n = (size_t)f->n;
    double *given = f == s->base->model ? dae_copy(s->bound.y, n, sizeof *given) : NULL;
    model_point at = {t, given, s->bound.yp, m->parameters, m->memory};
    bool known = given && guesses_recall(s, &at);
    bool ok = known || guess(s, t);
    if (given && ok && !known) guesses_remember(s, &at);
    dae_free(given);
    return ok ? DAE_OK : diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for start values.");
}
