/* A growing table of times and values. */
#define _POSIX_C_SOURCE 200809L
#include "internal.h"
#include "spool.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* names[i], or "y[i]" where there is none */
static bool copy_names(report_series *series, const char *const *names)
{
    char text[32];
    for (int i = 0; i < series->n; i++) {
        snprintf(text, sizeof text, "y[%d]", i);
        series->names[i] = copy_text(names && names[i] ? names[i] : text);
        if (!series->names[i]) return false;
    }
    return true;
}

report_status report_series_new(int n, const char *const *names, report_series **series,
                                report_error *error)
{
    *series = NULL;
    if (n < 1) return report_fail(error, REPORT_ERR_ARGUMENT, "A series of %d variables.", n);
    report_series *s = calloc(1, sizeof *s);
    if (s) {
        s->n = s->shown = n;
        s->names = calloc((size_t)n, sizeof *s->names);
    }
    if (!s || !s->names || !copy_names(s, names)) {
        report_series_free(s);
        return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a series of %d variables.",
                           n);
    }
    *series = s;
    return REPORT_OK;
}

report_status report_series_for_problem(const dae_problem *problem, report_series **series,
                                        report_error *error)
{
    *series = NULL;
    int n = dae_problem_size(problem);
    const char **names = calloc(n > 0 ? (size_t)n : 1, sizeof *names);
    if (!names) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for %d names.", n);
    for (int i = 0; i < n; i++) names[i] = dae_problem_unknown_name(problem, i);
    report_status status = report_series_new(n, names, series, error);
    free(names);
    return status;
}

/* ---- rows ---- */

/* Bytes of rows in memory before they go to the disk. */
enum { MOST_BYTES = 1 << 22 };

/* Rows in memory before they go to the disk. */
static size_t most_rows(const report_series *series)
{
    size_t rows = MOST_BYTES / sizeof(double) / ((size_t)series->n + 1);
    return rows > 0 ? rows : 1;
}

/* Room for twice as many rows; false leaves the series as it was. */
static bool grow(report_series *series)
{
    size_t n = (size_t)series->n, capacity = series->capacity ? 2 * series->capacity : 64;
    if (capacity < series->capacity || capacity > SIZE_MAX / sizeof(double) / n) return false;
    double *times = realloc(series->times, capacity * sizeof *times);
    if (!times) return false;
    series->times = times;
    double *rows = realloc(series->rows, capacity * n * sizeof *rows);
    if (!rows) return false;
    series->rows = rows;
    series->capacity = capacity;
    return true;
}

/* Move the rows in memory to the disk. Without a place for them there they stay. */
static report_status spill(report_series *series, report_error *error)
{
    size_t held = series->count - series->before;
    if (!series->spool) series->spool = spool_new(series->spool_directory, (size_t)series->n + 1);
    if (!series->spool) return REPORT_OK;
    errno = 0;
    if (!spool_append(series->spool, held, series->times, series->rows))
        return report_fail(error, REPORT_ERR_FILE,
                           "%zu rows could not be kept on the disk (in %s): %s.", series->count,
                           series->spool_directory ? series->spool_directory
                                                   : "the directory for temporary files",
                           strerror(errno));
    series->before = series->count;
    return REPORT_OK;
}

report_status report_series_add(report_series *series, double t, const double *y,
                                report_error *error)
{
    if (series->count - series->before >= most_rows(series)) {
        report_status status = spill(series, error);
        if (status != REPORT_OK) return status;
    }
    size_t n = (size_t)series->n, at = series->count - series->before;
    if (at == series->capacity && !grow(series))
        return report_fail(error, REPORT_ERR_MEMORY,
                           "Out of memory after %zu rows of %d variables. Ask for fewer output "
                           "points, or write rows while they come.",
                           series->count, series->n);
    series->times[at] = t;
    memcpy(series->rows + at * n, y, n * sizeof *y);
    series->count++;
    return REPORT_OK;
}

const double *report_series_row(const report_series *series, size_t r, double *t)
{
    if (r < series->before) {
        const double *row = spool_row(series->spool, r);
        *t = row[0];
        return row + 1;
    }
    *t = series->times[r - series->before];
    return series->rows + (r - series->before) * (size_t)series->n;
}

report_status report_series_check(const report_series *series, report_error *error)
{
    if (!spool_failed(series->spool)) return REPORT_OK;
    return report_fail(error, REPORT_ERR_FILE, "Rows on the disk could not be read back.");
}

report_status report_series_spool(report_series *series, const char *path, report_error *error)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 1;
    char *directory = strndup(slash ? path : ".", length);
    if (!directory) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a file name.");
    free(series->spool_directory);
    series->spool_directory = directory;
    return REPORT_OK;
}

/* ---- labels and parameters ---- */

static void free_texts(char **texts, int n)
{
    for (int i = 0; texts && i < n; i++) free(texts[i]);
    free(texts);
}

/* Copies of n texts, NULL as ""; NULL if memory fails. */
static char **copy_texts(const char *const *texts, int n)
{
    char **copies = calloc((size_t)n, sizeof *copies);
    for (int i = 0; copies && i < n; i++) {
        copies[i] = copy_text(texts[i] ? texts[i] : "");
        if (copies[i]) continue;
        free_texts(copies, n);
        return NULL;
    }
    return copies;
}

