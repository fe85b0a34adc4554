#include "modelica/syntax/lexer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "daedal.h"

enum { MAX_NAME_LENGTH = 4096 };

static const char *const spellings[TOK_COUNT] = {
#define SPELLING(name, spelling) [TOK_##name] = spelling,
    TOKEN_SIGNS(SPELLING) TOKEN_KEYWORDS(SPELLING)
#undef SPELLING
};

const char *token_spelling(token_kind kind)
{
    return kind < TOK_COUNT ? spellings[kind] : NULL;
}

bool token_is_keyword(token_kind kind)
{
    return kind >= TOK_ALGORITHM && kind <= TOK_WITHIN;
}

/* ---- characters and places ---- */

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The character `ahead` bytes on; -1 at the end of the text. */
static int peek(const lexer *lx, size_t ahead)
{
    return (size_t)(lx->stop - lx->at) > ahead ? (unsigned char)lx->at[ahead] : -1;
}

/* One byte on. A character of several bytes is one column; CR, LF and CRLF each end a line. */
static void advance(lexer *lx)
{
    int c = peek(lx, 0);
    lx->at++;
    if (c == '\n' || (c == '\r' && peek(lx, 0) != '\n')) {
        lx->place.line++;
        lx->place.column = 1;
    } else if (c != '\r' && (c & 0xC0) != 0x80) {
        lx->place.column++;
    }
}

static void advance_by(lexer *lx, size_t count)
{
    for (size_t i = 0; i < count; i++) advance(lx);
}

#define LEX_ERROR(lx, ...)                                                                         \
    do {                                                                                           \
        (lx)->errors++;                                                                            \
        message_error((lx)->messages, __VA_ARGS__);                                                \
    } while (0)

/* Length of the source from `from` to here, for "%.*s", cut to what a message should quote. */
static int quoted_length(const lexer *lx, const char *from)
{
    ptrdiff_t n = lx->at - from;
    return n > 40 ? 40 : (int)n;
}

/* ---- white space and comments ---- */

static void skip_line_comment(lexer *lx)
{
    const char *end = lx->at;
    while (end < lx->stop && *end != '\n' && *end != '\r') end++;
    if (end == lx->stop) /* the end of the text has a column, too */
        advance_by(lx, (size_t)(end - lx->at));
    lx->at = end; /* else a new line begins, and columns with it */
}

/* Comments of this kind do not nest. */
static void skip_block_comment(lexer *lx)
{
    source_place begin = lx->place;
    advance_by(lx, 2);
    while (lx->at < lx->stop && !(peek(lx, 0) == '*' && peek(lx, 1) == '/')) advance(lx);
    if (lx->at < lx->stop) {
        advance_by(lx, 2);
        return;
    }
    lx->cut_off = true;
    LEX_ERROR(lx, begin, "the comment that begins here is never closed; close it with '*/'");
}

/* Spaces, the commonest of blanks, which end no line. */
static void skip_spaces(lexer *lx)
{
    const char *from = lx->at;
    while (lx->at < lx->stop && *lx->at == ' ') lx->at++;
    lx->place.column += (int)(lx->at - from);
}

static void skip_blanks(lexer *lx)
{
    for (;;) {
        skip_spaces(lx);
        int c = peek(lx, 0);
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v')
            advance(lx);
        else if (c == '/' && peek(lx, 1) == '/')
            skip_line_comment(lx);
        else if (c == '/' && peek(lx, 1) == '*')
            skip_block_comment(lx);
        else
            return;
    }
}

/* "//! base 0.1.0" in the first line: the version. "//! flat 3.5.0" was its name in early drafts.
 */
static const char *read_header(lexer *lx)
{
    const char *p = lx->at, *stop = lx->stop;
    while (p < stop && *p != '\n' && *p != '\r') p++;
    size_t length = (size_t)(p - lx->at);
    if (length < 9 || (memcmp(lx->at, "//! base ", 9) != 0 && memcmp(lx->at, "//! flat ", 9) != 0))
        return NULL;
    const char *from = lx->at + 9;
    while (p > from && (p[-1] == ' ' || p[-1] == '\t')) p--;
    return arena_text(lx->memory, from, (size_t)(p - from));
}

