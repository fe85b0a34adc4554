/* An implicit Butcher table of the user in the form of collocation.h. */
#ifndef DAE_METHOD_COMMON_OWN_COLLOCATION_H
#define DAE_METHOD_COMMON_OWN_COLLOCATION_H

#include "daedal.h"
#include "method/common/collocation.h"

enum { OWN_SQUARE = COLLOCATION_STAGES * COLLOCATION_STAGES };

/* The method, with the numbers that it points to. */
typedef struct own_collocation {
    collocation m;
    collocation_blocks blocks;
    double nodes[COLLOCATION_STAGES], b[COLLOCATION_STAGES], d[COLLOCATION_STAGES];
    double error[COLLOCATION_STAGES]; /* y_1 - yhat = sum error_i Z_i; 0: no embedded weights */
    double A[OWN_SQUARE], inverse[OWN_SQUARE], T[OWN_SQUARE], T_inverse[OWN_SQUARE];
    double pair[2 * COLLOCATION_PAIRS];
    int stage_order; /* the largest q with C(q) */
} own_collocation;

/* o = a table that was checked for irk; false: the Schur form of A^-1 was not found. */
bool own_collocation_make(const dae_table *table, own_collocation *o);

#endif
