/* Block triangular form and fill-reducing order of sparse square matrices. */
#ifndef DAE_LINALG_SPARSE_ORDER_H
#define DAE_LINALG_SPARSE_ORDER_H

#include "linalg/matrix.h"

#include <klu.h>

/* klu_analyze in a time that grows with the entries; NULL: memory, or see common->status. With
 * values (NULL: none) large entries come to the diagonal, and the order suits pivots beside it. */
klu_symbolic *sparse_order(const matrix_layout *layout, const double *values, klu_common *common);

/* Operations of a factorisation with pivots on the diagonal, as the symbolic analysis predicts
 * them; < 0: memory, or not known */
double sparse_forecast(const matrix_layout *layout);

/* column_of[i] = column of row i in a transversal of large entries, of smaller ones if there is
 * none; its length, -1: memory */
int large_transversal(const matrix_layout *layout, const double *values, int *column_of);

#endif
