/* The points of a sweep: ranges, values, files, samples, and how they go together. */
#define _POSIX_C_SOURCE 200809L
#include "sweep.h"

#include "internal.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static report_status no_memory(report_error *error)
{
    return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for points.");
}

void sweep_points_free(sweep_points *points)
{
    for (int c = 0; points && c < points->columns; c++) {
        sweep_column *column = &points->column[c];
        for (int k = 0; k < column->word_count; k++) free(column->words[k]);
        free(column->words);
        free(column->name);
        free(column->unit);
    }
    if (points) {
        free(points->column);
        free(points->value);
    }
    free(points);
}

/* Points with columns that have no names yet. */
static sweep_points *points_new(size_t count, int columns)
{
    sweep_points *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->column = calloc((size_t)columns + 1, sizeof *p->column);
    p->value = calloc(count * (size_t)columns + 1, sizeof *p->value);
    p->columns = p->column ? columns : 0;
    p->count = count;
    if (p->column && p->value) return p;
    sweep_points_free(p);
    return NULL;
}

static bool is_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

/* The number of a word in its column, new or not; -1: memory */
static int word_number(sweep_column *column, const char *word)
{
    for (int k = 0; k < column->word_count; k++)
        if (strcmp(column->words[k], word) == 0) return k;
    char **words = realloc(column->words, ((size_t)column->word_count + 1) * sizeof *words);
    if (!words) return -1;
    column->words = words;
    words[column->word_count] = strdup(word);
    return words[column->word_count] ? column->word_count++ : -1;
}

/* Fill column c from texts: numbers if all are, else words. False: memory */
static bool fill_column(sweep_points *p, int c, char *const *texts, size_t stride)
{
    double number;
    bool numbers = true;
    for (size_t i = 0; i < p->count && numbers; i++)
        numbers = is_number(texts[i * stride], &number);
    for (size_t i = 0; i < p->count; i++) {
        double *to = &p->value[i * (size_t)p->columns + (size_t)c];
        if (numbers) {
            (void)is_number(texts[i * stride], to);
            continue;
        }
        int word = word_number(&p->column[c], texts[i * stride]);
        if (word < 0) return false;
        *to = word;
    }
    return true;
}

/* ---- text ---- */

/* A copy of text[0 .. length) without blanks around it; NULL: memory */
static char *trimmed(const char *text, size_t length)
{
    while (length > 0 && (*text == ' ' || *text == '\t')) text++, length--;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
    return strndup(text, length);
}

/* The sign behind a name, which may have quotes and subscripts; NULL: there is none */
static const char *equals_of(const char *text)
{
    bool quoted = false;
    for (; *text && (quoted || *text != '='); text++)
        if (quoted && *text == '\\' && text[1])
            text++;
        else if (*text == '\'')
            quoted = !quoted;
    return *text == '=' ? text : NULL;
}

/* ---- ranges ---- */

typedef struct range {
    double first, step, last;
    bool factor; /* step is one */
} range;

/* "1:0.1:5" or "1:*2:64"; false: something else */
static bool range_read(const char *text, range *r)
{
    char *end;
    r->first = strtod(text, &end);
    if (end == text || *end != ':') return false;
    text = end + 1;
    r->factor = *text == '*';
    text += r->factor;
    r->step = strtod(text, &end);
    if (end == text || *end != ':') return false;
    return is_number(end + 1, &r->last) && isfinite(r->first) && isfinite(r->step);
}

/* Steps from the first to the last value, in general no whole number. */
static double range_steps(const range *r)
{
    return r->factor ? log(r->last / r->first) / log(r->step) : (r->last - r->first) / r->step;
}

/* The part of a step that rounding may be worth: a value so close to the end is the end. Each text
 * is rounded by half a unit of its last digit, and so is what is made of them. */
static double slack(const range *r)
{
    double steps = fabs(range_steps(r)), size = fabs(r->first) + fabs(r->last);
    double rounding =
        r->factor ? (4.0 + steps) / fabs(r->step - 1.0) : 2.0 * size / fabs(r->step) + steps;
    return fmax(1e-9, DBL_EPSILON * rounding);
}

