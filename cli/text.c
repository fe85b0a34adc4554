/* Model texts: settings by name, and the translation with its messages. */
#define _POSIX_C_SOURCE 200809L

#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- settings ---- */

/* A finite number, or a Boolean. */
static bool parse_value(const char *text, double *value)
{
    *value = strcmp(text, "true") == 0;
    return *value != 0.0 || strcmp(text, "false") == 0 || parse_double(text, value);
}

int settings_add(settings *all, const char *option, const char *text)
{
    const char *equals = strrchr(text, '='); /* a quoted name may contain one */
    double value;
    if (!equals || equals == text)
        return complain(CLI_USAGE, "option '--%s' needs NAME=VALUE, not '%s'", option, text);
    if (!parse_value(equals + 1, &value))
        return complain(CLI_USAGE, "option '--%s %s': '%s' is no finite number", option, text,
                        equals + 1);
    dae_setting *list = realloc(all->list, ((size_t)all->count + 1) * sizeof *list);
    if (list) all->list = list;
    char *name = list ? strndup(text, (size_t)(equals - text)) : NULL;
    if (!name) return complain(CLI_FAILED, "out of memory");
    list[all->count++] = (dae_setting){name, value};
    return CLI_OK;
}

void settings_free(settings *all)
{
    for (int i = 0; i < all->count; i++) free((char *)all->list[i].name);
    free(all->list);
    *all = (settings){0};
}

/* ---- names of files ---- */

bool same_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);
    return n > k && strcasecmp(path + n - k, ending) == 0;
}

bool names_text(const char *word)
{
    struct stat info;
    if (same_ending(word, ".mo") || same_ending(word, ".bmo") || strchr(word, '/')) return true;
    return stat(word, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* The library's limit, found before a gigabyte is read. */
enum { LARGEST_TEXT = 1 << 30 };

static int check_readable(const char *file)
{
    struct stat info;
    if (stat(file, &info) != 0) return CLI_OK; /* the library says why */
    if (S_ISDIR(info.st_mode)) return complain(CLI_USAGE, "'%s' is a directory, not a model", file);
    if (info.st_size > LARGEST_TEXT)
        return complain(CLI_USAGE, "'%s' is larger than 1 GiB, which no model is", file);
    return CLI_OK;
}

/* ---- translation ---- */

/* Messages wait until it is clear who is at fault. */
typedef struct message_buffer {
    char *text; /* owned; NULL: none */
} message_buffer;

static void keep_message(const char *text, void *user)
{
    message_buffer *kept = user;
    free(kept->text);
    kept->text = strdup(text);
    if (!kept->text) fputs(text, stderr);
}

static void print_messages(const message_buffer *kept)
{
    size_t length = kept->text ? strlen(kept->text) : 0;
    if (length > 0) fputs(kept->text, stderr);
    if (length > 0 && kept->text[length - 1] != '\n') fputc('\n', stderr);
}

static const char *parameter_name(int i, const void *user)
{
    return dae_problem_parameter(user, i);
}

/* complain about the first setting that names no parameter of the problem; CLI_OK if all do */
static int complain_settings(const settings *given, const dae_problem *problem)
{
    for (int k = 0; k < given->count; k++) {
        int count = dae_problem_parameter_count(problem), i = 0;
        while (i < count && strcmp(parameter_name(i, problem), given->list[k].name) != 0) i++;
        if (i == count)
            return complain_unknown("parameter", given->list[k].name, parameter_name, problem,
                                    "'daedal check --list' shows all of a model");
    }
    return CLI_OK;
}

/* A text that failed but is sound without its settings: they are at fault. */
static int blame_settings(const char *file, const settings *given, const message_buffer *kept)
{
    dae_problem *problem = NULL;
    if (given && given->count > 0 && dae_problem_from_file(file, &problem, NULL) == DAE_OK) {
        if (complain_settings(given, problem) == CLI_OK) print_messages(kept);
        dae_problem_free(problem);
        return CLI_USAGE;
    }
    print_messages(kept);
    return CLI_MODEL;
}

int open_text(const char *file, const settings *parameters, dae_engine engine,
              dae_problem **problem)
{
    dae_diag diag = {0};
    message_buffer kept = {0};
    dae_model m = {.file = file, .engine = engine, .message = keep_message, .user = &kept};
    *problem = NULL;
    if (parameters) m.settings = parameters->list, m.n_settings = parameters->count;
    int code = check_readable(file);
    if (code != CLI_OK) return code;
    dae_status status = dae_problem_from_model(&m, problem, &diag);
    if (status < 0 && status != DAE_ERR_MODEL) { /* whose messages tell all */
        code = complain(CLI_FAILED, "%s", diag.text[0] ? diag.text : dae_status_name(status));
        if (status == DAE_ERR_FILE) code = CLI_USAGE;
    }
    bool resources = status == DAE_ERR_FILE || status == DAE_ERR_MEMORY;
    if (status == DAE_OK)
        print_messages(&kept);
    else if (!resources)
        code = blame_settings(file, parameters, &kept);
    free(kept.text);
    return code;
}

int one_text(const command *which, int argc, char **argv, const char **file)
{
    if (optind == argc)
        return complain(CLI_USAGE, "which model? (see 'daedal help %s')", which->name);
    if (optind + 1 < argc)
        return complain(CLI_USAGE, "one model at a time; '%s' is one too many", argv[optind + 1]);
    *file = argv[optind];
    if (names_text(*file)) return CLI_OK;
    return complain(CLI_USAGE, "there is no file '%s'; 'daedal %s' needs a model text", *file,
                    which->name);
}
