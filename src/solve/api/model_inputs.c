#include "solve/api/model_inputs.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "modelica/flatten/units.h"
#include "modelica/library/table_file.h"
#include "solve/api/model_values.h"

/* ---- the description ---- */

static dae_status check_input(const dae_input *in, int k, dae_diag *diag)
{
    const char *name = in->name ? in->name : "(no name)";
    if ((in->expression != NULL) + (in->file != NULL) + (in->value != NULL) != 1)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "inputs[%d], %s: it needs one of expression, file and value.", k, name);
    if (!in->name && !in->file)
        return diag_set(diag, DAE_ERR_ARGUMENT, "inputs[%d]: an %s needs a name.", k,
                        in->expression ? "expression" : "input by a function");
    if (in->derivatives < 0 || (!in->value && (in->derivatives > 0 || in->jump)))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "inputs[%d], %s: derivatives = %d and a jump belong to a function.", k,
                        name, in->derivatives);
    if (in->column && (!in->file || !in->name))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "inputs[%d], %s: a column needs a file and the name of an input.", k, name);
    if ((int)in->mode < 0 || in->mode > DAE_INPUT_STEP)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "inputs[%d], %s: mode = %d is not a dae_input_mode.", k, name,
                        (int)in->mode);
    return DAE_OK;
}

dae_status model_inputs_check(const dae_model *m, dae_diag *diag)
{
    if (m->input_count < 0 || (m->input_count > 0 && !m->inputs))
        return diag_set(diag, DAE_ERR_ARGUMENT, "input_count = %d without inputs.", m->input_count);
    dae_status status = DAE_OK;
    for (int k = 0; k < m->input_count && status == DAE_OK; k++)
        status = check_input(&m->inputs[k], k, diag);
    return status;
}

/* ---- files ---- */

static dae_status no_memory(dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while reading inputs.");
}

static dae_status explain_trouble(const char *path, const table_trouble *t, dae_diag *diag)
{
    if (t->text[0] == '\0') return no_memory(diag);
    if (t->line == 0) return diag_set(diag, DAE_ERR_FILE, "%s: %s.", path, t->text);
    if (diag) diag->line = t->line;
    if (t->column == 0)
        return diag_set(diag, DAE_ERR_ARGUMENT, "%s:%d: %s.", path, t->line, t->text);
    return diag_set(diag, DAE_ERR_ARGUMENT, "%s:%d:%d: %s.", path, t->line, t->column, t->text);
}

/* Where the unit of "u [V]", "u (V)" or "u[V]" begins; NULL: it has none. x[1] is an element. */
static char *unit_in(char *name)
{
    size_t n = strlen(name);
    const char last = n > 0 ? name[n - 1] : '\0';
    char *open = NULL;
    if (last != ']' && last != ')') return NULL;
    for (char *c = name + 1; *name && *c; c++)
        if (c[-1] == ' ' && *c == (last == ']' ? '[' : '(')) open = c;
    if (open || last != ']' || name[0] == '\'') return open;
    open = strrchr(name, '[');
    return open && open > name && !isdigit((unsigned char)open[1]) ? open : NULL;
}

/* "u [V]": end the name before its unit, which is returned; NULL: it has none. */
static const char *split_unit(char *name)
{
    char *open = unit_in(name);
    if (!open) return NULL;
    name[strlen(name) - 1] = '\0';
    *open = '\0';
    for (char *c = open - 1; c > name && *c == ' '; c--) *c = '\0';
    return open[1] ? open + 1 : NULL;
}

/* The column of that name; columns: there is none. */
static size_t find_column(const input_file *f, const char *name)
{
    size_t k = 0;
    while (k < f->columns && !same_but_quotes(f->names[k], name)) k++;
    return k;
}

