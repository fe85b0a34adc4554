/* What all parts of the parser share: the token at hand, errors and recovery, lists in the arena.
 *
 * Errors. A statement (an equation, a declaration, ..) gets at most one error. PARSE_ERROR sets
 * `panic`: everything returns at once, the statement is dropped, and the loop over statements goes
 * on behind the next ';'. COMPLAIN reports and goes on, where it is clear what was meant. Both keep
 * quiet where something in the same statement was reported before, by the lexer, too. */
#ifndef DAE_MODELICA_SYNTAX_PARSER_CORE_H
#define DAE_MODELICA_SYNTAX_PARSER_CORE_H

#include "modelica/syntax/lexer.h"
#include "modelica/syntax/parser.h"

typedef struct list { /* grows by doubling; old blocks stay in the arena */
    void *data;
    size_t count, capacity;
} list;

typedef struct open_class { /* the classes around, from the inside out */
    const char *name;
    ast_class_kind kind;
    const struct open_class *outer;
} open_class;

typedef struct parser {
    lexer lexer;
    arena *memory;
    message_list *messages;
    token previous, current, next;
    long errors_before, errors_current, errors_next; /* the lexer's, up to each token */
    long errors_at_statement;
    bool panic;    /* the statement is lost */
    bool quiet;    /* something in this statement was reported */
    bool reported; /* the last error was shown, so that its note belongs to it */
    bool stopped;  /* nothing more is read: too deep, too many errors, no memory */
    bool no_memory;
    int depth;           /* of nesting */
    int brackets;        /* open '[' */
    int subscripts;      /* open '[' of subscripts: "end" has a meaning */
    int blocks;          /* open if, for, while and when .. */
    int open[TOK_COUNT]; /* .. of each kind */
    const open_class *enclosing;
    list calls;            /* ast_named: calls of built-in functions that are not supported */
    unsigned long defined; /* bits: which of those names the file defines itself */
    list constants;        /* ast_component: global ones */
    ast_class *model;
    char found[64]; /* text of the token at hand */
} parser;

void parser_start(parser *p, arena *memory, const char *text, size_t length,
                  message_list *messages);
/* The same for a text that stands at one place of another one. */
void parser_start_at(parser *p, arena *memory, const char *text, source_place place,
                     message_list *messages);

/* ---- tokens ---- */

static inline bool at(const parser *p, token_kind kind)
{
    return p->current.kind == kind;
}
void step(parser *p);                            /* to the next token */
bool accept(parser *p, token_kind kind);         /* takes the token if it is there */
bool at_word(const parser *p, const char *word); /* a name with this text */
bool on_new_line(const parser *p);               /* the current token is the first of its line */
bool ends_block(const parser *p); /* "end" that closes something, not a subscript's */
const char *found(parser *p);     /* "'end'", for messages; good until the next call */

/* ---- errors and recovery ---- */

bool may_report(parser *p);   /* for PARSE_ERROR */
bool may_complain(parser *p); /* for COMPLAIN */
#define PARSE_ERROR(p, ...)                                                                        \
    do {                                                                                           \
        if (may_report(p)) message_error((p)->messages, __VA_ARGS__);                              \
    } while (0)
#define COMPLAIN(p, ...)                                                                           \
    do {                                                                                           \
        if (may_complain(p)) message_error((p)->messages, __VA_ARGS__);                            \
    } while (0)
#define PARSE_NOTE(p, ...)                                                                         \
    do {                                                                                           \
        if ((p)->reported) message_note((p)->messages, __VA_ARGS__);                               \
    } while (0)

void begin_statement(parser *p);
bool enter(parser *p); /* one level deeper; false: too deep, parsing has stopped */
void leave(parser *p);
void skip_statement(parser *p); /* behind the next ';', or before what cannot be inside */
bool expect(parser *p, token_kind kind, const char *where); /* "expected ')' <where>, found .." */
/* ')' and its like; the note shows where the bracket was opened. */
bool expect_close(parser *p, token_kind kind, source_place opened, const char *inside);
/* ';' behind a statement; a missing one at the end of a line is reported and taken for granted. */
void expect_semicolon(parser *p, const char *what);
/* A name to be declared or selected; NULL after an error. `what`: "the name of the model". */
const char *expect_name(parser *p, const char *what);
/* "X is not part of Base Modelica; export ..". */
void reject(parser *p, source_place place, const char *what);
/* Takes tokens up to `until` or ',' outside of brackets, which stays. */
void skip_balanced(parser *p, token_kind until, bool stop_at_comma);

/* ---- memory ---- */

void *make(parser *p, size_t size); /* zeroed; NULL: no memory, parsing has stopped */
#define MAKE(p, type) ((type *)make(p, sizeof(type)))
void *list_add(parser *p, list *l, size_t size); /* a new zeroed element, or NULL */
bool list_add_pointer(parser *p, list *l, void *pointer);

/* ---- expressions: parser_expr.c ---- */

ast_expr *parse_expression(parser *p);                  /* with ranges and if-expressions */
ast_expr *parse_simple_expression(parser *p);           /* without if-expressions at the top */
ast_expr *parse_condition(parser *p, const char *what); /* knows '=' for '==' */
/* Which of the functions that are not supported a name is, or -1; and what to do instead. */
int unsupported_function(const char *name);
const char *unsupported_advice(int which);
bool parse_iterators(parser *p, ast_iterator **iterators, size_t *count);
bool parse_subscripts(parser *p, list *into);
bool parse_modification(parser *p, list *all, bool in_annotation);
ast_modification *parse_modifications(parser *p, size_t *count, bool in_annotation);
const char *parse_dotted_name(parser *p, const char *what);
const char *parse_string_comment(parser *p); /* NULL if there is none */
void skip_annotation(parser *p);
const char *parse_comment(parser *p); /* string comment, then an annotation that is dropped */
void skip_decoration(parser *p);      /* @12: a place in the original source */

/* Replace the last part, a name in quotes with subscripts in it, by its parts: parser_name.c.
 * False: there are none that are no numbers. */
bool split_quoted_name(parser *p, const token *name, list *parts);

/* ---- equations and statements: parser_item.c ---- */

/* Items up to what ends the section or block. */
void parse_items(parser *p, bool algorithm, ast_item ***items, size_t *count);
/* One equation without its ';'. NULL: dropped. */
ast_item *parse_item(parser *p, bool algorithm);

/* ---- classes: parser_class.c ---- */

bool begins_class(const parser *p);
bool begins_partition(const parser *p); /* of clocked equations */
/* With its ';'. NULL: dropped. */
ast_class *parse_class(parser *p);
/* Declarations up to their ';', which is taken. */
void parse_components(parser *p, bool is_protected, list *into);

#endif
