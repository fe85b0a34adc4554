/* Series, statistics and diagnostics as json [RFC 8259].
 *
 * Written straight into the stream: a tree of the whole series in memory, as a json library wants
 * it, would cost some sixty bytes a number, and the objects here are few and flat. */
#include "json_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "text"; bytes that are no UTF-8 become the replacement character. */
void json_string(FILE *stream, const char *text)
{
    putc('"', stream);
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        int length = dae_utf8_length((const char *)c);
        if (*c == '"' || *c == '\\')
            fprintf(stream, "\\%c", *c);
        else if (*c < 0x20 || *c == 0x7F)
            fprintf(stream, "\\u%04x", *c);
        else if (c[0] == 0xC2 && length == 2 && c[1] < 0xA0)
            fprintf(stream, "\\u%04x", c[1]);
        else if (length == 0)
            fputs("\\ufffd", stream);
        else
            fwrite(c, 1, (size_t)length, stream);
        c += length > 0 ? length : 1;
    }
    putc('"', stream);
}

/* The shorter of 15 and 17 digits that reads back the same; null for what json cannot say. */
void json_number(FILE *stream, double x)
{
    char text[NUMBER_SIZE] = "null";
    if (isfinite(x)) {
        snprintf(text, sizeof text, "%.15g", x);
        bool same = strtod(text, NULL) == x;
        report_number(x, same ? 15 : 17, text);
    }
    fputs(text, stream);
}

void json_member(json_object *o, const char *name)
{
    fputs(o->members++ > 0 ? ",\n" : "\n", o->stream);
    fprintf(o->stream, "%*s", 2 * o->depth, "");
    json_string(o->stream, name);
    fputs(": ", o->stream);
}

void json_number_member(json_object *o, const char *name, double x)
{
    json_member(o, name);
    json_number(o->stream, x);
}

void json_integer_member(json_object *o, const char *name, long k)
{
    json_member(o, name);
    fprintf(o->stream, "%ld", k);
}

void json_string_member(json_object *o, const char *name, const char *text)
{
    json_member(o, name);
    json_string(o->stream, text);
}

json_object json_open(FILE *stream, int depth)
{
    putc('{', stream);
    return (json_object){.stream = stream, .depth = depth};
}

void json_close(json_object *o)
{
    fprintf(o->stream, "\n%*s}", 2 * (o->depth - 1), "");
}

/* [x_0, x_stride, ..] */
void json_array(FILE *stream, size_t count, const double *x, size_t stride)
{
    putc('[', stream);
    for (size_t k = 0; k < count; k++) {
        if (k > 0) putc(',', stream);
        json_number(stream, x[k * stride]);
    }
    putc(']', stream);
}

static void write_times(FILE *stream, const report_series *series)
{
    for (size_t r = 0; r < series->count; r++) {
        double t;
        (void)report_series_row(series, r, &t);
        putc(r == 0 ? '[' : ',', stream);
        json_number(stream, t);
    }
    fputs(series->count > 0 ? "]" : "[]", stream);
}

/* Bytes of the columns that are collected at a time: rows on the disk are read once for each such
 * group. */
enum { GROUP_BYTES = 1 << 23 };

/* How many columns make a group; 1, written as they are read, if not even two of them fit. */
static size_t group_size(const report_series *series)
{
    size_t rows = series->count > 0 ? series->count : 1;
    size_t columns = GROUP_BYTES / sizeof(double) / rows, all = (size_t)series->shown;
    return columns < 2 ? 1 : columns < all ? columns : all;
}

/* [y_0(first), ..], [..], .. of `count` columns; room has so many times the rows, or is NULL for
 * one column. */
static void write_columns(FILE *stream, const report_series *series, size_t first, size_t count,
                          double *room)
{
    size_t rows = series->count;
    if (!room) fputs(first == 0 ? "[\n      [" : ",\n      [", stream);
    for (size_t r = 0; r < rows; r++) {
        double t;
        const double *y = report_series_row(series, r, &t) + first;
        for (size_t k = 0; room && k < count; k++) room[k * rows + r] = y[k];
        if (room) continue;
        if (r > 0) putc(',', stream);
        json_number(stream, *y);
    }
    if (!room) putc(']', stream);
    for (size_t k = 0; room && k < count; k++) {
        fputs(first + k == 0 ? "[\n      " : ",\n      ", stream);
        json_array(stream, rows, room + k * rows, 1);
    }
}

static void write_values(FILE *stream, const report_series *series)
{
    size_t group = group_size(series), all = (size_t)series->shown;
    double *room = group > 1 ? calloc(group * (series->count + 1), sizeof *room) : NULL;
    if (!room) group = 1;
    for (size_t first = 0; first < all; first += group)
        write_columns(stream, series, first, first + group < all ? group : all - first, room);
    putc(']', stream);
    free(room);
}

