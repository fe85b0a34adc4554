/* Reading files: the whole text into memory, and the three formats. */
#include "modelica/library/table_file.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"

/* Where reading is. */
typedef struct reader {
    const char *at, *end, *line_begin;
    int line;
    table_trouble *trouble;
} reader;

__attribute__((format(printf, 2, 3))) static bool fail(const reader *r, const char *format, ...)
{
    va_list arguments;
    r->trouble->line = r->line;
    r->trouble->column = r->at && r->line ? (int)(r->at - r->line_begin) + 1 : 0;
    va_start(arguments, format);
    vsnprintf(r->trouble->text, sizeof r->trouble->text, format, arguments);
    va_end(arguments);
    return false;
}

/* The whole file with a zero behind it; owned by the caller. */
static char *read_all(const char *path, size_t *length, reader *r)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail(r, "%s", strerror(errno));
        return NULL;
    }
    size_t capacity = 0, used = 0, got = 1;
    char *text = NULL;
    while (got > 0 && used <= TABLE_FILE_LARGEST && dae_grow(&text, &capacity, used + 65537, 1))
        used += got = fread(text + used, 1, capacity - used - 1, file);
    bool failed = ferror(file) != 0, large = used > TABLE_FILE_LARGEST;
    fclose(file);
    if (got == 0 && !failed && !large && text) {
        text[used] = '\0';
        *length = used;
        return text;
    }
    dae_free(text);
    if (failed) fail(r, "it cannot be read");
    if (large) fail(r, "it has more than %d MB", TABLE_FILE_LARGEST >> 20);
    return NULL;
}

static void next_line(reader *r)
{
    r->line_begin = r->at;
    r->line++;
}

/* Room for rows by columns numbers. */
static bool allocate(reader *r, table_file *t)
{
    if (t->rows == 0 || t->columns == 0 || t->rows > TABLE_FILE_MOST / t->columns)
        return fail(r,
                    "a table of %zu rows and %zu columns: it needs one of each, and at most %d "
                    "numbers in all",
                    t->rows, t->columns, TABLE_FILE_MOST);
    t->values = DAE_ARRAY(double, t->rows * t->columns);
    t->lines = DAE_ARRAY(int, t->rows);
    return t->values && t->lines;
}

/* The length of a number with a sign or without; 0: none. */
static size_t number_length(const char *s)
{
    size_t sign = *s == '+' || *s == '-', length = decimal_length(s + sign);
    return length && length <= DECIMAL_LONGEST ? sign + length : 0;
}

static double number_value(const char *s, size_t length)
{
    size_t sign = *s == '+' || *s == '-';
    double value = decimal_value(s + sign, length - sign);
    return *s == '-' ? -value : value;
}

/* A finite number at the place; what stops it, any of `stops`, a blank or the end of the line, is
 * left. */
static bool read_number(reader *r, const char *stops, double *out)
{
    size_t length = number_length(r->at);
    const char *after = r->at + length;
    bool ends = *after == '\0' || strchr(" \t\r\n", *after) || strchr(stops, *after);
    int shown = 0;
    while (shown < 40 && r->at[shown] != '\0' && !strchr("\r\n", r->at[shown]) &&
           !strchr(stops, r->at[shown]))
        shown++;
    if (length == 0 && shown == 0) return fail(r, "a number is missing here");
    *out = length && ends ? number_value(r->at, length) : NAN;
    if (!isfinite(*out)) return fail(r, "'%.*s' is not a finite number", shown, r->at);
    r->at = after;
    return true;
}

/* ---- separated values ---- */

static void skip_blanks(reader *r, char delimiter)
{
    while ((*r->at == ' ' || *r->at == '\t') && *r->at != delimiter) r->at++;
    while (delimiter == ' ' && *r->at == ' ') r->at++; /* several blanks are one */
}

static bool at_line_end(const reader *r)
{
    return *r->at == '\0' || *r->at == '\n' || (*r->at == '\r' && r->at[1] == '\n');
}

static void step_line(reader *r)
{
    while (*r->at != '\n' && r->at < r->end) r->at++;
    if (r->at < r->end) r->at++;
    next_line(r);
}

/* A word up to the delimiter or the end of the line, without quotes and blanks around it. */
static char *read_word(reader *r, char delimiter)
{
    const char *from = r->at, *to;
    if (*from == '"') {
        to = strchr(++from, '"');
        if (!to) to = r->end;
        r->at = to < r->end ? to + 1 : to;
        skip_blanks(r, delimiter);
    } else {
        while (!at_line_end(r) && *r->at != delimiter) r->at++;
        for (to = r->at; to > from && (to[-1] == ' ' || to[-1] == '\t');) to--;
    }
    char *word = dae_alloc((size_t)(to - from) + 1, 1);
    if (!word) return NULL;
    memcpy(word, from, (size_t)(to - from));
    word[to - from] = '\0';
    return word;
}

