/* Singly diagonally implicit Runge-Kutta methods for F(t, y, y') = 0: stage after stage
 *   F(t + c_i h, Y_i, Y'_i) = 0,  Y_i = X_i + gamma h Y'_i,  X_i = y + h sum_{j<i} a_ij Y'_j
 * by Newton's method with one matrix dF/dy + cj dF/dy', cj = 1 / (gamma h); y_1 = Y_s, or
 * y_1 = y + h sum b_i Y'_i where the table has weights b of its own. */
#ifndef DAE_METHOD_IMPLICIT_SDIRK_H
#define DAE_METHOD_IMPLICIT_SDIRK_H

#include "method/common/method.h"

enum { SDIRK_STAGES = 5, SDIRK_ENTRIES = SDIRK_STAGES * (SDIRK_STAGES - 1) / 2, SDIRK_DENSE = 3 };

typedef struct sdirk_table {
    int stages, order; /* the embedded method has one less */
    double gamma;
    double c[SDIRK_STAGES];
    double a[SDIRK_ENTRIES];                 /* strictly lower triangle by rows */
    double b[SDIRK_STAGES];                  /* weights; all 0: the last row of A */
    double e[SDIRK_STAGES];                  /* estimate = h sum e_i Y'_i, which is O(h^order) */
    double dense[SDIRK_DENSE][SDIRK_STAGES]; /* y(x) = y + h sum_i (sum_k dense_ki x^(k+1)) Y'_i */
} sdirk_table;

extern const sdirk_table sdirk_sdirk2, sdirk_sdirk3, sdirk_sdirk4, sdirk_houbak;

#endif
