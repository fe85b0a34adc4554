/* Curves read back from files. */
#define _POSIX_C_SOURCE 200809L
#include "read.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

report_status source_fail(const source *s, report_error *error, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return report_fail(error, REPORT_ERR_READ, "%s:%ld:%ld: %s", s->path, s->number,
                       (long)(s->at - s->line) + 1, text);
}

/* ---- curves ---- */

report_curves *curves_new(int n, size_t rows, size_t numbers)
{
    report_curves *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->n = n;
    c->curves = calloc((size_t)n + 1, sizeof *c->curves);
    c->times = calloc(rows + 1, sizeof *c->times);
    c->data[0] = calloc(numbers + 1, sizeof *c->data[0]);
    if (c->curves && c->times && c->data[0]) return c;
    report_curves_free(c);
    return NULL;
}

void report_curves_free(report_curves *c)
{
    if (!c) return;
    for (int i = 0; c->curves && i < c->n; i++) {
        free(c->curves[i].name);
        free(c->curves[i].key);
        free(c->curves[i].unit);
    }
    free(c->curves);
    free(c->times);
    free(c->data[0]);
    free(c->data[1]);
    free(c->lines);
    free(c->time_unit);
    free(c);
}

/* A name without quotes and blanks, which tools put in different places; owned by the caller. */
static char *key_of(const char *name)
{
    char *key = malloc(strlen(name) + 1), *to = key;
    if (!key) return NULL;
    for (; *name; name++)
        if (*name != '\'' && *name != ' ') *to++ = *name;
    *to = '\0';
    return key;
}

bool curve_name(report_curve *curve, const char *name, size_t length)
{
    curve->factor = 1.0;
    curve->name = strndup(name, length);
    curve->key = curve->name ? key_of(curve->name) : NULL;
    return curve->key != NULL;
}

/* Order by key; equal ones by their place in memory, which is that in the file. */
static int compare_curves(const void *a, const void *b)
{
    const report_curve *const *one = a, *const *other = b;
    int order = strcmp((*one)->key, (*other)->key);
    return order ? order : (*one > *other) - (*one < *other);
}

static bool sort_curves(report_curves *c)
{
    size_t n = (size_t)c->n;
    report_curve **order = calloc(n + 1, sizeof(report_curve *));
    report_curve *sorted = calloc(n + 1, sizeof *sorted);
    bool done = order && sorted;
    for (size_t i = 0; done && i < n; i++) order[i] = &c->curves[i];
    if (done) qsort(order, n, sizeof(report_curve *), compare_curves);
    for (size_t i = 0; done && i < n; i++) sorted[i] = *order[i];
    free(order);
    free(done ? c->curves : sorted);
    if (done) c->curves = sorted;
    return done;
}

/* The order of a name, without its quotes and blanks, and a key. */
static int compare_name(const char *name, const char *key)
{
    for (;; name++) {
        if (*name == '\'' || *name == ' ') continue;
        if (*name != *key || !*key) return (unsigned char)*name - (unsigned char)*key;
        key++;
    }
}

int report_curves_find(const report_curves *c, const char *name)
{
    int low = 0, high = c->n, exact = 0, all = 0, place = REPORT_NO_CURVE;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare_name(name, c->curves[middle].key) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < c->n && compare_name(name, c->curves[low].key) == 0; low++) {
        bool same = strcmp(c->curves[low].name, name) == 0;
        if (all++ == 0 || (same && exact == 0)) place = low;
        exact += same;
    }
    return (exact > 0 ? exact : all) > 1 ? REPORT_TWO_CURVES : place;
}

double report_curves_value(const report_curves *c, int i, size_t row)
{
    const report_curve *curve = &c->curves[i];
    return curve->factor * curve->values[row * curve->stride];
}

static double converted(double value, const char *from, const char *to, bool difference)
{
    double zero = difference ? dae_unit_converted(0.0, from, to) : 0.0;
    return dae_unit_converted(value, from, to) - zero;
}

report_status report_curves_convert(report_curves *c, int i, const char *unit, bool difference,
                                    report_error *error)
{
    char **own = i < 0 ? &c->time_unit : &c->curves[i].unit;
    double *values = i < 0 ? c->times : c->data[0] + (c->curves[i].values - c->data[0]);
    size_t stride = i < 0 ? 1 : c->curves[i].stride;
    if (!*own || !**own || !unit || !*unit || strcmp(*own, unit) == 0) return REPORT_OK;
    if (isnan(dae_unit_converted(0.0, *own, unit)))
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "the column '%s' is in '%s', which cannot be converted to '%s'",
                           i < 0 ? "time" : c->curves[i].name, *own, unit);
    char *copy = strdup(unit);
    if (!copy) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a unit.");
    for (size_t r = 0; r < c->count; r++)
        values[r * stride] = converted(values[r * stride], *own, unit, difference);
    free(*own);
    *own = copy;
    return REPORT_OK;
}

/* ---- files ---- */

/* All bytes of a stream; false with errno. */
static bool read_bytes(FILE *file, source *s)
{
    size_t room = 0, got;
    do {
        room = room ? 2 * room : 1 << 16;
        char *more = realloc(s->text, room + 1);
        if (!more) return false;
        s->text = more;
        got = fread(more + s->size, 1, room - s->size, file);
        s->size += got;
    } while (s->size == room);
    s->text[s->size] = '\0';
    return !ferror(file);
}

static report_status read_source(source *s, report_error *error)
{
    errno = 0;
    FILE *file = fopen(s->path, "rb");
    bool done = file && read_bytes(file, s);
    int reason = errno;
    if (file) fclose(file);
    s->at = s->line = s->text;
    if (done) return REPORT_OK;
    return report_fail(error, REPORT_ERR_READ, "'%s' cannot be read: %s.", s->path,
                       strerror(reason));
}

typedef report_status (*reader)(source *s, report_curves **curves, report_error *error);

static reader reader_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot) return NULL;
    return strcasecmp(dot, ".csv") == 0    ? read_csv
           : strcasecmp(dot, ".json") == 0 ? read_json
           : strcasecmp(dot, ".mat") == 0  ? read_mat
                                           : NULL;
}

static report_status read_path(const char *path, bool holes, report_curves **curves,
                               report_error *error)
{
    reader read = reader_of(path);
    source s = {.path = path, .number = 1, .holes = holes};
    *curves = NULL;
    if (!read)
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "The format of '%s' is unclear: its name must end in .csv, .json or "
                           ".mat.",
                           path);
    report_status status = read_source(&s, error);
    if (status == REPORT_OK) status = read(&s, curves, error);
    free(s.text);
    if (status == REPORT_OK && !sort_curves(*curves))
        status = report_fail(error, REPORT_ERR_MEMORY, "Out of memory for '%s'.", path);
    if (status == REPORT_OK) return status;
    report_curves_free(*curves);
    *curves = NULL;
    return status;
}

report_status report_read(const char *path, report_curves **curves, report_error *error)
{
    return read_path(path, false, curves, error);
}

report_status report_read_data(const char *path, report_curves **curves, report_error *error)
{
    return read_path(path, true, curves, error);
}