static void write_texts(FILE *stream, int n, char *const *texts)
{
    for (int i = 0; i < n; i++) {
        putc(i == 0 ? '[' : ',', stream);
        json_string(stream, texts[i]);
    }
    putc(']', stream);
}

static void write_series(FILE *stream, const report_series *series)
{
    json_object o = json_open(stream, 2);
    json_member(&o, "names");
    write_texts(stream, series->shown, series->names);
    if (series->units) {
        json_member(&o, "units");
        write_texts(stream, series->shown, series->units);
    }
    json_member(&o, "t");
    write_times(stream, series);
    json_member(&o, "y");
    write_values(stream, series);
    json_close(&o);
}

static void write_parameters(FILE *stream, const report_series *series)
{
    json_object o = json_open(stream, 2);
    for (int i = 0; i < series->parameter_count; i++)
        json_number_member(&o, series->parameters[i].name, series->parameters[i].value);
    json_close(&o);
}

static void write_statistics(FILE *stream, const dae_stats *s)
{
    const struct {
        const char *name;
        long value;
    } counts[] = {
        {"steps", s->steps},
        {"attempts", s->attempts},
        {"rejected_error", s->rejected_error},
        {"rejected_convergence", s->rejected_convergence},
        {"rejected_evaluation", s->rejected_evaluation},
        {"rejected_bound", s->rejected_bound},
        {"rejected_singular", s->rejected_singular},
        {"residuals", s->residuals},
        {"jacobian_residuals", s->jacobian_residuals},
        {"jacobians", s->jacobians},
        {"factorisations", s->factorisations},
        {"factor_step_changed", s->factor_step_changed},
        {"factor_new_jacobian", s->factor_new_jacobian},
        {"repivots", s->repivots},
        {"newton_iterations", s->newton_iterations},
        {"linear_iterations", s->linear_iterations},
        {"solves", s->solves},
        {"event_evaluations", s->event_evaluations},
        {"events", s->events},
        {"starts", s->starts},
        {"order", s->order},
        {"last_order", s->last_order},
    };
    json_object o = json_open(stream, 2);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        json_integer_member(&o, counts[k].name, counts[k].value);
    json_number_member(&o, "h", s->h);
    json_number_member(&o, "last_h", s->last_h);
    json_number_member(&o, "h0", s->h0);
    json_number_member(&o, "t", s->t);
    json_number_member(&o, "position_residual", s->position_residual);
    json_number_member(&o, "velocity_residual", s->velocity_residual);
    json_number_member(&o, "invariant_drift", s->invariant_drift);
    json_close(&o);
}

static void write_diagnostic(FILE *stream, const dae_diag *d)
{
    json_object o = json_open(stream, 2);
    json_string_member(&o, "status", dae_status_name(d->status));
    json_integer_member(&o, "code", d->status);
    json_integer_member(&o, "variable", d->variable);
    json_string_member(&o, "variable_name", d->variable_name);
    json_integer_member(&o, "equation", d->equation);
    json_string_member(&o, "equation_name", d->equation_name);
    json_integer_member(&o, "line", d->line);
    json_number_member(&o, "t", d->t);
    json_number_member(&o, "h", d->h);
    json_number_member(&o, "value", d->value);
    json_string_member(&o, "text", d->text);
    json_close(&o);
}

void json_run_members(json_object *o, const report_series *series, const dae_stats *stats,
                      const dae_diag *diag)
{
    FILE *stream = o->stream;
    if (series) {
        json_member(o, "series");
        write_series(stream, series);
    }
    if (series && series->parameter_count > 0) {
        json_member(o, "parameters");
        write_parameters(stream, series);
    }
    if (stats) {
        json_member(o, "statistics");
        write_statistics(stream, stats);
    }
    if (diag) {
        json_member(o, "diagnostic");
        write_diagnostic(stream, diag);
    }
}

static void write_all(FILE *stream, const report_series *series, const dae_stats *stats,
                      const dae_diag *diag)
{
    json_object o = json_open(stream, 1);
    json_run_members(&o, series, stats, diag);
    json_close(&o);
    putc('\n', stream);
}

report_status report_json(FILE *stream, const report_series *series, const dae_stats *stats,
                          const dae_diag *diag, report_error *error)
{
    write_all(stream, series, stats, diag);
    report_status status = series ? report_series_check(series, error) : REPORT_OK;
    return status == REPORT_OK ? report_check_stream(stream, error) : status;
}

report_status report_json_file(const char *path, const report_series *series,
                               const dae_stats *stats, const dae_diag *diag, report_error *error)
{
    report_file file;
    report_status status = report_file_open(&file, path, error);
    if (status != REPORT_OK) return status;
    write_all(file.stream, series, stats, diag);
    status = series ? report_series_check(series, error) : REPORT_OK;
    return report_file_finish(&file, status, error);
}
