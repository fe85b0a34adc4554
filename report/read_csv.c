/* Comma-separated values [RFC 4180] as curves: a header, then rows of numbers. Semicolons and
 * tabulators separate, too: whatever follows the first name does. */
#define _POSIX_C_SOURCE 200809L

#include "read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct table {
    source *s;
    char separator;
    int columns, time; /* all of them; which one is the time */
    report_curves *curves;
} table;

static bool line_ends(const source *s)
{
    return s->at >= s->text + s->size || *s->at == '\n' || *s->at == '\r';
}

/* Go to the next line that is not empty; false at the end of the file. */
static bool next_line(source *s)
{
    const char *end = s->text + s->size;
    while (s->at < end && (*s->at == '\n' || *s->at == '\r')) {
        bool newline = *s->at == '\n' || s->at[1] != '\n';
        s->at++;
        if (newline) s->line = s->at, s->number++;
    }
    return s->at < end;
}

/* ---- the header ---- */

/* The next name of the header into room; its length. Doubled quotes within quotes are one. */
static size_t read_name(table *t, char *room)
{
    source *s = t->s;
    char *to = room;
    bool quoted = *s->at == '"';
    if (quoted) s->at++;
    for (; !line_ends(s); s->at++) {
        if (quoted && *s->at == '"') {
            if (s->at[1] != '"') break;
            s->at++;
        } else if (!quoted && *s->at == t->separator) {
            break;
        }
        *to++ = *s->at;
    }
    if (quoted && *s->at == '"') s->at++;
    while (to > room && to[-1] == ' ') to--;
    *to = '\0';
    return (size_t)(to - room);
}

/* The length of "name [unit]" without its unit. */
static size_t without_unit(const char *name, size_t length)
{
    if (length == 0 || name[length - 1] != ']') return length;
    for (size_t k = length - 1; k > 1; k--)
        if (name[k] == '[') return name[k - 1] == ' ' ? k - 1 : length;
    return length;
}

static char find_separator(table *t, char *room)
{
    source start = *t->s;
    if (*t->s->at == '"') (void)read_name(t, room);
    size_t length = strcspn(t->s->at, ",;\t\r\n");
    char found = t->s->at[length];
    *t->s = start;
    return found == ';' || found == '\t' ? found : ',';
}

static bool is_time(const char *name)
{
    return strcasecmp(name, "time") == 0 || strcmp(name, "t") == 0;
}

/* Names of all columns; the time is the first that is called so. */
static report_status read_header(table *t, char *room, report_error *error)
{
    source *s = t->s;
    for (int k = 0;; k++) {
        const size_t whole = read_name(t, room), length = without_unit(room, whole);
        report_curve *curve = &t->curves->curves[k];
        if (length < whole) curve->unit = strndup(room + length + 2, whole - length - 3);
        room[length] = '\0';
        if (!curve_name(curve, room, length) || (length < whole && !curve->unit))
            return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for '%s'.", s->path);
        if (t->time < 0 && is_time(room)) t->time = k;
        t->columns = k + 1;
        if (line_ends(s)) break;
        if (*s->at != t->separator)
            return source_fail(s, error, "after the name \"%.80s\" a '%c' belongs.", room,
                               t->separator);
        s->at++;
    }
    s->at = s->line;
    if (t->time >= 0) return REPORT_OK;
    return source_fail(s, error, "no column is named \"time\" or \"t\"; the first is \"%.80s\".",
                       t->curves->curves[0].name);
}

/* ---- rows ---- */

/* The field that is no number, for a message. */
static report_status no_number(const table *t, report_error *error)
{
    const source *s = t->s;
    const char ends[] = {t->separator, '\r', '\n', '\0'};
    int length = (int)strcspn(s->at, ends);
    if (length == 0) return source_fail(s, error, "a number is missing here.");
    return source_fail(s, error, "\"%.*s\" stands where a number belongs.",
                       length < 60 ? length : 60, s->at);
}

static void skip_blanks(table *t)
{
    source *s = t->s;
    while (*s->at == ' ' || (*s->at == '\t' && t->separator != '\t')) s->at++;
}

/* Whether nothing stands in the cell that is read next. */
static bool cell_is_empty(const table *t)
{
    return line_ends(t->s) || *t->s->at == t->separator;
}

