/* Column groups for differences: columns of one group share no row [CPR74]. */
#ifndef DAE_LINALG_COLORING_H
#define DAE_LINALG_COLORING_H

#include "linalg/matrix.h"

typedef struct coloring {
    int groups;
    int *start;  /* groups+1, owned: columns of group g are column[start[g] .. start[g+1]-1] */
    int *column; /* n, owned */
} coloring;

/* Dense: one column a group. Banded: every (lower+upper+1)-th column. Sparse: greedy on the column
 * intersection graph, largest first, or a smaller period if one fits; cost at most the sum of
 * squared row lengths. */
bool coloring_build(coloring *c, const matrix_layout *layout);
void coloring_free(coloring *c);

#endif
