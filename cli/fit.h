/* What `daedal fit` finds, and from which data. */
#ifndef DAEDAL_CLI_FIT_H
#define DAEDAL_CLI_FIT_H

#include "run.h"

/* One file with data, and its settings: an experiment. */
typedef struct experiment {
    char *path;            /* owned */
    dae_setting *settings; /* owned; their names are those of the problem */
    int setting_count;
    const char **names;     /* of the measured variables, those of the problem; owned */
    int *variables;         /* their numbers; owned */
    double *values, *sigma; /* rows x columns; owned; sigma NULL: there are none */
    report_curves *curves;  /* the file; its times are those of the data; owned */
    char *time_unit;        /* of the file, if it is not s; owned, else NULL */
    int jumps;              /* of variables at a row, or from row to row, that are left out; */
    size_t jump_row;        /* the first of these rows, or the second of its pair, */
    const char *jump_name;  /* and its variable */
    dae_fit_data data;
} experiment;

typedef struct fit_work {
    session *s;
    dae_fit_parameter *parameters; /* names are those of the problem; owned */
    int *number;                   /* of each among the parameters of the problem; -1: a variable */
    int parameter_count;
    experiment *list; /* owned */
    int count;
    dae_fit_data *data; /* of all experiments; owned */
    double last;        /* time of the last row */
    dae_fit_request request;
    dae_fit_result *result; /* owned */
    double shown;           /* when progress was last shown */
} fit_work;

/* fit_words.c: what --fit asks for; without any, how to. Exit code. */
int fit_read_parameters(fit_work *w, const request *r);
/* fit_data.c: the files behind the model, with their settings. Exit code. */
int fit_read_data(fit_work *w, const request *r);

/* Leave out what variable j has at the time of row i, and so near to it that errors of a run decide
 * on which side of an event the row is. */
void fit_leave_out(experiment *e, size_t i, size_t j);

/* fit_jumps.c: leave out values at jumps of the model that was found; *any: whether there are some.
 * Exit code. */
int fit_leave_out_jumps(fit_work *w, bool *any);
/* What is as near to a row may be on either side of an event there. */
double fit_beside(const report_curves *c);

/* Notes on times that were converted, and on rows after the end that the model names: runs go on to
 * the last row. */
void fit_print_times(const fit_work *w, const request *r, const experiment *e);

/* The variable or parameter that a word names, as the problem spells it: the number of a parameter
 * in *parameter, else -1 there and that of a variable in *variable. Exit code. */
int fit_find(const session *s, const char *word, int *parameter, int *variable);

/* fit_results.c: files and words about the result. Exit codes. */
int fit_write(fit_work *w, const request *r);
void fit_print(const fit_work *w, const request *r);
void fit_print_files(const fit_work *w, const request *r);
/* How the search ended as an exit code. */
int fit_exit_code(const fit_work *w);

#endif
