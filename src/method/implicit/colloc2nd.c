/* Collocation for F(t, x, x', x'') = 0, Gauss and Radau IIA with 1 to 5 stages [Wun05 6].
 *
 * Linear systems have the size of x, half that of the first order form. Where the problem offers
 * its mechanical form every step ends on the constraints of all levels, which gives Radau IIA the
 * order 2s - 1 and Gauss the order s in positions, velocities and multipliers.
 * docs/methods/colloc2nd.md has the formulas. */
#include "method/implicit/colloc2nd_parts.h"

#include "base/memory.h"
#include "base/vector.h"

/* Part of the error weights to which positions are projected: the error estimate of the next step
 * sees what is left, ten times. */
static const double POSITION_TOLERANCE = 1e-3;

/* Steps this many times as long as the last one are not predicted by its polynomials. */
static const double FARTHEST = 10.0;

/* Growth a step of the limit that a failure of Newton's method sets. */
static const double LIMIT_FADES = 1.4;

/* ---- small matrices ---- */

/* reciprocal_j = 1 / prod_{i != j} (node_j - node_i) */
static void lagrange_reciprocals(int count, const double *node, double *reciprocal)
{
    for (int j = 0; j < count; j++) {
        double product_of = 1.0;
        for (int i = 0; i < count; i++)
            if (i != j) product_of *= node[j] - node[i];
        reciprocal[j] = 1.0 / product_of;
    }
}

/* weight_j = l_j(x), the Lagrange polynomials on these nodes */
static void lagrange_weights(int count, const double *node, const double *reciprocal, double x,
                             double *weight)
{
    for (int j = 0; j < count; j++) {
        weight[j] = reciprocal[j];
        for (int i = 0; i < count; i++)
            if (i != j) weight[j] *= x - node[i];
    }
}

static void product(int s, const double *X, const double *Y, double *XY)
{
    collocation_combine(s, s, s, 1.0, X, Y, XY);
}

/* Stages on the polynomials of the last step: Z itself, or Z from x'' = A^-2 Z/h^2 at the nodes,
 * and as it is at the start of that step, which is taken on, twice integrated: with the weights
 * (L_0, L) of these values
 *   Z = r^2 A^2 (L_0 h^2 x''_0 + L A^-2 Z) = E_0 h^2 x''_0 + E_2 Z */
static void extrapolations(const colloc2nd_cache *c, colloc2nd_scratch *w, double r)
{
    const collocation *m = c->kind->m;
    const int s = m->stages, known = c->known, first = known - s;
    double L[COLLOC2ND_STAGES * (COLLOC2ND_STAGES + 1)],
        X[COLLOC2ND_STAGES * (COLLOC2ND_STAGES + 1)];
    if (r == w->ratio) return;
    w->ratio = r;
    for (int i = 0; i < s; i++)
        lagrange_weights(known, c->node, c->reciprocal, 1.0 + r * m->nodes[i], L + i * known);
    for (int i = 0; i < s * s && first; i++) w->E1[i] = L[i + i / s + 1] - c->end[i % s];
    if (!first) collocation_extrapolation(m, m, r, w->E1);
    collocation_combine(s, s, known, r * r, c->square, L, X);
    for (int i = 0; i < s; i++) {
        collocation_combine(1, s, s, 1.0, X + i * known + first, c->inverse_2, w->E2 + i * s);
        w->E0[i] = first ? X[i * known] : 0.0;
    }
}

/* ---- memory ---- */

static const method_memory colloc2nd_memory = {
    .state = {sizeof(colloc2nd_state),
              {VECTORS(colloc2nd_state, y, yp_old),
               BLOCKS(colloc2nd_state, past[0], past[COLLOC2ND_PAST - 1], 2),
               BLOCKS(colloc2nd_state, Z, Z, COLLOC2ND_STAGES)}},
    .gaps = {GAP(colloc2nd_state, failure)},
    .scratch = {sizeof(colloc2nd_scratch),
                {VECTORS(colloc2nd_scratch, x0, v_scale),
                 BLOCKS(colloc2nd_scratch, Z, predicted, COLLOC2ND_STAGES)}},
};

static void colloc2nd_cache_free(void *cache)
{
    colloc2nd_cache *c = cache;
    if (!c) return;
    second_matrix_free(c->matrix);
    projection_free(&c->ends);
    dae_free_all(c->inner, c);
}

