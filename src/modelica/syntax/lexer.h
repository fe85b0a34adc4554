/* Text to tokens. */
#ifndef DAE_MODELICA_SYNTAX_LEXER_H
#define DAE_MODELICA_SYNTAX_LEXER_H

#include "base/arena.h"
#include "modelica/syntax/ast.h"
#include "modelica/syntax/message.h"

typedef enum token_kind {
    TOK_END_OF_FILE,
    TOK_NAME,   /* text: as written, quotes kept */
    TOK_NUMBER, /* value, integer */
    TOK_STRING, /* text: escapes resolved */
    /* signs */
    TOK_SEMICOLON,
    TOK_COMMA,
    TOK_DOT,
    TOK_COLON,
    TOK_LEFT_PAREN,
    TOK_RIGHT_PAREN,
    TOK_LEFT_BRACKET,
    TOK_RIGHT_BRACKET,
    TOK_LEFT_BRACE,
    TOK_RIGHT_BRACE,
    TOK_EQUALS,
    TOK_ASSIGN,
    TOK_AT,
    TOK_ADD,
    TOK_SUB,
    TOK_MUL,
    TOK_DIV,
    TOK_POW,
    TOK_EADD,
    TOK_ESUB,
    TOK_EMUL,
    TOK_EDIV,
    TOK_EPOW,
    TOK_LT,
    TOK_LE,
    TOK_GT,
    TOK_GE,
    TOK_EQ,
    TOK_NE,
    /* keywords, in alphabetical order */
    TOK_ALGORITHM,
    TOK_AND,
    TOK_ANNOTATION,
    TOK_BLOCK,
    TOK_BREAK,
    TOK_CLASS,
    TOK_CONNECT,
    TOK_CONNECTOR,
    TOK_CONSTANT,
    TOK_CONSTRAINEDBY,
    TOK_DER,
    TOK_DISCRETE,
    TOK_EACH,
    TOK_ELSE,
    TOK_ELSEIF,
    TOK_ELSEWHEN,
    TOK_ENCAPSULATED,
    TOK_END,
    TOK_ENUMERATION,
    TOK_EQUATION,
    TOK_EXPANDABLE,
    TOK_EXTENDS,
    TOK_EXTERNAL,
    TOK_FALSE,
    TOK_FINAL,
    TOK_FLOW,
    TOK_FOR,
    TOK_FUNCTION,
    TOK_IF,
    TOK_IMPORT,
    TOK_IMPURE,
    TOK_IN,
    TOK_INITIAL,
    TOK_INNER,
    TOK_INPUT,
    TOK_LOOP,
    TOK_MODEL,
    TOK_NOT,
    TOK_OPERATOR,
    TOK_OR,
    TOK_OUTER,
    TOK_OUTPUT,
    TOK_PACKAGE,
    TOK_PARAMETER,
    TOK_PARTIAL,
    TOK_PROTECTED,
    TOK_PUBLIC,
    TOK_PURE,
    TOK_RECORD,
    TOK_REDECLARE,
    TOK_REPLACEABLE,
    TOK_RETURN,
    TOK_STREAM,
    TOK_THEN,
    TOK_TRUE,
    TOK_TYPE,
    TOK_WHEN,
    TOK_WHILE,
    TOK_WITHIN,
    TOK_COUNT
} token_kind;

typedef struct token {
    token_kind kind;
    source_place place, end; /* end: one past its last character */
    const char *text;        /* NAME, STRING: in the arena */
    size_t offset, length;   /* in the source */
    double value;            /* NUMBER */
    bool integer;            /* NUMBER: written without point and exponent */
} token;

typedef struct lexer {
    const char *begin, *at, *stop; /* the source; `at` is read next */
    source_place place;            /* of `at`; columns count characters, a tab is one */
    arena *memory;
    message_list *messages;
    long errors;         /* found by the lexer so far */
    bool line_bounds;    /* a '"' is missing somewhere: from now on strings end with their line */
    bool cut_off;        /* a comment ran to the end of the file */
    const char *version; /* of the header "//! base 0.1.0", or NULL */
} lexer;

/* Skips a byte order mark and reads the version header, if there is one. */
void lexer_start(lexer *lx, arena *memory, const char *text, size_t length, message_list *messages);

/* The next token. What is no Modelica is reported and replaced by what was probably meant; after
 * the last token TOK_END_OF_FILE comes for ever. */
token lexer_next(lexer *lx);

/* "end" for TOK_END, ":=" for TOK_ASSIGN; NULL for names, numbers and strings. */
const char *token_spelling(token_kind kind);
bool token_is_keyword(token_kind kind);

#endif
