/* Between the files of loops. */
#ifndef DAE_EXPR_LOOP_PARTS_H
#define DAE_EXPR_LOOP_PARTS_H

#include "expr/intern.h"
#include "expr/loop.h"

/* EXPR_NONE if one of the list is; else any other. */
expr loop_fail_if_none(graph *g, const expr *list, size_t count);
/* The LOOP with that body; body < 0: EXPR_NONE. */
expr loop_node(graph *g, int body, const expr *start, size_t count);
/* condition, next[0], .. in one list; NULL: out of memory */
expr *loop_roots(expr condition, const expr *next, size_t count);
/* The outputs of one pass: e[0] the condition, then the new values of the cells that change, whose
 * numbers go into `cell`. Returns how many change; e has room for all cells and one more. */
size_t loop_outputs(const graph *g, int body, expr *e, uint32_t *cell);

#endif
