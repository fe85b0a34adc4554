/* External objects, which are tables: values that nobody sets, with numbers of files read in. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "modelica/flatten/flatten_declare.h"
#include "modelica/flatten/flatten_files.h"

static value *field_of(const value *object, const char *name)
{
    for (size_t k = 0; k < object->field_count; k++) {
        const char *own = object->class_->components[k].name;
        size_t n = strlen(name);
        if (own[0] == '\'') own++;
        if (strncmp(own, name, n) == 0 && (own[n] == '\0' || own[n] == '\''))
            return &object->fields[k];
    }
    return NULL;
}

static const char *text_field(flattener *f, const value *object, const char *name)
{
    const value *v = field_of(object, name);
    if (!v || v->type != VALUE_STRING || v->rank != 0) return NULL;
    const text_piece *t = string_of(f, string_resolve(f, value_element(v, 0)));
    return t && t->hole_count == 0 ? t->text : NULL;
}

static double number_field(flattener *f, const value *object, const char *name, double otherwise)
{
    const value *v = field_of(object, name);
    double x = otherwise;
    if (!v || v->rank != 0 || !compile_time_value(f, value_element(v, 0), &x)) return otherwise;
    return x;
}

/* What chooses the kind of a table is known before the run: numbers in place of parameters. */
static bool settle_choices(flattener *f, value *object, source_place place)
{
    for (size_t k = 0; k < object->field_count; k++) {
        value *v = &object->fields[k];
        if (v->type == VALUE_REAL || v->type == VALUE_STRING || v->type == VALUE_RECORD) continue;
        value settled = value_new(f, v->type, v->rank, v->dims);
        if (value_is_error(&settled)) return false;
        for (size_t i = 0; i < v->count; i++) {
            double x;
            if (!compile_time_value(f, value_element(v, i), &x))
                return report_error(f, place, "'%s' of a table must be known before the run",
                                    object->class_->components[k].name);
            settled.e[i] = constant(f, x);
        }
        settled.class_ = v->class_;
        *v = settled;
    }
    return true;
}

/* Columns that are asked for are there, abscissae do not go down. */
static bool check_rows(const value *object, const table_file *t, bool surface, table_trouble *out)
{
    for (size_t i = surface ? 2 : 1; i < t->rows; i++) {
        double before = t->values[(i - 1) * t->columns], here = t->values[i * t->columns];
        if (here > before || (here == before && field_of(object, "startTime"))) continue;
        out->line = t->lines ? t->lines[i] : 0;
        out->column = t->lines ? 1 : 0;
        snprintf(out->text, sizeof out->text, "row %zu begins with %.15g, not above %.15g", i + 1,
                 here, before);
        return false;
    }
    return true;
}

static bool check_columns(flattener *f, const value *object, const table_file *t,
                          table_trouble *out)
{
    const value *columns = field_of(object, "columns");
    double x = 0.0;
    for (size_t k = 0; columns && k < columns->count; k++) {
        if (!compile_time_value(f, value_element(columns, k), &x)) continue;
        if (x >= 1.0 && x <= (double)t->columns) continue;
        out->line = out->column = 0;
        snprintf(out->text, sizeof out->text, "it has %zu columns: column %.0f is asked for",
                 t->columns, x);
        return false;
    }
    return true;
}

static bool take_values(flattener *f, value *object, const table_file *t)
{
    size_t *dims = flatten_take(f, 2 * sizeof *dims);
    if (!dims) return false;
    dims[0] = t->rows;
    dims[1] = t->columns;
    value v = value_new(f, VALUE_REAL, 2, dims);
    if (value_is_error(&v)) return false;
    for (size_t k = 0; k < v.count; k++) v.e[k] = constant(f, t->values[k]);
    *field_of(object, "table") = v;
    return true;
}

static bool read_file_of(flattener *f, value *object, const char *name, source_place place)
{
    const char *own = text_field(f, object, "tableName"), *path = path_beside_model(f, name);
    const char *delimiter = text_field(f, object, "delimiter");
    if (strncmp(name, "modelica://", 11) == 0)
        return report_error(
            f, place, "the table's file '%s' is named by a URI of a library; write its path", name);
    table_request request = {.path = path,
                             .name = own ? own : "",
                             .delimiter = delimiter && delimiter[0] ? delimiter[0] : ',',
                             .header_lines = (int)number_field(f, object, "nHeaderLines", 0.0)};
    table_file t;
    table_trouble trouble = {0};
    if (!path) return false;
    if (!table_file_read(&request, &t, &trouble)) return report_trouble(f, place, path, &trouble);
    bool surface = !field_of(object, "columns");
    bool ok = check_rows(object, &t, surface, &trouble) && check_columns(f, object, &t, &trouble);
    if (!ok) report_trouble(f, place, path, &trouble);
    ok = ok && take_values(f, object, &t);
    table_file_free(&t);
    return ok;
}

/* An external object: what its constructor is given, not parameters of their own. */
value declare_object(flattener *f, instance *in, const ast_class *class_)
{
    source_place place = in->binding ? in->binding->place : in->component->place;
    value v = checked_binding(f, in, VALUE_RECORD, class_);
    if (value_is_error(&v) || v.type != VALUE_RECORD || !settle_choices(f, &v, place))
        return value_error();
    const char *name = field_of(&v, "table") ? text_field(f, &v, "fileName") : NULL;
    bool file = name && strcmp(name, "NoName") != 0 && strspn(name, " ") < strlen(name);
    if (file && !read_file_of(f, &v, name, place)) return value_error();
    return v;
}
