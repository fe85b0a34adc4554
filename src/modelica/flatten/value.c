/* Values: constructors and their description in messages. */
#include "modelica/flatten/value.h"

#include <stdio.h>
#include <string.h>

value value_error(void)
{
    return (value){.type = VALUE_ERROR, .count = 1};
}

value value_scalar(value_type type, expr e)
{
    return (value){.type = type, .count = 1, .scalar = e};
}

bool value_same_shape(const value *a, const value *b)
{
    return a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

const char *value_type_name(value_type type)
{
    static const char *const names[] = {
        "an erroneous value", "Real",   "Integer", "Boolean", "String",
        "enumeration",        "record", "tuple"};
    return names[type];
}

/* Append formatted text at *at, never beyond size. */
static void append(char *buffer, size_t size, size_t *at, const char *text)
{
    size_t length = strlen(text);
    if (*at + length >= size) length = size > *at ? size - *at - 1 : 0;
    memcpy(buffer + *at, text, length);
    *at += length;
    buffer[*at] = '\0';
}

void value_shape_text(int rank, const size_t *dims, char *buffer, size_t size)
{
    size_t at = 0;
    append(buffer, size, &at, "[");
    for (int k = 0; k < rank; k++) {
        char number[32];
        snprintf(number, sizeof number, k ? ", %zu" : "%zu", dims[k]);
        append(buffer, size, &at, number);
    }
    append(buffer, size, &at, "]");
}

void value_describe(const value *v, char *buffer, size_t size)
{
    size_t at = 0;
    buffer[0] = '\0';
    append(buffer, size, &at, value_type_name(v->type));
    if (v->class_ && v->class_->name) {
        append(buffer, size, &at, " ");
        append(buffer, size, &at, v->class_->name);
    }
    if (v->rank > 0 && at + 1 < size) value_shape_text(v->rank, v->dims, buffer + at, size - at);
}
