/* Which positions the constraints 0 = g(q, t) determine: p2 of minimal extension and of the reduced
 * system, and its watch during the run.
 *
 * With G = [G1 G2] split into the columns of p1 and p2, X = G2^-1 G1 tells how much p2 moves with
 * p1. A choice is good while no entry of X is large [KM04], [Wun05 7.2]. */
#ifndef DAE_FORMS_POSITIONS_H
#define DAE_FORMS_POSITIONS_H

#include "expr/code.h"

/* A choice is kept while no position of p2 moves more than so many times as fast as those of p1:
 * the best choice has about 1, so that it does not change to and fro. */
#define POSITIONS_WORST 8.0

/* Gauss-Jordan on G, row i at [i * columns]: makes columns a unit matrix. With `fixed` only columns
 * that are chosen may be pivots; else the largest entry of all is, and `chosen` becomes the columns
 * that served. chosen: 2 columns + rows values, those behind the first `columns` are work. Returns
 * the largest entry of X; INFINITY: rows are dependent, and the choice is as it was. */
double positions_eliminate(int rows, int columns, double *G, bool *chosen, bool fixed);
/* After INFINITY: the first row without a pivot. */
int positions_dependent_row(int rows, int columns, const bool *chosen);

/* The choice of a formulation: G over its unknowns. Owned by it, arrays too. */
typedef struct position_choice {
    int rows, columns, count;
    int *source;       /* rows: equations of the analysed set */
    int *row, *column; /* count: of the entries of G */
    expr *value;
    double *size;    /* columns: nominal sizes */
    bool *dependent; /* columns: p2 */
} position_choice;

position_choice *position_choice_new(int rows, int columns, int count); /* NULL: memory */
void position_choice_free(position_choice *c);                          /* NULL is fine */

/* Its watch, one per instance. */
typedef struct position_watch position_watch;

position_watch *position_watch_new(const position_choice *c, const graph *g); /* NULL: memory */
void position_watch_free(position_watch *w);                                  /* NULL is fine */
void position_watch_prepare(position_watch *w, const tape_inputs *in);

typedef enum position_status {
    POSITIONS_KEPT = 0,
    POSITIONS_BAD,       /* position_watch_better tells a good choice */
    POSITIONS_DEPENDENT, /* constraints depend on each other: position_watch_culprit */
    POSITIONS_NOT_FINITE
} position_status;

position_status position_watch_look(position_watch *w, const tape_inputs *in);
const bool *position_watch_better(const position_watch *w);
int position_watch_culprit(const position_watch *w);
/* Multiplications that a look takes. */
double position_watch_work(const position_watch *w);

#endif