static void fill_tables(colloc2nd_cache *c)
{
    const collocation *m = c->kind->m;
    const int s = m->stages, first = c->kind->thesis ? 0 : 1;
    product(s, m->A, m->A, c->square);
    product(s, m->inverse, m->inverse, c->inverse_2);
    collocation_weights(m, 1.0, 0, c->end);
    lagrange_reciprocals(s, m->nodes, c->reciprocal);
    lagrange_weights(s, m->nodes, c->reciprocal, 1.0, c->beyond);
    c->known = s + first;
    vector_copy(s, m->nodes, c->node + first);
    lagrange_reciprocals(c->known, c->node, c->reciprocal);
    bool gauss = m->nodes[s - 1] < 1.0; /* Radau IIA is tested against much more */
    for (int j = 0; j < s && gauss; j++) c->amplifies += fabs(m->left[j]) / m->gamma;
}

/* Arrays of the cache, whose projection is there */
static bool allocate(colloc2nd_cache *c, const method_context *ctx)
{
    const int n = ctx->n, nx = ctx->second->n, nq = c->ends.form ? c->ends.form->nq : 0;
    return SHARED_BLOCK(SHARE(c->inner, COLLOC2ND_INNER * projection_followers(&c->ends)),
                        SHARE(c->inner_slopes, COLLOC2ND_INNER * colloc2nd_elements(c)),
                        SHARE(c->inner_bumps, COLLOC2ND_INNER * nq),
                        SHARE(c->inner_rest, COLLOC2ND_INNER * nq), SHARE(c->inner_work, 2 * n),
                        SHARES(c->inner_samples, COLLOC2ND_SAMPLES, n), SHARE(c->drifts, nx),
                        SHARE(c->loose, nx));
}

static void *colloc2nd_cache_new(const method_context *ctx)
{
    const colloc2nd_kind *kind = ctx->method->table;
    colloc2nd_cache *c = DAE_NEW(colloc2nd_cache);
    if (!c) return NULL;
    const second_order *second = ctx->second;
    c->kind = kind;
    fill_tables(c);
    bool projects = !kind->thesis && ctx->projection != DAE_PROJECTION_NONE;
    bool fits = !projects || projection_new(&c->ends, ctx);
    /* the estimate of Gauss methods has what positions are off by over h, in velocities */
    c->ends.mechanism.enough = kind->m->nodes[kind->m->stages - 1] < 1.0 ? 0.0 : POSITION_TOLERANCE;
    fits = allocate(c, ctx) && fits;
    bool factors = !ctx->newton->matrix->matrix_free; /* else the first attempt tells */
    if (factors) c->matrix = second_matrix_new(second, ctx->newton->matrix, kind->m->pairs);
    if (!fits || (factors && !c->matrix)) {
        colloc2nd_cache_free(c);
        return NULL;
    }
    for (int k = 0; k < second->n; k++) c->drifts[k] = second->velocity[k] >= 0 || kind->thesis;
    return c;
}

static void colloc2nd_cache_persist(void *cache, const method_context *ctx, persist *p)
{
    colloc2nd_cache *c = cache;
    (void)ctx;
    PERSIST(p, c->evaluated);
    PERSIST(p, c->h);
    PERSIST(p, c->numbered);
    PERSIST(p, c->inner_step);
    PERSIST(p, c->smooth);
    persist_block(p, c->inner); /* and what is behind it */
    projection_persist(&c->ends, p);
    if (c->matrix) second_matrix_persist(c->matrix, p);
}

/* ---- start ---- */

static void colloc2nd_start(void *state, void *scratch, const method_context *ctx,
                            const start_point *at)
{
    colloc2nd_state *s = state;
    colloc2nd_scratch *w = scratch;
    colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    method_clear(ctx, state, scratch);
    s->t = s->t_old = at->t;
    s->step = ++c->numbered;
    c->evaluated = false;
    c->h = 0.0;
    w->newton.eta = 1.0;
    c->inner_step = -1;
    for (int k = 0; k < second->n; k++)
        c->loose[k] = !c->drifts[k] && ctx->norm->kinds &&
                      ctx->norm->kinds[second->place[k]] != DAE_KIND_DIFFERENTIAL;
    vector_copy(ctx->n, at->y, s->y);
    vector_copy(ctx->n, at->yp, s->yp);
    s->failure = projection_start(&c->ends);
    if (!s->failure.status && c->ends.form)
        s->failure = projection_apply(&c->ends, ctx->norm, s->t, s->y, s->yp, DAE_PROJECTION_NONE);
    vector_copy(ctx->n, s->y, s->y_old);
    vector_copy(ctx->n, s->yp, s->yp_old);
}

