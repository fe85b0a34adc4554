/* Mechanical form: whether equations are M(q,t) q'' = f - G' lambda, 0 = g(q,t), without being
 * told.
 *
 * Positions are the variables that appear with their second derivative. Algebraic variables with an
 * explicit definition of their own (forces, lengths, prescribed motions) are seen through. What is
 * left of the algebraic variables in the equations of motion must be multipliers: each acts along
 * the gradient of one constraint, G' = d g / d q, up to a factor; equations of motion may have been
 * divided by masses. */
#ifndef DAE_STRUCTURE_MECHANICAL_H
#define DAE_STRUCTURE_MECHANICAL_H

#include "structure/equations.h"

/* Entries of a sparse matrix of expressions, by rows. */
typedef struct mechanical_entry {
    int row, column;
    expr value;
} mechanical_entry;

typedef struct mechanical_matrix {
    int count, room;
    mechanical_entry *entry; /* owned */
} mechanical_matrix;

/* M q'' + C lambda = f, 0 = g(q, t), and equations for other variables. Expressions see through
 * explicit definitions; the equations of the set are as they were. All arrays owned. */
typedef struct mechanical {
    int nq, nlambda, nother;
    int *q;          /* nq: variables of the set */
    int *dynamic;    /* nq: the equation of motion of q_i */
    int *lambda;     /* nlambda: the multiplier of constraint k */
    int *constraint; /* nlambda: equations */
    int *other;      /* nother: all other variables, */
    int *other_row;  /* nother: and equations; explicit definitions first, then in no order */
    int explicit_count;
    mechanical_matrix M, C, G; /* nq x nq, nq x nlambda, nlambda x nq */
    expr *f;                   /* nq: over q, q', the other variables and time */
    expr *g;                   /* nlambda: over q and time alone */
    double *scale;             /* nq: scale_i M_ij is symmetric, scale_i C_ik = factor_k G_ki */
    double *factor;            /* nlambda: of constraint k; at one point, if it changes */
    bool *steady;              /* nlambda: factor_k is the same everywhere */
} mechanical;

typedef enum mechanical_status {
    MECHANICAL_OK = 0,
    MECHANICAL_NOT, /* `reason` names the equation or variable that does not fit */
    MECHANICAL_MEMORY
} mechanical_status;

/* at: where the equations can be evaluated, parameters included; orders >= 0. */
mechanical_status mechanical_recognise(const equation_set *set, const equation_point *at,
                                       mechanical *m, char *reason, size_t size);
void mechanical_free(mechanical *m); /* leaves it zeroed */

/* value[k] of the entries at a point, derivatives up to the second there; false: memory. */
bool mechanical_evaluate(const equation_set *set, const mechanical_matrix *a,
                         const equation_point *at, double *value);

#endif
