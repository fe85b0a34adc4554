/* Model texts: settings by name, and the translation with its messages. */
#define _POSIX_C_SOURCE 200809L

#include "cli.h"
#include "signals.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- settings ---- */

/* Length of the name in "name=value": up to the first '=' outside of quotes; 0 if there is none. */
static size_t setting_name_length(const char *text)
{
    bool quoted = false;
    size_t k = 0;
    for (; text[k] && (quoted || text[k] != '='); k++)
        if (quoted && text[k] == '\\' && text[k + 1])
            k++;
        else if (text[k] == '\'')
            quoted = !quoted;
    if (!text[k]) return 0;
    while (k > 0 && text[k - 1] == ' ') k--;
    return k;
}

char *setting_name(const char *text)
{
    return strndup(text, setting_name_length(text));
}

int settings_push(settings *all, const char *word)
{
    const char **list = realloc(all->list, ((size_t)all->count + 1) * sizeof *list);
    if (!list) return complain(CLI_FAILED, "out of memory");
    all->list = list;
    list[all->count++] = word;
    return CLI_OK;
}

int settings_add(settings *all, const char *option, const char *text)
{
    if (setting_name_length(text) > 0) return settings_push(all, text);
    return complain(CLI_USAGE, "option '--%s' needs NAME=VALUE, not '%s'", option, text);
}

void settings_free(settings *all)
{
    free(all->list);
    *all = (settings){0};
}

/* ---- lists of names ---- */

size_t name_length(const char *list)
{
    int depth = 0;
    bool quoted = false;
    size_t k = 0;
    for (; list[k] && (list[k] != ',' || depth > 0 || quoted); k++) {
        if (quoted && list[k] == '\\' && list[k + 1])
            k++;
        else if (list[k] == '\'')
            quoted = !quoted;
        depth += (list[k] == '[') - (list[k] == ']');
    }
    return k;
}

static int add_name(name_lists *all, const char *text, size_t length)
{
    char **more = realloc(all->list, ((size_t)all->count + 1) * sizeof *more);
    if (more) all->list = more;
    char *name = more ? strndup(text, length) : NULL;
    if (!name) return complain(CLI_FAILED, "out of memory");
    all->list[all->count++] = name;
    return CLI_OK;
}

int names_read(name_lists *all, const settings *lists)
{
    int code = CLI_OK;
    for (int i = 0; i < lists->count; i++)
        for (const char *at = lists->list[i]; *at && code == CLI_OK;) {
            size_t length = name_length(at);
            code = add_name(all, at, length);
            at += length;
            at += *at == ',';
        }
    return code;
}

void names_free(name_lists *all)
{
    for (int k = 0; k < all->count; k++) free(all->list[k]);
    free(all->list);
    *all = (name_lists){0};
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
    return stat(word, &info) == 0;
}

bool names_match(const char *given, const char *name)
{
    for (;; given++, name++) {
        while (*given == '\'') given++;
        while (*name == '\'') name++;
        if (!*given) return !*name || *name == '[' || *name == '.';
        if (*given != *name) return false;
    }
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
    char *text;  /* owned; NULL: none */
    bool errors; /* among them */
} message_buffer;

