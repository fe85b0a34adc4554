/* The inside of a step as good as its end: steps of the method itself from where the step began to
 * points inside it, and Hermite's polynomial through them.
 *
 * The continuous extensions of the tables are one or two orders below the method, and their error
 * is in no estimate. A shorter step of the method has a smaller error than the whole one. With one
 * point inside the polynomial has degree 5, with three of them degree 9: local errors of order 6
 * and 10, no less than those of methods of order up to 5, and of order 8. The work is done with
 * matrices of its own: looking at a step changes nothing.
 *
 * Where these steps go on to another end than the step has, they follow another solution than the
 * one that goes on, and are of no use inside of it. */
#include "method/half_explicit/hem_parts.h"

#include "base/memory.h"
#include "base/vector.h"
#include "method/common/interpolation.h"

enum { MOST_INSIDE = 3, MOST_NODES = MOST_INSIDE + 2, LOW_ORDER = 5, MOST_TRIES = 200 };

struct hem_refinement {
    hem_cache *cache; /* owned */
    hem_state *state;
    hem_scratch *scratch;
    long began, step; /* the steps to which the state, and the points inside, belong; -1: none */
    bool found;
    bool troubled; /* a shorter step than the whole one did not pass its test */
    bool astray;   /* shorter steps end elsewhere */
    int inside;
    double *y;                               /* n: where a step begins; owned, with */
    double *x[MOST_INSIDE], *k[MOST_INSIDE]; /* x and x' at the points inside */
};

void hem_refinement_free(hem_refinement *r)
{
    if (!r) return;
    hem_cache_free(r->cache);
    dae_free_all(r->state, r->scratch, r->y, r);
}

hem_refinement *hem_refinement_new(const method_context *ctx, hem_cache *cache)
{
    hem_refinement *r = DAE_NEW(hem_refinement);
    size_t state, scratch, n = (size_t)ctx->n;
    method_size(ctx->method, ctx->n, &state, &scratch);
    if (!r || !cache) {
        dae_free(r);
        hem_cache_free(cache);
        return NULL;
    }
    r->cache = cache;
    r->state = dae_calloc(1, state);
    r->scratch = dae_calloc(1, scratch);
    bool fits =
        SHARED_BLOCK(SHARE(r->y, n), SHARES(r->x, MOST_INSIDE, n), SHARES(r->k, MOST_INSIDE, n));
    if (r->state && r->scratch && fits) return r;
    hem_refinement_free(r);
    return NULL;
}

void hem_refinement_persist(hem_refinement *r, const method_context *ctx, persist *p)
{
    PERSIST_STRUCT(p, r, GAPS(hem_refinement, cache, scratch), GAPS(hem_refinement, y, k));
    persist_block(p, r->y);
    hem_cache_persist(r->cache, ctx, p);
    if (p->reading) r->began = -1; /* its state is made anew where the step begins */
}

hem_cache *hem_refinement_cache(hem_refinement *r)
{
    return r ? r->cache : NULL;
}

/* The context of the run, with matrices apart from its own. */
static method_context aside(const hem_refinement *r, const method_context *ctx)
{
    method_context own = *ctx;
    own.cache = r->cache;
    return own;
}

/* Where the last step began, for steps from there. */
static void begin(hem_refinement *r, const hem_state *st, const method_context *ctx)
{
    const hem_cache *c = ctx->cache;
    if (r->began == st->step) return;
    for (int i = 0; i < c->nx; i++) r->y[hem_x_at(c, i)] = st->x_old[i];
    for (int i = 0; i < c->nw; i++) r->y[hem_w_at(c, i)] = st->w_old[i];
    start_point at = {.t = st->t_old, .h = st->t - st->t_old, .y = r->y, .yp = r->y};
    hem_start(st->table, r->state, r->scratch, ctx, &at);
    r->began = st->step;
}

/* Above this size factors are sparse, which need memory when they are made first: that is asked for
 * here, where a failure can be told. */
enum { SPARSE = 64 };

