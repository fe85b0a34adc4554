/* What follows from the unknowns of a variant: variables of the base form that it sees through, and
 * their derivatives by its unknowns. */
#include "base/memory.h"
#include "expr/derive.h"
#include "model/model_build.h"

typedef struct follower_list {
    expr *e; /* values, then entries row by row; owned */
    size_t count, room;
} follower_list;

static bool add_output(follower_list *list, expr e)
{
    if (!dae_grow(&list->e, &list->room, list->count + 1, sizeof *list->e)) return false;
    list->e[list->count++] = e;
    return true;
}

/* Entries of the last follower, by unknowns and not by their slopes */
static bool add_entries(model_form *f, follower_list *list, const gradient *d)
{
    for (size_t k = 0; k < d->count; k++) {
        const expr_node *node = graph_node(f->flat->graph, d->leaf[k]);
        if (node->order > 0) continue;
        const size_t at = f->follower_entries++;
        if (!dae_grow(&f->follower_unknown, &f->follower_room, at + 1, sizeof(int))) return false;
        f->follower_unknown[at] = node->index;
        if (!add_output(list, d->derivative[k])) return false;
    }
    return true;
}

/* Rows of all that are no unknowns here */
static bool add_rows(model_form *f, follower_list *entries)
{
    gradient d = {0};
    bool ok = true;
    for (int k = 0; ok && k < f->seen_count; k++) {
        const int i = f->seen[k];
        if (f->value[i] == EXPR_NONE) continue;
        f->follower[f->follower_count++] = i;
        ok = derive_gradient(f->flat->graph, f->value[i], &d) && add_entries(f, entries, &d);
        f->follower_start[f->follower_count] = f->follower_entries;
    }
    gradient_free(&d);
    return ok;
}

bool build_followers(model_form *f, model_program *p)
{
    follower_list out = {0}, entries = {0};
    f->follower = DAE_ARRAY(int, f->seen_count);
    f->follower_start = DAE_ARRAY(size_t, (size_t)f->seen_count + 1);
    bool ok = f->follower && f->follower_start && add_rows(f, &entries);
    if (f->follower_entries == 0) f->follower_count = 0; /* functions of time alone */
    for (int k = 0; ok && k < f->follower_count; k++)
        ok = add_output(&out, f->value[f->follower[k]]);
    for (size_t k = 0; ok && k < entries.count; k++) ok = add_output(&out, entries.e[k]);
    const expr none = EXPR_NONE;
    ok = ok && build_program(f, p, out.e ? out.e : &none, out.count);
    dae_free_all(out.e, entries.e);
    return ok;
}

void model_instance_followers(model_instance *m, double t, const double *y, const double *yp,
                              double *out)
{
    model_instance_run(m, FOLLOWERS, t, y, yp, NULL, out);
}
