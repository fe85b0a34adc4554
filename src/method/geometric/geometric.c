/* Geometric integration: the frame around the steps of geometric_steps.c and geometric_lobatto.c.
 */
#include "method/geometric/geometric.h"

#include "base/memory.h"
#include "base/vector.h"
#include "method/common/stages.h"

#include <math.h>
#include <string.h>

/* Symmetric compositions of order 4 [Suz90], 6 and 8 [KL97], as in [HLW06 V.3.2] */
const composition composition_plain = {.order = 2, .count = 1, .gamma = {1.0}};
const composition composition_4 = {.order = 4,
                                   .count = 5,
                                   .gamma = {0.41449077179437573714, 0.41449077179437573714,
                                             -0.65796308717750294856, 0.41449077179437573714,
                                             0.41449077179437573714}};
const composition composition_6 = {
    .order = 6,
    .count = 9,
    .gamma = {0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981,
              0.08221359629355080023, 0.79854399093482996340, 0.08221359629355080023,
              -0.70624617255763935981, 0.33259913678935943860, 0.39216144400731413928}};
const composition composition_8 = {
    .order = 8,
    .count = 17,
    .gamma = {0.13020248308889008088, 0.56116298177510838456, -0.38947496264484728641,
              0.15884190655515560090, -0.39590389413323757734, 0.18453964097831570709,
              0.25837438768632204729, 0.29501172360931029887, -0.60550853383003451170,
              0.29501172360931029887, 0.25837438768632204729, 0.18453964097831570709,
              -0.39590389413323757734, 0.15884190655515560090, -0.38947496264484728641,
              0.56116298177510838456, 0.13020248308889008088}};

typedef enum geometric_kind { KIND_EULER, KIND_SHAKE, KIND_RATTLE, KIND_LOBATTO } geometric_kind;

/* What tells one of them from the others. */
typedef struct geometric_table {
    geometric_kind kind;
    const composition *composition;
    int stages; /* of a Lobatto pair; 0: it is none */
} geometric_table;

/* What survives between steps: both ends of the last one. */
typedef struct geometric_state {
    geometric_kind kind;
    const composition *composition;
    double t, t_old;
    bool stepped;
    double h_half;             /* SHAKE: half is v(t - h_half/2); 0: there is none yet */
    mechanism_failure failure; /* of the start */
    int culprit;               /* coordinate that is not separable from momenta, or -1 */
    double *x, *k, *lambda, *x_old, *k_old, *lambda_old; /* as they are reported */
    double *own, *half; /* own: where the next step begins, x if nothing is projected onto */
} geometric_state;

typedef struct geometric_scratch {
    double t, h;
    double *x, *k, *lambda, *own, *half, *y, *yp, *work;
} geometric_scratch;

static const method_memory geometric_memory = {
    .state = {sizeof(geometric_state), {VECTORS(geometric_state, x, half)}},
    .gaps = {GAP(geometric_state, composition), GAP(geometric_state, failure)},
    .scratch = {sizeof(geometric_scratch), {VECTORS(geometric_scratch, x, work)}},
};

/* ---- cache ---- */

static void geometric_cache_free(void *cache)
{
    geometric_cache *c = cache;
    if (!c) return;
    mechanism_free(&c->system);
    saddle_free(c->mass);
    geometric_keeper_free(c);
    dae_free_all(c->x, c);
}

static void geometric_cache_persist(void *cache, const method_context *ctx, persist *p)
{
    geometric_cache *c = cache;
    const persist_home home = {{c->x, c->system.block}};
    PERSIST(p, c->mass_factored);
    PERSIST(p, c->by_velocity);
    persist_block(p, c->x);
    mechanism_persist(&c->system, c->x, p);
    saddle_persist(c->mass, &home, p);
    geometric_keeper_persist(c, ctx, p);
}

