#include "model/kept_forms.h"

#include "base/memory.h"

#include <string.h>

/* Solvers of one problem seldom alternate between more starts than this. */
enum { KEPT = 4 };

struct kept_list {
    kept_form *entry[KEPT];
    int next; /* the place that is given away next */
};

/* t, y, y', parameters and memory in a row; returns how many, and writes them if key is not NULL */
static size_t write_key(const model_form *base, const model_point *at, double *key)
{
    const double *part[5] = {&at->t, at->y, at->yp, at->parameters, at->memory};
    size_t n = (size_t)base->n, total = 0;
    size_t count[5] = {1, n, n, base->flat->parameter_count, (size_t)base->flat->memory_count};
    for (int k = 0; k < 5; k++) {
        if (key && count[k] > 0) memcpy(key + total, part[k], count[k] * sizeof *key);
        total += count[k];
    }
    return total;
}

/* Whether the key is that of this point, bit by bit */
static bool same_point(const model_form *base, const model_point *at, const double *key)
{
    const double *part[5] = {&at->t, at->y, at->yp, at->parameters, at->memory};
    size_t n = (size_t)base->n;
    size_t count[5] = {1, n, n, base->flat->parameter_count, (size_t)base->flat->memory_count};
    for (int k = 0; k < 5; k++) {
        if (count[k] > 0 && memcmp(key, part[k], count[k] * sizeof *key) != 0) return false;
        key += count[k];
    }
    return true;
}

kept_form *kept_form_find(const model_form *base, unsigned forms, const model_point *at)
{
    for (int k = 0; base->kept && k < KEPT; k++) {
        kept_form *kept = base->kept->entry[k];
        if (!kept || kept->forms != forms || !same_point(base, at, kept->key)) continue;
        kept->users++;
        return kept;
    }
    return NULL;
}

static void discard(kept_form *kept)
{
    if (!kept || --kept->users > 0) return;
    model_form_free(kept->form);
    rewrite_list_free(&kept->rewrites);
    dae_free_all(kept->key, kept);
}

kept_form *kept_form_add(model_form *base, unsigned forms, const model_point *at, model_form *form,
                         rewrite_list *rewrites, int index)
{
    kept_form *kept = DAE_NEW(kept_form);
    if (kept) kept->key = DAE_ARRAY(double, write_key(base, at, NULL));
    if (!base->kept) base->kept = DAE_NEW(struct kept_list);
    if (!kept || !kept->key || !base->kept) {
        if (kept) dae_free(kept->key);
        dae_free(kept);
        return NULL;
    }
    kept->form = form;
    kept->rewrites = *rewrites;
    *rewrites = (rewrite_list){0};
    kept->index = index;
    kept->forms = forms;
    kept->users = 2;
    write_key(base, at, kept->key);
    discard(base->kept->entry[base->kept->next]);
    base->kept->entry[base->kept->next] = kept;
    base->kept->next = (base->kept->next + 1) % KEPT;
    return kept;
}

void kept_form_release(kept_form *kept)
{
    if (!kept) return;
    graph *g = kept->form->flat->graph;
    graph_enter(g);
    discard(kept);
    graph_leave(g);
}

void kept_forms_free(struct kept_list *list)
{
    for (int k = 0; list && k < KEPT; k++) discard(list->entry[k]);
    dae_free(list);
}
