#include "modelica/syntax/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/printable.h"

enum { DEFAULT_LIMIT = 50, LINE_WIDTH = 96, CONTEXT_BEFORE = 60, MAX_NAME = 255 };

typedef struct message {
    message_kind kind;
    source_place place;
    size_t order; /* of arrival: notes stay behind their message */
    size_t owner; /* index of the message a note belongs to, or its own */
    int rank;     /* those with one come before all others, the lowest first; 0: none */
    char *text;   /* "file:line:column: error: what" */
} message;

struct message_list {
    char *file;
    const char *source; /* borrowed */
    size_t length;
    const char **lines; /* starts of the lines, made when first needed */
    size_t line_count;
    message *all;
    size_t count, capacity;
    int limit, errors, warnings, rank;
    bool full, failed, last_dropped;
    char *text;
};

bool message_source_has(const message_list *m, const char *letters)
{
    const size_t length = strlen(letters);
    const char *at = m->source, *stop = m->source + m->length;
    while (length > 0 && at && (size_t)(stop - at) >= length) {
        at = memchr(at, letters[0], (size_t)(stop - at) - length + 1);
        if (!at || memcmp(at, letters, length) == 0) return at != NULL;
        at++;
    }
    return false;
}

message_list *message_list_new(const char *file, const char *text, size_t length, int limit)
{
    message_list *m = DAE_NEW(message_list);
    if (!m) return NULL;
    m->file = dae_strdup(file ? file : "model");
    m->source = text;
    m->length = text ? length : 0;
    m->limit = limit > 0 ? limit : DEFAULT_LIMIT;
    if (m->file) return m;
    message_list_free(m);
    return NULL;
}

void message_list_free(message_list *m)
{
    if (!m) return;
    for (size_t i = 0; i < m->count; i++) dae_free(m->all[i].text);
    dae_free_all(m->all, m->lines, m->text, m->file, m);
}

int message_errors(const message_list *m)
{
    return m->errors;
}

int message_warnings(const message_list *m)
{
    return m->warnings;
}

bool message_full(const message_list *m)
{
    return m->full || m->failed;
}

bool message_memory_failed(const message_list *m)
{
    return m->failed;
}

/* ---- adding ---- */

static const char *kind_name(message_kind kind)
{
    static const char *const names[] = {"error", "warning", "note"};
    return names[kind];
}

/* "file:line:column: kind: " into buffer; the length it needs. */
static int print_head(const message_list *m, message_kind kind, source_place place, char *buffer,
                      size_t size)
{
    if (place.line <= 0) return snprintf(buffer, size, "%s: %s: ", m->file, kind_name(kind));
    return snprintf(buffer, size, "%s:%d:%d: %s: ", m->file, place.line, place.column,
                    kind_name(kind));
}

/* The whole first line of a message; NULL when memory is exhausted. */
static char *compose(const message_list *m, message_kind kind, source_place place,
                     const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int head = print_head(m, kind, place, NULL, 0);
    int body = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (head < 0 || body < 0) return NULL;
    char *text = DAE_ARRAY(char, (size_t)head + (size_t)body + 1);
    if (!text) return NULL;
    print_head(m, kind, place, text, (size_t)head + 1);
    vsnprintf(text + head, (size_t)body + 1, format, arguments);
    return text;
}

/* The same thing at the same place says nothing new. Lists are short: at most the limit. */
static bool is_repeated(const message_list *m, source_place place, const char *text)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->all[i].place.line == place.line && m->all[i].place.column == place.column &&
            m->all[i].kind != MESSAGE_NOTE && strcmp(m->all[i].text, text) == 0)
            return true;
    return false;
}

/* Whether a message of this kind may still be added; errors beyond the limit mark the list full. */
static bool within_limit(message_list *m, message_kind kind)
{
    if (kind == MESSAGE_NOTE) return !m->last_dropped && m->count > 0;
    if (kind == MESSAGE_WARNING) return m->warnings < m->limit;
    if (m->errors >= m->limit) m->full = true;
    return !m->full;
}

