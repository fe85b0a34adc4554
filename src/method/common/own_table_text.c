/* Butcher tables as texts: a line for each part, and a line for each row of A.
 *
 *     name   Kutta, order 3
 *     order  3
 *     c      0  1/2  1
 *     A
 *            0
 *            1/2
 *            -1  2
 *     b      1/6  2/3  1/6 */
#include "method/common/own_table.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/diag.h"

enum { MOST_DEPTH = 20, MOST_WORD = 200 };

/* ---- numbers: 0.5, 1/3, (4-sqrt(6))/10 ---- */

/* A number in hand; `at` is NULL once something is wrong. */
typedef struct number_text {
    const char *at;
    int depth;
} number_text;

static double read_sum(number_text *n);

/* factor := ("+" | "-") factor | "(" sum ")" | "sqrt" "(" sum ")" | digits */
static double read_factor(number_text *n)
{
    if (!n->at || n->depth++ > MOST_DEPTH) {
        n->at = NULL;
        return 0.0;
    }
    double value = 0.0;
    bool root = strncmp(n->at, "sqrt(", 5) == 0;
    if (*n->at == '+' || *n->at == '-') {
        const double sign = *n->at++ == '-' ? -1.0 : 1.0;
        value = sign * read_factor(n);
    } else if (root || *n->at == '(') {
        n->at += root ? 5 : 1;
        value = read_sum(n);
        if (n->at) n->at = *n->at == ')' ? n->at + 1 : NULL;
        if (root) value = sqrt(value);
    } else {
        const size_t length = decimal_length(n->at);
        value = decimal_value(n->at, length);
        n->at = length > 0 ? n->at + length : NULL;
    }
    n->depth--;
    return value;
}

/* product := factor { ("*" | "/") factor } */
static double read_product(number_text *n)
{
    double value = read_factor(n);
    while (n->at && (*n->at == '*' || *n->at == '/')) {
        const bool divides = *n->at++ == '/';
        const double factor = read_factor(n);
        value = divides ? value / factor : value * factor;
    }
    return value;
}

/* sum := product { ("+" | "-") product } */
static double read_sum(number_text *n)
{
    double value = read_product(n);
    while (n->at && (*n->at == '+' || *n->at == '-')) {
        const double sign = *n->at++ == '-' ? -1.0 : 1.0;
        value += sign * read_product(n);
    }
    return value;
}

/* ---- lines ---- */

/* The text in hand. */
typedef struct table_text {
    const char *at;
    int line;
    bool in_matrix; /* lines of numbers are rows of A */
    int rows, in_row[DAE_TABLE_STAGES], in_b, in_c, in_embedded;
    bool has_matrix;
    dae_table *table;
    dae_diag *diag;
} table_text;

static dae_status wrong(const table_text *x)
{
    if (x->diag) x->diag->line = x->line;
    return diag_set(x->diag, DAE_ERR_ARGUMENT, "Line %d of the table: ", x->line);
}

#define WRONG(x, ...) (wrong(x), diag_append((x)->diag, __VA_ARGS__), DAE_ERR_ARGUMENT)

/* The next word of the line, a copy; false: there is none. */
static bool next_word(table_text *x, char word[MOST_WORD])
{
    int length = 0;
    while (*x->at == ' ' || *x->at == '\t' || *x->at == '\r' || *x->at == ',') x->at++;
    if (*x->at == '#')
        while (*x->at && *x->at != '\n') x->at++;
    while (*x->at && !strchr(" \t\r\n,#", *x->at)) {
        if (length < MOST_WORD - 1) word[length++] = *x->at;
        x->at++;
    }
    word[length] = '\0';
    return length > 0;
}

/* Numbers from a first word to the end of the line. */
static dae_status read_numbers(table_text *x, const char *what, bool more, char word[MOST_WORD],
                               double *numbers, int *count)
{
    for (*count = 0; more; more = next_word(x, word)) {
        number_text n = {word, 0};
        if (strlen(word) == MOST_WORD - 1)
            return WRONG(x, "a number in %s is longer than %d characters: \"%.20s..\".", what,
                         MOST_WORD - 2, word);
        double value = read_sum(&n);
        if (!n.at || *n.at)
            return WRONG(x, "\"%s\" in %s is not a number; write 0.5, 1/3 or (4-sqrt(6))/10.", word,
                         what);
        if (!isfinite(value)) return WRONG(x, "\"%s\" in %s is not finite.", word, what);
        if (*count == DAE_TABLE_STAGES)
            return WRONG(x, "%s has more than %d numbers.", what, DAE_TABLE_STAGES);
        numbers[(*count)++] = value;
    }
    return DAE_OK;
}

/* The numbers behind b, c or embedded, once. */
static dae_status read_weights(table_text *x, const char *key, double *numbers, int *count)
{
    char word[MOST_WORD];
    if (*count > 0) return WRONG(x, "%s is given twice.", key);
    dae_status status = read_numbers(x, key, next_word(x, word), word, numbers, count);
    if (status == DAE_OK && *count == 0) status = WRONG(x, "%s has no numbers.", key);
    return status;
}

/* The whole number behind order, index, stages or embedded_order. */
static dae_status read_whole(table_text *x, const char *key, int least, int *value)
{
    char word[MOST_WORD], *end = NULL;
    if (*value != 0) return WRONG(x, "%s is given twice.", key);
    long number = next_word(x, word) ? strtol(word, &end, 10) : -1;
    if (!end || *end || number < least || number > 99)
        return WRONG(x, "%s needs a whole number from %d to 99, not \"%s\".", key, least, word);
    *value = (int)number;
    return next_word(x, word) ? WRONG(x, "\"%s\" after %s is one word too many.", word, key)
                              : DAE_OK;
}

