/* A table for people: right-aligned columns under their names. */
#include "internal.h"

#include <string.h>

/* Characters of UTF-8 text: bytes that do not continue one. */
static int text_width(const char *text)
{
    int width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void write_right(FILE *stream, const char *text, int width)
{
    for (int pad = width - text_width(text); pad > 0; pad--) putc(' ', stream);
    fputs(text, stream);
}

/* Sign, digits, point and exponent e+XXX, or the name if that is longer. */
static int column_width(const char *name, int digits)
{
    int number = digits + 7, text = text_width(name);
    return text > number ? text : number;
}

static void write_header(FILE *stream, const report_series *series, int columns, int digits)
{
    write_right(stream, "t", column_width("t", digits));
    for (int i = 0; i < columns; i++) {
        fputs("  ", stream);
        char name[LABEL_SIZE];
        (void)dae_printable(series->names[i], name, sizeof name);
        write_right(stream, name, column_width(series->names[i], digits));
    }
    putc('\n', stream);
}

static void write_row(FILE *stream, const report_series *series, size_t row, int columns,
                      int digits)
{
    char text[NUMBER_SIZE];
    double t;
    const double *y = report_series_row(series, row, &t);
    report_number(t, digits, text);
    write_right(stream, text, column_width("t", digits));
    for (int i = 0; i < columns; i++) {
        report_number(y[i], digits, text);
        fputs("  ", stream);
        write_right(stream, text, column_width(series->names[i], digits));
    }
    putc('\n', stream);
}

report_status report_table(FILE *stream, const report_series *series,
                           const report_table_options *options, report_error *error)
{
    report_table_options chosen = options ? *options : (report_table_options){0};
    int digits = chosen.digits > 0 ? chosen.digits : 6;
    if (digits > 17) digits = 17;
    bool all = chosen.max_columns <= 0 || chosen.max_columns >= series->shown;
    int columns = all ? series->shown : chosen.max_columns;
    size_t count = series->count, shown = count;
    if (chosen.max_rows > 0 && chosen.max_rows < count)
        shown = chosen.max_rows < 2 ? 2 : chosen.max_rows;
    write_header(stream, series, columns, digits);
    for (size_t k = 0; k < shown; k++) {
        double place = shown > 1 ? (double)k * (double)(count - 1) / (double)(shown - 1) : 0.0;
        write_row(stream, series, (size_t)(place + 0.5), columns, digits);
    }
    if (!all) fprintf(stream, "(%d of %d variables)\n", columns, series->shown);
    if (shown < count) fprintf(stream, "(%zu of %zu rows)\n", shown, count);
    return report_check_stream(stream, error);
}