static void keep(message_list *m, message_kind kind, source_place place, char *text)
{
    size_t owner = kind == MESSAGE_NOTE ? m->all[m->count - 1].owner : m->count;
    m->all[m->count] = (message){.kind = kind,
                                 .place = place,
                                 .order = m->count,
                                 .owner = owner,
                                 .rank = m->rank,
                                 .text = text};
    m->count++;
    m->errors += kind == MESSAGE_ERROR;
    m->warnings += kind == MESSAGE_WARNING;
    if (kind == MESSAGE_ERROR && m->errors >= m->limit) m->full = true;
}

static void add(message_list *m, message_kind kind, source_place place, const char *format,
                va_list arguments)
{
    if (m->failed) return;
    bool wanted = within_limit(m, kind);
    if (kind != MESSAGE_NOTE) m->last_dropped = !wanted;
    if (!wanted) return;
    char *text = compose(m, kind, place, format, arguments);
    if (!text || !dae_grow(&m->all, &m->capacity, m->count + 1, sizeof *m->all)) {
        dae_free(text);
        m->failed = true;
        return;
    }
    if (kind != MESSAGE_NOTE && is_repeated(m, place, text)) {
        dae_free(text);
        m->last_dropped = true;
        return;
    }
    keep(m, kind, place, text);
}

void message_rank(message_list *m)
{
    m->rank++;
}

void message_add(message_list *m, message_kind kind, source_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(m, kind, place, format, arguments);
    va_end(arguments);
}

/* ---- the lines of the source ---- */

/* One past the line end that begins at p: LF, CR or CRLF. */
static const char *skip_line_end(const char *p, const char *stop)
{
    if (p + 1 < stop && p[0] == '\r' && p[1] == '\n') return p + 2;
    return p + 1;
}

/* Calls with lines == NULL count the lines; otherwise their starts are stored. */
static size_t scan_lines(const message_list *m, const char **lines)
{
    const char *p = m->source, *stop = m->source + m->length;
    size_t count = 0;
    if (lines) lines[count] = p;
    count++;
    while (p < stop) {
        if (*p != '\n' && *p != '\r') {
            p++;
            continue;
        }
        p = skip_line_end(p, stop);
        if (lines) lines[count] = p;
        count++;
    }
    return count;
}

/* The text of a line without its end; false if there is none. */
static bool find_line(message_list *m, int line, const char **begin, const char **end)
{
    if (!m->source || line < 1) return false;
    if (!m->lines) {
        m->line_count = scan_lines(m, NULL);
        m->lines = DAE_ARRAY(const char *, m->line_count);
        if (!m->lines) {
            m->failed = true;
            return false;
        }
        scan_lines(m, m->lines);
    }
    if ((size_t)line > m->line_count) return false;
    const char *p = m->lines[line - 1], *stop = m->source + m->length;
    if (line == 1 && stop - p >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) p += 3; /* BOM */
    *begin = p;
    while (p < stop && *p != '\n' && *p != '\r') p++;
    *end = p;
    return true;
}

/* Bytes of the UTF-8 character at p (1 if it is none). */
static size_t character_size(const char *p, const char *end)
{
    unsigned char c = (unsigned char)*p;
    size_t n = c < 0xC2 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 1;
    if ((size_t)(end - p) < n) return 1;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)p[i] & 0xC0) != 0x80) return 1;
    return n;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* End of the quoted text that begins at p. */
static const char *quoted_end(const char *p, const char *end)
{
    char quote = *p++;
    while (p < end && *p != quote) p += *p == '\\' && p + 1 < end ? 2 : 1;
    return p < end ? p + 1 : end;
}

/* End of the token that begins at p: what is underlined. */
static const char *token_end(const char *p, const char *end)
{
    static const char *const pairs[] = {
        "==", "<>", "<=", ">=", ":=", ".+", ".-", ".*", "./", ".^", "&&", "||", "!=", "++",
        "+=", "-=", "*=", "/=", "**", "//", "/*", "*/", "--", "=>", "=<", "->", "~="};
    if (p >= end) return p;
    if (*p == '\'' || *p == '"') return quoted_end(p, end);
    if (is_word(*p)) {
        bool number = *p >= '0' && *p <= '9';
        while (p < end && (is_word(*p) || (number && *p == '.'))) p++;
        return p;
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && end - p > 1; i++)
        if (memcmp(p, pairs[i], 2) == 0) return p + 2;
    return p + character_size(p, end);
}

