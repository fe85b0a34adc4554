/* Trajectories as a MAT-file of level 4, in the layout that OpenModelica and Dymola write.
 *
 * Six matrices, "binTrans", which is transposed: a column for each variable or time. Aclass says
 * what the file is; name and description are text; dataInfo tells for each name the matrix that
 * holds it (1 or 2, 0 for the time), the row (negative: with the other sign), and how to go on
 * between and outside the points; data_1 has what is constant at the first and last time; data_2
 * has the trajectories. An alias has no row of its own.
 *
 * Level 4 is twenty bytes before each matrix. Written straight into the stream, since a library
 * would want the whole transposed matrix in memory. */
#include "internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Decimal digits of a header's type: byte order, 0, precision, text or not. */
enum { MAT_DOUBLE = 0, MAT_INTEGER = 20, MAT_TEXT = 51, MAT_BIG_ENDIAN = 1000 };

static bool big_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

static void write_matrix(FILE *stream, const char *name, int type, size_t rows, size_t columns)
{
    uint32_t length = (uint32_t)strlen(name) + 1;
    const uint32_t header[5] = {(uint32_t)(type + (big_endian() ? MAT_BIG_ENDIAN : 0)),
                                (uint32_t)rows, (uint32_t)columns, 0, length};
    fwrite(header, sizeof header, 1, stream);
    fwrite(name, 1, length, stream);
}

void report_mat_numbers(FILE *stream, const char *name, size_t rows, size_t columns,
                        const double *values)
{
    write_matrix(stream, name, MAT_DOUBLE, rows, columns);
    fwrite(values, sizeof *values, rows * columns, stream);
}

void report_mat_texts(FILE *stream, const char *name, size_t count, const char *const *texts)
{
    size_t width = 0;
    for (size_t i = 0; i < count; i++)
        if (strlen(texts[i]) > width) width = strlen(texts[i]);
    write_matrix(stream, name, MAT_TEXT, count, width);
    for (size_t j = 0; j < width; j++)
        for (size_t i = 0; i < count; i++) putc(j < strlen(texts[i]) ? texts[i][j] : ' ', stream);
}

/* Four rows of eleven characters, column by column. */
static void write_class(FILE *stream)
{
    static const char rows[4][12] = {"Atrajectory", "1.1        ", "           ", "binTrans   "};
    write_matrix(stream, "Aclass", MAT_TEXT, 4, 11);
    for (int j = 0; j < 11; j++)
        for (int i = 0; i < 4; i++) putc(rows[i][j], stream);
}

/* ---- the columns of name and description: time, variables, parameters ---- */

static int column_count(const report_series *s)
{
    return 1 + s->n + s->parameter_count;
}

static const char *column_name(const report_series *s, int k)
{
    if (k == 0) return s->time_name ? s->time_name : "time";
    return k <= s->n ? s->names[k - 1] : s->parameters[k - 1 - s->n].name;
}

/* "description [unit]", as those tools read it. */
static void column_description(const report_series *s, int k, char text[LABEL_SIZE])
{
    const char *what = "", *unit = "";
    if (k == 0)
        what = "time", unit = s->time_unit;
    else if (k <= s->n)
        what = s->descriptions ? s->descriptions[k - 1] : "",
        unit = s->units ? s->units[k - 1] : "";
    else
        what = s->parameters[k - 1 - s->n].description, unit = s->parameters[k - 1 - s->n].unit;
    report_label(what, unit, text);
}

/* Text and zeros up to the length of the column. */
static void write_column(FILE *stream, const char *text, size_t rows)
{
    size_t length = strlen(text);
    fwrite(text, 1, length, stream);
    for (; length < rows; length++) putc(0, stream);
}

static void write_names(FILE *stream, const report_series *s)
{
    size_t rows = 1;
    for (int k = 0; k < column_count(s); k++) {
        size_t length = strlen(column_name(s, k));
        if (length > rows) rows = length;
    }
    write_matrix(stream, "name", MAT_TEXT, rows, (size_t)column_count(s));
    for (int k = 0; k < column_count(s); k++) write_column(stream, column_name(s, k), rows);
}

static void write_descriptions(FILE *stream, const report_series *s)
{
    char text[LABEL_SIZE];
    size_t rows = 1;
    for (int k = 0; k < column_count(s); k++) {
        column_description(s, k, text);
        if (strlen(text) > rows) rows = strlen(text);
    }
    write_matrix(stream, "description", MAT_TEXT, rows, (size_t)column_count(s));
    for (int k = 0; k < column_count(s); k++) {
        column_description(s, k, text);
        write_column(stream, text, rows);
    }
}

