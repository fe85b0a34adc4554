/* midex: extrapolated half-explicit mid-point rule for M(t,q) v' = f - G'lambda, 0 = g(t,q), MEXX's
 * class [Lub91; LNPE92].
 *
 *   q_1 = q_0 + h v_0,            M_0 (v_1 - v_0) = h f_0 - G_0'mu,
 *   q_n+1 = q_n-1 + 2h v_n,       M_n (v_n+1 - v_n-1) = 2h f_n - G_n'mu,
 * each with G_n+1 v_n+1 + g_t = 0: linear systems only. For an even number of small steps the error
 * has an expansion in h^2. The extrapolated end is moved onto the constraints of positions and
 * velocities, and v' and lambda follow from the accelerations there. */
#include "method/extrapolation/midex_parts.h"

#include "base/memory.h"
#include "base/vector.h"
#include "method/common/stages.h"

#include <math.h>
#include <string.h>

enum { ROWS = EXTRAPOLATION_ROWS };

/* Even steps, those of ODEX [HNW93 II.9]; work in evaluations of all functions, those at the end
 * counted with the first row. */
static const extrapolation_rule RULE = {
    .power = 2,
    .steps = {2, 4, 6, 8, 10, 12, 14, 16, 18, 20},
    .work = {4.0, 8.0, 14.0, 22.0, 32.0, 44.0, 58.0, 74.0, 92.0, 112.0}};

/* Part of the second differences of rows before that is left in the last one at most: a quarter of
 * two rows, where all is smooth, and less of more. */
static const double BENT = 0.5;

/* One attempt. */
typedef struct midex_scratch {
    double t;
    int target, next_target, tries, row;
    double *end, *k, *lambda; /* the end of the step */
    double *y, *yp, *estimate;
} midex_scratch;

static const method_memory midex_memory = {
    .state = {sizeof(midex_state), {VECTORS(midex_state, x, lambda_old)}},
    .gaps = {GAP(midex_state, failure)},
    .scratch = {sizeof(midex_scratch), {VECTORS(midex_scratch, end, estimate)}},
};

/* ---- cache ---- */

static void midex_cache_free(void *cache)
{
    midex_cache *c = cache;
    if (!c) return;
    mechanism_free(&c->system);
    dae_free_all(c->memory, c);
}

static void midex_cache_persist(void *cache, const method_context *ctx, persist *p)
{
    midex_cache *c = cache;
    (void)ctx;
    PERSIST(p, c->inner_step);
    PERSIST(p, c->numbered);
    PERSIST(p, c->inner_known);
    persist_block(p, c->memory);
    mechanism_persist(&c->system, c->memory, p);
}

/* The vectors of the cache, for n unknowns; false: memory. */
static bool take_memory(midex_cache *c, size_t n)
{
    size_t nq = (size_t)c->system.form->nq, nl = (size_t)c->system.form->nl, x = 2 * nq;
    c->memory = SHARED_BLOCK(SHARE(c->x, x), SHARE(c->before, x), SHARE(c->after, x),
                             SHARE(c->result, x), SHARE(c->error, x), SHARE(c->dense_x, x),
                             SHARE(c->dense_k, x), SHARES(c->tableau.T, ROWS, x),
                             SHARES(c->inner_x, MIDEX_INNER, x), SHARES(c->inner_k, MIDEX_INNER, x),
                             SHARES(c->inner_lambda, MIDEX_INNER, nl), SHARE(c->dense_lambda, nl),
                             SHARE(c->full, n), SHARE(c->coefficient, (MIDEX_DEGREE + 1) * nq));
    return c->memory;
}

static void *midex_cache_new(const method_context *ctx)
{
    midex_cache *c = DAE_NEW(midex_cache);
    if (c && mechanism_new(&c->system, ctx) && take_memory(c, (size_t)ctx->n)) return c;
    midex_cache_free(c);
    return NULL;
}

/* ---- rows ---- */

/* next = (q + h v_at, v_next): M(at)(v_next - v) = h f(at) - G(at)'mu, G(next) v_next + g_t = 0,
 * where (q, v) = from */
