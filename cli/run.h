/* What `daedal run` is asked for, and its parts: options, checks, results. */
#ifndef DAEDAL_CLI_RUN_H
#define DAEDAL_CLI_RUN_H

#include "checkpoint.h"
#include "session.h"

/* What the words of the command line ask for. Strings are borrowed from argv. */
enum { MOST_INVARIANTS = 16 };

/* What `fit` is asked for. */
typedef struct fit_request {
    settings parameters;     /* --fit, lists of words; owned */
    settings sigmas;         /* --sigma; owned */
    settings ignored;        /* --ignore, lists of names; owned */
    char *const *files;      /* behind the model, */
    int file_count;          /* so many */
    int loss;                /* a dae_fit_loss */
    double scale, tolerance; /* --loss-scale, --fit-tolerance; 0: the library's */
    long iterations;         /* --iterations; 0: the library's */
    const char *words;       /* --set-file */
    const char *given;       /* one of these options; NULL: none is */
} fit_request;

/* What `optimise` is asked for. */
typedef struct optimise_words {
    settings controls, varied, path; /* --control, --vary (lists of words), --path; owned */
    const char *minimise, *maximise, *integral;
    bool bounds;
    long iterations;   /* 0: the library's */
    const char *given; /* one of these options; NULL: none is */
} optimise_words;

/* What `sweep` is asked for. */
typedef struct sweep_request {
    settings over;    /* --over; owned */
    settings lists;   /* --list; owned */
    settings samples; /* words NAME=DISTRIBUTION(..) behind --sample; owned */
    bool grid, resume;
    long sample;              /* points to draw; 0: none */
    unsigned long long seed;  /* --seed */
    const char *keep, *runs;  /* --keep; --runs DIRECTORY */
    long jobs;                /* 0: as many as there are cores */
    const char *hdf5;         /* -o FILE.h5 */
    unsigned long long words; /* a hash of all that decides about the numbers */
    const char *given;        /* one of these options; NULL: none is */
} sweep_request;

typedef struct request {
    const command *command; /* whose words these are */
    const char *model_name;
    bool text; /* a file, not a built-in model */
    long size, max_steps;
    settings parameters, starts; /* --set, --start; owned */
    inputs driven;               /* --input; owned */
    bool allow_external;
    settings atols, rtols; /* --atol-of, --rtol-of; owned */
    dae_engine engine;
    bool engine_given, init_given;
    const char *petsc; /* words for PETSc, which takes the steps; NULL: it does not */
    dae_options options;
    const char *invariants[MOST_INVARIANTS]; /* --invariant; in options */
    dae_table table;                         /* --table; in options */
    dae_herk_options herk;                   /* --herk; in options if it is given */
    double herk_step;                        /* its h0; 0: not given */
    double rtol, atol;                       /* NAN: by default */
    double start, stop;                      /* NAN: the model's */
    bool every_step;                         /* --interval 0 */
    grid output;
    bool log_time, stats, quiet;
    const char *csv, *json, *mat, *plot, *history, *tableau, *variables;
    bool verify, all;   /* --verify, --all */
    settings by;        /* --by, lists of names; owned */
    settings gradients; /* --gradient, likewise; owned */
    int adjoint;        /* --adjoint: a dae_adjoint_kind */
    bool adjoint_given;
    long checkpoints; /* --checkpoints, 0: none */
    double memory;    /* --memory, 0: the library's */
    bool of_given;    /* --of, which is in variables */
    bool relative;    /* --relative */
    int corrector;    /* --corrector: a dae_corrector */
    bool corrector_given;
    settings ends, free; /* --end, --free (lists of names); owned */
    const char *guess;   /* --guess: a word or a file */
    long intervals, max_intervals, stages;
    const char *boundary_method; /* --method of 'daedal bvp' */
    fit_request fit;
    sweep_request sweep;
    optimise_words optimise;
    const char *judge;      /* its method; NULL: chosen */
    double limit;           /* in tolerances; 0: the library's */
    bool thorough;          /* the judge solves the model in other words, too */
    double *atol_values;    /* options.atol_by_unknown; owned, or NULL */
    double *rtol_values;    /* options.rtol_by_unknown; owned, or NULL */
    checkpoint_words saves; /* --checkpoint, --every, --resume */
    const char *steps;      /* --steps FILE */
    double *step_times;     /* options.step_sequence; owned, or NULL */
} request;

/* Read the words of a command (run, verify, sens, fit, bvp, optimise) into a request. Exit code. */
int request_read(const command *of, int argc, char **argv, request *r);
void request_free(request *r);

/* --herk NAME=VALUE,..; exit code. Then what its h0 stands for: the first step, or all of them. */
int herk_read(request *r, const char *text);
int herk_finish(request *r);

/* Open the model and complete the request by what it says: interval, output times, tolerances. Exit
 * code. */
int request_open(request *r, session *s);

/* The steps that a file prescribes; without a stop time in the words they say it, too. Exit code.
 */
int request_steps(request *r);

/* Names of variables that the words give tolerances of their own. Exit code; free in any case. */
int tolerance_names(const request *r, settings *names);
void tolerance_names_free(settings *names);

/* The tolerances of the variables, from the words and the model. Exit code. */
int request_tolerances(request *r, const session *s);
/* bvp.c: solve the boundary value problem that a session is open on, and tell of it. Exit code. */
int boundary_solve(request *r, session *s);

/* The same once parameters or start values have changed; *changed: they are others now. */
int request_tolerances_again(request *r, const session *s, bool *changed);
/* One line, behind the label, about variables that stayed below their absolute tolerances. */
void print_unresolved(const session *s, FILE *out, const char *label);

/* Let a judge look at what the request asks for. Prints the verdict and, unless brief, what it is
 * made of; CLI_OFF or CLI_UNSURE where that is not good. Exit code. */
int request_verify(const request *r, session *s, bool brief);

/* LOW:HIGH, of which one may be missing; the text is changed. False: that is none. */
bool read_bounds(char *text, double *lower, double *upper);

/* Whether a result goes to stdout, and nothing else may. */
bool request_streams(const request *r);

/* What `sens` adds to the files: effects in json, bars and curves of its own in pictures. */
typedef struct results_more {
    const report_effects *effects;
    const report_series *picture;
} results_more;

/* Write every file that was asked for; more: NULL, or what is added. Exit code. */
int results_write(const request *r, const session *s, recorder *rows, const results_more *more);
/* Tell people on stdout what was computed; code is that of the integration. */
void results_print(const request *r, session *s, const recorder *rows, int code);
/* What a user must know beside the numbers, a line each behind `label`. */
void results_print_notes(const request *r, const session *s, FILE *out, const char *label);
void results_print_files(const request *r, const session *s, const recorder *rows);
/* Parts of these: the model, its method and work; the files with rows. */
void results_print_summary(const request *r, const session *s);
void results_print_data_files(const request *r, const session *s, const recorder *rows);

#endif
