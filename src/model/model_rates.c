/* Velocities whose positions are tied: v1 = -v2 beside x1 + x2 = 3 with der(x1) = v1, der(x2) = v2.
 * Such an equation is a constraint that may follow from the other one, or contradict it, and must
 * not leave the system as an alias: then der(x2) would be left with the wrong velocity. */
#include <stdlib.h>

#include "base/memory.h"
#include "model/model_build.h"

/* Variables of an equation, as long as there are not more than two of order 0 and none above. */
typedef struct pair_scan {
    const flat_model *m;
    int variable[2], count;
    bool other;
} pair_scan;

static void note_leaf(void *context, const expr_node *n)
{
    pair_scan *scan = context;
    if (n->op != EXPR_VARIABLE) return;
    bool plain = n->order == 0 && !scan->m->variables[n->index].discrete;
    for (int k = 0; k < scan->count; k++)
        if (scan->variable[k] == n->index && plain) return;
    if (!plain || scan->count == 2)
        scan->other = true;
    else
        scan->variable[scan->count++] = n->index;
}

/* der(x) = v or der(x) = -v: *x and *v */
static bool is_rate(const flat_model *m, expr e, int *x, int *v)
{
    const expr_node *n = graph_node(m->graph, e);
    if (n->op != EXPR_SUB && n->op != EXPR_ADD) return false;
    const expr_node *a = graph_node(m->graph, n->a), *b = graph_node(m->graph, n->b);
    if (a->op != EXPR_VARIABLE || b->op != EXPR_VARIABLE || a->order + b->order != 1) return false;
    *x = a->order == 1 ? a->index : b->index;
    *v = a->order == 1 ? b->index : a->index;
    return true;
}

static int compare_pairs(const void *a, const void *b)
{
    const int *p = a, *q = b;
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

void rate_ties_free(rate_ties *t)
{
    dae_free_all(t->position, t->pair);
    *t = (rate_ties){0};
}

bool rate_ties_new(rate_ties *t, const flat_model *m)
{
    int x, v, rates = 0;
    *t = (rate_ties){.position = DAE_ARRAY(int, m->variable_count),
                     .pair = DAE_ARRAY(int, 2 * m->equation_count)};
    bool ok = t->position && t->pair;
    for (size_t i = 0; ok && i < m->variable_count; i++) t->position[i] = -1;
    for (size_t i = 0; ok && i < m->equation_count; i++) {
        if (!is_rate(m, m->equations[i].residual, &x, &v)) continue;
        t->position[v] = x;
        rates++;
    }
    for (size_t i = 0; ok && rates > 1 && i < m->equation_count; i++) {
        pair_scan scan = {.m = m};
        ok = graph_leaves(m->graph, &m->equations[i].residual, 1, note_leaf, &scan);
        if (!ok || scan.other || scan.count < 2) continue;
        bool ordered = scan.variable[0] < scan.variable[1];
        t->pair[2 * t->count] = scan.variable[!ordered];
        t->pair[2 * t->count++ + 1] = scan.variable[ordered];
    }
    if (ok && t->count > 0) qsort(t->pair, (size_t)t->count, 2 * sizeof *t->pair, compare_pairs);
    if (!ok) rate_ties_free(t);
    return ok;
}

bool rate_ties_tied(const rate_ties *t, int v1, int v2)
{
    int x1 = t->position[v1], x2 = t->position[v2];
    if (x1 < 0 || x2 < 0 || t->count == 0) return false;
    const int key[2] = {x1 < x2 ? x1 : x2, x1 < x2 ? x2 : x1};
    return bsearch(key, t->pair, (size_t)t->count, sizeof key, compare_pairs);
}