/* ---- attempt ---- */

void colloc2nd_derivatives(const colloc2nd_scratch *w, const method_context *ctx)
{
    const colloc2nd_cache *c = ctx->cache;
    const collocation *m = c->kind->m;
    const int s = m->stages, n = ctx->second->n;
    collocation_combine(s, s, n, 1.0 / w->h, m->inverse, w->Z, w->D1);
    collocation_combine(s, s, n, 1.0 / w->h, m->inverse, w->D1, w->D2);
}

void colloc2nd_point(const colloc2nd_scratch *w, const method_context *ctx, int i)
{
    const colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    const int n = second->n;
    const size_t row = (size_t)i * (size_t)n;
    const double *Z = w->Z + row, *D1 = w->D1 + row, *D2 = w->D2 + row;
    const double reach = c->kind->m->nodes[i] * w->h;
    for (int k = 0; k < n; k++) {
        const int place = second->place[k], velocity = second->velocity[k];
        const double drift = c->drifts[k] ? w->v0[k] : 0.0, slope = D1[k] + drift;
        w->point[place] = w->x0[k] + Z[k] + reach * drift;
        w->slope[place] = slope;
        if (velocity < 0) continue;
        w->point[velocity] = slope;
        w->slope[velocity] = D2[k];
    }
}

/* On a first step with x'' or x' as they are there, and as x0 alone if that failed */
static void predict_first(const colloc2nd_state *s, colloc2nd_scratch *w, const method_context *ctx)
{
    const colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    for (int i = 0; i < c->kind->m->stages; i++) {
        double reach = w->tries == 1 ? c->kind->m->nodes[i] * w->h : 0.0;
        for (int k = 0; k < second->n; k++) {
            double *Z = w->Z + (size_t)i * (size_t)second->n + k;
            if (second->velocity[k] >= 0)
                *Z = 0.5 * reach * reach * s->yp[second->velocity[k]];
            else
                *Z = c->drifts[k] || c->loose[k] ? 0.0 : reach * w->v0[k];
        }
    }
}

/* Stages on the polynomials of the last step */
static void predict(const colloc2nd_state *s, colloc2nd_scratch *w, const method_context *ctx)
{
    const colloc2nd_cache *c = ctx->cache;
    const int stages = c->kind->m->stages, n = ctx->second->n;
    second_order_gather(ctx->second, s->y, s->yp, w->x0, w->v0);
    if (s->taken == 0 || fabs(w->h) > FARTHEST * fabs(s->accepted_h)) {
        predict_first(s, w, ctx);
        return;
    }
    extrapolations(c, w, w->h / s->accepted_h);
    for (int k = 0; k < n; k++) {
        const int velocity = ctx->second->velocity[k];
        w->xpp[k] = velocity >= 0 ? s->yp_old[velocity] : 0.0;
    }
    collocation_combine(stages, stages, n, 1.0, w->E1, s->Z, w->Z);
    collocation_combine(stages, 1, n, s->accepted_h * s->accepted_h, w->E0, w->xpp, w->work);
    collocation_combine_add(stages, stages, n, 1.0, w->E2, s->Z, w->work);
    for (int k = 0; k < n; k++)
        for (int i = 0; c->drifts[k] && i < stages; i++) w->Z[i * n + k] = w->work[i * n + k];
}

