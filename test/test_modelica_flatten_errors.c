/* Messages: every wrong model gives exactly its golden text; units; limits; all models of the
 * corpus are fine. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>

#include "modelica/flatten/units.h"
#include "test_modelica_flatten.h"

/* ---- files ---- */

static void beside(char *path, size_t size, const char *name)
{
    const char *slash = strrchr(__FILE__, '/');
    int n = slash ? (int)(slash - __FILE__) + 1 : 0;
    snprintf(path, size, "%.*s%s", n, __FILE__, name);
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *text = calloc((size_t)length + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)length, file), length);
    fclose(file);
    return text;
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

/* ---- golden messages ---- */

/* name.mo gives exactly the messages in name.txt. DAEDAL_GOLDEN=write writes them instead. */
static int check_golden(const char *directory, const char *name)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    char *text = read_all(path);
    assert_non_null(text);
    flattened f = flatten_with(name, text, NULL, 0);
    const char *got = message_text(f.messages);
    assert_int_equal(!f.m, message_errors(f.messages) > 0); /* a text that only warns has a model */
    memcpy(path + strlen(path) - 3, ".txt", 5);
    const char *mode = getenv("DAEDAL_GOLDEN");
    if (mode && strcmp(mode, "write") == 0) {
        FILE *file = fopen(path, "wb");
        if (file) fputs(got, file), fclose(file);
    }
    char *expected = read_all(path);
    int differs = !expected || strcmp(expected, got) != 0;
    if (differs) print_message("%s: expected\n%sgot\n%s", name, expected ? expected : "", got);
    free(expected);
    free(text);
    release(&f);
    return differs;
}

static void golden_messages(void **state)
{
    (void)state;
    char directory[4096];
    int count = 0, differ = 0;
    beside(directory, sizeof directory, "errors/semantic");
    DIR *d = opendir(directory);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        if (!ends_with(entry->d_name, ".mo")) continue;
        count++;
        differ += check_golden(directory, entry->d_name);
    }
    closedir(d);
    assert_true(count >= 40);
    assert_int_equal(differ, 0);
}

/* The models that are shipped have neither errors nor warnings. */
static void shipped_models(void **state)
{
    (void)state;
    static const char *const folders[] = {"../models", "../models/base"};
    int count = 0;
    for (int k = 0; k < 2; k++) {
        char directory[4096], path[8192];
        beside(directory, sizeof directory, folders[k]);
        DIR *d = opendir(directory);
        assert_non_null(d);
        for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
            if (!ends_with(entry->d_name, ".mo") && !ends_with(entry->d_name, ".bmo")) continue;
            snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
            char *text = read_all(path);
            assert_non_null(text);
            flattened f = flatten_with(entry->d_name, text, NULL, 0);
            if (!f.m || message_warnings(f.messages)) print_message("%s", message_text(f.messages));
            assert_non_null(f.m);
            assert_int_equal(message_warnings(f.messages), 0);
            release(&f);
            free(text);
            count++;
        }
        closedir(d);
    }
    assert_true(count >= 13);
}

/* ---- all errors, no cascades ---- */

static void no_cascades(void **state)
{
    (void)state;
    flattened f = flatten_with("m.mo",
                               "model M\n  Real x = foo;\n  Real y = x + foo*2;\n"
                               "  parameter Integer n = bar;\n  Real z[n];\nequation\n"
                               "  z[1] = sin(z[2])*n;\n  for i in 1:n loop\n    z[i] = i;\n"
                               "  end for;\n  if n > 2 then\n    x = 1;\n  end if;\nend M;\n",
                               NULL, 0);
    assert_null(f.m);
    /* foo twice (each place), bar, and nothing that follows from them */
    assert_int_equal(message_errors(f.messages), 3);
    release(&f);
}

/* Errors inside a loop are said once, not once per pass. */
static void loops_say_it_once(void **state)
{
    (void)state;
    flattened f = flatten_with("m.mo",
                               "model M\n  Real x[1000];\nequation\n  for i in 1:1000 loop\n"
                               "    x[i] = y + true;\n  end for;\nend M;\n",
                               NULL, 0);
    assert_int_equal(message_errors(f.messages), 1);
    release(&f);
}

