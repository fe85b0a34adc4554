/* Tokens of Modelica: kinds, texts, values and places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modelica/syntax/lexer.h"

typedef struct scan {
    arena *memory;
    message_list *messages;
    lexer lx;
} scan;

static scan begin_bytes(const char *text, size_t length)
{
    scan s = {.memory = arena_new(0), .messages = message_list_new("t.mo", text, length, 0)};
    assert_non_null(s.memory);
    assert_non_null(s.messages);
    lexer_start(&s.lx, s.memory, text, length, s.messages);
    return s;
}

static scan begin(const char *text)
{
    return begin_bytes(text, strlen(text));
}

static void finish(scan *s, int errors)
{
    assert_int_equal(lexer_next(&s->lx).kind, TOK_END_OF_FILE);
    assert_int_equal(lexer_next(&s->lx).kind, TOK_END_OF_FILE); /* for ever */
    if (message_errors(s->messages) != errors) print_message("%s", message_text(s->messages));
    assert_int_equal(message_errors(s->messages), errors);
    message_list_free(s->messages);
    arena_free(s->memory);
}

static token next_of(scan *s, token_kind kind)
{
    token t = lexer_next(&s->lx);
    assert_int_equal(t.kind, kind);
    return t;
}

static token next_at(scan *s, token_kind kind, int line, int column)
{
    token t = next_of(s, kind);
    assert_int_equal(t.place.line, line);
    assert_int_equal(t.place.column, column);
    return t;
}

static void places(void **state)
{
    (void)state;
    scan s = begin("der(x) =\n  -y;\r\n\tz\rw /* a\nb */ q // end\n\"s\"");
    next_at(&s, TOK_DER, 1, 1);
    next_at(&s, TOK_LEFT_PAREN, 1, 4);
    next_at(&s, TOK_NAME, 1, 5);
    next_at(&s, TOK_RIGHT_PAREN, 1, 6);
    next_at(&s, TOK_EQUALS, 1, 8);
    next_at(&s, TOK_SUB, 2, 3);
    token y = next_at(&s, TOK_NAME, 2, 4);
    assert_int_equal(y.end.line, 2);
    assert_int_equal(y.end.column, 5);
    assert_int_equal(y.offset, 12);
    assert_int_equal(y.length, 1);
    next_at(&s, TOK_SEMICOLON, 2, 5);
    next_at(&s, TOK_NAME, 3, 2); /* behind CRLF and a tab */
    next_at(&s, TOK_NAME, 4, 1); /* behind CR */
    next_at(&s, TOK_NAME, 5, 6); /* behind a comment of two lines */
    next_at(&s, TOK_STRING, 6, 1);
    finish(&s, 0);
}

static void columns_count_characters(void **state)
{
    (void)state;
    scan s = begin("\xEF\xBB\xBF\"\xC3\xA9\xE2\x82\xAC\" x");
    token t = next_at(&s, TOK_STRING, 1, 1);
    assert_string_equal(t.text, "\xC3\xA9\xE2\x82\xAC");
    next_at(&s, TOK_NAME, 1, 6);
    finish(&s, 0);
}

static void every_sign(void **state)
{
    (void)state;
    scan s = begin("; , . : ( ) [ ] { } = := @ + - * / ^ .+ .- .* ./ .^ < <= > >= == <>");
    for (int kind = TOK_SEMICOLON; kind <= TOK_NE; kind++) {
        token t = next_of(&s, (token_kind)kind);
        assert_int_equal(strlen(token_spelling(t.kind)), t.length);
    }
    finish(&s, 0);
}

/* Each keyword is found, and a name that only begins like one is a name. */
static void every_keyword(void **state)
{
    (void)state;
    for (int kind = TOK_ALGORITHM; kind <= TOK_WITHIN; kind++) {
        char text[64];
        const char *word = token_spelling((token_kind)kind);
        assert_true(token_is_keyword((token_kind)kind));
        snprintf(text, sizeof text, "%s %s_ %.*s", word, word, (int)strlen(word) - 1, word);
        scan s = begin(text);
        next_of(&s, (token_kind)kind);
        next_of(&s, TOK_NAME);
        assert_int_not_equal(lexer_next(&s.lx).kind, kind); /* one letter less */
        finish(&s, 0);
    }
    assert_false(token_is_keyword(TOK_NAME));
    assert_null(token_spelling(TOK_NUMBER));
}

