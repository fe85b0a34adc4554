/* Which variables the equations contain, before unknowns are numbered; and what definitions may
 * leave without a trace in the structure. */
#ifndef DAE_MODEL_MODEL_INCIDENCE_H
#define DAE_MODEL_MODEL_INCIDENCE_H

#include "model/model_build.h"
#include "structure/index/signature.h"

/* Rows are flat equations (those that are gone are empty), columns the variables that stand for
 * their aliases. */
typedef struct incidence {
    signature sigma;      /* per entry: the highest order of the variable in the equation */
    int *equations_start; /* per variable: where its equations begin, */
    int *equations;       /* these; owned */
    int *highest;         /* per variable: the highest order anywhere; owned */
    bool *slopes;         /* per equation: contains a derivative; owned */
} incidence;

bool incidence_new(incidence *in, const build *b); /* false: memory; incidence_free in any case */
void incidence_free(incidence *in);

/* What may be eliminated: v by an equation that gives it explicitly, over r others, from c others.
 *
 * Equation and variable must be of one block: blocks are solved one after the other, and what
 * y = z + z^3 determines, after an equation for y, is z.
 *
 * The Jacobian of what is left is a Schur complement: A - (column of v)(row of v). Its pattern has
 * an r x c block where there is a matrix of rank one: transversals through two entries of that
 * block are none of the equations, and offsets by such a one are wrong. There is none
 *  - in equations of structural index 1, where all v without derivatives have offset 0: the
 *    complement of a regular matrix is regular;
 *  - if v and its equation have the same offset in the signature method, for the same reason;
 *  - if r <= 1 or c <= 1, whatever the structure. */
typedef enum elimination_rule {
    ELIMINATE_NONE,   /* structurally singular: messages are to see the equations as they are */
    ELIMINATE_SINGLE, /* r <= 1 or c <= 1: the structure depends on the mode */
    ELIMINATE_TIGHT,  /* or d[v] = c[e] */
    ELIMINATE_ALL     /* index 1 */
} elimination_rule;

typedef struct elimination {
    elimination_rule rule;
    int *c, *d;                    /* offsets by flat equation and variable; owned */
    int *row_block, *column_block; /* and blocks; owned */
} elimination;

bool elimination_new(elimination *e, const build *b, const incidence *in); /* false: memory */
void elimination_free(elimination *e);
/* Whether v and an equation are of one block. */
static inline bool elimination_pairs(const elimination *e, int v, int equation)
{
    return e->row_block[equation] == e->column_block[v];
}
/* Whether v may leave by that equation, which contains so many others, from so many users. */
bool elimination_allows(const elimination *e, int v, int equation, int others, int users);

/* model_read_back.c: kept[v] = true for definitions v through which a clause reads what it assigns.
 * by, value: per variable the equation that gives it, or -1, and what that says. False: memory. */
bool keep_read_back(const build *b, const incidence *in, const int *by, const expr *value,
                    bool *kept);

#endif