/* ---- limits ---- */

static void refuses(const char *text, const char *phrase)
{
    flattened f = flatten_with("m.mo", text, NULL, 0);
    assert_null(f.m);
    if (!strstr(message_text(f.messages), phrase)) print_message("%s", message_text(f.messages));
    assert_non_null(strstr(message_text(f.messages), phrase));
    release(&f);
}

static void limits(void **state)
{
    (void)state;
    refuses("model M\n  Real x[3000, 3000, 3000];\nend M;\n", "elements: at most");
    refuses("model M\n  Real x = sum(fill(1, 10000, 10000));\nend M;\n", "too large");
    refuses("model M\n  function f\n    input Integer n;\n    output Integer r;\n  algorithm\n"
            "    r := f(n + 1);\n  end f;\n  Real x = f(1);\nend M;\n",
            "deep");
    refuses("model M\n  function f\n    input Real x;\n    output Real r = x;\n  algorithm\n"
            "    while true loop\n      r := r + 1;\n    end while;\n  end f;\n"
            "  Real x = f(1);\nend M;\n",
            "has not ended");
    refuses("model M\n  Real x(start = 1, fixed = true), A[20, 20] = x*fill(0.1, 20, 20);\n"
            "  Real B[20, 20] = (A + A^2)^100;\nequation\n  der(x) = -x;\nend M;\n",
            "too many to analyse");
    refuses("model M\n  R r;\n  record R\n    R again;\n  end R;\nend M;\n", "contains itself");
}

/* ---- units ---- */

static void units(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
    } equal[] = {{"N", "kg.m/s2"},
                 {"V", "W/A"},
                 {"Ohm", "V/A"},
                 {"Pa", "N/m2"},
                 {"J", "N.m"},
                 {"J", "kg.m2/s2"},
                 {"W/(m2.K)", "kg/(s3.K)"},
                 {"rad/s", "1/s"},
                 {"Hz", "1/s"},
                 {"mV", "mW/A"},
                 {"kJ/kg", "J/g"},
                 {"km/h", "km/h"},
                 {"F", "A.s/V"},
                 {"degC", "K"},
                 {"1", "rad"},
                 {"m3", "kl"},
                 {"T.m2", "Wb"}};
    unit_table t = {0};
    for (size_t k = 0; k < sizeof equal / sizeof *equal; k++) {
        int a = unit_number(&t, equal[k].a), b = unit_number(&t, equal[k].b);
        assert_true(a > 0 && b > 0);
        assert_true(unit_agree(&t, a, b));
    }
    assert_false(unit_agree(&t, unit_number(&t, "V"), unit_number(&t, "mV")));
    assert_false(unit_agree(&t, unit_number(&t, "s"), unit_number(&t, "min")));
    assert_false(unit_agree(&t, unit_number(&t, "deg"), unit_number(&t, "rad")));
    assert_false(unit_agree(&t, unit_number(&t, "m"), unit_number(&t, "m2")));
    assert_int_equal(unit_number(&t, "furlong"), UNIT_UNKNOWN);
    assert_int_equal(unit_number(&t, "N/"), UNIT_UNKNOWN);
    assert_int_equal(unit_number(&t, ""), UNIT_UNKNOWN);
    int force = unit_multiply(&t, unit_number(&t, "kg"), unit_number(&t, "m/s2"));
    assert_true(unit_agree(&t, force, unit_number(&t, "N")));
    assert_string_equal(unit_text(&t, force), "N");
    int slope = unit_divide(&t, unit_number(&t, "V"), unit_number(&t, "s"));
    assert_string_equal(unit_text(&t, slope), "V/s");
    int impulse = unit_multiply(&t, force, unit_number(&t, "s")); /* spelled when it is asked for */
    assert_int_equal(unit_number(&t, "N.s"), impulse);
    assert_int_equal(unit_number(&t, "0.001 kg"), UNIT_UNKNOWN);
    assert_true(unit_agree(&t, unit_power(&t, unit_number(&t, "m2"), 0.5), unit_number(&t, "m")));
    assert_true(unit_is_number(&t, unit_number(&t, "rad")));
    assert_false(unit_is_number(&t, unit_number(&t, "K")));
    unit_table_free(&t);
}