static void names(void **state)
{
    (void)state;
    scan s = begin("_a1 Real 'a.b[1].c' 'it\\'s' 'q\"' 'x'.'y'");
    assert_string_equal(next_of(&s, TOK_NAME).text, "_a1");
    assert_string_equal(next_of(&s, TOK_NAME).text, "Real");
    assert_string_equal(next_of(&s, TOK_NAME).text, "'a.b[1].c'");
    assert_string_equal(next_of(&s, TOK_NAME).text, "'it\\'s'");
    assert_string_equal(next_of(&s, TOK_NAME).text, "'q\"'");
    assert_string_equal(next_of(&s, TOK_NAME).text, "'x'");
    next_of(&s, TOK_DOT);
    assert_string_equal(next_of(&s, TOK_NAME).text, "'y'");
    finish(&s, 0);
}

typedef struct number_case {
    const char *text;
    double value;
    bool integer;
} number_case;

static const number_case numbers[] = {{"0", 0.0, true},
                                      {"42", 42.0, true},
                                      {"1.", 1.0, false},
                                      {"3.25", 3.25, false},
                                      {"1e3", 1e3, false},
                                      {"1E+3", 1e3, false},
                                      {"2.5e-3", 2.5e-3, false},
                                      {"1.e2", 1e2, false},
                                      {"0.1", 0.1, false},
                                      {"123456789012345678", 123456789012345678.0, true},
                                      {"4.9e-324", 4.9e-324, false},
                                      {"1.7976931348623157e308", 1.7976931348623157e308, false}};

static void check_numbers(void)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        scan s = begin(numbers[i].text);
        token t = next_of(&s, TOK_NUMBER);
        assert_true(t.value == numbers[i].value);
        assert_int_equal(t.integer, numbers[i].integer);
        finish(&s, 0);
    }
}

/* Numbers mean the same where the decimal point is a comma. */
static void number_values(void **state)
{
    (void)state;
    check_numbers();
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") || setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        check_numbers();
        setlocale(LC_NUMERIC, "C");
    }
}

/* Short numbers take no call of strtod; all are the nearest doubles. */
static void numbers_are_rounded_to_nearest(void **state)
{
    (void)state;
    uint64_t seed = 20;
    for (int k = 0; k < 20000; k++) {
        char text[40];
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const int digits = 1 + (int)(seed >> 60), power = (int)(seed >> 33 & 63) - 31;
        unsigned long long most = 1;
        for (int d = 0; d < digits; d++) most *= 10;
        snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(seed >> 8) % most,
                 (unsigned long long)(seed >> 20) % 1000, power);
        scan s = begin(text);
        assert_true(next_of(&s, TOK_NUMBER).value == strtod(text, NULL));
        finish(&s, 0);
    }
}

/* Columns count behind comments and spaces, also where the text ends in a comment. */
static void columns_behind_comments(void **state)
{
    (void)state;
    scan s = begin("  a // b\n   c // d");
    assert_int_equal(next_of(&s, TOK_NAME).place.column, 3);
    token c = next_of(&s, TOK_NAME);
    assert_int_equal(c.place.line, 2);
    assert_int_equal(c.place.column, 4);
    assert_int_equal(next_of(&s, TOK_END_OF_FILE).place.column, 10);
    finish(&s, 0);
}

/* The longest match: "2.*x" is 2. times x. */
static void numbers_and_dots(void **state)
{
    (void)state;
    scan s = begin("2.*x 2 .*x a.b 1:2 x[1].y");
    assert_true(next_of(&s, TOK_NUMBER).value == 2.0);
    next_of(&s, TOK_MUL);
    next_of(&s, TOK_NAME);
    next_of(&s, TOK_NUMBER);
    next_of(&s, TOK_EMUL);
    next_of(&s, TOK_NAME);
    next_of(&s, TOK_NAME);
    next_of(&s, TOK_DOT);
    next_of(&s, TOK_NAME);
    next_of(&s, TOK_NUMBER);
    next_of(&s, TOK_COLON);
    next_of(&s, TOK_NUMBER);
    next_of(&s, TOK_NAME);
    next_of(&s, TOK_LEFT_BRACKET);
    next_of(&s, TOK_NUMBER);
    next_of(&s, TOK_RIGHT_BRACKET);
    next_of(&s, TOK_DOT);
    next_of(&s, TOK_NAME);
    finish(&s, 0);
}