hem_failure hem_refinement_restart(hem_refinement *r, const hem_state *st,
                                   const method_context *ctx)
{
    hem_failure failure = {.constraint = -1};
    if (!r) return failure;
    r->began = r->step = -1;
    if (!hem_restart(r->cache)) return (hem_failure){ATTEMPT_MEMORY, NULL, -1, 0};
    if (r->cache->nx + r->cache->nw <= SPARSE) return failure;
    method_context own = aside(r, ctx);
    begin(r, st, &own);
    r->began = -1;
    return r->state->failure.status == ATTEMPT_MEMORY ? r->state->failure : failure;
}

/* Steps to t_old + part (t - t_old), the first one up to `first` likewise: the last end is in
 * r->scratch. Where one does not pass the test of the method, although the whole step did, it is
 * made of shorter ones. */
static bool steps_inside(hem_refinement *r, const hem_state *st, const method_context *ctx,
                         double first, double part)
{
    method_context own = aside(r, ctx);
    const double end = st->t_old + part * (st->t - st->t_old);
    double h = first * (st->t - st->t_old);
    attempt result;
    begin(r, st, &own);
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        bool last = fabs(h) >= fabs(end - r->state->t) * (1.0 - 1e-9);
        hem_attempt(r->state, r->scratch, &own, last ? end - r->state->t : h, 0, &result);
        bool passed = result.status == ATTEMPT_OK && (ctx->fixed_steps || result.error <= 1.0);
        if (passed && last) return true;
        r->troubled = r->troubled || !passed;
        if (result.status >= ATTEMPT_UNSUPPORTED) return false;
        h = result.h * (passed ? 2.0 : 0.25);
        if (!passed) continue;
        hem_accept(r->state, r->scratch, &own);
        r->began = -1; /* the state has moved on */
    }
    return false;
}

/* The same by one step, if it passes. */
static bool step_inside(hem_refinement *r, const hem_state *st, const method_context *ctx,
                        double part)
{
    return steps_inside(r, st, ctx, part, part);
}

static double place_of(const hem_refinement *r, int k)
{
    return (k + 1.0) / (r->inside + 1.0);
}

bool hem_refine(hem_refinement *r, const hem_state *st, const method_context *ctx)
{
    const hem_cache *c = ctx->cache;
    if (!r) return false;
    if (r->step == st->step) return r->found && !r->astray;
    r->step = st->step;
    r->troubled = r->astray = false;
    r->inside = st->table->order > LOW_ORDER ? MOST_INSIDE : 1;
    r->found = true;
    for (int k = 0; k < r->inside && r->found; k++) {
        r->found = step_inside(r, st, ctx, place_of(r, k));
        if (!r->found) break;
        vector_copy(c->nx, r->scratch->x, r->x[k]);
        vector_copy(c->nx, r->scratch->k, r->k[k]);
    }
    return r->found;
}

/* Weights of x and of h x' at the nodes in Hermite's polynomial, or in its derivative. */
static void hermite_weights(int count, const double *node, double s, int derivative, double *of_x,
                            double *of_slope)
{
    for (int j = 0; j < count; j++) {
        double rise, own = 0.0, away = s - node[j];
        double l = lagrange_term(count, node, j, s, &rise);
        for (int i = 0; i < count; i++) own += i == j ? 0.0 : 1.0 / (node[j] - node[i]);
        double square = l * l, turn = 2.0 * l * rise, part = 1.0 - 2.0 * own * away;
        of_x[j] = derivative ? part * turn - 2.0 * own * square : part * square;
        of_slope[j] = derivative ? square + away * turn : away * square;
    }
}

void hem_refined(const hem_refinement *r, const hem_state *st, int nx, double s, int derivative,
                 double *x)
{
    const int count = r->inside + 2, last = count - 1;
    const double h = st->t - st->t_old;
    double node[MOST_NODES] = {0.0}, of_x[MOST_NODES], of_slope[MOST_NODES];
    const double *X[MOST_NODES] = {st->x_old}, *K[MOST_NODES] = {st->k_old};
    for (int k = 0; k < r->inside; k++) {
        node[k + 1] = place_of(r, k);
        X[k + 1] = r->x[k];
        K[k + 1] = r->k[k];
    }
    node[last] = 1.0;
    X[last] = st->x;
    K[last] = st->k;
    hermite_weights(count, node, s, derivative, of_x, of_slope);
    for (int i = 0; i < nx; i++) {
        double sum = 0.0;
        for (int j = 0; j < count; j++) sum += of_x[j] * X[j][i] + h * of_slope[j] * K[j][i];
        x[i] = sum;
    }
}