/* Base Modelica has no other versions than 0.x yet. */
static void check_version(lexer *lx)
{
    const char *v = lx->version;
    if (!v || memcmp(lx->at, "//! base ", 9) != 0 || strncmp(v, "0.", 2) == 0) return;
    message_warning(lx->messages, lx->place,
                    "the file is in Base Modelica %.20s; this program knows version 0.1", v);
}

void lexer_start(lexer *lx, arena *memory, const char *text, size_t length, message_list *messages)
{
    *lx = (lexer){.begin = text,
                  .at = text,
                  .stop = text + length,
                  .place = {1, 1},
                  .memory = memory,
                  .messages = messages};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) lx->at += 3;
    lx->version = read_header(lx);
    check_version(lx);
}

/* ---- characters outside ASCII ---- */

static bool begins_with(const lexer *lx, const char *text)
{
    if (lx->at >= lx->stop || *lx->at != *text) return false;
    size_t n = strlen(text);
    return (size_t)(lx->stop - lx->at) >= n && memcmp(lx->at, text, n) == 0;
}

/* Characters that word processors put in the place of ASCII ones. */
typedef struct lookalike {
    char text[4];
    const char *meant;
    token_kind kind; /* TOK_END_OF_FILE: skipped */
} lookalike;

static const lookalike lookalikes[] = {
    {"\xE2\x88\x92", "-", TOK_SUB},
    {"\xE2\x80\x93", "-", TOK_SUB},
    {"\xE2\x80\x94", "-", TOK_SUB},
    {"\xC3\x97", "*", TOK_MUL},
    {"\xC2\xB7", "*", TOK_MUL},
    {"\xE2\x8B\x85", "*", TOK_MUL},
    {"\xC3\xB7", "/", TOK_DIV},
    {"\xE2\x89\xA4", "<=", TOK_LE},
    {"\xE2\x89\xA5", ">=", TOK_GE},
    {"\xE2\x89\xA0", "<>", TOK_NE},
    {"\xE2\x80\x9C", "\"", TOK_END_OF_FILE},
    {"\xE2\x80\x9D", "\"", TOK_END_OF_FILE},
    {"\xE2\x80\x98", "'", TOK_END_OF_FILE},
    {"\xE2\x80\x99", "'", TOK_END_OF_FILE},
    {"\xC2\xA0", " ", TOK_END_OF_FILE},
};

/* The sign that a character is mistaken for, or NULL. */
static const lookalike *find_lookalike(const lexer *lx)
{
    for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++)
        if (begins_with(lx, lookalikes[i].text)) return &lookalikes[i];
    return NULL;
}

/* Whether the next character may belong to a word, in Modelica or in the mind of its writer. */
static bool at_word_character(const lexer *lx)
{
    int c = peek(lx, 0);
    return is_letter(c) || is_digit(c) || (c >= 0x80 && !find_lookalike(lx));
}

/* ---- names ---- */

/* The keyword that a word is, or TOK_NAME; keywords stand in alphabetical order. */
static token_kind keyword_of(const char *word, size_t length)
{
    size_t low = TOK_ALGORITHM, high = TOK_WITHIN + 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *keyword = spellings[middle];
        int order = *word - *keyword; /* tells most of them apart without a call */
        if (order == 0) order = strncmp(word, keyword, length);
        if (order == 0 && keyword[length] != '\0') order = -1;
        if (order == 0) return (token_kind)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return TOK_NAME;
}

static void check_name_length(lexer *lx, const token *t)
{
    if (t->length > MAX_NAME_LENGTH)
        LEX_ERROR(lx, t->place, "this name has %zu characters; at most %d are allowed", t->length,
                  MAX_NAME_LENGTH);
}

