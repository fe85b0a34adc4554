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

/* From here on order 8 takes no more evaluations than order 5 for the same error, on pendulum,
 * Andrews, car axis and a chain; on the car axis it takes half of them for 4 digits. */
static const double TIGHT = 3e-3;

/* The estimate of order 8 is made of two of orders 5 and 3, as if all terms behind their first ones
 * were small: the error of a step is up to ten times of it (linkages near their dead centres), and
 * those of all steps add up. So it counts ten times, for a third more steps. */
static const double CAUTION = 10.0;

/* The rounded table as the engine reads it; its error is O(h^(error_order + 1)) */
static void fill_table(hem_cache *c, int error_order)
{
    const rounded_tableau *r = c->tableau;
    c->own = (hem_table){.stages = r->stages,
                         .order = r->order,
                         .stable = r->stable,
                         .error_order = error_order,
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
    bool fits = SHARED_BLOCK(SHARES(c->slopes, TABLEAU_MOST_ALL, c->nx),
                             SHARES(c->rows, TABLEAU_MOST_ROWS, c->nx));
    if (c->tableau && fits && hem_exact_cache(c, ctx)) return c;
    hem_cache_free(c);
    return NULL;
}

static void *prk_cache_new(const method_context *ctx)
{
    return hem_cache_with(ctx, bare_cache(ctx), bare_cache(ctx));
}

static void prk_start(void *state, void *scratch, const method_context *ctx, const start_point *at)
{
    hem_cache *c = ctx->cache;
    const tableau *own = ctx->method->table;
    const tableau *usual = norm_finest(ctx->norm) < TIGHT ? &tableau_dop853 : &tableau_dopri5;
    const tableau *source = own ? own : usual;
    if (c->filled != source) {
        tableau_round(source, c->tableau);
        fill_table(c, c->tableau->order - 1);
    }
    c->filled = source;
    hem_start(&c->own, state, scratch, ctx, at);
}

/* By a table of the user. */
static void own_start(void *state, void *scratch, const method_context *ctx, const start_point *at)
{
    hem_cache *c = ctx->cache;
    const dae_table *t = ctx->options->table;
    own_tableau(t, c->tableau);
    fill_table(c, t->has_embedded ? t->embedded_order : t->order - 1);
    hem_start(&c->own, state, scratch, ctx, at);
}

#define EXPLICIT_METHOD(id, label, about, source, highest, FORMS, INDEX, TABLE)                    \
    const method method_##id = {.name = label,                                                     \
                                .summary = about,                                                  \
                                .citation = source,                                                \
                                .max_order = highest,                                              \
                                .forms = FORMS,                                                    \
                                .fixed_order = true,                                               \
                                .constant_steps = (highest) == 1,                                  \
                                .projects = true,                                                  \
                                .on_manifold = true,                                               \
                                .keeps_invariants = true,                                          \
                                .index_range = INDEX,                                              \
                                .table = TABLE,                                                    \
                                .memory = &hem_memory,                                             \
                                .start = prk_start,                                                \
                                .attempt = hem_attempt,                                            \
                                .accept = hem_accept,                                              \
                                .interpolate = hem_interpolate,                                    \
                                .cache_new = prk_cache_new,                                        \
                                .cache_free = hem_cache_free,                                      \
                                .cache_persist = hem_cache_persist}

#define MANIFOLDS (FORM_MECHANICAL | FORM_HESSENBERG | FORM_MANIFOLD)
#define HAIRER                                                                                     \
    "Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., Springer 1996, section " \
    "VII.2"

EXPLICIT_METHOD(prk, "prk",
                "explicit Runge-Kutta of order 5 or 8 for mechanisms, every step projected", HAIRER,
                8, FORM_MECHANICAL, "3 (mechanical)", NULL);
EXPLICIT_METHOD(dopri5, "dopri:5",
                "explicit Runge-Kutta of Dormand and Prince, order 5, on manifolds",
                "Dormand, Prince: A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. "
                "6 (1980) 19-26; Hairer, Wanner 1996, section VII.2",
                5, MANIFOLDS, "any", &tableau_dopri5);
EXPLICIT_METHOD(dop853, "dopri:8",
                "explicit Runge-Kutta of Dormand and Prince, order 8, on manifolds",
                "Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., "
                "Springer 1993, section II.10; Hairer, Wanner 1996, section VII.2",
                8, MANIFOLDS, "any", &tableau_dop853);
const method method_own_prk = {.name = "prk:table",
                               .summary = "explicit Runge-Kutta by a table of the user, for "
                                          "mechanisms, every step projected",
                               .citation = "the user's table",
                               .max_order = 10,
                               .forms = FORM_MECHANICAL,
                               .fixed_order = true,
                               .projects = true,
                               .on_manifold = true,
                               .keeps_invariants = true,
                               .takes_table = TABLE_PRK,
                               .index_range = "3 (mechanical)",
                               .memory = &hem_memory,
                               .start = own_start,
                               .attempt = hem_attempt,
                               .accept = hem_accept,
                               .interpolate = hem_interpolate,
                               .cache_new = prk_cache_new,
                               .cache_free = hem_cache_free,
                               .cache_persist = hem_cache_persist};
EXPLICIT_METHOD(euler, "euler", "explicit Euler on manifolds, constant steps", HAIRER, 1, MANIFOLDS,
                "any", &tableau_euler);