/* The rest of the line, without blanks around it. */
static dae_status read_name(table_text *x)
{
    char *name = x->table->name;
    size_t length = strcspn(x->at, "\n#");
    while (length > 0 && isspace((unsigned char)*x->at)) x->at++, length--;
    while (length > 0 && isspace((unsigned char)x->at[length - 1])) length--;
    size_t kept = length < DAE_NAME_SIZE - 1 ? length : DAE_NAME_SIZE - 1;
    memcpy(name, x->at, kept);
    name[kept] = '\0';
    x->at += strcspn(x->at, "\n");
    return DAE_OK;
}

static dae_status read_row(table_text *x, char word[MOST_WORD])
{
    if (x->rows == DAE_TABLE_STAGES) return WRONG(x, "A has more than %d rows.", DAE_TABLE_STAGES);
    dae_status status = read_numbers(x, "A", true, word, x->table->A[x->rows], &x->in_row[x->rows]);
    x->rows += status == DAE_OK;
    return status;
}

/* line := name .. | order N | index N | stages N | embedded_order N | c .. | b .. | embedded ..
 *       | A | row of A */
static dae_status read_line(table_text *x)
{
    dae_table *t = x->table;
    char word[MOST_WORD];
    if (!next_word(x, word)) return DAE_OK;
    const bool starts_matrix = strcmp(word, "A") == 0, was_in_matrix = x->in_matrix;
    x->in_matrix = starts_matrix;
    if (strcmp(word, "name") == 0) return read_name(x);
    if (strcmp(word, "order") == 0) return read_whole(x, word, 1, &t->order);
    if (strcmp(word, "index") == 0) return read_whole(x, word, 1, &t->index);
    if (strcmp(word, "stages") == 0) return read_whole(x, word, 1, &t->stages);
    if (strcmp(word, "embedded_order") == 0) return read_whole(x, word, 1, &t->embedded_order);
    if (strcmp(word, "c") == 0) return read_weights(x, "c", t->c, &x->in_c);
    if (strcmp(word, "b") == 0) return read_weights(x, "b", t->b, &x->in_b);
    if (strcmp(word, "embedded") == 0)
        return read_weights(x, "embedded", t->embedded, &x->in_embedded);
    if (starts_matrix && x->has_matrix) return WRONG(x, "A is given twice.");
    if (starts_matrix) {
        x->has_matrix = true;
        return next_word(x, word) ? WRONG(x,
                                          "write the rows of A on the lines after it, not "
                                          "\"%s\" beside it.",
                                          word)
                                  : DAE_OK;
    }
    x->in_matrix = was_in_matrix;
    if (was_in_matrix) return read_row(x, word);
    return WRONG(x,
                 "\"%s\" is no part of a table; parts are name, order, index, stages, c, A, b, "
                 "embedded and embedded_order.",
                 word);
}

/* ---- sizes ---- */

static dae_status check_size(const table_text *x, const char *part, int count)
{
    if (count == x->table->stages) return DAE_OK;
    return diag_set(x->diag, DAE_ERR_ARGUMENT, "The table has %d stages, but %s has %d numbers.",
                    x->table->stages, part, count);
}

/* Rows of A have s numbers; those of explicit tables may end before the diagonal, or with it. */
static dae_status check_rows(const table_text *x)
{
    const int s = x->table->stages;
    if (x->rows != s)
        return diag_set(x->diag, DAE_ERR_ARGUMENT, "The table has %d stages, but A has %d rows.", s,
                        x->rows);
    for (int i = 0; i < s; i++) {
        const int count = x->in_row[i];
        if (count == s || count == i + 1 || (count == i && i > 0)) continue;
        diag_set(x->diag, DAE_ERR_ARGUMENT, "Row %d of A has %d number%s; it needs %d", i + 1,
                 count, count == 1 ? "" : "s", s);
        if (i > 0 && i < s - 1)
            diag_append(x->diag, ", or %d without zeros above the diagonal", i + 1);
        if (i > 0) diag_append(x->diag, ", or %d of an explicit method", i);
        diag_append(x->diag, ".");
        return DAE_ERR_ARGUMENT;
    }
    return DAE_OK;
}

static dae_status check_sizes(table_text *x)
{
    dae_table *t = x->table;
    const bool missing = t->order == 0 || x->in_c == 0 || !x->has_matrix || x->in_b == 0;
    if (missing)
        return diag_set(x->diag, DAE_ERR_ARGUMENT, "The table has no %s.",
                        t->order == 0    ? "order: write which one it claims, as \"order 3\""
                        : x->in_c == 0   ? "c"
                        : !x->has_matrix ? "A"
                                         : "b");
    if (t->stages == 0) t->stages = x->in_c;
    if (t->stages > DAE_TABLE_STAGES)
        return diag_set(x->diag, DAE_ERR_ARGUMENT, "The table has %d stages; %d is the most.",
                        t->stages, DAE_TABLE_STAGES);
    t->has_embedded = x->in_embedded > 0;
    dae_status status = check_size(x, "c", x->in_c);
    if (status == DAE_OK) status = check_rows(x);
    if (status == DAE_OK) status = check_size(x, "b", x->in_b);
    if (status == DAE_OK && t->has_embedded) status = check_size(x, "embedded", x->in_embedded);
    return status;
}

dae_status own_table_read(const char *text, dae_table *table, dae_diag *diag)
{
    table_text x = {.at = text, .line = 1, .table = table, .diag = diag};
    dae_status status = DAE_OK;
    while (*x.at && status == DAE_OK) {
        status = read_line(&x);
        while (*x.at && *x.at != '\n') x.at++;
        if (*x.at) x.at++;
        x.line++;
    }
    return status == DAE_OK ? check_sizes(&x) : status;
}