/* Letters of other alphabets are taken into the word, so that it is reported once. */
static void read_word(lexer *lx, token *t)
{
    const char *from = lx->at;
    bool foreign = false;
    while (lx->at < lx->stop && (is_letter(*lx->at) || is_digit(*lx->at))) lx->at++;
    lx->place.column += (int)(lx->at - from);
    while (at_word_character(lx)) {
        foreign |= peek(lx, 0) >= 0x80;
        advance(lx);
    }
    t->length = (size_t)(lx->at - from);
    t->kind = foreign ? TOK_NAME : keyword_of(from, t->length);
    if (t->kind != TOK_NAME) return;
    if (foreign)
        LEX_ERROR(lx, t->place,
                  "'%.*s' has letters that Modelica does not know; names are made of a-z, A-Z, 0-9 "
                  "and '_'",
                  quoted_length(lx, from), from);
    check_name_length(lx, t);
    t->text = arena_text(lx->memory, from, t->length);
}

static bool is_quoted_character(int c)
{
    return c >= 0x20 && c < 0x7F && c != '\'' && c != '\\';
}

/* Escapes of strings and quoted names. */
static bool is_escape(int c)
{
    return c > 0 && strchr("'\"?\\abfnrtv", c) != NULL;
}

/* 'a.b[1]': kept as written, quotes and escapes included. */
static void read_quoted_name(lexer *lx, token *t)
{
    const char *from = lx->at;
    advance(lx);
    for (;;) {
        int c = peek(lx, 0);
        if (c == '\\' && is_escape(peek(lx, 1)))
            advance_by(lx, 2);
        else if (is_quoted_character(c))
            advance(lx);
        else
            break;
    }
    int c = peek(lx, 0);
    bool closed = c == '\'';
    if (closed) advance(lx);
    t->length = (size_t)(lx->at - from);
    t->kind = TOK_NAME;
    t->text = arena_text(lx->memory, from, t->length);
    bool prime = t->place.column > 1 && (is_letter(from[-1]) || is_digit(from[-1]));
    if (prime && (!closed || t->length == 2))
        LEX_ERROR(lx, t->place,
                  "a prime is no derivative: write der(x) for x', and der(der(x)) for x''");
    else if (closed && t->length == 2)
        LEX_ERROR(lx, t->place, "the name between the quotes is empty");
    else if (closed)
        check_name_length(lx, t);
    else if (c == '\\')
        LEX_ERROR(lx, lx->place, "a '\\' in a quoted name is followed by one of '\"?\\abfnrtv");
    else if (c >= 0x80)
        LEX_ERROR(lx, lx->place, "a quoted name holds characters of ASCII only");
    else
        LEX_ERROR(lx, t->place, "the quoted name that begins here is not closed in its line");
    if (!closed) /* go on behind it if its end is in this line */
        while (lx->at < lx->stop && *lx->at != '\n' && *lx->at != '\r') {
            bool end = *lx->at == '\'';
            advance(lx);
            if (end) break;
        }
}

/* ---- strings ---- */

/* The end of the string's text that begins at p: its '"', or where it is cut off. */
static const char *string_end(lexer *lx, const char *p)
{
    const char *line = NULL;
    for (; p < lx->stop && *p != '"'; p++) {
        if (!line && (*p == '\n' || *p == '\r')) line = p;
        if (line && lx->line_bounds) return line;
        if (*p == '\\' && p + 1 < lx->stop) p++;
    }
    if (p < lx->stop) return p;
    lx->line_bounds = true;
    return line ? line : p;
}

static char escaped(char c)
{
    switch (c) {
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    default: return c;
    }
}

/* Copies up to `end` with escapes resolved and NUL replaced; the text is as long as its source at
 * most. */
static void copy_string(lexer *lx, const char *end, char *out)
{
    while (lx->at < end) {
        if (*lx->at == '\\') {
            if (lx->at + 1 == end || !is_escape((unsigned char)lx->at[1]))
                LEX_ERROR(lx, lx->place,
                          "a '\\' in a string is followed by one of '\"?\\abfnrtv; write '\\\\' "
                          "for a backslash");
            else
                advance(lx);
            *out++ = escaped(*lx->at);
        } else {
            *out++ = *lx->at ? *lx->at : ' ';
        }
        advance(lx);
    }
}

