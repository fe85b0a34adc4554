/* BDF for the second order form [Wun05 chapters 3, 4]. */
#ifndef DAE_METHOD_MULTISTEP_BDF2ND_H
#define DAE_METHOD_MULTISTEP_BDF2ND_H

#include "method/common/method.h"

/* What the variants share: a second_matrix as cache. */
void *bdf2nd_cache_new(const method_context *ctx);
void bdf2nd_cache_persist(void *cache, const method_context *ctx, persist *p);
void bdf2nd_cache_free(void *cache);

#endif
