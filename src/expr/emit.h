/* C text for expressions: readable, self-contained functions. */
#ifndef DAE_EXPR_EMIT_H
#define DAE_EXPR_EMIT_H

#include "expr/print.h"

/* One function to emit: void name(double time, const double *y, const double *yp, const double
 * *ypp, const double *p, const double *m, double *out) with out[i] = e[i]. */
typedef struct emit_function {
    const char *name;
    const char *comment; /* above the function; may be NULL */
    const expr *e;
    size_t count;
    const char *const *labels; /* comment per output, or NULL */
} emit_function;

/* Growable text; zero-initialise. */
typedef struct emit_text {
    char *text; /* terminated; owned */
    size_t length, capacity;
    size_t line;      /* where the last line begins */
    bool in_files;    /* asked for by the caller: form feeds where another file may begin */
    bool failed;      /* memory ran out */
    bool unsupported; /* a variable of order 3 or more was met: functions have no argument for it */
} emit_text;

void emit_append(emit_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void emit_put(emit_text *t, const char *text);     /* the same without a format */
void emit_comment(emit_text *t, const char *text); /* the same, safe inside a comment */
void emit_free(emit_text *t);

/* The shortest decimal text that reads back as `value`, whatever the locale: a C literal. */
void emit_number(double value, char text[32]);

/* A translation unit with the helpers the functions need (static inline), then the functions. Names
 * of leaves (may be NULL) appear as comments. Large functions are split so that compilers stay
 * fast: cost of compiling grows linearly. With in_files a form feed, which is white space in C,
 * stands where another file may begin, to bound their memory as well: such a file needs what stands
 * before the first. */
void emit_unit(emit_text *t, const graph *g, const emit_function *functions, size_t count,
               print_name name, void *context);

#endif
