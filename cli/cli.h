/* What the commands share. One command, one file; a command parses its own arguments. */
#ifndef DAEDAL_CLI_H
#define DAEDAL_CLI_H

#include "daedal.h"
#include "models.h"

#include <getopt.h>
#include <stdio.h>

/* Exit codes, documented in daedal(1). */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1, /* the run failed, or a result could not be written */
    CLI_USAGE = 2,  /* a wrong command, option, name or number, or a file that cannot be read */
    CLI_MODEL = 3,  /* the model text has errors */
    CLI_OFF = 4, /* a judge finds a variable off by more than 100 tolerances, or a signal differs */
    CLI_UNSURE = 5,  /* no judge can tell */
    CLI_UNFIT = 6,   /* a fit or an optimisation did not converge; its best point was printed */
    CLI_SIGNAL = 128 /* and more: interrupted by a signal, 130 by Control-C */
};

typedef struct command {
    const char *name;
    const char *summary; /* one line for the list of commands */
    const char *help;    /* the full text of `daedal help <name>` */
    const char *more; /* the rest of a text above 4095 characters, which C11 has room for; NULL */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns an exit code */
} command;

extern const command run_command, sweep_command, verify_command, sens_command, fit_command,
    bvp_command, optimise_command, compare_command, check_command, init_command, steady_command,
    linearise_command, emit_command, demo_command, models_command, methods_command,
    formulations_command, help_command, version_command;

/* The commands in the order of the help; NULL past the end. */
const command *command_at(int i);
const command *command_find(const char *name); /* NULL if there is none */

/* ---- messages ---------------------------------------------------------------------------------
 */

/* One line "daedal: ..." on stderr; returns code. */
int complain(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* printf, and the same on stderr, without control characters that a model's texts may have:
 * whatever of a model goes to a terminal goes through these. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The i-th name of a list, NULL past the end. */
typedef const char *(*name_list)(int i, const void *user);

/* "1 equation", "2 equations"; a text of its own for each call of a statement. */
#define PLURAL(count, word) plural((char[80]){0}, (count), (word))
const char *plural(char text[80], long count, const char *word);

/* The name of the list nearest to word in spelling, or NULL if none is near. */
const char *nearest_word(const char *word, name_list names, const void *user);

/* complain: <what> "<word>" is unknown, with a suggestion and where to look. Returns CLI_USAGE. */
int complain_unknown(const char *what, const char *word, name_list names, const void *user,
                     const char *see);

/* Says what is wrong with the option getopt_long has just refused (result '?' or ':').
 * `options` ends with a zero name. Returns CLI_USAGE. */
int complain_option(const command *which, char **argv, int result, const struct option *options);

/* complain if words are left over; CLI_OK if not */
int no_arguments(const command *which, int argc, char **argv);

/* ---- values -----------------------------------------------------------------------------------
 */

/* Read a whole finite number; false if text is anything else. */
bool parse_double(const char *text, double *value);
bool parse_long(const char *text, long *value);

/* A value as its type writes it: true, a literal, or a number; padded to width as %*s does. */
void print_value(FILE *out, dae_type type, const char *const *literals, int count, double value,
                 int width);

/* A built-in model by its command line name; on failure NULL and a message. size 0: the default. */
model *open_model(const char *name, long size);

/* ---- model texts ------------------------------------------------------------------------------
 */

/* Words of options that may be repeated, "p=3" of --set and --start, borrowed from the command
 * line. */
typedef struct settings {
    const char **list; /* owned; the words are not */
    int count;
} settings;

/* Add a word as it is. Exit code. */
int settings_push(settings *all, const char *word);
/* Add "name=value", which is read by the library. Exit code. */
int settings_add(settings *all, const char *option, const char *text);
void settings_free(settings *all);

/* Names of lists "a,b[1,2],'c,d'", one after the other. */
typedef struct name_lists {
    char **list; /* owned, with the texts */
    int count;
} name_lists;

/* Length of the first name in a list. */
size_t name_length(const char *list);
/* Add all names of all lists. Exit code. */
int names_read(name_lists *all, const settings *lists);
void names_free(name_lists *all);

/* What the words of --input say; those of --input-mode and --input-hold hold for files behind
 * them. */
typedef struct inputs {
    dae_input *list; /* owned, with its texts */
    int count;
    dae_input_mode mode;
    bool hold;
    bool shift; /* they are to be moved: dae_model.shift_inputs */
} inputs;

/* Add FILE, "NAME = EXPRESSION" or "NAME = COLUMN @ FILE". Exit code. */
int inputs_add(inputs *all, const char *text);
/* linear, cubic or step. Exit code. */
int inputs_mode(inputs *all, const char *word);
void inputs_free(inputs *all);

/* The name in "name=value", owned by the caller; NULL: memory. */
char *setting_name(const char *text);

/* Whether a word of the command line means a file: by its ending, a slash, or being one. */
bool names_text(const char *word);

/* Whether a given name means a scalar: itself, its array or its record; quotes do not matter. */
bool names_match(const char *given, const char *name);

/* Translate a model text; its messages go to stderr. unknowns: names of variables that are to be
 * unknowns, or NULL. Exit code, with a message unless CLI_OK. */
int open_text_ends(const char *file, const settings *parameters, const inputs *driven,
                   const settings *unknowns, const settings *ends, dae_engine engine,
                   bool allow_external, dae_problem **problem);
/* The same without conditions at the end, which are those of boundary value problems. */
int open_text(const char *file, const settings *parameters, const inputs *driven,
              const settings *unknowns, dae_engine engine, bool allow_external,
              dae_problem **problem);

/* Whether all options are among those that a command has, up to a NULL. Exit code. */
int words_allowed(const command *of, const char *const *allowed, int argc, char **argv);

/* Conditions of optimality of a model text, as a text, which dae_text_free frees. Exit code. */
int conditions_text(const char *file, const settings *parameters, const inputs *driven,
                    const settings *ends, bool allow_external,
                    const dae_optimality_request *request, char **text);

/* Whether a path ends in `ending` (".csv"), in upper or lower case. */
bool same_ending(const char *path, const char *ending);

/* Whether a name is a parameter, an array or record of them, or an element of one. */
bool is_parameter(const dae_problem *problem, const char *name);

/* Set a start value by "name=value". Exit code, with a message unless CLI_OK. */
int set_start(dae_problem *problem, const char *setting);

/* complain about a word behind the model. Returns CLI_USAGE. */
int complain_word(const char *word);

/* The file argument of a command that takes one model text and no more. Exit code. */
int one_text(const command *which, int argc, char **argv, const char **file);

#endif
