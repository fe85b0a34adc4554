/* Block triangular form and fill-reducing order of sparse square matrices. */
#ifndef DAE_LINALG_SPARSE_ORDER_H
#define DAE_LINALG_SPARSE_ORDER_H

#include "linalg/matrix.h"

#include <klu.h>

/* klu_analyze in a time that grows with the entries; NULL: memory, or see common->status. With
 * values (NULL: none) large entries come to the diagonal, and the order suits pivots beside it. */
klu_symbolic *sparse_order(const matrix_layout *layout, const double *values, klu_common *common);

#endif