/* ---- text ---- */

typedef struct writer {
    char *data;
    size_t length, capacity;
    bool failed;
} writer;

static void put(writer *w, const char *bytes, size_t count)
{
    if (w->failed) return;
    if (w->length + count + 1 > w->capacity) {
        size_t capacity = 2 * (w->capacity + count) + 256;
        char *grown = DAE_ARRAY(char, capacity);
        if (!grown) {
            w->failed = true;
            return;
        }
        if (w->length) memcpy(grown, w->data, w->length);
        dae_free(w->data);
        w->data = grown;
        w->capacity = capacity;
    }
    memcpy(w->data + w->length, bytes, count);
    w->length += count;
    w->data[w->length] = '\0';
}

static void put_text(writer *w, const char *text)
{
    put(w, text, strlen(text));
}

/* One character of a source line as it may be shown: control characters and stray bytes as '?'. */
static void put_character(writer *w, const char *p, size_t size)
{
    unsigned char c = (unsigned char)*p;
    bool odd = (c < 0x20 && c != '\t') || c == 0x7F || (c >= 0x80 && size == 1) ||
               (c == 0xC2 && size == 2 && (unsigned char)p[1] < 0xA0);
    put(w, odd ? "?" : p, odd ? 1 : size);
}

/* Where the shown part of a long line begins: at most CONTEXT_BEFORE columns before the caret. */
static int shown_from(const char *begin, const char *end, int column)
{
    int columns = 0;
    for (const char *p = begin; p < end; p += character_size(p, end)) columns++;
    return columns > LINE_WIDTH && column > CONTEXT_BEFORE ? column - CONTEXT_BEFORE : 1;
}

/* The part of a line from column `from` on, and below it the caret and tildes. */
static void put_line(writer *w, const char *begin, const char *end, source_place place)
{
    int from = shown_from(begin, end, place.column), column = 1;
    char margin[32];
    writer under = {0};
    snprintf(margin, sizeof margin, "%5d | ", place.line);
    put_text(w, margin);
    put_text(&under, "      | ");
    put_text(w, from > 1 ? "..." : "");
    put_text(&under, from > 1 ? "   " : "");
    const char *p = begin, *token = NULL;
    for (; p < end && column < from + LINE_WIDTH; column++) {
        size_t size = character_size(p, end);
        if (column == place.column) token = token_end(p, end);
        if (column >= from) put_character(w, p, size);
        if (column >= from && column < place.column) put_text(&under, *p == '\t' ? "\t" : " ");
        if (column > place.column && token && p < token) put_text(&under, "~");
        if (column == place.column) put_text(&under, "^");
        p += size;
    }
    put_text(w, p < end ? "...\n" : "\n");
    if (!token) put_text(&under, "^"); /* at the end of the line */
    put_text(&under, "\n");
    if (under.data) put(w, under.data, under.length);
    w->failed |= under.failed;
    dae_free(under.data);
}

static const message *owner_of(const message_list *m, const message *a)
{
    return &m->all[a->owner];
}

/* By rank, by the place of the message (a note goes with its message), then by arrival. */
static bool comes_before(const message_list *m, const message *a, const message *b)
{
    const source_place x = owner_of(m, a)->place, y = owner_of(m, b)->place;
    if (a->rank != b->rank) return b->rank == 0 || (a->rank > 0 && a->rank < b->rank);
    if (x.line != y.line) return x.line < y.line;
    if (x.column != y.column) return x.column < y.column;
    return a->order < b->order;
}

