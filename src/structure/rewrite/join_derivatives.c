#include "structure/index/equations.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Orders up to this are joined: graphs know 255, and each of the equations may have to be
 * differentiated as often again. */
enum { HIGHEST_JOINED = 127 };

/* Variable j is sign * the order-th derivative of variable `of`, which may be another's itself. */
typedef struct link {
    int of; /* -1: of none */
    int order, sign;
    int highest; /* of a variable that is none's derivative: highest order of anything below it */
} link;

typedef struct joining {
    equation_set *set;
    link *link;     /* per variable */
    bool *gone;     /* per row */
    int *number;    /* per variable: its new number */
    expr *residual; /* per row: rewritten */
    int joined;
} joining;

/* The end of j's chain; j is linked to it directly afterwards. Chains are followed in two passes,
 * as they may be long. */
static int root_of(joining *q, int j)
{
    link total = {.of = j, .sign = 1};
    while (q->link[total.of].of >= 0) {
        const link *l = &q->link[total.of];
        total = (link){.of = l->of, .order = total.order + l->order, .sign = total.sign * l->sign};
    }
    int root = total.of;
    while (q->link[j].of >= 0) {
        link old = q->link[j];
        q->link[j] = total;
        total.order -= old.order;
        total.sign *= old.sign;
        j = old.of;
    }
    return root;
}

/* Sides of +-a +- b = 0: a VARIABLE node each, `sign` +1 if the equation says a = b; false: it is
 * not of this form. */
static bool read_pair(const graph *g, expr e, const expr_node *side[2], int *sign)
{
    while (graph_node(g, e)->op == EXPR_NEG) e = graph_node(g, e)->a;
    const expr_node *n = graph_node(g, e);
    if (n->op != EXPR_ADD && n->op != EXPR_SUB) return false;
    *sign = n->op == EXPR_SUB ? 1 : -1;
    expr operand[2] = {n->a, n->b};
    for (int i = 0; i < 2; i++) {
        side[i] = graph_node(g, operand[i]);
        if (side[i]->op == EXPR_NEG) {
            side[i] = graph_node(g, side[i]->a);
            *sign = -*sign;
        }
        if (side[i]->op != EXPR_VARIABLE) return false;
    }
    return true;
}

/* v = sign * x^(order) joins v to x, unless v is a derivative already or x is one of v's. */
static bool join(joining *q, int v, int x, int order, int sign)
{
    if (q->link[v].of >= 0 || root_of(q, x) == v) return false;
    int root = root_of(q, x);
    link *l = &q->link[v], *top = &q->link[root];
    int before = q->link[x].of >= 0 ? q->link[x].order : 0;
    int highest = before + order + l->highest;
    if (highest > HIGHEST_JOINED) return false;
    if (highest > top->highest) top->highest = highest;
    l->of = x;
    l->order = order;
    l->sign = sign;
    return true;
}

static void try_row(joining *q, int i)
{
    const expr_node *side[2];
    int sign;
    if (!read_pair(q->set->graph, q->set->row[i].residual, side, &sign)) return;
    for (int a = 0; a < 2 && !q->gone[i]; a++) {
        const expr_node *v = side[a], *x = side[1 - a];
        if (v->order == 0 && x->order > 0) q->gone[i] = join(q, v->index, x->index, x->order, sign);
    }
    q->joined += q->gone[i];
}

/* Highest order of each variable anywhere. */
static void note_order(void *context, const expr_node *n)
{
    joining *q = context;
    if (n->op == EXPR_VARIABLE && q->link[n->index].highest < n->order)
        q->link[n->index].highest = n->order;
}

static bool note_orders(joining *q)
{
    expr *all = DAE_ARRAY(expr, q->set->m);
    bool ok = all != NULL;
    for (int i = 0; i < q->set->m && ok; i++) all[i] = q->set->row[i].residual;
    ok = ok && graph_leaves(q->set->graph, all, (size_t)q->set->m, note_order, q);
    dae_free(all);
    return ok;
}

/* ---- rewriting ------------------------------------------------------------------------------ */