static void keep_message(const char *text, void *user)
{
    message_buffer *kept = user;
    free(kept->text);
    kept->text = strdup(text);
    kept->errors = strstr(text, "error: ") != NULL;
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

bool is_parameter(const dae_problem *problem, const char *name)
{
    int count = dae_problem_parameter_count(problem);
    for (int i = 0; i < count; i++)
        if (names_match(name, dae_problem_parameter(problem, i))) return true;
    size_t stem = strcspn(name, "["); /* elements beyond the end are for the library to tell */
    for (int i = 0; i < count && name[stem]; i++)
        if (strncmp(name, dae_problem_parameter(problem, i), stem + 1) == 0) return true;
    return false;
}

static bool is_variable(const dae_problem *problem, const char *name)
{
    for (int i = 0; i < dae_problem_variable_count(problem); i++)
        if (names_match(name, dae_problem_variable(problem, i))) return true;
    return false;
}

/* complain if a setting names no parameter of the problem; CLI_OK if it does */
static int complain_setting(const char *setting, const dae_problem *problem)
{
    char *name = setting_name(setting);
    int code = CLI_OK;
    if (!name) return complain(CLI_FAILED, "out of memory");
    if (is_parameter(problem, name))
        code = CLI_OK;
    else if (is_variable(problem, name))
        code = complain(CLI_USAGE, "'%s' is a variable; its start value is set by '--start %s'",
                        name, setting);
    else
        code = complain_unknown("parameter", name, parameter_name, problem,
                                "'daedal check --list' shows all of a model");
    free(name);
    return code;
}

static int complain_settings(const settings *given, const dae_problem *problem)
{
    int code = CLI_OK;
    for (int k = 0; k < given->count && code == CLI_OK; k++)
        code = complain_setting(given->list[k], problem);
    return code;
}

/* A text that failed but is sound without its settings: they are at fault. */
static bool blame_settings(const char *file, const settings *given, const inputs *driven,
                           const settings *ends, bool *told)
{
    dae_problem *problem = NULL;
    dae_model m = {.file = file, .interrupt = ask_interrupted};
    bool any =
        (given && given->count > 0) || (driven && driven->count > 0) || (ends && ends->count > 0);
    bool sound = any && dae_problem_from_model(&m, &problem, NULL) == DAE_OK;
    *told = sound && given && complain_settings(given, problem) != CLI_OK;
    dae_problem_free(problem);
    return sound;
}

/* Why there is no problem. Exit code. */
static int complain_text(const char *file, const settings *given, const inputs *driven,
                         const settings *ends, dae_status status, const dae_diag *diag,
                         const message_buffer *kept)
{
    const char *text = diag->text[0] ? diag->text : dae_status_name(status);
    bool told = false;
    if (status == DAE_ERR_FILE) return complain(CLI_USAGE, "%s", text);
    if (status == DAE_ERR_MEMORY) return complain(CLI_FAILED, "%s", text);
    if (status == DAE_ERR_INTERRUPTED) return complain_interrupted("during the translation");
    int code = blame_settings(file, given, driven, ends, &told) ? CLI_USAGE : CLI_MODEL;
    if (told) return code;
    print_messages(kept); /* which tell all of DAE_ERR_MODEL, unless the structure is at fault */
    bool all_reported = status == DAE_ERR_MODEL && kept->errors;
    return all_reported ? code : complain(code, "%s", text);
}

int open_text(const char *file, const settings *parameters, const inputs *driven,
              const settings *unknowns, dae_engine engine, bool allow_external,
              dae_problem **problem)
{
    return open_text_ends(file, parameters, driven, unknowns, NULL, engine, allow_external,
                          problem);
}

/* A text, and what is given for it. */
static dae_model described(const char *file, const settings *parameters, const inputs *driven,
                           const settings *ends, bool allow_external, message_buffer *kept)
{
    dae_model m = {.file = file,
                   .allow_external = allow_external,
                   .message = keep_message,
                   .user = kept,
                   .interrupt = ask_interrupted};
    if (parameters) m.assignments = parameters->list, m.assignment_count = parameters->count;
    if (driven) m.inputs = driven->list, m.input_count = driven->count;
    if (ends) m.terminal = ends->list, m.terminal_count = ends->count;
    return m;
}

int conditions_text(const char *file, const settings *parameters, const inputs *driven,
                    const settings *ends, bool allow_external,
                    const dae_optimality_request *request, char **text)
{
    dae_diag diag = {0};
    message_buffer kept = {0};
    const char *words[] = {request->integral ? request->integral : request->at_end};
    const settings objective = {.list = words, .count = 1}; /* which may be at fault */
    dae_model m = described(file, parameters, driven, ends, allow_external, &kept);
    *text = NULL;
    int code = check_readable(file);
    if (code != CLI_OK) return code;
    *text = dae_optimality_text(&m, request, &diag);
    if (*text)
        print_messages(&kept);
    else if (diag.status == DAE_ERR_UNSUPPORTED)
        code = complain(CLI_FAILED, "%s", diag.text);
    else if (diag.status == DAE_ERR_ARGUMENT)
        code = complain(CLI_USAGE, "%s", diag.text);
    else
        code = complain_text(file, parameters, driven, &objective, diag.status, &diag, &kept);
    free(kept.text);
    return code;
}

int open_text_ends(const char *file, const settings *parameters, const inputs *driven,
                   const settings *unknowns, const settings *ends, dae_engine engine,
                   bool allow_external, dae_problem **problem)
{
    dae_diag diag = {0};
    message_buffer kept = {0};
    dae_model m = described(file, parameters, driven, ends, allow_external, &kept);
    *problem = NULL;
    m.engine = engine;
    m.shift_inputs = driven && driven->shift;
    if (unknowns) m.unknowns = unknowns->list, m.unknown_count = unknowns->count;
    int code = check_readable(file);
    if (code != CLI_OK) return code;
    dae_status status = dae_problem_from_model(&m, problem, &diag);
    if (status == DAE_OK)
        print_messages(&kept);
    else
        code = complain_text(file, parameters, driven, ends, status, &diag, &kept);
    free(kept.text);
    return code;
}

static const char *variable_name(int i, const void *user)
{
    return dae_problem_variable(user, i);
}

int set_start(dae_problem *problem, const char *setting)
{
    dae_diag diag = {0};
    if (dae_problem_assign_start(problem, setting, &diag) == DAE_OK) return CLI_OK;
    char *name = setting_name(setting);
    if (!name) return complain(CLI_FAILED, "out of memory");
    bool variable = dae_problem_find_variable(problem, name) >= 0;
    for (int i = 0; i < dae_problem_variable_count(problem) && !variable; i++)
        variable = names_match(name, dae_problem_variable(problem, i));
    if (variable)
        complain(CLI_USAGE, "option '--start %s': %s", setting, diag.text);
    else if (is_parameter(problem, name))
        complain(CLI_USAGE, "'%s' is a parameter; it is set by '--set %s'", name, setting);
    else
        complain_unknown("variable", name, variable_name, problem,
                         "'daedal check --list' shows all of a model");
    free(name);
    return CLI_USAGE;
}

int complain_word(const char *word)
{
    if (strchr(word, '=')) /* what a shell makes of v={1,2} */
        return complain(CLI_USAGE,
                        "'%s' belongs to no option; values with braces, blanks or quotes are "
                        "written in quotes: --set 'v={1,2}'",
                        word);
    return complain(CLI_USAGE, "one model at a time; '%s' is one too many", word);
}

int one_text(const command *which, int argc, char **argv, const char **file)
{
    if (optind == argc)
        return complain(CLI_USAGE, "which model? (see 'daedal help %s')", which->name);
    if (optind + 1 < argc) return complain_word(argv[optind + 1]);
    *file = argv[optind];
    if (names_text(*file)) return CLI_OK;
    return complain(CLI_USAGE, "there is no file '%s'; 'daedal %s' needs a model text", *file,
                    which->name);
}

int words_allowed(const command *of, const char *const *allowed, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--") == 0) return CLI_OK;
        if (strncmp(word, "--", 2) != 0) continue;
        size_t length = strcspn(word + 2, "=");
        bool known = false;
        for (int k = 0; allowed[k]; k++)
            known = known || strncmp(allowed[k], word + 2, length) == 0;
        if (!known)
            return complain(CLI_USAGE,
                            "option '%.*s' is not one of 'daedal %s' (see 'daedal help %s')",
                            (int)length + 2, word, of->name, of->name);
    }
    return CLI_OK;
}
