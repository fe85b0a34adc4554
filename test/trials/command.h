/* Shared by the programs that try the command `daedal` as a user would: run it within limits, and
 * read the tables that it writes. */
#ifndef DAE_TEST_TRIALS_COMMAND_H
#define DAE_TEST_TRIALS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_WORDS = 96 };

/* How a run ended. */
typedef struct ending {
    int code;       /* exit code; -1: a signal ended it */
    int signal;     /* 0: none */
    bool timed_out; /* it used up its processor time, or ten times as long by the clock */
    double seconds; /* processor time */
} ending;

/* Run words[0] with words[1] .. (NULL ends them) with at most `seconds` of processor time.
 * Standard output goes to `out` and standard error to `err`; both files are made anew. */
ending command_run(char *const *words, int seconds, const char *out, const char *err);

/* The text of a file, or NULL; the caller frees it. */
char *file_text(const char *path);

/* A csv table that the command wrote; column 0 is the time. */
typedef struct table {
    int columns, rows;
    char **names; /* without units */
    double *values;
} table;

bool table_read(table *t, const char *path); /* false: no table */
void table_free(table *t);
int table_column(const table *t, const char *name); /* -1: there is none */
/* The last row at a time, up to rounding of its decimal digits; -1: there is none. */
int table_row(const table *t, double time);
/* The first row with a value that is not finite; -1: there is none. */
int table_first_nonfinite(const table *t);

/* What `daedal methods` or `daedal formulations` lists; count in *count. NULL: the command failed.
 */
char **listed_names(const char *daedal, const char *list, const char *scratch, int *count);
void trial_names_free(char **names, int count);

#endif
