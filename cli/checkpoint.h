/* Checkpoints of a run: --checkpoint, --every, --resume. */
#ifndef DAEDAL_CLI_CHECKPOINT_H
#define DAEDAL_CLI_CHECKPOINT_H

#include "session.h"

/* What the words ask for. Strings are borrowed from argv. */
typedef struct checkpoint_words {
    const char *path;   /* --checkpoint; NULL: none */
    const char *resume; /* --resume; NULL: from the start */
    double seconds;     /* --every 60s: between two that are written; 0: not given */
    long steps;         /* --every 500steps: between two that are made; 0: not given */
} checkpoint_words;

/* --every TEXT. Exit code. */
int checkpoint_every(checkpoint_words *words, const char *text);
/* Whether the words agree with each other. Exit code. */
int checkpoint_check(const checkpoint_words *words);

typedef struct run_checkpoint run_checkpoint;

/* s->checkpoint, if the words ask for one; after session_prepare. Exit code. */
int checkpoint_open(session *s, const checkpoint_words *words);
bool checkpoint_resumes(const session *s);
/* Go on where the run was saved: its rows into `rows`, *next = the first row of the grid that is
 * missing. In the place of a start. Exit code. */
int checkpoint_resume(session *s, const grid *g, recorder *rows, long *next);

/* A row was recorded; digits: NULL, or the texts of all of its values. Exit code. */
int checkpoint_row(run_checkpoint *c, int n, double t, const double *y, const char *digits);
/* Behind the start: whether the run can be saved at all, before it has taken an hour. Exit code. */
int checkpoint_start(session *s);
/* Behind a step: save the run where that is due. Exit code. */
int checkpoint_step(session *s, const grid *g, const recorder *rows, long next);
/* The run ends before its end: the last point at which it was saved goes to the disk. */
void checkpoint_rescue(session *s);
/* The run is over, and its results are written: nothing is left to go on with. */
void checkpoint_done(session *s);
void checkpoint_close(session *s);

#endif
