#include "solve/prepare/released_rows.h"

#include "base/memory.h"
#include "expr/derive.h"

void released_watch_free(released_watch *w)
{
    if (!w) return;
    dae_free_all(w->rows, w->slots, w->value, w->y);
    if (w->code.tape) code_free(&w->code);
    dae_free(w);
}

bool released_watch_copy(const released_watch *of, released_watch **result)
{
    *result = NULL;
    if (!of) return true;
    released_watch *w = DAE_NEW(released_watch);
    if (!w) return false;
    size_t values = of->code.outputs;
    w->count = of->count;
    w->rows = dae_copy(of->rows, (size_t)of->count, sizeof *w->rows);
    w->slots = dae_copy(of->slots, values, sizeof *w->slots);
    w->value = DAE_ARRAY(double, values);
    if (w->rows && w->slots && w->value && code_share(&w->code, &of->code))
        *result = w;
    else
        released_watch_free(w);
    return *result;
}

/* Constraint i of the set as row of w, its expressions behind the `used` ones; false: memory, or no
 * more room */
static bool add_row(released_watch *w, const model_form *base, const equation_row *from,
                    bool released, gradient *d, expr *e, int *used, int room)
{
    graph *g = base->flat->graph;
    expr residual = base->residual.e[from->source];
    bool ok = derive_gradient(g, residual, d) && *used + 1 + (int)d->count <= room;
    if (ok) {
        w->rows[w->count++] =
            (released_row){*used, (int)d->count, released, from->name, from->line};
        e[(*used)++] = residual;
        for (size_t k = 0; k < d->count; k++) {
            const expr_node *leaf = graph_node(g, d->leaf[k]);
            w->slots[*used] = (released_slot){leaf->index, leaf->order};
            e[(*used)++] = d->derivative[k];
        }
    }
    return ok;
}

/* Whether equation i is a constraint that is kept. */
static bool is_kept(const analysed *a, int i)
{
    return a->structure.c[i] > 0 && a->set.row[i].times == 0;
}

static bool fill(released_watch *w, const model_form *base, const analysed *a, const bool *rows)
{
    int m = a->set.m, room = m + base->colptr[base->n], used = 0;
    gradient d = {0};
    expr *e = DAE_ARRAY(expr, room);
    w->rows = DAE_ARRAY(released_row, m);
    w->slots = DAE_ARRAY(released_slot, room);
    w->value = DAE_ARRAY(double, room);
    bool ok = e && w->rows && w->slots && w->value;
    for (int i = 0; ok && i < m; i++)
        if (a->set.row[i].source >= 0 && (rows[i] || is_kept(a, i)))
            ok = add_row(w, base, &a->set.row[i], rows[i], &d, e, &used, room);
    ok = ok && code_new(&w->code, base->flat->graph, e, (size_t)used);
    gradient_free(&d);
    dae_free(e);
    return ok;
}

bool released_watch_new(released_watch **result, const model_form *base, const analysed *a,
                        const bool *rows)
{
    released_watch *w = DAE_NEW(released_watch);
    bool ok = w && fill(w, base, a, rows);
    if (!ok) released_watch_free(w);
    *result = ok ? w : NULL;
    return ok;
}
