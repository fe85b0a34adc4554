/* Derivatives of what jumps at an event.
 *
 * Where a variable jumps whose derivative the equations read, as y = if time < 1 then 0 else 1 in
 * x = der(y), the derivative is an impulse, and what integrates it jumps. The solution goes on
 * with the derivatives on both sides of the event, without the impulse: that is said once. A jump
 * that reinit makes is meant. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* A jump of so many tolerances is not an error of the solver. */
static const double JUMP = 100.0;
enum { MOST_LEAVES = 32, MOST_NAMED = 4 };

double *impulse_before(const dae_solver *s)
{
    return is_formulated(s) && !s->hybrid->impulse_told ? user_values(s) : NULL;
}

/* Variables of one equation, the first MOST_LEAVES of them. */
typedef struct equation_leaves {
    const model_form *f;
    int variable[MOST_LEAVES];
    bool slope[MOST_LEAVES];
    int count;
} equation_leaves;

static void note_leaf(void *context, const expr_node *node)
{
    equation_leaves *q = context;
    if (node->op != EXPR_VARIABLE || q->count == MOST_LEAVES) return;
    q->variable[q->count] = q->f->alias[node->index].top;
    q->slope[q->count++] = node->order > 0;
}

static equation_leaves leaves_of(const model_form *f, size_t k)
{
    equation_leaves q = {.f = f};
    graph_enter(f->flat->graph);
    graph_leaves(f->flat->graph, &f->flat->equations[k].residual, 1, note_leaf, &q);
    graph_leave(f->flat->graph);
    return q;
}

static bool contains(const int *list, int count, int v)
{
    for (int k = 0; k < count; k++)
        if (list[k] == v) return true;
    return false;
}

/* The equation that reads the derivative of flat variable v; equation_count: none does. */
static size_t reader_of(const model_form *f, int v)
{
    for (size_t k = 0; k < f->flat->equation_count; k++) {
        const equation_leaves q = leaves_of(f, k);
        for (int i = 0; i < q.count; i++)
            if (q.slope[i] && q.variable[i] == v) return k;
    }
    return f->flat->equation_count;
}

/* What the equation of the derivative of v gives, and what integrates that: list[0 .. count). */
static int list_affected(const model_form *f, int v, size_t reader, int *list)
{
    const equation_leaves first = leaves_of(f, reader);
    int count = 0;
    for (int i = 0; i < first.count && count < MOST_NAMED; i++)
        if (first.variable[i] != v && !contains(list, count, first.variable[i]))
            list[count++] = first.variable[i];
    const int direct = count;
    for (size_t k = 0; k < f->flat->equation_count && direct > 0; k++) {
        const equation_leaves q = leaves_of(f, k);
        bool reads = false;
        for (int i = 0; i < q.count; i++)
            reads = reads || (!q.slope[i] && contains(list, direct, q.variable[i]));
        for (int i = 0; reads && i < q.count && count < 2 * MOST_NAMED; i++)
            if (q.slope[i] && q.variable[i] != v && !contains(list, count, q.variable[i]))
                list[count++] = q.variable[i];
    }
    return count;
}

static void tell(dae_solver *s, double t, int unknown, double before, double after)
{
    const model_form *f = s->base->model;
    const int v = f->unknown_variable[unknown];
    const size_t reader = reader_of(f, v);
    int list[2 * MOST_NAMED], length;
    if (reader == f->flat->equation_count) return;
    s->hybrid->impulse_told = true;
    char text[600];
    length = snprintf(text, sizeof text,
                      "note: %.100s:%d: %.60s jumps from %.6g to %.6g at t = %.9g, and this "
                      "equation reads its derivative, which is an impulse there. The impulse is "
                      "left out",
                      model_file(s), f->flat->equations[reader].place.line,
                      f->flat->variables[v].name, before, after, t);
    const int count = list_affected(f, v, reader, list);
    for (int k = 0; k < count && length < (int)sizeof text - 80; k++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%.30s",
                           k ? ", " : ", and missing from ", f->flat->variables[list[k]].name);
    snprintf(text + length, sizeof text - (size_t)length, ".");
    solver_note(s, text);
}

void impulse_after(dae_solver *s, double t, double *before)
{
    const int n = s->base->form.n;
    const dae_options *o = &s->bound.options;
    if (!before) return;
    double *after = s->hybrid->thrown == t || !is_formulated(s) ? NULL : user_values(s);
    for (int i = 0; after && i < n && !s->hybrid->impulse_told; i++) {
        double size = fmax(fabs(before[i]), fabs(after[i])), jump = fabs(after[i] - before[i]);
        bool read = s->base->model->differential[i] && s->base->model->unknown_order[i] == 0;
        if (read && jump > JUMP * (o->rtol * size + o->atol)) tell(s, t, i, before[i], after[i]);
    }
    dae_free_all(before, after);
}
