/* Whether the numbers agree with the structure: rank and condition of the system Jacobian
 * J_ij = d f_i / d x_j^(d_j - c_i) at a point, block by block. */
#ifndef DAE_STRUCTURE_CERTIFICATE_H
#define DAE_STRUCTURE_CERTIFICATE_H

#include "expr/code.h"
#include "structure/signature.h"

/* The system Jacobian as compiled code, for use at many points. */
typedef struct system_jacobian {
    int n;
    int *start, *column; /* by rows, owned: entries with sigma_ij = d_j - c_i */
    expr *entry;         /* owned */
    expr_code code;
    double *value; /* work */
} system_jacobian;

bool system_jacobian_new(system_jacobian *J, const equation_set *set, const structure *s);
void system_jacobian_free(system_jacobian *J);

typedef struct certificate {
    bool valid;        /* J is numerically nonsingular there: structure and numbers agree */
    bool finite;       /* all entries could be evaluated */
    int block;         /* the worst block, or the first one that is singular */
    int deficiency;    /* n - rank of that block */
    double condition;  /* reciprocal condition estimate of the worst scaled block */
    int *row, *column; /* owned: rows and columns of a null vector pair of that block (left and
                          right null vectors' large components), counts: */
    int row_count, column_count;
} certificate;

/* Scale rows and columns to about 1, then a rank-revealing QR per block (dense up to a few
 * thousand; above that KLU with a condition estimate). tolerance: a block with reciprocal condition
 * below it is singular. False: memory. */
bool certify(const system_jacobian *J, const structure *s, const equation_point *at,
             double tolerance, certificate *result);
void certificate_free(certificate *c);

#endif