/* Replaces what is not UTF-8 by '?': texts go on into files that must be. True if there was any. */
static bool clean_utf8(char *text)
{
    bool dirty = false;
    for (char *p = text; *p;) {
        int n = dae_utf8_length(p);
        if (n == 0) *p = '?', dirty = true;
        p += n ? n : 1;
    }
    return dirty;
}

static void read_string(lexer *lx, token *t)
{
    advance(lx);
    const char *end = string_end(lx, lx->at);
    char *text = arena_alloc(lx->memory, (size_t)(end - lx->at) + 1);
    t->kind = TOK_STRING;
    t->text = text;
    if (!text) {
        lx->at = lx->stop;
        return;
    }
    copy_string(lx, end, text);
    if (clean_utf8(text))
        message_warning(lx->messages, t->place,
                        "this string is not in UTF-8; what cannot be read is shown as '?'");
    if (lx->at < lx->stop && *lx->at == '"')
        advance(lx);
    else
        LEX_ERROR(lx, t->place, "the string that begins here is not closed; close it with '\"'");
}

/* ---- numbers ---- */

static void skip_digits(lexer *lx)
{
    while (is_digit(peek(lx, 0))) advance(lx);
}

/* digit* ['.' digit*] [('e'|'E') ['+'|'-'] digit+]; false if the exponent has no digits. */
static bool scan_number(lexer *lx, token *t)
{
    t->integer = true;
    skip_digits(lx);
    if (peek(lx, 0) == '.') {
        t->integer = false;
        advance(lx);
        skip_digits(lx);
    }
    if (peek(lx, 0) != 'e' && peek(lx, 0) != 'E') return true;
    int c = peek(lx, 1);
    bool sign = c == '+' || c == '-';
    if (!is_digit(sign ? peek(lx, 2) : c)) return is_letter(c);
    t->integer = false;
    advance_by(lx, sign ? 3 : 2);
    skip_digits(lx);
    return true;
}

/* Takes what is glued to the number, so that it is reported once. */
static void skip_glued(lexer *lx)
{
    while (at_word_character(lx) || peek(lx, 0) == '.') advance(lx);
}

/* What is wrong behind a number: 1.e, 1..2, 1.2.3, 2x. False if nothing is. */
static bool report_glued(lexer *lx, const token *t, const char *from, bool exponent_ok)
{
    const char *number_end = lx->at;
    int c = peek(lx, 0);
    bool dots = c == '.' && (lx->at[-1] == '.' || is_digit(peek(lx, 1)));
    if (exponent_ok && !dots && !at_word_character(lx)) return false;
    skip_glued(lx);
    if (!exponent_ok)
        LEX_ERROR(lx, t->place, "the exponent of the number '%.*s' has no digits",
                  quoted_length(lx, from), from);
    else if (dots && number_end[-1] == '.')
        LEX_ERROR(lx, t->place, "'%.*s' is not a number; a range is written with ':', as in 1:2",
                  quoted_length(lx, from), from);
    else if (dots)
        LEX_ERROR(lx, t->place, "'%.*s' is not a number: it has two decimal points",
                  quoted_length(lx, from), from);
    else
        LEX_ERROR(lx, t->place,
                  "'%.*s' is neither a number nor a name; write a '*' to multiply, and begin names "
                  "with a letter",
                  quoted_length(lx, from), from);
    return true;
}

static void read_number(lexer *lx, token *t)
{
    const char *from = lx->at;
    t->kind = TOK_NUMBER;
    if (*from == '.')
        LEX_ERROR(lx, t->place, "a number begins with a digit; write '0' before the '.'");
    bool exponent_ok = scan_number(lx, t);
    size_t length = (size_t)(lx->at - from);
    if (length > DECIMAL_LONGEST) {
        LEX_ERROR(lx, t->place, "this number has %zu characters; at most %d are allowed", length,
                  DECIMAL_LONGEST);
        length = DECIMAL_LONGEST;
    }
    t->value = decimal_value(from, length);
    if (report_glued(lx, t, from, exponent_ok)) return;
    if (!isfinite(t->value)) {
        LEX_ERROR(lx, t->place, "the number %.*s is too large; the largest is about 1.8e308",
                  quoted_length(lx, from), from);
        t->value = 0.0;
    }
}