/* A solver for M alone. */
static saddle *mass_solver(const mechanical_form *m)
{
    saddle_shape shape = mechanism_shape(m);
    shape.m = 0;
    shape.C = (saddle_layout){NULL, NULL};
    return saddle_new(&shape);
}

/* All vectors of the cache; false: memory. */
static bool take_memory(geometric_cache *c)
{
    const mechanical_form *m = c->system.form;
    size_t nq = (size_t)m->nq, nl = (size_t)m->nl;
    enum { S = GEOMETRIC_STAGES };
    return SHARED_BLOCK(SHARE(c->x, 2 * nq), SHARE(c->half, 2 * nq), SHARE(c->last, 2 * nq),
                        SHARE(c->p, 2 * nq), SHARE(c->phi, 2 * nq), SHARES(c->Q, S, nq),
                        SHARES(c->V, S, nq), SHARES(c->P, S, nq), SHARES(c->force, S, nq),
                        SHARES(c->Lambda, S, nl), SHARE(c->residual, S * nl));
}

static void *geometric_cache_new(const method_context *ctx)
{
    const geometric_table *table = ctx->method->table;
    geometric_cache *c = DAE_NEW(geometric_cache);
    bool fits = c && mechanism_new(&c->system, ctx) && take_memory(c);
    if (fits) fits = (c->mass = mass_solver(c->system.form)) != NULL;
    if (fits) fits = geometric_keeper_new(c, ctx);
    if (fits && table->stages > 0) lobatto_pair_fill(&c->pair, table->stages);
    if (fits) return c;
    geometric_cache_free(c);
    return NULL;
}

/* ---- start ---- */

/* Whether f(t, q, v) changes with v, seen at three velocities around the one given; *component is
 * the first that does. */
static mechanism_failure look_at_forces(geometric_cache *c, double t, const double *x,
                                        int *component)
{
    mechanism *m = &c->system;
    const int nq = m->form->nq;
    const double factor[3] = {-1.0, 2.0, 0.5};
    mechanism_failure failure = mechanism_evaluate(m, t, x, NULL, NULL);
    c->by_velocity = false;
    *component = -1;
    vector_copy(nq, m->force, c->phi);
    vector_copy(nq, x, c->x);
    for (int k = 0; k < 3 && !failure.status && !c->by_velocity; k++) {
        for (int i = 0; i < nq; i++) c->x[nq + i] = factor[k] * x[nq + i] + (k + 1) * 0.1;
        failure = mechanism_evaluate(m, t, c->x, NULL, NULL);
        for (int i = 0; !failure.status && i < nq && !c->by_velocity; i++)
            if (m->force[i] != c->phi[i]) {
                c->by_velocity = true;
                *component = i;
            }
    }
    return failure;
}

/* The first coordinate whose row of M changes with q, seen in M w at another point, or -1 */
static int moving_mass(geometric_cache *c, double t, const double *x)
{
    mechanism *m = &c->system;
    const int nq = m->form->nq;
    double *w = c->half, *before = c->p, *after = c->phi;
    for (int i = 0; i < nq; i++) w[i] = 1.0 + 0.1 * i;
    vector_copy(2 * nq, x, c->x);
    for (int i = 0; i < nq; i++) c->x[i] += 1e-3 * (fabs(x[i]) + 1.0);
    if (mechanism_evaluate(m, t, x, NULL, NULL).status) return -1;
    mechanism_momentum(&c->system, w, before);
    if (mechanism_evaluate(m, t, c->x, NULL, NULL).status) return -1;
    mechanism_momentum(&c->system, w, after);
    for (int i = 0; i < nq; i++)
        if (before[i] != after[i]) return i;
    return -1;
}

