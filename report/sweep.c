/* The table of a sweep: csv, json and MAT-files. */
#include "json_parts.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The word of a value; NULL: it is a number */
static const char *word_of(const report_sweep_column *column, double value)
{
    if (!column->words) return NULL;
    int k = (int)value - column->first;
    return k >= 0 && k < column->word_count ? column->words[k] : "?";
}

/* ---- csv ---- */

static void write_number(FILE *stream, double x)
{
    char text[NUMBER_SIZE];
    report_number(isnan(x) ? NAN : x, 17, text); /* whatever its sign */
    fputs(isnan(x) ? "nan" : text, stream);
}

static void write_cell(FILE *stream, const report_sweep_column *column, double x)
{
    const char *word = word_of(column, x);
    putc(',', stream);
    if (word)
        report_csv_field(stream, word);
    else
        write_number(stream, x);
}

/* A text on one line. */
static void write_message(FILE *stream, const char *text)
{
    char line[2048];
    size_t n = 0;
    for (; *text && n + 1 < sizeof line; text++)
        line[n++] = *text == '\n' || *text == '\r' ? ' ' : *text;
    while (n > 0 && line[n - 1] == ' ') n--;
    line[n] = '\0';
    report_csv_field(stream, line);
}

static void write_header(FILE *stream, const report_sweep *s)
{
    char text[LABEL_SIZE];
    fputs("point", stream);
    if (s->by) fputs(",seed", stream);
    for (int c = 0; c < s->inputs + s->outputs; c++) {
        putc(',', stream);
        report_label(s->columns[c].name, s->columns[c].unit, text);
        report_csv_field(stream, text);
    }
    fputs(",status,message\n", stream);
}

report_status report_sweep_csv(FILE *stream, const report_sweep *s, report_error *error)
{
    write_header(stream, s);
    for (size_t r = 0; r < s->count && !ferror(stream); r++) {
        fprintf(stream, "%zu", r + 1);
        if (s->by) fprintf(stream, ",%llu", s->seed);
        for (int c = 0; c < s->inputs; c++)
            write_cell(stream, &s->columns[c], s->input[r * (size_t)s->inputs + (size_t)c]);
        for (int c = 0; c < s->outputs; c++)
            write_cell(stream, &s->columns[s->inputs + c],
                       s->output[r * (size_t)s->outputs + (size_t)c]);
        fprintf(stream, ",%s,", s->status[r]);
        write_message(stream, s->message[r]);
        putc('\n', stream);
    }
    return report_check_stream(stream, error);
}

/* ---- json ---- */

static void write_column(FILE *stream, const report_sweep *s, int c)
{
    const report_sweep_column *column = &s->columns[c];
    bool input = c < s->inputs;
    size_t width = (size_t)(input ? s->inputs : s->outputs);
    const double *x = input ? s->input + c : s->output + (c - s->inputs);
    json_object o = json_open(stream, 3);
    json_string_member(&o, "name", column->name);
    json_string_member(&o, "unit", column->unit);
    json_member(&o, "values");
    if (!column->words) json_array(stream, s->count, x, width);
    for (size_t r = 0; r < s->count && column->words; r++) {
        fputs(r ? ", " : "[", stream);
        json_string(stream, word_of(column, x[r * width]));
    }
    if (column->words) putc(']', stream);
    json_close(&o);
}

static void write_columns(FILE *stream, const report_sweep *s, int first, int count)
{
    putc('[', stream);
    for (int c = first; c < first + count; c++) {
        fputs(c > first ? ",\n    " : "\n    ", stream);
        write_column(stream, s, c);
    }
    fputs("\n  ]", stream);
}

static void write_texts(FILE *stream, size_t count, const char *const *texts)
{
    putc('[', stream);
    for (size_t r = 0; r < count; r++) {
        if (r) fputs(", ", stream);
        json_string(stream, texts[r]);
    }
    putc(']', stream);
}

report_status report_sweep_json(FILE *stream, const report_sweep *s, report_error *error)
{
    json_object o = json_open(stream, 1);
    json_string_member(&o, "model", s->model);
    json_string_member(&o, "version", s->version);
    json_integer_member(&o, "count", (long)s->count);
    if (s->by) {
        char seed[32];
        json_string_member(&o, "by", s->by);
        snprintf(seed, sizeof seed, "%llu", s->seed);
        json_string_member(&o, "seed", seed); /* beyond 2^53 a number of json is not exact */
    }
    json_member(&o, "points");
    write_columns(stream, s, 0, s->inputs);
    json_member(&o, "kept");
    write_columns(stream, s, s->inputs, s->outputs);
    json_member(&o, "status");
    write_texts(stream, s->count, s->status);
    json_member(&o, "message");
    write_texts(stream, s->count, s->message);
    json_close(&o);
    putc('\n', stream);
    return report_check_stream(stream, error);
}

/* ---- MAT-files ---- */

/* A matrix by columns of one that is stored by rows. */
static bool write_matrix(FILE *stream, const char *name, size_t rows, int columns, const double *x)
{
    size_t width = (size_t)columns;
    double *turned = calloc(rows * width + 1, sizeof *turned);
    if (!turned) return false;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < width; c++) turned[c * rows + r] = x[r * width + c];
    report_mat_numbers(stream, name, rows, width, turned);
    free(turned);
    return true;
}

static bool write_labels(FILE *stream, const report_sweep *s, const char *names, const char *units,
                         int first, int count)
{
    const char **texts = calloc((size_t)count + 1, sizeof *texts);
    if (!texts) return false;
    for (int c = 0; c < count; c++) texts[c] = s->columns[first + c].name;
    report_mat_texts(stream, names, (size_t)count, texts);
    for (int c = 0; c < count; c++) texts[c] = s->columns[first + c].unit;
    report_mat_texts(stream, units, (size_t)count, texts);
    free(texts);
    return true;
}

report_status report_sweep_mat(FILE *stream, const report_sweep *s, report_error *error)
{
    const double seed = (double)s->seed;
    if (s->count > INT32_MAX)
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "%zu rows are more than a MAT-file of level 4 can count.", s->count);
    bool ok = write_matrix(stream, "points", s->count, s->inputs, s->input) &&
              write_matrix(stream, "kept", s->count, s->outputs, s->output) &&
              write_labels(stream, s, "point_names", "point_units", 0, s->inputs) &&
              write_labels(stream, s, "kept_names", "kept_units", s->inputs, s->outputs);
    if (!ok) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a table.");
    report_mat_texts(stream, "status", s->count, s->status);
    report_mat_texts(stream, "message", s->count, s->message);
    if (s->by) report_mat_numbers(stream, "seed", 1, 1, &seed);
    if (s->time_count > 0) report_mat_numbers(stream, "times", 1, (size_t)s->time_count, s->times);
    return report_check_stream(stream, error);
}
