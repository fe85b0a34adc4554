/* What follows from the unknowns of a form: variables of the user that leave the model as
 * definitions, and those that a variant sees through, with their derivatives by its unknowns. */
#include "base/memory.h"
#include "expr/derive.h"
#include "model/model_build.h"

typedef struct output_list {
    expr *e; /* owned */
    size_t count, room;
} output_list;

static bool add_output(output_list *list, expr e)
{
    if (!dae_grow(&list->e, &list->room, list->count + 1, sizeof *list->e)) return false;
    list->e[list->count++] = e;
    return true;
}

/* Marks definitions, and what has no place among the unknowns; NULL: memory. What nothing else
 * needs, an output, is told at the end of a run if it magnifies errors. */
static bool *marked(const model_form *f, bool *any)
{
    const model_form *base = f->base ? f->base : f;
    bool *follows = DAE_ARRAY(bool, base->flat->variable_count);
    for (int k = 0; follows && k < base->definition_count; k++)
        *any = follows[base->evaluated[k]] = true;
    for (int i = 0; follows && f->base && i < base->n; i++)
        if (f->value[i] != EXPR_NONE && base->unknown_order[i] == 0)
            *any = follows[base->unknown_variable[i]] = true;
    return follows;
}

/* Derivatives of a follower by unknowns, and not by their slopes */
static bool add_entries(model_form *f, output_list *entries, const gradient *d)
{
    for (size_t k = 0; k < d->count; k++) {
        const expr_node *node = graph_node(f->flat->graph, d->leaf[k]);
        if (node->order > 0) continue;
        const size_t at = entries->count;
        if (!dae_grow(&f->follower_unknown, &f->follower_room, at + 1, sizeof(int)) ||
            !add_output(entries, d->derivative[k]))
            return false;
        f->follower_unknown[at] = node->index;
    }
    return true;
}

/* Values of what follows, then their derivatives */
static bool list_followers(model_form *f, const bool *follows, output_list *values)
{
    output_list entries = {0};
    gradient d = {0};
    bool ok = true;
    for (int k = 0; ok && k < f->visible_count; k++) {
        const size_t before = entries.count;
        if (!follows[f->visible[k]]) continue;
        ok = derive_gradient(f->flat->graph, f->output.e[k], &d) && add_entries(f, &entries, &d);
        if (entries.count == before) continue; /* a function of time, say */
        ok = ok && add_output(values, f->output.e[k]);
        f->follower[f->follower_count++] = f->visible[k];
        f->follower_start[f->follower_count] = entries.count;
    }
    gradient_free(&d);
    for (size_t k = 0; ok && k < entries.count; k++) ok = add_output(values, entries.e[k]);
    dae_free(entries.e);
    return ok;
}

static bool find_followers(model_form *f, output_list *values)
{
    bool any = false, *follows = marked(f, &any);
    bool ok = follows;
    if (any) {
        f->follower = DAE_ARRAY(int, f->visible_count);
        f->follower_start = DAE_ARRAY(size_t, (size_t)f->visible_count + 1);
        ok = f->follower && f->follower_start && list_followers(f, follows, values);
    }
    dae_free(follows);
    return ok;
}

bool build_followers(model_form *f, int others)
{
    const expr none = EXPR_NONE;
    output_list values = {0};
    bool ok = find_followers(f, &values);
    if (ok && f->follower_count + others > 0) {
        f->more = DAE_ARRAY(model_program, 1 + others);
        f->more_count = f->more ? 1 + others : 0;
        ok = f->more && build_program(f, &f->more[0], values.e ? values.e : &none, values.count);
    }
    dae_free(values.e);
    return ok;
}
