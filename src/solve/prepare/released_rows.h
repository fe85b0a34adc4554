/* Constraints that a plan is made without, as they follow from others, with those that are kept:
 * their residuals and derivatives, for the watch of a run (run/released_watch.h). */
#ifndef DAE_SOLVE_PREPARE_RELEASED_ROWS_H
#define DAE_SOLVE_PREPARE_RELEASED_ROWS_H

#include "daedal.h"
#include "formulation/formulation.h"
#include "model/model.h"

/* One constraint: its residual is value[first], then come its derivatives. */
typedef struct released_row {
    int first, count;
    bool released;
    const char *name; /* borrowed from the base form */
    int line;
} released_row;

/* A derivative by unknown `index`, or by its derivative. */
typedef struct released_slot {
    int index, order;
} released_slot;

typedef struct released_watch {
    released_row *rows; /* owned */
    int count;
    released_slot *slots; /* of the values; owned */
    expr_code code;       /* owned */
    double *value;        /* owned */
    double *y, *own;      /* y, y' of the base form and of the one at work; owned: one block */
    int own_n;
} released_watch;

/* For the equations `rows` of an analysed set that were released, beside its other constraints;
 * false: memory. Adds to the graph. */
bool released_watch_new(released_watch **watch, const model_form *base, const analysed *a,
                        const bool *rows);
/* Another one with the same program, for another run; `of` must outlive it, and may be NULL. False:
 * memory. */
bool released_watch_copy(const released_watch *of, released_watch **watch);
void released_watch_free(released_watch *watch); /* NULL is fine */

#endif