/* ---- signs ---- */

/* Signs of other languages, what is meant, and what it is taken for. */
typedef struct foreign_sign {
    char text[8];
    const char *advice; /* NULL: no sign, but the end of a comment */
    token_kind kind;    /* TOK_END_OF_FILE: skipped */
} foreign_sign;

static const foreign_sign foreign_signs[] = {
    {"===", "write '==' to compare", TOK_EQ},
    {"!==", "write '<>'", TOK_NE},
    {"&&", "write 'and'", TOK_AND},
    {"||", "write 'or'", TOK_OR},
    {"!=", "write '<>'", TOK_NE},
    {"~=", "write '<>'", TOK_NE},
    {"/=", "write 'x := x / ..', or '<>' for unequal", TOK_ASSIGN},
    {"+=", "write 'x := x + ..'", TOK_ASSIGN},
    {"-=", "write 'x := x - ..'", TOK_ASSIGN},
    {"*=", "write 'x := x * ..'", TOK_ASSIGN},
    {"**", "write '^' for a power", TOK_POW},
    {"=>", "write '>=' to compare", TOK_GE},
    {"=<", "write '<=' to compare", TOK_LE},
    {"->", "write '.' to select a member", TOK_DOT},
    {"*/", NULL, TOK_END_OF_FILE},
    {"&", "write 'and'", TOK_AND},
    {"|", "write 'or'", TOK_OR},
    {"!", "write 'not'", TOK_NOT},
    {"~", "write 'not'", TOK_NOT},
    {"%", "write 'mod(a, b)', and '//' before a comment", TOK_DIV},
    {"#EMPTY#", "a tool wrote it in place of an expression that it lost", TOK_NUMBER},
    {"#", "a comment begins with '//'", TOK_END_OF_FILE},
    {"?", "write 'if c then a else b'", TOK_END_OF_FILE},
    {"\\", "write '/' to divide", TOK_DIV},
};

/* False if no sign of another language stands here. */
static bool read_foreign_sign(lexer *lx, token *t)
{
    for (size_t i = 0; i < sizeof foreign_signs / sizeof *foreign_signs; i++) {
        const foreign_sign *f = &foreign_signs[i];
        if (!begins_with(lx, f->text)) continue;
        if (f->advice)
            LEX_ERROR(lx, t->place, "Modelica has no '%s'; %s", f->text, f->advice);
        else
            LEX_ERROR(lx, t->place, "there is no comment that '*/' closes; comments do not nest");
        t->kind = f->kind;
        advance_by(lx, strlen(f->text));
        return true;
    }
    return false;
}

/* The sign of one character that c is, or TOK_END_OF_FILE. */
static token_kind short_sign(int c)
{
    switch (c) {
    case ';': return TOK_SEMICOLON;
    case ',': return TOK_COMMA;
    case ':': return TOK_COLON;
    case '(': return TOK_LEFT_PAREN;
    case ')': return TOK_RIGHT_PAREN;
    case '[': return TOK_LEFT_BRACKET;
    case ']': return TOK_RIGHT_BRACKET;
    case '{': return TOK_LEFT_BRACE;
    case '}': return TOK_RIGHT_BRACE;
    case '=': return TOK_EQUALS;
    case '+': return TOK_ADD;
    case '-': return TOK_SUB;
    case '*': return TOK_MUL;
    case '/': return TOK_DIV;
    case '^': return TOK_POW;
    case '<': return TOK_LT;
    case '>': return TOK_GT;
    default: return TOK_END_OF_FILE;
    }
}

