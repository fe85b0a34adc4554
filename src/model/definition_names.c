#include "model/definition_names.h"

#include "base/memory.h"
#include "expr/walk.h"
#include "model/model_build.h"

static const model_form *base_of(const model_form *f)
{
    return f->base ? f->base : f;
}

/* What definition v is over the unknowns of f; EXPR_NONE: a variant does not show it. */
static expr expression_in(const model_form *f, int v)
{
    if (!f->base) return f->alias[v].mapped;
    for (int k = 0; k < f->visible_count; k++)
        if (f->visible[k] == v) return f->output.e[k];
    return EXPR_NONE;
}

static bool contains(walk *w, const graph *g, expr whole, expr part)
{
    if (whole == EXPR_NONE || !walk_from(w, g, &whole, 1)) return false;
    for (size_t k = 0; k < w->count; k++)
        if (w->order[k] == part) return true;
    return false;
}

int model_definition_with(const model_form *f, expr e)
{
    if (f->starts) f = f->starts;
    const model_form *base = base_of(f);
    walk w = {0};
    int found = -1;
    for (int k = 0; k < base->definition_count && found < 0; k++)
        if (contains(&w, f->flat->graph, expression_in(f, base->evaluated[k]), e))
            found = base->evaluated[k];
    walk_free(&w);
    return found;
}

typedef struct definition_scan {
    const model_form *f;
    bool *uses;
} definition_scan;

static void note_use(void *context, const expr_node *leaf)
{
    definition_scan *s = context;
    int order, root = build_root_of_leaf(s->f, leaf, &order);
    if (root >= 0 && s->f->alias[root].used) s->uses[root] = true;
}

bool model_definitions_of(const model_form *f, int at, bool *uses)
{
    const flat_model *m = f->flat;
    const model_form *base = base_of(f);
    definition_scan s = {f, uses};
    bool ok = graph_leaves(m->graph, &m->equations[at].residual, 1, note_use, &s);
    for (int k = base->definition_count; ok && k-- > 0;) { /* users before what they use */
        int v = base->evaluated[k];
        if (uses[v]) ok = graph_leaves(m->graph, &f->alias[v].value, 1, note_use, &s);
    }
    return ok;
}

int model_flat_equation(const model_form *f, int r)
{
    if (f->base) r = r >= 0 && r < f->rows ? f->formulated->set.row[r].source : -1;
    return r >= 0 && r < base_of(f)->rows ? base_of(f)->equation_source[r] : -1;
}
