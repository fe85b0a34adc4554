/* The constraints of an analysed system, hidden ones too: what values must satisfy at every time.
 *
 * With offsets c, d the equations f_i^(k), k = 0 .. c_i, hold for the x_j^(p), p = 0 .. d_j
 * [Pryce01]. They come in stages s = max c, .., 0: stage s are the f_i^(c_i - s) as equations of
 * the x_j^(d_j - s). At each stage derivatives that have no name are eliminated where the equations
 * are linear in them; what is left without any is a constraint. */
#ifndef DAE_STRUCTURE_REWRITE_CONSTRAINTS_H
#define DAE_STRUCTURE_REWRITE_CONSTRAINTS_H

#include "structure/index/signature.h"

enum { CONSTRAINT_SOURCES = 12 };

typedef struct constraint {
    expr residual;                /* over the equation set: residual = 0 */
    int row;                      /* the equation that it comes from, */
    int times;                    /* differentiated so often */
    bool hidden;                  /* else the equation says it itself */
    bool derivatives;             /* some derivatives could not be eliminated */
    int used_count;               /* equations that derivatives were eliminated with: so many, */
    int used[CONSTRAINT_SOURCES]; /* and the first of them */
} constraint;

typedef struct constraint_list {
    constraint *item; /* owned */
    int count;
    size_t capacity;
} constraint_list;

/* Equations with c_i > 0 as they are, then hidden constraints by stages, in the order of the
 * equations. Adds to the graph of the set. False: memory. */
bool constraints_find(const equation_set *set, const structure *s, constraint_list *list);
void constraint_list_free(constraint_list *list);

#endif
