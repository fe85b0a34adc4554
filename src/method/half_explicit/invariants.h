/* Projection onto first integrals that the user declared [HW96 VII.2 (2.12)-(2.13)]. */
#ifndef DAE_METHOD_HALF_EXPLICIT_INVARIANTS_H
#define DAE_METHOD_HALF_EXPLICIT_INVARIANTS_H

#include "method/half_explicit/hem_parts.h"

typedef struct invariant_work invariant_work;

invariant_work *invariant_work_new(const hem_cache *c,
                                   const method_context *ctx); /* NULL: memory */
void invariant_work_free(invariant_work *v);                   /* NULL is fine */

/* Whether the invariants are functions of t and x alone. */
hem_failure invariants_check_arguments(hem_cache *c, const method_context *ctx, double t,
                                       const double *x, const double *k, const double *w);
/* Whether the invariants are such at (t, x) with x' = k: their derivatives along the solution are 0
 * but for a part `allowed` of the terms that they are sums of. */
hem_failure invariants_check(hem_cache *c, const method_context *ctx, double t, const double *x,
                             const double *k, const double *w, double allowed);
/* Move x along the constraints to where the invariants are what they were at the start; factors
 * of the form belong to x. */
hem_failure invariants_project(hem_cache *c, const method_context *ctx, double t, double *x,
                               const double *k, const double *w);

#endif