static void strings(void **state)
{
    (void)state;
    scan s = begin("\"\" \"a\\n\\t\\\"\\\\\\'\\?\\a\\b\\f\\r\\v\" \"two\nlines\"");
    assert_string_equal(next_of(&s, TOK_STRING).text, "");
    assert_string_equal(next_of(&s, TOK_STRING).text, "a\n\t\"\\'?\a\b\f\r\v");
    token t = next_of(&s, TOK_STRING);
    assert_string_equal(t.text, "two\nlines");
    assert_int_equal(t.end.line, 2);
    assert_int_equal(t.end.column, 7);
    finish(&s, 0);
}

/* Strings are UTF-8 or become it: other encodings, overlong forms, surrogates. */
static void strings_are_utf8(void **state)
{
    (void)state;
    scan s = begin(
        "\"M\xFCller\" \"\xC0\x80\" \"\xED\xA0\x80\" \"\xF0\x9F\x98\x80\xC3\" \"\xE2\x82\xAC\"");
    assert_string_equal(next_of(&s, TOK_STRING).text, "M?ller");
    assert_string_equal(next_of(&s, TOK_STRING).text, "??");
    assert_string_equal(next_of(&s, TOK_STRING).text, "???");
    assert_string_equal(next_of(&s, TOK_STRING).text, "\xF0\x9F\x98\x80?");
    assert_string_equal(next_of(&s, TOK_STRING).text, "\xE2\x82\xAC");
    assert_int_equal(message_warnings(s.messages), 4);
    finish(&s, 0);
}

/* What is taken for something else is reported once and replaced by it. */
static void replaced(void **state)
{
    (void)state;
    scan s = begin("&& || != ! ** += .5 1.e 2x x\xE2\x88\x92y");
    next_of(&s, TOK_AND);
    next_of(&s, TOK_OR);
    next_of(&s, TOK_NE);
    next_of(&s, TOK_NOT);
    next_of(&s, TOK_POW);
    next_of(&s, TOK_ASSIGN);
    assert_true(next_of(&s, TOK_NUMBER).value == 0.5);
    assert_true(next_of(&s, TOK_NUMBER).value == 1.0);
    assert_true(next_of(&s, TOK_NUMBER).value == 2.0);
    next_of(&s, TOK_NAME);
    next_of(&s, TOK_SUB);
    next_of(&s, TOK_NAME);
    finish(&s, 10);
}

static void any_bytes(void **state)
{
    (void)state;
    static const char bytes[] = "a\0b\x01\x7F\x80\xC0\xFFz";
    scan s = begin_bytes(bytes, sizeof bytes - 1);
    next_of(&s, TOK_NAME);
    next_of(&s, TOK_NAME);
    lexer_next(&s.lx); /* stray bytes belong to a word or are skipped; nothing else may happen */
    while (lexer_next(&s.lx).kind != TOK_END_OF_FILE) {
    }
    assert_true(message_errors(s.messages) >= 3);
    assert_non_null(strstr(message_text(s.messages), "0x00"));
    message_list_free(s.messages);
    arena_free(s.memory);
}

static void version_header(void **state)
{
    (void)state;
    scan s = begin("\xEF\xBB\xBF//! base 0.1.0 \r\nmodel");
    assert_string_equal(s.lx.version, "0.1.0");
    next_at(&s, TOK_MODEL, 2, 1);
    finish(&s, 0);
    s = begin("// base 0.1.0\n//! base 0.1.0\n");
    assert_null(s.lx.version);
    finish(&s, 0);
}

/* A missing quote does not make the time quadratic: after it, strings end with their lines. */
static void unterminated_strings(void **state)
{
    (void)state;
    scan s = begin("\"a\" \"b\nc\nd");
    next_of(&s, TOK_STRING);
    assert_string_equal(next_of(&s, TOK_STRING).text, "b");
    assert_string_equal(next_of(&s, TOK_NAME).text, "c");
    assert_string_equal(next_of(&s, TOK_NAME).text, "d");
    finish(&s, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places),
                                       cmocka_unit_test(columns_count_characters),
                                       cmocka_unit_test(every_sign),
                                       cmocka_unit_test(every_keyword),
                                       cmocka_unit_test(names),
                                       cmocka_unit_test(number_values),
                                       cmocka_unit_test(numbers_and_dots),
                                       cmocka_unit_test(strings),
                                       cmocka_unit_test(strings_are_utf8),
                                       cmocka_unit_test(replaced),
                                       cmocka_unit_test(any_bytes),
                                       cmocka_unit_test(version_header),
                                       cmocka_unit_test(numbers_are_rounded_to_nearest),
                                       cmocka_unit_test(columns_behind_comments),
                                       cmocka_unit_test(unterminated_strings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