/* What is wrong with a range; NULL: nothing. */
static const char *range_fault(const range *r)
{
    bool one_sign = r->first != 0.0 && r->last / r->first > 0.0;
    if (r->factor && (!one_sign || !(r->step > 0.0) || r->step == 1.0))
        return "a factor needs ends of one sign that are not 0, and be above 0 and not 1";
    if (r->step == 0.0) return "its step is 0";
    if (r->first == r->last) return NULL;
    if (range_steps(r) < -slack(r)) return "it is empty: the step leads away from its end";
    return NULL;
}

static double range_count(const range *r)
{
    return r->first == r->last ? 1.0 : floor(range_steps(r) + slack(r)) + 1.0;
}

/* Each value follows from the first one, so that rounding does not add up. */
static double range_value(const range *r, size_t k)
{
    double x = r->factor ? r->first * pow(r->step, (double)k) : r->first + (double)k * r->step;
    double unit = r->factor ? fabs(x * (r->step - 1.0)) : fabs(r->step);
    return fabs(x - r->last) <= slack(r) * unit ? r->last : x;
}

static report_status range_points(const char *text, const range *r, sweep_points **points,
                                  report_error *error)
{
    const char *why = range_fault(r);
    if (why) return report_fail(error, REPORT_ERR_ARGUMENT, "The range '%.200s': %s.", text, why);
    double count = range_count(r);
    if (count > SWEEP_MOST_POINTS)
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "The range '%.200s' has %.3g values; more than %d are refused.", text,
                           count, SWEEP_MOST_POINTS);
    if (count > 1.0 && slack(r) > 0.25)
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "The range '%.200s': its step is too small, its values are the same but "
                           "for rounding.",
                           text);
    *points = points_new((size_t)count, 1);
    if (!*points) return no_memory(error);
    for (size_t k = 0; k < (*points)->count; k++) (*points)->value[k] = range_value(r, k);
    return REPORT_OK;
}

/* ---- values ---- */

/* The length of a value, which may have commas in quotes, brackets and braces. */
static size_t value_length(const char *text)
{
    int depth = 0;
    bool quoted = false;
    size_t k = 0;
    for (; text[k] && (text[k] != ',' || depth > 0 || quoted); k++) {
        if (quoted && text[k] == '\\' && text[k + 1])
            k++;
        else if (text[k] == '\'' || text[k] == '"')
            quoted = !quoted;
        depth += !quoted && strchr("[({", text[k]) ? 1 : 0;
        depth -= !quoted && strchr("])}", text[k]) ? 1 : 0;
    }
    return k;
}

/* "a,b,c" */
static report_status value_points(const char *text, sweep_points **points, report_error *error)
{
    size_t count = 1, k = 0;
    for (const char *at = text; at[value_length(at)]; at += value_length(at) + 1) count++;
    char **texts = calloc(count, sizeof *texts);
    report_status status = texts ? REPORT_OK : no_memory(error);
    for (const char *at = text; k < count && status == REPORT_OK; at += value_length(at) + 1) {
        texts[k] = trimmed(at, value_length(at));
        if (!texts[k])
            status = no_memory(error);
        else if (!*texts[k])
            status = report_fail(error, REPORT_ERR_ARGUMENT, "Value %zu of '%.200s' is empty.",
                                 k + 1, text);
        k++;
    }
    if (status == REPORT_OK) *points = points_new(count, 1);
    if (status == REPORT_OK && (!*points || !fill_column(*points, 0, texts, 1)))
        status = no_memory(error);
    for (size_t i = 0; texts && i < count; i++) free(texts[i]);
    free(texts);
    return status;
}

