#include "model/model_watch.h"

#include "base/memory.h"
#include "expr/walk.h"

/* moves[i]: node number i of the walk depends on time or on a variable */
static bool *find_moving(const graph *g, const walk *w)
{
    bool *moves = DAE_ARRAY(bool, w->count + 1);
    for (size_t i = 0; moves && i < w->count; i++) {
        const expr_node *n = graph_node(g, w->order[i]);
        expr operand[3] = {n->a, n->b, n->c};
        moves[i] = n->op == EXPR_TIME || n->op == EXPR_VARIABLE;
        for (int k = 0; k < graph_arity(n->op); k++)
            moves[i] = moves[i] || moves[walk_place(w, operand[k])];
    }
    return moves;
}

bool model_watches(graph *g, const expr *conditions, size_t count, expr **watches,
                   size_t *watch_count)
{
    walk w = {0};
    bool ok = walk_from(&w, g, conditions, count);
    bool *moves = ok ? find_moving(g, &w) : NULL;
    *watches = moves ? DAE_ARRAY(expr, w.count + 1) : NULL;
    *watch_count = 0;
    for (size_t i = 0; *watches && i < w.count; i++) {
        const expr_node n = *graph_node(g, w.order[i]);
        bool relation = n.op == EXPR_LT || n.op == EXPR_LE;
        bool kink = n.op == EXPR_MIN || n.op == EXPR_MAX || n.op == EXPR_ABS;
        if (!moves[i] || !(relation || kink)) continue;
        (*watches)[(*watch_count)++] = n.op == EXPR_ABS ? n.a : graph_binary(g, EXPR_SUB, n.a, n.b);
    }
    dae_free(moves);
    walk_free(&w);
    return *watches != NULL && !graph_failed(g);
}
