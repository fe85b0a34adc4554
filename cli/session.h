/* A model being solved: problem, solver, what is recorded, progress on the terminal. */
#ifndef DAEDAL_CLI_SESSION_H
#define DAEDAL_CLI_SESSION_H

#include "cli.h"
#include "report.h"

/* Where rows are recorded. */
typedef enum grid_kind {
    GRID_STEPS = 0, /* at every accepted step */
    GRID_NONE,      /* nowhere */
    GRID_LINEAR,    /* count points from t0 to tend, both included */
    GRID_INTERVAL,  /* t0, t0 + interval, .., tend */
    GRID_LOG        /* t0 and count points from t0 + first to tend, in equal ratios */
} grid_kind;

typedef struct grid {
    grid_kind kind;
    double t0, tend;
    long count;
    double interval; /* > 0 */
    double first;    /* > 0, as a distance from t0 */
} grid;

/* Time k = 0, 1, .. of a grid; false past its end, and always for GRID_STEPS. */
bool grid_time(const grid *g, long k, double *t);

/* Of a model with more variables a few stand for all, unless the user lists them. */
enum { MANY_VARIABLES = 200, CHOSEN_VARIABLES = 12 };

/* Where rows go while they come: into a csv file or stream, and into a series for what needs all of
 * them at the end (json, mat, plots, tables). */
typedef struct recorder {
    report_series *series; /* names and units; rows only if they are kept; owned */
    bool keep;
    const char *csv; /* path, borrowed; NULL: none */
    report_file file;
    FILE *stream;                      /* of file, or stdout; NULL: no csv, or it has failed */
    size_t count;                      /* rows */
    double last;                       /* time of the last row */
    bool failed;                       /* csv could not be written, and that was told */
    bool full;                         /* likewise rows could not be kept */
    struct run_checkpoint *checkpoint; /* that has to know of rows; borrowed, NULL: none */
} recorder;

struct session;

/* Columns behind those of the variables, which a command fills in. Texts are borrowed. */
typedef struct more_columns {
    int count;
    const char *const *names, *const *units, *const *descriptions;
    /* The values of a row at time t of the last step, whose variables are in s->y. Exit code. */
    int (*fill)(struct session *s, double t, double *values, void *user);
    void *user;
} more_columns;

/* Somebody who looks at a run: at its start, after every step or event, and at its end. */
typedef enum watch_when { WATCH_START, WATCH_STEP, WATCH_END } watch_when;

typedef struct session {
    model *m;         /* a built-in model, owned; NULL for a model text */
    const char *name; /* of the model, borrowed */
    dae_problem *problem;
    dae_solver *solver;
    int n;             /* variables of the problem, eliminated and discrete ones too */
    int n_all;         /* and derivatives of states behind them */
    double *y;         /* n_all values: scratch, then all where the integration ended */
    double *row;       /* the recorded part of y */
    char *digits;      /* the same as texts of DAE_DIGITS_SIZE bytes, behind those of all variables;
                          NULL: the run has doubles only */
    int *recorded;     /* indices of what is recorded */
    int n_recorded;    /* their number */
    int n_shown;       /* the first ones; the others go into .mat files only */
    bool derivatives;  /* some of the recorded ones are derivatives */
    more_columns more; /* behind the recorded ones; count 0: none */
    double *lower;     /* min and max of n variables; NULL: nobody has any. Owned, one block. */
    double *upper;
    bool *warned; /* per variable: told that it left them */
    bool history_written;
    report_file history; /* attempted steps as csv, if it is open */
    bool tableau_written;
    long tableau_steps;  /* the last step of which it is written */
    report_file tableau; /* the extrapolation tableau of every step as csv, if it is open */
    double *unknowns;    /* an entry of it */
    double t0, tend;     /* for the progress */
    double t;            /* where the integration ended */
    double wall_start;   /* seconds */
    double wall_shown;   /* when progress was last shown */
    bool progress;       /* stderr is a terminal */
    bool progress_on_screen;
    double translation;                /* seconds of wall time that a text took */
    double seconds;                    /* .. and the integration */
    double rtol, atol;                 /* of the run */
    long max_steps;                    /* accepted steps before the session gives up; 0: no limit */
    struct run_checkpoint *checkpoint; /* where the run is saved (checkpoint.h); NULL: nowhere */
    dae_status (*watch)(watch_when when, dae_solver *solver, void *user); /* NULL: nobody */
    void *watcher;
    dae_diag diag; /* of the last failure; status DAE_OK if there was none */
} session;

