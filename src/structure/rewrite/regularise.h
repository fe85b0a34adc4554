/* Rewriting equations whose structure hides their rank: linear combinations and expression
 * substitution, so that the signature method succeeds [TNP17]. */
#ifndef DAE_STRUCTURE_REWRITE_REGULARISE_H
#define DAE_STRUCTURE_REWRITE_REGULARISE_H

#include "structure/rewrite/certificate.h"

typedef enum rewrite_kind {
    REWRITE_COMBINATION, /* equation `row` replaced by a combination of equations and derivatives,
                            or by itself without a variable that cancels in it */
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
    size_t capacity;
    bool solved;      /* the certificate holds now */
    bool everywhere;  /* the new equations are equivalent for all parameters and values: nothing
                         was taken from the parameters' values, nothing that may vanish was
                         multiplied with, and the equations have no pieces */
    char reason[512]; /* why not, if it does not */
    char **names;     /* owned: names of variables and equations that were added; the equations
                         refer to them, so that the list must live as long as they do */
    int name_count;
} rewrite_list;

/* Rewrite `set` in place until the certificate at `at` holds, or no method applies (solved = false;
 * the set is then what was given). s: zeroed or the structure of `set` on entry, that of the result
 * on return. New variables of expression substitution get model = -1 and names of their own; `at`
 * has no values for them, their defining equations tell them. Derivatives of higher order than `at`
 * gives are taken at a generic value. At every step the value of the signature falls strictly, or
 * an occurrence disappears, so that it ends. False: memory. */
bool regularise(equation_set *set, structure *s, const equation_point *at, double tolerance,
                rewrite_list *steps);
/* A bound of the differentiation index of the equations that were given, from the structure of the
 * certified ones: how often an equation must be differentiated until all x' are known. It differs
 * from the structural index in two ways. A combination contains derivatives of its equations
 * (row.times of them at most), which count; and the equations that variables of offset 0 do not
 * depend on need not be differentiated once more because of these. -1: memory */
int regularised_index(const equation_set *set, const structure *s);

void rewrite_list_free(rewrite_list *steps);

#endif
