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

static int check_readable(const char *file)
{
    struct stat info;
    if (stat(file, &info) == 0 && S_ISDIR(info.st_mode))
        return complain(CLI_USAGE, "'%s' is a directory, not a model", file);
    return CLI_OK;
}

/* ---- translation ---- */

static void print_message(const char *text, void *user)
{
    (void)user;
    size_t length = strlen(text);
    fputs(text, stderr);
    if (length > 0 && text[length - 1] != '\n') fputc('\n', stderr);
}

/* Whether a text that failed with its settings is sound without them: they are at fault. */
static bool sound_without_settings(const char *file)
{
    dae_problem *problem = NULL;
    bool sound = dae_problem_from_file(file, &problem, NULL) == DAE_OK;
    dae_problem_free(problem);
    return sound;
}

int open_text(const char *file, const settings *parameters, dae_engine engine,
              dae_problem **problem)
{
    dae_diag diag = {0};
    dae_model m = {.file = file, .engine = engine, .message = print_message};
    *problem = NULL;
    if (parameters) m.settings = parameters->list, m.n_settings = parameters->count;
    int code = check_readable(file);
    if (code != CLI_OK) return code;
    dae_status status = dae_problem_from_model(&m, problem, &diag);
    if (status == DAE_OK) return CLI_OK;
    if (status != DAE_ERR_MODEL) /* else its messages have told all */
        complain(CLI_FAILED, "%s", diag.text[0] ? diag.text : dae_status_name(status));
    if (status == DAE_ERR_FILE) return CLI_USAGE;
    if (status == DAE_ERR_MEMORY) return CLI_FAILED;
    return m.n_settings > 0 && sound_without_settings(file) ? CLI_USAGE : CLI_MODEL;
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
