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

bool value_has_gap(const value *v)
{
    for (size_t k = 0; v->fields && k < v->field_count; k++)
        if (value_has_gap(&v->fields[k])) return true;
    for (size_t k = 0; !v->fields && k < v->count; k++)
        if (value_element(v, k) == EXPR_NONE) return true;
    return false;
}

const char *value_type_name(value_type type)
{
    static const char *const names[] = {
        "an erroneous value", "Real",   "Integer", "Boolean", "String",
        "enumeration",        "record", "tuple",   "function"};
    return names[type];
}

/* Append text to t, never beyond its end. */
static void append(value_text *t, const char *text)
{
    size_t at = strlen(t->text);
    snprintf(t->text + at, sizeof t->text - at, "%s", text);
}

value_text value_shape(int rank, const size_t *dims)
{
    value_text t = {"["};
    for (int k = 0; k < rank; k++) {
        char number[32];
        snprintf(number, sizeof number, k ? ", %zu" : "%zu", dims[k]);
        append(&t, number);
    }
    append(&t, "]");
    return t;
}

value_text value_describe(const value *v)
{
    value_text t = {""};
    append(&t, value_type_name(v->type));
    if (v->class_ && v->class_->name) {
        append(&t, " ");
        append(&t, v->class_->name);
    }
    if (v->rank > 0) append(&t, value_shape(v->rank, v->dims).text);
    return t;
}
