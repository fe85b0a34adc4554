/* Curves from the json [RFC 8259] that report_json writes: the members "names", "t" and "y" of
 * "series"; whatever else is there is passed over. */
#include "read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    source *s;
    report_error *error;
    report_status status;
    report_curves *curves;
    bool names, times, values; /* what was found */
} parser;

static bool fails(parser *p, const char *text)
{
    if (p->status == REPORT_OK) p->status = source_fail(p->s, p->error, "%s", text);
    return false;
}

static bool out_of_memory(parser *p)
{
    p->status = report_fail(p->error, REPORT_ERR_MEMORY, "Out of memory for '%s'.", p->s->path);
    return false;
}

static char peek(parser *p)
{
    source *s = p->s;
    for (; *s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'; s->at++)
        if (*s->at == '\n') s->line = s->at + 1, s->number++;
    return *s->at;
}

static bool take(parser *p, char c)
{
    if (peek(p) != c) return false;
    p->s->at++;
    return true;
}

/* ---- texts and numbers ---- */

/* The character of \uXXXX as UTF-8; pairs of surrogates become question marks. */
static char *put_code(char *to, unsigned code)
{
    if (code >= 0xD800 && code < 0xE000) code = '?';
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3F));
    } else {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3F));
        *to++ = (char)(0x80 | (code & 0x3F));
    }
    return to;
}

/* What follows a backslash. */
static char *put_escape(parser *p, char *to)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    source *s = p->s;
    const char *found = *s->at ? strchr(letters, *s->at) : NULL;
    if (found) {
        s->at++;
        *to++ = meant[found - letters];
        return to;
    }
    if (*s->at != 'u' || strspn(s->at + 1, "0123456789abcdefABCDEF") < 4) return NULL;
    char digits[5] = {s->at[1], s->at[2], s->at[3], s->at[4], 0};
    s->at += 5;
    return put_code(to, (unsigned)strtoul(digits, NULL, 16));
}

/* A text between quotes, owned by the caller; NULL: it is none, or memory. */
static char *read_text(parser *p)
{
    source *s = p->s;
    if (peek(p) != '"') return fails(p, "a text in quotes belongs here."), NULL;
    size_t length = strcspn(++s->at, "\"\n");
    for (const char *c = s->at + length; *c == '"' && c[-1] == '\\'; length = (size_t)(c - s->at))
        c += 1 + strcspn(c + 1, "\"\n");
    char *text = malloc(length + 1), *to = text;
    if (!text) return out_of_memory(p), NULL;
    while (to && *s->at && *s->at != '"' && *s->at != '\n') {
        if (*s->at != '\\') {
            *to++ = *s->at++;
            continue;
        }
        s->at++;
        to = put_escape(p, to);
    }
    if (to && *s->at == '"') {
        s->at++;
        *to = '\0';
        return text;
    }
    free(text);
    return fails(p, "this text has no proper end."), NULL;
}

/* A number, or null for one that is not finite. */
static bool read_number(parser *p, double *x)
{
    source *s = p->s;
    char *end;
    char c = peek(p);
    if (strncmp(s->at, "null", 4) == 0) {
        s->at += 4;
        *x = NAN;
        return true;
    }
    *x = strtod(s->at, &end);
    if (end == s->at || !(c == '-' || (c >= '0' && c <= '9')))
        return fails(p, "a number belongs here.");
    s->at = end;
    return true;
}

/* How many elements the array that begins here has, if it has no arrays, objects or texts in it. */
static size_t count_numbers(parser *p)
{
    (void)peek(p);
    const char *c = p->s->at;
    size_t count = 1, length = strcspn(c, "]");
    for (size_t k = 0; k < length; k++) count += c[k] == ',';
    return count;
}

/* [x, ..] into room, which has place for `most`; the count. */
static bool read_numbers(parser *p, double *room, size_t most, size_t *count)
{
    *count = 0;
    if (!take(p, '[')) return fails(p, "an array of numbers belongs here.");
    if (take(p, ']')) return true;
    do {
        if (*count == most) return fails(p, "this array has more numbers than \"t\".");
        if (!read_number(p, &room[(*count)++])) return false;
    } while (take(p, ','));
    return take(p, ']') || fails(p, "',' or ']' belongs here.");
}

/* ---- values that are passed over ---- */

enum { DEEPEST = 64 };

