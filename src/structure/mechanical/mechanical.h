/* Mechanical form: whether equations are M q'' = f(q, q', r, w, s, lambda, t) - G' lambda with
 * constraints 0 = g(q, s, t), 0 = c(q, q', s, t), contact 0 = h(q, s, t) and equations for r and w
 * [Wun05 (1.18), (1.14)], without being told.
 *
 * Positions are the variables that appear with their second derivative. Algebraic variables with an
 * explicit definition of their own (forces, lengths, prescribed motions) are seen through. Rows
 * over positions, algebraic variables and time that are too many for these variables are surfaces:
 * some of them determine the variables, which are contact coordinates s, the others are
 * constraints. What no other equation determines must be multipliers: each acts along the gradient
 * of one constraint, G = g_q - g_s h_s^-1 h_q or c_v, up to a factor; equations of motion may have
 * been divided by masses. With friction multipliers act as they like, as long as [M C; G 0] is
 * regular. */
#ifndef DAE_STRUCTURE_MECHANICAL_MECHANICAL_H
#define DAE_STRUCTURE_MECHANICAL_MECHANICAL_H

#include "expr/code.h"
#include "structure/index/equations.h"

/* Entries of a sparse matrix of expressions, by rows. */
typedef struct mechanical_entry {
    int row, column;
    expr value;
} mechanical_entry;

typedef struct mechanical_matrix {
    int count;
    size_t room;
    mechanical_entry *entry; /* owned */
} mechanical_matrix;

/* M q'' + C lambda = f, 0 = g, and equations for other variables. Expressions see through explicit
 * definitions; the equations of the set are as they were. All arrays owned. */
typedef struct mechanical {
    int nq, nlambda, nother;
    int nvelocity;   /* of the constraints, the last ones: they restrict velocities */
    int *q;          /* nq: variables of the set */
    int *dynamic;    /* nq: the equation of motion of q_i */
    int *lambda;     /* nlambda: the multiplier of constraint k */
    int *constraint; /* nlambda: equations */
    int *other;      /* nother: all other variables, contact coordinates too, */
    int *other_row;  /* nother: and equations; explicit definitions first, then in no order */
    int explicit_count;
    int ns;
    int *contact;              /* ns: contact coordinates s, */
    int *contact_row;          /* ns: and the equations h that determine them, */
    expr *h;                   /* ns: these, over q, s and time */
    expr *slope;               /* ns: s' = -h_s^-1 (h_q q' + h_t) */
    mechanical_matrix M, C, G; /* nq x nq, nq x nlambda, nlambda x nq; G = dg/dq with s(q, t) */
    expr *f;                   /* nq: over q, q', the other variables and time, lambda = 0 */
    expr *force;               /* nq: the same with lambda: M q'' = force */
    expr *g;                   /* nlambda: over q, s and time; then q', too */
    double *scale;             /* nq: scale_i M_ij is symmetric, scale_i C_ik = factor_k G_ki */
    double *factor;            /* nlambda: of constraint k; at one point, if it changes */
    bool *steady;              /* nlambda: factor_k is the same everywhere */
    bool friction;             /* some multipliers act otherwise, C is df/dlambda: no factors */
    expr *divisor;             /* explicit_count: what the definitions were divided by */
    int zero_count;            /* the form holds while these parameters are zero, */
    int *zero;                 /* zero_count; for a plan they are structural; NULL: none */
    bool looked;               /* numbers took part, also where the form was not found */
    mechanical_matrix tested;  /* what mechanical_holds() evaluates, and its program */
    expr_code test;
} mechanical;

/* Constraints that have a position level: the first ones. */
static inline int mechanical_positions(const mechanical *m)
{
    return m->nlambda - m->nvelocity;
}

typedef enum mechanical_status {
    MECHANICAL_OK = 0,
    MECHANICAL_NOT, /* `reason` names the equation or variable that does not fit */
    MECHANICAL_MEMORY
} mechanical_status;

/* at: where the equations can be evaluated, parameters included; orders >= 0. */
mechanical_status mechanical_recognise(const equation_set *set, const equation_point *at,
                                       mechanical *m, char *reason, size_t size);
/* The same, and systems without constraints: M q'' = f(q, q', .., t). */
mechanical_status mechanical_recognise_any(const equation_set *set, const equation_point *at,
                                           mechanical *m, char *reason, size_t size);
void mechanical_free(mechanical *m); /* leaves it zeroed */
/* Whether the recognition at another point, or with other parameters, comes to the very same: 1, 0:
 * it may not, -1: memory. Entries that vanish everywhere, factors other than 1 and -1 between
 * equations, contact and friction are not looked into: 0. */
int mechanical_holds(const equation_set *set, mechanical *m, const equation_point *at);

/* Constraint l differentiated k times, over q, q', .. and s: derivatives of s are put in.
 * EXPR_NONE: memory. */
expr mechanical_level(const equation_set *set, const mechanical *m, int l, int k);

/* The entries as a program for many points; false: memory. */
bool mechanical_compile(const equation_set *set, const mechanical_matrix *a, expr_code *code);
/* value[k] of its entries at a point, derivatives up to the second there. */
void mechanical_run(expr_code *code, const equation_point *at, double *value);
/* The same without a program; false: memory. */
bool mechanical_evaluate(const equation_set *set, const mechanical_matrix *a,
                         const equation_point *at, double *value);

/* M, whose values are given, times the factors of its rows: the position at which elimination finds
 * a negative mass, or with `zero` none at all; -1: it is positive definite, or semidefinite, or too
 * large to look at; -2: memory. */
int mechanical_bad_mass(const mechanical *m, const double *M, bool zero);

#endif
