/* Radau IIA collocation: ends of steps on the constraints of a mechanism, where that is asked for
 * [HW96 VII.2]. */
#include "base/memory.h"
#include "method/implicit/radau_parts.h"

void *radau_cache_new(const method_context *ctx)
{
    radau_cache *c = DAE_NEW(radau_cache);
    bool wanted = ctx->projection != DAE_PROJECTION_AUTO && ctx->projection != DAE_PROJECTION_NONE;
    if (!c || !wanted || projection_new(&c->ends, ctx)) return c;
    dae_free(c);
    return NULL;
}

void radau_cache_free(void *cache)
{
    radau_cache *c = cache;
    if (!c) return;
    projection_free(&c->ends);
    dae_free(c);
}

attempt_status radau_project(radau_scratch *w, const method_context *ctx, attempt *result)
{
    radau_cache *c = ctx->cache;
    if (!c->ends.form) return ATTEMPT_OK;
    c->ends.mechanism.exactly = true;
    c->ends.factored = false; /* steps are too long for the factors of the last one */
    mechanism_failure failure =
        projection_apply(&c->ends, ctx->norm, w->step.t, w->y, w->yp, ctx->projection);
    mechanism_report(failure, result);
    return failure.status;
}
