/* Newton's method for a step of BDF on equations of higher order. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "method/common/stages.h"
#include "method/multistep/bdfhigh.h"

/* As in glm.c: the part of the tolerance that the iteration may leave, and a rate that calls for a
 * new matrix. */
static const double KAPPA = 0.003, WORN = 0.05;
static const double NOISE = 0.1; /* part of the tolerance that corrections may stay at */
enum { MOST_ITERATIONS = 10 };

typedef struct higher_cache {
    second_matrix *matrix;
    bool evaluated, factored;
    higher_shifts a; /* of the factors */
} higher_cache;

void *bdfhigh_cache_new(const method_context *ctx)
{
    higher_cache *c = DAE_NEW(higher_cache);
    if (!c) return NULL;
    if (ctx->newton->matrix->matrix_free) return c; /* the first attempt tells */
    c->matrix = second_matrix_new(ctx->second, ctx->newton->matrix, 0);
    if (c->matrix) return c;
    dae_free(c);
    return NULL;
}

void bdfhigh_cache_persist(void *cache, const method_context *ctx, persist *p)
{
    higher_cache *c = cache;
    (void)ctx;
    PERSIST_STRUCT(p, c, GAP(higher_cache, matrix));
    if (c->matrix) second_matrix_persist(c->matrix, p);
}

void bdfhigh_cache_free(void *cache)
{
    higher_cache *c = cache;
    if (!c) return;
    second_matrix_free(c->matrix);
    dae_free(c);
}

static bool refuse_order(attempt *result)
{
    return stages_refused(result, -1,
                          "is for equations of order 3 and higher, and these have at most second "
                          "derivatives: use bdf2nd or colloc2nd");
}

bool higher_refused(const method_context *ctx, int most, attempt *result)
{
    if (stages_need_matrix(ctx, result)) return true;
    if (ctx->second->order < 3) return refuse_order(result);
    if (ctx->second->order > most)
        return stages_refused(result, -1,
                              "follows chains of derivatives up to order 6, its variant modified "
                              "up to order 4, and there is a longer one: use bdf or radau");
    return false;
}

/* ---- equations ---- */

static bool same_shifts(const stage_task *k, const higher_cache *c)
{
    const higher_step *w = k->scratch;
    for (int length = 1; length <= k->ctx->second->order; length++)
        for (int j = 1; j <= length; j++)
            if (c->a[length][j] != w->a[length][j]) return false;
    return true;
}

static stage_matrices at_hand(const stage_task *k)
{
    const higher_cache *c = k->ctx->cache;
    if (!c->evaluated) return STAGE_NOTHING;
    return c->factored && same_shifts(k, c) ? STAGE_FACTORS : STAGE_DERIVATIVES;
}

/* x^(j) = x0^(j) + a_j e, and y, y' */
static void set_point(const higher_step *w, const second_order *s)
{
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j <= s->levels[i]; j++)
            w->x[j][i] = w->x0[j][i] + w->a[s->levels[i]][j] * w->e[i];
    higher_order_spread(s, w->x, w->y, w->yp);
}

/* Partial derivatives at the iterate, the prediction at first */
static iteration_status evaluate(const stage_task *k, bool ahead)
{
    const higher_step *w = k->scratch;
    higher_cache *c = k->ctx->cache;
    (void)ahead;
    set_point(w, k->ctx->second);
    c->factored = false;
    iteration_status status =
        second_matrix_evaluate(c->matrix, w->t, w->y, w->yp, w->h, k->ctx->norm->weights, NULL);
    c->evaluated = status == ITERATION_OK;
    return status;
}

static iteration_status factor(const stage_task *k)
{
    higher_step *w = k->scratch;
    higher_cache *c = k->ctx->cache;
    iteration_status status = higher_matrix_factor(c->matrix, w->a);
    c->factored = status == ITERATION_OK;
    memcpy(c->a, w->a, sizeof c->a);
    return status;
}

/* Multipliers count by what they do to the highest derivative that is an unknown, unless their kind
 * says so already: rounding errors of x are u a_d in them, and u a_{d-1} there. */
static double weight_of(const higher_step *w, const method_context *ctx, int i)
{
    const higher_cache *c = ctx->cache;
    int m = second_matrix_multiplier(c->matrix, i);
    bool known = ctx->norm->kinds && ctx->norm->kinds[ctx->second->place[i]] >= DAE_KIND_INDEX2;
    const double *a = w->a[ctx->second->order];
    return m > 0 && !known ? fabs(a[m - 1] / a[m]) : 1.0;
}

