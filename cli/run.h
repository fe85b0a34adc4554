/* What `daedal run` is asked for, and its parts: options, checks, results. */
#ifndef DAEDAL_CLI_RUN_H
#define DAEDAL_CLI_RUN_H

#include "session.h"

/* What the words of the command line ask for. Strings are borrowed from argv. */
enum { MOST_INVARIANTS = 16 };

typedef struct request {
    const char *model_name;
    bool text; /* a file, not a built-in model */
    long size, max_steps;
    settings parameters, starts; /* --set, --start; owned */
    dae_engine engine;
    bool engine_given, init_given;
    dae_options options;
    const char *invariants[MOST_INVARIANTS]; /* --invariant; in options */
    double rtol, atol;                       /* NAN: by default */
    double start, stop;                      /* NAN: the model's */
    bool every_step;                         /* --interval 0 */
    grid output;
    bool log_time, stats, quiet;
    const char *csv, *json, *mat, *plot, *history, *variables;
} request;

/* Read the words. Exit code. */
int request_read(int argc, char **argv, request *r);
void request_free(request *r);

/* Whether a result goes to stdout, and nothing else may. */
bool request_streams(const request *r);

/* Write every file that was asked for. Exit code. */
int results_write(const request *r, const session *s, recorder *rows);
/* Tell people on stdout what was computed; code is that of the integration. */
void results_print(const request *r, session *s, const recorder *rows, int code);
void results_print_files(const request *r, const session *s, const recorder *rows);

#endif
