/* What `daedal sweep` does: its points on the model, a run, the work, the table. */
#ifndef DAEDAL_CLI_SWEEP_WORK_H
#define DAEDAL_CLI_SWEEP_WORK_H

#include "run.h"
#include "sweep.h"

/* What a column of the points sets. */
typedef struct bound_column {
    const char *name; /* as the problem spells it */
    int parameter;    /* its number; -1: the start value of a variable */
    bool structural;  /* set before the translation: words, not numbers, are */
    report_sweep_column report;
} bound_column;

/* A model that runs: that of the words, or one with other structural parameters. */
typedef struct sweep_model {
    request *r;
    session *s;
    sweep_keep *keep; /* owned */
    recorder rows;    /* of a run that goes to a file */
} sweep_model;

typedef struct sweep_work {
    request *r;
    request unopened; /* the words before a model completed them; borrows all of it */
    session *s;
    sweep_points *points;  /* owned */
    bound_column *columns; /* one for each of the points; owned */
    sweep_keep *keep;      /* owned */
    double *times;         /* of curves; owned */
    int time_count;
    bool structural; /* some columns are */
    sweep_identity identity;

    /* results */
    double *values; /* points x kept columns; owned */
    int *status;    /* owned */
    char **text;    /* NULL: ""; owned, each of them too */
    bool *done;     /* owned */
    size_t finished, failed;
    size_t known; /* so many were in the journal */
    sweep_journal *journal;
    double seconds;
    int ranks, jobs;

    /* in a worker */
    sweep_model other;   /* with structural parameters; s NULL: none yet */
    request other_words; /* its request and */
    session other_session;
    double *other_values; /* .. the values that it was translated with; owned */
    FILE *said;           /* what messages were written to */
} sweep_work;

/* sweep_words.c: the points that the words ask for. Exit code. */
int sweep_read_points(sweep_work *w);
/* .. and what they are on the model. Exit code. */
int sweep_bind(sweep_work *w);
/* What is kept of the runs of a model; free with sweep_keep_free. Exit code. */
int sweep_make_keep(const sweep_work *w, const request *r, const session *s, sweep_keep **keep);

/* sweep_point.c: callbacks of the pool. */
void sweep_begin_worker(void *user);
void sweep_run_point(uint64_t item, sweep_buffer *result, void *user);
void sweep_lost_point(uint64_t item, int signal, sweep_buffer *result, void *user);

/* sweep_engine.c: do all points, here or on all ranks. Exit code. *others: this process is not the
 * one that writes results. */
int sweep_all_points(sweep_work *w, bool *others);
/* The rank that the words of the launcher give this process; -1: there is none */
int sweep_launched_rank(void);

/* sweep_results.c: the files, and a summary. Exit codes. */
int sweep_write(sweep_work *w);
void sweep_print(const sweep_work *w);
/* The file beside which the journal is; NULL: none is written. */
const char *sweep_main_file(const request *r);

#endif