/* y and y' at the end of the step */
static void finish(colloc2nd_scratch *w, const method_context *ctx)
{
    const colloc2nd_cache *c = ctx->cache;
    const int s = c->kind->m->stages, n = ctx->second->n;
    double *rise = w->work, *bare = w->work + n;
    colloc2nd_derivatives(w, ctx);
    collocation_combine(1, s, n, 1.0, c->end, w->Z, rise);
    collocation_combine(1, s, n, 1.0, c->beyond, w->Z, bare);
    for (int k = 0; k < n; k++)
        w->x[k] =
            w->x0[k] + (c->loose[k] ? bare[k] : rise[k]) + (c->drifts[k] ? w->h * w->v0[k] : 0.0);
    collocation_combine(1, s, n, 1.0, c->end, w->D1, rise);
    collocation_combine(1, s, n, 1.0, c->beyond, w->D1, bare);
    for (int k = 0; k < n; k++) w->xp[k] = c->drifts[k] ? w->v0[k] + rise[k] : bare[k];
    collocation_combine(1, s, n, 1.0, c->beyond, w->D2, w->xpp);
    second_order_spread(ctx->second, w->x, w->xp, w->xpp, w->y, w->yp);
}

/* The end of the step on its constraints */
static attempt_status project(const colloc2nd_state *s, colloc2nd_scratch *w,
                              const method_context *ctx, attempt *result)
{
    colloc2nd_cache *c = ctx->cache;
    if (!c->ends.form) return ATTEMPT_OK;
    mechanism_failure failure =
        projection_apply(&c->ends, ctx->norm, w->t, w->y, w->yp, ctx->projection);
    mechanism_report(failure, result);
    for (int i = 0; !failure.status && i < projection_followers(&c->ends); i++) {
        int l = projection_follower(&c->ends, i);
        w->yp[l] = (w->y[l] - s->y[l]) / w->h;
    }
    return failure.status;
}

/* The part of the step within the bounds, over all stages and the end; 1 if all of it */
static double part_within_bounds(const colloc2nd_state *s, colloc2nd_scratch *w,
                                 const method_context *ctx)
{
    const colloc2nd_cache *c = ctx->cache;
    const dae_residual *form = &ctx->eval->problem->form;
    const int stages = c->kind->m->stages;
    double part = 1.0;
    if (!form->lower_bounds && !form->upper_bounds) return part;
    bound_slack slack = stages_slack(ctx->norm, w->h, &w->first_h);
    for (int i = 0; i <= stages; i++) {
        if (i < stages) colloc2nd_point(w, ctx, i);
        stages_within_bounds(form, slack, i < stages ? c->kind->m->nodes[i] : 1.0, s->y,
                             i < stages ? w->point : w->y, &part, &ctx->newton->bound_variable);
    }
    return part;
}

static attempt_status try_step(const colloc2nd_state *s, colloc2nd_scratch *w,
                               const method_context *ctx, attempt *result)
{
    const colloc2nd_cache *c = ctx->cache;
    predict(s, w, ctx);
    attempt_status status = colloc2nd_solve(s, w, ctx, result);
    if (status != ATTEMPT_OK) return status;
    finish(w, ctx);
    result->bound_ratio = part_within_bounds(s, w, ctx);
    if (result->bound_ratio < 1.0) return ATTEMPT_BOUND;
    status = project(s, w, ctx, result);
    if (status != ATTEMPT_OK) return status;
    if (!c->kind->thesis) return colloc2nd_estimate(s, w, ctx, result);
    colloc2nd_thesis_estimate(s, w, ctx, result);
    return ATTEMPT_OK;
}

/* What comes after this attempt, and what the driver tells about Newton's method */
static void judge(const colloc2nd_state *s, colloc2nd_scratch *w, const method_context *ctx,
                  attempt *result)
{
    const colloc2nd_cache *c = ctx->cache;
    bool solved = result->status == ATTEMPT_OK, passed = solved && result->error <= 1.0;
    if (c->kind->thesis)
        result->next_factor = colloc2nd_thesis_factor(s, w, result);
    else if (solved)
        result->next_factor = colloc2nd_next_factor(s, w, c->kind->m, result->error);
    else
        result->next_factor =
            w->newton_failures < 2 ? w->newton.shrink : fmin(w->newton.shrink, 0.25);
    w->error_failures += solved && !passed;
    w->newton_failures += !solved;
    if (!solved) w->failed_h = fabs(w->h);
    if (solved && !passed && w->newton.ahead) ctx->newton->stale = true;
    ctx->newton->iterations = w->newton.iterations;
    ctx->newton->rate = w->newton.theta;
}

/* Gauss methods amplify variables of higher index, |R(infinity)| = 1, unless each step ends on the
 * constraints. What multipliers do to r' of the full form is not undone well enough for them: their
 * stages are off by O(1) at s = 2. */
