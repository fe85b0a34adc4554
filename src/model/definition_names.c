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

static void note_read(void *context, const expr_node *leaf)
{
    bool *read = context;
    if (leaf->op == EXPR_VARIABLE) read[leaf->index] = true;
}

/* read[v]: an equation of rows contains v, or a definition that it is made of does. */
static bool variables_of(const model_form *f, const bool *rows, bool *read)
{
    const flat_model *m = f->flat;
    bool *uses = DAE_ARRAY(bool, m->variable_count), ok = uses;
    for (size_t i = 0; ok && i < m->equation_count; i++)
        if (rows[i])
            ok = graph_leaves(m->graph, &m->equations[i].residual, 1, note_read, read) &&
                 model_definitions_of(f, (int)i, uses);
    for (size_t v = 0; ok && v < m->variable_count; v++)
        if (uses[v]) ok = graph_leaves(m->graph, &f->alias[v].value, 1, note_read, read);
    dae_free(uses);
    return ok;
}

/* Equations that have left the system, as edges between the two variables that they make one:
 * trees.
 */
typedef struct alias_trees {
    int (*ends)[2];      /* per equation */
    int *degree, *edges; /* per variable: how many meet there, and all their numbers xor-ed */
    int found;           /* ends of the edge that is being read */
    int *at;
} alias_trees;

static void note_end(void *context, const expr_node *leaf)
{
    alias_trees *a = context;
    if (leaf->op != EXPR_VARIABLE) return;
    if (a->found < 2) a->at[a->found] = leaf->index;
    a->found++;
}

/* Edge i begins or ends at its variables. */
static void toggle_edge(alias_trees *a, int i, int by)
{
    for (int k = 0; k < 2; k++) {
        a->degree[a->ends[i][k]] += by;
        a->edges[a->ends[i][k]] ^= i;
    }
}

static bool grow_trees(alias_trees *a, const model_form *f, bool *aliases)
{
    const flat_model *m = f->flat;
    for (size_t v = 0; v < m->variable_count; v++) {
        int i = f->alias[v].equation;
        if (i < 0 || f->alias[v].root == (int)v || aliases[i]) continue;
        a->found = 0;
        a->at = a->ends[i];
        if (!graph_leaves(m->graph, &m->equations[i].residual, 1, note_end, a)) return false;
        aliases[i] = a->found == 2;
        if (aliases[i]) toggle_edge(a, i, 1);
    }
    return true;
}

/* Leaves of the trees that nothing reads fall off, and what becomes a leaf by that. */
static void prune_trees(alias_trees *a, size_t n, const bool *read, bool *aliases)
{
    for (size_t v = 0; v < n; v++)
        for (int at = (int)v; a->degree[at] == 1 && !read[at];) {
            int i = a->edges[at];
            aliases[i] = false;
            toggle_edge(a, i, -1);
            at = a->ends[i][a->ends[i][0] == at];
        }
}

bool model_aliases_between(const model_form *f, const bool *rows, bool *aliases)
{
    size_t n = f->flat->variable_count;
    alias_trees a = {.ends = dae_calloc(f->flat->equation_count + 1, sizeof *a.ends),
                     .degree = DAE_ARRAY(int, n),
                     .edges = DAE_ARRAY(int, n)};
    bool *read = DAE_ARRAY(bool, n);
    bool ok = a.ends && a.degree && a.edges && read && variables_of(f, rows, read) &&
              grow_trees(&a, f, aliases);
    if (ok) prune_trees(&a, n, read, aliases);
    dae_free_all(a.ends, a.degree, a.edges, read);
    return ok;
}

int model_flat_equation(const model_form *f, int r)
{
    if (f->base) r = r >= 0 && r < f->rows ? f->formulated->set.row[r].source : -1;
    return r >= 0 && r < base_of(f)->rows ? base_of(f)->equation_source[r] : -1;
}
