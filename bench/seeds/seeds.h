/* The five documents that Daedal implements, row by row: every numbered table, figure with numbers,
 * algorithm, example and option, run through the public header or the command alone.
 *
 * A part is a file of rows. A row has a function that computes our figures and lays each beside the
 * printed one, with a bound that comes from the print: half a unit of its last digit, the accuracy
 * that its text claims, or theory; never from what was seen. docs/seeds.md is what the program
 * `bench_seeds --page` prints; `make test` runs `bench_seeds --check` for all rows but slow ones.
 */
#ifndef DAE_BENCH_SEEDS_H
#define DAE_BENCH_SEEDS_H

#include <daedal.h>
#include <stdbool.h>

typedef struct seeds_run seeds_run; /* a row while it is computed */

typedef struct seeds_row {
    const char *id;    /* short and unique: "000-T8.3", "003-F6.2.1", "004-O-beta" */
    const char *where; /* as a reader finds it: "Table 8.3", "(1.39)", "Algorithm 4.1" */
    const char *what;  /* a few words: "BDF on (8.1), error and steps by tolerance" */
    const char *how;   /* the command or the public call that shows it; NULL: the first command that
                          `run` gives to seeds_command */
    void (*run)(seeds_run *run);
    bool slow; /* above a second: by hand and for the page, not in make test */
} seeds_row;

typedef struct seeds_part {
    const char *seed;  /* "000" .. "004" */
    const char *title; /* of the section of the page */
    const seeds_row *rows;
    int row_count;
} seeds_part;

#define SEEDS_ROWS(array) .rows = (array), .row_count = (int)(sizeof(array) / sizeof(array)[0])

/* ---- Entries of a row: our figure beside the printed one ---- */

/* |ours - printed| <= bound. */
void seeds_number(seeds_run *run, const char *label, double ours, double printed, double bound);
/* ours <= factor * printed, where less is better: an error, a count of work. */
void seeds_at_most(seeds_run *run, const char *label, double ours, double printed, double factor);
/* printed / factor <= ours <= factor * printed, for counts and sizes of errors. */
void seeds_within(seeds_run *run, const char *label, double ours, double printed, double factor);
/* What is not a number: a verdict, a refusal, a property that holds. */
void seeds_holds(seeds_run *run, const char *label, bool holds, const char *ours,
                 const char *printed);
/* An entry that cannot come out as printed. `independent` is what another program finds, which
 * shares nothing with the library: |ours - independent| <= bound must hold. */
void seeds_misprint(seeds_run *run, const char *label, double ours, double printed,
                    double independent, double bound, const char *reason);
/* The row failed before it had a figure; `text` says why. */
void seeds_fail(seeds_run *run, const char *text, ...);

/* ---- The command ---- */

/* A run of `daedal` that ended. */
typedef struct seeds_command_result {
    int code;           /* exit code */
    const char *out;    /* standard output, */
    const char *err;    /* standard error, until the next command */
    struct table *rows; /* the csv that it wrote: NULL if it is not `run`, or wrote none */
} seeds_command_result;

/* Run `daedal ARGUMENTS` in the folder of the sources; words are split at blanks, a word with
 * blanks stands between single quotes. Of `run` the rows are kept, too. A command that does not end
 * with code 0 fails the row. */
bool seeds_command(seeds_run *run, seeds_command_result *result, const char *arguments, ...);
/* The same for a command that must be refused: any code but 0 and a signal. */
bool seeds_refused(seeds_run *run, seeds_command_result *result, const char *arguments, ...);
/* The value of a variable in the last row, or at a time (the row must be there); NAN and a failed
 * row if there is none. */
double seeds_last(seeds_run *run, const seeds_command_result *result, const char *variable);
double seeds_at(seeds_run *run, const seeds_command_result *result, const char *variable, double t);
/* A counter that `--stats` prints: "steps", "residuals", .. */
double seeds_counter(seeds_run *run, const seeds_command_result *result, const char *name);

/* A public call that must succeed; else the row fails with its text. */
bool seeds_ok(seeds_run *run, dae_status status, const dae_diag *diag);

#endif