static void drop_labels(report_series *s)
{
    free_texts(s->units, s->n);
    free_texts(s->descriptions, s->n);
    free(s->time_name);
    free(s->time_unit);
    s->units = s->descriptions = NULL;
    s->time_name = s->time_unit = NULL;
}

report_status report_series_label(report_series *s, const char *time_name, const char *time_unit,
                                  const char *const *units, const char *const *descriptions,
                                  report_error *error)
{
    drop_labels(s);
    bool failed = (time_name && !(s->time_name = copy_text(time_name))) ||
                  (time_unit && !(s->time_unit = copy_text(time_unit))) ||
                  (units && !(s->units = copy_texts(units, s->n))) ||
                  (descriptions && !(s->descriptions = copy_texts(descriptions, s->n)));
    if (!failed) return REPORT_OK;
    drop_labels(s);
    return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for labels of %d variables.", s->n);
}

static void drop_parameters(report_series *s)
{
    for (int i = 0; i < s->parameter_count; i++) {
        free(s->parameters[i].name);
        free(s->parameters[i].unit);
        free(s->parameters[i].description);
    }
    free(s->parameters);
    s->parameters = NULL;
    s->parameter_count = 0;
}

report_status report_series_parameters(report_series *s, int count, report_error *error)
{
    drop_parameters(s);
    if (count <= 0) return REPORT_OK;
    s->parameters = calloc((size_t)count, sizeof *s->parameters);
    if (!s->parameters)
        return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for %d parameters.", count);
    s->parameter_count = count;
    for (int i = 0; i < count; i++)
        if (report_series_set_parameter(s, i, "", "", "", 0.0, error) != REPORT_OK) {
            drop_parameters(s);
            return REPORT_ERR_MEMORY;
        }
    return REPORT_OK;
}

report_status report_series_set_parameter(report_series *s, int i, const char *name,
                                          const char *unit, const char *description, double value,
                                          report_error *error)
{
    if (i < 0 || i >= s->parameter_count)
        return report_fail(error, REPORT_ERR_ARGUMENT, "Parameter %d of %d.", i,
                           s->parameter_count);
    report_parameter *p = &s->parameters[i];
    report_parameter made = {copy_text(name ? name : ""), copy_text(unit ? unit : ""),
                             copy_text(description ? description : ""), value};
    bool failed = !made.name || !made.unit || !made.description;
    report_parameter dropped = failed ? made : *p;
    if (!failed) *p = made;
    free(dropped.name);
    free(dropped.unit);
    free(dropped.description);
    if (!failed) return REPORT_OK;
    return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a parameter.");
}

/* ---- aliases ---- */

static report_status reject_variable(const report_series *s, int i, report_error *error)
{
    return report_fail(error, REPORT_ERR_ARGUMENT, "Variable %d of %d.", i, s->n);
}

report_status report_series_alias(report_series *s, int i, int of, int sign, report_error *error)
{
    if (i < 0 || i >= s->n || of == i) return reject_variable(s, i, error);
    if (of < 0 || of >= s->n) return reject_variable(s, of, error);
    if (!s->alias) s->alias = calloc((size_t)s->n, sizeof *s->alias);
    if (!s->alias) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for aliases.");
    s->alias[i] = sign < 0 ? -(of + 1) : of + 1;
    return REPORT_OK;
}

report_status report_series_constant(report_series *s, int i, report_error *error)
{
    if (i < 0 || i >= s->n) return reject_variable(s, i, error);
    if (!s->constant) s->constant = calloc((size_t)s->n, sizeof *s->constant);
    if (!s->constant) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for constants.");
    s->constant[i] = true;
    return REPORT_OK;
}

void report_series_show(report_series *s, int count)
{
    s->shown = count < 1 ? 1 : count < s->n ? count : s->n;
}

/* Up to LABEL_SIZE - 1 bytes of a text, and no part of a UTF-8 sequence at its end. */
static size_t copy_start(const char *from, char text[LABEL_SIZE])
{
    size_t length = strlen(from);
    if (length > LABEL_SIZE - 1) {
        length = LABEL_SIZE - 1;
        while (length > 0 && ((unsigned char)from[length] & 0xC0) == 0x80) length--;
    }
    memcpy(text, from, length);
    text[length] = '\0';
    return length;
}

void report_label(const char *name, const char *unit, char text[LABEL_SIZE])
{
    size_t length = copy_start(name, text), more = unit ? strlen(unit) : 0;
    if (more == 0 || length + more + 4 > LABEL_SIZE) return;
    char *end = text + length;
    if (length > 0) *end++ = ' ';
    *end++ = '[';
    memcpy(end, unit, more);
    memcpy(end + more, "]", 2);
}

void report_series_label_of(const report_series *s, int i, char text[LABEL_SIZE])
{
    if (i < 0)
        report_label(s->time_name ? s->time_name : "t", s->time_unit, text);
    else
        report_label(s->names[i], s->units ? s->units[i] : NULL, text);
}

void report_series_free(report_series *series)
{
    if (!series) return;
    drop_labels(series);
    drop_parameters(series);
    free_texts(series->names, series->n);
    free(series->alias);
    free(series->constant);
    free(series->times);
    free(series->rows);
    free(series->spool_directory);
    spool_free(series->spool);
    free(series);
}