static bool read_names(reader *r, char delimiter, table_file *t)
{
    size_t capacity = 0;
    for (;;) {
        skip_blanks(r, delimiter);
        if (!dae_grow(&t->names, &capacity, t->columns + 1, sizeof *t->names)) return false;
        if (!(t->names[t->columns] = read_word(r, delimiter))) return false;
        t->columns++;
        if (at_line_end(r)) break;
        if (*r->at != delimiter) return fail(r, "'%c' is expected behind a name", delimiter);
        r->at++;
    }
    step_line(r);
    return true;
}

/* One line of numbers behind those that are there; their count must be that of the first one. */
static bool read_row(reader *r, char delimiter, table_file *t, size_t *capacity, size_t *line_room)
{
    const char stops[2] = {delimiter, '\0'};
    size_t used = t->rows * t->columns, count = 0;
    for (;; r->at++, skip_blanks(r, delimiter)) {
        skip_blanks(r, delimiter);
        if (t->columns && count == t->columns)
            return fail(r, "more than the %zu numbers of the lines above", t->columns);
        if (used + count >= TABLE_FILE_MOST)
            return fail(r, "more than %d numbers", TABLE_FILE_MOST);
        if (!dae_grow(&t->values, capacity, used + count + 1, sizeof(double))) return false;
        if (!read_number(r, stops, &t->values[used + count])) return false;
        count++;
        skip_blanks(r, delimiter == ' ' ? '\0' : delimiter);
        if (at_line_end(r)) break;
        if (delimiter == ' ' && r->at[-1] == ' ') r->at--;
        if (*r->at != delimiter) return fail(r, "'%c' is expected behind a number", delimiter);
    }
    if (!t->columns) t->columns = count;
    if (count < t->columns)
        return fail(r, "%zu numbers in this line, %zu in those above", count, t->columns);
    if (!dae_grow(&t->lines, line_room, t->rows + 1, sizeof(int))) return false;
    t->lines[t->rows++] = r->line;
    return true;
}

/* What separates the words of the line at hand: the first such sign outside of quotes. */
static char find_delimiter(const reader *r)
{
    bool quoted = false;
    for (const char *c = r->at; *c && *c != '\n'; c++) {
        if (*c == '"') quoted = !quoted;
        if (!quoted && strchr(",;\t", *c)) return *c;
    }
    return ',';
}

static bool read_separated(reader *r, const table_request *request, table_file *t)
{
    size_t capacity = 0, line_room = 0;
    for (int k = 0; k < request->header_lines; k++) step_line(r);
    char delimiter = request->delimiter ? request->delimiter : find_delimiter(r);
    if (request->named && !read_names(r, delimiter, t)) return false;
    for (; r->at < r->end; step_line(r)) {
        skip_blanks(r, delimiter);
        if (at_line_end(r)) continue;
        if (!read_row(r, delimiter, t, &capacity, &line_room)) return false;
    }
    return t->rows > 0 || fail(r, "the file has no numbers");
}

/* ---- the text format ---- */

/* To what follows blanks, separators, ends of lines and comments. */
static void skip_space(reader *r)
{
    for (; r->at < r->end; r->at++) {
        if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n') r->at++;
        if (r->at == r->end || !strchr(" \t\r\n,;", *r->at)) return;
        if (*r->at == '\n') {
            r->at++;
            next_line(r);
            r->at--;
        }
    }
}

static bool read_size(reader *r, char before, size_t *out)
{
    char *end;
    while (*r->at == ' ') r->at++;
    if (*r->at != before)
        return fail(r, "'%c' is expected here: double name(rows, columns)", before);
    for (r->at++; *r->at == ' ';) r->at++;
    long n = *r->at >= '0' && *r->at <= '9' ? strtol(r->at, &end, 10) : -1;
    if (n < 0 || n > TABLE_FILE_MOST) return fail(r, "a size is expected here");
    *out = (size_t)n;
    r->at = end;
    return true;
}

/* "double name(rows, columns)"; *name borrows the text. */
static bool read_head(reader *r, const char **name, size_t *length, table_file *t)
{
    bool single = strncmp(r->at, "float ", 6) == 0;
    if (!single && strncmp(r->at, "double ", 7) != 0)
        return fail(r, "'double name(rows, columns)' is expected here");
    for (r->at += single ? 6 : 7; *r->at == ' ';) r->at++;
    *name = r->at;
    *length = strcspn(r->at, "( \t\r\n");
    r->at += *length;
    if (!read_size(r, '(', &t->rows) || !read_size(r, ',', &t->columns)) return false;
    while (*r->at == ' ') r->at++;
    if (*r->at != ')') return fail(r, "')' is expected here");
    r->at++;
    return true;
}

/* The numbers of a matrix, kept in t->values or left out. */
static bool read_numbers(reader *r, table_file *t)
{
    double number;
    for (size_t k = 0; k < t->rows * t->columns; k++) {
        skip_space(r);
        if (r->at == r->end)
            return fail(r, "the file ends at number %zu of %zu", k + 1, t->rows * t->columns);
        if (!read_number(r, ",;#", &number)) return false;
        if (!t->values) continue;
        t->values[k] = number;
        if (k % t->columns == 0) t->lines[k / t->columns] = r->line;
    }
    return true;
}

