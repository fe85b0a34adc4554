/* Radau IIA collocation: ends of steps on the constraints of a mechanism, where that is asked for
 * [HW96 VII.2]. */
#include "base/memory.h"
#include "method/implicit/radau_parts.h"

void *radau_cache_new(const method_context *ctx)
{
    projection *ends = DAE_NEW(projection); /* form = NULL: none */
    bool wanted = ctx->projection != DAE_PROJECTION_AUTO && ctx->projection != DAE_PROJECTION_NONE;
    if (!ends || !wanted || projection_new(ends, ctx)) return ends;
    dae_free(ends);
    return NULL;
}

void radau_cache_persist(void *cache, const method_context *ctx, persist *p)
{
    (void)ctx;
    projection_persist(cache, p);
}

void radau_cache_free(void *cache)
{
    if (cache) projection_free(cache);
    dae_free(cache);
}

attempt_status radau_project(radau_scratch *w, const method_context *ctx, attempt *result)
{
    projection *ends = ctx->cache;
    if (!ends->form) return ATTEMPT_OK;
    ends->mechanism.exactly = true;
    ends->factored = false; /* steps are too long for the factors of the last one */
    mechanism_failure failure =
        projection_apply(ends, ctx->norm, w->step.t, w->y, w->yp, ctx->projection);
    mechanism_report(failure, result);
    return failure.status;
}
