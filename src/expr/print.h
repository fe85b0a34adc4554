/* Expressions as readable text, in Modelica's notation with the fewest parentheses. */
#ifndef DAE_EXPR_PRINT_H
#define DAE_EXPR_PRINT_H

#include "expr/graph.h"

/* Names of leaves: writes into buffer; "der(x)" for order 1 and so on is added by the printer. */
typedef const char *(*print_name)(void *context, const expr_node *leaf);

/* Text of e into buffer of `size` bytes, always terminated, cut with ".." where it does not fit;
 * never exponential in shared nodes. Returns the length of the full text or size if cut. */
size_t expr_print(const graph *g, expr e, print_name name, void *context, char *buffer,
                  size_t size);

#endif
