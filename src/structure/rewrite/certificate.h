/* Whether the numbers agree with the structure: rank and condition of the system Jacobian
 * J_ij = d f_i / d x_j^(d_j - c_i) at a point, block by block. */
#ifndef DAE_STRUCTURE_REWRITE_CERTIFICATE_H
#define DAE_STRUCTURE_REWRITE_CERTIFICATE_H

#include "expr/code.h"
#include "linalg/linear_solver.h"
#include "linalg/rank.h"
#include "structure/index/signature.h"
#include "structure/rewrite/matched_scale.h"

/* The system Jacobian as compiled code, for use at many points. */
typedef struct system_jacobian {
    int n;
    int *start, *column; /* by rows, owned: entries with sigma_ij = d_j - c_i */
    expr *entry;         /* owned */
    expr_code code;      /* derivatives above the third are read as x[j + n (p - 3)]''' */
    double *value;       /* work */
    int orders;          /* highest derivative that an entry needs */
    int parameters;      /* number of parameters that entries may need */
} system_jacobian;

bool system_jacobian_new(system_jacobian *J, const equation_set *set, const structure *s);
void system_jacobian_free(system_jacobian *J);

typedef struct certificate {
    bool valid;        /* J is numerically nonsingular there: structure and numbers agree */
    bool finite;       /* all entries could be evaluated */
    int block;         /* the worst block, or the first one that is singular; -1: n = 0 */
    int deficiency;    /* n - rank of that block */
    double condition;  /* reciprocal condition estimate of the worst scaled block */
    int *row, *column; /* owned: rows and columns of a null vector pair of that block (left and
                          right null vectors' large components), or of entries that
                          are not finite; counts: */
    int row_count, column_count;
} certificate;

/* Scale rows and columns to about 1, then a rank-revealing QR per block (dense up to a few
 * hundred, or full; else KLU with a condition estimate). tolerance: a block with reciprocal
 * condition below it is singular. An entry that relative changes of its inputs by `tolerance` can
 * bring to zero counts as zero. False: memory. */
bool certify(const system_jacobian *J, const structure *s, const equation_point *at,
             double tolerance, certificate *result);
void certificate_free(certificate *c);

/* ---- the same check at many points, without allocation ----------------------------------------
 */

/* A diagonal block that is factored as a sparse matrix. */
typedef struct watched_block {
    int block;
    matrix_layout layout;  /* owned */
    linear_solver *solver; /* owned */
    double *values;        /* owned */
} watched_block;

/* Everything that a check needs, allocated once. Zero-initialise. */
typedef struct certify_watch {
    const system_jacobian *jacobian; /* borrowed */
    const structure *structure;      /* borrowed */
    double tolerance;
    int *place;            /* position of each column within its block */
    double *value, *moved; /* entries at the point and beside it */
    double *row_scale, *column_scale, *row_most, *column_most;
    double *tape, *moved_tape; /* work of the code */
    double *x, *parameters;    /* inputs beside the point */
    double *high;              /* derivatives above the third, as the code wants them */
    double *missing;           /* NAN, for derivatives that were not given */
    double *dense;             /* a block */
    rank_work rank;
    matched_scale matched;
    watched_block *sparse;
    int sparse_count;
    /* results of the last check */
    bool finite;
    int block, deficiency;
    double condition;
} certify_watch;

bool certify_watch_new(certify_watch *w, const system_jacobian *J, const structure *s,
                       double tolerance); /* false: memory */
void certify_watch_free(certify_watch *w);
/* Whether J is regular at the point. Only a sparse block that must pivot anew allocates. If
 * `deficient` is not NULL, it gets the rank defect of every block (0: regular). */
bool certify_watch_check(certify_watch *w, const equation_point *at, int *deficient);

/* At most `most` null vectors on both sides of diagonal block b, whose entries have these values
 * (in J's order), after it was equilibrated; `scale` (NULL: not wanted) receives the factors of its
 * rows, then of its columns. False: memory. */
bool system_jacobian_null(const system_jacobian *J, const structure *s, const int *place, int b,
                          const double *value, double tolerance, int most, null_space *null,
                          double *scale);

#endif
