/* Error lines with suggestions, and the reading of numbers. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* vfprintf without control characters, which a model's texts or a file's name may bring along. */
static void print_safely(FILE *out, const char *format, va_list arguments)
{
    char near[1024], safe[4 * sizeof near + 1], *far = NULL;
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(near, sizeof near, format, arguments);
    if (length >= (int)sizeof near && (far = malloc(5 * (size_t)length + 2)))
        vsnprintf(far, (size_t)length + 1, format, again);
    va_end(again);
    char *to = far ? far + length + 1 : safe;
    (void)dae_printable(far ? far : near, to, far ? 4 * (size_t)length + 1 : sizeof safe);
    fputs(to, out);
    free(far);
}

int complain(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout); /* what was said before is read before */
    fputs("daedal: ", stderr);
    print_safely(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return code;
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_safely(stdout, format, arguments);
    va_end(arguments);
}

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_safely(stderr, format, arguments);
    va_end(arguments);
}

const char *plural(char text[80], long count, const char *word)
{
    snprintf(text, 80, "%ld %s%s", count, word, count == 1 ? "" : "s");
    return text;
}

enum { MAX_WORD = 64 };

static int smallest(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Edits (insert, delete, change, swap of neighbours; case is free) that turn a into b. */
static int edit_distance(const char *a, const char *b)
{
    int rows[3][MAX_WORD + 1];
    int m = (int)strlen(a), n = (int)strlen(b);
    if (m > MAX_WORD || n > MAX_WORD) return INT_MAX;
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (int j = 0; j <= n; j++) last[j] = j;
    for (int i = 1; i <= m; i++) {
        now[0] = i;
        for (int j = 1; j <= n; j++) {
            int ai = tolower((unsigned char)a[i - 1]), bj = tolower((unsigned char)b[j - 1]);
            now[j] = smallest(last[j] + 1, now[j - 1] + 1, last[j - 1] + (ai != bj));
            if (i > 1 && j > 1 && ai == tolower((unsigned char)b[j - 2]) &&
                bj == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        int *spare = before;
        before = last, last = now, now = spare;
    }
    return last[n];
}

const char *nearest_word(const char *word, name_list names, const void *user)
{
    size_t length = strlen(word);
    int allowed = length < 4 ? 1 : length < 8 ? 2 : 3;
    const char *best = NULL, *begins = NULL;
    for (int i = 0; names(i, user); i++) {
        int distance = edit_distance(word, names(i, user));
        if (distance <= allowed) best = names(i, user), allowed = distance - 1;
        if (!begins && length >= 3 && strncmp(word, names(i, user), length) == 0)
            begins = names(i, user);
    }
    return best ? best : begins;
}

int complain_unknown(const char *what, const char *word, name_list names, const void *user,
                     const char *see)
{
    const char *near = nearest_word(word, names, user);
    if (near)
        return complain(CLI_USAGE, "unknown %s '%s'; did you mean '%s'? (%s)", what, word, near,
                        see);
    return complain(CLI_USAGE, "unknown %s '%s' (%s)", what, word, see);
}

/* The options of a list, and the one that every command has. */
static const char *option_name(int i, const void *user)
{
    const struct option *options = user;
    return i == 0 ? "help" : options[i - 1].name;
}

/* How many options begin with this word, up to a '='. */
static int options_beginning(const char *word, const struct option *options)
{
    size_t length = strcspn(word, "=");
    int count = 0;
    for (int i = 0; options[i].name; i++) count += strncmp(options[i].name, word, length) == 0;
    return count;
}

int complain_option(const command *which, char **argv, int result, const struct option *options)
{
    char see[MAX_WORD], word[MAX_WORD];
    const char *given = argv[optind - 1];
    snprintf(see, sizeof see, "see 'daedal help %s'", which->name);
    if (strncmp(given, "--", 2) != 0 && result == ':')
        return complain(CLI_USAGE, "option '%s' needs a value (%s)", given, see);
    if (strncmp(given, "--", 2) != 0)
        return complain(CLI_USAGE, "unknown option '%s' (%s)", given, see);
    snprintf(word, sizeof word, "%.*s", (int)strcspn(given + 2, "="), given + 2);
    if (result == ':') return complain(CLI_USAGE, "option '--%s' needs a value (%s)", word, see);
    int count = options_beginning(word, options);
    if (count > 1) return complain(CLI_USAGE, "option '--%s' is ambiguous (%s)", word, see);
    if (count == 1) return complain(CLI_USAGE, "option '--%s' takes no value (%s)", word, see);
    const char *near = nearest_word(word, option_name, options);
    if (near)
        return complain(CLI_USAGE, "unknown option '--%s'; did you mean '--%s'? (%s)", word, near,
                        see);
    return complain(CLI_USAGE, "unknown option '--%s' (%s)", word, see);
}

int no_arguments(const command *which, int argc, char **argv)
{
    if (argc <= 1) return CLI_OK;
    return complain(CLI_USAGE, "'daedal %s' takes no argument '%s' (see 'daedal help %s')",
                    which->name, argv[1], which->name);
}

bool parse_double(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

bool parse_long(const char *text, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

void print_value(FILE *out, dae_type type, const char *const *literals, int count, double value,
                 int width)
{
    char text[80];
    snprintf(text, sizeof text, "%.9g", value);
    if (type == DAE_TYPE_BOOLEAN && (value == 0.0 || value == 1.0))
        snprintf(text, sizeof text, "%s", value != 0.0 ? "true" : "false");
    if (type == DAE_TYPE_ENUMERATION && value >= 1.0 && value <= count && value == floor(value))
        snprintf(text, sizeof text, "%s", literals[(int)value - 1]);
    fprintf(out, "%*s", width, text);
}

static const char *model_list(int i, const void *user)
{
    (void)user;
    return model_name(i);
}

model *open_model(const char *name, long size)
{
    bool known = false;
    for (int i = 0; model_name(i) && !known; i++) known = strcmp(model_name(i), name) == 0;
    if (!known) {
        complain_unknown("model", name, model_list, NULL,
                         "there is no such file; 'daedal models' lists the built-in ones");
        return NULL;
    }
    model *m = size <= INT_MAX ? model_new(name, (int)size) : NULL;
    if (!m) complain(CLI_USAGE, "model '%s' cannot be made with size %ld", name, size);
    return m;
}
