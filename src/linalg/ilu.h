/* Incomplete LU without fill on a CSC pattern: ILU(0) [Saa03 10.3]. */
#ifndef DAE_LINALG_ILU_H
#define DAE_LINALG_ILU_H

#include "base/persist.h"
#include "linalg/matrix.h"

typedef struct ilu ilu;

ilu *ilu_analyse(const matrix_layout *layout); /* NULL: out of memory; diagonal entries are added */
/* Put large entries on the diagonal, where some are small or missing: equations need not stand in
 * the order of the unknowns that they determine, and without pivots that order is all. Once, before
 * the first factorisation, with values of the matrix. Without memory for it nothing changes. */
void ilu_arrange(ilu *f, const matrix_layout *layout, const double *values);
/* False if a pivot vanished and had to be replaced (the factors are still usable). */
bool ilu_factor(ilu *f, const double *values);
void ilu_solve(ilu *f, double *b);
void ilu_persist(ilu *f, const matrix_layout *layout,
                 persist *p); /* the factors, for the same layout */
void ilu_free(ilu *f);

#endif
