/* What `linearise` and `steady` share: words, a solver at a point, and a linear system as a result.
 */
#ifndef DAEDAL_CLI_LINEAR_H
#define DAEDAL_CLI_LINEAR_H

#include "outputs.h"

/* Names of a list "a,b,c", in memory of its own. */
typedef struct name_words {
    char *text;        /* owned */
    const char **list; /* owned */
    int count;
} name_words;

/* What the words of the command line ask for. Strings are borrowed from argv. */
typedef struct linear_words {
    const command *command;
    const char *file, *output;
    settings parameters, starts;
    inputs driven;
    name_words inputs, outputs;
    bool inputs_given, outputs_given;
    double start_time, stop; /* NAN: the model's */
    double at;               /* NAN: the start */
    bool at_steady;
    double rtol;        /* NAN: the model's */
    const char *method; /* NULL: auto */
    bool newton_only, all, json, quiet;
    long max_steps;
    double span;
} linear_words;

/* A model at a point of its run. */
typedef struct linear_point {
    dae_problem *problem;
    dae_solver *solver;
    double t;
} linear_point;

/* Read the words of a command, whose options these are. Exit code; free them in any case. */
int linear_words_read(const command *of, int argc, char **argv, const struct option *options,
                      linear_words *r);
void linear_words_free(linear_words *r);
/* Options of both commands, for their tables; those of one stand beside them. */
enum {
    LINEAR_OUTPUT = 'o',
    LINEAR_SET = 256,
    LINEAR_INPUT,
    LINEAR_INPUT_MODE,
    LINEAR_INPUT_HOLD,
    LINEAR_START,
    LINEAR_START_TIME,
    LINEAR_STOP,
    LINEAR_AT,
    LINEAR_INPUTS,
    LINEAR_OUTPUTS,
    LINEAR_METHOD,
    LINEAR_RTOL,
    LINEAR_NEWTON,
    LINEAR_MAX_STEPS,
    LINEAR_SPAN,
    LINEAR_ALL,
    LINEAR_JSON,
    LINEAR_QUIET
};
#define LINEAR_OPTIONS                                                                             \
    {"set", required_argument, NULL, LINEAR_SET},                                                  \
        {"input", required_argument, NULL, LINEAR_INPUT},                                          \
        {"input-mode", required_argument, NULL, LINEAR_INPUT_MODE},                                \
        {"input-hold", no_argument, NULL, LINEAR_INPUT_HOLD},                                      \
        {"start", required_argument, NULL, LINEAR_START},                                          \
        {"start-time", required_argument, NULL, LINEAR_START_TIME},                                \
        {"inputs", required_argument, NULL, LINEAR_INPUTS},                                        \
        {"outputs", required_argument, NULL, LINEAR_OUTPUTS},                                      \
        {"method", required_argument, NULL, LINEAR_METHOD},                                        \
        {"rtol", required_argument, NULL, LINEAR_RTOL},                                            \
        {"max-steps", required_argument, NULL, LINEAR_MAX_STEPS},                                  \
        {"span", required_argument, NULL, LINEAR_SPAN},                                            \
        {"output", required_argument, NULL, LINEAR_OUTPUT},                                        \
        {"all", no_argument, NULL, LINEAR_ALL}, {"json", no_argument, NULL, LINEAR_JSON},          \
    {                                                                                              \
        "quiet", no_argument, NULL, LINEAR_QUIET                                                   \
    }

/* A solver of the model, started, and run up to r->at. Exit code; close it in any case. */
int linear_point_open(const linear_words *r, linear_point *p);
void linear_point_close(linear_point *p);

/* The request for a linear system that the words say. */
dae_linearise_request linear_request(const linear_words *r);
/* A steady state from there. Exit code. */
int linear_find_steady(const linear_words *r, linear_point *p, dae_steady_state **steady);
/* Say why something failed. Exit code. */
int linear_complain(dae_status status, const dae_diag *diag);

#endif