static expr new_leaf(void *context, graph *g, expr leaf)
{
    joining *q = context;
    const expr_node *n = graph_node(g, leaf);
    if (n->op != EXPR_VARIABLE) return leaf;
    int root = root_of(q, n->index);
    if (root == n->index) return graph_variable(g, q->number[root], n->order);
    const link *l = &q->link[n->index];
    expr x = graph_variable(g, q->number[root], l->order + n->order);
    return l->sign < 0 ? graph_unary(g, EXPR_NEG, x) : x;
}

static bool rewrite_rows(joining *q)
{
    int next = 0;
    for (int j = 0; j < q->set->n; j++) q->number[j] = q->link[j].of < 0 ? next++ : -1;
    for (int i = 0; i < q->set->m; i++) {
        if (q->gone[i]) continue;
        q->residual[i] = graph_substitute(q->set->graph, q->set->row[i].residual, new_leaf, q);
        if (q->residual[i] == EXPR_NONE) return false;
    }
    return true;
}

static int compare_synonym(const void *a, const void *b)
{
    const equation_synonym *s = a, *t = b;
    if (s->variable != t->variable) return s->variable < t->variable ? -1 : 1;
    if (s->order != t->order) return s->order < t->order ? -1 : 1;
    return (s->model > t->model) - (s->model < t->model);
}

/* Old synonyms follow their variable; joined variables become new ones. */
static void list_synonyms(joining *q, equation_synonym *list)
{
    const equation_set *set = q->set;
    int count = 0;
    for (int k = 0; k < set->synonym_count; k++) {
        equation_synonym s = set->synonym[k];
        int root = root_of(q, s.variable);
        const link *l = &q->link[s.variable];
        if (root != s.variable) {
            s.order += l->order;
            s.sign *= l->sign;
        }
        s.variable = q->number[root];
        list[count++] = s;
    }
    for (int j = 0; j < set->n; j++) {
        if (q->number[j] >= 0) continue;
        int root = root_of(q, j);
        list[count++] = (equation_synonym){.variable = q->number[root],
                                           .order = q->link[j].order,
                                           .sign = q->link[j].sign,
                                           .model = set->model[j],
                                           .name = set->name[j]};
    }
    qsort(list, (size_t)count, sizeof *list, compare_synonym);
}

/* Close the gaps that joined rows and variables leave. */
static void shrink(joining *q, equation_synonym *synonym)
{
    equation_set *set = q->set;
    int rows = 0;
    for (int i = 0; i < set->m; i++) {
        if (q->gone[i]) continue;
        set->row[rows] = set->row[i];
        set->row[rows++].residual = q->residual[i];
    }
    for (int j = 0; j < set->n; j++) {
        int to = q->number[j];
        if (to < 0) continue;
        set->model[to] = set->model[j];
        set->name[to] = set->name[j];
        set->nominal[to] = set->nominal[j];
    }
    dae_free(set->synonym);
    set->synonym = synonym;
    set->synonym_count += q->joined;
    set->m = rows;
    set->n -= q->joined;
}

static bool find_joins(joining *q)
{
    for (int j = 0; j < q->set->n; j++) q->link[j] = (link){.of = -1, .sign = 1};
    if (!note_orders(q)) return false;
    for (int i = 0; i < q->set->m; i++) try_row(q, i);
    return true;
}

bool equation_set_join_derivatives(equation_set *set)
{
    joining q = {.set = set,
                 .link = DAE_ARRAY(link, set->n),
                 .gone = DAE_ARRAY(bool, set->m),
                 .number = DAE_ARRAY(int, set->n),
                 .residual = DAE_ARRAY(expr, set->m)};
    bool ok = q.link && q.gone && q.number && q.residual && find_joins(&q);
    if (ok && q.joined > 0) {
        equation_synonym *synonym = DAE_ARRAY(equation_synonym, set->synonym_count + q.joined);
        ok = synonym && rewrite_rows(&q);
        if (ok) {
            list_synonyms(&q, synonym);
            shrink(&q, synonym);
        } else
            dae_free(synonym);
    }
    dae_free_all(q.link, q.gone, q.number, q.residual);
    return ok;
}
