/* --guess: where a search for a whole solution begins. */
#ifndef DAEDAL_CLI_GUESS_H
#define DAEDAL_CLI_GUESS_H

#include "session.h"

/* A word, or rows of a file for variables of the model. */
typedef struct guess_rows {
    dae_bvp_guess kind;
    int rows, columns;
    const char **variables; /* columns; owned */
    double *values;         /* rows x columns, row by row; owned */
    report_curves *file;    /* with the times; owned, NULL: none */
} guess_rows;

/* Read the word; NULL: none was given. Exit code; free in any case. */
int guess_read(guess_rows *g, const session *s, const char *word);
void guess_free(guess_rows *g);
static inline const double *guess_times(const guess_rows *g)
{
    return g->file ? g->file->times : NULL;
}

#endif
