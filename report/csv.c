/* Comma-separated values [RFC 4180], with lines that end in a plain newline. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static void write_text(FILE *stream, const char *text)
{
    size_t length = strlen(text);
    bool blanks = length > 0 && (text[0] == ' ' || text[length - 1] == ' ');
    if (!blanks && !strpbrk(text, ",\"\r\n")) {
        fputs(text, stream);
        return;
    }
    putc('"', stream);
    for (const char *c = text; *c; c++) {
        if (*c == '"') putc('"', stream);
        putc(*c, stream);
    }
    putc('"', stream);
}

/* A field, in quotes where commas, quotes, line ends or outer blanks ask for them. Rows may go to a
 * terminal, so control characters do not. */
void report_csv_field(FILE *stream, const char *name)
{
    char near[LABEL_SIZE], *far = NULL;
    size_t length = dae_printable(name, near, sizeof near);
    if (length >= sizeof near && (far = malloc(length + 1)))
        (void)dae_printable(name, far, length + 1);
    write_text(stream, far ? far : near);
    free(far);
}

static void write_header(FILE *stream, int n, const char *const *names)
{
    putc('t', stream);
    for (int i = 0; i < n; i++) {
        putc(',', stream);
        if (names && names[i])
            report_csv_field(stream, names[i]);
        else
            fprintf(stream, "y[%d]", i);
    }
    putc('\n', stream);
}

static void write_row(FILE *stream, int n, double t, const double *y)
{
    char text[NUMBER_SIZE];
    report_number(t, 17, text);
    fputs(text, stream);
    for (int i = 0; i < n; i++) {
        report_number(y[i], 17, text);
        putc(',', stream);
        fputs(text, stream);
    }
    putc('\n', stream);
}

/* "name [unit]" of every column. Names too long for a label are written without their unit. */
static void write_labels(FILE *stream, const report_series *series)
{
    char text[LABEL_SIZE];
    for (int i = -1; i < series->shown; i++) {
        if (i >= 0) putc(',', stream);
        report_series_label_of(series, i, text);
        bool whole = i < 0 || strncmp(text, series->names[i], strlen(series->names[i])) == 0;
        report_csv_field(stream, whole ? text : series->names[i]);
    }
    putc('\n', stream);
}

/* Time and texts of n values. */
static void write_digits(FILE *stream, int n, double t, const char *digits)
{
    char text[NUMBER_SIZE];
    report_number(t, 17, text);
    fputs(text, stream);
    for (int i = 0; i < n; i++) fprintf(stream, ",%s", digits + (size_t)i * DAE_DIGITS_SIZE);
    putc('\n', stream);
}

static void write_series(FILE *stream, const report_series *series)
{
    write_labels(stream, series);
    for (size_t r = 0; r < series->count; r++) {
        double t;
        const double *y = report_series_row(series, r, &t);
        write_row(stream, series->shown, t, y);
    }
}

report_status report_csv_header(FILE *stream, int n, const char *const *names, report_error *error)
{
    write_header(stream, n, names);
    return report_check_stream(stream, error);
}

report_status report_csv_row(FILE *stream, int n, double t, const double *y, report_error *error)
{
    write_row(stream, n, t, y);
    if (!ferror(stream)) return REPORT_OK; /* no flush: rows may be many */
    return report_check_stream(stream, error);
}

report_status report_csv_labels(FILE *stream, const report_series *series, report_error *error)
{
    write_labels(stream, series);
    return report_check_stream(stream, error);
}

report_status report_csv_digits(FILE *stream, int n, double t, const char *digits,
                                report_error *error)
{
    write_digits(stream, n, t, digits);
    if (!ferror(stream)) return REPORT_OK;
    return report_check_stream(stream, error);
}

report_status report_csv(FILE *stream, const report_series *series, report_error *error)
{
    write_series(stream, series);
    report_status status = report_series_check(series, error);
    return status == REPORT_OK ? report_check_stream(stream, error) : status;
}

report_status report_csv_file(const char *path, const report_series *series, report_error *error)
{
    report_file file;
    report_status status = report_file_open(&file, path, error);
    if (status != REPORT_OK) return status;
    write_series(file.stream, series);
    return report_file_finish(&file, report_series_check(series, error), error);
}
