/* Geometric methods that end every step on invariants which the user declared [HW96 VII.2, Figure
 * 2.3]: directions, checks and iterations are those of explicit methods on manifolds
 * (invariants.h), then the constraints are met to round-off again. What is projected is not
 * symplectic any more, unless the next step goes on with the values before (output_only). */
#include "base/vector.h"
#include "method/geometric/geometric.h"
#include "method/half_explicit/invariants.h"

/* The part of the terms of an invariant that its derivative may be: constraints are met to
 * round-off, the derivative is differenced. */
static const double ALLOWED_CHANGE = 1e-6;
/* A correction of this part of the error weights is the last one. */
static const double ENOUGH = 1e-3;

bool geometric_keeper_new(geometric_cache *c, const method_context *ctx)
{
    const invariant_set *set = ctx->invariants;
    if (!set || !set->project || ctx->projection == DAE_PROJECTION_NONE) return true;
    c->keeper = hem_bare_cache(ctx);
    if (c->keeper) c->keeper->invariants = invariant_work_new(c->keeper, ctx);
    return c->keeper && c->keeper->invariants;
}

void geometric_keeper_free(geometric_cache *c)
{
    if (c->keeper) hem_cache_free(c->keeper); /* with its invariants */
    c->keeper = NULL;
}

void geometric_keeper_persist(geometric_cache *c, const method_context *ctx, persist *p)
{
    if (c->keeper) hem_cache_persist(c->keeper, ctx, p);
}

mechanism_failure geometric_keep_start(geometric_cache *c, const method_context *ctx, double t,
                                       const double *x, const double *k, const double *lambda)
{
    hem_cache *keeper = c->keeper;
    if (!keeper) return mechanism_ok();
    if (!hem_restart(keeper)) return (mechanism_failure){ATTEMPT_MEMORY, NULL, -1, 0};
    mechanism_failure failure = invariants_check_arguments(keeper, ctx, t, x, k, lambda);
    if (failure.status) return failure;
    return invariants_check(keeper, ctx, t, x, k, lambda, ALLOWED_CHANGE);
}

/* x along the tangent space to the invariants, and back to the constraints; *size: how far */
static mechanism_failure keep_once(geometric_cache *c, const method_context *ctx, double t,
                                   double *x, double *k, double *lambda, double *size)
{
    hem_cache *keeper = c->keeper;
    vector_copy(keeper->nx, x, c->last);
    mechanism_failure failure = hem_mechanical_slope(keeper, ctx, t, x, k, lambda, false);
    if (!failure.status) failure = invariants_project(keeper, ctx, t, x, k, lambda);
    if (failure.status) return failure;
    for (int i = 0; i < keeper->nx; i++) c->last[i] -= x[i];
    *size = hem_norm(keeper, ctx->norm, c->last, 0, keeper->nx);
    c->system.exactly = true;
    failure = mechanism_finish(&c->system, ctx, t, x, k, lambda);
    c->system.exactly = false;
    return failure;
}

/* The way back changes the invariants by the square of the way to them: once more, until that is
 * far below the error weights, or round-off. */
mechanism_failure geometric_keep(geometric_cache *c, const method_context *ctx, double t, double *x,
                                 double *k, double *lambda)
{
    enum { ROUNDS = 5 };
    double size = INFINITY, last = INFINITY;
    mechanism_failure failure = mechanism_ok();
    for (int round = 0; c->keeper && round < ROUNDS && !failure.status; round++) {
        failure = keep_once(c, ctx, t, x, k, lambda, &size);
        if (size <= ENOUGH || size >= last) break;
        last = size;
    }
    if (!c->keeper || failure.status) return failure;
    return invariants_check(c->keeper, ctx, t, x, k, lambda, ALLOWED_CHANGE);
}