static bool refuse_index(const method_context *ctx, attempt *result)
{
    const colloc2nd_cache *c = ctx->cache;
    const collocation *m = c->kind->m;
    const dae_kind *kinds = ctx->norm->kinds;
    const multibody_form *full = c->ends.mechanism.multibody;
    bool stiff = m->nodes[m->stages - 1] == 1.0,
         projected = c->ends.form && !(full && full->pushes);
    if (stiff || projected || c->kind->thesis || ctx->projection == DAE_PROJECTION_NONE)
        return false;
    for (int j = 0; kinds && j < ctx->n; j++) {
        if (kinds[j] != DAE_KIND_INDEX2 && kinds[j] != DAE_KIND_INDEX3) continue;
        return stages_refused(result, j,
                              "does not damp variables of higher index, and without the "
                              "mechanical form cannot project them: choose colloc2nd, or "
                              "formulation index3 or index1");
    }
    return false;
}

/* A velocity whose derivative no equation has, der(x) = y with y = f(x): Gauss methods carry what
 * is wrong with it from step to step, |R(infinity)| = 1, a jump for one. */
static bool refuse_velocity(const method_context *ctx, attempt *result)
{
    const colloc2nd_cache *c = ctx->cache;
    const collocation *m = c->kind->m;
    const second_order *second = ctx->second;
    const dae_kind *kinds = ctx->norm->kinds;
    if (m->nodes[m->stages - 1] == 1.0 || c->kind->thesis || !kinds) return false;
    for (int k = 0; k < second->n; k++) {
        const int v = second->velocity[k];
        if (v < 0 || kinds[v] != DAE_KIND_INDEX1) continue;
        return stages_refused(result, v,
                              "does not damp errors of algebraic variables that are derivatives "
                              "of others: choose colloc2nd, or a method for equations of first "
                              "order");
    }
    return false;
}

static void colloc2nd_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                              int order, attempt *result)
{
    const colloc2nd_state *s = state;
    colloc2nd_scratch *w = scratch;
    const colloc2nd_cache *c = ctx->cache;
    (void)order;
    w->tries++;
    w->t = s->t + h;
    w->h = h;
    stages_begin(result, s->t, h, c->kind->m->order, w->y, w->yp);
    mechanism_report(s->failure, result);
    if (result->status != ATTEMPT_OK || stages_need_matrix(ctx, result)) return;
    if (refuse_index(ctx, result) || refuse_velocity(ctx, result)) return;
    if (c->kind->thesis && thesis_refuses(ctx, result)) return;
    result->status = try_step(s, w, ctx, result);
    judge(s, w, ctx, result);
}

/* ---- accept ---- */

/* (y, y') of the points before the last two, for the polynomials of the thesis variant */
static void keep_past(colloc2nd_state *s, int n)
{
    double *oldest = s->past[COLLOC2ND_PAST - 1];
    for (int i = COLLOC2ND_PAST - 1; i > 0; i--) {
        s->past[i] = s->past[i - 1];
        s->past_t[i] = s->past_t[i - 1];
    }
    s->past[0] = oldest;
    s->past_t[0] = s->t_old;
    vector_copy(n, s->y_old, oldest);
    vector_copy(n, s->yp_old, oldest + n);
}

static void colloc2nd_accept(void *state, void *scratch, const method_context *ctx)
{
    colloc2nd_state *s = state;
    colloc2nd_scratch *w = scratch;
    colloc2nd_cache *c = ctx->cache;
    const int n = ctx->n;
    if (c->kind->thesis) keep_past(s, n);
    s->h_limit = w->failed_h > 0.0 ? w->failed_h : LIMIT_FADES * s->h_limit;
    s->accepted_h = w->h;
    s->accepted_error = fmax(0.01, w->error);
    s->surprise = w->newton.sizes.first * (c->kind->thesis ? 1.0 : w->error_factor);
    s->t_old = s->t;
    s->t = w->t;
    s->step = ++c->numbered;
    s->taken++;
    vectors_advance(n, w->y, s->y, s->y_old);
    vectors_advance(n, w->yp, s->yp, s->yp_old);
    vector_copy(c->kind->m->stages * ctx->second->n, w->Z, s->Z);
    if (colloc2nd_worn(w)) ctx->newton->stale = true;
    w->newton.fresh = w->newton.ahead = false;
    w->tries = w->newton_failures = w->error_failures = 0;
    w->failed_h = w->first_h = 0.0;
}