static bool skip(parser *p, int depth)
{
    char c = peek(p);
    if (depth > DEEPEST) return fails(p, "values are nested too deeply.");
    if (c == '"') {
        char *text = read_text(p);
        free(text);
        return text != NULL;
    }
    if (c == '[' || c == '{') {
        char end = c == '[' ? ']' : '}';
        p->s->at++;
        if (take(p, end)) return true;
        do {
            if (c == '{' && (!skip(p, DEEPEST) || !take(p, ':')))
                return fails(p, "a name and ':' belong here.");
            if (!skip(p, depth + 1)) return false;
        } while (take(p, ','));
        return take(p, end) || fails(p, "',' or the end of this value belongs here.");
    }
    size_t word = strspn(p->s->at, "truefalsn0123456789+-.eE");
    p->s->at += word;
    return word > 0 || fails(p, "a value belongs here.");
}

/* ---- the series ---- */

static bool add_name(parser *p, char *name)
{
    report_curves *c = p->curves;
    report_curve *more = realloc(c->curves, ((size_t)c->n + 2) * sizeof *more);
    if (more) c->curves = more;
    if (more) more[c->n] = (report_curve){0};
    bool named = more && curve_name(&more[c->n], name, strlen(name));
    if (more) c->n++;
    free(name);
    return named || out_of_memory(p);
}

static bool read_names(parser *p)
{
    p->names = true;
    if (!take(p, '[')) return fails(p, "an array of names belongs here.");
    if (take(p, ']')) return true;
    do {
        char *name = read_text(p);
        if (!name || !add_name(p, name)) return false;
    } while (take(p, ','));
    return take(p, ']') || fails(p, "',' or ']' belongs here.");
}

static bool read_times(parser *p)
{
    report_curves *c = p->curves;
    size_t room = count_numbers(p);
    p->times = true;
    free(c->times);
    c->times = calloc(room + 1, sizeof *c->times);
    if (!c->times) return out_of_memory(p);
    source begin = *p->s;
    if (!read_numbers(p, c->times, room, &c->count)) return false;
    for (size_t k = 0; k < c->count; k++) {
        bool back = k > 0 && c->times[k] < c->times[k - 1];
        if (isfinite(c->times[k]) && !back) continue;
        *p->s = begin;
        p->status = source_fail(p->s, p->error, "the times of \"t\" %s at its number %zu, %.17g.",
                                back ? "go back" : "are not finite", k + 1, c->times[k]);
        return false;
    }
    return c->count > 0 || fails(p, "there are no times.");
}

static bool read_values(parser *p)
{
    report_curves *c = p->curves;
    if (!p->names || !p->times) return fails(p, "\"names\" and \"t\" come before \"y\".");
    p->values = true;
    free(c->data[0]);
    c->data[0] = calloc((size_t)c->n * c->count + 1, sizeof(double));
    if (!c->data[0]) return out_of_memory(p);
    if (!take(p, '[')) return fails(p, "an array of arrays belongs here.");
    for (int i = 0; i < c->n; i++) {
        double *column = c->data[0] + (size_t)i * c->count;
        size_t count;
        if (i > 0 && !take(p, ',')) return fails(p, "there are fewer arrays than \"names\".");
        if (!read_numbers(p, column, c->count, &count)) return false;
        if (count != c->count) return fails(p, "this array has fewer numbers than \"t\".");
        c->curves[i].values = column;
        c->curves[i].stride = 1;
    }
    return take(p, ']') || fails(p, "there are more arrays than \"names\".");
}

/* One member of an object, by its name. */
static bool read_member(parser *p, bool inside);

static bool read_members(parser *p, bool inside)
{
    if (!take(p, '{')) return fails(p, "an object belongs here.");
    if (take(p, '}')) return true;
    do {
        if (!read_member(p, inside)) return false;
    } while (take(p, ','));
    return take(p, '}') || fails(p, "',' or '}' belongs here.");
}

static bool read_member(parser *p, bool inside)
{
    char *name = read_text(p);
    if (!name) return false;
    bool series = !inside && strcmp(name, "series") == 0, names = inside && !strcmp(name, "names");
    bool times = inside && strcmp(name, "t") == 0, values = inside && strcmp(name, "y") == 0;
    bool twice = (names && p->names) || (times && p->times) || (values && p->values);
    free(name);
    if (twice) return fails(p, "this member was there before.");
    if (!take(p, ':')) return fails(p, "':' belongs here.");
    return series   ? read_members(p, true)
           : names  ? read_names(p)
           : times  ? read_times(p)
           : values ? read_values(p)
                    : skip(p, 0);
}

report_status read_json(source *s, report_curves **curves, report_error *error)
{
    parser p = {.s = s, .error = error, .curves = curves_new(0, 0, 0)};
    *curves = p.curves;
    if (!p.curves) out_of_memory(&p);
    if (p.status == REPORT_OK && read_members(&p, false) && !p.values)
        fails(&p, "there is no \"series\" with \"names\", \"t\" and \"y\".");
    if (p.status == REPORT_OK && peek(&p) != '\0') fails(&p, "something follows the object.");
    return p.status;
}
