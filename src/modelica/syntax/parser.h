/* Text to syntax tree. */
#ifndef DAE_MODELICA_SYNTAX_PARSER_H
#define DAE_MODELICA_SYNTAX_PARSER_H

#include "base/arena.h"
#include "modelica/syntax/ast.h"
#include "modelica/syntax/message.h"

enum { PARSER_DEPTH = 256 };

/* Parse a whole file. Returns NULL only when memory is exhausted; with errors in `messages` the
 * tree is incomplete but sound, so that the checker can go on and find more. Nesting is limited
 * (PARSER_DEPTH levels), so that no input exhausts the stack. The text may hold any bytes. */
ast_file *parse_file(arena *a, const char *text, size_t length, message_list *messages);

/* One class from a text of ours; its places are {0, 0}. NULL: memory, or an error in `messages`. */
ast_class *parse_class_text(arena *a, const char *text, message_list *messages);

#endif
