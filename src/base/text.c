#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "base/text.h"

#include "base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(char *text, size_t size, const char *format, va_list arguments)
{
    const size_t used = size > 0 ? strlen(text) : 0;
    if (used + 1 >= size) return;
    vsnprintf(text + used, size - used, format, arguments);
    make_printable(text + used, size - used);
}

void text_add(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(text, size, format, arguments);
    va_end(arguments);
}

void text_put(const text_writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(w->text, w->size, format, arguments);
    va_end(arguments);
}

size_t text_append(char *text, size_t size, size_t at, const char *more, size_t most)
{
    if (at + 1 >= size) return at;
    const size_t length = strnlen(more, most), room = size - at - 1;
    const size_t taken = length < room ? length : room;
    memcpy(text + at, more, taken);
    text[at + taken] = '\0';
    return at + taken;
}

size_t text_append_number(char *text, size_t size, size_t at, size_t number)
{
    char digits[24] = {0}, *first = digits + sizeof digits - 1;
    do *--first = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return text_append(text, size, at, first, sizeof digits);
}

size_t text_append_place(char *text, size_t size, size_t at, int line, const char *pass)
{
    at = text_append(text, size, at, ":", 1);
    at = text_append_number(text, size, at, line > 0 ? (size_t)line : 0);
    if (pass) at = text_append(text, size, at, ", ", 2);
    if (pass) at = text_append(text, size, at, pass, 100);
    return text_append(text, size, at, ")", 1);
}

void text_cut(char *text, size_t length, size_t size)
{
    if (size < 3) return;
    size_t end = length < size - 3 ? length : size - 3;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) end--;
    memcpy(text + end, "..", 3);
}

text_list text_list_in(dae_diag *diag, int most)
{
    return (text_list){
        .text = diag ? diag->text : NULL, .size = diag ? sizeof diag->text : 0, .most = most};
}

void text_list_add(text_list *list, const char *format, ...)
{
    const int k = list->count++;
    if (!list->text || k >= list->most) return;
    if (k > 0) text_add(list->text, list->size, k + 1 == list->total ? " and " : ", ");
    va_list arguments;
    va_start(arguments, format);
    add(list->text, list->size, format, arguments);
    va_end(arguments);
}

void text_list_more(const text_list *list, const char *format, ...)
{
    if (!list->text || list->count > list->most) return;
    va_list arguments;
    va_start(arguments, format);
    add(list->text, list->size, format, arguments);
    va_end(arguments);
}

void text_list_end(const text_list *list)
{
    if (list->text && list->count > list->most)
        text_add(list->text, list->size, " and %d more", list->count - list->most);
}