/* Times never go down, and of a jump there are two rows. */
static dae_status check_times(const input_file *f, dae_diag *diag)
{
    const double *t = f->table.time;
    for (size_t i = 1; i < f->table.rows; i++) {
        bool third = i > 1 && t[i] == t[i - 2];
        if (t[i] >= t[i - 1] && !third) continue;
        if (diag) diag->line = f->lines[i];
        if (third)
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "%s:%d: a third row with time %.15g; two of them are a jump.",
                            f->table.name, f->lines[i], t[i]);
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "%s:%d: time %.15g follows %.15g: times must not decrease.", f->table.name,
                        f->lines[i], t[i], t[i - 1]);
    }
    return DAE_OK;
}

/* Times in another unit than s become those in s. */
static dae_status convert_times(input_file *f, const char *column, const char *from, dae_diag *diag)
{
    if (!from || strcmp(from, "s") == 0) return DAE_OK;
    if (isnan(unit_converted(0.0, from, "s")))
        return diag_set(
            diag, DAE_ERR_ARGUMENT,
            "%s: the times, column '%s', are in '%s', which cannot be converted to 's'.",
            f->table.name, column, from);
    f->table.time_unit = from;
    for (size_t i = 0; i < f->table.rows; i++)
        f->numbers[i] = unit_converted(f->numbers[i], from, "s");
    return DAE_OK;
}

/* Which column has the times: `time`, else `t`, else the first one. */
static size_t find_times(const input_file *f)
{
    size_t time = find_column(f, "time");
    if (time == f->columns) time = find_column(f, "t");
    return time == f->columns ? 0 : time;
}

/* A first line of numbers names nothing, and a single column leaves nothing to follow. */
static dae_status check_header(const input_file *f, dae_diag *diag)
{
    size_t numbers = 0;
    for (size_t k = 0; k < f->columns; k++) {
        char *end;
        strtod(f->names[k], &end);
        numbers += end != f->names[k] && *end == '\0';
    }
    if (numbers == f->columns)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "%s:1: the first line has numbers; names of the columns belong there.",
                        f->table.name);
    if (f->columns > 1) return DAE_OK;
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "%s: its only column, '%s', is that of the times; values need another one.",
                    f->table.name, f->names[0]);
}

/* Take the columns of t over, one after the other, times first. */
static dae_status take_columns(input_file *f, table_file *t, dae_diag *diag)
{
    f->names = t->names;
    f->columns = t->columns;
    f->lines = t->lines;
    f->numbers = DAE_ARRAY(double, (t->columns + 1) * t->rows);
    t->names = NULL;
    t->lines = NULL;
    f->units = DAE_ARRAY(const char *, t->columns);
    if (!f->numbers || !f->units) return no_memory(diag);
    for (size_t k = 0; k < f->columns; k++) f->units[k] = split_unit(f->names[k]);
    dae_status status = check_header(f, diag);
    if (status != DAE_OK) return status;
    size_t time = find_times(f);
    for (size_t i = 0; i < t->rows; i++) {
        f->numbers[i] = t->values[i * t->columns + time];
        for (size_t k = 0; k < f->columns; k++)
            f->numbers[(k + 1) * t->rows + i] = t->values[i * t->columns + k];
    }
    f->table.rows = t->rows;
    f->table.time = f->numbers;
    f->table.lines = f->lines;
    status = convert_times(f, f->names[time], f->units[time], diag);
    f->names[time][0] = '\0'; /* it is not an input */
    return status == DAE_OK ? check_times(f, diag) : status;
}

static dae_status read_input_file(input_file *f, const dae_input *in, dae_diag *diag)
{
    table_request request = {.path = in->file, .name = "", .named = true};
    table_trouble trouble = {0};
    table_file t;
    f->table = (flatten_table){.name = in->file, .hold = in->hold};
    if (!table_file_read(&request, &t, &trouble)) return explain_trouble(in->file, &trouble, diag);
    dae_status status = take_columns(f, &t, diag);
    table_file_free(&t);
    return status;
}

/* ---- the list ---- */

static flatten_input *add_input(model_inputs *all, const char *name, const char *source)
{
    if (!dae_grow(&all->list, &all->capacity, all->count + 1, sizeof *all->list)) return NULL;
    flatten_input *in = &all->list[all->count++];
    *in = (flatten_input){.name = name, .source = source};
    return in;
}

