/* Messages of the front end: all errors of a file in one run, each with its place and line. */
#ifndef DAE_MODELICA_SYNTAX_MESSAGE_H
#define DAE_MODELICA_SYNTAX_MESSAGE_H

#include "modelica/syntax/ast.h"

typedef struct message_list message_list;

/* The list borrows the source text for the carets. At most `limit` errors are kept (0: 50). */
message_list *message_list_new(const char *file, const char *text, size_t length, int limit);
void message_list_free(message_list *m);

void message_error(message_list *m, source_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void message_warning(message_list *m, source_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A note belongs to the message before it: "declared here". */
void message_note(message_list *m, source_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What comes from now on stands before all that has come without a rank, and behind what this was
 * called for earlier: a cause before its consequences, wherever they are. */
void message_rank(message_list *m);

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