static int warnings_of(const char *equation)
{
    char text[1024];
    snprintf(text, sizeof text,
             "model M\n  parameter Real m(unit = \"kg\") = 1, c(unit = \"N/m\") = 2, free = 3;\n"
             "  Real x(unit = \"m\"), v(unit = \"m/s\"), F(unit = \"N\"), phi(unit = \"rad\"), y;\n"
             "  Real T(unit = \"degC\"), A[2](each unit = \"m\");\n"
             "equation\n  der(x) = v;\n  F = m*der(v);\n  der(phi) = 1;\n  der(T) = 1;\n"
             "  der(A) = {1, 2};\n  der(F) = 1;\n  %s;\nend M;\n",
             equation);
    flattened f = flatten_with("m.mo", text, NULL, 0);
    if (!f.m) print_message("%s", message_text(f.messages));
    assert_non_null(f.m);
    int count = message_warnings(f.messages);
    release(&f);
    return count;
}

static void unit_warnings(void **state)
{
    (void)state;
    static const char *const fine[] = {"y = x + v*free",        "y = F + c*x",
                                       "y = F + m*9.81",        "y = x + 1",
                                       "y = sin(phi) + cos(1)", "y = F*x/2 + m*v^2/2",
                                       "y = T - 273.15",        "y = sqrt(x*x) + x",
                                       "y = max(F, c*x)",       "y = A[1] + x",
                                       "y = x + sum(A)",        "y = x + free",
                                       "y = exp(-x/A[1])",      "y = x + time*v",
                                       "y = A*A + x^2",         "y = if x > 0 then F else 0",
                                       "y = x + min(A[1], 2)",  "y = abs(x) + x",
                                       "y = F/m + der(v)",      "y = 2*x + x",
                                       "y = sin(time)",         "y = exp(-time)*cos(time)",
                                       "y = log(1 + time)",     "y = sinh(time) + time"};
    static const char *const wrong[] = {
        "y = x + v",       "y = F - m*v", "y = if x > v then 1 else 0",
        "y = sin(x)",      "y = exp(F)",  "y = x + time",
        "y = max(x, v)",   "y = A*A + x", "y = if time > 1 then x else v",
        "y = sqrt(x) + x", "y = c*x + m", "y = 2*x + v"};
    for (size_t k = 0; k < sizeof fine / sizeof *fine; k++)
        if (warnings_of(fine[k])) {
            print_message("false alarm: %s\n", fine[k]);
            fail();
        }
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        if (warnings_of(wrong[k]) != 1) {
            print_message("not one warning: %s\n", wrong[k]);
            fail();
        }
}

/* In a text of an exporting tool, a parameter with a unit that nothing reads says that its value
 * stands in the equations, or nothing for a factor of 1. */
static int warnings_of_export(const char *header, const char *equation)
{
    char text[1024];
    snprintf(text, sizeof text,
             "%smodel M\n  parameter Real G(unit = \"W/K\") = 1;\n"
             "  Real Q(unit = \"W\"), T(unit = \"K\");\nequation\n  der(T) = 1;\n  %s;\nend M;\n",
             header, equation);
    flattened f = flatten_with("m.mo", text, NULL, 0);
    assert_non_null(f.m);
    int count = message_warnings(f.messages);
    release(&f);
    return count;
}

static void units_of_folded_constants(void **state)
{
    (void)state;
    assert_int_equal(warnings_of_export("//! base 0.1.0\n", "Q = T"), 0);
    assert_int_equal(warnings_of_export("", "Q = T"), 1);
    assert_int_equal(warnings_of_export("//! base 0.1.0\n", "Q = G*T + T"), 1);
    assert_int_equal(warnings_of_export("//! base 0.1.0\n", "Q = G*T"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_messages), cmocka_unit_test(shipped_models),
        cmocka_unit_test(no_cascades),     cmocka_unit_test(loops_say_it_once),
        cmocka_unit_test(limits),          cmocka_unit_test(units),
        cmocka_unit_test(unit_warnings),   cmocka_unit_test(units_of_folded_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