static mechanism_failure small_step(mechanism *c, double t_at, double t_next, double h,
                                    const double *at, const double *from, double *next)
{
    const int nq = c->form->nq;
    mechanism_failure failure = mechanism_evaluate(c, t_at, at, NULL, NULL);
    if (failure.status) return failure;
    for (int i = 0; i < nq; i++) {
        next[i] = from[i] + h * at[nq + i];
        next[nq + i] = from[nq + i];
    }
    failure = mechanism_gradient(c, t_next, next, 1);
    if (!failure.status) failure = mechanism_factor(c, c->G[0], c->G[1]);
    if (failure.status) return failure;
    mechanism_kick(c, c->G[1], h, c->force, next + nq);
    return vector_finite(2 * nq, next) ? mechanism_ok() : mechanism_evaluation(EVAL_RETRY);
}

static double error_size(void *context, const double *error)
{
    const midex_cache *c = context;
    const error_norm *norm = c->ctx->norm;
    vector_zero(norm->n, c->full);
    for (int i = 0; i < c->tableau.n; i++) c->full[mechanism_place(&c->system, i)] = error[i];
    return norm_of(norm, c->full, norm->tested);
}

/* || x_n - 2 x_n-1 + x_n-2 || at the end of a row, in tolerances */
static double bend_of_row(midex_cache *c)
{
    for (int i = 0; i < c->tableau.n; i++) c->error[i] = c->x[i] - 2.0 * c->before[i] + c->after[i];
    return error_size(c, c->error);
}

/* Whether the points of even and of odd number come apart, the weak instability of the mid-point
 * rule [HNW93 II.9]: second differences fall with the square of small steps, unless the two
 * solutions do not belong together. Each may go its way, and all rows the same: as two that see
 * dry friction of either sign. */
static bool comes_apart(const midex_cache *c)
{
    const int row = c->tableau.row;
    double most = 0.0;
    for (int j = 0; j < row; j++) most = fmax(most, c->bend[j]);
    return row > 0 && c->bend[row] > fmax(1.0, BENT * most);
}

static attempt_status compute_row(void *context, int row, double *result)
{
    midex_cache *c = context;
    const int count = RULE.steps[row], n = c->tableau.n;
    const double h = c->h / count;
    vector_copy(n, c->x0, c->before);
    c->failure = small_step(&c->system, c->t0, c->t0 + h, h, c->before, c->before, c->x);
    for (int m = 1; m < count && !c->failure.status; m++) {
        double t_next = m + 1 == count ? c->t : c->t0 + (m + 1) * h, *oldest = c->before;
        c->failure =
            small_step(&c->system, c->t0 + m * h, t_next, 2.0 * h, c->x, c->before, c->after);
        c->before = c->x;
        c->x = c->after;
        c->after = oldest;
    }
    if (c->failure.status) return c->failure.status;
    c->bend[row] = bend_of_row(c);
    vector_copy(n, c->x, result);
    return ATTEMPT_OK;
}

mechanism_failure midex_extrapolate(const method_context *ctx, double t, double h, const double *x,
                                    int target, bool all)
{
    midex_cache *c = ctx->cache;
    extrapolation *e = &c->tableau;
    c->ctx = ctx;
    c->t0 = t;
    c->t = t + h;
    c->h = h;
    c->x0 = x;
    c->failure = mechanism_ok();
    e->rule = &RULE;
    e->n = 2 * c->system.form->nq;
    e->error = c->error;
    e->compute = compute_row;
    e->norm = error_size;
    e->context = c;
    attempt_status status = extrapolation_run(e, target, all, c->result);
    if (status != ATTEMPT_OK && !c->failure.status) c->failure.status = status;
    return c->failure;
}

mechanism_failure midex_finish(midex_cache *c, double *x, double *k, double *lambda)
{
    vector_copy(c->tableau.n, c->tableau.T[c->tableau.row], x);
    return mechanism_finish(&c->system, c->ctx, c->t, x, k, lambda);
}

/* ---- the method ---- */

