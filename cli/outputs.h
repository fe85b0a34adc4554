/* Files that a command writes. */
#ifndef DAEDAL_CLI_OUTPUTS_H
#define DAEDAL_CLI_OUTPUTS_H

#include "cli.h"
#include "report.h"

typedef struct output {
    const char *option; /* as it is spelt: --csv */
    const char *path;   /* NULL: not asked for */
} output;

/* Whether all can be written, none is the model text that is read (NULL: no file), and no two are
 * one file, whatever their spelling. Exit code, with a message unless CLI_OK. */
int check_outputs(const char *text, const output *list, int count);

/* Whether two paths lead to one file, by whatever spelling, links of both kinds included; devices
 * like /dev/null can take any number. */
bool same_place(const char *a, const char *b);

/* Whether a path means standard output. */
bool is_stdout(const char *path);

/* Let `write` fill a file, which appears complete or not at all; NULL and "-" mean standard output.
 * Exit code, with a message unless CLI_OK. */
int write_to(const char *path, void (*write)(FILE *out, const void *what), const void *what);

/* The exit code at the end of a command: code, or CLI_FAILED after a message if standard output did
 * not take everything. */
int finish_stdout(int code);

#endif
