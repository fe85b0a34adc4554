/* Texts: String(..), and the number of a value of an enumeration. */
#include <stdio.h>
#include <string.h>

#include "judge/judge_parts.h"

enum { MOST_WIDTH = 200, MOST_TEXT = 512 };

static double option(machine *m, const node *n, int k, double standard)
{
    return k < n->kid_count && n->kids[k] ? judge_eval_number(m, n->kids[k]) : standard;
}

/* Whether a format is one of C for a single number, as "8.3f". */
static bool sound_format(const char *format, bool *whole)
{
    size_t n = strspn(format, "-+ #0123456789.");
    if (n > 16 || !format[n] || format[n + 1]) return false;
    *whole = strchr("dioxXuc", format[n]) != NULL;
    return *whole || strchr("feEgG", format[n]);
}

static void formatted(machine *m, const node *n, const char *format, double v, char *text)
{
    bool whole;
    char full[32];
    if (!sound_format(format, &whole)) judge_fail(m, n->line, "a format of String");
    size_t length = strlen(format);
    snprintf(full, sizeof full, "%%%.*s%s%c", (int)length - 1, format, whole ? "l" : "",
             format[length - 1]);
    if (whole)
        snprintf(text, MOST_TEXT, full, (long)v);
    else
        snprintf(text, MOST_TEXT, full, v);
}

static void plain(machine *m, const node *n, const value *x, char *text)
{
    double v = judge_number(m, x, n->line);
    int digits = (int)option(m, n, 3, 6.0), k = (int)v - 1;
    switch (x->type->base) {
    case BASE_BOOLEAN: snprintf(text, MOST_TEXT, "%s", v != 0.0 ? "true" : "false"); return;
    case BASE_INTEGER: snprintf(text, MOST_TEXT, "%.0f", v); return;
    case BASE_ENUMERATION:
        snprintf(text, MOST_TEXT, "%s",
                 k >= 0 && k < x->type->literal_count ? x->type->literals[k] : "?");
        return;
    default: snprintf(text, MOST_TEXT, "%.*g", digits < 1 ? 1 : digits > 60 ? 60 : digits, v);
    }
}

static value call_string(machine *m, const node *n)
{
    value x = judge_eval(m, n->kids[0]);
    if (x.type->base == BASE_STRING) return x;
    char text[MOST_TEXT], padded[MOST_TEXT + MOST_WIDTH];
    if (n->kid_count > 4 && n->kids[4]) {
        value format = judge_eval(m, n->kids[4]);
        formatted(m, n, judge_string_of(m, &format, n->line), judge_number(m, &x, n->line), text);
    } else {
        plain(m, n, &x, text);
    }
    int width = (int)fmin(fmax(option(m, n, 1, 0.0), 0.0), MOST_WIDTH);
    bool left = option(m, n, 2, 1.0) != 0.0;
    snprintf(padded, sizeof padded, "%*s", left ? -width : width, text);
    return judge_text_value(m, padded);
}

/* Integer(e) is the number of e; E(i) the other way. */
static value call_integer_of(machine *m, const node *n)
{
    value v = judge_eval(m, n->kids[0]);
    if (v.type->base >= BASE_STRING) judge_fail(m, n->line, "the number of a text");
    const jtype *of = n->constant.type;
    if (v.type->base == BASE_REAL) judge_fail(m, n->line, "Integer of a Real");
    value w = judge_make(m, of ? of : &judge_integer, &v.shape);
    int count = judge_cells(&v);
    for (int k = 0; k < count; k++) {
        if (of && !(v.cells[k].v >= 1.0 && v.cells[k].v <= of->literal_count))
            judge_fail(m, n->line, "a number without a literal");
        w.cells[k] = v.cells[k];
        w.cells[k].index = 0;
    }
    return w;
}

const builtin judge_text_builtins[] = {
    {"String", call_string, 1, 1, "x minimumLength leftJustified significantDigits format"},
    {"Integer", call_integer_of, 1, 1, NULL},
    {NULL, NULL, 0, 0, NULL}};
