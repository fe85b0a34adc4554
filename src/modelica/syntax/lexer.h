/* Text to tokens. */
#ifndef DAE_MODELICA_SYNTAX_LEXER_H
#define DAE_MODELICA_SYNTAX_LEXER_H

#include "base/arena.h"
#include "modelica/syntax/ast.h"
#include "modelica/syntax/message.h"

/* Signs and keywords with their spellings; keywords in alphabetical order. */
#define TOKEN_SIGNS(X)                                                                             \
    X(SEMICOLON, ";")                                                                              \
    X(COMMA, ",")                                                                                  \
    X(DOT, ".")                                                                                    \
    X(COLON, ":")                                                                                  \
    X(LEFT_PAREN, "(")                                                                             \
    X(RIGHT_PAREN, ")")                                                                            \
    X(LEFT_BRACKET, "[")                                                                           \
    X(RIGHT_BRACKET, "]")                                                                          \
    X(LEFT_BRACE, "{")                                                                             \
    X(RIGHT_BRACE, "}")                                                                            \
    X(EQUALS, "=")                                                                                 \
    X(ASSIGN, ":=")                                                                                \
    X(AT, "@")                                                                                     \
    X(ADD, "+")                                                                                    \
    X(SUB, "-")                                                                                    \
    X(MUL, "*")                                                                                    \
    X(DIV, "/")                                                                                    \
    X(POW, "^")                                                                                    \
    X(EADD, ".+")                                                                                  \
    X(ESUB, ".-")                                                                                  \
    X(EMUL, ".*")                                                                                  \
    X(EDIV, "./")                                                                                  \
    X(EPOW, ".^")                                                                                  \
    X(LT, "<")                                                                                     \
    X(LE, "<=")                                                                                    \
    X(GT, ">")                                                                                     \
    X(GE, ">=")                                                                                    \
    X(EQ, "==")                                                                                    \
    X(NE, "<>")
#define TOKEN_KEYWORDS(X)                                                                          \
    X(ALGORITHM, "algorithm")                                                                      \
    X(AND, "and")                                                                                  \
    X(ANNOTATION, "annotation")                                                                    \
    X(BLOCK, "block")                                                                              \
    X(BREAK, "break")                                                                              \
    X(CLASS, "class")                                                                              \
    X(CONNECT, "connect")                                                                          \
    X(CONNECTOR, "connector")                                                                      \
    X(CONSTANT, "constant")                                                                        \
    X(CONSTRAINEDBY, "constrainedby")                                                              \
    X(DER, "der")                                                                                  \
    X(DISCRETE, "discrete")                                                                        \
    X(EACH, "each")                                                                                \
    X(ELSE, "else")                                                                                \
    X(ELSEIF, "elseif")                                                                            \
    X(ELSEWHEN, "elsewhen")                                                                        \
    X(ENCAPSULATED, "encapsulated")                                                                \
    X(END, "end")                                                                                  \
    X(ENUMERATION, "enumeration")                                                                  \
    X(EQUATION, "equation")                                                                        \
    X(EXPANDABLE, "expandable")                                                                    \
    X(EXTENDS, "extends")                                                                          \
    X(EXTERNAL, "external")                                                                        \
    X(FALSE, "false")                                                                              \
    X(FINAL, "final")                                                                              \
    X(FLOW, "flow")                                                                                \
    X(FOR, "for")                                                                                  \
    X(FUNCTION, "function")                                                                        \
    X(IF, "if")                                                                                    \
    X(IMPORT, "import")                                                                            \
    X(IMPURE, "impure")                                                                            \
    X(IN, "in")                                                                                    \
    X(INITIAL, "initial")                                                                          \
    X(INNER, "inner")                                                                              \
    X(INPUT, "input")                                                                              \
    X(LOOP, "loop")                                                                                \
    X(MODEL, "model")                                                                              \
    X(NOT, "not")                                                                                  \
    X(OPERATOR, "operator")                                                                        \
    X(OR, "or")                                                                                    \
    X(OUTER, "outer")                                                                              \
    X(OUTPUT, "output")                                                                            \
    X(PACKAGE, "package")                                                                          \
    X(PARAMETER, "parameter")                                                                      \
    X(PARTIAL, "partial")                                                                          \
    X(PROTECTED, "protected")                                                                      \
    X(PUBLIC, "public")                                                                            \
    X(PURE, "pure")                                                                                \
    X(RECORD, "record")                                                                            \
    X(REDECLARE, "redeclare")                                                                      \
    X(REPLACEABLE, "replaceable")                                                                  \
    X(RETURN, "return")                                                                            \
    X(STREAM, "stream")                                                                            \
    X(THEN, "then")                                                                                \
    X(TRUE, "true")                                                                                \
    X(TYPE, "type")                                                                                \
    X(WHEN, "when")                                                                                \
    X(WHILE, "while")                                                                              \
    X(WITHIN, "within")

typedef enum token_kind {
    TOK_END_OF_FILE,
    TOK_NAME,   /* text: as written, quotes kept */
    TOK_NUMBER, /* value, integer */
    TOK_STRING, /* text: escapes resolved */
#define TOKEN_ENUMERATE(name, spelling) TOK_##name,
    TOKEN_SIGNS(TOKEN_ENUMERATE) TOKEN_KEYWORDS(TOKEN_ENUMERATE)
#undef TOKEN_ENUMERATE
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
    bool fixed; /* all tokens stand at `fixed_place`: the text is part of a name, or ours */
    source_place fixed_place;
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