/* Indices of the messages in order; insertion sort, since messages come nearly sorted. */
static size_t *sorted_order(const message_list *m)
{
    size_t *order = DAE_ARRAY(size_t, m->count);
    if (!order) return NULL;
    for (size_t i = 0; i < m->count; i++) {
        size_t at = i;
        for (; at > 0 && comes_before(m, &m->all[i], &m->all[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

/* A text that may quote the model, as it may be shown. */
static void put_safely(writer *w, const char *text)
{
    size_t length = dae_printable(text, NULL, 0);
    char *safe = DAE_ARRAY(char, length + 1);
    if (!safe) {
        w->failed = true;
        return;
    }
    (void)dae_printable(text, safe, length + 1);
    put(w, safe, length);
    dae_free(safe);
}

static void put_message(message_list *m, writer *w, const message *one)
{
    const char *begin, *end;
    put_safely(w, one->text);
    put_text(w, "\n");
    if (find_line(m, one->place.line, &begin, &end)) put_line(w, begin, end, one->place);
}

const char *message_text(message_list *m)
{
    writer w = {0};
    put_text(&w, "");
    size_t *order = sorted_order(m);
    for (size_t i = 0; order && i < m->count; i++) put_message(m, &w, &m->all[order[i]]);
    if (m->errors >= m->limit) {
        char last[64];
        snprintf(last, sizeof last, ": stopped after %d errors\n", m->errors);
        put_safely(&w, m->file);
        put_text(&w, last);
    }
    m->failed |= !order || w.failed;
    dae_free_all(order, m->text);
    m->text = w.data;
    return m->text ? m->text : "out of memory\n";
}

const char *message_first(const message_list *m, int *line)
{
    const message *first = NULL;
    for (size_t i = 0; i < m->count; i++)
        if (m->all[i].kind == MESSAGE_ERROR && (!first || comes_before(m, &m->all[i], first)))
            first = &m->all[i];
    if (line) *line = first ? first->place.line : 0;
    return first ? first->text : NULL;
}

/* ---- the nearest name ---- */

/* A name without the quotes of a quoted identifier: 'x' and x are easily confused. */
static const char *unquoted(const char *name, size_t *length)
{
    *length = strlen(name);
    if (*length < 2 || name[0] != '\'' || name[*length - 1] != '\'') return name;
    *length -= 2;
    return name + 1;
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Twice the number of insertions, deletions, replacements and swaps of neighbours that turn a into
 * b; a change of case costs half a step. Gives up beyond `most`. Damerau's distance in
 * the form of optimal string alignment: no part of a word is edited twice. */
static int edit_distance(const char *a, size_t na, const char *b, size_t nb, int most)
{
    int rows[3][MAX_NAME + 1];
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= nb; j++) last[j] = 2 * (int)j;
    for (size_t i = 1; i <= na; i++) {
        int row_least = now[0] = 2 * (int)i;
        for (size_t j = 1; j <= nb; j++) {
            char x = a[i - 1], y = b[j - 1];
            int change = x == y ? 0 : lower(x) == lower(y) ? 1 : 2;
            now[j] = least(last[j - 1] + change, least(last[j], now[j - 1]) + 2);
            if (i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y)
                now[j] = least(now[j], before[j - 2] + 2);
            row_least = least(row_least, now[j]);
        }
        if (row_least > most) return most + 1;
        int *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[nb];
}

/* The first letter of a short word is hardly ever wrong, but for a swap: main is not gain. */
static bool begins_alike(const char *a, size_t na, const char *b, size_t nb)
{
    if (na > 5 || lower(a[0]) == lower(b[0])) return true;
    return na > 1 && nb > 1 && lower(a[0]) == lower(b[1]) && lower(a[1]) == lower(b[0]);
}

/* One edit in three letters is a misspelling; more is another word. Names of one or two letters
 * match by case only. */
static int tolerated(size_t length)
{
    return length < 3 ? 1 : 2 * (int)((length + 1) / 3);
}

const char *nearest_name(const char *name, const char *const *candidates, size_t count)
{
    size_t n, k;
    const char *plain = unquoted(name, &n), *best = NULL;
    if (n == 0 || n > MAX_NAME) return NULL;
    int most = tolerated(n);
    for (size_t i = 0; i < count; i++) {
        const char *other = candidates[i] ? unquoted(candidates[i], &k) : NULL;
        if (!other || k == 0 || k > MAX_NAME || strcmp(name, candidates[i]) == 0) continue;
        size_t gap = n > k ? n - k : k - n;
        if (2 * (int)gap > most || !begins_alike(plain, n, other, k)) continue;
        int distance = edit_distance(plain, n, other, k, most);
        if (distance > most) continue;
        best = candidates[i];
        most = distance - 1;
        if (distance == 0) break;
    }
    return best;
}
