/* Messages of the front end: all errors of a file in one run, each with its place and line. */
#ifndef DAE_MODELICA_SYNTAX_MESSAGE_H
#define DAE_MODELICA_SYNTAX_MESSAGE_H

#include "modelica/syntax/ast.h"

typedef struct message_list message_list;

/* The list borrows the source text for the carets. At most `limit` errors are kept (0: 50). */
message_list *message_list_new(const char *file, const char *text, size_t length, int limit);
void message_list_free(message_list *m);

/* A note belongs to the message before it: "declared here". */
typedef enum message_kind { MESSAGE_ERROR, MESSAGE_WARNING, MESSAGE_NOTE } message_kind;
void message_add(message_list *m, message_kind kind, source_place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define message_error(m, ...) message_add(m, MESSAGE_ERROR, __VA_ARGS__)
#define message_warning(m, ...) message_add(m, MESSAGE_WARNING, __VA_ARGS__)
#define message_note(m, ...) message_add(m, MESSAGE_NOTE, __VA_ARGS__)

/* What comes from now on stands before all that has come without a rank, and behind what this was
 * called for earlier: a cause before its consequences, wherever they are. */
void message_rank(message_list *m);

/* Whether the source text contains these letters. */
bool message_source_has(const message_list *m, const char *letters);

int message_errors(const message_list *m);
int message_warnings(const message_list *m);
bool message_full(const message_list *m); /* the limit was reached: stop looking for more */
bool message_memory_failed(const message_list *m);

/* All messages, sorted by place, as "file:line:column: error: text", the line and a caret. Owned by
 * the list. */
const char *message_text(message_list *m);
/* The first error alone, without the source line, and its line number. */
const char *message_first(const message_list *m, int *line);

/* The nearest of `count` candidates to a misspelt name (edit distance), or NULL if none is near. */
const char *nearest_name(const char *name, const char *const *candidates, size_t count);

#endif
