/* The diagonal blocks of a model's system Jacobian [Pryce01] whose determinants are worth watching:
 * where one passes through zero the equations lose rank (run/rank_watch.h). */
#ifndef DAE_SOLVE_PREPARE_RANK_BLOCKS_H
#define DAE_SOLVE_PREPARE_RANK_BLOCKS_H

#include "daedal.h"
#include "formulation/formulation.h"
#include "model/model.h"

enum {
    LARGEST_WATCHED = 20,  /* its factors cost what a step of so many unknowns does */
    WATCHED_ENTRIES = 400, /* of all blocks that are rank_block */
    WATCHED_NAMES = 400
};

/* One diagonal block. */
typedef struct rank_block {
    int size, first;              /* entries from `first` on: size x size, by columns */
    bool leading;                 /* all of its unknowns are derivatives */
    bool own;                     /* its entries depend on its own unknowns: nonlinear in these */
    bool told;                    /* that it comes to rest */
    int unknown[LARGEST_WATCHED]; /* of the base form: i for y_i, n + i for y'_i */
    double fastest;               /* the most that one of them was */
    double before, most;          /* determinant where the last step ended; 0: not known; largest */
    double trend;                 /* its mean slope in the step before; NAN: not known */
    char rows[WATCHED_NAMES], of[WATCHED_NAMES]; /* names of its equations and unknowns */
    int line;
} rank_block;

/* An unknown of the base form that entries depend on, or its derivative. */
typedef struct needed {
    int unknown;
    bool slope;
} needed;

typedef struct rank_watch {
    rank_block *block; /* owned */
    int count, entries;
    expr_code code;        /* of the entries; owned */
    double *value, *dense; /* entries; work of a determinant; owned: one block */
    needed *need;          /* of the entries; owned */
    int need_count;
    double *y, *own; /* y, y' of the base form, and of the form at work; owned: one block */
    int n, own_n;    /* for which there is room */
    double t;        /* where `before` was taken */
    bool fresh;      /* nothing was looked at since the method started */
    bool prepared;   /* the code knows the parameters; not so in a copy, or where it was loaded */
} rank_watch;

/* The blocks of analysed equations over the n unknowns of a base form that are worth it. *watch =
 * NULL: there are none. False: memory. Adds to the graph. */
bool rank_watch_new(rank_watch **watch, const analysed *a, int n);
/* Another one with the same program, for another run; `of` must outlive it, and may be NULL. False:
 * memory. */
bool rank_watch_copy(const rank_watch *of, rank_watch **watch);
void rank_watch_free(rank_watch *watch); /* NULL is fine */
int rank_watch_blocks(const rank_watch *watch);
/* What was seen of the blocks; watch may be NULL. */
void rank_watch_persist(rank_watch *watch, persist *p);

#endif