static bool read_text(reader *r, const table_request *request, table_file *t)
{
    const char *name = NULL;
    size_t length = 0;
    if (strncmp(r->at, "#1", 2) != 0)
        return fail(r, "the first line of a table in text format is '#1'");
    for (skip_space(r); r->at < r->end; skip_space(r)) {
        table_file head = {0};
        if (!read_head(r, &name, &length, &head)) return false;
        bool wanted = strlen(request->name) == length && !strncmp(request->name, name, length);
        if (wanted) *t = head;
        if (wanted && !allocate(r, t)) return false;
        if (!read_numbers(r, wanted ? t : &head)) return false;
        if (wanted) return true;
    }
    r->line = 0;
    return fail(r, "it has no table '%s'", request->name);
}

/* ---- MAT, level 4 ---- */

enum { MAT_HEAD = 20, MAT_TYPES = 6 };

static double mat_number(const char *at, int type)
{
    union {
        double d;
        float f;
        int32_t i;
        int16_t s;
        uint16_t u;
        uint8_t c;
    } x;
    static const size_t sizes[MAT_TYPES] = {8, 4, 4, 2, 2, 1};
    memcpy(&x, at, sizes[type]);
    switch (type) {
    case 0: return x.d;
    case 1: return (double)x.f;
    case 2: return x.i;
    case 3: return x.s;
    case 4: return x.u;
    default: return x.c;
    }
}

/* Numbers stand column by column. */
static bool take_matrix(reader *r, const int32_t *head, const char *data, size_t width,
                        table_file *t)
{
    t->rows = (size_t)head[1];
    t->columns = (size_t)head[2];
    if (!allocate(r, t)) return false;
    dae_free(t->lines);
    t->lines = NULL;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->columns; j++) {
            double x = mat_number(data + (j * t->rows + i) * width, head[0] / 10 % 10);
            if (!isfinite(x))
                return fail(r, "row %zu, column %zu of the matrix is not finite", i + 1, j + 1);
            t->values[i * t->columns + j] = x;
        }
    return true;
}

static bool read_mat(reader *r, const table_request *request, table_file *t)
{
    static const size_t widths[MAT_TYPES] = {8, 4, 4, 2, 2, 1};
    int32_t head[5];
    r->line = 0;
    while ((size_t)(r->end - r->at) >= MAT_HEAD) {
        memcpy(head, r->at, sizeof head);
        int type = head[0] / 10 % 10;
        size_t left = (size_t)(r->end - r->at) - MAT_HEAD;
        if (head[0] < 0 || head[0] > 51 || type >= MAT_TYPES || head[1] < 0 || head[2] < 0 ||
            head[4] < 1 || (size_t)head[4] > left)
            return fail(r, "it is no MAT file of level 4 in this machine's order of bytes; save it "
                           "with the option -v4");
        const char *name = r->at + MAT_HEAD, *data = name + head[4];
        uint64_t count = (uint64_t)head[1] * (uint64_t)head[2] * (head[3] ? 2u : 1u);
        if (count > (left - (size_t)head[4]) / widths[type]) return fail(r, "it is cut short");
        bool wanted = name[head[4] - 1] == '\0' && strcmp(name, request->name) == 0;
        if (wanted && head[0] % 10 == 0 && !head[3])
            return take_matrix(r, head, data, widths[type], t);
        r->at = data + count * widths[type];
    }
    return fail(r, "it has no matrix '%s' of real numbers", request->name);
}

/* ---- all ---- */

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    for (size_t k = 0; n >= m && k <= m; k++) {
        if (k == m) return true;
        char c = path[n - m + k];
        if (c >= 'A' && c <= 'Z') c = (char)(c + 'a' - 'A');
        if (c != end[k]) return false;
    }
    return false;
}

bool table_file_read(const table_request *request, table_file *table, table_trouble *trouble)
{
    size_t length = 0;
    *table = (table_file){0};
    *trouble = (table_trouble){0};
    reader r = {.trouble = trouble};
    char *text = read_all(request->path, &length, &r);
    if (!text) return false;
    r = (reader){
        .at = text, .end = text + length, .line_begin = text, .line = 1, .trouble = trouble};
    bool mat = ends_with(request->path, ".mat"), ok;
    if (!mat && length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r.line_begin = r.at = text + 3;
    if (mat)
        ok = read_mat(&r, request, table);
    else if (ends_with(request->path, ".csv") || request->named)
        ok = read_separated(&r, request, table);
    else
        ok = read_text(&r, request, table);
    dae_free(text);
    if (!ok) table_file_free(table);
    return ok;
}

void table_file_free(table_file *table)
{
    for (size_t k = 0; table->names && k < table->columns; k++) dae_free(table->names[k]);
    dae_free_all(table->values, table->lines, table->names);
    *table = (table_file){0};
}