/* Explicit steps need M constant and f(t, q); *culprit: the coordinate where that is not so */
static mechanism_failure check_separable(geometric_cache *c, double t, const double *x,
                                         int *culprit)
{
    const char *reason = NULL;
    bool mass = !c->system.form->M_matrix.constant;
    if (mass) *culprit = moving_mass(c, t, x);
    if (mass && *culprit < 0)
        reason = "The mass matrix is not declared to be constant, which this explicit method "
                 "needs: set mass_constant if it is, or take rattle, one of its compositions, "
                 "lobatto4 or lobatto6";
    else if (mass)
        reason = "The mass matrix depends on the positions, so that positions and momenta are not "
                 "separable, which this explicit method needs. Take rattle, one of its "
                 "compositions, lobatto4 or lobatto6";
    else if (c->by_velocity)
        reason = "The force on it depends on velocities, so that positions and momenta are not "
                 "separable, which this explicit method needs. Take rattle, one of its "
                 "compositions, lobatto4 or lobatto6";
    return reason ? (mechanism_failure){ATTEMPT_UNSUPPORTED, reason, -1, 0} : mechanism_ok();
}

static void geometric_start(void *state, void *scratch, const method_context *ctx,
                            const start_point *at)
{
    const geometric_table *table = ctx->method->table;
    const geometric_kind kind = table->kind;
    geometric_state *s = state;
    geometric_cache *c = ctx->cache;
    const mechanical_form *m = c->system.form;
    const int n = 2 * m->nq;
    method_clear(ctx, state, scratch);
    s->kind = kind;
    s->composition = table->composition;
    s->t = s->t_old = at->t;
    for (int i = 0; i < n; i++) s->x[i] = at->y[mechanism_place(&c->system, i)];
    c->mass_factored = false;
    for (int i = 0; i < GEOMETRIC_STAGES; i++) vector_zero(m->nl, c->Lambda[i]);
    s->failure = mechanism_restart(&c->system);
    if (!s->failure.status) s->failure = look_at_forces(c, s->t, s->x, &s->culprit);
    if (!s->failure.status && (kind == KIND_EULER || kind == KIND_SHAKE))
        s->failure = check_separable(c, s->t, s->x, &s->culprit);
    if (!s->failure.status)
        s->failure = mechanism_slope_at(&c->system, s->t, s->x, c->system.rate, s->k, s->lambda);
    if (!s->failure.status) s->failure = geometric_keep_start(c, ctx, s->t, s->x, s->k, s->lambda);
    vector_copy(n, s->x, s->own);
    vector_copy(n, s->x, s->x_old);
    vector_copy(n, s->k, s->k_old);
    vector_copy(m->nl, s->lambda, s->lambda_old);
}

/* ---- attempt ---- */

/* The substeps of a composition, from s->own to w->x */
static mechanism_failure compose(const geometric_state *s, geometric_scratch *w, geometric_cache *c,
                                 geometric_step step)
{
    const composition *table = s->composition;
    const int n = 2 * c->system.form->nq;
    double t = s->t;
    mechanism_failure failure = mechanism_ok();
    vector_copy(n, s->own, w->work);
    for (int i = 0; i < table->count && !failure.status; i++) {
        double h = table->gamma[i] * w->h;
        failure = step(c, t, h, w->work, w->x);
        vector_copy(n, w->x, w->work);
        t += h;
    }
    return failure;
}

/* SHAKE goes on with velocities in the middle of steps; those at their ends are for the user. */
static mechanism_failure shake(const geometric_state *s, geometric_scratch *w, geometric_cache *c)
{
    const int nq = c->system.form->nq;
    bool first = s->h_half == 0.0;
    double kick = 0.5 * (w->h + s->h_half);
    const double *u = first ? s->own + nq : s->half;
    mechanism_failure failure = shake_step(c, s->t, w->h, kick, s->own, u, w->x);
    if (failure.status) return failure;
    vector_copy(nq, w->x + nq, w->half);
    failure = mechanism_slope_at(&c->system, w->t, w->x, c->system.rate, w->k, w->lambda);
    if (failure.status) return failure;
    for (int i = 0; i < nq; i++) w->x[nq + i] = w->half[i] + 0.5 * w->h * w->k[nq + i];
    return mechanism_ok();
}

