/* Texts of messages, written piece by piece. What does not fit is cut; what a terminal must not see
 * is made harmless (printable.h). */
#ifndef DAE_BASE_TEXT_H
#define DAE_BASE_TEXT_H

#include "daedal.h"

/* Append formatted text to `text`, an array of `size` characters. */
void text_add(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a text with its size */
typedef struct text_writer {
    char *text; /* borrowed */
    size_t size;
} text_writer;

void text_put(const text_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Names are made by the thousand, most of them for nobody: pieces are copied, not formatted. Append
 * at most `most` characters of `more` behind the first `at` of `text`; returns how many it has
 * then. */
size_t text_append(char *text, size_t size, size_t at, const char *more, size_t most);
/* The same for a number. */
size_t text_append_number(char *text, size_t size, size_t at, size_t number);
/* The same for the line of an equation behind its file, and the pass of a loop that it comes from,
 * or NULL: ":12, i = 3)". */
size_t text_append_place(char *text, size_t size, size_t at, int line, const char *pass);

/* End a text of `length` characters with ".." within `size` bytes, not inside a UTF-8 character. */
void text_cut(char *text, size_t length, size_t size);

/* A list in a message: "a, b and 3 more" */
typedef struct text_list {
    char *text; /* borrowed: the items are appended here; NULL: they are counted only */
    size_t size;
    int most;  /* items that are written at the most */
    int total; /* if it is known: the last item then comes after " and " */
    int count; /* items so far, written or not */
} text_list;

text_list text_list_in(dae_diag *diag, int most); /* diag may be NULL */

/* One more item, with ", " before all but the first. */
void text_list_add(text_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Go on with the item that was added last, if it was written. */
void text_list_more(const text_list *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* " and 3 more", if items were not written. */
void text_list_end(const text_list *list);

#endif