/* ---- numbers ---- */

static bool is_constant(const report_series *s, int i)
{
    return s->constant && s->constant[i];
}

/* Whether variable i has a row of its own in data_2. */
static bool has_row(const report_series *s, int i)
{
    return !is_constant(s, i) && !(s->alias && s->alias[i] != 0);
}

/* row[i] = number from 1 of variable i in its matrix, with its sign; *constants and *moving are the
 * rows of data_1 and data_2, the time included */
static void number_rows(const report_series *s, int32_t *row, size_t *constants, size_t *moving)
{
    *constants = 1 + (size_t)s->parameter_count;
    *moving = 1;
    for (int i = 0; i < s->n; i++)
        if (is_constant(s, i))
            row[i] = (int32_t)++ * constants;
        else if (has_row(s, i))
            row[i] = (int32_t)++ * moving;
    for (int i = 0; i < s->n; i++)
        if (!is_constant(s, i) && !has_row(s, i)) {
            int of = s->alias[i] < 0 ? -s->alias[i] : s->alias[i];
            row[i] = s->alias[i] < 0 ? -row[of - 1] : row[of - 1];
        }
}

/* Matrix, row, linear between the points (0), undefined (-1) or constant (0) outside. */
static void write_info(FILE *stream, const report_series *s, const int32_t *row)
{
    write_matrix(stream, "dataInfo", MAT_INTEGER, 4, (size_t)column_count(s));
    for (int k = 0; k < column_count(s); k++) {
        int of = k >= 1 && k <= s->n && s->alias && s->alias[k - 1] ? abs(s->alias[k - 1]) : k;
        bool constant = k > s->n || (k > 0 && is_constant(s, of - 1));
        const int32_t info[4] = {k == 0     ? 0
                                 : constant ? 1
                                            : 2,
                                 k == 0     ? 1
                                 : k > s->n ? k - s->n + 1
                                            : row[k - 1],
                                 0, constant ? 0 : -1};
        fwrite(info, sizeof info, 1, stream);
    }
}

/* The parameters and constants, twice: at the first and at the last time. */
static void write_constants(FILE *stream, const report_series *s, size_t rows)
{
    write_matrix(stream, "data_1", MAT_DOUBLE, rows, 2);
    for (int end = 0; end < 2; end++) {
        double times[2] = {0.0, 0.0};
        const double *y = NULL;
        if (s->count > 0) (void)report_series_row(s, 0, &times[0]);
        if (s->count > 0) y = report_series_row(s, s->count - 1, &times[1]);
        fwrite(&times[end], sizeof(double), 1, stream);
        for (int i = 0; i < s->parameter_count; i++)
            fwrite(&s->parameters[i].value, sizeof(double), 1, stream);
        for (int i = 0; i < s->n; i++)
            if (is_constant(s, i)) fwrite(y ? &y[i] : &times[0], sizeof(double), 1, stream);
    }
}

static void write_trajectories(FILE *stream, const report_series *s, size_t rows)
{
    size_t n = (size_t)s->n;
    write_matrix(stream, "data_2", MAT_DOUBLE, rows, s->count);
    for (size_t r = 0; r < s->count; r++) {
        double t;
        const double *y = report_series_row(s, r, &t);
        fwrite(&t, sizeof t, 1, stream);
        if (rows == n + 1) {
            fwrite(y, sizeof(double), n, stream);
            continue;
        }
        for (int i = 0; i < s->n; i++)
            if (has_row(s, i)) fwrite(&y[i], sizeof(double), 1, stream);
    }
}

report_status report_mat_file(const char *path, const report_series *series, report_error *error)
{
    report_file file;
    if (series->count > INT32_MAX)
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "%zu rows are more than a MAT-file of level 4 can count.",
                           series->count);
    size_t constants, moving;
    int32_t *row = calloc((size_t)series->n, sizeof *row);
    if (!row) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for '%s'.", path);
    number_rows(series, row, &constants, &moving);
    report_status status = report_file_open(&file, path, error);
    if (status != REPORT_OK) {
        free(row);
        return status;
    }
    write_class(file.stream);
    write_names(file.stream, series);
    write_descriptions(file.stream, series);
    write_info(file.stream, series, row);
    write_constants(file.stream, series, constants);
    write_trajectories(file.stream, series, moving);
    free(row);
    return report_file_finish(&file, report_series_check(series, error), error);
}