/* d and its derivatives a_j d in the places of y */
static void place_correction(const higher_step *w, const method_context *ctx, double *delta)
{
    const second_order *s = ctx->second;
    vector_zero(ctx->n, delta);
    for (int i = 0; i < s->n; i++) {
        const double d = w->delta[i] * weight_of(w, ctx, i);
        for (int j = 0; j < s->levels[i]; j++)
            delta[second_order_place(s, i, j)] = w->a[s->levels[i]][j] * d;
    }
}

static attempt_status correct(const stage_task *k, double *size)
{
    higher_step *w = k->scratch;
    const method_context *ctx = k->ctx;
    const second_order *s = ctx->second;
    higher_cache *c = ctx->cache;
    set_point(w, s);
    eval_status status =
        evaluate_residual(ctx->eval, w->t, w->y, w->yp, w->f, &ctx->eval->stats->residuals);
    if (status != EVAL_OK) return stages_from_evaluation(status);
    for (int i = 0; i < s->n; i++) w->delta[i] = -w->f[s->row[i]];
    second_matrix_solve(c->matrix, w->delta);
    vector_axpy(s->n, 1.0, w->delta, w->e);
    place_correction(w, ctx, ctx->newton->delta);
    *size = norm_of(ctx->norm, ctx->newton->delta, ctx->norm->newton);
    return ATTEMPT_OK;
}

/* Multipliers need a second correction, which may be as large as the first. */
static bool is_second(const stage_task *k, double q)
{
    (void)k, (void)q;
    return true;
}

static const stage_equations equations = {.at_hand = at_hand,
                                          .evaluate = evaluate,
                                          .factor = factor,
                                          .correct = correct,
                                          .is_transient = is_second};

/* ---- a step ---- */

/* Rounding errors of x in its derivatives, u a_j x, in the norm: where constraints determine x,
 * corrections do not get below. */
static double rounding(const higher_step *w, const method_context *ctx)
{
    const second_order *s = ctx->second;
    const double *scale = ctx->norm->newton;
    double sum = 0.0;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->levels[i]; j++) {
            double x = w->a[s->levels[i]][j] * w->x0[0][i] * scale[second_order_place(s, i, j)];
            sum += x * x;
        }
    return 4.0 * DBL_EPSILON * sqrt(sum / ctx->n);
}

/* Settings of the iteration for this step, which begins at the prediction. */
static void begin_iteration(higher_step *w, const method_context *ctx)
{
    stage_newton *nw = &w->newton;
    vector_zero(ctx->second->n, w->e);
    norm_set_step(ctx->norm, w->h);
    nw->most = newton_most(ctx->newton, MOST_ITERATIONS);
    nw->first = 1;
    nw->kappa = KAPPA;
    nw->noise = NOISE;
    nw->patient = true;
    nw->eta = INFINITY;
    set_point(w, ctx->second);
    nw->floor = stage_newton_round_off(norm_of(ctx->norm, w->y, ctx->norm->newton));
    nw->rounding = rounding(w, ctx);
}

/* Once more from the prediction, with matrices of this very point. */
static attempt_status iterate_anew(higher_step *w, const stage_task *task)
{
    vector_zero(task->count, w->e);
    attempt_status status = stage_newton_prepare(task, true);
    return status == ATTEMPT_OK ? stage_newton_iterate(task) : status;
}

attempt_status higher_solve(higher_step *w, const method_context *ctx, attempt *result)
{
    const second_order *s = ctx->second;
    const higher_cache *c = ctx->cache;
    stage_newton *nw = &w->newton;
    stage_task task = {.equations = &equations,
                       .newton = nw,
                       .scratch = w,
                       .ctx = ctx,
                       .result = result,
                       .stages = w->e,
                       .count = s->n};
    begin_iteration(w, ctx);
    attempt_status status = stage_newton_prepare(&task, false);
    /* a chain may end with an acceleration that is an unknown: that is of second order */
    if (status == ATTEMPT_OK && second_matrix_top(c->matrix) < 3) {
        refuse_order(result);
        return result->status;
    }
    if (status == ATTEMPT_OK) status = stage_newton_iterate(&task);
    bool retry = status == ATTEMPT_CONVERGENCE || status == ATTEMPT_EVALUATION;
    if (retry && !nw->fresh) status = iterate_anew(w, &task);
    if (status == ATTEMPT_SINGULAR)
        ctx->newton->matrix->singular_column = second_matrix_singular(c->matrix);
    set_point(w, s);
    ctx->newton->iterations = nw->iterations;
    ctx->newton->rate = nw->theta;
    return status;
}

void higher_accepted(higher_step *w, const method_context *ctx)
{
    if (w->newton.theta > WORN) ctx->newton->stale = true;
    w->newton.fresh = false;
}
