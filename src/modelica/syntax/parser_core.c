#include "modelica/syntax/parser_core.h"

#include <stdio.h>
#include <string.h>

static void read_first_tokens(parser *p)
{
    step(p);
    step(p);
    p->previous = (token){.place = {1, 1}, .end = {1, 1}};
    begin_statement(p);
}

void parser_start(parser *p, arena *memory, const char *text, size_t length, message_list *messages)
{
    *p = (parser){.memory = memory, .messages = messages};
    lexer_start(&p->lexer, memory, text, length, messages);
    read_first_tokens(p);
}

void parser_start_at(parser *p, arena *memory, const char *text, source_place place,
                     message_list *messages)
{
    *p = (parser){.memory = memory, .messages = messages};
    lexer_start(&p->lexer, memory, text, strlen(text), messages);
    p->lexer.fixed = true;
    p->lexer.fixed_place = place;
    read_first_tokens(p);
}

/* ---- tokens ---- */

/* end of file from now on, and no more messages */
static void parse_stop(parser *p)
{
    p->stopped = p->panic = p->quiet = true;
    p->current.kind = p->next.kind = TOK_END_OF_FILE;
    p->current.length = 0;
}

void step(parser *p)
{
    if (p->stopped) return;
    if (arena_failed(p->memory)) p->no_memory = true;
    if (p->no_memory || message_full(p->messages)) {
        parse_stop(p);
        return;
    }
    p->previous = p->current;
    p->current = p->next;
    p->errors_before = p->errors_current;
    p->errors_current = p->errors_next;
    p->next = lexer_next(&p->lexer);
    p->errors_next = p->lexer.errors;
}

bool accept(parser *p, token_kind kind)
{
    if (!at(p, kind)) return false;
    step(p);
    return true;
}

bool at_word(const parser *p, const char *word)
{
    return at(p, TOK_NAME) && p->current.text && strcmp(p->current.text, word) == 0;
}

bool on_new_line(const parser *p)
{
    return p->current.place.line > p->previous.end.line;
}

bool ends_block(const parser *p)
{
    if (!at(p, TOK_END)) return false;
    switch (p->next.kind) {
    case TOK_NAME:
    case TOK_IF:
    case TOK_FOR:
    case TOK_WHEN:
    case TOK_WHILE:
    case TOK_SEMICOLON:
    case TOK_END_OF_FILE: return true;
    default: return false;
    }
}

const char *found(parser *p)
{
    const token *t = &p->current;
    const size_t size = sizeof p->found;
    if (t->kind == TOK_END_OF_FILE) return "the end of the file";
    if (t->kind == TOK_STRING) return "a string";
    const char *source = p->lexer.begin + t->offset;
    bool quoted = *source == '\'';
    int length = t->length < size - 6 ? (int)t->length : (int)size - 6;
    snprintf(p->found, size, quoted ? "%.*s%s" : "'%.*s%s'", length, source,
             (size_t)length < t->length ? ".." : "");
    return p->found;
}

/* ---- errors and recovery ---- */

void begin_statement(parser *p)
{
    p->panic = p->stopped;
    p->quiet = p->stopped;
    p->reported = false;
    p->errors_at_statement = p->errors_before;
}

bool may_complain(parser *p)
{
    bool lexical = p->errors_current > p->errors_at_statement;
    bool cut_off = p->lexer.cut_off && at(p, TOK_END_OF_FILE);
    p->reported = !p->quiet && !lexical && !cut_off;
    p->quiet = true;
    return p->reported;
}

bool may_report(parser *p)
{
    bool report = may_complain(p);
    p->panic = true;
    return report;
}

bool enter(parser *p)
{
    if (p->depth < PARSER_DEPTH) {
        p->depth++;
        return true;
    }
    PARSE_ERROR(p, p->current.place, "this is nested more than %d levels deep", PARSER_DEPTH);
    parse_stop(p);
    return false;
}

void leave(parser *p)
{
    p->depth--;
}

/* Keywords that begin a part of a class and cannot stand inside a statement. */
static bool begins_part(const parser *p)
{
    switch (p->current.kind) {
    case TOK_EQUATION:
    case TOK_ALGORITHM:
    case TOK_PUBLIC:
    case TOK_PROTECTED:
    case TOK_MODEL:
    case TOK_PACKAGE:
    case TOK_RECORD:
    case TOK_TYPE:
    case TOK_END_OF_FILE: return true;
    case TOK_INITIAL: return p->next.kind == TOK_EQUATION || p->next.kind == TOK_ALGORITHM;
    default: return ends_block(p);
    }
}

