/* Gradients of expressions that have the shape of an earlier one: the same operations on other
 * leaves have the same derivatives, operation by operation, of those leaves. Rows of a discretised
 * equation are differentiated once. */
#ifndef DAE_EXPR_GRADIENT_LIKE_H
#define DAE_EXPR_GRADIENT_LIKE_H

#include "expr/derive.h"
#include "expr/walk.h"

typedef struct gradient_likes gradient_likes;

gradient_likes *likes_new(void); /* NULL: memory */
void likes_free(gradient_likes *l);

/* The gradient of the root of a walk by an earlier one of its shape. out has room for all nodes of
 * the walk. Returns false if there is none. graph_failed(g): memory. */
bool likes_find(gradient_likes *l, graph *g, const walk *w, gradient *out);
/* Keep the gradient of the root of the walk that likes_find did not find, if its shape has come
 * before. Lack of memory keeps nothing. */
void likes_keep(gradient_likes *l, const graph *g, const walk *w, const gradient *of);

#endif