report_status sweep_points_over(const char *text, sweep_points **points, report_error *error)
{
    const char *equals = equals_of(text);
    char *name = equals ? trimmed(text, (size_t)(equals - text)) : NULL;
    char *values = equals ? trimmed(equals + 1, strlen(equals + 1)) : NULL;
    range r;
    *points = NULL;
    report_status status = REPORT_OK;
    if (!equals || (name && !*name) || (values && !*values))
        status = report_fail(error, REPORT_ERR_ARGUMENT,
                             "'%.200s' says not what varies: NAME=START:STEP:STOP, "
                             "NAME=START:*FACTOR:STOP, or NAME=VALUE,VALUE,..",
                             text);
    else if (!name || !values)
        status = no_memory(error);
    else if (range_read(values, &r))
        status = range_points(text, &r, points, error);
    else if (strchr(values, ':') && !strpbrk(values, "\"'{"))
        status = report_fail(error, REPORT_ERR_ARGUMENT,
                             "The range '%.200s' is wrong: it is START:STEP:STOP, or "
                             "START:*FACTOR:STOP, with finite numbers.",
                             text);
    else
        status = value_points(values, points, error);
    if (status == REPORT_OK) {
        (*points)->column[0].name = name;
        name = NULL;
    } else {
        sweep_points_free(*points);
        *points = NULL;
    }
    free(name);
    free(values);
    return status;
}

/* ---- files ---- */

/* All cells of a file, row by row. */
typedef struct cells {
    char **text; /* owned, each of them too */
    size_t count, capacity;
    long *line; /* of each row; owned */
    size_t rows, row_capacity;
    int columns;
} cells;

static void cells_free(cells *c)
{
    for (size_t k = 0; k < c->count; k++) free(c->text[k]);
    free(c->text);
    free(c->line);
}

static bool cells_add(cells *c, char *text)
{
    if (c->count == c->capacity) {
        size_t capacity = 2 * c->capacity + 64;
        char **list = realloc(c->text, capacity * sizeof *list);
        if (!list) return false;
        c->text = list;
        c->capacity = capacity;
    }
    c->text[c->count++] = text;
    return text != NULL;
}

static bool cells_row(cells *c, long line)
{
    if (c->rows == c->row_capacity) {
        size_t capacity = 2 * c->row_capacity + 64;
        long *list = realloc(c->line, capacity * sizeof *list);
        if (!list) return false;
        c->line = list;
        c->row_capacity = capacity;
    }
    c->line[c->rows++] = line;
    return true;
}

/* What is wrong with the quotes of the field at `at`; NULL: nothing */
static const char *quote_fault(const char *at, char separator)
{
    at += strspn(at, " ");
    if (*at++ != '"') return NULL;
    while (*at && (*at != '"' || at[1] == '"')) at += *at == '"' ? 2 : 1;
    if (!*at) return "a quote is not closed";
    at += 1 + strspn(at + 1, " ");
    return *at == '\0' || *at == separator ? NULL : "something stands behind a closing quote";
}

/* The field at *at, without quotes [RFC 4180]; *at is behind it. NULL: memory */
static char *take_field(const char **at, char separator)
{
    const char *text = *at + strspn(*at, " ");
    if (*text != '"') {
        size_t length = strcspn(*at, (char[]){separator, '\0'});
        char *field = trimmed(*at, length);
        *at += length;
        return field;
    }
    char *field = malloc(strlen(text) + 1), *to = field;
    for (text++; field && *text && (*text != '"' || text[1] == '"'); text++) {
        if (*text == '"') text++;
        *to++ = *text;
    }
    if (field) *to = '\0';
    *at = text + strcspn(text, (char[]){separator, '\0'});
    return field;
}

static char separator_of(const char *line)
{
    return strchr(line, ';') ? ';' : strchr(line, '\t') ? '\t' : ',';
}

