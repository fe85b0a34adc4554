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
    CLI_FAILED = 1, /* the solver failed, or a result could not be written */
    CLI_USAGE = 2   /* a wrong command, option, name or number */
};

typedef struct command {
    const char *name;
    const char *summary;               /* one line for the list of commands */
    const char *help;                  /* the full text of `daedal help <name>` */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns an exit code */
} command;

extern const command run_command, demo_command, models_command, methods_command, version_command,
    help_command;

/* The commands in the order of the help; NULL past the end. */
const command *command_at(int i);
const command *command_find(const char *name); /* NULL if there is none */

/* ---- messages ---------------------------------------------------------------------------------
 */

/* One line "daedal: ..." on stderr; returns code. */
int complain(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The i-th name of a list, NULL past the end. */
typedef const char *(*name_list)(int i, const void *user);

/* The name of the list nearest to word in spelling, or NULL if none is near. */
const char *nearest_name(const char *word, name_list names, const void *user);

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

/* A model by its command line name; on failure NULL and a message. size 0: the default. */
model *open_model(const char *name, long size);

#endif
