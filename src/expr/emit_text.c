/* Text that grows, numbers that read back, comments that cannot end early. */
#include "expr/emit.h"

#include "base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` characters and the end. */
static bool reserve(emit_text *t, size_t more)
{
    if (t->failed) return false;
    if (t->length + more + 1 <= t->capacity) return true;
    if (!dae_grow(&t->text, &t->capacity, t->length + more + 4096, 1)) t->failed = true;
    return !t->failed;
}

/* The text has grown by n characters. */
static void grown_by(emit_text *t, size_t n)
{
    for (size_t i = t->length; i < t->length + n; i++)
        if (t->text[i] == '\n') t->line = i + 1;
    t->length += n;
}

void emit_put(emit_text *t, const char *text)
{
    size_t n = strlen(text);
    if (!reserve(t, n)) return;
    memcpy(t->text + t->length, text, n + 1);
    grown_by(t, n);
}

void emit_append(emit_text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0 || !reserve(t, (size_t)n)) {
        t->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(t->text + t->length, (size_t)n + 1, format, arguments);
    va_end(arguments);
    grown_by(t, (size_t)n);
}

void emit_free(emit_text *t)
{
    dae_free(t->text);
    *t = (emit_text){0};
}

/* Replace the locale's decimal sign, which may have several bytes, by a point. */
static void restore_point(char *text)
{
    char *to = text;
    bool foreign = false;
    for (const char *from = text; *from; from++) {
        bool plain = strchr("0123456789+-e", *from) != NULL;
        if (!plain && !foreign) *to++ = '.';
        if (plain) *to++ = *from;
        foreign = !plain;
    }
    *to = '\0';
}

void emit_number(double value, char text[32])
{
    if (isnan(value)) {
        strcpy(text, "NAN");
        return;
    }
    if (isinf(value)) {
        strcpy(text, value < 0.0 ? "-INFINITY" : "INFINITY");
        return;
    }
    for (int digits = 1; digits <= 17; digits = digits < 15 ? 15 : digits + 1) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    restore_point(text);
    if (!strpbrk(text, ".e")) strcat(text, ".0");
}

/* Names may hold anything: they must not end the comment, begin one, or run over the line. */
void emit_comment(emit_text *t, const char *text)
{
    char previous = '\0';
    for (; *text; text++) {
        char piece[3] = {*text, '\0', '\0'};
        if ((unsigned char)*text < ' ' || *text == '\\') piece[0] = ' ';
        bool pair = (previous == '*' && *text == '/') || (previous == '/' && *text == '*');
        if (pair) {
            piece[1] = piece[0];
            piece[0] = ' ';
        }
        emit_put(t, piece);
        previous = *text;
    }
}