/* One line of the file into a row. */
static report_status split_line(cells *c, const char *path, char *line, long number, char separator,
                                report_error *error)
{
    int columns = 0;
    line[strcspn(line, "\r\n")] = '\0';
    if (line[strspn(line, " \t")] == '\0') return REPORT_OK;
    for (const char *at = line;; at++, columns++) {
        const char *fault = quote_fault(at, separator);
        if (fault)
            return report_fail(error, REPORT_ERR_READ, "%.300s:%ld: %s.", path, number, fault);
        if (!cells_add(c, take_field(&at, separator))) return no_memory(error);
        if (c->rows > 0 && columns < c->columns && !*c->text[c->count - 1])
            return report_fail(error, REPORT_ERR_READ,
                               "%.300s:%ld: the value of '%.100s' is empty.", path, number,
                               c->text[columns]);
        if (*at == '\0') break;
    }
    if (c->rows == 0) c->columns = columns + 1;
    if (columns + 1 != c->columns)
        return report_fail(error, REPORT_ERR_READ,
                           "%.300s:%ld: %d values, and the first line has %d names.", path, number,
                           columns + 1, c->columns);
    return cells_row(c, number) ? REPORT_OK : no_memory(error);
}

static report_status read_cells(const char *path, cells *c, report_error *error)
{
    FILE *file = fopen(path, "r");
    char *line = NULL, separator = ',';
    size_t size = 0;
    long number = 0;
    ssize_t length;
    report_status status = REPORT_OK;
    if (!file)
        return report_fail(error, REPORT_ERR_READ, "Cannot read '%.300s': %s.", path,
                           strerror(errno));
    errno = 0;
    while (status == REPORT_OK && (length = getline(&line, &size, file)) >= 0) {
        char *from = number == 0 && strncmp(line, "\xEF\xBB\xBF", 3) == 0 ? line + 3 : line;
        if (c->rows == 0) separator = separator_of(from);
        number++;
        if (strlen(line) == (size_t)length)
            status = split_line(c, path, from, number, separator, error);
        else
            status =
                report_fail(error, REPORT_ERR_READ, "%.300s:%ld: this is no text.", path, number);
    }
    if (status == REPORT_OK && ferror(file))
        status =
            report_fail(error, REPORT_ERR_READ, "Cannot read '%.300s': %s.", path, strerror(errno));
    if (status == REPORT_OK && c->rows < 2)
        status =
            report_fail(error, REPORT_ERR_READ,
                        "'%.300s' has no points: a line with names, then a line for each.", path);
    free(line);
    fclose(file);
    return status;
}

/* "k [1/s]": the name and, if there is one, the unit. False: memory */
static bool name_column(sweep_column *column, char *text)
{
    char *open = strstr(text, " ["), *close = text + strlen(text);
    if (open && open > text && close[-1] == ']') {
        column->unit = strndup(open + 2, (size_t)(close - open - 3));
        if (!column->unit) return false;
        *open = '\0';
    }
    column->name = trimmed(text, strlen(text));
    return column->name != NULL;
}

report_status sweep_points_list(const char *path, sweep_points **points, report_error *error)
{
    cells c = {0};
    *points = NULL;
    report_status status = read_cells(path, &c, error);
    if (status == REPORT_OK) {
        sweep_points *p = points_new(c.rows - 1, c.columns);
        *points = p;
        if (!p) status = no_memory(error);
        for (int k = 0; k < c.columns && status == REPORT_OK; k++) {
            size_t width = (size_t)c.columns;
            if (!name_column(&p->column[k], c.text[k]) ||
                !fill_column(p, k, c.text + width + k, width))
                status = no_memory(error);
            else if (!*p->column[k].name)
                status = report_fail(error, REPORT_ERR_READ, "%.300s:1: column %d has no name.",
                                     path, k + 1);
        }
    }
    cells_free(&c);
    if (status == REPORT_OK) return status;
    sweep_points_free(*points);
    *points = NULL;
    return status;
}

/* ---- samples ---- */

static report_status read_samples(const char *const *texts, int count, sweep_points *p,
                                  sweep_distribution *list, report_error *error)
{
    for (int k = 0; k < count; k++) {
        const char *equals = equals_of(texts[k]);
        if (!equals || equals == texts[k])
            return report_fail(error, REPORT_ERR_ARGUMENT,
                               "'%.200s' says not what to draw: NAME=DISTRIBUTION(..).", texts[k]);
        p->column[k].name = trimmed(texts[k], (size_t)(equals - texts[k]));
        char *right = trimmed(equals + 1, strlen(equals + 1));
        report_status status = p->column[k].name && right
                                   ? sweep_distribution_read(right, &list[k], error)
                                   : no_memory(error);
        free(right);
        if (status != REPORT_OK) return status;
    }
    return REPORT_OK;
}