static void midex_start(void *state, void *scratch, const method_context *ctx,
                        const start_point *at)
{
    midex_state *s = state;
    midex_cache *c = ctx->cache;
    mechanism *m = &c->system;
    method_clear(ctx, state, scratch);
    s->t = s->t_old = at->t;
    s->target = extrapolation_first_target(ctx->norm->rtol, ROWS - 2) / 2 + 1;
    s->step = ++c->numbered;
    c->inner_step = -1;
    const int n = 2 * m->form->nq;
    for (int i = 0; i < n; i++) s->x[i] = at->y[mechanism_place(m, i)];
    s->failure = mechanism_restart(m);
    if (!s->failure.status)
        s->failure = mechanism_slope_at(m, s->t, s->x, m->rate, s->k, s->lambda);
}

/* y and y' of the end as the driver sees them: y' of multipliers is their mean slope. */
static void assemble(const midex_state *s, midex_scratch *w, const midex_cache *c)
{
    const mechanism *m = &c->system;
    mechanism_scatter(m, w->end, w->lambda, w->y);
    mechanism_scatter(m, w->k, w->lambda, w->yp);
    for (int i = 0; i < m->form->nl; i++)
        w->yp[mechanism_multiplier(m, i)] = (w->lambda[i] - s->lambda[i]) / c->h;
}

/* After an attempt that ended as `failure` says. */
static void propose(const midex_cache *c, midex_scratch *w, mechanism_failure failure, int most,
                    attempt *result)
{
    const extrapolation *e = &c->tableau;
    mechanism_report(failure, result);
    if (failure.status) {
        result->next_factor = 0.5;
        w->next_target = w->target > 2 ? w->target - 1 : w->target;
        return;
    }
    w->row = e->row;
    result->order = 2 * e->row + 1;
    result->error = e->errors[e->row];
    result->next_factor = extrapolation_plan(e, w->target, most, w->tries > 1, &w->next_target);
    vector_copy(c->ctx->n, c->full, w->estimate);
    if (result->error <= 1.0 && !c->ctx->fixed_steps && comes_apart(c)) {
        result->error = c->bend[e->row];
        result->next_factor = 0.5;
    }
}

static void midex_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                          int order, attempt *result)
{
    const midex_state *s = state;
    midex_scratch *w = scratch;
    midex_cache *c = ctx->cache;
    const int most = order < 4 ? 1 : order / 2 - 1;
    w->t = s->t + h;
    w->target = w->tries++ > 0 ? w->next_target : s->target;
    if (ctx->fixed_steps || w->target > most) w->target = most;
    stages_begin(result, s->t, h, 2 * w->target + 1, w->y, w->yp);
    result->estimate = w->estimate;
    mechanism_failure failure = s->failure;
    if (!failure.status)
        failure = midex_extrapolate(ctx, s->t, h, s->x, w->target, ctx->fixed_steps);
    bool passed = !failure.status && (ctx->fixed_steps || extrapolation_passed(&c->tableau));
    if (passed) failure = midex_finish(c, w->end, w->k, w->lambda);
    if (passed && !failure.status) assemble(s, w, c);
    propose(c, w, failure, ROWS - 2 < most ? ROWS - 2 : most, result);
}

static void midex_accept(void *state, void *scratch, const method_context *ctx)
{
    midex_state *s = state;
    midex_scratch *w = scratch;
    midex_cache *c = ctx->cache;
    const mechanical_form *m = c->system.form;
    const int n = 2 * m->nq, nl = m->nl;
    s->t_old = s->t;
    s->t = w->t;
    s->stepped = true;
    s->step = ++c->numbered;
    s->target = w->next_target;
    s->row = w->row;
    w->tries = 0;
    vectors_advance(n, w->end, s->x, s->x_old);
    vectors_advance(n, w->k, s->k, s->k_old);
    vectors_advance(nl, w->lambda, s->lambda, s->lambda_old);
}

const method method_midex = {
    .name = "midex",
    .summary = "extrapolated half-explicit mid-point rule for mechanisms, order up to 18",
    .citation = "Lubich, Nowak, Poehle, Engstler: MEXX, report SC 92-12, ZIB Berlin 1992",
    .max_order = 2 * (ROWS - 1),
    .forms = FORM_MECHANICAL,
    .fixed_order = true,
    .own_order = true,
    .projects = true,
    .rough_between = true,
    .index_range = "3 (mechanical)",
    METHOD_STEPS(midex),
    METHOD_CACHE(midex),
};
