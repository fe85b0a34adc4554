/* The same model in other words: its text, renamed, in another order, in other units, or with
 * variables that stand for others. What it says is the same, and so should be its solution. */
#ifndef DAE_SOLVE_VERIFY_VERIFY_SPELLING_H
#define DAE_SOLVE_VERIFY_VERIFY_SPELLING_H

#include "modelica/syntax/parser.h"

typedef enum spelling_kind {
    SPELL_RENAMED,  /* variables have other names */
    SPELL_PERMUTED, /* declarations and equations in another order */
    SPELL_SCALED,   /* y is SPELL_FACTOR times another variable */
    SPELL_SPLIT     /* half of what reads y reads another variable that is equal to it */
} spelling_kind;

#define SPELL_FACTOR 1000.0
#define SPELL_SUFFIX "_other"

typedef struct spelling spelling;

/* Parse; *made NULL: it cannot be parsed, or changed by places. False: memory. */
bool spelling_new(const char *text, size_t length, spelling **made);
void spelling_free(spelling *x); /* NULL is fine */
/* The text in other words, which belongs to x until the next call; *text NULL: there is nothing to
 * change. False: memory. */
bool spelling_make(spelling *x, spelling_kind kind, const char **text, size_t *length);
/* Whether the last text has another name, with SPELL_SUFFIX, for a component: the variable's name
 * begins with this. */
bool spelling_changed(const spelling *x, const char *component);

#endif