static report_status read_row(table *t, double *row, report_error *error)
{
    source *s = t->s;
    for (int k = 0; k < t->columns; k++) {
        char *end;
        if (k > 0 && line_ends(s))
            return source_fail(s, error, "the row ends after %d of %d numbers.", k, t->columns);
        if (k > 0) s->at++; /* the separator */
        skip_blanks(t);
        if (t->s->holes && k != t->time && cell_is_empty(t)) {
            row[k] = NAN;
            continue;
        }
        bool number = *s->at && strchr("+-.0123456789nNiI", *s->at);
        row[k] = strtod(s->at, &end);
        if (!number || end == s->at) return no_number(t, error);
        const char *begin = s->at;
        s->at = end;
        skip_blanks(t);
        if (!line_ends(s) && *s->at != t->separator) {
            s->at = begin;
            return no_number(t, error);
        }
    }
    if (line_ends(s)) return REPORT_OK;
    return source_fail(s, error, "the row has more than the %d numbers of the header.", t->columns);
}

/* The time of a row that was just read; s->at is where the row begins. */
static report_status check_time(table *t, double time, report_error *error)
{
    const report_curves *c = t->curves;
    if (!isfinite(time)) return source_fail(t->s, error, "the time of this row is not finite.");
    if (c->count == 0 || time >= c->times[c->count - 1]) return REPORT_OK;
    return source_fail(t->s, error, "the time goes back from %.17g to %.17g.",
                       c->times[c->count - 1], time);
}

static report_status read_rows(table *t, report_error *error)
{
    report_curves *c = t->curves;
    report_status status = REPORT_OK;
    while (status == REPORT_OK && next_line(t->s)) {
        double *row = c->data[0] + c->count * (size_t)t->columns;
        const char *begin = t->s->at;
        status = read_row(t, row, error);
        if (status != REPORT_OK) break;
        const char *end = t->s->at;
        t->s->at = begin;
        status = check_time(t, row[t->time], error);
        t->s->at = end;
        c->lines[c->count] = t->s->number;
        c->times[c->count++] = row[t->time];
    }
    if (status == REPORT_OK && c->count == 0)
        status = source_fail(t->s, error, "there are no rows below the header.");
    return status;
}

/* ---- the whole ---- */

/* Columns of the header, which is read next, and lines of the file, or more. */
static void count_cells(const source *s, char separator, int *columns, size_t *rows)
{
    const char *end = s->text + s->size, *c = s->at;
    *columns = 1;
    *rows = 1;
    for (; c < end && *c != '\n' && *c != '\r'; c++) *columns += *c == separator;
    for (; c < end; c++) *rows += *c == '\n' || *c == '\r';
}

/* Curves of all columns but the time. */
static void link_columns(table *t)
{
    report_curves *c = t->curves;
    for (int k = 0; k < t->columns; k++) {
        c->curves[k].values = c->data[0] + k;
        c->curves[k].stride = (size_t)t->columns;
    }
    free(c->curves[t->time].name);
    free(c->curves[t->time].key);
    c->time_unit = c->curves[t->time].unit;
    memmove(&c->curves[t->time], &c->curves[t->time + 1],
            (size_t)(c->n - t->time - 1) * sizeof *c->curves);
    c->n = t->columns - 1;
}

report_status read_csv(source *s, report_curves **curves, report_error *error)
{
    table t = {.s = s, .time = -1};
    int columns;
    size_t rows;
    if (s->size >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0) s->at = s->line = s->text + 3;
    if (!next_line(s)) return source_fail(s, error, "the file is empty.");
    char *room = malloc(s->size + 1);
    if (room) t.separator = find_separator(&t, room);
    count_cells(s, t.separator, &columns, &rows);
    if (room) *curves = t.curves = curves_new(columns, rows, (size_t)columns * rows);
    if (t.curves) t.curves->lines = calloc(rows + 1, sizeof *t.curves->lines);
    report_status status = REPORT_OK;
    if (!room || !t.curves || !t.curves->lines)
        status = report_fail(error, REPORT_ERR_MEMORY, "Out of memory for '%s'.", s->path);
    if (status == REPORT_OK) status = read_header(&t, room, error);
    free(room);
    if (status != REPORT_OK) return status;
    s->at += strcspn(s->at, "\r\n");
    status = read_rows(&t, error);
    link_columns(&t);
    return status;
}
