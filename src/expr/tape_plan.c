#include "expr/tape_plan.h"

#include "base/memory.h"

#include <string.h>

/* One node on the way down, and how many of its operands have been visited. */
typedef struct visit {
    expr e;
    int next;
} visit;

/* What plan_new works with. */
typedef struct builder {
    const graph *graph;
    plan *plan;
    size_t capacity;    /* of plan->nodes */
    uint32_t *position; /* by graph node: 1 + its place in the plan, 0 while it has none */
    visit *stack;
    size_t depth, stack_capacity;
} builder;

bool plan_reserve(void **block, size_t *capacity, size_t used, size_t size)
{
    if (used < *capacity) return true;
    size_t more = *capacity ? 2 * *capacity : 64;
    void *grown = dae_calloc(more, size);
    if (!grown) return false;
    if (used > 0) memcpy(grown, *block, used * size);
    dae_free(*block);
    *block = grown;
    *capacity = more;
    return true;
}

static expr operand_of(const expr_node *node, int k)
{
    return k == 0 ? node->a : k == 1 ? node->b : node->c;
}

/* Append graph node e, whose operands all have their places. */
static bool append(builder *b, expr e)
{
    plan *p = b->plan;
    const expr_node *from = graph_node(b->graph, e);
    if (!plan_reserve((void **)&p->nodes, &b->capacity, p->count, sizeof *p->nodes)) return false;
    plan_node *node = &p->nodes[p->count];
    *node = (plan_node){.op = from->op,
                        .order = from->order,
                        .operands = (uint8_t)graph_arity((expr_op)from->op),
                        .index = from->index,
                        .pair = PLAN_NONE,
                        .value = from->value};
    node->fixed = from->op != EXPR_TIME && from->op != EXPR_VARIABLE;
    for (int k = 0; k < node->operands; k++) {
        uint32_t at = b->position[operand_of(from, k)] - 1;
        node->operand[k] = at;
        node->fixed = node->fixed && p->nodes[at].fixed;
        p->nodes[at].uses++;
    }
    b->position[e] = (uint32_t)++p->count;
    return true;
}

static bool push(builder *b, expr e)
{
    if (!plan_reserve((void **)&b->stack, &b->stack_capacity, b->depth, sizeof *b->stack))
        return false;
    b->stack[b->depth++] = (visit){e, 0};
    return true;
}

/* Give places to e and all it needs, operands first. */
static bool descend(builder *b, expr e)
{
    if (b->position[e]) return true;
    if (!push(b, e)) return false;
    while (b->depth > 0) {
        visit *top = &b->stack[b->depth - 1];
        const expr_node *node = graph_node(b->graph, top->e);
        if (top->next < graph_arity((expr_op)node->op)) {
            expr operand = operand_of(node, top->next++);
            if (!b->position[operand] && !push(b, operand)) return false;
        } else {
            if (!append(b, top->e)) return false;
            b->depth--;
        }
    }
    return true;
}

/* Let sin x and cos x of one x know each other: both come from one call. */
static bool find_pairs(plan *p)
{
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

static bool visit_outputs(builder *b, const expr *e, size_t count)
{
    plan *p = b->plan;
    for (size_t i = 0; i < count; i++) {
        if (e[i] == EXPR_NONE || !descend(b, e[i])) return false;
        p->output[i] = b->position[e[i]] - 1;
        p->nodes[p->output[i]].uses++;
    }
    return find_pairs(p);
}

bool plan_new(plan *p, const graph *g, const expr *e, size_t count)
{
    *p = (plan){.outputs = count};
    builder b = {.graph = g, .plan = p};
    p->output = DAE_ARRAY(uint32_t, count);
    b.position = DAE_ARRAY(uint32_t, graph_size(g));
    bool ok = p->output && b.position && !graph_failed(g) && visit_outputs(&b, e, count);
    dae_free(b.position);
    dae_free(b.stack);
    if (!ok) plan_free(p);
    return ok;
}

void plan_free(plan *p)
{
    dae_free(p->nodes);
    dae_free(p->output);
    *p = (plan){0};
}
