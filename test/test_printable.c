/* Texts for terminals: no byte string brings a control character through. */
#include "base/diag.h"
#include "daedal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *text, const char *shown)
{
    char safe[200];
    assert_int_equal(dae_printable(text, safe, sizeof safe), strlen(shown));
    assert_string_equal(safe, shown);
}

static void known_texts(void **unused)
{
    (void)unused;
    expect("", "");
    expect(NULL, "");
    expect("plain text\twith\nlines", "plain text\twith\nlines");
    expect("\033[31mred\a", "\\x1b[31mred\\x07");
    expect("\r\x7f", "\\x0d\\x7f");
    expect("\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e", "\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e");
    expect("\xc2\x9b"
           "31m",
           "\\xc2\\x9b"
           "31m");                  /* the control sequence introducer of Latin 1 */
    expect("\xc2\xa0", "\xc2\xa0"); /* the first that is none */
    expect("\xff\xc3", "\\xff\\xc3");
    expect("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80",
           "\\xc0\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80"); /* overlong, surrogate, outside */
}

/* All pairs of bytes: what comes out has no control character of ASCII, and no byte that is not
 * part of a character. */
static void all_pairs(void **unused)
{
    (void)unused;
    for (int a = 1; a < 256; a++)
        for (int b = 1; b < 256; b++) {
            char text[3] = {(char)a, (char)b, '\0'}, safe[32];
            dae_printable(text, safe, sizeof safe);
            for (const unsigned char *c = (const unsigned char *)safe; *c; c++) {
                assert_true((*c >= 0x20 || *c == '\n' || *c == '\t') && *c != 0x7F);
                if (*c < 0x80) continue;
                assert_true(*c >= 0xC2 && *c < 0xE0 && (c[1] & 0xC0) == 0x80);
                assert_false(c[0] == 0xC2 && c[1] < 0xA0);
                c++;
            }
        }
}

/* A buffer that is too small gets whole characters, and is terminated. */
static void short_buffers(void **unused)
{
    (void)unused;
    const char text[] = "a\033b\xe2\x82\xac"
                        "c";
    const char *const shown[] = {"",
                                 "a",
                                 "a",
                                 "a",
                                 "a",
                                 "a\\x1b",
                                 "a\\x1bb",
                                 "a\\x1bb",
                                 "a\\x1bb",
                                 "a\\x1bb\xe2\x82\xac",
                                 ("a\\x1bb\xe2\x82\xac"
                                  "c")};
    for (size_t size = 1; size <= 11; size++) {
        char safe[16];
        memset(safe, '#', sizeof safe);
        assert_int_equal(dae_printable(text, safe, size), 10);
        assert_string_equal(safe, shown[size - 1]);
        assert_int_equal(safe[size], '#');
    }
    assert_int_equal(dae_printable(text, NULL, 0), 10);
}

static void diagnostics(void **unused)
{
    (void)unused;
    dae_diag diag = {0};
    diag_set(&diag, DAE_ERR_MODEL, "text %s", "\033[2J");
    diag_append(&diag, " and %s", "\a");
    diag_variable(&diag, 0, "x\033");
    diag_equation(&diag, 0, "f\033");
    assert_string_equal(diag.text, "text \\x1b[2J and \\x07");
    assert_string_equal(diag.variable_name, "x\\x1b");
    assert_string_equal(diag.equation_name, "f\\x1b");
    char full[DAE_TEXT_SIZE];
    memset(full, '\033', sizeof full - 1);
    full[sizeof full - 1] = '\0';
    diag_set(&diag, DAE_ERR_MODEL, "%s", full);
    assert_null(strchr(diag.text, '\033'));
    assert_true(strlen(diag.text) > DAE_TEXT_SIZE - 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts),
        cmocka_unit_test(all_pairs),
        cmocka_unit_test(short_buffers),
        cmocka_unit_test(diagnostics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