/* In a matrix [1, 2; 3, 4] a ';' ends a row, not the statement, unless a new line follows. */
void skip_statement(parser *p)
{
    while (!begins_part(p)) {
        if (at(p, TOK_LEFT_BRACKET)) p->brackets++;
        if (at(p, TOK_RIGHT_BRACKET) && p->brackets > 0) p->brackets--;
        bool semicolon = at(p, TOK_SEMICOLON);
        step(p);
        if (semicolon && (p->brackets == 0 || on_new_line(p))) break;
    }
    p->brackets = p->subscripts = 0;
}

bool expect(parser *p, token_kind kind, const char *where)
{
    if (accept(p, kind)) return true;
    PARSE_ERROR(p, on_new_line(p) ? p->previous.end : p->current.place,
                "expected '%s' %s, found %s", token_spelling(kind), where, found(p));
    return false;
}

static const char *opening(token_kind closing)
{
    return closing == TOK_RIGHT_PAREN ? "(" : closing == TOK_RIGHT_BRACKET ? "[" : "{";
}

bool expect_close(parser *p, token_kind kind, source_place opened, const char *inside)
{
    if (accept(p, kind)) return true;
    PARSE_ERROR(p, p->current.place, "expected ',' or '%s' in %s, found %s", token_spelling(kind),
                inside, found(p));
    PARSE_NOTE(p, opened, "the '%s' is opened here", opening(kind));
    return false;
}

/* A string that spans lines right before an error has probably swallowed something. */
static void note_long_string(parser *p)
{
    const token *s = &p->previous;
    if (s->kind == TOK_STRING && s->end.line > s->place.line)
        PARSE_NOTE(p, s->place, "the string before it begins here: is its '\"' missing?");
}

static void complain_closing(parser *p, const char *what)
{
    PARSE_ERROR(p, p->current.place, "there is no bracket that this %s closes in %s", found(p),
                what);
}

void expect_semicolon(parser *p, const char *what)
{
    if (p->panic || accept(p, TOK_SEMICOLON)) return;
    if (at(p, TOK_RIGHT_PAREN) || at(p, TOK_RIGHT_BRACKET) || at(p, TOK_RIGHT_BRACE)) {
        complain_closing(p, what);
        return;
    }
    bool granted = on_new_line(p) || ends_block(p);
    PARSE_ERROR(p, granted ? p->previous.end : p->current.place, "expected ';' after %s, found %s",
                what, found(p));
    note_long_string(p);
    p->panic = !granted || p->stopped;
}

const char *expect_name(parser *p, const char *what)
{
    if (at(p, TOK_NAME)) {
        const char *name = p->current.text;
        step(p);
        return name;
    }
    const char *keyword =
        token_is_keyword(p->current.kind) ? token_spelling(p->current.kind) : NULL;
    if (keyword && !on_new_line(p)) {
        PARSE_ERROR(p, p->current.place,
                    "'%s' is a word of the language and cannot be %s; rename it or quote it: '%s'",
                    keyword, what, keyword);
        step(p);
    } else {
        PARSE_ERROR(p, p->current.place, "expected %s, found %s", what, found(p));
    }
    return NULL;
}

void reject(parser *p, source_place place, const char *what)
{
    COMPLAIN(p, place,
             "%s not part of Base Modelica; export the model as Base Modelica with your Modelica "
             "tool first",
             what);
}

void skip_balanced(parser *p, token_kind until, bool stop_at_comma)
{
    int open = 0, matrices = 0;
    while (!at(p, TOK_END_OF_FILE) && (matrices > 0 || !at(p, TOK_SEMICOLON))) {
        if (open == 0 && (at(p, until) || (stop_at_comma && at(p, TOK_COMMA)))) return;
        if (at(p, TOK_LEFT_PAREN) || at(p, TOK_LEFT_BRACKET) || at(p, TOK_LEFT_BRACE)) open++;
        if (at(p, TOK_RIGHT_PAREN) || at(p, TOK_RIGHT_BRACKET) || at(p, TOK_RIGHT_BRACE)) open--;
        if (open < 0) return;
        matrices += at(p, TOK_LEFT_BRACKET) - at(p, TOK_RIGHT_BRACKET);
        step(p);
    }
}

/* ---- memory ---- */

void *make(parser *p, size_t size)
{
    void *block = arena_alloc(p->memory, size);
    if (!block) {
        p->no_memory = true;
        parse_stop(p);
    }
    return block;
}

void *list_add(parser *p, list *l, size_t size)
{
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 1;
        char *grown = make(p, capacity * size);
        if (!grown) return NULL;
        if (l->count) memcpy(grown, l->data, l->count * size);
        l->data = grown;
        l->capacity = capacity;
    }
    return (char *)l->data + size * l->count++;
}

bool list_add_pointer(parser *p, list *l, void *pointer)
{
    void **slot = list_add(p, l, sizeof(void *));
    if (slot) *slot = pointer;
    return slot != NULL;
}
