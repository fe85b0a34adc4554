/* A matching of rows to columns that grows row by row: what equations determine which unknowns,
 * where the order in which equations come tells which one is to blame. */
#ifndef DAE_STRUCTURE_INDEX_MATCHING_H
#define DAE_STRUCTURE_INDEX_MATCHING_H

#include <stdbool.h>
#include <stddef.h>

/* Augmenting paths from one row after the other [Duf81]. */
typedef struct matching {
    const size_t *start; /* row r has column[start[r] .. start[r+1]); borrowed */
    const int *column;   /* borrowed */
    int *row_of;         /* per column: its row, -1; owned, as all that follows */
    size_t *cheap;       /* per row: columns before it are taken, for ever */
    int *stamp;          /* per row: last search that saw it */
    bool *closed;        /* per row: no free column can be reached from it, for ever */
    int *queue;          /* rows seen by a search, in its order: */
    int seen;            /* so many by the last one, if it failed */
    int *parent;         /* per row seen: the row it was seen from, */
    int *via;            /* and the column between them, which is the row's own */
} matching;

/* No row has a column yet. False: memory; matching_free in any case. */
bool matching_new(matching *m, const size_t *start, const int *column, int rows, int columns);
void matching_free(matching *m);

/* Give `row` a column, moving others along; false if that is impossible. Rows with stamp == row
 * were then all in the way: together with `row` they are too many for their columns, and without
 * any one of them they would not be. Each row is to be added once. */
bool matching_add(matching *m, int row);

#endif