/* Problem of the built-in model s->m, which it takes over. Exit code. */
int session_open_builtin(session *s);
/* Problem of a model text; unknowns and ends as in open_text_ends. Exit code. */
int session_open_text(session *s, const char *file, const settings *parameters,
                      const inputs *driven, const settings *unknowns, const settings *ends,
                      dae_engine engine, bool allow_external);

/* Whether a name fits a pattern in which * stands for anything and ? for one character. */
bool pattern_fits(const char *pattern, const char *name);

/* Record these variables: a list "a,b,c" of names, arrays, records and patterns with * and ?,
 * "all", or NULL for all of a small model and an even choice from a large one; and, if asked, all
 * derivatives for a .mat file. Needs the problem. Exit code. */
int session_record(session *s, const char *list, bool all_derivatives);

/* Record these columns, too, behind the variables; after session_record, before session_prepare.
 * Exit code. */
int session_record_more(session *s, const more_columns *more);

/* Name, unit and description of number i of all variables and derivatives. */
const char *session_name(const session *s, int i);
const char *session_unit(const session *s, int i);
const char *session_description(const session *s, int i);

/* Variable i with all digits of the run where values were read last; NULL: it has doubles only. */
const char *session_digits(const session *s, int i);
/* Progress is that of a run from t0 to tend, which begins now. */
void session_begin_progress(session *s, double t0, double tend);
/* Fill in monitor, interrupt and message of options. */
void session_listen(session *s, dae_options *options);
/* Show a line of progress on the terminal, in place of the last one; take it away. */
void session_tell(session *s, const char *text);
void session_clear_progress(session *s);
/* Tell once about each variable of s->y outside of its min and max, by more than the tolerances. */
void session_watch_bounds(session *s, double t);
/* Say why something failed. Exit code. */
int session_complain(session *s, dae_status status, const char *text);
/* Solver for the problem; monitor, interrupt and message of options are filled in. Exit code. */
int session_prepare(session *s, dae_options *options);

/* A recorder of the recorded variables, into a csv file (NULL: none) and, if asked, a series whose
 * rows memory should not keep are beside the file `near` (NULL: anywhere). Exit code. */
int recorder_open(recorder *r, const session *s, const char *csv, bool keep, const char *near);
/* A row of all columns; digits: NULL, or texts with all of their digits. Exit code. */
int recorder_add(recorder *r, double t, const double *y, const char *digits);
/* The csv file in its place, if it has rows. Exit code, with a message unless CLI_OK. */
int recorder_finish(recorder *r);
void recorder_close(recorder *r); /* what was not finished is dropped */

/* Open the file for attempted steps. Exit code. */
int session_open_history(session *s, const char *path);

/* tableau.c: open the file for tableaus; one step; the file in its place. Exit codes. */
int session_open_tableau(session *s, const char *path);
int session_write_tableau(session *s);
int session_close_tableau(session *s);

/* Integrate from the model's start to g->tend and record rows. Exit code; what was reached stays
 * recorded. */
int session_integrate(session *s, const grid *g, recorder *rows);

/* columns[0 .. count-1] = count of the recorded variables, spread evenly */
void session_spread(const session *s, int count, int *columns);

double wall_time(void); /* seconds, of a clock that is never set */

/* Print the error of s->y at time t against what is known of the model, if anything is. */
void session_print_error(session *s, double t);

/* Print all counters. */
void session_print_statistics(const session *s);

void session_close(session *s);

#endif