/* A sign of one character before what belongs to no sign of this or another language: nearly all
 * are, and need no look at the lists. */
static bool read_short_sign(lexer *lx, token *t)
{
    int next = peek(lx, 1);
    bool apart = is_letter(next) || is_digit(next) || next == ' ' || next == '\n' || next == '\r' ||
                 next == '(' || next == ')' || next == ';' || next == ',';
    token_kind kind = apart ? short_sign(peek(lx, 0)) : TOK_END_OF_FILE;
    if (kind == TOK_END_OF_FILE) return false;
    t->kind = kind;
    lx->at++;
    lx->place.column++;
    return true;
}

/* The longest sign that stands here. */
static bool read_sign(lexer *lx, token *t)
{
    size_t longest = 0;
    for (int k = TOK_SEMICOLON; k < TOK_ALGORITHM; k++) {
        if (!begins_with(lx, spellings[k]) || strlen(spellings[k]) <= longest) continue;
        longest = strlen(spellings[k]);
        t->kind = (token_kind)k;
    }
    advance_by(lx, longest);
    return longest > 0;
}

/* Up to the second of a pair of curly quotes, if it is in this line. */
static void skip_curly_string(lexer *lx)
{
    for (const char *p = lx->at; p < lx->stop && *p != '\n' && *p != '\r'; p++)
        if (lx->stop - p >= 3 && memcmp(p, "\xE2\x80\x9D", 3) == 0) {
            advance_by(lx, (size_t)(p - lx->at) + 3);
            return;
        }
}

static bool read_lookalike(lexer *lx, token *t)
{
    const lookalike *l = find_lookalike(lx);
    if (!l) return false;
    const char *quote = *l->meant == '\'' ? "\"" : "'";
    if (*l->meant == ' ')
        LEX_ERROR(lx, t->place, "this is a no-break space; write a plain one");
    else
        LEX_ERROR(lx, t->place, "'%s' is not a character of Modelica; write %s%s%s", l->text, quote,
                  l->meant, quote);
    t->kind = l->kind;
    advance_by(lx, strlen(l->text));
    if (*l->meant != '"') return true;
    skip_curly_string(lx);
    t->kind = TOK_STRING;
    t->text = "";
    return true;
}

/* Reports a character that begins no token and steps over it. */
static void report_character(lexer *lx, const token *t)
{
    int c = peek(lx, 0);
    if (c > 0x20 && c < 0x7F)
        LEX_ERROR(lx, t->place, "'%c' means nothing in Modelica", c);
    else
        LEX_ERROR(lx, t->place, "the byte 0x%02X is not part of a text", (unsigned)c);
    advance(lx);
}

/* True if a token was read; false: something was reported and skipped. */
static bool read_token(lexer *lx, token *t)
{
    int c = peek(lx, 0);
    if (is_digit(c) || (c == '.' && is_digit(peek(lx, 1))))
        read_number(lx, t);
    else if (is_letter(c))
        read_word(lx, t);
    else if (c == '"')
        read_string(lx, t);
    else if (c == '\'')
        read_quoted_name(lx, t);
    else if (read_short_sign(lx, t))
        return true;
    else if (read_foreign_sign(lx, t) || read_lookalike(lx, t))
        return t->kind != TOK_END_OF_FILE;
    else if (c >= 0xC2)
        read_word(lx, t);
    else if (!read_sign(lx, t)) {
        report_character(lx, t);
        return false;
    }
    return true;
}

token lexer_next(lexer *lx)
{
    for (;;) {
        skip_blanks(lx);
        token t = {.place = lx->place, .offset = (size_t)(lx->at - lx->begin)};
        const char *from = lx->at;
        bool read = lx->at < lx->stop && read_token(lx, &t);
        if (!read && lx->at < lx->stop) continue;
        if (!read) t = (token){.place = lx->place, .offset = (size_t)(lx->at - lx->begin)};
        t.end = lx->place;
        t.length = (size_t)(lx->at - from);
        if (lx->fixed) t.place = t.end = lx->fixed_place;
        return t;
    }
}
