/* A growing table of times and values. */
#include "internal.h"

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
        s->n = n;
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
    for (int i = 0; i < n; i++) names[i] = dae_problem_variable_name(problem, i);
    report_status status = report_series_new(n, names, series, error);
    free(names);
    return status;
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

report_status report_series_add(report_series *series, double t, const double *y,
                                report_error *error)
{
    if (series->count == series->capacity && !grow(series))
        return report_fail(error, REPORT_ERR_MEMORY,
                           "Out of memory after %zu rows of %d variables. Ask for fewer output "
                           "points, or write rows while they come.",
                           series->count, series->n);
    size_t n = (size_t)series->n;
    series->times[series->count] = t;
    memcpy(series->rows + series->count * n, y, n * sizeof *y);
    series->count++;
    return REPORT_OK;
}

void report_series_free(report_series *series)
{
    if (!series) return;
    if (series->names)
        for (int i = 0; i < series->n; i++) free(series->names[i]);
    free(series->names);
    free(series->times);
    free(series->rows);
    free(series);
}
