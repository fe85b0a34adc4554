/* What has been found out about expressions: lists of nodes that belong to one, kept so that the
 * next one who asks need not walk over it again. Equal expressions are one node, and a node never
 * changes, so that a list stays right as long as the graph lives. A graph has one memo; whoever
 * uses it holds the lock of the graph. */
#ifndef DAE_EXPR_MEMO_H
#define DAE_EXPR_MEMO_H

#include "expr/graph.h"

typedef enum memo_kind {
    MEMO_LEAVES,  /* distinct leaves, increasing */
    MEMO_GRADIENT /* VARIABLE leaves, increasing, then as many derivatives */
} memo_kind;

typedef struct memo memo;

memo *memo_new(void); /* NULL: out of memory */
void memo_free(memo *m);
/* Nothing is kept any more. */
void memo_empty(memo *m);

/* The list, which stays where it is until memo_empty(), and its length; NULL: none is kept. */
const expr *memo_find(const memo *m, memo_kind kind, expr e, size_t *count);
/* *items: room for a list that is to be kept, which the caller fills; NULL: it is not kept, because
 * all lists together would have more than `most` items. False: memory. */
bool memo_add(memo *m, memo_kind kind, expr e, size_t count, size_t most, expr **items);

#endif
