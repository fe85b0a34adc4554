/* Types: predefined ones, aliases, records and enumerations. */
#include <string.h>

#include "modelica/flatten/flatten_internal.h"

static value_type predefined_type(const char *name)
{
    if (strcmp(name, "Real") == 0) return VALUE_REAL;
    if (strcmp(name, "Integer") == 0) return VALUE_INTEGER;
    if (strcmp(name, "Boolean") == 0) return VALUE_BOOLEAN;
    if (strcmp(name, "String") == 0) return VALUE_STRING;
    return VALUE_ERROR;
}

bool class_is_enumeration(const ast_class *c)
{
    return c && c->kind == CLASS_TYPE && !c->base;
}

static bool type_unknown(flattener *f, const char *name, source_place place)
{
    return report_error(f, place, "unknown type '%s'%s", name,
                        did_you_mean(f, nearest_class(f, name, CLASS_TYPE)));
}

/* Follow aliases from `name` to a predefined type, a record or an enumeration. */
bool resolve_type(flattener *f, const char *name, source_place place, type_info *out)
{
    *out = (type_info){.type = VALUE_ERROR};
    if (!name) return false;
    const char *current = name;
    while ((out->type = predefined_type(current)) == VALUE_ERROR) {
        const ast_class *c = find_class(f, current);
        if (!c) c = library_class(f, current);
        if (!c) return type_unknown(f, current, place);
        if (c->kind == CLASS_RECORD || class_is_enumeration(c)) {
            out->class_ = c;
            out->type = c->kind == CLASS_RECORD ? VALUE_RECORD : VALUE_ENUMERATION;
            return true;
        }
        if (c->kind != CLASS_TYPE) return report_error(f, place, "'%s' is not a type", current);
        if (out->chain_count == TYPE_MAX_CHAIN)
            return report_error(f, place, "type '%s' is defined by itself", name);
        out->chain[out->chain_count++] = c;
        current = c->base;
    }
    return true;
}

bool record_allowed(flattener *f, const ast_class *record, const record_level *outer,
                    source_place place)
{
    int depth = 0;
    for (; outer; outer = outer->outer, depth++) {
        if (outer->record == record)
            report_error(f, place, "record %s contains itself", record->name);
        else if (depth == TYPE_MAX_CHAIN)
            report_error(f, place, "records are nested too deeply");
        else
            continue;
        f->stop = true; /* each field of each level would say the same */
        return false;
    }
    return true;
}

bool same_field(const char *field, const char *name, size_t length)
{
    size_t own = field ? strlen(field) : 0;
    if (own == length + 2 && field[0] == '\'') return strncmp(field + 1, name, length) == 0;
    return own == length && strncmp(field, name, length) == 0;
}

bool records_alike(const ast_class *a, const ast_class *b)
{
    if (a == b || !a || !b) return a == b;
    if (a->component_count != b->component_count) return false;
    for (size_t k = 0; k < a->component_count; k++) {
        const char *name = b->components[k].name;
        size_t length = name ? strlen(name) : 0;
        bool quoted = length > 2 && name[0] == '\'';
        if (!name ||
            !same_field(a->components[k].name, quoted ? name + 1 : name, length - 2 * quoted))
            return false;
    }
    return true;
}