static mechanism_failure one_step(const geometric_state *s, geometric_scratch *w,
                                  geometric_cache *c)
{
    switch (s->kind) {
    case KIND_EULER: return compose(s, w, c, symplectic_euler_step);
    case KIND_SHAKE: return shake(s, w, c);
    case KIND_RATTLE: return compose(s, w, c, rattle_step);
    case KIND_LOBATTO: break;
    }
    for (int i = 0; i < c->pair.stages; i++)
        vector_copy(c->system.form->nl, s->lambda, c->Lambda[i]);
    return compose(s, w, c, lobatto_step);
}

/* y and y' as the driver sees them: y' of multipliers is their mean slope. */
static void assemble(const geometric_state *s, geometric_scratch *w, const mechanism *m)
{
    mechanism_scatter(m, w->x, w->lambda, w->y);
    mechanism_scatter(m, w->k, w->lambda, w->yp);
    for (int i = 0; i < m->form->nl; i++)
        w->yp[mechanism_multiplier(m, i)] = (w->lambda[i] - s->lambda[i]) / w->h;
}

static void geometric_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                              int order, attempt *result)
{
    const geometric_state *s = state;
    geometric_scratch *w = scratch;
    geometric_cache *c = ctx->cache;
    w->t = s->t + h;
    w->h = h;
    stages_begin(result, s->t, h, order, w->y, w->yp);
    mechanism_failure failure = s->failure;
    if (!failure.status) failure = one_step(s, w, c);
    if (!failure.status)
        failure = mechanism_slope_at(&c->system, w->t, w->x, c->system.rate, w->k, w->lambda);
    bool apart = c->keeper && ctx->invariants->output_only;
    if (apart) vector_copy(2 * c->system.form->nq, w->x, w->own);
    if (!failure.status) failure = geometric_keep(c, ctx, w->t, w->x, w->k, w->lambda);
    if (!apart) vector_copy(2 * c->system.form->nq, w->x, w->own);
    mechanism_report(failure, result);
    if (s->failure.status == ATTEMPT_UNSUPPORTED && s->culprit >= 0 && !failure.invariant)
        result->variable = mechanism_place(&c->system, s->culprit);
    if (!failure.status) assemble(s, w, &c->system);
}

static void geometric_accept(void *state, void *scratch, const method_context *ctx)
{
    geometric_state *s = state;
    geometric_scratch *w = scratch;
    const geometric_cache *c = ctx->cache;
    const mechanical_form *m = c->system.form;
    const int n = 2 * m->nq;
    /* velocities in the middle do not know of what is kept: SHAKE begins anew */
    bool keeps = c->keeper && !ctx->invariants->output_only;
    vectors_advance(n, w->x, s->x, s->x_old);
    vectors_advance(n, w->k, s->k, s->k_old);
    vectors_advance(m->nl, w->lambda, s->lambda, s->lambda_old);
    vector_copy(n, w->own, s->own);
    vector_copy(m->nq, w->half, s->half);
    s->h_half = keeps ? 0.0 : w->h;
    s->t_old = s->t;
    s->t = w->t;
    s->stepped = true;
}

/* ---- dense output ---- */

/* Hermite's cubic through a, b with slopes da, db over h, at x in [0, 1], or its derivative */
static double cubic(double a, double b, double da, double db, double h, double x, int derivative)
{
    double rise = b - a, r = 1.0 - x;
    if (derivative)
        return 6.0 * x * r * rise / h + r * (1.0 - 3.0 * x) * da + x * (3.0 * x - 2.0) * db;
    return a + rise * x * x * (3.0 - 2.0 * x) + h * x * r * (r * da - x * db);
}

