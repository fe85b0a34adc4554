#include "expr/tape_plan.h"

#include "base/memory.h"
#include "expr/intern.h"
#include "expr/walk.h"
#include "expr/walk_pool.h"

enum { LARGE = 1 << 16 }; /* nodes of a plan, from which on no walks are kept beside its program */

static bool has_index(const expr_node *n)
{
    return n->op == EXPR_SIGNAL || (n->op != EXPR_CONSTANT && n->arity <= 1);
}

/* Set node i from the i-th of the walk, whose operands are set. */
static void copy_node(plan *p, const graph *g, const walk *w, size_t i)
{
    const expr_node *from = graph_node(g, w->order[i]);
    const expr operand[3] = {from->a, from->b, from->c};
    plan_node *node = &p->nodes[i];
    *node = (plan_node){.op = from->op,
                        .order = from->order,
                        .operands = from->arity,
                        .fixed = from->op != EXPR_TIME && from->op != EXPR_VARIABLE &&
                                 from->op != EXPR_LIST, /* loops run with the rest */
                        .index = has_index(from) ? from->index : 0,
                        .pair = PLAN_NONE,
                        .value = from->op == EXPR_CONSTANT ? from->value : 0.0};
    if (from->op == EXPR_CELL) { /* a body's cells are its variables */
        node->op = EXPR_VARIABLE;
        node->fixed = false;
    }
    for (int k = 0; k < node->operands; k++) {
        node->operand[k] = (uint32_t)walk_place(w, operand[k]);
        plan_node *used = &p->nodes[node->operand[k]];
        node->fixed = node->fixed && used->fixed;
        used->uses++;
    }
}

/* Let sin x and cos x of one x know each other: both come from one call. */
static bool find_pairs(plan *p)
{
    size_t found = 0;
    for (size_t i = 0; i < p->count && found < 2; i++)
        found += p->nodes[i].op == EXPR_SIN || p->nodes[i].op == EXPR_COS;
    if (found < 2) return true;
    uint32_t *first = DAE_ARRAY(uint32_t, p->count); /* by operand: 1 + its sine or cosine */
    if (!first) return false;
    for (size_t i = 0; i < p->count; i++) {
        plan_node *node = &p->nodes[i];
        if (node->op != EXPR_SIN && node->op != EXPR_COS) continue;
        uint32_t *slot = &first[node->operand[0]];
        if (*slot) {
            node->pair = *slot - 1;
            p->nodes[node->pair].pair = (uint32_t)i;
        } else {
            *slot = (uint32_t)i + 1;
        }
    }
    dae_free(first);
    return true;
}

static bool copy_walk(plan *p, const graph *g, const walk *w, const expr *e)
{
    p->count = w->count;
    p->nodes = dae_alloc(w->count, sizeof *p->nodes);
    p->output = dae_alloc(p->outputs, sizeof *p->output);
    if (!p->nodes || !p->output) return false;
    for (size_t i = 0; i < w->count; i++) copy_node(p, g, w, i);
    for (size_t i = 0; i < p->outputs; i++) {
        p->output[i] = (uint32_t)walk_place(w, e[i]);
        p->nodes[p->output[i]].uses++;
    }
    return find_pairs(p);
}

bool plan_new(plan *p, const graph *g, const expr *e, size_t count)
{
    walk w = {0};
    *p = (plan){.outputs = count};
    bool ok = !graph_failed(g);
    for (size_t i = 0; i < count; i++) ok = ok && e[i] != EXPR_NONE;
    ok = ok && walk_from(&w, g, e, count) && copy_walk(p, g, &w, e);
    const bool large = w.count >= LARGE;
    walk_free(&w);
    if (large) walk_pool_empty(graph_walks(g));
    if (!ok) plan_free(p);
    return ok;
}

void plan_free(plan *p)
{
    dae_free_all(p->nodes, p->output);
    *p = (plan){0};
}
