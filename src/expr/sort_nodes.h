/* Nodes in increasing order. */
#ifndef DAE_EXPR_SORT_NODES_H
#define DAE_EXPR_SORT_NODES_H

#include "expr/graph.h"

#include <stdlib.h>

static inline int sort_nodes_compare(const void *x, const void *y)
{
    expr a = *(const expr *)x, b = *(const expr *)y;
    return (a > b) - (a < b);
}

/* Short lists, which are nearly all, by insertion: a call of qsort costs more than they do. */
static inline void sort_nodes(expr *e, size_t count)
{
    enum { SHORT = 24 };
    if (count > SHORT) {
        qsort(e, count, sizeof *e, sort_nodes_compare);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        expr moved = e[i];
        size_t k = i;
        for (; k > 0 && e[k - 1] > moved; k--) e[k] = e[k - 1];
        e[k] = moved;
    }
}

#endif
