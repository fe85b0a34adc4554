/* Matrices of files: ModelicaIO_readRealMatrix(file, name, matrix, ..), whose results are known
 * before the run, and ModelicaIO_readMatrixSizes(file, name, sizes). */
#include "modelica/flatten/flatten_files.h"

#include <string.h>

#include "modelica/flatten/flatten_execute.h"

bool report_trouble(flattener *f, source_place place, const char *path, const table_trouble *t)
{
    if (t->text[0] == '\0') {
        f->failed = true;
        return false;
    }
    if (t->line == 0) return report_error(f, place, "table in %s: %s", path, t->text);
    if (t->column == 0) return report_error(f, place, "table in %s:%d: %s", path, t->line, t->text);
    return report_error(f, place, "table in %s:%d:%d: %s", path, t->line, t->column, t->text);
}

static bool is_sizes_function(const char *name)
{
    return strcmp(name, "ModelicaIO_readMatrixSizes") == 0;
}

bool is_file_function(const char *name)
{
    return is_sizes_function(name) || strcmp(name, "ModelicaIO_readRealMatrix") == 0;
}

/* Argument k of the call, a text; NULL: an error was reported. */
static const char *text_argument(flattener *f, const ast_expr *call, size_t k)
{
    value v = k < call->arg_count ? evaluate(f, call->args[k]) : value_error();
    const text_piece *t = v.type == VALUE_STRING && v.rank == 0
                              ? string_of(f, string_resolve(f, value_element(&v, 0)))
                              : NULL;
    if (t && t->hole_count == 0) return t->text;
    if (!value_is_error(&v) || k >= call->arg_count)
        report_error(f, call->place, "argument %zu of %s is a String known before the run", k + 1,
                     call->parts[0].name);
    return NULL;
}

/* The rows and columns of a file, or its numbers, as the output wants them. */
static value matrix_value(flattener *f, const ast_class *fn, const table_file *t,
                          const value *cells)
{
    bool sizes = is_sizes_function(fn->external_call->parts[0].name);
    size_t wanted[2] = {sizes ? 2 : t->rows, t->columns};
    int rank = sizes ? 1 : 2;
    if (cells->rank != rank || memcmp(cells->dims, wanted, (size_t)rank * sizeof *wanted) != 0)
        return error_value(f, fn->external_place, "the file has sizes %s, %s wants %s",
                           value_shape(rank, wanted).text, fn->name,
                           value_shape(cells->rank, cells->dims).text);
    value v = value_new(f, cells->type, rank, wanted);
    if (value_is_error(&v)) return v;
    const double shape[2] = {(double)t->rows, (double)t->columns};
    for (size_t k = 0; k < v.count; k++) v.e[k] = constant(f, sizes ? shape[k] : t->values[k]);
    return v;
}

bool call_file_function(flattener *f, const ast_class *fn)
{
    const ast_expr *call = fn->external_call;
    const ast_expr *output = call->arg_count > 2 ? call->args[2] : NULL;
    const char *file = text_argument(f, call, 0), *name = file ? text_argument(f, call, 1) : NULL;
    const char *path = name ? path_beside_model(f, file) : NULL;
    const local *l = is_output(fn, output) ? find_local(f, output->parts[0].name) : NULL;
    table_request request = {.path = path, .name = name, .delimiter = ','};
    table_file t;
    table_trouble trouble = {0};
    if (!path) return false;
    if (!l)
        return report_error(f, fn->external_place, "argument 3 of %s is an output",
                            call->parts[0].name);
    if (strncmp(file, "modelica://", 11) == 0)
        return report_error(f, fn->external_place,
                            "the file '%s' is named by a URI of a library; write its path", file);
    if (!table_file_read(&request, &t, &trouble))
        return report_trouble(f, fn->external_place, path, &trouble);
    value v = matrix_value(f, fn, &t, &l->value);
    table_file_free(&t);
    return assign_reference(f, output, &v);
}
