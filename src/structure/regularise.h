/* Rewriting equations whose structure hides their rank: linear combinations and expression
 * substitution, so that the signature method succeeds [TNP17]. */
#ifndef DAE_STRUCTURE_REGULARISE_H
#define DAE_STRUCTURE_REGULARISE_H

#include "structure/certificate.h"

typedef enum rewrite_kind {
    REWRITE_COMBINATION, /* equation `row` replaced by a combination of equations and derivatives */
    REWRITE_SUBSTITUTION /* new variables y for a combination of derivatives; equations added */
} rewrite_kind;

/* One rewriting step, told to the user. */
typedef struct rewrite_step {
    rewrite_kind kind;
    int row;    /* equation replaced */
    char *text; /* owned: "equation 3 := equation 3 - der(equation 1) ..", in the user's names */
} rewrite_step;

typedef struct rewrite_list {
    rewrite_step *step; /* owned */
    int count;
    bool solved; /* the certificate holds now */
} rewrite_list;

/* Rewrite `set` in place until the certificate at `at` holds, or no method applies (solved = false;
 * the set is then what was given). s is the structure of the result. New variables of expression
 * substitution get model = -1 and names of their own. At every step the value of the signature
 * falls strictly, so that it ends. False: memory. */
bool regularise(equation_set *set, structure *s, const equation_point *at, double tolerance,
                rewrite_list *steps);
void rewrite_list_free(rewrite_list *steps);

#endif