static bool add_column(model_inputs *all, const input_file *f, const dae_input *from, size_t column,
                       const char *name)
{
    static const flat_curve curves[] = {[DAE_INPUT_LINEAR] = CURVE_LINEAR,
                                        [DAE_INPUT_CUBIC] = CURVE_CUBIC,
                                        [DAE_INPUT_STEP] = CURVE_STEP};
    flatten_input *in = add_input(all, name, from->file);
    if (!in) return false;
    in->table = &f->table;
    in->values = f->numbers + (column + 1) * f->table.rows;
    in->unit = f->units[column];
    in->curve = curves[from->mode];
    in->optional = !from->name;
    return true;
}

static dae_status reject_column(const input_file *f, const char *name, dae_diag *diag)
{
    diag_set(diag, DAE_ERR_ARGUMENT, "%s: it has no column '%s', but ", f->table.name, name);
    text_list list = text_list_in(diag, 20);
    for (size_t k = 0; k < f->columns; k++)
        if (f->names[k][0]) text_list_add(&list, "%s", f->names[k]);
    text_list_end(&list);
    diag_append(diag, ".");
    return DAE_ERR_ARGUMENT;
}

/* One column, or all that have names. */
static dae_status add_file(model_inputs *all, const dae_input *in, dae_diag *diag)
{
    input_file *f = &all->files[all->file_count++];
    dae_status status = read_input_file(f, in, diag);
    if (status != DAE_OK) return status;
    if (in->name) {
        const char *column = in->column ? in->column : in->name;
        size_t k = find_column(f, column);
        if (k == f->columns) return reject_column(f, column, diag);
        return add_column(all, f, in, k, in->name) ? DAE_OK : no_memory(diag);
    }
    for (size_t k = 0; k < f->columns; k++)
        if (f->names[k][0] && !add_column(all, f, in, k, f->names[k])) return no_memory(diag);
    return DAE_OK;
}

static dae_status add_expression(model_inputs *all, arena *a, ast_file *tree, const dae_input *in,
                                 dae_diag *diag)
{
    size_t size = strlen(in->name) + strlen(in->expression) + 6;
    char *source = arena_alloc(a, size);
    flatten_input *added = source ? add_input(all, in->name, source) : NULL;
    if (!added) return no_memory(diag);
    snprintf(source, size, "'%s = %s'", in->name, in->expression);
    return model_value_expression(a, tree, in->name, in->expression, &added->expression, diag);
}

static dae_status add_function(model_inputs *all, arena *a, const dae_input *in, dae_diag *diag)
{
    graph_signal *signal = arena_alloc(a, sizeof *signal);
    flatten_input *added = signal ? add_input(all, in->name, "a function") : NULL;
    if (!added) return no_memory(diag);
    *signal = (graph_signal){.value = in->value, .user = in->user, .orders = in->derivatives};
    added->signal = signal;
    added->jump = in->jump;
    return DAE_OK;
}

dae_status model_inputs_read(model_inputs *all, arena *a, ast_file *tree, const dae_model *m,
                             dae_diag *diag)
{
    dae_status status = DAE_OK;
    all->files = DAE_ARRAY(input_file, m->input_count);
    if (!all->files) return no_memory(diag);
    for (int k = 0; k < m->input_count && status == DAE_OK; k++) {
        const dae_input *in = &m->inputs[k];
        status = in->file    ? add_file(all, in, diag)
                 : in->value ? add_function(all, a, in, diag)
                             : add_expression(all, a, tree, in, diag);
    }
    return status;
}

void model_inputs_free(model_inputs *all)
{
    for (size_t k = 0; k < all->file_count; k++) {
        input_file *f = &all->files[k];
        for (size_t j = 0; f->names && j < f->columns; j++) dae_free(f->names[j]);
        dae_free_all(f->numbers, f->lines, f->names, f->units);
    }
    dae_free_all(all->list, all->files);
    *all = (model_inputs){0};
}