const double *hem_refined_middle(const hem_refinement *r)
{
    return r->x[r->inside / 2];
}

/* A further step, to a place where the polynomial is not held: whether they agree there. */
static bool agrees_elsewhere(hem_refinement *r, const hem_state *st, const method_context *ctx)
{
    const hem_cache *c = ctx->cache;
    const double place = r->inside > 1 ? 0.625 : 0.75;
    if (!step_inside(r, st, ctx, place)) return false;
    double *x = r->cache->inner_x;
    hem_refined(r, st, c->nx, place, 0, x);
    for (int i = 0; i < c->nx; i++)
        if (!(fabs(x[i] - r->scratch->x[i]) * ctx->norm->scale[hem_x_at(c, i)] <= 1.0))
            return false;
    return true;
}

/* Whether steps of half the size end where the step does, as far as values may be off inside. */
static bool meets_end(hem_refinement *r, const hem_state *st, const method_context *ctx)
{
    static const double MOST_OFF = 10.0; /* tolerances */
    const hem_cache *c = ctx->cache;
    r->began = -1;
    if (!steps_inside(r, st, ctx, 0.5, 1.0)) return false;
    for (int i = 0; i < c->nx; i++)
        if (!(fabs(st->x[i] - r->scratch->x[i]) * ctx->norm->scale[hem_x_at(c, i)] <= MOST_OFF))
            return false;
    return true;
}

void hem_refine_doubted(hem_refinement *r, const hem_state *st, const method_context *ctx)
{
    if (!r->troubled) r->troubled = !agrees_elsewhere(r, st, ctx);
    r->astray = !meets_end(r, st, ctx);
}

bool hem_refined_at(hem_refinement *r, const hem_state *st, const method_context *ctx, double t,
                    double *x, double *k, double *w)
{
    const hem_cache *c = ctx->cache;
    if (!r->troubled || !step_inside(r, st, ctx, (t - st->t_old) / (st->t - st->t_old)))
        return false;
    vector_copy(c->nx, r->scratch->x, x);
    vector_copy(c->nx, r->scratch->k, k);
    vector_copy(c->nw, r->scratch->w, w);
    return true;
}

bool hem_point_inside(hem_refinement *r, const hem_state *st, const method_context *ctx, double t,
                      double *x, double *k, double *w)
{
    method_context own = aside(r, ctx);
    const hem_cache *c = ctx->cache;
    hem_scratch *at = r->scratch;
    begin(r, st, &own);
    if (r->state->failure.status) return false;
    at->h = t - st->t_old;
    at->t = t;
    vector_copy(c->nx, x, at->x);
    vector_copy(c->nw, w, at->w);
    bool found = hem_exact_point(r->state, at, &own).status == ATTEMPT_OK;
    if (!found) found = step_inside(r, st, ctx, (t - st->t_old) / (st->t - st->t_old));
    if (!found) return false;
    vector_copy(c->nx, at->x, x);
    vector_copy(c->nx, at->k, k);
    vector_copy(c->nw, at->w, w);
    return true;
}

bool hem_followers(hem_refinement *r, const hem_state *st, const method_context *ctx, double t,
                   const double *x, double *w)
{
    method_context own = aside(r, ctx);
    const hem_cache *c = ctx->cache;
    double h = st->t - st->t_old, *k = r->cache->inner_k;
    bool anew = c->hessenberg != NULL; /* matrices of the point itself */
    begin(r, st, &own);
    hem_failure failure = hem_exact_slope(r->cache, &own, t, h, x, k, w, anew);
    if (failure.status && step_inside(r, st, ctx, (t - st->t_old) / h)) {
        vector_copy(c->nw, r->scratch->w, w);
        failure = hem_exact_slope(r->cache, &own, t, h, x, k, w, anew);
    }
    /* an iteration leaves over what the tolerance allows: events want a smooth function */
    if (anew && c->nz > 0 && !failure.status)
        failure = hem_exact_slope(r->cache, &own, t, h, x, k, w, anew);
    return !failure.status;
}
