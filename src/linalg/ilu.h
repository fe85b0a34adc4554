/* Incomplete LU without fill on a CSC pattern: ILU(0) [Saa03 10.3]. */
#ifndef DAE_LINALG_ILU_H
#define DAE_LINALG_ILU_H

#include "linalg/matrix.h"

typedef struct ilu ilu;

ilu *ilu_analyse(const matrix_layout *layout); /* NULL: out of memory; diagonal entries are added */
/* False if a pivot vanished and had to be replaced (the factors are still usable). */
bool ilu_factor(ilu *f, const double *values);
void ilu_solve(const ilu *f, double *b);
void ilu_free(ilu *f);

#endif