/* ---- the methods ---- */

#define COLLOC2ND_FAMILY(id, label, about, highest)                                                \
    .name = label, .summary = about,                                                               \
    .citation = "Wunderlich: Numerical Treatment of Second Order Differential-Algebraic "          \
                "Systems, diploma thesis, TU Berlin 2005, chapter 6",                              \
    .max_order = highest, .forms = FORM_SECOND_ORDER, .fixed_order = true, .projects = true,       \
    .index_range = "1 to 3"

#define COLLOC2ND_METHOD(id, label, about, highest, ...)                                           \
    const method method_##id = {                                                                   \
        COLLOC2ND_FAMILY(id, label, about, highest),                                               \
        .rough_between = true,                                                                     \
        .constant_steps = (highest) <= 2,                                                          \
        .table = &(const colloc2nd_kind){__VA_ARGS__},                                             \
        METHOD_STEPS(colloc2nd),                                                                   \
        METHOD_CACHE(colloc2nd),                                                                   \
    }

/* With steps, output and lambda'' as the thesis has them. */
#define COLLOC2ND_THESIS(id, label, about, highest, coefficients)                                  \
    const method method_##id = {                                                                   \
        COLLOC2ND_FAMILY(id, label, about, highest),                                               \
        .own_steps = true,                                                                         \
        .raw_output = true,                                                                        \
        .first_step = thesis_first_step,                                                           \
        .table = &(const colloc2nd_kind){.m = &(coefficients), .thesis = true},                    \
        .memory = &colloc2nd_memory,                                                               \
        .start = colloc2nd_start,                                                                  \
        .attempt = colloc2nd_attempt,                                                              \
        .accept = colloc2nd_accept,                                                                \
        .interpolate = colloc2nd_thesis_interpolate,                                               \
        METHOD_CACHE(colloc2nd),                                                                   \
    }

/* Five stages took least time at equal errors from three digits on (docs/notes/second-order.md). */
COLLOC2ND_METHOD(colloc2nd, "colloc2nd:9",
                 "Radau IIA of order 9 for F(t,x,x',x'') = 0, every step projected", 9,
                 .m = &radau_iia_5);
COLLOC2ND_METHOD(colloc2nd_radau1, "colloc2nd:1", "Radau IIA with 1 stage", 1, .m = &radau_iia_1);
COLLOC2ND_METHOD(colloc2nd_radau2, "colloc2nd:3", "Radau IIA with 2 stages", 3, .m = &radau_iia_2);
COLLOC2ND_METHOD(colloc2nd_radau3, "colloc2nd:5", "Radau IIA with 3 stages", 5, .m = &radau_iia_3);
COLLOC2ND_METHOD(colloc2nd_radau4, "colloc2nd:7", "Radau IIA with 4 stages", 7, .m = &radau_iia_4);
COLLOC2ND_METHOD(colloc2nd_gauss1, "colloc2nd:2", "Gauss collocation with 1 stage", 2,
                 .m = &gauss_1);
COLLOC2ND_METHOD(colloc2nd_gauss2, "colloc2nd:4", "Gauss collocation with 2 stages", 4,
                 .m = &gauss_2);
COLLOC2ND_METHOD(colloc2nd_gauss3, "colloc2nd:6", "Gauss collocation with 3 stages", 6,
                 .m = &gauss_3);
COLLOC2ND_METHOD(colloc2nd_gauss4, "colloc2nd:8", "Gauss collocation with 4 stages", 8,
                 .m = &gauss_4);
COLLOC2ND_METHOD(colloc2nd_gauss5, "colloc2nd:10", "Gauss collocation with 5 stages", 10,
                 .m = &gauss_5);
COLLOC2ND_THESIS(colloc2nd_thesis, "colloc2nd:3:thesis",
                 "two-stage Radau IIA as in the thesis, lambda'' integrated", 3, radau_iia_2);
COLLOC2ND_THESIS(colloc2nd_thesis_gauss, "colloc2nd:4:thesis",
                 "two-stage Gauss as in the thesis, lambda'' integrated", 4, gauss_2);
