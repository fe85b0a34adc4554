/* Between graph.c, which stores nodes, and simplify.c, which decides which ones to store. */
#ifndef DAE_EXPR_INTERN_H
#define DAE_EXPR_INTERN_H

#include "expr/graph.h"

/* The node equal to *n (but for `finite`, which is found here), new or old; no simplification. */
expr graph_intern(graph *g, const expr_node *n);

#endif