static void geometric_interpolate(const void *state, const method_context *ctx, double t,
                                  int derivative, double *y)
{
    const geometric_state *s = state;
    const mechanism *m = &((const geometric_cache *)ctx->cache)->system;
    double h = s->t - s->t_old, x = s->stepped ? (t - s->t_old) / h : 1.0;
    bool end = !s->stepped || t == s->t;
    for (int i = 0; i < 2 * m->form->nq; i++)
        y[mechanism_place(m, i)] =
            end ? (derivative ? s->k[i] : s->x[i])
                : cubic(s->x_old[i], s->x[i], s->k_old[i], s->k[i], h, x, derivative);
    for (int i = 0; i < m->form->nl; i++) {
        double rise = s->lambda[i] - s->lambda_old[i];
        double mean = s->stepped ? rise / h : 0.0;
        y[mechanism_multiplier(m, i)] = derivative ? mean : s->lambda[i] - (1.0 - x) * rise;
    }
}

#define GEOMETRIC_METHOD(id, label, about, source, highest, ...)                                   \
    const method method_##id = {.name = label,                                                     \
                                .summary = about,                                                  \
                                .citation = source,                                                \
                                .max_order = highest,                                              \
                                .forms = FORM_MECHANICAL,                                          \
                                .fixed_order = true,                                               \
                                .constant_steps = true,                                            \
                                .keeps_invariants = true,                                          \
                                .shows_invariants = true,                                          \
                                .index_range = "3 (mechanical)",                                   \
                                .table = &(const geometric_table){__VA_ARGS__},                    \
                                METHOD_STEPS(geometric),                                           \
                                METHOD_CACHE(geometric)}

#define HAIRER "Hairer, Lubich, Wanner: Geometric Numerical Integration, 2nd ed., Springer 2006, "

GEOMETRIC_METHOD(symplectic_euler, "symplectic_euler",
                 "symplectic Euler for mechanisms, order 1, constant steps",
                 HAIRER "section VII.1.3", 1, KIND_EULER, &composition_plain, 0);
GEOMETRIC_METHOD(shake, "shake",
                 "SHAKE (Verlet's leapfrog) for mechanisms, order 2, constant steps",
                 "Ryckaert, Ciccotti, Berendsen, J. Comput. Phys. 23 (1977) 327-341", 2, KIND_SHAKE,
                 &composition_plain, 0);
GEOMETRIC_METHOD(rattle, "rattle:2", "RATTLE for mechanisms: symplectic, symmetric, order 2",
                 "Andersen, J. Comput. Phys. 52 (1983) 24-34", 2, KIND_RATTLE, &composition_plain,
                 0);
GEOMETRIC_METHOD(rattle4, "rattle:4", "RATTLE composed to order 4 (5 substeps)",
                 "Suzuki, Phys. Lett. A 146 (1990) 319-323", 4, KIND_RATTLE, &composition_4, 0);
GEOMETRIC_METHOD(rattle6, "rattle:6", "RATTLE composed to order 6 (9 substeps)",
                 "Kahan, Li, Math. Comp. 66 (1997) 1089-1099", 6, KIND_RATTLE, &composition_6, 0);
GEOMETRIC_METHOD(rattle8, "rattle:8", "RATTLE composed to order 8 (17 substeps)",
                 "Kahan, Li, Math. Comp. 66 (1997) 1089-1099", 8, KIND_RATTLE, &composition_8, 0);
GEOMETRIC_METHOD(lobatto4, "lobatto:4", "Lobatto IIIA-IIIB pair for mechanisms, order 4",
                 "Jay, SIAM J. Numer. Anal. 33 (1996) 368-387", 4, KIND_LOBATTO, &composition_plain,
                 3);
GEOMETRIC_METHOD(lobatto6, "lobatto:6", "Lobatto IIIA-IIIB pair for mechanisms, order 6",
                 "Jay, SIAM J. Numer. Anal. 33 (1996) 368-387", 6, KIND_LOBATTO, &composition_plain,
                 4);
