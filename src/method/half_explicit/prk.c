/* Explicit Runge-Kutta methods on manifolds: prk, which takes mechanisms and chooses its table, and
 * dopri5, dop853 and euler for every form that is one [HW96 VII.2].
 *
 * On the mechanical form each stage solves [M G'; G 0] (v', lambda) = (f, -curvature) at its own
 * point: one evaluation of everything and one factorisation of a symmetric structure. Half-explicit
 * methods need G at two points a stage and conditions of their own; here any table of classical
 * order p has order p, so that the pairs of Dormand and Prince of order 5 and 8 are at hand. The
 * price: the curvature has to be known (docs/forms.md says how it is differenced if it is not
 * given). */
#include "method/half_explicit/hem_parts.h"

#include "base/memory.h"

#include <math.h>

/* From here on order 8 takes no more evaluations than order 5 for the same error, on pendulum,
 * Andrews, car axis and a chain; on the car axis it takes half of them for 4 digits. */
static const double TIGHT = 3e-3;

/* The estimate of order 8 is made of two of orders 5 and 3, as if all terms behind their first ones
 * were small: the error of a step is up to ten times of it (linkages near their dead centres), and
 * those of all steps add up. So it counts ten times, for a third more steps. */
static const double CAUTION = 10.0;

static double finest_tolerance(const error_norm *norm)
{
    double least = norm->rtol_by_variable ? INFINITY : norm->rtol;
    for (int i = 0; norm->rtol_by_variable && i < norm->n; i++)
        least = fmin(least, norm->rtol_by_variable[i]);
    return least;
}

/* The table as the engine reads it */
static void fill_table(hem_cache *c, const tableau *source)
{
    rounded_tableau *r = c->tableau;
    if (c->filled == source) return;
    c->filled = source;
    tableau_round(source, r);
    c->own = (hem_table){.stages = r->stages,
                         .order = r->order,
                         .stable = r->stable,
                         .error_order = r->order - 1,
                         .transversal = true,
                         .a = (const double(*)[HEM_STAGES])r->a,
                         .c = r->c,
                         .error_end = r->error[r->stages],
                         .caution = r->has_low ? CAUTION : 1.0,
                         .exact = r};
    for (int i = 0; i < r->stages; i++) {
        c->own.error[i] = r->error[i];
        if (r->has_low) c->own.coarse[i] = r->error_low[i];
    }
    hem_look_prepare(&c->own);
}

static hem_cache *bare_cache(const method_context *ctx)
{
    hem_cache *c = hem_bare_cache(ctx);
    if (!c || !ctx->forms) return c;
    c->tableau = DAE_NEW(rounded_tableau);
    c->dense_block = DAE_ARRAY(double, (TABLEAU_MOST_ALL + TABLEAU_MOST_ROWS) * (size_t)c->nx);
    if (!c->tableau || !c->dense_block || !hem_exact_cache(c, ctx)) {
        hem_cache_free(c);
        return NULL;
    }
    double *at = c->dense_block;
    for (int k = 0; k < TABLEAU_MOST_ALL; k++, at += c->nx) c->slopes[k] = at;
    for (int k = 0; k < TABLEAU_MOST_ROWS; k++, at += c->nx) c->rows[k] = at;
    return c;
}

static void *prk_cache_new(const method_context *ctx)
{
    return hem_cache_with(ctx, bare_cache(ctx), bare_cache(ctx));
}

static void start_with(const tableau *table, void *state, void *scratch, const method_context *ctx,
                       const start_point *at)
{
    hem_cache *c = ctx->cache;
    fill_table(c, table);
    hem_start(&c->own, state, scratch, ctx, at);
}

static void prk_start(void *state, void *scratch, const method_context *ctx, const start_point *at)
{
    bool tight = finest_tolerance(ctx->norm) < TIGHT;
    start_with(tight ? &tableau_dop853 : &tableau_dopri5, state, scratch, ctx, at);
}

static void dopri5_start(void *state, void *scratch, const method_context *ctx,
                         const start_point *at)
{
    start_with(&tableau_dopri5, state, scratch, ctx, at);
}

static void dop853_start(void *state, void *scratch, const method_context *ctx,
                         const start_point *at)
{
    start_with(&tableau_dop853, state, scratch, ctx, at);
}

static void euler_start(void *state, void *scratch, const method_context *ctx,
                        const start_point *at)
{
    start_with(&tableau_euler, state, scratch, ctx, at);
}

const method method_prk = {
    .name = "prk",
    .summary = "explicit Runge-Kutta of order 5 or 8 for mechanisms, every step projected",
    .citation = "Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., Springer "
                "1996, section VII.2",
    .max_order = 8,
    .forms = FORM_MECHANICAL,
    .fixed_order = true,
    .projects = true,
    .on_manifold = true,
    .keeps_invariants = true,
    .index_range = "3 (mechanical)",
    .size = hem_size,
    .start = prk_start,
    .attempt = hem_attempt,
    .accept = hem_accept,
    .interpolate = hem_interpolate,
    .cache_new = prk_cache_new,
    .cache_free = hem_cache_free};

const method method_dopri5 = {
    .name = "dopri5",
    .summary = "explicit Runge-Kutta of Dormand and Prince, order 5, on manifolds",
    .citation =
        "Dormand, Prince: A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6 "
        "(1980) 19-26; Hairer, Wanner 1996, section VII.2",
    .max_order = 5,
    .forms = FORM_MECHANICAL | FORM_HESSENBERG | FORM_MANIFOLD,
    .fixed_order = true,
    .projects = true,
    .on_manifold = true,
    .keeps_invariants = true,
    .index_range = "any",
    .size = hem_size,
    .start = dopri5_start,
    .attempt = hem_attempt,
    .accept = hem_accept,
    .interpolate = hem_interpolate,
    .cache_new = prk_cache_new,
    .cache_free = hem_cache_free};

const method method_dop853 = {
    .name = "dop853",
    .summary = "explicit Runge-Kutta of Dormand and Prince, order 8, on manifolds",
    .citation =
        "Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer "
        "1993, section II.10; Hairer, Wanner 1996, section VII.2",
    .max_order = 8,
    .forms = FORM_MECHANICAL | FORM_HESSENBERG | FORM_MANIFOLD,
    .fixed_order = true,
    .projects = true,
    .on_manifold = true,
    .keeps_invariants = true,
    .index_range = "any",
    .size = hem_size,
    .start = dop853_start,
    .attempt = hem_attempt,
    .accept = hem_accept,
    .interpolate = hem_interpolate,
    .cache_new = prk_cache_new,
    .cache_free = hem_cache_free};

const method method_euler = {
    .name = "euler",
    .summary = "explicit Euler on manifolds, constant steps",
    .citation = "Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., Springer "
                "1996, section VII.2",
    .max_order = 1,
    .forms = FORM_MECHANICAL | FORM_HESSENBERG | FORM_MANIFOLD,
    .fixed_order = true,
    .constant_steps = true,
    .projects = true,
    .on_manifold = true,
    .keeps_invariants = true,
    .index_range = "any",
    .size = hem_size,
    .start = euler_start,
    .attempt = hem_attempt,
    .accept = hem_accept,
    .interpolate = hem_interpolate,
    .cache_new = prk_cache_new,
    .cache_free = hem_cache_free};
