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

/* The type that an expression must have where it stands in a text. */
typedef enum print_type { PRINT_ANY, PRINT_NUMBER, PRINT_INTEGER, PRINT_TRUTH } print_type;

/* The same as a text that a translator reads back: 0 and 1 are false and true where a Boolean is
 * wanted, what jumps without an event stands in noEvent(..) unless `quiet` (the place makes no
 * events), floor is integer where an Integer is. is_truth: whether a leaf is a Boolean. */
typedef struct print_style {
    print_name name;
    bool (*is_truth)(void *context, const expr_node *leaf);
    void *context;
    print_type type;
    bool quiet;
} print_style;
size_t expr_print_typed(const graph *g, expr e, const print_style *style, char *buffer,
                        size_t size);

/* The fewest digits that read back as the same number, with a point in every locale; integer: of an
 * Integer, without an exponent. */
void expr_print_number(double value, bool integer, char text[32]);

#endif
