/* LU of complex matrices with a frozen pivot order: frozen_lu.h for A = R + i S. Sizes of complex
 * numbers are |re| + |im|. */
#ifndef DAE_LINALG_FROZEN_COMPLEX_H
#define DAE_LINALG_FROZEN_COMPLEX_H

#include "linalg/frozen_shape.h"

typedef struct frozen_complex frozen_complex;

frozen_complex *frozen_complex_new(frozen_shape *shape); /* shares it; NULL: memory */
void frozen_complex_free(frozen_complex *f);             /* NULL is fine */
const frozen_shape *frozen_complex_shape(const frozen_complex *f);

/* As frozen_factor and frozen_solve. */
int frozen_complex_factor(frozen_complex *f, const double *re, const double *im, double *growth);
void frozen_complex_solve(frozen_complex *f, double *re, double *im);

#endif