report_status sweep_points_sample(size_t count, const char *const *texts, int text_count,
                                  sweep_by by, uint64_t seed, sweep_points **points,
                                  report_error *error)
{
    sweep_points *p = points_new(count, text_count);
    sweep_distribution *list = calloc((size_t)text_count + 1, sizeof *list);
    report_status status =
        p && list ? read_samples(texts, text_count, p, list, error) : no_memory(error);
    if (status == REPORT_OK) status = sweep_uniform(by, seed, count, text_count, p->value, error);
    if (status == REPORT_OK) {
        for (size_t i = 0; i < count * (size_t)text_count; i++)
            p->value[i] = sweep_quantile(&list[i % (size_t)text_count], p->value[i]);
        p->sampled = true;
        p->seed = seed;
        p->by = by;
    } else {
        sweep_points_free(p);
        p = NULL;
    }
    free(list);
    *points = p;
    return status;
}

/* ---- all of them ---- */

static report_status check_lengths(sweep_points *const *parts, int count, bool grid, size_t *rows,
                                   report_error *error)
{
    double product = 1.0;
    for (int k = 0; k < count; k++) {
        if (!grid && parts[k]->count != parts[0]->count)
            return report_fail(error, REPORT_ERR_ARGUMENT,
                               "'%.100s' has %zu values and '%.100s' %zu: side by side they need "
                               "as many; --grid takes all combinations.",
                               parts[0]->column[0].name, parts[0]->count, parts[k]->column[0].name,
                               parts[k]->count);
        product *= (double)parts[k]->count;
    }
    if (grid && product > SWEEP_MOST_POINTS)
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "The grid has %.3g points; more than %d are refused.", product,
                           SWEEP_MOST_POINTS);
    *rows = grid ? (size_t)product : parts[0]->count;
    return REPORT_OK;
}

static report_status check_names(const sweep_points *p, report_error *error)
{
    for (int i = 0; i < p->columns; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(p->column[i].name, p->column[k].name) == 0)
                return report_fail(error, REPORT_ERR_ARGUMENT, "'%.200s' is given twice.",
                                   p->column[i].name);
    return REPORT_OK;
}

/* Columns of a part into the whole, from `first` on; `block` rows have one row of the part. */
static void move_part(sweep_points *part, sweep_points *whole, int first, size_t block)
{
    for (size_t i = 0; i < whole->count; i++) {
        size_t row = i / block % part->count;
        memcpy(whole->value + i * (size_t)whole->columns + first,
               part->value + row * (size_t)part->columns,
               (size_t)part->columns * sizeof *part->value);
    }
    memcpy(whole->column + first, part->column, (size_t)part->columns * sizeof *part->column);
    if (part->sampled) whole->sampled = true, whole->seed = part->seed, whole->by = part->by;
    part->columns = 0; /* they have gone */
}

report_status sweep_points_join(sweep_points **parts, int count, bool grid, sweep_points **points,
                                report_error *error)
{
    size_t rows = 0, block = 1;
    int columns = 0;
    sweep_points *whole = NULL;
    report_status status = check_lengths(parts, count, grid, &rows, error);
    for (int k = 0; k < count; k++) columns += parts[k]->columns;
    if (status == REPORT_OK && !(whole = points_new(rows, columns))) status = no_memory(error);
    for (int k = count - 1; k >= 0 && whole; k--) {
        size_t part = parts[k]->count;
        columns -= parts[k]->columns;
        move_part(parts[k], whole, columns, block);
        if (grid) block *= part;
    }
    for (int k = 0; k < count; k++) sweep_points_free(parts[k]);
    if (status == REPORT_OK) status = check_names(whole, error);
    if (status != REPORT_OK) {
        sweep_points_free(whole);
        whole = NULL;
    }
    *points = whole;
    return status;
}
