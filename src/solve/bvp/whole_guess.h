/* Guesses of a whole solution, for searches that begin with one: values of the user's unknowns at
 * times that ascend. */
#ifndef DAE_SOLVE_BVP_WHOLE_GUESS_H
#define DAE_SOLVE_BVP_WHOLE_GUESS_H

#include "solve/bind/solver.h"

/* Rows of a guess, as a request has them; borrowed. */
typedef struct guess_table {
    int rows, columns;
    const double *times;
    const char *const *variables;
    const double *values;
} guess_table;

typedef struct whole_guess {
    const char *what; /* "Boundary values", for messages */
    dae_problem *problem;
    double start;
    dae_bvp_guess kind;
    guess_table table;
    /* Private, but for y, yp and row. */
    int n;               /* the user's unknowns */
    double *y, *yp;      /* at the time asked for last; owned in one block at y */
    double *held;        /* y where the simulation ended, or at the start */
    double *row;         /* columns: values of the table at that time */
    dae_solver *run;     /* owned; NULL: it has ended, or there is none */
    int *unknown, *sign; /* per column: the user's unknown, -1: none; owned */
} whole_guess;

/* Begin with the values of `companion`, which stands at the start. Close in any case. */
dae_status whole_guess_open(whole_guess *g, const dae_solver *companion, dae_diag *diag);
/* y and yp at t, and the row of the table. With DAE_BVP_GUESS_START they stay. */
void whole_guess_at(whole_guess *g, double t);
void whole_guess_close(whole_guess *g);

/* s->t[i], i = 0 .. intervals: even between start and end. */
void even_mesh(int intervals, double start, double end, double *t);

/* x - start value = 0 of flat variable v, over flat variables, if that is a condition: it is fixed,
 * continuous, no constant, and no other name before it says the same; else EXPR_NONE. */
expr fixed_start_condition(const model_form *f, size_t v);

#endif
