/* Sparse elimination row by row, with pivots that the caller chooses: rows come one after the
 * other, each is freed of the columns that rows before it were solved for, and is then solved for
 * one of the columns that are left. */
#ifndef DAE_LINALG_ROW_ELIMINATION_H
#define DAE_LINALG_ROW_ELIMINATION_H

#include <stdbool.h>
#include <stddef.h>

typedef struct row_elimination {
    double *row;         /* one row, spread over the columns */
    int *touched, count; /* its columns that may not be 0 */
    bool *mark;          /* per column: it is among them */
    int *taken;          /* per column: the row of U whose pivot it is, from 1; 0: none */
    int *heap, waiting;  /* rows of U yet to be subtracted, the first one on top */
    /* U, rows divided by their pivots, as it grows */
    int rows, *start, *pivot, *column;
    double *value;
    size_t column_room, value_room;
} row_elimination;

/* For a matrix of this size; about so many entries. False: memory, and it must be freed, too. */
bool row_elimination_new(row_elimination *w, int rows, int columns, size_t entries);
void row_elimination_free(row_elimination *w);
/* The spread row := a row with `count` entries, in columns column[k] and of value values[k], or
 * values[from[k]]; eliminated by the rows kept so far. */
void row_elimination_load(row_elimination *w, int count, const int *column, const int *from,
                          const double *values);
/* The spread row is solved for column `pivot`, which it has. False: memory. */
bool row_elimination_keep(row_elimination *w, int pivot);

#endif
