/* Values as texts: String(x, ..) of the language. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "modelica/flatten/flat.h"

enum { DEFAULT_DIGITS = 6, WIDEST = 200 };

/* [flags][width][.precision]conversion, as after the % of C: the whole of it, and sizes that fit.
 */
bool flat_format_valid(const char *format, bool real)
{
    const char *p = format + strspn(format, "-+ #0");
    for (int part = 0; part < 2; part++) {
        int size = 0;
        if (part == 1 && *p != '.') break;
        for (p += part; *p >= '0' && *p <= '9' && size <= WIDEST; p++) size = 10 * size + *p - '0';
        if (size > WIDEST) return false;
    }
    return *p && strchr(real ? "eEfFgG" : "eEfFgGdioxXuc", *p) && p[1] == '\0';
}

/* A number by a format that is valid for it. */
static void print_formatted(double x, const char *format, char *text, size_t size)
{
    char pattern[64];
    size_t length = strlen(format);
    char conversion = length > 0 ? format[length - 1] : 'g';
    if (length + 4 > sizeof pattern) length = 0;
    if (length == 0) {
        snprintf(text, size, "%.6g", x);
    } else if (strchr("eEfFgG", conversion)) {
        snprintf(pattern, sizeof pattern, "%%%s", format);
        snprintf(text, size, pattern, x);
    } else {
        const char *wide = conversion == 'c' ? "" : "ll";
        snprintf(pattern, sizeof pattern, "%%%.*s%s%c", (int)length - 1, format, wide, conversion);
        if (conversion == 'c')
            snprintf(text, size, pattern, (int)x);
        else
            snprintf(text, size, pattern, (long long)x);
    }
}

void flat_print(double x, flat_type type, const flat_format *format, char *text, size_t size)
{
    char bare[400];
    bool whole = type == FLAT_INTEGER || type == FLAT_ENUMERATION;
    int digits = format->digits > 0 ? format->digits : DEFAULT_DIGITS;
    int least = format->least < WIDEST ? format->least : WIDEST;
    if (type == FLAT_BOOLEAN)
        snprintf(bare, sizeof bare, "%s", x != 0.0 ? "true" : "false");
    else if (format->given && isfinite(x))
        print_formatted(x, format->given, bare, sizeof bare);
    else if (whole && isfinite(x))
        snprintf(bare, sizeof bare, "%.0f", x);
    else
        snprintf(bare, sizeof bare, "%.*g", digits, x);
    snprintf(text, size, "%*s", format->right ? least : -least, bare);
}

void flat_fill(const flat_hole *h, double x, char *text, size_t size)
{
    int least = h->format.least < WIDEST ? h->format.least : WIDEST;
    if (x >= 1.0 && x <= (double)h->choice_count)
        snprintf(text, size, "%*s", h->format.right ? least : -least, h->choices[(size_t)x - 1]);
    else
        flat_print(x, h->type, &h->format, text, size);
}
