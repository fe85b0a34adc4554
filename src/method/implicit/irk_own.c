/* Implicit Runge-Kutta methods by a table of the user.
 *
 * Where b is not the last row of A the ends of steps are projected on the constraints [AP91]: then
 * y keeps the order of the table for index 1 and 2, and algebraic variables have it, too. */
#include <math.h>

#include "base/memory.h"
#include "method/common/own_collocation.h"
#include "method/implicit/irk_parts.h"

/* Nodes of the interpolant that are nearer to each other, or to 0, would magnify errors. */
static const double APART = 0.02;
/* Stages further out say little of the step. */
static const double FURTHEST = 2.0;

/* The table in the forms that steps need. */
typedef struct irk_own {
    own_collocation numbers;
    irk_table table;
} irk_own;

/* Whether stage i is a node of its own: apart from 0, from the last one, and from those before. */
static bool is_node(const collocation *m, unsigned aside, int i)
{
    const bool last = i == m->stages - 1 && collocation_ends(m);
    const double c = m->nodes[i], end = fabs(c - 1.0);
    if (last) return true;
    bool apart = c > APART && c < FURTHEST && end > APART;
    for (int k = 0; k < i; k++)
        apart = apart && ((aside >> k & 1) || fabs(c - m->nodes[k]) > APART);
    return apart;
}

static void fill(irk_own *own, const dae_table *t)
{
    const collocation *m = &own->numbers.m;
    own_collocation_make(t, &own->numbers); /* it could be made when the table was checked */
    unsigned aside = 0;
    int nodes = 0;
    for (int i = 0; i < m->stages; i++) {
        bool node = is_node(m, aside, i);
        nodes += node;
        if (!node) aside |= 1U << i;
    }
    const int order = own->numbers.stage_order;
    own->table = (irk_table){.m = m,
                             .project = !collocation_ends(m),
                             .estimate = t->has_embedded ? IRK_EMBEDDED : IRK_LEFT_SLOPE,
                             .power = t->has_embedded ? t->embedded_order + 1
                                                      : (order < nodes ? order : nodes) + 1,
                             .aside = aside,
                             .error = own->numbers.error,
                             .index1 = t->index < 2};
}

static void *own_irk_cache_new(const method_context *ctx)
{
    (void)ctx;
    return DAE_NEW(irk_own);
}

/* A start fills it from the options. */
static void own_irk_cache_persist(void *cache, const method_context *ctx, persist *p)
{
    (void)cache, (void)ctx, (void)p;
}

static void own_irk_cache_free(void *cache)
{
    dae_free(cache);
}

static void own_irk_start(void *state, void *scratch, const method_context *ctx,
                          const start_point *at)
{
    irk_own *own = ctx->cache;
    fill(own, ctx->options->table);
    irk_begin(&own->table, state, scratch, ctx, at);
}

const method method_own_irk = {
    .name = "irk:table",
    .summary = "implicit Runge-Kutta by a table of the user",
    .citation = "the user's table",
    .max_order = 10,
    .fixed_order = true,
    .rough_between = true,
    .takes_table = TABLE_IRK,
    .needs_rows = true,
    .index_range = "1 to 2",
    .memory = &irk_memory,
    .start = own_irk_start,
    .attempt = irk_attempt,
    .accept = irk_accept,
    .interpolate = irk_interpolate,
    METHOD_CACHE(own_irk),
};
