/* Saddle-point systems of half-explicit methods,
 *
 *     [ M  F ] [ x      ]   [ f ]        M: n x n,  F: n x m,  C: m x n,
 *     [ C  0 ] [ lambda ] = [ r ],
 *
 * by the cheapest of five ways. F is B' with B on C's layout (mechanics: B and C are the Jacobian
 * of the constraints at two neighbouring points [BH93 (5.5)]), or a matrix of its own. M may be
 * singular as long as the whole is regular [BH93 (5.3)]. */
#ifndef DAE_LINALG_SADDLE_H
#define DAE_LINALG_SADDLE_H

#include "base/persist.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum saddle_kind {
    SADDLE_RANGE,     /* M = L L' by blocks, S = C M^-1 F: cheap M or few constraints */
    SADDLE_NULL,      /* bases of the null spaces of C and F': few degrees of freedom, singular M */
    SADDLE_SCHUR,     /* the range space, sparse: large, M diagonal */
    SADDLE_AUGMENTED, /* LU of the whole: large and dense */
    SADDLE_SPARSE     /* sparse LU of the whole, one analysis for all values */
} saddle_kind;

typedef enum saddle_status {
    SADDLE_OK = 0,
    SADDLE_DEPENDENT,  /* saddle_row: a row of C (or column of F) that depends on those before it */
    SADDLE_SINGULAR,   /* the constraints are independent, but M is singular on their null space */
    SADDLE_NOT_FINITE, /* a value is not finite */
    SADDLE_MEMORY
} saddle_status;

/* How the values of a matrix lie: by columns; compressed if colptr is not NULL. */
typedef struct saddle_layout {
    const int *colptr, *rowind; /* borrowed by saddle_new only */
} saddle_layout;

typedef struct saddle_shape {
    int n, m;
    saddle_layout M, C, F; /* F is not read if it is transposed */
    bool transposed;       /* F comes as B = F' on C's layout */
    bool identity;         /* M = I: no values are given */
    int block;             /* M is block diagonal with blocks of this size, 1: diagonal, 0: full */
} saddle_shape;

typedef struct saddle saddle;

saddle *saddle_new(const saddle_shape *shape); /* NULL: out of memory */
void saddle_free(saddle *s);                   /* NULL is fine */
/* Save the factors, or read them over a new one of the same shape; F and C of the last
 * factorisation are in the blocks of `home`. */
void saddle_persist(saddle *s, const persist_home *home, persist *p);
saddle_kind saddle_way(const saddle *s);

/* Factor for new values, of which F and C stay borrowed until the next call. M = NULL: M is what it
 * was (or I). F == C in mechanics: symmetric. */
saddle_status saddle_factor(saddle *s, const double *M, const double *F, const double *C);

/* (x, lambda) := solution for the right-hand side (f, r) given in them. */
void saddle_solve(saddle *s, double *x, double *lambda);

/* x alone: the null space way has it without lambda. What r holds afterwards is not said. */
void saddle_solve_x(saddle *s, double *x, double *r);

/* The dependent row after SADDLE_DEPENDENT; -1: not known. */
int saddle_row(const saddle *s);

#endif
